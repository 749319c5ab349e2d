"""The margin for late answers: between the end of a search and a deadline, or the end of the time on a clock."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable

NUM_RECENT = 100  # most recent answers whose lateness counts
RECENT_S = 60.0  # how long the lateness of an answer counts
FACTOR = 2.0  # margin relative to the largest recent lateness
MAX_FACTOR = 4.0  # largest margin relative to the least one


class Margin:
    """The margin of a server, or of a player with a clock. It grows after late answers.

    Parameters
    ----------
    least_s : float
        The margin while answers are in time, in seconds.
    clock : callable
        Returns the time in seconds.
    most_s : float, optional
        The largest margin; four times the least by default.
    recent_s : float
        How long the lateness of an answer counts, in seconds.
    """

    def __init__(
        self,
        least_s: float,
        clock: Callable[[], float] = time.monotonic,
        *,
        most_s: float | None = None,
        recent_s: float = RECENT_S,
    ) -> None:
        self._least_s = least_s
        self._most_s = MAX_FACTOR * least_s if most_s is None else most_s
        self._recent_s = recent_s
        self._clock = clock
        self._recent: deque[tuple[float, float]] = deque(maxlen=NUM_RECENT)  # time, lateness

    def note(self, late_s: float) -> None:
        """Record the lateness of an answer: from the end of its search's time until it was ready; may be negative."""
        self._recent.append((self._clock(), late_s))

    def of(self, remaining_s: float) -> float:
        """Return the margin, in seconds, for a deadline that is `remaining_s` seconds away.

        It is twice the largest recent lateness, but at most the largest margin and at most half of the remaining
        time. It is never below the least margin.
        """
        wanted_s = FACTOR * max(self._lateness(), default=0.0)
        return max(self._least_s, min(wanted_s, self._most_s, remaining_s / 2))

    @property
    def mean_s(self) -> float:
        """The mean lateness of recent answers, in seconds; 0 as long as there are none."""
        return statistics.fmean(self._lateness() or [0.0])

    def _lateness(self) -> list[float]:
        while self._recent and self._recent[0][0] < self._clock() - self._recent_s:
            self._recent.popleft()
        return [late_s for _, late_s in self._recent]
