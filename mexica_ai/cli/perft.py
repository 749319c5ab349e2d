"""`mexica-ai perft`: count action sequences, to check the rules."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from typing import Any

from cext.core.contract import perft
from mexica_ai.cli import common
from mexica_ai.engines.specs import whole_number
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.io import terminal

DESCRIPTION = """\
Count the sequences of exactly N legal actions from a position. Sequences that
end the game earlier do not count. Two implementations of the rules with equal
counts very likely agree; --divide splits the count by first action, to find
where they differ.

Examples:
  mexica-ai perft game.json --depth 2
  mexica-ai perft game.json --depth 2 --divide
"""

MAX_DEPTH = 32  # the deepest that cext.core.contract.perft counts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    common.add_position_argument(parser)
    parser.add_argument(
        "--depth",
        type=common.argument(whole_number(0, MAX_DEPTH)),
        required=True,
        metavar="N",
        help=f"length of the sequences in actions, 0 to {MAX_DEPTH}",
    )
    parser.add_argument("--divide", action="store_true", help="print the count of each first action (depth 1 or more)")
    common.add_json_option(parser, "print one JSON object: depth, count, and with --divide an object divide")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    position = common.read_position(args.position)
    started = time.monotonic()
    with common.Progress("counting") as progress:
        (answer,) = common.in_thread(
            _count(position, args.depth, args.divide),
            lambda: progress.show(f"counting, {time.monotonic() - started:.0f} s"),
        )
    if args.json:
        print(json.dumps(answer))
        return 0
    for action, count in answer.get("divide", {}).items():
        terminal.say(f"{action}: {count}")
    terminal.say(f"{answer['count']}")
    return 0


def _count(position: Position, depth: int, is_divided: bool) -> Iterator[dict[str, Any]]:
    if not is_divided:
        yield {"depth": depth, "count": perft.perft(position.state, depth)}
        return
    format_action = registry.get(position.game).text.format_action
    counts = perft.divide(position.state, depth)
    divided = dict(sorted((format_action(action), count) for action, count in counts.items()))
    yield {"depth": depth, "count": sum(divided.values()), "divide": divided}
