"""The fit of the network of an evaluation, and the parts into which games are split for it."""

import hashlib

import numpy as np
import pytest

from mexica_ai.game import registry
from mexica_ai.io.errors import SearchError
from mexica_ai.train import positions, value
from mexica_ai.train.positions import REPORT, SELECTION, TRAIN

spec = registry.get("mexica").learning.weights
PARTS = np.array([REPORT, SELECTION] + [TRAIN] * 8)


def digests(n):
    return [hashlib.sha256(str(number).encode()).digest() for number in range(n)]


def test_a_game_alone_decides_of_which_part_it_is():
    many = digests(3000)
    found = positions.split(many)
    for part in (SELECTION, REPORT):
        assert 0.08 < (found == part).mean() < 0.12
    for chosen in (slice(0, 1500), slice(1000, 3000), slice(None, None, -1)):
        assert np.array_equal(positions.split(many[chosen]), found[chosen])
    record = {"start": {"piles": [1]}, "turns": [["a"], ["b"]], "engines": ["mcts"]}
    same = {key: record[key] for key in reversed(record) if key != "engines"}
    assert positions.fingerprint(same) == positions.fingerprint(record)
    assert positions.fingerprint(record | {"turns": [["a"]]}) != positions.fingerprint(record)


@pytest.mark.parametrize("part", [TRAIN, SELECTION, REPORT])
def test_of_few_games_each_part_has_one(part):
    many = digests(400)
    alike = [digest for digest, found in zip(many, positions.split(many), strict=True) if found == part][:5]
    for few in (alike, alike[:3], [*alike[:3], alike[0]]):
        found = positions.split(few)
        assert set(found) == {TRAIN, SELECTION, REPORT}
        assert found.tolist()[::-1] == positions.split(few[::-1]).tolist()


def test_too_few_different_games_are_refused():
    one, two, *_ = digests(2)
    for few in ([], [one], [one] * 10, [one, two, two]):
        with pytest.raises(SearchError, match="different games; a fit needs at least 3, "):
            positions.split(few)


def made_up(n=10000, seed=0):
    """Return positions whose first feature decides the winner, and the second the score."""
    generator = np.random.default_rng(seed)
    width = spec.shapes["w1"][0]
    features = generator.normal(0, 0.3, (n, 4, width)).astype(np.float32)
    features[..., list(spec.estimates)] = 0
    seats = np.zeros((n, 4), bool)
    seats[:, :2] = True
    seats[n // 2 :, 2] = True
    features[~seats] = 0
    winner = np.where(seats, features[..., 0], -np.inf).argmax(1)
    shares = np.zeros((n, 4), np.float32)
    shares[np.arange(n), winner] = 1
    scores = np.where(seats, 1 + 2 * features[..., 1], 0).astype(np.float32)
    return positions.Positions(features, seats, shares, scores, np.arange(n), PARTS[np.arange(n) % 10])


def of(data, part):
    return data.take(data.parts == part)


def test_a_fit_finds_what_decides():
    data = made_up(4000)
    begin = value.initial_weights(spec.network, spec.estimates, 1)
    epochs = []
    weights, selected = value.fit(data, begin, epochs=60, seed=1, on_epoch=epochs.append)
    assert selected == value.loss(of(data, SELECTION), weights)
    found = value.compare(of(data, REPORT), begin, weights)
    assert found["before"] == value.loss(of(data, REPORT), begin)
    assert found["after"] == value.loss(of(data, REPORT), weights)
    assert found["after"] < found["before"] - 10 * found["error"]
    assert epochs == list(range(1, len(epochs) + 1))


def rescored(data, part, scores):
    """Return the positions with other scores in a part."""
    return positions.Positions(**vars(data) | {"scores": np.where((data.parts == part)[:, None], scores, data.scores)})


def test_what_is_reported_neither_trains_nor_selects():
    data = made_up(600)
    begin = value.initial_weights(spec.network, spec.estimates, 1)
    one, two = (value.fit(each, begin, epochs=3, seed=1) for each in (data, rescored(data, REPORT, 7)))
    assert one[1] == two[1]
    assert all(np.array_equal(one[0][name], two[0][name]) for name in begin)
    for part in (TRAIN, SELECTION):
        spoiled = rescored(data, part, 7)
        assert value.fit(spoiled, begin, epochs=3, seed=1)[1] != one[1]


def test_a_fit_that_learns_nothing_returns_the_weights_from_which_it_started():
    data = made_up(400)
    begin = value.initial_weights(spec.network, spec.estimates, 1)
    noise = np.random.default_rng(1).normal(0, 9, data.scores.shape)
    random_ = rescored(data, TRAIN, noise)
    epochs = []
    weights, selected = value.fit(random_, begin, epochs=60, seed=1, learning_rate=0.1, on_epoch=epochs.append)
    assert epochs[-1] == value.PATIENCE
    assert selected == pytest.approx(value.loss(of(data, SELECTION), begin))
    assert all(np.array_equal(weights[name], begin[name]) for name in begin)


def test_the_error_of_a_difference_is_between_games():
    data = made_up(4000)
    before, after = (value.initial_weights(spec.network, spec.estimates, seed) for seed in (1, 2))
    apart = value.compare(data, before, after)["error"]
    repeated = positions.Positions(**vars(data) | {"games": data.games // 2 * 2})
    twice = value.compare(repeated.take(np.repeat(np.arange(0, 4000, 2), 2)), before, after)["error"]
    # Twins add nothing: half as many games, and the error is that of half as many positions.
    assert twice == pytest.approx(apart * 2**0.5, rel=0.1)
    single = positions.Positions(**vars(data) | {"games": np.zeros(4000, int)})
    assert value.compare(single, before, after)["error"] is None


def test_gradients_are_those_of_the_loss():
    data = made_up(64)
    generator = np.random.default_rng(1)
    weights = {name: generator.normal(0, 0.3, shape).astype(np.float64) for name, shape in spec.network.items()}

    def loss(weights):
        outputs = value.forward(data.features.astype(np.float64), weights)[-1]
        shares = value.softmax(outputs[..., 0], data.seats)
        errors = np.where(data.seats, outputs[..., 1] - data.scores, 0)
        cross = -(data.shares * np.log(np.clip(shares, 1e-12, 1))).sum() / len(data.games)
        return cross + value.SCORE_WEIGHT * (errors**2).sum() / data.seats.sum()

    gradients = value._gradients(data, weights)
    for name, array in weights.items():
        index = tuple(generator.integers(size) for size in array.shape)
        step = 1e-6
        changed = {key: value.copy() for key, value in weights.items()}
        changed[name][index] += step
        up = loss(changed)
        changed[name][index] -= 2 * step
        slope = (up - loss(changed)) / (2 * step)
        assert np.isclose(gradients[name][index], slope, rtol=1e-3, atol=1e-6), name
