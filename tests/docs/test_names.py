"""The public names of the package, whose modules are imported when a name is first used."""

import ast
import json
import pickle
import pydoc
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import mexica_ai as ai

HOMES = {name: f"mexica_ai.{module}" for module, names in ai._HOMES.items() for name in names}


def test_type_checkers_find_each_name_where_it_is():
    tree = ast.parse(Path(ai.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block.body if node.module != "typing" for alias in node.names}
    assert seen == HOMES
    assert ai.__all__ == sorted([*HOMES, "__version__"])


@pytest.mark.parametrize("name", sorted(HOMES))
def test_a_name_is_that_of_its_module(name):
    value = getattr(ai, name)
    assert value is getattr(import_module(HOMES[name]), name)
    assert pickle.loads(pickle.dumps(value)) is value


def test_all_names_are_listed():
    names = {}
    exec("from mexica_ai import *", names)
    assert names.keys() - {"__builtins__"} == set(ai.__all__)
    assert set(ai.__all__) <= set(dir(ai))
    text = pydoc.plain(pydoc.render_doc(ai))
    assert [name for name in ai.__all__ if f" {name}" not in text] == ["__version__"]  # has a section of its own


# Each module is the first that is imported: no other may have to come before.
ALONE = """
import sys
before = set(sys.modules)
import mexica_ai
early = sorted(set(sys.modules) - before)
import importlib, json, pkgutil
names = [module.name for module in pkgutil.iter_modules(mexica_ai.__path__, "mexica_ai.")]
for folder in ("io", "game", "analysis", "rpc"):
    path = [f"{mexica_ai.__path__[0]}/{folder}"]
    names += [module.name for module in pkgutil.iter_modules(path, f"mexica_ai.{folder}.")]
for name in names:
    for loaded in [loaded for loaded in sys.modules if loaded.split(".")[0] == "mexica_ai"]:
        del sys.modules[loaded]
    importlib.import_module(name)
print(json.dumps([early, names]))
"""


@pytest.mark.real("processes")
def test_each_module_of_the_library_can_be_imported_first():
    done = subprocess.run([sys.executable, "-P", "-c", ALONE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    early, names = json.loads(done.stdout)
    assert set(early) <= {"__future__", "mexica_ai"}
    assert {"mexica_ai.rpc.client", "mexica_ai.game.position", "mexica_ai.game.registry"} <= set(names)
