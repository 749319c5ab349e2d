"""The layouts of nim's observations and actions, which ``cext/games/nim/ops.pyx`` writes."""

from mexica_ai.game.schema import Field, Schema

SCHEMA = Schema(
    "nim",
    1,
    (
        Field("piles", (8,), "objects of each pile; 0 for piles that there are not", 63),
        Field("plies_left", (), "actions left in this turn", 3),
        Field("plies_per_turn", (), "actions of a turn", 3),
    ),
)

ACTIONS = Schema(
    "nim",
    1,
    (
        Field("pile", (8,), "1 for the pile"),
        Field("count", (), "objects that it takes", 63),
        Field("left", (), "objects that it leaves in the pile", 63),
        Field("ends_turn", (), "1 if it is the last action of the turn"),
        Field("wins", (), "1 if no object is left after it"),
    ),
    head=(),
)
