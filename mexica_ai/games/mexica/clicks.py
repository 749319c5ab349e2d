"""What actions of Mexica bring, and what a click on its board may mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mexica_ai.game.contract import Clicks
from mexica_ai.game.entry import Gain
from mexica_ai.game.messages import say
from mexica_ai.games.mexica import board
from mexica_ai.games.mexica.board import format_space, neighbours, parse_space
from mexica_ai.io.json_types import JsonObject

_AXES = ("ew", "ns")


def gain(fields: JsonObject, action: str, play: Callable[[], JsonObject]) -> Gain:
    """Return what an action brings; see `Clicks.gain`."""
    verb, *_ = action.split()
    if verb == "token":
        return Gain(say("an action token"))
    if verb != "found":
        return Gain()
    after = play()
    scored = [own["score"] - had["score"] for had, own in zip(fields["seats"], after["seats"], strict=True)]
    own = scored.pop(fields["to_move"])
    words = [say("{n:point|points}", n=own)] * bool(own) + [say("points for others")] * any(scored)
    return Gain(", ".join(words), own)


def meant(fields: JsonObject, tool: str, targets: Sequence[str]) -> list[str]:
    """Return the actions that a click may mean; see `Clicks.meant`."""
    spaces = [target for target in targets if ":" not in target]
    if not spaces:
        return []
    first, *rest = spaces
    verb, _, level = tool.partition(" ")
    match verb, rest:
        case "canal", []:
            return [_canal(first, format_space(cell)) for cell in neighbours(parse_space(first)) if cell in board.GRID]
        case "canal", [second, *_]:
            return [_canal(first, second)] if first != second else []
        case "single", []:
            return [f"canal {first}"]
        case "bridge", []:
            return [f"bridge {first} {axis}" for axis in _AXES]
        case "relocate", []:
            return [f"relocate {first} {to} {axis}" for to, axis in _sites(fields, first)]
        case "relocate", [to, *_]:
            return [f"relocate {first} {to} {axis}" for axis in _AXES]
        case "temple", []:
            return [f"temple {level} {first}"]
        case "found", []:
            return [f"found {size} {first}" for size in _sizes(fields, first)]
        case "move", []:
            pilli = fields["seats"][fields["to_move"]]["pilli"]
            is_near = bool(pilli) and parse_space(first) in neighbours(parse_space(pilli))
            ways = ("walk", "teleport", "sail") if is_near else ("teleport", "walk", "sail")
            return [f"{way} {first}" for way in ways]
        case "place", []:
            return [f"place {first}"]
    return []


def _canal(*spaces: str) -> str:
    return "canal " + "-".join(sorted(spaces, key=parse_space))


def _sites(fields: JsonObject, first: str) -> list[tuple[str, str]]:
    """Return where a bridge can go; if nowhere, its own space, where it cannot be turned."""
    axes = {bridge["at"]: bridge["axis"] for bridge in fields["bridges"]}
    turned = [(first, axis) for axis in _AXES if axis != axes.get(first)]
    dry = board.LAND.difference(map(parse_space, fields["canals"]))
    free = [(space, axis) for space in fields["canals"] if space not in axes for axis in _AXES]
    fitting = [(to, axis) for to, axis in free + turned if dry.issuperset(board.ramps(parse_space(to), axis))]
    return fitting or turned


def _sizes(fields: JsonObject, space: str) -> list[int]:
    """Return the size of the token that a district could have, or those on display where it could have none."""
    cell, canals = parse_space(space), set(map(parse_space, fields["canals"]))
    sizes = [len(district) for district in board.districts(canals) if cell in district]
    fitting = [size for size in sizes if board.MIN_SIZE <= size <= board.MAX_SIZE]
    return fitting or sorted(set(fields["calpulli"]["display"]))


def wasted(fields: JsonObject) -> str:
    """Return the action points that the end of the turn gives up; see `Clicks.wasted`."""
    points = fields["action_points"] if fields["phase"] == "play" else 0
    return say("{points} AP", points=points) if points else ""


CLICKS = Clicks(gain, meant, wasted=wasted, walks=("walk", "sail"))
