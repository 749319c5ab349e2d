"""Normalised Elo: a difference in strength in units of the spread of the results, and its sequential test.

A match of few draws and one of many need the same number of games to show the same difference in normalised Elo,
which is not so for logistic Elo. It is defined for two seats, where a block is a pair of games: 800 / ln(10) times
(s - 1/2) / (sqrt(2) d), with the mean s and the standard deviation d of the mean share of the win in a pair. So it is
about the logistic Elo where half of the games are wins and there is no correlation in a pair.

Sources: Van den Bergh, "Normalized Elo" and "Comments on Normalized Elo",
https://www.cantate.be/Fishtest/normalized_elo.pdf and .../normalized_elo_practical.pdf, for the definition and for the
maximum of likelihood with a given ratio of mean and deviation; fishtest's and fastchess's tests use the same.
Shapes: B blocks, V different scores.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mexica_ai.arena.estimates import Estimate
from mexica_ai.arena.sprt import PRIOR_BLOCKS, SequentialTest, Sprt, tilt

UNIT = 800 / math.log(10)
PAIR = math.sqrt(2)  # the deviation of the mean of a pair, times this: that of a game
FAIR = 0.5
MAX_NELO = 500.0  # the search for the maximum has been tried up to here
PREFIX = "nelo"
_ROUNDS, _ENOUGH = 60, 1e-10  # of the search for the maximum, and the change of a probability that ends it


def normalized_elo(scores: np.ndarray, share: Estimate) -> Estimate:
    """Return a share of the win with two seats as normalised Elo.

    The ends of the interval are converted with the same deviation, so the coverage is that of the share.

    Parameters
    ----------
    scores : array of float, shape (B,)
        Mean share of the win in each pair of games.
    share : Estimate
        Of these.
    """
    deviation = float(np.std(scores)) if len(scores) > 1 else 0.0
    if deviation == 0 or share.mean is None:
        return Estimate(None, None, None)

    def convert(number: float | None) -> float | None:
        return None if number is None else UNIT * (number - FAIR) / (PAIR * deviation)

    return Estimate(convert(share.mean), convert(share.low), convert(share.high))


@dataclass(frozen=True)
class NeloSprt(SequentialTest):
    """A test of H0 "the normalised Elo of engine 0 is nelo0" against H1 "it is nelo1", with two seats.

    Parameters
    ----------
    nelo0, nelo1 : float
        -500 <= nelo0 < nelo1 <= 500.
    alpha, beta : float
        As in `Sprt`.

    Raises
    ------
    ValueError
        A number is out of its range.
    """

    nelo0: float
    nelo1: float
    alpha: float
    beta: float

    def __post_init__(self) -> None:
        if not -MAX_NELO <= self.nelo0 < self.nelo1 <= MAX_NELO:
            raise ValueError(
                f"SPRT: normalised Elo {self.nelo0:g} and {self.nelo1:g} given, nelo0 below nelo1 expected, both from "
                f"{-MAX_NELO:g} to {MAX_NELO:g}"
            )
        self._check_errors()

    def describe(self) -> str:
        """Return the two hypotheses as text."""
        return f"H0: nElo {self.nelo0:g}, H1: {self.nelo1:g}"

    def log_likelihood_ratios(self, scores: np.ndarray, highest: float = 1.0) -> np.ndarray:
        """Return the logarithm of the generalised likelihood ratio of H1 to H0 after each block.

        As in `Sprt`, but each hypothesis gets the probabilities of maximum likelihood among those with its ratio of
        mean and deviation. The prior is that of `Sprt` with the mean 1/2.
        """
        scores = np.round(np.asarray(scores, dtype=float), 9)
        values = np.unique(np.append(scores, [0.0, highest]).round(9))
        counts = np.cumsum(scores[..., None] == values, axis=-2, dtype=float)
        counts[..., 0] += PRIOR_BLOCKS / 2
        counts[..., -1] += PRIOR_BLOCKS / 2
        logs = [np.log(_divisors(values, counts, PAIR * nelo / UNIT)) for nelo in (self.nelo0, self.nelo1)]
        ratios: np.ndarray = np.einsum("...v,...v->...", counts, logs[0] - logs[1])
        return ratios


def _divisors(values: np.ndarray, counts: np.ndarray, ratio: float) -> np.ndarray:
    """Return the divisors that turn the observed frequencies into the most likely ones with a ratio of moments.

    The ratio is (mean - 1/2) / deviation; same shape as `counts`. The likelihood can have several maxima, such as one
    near the observed deviation and one near that of wins and losses alone. The greatest of three starts is taken: on
    400 random samples, hypotheses of -300 to 500, no other method from eight starts found a greater one (2026-11).
    """
    frequencies = counts / counts.sum(axis=-1, keepdims=True)
    mean = frequencies @ values
    observed = np.sqrt(frequencies @ values**2 - mean**2)
    # Wins and losses with this ratio: at their mean and deviation, the condition always has a solution.
    alone = FAIR * (1 + ratio / math.sqrt(1 + ratio**2))
    safe = np.full_like(observed, math.sqrt(alone * (1 - alone)))
    found = np.stack([_solve(values, counts, ratio, start, safe) for start in (observed, safe, safe / 2)])
    costs = np.einsum("...v,...v->...", counts, np.log(found))  # the logarithm of the likelihood, negative
    best: np.ndarray = np.take_along_axis(found, costs.argmin(axis=0)[None, ..., None], axis=0)[0]
    return best


def _solve(values: np.ndarray, counts: np.ndarray, ratio: float, start: np.ndarray, safe: np.ndarray) -> np.ndarray:
    """Return divisors from a deviation to start at, for `_divisors`; `safe` is one from which there is a solution.

    With the derivative of the ratio at the current mean and deviation in the place of the scores, the condition is one
    about a mean, which `tilt` solves; that is repeated until nothing changes ("Comments on Normalized Elo", section
    4.1).
    """
    frequencies = found = counts / counts.sum(axis=-1, keepdims=True)
    mean, deviation = FAIR + ratio * start, start
    for _ in range(_ROUNDS):
        moved = _condition(values, counts, ratio, mean, deviation)
        has_none = (moved.max(axis=-1) <= 0) | (moved.min(axis=-1) >= 0)
        if has_none.any():
            deviation = np.where(has_none, safe, deviation)
            mean = np.where(has_none, FAIR + ratio * safe, mean)
            moved = _condition(values, counts, ratio, mean, deviation)
        divisors = tilt(moved, counts, 0.0)
        before, found = found, frequencies / divisors
        mean = found @ values
        deviation = np.sqrt(found @ values**2 - mean**2)
        if np.abs(found - before).max() < _ENOUGH:
            break
    return divisors


def _condition(
    values: np.ndarray, counts: np.ndarray, ratio: float, mean: np.ndarray, deviation: np.ndarray
) -> np.ndarray:
    """Return numbers whose mean is 0 if the moments have the ratio, to first order; 0 for scores that do not occur."""
    away = (values - mean[..., None]) / deviation[..., None]
    moved = values - FAIR - ratio * deviation[..., None] * (1 + away**2) / 2
    return np.where(counts > 0, moved, 0.0)


def parse_test(text: str, players: int) -> Sprt | NeloSprt:
    """Read "elo0,elo1,alpha,beta", "share:..." or "nelo:...", see `Sprt.parse`; with "nelo:", a test of two seats.

    Raises
    ------
    ValueError
        Not four numbers, numbers out of range, or normalised Elo with more than two seats.
    """
    prefix, colon, rest = text.partition(":")
    if not (colon and prefix.strip() == PREFIX):
        return Sprt.parse(text, players)
    if players != 2:
        raise ValueError(f'SPRT "{text}": normalised Elo is for two seats; with {players}, shares are expected')
    try:
        numbers = [float(word) for word in rest.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 4 or not all(map(math.isfinite, numbers)):
        raise ValueError(f'SPRT "{text}": four numbers expected: nelo0,nelo1,alpha,beta')
    return NeloSprt(*numbers)


def test_json(test: SequentialTest) -> dict[str, Any]:
    """Return a test as a JSON object."""
    return asdict(test)  # type: ignore[call-overload,no-any-return]  # each subclass is a dataclass
