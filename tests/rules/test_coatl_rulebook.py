"""Coatl rule by rule, as its rulebook and the decisions D1-D15 have it, by the slow reference and the compiled rules.

The expected outcomes are derived by hand.
"""

import itertools
import random
from collections import Counter

import pytest
from coatl_builder import all_but, build, coatl, few_cards, hoard, seat
from coatl_implementations import IMPLEMENTATIONS, Compiled, happen, legal, play
from reference.coatl import ALL_TEMPLES

from mexica_ai.games.coatl import notation


@pytest.fixture(params=IMPLEMENTATIONS)
def rules(request):
    """Return the state of a position, by one implementation of the rules."""
    return IMPLEMENTATIONS[request.param].from_json


def hand(state, number):
    return state.to_json()["seats"][number]["hand"]


def stored(state, number):
    return state.to_json()["seats"][number]["stored"]


def supply(state):
    return state.to_json()["supply"]


# Setup.


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_a_new_game(name, players):
    implementation = IMPLEMENTATIONS[name]
    state = implementation.new_game(players, random.Random(1))
    position = state.to_json()
    assert [len(one["hand"]) for one in position["seats"]] == [3, 4, 5, 6][:players]
    assert all(len(one["temples"]) == 1 and not one["discarded"] for one in position["seats"])
    assert all(one["tokens"] == ["perfect", "future", "promise"] for one in position["seats"])
    assert [len(position["supply"][part]) for part in ("heads", "tails", "bodies")] == [2, 2, 6]
    assert len(position["display"]) == 6
    assert sum(pile["below"] for pile in position["piles"]) == 13 - players
    assert position["phase"] == "keep"
    assert position["round"] == 0
    without = implementation.new_game(players, random.Random(1), sacrifice_tokens=False)
    assert not without.seats[0].tokens


def test_keep_up_to_three(rules):
    state = rules(
        build(seat(hand=["P00", "P00", "P05"]), seat(hand=["P01", "P02", "P03", "P04"]), phase="keep", round=0)
    )
    assert state.legal_actions() == sorted(
        ["keep", "keep P00", "keep P05", "keep P00 P00", "keep P00 P05", "keep P00 P00 P05"]
    )
    play(state, "keep P00 P05")
    assert len(state.legal_actions()) == 1 + 4 + 6 + 4
    assert state.to_move == 1
    play(state, "keep")
    assert (state.phase, state.to_move, state.round) == ("turn", 0, 1)
    position = state.to_json()
    assert [one["hand"] for one in position["seats"]] == [["P00", "P05"], []]
    assert [one["discarded"] for one in position["seats"]] == [["P00"], ["P01", "P02", "P03", "P04"]]
    assert state.view(0)["seats"][1]["discarded"] == ["?"] * 4
    assert position["discarded"] == []


# Taking pieces.


def test_take_a_space(rules):
    state = rules(build())
    assert legal(state, "take") == [
        "body BB",
        "body GG",
        "body KK",
        "body RR",
        "body YR",
        "body YY",
        "head R",
        "head Y",
        "tail G",
        "tail K",
    ]
    play(state, "take body YR")
    assert stored(state, 0) == {"heads": "", "tails": "", "bodies": "YR"}
    assert (state.to_move, state.phase, state.pending) == (1, "turn", "")
    play(state, "take head R", "take tail K")
    assert (state.to_move, state.round) == (1, 4)
    assert state.to_json()["supply"] == {"heads": "Y", "tails": "G", "bodies": ["YY", "RR", "KK", "GG", "BB"]}


def test_take_needs_room_for_all_of_it(rules):
    assert legal(rules(build(seat("Y", "Y", "YYYYY"))), "take") == ["head R", "head Y", "tail G", "tail K"]
    assert legal(rules(build(seat("Y", "Y", "YYYYYY"))), "take") == []
    assert len(legal(rules(build(seat("Y", "Y", "YYYY"))), "take")) == 10


def test_refill_when_the_last_bodies_go(rules):
    state = play(rules(build(heads="Y", tails="", bodies=["YR"])), "take body YR")
    assert (state.pending, state.to_move, state.legal_actions()) == ("refill", 1, [])
    for wrong in (
        "refill heads R tails YY bodies YY YY YY YY YY",  # not all spaces
        "refill heads R tails YY bodies RR YY YY YY YY YY",  # not in canonical order
        "refill tails YY heads R bodies YY YY YY YY YY YY",
        "refill heads R tails YY bodies YY YY YY YY YY RY",
        "refill heads RR tails YY bodies YY YY YY YY YY YY",
        "end",
        "take head Y",
    ):
        with pytest.raises(ValueError, match="refill is due"):
            state.apply(wrong)
    play(state, "refill heads R tails YY bodies YY YY YY YY YY RR")
    assert state.pending == ""
    assert state.to_json()["supply"] == {"heads": "YR", "tails": "YY", "bodies": ["YY", "YY", "YY", "YY", "YY", "RR"]}


def test_refill_when_the_last_head_or_tail_goes(rules):
    state = rules(build(heads="", tails="K", bodies=["YR", "YY"]))
    play(state, "take tail K")
    assert state.pending == "refill"
    play(state, "refill heads YY tails RR bodies YY YK RR BB")
    assert len(supply(state)["bodies"]) == 6


@pytest.mark.parametrize(("heads", "tails"), [("", "KK"), ("K", "")])
def test_no_refill_while_a_head_or_tail_is_left(rules, heads, tails):
    state = play(rules(build(heads=heads, tails=tails, bodies=["YR", "YY"])), "take body YY")
    assert state.pending == ""


def test_what_is_refilled_must_be_in_the_bag(rules):
    state = play(rules(build(seat("YY"), heads="", tails="Y")), "take tail Y")
    with pytest.raises(ValueError, match="refill is due"):
        state.apply("refill heads YY tails KK")
    play(state, "refill heads YR tails KK")


def test_a_partial_refill(rules):
    # Two pairs and a head are left in the bags.
    state = rules(build(seat(), *all_but(1, 1, 6), heads="", tails="B", bodies=["BB"]))
    play(state, "take tail B")
    assert state.random_event(random.Random(1)) == "refill heads B bodies BB BB"
    happen(state)
    assert state.to_json()["supply"] == {"heads": "B", "tails": "", "bodies": ["BB", "BB", "BB"]}
    assert state.ending is None


def test_no_refill_from_empty_bags(rules):
    state = rules(build(seat(), *all_but(1, 0), heads="B", tails=""))
    play(state, "take head B")
    assert (state.pending, state.to_move) == ("", 1)


def test_bodies_can_run_out_while_heads_are_refilled(rules):
    state = rules(build(seat(), *all_but(bodies=2), heads="Y", bodies=["BB"]))
    play(state, "take body BB")
    assert (state.pending, state.ending) == ("refill", None)
    play(state, "refill heads R")
    assert state.ending == {"cause": "bodies", "last_round": 4}


# Taking prophecies.


def test_draw_card_by_card(rules):
    state = rules(build(seat(hand=["P00", "P00"])))
    play(state, "draw P32")
    assert state.phase == "drawing"
    assert state.legal_actions() == ["draw P30", "draw P31", "draw P33", "draw P34", "draw P35", "draw deck", "end"]
    play(state, "draw deck")
    assert (state.pending, state.phase, state.to_move, state.legal_actions()) == ("deal", "drawing", 0, [])
    for wrong in ("deal P32", "deal P00", "deal deck", "deal"):
        with pytest.raises(ValueError, match="deal is due"):
            state.apply(wrong)
    play(state, "deal P44")
    assert hand(state, 0) == ["P00", "P00", "P32", "P44"]
    play(state, "draw P35")
    assert state.legal_actions() == ["end"]  # five in hand
    play(state, "end")
    assert (state.pending, state.phase, state.to_move) == ("reveal", "turn", 1)
    for wrong in ("reveal P01", "reveal P02 P01", "reveal P44 P45", "reveal P01 P02 P03"):
        with pytest.raises(ValueError, match="reveal is due"):
            state.apply(wrong)
    play(state, "reveal P01 P02")
    assert state.display.count("P01") == 1
    assert len(state.display) == 6


def integer_of(verb, numbers, width, first=0):
    """Return the action of a list in the order given, which need not be that of its text."""
    shifted = (number << first + width * place for place, number in enumerate(numbers))
    return notation.VERBS.index(verb) + 1 << 36 | sum(shifted)


def test_an_outcome_is_one_integer_with_its_list_ascending():
    state = play(Compiled.from_json(build(seat())), "draw P32", "draw P33", "end").state
    assert state.is_legal(integer_of("reveal", [2, 3], 6))  # P01 and P02
    for wrong in ([3, 2], [7, 7], [2], [2, 3, 4], [0, 2, 3], [2, 0, 3], [2, 60]):
        assert not state.is_legal(integer_of("reveal", wrong, 6)), wrong
    state = play(Compiled.from_json(build(heads="YR", tails="KG", bodies=["YR"])), "take body YR").state
    assert state.is_legal(integer_of("refill", [1, 2, 3, 4, 5, 5], 4, 12))  # pairs of yellow and each other, twice YB
    for wrong in ([2, 1, 3, 4, 5, 5], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0], [0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 6, 5]):
        assert not state.is_legal(integer_of("refill", wrong, 4, 12)), wrong


def test_the_shown_cards_are_those_of_the_display(rules):
    state = play(rules(build(seat(hand=["P00"]))), "draw P32", "draw deck", "deal P00", "end")
    happen(state)
    assert state.view(0)["seats"][0]["hand"] == ["P00", "P00", "P32"]
    assert state.view(1)["seats"][0]["hand"] == ["P32", "?", "?"]
    assert state.view(1)["seats"][0]["shown"] == ["P32"]


def test_a_full_hand_draws_nothing(rules):
    assert legal(rules(build(seat(hand=["P00", "P01", "P02", "P03", "P04"]))), "draw") == []


def test_the_display_stays_short_when_nothing_is_left(rules):
    state = rules(few_cards("P07", display=["P05", "P06"]))
    play(state, "draw P05", "draw P06", "draw deck", "deal P07")
    assert state.legal_actions() == ["end"]
    play(state, "end")
    assert (state.pending, state.display, state.to_move) == ("", [], 1)
    assert legal(state, "draw") == []


def test_a_partial_reveal(rules):
    state = rules(few_cards("P07", display=["P05", "P06"]))
    play(state, "draw P05", "end")
    assert state.random_event(random.Random(1)) == "reveal P07"
    happen(state)
    assert sorted(state.display) == ["P06", "P07"]


def test_the_deck_is_renewed_from_all_discards(rules):
    state = rules(
        few_cards(seats=[seat(discarded=["P08"]), seat(discarded=["P09", "P10"])], discarded=["P11"], display=["P05"])
    )
    assert legal(state, "draw") == ["P05", "deck"]
    play(state, "draw deck")
    assert state.outcomes() == {f"deal {card}" for card in ("P08", "P09", "P10", "P11")}
    play(state, "deal P10")
    position = state.to_json()
    assert (position["deck"], position["discarded"]) == (3, [])
    assert all(one["discarded"] == [] for one in position["seats"])
    play(state, "end", "reveal P08 P09 P11")


def test_a_deck_that_runs_out_in_a_reveal(rules):
    state = rules(
        few_cards(
            "P07",
            seats=[seat(discarded=["P08"]), seat(discarded=["P09"])],
            discarded=["P10", "P12"],
            display=["P05", "P13", "P14", "P15"],
        )
    )
    play(state, "draw P05", "end")
    assert state.pending == "reveal"
    with pytest.raises(ValueError, match="reveal is due"):
        state.apply("reveal P08 P09 P10")  # the card of the deck comes first
    texts = {state.random_event(random.Random(number)) for number in range(60)}
    assert texts == {
        f"reveal P07 {one} {other}" for one, other in itertools.combinations(["P08", "P09", "P10", "P12"], 2)
    }
    play(state, "reveal P07 P08 P12")
    position = state.to_json()
    assert (position["deck"], position["discarded"]) == (2, [])
    assert all(one["discarded"] == [] for one in position["seats"])


def test_random_events_are_uniform_over_cards_not_faces(rules):
    state = play(rules(few_cards("P00", "P00", "P07")), "draw deck")
    assert state.outcomes() == {"deal P00", "deal P07"}
    rng = random.Random(1)
    number = sum(state.random_event(rng) == "deal P00" for _ in range(3000))
    assert 1900 < number < 2100


def test_random_pairs_are_drawn_without_replacement(rules):
    # Two yellow and two red bodies: YY RR in one case of three.
    others = seat(coatls=[coatl("Y" * 22 + "R" * 22 + "K" * 15), coatl("K" * 8 + "G" * 24 + "B" * 23)])
    state = rules(build(seat(), others, heads="YR", tails="YR", bodies=["KB"]))
    play(state, "take body KB")
    rng = random.Random(1)
    outcomes = Counter(state.random_event(rng) for _ in range(3000))
    assert set(outcomes) == {"refill bodies YY RR", "refill bodies YR YR"}
    assert 900 < outcomes["refill bodies YY RR"] < 1100


# Building.


def test_start_with_any_stored_piece(rules):
    state = rules(build(seat("YR", "K", "GGB")))
    assert legal(state, "start") == ["body B", "body G", "head R", "head Y", "tail K"]
    play(state, "start head R")
    assert state.phase == "building"
    assert state.to_json()["seats"][0]["coatls"] == [coatl("R", "h")]
    assert stored(state, 0) == {"heads": "Y", "tails": "K", "bodies": "GGB"}
    play(state, "start tail K")
    assert legal(state, "start") == []  # two unfinished
    assert state.legal_actions() == ["add 1 right B", "add 1 right G", "add 2 left B", "add 2 left G", "end"]


def test_a_third_coatl_is_started_after_one_is_closed(rules):
    state = rules(build(seat("R", coatls=[coatl("RKR", "ht", ["P00"], closed=True), coatl("Y")])))
    assert legal(state, "start") == ["head R"]
    state = rules(build(seat("R", coatls=[hoard(), hoard(), coatl("Y")])))
    assert legal(state, "start") == []  # never more than three (D4)
    assert legal(state, "add") == ["3 head R"]


def test_add_at_the_ends(rules):
    state = rules(build(seat("R", "K", "G", coatls=[coatl("YB")])))
    assert legal(state, "add") == ["1 head R", "1 left G", "1 right G", "1 tail K"]
    play(state, "add 1 left G", "add 1 head R")
    assert state.seats[0].coatls[0].pieces == "RGYB"
    assert legal(state, "add") == []  # closing needs a prophecy
    play(state, "end")
    assert (state.to_move, state.phase) == (1, "turn")
    state = rules(build(seat("R", "K", "G", coatls=[coatl("YB", "t")])))
    assert legal(state, "add") == ["1 left G"]
    play(state, "add 1 left G")
    assert state.seats[0].coatls[0].pieces == "GYB"


def test_no_head_directly_on_a_tail(rules):
    cards = ["P00", "P00", "P01", "P01"]
    assert legal(rules(build(seat("Y", "Y", hand=cards, coatls=[coatl("Y", "h", ["P05"])]))), "add") == []
    assert legal(rules(build(seat("Y", "Y", hand=cards, coatls=[coatl("Y", "t", ["P05"])]))), "add") == []
    assert legal(rules(build(seat("Y", "Y", coatls=[coatl("YY", "t", ["P05"])]))), "add") == ["1 head Y"]
    assert legal(rules(build(seat("Y", "Y", coatls=[coatl("YY", "h", ["P05"])]))), "add") == ["1 tail Y"]
    assert legal(rules(build(seat("Y", "Y", coatls=[coatl("Y", "", ["P05"])]))), "add") == ["1 head Y", "1 tail Y"]


def test_at_most_64_pieces(rules):
    state = rules(build(seat("Y", "Y", "B", coatls=[coatl("YYYYRRRR" * 4 + "KKKKGGGG" * 4)])))
    assert legal(state, "add") == []
    state = rules(build(seat("Y", "Y", "B", coatls=[coatl("YYYYRRRR" * 4 + "KKKKGGGG" * 3 + "K")])))
    assert len(legal(state, "add")) == 4


def test_end_needs_a_step(rules):
    assert "end" not in rules(build(seat("R"))).legal_actions()
    assert "end" in play(rules(build(seat("R"))), "start head R").legal_actions()


def test_play_what_meets_its_first_level(rules):
    state = rules(build(seat(hand=["P00", "P00", "P04", "P05"], coatls=[coatl("YYY"), coatl("YBBYY", "h")])))
    assert legal(state, "play") == ["1 P00", "2 P00", "2 P05"]
    play(state, "play 1 P00")
    assert state.legal_actions() == ["end", "play 2 P00", "play 2 P05"]  # no identical one on the same Coatl
    play(state, "play 2 P05")
    assert hand(state, 0) == ["P00", "P04"]
    assert state.to_json()["seats"][0]["coatls"][1]["prophecies"] == ["P05"]


def test_a_played_prophecy_may_come_to_nothing(rules):
    state = rules(build(seat("R", "R", "Y", hand=["P05"], coatls=[coatl("YY", "h")])))
    play(state, "play 1 P05", "add 1 right Y")  # D14
    assert legal(state, "add") == ["1 tail R"]  # a card is on the Coatl
    play(state, "add 1 tail R", "close 1")
    assert state.scores() == [0, 0]


def test_strict_ends(rules):
    seats = [seat("R", "R", "R", hand=["P05"], coatls=[coatl("YY", "h")])]
    assert legal(rules(build(*seats)), "play") == ["1 P05"]
    state = rules(build(*seats, strict_ends=True))
    assert legal(state, "play") == []
    assert legal(state, "add") == ["1 right R", "1 tail R"]  # a tail closes the end
    assert legal(play(state.copy(), "add 1 tail R"), "play") == ["1 P05"]
    assert legal(play(state, "add 1 right R"), "play") == ["1 P05"]
    state = rules(build(seat("Y", "R", hand=["P05"], coatls=[coatl("Y")]), strict_ends=True))
    assert legal(play(state, "add 1 head Y"), "play") == []


def test_at_most_four_prophecies(rules):
    four = ["P00", "P01", "P02", "P03"]
    state = rules(build(seat(hand=["P04"], coatls=[coatl("BBB", "", four), coatl("BBB", "", four[:3])])))
    assert legal(state, "play") == ["2 P04"]


# Closing.


def test_closing_needs_a_card_that_can_be_played_at_once(rules):
    # P05 matches only with the tail, P00 not at all.
    seats = seat("", "YK", hand=["P00", "P05"], coatls=[coatl("RY", "h")])
    assert legal(rules(build(seats)), "add") == ["1 tail Y"]
    state = play(rules(build(seats)), "add 1 tail Y")
    assert (state.phase, state.closing) == ("closing", 1)
    assert state.legal_actions() == ["play 1 P05"]
    play(state, "play 1 P05")
    assert state.legal_actions() == ["close 1"]


def test_closing_comes_before_anything_else(rules):
    state = rules(
        build(
            seat(
                "Y",
                "Y",
                "BB",
                hand=["P00", "P01", "P10"],
                temples=["T00", "T05"],
                coatls=[coatl("YYYY", "h", ["P00"]), coatl("YYY")],
            ),
            tops=("T06", "T01"),
        )
    )
    play(state, "add 1 tail Y")
    # Neither starts nor steps on the other Coatl; T00 (no yellow, length 7) and T05, T06 are not met.
    assert state.legal_actions() == ["close 1", "play 1 P10", "temple 1 T01"]
    play(state, "play 1 P10", "close 1")
    assert (state.phase, state.closing) == ("building", 0)
    assert state.scores()[0] == 4 + 3
    assert {"add 2 left B", "play 2 P00", "start body B", "end"} <= set(state.legal_actions())
    assert all(" 1 " not in action for action in state.legal_actions())  # closed for good


def test_one_temple_closes(rules):
    state = rules(build(seat("", "Y", hand=["P00", "P10"], temples=["T01", "T02"], coatls=[coatl("YYYY", "h")])))
    play(state, "add 1 tail Y")
    assert legal(state, "temple") == []  # a prophecy is owed first
    play(state, "play 1 P00")
    assert legal(state, "temple") == ["1 T01", "1 T02", "1 T13"]
    play(state, "temple 1 T02")
    assert (state.phase, state.pending, state.legal_actions()) == ("building", "", ["end"])
    assert state.scores()[0] == 4 + 3
    assert state.seats[0].temples == ["T01"]


def test_a_public_temple_uncovers_the_next(rules):
    state = rules(
        build(
            seat(
                "",
                "YY",
                "B",
                hand=["P00", "P01"],
                temples=["T01"],
                coatls=[coatl("YYYY", "h", ["P00"]), coatl("YYYYY", "h", ["P10"])],
            )
        )
    )
    play(state, "add 1 tail Y", "temple 1 T13")
    assert (state.phase, state.pending, state.to_move) == ("building", "uncover", 0)
    assert state.to_json()["piles"][0] == {"top": "", "below": 6}
    assert len(state.outcomes()) == 12
    with pytest.raises(ValueError, match="uncover is due"):
        state.apply("uncover T01")  # in hand
    play(state, "uncover T02")
    assert state.to_json()["piles"] == [{"top": "T02", "below": 5}, {"top": "T14", "below": 6}]
    play(state, "add 2 tail Y")
    assert legal(state, "temple") == ["2 T01", "2 T02"]  # the new one is there at once (D5)


def test_the_last_temple_of_a_pile(rules):
    piles = [{"top": "T13", "below": 0}, {"top": "T14", "below": 1}]
    seats = [seat("", "Y", coatls=[coatl("YYYY", "h", ["P00"])]), seat(temples=ALL_TEMPLES[:12])]
    state = rules(build(*seats, piles=piles))
    play(state, "add 1 tail Y", "temple 1 T13")
    assert (state.pending, state.to_json()["piles"][0]) == ("", {"top": "", "below": 0})


# Sacrifice tokens.


def test_perfect_pick(rules):
    state = rules(build(seat("Y", "Y", "YYYYY", tokens=["perfect"])))
    assert legal(state, "perfect") == [f"{kind} {colour}" for kind in ("head", "tail") for colour in "BGKRY"]
    state = rules(build(seat("YY", "Y", "YYY", tokens=["perfect"]), heads="RR", tails="KK"))
    assert "head Y" in legal(state, "perfect")
    assert len(legal(state, "perfect")) == 10 + 15
    play(state, "perfect body RG")
    assert stored(state, 0)["bodies"] == "YYYRG"
    assert state.seats[0].tokens == []
    assert (state.pending, state.to_move) == ("", 1)  # no space was empty


def test_perfect_pick_takes_from_the_bag_only(rules):
    state = rules(build(seat("YY", tokens=["perfect"]), seat(coatls=[coatl("R" * 23)]), heads="YB", bodies=["KK"]))
    picks = legal(state, "perfect")
    assert "head Y" not in picks  # all yellow heads are out
    assert "body YR" in picks
    assert "body RR" not in picks  # one is left
    assert len(picks) == 9 + 14


def test_perfect_pick_refills_every_empty_space(rules):
    state = rules(build(seat(tokens=["perfect"]), heads="Y", bodies=["YY", "RR"]))
    play(state, "perfect head B")
    assert state.pending == "refill"
    play(state, "refill heads B bodies YY YY YY YY")
    assert len(supply(state)["bodies"]) == 6


def test_see_the_future(rules):
    state = rules(build(seat(hand=["P00", "P01", "P02", "P03", "P05"], shown=["P00", "P05"], tokens=["future"])))
    assert "future" in state.legal_actions()
    play(state, "future")
    assert (state.pending, state.phase, state.to_move) == ("reveal", "future", 0)
    assert state.to_json()["discarded"] == ["P30", "P31", "P32", "P33", "P34", "P35"]
    play(state, "reveal P36 P37 P38 P39 P40 P41")
    assert state.legal_actions() == [f"discard P0{number}" for number in (0, 1, 2, 3, 5)] + ["end"]
    play(state, "discard P01", "discard P05")
    assert "discard P00" in state.legal_actions()
    play(state, "draw P40")
    assert (state.phase, legal(state, "discard")) == ("drawing", [])
    play(state, "end", "reveal P42")
    assert state.to_move == 1
    assert state.seats[0].tokens == []
    position = state.to_json()
    assert position["seats"][0]["discarded"] == ["P01", "P05"]
    assert position["seats"][0]["hand"] == ["P00", "P02", "P03", "P40"]
    # The other seat cannot know whether P00 or P05 is still there.
    assert state.view(1)["seats"][0]["hand"] == ["P40", "?", "?", "?"]
    assert state.view(1)["seats"][0]["discarded"] == ["?", "?"]
    assert state.view(1)["discarded"] == ["P30", "P31", "P32", "P33", "P34", "P35"]


def test_two_shown_copies_of_which_one_may_be_discarded(rules):
    state = rules(build(seat(hand=["P00", "P00", "P05"], shown=["P00", "P00", "P05"], tokens=["future"])))
    happen(play(state, "future"))
    play(state, "discard P05")
    assert state.seats[0].shown == ["P00"]


def test_see_the_future_may_take_nothing(rules):
    state = rules(build(seat(tokens=["future"])))
    happen(play(state, "future"))
    play(state, "end")
    assert (state.pending, state.to_move, len(state.display)) == ("", 1, 6)


def test_see_the_future_with_few_cards(rules):
    state = rules(few_cards(seats=[seat(tokens=["future"], hand=["P07"]), seat()], display=["P05", "P06"]))
    play(state, "future", "reveal P05 P06")  # the discarded display comes back
    play(state, "discard P07", "end")
    assert state.random_event(random.Random(1)) == "reveal P07"
    state = rules(few_cards(seats=[seat(tokens=["future"]), seat()]))
    play(state, "future")
    assert (state.pending, state.phase, state.legal_actions()) == ("", "future", ["end"])


def test_priests_promise(rules):
    state = rules(build(seat(temples=["T00"], tokens=["promise"])))
    assert legal(state, "promise") == ["T13", "T14"]
    play(state, "promise T14")
    assert (state.pending, state.phase, state.to_move) == ("uncover", "turn", 1)
    assert state.view(1)["seats"][0]["temples"] == ["T14", "?"]
    assert state.view(0)["seats"][0]["temples"] == ["T00", "T14"]
    play(state, "uncover T03")
    assert state.to_json()["piles"][1]["top"] == "T03"


def test_tokens_are_spent_once_and_only_in_place_of_an_action(rules):
    state = rules(build(seat("R", tokens=["future", "promise", "perfect"])))
    play(state, "start head R")
    assert state.legal_actions() == ["end"]
    assert [legal(rules(build(seat())), verb) for verb in ("perfect", "future", "promise")] == [[], [], []]


# Actions that are not legal; JSON.


@pytest.mark.parametrize(
    "action",
    [
        "end",
        "take body RY",
        "take  head R",
        "keep",
        "draw P00",
        "reveal P01",
        "",
        "start head R",
        "close 1",
        "take head r",
    ],
)
def test_what_is_not_legal_is_refused(rules, action):
    state = rules(build())
    with pytest.raises(ValueError, match="not legal here"):
        state.apply(action)
