"""What is known of good play: the random player, the playouts' player, priors."""

from numpy.random cimport bitgen_t

from cext.core.types cimport action_t
from cext.games.coatl.state cimport CoatlStateC

cdef action_t policy_random_action(const CoatlStateC* state, bitgen_t* rng) noexcept nogil
cdef action_t policy_playout_action(const CoatlStateC* state, bitgen_t* rng) noexcept nogil
# The weights are CoatlWeightsC.
cdef void policy_priors(const void* weights, const CoatlStateC* state, const action_t* actions, int n,
                        float* priors) noexcept nogil
