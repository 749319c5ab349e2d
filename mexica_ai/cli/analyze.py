"""`mexica-ai analyze`: print the candidates while the search runs."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator

from mexica_ai.analysis.limits import DEFAULT_INTERVAL_S, Limits
from mexica_ai.analysis.results import Result
from mexica_ai.cli import common, picture, report
from mexica_ai.draw.search import draw_growth
from mexica_ai.engines import make_engine, parse_spec
from mexica_ai.engines.base import LIMIT_KEYS
from mexica_ai.engines.specs import seconds
from mexica_ai.game.position import Position
from mexica_ai.io import terminal

_PLOT_INTERVAL_S = 0.05  # between two points of a plot
_MOST_KEPT = 600

SUMMARY = "search and print the candidates as they change"
DESCRIPTION = f"""\
Search a position and print the candidate turns at regular intervals, until a
limit is reached or Ctrl-C is pressed; the last table is the final result.
Without --time and --iterations the search runs until Ctrl-C, until its result
is final, or until its memory is full. On a terminal the table is redrawn in
place.

{common.ENGINES_HELP}
Only mcts shows intermediate results; the others print only the final one.

Examples:
  mexica-ai analyze game.json
  mexica-ai analyze game.json --time 10 --interval 1 --candidates 3 --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    common.add_position_argument(parser)
    common.add_engine_option(parser)
    common.add_search_options(parser, "none")
    common.add_candidates_option(parser)
    add_interval_option(parser)
    picture.add_plot_option(parser, "visits and shares of the first candidates over time")
    common.add_json_option(parser, "print one JSON object per line; only the last has a stop_reason that is not empty")


def add_interval_option(parser: argparse.ArgumentParser) -> None:
    """Add `--interval`."""
    parser.add_argument(
        "--interval",
        type=common.argument(seconds),
        default=DEFAULT_INTERVAL_S,
        metavar="SECONDS",
        help=f"time between two tables (default: {DEFAULT_INTERVAL_S})",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    spec = parse_spec(args.engine)
    position = common.read_position(args.position)
    budget = {field: getattr(args, key) for key, field in LIMIT_KEYS.items() if getattr(args, key) is not None}
    defaults = {key: common.search_defaults(args, spec)[key] for key in ("level", "seed", "weights")}
    picture.check(args)
    is_unlimited = not {"time_s", "iterations"} & budget.keys()
    limits = Limits(**budget, unlimited=is_unlimited)
    with common.stop_on_interrupt() as stop, make_engine(spec, **defaults) as engine:
        results = common.in_thread(
            engine.analyze(
                position,
                limits,
                candidates=args.candidates,
                stop=stop,
                interval_s=args.interval if args.plot is None else min(args.interval, _PLOT_INTERVAL_S),
            )
        )
        found: list[Result] = []
        print_results(_keeping(results, found, args.interval), position, args.json)
    if args.plot is not None and found:
        picture.write(args, draw_growth(found, _seat(position), theme=args.theme))
    return 0


def _keeping(results: Iterator[Result], found: list[Result], interval: float) -> Iterator[Result]:
    """Keep results for a plot, and yield one an interval, and the last one."""
    due = 0.0
    for result in results:
        found.append(result)
        if len(found) > _MOST_KEPT:
            del found[1:-1:2]
        if result.stop_reason or result.seconds >= due:
            due = result.seconds + 0.9 * interval  # results come a little early or late
            yield result


def _seat(position: Position) -> int:
    """Return the seat to move of a position that has been searched."""
    assert position.to_move is not None
    return position.to_move


def print_results(results: Iterator[Result], position: Position, is_json: bool) -> None:
    """Print each result as it arrives, then the best turn."""
    if is_json:
        for result in results:
            print(json.dumps(result.to_json()), flush=True)
        return
    if sys.stdout.isatty():
        terminal.say(*str(position).splitlines(), "")
    result = _show(results)
    lines = []
    if why := report.explain_choice(result.candidates, _seat(position)):
        lines += [*terminal.wrap(why), ""]
    lines += report.format_best(result, _seat(position))
    terminal.say(*lines)


def _show(results: Iterator[Result]) -> Result:
    """Print each result as it arrives; return the last one."""
    with _screen() as draw:
        for result in results:
            draw([*report.format_candidates(result.candidates), "", *report.format_statistics(result), ""])
    return result


@contextlib.contextmanager
def _screen() -> Iterator[Callable[[list[str]], None]]:
    """Give a function that shows lines: on a terminal it replaces the previous one, else it is appended."""
    if not sys.stdout.isatty():
        yield lambda lines: terminal.say(*lines, flush=True)
        return
    from rich.live import Live
    from rich.text import Text

    with Live(auto_refresh=False) as live:

        def draw(lines: list[str]) -> None:
            text = "\n".join(map(terminal.escape, lines))
            live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)

        yield draw
