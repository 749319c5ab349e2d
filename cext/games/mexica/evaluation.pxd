"""The evaluation of Mexica: what a position holds for each seat, as numbers, and a small network over them."""

from cext.games.mexica.state cimport MexicaStateC

cdef enum:
    WIDE_SIZE = 20                  # spaces above which an unfounded district counts as leftover land

cdef enum:                          # lengths, see OWN_FEATURES and SHARED_FEATURES
    NUM_OWN = 30                    # features of one seat
    NUM_SHARED = 22                 # features of the position
    NUM_INPUTS = 3 * NUM_OWN + NUM_SHARED
    NUM_HIDDEN = 32                 # units of the first layer
    NUM_HIDDEN_2 = 16               # and of the second
    NUM_OUTPUTS = 2                 # logit of the share of the win; final score / 50

# GameOps.evaluate.
cdef void evaluation_evaluate(const MexicaStateC* state, double* values, double* points) noexcept nogil
