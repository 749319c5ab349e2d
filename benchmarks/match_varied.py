"""Plays a match between two sets of weights from varied starts.

    python benchmarks/match_varied.py NEW.json OLD.json [--game tzolkin] [--pairs 40] [--iterations 200] [--seed 1]

In a varied start the seats have things that play seldom brings them (`mexica_ai.game.contract.Learning`). So the match
shows how well weights judge what their own games lack, which a rival with other habits may do. Each start is played
twice, with seats exchanged. OLD.json may be "ships". Prints the share of the win of NEW.json and its margin, with 95 %
intervals over the pairs.
"""

import argparse
import random

from mexica_ai.analysis.search import weights_for
from mexica_ai.arena.statistics import block_interval
from mexica_ai.engines import make_engine
from mexica_ai.game import registry
from mexica_ai.game.position import Position, new_game


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", nargs=2, metavar="WEIGHTS", help='a file, or "ships"')
    parser.add_argument("--game", default="tzolkin", choices=[name for name in registry.names() if has_varied(name)])
    parser.add_argument("--pairs", type=int, default=40, help="of games, at least 2")
    parser.add_argument("--iterations", type=int, default=200, help="of each turn")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    spec = f"mcts,iterations={args.iterations},memory={8 + args.iterations // 25}"
    weights = [weights_for(args.game, None if name == "ships" else name) for name in args.weights]
    engines = [make_engine(spec, weights=each) for each in weights]
    pairs = [play_pair(args.game, engines, f"{args.seed}/{index}") for index in range(args.pairs)]
    shares, margins = zip(*pairs, strict=True)
    low, high = block_interval(shares, 0, 1, games=2)
    print(f"{2 * args.pairs} games, {weights[0].version} against {weights[1].version}")
    print(f"share of the win {100 * mean(shares):.1f} % ({100 * low:.1f} to {100 * high:.1f} %)")
    low, high = block_interval(margins)
    print(f"margin {mean(margins):+.1f} ({low:+.1f} to {high:+.1f})")


def has_varied(game):
    return registry.get(game).learning.varied is not None


def mean(values):
    return sum(values) / len(values)


def play_pair(game, engines, seed):
    """Return the mean share of the win and margin of the first engine in two games from one start."""
    random_ = random.Random(seed)
    varied = registry.get(game).learning.varied
    start = varied(new_game(game, players=2, seed=random_.getrandbits(63)).to_json(), random_)
    events = random_.getrandbits(63)
    shares, margins = zip(*(play(start, engines, seat, events) for seat in (0, 1)), strict=True)
    return mean(shares), mean(margins)


def play(start, engines, seat, seed):
    """Return the share of the win and the margin of the first engine on a seat."""
    random_ = random.Random(seed)
    position = Position.from_json(start)
    while not position.is_over:
        if position.is_chance:
            position.draw(random_.getrandbits(63))
            continue
        engine = engines[position.to_move != seat]
        seen = position.view(position.to_move)
        position.push(engine.best_turn(seen, seed=random_.getrandbits(63), candidates=1).turn)
    share = (seat in position.winners) / len(position.winners)
    return share, position.scores[seat] - position.scores[1 - seat]


if __name__ == "__main__":
    main()
