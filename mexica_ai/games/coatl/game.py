"""Coatl as one object: its text forms, views, random events, pictures, training. Records contain the events."""

from cext.games.coatl import hidden, ops
from cext.games.coatl.spec import CALIBRATION, SPEC
from mexica_ai.game.contract import Events, Game, Learning, Option, Picture, Reasons, Secrets, Starts, Text, Views
from mexica_ai.games.coatl import (
    clicks,
    compact,
    draw,
    edit,
    effects,
    entry,
    legality,
    notation,
    planner,
    tensor,
    words,
)
from mexica_ai.games.coatl.render import render
from mexica_ai.games.coatl.teaching import TEACHING
from mexica_ai.io.json_types import JsonObject

LEVEL_ERRORS = {
    2: (0.122, 2.95), 3: (0.095, 1.83), 4: (0.091, 1.5), 5: (0.083, 1.1), 6: (0.077, 0.75), 7: (0.06, 0.3),
    8: (0.035, 0.0), 9: (0.003, 0.0),
}  # fmt: skip
OPTIONS = (
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


def is_secret(action: str, after: JsonObject) -> bool:
    """Return whether only its seat knows which prophecies an action or event is about: they go unseen."""
    return action.split()[0] in ("keep", "deal", "discard")


def from_message(data: JsonObject) -> JsonObject:
    """Set missing fields that may be null to None, and remove an empty memory."""
    for key in ("viewer", "ending"):
        data.setdefault(key, None)
    if not data.get("memory"):
        data.pop("memory", None)
    return data


GAME = Game(
    "coatl",
    rules=ops.GAME,
    text=Text(
        notation.parse_action,
        notation.format_action,
        notation.parse_position,
        notation.format_position,
        compact.format_compact,
        compact.parse_compact,
        from_message,
    ),
    starts=Starts(notation.new_state, OPTIONS, ("--players 4 --no-sacrifice-tokens", "| mexica-ai show - --viewer 1")),
    board=render,
    views=Views(notation.view, notation.viewer, notation.world_of, hidden.deal_for, is_secret),
    secrets=Secrets(notation.has_one_world),
    events=Events(ops.draw_outcome),
    picture=Picture(draw.draw, draw.PARTS, entry.TOOLS, entry.entry, entry.describe),
    editor=edit.EDITOR,
    reasons=Reasons(legality.why_illegal, effects.describe, ("actions_left",), effects.serves),
    clicks=clicks.CLICKS,
    words=words.WORDS,
    learning=Learning(tensor.SCHEMA, SPEC, calibration=CALIBRATION, planner=planner.plan_turn, actions=tensor.ACTIONS),
    teaching=TEACHING,
    level_errors=LEVEL_ERRORS,
)
