"""`mexica-ai show`: print a position as text."""

from __future__ import annotations

import argparse
import json

from mexica_ai.cli import common
from mexica_ai.engines.specs import whole_number

SUMMARY = "print a position as text"
DESCRIPTION = """\
Check a position and print it as text; with --viewer only what that seat sees.

Examples:
  mexica-ai show game.json
  mexica-ai new --seed 7 | mexica-ai show -
  mexica-ai show game.json --viewer 1
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    common.add_position_argument(parser)
    parser.add_argument(
        "--viewer",
        type=common.argument(whole_number(0, 3)),
        metavar="SEAT",
        help="hide what this seat does not see, in games with hidden information (default: hide nothing)",
    )
    common.add_json_option(parser, "print the position as JSON in canonical form, on one line")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    position = common.read_position(args.position)
    if args.viewer is not None:
        position = position.view(args.viewer)
    print(json.dumps(position.to_json()) if args.json else str(position).rstrip("\n"))
    return 0
