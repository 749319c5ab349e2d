"""Heuristics of Mexica: the random players and the priors."""

from libc.stdint cimport uint64_t
from numpy.random cimport bitgen_t

from cext.core.contract.types cimport action_t
from cext.games.mexica.state cimport MexicaStateC

cdef enum:
    CANALS_KEPT = 16384         # of a cache, a power of 2

# GameOps.cache_size.
ctypedef struct MexicaCacheC:
    uint64_t canals[CANALS_KEPT]    # of a canal that may divide: its key; the lowest 8 bits are its category

# GameOps.random_action: founds whenever possible. Else it chooses a kind of action (a verb; `end` and `teleport` only
# if there is no other) uniformly, then an action of that kind uniformly. Placement: a uniform starting space.
cdef action_t policy_random_action(const MexicaStateC* state, bitgen_t* rng) noexcept nogil

# GameOps.playout_action: usually founds if it can, else builds the largest temple that it can pay where temples pay,
# else plays as the random player.
cdef action_t policy_playout_action(const MexicaStateC* state, bitgen_t* rng) noexcept nogil

# GameOps.begin_search: remembers the tokens taken before the search, see `tokens_before`.
cdef void policy_begin_search(MexicaStateC* state) noexcept nogil

# GameOps.policy; the weights are MexicaWeightsC.
cdef void policy_priors(const void* weights, MexicaCacheC* cache, const MexicaStateC* state, const action_t* actions,
                        int n, float* priors) noexcept nogil
