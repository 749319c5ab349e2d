"""Positions and turns as text: their forms are recognised and read, and not checked against the rules."""

from __future__ import annotations

from typing import Any

from mexica_ai.game import compact, registry
from mexica_ai.game.move_text import is_move_text
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import parse_json, quote

TURN_SEPARATOR = "; "


def position_data(text: str | bytes, path: str = "$") -> Any:
    """Return the JSON form of a position given as text, in that form or the compact one; do not check it.

    Raises
    ------
    NotationError, UnknownGameError
        As `Position.from_text`, if the text cannot be read, or is a file of records.
    """
    try:
        line = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
    except UnicodeDecodeError:
        line = ""
    if compact.split_header(line):
        return compact_data(line, path)
    if is_move_text(line):
        raise _record_given(path, "the move text of a game")
    try:
        data = parse_json(text, path)
    except NotationError:
        first, *rest = line.strip().splitlines() or [""]
        if rest:
            _check_first_line(first, path)
        raise
    check_no_record(data, path)
    return data


def compact_data(text: object, path: str) -> Any:
    """Return the JSON form of a compact position."""
    parts = compact.split_header(text) if isinstance(text, str) else None
    if parts is None:
        raise compact.bad_compact(
            path, f"given {quote(text)}; expected GAME/VERSION and the fields, separated by single spaces"
        )
    game, version, fields = parts
    text = registry.get(game).text
    if version != compact.VERSION:
        raise NotationError(
            f"{path}: given version {version} of the compact form; expected {compact.VERSION}",
            reason="UNSUPPORTED_VERSION",
            path=path,
        )
    return {"game": game, "version": 1, **text.parse_compact(fields, path)}


def game_of(data: object, path: str) -> str:
    """Return the game that the JSON form of a position names; NotationError if the value is none."""
    if not isinstance(data, dict):
        raise NotationError(
            f"{path}: given {quote(data)}; expected a position, an object", reason="WRONG_TYPE", path=path
        )
    check_no_record(data, path)
    if "game" not in data:
        raise NotationError(f'{path}.game: the key "game" is missing', reason="MISSING_KEY", path=f"{path}.game")
    game = data["game"]
    if not isinstance(game, str):
        raise NotationError(
            f"{path}.game: given {quote(game)}; expected the name of a game",
            reason="WRONG_TYPE",
            path=f"{path}.game",
        )
    return game


def check_no_record(data: object, path: str) -> None:
    """Raise NotationError, reason RECORD_GIVEN, if a JSON value is the record of a game."""
    if isinstance(data, dict) and {"start", "turns"} <= data.keys():
        raise _record_given(path, "the record of a game")


def _record_given(path: str, what: str) -> NotationError:
    return NotationError(
        f"{path}: given {what}; expected a position. `mexica-ai show RECORD --turn N --json` prints those of a record",
        reason="RECORD_GIVEN",
        path=path,
    )


def _check_first_line(line: str, path: str) -> None:
    """Raise the error for a text of several lines whose first one is a record or a position."""
    try:
        data = {} if compact.split_header(line) else parse_json(line, path)
    except NotationError:
        return
    if isinstance(data, dict) and {"start", "turns"} <= data.keys():
        raise _record_given(path, "a file of records")
    raise NotationError(
        f"{path}: given several lines that are each a position, or JSON; expected one position",
        reason="SEVERAL_LINES",
        path=path,
    )


def split_turn(turn: str | list[str]) -> list[str]:
    """Return the texts of a turn's actions, given as a list or as one string joined by ``"; "``.

    Raises
    ------
    NotationError
        If `turn` is neither, or empty.
    """
    actions = turn.split(TURN_SEPARATOR) if isinstance(turn, str) else turn
    if not isinstance(actions, (list, tuple)) or not actions:
        raise NotationError(
            f"turn: given {quote(turn)}; expected actions joined by {quote(TURN_SEPARATOR)}, or a list of them",
            reason="WRONG_TYPE",
            path="turn",
        )
    return list(actions)
