"""Levels of play, 1 to 10, for opponents that people can enjoy.

A level below the highest searches less and plays a turn that is nearly as good as the best one found: a
random error is added to the candidates' expected shares of the win, and of those that were close to the best
before, the one that is best now is played. The lowest levels also get an error on the priors, which decide
what the search visits first, and do not search to the ends of their turns (`whole_turns`). So a weak level
overlooks good turns, but does not lose on purpose. Only the highest level uses `history`: a short search has
too few visits to learn the values of single actions.

The errors may differ from game to game; the iterations do not, so that the service knows the cost of a level
before it reads a position.

docs/strength.md says how far apart the levels are, where that was measured with the weights that ship;
`mexica_ai.analysis.ratings` has it for programs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.words import say
from mexica_ai.game import registry
from mexica_ai.game.phrases import ENGLISH, phrase
from mexica_ai.io.errors import SearchError
from mexica_ai.io.strict import quote

MAX_CHOICES = 12  # candidates that a level chooses among, at most
MIN_VISIT_SHARE = 0.05  # of the most visited candidate's visits; the value of one with fewer is unreliable
MAX_DEVIATIONS = 2.0  # how many standard deviations below the best share a candidate may be
# Search options of all levels below the highest, and of those with noise on the priors: these make the search
# visit fewer different turns.
LOWER = {"history": 0.0, "best_reply": 0.0, "solve": 0.0}
NARROW = LOWER | {"whole_turns": 0.0, "exploration": 0.3, "exploration_in_turn": 0.15, "playout_weight": 0.5}


@dataclass(frozen=True)
class Level:
    """The settings of a level.

    Attributes
    ----------
    iterations : int or None
        Maximum number of iterations of a search; None: no maximum.
    deviation : float
        Standard deviation of the error on a candidate's expected share of the win, which is in [0, 1].
    prior_noise : float
        Scale of the error on the logarithm of the priors of the level's actions; 0 for none.
    """

    iterations: int | None
    deviation: float
    prior_noise: float = 0.0


# With these errors where a game has none of its own (`Game.level_errors`).
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


@dataclass(frozen=True)
class Character:
    """What people call a level.

    Attributes
    ----------
    name : str
        An animal.
    words : str
        One sentence about how it plays.
    """

    name: str
    words: str


def character_of(level: int, language: str = ENGLISH) -> Character:
    """Return what people call a level, in a language."""
    name, sentence = (say(phrase(f"level.{level}.{part}"), language) for part in ("name", "words"))
    return Character(name, sentence)


def check(level: int) -> None:
    """Raise `SearchError` unless `level` is an integer from 1 to 10."""
    if type(level) is not int or level not in LEVELS:
        raise SearchError(
            f"level: given {quote(level)}; expected an integer from 1 to {HIGHEST}",
            reason="INVALID_LIMITS",
            path="level",
        )


def of(level: int, game: str) -> Level:
    """Return the settings of a level in a game."""
    errors = registry.get(game).level_errors.get(level)
    return LEVELS[level] if errors is None else Level(LEVELS[level].iterations, *errors)


def limits_of(level: int, limits: Limits) -> Limits:
    """Return the limits within which a level searches."""
    most = LEVELS[level].iterations
    if most is None:
        return limits
    return replace(limits, iterations=most if limits.iterations is None else min(most, limits.iterations))


def search_options(level: int, game: str) -> dict[str, float]:
    """Return the search options in which a level differs from the default."""
    if level == HIGHEST:
        return {}
    noise = of(level, game).prior_noise
    return NARROW | {"prior_noise": noise} if noise else LOWER


def choose(level: int, game: str, result: Result, seat: int, candidates: int) -> Result:
    """Return the result with the turn that the level plays as its first candidate.

    The same seed and the same candidates give the same choice.

    Parameters
    ----------
    level : int
        1 to 10.
    game : str
        Its name.
    result : Result
        Of the search; should list `MAX_CHOICES` candidates or more.
    seat : int
        The seat to move.
    candidates : int
        How many candidates the returned result lists at most.
    """
    deviation = of(level, game).deviation
    ranked = list(result.candidates)
    if deviation > 0 and len(ranked) > 1 and ranked[0].visits:
        random_ = random.Random(f"level {level}, seed {result.seed}")
        best = ranked[0].value[seat]
        most = max(candidate.visits for candidate in ranked)
        choices = [ranked[0], *(c for c in ranked[1:MAX_CHOICES] if c.visits >= MIN_VISIT_SHARE * most)]
        # A share above that of the most visited candidate is unreliable, too.
        shares = [min(candidate.value[seat], best) for candidate in choices]
        noisy = [share + random_.gauss(0, deviation) for share in shares]
        near = [i for i, share in enumerate(shares) if share >= best - MAX_DEVIATIONS * deviation]
        ranked.insert(0, ranked.pop(max(near, key=noisy.__getitem__)))
    return replace(result, candidates=ranked[:candidates])
