"""What a seat knows of the hidden cards."""

from numpy.random cimport bitgen_t

from cext.games.coatl.state cimport CoatlStateC

# Deals the cards that `viewer` cannot place anew, uniformly among all that fits what it has seen; 0 if it knows all.
cdef bint hidden_determinize(CoatlStateC* state, int viewer, bitgen_t* rng) noexcept nogil
