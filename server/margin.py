"""The margin between the end of a search and its caller's deadline; it grows after late answers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

NUM_RECENT = 100  # most recent answers whose lateness counts
RECENT_S = 60.0  # how long the lateness of an answer counts
FACTOR = 2.0  # margin relative to the largest recent lateness
MAX_FACTOR = 4.0  # largest margin relative to the configured one


class Margin:
    """The margin of one server.

    Parameters
    ----------
    least_s : float
        The margin while answers are in time, in seconds.
    clock : callable
        Returns the time in seconds.
    """

    def __init__(self, least_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._least_s = least_s
        self._clock = clock
        self._recent: deque[tuple[float, float]] = deque(maxlen=NUM_RECENT)  # time, lateness

    def note(self, late_s: float) -> None:
        """Record by how many seconds an answer was ready after the end of its search's time; may be negative."""
        self._recent.append((self._clock(), late_s))

    def of(self, remaining_s: float) -> float:
        """Return the margin, in seconds, for a deadline that is `remaining_s` seconds away.

        It is twice the largest lateness of the last minute, but at most four times the least margin and at
        most half of the remaining time. It is never below the least margin.
        """
        while self._recent and self._recent[0][0] < self._clock() - RECENT_S:
            self._recent.popleft()
        wanted_s = FACTOR * max((late_s for _, late_s in self._recent), default=0.0)
        return max(self._least_s, min(wanted_s, MAX_FACTOR * self._least_s, remaining_s / 2))
