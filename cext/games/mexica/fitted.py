"""What is fitted of Mexica: the evaluation's network and the weights of the priors, in ``weights.json``."""

from pathlib import Path

from cext.core.fitted import Fitted
from cext.games.mexica import evaluation, policy

# Factors on the fitted weights of the priors (`mexica_ai.train.priors`). A search that sees no further
# passes, and what it passes for is what its successor should look at more.
_FACTORS = {"end": 0.3, "end_idle": 0.3}
_FACTORS |= dict.fromkeys(("cross_good", "sail_good", "teleport_good", "teleport_fair"), 3.0)

FITTED = Fitted(
    "mexica",
    Path(__file__).with_name("weights.json"),
    evaluation,
    categories=policy.CATEGORIES,
    factors=_FACTORS,
    categorize=policy.categorize,
    prior_rows=policy.SHAPE[0],
    get_priors=policy.weights,
    set_priors=policy.set_weights,
)
