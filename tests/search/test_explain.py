"""Why a turn: the sentences are facts of the rules and of the search."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from servers import RunningServer

import mexica_ai as ai
from mexica_ai import wire
from mexica_ai.cli.main import main
from mexica_ai.explain import MIN_VISITS, explain
from mexica_ai.results import Forecast
from mexica_ai.v1 import engine_pb2

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module", params=["coatl", "mexica", "tzolkin"])
def searched(request):
    position = ai.load(EXAMPLES / f"{request.param}_midgame.json")
    return position, ai.best_turn(position, iterations=2000, seed=2)


def test_the_forecast_is_that_of_the_nodes(searched):
    position, result = searched
    best = result.candidates[0]
    assert best.forecast[0].visits == result.iterations
    assert len(best.forecast) <= len(best.turn) + 1
    if len(best.forecast) == len(best.turn) + 1:
        assert (best.forecast[-1].visits, best.forecast[-1].value) == (best.visits, best.value)
    for point in best.forecast:
        assert 0 < point.visits <= result.iterations
        assert sum(point.value) == pytest.approx(1)
        assert len(point.expected_scores) == position.players


def test_each_action_is_explained(searched):
    position, result = searched
    found = explain(position, result)
    assert [each.step.action for each in found.steps] == result.turn
    for each in found.steps:
        assert each.sentence.startswith(f"{each.step.action}: ")
        assert all(str(amount) in each.sentence for amount in each.step.cost.values())
        assert (each.forecast is None) == ("expects" not in each.sentence)
        assert each.forecast is None or each.forecast.visits >= MIN_VISITS
    assert found.sentences[: len(found.steps)] == [each.sentence for each in found.steps]
    seat = position.to_move
    first, second = result.candidates[:2]
    assert found.gives_away == first.value[seat] - second.value[seat]
    assert "; ".join(second.turn) in found.sentences[len(found.steps)]
    assert found.reply == first.line[0]
    assert found.sentences[-1] == f"The search expects next: {'; '.join(first.line[0])}."
    assert result.explain(position) == found


def test_what_is_not_known_is_not_told():
    position = ai.load(EXAMPLES / "mexica_midgame.json")
    result = ai.best_turn(position, iterations=300, seed=1)
    best = replace(result.candidates[0], forecast=[Forecast(MIN_VISITS - 1, [0.2] * 3, [1.0] * 3)], line=[])
    found = explain(position, replace(result, candidates=[best]))
    assert (found.gives_away, found.reply) == (None, None)
    assert len(found.sentences) == len(best.turn)
    assert not any("expects" in sentence for sentence in found.sentences)


def test_a_runner_up_with_a_higher_mean_is_told_as_that():
    position = ai.load(EXAMPLES / "mexica_midgame.json")
    result = ai.best_turn(position, iterations=300, seed=1)
    first, second = result.candidates[:2]
    high = replace(second, value=[first.value[0] + 0.1, *second.value[1:]])
    found = explain(position, replace(result, candidates=[first, high]))
    assert found.gives_away == pytest.approx(-0.1)
    assert any("has a higher mean" in sentence for sentence in found.sentences)


def test_the_command_and_the_service_explain_alike(capsys):
    path = str(EXAMPLES / "mexica_midgame.json")
    assert main(["best", path, "--iterations", "400", "--seed", "3", "--memory", "64", "--explain", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["explanation"]
    assert main(["best", path, "--iterations", "400", "--seed", "3", "--memory", "64", "--explain"]) == 0
    assert "Why:\n- " in capsys.readouterr().out
    server = RunningServer(None, memory_mb=64)
    request = engine_pb2.BestTurnRequest(
        position=wire.position_to_message(ai.load(path)),
        limits=engine_pb2.Limits(iterations=400, threads=1),
        seed=3,
        explain=True,
    )
    answer = server.stub.BestTurn(request).result
    request.explain = False
    assert not server.stub.BestTurn(request).result.explanation
    server.close()
    assert list(answer.explanation) == found
    assert wire.result_from_message(answer).explain(ai.load(path)).sentences == found
