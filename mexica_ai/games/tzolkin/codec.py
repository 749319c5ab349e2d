"""Tzolk'in's codec: the functions of its text forms, views, random events and its picture, and its options."""

from typing import ClassVar

from mexica_ai.game.codec import GameCodec, Option
from mexica_ai.games.tzolkin import compact, legality, notation, render
from mexica_ai.io.errors import PositionError


class TzolkinCodec(GameCodec):
    """The functions of `mexica_ai.games.tzolkin.notation`. Random events are part of a record."""

    name = "tzolkin"
    title = "Tzolk'in"
    spends = ("corn", "wood", "stone", "gold")
    level_errors: ClassVar = {
        4: (0.085, 1.2), 5: (0.062, 0.4), 6: (0.04, 0.0), 7: (0.012, 0.0), 8: (0.01, 0.0)
    }  # fmt: skip
    options = (
        Option("whole_points", bool, "whether final points for corn are rounded down (default: they are not)"),
    )
    examples = ("--players 4 --whole-points",)
    has_views = True

    parse_action = staticmethod(notation.parse_action)
    format_action = staticmethod(notation.format_action)
    parse_position = staticmethod(notation.parse_position)
    format_position = staticmethod(notation.format_position)
    parse_compact = staticmethod(compact.parse_compact)
    format_compact = staticmethod(compact.format_compact)
    new_state = staticmethod(notation.new_state)
    scores = staticmethod(notation.scores)
    has_one_world = staticmethod(notation.has_one_world)
    viewer = staticmethod(notation.viewer)
    world_of = staticmethod(notation.world_of)
    view = staticmethod(notation.view)
    deal_for = staticmethod(notation.deal_for)
    draw_outcome = staticmethod(notation.draw_outcome)
    render = staticmethod(render.render)

    def is_secret(self, action, after):
        """Return whether only its seat knows which tiles it keeps: until all seats have chosen."""
        return action.split()[0] == "keep" and after["phase"] == "keep"

    def why_illegal(self, state, action):
        """Return why an action is not legal."""
        return self._explain(legality.why_illegal, state, action)

    def check_uncovered(self, state):
        """Refuse the last choice of wealth tiles: it shows what the others have kept.

        Raises
        ------
        PositionError
            Reason NOT_UNCOVERED, if it was made.
        """
        if self.format_position(state)["phase"] != "keep":
            raise PositionError(
                "the last seat chooses, and the tiles of all seats are shown; expected the full position, in "
                "which they are known",
                reason="NOT_UNCOVERED",
                path="position.seats",
            )

    def from_message(self, data):
        """Put null where a message leaves out what may be null, and write whole points as integers."""
        for key in ("viewer", "start_space"):
            data.setdefault(key, None)
        for seat in data.get("seats", []):
            if isinstance(seat.get("score"), float) and seat["score"].is_integer():
                seat["score"] = int(seat["score"])
        return data


CODEC = TzolkinCodec()
