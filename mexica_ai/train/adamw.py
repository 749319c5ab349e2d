"""AdamW, the optimizer of the fits (Loshchilov and Hutter, 2019), in numpy."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

Arrays = dict[str, np.ndarray]  # of weights, by name


class AdamW:
    """The state of the optimizer, which changes arrays in place.

    Parameters
    ----------
    arrays : dict of str to ndarray
    weight_decay : float
    decayed : collection of str
        The names of the arrays that decay.
    """

    def __init__(self, arrays: Arrays, weight_decay: float, decayed: Collection[str]) -> None:
        self._arrays = arrays
        self._moments = {name: (np.zeros_like(array), np.zeros_like(array)) for name, array in arrays.items()}
        self._weight_decay, self._decayed = weight_decay, decayed
        self._steps = 0

    def step(self, gradients: Arrays, rate: float) -> None:
        """Go one step against the gradients, at a learning rate."""
        self._steps += 1
        for name, array in self._arrays.items():
            mean, square = self._moments[name]
            mean += 0.1 * (gradients[name] - mean)
            square += 0.001 * (gradients[name] ** 2 - square)
            array -= rate * (mean / (1 - 0.9**self._steps)) / (np.sqrt(square / (1 - 0.999**self._steps)) + 1e-8)
            if name in self._decayed:
                array *= 1 - rate * self._weight_decay
