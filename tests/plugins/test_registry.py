"""The registry with games of other packages: what it finds, and what it says of packages that cannot be used.

In these tests nim is not built in, so that a package may bring it.
"""

import inspect
import os
import subprocess
import sys

import pytest

import mexica_ai as ai
from mexica_ai import env
from mexica_ai.arena.play import describe_build
from mexica_ai.game import registry

NIM = """
from dataclasses import replace
from mexica_ai.game.contract import Learning, Option, Starts
from mexica_ai.games.nim.game import GAME, notation
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that installs a package with an entry point."""
    built_in = {name: value for name, value in registry.BUILT_IN.items() if name != "nim"}
    monkeypatch.setattr(registry, "BUILT_IN", built_in)
    monkeypatch.syspath_prepend(tmp_path)
    registry._plugins.cache_clear()
    registry._load.cache_clear()

    def install(name, code, game="nim", target="GAME"):
        sys.modules.pop(name, None)  # that of another test
        (tmp_path / f"{name}.py").write_text(code)
        info = tmp_path / f"{name}-1.5.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
        (info / "entry_points.txt").write_text(f"[mexica_ai.games]\n{game} = {name}:{target}\n")

    yield install
    registry._plugins.cache_clear()
    registry._load.cache_clear()


def test_without_packages_there_are_the_games_built_in(package):
    assert registry.names() == tuple(registry.BUILT_IN)
    with pytest.raises(ai.UnknownGameError, match=r'no game "nim"; expected one of coatl, mexica, tzolkin$'):
        registry.get("nim")


def test_a_package_adds_a_game(package):
    package("plug_good", NIM)
    assert registry.names() == (*registry.BUILT_IN, "nim")
    assert registry.get("nim").weights() is None
    assert ai.best_turn(ai.new_game("nim"), iterations=20_000, seed=1).turn == ["take 2 1"]


@pytest.mark.parametrize(
    ("code", "options", "expected"),
    [
        ("import no_such_module", {}, "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise ValueError('broken')", {}, "ValueError: broken"),
        ("raise SystemExit(3)", {}, "SystemExit: 3"),
        ("raise ImportError('compiled for another version of mexica-ai: ...')", {}, "ImportError: compiled for"),
        (NIM, {"target": "NONE"}, "AttributeError: module 'plug_bad' has no attribute 'NONE'"),
        (NIM, {"target": "no entry"}, 'its entry point is "plug_bad:no entry"; expected MODULE:OBJECT'),
        (NIM, {"target": "Option"}, "plug_bad:Option is a Python type; expected a Game, with rules that are compiled"),
        (NIM + "GAME = replace(GAME, rules=3)", {}, "plug_bad:GAME is a Python Game; expected a Game, with rules that"),
        (NIM, {"game": "nimm"}, 'the game is named "nim"; expected "nimm", as its entry point'),
        (NIM + "GAME = replace(GAME, name='nimm')", {"game": "nimm"}, 'its rules is named "nim"; expected "nimm"'),
        (NIM, {"game": "Nim"}, 'its entry point is named "Nim"; expected a word in lower case'),
        (NIM, {"game": "mexica"}, "mexica-ai has a game of this name; expected another name"),
        (
            NIM + "GAME = replace(GAME, starts=Starts(notation.new_state, (Option('pool', list, 'piles'),)))",
            {},
            "its option --pool is one of the game mexica; expected another name",
        ),
        (
            NIM + "GAME = replace(GAME, starts=Starts(notation.new_state, (Option('players', int, 'seats'),)))",
            {},
            "its option --players is one of the command line; expected another name",
        ),
        (
            NIM + "GAME = replace(GAME, starts=Starts(notation.new_state, (Option('deal', int, 'a deal'),)))",
            {},
            "its option deal is one of the environments; expected another name",
        ),
        (
            NIM + "from cext.games.coatl.spec import SPEC\nGAME = replace(GAME, learning=Learning(weights=SPEC))",
            {},
            "its rules have no weights; expected no learning.weights",
        ),
        (NIM + "GAME = replace(GAME, starts=Starts(notation.new_state, 3))", {}, "TypeError: 'int' object is not iter"),
    ],
)
def test_a_package_that_cannot_be_used_is_left_out_and_named(package, code, options, expected):
    package("plug_bad", code, **options)
    with pytest.warns(RuntimeWarning) as caught:
        names = registry.names()
    assert names == tuple(registry.BUILT_IN)
    game = options.get("game", "nim")
    (said,) = [str(warning.message) for warning in caught]
    assert said.startswith(f'game "{game}": the package plug_bad 1.5 cannot be used: {expected}')
    assert ai.new_game("coatl", seed=1).game == "coatl"
    if game not in registry.BUILT_IN:
        with pytest.raises(ai.UnknownGameError) as error:
            registry.get(game)
        assert said.partition(": ")[2] in str(error.value)


def test_no_option_is_a_parameter_of_an_environment():
    functions = (env.single, env.aec, env.vector)
    parameters = {name for function in functions for name in inspect.signature(function).parameters}
    assert parameters - {"game", "players", "seed", "options"} <= set(registry._PARAMETERS)


def test_two_packages_with_one_game_are_both_left_out_and_a_third_one_goes_on(package, monkeypatch):
    monkeypatch.setattr(registry, "BUILT_IN", {"mexica": registry.BUILT_IN["mexica"]})
    package("plug_one", NIM)
    package("plug_two", NIM)
    package("plug_three", "from mexica_ai.games.coatl.game import GAME", game="coatl")
    expected = r'"nim": the package plug_one 1.5 and plug_two 1.5 cannot be used: each has a game "nim"; expected one'
    with pytest.warns(RuntimeWarning, match=expected):
        assert registry.names() == ("mexica", "coatl")


def test_a_game_with_weights_brings_their_layout(package, monkeypatch):
    monkeypatch.setattr(registry, "BUILT_IN", {"mexica": registry.BUILT_IN["mexica"]})
    code = "from dataclasses import replace\nfrom mexica_ai.game.contract import Learning\n"
    code += "from mexica_ai.games.coatl.game import GAME\nGAME = replace(GAME, learning=Learning())"
    package("plug_bad", code, "coatl")
    expected = "the package plug_bad 1.5 cannot be used: its rules have weights; expected learning.weights"
    with pytest.warns(RuntimeWarning, match=expected):
        assert registry.names() == ("mexica",)


def test_a_package_without_metadata_is_named_by_its_entry_point(package, tmp_path):
    package("plug_bad", "raise ValueError('broken')")
    (tmp_path / "plug_bad-1.5.dist-info" / "METADATA").unlink()
    with pytest.warns(RuntimeWarning, match='the package of "plug_bad:GAME" cannot be used: ValueError: broken'):
        registry.names()


@pytest.mark.real("processes")
def test_a_command_says_once_and_in_one_line_why_a_game_is_missing(package, tmp_path):
    package("plug_bad", "import no_such_module", game="foo")
    command = [sys.executable, "-P", "-m", "mexica_ai", "new", "--game", "foo"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    cause = "the package plug_bad 1.5 cannot be used: ModuleNotFoundError: No module named 'no_such_module'"
    assert done.stderr.splitlines() == [
        f'mexica-ai: warning: game "foo": {cause}',
        f'mexica-ai: error: argument --game: no game "foo": {cause} (see `mexica-ai new --help`)',
    ]
    assert (done.returncode, done.stdout) == (2, "")


def test_the_build_of_a_record_covers_the_package_of_the_game(package, tmp_path):
    code = "import functools\n" + NIM
    code += "GAME = replace(GAME, starts=Starts(functools.partial(notation.new_state)))\n"
    package("plug_code", code)
    describe_build.cache_clear()
    try:
        before = describe_build("nim")
        assert before != describe_build("mexica")
        (tmp_path / "plug_code.py").write_text(code + "# changed\n")
        describe_build.cache_clear()
        assert describe_build("nim") != before
    finally:
        describe_build.cache_clear()
