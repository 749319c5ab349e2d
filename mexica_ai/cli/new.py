"""`mexica-ai new`: deal a new game. Each game declares its options (`Option`)."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from mexica_ai.cli import common
from mexica_ai.engines.specs import KEYS, whole_number
from mexica_ai.game import registry
from mexica_ai.game.contract import Option
from mexica_ai.game.position import new_game
from mexica_ai.io.errors import NotationError

DESCRIPTION = """\
Deal a new game and print its position as JSON on one line, ready for the other
commands.

Examples:
  mexica-ai new --players 3 --seed 7 > game.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = DESCRIPTION + "".join(_examples())  # here, since it loads the games of other packages
    add_deal_options(parser)


def add_deal_options(parser: argparse.ArgumentParser) -> None:
    """Declare what deals a game."""
    parser.add_argument(
        "--game",
        default=registry.DEFAULT,
        type=common.game,
        choices=registry.names(),
        help=f"the game (default: {registry.DEFAULT})",
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
    for name in registry.names():
        options = registry.get(name).starts.options
        if options:
            group = parser.add_argument_group(f"options of {name}")
            for option in options:
                _add_option(group, option)


def _examples() -> Iterator[str]:
    """Yield the help's examples of the games' options, those of the default game first."""
    for name in sorted(registry.names(), key=lambda name: name != registry.DEFAULT):
        chosen = "" if name == registry.DEFAULT else f"--game {name} "
        for example in registry.get(name).starts.examples:
            yield f"  mexica-ai new {chosen}{example}\n"


def _add_option(group: argparse._ArgumentGroup, option: Option) -> None:
    if option.kind is bool:
        action = argparse.BooleanOptionalAction
        group.add_argument(option.flag, dest=option.name, action=action, help=option.help)
        return
    parse: Callable[[str], Any] = _numbers
    if option.kind is int:
        parse = common.argument(whole_number(option.choices[0], option.choices[-1]))
    group.add_argument(option.flag, dest=option.name, type=parse, metavar=option.metavar, help=option.help)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    position = new_game(args.game, players=args.players, seed=args.seed, **game_options(args))
    print(json.dumps(position.to_json()))
    return 0


def game_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return those options of the games that were given; raise NotationError for one of another game."""
    given = {}
    own = {option.name: option.flag for option in registry.get(args.game).starts.options}
    for game in registry.names():
        for option in registry.get(game).starts.options:
            value = getattr(args, option.name)
            if value is not None and option.name not in own:
                expected = f"expected only {', '.join(own.values())}" if own else "which has no options"
                raise NotationError(
                    f"{option.flag}: an option of {game}; given for {args.game}, {expected}", reason="BAD_USAGE"
                )
            if value is not None:
                given[option.name] = value
    return given


def is_given(args: argparse.Namespace) -> bool:
    """Return whether an option that deals a game is given; of a command that sets no default."""
    options = (option.name for game in registry.names() for option in registry.get(game).starts.options)
    return any(getattr(args, name) is not None for name in ("game", "players", "seed", *options))


def _max_players() -> int:
    return max(registry.get(name).rules.max_players for name in registry.names())


def _numbers(text: str) -> list[int]:
    if not re.fullmatch(r"\d{1,9}(,\d{1,9})*", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers such as 3,3,4")
    return [int(number) for number in text.split(",")]
