"""What is hidden in Coatl: the others' hands, temples and discards, the deck, what lies in the piles.

Every unseen card is as likely in each unseen place, what a seat has seen stays, and a search knows no more
than the seat it plays for.
"""

import copy
import json
import random
from collections import Counter
from itertools import combinations
from math import comb, prod
from pathlib import Path

import pytest
from reference.coatl import State as Reference
from scipy.stats import chisquare
from weighed import Beam, Search

import mexica_ai as ai
from cext.core.baselines.simple import random_turn
from cext.core.baselines.uct import UCT
from cext.core.contract.game import CHANCE
from cext.games.coatl import ops
from mexica_ai import Position
from mexica_ai.analysis.limits import Limits
from mexica_ai.engines import make_engine
from mexica_ai.games.coatl import facts, notation

DATA = Path(__file__).parents[1] / "data"
DRAWS = 6000
LEAST_P = 1e-3  # the draws are seeded, so a test passes always or never


def midgame(**changes):
    """Return a position with something of everything hidden, and much that seat 0 has seen."""
    played = ["P04", "P09", "P16", "P21"]
    data = {
        "game": "coatl", "version": 1, "players": 3, "viewer": None,
        "options": {"sacrifice_tokens": True, "strict_ends": False},
        "phase": "turn", "pending": "", "round": 8, "to_move": 0, "actions_left": 1, "passes": 0,
        "ending": None, "closing": 0,
        "supply": {"heads": "RK", "tails": "Y", "bodies": ["YY", "RG", "BB"]},
        "display": ["P00", "P05", "P15", "P22", "P35", "P44"],
        "deck": 0,
        "discarded": ["P10", "P11", "P12", "P13", "P14", "P17"],
        "piles": [{"top": "T00", "below": 3}, {"top": "T04", "below": 5}],
        "seats": [
            {"stored": {"heads": "", "tails": "", "bodies": "YG"}, "hand": ["P03", "P07"], "shown": ["P07"],
             "discarded": [], "temples": ["T01"], "shown_temples": [],
             "tokens": ["perfect", "future", "promise"], "coatls": []},
            {"stored": {"heads": "", "tails": "", "bodies": "RG"}, "hand": ["P00", "P18", "P26", "P40"],
             "shown": ["P26"], "discarded": ["P01", "P19"], "temples": ["T05", "T09"],
             "shown_temples": ["T09"], "tokens": ["perfect"], "coatls": []},
            {"stored": {"heads": "", "tails": "", "bodies": "Y"}, "hand": ["P02"], "shown": [],
             "discarded": ["P03", "P28"], "temples": ["T02", "T03"], "shown_temples": ["T02"],
             "tokens": ["perfect", "future"],
             "coatls": [{"pieces": "BBRKRB", "head": False, "tail": True, "prophecies": played, "temple": "",
                         "closed": False}]},
        ],
    }  # fmt: skip
    data |= copy.deepcopy(changes)
    lying = [*data["display"], *data["discarded"]]
    for seat in data["seats"]:
        lying += [*seat["hand"], *seat["discarded"]]
        lying += [card for coatl in seat["coatls"] for card in coatl["prophecies"]]
    data["deck"] = facts.NUM_PROPHECIES - len(lying)
    return data


def state_of(data):
    return Position.from_json(data).state


def unseen_prophecies(data, seat):
    """Return the cards that a seat does not see, with repetitions."""
    seen = Counter([*data["display"], *data["discarded"]])
    for number, other in enumerate(data["seats"]):
        seen.update(other["hand"] + other["discarded"] if number == seat else other["shown"])
        seen.update(card for coatl in other["coatls"] for card in coatl["prophecies"])
    return Counter(facts.COPIES) - seen


def unseen_temples(data, seat):
    seen = {pile["top"] for pile in data["piles"]} | {
        coatl["temple"] for other in data["seats"] for coatl in other["coatls"]
    }
    for number, other in enumerate(data["seats"]):
        seen.update(other["temples"] if number == seat else other["shown_temples"])
    return [temple for temple in facts.TEMPLE_NAMES if temple not in seen]


def hands_of_equal_chance(unseen, size):
    """Return the probability of each hand of that many cards, as a sorted tuple."""
    hands = {tuple(sorted(hand)) for hand in combinations(sorted(unseen.elements()), size)}
    ways = comb(unseen.total(), size)
    return {hand: prod(comb(unseen[card], number) for card, number in Counter(hand).items()) / ways for hand in hands}


def fits(observed, expected):
    """Return whether counts fit probabilities; what never may occur must not."""
    assert set(observed) <= set(expected)
    total = sum(observed.values())
    assert sum(expected.values()) == pytest.approx(1)
    return chisquare([observed[key] for key in expected], [p * total for p in expected.values()]).pvalue > LEAST_P


# --- one draw


@pytest.fixture(scope="module")
def drawn():
    """Worlds that seat 0 deems possible, as positions in which everything is known."""
    state, worlds = state_of(midgame()), []
    for seed in range(DRAWS):
        world = state.copy()
        assert world.determinize(0, seed)
        worlds.append(notation.format_position(world))
    return worlds


def hidden_part(cards, shown):
    return tuple(sorted((Counter(cards) - Counter(shown)).elements()))


def test_the_unseen_cards_are_many():
    unseen = unseen_prophecies(midgame(), 0)
    assert unseen.total() == midgame()["deck"] + 3 + 2 + 1 + 2
    assert max(unseen.values()) == 2
    assert len(unseen_temples(midgame(), 0)) == 1 + 1 + 8


@pytest.mark.slow
@pytest.mark.parametrize("place", ["hand", "discarded"])
@pytest.mark.parametrize("seat", [1, 2])
def test_hidden_cards_are_drawn_card_by_card(drawn, seat, place):
    unseen = unseen_prophecies(midgame(), 0)
    observed = Counter()
    for world in drawn:
        shown = world["seats"][seat]["shown"] if place == "hand" else []
        observed[hidden_part(world["seats"][seat][place], shown)] += 1
    size = len(next(iter(observed)))
    if size < 3:
        assert fits(observed, hands_of_equal_chance(unseen, size))
    else:  # too many hands to count each: the single cards, and the pairs
        for number in (1, 2):
            parts = Counter()
            for hand, times in observed.items():
                for part in combinations(hand, number):
                    parts[part] += times
            expected = hands_of_equal_chance(unseen, number)
            total = comb(size, number) * DRAWS
            assert set(parts) == set(expected)
            for part, p in expected.items():
                assert parts[part] == pytest.approx(p * total, abs=6 * (p * total) ** 0.5)


def test_the_hands_are_independent_of_each_other(drawn):
    unseen = unseen_prophecies(midgame(), 0)
    n = unseen.total()
    observed = Counter(
        (world["seats"][2]["hand"][0], card)
        for world in drawn
        for card in hidden_part(world["seats"][1]["hand"], world["seats"][1]["shown"])
    )
    expected = {
        (one, other): unseen[one] * (unseen[other] - (one == other)) / (n * (n - 1))
        for one in unseen
        for other in unseen
    }
    assert fits(observed, {pair: p for pair, p in expected.items() if p})


def test_hidden_temples_are_drawn_card_by_card(drawn):
    unseen = unseen_temples(midgame(), 0)
    observed = Counter(
        tuple(hidden_part(world["seats"][seat]["temples"], world["seats"][seat]["shown_temples"])[0] for seat in (1, 2))
        for world in drawn
    )
    pairs = [(one, other) for one in unseen for other in unseen if one != other]
    assert fits(observed, dict.fromkeys(pairs, 1 / len(pairs)))


def test_the_next_card_of_the_deck_is_any_unseen_one():
    true = midgame(pending="deal", phase="drawing")
    unseen = unseen_prophecies(true, 0)
    for data in (true, notation.view(true, 0)):
        state = state_of(data)
        observed = Counter()
        for seed in range(DRAWS // 2):
            world = state.copy()
            world.determinize(0, seed)
            observed[notation.format_action(ops.draw_outcome(world, seed + 7)).split()[1]] += 1
        assert fits(observed, {card: number / unseen.total() for card, number in unseen.items()})


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_a_draw_repeats_by_seed(seed):
    one, other = state_of(midgame()), state_of(midgame())
    assert one.determinize(2, seed)
    assert other.determinize(2, seed)
    assert one == other


def test_the_draw_owes_nothing_to_the_true_cards():
    # The same seed draws the same world, whatever the cards are.
    for seat in range(3):
        worlds = set()
        for truth in range(5):
            state = state_of(midgame())
            state.determinize(seat, truth)
            state.determinize(seat, 99)
            worlds.add(state.hash)
        assert len(worlds) == 1


def test_who_closes_a_coatl_without_a_card_has_one_that_fits():
    entries = json.loads((DATA / "perft" / "coatl.json").read_text())
    (position,) = [entry["position"] for entry in entries if entry["id"] == "closing, a prophecy is owed"]
    for viewer in {0, 1, 2, 3} - {position["to_move"]}:
        hands = set()
        for seed in range(200):
            state = state_of(position)
            assert state.determinize(viewer, seed)
            assert state.legal_actions()
            state.check()
            hands.add(tuple(notation.format_position(state)["seats"][position["to_move"]]["hand"]))
        assert len(hands) > 20


def test_a_guess_of_a_view_is_drawn():
    """A guess is the world that a search would deal with this seed, for every seat, and seeds give many hands."""
    entries = json.loads((DATA / "perft" / "coatl.json").read_text())
    (closing,) = [entry["position"] for entry in entries if entry["id"] == "closing, a prophecy is owed"]
    for full in (midgame(), closing):
        for viewer in range(full["players"]):
            view, hands = Position.from_json(full).view(viewer), set()
            for seed in range(100):
                guess, dealt = view.guess(seed), view.state.copy()
                dealt.determinize(viewer, seed)
                assert guess.viewer is None
                assert Position.from_json(guess.to_json()) == guess
                assert guess.view(viewer) == view
                assert all(guess.state.view_hash(seat) == dealt.view_hash(seat) for seat in range(view.players))
                hands.add(str([seat["hand"] for seat in guess.to_json()["seats"]]))
            assert len(hands) > 20


def test_a_guess_has_the_memory_of_its_view():
    data = midgame(to_move=1)
    data["seats"][1]["tokens"], data["seats"][2]["tokens"] = ["perfect", "future"], ["perfect"]
    position = Position.from_json(data)
    for action in ("future", "reveal P23 P24 P25 P27 P29 P30", "discard P00", "discard P26", "end"):
        position.push_action(action)
    view = position.view(0)
    assert view.to_json()["memory"] == ["unsure 1 P26", "discard 1 ?", "discard 1 ?"]
    memories = {tuple(view.guess(seed).to_json()["memory"]) for seed in range(50)}
    assert len(memories) > 10
    assert all(guessed[0] == "unsure 1 P26" and "?" not in " ".join(guessed) for guessed in memories)


def test_cards_that_all_have_seen_are_not_drawn():
    seats = midgame()["seats"]
    for seat in seats:
        seat |= {"shown": sorted(seat["hand"]), "discarded": []}
    data = midgame(seats=seats)
    for seat in range(3):
        world = state_of(data)
        assert world.determinize(seat, 5)  # temples are hidden still
        drawn = notation.format_position(world)
        assert drawn != data
        for number, other in enumerate(drawn["seats"]):
            other["temples"] = data["seats"][number]["temples"]
        assert drawn == data


# --- what comes up


def outcomes(data, draws=DRAWS):
    state = state_of(data)
    assert state.current_player == CHANCE
    return Counter(notation.format_action(ops.draw_outcome(state, seed)) for seed in range(draws))


def deck_of(data):
    everything_lying = Counter([*data["display"], *data["discarded"]])
    for seat in data["seats"]:
        everything_lying.update([*seat["hand"], *seat["discarded"]])
        everything_lying.update(card for coatl in seat["coatls"] for card in coatl["prophecies"])
    return Counter(facts.COPIES) - everything_lying


def test_each_card_of_the_deck_is_dealt_as_often():
    data = midgame(pending="deal", phase="drawing")
    deck = deck_of(data)
    expected = {f"deal {card}": number / deck.total() for card, number in deck.items()}
    assert fits(outcomes(data), expected)
    assert expected == pytest.approx(Reference.from_json(data).event_probabilities())


def test_the_display_is_refilled_card_by_card():
    data = midgame(display=["P00", "P05", "P15", "P22"], pending="reveal", to_move=1)
    hands = hands_of_equal_chance(deck_of(data), 2)
    assert fits(outcomes(data), {" ".join(["reveal", *hand]): p for hand, p in hands.items()})


def test_each_temple_of_the_piles_is_uncovered_as_often():
    data = midgame(pending="uncover", to_move=1)
    data["piles"][0] = {"top": "", "below": 3}
    data["seats"][0] |= {
        "temples": ["T00", "T01"], "shown_temples": ["T00"], "tokens": ["perfect", "future"]
    }  # fmt: skip
    expected = Reference.from_json(data).event_probabilities()
    assert len(expected) == 8
    assert fits(outcomes(data), expected)


def test_the_supply_is_refilled_piece_by_piece():
    data = midgame(pending="refill", to_move=1)
    data["supply"] = {"heads": "", "tails": "", "bodies": ["YY"] * 6}
    found = outcomes(data, 8000)
    heads, tails = Counter("YRKGB" * 3), Counter("YRKGB" * 3) - Counter("B")
    order = "YRKGB".index
    for part, bag in (("heads", heads), ("tails", tails)):
        observed = Counter()
        for text, number in found.items():
            words = text.split()
            observed[words[words.index(part) + 1]] += number
        expected = {"".join(sorted(pair, key=order)): p for pair, p in hands_of_equal_chance(bag, 2).items()}
        assert fits(observed, expected)


def test_pairs_of_bodies_are_drawn_piece_by_piece():
    data = midgame(pending="refill", to_move=1)
    data["supply"] = {"heads": "RK", "tails": "YG", "bodies": []}
    bag = Counter("YRKGB" * 24)
    for seat in data["seats"]:
        bag -= Counter(seat["stored"]["bodies"])
    bag -= Counter("BBRKR")
    observed = Counter()
    for text, number in outcomes(data, 3000).items():
        for pair in text.split()[2:]:
            observed[pair] += number
    order = "YRKGB".index
    expected = {"".join(sorted(pair, key=order)): p for pair, p in hands_of_equal_chance(bag, 2).items()}
    # Six pairs of a draw hang together, but only a little: the bag is large.
    assert fits(observed, expected)


# --- games


def walk(rng, players, **options):
    """Play a game; yield each state with the reference's, which notes what each seat has seen."""
    reference = Reference.new_game(players, rng, **options)
    state = notation.parse_position(reference.to_json())
    planned = []
    while not reference.is_over:
        yield state, reference
        if reference.pending:
            action = reference.random_event(rng)
            planned = []
        else:
            if not planned and rng.random() < 0.8:
                planned = [notation.format_action(a) for a in random_turn(state, rng.getrandbits(60))]
            action = planned.pop(0) if planned else rng.choice(reference.legal_actions())
        state.apply(notation.parse_action(action))
        reference.apply(action)
    yield state, reference


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_a_seat_has_seen_stays(players):
    rng = random.Random(players)
    looked = Counter()
    for game in range(2):
        for state, _ in walk(rng, players, sacrifice_tokens=game > 0):
            if state.is_terminal or rng.random() < 1 - 0.6 / players:  # a game of more seats is longer
                continue
            true = notation.format_position(state)
            # A seat that has to play a card on its Coatl may have none in a world that another seat draws.
            for seat in range(players) if true["phase"] != "closing" else [true["to_move"]]:
                world = state.copy()
                several = world.determinize(seat, rng.getrandbits(60))
                world.check()
                drawn = notation.format_position(world)
                assert notation.view(drawn, seat) == notation.view(true, seat)
                assert world.view_hash(seat) == state.view_hash(seat)
                looked["differs"] += drawn != true
                looked["shown"] += any(other["shown"] for number, other in enumerate(true["seats"]) if number != seat)
                assert several or drawn == true
    assert looked["differs"] > 100
    assert looked["shown"] > 100


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_worlds_drawn_may_be_the_true_one_for_all_a_seat_has_seen(players):
    rng = random.Random(10 + players)
    looked = Counter()
    for _ in range(2):
        for state, reference in walk(rng, players):
            if state.is_terminal or rng.random() < 0.93:
                continue
            for seat in range(players):
                world = state.copy()
                world.determinize(seat, rng.getrandbits(60))
                drawn = notation.format_position(world)
                assert reference.consistent(seat, drawn)
                looked["worlds"] += 1
                looked["others"] += drawn != notation.format_position(state)
    assert looked["others"] > 30


# --- searches


def exchanged(data, seat, hidden="hand"):
    """Return the position with a hidden card of a seat exchanged for one of the deck, and also its temple."""
    data = copy.deepcopy(data)
    other = data["seats"][seat]
    deck = deck_of(data)
    for place, shown in (
        (hidden, other["shown"] if hidden == "hand" else []),
        ("temples", other["shown_temples"]),
    ):
        cards = hidden_part(other[place], shown)
        if not cards:
            continue
        if place == "temples":
            taken = {pile["top"] for pile in data["piles"]}
            for each in data["seats"]:
                taken.update(each["temples"])
                taken.update(coatl["temple"] for coatl in each["coatls"])
            new = next(temple for temple in facts.TEMPLE_NAMES if temple not in taken)
        else:
            new = next(card for card in sorted(deck) if card not in cards)
        other[place] = sorted([*(Counter(other[place]) - Counter(cards[:1])).elements(), new])
    return data


def searched(search_class, data, **options):
    search = search_class(state_of(data), seed=3, **options)
    search.run(iterations=400)
    return search.result(5) | {"seconds": 0}


VARIANTS = {
    "the true cards": midgame,
    "another hand and temple": lambda: exchanged(midgame(), 1),
    "two other hands": lambda: exchanged(exchanged(midgame(), 1), 2),
    "other discards": lambda: exchanged(midgame(), 2, "discarded"),
    "what the seat sees": lambda: notation.view(midgame(), 0),
}


def test_the_variants_differ_but_not_for_the_seat():
    states = [state_of(make()) for make in VARIANTS.values()]
    assert len({state.hash for state in states}) == len(states)
    assert len({state.view_hash(0) for state in states}) == 1
    # Seat 1 sees its own cards: the true hand from the other one.
    assert len({state.view_hash(1) for state in states[:-1]}) == 2


@pytest.mark.parametrize("search_class", [Search, UCT])
def test_a_search_does_not_peek(search_class):
    expected = searched(search_class, midgame())
    for name, make in VARIANTS.items():
        assert searched(search_class, make()) == expected, name


def test_the_beam_does_not_peek():
    # Of the orders in which a turn can be played, the hash of the position decides.
    def found(data):
        return [(sorted(candidate["actions"]), candidate["value"]) for candidate in searched(Beam, data)["candidates"]]

    for name, make in VARIANTS.items():
        assert found(make()) == found(midgame()), name


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["drawing", "future", "building"])
def test_a_search_within_a_turn_does_not_peek(phase):
    data = midgame(phase=phase)
    if phase == "future":
        data["seats"][0]["tokens"] = ["perfect", "promise"]
    elif phase == "building":
        data["seats"][0]["stored"]["bodies"] = "Y"
        data["seats"][0]["coatls"] = [
            {"pieces": "G", "head": False, "tail": False, "prophecies": [], "temple": "", "closed": False}
        ]
    expected = searched(Search, data)
    assert searched(Search, exchanged(data, 1)) == expected
    assert searched(Search, notation.view(data, 0)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["greedy", "random", "mcts", "uct"])
def test_engines_do_not_peek(spec):
    rng = random.Random(4)
    compared = 0
    position = ai.new_game("coatl", players=3, seed=4)
    with make_engine(spec) as engine:
        while not position.is_over and compared < 40:
            if position.is_chance:
                position.draw(rng.getrandbits(40))
                continue
            if rng.random() < 0.3:
                seat = position.to_move
                other = position.state.copy()
                other.determinize(seat, rng.getrandbits(40))
                same_view = (position, position.view(seat), Position("coatl", other))
                results = [engine.best_turn(each, Limits(iterations=40), seed=7) for each in same_view]
                found = [(each.turn, each.value, each.expected_scores) for each in results]
                assert found[0] == found[1] == found[2]
                compared += other != position.state
            position.push_action(rng.choice(position.legal_actions()))
    assert compared == 40


@pytest.mark.parametrize("level", [1, 5, 10])
def test_best_turn_does_not_peek(level):
    results = [
        ai.best_turn(Position.from_json(make()), iterations=300, seed=5, level=level).to_json() | {"seconds": 0}
        for make in VARIANTS.values()
    ]
    assert all(result == results[0] for result in results)


def test_the_search_of_another_seat_sees_other_cards():
    # The tests above would pass for a search that ignores hands.
    one, other = midgame(to_move=1), exchanged(midgame(to_move=1), 1)
    assert searched(Search, one) != searched(Search, other)
