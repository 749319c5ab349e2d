"""The evaluation of Tzolk'in: features of each seat, and a small network over them."""

from cext.games.tzolkin.state cimport TzolkinStateC
from cext.games.tzolkin.weights cimport NUM_OWN

# The features of all seats in a position, from which those of the positions after single actions are found.
ctypedef struct BeforeC:
    float own[4][NUM_OWN]

cdef void evaluation_look(const TzolkinStateC* state, BeforeC* before) noexcept nogil

cdef enum:
    AT_ONCE = 4         # positions that `evaluation_after` looks at together

# How good positions (AT_ONCE at most) are for a seat after one of its actions, about in points: the expected margin,
# and the odds of the win. What the others can do is as it was before the action, unless the turn has ended.
cdef void evaluation_after(const void* weights, const TzolkinStateC* after, int count, int seat, const BeforeC* before,
                           float* advantages) noexcept nogil

# GameOps.evaluate; the weights are TzolkinWeightsC.
cdef void evaluation_evaluate(const void* weights, void* cache, const TzolkinStateC* state, double* values,
                              double* points) noexcept nogil
