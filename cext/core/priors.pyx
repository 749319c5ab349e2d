"""Priors by category, for Python; see ``priors.pxd``."""

import numpy as np

from cext.core.weights cimport weights_data


cdef object priors_categorize(State owner, object weights, str game, priors_find_t find):
    cdef const void* data
    cdef action_t[::1] actions
    cdef int[::1] categories
    cdef float[::1] shares
    cdef int n, row
    if owner.game.name != game:
        raise TypeError(f"expected a state of {game}, got one of {owner.game.name}")
    data = weights_data(owner.game.ops, weights)
    found = np.empty(owner.game.ops.max_actions, np.uint64)
    actions = found
    n = owner.game.ops.legal_actions(owner.data, &actions[0])
    result = found[:n].copy(), np.empty(n, np.int32), np.empty(n, np.float32)
    if n == 0:
        return 0, *result
    actions, categories, shares = result
    row = find(data, owner.data, &actions[0], n, &categories[0], &shares[0])
    return row, *result
