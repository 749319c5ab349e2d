"""`mexica-ai train`: fit a game's evaluation and priors on self-play."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from mexica_ai.cli import common, train_recipe
from mexica_ai.engines.specs import whole_number
from mexica_ai.game import registry
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import SearchError
from mexica_ai.train import recipe
from mexica_ai.train.fit import Report

SUMMARY = "fit the evaluation and the priors of a game on self-play"
DESCRIPTION = """\
Fit the evaluation and the priors of a game. The command plays games of the
search against itself and writes their records to RECORDS, samples positions,
and fits the network to nine games of ten. It continues a file that an
interrupted run left, unless other weights are in use by now. It prints how well
the network predicts the other games, next to the hand-made estimate and the
weights in use ("before"): mean log-loss of the winner by number of seats, error
of the final scores, calibration. The games alone decide which of them are held
out, so every fit holds out the same ones. The weights of the priors are fitted
to the actions that the search chose, then flattened; their log-loss is that of
the chosen action (alike: all categories have equal weights). --refine changes
the network in use a little instead. --evaluate fits nothing and measures the
weights in use on all the games; the figures are fair only for games to which
they were not fitted.

With --probes the network is fitted to what searches find in odd positions, not
to how games ended, and the priors stay as they are. Walks along the games in
RECORDS leave them for odd turns; each line of FILE is a walk. To continue FILE,
give the same RECORDS.

Play with the new weights by --weights FILE, or weights=FILE in an engine's
spec; --match plays them against those in use. The same seed, numbers, weights
in use and build give the same games and weights, with any number of jobs.

Examples:
  mexica-ai train games.jsonl --games 2000 --jobs 8 --weights new.json
  mexica-ai train games.jsonl more.jsonl --games 0 --weights w.json --match 100
  mexica-ai train newer.jsonl --games 500 --refine --weights newer.json
  mexica-ai train games.jsonl --games 0 --refine --probes odd.jsonl --walks 5000 \\
    --weights w.json
  mexica-ai train games.jsonl --cluster tcp://host:8786 --weights new.json
  mexica-ai train unseen.jsonl --games 100 --seed 2 --evaluate

`mexica-ai train recipe GAME --out FOLDER` does all of it, and more, in one
command; see `mexica-ai train recipe --help`.
"""
EXIT_LOST = 1
VARIANTS = {"recipe": train_recipe}  # by the first argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "records", nargs="+", type=Path, metavar="RECORDS", help="files of records; new games go to the first"
    )
    parser.add_argument(
        "--game",
        default=registry.DEFAULT,
        type=common.game,
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
        default=recipe.ITERATIONS,
        metavar="N",
        help="of a search in these games, times 1/2, 1 or 2, or 5 if it is plain UCT "
        f"(default: {recipe.ITERATIONS})",
    )
    parser.add_argument(
        "--equal",
        action="store_true",
        help="in new games all seats play alike; half of the games begin after an odd turn, half with "
        "other things in the seats' hands where the game provides for that",
    )
    parser.add_argument(
        "--refine",
        action="store_true",
        help="start with the network in use instead of the hand-made estimate, at a quarter of the rate",
    )
    parser.add_argument(
        "--epochs",
        type=common.argument(whole_number(1, 1000)),
        default=recipe.EPOCHS,
        metavar="N",
        help=f"(default: {recipe.EPOCHS})",
    )
    parser.add_argument(
        "--seed", type=common.argument(whole_number(0)), default=1, metavar="N", help="(default: 1)"
    )
    common.add_workers_options(parser, "games")
    parser.add_argument(
        "--probes", type=Path, metavar="FILE", help="file of walks to fit the network to; new ones go there"
    )
    parser.add_argument(
        "--walks",
        type=common.argument(whole_number(0)),
        default=0,
        metavar="N",
        help="make walks until FILE holds N of this seed and size (default: 0)",
    )
    parser.add_argument(
        "--walk-iterations",
        type=common.argument(whole_number(1)),
        default=None,
        metavar="N",
        help=f"of a search in a walk (default: {recipe.WALK_ITERATIONS})",
    )
    purpose = parser.add_mutually_exclusive_group(required=True)
    purpose.add_argument("--weights", type=Path, metavar="FILE", help="fit, and write the weights there")
    purpose.add_argument(
        "--evaluate", action="store_true", help="fit nothing: measure the weights in use on all the games"
    )
    parser.add_argument(
        "--match",
        type=common.argument(whole_number(1, 10**6)),
        metavar="GAMES",
        help="then play GAMES games of the new weights against those in use, with two seats and --iterations a "
        "turn, and print the new weights' share of the win with its 95 %% interval; an odd number is rounded up",
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="draw the calibration, as .png, .svg or .pdf (extra plot)"
    )
    common.add_json_option(
        parser,
        "print one JSON object: estimate, before, after and choices (the figures), sha256, states; with "
        "--evaluate in_use in the place of before and after; with --probes also probes, of the same form; with "
        "--match also match",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    _check_options(args)
    plan = recipe.plan(
        args.records,
        game=args.game,
        games=args.games,
        iterations=args.iterations,
        refine=args.refine,
        epochs=args.epochs,
        seed=args.seed,
        probes=args.probes,
        walks=args.walks,
        walk_iterations=args.walk_iterations or recipe.WALK_ITERATIONS,
        equal=args.equal,
    )
    with common.executor(args.cluster, args.jobs) as (executor, concurrency):
        if plan.games:
            with common.Progress("playing") as progress:
                recipe.play(
                    plan,
                    executor,
                    concurrency=concurrency,
                    on_progress=_counter(progress, "playing, {} of {} games", plan.games),
                )
        samples = recipe.sample(plan)
        if args.evaluate:
            return _evaluate(args, plan, samples)
        if plan.walks:
            with common.Progress("walking") as progress:
                recipe.walk(
                    plan,
                    samples,
                    executor,
                    concurrency=concurrency,
                    on_progress=_counter(progress, "walking, {} of {} walks", plan.walks),
                )
        with common.Progress("fitting") as progress:
            fitted = recipe.fit(plan, samples, on_epoch=_counter(progress, "fitting, epoch {} of {}", plan.epochs))
        _draw(args, fitted.reports)
        with files.writing(args.weights, "--weights"):
            plan.entry.learning.weights.save(args.weights, fitted.weights)
        if not args.json:
            _print_fitted(args, samples, fitted)
        match = _play_match(args, plan, fitted, executor, concurrency) if args.match else None
    if args.json:
        figures: dict[str, Any] = {name: vars(report) for name, report in fitted.reports.items()}
        figures |= {
            "choices": fitted.choices,
            "sha256": fitted.weights.sha256,
            "states": len(samples.positions.games),
        }
        if fitted.probes is not None:
            figures["probes"] = {name: vars(report) for name, report in fitted.probe_reports.items()}
        if match:
            share = [match.share.mean, match.share.low, match.share.high]
            figures["match"] = {"games": match.games, "forfeits": match.forfeits, "share": share}
        print(json.dumps(figures))
    elif match:
        _print_match(match)
    for problem in match.lost if match else ():
        terminal.tell(problem)
    return EXIT_LOST if match and match.lost else 0


def _check_options(args: argparse.Namespace) -> None:
    """Refuse options that do not go together, and files that cannot be used, before any work."""
    if args.probes and args.evaluate:
        raise SearchError("--probes: nothing is fitted with --evaluate", reason="INVALID_LIMITS")
    if args.match and args.evaluate:
        raise SearchError("--match: there are no new weights with --evaluate", reason="INVALID_LIMITS")
    if args.walks and not args.probes:
        raise SearchError("--walks: expected --probes FILE, where they go", reason="INVALID_LIMITS")
    if args.walk_iterations and not args.walks:
        raise SearchError("--walk-iterations: expected --walks N, too", reason="INVALID_LIMITS")
    if args.probes and args.weights:
        recipe.check_probes_file(args.probes, [args.weights])
    if args.probes and not args.walks and not args.probes.is_file():
        raise SearchError(
            f"--probes: {args.probes} is no file; expected one, or --walks N", reason="INVALID_PATH"
        )
    if args.weights and not args.weights.parent.is_dir():
        raise SearchError(f"--weights: {args.weights.parent} is no folder", reason="INVALID_PATH")
    if args.plot:
        common.check_picture(args.plot)
    if args.match:
        with common.needing("arena"):  # before the fit, not after it
            import mexica_ai.arena.report  # noqa: F401


def _counter(progress: common.Progress, text: str, count: int) -> Callable[[int], None]:
    return lambda done: progress.count(text.format(done, count), done, count)


def _evaluate(args: argparse.Namespace, plan: recipe.Plan, samples: recipe.Samples) -> int:
    """Measure the weights in use on all the games; nothing is fitted."""
    found = recipe.evaluate(plan, samples)
    _draw(args, found.reports)
    num_states = len(samples.positions.games)
    if args.json:
        figures: dict[str, Any] = {name: vars(report) for name, report in found.reports.items()}
        figures |= {"choices": found.choices, "sha256": plan.weights.sha256, "states": num_states}
        print(json.dumps(figures))
        return 0
    terminal.say(f"{len(samples.records)} games, {num_states:,} states; in use: weights {plan.weights.version}")
    _print_losses(found.reports)
    if found.choices:
        _print_choices(found.choices, found.choices["measured_on"], ("alike", "in_use"))
    _print_calibration(found.reports)
    return 0


def _play_match(
    args: argparse.Namespace, plan: recipe.Plan, fitted: recipe.Fitted, executor: Executor, concurrency: int
) -> recipe.Match:
    with common.Progress("playing the match") as progress:
        return recipe.check(
            fitted.weights,
            plan.weights,
            executor,
            games=args.match,
            iterations=plan.iterations,
            seed=plan.seed,
            concurrency=concurrency,
            on_progress=_counter(progress, "playing the match, {} of {} games", args.match + args.match % 2),
        )


def _draw(args: argparse.Namespace, reports: Mapping[str, Report]) -> None:
    if args.plot:
        from mexica_ai.train import plot

        plot.draw(reports, args.plot)


def _print_fitted(args: argparse.Namespace, samples: recipe.Samples, fitted: recipe.Fitted) -> None:
    held_out = samples.positions.held_out
    terminal.say(f"{len(samples.records)} games, {len(held_out):,} states, {held_out.sum():,} of them not fitted on")
    _print_losses(fitted.reports)
    if fitted.probes is not None:
        held_out = fitted.probes.held_out
        terminal.say(f"{len(held_out):,} probes, {held_out.sum():,} of them not fitted on")
        for name, report in fitted.probe_reports.items():
            terminal.say(
                f"{name:9} error of the shares {report.share_error:.4f}, "
                f"of the scores {report.score_error:.1f} points"
            )
    if fitted.choices:
        count = fitted.choices["fitted_on"] + fitted.choices["held_out"]
        _print_choices(fitted.choices, count, ("alike", "before", "fitted", "after"))
    _print_calibration(fitted.reports)
    terminal.say("", f"{args.weights}: sha256 {fitted.weights.sha256}", flush=True)


def _print_losses(reports: Mapping[str, Report]) -> None:
    for name, report in reports.items():
        losses = ", ".join(
            f"{loss:.4f}{_plus_minus(report.log_loss_error[n])} with {n} seats"
            for n, loss in report.log_loss.items()
        )
        terminal.say(f"{name:9} log-loss {losses}; score error {report.score_error:.1f} points")


def _plus_minus(error: float | None) -> str:
    return "" if error is None else f" ± {error:.4f}"


def _print_choices(choices: recipe.Choices, count: int, names: tuple[str, ...]) -> None:
    if choices[names[0]] is None:
        terminal.say(f"{count:,} choices; none of them to measure the priors on")
        return
    losses = ", ".join(f"{choices[name]:.4f} {name}" for name in names)
    terminal.say(f"{count:,} choices; log-loss of the priors {losses}")


def _print_calibration(reports: Mapping[str, Report]) -> None:
    for name, report in reports.items():
        terminal.say("", f"{name + ':':9} predicted    won    seats")
        for predicted, won, count in report.calibration:
            terminal.say(f"{predicted:19.3f} {won:6.3f} {count:8,}")


def _print_match(match: recipe.Match) -> None:
    share = match.share
    text = "unknown" if share.mean is None else f"{share.mean:.3f}"
    if share.low is not None:
        text += f" ({share.low:.3f} to {share.high:.3f})"
    forfeits = f", {match.forfeits} of them forfeited" if match.forfeits else ""
    against = f"{match.games} games{forfeits} against the weights in use"
    terminal.say(f"{against}: the new weights' share of the win is {text}")
