"""A game that persons play against engines in a terminal: undo and redo, a record on disk.

Knows no terminal; `mexica_ai.cli.play` talks. The game itself is a `mexica_ai.table.events.Table`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from mexica_ai import __version__
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines.base import Engine
from mexica_ai.game.notes import notes_of
from mexica_ai.game.position import Position
from mexica_ai.game.records import make_record
from mexica_ai.game.text_forms import viewer_name
from mexica_ai.game.variations import Line, fit, with_lines
from mexica_ai.io import files
from mexica_ai.io.errors import IllegalActionError, NotationError, PositionError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.numbers import resolve_seed
from mexica_ai.io.strict import quote
from mexica_ai.table.events import Drafted, Event, Resigned, Started, Table, TookBack, Turned, begin, fold
from mexica_ai.table.seats import Seat

Player = TypeVar("Player")


def same_deal(position: Position, players: Sequence[Player], by: int = 1) -> tuple[Position, list[Player]]:
    """Return the start of a game, to be played again by players who have changed their seats.

    The deal stays: hands, and who begins, are those of the seats. So a player gets what the player `by` seats further
    had.

    Parameters
    ----------
    position : Position
        Of the game, anywhere in it; not changed. For a record: `position_at(record, 0)`.
    players : sequence
        By seat: who sits there.
    by : int
        How many seats further each player sits; 0 is the same seat.

    Returns
    -------
    Position, list
        The start, and the players by their new seats.

    Raises
    ------
    NotationError
        There is not one player for each seat; reason SEATS_COUNT.
    """
    if len(players) != position.players:
        raise NotationError(
            f"players: given {len(players)}; expected one for each of the {position.players} seats",
            reason="SEATS_COUNT",
            path="players",
        )
    return position.start, [players[(seat - by) % len(players)] for seat in range(len(players))]


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
    lines : Line, optional
        Comments and variations for the record. What belongs to turns that are taken back is left out of it.
    luck : int, optional
        What random events are drawn from, 0 <= luck < 2**63; by default drawn. Whoever knows it knows them. An event
        that is taken back comes again if the same turns lead to it.

    Attributes
    ----------
    table : Table
        The game so far.
    position : Position
        As it stands, with the turns as its history; not to be changed.
    """

    def __init__(
        self,
        position: Position,
        engines: Mapping[int, Engine],
        record: str | None = None,
        lines: Line | None = None,
        luck: int | None = None,
    ) -> None:
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
        played = turns[:-1] if position.is_within_turn else turns
        events: list[Event] = [Turned(turn) for turn in played]
        events += notes_of(fit(lines, played)) if lines is not None else []
        events += [Drafted(turns[-1])] if position.is_within_turn else []
        start = Started(position.start, seats, luck=resolve_seed(luck))
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
        event = self.table.drawn()
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
        if not self._undone or self.resigned is not None:
            return False
        self._apply(*self._undone[-1])
        self._undone.pop()
        return True

    def again(self, by: int = 1, record: str | None = None) -> Session:
        """Return a session of the same deal, with the same luck, whose players sit `by` seats further.

        Parameters
        ----------
        by : int
            As for `same_deal`.
        record : str, optional
            File of the new game.
        """
        players = [self.engines.get(seat) for seat in range(self.position.players)]
        start, moved = same_deal(self.position, players, by)
        engines = {seat: engine for seat, engine in enumerate(moved) if engine is not None}
        return Session(start, engines, record, luck=self.table.started.luck)

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
        return record_of(table, names, table.lines)

    def _save(self, table: Table, path: str, option: str = "") -> None:
        files.replace(path, json.dumps(self._record_of(table)) + "\n", option)


def record_of(table: Table, names: Iterable[str], lines: Line | None = None) -> JsonObject:
    """Return the record of a game so far, without a turn that has not ended.

    Parameters
    ----------
    table : Table
    names : iterable of str
        Those of the players.
    lines : Line, optional
        Comments and variations, of which those of turns that are no longer played are left out.
    """
    details: dict[str, Any] = {"engines": list(names), "build": __version__}
    if table.resigned is not None:
        reason = "time" if table.is_out_of_time else "resigned"
        details["forfeit"] = {"seat": table.resigned, "reason": reason, "detail": ""}
    record = make_record(table.position(), **details)
    return record if lines is None else with_lines(record, fit(lines, record["turns"]))
