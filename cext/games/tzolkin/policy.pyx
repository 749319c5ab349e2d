"""Heuristics of Tzolk'in: the random player and the priors; contracts in ``policy.pxd``.

They never change the rules.
"""

from libc.math cimport expf, logf
from libc.stdint cimport uint32_t
from libc.string cimport memcpy, memset

from cext.core.contract.game cimport State
from cext.core.contract.sets cimport set_first, set_member, set_size
from cext.core.learning.priors cimport priors_inputs
from cext.core.contract.rng cimport rng_below
from cext.core.learning.scorer cimport SCORER_OWN, ScorerInputsC, scorer_apply, scorer_choose, scorer_find_t
from cext.games.tzolkin.evaluation cimport AT_ONCE, BeforeC, TzolkinCacheC, evaluation_after, evaluation_look
from cext.games.tzolkin.rules cimport MAX_ACTIONS, rules_actions_of, rules_apply_action, rules_verbs
from cext.games.tzolkin.state cimport *
from cext.games.tzolkin.weights cimport *


cdef action_t policy_random_action(const TzolkinStateC* state, bitgen_t* rng) noexcept nogil:
    cdef action_t actions[MAX_ACTIONS]  # see rules.pxd
    cdef int n, verbs = rules_verbs(state)
    n = rules_actions_of(state, set_member(verbs, rng_below(rng, set_size(verbs))), actions)
    return actions[rng_below(rng, n)]


# --- priors
#
# The prior of an action falls with the gap between the seat's advantage after it and after the best action, as the
# evaluation sees them. Weights by kind of action, gap and number of food days held can correct that.
# They were fitted to the choices of searches.

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


cdef int _categorize(const void* data, TzolkinCacheC* cache, const TzolkinStateC* state, const action_t* actions, int n,
                     int* categories, float* shares, float* losses) noexcept nogil:
    """Find the category of each legal action and its share of the category's weight; return the row of the weights.

    `losses`: what each action lacks to the best one, in the advantage; large for actions that are left out.
    """
    cdef TzolkinStateC after[AT_ONCE]   # emptied whenever it is full
    cdef int looked_at[AT_ONCE]         # the actions that led to them
    cdef float advantages[AT_ONCE]      # one of each
    cdef BeforeC before
    cdef int i, j, count = 0, seat = state.to_move
    cdef float best = -1e9
    evaluation_look(data, cache, state, &before)
    for i in range(n):
        categories[i] = _kind(actions[i]) * NUM_GAPS
        losses[i] = -1e9
        if not _is_middling(actions, i, n):
            _play(state, actions[i], &after[count])
            looked_at[count] = i
            count += 1
        if count == AT_ONCE or (count > 0 and i == n - 1):
            evaluation_after(data, cache, after, count, seat, &before, advantages)
            for j in range(count):
                losses[looked_at[j]] = advantages[j]
                best = max(best, advantages[j])
            count = 0
    for i in range(n):
        categories[i] += _gap(best - losses[i])
        shares[i] = expf((losses[i] - best) / TEMPERATURE)
        losses[i] = best - losses[i]
    return min(state.food_days, NUM_GROUPS - 1)


cdef void _look(const void* weights, TzolkinCacheC* cache, const TzolkinStateC* state, const action_t* actions, int n,
                float* priors, ScorerInputsC* inputs) noexcept nogil:
    """Find the priors without a learnt policy, and what a policy reads unless `inputs` is NULL."""
    cdef int categories[MAX_ACTIONS]    # of a list of legal actions, as the next one
    cdef float losses[MAX_ACTIONS]
    cdef int i, group = _categorize(weights, cache, state, actions, n, categories, priors, losses)
    cdef const float* row = (<const TzolkinWeightsC*>weights).priors[group]
    for i in range(n):
        priors[i] *= row[categories[i]]
    if inputs != NULL:
        scorer_choose(categories, priors, n, NUM_FEATURES, inputs)
        _describe(state, actions, n, losses, inputs)


cdef void policy_priors(const void* weights, TzolkinCacheC* cache, const TzolkinStateC* state, const action_t* actions,
                        int n, float* priors) noexcept nogil:
    cdef ScorerInputsC inputs
    cdef bint is_learnt = (<const TzolkinWeightsC*>weights).has_policy != 0
    _look(weights, cache, state, actions, n, priors, &inputs if is_learnt else NULL)
    if is_learnt:
        scorer_apply((<const TzolkinWeightsC*>weights).policy, NUM_SUMMARY, NUM_CATEGORIES, NUM_FEATURES, &inputs,
                     priors)


# --- what a learnt policy reads

cdef void _describe(const TzolkinStateC* state, const action_t* actions, int n, const float* losses,
                    ScorerInputsC* inputs) noexcept nogil:
    """Describe the decision and the chosen actions."""
    cdef int i, spaces, seat = state.to_move
    cdef const SeatC* own = &state.seats[seat]
    cdef float worst = 0
    cdef float* summary = inputs.summary
    cdef float* row
    memset(summary, 0, NUM_SUMMARY * sizeof(float))
    summary[SUMMARY_KEEPING + state.phase] = 1
    summary[SUMMARY_THREE_SEATS] = state.num_players == 3
    summary[SUMMARY_FOUR_SEATS] = state.num_players == 4
    summary[SUMMARY_DAYS] = (LAST_DAY - state.day) / <float>27
    if state.food_days < NUM_FOOD_DAYS:
        summary[SUMMARY_TO_FOOD] = max(0, FOOD_DAYS[state.food_days] - state.day) / <float>7
    summary[SUMMARY_FOOD_DAYS] = state.food_days / <float>4
    summary[SUMMARY_CORN] = own.corn / <float>10
    for i in range(NUM_BLOCKS):
        summary[SUMMARY_WOOD + i] = own.blocks[i] / <float>4
    summary[SUMMARY_SKULLS] = own.skulls / <float>2
    summary[SUMMARY_WORKERS] = own.workers / <float>6
    summary[SUMMARY_WORKERS_OUT] = state_workers_out(state, seat) / <float>6
    for i in range(NUM_GEARS):
        spaces = state_spaces(state, seat, i)
        summary[SUMMARY_ON_PALENQUE + i] = set_size(spaces) / <float>3
        while spaces & (spaces - 1):
            spaces &= spaces - 1
        if spaces != 0:
            summary[SUMMARY_BEST_PALENQUE + i] = (1 + set_first(spaces)) / <float>8
    for i in range(NUM_TRACKS):
        summary[SUMMARY_AGRICULTURE + i] = own.levels[i] / <float>3
    for i in range(NUM_TEMPLES):
        summary[SUMMARY_TEMPLE_1 + i] = own.temples[i] / <float>5
    summary[SUMMARY_LIGHT] = own.light
    summary[SUMMARY_PLACED] = state.placed / <float>6
    summary[SUMMARY_PENDING] = state.num_pending / <float>4
    summary[SUMMARY_START_TAKEN] = state.start_space != NO_SEAT
    summary[SUMMARY_TEETH] = state.teeth_corn / <float>5
    summary[SUMMARY_ACTIONS] = logf(n) / 4
    for i in range(inputs.count):
        row = inputs.features + i * NUM_FEATURES + SCORER_OWN
        _describe_action(actions[inputs.chosen[i]], row)
        row[ACTION_LOSS] = losses[inputs.chosen[i]] / 4
        worst = max(worst, losses[inputs.chosen[i]])
    summary[SUMMARY_SPREAD] = worst / 10


cdef void _describe_action(action_t action, float* out) noexcept nogil:
    """Write the features of an action that do not depend on the advantage."""
    cdef int kind, verb = action_verb(action), temple = action_temple(action), second = action_second_temple(action)
    memset(out, 0, (NUM_FEATURES - SCORER_OWN) * sizeof(float))
    out[ACTION_SPACE] = action_space(action) / <float>8
    out[ACTION_USED] = action_used(action) / <float>6
    if temple >= 0:
        out[ACTION_TEMPLE_1 + temple] = 1
    if second >= 0:
        out[ACTION_TEMPLE_1 + second] = 1
    for kind in range(NUM_BLOCKS):
        out[ACTION_BLOCKS] += action_blocks(action, kind) / <float>3
    out[ACTION_GOLD] = action_blocks(action, NUM_BLOCKS - 1) / <float>2
    out[ACTION_NUMBER] = min(action_number(action), 8) / <float>4
    out[ACTION_MONUMENT] = verb == BUILD and action_tile(action) >= NUM_BUILDINGS
    out[ACTION_TILE] = (action_tile(action) + 1) / <float>32


NUM_ROWS = NUM_GROUPS       # of the weights of the categories


def policy_inputs(State owner not None, weights not None):
    """Return what a learnt policy reads of a decision of Tzolk'in; see `priors_inputs` of ``priors.pxd``."""
    return priors_inputs(owner, weights, "tzolkin", NUM_SUMMARY, NUM_FEATURES, <scorer_find_t>_look)
