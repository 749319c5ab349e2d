"""Openings: positions from which the games of a tournament begin, instead of new deals.

Each block plays one opening on all its seatings; with more blocks than openings, they are used again in order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from mexica_ai.game.compact import split_header
from mexica_ai.game.position import Position
from mexica_ai.game.records import position_at
from mexica_ai.game.text_forms import viewer_name
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.files import read_text
from mexica_ai.io.strict import parse_json

MAX_BYTES = 64 << 20  # of a file of openings


def read_openings(path: str, game: str, players: int, turns: int | None = None) -> tuple[str, ...]:
    """Read a file of openings.

    Parameters
    ----------
    path : str
        One position a line, as JSON or in its compact form, or one record of a game a line; or one JSON object.
    game : str
    players : int
        The game and the number of seats of all positions.
    turns : int, optional
        How many turns of a record are played; needed if there are records.

    Returns
    -------
    tuple of str
        The positions in their compact form.

    Raises
    ------
    NotationError
        The file cannot be read, has no position, or a line is no opening of this game; the message names the line.
    """
    text = read_text(path, MAX_BYTES)
    entries = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if _is_one_object(text):
        entries = [(1, text)]
    if not entries:
        raise NotationError(f"{path}: has no line; expected positions or records", reason="NO_OPENINGS")
    openings = []
    for number, line in entries:
        where = f"{path}:{number}"
        try:
            position = _read(line.strip(), where, turns)
        except MexicaAIError as error:
            if not str(error).startswith(where):
                error.args = (f"{where}: {error}",)
            raise
        _check(position, game, players, where)
        openings.append(position.to_compact())
    return tuple(openings)


def openings_id(openings: Sequence[str]) -> str:
    """Return what identifies openings in a journal: their number, and the beginning of their SHA-256."""
    digest = hashlib.sha256("\n".join(openings).encode()).hexdigest()[:12]
    return f"{len(openings)} positions, {digest}"


def _is_one_object(text: str) -> bool:
    try:
        return isinstance(parse_json(text, ""), dict)
    except NotationError:
        return False


def _read(text: str, where: str, turns: int | None) -> Position:
    if split_header(text):
        return Position.from_compact(text, path=where)
    data: Any = parse_json(text, where)
    if not (isinstance(data, dict) and {"start", "turns"} <= data.keys()):
        return Position.from_json(data, path=where)
    if turns is None:
        raise NotationError(
            f"{where}: given a record; expected --opening-turns N, how many of its turns are played",
            reason="BAD_USAGE",
        )
    return position_at(data, turns, path=where)


def _check(position: Position, game: str, players: int, where: str) -> None:
    problem = ""
    if (position.game, position.players) != (game, players):
        problem = f"a position of {position.game} with {position.players} seats; expected {game} with {players}"
    elif position.is_over:
        problem = "a game that is over; expected one in which a turn can be played"
    elif position.viewer is not None:
        problem = f"the view of {viewer_name(position.viewer)}; expected a full position"
    elif not position.has_one_world:
        problem = "a position that leaves open what will be drawn; expected one with nothing unknown"
    if problem:
        raise NotationError(f"{where}: given {problem}", reason="BAD_OPENING", path=where)
