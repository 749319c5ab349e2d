"""How far the marks of short searches agree with those of searches ten times as long.

Games of two levels against each other are played, turns of them are drawn, and each is evaluated twice, as `annotate`
does: by searches of --iterations with --checks, and by searches of ten times as many without. A mark is any grade. Of
the marks that the short searches are sure of, precision is the part that the long ones give, too; recall is the part of
the long ones' marks that the short ones give, sure or not.

    python benchmarks/marks.py coatl --iterations 1500
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time

from mexica_ai.analysis.annotate import evaluate_record, seat_turns
from mexica_ai.arena.play import Task, play_game
from mexica_ai.arena.tournament import Tournament, reproducible_key

LONGER = 10


def wilson(hits: int, total: int) -> list[float]:
    """Return the mean and the 95 % interval of a proportion."""
    if not total:
        return [math.nan] * 3
    mean, z = hits / total, 1.96
    middle = (mean + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(mean * (1 - mean) / total + z * z / (4 * total * total))
    return [round(number, 3) for number in (mean, middle - half, middle + half)]


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("--games", type=int, default=10, help="(default: %(default)s)")
    parser.add_argument("--turns", type=int, default=40, help="of each game (default: %(default)s)")
    parser.add_argument("--iterations", type=int, default=1500, help="of short searches (default: %(default)s)")
    parser.add_argument("--checks", type=int, default=2, help="of short searches (default: %(default)s)")
    parser.add_argument("--levels", default="5,7", help="of the two seats (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    args = parser.parse_args()
    engines = tuple(f"mcts,iterations=400,level={level},threads=1" for level in args.levels.split(","))
    tournament = Tournament(args.game, 2, engines, engines, args.seed, key=reproducible_key(args.seed))
    sure = unsure = marked_sure = both_sure = marked_long = found = 0
    seconds = [0.0, 0.0]
    changed = []
    for number in range(args.games):
        record = play_game(Task(tournament, tournament.block(number // 2)[number % 2]))
        turns = seat_turns(record)
        asked = sorted(random.Random(number).sample(turns, min(args.turns, len(turns))))
        runs = []
        for which, (iterations, checks) in enumerate(((args.iterations, args.checks), (LONGER * args.iterations, 0))):
            began = time.perf_counter()
            runs.append(list(evaluate_record(record, iterations=iterations, seed=1, turns=asked, checks=checks)))
            seconds[which] += time.perf_counter() - began
        for short, long in zip(*runs, strict=True):
            unsure += short.is_unsure
            sure += not short.is_unsure
            marked_sure += bool(short.grade) and not short.is_unsure
            both_sure += bool(short.grade and long.grade) and not short.is_unsure
            marked_long += bool(long.grade)
            found += bool(short.grade and long.grade)
            changed.append([round(short.loss, 3), round(long.loss, 3), short.is_unsure])
        print(json.dumps({"game": number, "turns": len(asked), "losses": changed[-len(asked) :]}), flush=True)
    total = sure + unsure
    print(
        json.dumps(
            {
                "turns": total,
                "precision": [both_sure, marked_sure, *wilson(both_sure, marked_sure)],
                "recall": [found, marked_long, *wilson(found, marked_long)],
                "unsure": [unsure, total, *wilson(unsure, total)],
                "seconds": [round(each, 1) for each in seconds],
            }
        )
    )


if __name__ == "__main__":
    main()
