"""Compares builds of the package: the speed of each in relation to the first one's, in one run.

    python benchmarks/bench_builds.py PYTHON... [--seconds 0.5] [--repeats 9] [--games mexica,coatl,tzolkin] [--json]

PYTHON is the interpreter of an environment with the package, such as .venv/bin/python for the native build of a
checkout. PYTHON@VARIANT sets MEXICA_AI_VARIANT, such as wheel/bin/python@portable. The builds take turns, each in a
process of its own, and the figures are of processor time:

search  iterations a second of a search by one thread, from two positions
games   random games a second

A cell is the median over the repeats of the ratio to the first build, which ran beside it. All builds must find the
same turns.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from common import positive

BENCHMARKS = Path(__file__).resolve().parent
MEASURE = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import mexica_ai as ai
from common import opening
from cext.core.contract.game import VARIANT
from cext.core.contract.playout import random_playouts

def rate(work, seconds):
    began, count = time.process_time(), 0
    while time.process_time() < began + seconds:
        count += work(count)
    return count / (time.process_time() - began)

found = {"build": VARIANT}
for game in sys.argv[3].split(","):
    positions = [opening(2, seed, game) for seed in (1, 2)]

    def search(count):
        return sum(ai.best_turn(position, iterations=1000, seed=1).iterations for position in positions)

    def games(count):
        random_playouts(positions[0].state, 500, count)
        return 500

    found[game] = {
        "turns": [ai.best_turn(position, iterations=1000, seed=1).turn for position in positions],
        "search": rate(search, float(sys.argv[2])),
        "games": rate(games, float(sys.argv[2])),
    }
print(json.dumps(found))
"""
FIGURES = ("search", "games")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="+", metavar="PYTHON", help="or PYTHON@VARIANT")
    parser.add_argument("--seconds", type=positive(float), default=0.5, help="a figure (default: 0.5)")
    parser.add_argument("--repeats", type=positive(int), default=9, help="(default: 9)")
    parser.add_argument("--games", default="mexica,coatl,tzolkin", help="(default: mexica,coatl,tzolkin)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rounds = [[measure(build, args) for build in args.builds] for _ in range(args.repeats)]
    report = {
        build: {"build": rounds[0][index]["build"], **ratios(rounds, index, args.games.split(","))}
        for index, build in enumerate(args.builds)
    }
    print(json.dumps(report) if args.json else table(report))


def measure(build, args):
    """Return the figures of a build, from a process of its own."""
    python, _, variant = build.partition("@")
    command = [python, "-P", "-c", MEASURE, BENCHMARKS, str(args.seconds), args.games]
    environ = {**os.environ, "MEXICA_AI_VARIANT": variant}
    done = subprocess.run(command, env=environ, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench_builds.py: {build}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def ratios(rounds, index, games):
    """Return a build's figures as ratios to those of the first build."""
    if any(found[index][game]["turns"] != found[0][game]["turns"] for found in rounds for game in games):
        sys.exit("bench_builds.py: the builds find different turns")
    return {
        game: {
            figure: statistics.median(found[index][game][figure] / found[0][game][figure] for found in rounds)
            for figure in FIGURES
        }
        for game in games
    }


def table(report):
    games = [key for key in next(iter(report.values())) if key != "build"]
    lines = [f"| build | {' | '.join(f'{game}: search, games' for game in games)} |"]
    lines.append("| --- " * (1 + len(games)) + "|")
    for build, found in report.items():
        cells = [", ".join(f"{found[game][figure]:.2f}" for figure in FIGURES) for game in games]
        lines.append(f"| {build} ({found['build']}) | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
