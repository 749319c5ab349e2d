"""Tests of real time, processes and ports: where they run, how often, and that no other test needs any of these.

`@pytest.mark.real("processes")` names what a test depends on. Such tests run one after the other in two workers, and
if they fail again, twice at most; the end of the run lists what needed that.

Every other test runs once, and fails if it starts a process, uses a TCP port or sleeps. It may have threads
and wait for them, and a gRPC server on a unix socket. A time limit must never decide what it finds.
"""

import functools
import json
import multiprocessing.util
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

REASONS = ("time", "processes", "ports")
MAX_RERUNS = 2
MAX_RERUN_TESTS = 3  # in one run; with more of them it fails
NUM_GROUPS = 2
# Files whose tests take longest, with their share of the time (`--junitxml`), so that the groups end together.
SHARES = {
    "train/test_stopped_training.py": 120,
    "cli/test_cli.py": 100,
    "docs/test_benchmarks.py": 75,
    "arena/test_arena_command.py": 70,
    "arena/test_arena.py": 45,
    "docs/test_docs.py": 35,
    "docs/test_packaging.py": 30,
    "server/test_server_replicas.py": 18,
    "web/test_browser.py": 100,
    "web/test_browser_editor.py": 27,
    "web/test_browser_layout.py": 23,
    "web/test_browser_choosing.py": 15,
    "web/test_editor.py": 12,
    "web/test_http.py": 12,
    "web/test_http_process.py": 12,
    "web/test_browser_drill.py": 8,
    "web/test_browser_learning.py": 8,
    "web/test_http_guests.py": 8,
    "web/test_browser_study.py": 7,
    "web/test_browser_words.py": 6,
    "web/test_browser_friends.py": 5,
    "web/test_browser_languages.py": 4,
    "web/test_http_guard.py": 3,
    "web/test_http_lessons.py": 6,
    "web/test_http_again.py": 4,
    "web/test_http_words.py": 4,
    "web/test_http_choosing.py": 2,
}
GROUPS = "groups.json"  # in the folder of the run: tests that one worker runs, from a worker to the scheduler

TESTS = os.path.dirname(__file__)

# Of the whole suite but the page's, which is a process: how many tests there are, and how many of them have the mark.
COUNTS = pytest.StashKey[tuple[int, int]]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    real = [item for item in items if item.get_closest_marker("real")]
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        others = [item for item in items if item.path.parent.name != "web"]
        config.stash[COUNTS] = len(others), sum(item.get_closest_marker("real") is not None for item in others)
    group_of = _groups_of_files(Counter(item.path for item in real))
    for item in real:
        item.add_marker(pytest.mark.xdist_group(f"real-{group_of[item.path]}"))
        item.add_marker(pytest.mark.flaky(reruns=MAX_RERUNS))


def _groups_of_files(num_tests):
    """Return the group of each file, whose tests share fixtures."""
    shares = {path: SHARES.get(f"{path.parent.name}/{path.name}", number) for path, number in num_tests.items()}
    sizes = dict.fromkeys(range(NUM_GROUPS), 0)
    groups = {}
    for path in sorted(shares, key=lambda path: (-shares[path], path)):
        groups[path] = min(sizes, key=sizes.get)
        sizes[groups[path]] += shares[path]
    return groups


def _groups_of_run(config):
    """Return the file by which the workers of this run tell the groups."""
    return config._tmp_path_factory.getbasetemp() / GROUPS


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    node.workerinput["groups"] = str(_groups_of_run(node.config))


@pytest.hookimpl(tryfirst=True)  # before the scheduler is told that all is collected
def pytest_collection_finish(session):
    worker = getattr(session.config, "workerinput", {})
    if worker.get("workerid") == "gw0":
        marks = ((item, item.get_closest_marker("xdist_group")) for item in session.items)
        groups = {item.nodeid: mark.args[0] for item, mark in marks if mark}
        Path(worker["groups"]).write_text(json.dumps(groups))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        """Gives the workers one test after the other, and groups as wholes, those first.

        It is `--dist loadgroup`, which needs that tests can be renamed; pytest 9.2 does not let it.
        """

        def schedule(self):
            if self.collection is None:
                self._groups = json.loads(_groups_of_run(config).read_text())
                nodeids, *_ = self.registered_collections.values()  # those of all workers are the same
                self._place = {nodeid: place for place, nodeid in enumerate(nodeids)}
            else:
                super().schedule()  # a worker begins a test when it has the next one, too, or knows that there is none
            super().schedule()

        def _assign_work_unit(self, node):
            # As xdist does, which looks for the place of each test in the list of all.
            scope, tests = self.workqueue.popitem(last=False)
            self.assigned_work[node][scope] = tests
            node.send_runtest_some([self._place[nodeid] for nodeid, is_done in tests.items() if not is_done])

        def mark_test_complete(self, node, item_index, duration=0):
            super().mark_test_complete(node, item_index, duration)
            # Else xdist goes through all that is done after each test. And what a worker that died had done would be
            # given to others again, as work without tests, after which they wait for ever.
            scope = self._split_scope(self.collection[item_index])
            if all(self.assigned_work[node][scope].values()):
                del self.assigned_work[node][scope]

        def _split_scope(self, nodeid):
            return self._groups.get(nodeid, nodeid)

    return Scheduling(config, log)


class RefusedError(AssertionError):
    """What a test without the mark must not do; an ordinary error, since other threads must end by it, too."""


class Guard:
    """Refuses what tests without the mark must not do.

    Attributes
    ----------
    test : str or None
        The test without the mark that runs.
    refused : list of str
        What it was refused: it may have caught the exception.
    """

    STARTS = ("fork", "forkpty", "posix_spawn", "posix_spawnp", "system", "execv", "execve")  # of os

    def __init__(self):
        self.test, self.refused = None, []

    def install(self):
        """Stand in the way from now on.

        Not by an audit hook: Python calls that for each `id()`, too, and so `copy.deepcopy` takes five times as long.
        """
        self._wrap(subprocess.Popen, "__init__", lambda *_: self.refuse("processes", "subprocess.Popen"))
        for name in self.STARTS:
            self._wrap(os, name, lambda *_, name=name: self.refuse("processes", f"os.{name}"))
        for name in ("bind", "connect", "connect_ex"):
            self._wrap(socket.socket, name, functools.partial(self._hear_socket, name))
        self._wrap(time, "sleep", self._hear_sleep)
        spawn = multiprocessing.util, "spawnv_passfds"  # not audited
        self._wrap(*spawn, lambda *_: self.refuse("processes", "multiprocessing"))
        from grpc import _server as threaded
        from grpc.aio import _server as asynchronous

        for server in (threaded._Server, asynchronous.Server):
            for name in ("add_insecure_port", "add_secure_port"):
                self._wrap(server, name, self._hear_grpc)

    def refuse(self, reason, what):
        """Fail the test that runs if it has no mark."""
        if self.test is not None:
            self.refused.append(f'{what} in a test without @pytest.mark.real("{reason}")')
            raise RefusedError(self.refused[-1])

    @staticmethod
    def _wrap(owner, name, before):
        inner = getattr(owner, name)

        def outer(*args, **kwargs):
            before(*args)
            return inner(*args, **kwargs)

        setattr(owner, name, outer)

    def _hear_socket(self, name, _socket, address):
        if isinstance(address, tuple):
            self.refuse("ports", f"socket.{name}")

    def _hear_sleep(self, *_):
        caller = sys._getframe(2).f_code.co_filename
        if caller.startswith(TESTS):  # threads of the product may tick
            self.refuse("time", "time.sleep")

    def _hear_grpc(self, server, address, *_):
        if not address.startswith("unix:"):
            self.refuse("ports", "a gRPC server")


guard = Guard()


def pytest_configure():
    guard.install()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    marks = list(item.iter_markers("real"))
    for mark in marks:
        assert mark.args, f"mark `real` without a reason, expected some of {REASONS}"
        assert set(mark.args) <= set(REASONS), f"mark `real` with {mark.args}, expected some of {REASONS}"
    guard.test, guard.refused = None if marks else item.nodeid, []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    outcome = yield
    if guard.refused:
        pytest.fail(guard.refused[0])
    return outcome


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown():
    guard.test = None


def _run_again(reporter):
    """Return why each test that was run again failed, by test."""
    reports = reporter.stats.get("rerun", [])
    return {report.nodeid: getattr(report.longrepr, "reprcrash", None) for report in reports}


def pytest_terminal_summary(terminalreporter):
    tests = _run_again(terminalreporter)
    if tests:
        terminalreporter.section(f"{len(tests)} tests were run again; more than {MAX_RERUN_TESTS} fail the run")
        for test, crash in sorted(tests.items()):
            terminalreporter.line(f"{test}: {crash.message.splitlines()[0] if crash else ''}")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == pytest.ExitCode.OK and reporter and len(_run_again(reporter)) > MAX_RERUN_TESTS:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
