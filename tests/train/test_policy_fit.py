"""The fit of a learnt policy keeps the best weights that it saw."""

import dataclasses
import json

import numpy as np

from mexica_ai.game import registry
from mexica_ai.train import policy, selfplay
from mexica_ai.train.positions import REPORT, SELECTION, TRAIN

ACTIONS = 4


def noise(count):
    """Return decisions whose targets have nothing to do with their features, of all parts."""
    random_ = np.random.default_rng(1)
    size = count * ACTIONS
    targets = random_.dirichlet(np.full(ACTIONS, 0.1), count).ravel()
    return policy.Decisions(
        summaries=random_.normal(size=(count, 3)).astype(np.float32),
        starts=np.arange(0, size, ACTIONS),
        categories=random_.integers(2, size=size),
        features=random_.normal(size=(size, 20)).astype(np.float32),
        logs=np.full(size, -np.log(ACTIONS), np.float32),
        targets=targets.astype(np.float32),
        parts=np.array([SELECTION, REPORT, TRAIN, TRAIN])[np.arange(count) % 4],
        surprises=random_.uniform(size=count),
    )


SHAPES = {
    "policy_state": (3, 4),
    "policy_state_bias": (4,),
    "policy_node": (4, 16),
    "policy_category": (2, 16),
    "policy_action": (20, 16),
    "policy_out": (16,),
}


def test_a_fit_that_learns_nothing_returns_the_weights_from_which_it_started():
    start = policy.initial_weights(SHAPES, 1)
    decisions = noise(80)
    fitted, figures = policy.fit(decisions, start, seed=1)
    assert figures["epochs"] == 0
    assert figures["selected"] == policy.log_loss(decisions.take(decisions.parts == SELECTION), start)
    for name, array in start.items():
        np.testing.assert_array_equal(fitted[name], array)
    found = policy.report(decisions, fitted)
    assert found["after"] == found["before"] == policy.log_loss(decisions.take(decisions.parts == REPORT), None)
    assert found["entropy"] < found["before"]


def test_what_is_reported_neither_trains_nor_selects():
    start = policy.initial_weights(SHAPES, 1)
    decisions = noise(80)
    spoiled = decisions.targets.copy().reshape(-1, ACTIONS)
    spoiled[decisions.parts == REPORT] = [1, 0, 0, 0]
    others = dataclasses.replace(decisions, targets=spoiled.ravel())
    one, two = (policy.fit(each, start, seed=1, max_epochs=2) for each in (decisions, others))
    assert one[1] == two[1]
    assert policy.report(decisions, start, start)["in_use"] == policy.report(decisions, start)["after"]
    assert policy.report(decisions, start) != policy.report(others, start)


def test_targets_rest_on_the_priors_of_the_search_and_what_is_read_on_the_weights_that_are_fitted():
    # Only in Tzolk'in do priors and features of actions depend on the network.
    shipped, other = registry.get("tzolkin").weights(), registry.get("tzolkin").learning.weights.estimate()
    games = [selfplay.play_game("tzolkin", 1, index, 2, 12, shipped, players=(2,)) for index in range(3)]
    lines = [("here", json.dumps(game).encode()) for game in games]
    old, new, both = (policy.sample(lines, *weights) for weights in ((shipped,), (other,), (shipped, other)))
    for name in ("summaries", "categories", "features", "logs", "parts"):
        np.testing.assert_array_equal(getattr(both, name), getattr(new, name))
    assert not np.array_equal(old.features, new.features)
    same = np.flatnonzero((old.counts == both.counts) & (old.counts < 48))  # of more actions the best ones are scored
    assert len(same) > 20
    np.testing.assert_allclose(both.take(same).targets, old.take(same).targets, atol=1e-5)
    np.testing.assert_allclose(both.surprises[same], old.surprises[same], atol=1e-4)
    assert abs(new.take(same).targets - old.take(same).targets).max() > 0.01
