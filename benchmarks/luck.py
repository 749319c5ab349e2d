"""What random events are worth in the games of journals, and what adjusting for them gains.

For each seat: the mean worth of a game's events, with two standard errors, which should hold 0. For the games with two
seats: how much of the variance of results the events explain, and how often intervals of matches hold the true share.
Such a match is so many blocks of the journals, drawn with replacement; the true share is that of all blocks.

    mexica-ai arena --game coatl --engine mcts,iterations=64 --engine mcts,iterations=64,level=9 --blocks 500 \\
        --journal games.jsonl
    python benchmarks/luck.py games.jsonl
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import numpy as np

from mexica_ai.arena.adjust import Luck, adjusted_interval
from mexica_ai.arena.blocks import Games
from mexica_ai.arena.journal import read_journal
from mexica_ai.arena.report import collect
from mexica_ai.arena.statistics import block_interval


def figures(path: str, matches: int, blocks: int) -> dict[str, object]:
    """Return the figures of one journal."""
    collected = collect(read_journal(path).games, Luck())
    games = Games(collected.outcomes)
    mean = games.luck.mean(axis=0)
    blocks_of = np.array([games.luck[games.block == block].mean(axis=0) for block in range(games.num_blocks)])
    error = blocks_of.std(axis=0, ddof=1) / np.sqrt(len(blocks_of))  # games of a block have the same deal
    plain = games.share_means(games.on_seats(0))
    fair = games.adjusted_means(games.on_seats(0)).values
    drawn = np.random.default_rng(1).integers(0, len(fair), (matches, blocks))
    ends = {
        "plain": (plain.values, block_interval(plain.values[drawn], plain.low, plain.high, plain.games)),
        "adjusted": (fair, adjusted_interval(replace(plain, values=plain.values[drawn]), fair[drawn])),
    }
    return {
        "game": collected.game,
        "players": collected.players,
        "games": len(games.luck),
        "luck_by_seat": [[round(one, 5), round(2 * two, 5)] for one, two in zip(mean, error, strict=True)],
        "luck_of_a_game": round(float(games.luck.std()), 4),
        "explained": round(float(np.corrcoef(games.luck.ravel(), games.shares.ravel())[0, 1] ** 2), 4),
        "worth_games": round(float(plain.values.var(ddof=1) / fair.var(ddof=1)), 4),
        "share": {name: round(float(values.mean()), 4) for name, (values, _) in ends.items()},
        "coverage": {
            name: round(float(((low <= values.mean()) & (values.mean() <= high)).mean()), 4)
            for name, (values, (low, high)) in ends.items()
        },
    }


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("journals", nargs="+", metavar="JOURNAL")
    parser.add_argument("--matches", type=int, default=10_000, help="simulated matches (default: %(default)s)")
    parser.add_argument("--blocks", type=int, default=50, help="blocks of each (default: %(default)s)")
    args = parser.parse_args()
    for path in args.journals:
        print(json.dumps(figures(path, args.matches, args.blocks)))


if __name__ == "__main__":
    main()
