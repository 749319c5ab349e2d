"""`mexica-ai help`: the help of the whole command line, or of a command."""

from __future__ import annotations

import argparse

DESCRIPTION = """\
Print the help of a command, as `mexica-ai COMMAND --help` does; without a
command the list of all.

Examples:
  mexica-ai help best
  mexica-ai help client batch
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("command", metavar="COMMAND", nargs="*", help="a command, and one of its own commands")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    # The parser prints the help, or refuses a name that it does not know.
    args.parser().parse_args([*args.command, "--help"])
    return 0
