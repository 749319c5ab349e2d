"""What searches of more iterations know about who wins: the weight of what they add, on the same decisions.

    python benchmarks/depth.py --game mexica --data depth.jsonl [--iterations 64 256 1024 4096] [--games 40] [--every 4]
        [--played 256] [--players 2] [--seed 1] [--jobs 1] [--json]

Equal engines of --played iterations a turn play games; one decision in --every is searched with each number of
iterations anew. Two regressions of what the seat to move won, each on its share by the evaluation alone (the *leaf*):
one for each number of iterations, on what that search adds to the leaf; and one for all, on what each search adds to
the one before. A weight of 1 is right: of 0, the search says nothing new; below 1, it exaggerates. Shares are those
before any map of published shares; standard errors are by the variance between games. The same command goes on where it
ended.
"""

import argparse
import json
import random
from functools import partial
from pathlib import Path

import numpy as np
from calibration import BATCH, regression, search
from common import positive

from mexica_ai.analysis.search import weights_for
from mexica_ai.arena.pool import GamePool
from mexica_ai.game import registry
from mexica_ai.game.position import new_game
from mexica_ai.train.job_file import Series, complete


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", required=True, choices=registry.names())
    parser.add_argument("--data", type=Path, required=True, metavar="FILE")
    parser.add_argument("--iterations", type=positive(int), nargs="+", default=[64, 256, 1024, 4096], metavar="N")
    parser.add_argument("--games", type=positive(int), default=40, help=f"rounded up to {BATCH} (default: 40)")
    parser.add_argument("--every", type=positive(int), default=4, help="of so many turns one is searched (default: 4)")
    parser.add_argument("--played", type=positive(int), default=256, help="iterations of the turns (default: 256)")
    parser.add_argument("--players", type=int, default=2, choices=range(2, 5))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=positive(int), default=1, help="processes (default: 1)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    weights = weights_for(args.game, None)
    if weights is None:
        parser.error(f"argument --game: {args.game} has no weights to evaluate with; expected a game that has")
    found = measure(collect(args, weights), sorted(set(args.iterations)))
    print(json.dumps(found) if args.json else table(args, found))


def collect(args, weights):
    """Play and search the games that the data lack, and return all."""
    made = {key: getattr(args, key) for key in ("every", "played", "players", "seed")}
    made["iterations"] = sorted(set(args.iterations))
    count = -(-args.games // BATCH)
    series = Series(args.game, weights, "games", "made", "batch", made, "another file")

    def job(index):
        return partial(play, args.game, weights, made, index)

    with GamePool() as pool:
        complete(args.data, series, count, job, pool, concurrency=args.jobs)
    wanted = [made | {"batch": index, "weights": weights.version} for index in range(count)]
    batches = [json.loads(line) for line in args.data.read_text().splitlines()]
    return [game for batch in batches if batch["made"] in wanted for game in batch["games"]]


def play(game, weights, made, index):
    """Play the games of a batch."""
    games = [selfplay(game, weights, made, index * BATCH + number) for number in range(BATCH)]
    return {"game": game, "made": made | {"batch": index, "weights": weights.version}, "games": games}


def selfplay(game, weights, made, number):
    """Return the decisions of a game that were searched: the leaf, the share by each search, and what the seat won."""
    random_ = random.Random(f"depth/{made['seed']}/{made['players']}/{number}")
    position = new_game(game, players=made["players"], seed=random_.getrandbits(63))
    decisions, turn = [], random_.randrange(made["every"])
    while not position.is_over:
        if position.is_chance:
            position.draw(random_.getrandbits(63))
            continue
        if turn % made["every"] == 0:
            entries = [search(position, weights, iterations, random_)[1] for iterations in made["iterations"]]
            if not entries[0]["forced"]:
                seat = position.to_move
                leaf = entries[-1]["leaf"]  # the mean over the most worlds
                decisions.append({"seat": seat, "leaf": leaf, "shares": [entry["value"][seat] for entry in entries]})
        turn += 1
        position.push(search(position, weights, made["played"], random_)[0])
    won = position.state.returns()
    return {"number": number, "decisions": [each | {"won": won[each["seat"]]} for each in decisions]}


def measure(games, iterations):
    """Return what the searches of each number of iterations add, with standard errors."""
    rows = [(number, each) for number, game in enumerate(games) for each in game["decisions"]]
    groups = np.array([number for number, _ in rows])
    shares = np.array([[each["leaf"], *each["shares"]] for _, each in rows])
    won = np.array([each["won"] for _, each in rows])
    steps = regression(groups, np.column_stack([shares[:, 0], np.diff(shares)]), won)
    found = []
    for number, count in enumerate(iterations, 1):
        added = shares[:, number] - shares[:, 0]
        _, leaf, search_less_leaf = regression(groups, np.column_stack([shares[:, 0], added]), won)
        likely = np.clip(shares[:, number], 0.001, 0.999)
        found.append(
            {
                "iterations": count,
                "decisions": len(rows),
                "games": len(games),
                "leaf": leaf,
                "search - leaf": search_less_leaf,
                "search - search before": steps[1 + number],
                "deviation": float(np.std(added)),
                "log_loss": float(-np.mean(won * np.log(likely) + (1 - won) * np.log1p(-likely))),
            }
        )
    return found


def table(args, found):
    """Return the rows as a table in Markdown."""
    lines = [
        f"{args.game}: {found[0]['decisions']:,} decisions of {found[0]['games']} games",
        "",
        "| iterations | weight of search - leaf | of search - search before | deviation of search - leaf | log-loss |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in found:
        weights = ("{:.2f} ({:.2f})".format(*row[key]) for key in ("search - leaf", "search - search before"))
        lines.append(
            f"| {row['iterations']:,} | {' | '.join(weights)} | {row['deviation']:.3f} | {row['log_loss']:.4f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
