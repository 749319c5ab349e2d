"""Many games of one kind, stepped together by compiled calls: an environment for learning. It knows no game.

The main loop is `_advance`: play an action, settle random events, restart the game if it is over, look at the new
state. Arrays are numpy's and, but for observations and features, read-only; each call overwrites them.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from numpy.random cimport bitgen_t

import numpy as np

from cext.core.contract.errors import SearchError
from cext.core.contract.failure cimport failure_is_left, failure_raise
from cext.core.contract.game cimport Game, GameOps, State, game_apply, game_settle_chance, state_wrap
from cext.core.contract.playout cimport playout_random_action
from cext.core.contract.rng cimport Stream, rng_below
from cext.core.learning.tensor import require_actions, require_observations
from cext.core.contract.types cimport CHANCE, MAX_SEATS, TERMINAL, action_t, aligned_alloc

MAX_GAMES = 1 << 20
_DRAWS = 20                             # of a random event that may end the game where one is to begin
_KEPT = ("actions", "done", "rewards", "scores", "lengths")  # the arrays that do not follow from the states


cdef class Batch:
    """Games that are stepped together, each restarted when it is over.

    In the shapes, N is the number of games, P that of seats, A is ``game.max_actions``, S is
    ``game.observation_size``, I is ``game.num_action_ids`` and F is ``game.action_size``.

    Parameters
    ----------
    starts : list of State
        Where games begin: each one from one of them, drawn uniformly; again if a random event ends the game before a
        seat is to move. Of one game, with the same number of seats, none over. Copied.
    num_games : int
        N, 1 to 2**20.
    seed : int
        0 <= seed < 2**63. Game i draws its starts, random events and random actions from stream i of the seed.
    legal : bool
        Whether to list legal actions. `step` needs them.
    masks : bool
        Whether to keep masks over the lists of legal actions; only with `legal`.
    observations : bool
        Whether to keep the observation of each seat to move.
    actions : str or None
        ``"ids"``: `step` and `masks` have the fixed ids of actions instead of indexes. ``"features"``: keep the
        features of legal actions. Only with `legal`.

    Attributes
    ----------
    to_move : numpy.ndarray
        int32 [N], the seat to move.
    num_legal : numpy.ndarray
        int32 [N], number of legal actions; 0 without `legal`.
    legal : numpy.ndarray or None
        uint64 [N, A]. The first `num_legal` of a row are the legal actions, ascending; the rest means nothing.
    masks : numpy.ndarray or None
        int8 [N, A], 1 for the indexes of legal actions, else 0; with ids int8 [N, I], 1 for those of legal actions.
    action_ids : numpy.ndarray or None
        int32 [N, A] with ids. The first `num_legal` of a row are those of the legal actions, in the order of `legal`.
    action_features : numpy.ndarray or None
        float32 [sum of num_legal, F] with features: those of the legal actions of all games, one after the other.
    offsets : numpy.ndarray or None
        int64 [N + 1] with features. The rows of game i begin at offsets[i], the last entry is their number.
    observations : numpy.ndarray or None
        float32 [N, S], what the seat to move sees.
    actions : numpy.ndarray
        uint64 [N], the actions played last, also of games that have ended with it.
    done : numpy.ndarray
        bool [N], whether a game has ended in the last call; the other arrays are about the new one then.
    rewards : numpy.ndarray
        float32 [N, P], each seat's share of the win in games that have ended, else 0.
    scores : numpy.ndarray
        float32 [N, P], the points at the end of games that have ended, else 0.
    lengths : numpy.ndarray
        int32 [N], actions played in the running games.

    Raises
    ------
    SearchError
        An argument is out of range (INVALID_OPTION, INVALID_SEED), or the game has no observations (NO_OBSERVATIONS),
        no ids (NO_ACTION_IDS) or no features of actions (NO_ACTION_FEATURES).
    """

    cdef readonly Game game
    cdef readonly int num_games, num_players
    cdef readonly object to_move, num_legal, legal, masks, observations, actions, done, rewards, scores, lengths
    cdef readonly object action_ids, action_features, offsets
    cdef const GameOps* ops
    cdef char* _states
    cdef char* _starts
    cdef bitgen_t* _rngs
    cdef action_t* _buffer
    cdef int _num_starts
    cdef list _streams
    cdef void* _cache                   # of observe_actions; NULL without
    cdef bint _is_lost                  # since a method of a game in Python has failed
    cdef object _rows                   # what action_features is a part of
    # The arrays' memory; NULL for those that are left out.
    cdef int32_t* c_to_move
    cdef int32_t* c_num_legal
    cdef action_t* c_legal
    cdef uint8_t* c_masks
    cdef float* c_observations
    cdef action_t* c_actions
    cdef uint8_t* c_done
    cdef float* c_rewards
    cdef float* c_scores
    cdef int32_t* c_lengths
    cdef int32_t* c_action_ids
    cdef int32_t* c_index_of            # [N, I] the index of a legal action, by its id; else anything
    cdef int64_t* c_offsets
    cdef float* c_features

    def __cinit__(self, list starts not None, int num_games, *, seed, bint legal=True, bint masks=False,
                  bint observations=False, actions=None):
        cdef State start
        if not starts:
            raise _no_starts()
        if not 1 <= num_games <= MAX_GAMES:
            raise SearchError(f"num_games: {num_games}, expected 1 to {MAX_GAMES}", reason="INVALID_OPTION")
        if masks and not legal:
            raise SearchError("masks: given without legal; expected legal, too", reason="INVALID_OPTION")
        if actions is not None and (actions not in ("ids", "features") or not legal):
            raise SearchError(f"actions: given {actions!r}; expected 'ids' or 'features', with legal, or None",
                              reason="INVALID_OPTION")
        if seed is None:
            raise SearchError("seed: None, expected an integer from 0 to 2**63 - 1", reason="INVALID_SEED")
        start = <State?>starts[0]
        self.game, self.num_games, self.num_players = start.game, num_games, start.num_players
        self.ops = self.game.ops
        if observations:
            require_observations(self.game)
        require_actions(self.game, actions)
        self._states = <char*>aligned_alloc(64, num_games * self.ops.state_size)
        self._rngs = <bitgen_t*>malloc(num_games * sizeof(bitgen_t))
        self._buffer = <action_t*>malloc(self.ops.max_actions * sizeof(action_t))
        if self._states == NULL or self._rngs == NULL or self._buffer == NULL:
            raise MemoryError
        self._make_arrays(legal, masks, observations, actions == "ids")
        self._make_action_arrays(actions)
        self.set_starts(starts)
        self.restart(seed)

    cdef int _make_arrays(self, bint legal, bint masks, bint observations, bint by_id) except -1:
        cdef int n = self.num_games
        cdef int32_t[::1] ints
        cdef uint64_t[::1] words
        cdef uint64_t[:, ::1] lists
        cdef uint8_t[::1] flags
        cdef uint8_t[:, ::1] sets
        cdef float[:, ::1] rows
        ints = self.to_move = np.zeros(n, np.int32)
        self.c_to_move = &ints[0]
        ints = self.num_legal = np.zeros(n, np.int32)
        self.c_num_legal = &ints[0]
        ints = self.lengths = np.zeros(n, np.int32)
        self.c_lengths = &ints[0]
        words = self.actions = np.zeros(n, np.uint64)
        self.c_actions = &words[0]
        self.done = np.zeros(n, np.bool_)
        flags = self.done.view(np.uint8)
        self.c_done = &flags[0]
        rows = self.rewards = np.zeros((n, self.num_players), np.float32)
        self.c_rewards = &rows[0, 0]
        rows = self.scores = np.zeros((n, self.num_players), np.float32)
        self.c_scores = &rows[0, 0]
        if legal:
            lists = self.legal = np.zeros((n, self.ops.max_actions), np.uint64)
            self.c_legal = &lists[0, 0]
        if masks:
            self.masks = np.zeros((n, self.ops.num_action_ids if by_id else self.ops.max_actions), np.int8)
            sets = self.masks.view(np.uint8)
            self.c_masks = &sets[0, 0]
        if observations:
            rows = self.observations = np.zeros((n, self.ops.observation_size), np.float32)
            self.c_observations = &rows[0, 0]
        # A caller's changes would reach the memory unchecked: `step` trusts the lists of legal actions, and of masks
        # only what differs is written. Observations are only written here, so torch may have them without a copy.
        for array in (self.to_move, self.num_legal, self.legal, self.masks, self.actions, self.done, self.rewards,
                      self.scores, self.lengths):
            if array is not None:
                array.setflags(write=False)
        return 0

    cdef int _make_action_arrays(self, actions) except -1:
        cdef int32_t[:, ::1] numbers
        cdef int64_t[::1] places
        if actions == "ids":
            numbers = self.action_ids = np.zeros((self.num_games, self.ops.max_actions), np.int32)
            self.c_action_ids = &numbers[0, 0]
            self.action_ids.setflags(write=False)
            self.c_index_of = <int32_t*>calloc(<size_t>self.num_games * self.ops.num_action_ids, sizeof(int32_t))
            if self.c_index_of == NULL:
                raise MemoryError
        elif actions == "features":
            places = self.offsets = np.zeros(self.num_games + 1, np.int64)
            self.c_offsets = &places[0]
            self.offsets.setflags(write=False)
            if self.ops.cache_size > 0:
                self._cache = aligned_alloc(64, self.ops.cache_size)
                if self._cache == NULL:
                    raise MemoryError
                memset(self._cache, 0, self.ops.cache_size)
        return 0

    def __dealloc__(self):
        free(self._cache)
        free(self.c_index_of)
        free(self._states)
        free(self._starts)
        free(self._rngs)
        free(self._buffer)

    # --- copies

    def __reduce__(self):
        """Copy and pickle the games, as they stand; both go on alike with the same actions."""
        cdef Stream stream
        cdef int i
        starts = [state_wrap(self.game, self._starts + <size_t>i * self.ops.state_size)
                  for i in range(self._num_starts)]
        wanted = {name: getattr(self, name) is not None for name in ("legal", "masks", "observations")}
        wanted["actions"] = "ids" if self.action_ids is not None else None if self.offsets is None else "features"
        states = [self.state(i) for i in range(self.num_games)]
        streams = [stream._bit_generator.state for stream in self._streams]
        kept = {name: getattr(self, name).copy() for name in _KEPT}
        return _restore, (type(self), starts, self.num_games, wanted, states, streams, kept)

    def _take(self, list states not None, list streams not None, dict kept not None):
        """Go on from the running games of another batch, which has the same options."""
        cdef State state
        cdef Stream stream
        cdef int i
        if not len(states) == len(streams) == self.num_games or sorted(kept) != sorted(_KEPT):
            raise _not_alike()
        for i, state in enumerate(states):
            if state is None:
                raise TypeError(f"states[{i}]: None, expected a State")
            if state.game is not self.game or state.num_players != self.num_players or state.current_player < 0:
                raise _not_alike()
            memcpy(self._state(i), state.data, self.ops.state_size)
        for stream, numbers in zip(self._streams, streams):
            stream._bit_generator.state = numbers
        for name, values in kept.items():
            array = getattr(self, name)
            if values.shape != array.shape or values.dtype != array.dtype:
                raise _not_alike()
            array.setflags(write=True)
            array[...] = values
            array.setflags(write=False)
        for i in range(self.num_games):
            self._look(i)
        self._end_call()

    # --- the main loop

    cdef inline void* _state(self, int i) noexcept nogil:
        return self._states + i * self.ops.state_size

    cdef void _restart(self, int i) noexcept nogil:
        """Restart a game; once more if a random event ends it before a seat is to move."""
        while True:
            memcpy(self._state(i), self._starts + rng_below(&self._rngs[i], self._num_starts) * self.ops.state_size,
                   self.ops.state_size)
            game_settle_chance(self.ops, self._state(i), &self._rngs[i])
            if self.ops.current_player(self._state(i)) != TERMINAL or failure_is_left():
                break
        self.c_lengths[i] = 0

    cdef void _look(self, int i) noexcept nogil:
        """Fill in what the arrays say about a running game."""
        cdef const GameOps* ops = self.ops
        cdef size_t row = <size_t>i * ops.max_actions
        cdef int n, before
        self.c_to_move[i] = ops.current_player(self._state(i))
        if self.c_legal != NULL:
            n = ops.legal_actions(self._state(i), self.c_legal + row)
            before = self.c_num_legal[i]
            self.c_num_legal[i] = n
            if self.c_action_ids != NULL:
                self._number(i, before)
            elif self.c_masks != NULL:
                if n > before:
                    memset(self.c_masks + row + before, 1, n - before)
                else:
                    memset(self.c_masks + row + n, 0, before - n)
        if self.c_observations != NULL:
            ops.observe(self._state(i), self.c_to_move[i],
                        self.c_observations + <size_t>i * ops.observation_size)

    cdef void _number(self, int i, int before) noexcept nogil:
        """Fill in the ids of the legal actions of a game, which has had `before` of them."""
        cdef int32_t* ids = self.c_action_ids + <size_t>i * self.ops.max_actions
        cdef const action_t* legal = self.c_legal + <size_t>i * self.ops.max_actions
        cdef int32_t* index_of = self.c_index_of + <size_t>i * self.ops.num_action_ids
        cdef uint8_t* mask = self.c_masks + <size_t>i * self.ops.num_action_ids
        cdef int k
        if self.c_masks != NULL:
            for k in range(before):
                mask[ids[k]] = 0
        for k in range(self.c_num_legal[i]):
            ids[k] = self.ops.action_id(self._state(i), legal[k])
            index_of[ids[k]] = k
            if self.c_masks != NULL:
                mask[ids[k]] = 1

    cdef int _describe(self) except -1:
        """Fill in the features of the legal actions of all games."""
        cdef const GameOps* ops = self.ops
        cdef float[:, ::1] rows
        cdef int64_t size = 0
        cdef int i
        if self.c_offsets == NULL:
            return 0
        for i in range(self.num_games):
            self.c_offsets[i] = size
            size += self.c_num_legal[i]
        self.c_offsets[self.num_games] = size
        if self._rows is None or len(self._rows) < size:
            rows = self._rows = np.empty((size + size // 2, ops.action_size), np.float32)
            self.c_features = &rows[0, 0]
        self.action_features = self._rows[:size]
        with nogil:
            for i in range(self.num_games):
                ops.observe_actions(self._cache, self._state(i), self.c_legal + <size_t>i * ops.max_actions,
                                    self.c_num_legal[i], self.c_features + self.c_offsets[i] * ops.action_size)
        return 0

    cdef int _end_call(self) except -1:
        """Raise what a method of a game in Python has left. All games are lost then: others may have been restarted."""
        self._is_lost = self._is_lost or failure_is_left()
        failure_raise()
        self._describe()
        return 0

    cdef int _require_games(self) except -1:
        """Raise SearchError if the games are lost."""
        if self._is_lost:
            raise SearchError("batch: a method of the game has failed, so its games are lost; expected restart() first",
                              reason="GAME_FAULT")
        return 0

    cdef void _clear(self) noexcept nogil:
        """Forget which games have ended."""
        memset(self.c_done, 0, self.num_games)
        memset(self.c_rewards, 0, self.num_games * self.num_players * sizeof(float))
        memset(self.c_scores, 0, self.num_games * self.num_players * sizeof(float))

    cdef bint _advance(self, int i, action_t action) noexcept nogil:
        """Play an action and settle random events; if the game is over, note its outcome, restart it and return 1."""
        cdef const GameOps* ops = self.ops
        cdef double numbers[MAX_SEATS]
        cdef int seat
        game_apply(ops, self._state(i), action)
        game_settle_chance(ops, self._state(i), &self._rngs[i])
        self.c_actions[i] = action
        self.c_lengths[i] += 1
        if ops.current_player(self._state(i)) != TERMINAL:
            return False
        self.c_done[i] = 1
        ops.returns(self._state(i), numbers)
        for seat in range(self.num_players):
            self.c_rewards[i * self.num_players + seat] = <float>numbers[seat]
        ops.scores(self._state(i), numbers)
        for seat in range(self.num_players):
            self.c_scores[i * self.num_players + seat] = <float>numbers[seat]
        self._restart(i)
        return True

    def step(self, actions):
        """Play one action in each game.

        Parameters
        ----------
        actions : array of int
            [N], for each game the index of an action in its row of `legal`; with ids the id of a legal action.

        Returns
        -------
        int
            Number of games that have ended.

        Raises
        ------
        SearchError
            The batch has no lists of legal actions (INVALID_OPTION). A method of a game in Python has failed
            (GAME_FAULT): all games are lost then, until `restart`.
        ValueError
            `actions` has another shape, or an action is out of range or not legal. Nothing is played then.

        Notes
        -----
        Releases the GIL. One thread at a time may call the functions of a batch.
        """
        cdef int i, ended = 0
        if self.c_legal == NULL:
            raise SearchError("step: the batch has no legal actions; expected legal=True", reason="INVALID_OPTION")
        self._require_games()
        given = np.asarray(actions)
        if given.shape != (self.num_games,) or given.dtype.kind not in "iu":
            raise ValueError(f"actions: given {given.dtype} of shape {given.shape}; "
                             f"expected integers of shape {(self.num_games,)}")
        if self.c_action_ids != NULL:
            given = self._indexes(given)
        wrong = np.flatnonzero((given < 0) | (given >= self.num_legal))
        if wrong.size:
            raise ValueError(f"actions[{wrong[0]}]: given {given[wrong[0]]}; "
                             f"expected 0 to {self.num_legal[wrong[0]] - 1}")
        cdef const int32_t[::1] chosen = np.ascontiguousarray(given, np.int32)
        with nogil:
            self._clear()
            for i in range(self.num_games):
                ended += self._advance(i, self.c_legal[<size_t>i * self.ops.max_actions + chosen[i]])
                self._look(i)
        self._end_call()
        return ended

    def _indexes(self, given):
        """Return the indexes of legal actions with these ids; ValueError if one is not the id of a legal action."""
        cdef int i, k, number
        cdef const int64_t[::1] numbers = np.ascontiguousarray(np.clip(given, -1, self.ops.num_action_ids), np.int64)
        found = np.empty(self.num_games, np.int32)
        cdef int32_t[::1] indexes = found
        for i in range(self.num_games):
            number = <int>numbers[i]
            k = -1
            if 0 <= number < self.ops.num_action_ids:
                k = self.c_index_of[<size_t>i * self.ops.num_action_ids + number]
            # An index of an earlier state may be left in the table.
            if not (0 <= k < self.c_num_legal[i]
                    and self.c_action_ids[<size_t>i * self.ops.max_actions + k] == number):
                raise ValueError(f"actions[{i}]: given {given[i]}; expected the id of a legal action")
            indexes[i] = k
        return found

    def step_random(self, int count=1):
        """Play actions of the game's reference random player in each game.

        Parameters
        ----------
        count : int
            Actions in each game, at least 1. Only the last one's state shows in the arrays. `done`, `rewards` and
            `scores` are of the last game that has ended in the call.

        Returns
        -------
        int
            Number of games that have ended.

        Notes
        -----
        Releases the GIL. One thread at a time may call the functions of a batch.
        """
        cdef int i, _, ended = 0
        if count < 1:
            raise ValueError(f"count: given {count}; expected at least 1")
        self._require_games()
        with nogil:
            self._clear()
            for i in range(self.num_games):
                for _ in range(count):
                    ended += self._advance(i, playout_random_action(self.ops, self._state(i), &self._rngs[i],
                                                                    self._buffer))
                self._look(i)
        self._end_call()
        return ended

    # --- where games begin

    def set_starts(self, list starts not None):
        """Let all games that begin from now on begin from other states; those that run are not changed.

        Parameters
        ----------
        starts : list of State
            As for the constructor; of the same game, with as many seats. Copied.

        Raises
        ------
        SearchError
            There is none, or one does not fit (INVALID_OPTION). Nothing is changed then.
        """
        cdef State start
        cdef int i
        cdef size_t size = self.ops.state_size
        cdef char* memory
        starts = list(starts)       # methods of a game in Python, or another thread, may change it meanwhile
        if not starts:
            raise _no_starts()
        for i, start in enumerate(starts):
            self._require_start(start, f"starts[{i}]")
        memory = <char*>aligned_alloc(64, len(starts) * size)
        if memory == NULL:
            raise MemoryError
        for i, start in enumerate(starts):
            memcpy(memory + i * size, start.data, size)
        free(self._starts)
        self._starts, self._num_starts = memory, len(starts)

    def set_start(self, int i, State start not None):
        """Replace start i by another state. Raises IndexError if there is none; SearchError as `set_starts`."""
        if not 0 <= i < self._num_starts:
            raise IndexError(f"start {i}: expected 0 to {self._num_starts - 1}")
        self._require_start(start, "start")
        memcpy(self._starts + i * self.ops.state_size, start.data, self.ops.state_size)

    def restart(self, seed=None):
        """Begin all games anew.

        Parameters
        ----------
        seed : int, optional
            0 <= seed < 2**63, as for the constructor; without one, the games go on with their streams.
        """
        cdef Stream stream
        cdef int i
        if seed is not None:
            streams = [Stream(seed, i) for i in range(self.num_games)]
            for i, stream in enumerate(streams):
                self._rngs[i] = stream.bitgen[0]
            self._streams = streams
        self._is_lost = False
        self._clear()
        for i in range(self.num_games):
            self._restart(i)
            self._look(i)
        self._end_call()

    cdef int _require(self, State state, str path) except -1:
        """Raise SearchError if no game of the batch can go on from a state, TypeError if it is none."""
        if state is None:
            raise TypeError(f"{path}: None, expected a State")
        if state.game is not self.game or state.num_players != self.num_players or state.is_terminal:
            raise SearchError(f"{path}: is over, or of another game or number of seats; expected a state of "
                              f"{self.game.name} with {self.num_players} seats", reason="INVALID_OPTION")
        return 0

    cdef int _require_start(self, State state, str path) except -1:
        """Raise SearchError if no game of the batch can begin from a state."""
        cdef Stream stream
        cdef State settled
        self._require(state, path)
        if state.current_player != CHANCE:
            return 0
        stream = Stream(0)
        for _ in range(_DRAWS):
            settled = state.copy()
            game_settle_chance(self.ops, settled.data, stream.bitgen)
            failure_raise()
            if not settled.is_terminal:
                return 0
        raise SearchError(f"{path}: the random event that is due ends the game; expected a state that goes on",
                          reason="INVALID_OPTION")

    # --- single games

    def set_state(self, int i, State state not None):
        """Let game i go on from another state; its random events are drawn, and `lengths` counts from there.

        Parameters
        ----------
        i : int
        state : State
            Of the batch's game, with as many seats, and not over. Copied.

        Raises
        ------
        IndexError
            There is no such game.
        SearchError
            The state does not fit, or a random event ends the game (INVALID_OPTION).
        """
        cdef State settled
        self._require_game(i)
        self._require(state, "state")
        settled = state.copy()
        game_settle_chance(self.ops, settled.data, &self._rngs[i])
        failure_raise()
        self._require(settled, "state")
        memcpy(self._state(i), settled.data, self.ops.state_size)
        self.c_lengths[i] = 0
        self._look(i)
        self._end_call()

    cdef int _require_game(self, int i) except -1:
        if not 0 <= i < self.num_games:
            raise IndexError(f"game {i}: expected 0 to {self.num_games - 1}")
        return 0

    def state(self, int i):
        """Return a copy of the state of game i. Raises IndexError if there is none."""
        self._require_game(i)
        return state_wrap(self.game, self._state(i))

    def observe_all(self):
        """Return what each seat sees of each game, for a critic that knows all hands.

        Returns
        -------
        numpy.ndarray
            float32 [N, P, S], a new array. What no seat sees, such as the order of a deck, is in none of them.

        Raises
        ------
        SearchError
            The game has no observations; reason NO_OBSERVATIONS.
        """
        cdef int i, seat
        require_observations(self.game)
        found = np.empty((self.num_games, self.num_players, self.ops.observation_size), np.float32)
        cdef float[:, :, ::1] out = found
        with nogil:
            for i in range(self.num_games):
                for seat in range(self.num_players):
                    self.ops.observe(self._state(i), seat, &out[i, seat, 0])
        return found

    def observe(self, viewers):
        """Return what a seat sees of each game.

        Parameters
        ----------
        viewers : array of int
            [N], the seats.

        Returns
        -------
        numpy.ndarray
            float32 [N, S], a new array.

        Raises
        ------
        SearchError
            The game has no observations; reason NO_OBSERVATIONS.
        ValueError
            `viewers` has another shape, or there is no such seat.
        """
        cdef int i
        require_observations(self.game)
        seats = np.asarray(viewers)
        if (seats.shape != (self.num_games,) or seats.dtype.kind not in "iu"
                or ((seats < 0) | (seats >= self.num_players)).any()):
            raise ValueError(f"viewers: expected {self.num_games} seats from 0 to {self.num_players - 1}")
        cdef const int32_t[::1] chosen = np.ascontiguousarray(seats, np.int32)
        found = np.empty((self.num_games, self.ops.observation_size), np.float32)
        cdef float[:, ::1] out = found
        with nogil:
            for i in range(self.num_games):
                self.ops.observe(self._state(i), chosen[i], &out[i, 0])
        failure_raise()
        return found


def _restore(kind, starts, num_games, wanted, states, streams, kept):
    """Return a batch as `Batch.__reduce__` describes it."""
    batch = kind(starts, num_games, seed=0, **wanted)
    batch._take(states, streams, kept)
    return batch


def _no_starts():
    """Return the error for a batch without a state to begin from."""
    return SearchError("starts: given none; expected at least one", reason="INVALID_OPTION")


def _not_alike():
    """Return the error for a pickle that does not describe a batch."""
    return SearchError("pickled games: expected those of a batch of this version", reason="INVALID_OPTION")
