"""The fit of a learnt policy keeps the best weights that it saw."""

import numpy as np

from mexica_ai.train import policy

ACTIONS = 4


def noise(count):
    """Return decisions whose targets have nothing to do with their features, one in four held out."""
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
        held_out=np.arange(count) % 4 == 0,
    )


def test_a_fit_that_learns_nothing_returns_the_weights_from_which_it_started():
    shapes = {
        "policy_state": (3, 4),
        "policy_state_bias": (4,),
        "policy_node": (4, 16),
        "policy_category": (2, 16),
        "policy_action": (20, 16),
        "policy_out": (16,),
    }
    start = policy.initial_weights(shapes, 1)
    decisions = noise(40)
    fitted, figures = policy.fit(decisions, start, seed=1)
    assert figures["epochs"] == 0
    assert figures["after"] == figures["before"]
    for name, array in start.items():
        np.testing.assert_array_equal(fitted[name], array)
    unseen = decisions.take(decisions.held_out)
    assert policy.log_loss(unseen, fitted) == figures["after"]
