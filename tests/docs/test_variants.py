"""Of several builds of the compiled modules the package uses the best that the processor runs."""

import os
import runpy
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

import pytest
import setuptools

from cext import variants

ROOT = Path(__file__).parents[2]
V3, V4 = variants.NEEDS["x86-64-v3"], variants.NEEDS["x86-64-v4"]


def test_the_best_that_the_processor_runs_is_used(tmp_path):
    assert variants.usable(tmp_path, V4) == ["portable"]
    for name in variants.NEEDS:
        (tmp_path / name).mkdir()
    assert variants.usable(tmp_path, V4 | {"sse4_2"}) == ["x86-64-v4", "x86-64-v3", "portable"]
    assert variants.usable(tmp_path, V4 - {"avx512cd"}) == ["x86-64-v3", "portable"]
    assert variants.usable(tmp_path, V3 - {"movbe"}) == ["portable"]
    assert variants.usable(tmp_path, ()) == ["portable"]


def test_the_processor_is_what_the_system_says(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    assert variants.processor_flags(cpuinfo) == frozenset()
    cpuinfo.write_text("processor\t: 0\nmodel name\t: avx512f\nflags\t\t: fpu avx avx2\n\nprocessor\t: 1\n")
    assert {"avx", "avx2"} <= variants.processor_flags(cpuinfo)
    assert "avx512f" not in variants.processor_flags(cpuinfo)
    cpuinfo.write_text("processor : 0\nFeatures : fp asimd\n")
    assert variants.processor_flags(cpuinfo) == frozenset()


def test_the_environment_can_ask_for_another():
    names = ["x86-64-v3", "portable"]
    assert variants.choose(names, {}) == "x86-64-v3"
    assert variants.choose(names, {"MEXICA_AI_VARIANT": ""}) == "x86-64-v3"
    assert variants.choose(names, {"MEXICA_AI_VARIANT": "portable"}) == "portable"
    for asked in ("x86-64-v4", "v3"):
        with pytest.raises(ImportError, match=rf"MEXICA_AI_VARIANT: given '{asked}'; expected .* x86-64-v3, portable"):
            variants.choose(names, {"MEXICA_AI_VARIANT": asked})


CODE = """
from cext.core.contract import game, perft
from cext.games.nim import ops
print(perft.__file__, game.__file__, ops.__file__, sep="\\n")
"""


def test_compiled_modules_do_not_look_for_files_beside_themselves():
    """A variant of a module lies in another folder than the files of its package."""
    modules = list((ROOT / "cext").rglob("*.pyx"))
    assert modules
    assert [path.name for path in modules if "__file__" in path.read_text(encoding="utf-8")] == []


@pytest.mark.real("processes")
@pytest.mark.skipif(not variants.processor_flags() >= V3, reason="needs a processor of x86-64-v3")
def test_modules_of_a_variant_come_first(tmp_path):
    """The rest comes from where it belongs."""
    suffix = EXTENSION_SUFFIXES[0]
    for name in ("__init__.py", "variants.py", "core/__init__.py"):
        (tmp_path / "cext" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "cext" / name, tmp_path / "cext" / name)
    package = Path(find_spec("cext.core").origin).parents[1]
    ignore = shutil.ignore_patterns("*.pyx", "*.c", "built_for")
    shutil.copytree(package, tmp_path / "cext", dirs_exist_ok=True, ignore=ignore)
    (tmp_path / "cext" / "built.json").unlink(missing_ok=True)
    moved = tmp_path / "cext" / "built_for" / "x86-64-v3" / "core" / "contract" / f"perft{suffix}"
    moved.parent.mkdir(parents=True)
    (tmp_path / "cext" / "core" / "contract" / f"perft{suffix}").rename(moved)

    def files(**asked):
        environ = {**os.environ, "PYTHONPATH": str(tmp_path), **asked}
        return subprocess.run([sys.executable, "-P", "-c", CODE], env=environ, capture_output=True, text=True)

    done = files(MEXICA_AI_VARIANT="")
    assert done.returncode == 0, done.stderr
    home = tmp_path / "cext"
    assert [Path(line).parent for line in done.stdout.splitlines()] == [
        moved.parent,
        home / "core" / "contract",
        home / "games" / "nim",
    ]
    assert "cannot import name 'perft'" in files(MEXICA_AI_VARIANT="portable").stderr
    assert "given 'x86-64-v9'" in files(MEXICA_AI_VARIANT="x86-64-v9").stderr


@pytest.fixture
def build_script(monkeypatch):
    """Return the names of setup.py, which builds nothing."""
    monkeypatch.setattr(setuptools, "setup", lambda **options: None)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("CEXT_SKIP", "1")
    monkeypatch.setenv("MEXICA_AI_NATIVE", "0")
    return runpy.run_path(str(ROOT / "setup.py"))


def test_variants_are_built_only_where_they_are_asked_for(build_script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rules.c").write_text("int a;")
    modules = [
        setuptools.Extension(name, ["rules.c"], extra_compile_args=["-O3"], define_macros=[("CEXT_VARIANT", "")])
        for name in ("cext.games.nim.rules", "test_games.trick.ops")
    ]
    build = build_script["for_newer_processors"]
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("sys.platform", "linux")
    assert build(modules) == []
    monkeypatch.setenv("CEXT_VARIANTS", "1")
    found = build(modules)
    assert [module.name for module in found] == [f"cext.built_for.{name}.games.nim.rules" for name in variants.NEEDS]
    assert len({module.sources[0] for module in (*found, *modules)}) == 1 + len(found)
    for name, module in zip(variants.NEEDS, found, strict=True):
        assert module.extra_compile_args == ["-O3", f"-march={name}"]
        assert module.define_macros == [("CEXT_VARIANT", f'"release-{name}"')]
        assert Path(module.sources[0]).read_text() == "int a;"
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert build(modules) == []


def test_only_builds_for_tools_have_debug_information(monkeypatch):
    """It was nine tenths of the wheel."""

    def flags(switch=None):
        for name in ("CEXT_DEBUG", "CEXT_PROFILE", "CEXT_SANITIZE"):
            monkeypatch.delenv(name, raising=False)
        if switch:
            monkeypatch.setenv(*switch)
        extensions = runpy.run_path(str(ROOT / "setup.py"))["extensions"]
        (found,) = {("-g" in module.extra_compile_args, "-Wl,-S" in module.extra_link_args) for module in extensions}
        return found

    monkeypatch.setattr(setuptools, "setup", lambda **options: None)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("CEXT_SKIP", "1")
    assert flags() == (False, True)  # the linker leaves out what Python's own flags ask for
    for switch in (("CEXT_DEBUG", "1"), ("CEXT_PROFILE", "1"), ("CEXT_SANITIZE", "thread")):
        assert flags(switch) == (True, False)
