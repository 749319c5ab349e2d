"""A person's own results: a list of games, and from it statistics by game and level, and the next level."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mexica_ai.analysis.ratings import Played, Recommendation, recommend
from mexica_ai.game.records import termination_of
from mexica_ai.io.json_types import JsonObject

MIXED = 0  # in place of a level: the others were of several levels, or not all of them were levels
TREND_GAMES = 8  # fewer tell nothing
TREND_Z = 1.28  # standard errors that the halves of the games must differ by
TRENDS = ("rising", "falling", "steady", "")


@dataclass(frozen=True)
class OwnResult:
    """A finished game of a person.

    Parameters
    ----------
    game : str
        Its name.
    seat : int
        That of the person.
    levels : tuple of (int or None)
        By seat: the level that sat there, None for the person and for anybody else.
    share : float
        The person's share of the win.
    scores : tuple of float
        By seat; () if the game was given up.
    ended : str
        When, as ISO 8601; "" if nobody knows.
    """

    game: str
    seat: int
    levels: tuple[int | None, ...]
    share: float
    scores: tuple[float, ...] = ()
    ended: str = ""

    @property
    def level(self) -> int:
        """The level of all others, or `MIXED`."""
        others = {level for seat, level in enumerate(self.levels) if seat != self.seat}
        return (others.pop() or MIXED) if len(others) == 1 else MIXED

    @property
    def share_of_points(self) -> float | None:
        """The person's part of all points, 0 to 1; None where points do not add up to something."""
        own = self.scores[self.seat] if self.scores else 0.0
        total = sum(self.scores)
        return own / total if total > 0 and min(self.scores) >= 0 else None


def result_of(record: JsonObject, seat: int, seat_levels: Sequence[int | None], ended: str = "") -> OwnResult | None:
    """Return a person's result in the game of a record; None while it has no winners.

    Parameters
    ----------
    record : dict
        One that `mexica_ai.replay` accepts.
    seat : int
        That of the person.
    seat_levels : sequence of (int or None)
        By seat: the level that sat there, None for the person and for anybody else.
    ended : str
        When, as ISO 8601.
    """
    winners = record.get("winners")
    if termination_of(record) == "unfinished" or not winners:
        return None
    share = 1 / len(winners) if seat in winners else 0.0
    return OwnResult(record["game"], seat, tuple(seat_levels), share, tuple(record["scores"] or ()), ended)


@dataclass(frozen=True)
class Row:
    """Results in a game against a level.

    Parameters
    ----------
    game : str
    level : int
        `MIXED` for games against others.
    games, wins, shared, losses : int
    share : float
        Mean share of the win.
    share_of_points : float or None
        Mean part of all points, of the games that have it.
    trend : str
        One of `TRENDS`: whether the share of the win of the later half of the games is higher than that of the earlier
        half by more than `TREND_Z` standard errors; "" for fewer than `TREND_GAMES`.
    """

    game: str
    level: int
    games: int
    wins: int
    shared: int
    losses: int
    share: float
    share_of_points: float | None
    trend: str


def statistics(results: Iterable[OwnResult]) -> list[Row]:
    """Return the statistics of results in the order of time, by game and level, sorted by both."""
    groups: dict[tuple[str, int], list[OwnResult]] = {}
    for one in results:
        groups.setdefault((one.game, one.level), []).append(one)
    return [_row(game, level, group) for (game, level), group in sorted(groups.items())]


def _row(game: str, level: int, group: Sequence[OwnResult]) -> Row:
    shares = [one.share for one in group]
    points = [part for one in group if (part := one.share_of_points) is not None]
    return Row(
        game,
        level,
        len(group),
        sum(share == 1 for share in shares),
        sum(0 < share < 1 for share in shares),
        sum(share == 0 for share in shares),
        math.fsum(shares) / len(shares),
        math.fsum(points) / len(points) if points else None,
        trend_of(shares),
    )


def trend_of(shares: Sequence[float]) -> str:
    """Return the trend of shares of the win in the order of time, one of `TRENDS`."""
    if len(shares) < TREND_GAMES:
        return ""
    middle = len(shares) // 2
    halves = shares[:middle], shares[middle:]
    means = [math.fsum(half) / len(half) for half in halves]
    # Halves without any variance are not certain: each has one more win and one more loss here.
    variance = sum(
        (math.fsum((share - mean) ** 2 for share in half) + 0.5) / (len(half) + 2) / len(half)
        for half, mean in zip(halves, means, strict=True)
    )
    apart = means[1] - means[0]
    if abs(apart) <= TREND_Z * math.sqrt(variance):
        return "steady"
    return "rising" if apart > 0 else "falling"


def next_level(results: Iterable[OwnResult], game: str) -> Recommendation:
    """Return the level that comes next in a game, by the results in it whose other seats were all levels."""
    played = []
    for one in results:
        others = [level for seat, level in enumerate(one.levels) if seat != one.seat]
        known = tuple(level for level in others if level is not None)
        if one.game == game and len(known) == len(others):
            played.append(Played(known, one.share))
    return recommend(played, game)
