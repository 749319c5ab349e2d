"""Nim as one object: it hides nothing and has no random events, so it needs few parts."""

from cext.games.nim import ops
from mexica_ai.game.contract import Game, Learning, Option, Picture, Starts, Text
from mexica_ai.games.nim import compact, draw, entry, notation, tensor, words
from mexica_ai.games.nim.render import render
from mexica_ai.games.nim.teaching import TEACHING

OPTIONS = (
    Option(
        "piles",
        list,
        "sizes of the piles, separated by commas (default: 3,4,5)",
        metavar="SIZES",
        default=notation.PILES,
    ),
    Option(
        "plies_per_turn",
        int,
        "actions per turn, 1 to 3 (default: 1)",
        choices=range(1, notation.MAX_PLIES + 1),
        default=1,
    ),
)

GAME = Game(
    "nim",
    rules=ops.GAME,
    text=Text(
        notation.parse_action,
        notation.format_action,
        notation.parse_position,
        notation.format_position,
        compact.format_compact,
        compact.parse_compact,
    ),
    starts=Starts(notation.new_state, OPTIONS, ("--piles 3,4,5",)),
    board=render,
    picture=Picture(draw.draw, draw.PARTS, entry.TOOLS, entry.entry),
    words=words.WORDS,
    learning=Learning(tensor.SCHEMA, actions=tensor.ACTIONS),
    teaching=TEACHING,
)
