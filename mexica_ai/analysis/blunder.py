"""What to say of a turn before it stays: how much it gives away, and how it compares with another turn.

An evaluation of a turn is an estimate. Its interval is that of its checks, or that of a single search
(`annotate.SPREAD`); within the interval nothing is said: no warning, and no turn is called better than another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
    is_choice : bool
        Whether it leads to the same position as the engine's turn.
    """

    loss: float
    low: float
    high: float
    is_choice: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether the turn surely gives something away."""
        return self.low > 0


def estimate_of(one: TurnEvaluation) -> Estimate:
    """Return the estimate of an evaluation."""
    if one.choice == one.turn:  # spelled alike where both lead to one position
        return Estimate(0.0, 0.0, 0.0, True)
    half = CONFIDENCE_Z * SPREAD
    low, high = one.interval if one.interval is not None else (one.loss - half, one.loss + half)
    return Estimate(one.loss, max(0.0, low), min(1.0, high))


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
    return phrase("blunder.warning", loss=_percent(found.loss), **_ends(found))


@dataclass(frozen=True)
class Comparison:
    """How a turn compares with the one that was played and with the engine's.

    Parameters
    ----------
    entered : Estimate
    played : Estimate
    gain : float
        The share of the win by which it is better than the turn played; 0 where the searches do not tell.
    is_played : bool
        Whether it is that turn.
    """

    entered: Estimate
    played: Estimate
    gain: float
    is_played: bool

    @property
    def is_found(self) -> bool:
        """Whether it is as good as the engine's turn, as far as the searches tell."""
        return self.entered.is_choice or (not self.entered.is_sure and not self.is_played)

    @property
    def phrases(self) -> list[Phrase]:
        """One or two sentences; `mexica_ai.analysis.words.say` says them."""
        if self.is_played:
            if not self.played.is_sure:
                return [phrase("try.played_fine")]
            return [phrase("try.played", loss=_percent(self.played.loss))]
        entered = self.entered
        if entered.is_choice:
            said = phrase("try.choice")
        elif not entered.is_sure:
            said = phrase("try.equal")
        else:
            said = phrase("try.loss", loss=_percent(entered.loss), **_ends(entered))
        if self.gain == 0:
            return [said, phrase("try.same")]
        return [said, phrase("try.better" if self.gain > 0 else "try.worse", gain=_percent(abs(self.gain)))]


def compare(entered: TurnEvaluation, played: TurnEvaluation, is_same: Callable[[], bool] | None = None) -> Comparison:
    """Return how a turn compares with the one that was played in the same position.

    Parameters
    ----------
    entered : TurnEvaluation
        Of the turn that was tried.
    played : TurnEvaluation
        Of the turn that was played, as the review of the game has it.
    is_same : callable, optional
        Whether the two lead to the same position; by default whether they are spelled alike.
    """
    is_played = is_same() if is_same is not None else entered.turn == played.turn
    one, other = estimate_of(entered), estimate_of(played)
    gain = 0.0 if is_played else other.loss - one.loss
    # The error of a difference of two estimates that were made by different searches.
    if abs(gain) <= math.hypot(_half(one), _half(other)):
        gain = 0.0
    return Comparison(one, other, gain, is_played)


def _half(one: Estimate) -> float:
    """Return half the width of an interval; an end at 0 or 1 has been cut."""
    return max(one.high - one.loss, one.loss - one.low)


def _ends(one: Estimate) -> dict[str, str]:
    return {"low": _percent(one.low), "high": _percent(one.high)}


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"
