"""Games of self-play, with deep searches now and then.

A game is played by equal seats with few iterations a turn. Every fourth turn or so, drawn at random, is searched with
many (playout cap randomisation), and what that search found about the decisions of its turn is kept: the visits and the
mean utility of every action that it tried. So a game has many different positions at little cost, and each target of a
policy rests on a deep search. Where the games begin: `mexica_ai.train.starts`. All numbers of seats have as many games,
so that a fit knows each of them.

In some games planners, sparring partners of another style, play some of the seats or all; and some games begin in the
middle of games that others have played. Else a fit knows only the style of its own engine.

Main functions: `play_game` (one game), `play` (a file of games).

Source: Wu, "Accelerating self-play learning in Go" (2019).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cext.core.learning.weights import Weights
from cext.core.search.search import Search
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.engines import Engine
from mexica_ai.game.position import Position
from mexica_ai.train.job_file import Series, complete
from mexica_ai.train.starts import draw_start, midgame, planned_start, planner, small_search
from mexica_ai.train.weights import searching_weights

if TYPE_CHECKING:
    from cext.core.search.search import Decision

DEEP_SHARE = 0.25  # of the turns
PLANNED_SHARE = 0.5  # of the games with planners that begin in the middle of a game between planners
RECORD_SHARE = 0.5  # of the games, where records are given
LEAST_VISITS = 0.05  # share of a search's iterations that a decision must have seen
PLAYERS = (2, 3, 4)  # numbers of seats


def play_game(
    game: str,
    seed: int,
    index: int,
    iterations: int,
    deep: int,
    weights: Weights | None = None,
    *,
    players: Sequence[int] = PLAYERS,
    planners: float = 0.0,
    record: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Play one game and return its record and what the deep searches found.

    Parameters
    ----------
    game : str
    seed, index : int
        Everything random derives from these two.
    iterations, deep : int
        Of most searches, and of deep ones.
    weights : Weights, optional
        By default those that ship.
    players : sequence of int
        Numbers of seats, which the games of a seed have in turn; not of games that begin in the middle of `record`.
    planners : float
        How likely planners have a part in the game.
    record : dict, optional
        Of another game, in whose middle this one begins.

    Returns
    -------
    dict
        A JSON object. `game`: its name. `made`: `seed`, `iterations`, `deep`, `players`, `planners`, number (`game`)
        and version of the weights (`weights`). `record`: the record of the game. `searches`: a list of objects with the
        number of the `turn` in the record and its `decisions`, as `Search.decisions` returns them.
    """
    weights = searching_weights(game, weights)
    random_ = random.Random(f"{seed}/{index}")
    league = random.Random(f"{seed}/{index}/league")  # of its own, so that games without planners stay as they are
    has_planners = league.random() < planners
    seats = players[index % len(players)]
    position = _styled_start(game, seats, record, league, weights, has_planners=has_planners)
    if position is None:
        position = draw_start(game, seats, random_, iterations, weights)
    sparring = _sparring(position.players, league, weights) if has_planners else {}
    start, turns, searches = position.to_json(), [], []
    while not position.is_over:
        if position.is_chance:
            turns.append(position.draw(random_.getrandbits(63)))
            continue
        if position.to_move in sparring:
            partner = sparring[position.to_move]
            turns.append(partner.best_turn(position, seed=random_.getrandbits(63), candidates=1).turn)
            position.push(turns[-1])
            continue
        is_deep = random_.random() < DEEP_SHARE
        budget, search_seed = (deep if is_deep else iterations), random_.getrandbits(63)
        turn, found = _search(position, budget, search_seed, weights, with_decisions=is_deep)
        if found is not None:
            searches.append({"turn": len(turns), "decisions": found})
        turns.append(turn)
        position.push(turn)
    made: dict[str, Any] = {"seed": seed, "iterations": iterations, "deep": deep, "players": list(players)}
    made |= {"planners": planners, "game": index, "weights": weights.version}
    return {
        "game": game,
        "made": made,
        "record": {
            "game": game,
            "version": 1,
            "start": start,
            "turns": turns,
            "scores": position.scores,
            "winners": position.winners,
            "engines": [
                str(sparring[seat].spec) if seat in sparring else small_search(iterations)
                for seat in range(position.players)
            ],
        },
        "searches": searches,
    }


def _search(
    position: Position, budget: int, seed: int, weights: Weights, *, with_decisions: bool
) -> tuple[list[str], list[dict[str, Any]] | None]:
    """Return the best turn and, if asked for and nothing was forced, what the search found about its decisions."""
    limits = Limits(iterations=budget, memory_mb=8 + budget // 25)
    run = SearchRun(position, SearchSettings(limits, seed, candidates=1, weights=weights))
    result = run.result()
    if not with_decisions or result.stop_reason == "forced":
        return result.turn, None
    assert isinstance(run.search, Search)
    found = run.search.decisions(max(2, round(LEAST_VISITS * budget)))
    return result.turn, [_shortened(decision) for decision in found]


def _styled_start(
    game: str,
    players: int,
    record: dict[str, Any] | None,
    random_: random.Random,
    weights: Weights,
    *,
    has_planners: bool,
) -> Position | None:
    """Return where a game begins that begins in the middle of one of another style; None for others."""
    if record is not None:
        return midgame(record, random_)
    if has_planners and random_.random() < PLANNED_SHARE:
        return planned_start(game, players, random_, weights)
    return None


def _sparring(players: int, random_: random.Random, weights: Weights) -> dict[int, Engine]:
    """Return the planners of a game by seat: of any number of its seats."""
    seats = random_.sample(range(players), random_.randint(1, players))
    return {seat: planner(random_, weights) for seat in sorted(seats)}


def _draw_record(records: Sequence[dict[str, Any]], seed: int, index: int) -> dict[str, Any] | None:
    """Return the record in whose middle a game begins; None for the other games."""
    random_ = random.Random(f"{seed}/{index}/record")
    return random_.choice(records) if records and random_.random() < RECORD_SHARE else None


def _shortened(decision: Decision) -> dict[str, Any]:
    edges = [[action, visits, round(utility, 4)] for action, visits, utility in decision["edges"]]
    return {**decision, "utility": round(decision["utility"], 4), "edges": edges}


def play(
    path: Path,
    executor: Executor,
    *,
    game: str,
    games: int,
    iterations: int,
    deep: int,
    seed: int,
    weights: Weights | None = None,
    players: Sequence[int] = PLAYERS,
    planners: float = 0.0,
    records: Sequence[dict[str, Any]] = (),
    concurrency: int = 1,
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Play games until a file holds the games 0 to `games` - 1 of this seed and size.

    Some of them begin in the middle of games of `records`. A file that a stopped run left is continued. Other
    parameters and errors: `play_game`, `job_file.complete`.
    """
    weights = searching_weights(game, weights)
    series = Series(
        game=game,
        weights=weights,
        noun="games",
        key="made",
        number="game",
        settings={
            "seed": seed,
            "iterations": iterations,
            "deep": deep,
            "players": list(players),
            "planners": planners,
        },
        advice="another folder",
    )
    complete(
        path,
        series,
        games,
        lambda index: partial(
            play_game,
            game,
            seed,
            index,
            iterations,
            deep,
            weights,
            players=players,
            planners=planners,
            record=_draw_record(records, seed, index),
        ),
        executor,
        concurrency=concurrency,
        on_progress=on_progress,
    )
