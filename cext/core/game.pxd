"""The contract between the core and a game, and the owners of a game's table and of a state's memory.

A game is a `GameOps`: a table of C functions over one flat state. The search, the playouts, perft and the Python
classes below know a game only through this table, and through the defaults that it sets for the search's options.

Rules that hold for every function of the table
* `noexcept nogil`; no Python object, no allocation, no global that changes. Failures cannot be reported:
  preconditions are the caller's duty, and the one place that checks them for Python is `State`.
* A state is `state_size` bytes without pointers, aligned to 64 bytes; copying is one memcpy. Padding is zero.
* A *turn* is what one seat plays until it hands over or a random event comes; the same seat usually moves many plies
  running, 64 at most, and may move again after the event.
* Weights are what `policy` and `evaluate` work with: `weights_size` bytes, aligned to 64, whose layout the game
  documents. A Python object owns them (`cext.core.weights.Weights`), and whoever calls with the pointer holds a
  reference to it. They never change, so that any number of threads may read them, and searches with different
  weights may run at the same time. A game without weights gets NULL.
* Random events occur between turns only: an action that leads to CHANCE ends the turn, and what is drawn changes
  no seat's share in it. A turn is therefore a sequence of actions and nothing else.
* A seat knows its own legal actions, and so does whoever sees what it sees: `legal_actions` and `policy` depend only
  on what the seat to move knows, and two seats with equal hashes of a state know the same of it.

How a game starts is not in the table: starts have options, so they are made by the game's codec
(`state_from_fields`), as every position is.
"""

from libc.stdint cimport uint64_t
from numpy.random cimport bitgen_t

from cext.core.types cimport action_t


ctypedef struct GameOps:
    # --- identity
    const char* name            # as in the text forms, lower case
    int rules_version           # raised when behaviour changes, not when it gets faster
    size_t state_size           # bytes, a multiple of 64
    int max_players             # 2..MAX_SEATS
    int max_actions             # legal actions of any state at most (1..65535): the length of a buffer for them
    int max_game_length         # actions of any game at most
    size_t weights_size         # bytes of the weights, 0 for a game without any

    # --- rules: every game has these
    # 0, or the number of the first broken invariant (>= 1); check_name says what it is called.
    int (*check)(const void* state) noexcept nogil
    const char* (*check_name)(int code) noexcept nogil
    int (*num_players)(const void* state) noexcept nogil
    # The seat to move, or CHANCE, or TERMINAL.
    int (*current_player)(const void* state) noexcept nogil
    # Writes the legal actions, ascending and unique, into `actions` (max_actions long) and returns how many: 0 only
    # at CHANCE and TERMINAL. Ascending order is the game's canonical order.
    int (*legal_actions)(const void* state, action_t* actions) noexcept nogil
    # Plays a legal action. Deterministic. Precondition: the action is legal (or accepted by accepts_action).
    void (*apply_action)(void* state, action_t action) noexcept nogil
    # Each seat's share of the win, in [0, 1], summing to 1. Precondition: TERMINAL.
    void (*returns)(const void* state, double* shares) noexcept nogil
    # The game's own points of each seat, as they stand.
    void (*scores)(const void* state, double* points) noexcept nogil
    # 64-bit hash of what `viewer` may know of the state; with ALL_SEEING of everything, which is equal for two
    # states iff they are the same position (up to collisions).
    uint64_t (*hash)(const void* state, int viewer) noexcept nogil
    # Counts the turns ended so far: it changes with every hand-over and never decreases.
    int (*turn)(const void* state) noexcept nogil
    # Counts the rounds (every seat had its turn) ended so far; playouts are cut when it changes.
    int (*round)(const void* state) noexcept nogil

    # --- hidden information and chance: NULL where the game has none
    # Replaces what `viewer` cannot know by a uniform draw consistent with what it knows, and returns 1; or returns 0
    # and leaves the state as it is if it knows of one world only.
    bint (*determinize)(void* state, int viewer, bitgen_t* rng) noexcept nogil
    # Resolves the pending random event, by numbers of `rng` alone. Precondition: current_player is CHANCE.
    void (*chance)(void* state, bitgen_t* rng) noexcept nogil
    # 1 if apply_action accepts this action although legal_actions does not list it: an agreement of the players at the
    # table, or the outcome of a random event.
    bint (*accepts_action)(const void* state, action_t action) noexcept nogil

    # --- policy and evaluation: NULL where the game has none
    # Prior weights (>= 0, any scale, not all 0) of the n legal actions; NULL: all equal. A search never looks at an
    # action with weight 0: for those that differ from another one in nothing that matters, and for orders of the same
    # actions within a turn.
    void (*policy)(const void* weights, const void* state, const action_t* actions, int n, float* priors) noexcept nogil
    # The game's reference random player; NULL: uniform over the legal actions.
    action_t (*random_action)(const void* state, bitgen_t* rng) noexcept nogil
    # The cheap, informed player of the search's playouts; NULL: random_action.
    action_t (*playout_action)(const void* state, bitgen_t* rng) noexcept nogil
    # Expected share of the win (in [0, 1], summing to 1) and expected final score of each seat, in a state that is
    # not TERMINAL; NULL: the search plays its playouts to the end of the game.
    void (*evaluate)(const void* weights, const void* state, double* values, double* points) noexcept nogil
    # Tells a state that a search begins in it, perhaps within a turn whose first actions nobody ordered for the policy;
    # NULL: the policy need not know.
    void (*begin_search)(void* state) noexcept nogil


cdef class Game:
    """Owner of a game's table for Python. The table itself is static memory of the game's module."""
    cdef const GameOps* ops
    cdef dict _search_options


cdef class State:
    """Owner of one state's memory. Nobody else allocates states one by one."""
    cdef readonly Game game
    cdef void* data


# Wraps a new owner around a copy of `data` (game.ops.state_size bytes).
cdef State state_wrap(Game game, const void* data)

# Makes the Game of a table; called once by each game's module. Refuses a table that breaks the limits.
# `search_options`: defaults of the search's options in this game, by name, where they differ from those of others.
cdef Game game_create(const GameOps* ops, dict search_options=*)

# Raises GameOverError or SearchError (reason CHANCE_PENDING) unless a seat is to move.
cdef int game_require_seat(State state) except -1

cdef bint game_action_is_legal(const GameOps* ops, const void* state, action_t action, action_t* buffer) noexcept nogil


cdef extern from *:
    """
    #include <stdio.h>
    #include <stdlib.h>
    #ifdef CEXT_DEBUG
    #define CEXT_IS_DEBUG 1
    #else
    #define CEXT_IS_DEBUG 0
    #endif
    static inline void cext_die(const char* game, const char* invariant) {
        fprintf(stderr, "cext: %s: invariant broken after an action: %s\\n", game, invariant);
        abort();
    }
    """
    bint CEXT_IS_DEBUG
    void cext_die(const char* game, const char* invariant) noexcept nogil


# Everyone in the core applies actions through this: in the debug build every state is checked afterwards.
cdef inline void game_apply(const GameOps* ops, void* state, action_t action) noexcept nogil:
    cdef int code
    ops.apply_action(state, action)
    if CEXT_IS_DEBUG:
        code = ops.check(state)
        if code != 0:
            cext_die(ops.name, ops.check_name(code))


# Resolves pending random events until a seat is to move or the game is over.
cdef inline void game_settle_chance(const GameOps* ops, void* state, bitgen_t* rng) noexcept nogil:
    while ops.current_player(state) == -1:      # CHANCE, a name that game.pyx gives to Python
        ops.chance(state, rng)
