"""Sequential halving: its schedule, the improvement it promises, repeatable results, threads and limits."""

import functools
import statistics
import threading
from collections import Counter

import numpy as np
import pytest
from mexica_builder import build
from weighed import Search

import mexica_ai
from mexica_ai import NotationError, Position, SearchError
from mexica_ai.engines import make_engine
from mexica_ai.env import schema

MIDGAME = Position.from_json(
    build(
        3,
        pillis=["C7", "F9", "O7"],
        canals=["D5-D12", "B5-C5", "I10-I13"],
        bridges=["O7 ew", "D8 ew"],
        temples={"F4": (0, 2), "F5": (1, 1), "L8": (2, 3)},
        scores=[10, 12, 9],
    )
).state
COATL = mexica_ai.load("examples/coatl_midgame.json").state


def nim(*piles, plies=1):
    return mexica_ai.new_game("nim", players=2, piles=list(piles), plies_per_turn=plies).state


def run(state, *, iterations=None, time_s=None, num_candidates=500, seed=1, memory_mb=16, **options):
    """Search, check that the visits add up, and return the result."""
    search = Search(state, seed=seed, memory_mb=memory_mb, **options)
    search.run(iterations=iterations, time_s=time_s)
    search.check_visits()
    return search.result(num_candidates)


def visits(result):
    return sorted((candidate["visits"] for candidate in result["candidates"]), reverse=True)


# The schedule


def test_each_phase_gives_the_candidates_left_equally_many_descents():
    # The first iteration ends at the root. Three phases of 32 follow, for 8, 4 and 2 of the nine first actions.
    assert visits(run(nim(3, 3, 3), iterations=97, halving=8)) == [28, 28, 12, 12, 4, 4, 4, 4]
    # Two phases of 30 iterations for 3 and 2 candidates.
    assert visits(run(nim(3, 3, 3), iterations=61, halving=3)) == [25, 25, 10]


def test_halving_below_two_is_none():
    plain = run(nim(3, 3, 3), iterations=200)
    assert run(nim(3, 3, 3), iterations=200, halving=1) | {"seconds": 0} == plain | {"seconds": 0}
    assert len(plain["candidates"]) == 9


def test_more_candidates_than_actions():
    assert visits(run(nim(1, 2), iterations=31, halving=256)) == visits(run(nim(1, 2), iterations=31, halving=3))


def test_fewer_iterations_than_candidates():
    assert visits(run(nim(5, 5), iterations=4, halving=8)) == [1, 1, 1]
    for seed in range(5):
        found = run(MIDGAME, iterations=3, seed=seed, halving=200, gumbel_scale=10)
        assert all(candidate["visits"] > 0 for candidate in found["candidates"])


def test_the_candidates_left_are_the_best_ones():
    found = run(nim(3, 3, 3), iterations=3000, halving=8)["candidates"]
    # Whoever leaves two equal piles wins, the only winning move of the first seat.
    best = {tuple(each["actions"]) for each in found[:1]}
    assert all(winning(state_after(nim(3, 3, 3), turn)) is False for turn in best)


# The improvement


@functools.cache
def _winning(piles):
    """Return whether the seat to move wins, by the sum of nim of the piles."""
    return functools.reduce(lambda one, other: one ^ other, piles, 0) != 0


def winning(state):
    return _winning(tuple(Position("nim", state).to_json()["piles"]))


def state_after(state, actions):
    state = state.copy()
    for action in actions:
        state.apply(action)
    return state


def played(state, number, iterations, **options):
    """Return the first actions that searches with different seeds play."""
    return [
        run(state, iterations=iterations, seed=seed, num_candidates=1, memory_mb=1, **options)["candidates"][0][
            "actions"
        ][0]
        for seed in range(number)
    ]


def test_without_values_it_plays_as_the_priors_do():
    # All actions of nim have equal priors.
    # Without proofs: what is proved to lose is not played, whatever its prior.
    counts = Counter(played(nim(2, 2), 400, 8, halving=4, halving_scale=0, solve=0))
    assert len(counts) == 4
    assert all(60 < count < 140 for count in counts.values())  # five standard deviations
    assert len(set(played(nim(2, 2), 20, 8, halving=4, halving_scale=0, gumbel_scale=0))) == 1


@pytest.mark.parametrize("piles", [(1, 2), (1, 4, 4), (2, 3)])
@pytest.mark.parametrize("iterations", [24, 96])
def test_it_plays_better_than_the_priors_with_few_iterations(piles, iterations):
    state = nim(*piles)
    share = statistics.mean(not winning(state_after(state, [action])) for action in state.legal_actions())
    found = played(state, 60, iterations, halving=4)
    wins = statistics.mean(not winning(state_after(state, [action])) for action in found)
    assert wins > share


# Repeatable results, threads and limits


@pytest.mark.parametrize("state", [MIDGAME, COATL])
def test_one_thread_repeats_its_result(state):
    first, second = (run(state, iterations=300, seed=7, halving=8) for _ in range(2))
    assert first | {"seconds": 0} == second | {"seconds": 0}


def test_many_threads_keep_to_the_iterations():
    for state in (MIDGAME, COATL, nim(3, 4, 5, plies=2)):
        found = run(state, iterations=800, threads=4, halving=8)
        assert found["iterations"] == 800
        assert len(found["candidates"][0]["actions"]) > 0


def test_a_search_limited_by_time_uses_all_of_it():
    found = run(MIDGAME, time_s=0.05, halving=8)
    assert found["stop_reason"] == "time"  # not "settled", although `early_stop` is on
    assert sum(visits(found)) <= found["iterations"]


def test_a_search_without_limit_is_that_of_puct():
    search = Search(nim(3, 3, 3), seed=1, halving=8)
    thread = threading.Thread(target=search.run)
    thread.start()
    try:
        while thread.is_alive() and search.result(1)["iterations"] < 1000:
            pass
    finally:
        search.stop()
        thread.join()
    search.check_visits()
    assert len(search.result(100)["candidates"]) == 9


def test_without_a_limit_an_evaluator_sees_the_priors_of_puct():
    def priors(halving):
        def evaluate(observations):
            search.stop()
            return np.full((len(observations), 2), 0.5)

        search = Search(nim(3, 3, 3), seed=1, halving=halving, evaluator=evaluate, batch_size=2)
        search.run()
        return [edge["prior"] for edge in search.tree()[0]["edges"]]

    assert len(priors(0)) > 0
    assert priors(8) == priors(0)


def test_a_result_during_the_search_has_candidates():
    search = Search(MIDGAME, seed=1, halving=8)
    thread = threading.Thread(target=search.run, kwargs={"time_s": 600})  # until `stop`
    thread.start()
    try:
        while thread.is_alive() and search.result(5)["iterations"] < 50:
            pass
        found = search.result(5)
    finally:
        search.stop()
        thread.join()
    assert found["stop_reason"] == ""
    assert found["iterations"] >= 50
    assert found["candidates"][0]["actions"]


def test_reading_a_result_does_not_change_the_search():
    def tree(is_polled):
        def evaluate(observations):
            if is_polled:
                search.result(3)
            piles = schema("nim").split(observations)["piles"]
            share = (piles @ np.arange(1, piles.shape[1] + 1)) % 7 / 7
            return np.stack([share, 1 - share], axis=1)

        search = Search(nim(3, 4, 5), seed=3, halving=8, evaluator=evaluate, batch_size=1)
        search.run(iterations=100)
        return search.tree()

    assert tree(is_polled=True) == tree(is_polled=False)


def test_exact_values_come_before_the_scores_of_halving():
    # The last turn of the game, with six action points far from home.
    end = {"no_tiles": True, "built_all": [0], "period": 2, "display": [], "to_move": 1}
    state = Position.from_json(build(2, pillis=["K7", "C9"], **end)).state
    for seed in range(5):
        found = run(state, iterations=200, seed=seed, halving=8, halving_scale=0, gumbel_scale=10)["candidates"]
        scores = [candidate["expected_scores"][1] for candidate in found]
        assert scores[0] == max(scores) > min(scores)


def test_specs_have_the_options():
    position = mexica_ai.load("examples/mexica_midgame.json")
    with make_engine("mcts,halving=8,iterations=60") as engine:
        assert engine.best_turn(position, seed=1).iterations == 60
    with pytest.raises(NotationError, match="halving=500 is not a number from 0 to 256"):
        make_engine("mcts,halving=500,iterations=60")
    with pytest.raises(SearchError, match=r"halving: 257, expected 0\.0 to 256\.0"):
        Search(position.state, halving=257)
    with pytest.raises(NotationError, match="halvings"):
        make_engine("mcts,halvings=8")
