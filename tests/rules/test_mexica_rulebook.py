"""Every remark and example of the English rulebook, chapter by chapter, and the decisions D1-D8.

The expected outcomes are derived from the rulebook by hand. All tests run on the compiled rules and on the
slow reference, so that neither drifts from the book.
"""

# ruff: noqa: N802  (chapters such as 4A are part of the names)

import pytest
from mexica_builder import build, spaces, strip
from reference import mexica as reference

import mexica_ai

PALACE = ["H6", "G7", "H7", "I7", "H8"]
# Canals that touch at the corners only and enclose the five palace spaces, no more.
DIAMOND = ["H4-H5", "H9-H10", "E7-F7", "J7-K7", "G6", "I6", "G8", "I8"]
# The same with F7 inside: a district of six, with one space that is not palace.
DIAMOND_AND_F7 = ["H4-H5", "H9-H10", "J7-K7", "F6-G6", "F8-G8", "E7", "I6", "I8"]
# The nine spaces around and on the palace.
PALACE_SQUARE = ["G5-H5", "I5", "G9-H9", "I9", "F6-F7", "F8", "J6-J7", "J8"]
# All bridges of the supply over one long canal.
ELEVEN_BRIDGES = [f"{space} ns" for space in spaces("B5-L5")]


class Reference:
    """The slow rules in Python."""

    def legal(self, position):
        return reference.legal_actions(position)

    def play(self, position, *actions):
        for action in actions:
            position = reference.apply(position, action)
        return position

    def winners(self, position):
        return reference.winners(position)


class Compiled:
    """The compiled rules through the public API."""

    def legal(self, position):
        return mexica_ai.Position.from_json(position).legal_actions()

    def play(self, position, *actions):
        played = mexica_ai.Position.from_json(position)
        for action in actions:
            played.push_action(action)
        return played.to_json()

    def winners(self, position):
        return mexica_ai.Position.from_json(position).winners


@pytest.fixture(params=[Reference, Compiled], ids=["reference", "compiled"])
def rules(request):
    return request.param()


def assert_legal(rules, position, *actions):
    legal = rules.legal(position)
    for action in actions:
        assert action in legal
        rules.play(position, action)


def assert_illegal(rules, position, *actions):
    legal = rules.legal(position)
    for action in actions:
        assert action not in legal
        with pytest.raises(ValueError):  # noqa: PT011  (each of the two rules has an error of its own)
            rules.play(position, action)


def legal_of(rules, position, verb):
    """Return the operands of the legal actions of one kind."""
    return {action.removeprefix(verb + " ") for action in rules.legal(position) if action.split()[0] == verb}


def scores(position):
    return [seat["score"] for seat in position["seats"]]


def pilli(position, seat):
    return position["seats"][seat]["pilli"]


# Chapter 2: components and setup


@pytest.mark.parametrize("players", [2, 3, 4])
def test_2_setup(players):
    start = mexica_ai.new_game("mexica", players=players, seed=11).to_json()
    calpulli = start["calpulli"]
    assert start["canals"] == ["O6", "O7", "O8", "O9"]
    assert start["canal_tiles"] == {"single": 6, "double": 35}
    assert start["bridges"] == []
    assert sorted(calpulli["display"] + calpulli["upcoming"]) == [
        3,
        3,
        4,
        4,
        5,
        5,
        6,
        6,
        7,
        8,
        9,
        10,
        11,
        12,
        13,
    ]
    assert calpulli["display"] == sorted(calpulli["display"])
    assert len(calpulli["display"]) == 8
    assert calpulli["placed"] == []
    assert calpulli["removed"] == []
    assert start["seats"] == [{"score": 0, "action_tokens": 0, "pilli": "", "temples": [3, 3, 2, 1]}] * players
    assert (start["phase"], start["period"], start["round"], start["to_move"]) == ("placement", 1, 0, 0)


def placement(players):
    return build(players, pillis=[""] * players, phase="placement", round_=0, built=False)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_2_each_chooses_a_free_starting_space_in_turn_order(rules, players):
    position = placement(players)
    assert rules.legal(position) == ["place G7", "place H6", "place H8", "place I7"]
    position = rules.play(position, "place H8")
    assert position["to_move"] == 1
    assert position["phase"] == "placement"
    assert rules.legal(position) == ["place G7", "place H6", "place I7"]
    for seat, space in enumerate(["G7", "I7", "H6"][: players - 1], start=1):
        assert position["to_move"] == seat
        position = rules.play(position, f"place {space}")
    assert (position["phase"], position["round"], position["to_move"]) == ("play", 1, 0)
    assert position["action_points"] == 6


def test_2_centre_of_the_palace_is_no_starting_space(rules):
    assert_illegal(rules, placement(3), "place H7", "place E9")


def test_2_nothing_lies_on_the_palace_but_pillis_cross_it(rules):
    position = build(pillis=["H6"])
    for space in PALACE:
        assert_illegal(rules, position, f"canal {space}", f"temple 1 {space}")
    after = rules.play(position, "walk H7", "walk G7", "walk H7", "walk H8", "walk H9")
    assert pilli(after, 0) == "H9"


@pytest.mark.parametrize(
    ("yellow", "blue", "white"),
    [
        (3, 2, 1),
        (4, 2, 1),
        (5, 3, 2),
        (6, 3, 2),
        (7, 4, 2),
        (8, 4, 2),
        (9, 5, 3),
        (10, 5, 3),
        (11, 6, 3),
        (12, 6, 3),
        (13, 7, 4),
    ],
)
def test_2_values_of_the_calpulli_tokens(rules, yellow, blue, white):
    district = strip(yellow)
    position = build(pillis=["B10", "C10"], canals=district["canals"], display=[yellow])
    after = rules.play(position, f"found {yellow} D10")
    assert scores(after) == [blue, white, 0]
    temples = {"B10": (0, 3), "C10": (1, 2), "D10": (2, 1)}
    if yellow > 3:  # one space is the token's
        tokens = {district["spaces"][-1]: yellow}
        position = build(canals=district["canals"], tokens=tokens, temples=temples, **PERIOD_RUNS_OUT)
        assert scores(rules.play(position, "end")) == [yellow, blue, white]


# Chapter 3: playing the game

# The last seat of three is to end a fourth idle round: the plainest way to a scoring (D6).
PERIOD_RUNS_OUT = {"display": [], "idle": 3, "built": False, "to_move": 2}


def test_3_period_ends_when_the_display_is_empty_and_somebody_has_built_all(rules):
    after = rules.play(build(display=[], built_all=[1], to_move=2), "end")
    assert (after["period"], after["round"], after["to_move"]) == (2, 6, 0)


def test_3_period_goes_on_while_one_of_the_conditions_fails(rules):
    for position in (build(display=[], to_move=2), build(display=[5], built_all=[1], to_move=2)):
        after = rules.play(position, "end")
        assert (after["period"], after["round"], after["to_move"]) == (1, 6, 0)


def test_3_players_finish_the_round_before_the_scoring(rules):
    district = strip(5)
    position = build(pillis=["C10"], canals=district["canals"], display=[5], built_all=[0])
    position = rules.play(position, "found 5 B10", "end")
    assert (position["period"], position["to_move"]) == (1, 1)
    position = rules.play(position, "end")
    assert (position["period"], position["to_move"]) == (1, 2)
    position = rules.play(position, "end")
    assert (position["period"], position["to_move"]) == (2, 0)


def test_3_second_period_brings_nine_temples_and_seven_tokens(rules):
    position = build(display=[], built_all=[1], to_move=2, temples={"E9": (0, 4), "E10": (0, 1)})
    upcoming = position["calpulli"]["upcoming"]
    after = rules.play(position, "end")
    assert [seat["temples"] for seat in after["seats"]] == [[5, 5, 4, 2], [3, 2, 2, 2], [6, 5, 4, 3]]
    assert after["calpulli"]["display"] == upcoming
    assert after["calpulli"]["upcoming"] == []
    assert after["action_points"] == 6


def test_3_token_that_no_district_can_match_leaves_play_for_lack_of_tiles(rules):
    """No tile is left and the only districts are one of five spaces and the rest of the island."""
    position = build(period=2, canals=["F2-J2"], display=[4, 5], no_tiles=True)
    after = rules.play(position, "token")
    assert after["calpulli"]["display"] == [5]
    assert 4 in after["calpulli"]["removed"]


def test_3_new_district_may_be_carved_without_a_token_of_its_size(rules):
    district = strip(7)
    position = build(pillis=["C10"], canals=district["canals"][:2], display=[4])
    after = rules.play(position, "canal I10")
    assert legal_of(rules, after, "found") == set()
    assert_legal(rules, after, "temple 1 H10")
    assert_illegal(rules, after, "temple 1 J10")


def test_3_second_period_ends_the_game_under_the_same_conditions(rules):
    position = build(period=2, display=[], built_all=[1], scores=[3, 9, 5])
    position = rules.play(position, "end", "end")
    assert position["phase"] == "play"
    position = rules.play(position, "end")
    assert (position["phase"], position["period"], position["round"], position["to_move"]) == (
        "over",
        2,
        6,
        0,
    )
    assert rules.legal(position) == []


# Chapter 4: the turn


def test_4_six_action_points_in_any_order_and_number(rules):
    position = build(pillis=["E9"])
    after = rules.play(position, "walk E8", "canal B2", "temple 1 E9", "walk D8", "canal C2-D2", "token")
    assert after["action_points"] == 0
    legal_of_zero = {action.split()[0] for action in rules.legal(after)}
    assert legal_of_zero == {
        "end",
        "canal",
        "bridge",
        "walk",
        "temple",
    }  # the new action token still pays one
    position["seats"][0]["action_tokens"] = 0
    after = rules.play(position, *["canal C5", "canal E5", "canal G5", "canal C9", "canal E8", "walk D9"])
    assert rules.legal(after) == ["end"]


def test_4_points_not_spent_are_lost(rules):
    after = rules.play(build(), "end", "end", "end")
    assert (after["to_move"], after["action_points"]) == (0, 6)


# 4A: canals


def test_4A_single_or_double_costs_1(rules):
    position = build()
    single, double = rules.play(position, "canal C5"), rules.play(position, "canal C5-C6")
    assert single["action_points"] == double["action_points"] == 5
    assert single["canal_tiles"] == {"single": 5, "double": 35}
    assert double["canal_tiles"] == {"single": 6, "double": 34}
    assert single["canals"] == ["C5", "O6", "O7", "O8", "O9"]
    assert double["canals"] == ["C5", "C6", "O6", "O7", "O8", "O9"]


def test_4A_canal_contiguous_or_separate_and_far_from_the_pilli(rules):
    position = build(pillis=["U8"], canals=["C5-D5"])
    assert_legal(rules, position, "canal E5", "canal D6-D7", "canal C4", "canal A11", "canal F13-F14", "canal U6-U7")


def test_4A_canal_not_on_the_palace(rules):
    position = build()
    assert_illegal(rules, position, *(f"canal {space}" for space in PALACE))
    assert_illegal(rules, position, "canal G6-H6", "canal G6-G7", "canal H7-I7", "canal H8-H9")


def test_4A_canal_not_on_another_canal(rules):
    position = build(canals=["C5-D5"])
    assert_illegal(rules, position, "canal C5", "canal D5-E5", "canal D4-D5", "canal O7", "canal O9-O10")


def test_4A_canal_not_on_the_lake(rules):
    assert_illegal(rules, build(), "canal A1", "canal S6", "canal R6-S6", "canal R5")


def test_4A_canal_not_on_ramp_of_a_bridge(rules):
    position = build(bridges=["O7 ew"])
    assert_illegal(rules, position, "canal N7", "canal P7", "canal M7-N7", "canal P7-P8")
    assert_legal(rules, position, "canal N6", "canal N8", "canal P8-Q8")


def test_4A_canal_not_in_a_founded_district(rules):
    district = strip(5)
    founded = build(canals=district["canals"], tokens={"B10": 5})
    assert_illegal(rules, founded, "canal C10", "canal D10-E10")
    unfounded = build(canals=district["canals"])
    assert_legal(rules, unfounded, "canal C10", "canal D10-E10")


def test_4A_canal_only_on_empty_land(rules):
    position = build(temples={"C5": (1, 2)})
    assert_illegal(rules, position, "canal C5", "canal B5-C5", "canal K6", "canal L6", "canal K5-K6")


def test_4A_no_single_tile_left(rules):
    position = build(canals=["B2", "D2", "F2", "H2", "J2", "L2"])
    assert_illegal(rules, position, "canal C5")
    assert_legal(rules, position, "canal C5-D5")


def test_4A_no_double_tile_left(rules):
    position = build(canals=["C14-F14", "I14-J14", "A13-J13", "A12-L12", "A11-N11", "B10-Q10", "C9-N9"])
    assert position["canal_tiles"] == {"single": 6, "double": 0}
    assert_illegal(rules, position, "canal C5-D5")
    assert_legal(rules, position, "canal C5")


def test_4A_canals_touching_at_a_corner_close_a_district(rules):
    position = build(pillis=["B1"], canals=["C2", "B3"])
    assert legal_of(rules, position, "temple") == {"1 B2", "2 B2", "3 B2", "4 B2"}


def test_4A_canal_and_lake_touching_at_a_corner_close_a_district(rules):
    """K2, K3 and L4 leave L2 and L3, which have the lake in the north and in the east."""
    position = build(pillis=["L2"], canals=["K2-K3", "L4"])
    assert legal_of(rules, position, "temple") == {"1 L3", "2 L3", "3 L3", "4 L3"}


def test_4A_district_not_founded_may_be_divided_further(rules):
    district = strip(9)
    position = rules.play(build(pillis=["C10"], canals=district["canals"], display=[4, 9]), "canal F10")
    assert legal_of(rules, position, "found") == {"4 B10", "4 D10", "4 E10"}


def test_4A_a_district_before_the_first_canal_is_the_whole_island(rules):
    position = build(round_=1, built=False, pillis=["H6", "G7", "I7"])
    # 196 spaces less 4 canals and 5 palace spaces
    assert len(legal_of(rules, position, "temple")) == 4 * 187


# 4B: founding


def test_4B_founding_is_free(rules):
    district = strip(5)
    position = build(pillis=["D10"], canals=district["canals"], display=[5], points=0)
    after = rules.play(position, "found 5 C10")
    assert after["action_points"] == 0
    assert after["calpulli"]["placed"] == [{"at": "C10", "size": 5}]
    assert after["calpulli"]["display"] == []


def test_4B_pilli_must_be_in_the_district(rules):
    position = build(canals=strip(5)["canals"], display=[5])
    assert legal_of(rules, position, "found") == set()
    assert_illegal(rules, position, "found 5 C10")


def test_4B_token_must_match_exactly_and_be_on_display(rules):
    position = build(pillis=["D10"], canals=strip(5)["canals"], display=[4, 6])
    assert_illegal(rules, position, "found 4 C10", "found 5 C10", "found 6 C10")


def test_4B_token_lies_on_any_empty_land_space_of_the_district(rules):
    position = build(pillis=["D10", "F10"], canals=strip(7)["canals"], display=[7], temples={"B10": (2, 1)})
    assert legal_of(rules, position, "found") == {"7 C10", "7 E10", "7 G10", "7 H10"}


def test_4B_space_of_the_token_is_forbidden(rules):
    position = build(pillis=["D10"], canals=strip(5)["canals"], tokens={"C10": 5})
    assert_illegal(rules, position, "walk C10", "teleport C10", "temple 1 C10", "canal C10")
    assert_legal(rules, position, "walk E10")


def test_4B_founded_district_is_not_founded_again(rules):
    position = build(pillis=["D10"], canals=strip(5)["canals"], tokens={"C10": 5}, display=[5])
    assert legal_of(rules, position, "found") == set()


def test_4B_carve_and_found_in_the_same_turn_around_the_pilli(rules):
    position = build(pillis=["D10"], canals=strip(5)["canals"][:2], display=[5])
    assert legal_of(rules, position, "found") == set()
    assert scores(rules.play(position, "canal G10", "found 5 C10")) == [3, 0, 0]


def test_4B_carve_first_and_enter_then(rules):
    position = build(canals=strip(5)["canals"][:2], display=[5])
    after = rules.play(position, "canal G10", "teleport C10", "found 5 B10")
    assert scores(after) == [3, 0, 0]
    assert after["action_points"] == 0


def test_4B_found_a_district_that_another_carved(rules):
    position = build(pillis=["K6", "D10"], canals=strip(5)["canals"][:2], display=[5])
    assert scores(rules.play(position, "canal G10", "end", "found 5 C10")) == [0, 3, 0]


def test_4B_palace_counts_in_size_but_takes_no_token(rules):
    position = build(pillis=["H7"], canals=PALACE_SQUARE, display=[9])
    assert legal_of(rules, position, "found") == {"9 G6", "9 I6", "9 G8", "9 I8"}
    position = build(pillis=["H7"], canals=DIAMOND_AND_F7, display=[6])
    assert legal_of(rules, position, "found") == {"6 F7"}


def test_4B_palace_alone_cannot_be_founded(rules):
    position = build(pillis=["H7"], canals=DIAMOND, display=[5])
    assert legal_of(rules, position, "found") == set()


def test_4B_example_of_thirteen_spaces(rules):
    position = build(pillis=["D10"], canals=strip(13)["canals"][:2], display=[13])
    after = rules.play(position, "canal O10", "found 13 M10")
    assert scores(after) == [7, 0, 0]


# 4C: bridges


def test_4C_bridge_costs_1_and_joins_two_land_spaces(rules):
    position = build(canals=["E5-F5"])
    after = rules.play(position, "bridge E5 ns")
    assert after["action_points"] == 5
    assert after["bridges"] == [{"at": "E5", "axis": "ns"}]
    assert_illegal(rules, after, "bridge E5 ns")


def test_4C_pilli_need_not_be_near(rules):
    assert_legal(rules, build(pillis=["U8"], canals=["C12"]), "bridge C12 ns", "bridge C12 ew")


def test_4C_ramps_may_be_occupied(rules):
    position = build(pillis=["K6", "E6"], canals=["E5-F5"], temples={"E4": (0, 1)})
    assert_legal(rules, position, "bridge E5 ns")
    founded = build(canals=strip(5)["canals"], tokens={"C10": 5})
    assert_legal(rules, founded, "bridge C9 ns", "bridge C11 ns")


def test_4C_ramp_may_be_palace(rules):
    assert_legal(rules, build(canals=["H5"]), "bridge H5 ns")


def test_4C_occupied_ramp_blocks_the_access(rules):
    position = build(pillis=["E6"], canals=["E5-F5"], temples={"E4": (0, 1)}, bridges=["E5 ns"])
    assert legal_of(rules, rules.play(position, "walk E5"), "walk") == {"E6"}


def test_4C_two_bridges_side_by_side(rules):
    position = build(pillis=["E4"], canals=["E5-F5"], bridges=["E5 ns"])
    after = rules.play(position, "bridge F5 ns", "walk E5")
    assert legal_of(rules, after, "walk") == {"E4", "E6"}  # no step from bridge to bridge


def test_4C_bridges_are_not_chained(rules):
    position = build(canals=["E5-E6"])
    assert_illegal(rules, position, "bridge E5 ns", "bridge E6 ns")
    assert_legal(rules, position, "bridge E5 ew", "bridge E6 ew")


def test_4C_one_land_space_between_two_bridges(rules):
    position = build(pillis=["E4"], canals=["E5", "E7"])
    after = rules.play(position, "bridge E5 ns", "bridge E7 ns", "walk E5", "walk E6", "walk E7", "walk E8")
    assert pilli(after, 0) == "E8"


def test_4C_bridge_does_not_end_in_lake_or_canal(rules):
    position = build(canals=["B5", "E9-F9"])
    assert_illegal(rules, position, "bridge B5 ew", "bridge E9 ew", "bridge F9 ew", "bridge O6 ns")
    assert_legal(rules, position, "bridge B5 ns", "bridge E9 ns")


def test_4C_bridge_only_over_a_canal(rules):
    assert_illegal(rules, build(), "bridge E9 ns", "bridge S6 ns", "bridge S6 ew")


def test_4C_relocation_only_once_the_supply_is_empty(rules):
    ten = build(canals=["B5-L5", "D9"], bridges=ELEVEN_BRIDGES[:10])
    assert_legal(rules, ten, "bridge D9 ns", "bridge L5 ns")
    assert legal_of(rules, ten, "relocate") == set()
    eleven = build(canals=["B5-L5", "D9"], bridges=ELEVEN_BRIDGES)
    assert legal_of(rules, eleven, "bridge") == set()
    # the printed canals and D9 are the canals without a bridge
    targets = ["D9 ew", "D9 ns", "O6 ew", "O7 ew", "O8 ew", "O9 ew"]
    assert legal_of(rules, eleven, "relocate") == {
        f"{origin} {target}" for origin in spaces("B5-L5") for target in targets
    }
    after = rules.play(eleven, "relocate B5 D9 ew")
    assert after["action_points"] == 5
    assert {"at": "D9", "axis": "ew"} in after["bridges"]
    assert len(after["bridges"]) == 11


def test_4C_bridge_under_a_pilli_is_not_relocated(rules):
    position = build(pillis=["B5", "C5"], canals=["B5-L5", "D9"], bridges=ELEVEN_BRIDGES)
    origins = {operands.split()[0] for operands in legal_of(rules, position, "relocate")}
    assert origins == set(spaces("D5-L5"))


def test_4C_relocation_may_turn_a_bridge_but_not_leave_it(rules):
    position = build(canals=["B5-L5", "D9"], bridges=[*ELEVEN_BRIDGES[:10], "D9 ns"])
    assert_legal(rules, position, "relocate D9 D9 ew")
    assert_illegal(rules, position, "relocate D9 D9 ns", "relocate C5 C5 ew", "relocate C5 D5 ns")


# 4D: temples


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_4D_temple_costs_its_level(rules, level):
    after = rules.play(build(), f"temple {level} C5")
    assert after["action_points"] == 6 - level
    assert after["temples"] == [{"at": "C5", "seat": 0, "level": level}]
    assert sum(after["seats"][0]["temples"]) == 8


def test_4D_pilli_must_be_in_the_district(rules):
    inside = build(pillis=["D10"], canals=strip(5)["canals"])
    assert legal_of(rules, inside, "temple") == {
        f"{level} {space}" for level in (1, 2, 3, 4) for space in ("B10", "C10", "E10", "F10")
    }
    outside = build(canals=strip(5)["canals"])
    assert_illegal(rules, outside, "temple 1 C10")
    assert_legal(rules, outside, "temple 1 C5")


def test_4D_temple_in_a_founded_district(rules):
    position = build(pillis=["D10"], canals=strip(5)["canals"], tokens={"B10": 5})
    assert_legal(rules, position, "temple 4 C10")


def test_4D_one_temple_a_space(rules):
    position = build(temples={"C5": (0, 1), "D5": (1, 1)})
    assert_illegal(rules, position, "temple 2 C5", "temple 2 D5", "temple 1 K6", "temple 1 L6")


def test_4D_temple_in_the_first_turn_whatever_the_district(rules):
    assert_legal(rules, build(round_=1, built=False), "temple 4 C5")
    assert_legal(rules, build(pillis=["B1"], canals=["B3", "C2"]), "temple 4 B2")


def test_4D_temple_on_a_ramp_blocks_the_bridge(rules):
    position = build(pillis=["M9", "O7"], bridges=["O7 ew"])
    after = rules.play(position, "temple 1 N7", "end")
    assert legal_of(rules, after, "walk") == {"P7"}


def test_4D_opponent_may_be_trapped_after_the_first_round(rules):
    """B1 touches B2 alone. Only the teleport leads out, or the building of a bridge."""
    position = build(pillis=["C3", "B1"], round_=2)
    after = rules.play(position, "temple 1 B2", "end")
    assert legal_of(rules, after, "walk") == legal_of(rules, after, "sail") == set()
    assert len(legal_of(rules, after, "teleport")) == 196 - 4 - 1 - 3
    position = build(pillis=["C3", "B4"], canals=["B3", "B5"], temples={"A4": (0, 1), "C4": (0, 1)}, to_move=1)
    assert legal_of(rules, position, "walk") == set()
    assert legal_of(rules, rules.play(position, "bridge B5 ns"), "walk") == {"B5"}


def test_4D_temple_not_on_the_palace(rules):
    assert_illegal(rules, build(pillis=["H6"]), *(f"temple 1 {space}" for space in PALACE))


def test_4D_temple_not_on_water(rules):
    position = build(bridges=["O8 ew"], canals=["E9"])
    assert_illegal(rules, position, "temple 1 O7", "temple 1 O8", "temple 1 E9", "temple 1 S6")


def test_4D_temple_must_be_in_stock(rules):
    position = build(temples={"C5": (0, 4), "E5": (0, 3), "G5": (0, 3)})
    assert {operands[0] for operands in legal_of(rules, position, "temple")} == {"1", "2"}


# 4E: moves


def test_4E_walk_costs_1_and_is_orthogonal(rules):
    position = build(pillis=["E9"])
    assert legal_of(rules, position, "walk") == {"E8", "D9", "F9", "E10"}
    assert rules.play(position, "walk E8")["action_points"] == 5


def test_4E_walk_may_backtrack(rules):
    after = rules.play(build(pillis=["E9"]), "walk E8", "walk E9", "walk E8")
    assert (pilli(after, 0), after["action_points"]) == ("E8", 3)


def test_4E_pillis_temples_and_tokens_are_obstacles(rules):
    position = build(pillis=["E9", "E8"], temples={"D9": (0, 1), "F9": (1, 1)})
    assert legal_of(rules, position, "walk") == {"E10"}
    position = build(pillis=["D10", "E10"], canals=strip(5)["canals"], tokens={"C10": 5})
    assert legal_of(rules, position, "walk") == set()


def test_4E_pilli_does_not_walk_on_water(rules):
    assert legal_of(rules, build(pillis=["N7"]), "walk") == {"N6", "M7", "N8"}  # O7 is a canal, no bridge
    assert legal_of(rules, build(pillis=["B1"]), "walk") == {"B2"}  # the lake on three sides


def test_4E_pilli_may_stay_on_the_bridge(rules):
    position = build(pillis=["N7", "P7"], bridges=["O7 ew"])
    after = rules.play(position, "walk O7", "end")
    assert pilli(after, 0) == "O7"
    assert_illegal(rules, after, "walk O7", "teleport O7")  # it blocks the bridge
    assert_legal(rules, rules.play(after, "end", "end"), "walk N7")


def test_4E_bridge_is_entered_from_its_ramps_only(rules):
    bridges, canals = ["E5 ns"], ["E5"]
    assert_illegal(rules, build(pillis=["D5"], canals=canals, bridges=bridges), "walk E5")
    assert_legal(rules, build(pillis=["E4"], canals=canals, bridges=bridges), "walk E5")
    on_bridge = build(pillis=["E5"], canals=canals, bridges=bridges)
    assert legal_of(rules, on_bridge, "walk") == {"E4", "E6"}


def test_4E_boat_starts_on_a_bridge(rules):
    position = build(pillis=["N7"], bridges=["O7 ew", "O9 ew"])
    assert legal_of(rules, position, "sail") == set()
    after = rules.play(position, "walk O7", "sail O9")
    assert (pilli(after, 0), after["action_points"]) == ("O9", 4)


def test_4E_boat_does_not_jump_diagonally(rules):
    position = build(pillis=["E5"], canals=["E5", "F6"], bridges=["E5 ns", "F6 ns"])
    assert legal_of(rules, position, "sail") == set()


def test_4E_boat_ends_on_a_free_bridge_and_nowhere_else(rules):
    position = build(pillis=["O6"], bridges=["O6 ew", "O9 ew"])
    assert legal_of(rules, position, "sail") == {"O9"}
    assert_illegal(rules, position, "sail O8", "sail P9", "walk O7", "sail O6")


@pytest.mark.parametrize("others", [["O7"], ["O7", "O8"]])
def test_4E_boat_passes_occupied_bridges_for_1_each(rules, others):
    bridges = ["O6 ew", "O9 ew", *(f"{space} ew" for space in others)]
    cost = len(others) + 1
    position = build(pillis=["O6", *others], bridges=bridges, points=cost)
    assert legal_of(rules, position, "sail") == {"O9"}
    after = rules.play(position, "sail O9")
    assert (pilli(after, 0), after["action_points"]) == ("O9", 0)
    position = build(pillis=["O6", *others], bridges=bridges, points=cost - 1)
    assert legal_of(rules, position, "sail") == set()


def test_4E_boat_takes_the_route_with_the_fewest_bridges(rules):
    """D5 lies behind the occupied C5; but the lake leads there too, once E5 is joined to it."""
    bridges = ["B5 ns", "C5 ns", "D5 ns"]
    closed = build(pillis=["B5", "C5"], canals=["B5-E5", "E3-E4"], bridges=bridges)
    assert rules.play(closed, "sail D5")["action_points"] == 4
    joined = build(pillis=["B5", "C5"], canals=["B5-E5", "E2-E4"], bridges=bridges)
    assert rules.play(joined, "sail D5")["action_points"] == 5


def test_4E_boat_crosses_the_lake(rules):
    """B5 meets the lake in the west, U7 beyond the edge in the east; E9 lies inland."""
    position = build(pillis=["B5"], canals=["B5", "U7", "E9"], bridges=["B5 ns", "U7 ns", "E9 ns"])
    assert legal_of(rules, position, "sail") == {"U7"}
    after = rules.play(position, "sail U7")
    assert (pilli(after, 0), after["action_points"]) == ("U7", 5)


def test_4E_teleport_costs_5_to_any_empty_land_or_bridge(rules):
    position = build(pillis=["E9", "O9"], bridges=["O7 ew", "O9 ew"], temples={"C5": (1, 1)})
    # 196 land spaces less 4 canals, 1 temple and the pillis on E9 and M6; more by the bridge O7
    assert len(legal_of(rules, position, "teleport")) == 196 - 4 - 1 - 2 + 1
    assert_legal(rules, position, "teleport O7", "teleport H7", "teleport H6", "teleport A11")
    assert_illegal(
        rules,
        position,
        "teleport O9",
        "teleport O6",
        "teleport C5",
        "teleport E9",
        "teleport M6",
        "teleport S6",
    )
    assert rules.play(position, "teleport U6")["action_points"] == 1
    position["action_points"] = 4
    assert legal_of(rules, position, "teleport") == set()


def test_4E_nobody_is_penned_in_during_the_first_round(rules):
    """B1 touches B2 alone: with a temple, a canal or a pilli there its guest could not move."""
    pens = ["temple 1 B2", "temple 4 B2", "canal B2", "canal B2-B3", "walk B2", "teleport B2"]
    first = build(pillis=["C2", "B1"], round_=1)
    assert_illegal(rules, first, *pens)
    assert_legal(rules, first, "canal C3", "temple 1 B3", "walk C3", "teleport B3")
    assert_legal(rules, build(pillis=["C2", "B1"], round_=2), *pens)


# 4F and 4G: action tokens


def test_4F_token_costs_1_and_two_a_turn(rules):
    position = rules.play(build(), "token")
    assert (position["action_points"], position["seats"][0]["action_tokens"]) == (5, 1)
    position = rules.play(position, "token")
    assert_illegal(rules, position, "token")
    after = rules.play(position, "end", "end", "end")
    assert_legal(rules, after, "token")
    assert after["seats"][0]["action_tokens"] == 2


def test_4F_no_token_when_the_supply_is_empty(rules):
    assert_illegal(rules, build(action_tokens=[6, 6]), "token")
    assert_legal(rules, build(action_tokens=[6, 5]), "token")


def test_4G_token_gives_one_point_and_returns_to_the_supply(rules):
    position = build(action_tokens=[2, 10], points=0)
    assert_illegal(rules, position, "token")
    after = rules.play(position, "walk K5", "walk K4")
    assert after["seats"][0]["action_tokens"] == 0
    assert rules.legal(after) == ["end"]
    assert_legal(rules, rules.play(after, "end"), "token")


def test_4G_any_number_of_tokens_in_one_turn(rules):
    position = build(action_tokens=[9])
    after = rules.play(position, "teleport E9", "teleport E8", "teleport E7")
    assert (after["action_points"], after["seats"][0]["action_tokens"]) == (0, 0)


# Chapter 5: prestige


def test_5A_founder_and_all_present_score_at_once(rules):
    position = build(
        4, pillis=["B10", "C10", "K6", "D10"], canals=strip(8)["canals"], display=[8], scores=[10, 20, 30, 40]
    )
    assert scores(rules.play(position, "found 8 E10")) == [14, 22, 30, 42]


def district_scores(rules, owned, size=9, players=4, neutral=(), period=1, founded=True):
    """Return the scores after a period in which each seat owned temples of some levels in one district."""
    district, ground = strip(size), iter(strip(size)["spaces"][1:])
    temples = {next(ground): (seat, level) for seat, levels in enumerate(owned) for level in levels}
    temples |= {next(ground): (-1, level) for level in neutral}
    position = build(
        players,
        canals=district["canals"],
        tokens={"B10": size} if founded else {},
        temples=temples,
        period=period,
        **{**PERIOD_RUNS_OUT, "to_move": players - 1},
    )
    return scores(rules.play(position, "end"))


def test_5B_grandeur_is_the_sum_of_levels_not_the_number_of_temples(rules):
    """The rulebook's example: two temples of level 3 and one of level 2 make 8."""
    assert district_scores(rules, [[3, 3, 2], [4, 3], []], players=3) == [9, 5, 0]
    assert district_scores(rules, [[3, 3, 2], [4, 3, 1], []], players=3) == [9, 9, 0]
    assert district_scores(rules, [[1, 1, 1], [4], []], players=3) == [5, 9, 0]


@pytest.mark.parametrize(
    ("owned", "points"),
    [
        pytest.param([[4], [3], [2], [1]], [9, 5, 3, 0], id="fourth_scores_nothing"),
        pytest.param([[1], [2], [3], [4]], [0, 3, 5, 9], id="fourth_scores_nothing_mirrored"),
        pytest.param([[4], [4], [3], [2]], [9, 9, 3, 0], id="two_firsts_no_second_but_a_third"),
        pytest.param([[2], [4], [2], [4]], [3, 9, 3, 9], id="two_firsts_two_thirds"),
        pytest.param([[4], [4], [4], [1]], [9, 9, 9, 0], id="three_firsts_pay_nothing_below"),
        pytest.param([[4], [4], [4], [4]], [9, 9, 9, 9], id="four_firsts"),
        pytest.param([[4], [3], [3], [1]], [9, 5, 5, 0], id="two_seconds_no_third"),
        pytest.param([[4], [2], [2], [2]], [9, 5, 5, 5], id="three_seconds"),
        pytest.param([[4], [3], [1], [1]], [9, 5, 3, 3], id="two_thirds"),
        pytest.param([[], [1], [], []], [0, 9, 0, 0], id="nothing_without_a_temple"),
        pytest.param([[], [], [], []], [0, 0, 0, 0], id="nobody"),
        pytest.param([[4], [], [4], []], [9, 0, 9, 0], id="two_firsts_alone"),
    ],
)
def test_5B_ties(rules, owned, points):
    assert district_scores(rules, owned) == points
    assert district_scores(rules, owned, period=2) == points
    assert district_scores(rules, owned, period=2, founded=False) == points


def test_5B_unfounded_districts_are_ignored_at_the_first_scoring(rules):
    assert district_scores(rules, [[4], [3], [2], [1]], founded=False) == [0, 0, 0, 0]


def test_5B_palace_bonus_on_starting_spaces_only(rules):
    position = build(4, pillis=["H6", "H7", "I7", "G6"], **{**PERIOD_RUNS_OUT, "to_move": 3})
    assert scores(rules.play(position, "end")) == [5, 0, 5, 0]
    position = build(4, pillis=["G7", "H8", "H7", "H9"], period=2, **{**PERIOD_RUNS_OUT, "to_move": 3})
    assert scores(rules.play(position, "end")) == [5, 5, 0, 0]


def test_5B_tokens_and_temples_stay_for_the_second_period(rules):
    position = build(canals=strip(5)["canals"], tokens={"B10": 5}, temples={"C10": (0, 1)}, **PERIOD_RUNS_OUT)
    after = rules.play(position, "end")
    assert after["calpulli"]["placed"] == [{"at": "B10", "size": 5}]
    assert after["temples"] == [{"at": "C10", "seat": 0, "level": 1}]


def test_5C_district_of_the_first_period_scores_again(rules):
    position = build(canals=strip(5)["canals"], tokens={"B10": 5}, temples={"C10": (0, 1)}, **PERIOD_RUNS_OUT)
    position = rules.play(position, "end")
    assert scores(position) == [5, 0, 0]
    position = rules.play(position, *["end"] * 12)
    assert position["phase"] == "over"
    assert scores(position) == [10, 0, 0]


@pytest.mark.parametrize(("size", "first", "second", "third"), [(5, 5, 3, 2), (7, 7, 4, 2), (10, 10, 5, 3)])
def test_5C_unfounded_districts_score_by_their_spaces(rules, size, first, second, third):
    assert district_scores(rules, [[4], [3], [2], [1]], size=size, period=2, founded=False) == [
        first,
        second,
        third,
        0,
    ]


def test_5C_the_rest_of_the_island_is_a_district_too(rules):
    """183 spaces remain beside a district of three and its six canals: 183, 92, 46."""
    temples = {"C5": (0, 3), "D5": (1, 2), "E5": (2, 1)}
    position = build(canals=strip(3)["canals"], temples=temples, period=2, **PERIOD_RUNS_OUT)
    assert scores(rules.play(position, "end")) == [183, 92, 46]


def test_5C_unfounded_district_of_two_spaces(rules):
    position = build(canals=["C2", "B3"], temples={"B1": (0, 1), "B2": (1, 1)}, period=2, **PERIOD_RUNS_OUT)
    assert scores(rules.play(position, "end")) == [2, 2, 0]
    position = build(canals=["C2", "B3"], temples={"B1": (0, 2), "B2": (1, 1)}, period=2, **PERIOD_RUNS_OUT)
    assert scores(rules.play(position, "end")) == [2, 1, 0]


# Chapter 6: the end


@pytest.mark.parametrize(
    ("points", "action_tokens", "winners"),
    [
        ([30, 50, 40], [3, 0, 0], [1]),
        ([50, 50, 40], [1, 2, 3], [1]),
        ([50, 40, 50], [2, 3, 2], [0, 2]),
        ([50, 50, 50], [0, 0, 0], [0, 1, 2]),
    ],
)
def test_6_most_points_then_most_action_tokens_then_shared(rules, points, action_tokens, winners):
    position = build(period=2, scores=points, action_tokens=action_tokens, **PERIOD_RUNS_OUT)
    assert rules.winners(position) == []
    after = rules.play(position, "end")
    assert after["phase"] == "over"
    assert rules.winners(after) == winners


# Chapter 7: two players


@pytest.mark.parametrize(
    ("owned", "neutral", "points"),
    [
        ([[4], [3]], [], [9, 5]),
        ([[4], [3]], [2], [9, 5]),
        ([[4], [1]], [2, 1], [9, 3]),
        ([[3], [1]], [4], [5, 3]),
        ([[3], [3]], [4], [5, 5]),
        ([[4], [1]], [4], [9, 3]),
        ([[4], [4]], [4], [9, 9]),
        ([[4], [4]], [1], [9, 9]),
        ([[4], [2]], [2], [9, 5]),
        ([[1], []], [4], [5, 0]),
    ],
)
def test_7_neutral_temples_rank_as_a_third_player(rules, owned, neutral, points):
    assert district_scores(rules, owned, players=2, neutral=neutral) == points
    assert district_scores(rules, owned, players=2, neutral=neutral, period=2) == points
    assert district_scores(rules, owned, players=2, neutral=neutral, period=2, founded=False) == points


def test_7_neutral_temples_are_obstacles_like_any_other(rules):
    position = build(2, pillis=["E9"], temples={"E8": (-1, 2)})
    assert_illegal(rules, position, "walk E8", "temple 1 E8", "canal E8", "teleport E8")


# The examples of game turns, and the quick start


def test_example_of_a_game_turn_by_boat(rules):
    """Boat under a bridge (2), land (1), found (0), temple of 3, then two tokens for a temple of 2."""
    position = build(
        pillis=["O6", "S9", "O7"],
        bridges=["O6 ew", "O7 ew", "O9 ew"],
        canals=["P8-S8", "T8", "O10"],
        display=[7],
        action_tokens=[2],
    )
    position = rules.play(position, "sail O9")
    assert position["action_points"] == 4
    position = rules.play(position, "walk P9")
    assert position["action_points"] == 3
    position = rules.play(position, "found 7 R9")
    assert position["action_points"] == 3
    assert scores(position) == [4, 2, 0]
    position = rules.play(position, "temple 3 Q9")
    assert (position["action_points"], position["seats"][0]["action_tokens"]) == (0, 2)
    position = rules.play(position, "temple 2 Q10")
    assert (position["action_points"], position["seats"][0]["action_tokens"]) == (0, 0)
    assert rules.legal(position) == ["end"]
    assert rules.play(position, "end")["to_move"] == 1


def test_example_of_a_game_turn_on_foot(rules):
    """Land, land, bridge, boat, land, token: one point each."""
    position = build(pillis=["L7", "K6", "M6"], bridges=["O7 ew", "O9 ew"])
    left = []
    for action in ("walk M7", "walk N7", "walk O7", "sail O9", "walk P9", "token"):
        position = rules.play(position, action)
        left.append(position["action_points"])
    assert left == [5, 4, 3, 2, 1, 0]
    assert position["seats"][0]["action_tokens"] == 1
    position = rules.play(position, "end")
    assert (position["to_move"], position["action_points"]) == (1, 6)


def test_quick_start_first_player_begins_both_periods(rules):
    after = rules.play(build(4, display=[], built_all=[2], to_move=3), "end")
    assert (after["period"], after["to_move"]) == (2, 0)


def test_quick_start_player_without_points_may_still_found(rules):
    position = build(pillis=["D10"], canals=strip(5)["canals"], display=[5], points=0)
    assert rules.legal(position) == ["end", "found 5 B10", "found 5 C10", "found 5 E10", "found 5 F10"]


# Decisions


def test_D1_neutral_temples_at_setup():
    for seed in range(20):
        start = mexica_ai.new_game("mexica", players=2, seed=seed).to_json()
        neutral = start["temples"]
        assert {temple["seat"] for temple in neutral} == {-1}
        assert sorted(temple["level"] for temple in neutral) == [1, 1, 1, 1, 2, 2, 2, 3, 3, 4]
        where = [temple["at"] for temple in neutral]
        assert set(where) <= set(reference.neutral_spaces())
        assert all(reference.distance(one, other) >= 5 for one in where for other in where if one != other)


def test_D1_variant_with_more_levels():
    levels = [1, 2, 3, 4] * 2 + [4, 4, 4]
    start = mexica_ai.new_game("mexica", players=2, seed=5, neutral_levels=levels).to_json()
    assert sorted(temple["level"] for temple in start["temples"]) == sorted(levels)


def test_D1_no_neutral_temples_with_three_or_four():
    for players in (3, 4):
        assert mexica_ai.new_game("mexica", players=players, seed=5).to_json()["temples"] == []


def test_D2_tokens_pay_what_the_points_do_not(rules):
    position = build(points=1, action_tokens=[2])
    after = rules.play(position, "temple 3 C5")
    assert (after["action_points"], after["seats"][0]["action_tokens"]) == (0, 0)
    assert_illegal(rules, position, "temple 4 C5")


def test_D2_a_token_is_not_bought_with_a_token(rules):
    assert_illegal(rules, build(points=0, action_tokens=[3]), "token")
    assert_legal(rules, build(points=1, action_tokens=[3]), "token")


def test_D3_pilli_on_a_bridge_is_in_no_district(rules):
    position = build(pillis=["C9", "C10"], canals=strip(5)["canals"], bridges=["C9 ns"], display=[5])
    assert legal_of(rules, position, "found") == legal_of(rules, position, "temple") == set()
    position["to_move"] = 1
    assert scores(rules.play(position, "found 5 E10")) == [0, 3, 0]


def test_D3_boat_past_a_free_bridge_is_two_actions(rules):
    position = build(pillis=["O6"], bridges=["O6 ew", "O7 ew", "O9 ew"])
    assert legal_of(rules, position, "sail") == {"O7"}
    assert legal_of(rules, rules.play(position, "sail O7"), "sail") == {"O6", "O9"}


def test_D4_found_that_pens_in(rules):
    """B1, B2, C2 are a district of three; the token on B2 would shut B1."""
    closed = {"pillis": ["C2", "B1"], "canals": ["B3-C3", "D2"], "display": [3]}
    assert_illegal(rules, build(round_=1, **closed), "found 3 B2")
    assert_legal(rules, build(round_=2, **closed), "found 3 B2")


def test_D4_boat_counts_as_a_way_out(rules):
    """The ramps of O7 are blocked: its guest has O9 alone, so nobody may take O9."""
    blocked = {"pillis": ["N9", "O7"], "bridges": ["O7 ew", "O9 ew"], "temples": {"N7": (0, 1), "P7": (0, 1)}}
    assert_illegal(rules, build(round_=1, **blocked), "walk O9", "teleport O9")
    assert_legal(rules, build(round_=1, **blocked), "bridge O8 ew", "canal N8", "temple 1 P9")
    assert_legal(rules, build(round_=2, **blocked), "walk O9", "teleport O9")


def test_D4_relocation_that_takes_the_last_way_out_from_afar(rules):
    """All eleven bridges stand; two are joined by water to O7, and one of them is occupied."""
    far = {
        "pillis": ["U8", "O7", "O8"],
        "bridges": ["O7 ew", "O8 ew", "O9 ew", *ELEVEN_BRIDGES[2:10]],
        "canals": ["D5-K5", "D9"],
        "temples": {"N7": (0, 1), "P7": (0, 1)},
    }
    assert_illegal(rules, build(round_=1, **far), "relocate O9 D9 ns")
    assert_legal(rules, build(round_=1, **far), "relocate O9 O6 ew", "relocate D5 D9 ns")
    assert_legal(rules, build(round_=2, **far), "relocate O9 D9 ns")


def test_D4_one_step_left_is_not_penned_in(rules):
    position = build(pillis=["C3", "B1"], round_=1)
    assert_legal(rules, position, "canal A3-B3", "canal C2")
    assert_legal(rules, rules.play(position, "canal C2"), "canal A3-B3")  # B1 and B2 remain: one step


def test_D4_who_is_shut_already_and_the_own_pilli_do_not_count(rules):
    position = build(pillis=["B1", "L2"], round_=1, temples={"K2": (0, 1), "L3": (0, 1)})
    assert_legal(rules, position, "temple 1 B2", "canal B2", "canal K3")


def test_D5_while_tiles_remain_a_token_larger_than_all_districts_goes(rules):
    """Two double tiles and a single are left; the largest of the districts have ten spaces."""
    doubles = (
        "J6-J7 F8-G8 J8-K8 F6-G6 E2-F2 L9-L10 G3-G4 K6-L6 B4-B5 D4-D5 G12-H12 G10-G11 I13-I14 M4-M5 J2-J3 "
        "R7-R8 H9-I9 E9-F9 K4-K5 P6-Q6 K11-K12 I12-J12 D8-E8 C10-D10 D2-D3 E11-F11 D12-D13 C6-C7 S9-T9 "
        "M6-N6 H5-I5 N10-O10 G1-H1"
    )
    carved = [*doubles.split(), "E7", "G2", "Q8", "C13", "M10"]
    position = build(pillis=["H6", "G7", "I7"], canals=carved, display=[3, 9, 10, 11, 12])
    assert position["canal_tiles"] == {"single": 1, "double": 2}
    after = rules.play(position, "token")
    assert after["calpulli"]["display"] == [3, 9, 10]
    assert set(after["calpulli"]["removed"]) >= {11, 12}


def display_after(rules, **options):
    """Return the display after an action that changes nothing else that matters."""
    return rules.play(build(no_tiles=True, **options), "token")["calpulli"]["display"]


def test_D5_without_tiles_one_token_a_district_of_its_size(rules):
    assert display_after(rules, canals=["F2-J2"], display=[5, 5, 4]) == [5]
    two = ["F2-J2", "S7", "T8-U8"]
    assert display_after(rules, canals=two, display=[4, 4, 5, 5, 6]) == [4, 5]


def test_D5_founded_district_holds_no_place_for_another_token(rules):
    assert display_after(rules, canals=["F2-J2"], tokens={"F1": 5}, display=[5]) == []


def test_D5_without_tiles_a_district_needs_room_for_token_and_pilli(rules):
    three = dict.fromkeys(["F1", "G1", "H1"], (0, 1))
    assert display_after(rules, canals=["F2-J2"], display=[5], temples=three) == [5]
    four = {**three, "I1": (1, 1)}
    assert display_after(rules, canals=["F2-J2"], display=[5], temples=four) == []


def test_D5_pawns_are_no_obstacles(rules):
    three = dict.fromkeys(["F1", "G1", "H1"], (0, 1))
    pillis = ["K6", "I1", "J1"]
    assert display_after(rules, canals=["F2-J2"], display=[5], temples=three, pillis=pillis) == [5]


def test_D5_palace_space_is_room_for_the_pilli(rules):
    assert display_after(rules, canals=DIAMOND_AND_F7, display=[6]) == [6]
    assert display_after(rules, canals=DIAMOND_AND_F7, display=[6], temples={"F7": (0, 1)}) == []
    assert display_after(rules, canals=DIAMOND, display=[5]) == []


def test_D5_in_the_middle_of_a_turn_and_in_the_first_period(rules):
    position = build(no_tiles=True, canals=["F2-J2"], display=[5, 6], pillis=["F1"])
    after = rules.play(position, "found 5 H1")
    assert (after["to_move"], after["period"]) == (0, 1)
    assert after["calpulli"]["display"] == []
    assert 6 in after["calpulli"]["removed"]


def test_D5_when_tokens_are_dealt(rules):
    position = build(
        no_tiles=True, canals=["F2-J2"], display=[], upcoming=[3, 4, 5, 5, 6, 7, 8], built_all=[1], to_move=2
    )
    after = rules.play(position, "end")
    assert after["period"] == 2
    assert after["calpulli"]["display"] == [5]
    assert set(after["calpulli"]["removed"]) >= {3, 4, 5, 6, 7, 8}


@pytest.mark.parametrize(
    ("action", "idle_after"),
    [
        ("canal C5", 0),
        ("temple 1 C5", 0),
        ("found 5 B10", 0),
        ("bridge O7 ew", 2),
        ("walk C10", 2),
        ("token", 2),
        ("teleport C5", 2),
        ("end", 2),
    ],
)
def test_D6_what_makes_a_round_idle(rules, action, idle_after):
    position = build(
        pillis=["K6", "L6", "D10"], canals=strip(5)["canals"], display=[3, 5], idle=1, built=False, to_move=2
    )
    if action.startswith("temple"):
        position["seats"][2]["pilli"] = "K4"
    actions = [action] if action == "end" else [action, "end"]
    after = rules.play(position, *actions)
    assert after["idle_rounds"] == idle_after
    assert after["period"] == 1
    assert (after["calpulli"]["display"] == []) == (idle_after == 2)


def test_D6_a_building_early_in_the_round_counts(rules):
    after = rules.play(build(idle=1, built=False), "canal C5", "end", "end", "end")
    assert (after["idle_rounds"], after["built_this_round"]) == (0, False)


def test_D6_two_idle_rounds_empty_the_display_and_four_end_the_period(rules):
    position = build(display=[3, 4, 5], built=False)
    seen = []
    for _ in range(4):
        position = rules.play(position, "end", "end", "end")
        seen.append((position["idle_rounds"], len(position["calpulli"]["display"]), position["period"]))
    assert seen == [(1, 3, 1), (2, 0, 1), (3, 0, 1), (0, 7, 2)]
    assert len(position["calpulli"]["removed"]) == 8


def test_D7_display_removed_before_the_end_is_tested(rules):
    position = build(display=[3], idle=1, built=False, built_all=[0], to_move=2)
    after = rules.play(position, "end")
    assert (after["period"], after["idle_rounds"], after["round"]) == (2, 0, 6)
    assert 3 in after["calpulli"]["removed"]


def test_D7_final_position(rules):
    after = rules.play(build(period=2, taken=1, points=3, **PERIOD_RUNS_OUT), "end")
    assert {
        key: after[key]
        for key in (
            "phase",
            "period",
            "round",
            "to_move",
            "action_points",
            "tokens_taken",
            "idle_rounds",
            "built_this_round",
        )
    } == {
        "phase": "over",
        "period": 2,
        "round": 6,
        "to_move": 0,
        "action_points": 6,
        "tokens_taken": 0,
        "idle_rounds": 4,
        "built_this_round": False,
    }


def test_D8_token_out_of_play_by_agreement(rules):
    """Chapter 3: if all agree that a token can no longer be used, it leaves play. Free, and never offered."""
    position = build(display=[3, 5, 5], points=2, to_move=1)
    assert legal_of(rules, position, "remove") == set()
    after = rules.play(position, "remove 5")
    assert after["calpulli"]["display"] == [3, 5]
    assert sorted(after["calpulli"]["removed"]) == sorted([*position["calpulli"]["removed"], 5])
    assert (after["action_points"], after["to_move"], after["built_this_round"]) == (2, 1, True)
    assert_illegal(rules, position, "remove 4")


def test_D8_an_agreed_removal_may_let_the_period_end(rules):
    position = build(display=[3], built_all=[0], to_move=2)
    assert rules.play(position, "end")["period"] == 1
    assert rules.play(position, "remove 3", "end")["period"] == 2


def test_D8_no_removal_while_placing_or_after_the_end(rules):
    assert_illegal(rules, placement(3), "remove 3")
    over = rules.play(build(period=2, **PERIOD_RUNS_OUT), "end")
    assert_illegal(rules, over, "remove 3", "end", "walk K5")
