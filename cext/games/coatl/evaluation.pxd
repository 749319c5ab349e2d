"""The evaluation of Coatl: what a position holds for each seat, as numbers, and a small network over them."""

from cext.games.coatl.state cimport CoatlStateC

cdef enum:                          # lengths, see OWN_FEATURES and SHARED_FEATURES
    NUM_OWN = 64                    # features of one seat
    NUM_SHARED = 17                 # features of the position
    NUM_INPUTS = 3 * NUM_OWN + NUM_SHARED
    NUM_WEIGHTS = 7700              # of the network over them

# What a seat's own position is worth to it, by hand.
cdef float evaluation_outlook(const CoatlStateC* state, int seat) noexcept nogil

# GameOps.evaluate.
cdef void evaluation_evaluate(const CoatlStateC* state, double* values, double* points) noexcept nogil
