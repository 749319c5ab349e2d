"""A game by PettingZoo's AEC interface (extra `rl`); `mexica_ai.env.aec` makes one."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv

from cext.core.contract.game import CHANCE, State
from cext.core.learning.tensor import observation
from mexica_ai.env.forms import form_of
from mexica_ai.env.rendering import MODES, check_render_mode, modes_of, render
from mexica_ai.env.rewards import check_reward, rewards_of
from mexica_ai.game import registry
from mexica_ai.game.observations import bound_of, check_actions, schema
from mexica_ai.game.position import Position, new_game
from mexica_ai.io.errors import IllegalActionError
from mexica_ai.io.numbers import resolve_seed
from mexica_ai.io.strict import quote


class GameEnv(AECEnv[str, dict[str, npt.NDArray[Any]], int | None]):  # type: ignore[misc]  # pettingzoo has no types
    """One game. Agents are the seats, an action is an index into the list of legal actions of the state.

    An observation is a dictionary: ``observation`` (float32, see `mexica_ai.env.schema`) and ``action_mask`` (int8,
    1 for the indexes of legal actions; all 0 for a seat that is not to move). The reward is a seat's share of the win,
    when the game is over. Random events are drawn by the environment. With the actions ``"ids"`` an action is one of
    the game's fixed ids instead, in the mask, too. With ``"features"`` the info of the agent to move has
    ``action_features`` (float32 [legal actions, size], see `mexica_ai.env.action_schema`).
    """

    metadata = {"name": "mexica_ai_v1", "render_modes": list(MODES), "is_parallelizable": False}  # noqa: RUF012

    def __init__(
        self,
        game: str,
        players: int,
        seed: int | None,
        reward: str,
        render_mode: str | None,
        actions: str | None,
        options: dict[str, Any],
    ) -> None:
        super().__init__()
        self.schema = schema(game)
        check_reward(reward)
        check_render_mode(game, render_mode)
        check_actions(game, actions)
        self.metadata = self.metadata | {"render_modes": modes_of(game)}
        self.render_mode, self._reward, self._actions = render_mode, reward, actions
        self._game, self._players, self._options = game, players, options
        self._parts = registry.get(game)
        self._form = form_of(game, "ids" if actions == "ids" else None)  # features are in the information
        self._rng = np.random.default_rng(resolve_seed(seed))
        self._state = self._deal({})
        self.possible_agents = [f"seat_{seat}" for seat in range(self._state.num_players)]
        self.agents: list[str] = []
        self._observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": self._form.observation_space,
                    "action_mask": spaces.Box(0, 1, (self._form.size,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._action_spaces = {agent: spaces.Discrete(self._form.size) for agent in self.possible_agents}

    def __copy__(self) -> GameEnv:
        return copy.deepcopy(self)  # a step changes the state in place

    def __setstate__(self, data: dict[str, Any]) -> None:
        self.__dict__.update(data)
        if self.agents:
            self._choices = self._form.choices(self._state)  # another version may number them otherwise

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions: indexes into the list of legal actions."""
        return self._action_spaces[agent]

    @property
    def position(self) -> Position:
        """A copy of the position, everything that is hidden included."""
        return Position(self._game, self._state.copy())

    @property
    def legal(self) -> list[str]:
        """The legal actions as text, in the order of their indexes."""
        return [self._parts.text.format_action(action) for action in self._state.legal_actions()]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Parameters
        ----------
        seed : int, optional
            0 <= seed < 2**63. Without one, the next game of the seed that was given last.
        options : dict, optional
            Options of the game, for this deal alone. Of others a UserWarning says that they mean nothing: PettingZoo's
            own tests give one.

        Raises
        ------
        SearchError
            The seed is out of range.
        NotationError, PositionError
            An option has a wrong value.
        """
        given = options or {}
        known = [option.name for option in self._parts.starts.options]
        for name in given:
            if name not in known:
                expected = f"only {', '.join(known)}" if known else "none"
                message = f"reset: the option {quote(name)} means nothing to {self._game}; expected {expected}"
                warnings.warn(message, UserWarning, stacklevel=4)  # past the wrapper's two
        if seed is not None:
            self._rng = np.random.default_rng(resolve_seed(seed))
        self._state = self._deal({name: given[name] for name in known if name in given})
        self._settle()
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[self._state.current_player]
        self._inform()

    def step(self, action: int | None) -> None:
        """Play an action of the agent to move.

        Raises
        ------
        IllegalActionError
            There is no action with this index. Nothing is changed then.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        chosen = self._form.action(self._choices, action)
        if chosen is None:
            raise IllegalActionError(f"action: given {quote(action)}; expected {self._form.expected(self._choices)}")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._state.apply(chosen)
        self._settle()
        if self._state.is_terminal:
            rewards = rewards_of(self._reward, self._state.returns(), self._state.scores())
            for name, reward in zip(self.possible_agents, rewards.tolist(), strict=True):
                self.rewards[name] = reward
                self.terminations[name] = True
        else:
            self.agent_selection = self.possible_agents[self._state.current_player]
        self._accumulate_rewards()
        self._inform()

    def observe(self, agent: str) -> dict[str, npt.NDArray[Any]]:
        """Return the observation of an agent."""
        seat = self.possible_agents.index(agent)
        mask = self._form.mask(self._choices if seat == self._state.current_player else {})
        return {"observation": self._form.observe(self._state, seat), "action_mask": mask}

    def state(self) -> npt.NDArray[np.float32]:
        """Return what all seats see together, for a critic: float32 [players, size], a row for each seat.

        What no seat sees, such as the order of a deck, is in none of them.
        """
        return np.stack([observation(self._state, seat) for seat in range(self._state.num_players)])

    @property
    def state_space(self) -> spaces.Box:
        """The space of `state`."""
        bound = bound_of(self.schema)
        return spaces.Box(-bound, bound, (len(self.possible_agents), self.schema.size), np.float32)

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Return the board as text or as an array of colours; None without a render mode."""
        return render(self.position, self.render_mode)

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _deal(self, options: dict[str, Any]) -> State:
        seed = int(self._rng.integers(2**63))
        return new_game(self._game, players=self._players, seed=seed, **(self._options | options)).state

    def _settle(self) -> None:
        """Draw random events until a seat is to move or the game is over, and list the legal actions."""
        while self._state.current_player == CHANCE:
            self._state.resolve_chance(int(self._rng.integers(2**63)))
        self._choices = self._form.choices(self._state)

    def _inform(self) -> None:
        """Give the features of the legal actions to the agent that is to move."""
        for agent in self.agents:
            self.infos[agent] = {}
        if self._actions == "features" and not self._state.is_terminal:
            self.infos[self.agent_selection] = {"action_features": self._state.action_features()}
