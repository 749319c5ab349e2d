"""Games of self-play, with deep searches now and then.

A game is played by equal seats with few iterations a turn. Every fourth turn or so, drawn at random, is searched with
many (playout cap randomisation), and what that search found about the decisions of its turn is kept: the visits and the
mean utility of every action that it tried. So a game has many different positions at little cost, and each target of a
policy rests on a deep search. Where the games begin: `mexica_ai.train.starts`.

Main functions: `play_game` (one game), `play` (a file of games).

Source: Wu, "Accelerating self-play learning in Go" (2019).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cext.core.learning.weights import Weights
from cext.core.search.search import Search
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.train.job_file import Series, complete
from mexica_ai.train.starts import draw_start, small_search
from mexica_ai.train.weights import searching_weights

if TYPE_CHECKING:
    from cext.core.search.search import Decision

DEEP_SHARE = 0.25  # of the turns
LEAST_VISITS = 0.05  # share of a search's iterations that a decision must have seen


def play_game(
    game: str, seed: int, index: int, iterations: int, deep: int, weights: Weights | None = None
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

    Returns
    -------
    dict
        A JSON object. `game`: its name. `made`: `seed`, `iterations`, `deep`, number (`game`) and version of the
        weights (`weights`). `record`: the record of the game. `searches`: a list of objects with the number of the
        `turn` in the record and its `decisions`, as `Search.decisions` returns them.
    """
    weights = searching_weights(game, weights)
    random_ = random.Random(f"{seed}/{index}")
    position = draw_start(game, random_, iterations, weights)
    start, turns, searches = position.to_json(), [], []
    while not position.is_over:
        if position.is_chance:
            turns.append(position.draw(random_.getrandbits(63)))
            continue
        is_deep = random_.random() < DEEP_SHARE
        budget = deep if is_deep else iterations
        limits = Limits(iterations=budget, memory_mb=8 + budget // 25)
        run = SearchRun(position, SearchSettings(limits, random_.getrandbits(63), candidates=1, weights=weights))
        result = run.result()
        if is_deep and result.stop_reason != "forced":
            assert isinstance(run.search, Search)
            found = run.search.decisions(max(2, round(LEAST_VISITS * budget)))
            searches.append({"turn": len(turns), "decisions": [_shortened(decision) for decision in found]})
        turns.append(result.turn)
        position.push(result.turn)
    return {
        "game": game,
        "made": {
            "seed": seed,
            "iterations": iterations,
            "deep": deep,
            "game": index,
            "weights": weights.version,
        },
        "record": {
            "game": game,
            "version": 1,
            "start": start,
            "turns": turns,
            "scores": position.scores,
            "winners": position.winners,
            "engines": [small_search(iterations)] * position.players,
        },
        "searches": searches,
    }


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
    concurrency: int = 1,
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Play games until a file holds the games 0 to `games` - 1 of this seed and size.

    A file that a stopped run left is continued. Parameters and errors: `play_game`, `job_file.complete`.
    """
    weights = searching_weights(game, weights)
    series = Series(
        game=game,
        weights=weights,
        noun="games",
        key="made",
        number="game",
        settings={"seed": seed, "iterations": iterations, "deep": deep},
        advice="another folder",
    )
    complete(
        path,
        series,
        games,
        lambda index: partial(play_game, game, seed, index, iterations, deep, weights),
        executor,
        concurrency=concurrency,
        on_progress=on_progress,
    )
