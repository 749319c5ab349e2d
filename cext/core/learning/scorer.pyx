"""The learnt policy; contracts in ``scorer.pxd``."""

from libc.math cimport expf, logf


cdef extern from "scorer.h" nogil:
    void scorer_scores(const float* weights, int n_summary, int num_categories, int n_features, const float* summary,
                       const int* categories, const float* features, int count, float* scores)

cdef float LEAST_LOG = -16.0    # of a share
cdef float MOST_SCALE = 1e30    # of the products of priors and scores, which sum up to the priors again


cdef inline bint _is_behind(const float* priors, int i, int j) noexcept nogil:
    """Return whether action i comes after action j."""
    return priors[i] < priors[j] or (priors[i] == priors[j] and i > j)


cdef void _sift_down(const float* priors, int* heap, int root, int n) noexcept nogil:
    """Restore the heap of n indexes below `root`; its top is the action that comes last."""
    cdef int child, moved = heap[root]
    while 2 * root + 1 < n:
        child = 2 * root + 1
        if child + 1 < n and _is_behind(priors, heap[child + 1], heap[child]):
            child += 1
        if not _is_behind(priors, heap[child], moved):
            break
        heap[root] = heap[child]
        root = child
    heap[root] = moved


cdef void scorer_choose(const int* categories, const float* priors, int n, int features,
                        ScorerInputsC* inputs) noexcept nogil:
    cdef int* heap = inputs.chosen
    cdef float* row
    cdef float total = 0, best = 0, log_total, log_best, log_prior
    cdef int i, root, count = 0
    for i in range(n):
        total += priors[i]
        best = max(best, priors[i])
        if priors[i] > 0:
            if count < SCORER_MOST:
                heap[count] = i
                count += 1
                if count == SCORER_MOST:
                    for root in range(SCORER_MOST // 2 - 1, -1, -1):
                        _sift_down(priors, heap, root, SCORER_MOST)
            elif _is_behind(priors, heap[0], i):
                heap[0] = i
                _sift_down(priors, heap, 0, SCORER_MOST)
    inputs.count = count
    if count == 0:
        return
    log_total = logf(total)
    log_best = logf(best)
    for i in range(count):
        inputs.categories[i] = categories[heap[i]]
        row = inputs.features + i * features
        log_prior = logf(priors[heap[i]])
        row[SCORER_SHARE] = <float>0.25 * max(log_prior - log_total, LEAST_LOG)
        row[SCORER_BEHIND] = <float>0.25 * max(log_prior - log_best, LEAST_LOG)


cdef void scorer_apply(const float* weights, int summary, int categories, int features, const ScorerInputsC* inputs,
                       float* priors) noexcept nogil:
    cdef float scores[SCORER_MOST]      # `scorer_choose` chooses SCORER_MOST at most
    cdef float best = -1e30, before = 0, after = 0, scale
    cdef int i, count = inputs.count
    if count < 2:
        return
    scorer_scores(weights, summary, categories, features, inputs.summary, inputs.categories, inputs.features, count,
                  scores)
    for i in range(count):
        best = max(best, scores[i])
        before += priors[inputs.chosen[i]]
    for i in range(count):
        scores[i] = priors[inputs.chosen[i]] * expf(scores[i] - best)
        after += scores[i]
    scale = before / after
    if not 0 < scale < MOST_SCALE:      # nor if it is no number: such scores say nothing
        return
    for i in range(count):
        priors[inputs.chosen[i]] = scores[i] * scale


def scorer_shapes(int summary, int categories, int features):
    """Return the shapes of a policy's weights.

    Parameters
    ----------
    summary, categories, features : int
        Lengths of the summary, of the list of categories and of the features of an action.

    Returns
    -------
    dict of str to tuple of int
        By name, in their order in memory.
    """
    return {"policy_state": (summary, SCORER_HIDDEN), "policy_state_bias": (SCORER_HIDDEN,),
            "policy_node": (SCORER_HIDDEN, SCORER_HIDDEN), "policy_category": (categories, SCORER_HIDDEN),
            "policy_action": (features, SCORER_HIDDEN), "policy_out": (SCORER_HIDDEN,)}


def scorer_features():
    """Return the names of the features that actions have in all games, in their order."""
    return ("share", "behind")
