"""Heuristics of Coatl: the random players and the priors."""

from numpy.random cimport bitgen_t

from cext.core.contract.types cimport action_t
from cext.games.coatl.evaluation cimport CoatlCacheC
from cext.games.coatl.state cimport CoatlStateC

# GameOps.random_action: a uniform verb among those with a legal action, then a uniform action of that verb.
cdef action_t policy_random_action(const CoatlStateC* state, bitgen_t* rng) noexcept nogil

# GameOps.playout_action: a uniform action among those of the highest rank: play, temple, close or end, take or draw,
# ...
cdef action_t policy_playout_action(const CoatlStateC* state, bitgen_t* rng) noexcept nogil

# GameOps.policy; the weights are CoatlWeightsC.
cdef void policy_priors(const void* weights, CoatlCacheC* cache, const CoatlStateC* state, const action_t* actions,
                        int n, float* priors) noexcept nogil
