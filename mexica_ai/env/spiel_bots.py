"""Bots of OpenSpiel as engines, `spiel:BOT` (extra `spiel`): they play the games by `mexica_ai.env.openspiel`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy
from open_spiel.python.algorithms import ismcts, mcts
from open_spiel.python.bots.policy import PolicyBot
from open_spiel.python.bots.uniform_random import UniformRandomBot

from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.search import weights_for
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines.base import Engine
from mexica_ai.engines.native import result_of_turn
from mexica_ai.env.openspiel import SpielState, load
from mexica_ai.game.position import Position
from mexica_ai.io.errors import SearchError

DEFAULT_ITERATIONS = 100  # of each decision
_EXPLORATION = 2.0  # of both searches, for utilities in [-1, 1]


class SpielEngine(Engine):
    """A bot of OpenSpiel, which decides each action of a turn by itself.

    The key `iterations` says how many simulations each decision of `mcts` and `ismcts` gets; they keep no time. The
    bots play one full position that agrees with what the seat knows, drawn anew each turn; `ismcts` draws others.
    """

    def _best_turn(self, position: Position, limits: Limits, *, seed: int, candidates: int, stop: Stop) -> Result:
        started = time.perf_counter()
        drawn = position.state.copy()
        seat, turn = drawn.current_player, drawn.turn
        drawn.determinize(seat, seed)
        state = load(Position(position.game, drawn))
        rng = np.random.RandomState(seed % (1 << 32))
        bot, quick = self._bot(state, seat, rng), UniformRandomBot(seat, rng)
        actions: list[int] = []
        searched = 0
        after = state.state
        while after is not None and after.current_player == seat and after.turn == turn:
            legal = state.legal_actions()
            number = legal[0]
            if len(legal) > 1:
                searched += not stop.is_set()
                number = int((quick if stop.is_set() else bot).step(state))
            actions.append(state.action_of(number))
            state.apply_action(number)
            after = state.state
        assert after is not None
        weights = weights_for(position.game, None)
        iterations = max(1, searched * self._iterations)
        return result_of_turn(position.game, actions, after, weights, seed, started, iterations)

    @property
    def _iterations(self) -> int:
        if self.spec.target not in ("mcts", "ismcts"):
            return 1
        count: int = self.spec.options.get("iterations", self._defaults.get("iterations", DEFAULT_ITERATIONS))
        return count

    def _bot(self, state: SpielState, seat: int, rng: np.random.RandomState) -> Any:
        """Make the bot that the spec names."""
        game = state.get_game()
        kind = game.get_type()
        evaluator = mcts.RandomRolloutEvaluator(1, rng)
        if self.spec.target == "random":
            return UniformRandomBot(seat, rng)
        if self.spec.target == "uniform":
            return PolicyBot(seat, rng, policy.UniformRandomPolicy(game))
        if self.spec.target == "mcts":
            return mcts.MCTSBot(game, _EXPLORATION, self._iterations, evaluator, random_state=rng)
        if kind.information != pyspiel.GameType.Information.IMPERFECT_INFORMATION:
            raise SearchError(
                f"engine {self.name}: {state.game_name} hides nothing; expected spiel:mcts",
                reason="INVALID_GAME",
                path="engine",
            )
        most = ismcts.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
        bot = ismcts.ISMCTSBot(
            game, evaluator, _EXPLORATION, self._iterations, random_state=rng, final_policy_type=most
        )
        bot.set_resampler(lambda state, seat: state.resample_from_infostate(seat, rng.random_sample))  # else unseeded
        return bot
