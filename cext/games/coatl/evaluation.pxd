"""The evaluation of Coatl: what a position holds for each seat, as numbers, and a small network over them."""

from cext.games.coatl.state cimport CoatlStateC

# What a seat's own position is worth to it, by hand.
cdef float evaluation_outlook(const CoatlStateC* state, int seat) noexcept nogil

# GameOps.evaluate; the weights are CoatlWeightsC.
cdef void evaluation_evaluate(const void* weights, const CoatlStateC* state, double* values,
                              double* points) noexcept nogil
