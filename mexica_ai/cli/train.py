"""`mexica-ai train`: fit a game's evaluation and priors on self-play."""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import multiprocessing
import signal
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np

from mexica_ai import registry
from mexica_ai.cli import common
from mexica_ai.engines.specs import whole_number
from mexica_ai.errors import SearchError
from mexica_ai.train import corrections, fit, positions, priors, probes, selfplay

SUMMARY = "fit the evaluation and the priors of a game on self-play"
DESCRIPTION = """\
Fit the evaluation and the priors of a game. Plays games of the search against
itself, writes their records to RECORDS (a file that an interrupted run left is
continued, unless other weights are in use by now), samples positions, fits the
network on nine games of ten, and prints how well it predicts the others, next to
the hand-made estimate and the weights in use ("before"): mean log-loss of the
winner by number of seats, error of the final scores, calibration. Which games are
held out depends on these games alone, so they are the same ones in every fit.
The weights of the priors are fitted to the actions that the search chose, then
flattened; their log-loss is that of the chosen action (alike: all categories
weigh the same). With --refine the network in use is changed a little instead.
With --evaluate nothing is fitted: the weights in use are measured on all the
games, which is honest only on games that they were not fitted on.

With --probes the network is fitted to what searches find in odd positions, not to
how games ended, and the priors stay as they are. Walks along the games in RECORDS
leave them for odd turns; each line of FILE is a walk. To go on with FILE, give the
same RECORDS.

Play with the new weights by --weights FILE, or weights=FILE in an engine's spec. The
same seed, numbers, weights in use and build give the same games and
weights, however many jobs.

Examples:
  mexica-ai train games.jsonl --games 2000 --jobs 8 --weights new.json
  mexica-ai train games.jsonl more.jsonl --games 0 --weights new.json
  mexica-ai train newer.jsonl --games 500 --refine --weights newer.json
  mexica-ai train games.jsonl --games 0 --refine --probes odd.jsonl --walks 5000 --weights w.json
  mexica-ai train unseen.jsonl --games 100 --seed 2 --evaluate
"""
WALK_ITERATIONS = 1500
REFINING_RATE = fit.LEARNING_RATE / 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "records", nargs="+", type=Path, metavar="RECORDS", help="files of records; new games go to the first"
    )
    parser.add_argument(
        "--game",
        default=registry.DEFAULT,
        choices=registry.names(),
        help=f"(default: {registry.DEFAULT})",
    )
    parser.add_argument(
        "--games",
        type=common.argument(whole_number(0)),
        default=1000,
        metavar="N",
        help="play until the first file holds N games of this seed and size; 0: play none (default: 1000)",
    )
    parser.add_argument(
        "--iterations",
        type=common.argument(whole_number(2)),
        default=600,
        metavar="N",
        help="of a search in these games, times 1/2, 1 or 2, or 5 if it is plain UCT (default: 600)",
    )
    parser.add_argument(
        "--refine",
        action="store_true",
        help="begin with the network in use instead of the hand-made estimate, and change it at a fourth of "
        "the rate",
    )
    parser.add_argument(
        "--epochs", type=common.argument(whole_number(1, 1000)), default=15, metavar="N", help="(default: 15)"
    )
    parser.add_argument(
        "--seed", type=common.argument(whole_number(0)), default=1, metavar="N", help="(default: 1)"
    )
    parser.add_argument(
        "--jobs", type=common.argument(whole_number(1, 1024)), default=1, metavar="N", help="processes"
    )
    parser.add_argument(
        "--probes", type=Path, metavar="FILE", help="file of walks to fit the network to; new ones go there"
    )
    parser.add_argument(
        "--walks",
        type=common.argument(whole_number(0)),
        default=0,
        metavar="N",
        help="make walks until FILE holds N of this seed and size (default: 0, none)",
    )
    parser.add_argument(
        "--walk-iterations",
        type=common.argument(whole_number(1)),
        default=None,
        metavar="N",
        help=f"of a search in a walk (default: {WALK_ITERATIONS})",
    )
    purpose = parser.add_mutually_exclusive_group(required=True)
    purpose.add_argument("--weights", type=Path, metavar="FILE", help="fit, and write the weights there")
    purpose.add_argument(
        "--evaluate", action="store_true", help="fit nothing: measure the weights in use on all the games"
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="draw the calibration, as .png, .svg or .pdf (extra plot)"
    )
    common.add_json_option(
        parser,
        "print one JSON object: estimate, before, after and choices (the figures), sha256, states; with "
        "--evaluate in_use in the place of before and after; with --probes also probes, of the same form",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    entry = registry.get(args.game)
    spec, in_use = entry.weights_spec, entry.weights()
    if spec is None:
        raise SearchError(f"{args.game} has no weights to fit", reason="INVALID_GAME")
    if args.refine and "estimate" in in_use.provenance:
        problem = f"--refine: {args.game} has no weights in use to begin with; expected to fit some first"
        raise SearchError(problem, reason="INVALID_GAME")
    if args.probes and args.evaluate:
        raise SearchError("--probes: nothing is fitted with --evaluate", reason="INVALID_LIMITS")
    if args.walks and not args.probes:
        raise SearchError("--walks: expected --probes FILE, where they go", reason="INVALID_LIMITS")
    if args.walk_iterations and not args.walks:
        raise SearchError("--walk-iterations: expected --walks N, too", reason="INVALID_LIMITS")
    if args.probes:
        _check_apart(args.probes, [*args.records, args.weights])
    if args.probes and not args.walks and not args.probes.is_file():
        raise SearchError(
            f"--probes: {args.probes} is no file; expected one, or --walks N", reason="INVALID_PATH"
        )
    if args.weights and not args.weights.parent.is_dir():
        raise SearchError(f"--weights: {args.weights.parent} is no folder", reason="INVALID_PATH")
    if args.plot:
        common.check_picture(args.plot)
    if args.games:
        _play(args)
    lines = [
        (f"{path}:{number}", line)
        for path in args.records
        for number, line in enumerate(path.read_bytes().splitlines(), 1)
    ]
    if args.evaluate:
        return _evaluate(args, entry, lines)
    if len(lines) < 10:
        raise SearchError(f"{len(lines)} games: a fit needs at least 10", reason="INVALID_LIMITS")
    data = positions.sample(lines, spec.features, seed=args.seed)
    held = data.held_out
    if not held.any():
        raise SearchError("all games are the same: a fit needs different ones", reason="INVALID_LIMITS")
    probed, walks = _probes(args, spec, lines) if args.probes else (None, [])
    with common.Progress("fitting") as progress:
        weights = fit.fit(
            data.take(~held) if probed is None else probed.take(~probed.held_out),
            _beginning(entry, args),
            epochs=args.epochs,
            seed=args.seed,
            learning_rate=REFINING_RATE if args.refine else fit.LEARNING_RATE,
            on_epoch=lambda epoch, _: progress.show(f"fitting, epoch {epoch} of {args.epochs}"),
        )
    choices = {}
    if probed is None:
        weights = corrections.pulled(spec, weights, entry.training.PULL)
    if spec.categories and probed is not None:
        weights["priors"] = in_use.arrays()["priors"]
    elif spec.categories:
        weights["priors"], choices = _fit_priors(entry, lines, args.seed)
    weights = {name: _rounded(array) for name, array in weights.items()}
    reports = _reports(entry, data.take(held), weights)
    probe_reports = {} if probed is None else _reports(entry, probed.take(probed.held_out), weights)
    played_by = Counter(selfplay.weights_of(json.loads(line)) for _, line in lines)
    provenance = {
        "games": len(lines),
        "games_held_out": len(np.unique(data.games[held])),
        "played_by": dict(sorted(played_by.items())),
        "records_sha256": _digest(line for _, line in lines),
        "epochs": args.epochs,
        "seed": args.seed,
        "held_out_log_loss": {str(n): round(loss, 4) for n, loss in reports["after"].log_loss.items()},
        "held_out_score_error": round(reports["after"].score_error, 2),
    }
    if probed is None:
        provenance["states"] = int((~held).sum())
    if args.refine:
        provenance["refined"] = in_use.sha256
    if probed is not None:
        provenance["probes"] = int((~probed.held_out).sum())
        provenance["probes_sha256"] = _digest(walks)
        walked_by = Counter(json.loads(line)["walk"]["weights"] for line in walks)
        provenance["walked_by"] = dict(sorted(walked_by.items()))
        provenance["held_out_probes_share_error"] = round(probe_reports["after"].share_error, 4)
    if choices:
        provenance["decisions"] = choices["fitted_on"]
        provenance["held_out_choices_log_loss"] = choices["after"] and round(choices["after"], 4)
    _draw(args, reports)
    found = spec.make(weights, provenance)
    spec.save(args.weights, found)
    if args.json:
        figures = {name: vars(report) for name, report in reports.items()}
        figures |= {"choices": choices, "sha256": found.sha256, "states": len(data.games)}
        if probed is not None:
            figures["probes"] = {name: vars(report) for name, report in probe_reports.items()}
        print(json.dumps(figures))
        return 0
    print(f"{len(lines)} games, {len(data.games):,} states, {held.sum():,} of them not fitted on")
    _print_losses(reports)
    if probed is not None:
        print(f"{len(probed.games):,} probes, {probed.held_out.sum():,} of them not fitted on")
        for name, report in probe_reports.items():
            print(
                f"{name:9} error of the shares {report.share_error:.4f}, "
                f"of the scores {report.score_error:.1f} points"
            )
    if choices:
        count = choices["fitted_on"] + choices["held_out"]
        _print_choices(choices, count, ("alike", "before", "fitted", "after"))
    _print_calibration(reports)
    print(f"\n{args.weights}: sha256 {found.sha256}")
    return 0


def _digest(lines):
    return hashlib.sha256(b"\n".join(sorted(lines))).hexdigest()


def _reports(entry, unseen, weights):
    named = {
        "estimate": corrections.estimate(entry.weights_spec),
        "before": entry.weights().arrays(),
        "after": weights,
    }
    return {name: fit.report(unseen, arrays) for name, arrays in named.items()}


def _probes(args, spec, lines):
    """Return the probes of a file, to which walks along valid records are added first, and its lines."""
    if args.walks:
        # Walks choose by number: in an order that does not depend on which of the jobs was first.
        records = sorted((json.loads(line) for _, line in lines), key=positions.fingerprint)
        _with_workers(
            args, "walking, {} of {} walks", args.walks, probes.make, args.probes, walks=args.walks,
            iterations=args.walk_iterations or WALK_ITERATIONS, records=records,
        )  # fmt: skip
    walks = args.probes.read_bytes().splitlines()
    texts = ((f"{args.probes}:{number}", walk) for number, walk in enumerate(walks, 1))
    found = probes.load(texts, args.game, spec.features)
    if not found.held_out.any():
        problem = f"--probes: all in {args.probes} go along one game; expected more walks, along others too"
        raise SearchError(problem, reason="INVALID_LIMITS")
    return found, walks


def _check_apart(path, others):
    for other in others:
        if other and path.resolve() == other.resolve():
            problem = f"--probes: {path} is also a file of games, or of weights; expected one of its own"
            raise SearchError(problem, reason="INVALID_PATH")


def _evaluate(args, entry, lines):
    """Measure the weights in use on all the games; nothing is fitted."""
    if not lines:
        raise SearchError("no games: expected at least one to measure on", reason="INVALID_LIMITS")
    spec, in_use = entry.weights_spec, entry.weights()
    arrays = in_use.arrays()
    data = positions.sample(lines, spec.features, seed=args.seed)
    reports = {
        "estimate": fit.report(data, corrections.estimate(spec)),
        "in_use": fit.report(data, arrays),
    }
    choices = {}
    if spec.categories:
        chosen = priors.sample(lines, _categorize(entry), len(spec.categories), seed=args.seed)
        choices = {
            "alike": priors.log_loss(chosen, np.ones_like(arrays["priors"])),
            "in_use": priors.log_loss(chosen, arrays["priors"]),
            "measured_on": len(chosen.chosen),
        }
    _draw(args, reports)
    if args.json:
        figures = {name: vars(report) for name, report in reports.items()}
        figures |= {"choices": choices, "sha256": in_use.sha256, "states": len(data.games)}
        print(json.dumps(figures))
        return 0
    print(f"{len(lines)} games, {len(data.games):,} states; in use: weights {in_use.version}")
    _print_losses(reports)
    if choices:
        _print_choices(choices, choices["measured_on"], ("alike", "in_use"))
    _print_calibration(reports)
    return 0


def _draw(args, reports):
    if args.plot:
        from mexica_ai.train import plot

        plot.draw(reports, args.plot)


def _print_losses(reports):
    for name, report in reports.items():
        losses = ", ".join(
            f"{loss:.4f}{_plus_minus(report.log_loss_error[n])} with {n} seats"
            for n, loss in report.log_loss.items()
        )
        print(f"{name:9} log-loss {losses}; score error {report.score_error:.1f} points")


def _plus_minus(error):
    return "" if error is None else f" ± {error:.4f}"


def _print_choices(choices, count, names):
    if choices[names[0]] is None:
        print(f"{count:,} choices; none of them to measure the priors on")
        return
    losses = ", ".join(f"{choices[name]:.4f} {name}" for name in names)
    print(f"{count:,} choices; log-loss of the priors {losses}")


def _print_calibration(reports):
    for name, report in reports.items():
        print(f"\n{name + ':':9} predicted    won    seats")
        for predicted, won, count in report.calibration:
            print(f"{predicted:19.3f} {won:6.3f} {count:8,}")


def _beginning(entry, args):
    spec = entry.weights_spec
    if args.refine:
        weights = entry.weights().arrays()
        # What searches find rests on weights that were pulled; fits to it are not pulled once more.
        if not args.probes:
            weights = corrections.unpulled(spec, weights, entry.training.PULL)
        return {name: weights[name] for name in spec.network}
    return fit.initial_weights(spec.network, spec.estimates, args.seed)


def _categorize(entry):
    return functools.partial(entry.weights_spec.categorize, weights=entry.weights())


def _play(args):
    _with_workers(
        args, "playing, {} of {} games", args.games, selfplay.play, args.records[0], games=args.games,
        iterations=args.iterations,
    )  # fmt: skip


def _with_workers(args, message, count, extend, path, *, records=(), **kind):
    """Let processes extend a file, and show how far they are."""
    # Spawned, since a fork would copy whatever threads hold.
    executor = ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn"), _begin_worker, (records,))
    with executor, common.Progress(message.partition(",")[0]) as progress:
        try:
            extend(
                path,
                executor,
                game=args.game,
                seed=args.seed,
                on_progress=lambda done: progress.show(message.format(done, count)),
                **kind,
            )
        except BrokenProcessPool:
            raise SearchError(
                "a worker process died; what was finished is kept", reason="WORKER_DIED"
            ) from None


def _begin_worker(records):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    probes.begin_worker(records)


def _rounded(array):
    """Return the array as the weights' file will hold it: five significant digits."""
    return np.vectorize(lambda x: np.float32(f"{x:.5g}"), otypes=[np.float32])(array)


def _fit_priors(entry, lines, seed):
    """Return weights of the priors, and how well they and others foretell what was chosen."""
    spec = entry.weights_spec
    chosen = priors.sample(lines, _categorize(entry), len(spec.categories), seed=seed)
    if chosen.held_out.all():
        raise SearchError("no decisions of the search itself to fit the priors to", reason="INVALID_LIMITS")
    unseen = chosen.take(chosen.held_out)
    found = priors.fit(chosen.take(~chosen.held_out), spec.shapes["priors"][0])
    flattened = _rounded(priors.tempered(found, spec.categories, entry.training.FACTORS))
    return flattened, {
        "alike": priors.log_loss(unseen, np.ones_like(found)),
        "before": priors.log_loss(unseen, entry.weights().arrays()["priors"]),
        "fitted": priors.log_loss(unseen, found),
        "after": priors.log_loss(unseen, flattened),
        "fitted_on": int((~chosen.held_out).sum()),
        "held_out": int(chosen.held_out.sum()),
    }
