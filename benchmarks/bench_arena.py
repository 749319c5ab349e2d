"""Measures the overhead of the arena: the time of a game that its engines did not use.

    python benchmarks/bench_arena.py [--time 0.1] [--blocks 1] [--players 2] [--json]

Plays a match of mcts against itself, one game at a time in a worker process, with a journal on disk. The
overhead is the time of the match minus the time measured around the engines' answers: dealing, checking and
playing turns, sending the record to the parent, and writing it to the disk. The start of the worker is
reported separately. The budget is 2 % of a game with 0.1 s turns.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from common import describe_machine, positive

from mexica_ai import new_game
from mexica_ai.arena.journal import JournalWriter
from mexica_ai.arena.pool import GamePool
from mexica_ai.arena.runner import run
from mexica_ai.arena.tournament import Tournament, reproducible_key

BUDGET_PERCENT = 2.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--time", type=positive(float), default=0.1, help="seconds per turn")
    parser.add_argument("--blocks", type=positive(int), default=1)
    parser.add_argument("--players", type=positive(int), default=2)
    parser.add_argument("--game", default="mexica")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    figures = describe_machine() | vars(args) | measure(args)
    del figures["json"]
    if args.json:
        print(json.dumps(figures))
        return
    print(f"{figures['processor']}, {figures['python']}, {time.strftime('%Y-%m-%d')}\n")
    length = figures["turns"] / figures["games"]
    print(f"{figures['games']} games of {length:.0f} turns on average, {args.time:g} s a turn")
    print(f"cost of the arena   {figures['percent']:.2f} % of a game (budget {BUDGET_PERCENT:g} %)")
    print(f"a turn              {figures['ms_per_turn']:.2f} ms")
    print(f"start of a worker   {figures['start_s']:.2f} s, once")


def warm_up(tournament):
    """Load in a worker what it loads once, so that this does not count as the cost of a game."""
    new_game(tournament.game, players=tournament.players, seed=0)


def measure(args):
    """Return the figures."""
    spec = f"mcts,time={args.time:g},threads=1"
    tournament = Tournament(args.game, args.players, (spec, spec), ("A", "B"), seed=1, key=reproducible_key(1))
    pool = GamePool()
    try:
        began = time.perf_counter()
        pool.submit(warm_up, tournament).result()
        start_s = time.perf_counter() - began
        with (
            tempfile.TemporaryDirectory() as folder,
            JournalWriter(str(Path(folder) / "games.jsonl"), tournament) as journal,
        ):
            began = time.perf_counter()
            progress = run(tournament, args.blocks, pool, journal=journal)
            wall_s = time.perf_counter() - began
    finally:
        pool.shutdown()
    engines_s = sum(sum(record["times"]) for record in progress.records)
    turns = sum(len(record["turns"]) for record in progress.records)
    return {
        "games": len(progress.records),
        "turns": turns,
        "wall_s": round(wall_s, 3),
        "engines_s": round(engines_s, 3),
        "percent": round(100 * (wall_s - engines_s) / wall_s, 3),
        "ms_per_turn": round(1000 * (wall_s - engines_s) / turns, 3),
        "start_s": round(start_s, 3),
    }


if __name__ == "__main__":
    sys.exit(main())
