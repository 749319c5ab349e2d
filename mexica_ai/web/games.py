"""A game of the page: its turns, the turn being entered, versions, and the views of its seats.

`turn_entry` has the legal entries of a turn; `snapshots` and `pictures` show the game.
"""

from __future__ import annotations

import datetime
import secrets
from typing import Any

from mexica_ai import __version__
from mexica_ai.analysis.annotate import TurnEvaluation, with_evaluations
from mexica_ai.analysis.drill import Exercise
from mexica_ai.game import registry
from mexica_ai.game.contract import Game as Kind
from mexica_ai.game.position import Position
from mexica_ai.io.errors import IllegalActionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.session import Session
from mexica_ai.web.drills import Drill
from mexica_ai.web.errors import ApiError
from mexica_ai.web.journal import Journal
from mexica_ai.web.seats import OTHER, Seat
from mexica_ai.web.snapshots import evaluation_json, snapshot_of
from mexica_ai.web.turn_entry import Draft, ending_of, play_draft

MAX_TURNS = 2000
MAX_GAMES = 100


class Game:
    """One game.

    Parameters
    ----------
    session : Session
    seats : list of Seat
    is_shared : bool
        Whether nothing is hidden from anybody.
    draws : bool
        Whether random events are drawn at once; else a person draws them, or enters what a table drew.
    ident, created : str, optional
        Drawn, and now, by default.

    Attributes
    ----------
    version : int
        Raised by every change.
    evaluations : dict of int to TurnEvaluation
        By index of the turn.
    thinking, analysis, annotation : dict or None
        The state of its jobs, as pages show it.
    drill : Drill or None
        The drill whose exercise it shows; then nothing is played in it, but answered.
    """

    def __init__(
        self,
        session: Session,
        seats: list[Seat],
        *,
        is_shared: bool,
        draws: bool,
        ident: str | None = None,
        created: str | None = None,
    ) -> None:
        self.id = ident or secrets.token_hex(16)
        self.created = created or datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.session, self.seats, self.draws = session, seats, draws
        self.is_shared = is_shared
        self.version = 1
        self.draft: list[str] = []
        self.journal: Journal | None = None
        self.evaluations: dict[int, TurnEvaluation] = {}
        self.annotation: JsonObject = {"state": "none", "seconds": None, "message": ""}
        self.thinking: JsonObject | None = None
        self.analysis: JsonObject | None = None
        self.drill: Drill | None = None
        self._screen_of: int | None = None  # the person with the screen
        self._drafted: Draft | None = None
        self._snapshots: dict[tuple[int | None, bool], JsonObject] = {}
        self._seen: dict[int, list[list[str]]] = {}
        position = session.position.start
        self.positions = [Position(position.game, position.state)]  # before each turn, and after the last one
        position = position.copy()
        for turn in session.position.history:
            position.push(turn)
            self.positions.append(Position(position.game, position.state))

    # --- what is known of it

    @property
    def name(self) -> str:
        """The name of the game that is played."""
        return self.session.position.game

    @property
    def kind(self) -> Kind:
        """The game that is played, with its parts."""
        return registry.get(self.name)

    @property
    def now(self) -> Position:
        """The position after all whole turns."""
        return self.positions[-1]

    @property
    def turns(self) -> list[list[str]]:
        """The turns and random events so far."""
        return self.session.position.history

    @property
    def persons(self) -> list[int]:
        """The seats of persons."""
        return self.session.persons

    @property
    def mover(self) -> int | None:
        """The seat to move; None if the game is over, or a random event comes."""
        return None if self.session.is_over else self.now.to_move

    @property
    def is_open(self) -> bool:
        """Whether all may see everything."""
        return self.is_shared or not self.session.hides or self.session.is_over or not self.persons

    @property
    def waiting(self) -> str:
        """The next to act: person, engine, event or over."""
        if self.session.is_over:
            return "over"
        if self.now.is_chance:
            return "event"
        return "person" if self.now.to_move in self.persons else "engine"

    def summary(self) -> JsonObject:
        """Return the entry of the game in a list of games."""
        return {
            "id": self.id,
            "game": self.name,
            "created": self.created,
            "seats": [seat.to_json() for seat in self.seats],
            "turns": len(self.positions) - 1,
            "is_over": self.session.is_over,
            "drill": None if self.drill is None else self.drill.summary(),
        }

    # --- views

    def viewer_for(self, viewer: int | None) -> int | None:
        """Return the seat whose view a page gets that asks for a seat's; None: all of the game.

        Raises
        ------
        ApiError
            It is not the view of a person.
        """
        if viewer is not None and not 0 <= viewer < self.now.players:
            raise ApiError(404, "NO_SEAT", f"viewer: no seat {viewer}; expected 0 to {self.now.players - 1}")
        if self.drill is not None:  # a page that shows the exercise before may have another seat's view
            return self.drill.exercise.seat if self.session.hides else None
        if self.is_open:
            return viewer if self.session.hides else None
        if viewer is None:
            return self.mover if self.mover in self.persons else self._last_person()
        if viewer not in self.persons:
            raise ApiError(403, "NOT_A_PERSON", f"viewer: seat {viewer} is an engine's; its hand is hidden")
        return viewer

    def _last_person(self) -> int:
        return self._screen_of if self._screen_of in self.persons else self.persons[0]

    def handover(self, viewer: int | None, opens: bool = False) -> int | None:
        """Return the seat whose person must take over the screen before the game is shown; None if it may be shown.

        Parameters
        ----------
        viewer : int or None
            The seat that `viewer_for` returns.
        opens : bool
            Whether this person has taken over the screen.
        """
        if self.is_open or len(self.persons) < 2:
            return None
        if opens:
            self._screen_of = viewer
        mover = self.mover
        if mover in self.persons and mover != self._screen_of:
            return mover
        return None if viewer == self._screen_of else viewer

    def require_view(self, viewer: int | None) -> int | None:
        """Return `viewer_for(viewer)`; ApiError while the screen is being handed over."""
        seat = self.viewer_for(viewer)
        if self.handover(seat) is not None:
            raise ApiError(403, "HANDOVER", "the view of a seat that the screen is not with; expected a handover")
        return seat

    def view_of(self, position: Position, viewer: int | None) -> Position:
        """Return a new position: what a viewer (of `viewer_for`) sees, without what is hidden from all."""
        if viewer is not None:
            return position.view(viewer)
        if self.kind.views is not None or position.to_move is None:
            return position.copy()
        return Position.from_json(self.kind.redact(position.to_json()))

    def seen_turns(self, viewer: int | None) -> list[list[str]]:
        """Return the turns as a viewer (of `viewer_for`) has seen them."""
        turns = self.turns
        if viewer is None or self.is_open:
            return turns
        seen = self._seen.setdefault(viewer, [])
        for index in range(len(seen), len(turns)):
            is_own = self.positions[index].to_move == viewer
            seen.append(turns[index] if is_own else self.session.seen(self.positions[index], turns[index], viewer))
        return seen

    # --- changes

    def check_version(self, version: int, viewer: int | None) -> None:
        """Raise an ApiError, reason STALE, for a command of a page without the newest version."""
        if version != self.version:
            raise ApiError(
                409,
                "STALE",
                f"version: given {version}; the game is at {self.version}",
                snapshot=self.snapshot(viewer),
            )

    def changed(self) -> None:
        """Begin a new version."""
        self.version += 1
        self._drafted = None
        self._snapshots.clear()

    def _person_to_move(self, viewer: int | None) -> int:
        """Return the person to move; ApiError if it is not the viewer."""
        seat = self.mover
        if seat is None or seat not in self.persons:
            raise ApiError(422, "NOT_YOUR_TURN", f"the game waits for: {self.waiting}; expected a person to move")
        if not self.is_open and self.require_view(viewer) != seat:
            raise ApiError(403, "NOT_YOUR_TURN", f"seat {seat} is to move")
        return seat

    def set_draft(self, actions: list[str], viewer: int | None) -> None:
        """Replace the actions of the turn being entered."""
        seat = self._person_to_move(viewer)
        drafted = self._play_draft(actions, seat)
        self.draft = actions
        self.changed()
        self._drafted = drafted

    def _play_draft(self, actions: list[str], seat: int) -> Draft:
        # In the view of the seat: an action must not reveal hidden cards before it is played.
        position = self.view_of(self.now, seat if self.session.hides and not self.is_open else None)
        return play_draft(position, actions, seat)

    def drafted(self) -> Draft:
        """Return the turn being entered, with the position after its actions."""
        if self._drafted is None:
            seat = self.mover
            if seat is None or seat not in self.persons:
                return Draft(self.now)
            self._drafted = self._play_draft(self.draft, seat)
        return self._drafted

    def ending(self) -> str | None:
        """Return the action that only ends the turn being entered, None if there is none."""
        draft = self.drafted()
        if draft.is_ended or self.mover not in self.persons:
            return None
        return ending_of(self.kind, draft)

    def commit(self, viewer: int | None, actions: list[str] | None = None) -> None:
        """Play the turn being entered, or `actions`, for the person to move."""
        self.push(self.whole_turn(viewer, actions))  # after an error the draft is as it was

    def whole_turn(self, viewer: int | None, actions: list[str] | None = None) -> list[str]:
        """Return the turn being entered, or `actions` in its place, with the action that only ends it."""
        seat = self._person_to_move(viewer)
        if actions is not None:
            self._drafted = self._play_draft(actions, seat)
            self.draft = actions
        turn = self.draft
        if not self.drafted().is_ended:
            end = self.ending()
            if end is None:
                raise IllegalActionError("the turn has not ended; expected more actions", reason="TURN_NOT_ENDED")
            turn = [*turn, end]
        return turn

    def push(self, turn: list[str]) -> None:
        """Play a whole turn of the seat to move, or the random event that is due."""
        if len(self.positions) > MAX_TURNS:
            raise ApiError(422, "TOO_MANY_TURNS", f"the game has {MAX_TURNS} turns; expected fewer")
        self.session.push(turn)
        self._keep_last()

    def draw(self) -> None:
        """Draw the random event that is due."""
        self.session.draw()
        self._keep_last()

    def _keep_last(self) -> None:
        position, turn = self.session.position, self.turns[-1]
        try:
            self._write({"turn": turn, "over": True} if position.is_over else {"turn": turn})
        except OSError:
            position.pop()
            raise
        self.positions.append(Position(position.game, position.state))
        self.draft = []
        self.thinking = None
        self.changed()

    def _write(self, *entries: JsonObject) -> None:
        if self.journal is not None:
            self.journal.append(*entries)

    def takeback_limit(self) -> int | None:
        """Return the number of turns left after the last turn of a person is taken back; None if it cannot be.

        A turn in which a person has uncovered something stays.
        """
        if self.session.resigned is not None:
            return len(self.positions) - 1
        for index in range(len(self.positions) - 2, -1, -1):
            position = self.positions[index]
            if self._uncovers(index):
                return None
            if position.to_move in self.persons:
                return index
        return None

    def _uncovers(self, index: int) -> bool:
        """Return whether a turn is a random event within the turn of a person, in a game with hidden hands."""
        if self.is_open_from_start or not self.positions[index].is_chance or index == 0:
            return False
        before, after = self.positions[index - 1].to_move, self.positions[index + 1].to_move
        return before is not None and before == after and before in self.persons

    @property
    def is_open_from_start(self) -> bool:
        """Whether nothing has ever been hidden in this game."""
        return self.is_shared or not self.session.hides

    def take_back(self) -> None:
        """Take back the last turn of a person, with all turns after it."""
        limit = self.takeback_limit()
        if limit is None:
            raise ApiError(422, "NOTHING_TO_TAKE_BACK", "there is no turn of a person that can be taken back")
        self._write({"back": limit})
        self.go_back(limit)
        self.changed()

    def go_back(self, limit: int) -> None:
        """Drop the turns from an index on, or a resignation."""
        if self.session.resigned is not None:
            self.session.undo()
        else:
            while len(self.positions) - 1 > limit:
                self.session.position.pop()
                self.positions.pop()
        self.draft = []
        self.thinking = None
        self.evaluations = {index: one for index, one in self.evaluations.items() if index < limit}
        for seen in self._seen.values():
            del seen[limit:]

    def resign(self, viewer: int | None) -> None:
        """Resign for the person to move."""
        seat = self._person_to_move(viewer)
        self._write({"resigned": seat})
        self.session.resign()
        self.draft = []
        self.changed()

    def make_person(self, seat: int) -> None:
        """Give the seat of an engine to a person."""
        if not 0 <= seat < len(self.seats) or seat in self.persons:
            raise ApiError(422, "NO_ENGINE", f"seat: no engine plays seat {seat}")
        self._write({"person": seat})
        self.seat_person(seat)
        self.thinking = None
        self.changed()

    def seat_person(self, seat: int) -> None:
        """Seat a person in place of an engine."""
        self.seats[seat] = Seat()
        self.session.engines = {other: engine for other, engine in self.session.engines.items() if other != seat}

    # --- a drill

    def show_exercise(self, number: int) -> None:
        """Show another exercise of the drill."""
        assert self.drill is not None
        self.drill.go_to(number)
        self._write({"exercise": number})
        self.put_up(self.drill.exercise)

    def put_up(self, exercise: Exercise) -> None:
        """Put up the position of an exercise in place of the game."""
        position = exercise.world
        self.seats = [Seat() if seat == exercise.seat else OTHER for seat in range(position.players)]
        engines: Any = {seat: OTHER for seat in range(position.players) if seat != exercise.seat}
        self.session = Session(position.copy(), engines)
        self.positions = [Position(position.game, position.state)]
        self.draft, self.evaluations, self.analysis = [], {}, None
        self._seen.clear()
        self.changed()

    def note_outcome(self) -> None:
        """Keep what is reached in the exercise."""
        assert self.drill is not None
        self._write(self.drill.entry())
        self.changed()

    # --- annotation

    def evaluate(self, evaluation: TurnEvaluation) -> None:
        """Store the evaluation of a turn."""
        self._write({"evaluation": evaluation.to_json()})
        self.evaluations[evaluation.turn_index] = evaluation

    def start_annotation(self, seconds: float) -> None:
        """Set the time of each search; evaluations with another time are dropped."""
        if self.annotation["seconds"] not in (None, seconds):
            self.evaluations.clear()
        self._write({"annotation": seconds})
        self.annotation["seconds"] = seconds

    def seat_turns(self) -> list[int]:
        """Return the indices of the turns that are no random events."""
        return [index for index, position in enumerate(self.positions[:-1]) if not position.is_chance]

    def annotation_json(self, *, turns: bool = True) -> JsonObject:
        """Return the state of the annotation, with the turns that are done."""
        data = {**self.annotation, "done": len(self.evaluations), "of": len(self.seat_turns())}
        if turns:
            data["turns"] = [evaluation_json(one) for _, one in sorted(self.evaluations.items())]
        return data

    # --- records

    def record(self) -> JsonObject:
        """Return the record, with evaluations if there are any."""
        record = self.session.record()
        if not self.evaluations:
            return record
        evaluations = [one for _, one in sorted(self.evaluations.items())]
        return with_evaluations(record, evaluations, time_s=self.annotation["seconds"], build=__version__)

    def require_open(self) -> None:
        """Raise an ApiError, reason HIDDEN, while hands are hidden."""
        if not self.is_open:
            raise ApiError(403, "HIDDEN", "hands are hidden until the game is over")

    # --- snapshots

    def snapshot(self, viewer: int | None, opens: bool = False) -> JsonObject:
        """Return the state of the game, as a page shows it.

        Parameters
        ----------
        viewer : int or None
            The seat of the page; None: the person to move.
        opens : bool
            As for `handover`.
        """
        viewer = self.viewer_for(viewer)
        handover = self.handover(viewer, opens)
        key = (viewer, handover is not None)
        if key not in self._snapshots:
            self._snapshots[key] = snapshot_of(self, viewer, handover)
        is_hidden = handover is not None
        analysis = self.analysis
        if analysis is not None and (is_hidden or analysis["viewer"] != viewer):
            analysis = None
        annotation = self.annotation_json(turns=self.is_open and not is_hidden)
        annotation.setdefault("turns", [])
        return {
            **self._snapshots[key],
            "version": self.version,
            "thinking": self.thinking,
            "analysis": analysis,
            "annotation": annotation,
            "drill": None if self.drill is None else self.drill.to_json(),
        }

    # --- positions

    def at(self, number: int) -> Position:
        """Return the position before a turn; ApiError if there is none."""
        if not 0 <= number < len(self.positions):
            raise ApiError(404, "NO_TURN", f"no turn {number}; expected 0 to {len(self.positions) - 1}")
        return self.positions[number]
