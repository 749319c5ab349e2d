"""Knowledge of Coatl, none of which decides what is legal."""

from libc.math cimport expf
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from cext.core.rng cimport rng_below
from cext.games.coatl.evaluation cimport evaluation_outlook
from cext.games.coatl.rules cimport (MAX_ACTIONS, rules_apply_action, rules_candidates, rules_is_legal,
                                      rules_legal_actions, rules_verbs)
from cext.games.coatl.state cimport (ADD, CLOSE, DRAW, END, KEEP, PLAY, START, TAKE, TEMPLE, action_verb,
                                     set_member, set_size)


cdef action_t policy_random_action(const CoatlStateC* state, bitgen_t* rng) noexcept nogil:
    # The reference random player: a verb, then an action of that verb. A candidate that turns out to be no action,
    # and a verb without any, is struck off and another one drawn: the others stay as likely as each other.
    cdef action_t candidates[MAX_ACTIONS]
    cdef int verb, i, n, verbs = rules_verbs(state)
    while True:
        verb = set_member(verbs, rng_below(rng, set_size(verbs)))
        n = rules_candidates(state, verb, candidates)
        while n > 0:
            i = rng_below(rng, n) if n > 1 else 0
            if rules_is_legal(state, candidates[i]):
                return candidates[i]
            n -= 1
            candidates[i] = candidates[n]
        verbs &= ~(1 << verb)


cdef inline int _rank(int verb, int hand) noexcept nogil:
    # What a hasty but sensible player does first.
    if verb == PLAY:
        return 9
    if verb == TEMPLE:
        return 8
    if verb == CLOSE or verb == END or verb == KEEP:
        return 7
    if verb == TAKE:
        return 6 if hand >= 2 else 5
    if verb == DRAW:
        return 5 if hand >= 2 else 6
    return 1 if verb == ADD or verb == START else 0


cdef action_t policy_playout_action(const CoatlStateC* state, bitgen_t* rng) noexcept nogil:
    # Any of the actions of the highest rank.
    cdef action_t actions[MAX_ACTIONS]
    cdef uint8_t ranks[MAX_ACTIONS]
    cdef int i, k, best = 0, count = 0, n = rules_legal_actions(state, actions)
    for i in range(n):
        ranks[i] = <uint8_t>_rank(action_verb(actions[i]), state.table.num_hand[state.table.to_move])
        if ranks[i] > best:
            best = ranks[i]
            count = 0
        count += ranks[i] == best
    k = rng_below(rng, count)
    i = 0
    while ranks[i] != best or k > 0:
        k -= ranks[i] == best
        i += 1
    return actions[i]


cdef float _TEMPERATURE = 1.5


cdef void policy_priors(const CoatlStateC* state, const action_t* actions, int n, float* priors) noexcept nogil:
    # What each action does to the mover's own outlook.
    cdef CoatlStateC after
    cdef int i, seat = state.table.to_move
    cdef float best = -1e9
    for i in range(n):
        memcpy(&after, state, sizeof(CoatlStateC))
        rules_apply_action(&after, actions[i])
        priors[i] = evaluation_outlook(&after, seat)
        if action_verb(actions[i]) == DRAW:
            priors[i] += 0.3
        best = max(best, priors[i])
    for i in range(n):
        priors[i] = expf((priors[i] - best) / _TEMPERATURE)
