"""The searches of a server: stopped at once, at a lower priority, and answered in time.

`run` and `watch` are `run_search` and `watch_search` of `mexica_ai.search`, but for three things:

* Nothing polls for a stop. A thread that looks for it hundreds of times a second takes Python's lock as
  often, and the calls that do not search need that.
* Only the threads that compute have a lower priority. One that came after others while it held Python's lock
  would keep all calls waiting; these hold it for moments only.
* Where the processors are so busy that a search gets none when its time is up, the result is read without
  waiting for its end. The next search waits for that instead, so that no more than `slots` ever compute.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mexica_ai import search
from mexica_ai.errors import SearchError
from mexica_ai.limits import Limits
from mexica_ai.position import Position
from mexica_ai.results import Result

NICENESS = 5  # of the threads that compute (on Linux each thread has its own)
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
    """Runs searches, at most `slots` of them at a time."""

    def __init__(self, slots: int) -> None:
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="compute", initializer=_give_way)

    def run(self, position: Position, limits: Limits, *, stop: Stop, **options: Any) -> Result:
        """Search as `mexica_ai.search.run_search` does."""
        make = functools.partial(_Search, self._pool, stop)
        return search.run_search(position, limits, search_class=make, **options)

    def watch(self, position: Position, limits: Limits, *, stop: Stop, **options: Any) -> Iterator[Result]:
        """Search as `mexica_ai.search.watch_search` does."""
        make = functools.partial(_Search, self._pool, stop)
        return search.watch_search(position, limits, search_class=make, **options)

    def close(self) -> None:
        """Wait for the ends of the searches."""
        self._pool.shutdown()


class _Search:
    """A compiled search that runs in another thread; what `mexica_ai.search` needs of one."""

    def __init__(self, pool: ThreadPoolExecutor, stop: Stop, state: Any, /, **options: Any) -> None:
        self._search = search.Search(state, **options)
        self._pool = pool
        self._stop = stop
        self._is_late = False
        self.stop = self._search.stop

    def run(self, *, time_s: float | None, iterations: int | None) -> None:
        with self._stop.ending(self._search):
            try:
                running = self._pool.submit(self._search.run, time_s=time_s, iterations=iterations)
            except RuntimeError as error:
                self._search.stop()  # it is queued nevertheless, for the next thread that is free
                raise SearchError(f"the machine has no threads left ({error})", reason="NO_THREADS") from None
            try:
                running.result(None if time_s is None else time_s + LATE_S)
            except TimeoutError:
                self._is_late = True
                running.cancel()  # if it has not even begun
                self._search.stop()

    def result(self, num_candidates: int) -> dict[str, Any]:
        found = self._search.result(num_candidates)
        return {**found, "stop_reason": "time"} if self._is_late else found


def _give_way() -> None:
    """Let this thread, and the native ones that it starts, come after those that answer calls."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
