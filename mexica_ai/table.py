"""A game at a table, as a fold over events: who sits there, what was played, what is being entered.

A table never changes; an event gives the next one. Nothing here knows a file, a clock, an engine at work, or a page. A
line of a journal is the JSON form of an event (`to_json`, `read_event`); drafts and the screen are in no journal.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from mexica_ai.analysis.annotate import TurnEvaluation, evaluation_of
from mexica_ai.analysis.drill import Exercise, Outcome, exercise_of
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.game.records import EVALUATION, check_evaluations
from mexica_ai.io.errors import GameOverError, NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.names import distinct, read_name
from mexica_ai.io.strict import Nullable, check_shape, choice, quote

VERSION = 1  # of a journal


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
            seat.person or (f"Player {number}" if seat.kind == "person" else seat.engine or f"Level {seat.level}")
            for number, seat in enumerate(seats, 1)
        ]
    )


def seats_json(seats: Sequence[Seat]) -> list[JsonObject]:
    """Return seats in the form of pages: with the name of each as its title."""
    return [{**seat.to_json(), "title": title} for seat, title in zip(seats, names_of(seats), strict=True)]


def _seat_of(data: JsonObject, path: str) -> Seat:
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


# --- events


@dataclass(frozen=True)
class Started:
    """A game begins.

    Parameters
    ----------
    start : Position
        Without a history.
    seats : tuple of Seat
    created : str
        Date and time.
    is_shared : bool
        Whether nothing is hidden from anybody.
    draws : bool
        Whether random events are drawn at once; else a person draws them, or enters what a table drew.
    exercises : tuple of Exercise
        Of a drill: then nothing is played, and `start` and `seats` are those of the first one.
    """

    start: Position
    seats: tuple[Seat, ...]
    created: str = ""
    is_shared: bool = False
    draws: bool = True
    exercises: tuple[Exercise, ...] = ()

    def to_json(self) -> JsonObject:
        """Return the first line of a journal."""
        head: JsonObject = {
            "journal": VERSION,
            "created": self.created,
            "start": self.start.to_json(),
            "seats": [seat.to_json() for seat in self.seats],
            "open": self.is_shared,
            "draws": self.draws,
        }
        return {**head, "drill": [one.to_json() for one in self.exercises]} if self.exercises else head


@dataclass(frozen=True)
class Drafted:
    """The turn that is being entered has these actions."""

    actions: tuple[str, ...]


@dataclass(frozen=True)
class Turned:
    """A turn, or a random event, is played."""

    turn: tuple[str, ...]
    is_last: bool = False

    def to_json(self) -> JsonObject:
        """Return the line of a journal."""
        return {"turn": list(self.turn), "over": True} if self.is_last else {"turn": list(self.turn)}


@dataclass(frozen=True)
class TookBack:
    """All turns from an index on are taken back, or a resignation."""

    limit: int

    def to_json(self) -> JsonObject:
        """Return the line of a journal."""
        return {"back": self.limit}


@dataclass(frozen=True)
class Resigned:
    """A seat gives up."""

    seat: int

    def to_json(self) -> JsonObject:
        """Return the line of a journal."""
        return {"resigned": self.seat}


@dataclass(frozen=True)
class Seated:
    """A person takes the seat of an engine."""

    seat: int

    def to_json(self) -> JsonObject:
        """Return the line of a journal."""
        return {"person": self.seat}


@dataclass(frozen=True)
class HandedOver:
    """A person takes over the screen."""

    seat: int | None


@dataclass(frozen=True)
class Posed:
    """Another exercise of the drill is put up."""

    number: int

    def to_json(self) -> JsonObject:
        """Return the line of a journal."""
        return {"exercise": self.number}


@dataclass(frozen=True)
class Tried:
    """This is reached in the exercise that is shown."""

    outcome: Outcome

    def to_json(self) -> JsonObject:
        """Return the line of a journal."""
        return {"outcome": asdict(self.outcome)}


@dataclass(frozen=True)
class Annotated:
    """Turns are evaluated by searches of this time; evaluations by others are dropped."""

    seconds: float | None

    def to_json(self) -> JsonObject:
        """Return the line of a journal."""
        return {"annotation": self.seconds}


@dataclass(frozen=True)
class Evaluated:
    """A turn is evaluated."""

    evaluation: TurnEvaluation

    def to_json(self) -> JsonObject:
        """Return the line of a journal."""
        return {"evaluation": self.evaluation.to_json()}


Kept = Turned | TookBack | Resigned | Seated | Posed | Tried | Annotated | Evaluated  # in journals, after `Started`
Event = Kept | Drafted | HandedOver

_HEAD = {
    "journal": int,
    "created": str,
    "start": dict,
    "seats": [{**SEAT, "title?": str}],
    "open": bool,
    "draws": bool,
    "drill?": [dict],
}
_OUTCOME = {"solved": bool, "points": int, "tries": int}


def read_started(entry: JsonObject) -> Started:
    """Return the event of the first line of a journal; NotationError if it is none."""
    if entry.get("journal") != VERSION:
        raise _bad("journal", entry.get("journal"), f"version {VERSION}")
    check_shape(entry, _HEAD, "start")
    seats = [_seat_of(one, f"seats[{number}]") for number, one in enumerate(entry["seats"])]
    exercises = [exercise_of(one, f"drill[{index}]") for index, one in enumerate(entry.get("drill", []))]
    start = Position.from_json(entry["start"])
    return Started(start, tuple(seats), entry["created"], entry["open"], entry["draws"], tuple(exercises))


def read_event(entry: JsonObject) -> Kept:
    """Return the event of another line of a journal; NotationError if it is none."""
    match entry:
        case {"turn": _}:
            check_shape(entry, {"turn": [str], "over?": bool}, "entry")
            return Turned(tuple(entry["turn"]), entry.get("over", False))
        case {"back": int(limit)}:
            return TookBack(limit)
        case {"resigned": int(seat)}:
            return Resigned(seat)
        case {"person": int(seat)}:
            return Seated(seat)
        case {"exercise": int(number)}:
            return Posed(number)
        case {"outcome": data}:
            check_shape(data, _OUTCOME, "outcome")
            return Tried(Outcome(**data))
        case {"annotation": seconds}:
            check_shape(seconds, Nullable(float), "annotation")
            return Annotated(seconds)
        case {"evaluation": data}:
            check_shape(data, EVALUATION, "evaluation")
            return Evaluated(evaluation_of(data))
    raise _bad("entry", entry, "one of a game")


def _bad(path: str, given: object, expected: str) -> NotationError:
    return NotationError(f"{path}: given {quote(given)}; expected {expected}", reason="BAD_EVENT", path=path)


# --- the table


@dataclass(frozen=True)
class Table:
    """A game as it stands. Its positions are not to be changed: copy them first.

    Parameters
    ----------
    started : Started
    seats : tuple of Seat
    positions : tuple of Position
        Before each turn, and after the last one; full, without a history.
    turns : tuple of tuple of str
        The turns and random events.
    version : int
        Raised by each event that a page shows in other ways than as an evaluation.
    draft : tuple of str
        The actions of the turn that is being entered.
    resigned : int or None
        The seat that has given up.
    screen : int or None
        The person who has the screen.
    seconds : float or None
        Time of the searches of the evaluations.
    evaluations : mapping of int to TurnEvaluation
        By index of the turn; not to be changed.
    number : int
        Index of the exercise that is shown, in a drill.
    outcomes : mapping of int to Outcome
        What was reached in exercises, by index; not to be changed.
    """

    started: Started
    seats: tuple[Seat, ...]
    positions: tuple[Position, ...]
    turns: tuple[tuple[str, ...], ...] = ()
    version: int = 1
    draft: tuple[str, ...] = ()
    resigned: int | None = None
    screen: int | None = None
    seconds: float | None = None
    evaluations: Mapping[int, TurnEvaluation] = field(default_factory=dict)
    number: int = 0
    outcomes: Mapping[int, Outcome] = field(default_factory=dict)

    # --- what is known of it

    @property
    def game(self) -> str:
        """The name of the game that is played."""
        return self.now.game

    @property
    def now(self) -> Position:
        """The position after all whole turns."""
        return self.positions[-1]

    @property
    def is_over(self) -> bool:
        """Whether the game is over, or a seat has given up."""
        return self.resigned is not None or self.now.is_over

    @property
    def persons(self) -> list[int]:
        """The seats of persons."""
        return [number for number, seat in enumerate(self.seats) if seat.kind == "person"]

    @property
    def mover(self) -> int | None:
        """The seat to move; None if the game is over, or a random event comes."""
        return None if self.is_over else self.now.to_move

    @property
    def hides(self) -> bool:
        """Whether seats see different things."""
        return registry.get(self.game).views is not None

    @property
    def waiting(self) -> str:
        """The next to act: person, engine, event or over."""
        if self.is_over:
            return "over"
        if self.now.is_chance:
            return "event"
        return "person" if self.now.to_move in self.persons else "engine"

    @property
    def exercise(self) -> Exercise | None:
        """The exercise that is shown, in a drill."""
        return self.started.exercises[self.number] if self.started.exercises else None

    @property
    def winners(self) -> list[int]:
        """The seats that have won; empty until the game is over."""
        if self.resigned is not None:
            return [seat for seat in range(len(self.seats)) if seat != self.resigned]
        return self.now.winners

    def seat_turns(self) -> list[int]:
        """Return the indices of the turns that are no random events."""
        return [index for index, position in enumerate(self.positions[:-1]) if not position.is_chance]

    def last_of_person(self) -> int | None:
        """Return the index of the last turn of a person; None if there is none."""
        movers = [position.to_move for position in self.positions[:-1]]
        found = [index for index, mover in enumerate(movers) if mover in self.persons]
        return found[-1] if found else None

    def position(self, *, with_draft: bool = False) -> Position:
        """Return a new position with the turns as its history, and with the draft if that is asked for."""
        position = self.positions[0].copy()
        for turn in self.turns:
            position.push(list(turn))
        for action in self.draft if with_draft else ():
            position.push_action(action)
        return position

    def events(self) -> list[Kept]:
        """Return events that lead from the start to this table, but for its draft and its screen."""
        if self.started.exercises:
            tried = [(Posed(number), Tried(outcome)) for number, outcome in self.outcomes.items()]
            return [*(event for pair in tried for event in pair), Posed(self.number)]
        persons = [seat for seat in self.persons if self.started.seats[seat].kind != "person"]
        found: list[Kept] = [Turned(turn) for turn in self.turns]
        found += [Seated(seat) for seat in persons]
        found += [Resigned(self.resigned)] if self.resigned is not None else []
        found += [Annotated(self.seconds)] if self.seconds is not None or self.evaluations else []
        return found + [Evaluated(one) for _, one in sorted(self.evaluations.items())]

    # --- events

    def apply(self, event: Event) -> Table:
        """Return the table after an event; an error of the package if it cannot be."""
        match event:
            case Drafted(actions):
                return self._changed(draft=actions)
            case Turned(turn):
                return self._after_turn(turn)
            case TookBack(limit):
                return self._after_take_back(limit)
            case Resigned(seat):
                if self.is_over or self.exercise is not None or not 0 <= seat < len(self.seats):
                    raise _bad("resigned", seat, "a seat of a game that goes on")
                return self._changed(resigned=seat, draft=())
            case Seated(seat):
                if not 0 <= seat < len(self.seats) or self.exercise is not None:
                    raise _bad("person", seat, "a seat")
                return self._changed(seats=(*self.seats[:seat], Seat(), *self.seats[seat + 1 :]))
            case HandedOver(seat):
                return replace(self, screen=seat)
            case Posed(number):
                return self._put_up(number)
            case Tried(outcome):
                if self.exercise is None:
                    raise _bad("outcome", asdict(outcome), "a drill")
                return self._changed(outcomes={**self.outcomes, self.number: outcome})
            case Annotated(seconds):
                kept = self.evaluations if self.seconds in (None, seconds) else {}
                return replace(self, seconds=seconds, evaluations=kept)
            case Evaluated(evaluation):
                index = evaluation.turn_index
                if not 0 <= index < len(self.turns) or tuple(evaluation.turn) != self.turns[index]:
                    raise _bad("evaluation.turn_index", index, "the turn that was played there")
                return replace(self, evaluations={**self.evaluations, index: evaluation})

    def _changed(self, **fields: Any) -> Table:
        return replace(self, version=self.version + 1, **fields)

    def _after_turn(self, turn: tuple[str, ...]) -> Table:
        if self.is_over:
            raise GameOverError("the game is over; expected no more turns")
        position = self.now.copy()
        position.push(list(turn))
        after = Position(position.game, position.state)
        return self._changed(positions=(*self.positions, after), turns=(*self.turns, turn), draft=())

    def _after_take_back(self, limit: int) -> Table:
        if not 0 <= limit <= len(self.turns):
            raise _bad("back", limit, f"0 to {len(self.turns)}")
        return self._changed(
            positions=self.positions[: limit + 1],
            turns=self.turns[:limit],
            draft=(),
            resigned=None,
            evaluations={index: one for index, one in self.evaluations.items() if index < limit},
        )

    def _put_up(self, number: int) -> Table:
        """Put up an exercise in place of the game."""
        if not 0 <= number < len(self.started.exercises):
            raise _bad("exercise", number, f"one of {len(self.started.exercises)}")
        exercise = self.started.exercises[number]
        world = Position(exercise.world.game, exercise.world.state)
        seats = tuple(Seat() if seat == exercise.seat else OTHER for seat in range(world.players))
        return self._changed(
            number=number, positions=(world,), turns=(), seats=seats, draft=(), evaluations={}, seconds=None
        )


def begin(started: Started, version: int = 0) -> Table:
    """Return the table after its first event; its version is the one after the given."""
    start = Position(started.start.game, started.start.state)
    if len(started.seats) != start.players:
        raise _bad("seats", len(started.seats), f"{start.players} seats")
    table = Table(started, started.seats, (start,), version=version + 1)
    return table.apply(Posed(0)) if started.exercises else table


def fold(started: Started, events: Iterable[Event], version: int = 0) -> Table:
    """Return the table after all of its events."""
    table = functools.reduce(Table.apply, events, begin(started, version))
    found = [one.to_json() for _, one in sorted(table.evaluations.items())]
    check_evaluations(found, [list(turn) for turn in table.turns], len(table.seats), "evaluations")
    return table


def seen_turn(before: Position, turn: Iterable[str], viewer: int) -> list[str]:
    """Return a turn, or a random event, as a seat sees it: without operands that it cannot know."""
    views = registry.get(before.game).views
    if views is None:
        return list(turn)
    shown, now = [], before.copy()
    for action in turn:
        mover = now.to_json()["to_move"]  # of a random event, the seat that goes on after it
        now.push_action(action)
        is_hidden = mover != viewer and views.is_secret(action, now.to_json())
        shown.append(action.split()[0] if is_hidden else action)
    return shown
