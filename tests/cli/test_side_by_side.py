"""`mexica-ai analyze` with several engines, and pictures of their searches."""

import dataclasses
import io
import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import mexica_ai as ai
from mexica_ai.analysis.comparison import compare
from mexica_ai.cli import side_by_side
from mexica_ai.cli.main import main
from mexica_ai.draw.axis import share_lines, ticks
from mexica_ai.draw.course import draw_courses
from mexica_ai.engines.base import Engine
from mexica_ai.io.errors import SearchError

EXAMPLES = Path(__file__).parents[2] / "examples"
MIDGAME = str(EXAMPLES / "mexica_midgame.json")
NIM = str(EXAMPLES / "nim.json")


@pytest.fixture
def analyze(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*args, code=0):
        assert main(["analyze", *map(str, args)]) == code
        found = capsys.readouterr()
        return found.err if code else found.out

    return run


@pytest.fixture(scope="module")
def position():
    return ai.load(MIDGAME)


@pytest.fixture(scope="module")
def result(position):
    return ai.best_turn(position, iterations=300, seed=1, candidates=20)


def with_best(result, rank):
    """Return the result with another candidate first."""
    candidates = [result.candidates[rank], *result.candidates[:rank], *result.candidates[rank + 1 :]]
    return dataclasses.replace(result, candidates=candidates)


# --- the comparison


def test_turns_agree_if_they_lead_to_the_same_position(position, result):
    swapped = ["canal P7-Q7", "canal P6-Q6", "end"], ["canal P6-Q6", "canal P7-Q7", "end"]
    one, other = (
        dataclasses.replace(result, candidates=[dataclasses.replace(result.candidates[0], turn=turn)])
        for turn in swapped
    )
    found = compare(position, [("a", one), ("b", other)])
    assert found.agree
    assert (found.turns, found.choices) == ([swapped[0]], [0, 0])
    assert found.engines_of(0) == ["a", "b"]


def test_opinions_are_those_of_the_candidates_with_the_same_end(position, result):
    second = with_best(result, 3)
    alone = dataclasses.replace(result, candidates=result.candidates[1:2])
    found = compare(position, [("a", result), ("b", second), ("c", alone)])
    assert (found.choices, found.agree) == ([0, 1, 2], False)
    assert found.opinions[0][1].rank == 4
    assert found.opinions[0][1].candidate is result.candidates[3]
    assert found.opinions[1][0].rank == 2
    assert found.opinions[2][:2] == [None, None]
    data = found.to_json()
    assert data["turns"][0]["engines"] == ["a"]
    assert data["turns"][0]["opinions"]["c"] is None
    assert data["turns"][1]["opinions"]["a"]["value"] == result.candidates[3].value


@pytest.mark.parametrize("game", ["coatl", "tzolkin"])
def test_what_is_hidden_does_not_stop_a_comparison(game):
    position = ai.load(str(EXAMPLES / f"{game}_midgame.json"))
    view = position.view(position.to_move)
    result = ai.best_turn(view, iterations=100, seed=1, candidates=30)
    found = compare(view, [("a", result), ("b", with_best(result, 1))])
    assert [one.rank for one in found.opinions[0]] == [1, 2]


# --- the command


def test_a_table_and_what_each_thinks(analyze):
    out = analyze(MIDGAME, "--iterations", 300, "--seed", 1, "--engine", "mcts", "--engine", "greedy", "--engine",
                  "mcts,level=3,name=weak")  # fmt: skip
    lines = out.splitlines()
    assert lines[0].split() == ["engine", "share", "points", "iterations", "seconds"]
    rows = [line for line in lines if line.startswith((" A", " B", " C"))]
    assert [row.split()[1] for row in rows] == ["mcts", "greedy", "weak"]
    assert rows[0].split()[4] == "300"
    assert all(len(line) <= 80 for line in lines)
    assert "agree" in out or "another best turn" in out
    best = ai.best_turn(ai.load(MIDGAME), iterations=300, seed=1)
    assert f"{best.value[0]:.3f}" in rows[0]
    assert best.turn[0] in out


def test_the_same_search_twice_agrees(analyze):
    out = analyze(MIDGAME, "--iterations", 100, "--engine", "mcts,threads=1", "--engine", "mcts,threads=1,name=again")
    rows = [line.split() for line in out.splitlines() if line.startswith((" A", " B"))]
    assert rows[0][2:5] == rows[1][2:5]  # one seed, drawn for both
    assert "A and B agree." in out


def test_json_has_each_result_and_the_comparison(analyze):
    out = analyze(NIM, "--iterations", 50, "--seed", 2, "--json", "--engine", "mcts", "--engine", "random")
    *results, last = map(json.loads, out.splitlines())
    assert [one["engine"] for one in results if one["stop_reason"]] == ["mcts", "random"]
    assert {one["seed"] for one in results} == {2}
    assert sorted(name for turn in last["comparison"]["turns"] for name in turn["engines"]) == ["mcts", "random"]


@pytest.fixture
def given(monkeypatch):
    """The limits that engines are given; their searches are short."""
    found = []

    def analyze(engine, position, limits, **options):
        found.append(limits)
        yield ai.best_turn(position, iterations=5, seed=1)

    monkeypatch.setattr(Engine, "analyze", analyze)
    return found


def test_without_a_limit_each_has_a_second(analyze, given):
    analyze(NIM, "--engine", "mcts", "--engine", "beam")
    assert [(limits.time_s, limits.unlimited) for limits in given] == [(1.0, False)] * 2


def test_ctrl_c_leaves_out_the_engines_that_are_left(analyze, monkeypatch):
    def search(engine, position, limits, *, stop, **options):
        stop.set()
        yield ai.best_turn(position, iterations=5, seed=1)

    monkeypatch.setattr(Engine, "analyze", search)
    out = analyze(NIM, "--engine", "mcts", "--engine", "beam")
    assert "Only one engine has searched." in out
    assert "beam" not in out


def test_what_was_found_is_shown_before_another_engine_fails(analyze, monkeypatch, capsys):
    def search(engine, position, limits, **options):
        if engine.name == "beam":
            raise SearchError("the engine died", reason="ENGINE_DIED")
        yield ai.best_turn(position, iterations=5, seed=1)

    monkeypatch.setattr(Engine, "analyze", search)
    assert main(["analyze", NIM, "--engine", "mcts", "--engine", "beam"]) == 1
    found = capsys.readouterr()
    assert " A  mcts" in found.out
    assert "error: the engine died" in found.err


def test_all_engines_are_started_before_the_first_search(analyze, given):
    analyze(NIM, "--engine", "mcts", "--engine", "beam,weights=missing.bin", code=2)
    assert given == []


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--engine", "mcts", "--engine", "mcts"), '--engine: two engines are named "mcts"; expected different ones'),
        (("--engine", "mcts", "--engine", "nosuch"), "unknown kind 'nosuch'"),
        (("--engine", "mcts", "--engine", "random", "--level", "3"), "--level: the engine random has no levels"),
        (("--engine", "mcts", "--engine", "beam", "--plot", "x.pdf"), "ends in .svg or .png"),
    ],
)
def test_bad_usage(analyze, args, words):
    assert words in analyze(NIM, "--iterations", 5, *args, code=2)


def test_a_table_is_redrawn_on_a_terminal(analyze, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    assert main(["analyze", NIM, "--iterations", "50", "--engine", "mcts", "--engine", "beam"]) == 0
    assert "mcts" in screen.getvalue()
    assert "beam" in screen.getvalue()


# --- pictures


def check(picture):
    root = ET.fromstring(picture)
    return [
        (element.text or "").replace("\N{NO-BREAK SPACE}", " ")
        for element in root.iter()
        if element.tag.endswith("text")
    ]


def test_a_picture_has_a_line_an_engine(result, tmp_path):
    later = dataclasses.replace(with_best(result, 2), seconds=2.0, iterations=900)
    early = dataclasses.replace(result, seconds=0.5, iterations=200)
    courses = [
        side_by_side.Searched("mcts", [early, later]),
        side_by_side.Searched("<b>", [dataclasses.replace(result, seconds=1.0)]),
    ]
    for theme in ("light", "dark", "page"):
        for axis, end in (("seconds", "2"), ("iterations", "800")):
            words = check(draw_courses(courses, 0, theme=theme, axis=axis))
            assert axis in words
            assert end in words
            assert {"A", "B"} <= set(words)
            assert "<b>: " + "; ".join(result.turn) in " ".join(words)
    picture = draw_courses(courses, 0)
    assert picture.count("<circle") == 3  # the change of mcts, and two ends
    assert picture.count("stroke-dasharray") == 1


def test_a_picture_of_engines_that_tell_no_shares(result):
    bare = dataclasses.replace(result, candidates=[dataclasses.replace(result.candidates[0], value=[])], seconds=0.0)
    assert "A" in check(draw_courses([side_by_side.Searched("cmd", [bare])], 0))


@pytest.mark.parametrize("end", [1e-9, 0.03, 0.8, 1.0, 7.3, 30, 12345, 2e9])
def test_there_are_no_halves_of_iterations(end):
    assert all(value == int(value) for value in ticks(end, is_whole=True))
    assert ticks(3, is_whole=True) == [0, 1, 2, 3]


@pytest.mark.parametrize("end", [1e-9, 0.03, 0.8, 1.0, 7.3, 30, 12345, 2e9])
def test_ticks_are_few_and_round(end):
    found = ticks(end)
    assert 1 < len(found) <= 9
    assert found[0] == 0 <= found[-1] <= end * (1 + 1e-9)
    step = found[1]
    assert float(f"{step:.0e}") == pytest.approx(step)


@pytest.mark.parametrize("shares", [[], [0.5], [0.0], [1.0], [0.21, 0.24], [0.0, 1.0], [0.31, 0.72, 0.5]])
def test_lines_of_shares_are_round_and_hold_all(shares):
    found = share_lines(shares)
    assert 1 < len(found) <= 9
    assert found[0] <= min(shares, default=0.0) <= max(shares, default=1.0) <= found[-1] <= 1 + 1e-9
    assert all(20 * one == pytest.approx(round(20 * one)) for one in found)


def test_the_command_writes_a_picture(analyze):
    analyze(MIDGAME, "--iterations", 200, "--engine", "mcts", "--engine", "beam", "--plot", "x.svg", "--theme", "dark")
    assert "beam: " in " ".join(check(Path("x.svg").read_text()))
    analyze(MIDGAME, "--iterations", 200, "--plot", "y.svg", "--axis", "iterations")
    words = check(Path("y.svg").read_text())
    assert {"iterations", "200"} <= set(words)
