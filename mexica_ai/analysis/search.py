"""The search from Python: `best_turn` waits for the result, `analyze` yields intermediate results.

Both build `SearchSettings` and run a `SearchRun`, like every search of the package. A run translates between positions
and the compiled search (`cext.core.search.search`), which works in native threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cext.core.learning.weights import Weights
from cext.core.search.search import Search as Search
from cext.core.search.turn_search import TurnSearch
from mexica_ai.analysis import calibration, levels
from mexica_ai.analysis.limits import (
    DEFAULT_BATCH,
    DEFAULT_CANDIDATES,
    DEFAULT_INTERVAL_S,
    DEFAULT_MEMORY_MB,
    DEFAULT_THREADS,
    DEFAULT_TIME_S,
    Limits,
    out_of_memory,
)
from mexica_ai.analysis.ratings import chosen_level
from mexica_ai.analysis.results import Candidate, FirstAction, Forecast, Result
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.stopping import Stop
from mexica_ai.game import registry
from mexica_ai.game.position import Position, require_seat_to_move
from mexica_ai.io.errors import SearchError
from mexica_ai.io.numbers import check_interval

if TYPE_CHECKING:
    from cext.core.search.turn_search import SearchResult
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
    elo: int | None = None,
    weights: Weights | str | os.PathLike[str] | None = None,
    evaluator: Evaluator | None = None,
    batch_size: int = DEFAULT_BATCH,
    batches: int = 2,
    allow: Sequence[str] | None = None,
    avoid: Sequence[str] = (),
    stop: Stop | None = None,
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
        Strength of play, 1 to 10 (`mexica_ai.analysis.levels`): 10 may use all the time it is given and plays the best
        turn it finds; lower levels search less and choose among turns that are nearly as good.
    elo : int, optional
        Instead of `level`: a rating, 1 to 5000, where the engine `greedy` has 1000; the level whose rating in the game
        is nearest plays (`mexica_ai.analysis.ratings`).
    weights : Weights or path-like, optional
        Weights of the evaluation and the policy: a file that `mexica-ai train` wrote, or the value that
        `mexica_ai.game.registry.load_weights_file` returns for one. By default those that ship.
    evaluator : callable, optional
        Evaluates the leaves of the search instead of the game's evaluation and playouts: from observations,
        float32 [N, size], to the seats' shares of the win [N, P]. It may give priors of actions, too; see
        ``docs/evaluators.md``.
    batch_size : int
        How many leaves the evaluator gets at a time at most, 1-4096.
    batches : int
        How many such batches are under way: with 2 threads gather one while the evaluator works on the other one; with
        1 they take turns, and each descent knows more.
    allow : sequence of str, optional
        The only actions with which the turn may begin; any by default. The search looks at no others.
    avoid : sequence of str
        Actions with which it may not begin, even if `allow` has them.
    stop : Stop, optional
        Setting it, from any thread, ends the search; the result is the best turn found so far.

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
        another game (INVALID_WEIGHTS), `elo` is no rating or given beside a level (INVALID_OPTION), or if the memory or
        the threads cannot be had (OUT_OF_MEMORY, NO_THREADS).
        Or if `allow` and `avoid` leave no legal action (NO_FIRST_ACTION).
    IllegalActionError
        If an action of `allow` or `avoid` is not legal.
    NotationError
        If the file of weights cannot be read or is damaged (reason BAD_WEIGHTS), or an action is not one.
    """
    if time_s is None and iterations is None:
        time_s = DEFAULT_TIME_S
    settings = SearchSettings(
        Limits(time_s, iterations, memory_mb, threads),
        seed,
        candidates,
        chosen_level(position.game, level, elo),
        weights,
        evaluator,
        batch_size,
        allow=allow,
        avoid=avoid,
        batches=batches,
    )
    run = SearchRun(position, settings)
    with (stop or Stop()).calling(run.stop):
        return run.result()


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
    elo: int | None = None,
    interval_s: float = DEFAULT_INTERVAL_S,
    weights: Weights | str | os.PathLike[str] | None = None,
    evaluator: Evaluator | None = None,
    batch_size: int = DEFAULT_BATCH,
    batches: int = 2,
    allow: Sequence[str] | None = None,
    avoid: Sequence[str] = (),
) -> Iterator[Result]:
    """Search for the best turn and yield the result so far every `interval_s` seconds.

    The other parameters and the errors are those of `best_turn`, but with neither `time_s` nor `iterations`
    the search runs until it is stopped. Only the last result has a `stop_reason`. Closing the iterator stops
    the search.
    """
    limits = Limits(time_s, iterations, memory_mb, threads, unlimited=True)
    settings = SearchSettings(
        limits,
        seed,
        candidates,
        chosen_level(position.game, level, elo),
        weights,
        evaluator,
        batch_size,
        allow=allow,
        avoid=avoid,
        batches=batches,
    )
    return SearchRun(position, settings).results(interval_s)


class SearchRun:
    """One search of a position. It runs once: by `result`, or by `results`, in the thread that calls.

    Parameters
    ----------
    position : Position
        Not changed.
    settings : SearchSettings
    search_class : callable
        Makes the compiled search.
    late_s : float, optional
        The result comes at most this many seconds after the time limit, even if threads without a processor still run;
        then `join` waits for them. By default it comes when they have ended. Only with `Search`.
    after : Search, optional
        An ended search from which this one goes on. Only with `Search`.

    Attributes
    ----------
    search : TurnSearch
        The compiled search.

    Raises
    ------
    GameOverError, PositionError, SearchError, NotationError
        As `best_turn`.
    """

    def __init__(
        self,
        position: Position,
        settings: SearchSettings,
        *,
        search_class: Callable[..., TurnSearch] = Search,
        late_s: float | None = None,
        after: Search | None = None,
    ) -> None:
        require_seat_to_move(position)
        assert position.to_move is not None
        self._seat = position.to_move
        self.position = position.copy()  # the caller may play on while results are read
        self.settings = settings
        limits = settings.level_limits
        self._limits: dict[str, Any] = {"time_s": limits.time_s, "iterations": limits.iterations}
        if late_s is not None:
            self._limits["late_s"] = late_s
        with out_of_memory():
            self.search: TurnSearch = search_class(
                position.state,
                weights=weights_for(position.game, settings.weights),
                **settings.arguments(position.game),
                **first_action_arguments(position, settings),
                **({} if after is None else {"after": after}),
            )
        self._calibration = self._find_calibration()

    def _find_calibration(self) -> calibration.Calibration | None:
        """Return the map to what is published: that of the game, if it was fitted with these weights.

        Searches with other options or an evaluator find other shares, so they are published as found.
        """
        weights = self.search.weights
        is_own = self.settings.evaluator is None and not self.settings.options and isinstance(self.search, Search)
        if weights is None or not is_own:
            return None
        path = registry.get(self.position.game).learning.calibration
        return calibration.find(path, weights.version, self.position.players)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a SearchRun cannot be copied or pickled: it runs once, in this process; make one in each")

    @out_of_memory()
    def result(self) -> Result:
        """Search to the end, and return the result."""
        self.search.run(**self._limits)
        return self._result()

    def results(self, interval_s: float = DEFAULT_INTERVAL_S) -> Iterator[Result]:
        """Search, and yield the result so far every `interval_s` seconds; the last one has a stop reason.

        No Python thread is started: native threads search while the iterator waits for the next result. An evaluator
        runs in the calling thread, so with one the search goes on only while the next result is asked for. Closing the
        iterator stops the search.
        """
        check_interval(interval_s)
        return self._results(interval_s)

    def _results(self, interval_s: float) -> Iterator[Result]:
        with out_of_memory():
            self.search.start(**self._limits)
            has_ended = False
            try:
                while not (has_ended := self.search.wait(interval_s)):
                    yield self._result()
            finally:
                if not has_ended:  # the caller has closed the iterator, or there was an error
                    self.stop()
                    self.join()
            yield self._result()

    def stop(self) -> None:
        """End the search, with the best turn found so far; from any thread. One that has not begun ends at once."""
        self.search.stop()

    def join(self) -> None:
        """Wait for the threads that still run after the result (`late_s`)."""
        self.search.join()

    def _result(self) -> Result:
        level, candidates = self.settings.level, self.settings.candidates
        num_listed = candidates if level == levels.HIGHEST else max(candidates, levels.MAX_CHOICES)
        found = self.search.result(num_listed)
        result = _to_result(self.position.game, found, self.search.weights)
        result = levels.choose(level, self.position.game, result, self._seat, candidates)
        return result if self._calibration is None else self._published(result, found, self._calibration)

    def _published(self, result: Result, found: SearchResult, fitted: calibration.Calibration) -> Result:
        format_action = registry.get(self.position.game).text.format_action
        proved = [
            [format_action(action) for action in each["actions"]] for each in found["candidates"] if each["is_proved"]
        ]
        proved_first = [format_action(each["action"]) for each in found["first_actions"] if each["is_proved"]]
        published = fitted.published(
            result,
            self.position.state,
            self._seat,
            exact=[each.turn in proved or self._ends_game(each.turn) for each in result.candidates],
            exact_first=[
                each.action in proved_first or self._ends_game([each.action]) for each in result.first_actions
            ],
            kept_visits=self.search.kept_visits if isinstance(self.search, Search) else 0,
        )
        if result.stop_reason == "solved":
            return replace(published, candidates=[result.candidates[0], *published.candidates[1:]])
        return published

    def _ends_game(self, actions: Sequence[str]) -> bool:
        state = self.position.state.copy()
        for action in actions:
            state.apply(registry.get(self.position.game).text.parse_action(action))
        return state.is_terminal


def first_action_arguments(position: Position, settings: SearchSettings) -> dict[str, Any]:
    """Return the arguments of a compiled search that restrict the first action of its turn; none if nothing does.

    Raises
    ------
    NotationError, IllegalActionError
        Text is no action, or none that is legal.
    SearchError
        No action is left; reason NO_FIRST_ACTION.
    """
    if settings.allow is None and not settings.avoid:
        return {}
    legal = frozenset(position.state.legal_actions())  # once: requests may name a thousand actions

    def read(texts: Sequence[str], name: str) -> frozenset[int]:
        given = [position.legal_action(text, f"{name}[{index}]", legal) for index, text in enumerate(texts)]
        return legal.intersection(given)  # no search considers what players would have to agree on

    allow = None if settings.allow is None else read(settings.allow, "allow")
    avoid = read(settings.avoid, "avoid")
    if not (legal if allow is None else allow) - avoid:
        raise SearchError(
            "allow, avoid: leave no action with which the turn may begin; expected at least one of the "
            f"{len(legal)} legal ones",
            reason="NO_FIRST_ACTION",
            path="allow" if allow is not None else "avoid",
        )
    return {"allow": allow, "avoid": avoid}


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


def _to_result(game: str, data: SearchResult, weights: Weights | None) -> Result:
    """Return the compiled search's result with its actions as text."""
    format_action = registry.get(game).text.format_action

    def format_turn(actions: list[int]) -> list[str]:
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
            value_error=candidate.get("value_error", []),
            expected_scores_error=candidate.get("expected_scores_error", []),
        )
        for candidate in data["candidates"]
    ]
    return Result(
        candidates=candidates,  # there is always one
        weights=None if weights is None else weights.version,
        iterations=data["iterations"],
        nodes=data["nodes"],
        distinct_turns=data["distinct_turns"],
        seconds=data["seconds"],
        stop_reason=data["stop_reason"],
        seed=data["seed"],
        threads=data["threads"],
        first_actions=[
            FirstAction(format_action(first["action"]), first["visits"], first["prior"], first["value"])
            for first in data["first_actions"]
        ],
    )
