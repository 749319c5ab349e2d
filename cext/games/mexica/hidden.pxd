"""What no seat of Mexica sees."""

from numpy.random cimport bitgen_t

from cext.games.mexica.state cimport MexicaStateC

# Draws the tokens of the second period anew, which no seat sees in the first; 0 if they are known.
cdef bint hidden_determinize(MexicaStateC* state, int viewer, bitgen_t* rng) noexcept nogil

# Deals the second period's tokens: those that are known, else drawn from the unseen ones.
cdef void hidden_chance(MexicaStateC* state, bitgen_t* rng) noexcept nogil
