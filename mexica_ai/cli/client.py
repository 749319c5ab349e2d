"""`mexica-ai client`: the best turn of a position, asked of a running server."""

from __future__ import annotations

import argparse

from mexica_ai.cli import common
from mexica_ai.cli.best import print_result, wait_for

SUMMARY = "ask a running server for the best turn"
DESCRIPTION = """\
Ask a server (`mexica-ai serve`) for the best turn of a position; the answer is
printed as by `mexica-ai best`. The server caps what is asked of it. Ctrl-C
cancels the search.

Example:
  mexica-ai client game.json --server localhost:50051 --time 2
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    common.add_position_argument(parser)
    parser.add_argument(
        "--server",
        default="127.0.0.1:50051",
        metavar="HOST:PORT",
        help="the server's address (default: 127.0.0.1:50051)",
    )
    common.add_search_options(parser, *["the server's"] * 3, has_level=False)
    common.add_candidates_option(parser)
    common.add_json_option(parser, "print one JSON object, as `mexica-ai best --json` does")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    position = common.read_position(args.position)
    with common.needing("grpcio and protobuf"):
        from mexica_ai.client import Client
    with Client(args.server) as client:
        answers = (
            client.best_turn(
                position,
                time_s=args.time,
                iterations=args.iterations,
                memory_mb=args.memory,
                threads=args.threads,
                seed=args.seed,
                candidates=args.candidates,
            )
            for _ in range(1)
        )
        result = wait_for(answers, f"{args.server} searches", "Ctrl-C cancels")
    print_result(result, position, args.json)
    return 0
