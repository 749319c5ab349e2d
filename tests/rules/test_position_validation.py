"""Each broken invariant of a Mexica position is reported by its name and the JSON path."""

import copy
import random

import pytest
from mexica_builder import build

from mexica_ai import NotationError, Position, PositionError, UnknownGameError
from mexica_ai.games.mexica.board import GRID, format_space, neighbours, parse_space
from mexica_ai.games.mexica.invariants import count_dominoes

# C9-F9 and B11-E11 and F10 close B10-E10 off to a district of four.
DISTRICT = {"canals": ["C9-E9", "B11-E11", "F10"], "tokens": {"C10": 4}}


def base(**changes):
    """Return a valid position with something of everything."""
    setting = {
        "players": 2,
        **DISTRICT,
        "pillis": ["H6", "C9"],
        "bridges": ["O7 ew", "C9 ns"],
        "temples": {"B10": (0, 2), "K4": (1, 1), "L10": (-1, 4)},
        "points": 3,
    }
    return build(**(setting | changes))


def set_at(path, value):
    """Return a change that puts `value` at a path such as ``seats 0 score`` (``-`` appends to a list)."""
    *parents, last = [int(word) if word.isdigit() else word for word in path.split()]

    def change(data):
        for key in parents:
            data = data[key]
        if last == "-":
            data.append(value)
        else:
            data[last] = value

    return change


def remove(path):
    """Return a change that deletes a key or an entry."""
    *parents, last = [int(word) if word.isdigit() else word for word in path.split()]

    def change(data):
        for key in parents:
            data = data[key]
        del data[last]

    return change


def change_all(*changes):
    """Return one change made of several."""

    def change(data):
        for single in changes:
            single(data)

    return change


def violations(data):
    """Return the (path, reason) pairs of the invariants that a position breaks."""
    with pytest.raises(PositionError) as caught:
        Position.from_json(data)
    assert caught.value.path == caught.value.violations[0].path
    assert caught.value.reason == caught.value.violations[0].reason
    assert "\n" not in str(caught.value)
    return {(violation.path, violation.reason) for violation in caught.value.violations}


def test_the_position_that_all_cases_change_is_valid():
    data = base()
    position = Position.from_json(data)
    assert position == Position.from_json(position.to_json())


def temple(at, seat, level):
    return {"at": at, "seat": seat, "level": level}


BROKEN = [
    # Ranges
    (set_at("players", 1), "$.players", "OUT_OF_RANGE"),
    (set_at("players", 5), "$.players", "OUT_OF_RANGE"),
    (set_at("period", 0), "$.period", "OUT_OF_RANGE"),
    (set_at("period", 3), "$.period", "OUT_OF_RANGE"),
    (set_at("round", -1), "$.round", "OUT_OF_RANGE"),
    (set_at("round", 10**6 + 1), "$.round", "OUT_OF_RANGE"),
    (set_at("round", 10**5000), "$.round", "OUT_OF_RANGE"),
    (set_at("to_move", 2), "$.to_move", "OUT_OF_RANGE"),
    (set_at("to_move", -1), "$.to_move", "OUT_OF_RANGE"),
    (set_at("action_points", 7), "$.action_points", "OUT_OF_RANGE"),
    (set_at("action_points", -1), "$.action_points", "OUT_OF_RANGE"),
    (set_at("tokens_taken", 3), "$.tokens_taken", "OUT_OF_RANGE"),
    (set_at("idle_rounds", 4), "$.idle_rounds", "OUT_OF_RANGE"),
    (set_at("idle_rounds", -1), "$.idle_rounds", "OUT_OF_RANGE"),
    (set_at("seats 0 score", 1000), "$.seats[0].score", "OUT_OF_RANGE"),
    (set_at("seats 1 score", -1), "$.seats[1].score", "OUT_OF_RANGE"),
    (set_at("seats 0 action_tokens", 13), "$.seats[0].action_tokens", "OUT_OF_RANGE"),
    (set_at("seats 0 action_tokens", -1), "$.seats[0].action_tokens", "OUT_OF_RANGE"),
    (set_at("seats 1 temples 2", -1), "$.seats[1].temples[2]", "OUT_OF_RANGE"),
    (set_at("canal_tiles single", 7), "$.canal_tiles.single", "OUT_OF_RANGE"),
    (set_at("canal_tiles double", 36), "$.canal_tiles.double", "OUT_OF_RANGE"),
    (set_at("canal_tiles double", -1), "$.canal_tiles.double", "OUT_OF_RANGE"),
    (set_at("temples 0 level", 0), "$.temples[0].level", "OUT_OF_RANGE"),
    (set_at("temples 0 level", 5), "$.temples[0].level", "OUT_OF_RANGE"),
    (set_at("temples 0 seat", 2), "$.temples[0].seat", "OUT_OF_RANGE"),
    (set_at("temples 0 seat", -2), "$.temples[0].seat", "OUT_OF_RANGE"),
    (set_at("calpulli pool 0", 2), "$.calpulli.pool[0]", "OUT_OF_RANGE"),
    (set_at("calpulli display 0", 14), "$.calpulli.display[0]", "OUT_OF_RANGE"),
    (set_at("calpulli placed 0 size", 14), "$.calpulli.placed[0].size", "OUT_OF_RANGE"),
    (set_at("calpulli removed -", 2), "$.calpulli.removed[0]", "OUT_OF_RANGE"),
    (set_at("calpulli upcoming 6", 99), "$.calpulli.upcoming[6]", "OUT_OF_RANGE"),
    # Counters that belong together
    (remove("seats 1"), "$.seats", "SEATS_COUNT"),
    (set_at("players", 3), "$.seats", "SEATS_COUNT"),
    (set_at("round", 0), "$.round", "PHASE_MISMATCH"),
    (
        change_all(set_at("seats 0 action_tokens", 7), set_at("seats 1 action_tokens", 6)),
        "$.seats",
        "ACTION_TOKENS_COUNT",
    ),
    # Canals
    (set_at("canals 0", "A1"), "$.canals[0]", "WRONG_SPACE"),
    (set_at("canals 0", "H7"), "$.canals[0]", "WRONG_SPACE"),
    (set_at("canals 4", "C9"), "$.canals[4]", "SPACE_OCCUPIED"),
    (lambda data: data["canals"].remove("O8"), "$.canals", "PRINTED_CANALS"),
    (set_at("canals -", "C6"), "$.canals", "CANAL_COUNT"),
    (set_at("canal_tiles single", 5), "$.canals", "CANAL_COUNT"),
    (
        change_all(set_at("canal_tiles double", 30), set_at("canal_tiles single", 6), remove("canals 4")),
        "$.canals",
        "CANAL_COUNT",
    ),
    # Bridges
    (set_at("bridges 0 at", "D5"), "$.bridges[0].at", "WRONG_SPACE"),
    (set_at("bridges 0 at", "A1"), "$.bridges[0].at", "WRONG_SPACE"),
    (set_at("bridges 1 at", "O7"), "$.bridges[1].at", "SPACE_OCCUPIED"),
    (set_at("bridges 1 axis", "ew"), "$.bridges[1]", "BRIDGE_RAMPS"),
    (set_at("bridges 0 axis", "ns"), "$.bridges[0]", "BRIDGE_RAMPS"),
    # Temples
    (set_at("temples 0 at", "A1"), "$.temples[0].at", "WRONG_SPACE"),
    (set_at("temples 0 at", "H8"), "$.temples[0].at", "WRONG_SPACE"),
    (set_at("temples 0 at", "O6"), "$.temples[0].at", "WRONG_SPACE"),
    (set_at("temples 1 at", "K4"), "$.temples[1].at", "SPACE_OCCUPIED"),
    (set_at("temples 0 level", 2), "$.seats[1].temples[0]", "TEMPLES_COUNT"),
    (remove("temples 0"), "$.seats[1].temples[0]", "TEMPLES_COUNT"),
    (set_at("seats 0 temples 3", 0), "$.seats[0].temples[3]", "TEMPLES_COUNT"),
    (set_at("seats 0 temples", [3, 2, 2]), "$.seats[0].temples", "TEMPLES_COUNT"),
    (set_at("seats 0 temples -", 0), "$.seats[0].temples", "TEMPLES_COUNT"),
    # Pillis
    (set_at("seats 0 pilli", "A1"), "$.seats[0].pilli", "WRONG_SPACE"),
    (set_at("seats 0 pilli", "O6"), "$.seats[0].pilli", "WRONG_SPACE"),
    (set_at("seats 1 pilli", "H6"), "$.seats[1].pilli", "SPACE_OCCUPIED"),
    (set_at("seats 0 pilli", "K4"), "$.seats[0].pilli", "SPACE_OCCUPIED"),
    (set_at("seats 0 pilli", "C10"), "$.seats[0].pilli", "SPACE_OCCUPIED"),
    (set_at("seats 0 pilli", ""), "$.seats[0].pilli", "PILLI_PLACEMENT"),
    # Tokens
    (set_at("calpulli placed 0 at", "A1"), "$.calpulli.placed[0].at", "WRONG_SPACE"),
    (set_at("calpulli placed 0 at", "H6"), "$.calpulli.placed[0].at", "WRONG_SPACE"),
    (set_at("calpulli placed 0 at", "C9"), "$.calpulli.placed[0].at", "WRONG_SPACE"),
    (set_at("calpulli placed 0 at", "B10"), "$.calpulli.placed[0].at", "WRONG_SPACE"),
    (set_at("calpulli placed 0 at", "D4"), "$.calpulli.placed[0].size", "DISTRICT_SIZE"),
    (set_at("calpulli placed 0 size", 5), "$.calpulli.placed[0].size", "DISTRICT_SIZE"),
    (set_at("calpulli placed -", {"at": "C10", "size": 4}), "$.calpulli.placed[1].at", "SPACE_OCCUPIED"),
    (set_at("calpulli placed -", {"at": "D10", "size": 4}), "$.calpulli.placed[1].at", "DISTRICT_TOKENS"),
    (remove("calpulli display 0"), "$.calpulli", "TOKENS_COUNT"),
    (set_at("calpulli display -", 13), "$.calpulli", "TOKENS_COUNT"),
    (set_at("calpulli removed -", 13), "$.calpulli", "TOKENS_COUNT"),
    (set_at("calpulli display", [3] * 7), "$.calpulli", "TOKENS_NOT_IN_POOL"),
    (set_at("calpulli pool", [3] * 15), "$.calpulli", "TOKENS_NOT_IN_POOL"),
    (remove("calpulli pool 0"), "$.calpulli.pool", "POOL_SIZE"),
    (set_at("calpulli pool", [4] * 256), "$.calpulli.pool", "POOL_SIZE"),
    (remove("calpulli upcoming 0"), "$.calpulli.upcoming", "UPCOMING_COUNT"),
    (set_at("calpulli upcoming", []), "$.calpulli.upcoming", "UPCOMING_COUNT"),
    (set_at("calpulli upcoming 0", 3), "$.calpulli.upcoming", "TOKENS_NOT_IN_POOL"),
    # The end of the game
    (set_at("phase", "over"), "$.period", "PHASE_MISMATCH"),
    (set_at("phase", "over"), "$.action_points", "PHASE_MISMATCH"),
    (set_at("phase", "over"), "$.built_this_round", "PHASE_MISMATCH"),
    (change_all(set_at("phase", "over"), set_at("to_move", 1)), "$.to_move", "PHASE_MISMATCH"),
    (change_all(set_at("phase", "over"), set_at("tokens_taken", 1)), "$.tokens_taken", "PHASE_MISMATCH"),
    (change_all(set_at("phase", "over"), set_at("round", 1)), "$.round", "PHASE_MISMATCH"),
    (change_all(set_at("phase", "over"), set_at("idle_rounds", 5)), "$.idle_rounds", "OUT_OF_RANGE"),
]


@pytest.mark.parametrize(("change", "path", "reason"), BROKEN, ids=[f"{case[1]} {case[2]}" for case in BROKEN])
def test_a_broken_invariant_is_refused_by_name_and_path(change, path, reason):
    data = base()
    change(data)
    assert (path, reason) in violations(data)


def test_all_violations_are_collected():
    data = base()
    change_all(
        set_at("seats 0 score", -5),
        set_at("bridges 0 axis", "ns"),
        set_at("calpulli placed 0 size", 5),
        set_at("temples 0 at", "H7"),
    )(data)
    assert {reason for _, reason in violations(data)} >= {
        "OUT_OF_RANGE",
        "BRIDGE_RAMPS",
        "DISTRICT_SIZE",
        "WRONG_SPACE",
    }


def test_a_position_with_a_thousand_faults_lists_a_hundred():
    data = base()
    data["canals"] = ["A1"] * 1000
    with pytest.raises(PositionError) as caught:
        Position.from_json(data)
    assert len(caught.value.violations) == 100


def test_messages_say_what_was_given_what_was_expected_and_where():
    data = base()
    data["seats"][0]["pilli"] = "K4"
    with pytest.raises(PositionError, match=r"^\$\.seats\[0\]\.pilli: K4 holds a temple; expected a free space$"):
        Position.from_json(data)


# --- what the phases ask for


def placement(to_move=1):
    position = Position.from_json(
        build(phase="play", pillis=["H6", "G7", "I7"], round_=1, built=False)
    )  # only for its lists
    data = position.to_json() | {"phase": "placement", "round": 0, "to_move": to_move}
    for seat in data["seats"][to_move:]:
        seat["pilli"] = ""
    return data


def test_placement_in_seat_order():
    for to_move in range(3):
        assert Position.from_json(placement(to_move)).to_move == to_move


PLACEMENT_BROKEN = [
    (set_at("seats 0 pilli", ""), "$.seats[0].pilli", "PILLI_PLACEMENT"),
    (set_at("seats 1 pilli", "G7"), "$.seats[1].pilli", "PILLI_PLACEMENT"),
    (set_at("seats 2 pilli", "G7"), "$.seats[2].pilli", "PILLI_PLACEMENT"),
    (set_at("seats 0 pilli", "H7"), "$.seats[0].pilli", "WRONG_SPACE"),
    (set_at("seats 0 pilli", "D4"), "$.seats[0].pilli", "WRONG_SPACE"),
    (set_at("round", 1), "$.round", "PHASE_MISMATCH"),
    (set_at("period", 2), "$.period", "PHASE_MISMATCH"),
    (set_at("action_points", 5), "$.action_points", "PHASE_MISMATCH"),
    (set_at("tokens_taken", 1), "$.tokens_taken", "PHASE_MISMATCH"),
    (set_at("idle_rounds", 1), "$.idle_rounds", "PHASE_MISMATCH"),
    (set_at("built_this_round", True), "$.built_this_round", "PHASE_MISMATCH"),
]


@pytest.mark.parametrize(("change", "path", "reason"), PLACEMENT_BROKEN)
def test_broken_placements(change, path, reason):
    data = placement()
    change(data)
    assert (path, reason) in violations(data)


def due(**changes):
    """Return a position whose period ends with the round."""
    setting = {"display": [], "built_all": [1], "points": 6, "built": False, "pillis": ["H6", "G7", "I7"]}
    return build(**(setting | changes))


@pytest.mark.parametrize("period", [1, 2])
def test_a_period_may_be_due_at_the_start_of_a_round_since_a_token_can_be_removed_at_any_time(period):
    after = Position.from_json(due(period=period, display=[13]))
    after.push_action("remove 13")
    assert Position.from_json(after.to_json()) == after
    assert after.view(0).legal_actions() == after.legal_actions()


@pytest.mark.parametrize("period", [1, 2])
@pytest.mark.parametrize("changes", [{}, {"to_move": 1, "points": 2}])
def test_a_period_whose_end_was_due_does_not_still_run(period, changes):
    data = due(period=period, **changes)
    Position.from_json(data)
    data["calpulli"]["removed"] = []  # (so tokens are missing, too: eight founded districts would be long to lay out)
    assert violations(data) == {("$.period", "PERIOD_OVERDUE"), ("$.calpulli", "TOKENS_COUNT")}


@pytest.mark.parametrize("changes", [{"built": True}, {"built_all": []}, {"display": [13]}])
def test_a_period_runs_that_was_not_due_with_the_last_round(changes):
    data = due(**changes)
    data["calpulli"]["removed"] = []
    assert violations(data) == {("$.calpulli", "TOKENS_COUNT")}


def test_after_four_idle_rounds_the_game_may_be_over():
    data = due(period=2, idle=3)
    Position.from_json(data | {"phase": "over", "idle_rounds": 4})


def test_neutral_temples_only_with_two_seats():
    data = build(3, temples={"L10": (-1, 1)})
    assert violations(data) == {("$.temples", "NEUTRAL_TEMPLES")}


def test_forty_neutral_temples_at_most():
    ground = [f"{column}{row}" for row in (3, 4, 11, 12) for column in "BCDEFGHIJKL"]
    neutral = dict.fromkeys(ground, (-1, 1))
    assert violations(build(2, temples=neutral)) == {("$.temples", "NEUTRAL_TEMPLES")}
    Position.from_json(build(2, temples=dict(list(neutral.items())[:40])))


def test_eleven_bridges_at_most():
    canals = ["C3-J3", "C10-F10"]
    bridges = [f"{space} ns" for space in ("C3", "D3", "E3", "F3", "G3", "H3", "I3", "J3", "C10", "D10", "E10", "F10")]
    assert violations(build(canals=canals, bridges=bridges)) == {("$.bridges", "BRIDGES_COUNT")}
    Position.from_json(build(canals=canals, bridges=bridges[1:]))


# --- shape: types and keys


SHAPE_BROKEN = [
    (set_at("round", 3.0), "$.round", "WRONG_TYPE"),
    (set_at("round", "3"), "$.round", "WRONG_TYPE"),
    (set_at("round", True), "$.round", "WRONG_TYPE"),
    (set_at("round", None), "$.round", "WRONG_TYPE"),
    (set_at("round", float("nan")), "$.round", "WRONG_TYPE"),
    (set_at("built_this_round", 1), "$.built_this_round", "WRONG_TYPE"),
    (set_at("seats", {}), "$.seats", "WRONG_TYPE"),
    (set_at("seats 0", []), "$.seats[0]", "WRONG_TYPE"),
    (set_at("seats 0 score", "4"), "$.seats[0].score", "WRONG_TYPE"),
    (set_at("seats 0 temples 0", 3.0), "$.seats[0].temples[0]", "WRONG_TYPE"),
    (set_at("seats 0 pilli", None), "$.seats[0].pilli", "WRONG_TYPE"),
    (set_at("seats 0 pilli", "h6"), "$.seats[0].pilli", "BAD_SPACE"),
    (set_at("seats 0 pilli", "H06"), "$.seats[0].pilli", "BAD_SPACE"),
    (set_at("seats 0 pilli", "V1"), "$.seats[0].pilli", "BAD_SPACE"),
    (set_at("seats 0 pilli", "H15"), "$.seats[0].pilli", "BAD_SPACE"),
    (set_at("seats 0 pilli", "H6\n"), "$.seats[0].pilli", "BAD_SPACE"),
    (set_at("seats 0 pilli", "H\u0666"), "$.seats[0].pilli", "BAD_SPACE"),
    (set_at("canals 0", ""), "$.canals[0]", "BAD_SPACE"),
    (set_at("bridges 0 axis", "we"), "$.bridges[0].axis", "BAD_VALUE"),
    (set_at("phase", "Play"), "$.phase", "BAD_VALUE"),
    (set_at("game", "nim"), None, None),
    (set_at("version", 2), "$.version", "UNSUPPORTED_VERSION"),
    (set_at("version", "1"), "$.version", "WRONG_TYPE"),
    (set_at("colour", "red"), "$.colour", "UNKNOWN_KEY"),
    (set_at("seats 0 colour", "red"), "$.seats[0].colour", "UNKNOWN_KEY"),
    (set_at("calpulli hidden", []), "$.calpulli.hidden", "UNKNOWN_KEY"),
    (remove("round"), "$.round", "MISSING_KEY"),
    (remove("seats 0 score"), "$.seats[0].score", "MISSING_KEY"),
    (remove("calpulli display"), "$.calpulli.display", "MISSING_KEY"),
    (set_at("calpulli removed", None), "$.calpulli.removed", "WRONG_TYPE"),
    (set_at("calpulli pool", None), "$.calpulli.pool", "WRONG_TYPE"),
    (remove("version"), "$.version", "MISSING_KEY"),
    (remove("game"), "$.game", "MISSING_KEY"),
    (set_at("game", 3), "$.game", "WRONG_TYPE"),
]


@pytest.mark.parametrize(("change", "path", "reason"), SHAPE_BROKEN)
def test_a_wrong_shape_cannot_be_read(change, path, reason):
    data = base()
    change(data)
    with pytest.raises(NotationError) as caught:
        Position.from_json(data)
    if path:
        assert (caught.value.path, caught.value.reason) == (path, reason)


def test_all_wrong_shapes_are_collected():
    data = base()
    data |= {"round": "4", "extra": 1}
    del data["period"]
    with pytest.raises(NotationError) as caught:
        Position.from_json(data, path="position")
    found = {(violation.path, violation.reason) for violation in caught.value.violations}
    assert found == {
        ("position.round", "WRONG_TYPE"),
        ("position.extra", "UNKNOWN_KEY"),
        ("position.period", "MISSING_KEY"),
    }


def test_an_unknown_game_names_the_known_ones():
    with pytest.raises(UnknownGameError, match='"chess"; expected one of coatl, mexica, nim, tzolkin'):
        Position.from_json({"game": "chess"})


# --- what may be left out, and in which order lists may come


def test_pool_removed_and_upcoming_may_be_left_out():
    data = base()
    full = Position.from_json(data)
    for key in ("pool", "removed", "upcoming"):
        del data["calpulli"][key]
    assert Position.from_json(data) == full
    assert full.has_one_world
    assert "pool" not in full.to_json()["calpulli"]


def test_what_only_history_shows_may_be_left_out():
    over = due(period=2, idle=0) | {"phase": "over"}
    for data, built in ((base(), True), (placement(), False), (over, False)):
        data |= {"idle_rounds": 0, "built_this_round": built}
        rest = {key: value for key, value in data.items() if key not in ("idle_rounds", "built_this_round")}
        position = Position.from_json(rest)
        assert position == Position.from_json(data)
        assert {"idle_rounds", "built_this_round"} <= position.to_json().keys()


def test_upcoming_stays_unknown_with_a_larger_pool():
    pool = [3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13, 13, 13]
    data = base(pool=pool, upcoming=None)
    assert data["calpulli"]["upcoming"] is None
    position = Position.from_json(data)
    assert not position.has_one_world
    assert position.to_json()["calpulli"]["upcoming"] is None
    assert position.to_json()["calpulli"]["pool"] == pool
    del data["calpulli"]["upcoming"]
    assert Position.from_json(data) == position


def test_upcoming_is_empty_in_period_2():
    data = build(period=2)
    position = Position.from_json(data)
    assert position.to_json()["calpulli"]["upcoming"] == []
    del data["calpulli"]["upcoming"]
    assert Position.from_json(data) == position
    data["calpulli"]["upcoming"] = [3]
    assert ("$.calpulli.upcoming", "UPCOMING_COUNT") in violations(data)


def test_lists_may_come_in_any_order_and_are_written_in_one():
    data = base()
    position = Position.from_json(data)
    shuffled = copy.deepcopy(data)
    rng = random.Random(1)
    for entries in (
        shuffled["canals"],
        shuffled["bridges"],
        shuffled["temples"],
        *shuffled["calpulli"].values(),
    ):
        rng.shuffle(entries)
    assert shuffled != data
    assert Position.from_json(shuffled) == position
    assert Position.from_json(shuffled).to_json() == position.to_json()
    canals = [parse_space(space) for space in position.to_json()["canals"]]
    assert canals == sorted(canals)


def test_not_invariants_unfoundable_tokens_and_close_neutral_temples():
    # D5 would remove the 13 from this display, D1 would never put two neutral temples side by side.
    data = build(
        2,
        display=[7, 8, 9, 10, 11, 12, 13, 6],
        canals=["C9-E9", "B11-E11", "F10"],
        temples={"L10": (-1, 1), "M10": (-1, 2)},
        no_tiles=False,
    )
    Position.from_json(data)


# --- canals tile into the singles and doubles used


def laid_canals(spaces, doubles, singles):
    """Return a position in which these canals are laid with these numbers of tiles."""
    data = build(pillis=["H6", "G7", "I7"])
    order = sorted([*data["canals"], *spaces], key=parse_space)
    return data | {"canals": order, "canal_tiles": {"single": 6 - singles, "double": 35 - doubles}}


@pytest.mark.parametrize(
    ("spaces", "doubles", "singles"),
    [
        (["C3", "D3", "E3", "D4"], 1, 2),  # a T: its arms are singles
        (["C3", "D3", "D4", "E3", "E4", "F3"], 3, 0),
        (["C3", "D3", "E3", "F3"], 2, 0),
        (["C3", "D3", "E3", "F3"], 1, 2),
        (["C3", "D3", "E3", "F3"], 0, 4),
        (["O5", "O10"], 0, 2),  # next to the printed tiles, which stay where they are
    ],
)
def test_canals_that_can_be_laid(spaces, doubles, singles):
    Position.from_json(laid_canals(spaces, doubles, singles))


@pytest.mark.parametrize(
    ("spaces", "doubles", "singles"),
    [
        (["C3", "D3", "E3", "D4"], 2, 0),  # a T is no two dominoes
        (["C3", "E3"], 1, 0),
        (["O5", "O10"], 1, 0),  # would need to move a printed tile
        (["C3", "D4"], 1, 0),  # diagonal
    ],
)
def test_canals_that_cannot_be_laid(spaces, doubles, singles):
    assert violations(laid_canals(spaces, doubles, singles)) == {("$.canals", "CANAL_TILING")}


def most_dominoes(cells):
    """Return how many dominoes fit, by trying everything."""
    cells = frozenset(cells)
    if not cells:
        return 0
    first = min(cells)
    rest = cells - {first}
    return max(
        [most_dominoes(rest)] + [1 + most_dominoes(rest - {other}) for other in neighbours(first) if other in rest]
    )


def test_dominoes_are_counted_exactly():
    rng = random.Random(5)
    block = [cell for cell in GRID if 2 <= cell // 32 <= 5 and 3 <= cell % 32 <= 6]
    for _ in range(200):
        cells = set(rng.sample(block, rng.randint(0, 12)))
        assert count_dominoes(cells) == most_dominoes(cells), sorted(map(format_space, cells))
