"""A game that persons play against engines: seats, the turn being entered, undo and redo, a record on disk.

Knows no terminal; `mexica_ai.cli.play` talks.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from mexica_ai import __version__
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines.base import Engine
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.game.records import make_record
from mexica_ai.game.text_forms import viewer_name
from mexica_ai.game.variations import Line, fit, with_lines
from mexica_ai.io import files
from mexica_ai.io.errors import IllegalActionError, MexicaAIError, NotationError, PositionError
from mexica_ai.io.figures import resolve_seed
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import quote

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
        Comments and variations for the record, which may be changed later. What belongs to turns that are taken back is
        left out of the record.
    luck : int, optional
        What random events are drawn from, 0 <= luck < 2**63; by default drawn. Whoever knows it knows them. An event
        that is taken back comes again if the same turns lead to it.
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
        self.position = position
        self.engines = engines
        self.resigned: int | None = None
        self.lines = lines
        self.luck = resolve_seed(luck)
        self._record = record
        self._undone: list[list[list[str]]] = []  # what each undo took back, in the order in which it was played
        self._keep()

    @property
    def is_over(self) -> bool:
        """Whether the game is over, or a seat has resigned."""
        return self.position.is_over or self.resigned is not None

    @property
    def persons(self) -> list[int]:
        """The seats of persons."""
        return [seat for seat in range(self.position.players) if seat not in self.engines]

    @property
    def hides(self) -> bool:
        """Whether seats see different things."""
        return registry.get(self.position.game).views is not None

    def view(self, seat: int | None) -> Position:
        """Return what a seat sees of the position; None: all of it."""
        return self.position if seat is None or not self.hides else self.position.view(seat)

    # --- playing

    def play(self, actions: list[str]) -> None:
        """Play actions of the person to move; after an error all of them are taken back."""
        done = 0
        try:
            for action in actions:
                if done and not self.position.is_within_turn:
                    raise IllegalActionError(
                        f"{quote(action)} comes after the end of the turn; expected no more",
                        reason="TURN_ALREADY_ENDED",
                        path="turn",
                    )
                self.position.push_action(action)
                done += 1
        except MexicaAIError:
            for _ in range(done):
                self.position.pop()
            raise
        self._undone.clear()
        self._keep()

    def think(self, stop: Stop) -> Result:
        """Let the engine to move search, and play its turn."""
        seat = self.position.to_move
        assert seat is not None
        result = self.engines[seat].best_turn(self.view(seat), stop=stop)
        self.push(result.turn)
        return result

    def push(self, turn: list[str]) -> None:
        """Play a whole turn of any seat, or the random event that is due."""
        self.position.push(turn)
        self._undone.clear()
        self._keep()

    def draw(self) -> list[str]:
        """Draw the random event that is due; return it."""
        number = len(self.position.history)
        event = self.position.draw(random.Random(f"luck {self.luck}, turn {number}").getrandbits(63))
        self._keep()
        return event

    def resign(self) -> None:
        """Let the person to move give up."""
        while self.position.is_within_turn:
            self.position.pop()
        self.resigned = self.position.to_move
        self._keep()

    def undo(self) -> bool:
        """Take back the last action of the turn being entered, else the last turn of a person and all after it.

        Returns
        -------
        bool
            False if there is nothing to take back.
        """
        taken: list[list[str]] = []
        if self.resigned is not None:
            self.resigned = None
            self._keep()
            return True
        if self.position.is_within_turn:
            taken.append(self.position.pop())
        else:
            trial = self.position.copy()
            while trial.history:
                taken.append(trial.pop())
                if trial.to_move in self.persons and not trial.is_within_turn:
                    break
            else:
                return False
            self.position = trial
        self._undone.append(taken[::-1])
        self._keep()
        return True

    def redo(self) -> bool:
        """Play what the last undo took back; return False if there is nothing."""
        if not self._undone:
            return False
        for actions in self._undone.pop():
            self.position.push(actions, partial=True)
        self._keep()
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
        return Session(start, engines, record, luck=self.luck)

    # --- the record

    def record(self) -> JsonObject:
        """Return the record of the game so far, without a turn that has not ended."""
        position = self.position.copy()
        while position.is_within_turn:
            position.pop()
        names = [self.engines[seat].name if seat in self.engines else "person" for seat in range(position.players)]
        details: dict[str, Any] = {"engines": names, "build": __version__}
        if self.resigned is not None:
            details["forfeit"] = {"seat": self.resigned, "reason": "resigned", "detail": ""}
        record = make_record(position, **details)
        return record if self.lines is None else with_lines(record, fit(self.lines, record["turns"]))

    def save(self, path: str, option: str = "") -> None:
        """Write the record to a file; OSError if that fails, which names the option if it is given."""
        files.replace(path, json.dumps(self.record()) + "\n", option)

    def _keep(self) -> None:
        if self._record is not None and not self.position.is_within_turn:
            self.save(self._record, "--record")

    # --- what others see

    def seen(self, before: Position, turn: list[str], viewer: int) -> list[str]:
        """Return a turn of another seat, or a random event, as a seat sees it: without operands that it cannot know."""
        views = registry.get(before.game).views
        if views is None:
            return turn
        shown, now = [], before.copy()
        for action in turn:
            mover = now.to_json()["to_move"]  # of a random event, the seat that goes on after it
            now.push_action(action)
            is_hidden = mover != viewer and views.is_secret(action, now.to_json())
            shown.append(action.split()[0] if is_hidden else action)
        return shown
