"""Observations of positions, and the schemas that name their numbers and those of actions."""

from __future__ import annotations

import numpy as np

from cext.core.learning.tensor import observation, require_actions
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.game.schema import Schema
from mexica_ai.game.text_forms import SPECTATOR
from mexica_ai.io.arguments import bad_option
from mexica_ai.io.errors import PositionError, SearchError
from mexica_ai.io.strict import quote

# No number of an observation is larger, with either sign, unless the scale of its field is.
BOUND = 65536.0


def bound_of(layout: Schema | None) -> float:
    """Return the bound of the numbers of an observation with this layout, with either sign."""
    return BOUND if layout is None else max(BOUND, float(layout.scale.max()))


def schema(game: str) -> Schema:
    """Return the layout of a game's observations.

    Raises
    ------
    UnknownGameError
        There is no such game.
    SearchError
        The game has no observations; reason NO_OBSERVATIONS.
    """
    entry = registry.get(game)
    found = entry.learning.schema
    if entry.rules.observation_size == 0:
        raise SearchError(f"{game} has no observations; expected a game that has", reason="NO_OBSERVATIONS")
    if found is None:
        raise SearchError(
            f"{game} has observations, but no layout of them; expected a Schema in its Game, `learning.schema` "
            f"(such as in {registry.package_of(game)}/tensor.py, see docs/adding_a_game.md)",
            reason="NO_OBSERVATIONS",
        )
    return found


def action_schema(game: str) -> Schema:
    """Return the layout of the features of a game's actions, as `State.action_features` gives them.

    Raises
    ------
    UnknownGameError
        There is no such game.
    SearchError
        The game has no features of actions; reason NO_ACTION_FEATURES.
    """
    entry = registry.get(game)
    found = entry.learning.actions
    if found is None or entry.rules.action_size == 0:
        raise SearchError(f"{game} has no features of actions; expected a game that has", reason="NO_ACTION_FEATURES")
    return found


def check_actions(game: str, actions: object) -> None:
    """Check that a game has what is asked for of its actions.

    Parameters
    ----------
    game : str
    actions : str or None
        ``"ids"``, ``"features"``, or nothing.

    Raises
    ------
    SearchError
        It is something else (reason INVALID_OPTION), or the game does not have it (NO_ACTION_IDS, NO_ACTION_FEATURES).
    """
    if actions not in (None, "ids", "features"):
        raise bad_option("actions", actions, '"ids", "features" or None')
    require_actions(registry.get(game).rules, actions)


def num_action_ids(game: str) -> int:
    """Return how many fixed ids of actions a game has; 0 if its actions have none.

    Raises
    ------
    UnknownGameError
        There is no such game.
    """
    return registry.get(game).rules.num_action_ids


def observe(position: Position, viewer: int | None = None) -> np.ndarray:
    """Return what a seat sees of a position.

    Parameters
    ----------
    position : Position
        Not changed.
    viewer : int, optional
        The seat; by default the seat to move, or in a view the seat that sees it.

    Returns
    -------
    numpy.ndarray
        float32 [size]; `schema` names the numbers.

    Raises
    ------
    PositionError
        There is no such seat (reason OUT_OF_RANGE), or the position is the view of another one (VIEWER_MISMATCH).
    SearchError
        The game has no observations; reason NO_OBSERVATIONS.
    """
    if viewer is None:
        viewer = position.to_move if position.viewer is None else position.viewer
    if type(viewer) is not int or not 0 <= viewer < position.players:
        raise PositionError(
            f"viewer: given {quote(viewer)}; expected a seat from 0 to {position.players - 1}",
            reason="OUT_OF_RANGE",
            path="viewer",
        )
    if position.viewer not in (None, viewer):
        expected = f"{position.viewer}, the seat whose view the position is"
        if position.viewer == SPECTATOR:
            expected = "a seat's view or the full position: this is the view of a spectator"
        raise PositionError(
            f"viewer: given {viewer}; expected {expected}",
            reason="VIEWER_MISMATCH",
            path="viewer",
        )
    return observation(position.state, viewer)
