"""Priors of categories, for Python; see ``priors.pxd``."""

import numpy as np


cdef object priors_categorize(State owner, str game, priors_find_t find):
    cdef action_t[::1] actions
    cdef int[::1] categories
    cdef float[::1] shares
    cdef int n, row
    if owner.game.name != game:
        raise TypeError(f"expected a state of {game}, got one of {owner.game.name}")
    found = np.empty(owner.game.ops.max_actions, np.uint64)
    actions = found
    n = owner.game.ops.legal_actions(owner.data, &actions[0])
    result = found[:n].copy(), np.empty(n, np.int32), np.empty(n, np.float32)
    if n == 0:
        return 0, *result
    actions, categories, shares = result
    row = find(owner.data, &actions[0], n, &categories[0], &shares[0])
    return row, *result


cdef object priors_get(const float* weights, int rows, int columns):
    return np.array([weights[i] for i in range(rows * columns)], np.float32).reshape(rows, columns)


cdef int priors_set(float* weights, int rows, int columns, object found) except -1:
    cdef float[:, ::1] view
    cdef int i, j
    if np.shape(found) != (rows, columns):
        raise ValueError(f"weights of shape {np.shape(found)}, expected {(rows, columns)}")
    view = np.ascontiguousarray(found, np.float32)
    for i in range(rows):
        for j in range(columns):
            weights[i * columns + j] = view[i, j]
    return 0
