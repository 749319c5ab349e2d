"""The observation of one state, for Python; many at once: ``batch.pyx``. The writers are inline in ``tensor.pxd``."""

import numpy as np

from cext.core.contract.errors import SearchError
from cext.core.contract.failure cimport failure_raise
from cext.core.contract.game cimport Game, State


def require_observations(Game game not None):
    """Raise SearchError, reason NO_OBSERVATIONS, if a game has no observations."""
    if game.ops.observe == NULL:
        raise SearchError(f"{game.name} has no observations; expected a game that has", reason="NO_OBSERVATIONS")


def require_actions(Game game not None, actions):
    """Raise SearchError if a game lacks what is asked for of its actions.

    Parameters
    ----------
    game : Game
    actions : str or None
        ``"ids"`` (reason NO_ACTION_IDS) or ``"features"`` (NO_ACTION_FEATURES).
    """
    if actions == "ids" and game.ops.action_id == NULL:
        raise SearchError(f"{game.name} has no ids of actions; expected a game that has", reason="NO_ACTION_IDS")
    if actions == "features" and game.ops.observe_actions == NULL:
        raise SearchError(f"{game.name} has no features of actions; expected a game that has",
                          reason="NO_ACTION_FEATURES")


def observation(State state not None, int viewer):
    """Return what a seat sees of a state.

    Parameters
    ----------
    state : State
        Any state; if it is the view of a seat, only that seat can be the viewer.
    viewer : int
        The seat, from 0.

    Returns
    -------
    numpy.ndarray
        ``state.game.observation_size`` float32 numbers; the game's schema (`mexica_ai.env.schema`) names them.

    Raises
    ------
    SearchError
        The game has no observations; reason NO_OBSERVATIONS.
    ValueError
        There is no such seat.
    """
    require_observations(state.game)
    state._require_seat(viewer)
    row = np.empty(state.game.ops.observation_size, np.float32)
    cdef float[::1] out = row
    with nogil:
        state.game.ops.observe(state.data, viewer, &out[0])
    failure_raise()
    return row
