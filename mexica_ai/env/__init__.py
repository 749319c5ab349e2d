"""Environments for learning: one game by PettingZoo's or gymnasium's interface, or many games stepped together.

    env = mexica_ai.env.aec("mexica", players=3, seed=1)
    learner = mexica_ai.env.single("mexica", opponents=["level=1"])
    games = mexica_ai.env.vector("mexica", 256, seed=1, observations=True)

`schema` names the numbers of a game's observations, `action_schema` those of its actions. ``docs/env.md`` is the
manual. PettingZoo is needed by `aec` alone, gymnasium by `single` (both: extra `rl`), OpenSpiel by
`mexica_ai.env.openspiel`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mexica_ai.env.vector import VectorEnv, vector
from mexica_ai.game import registry
from mexica_ai.game.observations import action_schema, num_action_ids, observe, schema

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from mexica_ai.env.gymnasium import SingleEnv
    from mexica_ai.game.position import Position

__all__ = ["VectorEnv", "action_schema", "aec", "num_action_ids", "observe", "schema", "single", "vector"]


def aec(
    game: str = registry.DEFAULT,
    players: int = 2,
    seed: int | None = None,
    *,
    reward: str = "share",
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
    reward : str
        What the seats get at the end, as for `single`.
    render_mode : str, optional
        As for `single`.
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
        PettingZoo, or what pictures need, is not installed.
    UnknownGameError, NotationError, PositionError
        As `mexica_ai.new_game`.
    SearchError
        The game has no observations (reason NO_OBSERVATIONS), ids (NO_ACTION_IDS) or features of actions
        (NO_ACTION_FEATURES), the seed is out of range (INVALID_SEED), or there are no such rewards, render mode or kind
        of actions (INVALID_OPTION).
    """
    try:
        from pettingzoo.utils.wrappers import OrderEnforcingWrapper

        from mexica_ai.env.pettingzoo import GameEnv
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"aec needs {error.name}, which is not installed: pip install 'mexica-ai[rl]'", name=error.name
        ) from error
    return OrderEnforcingWrapper(GameEnv(game, players, seed, reward, render_mode, actions, options))


def single(
    game: str = registry.DEFAULT,
    opponents: Sequence[Any] = ("random",),
    players: int | None = None,
    seed: int | None = None,
    *,
    seat: int | None = None,
    reward: str = "share",
    illegal: str = "error",
    actions: str | None = None,
    starts: Sequence[Position] | None = None,
    render_mode: str | None = None,
    **options: Any,
) -> SingleEnv:
    """Return a gymnasium environment of a game, as one of its seats plays it against opponents.

    Parameters
    ----------
    game : str
        The game's name.
    opponents : sequence
        Who plays the other seats; in each game each of these seats is drawn one of them. An engine by its spec, such as
        ``"mcts,iterations=100"`` or, for short, ``"level=3"``; a policy (``docs/python.md``); or ``"past"``, what
        `set_past` has set.
    players : int, optional
        Number of seats; by default that of the positions of `starts`, otherwise 2.
    seed : int, optional
        0 <= seed < 2**63; decides deals, events, seats and opponents. Drawn from the operating system if None.
        ``reset(seed=...)`` sets another one.
    seat : int, optional
        The learner's seat; by default the next one in each game.
    reward : str
        What the end of a game brings; every other step brings 0. ``"share"`` of the win, in [0, 1]; ``"sign"``, 1 for a
        win, -1 for a loss, between them for a shared win; ``"margin"``, the points less the most of another seat.
    illegal : str
        What an action does that is not legal: ``"error"``: it raises IllegalActionError; ``"random"``: a random legal
        one is played; ``"lose"``: the game ends with the reward of a loss (in points, 1 behind at least).
    actions : str, optional
        What an action is: by default an index into the list of legal actions; ``"ids"``: a fixed id; ``"features"``: an
        index, and the observation has the features of the actions.
    starts : sequence of Position, optional
        Positions to begin from, drawn uniformly, instead of new deals.
    render_mode : str, optional
        ``"ansi"``: `render` returns the board as text; ``"rgb_array"``: as an array of colours, where the game has
        pictures and resvg-py and Pillow are installed. Both with everything that is hidden.
    **options
        The game's own, as `mexica_ai.new_game` takes them; none with positions.

    Raises
    ------
    ModuleNotFoundError
        gymnasium, or what pictures need, is not installed.
    UnknownGameError, NotationError, PositionError
        As `mexica_ai.new_game`.
    SearchError
        An argument is out of range or does not fit (INVALID_OPTION, INVALID_SEED), the game has no observations, ids or
        features (NO_OBSERVATIONS, NO_ACTION_IDS, NO_ACTION_FEATURES), or an opponent cannot be started.
    """
    try:
        from mexica_ai.env.gymnasium import SingleEnv
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"single needs {error.name}, which is not installed: pip install 'mexica-ai[rl]'", name=error.name
        ) from error
    return SingleEnv(
        game,
        opponents,
        players,
        seed,
        seat=seat,
        reward=reward,
        illegal=illegal,
        actions=actions,
        starts=starts,
        render_mode=render_mode,
        **options,
    )
