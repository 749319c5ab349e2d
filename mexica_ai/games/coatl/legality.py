"""Why an action of Coatl is not legal, in words.

A reason is a fact of the position that the rules forbid; the compiled rules alone decide what is legal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeAlias

from mexica_ai.game.messages import noted, say
from mexica_ai.games.coatl.facts import (
    CAPACITY,
    COLORS,
    HAND_LIMIT,
    KINDS,
    MAX_COATLS,
    MAX_PIECES,
    MAX_PLAYED,
    MAX_UNFINISHED,
    PART_OF_KIND,
    PIECES_A_COLOR,
    PROPHECIES,
    count_times,
    pieces_of,
    prophecy_points,
    temple_points,
)
from mexica_ai.games.coatl.shape import HIDDEN
from mexica_ai.io.json_types import JsonObject

_Rule: TypeAlias = Callable[[JsonObject, JsonObject, int, list[str]], str]


def why_illegal(data: JsonObject, action: str, is_legal: Callable[[JsonObject], bool]) -> str:
    """Return why an action is not legal; see `Reasons.why_illegal`."""
    verb, *operands = action.split()
    own, seat = data["seats"][data["to_move"]], data["to_move"]
    rule = _RULES.get(verb)
    if verb == "pass":
        return "" if is_legal(data) else say(_NO_PASS)
    return _other_phase(data, seat, verb, operands) or (rule(data, own, seat, operands) if rule else "")


def _other_phase(data: JsonObject, seat: int, verb: str, operands: list[str]) -> str:
    """Return why a verb, or the Coatl that it names, does not belong to what the seat is doing, "" if it does."""
    match data["phase"]:
        case "keep" if verb != "keep":
            return say("the seats choose the prophecies that they keep first")
        case "drawing" | "future" if verb not in ("draw", "end") and (verb, data["phase"]) != ("discard", "future"):
            return say("seat {seat} is drawing prophecies; end ends that", seat=seat)
        case "building" if verb not in ("start", "add", "play", "end"):
            return say("seat {seat} is building; end ends that", seat=seat)
        case "closing" if verb not in ("play", "temple", "close") or int(operands[0]) != data["closing"]:
            return say(
                "Coatl {closing} is to be completed: by prophecies, then with a temple or without",
                closing=data["closing"],
            )
        case "turn":
            return say(_NOT_AT_FIRST[verb]) if verb in _NOT_AT_FIRST else ""
    if verb == "keep" and data["phase"] != "keep":
        return say(_NOT_AT_FIRST["keep"])
    return ""


_NO_PASS = noted("a seat passes only where no action is possible, or in place of the second action of its last turn")
_NOT_AT_FIRST = {
    "keep": noted("the prophecies to keep were chosen before the first round"),
    "discard": noted("only the token future lets a seat discard a prophecy"),
    "end": noted("the turn has not begun; end ends one of drawing or building"),
}


def _keep(data: JsonObject, own: JsonObject, seat: int, operands: list[str]) -> str:
    return _not_held(own, seat, operands)


def _not_held(own: JsonObject, seat: int, cards: list[str]) -> str:
    for card in cards:
        if cards.count(card) > own["hand"].count(card):
            return say("seat {seat} has no {card} in its hand", seat=seat, card=card)
    return ""


def _take(data: JsonObject, own: JsonObject, seat: int, operands: list[str]) -> str:
    kind, piece = operands
    if piece not in data["supply"][PART_OF_KIND[kind]]:
        return say("there is no {kind} {piece} in the supply", kind=kind, piece=piece)
    return _no_room(own, seat, piece)


def _no_room(own: JsonObject, seat: int, piece: str) -> str:
    number = sum(map(len, own["stored"].values()))
    if number + len(piece) <= CAPACITY:
        return ""
    return say(
        "seat {seat} stores {number} pieces; {most} is the most that it may store",
        seat=seat,
        number=number,
        most=CAPACITY,
    )


def _draw(data: JsonObject, own: JsonObject, seat: int, operands: list[str]) -> str:
    if len(own["hand"]) >= HAND_LIMIT:
        return say(
            "seat {seat} holds {number} prophecies, the most that it may hold", seat=seat, number=len(own["hand"])
        )
    if operands == ["deck"]:
        return "" if data["deck"] else say("the deck is empty")
    return "" if operands[0] in data["display"] else say("{card} is not on display", card=operands[0])


def _start(data: JsonObject, own: JsonObject, seat: int, operands: list[str]) -> str:
    kind, color = operands
    if len(own["coatls"]) >= MAX_COATLS:
        return say("seat {seat} has {most} Coatls, the most that it may have", seat=seat, most=MAX_COATLS)
    if sum(not coatl["closed"] for coatl in own["coatls"]) >= MAX_UNFINISHED:
        return say(
            "seat {seat} has {most} Coatls that are not complete, the most that it may have",
            seat=seat,
            most=MAX_UNFINISHED,
        )
    return _not_stored(own, seat, kind, color)


def _not_stored(own: JsonObject, seat: int, kind: str, color: str) -> str:
    return (
        ""
        if color in own["stored"][PART_OF_KIND[kind]]
        else say("seat {seat} has no {kind} {color} stored", seat=seat, kind=kind, color=color)
    )


def _coatl(own: JsonObject, seat: int, number: str) -> tuple[JsonObject, str]:
    """Return a Coatl, and why it cannot be changed, if it is complete or is not there."""
    coatls = own["coatls"]
    if int(number) > len(coatls):
        return {}, say("seat {seat} has no Coatl {number}", seat=seat, number=number)
    coatl = coatls[int(number) - 1]
    return coatl, say("Coatl {number} is complete", number=number) if coatl["closed"] else ""


def _add(data: JsonObject, own: JsonObject, seat: int, operands: list[str]) -> str:
    number, end, color = operands
    coatl, problem = _coatl(own, seat, number)
    if problem:
        return problem
    kind = end if end in KINDS else "body"
    if problem := _not_stored(own, seat, kind, color):
        return problem
    side = {"left": "head", "right": "tail"}.get(end, end)
    if coatl[side]:
        return say("Coatl {number} has a {side} already", number=number, side=say(side))
    if len(coatl["pieces"]) >= MAX_PIECES:
        return say("Coatl {number} has {most} pieces, the most that it may have", number=number, most=MAX_PIECES)
    return "" if kind == "body" else _not_completed(coatl, own["hand"], number, kind, color)


def _not_completed(coatl: JsonObject, hand: list[str], number: str, kind: str, color: str) -> str:
    """Return why a head or a tail may not complete a Coatl, "" if it may or does not."""
    pieces = coatl["pieces"]
    if not coatl["tail" if kind == "head" else "head"]:
        return ""
    if len(pieces) == 1:
        return say("a head and a tail never touch")
    pieces = color + pieces if kind == "head" else pieces + color
    if coatl["prophecies"] or any(card == HIDDEN or prophecy_points(card, pieces) for card in hand):
        return ""
    return say("this completes Coatl {number}, which needs a prophecy on it or one in hand that fits", number=number)


def _play(data: JsonObject, own: JsonObject, seat: int, operands: list[str]) -> str:
    number, card = operands
    coatl, problem = _coatl(own, seat, number)
    if problem := problem or _not_held(own, seat, [card]):
        return problem
    if len(coatl["prophecies"]) >= MAX_PLAYED:
        return say("Coatl {number} has {most} prophecies, the most that it may have", number=number, most=MAX_PLAYED)
    if card in coatl["prophecies"]:
        return say("Coatl {number} has {card} already", number=number, card=card)
    is_strict = data["options"]["strict_ends"]
    open_ends = {f"open_{side}": is_strict and not coatl[end] for side, end in (("left", "head"), ("right", "tail"))}
    if count_times(card, coatl["pieces"], **open_ends) < PROPHECIES[card]["levels"][0]["times"]:
        return say("Coatl {number} does not reach the first level of {card}", number=number, card=card)
    return ""


def _temple(data: JsonObject, own: JsonObject, seat: int, operands: list[str]) -> str:
    number, card = operands
    coatl, problem = _coatl(own, seat, number)
    if problem:
        return problem
    if coatl["temple"]:
        return say("Coatl {number} has a temple already", number=number)
    if problem := _not_complete(coatl, number):
        return problem
    if card not in own["temples"] and card not in [pile["top"] for pile in data["piles"]]:
        return say("{card} is neither on a pile nor in the hand of seat {seat}", card=card, seat=seat)
    if not temple_points(card, coatl["pieces"]):
        return say("Coatl {number} meets no requirement of {card}", number=number, card=card)
    return ""


def _close(data: JsonObject, own: JsonObject, seat: int, operands: list[str]) -> str:
    coatl, problem = _coatl(own, seat, operands[0])
    if problem:
        return problem
    return _not_complete(coatl, operands[0])


def _not_complete(coatl: JsonObject, number: str) -> str:
    for end in ("head", "tail"):
        if not coatl[end]:
            return say("Coatl {number} has no {end}", number=number, end=say(end))
    return "" if coatl["prophecies"] else say("Coatl {number} needs a prophecy before it is closed", number=number)


def _token(name: str) -> _Rule:
    def why(data: JsonObject, own: JsonObject, seat: int, operands: list[str]) -> str:
        return "" if name in own["tokens"] else say("seat {seat} has no token {name}", seat=seat, name=name)

    return why


def _perfect(data: JsonObject, own: JsonObject, seat: int, operands: list[str]) -> str:
    kind, piece = operands
    if problem := _token("perfect")(data, own, seat, operands) or _no_room(own, seat, piece):
        return problem
    if Counter(piece) <= _in_bag(data, PART_OF_KIND[kind]):
        return ""
    return say("there is no {kind} {piece} in the bag", kind=kind, piece=piece)


def _in_bag(data: JsonObject, part: str) -> Counter[str]:
    """Return the pieces of a kind that are in the bag: those that are nowhere else."""
    left = Counter(dict.fromkeys(COLORS, PIECES_A_COLOR[part]))
    left.subtract("".join(data["supply"][part]))
    for seat in data["seats"]:
        left.subtract(seat["stored"][part])
        for coatl in seat["coatls"]:
            left.subtract(pieces_of(coatl)[part])
    return left


def _promise(data: JsonObject, own: JsonObject, seat: int, operands: list[str]) -> str:
    if problem := _token("promise")(data, own, seat, operands):
        return problem
    return (
        ""
        if operands[0] in [pile["top"] for pile in data["piles"]]
        else say("{card} is not open on a pile", card=operands[0])
    )


def _discard(data: JsonObject, own: JsonObject, seat: int, operands: list[str]) -> str:
    if operands[0] not in own["hand"]:
        return say("{card} is not in the hand of seat {seat}", card=operands[0], seat=seat)
    return ""


_RULES = {
    "keep": _keep,
    "take": _take,
    "draw": _draw,
    "start": _start,
    "add": _add,
    "play": _play,
    "temple": _temple,
    "close": _close,
    "discard": _discard,
    "perfect": _perfect,
    "future": _token("future"),
    "promise": _promise,
}
