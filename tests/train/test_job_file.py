"""Jobs whose results go to a file, on executors that lose workers, and after a run that was stopped."""

import fcntl
import json
import os
import resource
import threading
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

import pytest

from mexica_ai.arena.pool import GamePool
from mexica_ai.game import registry
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.train import job_file

in_use = registry.get("mexica").learning.weights.load()


def lines(path):
    return sorted(path.read_bytes().splitlines())


def series():
    names = {"noun": "results", "key": "job", "number": "number", "advice": "another file"}
    return job_file.Series(game="mexica", weights=in_use, settings={"seed": 1}, **names)


def result(index):
    return {"game": "mexica", "job": {"seed": 1, "number": index, "weights": in_use.version}}


def die_at(index, fatal):
    if index == fatal:
        os._exit(1)
    return result(index)


def fail_at(index, fatal):
    if index == fatal:
        raise NotationError("job 2 is wrong")
    return result(index)


class Dead(ThreadPoolExecutor):
    """Its first jobs end with these errors, as if their workers had died."""

    def __init__(self, *errors):
        super().__init__(1)
        self.errors, self.count = list(errors), 0

    def submit(self, fn, /, *args, **kwargs):
        self.count += 1
        if not self.errors:
            return super().submit(fn, *args, **kwargs)
        future = Future()
        future.set_exception(self.errors.pop())
        return future


@pytest.mark.real("processes")
def test_a_job_that_kills_every_worker_ends_the_run_and_the_others_are_kept(tmp_path):
    path = tmp_path / "results.jsonl"
    with GamePool() as pool:
        with pytest.raises(SearchError, match="number 2 failed 3 times: BrokenProcessPool") as caught:
            job_file.complete(path, series(), 9, lambda index: partial(die_at, index, 2), pool)
        assert caught.value.reason == "WORKER_DIED"
        assert [json.loads(line)["job"]["number"] for line in lines(path)] == [0, 1]
        counts = []
        job_file.complete(
            path, series(), 5, lambda index: partial(result, index), pool, concurrency=2, on_progress=counts.append
        )
    assert counts == [2, 3, 4, 5]
    assert [json.loads(line)["job"]["number"] for line in lines(path)] == [0, 1, 2, 3, 4]


def test_errors_of_a_job_itself_are_raised_at_once(tmp_path):
    path = tmp_path / "results.jsonl"
    with ThreadPoolExecutor(1) as executor, pytest.raises(NotationError, match="job 2 is wrong"):
        job_file.complete(path, series(), 9, lambda index: partial(fail_at, index, 2), executor)
    assert len(lines(path)) == 2


def test_a_bug_in_a_job_is_raised_as_it_is_and_not_run_again(tmp_path):
    with Dead(ZeroDivisionError("a bug")) as executor, pytest.raises(ZeroDivisionError, match="a bug"):
        job_file.complete(tmp_path / "r", series(), 1, lambda index: partial(result, index), executor)
    assert executor.count == 1


def run_after_deaths(path, error):
    with Dead(error, error) as executor:
        job_file.complete(path, series(), 1, lambda index: partial(result, index), executor)
    assert executor.count == 3
    assert len(lines(path)) == 1


@pytest.mark.real("processes")
@pytest.mark.parametrize(
    "error",
    [
        BrokenProcessPool(),
        CancelledError(),
        SystemExit(1),  # a worker of `GamePool` after SIGTERM
    ],
)
def test_jobs_of_workers_that_died_are_run_again(tmp_path, error):
    run_after_deaths(tmp_path / "r", error)


def test_jobs_of_workers_that_died_on_a_cluster_are_run_again(tmp_path):
    import distributed  # not above: the workers of these tests load this file, and it takes long

    run_after_deaths(tmp_path / "killed", distributed.KilledWorker("job", None, 3))
    run_after_deaths(tmp_path / "closed", distributed.comm.CommClosedError())


def test_an_executor_that_takes_no_more_jobs_is_a_failure(tmp_path):
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(SearchError, match="no more jobs can be started") as caught:
        job_file.complete(tmp_path / "r", series(), 1, lambda index: partial(result, index), executor)
    assert caught.value.reason == "EXECUTOR_FAILED"


class Counting(ThreadPoolExecutor):
    """Counts the calls under way, and how many there were at most."""

    running, most, lock = 0, 0, threading.Lock()

    def submit(self, fn, /, *args, **kwargs):
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        return super().submit(self.call, partial(fn, *args, **kwargs))

    def call(self, fn):
        try:
            return fn()
        finally:
            with self.lock:
                self.running -= 1


def test_as_many_jobs_are_under_way_as_asked_for(tmp_path):
    barrier = threading.Barrier(3)  # the first jobs wait for each other

    def job(index):
        if index < 3:
            barrier.wait(60)
        return result(index)

    with Counting(8) as executor:
        job_file.complete(tmp_path / "r", series(), 20, lambda i: partial(job, i), executor, concurrency=3)
    assert executor.most == 3
    assert len(lines(tmp_path / "r")) == 20


# Files of runs that were stopped


def completed(path, count):
    counts = []
    with ThreadPoolExecutor(1) as executor:
        job_file.complete(
            path, series(), count, lambda index: partial(result, index), executor, on_progress=counts.append
        )
    return counts


def text(index, **changes):
    return json.dumps(result(index) | changes).encode() + b"\n"


def test_a_torn_file_is_continued(tmp_path):
    path = tmp_path / "torn.jsonl"
    path.write_bytes(text(2) + text(0) + text(1)[:40])
    assert completed(path, 4) == [2, 3, 4]
    assert path.read_bytes() == text(2) + text(0) + text(1) + text(3)


@pytest.mark.parametrize("rest", [b"", text(1)[:40], text(1).rstrip()])
def test_zeros_that_a_power_cut_left_are_dropped(tmp_path, rest):
    path = tmp_path / "results.jsonl"
    path.write_bytes(text(0) + rest + b"\0" * 300)
    completed(path, 3)
    assert path.read_bytes() == text(0) + text(1) + text(2)


def test_results_are_on_the_disk_before_they_count(tmp_path, monkeypatch):
    path, synced = tmp_path / "results.jsonl", []
    monkeypatch.setattr(job_file.os, "fsync", lambda file: synced.append(path.stat().st_size))
    completed(path, 2)
    assert synced[-2:] == [len(text(0)), 2 * len(text(0))]


def test_a_disk_that_is_full_is_told_of_by_the_name_of_the_file(tmp_path):
    path, limits = tmp_path / "results.jsonl", resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(text(0)) + 9, limits[1]))
    try:
        with pytest.raises(OSError, match=rf"^cannot write '{path}': File too large$"):
            completed(path, 3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == text(0) + text(1)[:9]
    assert completed(path, 2) == [1, 2]


def test_only_what_was_begun_of_a_line_is_dropped(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_bytes(text(0) + text(1).rstrip())  # the last line is whole, but for its end
    assert completed(path, 2) == [2]
    assert path.read_bytes() == text(0) + text(1)
    for content in (b"notes", text(0) + b"notes", b"notes\n" + text(0)[:40], b"[1]\n"):
        path.write_bytes(content)
        with pytest.raises(NotationError, match=r"results\.jsonl:[12]"):
            completed(path, 2)
        assert path.read_bytes() == content


def test_lines_of_another_game_or_with_other_settings_stay_beside_those_of_the_series(tmp_path):
    path = tmp_path / "results.jsonl"
    others = text(0, game="nim") + text(0, job={"seed": 2, "number": 0})
    path.write_bytes(others)
    assert completed(path, 1) == [0, 1]
    assert path.read_bytes() == others + text(0)


@pytest.mark.parametrize("weights", ["0123456789ab", None])
def test_a_file_of_other_or_unknown_weights_is_not_continued(tmp_path, weights):
    path = tmp_path / "results.jsonl"
    job = {"seed": 1, "number": 0} | ({"weights": weights} if weights else {})
    path.write_bytes(text(0, job=job))
    expected = f"by weights {weights or 'unknown'}, and those in use are {in_use.version}; expected another file"
    with pytest.raises(SearchError, match=expected):
        completed(path, 2)
    assert path.read_bytes() == text(0, job=job)
    assert completed(path, 1) == [1]  # nothing is missing, so nothing would be mixed


@pytest.mark.parametrize("name", [".", "none/results.jsonl"])
def test_a_file_that_cannot_be_written_is_refused(name, tmp_path):
    with pytest.raises(NotationError, match="cannot write") as caught:
        completed(tmp_path / name, 1)
    assert caught.value.reason == "UNREADABLE_FILE"
    assert list(tmp_path.iterdir()) == []


def test_a_file_to_which_another_process_adds_is_left_alone(tmp_path):
    path = tmp_path / "jobs.jsonl"
    with path.open("ab") as file, ThreadPoolExecutor(1) as executor:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(NotationError, match="in use by another process"):
            job_file.complete(path, series(), 1, lambda index: partial(result, index), executor)
    assert path.read_bytes() == b""
