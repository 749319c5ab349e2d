"""The immediate effects of an action of Coatl, in words: stored pieces, cards, and the Coatls with their points."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mexica_ai.game.messages import noted, say
from mexica_ai.games.coatl import facts
from mexica_ai.io.json_types import JsonObject

_CARDS = {("draw", "play"), ("promise", "temple")}  # how a card comes into the hand, and how it is used
_COUNTS: dict[str, Callable[[JsonObject], int]] = {
    noted("stored pieces"): lambda own: sum(map(len, own["stored"].values())),
    noted("cards in hand"): lambda own: len(own["hand"]),
    noted("temples in hand"): lambda own: len(own["temples"]),
}


def describe(before: JsonObject, after: JsonObject, seat: int) -> list[str]:
    """Return clauses; see `Reasons.describe_effects`."""
    old, new = before["seats"][seat], after["seats"][seat]
    found = []
    for what, count in _COUNTS.items():
        then, now = count(old), count(new)
        if then != now:
            found.append(say("{what} {old} to {new}", what=say(what), old=then, new=now))
    found += [say("uses the token {token}", token=token) for token in old["tokens"] if token not in new["tokens"]]
    strict = after["options"]["strict_ends"]
    for number, coatl in enumerate(new["coatls"], 1):
        known = old["coatls"][number - 1] if number <= len(old["coatls"]) else None
        if coatl == known:
            continue
        points = sum(facts.coatl_points(coatl, strict_ends=strict))
        gain = points - (sum(facts.coatl_points(known, strict_ends=strict)) if known else 0)
        pieces = say("{n:piece|pieces}", n=len(coatl["pieces"]))
        words = say("Coatl {number} has {pieces} and {n:point|points}", number=number, pieces=pieces, n=points)
        found.append(words + (f" ({gain:+})" if gain else ""))
        if coatl["closed"] and not (known and known["closed"]):
            found.append(say("Coatl {number} is complete", number=number))
    return found


def serves(action: str, turn: Sequence[str], before: JsonObject, then: JsonObject) -> str:
    """Return what taking pieces or cards is for; see `Reasons.serves`."""
    verb, *words = action.split()
    for later in turn:
        kind, *operands = later.split()
        if verb in ("take", "perfect") and kind in ("start", "add"):
            end, color = operands[-2:]
            part = "body" if end in ("left", "right") else end
            is_used = words[0] == part and color in words[-1]
        else:
            is_used = (verb, kind) in _CARDS and words[-1] == operands[-1]
        if is_used:
            return say("for {action}, expected in its next turn", action=later)
    return ""
