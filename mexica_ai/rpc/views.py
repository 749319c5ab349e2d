"""Views and standings in messages: what each seat and a spectator may see, and how a game stands."""

from __future__ import annotations

from typing import Any

from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.rpc import wire
from mexica_ai.v1 import engine_pb2


def view_to_message(position: Position, seat: int | None) -> engine_pb2.Position:
    """Return the message of what a seat, or a spectator (None), may see of a position.

    Raises
    ------
    PositionError
        If there is no such seat, or the position is the view of another one.
    """
    return wire.message_of_data(registry.get(position.game).seen_by(position.to_json(), seat))


def views_to_message(position: Position) -> dict[str, Any]:
    """Return the fields of an answer with the views of all seats and of a spectator."""
    views = [
        engine_pb2.SeatView(seat=seat, position=view_to_message(position, seat)) for seat in range(position.players)
    ]
    return {"views": views, "spectator_view": view_to_message(position, None)}


def head_to_message(position: Position) -> dict[str, Any]:
    """Return the fields of an answer that say how a game stands."""
    return {
        **wire.points_to_message("scores", position.scores),
        "is_over": position.is_over,
        "to_move": position.to_move,
        "winners": position.winners,
    }
