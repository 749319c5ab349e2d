"""Win shares, ranks and margins of a tournament with 95 % intervals, from the variance between its blocks.

Main functions: `summarize`, `by_pattern`, `seat_advantage`. The sequential test is in `sprt`, strengths from
ranks in `ratings`; both can be imported from here.

An engine's share is its share of the win *per seat*: equal engines have 1/seats, even if one of them is on
several seats. Shapes: B complete blocks.

Sources: Student, "The probable error of a mean", Biometrika 6 (1908); Wilson, "Probable inference, the law of
succession, and statistical inference", JASA 22 (1927); the same with an effective sample size: Dean and
Pagano, "Evaluating confidence interval methods for binomial proportions in clustered surveys", Journal of
Survey Statistics and Methodology 3 (2015).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from mexica_ai.arena.blocks import BlockMeans, Games
from mexica_ai.arena.estimates import Estimate
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.ratings import LiveRatings, fit_plackett_luce
from mexica_ai.arena.sprt import Sprt, SprtState

__all__ = [
    "EngineSummary",
    "Estimate",
    "LiveRatings",
    "Sprt",
    "SprtState",
    "block_interval",
    "by_pattern",
    "elo",
    "fit_plackett_luce",
    "likelihood_of_superiority",
    "seat_advantage",
    "summarize",
]

CONFIDENCE = 0.95
EXACT = 1e-12  # a mean so near to a bound is at the bound


@dataclass(frozen=True)
class EngineSummary:
    """The results of one engine.

    Parameters
    ----------
    engine : int
        Its number.
    games, forfeits : int
        Its finished games, including those of incomplete blocks, and how many of them it forfeited.
    blocks : int
        Complete blocks with the engine; all estimates are from these.
    expected_share : float
        The share of equal engines: 1/seats.
    share : Estimate
        Share of the win per seat, in [0, 1].
    rank : Estimate
        Mean rank, from 1.
    margin : Estimate
        Own score minus the best score of the other seats, in points, over the games without a forfeit. The
        other seat may be the engine's own.
    seat_shares : tuple of Estimate
        The share on each seat.
    """

    engine: int
    games: int
    blocks: int
    forfeits: int
    expected_share: float
    share: Estimate
    rank: Estimate
    margin: Estimate
    seat_shares: tuple[Estimate, ...]


def summarize(
    outcomes: Sequence[Outcome], num_engines: int, *, games_per_block: int | None = None
) -> list[EngineSummary]:
    """Return the results of each engine, in the order of their numbers.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Finished games, all with the same number of seats.
    num_engines : int
        Number of engines; some may not have played yet.
    games_per_block : int, optional
        Blocks with fewer games count only in `games` and `forfeits`. By default every block counts as
        complete.

    Raises
    ------
    ValueError
        Games with different numbers of seats.
    """
    return _summaries(outcomes, Games(outcomes, games_per_block), num_engines)


def by_pattern(
    outcomes: Sequence[Outcome], num_engines: int, *, games_per_block: int | None = None
) -> dict[str, list[EngineSummary]]:
    """Return `summarize` of the games of each pattern; patterns are in the order of their first game.

    `games_per_block` counts the games of all patterns.
    """
    games = Games(outcomes, games_per_block)
    return {
        pattern: _summaries(
            [outcome for outcome in outcomes if outcome.pattern == pattern],
            games.with_pattern(pattern),
            num_engines,
        )
        for pattern in dict.fromkeys(outcome.pattern for outcome in outcomes)
    }


def _summaries(outcomes: Sequence[Outcome], games: Games, num_engines: int) -> list[EngineSummary]:
    played, forfeits = [0] * num_engines, [0] * num_engines
    for outcome in outcomes:
        for engine in set(outcome.engines):
            played[engine] += 1
        if outcome.forfeit is not None:
            forfeits[outcome.engines[outcome.forfeit]] += 1
    seats = len(outcomes[0].engines) if outcomes else 0
    summaries = []
    for engine in range(num_engines):
        chosen = games.on_seats(engine)
        share = games.share_means(chosen)
        summaries.append(
            EngineSummary(
                engine=engine,
                games=played[engine],
                blocks=len(share.values),
                forfeits=forfeits[engine],
                expected_share=1 / seats if seats else math.nan,
                share=_estimate(share),
                rank=_estimate(games.rank_means(chosen)),
                margin=_estimate(games.margin_means(chosen)),
                seat_shares=tuple(
                    _estimate(games.share_means(games.on_seats(engine, seat))) for seat in range(games.seats)
                ),
            )
        )
    return summaries


def seat_advantage(outcomes: Sequence[Outcome], *, games_per_block: int | None = None) -> list[Estimate]:
    """Return the share of the win of each seat over all engines; 1/seats if no seat is better."""
    games = Games(outcomes, games_per_block)
    return [_estimate(games.share_means(games.on_seats(seat=seat))) for seat in range(games.seats)]


def elo(estimate: Estimate) -> Estimate:
    """Return a share of the win with two seats as a difference in Elo.

    400 log10(share / (1 - share)), the logistic curve of fishtest and cutechess; 0 and 1 become -inf and inf.
    The ends of the interval are converted, so the coverage is that of the share.
    """

    def convert(share: float | None) -> float | None:
        if share is None:
            return None
        if share <= 0:
            return -math.inf
        return math.inf if share >= 1 else 400 * math.log10(share / (1 - share))

    return Estimate(convert(estimate.mean), convert(estimate.low), convert(estimate.high))


def likelihood_of_superiority(
    outcomes: Sequence[Outcome], engine: int = 0, *, games_per_block: int | None = None
) -> float | None:
    """Return the likelihood, in [0, 1], that an engine's share per seat is above that of equal engines.

    It is 1 minus the p-value of the one-sided test that corresponds to the interval of the share: above
    97.5 % exactly if the interval lies above 1/seats. None with fewer than two blocks,
    which say nothing about how far their results may vary.
    """
    games = Games(outcomes, games_per_block)
    means = games.share_means(games.on_seats(engine))
    num_blocks = len(means.values)
    if num_blocks < 2:
        return None
    if means.low == means.high:
        return 0.5
    mean, size = _effective_size(means.values, means.low, means.high, means.games)
    expected = (1 / games.seats - means.low) / (means.high - means.low)
    if expected >= 1:  # the engine is on all seats
        return 0.5
    return float(stdtr(num_blocks - 1, (mean - expected) / math.sqrt(expected * (1 - expected) / size)))


def _estimate(means: BlockMeans) -> Estimate:
    if not len(means.values):
        return Estimate(None, None, None)
    mean = float(means.values.mean())
    if len(means.values) < 2:
        return Estimate(mean, None, None)
    low, high = block_interval(means.values, means.low, means.high, means.games)
    return Estimate(mean, float(low), float(high))


def block_interval(
    values: np.ndarray | Sequence[float], low: float = -math.inf, high: float = math.inf, games: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the 95 % interval of a mean over blocks.

    Without bounds: Student's interval, mean -+ t s / sqrt(B).

    With bounds, this interval would be too short near them, and of width 0 if all blocks are equal. So the means
    are scaled to [0, 1] and Wilson's interval is used with Student's t and an effective sample size: the
    number of independent wins and losses whose mean has the variance of the blocks' mean. If all blocks are
    won, this is B wins. Far from the bounds and with many blocks, it is Student's interval.

    Parameters
    ----------
    values : array of float, shape (..., B)
        Block means, B at least 2.
    low, high : float
        Bounds of a block mean, or infinite.
    games : float
        Games per block; the more there are, the less weight the prior has.

    Returns
    -------
    low, high : array of float, shape (...)

    Notes
    -----
    Coverage, measured on simulated matches (shapes of tests/arena/test_arena_statistics.py): 94-97 % from 50
    blocks on, even with 94 % of wins; up to 98 % with 25 blocks; 96-99 % with 10 blocks, and up to 99 and
    100 % if one seat nearly always wins or the deal decides. So it errs on the long side. Margins have no
    bounds: if they are equal in all blocks, the interval has width 0.
    """
    values = np.asarray(values, dtype=float)
    num_blocks = values.shape[-1]
    t = stdtrit(num_blocks - 1, (1 + CONFIDENCE) / 2)
    if not (math.isfinite(low) and math.isfinite(high)):
        mean, half = values.mean(axis=-1), t * values.std(axis=-1, ddof=1) / math.sqrt(num_blocks)
        return mean - half, mean + half
    if low == high:
        return values.mean(axis=-1), values.mean(axis=-1)
    mean, size = _effective_size(values, low, high, games)
    shrink = 1 + t * t / size
    middle = (mean + t * t / (2 * size)) / shrink
    half = t / shrink * np.sqrt(mean * (1 - mean) / size + t * t / (4 * size * size))
    # At a bound the end is exactly that: by rounding it may miss it, and the Elo of 1e-17 looks like a figure.
    least = np.where(mean < EXACT, 0, np.clip(middle - half, 0, 1))
    most = np.where(mean > 1 - EXACT, 1, np.clip(middle + half, 0, 1))
    return low + (high - low) * least, low + (high - low) * most


def _effective_size(values: np.ndarray, low: float, high: float, games: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the scaled mean, and the number of independent wins and losses with the blocks' variance.

    The ratio of the blocks' variance to that of a single win or loss has a prior of 1 (a block counts as one
    observation) with the weight of half a drawn game. The prior decides if all blocks are equal.
    """
    scaled = (np.asarray(values) - low) / (high - low)
    num_blocks = scaled.shape[-1]
    mean = np.clip(scaled.mean(axis=-1), 0, 1)
    prior = 0.5 * 0.25 / max(1.0, games)
    ratio = (num_blocks * scaled.var(axis=-1, ddof=1) + prior) / (num_blocks * mean * (1 - mean) + prior)
    return mean, num_blocks / ratio
