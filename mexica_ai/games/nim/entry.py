"""Entering actions of Nim on its picture."""

from __future__ import annotations

from mexica_ai.game.entry import MENU, Entry, Tool
from mexica_ai.io.json_types import JsonObject

TOOLS = (Tool("take", "t", "Take"),)


def entry(action: str, fields: JsonObject) -> Entry:
    """Return how an action is entered; see `Picture.entry`."""
    _, number, pile = action.split()
    return Entry("take", (f"pile:{pile}", f"{MENU}{number}"))
