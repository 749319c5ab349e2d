"""What is fitted of Coatl: the evaluation's network, in ``weights.json``."""

from pathlib import Path

from cext.core.fitted import Fitted
from cext.games.coatl import evaluation

# The outlook, and once more the points in it; found by matches (benchmarks/STRENGTH.md).
_PULL = {"estimate_logit": 3.0, "closed_points": 5.6, "played_points": 2.8, "temple_points": 0.8}

FITTED = Fitted("coatl", Path(__file__).with_name("weights.json"), evaluation, pull=(_PULL, 0.45))
