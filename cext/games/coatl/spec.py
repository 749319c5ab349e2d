"""Names and shapes of Coatl's weights, for `mexica_ai.game.registry`. The package ships ``weights.json``."""

from pathlib import Path

from cext.core.learning.weights import WeightsSpec, enum_names
from cext.games.coatl import belief, evaluation, policy, weights

KINDS = enum_names(weights, "KIND_")
GAPS = enum_names(weights, "GAP_")

SPEC = WeightsSpec(
    "coatl",
    Path(__file__).with_name("weights.json"),
    own_features=enum_names(weights, "OWN_"),
    shared_features=enum_names(weights, "SHARED_"),
    estimates=(weights.OWN_ESTIMATE_LOGIT, weights.OWN_ESTIMATE_SCORE),
    features=evaluation.features,
    categories=tuple(f"{kind}_{gap}" for kind in KINDS for gap in GAPS),
    prior_rows=policy.NUM_ROWS,
    summary=enum_names(weights, "SUMMARY_"),
    belief=(
        *enum_names(belief, "BELIEF_"),
        *(f"p{face:02}" for face in range(belief.FACES_OF_BELIEF)),
        *(f"t{temple:02}" for temple in range(belief.TEMPLES_OF_BELIEF)),
    ),
    belief_inputs=belief.belief_inputs,
    action_features=enum_names(weights, "ACTION_"),
    policy_inputs=policy.policy_inputs,
)
CALIBRATION = SPEC.path.with_name("calibration.json")  # of `mexica_ai.analysis.calibration`
