"""Training as a library: its functions, its jobs on executors that lose workers, and matches of new weights."""

import dataclasses
import json
import os
import signal
import subprocess
import sysconfig
import threading
import time
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from mexica_ai.arena.play import Task
from mexica_ai.arena.pool import GamePool
from mexica_ai.arena.tournament import Game, Tournament, reproducible_key
from mexica_ai.cli.main import main
from mexica_ai.game import registry
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.train import job_file, positions, probes, recipe, selfplay

# Workers are processes, which have the weights that ship.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("shipped_weights_of_module")]

COMMAND = [str(Path(sysconfig.get_path("scripts")) / "mexica-ai"), "train"]
GAMES, WALKS = 12, 8
SIZE = ["--games", GAMES, "--iterations", 4, "--walks", WALKS, "--walk-iterations", 8, "--epochs", 1, "--refine"]

spec = registry.get("mexica").learning.weights
in_use = spec.load()


@pytest.fixture(scope="module")
def expected(tmp_path_factory, shipped_weights_of_module):
    """Return a file of games and one of walks, made in this process: what every executor is to make."""
    folder = tmp_path_factory.mktemp("recipe")
    games, walks = folder / "games.jsonl", folder / "walks.jsonl"
    with ThreadPoolExecutor(1) as executor:
        selfplay.play(games, executor, game="mexica", games=GAMES, iterations=4, seed=1)
        records = [json.loads(line) for line in games.read_text().splitlines()]
        probes.make(walks, records, executor, game="mexica", walks=WALKS, iterations=8, seed=1)
    return games, walks


def lines(path):
    return sorted(path.read_bytes().splitlines()) if path.exists() else []


def command(folder, *options):
    files = [folder / "games.jsonl", "--probes", folder / "walks.jsonl", "--weights", folder / "new.json"]
    return [*COMMAND, *map(str, [*files, *SIZE, *options])]


def wait_for(path, count, process):
    """Wait until a file has so many lines."""
    deadline = time.monotonic() + 120
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def workers_of(process):
    """Return the processes that a process has started to play games."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    found = []
    for child in children:
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
            found.append(int(child))
    return found


# Executors


@pytest.mark.real("processes")
def test_a_cluster_that_loses_workers_loses_no_job_and_does_none_twice(scheduler, expected, tmp_path):
    address, add_worker = scheduler
    workers = [add_worker(), add_worker()]
    args = command(tmp_path, "--cluster", address, "--jobs", "3")
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for(tmp_path / "games.jsonl", 4, process)
        workers[0].send_signal(signal.SIGKILL)
        add_worker()
        wait_for(tmp_path / "walks.jsonl", 3, process)
        workers[1].send_signal(signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert f"{GAMES} games, " in out
    assert lines(tmp_path / "games.jsonl") == lines(expected[0])
    assert lines(tmp_path / "walks.jsonl") == lines(expected[1])


@pytest.mark.real("processes")
def test_local_workers_that_die_and_a_killed_command_lose_nothing(expected, tmp_path):
    path = tmp_path / "games.jsonl"
    args = command(tmp_path, "--jobs", "2")
    with subprocess.Popen([*args, "--games", "500"], stderr=subprocess.PIPE, text=True) as process:
        wait_for(path, 2, process)
        os.kill(workers_of(process)[0], signal.SIGKILL)
        wait_for(path, 6, process)
        process.kill()
    done = subprocess.run(args, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert_games(path, expected)


@pytest.mark.real("processes")
def test_ctrl_c_keeps_what_is_finished(expected, tmp_path):
    path = tmp_path / "games.jsonl"
    args = command(tmp_path, "--jobs", "2")
    with subprocess.Popen(
        [*args, "--games", "500"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        wait_for(path, 3, process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "mexica-ai: interrupted\n")
    assert 3 <= path.read_bytes().count(b"\n") < 500
    plan = recipe.plan([path], games=GAMES, iterations=4)
    with GamePool() as pool:
        recipe.play(plan, pool, concurrency=2)
    assert_games(path, expected)


def assert_games(path, expected):
    """Assert that a file has the expected games, perhaps more of them, and none twice."""
    found = lines(path)
    numbers = [json.loads(line)["self_play"]["game"] for line in found]
    assert len(set(numbers)) == len(numbers)
    assert set(found) >= set(lines(expected[0]))


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


# The functions


@pytest.mark.real("processes")
def test_a_notebook_can_train_and_check(expected, tmp_path):
    games, _ = expected
    path = tmp_path / "games.jsonl"
    path.write_bytes(games.read_bytes())
    plan = recipe.plan([path], games=GAMES, iterations=4, epochs=2)
    assert (plan.game, plan.weights.version) == ("mexica", in_use.version)
    epochs = []
    with GamePool() as pool:
        recipe.play(plan, pool)
        assert path.read_bytes() == games.read_bytes()  # all of them were there
        samples = recipe.sample(plan)
        fitted = recipe.fit(plan, samples, on_epoch=epochs.append)
        match = recipe.check(fitted.weights, in_use, pool, games=2, iterations=20, concurrency=2)
    assert epochs == [1, 2]
    assert set(fitted.reports) == {"estimate", "before", "after"}
    assert fitted.choices["fitted"] < fitted.choices["alike"]
    assert fitted.probes is None
    assert fitted.weights.provenance["games"] == GAMES
    assert (match.games, match.forfeits, match.lost) == (2, 0, [])
    found = recipe.evaluate(plan, samples)
    assert found.reports["in_use"].score_error > 0
    assert found.choices["measured_on"] == fitted.choices["fitted_on"] + fitted.choices["held_out"]


@pytest.mark.real("processes")
def test_games_and_walks_are_played_with_the_weights_of_the_plan(expected, tmp_path):
    arrays = in_use.arrays()
    arrays["linear"] *= -1
    other = spec.make(arrays)
    plan = recipe.plan(
        [tmp_path / "games.jsonl"], weights=other, games=10, iterations=2, epochs=1, refine=True,
        probes=tmp_path / "walks.jsonl", walks=8, walk_iterations=2,
    )  # fmt: skip
    with GamePool() as pool:
        recipe.play(plan, pool, concurrency=2)
        samples = recipe.sample(plan)
        recipe.walk(plan, samples, pool, concurrency=2)
    fitted = recipe.fit(plan, samples)
    provenance = fitted.weights.provenance
    assert provenance["played_by"] == {other.version: 10}
    assert provenance["walked_by"] == {other.version: 8}
    assert provenance["refined"] == other.sha256
    assert np.array_equal(fitted.weights.arrays()["priors"], other.arrays()["priors"])
    assert fitted.choices == {}
    assert set(fitted.probe_reports) == {"estimate", "before", "after"}
    shipped = selfplay.play_game("mexica", 1, 0, 2)
    assert shipped["turns"] != next(
        record["turns"] for record in map(json.loads, lines(tmp_path / "games.jsonl"))
        if record["self_play"]["game"] == 0
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"game": "nim"}, "nim has no weights to fit"),
        ({"game": "coatl", "weights": in_use}, "of mexica; expected weights of coatl"),
        ({"walks": 3}, "expected a file of probes"),
        ({"probes": "games.jsonl"}, "is also a file of games"),
        ({"games": -3}, "^games: given -3; expected an integer of at least 0$"),
        ({"iterations": 0}, "^iterations: given 0; expected an integer of at least 2$"),
        ({"epochs": 0}, "^epochs: given 0; expected an integer of at least 1$"),
        ({"epochs": 1.5}, "^epochs: given 1.5; expected an integer of at least 1$"),
        ({"seed": -1}, "^seed: given -1; expected an integer of at least 0$"),
        ({"walks": -1}, "^walks: given -1; expected an integer of at least 0$"),
        ({"walk_iterations": 0}, "^walk_iterations: given 0; expected an integer of at least 1$"),
    ],
)
def test_plans_that_cannot_be_carried_out_are_refused(options, problem):
    with pytest.raises(SearchError, match=problem):
        recipe.plan(["./games.jsonl"], **options)


def test_a_plan_needs_a_file_of_games():
    with pytest.raises(SearchError, match=r"^records: given no files; expected at least one$") as caught:
        recipe.plan([])
    assert caught.value.reason == "INVALID_LIMITS"


def test_files_that_cannot_be_read_are_bad_input(expected, tmp_path, capsys):
    missing = tmp_path / "missing.jsonl"
    assert main(["train", str(missing), "--games", "0", "--evaluate"]) == 2
    assert capsys.readouterr().err == f"mexica-ai: error: cannot read {missing}: No such file or directory\n"
    plan = recipe.plan(expected[:1], probes=missing)
    with pytest.raises(NotationError, match=r"^cannot read .*missing\.jsonl: No such file") as caught:
        recipe.fit(plan, recipe.sample(plan))
    assert caught.value.reason == "UNREADABLE_FILE"


def test_walks_need_enough_valid_games(expected, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"\n".join(expected[0].read_bytes().splitlines()[:9]))
    plan = recipe.plan([path], probes=tmp_path / "walks.jsonl", walks=3)
    samples = recipe.sample(plan)
    with GamePool() as pool, pytest.raises(SearchError, match="9 games: a fit needs at least 10"):
        recipe.walk(plan, samples, pool)
    assert not (tmp_path / "walks.jsonl").exists()


def test_a_walk_carries_one_record(expected):
    records = [json.loads(line) for line in lines(expected[0])]
    records.sort(key=positions.fingerprint)
    for index in range(3):
        record, state = probes._draw_record(records, 1, index)
        walk = json.dumps(probes._walk(record, state, 1, index, 8, 0, in_use))
        assert walk.encode() in lines(expected[1])


# Old against new


@pytest.mark.real("processes")
def test_a_match_shows_which_weights_are_better():
    arrays = in_use.arrays()
    for name in ("linear", "w3"):
        arrays[name] *= -1  # the seat that seems to win is the one that seems to lose
    worse = spec.make(arrays)
    with GamePool() as pool:
        match = recipe.check(worse, in_use, pool, games=7, iterations=20, concurrency=2)
        again = recipe.check(worse, in_use, pool, games=1, iterations=20)
    assert match.games == 8  # whole blocks
    assert match.lost == []
    assert match.share.mean < 0.4
    assert match.share.low <= match.share.mean < match.share.high
    for record in match.records:
        assert set(record["weights"]) == {worse.version, in_use.version}
        assert set(record["engines"]) == {"mcts,iterations=20,name=new", "mcts,iterations=20,name=old"}
        is_new = ["name=new" in engine for engine in record["engines"]]
        assert [weights == worse.version for weights in record["weights"]] == is_new
        assert "/" not in json.dumps(record["arena"]["tournament"])
    assert again.games == 2
    assert all(record["turns"] in [other["turns"] for other in match.records] for record in again.records)
    with pytest.raises(ValueError, match="weights of mexica cannot play against weights of coatl"):
        recipe.check(in_use, registry.get("coatl").weights(), None, games=2)


@pytest.mark.real("processes")
def test_weights_also_reach_engines_in_processes_of_their_own():
    arrays = in_use.arrays()
    arrays["linear"] *= -1
    other = spec.make(arrays)
    engines = ("mcts,iterations=5,name=a", "mcts,iterations=5,name=b")
    weights = (other.version, in_use.version)
    tournament = Tournament("mexica", 2, engines, ("a", "b"), seed=1, weights=weights, key=reproducible_key(1))
    task = Task(tournament, Game(0, 0, (0, 1)))
    turns = [
        recipe._play_with(weights, dataclasses.replace(task, isolated=isolated))["turns"]
        for weights, isolated in (((other, in_use), False), ((other, in_use), True))
    ]
    assert turns[0] == turns[1]
    shipped = dataclasses.replace(tournament, weights=(in_use.version, in_use.version))
    assert recipe._play_with((in_use, in_use), Task(shipped, task.game))["turns"] != turns[0]


@pytest.mark.real("processes")
def test_the_command_plays_old_against_new(expected, tmp_path, capsys):
    args = ["train", str(expected[0]), "--games", "0", "--refine", "--epochs", "1", "--iterations", "5"]
    args += ["--weights", str(tmp_path / "new.json"), "--match", "3"]
    assert main(args) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("4 games against the weights in use: the new weights' share of the win is ")
    assert " to " in last
    assert main([*args, "--json"]) == 0
    match = json.loads(capsys.readouterr().out)["match"]
    assert (match["games"], match["forfeits"]) == (4, 0)
    mean, low, high = match["share"]
    assert low <= mean <= high
    assert f"{mean:.3f} ({low:.3f} to {high:.3f})" in last
    assert main([*args[:4], "--evaluate", "--match", "3"]) == 2
    assert "--match: there are no new weights" in capsys.readouterr().err
