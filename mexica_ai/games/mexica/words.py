"""Actions of Mexica in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mexica_ai.game.contract import Words
from mexica_ai.game.messages import add_messages, noted, say
from mexica_ai.game.text_forms import listed
from mexica_ai.io.json_types import JsonObject

_MOVES = {"walk": noted("walked"), "sail": noted("sailed"), "teleport": noted("teleported")}
_JOINED = ("canal", "bridge", "token")  # verbs that are told once for all in a row


def tell(actions: Sequence[str], before: JsonObject, after: JsonObject) -> str:
    """Return actions in words; see `Words.tell`."""
    verb, *words = actions[0].split()
    match verb, words:
        case "place", [space]:
            return say("started at {space}", space=space)
        case (("canal" | "bridge"), _):
            places = [action.split()[1] for action in actions]
            if verb == "bridge":
                return say("bridges at {places}" if len(places) > 1 else "bridge at {places}", places=listed(places))
            return say("canals {places}" if len(places) > 1 else "canal {places}", places=listed(places))
        case "relocate", [space, to, _]:
            if space == to:
                return say("turned the bridge at {space}", space=space)
            return say("moved the bridge from {space} to {to}", space=space, to=to)
        case "found", [size, space]:
            return say("founded {size} at {space}", size=size, space=space)
        case "temple", [level, space]:
            return say("temple {level} at {space}", level=level, space=space)
        case (("walk" | "sail" | "teleport"), _):
            return _moved(actions)
        case "token", _:
            return (
                say("took an action token")
                if len(actions) == 1
                else say("took {number} action tokens", number=len(actions))
            )
        case "remove", [size]:
            return say("removed the token of {size}", size=size)
    return _ended(before, after)


def _moved(actions: Sequence[str]) -> str:
    verbs = {action.split()[0] for action in actions}
    verb = say(_MOVES[verbs.pop()] if len(verbs) == 1 else "moved")
    number, place = len(actions), actions[-1].split()[1]
    if number == 1:
        return say("{verb} to {place}", verb=verb, place=place)
    return say("{verb} {number} to {place}", verb=verb, number=number, place=place)


def _ended(before: JsonObject, after: JsonObject) -> str:
    """Return what the end of a turn has brought about."""
    if after["phase"] == "over" != before["phase"]:
        return say("the game ended")
    return say("period {period} ended", period=before["period"]) if after["period"] != before["period"] else ""


def joins(actions: Sequence[str], following: str) -> bool:
    """Return whether an action is told with those before it; see `Words.joins`."""
    first, then = actions[0].split()[0], following.split()[0]
    return (first == then and first in _JOINED) or (first in _MOVES and then in _MOVES)


def round_of(fields: JsonObject) -> str:
    """Return the caption of a round; see `Words.round_of`."""
    return say("Start") if fields["phase"] == "placement" else say("Round {round}", round=fields["round"])


add_messages(Path(__file__).with_name("messages"))
WORDS = Words(tell, joins, round_of)
