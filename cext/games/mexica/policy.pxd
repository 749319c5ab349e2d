"""Knowledge of Mexica: the random players and priors. Contracts as in GameOps."""

from numpy.random cimport bitgen_t

from cext.core.types cimport action_t
from cext.games.mexica.state cimport MexicaStateC

# The reference random player: founds whenever possible; else a kind of action (a verb; `end` and `teleport` only if
# there is no other), uniformly, then an action of that kind, uniformly. Placement: a uniform start.
cdef action_t policy_random_action(const MexicaStateC* state, bitgen_t* rng) noexcept nogil

cdef action_t policy_playout_action(const MexicaStateC* state, bitgen_t* rng) noexcept nogil
cdef void policy_begin_search(MexicaStateC* state) noexcept nogil
# The weights are MexicaWeightsC.
cdef void policy_priors(const void* weights, const MexicaStateC* state, const action_t* actions, int n,
                        float* priors) noexcept nogil
