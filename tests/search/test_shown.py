"""Turns whose last action shows what was hidden: they lead to another position in each world, and are one turn.

In Tzolk'in the last seat that keeps tiles ends the choice of all seats, and what they have kept is on the table.
"""

import math

import numpy as np
import pytest
from pure_shown import GAME
from weighed import Search

import mexica_ai as ai
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings


def before_the_last_keep(players):
    position = ai.new_game("tzolkin", players=players, seed=1)
    for _ in range(players - 1):
        position.push_action(position.legal_actions()[0])
    return position


def found_by(players, iterations=600, **options):
    search = Search(before_the_last_keep(players).state, seed=1, memory_mb=16, **options)
    search.run(iterations=iterations)
    search.check_visits()
    return search, search.result(100)


@pytest.mark.parametrize(("players", "threads"), [(2, 1), (3, 1), (4, 1), (4, 3)])
def test_such_a_turn_is_one_candidate(players, threads):
    search, result = found_by(players, threads=threads)
    candidates, first_actions = result["candidates"], result["first_actions"]
    assert sum(node["turn"] == 1 for node in search.tree()) > 40  # its ends
    turns = [each["actions"] for each in candidates]
    assert sorted(turns) == sorted([each["action"]] for each in first_actions)
    assert len(turns) == result["distinct_turns"]
    assert {each["actions"][0]: each["visits"] for each in candidates} == {
        each["action"]: each["visits"] for each in first_actions
    }
    assert candidates[0]["visits"] == max(each["visits"] for each in candidates)
    total = sum(each["visits"] for each in candidates)
    for seat in range(players):
        mean = sum(each["visits"] * each["value"][seat] for each in candidates) / total
        assert mean == pytest.approx(candidates[0]["forecast"][0]["value"][seat], abs=2 / total)
    values = {each["action"]: each["value"] for each in first_actions}
    for each in candidates:
        assert each["value"] == values[each["actions"][0]]
        assert each["line"] == []
        if each["visits"] > 50:
            assert all(0 < error < 0.5 / math.sqrt(each["visits"]) for error in each["value_error"])


def test_halving_compares_such_turns_by_all_worlds():
    search, result = found_by(4, iterations=200, halving=4)
    visits = [each["visits"] for each in result["candidates"]]
    assert sorted(visits, reverse=True) == [75, 75, 25, 25]
    assert visits[0] == 75
    found = {action: utility for action, _, utility in search.decisions(1)[0]["edges"]}
    assert len(found) == 4
    assert len(set(found.values())) == 4


def test_the_turn_of_a_search_with_time_is_played_by_its_visits():
    position = before_the_last_keep(4)
    result = SearchRun(position, SearchSettings(Limits(time_s=0.3), 3, candidates=10)).result()
    assert len({tuple(each.turn) for each in result.candidates}) == len(result.candidates) <= 6
    assert result.candidates[0].visits == max(each.visits for each in result.candidates)


def test_halving_does_not_count_descents_that_wait():
    """With equal values the candidates that are left are those with the best priors, not those with few descents."""
    _, result = found_by(
        4, iterations=64, halving=16, batch_size=16, evaluator=lambda rows: np.full((len(rows), 4), 0.25)
    )
    found = sorted(result["first_actions"], key=lambda each: -each["prior"])
    visits = [each["visits"] for each in found]
    assert len(visits) == 6
    assert visits == sorted(visits, reverse=True)
    assert visits[2] > visits[3]


def test_halving_plays_an_action_that_shows_something_within_the_turn():
    look, take = map(GAME.text.parse_action, ["look", "take"])
    for seed in range(6):
        search = Search(GAME.starts.new_state(2, 1), seed=seed, halving=2, solve=0)
        search.run(iterations=121)
        search.check_visits()
        result = search.result()
        assert [each["visits"] for each in result["first_actions"]] == [60, 60]
        assert result["candidates"][0]["actions"] == [look, take]
