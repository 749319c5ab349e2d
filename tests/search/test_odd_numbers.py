"""Weights and games that give no usable numbers: a search of any quality, of finite numbers, within its limits."""

import json
import math

import numpy as np
import pytest
from fuzz import material
from fuzz.material import seeded, walked
from weighed import Beam, Search, evaluate, greedy_turn

import mexica_ai as ai
from cext.core.learning.priors import policy_of
from mexica_ai.game import registry
from test_games.trick.ops import ODD_KINDS, deal

WEIGHED = [name for name in registry.names() if registry.get(name).learning.weights]
# With 1e3 to 1e30 all products of priors and scores underflow; further out sums are infinite, or no numbers.
FACTORS = (1e3, 1e4, 1e15, 1e30, 1e38, -1e4, -1e38, 1e-45, 0.0)


def scaled(game, factor, only=""):
    """Return the weights that ship times a factor, those whose names begin with `only`."""
    usual = registry.get(game).weights().arrays()
    return material.scaled(game, {name: factor if name.startswith(only) else 1.0 for name in usual})


def check_sound(state, found):
    """Check the candidates that an engine has found."""
    assert found
    for candidate in found:
        assert np.isfinite([*candidate["value"], *candidate["expected_scores"], candidate["prior"]]).all()
        assert all(0 <= value <= 1 for value in candidate["value"])
        after = state.copy()
        for action in candidate["actions"]:
            after.apply(action)  # raises if it is illegal


def check_engines(state, weights=None):
    given = {} if weights is None else {"weights": weights}
    for options in ({}, {"halving": 8, "prior_noise": 1.0}, {"whole_turns": 2, "playout_weight": 0}):
        search = Search(state, memory_mb=2, seed=1, **options, **given)
        search.run(iterations=20)
        search.check_visits()
        check_sound(state, search.result(5)["candidates"])
    beam = Beam(state, width=3, memory_mb=2, seed=1, **given)
    beam.run(iterations=3)
    check_sound(state, beam.result(2)["candidates"])
    greedy_turn(state, **given)
    values, scores = evaluate(state, **given)
    assert np.isfinite(values + scores).all()
    if state.legal_actions():
        _, priors = policy_of(state, weights)
        assert all(0 <= prior < math.inf for prior in priors)
        assert max(priors) > 0


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("game", WEIGHED)
def test_weights_of_any_size_are_searched_with(game, factor):
    rng = seeded(game, factor)
    for only in ("", "policy", "priors", rng.choice(sorted(registry.get(game).weights().arrays()))):
        check_engines(walked(rng, game).state, scaled(game, factor, only))


@pytest.mark.parametrize("factor", [1e3, 1e30])
@pytest.mark.parametrize("game", WEIGHED)
def test_a_file_of_such_weights_gives_an_answer_in_json(game, factor, tmp_path):
    file = tmp_path / "weights.json"
    registry.get(game).learning.weights.save(file, scaled(game, factor))
    weights = registry.get(game).learning.weights.load(file)
    position = ai.load(f"examples/{game}_midgame.json")
    result = ai.best_turn(position, iterations=10, seed=1, weights=weights)
    json.dumps(result.to_json(), allow_nan=False)
    position.push(result.turn)


@pytest.mark.parametrize("odd", ODD_KINDS)
def test_a_game_whose_policy_and_evaluation_give_no_numbers_is_searched(odd):
    state = deal([[1, 5, 9], [2, 6, 10], [3, 4, 15]], [0, 7], odd=odd)
    check_engines(state)


def test_an_evaluator_with_enormous_scores_gives_finite_results():
    def evaluator(rows):
        return np.full((len(rows), 4), 0.5), np.full((len(rows), 4), 1e308) * [1, -1, 1, -1]

    state = ai.load("examples/coatl_midgame.json").state
    search = Search(state, memory_mb=2, seed=1, evaluator=evaluator, batch_size=4)
    search.run(iterations=40)
    check_sound(state, search.result(3)["candidates"])
