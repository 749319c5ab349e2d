"""The layouts of Mexica's observations and actions, which ``cext/games/mexica/tensor.pyx`` writes."""

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
        Field("idle_rounds", (), "idle rounds in a row", 4),
        Field("built_this_round", (), "1 if something was built in this round"),
        Field("singles", (), "single canal tiles left", 6),
        Field("doubles", (), "double canal tiles left", 35),
        Field("bridges_left", (), "bridges in the supply", 11),
        Field("event", (), "1 if the deal of the second period is due"),
    ),
)

ACTIONS = Schema(
    "mexica",
    1,
    (
        Field("verb", (11,), "1 for place, canal, bridge, relocate, found, temple, walk, sail, teleport, token, end"),
        Field("row", (14,), "1 for the row of its space, from 1; of a relocated bridge the old space"),
        Field("column", (21,), "1 for the column, from A"),
        Field("second_row", (14,), "the same for the second space of a canal, the new space of a bridge"),
        Field("second_column", (21,), "the same"),
        Field("axis", (2,), "1 for a bridge from north to south, from west to east"),
        Field("level", (), "of the temple", 4),
        Field("double", (), "1 for a canal of two spaces"),
        Field("cost", (), "action points or tokens that it takes", 6),
        Field("distance", (), "from the own pilli to its space, in rows and columns", 8),
        Field("in_district", (), "1 if its space is in the district of the own pilli"),
        Field("in_founded", (), "1 if its space is in a founded district"),
        Field("water", (), "canal spaces next to it that have no bridge; the lake does not count", 4),
        Field("buildings", (), "next to it", 4),
        Field("is_start", (), "1 for a starting space"),
        Field("is_ramp", (), "1 for a space next to the end of a bridge"),
        Field("district", (), "spaces of the district of its space; 0 in the water", 30),
        Field("display", (), "calpulli tokens of that size on display", 2),
        Field("points", (), "that founding brings at once", 10),
        Field("scoring", (), "what founding or a temple adds to the own points in a scoring of the period", 10),
        Field("rivals", (), "what it adds to the points of the rivals, at once and in a scoring", 10),
        Field("plan_worth", (), "estimated worth of the best founding that a canal or bridge prepares", 10),
        Field("plan_cost", (), "action points until then", 6),
    ),
    head=(),
)
