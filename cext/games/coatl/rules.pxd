"""The rules of Coatl: legal actions, what they do, random events, the result. Decisions D1-D15 of docs/rules_coatl.md."""

from libc.stdint cimport uint8_t
from numpy.random cimport bitgen_t

from cext.core.types cimport action_t
from cext.games.coatl.state cimport (ADD, BODY, HAND, PLAY, TEMPLE, CoatlC, CoatlStateC, action_kind,
                                     action_verb)

cdef enum:
    MAX_ACTIONS = 192
    MAX_GAME_LENGTH = 4096
    MAX_DEALT = 6               # prophecies in hand at most, while seats choose what to keep
    DOUBTFUL = 1 << ADD | 1 << PLAY | 1 << TEMPLE   # verbs of candidates that may be no actions

# Writes the legal actions in canonical order and returns how many; none while a random event is due.
cdef int rules_legal_actions(const CoatlStateC* state, action_t* actions) noexcept nogil

# The same in three steps, for who needs but one of the actions. The verbs of the legal actions are a set; some may
# turn out to have no action. The candidates of a verb come in canonical order; `rules_is_legal`, which is for
# candidates only, tells which of them are actions.
cdef int rules_verbs(const CoatlStateC* state) noexcept nogil
cdef int rules_candidates(const CoatlStateC* state, int verb, action_t* actions) noexcept nogil
cdef bint rules_confirm(const CoatlStateC* state, action_t action) noexcept nogil

cdef inline bint rules_is_legal(const CoatlStateC* state, action_t action) noexcept nogil:
    # A body piece can be added wherever it is listed.
    if not DOUBTFUL >> action_verb(action) & 1 or (action_verb(action) == ADD and action_kind(action) == BODY):
        return True
    return rules_confirm(state, action)

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
