"""Build script: the table of extension modules, and the generation of the protobuf code.

Environment:

``MEXICA_AI_NATIVE=1``  compile for this machine's processor (``-march=native``); portable otherwise.
``CEXT_DEBUG=1``        bounds checks, overflow checks, and ``check()`` after every action.
``CEXT_SANITIZE=kind``  ``address`` (with undefined behaviour) or ``thread``: one of gcc's sanitizers, whose
                        library must be loaded before Python (``make sanitize``); or ``fuzzer``: clang's
                        ``address`` with the counters of libFuzzer (``make fuzz``). Overrides ``CEXT_DEBUG``.
``CEXT_PROFILE=1``      the release build with symbols and frame pointers, for profilers (``make profile``).
``CEXT_TESTS=1``        build and install the package ``test_games``, which only tests use. Editable
                        installs and ``build_ext --inplace`` always build it.
``CEXT_SKIP=1``         leave out the compiled modules, for an editable install where ``build_ext --inplace``
                        builds them (``make install``).
``CEXT_VARIANTS=1``     build the modules for newer processors, too, among which `cext` chooses when it is imported
                        (`cext.variants`; on Linux with x86-64).
``CEXT_JOBS=2``         translate and compile so many modules at a time; if not set, as many as there are processors.
"""

import copy
import json
import os
import platform
import shutil
import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))  # a build by pip does not have the checkout there

from cext import build, variants  # noqa: E402
from cext.build import COMPILE_ARGS, DIRECTIVES, HEADERS, INTERFACE, LINK_ARGS, MACROS, RELEASE_ARGS  # noqa: E402

# All compiled modules, in dependency order. A new game adds its modules here, and itself to the
# table in mexica_ai/game/registry.py.
MODULES = [
    "cext.core.contract.rng",
    "cext.core.contract.failure",
    "cext.core.contract.game",
    "cext.core.contract.playout",
    "cext.core.contract.pyops",
    "cext.core.learning.tensor",
    "cext.core.learning.batch",
    "cext.core.contract.perft",
    "cext.core.search.graph",
    "cext.core.learning.network",
    "cext.core.learning.weights",
    "cext.core.learning.priors",
    "cext.core.learning.scorer",
    "cext.core.contract.turns",
    "cext.core.search.options",
    "cext.core.search.turn_search",
    "cext.core.search.leaf",
    "cext.core.search.proof",
    "cext.core.search.listings",
    "cext.core.search.policies",
    "cext.core.search.halving",
    "cext.core.search.ranking",
    "cext.core.search.ends",
    "cext.core.search.reading",
    "cext.core.search.reuse",
    "cext.core.search.tree",
    "cext.core.search.iteration",
    "cext.core.search.evaluator",
    "cext.core.search.team",
    "cext.core.search.search",
    "cext.core.search.pool",
    "cext.core.baselines.uct",
    "cext.core.baselines.simple",
    "cext.core.baselines.beam",
    "cext.games.nim.ops",
    "cext.games.mexica.board",
    "cext.games.mexica.state",
    "cext.games.mexica.rules",
    "cext.games.mexica.hidden",
    "cext.games.mexica.evaluation",
    "cext.games.mexica.plans",
    "cext.games.mexica.policy",
    "cext.games.mexica.weights",
    "cext.games.mexica.tensor",
    "cext.games.mexica.ops",
    "cext.games.coatl.cards",
    "cext.games.coatl.state",
    "cext.games.coatl.rules",
    "cext.games.coatl.observations",
    "cext.games.coatl.hidden",
    "cext.games.coatl.plans",
    "cext.games.coatl.belief",
    "cext.games.coatl.evaluation",
    "cext.games.coatl.policy",
    "cext.games.coatl.weights",
    "cext.games.coatl.tensor",
    "cext.games.coatl.ops",
    "cext.games.tzolkin.tables",
    "cext.games.tzolkin.state",
    "cext.games.tzolkin.rules",
    "cext.games.tzolkin.hidden",
    "cext.games.tzolkin.plans",
    "cext.games.tzolkin.evaluation",
    "cext.games.tzolkin.policy",
    "cext.games.tzolkin.weights",
    "cext.games.tzolkin.tensor",
    "cext.games.tzolkin.ops",
]
# What only tests use, tests/games as the package test_games: games, and functions that no Python function shows.
TEST_MODULES = ["test_games.trick.ops", "test_games.inside.parts"]

SANITIZERS = {
    "address": ["-fsanitize=address,undefined,float-cast-overflow", "-fno-wrapv"],
    "thread": ["-fsanitize=thread"],
    # Traps, for there is no second runtime beside that of the address sanitizer; and check() after every action.
    "fuzzer": [
        "-fsanitize=fuzzer-no-link,address,bounds,shift,signed-integer-overflow,integer-divide-by-zero",
        "-fsanitize-trap=undefined",
        "-fno-wrapv",
        "-DCEXT_DEBUG=1",
    ],
}
SANITIZE = os.environ.get("CEXT_SANITIZE", "")
if SANITIZE and SANITIZE not in SANITIZERS:
    raise SystemExit(f"CEXT_SANITIZE: {SANITIZE!r}, expected one of {', '.join(SANITIZERS)}")
DEBUG = os.environ.get("CEXT_DEBUG") == "1" and not SANITIZE
NATIVE = os.environ.get("MEXICA_AI_NATIVE") == "1"
JOBS = int(os.environ.get("CEXT_JOBS") or os.cpu_count() or 1)
# pip first asks what the build needs, and shows nothing meanwhile: that must not translate the modules.
IS_ASKED_ONLY = not {"egg_info", "dist_info"}.isdisjoint(sys.argv[1:])
WITH_TESTS = os.environ.get("CEXT_TESTS") == "1" or bool({"editable_wheel", "--inplace"} & set(sys.argv))
# cythonize and build_ext compare only time stamps, so every variant has its own folder.
VARIANT = build.variant()
BUILD_DIR = f"build/{VARIANT}"
# A wheel contains all of this folder, so builds with the tests' modules have a separate one.
BUILD_LIB = f"{BUILD_DIR}/{'lib-tests' if WITH_TESTS else 'lib'}"

compile_args, link_args, rules_args = list(COMPILE_ARGS), list(LINK_ARGS), []
if SANITIZE:
    compile_args += ["-O1", "-g", "-fno-omit-frame-pointer", *SANITIZERS[SANITIZE]]
    link_args += SANITIZERS[SANITIZE]
elif DEBUG:
    # Traps need no sanitizer runtime inside the interpreter. Python's flags contain -fwrapv, which would make
    # signed overflow legal and disable its check. Cython's overflowcheck cannot be used: it also rejects
    # unsigned overflow, which hashes and random numbers need, and it does not support vectors.
    compile_args += [
        "-O1",
        "-g",
        "-DCEXT_DEBUG=1",
        "-fno-wrapv",
        "-fsanitize-undefined-trap-on-error",
        "-fsanitize=bounds,shift,signed-integer-overflow,integer-divide-by-zero",
    ]
else:
    compile_args += RELEASE_ARGS
    rules_args += build.RULES_ARGS
    if os.environ.get("CEXT_PROFILE") == "1":
        compile_args += ["-g", "-fno-omit-frame-pointer"]
    else:  # Python's own flags ask for debug information, which would be most of a wheel
        link_args += ["-Wl,-S"]
if NATIVE:
    compile_args += ["-march=native"]

# mexica_ai/server is a link to server/.
packages = find_packages(include=["cext*", "mexica_ai*"])
package_dirs = {}
modules = list(MODULES)
if WITH_TESTS:
    package_dirs["test_games"] = "tests/games"
    packages += ["test_games", *(f"test_games.{name}" for name in find_packages("tests/games"))]
    modules += TEST_MODULES

extensions = [
    Extension(
        name,
        [name.replace(".", "/").replace("test_games", "tests/games") + ".pyx"],
        include_dirs=[numpy.get_include(), *(os.path.relpath(folder) for folder in HEADERS), "cext/games/mexica"],
        # Every module holds the number of the interface.
        depends=[
            str(path.relative_to(ROOT))
            for path in [
                ROOT / "cext/build.py",
                *sorted(ROOT.glob("cext/**/*.h")),
                *(ROOT / "cext/core" / name for name in INTERFACE),
            ]
        ],
        define_macros=[*MACROS, ("CEXT_ABI", build.abi()), ("CEXT_VARIANT", f'"{VARIANT}"')],
        extra_compile_args=[*compile_args, *(rules_args if name.endswith(".rules") else ())],
        extra_link_args=link_args,
    )
    for name in modules
]


def for_newer_processors(modules):
    """Return the modules of the package for each kind of newer processor, if the environment asks for them."""
    found = []
    if os.environ.get("CEXT_VARIANTS") != "1" or (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return found
    for level in variants.NEEDS:
        for module in modules:
            if not module.name.startswith("cext."):
                continue
            # A copy of the C file, since there is one object file for each.
            source = Path(BUILD_DIR, level, module.sources[0])
            source.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(module.sources[0], source)
            variant = copy.copy(module)
            variant.name = module.name.replace("cext.", f"cext.{variants.FOLDER.name}.{level}.", 1)
            variant.sources = [str(source)]
            macros = {**dict(module.define_macros), "CEXT_VARIANT": f'"release-{level}"'}
            variant.define_macros = list(macros.items())
            variant.extra_compile_args = [*module.extra_compile_args, f"-march={level}"]
            found.append(variant)
    return found


def compiled():
    """Translate the modules, and return all that are to be compiled."""
    if os.environ.get("CEXT_SKIP") == "1" or IS_ASKED_ONLY:
        return []
    modules = cythonize(
        extensions,
        build_dir=f"{BUILD_DIR}/cython",
        emit_linenums=bool(SANITIZE),  # so that reports name lines of the .pyx files
        compiler_directives={**DIRECTIVES, "boundscheck": DEBUG, "initializedcheck": DEBUG},
        nthreads=JOBS,
    )
    return modules + for_newer_processors(modules)


class BuildPy(build_py):
    """Generates the protobuf modules from ``proto/`` before the Python files are collected."""

    def run(self):
        self.generate_protobuf()
        if not self.editable_mode:
            self.remove_copies()
        super().run()
        if not self.editable_mode:  # in a checkout the page finds them where they are
            self.copy_examples()

    def remove_copies(self):
        """Delete all files of earlier builds but the compiled modules of this one, which need not be built again.

        The others are copied anew, were deleted since then, or are modules for another Python or newer processors.
        """
        built = {Path(path) for path in self.get_finalized_command("build_ext").get_outputs()}
        for path in sorted(Path(self.build_lib).rglob("*")):
            if path.is_file() and path not in built:
                path.unlink()

    def copy_examples(self):
        """Put the examples into the package of the page."""
        folder = Path(self.build_lib) / "mexica_ai" / "web" / "examples"
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted((ROOT / "examples").glob("*.json*")):
            self.copy_file(str(path), str(folder / path.name))

    @staticmethod
    def generate_protobuf():
        import grpc_tools
        from grpc_tools import protoc

        # Of google/api only the messages: their Python modules come with googleapis-common-protos.
        includes = ["-Iproto", f"-I{Path(grpc_tools.__path__[0]) / '_proto'}"]
        protos = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("proto/mexica_ai/v1/*.proto"))
        outputs = ["--python_out=.", "--pyi_out=.", "--grpc_python_out=."]
        status = protoc.main(["protoc", *includes, *outputs, *protos])
        if status != 0:
            raise SystemExit(f"protoc failed with exit status {status}")


class BuildExt(build_ext):
    """Puts the modules of this build into a checkout, whatever stands there, and writes down which they are."""

    def copy_extensions_to_source(self):
        build.BUILT.write_text(json.dumps({"variant": "unfinished", "modules": {}}))
        self.force = True  # else files of another build stay if they are newer
        super().copy_extensions_to_source()
        sizes = {str(file): Path(file).stat().st_size for file in self.get_output_mapping().values()}
        build.BUILT.write_text(json.dumps({"variant": VARIANT, "modules": sizes}))


setup(
    packages=packages,
    package_dir=package_dirs,
    package_data={
        "": [
            "*.pxd",
            "*.pyx",
            "*.h",
            "py.typed",
            "*.pyi",
            "weights.json",
            "calibration.json",
            "ratings.json",
            "cards.json",
            "facts.json",
            "service_config.json",
            "openapi.json",
            "fonts/*.ttf",
            "fonts/*.txt",
            "messages/*.json",
            "texts/*.json",
            "texts/*.md",
        ],
        "mexica_ai.web": [
            f"static/{folder}*.{ending}"
            for folder in ("", "icons/", "messages/", "vendor/")
            for ending in ("js", "ts", "css", "html", "json", "txt", "svg", "png", "webmanifest")
        ],
    },
    ext_modules=compiled(),
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy},
    options={"build": {"build_base": BUILD_DIR, "build_lib": BUILD_LIB}, "build_ext": {"parallel": JOBS}},
    zip_safe=False,
)
