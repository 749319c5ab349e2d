"""Tzolk'in as one object: its text forms, views, random events, pictures, training. Records contain the events."""

from cext.core.contract.game import State
from cext.games.tzolkin import ops
from cext.games.tzolkin.spec import CALIBRATION, SPEC
from mexica_ai.game.contract import Events, Game, Learning, Option, Picture, Reasons, Secrets, Starts, Text, Views
from mexica_ai.games.tzolkin import clicks, compact, draw, edit, effects, entry, legality, notation, tensor, words
from mexica_ai.games.tzolkin.render import render
from mexica_ai.games.tzolkin.teaching import TEACHING
from mexica_ai.games.tzolkin.training import varied
from mexica_ai.io.errors import PositionError
from mexica_ai.io.json_types import JsonObject

LEVEL_ERRORS = {
    4: (0.093, 1.55), 5: (0.072, 0.75), 6: (0.052, 0.0), 7: (0.033, 0.0), 8: (0.016, 0.0), 9: (0.005, 0.0)
}  # fmt: skip
OPTIONS = (Option("whole_points", bool, "whether final points for corn are rounded down (default: they are not)"),)


def is_secret(action: str, after: JsonObject) -> bool:
    """Return whether only its seat knows which tiles it keeps: until all seats have chosen."""
    return action.split()[0] == "keep" and after["phase"] == "keep"


def check_uncovered(state: State) -> None:
    """Refuse the last choice of wealth tiles: it shows what the others have kept.

    Raises
    ------
    PositionError
        Reason NOT_UNCOVERED, if it was made.
    """
    if notation.format_position(state)["phase"] != "keep":
        raise PositionError(
            "the last seat chooses, and the tiles of all seats are shown; expected the full position, in "
            "which they are known",
            reason="NOT_UNCOVERED",
            path="position.seats",
        )


def from_message(data: JsonObject) -> JsonObject:
    """Put null where a message leaves out what may be null, and write whole points as integers."""
    for key in ("viewer", "start_space"):
        data.setdefault(key, None)
    for seat in data.get("seats", []):
        if isinstance(seat.get("score"), float) and seat["score"].is_integer():
            seat["score"] = int(seat["score"])
    return data


GAME = Game(
    "tzolkin",
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
    starts=Starts(notation.new_state, OPTIONS, ("--players 4 --whole-points",)),
    board=render,
    title="Tzolk'in",
    scores=notation.scores,
    views=Views(notation.view, notation.viewer, notation.world_of, ops.deal_for, is_secret, check_uncovered),
    secrets=Secrets(notation.has_one_world),
    events=Events(ops.draw_outcome),
    picture=Picture(draw.draw, draw.PARTS, entry.TOOLS, entry.entry, entry.describe),
    editor=edit.EDITOR,
    reasons=Reasons(legality.why_illegal, effects.describe, ("corn", "wood", "stone", "gold"), effects.serves),
    clicks=clicks.CLICKS,
    words=words.WORDS,
    learning=Learning(tensor.SCHEMA, SPEC, varied, CALIBRATION, actions=tensor.ACTIONS),
    teaching=TEACHING,
    level_errors=LEVEL_ERRORS,
)
