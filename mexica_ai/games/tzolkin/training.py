"""Varied starts for the self-play that Tzolk'in's weights are trained on (`mexica_ai.train.starts`)."""

from __future__ import annotations

import copy
import random

from mexica_ai.games.tzolkin import facts
from mexica_ai.io.json_types import JsonObject

# A seat of a varied start gets amounts drawn from these.
LEVELS = (0, 0, 0, 1, 1, 2, 3)
STEPS = (-1, 0, 0, 0, 1, 2)
WORKERS = (0, 0, 0, 1, 2)
CORN = (0, 0, 3, 6)
BLOCKS = (0, 0, 1, 2)
SKULLS = (0, 0, 1)
PLAIN_SHARE = 0.25  # share of the seats that get nothing
MONUMENT_SHARE = 0.15  # share of the other seats that get a monument


def varied(start: JsonObject, random_: random.Random) -> JsonObject:
    """Return a position in which seats also have things that self-play seldom brings them.

    Where play avoids a thing, say levels of technology, a fit does not learn what it is worth, and so play goes on
    avoiding it.
    """
    start = copy.deepcopy(start)
    seats, monuments = start["seats"], start["display"]["monuments"]
    skulls = facts.NUM_SKULLS - len(start["skulls_placed"]) - sum(seat["skulls"] for seat in seats)
    for seat in seats:
        if random_.random() < PLAIN_SHARE:
            continue
        for track in facts.TRACKS:
            seat["technologies"][track] = min(facts.TOP_LEVEL, seat["technologies"][track] + random_.choice(LEVELS))
        for temple in facts.TEMPLES:
            step = seat["temples"][temple] + random_.choice(STEPS)
            if facts.LOWEST <= step < facts.top_step(temple):
                seat["temples"][temple] = step
        seat["workers"] = min(facts.MAX_WORKERS, seat["workers"] + random_.choice(WORKERS))
        seat["corn"] += random_.choice(CORN)
        for block in facts.BLOCKS.values():
            seat[block] += random_.choice(BLOCKS)
        given = min(skulls, random_.choice(SKULLS))
        seat["skulls"] += given
        skulls -= given
        if monuments and random_.random() < MONUMENT_SHARE:
            seat["monuments"].append(monuments.pop(random_.randrange(len(monuments))))
    return start
