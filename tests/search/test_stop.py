"""`Stop` ends what it is given at once, without a thread of its own."""

import threading

import pytest

import mexica_ai as ai
from mexica_ai.analysis.search import run_search, watch_search
from mexica_ai.engines import make_engine


@pytest.mark.parametrize("is_set_before", [False, True])
def test_what_is_called(is_set_before):
    stop, calls = ai.Stop(), []
    if is_set_before:
        stop.set()
    with stop.calling(lambda: calls.append("outer")), stop.calling(lambda: calls.append("inner")):
        stop.set()
    assert set(calls) == {"outer", "inner"}


def test_what_has_ended_is_not_called():
    stop, calls = ai.Stop(), []
    with stop.calling(lambda: calls.append("ended")):
        pass
    with stop.calling(lambda: calls.append("running")):
        stop.set()
    stop.set()
    assert calls == ["running"]


class Waits:
    """A search that runs until it is stopped."""

    weights = None

    def __init__(self, *_, **__):
        self.running, self.stopped = threading.Event(), threading.Event()

    def run(self, **_):
        self.running.set()
        assert self.stopped.wait(60)

    def stop(self):
        self.stopped.set()

    def result(self, _):
        raise ai.SearchError("stopped")


def test_a_search_is_stopped_from_within_set():
    stop, search, failures = ai.Stop(), Waits(), []

    def run():
        with pytest.raises(ai.SearchError) as caught:
            run_search(ai.new_game("nim"), ai.Limits(iterations=1), stop=stop, search_class=lambda *_, **__: search)
        failures.append(str(caught.value))

    worker = threading.Thread(target=run)
    worker.start()
    assert search.running.wait(60)
    stop.set()
    assert search.stopped.is_set()
    worker.join()
    assert failures == ["stopped"]


def test_a_search_starts_no_thread_for_its_stop(monkeypatch):
    """A thread that cannot start for want of memory would leave the search waiting for ever."""

    def refuse(*_, **__):
        raise AssertionError("a thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    stop = ai.Stop()
    with make_engine("mcts,threads=2") as engine:
        assert engine.best_turn(ai.new_game(seed=1), ai.Limits(iterations=20), stop=stop).iterations == 20
        stop.set()
        assert engine.best_turn(ai.new_game(seed=1), ai.Limits(time_s=60), stop=stop).stop_reason == "stopped"


def test_an_analysis_is_stopped():
    stop = ai.Stop()
    results = watch_search(ai.new_game(seed=1), ai.Limits(time_s=600), interval_s=0.01, stop=stop)
    next(results)
    stop.set()
    *_, last = results
    assert last.stop_reason == "stopped"
