"""The layout of Tzolk'in's observations, which ``cext/games/tzolkin/tensor.pyx`` writes."""

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
        Field("last_gear", (6,), "1 for the gear where this turn placed or picked last; 5 is the starting space"),
        Field("last_space", (13,), "1 for the space where this turn picked last"),
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
