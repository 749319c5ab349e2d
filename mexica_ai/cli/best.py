"""`mexica-ai best`: the best turn of a position."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator

from mexica_ai.analysis.explain import explain
from mexica_ai.analysis.results import Result
from mexica_ai.cli import common, picture, report
from mexica_ai.engines import make_engine, parse_spec
from mexica_ai.game.position import Position
from mexica_ai.io import terminal

DESCRIPTION = f"""\
Search for the best turn of the seat to move, and print the board, the turn, the
candidates and the statistics of the search.

The search takes one second unless --time or --iterations is given. Ctrl-C ends
it with the best turn so far. `value` is the expected share of the win and
`score` the expected final score of each seat, from seat 0.

{common.ENGINES_HELP}

Examples:
  mexica-ai best game.json --time 5 --threads 4
  mexica-ai best game.json --png turn.png
  mexica-ai best game.json --explain
  mexica-ai best game.json --avoid "canal O5" --avoid "walk H5"
  mexica-ai best game.json --iterations 20000 --seed 1 --json
  mexica-ai best - --engine uct,time=2 < game.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    common.add_position_argument(parser)
    common.add_engine_option(parser)
    common.add_search_options(parser, "1, if --iterations is not given either", threads_default=common.ALL_CORES)
    common.add_candidates_option(parser)
    common.add_first_action_options(parser)
    common.add_json_option(parser, "print one JSON object: turn, value, expected_scores, candidates, iterations, ...")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say what each action changes and what is expected after it, what the next best turn gives away, and the "
        "answer to expect",
    )
    picture.add_options(parser, "the best turn")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    spec = parse_spec(args.engine)
    position = common.read_position(args.position)
    picture.check(args)
    defaults = common.search_defaults(args, spec) | {"threads": common.threads_of(args, spec, args.seed)}
    with common.stop_on_interrupt() as stop, make_engine(spec, **defaults) as engine:
        engine.restrict(args.allow, args.avoid or ())
        search = (engine.best_turn(position, candidates=args.candidates, stop=stop) for _ in range(1))
        result = wait_for(search, f"{engine.name} searches", "Ctrl-C: the best so far")
    if (args.svg or args.png) and picture.write(args, result.svg(position, theme=args.theme)):
        return 0
    print_result(result, position, args.json, args.explain)
    return 0


def wait_for(search: Iterator[Result], text: str, hint: str) -> Result:
    """Run a search that yields one result; meanwhile show `text`, the elapsed time and `hint`."""
    started = time.monotonic()
    with common.Progress(text) as progress:
        (result,) = common.in_thread(
            search,
            lambda: progress.show(f"{text}, {time.monotonic() - started:.0f} s ({hint})"),
        )
    return result


def print_result(result: Result, position: Position, is_json: bool, explains: bool = False) -> None:
    """Print a final result, with what speaks for its turn if it `explains`."""
    seat = position.to_move
    assert seat is not None  # it has been searched
    why_so = explain(position, result).sentences if explains else []
    if is_json:
        print(json.dumps(result.to_json() | ({"explanation": why_so} if explains else {})))
        return
    lines = [
        *str(position).splitlines(),
        "",
        *report.format_best(result, seat),
        "",
        *report.format_candidates(result.candidates),
        "",
    ]
    if why := report.explain_choice(result.candidates, seat):
        lines += [*terminal.wrap(why), ""]
    if why_so:
        lines += ["Why:", *(line for sentence in why_so for line in terminal.wrap(f"- {sentence}", rest="  ")), ""]
    expected = report.format_expected_line(result)
    if expected:
        lines += ["Expected next:", *expected, ""]
    terminal.say(*lines, *report.format_statistics(result))
