"""What searches leave of their callers' deadlines: more, after answers that were late."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

NUM_RECENT = 100  # answers whose lateness counts
RECENT_S = 60.0  # for so long
FACTOR = 2.0  # times the largest lateness
MOST = 4.0  # times the margin that is configured


class Margin:
    """The margin of one server.

    Parameters
    ----------
    least_s : float
        The margin while answers are ready in time.
    clock : callable
        Returns seconds.
    """

    def __init__(self, least_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._least_s = least_s
        self._clock = clock
        self._recent: deque[tuple[float, float]] = deque(maxlen=NUM_RECENT)  # when, how late

    def note(self, late_s: float) -> None:
        """Note how much later than the end of its search's time an answer was ready; below 0: earlier."""
        self._recent.append((self._clock(), late_s))

    def of(self, remaining_s: float) -> float:
        """Return the margin of a deadline in so many seconds.

        It is twice the largest lateness of the last minute, but neither more than four times the least margin
        nor more than half of the time left. It is never less than the least margin, however little is left.
        """
        while self._recent and self._recent[0][0] < self._clock() - RECENT_S:
            self._recent.popleft()
        wanted_s = FACTOR * max((late_s for _, late_s in self._recent), default=0.0)
        return max(self._least_s, min(wanted_s, MOST * self._least_s, remaining_s / 2))
