"""`mexica-ai train`: make new weights of a game, from self-play to a match, in a folder."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from mexica_ai.cli import common
from mexica_ai.cli.records import read_records
from mexica_ai.engines.specs import whole_number
from mexica_ai.game import registry
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import NotationError
from mexica_ai.train import exploit, pipeline
from mexica_ai.train.folder import Figures
from mexica_ai.train.settings import DEFAULTS, SMALL, Checked, Settings

_KINDS: dict[type, tuple[Callable[[str], Any] | None, str]] = {int: (None, "N"), float: (float, "X"), str: (str, "N,N")}
DESCRIPTION = """\
Make new weights of a game from the weights in use, in five steps:

  generate  games of self-play from varied starts with deep searches now and
            then, and positions off their paths valued by rollouts
  value     fits of the evaluation to these positions, from several seeds
  belief    a fit of how likely rivals hold which hidden cards
  policy    a fit of the policy to the deep searches
  match     games against the weights in use

Everything is in FOLDER; an interrupted run continues there with the same
command. A fit learns from most games, others stop it and choose among the
seeds, and the losses that are printed are those of games that did neither.
FOLDER/weights.json are the new weights, with their provenance. Play with them
by --weights FOLDER/weights.json.

The defaults take some 90 minutes on two cores (docs/training.md). --small is a
size to try the command with. The same command, weights in use and build give
the same weights, with any number of jobs.

`train exploit GAME` learns a best response to the weights in use instead: a
learner plays against them alone, in generations, while they stay as they are;
then the best learner plays a match against them. How much it wins is a measure
of their weaknesses (0.5 of games of two seats: it found none). Its games are in
FOLDER/records.jsonl, for --records of a later `train GAME`.

Examples:
  mexica-ai train GAME --out new --jobs 2
  mexica-ai train GAME --out new --until generate --cluster tcp://host:8786
  mexica-ai train GAME --out new --networks 0 --games 2000
  mexica-ai train exploit GAME --out best-response --hours 6 --jobs 2
"""
EXPLOIT = "exploit"

S = TypeVar("S", bound=Checked)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    names = ", ".join(registry.names())
    parser.add_argument(
        "game",
        type=lambda text: text if text == EXPLOIT else common.game(text),
        choices=[*registry.names(), EXPLOIT],
        metavar=f"[{EXPLOIT}] GAME",
        help=f"{names}; after `{EXPLOIT}`: of the best response, see above",
    )
    parser.add_argument("exploited", type=common.game, nargs="?", choices=registry.names(), help=argparse.SUPPRESS)
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="made if it does not exist")
    parser.add_argument("--weights", metavar="FILE", help="the weights in use (default: those that ship)")
    parser.add_argument(
        "--records", nargs="+", default=[], metavar="FILE", help="finished games of other players, to learn from, too"
    )
    parser.add_argument(
        "--until",
        choices=pipeline.STEPS,
        metavar="STEP",
        help=f"the last step to do: {', '.join(pipeline.STEPS)} (default: {pipeline.STEPS[-1]})",
    )
    parser.add_argument("--small", action="store_true", help="tiny defaults of the settings below")
    _add_settings(parser.add_argument_group("settings"), Settings, {})
    own = parser.add_argument_group(f"settings of `train {EXPLOIT}`, beside some of the above")
    _add_settings(own, exploit.Exploit, _fields(Settings))
    common.add_workers_options(parser, "games")
    common.add_json_option(parser, "print the figures of all steps as one JSON object")


def _fields(kind: type[Checked]) -> dict[str, dataclasses.Field[Any]]:
    return {field.name: field for field in dataclasses.fields(kind)}


def _add_settings(group: Any, kind: type[Checked], others: dict[str, dataclasses.Field[Any]]) -> None:
    """Declare the settings of a kind of run but those that others have."""
    exploits = _fields(exploit.Exploit)
    for field in _fields(kind).values():
        if field.name in others:
            continue
        type_, metavar = _KINDS[type(field.default)]
        own = exploits[field.name].default if field.name in exploits else field.default
        group.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=type_ or common.argument(whole_number(field.metadata["least"])),
            metavar=metavar,
            help=f"{field.metadata['help']} (default: {_text(field.default)}"
            f"{'' if own == field.default else f'; {_text(own)} of {EXPLOIT}'})",
        )


def _text(default: Any) -> str:
    return default if isinstance(default, str) else f"{default:g}"


def _settings(args: argparse.Namespace, defaults: S, other: type[Checked]) -> S:
    """Return the settings that are given, and else the defaults; those of the other kind of run are refused."""
    fields = _fields(type(defaults))
    for name in _fields(other).keys() - fields.keys():
        if getattr(args, name) is not None:
            used = f"train {EXPLOIT}" if other is exploit.Exploit else "train GAME"
            raise NotationError(f"--{name.replace('_', '-')} is an option of `{used}` only", reason="BAD_USAGE")
    given = {name: getattr(args, name) for name in fields if getattr(args, name) is not None}
    return dataclasses.replace(defaults, **given)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    with common.needing("arena"):  # before the work, not after it
        import mexica_ai.arena.report  # noqa: F401
    if args.game == EXPLOIT:
        return _run_exploit(args)
    if args.exploited is not None:
        raise NotationError(f"given {args.exploited} after {args.game}; expected one game", reason="BAD_USAGE")
    until = args.until or pipeline.STEPS[-1]
    settings = _settings(args, SMALL if args.small else DEFAULTS, exploit.Exploit)
    records = []
    for path in args.records:
        records += [(f"{files.name_of(path)}:{line}", text) for line, text in read_records(path)]
    figures = _figures(args, pipeline.run, game=args.game, settings=settings, records=records, until=until)
    if args.json:
        return 0
    for step, found in figures.items():
        terminal.say(f"{step + ':':9} {_SUMMARIES[step](found) if found else 'left out'}")
    if until == pipeline.STEPS[-1]:
        made = registry.load_weights_file(args.out / "weights.json")
        terminal.say(f"{args.out / 'weights.json'}: sha256 {made.sha256}")
    return 0


def _figures(args: argparse.Namespace, train: Callable[..., Figures], **arguments: Any) -> Figures:
    """Train with the executor, weights and progress that both kinds of run have; with --json print the figures."""
    with common.executor(args.cluster, args.jobs) as (executor, concurrency), common.Progress("starting") as progress:
        figures = train(
            args.out,
            executor,
            weights=None if args.weights is None else registry.load_weights_file(args.weights),
            concurrency=concurrency,
            on_progress=lambda what, done, count: progress.count(f"{what}, {done} of {count}", done, count),
            **arguments,
        )
    if args.json:
        print(json.dumps(figures))
    return figures


def _run_exploit(args: argparse.Namespace) -> int:
    if args.exploited is None:
        raise NotationError(f"train {EXPLOIT}: expected a game: {', '.join(registry.names())}", reason="BAD_USAGE")
    for name, is_given in (("--records", args.records), ("--until", args.until is not None)):
        if is_given:
            raise NotationError(f"{name} is an option of `train GAME` only", reason="BAD_USAGE")
    settings = _settings(args, exploit.SMALL if args.small else exploit.DEFAULTS, Settings)
    figures = _figures(args, exploit.run, game=args.exploited, settings=settings)
    if args.json:
        return 0
    for number, found in enumerate(figures["generations"]):
        terminal.say(f"generation {number}: {found['games']} games; the learner's share of the win is {_share(found)}")
    match = figures["match"]
    limit = f"{match['time_s']:g} s" if "time_s" in match else f"{match['iterations']} iterations"
    terminal.say(
        f"match: {match['games']} games, {limit} a turn, in match-{figures['best']}.jsonl; "
        f"the share of learner {figures['best']} is {_share(match)}, of equal engines {1 / settings.seats:.3f}",
        f"{args.out / 'weights.json'}: the best response; records.jsonl: all other games",
    )
    return 0


def _generated(found: dict[str, Any]) -> str:
    walks = f", {found['walks']:,} walks in probes.jsonl" if "walks" in found else ""
    return f"{found['games']:,} games in games.jsonl{walks}"


def _value(found: dict[str, Any]) -> str:
    if "stiffness" in found:
        parts = (
            f"{name} {source['before']:.4f} to {source['after']:.4f}, points {source['points_before']:+.1f} to "
            f"{source['points_after']:+.1f}"
            for name, source in found.items()
            if isinstance(source, dict)
        )
        return f"log-loss before and after, and mean error of the points: {'; '.join(parts)}; value.json"
    error = "" if found["error"] is None else f" (difference ± {found['error']:.4f})"
    return (
        f"loss {found['before']:.4f} before, {found['after']:.4f} after{error}, on {found['positions'][-1]:,} probes "
        f"along other games; network {found['network']} of {len(found['selection_losses'])} in value.json"
    )


def _belief(found: dict[str, Any]) -> str:
    before, after, error, uniform = (
        "unknown" if found[name] is None else f"{found[name]:.3f}" for name in ("before", "after", "error", "uniform")
    )
    return (
        f"{before} nats a hidden card before, {after} after (difference ± {error}), {uniform} by a uniform deal, on "
        f"{found['hands'][-1]:,} hands of other games; belief.json"
    )


def _policy(found: dict[str, Any]) -> str:
    return (
        f"cross-entropy {found['before']:.4f} before, {found['after']:.4f} after, {found['entropy']:.4f} at least, on "
        f"{found['decisions'][-1]:,} decisions of other games; policy.json"
    )


def _match(found: dict[str, Any]) -> str:
    return "the new weights' share of the win is " + ", ".join(
        f"{_share(figures)} of {figures['games']} games{_forfeits(figures)} with {players} seats, where "
        f"{1 / int(players):.3f} is equal"
        for players, figures in found.items()
    )


def _share(found: dict[str, Any]) -> str:
    mean, low, high = found["share"]
    return ("unknown" if mean is None else f"{mean:.3f}") + ("" if low is None else f" ({low:.3f} to {high:.3f})")


def _forfeits(found: dict[str, Any]) -> str:
    return f" ({found['forfeits']} forfeited)" if found["forfeits"] else ""


_SUMMARIES = {"generate": _generated, "value": _value, "belief": _belief, "policy": _policy, "match": _match}
