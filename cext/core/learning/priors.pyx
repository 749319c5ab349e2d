"""Priors by category, for Python; see ``priors.pxd``."""

import numpy as np

from libc.stdlib cimport free, malloc
from libc.string cimport memset

from cext.core.contract.failure cimport failure_raise
from cext.core.contract.game cimport GameOps
from cext.core.contract.heuristics cimport heuristics_policy
from cext.core.learning.scorer cimport ScorerInputsC
from cext.core.learning.weights cimport weights_data
from cext.core.contract.types cimport action_t


cdef object priors_inputs(State owner, object weights, str game, int summary, int features, scorer_find_t find):
    cdef const void* data
    cdef action_t* actions
    cdef float* priors
    cdef ScorerInputsC inputs
    cdef int i, n
    if owner.game.name != game:
        raise TypeError(f"expected a state of {game}, got one of {owner.game.name}")
    data = weights_data(owner.game.ops, weights)
    actions = <action_t*>malloc(owner.game.ops.max_actions * sizeof(action_t))
    priors = <float*>malloc(owner.game.ops.max_actions * sizeof(float))
    try:
        if actions == NULL or priors == NULL:
            raise MemoryError
        memset(&inputs, 0, sizeof(ScorerInputsC))
        n = owner.game.ops.legal_actions(owner.data, actions)
        if n > 0:
            find(data, NULL, owner.data, actions, n, priors, &inputs)
        chosen = [inputs.chosen[i] for i in range(inputs.count)]
        return (
            np.array([inputs.summary[i] for i in range(summary)], np.float32),
            np.array([actions[i] for i in chosen], np.uint64),
            np.array([inputs.categories[i] for i in range(inputs.count)], np.int32),
            np.array([priors[i] for i in chosen], np.float32),
            np.array([inputs.features[i] for i in range(inputs.count * features)],
                     np.float32).reshape(-1, features),
        )
    finally:
        free(actions)
        free(priors)


def policy_of(State owner not None, weights):
    """Return the priors of a position as a search reads them.

    Parameters
    ----------
    owner : State
        Of a game with priors.
    weights : Weights or None
        Of that game.

    Returns
    -------
    tuple of list
        The legal actions, and their priors (0 or more, of any scale).

    Raises
    ------
    TypeError
        If the weights are of another game.
    """
    cdef const GameOps* ops = owner.game.ops
    cdef const void* data = weights_data(ops, weights)
    cdef action_t* actions = <action_t*>malloc(ops.max_actions * sizeof(action_t))
    cdef float* priors = <float*>malloc(ops.max_actions * sizeof(float))
    cdef int i, n
    try:
        if actions == NULL or priors == NULL:
            raise MemoryError
        n = ops.legal_actions(owner.data, actions)
        if n > 0:
            heuristics_policy(ops, data, NULL, owner.data, actions, n, priors)
        failure_raise()
        return [actions[i] for i in range(n)], [priors[i] for i in range(n)]
    finally:
        free(actions)
        free(priors)
