"""What is fitted of a game: the network's inputs and answers, and the weights in the process and in files."""

import json
import math

import numpy as np
import pytest

import mexica_ai as ai
from cext.core import baselines
from mexica_ai import registry
from mexica_ai.engines import make_engine
from mexica_ai.train import fit

GAMES = [name for name in registry.names() if registry.get(name).fitted]


@pytest.fixture(params=GAMES)
def fitted(request):
    """Return what is fitted of a game; after the test the shipped weights are back."""
    found = registry.get(request.param).fitted
    yield found
    found.load()


@pytest.fixture
def midgame(fitted):
    return ai.load(f"examples/{fitted.game}_midgame.json")


def walk(game, players, seed):
    """Yield the positions of a random game between its turns, the end aside."""
    position = ai.new_game(game, players=players, seed=seed)
    with make_engine("random") as engine:
        while not position.is_over:
            if position.is_chance:
                position.draw(seed)
                continue
            yield position
            position.push(engine.best_turn(position, seed=seed).turn)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_position_has_finite_features_and_values(fitted, players):
    for position in walk(fitted.game, players, 3):
        features = fitted.features(position.state)
        assert features.shape == (players, 3 * len(fitted.own_features) + len(fitted.shared_features))
        assert np.isfinite(features).all()
        assert np.abs(features).max() < 20
        values, points = baselines.evaluate(position.state)
        assert math.isclose(sum(values), 1, abs_tol=1e-6)
        assert all(math.isfinite(x) for x in (*values, *points))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_rivals_features_are_the_largest_and_the_mean(fitted, players):
    n = len(fitted.own_features)
    for position in walk(fitted.game, players, 4):
        features = fitted.features(position.state)
        for seat in range(players):
            others = np.delete(features[:, :n], seat, axis=0)
            assert np.allclose(features[seat, n : 2 * n], others.max(0))
            assert np.allclose(features[seat, 2 * n : 3 * n], others.mean(0), atol=1e-5)


def test_features_refuse_another_game(fitted):
    with pytest.raises(TypeError, match=f"expected a state of {fitted.game}"):
        fitted.features(ai.new_game("nim").state)


def test_weights_are_written_and_read_back(fitted, tmp_path):
    weights = fitted.weights()
    weights["b3"] = np.array([0.25, -0.125], np.float32)
    path = tmp_path / "weights.json"
    sha256 = fitted.save(path, weights, {"games": 0})
    fitted.load(path)
    assert fitted.info == {"version": sha256[:12], "sha256": sha256, "provenance": {"games": 0}}
    for name, array in fitted.weights().items():
        assert np.array_equal(array, weights[name]), name


def test_the_network_is_what_numpy_computes(fitted, midgame):
    features = fitted.features(midgame.state)[None]
    outputs = fit._forward(features, fitted.weights())[-1][0]
    values, points = baselines.evaluate(midgame.state)
    powers = np.exp(outputs[:, 0] - outputs[:, 0].max())
    assert np.allclose(values, powers / powers.sum(), atol=1e-4)
    assert np.allclose(points, 50 * outputs[:, 1], atol=1e-2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(format=1), "format 1, expected 2"),
        (lambda content: content["features"].reverse(), "other features"),
        (lambda content: content["categories"].append("more"), "other categories"),
        (lambda content: content["weights"]["b3"].append(1.0), "weights b3: expected finite numbers"),
        (lambda content: content["weights"]["b3"].__setitem__(0, 7.0), "the checksum does not fit"),
        (lambda content: content.pop("sha256"), "sha256"),
    ],
)
def test_damaged_weights_are_refused_and_change_nothing(fitted, tmp_path, change, message):
    content = json.loads(fitted.path.read_text())
    before, info = fitted.weights(), fitted.info
    change(content)
    path = tmp_path / "weights.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        fitted.load(path)
    assert fitted.info is info
    assert all(np.array_equal(array, before[name]) for name, array in fitted.weights().items())


def test_weights_of_a_wrong_shape_are_refused_and_change_nothing(fitted):
    before = fitted.weights()
    wrong = [("b3", np.zeros(3)), ("b3", np.full(2, np.nan)), ("w1", before["w1"].T)]
    if fitted.categories:
        wrong += [("priors", np.zeros((7, 3))), ("priors", -before["priors"])]
    for name, array in wrong:
        with pytest.raises(ValueError, match=f"weights {name}: expected"):
            fitted.set_weights(before | {name: array})
    assert all(np.array_equal(array, before[name]) for name, array in fitted.weights().items())


def test_a_pulled_logit_is_part_fit_part_estimate(fitted, midgame):
    features = fitted.features(midgame.state)[None]
    before = fitted.weights()
    weights, scale = fitted.pull
    own = fit._forward(features, before)[-1][0]
    pulled = fit._forward(features, fitted.pulled(before))[-1][0]
    extra = sum(w * features[0][:, fitted.own_features.index(name)] for name, w in weights.items())
    assert np.allclose(pulled[:, 0], scale * (own[:, 0] + extra), rtol=1e-4, atol=1e-4)
    assert np.array_equal(pulled[:, 1], own[:, 1])
    assert all(np.array_equal(array, before[name]) for name, array in fitted.weights().items())
