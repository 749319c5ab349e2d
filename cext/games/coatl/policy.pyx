"""Heuristics of Coatl: random players, playouts, priors; contracts in ``policy.pxd``. They never change the rules."""

from libc.math cimport expf, logf
from libc.stdint cimport uint8_t
from libc.string cimport memcpy, memset

from cext.core.contract.game cimport State
from cext.core.contract.sets cimport set_first, set_member, set_size
from cext.core.learning.priors cimport priors_inputs
from cext.core.contract.rng cimport rng_below
from cext.core.learning.scorer cimport SCORER_OWN, ScorerInputsC, scorer_apply, scorer_choose, scorer_find_t
from cext.games.coatl.cards cimport NUM_COLORS, NUM_PAIRS, PAIR_A, PAIR_B
from cext.games.coatl.evaluation cimport CoatlCacheC, evaluation_outlook
from cext.games.coatl.rules cimport (MAX_ACTIONS, rules_apply_action, rules_candidates, rules_is_legal,
                                     rules_verbs)
from cext.games.coatl.state cimport (ADD, BODY, CLOSE, COATLS, DISCARD, DRAW, END, HEAD, KEEP, NO_CARD, PERFECT_PICK,
                                     PLAY, PRIESTS_PROMISE, SEE_THE_FUTURE, START, TAIL, TAKE, TEMPLE, CoatlC,
                                     CoatlStateC, TableC, action_a, action_b, action_card, action_coatl, action_kind,
                                     action_verb, state_coatl, state_num_stored)
from cext.games.coatl.weights cimport *


cdef action_t policy_random_action(const CoatlStateC* state, bitgen_t* rng) noexcept nogil:
    # An illegal candidate, or a verb without a legal one, is removed and another one drawn. The choice stays uniform.
    cdef action_t candidates[MAX_ACTIONS]    # of one verb
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


# What a hasty but sensible player does, the first that is possible, as sets of verbs. With fewer than two prophecies in
# hand it draws before it takes.
cdef enum:
    NUM_WISHES = 7
cdef int[NUM_WISHES] WISHES
WISHES[:] = [1 << PLAY, 1 << TEMPLE, 1 << CLOSE | 1 << END | 1 << KEEP, 1 << TAKE, 1 << DRAW, 1 << START | 1 << ADD, -1]
cdef enum:
    TAKES = 3                   # places of two of them
    DRAWS = 4


cdef action_t policy_playout_action(const CoatlStateC* state, bitgen_t* rng) noexcept nogil:
    # Only the actions of the best verbs are listed.
    cdef action_t actions[MAX_ACTIONS]
    cdef int i, j, wish, wanted, count, verb, n = 0, verbs = rules_verbs(state)
    cdef bint draws_first = state.table.num_hand[state.table.to_move] < 2
    for i in range(NUM_WISHES):
        wish = i
        if draws_first and (i == TAKES or i == DRAWS):
            wish = TAKES + DRAWS - i
        wanted = verbs & WISHES[wish]
        while wanted:
            verb = set_first(wanted)
            wanted &= wanted - 1
            verbs &= ~(1 << verb)
            count = n + rules_candidates(state, verb, actions + n)
            for j in range(n, count):
                actions[n] = actions[j]
                n += rules_is_legal(state, actions[j])
        if n > 0:
            break
    return actions[rng_below(rng, n)]


# --- priors
#
# The prior of an action falls with the gap between the seat's outlook after it and after the best action. Weights by
# kind of action, gap and phase of the turn can correct that; the weights in the package are all 1.

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
                     float* shares, float* outlooks, float* best) noexcept nogil:
    """Find the category of each legal action and its share of the category's weight; return the row of the weights.

    `outlooks`: of the seat after each action; `best`: the highest of them.
    """
    cdef CoatlStateC after
    cdef int i, seat = state.table.to_move
    # Without the lists of what was observed, which no outlook reads.
    cdef size_t size = sizeof(CoatlStateC) - sizeof(after.observed) - sizeof(after.observed_faces)
    best[0] = -1e9
    for i in range(n):
        memcpy(&after, state, size)
        rules_apply_action(&after, actions[i])
        outlooks[i] = evaluation_outlook(&after, seat, cache)
        if action_verb(actions[i]) == DRAW:
            outlooks[i] += DRAWING_VALUE
        best[0] = max(best[0], outlooks[i])
    for i in range(n):
        categories[i] = _kind(actions[i]) * NUM_GAPS + _gap(best[0] - outlooks[i])
        shares[i] = expf((outlooks[i] - best[0]) / TEMPERATURE)
    return state.table.phase


cdef void _look(const void* weights, CoatlCacheC* cache, const CoatlStateC* state, const action_t* actions, int n,
                float* priors, ScorerInputsC* inputs) noexcept nogil:
    """Find the priors without a learnt policy, and what a policy reads unless `inputs` is NULL."""
    cdef int categories[MAX_ACTIONS]    # of a list of legal actions, as the next one
    cdef float outlooks[MAX_ACTIONS]
    cdef float best
    cdef int i, group = _categorize(state, cache, actions, n, categories, priors, outlooks, &best)
    cdef const float* row = (<const CoatlWeightsC*>weights).priors[group]
    for i in range(n):
        priors[i] *= row[categories[i]]
    if inputs != NULL:
        scorer_choose(categories, priors, n, NUM_FEATURES, inputs)
        _describe(state, cache, actions, n, outlooks, best, inputs)


cdef void policy_priors(const void* weights, CoatlCacheC* cache, const CoatlStateC* state, const action_t* actions,
                        int n, float* priors) noexcept nogil:
    cdef ScorerInputsC inputs
    cdef bint is_learnt = (<const CoatlWeightsC*>weights).has_policy != 0
    _look(weights, cache, state, actions, n, priors, &inputs if is_learnt else NULL)
    if is_learnt:
        scorer_apply((<const CoatlWeightsC*>weights).policy, NUM_SUMMARY, NUM_CATEGORIES, NUM_FEATURES, &inputs,
                     priors)


# --- what a learnt policy reads

cdef inline int _total(const uint8_t* counts) noexcept nogil:
    """Return the sum of the counts of all colours."""
    cdef int color, total = 0
    for color in range(NUM_COLORS):
        total += counts[color]
    return total


cdef void _describe_coatls(const CoatlStateC* state, int seat, float* summary) noexcept nogil:
    """Describe the Coatls of the seat to move."""
    cdef const CoatlC* coatl
    cdef const CoatlC* longest[2]       # the unfinished ones, MAX_UNFINISHED at most
    cdef float* out
    cdef int number, k, count = 0, closed = 0
    for number in range(COATLS):
        coatl = state_coatl(state, seat, number)
        if coatl.closed:
            closed += 1
        elif coatl.length > 0 and count < 2:
            longest[count] = coatl
            count += 1
    if count == 2 and longest[0].length < longest[1].length:
        longest[0], longest[1] = longest[1], longest[0]
    summary[SUMMARY_CLOSED] = closed / <float>3
    summary[SUMMARY_UNFINISHED] = count / <float>2
    for k in range(count):
        out = summary + (SUMMARY_FIRST_LENGTH if k == 0 else SUMMARY_SECOND_LENGTH)
        out[0] = longest[k].length / <float>8
        out[1] = longest[k].has_head
        out[2] = longest[k].has_tail
        out[3] = longest[k].num_cards / <float>4
        out[4] = longest[k].temple != NO_CARD


cdef void _describe_rivals(const CoatlStateC* state, int seat, float* summary) noexcept nogil:
    """Describe the rivals by what all seats see of them."""
    cdef const CoatlC* coatl
    cdef int rival, number, closed
    for rival in range(state.table.num_players):
        if rival == seat:
            continue
        closed = 0
        for number in range(COATLS):
            coatl = state_coatl(state, rival, number)
            closed += coatl.closed
            if not coatl.closed:
                summary[SUMMARY_RIVALS_LENGTH] = max(summary[SUMMARY_RIVALS_LENGTH], coatl.length / <float>8)
        summary[SUMMARY_RIVALS_CLOSED] = max(summary[SUMMARY_RIVALS_CLOSED], closed / <float>3)
        summary[SUMMARY_RIVALS_STORED] = max(summary[SUMMARY_RIVALS_STORED],
                                             state_num_stored(state, rival) / <float>8)


cdef void _describe(const CoatlStateC* state, CoatlCacheC* cache, const action_t* actions, int n, const float* outlooks,
                    float best, ScorerInputsC* inputs) noexcept nogil:
    """Describe the decision and the chosen actions."""
    cdef const TableC* table = &state.table
    cdef int i, seat = table.to_move, tokens = table.tokens[seat]
    cdef float* summary = inputs.summary
    cdef float now = evaluation_outlook(state, seat, cache)
    memset(summary, 0, NUM_SUMMARY * sizeof(float))
    summary[SUMMARY_KEEPING + table.phase] = 1
    summary[SUMMARY_THREE_SEATS] = table.num_players == 3
    summary[SUMMARY_FOUR_SEATS] = table.num_players == 4
    summary[SUMMARY_ROUND] = table.round / <float>20
    summary[SUMMARY_ENDING] = table.ending != 0
    summary[SUMMARY_TWO_ACTIONS] = table.actions_left == 2
    summary[SUMMARY_DECK] = state.num_deck / <float>40
    summary[SUMMARY_BODIES] = _total(state.bag[BODY]) / <float>60
    summary[SUMMARY_SUPPLY_HEADS] = _total(table.supply[HEAD]) / <float>2
    summary[SUMMARY_SUPPLY_TAILS] = _total(table.supply[TAIL]) / <float>2
    for i in range(NUM_PAIRS):
        summary[SUMMARY_SUPPLY_PAIRS] += table.pairs[i] / <float>6
    summary[SUMMARY_HAND] = table.num_hand[seat] / <float>5
    summary[SUMMARY_TEMPLES] = table.num_temples[seat] / <float>2
    summary[SUMMARY_STORED_HEADS] = _total(table.stored[seat][HEAD]) / <float>2
    summary[SUMMARY_STORED_TAILS] = _total(table.stored[seat][TAIL]) / <float>2
    summary[SUMMARY_STORED_BODIES] = _total(table.stored[seat][BODY]) / <float>8
    summary[SUMMARY_PERFECT_PICK] = tokens & PERFECT_PICK != 0
    summary[SUMMARY_SEE_THE_FUTURE] = tokens & SEE_THE_FUTURE != 0
    summary[SUMMARY_PRIESTS_PROMISE] = tokens & PRIESTS_PROMISE != 0
    _describe_coatls(state, seat, summary)
    _describe_rivals(state, seat, summary)
    summary[SUMMARY_OUTLOOK] = now / 20
    summary[SUMMARY_GAIN] = (best - now) / 4
    summary[SUMMARY_ACTIONS] = logf(n) / 4
    for i in range(inputs.count):
        _describe_action(state, actions[inputs.chosen[i]], inputs.features + i * NUM_FEATURES + SCORER_OWN)
        inputs.features[i * NUM_FEATURES + SCORER_OWN + ACTION_GAIN] = (outlooks[inputs.chosen[i]] - now) / 4
        inputs.features[i * NUM_FEATURES + SCORER_OWN + ACTION_LOSS] = (best - outlooks[inputs.chosen[i]]) / 4


cdef void _describe_action(const CoatlStateC* state, action_t action, float* out) noexcept nogil:
    """Write the features of an action that do not depend on the outlook."""
    cdef const TableC* table = &state.table
    cdef const CoatlC* coatl
    cdef int pair, seat = table.to_move, verb = action_verb(action)
    cdef int a = action_a(action), b = action_b(action), stored = state_num_stored(state, seat)
    cdef int hand = table.num_hand[seat]
    memset(out, 0, (NUM_FEATURES - SCORER_OWN) * sizeof(float))
    if verb == TAKE and action_kind(action) == BODY:
        out[ACTION_STORED] = (table.stored[seat][BODY][a] + table.stored[seat][BODY][b]) / <float>4
        for pair in range(NUM_PAIRS):
            out[ACTION_SUPPLIED] += table.pairs[pair] * ((PAIR_A[pair] == a) + (PAIR_B[pair] == a)
                                                         + (PAIR_A[pair] == b) + (PAIR_B[pair] == b)) / <float>4
    elif verb == TAKE:
        out[ACTION_STORED] = table.stored[seat][action_kind(action)][a] / <float>4
        out[ACTION_SUPPLIED] = table.supply[action_kind(action)][a] / <float>4
    elif verb == ADD or verb == PLAY or verb == TEMPLE or verb == CLOSE:
        coatl = state_coatl(state, seat, action_coatl(action))
        out[ACTION_LENGTH] = coatl.length / <float>8
        out[ACTION_HEAD] = coatl.has_head
        out[ACTION_TAIL] = coatl.has_tail
        out[ACTION_CARDS] = coatl.num_cards / <float>4
    if verb == TAKE:
        stored += 2 if action_kind(action) == BODY else 1
    elif verb == START or verb == ADD:
        stored -= 1
    hand += (verb == DRAW) - (verb == PLAY or verb == DISCARD)
    out[ACTION_STORED_AFTER] = stored / <float>8
    out[ACTION_HAND_AFTER] = hand / <float>5


NUM_ROWS = NUM_GROUPS       # of the weights of the categories


def policy_inputs(State owner not None, weights not None):
    """Return what a learnt policy reads of a decision of Coatl; see `priors_inputs` of ``priors.pxd``."""
    return priors_inputs(owner, weights, "coatl", NUM_SUMMARY, NUM_FEATURES, <scorer_find_t>_look)
