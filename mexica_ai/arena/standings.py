"""Standings of a tournament as organisers know them: points, tie-breaks, pairings by round, byes, the crosstable.

Main functions: `standings` of one tournament, as plain data; `crosstable` of any games. A point is a game won; a
shared win is split. Shapes: E engines.

Sources: FIDE Handbook, C.07 Tie-Break Regulations (2024), for Buchholz, Buchholz Cut 1 and Sonneborn-Berger, and for
the dummy opponent of a bye; docs/arena.md says how they count with more than two seats and several games at a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from mexica_ai.arena import knockout
from mexica_ai.arena.counts import win_counts
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.rounds import Tables, rounds_begun
from mexica_ai.arena.tournament import Tournament

DIGITS = 6  # of points and tie-breaks; sums that differ by rounding are ties
TIE_BREAKS = ("buchholz", "buchholz_cut1", "sonneborn_berger")


def standings(tournament: Tournament, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the standings of a tournament as plain data, which can be written as JSON.

    Parameters
    ----------
    tournament : Tournament
    outcomes : sequence of Outcome
        Its games in the order of the journal, with its own numbers of blocks and engines; also of incomplete blocks.

    Returns
    -------
    dict
        - `format`, `players`, `games`;
        - `rounds`, empty if the results do not decide who plays whom: of each round that has begun a dict with
          `round` (from 1), `tables` (dicts with `engines`, their `points`, the `games` played, whether all are, and
          in a knockout the `winner`, or None), `byes` (engines without a table) and, in a knockout, `is_last`;
        - `engines`, the first in the standings first: dicts with `engine` (its number), `name`, `place` (from 1;
          equal ones share it), `points` (with those of byes), `games`, `byes`, `won`, `shared`, `lost` (seats in
          games) and, in a Swiss tournament, `buchholz`, `buchholz_cut1`, `sonneborn_berger`; in a knockout
          `rounds_won`;
        - `crosstable`, see `crosstable`.
    """
    rounds = _rounds(tournament, outcomes) if tournament.is_paired else []
    engines = [_counts(engine, tournament.names[engine], outcomes) for engine in range(len(tournament.engines))]
    for each in rounds:
        for engine in each["byes"]:
            engines[engine]["byes"] += 1
            if tournament.format == "swiss":
                engines[engine]["points"] += tournament.games_per_table
    if tournament.format == "swiss":
        _add_tie_breaks(engines, rounds, tournament)
    elif tournament.format == "knockout":
        for engine in engines:
            engine["rounds_won"] = sum(
                engine["engine"] in each["byes"] or any(table["winner"] == engine["engine"] for table in each["tables"])
                for each in rounds
            )
    return {
        "format": tournament.format,
        "players": tournament.players,
        "games": len(outcomes),
        "rounds": rounds,
        "engines": _placed(engines),
        "crosstable": crosstable(outcomes, len(engines)),
    }


def crosstable(outcomes: Iterable[Outcome], num_engines: int) -> dict[str, Any]:
    """Return who scored how much against whom.

    With two seats the score is the share of the win. With more, each two seats of a game count by themselves: 1 for
    the better rank, 1/2 for equal ones; seats of the same engine do not count.

    Returns
    -------
    dict
        `points` and `games`, lists of shape (E, E): of the engine of the row against that of the column, and how
        often two of their seats met.
    """
    points = [[0.0] * num_engines for _ in range(num_engines)]
    games = [[0] * num_engines for _ in range(num_engines)]
    for outcome in outcomes:
        for one, other in combinations(range(len(outcome.engines)), 2):
            first, second = outcome.engines[one], outcome.engines[other]
            if first == second:
                continue
            if len(outcome.engines) == 2:
                score = outcome.shares[one]
            else:
                ahead = outcome.ranks[other] - outcome.ranks[one]
                score = 0.5 if ahead == 0 else float(ahead > 0)
            points[first][second] += score
            points[second][first] += 1 - score
            games[first][second] += 1
            games[second][first] += 1
    return {"points": [[round(number, DIGITS) for number in row] for row in points], "games": games}


def _counts(engine: int, name: str, outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Return what one engine has, without byes and tie-breaks."""
    shares = [
        (outcome.block, share)
        for outcome in outcomes
        for other, share in zip(outcome.engines, outcome.shares, strict=True)
        if other == engine
    ]
    return {
        "engine": engine,
        "name": name,
        "place": 0,
        "points": math.fsum(share for _, share in shares),
        "games": sum(engine in outcome.engines for outcome in outcomes),
        "byes": 0,
        **win_counts(share for _, share in shares),
    }


def _rounds(tournament: Tournament, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    begun: list[Tables] = rounds_begun(tournament, outcomes)
    games: dict[tuple[int, int], list[Outcome]] = {}
    for outcome in outcomes:
        games.setdefault(tournament.table_of(outcome.block), []).append(outcome)
    found = []
    is_in = set(range(len(tournament.engines)))  # who has not been knocked out
    for number, tables in enumerate(begun):
        shown = []
        for index, table in enumerate(tables):
            played = games.get((number, index), [])
            is_complete = len(played) >= tournament.games_per_table
            result: dict[str, Any] = {
                "engines": list(table),
                "points": [round(_points(engine, played), DIGITS) for engine in table],
                "games": len(played),
                "is_complete": is_complete,
            }
            if tournament.format == "knockout":
                result["winner"] = knockout.winner_of(table, played) if is_complete else None
            shown.append(result)
        seated = {engine for table in tables for engine in table}
        found.append({"round": number + 1, "tables": shown, "byes": sorted(is_in - seated)})
        if tournament.format == "knockout":
            found[-1]["is_last"] = tournament.first_block(number + 1) == len(tournament.blocks)
            is_in -= {engine for table in shown for engine in table["engines"] if engine != table["winner"]}
    return found


def _points(engine: int, games: Iterable[Outcome]) -> float:
    return math.fsum(
        share for game in games for other, share in zip(game.engines, game.shares, strict=True) if other == engine
    )


def _add_tie_breaks(engines: list[dict[str, Any]], rounds: list[dict[str, Any]], tournament: Tournament) -> None:
    """Add the tie-breaks of a Swiss tournament. The rest of a round counts for an engine as one opponent.

    The points of that opponent are the mean of the points of the other engines at the table. A bye counts as a game
    against an engine with as many points as one's own, and as won.
    """
    points = [engine["points"] for engine in engines]
    for engine in engines:
        own = engine["engine"]
        met: list[float] = []  # the points of the opponent of each round
        worth: list[float] = []  # those times the own score against it
        for each in rounds:
            if own in each["byes"]:
                met.append(points[own])
                worth.append(points[own])
                continue
            (table,) = [table for table in each["tables"] if own in table["engines"]]
            if not table["games"]:
                continue
            at = dict(zip(table["engines"], table["points"], strict=True))
            others = [other for other in at if other != own]
            met.append(math.fsum(points[other] for other in others) / len(others))
            worth.append(math.fsum(points[other] * _score(at[own], at[other]) for other in others) / len(others))
        engine["buchholz"] = math.fsum(met)
        engine["buchholz_cut1"] = math.fsum(met) - min(met, default=0.0)
        engine["sonneborn_berger"] = math.fsum(worth)


def _score(own: float, other: float) -> float:
    """Return the score of one engine against another at a table, in [0, 1], from their points at it."""
    return own / (own + other) if own + other else 0.5


def _placed(engines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the engines in the order of the standings, each with its place."""
    keys = ["points", *(key for key in TIE_BREAKS if key in engines[0])]
    if "rounds_won" in engines[0]:
        keys = ["rounds_won"]  # two that lost in the same round share their place
    for engine in engines:
        for key in keys:
            engine[key] = round(engine[key], DIGITS)
        engine["points"] = round(engine["points"], DIGITS)
    placed = sorted(engines, key=lambda engine: (*(-engine[key] for key in keys), engine["engine"]))
    for index, engine in enumerate(placed):
        before = placed[index - 1] if index else None
        is_equal = before is not None and all(engine[key] == before[key] for key in keys)
        engine["place"] = before["place"] if before is not None and is_equal else index + 1
    return placed
