"""Levels of play, 1 to 10, for opponents that people can enjoy.

A level below the highest searches less, and takes a turn that is nearly as good as the best one it has
found: the shares of the win that the search expects of its candidates get a random error, and the best of
those that were close before is played. The lowest also get an error on their priors, which tell a search what
to look at first. So a weak level overlooks things and wavers, the lowest a good deal, but it does not throw a
game away for fun. Nor do these follow their turns to the ends (`whole_turns`). Only the highest learns what
single actions are worth (`history`): a short search has little to learn from.

How far the levels are apart is in benchmarks/STRENGTH.md.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from mexica_ai.errors import SearchError
from mexica_ai.limits import Limits
from mexica_ai.results import Result
from mexica_ai.strict import quote

POOL = 12  # candidates among which a level chooses
SEEN = 0.05  # and which had so many of the most visited one's visits; others come from too few to be believed
NEAR = 2.0  # how many deviations below the best share a candidate may be
# Options of the levels below the highest, and of those with noise on the priors: with these a search sees
# less of what it could play.
LOWER = {"history": 0.0}
NARROW = LOWER | {"whole_turns": 0.0, "exploration": 0.3, "exploration_in_turn": 0.15, "playout_weight": 0.5}


@dataclass(frozen=True)
class Level:
    """What makes a level.

    Attributes
    ----------
    iterations : int or None
        Of a search at most.
    deviation : float
        Standard deviation of the error on a candidate's expected share of the win.
    prior_noise : float
        Scale of the error on the logarithm of its own actions' priors, which orders what the search looks at.
    """

    iterations: int | None
    deviation: float
    prior_noise: float = 0.0


LEVELS = {
    1: Level(30, 0.15, 5.0),
    2: Level(32, 0.14, 3.4),
    3: Level(35, 0.11, 2.35),
    4: Level(37, 0.095, 1.5),
    5: Level(60, 0.075, 0.6),
    6: Level(75, 0.05),
    7: Level(200, 0.03),
    8: Level(850, 0.02),
    9: Level(2500, 0.01),
    10: Level(None, 0.0),
}
HIGHEST = max(LEVELS)


def check(level: int) -> None:
    """Raise `SearchError` unless there is such a level."""
    if type(level) is not int or level not in LEVELS:
        raise SearchError(
            f"level: given {quote(level)}; expected an integer from 1 to {HIGHEST}",
            reason="INVALID_LIMITS",
            path="level",
        )


def limits_of(level: int, limits: Limits) -> Limits:
    """Return the limits within which a level searches."""
    most = LEVELS[level].iterations
    if most is None:
        return limits
    return replace(limits, iterations=most if limits.iterations is None else min(most, limits.iterations))


def search_options(level: int) -> dict[str, float]:
    """Return the options of a level's search that are not the default."""
    if level == HIGHEST:
        return {}
    noise = LEVELS[level].prior_noise
    return NARROW | {"prior_noise": noise} if noise else LOWER


def choose(level: int, result: Result, seat: int, candidates: int) -> Result:
    """Return a search's result as a level plays it: with the turn that it takes first among `candidates`.

    The same seed of the search chooses the same turn from the same candidates.
    """
    deviation = LEVELS[level].deviation
    found = list(result.candidates)
    if deviation > 0 and len(found) > 1:
        random_ = random.Random(f"level {level}, seed {result.seed}")
        best = found[0].value[seat]
        most = max(candidate.visits for candidate in found)
        pool = [found[0], *(candidate for candidate in found[1:POOL] if candidate.visits >= SEEN * most)]
        # A share above that of the first comes from too few visits, too.
        shares = [min(candidate.value[seat], best) for candidate in pool]
        noisy = [share + random_.gauss(0, deviation) for share in shares]
        near = [i for i, share in enumerate(shares) if share >= best - NEAR * deviation]
        found.insert(0, found.pop(max(near, key=noisy.__getitem__)))
    return replace(result, candidates=found[:candidates])
