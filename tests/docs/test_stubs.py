"""The stubs of the compiled modules say what these modules are: names, parameters and defaults, in both directions."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest
from mypy import stubtest

import mexica_ai
from cext.core.search.search import Search

ROOT = Path(__file__).parents[2]
# Written by Cython; numbers of enumerations, which `__getattr__` stands for; constants of other modules.
NOT_IN_STUBS = r"""
.*\.__(pyx_capi|test|reduce_cython|setstate_cython)__
cext\.games\.\w+\.weights\.[A-Z]+_\w+
cext\.core\.(baselines\.(beam|uct)|search\.search)\.(DEFAULT_MEMORY_MB|MAX_THREADS|MAX_TIME_S)
"""


def compiled_modules():
    """Return the names of all compiled modules, as setup.py lists them, and their sources."""
    tables = {
        target.id: ast.literal_eval(node.value)
        for node in ast.parse((ROOT / "setup.py").read_text()).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in ("MODULES", "TEST_MODULES")
    }
    return {
        name: ROOT / f"{name.replace('.', '/').replace('test_games', 'tests/games')}.pyx"
        for name in (*tables["MODULES"], *tables["TEST_MODULES"])
    }


MODULES = compiled_modules()
WITH_STUBS = {name: source for name, source in MODULES.items() if source.with_suffix(".pyi").exists()}


def public(module):
    """Return the public names of a module that come from no other one."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and getattr(value, "__module__", module.__name__) == module.__name__
    }


def check_stubs(*modules):
    """Compare the stubs of modules with the modules; return the number of mypy's stubtest."""
    return stubtest.test_stubs(
        stubtest.parse_options(
            [
                *modules,
                "--concise",
                "--ignore-disjoint-bases",
                "--ignore-unused-allowlist",
                "--allowlist=allowlist",
                "--mypy-config-file=mypy.ini",
            ]
        )
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the current folder, for a check by stubtest."""
    (tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = silent\n")
    (tmp_path / "allowlist").write_text(NOT_IN_STUBS)
    (tmp_path / "stubs").mkdir()
    (tmp_path / "stubs" / "cext").symlink_to(ROOT / "cext")
    (tmp_path / "stubs" / "test_games").symlink_to(ROOT / "tests" / "games")
    (tmp_path / "stubs" / "numpy").mkdir()
    for name in ("__init__", "typing"):  # NumPy's own stubs take long to read; `make lint` does it
        path = tmp_path / "stubs" / "numpy" / f"{name}.pyi"
        path.write_text("from typing import Any\ndef __getattr__(name: str) -> Any: ...\n")
    monkeypatch.setenv("MYPYPATH", str(tmp_path / "stubs"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_stubs_say_what_the_modules_are(folder, capsys):
    assert check_stubs(*WITH_STUBS) == 0, capsys.readouterr().out


def test_a_wrong_stub_is_found(folder, capsys):
    (folder / "stubs" / "cext").unlink()
    package = folder / "stubs" / "cext" / "core" / "contract"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "game.pyi").write_text("class State: ...\n")
    stub = (ROOT / "cext/core/contract/perft.pyi").read_text()
    changed = stub.replace("def perft(state: State, depth: int)", "def perft(state: State, depth: int = 1)")
    assert changed != stub
    (package / "perft.pyi").write_text(changed)
    assert check_stubs("cext.core.contract.perft") == 1
    assert "depth" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(MODULES.keys() - WITH_STUBS.keys()))
def test_only_modules_without_public_names_lack_a_stub(name):
    assert public(importlib.import_module(name)).keys() == set()


def test_stubs_without_names_are_of_enumerations():
    stubs = [name for name, source in WITH_STUBS.items() if "__getattr__" in source.with_suffix(".pyi").read_text()]
    assert stubs != []
    for name in stubs:
        assert {type(value) for value in public(importlib.import_module(name)).values()} == {int}


# --- what the compiled modules do not tell: the parameters of constructors, and modules that no test imports


def signature(parameters, module):
    """Return the parameters of Cython's text as Python writes them, with the values that defaults have in a module."""
    plain = []
    for parameter in parameters.split(","):
        name, equals, default = parameter.strip().removesuffix(" not None").partition("=")
        name = name.strip().rsplit(" ", 1)[-1]
        plain.append(f"{name}={eval(default, vars(module))!r}" if equals else name)
    return f"({', '.join(plain)})"


def in_source(source):
    """Return the text of the parameters of each function and constructor of a .pyx file."""
    found = {}
    for match in re.finditer(
        r"^(?:cdef )?class (\w+)|^(?:def|cpdef \w+) (\w+)\((.*?)\)|^    def (__cinit__)\((.*?)\)", source, re.M | re.S
    ):
        class_name, function, parameters, constructor, of_constructor = match.groups()
        if class_name:
            last_class = class_name
        elif function and not function.startswith("_"):
            found[function] = parameters
        elif constructor:
            found[last_class] = of_constructor
    return found


def in_stub(stub):
    """Return the same of a .pyi file, with Python's text."""
    found = {}
    for node in ast.parse(stub).body:
        name = node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ""
        if isinstance(node, ast.ClassDef):
            node = next((entry for entry in node.body if getattr(entry, "name", "") == "__new__"), None)
        if isinstance(node, ast.FunctionDef):
            for parameter in ast.walk(node.args):
                if isinstance(parameter, ast.arg):
                    parameter.annotation = None
            found[name] = f"({ast.unparse(node.args).removeprefix('cls, ').replace(': ', '')})"
    return found


def test_constructors_take_what_their_stubs_say():
    checked = set()
    for name, path in WITH_STUBS.items():
        module, stub = importlib.import_module(name), in_stub(path.with_suffix(".pyi").read_text())
        for class_name, parameters in in_source(path.read_text()).items():
            if inspect.isclass(getattr(module, class_name)) and parameters != "self":
                assert stub[class_name] == signature(parameters.removeprefix("self, "), module), class_name
                checked.add(class_name)
    assert checked == {"Stream", "Game", "State", "Batch", "Weights", "Search", "UCT", "Beam", "Pool", "Graph"}


def test_the_plugin_has_the_functions_of_its_stub():
    path = ROOT / "examples/plugin_game/mexica_ai_shutbox/ops.pyx"
    stub = in_stub(path.with_suffix(".pyi").read_text())
    assert {name: signature(parameters, ast) for name, parameters in in_source(path.read_text()).items()} == stub


def typed_keys(stub, class_name):
    """Return the keys of a TypedDict in a stub, with those of its base."""
    node = next(node for node in ast.parse(stub).body if isinstance(node, ast.ClassDef) and node.name == class_name)
    own = {entry.target.id for entry in node.body if isinstance(entry, ast.AnnAssign)}
    return own.union(*(typed_keys(stub, base.id) for base in node.bases if base.id != "TypedDict"))


def test_results_have_the_keys_of_their_types():
    run = Search(mexica_ai.new_game("nim").state)
    run.run(iterations=200)
    result, tree, decisions = run.result(), run.tree(), run.decisions(1)
    turn_search, search = ((ROOT / f"cext/core/search/{name}.pyi").read_text() for name in ("turn_search", "search"))
    assert result.keys() == typed_keys(turn_search, "SearchResult")
    assert result["candidates"][0].keys() == typed_keys(turn_search, "Candidate")
    assert result["candidates"][0]["forecast"][0].keys() == typed_keys(turn_search, "Statistics")
    assert tree[0].keys() == typed_keys(search, "Node")
    assert tree[0]["edges"][0].keys() == typed_keys(search, "Edge")
    assert decisions[0].keys() == typed_keys(search, "Decision")
