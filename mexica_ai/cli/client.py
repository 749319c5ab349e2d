"""`mexica-ai client`: the calls of a running server."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import queue
import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from mexica_ai.analysis.results import Result
from mexica_ai.cli import annotate, apply, common, legal, new, show
from mexica_ai.cli.analyze import add_interval_option, print_results
from mexica_ai.cli.best import print_result, wait_for
from mexica_ai.cli.commands import COMMANDS
from mexica_ai.cli.records import read_record
from mexica_ai.game.position import Position
from mexica_ai.game.records import parse_record
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import MexicaAIError, NotationError, SearchError
from mexica_ai.io.numbers import resolve_seed
from mexica_ai.rpc import targets, tokens

if TYPE_CHECKING:
    from mexica_ai.rpc.client import Client

T = TypeVar("T")

DESCRIPTION = """\
Call a server (`mexica-ai serve`). Each call prints the same as the command of
that name without a server, but for `validate`. The server caps the limits.
Ctrl-C cancels a call.

Examples:
  mexica-ai client best game.json --server localhost:50051 --time 2
  mexica-ai client analyze game.json --unlimited --id mine
  mexica-ai client stop mine
  mexica-ai client batch - --iterations 2000 < positions.jsonl
  mexica-ai client best game.json --weights strong
  mexica-ai client apply game.json "walk H5; end" > next.json
  mexica-ai client apply game.json "walk H5; end" --draw --json
  mexica-ai client info --server engine.example.org:443 --tls --token-file token
"""
STOP_S = 2.0  # timeout of the call that stops an analysis on Ctrl-C
DEFAULT_SERVER = "127.0.0.1:50051"
TOKEN_VARIABLE = "MEXICA_AI_TOKEN"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    calls = parser.add_subparsers(title="calls", metavar="CALL", required=True)
    for name, (help_text, declare, call) in _CALLS.items():
        command = calls.add_parser(name, help=help_text, description=f"{help_text[0].upper()}{help_text[1:]}.")
        declare(command)
        _add_connection_options(command)
        command.set_defaults(call=call)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    with _connected(args) as client:
        return args.call(args, client) or 0


def _add_connection_options(parser: argparse.ArgumentParser) -> None:
    options = parser.add_argument_group("server")
    options.add_argument(
        "--server",
        type=common.argument(targets.parse),
        default=DEFAULT_SERVER,
        metavar="HOST:PORT",
        help=f"the server's address, or a gRPC target of several servers (default: {DEFAULT_SERVER})",
    )
    add_security_options(options)


def add_security_options(options: argparse._ActionsContainer) -> None:
    """Add the options of the token and of TLS."""
    options.add_argument(
        "--token-file",
        metavar="FILE",
        help=f"a file with the bearer token (default: the environment variable {TOKEN_VARIABLE}, if set)",
    )
    options.add_argument("--tls", action="store_true", help="use TLS and trust the usual authorities")
    options.add_argument("--tls-ca", metavar="FILE", help="use TLS and trust the authorities in this PEM file")
    options.add_argument("--tls-certificate", metavar="FILE", help="the client's certificate, PEM")
    options.add_argument("--tls-key", metavar="FILE", help="the key of --tls-certificate, PEM")
    options.add_argument(
        "--authority",
        metavar="NAME",
        help="the name in the servers' certificates, if it is not the host of --server",
    )


@contextlib.contextmanager
def _connected(args: argparse.Namespace) -> Iterator[Client]:
    with common.needing("client"):
        from mexica_ai.rpc.client import Client
    connection = Client(
        args.server,
        token=read_token(args.token_file),
        root_certificates=args.tls_ca or args.tls or None,
        certificate=args.tls_certificate,
        key=args.tls_key,
        authority=args.authority,
    )
    with connection as client:
        yield client


def read_token(path: str | None) -> str | None:
    """Return the bearer token in a file, or that of the environment."""
    return os.environ.get(TOKEN_VARIABLE) or None if path is None else tokens.read_token(path, stdin=True)


# --- the calls


def _declare_best(parser: argparse.ArgumentParser) -> None:
    common.add_position_argument(parser)
    _add_search_options(parser)
    common.add_candidates_option(parser)
    _add_restriction_options(parser)
    _add_explain_option(parser)
    common.add_json_option(parser, "print one JSON object, as `mexica-ai best --json` does")


def _best(args: argparse.Namespace, client: Client) -> None:
    position = common.read_position(args.position)
    options = _search_options(args) | _restriction_options(args)
    answers = (client.best_turn(position, candidates=args.candidates, **options) for _ in range(1))
    result = wait_for(answers, f"{args.server} searches", "Ctrl-C cancels")
    print_result(result, position, args.json, args.explain)


def _declare_batch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "positions",
        metavar="POSITIONS",
        help="a file with one position per line, as JSON or in its compact form, or - for standard input",
    )
    _add_search_options(parser)
    common.add_candidates_option(parser)


def _batch(args: argparse.Namespace, client: Client) -> int:
    numbers: list[int] = []
    faults: queue.SimpleQueue[tuple[int, MexicaAIError]] = queue.SimpleQueue()
    ends: list[Exception] = []

    def read(file: files.Unlocked) -> Iterator[Position]:
        try:
            for number, found in common.read_positions(file, args.positions):
                if isinstance(found, MexicaAIError):
                    faults.put((number, found))
                else:
                    numbers.append(number)
                    yield found
        except (MexicaAIError, OSError) as error:  # in a thread of gRPC, which would lose it
            ends.append(error)

    def answers(positions: Iterator[Position]) -> Iterator[tuple[int, Result | MexicaAIError]]:
        found = client.best_turns(positions, candidates=args.candidates, **_search_options(args))
        for index, result in found:
            yield from _waiting(faults)
            yield numbers[index], result
        yield from _waiting(faults)

    code = 0
    with files.open_text(args.positions) as file:
        for number, result in answers(read(files.Unlocked(file))):
            if isinstance(result, MexicaAIError):
                code = 2
                answer = {"line": number, "error": str(result)}
            else:
                answer = {"line": number, "result": result.to_json()}
            print(json.dumps(answer), flush=True)
    for error in ends:
        raise error
    return code


def _waiting(items: queue.SimpleQueue[T]) -> Iterator[T]:
    with contextlib.suppress(queue.Empty):
        while True:
            yield items.get_nowait()


def _add_search_options(parser: argparse.ArgumentParser, has_level: bool = True) -> None:
    default = "the server's"
    common.add_search_options(parser, default, default, default, has_level=has_level, is_remote=True)
    parser.add_argument(
        "--weights",
        metavar="NAME",
        help="name of the weights to judge positions with, see `mexica-ai client info` (default: those that ship)",
    )


def _search_options(args: argparse.Namespace) -> dict[str, Any]:
    names = {"time": "time_s", "memory": "memory_mb"}
    keys = ("time", "iterations", "memory", "threads", "level", "elo", "seed", "weights")
    return {names.get(key, key): getattr(args, key) for key in keys}


def _add_restriction_options(parser: argparse.ArgumentParser) -> None:
    common.add_first_action_options(parser)
    parser.add_argument(
        "--option",
        type=common.argument(_option),
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the search that the server allows, see `mexica-ai client info`; may be repeated",
    )


def _option(text: str) -> tuple[str, float]:
    found = re.fullmatch(r"([a-z_]+)=(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e-?[0-9]{1,3})?)", text)
    if found is None:
        raise ValueError("the name of an option, =, and a number")
    return found[1], float(found[2])


def _restriction_options(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "allow": args.allow,
        "avoid": args.avoid or (),
        "options": dict(args.option),
        "first_actions": args.json,
    }


def _add_explain_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--explain", action="store_true", help="say what speaks for the turn, as `mexica-ai best` does")


def _declare_analyze(parser: argparse.ArgumentParser) -> None:
    common.add_position_argument(parser)
    _add_search_options(parser)
    common.add_candidates_option(parser)
    _add_restriction_options(parser)
    _add_explain_option(parser)
    add_interval_option(parser)
    parser.add_argument(
        "--unlimited",
        action="store_true",
        help="search until Ctrl-C, `mexica-ai client stop`, or until another request needs the slot",
    )
    parser.add_argument("--id", default="", metavar="NAME", help="name for `mexica-ai client stop`")
    common.add_json_option(parser, "print one JSON object per line, as `mexica-ai analyze --json` does")


def _analyze(args: argparse.Namespace, client: Client) -> None:
    position = common.read_position(args.position)
    # On Ctrl-C, stop the analysis instead of cancelling the call, so that the last result still arrives.
    name = args.id or f"cli-{os.getpid()}-{os.urandom(4).hex()}"
    results = client.analyze(
        position,
        candidates=args.candidates,
        interval_s=args.interval,
        unlimited=args.unlimited,
        analysis_id=name,
        **_search_options(args),
        **_restriction_options(args),
    )
    # With several servers, the stop may reach another one, which does not run this analysis.
    with _on_interrupt(lambda: client.stop_analysis(name, timeout_s=STOP_S)):
        print_results(common.in_thread(results), position, args.json, args.explain)


@contextlib.contextmanager
def _on_interrupt(ask: Callable[[], int]) -> Iterator[None]:
    """Call `ask` on the first Ctrl-C; if it returns 0 or fails, and on the second, raise KeyboardInterrupt."""

    def on_interrupt(_signal: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            has_stopped = ask() > 0
        except SearchError:
            has_stopped = False
        if not has_stopped:
            raise KeyboardInterrupt

    previous = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _declare_stop(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of a running analysis")


def _stop(args: argparse.Namespace, client: Client) -> int:
    count = client.stop_analysis(args.name)
    terminal.say(f"{count} stopped")
    return 0 if count else 1


def _new(args: argparse.Namespace, client: Client) -> None:
    position = client.new_game(args.game, players=args.players, seed=args.seed, **new.game_options(args))
    print(json.dumps(position.to_json()))


def _apply(args: argparse.Namespace, client: Client) -> None:
    apply.check(args)
    position = common.read_position(args.position)
    applied = client.apply_turn(
        position, args.turn, draw_events=args.draw, seed=args.seed, partial=args.partial, steps=args.steps
    )
    names = ("scores", "scored", "to_move", "is_over", "winners", "events")
    apply.show(args, applied.position, applied.steps, **{name: getattr(applied, name) for name in names})


def _declare_position(parser: argparse.ArgumentParser) -> None:
    common.add_position_argument(parser)
    common.add_json_option(parser, "print one JSON list")


def _declare_legal(parser: argparse.ArgumentParser) -> None:
    _declare_position(parser)
    legal.add_after_option(parser)
    legal.add_detail_option(parser)


def _legal(args: argparse.Namespace, client: Client) -> None:
    position = common.read_position(args.position)
    goes_on = legal.begin_turn(position, args.after)
    if args.detail:
        legal.show_details(client.legal_details(position) if goes_on else [], args.json)
    else:
        legal.show_actions(client.legal_actions(position) if goes_on else [], args.json)


def _declare_view(parser: argparse.ArgumentParser) -> None:
    common.add_position_argument(parser)
    parser.add_argument(
        "viewer", type=common.argument(show.viewer), metavar="VIEWER", help="a seat, from 0, or `spectator`"
    )


def _view(args: argparse.Namespace, client: Client) -> None:
    position = common.read_position(args.position)
    seat = None if args.viewer == show.SPECTATOR else args.viewer
    print(json.dumps(client.view(position, seat).to_json()))


def _validate(args: argparse.Namespace, client: Client) -> int:
    data = common.read_position_data(args.position)
    if not isinstance(data, dict):
        raise NotationError(f"{files.name_of(args.position)}: expected a position, a JSON object")
    violations = client.validate_position(data)
    if args.json:
        print(json.dumps([violation._asdict() for violation in violations]))
    else:
        terminal.say(*[violation.message for violation in violations] or ["valid"])
    return 2 if violations else 0


def _declare_annotate(parser: argparse.ArgumentParser) -> None:
    annotate.add_record_options(parser)
    _add_search_options(parser)


def _annotate(args: argparse.Namespace, client: Client) -> int:
    text, where = read_record(args.record, args.game)
    seed = resolve_seed(args.seed)
    with common.located(where):
        record = parse_record(text)
        annotate.check_outputs(args)
        indices = annotate.turn_indices(args.turns, record)
        evaluations = client.evaluate_record(
            record,
            time_s=args.time,
            iterations=args.iterations,
            threads=args.threads,
            memory_mb=args.memory,
            seed=seed,
            weights=args.weights,
            level=args.level,
            elo=args.elo,
            first_turn=indices.start if indices else 0,
            num_turns=len(indices) if indices else 0,
            explain=args.explain,
            checks=annotate.DEFAULT_CHECKS if args.checks is None else args.checks,
        )
    return annotate.present(evaluations, record, args, f"seed {seed}", seed, build=None)


def _declare_proposal(parser: argparse.ArgumentParser) -> None:
    common.add_position_argument(parser)
    parser.add_argument("actions", metavar="ACTION", nargs="+", help="an action on which all must agree")
    common.add_json_option(parser, "print one JSON object")


def _proposal(args: argparse.Namespace, client: Client) -> int:
    verdict = client.consider_proposal(common.read_position(args.position), args.actions)
    if args.json:
        print(json.dumps(asdict(verdict)))
    else:
        for opinion in verdict.opinions:
            terminal.say(f"{opinion.action}: {'yes' if opinion.agrees else 'no'}: {opinion.explanation}")
    return 0 if verdict.agrees else 1


def _declare_nothing(parser: argparse.ArgumentParser) -> None:
    common.add_json_option(parser, "print JSON")


def _games(args: argparse.Namespace, client: Client) -> None:
    games = client.list_games()
    if args.json:
        print(json.dumps(games))
    else:
        for game in games:
            low, high = game["min_players"], game["max_players"]
            seats = f"{low} to {high}" if low < high else f"{low}"
            terminal.say(f"{game['name']}: {seats} seats, rules version {game['rules_version']}")


def _info(args: argparse.Namespace, client: Client) -> None:
    info = client.engine_info()
    if args.json:
        print(json.dumps(info))
        return
    lines = [f"engine {info['engine_version']}, {info['slots']} searches at a time"]
    lines += [f"weights of {one['game']}: {one['version']} ({one['name']})" for one in info["weights"]]
    default = _number(info["default_time_s"])
    lines += [f"levels {info['lowest_level']} to {info['highest_level']}; {default} s unless asked"]
    for game, levels in itertools.groupby(info["levels"], key=lambda level: level["game"]):
        rated = ", ".join(f"{each['level']} {each['rank']} {each['rating']:.0f}" for each in levels)
        lines += [f"ratings of the levels of {game}: {rated}"]
    lines += [f"option {one['name']}: {_number(one['min'])} to {_number(one['max'])}" for one in info["search_options"]]
    lines += ["at most " + ", ".join(f"{name} {_number(value)}" for name, value in info["caps"].items())]
    for line in lines:
        terminal.say(*terminal.wrap(line, rest="    "))


def _number(value: float) -> str:
    """Return a number with all of its digits."""
    return str(int(value) if float(value).is_integer() else value)


_CALLS = {
    "best": ("find the best turn", _declare_best, _best),
    "batch": (
        "search one position per line, and print each result as one JSON object per line, in any order",
        _declare_batch,
        _batch,
    ),
    "analyze": ("search and print the candidates as they change", _declare_analyze, _analyze),
    "stop": ("end a running analysis, which then prints its last result", _declare_stop, _stop),
    "new": ("deal a new game", new.add_deal_options, _new),
    "apply": (COMMANDS["apply"], apply.add_arguments, _apply),
    "view": ("print a position as a seat or a spectator may see it, as JSON", _declare_view, _view),
    "legal": (COMMANDS["legal"], _declare_legal, _legal),
    "validate": (
        "list the faults of a position; exit code 2 if there are any",
        _declare_position,
        _validate,
    ),
    "annotate": ("evaluate each turn of a game", _declare_annotate, _annotate),
    "proposal": ("ask whether the engine agrees to actions; exit code 1 if not", _declare_proposal, _proposal),
    "games": ("list the games", _declare_nothing, _games),
    "info": ("describe the engine", _declare_nothing, _info),
}
