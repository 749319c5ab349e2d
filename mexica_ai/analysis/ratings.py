"""How strong levels are, how strong a person is by the games against them, and which level comes next.

Ratings are Elo, of each game by itself, in which the engine `greedy` has `ANCHOR`: 100 more win 64 % of the games of
two. Those of levels were measured with the weights that ship (`ratings.json`, which `benchmarks/strength.py` writes),
level 10 with 8,000 iterations a turn; where they were not, level 1 counts as `ASSUMED_STEP` below `greedy`, and each
level as that much above the one below.

A person's rating is estimated from the last `MAX_GAMES` games, from what was likely before any (`PRIOR_MEAN`,
`PRIOR_DEVIATION`). The chance to win a game of several seats is that of Luce's choice: each seat wins in proportion to
10 ** (rating / 400), which with two seats is Elo's formula. A shared win counts as a part of one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from mexica_ai.analysis import levels
from mexica_ai.game.phrases import Phrase, phrase
from mexica_ai.io.arguments import bad_option
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import check_shape, parse_json, quote

ANCHOR = 1000.0  # the rating of `greedy`
MAX_ELO = 5000  # that may be asked for
ASSUMED_STEP = 140.0  # Elo from a level to the next; those measured are 137 to 210 on average, by the game
TARGET = 0.55  # chance to win of a game that is worth playing
START = 2  # the level recommended before any game
MAX_GAMES = 30  # the last ones, for people get better
FIRM_GAMES = 5  # a rating by fewer is said to be a guess
PRIOR_MEAN, PRIOR_DEVIATION = 200.0, 350.0  # of a person's Elo above level 1: about level 2 to 3, or far from it
CONFIDENCE = 0.8  # of intervals
_GRID = range(-1500, 3001, 10)  # Elo above level 1 that are considered
_SHAPE = {"format": int, "games": dict}
_GAME = {"weights": str, "date": str, "levels": [{"level": int, "elo": [int]}]}
RANKS = ("beginner", "casual", "club", "strong", "expert")  # of two levels each, from the lowest


@dataclass(frozen=True)
class Rating:
    """A strength in Elo; `greedy` has 1000.

    Parameters
    ----------
    elo : float
    low, high : float
        Ends of the interval: of a level's measured rating 95 %, of a person's 80 %.
    is_measured : bool
        Whether games were counted; else it is assumed.
    """

    elo: float
    low: float
    high: float
    is_measured: bool = True


@dataclass(frozen=True)
class Played:
    """A game that a person has played against levels.

    Parameters
    ----------
    levels : tuple of int
        Those of the other seats.
    share : float
        The person's share of the win: 1, 0, or a part of a shared win.
    """

    levels: tuple[int, ...]
    share: float


@dataclass(frozen=True)
class Recommendation:
    """The level that a person may play next.

    Parameters
    ----------
    level : int
    chance : float
        That to win against it, with two seats.
    rating : Rating
        The person's.
    games : int
        How many games say so.
    """

    level: int
    chance: float
    rating: Rating
    games: int

    @property
    def phrase(self) -> Phrase:
        """Two sentences about it; `mexica_ai.analysis.words.say` says them."""
        level = phrase("level", level=self.level, name=phrase(f"level.{self.level}.name"))
        if not self.games:
            return phrase("next.begin", level=level)
        if self.games < FIRM_GAMES:
            return phrase("next.guess", level=level, games=self.games)
        tens = round(10 * self.chance)
        key = {0: "next.low", 10: "next.high"}.get(tens, "next.chance")
        return phrase(key, level=level, games=self.games, percent=10 * tens)


@cache
def _measured() -> Mapping[str, Any]:
    text = (resources.files("mexica_ai.analysis") / "ratings.json").read_bytes()
    data = parse_json(text, "ratings.json")
    check_shape(data, _SHAPE, "ratings.json")
    for game, found in data["games"].items():
        check_shape(found, _GAME, f"ratings.json: {game}")
    games: Mapping[str, Any] = data["games"]
    return games


@cache
def ratings_of(game: str) -> Mapping[int, Rating]:
    """Return the rating of each level in a game, measured or assumed, by level."""
    entry = _measured().get(game, {"levels": []})
    measured = {}
    for each in entry["levels"]:
        elo, low, high = map(float, each["elo"])
        measured[each["level"]] = Rating(elo, low, high)
    found: dict[int, Rating] = {}
    assumed = ANCHOR - ASSUMED_STEP
    for level in levels.LEVELS:
        found[level] = measured.get(level, Rating(assumed, assumed, assumed, False))
        assumed = found[level].elo + ASSUMED_STEP
    return MappingProxyType(found)


def level_of(game: str, elo: int) -> int:
    """Return the level whose rating in a game is nearest to a rating; of two that are as near, the lower one.

    Parameters
    ----------
    game : str
        Its name.
    elo : int
        1 to `MAX_ELO`.

    Raises
    ------
    SearchError
        It is not such a rating; reason INVALID_OPTION.
    """
    check_elo(elo)
    ratings = ratings_of(game)
    return min(ratings, key=lambda level: abs(ratings[level].elo - elo))


def check_elo(elo: int) -> None:
    """Raise `SearchError` unless `elo` is an integer from 1 to `MAX_ELO`."""
    if type(elo) is not int or not 1 <= elo <= MAX_ELO:
        raise bad_option("elo", elo, f"an integer from 1 to {MAX_ELO}")


def chosen_level(game: str, level: int, elo: int | None) -> int:
    """Return the level that a caller asks for, by its number or by a rating.

    Parameters
    ----------
    game : str
        Its name.
    level : int
        1 to 10; 10 if only `elo` is given.
    elo : int, optional
        1 to `MAX_ELO`; None: `level` says it.

    Raises
    ------
    SearchError
        Both are given, or the rating is none; reason INVALID_OPTION.
    """
    if elo is None:
        return level
    if level != levels.HIGHEST:
        raise bad_option("elo", elo, f"no rating beside level {level}")
    return level_of(game, elo)


def rank_of(level: int) -> Phrase:
    """Return the word for players as good as a level is meant to be; `mexica_ai.analysis.words.say` says it."""
    return phrase(f"rank.{RANKS[(level - 1) * len(RANKS) // levels.HIGHEST]}")


def describe_level(game: str, level: int) -> Phrase | None:
    """Return the measured strength of a level in words; None if it was not measured.

    Parameters
    ----------
    game : str
        Its name.
    level : int
        1 to 10.
    """
    rating = ratings_of(game)[level]
    if not rating.is_measured:
        return None
    elo, low, high = (f"{each:.0f}" for each in (rating.elo, rating.low, rating.high))
    return phrase("rating", rank=rank_of(level), elo=elo, low=low, high=high)


def chance_to_win(rating: float, others: Sequence[float]) -> float:
    """Return the chance of a seat to win a game against others, 0 to 1, all by their ratings."""
    return 1 / (1 + sum(10 ** ((other - rating) / 400) for other in others))


def rate(games: Sequence[Played], game: str) -> Rating:
    """Return the rating of a person, with its 80 % interval.

    Parameters
    ----------
    games : sequence of Played
        In the order of time; the last `MAX_GAMES` count.
    game : str
        The name of the game that was played.

    Raises
    ------
    NotationError
        A level or a share of them is none; reason OUT_OF_RANGE.
    """
    for number, played in enumerate(games):
        _check(played, f"games[{number}]")
    first = ratings_of(game)[1].elo
    by_level = {level: rating.elo - first for level, rating in ratings_of(game).items()}
    found = [-(((elo - PRIOR_MEAN) / PRIOR_DEVIATION) ** 2) / 2 for elo in _GRID]
    for played, times in Counter(games[-MAX_GAMES:]).items():
        others = [by_level[level] for level in played.levels]
        for number, elo in enumerate(_GRID):
            chance = chance_to_win(elo, others)
            found[number] += times * (played.share * math.log(chance) + (1 - played.share) * math.log1p(-chance))
    most = max(found)
    weights = [math.exp(likelihood - most) for likelihood in found]
    total = math.fsum(weights)
    mean = math.fsum(weight * elo for weight, elo in zip(weights, _GRID, strict=True)) / total
    tail = (1 - CONFIDENCE) / 2
    low, high = (_quantile(weights, total * part) for part in (tail, 1 - tail))
    return Rating(first + mean, first + low, first + high, bool(games))


def _check(played: Played, path: str) -> None:
    if not played.levels or any(type(level) is not int or level not in levels.LEVELS for level in played.levels):
        problem = f"{path}.levels: given {played.levels}; expected levels from 1 to {levels.HIGHEST}"
        raise NotationError(problem, reason="OUT_OF_RANGE", path=f"{path}.levels")
    if not 0 <= played.share <= 1:
        problem = f"{path}.share: given {quote(played.share)}; expected a share of the win, 0 to 1"
        raise NotationError(problem, reason="OUT_OF_RANGE", path=f"{path}.share")


def _quantile(weights: Sequence[float], wanted: float) -> float:
    passed = 0.0
    for weight, elo in zip(weights, _GRID, strict=True):
        passed += weight
        if passed >= wanted:
            return float(elo)
    return float(_GRID[-1])


def recommend(games: Sequence[Played], game: str) -> Recommendation:
    """Return the level that comes next.

    It is the one against which the chance to win is nearest to `TARGET`, by the person's rating; but at most one above
    the highest level of these games, and at most as many below the lowest as there are games. Without games it is
    `START`.

    Parameters
    ----------
    games : sequence of Played
        In the order of time; the last `MAX_GAMES` count.
    game : str
        The name of the game that is played.

    Raises
    ------
    NotationError
        As `rate`.
    """
    own = rate(games, game)
    chances = {level: chance_to_win(own.elo, [rating.elo]) for level, rating in ratings_of(game).items()}
    level = START
    if games:
        last = games[-MAX_GAMES:]
        met = [level for played in last for level in played.levels]
        near = [level for level in chances if min(met) - len(last) <= level <= max(met) + 1]
        level = min(near, key=lambda level: abs(chances[level] - TARGET))
    return Recommendation(level, chances[level], own, len(games[-MAX_GAMES:]))
