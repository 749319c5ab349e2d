"""The compiled searches and baselines, with the weights that ship unless others are given."""

from cext.core.baselines import beam, simple
from cext.core.search import search
from mexica_ai.game import registry


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
    """Return what the priors make of the legal actions of a state."""
    spec = registry.get(state.game.name).learning.weights
    return spec.categorize(state, weights or weights_of(state))
