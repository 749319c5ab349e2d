"""Measures what a search costs however few its iterations are.

    python benchmarks/bench_small.py [--iterations 1,10,100,1000] [--memory 1024] [--calls 100] [--repeats 5] [--json]

A figure is the processor time of `best_turn` in ms, of the process with all its threads: the least of the repeats, each
a mean over calls from the first position of the game.
"""

import argparse
import json
import time

from common import positive

import mexica_ai as ai

GAMES = ("nim", "mexica", "coatl", "tzolkin")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", default="1,10,100,1000", help="(default: 1,10,100,1000)")
    parser.add_argument("--memory", type=positive(int), default=1024, help="MiB (default: 1024)")
    parser.add_argument("--calls", type=positive(int), default=100, help="with one iteration (default: 100)")
    parser.add_argument("--repeats", type=positive(int), default=5, help="(default: 5)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    columns = [int(number) for number in args.iterations.split(",")]
    report = {game: {str(number): measure(game, number, args) for number in columns} for game in GAMES}
    print(json.dumps(report) if args.json else table(report))


def measure(game, iterations, args):
    """Return the processor time of a search in ms."""
    position = ai.new_game(game, seed=1)
    calls = max(1, round(args.calls / iterations**0.5))
    found = []
    for _ in range(1 + args.repeats):
        began = time.process_time()
        for seed in range(calls):
            ai.best_turn(position, iterations=iterations, memory_mb=args.memory, seed=seed)
        found.append(1000 * (time.process_time() - began) / calls)
    return round(min(found[1:]), 3)


def table(report):
    columns = list(next(iter(report.values())))
    lines = [f"| iterations | {' | '.join(columns)} |", "| --- " * (1 + len(columns)) + "|"]
    for game, found in report.items():
        lines.append(f"| {game} | {' | '.join(f'{found[number]:.2f}' for number in columns)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
