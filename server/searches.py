"""The searches of a server: they stop at once, run at a lower priority, and are answered in time.

* Only native threads have a lower priority. A Python thread with a low priority that held the GIL would
  delay all calls.
* If the processors are so busy that a search does not end when its time is up, the result is read without
  waiting for the end. `join` waits for it.
"""

from __future__ import annotations

from functools import partial

from mexica_ai.analysis.search import Search, SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.game.position import Position

NICENESS = 15  # added to the niceness of the native threads
LATE_S = 0.01  # how long to wait for the end of a search after its time


def make_run(position: Position, settings: SearchSettings) -> SearchRun:
    """Return a search of a server."""
    return SearchRun(position, settings, search_class=partial(Search, niceness=NICENESS), late_s=LATE_S)
