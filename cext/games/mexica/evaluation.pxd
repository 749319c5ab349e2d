"""The evaluation of Mexica: features of each seat, and a small network over them."""

from cext.games.mexica.state cimport MexicaStateC

cdef enum:
    WIDE_SIZE = 20                  # spaces above which an unfounded district counts as leftover land

# Writes the temple levels that would give a seat the first place alone, and at least the second place; 0 if it has
# them.
cdef void evaluation_levels_needed(const int* levels, int seat, int* first, int* second) noexcept nogil

# The points above `pay` that the first or the second place of a district of this value and these levels would pay a
# seat, divided by 1 + half the levels that it takes: the larger of the two. 0 if its stock (in levels) is too small.
cdef double evaluation_takeable(const int* levels, int seat, int stock, int value, int pay) noexcept nogil

# GameOps.evaluate; the weights are MexicaWeightsC.
cdef void evaluation_evaluate(const void* weights, void* cache, const MexicaStateC* state, double* values,
                              double* points) noexcept nogil
