"""`mexica-ai legal`: list the legal actions of one position, or of each position of a stream."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any

from mexica_ai.cli import common
from mexica_ai.game.details import ActionDetail, cost_text
from mexica_ai.game.position import Position
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.strict import check_shape, parse_json

_WITH_ACTIONS = re.compile(rb'(?:\xef\xbb\xbf)?\{\s*"(?:position|after)"\s*:')

DESCRIPTION = """\
List the legal actions of a position, sorted as text, one per line; with --after
those that follow the beginning of a turn: none if that is a whole turn.

With - as POSITION, read one position per line from standard input and answer
each line at once with one JSON list of actions. A line may also be
{"position": ..., "after": ["walk H5"]}, the position as JSON or in its compact
form, with the actions of the turn so far. The answer to an invalid line is
{"error": "..."}; the other lines are still answered, and the exit code is 2. So
a program in any language can play without knowing the rules.

With --detail, print each action with its meaning in words and its cost; as JSON
also its verb, what it names (spaces, cards, teeth of gears), tool and key.

Examples:
  mexica-ai legal game.json
  mexica-ai legal game.json --detail
  mexica-ai legal game.json --after "walk H5; token"
  mexica-ai legal - < positions.jsonl
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "position",
        metavar="POSITION",
        help="a file with one position or its compact form, or - for one position per line on standard input",
    )
    add_after_option(parser)
    add_detail_option(parser)
    common.add_json_option(parser, "print one JSON list for a file, too")


def add_after_option(parser: argparse.ArgumentParser) -> None:
    """Add `--after`."""
    parser.add_argument(
        "--after", metavar="ACTIONS", help='the actions of the turn so far, joined by "; "; with -, of every position'
    )


def add_detail_option(parser: argparse.ArgumentParser) -> None:
    """Add `--detail`."""
    parser.add_argument("--detail", action="store_true", help="print the actions as data: in words, with their costs")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.position == "-":
        return _answer_lines(args.after, args.detail)
    position = common.read_position(args.position)
    goes_on = begin_turn(position, args.after)
    if args.detail:
        show_details(position.legal_details() if goes_on else [], args.json)
    else:
        show_actions(position.legal_actions() if goes_on else [], args.json)
    return 0


def show_actions(actions: list[str], as_json: bool) -> None:
    """Print legal actions."""
    if as_json:
        print(json.dumps(actions))
    elif actions:
        terminal.say(*actions)


def show_details(details: list[ActionDetail], as_json: bool) -> None:
    """Print legal actions as data."""
    if as_json:
        print(json.dumps([detail.to_json() for detail in details]))
        return
    width = max((len(detail.action) for detail in details), default=0)
    for detail in details:
        cost = f" ({cost_text(detail.costs)})" if detail.costs else ""
        terminal.say(f"{detail.action:<{width}}  {detail.label}{cost}")


def begin_turn(position: Position, after: str | list[str] | None) -> bool:
    """Play the beginning of a turn, if there is one, and return whether the turn goes on."""
    if not after or (isinstance(after, str) and not after.strip()):
        return True
    position.push(after, partial=True)
    return position.is_within_turn


def _actions(position: Position, after: str | list[str] | None, detail: bool) -> list[Any]:
    if not begin_turn(position, after):
        return []
    return [one.to_json() for one in position.legal_details()] if detail else position.legal_actions()


def _answer_lines(after: str | None, detail: bool) -> int:
    code = 0
    with files.open_text("-") as file:
        for number, line in enumerate(files.read_lines(file, "-", cuts=True), 1):
            try:
                with common.located(f"line {number}"):
                    position, own = _read_line(line)
                    answer: object = _actions(position, after if own is None else own, detail)
            except MexicaAIError as error:
                code = 2
                answer = {"error": str(error)}
            print(json.dumps(answer), flush=True)
    return code


def _read_line(line: bytes) -> tuple[Position, list[str] | None]:
    """Return the position of a line, and the actions that the line says were played."""
    if len(line) > files.MAX_JSON:
        raise NotationError(f"position: over {files.MAX_JSON:,} bytes; expected a shorter line")
    text = line.strip()
    if not _WITH_ACTIONS.match(text):
        return Position.from_text(text, path="position"), None
    data = parse_json(text, "line")
    if not isinstance(data, dict) or "game" in data:  # a position with a key that it does not have
        return Position.from_json(data, path="position"), None
    check_shape(data, {"position": object, "after?": [str]}, "line")
    position = data["position"]
    if isinstance(position, str):
        return Position.from_text(position, path="line.position"), data.get("after")
    return Position.from_json(position, path="line.position"), data.get("after")
