"""What actions of Tzolk'in bring, in words and by a rough worth."""

from __future__ import annotations

from collections.abc import Callable

from mexica_ai.game.entry import Gain
from mexica_ai.game.text_forms import count, listed
from mexica_ai.games.tzolkin import facts, render
from mexica_ai.games.tzolkin.facts import GEARS, STOCKS, TEMPLES, TRACKS
from mexica_ai.games.tzolkin.words import price, wealth
from mexica_ai.io.json_types import JsonObject

_WORTH = {"corn": 1.0, "wood": 2.0, "stone": 3.0, "gold": 4.0, "skull": 6.0}
_POINT, _STEP, _ADVANCE, _WORKER, _CHOICE = 1.5, 3.0, 5.0, 5.0, 4.0
_NOTHING = Gain("no action", is_empty=True)


def gain(fields: JsonObject, action: str, play: Callable[[], JsonObject]) -> Gain:
    """Return what an action brings; see `Clicks.gain`."""
    verb, *words = action.split()
    match verb:
        case "keep":
            return Gain(listed([wealth(word) for word in words]))
        case "done":
            return Gain("nothing more", is_empty=True)
        case "end" | "advance":
            return Gain()
        case "pick" if len(words) == 2:
            return _NOTHING
        case "place":
            return _placed(fields, words[0])
    return _brought(fields, play(), fields["to_move"], action)


def _placed(fields: JsonObject, place: str) -> Gain:
    """Return where a worker comes to stand, and what it could do there now."""
    if place == facts.START:
        return Gain(f"{fields['teeth_corn']} corn, then the marker")
    space = fields["gears"][place].find(facts.FREE)
    sign = render.pictures(fields, place)[space] if space >= 0 else ""
    return Gain(f"on space {space}" + (f": {_spelled(sign)}" if sign else ""))


def _spelled(sign: str) -> str:
    """Return the sign of an action in words, where it has only letters."""
    return {"any": "any action"}.get(sign, sign)


def _brought(before: JsonObject, after: JsonObject, seat: int, action: str) -> Gain:
    """Return what a seat has more after an action, and what it may choose next."""
    old, new = before["seats"][seat], after["seats"][seat]
    words, worth = [], 0.0
    paid = price(action) if new["corn"] >= old["corn"] else 0  # with less, its cost says so
    for kind in (*STOCKS, "skull"):
        key = "skulls" if kind == "skull" else kind
        more = new[key] - old[key]
        worth += _WORTH[kind] * more
        if kind == "corn":
            more += paid
        if more > 0:
            words.append(f"{more} {kind}" if kind in STOCKS else count(more, "skull"))
    for key, name, each in (("score", "point", _POINT), ("workers", "worker", _WORKER)):
        more = new[key] - old[key]
        worth += each * more
        if more > 0 or (more and key == "score"):
            words.append(count(more, name))
    for temple in TEMPLES:
        steps = new["temples"][temple] - old["temples"][temple]
        worth += _STEP * steps
        if steps:
            words.append(f"{'a step' if abs(steps) == 1 else f'{abs(steps)} steps'} "
                         f"{'up' if steps > 0 else 'down'} in {temple.capitalize()}")  # fmt: skip
    for track in TRACKS:
        if steps := new["technologies"][track] - old["technologies"][track]:
            worth += _ADVANCE * steps
            words.append(f"{track} {new['technologies'][track]}")
    owed = before["pending"][1:] if action.startswith("use ") else before["pending"]
    worth += _CHOICE * (len(after["pending"]) - len(owed))
    if len(after["pending"]) > len(owed):
        words.append(_choice(after["pending"][0]))
    return Gain(listed(words or [""]) + (f" for {paid} corn" if paid else ""), worth)


def _choice(pending: str) -> str:
    """Return what a decision that is owed lets the seat choose."""
    verb, _, number = pending.partition(" ")
    if verb != "harvest":
        return render.decision(pending)
    harvest = GEARS["palenque"]["actions"][int(number) - 1]
    return f"{harvest['corn']} corn or {harvest['wood']} wood" if harvest["wood"] else f"{harvest['corn']} corn"
