"""The games by gymnasium's interfaces (extra `rl`): one seat with opponents inside, and many games at once.

    import gymnasium
    import mexica_ai.env.gymnasium
    env = gymnasium.make("mexica_ai/nim-v1", opponents=["level=3"])

The import registers the games; `mexica_ai.env.single` makes an environment without a name.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from cext.core.contract.game import CHANCE, TERMINAL, State
from cext.core.learning.tensor import observation
from mexica_ai.engines.base import Engine, seen_by
from mexica_ai.engines.make import make_engine
from mexica_ai.engines.policy import Policy
from mexica_ai.engines.specs import level_spec
from mexica_ai.env import forms
from mexica_ai.env.rendering import MODES, check_render_mode, modes_of, render
from mexica_ai.env.rewards import check_choice, check_reward, rewards_of
from mexica_ai.env.vector import VectorEnv, checked_positions, vector
from mexica_ai.game import registry
from mexica_ai.game.position import Position, new_game
from mexica_ai.io.arguments import bad_option
from mexica_ai.io.errors import GameOverError, IllegalActionError, SearchError
from mexica_ai.io.numbers import resolve_seed
from mexica_ai.io.strict import quote

ILLEGAL = ("error", "random", "lose")
PAST = "past"
TRIES = 20  # deals, if games end before the learner's first action
DEFAULT_OPPONENTS = ("random",)

# A policy of the learner: an observation and a mask of the environment to an action of it.
Past = Callable[[Any, NDArray[np.int8]], Any]


class SingleEnv(gymnasium.Env[Any, Any]):
    """A game as one of its seats plays it; the others are opponents that answer inside `step`.

    `mexica_ai.env.single` explains the parameters.

    Attributes
    ----------
    schema : Schema
        The layout of observations.
    seat : int
        The learner's seat in this game.
    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        game: str,
        opponents: Sequence[Any] = DEFAULT_OPPONENTS,
        players: int | None = None,
        seed: int | None = None,
        *,
        seat: int | None = None,
        reward: str = "share",
        illegal: str = "error",
        actions: str | None = None,
        starts: Sequence[Position] | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        check_reward(reward)
        check_choice("illegal", illegal, ILLEGAL)
        check_render_mode(game, render_mode)
        self.metadata = self.metadata | {"render_modes": modes_of(game)}
        self.render_mode = render_mode
        self._form = forms.form_of(game, actions)
        self.schema = self._form.schema
        self.observation_space, self.action_space = self._form.observation_space, self._form.action_space
        self._game, self._options, self._reward, self._illegal = game, options, reward, illegal
        self._starts = None if starts is None else checked_positions(starts, game, players, options)
        if self._starts is None:
            first = new_game(game, players=2 if players is None else players, seed=0, **options)
        elif self._starts:
            first = self._starts[0]
        else:
            raise SearchError("starts: given none; expected at least one", reason="INVALID_OPTION", path="starts")
        self._players = first.players
        if seat is not None and (type(seat) is not int or not 0 <= seat < self._players):
            raise SearchError(
                f"seat: given {quote(seat)}; expected 0 to {self._players - 1}, or None: another one in each game",
                reason="INVALID_OPTION",
                path="seat",
            )
        self._chosen_seat = seat
        self._past: Past | None = None
        if isinstance(opponents, str) or not isinstance(opponents, Sequence):
            raise bad_option("opponents", opponents, 'a list, such as ["level=3"]')
        if not opponents:
            raise SearchError("opponents: given none; expected at least one", reason="INVALID_OPTION", path="opponents")
        self._opponents = [self._opponent(one, f"opponents[{index}]") for index, one in enumerate(opponents)]
        self._seed_all(seed)
        self._is_over = True
        self._begin({})
        self._choices: forms.Choices = self._form.choices(self._state)

    def __copy__(self) -> SingleEnv:
        # A step changes the state in place. Opponents are shared: a process or a connection cannot be copied.
        shared = (self._opponents, *self._opponents, self._past, self.spec)
        return copy.deepcopy(self, {id(one): one for one in shared})

    # --- gymnasium's interface

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a game, and play it up to the learner's first action.

        Parameters
        ----------
        seed : int, optional
            0 <= seed < 2**63. Without one, the next game of the seed that was given last.
        options : dict, optional
            Options of the game, for this deal alone; or `start`, a position from which this game begins.

        Returns
        -------
        tuple
            The observation and the information, see `step`.

        Raises
        ------
        SearchError
            The seed or the position does not fit, or an opponent fails.
        NotationError, PositionError
            An option of the game does not exist or has a wrong value.
        """
        if seed is not None:
            self._seed_all(seed)  # refuses a wrong one before gymnasium does, by another error
        super().reset(seed=seed)
        for _ in range(TRIES):
            self._begin(dict(options or {}))
            self._is_over = True  # until it is the learner's turn
            self._let_others_play()
            self._is_over = self._state.is_terminal
            if not self._is_over:
                break
        else:
            raise SearchError(
                f"reset: {TRIES} games have ended before seat {self.seat} was to move; expected other positions to "
                "begin from",
                reason="INVALID_OPTION",
            )
        return self._form.observe(self._state), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play an action of the learner, and then the others up to its next one.

        Returns
        -------
        tuple
            The observation; the reward, 0 before the end; whether the game is over; False; the information:
            ``action_mask`` (int8), ``seat``, ``illegal`` (bool, whether the action was not legal), and at the end,
            unless an illegal action has lost the game before, ``shares`` of the win and ``scores`` of all seats.

        Raises
        ------
        GameOverError
            The game is over, or none has begun.
        IllegalActionError
            The action is not legal, with ``illegal="error"``. Nothing is changed then.
        SearchError
            An opponent fails.
        """
        if self._is_over:
            raise GameOverError("step: the game is over; expected reset first")
        chosen = self._form.action(self._choices, action)
        if chosen is None and self._illegal == "error":
            raise IllegalActionError(f"action: given {quote(action)}; expected {self._form.expected(self._choices)}")
        if chosen is None and self._illegal == "lose":
            self._is_over = True
            return self._form.observe(self._state), self._lost(), True, False, self._info(illegal=True)
        if chosen is None:
            legal = self._state.legal_actions()
            chosen, was_illegal = legal[self._rng.integers(len(legal))], True
        else:
            was_illegal = False
        self._is_over = True  # if an opponent fails, this game cannot go on
        self._state.apply(chosen)
        self._let_others_play()
        self._is_over, reward = self._state.is_terminal, 0.0
        info = self._info(illegal=was_illegal)
        if self._is_over:
            shares, scores = self._state.returns(), self._state.scores()
            reward = float(rewards_of(self._reward, shares, scores)[self.seat])
            info |= {"shares": np.array(shares), "scores": np.array(scores)}
        return self._form.observe(self._state, self.seat), reward, self._is_over, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of legal actions as sb3-contrib reads it."""
        return self._form.mask(self._choices).astype(np.bool_)

    def render(self) -> Any:
        """Return the board with everything that is hidden: as text, or as an array of colours."""
        return render(self.position, self.render_mode)

    def close(self) -> None:
        """Close the engines among the opponents."""
        for opponent in self._opponents:
            if isinstance(opponent, Engine):
                opponent.close()

    # --- more than gymnasium has

    @property
    def position(self) -> Position:
        """A copy of the position, everything that is hidden included."""
        return Position(self._game, self._state.copy())

    @property
    def legal(self) -> list[str]:
        """The legal actions as text, in the order of their indexes."""
        text = registry.get(self._game).text
        return [text.format_action(action) for action in self._state.legal_actions()]

    def state(self) -> NDArray[np.float32]:
        """Return what all seats see together, for a critic: float32 [players, size], the learner's row first.

        Row i is the observation of the i-th seat from the learner's. What no seat sees, such as the order of a deck, is
        in none of them.
        """
        seats = [(self.seat + i) % self._players for i in range(self._players)]
        return np.stack([observation(self._state, seat) for seat in seats])

    def set_past(self, policy: Past | None) -> None:
        """Let another policy play the seats of the opponent ``"past"``: a copy of the learner's, say.

        Parameters
        ----------
        policy : callable
            From an observation and a mask (int8) of this environment to an action of it. None, as at first: a random
            legal action.
        """
        self._past = policy

    # --- the game

    def _seed_all(self, seed: int | None) -> None:
        self._rng = np.random.default_rng(resolve_seed(seed))
        self._next_seat = int(self._rng.integers(self._players))

    def _begin(self, options: dict[str, Any]) -> None:
        start = options.pop("start", None)
        if start is not None:
            (position,) = checked_positions([start], self._game, self._players, options)
        elif self._starts is not None:
            checked_positions([], self._game, self._players, options)  # refuses options of a deal
            position = self._starts[self._rng.integers(len(self._starts))]
        else:
            deal = int(self._rng.integers(2**63))
            position = new_game(self._game, players=self._players, seed=deal, **(self._options | options))
        self._state: State = position.state.copy()
        self.seat = self._next_seat if self._chosen_seat is None else self._chosen_seat
        self._next_seat = (self.seat + 1) % self._players
        chosen = self._rng.integers(len(self._opponents), size=self._players)
        self._seats = [self._opponents[number] for number in chosen]

    def _let_others_play(self) -> None:
        """Draw random events and play the turns of others until the learner is to move, or the game is over."""
        while (mover := self._state.current_player) != TERMINAL and mover != self.seat:
            if mover == CHANCE:
                self._state.resolve_chance(int(self._rng.integers(2**63)))
            else:
                for action in self._turn_of(self._seats[mover]):
                    self._state.apply(action)
        self._choices = self._form.choices(self._state)

    def _turn_of(self, opponent: Any) -> list[int]:
        """Return the turn of an opponent, or its next action."""
        seed = int(self._rng.integers(2**63))
        if opponent == PAST:
            return [self._past_action(seed)]
        if isinstance(opponent, Policy) and opponent.acts:
            return opponent.actions(self._state)
        seen = seen_by(self.position, self._state.current_player)
        if isinstance(opponent, Policy):
            answer = opponent.answer(seen, seed)
            turn = answer if isinstance(answer, list) else answer.turn
        else:
            turn = opponent.best_turn(seen, seed=seed, candidates=1).turn
        return [registry.get(self._game).text.parse_action(action) for action in turn]

    def _past_action(self, seed: int) -> int:
        choices = self._form.choices(self._state)
        mask = self._form.mask(choices)
        if self._past is None:
            choice = np.random.default_rng(seed).choice(np.flatnonzero(mask))
        else:
            choice = self._past(self._form.observe(self._state), mask)
        action = self._form.action(choices, choice)
        if action is None:
            expected = self._form.expected(choices)
            raise SearchError(f"past: chooses {quote(choice)}; expected {expected}", reason="ILLEGAL_TURN")
        return action

    def _lost(self) -> float:
        """Return the reward of a game that an illegal action has lost; in points, behind by one at least."""
        if self._reward == "margin":
            scores = self._state.scores()
            return min(float(rewards_of("margin", scores, scores)[self.seat]), -1.0)
        return -1.0 if self._reward == "sign" else 0.0

    def _info(self, *, illegal: bool = False) -> dict[str, Any]:
        return {"action_mask": self._form.mask(self._choices), "seat": self.seat, "illegal": illegal}

    def _opponent(self, given: Any, path: str) -> Any:
        """Return an opponent: an engine, a policy, or `PAST`."""
        if not isinstance(given, str):
            return Policy(given, path)
        return PAST if given == PAST else make_engine(level_spec(given))


class GymVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Games that are stepped together, as gymnasium steps them: one learner plays all seats.

    Parameters
    ----------
    games : VectorEnv
        With observations. It may be used beside, such as for `games.legal`.
    reward : str
        As for `mexica_ai.env.single`.

    Notes
    -----
    An observation is that of the seat to move, and a reward that of the seat which has just moved, so of a game that
    ends it is what the action brought to who played it. The information has ``action_mask`` (int8 [N, A], if the games
    keep masks), ``to_move`` (int32 [N]) and ``rewards`` (float32 [N, P], of all seats). A game that has ended begins
    anew in the same step; the last observation and information of the one that ended are not kept (no ``final_obs``).
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(self, games: VectorEnv, reward: str = "share") -> None:
        check_reward(reward)
        if games.observations is None:
            raise SearchError(
                "games: keep no observations; expected vector(..., observations=True)", reason="INVALID_OPTION"
            )
        self.games, self._reward = games, reward
        self.num_envs = games.num_games
        self.single_observation_space, self.observation_space = games.single_observation_space, games.observation_space
        self.single_action_space, self.action_space = games.single_action_space, games.action_space

    def __copy__(self) -> GymVectorEnv:
        return copy.deepcopy(self)  # a step changes the games

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin all games anew, see `VectorEnv.reset`; return new arrays."""
        self.games.reset(seed=seed, options=options)  # refuses a wrong seed before gymnasium does, by another error
        super().reset(seed=seed)
        return self._observations(), self._info()

    def step(self, actions: ArrayLike) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Play an action in each game; return observations, rewards, ended, truncated and information, all new arrays.

        Raises
        ------
        ValueError
            An action is not legal. Nothing is played then.
        """
        games = self.games
        moved = games.to_move.copy()
        games.step(actions)
        rewards = np.zeros((self.num_envs, games.num_players), np.float32)
        ended = np.flatnonzero(games.done)
        rewards[ended] = rewards_of(self._reward, games.rewards[ended], games.scores[ended])
        info = self._info() | {"rewards": rewards}
        truncated = np.zeros(self.num_envs, np.bool_)
        return self._observations(), rewards[np.arange(self.num_envs), moved], games.done.copy(), truncated, info

    def action_masks(self) -> NDArray[np.bool_] | None:
        """Return the masks of legal actions [N, A]; None if the games keep none."""
        return None if self.games.masks is None else self.games.masks.astype(np.bool_)

    def _observations(self) -> NDArray[np.float32]:
        assert self.games.observations is not None
        return self.games.observations.copy()

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"to_move": self.games.to_move.copy()}
        return info if self.games.masks is None else info | {"action_mask": self.games.masks.copy()}


def _make_vector(game: str, num_envs: int = 1, reward: str = "share", **options: Any) -> GymVectorEnv:
    """Make the environment that `gymnasium.make_vec` asks for."""
    return GymVectorEnv(vector(game, num_envs, masks=True, observations=True, **options), reward)


def register() -> None:
    """Register all games with observations, as ``mexica_ai/GAME-v1``; called by the import of this module."""
    for game in registry.names():
        name = f"mexica_ai/{game}-v1"
        if registry.get(game).learning.schema is not None and name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point=f"{__name__}:SingleEnv",
                vector_entry_point=f"{__name__}:_make_vector",
                kwargs={"game": game},
            )


register()
