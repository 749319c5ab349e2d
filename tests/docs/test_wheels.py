"""The configurations of wheels: cibuildwheel reads its own, the workflow is read as YAML. Nothing is built here."""

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "wheels.yml"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SCRIPT = ROOT / ".ci" / "wheel-test"


@pytest.mark.real("processes")
@pytest.mark.parametrize(
    ("platform", "systems"),
    [("linux", ["manylinux_x86_64", "musllinux_x86_64"]), ("macos", ["macosx_arm64"])],
)
def test_cibuildwheel_reads_its_configuration(platform, systems):
    options = ["--print-build-identifiers", "--platform", platform, "--archs", systems[0].split("_", 1)[1]]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "cibuildwheel", *options, ROOT], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower()
    expected = {f"cp3{minor}-{system}" for minor in range(11, 15) for system in systems}
    assert set(done.stdout.split()) == expected


def test_the_workflow_is_well_formed():
    workflow = yaml.safe_load(WORKFLOW.read_text())
    triggers = workflow[True]  # YAML reads `on` as true
    assert set(triggers) == {"workflow_dispatch", "push"}
    assert workflow["permissions"] == {"contents": "read"}
    ((_, job),) = workflow["jobs"].items()
    assert job["runs-on"] == "${{ matrix.os }}"
    assert {system.split("-")[0] for system in job["strategy"]["matrix"]["os"]} == {"ubuntu", "macos"}
    for step in job["steps"]:
        assert ("uses" in step) != ("run" in step), step
        if "uses" in step:
            assert step["uses"].partition("@")[2].startswith("v"), step
    commands = [shlex.split(step["run"]) for step in job["steps"] if "run" in step]
    (installed,) = [words[-1] for words in commands if "install" in words]
    assert installed in PROJECT["project"]["optional-dependencies"]["test"]
    assert ["python", "-m", "cibuildwheel", "--output-dir", "wheelhouse"] in commands


@pytest.mark.real("processes")
def test_the_script_of_the_wheels_is_a_shell_script():
    assert subprocess.run(["sh", "-n", SCRIPT]).returncode == 0


def test_the_tests_of_an_installed_wheel_find_what_they_import():
    copied = [ROOT / path for path in re.findall(r'"\$checkout/(tests/[\w/]+\.py)"', SCRIPT.read_text())]
    known = {"cext", "mexica_ai", "pytest", *sys.stdlib_module_names, *(path.stem for path in copied)}
    assert len(copied) > 1
    for path in copied:
        nodes = list(ast.walk(ast.parse(path.read_text())))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
        assert {name.partition(".")[0] for name in names} <= known, path


def test_the_tools_of_an_installed_wheel_are_those_of_the_project():
    required = {*PROJECT["build-system"]["requires"], *PROJECT["project"]["optional-dependencies"]["test"]}
    (tools,) = re.findall(r"pip install --quiet ('pytest.*)", SCRIPT.read_text())
    assert set(shlex.split(tools)) <= required


def test_the_workflow_says_of_each_system_where_it_has_run():
    """The note names every system that is built for, and what it refers to is there."""
    note = WORKFLOW.read_text().partition("\nname:")[0].partition("Where this has run: ")[2]
    linux = PROJECT["tool"]["cibuildwheel"]["linux"]
    systems = [word for key in linux if key.endswith("-image") for word in key.split("-")[:2]]
    assert {"manylinux", "musllinux", "x86_64", "aarch64"} <= set(systems)
    for system in (*systems, "macOS"):
        assert re.search(rf"\b{system}\b", note), system
    assert (ROOT / re.search(r"tests/[\w/]+\.py", note)[0]).samefile(__file__)
    (target,) = re.findall(r"`make ([\w-]+)`", note)
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
