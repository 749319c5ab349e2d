"""The games as Python games of OpenSpiel, which must be installed (extra `spiel`: ``pip install open_spiel``).

    import pyspiel
    import mexica_ai.env.openspiel
    game = pyspiel.load_game("mexica_ai(game=mexica,players=3)")

The import registers the game. ``docs/env.md`` lists its parameters and says what a state of OpenSpiel has.

Python's side of a state is one object (`_Inner`): OpenSpiel copies a state attribute by attribute. Methods that a state
of OpenSpiel has anyway are overridden where its own would come back to Python several times for one answer.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel

from cext.core.contract.game import CHANCE, State
from cext.core.learning.tensor import observation
from mexica_ai.game import registry
from mexica_ai.game.contract import Option, Secrets
from mexica_ai.game.position import Position, deal
from mexica_ai.game.schema import SEATS
from mexica_ai.io.arguments import bad_option
from mexica_ai.io.errors import IllegalActionError, SearchError

DEALS = 1024  # equally likely outcomes of the first chance node; each is a seed
DEFAULT_CHANCE = 16  # equally likely outcomes of a random event; each is a seed
MAX_CHANCE = 65536
_PARAMETERS: dict[str, Any] = {"game": registry.DEFAULT, "players": 2, "deal": -1, "chance": DEFAULT_CHANCE, "seed": 0}
_SEPARATOR = ";"  # in a list of numbers; a comma ends a parameter
_TERMINAL = int(pyspiel.PlayerId.TERMINAL)  # its player for chance is that of a compiled state
_MASK = (1 << 63) - 1
# Odd constants that mix hashes; one of its own for each number that is mixed, so that they do not add up.
_FIRST, _SECOND, _SALT = 0x9E3779B97F4A7C15, 0x2545F4914F6CDD1D, 0xD1B54A32D192ED03


def _options() -> dict[str, Any]:
    """Return a parameter for each option of each game, with the value that means that it is not given."""
    absent = {bool: False, int: -1, list: ""}
    found: dict[str, Any] = {}
    for name in registry.names():
        for option in registry.get(name).starts.options:
            found[option.name] = option.default if option.kind is bool else absent[option.kind]
    return found


def game_type(
    chance: pyspiel.GameType.ChanceMode = pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information: pyspiel.GameType.Information = pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    has_observations: bool = True,
) -> pyspiel.GameType:
    """Return OpenSpiel's description of the game; the default is that of the game before its parameters are known."""
    return pyspiel.GameType(
        short_name="mexica_ai",
        long_name="mexica-ai",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=chance,
        information=information,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=SEATS,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=has_observations,
        provides_observation_string=True,
        provides_observation_tensor=has_observations,
        parameter_specification=_PARAMETERS | _options(),
    )


class _Setup:
    """What all states of a game share. A copy of a state keeps it, and a pickled one makes it again."""

    def __init__(self, params: dict[str, Any]) -> None:
        self.params = params
        given = _PARAMETERS | params
        self.name: str = given["game"]
        self.parts = registry.get(self.name)
        self.players: int = given["players"]
        self.options = {option.name: _value(option, params[option.name]) for option in self._own_options(params)}
        self.chance = _number(given, "chance", 0, MAX_CHANCE)
        self.salt = _number(given, "seed", 0, 1 << 31) * _SALT
        deal_seed = _number(given, "deal", -1, 1 << 31)
        first = self.new_state(max(deal_seed, 0))  # refuses what the game does not have
        is_dealt = deal_seed >= 0 or all(self.new_state(seed) == first for seed in range(1, 8))
        self.start = first if is_dealt else None
        self.has_chance = not is_dealt or self.parts.events is not None
        self.num_ids = self.parts.rules.num_action_ids
        self.has_observations = self.parts.learning.schema is not None and self.parts.rules.observation_size > 0
        num_deals, num_events = (DEALS, self.chance) if self.chance else (1, 1)
        self.deals = [(outcome, 1.0 / num_deals) for outcome in range(num_deals)]
        self.events = [(outcome, 1.0 / num_events) for outcome in range(num_events)]
        self.rng = random.Random(given["seed"])  # of chance=0 alone

    def __deepcopy__(self, memo: dict[int, Any]) -> _Setup:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _setup, tuple(self.params.items())

    def _own_options(self, params: dict[str, Any]) -> list[Option]:
        """Return the game's options that are given; SearchError for another game's."""
        own = {option.name: option for option in self.parts.starts.options}
        foreign = _options()
        for name in params.keys() - _PARAMETERS.keys() - own.keys():
            if params[name] != foreign.get(name):
                expected = f"only {', '.join(own)}" if own else "no option"
                raise bad_option(name, f"{params[name]!r} means nothing to {self.name}", expected)
        return [option for name, option in own.items() if params.get(name, foreign[name]) != foreign[name]]

    def new_state(self, seed: int) -> State:
        """Return the state of a new game."""
        return deal(self.name, self.players, seed, self.options).state

    def seed_of(self, state: State | None, outcome: int) -> int:
        """Return the seed of an outcome of chance. That of an event depends on all that is hidden before it."""
        if not self.chance:
            return self.rng.getrandbits(63)
        known = 0 if state is None else state.hash
        return (known * _SECOND + self.salt + outcome * _FIRST) & _MASK


@functools.lru_cache(16)
def _setup(*params: tuple[str, Any]) -> _Setup:
    """Return the setup of unpickled states."""
    return _Setup(dict(params))


def _number(given: dict[str, Any], name: str, low: int, high: int) -> int:
    value = given[name]
    if type(value) is not int or not low <= value <= high:
        raise bad_option(name, value, f"a whole number from {low} to {high}")
    return value


def _value(option: Option, value: Any) -> Any:
    """Return an option as `mexica_ai.new_game` takes it; a list comes as text."""
    if option.kind is not list:
        return value
    numbers = str(value).replace(",", _SEPARATOR).strip(_SEPARATOR).split(_SEPARATOR)
    try:
        return [int(number) for number in numbers]
    except ValueError:
        raise bad_option(option.name, value, f"whole numbers separated by {_SEPARATOR}") from None


class SpielGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no types
    """A game of `mexica_ai.game.registry`, with the parameters that ``docs/env.md`` lists."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.setup = setup = _Setup(dict(params or {}))
        modes, kinds = pyspiel.GameType.ChanceMode, pyspiel.GameType.Information
        mode = modes.DETERMINISTIC
        if setup.has_chance:
            mode = modes.EXPLICIT_STOCHASTIC if setup.chance else modes.SAMPLED_STOCHASTIC
        is_open = setup.parts.views is None and setup.parts.secrets == Secrets()
        rules = setup.parts.rules
        info = pyspiel.GameInfo(
            num_distinct_actions=setup.num_ids or rules.max_actions,
            max_chance_outcomes=max(len(setup.deals), len(setup.events)) if setup.has_chance else 0,
            num_players=setup.players,
            min_utility=-1.0 / (setup.players - 1),
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=rules.max_game_length,
        )
        information = kinds.PERFECT_INFORMATION if is_open else kinds.IMPERFECT_INFORMATION
        super().__init__(game_type(mode, information, setup.has_observations), info, setup.params)

    def new_initial_state(self, text: str | None = None) -> SpielState:
        """Return the state before the deal, or that of a position, given as its JSON text or compact form."""
        state = SpielState(self)
        if text is not None:
            state.place(Position.from_text(text))
        return state

    def max_chance_nodes_in_history(self) -> int:
        """Return how many chance nodes a game may have: the deal, and one after each action."""
        return 1 + self.setup.parts.rules.max_game_length if self.setup.has_chance else 0

    def make_py_observer(self, iig_obs_type: Any = None, params: object = None) -> SpielObserver:
        """Return the observer of the game."""
        return SpielObserver(self.setup, recalls=iig_obs_type is not None and iig_obs_type.perfect_recall)


class _Inner:
    """Python's side of a state."""

    __slots__ = ("actions", "ids", "memory", "player", "setup", "state")

    def __init__(self, setup: _Setup, state: State | None, memory: list[int]) -> None:
        self.setup = setup
        self.state = state
        self.memory = memory  # by seat: what it knew at its own actions, and which they were
        self.ids: list[int] | None = None
        self.actions: list[int] = []
        self.player = _player(state)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Inner:
        new = _Inner.__new__(_Inner)
        new.setup, new.memory, new.player = self.setup, self.memory.copy(), self.player
        new.ids, new.actions = self.ids, self.actions  # never changed
        new.state = None if self.state is None else self.state.copy()
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        return _Inner, (self.setup, self.state, self.memory)

    def listed(self) -> list[int]:
        """Return OpenSpiel's numbers of the legal actions, ascending, and keep them beside the actions."""
        if self.ids is None:
            assert self.state is not None
            actions = self.state.legal_actions()
            ids = self.state.action_ids() if self.setup.num_ids else list(range(len(actions)))
            if ids != sorted(ids):
                pairs = sorted(zip(ids, actions, strict=True))
                ids, actions = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            self.ids, self.actions = ids, actions
        return self.ids

    def action(self, number: int) -> int:
        """Return the action of a number; IllegalActionError if there is none."""
        ids = self.listed()
        if not self.setup.num_ids:
            if 0 <= number < len(ids):
                return self.actions[number]
        elif number in ids:
            return self.actions[ids.index(number)]
        raise IllegalActionError(f"action: given {number}; expected one of the {len(ids)} legal ones")


def _player(state: State | None) -> int:
    """Return OpenSpiel's number of the player to move."""
    player = CHANCE if state is None else state.current_player
    return player if player >= CHANCE else _TERMINAL


class SpielState(pyspiel.State):  # type: ignore[misc]  # pyspiel has no types
    """A state of the game, or none before the deal."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        setup = game.setup
        self._inner = _Inner(setup, setup.start, [0] * setup.players)

    @property
    def game_name(self) -> str:
        """The game's name."""
        return self._inner.setup.name

    @property
    def state(self) -> State | None:
        """The compiled state, None before the deal; never change it."""
        return self._inner.state

    @property
    def position(self) -> Position | None:
        """A copy of the position, everything that is hidden included; None before the deal."""
        state = self._inner.state
        return None if state is None else Position(self._inner.setup.name, state.copy())

    def place(self, position: Position) -> None:
        """Make this the state of a position, without a history. What the position does not know is drawn.

        Raises
        ------
        SearchError
            It is a position of another game, or has another number of seats; reason INVALID_OPTION.
        """
        setup = self._inner.setup
        if (position.game, position.players) != (setup.name, setup.players):
            given = f"a position of {position.game} with {position.players} seats"
            raise bad_option("position", given, f"one of {setup.name} with {setup.players} seats")
        full = position.guess(setup.salt & _MASK) if position.viewer is not None else position
        self._inner = _Inner(setup, full.state.copy(), [0] * setup.players)

    def current_player(self) -> int:
        """Return the seat to move, or OpenSpiel's player for chance or for the end."""
        return self._inner.player

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self._inner.player < -1

    def is_chance_node(self) -> bool:
        """Return whether the deal or a random event comes next."""
        return self._inner.player == -1

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Return the numbers of the legal actions, ascending; of chance those of its outcomes."""
        inner = self._inner
        if inner.player >= 0:
            return list(inner.listed()) if player is None or player == inner.player else []
        return [outcome for outcome, _ in self._outcomes()] if inner.player == -1 else []

    def _legal_actions(self, player: int) -> list[int]:
        return self._inner.listed()

    def _outcomes(self) -> list[tuple[int, float]]:
        inner = self._inner
        return inner.setup.deals if inner.state is None else inner.setup.events

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of chance, all equally likely."""
        return list(self._outcomes())

    def _apply_action(self, number: int) -> None:
        inner = self._inner
        setup, seat, state = inner.setup, inner.player, inner.state
        if state is not None and state is setup.start:  # that of other games, too
            inner.state = state = state.copy()
        if seat == -1:
            if not 0 <= number < len(self._outcomes()):
                raise IllegalActionError(f"outcome: given {number}; expected 0 to {len(self._outcomes()) - 1}")
            seed = setup.seed_of(state, number)
            if state is None:
                inner.state = state = setup.new_state(seed)
            else:
                state.resolve_chance(seed)
        else:
            assert state is not None
            action = inner.action(number)
            inner.memory[seat] = (inner.memory[seat] ^ state.view_hash(seat)) * _FIRST + number * _SECOND & _MASK
            state.apply(action)
        inner.ids = None
        inner.player = _player(state)

    def action_of(self, number: int) -> int:
        """Return the action of the compiled state that a number of `legal_actions` means.

        Raises
        ------
        IllegalActionError
            There is no such number here.
        """
        return self._inner.action(number)

    def _action_to_string(self, player: int, number: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"outcome {number}"
        return self._inner.setup.parts.text.format_action(self.action_of(number))

    def returns(self) -> list[float]:
        """Return each seat's utility, in [-1, 1] with sum 0: 1 for a win that is not shared; 0 before the end."""
        inner = self._inner
        players = inner.setup.players
        if inner.player >= -1 or inner.state is None:
            return [0.0] * players
        return [(players * share - 1.0) / (players - 1) for share in inner.state.returns()]

    def information_state_string(self, player: int | None = None) -> str:
        """Return a key of all that a seat knows and has done; in hexadecimal numbers, not to be read."""
        seat = self._seat(player)
        state = self._inner.state
        view = 0 if state is None else state.view_hash(seat)
        return f"{seat} {self._inner.memory[seat]:016x} {view:016x}"

    def observation_string(self, player: int | None = None) -> str:
        """Return the view of a seat as a board of text."""
        position = self.position
        return "before the deal" if position is None else str(position.view(self._seat(player)))

    def observation_tensor(self, player: int | None = None) -> list[float]:
        """Return the observation of a seat; zeros before the deal."""
        values: list[float] = _observed(self._inner, self._seat(player)).tolist()
        return values

    def information_state_tensor(self, player: int | None = None) -> list[float]:
        """Return the observation of a seat: views hold what it may know of the course of the game."""
        return self.observation_tensor(player)

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> SpielState:
        """Return a copy in which all that a seat cannot know is drawn anew, uniformly.

        Parameters
        ----------
        player : int
            The seat.
        sampler : callable
            Returns random numbers in [0, 1); two give the draw.
        """
        new: SpielState = self.clone()
        inner = new._inner
        if inner.state is None:
            raise SearchError("no cards are dealt yet: there is nothing to draw anew", reason="CHANCE_PENDING")
        inner.state.determinize(player, int(sampler() * (1 << 32)) << 31 | int(sampler() * (1 << 31)))
        if player != inner.player:
            inner.ids = None  # what another seat may do can depend on what it holds
        return new

    def _seat(self, player: int | None) -> int:
        seat = self._inner.player if player is None else player
        if not 0 <= seat < self._inner.setup.players:
            raise bad_option("player", seat, f"a seat from 0 to {self._inner.setup.players - 1}")
        return seat

    def __str__(self) -> str:
        return "before the deal" if self._inner.state is None else str(self.position)


def _observed(inner: _Inner, seat: int) -> np.ndarray:
    if inner.state is None:
        return np.zeros(inner.setup.parts.rules.observation_size, np.float32)
    return observation(inner.state, seat)


class SpielObserver:
    """The observation of a seat: the fields of the game's schema by name, and all of them as one tensor."""

    def __init__(self, setup: _Setup, recalls: bool) -> None:
        self._recalls = recalls
        self.tensor: np.ndarray | None = None
        self.dict: dict[str, np.ndarray] = {}
        schema = setup.parts.learning.schema
        if setup.has_observations and schema is not None:
            self.tensor = np.zeros(schema.size, np.float32)
            self.dict = schema.split(self.tensor)

    def set_from(self, state: SpielState, player: int) -> None:
        """Fill in the tensor from a state; zeros before the deal."""
        if self.tensor is not None:
            self.tensor[:] = _observed(state._inner, player)

    def string_from(self, state: SpielState, player: int) -> str:
        """Return the view of a seat as a board of text, or with perfect recall the key of what it knows."""
        return state.information_state_string(player) if self._recalls else state.observation_string(player)


def load(position: Position, chance: int = DEFAULT_CHANCE) -> SpielState:
    """Return the state of OpenSpiel for a position, in a game with its seats; `SpielState.place` says how."""
    params = {"game": position.game, "players": position.players, "deal": 0, "chance": chance}
    state: SpielState = SpielGame(params).new_initial_state()
    state.place(position)
    return state


pyspiel.register_game(game_type(), SpielGame)
