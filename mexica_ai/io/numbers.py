"""Numbers from outside: what can be a seed, a time, a count, shares of the win, scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from cext.core.search.turn_search import MAX_TIME_S as MAX_TIME_S
from mexica_ai.io.errors import SearchError
from mexica_ai.io.strict import quote

MAX_INT64 = 2**63 - 1
MAX_SCORE = 1e9  # in points, as the core's HEURISTICS_MOST_POINTS; more than in any game
MAX_TEXT = 100  # characters of a word such as the stop reason
EPSILON = 1e-9  # by how much a mean of shares may leave 0 to 1
SUM_TOLERANCE = 0.02  # by how much shares of four seats, rounded to two digits, may differ from 1 together


def resolve_seed(seed: int | None) -> int:
    """Return `seed`, or a random seed from the operating system if it is None; 0 <= seed < 2**63.

    Raises
    ------
    SearchError
        The seed is not an integer in that range; reason INVALID_SEED.
    """
    if seed is None:
        return int.from_bytes(os.urandom(8), "little") >> 1
    if type(seed) is not int or not 0 <= seed <= MAX_INT64:
        raise SearchError(
            f"seed: given {quote(seed)}; expected an integer from 0 to 2**63 - 1",
            reason="INVALID_SEED",
            path="seed",
        )
    return seed


def check_seed(seed: int | None) -> int | None:
    """Return a seed that may be left out, None; raises the errors of `resolve_seed`."""
    return None if seed is None else resolve_seed(seed)


def is_time(value: Any) -> bool:
    """Return whether a value is a number of seconds above 0 and at most `MAX_TIME_S`."""
    return type(value) in (int, float) and 0 < value <= MAX_TIME_S


def check_interval(interval_s: float) -> None:
    """Raise `SearchError` (INVALID_LIMITS) unless results can come at this interval."""
    if not is_time(interval_s):
        raise SearchError(
            f"interval_s: given {quote(interval_s)}; expected a number of seconds above 0, at most {MAX_TIME_S}",
            reason="INVALID_LIMITS",
            path="interval_s",
        )


def is_count(number: float) -> bool:
    """Return whether a number can be a count of iterations or nodes, or a seed."""
    return 0 <= number <= MAX_INT64


def are_shares(values: Sequence[float], players: int) -> bool:
    """Return whether these can be the shares of the win of this number of seats."""
    fits = len(values) == players and all(-EPSILON <= value <= 1 + EPSILON for value in values)
    return fits and abs(sum(values) - 1) < SUM_TOLERANCE


def are_scores(values: Sequence[float], players: int) -> bool:
    """Return whether these can be the scores of this number of seats."""
    return len(values) == players and all(abs(value) <= MAX_SCORE for value in values)


def is_word(text: str) -> bool:
    """Return whether a text can be a stop reason or the name of weights."""
    return len(text) <= MAX_TEXT and text.isprintable()
