"""A game of the page: its table, what runs beside it, and what pages see of it.

`store` changes it, `visibility` says who sees what, `snapshots` and `pictures` show it.
"""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, cast

from mexica_ai import __version__
from mexica_ai.analysis.annotate import TurnEvaluation, with_evaluations
from mexica_ai.game import registry
from mexica_ai.game.contract import Game as Kind
from mexica_ai.game.messages import language
from mexica_ai.game.position import Position
from mexica_ai.io.json_types import JsonObject
from mexica_ai.session import record_of
from mexica_ai.table.events import Table, Timed, seen_turn
from mexica_ai.table.seats import Seat, seats_json
from mexica_ai.web import clocks, commands, visibility
from mexica_ai.web.analyses import Analysis
from mexica_ai.web.drills import Drill
from mexica_ai.web.errors import ApiError
from mexica_ai.web.guides import guide_json
from mexica_ai.web.snapshot_types import (
    AnnotationJson,
    SeatJson,
    Snapshot,
    StateJson,
    SummaryJson,
    ThinkingJson,
)
from mexica_ai.web.snapshots import evaluation_json, snapshot_of
from mexica_ai.web.store import Kept
from mexica_ai.web.telling import Telling
from mexica_ai.web.turn_entry import Draft, ending_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mexica_ai.table.events import Event


class Game(Kept):
    """One game.

    Parameters
    ----------
    table : Table
    ident : str, optional
        Drawn by default.

    Attributes
    ----------
    thinking, annotation : dict or None
        The state of these jobs; `since` is a time of `time.monotonic`.
    analysis : Analysis or None
        The newest one.
    drill : Drill or None
        The drill whose exercise it shows; then nothing is played in it, but answered.
    clock : Clock or None
        Of its persons, as it runs.
    """

    def __init__(self, table: Table, ident: str | None = None) -> None:
        super().__init__(ident or secrets.token_hex(16), table)
        self.annotation: JsonObject = {"state": "none", "message": ""}
        if table.evaluations or table.seconds is not None:
            is_done = len(table.evaluations) == len(table.seat_turns())
            self.annotation["state"] = "done" if is_done else "stopped"
        self.thinking: JsonObject | None = None
        self.analysis: Analysis | None = None
        self.drill = Drill(table) if table.started.exercises else None
        self.clock = table.clock
        self.telling = Telling()
        self._drafted: dict[str, Draft] = {}  # by language
        self._snapshots: dict[tuple[int | None, bool, int | None, str], StateJson] = {}
        self._seen: dict[int, list[list[str]]] = {}

    def beside(self, table: Table) -> Sequence[Event]:
        """Return how the clock stands when a command leads to a table, if it changes."""
        if self.clock is None:
            return []
        clock = clocks.follow(self.clock, self.table, table)
        return [] if clock is self.clock else [Timed(clocks.paused(clock))]

    def resume_clock(self) -> None:
        """Let the clock run after a pause of the process."""
        if self.clock is not None:
            self.clock = self.clock.resume(clocks.now_s())

    def keep_clock(self) -> None:
        """Write on disk how the clock stands, before the process ends."""
        if (clock := self.clock) is not None and clock.falls_at() is not None and not self.is_deleted:
            self.change(lambda table: [Timed(clocks.paused(clock))])

    def follow(self, before: Table) -> None:
        """Forget what was worked out from the table before."""
        table = self.table
        if table.clock is not before.clock:
            self.clock = table.clock
            self.resume_clock()
        if self.drill is not None:
            self.drill.follow(table)
        if table.version != before.version:
            self._drafted.clear()
            self._snapshots.clear()
        if table.positions is before.positions and table.seats is before.seats:
            return
        self.thinking = None
        common = 0
        for old, new in zip(before.positions, table.positions, strict=False):
            if old is not new:
                break
            common += 1
        for seen in self._seen.values():
            del seen[max(0, common - 1) :]
        self.telling.forget(common)
        if self.analysis is not None and not self.analysis.asked.is_of(self):
            self.analysis = None

    # --- what is known of it

    @property
    def name(self) -> str:
        """The name of the game that is played."""
        return self.table.game

    @property
    def kind(self) -> Kind:
        """The game that is played, with its parts."""
        return registry.get(self.name)

    @property
    def version(self) -> int:
        """Raised by every change."""
        return self.table.version

    @property
    def now(self) -> Position:
        """The position after all whole turns."""
        return self.table.now

    @property
    def positions(self) -> tuple[Position, ...]:
        """The positions before each turn, and after the last one."""
        return self.table.positions

    @property
    def turns(self) -> list[list[str]]:
        """The turns and random events so far."""
        return [list(turn) for turn in self.table.turns]

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The players."""
        return self.table.seats

    @property
    def persons(self) -> list[int]:
        """The seats of persons."""
        return self.table.persons

    @property
    def mover(self) -> int | None:
        """The seat to move; None if the game is over, or a random event comes."""
        return self.table.mover

    @property
    def waiting(self) -> str:
        """The next to act: person, engine, event, guide or over."""
        return self.table.waiting

    @property
    def is_over(self) -> bool:
        """Whether the game is over, or a seat has given up."""
        return self.table.is_over

    @property
    def is_open(self) -> bool:
        """Whether all may see everything."""
        return visibility.is_open(self.table)

    @property
    def draft(self) -> list[str]:
        """The actions of the turn being entered."""
        return list(self.table.draft)

    @property
    def evaluations(self) -> Mapping[int, TurnEvaluation]:
        """The evaluations, by index of the turn."""
        return self.table.evaluations

    def summary(self) -> SummaryJson:
        """Return the entry of the game in a list of games."""
        return {
            "id": self.id,
            "game": self.name,
            "created": self.table.started.created,
            "seats": cast("list[SeatJson]", seats_json(self.seats)),
            "turns": len(self.table.turns),
            "is_over": self.is_over,
            "scores": self.now.scores,
            "winners": self.table.winners,
            "drill": None if self.drill is None else self.drill.summary(),
            "guide": guide_json(self.table),
        }

    # --- views

    def require_view(self, viewer: int | None) -> int | None:
        """Return the seat whose view a page gets; ApiError while the screen is being handed over."""
        return visibility.require_view(self.table, viewer)

    def view_of(self, position: Position, viewer: int | None) -> Position:
        """Return a new position: what a viewer (of `visibility.viewer_for`) sees."""
        return visibility.view_of(position, viewer)

    def seen_turns(self, viewer: int | None) -> list[list[str]]:
        """Return the turns as a viewer (of `visibility.viewer_for`) has seen them."""
        table = self.table
        if viewer is None or self.is_open:
            return self.turns
        seen = self._seen.setdefault(viewer, [])
        for index in range(len(seen), len(table.turns)):
            seen.append(seen_turn(table.positions[index], table.turns[index], viewer))
        return seen

    def at(self, number: int) -> Position:
        """Return the position before a turn; ApiError if there is none."""
        if not 0 <= number < len(self.positions):
            raise ApiError(404, "NO_TURN", f"no turn {number}; expected 0 to {len(self.positions) - 1}")
        return self.positions[number]

    # --- the turn being entered

    def drafted(self) -> Draft:
        """Return the turn being entered, with the position after its actions."""
        if language() not in self._drafted:
            seat = self.mover
            if seat is None or seat not in self.persons:
                return Draft(self.now)
            self._drafted[language()] = commands.drafted(self.table, seat, self.table.draft)
        return self._drafted[language()]

    def ending(self) -> str | None:
        """Return the action that only ends the turn being entered, None if there is none."""
        draft = self.drafted()
        if draft.is_ended or self.mover not in self.persons:
            return None
        return ending_of(self.kind, draft)

    # --- annotation and record

    def annotation_json(self, *, turns: bool = True) -> AnnotationJson:
        """Return the state of the annotation, with the turns that are done."""
        table = self.table
        data: AnnotationJson = {
            "state": self.annotation["state"],
            "message": self.annotation["message"],
            "seconds": table.seconds,
            "done": len(table.evaluations),
            "of": len(table.seat_turns()),
        }
        if turns:
            data["turns"] = [evaluation_json(self, one) for _, one in sorted(table.evaluations.items())]
        return data

    def plain_record(self) -> JsonObject:
        """Return the record without evaluations."""
        return record_of(self.table, [seat.name for seat in self.seats])

    def record(self) -> JsonObject:
        """Return the record, with its lines, and with evaluations if there are any."""
        table = self.table
        record = record_of(table, [seat.name for seat in self.seats], table.lines)
        if not table.evaluations:
            return record
        evaluations = [one for _, one in sorted(table.evaluations.items())]
        return with_evaluations(record, evaluations, time_s=table.seconds, build=__version__)

    # --- snapshots

    def thinking_json(self) -> ThinkingJson | None:
        """Return which engine thinks, and for how long by now: a page may have another clock."""
        if self.thinking is None:
            return None
        fields = {key: value for key, value in self.thinking.items() if key != "since"}
        return cast("ThinkingJson", {**fields, "seconds": round(time.monotonic() - self.thinking["since"], 1)})

    def snapshot(self, viewer: int | None) -> Snapshot:
        """Return the state of the game, as a page shows it.

        Parameters
        ----------
        viewer : int or None
            The seat of the page; None: the person to move. One with an invitation has the page of that, which gets
            nothing that an engine has found, until the game is over.
        """
        guest = viewer if viewer in self.table.invites else None
        viewer = visibility.viewer_for(self.table, None if guest is not None and self.is_over else viewer)
        handover = visibility.handover(self.table, viewer)
        key = (viewer, handover is not None, guest, language())
        if key not in self._snapshots:
            self._snapshots[key] = snapshot_of(self, viewer, handover, guest)
        is_hidden = handover is not None or (guest is not None and not self.is_over)
        analysis, thinking = self.analysis, self.thinking_json()
        if analysis is not None and (is_hidden or analysis.asked.viewer != viewer):
            analysis = None
        if thinking is not None and guest is not None:
            thinking = {**thinking, "message": ""}
        annotation = self.annotation_json(turns=self.is_open and not is_hidden)
        annotation.setdefault("turns", [])
        return {
            **self._snapshots[key],
            "version": self.version,
            "clock": clocks.clock_json(self),
            "thinking": thinking,
            "analysis": None if analysis is None else analysis.to_json(),
            "annotation": annotation,
            "drill": None if self.drill is None else self.drill.to_json(),
        }
