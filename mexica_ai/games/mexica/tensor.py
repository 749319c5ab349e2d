"""The layout of Mexica's observations, which ``cext/games/mexica/tensor.pyx`` writes."""

from mexica_ai.game.schema import SEATS, Field, Schema

_BOARD = (14, 21)  # rows from 1, columns from A
_SIZES = (11,)  # of calpulli tokens, from 3 to 13

SCHEMA = Schema(
    "mexica",
    1,
    (
        Field("land", _BOARD, "1 for land, the palace too, under canals too; always the same"),
        Field("canals", _BOARD, "1 for spaces under canal tiles"),
        Field("bridges", (2, *_BOARD), "1 for bridges from north to south, and from west to east"),
        Field("temples", (SEATS, *_BOARD), "level of each seat's temple on a space, 0 for none", 4),
        Field("neutral_temples", _BOARD, "the same for the neutral temples", 4),
        Field("placed", _BOARD, "size of the calpulli token on a space, 0 for none", 13),
        Field("founded", _BOARD, "1 for dry spaces of districts with a token"),
        Field("pillis", (SEATS, *_BOARD), "1 where the seat's pilli stands"),
        Field("pool", _SIZES, "calpulli tokens of this game, by size", 4),
        Field("display", _SIZES, "those on display", 4),
        Field("removed", _SIZES, "those out of play", 4),
        Field("unseen", _SIZES, "those that have not been shown", 4),
        Field("scores", (SEATS,), "prestige points", 100),
        Field("action_tokens", (SEATS,), "action tokens of each seat", 6),
        Field("stock", (SEATS, 4), "temples that a seat can still build, by level from 1", 6),
        Field("phase", (3,), "1 for placement, play, over"),
        Field("period", (), "1 or 2", 2),
        Field("round", (), "from 1; 0 during placement", 30),
        Field("action_points", (), "left in this turn", 6),
        Field("tokens_taken", (), "action tokens taken in this turn", 2),
        Field("idle_rounds", (), "successive rounds without a building", 4),
        Field("built_this_round", (), "1 if something was built in this round"),
        Field("singles", (), "single canal tiles left", 6),
        Field("doubles", (), "double canal tiles left", 35),
        Field("bridges_left", (), "bridges in the supply", 11),
        Field("event", (), "1 if the deal of the second period is due"),
    ),
)
