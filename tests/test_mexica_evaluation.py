"""What is fitted of Mexica: the evaluation's features, and the weights."""

import json
import math

import numpy as np
import pytest

import mexica_ai as ai
from cext.core import baselines
from cext.games.mexica import fitted
from mexica_ai.engines import make_engine

OWN, SHARED = fitted.OWN_FEATURES, fitted.SHARED_FEATURES


@pytest.fixture
def shipped():
    """Put the shipped weights back after a test that replaces them."""
    yield
    fitted.load()


def walk(players, seed):
    """Yield the positions of a random game between its turns, the end aside."""
    position = ai.new_game("mexica", players=players, seed=seed)
    with make_engine("random") as engine:
        while not position.is_over:
            yield position
            position.push(engine.best_turn(position, seed=seed).turn)


def own(position, name):
    """Return a feature of each seat."""
    return [float(value) for value in fitted.features(position.state)[:, OWN.index(name)]]


def shared(position, name):
    features = fitted.features(position.state)[:, 3 * len(OWN) + SHARED.index(name)]
    assert len(set(features.tolist())) == 1
    return float(features[0])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_position_has_finite_features_and_values(players):
    for position in walk(players, 3):
        features = fitted.features(position.state)
        assert features.shape == (players, 3 * len(OWN) + len(SHARED))
        assert np.isfinite(features).all()
        assert np.abs(features).max() < 20
        values, points = baselines.evaluate(position.state)
        assert math.isclose(sum(values), 1, abs_tol=1e-6)
        assert all(math.isfinite(x) for x in (*values, *points))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_rivals_features_are_the_largest_and_the_mean(players):
    for position in walk(players, 4):
        features = fitted.features(position.state)
        n = len(OWN)
        for seat in range(players):
            others = np.delete(features[:, :n], seat, axis=0)
            assert np.allclose(features[seat, n : 2 * n], others.max(0))
            assert np.allclose(features[seat, 2 * n : 3 * n], others.mean(0), atol=1e-5)


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


def test_features_refuse_another_game():
    with pytest.raises(TypeError, match="expected a state of mexica"):
        fitted.features(ai.new_game("nim").state)


def test_more_points_are_better_all_else_equal():
    fields = ai.load("examples/mexica_midgame.json").to_json()
    before = baselines.evaluate(ai.Position.from_json(fields).state)
    fields["seats"][0]["score"] += 40
    after = baselines.evaluate(ai.Position.from_json(fields).state)
    assert after[0][0] > before[0][0] + 0.1
    assert after[1][0] > before[1][0]


def test_weights_are_written_and_read_back(tmp_path, shipped):
    weights = fitted.weights()
    weights["b3"] = np.array([0.25, -0.125], np.float32)
    path = tmp_path / "weights.json"
    sha256 = fitted.save(path, weights, {"games": 0})
    fitted.load(path)
    assert fitted.info == {"version": sha256[:12], "sha256": sha256, "provenance": {"games": 0}}
    for name, array in fitted.weights().items():
        assert np.array_equal(array, weights[name]), name


def test_the_network_is_what_numpy_computes():
    from mexica_ai.train import fit

    position = ai.load("examples/mexica_midgame.json")
    features = fitted.features(position.state)[None]
    outputs = fit._forward(features, fitted.weights())[-1][0]
    values, points = baselines.evaluate(position.state)
    powers = np.exp(outputs[:, 0] - outputs[:, 0].max())
    assert np.allclose(values, powers / powers.sum(), atol=1e-4)
    assert np.allclose(points, 50 * outputs[:, 1], atol=1e-2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(format=1), "format 1, expected 2"),
        (lambda content: content["features"].reverse(), "other features"),
        (lambda content: content["categories"].reverse(), "other categories"),
        (lambda content: content["weights"]["priors"][0].__setitem__(0, 0.0), "numbers greater than 0"),
        (lambda content: content["weights"]["b3"].append(1.0), "weights b3: expected finite numbers"),
        (lambda content: content["weights"]["b3"].__setitem__(0, 7.0), "the checksum does not fit"),
        (lambda content: content.pop("sha256"), "sha256"),
    ],
)
def test_damaged_weights_are_refused_and_change_nothing(tmp_path, shipped, change, message):
    content = json.loads(fitted.PATH.read_text())
    before, info = fitted.weights(), fitted.info
    change(content)
    path = tmp_path / "weights.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        fitted.load(path)
    assert fitted.info is info
    assert all(np.array_equal(array, before[name]) for name, array in fitted.weights().items())


def test_weights_of_a_wrong_shape_are_refused_and_change_nothing(shipped):
    before = fitted.weights()
    for name, array in (("priors", np.zeros((7, 3))), ("priors", -before["priors"]), ("w1", before["w1"].T)):
        with pytest.raises(ValueError, match=f"weights {name}: expected"):
            fitted.set_weights(before | {name: array})
    assert all(np.array_equal(array, before[name]) for name, array in fitted.weights().items())
