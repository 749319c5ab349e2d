"""Nim's codec: its text forms, its rendering and its options."""

from mexica_ai.game.codec import GameCodec, Option
from mexica_ai.games.nim import compact, notation, render


class NimCodec(GameCodec):
    """Nim hides nothing and has no random events, so the defaults suffice for the rest."""

    name = "nim"
    options = (
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
    examples = ("--piles 3,4,5",)

    parse_action = staticmethod(notation.parse_action)
    format_action = staticmethod(notation.format_action)
    parse_position = staticmethod(notation.parse_position)
    format_position = staticmethod(notation.format_position)
    parse_compact = staticmethod(compact.parse_compact)
    format_compact = staticmethod(compact.format_compact)
    new_state = staticmethod(notation.new_state)
    render = staticmethod(render.render)


CODEC = NimCodec()
