"""The layers of the project import in one direction only, and nothing but a game's own files names a game."""

import ast
import functools
import re
from pathlib import Path

import pytest

from cext.build import INTERFACE
from mexica_ai.game import registry

ROOT = Path(__file__).parents[2]
GAMES = registry.BUILT_IN


def module_name(path):
    """Return the dotted name under which a source file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = ("mexica_ai", *parts) if parts[0] == "server" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache  # several rules read the same files
def all_imports(path):
    """Return (module, whether at the top level, whether for types only) for every import of a Python file."""
    text = path.read_text()
    tree = ast.parse(text)
    of_types = for_types_only(tree) if "TYPE_CHECKING" in text else set()
    name = module_name(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    top = set(map(id, tree.body))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in top, id(node) in of_types) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                base = package.split(".")[: len(package.split(".")) - node.level + 1]
                module = ".".join([*base, module]).rstrip(".")
            found += [(f"{module}.{alias.name}", id(node) in top, id(node) in of_types) for alias in node.names]
    return found


def python_imports(path, *, types=True):
    """Return (module, whether at the top level) for every import of a Python file, with or without those for types."""
    return [(module, is_top) for module, is_top, is_of_types in all_imports(path) if types or not is_of_types]


def cython_imports(path):
    """Return the modules that a Cython file imports or cimports."""
    found = []
    for line in path.read_text().splitlines():
        if match := re.match(r"\s*(?:from\s+([\w.]+)\s+c?import\b|c?import\s+([\w.]+))", line):
            found.append(match[1] or match[2])
    return found


def is_package(path):
    return (path / "__init__.py").is_file()


def imports(path):
    """Return every module that a source file imports."""
    if path.suffix == ".py":
        return [module for module, _ in python_imports(path)]
    return cython_imports(path)


def for_types_only(tree):
    """Return the ids of the nodes that run only for type checkers: those under ``if TYPE_CHECKING``."""
    return {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for statement in branch.body
        for node in ast.walk(statement)
    }


def sources(folder, *suffixes):
    files = [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (suffixes or (".py",))]
    # The link to server/ is a folder in an unpacked source archive.
    files = [path for path in files if ROOT / "mexica_ai" / "server" not in path.parents]
    files = [path for path in files if not path.name.endswith(("_pb2.py", "_pb2_grpc.py"))]
    assert files, folder
    return files


def is_within(module, *packages):
    return any(module == package or module.startswith(package + ".") for package in packages)


def relative(path):
    return path.relative_to(ROOT).as_posix()


def broken(paths, is_wrong, imports=imports):
    """Return "file: module" for each import of some files for which ``is_wrong(path, module)``."""
    return [f"{relative(path)}: {module}" for path in paths for module in imports(path) if is_wrong(path, module)]


def imports_at_run_time(path):
    return [module for module, _ in python_imports(path, types=False)]


def imports_at_the_top(path):
    return [module for module, is_top in python_imports(path) if is_top]


def rows_of_map(readme):
    """Return the rows of the first table of a README: lists of cells, the first of which names a folder or a module."""
    lines = (ROOT / readme).read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("| ---")) + 1
    last = next(number for number in range(first, len(lines)) if not lines[number].startswith("|"))
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[first:last]]
    return [[row[0].strip("`"), *row[1:]] for row in rows]


PACKAGE = [row[0] for row in rows_of_map("mexica_ai/README.md")]
COMPILED = [row[0].replace("/", ".") for row in rows_of_map("cext/README.md")]
FOR_GAMES = [row[0].replace("/", ".") for row in rows_of_map("cext/README.md") if row[2]]


def place_in(module, package, places):
    """Return which of the places of a package holds a module; None for the package itself."""
    if module == package:
        return None
    found = [place for place in places if is_within(module, f"{package}.{place}")]
    assert found, f"{module}: the map has no line for it"
    return found[0]


def test_the_maps_name_what_is_there():
    entries = {path.stem for path in (ROOT / "mexica_ai").iterdir() if path.suffix == ".py" or is_package(path)}
    assert sorted(PACKAGE) == sorted(entries - {"__init__", "__main__"} | {"v1"})
    assert is_package(ROOT / "cext" / "games")
    core = {f"core.{path.name}" for path in (ROOT / "cext" / "core").iterdir() if is_package(path)}
    assert sorted(COMPILED) == sorted(core | {"games"})


def test_few_modules_of_the_package_are_loose():
    loose = {path.name for path in (ROOT / "mexica_ai").glob("*.py")}
    assert len(loose - {"__init__.py", "__main__.py"}) <= 6


def test_the_package_imports_only_downwards():
    def is_above(path, module):
        if not is_within(module, "mexica_ai", "server") or module == "mexica_ai.__version__":
            return False
        place = place_in(module, "mexica_ai", PACKAGE)
        if place is None:  # the package itself, through which all could be had
            return True
        return PACKAGE.index(place) > PACKAGE.index(place_in(module_name(path), "mexica_ai", PACKAGE))

    # Those at the top are what users import, and the command.
    top = set((ROOT / "mexica_ai").glob("__*"))
    paths = [path for path in [*sources("mexica_ai"), *sources("server")] if path not in top]
    assert not broken(paths, is_above, imports_at_run_time)


def circles(imported):
    """Return the sets of names that lead to each other, of a dict of sets of names."""
    reached = {}
    for name in imported:
        reached[name], ahead = set(), [name]
        while ahead:
            news = imported[ahead.pop()] - reached[name]
            reached[name] |= news
            ahead += news
    return {frozenset(other for other in reached[name] if name in reached[other]) for name in imported} - {frozenset()}


def imported_modules(files):
    """Return the modules that each of some modules imports, anywhere in its file but for types, among themselves."""
    imported = {}
    for name, path in files.items():
        imported[name] = set()
        for module, _ in python_imports(path, types=False):
            while module and module not in files:  # a class or a function of the module
                module = module.rpartition(".")[0]
            imported[name] |= {module} - {"", name}
    return imported


def test_no_modules_import_each_other():
    files = {module_name(path): path for path in [*sources("mexica_ai"), *sources("server")]}
    assert not circles(imported_modules(files))


def test_circles_are_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    sources = {
        "one": "from two import something\n",
        "two": "def f():\n    import three\n",
        "three": "from typing import TYPE_CHECKING\nimport one\nif TYPE_CHECKING:\n    import four\n",
        "four": "import three\n",
    }
    files = {name: tmp_path / f"{name}.py" for name in sources}
    for name, source in sources.items():
        files[name].write_text(source)
    imported = imported_modules(files)
    assert imported == {"one": {"two"}, "two": {"three"}, "three": {"one"}, "four": {"three"}}
    assert circles(imported) == {frozenset({"one", "two", "three"})}


CORE = sources("cext/core", ".py", ".pyx", ".pxd")


def test_the_core_imports_only_downwards():
    def is_above(path, module):
        if not is_within(module, "cext"):
            return is_within(module, "mexica_ai", "server")
        own = place_in(module_name(path), "cext", COMPILED)
        return COMPILED.index(place_in(module, "cext", COMPILED)) > COMPILED.index(own)

    # Left out is the check of what was built.
    assert not broken([path for path in CORE if path.parent.name != "core"], is_above)


@pytest.mark.parametrize("game", GAMES)
def test_the_core_names_no_game(game):
    name = re.compile(rf"\b{game}\b(?!-ai|_ai)", re.IGNORECASE)
    assert not [relative(path) for path in CORE if name.search(path.read_text())]


def test_the_number_of_the_interface_covers_what_games_are_compiled_against():
    games = {module for path in sources("cext/games", ".pyx", ".pxd") for module in cython_imports(path)}
    covered = {name: (ROOT / "cext" / "core" / name).read_text() for name in INTERFACE}
    declared = [name for name in covered if name.endswith(".pxd")]
    games |= {module for name in declared for module in cython_imports(ROOT / "cext" / "core" / name)}
    used = {f"{module.removeprefix('cext.core.').replace('.', '/')}.pxd" for module in games}
    used = {name for name in used if (ROOT / "cext" / "core" / name).exists()}
    assert used
    assert used - set(INTERFACE) <= {"learning/weights.pxd"}, "only a class, whose size Cython checks"
    headers = {name for text in covered.values() for name in re.findall(r'extern from "([\w.]+)"', text)}
    assert headers
    assert headers <= {Path(name).name for name in INTERFACE}


def test_a_compiled_game_knows_the_lower_core_and_itself():
    def is_other(path, module):
        parts = path.relative_to(ROOT / "cext" / "games").parts
        allowed = [f"cext.{place}" for place in FOR_GAMES] + ([f"cext.games.{parts[0]}"] if len(parts) > 1 else [])
        return is_within(module, "cext", "mexica_ai", "server") and not is_within(module, *allowed)

    assert not broken(sources("cext/games", ".py", ".pyx", ".pxd"), is_other)


NEED_GRPC = (
    *(
        f"mexica_ai.rpc.{name}"
        for name in ("candidates", "client", "calls", "details", "failures", "fields", "load", "views", "wire")
    ),
    "mexica_ai.engines.grpc",
)


def test_only_the_client_and_the_grpc_engine_need_grpc():
    others = [path for path in sources("mexica_ai") if module_name(path) not in NEED_GRPC]
    grpc = ("grpc", "grpc_health", "grpc_reflection", "grpc_status", "google", "mexica_ai.v1")
    assert not broken(others, lambda path, module: is_within(module, *grpc))
    # Those that need it are imported inside the function that needs them; not by the page, a client of the service,
    # which only a command imports.
    others = [path for path in others if not relative(path).startswith("mexica_ai/web/")]
    needing = ("mexica_ai.server", *NEED_GRPC)
    assert not broken(others, lambda path, module: is_within(module, *needing), imports_at_the_top)


def importers(paths, *packages):
    """Return which of some files import some packages."""
    return {relative(path) for path in paths if any(is_within(module, *packages) for module in imports(path))}


def test_only_what_starts_a_server_imports_it():
    found = importers(sources("mexica_ai"), "mexica_ai.server", "server")
    assert found <= {"mexica_ai/cli/serve.py", "mexica_ai/web/main.py"}


def test_only_its_command_imports_the_page():
    paths = [*sources("mexica_ai"), *sources("server")]
    others = [path for path in paths if not relative(path).startswith("mexica_ai/web/")]
    assert importers(others, "mexica_ai.web") <= {"mexica_ai/cli/web.py"}
    others = [path for path in others if not relative(path).startswith("server/http/")]
    libraries = ("starlette", "uvicorn", "sse_starlette")
    assert importers(others, *libraries) <= {"mexica_ai/cli/web.py"}
    at_top = imports_at_the_top(ROOT / "mexica_ai/cli/web.py")
    assert not [module for module in at_top if is_within(module, "mexica_ai.web", *libraries)]


def test_only_a_server_with_a_port_for_http_imports_its_door():
    others = [path for path in sources("server") if not relative(path).startswith("server/http/")]

    def is_door(path, module):
        return is_within(module, "mexica_ai.server.http")

    app = [ROOT / "server" / "app.py"]
    assert not broken([path for path in others if path not in app], is_door, imports_at_run_time)
    assert not broken(app, is_door, imports_at_the_top)


def test_the_page_knows_neither_the_compiled_layer_nor_messages():
    assert not importers(sources("mexica_ai/web"), "cext", "grpc", "google", "mexica_ai.v1", "mexica_ai.rpc.wire")


FILES_AND_CLOCKS = ("os", "pathlib", "shutil", "time", "datetime", "threading", "asyncio", "mexica_ai.io.files")


@pytest.mark.parametrize("name", ["table/seats", "table/events", "table/journal", "web/commands", "web/visibility"])
def test_what_can_happen_in_a_game_is_decided_without_files_clocks_or_threads(name):
    for module in imports(ROOT / "mexica_ai" / f"{name}.py"):
        assert not is_within(module, *FILES_AND_CLOCKS, "starlette", "mexica_ai.engines", "mexica_ai.web.store"), module


def test_drawing_knows_nothing_else_of_the_project():
    def is_other(path, module):
        return is_within(module, "mexica_ai", "cext", "server") and not is_within(module, "mexica_ai.draw")

    assert not broken(sources("mexica_ai/draw"), is_other)


def test_what_a_game_is_knows_nothing_that_uses_it():
    above = ("analysis", "arena", "cli", "engines", "env", "rpc", "train", "web", "server", "games")
    assert not importers(sources("mexica_ai/game"), *(f"mexica_ai.{name}" for name in above))


@pytest.mark.parametrize("game", GAMES)
def test_the_picture_of_a_game_needs_neither_a_server_nor_a_page(game):
    for name in ("draw", "entry"):
        for module in imports(ROOT / "mexica_ai" / "games" / game / f"{name}.py"):
            assert not is_within(module, "grpc", "mexica_ai.server", "mexica_ai.rpc.client", "mexica_ai.web"), module


@pytest.mark.parametrize("game", GAMES)
def test_a_game_in_python_is_known_to_no_other_game(game):
    folder = ROOT / "mexica_ai" / "games" / game
    others = [path for path in sources("mexica_ai/games") if folder not in path.parents]
    assert not importers(others, f"cext.games.{game}", f"mexica_ai.games.{game}")


def test_the_server_does_not_import_the_compiled_layer():
    assert not importers(sources("server"), "cext")


SCHEDULING = ("admission", "calls", "fair_semaphore", "result_cache", "runner", "scheduler", "slots", "workers")


@pytest.mark.parametrize("name", SCHEDULING)
def test_what_schedules_calls_knows_neither_grpc_nor_messages(name):
    for module in imports(ROOT / "server" / f"{name}.py"):
        assert not is_within(module, "grpc", "google", "mexica_ai.v1", "mexica_ai.rpc.wire"), module


def words_of(tree):
    """Yield (line, word) for each name, import and string of a syntax tree, but for its docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and ast.get_docstring(node, clean=False) is not None
    }
    for node in ast.walk(tree):
        if id(node) in docstrings:
            continue
        for _, value in ast.iter_fields(node):
            for word in value if isinstance(value, list) else [value]:
                if isinstance(word, (str, bytes)):
                    text = word.decode("latin-1") if isinstance(word, bytes) else word
                    yield getattr(node, "lineno", 0), text


def games_named(text):
    """Return the games that a text names: as words, parts of an identifier, or in CamelCase.

    The package and the command, mexica_ai and mexica-ai, and the error MexicaAIError are no game.
    """
    return {game for game in GAMES if re.search(rf"(?<![A-Za-z])(?i:{game})(?![a-z])(?!(?i:[-_]?ai)(?![a-z]))", text)}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("mexica-ai new --game nim", {"nim"}),
        ("mexica_ai.games.mexica.notation", {"mexica"}),
        ("Mexica: sizes", {"mexica"}),
        ("_adjust_coatl", {"coatl"}),
        ("CoatlOptions", {"coatl"}),
        ("mexica_ai.analysis.limits", set()),
        ("MexicaAIError", set()),
        ("MEXICA_AI_TOKEN", set()),
        ("minimum, nimble, animal", set()),
    ],
)
def test_a_game_is_recognized(text, named):
    assert games_named(text) == named


def test_what_is_searched_for_games():
    source = '"""Nim."""\nimport a.nim\ndef f(b):\n    """Nim."""\n    return f"{b} nim", b.nim  # nim\n'
    tree = ast.parse(source)
    assert [line for line, word in words_of(tree) if games_named(word)] == [2, 5, 5]


def is_neutral(path):
    """Return whether a file is neither the registry nor in a game's folder."""
    is_of_game = path.parts[len(ROOT.parts) :][:2] == ("mexica_ai", "games") and path.parent.name in GAMES
    return not is_of_game and relative(path) != "mexica_ai/game/registry.py"


NEUTRAL = list(filter(is_neutral, [*sources("mexica_ai"), *sources("server"), *sources("cext/core")]))


def may_name_a_game(text):
    """Return whether a text may name a game: a quick look, which finds some that do not, as by "minimum"."""
    text = re.sub("mexica[-_]?ai(?![a-z])", "", text.lower())
    return any(game in text for game in GAMES)


def test_only_the_registry_and_the_games_themselves_name_a_game():
    named = [
        f"{relative(path)}:{line}: {word!r}"
        for path in NEUTRAL
        if may_name_a_game(path.read_text())
        for line, word in words_of(ast.parse(path.read_text()))
        if games_named(word)
    ]
    assert not named, "\n".join(named)


def test_setup_lists_the_compiled_modules_of_every_game():
    text = (ROOT / "setup.py").read_text()
    for game in GAMES:
        assert f'"cext.games.{game}.ops"' in text


@pytest.mark.parametrize("game", GAMES)
def test_both_folders_of_a_game_are_packages(game):
    """Without this file the folder works in the checkout, but no wheel holds it."""
    for folder in ("cext", "mexica_ai"):
        assert (ROOT / folder / "games" / game / "__init__.py").is_file()
