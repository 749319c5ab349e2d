"""`mexica-ai apply`: play a turn, or the beginning of one."""

from __future__ import annotations

import argparse
import json
from typing import Any

from mexica_ai.cli import common
from mexica_ai.engines.specs import KEYS
from mexica_ai.game.position import Position
from mexica_ai.game.steps import Step, play_steps
from mexica_ai.io.errors import NotationError
from mexica_ai.io.numbers import MAX_INT64, resolve_seed

DESCRIPTION = """\
Play a turn, and print the position after it as JSON. An action that is not
legal is refused with the reason.

Examples:
  mexica-ai apply game.json "walk H5; end" > next.json
  mexica-ai apply game.json "walk H5" --partial --steps
  mexica-ai apply game.json "take head K" --draw
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    common.add_position_argument(parser)
    parser.add_argument(
        "turn",
        metavar="TURN",
        nargs="?",
        help='the turn, its actions joined by "; " (with --draw, if a random event is due: none)',
    )
    parser.add_argument(
        "--draw", action="store_true", help="then draw the random events that are due, until a seat is to move"
    )
    parser.add_argument(
        "--seed",
        type=common.argument(KEYS["seed"]),
        metavar="N",
        help="the same seed draws the same events, 0 to 2**63 - 1 (default: drawn)",
    )
    parser.add_argument("--partial", action="store_true", help="the turn may stop before its end")
    parser.add_argument(
        "--steps",
        action="store_true",
        help="print one JSON object that also has each action: the position after it, what it cost and brought, and "
        "what changed",
    )
    common.add_json_option(parser, "print scores, random events and the position in one JSON object")


def check(args: argparse.Namespace) -> None:
    """Check what the options say together."""
    if args.seed is not None and not args.draw:
        raise NotationError("--seed: needs --draw, which draws the events", reason="BAD_USAGE")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    check(args)
    start = common.read_position(args.position)
    position = start.copy()
    steps: list[Step] = []
    events: list[list[str]] = []
    if args.turn is not None or not (args.draw and position.is_chance):
        if args.turn is None or not args.turn.strip():
            advice = ", or --draw, for a random event is due" if start.is_chance else ""
            raise NotationError(f'TURN is missing; expected actions joined by "; "{advice}', reason="BAD_USAGE")
        turn = args.turn
        if args.steps:
            steps = play_steps(start, turn)
        position.push(turn, partial=args.partial)
    seed = resolve_seed(args.seed)
    while args.draw and position.is_chance:
        events.append(position.draw((seed + len(events)) & MAX_INT64))
    scored = [after - before for after, before in zip(position.scores, start.scores, strict=True)]
    show(
        args,
        position,
        steps,
        scores=position.scores,
        scored=scored,
        to_move=position.to_move,
        is_over=position.is_over,
        winners=position.winners,
        events=events,
    )
    return 0


def show(args: argparse.Namespace, position: Position, steps: list[Step], **fields: Any) -> None:
    """Print what a turn has led to."""
    if not (args.json or args.steps):
        print(json.dumps(position.to_json()))
        return
    answer = {"position": position.to_json(), **fields}
    if args.steps:
        answer["steps"] = [
            {
                "action": step.action,
                "cost": step.cost,
                "scored": step.scored,
                "changes": [change._asdict() for change in step.changes],
                "position": step.position.to_json(),
            }
            for step in steps
        ]
    print(json.dumps(answer))
