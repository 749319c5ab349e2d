"""Deals of Coatl that follow a belief: in proportion to its odds, and never what a seat knows to be wrong.

`test_coatl_observations` checks that they fit all that a seat has seen.
"""

import json
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from coatl_builder import believing
from scipy.stats import chisquare
from test_coatl_determinize import midgame, state_of, unseen_prophecies
from test_coatl_observations import OPEN, little, seat_with
from weighed import Search

from cext.core.baselines.simple import determinize
from cext.games.coatl.belief import belief_inputs
from mexica_ai.game import registry
from mexica_ai.games.coatl import facts, notation
from mexica_ai.train.weights import weights_spec

SPEC = weights_spec("coatl")
DRAWS = 8_000
LEAST_P = 1e-3  # the draws are seeded, so a test passes always or never


def small():
    """Return a position with ten unseen prophecies for seat 0, two alike: three in hands, one put away, the deck."""
    position = little(
        seat_with(["P10"]),
        seat_with(["P00", "P18"], ["P26"], ["P40"]),
        seat_with(["P02"]),
        deck=["P00", "P09", "P15", "P31", "P44", "P47"],
        display=OPEN,
    )
    position["seats"][1]["stored"]["bodies"] = "YYRRB"
    position["seats"][2]["stored"]["bodies"] = "KKGG"
    position["seats"][2]["coatls"][2]["prophecies"] = []
    return position


def odds_of(state, weights, seat):
    """Return each unseen prophecy's odds to be in a seat's hand, by its name, and each temple's."""
    found = []
    ends = len(SPEC.belief) - len(facts.TEMPLE_NAMES)
    singles = slice(ends - len(facts.FACES), ends), slice(ends, None)
    for (inputs, _), single in zip(belief_inputs(state, 0, seat), singles, strict=True):
        cards = inputs[:, single].argmax(1).tolist()
        found.append(dict(zip(cards, np.exp(inputs @ weights.arrays()["belief"]).tolist(), strict=True)))
    return found


def chances_of(unseen, sizes, odds):
    """Return the probability of each world: hands of these sizes, sorted, of unseen cards with repetitions."""
    cards = sorted(unseen.elements())
    worlds = Counter()

    def deal(left, number, weight, hands):
        if number == len(sizes):
            worlds[hands] += weight
            return
        for chosen in combinations(left, sizes[number]):
            hand = tuple(sorted(cards[i] for i in chosen))
            times = np.prod([odds[number][card] for card in hand])
            deal([i for i in left if i not in chosen], number + 1, weight * times, (*hands, hand))

    deal(range(len(cards)), 0, 1.0, ())
    total = sum(worlds.values())
    return {world: weight / total for world, weight in worlds.items()}


def hidden_hands(state, key, shown):
    position = notation.format_position(state)
    return tuple(
        tuple(sorted((Counter(position["seats"][seat][key]) - Counter(position["seats"][seat][shown])).elements()))
        for seat in (1, 2)
    )


@pytest.mark.slow
@pytest.mark.parametrize("strength", [0.5, 1.0])
@pytest.mark.parametrize("kind", ["prophecies", "temples"])
def test_worlds_are_dealt_in_proportion_to_their_odds(kind, strength, monkeypatch):
    # In a game no position has so few unseen prophecies.
    monkeypatch.setattr(notation, "check_position", lambda *_: None)
    data = small() if kind == "prophecies" else midgame()
    state = state_of(data)
    which = ["prophecies", "temples"].index(kind)
    key, shown = [("hand", "shown"), ("temples", "shown_temples")][which]
    names = [facts.FACES, facts.TEMPLE_NAMES][which]
    odds = [
        {names[card]: number**strength for card, number in odds_of(state, believing(), seat)[which].items()}
        for seat in (1, 2)
    ]
    unseen = unseen_prophecies(data, 0) if kind == "prophecies" else Counter(dict.fromkeys(odds[0], 1))
    expected = chances_of(unseen, [len(hand) for hand in hidden_hands(state, key, shown)], odds)
    assert max(expected.values()) > 3 * min(expected.values())
    observed = Counter()
    for seed in range(DRAWS):
        world = state.copy()
        assert determinize(world, 0, seed, weights=believing(), belief=strength)
        observed[hidden_hands(world, key, shown)] += 1
    assert set(observed) <= set(expected)
    # Worlds that are expected too rarely for a chi-square are counted as one.
    common = [world for world, chance in expected.items() if chance * DRAWS >= 10]
    counts = [observed[world] for world in common] + [sum(observed[world] for world in set(expected) - set(common))]
    chances = [expected[world] for world in common]
    assert chisquare(counts, [DRAWS * chance for chance in (*chances, 1 - sum(chances))]).pvalue > LEAST_P


def dealt(state, seed, **options):
    world = state.copy()
    assert determinize(world, 0, seed, **options)
    return notation.format_position(world)


def test_the_same_seed_is_the_same_deal():
    state = state_of(midgame())
    assert dealt(state, 5, weights=believing()) == dealt(state, 5, weights=believing())
    assert len({json.dumps(dealt(state, seed, weights=believing())) for seed in range(20)}) > 15


def test_without_a_belief_deals_are_those_of_the_rules():
    state, shipped = state_of(midgame()), registry.get("coatl").weights()
    without = SPEC.make({name: array for name, array in shipped.arrays().items() if name != "belief"})
    for seed in range(20):
        plain = state.copy()
        plain.determinize(0, seed)
        assert dealt(state, seed, weights=believing(), belief=0) == notation.format_position(plain)
        assert dealt(state, seed, weights=without) == notation.format_position(plain)


@pytest.mark.parametrize("strength", [-1, float("nan"), float("inf")])
def test_other_strengths_are_refused(strength):
    with pytest.raises(ValueError, match="belief: given"):
        determinize(state_of(midgame()), 0, 1, weights=believing(), belief=strength)


@pytest.mark.parametrize("seats", [(0, 0), (0, 3), (-1, 0), (7, 1)])
def test_inputs_of_seats_that_are_not_there_are_refused(seats):
    with pytest.raises(ValueError, match="expected two different ones from 0 to 2"):
        belief_inputs(state_of(midgame()), *seats)


def test_a_search_deals_by_the_belief_of_its_weights():
    state = state_of(midgame())

    def found(weights, **options):
        search = Search(state, weights=weights, seed=1, **options)
        search.run(iterations=50)
        return search.result(3)["candidates"]

    shipped = registry.get("coatl").weights()
    without = SPEC.make({name: array for name, array in shipped.arrays().items() if name != "belief"})
    assert found(believing(), belief=0) == found(without)
    assert found(believing()) != found(without)
