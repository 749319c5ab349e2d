"""Names and shapes of Mexica's weights, for `mexica_ai.game.registry`. The package ships ``weights.json``."""

from pathlib import Path

from cext.core.learning.weights import WeightsSpec, enum_names
from cext.games.mexica import evaluation, policy, weights

SPEC = WeightsSpec(
    "mexica",
    Path(__file__).with_name("weights.json"),
    own_features=enum_names(weights, "OWN_"),
    shared_features=enum_names(weights, "SHARED_"),
    estimates=(weights.OWN_ESTIMATE_LOGIT, weights.OWN_ESTIMATE),
    features=evaluation.features,
    categories=enum_names(weights, "CATEGORY_"),
    prior_rows=policy.NUM_ROWS,
    summary=enum_names(weights, "SUMMARY_"),
    action_features=enum_names(weights, "ACTION_"),
    policy_inputs=policy.policy_inputs,
)
CALIBRATION = SPEC.path.with_name("calibration.json")  # of `mexica_ai.analysis.calibration`
