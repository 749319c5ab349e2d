"""Tests of real time, processes and ports: where they run, how often, and that no other test needs any of these.

`@pytest.mark.real("processes")` names what a test depends on. Such tests run one after the other in two workers, and
if they fail again, twice at most; the end of the run lists what needed that.
"""

import pytest

REASONS = ("time", "processes", "ports")
MAX_RERUNS = 2
MAX_RERUN_TESTS = 3  # in one run; with more of them it fails
NUM_GROUPS = 2

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
