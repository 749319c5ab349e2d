"""Hidden information of Mexica: the tokens of the second period, which no seat sees in the first."""

from numpy.random cimport bitgen_t

from cext.games.mexica.state cimport MexicaStateC

# GameOps.determinize: draws the tokens of the second period again, unless they are known.
cdef bint hidden_determinize(MexicaStateC* state, int viewer, const void* belief, bitgen_t* rng) noexcept nogil

# GameOps.chance: deals the tokens of the second period, drawn from the unseen ones unless they are known.
cdef void hidden_chance(MexicaStateC* state, bitgen_t* rng) noexcept nogil
