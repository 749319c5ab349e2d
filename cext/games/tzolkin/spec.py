"""Names and shapes of Tzolk'in's weights, for `mexica_ai.game.registry`. The package ships ``weights.json``."""

from pathlib import Path

from cext.core.learning.weights import WeightsSpec, enum_names
from cext.games.tzolkin import evaluation, policy, weights

KINDS = enum_names(weights, "KIND_")
GAPS = enum_names(weights, "GAP_")

SPEC = WeightsSpec(
    "tzolkin",
    Path(__file__).with_name("weights.json"),
    own_features=enum_names(weights, "OWN_"),
    shared_features=enum_names(weights, "SHARED_"),
    estimates=(weights.OWN_ESTIMATE_LOGIT, weights.OWN_ESTIMATE),
    features=evaluation.features,
    categories=tuple(f"{kind}_{gap}" for kind in KINDS for gap in GAPS),
    prior_rows=policy.NUM_ROWS,
    summary=enum_names(weights, "SUMMARY_"),
    action_features=enum_names(weights, "ACTION_"),
    policy_inputs=policy.policy_inputs,
)
"""Features and categories of Tzolk'in, and the layout of its weights in memory."""
CALIBRATION = SPEC.path.with_name("calibration.json")  # of `mexica_ai.analysis.calibration`
