"""Figures that other programs tell: what cannot be is left out, in answers, in journals and in reports."""

import dataclasses
import json
import math
from types import SimpleNamespace

import pytest

import mexica_ai as ai
from mexica_ai import Limits, NotationError, SearchError
from mexica_ai.analysis.annotate import TurnEvaluation
from mexica_ai.analysis.grades import grade_of
from mexica_ai.analysis.results import Candidate, Forecast, Result, sound
from mexica_ai.arena.play import Task, play_game
from mexica_ai.arena.tournament import Tournament, reproducible_key
from mexica_ai.cli import report
from mexica_ai.engines import make_engine
from mexica_ai.engines.process import _result
from mexica_ai.game.records import make_record, replay
from mexica_ai.io.numbers import are_scores, are_shares

TURN = ["take 1 1"]
MOST = 2**63 - 1
NO_COUNTS = [10**400, 2**63, -1, 1.5, True, None, "3", math.nan]
NO_SHARES = [[1e308, 1e308], [math.nan, math.nan], [-3.0, 4.0], [0.5, 0.4], [0.5], [1.0, 0.0, 0.0], [10**400, 0], 0.5]
NO_SCORES = [[1e308, -1e308], [math.inf, 0.0], [math.nan, 0.0], [10**400, 0], [1.0], "12"]
NO_WORDS = ["\x1b[2J", "\ud800", "x" * 500_000, "a\nb", 5]


def answered(info):
    """Return the result of a program that answered with this `info` for two seats."""
    return sound(_result(TURN, info, 5, 0.25, "settled", 77), 2)


NOTHING = answered({})


@pytest.mark.parametrize(
    "info",
    [{key: bad} for key in ("iterations", "nodes", "distinct_turns", "seed", "threads") for bad in NO_COUNTS]
    + [{"value": bad} for bad in NO_SHARES]
    + [{"expected_scores": bad} for bad in NO_SCORES]
    + [{key: bad} for key in ("stop_reason", "weights") for bad in NO_WORDS]
    + [None, [1, 2], {"candidates": [{"turn": TURN, "visits": 10**400}]}],
    ids=lambda info: json.dumps(info)[:40],
)
def test_figures_of_a_program_that_cannot_be_are_as_if_missing(info):
    assert answered(info) == NOTHING
    assert (NOTHING.seed, NOTHING.threads, NOTHING.stop_reason, NOTHING.weights) == (77, 1, "settled", None)


def test_figures_of_a_program_that_can_be_are_kept():
    counts = {"iterations": MOST, "nodes": 0, "distinct_turns": 7, "seed": MOST, "threads": 64}
    found = answered(
        {**counts, "value": [0.33, 0.66], "expected_scores": [-5, 1e6], "stop_reason": "\u00fcbersetzt", "weights": "w"}
    )
    assert {key: getattr(found, key) for key in counts} == counts
    assert (found.value, found.expected_scores) == ([0.33, 0.66], [-5, 1e6])
    assert (found.stop_reason, found.weights) == ("\u00fcbersetzt", "w")


def candidate(**other):
    usual = {"turn": TURN, "visits": 3, "value": [0.5, 0.5], "expected_scores": [1.0, 2.0], "prior": 0.5, "line": []}
    return {**usual, **other}


@pytest.mark.parametrize(
    ("bad", "instead"),
    [({"visits": bad}, {"visits": 0}) for bad in (2**63, 10**400, -1)]
    + [({"value": bad}, {"value": []}) for bad in NO_SHARES[2:6]]
    + [({"expected_scores": bad}, {"expected_scores": []}) for bad in ([1e308, 1.0], [1.0])]
    + [({"prior": bad}, {"prior": 0.0}) for bad in (1e308, -0.1)],
    ids=str,
)
def test_figures_of_a_candidate_that_cannot_be_are_left_out(bad, instead):
    found = answered({"candidates": [candidate(), candidate(turn=["take 1 2"], **bad)]})
    assert found.candidates == [Candidate(**candidate()), Candidate(**candidate(turn=["take 1 2"], **instead))]


def test_a_forecast_is_whole_or_none():
    good, bad = Forecast(5, [0.5, 0.5], [1.0, 2.0]), Forecast(5, [math.nan, 0.5], [1.0, 2.0])
    for forecast, kept in (([good, good], [good, good]), ([good, bad], [])):
        result = Result([Candidate(**candidate(), forecast=forecast)], 1, 1, 1, 0.1, "time", 1)
        assert sound(result).candidates[0].forecast == kept


def test_a_server_tells_no_figures_that_cannot_be():
    wire = pytest.importorskip("mexica_ai.rpc.wire")
    result = Result([Candidate(**candidate())], 9, 8, 7, 0.1, "time", 1, 2, "w")
    message = wire.result_to_message(result, engine_version="1", rules_version=1)
    assert wire.result_from_message(message) == result
    message.iterations, message.seed, message.seconds = 2**64 - 1, 2**63, math.nan
    message.candidates[0].value[:] = [math.nan, 1.0]
    message.candidates[0].expected_scores[:] = [math.inf, 1.0]
    message.candidates[0].prior = -math.inf
    nothing = Candidate(**candidate(value=[], expected_scores=[], prior=0.0))
    expected = dataclasses.replace(result, candidates=[nothing], iterations=0, seed=0, seconds=0.0)
    assert wire.result_from_message(message) == expected
    message.candidates[0].value[:] = [1.0]
    message.candidates[0].expected_scores[:] = [1.0]
    assert wire.result_from_message(message, 2) == expected


def test_a_server_tells_figures_of_all_seats_or_none(monkeypatch):
    grpc = pytest.importorskip("mexica_ai.engines.grpc")
    whole = Result([Candidate(**candidate())], 9, 8, 7, 0.1, "time", 1)
    other = Result([Candidate(**candidate(value=[1.0], expected_scores=[3.0]))], 9, 8, 7, 0.1, "time", 1)
    for result, value in ((whole, [0.5, 0.5]), (other, [])):
        monkeypatch.setattr(grpc.Client, "run_search", lambda *args, found=result, **options: found)
        with make_engine("grpc:127.0.0.1:9") as engine:
            assert engine.best_turn(ai.new_game("nim"), Limits(1.0)).value == value


def test_an_illegal_turn_of_a_server_is_cut_in_its_error(monkeypatch):
    grpc = pytest.importorskip("mexica_ai.engines.grpc")
    result = Result([Candidate(**candidate(turn=["x" * 100_000 + "\x1b[2J"]))], 9, 8, 7, 0.1, "time", 1)
    monkeypatch.setattr(grpc.Client, "run_search", lambda *args, **options: result)
    with make_engine("grpc:127.0.0.1:9") as engine, pytest.raises(SearchError, match="plays the turn 'xxx") as caught:
        engine.best_turn(ai.new_game("nim"), Limits(1.0))
    assert len(str(caught.value)) < 500


def test_what_is_left_can_be_printed_and_explained():
    info = {"candidates": [candidate(), candidate(turn=["take 1 2"], value=[2.0, -1.0], visits=10**300)]}
    found = answered({**info, "iterations": 10**400})
    assert ai.explain(ai.new_game("nim"), found).gives_away is None
    assert report.format_statistics(found)[0].startswith("0 iterations ")
    assert max(map(len, report.format_candidates(found.candidates))) < 100
    json.loads(json.dumps(found.to_json(), allow_nan=False))


def test_shares_and_scores():
    assert are_shares([1 / 3] * 3, 3)
    assert are_shares([1 + 1e-12, -1e-12], 2)
    assert not are_shares([1.1, -0.1], 2)
    assert not are_shares([], 2)
    assert are_scores([-1e9, 1e9], 2)
    assert not are_scores([1e9 + 1, 0], 2)


# Journals


@pytest.fixture(scope="module")
def lines():
    """The lines of a journal of one block."""
    engines = ("greedy,iterations=1", "random,iterations=1")
    tournament = Tournament("nim", 2, engines, ("a", "b"), seed=1, key=reproducible_key(1))
    return [json.dumps(play_game(Task(tournament, game)), separators=(",", ":")) for game in tournament.block(0)]


@pytest.mark.parametrize(
    ("key", "number"),
    [(key, bad) for key in ("iterations", "turns") for bad in (10**400, 2**63, -7)]
    + [(key, bad) for key in ("seconds", "late_s", "late_max_s") for bad in (1e300, -1.0)],
    ids=lambda value: str(value)[:12],
)
def test_an_old_journal_with_figures_that_cannot_be_is_reported(cli, tmp_path, lines, key, number):
    records = [json.loads(line) for line in lines]
    records[1]["arena"]["seats"][0][key] = 0
    left_out = list(map(json.dumps, records))
    records[1]["arena"]["seats"][0][key] = number
    reports = []
    for journal in (left_out, map(json.dumps, records)):
        (tmp_path / "games.jsonl").write_text("\n".join(journal) + "\n")
        assert cli("report", tmp_path / "games.jsonl") == 0
        assert cli.err == ""
        reports.append(cli.out)
    assert reports[0] == reports[1]


@pytest.mark.parametrize("text", ["1e999", "-1e999", "NaN", "Infinity", '"1"', "null"])
@pytest.mark.parametrize("key", ["iterations", "seconds"])
def test_a_figure_of_a_journal_that_is_no_number_is_refused(cli, tmp_path, lines, key, text):
    seat = json.loads(lines[0])["arena"]["seats"][0]
    bad = lines[0].replace(f'"{key}":{json.dumps(seat[key])}', f'"{key}":{text}', 1)
    assert bad != lines[0]
    (tmp_path / "games.jsonl").write_text(f"{bad}\n{lines[1]}\n")
    assert cli("report", tmp_path / "games.jsonl") == 2
    assert len(cli.err.splitlines()) == 1
    assert "games.jsonl:1" in cli.err


EVALUATION = {
    "turn_index": 0,
    "seat": 0,
    "turn": ["take 1 1"],
    "before": [0.5, 0.5],
    "after": [0.25, 0.75],
    "choice": ["take 1 2"],
    "choice_value": [0.5, 0.5],
    "loss": 0.25,
    "expected_scores_before": [0.5, 0.5],
    "expected_scores_after": [0.25, 0.75],
    "scores": [0, 0],
    "iterations": 10,
    "seconds": 0.1,
}


def annotated(**figures):
    position = ai.new_game("nim", players=2)
    position.push(["take 1 1"])
    evaluations = {"time_s": None, "iterations": 10, "seed": 1, "turns": [EVALUATION | figures]}
    return make_record(position) | {"evaluations": evaluations}


@pytest.mark.parametrize(
    "figures",
    [{key: bad} for key in ("before", "after", "choice_value") for bad in NO_SHARES]
    + [{key: bad} for key in ("expected_scores_before", "expected_scores_after", "scores") for bad in NO_SCORES]
    + [{"iterations": bad} for bad in NO_COUNTS]
    + [{"loss": bad} for bad in (1.5, math.nan, 1e308)]
    + [{"seconds": bad} for bad in (-1.0, 1e300, math.inf)],
    ids=lambda figures: str(figures)[:40],
)
def test_evaluations_have_figures_that_can_be(figures):
    replay(annotated())
    with pytest.raises(NotationError) as caught:
        replay(annotated(**figures))
    assert caught.value.path.startswith("$.evaluations.turns[0]")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("field", "value"),
    [("turn_index", 1), ("loss", math.nan), ("value_after", [1e308, 0.0]), ("scores", [1]), ("seconds", -1.0)],
)
def test_evaluations_of_a_server_have_figures_that_can_be(field, value):
    client = pytest.importorskip("mexica_ai.rpc.client")
    wire = pytest.importorskip("mexica_ai.rpc.wire")
    server = SimpleNamespace(_name="127.0.0.1:9")
    call = client.Client.evaluate_record.__wrapped__(server, annotated(), iterations=1)
    evaluation = TurnEvaluation(**EVALUATION, grade=grade_of(EVALUATION["loss"]))
    message = wire.evaluation_to_message(evaluation)
    assert call.read(message) == evaluation
    if isinstance(value, list):
        getattr(message, field)[:] = value
    else:
        setattr(message, field, value)
    with pytest.raises(SearchError, match="with figures that cannot be"):
        call.read(message)
