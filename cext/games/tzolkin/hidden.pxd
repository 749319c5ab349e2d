"""What a seat knows of the tiles that are dealt and kept in secret."""

from numpy.random cimport bitgen_t

from cext.games.tzolkin.state cimport TzolkinStateC

# Deals the other seats wealth tiles that `viewer` has not seen, uniformly; 0 if nothing is hidden from it.
cdef bint hidden_determinize(TzolkinStateC* state, int viewer, bitgen_t* rng) noexcept nogil
