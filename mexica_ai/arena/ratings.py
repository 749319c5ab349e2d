"""Strengths of engines from the ranks in games, for any number of seats and engines.

Main functions: `fit_plackett_luce`, and `fit` for those who need its resamples. `LiveRatings` updates game by game and
is only approximate.

The model: the first place goes to a seat with probability proportional to the strength of its engine, the
second likewise among the remaining seats, and so on. Shapes: E engines, C choices (different sets of seats
that competed for a place), B blocks, R resamples.

Sources: Luce, "Individual choice behavior" (1959); Plackett, "The analysis of permutations", Applied
Statistics 24 (1975); Hunter, "MM algorithms for generalized Bradley-Terry models", Annals of Statistics 32
(2004), for the likelihood and when it has a maximum; Rubin, "The Bayesian bootstrap", Annals of Statistics 9
(1981); Hesterberg, "What teachers should know about the bootstrap", American Statistician 69 (2015), for
percentiles that allow for few blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product

import numpy as np

from mexica_ai.arena.blocks import Games
from mexica_ai.arena.estimates import Estimate
from mexica_ai.arena.outcomes import Outcome

ELO = 400 / math.log(10)  # Elo points per unit of the logarithm of a strength
PRIOR_GAMES = 2.0  # of each engine against a virtual engine of average strength: one won, one lost
MAX_MASSES = 1 << 22  # numbers in the largest array of a fit of resamples; more are fitted in parts


@dataclass(frozen=True)
class Fit:
    """Strengths on the Elo scale.

    Parameters
    ----------
    strengths : array of float, shape (E,)
    resamples : array of float, shape (R, E), or None
        Those of the resampled blocks; None with fewer than two blocks, which say nothing about their variance.
    num_blocks : int
        Blocks that were counted.
    """

    strengths: np.ndarray
    resamples: np.ndarray | None
    num_blocks: int

    def placed(self, anchor: tuple[int, float] | None) -> Fit:
        """Return the strengths with mean 0, or with the anchor's rating, an engine and a number."""
        resamples = None if self.resamples is None else _placed(self.resamples, anchor)
        return Fit(_placed(self.strengths[None], anchor)[0], resamples, self.num_blocks)

    def interval(self, engines: Sequence[int], num_blocks: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the 95 % intervals of some engines whose results are those of a number of blocks.

        Percentiles of the resamples, widened for few blocks: their variance is too small by (B - 1) / (B + 1), and
        Student's t takes the place of the normal distribution. There must be two blocks or more, and resamples.
        """
        from scipy.special import ndtr, stdtrit  # slow to import

        assert self.resamples is not None
        tail = ndtr(-math.sqrt((num_blocks + 1) / (num_blocks - 1)) * stdtrit(num_blocks - 1, 0.975))
        lows, highs = np.quantile(self.resamples[:, engines], [tail, 1 - tail], axis=0, method="weibull")
        return lows, highs


def fit_plackett_luce(
    outcomes: Sequence[Outcome],
    num_engines: int,
    *,
    bootstrap: int = 200,
    seed: int = 0,
    games_per_block: int | None = None,
    anchor: tuple[int, float] | None = None,
) -> list[Estimate]:
    """Return the strengths of the engines by maximum likelihood, with 95 % intervals.

    On the Elo scale (400 points are a factor of ten in strength), with mean 0 or one engine's given rating.
    The difference of two engines says how often one ranks above the other, for any number of seats.

    Parameters
    ----------
    outcomes : sequence of Outcome
        All with the same number of seats.
    num_engines : int
        An engine without a game has strength 0; one with fewer than two blocks has no interval.
    bootstrap : int
        Number of resamples of the blocks.
    seed : int
        Seed of the resamples.
    games_per_block : int, optional
        Blocks with fewer games are left out. By default every block counts as complete.
    anchor : tuple of (int, float), optional
        An engine and its rating, which is taken as exact: the other intervals are those of the differences from
        it. By default the mean of all is 0.

    Notes
    -----
    Ties: each seat with a share of the win counts as first with that weight; ties below count as all their
    orders with equal weights. So a win shared by two is half a win of each. An engine on several seats: each
    seat competes with its engine's strength; places among seats of one engine are ignored. Seats are treated
    as equal, since every block has all seatings.

    The prior is one more block, in which each engine wins one game and loses one against a virtual engine of
    average strength. It keeps the strengths finite if an engine always wins, or if groups never met.

    Intervals: the Bayesian bootstrap, in which each block (and the prior) gets a random weight from the
    exponential distribution; percentiles, widened for few blocks like Student's t.
    """
    games = Games(outcomes, games_per_block)
    found = fit(games, num_engines, bootstrap=bootstrap, seed=seed).placed(anchor)
    if found.resamples is None:
        return [Estimate(float(strength)) for strength in found.strengths]
    return [_estimate(found, engine, games.blocks_of(engine)) for engine in range(num_engines)]


def _estimate(found: Fit, engine: int, num_blocks: int) -> Estimate:
    """Return the strength of an engine with its interval, of which only its own blocks tell the variance."""
    mean = float(found.strengths[engine])
    if num_blocks < 2:
        return Estimate(mean)
    lows, highs = found.interval([engine], num_blocks)
    return Estimate(mean, float(lows[0]), float(highs[0]))


def fit(games: Games, num_engines: int, *, bootstrap: int = 200, seed: int = 0) -> Fit:
    """Return the strengths of the engines as `fit_plackett_luce` finds them, with those of the resamples.

    The virtual engine of the prior has strength 0.
    """
    from scipy.optimize import minimize  # slow to import

    wins, counts, choices = _sufficient(games, num_engines)
    played = wins.shape[0] > 0
    block_wins = np.vstack([wins, np.full(num_engines, PRIOR_GAMES / 2)])
    prior = np.hstack([np.zeros(counts.shape[1] - num_engines), np.full(num_engines, PRIOR_GAMES)])
    block_counts = np.vstack([counts, prior])

    total_wins, total_counts = block_wins.sum(axis=0), block_counts.sum(axis=0)

    def derivatives(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _derivatives(x[None], total_wins[None], total_counts[None], choices)

    best = minimize(  # type: ignore[call-overload]  # the stubs know no such Hessian
        lambda x: -_log_likelihood(x, total_wins, total_counts, choices),
        np.zeros(num_engines),
        jac=lambda x: -derivatives(x)[0][0],
        hess=lambda x: derivatives(x)[1][0],
        method="trust-exact",
        options={"gtol": 1e-8 * max(1.0, total_counts.sum())},
    )
    num_blocks = games.num_blocks
    if num_blocks < 2 or bootstrap < 2 or not played:
        return Fit(ELO * best.x, None, num_blocks)
    weights = np.random.default_rng(seed).standard_exponential((bootstrap, num_blocks + 1))
    most = max(1, MAX_MASSES // choices.size)
    parts = [
        _maximize(best.x, part @ block_wins, part @ block_counts, choices)
        for part in np.split(weights, range(most, bootstrap, most))
    ]
    return Fit(ELO * best.x, ELO * np.vstack(parts), num_blocks)


def _placed(strengths: np.ndarray, anchor: tuple[int, float] | None) -> np.ndarray:
    """Return strengths (R, E) with mean 0, or with the anchor's rating."""
    if anchor is None:
        centred: np.ndarray = strengths - strengths.mean(axis=1, keepdims=True)
        return centred
    engine, rating = anchor
    moved: np.ndarray = strengths - strengths[:, engine, None] + rating
    return moved


def _sufficient(games: Games, num_engines: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sufficient statistics of the blocks for the likelihood.

    Returns
    -------
    wins : array of float, shape (B, E)
        Places that each engine won.
    counts : array of float, shape (B, C)
        How often each choice was made. The last E choices are those of the prior.
    choices : array of int, shape (C, E + 1)
        Number of seats of each engine in the choice; the last engine is the virtual one.
    """
    numbers: dict[tuple[int, ...], int] = {}
    entries: list[tuple[int, int, float]] = []
    wins = np.zeros((games.num_blocks, num_engines))
    for outcome, block in zip(games.outcomes, games.block, strict=True):
        for engine, choice, weight in _decisions(outcome.engines, outcome.shares, outcome.ranks):
            wins[block, engine] += weight
            entries.append((block, numbers.setdefault(choice, len(numbers)), weight))
    counts = np.zeros((games.num_blocks, len(numbers) + num_engines))
    for block, number, weight in entries:
        counts[block, number] += weight
    choices = np.zeros((len(numbers) + num_engines, num_engines + 1), dtype=int)
    for choice, number in numbers.items():
        np.add.at(choices[number], list(choice), 1)
    choices[len(numbers) :, :num_engines] = np.eye(num_engines, dtype=int)
    choices[len(numbers) :, num_engines] = 1
    return wins, counts, choices


@lru_cache(maxsize=4096)
def _decisions(
    engines: tuple[int, ...], shares: tuple[float, ...], ranks: tuple[float, ...]
) -> list[tuple[int, tuple[int, ...], float]]:
    """Return (engine, sorted engines that competed, weight) for every place of a game."""
    found: dict[tuple[int, tuple[int, ...]], float] = {}
    seats = range(len(engines))
    for first in seats:
        if shares[first] <= 0:
            continue
        others = [seat for seat in seats if seat != first]
        places = sorted({ranks[seat] for seat in others})
        ties = [[seat for seat in others if ranks[seat] == place] for place in places]
        orders = list(product(*map(permutations, ties)))
        for order in orders:
            ranking = [engines[seat] for seat in (first, *(seat for tie in order for seat in tie))]
            for place, engine in enumerate(ranking):
                choice = tuple(sorted(ranking[place:]))
                if choice[0] != choice[-1]:
                    found[engine, choice] = found.get((engine, choice), 0.0) + shares[first] / len(orders)
    return [(engine, choice, weight) for (engine, choice), weight in found.items()]


def _log_likelihood(strengths: np.ndarray, wins: np.ndarray, counts: np.ndarray, choices: np.ndarray) -> float:
    """Return the log-likelihood; strengths (E,) are logarithms, that of the virtual engine is 0."""
    padded = np.append(strengths, 0.0)
    peak = padded.max()
    masses = choices @ np.exp(padded - peak)
    # The virtual engine's own wins add nothing: the logarithm of its strength is 0.
    return float(wins @ strengths - counts @ (np.log(masses) + peak))


def _derivatives(
    strengths: np.ndarray, wins: np.ndarray, counts: np.ndarray, choices: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient (R, E) and the negative Hessian (R, E, E) of the likelihoods of R resamples."""
    padded = np.hstack([strengths, np.zeros((len(strengths), 1))])
    masses = choices * np.exp(padded - padded.max(axis=1, keepdims=True))[:, None, :]
    chances = (masses / masses.sum(axis=2, keepdims=True))[:, :, :-1]
    expected = counts[:, :, None] * chances
    places = expected.sum(axis=1)
    information = places[:, :, None] * np.eye(wins.shape[1]) - expected.transpose(0, 2, 1) @ chances
    return wins - places, information


def _maximize(start: np.ndarray, wins: np.ndarray, counts: np.ndarray, choices: np.ndarray) -> np.ndarray:
    """Return the maxima (R, E) of the likelihoods of R resamples, by Newton's method from `start` (E,)."""
    strengths = np.tile(start, (len(wins), 1))
    for _ in range(100):
        gradient, information = _derivatives(strengths, wins, counts, choices)
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        # The likelihood is concave, but not close to quadratic beyond one unit.
        step /= np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True))
        strengths += step
        if np.abs(step).max() < 1e-8:
            break
    return strengths


class LiveRatings:
    """Ratings updated after each game, for the table during a tournament (openskill's Plackett-Luce).

    They depend on the order of the games, and their sigma ignores blocks; the final table uses
    `fit_plackett_luce`.

    Parameters
    ----------
    num_engines : int
        All start with openskill's mu = 25 and sigma = 25/3.
    """

    def __init__(self, num_engines: int):
        # Slow to import.
        from openskill.models import PlackettLuce

        self._model = PlackettLuce()
        self._ratings = [self._model.rating() for _ in range(num_engines)]

    def update(self, outcome: Outcome) -> None:
        """Update the ratings with one game.

        An engine on several seats is rated on each seat separately; the changes of mu are added and those of
        sigma multiplied.
        """
        before = [self._ratings[engine] for engine in outcome.engines]
        if len(set(outcome.engines)) < 2:
            return
        teams = [[self._model.rating(mu=rating.mu, sigma=rating.sigma)] for rating in before]
        after = self._model.rate(teams, ranks=list(outcome.ranks))
        changes: dict[int, tuple[float, float]] = {}
        for engine, old, (new,) in zip(outcome.engines, before, after, strict=True):
            shift, factor = changes.get(engine, (0.0, 1.0))
            changes[engine] = shift + new.mu - old.mu, factor * new.sigma / old.sigma
        for engine, (shift, factor) in changes.items():
            rating = self._ratings[engine]
            self._ratings[engine] = self._model.rating(mu=rating.mu + shift, sigma=rating.sigma * factor)

    def table(self) -> list[tuple[float, float]]:
        """Return (mu, sigma) of each engine."""
        return [(rating.mu, rating.sigma) for rating in self._ratings]
