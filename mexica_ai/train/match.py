"""The match of new weights against those in use, whose games are in a journal of the arena.

Main function: `play`. A match that was stopped continues where its journal ends; `mexica-ai arena report` reads it.
"""

from __future__ import annotations

import dataclasses
import functools
import tempfile
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from cext.core.learning.weights import Weights
from mexica_ai.arena.journal import JournalWriter
from mexica_ai.arena.play import Task, play_game
from mexica_ai.arena.tournament import Tournament, reproducible_key
from mexica_ai.engines.specs import parse_spec
from mexica_ai.io.errors import SearchError
from mexica_ai.train.weights import weights_spec

NAMES = ("new", "old", "old 2", "old 3")  # of the engines, one for each seat


def play(
    path: Path,
    new: Weights,
    old: Weights,
    executor: Executor,
    *,
    players: int = 2,
    games: int,
    iterations: int,
    seed: int,
    time_s: float | None = None,
    concurrency: int = 1,
    on_progress: Callable[[int], None] = lambda done: None,
) -> dict[str, Any]:
    """Play the games that a journal lacks of a match: the search with new weights against the search with old ones.

    One seat has the new weights.

    Parameters
    ----------
    path : Path
        The journal; created if it does not exist.
    new, old : Weights
        Of the same game. They travel with each game: workers need no files.
    executor : Executor
        Not shut down.
    players : int
        Number of seats.
    games : int
        Rounded up to whole blocks: a block is one deal in which the new weights have each seat once.
    iterations : int
        Of the search for a turn.
    seed : int
        Of the deals and the searches.
    time_s : float, optional
        Seconds of the search for a turn, instead of the iterations.
    concurrency : int
        Games at a time.
    on_progress : callable
        Called often, with the number of finished games.

    Returns
    -------
    dict
        The number of `games`, `forfeits` among them, and the new weights' `share` of the win: mean and the ends of its
        95 % interval, None where they are not known. 1/players is equal strength.

    Raises
    ------
    ValueError
        The weights are of different games.
    NotationError
        The journal is of another match, or cannot be used; see `JournalWriter`.
    SearchError
        The executor takes no more games (reason EXECUTOR_FAILED), or workers died over a game again and again
        (WORKER_DIED). The journal has all finished games.
    """
    from mexica_ai.arena.report import collect  # slow to import
    from mexica_ai.arena.runner import describe_lost, run
    from mexica_ai.arena.statistics import summarize

    if new.game != old.game:
        raise ValueError(f"weights of {new.game} cannot play against weights of {old.game}")
    limit = f"iterations={iterations}" if time_s is None else f"time={time_s:g}"
    names = NAMES[:players]
    weights = (new, *[old] * (players - 1))
    tournament = Tournament(
        game=new.game,
        players=players,
        engines=tuple(f"mcts,{limit},name={name}" for name in names),
        names=names,
        seed=seed,
        sample=players if players > 2 else None,  # with two seats there are no others
        weights=tuple(value.version for value in weights),
        key=reproducible_key(seed),
    )
    with JournalWriter(str(path), tournament, resume=True) as journal:
        on_progress(len(journal.games))
        progress = run(
            tournament,
            -(-games // tournament.games_per_block),
            executor,
            concurrency=concurrency,
            journal=journal,
            display=lambda progress: on_progress(len(progress.records)),
            play=functools.partial(play_with, weights),
        )
    if progress.lost:
        problems = "; ".join(describe_lost(game, why) for game, why in progress.lost)
        raise SearchError(f"the match is not complete: {problems}", reason="WORKER_DIED")
    collected = collect((progress.tournament, record) for record in progress.records)
    share = summarize(collected.outcomes, players)[0].share
    return {
        "games": len(progress.records),
        **({"iterations": iterations} if time_s is None else {"time_s": time_s}),
        "forfeits": sum(record["termination"] == "forfeit" for record in progress.records),
        "share": [share.mean, share.low, share.high],
    }


def play_with(weights: tuple[Weights, ...], task: Task) -> dict[str, Any]:
    """Play a game of a tournament whose engines have these weights: through files that exist only meanwhile.

    Files, since an engine may run in a process of its own (`Task.isolated`). The record names the engines without
    them, and the weights by version.
    """
    tournament = task.tournament
    with tempfile.TemporaryDirectory() as folder:
        engines = []
        for number, (text, value) in enumerate(zip(tournament.engines, weights, strict=True)):
            path = Path(folder, f"{number}.json")
            weights_spec(value.game).save(path, value)
            spec = parse_spec(text)
            engines.append(str(dataclasses.replace(spec, options={**spec.options, "weights": str(path)})))
        local = dataclasses.replace(tournament, engines=tuple(engines))
        record = play_game(dataclasses.replace(task, tournament=local))
    record["engines"] = [tournament.engines[engine] for engine in task.game.seating]
    record["arena"]["tournament"] = tournament.to_json()
    return record
