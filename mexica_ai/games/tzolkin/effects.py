"""The immediate effects of an action of Tzolk'in, in words: workers, temples and who leads there, tracks, tiles."""

from __future__ import annotations

from collections.abc import Sequence

from mexica_ai.games.tzolkin import render
from mexica_ai.games.tzolkin.facts import BUILDINGS, FOOD_DAYS, MONUMENTS, TEMPLES, TRACKS, workers_out
from mexica_ai.io.json_types import JsonObject


def describe(before: JsonObject, after: JsonObject, seat: int) -> list[str]:
    """Return clauses; see `Reasons.describe_effects`."""
    old, new = before["seats"][seat], after["seats"][seat]
    found = []
    for temple in TEMPLES:
        if old["temples"][temple] == new["temples"][temple]:
            continue
        text = f"{temple.capitalize()} step {old['temples'][temple]} to {new['temples'][temple]}"
        leads, led = (_leaders(fields, temple) for fields in (after, before))
        if leads != led:
            others = [f"seat {other}" for other in leads if other != seat]
            alone = f"led by {' and '.join(others)}" if seat not in leads else "which it leads"
            text += ", " + (alone if seat not in leads or not others else f"led by it and {' and '.join(others)}")
        found.append(text)
    for track in TRACKS:
        if old["technologies"][track] != new["technologies"][track]:
            found.append(f"{track} {old['technologies'][track]} to {new['technologies'][track]}")
    for name in new["buildings"]:
        if name not in old["buildings"]:
            found.append(f"its effect: {render.describe_effects(BUILDINGS[name]['effects'])}")
    for name in new["monuments"]:
        if name not in old["monuments"]:
            found.append(f"it counts {render.describe_scoring(MONUMENTS[name]['scoring'], after['players'])}")
    if after["food_days"] < len(FOOD_DAYS):
        had, has = (own["corn"] >= render.feeding_cost(own) for own in (old, new))
        if has and not had:
            found.append(f"now has the {render.feeding_cost(new)} corn of the next food day")
        elif had and not has:
            found.append(f"now lacks {render.feeding_cost(new) - new['corn']} corn for the next food day")
    out, was_out = (workers_out(fields, seat) for fields in (after, before))
    if out != was_out:
        found.append(f"workers on the gears {was_out} to {out}")
    return found


def _leaders(fields: JsonObject, temple: str) -> list[int]:
    steps = [own["temples"][temple] for own in fields["seats"]]
    return [seat for seat, step in enumerate(steps) if step == max(steps)]


def serves(action: str, turn: Sequence[str]) -> str:
    """Return what placing a worker is for: the action of its gear that is expected next; see `Reasons.serves`."""
    verb, *words = action.split()
    if verb != "place" or not words:
        return ""
    for later in turn:
        kind, *operands = later.split()
        if kind == "pick" and operands[:1] == words[:1]:
            return f"for {later}, expected in its next turn"
    return ""
