"""The slow reference of Coatl on its own: each rule and decision by hand, then whole random games.

Positions are made by `build`, which checks as little as the reference does: what a test does not need may lie
in a `hoard`, a Coatl that no seat could have built.
"""

import itertools
import random
from collections import Counter

import pytest
from reference.coatl import ALL_PIECES, ALL_PROPHECIES, ALL_TEMPLES, KINDS, PAIRS, UNKNOWN, Coatl, State
from reference.coatl_matching import (
    CARDS,
    PROPHECIES,
    TEMPLES,
    Ends,
    most_disjoint,
    occurrences,
    prophecy_points,
    prophecy_times,
    temple_points,
)

UNFINISHED = Ends(left_open=True, right_open=True)
STRICT = UNFINISHED._replace(strict=True)


def coatl(pieces, ends="", prophecies=(), temple="", closed=False):
    """Return a Coatl; ends is "", "h", "t" or "ht"."""
    return {"pieces": pieces, "head": "h" in ends, "tail": "t" in ends, "prophecies": sorted(prophecies),
            "temple": temple, "closed": closed}


def hoard(pieces="", ends="", prophecies=()):
    return coatl(pieces, ends, prophecies, closed=True)


def seat(heads="", tails="", bodies="", **fields):
    empty = {"hand": [], "shown": [], "discarded": [], "temples": [], "shown_temples": [], "tokens": [],
             "coatls": []}
    return {"stored": {"heads": heads, "tails": tails, "bodies": bodies}, **empty, **fields}


def build(*seats, heads="YR", tails="KG", bodies=("YY", "YR", "RR", "KK", "GG", "BB"), tops=("T13", "T14"),
          strict_ends=False, tokens=True, **fields):
    """Return the state of a position in the middle of a game, by default with seat 0 to move."""
    seats = [*seats, *(seat() for _ in range(2 - len(seats)))]
    display = fields.setdefault("display", ["P30", "P31", "P32", "P33", "P34", "P35"])
    discarded = fields.setdefault("discarded", [])
    coatls = [each for one in seats for each in one["coatls"]]
    cards = [*display, *discarded, *(card for each in coatls for card in each["prophecies"]),
             *(card for one in seats for card in one["hand"] + one["discarded"])]
    temples = [*filter(None, tops), *(each["temple"] for each in coatls if each["temple"]),
               *(card for one in seats for card in one["temples"])]
    below = len(ALL_TEMPLES) - len(temples)
    position = {
        "game": "coatl", "version": 1, "players": len(seats), "viewer": None,
        "options": {"sacrifice_tokens": tokens, "strict_ends": strict_ends},
        "phase": "turn", "pending": "", "round": 3, "to_move": 0, "actions_left": 1, "passes": 0,
        "ending": None, "closing": 0, "supply": {"heads": heads, "tails": tails, "bodies": list(bodies)},
        "deck": len(ALL_PROPHECIES) - len(cards),
        "piles": [{"top": tops[0], "below": below // 2}, {"top": tops[1], "below": below - below // 2}],
        "seats": seats, **fields,
    }
    return State.from_json(position)


def play(state, *actions):
    for action in actions:
        state.apply(action)
    return state


def legal(state, verb):
    """Return the legal actions of a kind, without the verb."""
    actions = [action for action in state.legal_actions() if action.split()[0] == verb]
    return [action.removeprefix(verb).strip() for action in actions]


def happen(state, rng=None):
    """Let the event that is due happen, whatever comes."""
    state.apply(state.random_event(rng or random.Random(1)))
    return state


def hand(state, number):
    return state.to_json()["seats"][number]["hand"]


def stored(state, number):
    return state.to_json()["seats"][number]["stored"]


def assert_conserved(state):
    """Each piece and card is somewhere, once."""
    coatls = [each for one in state.seats for each in one.coatls]
    pieces = {kind: [*state.bags[kind], *(piece for one in state.seats for piece in one.stored[kind])]
              for kind in KINDS}
    pieces["head"] += [*state.heads, *(each.pieces[0] for each in coatls if each.head)]
    pieces["tail"] += [*state.tails, *(each.pieces[-1] for each in coatls if each.tail)]
    pieces["body"] += [piece for pair in state.bodies for piece in pair]
    pieces["body"] += "".join(each.pieces[each.head:len(each.pieces) - each.tail] for each in coatls)
    for kind in KINDS:
        assert Counter(pieces[kind]) == Counter(ALL_PIECES[kind])
    cards = [*state.deck, *state.display, *state.discarded,
             *(card for each in coatls for card in each.prophecies),
             *(card for one in state.seats for card in one.hand + one.discarded)]
    assert Counter(cards) == Counter(ALL_PROPHECIES)
    temples = [*state.lower_temples, *(top for top, _ in state.piles if top),
               *(card for one in state.seats for card in one.temples),
               *(each.temple for each in coatls if each.temple)]
    assert sorted(temples) == ALL_TEMPLES
    assert len(state.lower_temples) == sum(below for _, below in state.piles)


# Cards.


def test_numbers_of_the_cards():
    checks = CARDS["checks"]
    assert len(PROPHECIES) == checks["prophecy_faces"]
    assert len(ALL_PROPHECIES) == checks["prophecy_copies"]
    assert len(TEMPLES) == checks["temple_cards"]
    assert [face for face, card in PROPHECIES.items() if card["copies"] == 2] == [f"P0{n}" for n in range(5)]
    assert [len(pieces) for pieces in ALL_PIECES.values()] == [15, 15, 120]


@pytest.mark.parametrize("others", list(itertools.product("YRK", repeat=3)))
def test_the_example_of_the_rulebook(others):
    example = CARDS["checks"]["scoring_example"]
    word = example["word"].replace(".", "{}").format(*others)
    assert len(word) == 11
    *prophecies, temple = example["cards"]
    points = [prophecy_points(card, word) for card in prophecies] + [temple_points(temple, word)]
    assert points == example["points"] == [4, 5, 5, 3]
    assert Coatl(word, True, True, prophecies, temple, True).scores() == example["total"] == 17


@pytest.mark.parametrize(("card", "word", "times", "points"), [
    ("P04", "BBRBB", 4, 3),  # anywhere
    ("P04", "BRB", 2, 0),
    ("P04", "BBBBBBBB", 8, 5),  # no more than the highest level
    ("P08", "GG", 1, 2),  # a pair on its own
    ("P08", "GGG", 0, 0),
    ("P08", "GGRGG", 2, 5),  # one piece keeps both pairs apart
    ("P08", "GGRGGGRGG", 2, 5),
    ("P08", "GGRGGRGG", 3, 5),
    ("P10", "YYYYY", 1, 3),
    ("P10", "YYYYYY", 2, 7),
    ("P10", "YYRYYY", 1, 3),
    ("P15", "YGYGGYG", 3, 5),
    ("P15", "GY", 0, 0),  # never mirrored
    ("P24", "RGRGRG", 1, 5),
    ("P24", "GRGR", 0, 0),
    ("P28", "RBBYYR", 1, 4),
    ("P25", "RRRGG", 1, 6),
    ("P32", "YKRGB", 1, 7),
    ("P32", "BGRKY", 0, 0),
    ("P42", "GYG", 1, 2),
    ("P42", "GYYYG", 1, 2),
    ("P42", "GG", 0, 0),  # a run has at least one piece
    ("P42", "GYGYG", 1, 2),  # the middle one serves one occurrence only
    ("P42", "GYGGYYG", 2, 6),
    ("P42", "GYRYG", 0, 0),
    ("P45", "GKRKG", 1, 4),
    ("P45", "GKKGKG", 1, 4),
    ("P45", "GKKG", 0, 0),  # at least one piece between
    ("P45", "GKGKG", 1, 4),
    ("P45", "GKGGGKG", 1, 4),
    ("P45", "KGRGK", 0, 0),
])
def test_what_a_prophecy_counts(card, word, times, points):
    assert prophecy_times(card, word) == times
    assert prophecy_points(card, word) == points


def test_occurrences_are_sets_of_positions():
    assert occurrences("G Y+ G", "GYGYYG") == [{0, 1, 2}, {2, 3, 4, 5}]
    assert occurrences("G K *+ K G", "GKGKGKG") == [set(range(5)), set(range(7)), {2, 3, 4, 5, 6}]
    assert occurrences("<!G> G G <!G>", "GGRGGG") == [{0, 1}]
    assert occurrences("Y Y Y", "YY") == []


def test_the_largest_number_of_disjoint_sets_is_not_found_by_taking_the_first():
    assert most_disjoint([frozenset(each) for each in ([0, 1, 2], [0, 1], [2, 3])]) == 2
    assert most_disjoint([frozenset(each) for each in ([1, 2], [0, 1], [2, 3])]) == 2
    assert most_disjoint([]) == 0


def test_most_disjoint_against_all_families():
    rng = random.Random(3)
    for _ in range(60):
        sets = [frozenset(rng.sample(range(9), rng.randint(1, 3))) for _ in range(rng.randint(0, 7))]
        families = itertools.chain(*(itertools.combinations(sets, number) for number in range(len(sets) + 1)))
        disjoint = [family for family in families if len(frozenset().union(*family)) == sum(map(len, family))]
        assert most_disjoint(sets) == max(map(len, disjoint))


@pytest.mark.parametrize(("word", "ends", "times"), [
    ("GG", UNFINISHED, 1),  # D7
    ("GG", STRICT, 0),
    ("RGG", STRICT, 0),
    ("RGGR", STRICT, 1),
    ("GG", STRICT._replace(left_open=False), 0),
    ("GG", STRICT._replace(left_open=False, right_open=False), 1),
    ("RGG", STRICT._replace(right_open=False), 1),
    ("GGRGG", STRICT, 0),
    ("GGR", STRICT._replace(left_open=False), 1),
    ("GGG", UNFINISHED, 0),
])
def test_pairs_on_their_own_at_open_ends(word, ends, times):
    assert prophecy_times("P08", word, ends) == times


@pytest.mark.parametrize(("card", "word", "points"), [
    ("T03", "RRRRRRRRRR", 7),  # no blue, ten pieces
    ("T03", "RRRRRRRRRB", 3),
    ("T03", "RRR", 3),
    ("T03", "RRB", 0),
    ("T05", "RYKKKKKKKKKK", 7),  # as many red as yellow, twelve pieces
    ("T05", "RRYYK", 3),
    ("T05", "KKKKK", 0),  # at least one of each
    ("T05", "RRYK", 0),
    ("T10", "BRBR", 7),
    ("T10", "BRK", 3),
    ("T10", "KKB", 0),
])
def test_what_a_temple_counts(card, word, points):
    assert temple_points(card, word) == points


# Setup.


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_new_game(players):
    state = State.new_game(players, random.Random(1))
    position = state.to_json()
    assert [len(one["hand"]) for one in position["seats"]] == [3, 4, 5, 6][:players]
    assert all(len(one["temples"]) == 1 and not one["discarded"] for one in position["seats"])
    assert all(one["tokens"] == ["perfect", "future", "promise"] for one in position["seats"])
    assert [len(position["supply"][part]) for part in ("heads", "tails", "bodies")] == [2, 2, 6]
    assert len(position["display"]) == 6
    assert sum(pile["below"] for pile in position["piles"]) == 13 - players
    assert position["phase"] == "keep"
    assert position["round"] == 0
    assert_conserved(state)
    assert not State.new_game(players, random.Random(1), sacrifice_tokens=False).seats[0].tokens


def test_keep_up_to_three():
    state = build(seat(hand=["P00", "P00", "P05"]), seat(hand=["P01", "P02", "P03", "P04"]), phase="keep",
                  round=0)
    assert state.legal_actions() == sorted([
        "keep", "keep P00", "keep P05", "keep P00 P00", "keep P00 P05", "keep P00 P00 P05"])
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


def test_take_a_space():
    state = build()
    assert legal(state, "take") == ["body BB", "body GG", "body KK", "body RR", "body YR", "body YY",
                                    "head R", "head Y", "tail G", "tail K"]
    play(state, "take body YR")
    assert stored(state, 0) == {"heads": "", "tails": "", "bodies": "YR"}
    assert (state.to_move, state.phase, state.pending) == (1, "turn", "")
    play(state, "take head R", "take tail K")
    assert (state.to_move, state.round) == (1, 4)
    assert state.to_json()["supply"] == {"heads": "Y", "tails": "G", "bodies": ["YY", "RR", "KK", "GG", "BB"]}


def test_take_needs_room_for_all_of_it():
    assert legal(build(seat("Y", "Y", "YYYYY")), "take") == ["head R", "head Y", "tail G", "tail K"]
    assert legal(build(seat("Y", "Y", "YYYYYY")), "take") == []
    assert len(legal(build(seat("Y", "Y", "YYYY")), "take")) == 10


def test_refill_when_the_last_bodies_go():
    state = play(build(heads="Y", tails="", bodies=["YR"]), "take body YR")
    assert (state.pending, state.to_move, state.legal_actions()) == ("refill", 1, [])
    for wrong in ("refill heads R tails YY bodies YY YY YY YY YY",  # not all spaces
                  "refill heads R tails YY bodies RR YY YY YY YY YY",  # not in canonical order
                  "refill tails YY heads R bodies YY YY YY YY YY YY",
                  "refill heads R tails YY bodies YY YY YY YY YY RY",
                  "refill heads RR tails YY bodies YY YY YY YY YY YY",
                  "end", "take head Y"):
        with pytest.raises(ValueError, match="refill is due"):
            state.apply(wrong)
    play(state, "refill heads R tails YY bodies YY YY YY YY YY RR")
    assert state.pending == ""
    assert state.to_json()["supply"] == {"heads": "YR", "tails": "YY",
                                         "bodies": ["YY", "YY", "YY", "YY", "YY", "RR"]}
    assert_conserved(state)


def test_refill_when_the_last_head_or_tail_goes():
    state = build(heads="", tails="K", bodies=["YR", "YY"])
    play(state, "take tail K")
    assert state.pending == "refill"
    play(state, "refill heads YY tails RR bodies YY YK RR BB")
    assert len(state.bodies) == 6


@pytest.mark.parametrize(("heads", "tails"), [("", "KK"), ("K", "")])
def test_no_refill_while_a_head_or_tail_is_left(heads, tails):
    state = play(build(heads=heads, tails=tails, bodies=["YR", "YY"]), "take body YY")
    assert state.pending == ""


def test_what_is_refilled_must_be_in_the_bag():
    state = play(build(seat("YY"), heads="", tails="Y"), "take tail Y")
    with pytest.raises(ValueError, match="refill is due"):
        state.apply("refill heads YY tails KK")
    play(state, "refill heads YR tails KK")


def all_but(kind, number):
    """Return hoards of all pieces of a kind except this number, which are blue as far as possible."""
    pieces = ALL_PIECES[kind][:len(ALL_PIECES[kind]) - number]
    if kind == "body":
        return [hoard("".join(pieces))]
    return [hoard(piece, kind[0]) for piece in pieces]


def test_a_partial_refill():
    # Two pairs and a head are left in the bags.
    state = build(seat(), seat(coatls=all_but("body", 6) + all_but("head", 1) + all_but("tail", 1)),
                  heads="", tails="B", bodies=["BB"])
    play(state, "take tail B")
    assert state.random_event(random.Random(1)) == "refill heads B bodies BB BB"
    happen(state)
    assert state.to_json()["supply"] == {"heads": "B", "tails": "", "bodies": ["BB", "BB", "BB"]}
    assert state.ending is None


def test_no_refill_from_empty_bags():
    state = build(seat(), seat(coatls=all_but("head", 1) + all_but("tail", 0)), heads="B", tails="")
    play(state, "take head B")
    assert (state.pending, state.to_move) == ("", 1)


def test_bodies_can_run_out_while_heads_are_refilled():
    state = build(seat(), seat(coatls=all_but("body", 2)), heads="Y", bodies=["BB"])
    play(state, "take body BB")
    assert (state.pending, state.ending) == ("refill", None)
    play(state, "refill heads R")
    assert state.ending == {"cause": "bodies", "last_round": 4}


# Taking prophecies.


def test_draw_card_by_card():
    state = build(seat(hand=["P00", "P00"]))
    play(state, "draw P32")
    assert state.phase == "drawing"
    assert state.legal_actions() == ["draw P30", "draw P31", "draw P33", "draw P34", "draw P35", "draw deck",
                                     "end"]
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
    assert_conserved(state)


def test_the_shown_cards_are_those_of_the_display():
    state = play(build(seat(hand=["P00"])), "draw P32", "draw deck", "deal P00", "end")
    happen(state)
    assert state.view(0)["seats"][0]["hand"] == ["P00", "P00", "P32"]
    assert state.view(1)["seats"][0]["hand"] == ["P32", "?", "?"]
    assert state.view(1)["seats"][0]["shown"] == ["P32"]


def test_a_full_hand_draws_nothing():
    assert legal(build(seat(hand=["P00", "P01", "P02", "P03", "P04"])), "draw") == []


def few_cards(*left, **fields):
    """Return a state in which all prophecies but those left lie in a hoard; the left ones are the deck."""
    placed = [card for one in fields.get("seats", []) for card in one["hand"] + one["discarded"]]
    placed += fields.get("display", []) + fields.get("discarded", [])
    rest = list((Counter(ALL_PROPHECIES) - Counter(left) - Counter(placed)).elements())
    seats = fields.pop("seats", [seat(), seat()])
    seats[-1]["coatls"] = [*seats[-1]["coatls"], hoard(prophecies=rest)]
    fields.setdefault("display", [])
    return build(*seats, **fields)


def test_the_display_stays_short_when_nothing_is_left():
    state = few_cards("P07", display=["P05", "P06"])
    play(state, "draw P05", "draw P06", "draw deck", "deal P07")
    assert state.legal_actions() == ["end"]
    play(state, "end")
    assert (state.pending, state.display, state.to_move) == ("", [], 1)
    assert legal(state, "draw") == []


def test_a_partial_reveal():
    state = few_cards("P07", display=["P05", "P06"])
    play(state, "draw P05", "end")
    assert state.random_event(random.Random(1)) == "reveal P07"
    happen(state)
    assert sorted(state.display) == ["P06", "P07"]


def test_the_deck_is_renewed_from_all_discards():
    state = few_cards(seats=[seat(discarded=["P08"]), seat(discarded=["P09", "P10"])], discarded=["P11"],
                      display=["P05"])
    assert legal(state, "draw") == ["P05", "deck"]
    play(state, "draw deck")
    assert state.event_probabilities() == {f"deal {card}": 0.25 for card in ("P08", "P09", "P10", "P11")}
    play(state, "deal P10")
    position = state.to_json()
    assert (position["deck"], position["discarded"]) == (3, [])
    assert all(one["discarded"] == [] for one in position["seats"])
    play(state, "end", "reveal P08 P09 P11")


def test_a_deck_that_runs_out_in_a_reveal():
    state = few_cards("P07", seats=[seat(discarded=["P08"]), seat(discarded=["P09"])],
                      discarded=["P10", "P12"], display=["P05", "P13", "P14", "P15"])
    play(state, "draw P05", "end")
    assert state.pending == "reveal"
    with pytest.raises(ValueError, match="reveal is due"):
        state.apply("reveal P08 P09 P10")  # the card of the deck comes first
    texts = {state.random_event(random.Random(number)) for number in range(60)}
    assert texts == {f"reveal P07 {one} {other}"
                     for one, other in itertools.combinations(["P08", "P09", "P10", "P12"], 2)}
    play(state, "reveal P07 P08 P12")
    assert (sorted(state.deck), state.discarded) == (["P09", "P10"], [])


def test_random_events_are_uniform_over_cards_not_faces():
    state = play(few_cards("P00", "P00", "P07"), "draw deck")
    assert state.event_probabilities() == {"deal P00": 2 / 3, "deal P07": 1 / 3}
    rng = random.Random(1)
    number = sum(state.random_event(rng) == "deal P00" for _ in range(3000))
    assert 1900 < number < 2100


def test_random_pairs_are_drawn_without_replacement():
    # Two yellow and two red bodies: YY RR in one case of three.
    state = build(seat(), seat(coatls=[hoard("Y" * 22 + "R" * 22 + "K" * 23 + "G" * 24 + "B" * 23)]),
                  heads="YR", tails="YR", bodies=["KB"])
    play(state, "take body KB")
    rng = random.Random(1)
    outcomes = Counter(state.random_event(rng) for _ in range(3000))
    assert set(outcomes) == {"refill bodies YY RR", "refill bodies YR YR"}
    assert 900 < outcomes["refill bodies YY RR"] < 1100


# Building.


def test_start_with_any_stored_piece():
    state = build(seat("YR", "K", "GGB"))
    assert legal(state, "start") == ["body B", "body G", "head R", "head Y", "tail K"]
    play(state, "start head R")
    assert state.phase == "building"
    assert state.to_json()["seats"][0]["coatls"] == [coatl("R", "h")]
    assert stored(state, 0) == {"heads": "Y", "tails": "K", "bodies": "GGB"}
    play(state, "start tail K")
    assert legal(state, "start") == []  # two unfinished
    assert state.legal_actions() == ["add 1 right B", "add 1 right G", "add 2 left B", "add 2 left G", "end"]


def test_a_third_coatl_is_started_after_one_is_closed():
    state = build(seat("R", coatls=[coatl("RKR", "ht", ["P00"], closed=True), coatl("Y")]))
    assert legal(state, "start") == ["head R"]
    state = build(seat("R", coatls=[hoard(), hoard(), coatl("Y")]))
    assert legal(state, "start") == []  # never more than three (D4)
    assert legal(state, "add") == ["3 head R"]


def test_add_at_the_ends():
    state = build(seat("R", "K", "G", coatls=[coatl("YB")]))
    assert legal(state, "add") == ["1 head R", "1 left G", "1 right G", "1 tail K"]
    play(state, "add 1 left G", "add 1 head R")
    assert state.seats[0].coatls[0].pieces == "RGYB"
    assert legal(state, "add") == []  # closing needs a prophecy
    play(state, "end")
    assert (state.to_move, state.phase) == (1, "turn")
    state = build(seat("R", "K", "G", coatls=[coatl("YB", "t")]))
    assert legal(state, "add") == ["1 left G"]
    play(state, "add 1 left G")
    assert state.seats[0].coatls[0].pieces == "GYB"


def test_no_head_directly_on_a_tail():
    cards = ["P00", "P00", "P01", "P01"]
    assert legal(build(seat("Y", "Y", hand=cards, coatls=[coatl("Y", "h", ["P05"])])), "add") == []
    assert legal(build(seat("Y", "Y", hand=cards, coatls=[coatl("Y", "t", ["P05"])])), "add") == []
    assert legal(build(seat("Y", "Y", coatls=[coatl("YY", "t", ["P05"])])), "add") == ["1 head Y"]
    assert legal(build(seat("Y", "Y", coatls=[coatl("YY", "h", ["P05"])])), "add") == ["1 tail Y"]
    assert legal(build(seat("Y", "Y", coatls=[coatl("Y", "", ["P05"])])), "add") == ["1 head Y", "1 tail Y"]


def test_at_most_64_pieces():
    state = build(seat("Y", "Y", "B", coatls=[coatl("YYYYRRRR" * 4 + "KKKKGGGG" * 4)]))
    assert legal(state, "add") == []
    state = build(seat("Y", "Y", "B", coatls=[coatl("YYYYRRRR" * 4 + "KKKKGGGG" * 3 + "K")]))
    assert len(legal(state, "add")) == 4


def test_end_needs_a_step():
    assert "end" not in build(seat("R")).legal_actions()
    assert "end" in play(build(seat("R")), "start head R").legal_actions()


def test_play_what_meets_its_first_level():
    state = build(seat(hand=["P00", "P00", "P04", "P05"], coatls=[coatl("YYY"), coatl("YBBYY", "h")]))
    assert legal(state, "play") == ["1 P00", "2 P00", "2 P05"]
    play(state, "play 1 P00")
    assert state.legal_actions() == ["end", "play 2 P00", "play 2 P05"]  # no identical one on the same Coatl
    play(state, "play 2 P05")
    assert hand(state, 0) == ["P00", "P04"]
    assert state.to_json()["seats"][0]["coatls"][1]["prophecies"] == ["P05"]


def test_a_played_prophecy_may_come_to_nothing():
    state = build(seat("R", "R", "Y", hand=["P05"], coatls=[coatl("YY", "h")]))
    play(state, "play 1 P05", "add 1 right Y")  # D14
    assert legal(state, "add") == ["1 tail R"]  # a card is on the Coatl
    play(state, "add 1 tail R", "close 1")
    assert state.scores() == [0, 0]


def test_strict_ends():
    seats = [seat("R", "R", "R", hand=["P05"], coatls=[coatl("YY", "h")])]
    assert legal(build(*seats), "play") == ["1 P05"]
    state = build(*seats, strict_ends=True)
    assert legal(state, "play") == []
    assert legal(state, "add") == ["1 right R", "1 tail R"]  # a tail closes the end
    assert legal(play(state.copy(), "add 1 tail R"), "play") == ["1 P05"]
    assert legal(play(state, "add 1 right R"), "play") == ["1 P05"]
    state = build(seat("Y", "R", hand=["P05"], coatls=[coatl("Y")]), strict_ends=True)
    assert legal(play(state, "add 1 head Y"), "play") == []


def test_at_most_four_prophecies():
    four = ["P00", "P01", "P02", "P03"]
    state = build(seat(hand=["P04"], coatls=[coatl("BBB", "", four), coatl("BBB", "", four[:3])]))
    assert legal(state, "play") == ["2 P04"]


# Closing.


def test_closing_needs_a_card_that_can_be_played_at_once():
    # P05 matches only with the tail, P00 not at all.
    seats = seat("", "YK", hand=["P00", "P05"], coatls=[coatl("RY", "h")])
    assert legal(build(seats), "add") == ["1 tail Y"]
    state = play(build(seats), "add 1 tail Y")
    assert (state.phase, state.closing) == ("closing", 1)
    assert state.legal_actions() == ["play 1 P05"]
    play(state, "play 1 P05")
    assert state.legal_actions() == ["close 1"]


def test_closing_comes_before_anything_else():
    state = build(seat("Y", "Y", "BB", hand=["P00", "P01", "P10"], temples=["T00", "T05"],
                       coatls=[coatl("YYYY", "h", ["P00"]), coatl("YYY")]), tops=("T06", "T01"))
    play(state, "add 1 tail Y")
    # Neither starts nor steps on the other Coatl; T00 (no yellow, length 7) and T05, T06 are not met.
    assert state.legal_actions() == ["close 1", "play 1 P10", "temple 1 T01"]
    play(state, "play 1 P10", "close 1")
    assert (state.phase, state.closing) == ("building", 0)
    assert state.scores()[0] == 4 + 3
    assert {"add 2 left B", "play 2 P00", "start body B", "end"} <= set(state.legal_actions())
    assert all(" 1 " not in action for action in state.legal_actions())  # closed for good


def test_one_temple_closes():
    state = build(seat("", "Y", hand=["P00", "P10"], temples=["T01", "T02"], coatls=[coatl("YYYY", "h")]))
    play(state, "add 1 tail Y")
    assert legal(state, "temple") == []  # a prophecy is owed first
    play(state, "play 1 P00")
    assert legal(state, "temple") == ["1 T01", "1 T02", "1 T13"]
    play(state, "temple 1 T02")
    assert (state.phase, state.pending, state.legal_actions()) == ("building", "", ["end"])
    assert state.scores()[0] == 4 + 3
    assert state.seats[0].temples == ["T01"]


def test_a_public_temple_uncovers_the_next():
    state = build(seat("", "YY", "B", hand=["P00", "P01"], temples=["T01"],
                       coatls=[coatl("YYYY", "h", ["P00"]), coatl("YYYYY", "h", ["P10"])]))
    play(state, "add 1 tail Y", "temple 1 T13")
    assert (state.phase, state.pending, state.to_move) == ("building", "uncover", 0)
    assert state.to_json()["piles"][0] == {"top": "", "below": 6}
    assert len(state.event_probabilities()) == 12
    with pytest.raises(ValueError, match="uncover is due"):
        state.apply("uncover T01")  # in hand
    play(state, "uncover T02")
    assert state.to_json()["piles"] == [{"top": "T02", "below": 5}, {"top": "T14", "below": 6}]
    play(state, "add 2 tail Y")
    assert legal(state, "temple") == ["2 T01", "2 T02"]  # the new one is there at once (D5)


def test_the_last_temple_of_a_pile():
    state = build(seat("", "Y", coatls=[coatl("YYYY", "h", ["P00"])]),
                  seat(temples=ALL_TEMPLES[:12], shown_temples=[]), tops=("T13", "T14"))
    state.piles[0][1], state.piles[1][1] = 0, 1
    play(state, "add 1 tail Y", "temple 1 T13")
    assert (state.pending, state.to_json()["piles"][0]) == ("", {"top": "", "below": 0})


# Sacrifice tokens.


def test_perfect_pick():
    state = build(seat("Y", "Y", "YYYYY", tokens=["perfect"]))
    assert legal(state, "perfect") == [f"{kind} {colour}" for kind in ("head", "tail") for colour in "BGKRY"]
    state = build(seat("YY", "Y", "YYY", tokens=["perfect"]), heads="RR", tails="KK")
    assert "head Y" in legal(state, "perfect")
    assert len(legal(state, "perfect")) == 10 + 15
    play(state, "perfect body RG")
    assert stored(state, 0)["bodies"] == "YYYRG"
    assert state.seats[0].tokens == []
    assert (state.pending, state.to_move) == ("", 1)  # no space was empty


def test_perfect_pick_takes_from_the_bag_only():
    state = build(seat("YY", tokens=["perfect"]), seat(coatls=[hoard("R" * 23)]), heads="YB", bodies=["KK"])
    picks = legal(state, "perfect")
    assert "head Y" not in picks  # all yellow heads are out
    assert "body YR" in picks
    assert "body RR" not in picks  # one is left
    assert len(picks) == 9 + 14


def test_perfect_pick_refills_every_empty_space():
    state = build(seat(tokens=["perfect"]), heads="Y", bodies=["YY", "RR"])
    play(state, "perfect head B")
    assert state.pending == "refill"
    play(state, "refill heads B bodies YY YY YY YY")
    assert len(state.bodies) == 6


def test_see_the_future():
    state = build(seat(hand=["P00", "P01", "P02", "P03", "P05"], shown=["P00", "P05"], tokens=["future"]))
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


def test_two_shown_copies_of_which_one_may_be_discarded():
    state = build(seat(hand=["P00", "P00", "P05"], shown=["P00", "P00", "P05"], tokens=["future"]))
    happen(play(state, "future"))
    play(state, "discard P05")
    assert state.seats[0].shown == ["P00"]


def test_see_the_future_may_take_nothing():
    state = build(seat(tokens=["future"]))
    happen(play(state, "future"))
    play(state, "end")
    assert (state.pending, state.to_move, len(state.display)) == ("", 1, 6)


def test_see_the_future_with_few_cards():
    state = few_cards(seats=[seat(tokens=["future"], hand=["P07"]), seat()], display=["P05", "P06"])
    play(state, "future", "reveal P05 P06")  # the discarded display comes back
    play(state, "discard P07", "end")
    assert state.random_event(random.Random(1)) == "reveal P07"
    state = few_cards(seats=[seat(tokens=["future"]), seat()])
    play(state, "future")
    assert (state.pending, state.phase, state.legal_actions()) == ("", "future", ["end"])


def test_priests_promise():
    state = build(seat(temples=["T00"], tokens=["promise"]))
    assert legal(state, "promise") == ["T13", "T14"]
    play(state, "promise T14")
    assert (state.pending, state.phase, state.to_move) == ("uncover", "turn", 1)
    assert state.view(1)["seats"][0]["temples"] == ["T14", "?"]
    assert state.view(0)["seats"][0]["temples"] == ["T00", "T14"]
    play(state, "uncover T03")
    assert state.to_json()["piles"][1]["top"] == "T03"


def test_tokens_are_spent_once_and_only_in_place_of_an_action():
    state = build(seat("R", tokens=["future", "promise", "perfect"]))
    play(state, "start head R")
    assert state.legal_actions() == ["end"]
    assert [legal(build(seat()), verb) for verb in ("perfect", "future", "promise")] == [[], [], []]


# Passing.


STUCK = {"heads": "YR", "tails": "YR", "bodies": "BBBB",
         "hand": ["P00", "P01", "P02", "P03", "P04"], "coatls": [hoard()] * 3}


def test_pass_only_if_nothing_else_is_possible():
    assert legal(build(seat()), "pass") == []
    state = build(seat(**STUCK))
    assert state.legal_actions() == ["pass"]
    state = build(seat(**{**STUCK, "tokens": ["future"]}))
    assert state.legal_actions() == ["future", "pass"]  # tokens stay optional
    for possible in ({"bodies": "BBB"}, {"hand": ["P00"]}, {"coatls": [hoard()]}):
        assert legal(build(seat(**STUCK | possible)), "pass") == []


def test_the_game_is_over_when_all_have_passed_one_after_the_other():
    stuck = seat(**STUCK)
    other = seat("B", "BB", "KKKKK", hand=["P05", "P06", "P07", "P08", "P09"],
                 coatls=[hoard(), hoard(), coatl("Y", "h")])
    state = build(stuck, other)
    play(state, "pass")
    assert state.passes == 1
    play(state, "add 3 right K")
    assert state.passes == 0
    play(state, "end", "pass", "add 3 right K", "end", "pass")
    state.seats[1].stored["body"] = ["K"] * 5
    state.seats[1].coatls[2].closed = True
    play(state, "pass")
    assert (state.phase, state.passes, state.to_move, state.ending) == ("over", 0, 0, None)
    assert state.legal_actions() == []


# The end.


def nearly(number=2, **fields):
    """Return a seat that closes its third Coatl with a tail."""
    return seat("", "Y", hand=["P00"], coatls=[hoard()] * number + [coatl("YY", "h")], **fields)


CLOSE_THIRD = ["add 3 tail Y", "play 3 P00", "close 3"]


def test_the_third_coatl_gives_later_seats_two_actions_and_earlier_ones_one():
    state = build(seat(), nearly(), seat(), seat(), to_move=1)
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


def test_the_third_coatl_of_the_first_seat():
    state = play(build(nearly()), *CLOSE_THIRD, "end", "take head Y")
    assert (state.to_move, state.actions_left) == (1, 1)
    play(state, "take head R")
    assert (state.phase, state.round) == ("over", 3)


def test_the_third_coatl_of_the_last_seat():
    state = play(build(seat(), nearly(), to_move=1), *CLOSE_THIRD, "end")
    assert (state.to_move, state.actions_left) == (0, 1)
    play(state, "take head R")
    assert state.is_over


def test_tokens_in_a_last_turn_of_two_actions():
    state = build(nearly(), seat(tokens=["perfect", "promise"]))
    play(state, *CLOSE_THIRD, "end", "perfect head B", "promise T13")
    assert state.is_over


def test_the_first_ending_rules():
    state = build(nearly(), nearly(), seat())
    state.seats[1].hand = ["P01"]
    state.seats[1].coatls[2].pieces = "RRR"
    play(state, *CLOSE_THIRD, "end", "add 3 tail Y", "play 3 P01", "close 3", "end")
    assert state.ending == {"cause": "third", "seat": 0}
    assert (state.to_move, state.actions_left) == (1, 1)  # the second action: building cannot
    play(state, "pass")
    assert (state.to_move, state.actions_left) == (2, 2)


def bodies_run_out(to_move, players=3):
    """Return a state in which the last pair is taken."""
    seats = [seat() for _ in range(players)]
    seats[0]["coatls"] = all_but("body", 2)
    return play(build(*seats, bodies=["BB"], to_move=to_move), "take body BB")


def test_bodies_run_out():
    state = bodies_run_out(1)
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


def test_bodies_run_out_in_the_last_turn_of_a_round():
    state = bodies_run_out(2)
    assert (state.to_move, state.round, state.ending) == (0, 4, {"cause": "bodies", "last_round": 4})
    state = build(seat(coatls=all_but("body", 2)), seat(), bodies=["BB"], heads="", to_move=1)
    play(state, "take body BB")
    assert (state.pending, state.ending, state.to_move, state.round) == ("refill", None, 0, 4)
    happen(state)
    assert state.ending == {"cause": "bodies", "last_round": 4}


def test_the_last_bodies_may_be_a_perfect_pick():
    state = build(seat(tokens=["perfect"]), seat(coatls=all_but("body", 2)), bodies=[])
    play(state, "perfect body BB")
    assert (state.pending, state.ending) == ("", {"cause": "bodies", "last_round": 4})


def test_a_third_coatl_changes_nothing_once_bodies_have_run_out():
    state = build(nearly(), ending={"cause": "bodies", "last_round": 4})
    play(state, *CLOSE_THIRD, "end")
    assert state.ending["cause"] == "bodies"
    assert (state.to_move, state.actions_left) == (1, 1)
    play(state, "take head R", "take head Y", "take tail K")
    assert state.is_over


def test_no_event_after_the_last_turn():
    state = build(seat(), seat(), to_move=1, round=4, ending={"cause": "bodies", "last_round": 4})
    play(state, "draw P30", "end")
    assert (state.phase, state.pending, len(state.display)) == ("over", "", 5)


@pytest.mark.parametrize(("coatls", "winners"), [
    # RRRRR: P01 4 points, P11 3, P06 none; YYY: P00 2, P10 3
    (([("RRRRR", ["P01"])], [("YYY", ["P10"])]), [0]),  # points
    (([("RRR", ["P11"])], [("YYY", ["P10"])]), [0, 1]),  # shared
    (([("RRR", ["P06", "P11"])], [("YYY", ["P10"])]), [0]),  # cards, also those without points
    (([("RRR", ["P01", "P11"]), ("RR", ["P05"])], [("YYY", ["P00", "P10"])]), [0]),
    (([("RRRRR", ["P01"]), ("RRR", ["P11"])], [("KKKKK", ["P02"]), ("KKK", ["P12"])]), [0, 1]),
    (([("RRR", ["P01"]), ("RRR", ["P11"])], [("KKK", ["P02", "P12"]), ("YY", [])]), [1]),  # the best Coatl
])
def test_winners(coatls, winners):
    closed = [[coatl(pieces, "ht", cards, closed=True) for pieces, cards in own] for own in coatls]
    seats = [seat(coatls=own) for own in closed]
    for order in (1, -1):
        state = build(*seats[::order], phase="over")
        assert state.winners() == (winners if order == 1 else sorted(1 - number for number in winners))


def test_only_complete_coatls_score():
    complete = coatl("RRRRR", "ht", ["P01"], "T02", closed=True)
    state = build(seat(coatls=[coatl("RRR", "h", ["P01"]), complete]))
    assert state.scores() == [4 + 3, 0]
    assert state.winners() == []  # not over


# Actions that are not legal; JSON.


@pytest.mark.parametrize("action", ["end", "take body RY", "take  head R", "keep", "draw P00", "reveal P01",
                                    "", "start head R", "close 1", "take head r"])
def test_what_is_not_legal_is_refused(action):
    state = build()
    with pytest.raises(ValueError, match="not legal here"):
        state.apply(action)


def test_a_position_that_does_not_add_up():
    position = build(seat(hand=["P05"], shown=["P05"])).to_json()
    for wrong in ({"deck": 5}, {"display": ["P05"]}, {"piles": [{"top": "T00", "below": 3}] * 2}):
        with pytest.raises(ValueError, match=r"deck|so often"):
            State.from_json(position | wrong)
    position["seats"][0]["shown"] = ["P06"]
    with pytest.raises(ValueError, match="not in hand"):
        State.from_json(position)


# What a seat knows.


def exchanged(state, one, other):
    """Return the position with two prophecies exchanged, wherever they are; each has one copy."""
    position = state.to_json()
    names = {one: other, other: one}

    def rename(cards):
        return sorted(names.get(card, card) for card in cards)

    for each in position["seats"]:
        each |= {"hand": rename(each["hand"]), "discarded": rename(each["discarded"])}
    return position


def test_a_card_taken_from_the_display_is_known_to_be_in_hand():
    state = play(build(seat(hand=["P05"])), "draw P30", "draw deck", "deal P06", "end", "reveal P07")
    assert state.consistent(1, state.to_json())
    assert state.consistent(1, exchanged(state, "P05", "P08"))
    assert state.consistent(1, exchanged(state, "P06", "P08"))
    assert not state.consistent(0, exchanged(state, "P05", "P08"))
    wrong = exchanged(state, "P30", "P08")
    assert not state.consistent(1, wrong)
    wrong["seats"][0]["shown"] = ["P08"]
    assert not state.consistent(1, wrong)


def test_a_shown_card_after_a_discard_is_in_hand_or_discarded():
    state = build(seat(hand=["P05", "P06"], shown=["P05"], tokens=["future"]))
    happen(play(state, "future"))
    play(state, "discard P06", "end")
    assert state.consistent(1, exchanged(state, "P05", "P06"))  # discarded, for all that seat 1 knows
    other = next(card for card in sorted(state.deck) if PROPHECIES[card]["copies"] == 1)
    assert state.consistent(1, exchanged(state, "P06", other))
    assert not state.consistent(1, exchanged(state, "P05", other))


def test_discards_are_in_the_deck_after_its_renewal():
    state = few_cards("P20", "P21", seats=[seat(discarded=["P08"]), seat(discarded=["P09"], hand=["P10"])],
                      discarded=["P11"], display=["P12", "P13", "P14", "P15", "P16", "P17"])
    play(state, "draw deck", "deal P20", "draw deck", "deal P21", "draw deck", "deal P08", "end")
    # Seat 1 knows: P09 and P11 were in the new deck, of which seat 0 drew one card; two are older.
    assert state.to_json()["deck"] == 2
    assert state.consistent(1, exchanged(state, "P08", "P09"))
    assert state.consistent(1, exchanged(state, "P20", "P11"))
    both = exchanged(state, "P20", "P11")
    both["seats"][0]["hand"] = ["P09", "P11", "P21"]
    assert not state.consistent(1, both)
    # Seat 0 knows that P10 was in the hand of seat 1 and the deck holds P09 and P11, or P10 in place of P09.
    assert state.consistent(0, exchanged(state, "P09", "P10"))
    assert not state.consistent(0, exchanged(state, "P11", "P10"))


def hidden_cards(position, viewer):
    """Yield the places of the cards that a viewer does not see: (cards known there, how many are unknown)."""
    for number, each in enumerate(position["seats"]):
        if number != viewer:
            yield (number, "hand"), each["shown"], len(each["hand"]) - len(each["shown"])
            yield (number, "discarded"), [], len(each["discarded"])


def assignments(state, viewer):
    """Yield every position that is consistent with a seat's view, without its memory."""
    position = state.to_json()
    unknown = list(state.deck)
    for (number, name), known, _ in hidden_cards(position, viewer):
        unknown += (Counter(position["seats"][number][name]) - Counter(known)).elements()

    def fill(places, cards):
        if not places:
            yield {}
            return
        (place, known, missing), *others = places
        for chosen in set(itertools.combinations(sorted(cards), missing)):
            for rest in fill(others, list((Counter(cards) - Counter(chosen)).elements())):
                yield {place: sorted([*known, *chosen]), **rest}

    for content in fill(list(hidden_cards(position, viewer)), unknown):
        seats = [dict(each) for each in position["seats"]]
        for (number, name), cards in content.items():
            seats[number][name] = cards
        yield position | {"seats": seats}


def key(position):
    return str([(each["hand"], each["discarded"]) for each in position["seats"]])


def possible_after(world, action, viewer):
    """Yield the states in which an action may have led, for a seat that may not see all of it."""
    verb = action.split()[0]
    actions = [action]
    if world.to_move != viewer and verb == "deal":
        actions = list(world.event_probabilities()) if world.pending == "deal" else []
    elif world.to_move != viewer and verb == "discard":
        actions = [each for each in world.legal_actions() if each.startswith("discard")]
    for each in actions:
        after = State.from_json(world.to_json())
        try:
            after.apply(each)
        except ValueError:
            continue
        yield after


LEANING = {"draw deck": 10, "future": 4, "discard": 5, "play": 4, "end": 3, "take": 1}


def random_step(state, rng):
    """Return what happens next, with a leaning to what hides cards and what brings them to light."""
    if state.pending:
        return state.random_event(rng)
    actions = [each for each in state.legal_actions()
               if each.split()[0] in ("draw", "future", "discard", "play", "end", "take")]
    weights = [LEANING.get(each, LEANING.get(each.split()[0], 1)) for each in actions]
    return rng.choices(actions, weights)[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_consistent_is_what_some_course_of_events_leads_to(seed):
    """Play all worlds that are possible for a seat, and compare them with all positions consistent with its view."""
    rng = random.Random(seed)
    cards = ["P00", "P01", "P05", "P06", "P07", "P08", "P09"]
    rng.shuffle(cards)
    seats = [seat(hand=cards[:1], discarded=cards[1:2], tokens=["future"]),
             seat(hand=cards[2:4], shown=cards[2:3], discarded=cards[4:5], tokens=["future"],
                  coatls=[coatl("YYYYRRR")]),
             seat(discarded=cards[5:6], tokens=["future"])]
    state = few_cards(*cards[6:], seats=seats, discarded=["P00", "P26", "P27"],
                      display=["P20", "P21", "P22", "P23", "P24", "P25"])
    viewer = seed % 3
    worlds = [State.from_json(position) for position in assignments(state, viewer)]
    answers = Counter()
    for step in range(1, 25):
        action = random_step(state, rng)
        after = [each for world in worlds for each in possible_after(world, action, viewer)]
        state.apply(action)
        view = state.view(viewer)
        worlds = list({key(each.to_json()): each for each in after if each.view(viewer) == view}.values())
        if step % 4 == 0:
            possible = {key(world.to_json()) for world in worlds}
            assumed = list(assignments(state, viewer))
            for position in rng.sample(assumed, min(30, len(assumed))):
                is_consistent = state.consistent(viewer, position)
                assert is_consistent == (key(position) in possible)
                answers[is_consistent] += 1
        if len(worlds) > 250:
            break
    assert answers[True]


# Whole games.


def random_game(players, seed, **options):
    """Yield the states of a random game; the state is always the same one, changed."""
    rng = random.Random(seed)
    state = State.new_game(players, rng, **options)
    yield state
    while not state.is_over:
        state.apply(state.random_event(rng) if state.pending else rng.choice(state.legal_actions()))
        yield state


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("seed", range(6))
def test_random_games(players, seed):
    options = {"sacrifice_tokens": seed % 2 == 0, "strict_ends": seed % 3 == 0}
    passing = False  # whether the last decision was a pass that may end the game
    for number, state in enumerate(random_game(players, seed, **options)):
        assert not state.is_over or state.ending or passing
        actions = state.legal_actions()
        assert actions == sorted(set(actions))
        assert bool(actions) == (not state.pending and not state.is_over)
        for each in state.seats:
            assert each.room() >= 0
            assert len(each.hand) <= (5 if state.phase != "keep" else 6)
            assert not Counter(each.shown) - Counter(each.hand)
            assert not Counter(each.shown_temples) - Counter(each.temples)
            assert len(each.coatls) <= 3
            assert len(each.unfinished()) <= 2
            for own in each.coatls:
                assert len(set(own.prophecies)) == len(own.prophecies) <= 4
                is_complete = own.head and own.tail and len(own.pieces) >= 3 and bool(own.prophecies)
                assert is_complete or not own.closed
        assert_conserved(state)
        passing = not state.is_over and "pass" in actions and state.passes == players - 1
        if number % 25 == 0 or state.is_over:
            position = state.to_json()
            again = State.from_json(position)
            assert again.to_json() == position
            assert again.legal_actions() == actions
            assert_conserved(again)
            for viewer in range(players):
                view = state.view(viewer)
                assert {card for one in view["seats"] for card in one["hand"]} <= {*PROPHECIES, UNKNOWN}
                assert view["seats"][viewer] == position["seats"][viewer]
    assert state.winners()
    best = max(state.scores())
    assert all(state.scores()[winner] == best for winner in state.winners())


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_truth_is_always_consistent(players):
    for number, state in enumerate(random_game(players, 7)):
        if number % 100 == 0:
            assert all(state.consistent(viewer, state.to_json()) for viewer in range(players))


def test_pairs_are_canonical():
    assert PAIRS == ["YY", "YR", "YK", "YG", "YB", "RR", "RK", "RG", "RB", "KK", "KG", "KB", "GG", "GB", "BB"]
