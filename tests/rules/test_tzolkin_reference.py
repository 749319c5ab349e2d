"""The rules of Tzolk'in in themselves: whole games of the reference, invariants by name and path, chance.

`MEXICA_AI_WALKS=20` makes the games twenty times as many; `MEXICA_AI_SEED` makes them others.
"""

import copy
import json
import os
import random
from collections import Counter

import pytest
from reference import tzolkin as reference
from tzolkin_builder import build
from tzolkin_implementations import IMPLEMENTATIONS
from tzolkin_walks import LEANINGS, MUST_OCCUR, choose, events, new_game

SCALE = int(os.environ.get("MEXICA_AI_WALKS", "1"))
SEED = int(os.environ.get("MEXICA_AI_SEED", "1325"))
GAMES = 20 * SCALE


def walk(players, seed, leaning, whole_points):
    """Play a game at random; yield every position with the action chosen and the next position."""
    rng = random.Random(seed)
    position = new_game(rng, players, leaning, whole_points)
    while not reference.is_over(position):
        if position["reveal"]:
            action = reference.draw(position, rng)
        else:
            legal = reference.legal_actions(position)
            assert legal
            assert legal == sorted(set(legal))
            action = choose(rng, leaning, legal)
        after = reference.apply(position, action)
        yield position, action, after
        position = after


def test_whole_games():
    """Every position of play obeys all invariants, nothing is lost, and all that matters occurs."""
    seen, lengths = Counter(), []
    for game in range(GAMES):
        players, leaning = 2 + game % 3, list(LEANINGS)[game // 3 % len(LEANINGS)]
        whole = game % 2 == 1
        seen.update([f"{players} seats", *(["whole points"] if whole else [])])
        length = 0
        for before, action, after in walk(players, SEED + game, leaning, whole):
            text = json.dumps(before)
            reference.check(after)
            # In other phases a view is the position itself, so only some are checked.
            for seat in range(players if after["phase"] == "keep" or length % 10 == 0 else 0):
                reference.check(reference.view(after, seat))
            assert json.dumps(before) == text  # as it was
            seen.update(events(before, action, after))
            length += not action.startswith("reveal")
        lengths.append(length)
    missing = [event for event in MUST_OCCUR if not seen[event]]
    assert not missing
    assert max(lengths) < 1000


@pytest.mark.parametrize("players", [2, 3, 4])
def test_determinize(players):
    position = reference.new_game(players, random.Random(SEED))
    position = reference.apply(position, reference.legal_actions(position)[0])
    for viewer in range(players):
        seen = reference.view(position, viewer)
        dealt = set()
        for seed in range(30):
            world = reference.determinize(seen, random.Random(seed))
            reference.check(world)
            assert reference.view(world, viewer) == seen
            others = [other for seat, other in enumerate(world["seats"]) if seat != viewer]
            dealt.update(tile for other in others for tile in other["dealt"])
        known = set(position["drawn"]) | set(position["seats"][viewer]["dealt"])
        assert dealt == set(reference.WEALTH) - known


@pytest.mark.parametrize(
    "event",
    ["reveal a1_farm_one", "reveal a1_farm_one a2_tomb_points", "reveal a1_shrine_architecture a1_farm_one",
     "reveal a1_civic_agriculture a1_civic_agriculture"],
)  # fmt: skip
def test_what_cannot_come_on_display(event):
    position = build(display=4, buildings=["a1_farm_all"], reveal=2)
    with pytest.raises(ValueError, match=r"reveal|come on display"):
        reference.apply(position, event)


def changed(path, value, **changes):
    """Return a legal position with one value changed."""
    position = build(**changes)
    *steps, last = path
    part = position
    for step in steps:
        part = part[step]
    part[last] = value
    return position


PICKING = {"phase": "picking", "gears": {"tikal": "..0", "palenque": "0"}}
PLACING = {"phase": "placing", "placed": 1, "last": "tikal", "gears": {"tikal": "0"}}
BROKEN = [
    ("WRONG_TYPE", "$.day", changed(["day"], 2.0)),
    ("WRONG_TYPE", "$.day", changed(["day"], True)),
    ("WRONG_TYPE", "$.seats[1].light", changed(["seats", 1, "light"], 1)),
    ("UNKNOWN_KEY", "$.colour", changed(["colour"], 1)),
    ("UNKNOWN_KEY", "$.seats[0].temples.zeus", changed(["seats", 0, "temples", "zeus"], 1)),
    ("BAD_VALUE", "$.phase", changed(["phase"], "begging")),
    ("BAD_VALUE", "$.display.buildings[0]", changed(["display", "buildings", 0], "a1_inn")),
    ("OUT_OF_RANGE", "$.seats[0].corn", changed(["seats", 0, "corn"], 1000)),
    ("OUT_OF_RANGE", "$.seats[0].wood", changed(["seats", 0, "wood"], -1)),
    ("OUT_OF_RANGE", "$.seats[2].temples.chaac", changed(["seats", 2, "temples", "chaac"], 6)),
    ("OUT_OF_RANGE", "$.seats[2].temples.chaac", changed(["seats", 2, "temples", "chaac"], -2)),
    ("OUT_OF_RANGE", "$.seats[2].technologies.theology",
     changed(["seats", 2, "technologies", "theology"], 4)),
    ("FOOD_DAYS", "$.food_days", changed(["food_days"], 1)),
    ("FOOD_DAYS", "$.food_days", changed(["food_days"], 0, day=10, food_days=1)),
    ("DAY", "$.day", changed(["phase"], "keep")),
    ("DAY", "$.day", changed(["phase"], "over")),
    ("GEARS", "$.gears.tikal", changed(["gears", "tikal"], "........1.")),
    ("GEARS", "$.gears.tikal", changed(["gears", "tikal"], "........")),
    ("GEARS", "$.gears.tikal", changed(["gears", "tikal"], ".3........", players=2)),
    ("IDLE_WORKERS", "$.gears", changed(["gears", "tikal"], "i.........")),
    ("WORKERS", "$.seats[0].workers", changed(["seats", 0, "workers"], 7)),
    ("WORKERS", "$.seats[0].workers", changed(["gears", "tikal"], "0000......")),
    ("START_SPACE", "$.start_space", changed(["start_space"], 0)),
    ("START_SPACE", "$.start_space", changed(["start_space"], 2, to_move=1)),
    ("START_SPACE", "$.start_space", changed(["start_space"], 0, **PLACING)),
    ("LAST", "$.last", changed(["last"], "uxmal", **PLACING)),
    ("LAST", "$.last", changed(["last"], "palenque 0", **PICKING)),
    ("LAST", "$.last", changed(["last"], "tikal 9", **PICKING)),
    ("LAST", "$.last", changed(["last"], "tikal")),
    ("PLACED", "$.placed", changed(["placed"], 1)),
    ("PLACED", "$.placed", changed(["placed"], 2, **PLACING)),
    ("PLACED", "$.placed", changed(["placed"], 0, **PLACING)),
    ("TEETH_CORN", "$.teeth_corn", changed(["teeth_corn"], 2)),
    ("TEETH_CORN", "$.teeth_corn", changed(["teeth_corn"], 1, to_move=1, start_space=0)),
    ("TOP_STEP", "$.seats[3].temples.chaac",
     changed(["seats", 3, "temples", "chaac"], 5, seats={1: {"temples": {"chaac": 5}}})),
    ("SKULLS", "$.skulls_placed", changed(["skulls_placed"], [3, 3])),
    ("SKULLS", "$.skulls_placed", changed(["skulls_placed"], [3], seats={1: {"skulls": 13}})),
    ("MONUMENTS", "$.display.monuments", changed(["display", "monuments"], [])),
    ("MONUMENTS", "$.display.monuments", changed(["seats", 0, "monuments"], ["m_tombs"])),
    ("TILE_COPIES", "$.display.buildings", changed(["seats", 0, "buildings"], ["a1_farm_one"])),
    ("BUILDING_AGE", "$.display.buildings[5]", changed(["display", "buildings", 5], "a2_farm_three")),
    ("BUILDING_AGE", "$.seats[0].buildings[0]", changed(["seats", 0, "buildings"], ["a2_farm_three"])),
    ("DISPLAY", "$.reveal", changed(["reveal"], 1)),
    ("DISPLAY", "$.reveal", changed(["reveal"], 0, display=4, reveal=2)),
    ("DISPLAY", "$.display.buildings", changed(["display", "buildings"], [], **PLACING)),
    ("FIELDS", "$.fields.wood[0]", changed(["fields", "wood", 0], 1)),
    ("FIELDS", "$.fields.wood[1]", changed(["fields", "wood", 1], 5)),
    ("FIELDS", "$.fields.corn[2]", changed(["fields", "corn", 2], 5)),
    ("HARVEST_TILES", "$.fields.corn", changed(["seats", 0, "corn_tiles"], 1)),
    ("HARVEST_TILES", "$.fields.wood", changed(["seats", 0, "wood_tiles"], 1)),
    ("WEALTH", "$.drawn", changed(["drawn"], ["w_pal1"])),
    ("WEALTH", "$.seats[0].wealth", changed(["seats", 0, "wealth"], ["w_pal1"])),
    ("WEALTH", "$.seats[1].wealth", changed(["seats", 1, "wealth"], ["w_pal7", "w_pal1"])),
    ("WEALTH", "$.seats[1].dealt", changed(["seats", 1, "dealt"], ["w_pal1"])),
    ("SCORE", "$.seats[1].score", changed(["seats", 1, "score"], 1.5)),
    ("SCORE", "$.seats[1].score", changed(["seats", 1, "score"], -1000)),
    ("PENDING", "$.pending", changed(["pending"], ["climb one"])),
    ("PENDING", "$.pending[0]", changed(["pending"], ["climb three"], **PICKING)),
    ("PENDING", "$.pending[0]", changed(["pending"], ["trade Ww"], **PICKING)),
    ("PENDING", "$.pending[0]", changed(["pending"], ["climb two"], **PICKING)),
    ("VIEWER_MISMATCH", "$.viewer", changed(["viewer"], 0)),
]  # fmt: skip


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda rules: rules.name)
def rules(request):
    return request.param


@pytest.mark.parametrize(("name", "path", "position"), BROKEN, ids=[f"{n} {p}" for n, p, _ in BROKEN])
def test_invariants(rules, name, path, position):
    with pytest.raises(reference.InvalidPositionError) as refused:
        rules.check(position)
    assert (refused.value.name, refused.value.path) == (name, path)


def test_invariants_of_phase_keep(rules):
    def refused(change, players=2):
        position = reference.new_game(players, random.Random(SEED))
        change(position)
        with pytest.raises(reference.InvalidPositionError) as error:
            rules.check(position)
        return error.value.name, error.value.path

    def replace_dealt(p, seat, tile):
        p["seats"][seat]["dealt"][0] = tile

    assert refused(lambda p: p["seats"][0]["dealt"].pop()) == ("WEALTH", "$.seats[0].dealt")
    assert refused(lambda p: p["seats"][0].update(wealth=p["seats"][0]["dealt"][:2])) == (
        "WEALTH", "$.seats[0].wealth")  # fmt: skip
    assert refused(lambda p: p.update(to_move=1)) == ("WEALTH", "$.seats[0].wealth")
    assert refused(lambda p: replace_dealt(p, 1, p["drawn"][0])) == ("WEALTH", "$.seats[1].dealt")
    assert refused(lambda p: p["drawn"].pop())[0] == "IDLE_WORKERS"
    assert refused(lambda p: p["drawn"].append("w_pal1"), 4) == ("IDLE_WORKERS", "$.drawn")
    assert refused(lambda p: p.update(start_space=0)) == ("START_SPACE", "$.start_space")
    assert refused(lambda p: replace_dealt(p, 0, "?")) == ("BAD_VALUE", "$.seats[0].dealt[0]")


def test_the_double_advance_must_be_possible_where_it_is_asked(rules):
    position = build(phase="advance", start_space=0)
    assert rules.legal(position) == ["advance 1", "advance 2"]

    def refused(**changes):
        with pytest.raises(reference.InvalidPositionError) as error:
            rules.check(copy.deepcopy(position) | changes)
        return error.value.name, error.value.path

    dark = copy.deepcopy(position["seats"])
    dark[0]["light"] = False
    assert refused(seats=dark) == ("START_SPACE", "$.start_space")
    assert refused(start_space=None) == ("START_SPACE", "$.start_space")
    assert refused(gears=position["gears"] | {"tikal": "......1..."}) == ("START_SPACE", "$.start_space")
    assert refused(day=27, food_days=4) == ("DAY", "$.day")


def test_the_end_is_written_in_one_way(rules):
    position = build(day=27, food_days=4, phase="over", display=0)
    rules.check(position)
    for key, value, name in (("start_space", 1, "START_SPACE"), ("food_days", 3, "FOOD_DAYS"), ("reveal", 1, "DISPLAY"),
                             ("to_move", 1, "OUT_OF_RANGE"), ("last", "tikal", "LAST"), ("placed", 1, "PLACED"),
                             ("pending", ["take 1"], "PENDING"), ("teeth_corn", 28, "OUT_OF_RANGE")):  # fmt: skip
        with pytest.raises(reference.InvalidPositionError) as error:
            rules.check(position | {key: value})
        assert (error.value.name, error.value.path) == (name, f"$.{key}")
