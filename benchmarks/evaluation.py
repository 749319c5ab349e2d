"""Measures the evaluation alone, without a search, on games that anybody has played.

    python benchmarks/evaluation.py --game coatl GAMES.jsonl [--every 5] [--weights FILE ...] [--positions 16] [--json]

GAMES.jsonl has records, or games as `mexica-ai train` keeps them. In each fifth of a game, for each number of seats and
each seat, the table says how many points more than it had at the end the seat was expected to get, on average (less
than 0: too few); then the log-loss of the shares of the win. The evaluation sees all hands. --every 5 takes the games
whose number, from 0, is divisible by 5: leave these out of what is fitted, and the figures are of games held out.
"""

import argparse
import json
import random

import numpy as np
from common import positive

from cext.core.baselines.simple import evaluate
from mexica_ai.analysis.search import weights_for
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.io.files import lines_of

FIFTHS = 5


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", metavar="GAMES.jsonl")
    parser.add_argument("--game", default="coatl", choices=registry.names())
    parser.add_argument("--weights", nargs="+", default=[None], metavar="FILE", help="(default: those that ship)")
    parser.add_argument("--every", type=positive(int), default=1, metavar="N", help="take every Nth game (default: 1)")
    parser.add_argument("--positions", type=positive(int), default=16, help="of a game, at most (default: 16)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    records = [json.loads(line) for line in lines_of(args.games)][:: args.every]
    records = [record.get("record", record) for record in records]
    records = [record for record in records if record["game"] == args.game]
    if not records:
        parser.error(f"{args.games} has no games of {args.game}; expected some")
    sampled = [(number, *found) for number, record in enumerate(records) for found in sample(record, args.positions)]
    found = {}
    for path in args.weights:
        weights = weights_for(args.game, path)
        if weights is None:
            parser.error(f"argument --game: {args.game} has no weights to evaluate with; expected a game that has")
        found[weights.version] = measured(sampled, records, weights)
    print(json.dumps(found) if args.json else "\n\n".join(table(*each, len(records)) for each in found.items()))


def sample(record, count):
    """Yield the fifth of the game and the state of some positions before turns of seats."""
    turns, position = record["turns"], Position.from_json(record["start"])
    chosen = set(random.Random(json.dumps(record["start"])).sample(range(len(turns)), min(count, len(turns))))
    for at, turn in enumerate(turns):
        if at in chosen and not position.is_chance:
            yield at * FIFTHS // len(turns), position.state.copy()
        position.push(turn)


def measured(sampled, records, weights):
    """Return, by the number of seats, the mean errors of the points by fifth and seat, and the log-loss."""
    errors, losses = {}, {}
    for number, fifth, state in sampled:
        record, seats = records[number], state.num_players
        shares, points = evaluate(state, weights=weights)
        winners = record["winners"]
        loss = -sum(np.log(max(shares[seat], 1e-9)) for seat in winners) / len(winners)
        losses.setdefault(seats, []).append((number, loss))
        errors.setdefault((seats, fifth), []).append(
            (number, *(expected - score for expected, score in zip(points, record["scores"], strict=True)))
        )
    found = {}
    for seats in sorted(losses):
        rows = [errors.get((seats, fifth)) for fifth in range(FIFTHS)]
        found[str(seats)] = {
            "games": len({number for number, _ in losses[seats]}),
            "positions": len(losses[seats]),
            "log_loss": mean(losses[seats]),
            "points": [row and [mean([(each[0], each[1 + seat]) for each in row]) for seat in range(seats)]
                       for row in rows],
            "points_of_all_seats": [row and mean([(each[0], np.mean(each[1:])) for each in row]) for row in rows],
        }  # fmt: skip
    return found


def mean(pairs):
    """Return the mean of some figures and its standard error: those of one game depend on each other."""
    numbers, values = (np.array(column) for column in zip(*pairs, strict=True))
    _, games = np.unique(numbers, return_inverse=True)
    sums = np.bincount(games, values - values.mean())
    return [round(float(values.mean()), 4), round(float(np.sqrt((sums**2).sum()) / len(values)), 4)]


def table(version, found, games):
    """Return the figures as text in Markdown."""
    lines = [f"{version}, {games:,} games", "", "| seats | log-loss | | " + " | ".join(map(str, range(1, 6))) + " |"]
    lines.append("| --- | --- | --- " + "| --- " * FIFTHS + "|")
    for seats, part in found.items():
        loss = "{:.4f} ({:.4f})".format(*part["log_loss"])
        rows = {"all seats": part["points_of_all_seats"]}
        rows |= {f"seat {seat}": [row and row[seat] for row in part["points"]] for seat in range(int(seats))}
        for name, cells in rows.items():
            shown = ("{:+.1f} ({:.1f})".format(*cell) if cell else "" for cell in cells)
            lines.append(f"| {seats} | {loss} | {name} | " + " | ".join(shown) + " |")
            loss = ""
    return "\n".join(lines)


if __name__ == "__main__":
    main()
