"""Coatl's text forms: printing and parsing are inverse; invalid input is rejected with its reason and path."""

import copy
import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mexica_ai as ai
from cext.core.contract.game import CHANCE
from cext.games.coatl import ops
from mexica_ai import MexicaAIError, NotationError, PositionError
from mexica_ai.game import checker
from mexica_ai.games.coatl import facts, invariants, notation, render
from mexica_ai.games.coatl.deal import deal
from mexica_ai.games.coatl.game import GAME
from mexica_ai.rpc import wire
from mexica_ai.v1 import coatl_pb2, engine_pb2


def midgame():
    """Return a valid position with something of everything."""
    return {
        "game": "coatl",
        "version": 1,
        "players": 3,
        "viewer": None,
        "options": {"sacrifice_tokens": True, "strict_ends": False},
        "phase": "turn",
        "pending": "",
        "round": 9,
        "to_move": 1,
        "actions_left": 1,
        "passes": 0,
        "ending": None,
        "closing": 0,
        "supply": {"heads": "RK", "tails": "Y", "bodies": ["YY", "RG"]},
        "display": ["P00", "P05", "P15", "P22", "P35", "P44"],
        "deck": 32,
        "discarded": ["P24", "P25"],
        "piles": [{"top": "T00", "below": 4}, {"top": "T04", "below": 4}],
        "seats": [
            {
                "stored": {"heads": "R", "tails": "", "bodies": "YYG"},
                "hand": ["P03", "P07"],
                "shown": ["P07"],
                "discarded": ["P01"],
                "temples": ["T01"],
                "shown_temples": [],
                "tokens": ["future", "promise"],
                "coatls": [coatl("RKKG", "P19", head=True)],
            },
            {
                "stored": {"heads": "", "tails": "B", "bodies": "G"},
                "hand": ["P10", "P26", "P40"],
                "shown": ["P26"],
                "discarded": ["P11"],
                "temples": ["T05", "T09"],
                "shown_temples": ["T09"],
                "tokens": ["perfect"],
                "coatls": [
                    coatl("BBRBBKRBBYY", "P04", "P09", "P28", head=True, tail=True, temple="T02", closed=True),
                    coatl("Y", tail=True),
                ],
            },
            {
                "stored": {"heads": "", "tails": "", "bodies": "RB"},
                "hand": ["P12"],
                "shown": [],
                "discarded": ["P13", "P14"],
                "temples": ["T07"],
                "shown_temples": [],
                "tokens": ["perfect", "future", "promise"],
                "coatls": [],
            },
        ],
    }


def coatl(pieces, *prophecies, head=False, tail=False, temple="", closed=False):
    return {
        "pieces": pieces,
        "head": head,
        "tail": tail,
        "prophecies": list(prophecies),
        "temple": temple,
        "closed": closed,
    }


def remembering(*more):
    """Return a position that remembers something: seat 1 may have discarded P40, which was known."""
    memory = ["unsure 1 P40", "discard 1 P11", "deal 0 P03", "reveal P05", "play 1 P28", *more]
    return midgame() | {"memory": memory}


def new_game(players=3, seed=1, **options):
    return notation.format_fields(deal(players, seed, **options))


def set_at(path, value):
    """Return a change that puts `value` at a path such as ``seats 0 hand`` (``-`` appends to a list)."""
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
    *parents, last = [int(word) if word.isdigit() else word for word in path.split()]

    def change(data):
        for key in parents:
            data = data[key]
        del data[last]

    return change


def violations(data):
    """Return the (path, reason) pairs of the invariants that a position breaks."""
    with pytest.raises(PositionError) as caught:
        notation.parse_fields(data, "$")
    assert caught.value.path == caught.value.violations[0].path
    assert caught.value.reason == caught.value.violations[0].reason
    assert "\n" not in str(caught.value)
    return {(violation.path, violation.reason) for violation in caught.value.violations}


def assert_reads_back(data):
    """Check that a position in canonical form is printed as it was read, by the game's text and by the state."""
    fields = notation.parse_fields(copy.deepcopy(data))
    assert notation.format_fields(fields) == data
    state = notation.parse_position(data)
    assert notation.format_position(state) == data
    assert ops.state_to_fields(state) == fields
    return state


# --- actions

face = st.sampled_from(facts.FACES)
temple = st.sampled_from(facts.TEMPLE_NAMES)
color = st.sampled_from(facts.COLORS)
pair = st.sampled_from(facts.PAIRS)
number = st.integers(1, 3)
end = st.sampled_from(["head", "tail"])


def cards(least, most):
    every = [face for face in facts.FACES for _ in range(facts.COPIES[face])]
    several = st.permutations(every).flatmap(
        lambda deck: st.integers(least, most).map(lambda count: sorted(deck[:count]))
    )
    return several.map(" ".join)


def spelled(names, most, separator=""):
    several = st.lists(st.sampled_from(names), min_size=1, max_size=most)
    return several.map(lambda chosen: separator.join(sorted(chosen, key=names.index)))


def optional(form, values):
    return st.just("") | values.map(form.format)


refill = st.builds(
    "refill{}{}{}".format,
    optional(" heads {}", spelled(facts.COLORS, 2)),
    optional(" tails {}", spelled(facts.COLORS, 2)),
    optional(" bodies {}", spelled(facts.PAIRS, 6, " ")),
).filter(lambda text: text != "refill")
actions = st.one_of(
    cards(0, 3).map(lambda faces: f"keep {faces}".rstrip()),
    st.builds("{} {} {}".format, st.sampled_from(["take", "perfect"]), end, color),
    st.builds("{} body {}".format, st.sampled_from(["take", "perfect"]), pair),
    st.builds("draw {}".format, face | st.just("deck")),
    st.builds("start {} {}".format, end | st.just("body"), color),
    st.builds("add {} {} {}".format, number, end | st.sampled_from(["left", "right"]), color),
    st.builds("play {} {}".format, number, face),
    st.builds("temple {} {}".format, number, temple),
    st.builds("close {}".format, number),
    st.builds("promise {}".format, temple),
    st.builds("{} {}".format, st.sampled_from(["discard", "deal"]), face),
    st.sampled_from(["future", "end", "pass"]),
    cards(1, 6).map("reveal {}".format),
    refill,
    st.builds("uncover {}".format, temple),
)


@given(actions)
def test_actions_are_printed_as_they_were_read(text):
    action = notation.parse_action(text)
    assert notation.format_action(action) == text
    assert action >> 41 == 0


VERB = {verb: number << 36 for number, verb in enumerate(notation.VERBS, start=1)}


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("keep", VERB["keep"]),
        ("keep P00 P00 P48", VERB["keep"] | 49 << 12 | 1 << 6 | 1),
        ("take head Y", VERB["take"]),
        ("take tail K", VERB["take"] | 1 << 12 | 2 << 6),
        ("take body RG", VERB["take"] | 2 << 12 | 3 << 9 | 1 << 6),
        ("draw deck", VERB["draw"]),
        ("draw P00", VERB["draw"] | 1),
        ("start head R", VERB["start"] | 1 << 6),
        ("start body B", VERB["start"] | 2 << 12 | 4 << 6),
        ("add 1 head R", VERB["add"] | 1 << 6),
        ("add 2 tail B", VERB["add"] | 1 << 14 | 1 << 12 | 4 << 6),
        ("add 3 left G", VERB["add"] | 2 << 14 | 2 << 12 | 3 << 6),
        ("add 3 right G", VERB["add"] | 1 << 16 | 2 << 14 | 2 << 12 | 3 << 6),
        ("play 2 P07", VERB["play"] | 1 << 14 | 8),
        ("temple 2 T05", VERB["temple"] | 1 << 14 | 6),
        ("close 3", VERB["close"] | 2 << 14),
        ("perfect body BB", VERB["perfect"] | 2 << 12 | 4 << 9 | 4 << 6),
        ("future", VERB["future"]),
        ("discard P48", VERB["discard"] | 49),
        ("promise T14", VERB["promise"] | 15),
        ("end", 13 << 36),
        ("pass", 14 << 36),
        ("deal P12", VERB["deal"] | 13),
        ("reveal P01 P07", VERB["reveal"] | 8 << 6 | 2),
        ("reveal P43 P44 P45 P46 P47 P48", VERB["reveal"] | 0o61_60_57_56_55_54),
        ("refill tails Y", VERB["refill"] | 1 << 6),
        (
            "refill heads RK tails Y bodies RG GG",
            VERB["refill"] | 13 << 16 | 8 << 12 | 1 << 6 | 3 << 3 | 2,
        ),
        ("refill bodies BB BB BB BB BB BB", VERB["refill"] | 0xFFFFFF << 12),
        ("uncover T00", 18 << 36 | 1),
    ],
)
def test_the_layout_of_an_action(text, action):
    assert notation.parse_action(text) == action
    assert notation.format_action(action) == text


@given(
    st.integers(-(2**70), 2**70)
    | st.integers(0, 2**41)
    | st.builds(lambda verb, rest: verb << 36 | rest, st.integers(1, 18), st.integers(0, 2**17))
)
def test_only_integers_of_actions_are_printed(action):
    text = assert_only_domain_errors(notation.format_action, action)
    if text is not None:
        assert notation.parse_action(text) == action


NO_ACTION = [
    ("", "UNKNOWN_VERB"),
    ("Take head R", "UNKNOWN_VERB"),
    ("end\n", "UNKNOWN_VERB"),
    ("build", "UNKNOWN_VERB"),
    ("end ", "BAD_OPERANDS"),
    ("keep ", "BAD_OPERANDS"),
    ("keep P49", "BAD_OPERANDS"),
    ("keep P01  P02", "BAD_OPERANDS"),
    ("keep P01 P02 P03 P04", "BAD_OPERANDS"),
    ("keep P02 P01", "NOT_ASCENDING"),
    ("keep P05 P05", "TOO_MANY_COPIES"),
    ("keep P01 P01 P01", "TOO_MANY_COPIES"),
    ("take", "BAD_OPERANDS"),
    ("take head", "BAD_OPERANDS"),
    ("take head W", "BAD_OPERANDS"),
    ("take head RG", "BAD_OPERANDS"),
    ("take body R", "BAD_OPERANDS"),
    ("take body GR", "BAD_OPERANDS"),
    ("take body R G", "BAD_OPERANDS"),
    ("draw", "BAD_OPERANDS"),
    ("draw P7", "BAD_OPERANDS"),
    ("draw P07 P08", "BAD_OPERANDS"),
    ("draw P\u0660\u0667", "BAD_OPERANDS"),
    ("start left R", "BAD_OPERANDS"),
    ("start body RG", "BAD_OPERANDS"),
    ("add 2 body R", "BAD_OPERANDS"),
    ("add 4 left R", "BAD_OPERANDS"),
    ("add 0 left R", "BAD_OPERANDS"),
    ("add left R", "BAD_OPERANDS"),
    ("play P07", "BAD_OPERANDS"),
    ("play 2 T07", "BAD_OPERANDS"),
    ("temple 2 P05", "BAD_OPERANDS"),
    ("temple 2 T15", "BAD_OPERANDS"),
    ("close", "BAD_OPERANDS"),
    ("perfect", "BAD_OPERANDS"),
    ("future P01", "BAD_OPERANDS"),
    ("discard deck", "BAD_OPERANDS"),
    ("promise P03", "BAD_OPERANDS"),
    ("pass 1", "BAD_OPERANDS"),
    ("deal deck", "BAD_OPERANDS"),
    ("reveal", "BAD_OPERANDS"),
    ("reveal P01 P02 P03 P04 P05 P06 P07", "BAD_OPERANDS"),
    ("reveal P08 P07", "NOT_ASCENDING"),
    ("reveal P07 P07", "TOO_MANY_COPIES"),
    ("refill", "BAD_OPERANDS"),
    ("refill ", "BAD_OPERANDS"),
    ("refill heads", "BAD_OPERANDS"),
    ("refill heads RRR", "BAD_OPERANDS"),
    ("refill tails Y heads R", "BAD_OPERANDS"),
    ("refill bodies", "BAD_OPERANDS"),
    ("refill bodies GR", "BAD_OPERANDS"),
    ("refill bodies YY YY YY YY YY YY YY", "BAD_OPERANDS"),
    ("refill heads KR", "NOT_ASCENDING"),
    ("refill tails BY", "NOT_ASCENDING"),
    ("refill bodies GG RG", "NOT_ASCENDING"),
    ("uncover", "BAD_OPERANDS"),
    ("uncover T3", "BAD_OPERANDS"),
]


@pytest.mark.parametrize(("text", "reason"), NO_ACTION)
def test_text_that_is_no_action(text, reason):
    with pytest.raises(NotationError) as caught:
        notation.parse_action(text, "turn[3]")
    assert (caught.value.path, caught.value.reason) == ("turn[3]", reason)
    assert str(caught.value).startswith(f"turn[3]: {json.dumps(text)} is not an action; expected ")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def assert_only_domain_errors(read, data):
    """Read, and check that the message of any error is one line of printable ASCII."""
    try:
        return read(data)
    except MexicaAIError as caught:
        error = caught
    for message in (str(error), *(violation.message for violation in error.violations)):
        assert message.isascii()
        assert len(message.splitlines()) == 1
    assert error.reason == error.reason.upper()
    return None


@given(st.text() | st.builds("{}{}".format, actions, st.text(min_size=1)) | anything)
def test_only_notation_errors_come_out_of_the_action_parser(text):
    action = assert_only_domain_errors(notation.parse_action, text)
    if action is not None:
        assert notation.format_action(action) == text


# --- positions that are valid


def changed(data, *changes, **values):
    """Return a position after changes; the number of the deck is made to fit."""
    data |= values
    for change in changes:
        change(data)
    data["deck"] = facts.NUM_PROPHECIES - len(data["display"]) - len(data["discarded"])
    for seat in data["seats"]:
        data["deck"] -= len(seat["hand"]) + len(seat["discarded"])
        data["deck"] -= sum(len(coatl["prophecies"]) for coatl in seat["coatls"])
    return data


def drawing(**values):
    """Seat 1 has drawn P00 from the display."""
    return changed(
        midgame(),
        remove("display 0"),
        set_at("seats 1 hand", ["P00", "P10", "P26", "P40"]),
        set_at("seats 1 shown", ["P00", "P26"]),
        phase="drawing",
        **values,
    )


def closing():
    """Seat 1 has put a tail on its second Coatl, on which no card lies yet; P10 of its hand can be played."""
    return changed(
        midgame(),
        set_at("seats 1 coatls 1", coatl("YYYB", head=True, tail=True)),
        set_at("seats 1 stored tails", ""),
        phase="closing",
        closing=2,
    )


def third_closing(pieces):
    """Seat 1 has put a tail on its third Coatl, while two others are not finished."""
    coatls = [coatl("RR"), coatl("GG"), coatl(pieces, head=True, tail=True)]
    return changed(closing(), set_at("seats 1 coatls", coatls), closing=3)


def third(**values):
    """Seat 0 has completed its third Coatl, and seat 1 has its last turn."""
    coatls = [
        coatl("RKGR", "P16", head=True, tail=True, closed=True),
        coatl("GKGK", "P19", head=True, tail=True, closed=True),
        coatl("GYYK", "P36", head=True, tail=True, closed=True),
    ]
    return changed(
        midgame(),
        set_at("seats 0 coatls", coatls),
        set_at("seats 0 stored bodies", ""),
        **{"ending": {"cause": "third", "seat": 0}, "actions_left": 2, **values},
    )


def exhausted(**values):
    """All body pieces are in Coatls."""
    data = midgame()
    for seat in data["seats"]:
        seat["stored"]["bodies"] = ""
        seat["coatls"] = [coatl("YRKGB" * 4), coatl("YRKGB" * 4)]
    return changed(
        data,
        set_at("supply bodies", []),
        set_at("supply tails", "YY"),
        set_at("piles 0 below", 5),
        **{"ending": {"cause": "bodies", "last_round": 10}, **values},
    )


def seeing():
    """Seat 1 has just spent its token: the display is in the discards."""
    data = midgame()
    return changed(data, discarded=data["display"], display=[], phase="future", pending="reveal")


def covered(**values):
    return changed(midgame(), set_at("piles 0", {"top": "", "below": 5}), pending="uncover", **values)


def second_keeps():
    data = new_game(3, 5)
    seat = data["seats"][0]
    return changed(data, set_at("seats 0", seat | {"discarded": seat["hand"], "hand": []}), to_move=1)


VALID = {
    "midgame": midgame,
    "two have passed": lambda: changed(midgame(), passes=2),
    "without tokens": lambda: new_game(4, 3, sacrifice_tokens=False, strict_ends=True),
    "keeping": lambda: new_game(2, 7),
    "second seat keeps": second_keeps,
    "drawing": drawing,
    "blind": lambda: changed(midgame(), phase="drawing", pending="deal"),
    "display to be refilled": lambda: changed(midgame(), remove("display 0"), pending="reveal"),
    "future": lambda: changed(midgame(), phase="future"),
    "future to be seen": seeing,
    "supply to be refilled": lambda: changed(midgame(), set_at("supply bodies", []), pending="refill"),
    "refilled by a token": lambda: changed(midgame(), pending="refill"),
    "temple promised": covered,
    "temple played": lambda: covered(phase="building"),
    "building": lambda: changed(midgame(), phase="building"),
    "closing": closing,
    "last turn": third,
    "second action": lambda: third(actions_left=1),
    "end by a third Coatl": lambda: third(to_move=0, actions_left=1, phase="building"),
    "end by bodies": exhausted,
    "last round": lambda: exhausted(round=10),
    "over": lambda: changed(midgame(), phase="over", to_move=0),
    "over by bodies": lambda: exhausted(phase="over", round=11, to_move=0),
    "memory": lambda: remembering(),
    "two alike": lambda: changed(midgame(), set_at("seats 2 hand", ["P00", "P12"]), set_at("seats 2 shown", ["P00"])),
}


@pytest.mark.parametrize("name", VALID)
def test_positions_are_printed_as_they_were_read(name):
    data = VALID[name]()
    assert_reads_back(data)
    for seat in range(data["players"]):
        assert_reads_back(notation.view(data, seat))


def test_lists_may_come_in_any_order():
    data = midgame()
    for owner in (data, *data["seats"]):
        for key in ("display", "discarded", "hand", "shown", "temples", "tokens"):
            owner.get(key, []).reverse()
    data["supply"]["bodies"].reverse()
    data["seats"][1]["coatls"][0]["prophecies"].reverse()
    assert notation.format_fields(notation.parse_fields(data)) == midgame()
    for seat in data["seats"]:
        seat["coatls"].reverse()  # the order of seats, Coatls and piles is part of the position
    assert notation.format_fields(notation.parse_fields(data)) != midgame()


# --- views


def test_what_a_seat_sees():
    data = notation.view(midgame(), 0)
    assert data["viewer"] == 0
    full = midgame()["seats"]
    assert data["seats"][0] == full[0]
    assert data["seats"][1] == full[1] | {
        "hand": ["P26", "?", "?"],
        "discarded": ["?"],
        "temples": ["T09", "?"],
    }
    assert data["seats"][2] == full[2] | {"hand": ["?"], "discarded": ["?", "?"], "temples": ["?"]}
    assert notation.view(data, 0) == data
    del data["seats"], data["viewer"]
    assert data.items() <= midgame().items()


def test_the_fields_of_a_view():
    fields = notation.parse_fields(notation.view(midgame(), 0))
    assert fields["viewer"] == 0
    assert fields["seats"][1]["hand"] == [26, -1, -1]
    assert fields["seats"][1]["temples"] == [9, -1]
    assert not notation.has_one_world(ops.state_from_fields(fields))
    assert notation.has_one_world(notation.parse_position(midgame()))


@pytest.mark.parametrize(
    ("seat", "reason"),
    [(1, "VIEWER_MISMATCH"), (3, "OUT_OF_RANGE"), (-1, "OUT_OF_RANGE"), ("0", "WRONG_TYPE")],
)
def test_a_view_shows_no_other_seat(seat, reason):
    with pytest.raises((PositionError, NotationError)) as caught:
        notation.view(notation.view(midgame(), 0), seat)
    assert caught.value.reason == reason


@given(anything)
def test_there_are_views_of_positions_only(data):
    with pytest.raises(NotationError):
        notation.view(data, 0)


# --- invalid positions

BROKEN = [
    # Ranges
    (set_at("players", 1), "$.players", "OUT_OF_RANGE"),
    (set_at("players", 5), "$.players", "OUT_OF_RANGE"),
    (set_at("to_move", 3), "$.to_move", "OUT_OF_RANGE"),
    (set_at("to_move", -1), "$.to_move", "OUT_OF_RANGE"),
    (set_at("viewer", 3), "$.viewer", "OUT_OF_RANGE"),
    (set_at("passes", 3), "$.passes", "OUT_OF_RANGE"),
    (set_at("passes", -1), "$.passes", "OUT_OF_RANGE"),
    (set_at("round", -1), "$.round", "OUT_OF_RANGE"),
    (set_at("round", 10**5000), "$.round", "OUT_OF_RANGE"),
    (set_at("actions_left", 0), "$.actions_left", "OUT_OF_RANGE"),
    (set_at("actions_left", 3), "$.actions_left", "OUT_OF_RANGE"),
    (set_at("closing", 4), "$.closing", "OUT_OF_RANGE"),
    (set_at("piles 0 below", -1), "$.piles[0].below", "OUT_OF_RANGE"),
    (set_at("piles 1 below", 10**30), "$.piles[1].below", "OUT_OF_RANGE"),
    (set_at("ending", {"cause": "third", "seat": 3}), "$.ending.seat", "OUT_OF_RANGE"),
    (set_at("ending", {"cause": "bodies", "last_round": 1}), "$.ending.last_round", "OUT_OF_RANGE"),
    # Counters that belong together
    (remove("seats 2"), "$.seats", "SEATS_COUNT"),
    (set_at("round", 0), "$.round", "PHASE_MISMATCH"),
    (set_at("closing", 1), "$.closing", "PHASE_MISMATCH"),
    (set_at("phase", "closing"), "$.closing", "PHASE_MISMATCH"),
    (set_at("phase", "over"), "$.to_move", "PHASE_MISMATCH"),
    (set_at("phase", "keep"), "$.round", "PHASE_MISMATCH"),
    (set_at("pending", "deal"), "$.pending", "PENDING_MISMATCH"),
    (set_at("pending", "reveal"), "$.pending", "PENDING_MISMATCH"),
    (set_at("pending", "uncover"), "$.pending", "PENDING_MISMATCH"),
    # Pieces
    (set_at("supply heads", "RKB"), "$.supply.heads", "SUPPLY_SPACES"),
    (set_at("supply tails", "YYY"), "$.supply.tails", "SUPPLY_SPACES"),
    (set_at("supply bodies", ["YY"] * 7), "$.supply.bodies", "SUPPLY_SPACES"),
    (set_at("supply bodies", []), "$.supply", "SUPPLY_NOT_FULL"),
    (set_at("seats 0 stored heads", "RRR"), "$.supply", "PIECES_COUNT"),
    (set_at("seats 2 coatls -", coatl("G" * 24)), "$.supply", "PIECES_COUNT"),
    (set_at("seats 2 stored bodies", "R"), "$.seats[2]", "BODY_PAIRS"),
    (set_at("seats 2 stored bodies", "RRKKGGBBB"), "$.seats[2].stored", "CAPACITY"),
    # Hands and tokens
    (set_at("seats 2 hand", ["P12", *[f"P3{n}" for n in (0, 1, 2, 3, 4)]]), "$.seats[2].hand", "HAND_LIMIT"),
    (
        set_at("seats 0 discarded", ["P01", "P16", "P17", "P18"]),
        "$.seats[0].discarded",
        "DISCARDED_COUNT",
    ),
    (
        set_at("discarded", [f"P{n}" for n in (24, 25, 36, 37, 38, 39, 41)]),
        "$.discarded",
        "DISCARDED_COUNT",
    ),
    (set_at("seats 0 shown", ["P08"]), "$.seats[0].shown", "SHOWN_NOT_HELD"),
    (set_at("seats 0 shown", ["P07", "P07"]), "$.seats[0].shown", "SHOWN_NOT_HELD"),
    (set_at("seats 1 shown_temples", ["T08"]), "$.seats[1].shown_temples", "SHOWN_NOT_HELD"),
    (set_at("seats 0 tokens", ["future", "future"]), "$.seats[0].tokens", "TOKENS"),
    (set_at("options sacrifice_tokens", False), "$.seats[2].tokens", "TOKENS"),
    # Coatls
    (set_at("seats 2 coatls", [coatl("RR")] * 4), "$.seats[2].coatls", "COATLS_COUNT"),
    (set_at("seats 2 coatls", [coatl("RR")] * 3), "$.seats[2].coatls", "COATLS_COUNT"),
    (set_at("seats 0 coatls 0 pieces", "RKKG" * 16 + "R"), "$.seats[0].coatls[0].pieces", "COATL_LENGTH"),
    (
        set_at("seats 0 coatls 0", coatl("RK", "P16", head=True, tail=True, closed=True)),
        "$.seats[0].coatls[0].pieces",
        "COATL_STRUCTURE",
    ),
    (
        set_at("seats 0 coatls 0", coatl("R", head=True, tail=True)),
        "$.seats[0].coatls[0].pieces",
        "COATL_STRUCTURE",
    ),
    (set_at("seats 0 coatls 0 tail", True), "$.seats[0].coatls[0].closed", "COATL_CLOSED"),
    (set_at("seats 0 coatls 0 closed", True), "$.seats[0].coatls[0].closed", "COATL_CLOSED"),
    (set_at("seats 0 coatls 0 temple", "T06"), "$.seats[0].coatls[0].temple", "COATL_TEMPLE"),
    (set_at("seats 1 coatls 0 temple", "T06"), "$.seats[1].coatls[0].temple", "COATL_TEMPLE"),
    (set_at("seats 1 coatls 0 prophecies", []), "$.seats[1].coatls[0].prophecies", "PLAYED_COUNT"),
    (
        set_at("seats 1 coatls 0 prophecies", ["P04", "P09", "P28", "P01", "P21"]),
        "$.seats[1].coatls[0].prophecies",
        "PLAYED_COUNT",
    ),
    (
        set_at("seats 1 coatls 0 prophecies", ["P04", "P04"]),
        "$.seats[1].coatls[0].prophecies",
        "IDENTICAL_PROPHECIES",
    ),
    (
        set_at("seats 1 coatls 0 prophecies 1", "P31"),
        "$.seats[1].coatls[0].prophecies[1]",
        "PROPHECY_UNMET",
    ),
    (set_at("seats 0 coatls 0 prophecies", ["P02"]), "$.seats[0].coatls[0].prophecies[0]", "PROPHECY_UNMET"),
    # Prophecies
    (set_at("seats 2 hand", ["P05"]), "$.display", "CARD_COPIES"),
    (set_at("seats 2 discarded", ["P04", "P04"]), "$.display", "CARD_COPIES"),
    (set_at("deck", 31), "$.deck", "DECK_COUNT"),
    (set_at("deck", -1), "$.deck", "DECK_COUNT"),
    (remove("display 0"), "$.display", "DISPLAY_COUNT"),
    (set_at("display -", "P47"), "$.display", "DISPLAY_COUNT"),
    # Temples
    (set_at("piles -", {"top": "", "below": 0}), "$.piles", "PILES_COUNT"),
    (set_at("piles", []), "$.piles", "PILES_COUNT"),
    (set_at("piles 0 top", ""), "$.piles[0].top", "PILE_UNCOVERED"),
    (set_at("piles 0 below", 3), "$.piles", "TEMPLES_COUNT"),
    (set_at("piles 0 top", "T04"), "$.piles", "CARD_COPIES"),
    (set_at("seats 2 temples", ["T02"]), "$.piles", "CARD_COPIES"),
    (set_at("seats 2 temples", ["T07", "T08"]), "$.seats[2].temples", "TEMPLES_COUNT"),
    (set_at("seats 2 temples", []), "$.seats[2].temples", "TEMPLES_COUNT"),
    (set_at("seats 2 shown_temples", ["T07"]), "$.seats[2].shown_temples", "TEMPLES_COUNT"),
    # What each seat may know
    (set_at("seats 0 hand", ["P03", "?"]), "$.seats[0].hand", "VIEWER_MISMATCH"),
    (set_at("seats 0 temples", ["?"]), "$.seats[0].temples", "VIEWER_MISMATCH"),
    (set_at("viewer", 0), "$.seats[1].hand", "VIEWER_MISMATCH"),
    (set_at("viewer", 0), "$.seats[1].discarded", "VIEWER_MISMATCH"),
    (set_at("viewer", 0), "$.seats[2].temples", "VIEWER_MISMATCH"),
    # The end
    (set_at("actions_left", 2), "$.actions_left", "ENDING_MISMATCH"),
    (set_at("ending", {"cause": "third", "seat": 0}), "$.ending.seat", "ENDING_MISMATCH"),
    (set_at("ending", {"cause": "bodies", "last_round": 10}), "$.ending", "ENDING_MISMATCH"),
]

# Those that need another position to begin with.
BROKEN_ELSEWHERE = [
    (new_game, set_at("round", 1), "$.round", "PHASE_MISMATCH"),
    (new_game, set_at("passes", 1), "$.passes", "PHASE_MISMATCH"),
    (new_game, set_at("pending", "refill"), "$.pending", "PENDING_MISMATCH"),
    (new_game, set_at("supply heads", ""), "$.supply", "SUPPLY_NOT_FULL"),
    (new_game, remove("supply bodies 0"), "$.supply", "SUPPLY_NOT_FULL"),
    (new_game, remove("seats 0 hand 0"), "$.seats[0].hand", "KEPT_COUNT"),
    (new_game, set_at("to_move", 2), "$.seats[1].hand", "KEPT_COUNT"),
    (new_game, set_at("seats 0 tokens", []), "$.seats[0].tokens", "PHASE_MISMATCH"),
    (new_game, set_at("seats 1 coatls", [coatl("RR")]), "$.seats[1].coatls", "PHASE_MISMATCH"),
    (new_game, set_at("seats 1 stored bodies", "RR"), "$.seats[1].stored", "PHASE_MISMATCH"),
    (new_game, remove("display 0"), "$.display", "DISPLAY_COUNT"),
    (new_game, set_at("seats 2 discarded", ["P00"]), "$.seats[2].hand", "KEPT_COUNT"),
    (drawing, set_at("passes", 1), "$.passes", "PHASE_MISMATCH"),
    (covered, set_at("passes", 1), "$.passes", "PHASE_MISMATCH"),
    (drawing, set_at("pending", "refill"), "$.pending", "PENDING_MISMATCH"),
    (drawing, set_at("seats 1 hand", []), "$.seats[1].hand", "PHASE_MISMATCH"),
    (lambda: drawing(to_move=0), remove("display 0"), "$.display", "DISPLAY_COUNT"),
    (lambda: drawing(pending="deal"), set_at("seats 1 hand -", "P47"), "$.seats[1].hand", "HAND_LIMIT"),
    (seeing, set_at("display", ["P00"]), "$.display", "DISPLAY_COUNT"),
    (seeing, set_at("pending", ""), "$.display", "DISPLAY_COUNT"),
    (seeing, set_at("seats 1 tokens", ["future"]), "$.seats[1].tokens", "TOKENS"),
    (covered, set_at("piles 1 top", ""), "$.pending", "PENDING_MISMATCH"),
    (covered, set_at("seats 1 tokens", ["promise"]), "$.pending", "PENDING_MISMATCH"),
    (lambda: covered(phase="building", to_move=0), None, "$.pending", "PENDING_MISMATCH"),
    (VALID["refilled by a token"], set_at("seats 0 tokens -", "perfect"), "$.pending", "PENDING_MISMATCH"),
    (
        VALID["supply to be refilled"],
        set_at("supply", {"heads": "RK", "tails": "YB", "bodies": ["RG"] * 6}),
        "$.pending",
        "PENDING_MISMATCH",
    ),
    (VALID["building"], set_at("to_move", 2), "$.seats[2].coatls", "PHASE_MISMATCH"),
    (closing, set_at("closing", 3), "$.closing", "CLOSING_MISMATCH"),
    (closing, set_at("closing", 1), "$.closing", "CLOSING_MISMATCH"),
    (closing, set_at("closing", 0), "$.closing", "PHASE_MISMATCH"),
    (closing, set_at("seats 1 hand", ["P26", "P40"]), "$.closing", "CLOSING_MISMATCH"),
    (closing, set_at("pending", "uncover"), "$.pending", "PENDING_MISMATCH"),
    (lambda: third_closing("YYYB"), None, "$.seats[1].coatls", "COATLS_COUNT"),
    (third, set_at("ending", None), "$.ending", "ENDING_MISMATCH"),
    (third, set_at("ending seat", 2), "$.ending.seat", "ENDING_MISMATCH"),
    (third, set_at("to_move", 0), "$.to_move", "ENDING_MISMATCH"),
    (third, set_at("passes", 1), "$.passes", "ENDING_MISMATCH"),
    (lambda: third(to_move=0, phase="building"), None, "$.actions_left", "ENDING_MISMATCH"),
    (exhausted, set_at("ending", None), "$.ending", "ENDING_MISMATCH"),
    (exhausted, set_at("round", 8), "$.round", "ENDING_MISMATCH"),
    (exhausted, set_at("to_move", 0), "$.round", "ENDING_MISMATCH"),
    (exhausted, set_at("round", 11), "$.round", "ENDING_MISMATCH"),
    (exhausted, set_at("supply tails", "Y"), "$.supply", "SUPPLY_NOT_FULL"),
    (VALID["over"], set_at("pending", "reveal"), "$.pending", "PENDING_MISMATCH"),
]
BROKEN_MEMORY = [
    # memory, the invalid entry
    (["discard 1 P11"], 0),
    (["deal 0 P03"], 0),
    (["unsure 3 P40", "discard 3 P11"], 0),
    (["unsure 1 P40"], 0),
    (["unsure 1 P40", "discard 0 P11"], 0),
    (["unsure 1 P40", "deal 0 P03"], 1),
    (["unsure 1 P40", "unsure 1 P10", "discard 1 P11"], 1),
    (["unsure 1 P40", "discard 1 ?"], 1),
    (["unsure 1 P40", "discard 1 P12"], 1),
    (["unsure 2 P12", "discard 2 P13"], 1),  # it has its token still
    (["unsure 1 P26", "discard 1 P11"], 0),  # it is shown
    (["unsure 1 P40", "discard 1 P11", "deal 1 P40"], 0),
    (["unsure 1 P40", "discard 1 P11", "play 1 P12"], 2),
    (["unsure 1 P40", "discard 1 P11", "reveal P12"], 2),
    (["unsure 1 P40", "discard 1 P11", "public P05"], 2),
    (["unsure 1 P40", "discard 1 P11", "across P05"], 2),
    (["renew 0", "deal 0 P03"], 0),
    (["renew 0", "public P05"], 0),
    (["renew 0", "public P05", "play 0 P19"], 0),
    (["renew 2", "public P05", "across P05", "across P15"], 0),
    (["renew 0", "private 1 P03", "public P05", "deal 0 P03"], 2),
    (["renew 0", "public P15", "public P05", "deal 0 P03"], 2),
    (["renew 0", "public P05", "public P15", "deal 0 P03"], 2),  # without what seats had put away
]
BROKEN_ELSEWHERE += [
    (
        lambda memory=memory: midgame() | {"memory": memory},
        lambda _: None,
        f"$.memory[{index}]",
        "MEMORY_MISMATCH",
    )
    for memory, index in BROKEN_MEMORY
]
CASES = [(midgame, *case) for case in BROKEN] + BROKEN_ELSEWHERE


@pytest.mark.parametrize(("start", "change", "path", "reason"), CASES, ids=[f"{case[2]} {case[3]}" for case in CASES])
def test_a_broken_invariant_is_refused_by_name_and_path(start, change, path, reason):
    data = start()
    if change:
        change(data)
    assert (path, reason) in violations(data)


def test_more_prophecies_than_the_game_has_are_refused_whatever_the_deck():
    data = new_game(4)
    hidden = [{"hand": ["?"] * 5, "discarded": ["?"] * number} for number in (9, 10, 11)]
    own = {"hand": ["P00", "P01", "P02", "P03", "P04"], "discarded": []}
    spent = {"tokens": ["perfect", "promise"]}
    seats = [seat | spent | cards for seat, cards in zip(data["seats"], [own, *hidden], strict=True)]
    data |= {"viewer": 0, "phase": "turn", "round": 9, "seats": seats, "deck": -2}
    data["display"] = ["P05", "P06", "P07", "P08", "P09", "P10"]
    assert ("$.deck", "DECK_COUNT") in violations(data)


def test_a_coatl_of_many_pieces_is_refused_before_its_prophecies_are_looked_for(monkeypatch):
    monkeypatch.setattr(facts, "prophecy_points", lambda *_: pytest.fail("would take long"))
    data = changed(closing(), set_at("seats 1 coatls 1 pieces", "KYR" * 2000), set_at("seats 1 hand", ["P44", "P47"]))
    assert ("$.seats[1].coatls[1].pieces", "COATL_LENGTH") in violations(data)


def test_every_reason_has_a_case():
    sources = [Path(checker.__file__), *Path(invariants.__file__).parent.glob("invariants*.py")]
    source = "".join(path.read_text() for path in sources)
    reasons = set(re.findall(r'"([A-Z][A-Z_]+)"', source)) | {"OUT_OF_RANGE"}
    assert reasons == {reason for *_, reason in CASES}


def test_strict_ends_want_a_neighbour():
    """P05 counts two yellow pieces beside no third, which an open end may still bring."""
    data = midgame()
    data["display"][1] = "P06"
    data["seats"][2]["coatls"] = [coatl("RYY", "P05")]
    data["seats"][2]["stored"]["bodies"] = "R"
    changed(data)
    assert_reads_back(data)
    data["seats"][2]["coatls"][0]["pieces"] = "RYYY"  # it did not match at last, but it did before
    data["seats"][2]["stored"]["bodies"] = ""
    assert_reads_back(data)
    data["options"]["strict_ends"] = True
    assert ("$.seats[2].coatls[0].prophecies[0]", "PROPHECY_UNMET") in violations(data)
    data["seats"][2]["coatls"][0]["pieces"] = "RYYR"
    assert_reads_back(data)


def test_all_violations_are_collected():
    data = midgame()
    data["deck"] = 3
    data["seats"][0]["shown"] = ["P09"]
    data["seats"][1]["stored"]["bodies"] = ""
    assert violations(data) == {
        ("$.deck", "DECK_COUNT"),
        ("$.seats[0].shown", "SHOWN_NOT_HELD"),
        ("$.seats[1]", "BODY_PAIRS"),
    }


SHAPE_BROKEN = [
    (set_at("version", 2), "$.version", "UNSUPPORTED_VERSION"),
    (set_at("round", "3"), "$.round", "WRONG_TYPE"),
    (set_at("round", True), "$.round", "WRONG_TYPE"),
    (set_at("viewer", "0"), "$.viewer", "WRONG_TYPE"),
    (remove("viewer"), "$.viewer", "MISSING_KEY"),
    (remove("ending"), "$.ending", "MISSING_KEY"),
    (set_at("phase", "play"), "$.phase", "BAD_VALUE"),
    (set_at("pending", None), "$.pending", "WRONG_TYPE"),
    (set_at("pending", "keep"), "$.pending", "BAD_VALUE"),
    (set_at("ending", {"cause": "third"}), "$.ending.seat", "MISSING_KEY"),
    (set_at("ending", {"cause": "third", "seat": 0, "last_round": 3}), "$.ending.last_round", "UNKNOWN_KEY"),
    (set_at("ending", {"cause": "bodies", "seat": 0}), "$.ending.seat", "UNKNOWN_KEY"),
    (set_at("ending", {"cause": "", "seat": 0}), "$.ending.cause", "BAD_VALUE"),
    (set_at("options", {}), "$.options.sacrifice_tokens", "MISSING_KEY"),
    (set_at("supply heads", "KR"), "$.supply.heads", "BAD_VALUE"),
    (set_at("supply heads", ["R", "K"]), "$.supply.heads", "WRONG_TYPE"),
    (set_at("supply bodies 0", "GR"), "$.supply.bodies[0]", "BAD_VALUE"),
    (set_at("supply bodies 0", "G"), "$.supply.bodies[0]", "BAD_VALUE"),
    (set_at("display 0", "?"), "$.display[0]", "BAD_VALUE"),
    (set_at("display 0", "P49"), "$.display[0]", "BAD_VALUE"),
    (set_at("display 0", "T01"), "$.display[0]", "BAD_VALUE"),
    (set_at("display 0", 3), "$.display[0]", "WRONG_TYPE"),
    (set_at("piles 0 top", "?"), "$.piles[0].top", "BAD_VALUE"),
    (set_at("seats 0 shown", ["?"]), "$.seats[0].shown[0]", "BAD_VALUE"),
    (set_at("seats 0 hand", ["P1"]), "$.seats[0].hand[0]", "BAD_VALUE"),
    (set_at("seats 0 temples", ["T15"]), "$.seats[0].temples[0]", "BAD_VALUE"),
    (set_at("seats 0 tokens", ["luck"]), "$.seats[0].tokens[0]", "BAD_VALUE"),
    (set_at("seats 0 coatls 0 pieces", ""), "$.seats[0].coatls[0].pieces", "BAD_VALUE"),
    (set_at("seats 0 coatls 0 pieces", "RW"), "$.seats[0].coatls[0].pieces", "BAD_VALUE"),
    (set_at("seats 0 coatls 0 head", 1), "$.seats[0].coatls[0].head", "WRONG_TYPE"),
    (set_at("seats 0 coatls 0 temple", None), "$.seats[0].coatls[0].temple", "WRONG_TYPE"),
    (set_at("seats 0 coatls 0 name", "Quetzal"), "$.seats[0].coatls[0].name", "UNKNOWN_KEY"),
]


@pytest.mark.parametrize(("change", "path", "reason"), SHAPE_BROKEN)
def test_a_wrong_shape_cannot_be_read(change, path, reason):
    data = midgame()
    change(data)
    with pytest.raises(NotationError) as caught:
        notation.parse_position(data, "$")
    assert (caught.value.path, caught.value.reason) == (path, reason)


def leaves(data):
    """Yield every value in a JSON value that has none in it, and every list."""
    if isinstance(data, (dict, list)):
        if isinstance(data, list):
            yield data
        for value in data.values() if isinstance(data, dict) else data:
            yield from leaves(value)
    else:
        yield data


def mutate(data, rng):
    """Change one place of a JSON value, mostly to a value from another place."""
    parent, key, value = None, None, data
    while isinstance(value, (dict, list)) and value and (parent is None or rng.random() < 0.9):
        parent = value
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        value = parent[key]
    match rng.randrange(6):
        case 0:
            del parent[key]
        case 1 if isinstance(parent, list):
            parent.append(copy.deepcopy(rng.choice(parent)))
        case 2 if type(value) is int:
            parent[key] += rng.choice([-1, 1])
        case 3 if type(value) is bool:
            parent[key] = not value
        case 4:
            parent[key] = rng.choice([None, True, -1, 10**30, float("nan"), "", "?", "\ud800", [], {}])
        case _:
            alike = [other for other in leaves(data) if type(other) is type(value)]
            parent[key] = copy.deepcopy(rng.choice(alike or [None]))


@given(st.randoms(use_true_random=False), st.sampled_from(sorted(VALID)), st.integers(1, 3))
@settings(max_examples=400)
def test_mutated_positions_are_read_or_refused(rng, name, num_mutations):
    data = VALID[name]()
    if rng.random() < 0.3:
        data = notation.view(data, rng.randrange(data["players"]))
    for _ in range(num_mutations):
        mutate(data, rng)
    before = repr(data)
    state = assert_only_domain_errors(notation.parse_position, data)
    assert repr(data) == before, "the input was changed"
    if state is not None:
        assert_reads_back(notation.format_position(state))
        state.check()
        for action in state.legal_actions()[:5]:
            state.copy().apply(action)


@given(anything)
def test_any_json_value_is_a_position_or_refused(data):
    assert_only_domain_errors(notation.parse_position, data)
    if isinstance(data, dict):
        assert_only_domain_errors(notation.parse_position, midgame() | data)


# --- games


@given(st.integers(0, 2**63 - 1), st.integers(2, 4), st.booleans(), st.booleans())
@settings(max_examples=30)
def test_new_games_are_printed_and_read_back(seed, players, sacrifice_tokens, strict_ends):
    options = {"sacrifice_tokens": sacrifice_tokens, "strict_ends": strict_ends}
    state = notation.new_state(players, seed, **options)
    data = notation.format_position(state)
    assert data == new_game(players, seed, **options)
    assert data["options"] == options
    assert assert_reads_back(data) == state
    assert [len(seat["hand"]) for seat in data["seats"]] == [3, 4, 5, 6][:players]
    assert sum(pile["below"] + 1 for pile in data["piles"]) == 15 - players
    assert GAME.scores(state) == [0] * players


def test_the_seed_decides_the_deal():
    assert new_game(3, 1) == new_game(3, 1)
    assert new_game(3, 1) != new_game(3, 2)


@pytest.mark.parametrize(
    ("options", "error", "path", "reason"),
    [
        ({"players": 1}, PositionError, "options.players", "OUT_OF_RANGE"),
        ({"players": 5}, PositionError, "options.players", "OUT_OF_RANGE"),
        ({"players": "2"}, NotationError, "options.players", "WRONG_TYPE"),
        ({"players": 2, "strict_ends": 1}, NotationError, "options.strict_ends", "WRONG_TYPE"),
        ({"players": 2, "sacrifice_tokens": "no"}, NotationError, "options.sacrifice_tokens", "WRONG_TYPE"),
    ],
)
def test_bad_options(options, error, path, reason):
    with pytest.raises(error) as caught:
        notation.new_state(seed=1, **options)
    assert (caught.value.path, caught.value.reason) == (path, reason)


WEIGHTS = {"add": 2, "play": 5, "temple": 4, "take": 2, "future": 0.2, "perfect": 0.2, "promise": 0.2}


def walk(rng, *, num_steps):
    """Yield the states of a game in which building is likelier than chance would have it."""
    state = notation.new_state(
        rng.randint(2, 4),
        rng.randrange(2**60),
        sacrifice_tokens=rng.random() < 0.7,
        strict_ends=rng.random() < 0.3,
    )
    for _ in range(num_steps):
        yield state
        if state.is_terminal:
            return
        if state.current_player == CHANCE:
            state.resolve_chance(rng.randrange(2**60))
            continue
        actions = state.legal_actions()
        verbs = [notation.format_action(action).partition(" ")[0] for action in actions]
        shares = [WEIGHTS.get(verb, 1) / verbs.count(verb) for verb in verbs]
        action = rng.choices(actions, shares)[0]
        assert notation.parse_action(notation.format_action(action)) == action
        state.apply(action)


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
@settings(max_examples=3)
def test_every_position_of_a_game_is_printed_and_read_back(rng):
    for state in walk(rng, num_steps=100):
        data = notation.format_position(state)
        again = assert_reads_back(data)
        assert again == state
        assert again.hash == state.hash
        for seat in range(data["players"]):
            assert_reads_back(notation.view(data, seat))


@pytest.mark.parametrize("seed", range(3))
def test_whole_games_keep_the_invariants(seed):
    for state in walk(random.Random(seed), num_steps=5000):
        assert_reads_back(notation.format_position(state))
    assert state.is_terminal


# --- messages


@pytest.mark.parametrize("name", VALID)
def test_positions_survive_the_wire(name):
    for data in (VALID[name](), notation.view(VALID[name](), 1)):
        message = wire.position_to_message(ai.Position.from_json(data))
        assert message == wire.message_from_json(data)
        message = engine_pb2.Position.FromString(message.SerializeToString())
        assert wire.position_from_message(message).to_json() == data


def test_a_new_game_is_sent_as_the_seat_to_move_sees_it():
    position = ai.new_game("coatl", players=3, seed=1, strict_ends=True)
    message = wire.position_to_message(position, hides=True)
    assert wire.position_from_message(message).to_json() == notation.view(position.to_json(), 0)
    assert wire.position_from_message(wire.position_to_message(position)) == position


def submessages(message):
    """Yield every message in a message, itself first."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for child in value if field.is_repeated else [value]:
                yield from submessages(child)


def test_a_forgotten_field_is_not_taken_for_zero():
    message = wire.message_from_json(third(viewer=None))
    checked = 0
    for index, submessage in enumerate(submessages(message.coatl)):
        for field in submessage.DESCRIPTOR.fields:
            if field.has_presence and field.name != "ending" and submessage.HasField(field.name):
                broken = engine_pb2.Position.FromString(message.SerializeToString())
                list(submessages(broken.coatl))[index].ClearField(field.name)
                with pytest.raises(NotationError) as caught:
                    wire.position_from_message(broken)
                assert caught.value.reason == "MISSING_KEY"
                assert f'"{field.name}"' in str(caught.value)
                checked += 1
    assert checked > 30


def test_fields_are_named_like_the_json_form():
    def keys(data):
        children = {name: value[0] if isinstance(value, list) and value else value for name, value in data.items()}
        return {name: keys(value) if isinstance(value, dict) else None for name, value in children.items()}

    def field_names(descriptor):
        return {
            field.name: field_names(field.message_type) if field.message_type else None for field in descriptor.fields
        }

    data = midgame() | {"ending": {"cause": "third", "seat": 0, "last_round": 2}, "memory": []}
    del data["game"]
    assert field_names(coatl_pb2.CoatlPosition.DESCRIPTOR) == keys(data)
    names = [field.name for field in engine_pb2.NewGameRequest.CoatlOptions.DESCRIPTOR.fields]
    assert names == [option.name for option in GAME.starts.options]


# --- cards and the text board


def test_the_cards_are_complete():
    assert facts.NUM_PROPHECIES == 54
    assert len(facts.FACES) == 49
    assert len(facts.TEMPLE_NAMES) == 15
    suits = [card["suit"] for card in facts.PROPHECIES.values() for _ in range(card["copies"])]
    assert {suit: suits.count(suit) for suit in suits} == {
        "red": 10,
        "black": 10,
        "blue": 10,
        "yellow": 10,
        "green": 14,
    }


def test_the_rulebook_scores_an_example():
    example = midgame()["seats"][1]["coatls"][0]
    assert facts.coatl_points(example, strict_ends=False) == [5, 5, 4, 3]


def test_the_board():
    text = render.render(notation.parse_position(midgame()))
    assert text.startswith("Coatl, 3 players, round 9\nseat 1 to move\n")
    lines = text.splitlines()
    assert "    supply     heads R K   tails Y   bodies YY RG" in lines
    assert "    display    P00 #Y 3-6: 2/3/4/5   P05 <!Y> Y Y <!Y> 2/5   P15 Y G 1/3/5" in lines
    assert "    temples    T00 no Y =7 3/7, 4 below   T04 no R =11 3/7, 4 below" in lines
    assert "> seat 1: 17 points" in lines
    assert "    stored 4   heads R   tails -   bodies Y Y G" in lines
    assert "    hand 3     P10 Y Y Y 3/7   P26 K K G G G 6*   P40 R B+ Y 2/6" in lines
    assert "    Coatl 1    <BBRBBKRBBYY>   11 pieces, closed, 17 points" in lines
    assert "               4 of P28 B B Y Y 4   3 of T02 no G =9 3/7" in lines
    assert "    Coatl 1    <RKKG..   4 pieces, unfinished, 1 point" in lines


def test_the_board_of_a_view():
    text = render.render_position(notation.view(midgame(), 0))
    assert text.startswith("Coatl, 3 players, as seat 0 sees it, round 9\n")
    lines = text.splitlines()
    assert "    hand 3     P26 K K G G G 6*   2 hidden" in lines
    assert "    discarded  2 hidden" in lines


@pytest.mark.parametrize("name", VALID)
def test_every_board_fits_into_80_columns(name):
    lines = render.render_position(VALID[name]()).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith(" ") for line in lines)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("keeping", "seat 0 chooses the prophecies that it keeps"),
        ("two have passed", "seat 1 to move, after 2 passes"),
        ("future to be seen", "after the display is refilled"),
        ("closing", "seat 1 closes its Coatl 2"),
        ("last turn", "seat 1 to move, 2 actions left\nthe game ends: seat 0 has completed its third Coatl"),
        ("end by bodies", "the game ends with round 10: no body pieces are left"),
        ("over", "Coatl, 3 players: over\n"),
        ("without tokens", "Coatl, 4 players, strict ends: seat 0"),
    ],
)
def test_the_heading(name, words):
    assert words in render.render_position(VALID[name]())
