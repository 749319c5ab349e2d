"""Knowledge of Coatl, none of which decides what is legal."""

from cext.core.rng cimport rng_below
from cext.games.coatl.rules cimport MAX_ACTIONS, rules_legal_actions
from cext.games.coatl.state cimport NUM_VERBS, action_verb


cdef action_t policy_random_action(const CoatlStateC* state, bitgen_t* rng) noexcept nogil:
    # The reference random player: a verb, then an action of that verb. Actions of a verb follow each other.
    cdef action_t actions[MAX_ACTIONS]
    cdef int firsts[NUM_VERBS + 1]
    cdef int i, verb = 0, verbs = 0, n = rules_legal_actions(state, actions)
    for i in range(n):
        if action_verb(actions[i]) != verb:
            verb = action_verb(actions[i])
            firsts[verbs] = i
            verbs += 1
    firsts[verbs] = n
    verb = rng_below(rng, verbs)
    return actions[firsts[verb] + rng_below(rng, firsts[verb + 1] - firsts[verb])]
