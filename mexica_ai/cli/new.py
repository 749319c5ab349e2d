"""`mexica-ai new`: deal a new game."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any

from mexica_ai import registry
from mexica_ai.cli import common
from mexica_ai.engines.specs import KEYS, whole_number
from mexica_ai.position import new_game

SUMMARY = "deal a new game"
DESCRIPTION = """\
Deal a new game and print its position as JSON on one line, ready for the other
commands.

Examples:
  mexica-ai new --players 3 --seed 7 > game.json
  mexica-ai new --players 2 --neutral 4,3,2,1,1 | mexica-ai show -
  mexica-ai new --pool 3,3,4,4,5,5,6,6,7,7,8,8,9,10,11,12,13
  mexica-ai new --game coatl --players 4 --no-sacrifice-tokens
  mexica-ai new --game nim --piles 3,4,5
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--game", default="mexica", choices=registry.names(), help="the game (default: mexica)"
    )
    parser.add_argument(
        "--players",
        type=common.argument(whole_number(2, _max_players())),
        default=2,
        metavar="N",
        help="number of seats (default: 2)",
    )
    parser.add_argument(
        "--seed",
        type=common.argument(KEYS["seed"]),
        metavar="N",
        help="the same seed deals the same game, 0 to 2**63 - 1 (default: drawn)",
    )
    options = parser.add_argument_group("options of the games")
    options.add_argument(
        "--pool",
        type=_numbers,
        metavar="SIZES",
        help="Mexica: sizes of the calpulli tokens, at least 15 of them, 3 to 13 each, with commas between "
        "(default: the standard 15)",
    )
    options.add_argument(
        "--neutral",
        type=_numbers,
        metavar="LEVELS",
        dest="neutral_levels",
        help="Mexica: levels of the neutral temples of a game of two, with commas between (default: "
        "1,1,1,1,2,2,2,3,3,4)",
    )
    options.add_argument(
        "--sacrifice-tokens",
        action=argparse.BooleanOptionalAction,
        help="Coatl: whether each seat has the three sacrifice tokens (default: it has)",
    )
    options.add_argument(
        "--strict-ends",
        action=argparse.BooleanOptionalAction,
        help='Coatl: whether "not next to" counts as broken at an open end (default: it does not)',
    )
    options.add_argument(
        "--piles", type=_numbers, metavar="SIZES", help="nim: sizes of the piles, with commas between"
    )
    options.add_argument(
        "--plies-per-turn",
        type=common.argument(whole_number(1, 3)),
        metavar="N",
        help="nim: actions a turn, 1 to 3 (default: 1)",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    position = new_game(args.game, players=args.players, seed=args.seed, **game_options(args))
    print(json.dumps(position.to_json()))
    return 0


def game_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the games that were given."""
    names = ("pool", "neutral_levels", "sacrifice_tokens", "strict_ends", "piles", "plies_per_turn")
    return {name: getattr(args, name) for name in names if getattr(args, name) is not None}


def _max_players() -> int:
    return max(registry.get(name).game.max_players for name in registry.names())


def _numbers(text: str) -> list[int]:
    if not re.fullmatch(r"\d{1,9}(,\d{1,9})*", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers such as 3,3,4")
    return [int(number) for number in text.split(",")]
