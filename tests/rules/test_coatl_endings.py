"""Passing, last turns, the end and the winners of Coatl, by the slow reference and the compiled rules."""

import pytest
from coatl_builder import all_but, build, coatl, hoard, seat
from coatl_implementations import IMPLEMENTATIONS, happen, legal, play


@pytest.fixture(params=IMPLEMENTATIONS)
def rules(request):
    """Return the state of a position, by one implementation of the rules."""
    return IMPLEMENTATIONS[request.param].from_json


def fields(state, *names):
    position = state.to_json()
    return tuple(position[name] for name in names)


# Passing.


STUCK = {
    "heads": "YR",
    "tails": "YR",
    "bodies": "BBBB",
    "hand": ["P00", "P01", "P02", "P03", "P04"],
    "coatls": [hoard()] * 3,
}


def test_pass_only_if_nothing_else_is_possible(rules):
    assert legal(rules(build(seat())), "pass") == []
    state = rules(build(seat(**STUCK)))
    assert state.legal_actions() == ["pass"]
    state = rules(build(seat(**{**STUCK, "tokens": ["future"]})))
    assert state.legal_actions() == ["future", "pass"]  # tokens stay optional
    for possible in ({"bodies": "BBB"}, {"hand": ["P00"]}, {"coatls": [hoard()]}):
        assert legal(rules(build(seat(**STUCK | possible))), "pass") == []


def test_the_game_is_over_when_all_have_passed_one_after_the_other(rules):
    stuck = seat(**STUCK)
    other = seat(
        "B", "BB", "KKKKK", hand=["P05", "P06", "P07", "P08", "P09"], coatls=[hoard(), hoard(), coatl("Y", "h")]
    )
    state = rules(build(stuck, other))
    play(state, "pass")
    assert state.passes == 1
    play(state, "add 3 right K")
    assert state.passes == 0
    play(state, "end", "pass", "add 3 right K", "end", "pass")
    position = state.to_json()
    position["seats"][1]["stored"]["bodies"] = "KKKKK"
    last = position["seats"][1]["coatls"][2]
    last |= {"pieces": last["pieces"] + "G", "tail": True, "prophecies": ["P20"], "closed": True}
    state = rules(position | {"deck": position["deck"] - 1})
    play(state, "pass")
    assert (state.phase, state.passes, state.to_move, state.ending) == ("over", 0, 0, None)
    assert state.legal_actions() == []


# The end.


def nearly(card="P00", pieces="YY", **fields):
    """Return a seat that closes its third Coatl with a tail."""
    return seat("", "Y", hand=[card], coatls=[hoard(), hoard(), coatl(pieces, "h")], **fields)


CLOSE_THIRD = ["add 3 tail Y", "play 3 P00", "close 3"]


def test_the_third_coatl_gives_later_seats_two_actions_and_earlier_ones_one(rules):
    state = rules(build(seat(), nearly(), seat(), seat(), to_move=1))
    play(state, *CLOSE_THIRD)
    assert state.ending == {"cause": "third", "seat": 1}
    assert state.legal_actions() == ["end"]
    play(state, "end")
    assert (state.to_move, state.actions_left) == (2, 2)
    assert legal(state, "pass") == []  # the first is an ordinary action (D15)
    play(state, "take head Y")
    assert (state.to_move, state.actions_left) == (2, 1)
    assert legal(state, "pass") == [""]
    play(state, "start head Y")
    assert legal(state, "pass") == []
    play(state, "end")
    assert (state.to_move, state.actions_left) == (3, 2)
    play(state, "draw P30", "end", "reveal P40")  # an ordinary action: the display is refilled after it
    assert (state.to_move, state.actions_left) == (3, 1)
    play(state, "pass")
    assert (state.to_move, state.actions_left, state.round) == (0, 1, 4)
    assert legal(state, "pass") == []
    play(state, "take head R")
    assert (state.phase, state.to_move, state.actions_left, state.round) == ("over", 0, 1, 4)
    assert state.ending == {"cause": "third", "seat": 1}


def test_the_third_coatl_of_the_first_seat(rules):
    state = play(rules(build(nearly())), *CLOSE_THIRD, "end", "take head Y")
    assert (state.to_move, state.actions_left) == (1, 1)
    play(state, "take head R")
    assert (state.phase, state.round) == ("over", 3)


def test_the_third_coatl_of_the_last_seat(rules):
    state = play(rules(build(seat(), nearly(), to_move=1)), *CLOSE_THIRD, "end")
    assert (state.to_move, state.actions_left) == (0, 1)
    play(state, "take head R")
    assert state.is_over


def test_tokens_in_a_last_turn_of_two_actions(rules):
    state = rules(build(nearly(), seat(tokens=["perfect", "promise"])))
    play(state, *CLOSE_THIRD, "end", "perfect head B", "promise T13")
    assert state.is_over


def test_the_first_ending_rules(rules):
    state = rules(build(nearly(), nearly(card="P01", pieces="RRR"), seat()))
    play(state, *CLOSE_THIRD, "end", "add 3 tail Y", "play 3 P01", "close 3", "end")
    assert state.ending == {"cause": "third", "seat": 0}
    assert (state.to_move, state.actions_left) == (1, 1)  # the second action: building cannot
    play(state, "pass")
    assert (state.to_move, state.actions_left) == (2, 2)


def bodies_run_out(rules, to_move, players=3):
    """Return a state in which the last pair is taken."""
    seats = [*all_but(bodies=2), *(seat() for _ in range(players - 1))]
    return play(rules(build(*seats, bodies=["BB"], to_move=to_move)), "take body BB")


def test_bodies_run_out(rules):
    state = bodies_run_out(rules, 1)
    assert (state.pending, state.ending) == ("", {"cause": "bodies", "last_round": 4})
    assert (state.to_move, state.round, state.actions_left) == (2, 3, 1)
    play(state, "take head R")  # completes the round; with no bodies left, heads are refilled at once
    assert state.pending == "refill"
    happen(state)
    assert (state.to_move, state.round) == (0, 4)
    for each in (0, 1):
        assert state.to_move == each
        happen(play(state, "draw P3" + str(each), "end"))
    play(state, "draw P32", "end")
    assert (state.phase, state.pending, state.to_move, state.round) == ("over", "", 0, 4)


def test_bodies_run_out_in_the_last_turn_of_a_round(rules):
    state = bodies_run_out(rules, 2)
    assert (state.to_move, state.round, state.ending) == (0, 4, {"cause": "bodies", "last_round": 4})
    state = rules(build(*all_but(bodies=2), seat(), bodies=["BB"], heads="", to_move=1))
    play(state, "take body BB")
    assert (state.pending, state.ending, state.to_move, state.round) == ("refill", None, 0, 4)
    happen(state)
    assert state.ending == {"cause": "bodies", "last_round": 4}


def test_the_last_bodies_may_be_a_perfect_pick(rules):
    state = rules(build(seat(tokens=["perfect"]), *all_but(bodies=2), bodies=[]))
    play(state, "perfect body BB")
    assert (state.pending, state.ending) == ("", {"cause": "bodies", "last_round": 4})


def test_a_third_coatl_changes_nothing_once_bodies_have_run_out(rules):
    state = rules(build(nearly(), ending={"cause": "bodies", "last_round": 4}))
    play(state, *CLOSE_THIRD, "end")
    assert state.ending["cause"] == "bodies"
    assert (state.to_move, state.actions_left) == (1, 1)
    play(state, "take head R", "take head Y", "take tail K")
    assert state.is_over


def test_no_event_after_the_last_turn(rules):
    state = rules(build(seat(), seat(), to_move=1, round=4, ending={"cause": "bodies", "last_round": 4}))
    play(state, "draw P30", "end")
    assert (state.phase, state.pending, len(state.display)) == ("over", "", 5)


@pytest.mark.parametrize(
    ("coatls", "winners"),
    [
        # RRRRR: P01 4 points, P11 3, P06 none; YYY: P00 2, P10 3
        (([("RRRRR", ["P01"])], [("YYY", ["P10"])]), [0]),  # points
        (([("RRR", ["P11"])], [("YYY", ["P10"])]), [0, 1]),  # shared
        (([("RRR", ["P06", "P11"])], [("YYY", ["P10"])]), [0]),  # cards, also those without points
        (([("RRR", ["P01", "P11"]), ("RKR", ["P05"])], [("YYY", ["P00", "P10"])]), [0]),
        (([("RRRRR", ["P01"]), ("RRR", ["P11"])], [("KKKKK", ["P02"]), ("KKK", ["P12"])]), [0, 1]),
        (([("RRR", ["P01"]), ("RRR", ["P11"])], [("KKK", ["P02", "P12"])]), [1]),  # the best Coatl
        (([("RRR", ["P01"]), ("RRR", ["P11"]), ("BKB", ["P05"])], [("KKK", ["P02", "P12"])]), [0]),  # but cards first
    ],
)
def test_winners(rules, coatls, winners):
    closed = [[coatl(pieces, "ht", cards, closed=True) for pieces, cards in own] for own in coatls]
    seats = [seat(coatls=own) for own in closed]
    for order in (1, -1):
        state = rules(build(*seats[::order], phase="over"))
        assert state.winners() == (winners if order == 1 else sorted(1 - number for number in winners))


def test_only_complete_coatls_score(rules):
    complete = coatl("RRRRR", "ht", ["P01"], "T02", closed=True)
    state = rules(build(seat(coatls=[coatl("RRR", "h", ["P01"]), complete])))
    assert state.scores() == [4 + 3, 0]
    assert state.winners() == []  # not over


def test_the_round_after_an_ending_by_bodies_is_the_last_one(rules):
    state = play(rules(build(*all_but(bodies=2), seat(), bodies=["BB"])), "take body BB")
    assert fields(state, "ending", "round") == ({"cause": "bodies", "last_round": 4}, 3)
    happen(play(state, "draw P30", "end"))
    assert fields(state, "to_move", "round") == (0, 4)
    happen(play(state, "draw P31", "end"))
    play(state, "draw P32", "end")
    assert fields(state, "phase", "pending", "to_move", "round") == ("over", "", 0, 4)


def test_the_display_is_refilled_between_the_two_actions_of_a_last_turn(rules):
    state = play(rules(build(nearly(), seat())), *CLOSE_THIRD, "end")
    assert fields(state, "to_move", "actions_left") == (1, 2)
    play(state, "draw P30", "end")
    assert fields(state, "pending", "to_move", "actions_left") == ("reveal", 1, 1)
    happen(state)
    assert len(state.display) == 6
    assert fields(state, "phase", "to_move", "actions_left") == ("turn", 1, 1)
    play(state, "draw P31", "end")  # nothing follows the last turn
    assert fields(state, "phase", "pending", "to_move") == ("over", "", 0)
    assert len(state.display) == 5


def test_the_supply_is_refilled_between_the_two_actions_of_a_last_turn(rules):
    state = rules(build(nearly(), seat(), heads="R", tails="K", bodies=["YY"]))
    play(state, *CLOSE_THIRD, "end", "take body YY")
    assert fields(state, "pending", "to_move", "actions_left") == ("refill", 1, 1)
    assert len(happen(state).to_json()["supply"]["bodies"]) == 6


def test_one_entry_is_unsure_for_each_face_that_was_shown(rules):
    hand = ["P00", "P00", "P05", "P40"]
    state = rules(build(seat(hand=hand, shown=["P00", "P00", "P05"], tokens=["future"])))
    happen(play(state, "future"))
    play(state, "discard P40")
    assert fields(state, "memory") == (["unsure 0 P00", "unsure 0 P05", "discard 0 P40"],)
    assert state.seats[0].shown == ["P00"]  # of two alike one is in hand still
    play(state, "discard P00")
    assert state.to_json()["memory"][3:] == ["unsure 0 P00", "discard 0 P00"]
    assert state.seats[0].shown == []
