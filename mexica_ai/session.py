"""A game that persons play against engines in a terminal: undo and redo, a record on disk.

Knows no terminal; `mexica_ai.cli.play` talks. The game itself is a `mexica_ai.table.Table`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from mexica_ai import __version__
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines.base import Engine
from mexica_ai.game.position import Position
from mexica_ai.game.records import make_record
from mexica_ai.game.text_forms import viewer_name
from mexica_ai.io import files
from mexica_ai.io.errors import IllegalActionError, PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import quote
from mexica_ai.table import Drafted, Event, Resigned, Seat, Started, Table, TookBack, Turned, begin, fold


class Session:
    """One game.

    Parameters
    ----------
    position : Position
        Where it goes on; its history is part of the game. Nothing may be hidden in it.
    engines : mapping of int to Engine
        The engines, by seat; persons play the other seats. Where `think` is not called, anything with a name.
    record : str, optional
        File that has the record of the game after every turn. None: none.

    Attributes
    ----------
    table : Table
        The game so far.
    position : Position
        As it stands, with the turns as its history; not to be changed.
    """

    def __init__(self, position: Position, engines: Mapping[int, Engine], record: str | None = None) -> None:
        if position.viewer is not None:
            raise PositionError(
                f"the position is the view of {viewer_name(position.viewer)}; expected a full one, to play on",
                reason="VIEWER_MISMATCH",
                path="position.viewer",
            )
        self.engines = engines
        self._record = record
        self._undone: list[list[Event]] = []  # what plays again what each undo took back
        seats = tuple(Seat("engine") if seat in engines else Seat() for seat in range(position.players))
        turns = [tuple(turn) for turn in position.history]
        events: list[Event] = [Turned(turn) for turn in (turns[:-1] if position.is_within_turn else turns)]
        events += [Drafted(turns[-1])] if position.is_within_turn else []
        start = Started(position.start, seats)
        self.table, self.position = begin(start), position.copy()
        self._keep(fold(start, events))

    @property
    def resigned(self) -> int | None:
        """The seat that has given up."""
        return self.table.resigned

    @property
    def is_over(self) -> bool:
        """Whether the game is over, or a seat has resigned."""
        return self.table.is_over

    @property
    def persons(self) -> list[int]:
        """The seats of persons."""
        return self.table.persons

    @property
    def hides(self) -> bool:
        """Whether seats see different things."""
        return self.table.hides

    def view(self, seat: int | None) -> Position:
        """Return what a seat sees of the position; None: all of it."""
        return self.position if seat is None or not self.hides else self.position.view(seat)

    # --- playing

    def play(self, actions: list[str]) -> None:
        """Play actions of the person to move; after an error nothing is played."""
        position = self.position.copy()
        for number, action in enumerate(actions):
            if number and not position.is_within_turn:
                raise IllegalActionError(
                    f"{quote(action)} comes after the end of the turn; expected no more",
                    reason="TURN_ALREADY_ENDED",
                    path="turn",
                )
            position.push_action(action)
        turn = (*self.table.draft, *actions)
        self._apply(Drafted(turn) if position.is_within_turn else Turned(turn))
        self._undone.clear()

    def think(self, stop: Stop) -> Result:
        """Let the engine to move search, and play its turn."""
        seat = self.position.to_move
        assert seat is not None
        result = self.engines[seat].best_turn(self.view(seat), stop=stop)
        self.push(result.turn)
        return result

    def push(self, turn: list[str]) -> None:
        """Play a whole turn of any seat, or the random event that is due."""
        self._apply(Turned(tuple(turn)))
        self._undone.clear()

    def draw(self) -> list[str]:
        """Draw the random event that is due; return it."""
        event = self.table.now.copy().draw()
        self._apply(Turned(tuple(event)))
        return event

    def resign(self) -> None:
        """Let the person to move give up."""
        seat = self.table.now.to_move
        assert seat is not None
        self._apply(Resigned(seat))

    def undo(self) -> bool:
        """Take back the last action of the turn being entered, else the last turn of a person and all after it.

        Returns
        -------
        bool
            False if there is nothing to take back.
        """
        table = self.table
        if table.resigned is not None:
            self._apply(TookBack(len(table.turns)))
        elif table.draft:
            self._apply(Drafted(table.draft[:-1]))
            self._undone.append([Drafted(table.draft)])
        elif (limit := table.last_of_person()) is not None:
            self._apply(TookBack(limit))
            self._undone.append([Turned(turn) for turn in table.turns[limit:]])
        else:
            return False
        return True

    def redo(self) -> bool:
        """Play what the last undo took back; return False if there is nothing."""
        if not self._undone:
            return False
        self._apply(*self._undone[-1])
        self._undone.pop()
        return True

    def _apply(self, *events: Event) -> None:
        table = self.table
        for event in events:
            table = table.apply(event)
        self._keep(table)

    def _keep(self, table: Table) -> None:
        """Go on with a table, once its record is on disk."""
        if self._record is not None and not table.draft:
            self._save(table, self._record, "--record")
        self.table, self.position = table, table.position(with_draft=True)

    # --- the record

    def record(self) -> JsonObject:
        """Return the record of the game so far, without a turn that has not ended."""
        return self._record_of(self.table)

    def save(self, path: str, option: str = "") -> None:
        """Write the record to a file; OSError if that fails, which names the option if it is given."""
        self._save(self.table, path, option)

    def _record_of(self, table: Table) -> JsonObject:
        names = [self.engines[seat].name if seat in self.engines else "person" for seat in range(len(table.seats))]
        return record_of(table, names)

    def _save(self, table: Table, path: str, option: str = "") -> None:
        files.replace(path, json.dumps(self._record_of(table)) + "\n", option)


def record_of(table: Table, names: Iterable[str]) -> JsonObject:
    """Return the record of a game so far, without a turn that has not ended; `names` are those of the players."""
    details: dict[str, Any] = {"engines": list(names), "build": __version__}
    if table.resigned is not None:
        details["forfeit"] = {"seat": table.resigned, "reason": "resigned", "detail": ""}
    return make_record(table.position(), **details)
