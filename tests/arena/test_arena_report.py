"""Errors of `mexica-ai arena` before the first game, its output, and its reports on journals."""

import csv
import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import mexica_ai.arena.runner
from mexica_ai.arena import tables
from mexica_ai.arena.report import Collected, evaluate, format_report
from mexica_ai.arena.searches import Search, comment_of
from mexica_ai.cli import arena, arena_options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_process")]

NIM = ["--game", "nim", "--engine", "greedy", "--engine", "random", "--iterations", "1"]


@pytest.fixture
def no_play(monkeypatch):
    """Make it an error to play."""

    def run(*args, **options):
        raise AssertionError("has played")

    monkeypatch.setattr(mexica_ai.arena.runner, "run", run)


# Errors before the first game.


@pytest.mark.parametrize(
    ("args", "mentions"),
    [
        (["--players", "3", "--sprt", "0.3,0.7,0.05,0.05"], "a block gives at most 0.666667 a seat"),
        (["--players", "4", "--sprt", "0.3,0.5,0.05,0.05"], "a block gives at most 0.5 a seat"),
        (["--sprt=-1000000,0,0.05,0.05"], "both from -2000 to 2000"),
        (["--sprt", "0,2001,0.05,0.05"], "both from -2000 to 2000"),
        (["--sprt", "-1e400,0,0.05,0.05"], "four numbers"),
        (["--plot", "x.doc"], "ends in one of"),
        (["--plot", "no-such-folder/x.svg"], "there is no folder 'no-such-folder'"),
        (["--clock", "60+"], "such as 60+0.5"),
        (["--clock", "60+."], "such as 60+0.5"),
        (["--margin", "-1"], "a number of seconds from 0"),
    ],
)
def test_bad_input_is_refused_before_the_first_game(cli, no_play, args, mentions):
    assert cli(*NIM, *args) == 2
    assert mentions in cli.err
    assert len(cli.err.splitlines()) == 1


def test_a_picture_needs_a_place(cli, no_play, tmp_path):
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "file").touch()
    for path in (tmp_path / "folder.svg", tmp_path / "file" / "x.svg"):
        assert cli(*NIM, "--plot", path) == 2
        assert "folder" in cli.err


def test_clocks():
    clocks = {"60": (60, 0), "60+0": (60, 0), "60+.0": (60, 0), "60+0.0": (60, 0), "1+.5": (1, 0.5)}
    assert {text: arena_options._clock(text) for text in clocks} == clocks
    assert {text: arena_options._margin(text) for text in ("0", "0.0", "2")} == {"0": 0, "0.0": 0, "2": 2}


def test_the_elo_of_a_sequential_test_may_be_negative(cli, tmp_path):
    journal = tmp_path / "games.jsonl"
    for given in (["--sprt", "-5,0,0.05,0.05"], ["--sprt=-5,0,0.05,0.05"], ["--sprt", "-.5,-.1,0.05,0.05"]):
        assert cli(*NIM, "--blocks", 1, *given, "--journal", journal, "--resume") == 4, cli.err
        assert cli("report", journal, *given) == 0
        assert "SPRT: no decision yet" in cli.out


@pytest.mark.real("processes")
def test_an_engine_that_cannot_be_started_ends_it_before_the_first_game(cli, no_play, tmp_path):
    journal = tmp_path / "games.jsonl"
    assert cli(*NIM, "--engine", "cmd:./no-such-program", "--journal", journal) == 1
    assert "no-such-program" in cli.err
    assert len(cli.err.splitlines()) == 1
    assert not journal.exists()


# Exit codes and notes


def test_a_decision_counts_though_games_were_lost():
    def code(decision, lost, **forfeits):
        progress = SimpleNamespace(ended_by="", lost=lost, records=[], num_games=2)
        found = {"rests_on_forfeits": False, "blocks_dropped": 0, "blocks": 1, **forfeits}
        return arena._exit_code(progress, {"sprt": {"decision": decision}, **found})

    assert [code(decision, ["a game"]) for decision in ("H1", "H0", None)] == [0, 3, 1]
    assert [code(decision, []) for decision in ("H1", "H0", None)] == [0, 3, 4]
    # Whatever rests on forfeits says so.
    assert [code(decision, [], rests_on_forfeits=True) for decision in ("H1", "H0", None)] == [5, 5, 5]
    assert [code("H1", [], blocks_dropped=3), code("H1", [], blocks_dropped=3, blocks=0)] == [0, 5]


@pytest.mark.real("processes")
def test_forfeits_are_noted(cli, tmp_path):
    program = f"{sys.executable} {Path(__file__).parents[1] / 'nim_engine.py'} illegal"
    args = ["--game", "nim", "--engine", "greedy", "--engine", f'cmd:"{program}"', "--time", 1]
    assert cli(*args, "--blocks", 1, "--journal", tmp_path / "games.jsonl") == 5
    first, last = cli.err.splitlines()  # the first reason at once
    assert first.startswith(f'mexica-ai: first failure of cmd:"{program}" (block 0, game ')
    assert "turn 0): illegal turn: engine" in first or "turn 1): illegal turn: engine" in first
    assert last == "mexica-ai: 2 of 2 games were forfeited; the journal says why"
    assert f'first failure of cmd:"{program}" (block 0' in " ".join(cli.out.split())
    assert cli("report", tmp_path / "games.jsonl", "--format", "json") == 5
    failures = [engine["first_failure"] for engine in json.loads(cli.out)["engines"]]
    assert failures[0] is None
    assert failures[1]["reason"] == "illegal turn"
    assert cli("report", tmp_path / "games.jsonl", "--format", "csv") == 5
    rows = list(csv.DictReader(cli.out.splitlines()))
    assert [(row["first_failure"], row["caution"]) for row in rows] == [("", "forfeits"), ("illegal turn", "forfeits")]


def test_texts_of_csv_are_whole():
    name = "cmd:" + "x  y" * 100 + "\x1b[2J"
    found = {"engines": [{"name": name, "first_failure": None}]}
    (row,) = csv.DictReader(format_report(found, "csv").splitlines())
    assert row["name"] == name.replace("\x1b", "\\x1b")


# Few games, and ratings


def test_one_block_and_half_a_block_are_told_without_false_precision(cli, tmp_path):
    journal = tmp_path / "games.jsonl"
    strong = ["--game", "nim", "--engine", "mcts,iterations=300", "--engine", "random,iterations=1", "--reproducible"]
    assert cli(*strong, "--blocks", 1, "--journal", journal) == 0
    assert "only one block" in cli.out
    rows = {line.split()[0]: line for line in cli.out.splitlines() if line.startswith(("mcts", "random"))}
    assert "50.0%" not in cli.out
    assert "[" not in rows["mcts,iterations=300"]
    assert cli("report", journal, "--format", "json") == 0
    assert [engine["superiority"] for engine in json.loads(cli.out)["engines"]] == [None, None]
    journal.write_text(journal.read_text().splitlines()[0] + "\n")
    assert cli("report", journal) == 0
    assert "no block is complete: these are counts" in cli.out
    cells = [line.split() for line in cli.out.splitlines() if " of 1 " in line]
    assert [cell[1] + cell[3] + cell[4] for cell in cells] == ["1of1"] * 2
    assert sorted(cell[2] for cell in cells) == ["0", "1"]


def test_ratings_are_counted_from_an_anchor(cli, tmp_path):
    journal = tmp_path / "games.jsonl"
    args = [*NIM, "--engine", "uct,iterations=20,name=uct", "--blocks", 3, "--journal", journal, "--format", "json"]
    assert cli(*args) == 0
    free = {engine["name"]: engine["rating"] for engine in json.loads(cli.out)["engines"]}
    assert cli("report", journal, "--format", "json", "--anchor", "uct=1500") == 0
    found = json.loads(cli.out)
    assert found["anchor"] == {"name": "uct", "rating": 1500}
    anchored = {engine["name"]: engine["rating"] for engine in found["engines"]}
    assert anchored["uct"] == [1500, 1500, 1500]
    for name, rating in free.items():
        assert anchored[name][0] - 1500 == pytest.approx(rating[0] - free["uct"][0], abs=1e-3)
    assert cli("report", journal, "--anchor", "uct=1500") == 0
    assert "ratings: uct is set to 1500" in cli.out
    assert cli("report", journal, "--anchor", "utc=1500") == 2
    assert 'given the engine "utc"; expected one of' in cli.err
    assert cli(*NIM, "--anchor", "uct") == 2
    assert "such as uct=1500" in cli.err
    # Two engines have a rating with an anchor alone.
    assert cli(*NIM, "--blocks", 2, "--anchor", "random=0", "--format", "json") == 0
    assert [engine["rating"][0] for engine in json.loads(cli.out)["engines"]][1] == 0


# Reports


def test_options_before_the_word_report_hold(cli, tmp_path):
    journal = tmp_path / "games.jsonl"
    assert cli(*NIM, "--blocks", 1, "--journal", journal) == 0
    assert cli("--format", "json", "report", journal) == 0
    assert json.loads(cli.out)["games"] == 2
    assert cli("--format", "json", "report", journal, "--format", "csv") == 0
    assert cli.out.startswith("name,")
    assert cli("--sprt", "0,5,0.05,0.05", "report", journal) == 0
    assert "SPRT" in cli.out
    assert cli("report", journal) == 0
    assert cli.out.startswith("nim, 2 seats")
    assert "SPRT" not in cli.out


def test_a_picture_of_no_games(cli, tmp_path):
    (tmp_path / "empty.jsonl").touch()
    assert cli("report", tmp_path / "empty.jsonl", "--plot", tmp_path / "x.svg") == 0
    assert (cli.out, cli.err) == ("no games\n", "")
    assert (tmp_path / "x.svg").stat().st_size > 1000
    # Nothing complete either.
    assert cli(*NIM, "--blocks", 1, "--journal", tmp_path / "games.jsonl") == 0
    (tmp_path / "half.jsonl").write_text((tmp_path / "games.jsonl").read_text().splitlines()[0] + "\n")
    assert cli("report", tmp_path / "half.jsonl", "--plot", tmp_path / "x.svg") == 0
    assert "no block is complete" in cli.out


def test_a_sequential_test_of_journals_needs_the_same_two_engines(cli, tmp_path):
    journals = [tmp_path / f"{number}.jsonl" for number in range(3)]
    assert cli(*NIM, "--blocks", 2, "--journal", journals[0]) == 0
    assert cli(*NIM, "--blocks", 2, "--seed", 2, "--journal", journals[1]) == 0
    others = ["--game", "nim", "--engine", "greedy", "--engine", "random,iterations=2", "--iterations", "1"]
    assert cli(*others, "--blocks", 2, "--journal", journals[2]) == 0
    assert cli("report", *journals[:2], "--sprt", "0,5,0.05,0.05") == 0
    assert "after 4 blocks" in cli.out
    assert cli("report", *journals, "--sprt", "0,5,0.05,0.05") == 2
    assert "--sprt compares two engines; there are 3 in all" in cli.err
    assert cli("report", *journals) == 0


def test_with_two_seats_each_pair_has_its_elo(cli):
    args = [*NIM, "--engine", "uct,iterations=20", "--blocks", 5]
    assert cli(*args, "--format", "json") == 0
    found = json.loads(cli.out)
    assert list(found["patterns"]) == ["AB", "AC", "BC"]
    for first, second in found["patterns"].values():
        assert first["superiority"] == pytest.approx(1 - second["superiority"])
        if first["elo"][0] is not None:
            assert first["elo"][0] == pytest.approx(-second["elo"][0], abs=1e-3)
            assert (first["elo"][0] > 0) == (first["share"][0] > 0.5)
    table = format_report(found, "table")
    head = next(line for line in table.splitlines() if line.startswith("line-up"))
    assert head.split()[-2:] == ["Elo", "P(better)"]
    assert cli(*args, "--players", 3, "--engine", "mcts", "--format", "json") == 0
    assert all("elo" not in engine for each in json.loads(cli.out)["patterns"].values() for engine in each)


def test_nothing_is_told_of_nothing():
    assert format_report(evaluate(Collected()), "table") == "no games\n"


def test_figures_that_round_to_nothing_have_no_minus():
    assert tables.interval([-0.2, -0.4, 1], "+.0f") == "+0 [+0, +1]"
    assert tables.percent([-1e-4, None, None]) == "0 %"
    assert tables.percent([-1e-5, -0.2, 0.1], "+.1f") == "+0.0 [-20.0, +10.0] %"
    assert tables.strength([-math.inf, None, 3.0], "+.0f") == "-inf [?, +3]"
    assert comment_of(Search(0, 0, [0.498, 0.502], None, 9, 1.0), 2) == "+0.00/9 1.0s"
