"""Observations of Mexica, and its legal actions, as floats; ``mexica_ai/games/mexica/tensor.py`` has the layouts."""

from cext.core.contract.types cimport MAX_SEATS, action_t
from cext.games.mexica.board cimport NUM_COLUMNS, NUM_ROWS
from cext.games.mexica.state cimport NUM_OWNERS, REMOVE

cdef enum:
    NUM_SIZES = 11              # of calpulli tokens, 3 to 13
    NUM_PLANES = 1 + 1 + 2 + NUM_OWNERS + 1 + 1 + MAX_SEATS
    NUM_SCALARS = 10
    OBSERVATION_SIZE = (1 + MAX_SEATS + NUM_PLANES * NUM_ROWS * NUM_COLUMNS + 4 * NUM_SIZES + MAX_SEATS * (4 + 2)
                        + 3 + NUM_SCALARS)

    ACTION_VERBS = REMOVE - 1   # of legal actions
    ACTION_SCALARS = 17
    ACTION_SIZE = ACTION_VERBS + 2 * (NUM_ROWS + NUM_COLUMNS) + 2 + ACTION_SCALARS

# GameOps.observe.
cdef void tensor_observe(const void* data, int viewer, float* out) noexcept nogil

# GameOps.observe_actions.
cdef void tensor_observe_actions(void* cache, const void* data, const action_t* actions, int n,
                                 float* out) noexcept nogil
