"""A game at a table, as a fold over events: who sits there, what was played, what is being entered.

A table never changes; an event gives the next one. Nothing here knows a file, a clock, an engine at work, or a page. A
line of a journal is the JSON form of an event (`to_json`, `read_event`); drafts and the screen are in no journal.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from mexica_ai.analysis.annotate import TurnEvaluation
from mexica_ai.analysis.drill import Exercise, Outcome
from mexica_ai.game import registry
from mexica_ai.game.clock import Clock
from mexica_ai.game.notes import Note, noted, notes_of
from mexica_ai.game.position import Position
from mexica_ai.game.records import check_evaluations, play_variations
from mexica_ai.game.variations import Line, climb, fit, turns_along, with_lines
from mexica_ai.io.errors import GameOverError, NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import quote
from mexica_ai.table.seats import Seat

VERSION = 1  # of a journal


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
    clock : Clock, optional
        Of the persons, before anybody has started it.
    is_dealt : bool
        Whether it is a new game from its first turn on, so that it counts as a result.
    is_guided : bool
        Whether it is the guided first game: then the others play what the guide says.
    luck : int or None
        What random events are drawn from; None: each is drawn anew.
    options : mapping
        Those of the game by which it was dealt, as they were given; not to be changed.
    """

    start: Position
    seats: tuple[Seat, ...]
    created: str = ""
    is_shared: bool = False
    draws: bool = True
    exercises: tuple[Exercise, ...] = ()
    clock: Clock | None = None
    is_dealt: bool = False
    is_guided: bool = False
    luck: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

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
        if self.exercises:
            head["drill"] = [one.to_json() for one in self.exercises]
        if self.clock is not None:
            head["clock"] = self.clock.to_json(0.0)
        if self.is_dealt:
            head["dealt"] = True
        if self.is_guided:
            head["guided"] = True
        if self.luck is not None:
            head["luck"] = self.luck
        if self.options:
            head["options"] = dict(self.options)
        return head


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
class Invited:
    """The person of a seat plays it by an invitation, or does not any more.

    Parameters
    ----------
    seat : int
    nonce : str or None
        What makes this invitation another one than those before; None: there is none any more.
    """

    seat: int
    nonce: str | None

    def to_json(self) -> JsonObject:
        """Return the line of a journal."""
        return {"invited": self.seat, "nonce": self.nonce}


@dataclass(frozen=True)
class Timed:
    """The clock stands so; it is paused."""

    clock: Clock

    def to_json(self) -> JsonObject:
        """Return the line of a journal."""
        return {"clock": self.clock.to_json(0.0)}


@dataclass(frozen=True)
class PlayedOn:
    """The guide is left: the game goes on as any other."""

    def to_json(self) -> JsonObject:
        """Return the line of a journal."""
        return {"guided": False}


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


# In journals, after `Started`.
Kept = Turned | TookBack | Resigned | Seated | Posed | Tried | Annotated | Evaluated | Invited | Timed | Note | PlayedOn
Event = Kept | Drafted | HandedOver


def bad_event(path: str, given: object, expected: str) -> NotationError:
    """Return the error of an event that cannot be."""
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
    invites : mapping of int to str
        By seat of a person who plays by an invitation: its nonce; not to be changed.
    clock : Clock or None
        Of the persons, as it stood after the last turn, paused.
    lines : Line
        As they were noted last; `tree` has them beside the turns as they are now.
    is_guided : bool
        Whether the others play what a guide says.
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
    invites: Mapping[int, str] = field(default_factory=dict)
    clock: Clock | None = None
    lines: Line = field(default_factory=Line)
    is_guided: bool = False

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
    def local(self) -> list[int]:
        """The seats of persons who play at the screen of the owner: those without an invitation."""
        return [seat for seat in self.persons if seat not in self.invites]

    @property
    def is_out_of_time(self) -> bool:
        """Whether the seat that has lost did so because its time was up."""
        return self.clock is not None and self.resigned in self.clock.fallen

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
        """The next to act: person, engine, event, guide or over."""
        if self.is_over:
            return "over"
        if self.is_guided and self.now.to_move not in self.persons:
            return "guide"
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

    @functools.cached_property
    def tree(self) -> Line:
        """The turns with the comments on them, and the variations beside them."""
        return self.lines if self.lines.turns == self.turns else fit(self.lines, self.turns)

    def drawn(self) -> list[str]:
        """Return the random event that is due. With luck, the same comes after the same turns."""
        luck = self.started.luck
        seed = None if luck is None else random.Random(f"luck {luck}, turn {len(self.turns)}").getrandbits(63)
        return self.now.copy().draw(seed)

    def position_along(self, turns: Sequence[Sequence[str]]) -> Position:
        """Return a new position after turns from the start of the game; raises the errors of `Position.push`."""
        common = 0
        while common < min(len(turns), len(self.turns)) and tuple(turns[common]) == self.turns[common]:
            common += 1
        position = self.positions[common].copy()
        for turn in turns[common:]:
            position.push(list(turn))
        return position

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
        found += [Invited(seat, nonce) for seat, nonce in sorted(self.invites.items())]
        found += [PlayedOn()] if self.started.is_guided and not self.is_guided else []
        found += [Resigned(self.resigned)] if self.resigned is not None else []
        found += [Timed(self.clock)] if self.clock is not None else []
        found += [Annotated(self.seconds)] if self.seconds is not None or self.evaluations else []
        found += [Evaluated(one) for _, one in sorted(self.evaluations.items())]
        return found + notes_of(self.tree)

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
                    raise bad_event("resigned", seat, "a seat of a game that goes on")
                return self._changed(resigned=seat, draft=())
            case Seated(seat):
                if not 0 <= seat < len(self.seats) or self.exercise is not None:
                    raise bad_event("person", seat, "a seat")
                return self._changed(seats=(*self.seats[:seat], Seat(), *self.seats[seat + 1 :]))
            case PlayedOn():
                return self._changed(is_guided=False)
            case HandedOver(seat):
                return replace(self, screen=seat)
            case Invited(seat, nonce):
                return self._after_invitation(seat, nonce)
            case Timed(clock):
                if len(clock.left_s) != len(self.seats):
                    raise bad_event("clock.left_s", list(clock.left_s), f"{len(self.seats)} times")
                return replace(self, clock=clock)
            case Posed(number):
                return self._put_up(number)
            case Tried(outcome):
                if self.exercise is None:
                    raise bad_event("outcome", asdict(outcome), "a drill")
                return self._changed(outcomes={**self.outcomes, self.number: outcome})
            case Annotated(seconds):
                kept = self.evaluations if self.seconds in (None, seconds) else {}
                return replace(self, seconds=seconds, evaluations=kept)
            case Evaluated(evaluation):
                index = evaluation.turn_index
                if not 0 <= index < len(self.turns) or tuple(evaluation.turn) != self.turns[index]:
                    raise bad_event("evaluation.turn_index", index, "the turn that was played there")
                return replace(self, evaluations={**self.evaluations, index: evaluation})
            case Note():
                return self.note(event)

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
            raise bad_event("back", limit, f"0 to {len(self.turns)}")
        return self._changed(
            positions=self.positions[: limit + 1],
            turns=self.turns[:limit],
            draft=(),
            resigned=None,
            evaluations={index: one for index, one in self.evaluations.items() if index < limit},
        )

    def _after_invitation(self, seat: int, nonce: str | None) -> Table:
        """Let a seat be played by an invitation, or at the screen again. One person always plays there."""
        if seat not in self.persons or self.exercise is not None:
            raise bad_event("invited", seat, "the seat of a person")
        invites = {one: kept for one, kept in self.invites.items() if one != seat}
        if nonce is not None:
            invites[seat] = nonce
        if not set(self.persons) - set(invites):
            raise bad_event("invited", seat, "a person without an invitation besides")
        # The next page of the seat must not see the turn that was being entered on the one before.
        return self._changed(invites=invites, draft=() if seat == self.mover else self.draft)

    def note(self, note: Note, *, is_checked: bool = True) -> Table:
        """Return the table after a change of its lines; if asked, an error of the package if a turn is not legal."""
        if self.exercise is not None:
            raise bad_event("lines", note.to_json(), "a game, not a drill")
        tree = self.tree
        if is_checked and note.change == "add":
            along = turns_along(tree, climb(tree, note.line, note.at))[: note.at]
            self.position_along([*along, *note.turns])
        return self._changed(lines=noted(tree, note)[0])

    def _put_up(self, number: int) -> Table:
        """Put up an exercise in place of the game."""
        if not 0 <= number < len(self.started.exercises):
            raise bad_event("exercise", number, f"one of {len(self.started.exercises)}")
        exercise = self.started.exercises[number]
        world = Position(exercise.world.game, exercise.world.state)
        seats = tuple(Seat() if seat == exercise.seat else other for seat, other in enumerate(self.started.seats))
        return self._changed(
            number=number, positions=(world,), turns=(), seats=seats, draft=(), evaluations={}, seconds=None
        )


def begin(started: Started, version: int = 0) -> Table:
    """Return the table after its first event; its version is the one after the given."""
    start = Position(started.start.game, started.start.state)
    if len(started.seats) != start.players:
        raise bad_event("seats", len(started.seats), f"{start.players} seats")
    table = Table(
        started, started.seats, (start,), version=version + 1, clock=started.clock, is_guided=started.is_guided
    )
    return table.apply(Posed(0)) if started.exercises else table


def fold(started: Started, events: Iterable[Event], version: int = 0) -> Table:
    """Return the table after all of its events."""
    table = begin(started, version)
    for event in events:
        # Lines are played once, at the end: those that share turns would be played again for each.
        table = table.note(event, is_checked=False) if isinstance(event, Note) else table.apply(event)
    if table.tree.variations:
        played = {"turns": list(map(list, table.turns))}
        play_variations(table.positions[0].copy(), 0, with_lines(played, table.tree), "lines")
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
