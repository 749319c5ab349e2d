"""Hand-made Coatl positions for tests: `build` fills in what a test does not care about.

It checks as little as the slow reference does: nobody need have drawn what lies in a `hoard`.
"""

import json
from collections import Counter
from functools import cache

import numpy as np
from reference.coatl import ALL_PIECES, ALL_PROPHECIES, ALL_TEMPLES, COATLS_MAX, HAND_MAX, PROPHECIES_MAX, STORED_MAX

from mexica_ai.game import registry
from mexica_ai.train.weights import weights_spec


def coatl(pieces, ends="", prophecies=(), temple="", closed=False):
    """Return a Coatl; ends is "", "h", "t" or "ht"."""
    return {"pieces": pieces, "head": "h" in ends, "tail": "t" in ends, "prophecies": sorted(prophecies),
            "temple": temple, "closed": closed}  # fmt: skip


def hoard(prophecies=()):
    """Return a complete Coatl; `build` chooses its pieces, and a prophecy if it has none."""
    return coatl("", "ht", prophecies, closed=True)


def seat(heads="", tails="", bodies="", **fields):
    empty = {"hand": [], "shown": [], "discarded": [], "temples": [], "shown_temples": [], "tokens": [],
             "coatls": []}  # fmt: skip
    return {"stored": {"heads": heads, "tails": tails, "bodies": bodies}, **empty, **fields}


def build(*seats, heads="YR", tails="KG", bodies=("YY", "YR", "RR", "KK", "GG", "BB"), tops=("T13", "T14"),
          strict_ends=False, tokens=True, **fields):  # fmt: skip
    """Return a JSON position in the middle of a game, by default with seat 0 to move."""
    seats = json.loads(json.dumps([*seats, *(seat() for _ in range(2 - len(seats)))]))
    display = fields.setdefault("display", ["P30", "P31", "P32", "P33", "P34", "P35"])
    discarded = fields.setdefault("discarded", [])
    coatls = [each for one in seats for each in one["coatls"]]
    cards = [*display, *discarded, *(card for one in seats for card in one["hand"] + one["discarded"])]
    _fill_hoards(coatls, cards, heads + "".join(one["stored"]["heads"] for one in seats),
                 tails + "".join(one["stored"]["tails"] for one in seats))  # fmt: skip
    cards += [card for each in coatls for card in each["prophecies"]]
    temples = [*filter(None, tops), *(each["temple"] for each in coatls if each["temple"]),
               *(card for one in seats for card in one["temples"])]  # fmt: skip
    below = len(ALL_TEMPLES) - len(temples)
    return {
        "game": "coatl", "version": 1, "players": len(seats), "viewer": None,
        "options": {"sacrifice_tokens": tokens, "strict_ends": strict_ends},
        "phase": "turn", "pending": "", "round": 3, "to_move": 0, "actions_left": 1, "passes": 0,
        "ending": None, "closing": 0, "supply": {"heads": heads, "tails": tails, "bodies": list(bodies)},
        "deck": len(ALL_PROPHECIES) - len(cards),
        "piles": [{"top": tops[0], "below": below // 2}, {"top": tops[1], "below": below - below // 2}],
        "seats": seats, **fields,
    }  # fmt: skip


def _fill_hoards(coatls, cards, heads, tails):
    """Give hoards pieces and prophecies that are nowhere else."""
    heads = Counter(heads) + Counter(each["pieces"][0] for each in coatls if each["pieces"] and each["head"])
    tails = Counter(tails) + Counter(each["pieces"][-1] for each in coatls if each["pieces"] and each["tail"])
    left = {"head": Counter(ALL_PIECES["head"]) - heads, "tail": Counter(ALL_PIECES["tail"]) - tails}
    used = Counter(cards) + Counter(card for each in coatls for card in each["prophecies"])
    free = sorted((Counter(ALL_PROPHECIES) - used).elements())
    for each in coatls:
        if not each["pieces"]:
            head, tail = (max(left[kind], key=left[kind].get) for kind in ("head", "tail"))
            left["head"][head] -= 1
            left["tail"][tail] -= 1
            each["pieces"] = f"{head}K{tail}"
            each["prophecies"] = each["prophecies"] or [free.pop()]


def all_but(heads=15, tails=15, bodies=120):
    """Return seats that together have all pieces but this many of each kind, which are blue as far as possible."""
    pieces = {kind: "".join(each) for kind, each in ALL_PIECES.items()}
    heads, tails, bodies = (
        pieces[kind][: len(pieces[kind]) - number]
        for kind, number in (("head", heads), ("tail", tails), ("body", bodies))
    )
    seats = []
    while heads or tails or bodies:
        long = coatl(heads[:1] + bodies[:60], "h" if heads else "")
        heads, bodies = heads[1:], bodies[60:]
        other = coatl(bodies[:60] + tails[:1], "t" if tails else "")
        tails, bodies = tails[1:], bodies[60:]
        stored_heads, heads = heads[:STORED_MAX], heads[STORED_MAX:]
        room = STORED_MAX - len(stored_heads)
        stored_tails, tails = tails[:room], tails[room:]
        seats.append(seat(stored_heads, stored_tails, coatls=[each for each in (long, other) if each["pieces"]]))
    return seats


def few_cards(*left, seats=None, **fields):
    """Return a position of four seats in which the deck has these prophecies only; others lie in hoards.

    What these have no room for is in the hands of the last two.
    """
    seats = seats or [seat(), seat()]
    seats = [*seats, *(seat() for _ in range(4 - len(seats)))]
    fields.setdefault("display", [])
    placed = [card for one in seats for card in one["hand"] + one["discarded"]]
    placed += fields["display"] + fields.get("discarded", [])
    rest = sorted((Counter(ALL_PROPHECIES) - Counter(left) - Counter(placed)).elements())
    number = 4 * COATLS_MAX
    for index in range(number):
        # Of two equal cards each is on a Coatl of its own.
        seats[index % 4]["coatls"].append(hoard(rest[index::number][:PROPHECIES_MAX]))
    for index, card in enumerate(rest[PROPHECIES_MAX * number :]):
        seats[2 + index % 2]["hand"].append(card)
    assert all(len(one["hand"]) <= HAND_MAX for one in seats)
    return build(*seats, **fields)


@cache
def believing(scale=0.8):
    """Return weights whose belief tells cards apart, by features and one by one."""
    spec = weights_spec("coatl")
    arrays = registry.get("coatl").weights().arrays()
    arrays["belief"] = np.random.default_rng(1).normal(0, scale, len(spec.belief))
    return spec.make(arrays)
