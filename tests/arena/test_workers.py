"""Programs that are kept between games, and processors of games that are played at the same time."""

import multiprocessing
import os
import sys
import threading
import time
from collections import Counter
from concurrent.futures import FIRST_EXCEPTION, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from here import Here
from test_arena import make, program

from mexica_ai import NotationError, SearchError
from mexica_ai.arena import affinity
from mexica_ai.arena.pool import GamePool
from mexica_ai.arena.programs import KEPT
from mexica_ai.arena.runner import run
from mexica_ai.arena.tournament import Tournament

NIM = ["--game", "nim", "--engine", "greedy", "--engine", "random", "--iterations", "1"]
COUNTING = """
import json, os, sys
open(sys.argv[1], "a").write(f"{os.getpid()}\\n")
turns = 0
for line in sys.stdin:
    request = json.loads(line)
    if "hello" in request:
        answer = {"hello": 1, "name": "counting", "games": ["nim"]}
    else:
        turns += 1
        position = request["position"]
        pile = next(index for index, size in enumerate(position["piles"]) if size)
        turn = [f"take 1 {pile + 1}"] * min(position["plies_left"], sum(position["piles"]))
        answer = {"id": request["id"], "turn": turn}
        if turns == int(sys.argv[2]):
            sys.exit("out of cheese")
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def counting(tmp_path):
    """Return a function that makes the spec of a program, which notes its starts; and the file of these."""
    script, starts = tmp_path / "counting.py", tmp_path / "starts.txt"
    script.write_text(COUNTING)

    def spec(fails_at=0):
        return f"cmd:{sys.executable} {script} {starts} {fails_at},time=5"

    yield spec, starts
    KEPT.close()


def starts_of(file):
    return len(file.read_text().splitlines())


# Programs


@pytest.mark.real("processes")
@pytest.mark.parametrize(("restart", "starts"), [(None, 8), ("after-failure", 1), ("off", 1)])
def test_a_program_is_kept_between_games(counting, restart, starts):
    spec, file = counting
    progress = run(make(spec(), "random", restart=restart), 4, Here())
    assert [record["termination"] for record in progress.records] == ["finished"] * 8
    assert starts_of(file) == starts
    KEPT.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text().split()[-1]), 0)


@pytest.mark.real("processes")
def test_a_program_against_itself_is_kept_twice(counting):
    spec, file = counting
    run(make(spec(), spec(), restart="off"), 3, Here())
    assert starts_of(file) == 2


@pytest.mark.real("processes")
def test_after_a_failure_it_is_started_again(counting):
    spec, file = counting
    progress = run(make(spec(9), "random", restart="after-failure"), 6, Here())
    ends = Counter(record["termination"] for record in progress.records)
    assert progress.ended_by == "finished"
    assert 1 <= ends["forfeit"] < ends["finished"]
    is_running = progress.records[-1]["termination"] == "finished"
    assert starts_of(file) == ends["forfeit"] + is_running


@pytest.mark.real("processes")
def test_one_that_ends_between_games_is_started_again(counting):
    spec, file = counting
    progress = run(make(spec(), "random", restart="after-failure"), 1, Here())
    ((engine,),) = KEPT._idle.values()
    os.kill(int(file.read_text().split()[-1]), 9)
    while engine.is_running:
        time.sleep(0.01)
    progress = run(make(spec(), "random", restart="after-failure"), 2, Here())
    assert [record["termination"] for record in progress.records] == ["finished"] * 4
    assert starts_of(file) == 2


@pytest.mark.real("processes")
def test_a_program_that_must_not_be_started_again_ends_the_tournament(counting, cli, monkeypatch):
    spec, file = counting
    monkeypatch.setattr("mexica_ai.arena.pool.GamePool", Here)
    args = ["--game", "nim", "--engine", f"{spec(9)},name=p", "--engine", "random", "--blocks", 50]
    assert cli(*args, "--restart", "off") == 1
    assert "a program has failed, and --restart off starts none again" in cli.err
    assert starts_of(file) == 2  # one of them the check before the first game
    assert " of 100 games: a program" in cli.err


@pytest.mark.real("processes")
@pytest.mark.slow
def test_workers_end_the_programs_that_they_keep(counting):
    spec, file = counting
    with GamePool() as pool:
        run(make(spec(), "random", restart="off"), 3, pool, concurrency=2)
    numbers = list(map(int, file.read_text().split()))
    assert len(numbers) <= 2
    for number in numbers:
        assert not Path(f"/proc/{number}").exists()


def test_restart_is_part_of_the_tournament_only_if_it_is_used(cli):
    assert "restart" not in make().to_json()
    kept = make(restart="off")
    assert Tournament.from_json(kept.to_json()) == kept
    with pytest.raises(NotationError, match="restart"):
        Tournament.from_json({**kept.to_json(), "restart": "on"})
    assert cli(*NIM, "--restart", "off", "--cluster", "tcp://127.0.0.1:1") == 2
    assert "--restart is for programs on this machine" in cli.err
    assert cli(*NIM, "--restart", "off", "--on-failure", "retry") == 2


# Processors


def test_processors_are_read():
    assert affinity.parse_cpus("all") == ()
    assert affinity.parse_cpus("0,2,4-7,2") == (0, 2, 4, 5, 6, 7)
    for text in ("", "x", "3-1", "1,,2", "-1", "0-99999999", "70000"):
        with pytest.raises(ValueError, match="numbers of processors"):
            affinity.parse_cpus(text)


def test_games_get_whole_cores_if_there_are_enough():
    cores = [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert affinity.divide(cores, 1) == [frozenset(range(8))]
    assert affinity.divide(cores, 2) == [{0, 4, 1, 5}, {2, 6, 3, 7}]
    assert affinity.divide(cores, 3) == [{0, 4}, {1, 5}, {2, 6}]
    assert affinity.divide(cores, 4) == [{0, 4}, {1, 5}, {2, 6}, {3, 7}]
    assert affinity.divide(cores, 8) == [{0}, {4}, {1}, {5}, {2}, {6}, {3}, {7}]
    assert affinity.divide(cores, 5) == [{0}, {4}, {1}, {5}, {2}]


def test_processors_that_cannot_be_had_are_refused(monkeypatch, cli):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3, 8}, raising=False)
    with pytest.raises(SearchError, match="given processor 5; expected some of 0-3,8, which this process may use"):
        affinity.share_cpus((0, 5), 1)
    with pytest.raises(SearchError, match="6 games at a time on processors 0-3,8; expected at least one processor"):
        affinity.share_cpus((), 6)
    assert cli(*NIM, "--affinity", "0,5") == 2
    assert cli(*NIM, "--affinity", "x") == 2
    assert cli(*NIM, "--affinity", "all", "--cluster", "tcp://127.0.0.1:1") == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    with pytest.raises(SearchError, match="it needs Linux"):
        affinity.share_cpus((), 1)


def cpus_of_process(folder):
    """Return the processors and the number of this process, once another one has been asked in the same folder."""
    (folder / str(os.getpid())).touch()
    for _ in range(6000):
        if len(os.listdir(folder)) >= 2:
            return sorted(os.sched_getaffinity(0)), os.getpid()
        time.sleep(0.01)
    raise AssertionError("no other process was asked")


def ask_two(pool, folder):
    """Return the answers of two workers. They work at the same time, else one of them might answer both calls."""
    folder.mkdir()
    calls = {pool.submit(cpus_of_process, folder) for _ in range(2)}
    for call in wait(calls, return_when=FIRST_EXCEPTION).done:
        if isinstance(call.exception(), BrokenProcessPool):  # it found a worker dead
            calls ^= {call, pool.submit(cpus_of_process, folder)}
    return sorted(call.result() for call in calls)


@pytest.mark.real("processes")
@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_workers_and_their_programs_have_processors_of_their_own(tmp_path):
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two processors")
    with GamePool() as pool:
        pool.bind([frozenset(cpus[:1]), frozenset(cpus[1:2])])
        found = ask_two(pool, tmp_path / "first")
        assert [each for each, _ in found] == [cpus[:1], cpus[1:2]]
        tournament = make(program("slow", 10**6, 0), "random")
        assert {r["termination"] for r in run(tournament, 2, pool, concurrency=2).records} == {"finished"}
        # A worker that dies leaves its processors to the next one.
        os.kill(found[0][1], 9)
        assert [each for each, _ in ask_two(pool, tmp_path / "again")] == [cpus[:1], cpus[1:2]]


@pytest.mark.real("processes")
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_who_waits_for_a_call_may_submit_the_next_one_to_the_same_worker(monkeypatch):
    take_back = GamePool._take_back

    def take_back_late(*args):
        time.sleep(0.2)
        take_back(*args)

    monkeypatch.setattr(GamePool, "_take_back", take_back_late)
    cpus = sorted(os.sched_getaffinity(0))[:1]
    with GamePool() as pool:
        pool.bind([frozenset(cpus)])
        number = pool.submit(os.getpid).result()
        assert pool.submit(os.getpid).result() == number
        assert isinstance(pool.submit(os._exit, 1).exception(), BrokenProcessPool)
        assert sorted(pool.submit(os.sched_getaffinity, 0).result()) == cpus


@pytest.mark.real("processes")
def test_nothing_waits_for_a_worker_that_died_before_it_had_read_its_call():
    before = set(threading.enumerate())
    with GamePool() as pool:
        future = pool.submit(len, bytes(1 << 22))  # more than a pipe holds
        for child in multiprocessing.active_children():
            child.kill()
        assert isinstance(future.exception(60), BrokenProcessPool)
    for thread in set(threading.enumerate()) - before:
        thread.join(60)  # at its exit Python waits for them without end
        assert not thread.is_alive()
