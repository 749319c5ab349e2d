"""What is fitted of Coatl: the evaluation's network, in ``weights.json``."""

from pathlib import Path

from cext.core.fitted import Fitted
from cext.games.coatl import evaluation

# Found by matches (benchmarks/STRENGTH.md).
FITTED = Fitted("coatl", Path(__file__).with_name("weights.json"), evaluation, pull=(3.0, 0.45))
