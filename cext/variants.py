"""Which build of the compiled modules this processor gets.

A wheel may hold the modules several times: where they belong, for every processor, and in ``built_for``, a folder for
each kind of newer processor. The first import of `cext` chooses the best folder that the processor can run; modules
that are not in it come from where they belong. All builds compute the same numbers.

``MEXICA_AI_VARIANT`` names the build to use instead: ``portable``, or a folder. The one in use is
`cext.core.contract.game.VARIANT`.
"""

import os
import sys
from collections.abc import Collection, Mapping
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

FOLDER = Path(__file__).with_name("built_for")
SWITCH = "MEXICA_AI_VARIANT"
PORTABLE = "portable"

_V3 = "avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
# The levels of x86-64 for which there can be builds, the best first, and what a processor of each has, in the words of
# Linux. The system lists only what it lets programs use. setup.py compiles for these levels.
NEEDS = {
    "x86-64-v4": frozenset(f"{_V3} avx512f avx512bw avx512cd avx512dq avx512vl".split()),
    "x86-64-v3": frozenset(_V3.split()),
}


def processor_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> frozenset[str]:
    """Return what Linux says that the processor has; nothing where there is no such file."""
    try:
        with cpuinfo.open() as lines:
            return next((frozenset(line.split()) for line in lines if line.startswith("flags")), frozenset())
    except OSError:
        return frozenset()


def usable(folder: Path = FOLDER, flags: Collection[str] | None = None) -> list[str]:
    """Return the builds that are there and run on this processor, the best first."""
    built = [name for name in NEEDS if (folder / name).is_dir()]
    if built:
        flags = processor_flags() if flags is None else flags
        built = [name for name in built if NEEDS[name].issubset(flags)]
    return [*built, PORTABLE]


def choose(names: list[str], environ: Mapping[str, str] = os.environ) -> str:
    """Return the first of the usable builds, or the one that the environment asks for.

    Raises
    ------
    ImportError
        If that one is not among them.
    """
    asked = environ.get(SWITCH) or names[0]
    if asked not in names:
        raise ImportError(f"{SWITCH}: given {asked!r}; expected one that is built and runs here: {', '.join(names)}")
    return asked


class Finder:
    """Finds the compiled modules of one build."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        package, *parts = name.split(".")
        if package != "cext" or not parts:
            return None
        file = self._folder.joinpath(*parts).with_suffix(EXTENSION_SUFFIXES[0])
        return spec_from_file_location(name, file) if file.exists() else None


def install() -> None:
    """Have Python find the modules of the chosen build."""
    name = choose(usable())
    if name != PORTABLE:
        sys.meta_path.insert(0, Finder(FOLDER / name))
