"""The evaluation of Coatl: features of each seat, and a small network over them."""

from cext.games.coatl.state cimport CoatlStateC

# A hand-made value of a seat's own position, in points.
cdef float evaluation_outlook(const CoatlStateC* state, int seat) noexcept nogil

# GameOps.evaluate; the weights are CoatlWeightsC.
cdef void evaluation_evaluate(const void* weights, const CoatlStateC* state, double* values,
                              double* points) noexcept nogil
