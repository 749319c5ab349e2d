"""What nobody has searched does not look like a value: no share of the win and no score without a visit."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

import mexica_ai as ai
from mexica_ai.analysis.annotate import evaluate_record
from mexica_ai.analysis.explain import explain
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.stopping import Stop
from mexica_ai.cli import report
from mexica_ai.draw.search import draw_candidates, draw_growth
from mexica_ai.game.position import Position
from mexica_ai.rpc import wire

GAMES = ("mexica", "coatl", "tzolkin", "nim")


def start_of(game: str) -> Position:
    position = ai.new_game(game, players=3, seed=1)
    while position.is_chance:
        position.draw(1)
    return position


def fallback(position: Position, level: int = 10) -> Result:
    """Return the result of a search that was stopped before its first iteration."""
    run = SearchRun(position, SearchSettings(Limits(iterations=100), seed=1, level=level))
    run.stop()
    return run.result()


@pytest.mark.parametrize("level", [1, 10])
@pytest.mark.parametrize("game", GAMES)
def test_a_result_without_iterations_has_no_value(game: str, level: int) -> None:
    position = start_of(game)
    result = fallback(position, level)
    assert (result.iterations, result.value, result.expected_scores) == (0, [], [])
    assert result.is_fallback
    assert all((one.visits, one.value, one.expected_scores) == (0, [], []) for one in result.candidates[0].forecast)
    position.copy().push(result.turn)  # the turn itself is legal


@pytest.mark.parametrize("game", GAMES)
def test_it_is_shown_as_not_searched(game: str) -> None:
    position = start_of(game)
    result = fallback(position)
    text = "\n".join([*report.format_candidates(result.candidates), *report.format_statistics(result)])
    assert "not searched" in text
    assert "0.333" not in text
    assert json.loads(json.dumps(result.to_json()))["value"] == []
    assert "Nothing was searched" in " ".join(explain(position, result).sentences)
    assert "%" not in draw_candidates(result)
    draw_growth([result], 0)
    if game != "nim":
        result.svg(position)


def test_it_stays_so_as_a_message() -> None:
    result = fallback(start_of("coatl"))
    message = wire.result_to_message(result, engine_version="1", rules_version=1)
    assert not message.value
    assert not message.candidates[0].forecast[0].value
    assert wire.result_from_message(message, 3) == result
    assert wire.result_from_message(message) == result  # who reads it need not know the seats


def test_points_of_a_turn_without_visits_keep_those_with_some() -> None:
    position = start_of("mexica")
    result = ai.best_turn(position, iterations=300, seed=1)
    for candidate in result.candidates:
        for point in candidate.forecast:
            assert bool(point.visits) == bool(point.value) == bool(point.expected_scores)
    message = wire.result_to_message(result, engine_version="1", rules_version=1)
    message.candidates[0].forecast[-1].Clear()
    read = wire.result_from_message(message, 3).candidates[0].forecast
    assert [point.visits for point in read] == [point.visits for point in result.candidates[0].forecast[:-1]] + [0]


def test_a_record_is_valued_even_if_a_search_got_no_time() -> None:
    position = start_of("nim")
    turn = ai.best_turn(position, iterations=10, seed=1).turn
    record: dict[str, Any] = {"game": "nim", "version": 1, "start": position.to_json(), "turns": [turn]}
    record |= {"termination": "unfinished", "scores": None, "winners": None}
    (found,) = evaluate_record(record, iterations=10, search=_hungry)
    assert len(found.before) == len(found.after) == 3


def _hungry(position: Position, settings: SearchSettings, stop: Stop) -> Result:
    """Search, but get no processor in the limits that were asked for."""
    if settings.limits.iterations == 1:
        return SearchRun(position, settings).result()
    return replace(fallback(position), stop_reason="time")
