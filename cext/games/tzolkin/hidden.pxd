"""A seat's knowledge of the tiles that are dealt and kept in secret."""

from libc.stdint cimport uint32_t
from numpy.random cimport bitgen_t

from cext.games.tzolkin.state cimport TzolkinStateC

# Deals the other seats wealth tiles that `viewer` has not seen, uniformly; 0 if nothing is hidden from it.
cdef bint hidden_determinize(TzolkinStateC* state, int viewer, const void* belief, bitgen_t* rng) noexcept nogil

# In phase KEEPING, in the view of a seat that is not to move: deals like `hidden_determinize`, but the two tiles in
# `pair` to the seat to move; 0, and the state as it was, if the viewer has seen one of them elsewhere.
cdef bint hidden_deal_for(TzolkinStateC* state, int viewer, uint32_t pair, bitgen_t* rng) noexcept nogil
