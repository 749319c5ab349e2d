"""What searches leave of their callers' deadlines: more, after answers that were late."""

from __future__ import annotations

from collections import deque

NUM_RECENT = 100  # answers whose lateness counts
FACTOR = 2.0  # times the largest lateness
MOST = 4.0  # times the margin that is configured


class Margin:
    """The margin of one server.

    Parameters
    ----------
    least_s : float
        The margin while answers are ready in time.
    """

    def __init__(self, least_s: float) -> None:
        self._least_s = least_s
        self._recent: deque[float] = deque(maxlen=NUM_RECENT)

    def note(self, late_s: float) -> None:
        """Note how much later than the end of its search's time an answer was ready; below 0: earlier."""
        self._recent.append(late_s)

    def of(self, remaining_s: float) -> float:
        """Return the margin of a deadline in so many seconds.

        It is twice the largest lateness of late, but at most four times the least margin, and half of a short
        time; and never less than the least margin.
        """
        wanted_s = FACTOR * max(self._recent, default=0.0)
        return max(self._least_s, min(wanted_s, MOST * self._least_s, remaining_s / 2))
