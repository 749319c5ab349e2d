"""Texts of programs, servers, files and names of files cannot steer the terminal, forge lines or flood it."""

import ast
import contextlib
import dataclasses
import io
import json
import re
import sys
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import pytest
from nim_game import NIM, RECORD
from rich.console import Console

import mexica_ai as ai
from mexica_ai import Position
from mexica_ai.arena.display import Display
from mexica_ai.arena.tournament import Tournament
from mexica_ai.cli import analyze, best
from mexica_ai.cli.main import main
from mexica_ai.engines import process
from mexica_ai.game.move_writer import format_moves
from mexica_ai.game.records import parse_record
from mexica_ai.io import terminal
from mexica_ai.io.errors import SearchError, Violation

ROOT = Path(__file__).parents[2]
# Escapes of both kinds, a bell, texts turned around, ends of lines of all kinds, invisible characters, lone surrogates.
EVIL = "\x1b]0;t\x07\x1b[2J\x9b31m\x85\u202e\u2066\u2028\u200b\x7f\x08\udcff\r\nforged: line\n\tforged: line"
IN_JSON = EVIL.replace("\udcff", "")  # half a surrogate pair is refused there
LONG = "x" * 500_000


@pytest.fixture
def shown(capsys, monkeypatch):
    """Return what was printed on both streams since the last call, if a terminal can be given it."""

    monkeypatch.setenv("COLUMNS", "100000")  # nothing is folded: all lines are those of the program

    def take(*, mentions="forged", longest=5000):
        found = capsys.readouterr()
        for text in found:
            assert [char for char in text if not (char.isprintable() or char == "\n")] == []
            assert not [line for line in text.split("\n") if line.lstrip().startswith("forged")]
            assert max(len(line) for line in text.split("\n") if line[:1] not in ("{", "[")) <= longest
        assert mentions in found.out + found.err
        return found

    return take


def result(text):
    """Return a result whose texts are all `text`, as a program may answer it."""
    info = {"stop_reason": text, "weights": text, "iterations": 3, "value": [0.5, 0.5], "expected_scores": [0, 1]}
    one = {"turn": ["take 1 1"], "visits": 3, "value": [0.5, 0.5], "expected_scores": [0, 1], "prior": 1.0}
    others = {**one, "turn": [text, text]}
    info["candidates"] = [{**one, "line": [[text], [text, text]]}, {**others, "line": []}]
    return process._result(["take 1 1"], info, 5, 1.0, "settled", 1)


def test_escape():
    assert terminal.escape("plain ▲ ä") == "plain ▲ ä"
    assert terminal.escape("a\x1b[2J\nb\x9b\u202e\ud800") == r"a\x1b[2J\nb\x9b\u202e\ud800"
    assert terminal.shorten(" a\n b\x07 ") == r"a b\x07"
    assert terminal.shorten(LONG) == "x" * 197 + "..."
    assert len(terminal.shorten(EVIL * 1000)) == 200
    assert terminal.shorten(" " * 5000 + "why" + "\n" * 5000 + "not") == "why not"
    assert terminal.shorten("x" * 150 + " " * 5000 + "y" * 100) == "x" * 150 + " " + "y" * 46 + "..."


def test_spaces_of_all_languages_are_spaces():
    spaces = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Zs"]
    names = [f"Ann{space}B" for space in spaces]
    assert [terminal.escape(name) for name in names] == names
    for name in names:
        record = ai.make_record(ai.new_game("nim", piles=[1]), engines=[name, "x"])
        assert parse_record(format_moves(record))["engines"] == [name, "x"]


@pytest.mark.parametrize("text", [EVIL, EVIL * 100], ids=["evil", "long"])
def test_results(shown, text):
    position = Position.from_json(NIM)
    best.print_result(result(text), position, is_json=False)
    shown()
    best.print_result(result(text), position, is_json=True)
    shown()
    analyze.print_results(iter([result(text)]), position, is_json=False)
    shown()


def test_long_results(shown):
    best.print_result(dataclasses.replace(result("x"), stop_reason=LONG), Position.from_json(NIM), is_json=False)
    assert len(shown(mentions="xxx").out) < 2000


@pytest.mark.parametrize("text", [EVIL, LONG], ids=["evil", "long"])
def test_errors_of_engines(shown, place, monkeypatch, text):
    def fail(*args, **options):
        raise SearchError(f"engine x reports: {text}", reason="ENGINE_ERROR")

    monkeypatch.setattr("mexica_ai.engines.native.MctsEngine._best_turn", fail)
    assert main(["best", "nim.json"]) == 1
    shown(mentions="engine x reports")
    monkeypatch.setattr("sys.stdin", io.StringIO("hint\nquit\n"))
    assert main(["play", "nim.json", "--record", "kept.json"]) == 0
    shown(mentions="no: engine x reports")


def test_records(shown, place):
    record = RECORD | {"engines": [IN_JSON, LONG], "build": IN_JSON, "comment": IN_JSON, "started_at": IN_JSON}
    path = place / f"{EVIL[:20]}.json".replace("/", "")
    path.write_text(json.dumps(record))
    assert main(["annotate", str(path), "--iterations", "5"]) == 0
    shown()
    for command in (["replay"], ["show", "--turn", "1"], ["validate"], ["legal"], ["best"]):
        main([*command[:1], str(path), *command[1:]])
        shown(mentions="")
    path.write_text(json.dumps(record | {"turns": [[IN_JSON]]}))
    assert main(["replay", str(path)]) == 2
    shown(mentions="turn 0")
    assert main(["annotate", str(path), "--iterations", "5"]) == 2
    shown(mentions="turns[0]")
    path.write_text(json.dumps(record | {"game": IN_JSON}))
    assert main(["replay", str(path)]) == 2
    shown(mentions="$.game")


def test_names_of_files_and_games(shown, place):
    for command in ("show", "replay", "validate", "arena report", "serve --config", "client legal"):
        assert main([*command.split(), EVIL]) == 2
        shown(mentions="cannot read")
    for command in ("new --game", "best x --engine", "", "arena --engine"):
        assert main([*command.split(), EVIL]) == 2
        shown(mentions="error: ")


@pytest.fixture
def games(tmp_path_factory, in_process):
    path = tmp_path_factory.mktemp("journal") / "games.jsonl"
    command = f"arena --game nim --engine greedy --engine random --iterations 1 --blocks 2 --journal {path}"
    assert main(command.split()) == 0
    return [json.loads(line) for line in path.read_text().splitlines()]


def spoil(game, text):
    """Return a game of a journal whose names, builds, weights and failures are `text`."""
    game = json.loads(json.dumps(game))
    tournament = game["arena"]["tournament"]
    tournament["names"] = [f"a{text}", f"b{text}"]
    tournament["weights"] = [text, None]
    game |= {"build": f"{text}{game['arena']['number']}", "engines": [text, text], "started_at": text}
    game["arena"].pop("searches", None)
    game["arena"]["failures"] = [{"seat": 0, "reason": text, "detail": text, "turn": 0, "position": NIM}]
    game |= {"termination": "forfeit", "scores": None, "winners": [1]}
    return game | {"forfeit": {"seat": 0, "reason": text, "detail": text}, "turns": []}


@pytest.mark.parametrize("text", [IN_JSON, "x" * 100_000], ids=["evil", "long"])
def test_journals(shown, place, games, text):
    (place / "games.jsonl").write_text("".join(json.dumps(spoil(game, text)) + "\n" for game in games))
    for form, longest in (("table", 5000), ("csv", 10**6)):  # programs read CSV
        assert main(["arena", "report", "games.jsonl", "--format", form]) == 5
        shown(mentions="", longest=longest)
    assert main(["arena", "report", "games.jsonl", "--format", "json"]) == 5
    assert main(["arena", "report", "games.jsonl", "--text", "texts"]) == 5
    for path in (place / "texts").iterdir():
        lines = path.read_text().split("\n")
        assert all(map(str.isprintable, lines))
        assert not [line for line in lines if line.startswith("forged")]


@pytest.mark.parametrize("is_terminal", [False, True])
def test_the_display_of_a_tournament(games, is_terminal):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=is_terminal, color_system=None, width=300)
    spoilt = [spoil(game, EVIL) for game in games]
    tournament = Tournament.from_json(spoilt[0]["arena"]["tournament"])
    progress = SimpleNamespace(
        tournament=tournament, records=spoilt, num_games=4, games_per_hour=1.0, session_games=4, ended_by="blocks"
    )
    with Display(console, None) as display:
        display.show(progress)
    found = screen.getvalue()
    for char in EVIL.replace("\x1b", "").replace("\r", "").replace("\n", ""):  # those that the display uses itself
        assert char.isprintable() or char not in found
    assert "\x1b]0" not in found
    assert "\x1b[2J\x9b" not in found
    assert not [line for line in found.split("\n") if line.startswith("forged")]


def test_the_checks_of_a_program(shown, monkeypatch):
    finding = SimpleNamespace(status="FAILED", name="greets", detail=EVIL)
    monkeypatch.setattr("mexica_ai.arena.check.check_program", lambda *args, **options: [finding])
    assert main(["arena", "check", "cmd:x"]) == 1
    shown()


@dataclasses.dataclass
class Server:
    """A client of a server that answers what it likes."""

    text: str

    def best_turn(self, position, **options):
        return result(self.text)

    def legal_actions(self, position):
        return [self.text, self.text]

    def validate_position(self, data):
        return [Violation("$", self.text, self.text)]

    def list_games(self):
        return [{"name": self.text, "min_players": 2, "max_players": 4, "rules_version": self.text}]

    def engine_info(self):
        return {
            "engine_version": self.text,
            "slots": 1,
            "weights": [{"game": self.text, "version": self.text, "name": self.text}],
            "lowest_level": 1,
            "highest_level": 10,
            "default_time_s": 1,
            "levels": [{"game": self.text, "level": 1, "rank": self.text, "rating": 1.0}],
            "caps": {self.text: 1.0},
            "search_options": [{"name": self.text, "min": 0.0, "max": 1.0}],
        }

    def new_game(self, game, **options):
        raise SearchError(f"server {self.text}: UNAVAILABLE: {self.text}", reason="UNAVAILABLE")


@pytest.mark.parametrize("text", [EVIL, "x" * 3000], ids=["evil", "long"])
@pytest.mark.parametrize(
    "command",
    ["best nim.json", "legal nim.json", "validate nim.json", "games", "info", "new", "games --json", "info --json"],
)
def test_answers_of_servers(shown, place, monkeypatch, command, text):
    monkeypatch.setattr("mexica_ai.cli.client._connected", lambda args: contextlib.nullcontext(Server(text)))
    main(["client", *command.split()])
    shown(mentions="" if "json" in command or text != EVIL else "forged")


def test_lines_of_progress(shown):
    lines = terminal.Lines()
    lines._next_s = 0.0
    lines.show(f"seat 0 ({EVIL}) thinks")
    shown()


def prints(text):
    """Yield what the source of a module prints: by `print`, a method of that name, or `write` of a standard stream."""
    if "print" not in text and "write" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in ("print", "write", "writelines") and re.fullmatch(
            r"(.+\.)?print|((.*\.)?(stdout|stderr)(\.buffer)?|terminal)\.write(lines)?", ast.unparse(node.func)
        ):
            yield ", ".join(map(ast.unparse, node.args))


def test_what_the_guard_sees():
    source = "print()\nprint(a, b)\nsys.stdout.write(c)\nself._console.print(d)\nstderr.buffer.write(e)\n"
    source += "terminal.write(f)\nfile.write(g)"
    assert list(prints(source)) == ["", "a, b", "c", "d", "e", "f"]


OWN = {
    "mexica_ai/cli/man.py": {"page"},
    "mexica_ai/cli/completion.py": {"shtab.complete(args.whole_parser(), args.shell)"},
    "mexica_ai/arena/display.py": {"Text(f'mexica-ai: {shorten(text, MAX_MESSAGE)}')"},
    "mexica_ai/cli/play.py": {"_CLEAR"},
    "mexica_ai/cli/picture.py": {r"picture + '\n'"},  # SVG
    "mexica_ai/cli/convert.py": {"content"},  # JSON, and move texts: their writer escapes what they hold
    "mexica_ai/cli/show.py": {"position.to_compact()"},
    "mexica_ai/cli/serve.py": {"to_toml(config)"},
    "mexica_ai/cli/arena.py": {"text"},  # JSON or CSV
    "mexica_ai/cli/arena_ladder.py": {"text"},  # JSON or CSV
    "mexica_ai/cli/analyze.py": {
        "side_by_side.result_json(found[-1])",
        "side_by_side.comparison_json(searched, position)",
    },
    "mexica_ai/web/main.py": {"url"},
    "server/main.py": {"f'listening on {server.address}'", "f'HTTP on {server.http_address}'"},
}


SOURCES = sorted(path for folder in ("mexica_ai", "server") for path in (ROOT / folder).rglob("*.py"))


def test_whatever_is_no_json_is_printed_by_one_function():
    found = {path.relative_to(ROOT).as_posix(): set(prints(path.read_text())) for path in SOURCES}
    others = {
        f"{name}: {text}"
        for name, texts in found.items()
        for text in texts - OWN.get(name, set())
        if not text.startswith("json.dumps(")
        and name != "mexica_ai/io/terminal.py"
        and not name.startswith("mexica_ai/v1/")
    }
    assert not others
