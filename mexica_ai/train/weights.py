"""The weights of games that have some: others cannot be trained."""

from __future__ import annotations

from cext.core.learning.weights import Weights, WeightsSpec
from mexica_ai.analysis.search import weights_for
from mexica_ai.game import registry
from mexica_ai.io.errors import SearchError


def searching_weights(game: str, weights: Weights | None) -> Weights:
    """Return these weights, or those that ship; raise SearchError, reason INVALID_GAME, if the game has none."""
    found = weights_for(game, weights)
    if found is None:
        raise _none(game)
    return found


def weights_spec(game: str) -> WeightsSpec:
    """Return the description of a game's weights; raise SearchError, reason INVALID_GAME, if it has none."""
    spec = registry.get(game).learning.weights
    if spec is None:
        raise _none(game)
    return spec


def _none(game: str) -> SearchError:
    return SearchError(f"{game} has no weights", reason="INVALID_GAME", path="game")
