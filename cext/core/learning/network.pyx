"""The network of the evaluations: answers for all seats, and shapes and features for Python; see ``network.pxd``."""

import numpy as np

from libc.math cimport exp


cdef float MOST_OUTPUT = 1e6    # far beyond what fitted weights give


cdef inline float _finite(float output) noexcept nogil:
    """Return an output within MOST_OUTPUT, 0 for NaN: weights from a file may be any numbers."""
    return max(-MOST_OUTPUT, min(MOST_OUTPUT, output)) if output == output else 0


cdef void network_answers(const float* outputs, int num_players, double* values, double* points) noexcept nogil:
    cdef float best = -1e30
    cdef double total = 0.0
    cdef int seat
    for seat in range(num_players):
        best = max(best, _finite(outputs[seat * NETWORK_OUTPUTS]))
    for seat in range(num_players):
        values[seat] = exp(<double>(_finite(outputs[seat * NETWORK_OUTPUTS]) - best))
        points[seat] = <double>NETWORK_SCORE * _finite(outputs[seat * NETWORK_OUTPUTS + 1])
        total += values[seat]
    for seat in range(num_players):
        values[seat] /= total


def network_shapes(int inputs):
    """Return the shapes of a network's weights.

    Parameters
    ----------
    inputs : int
        Number of inputs, >= 1.

    Returns
    -------
    dict of str to tuple of int
        By name, in their order in memory.
    """
    return {"linear": (NETWORK_OUTPUTS, inputs), "w1": (inputs, NETWORK_HIDDEN), "b1": (NETWORK_HIDDEN,),
            "w2": (NETWORK_HIDDEN, NETWORK_HIDDEN_2), "b2": (NETWORK_HIDDEN_2,),
            "w3": (NETWORK_HIDDEN_2, NETWORK_OUTPUTS), "b3": (NETWORK_OUTPUTS,)}


cdef object network_features(State owner, str game, int inputs, network_find_t find):
    cdef float[:, ::1] view
    if owner.game.name != game:
        raise TypeError(f"expected a state of {game}, got one of {owner.game.name}")
    found = np.empty((owner.num_players, inputs), np.float32)
    view = found
    find(owner.data, &view[0, 0])
    return found
