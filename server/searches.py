"""The searches of a server: stopped at once, at a lower priority, and answered in time.

`run` and `watch` are `run_search` and `watch_search` of `mexica_ai.search`, but for three things:

* Nothing polls for a stop. A thread that looks for it hundreds of times a second takes Python's lock as
  often, and the calls that do not search need that.
* Only native threads have a lower priority. A thread of Python's that came after others while it held
  Python's lock would keep all calls waiting.
* Where the processors are so busy that a search gets none when its time is up, the result is read without
  waiting for its end. Who goes on waits for that by `join`.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

from mexica_ai import search
from mexica_ai.limits import Limits
from mexica_ai.position import Position
from mexica_ai.results import Result

NICENESS = 15  # of the native threads, more than that of others
LATE_S = 0.01  # how long after its time a search's end is awaited


class Stop(threading.Event):
    """An event that ends a search at once when it is set, from any thread."""

    def __init__(self) -> None:
        super().__init__()
        self._search: Any = None

    def set(self) -> None:
        """End the search that runs, and those that begin later."""
        super().set()
        running = self._search
        if running is not None:
            running.stop()

    @contextlib.contextmanager
    def ending(self, running: Any) -> Iterator[None]:
        """While inside, `set` ends this search."""
        self._search = running
        if self.is_set():  # perhaps before there was a search to end
            running.stop()
        try:
            yield
        finally:
            self._search = None


class Searches:
    """Runs searches in the threads that ask for them."""

    def __init__(self) -> None:
        self._of_thread = threading.local()

    def run(self, position: Position, limits: Limits, *, stop: Stop, **options: Any) -> Result:
        """Search as `mexica_ai.search.run_search` does."""
        make = functools.partial(self._make, stop)
        return search.run_search(position, limits, search_class=make, **options)

    def watch(self, position: Position, limits: Limits, *, stop: Stop, **options: Any) -> Iterator[Result]:
        """Search as `mexica_ai.search.watch_search` does."""
        make = functools.partial(self._make, stop)
        return search.watch_search(position, limits, search_class=make, **options)

    def join(self) -> None:
        """Wait for the end of the search that this thread has asked for last, whose result may be known."""
        last, self._of_thread.last = getattr(self._of_thread, "last", None), None
        if last is not None:
            last.join()

    def _make(self, stop: Stop, state: Any, /, **options: Any) -> _Search:
        self._of_thread.last = found = _Search(stop, state, **options)
        return found


class _Search:
    """A compiled search that a `Stop` ends, and whose end `run` does not always wait for."""

    def __init__(self, stop: Stop, state: Any, /, **options: Any) -> None:
        self._search = search.Search(state, niceness=NICENESS, **options)
        self._stop = stop
        self.stop, self.result, self.join = self._search.stop, self._search.result, self._search.join

    def run(self, *, time_s: float | None, iterations: int | None) -> None:
        with self._stop.ending(self._search):
            self._search.run(time_s=time_s, iterations=iterations, late_s=LATE_S)
