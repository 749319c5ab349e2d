"""Coatl's compact form: options, turn, ending, supply, cards, piles, seats, memory.

Cards are two digits, ``07`` for P07 or T07, and ``??`` where they are hidden. A Coatl is ``<RKG_0712t03!``:
its pieces between ``<`` head and ``>`` tail or ``_`` open ends, its prophecies, its temple, and ``!`` if it is
closed.
"""

import re

from mexica_ai.game.compact import (
    CARDS,
    NONE,
    join_numbers,
    or_none,
    seats_of,
    split_fields,
    split_numbers,
    text_of,
    viewer_entry,
    viewer_of,
)
from mexica_ai.games.coatl.facts import COLORS, ENDING_KEYS, FACES, PAIRS, PARTS, TEMPLE_NAMES, TOKENS
from mexica_ai.io.json_types import JsonObject

_FLAGS = {"s": "sacrifice_tokens", "e": "strict_ends"}
_TURN = ("round", "to_move", "actions_left", "passes", "closing")
_PIECES = f"(?:[{COLORS}]+|-)"
_PAIRS = f"(?:(?:{'|'.join(PAIRS)})+|-)"
_COATL = (
    rf"(?P<head>[<_])(?P<pieces>[{COLORS}]+)(?P<tail>[>_])"
    r"(?P<prophecies>(?:\d\d)*)(?P<temple>t\d\d)?(?P<closed>!?)"
)
_BARE_COATL = re.sub(r"\?P<\w+>", "", _COATL)
_LETTERS = {token[:2]: token for token in TOKENS}  # pe, fu, pr
_SEAT = (
    rf"{_PIECES},{_PIECES},{_PIECES},{CARDS},{CARDS},{CARDS},{CARDS},{CARDS},(?:(?:{'|'.join(_LETTERS)})+|-),"
    rf"(?:{_BARE_COATL}(?:\+{_BARE_COATL})*|-)"
)
# Entries of the memory: the letter of the word, then the seat and the card.
_MEMORY = {
    "u": "unsure", "d": "discard", "e": "deal", "p": "play", "r": "reveal", "n": "renew", "l": "public",
    "v": "private", "a": "across",
}  # fmt: skip
_ENTRY = rf"(?:n\d{{1,2}}|[{''.join(_MEMORY)}][0-3]?(?:\d\d|\?\?))"
_FIELDS = {
    "options": (r"\d,[0-9*-],(?:s?e?|-)", "2,-,s"),
    "turn": (r"[a-z]+,(?:[a-z]+|-),\d{1,5},\d,\d,\d{1,5},\d", "turn,-,4,1,2,0,0"),
    "ending": (r"third,\d|bodies,\d{1,5}|-", "-, third,1 or bodies,12"),
    "supply": (f"{_PIECES},{_PIECES},{_PAIRS}", "RK,YG,YRKKGB"),
    "cards": (rf"{CARDS},\d{{1,2}},{CARDS}", "010712,34,-"),
    "piles": (r"(?:\d\d|-),\d{1,2}(?:/(?:\d\d|-),\d{1,2})*", "03,4/11,5"),
    "seats": (f"{_SEAT}(?:/{_SEAT})*", "R,-,YYG,0307,07,-,01,-,fupr,<RKG_0712/..."),
    "memory": (f"{_ENTRY}(?:,{_ENTRY})*|-", "-, or e107,r12"),
}


def format_compact(data: JsonObject) -> str:
    """Return the fields of a JSON position in canonical form."""
    ending = data["ending"]
    flags = "".join(letter for letter, option in _FLAGS.items() if data["options"][option])
    supply = data["supply"]
    cards = (join_numbers(data["display"], FACES), data["deck"], join_numbers(data["discarded"], FACES))
    fields = (
        (data["players"], viewer_entry(data["viewer"]), or_none(flags)),
        (data["phase"], or_none(data["pending"]), *(data[key] for key in _TURN)),
        (ending["cause"], ending[ENDING_KEYS[ending["cause"]]]) if ending else NONE,
        (*(or_none("".join(supply[part])) for part in PARTS),),
        cards,
    )
    piles = "/".join(f"{or_none(pile['top'][1:])},{pile['below']}" for pile in data["piles"])
    memory = ",".join(map(_format_entry, data.get("memory", ())))
    texts = [",".join(map(str, field)) for field in fields]
    return " ".join([*texts, piles, "/".join(map(_format_seat, data["seats"])), or_none(memory)])


def parse_compact(text: str, path: str = "position") -> JsonObject:
    """Return the JSON position of compact fields; whether it is valid is left to the reader of that form."""
    options, turn, ending, supply, cards, piles, seats, memory = split_fields(text, _FIELDS, path)
    heads, tails, bodies = map(text_of, supply)
    data = {
        "game": "coatl",
        "version": 1,
        "players": int(options[0]),
        "viewer": viewer_of(options[1]),
        "options": {name: letter in options[2] for letter, name in _FLAGS.items()},
        "phase": turn[0],
        "pending": text_of(turn[1]),
        **dict(zip(_TURN, map(int, turn[2:]), strict=True)),
        "ending": None if ending == [NONE] else {"cause": ending[0], ENDING_KEYS[ending[0]]: int(ending[1])},
        "supply": {"heads": heads, "tails": tails, "bodies": re.findall("..", bodies)},
        "display": split_numbers(cards[0], FACES, path),
        "deck": int(cards[1]),
        "discarded": split_numbers(cards[2], FACES, path),
        "piles": [{"top": f"T{top}" if top != NONE else "", "below": int(below)} for top, below in seats_of(piles)],
        "seats": [_read_seat(seat, path) for seat in seats_of(seats)],
    }
    return data if memory == [NONE] else data | {"memory": [_read_entry(entry) for entry in memory]}


def _format_seat(seat: JsonObject) -> str:
    cards = [join_numbers(seat[key], FACES) for key in ("hand", "shown", "discarded")]
    cards += [join_numbers(seat[key], TEMPLE_NAMES) for key in ("temples", "shown_temples")]
    tokens = "".join(token[:2] for token in seat["tokens"])
    coatls = "+".join(map(_format_coatl, seat["coatls"]))
    return ",".join([*(or_none(seat["stored"][part]) for part in PARTS), *cards, or_none(tokens), or_none(coatls)])


def _read_seat(entries: list[str], path: str) -> JsonObject:
    *stored, hand, shown, discarded, temples, shown_temples, tokens, coatls = entries
    return {
        "stored": dict(zip(PARTS, map(text_of, stored), strict=True)),
        "hand": split_numbers(hand, FACES, path),
        "shown": split_numbers(shown, FACES, path),
        "discarded": split_numbers(discarded, FACES, path),
        "temples": split_numbers(temples, TEMPLE_NAMES, path),
        "shown_temples": split_numbers(shown_temples, TEMPLE_NAMES, path),
        "tokens": [_LETTERS[pair] for pair in re.findall("..", text_of(tokens))],
        "coatls": [_read_coatl(coatl) for coatl in re.split(r"\+", coatls) if coatl != NONE],
    }


def _format_coatl(coatl: JsonObject) -> str:
    head, tail = "<" if coatl["head"] else "_", ">" if coatl["tail"] else "_"
    cards = "".join(face[1:] for face in coatl["prophecies"]) + coatl["temple"].lower()
    return f"{head}{coatl['pieces']}{tail}{cards}{'!' * coatl['closed']}"


def _read_coatl(text: str) -> JsonObject:
    match = re.fullmatch(_COATL, text, re.ASCII)
    assert match, text  # `_FIELDS` has matched it
    return {
        "pieces": match["pieces"],
        "head": match["head"] == "<",
        "tail": match["tail"] == ">",
        "prophecies": [f"P{number}" for number in re.findall("..", match["prophecies"])],
        "temple": (match["temple"] or "").upper(),
        "closed": match["closed"] == "!",
    }


def _format_entry(entry: str) -> str:
    word, *rest = entry.split()
    letter = next(letter for letter, name in _MEMORY.items() if name == word)
    return letter + "".join("??" if part == "?" else part.removeprefix("P") for part in rest)


def _read_entry(text: str) -> str:
    word, rest = _MEMORY[text[0]], text[1:]
    if word == "renew":
        return f"renew {rest}"
    seat, card = rest[:-2], "?" if rest.endswith("??") else f"P{rest[-2:]}"
    return " ".join([word, *seat, card])
