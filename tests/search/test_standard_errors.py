"""Standard errors of the means of candidates."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

import mexica_ai as ai
from mexica_ai.analysis.calibration import Calibration, _moved, _slopes
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import sound
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.cli import report
from mexica_ai.rpc import wire


def start_of(game: str, players: int = 3, seed: int = 1) -> ai.Position:
    position = ai.new_game(game, players=players, seed=seed)
    while position.is_chance:
        position.draw(1)
    return position


@pytest.mark.parametrize("threads", [1, 2])
def test_where_a_game_is_won_or_lost_the_share_tells_the_spread(threads: int) -> None:
    # Nim has no evaluation: each iteration ends with 0 or 1, so the sum of the squares is the sum.
    position = ai.new_game("nim", piles=[7, 6, 5])
    result = ai.best_turn(position, iterations=3000, seed=1, threads=threads, candidates=50)
    compared = 0
    for one in result.candidates:
        if one.visits < 2:
            assert (one.value_error, one.expected_scores_error) == ([], [])
            continue
        compared += 1
        expected = [math.sqrt(share * (1 - share) / (one.visits - 1)) for share in one.value]
        assert one.value_error == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert compared > 10


def test_a_known_outcome_has_no_error() -> None:
    position = ai.new_game("nim", piles=[1, 1], plies_per_turn=2)
    won = [one for one in ai.best_turn(position, iterations=500, seed=1, candidates=9).candidates if one.visits > 1]
    assert won
    for one in won:
        assert max(one.value_error) == 0


@pytest.mark.parametrize("game", ["mexica", "coatl", "tzolkin"])
def test_all_games_tell_them(game: str) -> None:
    position = start_of(game)
    result = ai.best_turn(position, iterations=2000, seed=1)
    best = result.candidates[0]
    assert len(best.value_error) == len(best.expected_scores_error) == 3
    assert all(0 < error < 0.05 for error in best.value_error)
    assert all(0 < error < 2 for error in best.expected_scores_error)
    few = ai.best_turn(position, iterations=100, seed=1).candidates[0]
    assert max(best.value_error) < max(few.value_error)


def test_what_was_not_searched_has_no_error() -> None:
    run = SearchRun(start_of("mexica"), SearchSettings(Limits(iterations=9), 1))
    run.stop()
    best = run.result().candidates[0]
    assert (best.value_error, best.expected_scores_error) == ([], [])


def test_errors_of_published_shares_follow_the_map() -> None:
    numbers = (0.8, -0.1, 1.3)
    value = [0.5, 0.3, 0.2]
    moved, slopes = _moved(value, 1, *numbers), _slopes(value, 1, *numbers)
    share = moved[1]
    assert slopes[1] == pytest.approx(0.8 * share * (1 - share) / (0.3 * 0.7), rel=1e-4)
    two = _slopes([0.4, 0.6], 0, *numbers)
    assert two[0] == pytest.approx(two[1], rel=1e-4)
    assert _slopes(value, 1, 1.0, 0.0, 1.0) == pytest.approx([1, 1, 1], rel=1e-4)
    assert all(math.isfinite(slope) for share in (0.0, 1.0) for slope in _slopes([share, 1 - share], 0, *numbers))


def test_published_results_have_moved_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    position = start_of("mexica", players=2)
    monkeypatch.setattr(SearchRun, "_find_calibration", lambda self: None)
    found = ai.best_turn(position, iterations=300, seed=1).candidates[0]
    shrinking = Calibration(((0, 1), (0, 1)), (0.5,) * 4, (0.0,) * 4, (1.0,) * 4)
    monkeypatch.setattr(SearchRun, "_find_calibration", lambda self: shrinking)
    published = ai.best_turn(position, iterations=300, seed=1).candidates[0]
    assert published.value != found.value
    assert published.value_error == pytest.approx([error / 2 for error in found.value_error], rel=0.05)
    assert published.expected_scores_error == found.expected_scores_error


def test_they_are_shown_and_sent() -> None:
    result = ai.best_turn(start_of("mexica"), iterations=300, seed=1)
    best = result.candidates[0]
    lines = report.format_candidates(result.candidates)
    assert f"\N{PLUS-MINUS SIGN}{max(best.value_error):.3f}" in lines[1]
    assert max(map(len, lines)) <= 80
    message = wire.result_to_message(result, engine_version="1", rules_version=1)
    assert wire.result_from_message(message, 3).candidates == result.candidates
    message.candidates[0].value_error[0] = -1
    message.candidates[1].expected_scores_error.append(0.1)
    read = wire.result_from_message(message, 3).candidates
    assert (read[0].value_error, read[1].expected_scores_error) == ([], [])
    assert sound(result).candidates == result.candidates


def test_more_iterations_make_them_smaller() -> None:
    position = start_of("mexica", players=2)
    errors = [max(ai.best_turn(position, iterations=n, seed=2).candidates[0].value_error) for n in (100, 1000, 10000)]
    assert all(after < before for before, after in pairwise(errors))
