"""Actions of Mexica in words."""

from __future__ import annotations

from collections.abc import Sequence

from mexica_ai.game.contract import Words
from mexica_ai.game.text_forms import listed
from mexica_ai.io.json_types import JsonObject

_MOVES = {"walk": "walked", "sail": "sailed", "teleport": "teleported"}
_JOINED = ("canal", "bridge", "token")  # verbs that are told once for all in a row


def tell(actions: Sequence[str], before: JsonObject, after: JsonObject) -> str:
    """Return actions in words; see `Words.tell`."""
    verb, *words = actions[0].split()
    match verb, words:
        case "place", [space]:
            return f"started at {space}"
        case (("canal" | "bridge"), _):
            places = [action.split()[1] for action in actions]
            return f"{verb}{'s' * (len(places) > 1)} {'at ' * (verb == 'bridge')}{listed(places)}"
        case "relocate", [space, to, _]:
            return f"moved the bridge from {space} to {to}"
        case "found", [size, space]:
            return f"founded {size} at {space}"
        case "temple", [level, space]:
            return f"temple {level} at {space}"
        case (("walk" | "sail" | "teleport"), _):
            return _moved(actions)
        case "token", _:
            return "took an action token" if len(actions) == 1 else f"took {len(actions)} action tokens"
        case "remove", [size]:
            return f"removed the token of {size}"
    return _ended(before, after)


def _moved(actions: Sequence[str]) -> str:
    verbs = {action.split()[0] for action in actions}
    verb = _MOVES[verbs.pop()] if len(verbs) == 1 else "moved"
    number = f" {len(actions)}" if len(actions) > 1 else ""
    return f"{verb}{number} to {actions[-1].split()[1]}"


def _ended(before: JsonObject, after: JsonObject) -> str:
    """Return what the end of a turn has brought about."""
    if after["phase"] == "over" != before["phase"]:
        return "the game ended"
    return f"period {before['period']} ended" if after["period"] != before["period"] else ""


def joins(actions: Sequence[str], following: str) -> bool:
    """Return whether an action is told with those before it; see `Words.joins`."""
    first, then = actions[0].split()[0], following.split()[0]
    return (first == then and first in _JOINED) or (first in _MOVES and then in _MOVES)


def round_of(fields: JsonObject) -> str:
    """Return the caption of a round; see `Words.round_of`."""
    return "Start" if fields["phase"] == "placement" else f"Round {fields['round']}"


WORDS = Words(tell, joins, round_of)
