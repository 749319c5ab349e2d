"""The immediate effects of an action of Coatl, in words: stored pieces, cards, and the Coatls with their points."""

from __future__ import annotations

from collections.abc import Sequence

from mexica_ai.games.coatl import facts
from mexica_ai.io.json_types import JsonObject

_CARDS = {("draw", "play"), ("promise", "temple")}  # how a card comes into the hand, and how it is used


def describe(before: JsonObject, after: JsonObject, seat: int) -> list[str]:
    """Return clauses; see `Reasons.describe_effects`."""
    old, new = before["seats"][seat], after["seats"][seat]
    found = []
    counts = [
        ("stored pieces", *(sum(map(len, own["stored"].values())) for own in (old, new))),
        ("cards in hand", len(old["hand"]), len(new["hand"])),
        ("temples in hand", len(old["temples"]), len(new["temples"])),
    ]
    found += [f"{name} {then} to {now}" for name, then, now in counts if then != now]
    found += [f"uses the token {token}" for token in old["tokens"] if token not in new["tokens"]]
    strict = after["options"]["strict_ends"]
    for number, coatl in enumerate(new["coatls"], 1):
        known = old["coatls"][number - 1] if number <= len(old["coatls"]) else None
        if coatl == known:
            continue
        points = sum(facts.coatl_points(coatl, strict_ends=strict))
        gain = points - (sum(facts.coatl_points(known, strict_ends=strict)) if known else 0)
        pieces = len(coatl["pieces"])
        words = f"Coatl {number} has {pieces} {'piece' if pieces == 1 else 'pieces'} and {points} points"
        found.append(words + (f" ({gain:+})" if gain else ""))
        if coatl["closed"] and not (known and known["closed"]):
            found.append(f"Coatl {number} is complete")
    return found


def serves(action: str, turn: Sequence[str]) -> str:
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
            return f"for {later}, expected in its next turn"
    return ""
