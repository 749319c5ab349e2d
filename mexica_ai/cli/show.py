"""`mexica-ai show`: draw a position."""

from __future__ import annotations

import argparse
import json

from mexica_ai.cli import common

SUMMARY = "draw a position"
DESCRIPTION = """\
Check a position and draw it as text.

Examples:
  mexica-ai show game.json
  mexica-ai new --seed 7 | mexica-ai show -
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    common.add_position_argument(parser)
    common.add_json_option(parser, "print the position as JSON in its canonical form, on one line")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    position = common.read_position(args.position)
    print(json.dumps(position.to_json()) if args.json else str(position).rstrip("\n"))
    return 0
