"""Plans for Coatls: the features of the evaluation compared with all ways to build."""

import itertools
import random
from collections import Counter

import pytest

import mexica_ai as ai
from cext.games.coatl.spec import SPEC
from test_games.inside.parts import count_times, points_of

COLOURS = "YRKGB"
FACES = [f"P{number:02}" for number in range(49)]
SCALES = {"plan_points": [15, 5, 5, 5, 5], "best_points": [10, 5, 5, 5, 5]}
UNFINISHED = {"head": False, "tail": False, "temple": "", "closed": False}
CLOSED = {"head": True, "tail": True, "closed": True}
MISSING = 2  # pieces, in the words that are tried


def position(
    hand,
    bodies,
    *,
    heads="",
    tails="",
    coatls=(),
    theirs=(),
    display=None,
    pairs=None,
    tops=None,
    temple=None,
    ending=None,
    to_move=0,
):
    """Return a two-seat position in which seat 0 has these prophecies and pieces."""
    fields = ai.new_game("coatl", players=2, seed=1).to_json()
    played = [card for coatl in [*coatls, *theirs] for card in coatl["prophecies"]]
    others = iter([face for face in FACES if face not in [*hand, *played, *(display or [])]])
    display = display or list(itertools.islice(others, 6))
    other_hand = list(itertools.islice(others, 3))
    fields |= {"phase": "turn", "pending": "", "round": 5, "display": sorted(display)}
    fields["deck"] = 54 - len(display) - len(hand) - len(other_hand) - len(played)
    fields |= {"ending": ending, "to_move": to_move}
    for seat, built in zip(fields["seats"], (coatls, theirs), strict=True):
        seat |= {"stored": {"heads": "", "tails": "", "bodies": ""}, "shown": []}
        seat["coatls"] = [UNFINISHED | coatl for coatl in built]
    fields["seats"][0] |= {
        "hand": sorted(hand),
        "stored": {"heads": heads, "tails": tails, "bodies": bodies},
    }
    fields["seats"][1]["hand"] = other_hand
    if pairs is not None:
        fields["supply"]["bodies"] = pairs
    for pile, top in zip(fields["piles"], tops or (), strict=False):
        pile["top"] = top
    if tops:
        fields["seats"][0]["temples"] = [temple]
        fields["seats"][1]["temples"] = ["T00"]
    return ai.Position.from_json(fields)


def feature(position, name, seat=0):
    return float(SPEC.features(position.state)[seat, SPEC.own_features.index(name)])


def points(position, name, seat=0):
    """Return the points with 0 to 4 pieces missing."""
    added = [feature(position, f"{name}_{missing}", seat) * SCALES[name][missing] for missing in range(5)]
    return [round(total) for total in itertools.accumulate(added)]


def worth(face, word):
    pieces = [COLOURS.index(colour) for colour in word]
    return points_of(FACES.index(face), count_times(FACES.index(face), pieces))


def best_possible(hand, bodies, word="", played=()):
    """Return the most points with 0 to MISSING pieces missing, over all ways to add bodies to a Coatl."""
    best = [0] * (MISSING + 1)
    stored = Counter(bodies)
    for number in range(len(bodies) + MISSING + 1):
        for added in itertools.product(COLOURS, repeat=number):
            missing = sum((Counter(added) - stored).values())
            if missing > MISSING:
                continue
            for left in range(number + 1 if word else 1):
                whole = "".join(added[:left]) + word + "".join(added[left:])
                counted = sorted((worth(face, whole) for face in hand), reverse=True)[: 4 - len(played)]
                total = sum(counted) + sum(worth(face, whole) for face in played)
                for allowed in range(missing, MISSING + 1):
                    best[allowed] = max(best[allowed], total)
    return best


@pytest.mark.slow
@pytest.mark.parametrize(("word", "played"), [("", []), ("K", []), ("KK", ["P07"]), ("YGG", ["P08", "P15"])])
def test_plans_are_possible_and_mostly_the_best(word, played):
    rng = random.Random(f"plans {word}")
    planned, optimal = [], []
    for _ in range(12):
        hand = rng.sample([face for face in FACES if face not in played], 3)
        # The bodies of the Coatl and those stored must be an even number.
        bodies = "".join(sorted(rng.choices(COLOURS, k=2 + len(word) % 2), key=COLOURS.index))
        coatls = [{"pieces": word, "prophecies": played}] if word else []
        looked = points(position(hand, bodies, coatls=coatls), "best_points")
        assert looked == sorted(looked)
        most = best_possible(hand, bodies, word, played)
        if word:  # the better of this Coatl and a new one
            most = [max(both) for both in zip(most, best_possible(hand, bodies), strict=True)]
        planned.append(looked[: MISSING + 1])
        assert all(plan <= best for plan, best in zip(planned[-1], most, strict=True))
        optimal.append(most)
    assert sum(map(sum, planned)) >= 0.7 * sum(map(sum, optimal))


def test_prophecies_are_planned_for_together():
    # K K Y Y and Y K R G B share at most a piece; each by itself would bring 4 and 7 with three missing.
    apart = points(position(["P30", "P32"], "YYKK"), "best_points")
    assert [apart[0], apart[3], apart[4]] == [4, 7, 11]
    # K K Y Y has an isolated pair of K, and one of Y.
    together = points(position(["P05", "P07", "P30"], "YYKK"), "best_points")
    assert together[0] == 4 + 2 + 2


def test_a_tail_that_is_stored_can_end_a_plan():
    # K K Y Y with the last Y as the tail; a tail can only be the last piece.
    assert points(position(["P30"], "YYKK"), "best_points")[0] == 4
    begun = [{"pieces": "KK", "prophecies": []}]
    assert points(position(["P30"], "YG", coatls=begun), "best_points")[:2] == [0, 4]
    assert points(position(["P30"], "YG", tails="Y", coatls=begun), "best_points")[:2] == [4, 4]
    coatl = {"pieces": "KKY", "head": True, "prophecies": []}
    assert points(position(["P30"], "", coatls=[coatl]), "best_points")[:2] == [0, 4]
    assert points(position(["P30"], "", tails="Y", coatls=[coatl]), "best_points")[:2] == [4, 4]
    assert points(position(["P30"], "", tails="K", coatls=[coatl]), "best_points")[:2] == [0, 4]
    assert points(position(["P30"], "", heads="Y", coatls=[coatl]), "best_points")[:2] == [0, 4]


def test_a_head_that_is_stored_can_begin_a_plan():
    coatl = {"pieces": "KYY", "tail": True, "prophecies": []}
    assert points(position(["P30"], "", coatls=[coatl]), "best_points")[:2] == [0, 4]
    assert points(position(["P30"], "", heads="K", coatls=[coatl]), "best_points")[:2] == [4, 4]


def test_a_tail_that_is_stored_waits_for_the_last_piece():
    # Three black pieces bring 2 points, four 3: one on the Coatl, one or two that are missing, and the tail.
    begun = [{"pieces": "K", "prophecies": []}]
    assert points(position(["P02"], "G", coatls=begun), "best_points")[:3] == [0, 0, 2]
    assert points(position(["P02"], "G", tails="K", coatls=begun), "best_points")[:3] == [0, 2, 3]


def test_a_closed_coatl_is_no_plan():
    closed = CLOSED | {"pieces": "GKYY", "prophecies": ["P05"]}
    assert points(position(["P30"], "", coatls=[closed]), "plan_points") == [0, 0, 0, 0, 4]


def test_what_one_plan_takes_is_gone_for_the_next():
    # Only one Coatl, the one that is begun or another one, can have the black pieces and the prophecy that
    # counts them.
    alone = position(["P02"], "KKKK")
    assert points(alone, "plan_points") == points(alone, "best_points") == [3, 4, 5, 5, 5]
    shared = position(["P02"], "KKKK", coatls=[{"pieces": "GG", "prophecies": []}])
    assert points(shared, "plan_points") == [3, 4, 5, 5, 5]
    assert feature(shared, "plan_cards") == pytest.approx(1 / 5)


def test_the_second_copy_of_a_prophecy_is_for_another_coatl():
    begun = [{"pieces": "KK", "prophecies": []}]
    assert points(position(["P02"], "KKKK", coatls=begun), "plan_points")[0] == 5
    assert points(position(["P02", "P02"], "KKKK", coatls=begun), "plan_points")[0] == 5
    with_both = position(["P02", "P02"], "KKKKKKKK", coatls=begun)
    assert points(with_both, "plan_points")[0] == 5 + 3
    assert feature(with_both, "plan_cards") == pytest.approx(2 / 5)


def test_plans_are_for_all_coatls_yet_to_be_started():
    # A Coatl with six black pieces, and one with two that lacks the third.
    closed = [("GYYB", "P05"), ("RBBG", "P09")]
    closed = [CLOSED | {"pieces": pieces, "prophecies": [face]} for pieces, face in closed]
    for number, expected in ((0, [5, 7]), (1, [5, 7]), (2, [5, 5])):
        found = position(["P02", "P02"], "KKKKKKKK", coatls=closed[:number])
        assert points(found, "plan_points")[:2] == expected
        assert points(found, "best_points")[:2] == [5, 5]


def test_display_and_supply_are_held_against_plans():
    display = ["P03", "P04", "P05", "P06", "P07", "P08"]
    planned = position(["P30"], "YK", display=display, pairs=["YK", "GB"])
    assert points(planned, "best_points")[:3] == [0, 0, 4]
    assert feature(planned, "plan_missing") == pytest.approx(2 / 5)
    assert feature(planned, "plan_chosen") == pytest.approx(4 / 25)
    # Isolated pairs of yellow (P05) and of black (P07) are in K K Y Y.
    assert feature(planned, "plan_display") == pytest.approx(4 / 10)
    assert feature(planned, "plan_supply") == 1
    assert feature(position(["P30"], "YK", display=display, pairs=["YG"]), "plan_supply") == 0.5
    assert feature(position(["P30"], "YK", display=display, pairs=["GB"]), "plan_supply") == 0


@pytest.mark.parametrize(
    ("played", "display", "expected"),
    [
        (["P30"], ["P03", "P04", "P05", "P06", "P07", "P08"], 2 + 2),
        (["P20", "P30"], ["P00", "P03", "P04", "P06", "P08", "P09"], 2),
        (["P05", "P07", "P20", "P30"], ["P00", "P03", "P04", "P06", "P08", "P09"], 0),
        (["P00", "P05", "P30"], ["P00", "P03", "P04", "P06", "P08", "P09"], 0),
    ],
)
def test_what_is_on_display_needs_room(played, display, expected):
    # Y K K Y Y has an isolated pair of yellow (P05) and of black (P07), and three yellow pieces (P00).
    found = position([], "G", coatls=[{"pieces": "YKKYY", "prophecies": played}], display=display)
    assert feature(found, "plan_display") == pytest.approx(expected / 10)


def test_what_could_be_closed_now_counts_with_the_ends_it_would_get():
    # T05 and T09 ask for 12 pieces, and for as many red, or blue, as yellow; T01 for 8, none of them black.
    def ready(heads, tails, temple="T01", **others):
        others |= {"heads": heads, "tails": tails, "tops": ["T05", "T09"], "temple": temple}
        found = position(["P30"], "YY", **others)
        return round(feature(found, "plan_ready") * 15), round(feature(found, "plan_nearly") * 15)

    black = [{"pieces": "KK", "prophecies": ["P07"]}]
    assert ready("G", "G", coatls=black) == (4 + 2, 0)
    assert ready("K", "G", coatls=black) == (4, 0)  # three black pieces are no pair
    assert ready("KG", "K", coatls=black) == (4 + 2, 0)
    assert ready("G", "R", temple="T08", coatls=black) == (4 + 2 + 7, 0)  # six pieces, as many red as green
    assert ready("G", "", coatls=black) == (0, 4 + 2 + 3)  # T05, if the tail is to be red
    assert ready("", "", coatls=black) == (0, 0)
    both = [*black, {"pieces": "BBGG", "prophecies": ["P08"]}]
    assert ready("G", "G", coatls=both) == (4 + 2, 0)  # the other one lacks both then
    assert ready("YG", "G", coatls=both) == (4 + 2, 2 + 3)
    assert ready("YG", "YG", coatls=both)[0] == 4 + 2 + 2 + 3  # T09, with two yellow ends


def test_the_lead_at_the_end_is_what_can_still_be_had():
    theirs = [("RKKG", "P07"), ("GYYB", "P05"), ("KRRY", "P06")]
    theirs = [CLOSED | {"pieces": pieces, "prophecies": [face]} for pieces, face in theirs]
    mine = [CLOSED | {"pieces": "BGGK", "prophecies": ["P08"]}, {"pieces": "BB", "prophecies": ["P09"]}]

    def found(heads, ending, mine=mine, theirs=theirs):
        tops = {"tops": ["T05", "T09"], "temple": "T01"}
        ends = {"heads": heads, "tails": "K", "ending": ending}
        state = position([], "", coatls=mine, theirs=theirs, **ends, **tops)
        return [
            [feature(state, "cash", seat) * 30 for seat in (0, 1)],
            [feature(state, "lead", seat) for seat in (0, 1)],
        ]

    ended = {"cause": "third", "seat": 1}
    assert found("Y", ended) == [pytest.approx([2 + 2, 6]), pytest.approx([-2, 2])]
    assert found("", ended) == [pytest.approx([2, 6]), pytest.approx([-4, 4])]
    assert found("Y", None, theirs=theirs[:2]) == [pytest.approx([2 + 2, 4]), pytest.approx([0, 0])]
    # They differ by at most four points.
    assert found("", ended, mine=mine[1:]) == [pytest.approx([0, 6]), pytest.approx([-4, 4])]


@pytest.mark.parametrize(
    ("heads", "tails", "theirs", "expected"),
    [
        ("G", "R", [("GYYB", "P05")], 4),
        ("G", "R", [("GYYB", "P05"), ("KRRY", "P06")], 2),
        ("G", "", [("GYYB", "P05")], 0),
        ("", "R", [("GYYB", "P05")], 0),
        ("G", "R", [("BYKRGBKR", "P32"), ("KRRY", "P06")], 0),
    ],
)
def test_a_seat_that_could_end_the_game_knows_by_how_much(heads, tails, theirs, expected):
    mine = [CLOSED | {"pieces": "BGGK", "prophecies": ["P08"]}]
    mine.append(CLOSED | {"pieces": "RBBG", "prophecies": ["P09"]})
    mine.append({"pieces": "KK", "prophecies": ["P07"]})
    theirs = [CLOSED | {"pieces": pieces, "prophecies": [face]} for pieces, face in theirs]
    ends = {"heads": heads, "tails": tails, "tops": ["T05", "T09"], "temple": "T01"}
    for to_move, now, later in ((0, "ends_now", "ends_next"), (1, "ends_next", "ends_now")):
        found = position([], "", coatls=mine, theirs=theirs, to_move=to_move, **ends)
        assert [feature(found, now, seat) for seat in (0, 1)] == [pytest.approx(expected), 0]
        assert [feature(found, later, seat) for seat in (0, 1)] == [0, 0]


def test_temples_are_held_against_each_plan():
    # T12: no green, and as many black as yellow; K K Y Y and two ends can be that. T05 and T09: 12 pieces,
    # and as many red, or blue, as yellow, which two ends can be. T01: no black, and 8 pieces.
    on_display = position(["P30"], "YYKK", tops=["T12", "T09"], temple="T05")
    in_hand = position(["P30"], "YYKK", tops=["T05", "T09"], temple="T12")
    neither = position(["P30"], "YYKK", tops=["T05", "T09"], temple="T01")
    found = [feature(each, "plan_temples") * 14 for each in (on_display, in_hand, neither)]
    assert found == pytest.approx([7, 7, 3])
    # T08: six pieces, and as many red as green, which may be the head and the tail.
    ends = position(["P30"], "YYKK", tops=["T01", "T09"], temple="T08")
    assert feature(ends, "plan_temples") * 14 == pytest.approx(7)
