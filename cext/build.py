"""How compiled games are built: `game_extensions` for the setup.py of a game in a package of its own.

The build of mexica-ai itself uses the same flags and directives. They matter: a game inlines functions of the core.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy
from Cython.Build import cythonize
from setuptools import Extension

CORE = Path(__file__).parent / "core"
# The interface that games are compiled against: the declarations that they import, and the headers of those.
INTERFACE = (
    "contract/types.pxd", "contract/sets.pxd", "contract/game.pxd", "contract/rng.pxd", "contract/mix.h",
    "learning/network.pxd", "learning/network.h", "learning/priors.pxd", "learning/scorer.pxd", "learning/scorer.h",
    "learning/tensor.pxd",
)  # fmt: skip
HEADERS = tuple(CORE / folder for folder in ("contract", "learning", "search"))

# -Wno-psabi: warnings about passing 64-byte vectors by value do not apply, since these functions are inlined.
# -ffp-contract=off: without contracted multiply-adds, all builds compute the same numbers.
COMPILE_ARGS = ("-std=gnu11", "-Wno-psabi", "-pthread", "-ffp-contract=off")
# Of builds that are neither for debugging nor for a sanitizer, which see more, at less optimization.
RELEASE_ARGS = ("-O3", "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3")
# After these, for `rules` of the games that ship. Most functions there are short: checks of all arrays and of all
# variables whose address is taken cost over 2 % of a random game. Arrays of at least 8 bytes of a byte type are still
# checked, and so is all in the modules that call the rules with a list to fill.
RULES_ARGS = ("-fstack-protector",)
LINK_ARGS = ("-pthread",)
MACROS = (("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"),)
DIRECTIVES = {
    "language_level": 3,
    "embedsignature": True,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
}


# In a checkout: of which build the compiled modules are, and the size of each; `cext/core/__init__.py` compares them.
BUILT = CORE.with_name("built.json")


def variant() -> str:
    """Return the name of the build for which the environment asks, such as ``release-native``."""
    asked = [kind for kind in ("debug", "profile") if os.environ.get(f"CEXT_{kind.upper()}") == "1"]
    kind = asked[0] if asked else "release"
    processor = "native" if os.environ.get("MEXICA_AI_NATIVE") == "1" else "portable"
    return f"{os.environ.get('CEXT_SANITIZE') or kind}-{processor}"


def abi() -> str:
    """Return the number of the interface between the core and compiled games, as a constant of C.

    It changes with every change of the declarations, and not with their comments. The core refuses the table of a game
    that was compiled with another number, since that table may have another layout.
    """
    declarations = sha256()
    for name in INTERFACE:
        text = re.sub(r'\A""".*?"""', "", (CORE / name).read_text(), flags=re.DOTALL)
        lines = (re.sub(r"#( .*|)$", "", line).rstrip() for line in text.splitlines())
        declarations.update("\n".join(filter(None, lines)).encode())
    return f"0x{declarations.hexdigest()[:16]}ULL"


def game_extensions(
    modules: Sequence[str], *, compile_args: Sequence[str] = RELEASE_ARGS, annotate: bool = False, **options: Any
) -> list[Extension]:
    """Return the extension modules of a game, translated to C, for `ext_modules` of `setuptools.setup`.

    Parameters
    ----------
    modules : sequence of str
        Dotted names of compiled modules, such as ``my_game.ops``. Each has its source at that path under the working
        directory: ``my_game/ops.pyx``.
    compile_args : sequence of str
        Further arguments of the C compiler. Default: ``-O3``, with checks of the stack and of buffers. With
        ``MEXICA_AI_NATIVE=1`` in the environment, ``-march=native`` is added.
    annotate : bool
        Whether Cython writes its report beside each module. Default: False.
    **options
        Of `setuptools.Extension`, such as `include_dirs` or `depends`; what the core needs is added to each list.

    Returns
    -------
    list of setuptools.Extension
    """
    native = ["-march=native"] if os.environ.get("MEXICA_AI_NATIVE") == "1" else []
    needed: dict[str, list[Any]] = {
        "include_dirs": [numpy.get_include(), *map(str, HEADERS)],
        "define_macros": [*MACROS, ("CEXT_ABI", abi())],
        "extra_compile_args": [*COMPILE_ARGS, *compile_args, *native],
        "extra_link_args": list(LINK_ARGS),
    }
    merged = {**options, **{key: [*values, *options.get(key, ())] for key, values in needed.items()}}
    extensions = [Extension(name, [name.replace(".", "/") + ".pyx"], **merged) for name in modules]
    translated: list[Extension] = cythonize(  # type: ignore[no-untyped-call]  # Cython has no types
        extensions,
        include_path=[str(CORE.parents[1])],  # an editable install is not in Python's path
        build_dir="build/cython",
        compiler_directives=DIRECTIVES,
        annotate=annotate,
    )
    return translated
