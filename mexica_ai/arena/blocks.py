"""The games of a tournament as arrays, and their means over blocks.

The unit of all statistics is the block: one deal played in all its seatings. Games of the same block are
correlated, blocks are independent. Shapes: G games, S seats, B complete blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mexica_ai.arena.outcomes import Outcome


@dataclass(frozen=True)
class BlockMeans:
    """The means of one engine over each block in which it played.

    Parameters
    ----------
    values : array of float, shape (blocks,)
        Mean over all its seats in all games of the block. The mean is over seats, not games, so that with two
        engines ABB and AAB have equal weight, and A is above 1/S exactly if B is below.
    low, high : float
        The least and the greatest possible value of a block.
    games : float
        Its average number of games per block.
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
        # Blocks are ordered by the end of their last games.
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
        luck = [nothing if outcome.luck is None else outcome.luck for outcome in self.outcomes]
        self.luck = np.array(luck, dtype=float).reshape(shape)

    def blocks_of(self, engine: int) -> int:
        """Return in how many blocks an engine has played."""
        return len(np.unique(self.block[(self.engines == engine).any(axis=1)]))

    def with_pattern(self, pattern: str) -> Games:
        """Return the games of one pattern; only those of complete blocks."""
        return Games([outcome for outcome in self.outcomes if outcome.pattern == pattern])

    def on_seats(self, engine: int | None = None, seat: int | None = None) -> np.ndarray:
        """Return a mask of the seats of an engine (None: any) that are `seat` (None: any); bool, (G, S)."""
        chosen = np.ones_like(self.engines, dtype=bool) if engine is None else self.engines == engine
        if seat is not None:
            chosen = chosen & (np.arange(self.seats) == seat)
        return chosen

    def share_means(self, chosen: np.ndarray) -> BlockMeans:
        """Return the mean share of the win of the chosen seats per block."""
        return self._means(self.shares, chosen, lambda k: (1.0 * (k == self.seats), 1.0 * (k > 0)))

    def adjusted_means(self, chosen: np.ndarray) -> BlockMeans:
        """Return the mean share of the win, less luck, of the chosen seats per block; each game has its luck."""
        return self._means(self.shares - self.luck, chosen, lambda k: (k * -np.inf, k * np.inf))

    def rank_means(self, chosen: np.ndarray) -> BlockMeans:
        """Return the mean rank of the chosen seats per block."""
        return self._means(self.ranks, chosen, lambda k: (k * (k + 1) / 2, k * (2 * self.seats - k + 1) / 2))

    def margin_means(self, chosen: np.ndarray) -> BlockMeans:
        """Return the mean margin of the chosen seats per block, without forfeited games."""
        return self._means(self.margins, chosen & ~np.isnan(self.margins), lambda k: (k * -np.inf, k * np.inf))

    def _means(
        self, values: np.ndarray, chosen: np.ndarray, bounds: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    ) -> BlockMeans:
        """Return the means of the chosen values; `bounds(k)` is the least and greatest sum of k seats' values."""
        seats = chosen.sum(axis=1)
        played = seats > 0
        if not played.any():
            return BlockMeans(np.empty(0), np.nan, np.nan, 0.0)
        block, seats = self.block[played], seats[played]

        def per_block(of_game: np.ndarray) -> np.ndarray:
            return np.bincount(block, of_game, minlength=self.num_blocks)

        total = per_block(seats)
        is_used = total > 0
        low, high = (float(np.mean(per_block(bound)[is_used] / total[is_used])) for bound in bounds(seats))
        sums = per_block(np.where(chosen, values, 0.0).sum(axis=1)[played])
        return BlockMeans(sums[is_used] / total[is_used], low, high, len(block) / is_used.sum())
