"""The layout of nim's observations, which `nim_observe` of ``cext/games/nim/ops.pyx`` writes."""

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
