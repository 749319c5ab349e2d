"""Editing positions of Tzolk'in: workers, skulls and steps on the picture, everything else by controls."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from mexica_ai.draw.palette import Paint
from mexica_ai.draw.pieces import seat_mark
from mexica_ai.draw.svg import element
from mexica_ai.game import edit
from mexica_ai.game.edit import Brush, Control, Editor, Group, choice, flag, number, refuse, row
from mexica_ai.games.tzolkin import facts, render
from mexica_ai.games.tzolkin.draw import drawable
from mexica_ai.games.tzolkin.facts import BUILDINGS, CHICHEN, FREE, GEARS, IDLE, MONUMENTS, TEMPLES, TRACKS, WEALTH
from mexica_ai.games.tzolkin.notation import new_seat
from mexica_ai.games.tzolkin.shape import SHAPE
from mexica_ai.io.json_types import JsonObject

_PAINT = Paint("page")
_TITLES = {gear: gear.replace("_", " ").title() for gear in GEARS}


class TzolkinEditor(Editor):
    """Brushes for workers and skulls, which also move the seats on temples and tracks, and give them open tiles."""

    game = "tzolkin"
    shape = SHAPE

    def brushes(self, fields: JsonObject) -> list[Brush]:
        """Return a brush for each seat, for idle workers and for skulls."""
        idle = element("circle", cx=14.0, cy=14.0, r=9.0, **_PAINT("neutral", "rimneutral", 1.4))
        skull = element("path", d="M14 3l11 11l-11 11l-11 -11Z", **_PAINT("skull", "mark", 1.2))
        cross = element("path", d="M6 6l16 16M22 6l-16 16", stroke_linecap="round", **_PAINT(None, "ink", 3.0))
        found = [
            Brush(f"seat {seat}", str(seat + 1), f"Seat {seat + 1}", seat_mark(_PAINT, seat, 14, 14, 10))
            for seat in range(min(_players(fields), len(fields["seats"])))
        ]
        others = ("idle", "i", "Idle worker", idle), ("skull", "k", "Skull", skull), ("remove", "x", "Remove", cross)
        return found + [Brush(*other) for other in others]

    def groups(self, fields: JsonObject) -> list[Group]:
        """Return the fields of the calendar and the turn, the supply, and the seats."""
        players = _players(fields)
        nobody = [(None, "nobody")]
        turn = [
            choice(fields, "players", "Players", range(facts.MIN_PLAYERS, facts.MAX_PLAYERS + 1)),
            choice(fields, "phase", "Phase", facts.PHASES),
            number(fields, "day", "Day", 1, facts.LAST_DAY),
            number(fields, "food_days", "Food days held", 0, len(facts.FOOD_DAYS)),
            choice(fields, "to_move", "To move", edit.seats(players)),
            choice(fields, "start_player", "First player", edit.seats(players)),
            choice(fields, "start_space", "On the start space", nobody + edit.seats(players)),
            number(fields, "teeth_corn", "Corn on the start space", 0, facts.LAST_DAY),
            number(fields, "placed", "Workers placed this turn", 0, facts.MAX_WORKERS),
            choice(fields, "last", "Last worker", self._last(fields)),
            row(fields, "pending", "To decide, the first one now", facts.NUMBER_OF_DECISION, is_ordered=True),
            flag(fields, "options.whole_points", "Final points for corn are rounded down"),
        ]
        harvest = [
            number(fields, f"fields.{kind}[{index}]", f"{kind.title()} at Palenque {index + 2}", 0, players)
            for kind in ("corn", "wood")
            for index in range(len(fields["fields"][kind][: facts.NUM_FIELDS]))
            if kind == "corn" or index
        ]
        of_age = [name for name, tile in BUILDINGS.items() if tile["age"] == facts.age(fields["food_days"])]
        display = [
            row(fields, "display.buildings", "Buildings", _named(of_age)),
            row(fields, "display.monuments", "Monuments", _named(MONUMENTS)),
            row(fields, "skulls_placed", "Actions with a skull", range(1, facts.SKULL_ACTIONS + 1)),
        ]
        if fields["phase"] == "keep":
            display.append(row(fields, "drawn", "Tiles drawn for idle workers", _wealth(), is_ordered=True))
        found = [Group("Turn", turn), Group("Harvest tiles left", harvest), Group("Display", display)]
        return found + [
            Group(f"Seat {seat + 1}", self._seat(fields, f"seats[{seat}]"))
            for seat in range(min(len(fields["seats"]), players))
        ]

    @staticmethod
    def _seat(fields: JsonObject, where: str) -> list[Control]:
        keeping, over = fields["phase"] == "keep", fields["phase"] == "over"
        controls = [number(fields, f"{where}.score", "Score", -facts.SCORE_MAX, facts.SCORE_MAX, 0.25 if over else 1)]
        for kind in facts.STOCKS:
            controls.append(number(fields, f"{where}.{kind}", kind.title(), 0, facts.STOCK_MAX))
        controls += [
            number(fields, f"{where}.skulls", "Skulls", 0, facts.NUM_SKULLS),
            number(fields, f"{where}.workers", "Workers", facts.MIN_WORKERS, facts.MAX_WORKERS),
            number(fields, f"{where}.corn_tiles", "Corn tiles", 0, facts.STOCK_MAX),
            number(fields, f"{where}.wood_tiles", "Wood tiles", 0, facts.STOCK_MAX),
            flag(fields, f"{where}.light", "May advance by two days"),
        ]
        for temple in TEMPLES:
            top = facts.top_step(temple)
            controls.append(number(fields, f"{where}.temples.{temple}", temple.title(), facts.LOWEST, top))
        for track in TRACKS:
            controls.append(number(fields, f"{where}.technologies.{track}", track.title(), 0, facts.TOP_LEVEL))
        controls += [
            row(fields, f"{where}.buildings", "Buildings", _named(BUILDINGS)),
            row(fields, f"{where}.monuments", "Monuments", _named(MONUMENTS)),
            row(fields, f"{where}.wealth", "Wealth tiles", _wealth()),
        ]
        return controls + ([row(fields, f"{where}.dealt", "Wealth tiles dealt", _wealth())] if keeping else [])

    @staticmethod
    def _last(fields: JsonObject) -> list[tuple[str, str]]:
        """Return what may be the place of the last worker: of the phase, and what is there."""
        found = [("", "none")]
        if fields["phase"] == "placing":
            found += [(place, place) for place in facts.PLACES]
        elif fields["phase"] == "picking":
            found += [
                (name := f"{gear} {space}", name)
                for gear, gear_facts in GEARS.items()
                for space in range(gear_facts["last_action"] + 1)
            ]
        known = [value for value, _ in found]
        return found if fields["last"] in known else [*found, (fields["last"], fields["last"])]

    # --- on the picture

    def click(self, fields: JsonObject, brush: str, target: str) -> None:
        """Use a brush: a worker is put there or taken away, a seat goes one up, a tile is given to it."""
        kind, *rest = target.split(":")
        name, _, seat = brush.partition(" ")
        match kind, rest:
            case "worker", [gear, space] if gear in GEARS and _is_number(space):
                owner = {"seat": seat, "idle": IDLE, "remove": FREE}.get(name)
                if owner is None:
                    raise refuse("target", f"given {target}, a space of a gear; expected an action of {CHICHEN}")
                self._put(fields, gear, int(space[:3]), owner)
            case "use", [gear, action] if gear == CHICHEN and name in ("skull", "remove") and _is_number(action):
                self._turn_skull(fields, int(action), name)
            case "place", [facts.START] if name in ("seat", "remove"):
                taken = name == "remove" or fields["start_space"] == int(seat)
                fields["start_space"] = None if taken else int(seat)
            case "temple", [temple] if temple in TEMPLES and name == "seat":
                self._step(fields["seats"][int(seat)]["temples"], temple, facts.LOWEST, facts.top_step(temple))
            case "track", [track] if track in TRACKS and name == "seat":
                self._step(fields["seats"][int(seat)]["technologies"], track, 0, facts.TOP_LEVEL)
            case "tile", [tile] if name in ("seat", "remove"):
                self._take_tile(fields, tile, fields["seats"][int(seat)] if seat else None)
            case "built", [number, tile] if name == "remove" and number in tuple("0123"):
                own = edit.value_at(fields, f"seats[{number}]") or {}
                for key in ("buildings", "monuments"):
                    if tile in own.get(key, ()):
                        own[key].remove(tile)
            case _:
                raise refuse("target", f"{brush} cannot be used on {target[:40]!r}; expected another target")

    def move(self, fields: JsonObject, start: str, end: str) -> None:
        """Move a worker from a space of a gear to another one."""
        (gear, space), (to, place) = self._space(fields, start), self._space(fields, end)
        owner = fields["gears"][gear][space]
        if owner == FREE:
            raise refuse("from", f"no worker is on {gear} {space}; expected one to move")
        self._put(fields, gear, space, FREE)
        self._put(fields, to, place, owner)

    @staticmethod
    def _space(fields: JsonObject, target: str) -> tuple[str, int]:
        match target.split(":"):
            case ["worker", gear, space] if gear in GEARS and _is_number(space):
                if int(space) < GEARS[gear]["teeth"]:
                    fields["gears"][gear] = _teeth(fields, gear)
                    return gear, int(space)
        raise refuse("target", f"given {target[:40]!r}; expected a space of a gear such as worker:tikal:3")

    def _put(self, fields: JsonObject, gear: str, space: int, owner: str) -> None:
        gear, space = self._space(fields, f"worker:{gear}:{space}")
        places = fields["gears"][gear]
        owner = FREE if places[space] == owner else owner
        fields["gears"][gear] = places[:space] + owner + places[space + 1 :]

    @staticmethod
    def _turn_skull(fields: JsonObject, action: int, name: str) -> None:
        if action in fields["skulls_placed"]:
            fields["skulls_placed"].remove(action)
        elif name == "skull" and 1 <= action <= facts.SKULL_ACTIONS:
            fields["skulls_placed"].append(action)
        else:
            raise refuse("target", f"action {action} has no skull; expected one to remove")

    @staticmethod
    def _step(levels: dict[str, int], name: str, low: int, high: int) -> None:
        levels[name] = levels[name] + 1 if low <= levels[name] < high else low

    @staticmethod
    def _take_tile(fields: JsonObject, tile: str, own: JsonObject | None) -> None:
        """Give an open tile to a seat, or remove it."""
        for key in ("buildings", "monuments"):
            if tile in fields["display"][key]:
                fields["display"][key].remove(tile)
                if own:
                    own[key].append(tile)
                return
        raise refuse("target", f"{tile[:40]!r} is not on display; expected a tile that is")

    # --- what follows

    def changed(self, fields: JsonObject, path: str) -> None:
        """Adapt the seats to their number, the food days to the day, and the turn to the phase."""
        if path == "players":
            players = fields["players"]
            fields["seats"] = (fields["seats"] + [new_seat() for _ in range(players)])[:players]
            fields["to_move"] = min(fields["to_move"], players - 1)
            fields["start_player"] = min(fields["start_player"], players - 1)
            if (fields["start_space"] or 0) >= players:
                fields["start_space"] = None
        elif path == "phase":
            if fields["phase"] != "placing":
                fields["placed"] = 0
            fields["last"] = ""
            if fields["phase"] != "picking":
                fields["pending"] = []
        if path in ("phase", "day"):
            today = fields["phase"] in ("advance", "over")
            fields["food_days"] = sum(day < fields["day"] + today for day in facts.FOOD_DAYS)

    def tidy(self, fields: JsonObject) -> None:
        """Write tiles in data order, and count the buildings to reveal."""
        display = fields["display"]
        for owner, key, table in (
            (display, "buildings", BUILDINGS),
            (display, "monuments", MONUMENTS),
            *((own, "buildings", BUILDINGS) for own in fields["seats"]),
            *((own, "monuments", MONUMENTS) for own in fields["seats"]),
            *((own, key, WEALTH) for own in fields["seats"] for key in ("wealth", "dealt")),
        ):
            owner[key] = facts.in_order(owner[key], table)
        fields["skulls_placed"] = sorted(set(fields["skulls_placed"]))
        if fields["phase"] != "keep":
            fields["drawn"] = []
            for own in fields["seats"]:
                own["dealt"] = []
        missing = max(0, min(facts.DISPLAY - len(display["buildings"]), facts.deck(fields).total()))
        fields["reveal"] = missing if fields["phase"] in ("turn", "advance") else 0

    def drawable(self, data: Any) -> JsonObject:
        """Return what the picture shows of a position."""
        return drawable(data)

    # --- faults

    def name(self, data: Any, path: str) -> str:
        """Return a gear, or tiles that no control counts together."""
        match edit.steps_of(path):
            case ["gears", gear] if gear in _TITLES:
                return f"the gear {_TITLES[gear]}"
            case ["gears"]:
                return "the gears"
            case ["fields", "corn" | "wood" as kind]:
                return f"{kind} tiles at Palenque"
            case ["reveal"]:
                return "buildings to reveal"
        return ""

    def say(self, text: str) -> str:
        """Return what a fault says, with the workers of a gear in words."""
        text = _OWNERS.sub(r"idle workers anywhere, those of seats up to action \1", text)
        return _WORKERS.sub(lambda match: _workers(match[1]), text)

    def targets(self, data: Any, path: str) -> list[str]:
        """Return the places of the picture that a fault concerns."""
        match edit.steps_of(path):
            case ["gears", gear]:
                places = edit.entries_at(data, path)[: GEARS[gear]["teeth"] if gear in GEARS else 0]
                taken = [space for space, place in enumerate(places) if place != FREE]
                return [f"worker:{gear}:{space}" for space in taken] or [f"place:{gear}"] * (gear in GEARS)
            case ["gears"]:
                return [f"place:{gear}" for gear in GEARS]
            case ["skulls_placed", *_]:
                placed = edit.entries_at(data, "skulls_placed")
                known = [one for one in placed if type(one) is int and one in _SKULL_ACTIONS]
                return [f"use:{CHICHEN}:{one}" for one in known] or [f"place:{CHICHEN}"]
            case ["last"]:
                match str(edit.value_at(data, "last")).split():
                    case [gear, space] if gear in GEARS and space.isdecimal() and len(space) < 3:
                        return [f"worker:{gear}:{int(space)}"] * (int(space) < GEARS[gear]["teeth"])
                    case [place] if place in facts.PLACES:
                        return [f"place:{place}"]
            case ["start_space" | "start_player" | "teeth_corn"]:
                return [f"place:{facts.START}"]
            case ["fields", _, int(index)]:
                return [f"use:palenque:{index + 2}"] * (index < facts.NUM_FIELDS)
            case ["fields", *_]:
                return [f"use:palenque:{index + 2}" for index in range(facts.NUM_FIELDS)]
            case ["display", "buildings" | "monuments" as key, *rest]:
                names = edit.entries_at(data, f"display.{key}", rest)
                return [f"tile:{name}" for name in names if name in _TILES]
            case ["seats", _, "temples", temple]:
                return [f"temple:{temple}"] * (temple in TEMPLES)
            case ["seats", _, "technologies", track]:
                return [f"track:{track}"] * (track in TRACKS)
            case ["seats", seat, "buildings" | "monuments" as key, *rest]:
                names = edit.entries_at(data, f"seats[{seat}].{key}", rest)
                return [f"built:{seat}:{name}" for name in names if name in _TILES]
        return []


_WORKERS = re.compile(r'"([.i0-3]{5,13})"')  # the places of a gear
_OWNERS = re.compile(r'\d+ characters, each "\.", "i" or, up to action (\d+), a seat')
_SKULL_ACTIONS = range(1, facts.SKULL_ACTIONS + 1)
_TILES = (*BUILDINGS, *MONUMENTS)


def _workers(places: str) -> str:
    """Return where the workers of a gear stand, in words."""
    owners = ((space, owner) for space, owner in enumerate(places) if owner != FREE)
    found = [f"{'idle' if owner == IDLE else f'seat {owner}'} on {space}" for space, owner in owners]
    return f"workers {', '.join(found)}" if found else "no workers"


def _is_number(text: str) -> bool:
    """Return whether a part of a target is a small number."""
    return text.isdecimal() and len(text) < 3


def _players(fields: JsonObject) -> int:
    return max(facts.MIN_PLAYERS, min(len(fields["seats"]), facts.MAX_PLAYERS))


def _teeth(fields: JsonObject, gear: str) -> str:
    """Return the places of a gear, one for each tooth."""
    teeth = GEARS[gear]["teeth"]
    return str(fields["gears"][gear]).ljust(teeth, FREE)[:teeth]


def _named(names: Iterable[str]) -> list[tuple[str, str]]:
    ages = {"a1": ", age 1", "a2": ", age 2"}
    parts = ((name, *name.partition("_")[::2]) for name in names)
    return [(name, title.replace("_", " ") + ages.get(kind, "")) for name, kind, title in parts]


def _wealth() -> list[tuple[str, str]]:
    return [(name, f"{name[2:]}: {render.describe_effects(tile['effects'])}") for name, tile in WEALTH.items()]


EDITOR = TzolkinEditor()
