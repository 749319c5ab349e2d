"""The random player of Coatl, which lists no more actions than it needs, follows its definition.

One of the verbs that are legal, each as likely; then one action of that verb, each as likely.
"""

import random
from collections import Counter

import pytest
from scipy.stats import chisquare

import mexica_ai
from cext.core.baselines.simple import random_turn
from cext.core.contract.game import CHANCE

GAMES = 60
ALIKE = 1  # states with the same legal verbs that are looked at
DRAWS = 2_000
LEAST_P = 1e-5  # the draws are seeded, so a test passes always or never
LEAST_EXPECTED = 5  # rarer actions are counted together, by verb
NUM_VERBS = 14
KEEP, PLAY, END, PASS = 1, 6, 13, 14  # of those that are legal alone


def verb(action):
    return action >> 36


def distribution(legal):
    """Return the probability of each legal action, by the definition."""
    numbers = Counter(map(verb, legal))
    return {action: 1 / len(numbers) / numbers[verb(action)] for action in legal}


@pytest.fixture(scope="module")
def states():
    """Return states of random games, some with each set of legal verbs."""
    rng = random.Random(1)
    found = {}
    for number in range(GAMES):
        state = mexica_ai.new_game("coatl", players=2 + number % 3, seed=number).state.copy()
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


def test_the_states_have_all_verbs_alone_and_together(states):
    together = {frozenset(map(verb, state.legal_actions())) for state in states}
    assert frozenset.union(*together) == set(range(1, NUM_VERBS + 1))
    assert {frozenset([alone]) for alone in (KEEP, PLAY, END, PASS)} <= together
    assert len(together) > 40


@pytest.mark.slow
def test_actions_are_distributed_as_defined(states):
    for state in states:
        expected = distribution(state.legal_actions())
        drawn = Counter(random_turn(state, seed)[0] for seed in range(DRAWS))
        assert set(drawn) <= set(expected)
        observed, frequencies = Counter(), Counter()
        for action, probability in expected.items():
            bin_ = action if probability * DRAWS >= LEAST_EXPECTED else verb(action)
            observed[bin_] += drawn[action]
            frequencies[bin_] += probability * DRAWS
        if len(frequencies) > 1:
            fit = chisquare([observed[bin_] for bin_ in frequencies], list(frequencies.values()))
            assert fit.pvalue > LEAST_P, (fit, expected, drawn)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_action_of_whole_games_is_legal(players):
    state = mexica_ai.new_game("coatl", players=players, seed=players).state.copy()
    rng = random.Random(players)
    for _ in range(20):
        now = state.copy()
        while not now.is_terminal:
            if now.current_player == CHANCE:
                now.resolve_chance(rng.getrandbits(60))
                continue
            for action in random_turn(now, rng.getrandbits(60)):
                assert action in now.legal_actions()
                now.apply(action)
