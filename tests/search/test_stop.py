"""`Stop` ends what it is given at once, without a thread of its own."""

import dataclasses
import threading
import time

import numpy as np
import pytest

import mexica_ai as ai
from cext.core.search.search import Search
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.engines import make_engine


def evaluate(rows):
    return np.full((len(rows), 4), 0.25)


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


def test_best_turn_is_stopped():
    stop = ai.Stop()
    stop.set()
    result = ai.best_turn(ai.new_game("nim", piles=[60, 61, 62, 63]), time_s=60, stop=stop)
    assert (result.stop_reason, bool(result.turn)) == ("stopped", True)


def test_a_search_is_stopped_from_within_set():
    stop, failures = ai.Stop(), []
    run = SearchRun(ai.new_game("nim"), SearchSettings(ai.Limits(iterations=1)), search_class=Waits)

    def work():
        with pytest.raises(ai.SearchError) as caught, stop.calling(run.stop):
            run.result()
        failures.append(str(caught.value))

    worker = threading.Thread(target=work)
    worker.start()
    assert run.search.running.wait(60)
    stop.set()
    assert run.search.stopped.is_set()
    worker.join()
    assert failures == ["stopped"]


def test_a_search_starts_no_python_thread(monkeypatch):
    """A thread that cannot start for want of memory would leave the search waiting for ever."""

    def refuse(*_, **__):
        raise AssertionError("a thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    stop = ai.Stop()
    with make_engine("mcts,threads=2") as engine:
        assert engine.best_turn(ai.new_game(seed=1), ai.Limits(iterations=20), stop=stop).iterations == 20
        stop.set()
        assert engine.best_turn(ai.new_game(seed=1), ai.Limits(time_s=60), stop=stop).stop_reason == "stopped"
    results = ai.analyze(ai.new_game(seed=1), interval_s=0.02)
    first = next(results).iterations
    assert any(later.iterations > first for later in results)
    results.close()


@pytest.mark.parametrize("evaluator", [None, evaluate])
def test_an_analysis_is_stopped(evaluator):
    run = SearchRun(ai.new_game(seed=1), SearchSettings(ai.Limits(time_s=600), evaluator=evaluator))
    results = run.results(interval_s=0.01)
    first = next(one for one in results if one.iterations)  # however long its threads wait for a processor
    assert not first.stop_reason
    run.stop()
    *_, last = results
    assert last.stop_reason == "stopped"
    assert last.iterations >= first.iterations


@pytest.mark.parametrize("evaluator", [None, evaluate])
def test_a_run_that_is_stopped_before_it_begins_ends_at_once(evaluator):
    for ask in (SearchRun.result, lambda run: list(run.results(0.01))[-1]):
        run = SearchRun(ai.new_game(seed=1), SearchSettings(ai.Limits(time_s=600), evaluator=evaluator))
        run.stop()
        assert ask(run).stop_reason == "stopped"
        run.join()


@pytest.mark.parametrize("evaluator", [None, evaluate])
def test_intermediate_results_change_nothing(evaluator):
    settings = SearchSettings(ai.Limits(iterations=3000), 1, evaluator=evaluator)
    position = ai.new_game(seed=1)
    *_, last = SearchRun(position, settings).results(0.001)
    expected = SearchRun(position, settings).result()
    assert dataclasses.replace(last, seconds=0) == dataclasses.replace(expected, seconds=0)


def test_a_position_may_be_played_on_while_it_is_analysed():
    position = ai.load("examples/mexica_midgame.json")
    expected = [each.turn for each in ai.analyze(position, iterations=300, seed=1)]
    results = ai.analyze(position, iterations=300, seed=1)
    position.push(expected[-1])
    assert [each.turn for each in results][-1] == expected[-1]


@pytest.mark.real("time")
def test_an_analysis_that_is_left_has_no_threads():
    run = SearchRun(ai.new_game(seed=1), SearchSettings(ai.Limits(time_s=600, threads=2)))
    results = run.results(0.01)
    next(results)
    results.close()
    done = run.search.result()["iterations"]
    time.sleep(0.05)
    assert run.search.result()["iterations"] == done


@pytest.mark.real("time")
def test_the_time_of_a_search_is_not_that_of_its_reader():
    results = ai.analyze(ai.new_game(seed=1), time_s=0.1, interval_s=0.02)
    next(results)
    time.sleep(1.0)
    *_, last = results
    assert last.seconds < 0.9


def test_a_search_is_awaited_once_it_has_started():
    search = Search(ai.new_game("nim").state)
    with pytest.raises(ai.SearchError) as caught:
        search.wait()
    assert caught.value.reason == "SEARCH_NOT_STARTED"


@pytest.mark.parametrize(
    ("name", "value"),
    [("candidates", 0), ("candidates", 10_001), ("level", 11), ("batch_size", 4097), ("batch_size", 0), ("seed", -1)],
)
def test_settings_are_checked_once(name, value):
    with pytest.raises(ai.SearchError, match=f"^{name}: given {value}; expected") as caught:
        SearchSettings(ai.Limits(iterations=1), **{name: value})
    assert caught.value.path == name


@pytest.mark.parametrize("value", ["1", None, [1]])
def test_options_are_numbers(value):
    with pytest.raises(ai.SearchError, match=r"^options: given .* for exploration; expected a number from 0 to 100"):
        SearchSettings(ai.Limits(iterations=1), options={"exploration": value})
    for number in (1, np.float32(1.0), np.int64(1)):
        settings = SearchSettings(ai.Limits(iterations=1), 1, options={"exploration": number})
        assert SearchRun(ai.new_game("nim"), settings).result().iterations == 1
