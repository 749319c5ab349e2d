"""Plays `uct` against the textbook MCTS of OpenSpiel at nim, at equal iterations (needs `pip install open_spiel`).

    python benchmarks/uct_openspiel.py [--iterations 1000 5000] [--games 160] [--solve] [--exploration C] [--json]

Each game has five piles of 3 to 23 objects; who takes the last one wins. Each set of piles is played twice, once with
each engine on the first seat. The other engine is OpenSpiel's MCTSBot in C++: its own nim, uct_c 1.4 for utilities of
-1 and 1, one random rollout a leaf. --solve lets it prove ends of games, as it does for all programs that ask for it.

share    of the games that `uct` won, with the 95 % interval by sets of piles
optimal  of the positions with a winning move, those where it was played: by `uct`, by OpenSpiel
speed    iterations a second of processor time, of both
"""

import argparse
import json
import operator
import random
import sys
import time
from functools import reduce

from common import positive

import mexica_ai as ai
from cext.core.baselines.uct import UCT
from mexica_ai.arena.statistics import block_interval

PILES, LEAST, MOST = 5, 3, 23
UCT_C = 1.4
MEMORY_MB = 1000
NAMES = ("uct", "OpenSpiel")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--iterations", type=positive(int), nargs="+", default=[1000, 5000], help="a move (default: 1000 5000)"
    )
    parser.add_argument("--games", type=positive(int), default=160, help="a number of iterations (default: 160)")
    parser.add_argument("--seed", type=int, default=1, help="(default: 1)")
    parser.add_argument("--solve", action="store_true", help="let OpenSpiel prove ends of games")
    parser.add_argument("--exploration", type=positive(float), help="constant of `uct` (default: its own)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        import pyspiel
    except ImportError:
        sys.exit("uct_openspiel.py: needs OpenSpiel (pip install open_spiel)")
    report = {iterations: match(pyspiel, iterations, args) for iterations in args.iterations}
    print(json.dumps(report) if args.json else table(report))


def match(pyspiel, iterations, args):
    """Play games in pairs and return their report."""
    rng = random.Random(args.seed)
    found = {name: {"positions": 0, "optimal": 0, "moves": 0, "seconds": 0.0} for name in NAMES}
    pairs = []
    for _ in range(max(2, args.games // 2)):
        piles = [rng.randint(LEAST, MOST) for _ in range(PILES)]
        pairs.append([play(pyspiel, piles, first, iterations, rng, args, found) for first in NAMES])
    low, high = block_interval([sum(pair) / 2 for pair in pairs], 0.0, 1.0, 2)
    return {
        "games": 2 * len(pairs),
        "won": int(sum(map(sum, pairs))),
        "share": sum(map(sum, pairs)) / (2 * len(pairs)),
        "interval": [float(low), float(high)],
        "optimal": {name: figures["optimal"] / max(1, figures["positions"]) for name, figures in found.items()},
        "speed": {name: figures["moves"] * iterations / figures["seconds"] for name, figures in found.items()},
    }


def play(pyspiel, piles, first, iterations, rng, args, found):
    """Play a game, add to the figures of both, and return whether `uct` has won it."""
    game = pyspiel.load_game(f"nim(pile_sizes={';'.join(map(str, piles))},is_misere=false)")
    evaluator = pyspiel.RandomRolloutEvaluator(1, rng.getrandbits(31))
    bot = pyspiel.MCTSBot(game, evaluator, UCT_C, iterations, MEMORY_MB, args.solve, rng.getrandbits(31), False)
    options = {} if args.exploration is None else {"exploration": args.exploration}
    ours, theirs = ai.new_game("nim", piles=piles).state, game.new_initial_state()
    name = first
    while not ours.is_terminal:
        began = time.process_time()
        if name == "uct":
            search = UCT(ours, seed=rng.getrandbits(31), **options)
            search.run(iterations=iterations)
            action = search.result()["candidates"][0]["actions"][0]
            pile, count = action >> 8, action & 255
        else:
            chosen = bot.step(theirs)
            pile, count = chosen % PILES, chosen // PILES + 1
        seconds = time.process_time() - began
        add(found[name], piles, pile, count, seconds)
        piles = [objects - count * (index == pile) for index, objects in enumerate(piles)]
        ours.apply(pile << 8 | count)
        theirs.apply_action(pile + (count - 1) * PILES)
        winner, name = name, NAMES[name == "uct"]
    assert theirs.is_terminal()
    assert theirs.returns()[NAMES.index(winner) ^ NAMES.index(first)] == 1
    return winner == "uct"


def add(figures, piles, pile, count, seconds):
    """Count a move: a position is lost for the seat to move if the exclusive or of the piles is 0."""
    figures["moves"] += 1
    figures["seconds"] += seconds
    nim_sum = reduce(operator.xor, piles)
    if nim_sum:
        figures["positions"] += 1
        figures["optimal"] += piles[pile] ^ nim_sum == piles[pile] - count


def table(report):
    lines = [
        "| iterations | share of uct | optimal: uct, OpenSpiel | iterations/s: uct, OpenSpiel |",
        "| --- " * 4 + "|",
    ]
    for iterations, found in report.items():
        low, high = found["interval"]
        optimal = ", ".join(f"{100 * found['optimal'][name]:.0f} %" for name in NAMES)
        speed = ", ".join(f"{found['speed'][name]:,.0f}" for name in NAMES)
        share = f"{100 * found['share']:.1f} % ({100 * low:.0f} to {100 * high:.0f}) of {found['games']} games"
        lines.append(f"| {iterations:,} | {share} | {optimal} | {speed} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
