"""The compiled engines: `mcts`, the project's search, the baselines `uct`, `beam`, `greedy`, `random`, and the
sparring partner `planner`."""

from __future__ import annotations

import functools
import os
import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cext.core.baselines import simple
from cext.core.baselines.beam import Beam
from cext.core.baselines.uct import UCT
from cext.core.contract.game import State
from cext.core.learning.weights import Weights
from cext.core.search.options import OPTIONS
from cext.core.search.search import Search
from mexica_ai.analysis.levels import HIGHEST
from mexica_ai.analysis.limits import DEFAULT_BATCH, Limits, out_of_memory
from mexica_ai.analysis.ratings import chosen_level
from mexica_ai.analysis.results import Candidate, Result
from mexica_ai.analysis.search import SearchRun, weights_for
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines.base import Engine
from mexica_ai.engines.specs import EngineSpec
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.game.registry import load_weights_file
from mexica_ai.io.errors import MexicaAIError, SearchError

DEFAULT_WIDTH = 40  # of the beam
NICENESS = 19  # added to that of threads that search in the others' time, so that they delay nobody


class _WeightedEngine(Engine):
    """An engine that evaluates positions with weights: those of the key `weights`, or those that ship."""

    def __init__(self, spec: EngineSpec, defaults: Mapping[str, Any] | None = None) -> None:
        super().__init__(spec, defaults)
        given: Weights | str | os.PathLike[str] | None = spec.options.get("weights", self._defaults.get("weights"))
        self._path = None if isinstance(given, Weights) else given
        # Read now, so that a bad file is an error before the first game.
        self._weights = given if self._path is None else load_weights_file(self._path)

    def _weights_for(self, game: str) -> Weights | None:
        return weights_for(game, self._weights, path=self._path)

    def weights_id(self, game: str) -> str | None:
        weights = self._weights_for(game)
        return None if weights is None else weights.version


def _result(run: SearchRun, stop: Stop) -> Result:
    with stop.calling(run.stop):
        return run.result()


class MctsEngine(_WeightedEngine):
    """The project's search; keys of the spec may set its level of play, its evaluator and its options.

    With the key `reuse` a search goes on from the one before, if that was of the same game and seat; with `ponder` the
    engine also searches while others move. At full strength only: levels are measured without.
    """

    def __init__(self, spec: EngineSpec, defaults: Mapping[str, Any] | None = None) -> None:
        super().__init__(spec, defaults)
        self._ponder_s: float = spec.options.get("ponder", 0.0)
        self._reuses = "evaluator" not in spec.options and (spec.options.get("reuse", 0) == 1 or self._ponder_s > 0)
        self._last: Search | None = None  # from which the next one goes on
        self._arguments: dict[str, Any] = {}  # of the last search
        file = spec.options.get("evaluator")
        self._evaluator = None
        if file is not None:
            from mexica_ai.analysis.evaluators import OnnxEvaluator  # not needed without

            self._evaluator = OnnxEvaluator(file)
        self._batches = {
            "batch_size": spec.options.get("batch", DEFAULT_BATCH),
            "batches": spec.options.get("batches", 2),
        }

    def _run(self, position: Position, limits: Limits, seed: int, candidates: int) -> SearchRun:
        if self._evaluator is not None:
            self._evaluator.check(position.game)
        level = self._level(position.game)
        settings = SearchSettings(
            limits,
            seed,
            candidates,
            level=level,
            weights=self._weights_for(position.game),
            evaluator=self._evaluator,
            **self._batches,
            options={name: value for name, value in self.spec.options.items() if name in OPTIONS},
            **self._first_actions,
        )
        self.rest()
        before, self._last = self._last, None
        run = SearchRun(position, settings, after=before)
        self._arguments = settings.arguments(position.game)
        return run

    def _level(self, game: str) -> int:
        """Return the level that the spec asks for, or else its defaults."""
        for asked in (self.spec.options, self._defaults):
            if asked.keys() & {"level", "elo"}:
                return chosen_level(game, asked.get("level", HIGHEST), asked.get("elo"))
        return HIGHEST

    def _best_turn(self, position: Position, limits: Limits, *, seed: int, candidates: int, stop: Stop) -> Result:
        run = self._run(position, limits, seed, candidates)
        result = _result(run, stop)
        if self._reuses and run.settings.level == HIGHEST and isinstance(run.search, Search):
            self._last = run.search
        return result

    def ponder(self, position: Position, turn: Sequence[str]) -> None:
        """Search the position after a turn, as the seat that has played it, until the time of the key `ponder`."""
        if self._last is None or self._ponder_s == 0 or position.to_move is None:
            return
        seat, after = position.to_move, position.state.copy()
        after.determinize(seat, self._arguments["seed"])  # no more than the seat can know
        for action in turn:
            after.apply(registry.get(position.game).text.parse_action(action))
        if after.is_terminal:
            return
        before, self._last = self._last, None
        with out_of_memory():
            search = Search(
                after,
                weights=self._weights_for(position.game),
                viewer=seat,
                after=before,
                niceness=NICENESS,
                **self._arguments | {"early_stop": 0.0, "confirming_share": 0.0, "threads": 1},  # the rest is for turns
            )
            self._last = search
            search.start(time_s=self._ponder_s)

    def rest(self) -> None:
        """End the search of `ponder`; what it has found is kept, unless it has failed."""
        if self._last is None:
            return
        self._last.stop()
        try:
            self._last.wait()
        except MexicaAIError:  # of a game in Python
            self._last = None

    def close(self) -> None:
        """End the search of `ponder`, and drop what is kept."""
        self.rest()
        self._last = None

    def _analyze(
        self,
        position: Position,
        limits: Limits,
        *,
        seed: int,
        candidates: int,
        stop: Stop,
        interval_s: float,
    ) -> Iterator[Result]:
        run = self._run(position, limits, seed, candidates)
        with stop.calling(run.stop):
            yield from run.results(interval_s)


class UctEngine(Engine):
    """Textbook UCT over single actions, with random playouts to the end of the game."""

    def _best_turn(self, position: Position, limits: Limits, *, seed: int, candidates: int, stop: Stop) -> Result:
        return _result(SearchRun(position, SearchSettings(limits, seed, candidates), search_class=UCT), stop)


class BeamEngine(_WeightedEngine):
    """The best whole turn by beam search with the game's evaluation; the key `width` is the beam width."""

    def _best_turn(self, position: Position, limits: Limits, *, seed: int, candidates: int, stop: Stop) -> Result:
        settings = SearchSettings(limits, seed, candidates, weights=self._weights_for(position.game))
        beam = functools.partial(Beam, width=self.spec.options.get("width", DEFAULT_WIDTH))
        return _result(SearchRun(position, settings, search_class=beam), stop)


class _InstantEngine(_WeightedEngine):
    """A baseline that answers at once, whatever the limits, with the one turn that it considers."""

    @abstractmethod
    def _turn(self, state: State, weights: Weights | None, seed: int) -> list[int]:
        """Return the actions of a turn; do not change the state."""

    def _best_turn(self, position: Position, limits: Limits, *, seed: int, candidates: int, stop: Stop) -> Result:
        started = time.perf_counter()
        after = position.state.copy()
        # The engine must not use what its seat cannot know.
        after.determinize(after.current_player, seed)
        weights = self._weights_for(position.game)
        actions = self._turn(after, weights, seed)
        for action in actions:
            after.apply(action)
        return result_of_turn(position.game, actions, after, weights, seed, started)


def result_of_turn(
    game: str, actions: list[int], after: State, weights: Weights | None, seed: int, started: float, iterations: int = 1
) -> Result:
    """Return the result of an engine that considers one turn; `after` is the state after it."""
    value, expected_scores = simple.evaluate(after, weights=weights)
    turn = [registry.get(game).text.format_action(action) for action in actions]
    candidate = Candidate(turn=turn, visits=1, value=value, expected_scores=expected_scores, prior=1.0, line=[])
    return Result(
        candidates=[candidate],
        iterations=iterations,
        nodes=1,
        distinct_turns=1,
        seconds=time.perf_counter() - started,
        stop_reason="settled",
        seed=seed,
        weights=None if weights is None else weights.version,
    )


class GreedyEngine(_InstantEngine):
    """Plays the action with the best evaluation after it, until no action is better than to end the turn."""

    def _turn(self, state: State, weights: Weights | None, seed: int) -> list[int]:
        return simple.greedy_turn(state, weights=weights)


class PlannerEngine(_InstantEngine):
    """The game's sparring partner (`Learning.planner`); the key `temper` chooses among its likings."""

    def _turn(self, state: State, weights: Weights | None, seed: int) -> list[int]:
        game = state.game.name
        plan_turn = registry.get(game).learning.planner
        if plan_turn is None:
            raise SearchError(f"{game} has no planner; expected another engine", reason="INVALID_GAME", path="engine")
        return plan_turn(state, weights, self.spec.options.get("temper", 0))


class RandomEngine(_InstantEngine):
    """Plays like the uniform random playout: a random kind of action, then a random action of that kind."""

    def weights_id(self, game: str) -> None:
        return None  # weights value the position after the turn, but do not choose the turn

    def _turn(self, state: State, weights: Weights | None, seed: int) -> list[int]:
        return simple.random_turn(state, seed)
