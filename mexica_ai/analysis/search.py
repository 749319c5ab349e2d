"""The search from Python: `best_turn` waits for the result, `analyze` yields intermediate results.

Both translate between positions and the compiled search (`cext.core.search.search`), which runs in native threads.
`run_search` and `watch_search` do the same for engines: they take `Limits`, and an event that stops the
search.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from cext.core.learning.weights import Weights
from cext.core.search.search import Search
from mexica_ai.analysis import levels
from mexica_ai.analysis.limits import (
    DEFAULT_BATCH,
    DEFAULT_CANDIDATES,
    DEFAULT_INTERVAL_S,
    DEFAULT_MEMORY_MB,
    DEFAULT_THREADS,
    DEFAULT_TIME_S,
    MAX_BATCH,
    MAX_CANDIDATES,
    Limits,
    out_of_memory,
)
from mexica_ai.analysis.results import Candidate, Forecast, Result
from mexica_ai.analysis.stopping import Stop
from mexica_ai.game import registry
from mexica_ai.game.position import Position, require_seat_to_move
from mexica_ai.io.errors import SearchError
from mexica_ai.io.figures import MAX_TIME_S, is_time, resolve_seed
from mexica_ai.io.strict import quote

if TYPE_CHECKING:
    from mexica_ai.analysis.evaluators import Evaluator


def best_turn(
    position: Position,
    *,
    time_s: float | None = None,
    iterations: int | None = None,
    threads: int = DEFAULT_THREADS,
    memory_mb: int = DEFAULT_MEMORY_MB,
    seed: int | None = None,
    candidates: int = DEFAULT_CANDIDATES,
    level: int = levels.HIGHEST,
    weights: Weights | str | os.PathLike[str] | None = None,
    evaluator: Evaluator | None = None,
    batch_size: int = DEFAULT_BATCH,
) -> Result:
    """Search for the best turn of the seat to move.

    Parameters
    ----------
    position : Position
        Not changed.
    time_s : float, optional
        Seconds for the whole turn; 1 if neither this nor `iterations` is given.
    iterations : int, optional
        Iterations of all threads together. With one thread, the same seed and iterations give the same
        result.
    threads : int
        Native threads, 1-256.
    memory_mb : int
        Memory for the nodes of the search, in MiB, 1-1,000,000.
    seed : int, optional
        0 <= seed < 2**63; drawn from the operating system if None, and reported in the result.
    candidates : int
        How many turns the result lists at most, 1-10,000.
    level : int
        Strength of play, 1 to 10 (`mexica_ai.analysis.levels`): 10 uses all the time it is given and plays the best
        turn it finds; lower levels search less and choose among turns that are nearly as good.
    weights : Weights or path-like, optional
        Weights of the evaluation and the policy: a file that `mexica-ai train` wrote, or the value that
        `mexica_ai.game.registry.load_weights_file` returns for one. By default those that ship.
    evaluator : callable, optional
        Evaluates the leaves of the search instead of the game's evaluation and playouts: from observations,
        float32 [N, size], to the seats' shares of the win [N, 4]; see ``docs/evaluators.md``.
    batch_size : int
        How many leaves the evaluator gets at a time, 1-4096.

    Returns
    -------
    Result

    Raises
    ------
    GameOverError
        If the game is over.
    PositionError
        If a random event comes before the next turn (reason CHANCE_PENDING), or the position is the view of
        another seat (NOT_ITS_VIEW).
    SearchError
        If a limit is invalid (reason INVALID_LIMITS), the seed is (INVALID_SEED), the weights belong to
        another game (INVALID_WEIGHTS), or if the memory or the threads cannot be had (OUT_OF_MEMORY, NO_THREADS).
    NotationError
        If the file of weights cannot be read or is damaged (reason BAD_WEIGHTS).
    """
    if time_s is None and iterations is None:
        time_s = DEFAULT_TIME_S
    limits = Limits(time_s, iterations, memory_mb, threads)
    return run_search(
        position,
        limits,
        seed=seed,
        candidates=candidates,
        level=level,
        weights=weights,
        search_class=evaluating(evaluator, batch_size),
    )


def analyze(
    position: Position,
    *,
    time_s: float | None = None,
    iterations: int | None = None,
    threads: int = DEFAULT_THREADS,
    memory_mb: int = DEFAULT_MEMORY_MB,
    seed: int | None = None,
    candidates: int = DEFAULT_CANDIDATES,
    level: int = levels.HIGHEST,
    interval_s: float = DEFAULT_INTERVAL_S,
    weights: Weights | str | os.PathLike[str] | None = None,
    evaluator: Evaluator | None = None,
    batch_size: int = DEFAULT_BATCH,
) -> Iterator[Result]:
    """Search for the best turn and yield the result so far every `interval_s` seconds.

    The other parameters and the errors are those of `best_turn`, but with neither `time_s` nor `iterations`
    the search runs until it is stopped. Only the last result has a `stop_reason`. Closing the iterator stops
    the search.
    """
    limits = Limits(time_s, iterations, memory_mb, threads, unlimited=True)
    return watch_search(
        position,
        limits,
        seed=seed,
        candidates=candidates,
        level=level,
        interval_s=interval_s,
        weights=weights,
        search_class=evaluating(evaluator, batch_size),
    )


def evaluating(
    evaluator: Evaluator | None, batch_size: int, search_class: Callable[..., Any] = Search
) -> Callable[..., Any]:
    """Return what makes searches with an evaluator; `search_class` itself without one.

    Raises
    ------
    SearchError
        The size of a batch is out of range; reason INVALID_LIMITS.
    """
    if type(batch_size) is not int or not 1 <= batch_size <= MAX_BATCH:
        raise SearchError(
            f"batch_size: given {quote(batch_size)}; expected an integer from 1 to {MAX_BATCH}",
            reason="INVALID_LIMITS",
            path="batch_size",
        )
    return search_class if evaluator is None else partial(search_class, evaluator=evaluator, batch_size=batch_size)


@out_of_memory()
def run_search(
    position: Position,
    limits: Limits,
    *,
    seed: int | None = None,
    candidates: int = DEFAULT_CANDIDATES,
    level: int = levels.HIGHEST,
    stop: Stop | None = None,
    weights: Weights | str | os.PathLike[str] | None = None,
    search_class: Callable[..., Any] = Search,
) -> Result:
    """Search within `limits` and return the result; see `best_turn`.

    Setting `stop`, from any thread, ends the search; the result is the best turn found so far. `search_class`
    makes a compiled search with the interface of `cext.core.search.search.Search`, the default.
    """
    levels.check(level)
    limits = levels.limits_of(level, limits)
    search = _new_search(position, limits, seed, candidates, level, weights, search_class)
    with _stopped_by(stop, search):
        search.run(time_s=limits.time_s, iterations=limits.iterations)
    return _result(position, search, level, candidates)


def _stopped_by(stop, search):
    return contextlib.nullcontext() if stop is None else stop.calling(search.stop)


def watch_search(
    position: Position,
    limits: Limits,
    *,
    seed: int | None = None,
    candidates: int = DEFAULT_CANDIDATES,
    level: int = levels.HIGHEST,
    interval_s: float = DEFAULT_INTERVAL_S,
    stop: Stop | None = None,
    weights: Weights | str | os.PathLike[str] | None = None,
    search_class: Callable[..., Any] = Search,
) -> Iterator[Result]:
    """Search within `limits` and yield intermediate results; see `analyze` and `run_search`."""
    if not is_time(interval_s):
        raise SearchError(
            f"interval_s: given {quote(interval_s)}; expected a number of seconds above 0, at most "
            f"{MAX_TIME_S}",
            reason="INVALID_LIMITS",
            path="interval_s",
        )
    levels.check(level)
    limits = levels.limits_of(level, limits)
    with out_of_memory():
        search = _new_search(position, limits, seed, candidates, level, weights, search_class)
    return _watch(position, search, limits, candidates, level, interval_s, stop)


def _watch(*args):
    with out_of_memory():
        yield from _partial_results(*args)


def _partial_results(position, search, limits, candidates, level, interval_s, stop):
    done = threading.Event()
    failure = []

    def run():
        try:
            search.run(time_s=limits.time_s, iterations=limits.iterations)
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    try:
        with _stopped_by(stop, search):
            while not done.wait(interval_s):
                partial = _result(position, search, level, candidates)
                if not partial.stop_reason:
                    yield partial
    finally:
        # Also if the caller closes the iterator, or on Ctrl-C.
        search.stop()
        worker.join()
    if failure:
        raise failure[0]
    yield _result(position, search, level, candidates)


def _result(position, search, level, candidates):
    found = search.result(candidates if level == levels.HIGHEST else max(candidates, levels.MAX_CHOICES))
    result = _to_result(position.game, found, search.weights)
    return levels.choose(level, position.game, result, position.to_move, candidates)


def _new_search(position, limits, seed, candidates, level, weights, search_class):
    require_seat_to_move(position)
    if type(candidates) is not int or not 1 <= candidates <= MAX_CANDIDATES:
        raise SearchError(
            f"candidates: given {quote(candidates)}; expected an integer from 1 to {MAX_CANDIDATES}",
            reason="INVALID_LIMITS",
            path="candidates",
        )
    return search_class(
        position.state,
        weights=weights_for(position.game, weights),
        threads=limits.threads,
        memory_mb=limits.memory_mb,
        seed=resolve_seed(seed),
        **levels.search_options(level, position.game),
    )


def weights_for(
    game: str,
    weights: Weights | str | os.PathLike[str] | None,
    *,
    path: str | os.PathLike[str] | None = None,
) -> Weights | None:
    """Return the weights for a search of a game: `weights`, loaded if it is a path, or those that ship.

    `path` is the file that loaded weights come from, if it is known; errors name it.

    Raises
    ------
    NotationError
        The file cannot be read or does not hold valid weights (reason BAD_WEIGHTS).
    SearchError
        The weights belong to another game (reason INVALID_WEIGHTS).
    """
    if weights is None:
        return registry.get(game).weights()
    if not isinstance(weights, Weights):
        path = weights
        weights = registry.load_weights_file(path)
    if weights.game != game:
        given = f"{weights.version} of {weights.game}" if path is None else f"{path} of {weights.game}"
        has_weights = registry.get(game).learning.weights is not None
        expected = f"expected weights of {game}" if has_weights else f"{game} has no weights"
        raise SearchError(
            f"weights: given {given}; {expected}",
            reason="INVALID_WEIGHTS",
            path="weights",
        )
    return weights


def _to_result(game: str, found: dict[str, Any], weights: Weights | None) -> Result:
    """Return the compiled search's result with its actions as text."""
    format_action = registry.get(game).text.format_action

    def format_turn(actions):
        return [format_action(action) for action in actions]

    candidates = [
        Candidate(
            turn=format_turn(candidate["actions"]),
            visits=candidate["visits"],
            value=candidate["value"],
            expected_scores=candidate["expected_scores"],
            prior=candidate["prior"],
            line=[format_turn(turn) for turn in candidate["line"]],
            forecast=[Forecast(**point) for point in candidate.get("forecast", ())],
        )
        for candidate in found["candidates"]
    ]
    return Result(
        candidates=candidates,  # there is always one
        weights=None if weights is None else weights.version,
        **{
            key: found[key]
            for key in ("iterations", "nodes", "distinct_turns", "seconds", "stop_reason", "seed", "threads")
        },
    )
