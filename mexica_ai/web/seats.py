"""Players of the page: persons, levels of the server, and named engines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mexica_ai.analysis import levels
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import quote

MAX_SECONDS = 600.0
DEFAULT_LEVEL, DEFAULT_SECONDS = 5, 1.0


@dataclass(frozen=True)
class Seat:
    """The player of a seat: a person, a level of the server, or a named engine.

    Parameters
    ----------
    kind : str
        person or engine.
    level : int, optional
    engine : str, optional
        The name of an engine.
    seconds : float, optional
        Time of a turn.
    """

    kind: str = "person"
    level: int | None = None
    engine: str | None = None
    seconds: float | None = None

    @classmethod
    def read(cls, data: dict[str, Any], names: list[str], path: str) -> Seat:
        """Read a seat that a page has sent; `names` are those of the engines."""
        if data["kind"] == "person":
            return cls()
        level, name = data.get("level"), data.get("name")
        seconds = DEFAULT_SECONDS if data.get("seconds") is None else data["seconds"]
        if not 0 < seconds <= MAX_SECONDS:
            raise bad_value(f"{path}.seconds", seconds, f"a number of seconds above 0, at most {MAX_SECONDS:g}")
        if name is not None:
            if name not in names:
                raise bad_value(f"{path}.name", name, f"an engine: {', '.join(names) or 'there are none'}")
            return cls("engine", None, name, float(seconds))
        level = DEFAULT_LEVEL if level is None else level
        if level not in levels.LEVELS:
            raise bad_value(f"{path}.level", level, f"an integer from 1 to {levels.HIGHEST}")
        return cls("engine", level, None, float(seconds))

    @property
    def name(self) -> str:
        """The name of the player."""
        if self.kind == "person":
            return "person"
        return self.engine or f"level {self.level}"

    def to_json(self) -> dict[str, Any]:
        """Return the seat in the form of pages and journals."""
        if self.kind == "person":
            return {"kind": "person", "title": "person"}
        which = {"name": self.engine} if self.engine else {"level": self.level}
        return {"kind": "engine", **which, "seconds": self.seconds, "title": self.name}


OTHER = Seat("engine", DEFAULT_LEVEL, None, DEFAULT_SECONDS)  # a seat that nobody plays: the others of an exercise


def bad_value(path: str, given: object, expected: str) -> NotationError:
    """Return the error of a value out of range."""
    return NotationError(f"{path}: given {quote(given)}; expected {expected}", reason="OUT_OF_RANGE", path=path)
