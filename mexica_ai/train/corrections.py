"""The pull of a game's weights towards hand-made ones; `mexica_ai.game.contract.Learning` has the game's numbers."""

from __future__ import annotations

import numpy as np

from cext.core.learning.weights import WeightsSpec

Arrays = dict[str, np.ndarray]  # of weights, by name
Pull = tuple[dict[str, float], float]


def pulled(spec: WeightsSpec, arrays: Arrays, pull: Pull) -> Arrays:
    """Return weights with the logit pulled towards a hand-made one.

    A feature that predicts the winner need not be a good aim. Where a fit predicts winners better than the hand-made
    estimate but plays worse, the sum of the two plays best.
    """
    return _with_logit(spec, arrays, pull[0], 1.0, pull[1])


def unpulled(spec: WeightsSpec, arrays: Arrays, pull: Pull) -> Arrays:
    """Return the weights from which `pulled` makes these."""
    return _with_logit(spec, arrays, pull[0], -pull[1], 1 / pull[1])


def _with_logit(
    spec: WeightsSpec, arrays: Arrays, features: dict[str, float], times: float, scale: float
) -> Arrays:
    """Return weights whose logit is scale * (logit + times * sum of weight * own feature)."""
    arrays = {name: array.copy() for name, array in arrays.items()}
    for name, weight in features.items():
        arrays["linear"][0, spec.own_features.index(name)] += times * weight
    arrays["linear"][0] *= scale
    arrays["w3"][:, 0] *= scale
    arrays["b3"][0] *= scale
    return arrays
