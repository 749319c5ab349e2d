"""Grades, accuracy and turning points."""

import dataclasses
import json
import pathlib

import pytest
from played_games import records_of

import mexica_ai as ai
from mexica_ai.analysis import grades
from mexica_ai.analysis.annotate import TurnEvaluation, check_evaluated, evaluate_record, explained, with_evaluations
from mexica_ai.analysis.verdict import explain_evaluation
from mexica_ai.cli.main import main
from mexica_ai.io.errors import NotationError

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
RECORD = records_of("mexica")[0]


@pytest.fixture(scope="module")
def evaluations():
    return list(evaluate_record(RECORD, iterations=20, seed=1, turns=range(12), checks=1, explain=True))


@pytest.mark.parametrize(
    ("loss", "points", "share", "grade"),
    [
        (0.0, 0.0, 0.5, ""),
        (0.049, 30.0, 0.5, ""),
        (0.05, 0.0, 0.5, "inaccuracy"),
        (0.1, 0.0, 0.5, "mistake"),
        (0.15, 0.0, 0.5, "blunder"),
        (0.0, 4.9, 0.99, ""),
        (0.0, 5.0, 0.99, "inaccuracy"),
        (0.0, 90.0, 0.01, "inaccuracy"),
        (0.12, 90.0, 0.96, "mistake"),
    ],
)
def test_the_share_decides_and_points_count_in_a_decided_game(loss, points, share, grade):
    assert grades.grade_of(loss, points, 100.0, share) == grade


def test_accuracy():
    assert grades.turn_accuracy(0.0) == 100
    assert grades.turn_accuracy(grades.HALF) == pytest.approx(50)
    assert grades.turn_accuracy(1.0) == grades.LEAST_ACCURACY
    assert grades.accuracy([]) is None
    assert grades.accuracy([0.0, 0.1]) == pytest.approx((75 + 2 / (1 / 100 + 1 / 50)) / 2)
    assert grades.accuracy([0.0] * 9 + [1.0]) < 90  # a blunder weighs more than its part of the turns


def test_phases_are_thirds_of_the_turns():
    assert [grades.phase_of(index, 9) for index in (0, 2, 3, 5, 6, 8)] == [
        *["opening"] * 2,
        *["middle"] * 2,
        *["end"] * 2,
    ]


def test_turning_points_are_the_worst_graded_turns_in_order(evaluations):
    losses = [0.2, 0.0, 0.3, 0.06, 0.12]
    some = [
        dataclasses.replace(one, loss=loss, grade=grades.grade_of(loss))
        for one, loss in zip(evaluations, losses, strict=False)
    ]
    assert [one.loss for one in grades.turning_points(some)] == [0.2, 0.3, 0.12]
    assert grades.describe_turning_points(some).startswith("The game turned here: Turn 1 of seat 0 was a blunder")
    assert "No turn gave away enough" in grades.describe_turning_points(some[1:2])


def test_what_the_others_kept_in_secret_is_no_reason():
    position = ai.new_game("tzolkin", seed=1)
    position.push(position.legal_actions()[0])
    turn, choice = position.legal_actions()[:2]  # the last choices: then the tiles of all seats are shown
    even, scores = [0.5, 0.5], [20.0, 20.0]
    one = TurnEvaluation(
        1, 1, [turn], even, [0.6, 0.4], [choice], [0.4, 0.6], 0.1, scores, scores, [0, 0], iterations=1, seconds=0.1
    )
    assert explain_evaluation(position, one)[-1].startswith(f"Better was {choice}: then it expects ")


def test_graded_turns_are_explained_and_kept_in_the_record(evaluations):
    graded = [one for one in evaluations if one.grade]
    assert graded
    for one in graded:
        assert one.explanation[0].startswith(f"It gives away {100 * one.loss:.1f} % of the win")
        assert any(sentence.startswith("Better was ") for sentence in one.explanation)
        assert len(one.explanation) <= 3
    assert not [one for one in evaluations if one.explanation and not one.grade]
    record = with_evaluations(RECORD, evaluations, seed=1)
    check_evaluated(record)
    bare = [dataclasses.replace(one, explanation=[]) for one in evaluations]
    assert explained(record, bare) == evaluations


def test_checks_give_an_interval_that_holds_the_loss(evaluations):
    checked = [one for one in evaluations if one.interval is not None]
    assert checked
    for one in checked:
        assert one.interval[0] <= one.loss <= one.interval[1]
        assert (one.mark.startswith("(")) == one.is_unsure


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"choice": []}, "choice"),
        ({"choice": ["nonsense"]}, "choice"),
        ({"seat": 1}, "seat"),
        ({"answer": ["x"]}, "answer"),
    ],
)
def test_evaluations_that_do_not_fit_the_game_are_refused(evaluations, change, path):
    record = with_evaluations(RECORD, evaluations, seed=1)
    record["evaluations"]["turns"][0] |= change
    with pytest.raises(NotationError) as caught:
        check_evaluated(record)
    assert caught.value.path == f"$.evaluations.turns[0].{path}"


def test_a_record_without_turns_has_nothing_to_say(tmp_path, capsys):
    path = tmp_path / "game.jsonl"
    path.write_text(
        json.dumps({"game": "nim", "version": 1, "start": json.loads((EXAMPLES / "nim.json").read_text()), "turns": []})
    )
    assert main(["annotate", str(path), "--iterations", "5"]) == 0
    assert "No turn was evaluated." in capsys.readouterr().out


def test_the_summary_is_within_80_columns(tmp_path, capsys):
    record = {**RECORD, "engines": ["x" * 60, "y" * 60]}
    path = tmp_path / "game.jsonl"
    path.write_text(json.dumps(record))
    assert main(["annotate", str(path), "--iterations", "5", "--turns", "1-4"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
