"""Heuristics of Coatl: random players, playouts, priors; contracts in ``policy.pxd``. They never change the rules."""

from libc.math cimport expf
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from cext.core.game cimport State
from cext.core.priors cimport priors_categorize, priors_find_t
from cext.core.rng cimport rng_below
from cext.games.coatl.evaluation cimport CoatlCacheC, evaluation_outlook
from cext.games.coatl.rules cimport (MAX_ACTIONS, rules_apply_action, rules_candidates, rules_is_legal,
                                     rules_legal_actions, rules_verbs)
from cext.games.coatl.state cimport (ADD, BODY, CLOSE, DRAW, END, KEEP, PLAY, START, TAKE, TEMPLE,
                                     CoatlStateC, action_card, action_kind, action_verb, set_member, set_size)
from cext.games.coatl.weights cimport *


cdef action_t policy_random_action(const CoatlStateC* state, bitgen_t* rng) noexcept nogil:
    # An illegal candidate, or a verb without a legal one, is removed and another one drawn. The choice stays uniform.
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
    """Return the rank of a verb: what a hasty but sensible player does first has the highest."""
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


# --- priors
#
# The prior of an action falls with the gap between the seat's outlook after it and after the best action. Weights by
# kind of action, gap and phase of the turn can correct that. `mexica_ai.train.priors` fits them to the choices of the
# search; the weights in the package are all 1.

cdef float TEMPERATURE = 1.5    # of the outlook
cdef float DRAWING_VALUE = 0.3  # of drawing, added to the outlook
# Limits of the gaps, in units of the outlook.
cdef float CLOSE_BEHIND = 0.75
cdef float FAR_BEHIND = 2.5


cdef inline int _kind(action_t action) noexcept nogil:
    """Return the kind of an action."""
    cdef int verb = action_verb(action)
    if verb == KEEP:
        return KIND_KEEP
    if verb == TAKE:
        return KIND_TAKE_BODIES if action_kind(action) == BODY else KIND_TAKE_BODIES + 1 + action_kind(action)
    if verb == DRAW:
        return KIND_DRAW_UNSEEN if action_card(action, 0) < 0 else KIND_DRAW
    return KIND_START + verb - START


cdef inline int _gap(float behind) noexcept nogil:
    """Return the category of a gap to the best outlook."""
    if behind < 0.01:
        return GAP_BEST
    if behind < CLOSE_BEHIND:
        return GAP_NEAR
    return GAP_BEHIND if behind < FAR_BEHIND else GAP_FAR


cdef int _categorize(const CoatlStateC* state, CoatlCacheC* cache, const action_t* actions, int n, int* categories,
                     float* shares) noexcept nogil:
    """Find the category of each legal action and its share of the category's weight; return the row of the weights."""
    cdef CoatlStateC after
    cdef int i, seat = state.table.to_move
    cdef float best = -1e9
    for i in range(n):
        memcpy(&after, state, sizeof(CoatlStateC))
        rules_apply_action(&after, actions[i])
        shares[i] = evaluation_outlook(&after, seat, cache)
        if action_verb(actions[i]) == DRAW:
            shares[i] += DRAWING_VALUE
        best = max(best, shares[i])
    for i in range(n):
        categories[i] = _kind(actions[i]) * NUM_GAPS + _gap(best - shares[i])
        shares[i] = expf((shares[i] - best) / TEMPERATURE)
    return state.table.phase


cdef void policy_priors(const void* weights, CoatlCacheC* cache, const CoatlStateC* state, const action_t* actions,
                        int n, float* priors) noexcept nogil:
    cdef int categories[MAX_ACTIONS]
    cdef int i, group = _categorize(state, cache, actions, n, categories, priors)
    cdef const float* row = (<const CoatlWeightsC*>weights).priors[group]
    for i in range(n):
        priors[i] *= row[categories[i]]


cdef int _categorize_anew(const void* weights, const CoatlStateC* state, const action_t* actions, int n,
                          int* categories, float* shares) noexcept nogil:
    """Do the same without a cache; the weights do not matter."""
    return _categorize(state, NULL, actions, n, categories, shares)


def categorize(State owner not None, weights not None):
    """Return the legal actions of a position, with their categories and shares.

    Parameters
    ----------
    owner : State
        Of Coatl.
    weights : Weights
        Of Coatl.

    Returns
    -------
    tuple of (int, numpy.ndarray, numpy.ndarray, numpy.ndarray)
        The row of the weights to use; and, each of shape (actions,): the actions (uint64, ascending), the index of
        their category (int32), and their share of the category's weight (float32, >= 0).

    Raises
    ------
    TypeError
        If the state or the weights are of another game.
    """
    return priors_categorize(owner, weights, "coatl", <priors_find_t>_categorize_anew)


NUM_ROWS = NUM_GROUPS       # of the weights of the categories
