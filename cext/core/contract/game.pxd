"""The contract between the core and a game, and the Python classes that own a game's table and a state's memory.

A game is a `GameOps`: a table of C functions on one flat state. The search, the playouts, perft and the Python classes
below know a game only through this table and through its defaults of the search's options.

Rules that hold for every function of the table
* It is `noexcept nogil`, uses no Python object, allocates nothing and changes no global. It cannot report a failure:
  the caller guarantees the preconditions. `State` checks them for callers in Python.
* A state is `state_size` bytes without pointers, aligned to 64 bytes; copying is one memcpy. Padding is zero.
* A *turn* is the sequence of actions that one seat plays until it hands over or a random event occurs: usually
  several, at most 64. The same seat may move again after the event.
* Weights are the numbers that `policy`, `evaluate` and `believe` use: `weights_size` bytes, aligned to 64, whose layout
  the game documents. A Python object owns them (`cext.core.learning.weights.Weights`), and callers that pass the
  pointer hold a reference to the object. Weights never change. Any number of threads may read them, and searches with
  different weights may run at the same time. A game without weights gets NULL.
* A cache is `cache_size` bytes, aligned to 64, zero at first, in which `policy`, `evaluate` and `observe_actions` may
  keep what they have found. It belongs to one thread, and serves one game. What they return depends on it only in how
  fast it comes. NULL: there is none.
* Random events occur only between turns: an action that leads to CHANCE ends the turn, and the outcome does not affect
  what happened in that turn. A turn is therefore a sequence of actions and nothing else.
* A seat knows its legal actions: `legal_actions` and `policy` depend only on what the seat to move knows. Two seats
  whose hashes of a state are equal know the same about it. Within a search, states of one turn with equal hashes for
  the seat to move have the same legal actions and priors: threads keep them under that hash.

The table has no function that starts a game. Starts have options, so the game's `Starts` make them
(`state_from_fields`), as it makes every position.
"""

from libc.stdint cimport uint64_t
from numpy.random cimport bitgen_t

from cext.core.contract.types cimport action_t


ctypedef struct GameOps:
    # --- identity
    const char* name            # as in the text forms, lower case
    int rules_version           # goes up when the behaviour changes, not when the code gets faster
    size_t state_size           # bytes, a multiple of 64
    int max_players             # 2..MAX_SEATS
    int max_actions             # most legal actions of any state (1..65535): the length of a buffer for them
    int max_game_length         # most actions of any game
    size_t weights_size         # bytes of the weights, 0 for a game without any
    size_t belief_size          # bytes of a belief, 0 for a game without
    size_t cache_size           # bytes of a cache, a multiple of 64; 0 for a game that uses none

    # --- rules: required
    # Returns 0, or the number (>= 1) of the first broken invariant; check_name returns its name.
    int (*check)(const void* state) noexcept nogil
    const char* (*check_name)(int code) noexcept nogil
    int (*num_players)(const void* state) noexcept nogil
    # The seat to move, or CHANCE, or TERMINAL.
    int (*current_player)(const void* state) noexcept nogil
    # Writes the legal actions, ascending and without duplicates, to `actions` (max_actions long). Returns their number,
    # which is 0 only at CHANCE and TERMINAL. Ascending order is the game's canonical order.
    int (*legal_actions)(const void* state, action_t* actions) noexcept nogil
    # Plays a legal action. Deterministic. Precondition: the action is legal (or accepted by accepts_action).
    void (*apply_action)(void* state, action_t action) noexcept nogil
    # Each seat's share of the win, in [0, 1], summing to 1. Precondition: TERMINAL.
    void (*returns)(const void* state, double* shares) noexcept nogil
    # The game's own points of each seat, as they stand.
    void (*scores)(const void* state, double* points) noexcept nogil
    # 64-bit hash of what `viewer` may know about the state. With ALL_SEEING, of everything: equal for two states if
    # and only if they are the same position (up to collisions).
    uint64_t (*hash)(const void* state, int viewer) noexcept nogil
    # Number of turns that have ended: changes with every hand-over and never decreases.
    int (*turn)(const void* state) noexcept nogil
    # Number of rounds (a turn of every seat) that have ended, or another measure that grows at the end of each, such as
    # Tzolk'in's days; playouts stop when it changes. A game with a map of published shares counts it from the position
    # alone, as the map was fitted.
    int (*round)(const void* state) noexcept nogil

    # --- hidden information and chance: NULL where the game has none
    # Replaces what `viewer` cannot know by a draw that agrees with what it knows, and returns 1. If only one state is
    # possible, returns 0 and changes nothing. The draw is uniform with belief NULL, else by the odds of the belief;
    # nothing that is possible is out of the question.
    bint (*determinize)(void* state, int viewer, const void* belief, bitgen_t* rng) noexcept nogil
    # Fills in a belief (`belief_size` bytes): how likely the others hold what `viewer` does not see, by what all see in
    # the state. It holds for draws from this state alone. Returns 0 if draws are to be uniform. `strength`: 1 as
    # fitted, 0 uniform. NULL: draws are always uniform.
    bint (*believe)(const void* weights, const void* state, int viewer, double strength, void* belief) noexcept nogil
    # Resolves the pending random event, with numbers from `rng` only. Precondition: current_player is CHANCE.
    void (*chance)(void* state, bitgen_t* rng) noexcept nogil
    # 1 if apply_action accepts this action although legal_actions does not list it: something that the players agreed
    # on, or the outcome of a random event.
    bint (*accepts_action)(const void* state, action_t action) noexcept nogil

    # --- policy and evaluation: NULL where the game has none
    # Prior weights (>= 0, any scale, not all 0) of the n legal actions; NULL: all equal. A search never tries an action
    # with weight 0. Use 0 for actions that are equivalent to another one, and for redundant orders within a turn.
    void (*policy)(const void* weights, void* cache, const void* state, const action_t* actions, int n,
                   float* priors) noexcept nogil
    # The game's reference random player; NULL: uniform over the legal actions.
    action_t (*random_action)(const void* state, bitgen_t* rng) noexcept nogil
    # The cheap, informed player of the search's playouts; NULL: random_action.
    action_t (*playout_action)(const void* state, bitgen_t* rng) noexcept nogil
    # Expected share of the win (in [0, 1], summing to 1) and expected final score of each seat. Precondition: not
    # TERMINAL. NULL: the search plays its playouts to the end of the game.
    void (*evaluate)(const void* weights, void* cache, const void* state, double* values,
                     double* points) noexcept nogil
    # Prepares the root state of a search. The search may begin within a turn, whose earlier actions need not be in the
    # order that the policy prefers. NULL: the policy does not need this.
    void (*begin_search)(void* state) noexcept nogil

    # --- observations for learning: 0 and NULL where the game has none
    int observation_size        # floats of an observation
    # Writes what `viewer` (a seat) sees as observation_size floats, in the layout of the game's schema for Python. The
    # same for all states that the viewer cannot tell apart: nothing that `determinize` draws anew shows.
    void (*observe)(const void* state, int viewer, float* out) noexcept nogil

    # --- actions for learning: 0 and NULL where the game has none
    int num_action_ids          # ids of actions: each means the same in every state, and they are few enough to list
    # The id of a legal action, 0 to num_action_ids - 1; those of the legal actions of a state differ.
    int (*action_id)(const void* state, action_t action) noexcept nogil
    int action_size             # floats of an action
    # Writes action_size floats for each of n legal actions, in the layout of the game's schema of actions for Python:
    # what the seat to move knows about the action. The same for all states that this seat cannot tell apart.
    void (*observe_actions)(void* cache, const void* state, const action_t* actions, int n, float* out) noexcept nogil


cdef class Game:
    """A game's table for Python. The table itself is static memory of the game's module."""
    cdef const GameOps* ops
    cdef dict _search_options


cdef class State:
    """Owner of one state's memory."""
    cdef readonly Game game
    cdef void* data


# Returns a new State with a copy of `data` (game.ops.state_size bytes).
cdef State state_wrap(Game game, const void* data)

# The interface with which a module was compiled: the number of the declarations (`cext.build.abi`).
cdef extern from *:
    """
    #ifndef CEXT_ABI
    #error "CEXT_ABI is not defined; expected a build by cext.build.game_extensions"
    #endif
    """
    const uint64_t CEXT_ABI

# Makes the Game of a table that was compiled with interface `abi`, in which a table has `ops_size` bytes. Raises
# ImportError, before it reads the table, if those are not the core's.
cdef Game game_create_compiled(const GameOps* ops, dict search_options, uint64_t abi, size_t ops_size)

# Makes the Game of a table; each game's module calls it once. Raises ValueError if a size in the table is out of range.
# `search_options`: the game's defaults of the search's options, by name, where they differ from the general ones.
# Inlined, so that it passes on what the game was compiled with.
cdef inline Game game_create(const GameOps* ops, dict search_options=None):
    return game_create_compiled(ops, search_options, CEXT_ABI, sizeof(GameOps))

# Raises GameOverError or SearchError (reason CHANCE_PENDING) unless a seat is to move.
cdef int game_require_seat(State state) except -1

# Whether an action is legal. `buffer` is max_actions long.
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


# Applies an action. The core uses only this function: in the debug build it checks the state after every action.
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
