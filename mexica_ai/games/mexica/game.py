"""Mexica as one object: its text forms, its pictures, its training, and the tokens of the second period.

If the pool has more than fifteen tokens, those of the second period are hidden. They are hidden from all seats, so
there are no views. A full position contains them, and the end of period 1 deals them from it.
"""

from cext.core.contract.game import State
from cext.games.mexica import ops
from cext.games.mexica.spec import CALIBRATION, SPEC
from mexica_ai.game.contract import Events, Game, Learning, Option, Picture, Proposals, Reasons, Secrets, Starts, Text
from mexica_ai.games.mexica import (
    board,
    clicks,
    compact,
    draw,
    edit,
    effects,
    entry,
    legality,
    notation,
    removal,
    tensor,
    words,
)
from mexica_ai.games.mexica.render import render
from mexica_ai.games.mexica.teaching import TEACHING
from mexica_ai.io.errors import PositionError
from mexica_ai.io.json_types import JsonObject

LEVEL_ERRORS = {
    1: (0.145, 4.6), 2: (0.128, 2.7), 3: (0.118, 1.75), 4: (0.098, 1.27), 5: (0.112, 1.09), 6: (0.1, 0.5),
    7: (0.2, 0.0), 8: (0.055, 0.0), 9: (0.02, 0.0),
}  # fmt: skip
OPTIONS = (
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
        "levels of the neutral temples of a game of two, separated by commas (default: 1,1,1,1,2,2,2,3,3,4)",
        flag="--neutral",
        metavar="LEVELS",
        default=board.STANDARD_NEUTRAL_LEVELS,
    ),
)
EXAMPLES = (
    "--players 2 --neutral 4,3,2,1,1 | mexica-ai show -",
    "--pool 3,3,4,4,5,5,6,6,7,7,8,8,9,10,11,12,13",
)


def redact(data: JsonObject) -> JsonObject:
    """Return the position without the tokens of the second period."""
    data["calpulli"].pop("upcoming", None)
    return data


def settle_chance(state: State) -> None:
    """Deal the tokens of the second period, which the position must know.

    Raises
    ------
    PositionError
        The position does not know them; reason UPCOMING_UNKNOWN.
    """
    if not notation.has_one_world(state):
        raise PositionError(
            "position.calpulli.upcoming: unknown, but this turn ends the first period; expected the "
            "second period's tokens in the position",
            reason="UPCOMING_UNKNOWN",
            path="position.calpulli.upcoming",
        )
    state.resolve_chance(0)  # the tokens are known, so the seed has no effect


def from_message(data: JsonObject) -> JsonObject:
    """Remove the two lists that were not given if they are empty."""
    calpulli = data.get("calpulli", {})
    if not calpulli.get("pool"):
        calpulli.pop("pool", None)
    if data.get("period") == 1 and not calpulli.get("upcoming"):
        calpulli.pop("upcoming", None)
    return data


GAME = Game(
    "mexica",
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
    starts=Starts(notation.new_state, OPTIONS, EXAMPLES),
    board=render,
    secrets=Secrets(notation.has_one_world, redact),
    events=Events(settle_chance=settle_chance),
    picture=Picture(draw.draw, draw.PARTS, entry.TOOLS, entry.entry, entry.describe, entry.GRID),
    editor=edit.EDITOR,
    reasons=Reasons(
        legality.why_illegal, effects.describe, ("action_points", "action_tokens"), stocks=ops.state_to_fields
    ),
    clicks=clicks.CLICKS,
    words=words.WORDS,
    learning=Learning(tensor.SCHEMA, SPEC, calibration=CALIBRATION, actions=tensor.ACTIONS),
    proposals=Proposals(
        removal.offered,
        removal.judge,
        "Agree to remove …",
        "If all agree that a token can no longer be founded, it is removed.",
    ),
    teaching=TEACHING,
    level_errors=LEVEL_ERRORS,
)
