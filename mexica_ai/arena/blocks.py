"""The games of a tournament as arrays, and their means over blocks.

The unit of all statistics is the block: one deal in all its seatings. Its games depend on each other, blocks
do not. Shapes: G games, S seats, B complete blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mexica_ai.arena.outcomes import Outcome


@dataclass(frozen=True)
class BlockMeans:
    """What one engine reached in each block in which it played.

    Parameters
    ----------
    values : array of float, shape (blocks,)
        Mean over all its seats in all games of the block. Taken over seats, not games: with two engines the
        sums of shares of A and B over ABB and AAB are then weighed alike, and A is above 1/S exactly when B
        is below.
    low, high : float
        The least and the greatest value that a block can have.
    games : float
        Its games in a block, on average.
    """

    values: np.ndarray
    low: float
    high: float
    games: float


class Games:
    """The games of complete blocks.

    Parameters
    ----------
    outcomes : sequence of Outcome
        In the order in which the games ended; all with the same number of seats.
    games_per_block : int, optional
        Blocks with fewer games are left out. By default every block counts as complete.

    Raises
    ------
    ValueError
        Games with different numbers of seats.
    """

    def __init__(self, outcomes: Sequence[Outcome], games_per_block: int | None = None):
        played = Counter(outcome.block for outcome in outcomes)
        self.outcomes = [outcome for outcome in outcomes if played[outcome.block] >= (games_per_block or 1)]
        self.seats = len(outcomes[0].engines) if outcomes else 0
        for outcome in outcomes:
            if len(outcome.engines) != self.seats:
                sizes = f"{self.seats} and with {len(outcome.engines)} seats"
                raise ValueError(f"games with {sizes} cannot be counted together")
        # A block takes its place when its last game ends.
        last = {outcome.block: index for index, outcome in enumerate(self.outcomes)}
        number = {block: index for index, block in enumerate(sorted(last, key=last.__getitem__))}
        shape = (len(self.outcomes), self.seats)
        nothing = (np.nan,) * self.seats
        self.num_blocks = len(number)
        self.block = np.array([number[outcome.block] for outcome in self.outcomes], dtype=int)
        self.engines = np.array([outcome.engines for outcome in self.outcomes], dtype=int).reshape(shape)
        self.shares = np.array([outcome.shares for outcome in self.outcomes], dtype=float).reshape(shape)
        self.ranks = np.array([outcome.ranks for outcome in self.outcomes], dtype=float).reshape(shape)
        margins = [nothing if outcome.margins is None else outcome.margins for outcome in self.outcomes]
        self.margins = np.array(margins, dtype=float).reshape(shape)

    def with_pattern(self, pattern: str) -> Games:
        """Return the games of one pattern, from complete blocks only."""
        return Games([outcome for outcome in self.outcomes if outcome.pattern == pattern])

    def on_seats(self, engine: int | None = None, seat: int | None = None) -> np.ndarray:
        """Return where an engine sits (None: any), on a seat (None: any); bool, shape (G, S)."""
        chosen = np.ones_like(self.engines, dtype=bool) if engine is None else self.engines == engine
        if seat is not None:
            chosen = chosen & (np.arange(self.seats) == seat)
        return chosen

    def share_means(self, chosen: np.ndarray) -> BlockMeans:
        """Return the share of the win per chosen seat and block; k seats of a game share at most one win."""
        return self._means(self.shares, chosen, lambda k: (1.0 * (k == self.seats), 1.0 * (k > 0)))

    def rank_means(self, chosen: np.ndarray) -> BlockMeans:
        """Return the mean rank of the chosen seats per block; k of them hold k different places."""
        return self._means(
            self.ranks, chosen, lambda k: (k * (k + 1) / 2, k * (2 * self.seats - k + 1) / 2)
        )

    def margin_means(self, chosen: np.ndarray) -> BlockMeans:
        """Return the mean margin of the chosen seats per block, without forfeited games."""
        return self._means(
            self.margins, chosen & ~np.isnan(self.margins), lambda k: (k * -np.inf, k * np.inf)
        )

    def _means(self, values, chosen, bounds) -> BlockMeans:
        seats = chosen.sum(axis=1)
        played = seats > 0
        if not played.any():
            return BlockMeans(np.empty(0), np.nan, np.nan, 0.0)
        block, seats = self.block[played], seats[played]

        def per_block(of_game):
            return np.bincount(block, of_game, minlength=self.num_blocks)

        total = per_block(seats)
        there = total > 0
        low, high = (np.mean(per_block(bound)[there] / total[there]) for bound in bounds(seats))
        sums = per_block(np.where(chosen, values, 0.0).sum(axis=1)[played])
        return BlockMeans(sums[there] / total[there], low, high, len(block) / there.sum())
