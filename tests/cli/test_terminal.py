"""What depends on the terminal: width, colours, characters, and progress."""

import io
import os
import pathlib
import pty
import re
import subprocess
import sys
import sysconfig

import pytest

import mexica_ai as ai
from mexica_ai.analysis.results import Candidate
from mexica_ai.cli import common, report
from mexica_ai.cli.main import main
from mexica_ai.io import terminal

ROOT = pathlib.Path(__file__).parents[2]
COMMAND = pathlib.Path(sysconfig.get_path("scripts")) / "mexica-ai"
MIDGAME = ROOT / "examples" / "mexica_midgame.json"
TURN = ["canal P7-Q7", "canal Q8-Q9", "temple 2 U6", "walk T7", "walk S7", "found 12 O5", "temple 1 P5", "end"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def candidate(visits, value, turn=TURN):
    return Candidate(turn, visits, [value, 1 - value], [1.0, 2.0], 0.1, [])


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_turns_go_on_below_and_are_whole(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = report.format_candidates([candidate(40, 0.5), candidate(3, 0.4, ["end"])])
    assert max(map(len, lines)) <= columns
    text = " ".join(" ".join(lines).split())
    assert "; ".join(TURN) in text
    assert "..." not in text


def test_a_narrow_terminal_loses_no_figure_of_an_analysis(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["analyze", str(MIDGAME), "--iterations", "200", "--seed", "1"]) == 0
    shown = " ".join(re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", screen.getvalue()).split())
    assert "\N{HORIZONTAL ELLIPSIS}" not in shown
    assert re.search(r"200 iterations in \S+ s \(\S+/s\), \d+ nodes, \d+ distinct turns; ended by", shown)


@pytest.mark.parametrize("columns", [40, 80])
def test_a_line_is_broken_between_actions(columns):
    lines = terminal.wrap_turn(TURN, columns, "first: ", "  ")
    assert max(map(len, lines)) <= columns
    assert "; ".join(line.strip().rstrip(";") for line in lines) == "first: " + "; ".join(TURN)
    assert all(line.endswith(";") for line in lines[:-1])
    assert terminal.wrap_turn([], 80, "none: ") == ["none:"]


@pytest.mark.real("processes")
@pytest.mark.parametrize("command", ["best", "annotate", "arena"])
def test_nothing_is_wider_than_the_terminal(command, tmp_path):
    args = {
        "best": ["best", MIDGAME, "--iterations", "60"],
        "annotate": ["annotate", ROOT / "examples/mexica_game.jsonl", "--iterations", "10", "--turns", "11-13"],
        "arena": ["arena", "--game", "nim", "--engine", "random", "--engine", "greedy", "--blocks", "2"],
    }[command]
    env = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run([COMMAND, *args], capture_output=True, text=True, env=env, check=True, cwd=tmp_path)
    assert max(map(len, done.stdout.splitlines())) <= 80
    if command == "arena":
        assert len(re.findall("^engine ", done.stdout, re.MULTILINE)) >= 2  # folded
        assert "iterations/turn" in done.stdout


def test_colours_are_for_terminals_only(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    text = "▲3 (●) △2 seat 3, ■ seat 2 and ▲ seat 0; 3 seats"
    painted = terminal.paint(text, Terminal())
    assert re.sub(r"\x1b\[[0-9]+m", "", painted) == text
    assert len(set(re.findall(r"\x1b\[([0-9]+)m", painted)) - {"0"}) == 4
    assert terminal.paint(text, io.StringIO()) == text
    for name, value in (("TERM", "dumb"), ("NO_COLOR", "1")):
        with monkeypatch.context() as context:
            context.setenv(name, value)
            assert terminal.paint(text, Terminal()) == text


@pytest.mark.real("processes")
@pytest.mark.parametrize(("no_color", "is_painted"), [("", True), ("1", False)])
def test_a_board_in_a_terminal(no_color, is_painted):
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "NO_COLOR": no_color}
    process = subprocess.Popen([COMMAND, "show", MIDGAME], stdout=theirs, env=env)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # the terminal is closed
        pass
    os.close(ours)
    assert process.wait(60) == 0
    assert (b"\x1b[" in shown) == is_painted
    assert "(●)" in re.sub(r"\x1b\[[0-9]+m", "", shown.decode())


@pytest.mark.real("processes")
@pytest.mark.parametrize(
    ("args", "words", "doing"),
    [
        (["replay", "examples/mexica_game.jsonl"], "winner: seat 1; 58 turns", "replaying"),
        (["annotate", "examples/mexica_game.jsonl", "--iterations", "5", "--turns", "5"], "loss", "annotating"),
    ],
)
def test_progress_on_a_terminal_leaves_the_results_to_standard_output(args, words, doing):
    ours, theirs = pty.openpty()
    done = subprocess.run([COMMAND, *args], stdout=subprocess.PIPE, stderr=theirs, cwd=ROOT, timeout=60)
    os.close(theirs)
    progress = os.read(ours, 65536).decode()
    os.close(ours)
    assert done.returncode == 0
    assert words in done.stdout.decode()
    assert words not in progress
    assert doing in progress


@pytest.mark.parametrize("game", ["coatl", "mexica", "nim", "tzolkin"])
def test_boards_in_ascii_keep_their_shape(game):
    position = ai.new_game(game, players=2, seed=3)
    text = terminal.plain(str(position))
    assert text.isascii()
    assert "?" not in text or "?" in str(position)
    assert list(map(len, text.splitlines())) == list(map(len, str(position).splitlines()))


@pytest.mark.real("processes")
def test_seats_canals_and_bridges_stay_apart_in_ascii():
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for args in ([], ["--format", "ascii"]):
        done = subprocess.run([COMMAND, "show", MIDGAME, *args], capture_output=True, env=env, check=True)
        board = done.stdout.decode("ascii")
        for mark in ("~~~", "===", "| |", "B1", "C1", "A2", "(B)", "#12" if "#12" in board else "#9"):
            assert mark in board
        assert "?" not in board


def test_why_visits_decide():
    assert report.explain_choice([candidate(40, 0.5), candidate(30, 0.4)], 0) == ""
    assert report.explain_choice([candidate(40, 0.5), candidate(50, 0.9)], 0) == ""  # chosen by a level
    why = report.explain_choice([candidate(40, 0.5), candidate(30, 0.6)], 0)
    assert "Number 2" in why
    assert "0.600 to 0.500" in why
    assert "40 to 30" in why
    assert report.explain_choice([candidate(40, 0.5), candidate(30, 0.6)], 1) == ""
    assert report.explain_choice([Candidate(TURN, 0, [], [], 0.0, [])], 0) == ""  # of a program


def test_off_a_terminal_progress_is_a_line_now_and_then(monkeypatch, capsys):
    now = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    with common.Progress("working") as progress:
        for done in range(100):
            progress.count("working", done, 200)
            now[0] += 1
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "mexica-ai: working, 30 s, about 2 min left",
        "mexica-ai: working, 1 min, about 1 min left",
    ]


def test_the_time_left_counts_what_was_done_in_this_run(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    pace = terminal.Pace()
    assert pace.describe(50, 100) == "0 s"
    now[0] = 10.0
    assert pace.describe(60, 100) == "10 s, about 40 s left"
    assert terminal.format_duration(3725) == "1 h 2 min"


def test_each_task_has_a_time_left_of_its_own(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    pace = terminal.Pace()
    # Half an hour of games, walks that are all there, and two networks.
    for seconds, done, total, text in (
        (0.0, 0, 4000, "0 s"),
        (1800.0, 4000, 4000, "30 min, about 0 s left"),
        (1800.0, 2500, 2500, "0 s"),
        (1800.0, 0, 40, "0 s"),
        (1810.0, 10, 40, "10 s, about 30 s left"),
        (1840.0, 40, 40, "40 s, about 0 s left"),
        (1841.0, 1, 40, "0 s"),
        (1843.0, 3, 40, "2 s, about 37 s left"),
    ):
        now[0] = seconds
        assert pace.describe(done, total) == text


def test_tables_of_the_arena_repeat_the_engine(monkeypatch):
    from mexica_ai.arena.tables import folded

    rows = [["engine", "one", "two"], ["a", "1" * 20, "2" * 20]]
    assert len(folded(rows, 1, None)) == 2
    assert [line.split() for line in folded(rows, 1, 40)] == [
        ["engine", "one"],
        ["a", "1" * 20],
        [],
        ["engine", "two"],
        ["a", "2" * 20],
    ]
