"""Who sits at a table: persons, levels of the server, named engines; and what people call them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mexica_ai.game.messages import say
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.names import distinct, read_name
from mexica_ai.io.strict import Nullable, choice


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
    person : str, optional
        The name that a person has given.
    """

    kind: str = "person"
    level: int | None = None
    engine: str | None = None
    seconds: float | None = None
    person: str | None = None

    @property
    def name(self) -> str:
        """The name of the player in records."""
        if self.kind == "person":
            return self.person or "person"
        return self.engine or f"level {self.level}"

    def to_json(self) -> JsonObject:
        """Return the seat in the form of pages and journals."""
        if self.kind == "person":
            return {"kind": "person"} if self.person is None else {"kind": "person", "name": self.person}
        which = {"name": self.engine} if self.engine else {"level": self.level}
        return {"kind": "engine", **which, "seconds": self.seconds}


def names_of(seats: Sequence[Seat]) -> list[str]:
    """Return the names of players for people, no two alike: what persons have given, ``Level 5``, ``Player 2``."""
    return distinct(
        [
            seat.person
            or (
                say("Player {number}", number=number)
                if seat.kind == "person"
                else seat.engine or say("Level {level}", level=seat.level or 0)
            )
            for number, seat in enumerate(seats, 1)
        ]
    )


def seats_json(seats: Sequence[Seat]) -> list[JsonObject]:
    """Return seats in the form of pages: with the name of each as its title."""
    return [{**seat.to_json(), "title": title} for seat, title in zip(seats, names_of(seats), strict=True)]


def seat_of(data: JsonObject, path: str) -> Seat:
    """Return the seat of a journal."""
    if data["kind"] == "person":
        return Seat(person=read_name(data.get("name"), f"{path}.name"))
    return Seat("engine", data.get("level"), data.get("name"), data.get("seconds"))


SEAT = {
    "kind": choice("person", "engine"),
    "level?": Nullable(int),
    "name?": Nullable(str),
    "seconds?": Nullable(float),
}
OTHER = Seat("engine", 5, None, 1.0)  # a seat that nobody plays: the others of an exercise
