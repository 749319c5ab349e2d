"""The uniform random player of Mexica follows its definition.

Found whenever possible; else one of the kinds of action (verbs) that are legal, each as likely, but never
`end` or `teleport` while another kind is legal; then one action of that kind, each as likely.
"""

from collections import Counter

import pytest
from mexica_builder import build
from mexica_walks import CARVED, drills, kind, penned_in
from scipy.stats import chisquare

import mexica_ai
from cext.core.baselines.simple import random_turn
from cext.core.contract.playout import random_playout
from mexica_ai.games.mexica.notation import VERBS, format_action

DRAWS = 8_000
LEAST_P = 1e-3  # the draws are seeded, so a test passes always or never
LEAST_EXPECTED = 2  # rarer actions are counted together, by kind
LAST_RESORTS = {"end", "teleport"}

BRIDGES = ["O7 ew", "O9 ew", *(f"{column}5 ns" for column in "DEFGHIJKL")]
ALL_DOUBLES = [run for run in CARVED[0].split() if "-" in run] + ["A11-B11", "C13-C14"]
FOUND_PENS_IN, SAIL_PENS_IN, _, RELOCATION_PENS_IN, *_ = drills(3)
POSITIONS = {
    "placement": mexica_ai.new_game(players=3, seed=3).to_json(),
    "first turn": build(2, pillis=["H6", "G7"], round_=1),
    "singles only": build(2, pillis=["C8", "H7"], canals=ALL_DOUBLES, display=[13]),
    "doubles only": build(2, pillis=["C8"], canals=["A3", "C3", "E3", "G3", "B5", "D5"]),
    "no tiles": build(4, pillis=["H7", "G6"], no_tiles=True, points=3),
    "three points": build(2, pillis=["C7"], points=3, taken=1),
    "tokens pay": build(2, pillis=["C7"], points=0, action_tokens=[2]),
    "nothing left": build(2, points=0),
    "all bridges built": build(2, pillis=["N7"], canals=["D5-L5"], bridges=BRIDGES),
    "in a boat": build(3, pillis=["O7", "O9"], bridges=["O7 ew", "O9 ew", "O6 ew"]),
    "can found": build(3, pillis=["C2"], canals=["B3-C3", "D2"], display=[3]),
    # Water all around that no bridge fits over, no token to take.
    "shut in": build(2, pillis=["E12", "H3"], canals=["N6-N9"], no_tiles=True, taken=2, display=[]),
    "founding pens in": FOUND_PENS_IN,
    "sailing pens in": SAIL_PENS_IN,
    "relocation pens in": RELOCATION_PENS_IN,
}


def verb(action):
    return VERBS[(action >> 22) - 1]


def distribution(legal, kind=kind):
    """Return the probability of each legal action, by the definition."""
    kinds = {kind(action) for action in legal}
    if "found" in kinds:
        kinds = {"found"}
    elif kinds - LAST_RESORTS:
        kinds -= LAST_RESORTS
    numbers = Counter(map(kind, legal))
    return {action: 1 / len(kinds) / numbers[kind(action)] for action in legal if kind(action) in kinds}


def assert_fits(drawn, expected):
    """Check by chi-square that the counts were drawn with the expected probabilities."""
    observed, frequencies = Counter(), Counter()
    for action, probability in expected.items():
        bin_ = action if probability * DRAWS >= LEAST_EXPECTED else kind(action)
        observed[bin_] += drawn[action]
        frequencies[bin_] += probability * DRAWS
    if len(frequencies) > 1:
        fit = chisquare([observed[bin_] for bin_ in frequencies], list(frequencies.values()))
        assert fit.pvalue > LEAST_P, fit


@pytest.mark.slow
@pytest.mark.parametrize("name", POSITIONS)
def test_first_actions_are_distributed_as_defined(name):
    position = mexica_ai.Position.from_json(POSITIONS[name])
    expected = distribution(position.legal_actions())
    state = position.state
    numbers = Counter(random_turn(state, seed)[0] for seed in range(DRAWS))
    drawn = Counter({format_action(number): times for number, times in numbers.items()})
    assert set(drawn) <= set(expected)
    assert_fits(drawn, expected)
    by_kind, drawn_by_kind = Counter(), Counter()
    for action, probability in expected.items():
        by_kind[kind(action)] += probability
        drawn_by_kind[kind(action)] += drawn[action]
    assert_fits(drawn_by_kind, by_kind)


@pytest.mark.parametrize(
    ("name", "wholly", "in_part"),
    [
        ("founding pens in", {"found", "temple", "walk"}, {"canal", "teleport"}),
        ("sailing pens in", {"sail"}, {"teleport"}),
        ("relocation pens in", set(), {"relocate", "teleport"}),
    ],
)
def test_the_positions_have_d4_at_work(name, wholly, in_part):
    legal = mexica_ai.Position.from_json(POSITIONS[name]).legal_actions()
    forbidden = set(map(kind, penned_in(POSITIONS[name], legal)))
    assert forbidden - set(map(kind, legal)) == wholly
    assert forbidden & set(map(kind, legal)) == in_part


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("can found", {"found"}),
        ("nothing left", {"end"}),
        ("shut in", {"end", "teleport"}),
        ("in a boat", {"canal", "walk", "bridge", "sail", "token"}),
        ("singles only", {"canal", "bridge", "temple", "walk", "token"}),
        ("all bridges built", {"canal", "relocate", "temple", "walk", "token"}),
    ],
)
def test_kinds_to_choose_from(name, kinds):
    position = mexica_ai.Position.from_json(POSITIONS[name])
    assert set(map(kind, distribution(position.legal_actions()))) == kinds


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_action_of_whole_games_is_one_of_the_definition(players):
    state = mexica_ai.new_game(players=players, seed=players).state
    for action in random_playout(state, seed=1)[1]:
        assert action in distribution(state.legal_actions(), verb)
        state.apply(action)
    assert state.is_terminal
