"""Entering actions of Nim on its picture."""

from __future__ import annotations

from mexica_ai.game.entry import Entry, Kind, Target, Tool, choice
from mexica_ai.io.json_types import JsonObject

TOOLS = (Tool("take", "t", "Take"),)


def entry(action: str, fields: JsonObject) -> Entry:
    """Return how an action is entered; see `Picture.entry`."""
    _, number, pile = action.split()
    return Entry("take", (Target(f"pile:{pile}", Kind.PILE, pile), choice(number, number)))
