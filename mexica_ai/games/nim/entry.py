"""Entering actions of Nim on its picture."""

from __future__ import annotations

from typing import Any

from mexica_ai.game.entry import MENU, Entry, Tool

TOOLS = (Tool("take", "t", "Take"),)


def entry(action: str, fields: dict[str, Any]) -> Entry:
    """Return how an action is entered; see `Picture.entry`."""
    _, number, pile = action.split()
    return Entry("take", (f"pile:{pile}", f"{MENU}{number}"))
