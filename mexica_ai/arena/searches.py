"""What each engine expected and used at each turn: the key `arena.searches` of a record, and its words in game text.

The key is optional: records of early versions, and of `--no-search-log`, lack it. It has columns, each with one
entry a turn, so that 40 turns take little more room than their numbers; random events have null in all of them. The
seat is among them, so that nobody has to replay a game to know whose value it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mexica_ai.analysis.results import Result
from mexica_ai.io.errors import NotationError
from mexica_ai.io.numbers import MAX_TIME_S, are_scores, are_shares, is_count
from mexica_ai.io.strict import Nullable

SHARE_DIGITS, SCORE_DIGITS, SECOND_DIGITS = 3, 1, 3  # as many as are worth reading
SHAPE = {
    "seat": [Nullable(int)],
    "value": [Nullable([float])],
    "expected_scores": [Nullable([float])],
    "iterations": [Nullable(int)],
    "seconds": [Nullable(float)],
}


@dataclass(frozen=True)
class Search:
    """What an engine said of its turn. Lists have one entry per seat.

    Parameters
    ----------
    turn_index : int
        Of the turn in the record, from 0; random events have indices, too.
    seat : int
    value : list of float or None
        Expected share of the win of each seat after the turn; None if the engine said nothing that can be.
    expected_scores : list of float or None
        Expected final score of each seat, in points.
    iterations : int
        0 if the engine does not count any.
    seconds : float
        As the arena measured.
    """

    turn_index: int
    seat: int
    value: list[float] | None
    expected_scores: list[float] | None
    iterations: int
    seconds: float


@dataclass(frozen=True)
class Drop:
    """By how much an engine's own expected share of the win fell between two of its turns.

    Parameters
    ----------
    size : float
        The share before less the share after.
    seat : int
    turn_index : int
        Of the turn after which it expected less.
    """

    size: float
    seat: int
    turn_index: int


@dataclass
class SearchLog:
    """Gathers the searches of a game while it is played."""

    seat: list[int | None] = field(default_factory=list)
    value: list[list[float] | None] = field(default_factory=list)
    expected_scores: list[list[float] | None] = field(default_factory=list)
    iterations: list[int | None] = field(default_factory=list)
    seconds: list[float | None] = field(default_factory=list)

    def add_event(self) -> None:
        """Add a random event."""
        for key in SHAPE:
            getattr(self, key).append(None)

    def add(self, seat: int, result: Result, players: int, seconds: float) -> None:
        """Add the turn of a seat; figures that cannot be become null, or 0 iterations."""
        self.seat.append(seat)
        value, scores = result.value, result.expected_scores
        self.value.append(_rounded(value, SHARE_DIGITS) if are_shares(value, players) else None)
        self.expected_scores.append(_rounded(scores, SCORE_DIGITS) if are_scores(scores, players) else None)
        self.iterations.append(result.iterations if is_count(result.iterations) else 0)
        self.seconds.append(round(seconds, SECOND_DIGITS))

    def to_json(self) -> dict[str, Any]:
        """Return the key `searches` of a record's `arena`."""
        return {key: list(getattr(self, key)) for key in SHAPE}


def _rounded(values: list[float], digits: int) -> list[float]:
    return [round(value, digits) + 0.0 for value in values]  # + 0.0: no -0


def check_searches(record: dict[str, Any], path: str) -> None:
    """Check the key `arena.searches` of a record, if it has one; its shape is `SHAPE`.

    Raises
    ------
    NotationError
        A column has not one entry a turn, an entry is null where others of its turn are not, or a figure cannot be.
    """
    found = record["arena"].get("searches")
    if found is None:
        return
    players, num_turns = len(record["arena"]["seating"]), len(record["turns"])
    path = f"{path}.arena.searches"
    for key, column in found.items():
        if len(column) != num_turns:
            raise _bad(f"{path}.{key}", f"has {len(column)} entries; expected one for each of the {num_turns} turns")
    columns = zip(*(found[key] for key in SHAPE), strict=True)
    for index, (seat, value, scores, iterations, seconds) in enumerate(columns):
        if seat is None or iterations is None or seconds is None:
            if any(entry is not None for entry in (seat, value, scores, iterations, seconds)):
                raise _bad(
                    f"{path}.seat[{index}]", "is null beside figures or not; expected null in all columns or none"
                )
            continue
        for key, is_sound, expected in (
            ("seat", 0 <= seat < players, f"a seat from 0 to {players - 1}"),
            ("value", value is None or are_shares(value, players), "the share of the win of each seat"),
            ("expected_scores", scores is None or are_scores(scores, players), "the score of each seat"),
            ("iterations", is_count(iterations), "a number from 0 on"),
            ("seconds", 0 <= seconds <= MAX_TIME_S, "a time"),
        ):
            if not is_sound:
                raise _bad(f"{path}.{key}[{index}]", f"cannot be; expected {expected}")


def _bad(where: str, problem: str) -> NotationError:
    return NotationError(f"{where}: {problem}", reason="BAD_VALUE", path=where)


def searches_of(record: dict[str, Any]) -> list[Search]:
    """Return the searches of a record in the order of its turns; none if it keeps none."""
    found = record["arena"].get("searches")
    if found is None:
        return []
    rows = enumerate(zip(*(found[key] for key in SHAPE), strict=True))
    return [Search(index, *row) for index, row in rows if row[0] is not None]


def worst_drop(searches: list[Search]) -> Drop | None:
    """Return the largest fall of a seat's own value between two of its turns; None if no value fell."""
    worst: Drop | None = None
    last: dict[int, float] = {}
    for search in searches:
        if search.value is None:
            continue
        own = search.value[search.seat]
        size = last.get(search.seat, own) - own
        if size > (worst.size if worst else 0):
            worst = Drop(round(size, SHARE_DIGITS), search.seat, search.turn_index)
        last[search.seat] = own
    return worst


def comment_of(search: Search, players: int) -> str:
    """Return a search as the comment of a turn in game text, such as ``+0.31/12k 0.5s``, without braces.

    The first number is the seat's expected share of the win after the turn less that of equal seats, 1/players, and
    the others are iterations and seconds. What the engine does not tell is left out.
    """
    text = ""
    if search.value is not None:
        text = f"{search.value[search.seat] - 1 / players:+z.2f}"
    if search.iterations:
        text += f"{'/' if text else ''}{short_count(search.iterations)}"
    seconds = f"{search.seconds:.1f}s" if search.seconds >= 0.1 else f"{search.seconds:.3f}s"
    return f"{text} {seconds}".lstrip()


def comments_of(record: dict[str, Any]) -> list[str]:
    """Return the comment of each turn of a record, "" where there is none."""
    comments = [""] * len(record["turns"])
    for search in searches_of(record):
        comments[search.turn_index] = comment_of(search, len(record["arena"]["seating"]))
    return comments


def short_count(number: int) -> str:
    """Return a count in at most four characters and a letter: 950, 1.2k, 12k, 3.4M."""
    shown = float(number)
    for letter in ("", "k", "M", "G", "T"):
        if shown < (1000 if not letter else 999.5):
            return f"{shown:.0f}{letter}" if not letter or shown >= 9.95 else f"{shown:.1f}{letter}"
        shown /= 1000
    return f"{number:.1e}"
