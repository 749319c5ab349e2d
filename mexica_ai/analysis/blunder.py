"""How surely a turn gives something away, what to ask before it stays, and how it compares with another one.

An evaluation of a turn is an estimate. Its interval is that of its checks, or that of a single search
(`annotate.SPREAD`); within the interval there is no warning, and no difference is sure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mexica_ai.analysis.annotate import CONFIDENCE_Z, SPREAD, TurnEvaluation
from mexica_ai.analysis.grades import BOUNDS
from mexica_ai.game.phrases import Phrase, phrase
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import quote

THRESHOLD = BOUNDS[0]  # of a warning, by default: the whole interval of the loss lies above it


@dataclass(frozen=True)
class Estimate:
    """The share of the win that a turn gives away against the engine's turn.

    Parameters
    ----------
    loss : float
        0 to 1.
    low, high : float
        Ends of the 80 % interval.
    """

    loss: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """Whether the turn surely gives something away."""
        return self.low > 0


def estimate(loss: float, interval: Sequence[float] | None = None) -> Estimate:
    """Return the estimate of a loss; without an interval, that of a single search."""
    half = CONFIDENCE_Z * SPREAD
    low, high = interval if interval is not None else (loss - half, loss + half)
    return Estimate(loss, max(0.0, low), min(1.0, high))


def estimate_of(one: TurnEvaluation) -> Estimate:
    """Return the estimate of an evaluation."""
    if one.choice == one.turn:  # spelled alike where both lead to one position
        return Estimate(0.0, 0.0, 0.0)
    return estimate(one.loss, one.interval)


def warning(one: TurnEvaluation, threshold: float = THRESHOLD) -> Phrase | None:
    """Return the question whether a turn should be taken back; None if it does not surely lose more than a threshold.

    It names no turn: neither the engine's nor the answer, for the person is still to find them.

    Parameters
    ----------
    one : TurnEvaluation
        Of the turn, in the view of the seat that plays it.
    threshold : float
        A share of the win, above 0, below 1.

    Raises
    ------
    NotationError
        The threshold is none; reason OUT_OF_RANGE.
    """
    if not 0 < threshold < 1:
        problem = f"threshold: given {quote(threshold)}; expected a share of the win, above 0, below 1"
        raise NotationError(problem, reason="OUT_OF_RANGE", path="threshold")
    found = estimate_of(one)
    if found.low < threshold:
        return None
    return phrase("blunder.warning", loss=_percent(found.loss), low=_percent(found.low), high=_percent(found.high))


def gain_of(one: Estimate, other: Estimate) -> tuple[float, bool]:
    """Return the share of the win by which a turn is better than another one in its place, and whether that is sure."""
    gain = other.loss - one.loss
    # The error of a difference of two estimates that were made by different searches.
    return gain, abs(gain) > math.hypot(_half(one), _half(other))


def _half(one: Estimate) -> float:
    """Return half the width of an interval; an end at 0 or 1 has been cut."""
    return max(one.high - one.loss, one.loss - one.low)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"
