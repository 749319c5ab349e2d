"""Knowledge of Tzolk'in, none of which decides what is legal."""

from cext.core.rng cimport rng_below
from cext.games.tzolkin.rules cimport MAX_ACTIONS, rules_actions_of, rules_verbs
from cext.games.tzolkin.state cimport set_member, set_size


cdef action_t policy_random_action(const TzolkinStateC* state, bitgen_t* rng) noexcept nogil:
    cdef action_t actions[MAX_ACTIONS]
    cdef int n, verbs = rules_verbs(state)
    n = rules_actions_of(state, set_member(verbs, rng_below(rng, set_size(verbs))), actions)
    return actions[rng_below(rng, n)]
