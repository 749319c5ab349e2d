"""Fixtures that several files of tests share."""

import asyncio
import functools
import gc
import json
import logging
import os
import pathlib
import signal
import subprocess
import sys
import time

import hypothesis
import pytest

# Before NumPy is loaded: its threads take the processors from the other workers.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from here import Here

from mexica_ai.cli.main import main
from mexica_ai.game import weights

# A shared machine is sometimes slow; how long an example takes is no property of what is tested.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")

pytest_plugins = ["real"]

_shipped = weights.shipped


@functools.cache
def _own_weights(spec):
    path = pathlib.Path(__file__).with_name("data") / "weights" / f"{spec.game}.json"
    return spec.load(path) if path.exists() else _shipped(spec)


# Weights of the tests: others that ship one day must break none. Processes that tests start have those that ship.
weights.shipped = _own_weights


def pytest_configure():
    # The servers of tests are on this machine, and not all that asks them knows that no proxy is for them.
    for variable in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[variable]
    # A job in the background of a script starts with SIGINT ignored, and its children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Leave what is collected, which stays to the end, out of the garbage collector's way: it has a million objects.

    Each full collection within a test would go through all of them, which takes a second.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# One worker runs all of such a file: what its tests share takes long to make, or is gathered by all of them.
UNDIVIDED = (
    "arena/test_forfeits.py",
    "docs/test_layers.py",
    "docs/test_rollouts.py",
    "plugins/test_plugin_game.py",
    "rules/test_coatl_determinize.py",
    "rules/test_coatl_differential.py",
    "rules/test_coatl_observations.py",
    "rules/test_coatl_random_player.py",
    "rules/test_determinize.py",
    "rules/test_mexica_differential.py",
    "rules/test_parts.py",
    "rules/test_tzolkin_differential.py",
    "rules/test_tzolkin_random_player.py",
    "search/test_explain.py",
    "search/test_grades.py",
    "search/test_review.py",
    "train/test_exploit.py",
    "train/test_match.py",
    "train/test_pipeline.py",
    "train/test_probes.py",
    "train/test_searched.py",
)


@pytest.hookimpl(trylast=True)  # after that of real.py, which puts some tests into groups; then the file goes there
def pytest_collection_modifyitems(items):
    undivided = [item for item in items if item.nodeid.partition("::")[0].endswith(UNDIVIDED)]
    groups = {item.path: mark.args[0] for item in undivided if (mark := item.get_closest_marker("xdist_group"))}
    for item in undivided:
        item.add_marker(pytest.mark.xdist_group(groups.get(item.path, item.path.name)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Let tests without the browser run loops: that of Playwright in the same worker counts as running all along."""
    running = asyncio._get_running_loop()
    if running is None or "browser" in item.fixturenames:
        return (yield)
    asyncio._set_running_loop(None)
    try:
        return (yield)
    finally:
        if not running.is_closed():  # at the end of the last test
            asyncio._set_running_loop(running)


@pytest.fixture(autouse=True)
def log_of_one_test():
    """Take away the handler of a test that starts `serve`: its stream is closed when the next test logs."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    for handler in [handler for handler in root.handlers if handler not in before[0]]:
        root.removeHandler(handler)
    root.setLevel(before[1])


@pytest.fixture
def cli(capfd):
    """Call `mexica-ai arena`; `code`, `out` and `err` are those of the last call."""

    def call(*args):
        call.code = main(["arena", *map(str, args)])
        call.out, call.err = capfd.readouterr()
        return call.code

    return call


def _with_shipped_weights():
    """Let tests have the weights that ship."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights, "shipped", _shipped)
        yield


shipped_weights = pytest.fixture(_with_shipped_weights)
shipped_weights_of_module = pytest.fixture(_with_shipped_weights, scope="module")


@pytest.fixture
def in_process(monkeypatch):
    """Let tournaments of this test play in its process."""
    monkeypatch.setattr("mexica_ai.arena.pool.GamePool", Here)


@pytest.fixture
def scheduler(tmp_path):
    """Run a scheduler of dask; return its address and a function that adds a worker process."""
    processes = []

    def start(*args):
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", *args],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        processes.append(process)
        return process

    file = tmp_path / "scheduler.json"
    start("distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--no-show",
          "--host", "127.0.0.1", "--scheduler-file", str(file))  # fmt: skip
    deadline = time.monotonic() + 60
    while True:
        try:
            address = json.loads(file.read_text())["address"]
            break
        except (FileNotFoundError, json.JSONDecodeError):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def add_worker():
        return start("distributed.cli.dask_worker", address, "--nworkers", "1", "--nthreads", "1",
                     "--no-nanny", "--no-dashboard", "--death-timeout", "60")  # fmt: skip

    yield address, add_worker
    for process in reversed(processes):
        process.kill()
        process.wait()
