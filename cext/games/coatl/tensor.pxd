"""A seat's view of a Coatl state, and its legal actions, as floats; the layouts are those of
``mexica_ai/games/coatl/tensor.py``.
"""

from cext.core.contract.types cimport MAX_SEATS, action_t
from cext.games.coatl.cards cimport NUM_COLORS, NUM_FACES, NUM_PAIRS, NUM_TEMPLES
from cext.games.coatl.state cimport COATLS, DEAL, MAX_PIECES, NUM_KINDS, PILES

cdef enum:
    NUM_COATLS = MAX_SEATS * COATLS
    COATL_SCALARS = 5           # length, head, tail, closed, points
    NUM_PHASES = 7
    NUM_EVENTS = 5
    NUM_TOKENS = 3
    OBSERVATION_SIZE = (1 + MAX_SEATS
                        + NUM_COATLS * (NUM_COLORS * MAX_PIECES + COATL_SCALARS + NUM_FACES + NUM_TEMPLES)
                        + 2 * NUM_COLORS + NUM_PAIRS + NUM_KINDS * NUM_COLORS + MAX_SEATS * NUM_KINDS * NUM_COLORS
                        + 3 * NUM_FACES + 3 * MAX_SEATS * NUM_FACES
                        + PILES * (NUM_TEMPLES + 1) + MAX_SEATS * NUM_TEMPLES
                        + MAX_SEATS * (4 + NUM_TOKENS) + NUM_PHASES + NUM_EVENTS + 11 + MAX_SEATS)

    ACTION_VERBS = DEAL - 1     # of legal actions
    ACTION_SIZE = ACTION_VERBS + NUM_KINDS + NUM_COLORS + NUM_FACES + NUM_TEMPLES + COATLS + 2 + 11

# GameOps.observe.
cdef void tensor_observe(const void* data, int viewer, float* out) noexcept nogil

# GameOps.observe_actions.
cdef void tensor_observe_actions(void* cache, const void* data, const action_t* actions, int n,
                                 float* out) noexcept nogil
