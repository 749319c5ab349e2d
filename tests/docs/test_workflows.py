"""The workflow of the tests is read as YAML; the scripts and the Makefile keep to one style. Nothing is run."""

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CI = ROOT / ".github" / "workflows" / "ci.yml"
WORKFLOW = yaml.safe_load(CI.read_text())
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE)) - {"sanitize-%"}
SCRIPTS = sorted((ROOT / ".ci").iterdir())


def steps():
    return [(name, step) for name, job in WORKFLOW["jobs"].items() for step in job["steps"]]


def test_every_command_is_a_target():
    commands = [shlex.split(step["run"]) for _, step in steps() if "run" in step]
    assert len(commands) >= 6
    for command in commands:
        assert command[0] == "make", command
        assert len(command) == 2, command
        assert command[1] in TARGETS, command


def test_what_runs_when():
    runs = {name: [] for name in WORKFLOW["jobs"]}
    for name, step in steps():
        runs[name] += [step["run"]] if "run" in step else []
    assert runs == {
        "quick": ["make lint", "make lint-protos", "make test-quick"],
        "nightly": ["make test", "make debug-test"],
        "weekly": ["make sanitize"],
    }
    assert WORKFLOW["jobs"]["quick"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    times = [time["cron"] for time in WORKFLOW[True]["schedule"]]  # YAML reads `on` as true
    assert len(times) == 2
    assert any(f"github.event.schedule == '{time}'" in WORKFLOW["jobs"]["weekly"]["if"] for time in times)


def test_actions_have_a_version_and_jobs_an_end():
    assert WORKFLOW["permissions"] == {"contents": "read"}
    for _, step in steps():
        assert ("uses" in step) != ("run" in step), step
        assert "uses" not in step or re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]), step
    assert all(0 < job["timeout-minutes"] <= 180 for job in WORKFLOW["jobs"].values())


def test_the_workflow_says_that_it_has_not_run():
    head = CI.read_text().partition("\nname:")[0]
    assert "Where this has run: nowhere yet." in head
    for path in re.findall(r"[\w./]+/[\w.]+", head):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_have_one_style(script):
    """Lower case with dashes, without a suffix; executable; a shebang; words that say what it does, and its usage."""
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", script.name)
    assert script.stat().st_mode & 0o111
    text = script.read_text()
    first = text.splitlines()[0]
    assert first in ("#!/bin/sh", "#!/usr/bin/env python3")
    head = text.split("\n\n\n")[0] if "python" in first else text.partition("\nset -")[0]
    assert f"Usage: {script.name}" in head
    if first == "#!/bin/sh":
        assert re.search(r"^set -eu$", text, re.MULTILINE)


def test_ruff_reads_the_scripts_in_python():
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]
    scripts = [script for script in SCRIPTS if script.read_text().startswith("#!/usr/bin/env python3\n")]
    assert ruff["extend-include"] == [f".ci/{script.name}" for script in scripts]


@pytest.mark.real("processes")
def test_the_shell_can_read_its_scripts():
    for script in SCRIPTS:
        if script.read_text().startswith("#!/bin/sh\n"):
            assert subprocess.run(["sh", "-n", script]).returncode == 0


@pytest.mark.real("processes")
def test_every_target_has_a_line_of_help():
    done = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    lines = dict(line.split(None, 1) for line in done.stdout.splitlines())
    phony = re.search(r"^\.PHONY: (.*?[^\\])$", MAKEFILE, re.MULTILINE | re.DOTALL)[1].replace("\\\n", " ").split()
    assert set(phony) == set(lines) == TARGETS
    assert all(len(line) <= 120 for line in lines.values())
