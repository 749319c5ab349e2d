"""Fits of a belief to hands whose odds are known."""

from itertools import combinations

import numpy as np
import pytest

from mexica_ai.train import belief
from mexica_ai.train.positions import REPORT


def hands(rng, weights, count):
    """Return hands that were dealt by a belief with these weights."""
    inputs = rng.normal(0, 1, (count, 12, len(weights))).astype(np.float32)
    held = np.zeros((count, 12), bool)
    unseen = np.arange(12) < rng.integers(8, 13, count)[:, None]
    for row in range(count):
        possible = list(combinations(np.flatnonzero(unseen[row]), int(rng.integers(1, 4))))
        odds = np.array([np.exp((inputs[row, list(hand)] @ weights).sum()) for hand in possible])
        held[row, list(possible[rng.choice(len(possible), p=odds / odds.sum())])] = True
    inputs[~unseen] = 0
    parts, games = rng.integers(0, 3, count), np.arange(count)
    return belief.Hands(inputs, unseen, held, np.full(count, 2), rng.random(count), parts, games)


def test_a_fit_finds_the_weights_by_which_hands_were_dealt():
    rng = np.random.default_rng(1)
    weights = np.array([1.0, -0.5, 0.0, 0.3], np.float32)
    sample = hands(rng, weights, 4000)
    found = belief.fit(sample, np.zeros(4))
    assert found == pytest.approx(weights, abs=0.06)
    figures = belief.report(sample, np.zeros(4), found)
    assert figures["after"] - figures["before"] > 10 * figures["error"]
    assert figures["uniform"] == figures["before"]
    twice = belief.report(sample.take(np.repeat(np.arange(4000), 2)), np.zeros(4), found)
    assert twice["error"] == pytest.approx(figures["error"])  # a hand that is seen twice says no more
    # Where there are few hands, the weights in use count.
    others = np.full(4, 2.0)
    assert belief.fit(sample, others) == pytest.approx(found, abs=0.01)
    few = sample.take(np.flatnonzero(sample.parts != REPORT)[:3])
    assert abs(belief.fit(few, others) - belief.fit(few, np.zeros(4))).max() > 0.5


def test_without_hands_nothing_is_fitted_and_nothing_reported():
    sample = hands(np.random.default_rng(3), np.zeros(2), 20)
    none = sample.take(sample.parts == 99)
    assert set(belief.report(none, np.zeros(2), np.ones(2)).values()) == {None}
    assert (belief.fit(none, np.ones(2)) == 1).all()


def test_the_likelihood_of_a_hand_is_that_of_all_hands_of_its_size():
    rng = np.random.default_rng(2)
    weights = np.array([1.0, -0.5], np.float32)
    sample = hands(rng, weights, 20)
    for row, likelihood in enumerate(belief.log_likelihood(sample, weights)):
        scores = sample.inputs[row] @ weights
        cards = np.flatnonzero(sample.unseen[row])
        sums = [scores[list(hand)].sum() for hand in combinations(cards, int(sample.held[row].sum()))]
        assert likelihood == pytest.approx(scores[sample.held[row]].sum() - np.log(np.exp(sums).sum()), abs=1e-5)
