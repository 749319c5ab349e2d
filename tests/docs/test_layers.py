"""The layers of the project import in one direction only, and nothing but a game's own files names a game."""

import ast
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


def python_imports(path, *, types=True):
    """Return (module, whether at the top level) for every import of a Python file, with or without those for types."""
    tree = ast.parse(path.read_text())
    left_out = set() if types else for_types_only(tree)
    name = module_name(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    top = set(map(id, tree.body))
    found = []
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                base = package.split(".")[: len(package.split(".")) - node.level + 1]
                module = ".".join([*base, module]).rstrip(".")
            found += [(f"{module}.{alias.name}", id(node) in top) for alias in node.names]
    return found


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


@pytest.mark.parametrize("path", [*sources("mexica_ai"), *sources("server")], ids=relative)
def test_the_package_imports_only_downwards(path):
    if path.parent == ROOT / "mexica_ai" and path.name.startswith("__"):  # what users import, and the command
        return
    own = place_in(module_name(path), "mexica_ai", PACKAGE)
    for module, _ in python_imports(path, types=False):
        if is_within(module, "mexica_ai", "server") and module != "mexica_ai.__version__":
            place = place_in(module, "mexica_ai", PACKAGE)
            assert place is not None, "the package itself, through which all could be had"
            assert PACKAGE.index(place) <= PACKAGE.index(own), f"{module} is above {own}"


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


@pytest.mark.parametrize("path", sources("cext/core", ".py", ".pyx", ".pxd"), ids=relative)
def test_the_core_imports_only_downwards_and_names_no_game(path):
    text = path.read_text().lower()
    for game in GAMES:
        assert not re.search(rf"\b{game}\b(?!-ai|_ai)", text), f"names the game {game}"
    if path.parent.name == "core":  # the check of what was built
        return
    own = place_in(module_name(path), "cext", COMPILED)
    for module in imports(path):
        assert not is_within(module, "mexica_ai", "server"), module
        if is_within(module, "cext"):
            place = place_in(module, "cext", COMPILED)
            assert COMPILED.index(place) <= COMPILED.index(own), f"{module} is above {own}"


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


@pytest.mark.parametrize("path", sources("cext/games", ".py", ".pyx", ".pxd"), ids=relative)
def test_a_compiled_game_knows_the_lower_core_and_itself(path):
    parts = path.relative_to(ROOT / "cext" / "games").parts
    allowed = [f"cext.{place}" for place in FOR_GAMES] + ([f"cext.games.{parts[0]}"] if len(parts) > 1 else [])
    for module in imports(path):
        if is_within(module, "cext", "mexica_ai", "server"):
            assert is_within(module, *allowed), module


NEED_GRPC = (
    *(
        f"mexica_ai.rpc.{name}"
        for name in ("candidates", "client", "calls", "details", "failures", "fields", "load", "views", "wire")
    ),
    "mexica_ai.engines.grpc",
)


@pytest.mark.parametrize("path", sources("mexica_ai"), ids=relative)
def test_only_the_client_and_the_grpc_engine_need_grpc(path):
    if module_name(path) in NEED_GRPC:
        return
    is_page = relative(path).startswith("mexica_ai/web/")  # a client of the service, which only a command imports
    for module, is_top in python_imports(path):
        assert not is_within(module, "grpc", "grpc_health", "grpc_reflection", "grpc_status", "google"), module
        assert not is_within(module, "mexica_ai.v1"), module
        # Those that need them are imported inside the function that needs them.
        if is_within(module, "mexica_ai.server", *NEED_GRPC):
            assert is_page or not is_top, f"{module} is imported at the top"


@pytest.mark.parametrize("path", sources("mexica_ai"), ids=relative)
def test_only_what_starts_a_server_imports_it(path):
    for module in imports(path):
        if is_within(module, "mexica_ai.server", "server"):
            assert relative(path) in ("mexica_ai/cli/serve.py", "mexica_ai/web/main.py"), module


@pytest.mark.parametrize("path", [*sources("mexica_ai"), *sources("server")], ids=relative)
def test_only_its_command_imports_the_page(path):
    if relative(path).startswith("mexica_ai/web/"):
        return
    for module, is_top in python_imports(path):
        if is_within(module, "mexica_ai.web", "starlette", "uvicorn", "sse_starlette"):
            if relative(path).startswith("server/http/") and not is_within(module, "mexica_ai.web"):
                continue
            assert relative(path) == "mexica_ai/cli/web.py", module
            assert not is_top, f"{module} is imported at the top"


@pytest.mark.parametrize("path", sources("server"), ids=relative)
def test_only_a_server_with_a_port_for_http_imports_its_door(path):
    if relative(path).startswith("server/http/"):
        return
    hidden = {module for module, is_top in python_imports(path, types=False) if not is_top}
    for module in [module for module, _ in python_imports(path, types=False)]:
        if is_within(module, "mexica_ai.server.http"):
            assert relative(path) == "server/app.py", module
            assert module in hidden, f"{module} is imported at the top"


@pytest.mark.parametrize("path", sources("mexica_ai/web"), ids=relative)
def test_the_page_knows_neither_the_compiled_layer_nor_messages(path):
    for module in imports(path):
        assert not is_within(module, "cext", "grpc", "google", "mexica_ai.v1", "mexica_ai.rpc.wire"), module


FILES_AND_CLOCKS = ("os", "pathlib", "shutil", "time", "datetime", "threading", "asyncio", "mexica_ai.io.files")


@pytest.mark.parametrize("name", ["seats", "table", "table_lines", "web/commands", "web/visibility"])
def test_what_can_happen_in_a_game_is_decided_without_files_clocks_or_threads(name):
    for module in imports(ROOT / "mexica_ai" / f"{name}.py"):
        assert not is_within(module, *FILES_AND_CLOCKS, "starlette", "mexica_ai.engines", "mexica_ai.web.store"), module


@pytest.mark.parametrize("path", sources("mexica_ai/draw"), ids=relative)
def test_drawing_knows_nothing_else_of_the_project(path):
    for module in imports(path):
        if is_within(module, "mexica_ai", "cext", "server"):
            assert is_within(module, "mexica_ai.draw"), module


@pytest.mark.parametrize("path", sources("mexica_ai/game"), ids=relative)
def test_what_a_game_is_knows_nothing_that_uses_it(path):
    above = ("analysis", "arena", "cli", "engines", "env", "rpc", "train", "web", "server", "games")
    for module in imports(path):
        assert not is_within(module, *(f"mexica_ai.{name}" for name in above)), module


@pytest.mark.parametrize("game", GAMES)
def test_the_picture_of_a_game_needs_neither_a_server_nor_a_page(game):
    for name in ("draw", "entry"):
        for module in imports(ROOT / "mexica_ai" / "games" / game / f"{name}.py"):
            assert not is_within(module, "grpc", "mexica_ai.server", "mexica_ai.rpc.client", "mexica_ai.web"), module


@pytest.mark.parametrize("path", sources("mexica_ai/games"), ids=relative)
def test_a_game_in_python_knows_no_other_game(path):
    parts = path.relative_to(ROOT / "mexica_ai" / "games").parts
    own = [parts[0]] if len(parts) > 1 else []
    others = [game for game in GAMES if game not in own]
    for module in imports(path):
        assert not is_within(module, *(f"{root}.games.{game}" for root in ("cext", "mexica_ai") for game in others))


@pytest.mark.parametrize("path", sources("server"), ids=relative)
def test_the_server_does_not_import_the_compiled_layer(path):
    for module in imports(path):
        assert not is_within(module, "cext"), module


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


@pytest.mark.parametrize("path", NEUTRAL, ids=relative)
def test_only_the_registry_and_the_games_themselves_name_a_game(path):
    named = [f"line {line}: {word!r}" for line, word in words_of(ast.parse(path.read_text())) if games_named(word)]
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
