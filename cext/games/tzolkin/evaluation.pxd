"""The evaluation of Tzolk'in: features of each seat, and a small network over them."""

from libc.stdint cimport uint64_t

from cext.core.learning.network cimport NETWORK_HIDDEN
from cext.games.tzolkin.state cimport TzolkinStateC
from cext.games.tzolkin.weights cimport NUM_OWN

cdef enum:
    OWN_KEPT = 1024         # of a cache, a power of 2
    ANSWERS_KEPT = 2048     # the same

# The features of a seat in a position.
ctypedef struct OwnC:
    uint64_t key            # of the position and the seat; 0: nothing
    float own[NUM_OWN]

# The evaluation of a position.
ctypedef struct AnswerC:
    uint64_t key            # of the position and the weights; 0: nothing
    double values[4]
    double points[4]

# GameOps.cache_size. What an action leads to is looked at once for its prior, and again when it has been played.
ctypedef struct TzolkinCacheC:
    OwnC seats[OWN_KEPT]
    AnswerC answers[ANSWERS_KEPT]

# The features of all seats in a position, from which those of the positions after single actions are found.
ctypedef struct BeforeC:
    float own[4][NUM_OWN]
    float sums[4][NETWORK_HIDDEN]   # of the network over these, of the seats that are not to move

# Finds them, with a cache or NULL.
cdef void evaluation_look(const void* weights, TzolkinCacheC* cache, const TzolkinStateC* state,
                          BeforeC* before) noexcept nogil

cdef enum:
    AT_ONCE = 4         # positions that `evaluation_after` looks at together

# How good positions (AT_ONCE at most) are for a seat after one of its actions, about in points: the expected margin,
# and the odds of the win. What the others can do is as it was before the action, unless the turn has ended.
cdef void evaluation_after(const void* weights, TzolkinCacheC* cache, const TzolkinStateC* after, int count, int seat,
                           const BeforeC* before, float* advantages) noexcept nogil

# GameOps.evaluate; the weights are TzolkinWeightsC.
cdef void evaluation_evaluate(const void* weights, TzolkinCacheC* cache, const TzolkinStateC* state, double* values,
                              double* points) noexcept nogil
