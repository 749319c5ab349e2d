"""The features of Mexica's evaluation."""

import math

import numpy as np
from weighed import evaluate

import mexica_ai as ai
from mexica_ai.game import registry

spec = registry.get("mexica").learning.weights
OWN, SHARED = spec.own_features, spec.shared_features


def own(position, name):
    """Return a feature of each seat."""
    return [float(value) for value in spec.features(position.state)[:, OWN.index(name)]]


def shared(position, name):
    features = spec.features(position.state)[:, 3 * len(OWN) + SHARED.index(name)]
    assert len(set(features.tolist())) == 1
    return float(features[0])


def test_features_of_a_new_game():
    position = ai.new_game("mexica", players=2, seed=1)
    assert own(position, "score") == [0, 0]
    assert np.allclose(own(position, "stock_levels"), [19 / 20] * 2)
    assert own(position, "stock_temples") == [1, 1]
    assert own(position, "is_to_move") == [1, 0]
    assert shared(position, "period_2") == 0
    assert shared(position, "display") == 1
    assert shared(position, "doubles") == 1
    assert math.isclose(shared(position, "widest"), 1.92, rel_tol=1e-6)
    assert math.isclose(shared(position, "neutral_in_widest"), 2.0, rel_tol=1e-6)


def test_features_of_the_midgame_example():
    position = ai.load("examples/mexica_midgame.json")
    seats = position.to_json()["seats"]
    assert np.allclose(own(position, "score"), [seat["score"] / 50 for seat in seats])
    assert np.allclose(own(position, "action_tokens"), [seat["action_tokens"] / 3 for seat in seats])
    levels = [sum(n * level for level, n in enumerate(seat["temples"], 1)) for seat in seats]
    assert np.allclose(own(position, "stock_levels"), [n / 20 for n in levels])


def test_more_points_are_better_all_else_equal():
    fields = ai.load("examples/mexica_midgame.json").to_json()
    before = evaluate(ai.Position.from_json(fields).state)
    fields["seats"][0]["score"] += 40
    after = evaluate(ai.Position.from_json(fields).state)
    assert after[0][0] > before[0][0] + 0.1
    assert after[1][0] > before[1][0]
