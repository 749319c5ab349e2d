"""`mexica-ai train recipe`: make a generation of weights, from self-play to a match, in a folder."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

from mexica_ai.cli import common
from mexica_ai.engines.specs import whole_number
from mexica_ai.game import registry
from mexica_ai.io import terminal
from mexica_ai.train import generation

DESCRIPTION = """\
Make a generation of weights of a game, from the weights in use: games of
self-play with deep searches now and then, positions off their paths valued by
rollouts, fits of the evaluation to these (from several seeds, each until the
loss along held-out games no longer falls; the best one goes on) and of the
policy to the searches, and a match against the weights in use. Everything is in
FOLDER; an interrupted run continues there with the same command.
FOLDER/weights.json are the new weights, with their provenance. Play with them
by --weights FOLDER/weights.json.

The defaults take some hours on two cores (docs/training.md). --small is a size
to try the command with. The same command, weights in use and build give the
same weights, with any number of jobs.

Examples:
  mexica-ai train recipe GAME --out new --jobs 2
  mexica-ai train recipe GAME --out new --networks 0 --games 2000
  mexica-ai train recipe GAME --out new --cluster tcp://host:8786
"""
HELP = {
    "games": "games of self-play",
    "iterations": "of most searches in these games",
    "deep": "of a quarter of them, from which the policy learns",
    "walks": "walks along these games, up to 8 positions each; none with --networks 0",
    "rollouts": "of such a position",
    "rollout_iterations": "of a search in a rollout",
    "networks": "seeds of the fit of the evaluation; 0: keep it and fit the policy alone",
    "epochs": "of a fit, at most",
    "match": "games against the weights in use",
    "match_iterations": "of a search in that match",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "game", type=common.game, choices=registry.names(), metavar="GAME", help=", ".join(registry.names())
    )
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="made if it does not exist")
    parser.add_argument("--weights", metavar="FILE", help="the weights in use (default: those that ship)")
    parser.add_argument("--small", action="store_true", help="tiny defaults of the sizes below")
    least = {"games": 10, "iterations": 2, "deep": 2, "networks": 0}
    for size in dataclasses.fields(generation.Sizes):
        parser.add_argument(
            f"--{size.name.replace('_', '-')}",
            type=common.argument(whole_number(least.get(size.name, 1))),
            metavar="N",
            help=f"{HELP[size.name]} (default: {size.default})",
        )
    parser.add_argument(
        "--strength",
        type=float,
        default=1.0,
        metavar="X",
        help="factor of the fitted scores of the policy (default: 1)",
    )
    parser.add_argument(
        "--seed", type=common.argument(whole_number(0)), default=1, metavar="N", help="(default: 1)"
    )
    common.add_workers_options(parser, "games")
    common.add_json_option(parser, "print the provenance of the new weights as one JSON object")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    with common.needing("arena"):  # before the work, not after it
        import mexica_ai.arena.report  # noqa: F401
    given = {size.name: getattr(args, size.name) for size in dataclasses.fields(generation.Sizes)}
    sizes = dataclasses.replace(
        generation.SMALL if args.small else generation.Sizes(),
        **{name: value for name, value in given.items() if value is not None},
    )
    with common.executor(args.cluster, args.jobs) as (executor, concurrency), common.Progress("starting") as progress:
        made = generation.run(
            args.out,
            executor,
            game=args.game,
            sizes=sizes,
            seed=args.seed,
            strength=args.strength,
            weights=None if args.weights is None else registry.load_weights_file(args.weights),
            concurrency=concurrency,
            on_progress=lambda step, done, count: progress.count(f"{step}, {done} of {count}", done, count),
        )
    provenance = made.provenance
    if args.json:
        print(json.dumps(provenance))
        return 0
    figures, match = provenance["policy"], provenance["match"]
    terminal.say(f"{provenance['games']} games")
    if "held_out_loss" in provenance:
        terminal.say(
            f"evaluation: loss on probes of held-out games {provenance['held_out_loss_before']:.4f} before, "
            f"{provenance['held_out_loss']:.4f} after"
        )
    terminal.say(
        f"policy: cross-entropy on held-out games {figures['before']:.4f} before, {figures['after']:.4f} after, "
        f"{figures['entropy']:.4f} at least; {figures['fitted_on']:,} decisions"
    )
    share, low, high = match["share"]
    text = "unknown" if share is None else f"{share:.3f}"
    if low is not None:
        text += f" ({low:.3f} to {high:.3f})"
    terminal.say(f"match: {match['games']} games; the new weights' share of the win is {text}")
    terminal.say(f"{args.out / 'weights.json'}: sha256 {made.sha256}")
    return 0
