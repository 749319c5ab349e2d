"""A position that a table reaches is never refused, and a view never fails: games of many kinds of players.

Every position is written, read again, seen by a seat and drawn anew for it; some are sent, and shown as
text. `MEXICA_AI_WALKS=510` looks at a million positions, and `-s` shows how many of which kind;
`MEXICA_AI_SEED` makes them others.
"""

import json
import os
import random
from collections import Counter

import pytest
from tzolkin_walks import LEANINGS, choose, new_game
from weighed import Search

from cext.core.baselines.simple import random_turn
from cext.core.contract.game import CHANCE
from mexica_ai.game.position import Position
from mexica_ai.games.tzolkin.game import GAME
from mexica_ai.rpc import wire
from mexica_ai.v1 import engine_pb2

SCALE = int(os.environ.get("MEXICA_AI_WALKS", "1"))
SEED = int(os.environ.get("MEXICA_AI_SEED", "1325"))
PLAYERS = ["random", "searched", *LEANINGS]
ITERATIONS = 20  # of a search for a turn
STRIDE = 4  # positions between two looks at the board and the message


def turn_of(kind, state, rng):
    """Return the next actions of a kind of player, a whole turn or one."""
    if kind == "searched":
        search = Search(state, seed=rng.getrandbits(60), memory_mb=2)
        search.run(iterations=ITERATIONS)
        return list(search.result(1)["candidates"][0]["actions"])
    legal = state.legal_actions()
    if kind == "random":
        return random_turn(state, rng.getrandbits(60)) if rng.random() < 0.5 else [rng.choice(legal)]
    return [GAME.text.parse_action(choose(rng, kind, [GAME.text.format_action(action) for action in legal]))]


def send(position):
    message = wire.position_to_message(position)
    return wire.position_from_message(engine_pb2.Position.FromString(message.SerializeToString()))


def check(state, rng):
    state.check()
    data = GAME.text.format_position(state)
    again = GAME.text.parse_position(json.loads(json.dumps(data)))
    assert again == state
    assert again.hash == state.hash
    assert again.legal_actions() == state.legal_actions()
    for action in state.legal_actions()[:20]:
        assert GAME.text.parse_action(GAME.text.format_action(action)) == action
    # All seats see the same but for the tiles that are being chosen.
    seats = range(state.num_players) if data["phase"] == "keep" else [rng.randrange(state.num_players)]
    for seat in seats:
        seen = GAME.views.view(data, seat)
        world = state.copy()
        assert world.determinize(seat, rng.getrandbits(60)) == (data["phase"] == "keep")
        world.check()
        assert world.view_hash(seat) == state.view_hash(seat)
        if data["phase"] != "keep":
            assert seen == data
            assert world == state
            continue
        view = GAME.text.parse_position(seen)
        assert GAME.text.format_position(view) == seen
        assert view.view_hash(seat) == state.view_hash(seat)
        assert view.determinize(seat, rng.getrandbits(60))
        view.check()
        assert view.view_hash(seat) == state.view_hash(seat)
    if rng.randrange(STRIDE) == 0:
        position = Position("tzolkin", state)
        assert send(position) == position
        assert GAME.board(state)


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_position_of_play_can_be_written_and_read(players):
    rng = random.Random(SEED + players)
    positions, monuments = Counter(), 0
    for number in range(3 * SCALE):
        kind = PLAYERS[(number + players) % len(PLAYERS)]
        state = GAME.text.parse_position(new_game(rng, players, kind, number % 2 == 1))
        planned = []
        while not state.is_terminal:
            check(state, rng)
            positions[kind] += 1
            if state.current_player == CHANCE:
                state.apply(GAME.events.draw_outcome(state, rng.getrandbits(60)))
                planned = []
                continue
            planned = planned or turn_of(kind, state, rng)
            state.apply(planned.pop(0))
        check(state, rng)
        positions[kind] += 1
        monuments += sum(len(seat["monuments"]) for seat in GAME.text.format_position(state)["seats"])
    print(f"{players} seats, {positions.total()} positions, {monuments} monuments built: {dict(positions)}")
