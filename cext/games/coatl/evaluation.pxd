"""What a position of Coatl holds for each seat, as numbers."""

from cext.games.coatl.state cimport CoatlStateC

cdef enum:
    NUM_FEATURES = 28

# The features of a seat; `evaluation.pyx` says what they are.
cdef void evaluation_features(const CoatlStateC* state, int seat, float* features) noexcept nogil

# Weighted sum of a seat's own features: about its final score.
cdef float evaluation_outlook(const CoatlStateC* state, int seat) noexcept nogil

# See GameOps.evaluate.
cdef void evaluation_evaluate(const CoatlStateC* state, double* values, double* points) noexcept nogil
