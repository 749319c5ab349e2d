"""The searches of a server: they stop at once, run at a lower priority, and are answered in time.

`run` and `watch` differ from `run_search` and `watch_search` of `mexica_ai.analysis.search` in two ways:

* Only native threads have a lower priority. A Python thread with a low priority that held the GIL would
  delay all calls.
* If the processors are so busy that a search does not end when its time is up, the result is read without
  waiting for the end. `join` waits for it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from mexica_ai.analysis import search
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Result
from mexica_ai.game.position import Position

NICENESS = 15  # added to the niceness of the native threads
LATE_S = 0.01  # how long to wait for the end of a search after its time


class Searches:
    """Runs searches in the threads that call it."""

    def __init__(self) -> None:
        self._of_thread = threading.local()

    def run(self, position: Position, limits: Limits, **options: Any) -> Result:
        """Search as `mexica_ai.analysis.search.run_search` does."""
        return search.run_search(position, limits, search_class=self._make, **options)

    def watch(self, position: Position, limits: Limits, **options: Any) -> Iterator[Result]:
        """Search as `mexica_ai.analysis.search.watch_search` does."""
        return search.watch_search(position, limits, search_class=self._make, **options)

    def join(self) -> None:
        """Wait for the end of this thread's last search, whose result may have been read earlier."""
        last, self._of_thread.last = getattr(self._of_thread, "last", None), None
        if last is not None:
            last.join()

    def _make(self, state: Any, /, **options: Any) -> _Search:
        self._of_thread.last = found = _Search(state, **options)
        return found


class _Search:
    """A compiled search whose `run` waits at most `LATE_S` for its end."""

    def __init__(self, state: Any, /, **options: Any) -> None:
        self._search = search.Search(state, niceness=NICENESS, **options)
        self.stop, self.result, self.join = self._search.stop, self._search.result, self._search.join
        self.weights = self._search.weights

    def run(self, *, time_s: float | None, iterations: int | None) -> None:
        self._search.run(time_s=time_s, iterations=iterations, late_s=LATE_S)
