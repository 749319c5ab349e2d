"""The immediate effects of an action of Tzolk'in, in words: workers, temples and who leads there, tracks, tiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mexica_ai.game.messages import say
from mexica_ai.game.text_forms import listed
from mexica_ai.games.tzolkin import facts, render
from mexica_ai.games.tzolkin.facts import BUILDINGS, FOOD_DAYS, MONUMENTS, TEMPLES, TRACKS, workers_on_gears
from mexica_ai.io.json_types import JsonObject


def describe(before: JsonObject, after: JsonObject, seat: int) -> list[str]:
    """Return clauses; see `Reasons.describe_effects`."""
    old, new = before["seats"][seat], after["seats"][seat]
    found = []
    for temple in TEMPLES:
        if old["temples"][temple] == new["temples"][temple]:
            continue
        steps = {"old": old["temples"][temple], "new": new["temples"][temple]}
        text = say("{temple} step {old} to {new}", temple=temple.capitalize(), **steps)
        leads, led = (_leaders(fields, temple) for fields in (after, before))
        found.append(text if leads == led else f"{text}, {_led_by(leads, seat)}")
    for track in TRACKS:
        if old["technologies"][track] != new["technologies"][track]:
            levels = {"old": old["technologies"][track], "new": new["technologies"][track]}
            found.append(say("{what} {old} to {new}", what=track, **levels))
    for name in Counter(new["buildings"]) - Counter(old["buildings"]):  # some buildings are there twice
        effects = render.describe_effects(BUILDINGS[name]["effects"])
        found.append(say("its effect: {effects}", effects=effects))
    for name in new["monuments"]:
        if name not in old["monuments"]:
            counts = render.describe_scoring(MONUMENTS[name]["scoring"], after["players"])
            found.append(say("it counts {what}", what=counts))
    if after["food_days"] < len(FOOD_DAYS):
        had, has = (own["corn"] >= render.feeding_cost(own) for own in (old, new))
        if has and not had:
            found.append(say("now has the {corn} corn of the next food day", corn=render.feeding_cost(new)))
        elif had and not has:
            lacks = render.feeding_cost(new) - new["corn"]
            found.append(say("now lacks {corn} corn for the next food day", corn=lacks))
    out, was_out = (workers_on_gears(fields, seat) for fields in (after, before))
    if out != was_out:
        found.append(say("workers on the gears {old} to {new}", old=was_out, new=out))
    return found


def _led_by(leads: Sequence[int], seat: int) -> str:
    others = [say("seat {seat}", seat=other) for other in leads if other != seat]
    if not others:
        return say("which it leads")
    if seat in leads:
        return say("led by it and {others}", others=listed(others))
    return say("led by {others}", others=listed(others))


def _leaders(fields: JsonObject, temple: str) -> list[int]:
    steps = [own["temples"][temple] for own in fields["seats"]]
    return [seat for seat, step in enumerate(steps) if step == max(steps)]


def serves(action: str, turn: Sequence[str], before: JsonObject, then: JsonObject) -> str:
    """Return what placing a worker is for: the action that this worker is expected to do; see `Reasons.serves`."""
    verb, *words = action.split()
    if verb != "place" or words == [facts.START]:
        return ""
    (gear,) = words
    space = before["gears"][gear].index(facts.FREE) + then["day"] - before["day"]  # the gears carry it on
    for later in turn:
        if later.split()[:3] == ["pick", gear, str(space)]:
            return say("for {action}, expected in its next turn", action=later)
    return ""
