"""What actions of Tzolk'in bring, in words and by a rough worth."""

from __future__ import annotations

from collections.abc import Callable

from mexica_ai.game.entry import Gain
from mexica_ai.game.messages import noted, say
from mexica_ai.game.text_forms import listed
from mexica_ai.games.tzolkin import facts, render
from mexica_ai.games.tzolkin.facts import GEARS, STOCKS, TEMPLES, TRACKS
from mexica_ai.games.tzolkin.words import material, price, stepped, wealth
from mexica_ai.io.json_types import JsonObject

_WORTH = {"corn": 1.0, "wood": 2.0, "stone": 3.0, "gold": 4.0, "skull": 6.0}
# What stays of a decision that is answered, by the verb of the answer.
_GOES_ON = {
    "research": ("research more", "research free one"),
    "build": ("build second",),
    "sell": ("trade",),
    "buy": ("trade",),
}
_POINT, _STEP, _ADVANCE, _WORKER, _CHOICE = 1.5, 3.0, 5.0, 5.0, 4.0


def gain(fields: JsonObject, action: str, play: Callable[[], JsonObject]) -> Gain:
    """Return what an action brings; see `Clicks.gain`."""
    verb, *words = action.split()
    match verb:
        case "keep":
            return Gain(listed([wealth(word) for word in words]))
        case "done":
            return Gain(say("nothing more"), is_empty=True)
        case "end" | "advance":
            return Gain()
        case "pick" if len(words) == 2:
            return Gain(say("no action"), is_empty=True)
        case "place":
            return _placed(fields, words[0])
    return _brought(fields, play(), fields["to_move"], action)


def _placed(fields: JsonObject, place: str) -> Gain:
    """Return where a worker comes to stand, and what it could do there now."""
    if place == facts.START:
        if fields["start_player"] == fields["to_move"]:
            return Gain(say("{corn} corn, then the marker goes to the left", corn=fields["teeth_corn"]))
        return Gain(say("{corn} corn, then the marker", corn=fields["teeth_corn"]))
    space = fields["gears"][place].find(facts.FREE)
    sign = render.pictures(fields, place)[space] if space >= 0 else ""
    return Gain(say("on space {space}", space=space) + (f": {_spelled(sign)}" if sign else ""))


def _spelled(sign: str) -> str:
    """Return the sign of an action in words, where it has only letters."""
    return say("any action") if sign == "any" else sign


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
            words.append(material(kind, more))
    for key, each_word, each in (
        ("score", noted("{n:point|points}"), _POINT),
        ("workers", noted("{n:worker|workers}"), _WORKER),
    ):
        more = new[key] - old[key]
        worth += each * more
        if more > 0 or (more and key == "score"):
            words.append(say(each_word, n=more))
    for temple in TEMPLES:
        steps = new["temples"][temple] - old["temples"][temple]
        worth += _STEP * steps
        if steps:
            words.append(stepped(steps, temple.capitalize()))
    for track in TRACKS:
        if steps := new["technologies"][track] - old["technologies"][track]:
            worth += _ADVANCE * steps
            words.append(f"{track} {new['technologies'][track]}")
    owed = before["pending"][1:] if action.startswith("use ") else before["pending"]
    worth += _CHOICE * (len(after["pending"]) - len(owed))
    words += [_choice(after, pending) for pending in _new_choices(before, after, action)]
    cost = " " + say("for {what}", what=material("corn", paid)) if paid else ""
    return Gain(listed(words or [""]) + cost, worth)


def _new_choices(before: JsonObject, after: JsonObject, action: str) -> list[str]:
    """Return the decisions that an action brings, without what is left of the one that it answers."""
    rest = before["pending"][1:]
    found: list[str] = after["pending"][: max(0, len(after["pending"]) - len(rest))]
    verb = action.partition(" ")[0]
    return found[:-1] if found and found[-1].startswith(_GOES_ON.get(verb, ())) else found


def _choice(fields: JsonObject, pending: str) -> str:
    """Return what a decision that is owed lets the seat choose."""
    verb, _, number = pending.partition(" ")
    if verb != "harvest":
        return render.decision(pending)
    harvest, own = GEARS["palenque"]["actions"][int(number) - 1], fields["seats"][fields["to_move"]]
    corn, wood = (fields["fields"][kind][int(number) - 2] for kind in ("corn", "wood"))
    levels = own["technologies"]
    may_burn = wood > 0 and any(step > facts.LOWEST for step in own["temples"].values())
    found = []
    if corn > wood or may_burn or levels["agriculture"] >= facts.ANY_FIELD:
        more = (levels["agriculture"] > 0) + 2 * (levels["agriculture"] == facts.TOP_LEVEL)
        found.append(material("corn", harvest["corn"] + more))
    if wood:
        found.append(material("wood", harvest["wood"] + (levels["extraction"] > 0)))
    return found[0] if len(found) == 1 else say("{one} or {other}", one=found[0], other=found[1])
