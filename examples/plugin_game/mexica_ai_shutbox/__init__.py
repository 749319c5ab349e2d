"""Shut the Box for mexica-ai. Nothing is hidden; the rolls are events of a record."""

from mexica_ai.game.contract import Events, Game, Option, Starts, Text
from mexica_ai_shutbox import ops, text

ONE_DIE = Option("one_die", bool, "whether one die is rolled when 7, 8 and 9 are shut (default: two are)")

GAME = Game(
    "shutbox",
    rules=ops.GAME,
    text=Text(text.parse_action, text.format_action, text.parse_position, text.format_position),
    starts=Starts(text.new_state, (ONE_DIE,), ("--players 3 --one-die",)),
    board=text.render,
    title="Shut the Box",
    events=Events(text.draw_outcome),
)
