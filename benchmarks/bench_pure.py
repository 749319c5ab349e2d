"""Speed of a game in plain Python against the same game compiled: nim, random games and searches.

python benchmarks/bench_pure.py
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from pure_nim import NIM

from cext.core.contract.playout import random_playouts
from cext.core.search.search import Search
from mexica_ai.game import registry

PILES = [3, 4, 5, 6, 7, 3, 4, 5]


def actions_per_s(state, seconds):
    """Return actions of random games a second of processor time."""
    count = 1
    while True:
        began = time.process_time()
        actions, _ = random_playouts(state, count, 1)
        spent = time.process_time() - began
        if spent >= seconds:
            return actions / spent
        count *= 2


def iterations_per_s(state, seconds):
    """Return iterations of a search with one thread a second of processor time."""
    search = Search(state, seed=1, memory_mb=64)
    began = time.process_time()
    search.run(time_s=seconds)
    return search.result()["iterations"] / (time.process_time() - began)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement (default: 1)")
    args = parser.parse_args()
    states = [game.starts.new_state(2, 1, piles=PILES) for game in (registry.get("nim"), NIM)]
    for what, measure in (("actions of random games", actions_per_s), ("iterations of a search", iterations_per_s)):
        compiled, plain = (measure(state, args.seconds) for state in states)
        print(f"{what} a second: compiled {compiled:,.0f}, Python {plain:,.0f}, ratio {compiled / plain:.0f}")


if __name__ == "__main__":
    main()
