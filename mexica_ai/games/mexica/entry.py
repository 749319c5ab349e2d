"""Entering actions of Mexica on its picture."""

from __future__ import annotations

from mexica_ai.game.entry import Entry, Kind, Target, Tool, choice
from mexica_ai.game.messages import noted, say
from mexica_ai.games.mexica import board
from mexica_ai.games.mexica.board import format_space, parse_space
from mexica_ai.io.json_types import JsonObject

TOOLS = (
    Tool("place", "p", "Place the pilli"),
    Tool("canal", "c", "Canal of two", any_order=True),
    Tool("single", "x", "Canal of one"),
    Tool("bridge", "b", "Bridge"),
    Tool("relocate", "r", "Move a bridge"),
    Tool("temple 1", "1", "Temple 1"),
    Tool("temple 2", "2", "Temple 2"),
    Tool("temple 3", "3", "Temple 3"),
    Tool("temple 4", "4", "Temple 4"),
    Tool("found", "f", "Found a district"),
    Tool("move", "m", "Move the pilli", is_priced=True),
    Tool("token", "k", "Take an action token"),
    Tool("end", "e", "End the turn"),
)
GRID = {"rows": [str(row) for row in range(1, board.NUM_ROWS + 1)], "columns": list(board.COLUMNS)}
_MOVES = {"walk": noted("walk"), "sail": noted("sail"), "teleport": noted("teleport")}
_AXES = {"ew": noted("east to west"), "ns": noted("north to south")}


def entry(action: str, fields: JsonObject) -> Entry:
    """Return how an action is entered; see `Picture.entry`."""
    verb, *words = action.split()
    match verb, words:
        case "canal", [spaces]:
            places = tuple(map(_space, spaces.split("-")))
            return Entry("canal" if len(places) == 2 else "single", places)
        case "bridge", [space, axis]:
            return Entry("bridge", (_space(space), _axis(axis)))
        case "relocate", [space, to, axis]:
            return Entry("relocate", (Target(space, Kind.BRIDGE, space), _space(to), _axis(axis)))
        case "temple", [level, space]:
            return Entry(f"temple {level}", (_space(space),))
        case "found", [size, space]:
            return Entry("found", (_space(space), choice(say("district of {size}", size=size), size)))
        case (("walk" | "sail" | "teleport"), [space]):
            return Entry("move", (_space(space), choice(say(_MOVES[verb]))))
    return Entry(verb, tuple(map(_space, words)))


def _space(name: str) -> Target:
    return Target(name, Kind.SPACE, name)


def _axis(axis: str) -> Target:
    return choice(say(_AXES[axis]), axis, Kind.AXIS)


def describe(fields: JsonObject) -> dict[str, str]:
    """Return the pieces on the targets of the picture, in words; see `Picture.describe_targets`."""
    land, lake = say("land"), say("lake")
    descriptions = {format_space(cell): land if cell in board.LAND else lake for cell in board.GRID}
    canals = [name for name in fields["canals"] if name in descriptions]
    for district in board.districts({parse_space(name) for name in canals}):
        words = say("district of {size}", size=len(district))
        for cell in district:
            descriptions[format_space(cell)] = words
    descriptions |= dict.fromkeys(canals, say("canal"))
    for bridge in fields["bridges"]:
        descriptions[bridge["at"]] += ", " + say("bridge {axis}", axis=say(_AXES[bridge["axis"]]))
    for token in fields["calpulli"]["placed"]:
        descriptions[token["at"]] += ", " + say("calpulli {size}", size=token["size"])
    for temple in fields["temples"]:
        seat, level = temple["seat"], temple["level"]
        descriptions[temple["at"]] += ", " + (
            say("neutral temple {level}", level=level)
            if seat == board.NEUTRAL
            else say("seat {seat}'s temple {level}", seat=seat, level=level)
        )
    for seat, own in enumerate(fields["seats"]):
        if own["pilli"]:
            descriptions[own["pilli"]] += ", " + say("pilli of seat {seat}", seat=seat)
    return descriptions
