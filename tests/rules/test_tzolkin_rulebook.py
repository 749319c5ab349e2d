"""The rulebook's remarks and examples of Tzolk'in, chapter by chapter, and the decisions D1-D20.

The expected outcomes are derived from the rulebook by hand.
"""

from random import Random

import pytest
from reference.tzolkin import FACTS, FOOD_DAYS, LAST_DAY, MONUMENTS, TEMPLES, new_game, place_idle_workers
from tzolkin_builder import build
from tzolkin_implementations import IMPLEMENTATIONS

PLENTY = {"corn": 20, "wood": 9, "stone": 9, "gold": 9}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda rules: rules.name)
def rules(request):
    return request.param


def of(verb, legal):
    return [action for action in legal if action.split()[0] == verb]


def last_turn_of_round(day, seats, players=4, **changes):
    """Return a position in which `pick palenque 0` and `end` by the last seat close the round of a day."""
    changes.setdefault("gears", {"palenque": str(players - 1)})
    held = sum(food_day < day for food_day in FOOD_DAYS)
    return build(
        players,
        day=day,
        food_days=changes.pop("food_days", held),
        to_move=players - 1,
        seats=seats,
        **changes,
    )


def close_round(rules, position):
    return rules.play(position, "pick palenque 0", "end")


def has(seat, *keys):
    """Return what a seat has: stocks, and where its markers stand."""
    everything = seat | seat["temples"] | seat["technologies"]
    return tuple(everything[key] for key in keys)


def gained(before, after, key="score"):
    return [late[key] - early[key] for early, late in zip(before["seats"], after["seats"], strict=True)]


# The examples with numbers.


@pytest.mark.parametrize(
    ("spaces", "corn"),
    [
        ([0, 0, 2], 5),
        ([3, 4], 8),
        ([0, 0, 0], 3),
        ([1, 2], 4),
        ([1, 2, 1], 7),
        ([2, 0], 3),
        ([0, 4], 5),
        ([0], 0),
    ],
)
def test_cost_of_placing(rules, spaces, corn):
    names = ["palenque", "yaxchilan", "tikal"][: len(spaces)]
    blockers = iter("111222333")
    gears = {gear: "".join(next(blockers) for _ in range(space)) for gear, space in zip(names, spaces, strict=True)}
    position = build(gears=gears, seats={0: {"corn": corn}})
    placed = [f"place {gear}" for gear in names]
    after = rules.play(position, *placed)
    assert after["seats"][0]["corn"] == 0
    assert [after["gears"][gear].index("0") for gear in names] == spaces
    if corn:
        position["seats"][0]["corn"] = corn - 1
        assert placed[-1] not in rules.legal(rules.play(position, *placed[:-1]))


def test_green_places_round_a_worker_that_stands_there(rules):
    """The rulebook's example: red stands on 1, so green takes 0 and 2 in Palenque and 0 in Yaxchilan."""
    position = build(gears={"palenque": ".1"}, seats={0: {"corn": 5, "workers": 4}})
    after = rules.play(position, "place palenque", "place palenque", "place yaxchilan")
    assert (after["gears"]["palenque"][:4], after["gears"]["yaxchilan"][0]) == ("010.", "0")
    assert after["seats"][0]["corn"] == 0
    assert rules.legal(after) == ["end"]


TEMPLE_EXAMPLE = {
    seat: {"corn": 6, "temples": dict(zip(TEMPLES, steps, strict=True))}
    for seat, steps in enumerate([(1, 0, 5), (3, 0, 3), (3, 0, -1)])
}


@pytest.mark.parametrize(("day", "points"), [(14, [16, 15, 7]), (27, [18, 15, 7])])
def test_temples_at_the_end_of_an_age(rules, day, points):
    position = last_turn_of_round(day, TEMPLE_EXAMPLE, players=3)
    assert gained(position, close_round(rules, position)) == points


@pytest.mark.parametrize("day", [8, 21])
def test_temples_in_the_middle_of_an_age(rules, day):
    position = last_turn_of_round(day, TEMPLE_EXAMPLE, players=3)
    after = close_round(rules, position)
    got = {key: gained(position, after, key) for key in ("wood", "stone", "gold", "skulls", "score")}
    assert got == {
        "wood": [2, 2, 0],
        "stone": [1, 2, 2],
        "gold": [0, 0, 0],
        "skulls": [1, 0, 0],
        "score": [0, 0, 0],
    }


@pytest.mark.parametrize(
    ("workers", "corn", "farms", "left", "points"),
    [
        (3, 5, [], 1, -3),
        (5, 9, ["a1_farm_one", "a1_farm_one", "a1_farm_all"], 6, 0),
        (3, 0, ["a1_farm_all", "a1_farm_all"], 0, 0),
        (6, 4, ["a1_farm_one"], 0, -9),
        (3, 4, ["a1_farm_one", "a1_farm_one", "a1_farm_one"], 4, 0),
        (3, 1, [], 1, -9),
    ],
)
def test_feeding(rules, workers, corn, farms, left, points):
    position = last_turn_of_round(8, {0: {"workers": workers, "corn": corn, "buildings": farms}})
    after = close_round(rules, position)
    assert (after["seats"][0]["corn"], after["seats"][0]["score"]) == (left, points)


def test_a_farm_for_three_and_a_wealth_tile_that_feeds_one(rules):
    position = last_turn_of_round(
        21, {0: {"workers": 6, "corn": 10, "buildings": ["a2_farm_three"], "wealth": ["w_uxm3", "w_uxm5"]}}
    )
    assert close_round(rules, position)["seats"][0]["corn"] == 6


def test_the_first_two_rounds(rules):
    """The rulebook's example, green, blue, red, yellow; blue cannot pay for a third worker."""
    green, blue, red, yellow = range(4)
    position = build(day=1, seats={green: {"corn": 3}, blue: {"corn": 6}, red: {"corn": 8}, yellow: {"corn": 8}})
    position = rules.play(position, "place palenque", "place yaxchilan", "place tikal", "end")
    assert position["seats"][green]["corn"] == 0
    position = rules.play(position, "place palenque", "place palenque")
    assert position["seats"][blue]["corn"] == 2
    assert "place palenque" not in rules.legal(position)
    position = rules.play(position, "end", "place yaxchilan", "place yaxchilan", "place tikal", "end")
    assert position["seats"][red]["corn"] == 1
    position = rules.play(position, "place tikal", "place start", "end")
    assert position["seats"][yellow]["corn"] == 5
    assert rules.legal(position) == ["advance 1", "advance 2"]
    assert position["to_move"] == yellow
    position = rules.play(position, "advance 1")
    assert (position["day"], position["start_player"], position["to_move"]) == (2, yellow, yellow)
    assert position["seats"][yellow]["light"]
    assert position["gears"] == {
        "palenque": ".011......",
        "yaxchilan": ".022......",
        "tikal": ".023......",
        "uxmal": "..........",
        "chichen_itza": ".............",
    }

    position = rules.play(position, "place palenque", "place palenque", "end")
    assert position["gears"]["palenque"] == "30113....."
    assert position["seats"][yellow]["corn"] == 0
    assert not of("place", rules.legal(position))
    position = rules.play(position, "pick yaxchilan 1 1", "pick tikal 1 1")
    assert of("research", rules.legal(position)) == [
        "research agriculture W",
        "research architecture W",
        "research extraction W",
        "research theology W",
    ]
    position = rules.play(position, "research agriculture W", "end")
    assert position["seats"][green]["technologies"]["agriculture"] == 1
    assert position["seats"][green]["wood"] == 0
    corn = position["seats"][blue]["corn"]
    position = rules.play(position, "place tikal", "end")
    assert position["gears"]["tikal"][0] == "1"
    assert position["seats"][blue]["corn"] == corn
    position = rules.play(position, "pick yaxchilan 3 3", "end")
    assert (position["seats"][red]["gold"], position["seats"][red]["corn"]) == (1, 3)
    assert (position["day"], position["teeth_corn"], position["to_move"]) == (3, 1, yellow)


# Begging and mercy.


@pytest.mark.parametrize("corn", [0, 1, 2, 3])
def test_begging(rules, corn):
    position = build(seats={0: {"corn": corn, "temples": {"chaac": -1}}})
    begs = of("beg", rules.legal(position))
    assert begs == (["beg kukulcan", "beg quetzalcoatl"] if corn < 3 else [])
    if begs:
        after = rules.play(position, "beg kukulcan")
        assert (after["seats"][0]["corn"], after["seats"][0]["temples"]["kukulcan"]) == (3, -1)
        assert after["phase"] == "turn"
        assert not of("beg", rules.legal(after))


FULL_LOW = {"palenque": "1", "yaxchilan": "11", "tikal": "2", "uxmal": "22", "chichen_itza": "33"}


def test_who_cannot_place_must_beg(rules):
    position = build(gears=FULL_LOW, start_space=3, start_player=1, seats={0: {"corn": 0}})
    assert rules.legal(position) == ["beg chaac", "beg kukulcan", "beg quetzalcoatl"]


def test_mercy(rules):
    """All markers lowest, no worker out, corn below the cheapest space: one worker, all corn (D5)."""
    position = build(
        gears=FULL_LOW | {"palenque": "12", "tikal": "12"},
        start_space=3,
        start_player=1,
        seats={0: {"corn": 1, "temples": dict.fromkeys(TEMPLES, -1)}, 1: {"workers": 4}, 2: {"workers": 4}},
    )
    assert rules.legal(position) == [
        "place chichen_itza",
        "place palenque",
        "place tikal",
        "place uxmal",
        "place yaxchilan",
    ]
    after = rules.play(position, "place tikal")
    assert after["seats"][0]["corn"] == 0
    assert rules.legal(after) == ["end"]


def test_mercy_only_on_a_cheapest_space(rules):
    position = build(
        gears=FULL_LOW,
        start_space=3,
        start_player=1,
        seats={0: {"corn": 0, "temples": dict.fromkeys(TEMPLES, -1)}},
    )
    assert rules.legal(position) == ["place palenque", "place tikal"]


# Picking up.


def test_lower_actions_cost_corn_before_their_effect(rules):
    position = build(gears={"yaxchilan": "..00"}, seats={0: {"corn": 0, "temples": dict.fromkeys(TEMPLES, -1)}})
    assert "pick yaxchilan 3 2" not in rules.legal(position)
    after = rules.play(position, "pick yaxchilan 2 2", "pick yaxchilan 3 2")
    assert (after["seats"][0]["stone"], after["seats"][0]["corn"]) == (2, 1)


def test_the_last_actions_choose_freely(rules):
    position = build(
        gears={"yaxchilan": "......0", "chichen_itza": "..........0"},
        skulls_placed=[3, 7],
        seats={0: {"skulls": 1}},
    )
    legal = rules.legal(position)
    assert [action for action in of("pick", legal) if "yaxchilan" in action] == [
        "pick yaxchilan 6",
        *(f"pick yaxchilan 6 {action}" for action in range(1, 6)),
    ]
    assert [action for action in of("pick", legal) if "chichen" in action] == [
        "pick chichen_itza 10",
        *(f"pick chichen_itza 10 {action}" for action in (1, 2, 4, 5, 6, 8, 9)),
    ]


def test_workers_without_an_action_come_last_and_in_order(rules):
    position = build(gears={"palenque": "0", "yaxchilan": ".0.0"}, seats={0: {"corn": 0, "workers": 4}})
    after = rules.play(position, "pick yaxchilan 1")
    assert rules.legal(after) == ["end", "pick yaxchilan 3"]


def test_placing_in_board_order(rules):
    after = rules.play(build(seats={0: {"corn": 9}}), "place tikal")
    assert rules.legal(after) == ["end", "place chichen_itza", "place start", "place tikal", "place uxmal"]
    assert rules.legal(rules.play(after, "place start")) == ["end"]


# Palenque.


def harvest(**changes):
    seat = {"corn": 0, **changes.pop("seat", {})}
    return build(pending=["harvest 3"], seats={0: seat}, **changes)


def test_wood_covers_corn(rules):
    position = harvest()
    assert rules.legal(position) == ["burn chaac", "burn kukulcan", "burn quetzalcoatl", "harvest wood"]
    after = rules.play(position, "harvest wood")
    assert (after["seats"][0]["wood"], after["seats"][0]["wood_tiles"]) == (2, 1)
    assert (after["fields"]["corn"], after["fields"]["wood"]) == ([4, 4, 4, 4], [0, 3, 4, 4])


def test_burning(rules):
    after = rules.play(harvest(), "burn chaac")
    assert has(after["seats"][0], "corn", "corn_tiles", "wood_tiles", "chaac") == (5, 1, 0, -1)
    assert (after["fields"]["corn"][1], after["fields"]["wood"][1]) == (3, 3)


def test_burning_where_corn_lies_open_but_not_from_the_lowest_steps(rules):
    fields = {"corn": [4, 4, 4, 4], "wood": [0, 2, 4, 4]}
    assert rules.legal(harvest(fields=fields, seat={"temples": {"chaac": -1}})) == [
        "burn kukulcan",
        "burn quetzalcoatl",
        "harvest corn",
        "harvest wood",
    ]
    lowest = {"temples": dict.fromkeys(TEMPLES, -1)}
    assert rules.legal(harvest(fields=fields, seat=lowest)) == ["harvest corn", "harvest wood"]


def test_two_harvests_of_red(rules):
    """The rulebook's example: wood at 3, then 4 burns; or wood at 3, and 4 pays a corn for the corn laid open."""
    position = build(gears={"palenque": ".0.00"}, seats={0: {"corn": 1}})
    position = rules.play(position, "pick palenque 3 3", "harvest wood")
    burnt = rules.play(position, "pick palenque 4 4", "burn kukulcan")
    assert has(burnt["seats"][0], "corn", "wood", "corn_tiles", "wood_tiles", "kukulcan") == (8, 2, 1, 1, -1)
    paid = rules.play(position, "pick palenque 4 3", "harvest corn", "end")
    assert has(paid["seats"][0], "corn", "wood", "corn_tiles", "wood_tiles", "kukulcan") == (5, 2, 1, 1, 0)
    assert paid["gears"]["palenque"] == ".0........"
    position["seats"][0]["corn"] = 0
    assert "pick palenque 4 3" not in rules.legal(position)


@pytest.mark.parametrize(("level", "corn"), [(2, 6), (3, 8)])
def test_agriculture_brings_corn_without_a_tile(rules, level, corn):
    after = rules.play(harvest(seat={"technologies": {"agriculture": level}}), "harvest corn")
    assert (after["seats"][0]["corn"], after["seats"][0]["corn_tiles"]) == (corn, 0)
    assert after["fields"]["corn"] == [4, 4, 4, 4]


def test_agriculture_takes_an_open_tile_all_the_same(rules):
    fields = {"corn": [4, 4, 4, 4], "wood": [0, 3, 4, 4]}
    after = rules.play(harvest(fields=fields, seat={"technologies": {"agriculture": 2}}), "harvest corn")
    assert (after["seats"][0]["corn"], after["seats"][0]["corn_tiles"]) == (6, 1)


@pytest.mark.parametrize(("level", "corn"), [(0, 3), (1, 3), (2, 4), (3, 4)])
def test_fishing(rules, level, corn):
    position = build(gears={"palenque": ".0"}, seats={0: {"technologies": {"agriculture": level}}})
    assert rules.play(position, "pick palenque 1 1")["seats"][0]["corn"] == corn


def test_an_empty_field(rules):
    fields = {"corn": [0, 0, 4, 4], "wood": [0, 0, 4, 4]}
    position = build(gears={"palenque": "...0"}, fields=fields, seats={0: {"corn": 5}})
    assert "pick palenque 3 1" in rules.legal(position)
    assert not {"pick palenque 3 2", "pick palenque 3 3"} & set(rules.legal(position))


# Yaxchilan, technologies.


@pytest.mark.parametrize(
    ("action", "level", "got"),
    [
        (1, 0, {"wood": 1}),
        (1, 1, {"wood": 2}),
        (2, 1, {"stone": 1, "corn": 1}),
        (2, 2, {"stone": 2, "corn": 1}),
        (3, 2, {"gold": 1, "corn": 2}),
        (3, 3, {"gold": 2, "corn": 2}),
        (5, 0, {"gold": 1, "stone": 1, "corn": 2}),
        (5, 2, {"gold": 1, "stone": 2, "corn": 2}),
        (5, 3, {"gold": 2, "stone": 2, "corn": 2}),
    ],
)
def test_yaxchilan(rules, action, level, got):
    position = build(gears={"yaxchilan": "." * action + "0"}, seats={0: {"technologies": {"extraction": level}}})
    seat = rules.play(position, f"pick yaxchilan {action} {action}")["seats"][0]
    assert {kind: seat[kind] for kind in ("corn", "wood", "stone", "gold", "skulls") if seat[kind]} == got


@pytest.mark.parametrize(("level", "bank", "got"), [(0, 5, 1), (2, 5, 1), (3, 5, 2), (3, 1, 1)])
def test_skulls(rules, level, bank, got):
    position = build(
        gears={"yaxchilan": "....0"},
        seats={0: {"technologies": {"theology": level}}, 1: {"skulls": 13 - bank}},
    )
    assert rules.play(position, "pick yaxchilan 4 4")["seats"][0]["skulls"] == got


def test_no_skull_left(rules):
    position = build(gears={"yaxchilan": "....0"}, seats={0: {"corn": 3}, 1: {"skulls": 12}}, skulls_placed=[9])
    assert "pick yaxchilan 4 4" not in rules.legal(position)
    assert "pick yaxchilan 4 3" in rules.legal(position)


def test_research_costs_a_block_for_each_level(rules):
    levels = {"agriculture": 0, "extraction": 1, "architecture": 2, "theology": 3}
    position = build(pending=["research one"], seats={0: {"wood": 2, "gold": 1, "technologies": levels}})
    assert rules.legal(position) == [
        "research agriculture G",
        "research agriculture W",
        "research architecture WWG",
        "research extraction WG",
        "research extraction WW",
        "research theology G",
        "research theology W",
    ]
    after = rules.play(position, "research architecture WWG")
    assert after["seats"][0]["technologies"]["architecture"] == 3
    assert (after["seats"][0]["wood"], after["seats"][0]["gold"]) == (0, 0)


def test_bonuses_beyond_level_3(rules):
    full = dict.fromkeys(("agriculture", "extraction", "architecture", "theology"), 3)
    position = build(pending=["research two"], seats={0: {"wood": 3, "technologies": full}})
    assert rules.play(position, "research agriculture W")["pending"] == ["climb one", "research more"]
    assert rules.play(position, "research extraction W")["pending"] == ["take 2", "research more"]
    assert rules.play(position, "research architecture W")["seats"][0]["score"] == 3
    assert rules.play(position, "research theology W")["seats"][0]["skulls"] == 1
    again = rules.play(position, "research architecture W", "research architecture W")
    assert (again["seats"][0]["score"], again["pending"]) == (6, [])


def test_a_bonus_that_brings_nothing_is_not_offered(rules):
    top = {"chaac": 5, "quetzalcoatl": 7, "kukulcan": 6}
    full = dict.fromkeys(("agriculture", "extraction", "architecture", "theology"), 3)
    position = build(
        pending=["research free one"], seats={0: {"temples": top, "technologies": full}, 1: {"skulls": 13}}
    )
    assert rules.legal(position) == ["research architecture", "research extraction"]


def test_the_second_advance_is_optional(rules):
    position = build(pending=["research two"], seats={0: {"wood": 2}})
    after = rules.play(position, "research theology W")
    assert "done" in rules.legal(after)
    assert rules.play(after, "done")["pending"] == []
    position["seats"][0]["wood"] = 1
    assert rules.play(position, "research theology W")["pending"] == []  # nothing left to pay with


# Building.


def test_exact_cost_and_one_effect(rules):
    position = build(
        pending=["build one"], buildings=["a1_shrine_theology_kukulcan"], seats={0: {"stone": 1, "gold": 1}}
    )
    assert rules.legal(position) == ["build a1_shrine_theology_kukulcan"]
    seat = rules.play(position, "build a1_shrine_theology_kukulcan")["seats"][0]
    assert has(seat, "stone", "gold", "theology", "kukulcan") == (0, 0, 1, 1)


def test_three_temples_and_three_points(rules):
    position = build(pending=["build one"], day=16, food_days=2, buildings=["a2_tomb_three_temples"], seats={0: PLENTY})
    seat = rules.play(position, "build a2_tomb_three_temples")["seats"][0]
    assert (seat["score"], set(seat["temples"].values())) == (3, {1})


@pytest.mark.parametrize(
    ("level", "action", "left", "score"),
    [
        (0, "build a1_civic_agriculture_stone", (0, 3), 0),
        (1, "build a1_civic_agriculture_stone arch", (1, 3), 0),
        (2, "build a1_civic_agriculture_stone arch", (1, 3), 2),
        (3, "build a1_civic_agriculture_stone arch W", (1, 4), 2),
    ],
)
def test_architecture(rules, level, action, left, score):
    position = build(
        pending=["build one"],
        buildings=["a1_civic_agriculture_stone"],
        seats={0: {"wood": 6, "technologies": {"architecture": level}}},
    )
    assert action in rules.legal(position)
    seat = rules.play(position, action)["seats"][0]
    assert ((seat["corn"], seat["wood"]), seat["score"], seat["stone"]) == (left, score, 1)


@pytest.mark.parametrize(("level", "corn"), [(0, 4), (2, 4), (3, 2)])
def test_building_with_corn(rules, level, corn):
    name = "a1_civic_agriculture"
    position = build(
        pending=["build corn"],
        buildings=[name],
        seats={0: {"corn": corn, "technologies": {"architecture": level}}},
    )
    action = f"build {name} arch" if level else f"build {name}"
    assert action in rules.legal(position)
    seat = rules.play(position, action)["seats"][0]
    assert (seat["corn"], seat["wood"]) == (1 if level else 0, 0)
    assert not [legal for legal in rules.legal(position) if " m_" in legal]


def test_two_buildings_share_one_use_of_architecture(rules):
    position = build(pending=["build two"], seats={0: {**PLENTY, "technologies": {"architecture": 1}}})
    with_arch = rules.play(position, "build a1_farm_one arch")
    assert with_arch["pending"] == ["build second plain"]
    assert not [action for action in rules.legal(with_arch) if "arch" in action.split()]
    without = rules.play(position, "build a1_farm_one")
    assert without["pending"] == ["build second"]
    assert all(action == "done" or "arch" in action.split() for action in rules.legal(without))
    assert not [action for action in rules.legal(without) if " m_" in action]


def test_architecture_that_the_first_building_brings_serves_the_second(rules):
    position = build(pending=["build two"], buildings=["a1_shrine_architecture"], seats={0: PLENTY})
    after = rules.play(position, "build a1_shrine_architecture")
    assert after["seats"][0]["corn"] == PLENTY["corn"]
    assert rules.play(after, "build a1_farm_one arch")["seats"][0]["corn"] == PLENTY["corn"] + 1


def test_the_first_building_pays_the_second(rules):
    position = build(
        pending=["build two"],
        buildings=["a1_civic_extraction_gold", "a1_shrine_architecture"],
        seats={0: {"wood": 2, "stone": 1}},
    )
    after = rules.play(position, "build a1_civic_extraction_gold")
    assert rules.legal(after) == ["build a1_shrine_architecture", "done"]


def test_a_monument_takes_the_whole_action_and_no_architecture(rules):
    position = build(
        pending=["build two"],
        monuments=["m_skulls"],
        seats={0: {"gold": 4, "skulls": 1, "technologies": {"architecture": 3}}},
    )
    assert "build m_skulls" in rules.legal(position)
    after = rules.play(position, "build m_skulls")
    assert (after["pending"], after["seats"][0]["gold"], after["seats"][0]["skulls"]) == ([], 0, 0)
    assert after["seats"][0]["monuments"] == ["m_skulls"]
    assert "m_skulls" not in after["display"]["monuments"]


def test_a_building_that_lets_build(rules):
    position = build(
        pending=["build two"],
        buildings=["a1_tomb_temple_build"],
        seats={0: {**PLENTY, "technologies": {"architecture": 1}}},
    )
    after = rules.play(position, "build a1_tomb_temple_build arch")
    assert after["pending"] == ["climb one", "build more", "build second plain"]
    after = rules.play(after, "climb chaac")
    assert "build a1_farm_one arch" in rules.legal(after)  # architecture afresh
    after = rules.play(after, "build a1_farm_one arch")
    assert after["pending"] == ["build second plain"]


def test_a_tile_that_lets_trade_and_one_that_lets_act(rules):
    position = build(
        pending=["build one"],
        day=16,
        food_days=2,
        buildings=["a2_tomb_trade", "a2_tomb_action"],
        seats={0: PLENTY},
    )
    traded = rules.play(position, "build a2_tomb_trade")
    assert (traded["pending"], traded["seats"][0]["score"]) == (["trade more"], 6)
    acted = rules.play(position, "build a2_tomb_action")
    assert acted["pending"] == ["use more"]
    legal = rules.legal(acted)
    assert "use uxmal 4" in legal
    assert "use uxmal 5" not in legal
    assert not [action for action in legal if "chichen" in action]
    after = rules.play(acted, "use palenque 1")
    assert after["seats"][0]["corn"] == PLENTY["corn"] - 1 + 3


def test_a_worker_by_a_tile_is_wasted_at_six(rules):
    for workers, then in ((5, 6), (6, 6)):
        position = build(
            pending=["build one"],
            day=16,
            food_days=2,
            buildings=["a2_tomb_worker"],
            seats={0: {**PLENTY, "workers": workers}},
        )
        assert rules.play(position, "build a2_tomb_worker")["seats"][0]["workers"] == then


def test_the_display_is_refilled_after_the_turn(rules):
    position = build(pending=["build one"], buildings=["a1_shrine_architecture"], seats={0: PLENTY})
    after = rules.play(position, "build a1_shrine_architecture", "end")
    assert (after["reveal"], len(after["display"]["buildings"]), rules.legal(after)) == (1, 5, [])
    after = rules.play(after, "reveal a1_tomb_chaac_kukulcan")
    assert "a1_tomb_chaac_kukulcan" in after["display"]["buildings"]
    assert after["reveal"] == 0
    assert rules.legal(after)


def test_an_empty_deck(rules):
    """Eleven of the fourteen are built: three lie open, none is left."""
    names = [name["name"] for name in FACTS["buildings"] if name["age"] == 1 for _ in range(name["copies"])]
    position = build(
        pending=["build one"], display=3, buildings=names[:3], seats={0: PLENTY, 1: {"buildings": names[3:]}}
    )
    after = rules.play(position, "build a1_farm_one", "end")
    assert (after["reveal"], len(after["display"]["buildings"])) == (0, 2)


def test_two_advances_and_two_buildings_of_yellow(rules):
    """The rulebook's example: two first levels for a wood each by Tikal 3, then Tikal 4 builds what is left."""
    position = build(
        gears={"tikal": "...00"},
        buildings=["a1_civic_agriculture", "a1_farm_one"],
        seats={0: {"wood": 5}},
    )
    turn = ["pick tikal 3 3", "research extraction W", "research theology W", "pick tikal 4 4",
            "build a1_civic_agriculture", "build a1_farm_one", "end"]  # fmt: skip
    after = rules.play(position, *turn)
    assert has(after["seats"][0], "wood", "extraction", "theology", "agriculture") == (0, 1, 1, 1)
    assert after["seats"][0]["buildings"] == ["a1_farm_one", "a1_civic_agriculture"]
    assert after["reveal"] == 2


def test_a_named_step_that_is_not_possible_is_wasted(rules):
    """The card is not turned by it either (D11)."""
    temples = {"chaac": 5}
    position = build(
        pending=["build one"], day=16, food_days=2, buildings=["a2_shrine_chaac"],
        seats={0: {**PLENTY, "light": False, "temples": temples}},
    )  # fmt: skip
    seat = rules.play(position, "build a2_shrine_chaac")["seats"][0]
    assert has(seat, "score", "stone", "chaac", "light") == (2, 7, 5, False)
    position["seats"][0]["temples"]["chaac"] = 4
    seat = rules.play(position, "build a2_shrine_chaac")["seats"][0]
    assert has(seat, "score", "chaac", "light") == (2, 5, True)


def test_the_skull_of_the_monument_returns_to_the_bank(rules):
    position = build(
        gears={"tikal": "....0", "yaxchilan": "....0"},
        monuments=["m_skulls"],
        seats={0: {"gold": 4, "skulls": 1}, 1: {"skulls": 12}},
    )
    assert "pick yaxchilan 4 4" not in rules.legal(position)
    after = rules.play(position, "pick tikal 4 4", "build m_skulls")
    assert "pick yaxchilan 4 4" in rules.legal(after)


def test_free_advances_may_be_on_one_track_and_beyond_level_3(rules):
    position = build(pending=["research free two"], seats={0: {"technologies": {"agriculture": 1, "architecture": 3}}})
    after = rules.play(position, "research agriculture", "research agriculture")
    assert (after["seats"][0]["technologies"]["agriculture"], after["pending"]) == (3, [])
    after = rules.play(position, "research architecture", "research architecture")
    assert (after["seats"][0]["score"], after["pending"]) == (6, [])


# Tikal 5, Uxmal, Chichen Itza.


def test_two_steps_in_different_temples(rules):
    position = build(gears={"tikal": ".....0"}, seats={0: {"stone": 1, "corn": 0}})
    after = rules.play(position, "pick tikal 5 5")
    assert rules.legal(after) == [
        "climb chaac kukulcan S",
        "climb chaac quetzalcoatl S",
        "climb quetzalcoatl kukulcan S",
    ]
    seat = rules.play(after, "climb chaac kukulcan S")["seats"][0]
    assert (seat["temples"], seat["stone"]) == ({"chaac": 1, "quetzalcoatl": 0, "kukulcan": 1}, 0)


def test_one_seat_on_the_top_step(rules):
    position = build(pending=["climb one"], seats={0: {"temples": {"chaac": 4}}, 1: {"temples": {"chaac": 5}}})
    assert rules.legal(position) == ["climb kukulcan", "climb quetzalcoatl"]
    position["seats"][1]["temples"]["chaac"] = 4
    position["seats"][0]["light"] = False
    after = rules.play(position, "climb chaac")
    assert after["seats"][0]["light"]  # the card is turned


def test_a_step_for_three_corn(rules):
    position = build(gears={"uxmal": ".0"}, seats={0: {"corn": 3}})
    seat = rules.play(position, "pick uxmal 1 1", "climb quetzalcoatl")["seats"][0]
    assert (seat["corn"], seat["temples"]["quetzalcoatl"]) == (0, 1)
    position["seats"][0]["corn"] = 2
    assert "pick uxmal 1 1" not in rules.legal(position)


def test_market(rules):
    """One visit is a net exchange: each kind once, sells before buys (D12)."""
    position = build(pending=["trade"], seats={0: {"wood": 2, "stone": 1, "corn": 1}})
    assert rules.legal(position) == ["sell S 1", "sell W 1", "sell W 2"]  # one corn buys nothing
    after = rules.play(position, "sell W 2")
    assert (after["seats"][0]["corn"], after["pending"]) == (5, ["trade w"])
    assert rules.legal(after) == ["buy G 1", "buy S 1", "done", "sell S 1"]
    after = rules.play(after, "buy G 1")
    assert (after["seats"][0]["corn"], after["seats"][0]["gold"], after["pending"]) == (1, 1, [])


def test_the_rest_must_be_affordable_after_the_corn_for_stepping_back(rules):
    for corn, possible in ((3, False), (4, True)):
        position = build(gears={"uxmal": "..0"}, seats={0: {"corn": corn}})
        assert ("pick uxmal 2 1" in rules.legal(position)) is possible


def test_another_worker_on_the_lower_action_is_no_hindrance(rules):
    position = build(3, gears={"yaxchilan": ".1i0"}, seats={0: {"corn": 2}})
    after = rules.play(position, "pick yaxchilan 3 1")
    assert has(after["seats"][0], "corn", "wood") == (0, 1)
    assert "pick yaxchilan 3 2" in rules.legal(position)


def test_an_action_must_do_something(rules):
    """D16: nothing to trade, no step up possible, nothing that could be built or paid for."""
    top = {"chaac": 5, "quetzalcoatl": 7, "kukulcan": 6}
    gears = {"uxmal": ".00", "tikal": ".0000"}
    position = build(gears=gears, seats={0: {"corn": 1, "workers": 6}})
    assert [action for action in of("pick", rules.legal(position)) if len(action.split()) == 4] == []
    position = build(gears={"uxmal": ".0", "tikal": ".....0"}, seats={0: {"corn": 9, "wood": 1, "temples": top}})
    legal = rules.legal(position)
    assert not {"pick uxmal 1 1", "pick tikal 5 5"} & set(legal)
    assert "pick tikal 5 1" in legal


def test_technologies_hold_however_the_action_was_reached(rules):
    levels = {"agriculture": 2, "extraction": 1}
    position = build(pending=["use one"], seats={0: {"corn": 2, "technologies": levels}})
    assert has(rules.play(position, "use yaxchilan 1")["seats"][0], "corn", "wood") == (1, 2)
    assert has(rules.play(position, "use palenque 1")["seats"][0], "corn", "wood") == (5, 0)
    after = rules.play(position, "use palenque 4", "harvest corn")
    assert has(after["seats"][0], "corn", "corn_tiles") == (1 + 7 + 1, 0)


def test_six_workers_at_most(rules):
    position = build(gears={"uxmal": "...0"}, seats={0: {"workers": 5}})
    assert rules.play(position, "pick uxmal 3 3")["seats"][0]["workers"] == 6
    position["seats"][0]["workers"] = 6
    assert "pick uxmal 3 3" not in rules.legal(position)


def test_an_action_elsewhere_costs_one_corn_more(rules):
    position = build(gears={"uxmal": ".....0"}, seats={0: {"corn": 1}})
    after = rules.play(position, "pick uxmal 5 5")
    assert "use uxmal 5" not in rules.legal(after)
    seat = rules.play(after, "use yaxchilan 5")["seats"][0]
    assert (seat["corn"], seat["gold"], seat["stone"]) == (2, 1, 1)
    position["seats"][0]["corn"] = 0
    assert "pick uxmal 5 5" not in rules.legal(position)


def test_chichen_itza(rules):
    """The rulebook's example: from 7, a corn for action 6: 8 points, a green step, a block of choice."""
    position = build(gears={"chichen_itza": ".......0"}, seats={0: {"corn": 1, "skulls": 1}})
    after = rules.play(position, "pick chichen_itza 7 6", "take G")
    seat = after["seats"][0]
    assert has(seat, "score", "kukulcan", "gold", "skulls", "corn") == (8, 1, 1, 0, 0)
    assert after["skulls_placed"] == [6]


def chichen(space, theology, **changes):
    seat = {"skulls": 1, "technologies": {"theology": theology}, **changes}
    return build(gears={"chichen_itza": "." * space + "0"}, seats={0: seat})


def actions_of(rules, position):
    return [int(action.split()[3]) for action in of("pick", rules.legal(position)) if len(action.split()) == 4]


def test_theology_one_space_ahead(rules):
    assert actions_of(rules, chichen(0, 1)) == [1]
    assert actions_of(rules, chichen(0, 0)) == []
    assert actions_of(rules, chichen(3, 1)) == [3, 4]
    assert actions_of(rules, chichen(3, 1, corn=1)) == [2, 3, 4]
    assert actions_of(rules, chichen(9, 1)) == list(range(1, 10))
    assert actions_of(rules, chichen(9, 0)) == [9]
    assert rules.play(chichen(9, 1, corn=2), "pick chichen_itza 9 4")["seats"][0]["corn"] == 2


def test_an_offering_after_chichen_itza(rules):
    after = rules.play(chichen(6, 2), "pick chichen_itza 6 6")
    assert after["pending"] == ["take 1", "climb more"]
    after = rules.play(after, "take S")  # may be spent at once
    assert rules.legal(after) == ["climb chaac S", "climb kukulcan S", "climb quetzalcoatl S", "done"]
    assert rules.play(chichen(5, 2), "pick chichen_itza 5 5")["pending"] == []  # no block
    assert rules.play(chichen(5, 1, wood=1), "pick chichen_itza 5 5")["pending"] == []


# The calendar.


def test_the_calendar_turns_and_pushes_workers_off(rules):
    position = build(to_move=3, gears={"palenque": "3......0", "chichen_itza": "..........1", "tikal": "2"})
    after = close_round(rules, position)
    assert after["gears"]["palenque"] == ".........."
    assert after["gears"]["chichen_itza"] == "............."
    assert after["gears"]["tikal"] == ".2........"
    assert (after["day"], after["teeth_corn"], after["to_move"]) == (3, 1, 0)


def test_idle_workers_go_round(rules):
    position = build(3, to_move=2, gears={"palenque": "2......i.i", "tikal": "iiii"})
    after = close_round(rules, position)
    assert after["gears"]["palenque"] == "i.......i."
    assert after["gears"]["tikal"] == ".iiii....."


def start_space_round(day=5, user=0, gears=None, light=True, start_player=0, players=4, **changes):
    """Return a position in which `user` stands on the starting space and the last seat is to move."""
    last = (start_player - 1) % players
    return build(
        players,
        day=day,
        food_days=changes.pop("food_days", sum(d < day for d in FOOD_DAYS)),
        start_player=start_player,
        to_move=last,
        start_space=user,
        gears={"palenque": str(last), **(gears or {})},
        seats={seat: {"corn": 12, "light": light} for seat in range(players)},
        **changes,
    )


def test_the_start_space(rules):
    after = close_round(rules, start_space_round(user=1))
    assert (after["phase"], after["to_move"], after["start_space"]) == ("advance", 1, 1)
    once, twice = rules.play(after, "advance 1"), rules.play(after, "advance 2")
    assert (once["day"], once["start_player"], once["to_move"], once["start_space"]) == (6, 1, 1, None)
    assert (once["seats"][1]["light"], twice["seats"][1]["light"]) == (True, False)
    assert (twice["day"], twice["teeth_corn"]) == (7, 0)


def test_who_holds_the_marker_gives_it_to_the_left(rules):
    after = rules.play(close_round(rules, start_space_round(user=0)), "advance 1")
    assert after["start_player"] == 1
    after = rules.play(close_round(rules, start_space_round(user=3, start_player=3)), "advance 1")
    assert after["start_player"] == 0


def test_corn_on_the_teeth_is_taken_at_the_end_of_the_turn(rules):
    position = build(day=5, teeth_corn=4, seats={0: {"corn": 0}})
    after = rules.play(position, "place start")
    assert after["seats"][0]["corn"] == 0
    after = rules.play(after, "end")
    assert (after["seats"][0]["corn"], after["teeth_corn"]) == (4, 0)


def test_corn_from_the_teeth_feeds_on_a_food_day(rules):
    position = build(day=8, start_player=1, teeth_corn=6, seats={seat: {"corn": 6} for seat in range(1, 4)})
    after = rules.play(position, "place start", "end")
    assert [seat["corn"] for seat in after["seats"]] == [0, 0, 0, 0]
    assert [seat["score"] for seat in after["seats"]] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("gears", "light", "possible"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"tikal": "......2"}, True, False),
        ({"tikal": "......."}, True, True),
        ({"tikal": ".......2"}, True, True),
        ({"chichen_itza": ".........2"}, True, False),
        ({"chichen_itza": "......2"}, True, True),
    ],
)
def test_when_the_double_advance_is_possible(rules, gears, light, possible):
    after = close_round(rules, start_space_round(gears=gears, light=light))
    assert (after["phase"] == "advance") is possible
    assert after["day"] == (5 if possible else 6)


def test_idle_workers_do_not_forbid_it(rules):
    after = close_round(rules, start_space_round(players=3, gears={"tikal": "......i"}))
    assert after["phase"] == "advance"


@pytest.mark.parametrize("day", [7, 13, 20])
def test_a_food_day_jumped_over_is_held_on_the_next_day(rules, day):
    after = rules.play(close_round(rules, start_space_round(day=day)), "advance 2")
    held = after["food_days"]
    assert (after["day"], held) == (day + 2, sum(d < day for d in FOOD_DAYS))
    for seat in range(4):
        after = rules.play(after, "place palenque", "end")
        assert seat == 3 or after["food_days"] == held
    assert after["food_days"] == held + 1
    assert all(seat["score"] != 0 or seat["corn"] < 12 for seat in after["seats"])


def test_from_day_26_to_the_last_by_two_teeth(rules):
    after = rules.play(close_round(rules, start_space_round(day=26, gears={"tikal": ".1"})), "advance 2")
    assert (after["day"], after["food_days"], after["phase"]) == (27, 3, "turn")
    assert after["gears"]["tikal"][:4] == "...1"


def test_feeding_comes_before_the_double_advance(rules):
    after = close_round(rules, start_space_round(day=14))
    assert (after["phase"], after["food_days"], after["seats"][0]["corn"]) == ("advance", 2, 6)
    assert (after["reveal"], after["display"]["buildings"], rules.legal(after)) == (6, [], [])
    names = [tile["name"] for tile in FACTS["buildings"] if tile["age"] == 2 and tile["copies"] == 1][:6]
    after = rules.play(after, "reveal " + " ".join(names))
    assert rules.legal(after) == ["advance 1", "advance 2"]


def test_no_refill_at_the_end_of_the_first_age(rules):
    position = last_turn_of_round(
        14, {3: PLENTY}, gears={"palenque": "3", "tikal": "..3"}, buildings=["a1_shrine_architecture"]
    )
    after = rules.play(position, "pick tikal 2 2", "build a1_shrine_architecture", "end")
    assert (after["reveal"], after["display"]["buildings"], after["day"]) == (6, [], 15)


def test_skulls_of_a_mid_age_day_for_all_or_nobody(rules):
    seats = {0: {"temples": {"kukulcan": 4}}, 1: {"temples": {"kukulcan": 4}}, 2: {"skulls": 12}}
    position = last_turn_of_round(8, seats)
    assert gained(position, close_round(rules, position), "skulls") == [0, 0, 0, 0]
    position["seats"][2]["skulls"] = 11
    assert gained(position, close_round(rules, position), "skulls") == [1, 1, 0, 0]


# The end.


FED = {"buildings": ["a1_farm_all", "a1_farm_all"]}


def test_materials_become_points(rules):
    held = {"corn": 3, "wood": 1, "stone": 1, "gold": 1, "skulls": 2}
    after = close_round(rules, last_turn_of_round(27, {0: FED | held}))
    temples = (2 + 6 + 4) // 2  # all lead together (D20)
    assert after["seats"][0]["score"] == temples + (3 + 2 + 3 + 4) / 4 + 6
    assert after["seats"][0]["wood"] == 1  # materials stay
    assert (after["phase"], after["day"], after["food_days"], after["to_move"]) == ("over", 27, 4, 0)


@pytest.mark.parametrize(("whole", "points"), [(False, 6.75), (True, 6)])
def test_quarters(rules, whole, points):
    position = last_turn_of_round(27, {0: FED | {"corn": 3}}, options={"whole_points": whole})
    after = close_round(rules, position)
    assert after["seats"][0]["score"] == points
    assert isinstance(after["seats"][0]["score"], type(points))


LEVELS = {"agriculture": 3, "extraction": 3, "architecture": 2, "theology": 0}


@pytest.mark.parametrize(
    ("monument", "seat", "others", "points"),
    [
        ("m_tombs", {"buildings": ["a1_tomb_chaac_kukulcan", "a2_tomb_points"]}, {}, 12),
        ("m_civic", {"buildings": ["a1_civic_agriculture"]}, {}, 8),
        ("m_shrines", {"buildings": ["a1_civic_agriculture"]}, {}, 4),
        ("m_all_tiles", {"buildings": ["a1_civic_agriculture", "a1_farm_one"]}, {}, 6),
        ("m_corn_tiles", {"corn_tiles": 3}, {}, 12),
        ("m_wood_tiles", {"wood_tiles": 2}, {}, 8),
        ("m_all_players_monuments", {}, {"monuments": ["m_civic", "m_tombs"]}, 12),
        ("m_full_tracks", {"technologies": LEVELS}, {}, 20),
        ("m_full_tracks", {"technologies": {**LEVELS, "architecture": 3}}, {}, 33),
        ("m_full_tracks", {"technologies": dict.fromkeys(LEVELS, 3)}, {}, 33),
        ("m_full_tracks", {"technologies": {"theology": 3}}, {}, 9),
        ("m_full_tracks", {}, {}, 0),
        ("m_tech_levels", {"technologies": LEVELS}, {}, 24),
        ("m_workers", {}, {}, 0),
        ("m_workers", {"workers": 4}, {}, 6),
        ("m_workers", {"workers": 5}, {}, 12),
        ("m_workers", {"workers": 6}, {}, 18),
        ("m_best_temple", {"temples": {"chaac": 2, "quetzalcoatl": 4, "kukulcan": -1}}, {}, 12),
        ("m_best_temple", {"temples": dict.fromkeys(TEMPLES, -1)}, {}, 0),
        ("m_temple_points", {"temples": {"chaac": 2, "quetzalcoatl": 4, "kukulcan": -1}}, {}, 4 + 6 - 3),
        ("m_temple_points", {"temples": dict.fromkeys(TEMPLES, -1)}, {}, -6),
        ("m_skulls", {}, {"skulls": 0}, 9),
    ],
)
def test_monuments(rules, monument, seat, others, points):
    fields = {"corn": [1, 4, 4, 4], "wood": [0, 4, 3, 3]}
    mine = {**seat, "corn": 12}

    def scored(built):
        seats = {0: mine | {"monuments": [monument] if built else []}, 1: {"corn": 12, **others}}
        position = last_turn_of_round(27, seats, fields=fields, skulls_placed=[1, 4, 9])
        return close_round(rules, position)["seats"][0]["score"]

    assert scored(True) - scored(False) == points


@pytest.mark.parametrize(("players", "points"), [(2, 6), (3, 5), (4, 4)])
def test_the_monument_for_all_monuments_by_seats(rules, players, points):
    seats = {0: {"corn": 12, "monuments": ["m_all_players_monuments"]}, 1: {"corn": 12}}
    with_it = close_round(rules, last_turn_of_round(27, seats, players))["seats"][0]["score"]
    seats[0]["monuments"] = []
    assert with_it - close_round(rules, last_turn_of_round(27, seats, players))["seats"][0]["score"] == points


def test_every_monument_is_tested():
    marks = [mark for mark in test_monuments.pytestmark if mark.name == "parametrize"]
    assert {case[0] for case in marks[0].args[1]} == set(MONUMENTS)


def test_ties_go_to_workers_on_gears_after_the_last_turn_of_the_wheel(rules):
    seats = {seat: {"corn": 6} for seat in range(4)}
    position = last_turn_of_round(27, seats, gears={"palenque": "3", "tikal": "..01", "uxmal": "......10"})
    after = close_round(rules, position)
    assert len({seat["score"] for seat in after["seats"]}) == 1
    assert rules.winners(after) == [1]  # seat 0's worker on 7 is pushed off
    position = last_turn_of_round(27, seats, gears={"palenque": "3", "tikal": "..01", "uxmal": "......1"})
    assert rules.winners(close_round(rules, position)) == [1]
    position = last_turn_of_round(27, seats, gears={"palenque": "3", "tikal": "..01"})
    assert rules.winners(close_round(rules, position)) == [0, 1]


def test_no_choice_of_two_after_the_last_food_day(rules):
    after = close_round(rules, start_space_round(day=27))
    assert (after["phase"], after["start_space"], after["day"]) == ("over", None, LAST_DAY)
    assert rules.legal(after) == []


# Setup.


@pytest.mark.parametrize(("players", "idle", "monuments", "field"), [(2, 12, 4, 2), (3, 6, 5, 3), (4, 0, 6, 4)])
def test_setup(rules, players, idle, monuments, field):
    position = new_game(players, Random(5))
    rules.check(position)
    assert sum(places.count("i") for places in position["gears"].values()) == idle
    assert len(position["display"]["monuments"]) == monuments
    assert position["fields"] == {"corn": [field] * 4, "wood": [0] + [field] * 3}
    assert len(rules.legal(position)) == 6
    assert (position["start_player"], position["to_move"], position["day"]) == (0, 0, 1)
    for seat in position["seats"]:
        assert (seat["workers"], seat["light"], seat["score"]) == (3, True, 0)
        assert not any(seat[kind] for kind in ("corn", "wood", "stone", "gold", "skulls", "wealth"))
        assert not any({**seat["temples"], **seat["technologies"]}.values())


def test_wealth_is_paid_when_all_have_chosen(rules):
    drawn = ["w_pal5", "w_yax5", "w_tik5", "w_uxm5", "w_chi10", "w_pal1", "w_yax7", "w_tik7"]
    gears, _ = place_idle_workers(drawn, 12)
    position = build(2) | {"phase": "keep", "day": 1, "drawn": drawn, "gears": gears}
    for seat, dealt in zip(
        position["seats"],
        (["w_pal3", "w_tik1", "w_uxm1", "w_uxm7"], ["w_uxm3", "w_chi0", "w_chi3", "w_chi5"]),
        strict=True,
    ):
        seat["dealt"], seat["wealth"] = dealt, []
    rules.check(position)
    after = rules.play(position, "keep w_pal3 w_tik1")
    assert (after["seats"][0]["corn"], after["to_move"], after["phase"]) == (0, 1, "keep")
    seen = rules.view(after, 1)
    assert (seen["viewer"], seen["seats"][0]["dealt"], seen["seats"][0]["wealth"]) == (
        1,
        ["?"] * 4,
        ["?"] * 2,
    )
    assert seen["seats"][1]["dealt"] == after["seats"][1]["dealt"]
    rules.check(seen)
    after = rules.play(after, "keep w_chi0 w_chi3")
    one, two = after["seats"]
    assert (one["corn"], one["gold"], one["temples"], one["technologies"]["architecture"]) == (
        7,
        1,
        {"chaac": 1, "quetzalcoatl": 1, "kukulcan": 0},
        1,
    )
    assert has(two, "corn", "wood", "stone", "skulls", "theology") == (9, 1, 1, 1, 1)
    assert (after["phase"], after["drawn"], one["dealt"], after["to_move"]) == ("turn", [], [], 0)
    assert rules.view(after, 0) == after


def test_no_choice_inside_wealth_even_if_a_track_is_full(rules):
    """D14; play does not reach it, but such a position is valid."""
    drawn = ["w_pal7", "w_yax7", "w_tik7", "w_uxm5", "w_chi10", "w_pal3", "w_yax3", "w_tik3"]
    gears, taken = place_idle_workers(drawn, 12)
    assert taken == len(drawn)
    position = build(2) | {"phase": "keep", "day": 1, "drawn": drawn, "gears": gears, "to_move": 1}
    for seat, dealt, kept in zip(
        position["seats"],
        (["w_pal5", "w_yax5", "w_uxm1", "w_uxm7"], ["w_tik5", "w_chi7", "w_chi3", "w_chi5"]),
        (["w_pal5", "w_yax5"], []),
        strict=True,
    ):
        seat["dealt"], seat["wealth"] = dealt, kept
        seat["technologies"] = dict.fromkeys(seat["technologies"], 3)
    rules.check(position)
    after = rules.play(position, "keep w_tik5 w_chi7")
    assert (after["phase"], after["pending"], after["to_move"]) == ("turn", [], 0)
    rules.check(after)
    one, two = after["seats"]
    assert has(one, "corn", "wood", "stone", "gold", "score") == (4, 1, 1, 1, 0)
    assert not any(one["temples"].values())
    assert has(two, "corn", "wood", "gold", "skulls", "score") == (5, 2, 1, 1, 3)


def test_idle_workers_stand_opposite_each_other():
    """The rulebook's example: the tile of Palenque 5 puts one there and one on 0; not so in Chichen Itza."""
    gears, taken = place_idle_workers(["w_pal5", "w_pal7", "w_chi5", "w_yax3"], 6)
    assert gears["palenque"] == "i....i.i.."
    assert gears["chichen_itza"] == ".....i......."
    assert gears["yaxchilan"] == "...i....i."
    assert taken == 4
    assert place_idle_workers(["w_pal5"], 1) == (
        {**gears, "palenque": ".....i....", "chichen_itza": "." * 13, "yaxchilan": "." * 10},
        1,
    )
