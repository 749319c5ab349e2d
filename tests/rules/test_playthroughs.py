"""A game of each kind, played at random and written down as a person can read it.

A file of tests/data/playthroughs shows the start and the end, and turn by turn who moves, the number of
legal actions before each action, the actions, the random events and the scores after it. Some turns are shown
in full, with the board and a sample of the legal actions. A change of the rules, of the notation or of the
board is a difference there. Write the files again, and read what changed, with

    .venv/bin/python tests/rules/test_playthroughs.py [GAME ...]
    git diff tests/data/playthroughs
"""

import random
import sys
import textwrap
from pathlib import Path

import pytest

import mexica_ai as ai
from mexica_ai.game import registry

PLAYTHROUGHS = Path(__file__).parents[1] / "data" / "playthroughs"
WRITE = ".venv/bin/python tests/rules/test_playthroughs.py"
SAMPLE = 8  # legal actions shown
WIDTH = 110
# Game -> seats, seed of the deal and of the player, options of a new game, and the turns shown in full.
GAMES = {
    "coatl": (2, 7, {}, (1, 30)),
    "mexica": (2, 31, {}, (1, 71)),
    "tzolkin": (2, 7, {}, (1, 30)),
    "nim": (3, 7, {"piles": [1, 4, 6], "plies_per_turn": 2}, range(1, 10)),
}


def choose(actions, rng):
    """Return a random action of a random kind, so that kinds with few actions come as often as the others."""
    kinds = sorted({action.split()[0] for action in actions})
    kind = kinds[int(rng.random() * len(kinds))]
    actions = [action for action in actions if action.split()[0] == kind]
    return actions[int(rng.random() * len(actions))]


def sample(actions):
    """Return some of the actions, spread evenly over their list."""
    count = min(SAMPLE, len(actions))
    return [actions[index * len(actions) // count] for index in range(count)]


def wrap(text, indent):
    return textwrap.wrap(text, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)


def draw_board(position):
    return ["", *str(position).splitlines(), ""]


def play_turn(position, number, rng, *, in_full):
    """Play a random turn; return the lines about it."""
    seat, started = position.to_move, position.state.turn
    counts, actions, details = [], [], []
    while position.to_move is not None and position.state.turn == started:
        legal = position.legal_actions()
        actions.append(choose(legal, rng))
        counts.append(str(len(legal)))
        details += wrap(f"   of {len(legal)} legal: {' | '.join(sample(legal))}", 6)
        details.append(f"   action: {actions[-1]}")
        position.push_action(actions[-1])
    scores = " ".join(map(str, position.scores))
    if in_full:
        return [f"{number}. seat {seat}", *details, f"   scores {scores}", ""]
    text = f"{number}. seat {seat}, of {', '.join(counts)} legal: {'; '.join(actions)}; scores {scores}"
    return wrap(text, 4)


def playthrough(game):
    """Return the text of a random game."""
    players, seed, options, shown = GAMES[game]
    position = ai.new_game(game, players=players, seed=seed, **options)
    # `random` alone gives the same numbers in every version of Python.
    rng = random.Random(seed)
    lines = [f"{game}, {players} seats, seed {seed}, options {options}"]
    number = 0
    while not position.is_over:
        if position.is_chance:
            lines += wrap(f"   random event: {position.draw(int(rng.random() * 2**53))[0]}", 6)
            continue
        number += 1
        if number in shown:
            lines += draw_board(position)
        lines += play_turn(position, number, rng, in_full=number in shown)
    lines += draw_board(position)
    lines.append(f"winners: {', '.join(f'seat {seat}' for seat in position.winners)}")
    return "\n".join(lines) + "\n"


def path_of(game):
    return PLAYTHROUGHS / f"{game}.txt"


@pytest.mark.parametrize("game", registry.names())
def test_the_game_goes_as_it_is_written_down(game):
    again = f"write it with {WRITE} {game}"
    assert game in GAMES, f"no playthrough of {game}: add the game to GAMES, and {again}"
    assert path_of(game).exists(), f"no {path_of(game).name}: {again}"
    assert playthrough(game) == path_of(game).read_text(), f"if this change is meant, {again}"


def test_no_playthrough_is_left_of_a_game_that_is_gone():
    assert sorted(path.stem for path in PLAYTHROUGHS.iterdir()) == sorted(registry.names())


if __name__ == "__main__":
    for name in sys.argv[1:] or registry.names():
        path_of(name).write_text(playthrough(name))
