"""Knockout tournaments: of the engines at a table only the best one plays on.

A *table* is the engines that play each other in a round, one a seat. The engines are placed in the order in which
they are given, the first as the strongest, as in a seeded bracket: the first meets the last, the second the last but
one, and the two first can only meet in the last round. If the engines do not fill the bracket, the first ones have a
bye in the first round. Who meets whom follows from the results, so that a tournament that is resumed has the same
tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mexica_ai.arena.outcomes import Outcome

_DIGITS = 9  # of sums of shares, which differ by rounding only


def can_be_played(num_engines: int, seats: int) -> bool:
    """Return whether all tables can be full: each one takes `seats` - 1 engines out, and one is left at the end."""
    return num_engines >= seats and (num_engines - 1) % (seats - 1) == 0


def round_sizes(num_engines: int, seats: int) -> tuple[int, ...]:
    """Return the number of tables of each round.

    Parameters
    ----------
    num_engines, seats : int
        For which `can_be_played` holds.

    Examples
    --------
    >>> round_sizes(6, 2)
    (2, 2, 1)
    """
    full = 1  # engines of the largest bracket without byes
    while full * seats <= num_engines:
        full *= seats
    first = (num_engines - full) // (seats - 1)
    sizes = [first] * (first > 0)
    while full > 1:
        full //= seats
        sizes.append(full)
    return tuple(sizes)


def tables_of(winners: Sequence[Sequence[int]], num_engines: int, seats: int) -> list[tuple[int, ...]]:
    """Return the tables of the next round, each with its engines in ascending order.

    Parameters
    ----------
    winners : sequence of sequence of int
        The winner of each table of the rounds so far.
    num_engines, seats : int
        For which `can_be_played` holds.
    """
    sizes = round_sizes(num_engines, seats)
    placed = list(range(num_engines))  # who is still in, the best place first
    for size, won in zip(sizes, winners, strict=False):
        placed = placed[: len(placed) - size * seats] + list(won)  # a winner takes the best place of its table
    size = sizes[len(winners)]
    playing = placed[len(placed) - size * seats :]
    tables = []
    for table in range(size):  # the places go to and fro over the tables
        places = (row * size + (size - 1 - table if row % 2 else table) for row in range(seats))
        tables.append(tuple(sorted(playing[place] for place in places)))
    return tables


def winner_of(table: Sequence[int], games: Sequence[Outcome]) -> int:
    """Return who plays on: the most points, then the greatest sum of margins, then the first in the order given.

    Parameters
    ----------
    table : sequence of int
    games : sequence of Outcome
        All games of the table. Games without a margin (forfeited or adjudicated) count no margin.
    """

    def worth(engine: int) -> tuple[float, float, int]:
        seats = [(game, seat) for game in games for seat, other in enumerate(game.engines) if other == engine]
        points = math.fsum(game.shares[seat] for game, seat in seats)
        margin = math.fsum(game.margins[seat] for game, seat in seats if game.margins)
        return round(points, _DIGITS), round(margin, _DIGITS), -engine

    return max(table, key=worth)
