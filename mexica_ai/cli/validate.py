"""`mexica-ai validate`: all faults of positions."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from mexica_ai.cli import common
from mexica_ai.game.position import Position
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import MexicaAIError, NotationError, Violation
from mexica_ai.io.strict import MAX_VIOLATIONS

DESCRIPTION = f"""\
Check positions and print every fault of each, up to {MAX_VIOLATIONS}: where it is, what was
given and expected, and the name of the rule that it breaks. Where a position
cannot be read (a key is missing, a type is wrong), the rules are checked only
when it can. `mexica-ai replay` checks records.

The exit code is 0 if all positions are valid, else 2.

Examples:
  mexica-ai validate game.json
  mexica-ai validate *.json --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "positions",
        metavar="POSITION",
        nargs="+",
        help="a file with one position, as JSON or in its compact form; or that form itself; or - for standard input",
    )
    common.add_json_option(
        parser, "print one JSON object per position: position, valid, violations (path, reason, message)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    code = 0
    for source in args.positions:
        name, position = files.name_of(source), None
        violations: Sequence[Violation] = ()
        try:
            position = common.read_position(source)
        except MexicaAIError as error:
            code = 2
            if isinstance(error, NotationError) and error.reason == "UNREADABLE_FILE":
                sys.stdout.flush()
                terminal.tell(f"error: {error}")
                continue
            violations = error.violations or [Violation(error.path, error.reason, str(error).removeprefix(f"{name}: "))]
        _print(name, position, violations, args.json)
    return code


def _print(name: str, position: Position | None, violations: Sequence[Violation], is_json: bool) -> None:
    if is_json:
        found = [violation._asdict() for violation in violations]
        print(json.dumps({"position": name, "valid": position is not None, "violations": found}))
    elif position is not None:
        terminal.say(f"{name}: valid, {position!r}")
    else:
        count = "1 fault" if len(violations) == 1 else f"{len(violations)} faults"
        terminal.say(f"{name}: {count}{', perhaps more' * (len(violations) == MAX_VIOLATIONS)}")
        for violation in violations:
            terminal.say(f"  {violation.message} [{violation.reason}]")
