"""`mexica-ai levels`: levels with their strength, and own results from records."""

import json

import pytest

import mexica_ai as ai
from mexica_ai.analysis import levels
from mexica_ai.cli.main import main
from mexica_ai.game.records import make_record


def won(engines, winner=0):
    """Return the line of a game of nim that a seat wins."""
    position = ai.new_game("nim", piles=[1, 1] if winner else [1, 2])
    for turn in (["take 1 1"], ["take 1 2"]) if winner else (["take 1 2"], ["take 1 1"], ["take 1 2"]):
        position.push(turn)
    return json.dumps(make_record(position, engines=engines)) + "\n"


def test_levels_are_listed_with_what_was_measured(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["levels", "mexica", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["levels"]
    assert [each["level"] for each in found] == list(levels.LEVELS)
    assert (found[0]["rank"], found[9]["rank"]) == ("beginner", "expert")
    assert found[2]["elo"][0] == found[2]["rating"]
    assert found[2]["elo"][1] < found[2]["elo"][0] < found[2]["elo"][2]
    assert main(["levels", "nim"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    words = " ".join(out.split())
    assert all(f"{one.name}: {one.words}" in words for one in map(levels.character_of, levels.LEVELS))
    assert out.count(", not measured") == 10
    assert "beginner, rated 860, not measured" in out


def test_own_results_are_those_of_the_person(tmp_path, capsys):
    path = tmp_path / "games.jsonl"
    unfinished = json.dumps(make_record(ai.new_game("nim"), engines=["person", "mcts,level=9"])) + "\n"
    lines = [
        won(["person", "mcts,level=3,time=2"]),
        won(["level 3", "person"]),
        won(["person", "greedy"], winner=1),
        won(["person", "person"]),
        won(["Ann", "Ben"]),
        won(["person", f"level {'1' * 5000}"], winner=1),
        unfinished,
    ]
    path.write_text("".join(lines))
    assert main(["levels", "nim", "--records", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["level"]: (row["games"], row["wins"], row["losses"]) for row in found["results"]}
    assert rows == {3: (2, 1, 1), None: (2, 0, 2)}
    assert found["next"]["games"] == 2
    assert main(["levels", "nim", "--records", str(path), "--player", "Ben"]) == 0
    assert "nim against others: 1 game, 0 won" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "problem"),
    [('{"game": "nim"}', "games.jsonl:1: $.version: the key"), (won(["person"] * 2)[:-9], "games.jsonl:1: ")],
)
def test_what_is_no_record_is_an_error_with_its_place(tmp_path, capsys, text, problem):
    path = tmp_path / "games.jsonl"
    path.write_text(text)
    assert main(["levels", "nim", "--records", str(path)]) == 2
    assert problem in capsys.readouterr().err
