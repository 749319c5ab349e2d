"""A small network, evaluated for several rows of inputs at a time (one a seat): a linear map of the inputs plus two
hidden layers of rectified linear units.

The weights are one array of floats, layer after layer: `linear` (outputs x inputs), `w1` (inputs x hidden), `b1`, `w2`
(hidden x hidden_2), `b2`, `w3` (hidden_2 x outputs), `b3`, as `network_shapes` lists them. The functions are inlined
with constant sizes, so loops have constant bounds.
"""

from libc.string cimport memcpy

from cext.core.contract.game cimport State

cdef enum:
    NETWORK_HIDDEN = 32             # units of the first layer
    NETWORK_HIDDEN_2 = 16           # units of the second layer
    NETWORK_OUTPUTS = 2             # logit of the share of the win; final score / NETWORK_SCORE
    NETWORK_SCORE = 50              # points
    NETWORK_MAX_ROWS = 16           # that are computed at once

cdef extern from "network.h" nogil:
    void network_sparse_layers(const float* weights, const float* start, int n, int first, const float* inputs,
                               int rows, float* sums)
    void network_layers(const float* weights, const float* bias, int n, const float* inputs, int rows, int vectors,
                        bint rectify, float* sums)
    float network_dot(const float* a, const float* b, int n)


# The number of weights.
cdef inline int network_size(int inputs) noexcept nogil:
    return (NETWORK_OUTPUTS * inputs + (inputs + 1) * NETWORK_HIDDEN + (NETWORK_HIDDEN + 1) * NETWORK_HIDDEN_2
            + (NETWORK_HIDDEN_2 + 1) * NETWORK_OUTPUTS)


# Computes the first layer's sums over the first `count` of n inputs: NETWORK_HIDDEN of them.
cdef inline void network_begin(const float* weights, int n, const float* inputs, int count, float* sums) noexcept nogil:
    cdef const float* w1 = weights + NETWORK_OUTPUTS * n
    network_sparse_layers(w1, w1 + n * NETWORK_HIDDEN, count, 0, inputs, 1, sums)


# Computes NETWORK_OUTPUTS outputs of each of `rows` rows of n inputs (NETWORK_MAX_ROWS at most). They all have the same
# first `count` inputs, of which `network_begin` has found the sums.
cdef inline void network_go_on(const float* weights, int n, const float* sums, int count, const float* inputs,
                               int rows, float* outputs) noexcept nogil:
    cdef const float* w1 = weights + NETWORK_OUTPUTS * n
    cdef const float* w2 = w1 + n * NETWORK_HIDDEN + NETWORK_HIDDEN
    cdef const float* b2 = w2 + NETWORK_HIDDEN * NETWORK_HIDDEN_2
    cdef const float* w3 = b2 + NETWORK_HIDDEN_2
    cdef const float* b3 = w3 + NETWORK_HIDDEN_2 * NETWORK_OUTPUTS
    cdef float h1[NETWORK_MAX_ROWS * NETWORK_HIDDEN]    # a row a seat and position: games check their AT_ONCE
    cdef float h2[NETWORK_MAX_ROWS * NETWORK_HIDDEN_2]
    cdef float x
    cdef int row, i, j
    network_sparse_layers(w1, sums, n, count, inputs, rows, h1)
    network_layers(w2, b2, NETWORK_HIDDEN, h1, rows, 1, True, h2)
    for row in range(rows):
        for j in range(NETWORK_OUTPUTS):
            outputs[row * NETWORK_OUTPUTS + j] = b3[j] + network_dot(weights + j * n, inputs + row * n, n)
        for i in range(NETWORK_HIDDEN_2):
            x = max(h2[row * NETWORK_HIDDEN_2 + i], <float>0)
            for j in range(NETWORK_OUTPUTS):
                outputs[row * NETWORK_OUTPUTS + j] += x * w3[i * NETWORK_OUTPUTS + j]


# The same for rows that have nothing in common.
cdef inline void network_forward(const float* weights, int n, const float* inputs, int rows,
                                 float* outputs) noexcept nogil:
    network_go_on(weights, n, weights + NETWORK_OUTPUTS * n + n * NETWORK_HIDDEN, 0, inputs, rows, outputs)


# Writes each seat's inputs: its own features, the largest and the mean of its rivals' features, and those of the
# position. `own` has n_own numbers for each seat, `inputs` 3 * n_own + n_shared, in rows that begin `apart` numbers
# after one another.
cdef inline void network_combine(const float* own, int n_own, const float* shared, int n_shared, int num_players,
                                 float* inputs, int apart) noexcept nogil:
    cdef const float* features
    cdef float* largest
    cdef float* mean
    cdef int seat, other, i
    # The loops over the features are the inner ones: they become vectors.
    for seat in range(num_players):
        largest = inputs + seat * apart + n_own
        mean = largest + n_own
        memcpy(inputs + seat * apart, own + seat * n_own, n_own * sizeof(float))
        memcpy(mean + n_own, shared, n_shared * sizeof(float))
        for i in range(n_own):
            largest[i] = -1e30
            mean[i] = 0
        for other in range(num_players):
            if other == seat:
                continue
            features = own + other * n_own
            for i in range(n_own):
                largest[i] = features[i] if features[i] > largest[i] else largest[i]
            for i in range(n_own):
                mean[i] += features[i]
        if num_players > 2:
            for i in range(n_own):
                mean[i] /= num_players - 1


# Turns the outputs of the seats (NETWORK_OUTPUTS each) into shares of the win and expected final scores.
cdef void network_answers(const float* outputs, int num_players, double* values, double* points) noexcept nogil

# Writes the inputs of each seat.
ctypedef void (*network_find_t)(const void* state, float* inputs) noexcept nogil

# A game's features for Python: float32, shape (seats, inputs). Raises TypeError for a state of another game.
cdef object network_features(State owner, str game, int inputs, network_find_t find)
