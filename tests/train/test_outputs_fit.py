"""The fit of a network's outputs alone, to games of several styles."""

import numpy as np
import pytest

import mexica_ai as ai
from mexica_ai.engines import make_engine
from mexica_ai.game import registry
from mexica_ai.train import outputs, value
from mexica_ai.train.positions import REPORT, SELECTION, TRAIN, Positions, fingerprint

spec = registry.get("coatl").learning.weights
WIDTH = spec.shapes["w1"][0]
PARTS = np.array([REPORT, SELECTION] + [TRAIN] * 8)


@pytest.fixture(scope="module")
def weights():
    return registry.get("coatl").weights().arrays()


def made_up(weights, *, more=0.0, sure=1.0, n=1500, seed=1):
    """Return positions whose scores are `more` than the network expects, and results for logits `sure` times its."""
    generator = np.random.default_rng(seed)
    features = generator.uniform(0, 1, (n, 4, WIDTH)).astype(np.float32)
    seats = np.zeros((n, 4), bool)
    seats[:, :2] = True
    seats[n // 2 :, 2] = True
    features[~seats] = 0
    *_, found = value.forward(features, weights)
    chances = value.softmax(sure * found[..., 0], seats)
    winners = (generator.uniform(size=(n, 1)) > np.cumsum(chances, 1)).sum(1)
    shares = np.eye(4, dtype=np.float32)[winners]
    scores = np.where(seats, found[..., 1] + more, 0).astype(np.float32)
    games = np.arange(n)
    return Positions(features, seats, shares, scores, games, PARTS[games % 10])


def test_points_of_another_style_are_learnt_and_the_layers_below_stay(weights):
    sources = {"games": made_up(weights), "records": made_up(weights, more=0.1, seed=2)}
    found, _ = outputs.fit(sources, weights, {"games": 0.0, "records": 1.0})
    reported = sources["records"].take(sources["records"].parts == REPORT)
    compared = outputs.compare(reported, weights, found)
    assert compared["points_before"] == pytest.approx(-5, abs=0.01)
    assert compared["points_after"] == pytest.approx(0, abs=0.1)
    for name in ("w1", "b1", "w2", "b2"):
        assert np.array_equal(found[name], weights[name])
    both, _ = outputs.fit(sources, weights, {"games": 1.0, "records": 1.0})
    assert outputs.compare(reported, weights, both)["points_after"] == pytest.approx(-2.5, abs=0.3)


def test_logits_change_if_no_source_loses_by_it(weights):
    unsure = {"games": made_up(weights, sure=0.3, seed=3), "records": made_up(weights, sure=0.3, seed=4)}
    found, stiffness = outputs.fit(unsure, weights, dict.fromkeys(unsure, 1.0))
    assert stiffness in outputs.STIFFNESSES
    for positions in unsure.values():
        compared = outputs.compare(positions.take(positions.parts == REPORT), weights, found)
        assert compared["after"] < compared["before"]
    # The search's own games are as they are foreseen, and what others teach makes them worse.
    apart = {"games": made_up(weights, sure=1.0, n=3000, seed=5), "records": made_up(weights, sure=-1.0, seed=6)}
    found, stiffness = outputs.fit(apart, weights, dict.fromkeys(apart, 1.0))
    assert stiffness == np.inf
    assert np.array_equal(found["linear"][0], weights["linear"][0])
    assert np.array_equal(found["w3"][:, 0], weights["w3"][:, 0])


def test_the_change_of_the_logits_makes_its_loss_least(weights):
    positions = made_up(weights, sure=0.3, n=500, seed=7)
    inputs, before = outputs._inputs_of_outputs(positions, weights)
    change = outputs._logit_change({"games": positions}, weights, 0.1)

    def loss(change):
        shares = value.softmax(before[..., 0] + inputs @ change, positions.seats)
        cross_entropy = -(positions.shares * np.log(np.clip(shares, 1e-300, 1))).sum() / len(shares)
        return cross_entropy + 0.05 * change @ change

    generator = np.random.default_rng(8)
    assert loss(change) < loss(np.zeros_like(change))
    for _ in range(20):
        assert loss(change + generator.normal(0, 1e-3, change.shape)) > loss(change)


@pytest.fixture(scope="module")
def records():
    records = []
    for seed in range(12):
        position, turns = ai.new_game("coatl", players=2 + seed % 3, seed=seed), []
        start, engine = position.to_json(), make_engine("greedy")
        while not position.is_over:
            if position.is_chance:
                turns.append(position.draw(seed))
                continue
            turns.append(engine.best_turn(position, seed=seed).turn)
            position.push(turns[-1])
        records.append({"start": start, "turns": turns, "scores": position.scores, "winners": position.winners})
    return sorted(records, key=fingerprint)


def test_positions_of_records_have_their_results_and_depend_on_the_game_alone(records):
    found = outputs.sample(records, 5, spec.features)
    again = outputs.sample(records[::-1], 5, spec.features)
    assert all(np.array_equal(found.features[i], again.features[i]) for i in range(len(found.games)))
    assert set(found.games) == set(range(12))
    assert np.bincount(found.games).max() <= 5
    np.testing.assert_allclose(found.shares.sum(1), 1)
    finals = sorted(round(float(score)) for score in {tuple(row) for row in found.scores * 50} for score in score)
    played = sorted(score for record in records for score in [*record["scores"], 0, 0, 0, 0][:4])
    assert finals == played


def test_no_part_is_empty_though_of_some_games_only_events_are_drawn(records):
    with_positions = set(outputs.sample(records, 1, spec.features).games)
    without = [record for number, record in enumerate(records) if number not in with_positions]
    assert without
    for first in range(len(with_positions) - 3):
        some = [records[number] for number in sorted(with_positions)[first : first + 3]]
        found = outputs.sample([*some, *without], 1, spec.features)
        assert sorted(found.parts) == sorted([TRAIN, SELECTION, REPORT])
