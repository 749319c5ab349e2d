"""The search: solved toys, forced wins, limits, and what its results promise."""

import functools
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from mexica_builder import build
from weighed import Search

import mexica_ai
from cext.core.baselines.uct import UCT
from cext.core.search.options import OPTIONS
from mexica_ai import GameOverError, Position, SearchError
from mexica_ai.game import registry
from test_games.inside.parts import learnt_advantage

TOLERANCE_S = 10.0  # no more than a guard against waiting for the end: machines are shared


def state_of(position):
    return Position.from_json(position).state


def nim(piles, *, players=2, plies=1, plies_left=None):
    position = mexica_ai.new_game("nim", players=players, piles=list(piles), plies_per_turn=plies).to_json()
    return state_of(position | {"plies_left": plies_left or plies})


def piles_of(state):
    return tuple(Position("nim", state).to_json()["piles"])


def run(state, *, iterations=None, time_s=None, num_candidates=5, **options):
    """Search, by default without proofs (`test_proofs`), check that the visits add up, and return the result."""
    search = Search(state, **({"seed": 1, "solve": 0} | options))
    search.run(iterations=iterations, time_s=time_s)
    search.check_visits()
    return search.result(num_candidates)


def after(state, actions):
    state = state.copy()
    for action in actions:
        assert action in state.legal_actions()
        state.apply(action)
    return state


def assert_is_turn(state, actions):
    """Check that the actions are one whole turn, no more and no less."""
    assert actions
    for n in range(len(actions)):
        assert after(state, actions[:n]).turn == state.turn
    assert after(state, actions).turn == state.turn + 1


MIDGAME = build(
    3,
    pillis=["C7", "F9", "O7"],
    canals=["D5-D12", "B5-C5", "I10-I13"],
    bridges=["O7 ew", "D8 ew"],
    temples={"F4": (0, 2), "F5": (1, 1), "L8": (2, 3)},
    scores=[10, 12, 9],
)
FEW_POINTS = MIDGAME | {"action_points": 2}
# Eighteen tokens: what comes in the second period is open.
HIDDEN = build(
    2, pillis=["C7", "F9"], canals=["D5-D12"], points=3, display=[5, 6, 7, 8, 9, 10, 12, 13],
    pool=[3, 3, 3, 4, 4, 5, 6, 6, 7, 8, 9, 10, 10, 11, 12, 12, 13, 13],
)  # fmt: skip
COATL = json.loads((Path(__file__).parents[2] / "examples" / "coatl_midgame.json").read_text())
# The seventh round; nothing is decided, and much can be done.
OPEN_COATL = json.loads((Path(__file__).parents[1] / "data" / "coatl_open.json").read_text())
POSITIONS = {
    "nim": mexica_ai.new_game("nim", players=3, piles=[2, 3, 3], plies_per_turn=2).to_json(),
    "placement": mexica_ai.new_game(players=4, seed=3).to_json(),
    "first turn": build(2, pillis=["H6", "G7"], round_=1),
    "midgame": MIDGAME,
    "few points": FEW_POINTS,
    "hidden tokens": HIDDEN,
    "last turn": build(2, pillis=["K7", "G6"], no_tiles=True, built_all=[0], period=2, display=[], to_move=1, points=2),
}


@pytest.fixture(params=POSITIONS)
def state(request):
    return state_of(POSITIONS[request.param])


# Nim, solved


@functools.cache
def can_win(piles, plies_left, plies):
    """Tell whether the first of two seats wins with best play: it takes the last object."""
    for index, pile in enumerate(piles):
        for left in range(pile):
            rest = (*piles[:index], left, *piles[index + 1 :])
            if not any(rest):
                return True
            if can_win(rest, plies_left - 1, plies) if plies_left > 1 else not can_win(rest, plies, plies):
                return True
    return False


SMALL_PILES = [(one, two, three) for one in range(4) for two in range(one, 5) for three in range(max(two, 1), 5)]


@pytest.mark.parametrize(("plies", "plies_left"), [(1, 1), (2, 2), (2, 1), (3, 3), (3, 2)])
def test_nim_is_solved(plies, plies_left):
    solved = 0
    for piles in SMALL_PILES:
        if not can_win(piles, plies_left, plies):
            continue
        start = nim(piles, plies=plies, plies_left=plies_left)
        result = run(start, iterations=5_000)
        end = after(start, result["candidates"][0]["actions"])
        if end.is_terminal:
            assert end.returns() == [1, 0]
        else:
            assert end.current_player == 1
            assert not can_win(piles_of(end), plies, plies), (piles, result["candidates"][0])
        solved += 1
    assert solved > 10


def test_nim_values_tend_to_the_result():
    won = run(nim([1, 2, 4]), iterations=20_000)["candidates"][0]
    lost = run(nim([1, 2, 3]), iterations=20_000)["candidates"][0]
    assert won["value"][0] > 0.9
    assert lost["value"][0] < 0.1
    assert won["expected_scores"] == pytest.approx(won["value"])


@functools.cache
def possible_winners(piles, player, plies_left, plies, players):
    """Return the seats that may win if each takes a sure win where there is one, and anything otherwise."""
    if not any(piles):
        return frozenset([player])
    outcomes = []
    for index, pile in enumerate(piles):
        for left in range(pile):
            rest = (*piles[:index], left, *piles[index + 1 :])
            if not any(rest) or plies_left > 1:
                outcomes.append(possible_winners(rest, player, plies_left - 1, plies, players))
            else:
                outcomes.append(possible_winners(rest, (player + 1) % players, plies, plies, players))
    if frozenset([player]) in outcomes:
        return frozenset([player])
    return frozenset().union(*outcomes)


@pytest.mark.parametrize(("players", "plies"), [(3, 1), (3, 2), (4, 1), (4, 2)])
def test_sure_wins_among_several_seats_are_found(players, plies):
    found = 0
    for piles in [*SMALL_PILES, (1, 1, 1, 1), (1, 1, 1, 2), (1, 1, 1, 1, 1), (1, 1, 2, 2)]:
        if possible_winners(piles, 0, plies, plies, players) != {0}:
            continue
        start = nim(piles, players=players, plies=plies)
        end = after(start, run(start, iterations=10_000)["candidates"][0]["actions"])
        if end.is_terminal:
            assert end.returns()[0] == 1
        else:
            assert possible_winners(piles_of(end), 1, plies, plies, players) == {0}, piles
        found += 1
    assert found > 2


# Forced wins in Mexica: the last turn of the game, where one way to play it wins


def turn_ends(state):
    """Return all states at the end of a turn."""
    ends, seen, open_states = {}, set(), [state]
    while open_states:
        now = open_states.pop()
        if now.turn != state.turn:
            ends[now.hash] = now
        elif now.hash not in seen:
            seen.add(now.hash)
            for action in now.legal_actions():
                child = now.copy()
                child.apply(action)
                open_states.append(child)
    return list(ends.values())


LAST_TURN = {"period": 2, "round_": 20, "built_all": [0], "no_tiles": True}
FORCED_WINS = {
    # to the palace, and a temple among those of the first seat
    "walk I7, temple 1": build(
        2, pillis=["B3", "J7"], display=[], to_move=1, points=2, scores=[0, 54], **LAST_TURN
    ),
    "the same with four seats": build(
        4, pillis=["B3", "C9", "D9", "J7"], display=[], to_move=3, points=2, scores=[0, 0, 0, 54], **LAST_TURN
    ),
    # first place in a district of six, where level two would only tie
    "temple 3": build(
        2, pillis=["K6", "C5"], canals=["B4-B7", "C4-E4", "C7-E7", "F4-F7"], temples={"D5": (0, 2)},
        display=[], to_move=1, points=3, taken=2, scores=[0, 108], **LAST_TURN,
    ),
    # the last token on display: founding it ends the game, and a temple earns three more
    "temple 1, found 3": build(
        3, pillis=["K6", "L6", "C2"], canals=["B3-C3", "D2"], display=[3], to_move=2, points=1,
        scores=[0, 0, 109], **LAST_TURN,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORCED_WINS)
def test_forced_wins_are_found(name):
    state = state_of(FORCED_WINS[name])
    seat = state.current_player
    ends = turn_ends(state)
    won = {end.hash for end in ends if end.is_terminal and end.returns()[seat] == 1}
    assert 0 < len(won) < len(ends) / 10, f"{len(won)} of {len(ends)} turns win"
    for seed in range(3):
        result = run(state, iterations=5000, seed=seed)
        best = result["candidates"][0]
        assert after(state, best["actions"]).hash in won
        assert best["value"][seat] == pytest.approx(1)


# What every result promises


def test_a_result_is_complete(state):
    result = run(state, iterations=600, num_candidates=8, seed=9)
    assert sorted(result) == [
        "candidates", "distinct_turns", "first_actions", "iterations", "memory_bytes", "nodes", "seconds", "seed",
        "stop_reason", "threads",
    ]  # fmt: skip
    assert result["iterations"] == 600
    assert result["stop_reason"] == "iterations"
    assert (result["seed"], result["threads"]) == (9, 1)
    assert 1 <= len(result["candidates"]) <= min(8, result["distinct_turns"])
    assert result["distinct_turns"] <= min(600, result["nodes"])
    assert run(state, iterations=600, seed=9, whole_turns=0)["nodes"] <= 601
    assert result["memory_bytes"] > 0
    assert result["seconds"] >= 0


def test_candidates_are_distinct_whole_turns_most_visited_first(state):
    result = run(state, iterations=1500, num_candidates=20)
    candidates = result["candidates"]
    ends = []
    for candidate in candidates:
        assert sorted(candidate) == [
            "actions", "expected_scores", "expected_scores_error", "forecast", "is_proved", "line", "prior", "value",
            "value_error", "visits",
        ]  # fmt: skip
        assert_is_turn(state, candidate["actions"])
        ends.append(after(state, candidate["actions"]).hash)
        assert 1 <= candidate["visits"] <= result["iterations"]
        assert len(candidate["value"]) == len(candidate["expected_scores"]) == state.num_players
        assert all(0 <= value <= 1 for value in candidate["value"])
        assert sum(candidate["value"]) == pytest.approx(1)
        assert 0 < candidate["prior"] <= 1
    assert len(set(ends)) == len(ends)
    visits = [candidate["visits"] for candidate in candidates]
    if not all(after(state, candidate["actions"]).is_terminal for candidate in candidates):
        assert visits == sorted(visits, reverse=True)
    assert sum(visits) <= result["iterations"]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", sorted(set(POSITIONS) - {"nim"}))
def test_every_iteration_finishes_the_turn(name, threads):
    result = run(state_of(POSITIONS[name]), iterations=600, num_candidates=600, threads=threads)
    assert sum(candidate["visits"] for candidate in result["candidates"]) == 600


def test_without_priors_iterations_end_in_the_first_new_node():
    state = nim([5, 5, 5], plies=3)
    first, second = (run(state, iterations=100, whole_turns=whole_turns) for whole_turns in (0, 2))
    assert first | {"seconds": 0} == second | {"seconds": 0}


def test_iterations_may_end_within_turns():
    ends, nodes = {}, {}
    for whole_turns in (0, 1, 2):
        result = run(state_of(MIDGAME), iterations=600, num_candidates=600, whole_turns=whole_turns)
        ends[whole_turns] = sum(candidate["visits"] for candidate in result["candidates"])
        nodes[whole_turns] = result["nodes"]
    assert ends[0] < ends[1] == ends[2] == 600
    # With 2 the turns after it are finished, too.
    assert nodes[0] <= 601 < nodes[1] < nodes[2]


def test_fewer_candidates_are_the_first_ones():
    search = Search(state_of(FEW_POINTS), seed=1)
    search.run(iterations=800)
    every = search.result(1000)["candidates"]
    assert len(every) == search.result()["distinct_turns"]
    for number in (1, 2, 7):
        assert search.result(number)["candidates"] == every[:number]


def test_many_more_candidates_than_there_are():
    search = Search(nim([1, 2]), seed=1)
    assert len(search.result(2**31 - 1)["candidates"]) == 1  # none yet: one by the priors
    search.run(iterations=50)
    for number in (2**29, 2**31 - 1):
        assert search.result(number)["candidates"] == search.result(100)["candidates"]


@pytest.mark.parametrize("candidates", [0, 10_001, 10**9, 2**31, True, 1.0])
def test_the_number_of_candidates_has_a_range(candidates):
    with pytest.raises(SearchError, match="10000") as error:
        mexica_ai.best_turn(mexica_ai.new_game("nim"), iterations=5, candidates=candidates)
    assert error.value.reason == "INVALID_LIMITS"
    assert error.value.path == "candidates"


def first_order(state, actions):
    """Return the lexicographically least legal order of a turn's actions that ends in the same state."""
    goal = after(state, actions).hash

    def extend(now, left):
        if not left:
            return [] if now.hash == goal else None
        for action in sorted(set(left)):
            if now.turn == state.turn and action in now.legal_actions():
                at = left.index(action)
                rest = extend(after(now, [action]), left[:at] + left[at + 1 :])
                if rest is not None:
                    return [action, *rest]
        return None

    return extend(state, actions)


def test_turns_are_spelled_in_canonical_order(state):
    reordered = 0
    for candidate in run(state, iterations=1500, num_candidates=15)["candidates"]:
        assert candidate["actions"] == first_order(state, candidate["actions"])
        reordered += len(set(candidate["actions"])) > 2
    assert reordered or state.num_players == 4 or state.game.name == "nim"


def test_permutations_meet():
    # No two ends of the turn are equal, although thousands of orders lead there.
    search = Search(state_of(MIDGAME), seed=2)
    search.run(iterations=3000)
    candidates = search.result(10_000)["candidates"]
    spellings = Counter(tuple(sorted(candidate["actions"])) for candidate in candidates)
    assert max(spellings.values()) == 1
    assert len(candidates) > 5


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("piles", "plies"), [([3, 4], 2), ([3, 4, 5], 2), ([2, 3, 3], 3)])
def test_every_end_of_the_turn_is_found_once(piles, plies, threads):
    state = nim(piles, plies=plies)
    wide = {"widening_base": 1000, "exploration": 100, "exploration_in_turn": 100, "confirming_share": 0}
    result = run(state, iterations=5000, num_candidates=1000, threads=threads, **wide)
    ends = {after(state, candidate["actions"]).hash for candidate in result["candidates"]}
    assert ends == {end.hash for end in turn_ends(state)}
    assert len(result["candidates"]) == result["distinct_turns"] == len(ends)


def test_expected_lines_are_legal_turns(state):
    longest = 0
    for candidate in run(state, iterations=3000)["candidates"]:
        now = after(state, candidate["actions"])
        for turn in candidate["line"]:
            assert_is_turn(now, turn)
            now = after(now, turn)
        longest = max(longest, len(candidate["line"]))
    assert longest or state.game.name == "mexica"


@pytest.mark.parametrize("threads", [1, 2])
def test_one_iteration_answers_with_a_whole_turn(state, threads):
    result = run(state, iterations=1, threads=threads)
    assert result["iterations"] == 1
    assert result["stop_reason"] == "iterations"
    (candidate,) = result["candidates"]
    assert_is_turn(state, candidate["actions"])
    assert sum(candidate["value"]) == pytest.approx(1)


# Seeds


def test_the_same_seed_gives_the_same_result(state):
    first, second = (run(state, iterations=700, seed=5) | {"seconds": 0} for _ in range(2))
    assert first == second


@pytest.mark.parametrize("state", [name for name in POSITIONS if name != "last turn"], indirect=True)
def test_another_seed_gives_another_result(state):
    # Two seeds may agree by chance; four do not. In the last turn of a game all may: its ends are certain.
    results = [run(state, iterations=700, seed=seed)["candidates"] for seed in range(5, 9)]
    assert any(other != results[0] for other in results)


def test_a_search_leaves_the_state_as_it_is(state):
    before = state.copy()
    run(state, iterations=100)
    assert state == before


# Limits


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_visits_add_up_and_iterations_are_exact(state, threads):
    for iterations in (2, 1000):
        assert run(state, iterations=iterations, threads=threads)["iterations"] == iterations


@pytest.mark.real("time")
def test_the_time_is_kept():
    result = run(state_of(MIDGAME), time_s=0.1, threads=2, early_stop=0)
    assert result["stop_reason"] == "time"
    assert 0.1 <= result["seconds"] < 0.1 + TOLERANCE_S
    assert result["threads"] == 2


@pytest.mark.real("time")
@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_a_search_ends_when_nothing_can_catch_up(threads):
    # One pile of three, and as many objects as one likes: nearly all visits go to the move that wins.
    result = run(nim([3]), time_s=2, threads=threads)
    assert result["stop_reason"] == "settled"
    best = result["candidates"][0]
    assert best["value"] == pytest.approx([1, 0], abs=0.01)
    assert best["visits"] > sum(candidate["visits"] for candidate in result["candidates"][1:])
    assert run(nim([3]), time_s=0.1, threads=threads, early_stop=0)["stop_reason"] == "time"
    limited = run(nim([3]), time_s=60, iterations=20_000, threads=threads)
    assert (limited["stop_reason"], limited["iterations"]) == ("iterations", 20_000)


def test_the_first_limit_counts():
    assert run(state_of(MIDGAME), time_s=60, iterations=50)["stop_reason"] == "iterations"
    assert run(state_of(MIDGAME), time_s=0.02, iterations=10**9)["stop_reason"] == "time"


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("name", ["first turn", "midgame", "hidden tokens"])
def test_the_memory_cap_is_kept(name, threads):
    state = state_of(POSITIONS[name])
    result = run(state, memory_mb=1, iterations=10**6, threads=threads)
    assert result["stop_reason"] == "memory"
    assert result["memory_bytes"] <= 1024 * 1024
    assert result["iterations"] > 10
    for candidate in result["candidates"]:
        assert_is_turn(state, candidate["actions"])


@pytest.mark.parametrize("threads", [1, 2])
def test_a_search_without_limits_is_watched_and_stopped(threads):
    state = state_of(MIDGAME)
    search = Search(state, threads=threads, seed=1)
    worker = threading.Thread(target=search.run)
    worker.start()
    try:
        results = []
        while len(results) < 5:
            result = search.result(3)
            if result["iterations"] > (results[-1]["iterations"] if results else 0):
                results.append(result)
    finally:
        search.stop()
        worker.join(TOLERANCE_S)
    assert not worker.is_alive()
    for result in results:
        assert result["stop_reason"] == ""
        assert result["seconds"] > 0
        assert 1 <= len(result["candidates"]) <= 3
        for candidate in result["candidates"]:
            assert_is_turn(state, candidate["actions"])
            assert sum(candidate["value"]) == pytest.approx(1)
    last = search.result()
    assert last["stop_reason"] == "stopped"
    assert last["iterations"] >= results[-1]["iterations"]
    search.check_visits()


@pytest.mark.parametrize("limit", [None, 64])
def test_the_first_results_of_a_running_search_have_values(limit):
    state = state_of(MIDGAME)
    for seed in range(150):
        search = Search(state, threads=2, seed=seed)
        worker = threading.Thread(target=search.run, kwargs={"iterations": limit})
        worker.start()
        iterations = 0
        try:
            while iterations < 20:
                result = search.result(3)
                iterations = result["iterations"]
                if iterations:
                    assert all(sum(candidate["value"]) == pytest.approx(1) for candidate in result["candidates"])
        finally:
            search.stop()
            worker.join(TOLERANCE_S)


def test_a_tree_that_is_read_during_the_search_has_means_of_one_moment():
    state = mexica_ai.new_game("tzolkin", players=4, seed=1).state
    for seed in range(8):
        search = Search(state, threads=2, seed=seed)
        search.start(iterations=3000)
        while not search.wait(0):
            assert all(sum(node["value"]) == pytest.approx(1, abs=1e-9) for node in search.tree())


def test_an_interrupt_stops_the_search_and_leaves_its_result():
    def interrupt(*_):
        raise KeyboardInterrupt

    state = state_of(MIDGAME)
    search = Search(state, threads=2, seed=1)
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            search.run(time_s=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    result = search.result()
    assert result["stop_reason"] == "stopped"
    assert result["seconds"] < 0.05 + TOLERANCE_S
    assert_is_turn(state, result["candidates"][0]["actions"])
    search.check_visits()


@pytest.mark.real("time")
def test_a_run_need_not_wait_for_threads_that_get_no_processor():
    state = state_of(MIDGAME)
    # So many that most of them wait for a processor at any time.
    search = Search(state, threads=200, seed=1, niceness=19, early_stop=0)
    began = time.monotonic()
    search.run(time_s=0.2, late_s=0.0)
    assert time.monotonic() - began < 0.2 + TOLERANCE_S
    result = search.result()
    assert result["stop_reason"] == "time"
    assert_is_turn(state, result["candidates"][0]["actions"])
    search.join()
    assert search.result()["iterations"] >= result["iterations"]
    search.join()
    search.check_visits()
    # A search that is not joined ends when its object is deleted.
    search = Search(state, threads=200, seed=1, niceness=19, early_stop=0)
    search.run(time_s=0.01, late_s=0.0)
    del search


def test_the_calling_thread_keeps_its_priority():
    before = os.getpriority(os.PRIO_PROCESS, 0)
    run(state_of(MIDGAME), iterations=10, niceness=3)
    assert os.getpriority(os.PRIO_PROCESS, 0) == before
    for niceness in (-1, 20):
        with pytest.raises(SearchError, match="niceness"):
            Search(state_of(MIDGAME), niceness=niceness)


@pytest.mark.parametrize("late_s", [-0.1, 1e9])
def test_a_lateness_that_makes_no_sense(late_s):
    with pytest.raises(SearchError, match="late_s"):
        Search(state_of(MIDGAME)).run(time_s=1, late_s=late_s)


def test_a_stop_before_the_run_ends_it_at_once():
    state = state_of(MIDGAME)
    search = Search(state, seed=1)
    search.stop()
    assert search.result()["stop_reason"] == "stopped"
    search.run(time_s=60)
    result = search.result()
    assert result["stop_reason"] == "stopped"
    assert result["iterations"] == 0
    assert result["seconds"] < TOLERANCE_S
    assert_is_turn(state, result["candidates"][0]["actions"])


@pytest.mark.parametrize(
    ("position", "length"),
    [
        (mexica_ai.new_game("nim", piles=[1]).to_json(), 1),
        (mexica_ai.new_game("nim", players=3, piles=[0, 1, 0], plies_per_turn=3).to_json(), 1),
        (build(2, points=0), 1),
    ],
    ids=["nim", "nim, three plies", "mexica"],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_forced_turn_is_answered_at_once(position, length, threads):
    state = state_of(position)
    assert mexica_ai.Position.from_json(position).is_forced
    result = run(state, time_s=60, threads=threads)
    assert result["stop_reason"] == "forced"
    assert result["seconds"] < TOLERANCE_S
    (candidate,) = result["candidates"]
    assert len(candidate["actions"]) == length
    assert_is_turn(state, candidate["actions"])
    assert sum(candidate["value"]) == pytest.approx(1)


def test_a_turn_is_not_forced_if_there_is_a_choice_or_no_seat_to_move():
    assert not mexica_ai.new_game("nim", piles=[2]).is_forced
    assert not mexica_ai.new_game("nim", piles=[1, 1]).is_forced
    position = mexica_ai.new_game("nim", piles=[1])
    position.push("take 1 1")
    assert position.is_over
    assert not position.is_forced
    position = mexica_ai.new_game("coatl", players=2, seed=7)
    for turn in ("keep", "keep", "draw deck"):
        position.push(turn)
    assert position.is_chance
    assert not position.is_forced


def test_a_forced_win_of_nim_is_worth_all():
    assert run(nim([1]), time_s=60)["candidates"][0]["value"] == [1, 0]


# The last turn


@pytest.mark.parametrize("iterations", [200, 1000])
def test_the_best_end_of_the_game_is_played_though_others_have_more_visits(iterations):
    far_from_home = {"pillis": ["K7", "C9"], "points": 6}
    state = state_of(build(2, no_tiles=True, built_all=[0], period=2, display=[], to_move=1, **far_from_home))
    found = run(state, iterations=iterations, num_candidates=1000)["candidates"]
    scores = [candidate["expected_scores"][1] for candidate in found]
    assert scores == sorted(scores, reverse=True)
    visits = [candidate["visits"] for candidate in found]
    assert visits != sorted(visits, reverse=True)
    # A temple in the widest district for one action point, and home for five more.
    assert after(state, found[0]["actions"]).scores()[1] == scores[0] == 63


# Noise on priors


def first_turns(state, number, **options):
    """Return how often each turn is the only one that a search of one action at a time looks at."""
    narrow = {"widening_base": 1, "widening_factor": 0, "memory_mb": 1}
    results = (run(state, iterations=6, seed=seed, **narrow, **options) for seed in range(number))
    return Counter(tuple(result["candidates"][0]["actions"]) for result in results)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["midgame", "nim"])
def test_noise_of_scale_one_draws_from_the_priors(name):
    state = nim([3]) if name == "nim" else state_of(MIDGAME | {"action_points": 1})
    wide = run(state, iterations=3000, widening_base=1000, first_visits=1000)
    counts = first_turns(state, 1000, prior_noise=1)
    for candidate in wide["candidates"][:3]:
        share = candidate["prior"]
        # Five standard deviations; turns that several orders of actions spell come a little more often.
        margin = 5 * (share * (1 - share) / 1000) ** 0.5
        assert share - margin < counts[tuple(candidate["actions"])] / 1000 < share + margin
    assert len(first_turns(state, 20)) == 1  # without noise always the best prior


def test_noise_is_the_same_for_the_same_seed():
    for state in (nim([3, 4], plies=2), state_of(HIDDEN)):
        first, second = (run(state, iterations=300, prior_noise=3) for _ in range(2))
        assert first | {"seconds": 0} == second | {"seconds": 0}
    # It only shifts visits: the solved game is still solved.
    assert run(nim([1, 2]), iterations=3000, prior_noise=2)["candidates"][0]["value"][0] > 0.9


def test_noise_is_on_the_turn_of_the_root_only():
    state = nim([3, 3])
    narrow = {"widening_base": 1, "widening_factor": 0}
    chosen = set()
    for seed in range(30):
        (candidate,) = run(state, iterations=20, seed=seed, prior_noise=1, **narrow)["candidates"]
        chosen.add(tuple(candidate["actions"]))
        # All actions of nim have equal priors; the first is in view.
        assert candidate["line"][0] == after(state, candidate["actions"]).legal_actions()[:1]
    assert len(chosen) > 3


def test_much_noise_leaves_every_action_a_prior():
    (_, _, most) = OPTIONS["prior_noise"]
    for seed in range(20):
        found = run(state_of(MIDGAME), iterations=200, seed=seed, prior_noise=most, num_candidates=50)
        assert all(0 < candidate["prior"] <= 1 for candidate in found["candidates"])


# What is learnt of actions


def test_without_priors_nothing_is_learnt_of_actions():
    state = nim([5, 5, 5], plies=3)
    first, second = (run(state, iterations=300, history=history) for history in (0, 50))
    assert first | {"seconds": 0} == second | {"seconds": 0}


@pytest.mark.slow
@pytest.mark.parametrize("position", [MIDGAME, HIDDEN, OPEN_COATL])
def test_what_is_learnt_of_actions_corrects_their_priors(position):
    priors = []
    for history in (0, 30):
        result = run(state_of(position), iterations=3000, num_candidates=2000, history=history)
        priors.append({tuple(entry["actions"]): entry["prior"] for entry in result["candidates"]})
    again = run(state_of(position), iterations=3000, num_candidates=2000, history=30)
    assert result | {"seconds": 0} == again | {"seconds": 0}
    plain, corrected = priors
    ratios = [corrected[turn] / plain[turn] for turn in plain.keys() & corrected.keys()]
    assert min(ratios) < 0.5
    assert max(ratios) > 2


@pytest.mark.parametrize("advantage", [-1.0, -0.25, 1.0])
@pytest.mark.parametrize("descents", [1, 1000, 3_000_000, 2**28 + 1])
def test_what_is_learnt_of_an_action_stays_however_often_it_is_played(descents, advantage):
    assert learnt_advantage(advantage, descents) == advantage


def test_many_threads_learn_of_actions_together():
    # `run` looks for actions with two edges, too: each thread may widen a node in an order of its own.
    for seed in range(4):
        run(state_of(MIDGAME), iterations=4000, threads=4, seed=seed, history=50, history_doubt=0)


def test_what_is_learnt_leaves_every_action_a_prior():
    most = {name: OPTIONS[name][2] for name in ("history", "prior_noise")}
    for threads in (1, 4):
        options = most | {"history_doubt": 0, "threads": threads, "num_candidates": 500}
        found = run(state_of(MIDGAME), iterations=2000, **options)
        assert all(0 < candidate["prior"] <= 1 for candidate in found["candidates"])


# Random events


def coatl_values(seeds, position=OPEN_COATL, *, iterations=600, **options):
    """The share of the win that each search expects of its best turn."""
    found = (run(state_of(position), iterations=iterations, seed=seed, **options) for seed in seeds)
    return [result["candidates"][0]["value"][0] for result in found]


@pytest.mark.slow
def test_random_events_happen_as_often_as_they_are_likely():
    # So many different ones that hardly any happens twice: only the luck of the draw makes a difference.
    anew = coatl_values(range(40), events_factor=0)
    again = coatl_values(range(40), events_factor=1000, events_exponent=1)
    error = (statistics.variance(anew) + statistics.variance(again)) ** 0.5 / 40**0.5
    assert abs(statistics.mean(anew) - statistics.mean(again)) < 4 * error
    assert again != anew


@pytest.mark.slow
def test_few_random_events_are_a_small_sample():
    # By the hand-made estimate: with other weights other things matter in a position.
    spec = registry.get("coatl").learning.weights
    weights = spec.estimate()
    # Whoever takes the last pair of bodies refills all spaces from the bag.
    fields = mexica_ai.new_game("coatl", players=2, seed=1).to_json()
    fields |= {"phase": "turn", "pending": "", "round": 5, "deck": 42}
    fields["display"] = ["P05", "P06", "P07", "P08", "P09", "P11"]
    fields["supply"]["bodies"] = ["KK"]
    for seat, hand in zip(fields["seats"], (["P00", "P02", "P04"], ["P01", "P03", "P10"]), strict=True):
        seat["hand"] = hand
    # A single event in each node: whether it is a lucky one, the seed decides.
    single, many = (
        coatl_values(range(20), fields, iterations=2000, weights=weights, events_factor=factor, events_exponent=0)
        for factor in (0.5, 1000)
    )
    assert statistics.stdev(single) > 1.5 * statistics.stdev(many)


@pytest.mark.parametrize("options", [{"events_factor": 0}, {"events_factor": 1}, {"prior_noise": 1}])
def test_the_turns_before_the_root_make_no_difference(options):
    position = mexica_ai.new_game("coatl", seed=5)
    while position.state.turn < 12:
        if position.is_chance:
            position.draw(seed=position.state.turn)
        else:
            position.push(mexica_ai.best_turn(position, iterations=20, seed=1).turn)
    while position.is_chance:
        position.draw(seed=1)
    anew = Position.from_json(position.to_json())
    assert anew.state.turn != position.state.turn
    first, second = (run(each.state, iterations=2000, **options) for each in (position, anew))
    assert first | {"seconds": 0} == second | {"seconds": 0}


def test_a_game_sets_defaults_and_whoever_asks_overrules_them():
    set_by_game = state_of(COATL).game.search_options
    assert set_by_game
    default, same, other = (
        run(state_of(COATL), iterations=1000, **options) | {"seconds": 0}
        for options in ({}, set_by_game, {name: OPTIONS[name][0] for name in set_by_game})
    )
    assert default == same != other
    assert state_of(MIDGAME).game.search_options == {}


# Errors


@pytest.mark.parametrize("name", OPTIONS)
def test_options_have_a_range(name):
    default, low, high = OPTIONS[name]
    state = nim([5, 5, 5])
    assert low <= default <= high
    for value in (low, high, default):
        assert run(state, iterations=20, **{name: value})["iterations"] == 20
    for value in (low - 0.001, high + 1, float("nan"), float("inf"), -float("inf")):
        with pytest.raises(SearchError) as error:
            Search(state, seed=1, **{name: value})
        assert error.value.reason == "INVALID_OPTION"
        assert name in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"seed": -1}, "INVALID_SEED"),
        ({"seed": 2**63}, "INVALID_SEED"),
        ({"seed": None}, "INVALID_SEED"),
        ({"depth": 3}, "UNKNOWN_OPTION"),
        ({"threads": 0}, "INVALID_LIMITS"),
        ({"threads": 257}, "INVALID_LIMITS"),
        ({"memory_mb": 0}, "INVALID_LIMITS"),
        ({"memory_mb": float("nan")}, "INVALID_LIMITS"),
    ],
)
def test_bad_arguments_are_refused(arguments, reason):
    with pytest.raises(SearchError) as error:
        Search(nim([1, 2]), **({"seed": 1} | arguments))
    assert error.value.reason == reason


@pytest.mark.parametrize(
    "limits",
    [{"time_s": 0}, {"time_s": -1}, {"time_s": float("nan")}, {"time_s": 1e8 + 1}, {"iterations": 0},
     {"time_s": float("inf")}, {"iterations": -5}, {"iterations": 2**63}],
)  # fmt: skip
def test_bad_limits_are_refused_and_leave_the_search_usable(limits):
    search = Search(nim([1, 2]), seed=1)
    with pytest.raises(SearchError) as error:
        search.run(**limits)
    assert error.value.reason == "INVALID_LIMITS"
    search.run(iterations=10)
    with pytest.raises(SearchError):
        search.result(0)
    assert search.result()["iterations"] == 10


def test_a_search_runs_once():
    search = Search(nim([1, 2]), seed=1)
    search.run(iterations=5)
    with pytest.raises(SearchError) as error:
        search.run(iterations=5)
    assert error.value.reason == "SEARCH_REUSED"
    assert search.result()["iterations"] == 5


@pytest.mark.parametrize("search_class", [Search, UCT])
def test_one_thread_waits_for_a_search(search_class):
    search = search_class(state_of(MIDGAME), seed=1, memory_mb=64)
    answers = []

    def wait():
        try:
            answers.append(search.wait())
        except SearchError as error:
            answers.append((error.reason, str(error)))
            search.stop()

    search.start(time_s=60)
    threads = [threading.Thread(target=wait) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [("SEARCH_RUNNING", "another thread waits for this search"), True]
    assert search.result()["stop_reason"] == "stopped"


def test_a_finished_game_has_no_turn():
    over = after(nim([1]), nim([1]).legal_actions())
    with pytest.raises(GameOverError) as error:
        Search(over, seed=1)
    assert error.value.reason == "GAME_OVER"


def test_steps_there_and_back_are_not_spelled_out():
    # Whatever the search tried on its way, no single action and no two neighbours of its turn are idle.
    state = state_of(MIDGAME)
    longest = 0
    for candidate in run(state, iterations=3000, num_candidates=30)["candidates"]:
        actions = candidate["actions"]
        end = after(state, actions).hash
        longest = max(longest, len(actions))
        for i in range(len(actions)):
            for j in (i, i + 1):
                kept = actions[:i] + actions[j + 1 :]
                assert not is_legal_turn(state, kept) or after(state, kept).hash != end, candidate
    assert longest > 4


def is_legal_turn(state, actions):
    """Whether the actions can be played one after the other, all in the same turn."""
    now = state.copy()
    for action in actions:
        if now.turn != state.turn or now.is_terminal or action not in now.legal_actions():
            return False
        now.apply(action)
    return True


# The stack of threads

SMALL_STACKS = """
import ctypes, sys
c = ctypes.CDLL(None)
attributes = ctypes.create_string_buffer(256)
assert c.pthread_attr_init(attributes) == 0
assert c.pthread_attr_setstacksize(attributes, ctypes.c_size_t(128 << 10)) == 0
assert c.pthread_setattr_default_np(attributes) == 0
import mexica_ai
from cext.core.search.search import Search
from mexica_ai.game import registry
for game in registry.names():
    state = mexica_ai.new_game(game, players=2, seed=1).state
    search = Search(state, weights=registry.get(game).weights(), threads=2, playout_weight=0.5, memory_mb=4)
    search.run(iterations=100)
    print(game, search.result()["iterations"])
"""


@pytest.mark.real("processes")
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="sets the default size of stacks by a function of glibc")
def test_threads_need_no_large_default_stack():
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-P", "-c", SMALL_STACKS], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [word for game in registry.names() for word in (game, "100")]
