"""Mexica's codec: its text forms, its rendering, its options, and the tokens of the second period.

If the pool has more than fifteen tokens, those of the second period are hidden. They are hidden from all
seats, so there are no views. A full position contains them, and the end of period 1 deals them from it.
"""

from typing import ClassVar

from mexica_ai.game.codec import GameCodec, Option
from mexica_ai.games.mexica import board, compact, legality, notation, render
from mexica_ai.io.errors import PositionError


class MexicaCodec(GameCodec):
    """The functions of `mexica_ai.games.mexica.notation`, and the treatment of the second period's tokens."""

    name = "mexica"
    spends = ("action_points", "action_tokens")
    level_errors: ClassVar = {
        1: (0.145, 4.6), 2: (0.128, 2.7), 3: (0.118, 1.75), 4: (0.098, 1.27), 5: (0.112, 1.09), 6: (0.1, 0.5),
        7: (0.2, 0.0), 8: (0.055, 0.0), 9: (0.02, 0.0),
    }  # fmt: skip
    options = (
        Option(
            "pool",
            list,
            "sizes of the calpulli tokens, at least 15 of them, 3 to 13 each, separated by commas "
            "(default: the standard 15)",
            metavar="SIZES",
            default=board.STANDARD_POOL,
        ),
        Option(
            "neutral_levels",
            list,
            "levels of the neutral temples of a game of two, separated by commas (default: "
            "1,1,1,1,2,2,2,3,3,4)",
            flag="--neutral",
            metavar="LEVELS",
            default=board.STANDARD_NEUTRAL_LEVELS,
        ),
    )
    examples = (
        "--players 2 --neutral 4,3,2,1,1 | mexica-ai show -",
        "--pool 3,3,4,4,5,5,6,6,7,7,8,8,9,10,11,12,13",
    )

    parse_action = staticmethod(notation.parse_action)
    format_action = staticmethod(notation.format_action)
    parse_position = staticmethod(notation.parse_position)
    format_position = staticmethod(notation.format_position)
    parse_compact = staticmethod(compact.parse_compact)
    format_compact = staticmethod(compact.format_compact)
    new_state = staticmethod(notation.new_state)
    has_one_world = staticmethod(notation.has_one_world)
    render = staticmethod(render.render)

    def why_illegal(self, state, action):
        """Return why an action is not legal."""
        return self._explain(legality.why_illegal, state, action)

    def redact(self, data):
        """Return the position without the tokens of the second period."""
        data["calpulli"].pop("upcoming", None)
        return data

    def settle_chance(self, state):
        """Deal the tokens of the second period, which the position must know.

        Raises
        ------
        PositionError
            The position does not know them; reason UPCOMING_UNKNOWN.
        """
        if not self.has_one_world(state):
            raise PositionError(
                "position.calpulli.upcoming: unknown, but this turn ends the first period; expected the "
                "second period's tokens in the position",
                reason="UPCOMING_UNKNOWN",
                path="position.calpulli.upcoming",
            )
        state.resolve_chance(0)  # the tokens are known, so the seed has no effect

    def from_message(self, data):
        """Remove the two lists that were not given if they are empty."""
        calpulli = data.get("calpulli", {})
        if not calpulli.get("pool"):
            calpulli.pop("pool", None)
        if data.get("period") == 1 and not calpulli.get("upcoming"):
            calpulli.pop("upcoming", None)
        return data


CODEC = MexicaCodec()
