"""Heuristics of Tzolk'in: the random player and the priors."""

from numpy.random cimport bitgen_t

from cext.core.contract.types cimport action_t
from cext.games.tzolkin.evaluation cimport TzolkinCacheC
from cext.games.tzolkin.state cimport TzolkinStateC

# GameOps.random_action: a uniform verb among those with a legal action, then a uniform action of that verb.
cdef action_t policy_random_action(const TzolkinStateC* state, bitgen_t* rng) noexcept nogil

# GameOps.policy; the weights are TzolkinWeightsC.
cdef void policy_priors(const void* weights, TzolkinCacheC* cache, const TzolkinStateC* state, const action_t* actions,
                        int n, float* priors) noexcept nogil
