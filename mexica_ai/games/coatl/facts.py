"""Colours, numbers and cards of Coatl, and the points of a Coatl: slow and simple, for the text forms and rendering.

The cards come from ``cext/games/coatl/cards.json``, which the compiled rules read, too. A Coatl is a word over
the letters of `COLORS`, read from head to tail.
"""

import json
import re
from functools import cache
from importlib.resources import files
from itertools import combinations_with_replacement

from mexica_ai.io.json_types import JsonObject

COLORS = "YRKGB"  # in canonical order
PAIRS = tuple(map("".join, combinations_with_replacement(COLORS, 2)))  # of body pieces, in canonical order
KINDS = ("head", "tail", "body")
PARTS = ("heads", "tails", "bodies")  # the kinds as keys of positions
KIND_OF_PART = dict(zip(PARTS, KINDS, strict=True))
PART_OF_KIND = dict(zip(KINDS, PARTS, strict=True))
PIECES_A_COLOR = {"heads": 3, "tails": 3, "bodies": 24}
SUPPLY_SPACES = {"heads": 2, "tails": 2, "bodies": 6}  # a space of bodies holds two
CAPACITY = 8  # stored pieces of a seat
MIN_PLAYERS, MAX_PLAYERS = 2, 4
HAND_LIMIT = 5
MAX_KEPT = 3
NUM_DISPLAYED = 6
NUM_PILES = 2
ENDING_KEYS = {"third": "seat", "bodies": "last_round"}  # of the cause of the end, what else is said of it
TOKENS = ("perfect", "future", "promise")
MAX_COATLS, MAX_UNFINISHED = 3, 2  # of a seat
MAX_PIECES, MAX_PLAYED = 64, 4  # of a Coatl (D10 of the rules)


def num_dealt(seat: int) -> int:
    """Return how many prophecies a seat is dealt."""
    return 3 + seat


def pieces_of(coatl: JsonObject) -> dict[str, str]:
    """Return the colours of a position's Coatl by the kinds of `PARTS`."""
    pieces = coatl["pieces"]
    first, last = int(coatl["head"]), len(pieces) - coatl["tail"]
    return {"heads": pieces[:first], "tails": pieces[last:], "bodies": pieces[first:last]}


def _load() -> tuple[dict[str, JsonObject], dict[str, JsonObject], dict[str, str]]:
    data = json.loads((files("cext.games") / "coatl" / "cards.json").read_text(encoding="utf-8"))
    by_id = [{card["id"]: card for card in data[key]} for key in ("prophecy_cards", "temple_cards")]
    return *by_id, data["colors"]


PROPHECIES, TEMPLES, LETTERS = _load()
COLOR_NAMES = {letter: name for name, letter in LETTERS.items()}
FACES, TEMPLE_NAMES = tuple(PROPHECIES), tuple(TEMPLES)  # by number: P00.., T00..
COPIES = {face: card["copies"] for face, card in PROPHECIES.items()}
NUM_PROPHECIES = sum(COPIES.values())

_OPEN = "_"  # in a word: an open end, where a piece of any colour may follow


def count_times(face: str, pieces: str, *, open_left: bool = False, open_right: bool = False) -> int:
    """Return the largest number of occurrences of a prophecy's pattern that share no piece.

    Parameters
    ----------
    face : str
        Such as ``P07``.
    pieces : str
        Colours from head to tail.
    open_left, open_right : bool
        Whether a piece of any colour may follow at that end, so that "not next to" is not satisfied there: at
        the open end of an unfinished Coatl, with strict ends only (D7).
    """
    requirement = PROPHECIES[face]["requirement"]
    if requirement["type"] == "count":
        return pieces.count(LETTERS[requirement["color"]])
    word = _OPEN * open_left + pieces + _OPEN * open_right
    return _count_disjoint(_pattern(face), word)


def has_built_up(face: str, pieces: str) -> bool:
    """Return whether a Coatl with these pieces may have reached a prophecy's first level at an earlier time.

    "Not next to" is ignored, since an end that was open then may have satisfied it.
    """
    requirement = PROPHECIES[face]["requirement"]
    times = (
        pieces.count(LETTERS[requirement["color"]])
        if requirement["type"] == "count"
        else _count_disjoint(_pattern(face, bare=True), pieces)
    )
    return bool(times >= PROPHECIES[face]["levels"][0]["times"])


def prophecy_points(face: str, pieces: str, **ends: bool) -> int:
    """Return a prophecy's points on a Coatl; `ends` as for `count_times`."""
    times = count_times(face, pieces, **ends)
    return max((level["points"] for level in PROPHECIES[face]["levels"] if level["times"] <= times), default=0)


def temple_points(temple: str, pieces: str) -> int:
    """Return a temple's points on a complete Coatl."""
    card = TEMPLES[temple]
    met = sum(_is_met(requirement, pieces) for requirement in card["requirements"])
    return int(card["points_by_requirements_met"][met])


def coatl_points(coatl: JsonObject, *, strict_ends: bool) -> list[int]:
    """Return the points of each prophecy of a position's Coatl and, last, of its temple (0 for none)."""
    pieces = coatl["pieces"]
    ends = {
        "open_left": strict_ends and not coatl["head"],
        "open_right": strict_ends and not coatl["tail"],
    }
    points = [prophecy_points(face, pieces, **ends) for face in coatl["prophecies"]]
    return [*points, temple_points(coatl["temple"], pieces) if coatl["temple"] else 0]


def describe(card: str) -> str:
    """Return a card in one short line: name, pattern, points by level.

    ``P00 #Y 3-6: 2/3/4/5`` counts three to six yellow pieces; ``P35 Y K+ R 2/6`` gives 2 points for one
    occurrence of the pattern and 6 for two; ``T05 R=Y =12 3/7`` wants as many red as yellow pieces, and
    twelve in all.
    """
    if card in TEMPLES:
        requirements = " ".join(map(_describe_requirement, TEMPLES[card]["requirements"]))
        points = TEMPLES[card]["points_by_requirements_met"][1:]
        return f"{card} {requirements} {'/'.join(map(str, points))}"
    if card not in PROPHECIES:
        return card
    levels = PROPHECIES[card]["levels"]
    times = [level["times"] for level in levels]
    numbers = "" if times == list(range(1, len(times) + 1)) else f" {times[0]}-{times[-1]}:"
    points = "/".join(str(level["points"]) for level in levels)
    return f"{card} {PROPHECIES[card]['notation']}{numbers} {points}"


def _describe_requirement(requirement: JsonObject) -> str:
    if requirement["type"] == "absent":
        return f"no {LETTERS[requirement['color']]}"
    if requirement["type"] == "length":
        return f"={requirement['length']}"
    return "=".join(LETTERS[color] for color in requirement["colors"])


def _is_met(requirement: JsonObject, pieces: str) -> bool:
    if requirement["type"] == "absent":
        return LETTERS[requirement["color"]] not in pieces
    if requirement["type"] == "length":
        return bool(len(pieces) == requirement["length"])
    one, other = (pieces.count(LETTERS[color]) for color in requirement["colors"])
    return one == other > 0


@cache
def _pattern(face: str, *, bare: bool = False) -> re.Pattern[str]:
    """Return the regular expression of a sequence, without "not next to" if `bare`."""
    parts = []
    for element in PROPHECIES[face]["requirement"]["sequence"]:
        letter = f"[{COLORS}]" if element["color"] == "any" else LETTERS[element["color"]]
        if element["el"] == "piece":
            parts.append(letter)
        elif element["el"] == "run":
            parts.append(f"{letter}+?")
        elif not bare:
            look = "(?<!" if element["side"] == "before" else "(?!"
            parts.append(f"{look}[{letter}{_OPEN}])")
    return re.compile("".join(parts))


def _count_disjoint(pattern: re.Pattern[str], word: str) -> int:
    """Return the largest number of disjoint matches, by always choosing the match that ends first."""
    matches = [pattern.match(word, start) for start in range(len(word))]
    times = after = 0
    for start, end in sorted((match.span() for match in matches if match), key=lambda span: span[1]):
        if start >= after:
            times, after = times + 1, end
    return times
