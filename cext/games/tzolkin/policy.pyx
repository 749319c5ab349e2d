"""Heuristics of Tzolk'in: the random player and the priors; contracts in ``policy.pxd``.

They never change the rules.
"""

from libc.math cimport expf
from libc.stdint cimport uint32_t
from libc.string cimport memcpy

from cext.core.game cimport State
from cext.core.priors cimport priors_categorize, priors_find_t
from cext.core.rng cimport rng_below
from cext.games.tzolkin.evaluation cimport AT_ONCE, BeforeC, evaluation_after, evaluation_look
from cext.games.tzolkin.rules cimport MAX_ACTIONS, rules_actions_of, rules_apply_action, rules_verbs
from cext.games.tzolkin.state cimport *
from cext.games.tzolkin.weights cimport *


cdef action_t policy_random_action(const TzolkinStateC* state, bitgen_t* rng) noexcept nogil:
    cdef action_t actions[MAX_ACTIONS]
    cdef int n, verbs = rules_verbs(state)
    n = rules_actions_of(state, set_member(verbs, rng_below(rng, set_size(verbs))), actions)
    return actions[rng_below(rng, n)]


# --- priors
#
# The prior of an action falls with the gap between the seat's advantage after it and after the best action, as the
# evaluation sees them. Weights by kind of action, gap and number of food days held can correct that.
# `mexica_ai.train.priors` fits them to the choices of the search.

cdef float TEMPERATURE = 1.5    # of the advantage, about in points
# Limits of the gaps, in the same unit.
cdef float NEAR_BEHIND = 0.5
cdef float FAR_BEHIND = 2
# Amounts at the market: all of them up to MANY, from there on only the largest.
cdef enum:
    MANY = 3


cdef inline int _kind(action_t action) noexcept nogil:
    cdef int verb = action_verb(action)
    if verb == PLACE:
        return KIND_PLACE_PALENQUE + action_gear(action)
    if verb == PICK:
        return KIND_PICK_PALENQUE + action_gear(action) if action_used(action) > 0 else KIND_PICK_NOTHING
    if verb == KEEP or verb == BEG:
        return KIND_KEEP + verb - KEEP
    return KIND_HARVEST + verb - HARVEST


cdef inline int _gap(float behind) noexcept nogil:
    """Return the category of a gap to the best action."""
    if behind < <float>0.01:
        return GAP_BEST
    if behind < NEAR_BEHIND:
        return GAP_NEAR
    return GAP_BEHIND if behind < FAR_BEHIND else GAP_FAR


cdef inline bint _is_middling(const action_t* actions, int i, int n) noexcept nogil:
    """Return whether an action is a trade of more than MANY, and the next one the same with one more."""
    cdef int verb = action_verb(actions[i])
    return ((verb == SELL or verb == BUY) and action_number(actions[i]) > MANY and i + 1 < n
            and actions[i + 1] == actions[i] + 1)


cdef inline void _play(const TzolkinStateC* state, action_t action, TzolkinStateC* after) noexcept nogil:
    """Find the position after an action, as far as its seat may know it."""
    memcpy(after, state, sizeof(TzolkinStateC))
    if state.phase == KEEPING:          # the last seat's choice would show those of the others
        after.seats[state.to_move].wealth = (<uint32_t>1 << action_tile(action)
                                             | <uint32_t>1 << action_second_tile(action))
    else:
        rules_apply_action(after, action)


cdef int _categorize(const void* data, const TzolkinStateC* state, const action_t* actions, int n, int* categories,
                     float* shares) noexcept nogil:
    """Find the category of each legal action and its share of the category's weight; return the row of the weights."""
    cdef TzolkinStateC after[AT_ONCE]
    cdef int looked_at[AT_ONCE]         # the actions that led to them
    cdef float advantages[AT_ONCE]
    cdef BeforeC before
    cdef int i, j, count = 0, seat = state.to_move
    cdef float best = -1e9
    evaluation_look(state, &before)
    for i in range(n):
        categories[i] = _kind(actions[i]) * NUM_GAPS
        shares[i] = -1e9
        if not _is_middling(actions, i, n):
            _play(state, actions[i], &after[count])
            looked_at[count] = i
            count += 1
        if count == AT_ONCE or (count > 0 and i == n - 1):
            evaluation_after(data, after, count, seat, &before, advantages)
            for j in range(count):
                shares[looked_at[j]] = advantages[j]
                best = max(best, advantages[j])
            count = 0
    for i in range(n):
        categories[i] += _gap(best - shares[i])
        shares[i] = expf((shares[i] - best) / TEMPERATURE)
    return min(state.food_days, NUM_GROUPS - 1)


cdef void policy_priors(const void* weights, void* cache, const TzolkinStateC* state, const action_t* actions, int n,
                        float* priors) noexcept nogil:
    cdef int categories[MAX_ACTIONS]
    cdef int i, group = _categorize(weights, state, actions, n, categories, priors)
    cdef const float* row = (<const TzolkinWeightsC*>weights).priors[group]
    for i in range(n):
        priors[i] *= row[categories[i]]


def categorize(State owner not None, weights not None):
    """Return the legal actions of a position, with their categories and shares.

    Parameters
    ----------
    owner : State
        Of Tzolk'in.
    weights : Weights
        Of Tzolk'in.

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
    return priors_categorize(owner, weights, "tzolkin", <priors_find_t>_categorize)


NUM_ROWS = NUM_GROUPS       # of the weights of the categories
