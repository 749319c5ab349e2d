"""`mexica-ai check-game`: the contract tests of a game, for its author."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from mexica_ai.cli import common
from mexica_ai.engines.specs import whole_number
from mexica_ai.game import registry
from mexica_ai.game.contract import Game
from mexica_ai.io import terminal
from mexica_ai.io.errors import MexicaAIError

DESCRIPTION = """\
Play random games by the rules of a game, and check all that the contract of
games asks for, part by part: rules, text, new games, views, random events and
the others. The first fault of each part is printed with the position in which
it showed. With --reference, another implementation of the same rules is played
in lockstep; it is MODULE:OBJECT or FILE.py:OBJECT.

The exit code is 0 if nothing is found, else 1.

Examples:
  mexica-ai check-game lostcities
  mexica-ai check-game examples/pure_game/eights.py:GAME --stride 1
  mexica-ai check-game lostcities --reference lostcities_slow.py:GAME
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "game", metavar="GAME", help="its name, or where its object is, as MODULE:OBJECT or FILE.py:OBJECT"
    )
    parser.add_argument(
        "--reference", metavar="OBJECT", help="another implementation, as MODULE:OBJECT or FILE.py:OBJECT"
    )
    parser.add_argument(
        "--players", type=common.argument(whole_number(2, 4)), metavar="N", help="only games of N seats; by default all"
    )
    parser.add_argument(
        "--seed",
        type=common.argument(whole_number(0, 2**63 - 1)),
        metavar="N",
        help="seed of the games (default: 2015)",
    )
    parser.add_argument(
        "--stride",
        type=common.argument(whole_number(1, 1000)),
        metavar="N",
        help="expensive checks look at every N-th state (default: 5)",
    )
    common.add_json_option(parser, "print one JSON object a part: part, fault (null if there is none) and seconds")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from mexica_ai import testing
    from mexica_ai.testing.case import SEED, STRIDE

    game = _game(args.game)
    seed = SEED if args.seed is None else args.seed
    stride = args.stride or STRIDE
    try:
        starts = None if args.players is None else [game.starts.new_state(args.players, seed)]
    except MexicaAIError:
        raise
    except Exception as error:  # of the game, which may be wrong in any way
        return _tell("starts", _words(error), 0.0, args.json)
    code = 0
    for part, check in testing.CHECKS.items():
        code |= _report(part, args.json, lambda check=check: check(game, starts, seed=seed, stride=stride))
    if args.reference is not None:
        reference = registry.load(args.reference)
        code |= _report("reference", args.json, lambda: testing.check_reference(game, reference, starts, seed=seed))
    return code


def _game(name: str) -> Game:
    return registry.load(name) if ":" in name else registry.get(name)


def _report(part: str, as_json: bool, check: Any) -> int:
    """Run the check of a part, and print what it finds; return 1 if that is a fault."""
    began, fault = time.monotonic(), None
    try:
        check()
    except Exception as error:  # of the game, which may be wrong in any way
        fault = _words(error)
    return _tell(part, fault, time.monotonic() - began, as_json)


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, (AssertionError, MexicaAIError)) else f"{type(error).__name__}: {error}"


def _tell(part: str, fault: str | None, seconds: float, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"part": part, "fault": fault, "seconds": round(seconds, 2)}))
    else:
        terminal.say(f"{part}: {'good' if fault is None else fault}")
    return fault is not None
