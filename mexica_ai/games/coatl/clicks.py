"""What actions of Coatl bring, and what a click on its picture may mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from mexica_ai.game.contract import Clicks
from mexica_ai.game.entry import Gain
from mexica_ai.game.messages import noted, say
from mexica_ai.game.text_forms import listed
from mexica_ai.games.coatl import facts
from mexica_ai.games.coatl.words import card as words_of_card
from mexica_ai.io.json_types import JsonObject

_WORDS = {
    "draw": noted("a hidden card"),
    "future": noted("a new display, then discard and draw"),
    "perfect": noted("spends the token"),
    "promise": noted("into the hand, spends the token"),
}


def gain(fields: JsonObject, action: str, play: Callable[[], JsonObject]) -> Gain:
    """Return what an action brings; see `Clicks.gain`."""
    verb, *words = action.split()
    match verb:
        case "pass":
            return Gain(say("nothing"), is_empty=True)
        case "keep":
            return Gain("", len(words), not words)
        case "draw" if words == ["deck"]:
            return Gain(say(_WORDS[verb]))
        case "future" | "perfect" | "promise":
            return Gain(say(_WORDS[verb]), -1)
        case "add" | "play" | "temple":
            return _points(fields, play(), int(words[0]))
        case "close":
            return Gain(say("without a temple"), -1)
    return Gain()


def _points(before: JsonObject, after: JsonObject, number: int) -> Gain:
    """Return how the points of a Coatl of the seat to move change."""
    strict, seat = before["options"]["strict_ends"], before["to_move"]
    old, new = (
        sum(facts.coatl_points(fields["seats"][seat]["coatls"][number - 1], strict_ends=strict))
        for fields in (before, after)
    )
    more = new - old
    return Gain(f"{'+' if more > 0 else ''}{say('{n:point|points}', n=more)}" if more else "", more)


def meant(fields: JsonObject, tool: str, targets: Sequence[str]) -> list[str]:
    """Return the actions that a click may mean; see `Clicks.meant`."""
    seat = str(fields["to_move"])
    places: dict[str, list[list[str]]] = {}
    for target in targets:
        place, *rest = target.split(":")
        if place in ("stored", "hand", "coatl"):
            owner, *rest = rest
            if owner != seat:
                return []
        places.setdefault(place, []).append(rest)
    stored, held = places.get("stored", [])[:1], [card for card, *_ in places.get("hand", [])]
    coatls, open_temples = places.get("coatl", [])[:1], [card for (card,) in places.get("pile", [])]
    own = fields["seats"][fields["to_move"]]
    numbers = [coatl[0] for coatl in coatls] or [str(number) for number, _ in enumerate(own["coatls"], 1)] or ["1"]
    match tool:
        case "keep":
            kept = sorted(card for card in held if card in facts.PROPHECIES)[: facts.MAX_KEPT]
            return [f"keep {' '.join(kept)}"] if kept else []
        case "take":
            return [f"take {kind} {letters}" for kind, letters in places.get("supply", [])]
        case "draw":
            return [f"draw {card}" for (card,) in places.get("display", [])] + ["draw deck"] * ("deck" in places)
        case "start":
            return [f"start {kind} {letter}" for kind, letter in stored]
        case "add":
            return _additions(own, stored, coatls, numbers)
        case "play":
            cards = [*held, *open_temples] or (own["hand"] if coatls else [])
            verbs = dict.fromkeys(facts.PROPHECIES, "play") | dict.fromkeys(facts.TEMPLES, "temple")
            return [f"{verbs[card]} {number} {card}" for card in cards if card in verbs for number in numbers]
        case "close":
            return [f"close {number}" for number in numbers] if coatls else []
        case "discard":
            return [f"discard {card}" for card in held if card in facts.PROPHECIES]
        case "promise":
            return [f"promise {card}" for card in open_temples]
    return []


def _additions(own: JsonObject, stored: list[list[str]], coatls: list[list[str]], numbers: list[str]) -> list[str]:
    """Return the ways to add a piece to a Coatl: each that is chosen, or all of them."""
    if not stored and not coatls:
        return []
    pieces = stored or [[kind, letter] for part, kind in facts.KIND_OF_PART.items() for letter in own["stored"][part]]
    sides = [rest[0] for _, *rest in coatls if rest and rest[0] in ("left", "right")] or ["left", "right"]
    return [
        f"add {number} {side if kind == 'body' else kind} {letter}"
        for number in numbers
        for kind, letter in pieces
        for side in sides
    ]


_CARD = re.compile(r"\b[PT][0-9]{2}\b")
_PIECE = re.compile(rf"\b(head|tail|body) ([{facts.COLORS}]{{1,2}})\b")
_NO_COATL = re.compile(r"\Aseat [0-9] has no Coatl 1\Z")


def plain(words: str) -> str:
    """Return a reason without the codes of cards and colours; see `Clicks.plain`."""

    def piece(match: re.Match[str]) -> str:
        return f"{listed([say(facts.COLOR_NAMES[letter]) for letter in match[2]])} {say(match[1])}"

    words = _NO_COATL.sub(say("there is no Coatl yet; start one first"), words)
    return _PIECE.sub(piece, _CARD.sub(lambda match: _named(match[0]), words))


def _named(name: str) -> str:
    """Return a card with its kind and what it asks for."""
    if name in facts.TEMPLES:
        return say("the temple {card}", card=words_of_card(name))
    return say("the prophecy {card}", card=words_of_card(name)) if name in facts.PROPHECIES else name


CLICKS = Clicks(gain, meant, plain)
