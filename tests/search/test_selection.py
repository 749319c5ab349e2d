"""How a search spreads its descents and values their ends, each in a position where it can be worked out by hand."""

import math
import random

import numpy as np
import pytest
from weighed import Search

import mexica_ai as ai
from test_games.inside.parts import turn_is_settled
from test_games.trick.ops import deal

# Twelve actions, and the game lasts for four turns or more.
OPEN = ai.new_game("nim", piles=[3, 3, 3, 3])


def all_equal(observations):
    """An evaluator that finds two seats equal."""
    return np.full((len(observations), 2), 0.5)


def root_visits(state, iterations, **options):
    search = Search(state, seed=1, widening_base=100, solve=0, **options)
    search.run(iterations=iterations)
    search.check_visits()
    return search.visits_at(state)


@pytest.mark.parametrize("batch_size", [1, 8, 32])
def test_descents_of_a_batch_spread_by_their_virtual_losses(batch_size):
    # All actions are worth the same, and nothing is explored: but for virtual losses the first one would get all.
    options = {"exploration": 0, "exploration_in_turn": 0, "first_visits": 0, "confirming_share": 0}
    visits = root_visits(OPEN.state, 10 * batch_size + 1, evaluator=all_equal, batch_size=batch_size, **options)
    if batch_size == 1:
        assert sorted(visits.values()) == [*[0] * 11, 10]  # one visit opened the root
    else:
        assert min(visits.values()) >= 1
        assert max(visits.values()) < 6 * batch_size


@pytest.mark.parametrize("evaluator", [None, all_equal])
def test_the_last_quarter_of_the_iterations_goes_to_the_best_turn(evaluator):
    # Of three actions the one that takes all wins, but so much exploration spreads the visits evenly.
    state = ai.new_game("nim", piles=[3]).state
    options = {"evaluator": evaluator, "batch_size": 1, "exploration": 100}
    before = root_visits(state, 300, confirming_share=0, **options)
    assert max(before.values()) < 120
    # Until then a longer search does the same.
    after = root_visits(state, 400, confirming_share=0.25, **options)
    gained = {action: after[action] - before[action] for action in after}
    assert sum(gained.values()) == 100
    # A batch that has begun goes on: with an evaluator up to seven more descents that end the game.
    assert gained[3] >= (100 if evaluator is None else 93)
    assert max(root_visits(state, 400, confirming_share=0, **options).values()) < 160


@pytest.mark.parametrize(
    ("lead", "is_settled"),
    [(100, False), (119, False), (120, False), (121, True), (1000, True)],  # 1.2 times what is left
)
def test_a_turn_is_settled_when_no_other_can_catch_up_even_if_the_search_becomes_faster(lead, is_settled):
    # 900 iterations in 9 seconds: 100 in the second that is left.
    assert turn_is_settled(500 + lead, 500, 900, 9.0, 1.0) == is_settled
    assert turn_is_settled(5 + lead, 5, 900, 0.9, 0.1) == is_settled


def replies_by_hand(hand_size, unseen, lead, exploration, iterations, seed):
    """Return how often each card is the reply to a lead: PUCT among the cards at hand in each world.

    A card is compared with the descents in which it was available (Cowling, Powley and Whitehouse, 2012).
    """
    rng = random.Random(seed)
    visits, available = dict.fromkeys(unseen, 0), dict.fromkeys(unseen, 0)

    def score(card):
        explored = exploration / hand_size * math.sqrt(available[card]) / (1 + visits[card])
        return (card > lead) + explored if visits[card] else math.inf

    for _ in range(iterations):
        hand = sorted(rng.sample(unseen, hand_size))
        for card in hand:
            available[card] += 1
        visits[max(hand, key=score)] += 1
    return visits


def test_a_reply_is_compared_with_the_worlds_in_which_it_was_available():
    lead, unseen = 7, [3, 4, 5, 6, 8, 9, 10, 11]
    options = {"exploration": 30, "exploration_in_turn": 30, "first_visits": 1000, "widening_base": 100}
    state = deal([[lead, 0], unseen[:2]], unseen[2:])
    search = Search(state, seed=1, margin_weight=0, confirming_share=0, **options)
    search.run(iterations=6000)
    after = state.copy()
    after.apply(lead)
    found = search.visits_at(after)
    iterations = sum(found.values())
    expected = [replies_by_hand(2, unseen, lead, 30, iterations, seed) for seed in range(5)]
    losing = [sum(visits[card] for card in unseen if card < lead) / iterations for visits in [found, *expected]]
    assert losing[0] == pytest.approx(sum(losing[1:]) / 5, abs=0.02), losing


def value_after_a_lead(lead, hand, unseen, **options):
    """Return the leader's share of the win after a lead, where the rival explores both cards of its hand a lot."""
    state = deal([[lead, 0], hand], [card for card in unseen if card not in hand])
    search = Search(state, seed=1, margin_weight=0, exploration=100, exploration_in_turn=100, **options)
    search.run(iterations=6000)
    search.check_visits()
    root, *others = search.tree()
    [child] = [edge["node"] for edge in root["edges"] if edge["action"] == lead]
    assert all(sum(node["value"]) == pytest.approx(1) for node in (root, *others))
    return search.tree()[child]["value"][0]


def test_a_rival_that_explores_counts_as_if_it_had_played_its_best_action_in_that_world():
    # A hand of two of these cards has none above 7 in 6 of 28 cases, and one above 7 in 16 of them.
    unseen = [3, 4, 5, 6, 8, 9, 10, 11]
    best, mean = 6 / 28, 6 / 28 + 16 / 28 / 2
    values = [value_after_a_lead(7, unseen[:2], unseen, best_reply=share) for share in (0, 0.5, 1)]
    assert best + 0.1 < values[0] < mean
    assert values[1] == pytest.approx((values[0] + best) / 2, abs=0.06)
    assert values[2] == pytest.approx(best, abs=0.03)


def test_best_replies_of_several_threads_sum_to_1():
    search = Search(deal([[7, 0], [3, 9]], [5, 8, 10]), seed=1, threads=4, exploration=100, best_reply=1)
    search.run(iterations=20_000)
    search.check_visits()
    assert all(sum(node["value"]) == pytest.approx(1) for node in search.tree())


def test_at_the_end_of_the_game_the_margin_has_a_tenth_of_its_weight():
    # The last seat wins by a point with 10 and loses by one with 5; each card ends the game.
    state = deal([[8], [5, 10]])
    state.apply(8)
    search = Search(state, seed=1, margin_weight=0.6, margin_scale=1)
    search.run(iterations=50)
    (root,) = search.decisions(1)
    utilities = {action: utility for action, _, utility in root["edges"]}
    # A margin of 1 with scale 1 is worth 3/4, one of -1 a quarter; it counts 0.06.
    assert utilities == pytest.approx({10: 0.94 * 1 + 0.06 * 0.75, 5: 0.94 * 0 + 0.06 * 0.25})


def test_before_the_end_of_the_game_the_margin_has_its_whole_weight():
    # One visit to the root and one to each lead, whose reply comes in a playout.
    search = Search(deal([[3, 15], [8]]), seed=1, margin_weight=0.6, margin_scale=1, first_visits=10)
    search.run(iterations=3)
    (root,) = search.decisions(1)
    assert {action: visits for action, visits, _ in root["edges"]} == {3: 1, 15: 1}
    utilities = {action: utility for action, _, utility in root["edges"]}
    assert utilities == pytest.approx({15: 0.4 * 1 + 0.6 * 0.75, 3: 0.4 * 0 + 0.6 * 0.25})
