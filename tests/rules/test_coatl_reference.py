"""The slow reference of Coatl on its own: what cards count, what seats know, whole random games.

`test_coatl_rulebook.py` has its rules one by one, which are those of the compiled rules, too.
"""

import itertools
import random
from collections import Counter

import coatl_builder
import pytest
from coatl_builder import coatl, few_cards, seat
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


def build(*seats, **fields):
    """Return the state of a position in the middle of a game, by default with seat 0 to move."""
    return State.from_json(coatl_builder.build(*seats, **fields))


def play(state, *actions):
    for action in actions:
        state.apply(action)
    return state


def happen(state, rng=None):
    """Let the event that is due happen, whatever comes."""
    state.apply(state.random_event(rng or random.Random(1)))
    return state


def assert_conserved(state):
    """Each piece and card is somewhere, once."""
    coatls = [each for one in state.seats for each in one.coatls]
    pieces = {
        kind: [*state.bags[kind], *(piece for one in state.seats for piece in one.stored[kind])] for kind in KINDS
    }
    pieces["head"] += [*state.heads, *(each.pieces[0] for each in coatls if each.head)]
    pieces["tail"] += [*state.tails, *(each.pieces[-1] for each in coatls if each.tail)]
    pieces["body"] += [piece for pair in state.bodies for piece in pair]
    pieces["body"] += "".join(each.pieces[each.head : len(each.pieces) - each.tail] for each in coatls)
    for kind in KINDS:
        assert Counter(pieces[kind]) == Counter(ALL_PIECES[kind])
    cards = [
        *state.deck,
        *state.display,
        *state.discarded,
        *(card for each in coatls for card in each.prophecies),
        *(card for one in state.seats for card in one.hand + one.discarded),
    ]
    assert Counter(cards) == Counter(ALL_PROPHECIES)
    temples = [
        *state.lower_temples,
        *(top for top, _ in state.piles if top),
        *(card for one in state.seats for card in one.temples),
        *(each.temple for each in coatls if each.temple),
    ]
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


@pytest.mark.parametrize(
    ("card", "word", "times", "points"),
    [
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
    ],
)
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


@pytest.mark.parametrize(
    ("word", "ends", "times"),
    [
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
    ],
)
def test_pairs_on_their_own_at_open_ends(word, ends, times):
    assert prophecy_times("P08", word, ends) == times


@pytest.mark.parametrize(
    ("card", "word", "points"),
    [
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
    ],
)
def test_what_a_temple_counts(card, word, points):
    assert temple_points(card, word) == points


# JSON.


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
    seats = [seat(discarded=["P08"]), seat(discarded=["P09"], hand=["P10"])]
    display = ["P12", "P13", "P14", "P15", "P16", "P17"]
    state = State.from_json(few_cards("P20", "P21", seats=seats, discarded=["P11"], display=display))
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
    actions = [
        each
        for each in state.legal_actions()
        if each.split()[0] in ("draw", "future", "discard", "play", "end", "take")
    ]
    weights = [LEANING.get(each, LEANING.get(each.split()[0], 1)) for each in actions]
    return rng.choices(actions, weights)[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_consistent_is_what_some_course_of_events_leads_to(seed):
    """Play all worlds that are possible for a seat, and compare them with all positions consistent with its view."""
    rng = random.Random(seed)
    cards = ["P00", "P01", "P05", "P06", "P07", "P08", "P09"]
    rng.shuffle(cards)
    seats = [
        seat(hand=cards[:1], discarded=cards[1:2], tokens=["future"]),
        seat(hand=cards[2:4], shown=cards[2:3], discarded=cards[4:5], tokens=["future"], coatls=[coatl("YYYYRRR")]),
        seat(discarded=cards[5:6], tokens=["future"]),
    ]
    display = ["P20", "P21", "P22", "P23", "P24", "P25"]
    state = State.from_json(few_cards(*cards[6:], seats=seats, discarded=["P00", "P26", "P27"], display=display))
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
