"""Exits with status 0 if every module that the tests need can be imported, else with 1 and a message.

The compiled ones must be of the build that the environment asks for.
"""

import importlib
import json
import sys
from pathlib import Path

MODULES = ["mexica_ai.cli.main", "mexica_ai.server.main", "rich", "scipy", "openskill"]
MODULES += ["distributed", "matplotlib", "pytest", "xdist", "hypothesis", "ruff", "cython_lint"]
MODULES += [".".join(path.with_suffix("").parts) for path in sorted(Path("cext").rglob("*.pyx"))]
MODULES += ["test_games.trick.ops", "test_games.inside.parts", "cext.build"]

for module in MODULES:
    try:
        importlib.import_module(module)
    except ImportError as error:
        sys.exit(f"installing again: {error}")

build = sys.modules["cext.build"]
built = json.loads(build.BUILT.read_text())["variant"] if build.BUILT.exists() else "an unknown build"
if built != build.variant():
    sys.exit(f"installing again: the modules are of {built}; expected {build.variant()}")
