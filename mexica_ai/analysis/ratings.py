"""How strong levels are, how strong a person is by the games against them, and which level comes next.

Ratings are Elo above level 1 of a game: 100 more win 64 % of the games of two. Those of levels were measured with the
weights that ship (`ratings.json`, which `make strength` writes); where they were not, each level counts as
`ASSUMED_STEP` above the one below.

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
from typing import Any

from mexica_ai.analysis import levels
from mexica_ai.game.phrases import Phrase, phrase
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import Nullable, check_shape, parse_json, quote

ASSUMED_STEP = 140.0  # Elo from a level to the next; about the mean of those measured
TARGET = 0.55  # chance to win of a game that is worth playing
START = 2  # the level recommended before any game
MAX_GAMES = 30  # the last ones, for people get better
FIRM_GAMES = 5  # a rating by fewer is said to be a guess
PRIOR_MEAN, PRIOR_DEVIATION = 200.0, 350.0  # of a person's rating: about level 2 to 3, or far from it
CONFIDENCE = 0.8  # of intervals
_GRID = range(-1500, 3001, 10)  # ratings that are considered
_SHAPE = {"format": int, "games": dict}
_GAME = {"weights": str, "date": str, "greedy": Nullable(int), "levels": [{"level": int, "elo": [int]}]}


@dataclass(frozen=True)
class Rating:
    """A strength in Elo above level 1 of the game.

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


def ratings_of(game: str) -> dict[int, Rating]:
    """Return the rating of each level in a game, measured or assumed, by level."""
    entry = _measured().get(game, {"levels": []})
    measured = {each["level"]: Rating(*each["elo"]) for each in entry["levels"]}
    found = {1: Rating(0.0, 0.0, 0.0, bool(measured))}
    for level in range(2, levels.HIGHEST + 1):
        assumed = found[level - 1].elo + ASSUMED_STEP
        found[level] = measured.get(level, Rating(assumed, assumed, assumed, False))
    return found


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
    if level > 1:
        return phrase("rating.above_first", elo=_whole(rating.elo), low=_whole(rating.low), high=_whole(rating.high))
    if (greedy := _measured()[game]["greedy"]) is None:
        return None
    return phrase("rating.below_greedy" if greedy > 0 else "rating.above_greedy", elo=_whole(abs(greedy)))


def _whole(elo: float) -> str:
    return f"{elo:.0f}"


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
    by_level = ratings_of(game)
    found = [-(((elo - PRIOR_MEAN) / PRIOR_DEVIATION) ** 2) / 2 for elo in _GRID]
    for played, times in Counter(games[-MAX_GAMES:]).items():
        others = [by_level[level].elo for level in played.levels]
        for number, elo in enumerate(_GRID):
            chance = chance_to_win(elo, others)
            found[number] += times * (played.share * math.log(chance) + (1 - played.share) * math.log1p(-chance))
    most = max(found)
    weights = [math.exp(likelihood - most) for likelihood in found]
    total = math.fsum(weights)
    mean = math.fsum(weight * elo for weight, elo in zip(weights, _GRID, strict=True)) / total
    tail = (1 - CONFIDENCE) / 2
    low, high = (_quantile(weights, total * part) for part in (tail, 1 - tail))
    return Rating(mean, low, high, bool(games))


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
