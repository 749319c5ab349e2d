"""The rules of Tzolk'in: legal actions, what they do, random events, the result. Decisions D1-D20 of
docs/games/tzolkin.md."""

from libc.stdint cimport uint64_t
from numpy.random cimport bitgen_t

from cext.core.contract.types cimport action_t
from cext.games.tzolkin.state cimport TzolkinStateC

cdef enum:
    # Nearly all are amounts at the market. Lists are short in play; this is for a seat that owns all that a position
    # may give, worth 9,990 corn, and gains 4,000 more by the end: 13 purchases for each 12 corn.
    MAX_ACTIONS = 16384
    MAX_GAME_LENGTH = 7168      # 64 actions a turn (`GameOps`), 4 seats, 27 rounds, and the choices between them

# Writes the legal actions in canonical order and returns how many; none while a random event is due.
cdef int rules_legal_actions(const TzolkinStateC* state, action_t* actions) noexcept nogil

# The same in two steps, for who needs but one of the actions: the verbs that have any, as a set, and the actions of one
# of them, in canonical order.
cdef int rules_verbs(const TzolkinStateC* state) noexcept nogil
cdef int rules_actions_of(const TzolkinStateC* state, int verb, action_t* actions) noexcept nogil

# Plays a legal action, or the outcome of the random event that is due.
cdef void rules_apply_action(TzolkinStateC* state, action_t action) noexcept nogil

# Whether the action is a possible outcome of the random event that is due.
cdef bint rules_accepts_action(const TzolkinStateC* state, action_t action) noexcept nogil

# Draws an outcome of the random event that is due.
cdef action_t rules_draw_outcome(const TzolkinStateC* state, bitgen_t* rng) noexcept nogil

cdef void rules_returns(const TzolkinStateC* state, double* shares) noexcept nogil

# Whether the decision that is due has an answer other than `done` (D16).
cdef bint rules_has_answer(const TzolkinStateC* state, int decision) noexcept nogil

# Points of a monument for a seat that has built it.
cdef int rules_monument_points(const TzolkinStateC* state, int seat, int monument) noexcept nogil

# Points of all temples at the end of an age (0 or 1), for each seat.
cdef void rules_temple_points(const TzolkinStateC* state, int age, int* points) noexcept nogil

# Whether the seat may advance the calendar by two days (D2).
cdef bint rules_can_double(const TzolkinStateC* state, int seat) noexcept nogil
