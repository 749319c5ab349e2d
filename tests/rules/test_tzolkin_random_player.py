"""What is drawn in Tzolk'in: the random player's actions, buildings that come on display, tiles that are unseen.

The random player draws one of the verbs that are legal, each as likely; then one action of that verb, each as
likely.
"""

import random
from collections import Counter
from math import comb

import pytest
from reference import tzolkin as reference
from scipy.stats import chisquare
from tzolkin_builder import build

from cext.core.baselines.simple import random_turn
from cext.core.contract.game import CHANCE
from mexica_ai import new_game
from mexica_ai.games.tzolkin.game import GAME

GAMES = 60
ALIKE = 2  # states with the same legal verbs that are looked at
DRAWS = 2_000
LEAST_P = 1e-5  # the draws are seeded, so a test passes always or never
LEAST_EXPECTED = 5  # rarer actions are counted together, by verb
VERBS = range(1, 17)  # those of seats


def verb(action):
    return action >> 56


def distribution(legal):
    """Return the probability of each legal action, by the definition."""
    numbers = Counter(map(verb, legal))
    return {action: 1 / len(numbers) / numbers[verb(action)] for action in legal}


def assert_fits(drawn, expected):
    assert set(drawn) <= set(expected)
    if len(expected) > 1:
        number = drawn.total()
        fit = chisquare([drawn[key] for key in expected], [share * number for share in expected.values()])
        assert fit.pvalue > LEAST_P, (fit, expected, drawn)


@pytest.fixture(scope="module")
def states():
    """Return states of random games, some with each set of legal verbs."""
    rng = random.Random(1)
    found = {}
    for number in range(GAMES):
        state = new_game("tzolkin", players=2 + number % 3, seed=number).state.copy()
        while not state.is_terminal:
            if state.current_player == CHANCE:
                state.resolve_chance(rng.getrandbits(60))
                continue
            expected = distribution(state.legal_actions())
            alike = found.setdefault(frozenset(map(verb, expected)), [])
            if len(alike) < ALIKE:
                alike.append(state.copy())
            state.apply(rng.choices(list(expected), list(expected.values()))[0])
    return [state for alike in found.values() for state in alike]


def test_the_states_have_all_verbs(states):
    assert {verb(action) for state in states for action in state.legal_actions()} == set(VERBS)


@pytest.mark.slow
def test_actions_are_distributed_as_defined(states):
    for state in states:
        expected = distribution(state.legal_actions())
        drawn = Counter(random_turn(state, seed)[0] for seed in range(DRAWS))
        assert set(drawn) <= set(expected)
        observed, shares = Counter(), Counter()
        for action, share in expected.items():
            key = action if share * DRAWS >= LEAST_EXPECTED else verb(action)
            observed[key] += drawn[action]
            shares[key] += share
        assert_fits(observed, shares)


def test_each_building_that_is_left_is_alike_likely():
    position = build(display=4, buildings=["a1_farm_one"], reveal=2)
    state = GAME.text.parse_position(position)
    left = reference.deck(position)
    pairs = comb(left.total(), 2)
    expected = {}
    for one in left:
        for other in left:
            if list(left).index(one) < list(left).index(other):
                expected[f"reveal {one} {other}"] = left[one] * left[other] / pairs
            elif one == other and left[one] > 1:
                expected[f"reveal {one} {one}"] = comb(left[one], 2) / pairs
    drawn = Counter(GAME.text.format_action(GAME.events.draw_outcome(state, seed)) for seed in range(20_000))
    assert sum(expected.values()) == pytest.approx(1)
    assert_fits(drawn, expected)


def test_unseen_tiles_are_dealt_alike_likely():
    position = new_game("tzolkin", players=3, seed=2)
    for _ in range(2):
        position.push([position.legal_actions()[0]])
    data = position.to_json()
    unseen = set(reference.WEALTH) - set(data["drawn"]) - set(data["seats"][2]["dealt"])
    kept = Counter()
    for seed in range(5_000):
        world = position.state.copy()
        assert world.determinize(2, seed)
        kept.update(GAME.text.format_position(world)["seats"][0]["wealth"])
    assert_fits(kept, dict.fromkeys(sorted(unseen), 1 / len(unseen)))
