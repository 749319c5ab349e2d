"""Entering actions of Coatl on its picture."""

from __future__ import annotations

from typing import Any

from mexica_ai.games.entry import MENU, Entry, Tool

TOOLS = (
    Tool("keep", "k", "Keep"),
    Tool("take", "t", "Take pieces"),
    Tool("draw", "d", "Draw a prophecy"),
    Tool("start", "s", "Start a Coatl"),
    Tool("add", "a", "Add a piece"),
    Tool("play", "p", "Play a card"),
    Tool("close", "c", "Complete a Coatl"),
    Tool("discard", "x", "Discard"),
    Tool("future", "f", "Token: new display"),
    Tool("perfect", "r", "Token: any piece"),
    Tool("promise", "m", "Token: a temple"),
    Tool("pass", "n", "Pass"),
    Tool("end", "e", "End the turn"),
)


def entry(action: str, fields: dict[str, Any]) -> Entry:
    """Return how an action is entered; see `GameCodec.entry`."""
    seat = fields["to_move"]
    verb, *words = action.split()
    match verb, words:
        case "keep", _:
            return Entry("keep", (MENU + " and ".join(words),))
        case "take", [kind, letters]:
            return Entry("take", (f"supply:{kind}:{letters}",))
        case "draw", ["deck"]:
            return Entry("draw", ("deck",))
        case "draw", [card]:
            return Entry("draw", (f"display:{card}",))
        case "perfect", [kind, letters]:
            return Entry("perfect", (f"{MENU}{kind} {letters}",))
        case "promise", [card]:
            return Entry("promise", (f"pile:{card}",))
        case "start", [kind, letter]:
            return Entry("start", (f"stored:{seat}:{kind}:{letter}",))
        case "add", [number, end, letter]:
            kind = end if end in ("head", "tail") else "body"
            side = {"head": "left", "tail": "right"}.get(end, end)
            return Entry("add", (f"stored:{seat}:{kind}:{letter}", f"coatl:{seat}:{number}:{side}"))
        case "play", [number, card]:
            return Entry("play", (f"hand:{seat}:{card}", f"coatl:{seat}:{number}"))
        case "temple", [number, card]:  # one of the hand, or an open one
            source = f"hand:{seat}:{card}" if card in fields["seats"][seat]["temples"] else f"pile:{card}"
            return Entry("play", (source, f"coatl:{seat}:{number}"))
        case "close", [number]:
            return Entry("close", (f"coatl:{seat}:{number}",))
        case "discard", [card]:
            return Entry("discard", (f"hand:{seat}:{card}",))
    return Entry(verb)
