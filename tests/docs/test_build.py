"""The build that is tested is the one that was asked for, and a checkout has the modules of one build."""

import json
import os
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from sysconfig import get_config_var

import Cython.Build
import pytest
import setuptools

from cext import core
from cext.build import INTERFACE
from cext.core.contract import game

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(os.environ.get("CEXT_DEBUG") != "1", reason="only where make debug-test runs the tests")
def test_the_debug_build_is_tested_and_not_the_checkouts():
    assert game.IS_DEBUG_BUILD
    assert Path(game.__file__).is_relative_to(sys.prefix)


@pytest.mark.skipif(Path(sys.prefix).name != ".venv-portable", reason="only where make test-portable runs the tests")
def test_the_portable_build_is_tested_and_not_the_checkouts():
    assert game.VARIANT == "release-portable"
    assert Path(game.__file__).is_relative_to(sys.prefix)


@pytest.fixture
def build_script(monkeypatch):
    """Return the names of setup.py, which builds nothing, for a native release build."""
    monkeypatch.setattr(setuptools, "setup", lambda **options: None)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("CEXT_SKIP", "1")
    monkeypatch.setenv("MEXICA_AI_NATIVE", "1")
    monkeypatch.delenv("CEXT_DEBUG", raising=False)
    return runpy.run_path(str(ROOT / "setup.py"))


@pytest.mark.parametrize(("command", "translates"), [("egg_info", False), ("dist_info", False), ("bdist_wheel", True)])
def test_nothing_is_translated_while_pip_only_asks(command, translates, monkeypatch):
    given, translated = {}, []
    monkeypatch.setattr(setuptools, "setup", given.update)
    monkeypatch.setattr(Cython.Build, "cythonize", lambda modules, **_: translated.append(modules) or modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", ["setup.py", "--quiet", command])
    monkeypatch.delenv("CEXT_SKIP", raising=False)
    runpy.run_path(str(ROOT / "setup.py"))
    assert (bool(given["ext_modules"]), bool(translated)) == (translates, translates)


@pytest.mark.skipif(not game.VARIANT.startswith("release"), reason="other builds have checks of their own")
def test_release_builds_check_the_stack_and_buffers(build_script):
    modules = {module.name: module for module in build_script["extensions"]}
    for name, module in modules.items():
        args = module.extra_compile_args
        checks = [arg for arg in args if "stack-protector" in arg]
        assert checks[-1] == ("-fstack-protector" if name.endswith(".rules") else "-fstack-protector-strong"), name
        assert "-D_FORTIFY_SOURCE=3" in args, name
    missing = [name for name in modules if b"__stack_chk_fail" not in Path(find_spec(name).origin).read_bytes()]
    assert missing == []


@pytest.fixture
def put(tmp_path, monkeypatch, build_script):
    """Put a native build of two modules into a checkout where newer ones of a portable build stand."""
    monkeypatch.setattr("cext.build.BUILT", tmp_path / "cext" / "built.json")
    monkeypatch.chdir(tmp_path)
    modules = [setuptools.Extension(f"cext.{name}", []) for name in ("one", "two")]
    command = build_script["BuildExt"](setuptools.Distribution({"packages": ["cext"], "ext_modules": modules}))
    command.inplace, command.build_lib = True, "lib"
    command.ensure_finalized()
    for built, standing in command.get_output_mapping().items():
        for path, content in ((built, "native"), (standing, "portable")):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(content)
        os.utime(built, (1, 1))
    return command.copy_extensions_to_source


@pytest.mark.parametrize("inplace", [False, True])
def test_what_is_not_of_this_build_is_not_packed_again(inplace, build_script, tmp_path, monkeypatch):
    suffix = get_config_var("EXT_SUFFIX")
    earlier = ("deleted.py", f"deleted{suffix}", "compiled.cpython-39.so", f"built_for/x86-64-v3/compiled{suffix}")
    for name in ("one/__init__.py", f"lib/one/compiled{suffix}", *(f"lib/one/{name}" for name in earlier)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(build_script["BuildPy"], "generate_protobuf", lambda self: None)
    modules = [setuptools.Extension("one.compiled", [])]
    whole = setuptools.Distribution({"packages": ["one"], "ext_modules": modules, "script_name": "setup.py"})
    command, compiler = build_script["BuildPy"](whole), whole.get_command_obj("build_ext")
    command.build_lib = compiler.build_lib = "lib"
    compiler.inplace = inplace
    command.ensure_finalized()
    command.run()
    left = {path.name for path in (tmp_path / "lib" / "one").rglob("*") if path.is_file()}
    assert left == {"__init__.py", f"compiled{suffix}"}


def test_a_build_takes_the_place_of_newer_modules_of_another(put, tmp_path):
    put()
    built = json.loads((tmp_path / "cext" / "built.json").read_text())
    assert built["variant"] == "release-native"
    assert [Path(name).read_text() for name in built["modules"]] == ["native", "native"]
    core._check_built(tmp_path)


def test_modules_of_two_builds_are_refused(put, tmp_path):
    put()
    (module,) = (tmp_path / "cext").glob("two.*.so")
    module.write_text("portable")
    with pytest.raises(ImportError, match=r"two\..*so: not of the build release-native.* `make install`"):
        core._check_built(tmp_path)


def test_a_build_that_ended_early_is_refused(put, tmp_path, monkeypatch):
    put()
    monkeypatch.setattr("setuptools.command.build_ext.build_ext.copy_file", lambda *_, **__: [][0])
    with pytest.raises(IndexError):
        put()
    with pytest.raises(ImportError, match=r"built\.json: a build ended before .* `make install`"):
        core._check_built(tmp_path)


@pytest.mark.real("processes")
def test_python_that_starts_in_an_unbuilt_checkout_says_what_to_do(tmp_path):
    compiled = shutil.ignore_patterns("*.so", "built.json", "__pycache__")
    for folder in ("cext", "mexica_ai"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=compiled, symlinks=True)
    shutil.copy(ROOT / "setup.py", tmp_path)
    for code in ("import mexica_ai; mexica_ai.new_game('nim')", "import cext.core.search.search"):
        (tmp_path / "start.py").write_text(code)  # whose folder comes first in Python's path
        command = [sys.executable, tmp_path / "start.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1] == (
            f"ImportError: {tmp_path}: this checkout is not built; build it with `make install` or `pip install -e .`, "
            "or start Python in another folder (or with -P) to use an installed mexica-ai"
        )


@pytest.mark.real("processes")
def test_a_checkout_with_modules_of_two_builds_can_be_built_again(tmp_path):
    for name in ("setup.py", "cext/__init__.py", "cext/build.py", "cext/core/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in INTERFACE:
        (tmp_path / "cext" / "core" / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "cext" / "core" / name, tmp_path / "cext" / "core" / name)
    (tmp_path / "cext" / "core" / "game.so").write_text("of another build")
    built = {"variant": "release", "modules": {"cext/core/game.so": 1}}
    (tmp_path / "cext" / "built.json").write_text(json.dumps(built))
    command = [sys.executable, "-P", "setup.py", "--version"]
    run = subprocess.run(command, cwd=tmp_path, env={**os.environ, "CEXT_SKIP": "1"}, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    command = [sys.executable, "-P", "-c", "import cext.core"]
    run = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert "not of the build release" in run.stderr


def test_what_is_installed_is_one_build(tmp_path):
    core._check_built(tmp_path)
