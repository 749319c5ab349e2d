"""What can be asked of a game: each command gives the events that it leads to, or an error. Nothing is changed here."""

from __future__ import annotations

from typing import Any

from mexica_ai.analysis.annotate import TurnEvaluation
from mexica_ai.analysis.drill import Outcome
from mexica_ai.game import registry
from mexica_ai.game.notes import Note, noted
from mexica_ai.game.variations import Line
from mexica_ai.io.errors import IllegalActionError
from mexica_ai.io.strict import check_shape
from mexica_ai.table.events import (
    Annotated,
    Drafted,
    Evaluated,
    Event,
    HandedOver,
    Invited,
    PlayedOn,
    Posed,
    Resigned,
    Seated,
    Table,
    TookBack,
    Tried,
    Turned,
)
from mexica_ai.web import guides, visibility
from mexica_ai.web.errors import ApiError
from mexica_ai.web.turn_entry import Draft, ending_of, play_draft

MAX_TURNS = 2000
MAX_LINES, MAX_LINE_TURNS = 500, 2_000  # beside a game, and of all of them


# --- the turn of a person


def person_to_move(table: Table, viewer: int | None) -> int:
    """Return the person to move; ApiError if it is not the viewer."""
    seat = table.mover
    if seat is None or seat not in table.persons:
        raise ApiError(422, "NOT_YOUR_TURN", f"the game waits for: {table.waiting}; expected a person to move")
    if not visibility.is_theirs(table, viewer, seat):
        raise ApiError(403, "NOT_YOUR_TURN", f"seat {seat} is to move, on another page")
    if not visibility.is_open(table) and visibility.require_view(table, viewer) != seat:
        raise ApiError(403, "NOT_YOUR_TURN", f"seat {seat} is to move")
    return seat


def drafted(table: Table, seat: int, actions: tuple[str, ...] | list[str]) -> Draft:
    """Return the turn that a seat enters, as it sees it."""
    return play_draft(visibility.drafter_view(table, seat), list(actions), seat)


def enter(table: Table, viewer: int | None, actions: list[str]) -> list[Event]:
    """Replace the actions of the turn being entered; in a guided game, a turn that has ended is played."""
    draft = drafted(table, person_to_move(table, viewer), actions)
    if table.is_guided:
        guides.require_fit(table, actions)
        if draft.is_ended:
            return _play_guided(table, actions)
    return [Drafted(tuple(actions))]


def whole_turn(table: Table, viewer: int | None, actions: list[str] | None = None) -> list[str]:
    """Return the turn being entered, or `actions` in its place, with the action that only ends it."""
    seat = person_to_move(table, viewer)
    turn = list(table.draft) if actions is None else actions
    draft = drafted(table, seat, turn)
    if draft.is_ended:
        return turn
    end = ending_of(registry.get(table.game), draft)
    if end is None:
        raise IllegalActionError("the turn has not ended; expected more actions", reason="TURN_NOT_ENDED")
    return [*turn, end]


def commit(table: Table, viewer: int | None, actions: list[str] | None = None) -> list[Event]:
    """Play the turn being entered, or `actions`, for the person to move."""
    turn = whole_turn(table, viewer, actions)
    if table.is_guided:
        guides.require_fit(table, turn)
        return _play_guided(table, turn)
    return play(table, turn)


def _play_guided(table: Table, turn: list[str]) -> list[Event]:
    """Play a turn of the learner, and what the guide answers."""
    return [*play(table, turn), *map(Turned, guides.replies(table, turn))]


def play_on(table: Table) -> list[Event]:
    """Leave the guide: engines play the other seats."""
    if not table.is_guided:
        raise ApiError(422, "NO_GUIDE", "the game is not guided; expected a guided one")
    return [PlayedOn()]


def resign(table: Table, viewer: int | None) -> list[Event]:
    """Give up for the person to move."""
    return [Resigned(person_to_move(table, viewer))]


# --- turns of others


def play(table: Table, turn: list[str]) -> list[Event]:
    """Play a whole turn of the seat to move, or the random event that is due."""
    if len(table.turns) >= MAX_TURNS:
        raise ApiError(422, "TOO_MANY_TURNS", f"the game has {MAX_TURNS} turns; expected fewer")
    after = table.now.copy()
    after.push(turn)
    return [Turned(tuple(turn), after.is_over)]


def happen(table: Table, event: Any = True) -> list[Event]:
    """Draw the random event that is due, or take what a table drew."""
    if table.waiting != "event":
        raise ApiError(422, "NO_CHANCE", "no random event is due; expected one")
    if event is True:
        return play(table, table.drawn())
    check_shape(event, [str], "request.event")
    return play(table, event)


# --- the course of the game


def take_back_limit(table: Table, viewer: int | None = None) -> int | None:
    """Return the number of turns left after the last turn of a person is taken back; None if it cannot be.

    A turn in which a person has uncovered something stays, and so do the end of a game that has shown hands, a fallen
    flag, and the turn of a seat that is played on another page than the viewer's.
    """
    persons, positions = table.persons, table.positions
    is_blind = not visibility.was_always_open(table)
    if (is_blind and table.is_over) or table.is_out_of_time:
        return None
    if table.resigned is not None:
        return len(table.turns) if visibility.is_theirs(table, viewer, table.resigned) else None
    for index in range(len(table.turns) - 1, -1, -1):
        mover = positions[index].to_move
        if mover in persons:
            return index if visibility.is_theirs(table, viewer, mover) else None
        if is_blind and index > 0 and positions[index].is_chance:  # within the turn of a person
            before, after = positions[index - 1].to_move, positions[index + 1].to_move
            if before is not None and before == after and before in persons:
                return None
    return None


def take_back(table: Table, viewer: int | None = None) -> list[Event]:
    """Take back the last turn of a person, with all turns after it."""
    limit = take_back_limit(table, viewer)
    if limit is None:
        raise ApiError(422, "NOTHING_TO_TAKE_BACK", "there is no turn of a person that can be taken back")
    return [TookBack(limit)]


def seat_person(table: Table, seat: int) -> list[Event]:
    """Give the seat of an engine to a person."""
    if not 0 <= seat < len(table.seats) or seat in table.persons:
        words = "No engine plays this seat."
        raise ApiError(422, "NO_ENGINE", f"seat: no engine plays seat {seat}", words=words)
    return [Seated(seat)]


def hand_over(table: Table, viewer: int | None) -> list[Event]:
    """Give the screen to the person whose view is asked for."""
    seat = visibility.viewer_for(table, viewer)
    is_alone = len(table.local) < 2 or viewer in table.invites
    return [] if visibility.is_open(table) or is_alone else [HandedOver(seat)]


def invite(table: Table, seat: int, nonce: str | None) -> list[Event]:
    """Let the person of a seat play by an invitation with a nonce; None: at the screen of the owner again."""
    if table.exercise is not None or table.is_over:
        raise ApiError(422, "NO_INVITE", "the game is over, or a drill; expected one that goes on")
    if seat not in (table.persons if nonce is not None else table.invites):
        what = "the seat of a person" if nonce is not None else "a seat with an invitation"
        raise ApiError(422, "NO_INVITE", f"seat: given {seat}; expected {what}")
    if nonce is not None and not set(table.local) - {seat}:
        raise ApiError(422, "LAST_SEAT", "seat: the last one of a person here; expected one of several")
    return [Invited(seat, nonce)]


def fall(table: Table, seat: int) -> list[Event]:
    """End the game: the time of a seat is up, and it has lost."""
    return [Resigned(seat)]


# --- drills and annotations


def pose(table: Table, number: int) -> list[Event]:
    """Put up another exercise."""
    return [Posed(number)]


def note_outcome(table: Table, outcome: Outcome) -> list[Event]:
    """Keep what is reached in the exercise that is shown."""
    return [Tried(outcome)]


def annotate(table: Table, seconds: float) -> list[Event]:
    """Set the time of each search; evaluations with another time are dropped."""
    visibility.require_open(table)
    return [Annotated(seconds)]


def require_room(tree: Line) -> None:
    """Raise an ApiError if more stands beside a game than may: all of it is in each snapshot."""
    lines, turns = tree.size
    if lines > MAX_LINES:
        message = f"variations: given {lines:,}; expected {MAX_LINES} beside a game at most"
        raise ApiError(422, "TOO_MANY_LINES", message)
    if turns > MAX_LINE_TURNS:
        message = f"variations: given {turns:,} turns in all; expected {MAX_LINE_TURNS:,} beside a game at most"
        raise ApiError(422, "TOO_MANY_TURNS", message)


def note(table: Table, change: Note) -> list[Event]:
    """Change the lines that are kept beside the game."""
    visibility.require_open(table)
    if table.exercise is not None:
        raise ApiError(422, "DRILL", "the game is an exercise of a drill; expected a game, which has lines")
    if change.change == "add":
        require_room(noted(table.tree, change)[0])
    if change.at + len(change.turns) > MAX_TURNS:
        raise ApiError(422, "TOO_MANY_TURNS", f"the line has more than {MAX_TURNS} turns; expected fewer")
    return [change]


def evaluate(table: Table, evaluation: TurnEvaluation) -> list[Event]:
    """Take the evaluation of a turn."""
    return [Evaluated(evaluation)]
