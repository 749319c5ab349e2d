"""`mexica-ai analyze`: print the candidates while the search runs."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import sys
from collections.abc import Callable, Iterator, Sequence

from mexica_ai.analysis.explain import explain
from mexica_ai.analysis.limits import DEFAULT_INTERVAL_S, Limits
from mexica_ai.analysis.results import Result
from mexica_ai.cli import common, picture, report, side_by_side
from mexica_ai.cli.side_by_side import Searched
from mexica_ai.draw.axis import AXES
from mexica_ai.draw.course import draw_courses
from mexica_ai.draw.search import draw_growth
from mexica_ai.engines import make_engine, parse_spec
from mexica_ai.engines.base import LIMIT_KEYS
from mexica_ai.engines.specs import EngineSpec, seconds
from mexica_ai.game.position import Position, require_seat_to_move
from mexica_ai.io import terminal

_PLOT_INTERVAL_S = 0.05  # between two points of a plot
_PLOT_CANDIDATES = 50  # so that those that are best at the end are known before

DESCRIPTION = f"""\
Search a position and print the candidate turns at regular intervals, until a
limit is reached or Ctrl-C is pressed; the last table is the final result.
Without --time and --iterations the search runs until Ctrl-C, until its result
is final, or until its memory is full. On a terminal the table is redrawn in
place.

Several --engine search one after the other, with the same limits and seed, a
second each if there is no limit. A table has the best turn of each. Below it
stands which of them lead to the same position, and what each engine thinks of
the turns of the others, if its candidates hold them.

{common.ENGINES_HELP}
Only mcts shows intermediate results; the others print only the final one.

Examples:
  mexica-ai analyze game.json
  mexica-ai analyze game.json --time 10 --interval 1 --candidates 3 --json
  mexica-ai analyze game.json --time 5 --engine mcts --engine beam
  mexica-ai analyze game.json --time 5 --plot search.svg --axis iterations
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    common.add_position_argument(parser)
    common.add_engine_option(parser, repeats=True)
    common.add_search_options(parser, "none", threads_default=common.ALL_CORES)
    common.add_candidates_option(parser)
    common.add_first_action_options(parser)
    add_interval_option(parser)
    what = "visits and shares of the first candidates over time, or of the best turn of each of several engines"
    picture.add_plot_option(parser, what)
    parser.add_argument(
        "--axis", choices=AXES, default=AXES[0], help=f"what the picture has from left to right (default: {AXES[0]})"
    )
    common.add_json_option(
        parser,
        "print one JSON object per line; only the last has a stop_reason that is not empty. With several engines each "
        "has the key engine, and one more line the comparison",
    )


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
    specs = [parse_spec(text) for text in args.engine or ["mcts"]]
    position = common.read_position(args.position)
    budget = {field: getattr(args, key) for key, field in LIMIT_KEYS.items() if getattr(args, key) is not None}
    picture.check(args)
    is_unlimited = not {"time_s", "iterations"} & budget.keys()
    if args.plot is not None and not is_unlimited:
        terminal.outlive_reader()
    limits = Limits(**budget, unlimited=is_unlimited)
    if len(specs) > 1:
        return _compare(args, specs, position, limits)
    (spec,) = specs
    limits = common.with_threads(limits, args, spec)
    defaults = {key: common.search_defaults(args, spec)[key] for key in ("level", "elo", "seed", "weights")}
    with common.stop_on_interrupt() as stop, make_engine(spec, **defaults) as engine:
        engine.restrict(args.allow, args.avoid or ())
        results = common.in_thread(
            engine.analyze(
                position,
                limits,
                candidates=args.candidates if args.plot is None else max(args.candidates, _PLOT_CANDIDATES),
                stop=stop,
                interval_s=args.interval if args.plot is None else min(args.interval, _PLOT_INTERVAL_S),
            )
        )
        found: list[Result] = []
        print_results(_shown(results, found, args), position, args.json)
    if args.plot is not None and found:
        picture.write(args, draw_growth(found, _seat(position), theme=args.theme, axis=args.axis))
    return 0


def _compare(args: argparse.Namespace, specs: Sequence[EngineSpec], position: Position, limits: Limits) -> int:
    """Show the searches of several engines side by side."""
    side_by_side.check_names(specs)
    require_seat_to_move(position)
    interval_s = args.interval if args.plot is None else _PLOT_INTERVAL_S

    def search(show: Callable[[Sequence[Searched]], None]) -> list[Searched]:
        return side_by_side.search(args, specs, position, limits, interval_s=interval_s, show=show)

    head = side_by_side.format_head(specs)
    if args.json:
        searched = search(lambda found: print(json.dumps(side_by_side.result_json(found[-1])), flush=True))
        print(json.dumps(side_by_side.comparison_json(searched, position)))
    elif sys.stdout.isatty():
        terminal.say(*str(position).splitlines(), "")
        with _screen() as draw:
            searched = search(lambda found: draw([head, *side_by_side.format_rows(found, specs, position), ""]))
    else:
        terminal.say(head, flush=True)

        def show(found: Sequence[Searched]) -> None:
            if found[-1].results[-1].stop_reason:  # a row for each engine that is done
                rows = side_by_side.format_rows(found, specs, position)
                terminal.say(*rows[len(side_by_side.format_rows(found[:-1], specs, position)) :], flush=True)

        searched = search(show)
        terminal.say()
    if not args.json:
        terminal.say(*side_by_side.format_comparison(searched, position))
    if args.plot is not None:
        picture.write(args, draw_courses(searched, _seat(position), theme=args.theme, axis=args.axis))
    return 0


def _shown(results: Iterator[Result], found: list[Result], args: argparse.Namespace) -> Iterator[Result]:
    """Keep results for a plot; yield those to print."""
    for result in side_by_side.keeping(results, found, args.interval):
        yield dataclasses.replace(result, candidates=result.candidates[: args.candidates])


def _seat(position: Position) -> int:
    """Return the seat to move of a position that has been searched."""
    assert position.to_move is not None
    return position.to_move


def print_results(results: Iterator[Result], position: Position, is_json: bool, explains: bool = False) -> None:
    """Print each result as it arrives, then the best turn, and what speaks for it if that `explains`."""
    if is_json:
        for result in results:
            found = result.to_json()
            if explains and result.stop_reason:
                found["explanation"] = explain(position, result).sentences
            print(json.dumps(found), flush=True)
        return
    if sys.stdout.isatty():
        terminal.say(*str(position).splitlines(), "")
    result = _show(results)
    lines = []
    if why := report.explain_choice(result.candidates, _seat(position)):
        lines += [*terminal.wrap(why), ""]
    lines += report.format_best(result, _seat(position))
    if explains:
        sentences = explain(position, result).sentences
        lines += ["", "Why:", *(line for one in sentences for line in terminal.wrap(f"- {one}", rest="  "))]
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
            live.update(Text(text, overflow="fold"), refresh=True)  # a narrow terminal loses no figure

        yield draw
