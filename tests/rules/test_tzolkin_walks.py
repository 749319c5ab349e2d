"""A position that a table reaches is never refused, and a view never fails: games of the random players.

Every position is written, read again, seen by every seat and drawn anew for it. `MEXICA_AI_WALKS=400` looks
at a million positions; `MEXICA_AI_SEED` makes them others.
"""

import os
import random

import pytest

from cext.core.baselines import random_turn
from cext.core.game import CHANCE
from mexica_ai.games.tzolkin.codec import CODEC

SCALE = int(os.environ.get("MEXICA_AI_WALKS", "1"))
SEED = int(os.environ.get("MEXICA_AI_SEED", "1325"))


def check(state, rng):
    state.check()
    data = CODEC.format_position(state)
    again = CODEC.parse_position(data)
    assert again == state
    assert CODEC.format_position(again) == data
    for seat in range(state.num_players):
        seen = CODEC.view(data, seat)
        if data["phase"] != "keep":
            assert seen == data
            continue
        view = CODEC.parse_position(seen)
        assert view.view_hash(seat) == state.view_hash(seat)
        world = view.copy()
        assert world.determinize(seat, rng.getrandbits(60))
        world.check()
        assert world.view_hash(seat) == state.view_hash(seat)
    assert CODEC.render(state)


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_position_of_play_can_be_written_and_read(players):
    rng = random.Random(SEED + players)
    for number in range(3 * SCALE):
        state = CODEC.new_state(players, rng.getrandbits(60), whole_points=number % 2 == 1)
        planned = []
        while not state.is_terminal:
            check(state, rng)
            if state.current_player == CHANCE:
                state.apply(CODEC.draw_outcome(state, rng.getrandbits(60)))
                planned = []
                continue
            if not planned and rng.random() < 0.5:
                planned = random_turn(state, rng.getrandbits(60))
            state.apply(planned.pop(0) if planned else rng.choice(state.legal_actions()))
        check(state, rng)
