"""Shows where searches err: the regret of their choices against rollouts.

    python benchmarks/regret.py make coatl --iterations 0 --out cases.jsonl
    python benchmarks/regret.py endings coatl --records games.jsonl.gz --every 5 --out endings.jsonl
    python benchmarks/regret.py measure coatl --data cases.jsonl --engine mcts,iterations=1000 greedy

`make` makes cases (`rollouts.py`): positions with turns that were rolled out. It goes on where a stopped run ended.
`endings` makes cases of recorded games: positions just before the end.
`measure` lets engines choose in each of them. Turns that nobody has rolled out are rolled out then, and kept in the
file. One command at a time uses a file. Regrets do not order networks; matches do.
"""

import argparse
import contextlib
import fcntl
import gzip
import json
import sys
from concurrent.futures import as_completed
from dataclasses import fields
from functools import partial
from pathlib import Path

import endings
import numpy as np
import rollouts
from common import positive

from mexica_ai.analysis.search import weights_for
from mexica_ai.arena.pool import GamePool
from mexica_ai.game import registry
from mexica_ai.io.errors import MexicaAIError, NotationError

RESAMPLES = 2000  # of a bootstrap
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
    "dealt": "1: rollouts deal what the seat does not see; 0: seats hold what they hold",
    "pooled": "1: keep the means of the even and of the odd rollouts only, all of which are to be finished",
}


def main():
    args = parse()
    try:
        with alone(args.data if args.run is measure else args.out):
            args.run(args)
    except MexicaAIError as error:
        sys.exit(f"regret.py: {error}")


@contextlib.contextmanager
def alone(path):
    """Let no other of these commands use a file of cases.

    The lock is on a file beside it, which stays: `measure` replaces the cases, and their lock would go with them.
    """
    lock = f"{path}.lock"
    try:
        file = open(lock, "a")  # noqa: SIM115
    except OSError as error:
        raise NotationError(f"cannot write {lock}: {error.strerror}", reason="UNREADABLE_FILE") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotationError(f"{path} is in use by another process", reason="UNREADABLE_FILE") from None
        yield


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    jobs = argparse.ArgumentParser(add_help=False)
    jobs.add_argument("game", choices=[name for name in registry.names() if registry.get(name).learning.weights])
    jobs.add_argument("--jobs", type=positive(int), default=1, help="at a time (default: 1)")
    jobs.add_argument("--rollout-weights", metavar="FILE", help="what plays rollouts (default: those that ship)")

    command = commands.add_parser("make", parents=[jobs], help="make cases")
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines, continued if it exists")
    command.add_argument("--positions", type=positive(int), default=120)
    command.add_argument("--seed", type=int, default=1)
    for field in fields(rollouts.Sizes):
        command.add_argument(f"--{field.name}", type=int, default=field.default, help=HELP[field.name])
    command.set_defaults(run=make)

    command = commands.add_parser("endings", parents=[jobs], help="make cases of positions just before the end")
    command.add_argument(
        "--records", type=Path, required=True, metavar="FILE", help="games, JSON lines or gzip of them"
    )
    command.add_argument("--every", type=positive(int), default=1, help="take each so-manieth record (default: 1)")
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines, continued if it exists")
    command.add_argument("--positions", type=positive(int), default=200)
    command.add_argument("--rollouts", type=positive(int), default=400, help="of each turn, an even number")
    command.add_argument("--search", type=positive(int), default=1000, help=HELP["search"])
    command.add_argument("--top", type=positive(int), default=3, help=HELP["top"])
    command.set_defaults(run=make_endings)

    command = commands.add_parser("measure", parents=[jobs], help="measure the regret of searches")
    command.add_argument("--engine", nargs="+", required=True, metavar="SPEC", help="as in the arena")
    command.add_argument("--iterations", type=positive(int), default=1000, help="of searches that name none")
    command.add_argument("--data", type=Path, required=True, metavar="FILE", help="cases; new rollouts go there, too")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=measure)

    args = parser.parse_args()
    if args.run is make_endings and args.rollouts % 2:
        parser.error(f"--rollouts {args.rollouts}: expected an even number")
    if args.run is make and args.pooled and (args.rollouts % 2 or args.finished != args.rollouts):
        parser.error("--pooled 1: expected an even number of rollouts, all of them finished")
    if args.run is make and not 2 <= args.finished <= args.rollouts:
        parser.error(f"--finished {args.finished}: expected 2 to the number of rollouts, {args.rollouts}")
    if args.run is measure and (twice := [spec for spec in args.engine if args.engine.count(spec) > 1]):
        parser.error(f"{twice[0]} is given twice; expected different engines")
    return args


# --- make


def make(args):
    sizes = rollouts.Sizes(**{field.name: getattr(args, field.name) for field in fields(rollouts.Sizes)})
    with GamePool() as pool:
        rollouts.make(
            args.out,
            pool,
            game=args.game,
            positions=args.positions,
            sizes=sizes,
            seed=args.seed,
            weights=weights_for(args.game, args.rollout_weights),
            concurrency=args.jobs,
            on_progress=lambda done: progress(done, args.positions),
        )


def make_endings(args):
    opened = gzip.open if args.records.suffix == ".gz" else open
    with opened(args.records, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    endings.make(
        args.out,
        records,
        every=args.every,
        positions=args.positions,
        sizes=endings.sizes(search=args.search, top=args.top, count=args.rollouts),
        weights=weights_for(args.game, args.rollout_weights),
        on_progress=lambda done: progress(done, args.positions),
    )


def progress(done, count):
    if sys.stderr.isatty():
        print(f"\r{done} of {count} cases", end="" if done < count else "\n", file=sys.stderr, flush=True)


# --- measure


def measure(args):
    found = rollouts.read(args.data, args.game)
    common = {"iterations": args.iterations, "memory": 8 + args.iterations // 25}
    found, choices, forecasts = chosen(args, found, [(spec, common) for spec in args.engine])
    best = np.array([rollouts.best(case) for case in found])
    values, shares = [], []  # for each case and engine
    for case, turns in zip(found, choices, strict=True):
        known = rollouts.advantages(case)
        values.append([known[rollouts.key_of(case, turn)] for turn in turns])
        shares.append([rollouts.share_of(case, turn) for turn in turns])
    regrets = best[:, None] - np.array(values)  # case, engine, kind, measure
    hopes = np.array(forecasts) - np.array(shares)
    parts = parts_of(found)
    report = {
        "game": args.game,
        "cases": len(found),
        "iterations": args.iterations,
        "engines": {
            spec: {
                **{part: summary(regrets[where, number]) for part, where in parts.items()},
                "less_than_first": summary(regrets[:, 0] - regrets[:, number]),
                "hope": mean_and_error(hopes[:, number]),
                "regrets": regrets[:, number].round(5).tolist(),
            }
            for number, spec in enumerate(args.engine)
        },
    }
    print(json.dumps(report) if args.json else table(report))


def chosen(args, found, engines):
    """Return the cases with the rollouts of all choices, which are kept in the file, the choices and the forecasts."""
    weights = weights_for(args.game, args.rollout_weights)
    choices, forecasts = [None] * len(found), [None] * len(found)
    before = list(found)
    try:
        with GamePool() as pool:
            for first in range(0, len(found), args.jobs):
                running = {
                    pool.submit(partial(rollouts.choose, case, engines, weights)): first + number
                    for number, case in enumerate(found[first : first + args.jobs])
                }
                for future in as_completed(running):
                    number = running[future]
                    found[number], choices[number], forecasts[number] = future.result()
                progress(min(first + args.jobs, len(found)), len(found))
    finally:
        if found != before:
            rollouts.write(args.data, found)
    return found, choices, forecasts


def parts_of(found):
    """Return which cases belong to which part, by the name of the part."""
    phases = np.array([case["phase"] for case in found])
    odd = np.array([case["odd_turns"] > 0 for case in found])
    parts = {"all": np.full(len(found), True)}
    parts |= {name: phases == number for number, name in enumerate(rollouts.PHASES)}
    parts |= {"on_path": ~odd, "off_path": odd}
    return {name: where for name, where in parts.items() if where.any()}


def summary(regrets):
    """Return the mean and its 95 % interval, by a bootstrap over cases, for each kind of estimate and measure."""
    means = resampled(regrets)
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    return {
        kind: {
            measure: {
                "mean": round(float(regrets[:, i, j].mean()), 5),
                "low": round(float(low[i, j]), 5),
                "high": round(float(high[i, j]), 5),
            }
            for j, measure in enumerate(rollouts.MEASURES)
        }
        for i, kind in enumerate(rollouts.KINDS)
    }


def mean_and_error(values):
    """Return the mean and its standard error."""
    return {"mean": round(float(values.mean()), 5), "error": round(float(values.std(ddof=1) / len(values) ** 0.5), 5)}


def resampled(regrets):
    """Return the means of as many samples of cases, drawn with replacement."""
    count = len(regrets)
    drawn = np.random.default_rng(1).multinomial(count, np.full(count, 1 / count), size=RESAMPLES)
    return np.tensordot(drawn / count, regrets, axes=1)


def table(report):
    """Return the report as text: a block for each kind of estimate and measure."""
    lines = [f"{report['game']}: {report['cases']} cases, {report['iterations']} iterations"]
    parts = [key for key in next(iter(report["engines"].values())) if key not in ("hope", "regrets")]
    for kind in reversed(rollouts.KINDS):
        for measure, digits in zip(rollouts.MEASURES, (4, 2), strict=True):
            lines += ["", f"regret in {'share of the win' if measure == 'share' else measure}, by the {kind}"]
            lines.append(" " * 24 + "".join(part.replace("_", " ").rjust(28) for part in parts))
            for name, found in report["engines"].items():
                cells = [cell(found[part][kind][measure], digits).rjust(28) for part in parts]
                lines.append(name[-24:].ljust(24) + "".join(cells))
    lines += ["", "forecast of the seat to move less the share that its choice had in finished rollouts, and its error"]
    lines += [
        f"{name[-24:].ljust(24)}{found['hope']['mean']:8.4f} {found['hope']['error']:.4f}"
        for name, found in report["engines"].items()
    ]
    return "\n".join(lines)


def cell(figures, digits):
    return f"{figures['mean']:.{digits}f} ({figures['low']:.{digits}f} to {figures['high']:.{digits}f})"


if __name__ == "__main__":
    main()
