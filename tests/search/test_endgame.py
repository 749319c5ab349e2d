"""The last turns of a game, which a search with `endgame` plays out."""

import pytest
from weighed import Search, greedy_turn

import mexica_ai as ai
from cext.core.contract.game import CHANCE
from mexica_ai.game.position import Position


def greedy_game(game, players, seed):
    """Return the states of a game of greedy turns, one before each turn, and the last one."""
    state = ai.new_game(game, players=players, seed=seed).state.copy()
    states = []
    while not state.is_terminal:
        if state.current_player == CHANCE:
            state.resolve_chance(seed)
            continue
        states.append(state.copy())
        for action in greedy_turn(state):
            state.apply(action)
    return [*states, state]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_coatl_tells_when_the_last_turns_have_begun(players):
    for seed in range(4):
        states = greedy_game("coatl", players, seed)
        ending = [state.is_ending for state in states]
        assert ending == sorted(ending)
        assert ending[-1]
        for state in states:
            assert state.is_ending == (Position("coatl", state).to_json()["ending"] is not None)  # no bodies run out


@pytest.mark.parametrize("game", ["mexica", "nim", "tzolkin"])
def test_a_game_need_not_tell(game):
    state = ai.new_game(game, players=2, seed=1).state
    assert not state.is_ending
    results = []
    for endgame in (0, 4):
        search = Search(state, seed=1, memory_mb=4, endgame=endgame)
        search.run(iterations=100)
        results.append([(each["actions"], each["value"]) for each in search.result(5)["candidates"]])
    assert results[0] == results[1]


def first_value(state, **options):
    """Return the value and the scores of a single iteration."""
    search = Search(state, seed=1, memory_mb=4, **options)
    search.run(iterations=1)
    best = search.result(1)["candidates"][0]
    return best["value"], best["expected_scores"]


def is_outcome(value):
    winners = sum(share > 0 for share in value)
    return all(share in (0, pytest.approx(1 / winners)) for share in value)


@pytest.mark.parametrize("endgame", [1, 5])
def test_a_leaf_in_the_last_turns_has_an_outcome(endgame):
    exact = estimated = 0
    for seed in range(6):
        for state in [state for state in greedy_game("coatl", 3, seed) if state.is_ending and not state.is_terminal]:
            value, scores = first_value(state, endgame=endgame)
            assert is_outcome(value)
            assert all(score == round(score) for score in scores)
            exact += 1
            estimated += not is_outcome(first_value(state, endgame=0)[0])
    assert exact > estimated > 0


def test_seats_that_consider_more_turns_make_more_of_them():
    made = dict.fromkeys((1, 16), 0.0)  # by the seats after the first, whose turn the search itself chooses
    for seed in range(12):
        state = next(state for state in greedy_game("coatl", 4, seed) if state.is_ending)
        if not state.is_terminal:
            for endgame in made:
                scores = first_value(state, endgame=endgame)[1]
                made[endgame] += sum(scores) - scores[state.current_player]
    assert made[16] > made[1]


def test_the_same_seed_plays_the_same_end():
    state = next(state for state in greedy_game("coatl", 2, 1) if state.is_ending)
    assert first_value(state, endgame=3) == first_value(state, endgame=3)
