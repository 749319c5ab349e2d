"""The command `train` when its workers die, or it is interrupted or killed: nothing is lost, and nothing done twice."""

import contextlib
import os
import signal
import subprocess
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from stopped import stop

from mexica_ai.train import pipeline
from mexica_ai.train.settings import Settings

# Workers are processes, which have the weights that ship.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("shipped_weights_of_module"),
    pytest.mark.real("processes"),
]

SETTINGS = Settings(games=12, players="2", iterations=4, deep=8, walks=6, rollout_iterations=1, networks=1, epochs=1,
                    match=4, match_iterations=8)  # fmt: skip
DATA = ("games.jsonl", "probes.jsonl")


@pytest.fixture(scope="module")
def expected(tmp_path_factory, shipped_weights_of_module):
    """Return the folder of a run in this process: what every executor is to make."""
    folder = tmp_path_factory.mktemp("train")
    with ThreadPoolExecutor(1) as executor:
        pipeline.run(folder, executor, game="mexica", settings=SETTINGS)
    return folder


@contextlib.contextmanager
def start(folder, *options, **how):
    """Start the command; it is killed if it still runs at the end."""
    settings = [f"--{name.replace('_', '-')}={value}" for name, value in vars(SETTINGS).items()]
    command = [Path(sysconfig.get_path("scripts")) / "mexica-ai", "train", "mexica", "--out", folder]
    command = list(map(str, [*command, *settings, *options]))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how) as process:
        try:
            yield process
        finally:
            process.kill()


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


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
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def assert_same(folder, expected, *, until="match"):
    for name in DATA:
        assert sorted((folder / name).read_bytes().splitlines()) == sorted((expected / name).read_bytes().splitlines())
    if until == "match":
        assert (folder / "weights.json").read_bytes() == (expected / "weights.json").read_bytes()


def test_a_cluster_that_loses_workers_loses_no_job_and_does_none_twice(scheduler, expected, tmp_path):
    address, add_worker = scheduler
    workers = [add_worker(), add_worker()]
    with start(tmp_path, "--cluster", address, "--jobs", "3") as process:
        wait_for(tmp_path / "games.jsonl", 4, process)
        workers[0].send_signal(signal.SIGKILL)
        add_worker()
        wait_for(tmp_path / "probes.jsonl", 2, process)
        workers[1].send_signal(signal.SIGKILL)
        finish(process)
    assert_same(tmp_path, expected)


def test_local_workers_that_die_and_a_killed_command_lose_nothing(expected, tmp_path):
    with start(tmp_path, "--jobs", "2") as process:
        wait_for(tmp_path / "games.jsonl", 2, process)
        os.kill(workers_of(process)[0], signal.SIGKILL)
        wait_for(tmp_path / "games.jsonl", 6, process)
        process.kill()
    with start(tmp_path, "--jobs", "2") as process:
        finish(process)
    assert_same(tmp_path, expected)


@pytest.mark.parametrize(
    ("done", "name", "count"),
    [
        ([], "games.jsonl", 3),
        (["games.jsonl"], "probes.jsonl", 2),
        ([*DATA, "value.json", "policy.json"], "match-2.jsonl", 1),
    ],
)
def test_ctrl_c_keeps_what_is_finished(expected, tmp_path, done, name, count):
    stop(expected, tmp_path, done, None)  # the steps before
    with start(tmp_path, start_new_session=True) as process:
        wait_for(tmp_path / name, count, process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert err.endswith("mexica-ai: interrupted\n")
    kept = (tmp_path / name).read_bytes().splitlines()
    assert len(kept) >= count
    until = "generate" if name in DATA else "match"  # the same games and walks make the same weights
    with ThreadPoolExecutor(1) as executor:
        pipeline.run(tmp_path, executor, game="mexica", settings=SETTINGS, until=until)
    assert (tmp_path / name).read_bytes().splitlines()[: len(kept)] == kept
    assert_same(tmp_path, expected, until=until)
