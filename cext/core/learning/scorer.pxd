"""The learnt policy: a small network that scores the actions with the best priors, in one form for all games.

A game describes a decision by a *summary*, a few numbers that depend on what the seat to move knows, and each action by
its category (`cext.core.learning.priors`) and a few features. The prior of a scored action is multiplied by the
exponential of its score; the sum over the scored actions stays, and the other actions keep theirs. So scores of 0
change nothing.

The weights are one array of floats, as `scorer_shapes` lists them: a layer over the summary (`policy_state`,
`policy_state_bias`), which is computed once a decision; a layer over an action, which adds up what comes from there
(`policy_node`), the row of its category (`policy_category`) and its features (`policy_action`); and the weights of
these units in the score (`policy_out`). Units are rectified.
"""

from cext.core.contract.types cimport action_t

cdef enum:
    SCORER_MOST = 48            # actions that are scored
    SCORER_HIDDEN = 32          # units of each layer
    SCORER_SUMMARY = 64         # longest summary
    SCORER_FEATURES = 16        # most features of an action
    # The first features of an action, which are the same in all games; a game's own follow.
    SCORER_SHARE = 0            # logarithm of its share of all priors / 4
    SCORER_BEHIND = 1           # logarithm of its prior, less that of the best one / 4
    SCORER_OWN = 2


# The number of weights.
cdef inline int scorer_size(int summary, int categories, int features) noexcept nogil:
    return (summary + 1 + SCORER_HIDDEN + categories + features + 1) * SCORER_HIDDEN


# What the network reads of a decision.
ctypedef struct ScorerInputsC:
    int count                   # of the scored actions
    int chosen[SCORER_MOST]     # their indexes
    int categories[SCORER_MOST]
    float summary[SCORER_SUMMARY]
    float features[SCORER_MOST * SCORER_FEATURES]   # one row after another, without gaps

# Chooses the actions to score: those with the best priors above 0, the first ones among equals. Writes `chosen`,
# `categories` and the features that all games have; a row has `features` numbers.
cdef void scorer_choose(const int* categories, const float* priors, int n, int features,
                        ScorerInputsC* inputs) noexcept nogil

# Changes the priors of the scored actions.
cdef void scorer_apply(const float* weights, int summary, int categories, int features, const ScorerInputsC* inputs,
                       float* priors) noexcept nogil

# Writes the priors without scores, and the inputs, of the n legal actions of a state. `cache` may be NULL.
ctypedef void (*scorer_find_t)(const void* weights, void* cache, const void* state, const action_t* actions, int n,
                               float* priors, ScorerInputsC* inputs) noexcept nogil
