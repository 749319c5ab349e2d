"""The compiled searches and baselines, with the weights that ship unless others are given."""

from functools import cache

import numpy as np

from cext.core.baselines import beam, simple
from cext.core.learning.priors import policy_of
from cext.core.search import search
from mexica_ai.game import registry

STEP = 1e-4  # too little to change which categories the actions have


def weights_of(state):
    """Return the weights that ship for a state's game; None if it has none, or is a game of tests only."""
    name = state.game.name
    return registry.get(name).weights() if name in registry.names() else None


def _weighed(function):
    def call(state, **options):
        return function(state, **({"weights": weights_of(state)} | options))

    return call


Search = _weighed(search.Search)
Beam = _weighed(beam.Beam)
greedy_turn = _weighed(simple.greedy_turn)
evaluate = _weighed(simple.evaluate)


def categorize(state, weights=None):
    """Return the row of the weights, and the legal actions with their categories and their shares of its weight.

    They show in the priors, without a learnt policy, of weights that differ a little from row to row, or from category
    to category. An action that is left out has share 0 and category -1.
    """
    weights = weights or weights_of(state)
    rows, categories = registry.get(state.game.name).learning.weights.shapes["priors"]
    plain, by_row, by_category = (
        np.array(policy_of(state, _changed(weights, axis))[1]) for axis in (None, rows, categories)
    )
    seen = plain > 0
    row = round((by_row[seen][0] / plain[seen][0] - 1) / STEP)
    found = np.full(len(plain), -1)
    found[seen] = np.rint((by_category[seen] / plain[seen] - 1) / STEP)
    shares = np.where(seen, plain / _changed(weights, None).arrays()["priors"][row, found], 0)
    return row, np.array(state.legal_actions(), np.uint64), found, shares


@cache
def _changed(weights, size):
    """Return weights without a policy, whose priors grow by `STEP` along the axis of this size."""
    spec = registry.get(weights.game).learning.weights
    arrays = {name: array for name, array in weights.arrays().items() if name in spec.shapes}
    rows, categories = spec.shapes["priors"]
    if size == rows:
        arrays["priors"] *= 1 + STEP * np.arange(rows)[:, None]
    elif size == categories:
        arrays["priors"] *= 1 + STEP * np.arange(categories)
    return spec.make(arrays)
