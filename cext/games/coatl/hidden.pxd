"""A seat's knowledge of the hidden cards."""

from numpy.random cimport bitgen_t

from cext.core.contract.types cimport action_t
from cext.games.coatl.belief cimport CoatlBeliefC
from cext.games.coatl.state cimport CoatlStateC

# Deals the cards that `viewer` cannot place anew, of all that fits what it has seen, each world in proportion to its
# weight by the belief (NULL: each as likely); 0 if it knows all.
cdef bint hidden_determinize(CoatlStateC* state, int viewer, const CoatlBeliefC* belief, bitgen_t* rng) noexcept nogil

# Deals what `viewer` does not see so that an action of another seat is legal, or an outcome of the random event that is
# due can happen; 0 if that is so in no world that fits what it has seen: some world is dealt then. Exact; the world is
# no uniform draw.
cdef bint hidden_deal_for(CoatlStateC* state, int viewer, action_t action, bitgen_t* rng) noexcept nogil
