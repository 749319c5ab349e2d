"""Exits with status 0 if every module that the tests need can be imported, else with 1 and a message."""

import importlib
import sys
from pathlib import Path

MODULES = ["mexica_ai.cli.main", "mexica_ai.server.main", "rich", "scipy", "openskill"]
MODULES += ["distributed", "matplotlib", "pytest", "xdist", "hypothesis", "ruff", "cython_lint"]
MODULES += [".".join(path.with_suffix("").parts) for path in sorted(Path("cext").rglob("*.pyx"))]
MODULES.append("test_games.trick.ops")

for module in MODULES:
    try:
        importlib.import_module(module)
    except ImportError as error:
        sys.exit(f"installing again: {error}")
