"""Measures how well searches choose turns: the regret of their choices against rollouts.

    python benchmarks/decisions.py make coatl --iterations 0 --out benchmarks/data/coatl.jsonl
    python benchmarks/decisions.py measure coatl --weights ships new.json --iterations 1000
    python benchmarks/decisions.py correlate measured.json --matches matches.json

`make` makes decisions (`mexica_ai.train.decisions`): positions with turns that were rolled out. It goes on where a
stopped run ended. `measure` lets searches choose in each of them. Turns that nobody has rolled out are rolled out then,
and kept in the file of decisions, unless it is one that ships. `correlate` compares the regrets that `measure --json`
printed with results of matches, a JSON object of {"NAME": {"share": 0.45, "games": 100}, ...}; "games" is null for the
opponent itself.
"""

import argparse
import json
import sys
from concurrent.futures import as_completed
from dataclasses import fields
from functools import partial
from pathlib import Path

import numpy as np
from common import positive

from mexica_ai.analysis.search import weights_for
from mexica_ai.cli.common import executor
from mexica_ai.game import registry
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.train import decisions

DATA = Path(__file__).parent / "data"
RESAMPLES = 2000  # of a bootstrap
STATISTICS = ("spearman", "kendall")
HELP = {
    "players": "seats",
    "play": "iterations of a turn in the games that lead to the positions",
    "search": "iterations of the larger search",
    "top": "turns that the larger search visited most",
    "below": "others of its candidates",
    "odd": "random turns",
    "iterations": "of a turn in the rollouts; 0: greedy turns",
    "depth": "turns before the outlook of a rollout",
    "rollouts": "of each turn",
    "finished": "rollouts of each turn that go on to the end of the game, at least 2",
}


def main():
    args = parse()
    try:
        args.run(args)
    except MexicaAIError as error:
        sys.exit(f"decisions.py: {error}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    jobs = argparse.ArgumentParser(add_help=False)
    jobs.add_argument("game", choices=[name for name in registry.names() if registry.get(name).learning.weights])
    jobs.add_argument("--jobs", type=positive(int), help="at a time (default: 1; with --cluster: its threads)")
    jobs.add_argument("--cluster", metavar="ADDRESS", help="run on the workers of a dask scheduler")
    jobs.add_argument("--rollout-weights", metavar="FILE", help="what plays rollouts (default: those that ship)")

    command = commands.add_parser("make", parents=[jobs], help="make decisions")
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines, continued if it exists")
    command.add_argument("--positions", type=positive(int), default=120)
    command.add_argument("--seed", type=int, default=1)
    for field in fields(decisions.Sizes):
        command.add_argument(f"--{field.name}", type=int, default=field.default, help=HELP[field.name])
    command.set_defaults(run=make)

    command = commands.add_parser("measure", parents=[jobs], help="measure the regret of searches")
    command.add_argument("--weights", nargs="+", default=[], metavar="FILE", help='files of weights, or "ships"')
    command.add_argument("--engine", nargs="+", default=[], metavar="SPEC", help="other engines, as in the arena")
    command.add_argument("--iterations", type=positive(int), default=1000, help="of each search")
    command.add_argument("--data", type=Path, metavar="FILE", help="decisions (default: benchmarks/data/GAME.jsonl.gz)")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=measure)

    command = commands.add_parser("correlate", help="compare regrets with results of matches")
    command.add_argument("measured", type=Path, nargs="+", metavar="FILE", help="what `measure --json` printed")
    command.add_argument("--matches", type=Path, required=True, metavar="FILE")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=correlate)

    args = parser.parse_args()
    if args.run is make and not 2 <= args.finished <= args.rollouts:
        parser.error(f"--finished {args.finished}: expected 2 to the number of rollouts, {args.rollouts}")
    if args.run is measure and not args.weights + args.engine:
        parser.error("expected --weights or --engine")
    if args.run is measure:
        names = args.weights + args.engine
        if twice := [name for name in names if names.count(name) > 1]:
            parser.error(f"{twice[0]} is given twice; expected different engines")
    return args


# --- make


def make(args):
    sizes = decisions.Sizes(**{field.name: getattr(args, field.name) for field in fields(decisions.Sizes)})
    with executor(args.cluster, args.jobs) as (pool, concurrency):
        decisions.make(
            args.out,
            pool,
            game=args.game,
            positions=args.positions,
            sizes=sizes,
            seed=args.seed,
            weights=weights_for(args.game, args.rollout_weights),
            concurrency=concurrency,
            on_progress=lambda done: progress(done, args.positions),
        )


def progress(done, count):
    if sys.stderr.isatty():
        print(f"\r{done} of {count} decisions", end="" if done < count else "\n", file=sys.stderr, flush=True)


# --- measure


def measure(args):
    path = args.data or DATA / f"{args.game}.jsonl.gz"
    found = decisions.read(path, args.game)
    common = {"iterations": args.iterations, "memory": 8 + args.iterations // 25}
    engines = {name: ("mcts", common | {"weights": shipped_or(args.game, name)}) for name in args.weights}
    engines |= {spec: (spec, common) for spec in args.engine}
    found, choices = chosen(args, path, found, list(engines.values()))
    best = np.array([decisions.best(decision) for decision in found])
    values = []  # for each decision and engine
    for decision, turns in zip(found, choices, strict=True):
        known = decisions.advantages(decision)
        values.append([known[decisions.key_of(decision, turn)] for turn in turns])
    regrets = best[:, None] - np.array(values)  # decision, engine, kind, measure
    parts = parts_of(found)
    report = {
        "game": args.game,
        "data": decisions.digest(found),
        "decisions": len(found),
        "iterations": args.iterations,
        "engines": {
            name: {
                "version": version_of(defaults),
                **{part: summary(regrets[where, number]) for part, where in parts.items()},
                "less_than_first": summary(regrets[:, 0] - regrets[:, number]),
                "regrets": regrets[:, number].round(5).tolist(),
            }
            for number, (name, (_, defaults)) in enumerate(engines.items())
        },
    }
    print(json.dumps(report) if args.json else table(report))


def shipped_or(game, name):
    return weights_for(game, None if name == "ships" else name)


def version_of(defaults):
    weights = defaults.get("weights")
    return None if weights is None else weights.version


def chosen(args, path, found, engines):
    """Return the decisions with the rollouts of all choices, and the choices.

    New rollouts are kept in the file, unless it is one that ships.
    """
    weights = weights_for(args.game, args.rollout_weights)
    choices = [None] * len(found)
    before = list(found)
    try:
        with executor(args.cluster, args.jobs) as (pool, concurrency):
            for first in range(0, len(found), concurrency):
                running = {
                    pool.submit(partial(decisions.choose, decision, engines, weights)): first + number
                    for number, decision in enumerate(found[first : first + concurrency])
                }
                for future in as_completed(running):
                    number = running[future]
                    found[number], choices[number] = future.result()
                progress(min(first + concurrency, len(found)), len(found))
    finally:
        if found != before and path.resolve().parent != DATA.resolve():
            decisions.write(path, found)
    return found, choices


def parts_of(found):
    """Return which decisions belong to which part, by the name of the part."""
    phases = np.array([decision["phase"] for decision in found])
    odd = np.array([decision["odd_turns"] > 0 for decision in found])
    parts = {"all": np.full(len(found), True)}
    parts |= {name: phases == number for number, name in enumerate(decisions.PHASES)}
    parts |= {"on_path": ~odd, "off_path": odd}
    return {name: where for name, where in parts.items() if where.any()}


def summary(regrets):
    """Return the mean and its 95 % interval, by a bootstrap over decisions, for each kind of estimate and measure."""
    means = resampled(regrets)
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    return {
        kind: {
            measure: {
                "mean": round(float(regrets[:, i, j].mean()), 5),
                "low": round(float(low[i, j]), 5),
                "high": round(float(high[i, j]), 5),
            }
            for j, measure in enumerate(decisions.MEASURES)
        }
        for i, kind in enumerate(decisions.KINDS)
    }


def resampled(regrets):
    """Return the means of as many samples of decisions, drawn with replacement."""
    count = len(regrets)
    drawn = np.random.default_rng(1).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    return np.tensordot(drawn / count, regrets, axes=1)


def table(report):
    """Return the report as text: a block for each kind of estimate and measure."""
    lines = [f"{report['game']}: {report['decisions']} decisions, {report['iterations']} iterations"]
    parts = [key for key in next(iter(report["engines"].values())) if key not in ("version", "regrets")]
    for kind in reversed(decisions.KINDS):
        for measure, digits in zip(decisions.MEASURES, (4, 2), strict=True):
            lines += ["", f"regret in {'share of the win' if measure == 'share' else measure}, by the {kind}"]
            lines.append(" " * 24 + "".join(part.replace("_", " ").rjust(28) for part in parts))
            for name, found in report["engines"].items():
                cells = [cell(found[part][kind][measure], digits).rjust(28) for part in parts]
                lines.append(name[-24:].ljust(24) + "".join(cells))
    return "\n".join(lines)


def cell(figures, digits):
    return f"{figures['mean']:.{digits}f} ({figures['low']:.{digits}f} to {figures['high']:.{digits}f})"


# --- correlate


def correlate(args):
    matches = read_json(args.matches)
    regrets, data = {}, {}
    for path in args.measured:
        measured = read_json(path)
        data.setdefault(measured.get("data"), path)
        for name, found in measured["engines"].items():
            regrets[name] = np.array(found["regrets"])
    if len(data) > 1:
        one, other, *_ = data.values()
        sys.exit(f"decisions.py: {one} and {other} are of different decisions; expected the same ones")
    names = [name for name in regrets if name in matches]
    if len(names) < 3:
        sys.exit(f"decisions.py: {len(names)} engines have regrets and results of matches; expected 3 or more")
    together = np.stack([regrets[name] for name in names], axis=1)  # decision, engine, kind, measure
    shares = np.array([matches[name]["share"] for name in names])
    games = [matches[name]["games"] for name in names]
    deviations = np.array([0 if n is None else np.sqrt(s * (1 - s) / n) for s, n in zip(shares, games, strict=True)])
    drawn = np.random.default_rng(2).normal(shares, deviations, size=(RESAMPLES, len(names)))
    means, samples = together.mean(axis=0), resampled(together)
    report = {"engines": names, "decisions": len(together)}
    for i, kind in enumerate(decisions.KINDS):
        for j, measure in enumerate(decisions.MEASURES):
            values = rank_correlations(-means[None, :, i, j], shares[None])
            of_samples = rank_correlations(-samples[:, :, i, j], drawn)
            report.setdefault(kind, {})[measure] = {
                statistic: {
                    "value": float(value[0]),
                    **dict(zip(("low", "high"), map(float, np.nanquantile(each, (0.025, 0.975))), strict=True)),
                }
                for statistic, value, each in zip(STATISTICS, values, of_samples, strict=True)
            }
    if args.json:
        print(json.dumps(report))
        return
    print(f"{len(names)} engines, {len(together)} decisions: rank correlation of low regret with results")
    for kind in decisions.KINDS:
        for measure in decisions.MEASURES:
            cells = [
                f"{statistic} {f['value']:.2f} ({f['low']:.2f} to {f['high']:.2f})"
                for statistic, f in report[kind][measure].items()
            ]
            print(f"{kind} {measure}".ljust(16), *cells)


def rank_correlations(x, y):
    """Return Spearman's rho and Kendall's tau-b for each row of two arrays.

    Both are correlations of signs of differences: tau of all of them, rho of their sums for each value, its rank.
    """
    signs = [np.sign(each[:, :, None] - each[:, None, :]) for each in (x, y)]
    ranks = [each.sum(axis=2, keepdims=True) for each in signs]
    with np.errstate(invalid="ignore"):  # not a number where all are equal
        return [
            (a * b).sum(axis=(1, 2)) / np.sqrt((a * a).sum(axis=(1, 2)) * (b * b).sum(axis=(1, 2)))
            for a, b in (ranks, signs)
        ]


def read_json(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        sys.exit(f"decisions.py: cannot read {path}: {error}")


if __name__ == "__main__":
    main()
