"""The layouts of Tzolk'in's observations and actions, which ``cext/games/tzolkin/tensor.pyx`` writes."""

from mexica_ai.game.schema import SEATS, Field, Schema

_GEARS, _SPACES = 5, 13
_BUILDINGS, _MONUMENTS, _WEALTH = (27,), (13,), (21,)

SCHEMA = Schema(
    "tzolkin",
    1,
    (
        Field("workers", (SEATS, _GEARS, _SPACES), "1 where a seat has a worker, by gear and space"),
        Field("idle_workers", (_GEARS, _SPACES), "1 where an idle worker stands"),
        Field(
            "seats",
            (SEATS, 19),
            "points, corn, skulls, workers in play, 1 for the double advance, corn tiles, wood tiles, workers fed "
            "free, corn less a worker, wood, stone, gold, steps of the 3 temples (from -1), levels of the 4 "
            "technologies",
            10,
        ),
        Field("buildings", (SEATS, *_BUILDINGS), "buildings of a seat, by kind", 3),
        Field("monuments", (SEATS, *_MONUMENTS), "1 for the monuments of a seat"),
        Field("wealth", (SEATS, *_WEALTH), "1 for wealth tiles kept; of other seats once all have chosen"),
        Field("dealt", (SEATS, *_WEALTH), "1 for wealth tiles dealt to the viewer, while tiles are kept; else 0"),
        Field("display", _BUILDINGS, "buildings on display, by kind", 3),
        Field("open_monuments", _MONUMENTS, "1 for monuments on display"),
        Field("skulls_placed", (10,), "1 for the actions of Chichen Itza with a skull, from 0"),
        Field("corn_fields", (4,), "corn tiles of Palenque 2 to 5", 4),
        Field("wood_fields", (4,), "wood tiles on them", 4),
        Field("drawn", _WEALTH, "1 for wealth tiles that placed the idle workers, while tiles are kept"),
        Field("phase", (6,), "1 for keep, turn, placing, picking, advance, over"),
        Field("start_player", (SEATS,), "1 for the starting player"),
        Field("start_space", (SEATS,), "1 for the seat on the starting player space"),
        Field(
            "last_gear",
            (6,),
            "1 for the gear where this turn placed last, or took a worker without an action; 5 is the starting space",
        ),
        Field("last_space", (13,), "1 for the space where it took a worker without an action; 0 while it places"),
        Field(
            "pending",
            (16, 30),
            "decisions that this turn owes, the one that is due first: 1 for its kind (24), then for what a visit to "
            "the market has sold (3) and bought (3)",
        ),
        Field("day", (), "from 1", 27),
        Field("food_days", (), "food days held", 4),
        Field("placed", (), "workers placed in this turn", 6),
        Field("reveal", (), "buildings that come on display next", 6),
        Field("teeth_corn", (), "corn on the starting player space", 10),
        Field("whole_points", (), "1 with this option"),
    ),
)

ACTIONS = Schema(
    "tzolkin",
    1,
    (
        Field(
            "verb",
            (16,),
            "1 for keep, beg, place, pick, harvest, burn, research, build, climb, take, sell, buy, use, done, end, "
            "advance",
        ),
        Field("gear", (6,), "1 for the gear; the last is the starting space"),
        Field("space", (13,), "1 for the space where it picks, or where its worker is placed"),
        Field("used", (9,), "1 for the action of the gear that it uses, from 1"),
        Field("building", _BUILDINGS, "1 for the building"),
        Field("monument", _MONUMENTS, "1 for the monument"),
        Field("wealth", _WEALTH, "1 for the wealth tiles that it keeps"),
        Field("temples", (3,), "1 for the temples on which it climbs or descends"),
        Field("track", (4,), "1 for the technology"),
        Field("blocks", (3,), "wood, stone and gold that it names, paid or taken; of a trade 1 for the kind", 3),
        Field("number", (), "blocks of a trade; days; 1 to harvest wood", 4),
        Field("architecture", (), "1 if it uses architecture"),
        Field(
            "gains",
            (6,),
            "what it adds to the own points, corn, skulls, workers in play, workers on the board, double advances; "
            "while tiles are kept 0, as the next ones",
            4,
        ),
        Field("gained_blocks", (3,), "what it adds to wood, stone and gold", 3),
        Field("steps", (3,), "what it adds to the steps of the temples", 2),
        Field("levels", (4,), "what it adds to the levels of the technologies"),
        Field("ends_turn", (), "1 if it ends the turn"),
    ),
    head=(),
)
