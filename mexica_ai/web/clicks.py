"""Why a click of a person has no effect: the answer to a page that asks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mexica_ai.game.clicks import Refusal, refusals
from mexica_ai.game.entry import MENU
from mexica_ai.game.messages import say
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import quote
from mexica_ai.table.seats import names_of
from mexica_ai.web import visibility
from mexica_ai.web.errors import ApiError

if TYPE_CHECKING:
    from mexica_ai.web.games import Game

MAX_TARGETS = 6
_SEAT = re.compile(r"\bseat ([0-9])\b")


def named(words: str, names: Sequence[str]) -> str:
    """Return a reason with the names of the players in place of their seats."""

    def name(match: re.Match[str]) -> str:
        seat = int(match[1])
        return names[seat] if seat < len(names) else match[0]

    return _SEAT.sub(name, words)


def why_not(game: Game, viewer: int | None, tool: str, targets: Sequence[str]) -> JsonObject:
    """Return why the person to move cannot do what was clicked, after the actions of the draft.

    Parameters
    ----------
    viewer : int or None
        The seat of the page.
    tool : str
        The tool that is chosen, "" for none.
    targets : sequence of str
        The targets that are chosen, the one that was clicked among them.

    Raises
    ------
    ApiError
        If the viewer is not to move, or there is no such tool or target.
    """
    is_theirs = visibility.is_theirs(game.table, viewer, game.mover)
    viewer = game.require_view(viewer)
    seat = game.mover
    if seat is None or seat not in game.persons or viewer not in (None, seat) or not is_theirs:
        raise ApiError(403, "NOT_YOUR_TURN", f"the game waits for: {game.waiting}; expected the viewer to move")
    picture = game.kind.picture
    if tool and tool not in [one.name for one in picture.tools]:
        raise ApiError(422, "NO_TOOL", f"tool: given {quote(tool)}; expected a tool of the game")
    if not 1 <= len(targets) <= MAX_TARGETS:
        raise ApiError(422, "NO_TARGET", f"targets: given {len(targets)}; expected 1 to {MAX_TARGETS}")
    draft = game.drafted()
    if draft.is_ended:
        return {"reasons": [{"tools": [], "why": say("the turn is complete")}]}
    known = picture.describe_targets(draft.position.to_json())
    for index, target in enumerate(targets):
        if target not in known and not target.startswith(MENU):
            raise ApiError(
                422, "NO_TARGET", f"targets[{index}]: given {quote(target)}; expected a target of the picture"
            )
    shown = [target for target in targets if not target.startswith(MENU)]
    names = names_of(game.seats)
    found = refusals(draft.position, tool, shown) or _of_another(known, shown, seat)
    return {"reasons": [{"tools": one.tools, "why": named(one.why, names)} for one in found]}


def _of_another(known: Mapping[str, str], targets: Sequence[str], mover: int) -> list[Refusal]:
    """Return as the reason that what was clicked last belongs to a seat that is not to move, if it does."""
    owner = _SEAT.match(known.get(targets[-1], "")) if targets else None
    if owner is None or int(owner[1]) == mover:
        return []
    return [
        Refusal([], say("that belongs to {whose}, and it is the turn of {who}", whose=owner[0], who=f"seat {mover}"))
    ]
