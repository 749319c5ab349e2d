"""Rewrites positions of play into what validation accepts, and searches and plays them on: no memory may break.

    python tests/fuzz/accepted_positions.py [--game coatl] [--positions 200000] [--seed 1] [--play]

Cards are shown or not, stocks, hands, decks and piles of any legal size, memories, tokens and phases changed: the
positions need not come up in play, but validation lets them in. The debug build (`CEXT_DEBUG=1`) checks bounds, and
each state after each action: what it finds ends the process. Under the sanitizers the same runs as part `accepted` of
``tests/sanitize/drive.py``. ``--play`` reads positions of play as they are instead: none may be refused.
"""

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.material import GAMES, look_at, new_position, seeded, step, walked
from fuzz.rewrites import rewrite
from weighed import Beam, Search

import mexica_ai as ai
from cext.core.contract.game import CHANCE
from cext.core.contract.playout import random_playout
from mexica_ai.io.errors import MexicaAIError

REWRITES = 40  # tries with two positions of play
ITERATIONS = (8,) * 30 + (40,) * 4 + (300,)  # of a search


def exercise(position, rng):
    """Search a position, and play it on to the end."""
    state = position.state.copy()
    look_at(state)
    if position.viewer is not None:
        state.determinize(position.viewer, rng.getrandbits(40))
    if state.is_terminal:
        return
    random_playout(state, rng.getrandbits(40))
    for _ in range(3):
        if state.current_player >= 0:
            search = Search(state, memory_mb=1, seed=rng.getrandbits(40))
            search.run(iterations=rng.choice(ITERATIONS))
            for action in search.result(1)["candidates"][0]["actions"]:
                state.apply(action)
        while state.current_player == CHANCE:
            state.resolve_chance(rng.getrandbits(40))
        if state.is_terminal or rng.random() < 0.7:
            break
    if rng.random() < 0.02 and state.current_player >= 0:
        Beam(state, width=2, memory_mb=1, seed=1).run(iterations=4)
    for _ in range(rng.choice((0, 2, 6))):
        if state.is_terminal:
            break
        step(state, rng)
    look_at(state)


def accepted(rng, game):
    """Yield positions that validation accepts, rewritten from two positions of play, and sometimes from a view."""
    first, second = walked(rng, game), walked(rng, game)
    forms = [first.to_json(), second.to_json()]
    if not first.has_one_world or rng.random() < 0.2:
        forms[0] = first.view(rng.randrange(first.players)).to_json()
    current = forms[0]
    for _ in range(REWRITES):
        form = rewrite(current, forms[1], rng)
        try:
            position = ai.Position.from_json(form)
        except MexicaAIError:
            continue
        yield position
        # From there on, or from the beginning: what several steps lead to, and what is near play.
        current = position.to_json() if rng.random() < 0.6 else forms[0]


def fuzz(game, positions, seed, last=None):
    """Exercise so many accepted positions of a game; return how many there were of each kind.

    Each is written to the file `last` before, since what it may do ends the process.
    """
    count = Counter()
    number = 0
    while count["positions"] < positions:
        rng = seeded("accepted", game, seed, number)
        for position in accepted(rng, game):
            if last:
                last.write_text(json.dumps(position.to_json()))
            exercise(position, rng)
            count.update(["positions", f"{position.players} seats"])
            count["views"] += position.viewer is not None
        number += 1
    return count


def play(game, positions, seed):
    """Read so many positions of play of a game, and each seat's views of some of them: none may be refused."""
    count = Counter()
    number = 0
    while count["positions"] < positions:
        rng = seeded("play", game, seed, number)
        position = new_position(rng, game)
        state = position.state.copy()
        while not state.is_terminal and count["positions"] < positions:
            step(state, rng)
            if game == "mexica" and state.current_player == CHANCE:
                continue  # its forms have no place for the deal between the periods, which comes at once
            position = ai.Position(game, state)
            form = position.to_json()
            assert ai.Position.from_json(form).state == state
            count["positions"] += 1
            if rng.random() < 0.1:
                for seat in range(position.players):
                    ai.Position.from_json(position.view(seat).to_json())
                    count["views"] += 1
        number += 1
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", choices=GAMES, help="only this game")
    parser.add_argument("--positions", type=int, default=1000, help="of each game (1000)")
    parser.add_argument("--seed", type=int, default=1, help="of the positions (1)")
    parser.add_argument("--play", action="store_true", help="read positions of play, which may not be refused")
    parser.add_argument("--last", type=Path, metavar="FILE", help="write each position there before it is searched")
    args = parser.parse_args()
    for game in [args.game] if args.game else GAMES:
        began = time.monotonic()
        count = play(game, args.positions, args.seed) if args.play else fuzz(game, args.positions, args.seed, args.last)
        listed = ", ".join(f"{name}: {number}" for name, number in count.items())
        print(f"{game}: {listed}; {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
