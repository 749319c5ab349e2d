"""Compact positions: one line of text, as FEN is in chess. The common part of the forms of all games.

A compact position is a header ``GAME/VERSION`` and the game's fields, separated by single spaces. Entries of a
field are separated by ``,``, seats and rows by ``/``; ``-`` is an empty list, or null. Each game translates
between its fields and the JSON form (`Text.format_compact` and `parse_compact`); the JSON form's reader then checks the
position, so nothing here judges it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from mexica_ai.game.text_forms import SPECTATOR
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import quote

VERSION = 1  # of the compact forms
NONE = "-"
ANYBODY = "*"  # as the viewer: a spectator
HIDDEN = "?"
_HEADER = re.compile(r"\s*([a-z][a-z0-9_]*)/([0-9]{1,9}) (?=\S)(.*\S)\s*")
CARDS = r"(?:(?:[0-9]{2}|\?\?)+|-)"  # pattern of `join_numbers`


def split_header(text: str) -> tuple[str, int, str] | None:
    """Return the game, the version and the fields of a compact position; None if a text is no such line."""
    match = _HEADER.fullmatch(text)
    return (match[1], int(match[2]), match[3]) if match else None


def split_fields(text: str, fields: Mapping[str, tuple[str, str]], path: str) -> list[list[str]]:
    """Return the entries of each field of a compact position.

    Parameters
    ----------
    text : str
        The fields, without the header.
    fields : mapping
        For each field in order, by its name, the regular expression of its text and an example.
    path : str
        Where the text stands, for messages.

    Raises
    ------
    NotationError
        The number of fields or the text of one is wrong; reason BAD_COMPACT.
    """
    given = text.split(" ")
    if len(given) != len(fields):
        raise bad_compact(
            path, f"has {len(given)} fields after the header; expected {len(fields)}: {', '.join(fields)}"
        )
    for number, (word, (name, (pattern, example))) in enumerate(zip(given, fields.items(), strict=True), 1):
        if not re.fullmatch(pattern, word, re.ASCII):
            raise bad_compact(path, f"field {number}, {name}: given {quote(word)}; expected such as {example}")
    return [word.split(",") for word in given]


def bad_compact(path: str, problem: str) -> NotationError:
    """Return the error for a text that is not a compact position of its game."""
    return NotationError(f"{path}: {problem}", reason="BAD_COMPACT", path=path)


def seats_of(field: Sequence[str]) -> list[list[str]]:
    """Return the entries of each seat, from a field of several seats that was split at its commas."""
    return [seat.split(",") for seat in ",".join(field).split("/")]


def join_numbers(names: Iterable[str], order: Sequence[str]) -> str:
    """Return names as their numbers in `order`, two digits each, hidden ones as ``??``."""
    return "".join("??" if name == HIDDEN else f"{order.index(name):02}" for name in names) or NONE


def split_numbers(text: str, order: Sequence[str], path: str) -> list[str]:
    """Return the names that `join_numbers` wrote.

    Raises
    ------
    NotationError
        A number is too large; reason BAD_COMPACT.
    """
    names = []
    for pair in re.findall("..", "" if text == NONE else text):
        if pair != "??" and int(pair) >= len(order):
            raise bad_compact(path, f"given number {pair}; expected one from 00 to {len(order) - 1:02}")
        names.append(HIDDEN if pair == "??" else order[int(pair)])
    return names


def or_none(value: object) -> str:
    """Return a value as text, null and empty texts as ``-``."""
    return NONE if value in (None, "") else str(value)


def text_of(entry: str) -> str:
    """Return the text that `or_none` wrote."""
    return "" if entry == NONE else entry


def viewer_entry(viewer: int | None) -> str:
    """Return the entry of the key `viewer`: ``*`` for a spectator."""
    return ANYBODY if viewer == SPECTATOR else or_none(viewer)


def viewer_of(entry: str) -> int | None:
    """Return the key `viewer` that `viewer_entry` wrote."""
    return SPECTATOR if entry == ANYBODY else seat_or_null(entry)


def seat_or_null(entry: str) -> int | None:
    """Return the number that `or_none` wrote, or None."""
    return None if entry == NONE else int(entry)
