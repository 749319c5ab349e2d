"""What a click on the picture of Tzolk'in may mean; what actions bring is in `gains`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mexica_ai.game.contract import Clicks
from mexica_ai.games.tzolkin import facts, gains
from mexica_ai.games.tzolkin.facts import BUILDINGS, GEARS, MONUMENTS, WEALTH
from mexica_ai.games.tzolkin.words import wealth
from mexica_ai.io.json_types import JsonObject

_MOST_GEAR_ACTIONS = 5  # of a gear that others can name


def meant(fields: JsonObject, tool: str, targets: Sequence[str]) -> list[str]:
    """Return the actions that a click may mean; see `Clicks.meant`."""
    places: dict[str, list[list[str]]] = {}
    for target in targets:
        place, *rest = target.split(":")
        places.setdefault(place, []).append(rest)
    temples = [temple for (temple,) in places.get("temple", [])]
    match tool:
        case "keep":
            tiles = facts.in_order([tile for _, tile, *_ in places.get("dealt", [])], facts.WEALTH)
            return ["keep " + " ".join(tiles)] if len(tiles) == facts.NUM_KEPT == len(set(tiles)) else []
        case "place":
            return [f"place {gear}" for gear, *_ in (*places.get("place", []), *places.get("worker", []))]
        case "pick":
            return _picks(fields, places.get("worker", [])[:1], places.get("use", [])[:1])
        case "use":
            return [f"use {gear} {number}" for gear, number in places.get("use", [])
                    if gear != facts.CHICHEN and int(number) <= _MOST_GEAR_ACTIONS]  # fmt: skip
        case "beg" | "burn":
            return [f"{tool} {temple}" for temple in temples]
        case "climb":
            return [f"climb {temple}{payment}" for temple in temples for payment in ("", " W", " S", " G")]
        case "research":
            return [f"research {track}{payment}" for (track,) in places.get("track", [])
                    for payment in ("", " W", " S", " G")]  # fmt: skip
        case "build":
            return [f"build {tile}" for (tile,) in places.get("tile", [])]
    return []


def _picks(fields: JsonObject, workers: list[list[str]], uses: list[list[str]]) -> list[str]:
    """Return the pick-ups of a worker, or of those on the gear of an action."""
    if workers:
        ((gear, space),) = workers
        numbers = [number for other, number in uses if other == gear] or [space]
        actions = len(GEARS[gear]["actions"])
        if int(space) > GEARS[gear]["last_action"]:
            return []
        return [f"pick {gear} {space} {number}" for number in numbers if 1 <= int(number) <= actions] or [
            f"pick {gear} {space}"
        ]
    own = str(fields["to_move"])

    def spaces(gear: str, number: str) -> list[str]:
        if int(number) > len(GEARS[gear]["actions"]):  # the worker must stand at it
            return [number]
        return [str(space) for space, owner in enumerate(fields["gears"][gear]) if owner == own] or [number]

    return [
        action
        for gear, number in uses
        for space in spaces(gear, number)
        for action in _picks(fields, [[gear, space]], [[gear, number]])
    ]


_NAMES = {gear: gear.replace("_", " ").title() for gear in GEARS} | {
    tile: tile.partition("_")[2].replace("_", " ") for tile in (*BUILDINGS, *MONUMENTS)
}
_NAME = re.compile(r"\b(" + "|".join(sorted((*_NAMES, *WEALTH), key=len, reverse=True)) + r")\b")


def plain(words: str) -> str:
    """Return a reason with the names of gears and tiles as the picture has them; see `Clicks.plain`."""
    return _NAME.sub(lambda match: _NAMES[match[1]] if match[1] in _NAMES else wealth(match[1]), words)


CLICKS = Clicks(gains.gain, meant, plain)
