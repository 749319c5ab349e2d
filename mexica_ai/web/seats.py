"""Players of the page as it names them in requests: persons, levels of the server, and named engines."""

from __future__ import annotations

from typing import Any

from mexica_ai.analysis import levels
from mexica_ai.io.errors import NotationError
from mexica_ai.io.names import read_name
from mexica_ai.io.strict import quote
from mexica_ai.table.seats import Seat

MAX_SECONDS = 600.0
DEFAULT_LEVEL, DEFAULT_SECONDS = 5, 1.0


def read_seat(data: dict[str, Any], names: list[str], path: str) -> Seat:
    """Read a seat that a page has sent; `names` are those of the engines."""
    if data["kind"] == "person":
        return Seat(person=read_name(data.get("name"), f"{path}.name"))
    level, name = data.get("level"), data.get("name")
    seconds = DEFAULT_SECONDS if data.get("seconds") is None else data["seconds"]
    if not 0 < seconds <= MAX_SECONDS:
        raise bad_value(f"{path}.seconds", seconds, f"a number of seconds above 0, at most {MAX_SECONDS:g}")
    if name is not None:
        if name not in names:
            raise bad_value(f"{path}.name", name, f"an engine: {', '.join(names) or 'there are none'}")
        return Seat("engine", None, name, float(seconds))
    level = DEFAULT_LEVEL if level is None else level
    if level not in levels.LEVELS:
        raise bad_value(f"{path}.level", level, f"an integer from 1 to {levels.HIGHEST}")
    return Seat("engine", level, None, float(seconds))


def bad_value(path: str, given: object, expected: str) -> NotationError:
    """Return the error of a value out of range."""
    return NotationError(f"{path}: given {quote(given)}; expected {expected}", reason="OUT_OF_RANGE", path=path)
