"""The rounds of a tournament in which the results decide who plays whom: Swiss and knockout."""

from __future__ import annotations

import collections
from collections.abc import Sequence

from mexica_ai.arena import knockout, swiss
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.tournament import Tournament

Tables = list[tuple[int, ...]]  # of a round: the engines of each table, in ascending order


def next_tables(tournament: Tournament, outcomes: Sequence[Outcome], rounds: Sequence[Tables]) -> Tables:
    """Return the tables of the next round.

    Parameters
    ----------
    tournament : Tournament
    outcomes : sequence of Outcome
        All games of the rounds so far, with the blocks and the engine numbers of the tournament.
    rounds : sequence of list of tuple of int
        The tables of the rounds so far.
    """
    num_engines, seats = len(tournament.engines), tournament.players
    if tournament.format == "swiss":
        return swiss.pair(outcomes, rounds, num_engines, seats, tournament.games_per_table)
    games: dict[tuple[int, int], list[Outcome]] = collections.defaultdict(list)
    for outcome in outcomes:
        games[tournament.table_of(outcome.block)].append(outcome)
    winners = [
        [knockout.winner_of(table, games[number, index]) for index, table in enumerate(tables)]
        for number, tables in enumerate(rounds)
    ]
    return knockout.tables_of(winners, num_engines, seats)


def rounds_begun(tournament: Tournament, outcomes: Sequence[Outcome]) -> list[Tables]:
    """Return the tables of all rounds of which a game has been played.

    Parameters
    ----------
    tournament : Tournament
        Swiss or knockout.
    outcomes : sequence of Outcome
        In the order of the journal, with the blocks and the engine numbers of the tournament.
    """
    rounds: list[Tables] = []
    while True:
        first = tournament.first_block(len(rounds))
        before = [outcome for outcome in outcomes if outcome.block < first]
        if len(before) == len(outcomes) or len(before) < first * tournament.games_per_block:
            return rounds
        rounds.append(next_tables(tournament, before, rounds))
