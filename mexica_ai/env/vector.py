"""Many games of one kind, stepped together by compiled calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cext.core.learning.batch import Batch
from mexica_ai.analysis.limits import out_of_memory
from mexica_ai.game import registry
from mexica_ai.game.position import Position, new_game
from mexica_ai.game.text_forms import viewer_name
from mexica_ai.io.errors import SearchError
from mexica_ai.io.figures import resolve_seed
from mexica_ai.io.strict import quote

DEFAULT_STARTS = 256
MAX_STARTS = 1 << 20


class VectorEnv(Batch):
    """Games that are stepped together; `vector` makes one. `cext.core.learning.batch.Batch` explains the arrays."""

    @property
    def max_actions(self) -> int:
        """The length of a row of `legal` and `masks`."""
        return self.game.max_actions

    def position(self, index: int) -> Position:
        """Return a copy of a running game's position, everything that is hidden included."""
        return Position(self.game.name, self.state(index))

    def action_text(self, action: int) -> str:
        """Return the text of an action of `legal` or `actions`."""
        return registry.get(self.game.name).text.format_action(int(action))


@out_of_memory()
def vector(
    game: str = registry.DEFAULT,
    num_games: int = 256,
    players: int | None = None,
    seed: int | None = None,
    *,
    legal: bool = True,
    masks: bool = False,
    observations: bool = False,
    actions: str | None = None,
    starts: int | Sequence[Position] = DEFAULT_STARTS,
    **options: Any,
) -> VectorEnv:
    """Return games that are stepped together by compiled calls without the GIL.

    Parameters
    ----------
    game : str
        The game's name.
    num_games : int
        How many games run at a time, 1 to 2**20.
    players : int, optional
        Number of seats; by default that of the positions of `starts`, otherwise 2.
    seed : int, optional
        0 <= seed < 2**63; with the same seed and the same actions everything is the same. Drawn from the operating
        system if None.
    legal : bool
        Whether to list the legal actions. `step` needs them, `step_random` does not.
    masks : bool
        Whether to keep masks over the lists.
    observations : bool
        Whether to keep the observation of each seat to move.
    actions : str, optional
        ``"ids"``: actions are the game's fixed ids, in `step` and in `masks`, and `action_ids` has those of the lists.
        ``"features"``: `action_features` has the features of the legal actions. By default actions are indexes of the
        lists, and mean nothing beyond their state.
    starts : int or sequence of Position
        How many new games are dealt beforehand, 1 to 2**20, or positions to begin from. A game that is over starts
        anew from one of them, drawn uniformly. Positions are full ones, all with as many seats.
    **options
        The game's own, as `mexica_ai.new_game` takes them; none with positions.

    Raises
    ------
    UnknownGameError, NotationError, PositionError
        As `mexica_ai.new_game`.
    SearchError
        An argument is out of range (reason INVALID_OPTION or INVALID_SEED), or the game has no observations
        (NO_OBSERVATIONS), ids (NO_ACTION_IDS) or features of actions (NO_ACTION_FEATURES), or the memory does not
        suffice (OUT_OF_MEMORY).
    """
    seed = resolve_seed(seed)
    check_actions(actions)
    if type(num_games) is not int:
        raise _refused("num_games", num_games, "an integer")  # `Batch` checks its range
    if isinstance(starts, int):
        if not 1 <= starts <= MAX_STARTS:
            raise _refused("starts", starts, f"1 to {MAX_STARTS}, or positions")
        deals = np.random.default_rng(seed).integers(2**63, size=starts)
        players = 2 if players is None else players
        starts = [new_game(game, players=players, seed=int(deal), **options) for deal in deals]
    else:
        starts = _checked(starts, game, players, options)
    states = [position.state for position in starts]
    return VectorEnv(states, num_games, seed=seed, legal=legal, masks=masks, observations=observations, actions=actions)


def check_actions(actions: object) -> None:
    """Raise SearchError unless it is a kind of actions, or None."""
    if actions not in (None, "ids", "features"):
        raise _refused("actions", actions, '"ids", "features" or None')


def _checked(starts: Any, game: str, players: int | None, options: dict[str, Any]) -> list[Position]:
    """Return the positions to begin from; SearchError if one does not fit."""
    if not isinstance(starts, Sequence):
        raise _refused("starts", starts, f"1 to {MAX_STARTS}, or positions")
    if options:
        name, value = next(iter(options.items()))
        raise _refused(name, value, "no options of the game beside positions to start from")
    for index, position in enumerate(starts):
        path = f"starts[{index}]"
        if not isinstance(position, Position):
            raise _refused(path, position, "a Position")
        if position.game != game:
            raise _refused(path, position.game, f"a position of {game}")
        if position.viewer is not None:
            raise _refused(path, f"the view of {viewer_name(position.viewer)}", "a full position")
        if players is None:
            players = position.players
        if position.players != players:
            raise _refused(path, f"{position.players} seats", f"{players} seats")
    return list(starts)


def _refused(path: str, value: Any, expected: str) -> SearchError:
    return SearchError(f"{path}: given {quote(value)}; expected {expected}", reason="INVALID_OPTION", path=path)
