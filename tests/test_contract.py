"""What every registered game must keep: the contract of the compiled rules and of the text forms.

A new game passes by adding its starts to `STARTS`. Every test looks at the states of a few games per start,
played by a mixture of the game's reference random player and plain uniform choice; MEXICA_AI_SEED makes them
others.
"""

import json
import os
import random

import pytest
from cext.core.baselines import random_turn
from cext.core.game import CHANCE, TERMINAL, Game, State
from cext.core.playout import random_playout

from mexica_ai import registry
from mexica_ai.errors import IllegalActionError, NotationError, SearchError

SEED = int(os.environ.get("MEXICA_AI_SEED", "2015"))
LARGE_POOL = [3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 10, 11, 12, 13]
# Game -> starts: seats and options of a new game, or a position.
STARTS = {
    "mexica": [
        (2, {}),
        (3, {}),
        (4, {}),
        (2, {"neutral_levels": [4, 4, 3, 3, 3, 2, 2, 1, 1, 1]}),
        (2, {"neutral_levels": []}),
        (3, {"pool": LARGE_POOL}),
        (4, {"pool": [3] * 15}),
        (2, {"pool": LARGE_POOL, "is_deal_unknown": True}),
    ],
    "nim": [
        (2, {}),
        (3, {"piles": [1, 0, 7, 4], "plies_per_turn": 2}),
        (4, {"piles": [5, 5, 5], "plies_per_turn": 3}),
        (2, {"piles": [63] * 8}),
        (4, {"piles": [1]}),
    ],
}
CASES = [
    pytest.param(name, index, id=f"{name}-{players}-seats-{index}")
    for name in registry.names()
    for index, (players, _) in enumerate(STARTS[name])
]
# States between two looks at the expensive things.
STRIDE = {"mexica": 11, "nim": 1}
SAMPLE = 8  # actions looked at closely per state


def make_start(name, index):
    notation = registry.get(name).notation
    players, options = STARTS[name][index]
    options = dict(options)
    is_deal_unknown = options.pop("is_deal_unknown", False)
    state = notation.new_state(players, SEED + index, **options)
    if is_deal_unknown:
        position = notation.format_position(state)
        position["calpulli"]["upcoming"] = None
        state = notation.parse_position(position)
    return state


def walk(state, rng):
    """Play a game, in place, yielding (action, state) before each action; the final state comes with None."""
    planned = []
    while not state.is_terminal:
        if state.current_player == CHANCE:
            planned = []
            state.resolve_chance(rng.getrandbits(63))
            continue
        if not planned and rng.random() < 0.7:
            planned = random_turn(state, rng.getrandbits(63))
        action = planned.pop(0) if planned else rng.choice(state.legal_actions())
        yield action, state
        turn = state.turn
        state.apply(action)
        if state.turn != turn:
            planned = []
    yield None, state


@pytest.fixture(params=CASES)
def case(request):
    name, index = request.param
    return registry.get(name), make_start(name, index), random.Random(SEED * 100 + index)


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", [param.values for param in CASES], indirect=True, ids=[p.id for p in CASES])


def test_every_game_has_starts():
    assert sorted(STARTS) == sorted(registry.names())
