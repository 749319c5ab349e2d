"""Tests of real time, processes and ports: their mark, their number, what they start, what all others are refused."""

import asyncio
import multiprocessing
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import grpc
import pytest
import real

TESTS = Path(__file__).parents[1]


def listen():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))


async def serve():
    grpc.aio.server().add_insecure_port("127.0.0.1:0")


@pytest.mark.parametrize(
    ("reason", "call"),
    [
        ("processes", lambda: subprocess.run(["true"])),
        ("processes", multiprocessing.get_context("spawn").Process(target=print).start),
        ("ports", listen),
        ("ports", lambda: socket.create_connection(("127.0.0.1", 1))),
        ("ports", lambda: grpc.server(None).add_insecure_port("127.0.0.1:0")),
        ("ports", lambda: asyncio.run(serve())),
        ("time", lambda: time.sleep(0)),
    ],
)
def test_a_test_without_the_mark_is_refused(reason, call):
    with pytest.raises(real.RefusedError, match=f'without @pytest.mark.real."{reason}"'):
        call()
    assert len(real.guard.refused) == 1
    real.guard.refused.clear()


def test_what_needs_no_mark(tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
    left, right = socket.socketpair()
    left.close()
    right.close()


def run_tests(folder, *, workers):
    """Run the tests of a folder as those of the project are run."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = real: of the tests\n xdist_group: of pytest-xdist\n")
    return subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-p", "real", "-n", str(workers), "-p", "no:cacheprovider", folder],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS), "PY_COLORS": "0", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.real("processes")
@pytest.mark.parametrize(("number", "status"), [(3, 0), (4, 1)])
def test_what_needed_another_run_is_listed_and_more_than_three_fail_the_run(tmp_path, number, status):
    (tmp_path / "test_flaky.py").write_text(
        f"import pytest\nruns = dict.fromkeys(range({number}), 0)\n"
        "@pytest.mark.real('time')\n@pytest.mark.parametrize('index', runs)\ndef test_flaky(index):\n"
        f"    runs[index] += 1\n    assert runs[index] == {real.MAX_RERUNS + 1}\n"
    )
    done = run_tests(tmp_path, workers=0)
    assert done.returncode == status, done.stdout
    assert f"{number} tests were run again" in done.stdout
    assert "test_flaky[0]: assert 2 == 3" in done.stdout


@pytest.mark.real("processes")
def test_the_tests_of_a_file_with_the_mark_have_one_worker(tmp_path):
    for name in "ab":
        (tmp_path / f"test_{name}.py").write_text(
            "import pytest\n@pytest.mark.real('time')\n@pytest.mark.parametrize('index', range(8))\n"
            "def test_worker(index, worker_id):\n    with open(__file__ + '.log', 'a') as log:\n"
            "        print(worker_id, file=log)\n"
        )
    done = run_tests(tmp_path, workers=2)
    assert done.returncode == 0, done.stdout
    workers = [path.read_text().split() for path in tmp_path.glob("*.log")]
    assert [len(each) for each in workers] == [8, 8]
    assert [len(set(each)) for each in workers] == [1, 1]


@pytest.mark.real("processes")
@pytest.mark.parametrize("wait_s", [0, 0.5])  # then the other one has nothing to do any more, and ends
def test_a_worker_that_dies_fails_the_run_and_another_goes_on(tmp_path, wait_s):
    (tmp_path / "test_dying.py").write_text(
        "import os, pathlib, signal, time, pytest\ndied = pathlib.Path(__file__).with_name('died')\n"
        "@pytest.mark.parametrize('index', range(60))\ndef test_dying(index):\n"
        "    if index == 50 and not died.exists():\n"
        f"        time.sleep({wait_s})\n        died.touch()\n        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = run_tests(tmp_path, workers=2)
    assert done.returncode == 1, done.stdout
    assert "crashed while running 'test_dying.py::test_dying[50]'" in done.stdout
    assert "1 failed, 60 passed" in done.stdout


def test_no_file_has_tests_in_two_groups(request):
    groups = {}
    for item in request.session.items:
        if mark := item.get_closest_marker("xdist_group"):
            groups.setdefault(item.path, set()).add(mark.args[0])
    assert not {path: each for path, each in groups.items() if len(each) > 1}


def test_the_files_with_a_share_of_the_time_are_there():
    assert [name for name in real.SHARES if not (TESTS / name).is_file()] == []


def test_the_files_that_one_worker_runs_are_there(pytestconfig):
    undivided = pytestconfig.pluginmanager.get_plugin(str(TESTS / "conftest.py")).UNDIVIDED
    assert [name for name in undivided if not (TESTS / name).is_file()] == []


def test_at_most_a_twentieth_of_all_tests_has_the_mark(pytestconfig):
    if real.COUNTS not in pytestconfig.stash:
        pytest.skip("a part of the tests runs")
    tests, marked = pytestconfig.stash[real.COUNTS]
    assert marked <= tests / 20, f"{marked} of {tests}"


def starts_of_code(text):
    """Return the options of each start of Python in a text that runs code or a module, not a script."""
    options = [re.findall(r"-\w+", match[1]) for match in re.finditer(r"sys\.executable((?:[\s\\\"',}]+-\w+)+)", text)]
    return [each for each in options if {"-c", "-m"} & set(each)]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('[PYTHON, "-m", "x"]', [["-m"]]),
        ('[\n    PYTHON,\n    "-S",\n    "-c", x]', [["-S", "-c"]]),
        ("f'{PYTHON} -P -m x', f'\\'{PYTHON}\\' -c x'", [["-P", "-m"], ["-c"]]),
        ("[PYTHON, x, '-m'], [PYTHON, '-S', 'x.py']", []),
    ],
)
def test_what_the_guard_of_starts_sees(text, options):
    assert starts_of_code(text.replace("PYTHON", "sys.executable")) == options


@pytest.mark.parametrize("folder", ["tests", "benchmarks"])
def test_what_tests_start_is_of_the_package_under_test(folder):
    """Without -P, Python takes modules from the folder where it runs: of the checkout, though a package is tested."""
    starts = {path: starts_of_code(path.read_text()) for path in (TESTS.parent / folder).rglob("*.py")}
    assert not {path: options for path, each in starts.items() for options in each if "-P" not in options}
    assert len(list(filter(None, starts.values()))) > 3
