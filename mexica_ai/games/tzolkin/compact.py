"""Tzolk'in's compact form: options, turn, decisions, gears, palenque, display, drawn tiles, seats.

Tiles are two digits, their numbers in data order, and ``??`` where they are hidden.
"""

import re

from mexica_ai.game.compact import (
    CARDS,
    NONE,
    join_numbers,
    or_none,
    seat_or_null,
    seats_of,
    split_fields,
    split_numbers,
    text_of,
    viewer_entry,
    viewer_of,
)
from mexica_ai.games.tzolkin.facts import BLOCKS, BUILDINGS, GEARS, MONUMENTS, TEMPLES, TRACKS, WEALTH
from mexica_ai.io.json_types import JsonObject

_BUILDINGS, _MONUMENTS, _WEALTH = list(BUILDINGS), list(MONUMENTS), list(WEALTH)
_DAYS = ("day", "food_days", "start_player", "to_move", "placed")
_STOCKS = ("corn", *BLOCKS.values(), "skulls", "workers", "light", "corn_tiles", "wood_tiles")
_NUMBER = r"\d{1,3}"
_DIGITS = r"(?:\d+|-)"
_SEAT = (
    rf"-?\d{{1,3}}(?:\.25|\.5|\.75)?(?:,{_NUMBER}){{6}},[01](?:,{_NUMBER}){{2}},-?\d{{1,2}}(?:~-?\d{{1,2}}){{2}},"
    rf"\d{{4}}(?:,{CARDS}){{4}}"
)
_GEARS = "/".join(rf"[.i0-9]{{{facts['teeth']}}}" for facts in GEARS.values())
_FIELDS = {
    "options": (r"\d,[0-9*-],[w-]", "2,-,w"),
    "turn": (
        r"[a-z]+(?:,\d{1,2}){5},(?:[a-z_]+\d{0,2}|-),\d{1,2},(?:\d|-),\d{1,2}",
        "picking,10,1,1,0,0,tikal3,0,-,1",
    ),
    "decisions": (r"[a-zA-Z0-9_]+(?:,[a-zA-Z0-9_]+)*|-", "climb_one,build_more, or -"),
    "gears": (_GEARS, ".ii.i.i.../... for five gears"),
    "palenque": (rf"{_DIGITS},\d{{4}},\d{{4}}", "2,2212,0212"),
    "display": (f"{CARDS},{CARDS}", "000307101214,00030711"),
    "drawn": (CARDS, "-, or 0712"),
    "seats": (f"{_SEAT}(?:/{_SEAT})*", "0,0,3,1,0,0,4,1,1,0,1~0~1,1100,05,-,0108,-/..."),
}


def format_compact(data: JsonObject) -> str:
    """Return the fields of a JSON position in canonical form."""
    turn = [data["phase"], *(data[key] for key in _DAYS), or_none(data["last"].replace(" ", ""))]
    turn += [data["reveal"], or_none(data["start_space"]), data["teeth_corn"]]
    digits = [data["skulls_placed"], data["fields"]["corn"], data["fields"]["wood"]]
    display = data["display"]
    return " ".join(
        [
            f"{data['players']},{viewer_entry(data['viewer'])},{'w' if data['options']['whole_points'] else NONE}",
            ",".join(map(str, turn)),
            or_none(",".join(text.replace(" ", "_") for text in data["pending"])),
            "/".join(data["gears"].values()),
            ",".join(or_none("".join(map(str, numbers))) for numbers in digits),
            f"{join_numbers(display['buildings'], _BUILDINGS)},{join_numbers(display['monuments'], _MONUMENTS)}",
            join_numbers(data["drawn"], _WEALTH),
            "/".join(map(_format_seat, data["seats"])),
        ]
    )


def parse_compact(text: str, path: str = "position") -> JsonObject:
    """Return the JSON position of compact fields; whether it is valid is left to the reader of that form."""
    options, turn, pending, (gears,), digits, display, (drawn,), seats = split_fields(text, _FIELDS, path)
    phase, *days, last, reveal, start_space, teeth_corn = turn
    skulls, corn, wood = ([int(digit) for digit in text_of(entry)] for entry in digits)
    return {
        "game": "tzolkin",
        "version": 1,
        "players": int(options[0]),
        "viewer": viewer_of(options[1]),
        "options": {"whole_points": options[2] == "w"},
        "phase": phase,
        **dict(zip(_DAYS, map(int, days), strict=True)),
        "last": re.sub(r"(\d+)$", r" \1", text_of(last)),
        "pending": [text.replace("_", " ") for text in pending if text != NONE],
        "reveal": int(reveal),
        "start_space": seat_or_null(start_space),
        "teeth_corn": int(teeth_corn),
        "gears": dict(zip(GEARS, gears.split("/"), strict=True)),
        "skulls_placed": skulls,
        "fields": {"corn": corn, "wood": wood},
        "display": {
            "buildings": split_numbers(display[0], _BUILDINGS, path),
            "monuments": split_numbers(display[1], _MONUMENTS, path),
        },
        "drawn": split_numbers(drawn, _WEALTH, path),
        "seats": [_read_seat(seat, path) for seat in seats_of(seats)],
    }


def _format_seat(seat: JsonObject) -> str:
    tiles = (("buildings", _BUILDINGS), ("monuments", _MONUMENTS), ("wealth", _WEALTH), ("dealt", _WEALTH))
    entries = [seat["score"], *(int(seat[key]) for key in _STOCKS), "~".join(map(str, seat["temples"].values()))]
    entries += ["".join(map(str, seat["technologies"].values()))]
    return ",".join([*map(str, entries), *(join_numbers(seat[key], order) for key, order in tiles)])


def _read_seat(entries: list[str], path: str) -> JsonObject:
    score, *numbers, temples, levels, buildings, monuments, wealth, dealt = entries
    stocks = dict(zip(_STOCKS, map(int, numbers), strict=True))
    return {
        "score": float(score) if "." in score else int(score),
        **stocks | {"light": stocks["light"] == 1},
        "temples": dict(zip(TEMPLES, map(int, temples.split("~")), strict=True)),
        "technologies": dict(zip(TRACKS, map(int, levels), strict=True)),
        "buildings": split_numbers(buildings, _BUILDINGS, path),
        "monuments": split_numbers(monuments, _MONUMENTS, path),
        "wealth": split_numbers(wealth, _WEALTH, path),
        "dealt": split_numbers(dealt, _WEALTH, path),
    }
