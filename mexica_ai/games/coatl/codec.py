"""Coatl's codec: its text forms, views, random events, rendering and options."""

from typing import ClassVar

from mexica_ai.game.codec import GameCodec, Option
from mexica_ai.games.coatl import compact, legality, notation, render


class CoatlCodec(GameCodec):
    """The functions of `mexica_ai.games.coatl.notation`. Records contain the random events."""

    name = "coatl"
    spends = ("actions_left",)
    level_errors: ClassVar = {
        2: (0.122, 2.95), 3: (0.095, 1.83), 4: (0.087, 1.17), 5: (0.075, 0.7), 6: (0.042, 0.0), 7: (0.026, 0.0),
        8: (0.0165, 0.0), 9: (0.003, 0.0),
    }  # fmt: skip
    options = (
        Option(
            "sacrifice_tokens",
            bool,
            "whether each seat has the three sacrifice tokens (default: it has)",
            default=True,
        ),
        Option(
            "strict_ends",
            bool,
            'whether "not next to" counts as broken at an open end (default: it does not)',
        ),
    )
    examples = ("--players 4 --no-sacrifice-tokens", "| mexica-ai show - --viewer 1")
    has_views = True

    parse_action = staticmethod(notation.parse_action)
    format_action = staticmethod(notation.format_action)
    parse_position = staticmethod(notation.parse_position)
    format_position = staticmethod(notation.format_position)
    parse_compact = staticmethod(compact.parse_compact)
    format_compact = staticmethod(compact.format_compact)
    new_state = staticmethod(notation.new_state)
    has_one_world = staticmethod(notation.has_one_world)
    viewer = staticmethod(notation.viewer)
    world_of = staticmethod(notation.world_of)
    view = staticmethod(notation.view)
    deal_for = staticmethod(notation.deal_for)
    draw_outcome = staticmethod(notation.draw_outcome)
    render = staticmethod(render.render)

    def is_secret(self, action, after):
        """Return whether only its seat knows which prophecies an action or event is about: they go unseen."""
        return action.split()[0] in ("keep", "deal", "discard")

    def why_illegal(self, state, action):
        """Return why an action is not legal."""
        return self._explain(legality.why_illegal, state, action)

    def from_message(self, data):
        """Set missing fields that may be null to None, and remove an empty memory."""
        for key in ("viewer", "ending"):
            data.setdefault(key, None)
        if not data.get("memory"):
            data.pop("memory", None)
        return data


CODEC = CoatlCodec()
