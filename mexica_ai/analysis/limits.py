"""Limits of a search, and the defaults of all search arguments.

Everything that starts a search takes its defaults from here; `cext.core.search.turn_search` defines some of them.
Limits are checked only in `Limits`: public functions build one from their arguments and pass it on.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from cext.core.search import turn_search
from mexica_ai.analysis import resources
from mexica_ai.analysis.margin import Margin
from mexica_ai.io.errors import SearchError
from mexica_ai.io.numbers import MAX_INT64, MAX_TIME_S, is_time
from mexica_ai.io.strict import quote

DEFAULT_TIME_S = 1.0  # of a search with neither a time nor a number of iterations
DEFAULT_THREADS = 1
AUTO = "auto"  # threads: as many as there are processors
DEFAULT_MEMORY_MB: int = turn_search.DEFAULT_MEMORY_MB
MAX_MEMORY_MB: int = turn_search.MAX_MEMORY_MB
MAX_THREADS: int = turn_search.MAX_THREADS
DEFAULT_CANDIDATES = 5  # most candidates of a result
DEFAULT_INTERVAL_S = 0.5  # between two results of an analysis
MAX_CANDIDATES = 10_000
DEFAULT_BATCH, MAX_BATCH = 16, 4096  # leaves that an evaluator gets at a time
# In a game with a clock:
LEAST_TIME_S = 0.001  # of a search; even a shorter one has a turn to answer
CLOCK_MARGIN_S = 0.005  # least margin for a late answer
CLOCK_TURNS = 20  # the remaining time is divided by this
LATE_TURNS = 200  # late answers that the clock must last for: more turns than any game has
LATE_SHARE = 1 / 3  # of the bank, at most, is kept for them
INCREMENT_SHARE = 0.5  # of the increment is searched; the rest is kept for answers later than any before


@dataclass(frozen=True)
class Limits:
    """The limits of a search for one whole turn; the limit that is reached first ends it.

    Parameters
    ----------
    time_s : float, optional
        Wall-clock seconds, more than 0 and at most 100,000,000.
    iterations : int, optional
        Iterations of all threads together, at least 1.
    memory_mb : int
        Memory for the nodes of the search, in MiB, 1-1,000,000.
    threads : int
        Native threads, 1-256.
    unlimited : bool
        Whether both `time_s` and `iterations` may be None: the search then runs until it is stopped, settled
        or out of memory.

    Raises
    ------
    SearchError
        A limit is out of range, or of the wrong type; reason INVALID_LIMITS. The message names the field.
    """

    time_s: float | None = None
    iterations: int | None = None
    memory_mb: int = DEFAULT_MEMORY_MB
    threads: int = DEFAULT_THREADS
    unlimited: bool = False

    def __post_init__(self) -> None:
        time_s = self.time_s
        if time_s is not None and not is_time(time_s):
            self._refuse("time_s", f"a number of seconds above 0, at most {MAX_TIME_S}")
        if self.iterations is not None:
            self._check_integer("iterations", MAX_INT64)
        self._check_integer("memory_mb", MAX_MEMORY_MB)
        self._check_integer("threads", MAX_THREADS)
        if time_s is None and self.iterations is None and not self.unlimited:
            raise SearchError(
                "limits: neither time_s nor iterations is given; expected at least one of them",
                reason="INVALID_LIMITS",
                path="limits",
            )

    def _check_integer(self, name: str, highest: int) -> None:
        value = getattr(self, name)
        if type(value) is not int or not 1 <= value <= highest:
            self._refuse(name, f"an integer from 1 to {highest}")

    def _refuse(self, name: str, expected: str) -> NoReturn:
        raise SearchError(
            f"limits.{name}: given {quote(getattr(self, name))}; expected {expected}",
            reason="INVALID_LIMITS",
            path=f"limits.{name}",
        )


def num_threads() -> int:
    """Return how many threads keep all processors busy that this process may use, at most `MAX_THREADS`."""
    return min(MAX_THREADS, max(1, int(resources.num_processors())))


def resolve_threads(threads: Any) -> Any:
    """Return a number of threads as it is, and that of `num_threads` for "auto"."""
    return num_threads() if threads == AUTO else threads


def clock_margin() -> Margin:
    """Return a margin for `time_from_clock`, without any late answers yet."""
    return Margin(CLOCK_MARGIN_S, most_s=math.inf, recent_s=math.inf)  # turns may take minutes


def time_from_clock(
    remaining_s: float, increment_s: float, margin: Margin | None = None, bank_s: float | None = None
) -> float:
    """Return the seconds to search for one turn of a game with a clock; 0 if there is only time to answer.

    A twentieth of the remaining time, plus half of the increment, at most half of the remaining time. Lateness is
    subtracted first: the mean lateness from the increment; from the remaining time the margin for this answer and, if
    the increment is shorter than the mean lateness, the lateness of 200 turns, at most a third of the bank.

    Parameters
    ----------
    remaining_s, increment_s : float
    margin : Margin, optional
        Of `clock_margin`, with the lateness of earlier answers.
    bank_s : float, optional
        The time at the beginning of the game; what remains by default.
    """
    margin = margin or clock_margin()
    late_s = margin.mean_s
    gain_s = increment_s - late_s  # of an answer without a search
    reserve_s = min(LATE_TURNS * max(0.0, -gain_s), LATE_SHARE * (bank_s or remaining_s))
    spare_s = remaining_s - margin.of(remaining_s) - late_s - reserve_s
    time_s = min(spare_s / CLOCK_TURNS + INCREMENT_SHARE * max(0.0, gain_s), spare_s / 2)
    return time_s if time_s >= LEAST_TIME_S else 0.0


@contextlib.contextmanager
def out_of_memory() -> Iterator[None]:
    """Turn a MemoryError inside the context into a SearchError, reason OUT_OF_MEMORY."""
    try:
        yield
    except MemoryError:
        raise SearchError(
            "no memory is left for this; expected more, or fewer threads, games or memory_mb",
            reason="OUT_OF_MEMORY",
        ) from None
