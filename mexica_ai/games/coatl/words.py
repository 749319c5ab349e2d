"""Actions, pieces and cards of Coatl in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from mexica_ai.game.contract import Words
from mexica_ai.game.messages import add_messages, noted, say
from mexica_ai.game.text_forms import listed
from mexica_ai.games.coatl import facts
from mexica_ai.io.json_types import JsonObject

KINDS = (noted("head"), noted("tail"), noted("body"))
_ADDED = {
    "left": noted("added {pieces} to the left of Coatl {number}"),
    "right": noted("added {pieces} to the right of Coatl {number}"),
}
_ADDED_TO = noted("added {pieces} to Coatl {number}")
COLORS = (noted("yellow"), noted("red"), noted("black"), noted("green"), noted("blue"))
_PIECES = {
    "head": (noted("a {color} head"), noted("{number} {color} heads")),
    "tail": (noted("a {color} tail"), noted("{number} {color} tails")),
    "body": (noted("a {color} body piece"), noted("{number} {color} body pieces")),
}


def card(name: str) -> str:
    """Return what a card asks for, in quotes: ``"3-6 yellow"``, ``"red, 1 or more black, blue"``."""
    if name in facts.TEMPLES:
        return '"' + ", ".join(map(_requirement, facts.TEMPLES[name]["requirements"])) + '"'
    prophecy = facts.PROPHECIES[name]
    requirement = prophecy["requirement"]
    if requirement["type"] == "count":
        times = [level["times"] for level in prophecy["levels"]]
        return f'"{times[0]}-{times[-1]} {say(requirement["color"])}"'
    sequence = requirement["sequence"]
    if any(element["el"] == "not_adjacent" for element in sequence):
        colors = [element["color"] for element in sequence if element["el"] == "piece"]
        return f'"{say("exactly {number} {color}", number=len(colors), color=say(colors[0]))}"'
    parts = [say(element["color"]) if element["el"] == "piece" else _run(element["color"]) for element in sequence]
    if len(set(parts)) == 1:
        return f'"{len(parts)} {parts[0]}"'
    return '"' + ", ".join(parts) + '"'


def _run(color: str) -> str:
    return say("1 or more of any colour") if color == "any" else say("1 or more {color}", color=say(color))


def _requirement(requirement: JsonObject) -> str:
    if requirement["type"] == "absent":
        return say("no {color}", color=say(requirement["color"]))
    if requirement["type"] == "length":
        return say("{length} pieces", length=requirement["length"])
    one, other = map(say, requirement["colors"])
    return say("as many {one} as {other}", one=one, other=other)


def pieces(found: Iterable[tuple[str, str]]) -> str:
    """Return pieces, each a kind and a letter, in words: ``a red head and 2 black body pieces``."""
    words = []
    for (kind, letter), number in Counter(found).items():
        one, many = _PIECES[kind]
        words.append(say(one if number == 1 else many, number=number, color=say(facts.COLOR_NAMES[letter])))
    return listed(words)


def tell(actions: Sequence[str], before: JsonObject, after: JsonObject) -> str:
    """Return actions in words; see `Words.tell`."""
    verb, *words = actions[0].split()
    match verb, words:
        case (("take" | "perfect"), [kind, letters]):
            taken = pieces((kind, letter) for letter in letters)
            return say("took {pieces} (perfect pick)" if verb == "perfect" else "took {pieces}", pieces=taken)
        case "keep", _:
            return _kept(words, before)
        case "draw", ["deck"]:
            return say("drew from the deck")
        case "draw", _:
            return say("drew {cards}", cards=_cards(action.split()[1] for action in actions))
        case "start", _:
            return _started(actions, len(before["seats"][before["to_move"]]["coatls"]) + 1)
        case "add", [number, end, _]:
            sentence = _ADDED_TO if len(actions) > 1 else _ADDED.get(end, _ADDED_TO)
            return say(sentence, pieces=_added(actions), number=number)
        case "play", [number, *_]:
            return say(
                "played {cards} on Coatl {number}", cards=_cards(action.split()[2] for action in actions), number=number
            )
        case "temple", [number, name]:
            return say("played the temple {card} on Coatl {number}", card=card(name), number=number)
        case "close", [number]:
            return say("completed Coatl {number}", number=number)
        case "promise", [name]:
            return say("took the temple {card} (priest's promise)", card=card(name))
    return _others(verb, actions)


def _others(verb: str, actions: Sequence[str]) -> str:
    """Return discards, random events, and what only ends a turn."""
    words = actions[0].split()[1:]
    match verb:
        case "discard":
            known = [name for action in actions for name in action.split()[1:]]
            return (
                say("discarded {cards}", cards=_cards(known))
                if known
                else say("discarded {n:card|cards}", n=len(actions))
            )
        case "future":
            return say("saw the future: new prophecies on display")
        case "deal":
            return say("the card is {card}", card=card(words[0])) if words else say("a card was dealt")
        case "reveal":
            return say("new on display: {cards}", cards=_cards(words))
        case "refill":
            return say("new in the supply: {pieces}", pieces=_refilled(words))
        case "uncover":
            return say("new temple: {card}", card=card(words[0]))
        case "pass":
            return say("passed")
    return ""


def _cards(names: Iterable[str]) -> str:
    return listed([card(name) for name in names])


def _kept(names: Sequence[str], before: JsonObject) -> str:
    """Return what a seat has kept at the start; others do not see it."""
    if names:
        return say("kept {cards}", cards=_cards(names))
    return say("kept none") if before["viewer"] in (None, before["to_move"]) else say("chose prophecies")


def _started(actions: Sequence[str], number: int) -> str:
    _, kind, letter = actions[0].split()
    first = pieces([(kind, letter)])
    if not actions[1:]:
        return say("started Coatl {number} with {pieces}", number=number, pieces=first)
    more = _added(actions[1:])
    return say("started Coatl {number} with {pieces}, added {more}", number=number, pieces=first, more=more)


def _added(actions: Iterable[str]) -> str:
    found = [action.split()[2:] for action in actions]
    return pieces((end if end in ("head", "tail") else "body", letter) for end, letter in found)


def _refilled(words: Sequence[str]) -> str:
    found, kind = [], ""
    for word in words:
        if word in facts.PARTS:
            kind = facts.KIND_OF_PART[word]
        else:
            found += [(kind, letter) for letter in word]
    return pieces(found)


def joins(actions: Sequence[str], following: str) -> bool:
    """Return whether an action is told with those before it; see `Words.joins`."""
    first, then = actions[0].split(), following.split()
    if first[0] in ("add", "play"):
        return first[:2] == then[:2]
    return first[0] == then[0] and (first[0] == "discard" or (first[0] == "draw" and "deck" not in (first[1], then[1])))


def round_of(fields: JsonObject) -> str:
    """Return the caption of a round; see `Words.round_of`."""
    return say("Round {round}", round=fields["round"]) if fields["round"] else say("Start")


add_messages(Path(__file__).with_name("messages"))
WORDS = Words(tell, joins, round_of)
