"""Measures whether the shares of the win that searches publish are true: engines that are equal, against each other.

    python benchmarks/calibration.py --game mexica --out games.jsonl [--games 10000] [--jobs 2] [--json]

Each turn of each game is searched with --iterations (64) iterations, and every seat's share is noted before the turn is
played. The table has, by tenths of the share of the seat to move (and with more than two seats of the others), how
large it was on average and how much the seats won.

Below it is what searching adds to the evaluation: the weights of a regression of what the seat to move won on its share
by the evaluation alone (the *leaf*: the mean over as many dealings of what the seat cannot see as the search has
iterations) and on its share by the search less that. The weight of the difference is 0 if a search knows no more about
who wins than its evaluation.

All errors are by the variance between games. --out keeps the games, so the same command goes on where it ended; weights
that changed need another file.
"""

import argparse
import json
import random
from functools import partial
from pathlib import Path

import numpy as np
from common import positive

from cext.core.baselines.simple import evaluate
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.search import SearchRun, weights_for
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.arena.pool import GamePool
from mexica_ai.game import registry
from mexica_ai.game.position import new_game
from mexica_ai.train.job_file import Series, complete

AIM = 0.03
BATCH = 20  # games of a job


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="mexica", choices=registry.names())
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--games", type=positive(int), default=10_000, help="(default: 10000)")
    parser.add_argument("--players", type=int, default=2, choices=range(2, 5))
    parser.add_argument("--iterations", type=positive(int), default=64, help="of a search (default: 64)")
    parser.add_argument("--seed", type=int, default=1, help="(default: 1)")
    parser.add_argument("--jobs", type=positive(int), default=1, help="processes (default: 1)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    weights = weights_for(args.game, None)
    if weights is None:
        parser.error(f"argument --game: {args.game} has no weights to evaluate with; expected a game that has")
    settings = {"seed": args.seed, "iterations": args.iterations, "players": args.players}
    series = Series(args.game, weights, "games", "made", "batch", settings, "another file")
    with GamePool() as pool:
        complete(
            args.out,
            series,
            -(-args.games // BATCH),
            lambda index: partial(play, args.game, weights, settings, index),
            pool,
            concurrency=args.jobs,
        )
    made = settings | {"weights": weights.version}
    games = []
    for line in args.out.read_text().splitlines():
        batch = json.loads(line)
        if batch["game"] == args.game and batch["made"] | made == batch["made"]:
            games += batch["games"]
    if not games:
        parser.error(f"argument --out: {args.out} has these games by other weights; expected another file")
    rows, added = tenths(games), weights_of(games)
    if args.json:
        print(json.dumps({"games": len(games), "tenths": rows, "weights": added}))
    else:
        print(table(args, weights, len(games), rows))
        print("\nweights (standard error): " + ", ".join(f"{n} {w:.3f} ({e:.3f})" for n, (w, e) in added.items()))


def play(game, weights, settings, index):
    """Play `BATCH` games and return, for each, the shares of its searches and of its end."""
    random_ = random.Random(f"{settings['seed']}/{index}")
    limits = Limits(iterations=settings["iterations"], memory_mb=8)
    games = []
    for _ in range(BATCH):
        position = new_game(game, players=settings["players"], seed=random_.getrandbits(63))
        searched = []
        while not position.is_over:
            if position.is_chance:
                position.draw(random_.getrandbits(63))
                continue
            search = SearchSettings(limits, random_.getrandbits(63), candidates=1, weights=weights)
            result = SearchRun(position, search).result()
            if result.stop_reason != "forced":
                leaf = leaf_share(position, weights, settings["iterations"], random_)
                searched.append([position.to_move, [round(share, 4) for share in result.value], round(leaf, 4)])
            position.push(result.turn)
        won = [1 / len(position.winners) if seat in position.winners else 0 for seat in range(position.players)]
        games.append({"searched": searched, "won": won})
    return {"game": game, "made": settings | {"batch": index, "weights": weights.version}, "games": games}


def leaf_share(position, weights, count, random_):
    """Return the share of the seat to move by the evaluation alone, the mean over `count` worlds if there are more."""
    seat, shares = position.to_move, []
    seen = position.view(seat).state
    for _ in range(count):
        world = seen.copy()
        are_more = world.determinize(seat, random_.getrandbits(63))
        shares.append(evaluate(world, weights=weights)[0][seat])
        if not are_more:
            break
    return sum(shares) / len(shares)


def weights_of(games):
    """Return the weights of the regression of what the seat to move won, and their standard errors."""
    found = np.array(
        [
            (number, leaf, shares[seat] - leaf, game["won"][seat])
            for number, game in enumerate(games)
            for seat, shares, leaf in game["searched"]
        ]
    )
    inputs = np.column_stack([np.ones(len(found)), found[:, 1:3]])
    weights = np.linalg.lstsq(inputs, found[:, 3], rcond=None)[0]
    slopes = inputs * (found[:, 3] - inputs @ weights)[:, None]
    sums = np.array([np.bincount(found[:, 0].astype(int), column) for column in slopes.T])
    inverse = np.linalg.inv(inputs.T @ inputs)
    errors = np.sqrt(np.diag(inverse @ (sums @ sums.T) @ inverse))
    pairs = [(float(weight), float(error)) for weight, error in zip(weights, errors, strict=True)]
    return dict(zip(["constant", "leaf", "search - leaf"], pairs, strict=True))


def tenths(games):
    """Return the rows of the table."""
    found = np.array(
        [
            (number, seat == to_move, share, game["won"][seat], min(int(share * 10 + 1e-6), 9))
            for number, game in enumerate(games)
            for to_move, shares, _ in game["searched"]
            for seat, share in enumerate(shares)
        ]
    )
    rows = []
    for is_mover in (1, 0) if len(games[0]["won"]) > 2 else (1,):  # with two seats the other's is the rest
        for tenth in range(10):
            part = found[(found[:, 1] == is_mover) & (found[:, 4] == tenth)]
            if not len(part):
                continue
            errors = part[:, 3] - part[:, 2]
            sums = np.bincount(part[:, 0].astype(int), errors - errors.mean())
            rows.append(
                {
                    "to_move": bool(is_mover),
                    "from": tenth / 10,
                    "shares": len(part),
                    "published": part[:, 2].mean(),
                    "won": part[:, 3].mean(),
                    "error": float(np.sqrt((sums**2).sum()) / len(part)),
                }
            )
    return rows


def table(args, weights, count, rows):
    """Return the rows as a table in Markdown."""
    lines = [
        f"{args.game} ({weights.version}), {args.players} seats, {args.iterations} iterations a turn, {count:,} games",
        "",
        "| seat | tenth | shares | published | won | difference (standard error) | |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        difference = row["won"] - row["published"]
        lines.append(
            f"| {'to move' if row['to_move'] else 'other'} | from {row['from']:.1f} | {row['shares']:,} "
            f"| {row['published']:.3f} | {row['won']:.3f} | {difference:+.3f} ({row['error']:.3f}) "
            f"| {'' if abs(difference) <= AIM else f'more than {AIM}'} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
