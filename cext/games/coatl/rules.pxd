"""The rules of Coatl: legal actions and their effects, random events, scoring. D1-D15: docs/games/coatl.md."""

from libc.stdint cimport uint8_t
from numpy.random cimport bitgen_t

from cext.core.contract.types cimport action_t
from cext.games.coatl.state cimport ADD, BODY, HAND, PLAY, TEMPLE, CoatlC, CoatlStateC, action_kind, action_verb

cdef enum:
    # 25 takes, 7 draws, 15 starts, 40 additions to two Coatls, 10 plays of 5 cards on them, 25 perfect picks, 2
    # promises, future and pass: 126. `_list_colors` writes 4 entries further. 42 choices of what to keep.
    MAX_ACTIONS = 192
    MAX_GAME_LENGTH = 4096
    MAX_DEALT = 6               # most prophecies in hand, while seats choose what to keep
    DOUBTFUL = 1 << ADD | 1 << PLAY | 1 << TEMPLE   # verbs whose candidates may be illegal

# GameOps.legal_actions.
cdef int rules_legal_actions(const CoatlStateC* state, action_t* actions) noexcept nogil

# The same in steps, for callers that need only one action. `rules_verbs` returns the verbs of the legal actions as a
# set; some of them may have no legal action. `rules_candidates` writes the candidates of a verb in canonical order and
# returns their number. `rules_is_legal` returns whether a candidate is legal; `rules_confirm` is its slow part.
cdef int rules_verbs(const CoatlStateC* state) noexcept nogil
cdef int rules_candidates(const CoatlStateC* state, int verb, action_t* actions) noexcept nogil
cdef bint rules_confirm(const CoatlStateC* state, action_t action) noexcept nogil

cdef inline bint rules_is_legal(const CoatlStateC* state, action_t action) noexcept nogil:
    # Body pieces are listed only where they are legal.
    if not DOUBTFUL >> action_verb(action) & 1 or (action_verb(action) == ADD and action_kind(action) == BODY):
        return True
    return rules_confirm(state, action)

# GameOps.apply_action: plays a legal action, or an outcome of the pending random event.
cdef void rules_apply_action(CoatlStateC* state, action_t action) noexcept nogil

# GameOps.accepts_action: whether the action is a possible outcome of the pending random event.
cdef bint rules_accepts_action(const CoatlStateC* state, action_t action) noexcept nogil

# Draws an outcome of the pending random event, as an action.
cdef action_t rules_draw_outcome(const CoatlStateC* state, bitgen_t* rng) noexcept nogil

# GameOps.returns: most points win, then most cards on complete Coatls, then the most valuable Coatl; then the win is
# shared.
cdef void rules_returns(const CoatlStateC* state, double* shares) noexcept nogil

# A seat's points: those of its closed Coatls.
cdef int rules_score(const CoatlStateC* state, int seat) noexcept nogil

# Writes the faces of a seat's prophecies in hand, ascending. Returns their number.
cdef int rules_hand(const CoatlStateC* state, int seat, uint8_t* faces) noexcept nogil

# Whether a prophecy could be played on a Coatl now: not on it yet, room for it, first level reached.
cdef bint rules_matches(const CoatlStateC* state, const CoatlC* coatl, int face) noexcept nogil
