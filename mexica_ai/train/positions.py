"""Positions as a fit reads them, and the three parts into which games are split."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from mexica_ai.io.errors import SearchError
from mexica_ai.io.strict import Text, check_shape

MAX_SEATS = 4
SCORE_SCALE = 50.0  # points in a unit of `scores`

# The parts, by number: a fit learns from one, is stopped and chosen by another, and is reported on the third.
TRAIN, SELECTION, REPORT = range(3)
NAMES = ("train", "selection", "report")
TENTHS = (REPORT, SELECTION)  # the parts of the games whose fingerprint leaves the rest 0 or 1; others train

_FINGERPRINT = Text("[0-9a-f]{64}", "a fingerprint, 64 hexadecimal digits")


@dataclass(frozen=True)
class Positions:
    """States with what they are worth, n of them. Rows of seats that a game does not have are zero.

    Attributes
    ----------
    features : ndarray of float32, shape (n, 4, number of features)
    seats : ndarray of bool, shape (n, 4)
        Which seats the game has.
    shares : ndarray of float32, shape (n, 4)
        Each seat's share of the win.
    scores : ndarray of float32, shape (n, 4)
        Final scores / `SCORE_SCALE`.
    games : ndarray of int, shape (n,)
        Index of the state's game, in an order that depends on the games alone.
    parts : ndarray of int, shape (n,)
        The part of the state's game, see `split`.
    """

    features: np.ndarray
    seats: np.ndarray
    shares: np.ndarray
    scores: np.ndarray
    games: np.ndarray
    parts: np.ndarray

    def take(self, chosen: np.ndarray | slice) -> Self:
        """Return the rows that an index array or a mask selects."""
        return type(self)(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def joined(self, other: Self) -> Self:
        """Return these rows and then those of another source, whose games count as others."""
        after = 1 + max(self.games, default=-1)
        moved = dataclasses.replace(other, games=other.games + after)
        return type(self)(
            *(np.concatenate([getattr(self, field.name), getattr(moved, field.name)]) for field in fields(self))
        )


def by_seats(positions: Positions) -> list[tuple[int, Positions]]:
    """Return the numbers of seats that some of the positions have, and the positions with each."""
    counts = positions.seats.sum(1)
    return [(int(seats), positions.take(counts == seats)) for seats in np.unique(counts)]


def fingerprint(record: dict[str, Any]) -> bytes:
    """Return the SHA-256 of a record's start and turns, which identifies the game whatever else the record says."""
    text = json.dumps([record["start"], record["turns"]], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()


def record_of(content: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the record of a line of self-play, with `made.along` of the line, if it has that, as `along`.

    Raises
    ------
    NotationError
        That is no fingerprint; `path` is what errors call the line.
    """
    record: dict[str, Any] = content["record"]
    made = content.get("made")
    if not isinstance(made, dict) or "along" not in made:
        return record
    check_shape(made["along"], _FINGERPRINT, f"{path}.made.along")
    return {**record, "along": made["along"]}


def plain(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without `along`, which is no key of records elsewhere."""
    return {key: value for key, value in record.items() if key != "along"}


def origin(record: dict[str, Any]) -> bytes:
    """Return the fingerprint by which a record is of a part: `along`, or its own if it begins in no other.

    A game that begins in the middle of a record begins with a position of it. Were it of another part, a fit would
    learn from positions that it is reported on.
    """
    return bytes.fromhex(record["along"]) if "along" in record else fingerprint(record)


def split(fingerprints: Sequence[bytes]) -> np.ndarray:
    """Split games into parts: to train on, to stop and choose a fit by, and to report on.

    Games that have chosen a fit flatter it, so the figures come from games that chose nothing. The game alone decides,
    not the others: one game in ten is reported on and one in ten selects, in all fits, also those that start from the
    result of an earlier one. If a part would be empty, it gets the game with the least fingerprint of the largest one.

    Parameters
    ----------
    fingerprints : sequence of bytes
        Of the games, see `origin`.

    Returns
    -------
    ndarray of int
        For each game `TRAIN`, `SELECTION` or `REPORT`.

    Raises
    ------
    SearchError
        Fewer than three of the games are different (reason INVALID_LIMITS).
    """
    different = sorted(set(fingerprints))
    if len(different) < len(NAMES):
        problem = f"{len(different)} different games; a fit needs at least {len(NAMES)}, to train, select and report on"
        raise SearchError(problem, reason="INVALID_LIMITS")
    rests = {digest: int.from_bytes(digest[:8], "big") % 10 for digest in different}
    parts = {digest: TENTHS[rest] if rest < len(TENTHS) else TRAIN for digest, rest in rests.items()}
    for part in (REPORT, SELECTION, TRAIN):
        counts = Counter(parts.values())
        if not counts[part]:
            largest = max(range(len(NAMES)), key=lambda other: counts[other])
            parts[next(digest for digest in different if parts[digest] == largest)] = part
    return np.array([parts[digest] for digest in fingerprints])
