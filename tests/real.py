"""Tests of real time, processes and ports: where they run, how often, and that no other test needs any of these.

`@pytest.mark.real("processes")` names what a test depends on. Such tests run one after the other in two workers, and
if they fail again, twice at most; the end of the run lists what needed that.
"""

import pytest

REASONS = ("time", "processes", "ports")
MAX_RERUNS = 2
MAX_RERUN_TESTS = 3  # in one run; with more of them it fails
NUM_GROUPS = 2
GROUPS = "mexica_ai/groups"  # in pytest's cache: tests that one worker runs, from the workers to the scheduler

# Of the whole suite: how many tests there are, and how many of them have the mark.
COUNTS = pytest.StashKey[tuple[int, int]]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    real = [item for item in items if item.get_closest_marker("real")]
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        config.stash[COUNTS] = len(items), len(real)
    sizes = dict.fromkeys(range(NUM_GROUPS), 0)
    group_of = {}  # by file: its tests share fixtures
    for item in real:
        group = group_of.setdefault(item.path, min(sizes, key=sizes.get))
        sizes[group] += 1
        item.add_marker(pytest.mark.xdist_group(f"real-{group}"))
        item.add_marker(pytest.mark.flaky(reruns=MAX_RERUNS))


def pytest_collection_finish(session):
    if getattr(session.config, "workerinput", {}).get("workerid") == "gw0":
        marks = ((item, item.get_closest_marker("xdist_group")) for item in session.items)
        session.config.cache.set(GROUPS, {item.nodeid: mark.args[0] for item, mark in marks if mark})


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        """Gives the workers one test after the other, and groups as wholes, those first.

        It is `--dist loadgroup`, which needs that tests can be renamed; pytest 9.2 does not let it.
        """

        def schedule(self):
            if self.collection is None:
                self._groups = config.cache.get(GROUPS, {})
            super().schedule()

        def _split_scope(self, nodeid):
            return self._groups.get(nodeid, nodeid)

    return Scheduling(config, log)


def pytest_runtest_setup(item):
    for mark in item.iter_markers("real"):
        assert mark.args, f"mark `real` without a reason, expected some of {REASONS}"
        assert set(mark.args) <= set(REASONS), f"mark `real` with {mark.args}, expected some of {REASONS}"


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
