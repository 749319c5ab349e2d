"""The core. What compiled games have in common."""

import json as _json
from importlib.machinery import EXTENSION_SUFFIXES as _SUFFIXES
from pathlib import Path as _Path


def _check_compiled(checkout: _Path) -> None:
    """Refuse a checkout without compiled modules. Python prefers it to an installed package when it starts there."""
    files = (checkout / "cext" / "core").glob("*/*")
    if (checkout / "setup.py").exists() and not any(file.name.endswith(tuple(_SUFFIXES)) for file in files):
        raise ImportError(
            f"{checkout}: this checkout is not built; build it with `make install` or `pip install -e .`, "
            "or start Python in another folder (or with -P) to use an installed mexica-ai"
        )


def _check_built(checkout: _Path) -> None:
    """Refuse modules of two builds in one checkout: each may have been compiled with what the other lacks."""
    built = checkout / "cext" / "built.json"
    if not built.exists():  # an installed package is one build
        _check_compiled(checkout)
        return
    again = "build again with `make install` or `pip install -e .`"
    wanted = _json.loads(built.read_text())
    if wanted["variant"] == "unfinished":
        raise ImportError(f"{built}: a build ended before all modules were in their place; {again}")
    for name, size in wanted["modules"].items():
        file = checkout / name
        if file.exists() and file.stat().st_size != size:
            raise ImportError(
                f"{file}: not of the build {wanted['variant']}, like the other modules; expected {size} bytes; {again}"
            )


# Here and not in `cext`, which a build imports to mend this. Every compiled module imports this package.
_check_built(_Path(__file__).parents[2])
