"""The search where the seat to move sees what the asking seat does not, so that its actions differ by world.

The subject is trick (`tests/games/trick`): each seat plays one card, the highest wins.
"""

from math import comb

import pytest
from weighed import Search

from test_games.trick.ops import deal

ITERATIONS = 20_000
TOLERANCE = 0.06  # of a value: replies that are tried although they lose count in its mean

# The asking seat's hand, the sizes of the others', and all that it does not see.
DEALS = {
    "one card of six": ([3, 7, 12], [1], [1, 4, 6, 8, 9, 14]),
    "two of five": ([5, 9], [2], [2, 3, 6, 10, 11]),
    "three of eight": ([6, 10, 15], [3], [0, 1, 2, 3, 5, 8, 11, 12]),
    "two hands": ([2, 8, 13], [1, 1], [0, 4, 7, 10, 14]),
    "two hands of two": ([7, 11], [2, 2], [1, 3, 5, 6, 8, 12, 14]),
    "three hands": ([9, 14], [1, 2, 1], [0, 3, 6, 10, 12, 13]),
}


def state_of(hand, sizes, unseen, *, shift=0):
    """Return a state in which the others hold the unseen cards from the one numbered `shift` on."""
    cards = unseen[shift:] + unseen[:shift]
    hands = [hand]
    for size in sizes:
        hands.append(cards[:size])
        cards = cards[size:]
    return deal(hands, cards)


def share_of_worlds(lead, sizes, unseen):
    """Return the probability that nobody holds a higher card."""
    held = sum(sizes)
    return comb(sum(card < lead for card in unseen), held) / comb(len(unseen), held)


def run(state, *, iterations=ITERATIONS, seed=1, **options):
    search = Search(state, seed=seed, memory_mb=16, margin_weight=0, **options)
    search.run(iterations=iterations)
    search.check_visits()
    return search.result(20)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", DEALS)
def test_a_lead_is_worth_the_share_of_worlds_that_it_wins(name, threads):
    hand, sizes, unseen = DEALS[name]
    result = run(state_of(*DEALS[name]), threads=threads)
    assert result["iterations"] == ITERATIONS
    values = {candidate["actions"][0]: candidate["value"][0] for candidate in result["candidates"]}
    assert sorted(values) == hand
    best = result["candidates"][0]
    assert best["actions"] == [max(hand)]
    assert best["value"][0] == pytest.approx(share_of_worlds(max(hand), sizes, unseen), abs=TOLERANCE)


@pytest.mark.parametrize("name", DEALS)
def test_a_search_does_not_peek_into_hands(name):
    *_, unseen = DEALS[name]
    first = run(state_of(*DEALS[name]), iterations=2000) | {"seconds": 0}
    for shift in range(1, len(unseen)):
        assert run(state_of(*DEALS[name], shift=shift), iterations=2000) | {"seconds": 0} == first
    assert run(state_of(*DEALS[name]), iterations=2000, seed=2)["candidates"] != first["candidates"]


def test_a_reply_expected_is_one_that_wins():
    # Two hidden cards of 1, 8, 9 and 10: each seat that can win does, and its replies differ by world.
    state = deal([[5, 6], [1, 8]], [9, 10])
    for candidate in run(state)["candidates"]:
        ((reply,),) = candidate["line"]
        assert reply in (8, 9, 10)


def test_the_last_seat_knows_enough():
    # Seat 1 asks, after a lead of 6: seat 2 holds one of 3, 9 and 12, so that 10 wins in two of three worlds.
    state = deal([[6], [7, 10], [3]], [9, 12])
    state.apply(6)
    assert state.current_player == 1
    result = run(state)
    best = result["candidates"][0]
    assert best["actions"] == [10]
    assert best["value"][1] == pytest.approx(2 / 3, abs=TOLERANCE)
    assert best["value"][0] == pytest.approx(0, abs=TOLERANCE)
