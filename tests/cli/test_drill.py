"""`mexica-ai drill`: exercises made of games, read strictly, judged as annotate does, solved in the terminal."""

import copy
import dataclasses
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from nim_record import RECORD, START
from played_games import records_of

import mexica_ai as ai
from mexica_ai.analysis import drill
from mexica_ai.analysis.annotate import evaluate_record, with_evaluations
from mexica_ai.analysis.grades import BOUNDS, grade_of
from mexica_ai.cli.main import main
from mexica_ai.game import registry
from mexica_ai.game.messages import speaking
from mexica_ai.game.records import position_at
from mexica_ai.io.errors import MexicaAIError, NotationError

NIM = {**RECORD, "engines": ["person", "random"]}
LIMITS = ("--iterations", "200", "--seed", "1")
EVALUATED = with_evaluations(NIM, evaluate_record(NIM, iterations=200, seed=1), iterations=200, seed=1)

EXERCISE = {
    "version": 1,
    "position": START,
    "seat": 0,
    "turn": ["take 2 2"],
    "loss": 0.4,
    "better": ["take 2 1"],
    "value": [1.0, 0.0],
    "source": {"record": "x", "game": 1, "turn": 1},
}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command; return what it prints."""
    monkeypatch.chdir(tmp_path)
    Path("game.jsonl").write_text(json.dumps(EVALUATED) + "\n")
    Path("bare.jsonl").write_text(json.dumps(NIM) + "\n")

    def run(*args, lines=(), code=0):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(line + "\n" for line in lines)))
        assert main(["drill", *args]) == code
        found = capsys.readouterr()
        return found.err if code in (1, 2) else found.out

    return run


def entries(path="mine.jsonl"):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def outcomes(path="mine.progress.json"):
    return [tuple(one.values()) for one in json.loads(Path(path).read_text())["outcomes"].values()]


# --- making


def test_a_drill_has_the_mistakes_of_a_game(run):
    assert run("game.jsonl", "--out", "mine.jsonl") == "2 exercises of 1 game in mine.jsonl\n"
    first, second = entries()
    evaluation = EVALUATED["evaluations"]["turns"][0]
    assert first == {
        "version": 1,
        "position": START,
        "seat": 0,
        "turn": ["take 2 2"],
        "loss": evaluation["loss"],
        "better": evaluation["choice"],
        "value": evaluation["choice_value"],
        "source": {"record": "game.jsonl", "game": 1, "turn": 1},
    }
    assert first["loss"] > BOUNDS[2]
    assert (second["seat"], second["source"]["turn"], second["position"]["piles"]) == (1, 2, [2, 1])


def test_a_file_whose_name_is_no_text_makes_a_drill_that_can_be_read(run):
    name = os.fsdecode(b"caf\xe9.jsonl")
    Path("game.jsonl").rename(name)
    run(name, "--out", "mine.jsonl")
    assert entries()[0]["source"]["record"] == r"caf\udce9.jsonl"
    assert r"turn 1 of game 1 of caf\udce9.jsonl" in run("mine.jsonl")


def test_seats_players_and_grades_choose(run):
    for args, seats in (
        (("--seat", "1"), [1]),
        (("--player", "person"), [0]),
        (("--player", "random", "--grade", "blunder"), [1]),
        (("--player", "person", "--seat", "1"), []),
    ):
        if seats:
            run("game.jsonl", *args, "--out", "mine.jsonl")
            assert [one["seat"] for one in entries()] == seats
        else:
            assert 'no record names a player "person"' in run("game.jsonl", *args, "--out", "x.jsonl", code=2)
    small = copy.deepcopy(EVALUATED)
    for one in small["evaluations"]["turns"][:2]:
        one["loss"] = (BOUNDS[1] + BOUNDS[2]) / 2
        one["grade"] = "mistake"
    Path("small.jsonl").write_text(json.dumps(small))
    assert run("small.jsonl", "--grade", "blunder", "--out", "none.jsonl") == "0 exercises of 1 game in none.jsonl\n"
    assert len(run("small.jsonl", "--grade", "mistake", "--out", "none.jsonl"))
    assert len(entries("none.jsonl")) == 2


def test_a_position_is_there_once_with_the_greatest_loss(run):
    first, other = copy.deepcopy(EVALUATED), copy.deepcopy(EVALUATED)
    for game, loss in ((first, 0.75), (other, 1.0)):
        for one in game["evaluations"]["turns"][:2]:
            one["loss"] = loss
    Path("two.jsonl").write_text(json.dumps(first) + "\n\n" + json.dumps(other) + "\n")
    text = run("two.jsonl", "game.jsonl", "--out", "mine.jsonl")
    assert text == "2 exercises of 3 games in mine.jsonl, 4 more of the same positions\n"
    assert [(one["loss"], one["source"]["record"], one["source"]["game"]) for one in entries()] == [
        (1.0, "two.jsonl", 2),
        (1.0, "two.jsonl", 2),
    ]


def test_records_without_evaluations_are_searched_if_that_is_asked(run):
    error = run("game.jsonl", "bare.jsonl", "--out", "mine.jsonl", code=2)
    assert "bare.jsonl:1: the record has no evaluations; expected those of `mexica-ai annotate bare.jsonl" in error
    assert not Path("mine.jsonl").exists()
    run("bare.jsonl", "--out", "mine.jsonl", *LIMITS)
    assert [one["turn"] for one in entries()] == NIM["turns"][:2]
    # Turns that have an evaluation keep it; only those of the chosen seat are searched.
    partial = copy.deepcopy(EVALUATED)
    partial["evaluations"]["turns"] = partial["evaluations"]["turns"][:1]
    partial["evaluations"]["turns"][0]["loss"] = 0.75
    Path("partial.jsonl").write_text(json.dumps(partial))
    run("partial.jsonl", "--out", "mine.jsonl", *LIMITS)
    assert [(one["seat"], one["loss"] == 0.75) for one in entries()] == [(0, True), (1, False)]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("game.jsonl", "--out", "game.jsonl"), "has the records; expected another file"),
        (("game.jsonl", "--out", "no/folder"), "--out: cannot write 'no/folder': there is no folder 'no'"),
        (("game.jsonl", "--out", "x", "--seat", "2"), "game.jsonl:1: --seat: the game has seats 0 to 1"),
        (("empty.jsonl", "--out", "x"), "empty.jsonl: holds no records"),
        (("drill.jsonl", "--out", "x"), "drill.jsonl:1: given a drill; expected records"),
        (("game.jsonl", "--seat", "0"), "--seat: expected with --out"),
        (("game.jsonl", "bare.jsonl"), "expected one drill to solve, or --out FILE"),
        (("-",), "standard input is for the turns"),
        (("game.jsonl",), "of records, `mexica-ai drill game.jsonl --out FILE` makes a drill"),
        (("empty.jsonl",), "empty.jsonl: holds no exercises"),
        (("missing.jsonl",), "cannot read missing.jsonl"),
    ],
)
def test_bad_usage_says_what_was_expected(run, args, words):
    Path("empty.jsonl").write_text("\n")
    run("game.jsonl", "--out", "drill.jsonl")
    assert words in run(*args, code=2)
    assert not Path("x").exists()
    assert json.loads(Path("game.jsonl").read_text()) == EVALUATED


# --- reading


def test_lines_are_read_strictly_and_errors_name_the_line(run):
    run("game.jsonl", "--out", "mine.jsonl")
    good = entries()[0]
    for changes, words in (
        ({"version": 2}, "$.version: given 2; expected 1"),
        ({"extra": 1}, 'unknown key "extra"'),
        ({"seat": 1}, "$.seat: given 1; expected 0, the seat to move"),
        ({"loss": 1.5}, "$.loss: given 1.5; expected a share of the win"),
        ({"value": [0.5, 0.6]}, "$.value: given a list of 2 entries; expected 2 shares"),
        ({"turn": ["take 1 3"]}, '$.turn[0]: "take 1 3" is not legal'),
        ({"better": ["take 9 1"]}, "$.better[0]: "),
        ({"better": []}, "$.better: "),
        ({"source": {"record": "x", "game": 0, "turn": 1}}, "$.source.game: given 0; expected a number from 1"),
        ({"position": {**START, "piles": [0, 0]}}, "the game is over"),
        ({"position": {**START, "piles": [-1]}}, "$.position.piles[0]"),
    ):
        Path("bad.jsonl").write_text(json.dumps(good) + "\n\n" + json.dumps(good | changes) + "\n")
        error = run("bad.jsonl", code=2)
        assert error.startswith("mexica-ai: error: bad.jsonl:3: ")
        assert words in error
    del good["better"]
    Path("bad.jsonl").write_text(json.dumps(good))
    assert 'bad.jsonl:1: $.better: the key "better" is missing' in run("bad.jsonl", code=2)


@pytest.mark.parametrize("game", ["coatl", "mexica", "tzolkin"])
def test_exercises_show_no_more_than_the_seat_saw_and_come_back_the_same(game):
    record = records_of(game)[0]
    turns = range(0, len(record["turns"]), 9)
    evaluations = [one for one in evaluate_record(record, iterations=5, seed=1, turns=turns) if one.choice != one.turn]
    wrong = [_losing(one) for one in evaluations]
    made = list(drill.exercises_of(record, wrong, name="a/b.jsonl", game=3))
    assert len(made) == len(wrong) > 2
    back = drill.read_drill(drill.drill_text(made).encode().splitlines(), "mine.jsonl")
    assert [one.to_json() for one in back] == [one.to_json() for one in made]
    for one in back:
        full = position_at(record, one.source.turn - 1)
        assert one.position == ai.Position.from_json(registry.get(game).redact(full.to_json()))
        assert one.position.legal_actions() == full.legal_actions()
        if game == "coatl":
            assert (one.position.viewer, full.viewer) == (one.seat, None)
            assert "?" in json.dumps(one.position.to_json())
        assert one.world.viewer is None
        assert drill.known_verdict(one, one.better).by == "better"
        assert drill.known_verdict(one, one.turn) == drill.Verdict(0.3, "played", False)


def _losing(evaluation):
    return drill.TurnEvaluation(**{**evaluation.to_json(), "loss": 0.3, "grade": "blunder"})


# --- judging


def test_a_turn_is_judged_by_the_measure_of_annotate(run):
    run("game.jsonl", "--out", "mine.jsonl")
    exercise = drill.read_drill(Path("mine.jsonl").read_bytes().splitlines(), "mine.jsonl")[0]
    for turn in (["take 1 1"], ["take 3 2"]):
        record = drill.trial_record(exercise, turn)
        (evaluation,) = evaluate_record(record, iterations=200, seed=1)
        (whole,) = evaluate_record({**NIM, "turns": [turn], "scores": None, "winners": None, "termination":
                                    "unfinished"}, iterations=200, seed=1)  # fmt: skip
        verdict = drill.searched_verdict(exercise, evaluation)
        assert (verdict.loss, verdict.by) == (whole.loss, "search")
        assert verdict.is_solved == (whole.loss < BOUNDS[0])


def test_a_turn_must_lose_less_than_the_one_played(run):
    run("game.jsonl", "--out", "mine.jsonl")
    exercise = drill.read_drill(Path("mine.jsonl").read_bytes().splitlines(), "mine.jsonl")[0]
    slight = dataclasses.replace(exercise, loss=BOUNDS[0] / 2)
    evaluation = drill.TurnEvaluation(**EVALUATED["evaluations"]["turns"][0])
    for loss, one, solved in (
        (BOUNDS[0] / 2, exercise, True),
        (BOUNDS[0] / 2, slight, False),
        (BOUNDS[0] / 4, slight, True),
        (BOUNDS[0], exercise, False),
    ):
        assert (
            drill.searched_verdict(one, dataclasses.replace(evaluation, loss=loss, grade=grade_of(loss))).is_solved
            == solved
        )


def test_points_go_down_with_the_loss_the_tries_and_the_hints():
    exercise = drill.exercise_of(EXERCISE)
    points = [drill.points_of(exercise, loss, spent) for loss, spent in ((0, 0), (0.1, 0), (0.4, 0), (0.9, 0), (0, 1))]
    assert points == [100, 75, 0, 0, 75]
    assert drill.points_of(exercise, 0.1, 4) == 0


def test_a_hint_that_shows_nothing_new_costs_nothing():
    attempt = drill.Attempt(drill.exercise_of(EXERCISE))
    assert [attempt.hint() for _ in range(3)] == ["take 2 1"] * 3
    attempt.note(drill.Verdict(0.0, "better", True))
    assert attempt.points == drill.MAX_POINTS - drill.TRY_POINTS


@pytest.mark.parametrize(
    ("played", "verdict", "english", "portuguese"),
    [
        (
            0.35,
            drill.Verdict(0.0, "better", True),
            "Solved: that is the better turn. The turn played then gave away 35.0 % of the win against it.",
            "Resolvido: essa é a melhor jogada. A jogada feita então entregou 35,0 % da vitória em relação a ela.",
        ),
        (
            0.35,
            drill.Verdict(0.35, "played", False),
            "Not solved: that is the turn played then, which gives away 35.0 % of the win against the engine's turn.",
            "Não resolvido: essa é a jogada feita então, que entrega 35,0 % da vitória em relação à do programa.",
        ),
        (
            0.35,
            drill.Verdict(0.125, "search", False),
            "Not solved: it gives away 12.5 % of the win against the engine's turn. "
            "It is better than the turn played then by 22.5 % of the win.",
            "Não resolvido: entrega 12,5 % da vitória em relação à jogada do programa. "
            "É melhor que a jogada feita então em 22,5 % da vitória.",
        ),
        (
            0.06,
            drill.Verdict(0.02, "search", True),
            "Solved: it gives away 2.0 % of the win against the engine's turn, "
            "which is within the noise of the searches. "
            "It is better than the turn played then by 4.0 % of the win, which is within the noise of the searches.",
            "Resolvido: entrega 2,0 % da vitória em relação à jogada do programa, o que está dentro do erro das buscas."
            " É melhor que a jogada feita então em 4,0 % da vitória, o que está dentro do erro das buscas.",
        ),
        (
            0.1,
            drill.Verdict(0.0, "search", True),
            "Solved: it is as good as the engine's turn, as far as the searches tell. "
            "It is better than the turn played then by 10.0 % of the win.",
            "Resolvido: é tão boa quanto a jogada do programa, até onde as buscas mostram. "
            "É melhor que a jogada feita então em 10,0 % da vitória.",
        ),
        (
            0.1,
            drill.Verdict(0.5, "search", False),
            "Not solved: it gives away 50.0 % of the win against the engine's turn. "
            "It is worse than the turn played then by 40.0 % of the win.",
            "Não resolvido: entrega 50,0 % da vitória em relação à jogada do programa. "
            "É pior que a jogada feita então em 40,0 % da vitória.",
        ),
    ],
)
def test_a_verdict_compares_with_the_engines_turn_and_with_the_one_played(played, verdict, english, portuguese):
    exercise = drill.exercise_of({**EXERCISE, "loss": played})
    assert drill.describe_verdict(exercise, verdict) == english
    with speaking("pt"):
        assert drill.describe_verdict(exercise, verdict) == portuguese


# --- solving


def test_a_drill_is_solved_turn_by_turn(run):
    run("game.jsonl", "--out", "mine.jsonl")
    better = entries()[0]["better"][0]
    text = run("mine.jsonl", lines=["help", "legal take 1", "take 7 7", "take 2 2", "hint", better])
    assert "Exercise 1 of 2: turn 1 of game 1 of game.jsonl" in text
    assert "take 1 1   take 1 2" in text
    assert "no: " in text
    assert "Not solved: that is the turn played then" in text
    assert f"hint: {better}" in text
    assert "Solved: that is the better turn." in text
    assert "Exercise 2 of 2" in text  # the input has ended there
    assert "Solved 1 of 1: 50 of 100 points.\n1 of 2 left to solve." in text
    assert outcomes() == [(True, 50, 2)]
    # The next time the unsolved one comes first.
    text = run("mine.jsonl", lines=["answer", "quit"])
    assert "turn 2 of game 1" in text.split("Exercise 1 of 2")[1].split("Exercise 2 of 2")[0]
    assert "the better turn: take" in text
    assert "Solved 0 of 1: 0 of 100 points." in text
    assert outcomes() == [(True, 50, 2), (False, 0, 0)]


def test_another_turn_is_searched(run):
    run("game.jsonl", "--seat", "0", "--out", "mine.jsonl")
    others = {"take 1 1", "take 1 2", "take 2 1", "take 2 2", "take 3 2"} - {"take 2 2", entries()[0]["better"][0]}
    text = run("mine.jsonl", *LIMITS, lines=[*sorted(others), "next"])
    assert text.count("gives away") >= len(others)
    assert "Not solved: it gives away" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_undo_and_an_empty_session(run):
    run("game.jsonl", "--out", "mine.jsonl")
    text = run("mine.jsonl", lines=["undo", "quit"])
    assert "there is nothing to take back" in text
    assert "Solved 0 of 0: 0 of 0 points.\n2 of 2 left to solve." in text
    assert not Path("mine.progress.json").exists()


def test_a_turn_of_several_actions_is_undone_action_by_action(run):
    record = records_of("mexica")[0]
    (evaluation,) = evaluate_record(record, iterations=5, seed=1, turns=[10])
    Path("m.jsonl").write_text(drill.drill_text(drill.exercises_of(record, [_losing(evaluation)], name="m")))
    played = record["turns"][10]
    text = run("m.jsonl", lines=[played[0], "undo", "redo", "; ".join(played[1:]), "next"])
    assert f"turn so far: {played[0]}" in text
    assert "taken back" in text
    assert "played again" in text
    assert "that is the turn played then, which gives away 30.0 %" in text


def test_a_drill_that_is_solved_twice_at_a_time_keeps_all_outcomes(run):
    run("game.jsonl", "--out", "mine.jsonl")
    one, other = (drill.Progress("mine.progress.json") for _ in range(2))
    exercises = drill.read_drill(Path("mine.jsonl").read_bytes().splitlines(), "mine.jsonl")
    assert len(exercises) > 1
    one.note(exercises[0], solved=True, points=100, tries=1)
    other.note(exercises[1], solved=False, points=25, tries=2)
    one.note(exercises[1], solved=True, points=50, tries=1)
    kept = drill.Progress("mine.progress.json").outcomes
    assert kept == one.outcomes
    assert kept[exercises[0].key] == drill.Outcome(True, 100, 1)
    assert kept[exercises[1].key] == drill.Outcome(True, 50, 3)


def test_a_file_of_outcomes_is_read_strictly(run):
    run("game.jsonl", "--out", "mine.jsonl")
    kept = Path("mine.progress.json")
    for text in ("", "[]", '{"version": 2, "outcomes": {}}', '{"version": 1, "outcomes": {"a": {"solved": 1}}}'):
        kept.write_text(text)
        assert "error: mine.progress.json: " in run("mine.jsonl", code=2)
        assert kept.read_text() == text


def test_ctrl_c_at_the_prompt_ends_with_the_score(run, monkeypatch):
    run("game.jsonl", "--out", "mine.jsonl")
    lines = iter([entries()[0]["better"][0]])

    def read(_prompt):
        for line in lines:
            return line
        raise KeyboardInterrupt

    monkeypatch.setattr("mexica_ai.cli.play._piped", lambda: read)
    assert "Solved 1 of 1: 100 of 100 points." in run("mine.jsonl", code=130)
    assert outcomes() == [(True, 100, 1)]


@pytest.mark.real("processes")
def test_ctrl_c_ends_a_search_and_the_next_one_the_drill(run):
    run("game.jsonl", "--seat", "0", "--out", "mine.jsonl")
    (other, *_) = sorted({"take 1 1", "take 2 1", "take 3 2"} - {entries()[0]["better"][0]})
    with subprocess.Popen(
        [sys.executable, "-P", "-u", "-m", "mexica_ai", "drill", "mine.jsonl", "--iterations", "2e9", "--memory", "64"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    ) as process:
        process.stdin.write(other + "\n")
        process.stdin.flush()
        found = ""
        while f"seat 0> {other}" not in found:
            found += process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=30)[0]
    assert process.returncode in (0, 130)
    assert "Solved 0 of " in rest


def test_the_errors_of_drills_are_the_packages(run):
    with pytest.raises(MexicaAIError):
        drill.read_exercise("{")
    with pytest.raises(NotationError) as caught:
        drill.read_exercise(json.dumps(NIM))
    assert caught.value.reason == "RECORD_GIVEN"
