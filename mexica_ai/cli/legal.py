"""`mexica-ai legal`: list the legal actions of one position, or of each position of a stream."""

from __future__ import annotations

import argparse
import json

from mexica_ai.cli import common
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import MexicaAIError

SUMMARY = "list the legal actions"
DESCRIPTION = """\
List the legal actions of a position, sorted as text, one per line.

With - as POSITION, read one position per line from standard input and answer
each line at once with one JSON list of actions. The answer to an invalid line
is {"error": "..."}; the other lines are still answered, and the exit code is 2.

Examples:
  mexica-ai legal game.json
  mexica-ai legal - < positions.jsonl
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "position",
        metavar="POSITION",
        help="a file with one position or its compact form, or - for one position per line on standard input",
    )
    common.add_json_option(parser, "print one JSON list for a file, too")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.position == "-":
        return _answer_lines()
    actions = common.read_position(args.position).legal_actions()
    if args.json:
        print(json.dumps(actions))
    else:
        terminal.say(*actions)
    return 0


def _answer_lines() -> int:
    code = 0
    with files.open_text("-") as file:
        for number, found in common.read_positions(file, "-"):
            try:
                if isinstance(found, MexicaAIError):
                    raise found
                with common.located(f"line {number}"):
                    answer: object = found.legal_actions()
            except MexicaAIError as error:
                code = 2
                answer = {"error": str(error)}
            print(json.dumps(answer), flush=True)
    return code
