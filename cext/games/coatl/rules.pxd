"""The rules of Coatl: legal actions, what they do, random events, the result. Decisions D1-D15 of docs/rules_coatl.md."""

from libc.stdint cimport uint8_t
from numpy.random cimport bitgen_t

from cext.core.types cimport action_t
from cext.games.coatl.state cimport HAND, CoatlC, CoatlStateC

cdef enum:
    MAX_ACTIONS = 192
    MAX_GAME_LENGTH = 4096
    MAX_DEALT = 6               # prophecies in hand at most, while seats choose what to keep

# Writes the legal actions in canonical order and returns how many; none while a random event is due.
cdef int rules_legal_actions(const CoatlStateC* state, action_t* actions) noexcept nogil

# Plays a legal action, or the outcome of the random event that is due.
cdef void rules_apply_action(CoatlStateC* state, action_t action) noexcept nogil

# Whether the action is a possible outcome of the random event that is due.
cdef bint rules_is_outcome(const CoatlStateC* state, action_t action) noexcept nogil

# Draws an outcome of the random event that is due.
cdef action_t rules_draw_outcome(const CoatlStateC* state, bitgen_t* rng) noexcept nogil

cdef void rules_returns(const CoatlStateC* state, double* shares) noexcept nogil
cdef int rules_score(const CoatlStateC* state, int seat) noexcept nogil

# Faces of a seat's prophecies in hand, ascending; returns how many.
cdef int rules_hand(const CoatlStateC* state, int seat, uint8_t* faces) noexcept nogil

# Whether a prophecy could be played on a Coatl as it stands: not there yet, room for it, first level reached.
cdef bint rules_matches(const CoatlStateC* state, const CoatlC* coatl, int face) noexcept nogil
