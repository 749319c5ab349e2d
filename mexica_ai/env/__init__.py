"""Environments for learning: one game by PettingZoo's interface, or many games stepped together.

    env = mexica_ai.env.aec("mexica", players=3, seed=1)
    games = mexica_ai.env.vector("mexica", 256, seed=1, observations=True)

`schema` names the numbers of a game's observations, `action_schema` those of its actions. ``docs/env.md`` is the
manual. PettingZoo is needed by `aec` alone (extra `rl`), OpenSpiel by `mexica_ai.env.openspiel` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mexica_ai.env.vector import VectorEnv, vector
from mexica_ai.game import registry
from mexica_ai.game.observations import action_schema, num_action_ids, observe, schema

if TYPE_CHECKING:
    from pettingzoo import AECEnv

__all__ = ["VectorEnv", "action_schema", "aec", "num_action_ids", "observe", "schema", "vector"]


def aec(
    game: str = registry.DEFAULT,
    players: int = 2,
    seed: int | None = None,
    *,
    render_mode: str | None = None,
    actions: str | None = None,
    **options: Any,
) -> AECEnv:
    """Return a PettingZoo AEC environment of a game.

    Parameters
    ----------
    game : str
        The game's name.
    players : int
        Number of seats; the agents are ``seat_0``, ``seat_1`` and so on.
    seed : int, optional
        0 <= seed < 2**63; the same seed gives the same deals and events. Drawn from the operating system if None.
        ``reset(seed=...)`` sets another one.
    render_mode : str, optional
        ``"ansi"``: `render` returns the board as text, with everything that is hidden.
    actions : str, optional
        ``"ids"``: actions are the game's fixed ids, which mean the same in each state. ``"features"``: the info of the
        agent to move has ``action_features``. By default actions are indexes of the state's list of legal actions.
    **options
        The game's own, as `mexica_ai.new_game` takes them.

    Returns
    -------
    pettingzoo.AECEnv
        `mexica_ai.env.pettingzoo.GameEnv` in PettingZoo's wrapper that enforces the order of calls.

    Raises
    ------
    ModuleNotFoundError
        PettingZoo is not installed.
    UnknownGameError, NotationError, PositionError
        As `mexica_ai.new_game`.
    SearchError
        The game has no observations (reason NO_OBSERVATIONS), ids (NO_ACTION_IDS) or features of actions
        (NO_ACTION_FEATURES), the seed is out of range (INVALID_SEED), or there is no such render mode or kind of
        actions (INVALID_OPTION).
    """
    try:
        from mexica_ai.env.pettingzoo import wrapped
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"aec needs {error.name}, which is not installed: pip install 'mexica-ai[rl]'", name=error.name
        ) from error
    return wrapped(game, players, seed, render_mode, actions, options)
