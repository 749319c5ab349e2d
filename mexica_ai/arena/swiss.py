"""Swiss tournaments: each round pairs engines with about equally many points that have not met yet.

A *table* is the engines that play each other in a round, one a seat. If the engines do not fill
all tables, the last ones have a *bye*, which counts as if they had won. The pairings of a round follow from the
results of the rounds before it, so that a tournament that is resumed has the same ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from mexica_ai.arena.outcomes import Outcome

MAX_STEPS = 20_000  # of the search for tables without rematches, for each number of rematches allowed


def pair(
    outcomes: Iterable[Outcome],
    rounds: Sequence[Sequence[tuple[int, ...]]],
    num_engines: int,
    seats: int,
    games_per_table: int,
) -> list[tuple[int, ...]]:
    """Return the tables of the next round, each with its engines in ascending order.

    Parameters
    ----------
    outcomes : iterable of Outcome
        All games so far.
    rounds : sequence of sequence of tuple of int
        The tables of the rounds so far.
    num_engines, seats : int
        There are as many tables as the engines can fill.
    games_per_table : int
        How many games a bye counts as won.
    """
    points = [0.0] * num_engines
    for outcome in outcomes:
        for engine, share in zip(outcome.engines, outcome.shares, strict=True):
            points[engine] += share
    met: Counter[tuple[int, int]] = Counter()
    byes = [0] * num_engines
    for tables in rounds:
        met.update(pair for table in tables for pair in combinations(table, 2))
        for engine in set(range(num_engines)) - {engine for table in tables for engine in table}:
            byes[engine] += 1
            points[engine] += games_per_table
    # 1. Byes go to the last of those with the fewest.
    order = sorted(range(num_engines), key=lambda engine: (-points[engine], engine))
    place = {engine: index for index, engine in enumerate(order)}
    without = sorted(order, key=lambda engine: (byes[engine], -place[engine]))[: num_engines % seats]
    order = [engine for engine in order if engine not in without]
    # 2. The first engine plays the next ones that it may meet, and so on; rematches only if there is no other way.
    allowed = 0
    while True:
        steps = [MAX_STEPS]
        filled = _fill(order, met, seats, allowed, steps)
        if filled is not None:
            return [tuple(sorted(table)) for table in filled]
        allowed += 1


def _fill(
    order: Sequence[int], met: Counter[tuple[int, int]], seats: int, allowed: int, steps: list[int]
) -> list[tuple[int, ...]] | None:
    """Return tables in which no two engines have met more than `allowed` times, or None; `steps` are left."""
    if not order:
        return []
    for table in _tables(order, met, seats, allowed):
        steps[0] -= 1
        if steps[0] < 0:
            return None
        rest = _fill([engine for engine in order if engine not in table], met, seats, allowed, steps)
        if rest is not None:
            return [table, *rest]
    return None


def _tables(order: Sequence[int], met: Counter[tuple[int, int]], seats: int, allowed: int) -> Iterator[tuple[int, ...]]:
    """Yield the tables of the first engine, the closest in points first."""
    first, *others = order
    for table in combinations([engine for engine in others if _times(met, first, engine) <= allowed], seats - 1):
        if all(_times(met, *two) <= allowed for two in combinations(table, 2)):
            yield first, *table


def _times(met: Counter[tuple[int, int]], one: int, other: int) -> int:
    return met[min(one, other), max(one, other)]
