"""What is put by hand into the weights of a game: the estimate that a fit begins with, and the pull.

A game's ``training.py`` has the numbers: ``PULL``, a pair (w, b), with which a fitted logit becomes
b * (logit + the own features weighted by w), and ``FACTORS``, corrections of the priors by category
(`mexica_ai.train.priors.tempered`).
"""

from __future__ import annotations

import numpy as np

from cext.core.weights import WeightsSpec

Weights = dict[str, np.ndarray]
Pull = tuple[dict[str, float], float]


def estimate(spec: WeightsSpec) -> Weights:
    """Return weights that answer with the hand-made estimates; all categories alike."""
    arrays = {name: np.zeros(shape, np.float32) for name, shape in spec.shapes.items()}
    arrays["linear"][range(len(spec.estimates)), spec.estimates] = 1
    if spec.categories:
        arrays["priors"][:] = 1
    return arrays


def pulled(spec: WeightsSpec, arrays: Weights, pull: Pull) -> Weights:
    """Return weights with the logit pulled towards a hand-made one.

    What goes with winning is not always what is worth striving for. Where a fit alone foretells winners
    better and plays worse than a hand-made estimate, their sum plays best.
    """
    return _with_logit(spec, arrays, pull[0], 1.0, pull[1])


def unpulled(spec: WeightsSpec, arrays: Weights, pull: Pull) -> Weights:
    """Return the weights of which `pulled` makes these."""
    return _with_logit(spec, arrays, pull[0], -pull[1], 1 / pull[1])


def _with_logit(spec, arrays, towards, times, scale):
    """Return weights whose logit is scale * (logit + times * what it is pulled towards)."""
    arrays = {name: array.copy() for name, array in arrays.items()}
    for name, weight in towards.items():
        arrays["linear"][0, spec.own_features.index(name)] += times * weight
    arrays["linear"][0] *= scale
    arrays["w3"][:, 0] *= scale
    arrays["b3"][0] *= scale
    return arrays
