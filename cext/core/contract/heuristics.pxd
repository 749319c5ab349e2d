"""A game's policy and evaluation, as the core calls them: whatever a game or its weights give, the numbers are usable.

Weights are numbers from files, and games may come from other packages. NaN, an infinity or a number out of range
would be an index, a list without actions or a result without meaning later.
"""

from libc.math cimport fabs

from cext.core.contract.game cimport GameOps
from cext.core.contract.types cimport action_t

cdef extern from *:
    """
    #define HEURISTICS_LEAST_PRIOR 1e-12f   /* of the best action; beyond these two, priors are scaled */
    #define HEURISTICS_MOST_PRIOR 1e12f
    #define HEURISTICS_MOST_POINTS 1e9
    #include <float.h>
    """
    const float LEAST_PRIOR "HEURISTICS_LEAST_PRIOR"
    const float MOST_PRIOR "HEURISTICS_MOST_PRIOR"
    const double MOST_POINTS "HEURISTICS_MOST_POINTS"
    const float FLT_MAX


# GameOps.policy. No prior is below 0 or infinite, and one is above 0: if the game gives none, all are equal.
cdef inline void heuristics_policy(const GameOps* ops, const void* weights, void* cache, const void* state,
                                   const action_t* actions, int n, float* priors) noexcept nogil:
    cdef float best = 0
    cdef int i
    ops.policy(weights, cache, state, actions, n, priors)
    for i in range(n):
        priors[i] = priors[i] if priors[i] > 0 else 0       # NaN, too
        best = priors[i] if priors[i] > best else best
    if LEAST_PRIOR <= best <= MOST_PRIOR:
        return
    best = min(best, FLT_MAX)
    for i in range(n):
        priors[i] = min(priors[i], best) / best if best > 0 else 1


# GameOps.evaluate. Values are in [0, 1], and scores within MOST_POINTS.
cdef inline void heuristics_evaluate(const GameOps* ops, const void* weights, void* cache, const void* state,
                                     double* values, double* scores) noexcept nogil:
    cdef int seat, num_players = ops.num_players(state)
    ops.evaluate(weights, cache, state, values, scores)
    for seat in range(num_players):
        if not 0 <= values[seat] <= 1:
            values[seat] = 1 if values[seat] > 1 else 0 if values[seat] < 0 else 1.0 / num_players
        if not fabs(scores[seat]) <= MOST_POINTS:
            scores[seat] = MOST_POINTS if scores[seat] > 0 else -MOST_POINTS if scores[seat] < 0 else 0
