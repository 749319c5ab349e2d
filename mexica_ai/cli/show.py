"""`mexica-ai show`: print a position, or one of a played game, as text."""

from __future__ import annotations

import argparse
import json

from mexica_ai.analysis.annotate import NOTE, TurnEvaluation, recorded_evaluations
from mexica_ai.cli import common, picture, series
from mexica_ai.cli.lines import describe_variation
from mexica_ai.cli.records import MAX_NUMBER, add_game_option, read_record
from mexica_ai.engines.specs import whole_number
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.game.records import parse_record, position_at
from mexica_ai.game.text_forms import count
from mexica_ai.game.variations import Line, Path, climb, format_path, line_at, lines_of, parse_path, turns_along
from mexica_ai.io import terminal
from mexica_ai.io.errors import NotationError
from mexica_ai.table.events import seen_turn

DESCRIPTION = """\
Check a position and print it as text; with --viewer only what that seat sees,
or with --viewer spectator what every seat sees.

With --turn, read a record of a game instead and print its position after so
many turns: 0 is the start. Random events count, as in `mexica-ai annotate`. So
`annotate` rates turn 12 in the position of --turn 11. Later turns of the record
are not checked. --line names a variation of the record (`replay --lines` prints
them): --turn then counts along that.

With --svg-series or --gif, draw a whole record: a picture a turn, or an
animated one.

Examples:
  mexica-ai show game.json
  mexica-ai new --seed 7 | mexica-ai show -
  mexica-ai show game.json --viewer 1
  mexica-ai show games.jsonl --game 3 --turn 12
  mexica-ai show studied.jsonl --turn 13 --line 2.1
  mexica-ai show game.json --png game.png --play "walk H5; end"
  mexica-ai show game.json --format compact
  mexica-ai show games.jsonl --game 3 --gif game.gif
"""


SPECTATOR = "spectator"


def viewer(text: str) -> int | str:
    """Return the seat that a text names, or `SPECTATOR`."""
    try:
        return text if text == SPECTATOR else whole_number(0, 3)(text)
    except ValueError as expected:
        raise ValueError(f"`{SPECTATOR}`, or {expected}") from None


def line(text: str) -> Path:
    """Return the path of the variation that a text names."""
    try:
        if path := parse_path(text):
            return path
    except NotationError:
        pass
    raise ValueError("a variation, such as 2 or 2.1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "position",
        metavar="POSITION",
        help="a position (a file, its compact form, or - for standard input), or with --turn a file of records",
    )
    parser.add_argument(
        "--turn",
        type=common.argument(whole_number(0, MAX_NUMBER)),
        metavar="N",
        help="the position of a record after N turns, from 0",
    )
    add_game_option(parser, default=None)
    parser.add_argument(
        "--line",
        type=common.argument(line),
        metavar="LINE",
        help="with --turn: the position in a variation of the record, such as 2 or 2.1",
    )
    parser.add_argument(
        "--viewer",
        type=common.argument(viewer),
        metavar="SEAT",
        help="hide what this seat does not see, or with `spectator` what not every seat sees, in games with hidden "
        "information (default: hide nothing)",
    )
    parser.add_argument(
        "--format",
        choices=("text", "ascii", "json", "compact"),
        default="text",
        help="how to print the position: as a text board, the same in ASCII, as JSON in canonical form, or in the "
        "compact form, the latter two on one line (default: text)",
    )
    common.add_json_option(parser, "the same as --format json")
    parser.add_argument("--play", metavar="TURN", help="in the picture, play this turn and mark its steps")
    picture.add_options(parser, "the position")
    series.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    picture.check(args)
    if args.play is not None and not (args.svg or args.png):
        raise NotationError("--play: needs --svg or --png; a turn is played by `mexica-ai apply`", reason="BAD_USAGE")
    if series.is_asked(args):
        text, where = read_record(args.position, args.game or 1)
        with common.located(where):
            terminal.say(*series.write(args, parse_record(text)))
        return 0
    if args.turn is None:
        if args.game is not None:
            raise NotationError("--game: needs --turn, which says how many turns are played", reason="BAD_USAGE")
        if args.line is not None:
            raise NotationError("--line: needs --turn, which says how many turns are played", reason="BAD_USAGE")
        position = common.read_position(args.position)
        note: list[str] = []
    else:
        position, note = _read_turn(args)
    if args.viewer == SPECTATOR:
        position = position.view(None)
    elif args.viewer is not None:
        if not 0 <= args.viewer < position.players:
            raise NotationError(
                f"--viewer: given {args.viewer}; expected a seat from 0 to {position.players - 1}", reason="BAD_USAGE"
            )
        position = position.view(args.viewer)
    if args.svg or args.png:
        drawing = position.svg(turn=args.play, theme=args.theme)
        if picture.write(args, drawing):
            return 0
    if args.json or args.format == "json":
        print(json.dumps(position.to_json()))
    elif args.format == "compact":
        print(position.to_compact())
    else:
        lines = [*str(position).splitlines(), *note]
        terminal.say(*(map(terminal.plain, lines) if args.format == "ascii" else lines))
    return 0


def _read_turn(args: argparse.Namespace) -> tuple[Position, list[str]]:
    """Return the position of a record that the options name, and the lines that say which one it is."""
    text, where = read_record(args.position, args.game or 1)
    with common.located(where):
        record = parse_record(text)
        path = args.line or ()
        position = position_at(record, args.turn, line=path)
        tree = lines_of(record)
        turns = turns_along(tree, path)
        path = climb(tree, path, args.turn)
    is_seen_by_all = args.viewer is None or registry.get(record["game"]).views is None
    if args.turn == 0:
        remarks = _said(tree, path, 0) if is_seen_by_all else []
        return position, ["", f"The start of a game of {count(len(turns), 'turn')}", *remarks]
    within = f" in line {format_path(path)}" if path else ""
    said = f"After turn {args.turn} of {len(turns)}{within}: "
    turn, seat = list(turns[args.turn - 1]), None
    if not is_seen_by_all:
        seat = -1 if args.viewer == SPECTATOR else args.viewer
        turn = seen_turn(position_at(record, args.turn - 1, line=path), turn, seat)
    note = ["", *terminal.wrap_turn(turn, terminal.width(), said, "  ")]
    # Comments and variations may tell what others hold; so may what was found with the mover's knowledge.
    note += _said(tree, path, args.turn) if seat is None else []
    for one in [] if path else recorded_evaluations(record):
        if one.turn_index == args.turn - 1 and seat in (None, one.seat):
            note += _evaluation(one)
    return position, note


def _said(tree: Line, path: Path, number: int) -> list[str]:
    """Return the comment on the turn before a place, and the variations that leave the line there."""
    own = line_at(tree, path)
    text = own.comment_on(number)
    lines = terminal.wrap(text) if text else []
    for index, one in enumerate(own.variations):
        if one.at == number:
            lines += describe_variation((*path, index), one)
    return lines


def _evaluation(one: TurnEvaluation) -> list[str]:
    """Return the lines of what `annotate --record` found about a turn."""
    seat = one.seat
    line = f"Seat {seat}'s share of the win: {one.before[seat]:.3f} before, {one.after[seat]:.3f} after, "
    line += f"loss {one.loss:.3f} {one.mark}".rstrip()
    lines = [line]
    if one.choice != one.turn:
        lines += terminal.wrap_turn(one.choice, terminal.width(), "The engine's turn: ", "  ")
    for sentence in one.explanation:
        lines += terminal.wrap(sentence)
    return [*lines, *terminal.wrap(f"({NOTE})")]
