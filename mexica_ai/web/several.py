"""Texts of several records: which one is wanted, and what each of them is."""

from __future__ import annotations

import re
from typing import Any

from mexica_ai.game.move_text import is_move_text, split_games
from mexica_ai.game.position import Position
from mexica_ai.game.records import parse_record
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import readable
from mexica_ai.web.errors import ApiError
from mexica_ai.web.seats import bad_value

MAX_LISTED, MAX_PLAYED = 200, 50  # of the records of a text; a move text is played to be described

_PLAYERS = re.compile(r"[Pp]layer\d+")
_SHAPE = {"game": str, "scores": [float], "winners": [int], "engines": [str], "tags?": dict}


def records_of(text: str) -> list[str]:
    """Return the texts of the records of a text, at least one; they are not checked."""
    if is_move_text(text):
        return [game.decode() for _, game in split_games(enumerate(text.encode().splitlines(), 1))]
    try:
        parse_record(text)
    except NotationError:
        lines = [line for line in text.splitlines() if line.strip()]
        return lines if len(lines) > 1 and _is_object(lines[0]) else [text]
    return [text]


def _is_object(line: str) -> bool:
    try:
        return isinstance(parse_record(line), dict)
    except MexicaAIError:
        return False


def choose(records: list[str], number: int | None, path: str) -> str:
    """Return the record with a number, from 1.

    Raises
    ------
    NotationError
        There is none with this number.
    ApiError
        There are several, and no number; reason SEVERAL_RECORDS, with what the ``records`` are.
    """
    if number is None and len(records) == 1:
        return records[0]
    if number is None:
        listed = [
            {"number": number, **_describe(record, plays=number <= MAX_PLAYED)}
            for number, record in enumerate(records[:MAX_LISTED], 1)
        ]
        raise ApiError(
            422,
            "SEVERAL_RECORDS",
            f"the file holds {len(records)} games; expected the number of one of them, 1 to {len(records)}",
            count=len(records),
            records=listed,
        )
    if not 1 <= number <= len(records):
        raise bad_value(f"{path}.record", number, f"a number from 1 to {len(records)}, the games of the file")
    return records[number - 1]


def _describe(text: str, *, plays: bool) -> JsonObject:
    """Return the game of a record, its players, turns and outcome; None where that is not known."""
    nothing: JsonObject = {"game": None, "players": None, "names": [], "turns": None, "scores": [], "winners": []}
    if is_move_text(text) and not plays:
        return {**nothing, "error": None}
    try:
        data: Any = parse_record(text)
    except MexicaAIError as error:
        return {**nothing, "error": str(error)}
    except RecursionError:
        return {**nothing, "error": "the JSON is nested too deeply"}
    found = readable(data, _SHAPE)
    names = [str(value) for key, value in found.get("tags", {}).items() if _PLAYERS.fullmatch(key)] or found["engines"]
    players = _players(data)
    return {
        "game": found["game"] or None,
        "players": players,
        "names": names if len(names) == players else [],
        "turns": len(data["turns"]) if isinstance(data, dict) and isinstance(data.get("turns"), list) else None,
        "scores": found["scores"],
        "winners": found["winners"],
        "error": None,
    }


def _players(data: Any) -> int | None:
    try:
        return Position.from_json(data["start"]).players
    except (MexicaAIError, KeyError, TypeError):
        return None
