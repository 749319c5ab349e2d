"""What is fitted of Coatl: the evaluation's network and the weights of the priors, in ``weights.json``."""

from pathlib import Path

from cext.core.fitted import Fitted
from cext.games.coatl import evaluation, policy

# Of fits to how games ended: the outlook, and once more the points in it; found by matches
# (benchmarks/STRENGTH.md). What ships came from such a fit, and was fitted to what searches found, and to
# how games ended, since.
_PULL = {"estimate_logit": 3.0, "closed_points": 5.6, "played_points": 2.8, "temple_points": 0.8}

FITTED = Fitted(
    "coatl",
    Path(__file__).with_name("weights.json"),
    evaluation,
    pull=(_PULL, 0.45),
    categories=policy.CATEGORIES,
    categorize=policy.categorize,
    prior_rows=policy.SHAPE[0],
    get_priors=policy.weights,
    set_priors=policy.set_weights,
)
