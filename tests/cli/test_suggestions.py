"""The command line typed by someone new: misspelt names are told apart from what was meant."""

import json
import re
from pathlib import Path

import pytest

from mexica_ai.cli.main import COMMANDS, main
from mexica_ai.io.suggest import did_you_mean

EXAMPLES = Path(__file__).parents[2] / "examples"
MEXICA, COATL = str(EXAMPLES / "mexica_midgame.json"), str(EXAMPLES / "coatl_midgame.json")


@pytest.fixture
def said(capsys):
    """Run the command line with bad input, and return its one line of error."""

    def run(*args):
        assert main(list(args)) == 2
        found = capsys.readouterr()
        assert found.out == ""
        assert found.err.count("\n") == 1
        return found.err

    return run


@pytest.mark.parametrize(
    ("name", "known", "suggested"),
    [
        ("bset", ["play", "best"], '; did you mean "best"?'),
        ("BEST", ["play", "best"], '; did you mean "best"?'),
        ("time", [], ""),
        ("xyz", ["play", "best"], ""),
        (3, ["3"], ""),
        ("a" * 100_000, ["a"], ""),
    ],
)
def test_a_suggestion(name, known, suggested):
    assert did_you_mean(name, known) == suggested


@pytest.mark.parametrize(
    ("args", "suggested", "see"),
    [
        (["bset"], "best", "mexica-ai --help"),
        (["--verison"], "--version", "mexica-ai --help"),
        (["best", MEXICA, "--lvl", "3"], "--level", "mexica-ai best --help"),
        (["best", "--lvl=3", MEXICA], "--level", "mexica-ai best --help"),
        (["client", "batsh"], "batch", "mexica-ai client --help"),
        (["client", "batch", "--tokn", "x"], "--token-file", "mexica-ai client batch --help"),
        (["arena", "--roudns", "2"], "--rounds", "mexica-ai arena --help"),
        (["arena", "--save", "report"], "--sample", "mexica-ai arena --help"),
        (["new", "--game", "mexcia"], "mexica", "mexica-ai new --help"),
        (["show", MEXICA, "--theme", "drak"], "dark", "mexica-ai show --help"),
        (["help", "bset"], "best", "mexica-ai --help"),
        (["best", MEXICA, "--engine", "mtcs"], "mcts", None),
        (["best", MEXICA, "--engine", "mcts,tme=1"], "time", None),
        (["apply", MEXICA, "fond T7"], "found", None),
        (["apply", MEXICA, "End"], "end", None),
    ],
)
def test_what_was_meant(said, args, suggested, see):
    line = said(*args)
    assert f'did you mean "{suggested}"?' in line
    assert (f"(see `{see}`)" in line) == (see is not None)


def test_keys_of_json(said, tmp_path):
    position = json.loads(Path(MEXICA).read_text())
    position["paces"] = position.pop("phase")
    (tmp_path / "a.json").write_text(json.dumps(position))
    assert 'unknown key "paces"' in said("show", str(tmp_path / "a.json"))
    position["phse"] = position.pop("paces")
    (tmp_path / "a.json").write_text(json.dumps(position))
    assert 'did you mean "phase"?' in said("show", str(tmp_path / "a.json"))


def test_keys_of_a_configuration(said, tmp_path):
    (tmp_path / "arena.toml").write_text('roudns = 2\nengine = ["random", "random"]\n')
    assert 'did you mean "rounds"?' in said("arena", "--config", str(tmp_path / "arena.toml"))


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (["best", MEXICA, "more"], 'error: "more" is more than was expected (see `mexica-ai best --help`)'),
        (["apply", MEXICA], 'TURN is missing; expected actions joined by "; "'),
        (["apply", MEXICA, "end", "--seed", "3"], "--seed: needs --draw, which draws the events"),
        (["levels", "nim", "--player", "Ann"], "--player: needs --records, the games to count"),
        (["apply", MEXICA, "walk T7, walk S7"], '; actions are joined by "; "'),
        (["apply", MEXICA, "canal a1"], "expected the form canal C5 or canal C5-D5, in capitals"),
        (["show", COATL, "--viewer", "3"], "--viewer: given 3; expected a seat from 0 to 1"),
        (
            ["new", "--game", "coatl", "--neutral", "1"],
            "--neutral: an option of mexica; given for coatl, expected only --sacrifice-tokens, --strict-ends",
        ),
    ],
)
def test_errors_say_what_to_type(said, args, line):
    assert line in said(*args)


def test_the_command_alone_prints_the_help(capsys):
    assert main([]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith("usage: mexica-ai ")
    assert all(re.search(rf"^ +{name}\b", found.err, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS), ["client", "batch"], ["arena", "check"]])
def test_help_is_that_of_the_option(capsys, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["help", *command]) == 0
    by_help = capsys.readouterr().out
    assert main([*command, "--help"]) == 0
    assert by_help == capsys.readouterr().out
    assert max(map(len, by_help.splitlines())) <= 80


def test_whatis_finds_the_manual_page(capsys):
    assert main(["man"]) == 0
    page = capsys.readouterr().out.replace("\\-", "-")
    assert ".SH NAME\nmexica-ai - an AI opponent for board games with long turns\n" in page
    assert "Generated" not in page.splitlines()[0]
