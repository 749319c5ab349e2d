"""Plays the games of examples/ again, with the engine as it is now.

    python benchmarks/make_examples.py [--iterations 30000] [--folder examples] [--game NAME]

Each game is self-play with a fixed seed and a fixed number of iterations a turn, so that the same code plays the same
games; a seat sees only what is its own. The `build` of a record has the version of the package and the signature of the
search (signature.py), by which a test tells which examples are older than the engine that ships.
"""

import argparse
import json
from pathlib import Path

from signature import FOLDER, later_games

import mexica_ai as ai
from mexica_ai.game.records import make_record

# File: the game and the seats of its records.
EXAMPLES = {
    "mexica_game.jsonl": ("mexica", (2, 3)),
    "coatl_game.jsonl": ("coatl", (2,)),
    "tzolkin_game.jsonl": ("tzolkin", (3,)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=30_000, help="of each turn")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parents[1] / "examples")
    parser.add_argument("--game", choices=[game for game, _ in EXAMPLES.values()], help="only of this game")
    args = parser.parse_args()
    for name, (game, seats) in EXAMPLES.items():
        if args.game in (None, game):
            records = [play(game, players, args.iterations) for players in seats]
            (args.folder / name).write_text("".join(json.dumps(record) + "\n" for record in records))
            print(f"{name}: {[record['scores'] for record in records]}")


def build(game):
    """Return the version and the expected signature of the search in a game."""
    folder = FOLDER / game if game in later_games() else FOLDER
    return f"mexica-ai {ai.__version__}, signature {(folder / 'signature.txt').read_text().strip()}"


def play(game, players, iterations):
    """Return the record of a game of the search against itself."""
    position = ai.new_game(game, players=players, seed=1)
    turn = 0
    while not position.is_over:
        turn += 1
        if position.is_chance:
            position.draw(seed=turn)
        else:
            seen = position.view(position.to_move)
            position.push(ai.best_turn(seen, iterations=iterations, seed=turn, threads=1).turn)
    return make_record(
        position,
        engines=[f"mcts,iterations={iterations}"] * players,
        build=build(game),
        comment="Self-play, made by benchmarks/make_examples.py",
    )


if __name__ == "__main__":
    main()
