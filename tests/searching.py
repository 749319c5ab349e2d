"""Searches for tests: in one call, and in place of those of a server."""

import contextlib

import mexica_ai as ai
from cext.core.search.search import Search
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings


def run_search(position, limits, *, stop=None, search_class=Search, **settings):
    """Search within limits and return the result."""
    run = SearchRun(position, SearchSettings(limits, **settings), search_class=search_class)
    with stop.calling(run.stop) if stop else contextlib.nullcontext():
        return run.result()


def root_visits(search):
    """Return the visits of the root of a search, which may be running."""
    nodes = search.tree()
    return nodes[0]["visits"] if nodes else 0


class FakeRun:
    """A `SearchRun` whose results come from functions of the position, the limits and the other settings."""

    def __init__(self, position, settings, search, watch):
        self._given = position, settings.limits
        self._options = {name: getattr(settings, name) for name in ("seed", "candidates", "level", "weights")}
        self._stop = ai.Stop()
        self._search, self._watch = search, watch

    def result(self):
        return self._search(*self._given, stop=self._stop, **self._options)

    def results(self, interval_s):
        return self._watch(*self._given, interval_s=interval_s, stop=self._stop, **self._options)

    def stop(self):
        self._stop.set()

    def join(self):
        pass


def fake_runs(search, watch=None):
    """Return what makes runs for a server, from functions in place of a run's `result` and `results`."""
    return lambda position, settings: FakeRun(position, settings, search, watch)
