"""The evaluation of Mexica: what a position holds for each seat, as numbers, and a small network over them."""

from cext.games.mexica.state cimport MexicaStateC

cdef enum:
    WIDE_SIZE = 20                  # spaces above which an unfounded district counts as leftover land

# Temple levels that would give a seat the first place alone, and at least the second; 0 if it has them.
cdef void evaluation_levels_needed(const int* levels, int seat, int* first, int* second) noexcept nogil

# What the first place, or else the second, of a district of this value and these levels would pay a seat more than
# `pay`, divided by 1 + the levels it takes / 2; 0 if its stock (levels) does not suffice.
cdef double evaluation_takeable(const int* levels, int seat, int stock, int value, int pay) noexcept nogil

# GameOps.evaluate; the weights are MexicaWeightsC.
cdef void evaluation_evaluate(const void* weights, const MexicaStateC* state, double* values,
                              double* points) noexcept nogil
