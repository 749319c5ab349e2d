"""The games as Python games of OpenSpiel, which must be installed (``pip install open_spiel``).

    import pyspiel
    import mexica_ai.env.openspiel
    game = pyspiel.load_game("mexica_ai(game=mexica,players=3)")

The import registers the game. An action is an index into the list of legal actions of the state. The deal and each
random event are a chance node with `CHANCE_OUTCOMES` equally likely outcomes. Each is a seed, so a
state follows from its history.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel

from cext.core.contract.game import CHANCE, State
from cext.core.learning.tensor import observation
from mexica_ai.game import registry
from mexica_ai.game.observations import schema
from mexica_ai.game.position import Position, new_game
from mexica_ai.game.schema import SEATS

CHANCE_OUTCOMES = 1024
_EVENT_SEEDS = 1 << 32  # seeds of random events begin here, those of deals at 0

GAME_TYPE = pyspiel.GameType(
    short_name="mexica_ai",
    long_name="mexica-ai",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.CONSTANT_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=SEATS,
    min_num_players=2,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"game": registry.DEFAULT, "players": 2},
)


class SpielGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no types
    """A game of `mexica_ai.game.registry` with a number of seats, by the parameters ``game`` and ``players``."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = params or {}
        self.name = params.get("game", registry.DEFAULT)
        self.players = params.get("players", 2)
        self.schema = schema(self.name)
        rules = registry.get(self.name).rules
        new_game(self.name, players=self.players, seed=0)  # refuses a number of seats that the game does not have
        info = pyspiel.GameInfo(
            num_distinct_actions=rules.max_actions,
            max_chance_outcomes=CHANCE_OUTCOMES,
            num_players=self.players,
            min_utility=0.0,
            max_utility=1.0,
            utility_sum=1.0,
            max_game_length=rules.max_game_length,
        )
        super().__init__(GAME_TYPE, info, params)

    def new_initial_state(self) -> SpielState:
        """Return the state before the deal."""
        return SpielState(self)

    def make_py_observer(self, iig_obs_type: object = None, params: object = None) -> SpielObserver:
        """Return the observer of the game."""
        return SpielObserver(self)


class SpielState(pyspiel.State):  # type: ignore[misc]  # pyspiel has no types
    """A state of the game, or none before the deal."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        # OpenSpiel copies a state's attributes, all of them, but a copy of the game would lose its own.
        self._name, self._players = game.name, game.players
        self._events = 0  # random events so far
        self.state: State | None = None

    @property
    def position(self) -> Position | None:
        """A copy of the position, everything that is hidden included; None before the deal."""
        return None if self.state is None else Position(self._name, self.state.copy())

    @property
    def _dealt(self) -> State:
        assert self.state is not None
        return self.state

    def current_player(self) -> int:
        """Return the seat to move, or OpenSpiel's player for chance or for the end."""
        player: int = pyspiel.PlayerId.CHANCE
        if self.state is not None and self.state.is_terminal:
            player = pyspiel.PlayerId.TERMINAL
        elif self.state is not None and self.state.current_player != CHANCE:
            player = self.state.current_player
        return player

    def _legal_actions(self, player: int) -> list[int]:
        return list(range(len(self._dealt.legal_actions())))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the seeds, all equally likely."""
        return [(outcome, 1.0 / CHANCE_OUTCOMES) for outcome in range(CHANCE_OUTCOMES)]

    def _apply_action(self, action: int) -> None:
        if self.state is None:
            self.state = new_game(self._name, players=self._players, seed=action).state.copy()
        elif self.state.current_player == CHANCE:
            self._events += 1
            self.state.resolve_chance(_EVENT_SEEDS + self._events * CHANCE_OUTCOMES + action)
        else:
            self.state.apply(self.state.legal_actions()[action])

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"seed {action}"
        return registry.get(self._name).text.format_action(self._dealt.legal_actions()[action])

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.state is not None and self.state.is_terminal

    def returns(self) -> list[float]:
        """Return each seat's share of the win; 0 before the end."""
        is_over = self.state is not None and self.state.is_terminal
        return self._dealt.returns() if is_over else [0.0] * self._players

    def __str__(self) -> str:
        return "before the deal" if self.state is None else str(self.position)


class SpielObserver:
    """The observation of a seat: the fields of the game's schema by name, and all of them as one tensor."""

    def __init__(self, game: SpielGame) -> None:
        self.tensor = np.zeros(game.schema.size, np.float32)
        self.dict = game.schema.split(self.tensor)

    def set_from(self, state: SpielState, player: int) -> None:
        """Fill in the tensor from a state; zeros before the deal."""
        self.tensor[:] = 0 if state.state is None else observation(state.state, player)

    def string_from(self, state: SpielState, player: int) -> str:
        """Return the view of a seat as a board of text."""
        position = state.position
        return "before the deal" if position is None else str(position.view(player))


pyspiel.register_game(GAME_TYPE, SpielGame)
