"""Actions, pieces and cards of Coatl in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from mexica_ai.game.contract import Words
from mexica_ai.game.text_forms import count, listed
from mexica_ai.games.coatl import facts
from mexica_ai.io.json_types import JsonObject

_ENDS = {"left": "to the left of", "right": "to the right of", "head": "to", "tail": "to"}


def card(name: str) -> str:
    """Return what a card asks for, in quotes: ``"3-6 yellow"``, ``"red, 1 or more black, blue"``."""
    if name in facts.TEMPLES:
        return '"' + ", ".join(map(_requirement, facts.TEMPLES[name]["requirements"])) + '"'
    prophecy = facts.PROPHECIES[name]
    requirement = prophecy["requirement"]
    if requirement["type"] == "count":
        times = [level["times"] for level in prophecy["levels"]]
        return f'"{times[0]}-{times[-1]} {requirement["color"]}"'
    sequence = requirement["sequence"]
    if any(element["el"] == "not_adjacent" for element in sequence):
        colors = [element["color"] for element in sequence if element["el"] == "piece"]
        return f'"exactly {len(colors)} {colors[0]}"'
    runs = {"any": "of any colour"}
    parts = [
        element["color"] if element["el"] == "piece" else f"1 or more {runs.get(element['color'], element['color'])}"
        for element in sequence
    ]
    if len(set(parts)) == 1:
        return f'"{len(parts)} {parts[0]}"'
    return '"' + ", ".join(parts) + '"'


def _requirement(requirement: JsonObject) -> str:
    if requirement["type"] == "absent":
        return f"no {requirement['color']}"
    if requirement["type"] == "length":
        return f"{requirement['length']} pieces"
    return "as many {} as {}".format(*requirement["colors"])


def pieces(found: Iterable[tuple[str, str]]) -> str:
    """Return pieces, each a kind and a letter, in words: ``a red head and 2 black body pieces``."""
    nouns = {"head": "head", "tail": "tail", "body": "body piece"}
    words = []
    for (kind, letter), number in Counter(found).items():
        color = facts.COLOR_NAMES[letter]
        words.append(f"a {color} {nouns[kind]}" if number == 1 else f"{number} {color} {nouns[kind]}s")
    return listed(words)


def tell(actions: Sequence[str], before: JsonObject, after: JsonObject) -> str:
    """Return actions in words; see `Words.tell`."""
    verb, *words = actions[0].split()
    match verb, words:
        case (("take" | "perfect"), [kind, letters]):
            with_token = " (perfect pick)" if verb == "perfect" else ""
            return f"took {pieces((kind, letter) for letter in letters)}{with_token}"
        case "keep", _:
            return _kept(words, before)
        case "draw", ["deck"]:
            return "drew from the deck"
        case "draw", _:
            return f"drew {_cards(action.split()[1] for action in actions)}"
        case "start", _:
            return _started(actions, len(before["seats"][before["to_move"]]["coatls"]) + 1)
        case "add", [number, end, _]:
            where = "to" if len(actions) > 1 else _ENDS[end]
            return f"added {_added(actions)} {where} Coatl {number}"
        case "play", [number, *_]:
            return f"played {_cards(action.split()[2] for action in actions)} on Coatl {number}"
        case "temple", [number, name]:
            return f"played the temple {card(name)} on Coatl {number}"
        case "close", [number]:
            return f"completed Coatl {number}"
        case "promise", [name]:
            return f"took the temple {card(name)} (priest's promise)"
    return _others(verb, actions)


def _others(verb: str, actions: Sequence[str]) -> str:
    """Return discards, random events, and what only ends a turn."""
    words = actions[0].split()[1:]
    match verb:
        case "discard":
            known = [name for action in actions for name in action.split()[1:]]
            return f"discarded {_cards(known)}" if known else f"discarded {count(len(actions), 'card')}"
        case "future":
            return "saw the future: new prophecies on display"
        case "deal":
            return f"the card is {card(words[0])}" if words else "a card was dealt"
        case "reveal":
            return f"new on display: {_cards(words)}"
        case "refill":
            return f"new in the supply: {_refilled(words)}"
        case "uncover":
            return f"new temple: {card(words[0])}"
        case "pass":
            return "passed"
    return ""


def _cards(names: Iterable[str]) -> str:
    return listed([card(name) for name in names])


def _kept(names: Sequence[str], before: JsonObject) -> str:
    """Return what a seat has kept at the start; others do not see it."""
    if names:
        return f"kept {_cards(names)}"
    return "kept none" if before["viewer"] in (None, before["to_move"]) else "chose prophecies"


def _started(actions: Sequence[str], number: int) -> str:
    _, kind, letter = actions[0].split()
    rest = f", added {_added(actions[1:])}" if actions[1:] else ""
    return f"started Coatl {number} with {pieces([(kind, letter)])}{rest}"


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
    return f"Round {fields['round']}" if fields["round"] else "Start"


WORDS = Words(tell, joins, round_of)
