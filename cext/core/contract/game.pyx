"""`Game` and `State`: a game's table and states for Python. The contract is in ``game.pxd``.

The methods check the preconditions of the table's functions and raise exceptions.
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from cext.core.contract.failure cimport failure_raise
from cext.core.contract.rng cimport Stream
from cext.core.contract.types cimport ALL_SEEING, MAX_SEATS, aligned_alloc
from cext.core.contract.types cimport CHANCE as C_CHANCE, TERMINAL as C_TERMINAL

import numpy as np

cdef extern from *:
    const char* CEXT_VARIANT

from cext.core.contract.errors import GameOverError, IllegalActionError, PositionError, SearchError

CHANCE = C_CHANCE
TERMINAL = C_TERMINAL
IS_DEBUG_BUILD = bool(CEXT_IS_DEBUG)
MAX_ACTION_IDS = 65535
MAX_ACTION_SIZE = 4096
VARIANT = CEXT_VARIANT.decode()  # the build, such as "release-native"

# Only this module can pass it: a Game or State made without it would have no memory, and its methods would crash.
cdef object _maker = object()


cdef class Game:
    """Sizes, limits and version of a game. Only the game's module makes one."""

    def __cinit__(self, maker=None):
        if maker is not _maker:
            raise TypeError("a Game is made by its own module, see mexica_ai.game.registry")

    @property
    def name(self):
        """The game's name in the text forms, lower case."""
        return self.ops.name.decode()

    @property
    def rules_version(self):
        """Version of the rules; it goes up when their behaviour changes."""
        return self.ops.rules_version

    @property
    def state_size(self):
        """Size of a state in bytes."""
        return self.ops.state_size

    @property
    def max_players(self):
        """Maximum number of seats."""
        return self.ops.max_players

    @property
    def max_actions(self):
        """Maximum number of legal actions in any state."""
        return self.ops.max_actions

    @property
    def max_game_length(self):
        """Maximum number of actions in any game."""
        return self.ops.max_game_length

    @property
    def weights_size(self):
        """Size in bytes of the weights that a search of this game needs; 0 if it needs none."""
        return self.ops.weights_size

    @property
    def observation_size(self):
        """Number of floats in an observation; 0 for a game without observations."""
        return self.ops.observation_size

    @property
    def num_action_ids(self):
        """Number of fixed ids of actions; 0 for a game without ids."""
        return self.ops.num_action_ids

    @property
    def action_size(self):
        """Number of floats that describe an action; 0 for a game without features of actions."""
        return self.ops.action_size

    @property
    def search_options(self):
        """The game's defaults of the search's options, by name, where they differ from the general ones."""
        return dict(self._search_options)

    def __repr__(self):
        return f"<Game {self.name!r}, rules version {self.rules_version}>"


cdef Game game_create_compiled(const GameOps* ops, dict search_options, uint64_t abi, size_t ops_size):
    if abi != CEXT_ABI or ops_size != sizeof(GameOps):
        raise ImportError(f"compiled for another version of mexica-ai: interface {abi:016x}, a table of {ops_size} "
                          f"bytes; expected {CEXT_ABI:016x} and {sizeof(GameOps)} bytes; compile the game again")
    for field, given, fits, expected in (
        ("max_players", ops.max_players, 2 <= ops.max_players <= MAX_SEATS, f"2 to {MAX_SEATS}"),
        ("state_size", ops.state_size, ops.state_size > 0 and ops.state_size % 64 == 0, "a multiple of 64 bytes"),
        ("max_actions", ops.max_actions, 1 <= ops.max_actions <= 65535, "1 to 65535"),
    ):
        if not fits:
            raise ValueError(f"game table of {ops.name.decode()!r}: {field} is {given}; expected {expected}")
    if (ops.observe == NULL) != (ops.observation_size == 0):
        raise ValueError(f"game table of {ops.name.decode()!r}: observe and observation_size need each other")
    if (ops.action_id == NULL) != (ops.num_action_ids == 0) or not 0 <= ops.num_action_ids <= MAX_ACTION_IDS:
        raise ValueError(f"game table of {ops.name.decode()!r}: action_id and num_action_ids (1 to {MAX_ACTION_IDS}) "
                         f"need each other")
    if (ops.observe_actions == NULL) != (ops.action_size == 0) or not 0 <= ops.action_size <= MAX_ACTION_SIZE:
        raise ValueError(f"game table of {ops.name.decode()!r}: observe_actions and action_size (1 to "
                         f"{MAX_ACTION_SIZE}) need each other")
    functions = {
        "check": ops.check != NULL, "check_name": ops.check_name != NULL, "num_players": ops.num_players != NULL,
        "current_player": ops.current_player != NULL, "legal_actions": ops.legal_actions != NULL,
        "apply_action": ops.apply_action != NULL, "returns": ops.returns != NULL, "scores": ops.scores != NULL,
        "hash": ops.hash != NULL, "turn": ops.turn != NULL, "round": ops.round != NULL,
    }
    missing = [name for name, is_set in functions.items() if not is_set]
    if missing:
        raise ValueError(f"game table of {ops.name.decode()!r}: lacks {', '.join(missing)}")
    cdef Game game = Game.__new__(Game, _maker)
    game.ops = ops
    game._search_options = search_options or {}
    return game


cdef State state_wrap(Game game, const void* data):
    cdef State state = State.__new__(State, _maker)
    state.game = game
    state.data = aligned_alloc(64, game.ops.state_size)
    if state.data == NULL:
        raise MemoryError
    memcpy(state.data, data, game.ops.state_size)
    return state


cdef int game_require_seat(State state) except -1:
    cdef int player = state.game.ops.current_player(state.data)
    failure_raise()
    if player == C_TERMINAL:
        raise GameOverError("the game is over: no turn is left to play", reason="GAME_OVER")
    if player == C_CHANCE:
        raise SearchError("a random event is pending: no seat is to move", reason="CHANCE_PENDING")
    return 0


cdef bint game_action_is_legal(const GameOps* ops, const void* state, action_t action,
                               action_t* buffer) noexcept nogil:
    cdef int n = ops.legal_actions(state, buffer)
    cdef int low = 0, high = n, middle
    while low < high:
        middle = (low + high) >> 1
        if buffer[middle] < action:
            low = middle + 1
        else:
            high = middle
    return low < n and buffer[low] == action


cdef class State:
    """One full state of a game.

    The game's text (``state_from_fields``) and `copy` make states. Actions are integers; the game documents their
    layout. The text forms are in ``mexica_ai.games``.
    """

    def __cinit__(self, maker=None):
        if maker is not _maker:
            raise TypeError("a State is made by a Position, by its game's parts, or by State.copy()")

    def __dealloc__(self):
        free(self.data)

    def copy(self):
        """Return an independent copy."""
        return state_wrap(self.game, self.data)

    def assign(self, State other not None):
        """Make this state a copy of another one of its game, in place.

        Raises
        ------
        ValueError
            If the other is of another game.
        """
        if other.game is not self.game:
            raise ValueError(f"a state of {other.game.name}; expected one of {self.game.name}")
        memcpy(self.data, other.data, self.game.ops.state_size)

    @property
    def num_players(self):
        """Number of seats."""
        return self.game.ops.num_players(self.data)

    @property
    def current_player(self):
        """The seat to move (>= 0), `CHANCE` or `TERMINAL`. Raises ValueError if the game's function returns another."""
        cdef int player = self.game.ops.current_player(self.data)
        if not C_TERMINAL <= player < self.game.ops.num_players(self.data):
            raise ValueError(f"{self.game.name}: current_player returned {player}; expected a seat from 0 to "
                             f"{self.num_players - 1}, CHANCE ({C_CHANCE}) or TERMINAL ({C_TERMINAL}): a conditional "
                             f"expression of a uint8_t and CHANCE has no sign, so return CHANCE in a statement")
        return player

    @property
    def is_terminal(self):
        """Whether the game is over."""
        return self.game.ops.current_player(self.data) == C_TERMINAL

    @property
    def turn(self):
        """Number of turns that have ended. The start of the count is arbitrary: compare differences."""
        return self.game.ops.turn(self.data)

    @property
    def round(self):
        """Number of rounds that have ended, or another measure that grows at the end of each (Tzolk'in: days).

        A game with a map of published shares counts from the position alone, as the map was fitted; in other games the
        start of the count is arbitrary: compare differences.
        """
        return self.game.ops.round(self.data)

    @property
    def hash(self):
        """64-bit hash, equal if and only if the positions are equal (up to collisions)."""
        return self.game.ops.hash(self.data, ALL_SEEING)

    def view_hash(self, int viewer):
        """Return the 64-bit hash of what seat `viewer` may know. Raises ValueError if there is no such seat."""
        self._require_seat(viewer)
        return self.game.ops.hash(self.data, viewer)

    def _require_seat(self, int seat):
        """Raise ValueError if there is no such seat."""
        if not 0 <= seat < self.num_players:
            raise ValueError(f"seat {seat}: expected 0 to {self.num_players - 1}")

    def legal_actions(self):
        """Return the legal actions, ascending; empty at `CHANCE` and `TERMINAL`."""
        cdef action_t* buffer = <action_t*>malloc(self.game.ops.max_actions * sizeof(action_t))
        cdef int i, n
        if buffer == NULL:
            raise MemoryError
        try:
            n = self.game.ops.legal_actions(self.data, buffer)
            failure_raise()
            return [buffer[i] for i in range(n)]
        finally:
            free(buffer)

    def action_id(self, action_t action):
        """Return the fixed id of a legal action.

        Parameters
        ----------
        action : int

        Returns
        -------
        int
            0 to ``game.num_action_ids - 1``; the same number means the same in each state.

        Raises
        ------
        IllegalActionError
            If the action is not in the list of legal actions.
        SearchError
            If the game has no ids of actions; reason NO_ACTION_IDS.
        """
        self._require_ids()
        if not self._is_listed(action):
            raise IllegalActionError(f"action {action:#x} is not legal here")
        return self.game.ops.action_id(self.data, action)

    def action_ids(self):
        """Return the fixed ids of the legal actions, in the order of `legal_actions`.

        Raises
        ------
        SearchError
            If the game has no ids of actions; reason NO_ACTION_IDS.
        """
        self._require_ids()
        return [self.game.ops.action_id(self.data, action) for action in self.legal_actions()]

    def _require_ids(self):
        """Raise SearchError if the game has no ids of actions."""
        if self.game.ops.action_id == NULL:
            raise SearchError(f"{self.game.name} has no ids of actions; expected a game that has",
                              reason="NO_ACTION_IDS")

    def action_features(self):
        """Return what the seat to move knows about its legal actions.

        Returns
        -------
        numpy.ndarray
            float32 [n, ``game.action_size``], a row for each of the n actions of `legal_actions`, in that order; the
            game's schema of actions (`mexica_ai.env.action_schema`) names the numbers.

        Raises
        ------
        SearchError
            If the game has no features of actions; reason NO_ACTION_FEATURES.
        """
        cdef action_t* buffer
        cdef float[:, ::1] out
        cdef int n
        if self.game.ops.observe_actions == NULL:
            raise SearchError(f"{self.game.name} has no features of actions; expected a game that has",
                              reason="NO_ACTION_FEATURES")
        buffer = <action_t*>malloc(self.game.ops.max_actions * sizeof(action_t))
        if buffer == NULL:
            raise MemoryError
        try:
            n = self.game.ops.legal_actions(self.data, buffer)
            failure_raise()
            rows = np.zeros((n, self.game.ops.action_size), np.float32)
            if n > 0:
                out = rows
                self.game.ops.observe_actions(NULL, self.data, buffer, n, &out[0, 0])
                failure_raise()
            return rows
        finally:
            free(buffer)

    def is_legal(self, action_t action):
        """Return whether `apply` accepts the action.

        That is every legal action, and actions that no search considers: something that the players agreed on, or the
        outcome of a random event.

        Parameters
        ----------
        action : int

        Returns
        -------
        bool
        """
        if self.game.ops.accepts_action != NULL and self.game.ops.accepts_action(self.data, action):
            return True
        failure_raise()
        return self._is_listed(action)

    def _is_listed(self, action_t action):
        """Return whether an action is one of `legal_actions`."""
        cdef action_t* buffer = <action_t*>malloc(self.game.ops.max_actions * sizeof(action_t))
        if buffer == NULL:
            raise MemoryError
        try:
            is_legal = bool(game_action_is_legal(self.game.ops, self.data, action, buffer))
        finally:
            free(buffer)
        failure_raise()
        return is_legal

    def apply(self, action_t action):
        """Play one action, in place.

        Parameters
        ----------
        action : int

        Raises
        ------
        IllegalActionError
            If the action is not legal here. The state is unchanged then.
        """
        if not self.is_legal(action):
            raise IllegalActionError(f"action {action:#x} is not legal here")
        game_apply(self.game.ops, self.data, action)
        failure_raise()

    def resolve_chance(self, seed):
        """Draw the outcome of the pending random event, in place.

        Parameters
        ----------
        seed : int
            0 <= seed < 2**63.

        Raises
        ------
        SearchError
            If no event is pending, or the seed is out of range.
        """
        cdef Stream stream = Stream(seed)
        if self.game.ops.current_player(self.data) != C_CHANCE:
            raise SearchError("no random event is pending here")
        game_settle_chance(self.game.ops, self.data, stream.bitgen)
        failure_raise()

    def determinize(self, int viewer, seed):
        """Replace what seat `viewer` cannot know by a uniform draw, in place; see also `simple.determinize`.

        Parameters
        ----------
        viewer : int
            A seat.
        seed : int
            0 <= seed < 2**63.

        Returns
        -------
        bool
            Whether more than one state was possible. If not, the state is unchanged.

        Raises
        ------
        ValueError
            If there is no such seat.
        SearchError
            If the seed is out of range.
        """
        cdef Stream stream = Stream(seed)
        self._require_seat(viewer)
        if self.game.ops.determinize == NULL:
            return False
        return bool(self.game.ops.determinize(self.data, viewer, NULL, stream.bitgen))

    def returns(self):
        """Return each seat's share of the win, summing to 1. Raises `SearchError` before the end of the game."""
        cdef double shares[MAX_SEATS]
        if not self.is_terminal:
            raise SearchError("the game is not over: it has no returns yet", reason="GAME_NOT_OVER")
        self.game.ops.returns(self.data, shares)
        failure_raise()
        return [shares[seat] for seat in range(self.num_players)]

    def scores(self):
        """Return the game's own points of each seat, as they stand."""
        cdef double points[MAX_SEATS]
        self.game.ops.scores(self.data, points)
        failure_raise()
        return [points[seat] for seat in range(self.num_players)]

    def check(self):
        """Raise `PositionError` with the name of the first broken invariant, if there is one."""
        cdef int code = self.game.ops.check(self.data)
        failure_raise()
        if code != 0:
            name = self.game.ops.check_name(code).decode()
            raise PositionError(f"broken invariant: {name}", reason=name.upper().replace(" ", "_"))

    def __eq__(self, other):
        if not isinstance(other, State):
            return NotImplemented
        return self.game is (<State>other).game and self.hash == (<State>other).hash

    def __hash__(self):
        return hash(self.hash)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()
