"""Who sees what of a game: whose view a page gets, who must take over the screen, positions and turns in a view."""

from __future__ import annotations

from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.table.events import Table
from mexica_ai.web.errors import ApiError


def was_always_open(table: Table) -> bool:
    """Return whether nothing has ever been hidden in this game."""
    return table.started.is_shared or not table.hides


def is_open(table: Table) -> bool:
    """Return whether all may see everything."""
    return was_always_open(table) or table.is_over or not table.persons


def viewer_for(table: Table, viewer: int | None) -> int | None:
    """Return the seat whose view a page gets that asks for a seat's; None: all of the game.

    Raises
    ------
    ApiError
        It is not the view of a person.
    """
    if viewer is not None and not 0 <= viewer < len(table.seats):
        message = f"viewer: no seat {viewer}; expected 0 to {len(table.seats) - 1}"
        raise ApiError(404, "NO_SEAT", message, words="The game has no such seat.")
    if table.exercise is not None:  # a page that shows the exercise before may have another seat's view
        return table.exercise.seat if table.hides else None
    if is_open(table):
        return viewer if table.hides else None
    if viewer is None:
        local = table.local
        last = table.screen if table.screen in local else local[0]
        return table.mover if table.mover in local else last
    if viewer not in table.persons:
        message = f"viewer: seat {viewer} is an engine's; its hand is hidden"
        raise ApiError(403, "NOT_A_PERSON", message, words="An engine plays this seat; its hand is hidden.")
    return viewer


def is_theirs(table: Table, viewer: int | None, seat: int | None) -> bool:
    """Return whether a seat is played on the page of a viewer: by its invitation, or at the screen of the owner.

    A viewer with an invitation is the page of that; no other page has its view before the end.
    """
    holder = viewer if viewer in table.invites else None
    return seat is not None and (seat if seat in table.invites else None) == holder


def handover(table: Table, viewer: int | None) -> int | None:
    """Return the seat whose person must take over the screen before the game is shown; None if it may be shown.

    `viewer` is the seat that `viewer_for` returns.
    """
    if is_open(table) or len(table.local) < 2 or viewer in table.invites:
        return None
    mover = table.mover
    if mover in table.local and mover != table.screen:
        return mover
    return None if viewer == table.screen else viewer


def require_view(table: Table, viewer: int | None) -> int | None:
    """Return `viewer_for(table, viewer)`; ApiError while the screen is being handed over."""
    seat = viewer_for(table, viewer)
    if handover(table, seat) is not None:
        raise ApiError(403, "HANDOVER", "the view of a seat that the screen is not with; expected a handover")
    return seat


def require_open(table: Table) -> None:
    """Raise an ApiError, reason HIDDEN, while hands are hidden."""
    if not is_open(table):
        raise ApiError(403, "HIDDEN", "hands are hidden until the game is over")


def view_of(position: Position, viewer: int | None) -> Position:
    """Return a new position: what a viewer (of `viewer_for`) sees, without what is hidden from all."""
    if viewer is not None:
        return position.view(viewer)
    kind = registry.get(position.game)
    if kind.views is not None or position.to_move is None:
        return position.copy()
    return Position.from_json(kind.redact(position.to_json()))


def drafter_view(table: Table, seat: int) -> Position:
    """Return the position in which a person enters a turn: no action may reveal hidden cards before it is played."""
    return view_of(table.now, seat if table.hides and not is_open(table) else None)
