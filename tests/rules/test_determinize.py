"""What is hidden in Mexica: the tokens of the second period when the pool has more than fifteen.

A world is drawn token by token, so that the numbers of each size follow the multivariate hypergeometric
distribution, and a search knows no more than the seat it plays for.
"""

from collections import Counter
from itertools import product
from math import comb, prod

import pytest
from mexica_builder import build
from scipy.stats import chisquare
from weighed import Search, greedy_turn

import mexica_ai
from cext.core.baselines.simple import random_turn
from cext.core.baselines.uct import UCT
from cext.core.contract.game import CHANCE
from mexica_ai import Position, SearchError

DRAWS = 8000
LEAST_P = 1e-3  # the draws are seeded, so a test passes always or never
# Eighteen tokens: eight on display, ten unseen with repeated sizes, of which seven come.
DISPLAY = [5, 6, 7, 8, 9, 10, 12, 13]
UNSEEN = Counter({3: 4, 4: 3, 6: 2, 11: 1})
POOL = sorted([*DISPLAY, *UNSEEN.elements()])


def hidden(**changes):
    """Return a position in period 1 of a game with that pool, its coming tokens unknown."""
    changes = {"players": 3, "pool": POOL, "display": DISPLAY, "points": 3} | changes
    return build(**changes)


def upcoming(state):
    return tuple(Position("mexica", state).to_json()["calpulli"]["upcoming"])


def with_upcoming(position, sizes):
    return position | {"calpulli": position["calpulli"] | {"upcoming": sorted(sizes)}}


def worlds():
    """Return the probability of each world: the tokens drawn, as a sorted tuple of sizes."""
    return {
        tuple(Counter(dict(zip(UNSEEN, numbers, strict=True))).elements()): prod(
            comb(UNSEEN[size], number) for size, number in zip(UNSEEN, numbers, strict=True)
        )
        / comb(UNSEEN.total(), 7)
        for numbers in product(*(range(count + 1) for count in UNSEEN.values()))
        if sum(numbers) == 7
    }


@pytest.fixture(scope="module")
def drawn():
    """How often each world was drawn."""
    state = Position.from_json(hidden()).state
    counts = Counter()
    for seed in range(DRAWS):
        world = state.copy()
        assert world.determinize(seed % 3, seed)
        counts[upcoming(world)] += 1
    return counts


def test_worlds_are_drawn_token_by_token(drawn):
    expected = worlds()
    assert sum(expected.values()) == pytest.approx(1)
    assert set(drawn) == set(expected)
    fit = chisquare([drawn[world] for world in expected], [p * DRAWS for p in expected.values()])
    assert fit.pvalue > LEAST_P
    # The test is sharp: a draw of worlds, each as likely, would not pass.
    assert chisquare([drawn[world] for world in expected]).pvalue < 1e-9


@pytest.mark.parametrize("size", UNSEEN)
def test_numbers_of_a_size_are_hypergeometric(drawn, size):
    count, others = UNSEEN[size], UNSEEN.total() - UNSEEN[size]
    expected = {
        number: DRAWS * comb(count, number) * comb(others, 7 - number) / comb(10, 7)
        for number in range(max(0, 7 - others), count + 1)
    }
    observed = Counter()
    for world, times in drawn.items():
        observed[world.count(size)] += times
    assert set(observed) == set(expected)
    fit = chisquare([observed[number] for number in expected], list(expected.values()))
    assert fit.pvalue > LEAST_P


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_a_draw_repeats_by_seed(seed):
    one, other = (Position.from_json(hidden()).state for _ in range(2))
    assert one.determinize(0, seed)
    assert other.determinize(0, seed)
    assert one == other


def test_a_draw_replaces_what_the_true_tokens_are():
    true = next(iter(worlds()))
    state = Position.from_json(with_upcoming(hidden(), true)).state
    seen = set()
    for seed in range(50):
        world = state.copy()
        assert world.determinize(1, seed)
        world.check()
        seen.add(upcoming(world))
    assert len(seen) > 5
    assert upcoming(state) == true


@pytest.mark.parametrize(
    "position",
    [
        pytest.param(mexica_ai.new_game(players=2, seed=1).to_json(), id="standard pool, placement"),
        pytest.param(build(3), id="standard pool"),
        pytest.param(build(4, pool=[3] * 9 + [4] * 6, display=[3] * 8), id="another pool of 15"),
        pytest.param(build(3, period=2), id="standard pool, period 2"),
        pytest.param(build(3, pool=POOL, period=2), id="larger pool, period 2"),
        pytest.param(hidden(pool=[*DISPLAY, *[3] * 10], upcoming=[3] * 7), id="all unseen tokens alike"),
    ],
)
def test_one_world_is_left_as_it_is(position):
    state = Position.from_json(position).state
    for viewer in range(state.num_players):
        world = state.copy()
        assert not world.determinize(viewer, viewer)
        assert world == state
        assert Position("mexica", world).to_json() == Position("mexica", state).to_json()


def test_no_seat_sees_what_comes():
    one, other = list(worlds())[:2]
    states = [
        Position.from_json(position).state
        for position in (with_upcoming(hidden(), one), with_upcoming(hidden(), other), hidden())
    ]
    assert len({state.hash for state in states}) == 3
    for viewer in range(3):
        assert len({state.view_hash(viewer) for state in states}) == 1


def test_what_is_shown_is_seen():
    one = Position.from_json(hidden()).state
    other = Position.from_json(hidden(display=[6, 6, *DISPLAY[2:]], pool=sorted([*POOL, 6]))).state
    assert one.view_hash(0) != other.view_hash(0)


# The search


def search(position, *, seed=3, iterations=1500, **options):
    found = Search(Position.from_json(position).state, seed=seed, **options)
    found.run(iterations=iterations)
    found.check_visits()
    return found.result(5) | {"seconds": 0}


# The last seat of the last round of period 1: `end` deals the hidden tokens.
LAST = hidden(to_move=2, display=[], built_all=[0], points=2)


@pytest.mark.parametrize(
    ("position", "one", "other"),
    [
        pytest.param(hidden(), [3, 3, 3, 3, 4, 4, 4], [3, 4, 4, 4, 6, 6, 11], id="early"),
        pytest.param(LAST, [6, 6, 6, 7, 8, 9, 10], [7, 8, 9, 10, 11, 12, 13], id="last turn of period 1"),
    ],
)
def test_a_search_of_hidden_tokens_repeats_and_does_not_peek(position, one, other):
    expected = search(position)
    assert expected["iterations"] == 1500
    assert search(position) == expected
    for upcoming in (one, other):
        assert search(with_upcoming(position, upcoming)) == expected
    assert search(position, seed=4)["candidates"] != expected["candidates"]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_search_crosses_into_the_second_period(threads):
    result = search(LAST, threads=threads)
    for candidate in result["candidates"]:
        state = Position.from_json(LAST).state
        for action in candidate["actions"]:
            state.apply(action)
        assert state.current_player == CHANCE
        assert sum(candidate["value"]) == pytest.approx(1)


@pytest.mark.parametrize("play", [lambda state: random_turn(state, 1), greedy_turn, UCT, Search])
def test_no_turn_is_played_while_a_deal_is_pending(play):
    state = Position.from_json(LAST).state
    while state.current_player != CHANCE:
        state.apply(state.legal_actions()[0])
    with pytest.raises(SearchError, match="a random event is pending") as error:
        play(state)
    assert error.value.reason == "CHANCE_PENDING"


def test_candidates_before_a_deal_are_distinct_turns():
    # What is dealt after the turn is no part of it: the worlds count together.
    result = search(LAST)
    ends = []
    for candidate in result["candidates"]:
        state = Position.from_json(LAST).state
        for action in candidate["actions"]:
            state.apply(action)
        ends.append(state.hash)
    assert len(set(ends)) == len(ends)
