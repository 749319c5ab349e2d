"""Measures the hope of searches: how much more the seat to move expects than it then gets.

    python benchmarks/hope.py GAMES.jsonl... [--every 20] [--iterations 2000] [--open] [--set OPTION=VALUE,...]...

GAMES are records, one a line, also packed (.gz). Every --every-th decision with a choice is searched, once for each
variant of the search: the default, and one for each --set. All variants get the same decisions and seeds. The result of
a decision is the share of the win that its seat had at the end of that record.

forecast  mean share of the win that the search finds for the seat to move, before the map of published shares
root      the same as the mean over all that the search explored
hope      forecast less result, with its standard error by games
log-loss, Brier  of the forecast, and how much they differ from the default's, with the standard error by games
speed     iterations a second, in relation to the default's

Below are the hope and the log-loss by fifths of a game. --open shows the hands of all seats to all. A search counts on
its own turn, so the hope is above 0 where the players of the records play worse ones; with --play the result is that of
a game that searches play on from the decision.
"""

import argparse
import gzip
import json
import random
import sys
from pathlib import Path

import numpy as np
from common import positive

from cext.core.search.options import OPTIONS
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.game.records import position_at
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.train.starts import has_hands, shown

FIFTHS = 5
LEAST = 1e-4  # share of the win in the log-loss


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="+", type=Path, metavar="GAMES", help="files of records")
    parser.add_argument("--every", type=positive(int), default=20, help="decisions from one to the next (default: 20)")
    parser.add_argument("--numbers", type=positive(int), default=1, metavar="N", help="only records 0, N, 2 N...")
    parser.add_argument("--iterations", type=positive(int), default=2000, help="of a search (default: 2000)")
    parser.add_argument("--seed", type=int, default=1, help="(default: 1)")
    parser.add_argument(
        "--play", type=positive(int), metavar="N", help="play each game on from the decision, N iterations a turn"
    )
    parser.add_argument("--open", action="store_true", help="show the hands of all seats")
    parser.add_argument(
        "--set", action="append", default=[], type=variant, metavar="OPTION=VALUE,...", help="a variant of the search"
    )
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    try:
        report = measure(args)
    except (MexicaAIError, OSError) as error:
        sys.exit(f"hope.py: {error}")
    print(json.dumps(report) if args.json else table(report))


def variant(text):
    """Return the options of an argument of --set."""
    options = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        if name not in OPTIONS:
            raise argparse.ArgumentTypeError(f"no option {name!r}; expected one of {', '.join(OPTIONS)}")
        try:
            options[name] = float(value)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{part!r}; expected {name}= and a number") from None
    return options


def measure(args):
    """Search all decisions with all variants and return the report."""
    variants = [{}, *args.set]
    rows, decisions = [], []
    for game, phase, position, result in chosen(args):
        if args.open and (position := opened(position)) is None:
            continue
        rows.append([search(position, args, options, len(rows)) for options in variants])
        if args.play:
            result = played(position, args, len(rows))
        decisions.append((game, phase, result))
    if not rows:
        sys.exit("hope.py: no decisions in these games; expected records with choices")
    found = np.array(rows)  # decision, variant, (forecast, root, iterations, seconds)
    games, phases, results = (np.array(column) for column in zip(*decisions, strict=True))
    names = ["default", *(" ".join(f"{name}={value:g}" for name, value in each.items()) for each in args.set)]
    return {
        "decisions": len(rows),
        "games": len(set(games.tolist())),
        "result": round(float(results.mean()), 5),
        "variants": {
            name: summary(found[:, number], found[:, 0], games, phases, results) for number, name in enumerate(names)
        },
    }


def chosen(args):
    """Yield (number of the game, fifth of it, position, result of the seat to move) of the decisions to search."""
    number, count = -1, 0
    for path in args.games:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as lines:
            for line_number, line in enumerate(lines):
                if line_number % args.numbers:
                    continue
                number += 1
                record = json.loads(line)
                turns = record["turns"]
                for index in range(len(turns)):
                    # Random events are turns of a record, too.
                    count += 1
                    if count % args.every:
                        continue
                    position = position_at(record, index)
                    if position.is_chance or position.is_forced:
                        count -= 1  # the next one
                        continue
                    winners = record["winners"]
                    result = (position.to_move in winners) / len(winners)
                    yield number, FIFTHS * index // len(turns), position, result


def opened(position):
    """Return a position in which all seats have shown their hands; None where the rules do not let them."""
    if not has_hands(position):
        sys.exit(f"hope.py: --open: {position.game} has no hands that a seat shows")
    found = shown(position)
    return None if found is position else found


def search(position, args, options, number):
    """Return the shares of the seat to move and the effort of a search."""
    limits = Limits(iterations=args.iterations, memory_mb=8 + args.iterations // 25)
    settings = SearchSettings(limits, args.seed + number, candidates=1, options=options)
    run = SearchRun(position, settings)
    run.result()
    result = run.search.result(1)  # as found: a map of published shares fits one variant alone
    seat, best = position.to_move, result["candidates"][0]
    return best["value"][seat], best["forecast"][0]["value"][seat], result["iterations"], result["seconds"]


def played(position, args, number):
    """Return the result of the seat to move when searches play the game on."""
    random_ = random.Random(f"{args.seed}/{number}")
    seat, position = position.to_move, position.copy()
    limits = Limits(iterations=args.play, memory_mb=8 + args.play // 25)
    while not position.is_over:
        if position.is_chance:
            position.draw(random_.getrandbits(63))
        else:
            position.push(SearchRun(position, SearchSettings(limits, random_.getrandbits(63))).result().turn)
    return (seat in position.winners) / len(position.winners)


def losses(forecasts, results):
    """Return the log-loss and the Brier score of each decision."""
    forecasts = np.clip(forecasts, LEAST, 1 - LEAST)
    log_loss = -(results * np.log(forecasts) + (1 - results) * np.log(1 - forecasts))
    return log_loss, (forecasts - results) ** 2


def summary(found, default, games, phases, results):
    """Return the figures of a variant."""
    forecasts = found[:, 0]
    hope = forecasts - results
    figures = {
        "forecast": round(float(forecasts.mean()), 5),
        "root": round(float(found[:, 1].mean()), 5),
        "hope": estimate(hope, games),
    }
    both = zip(losses(forecasts, results), losses(default[:, 0], results), strict=True)
    for name, (own, others) in zip(("log_loss", "brier"), both, strict=True):
        figures[name] = round(float(own.mean()), 5)
        figures[f"{name}_less_default"] = estimate(own - others, games)
    log_loss = losses(forecasts, results)[0]
    figures["fifths"] = [
        {
            "fifth": fifth + 1,
            "decisions": int((phases == fifth).sum()),
            "hope": estimate(hope[phases == fifth], games[phases == fifth]),
            "log_loss": round(float(log_loss[phases == fifth].mean()), 5),
        }
        for fifth in range(FIFTHS)
        if (phases == fifth).any()
    ]
    speeds = [each[:, 2].sum() / each[:, 3].sum() for each in (found, default)]
    return figures | {"iterations_per_s": round(float(speeds[0])), "speed": round(float(speeds[0] / speeds[1]), 3)}


def estimate(values, games):
    """Return the mean and its standard error by the variance between games."""
    mean = values.mean()
    sums = np.bincount(games, values - mean)
    return {"mean": round(float(mean), 5), "error": round(float(np.sqrt((sums**2).sum()) / len(values)), 5)}


def table(report):
    """Return the report as text."""
    variants = report["variants"]
    wide = max(map(len, variants))
    lines = [
        f"{report['decisions']} decisions of {report['games']} games; mean result {report['result']:.3f}",
        f"{'':{wide}}  forecast   root             hope  log-loss    less default     Brier    less default   speed",
    ]
    for name, found in variants.items():
        cells = [f"{found['forecast']:8.3f}", f"{found['root']:5.3f}", f"{cell(found['hope'], 3):>15}"]
        for loss in ("log_loss", "brier"):
            cells += [f"{found[loss]:8.4f}", f"{cell(found[f'{loss}_less_default'], 4):>15}"]
        lines.append("  ".join([f"{name:{wide}}", *cells, f"{found['speed']:5.2f}"]))
    lines += ["", "hope (standard error), log-loss by fifths of a game"]
    for name, found in variants.items():
        cells = [f"{cell(each['hope'], 3)} {each['log_loss']:.3f}" for each in found["fifths"]]
        lines.append("  ".join([f"{name:{wide}}", *(f"{each:>20}" for each in cells)]))
    return "\n".join(lines)


def cell(figures, digits):
    return f"{figures['mean']:+.{digits}f} ({figures['error']:.{digits}f})"


if __name__ == "__main__":
    main()
