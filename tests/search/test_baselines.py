"""The players that the search must beat: random, greedy, uct, beam; as functions and as engines."""

import functools
import operator
import signal
import threading

import pytest
from mexica_builder import build
from weighed import Beam, evaluate, greedy_turn

import mexica_ai
from cext.core.baselines.simple import random_turn
from cext.core.baselines.uct import UCT
from mexica_ai import GameOverError, Position, SearchError
from mexica_ai.engines import make_engine
from mexica_ai.game import registry
from mexica_ai.games.coatl import planner

OVER = Position.from_json(mexica_ai.new_game("nim", players=2).to_json() | {"piles": [0, 0, 0], "to_move": 1})
MIDGAME = build(3, pillis=["C7", "F9"], canals=["D5-D12"], bridges=["O7 ew"], points=3)
# A few points, so that the slow greedy player is quick; in boats, to be founded, at the end, with 2-4 seats.
POSITIONS = {
    "nim": mexica_ai.new_game("nim", players=3).to_json(),
    "nim, two plies": mexica_ai.new_game("nim", players=2, piles=[2, 2, 1], plies_per_turn=2).to_json(),
    "placement": mexica_ai.new_game(players=4, seed=3).to_json(),
    "midgame": MIDGAME,
    "in a boat": build(2, pillis=["O7", "O9"], bridges=["O7 ew", "O9 ew", "O6 ew"], points=2),
    "can found": build(4, pillis=["C2"], canals=["B3-C3", "D2"], display=[3], points=2),
    "last turn": build(2, pillis=["K7", "G6"], no_tiles=True, built_all=[0], period=2, display=[], to_move=1, points=2),
}


def is_turn(state, actions):
    """Tell whether the actions are one whole turn, no more and no less."""
    state, start = state.copy(), state.turn
    for action in actions:
        if state.turn != start or action not in state.legal_actions():
            return False
        state.apply(action)
    return state.turn != start


def nim(players=2, plies=1, *, piles):
    return mexica_ai.new_game("nim", players=players, piles=piles, plies_per_turn=plies).state


@pytest.fixture(params=POSITIONS)
def state(request):
    return Position.from_json(POSITIONS[request.param]).state


def test_evaluation_is_a_share_of_the_win_and_a_score_per_seat(state):
    values, scores = evaluate(state)
    assert len(values) == len(scores) == state.num_players
    assert all(0 <= value <= 1 for value in values)
    assert sum(values) == pytest.approx(1)


def test_evaluation_of_a_finished_game_is_its_result():
    assert evaluate(OVER.state) == ([0.0, 1.0], [0.0, 1.0])


# random


def test_random_turns_are_whole_turns_and_repeat_by_seed(state):
    before = state.copy()
    for seed in range(20):
        turn = random_turn(state, seed)
        assert is_turn(state, turn)
        assert random_turn(state, seed) == turn
    assert state == before
    assert len({tuple(random_turn(state, seed)) for seed in range(20)}) > 1


# greedy


def slow_greedy_turn(state):
    """The definition: the best action by `evaluate` after it, until ending is at least as good."""
    state, start, seat, turn = state.copy(), state.turn, state.current_player, []
    while state.turn == start:
        best_end = best_other = None
        for action in state.legal_actions():  # canonical order: the first of equals wins
            after = state.copy()
            after.apply(action)
            value = evaluate(after)[0][seat]
            if after.turn != start:
                if best_end is None or value > best_end[0]:
                    best_end = value, action
            elif best_other is None or value > best_other[0]:
                best_other = value, action
        ends = best_other is None or (best_end is not None and best_end[0] >= best_other[0])
        turn.append((best_end if ends else best_other)[1])
        state.apply(turn[-1])
    return turn


def test_greedy_turns_are_those_of_the_definition(state):
    before = state.copy()
    turn = greedy_turn(state)
    assert is_turn(state, turn)
    assert turn == slow_greedy_turn(state)
    assert state == before


# uct


@pytest.mark.parametrize(
    ("piles", "plies", "players"),
    [([5], 1, 2), ([1, 2], 1, 2), ([3, 3, 2], 1, 2), ([1, 3, 4], 1, 2), ([2, 2], 2, 2), ([1, 1, 3], 3, 3)],
)
def test_uct_wins_nim(piles, plies, players):
    state = nim(players, plies, piles=piles)
    search = UCT(state, seed=1)
    search.run(iterations=20_000)
    for action in search.result()["candidates"][0]["actions"]:
        state.apply(action)
    # Wins at once, or leaves piles of nim-sum 0.
    if not state.is_terminal:
        piles = Position("nim", state).to_json()["piles"]
        assert plies == 1
        assert functools.reduce(operator.xor, piles) == 0
    else:
        assert state.returns()[0] == 1


def test_uct_answers_in_the_form_of_the_search(state):
    search = UCT(state, seed=4)
    search.run(iterations=200)
    result = search.result()
    (candidate,) = result.pop("candidates")
    assert is_turn(state, candidate.pop("actions"))
    assert sum(candidate["value"]) == pytest.approx(1)
    assert len(candidate["value"]) == len(candidate["expected_scores"]) == state.num_players
    assert sorted(candidate) == ["expected_scores", "line", "prior", "value", "visits"]
    assert sorted(result) == [
        "distinct_turns", "first_actions", "iterations", "memory_bytes", "nodes", "seconds", "seed", "stop_reason",
        "threads",
    ]  # fmt: skip
    assert result["seed"] == 4
    assert result["nodes"] >= 1


def test_uct_repeats_by_seed_and_iterations():
    state = Position.from_json(MIDGAME).state
    results = []
    for seed in (1, 1, 2):
        search = UCT(state, seed=seed)
        search.run(iterations=300)
        results.append(search.result() | {"seconds": 0, "seed": 0})
    assert results[0] == results[1]
    assert results[0] != results[2]


def test_uct_keeps_its_limits():
    state = Position.from_json(MIDGAME).state
    search = UCT(state, seed=1)
    search.run(iterations=500)
    result = search.result()
    assert result["stop_reason"] == "iterations"
    assert 333 <= result["iterations"] <= 500

    search = UCT(state, seed=1)
    search.run(time_s=0.05)
    assert search.result()["stop_reason"] == "time"
    assert search.result()["seconds"] < 10


@pytest.mark.parametrize("iterations", range(1, 21))
def test_uct_answers_with_few_iterations(iterations):
    for position in POSITIONS.values():
        state = Position.from_json(position).state
        search = UCT(state, seed=1)
        search.run(iterations=iterations)
        result = search.result()
        assert 1 <= result["iterations"] <= iterations
        assert is_turn(state, result["candidates"][0]["actions"])
        assert sum(result["candidates"][0]["value"]) == pytest.approx(1)


def test_uct_spends_all_on_a_single_decision():
    search = UCT(nim(piles=[2, 3]), seed=1)
    search.run(iterations=1000)
    assert search.result()["iterations"] == 1000


def test_uct_goes_on_with_a_full_tree():
    # Each placement is one decision; a turn of nim of three decisions begins each of them with room.
    for state in (nim(2, 3, piles=[9, 9, 9, 9, 9]), nim(piles=[20, 20, 20])):
        search = UCT(state, seed=1, memory_mb=1)
        search.run(iterations=50_000)
        result = search.result()
        assert 30_000 < result["iterations"] <= 50_000
        assert 0 < result["memory_bytes"] <= 1024 * 1024
        assert is_turn(state, result["candidates"][0]["actions"])
        assert sum(result["candidates"][0]["value"]) == pytest.approx(1)


def test_uct_recognizes_a_forced_turn():
    for state in (nim(piles=[1]), nim(3, 3, piles=[0, 1]), Position.from_json(build(2, points=0)).state):
        for limits in ({"time_s": 60}, {"iterations": 1}, {"iterations": 1000}):
            search = UCT(state, seed=1)
            search.run(**limits)
            result = search.result()
            assert result["stop_reason"] == "forced"
            assert result["iterations"] == 1
            assert is_turn(state, result["candidates"][0]["actions"])
            assert sum(result["candidates"][0]["value"]) == pytest.approx(1)


def test_uct_stops():
    state = Position.from_json(MIDGAME).state
    search = UCT(state, seed=1)
    search.stop()
    search.run(time_s=60)
    result = search.result()
    assert result["stop_reason"] == "stopped"
    assert result["iterations"] == 1
    assert is_turn(state, result["candidates"][0]["actions"])


def test_an_interrupt_ends_uct_and_leaves_its_turn():
    def interrupt(*_):
        raise KeyboardInterrupt

    state = Position.from_json(MIDGAME).state
    search = UCT(state, seed=1)
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            search.run(time_s=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    result = search.result()
    assert result["stop_reason"] == "stopped"
    assert result["seconds"] < 10
    assert result["iterations"] > 1
    assert is_turn(state, result["candidates"][0]["actions"])


def test_uct_refuses():
    state = nim(piles=[1, 2])
    with pytest.raises(SearchError):
        UCT(state, seed=1).run()
    for limits in ({"time_s": 0}, {"time_s": -1}, {"time_s": float("nan")}, {"iterations": 0}):
        with pytest.raises(SearchError):
            UCT(state, seed=1).run(**limits)
    with pytest.raises(SearchError):
        UCT(state, seed=1, threads=2)
    search = UCT(state, seed=1)
    search.run(iterations=5)
    with pytest.raises(SearchError):
        search.run(iterations=5)
    with pytest.raises(SearchError):
        UCT(state, seed=1, memory_mb=0)
    for exploration in (-0.1, float("nan"), float("inf")):
        with pytest.raises(SearchError, match=r"exploration: .*, expected a finite number of at least 0"):
            UCT(state, seed=1, exploration=exploration)
    with pytest.raises(SearchError):
        UCT(state, seed=1).result()
    for seed in (-1, 2**63, None):
        with pytest.raises(SearchError) as error:
            UCT(state, seed=seed)
        assert error.value.reason == "INVALID_SEED"


# all of them


@pytest.mark.parametrize("play", [lambda state: random_turn(state, 1), greedy_turn, UCT])
def test_a_finished_game_has_no_turn(play):
    with pytest.raises(GameOverError) as error:
        play(OVER.state)
    assert error.value.reason == "GAME_OVER"


@pytest.mark.parametrize(
    ("spec", "stop_reason"),
    [("random", "settled"), ("greedy", "settled"), ("uct,iterations=200", "iterations")],
)
@pytest.mark.parametrize("name", ["nim", "midgame", "last turn"])
def test_engines(spec, stop_reason, name):
    position = Position.from_json(POSITIONS[name])
    before = position.copy()
    with make_engine(spec) as engine:
        result = engine.best_turn(position, seed=5)
        assert position == before
        assert result.seed == 5
        assert result.stop_reason == stop_reason
        assert result.turn == result.candidates[0].turn
        assert sum(result.value) == pytest.approx(1)
        assert len(result.expected_scores) == position.players
        assert engine.best_turn(position, seed=5).turn == result.turn
        stop = mexica_ai.Stop()
        stop.set()
        position.copy().push(engine.best_turn(position, seed=5, stop=stop).turn)
    position.push(result.turn)
    assert position.to_move != before.to_move
    with pytest.raises(GameOverError):
        engine.best_turn(OVER)


def test_engines_play_as_the_functions_do():
    position = Position.from_json(MIDGAME)
    format_action = mexica_ai.game.registry.get("mexica").text.format_action
    uct = UCT(position.state, seed=9)
    uct.run(iterations=150)
    expected = {
        "random": random_turn(position.state, 9),
        "greedy": greedy_turn(position.state),
        "uct,iterations=150": uct.result()["candidates"][0]["actions"],
    }
    for spec, actions in expected.items():
        with make_engine(spec) as engine:
            assert engine.best_turn(position, seed=9).turn == list(map(format_action, actions))


def test_an_analysis_by_a_baseline_ends_with_its_result():
    position = Position.from_json(MIDGAME)
    for spec in ("random", "greedy", "uct,iterations=400"):
        with make_engine(spec) as engine:
            *partial, last = engine.analyze(position, seed=2, interval_s=0.001)
            assert last.stop_reason
            assert not any(result.stop_reason for result in partial)
            position.copy().push(last.turn)


# beam


def run_beam(state, *, time_s=None, iterations=None, candidates=1, **options):
    search = Beam(state, **{"seed": 1, **options})
    search.run(time_s=time_s, iterations=iterations)
    return search.result(candidates)


def test_beam_answers_in_the_form_of_the_search(state):
    before = state.copy()
    result = run_beam(state, iterations=100, candidates=3)
    for candidate in result.pop("candidates"):
        assert is_turn(state, candidate.pop("actions"))
        assert sum(candidate["value"]) == pytest.approx(1)
        assert len(candidate["value"]) == len(candidate["expected_scores"]) == state.num_players
        assert sorted(candidate) == ["expected_scores", "line", "prior", "value", "visits"]
    assert sorted(result) == [
        "distinct_turns", "first_actions", "iterations", "memory_bytes", "nodes", "seconds", "seed", "stop_reason",
        "threads",
    ]  # fmt: skip
    assert state == before


def every_end(state):
    """The evaluation of every end of the turn, for the seat to move, by the hash of the state."""
    found, seat = {}, state.current_player

    def walk(now):
        for action in now.legal_actions():
            after = now.copy()
            after.apply(action)
            if after.turn != state.turn:
                found[after.hash] = evaluate(after)[0][seat]
            else:
                walk(after)

    walk(state)
    return found


@pytest.mark.parametrize(("piles", "plies"), [([1, 2], 1), ([2, 2, 3], 2), ([3, 1, 2], 3), ([2], 3)])
def test_a_wide_beam_finds_the_best_of_all_turns(piles, plies):
    state = nim(2, plies, piles=piles)
    ends = every_end(state)
    result = run_beam(state, width=1000, candidates=len(ends))
    assert result["stop_reason"] in ("settled", "forced")
    assert result["distinct_turns"] == len(ends)
    values = [candidate["value"][0] for candidate in result["candidates"]]
    assert values == sorted(ends.values(), reverse=True)


def test_beam_is_at_least_as_good_as_greedy_by_its_own_measure(state):
    seat = state.current_player
    after = state.copy()
    for action in greedy_turn(state):
        after.apply(action)
    assert run_beam(state, width=100)["candidates"][0]["value"][seat] >= evaluate(after)[0][seat] - 0.02


def test_beam_repeats_by_seed():
    state = Position.from_json(MIDGAME).state
    first, again = (run_beam(state, iterations=80, seed=5) | {"seconds": 0} for _ in range(2))
    assert first == again
    # Only the seed chooses between turns of equal value.
    ties = nim(2, 1, piles=[5, 5])
    assert len({tuple(run_beam(ties, seed=seed)["candidates"][0]["actions"]) for seed in range(20)}) > 1


def test_beam_keeps_its_limits():
    state = Position.from_json(MIDGAME).state
    result = run_beam(state, iterations=50)
    assert (result["stop_reason"], result["iterations"]) == ("iterations", 50)
    result = run_beam(state, time_s=0.05, width=100_000)
    assert result["stop_reason"] == "time"
    assert result["seconds"] < 10
    result = run_beam(state, memory_mb=1, width=100_000)
    assert result["stop_reason"] == "memory"
    assert is_turn(state, result["candidates"][0]["actions"])
    for iterations in range(1, 10):
        for position in POSITIONS.values():
            state = Position.from_json(position).state
            result = run_beam(state, iterations=iterations)
            assert is_turn(state, result["candidates"][0]["actions"])
            assert result["iterations"] <= iterations
    assert run_beam(nim(piles=[1]))["stop_reason"] == "forced"
    # Too short for anything.
    assert is_turn(state, run_beam(state, time_s=1e-9)["candidates"][0]["actions"])


@pytest.mark.parametrize("iterations", range(1, 14))
def test_beam_keeps_its_best_when_the_limit_falls_between_two_depths(iterations):
    # Of three plies: nothing ends the turn before depth 3, and all values are equal, so that the seed chooses
    # among them. The policy, which goes on from the root if nothing is known, always plays the same.
    state = mexica_ai.new_game("nim", plies_per_turn=3).state
    turns = [run_beam(state, iterations=iterations, seed=seed)["candidates"][0]["actions"] for seed in range(10)]
    assert all(is_turn(state, turn) for turn in turns)
    assert len(set(map(tuple, turns))) > 3


def test_beam_reports_all_its_memory():
    narrow, wide = (run_beam(nim(2, 2, piles=[2, 2, 3]), width=width)["memory_bytes"] for width in (1, 100_000))
    assert wide - narrow > 99_999 * 1024  # two states and 64 steps of 16 bytes for each
    assert narrow > 65_536 * 40


def test_beam_stops_when_asked():
    state = Position.from_json(MIDGAME).state
    search = Beam(state, width=100_000, memory_mb=4096)
    timer = threading.Timer(0.1, search.stop)
    timer.start()
    search.run()
    result = search.result()
    timer.join()
    assert result["stop_reason"] == "stopped"
    assert result["seconds"] < 10
    assert is_turn(state, result["candidates"][0]["actions"])


def test_beam_refuses_what_makes_no_sense():
    for options in ({"width": 0}, {"width": 100_001}, {"threads": 2}, {"memory_mb": 0}):
        with pytest.raises(SearchError):
            Beam(nim(piles=[3, 4]), **options)
    with pytest.raises(GameOverError):
        Beam(OVER.state)
    search = Beam(nim(piles=[3, 4]))
    with pytest.raises(SearchError):
        search.result()
    with pytest.raises(SearchError):
        search.run(time_s=0)
    search.run()
    with pytest.raises(SearchError):
        search.run()


# planner


@pytest.fixture(scope="module")
def coatl_turns():
    """Return the state of each turn of a game of Coatl between planners of two tempers, and its end."""
    engines = [make_engine(f"planner,temper={temper}") for temper in (0, 3)]
    position, states = mexica_ai.new_game("coatl", players=2, seed=5), []
    while not position.is_over:
        if position.is_chance:
            position.draw(len(states))
            continue
        states.append(position.state.copy())
        position.push(engines[position.to_move].best_turn(position, seed=1).turn)
    return states, position


def test_planners_play_whole_turns_and_repeat(coatl_turns):
    weights = registry.get("coatl").weights()
    states, end = coatl_turns
    assert max(end.scores) > 15
    assert len(states) < 120
    for state in states[::4]:
        before = state.copy()
        turns = [planner.plan_turn(state, weights, temper) for temper in range(3)]
        assert all(is_turn(state, turn) for turn in turns)
        assert planner.plan_turn(state, weights, 2) == turns[2]
        assert state == before


def test_tempers_differ(coatl_turns):
    weights = registry.get("coatl").weights()
    states, _ = coatl_turns
    chosen = [[planner.plan_turn(state, weights, temper) for state in states[::4]] for temper in range(4)]
    assert len({str(turns) for turns in chosen}) == 4
    assert planner.temper_of(0) == planner.Temper()


def test_a_planner_takes_the_turn_with_most_points_for_itself(coatl_turns):
    # Within a game's last turn only what counts at the end is left; there the planner finds the most points.
    weights = registry.get("coatl").weights()
    states, _ = coatl_turns
    last = states[-1]
    seat, best = last.current_player, 0.0
    for turn in (planner.plan_turn(last, weights, 0), greedy_turn(last), random_turn(last, 1)):
        after = last.copy()
        for action in turn:
            after.apply(action)
        points = after.scores()[seat]
        best = best or points
        assert points <= best


def test_games_without_a_planner_say_so():
    with pytest.raises(SearchError, match="nim has no planner") as refused, make_engine("planner") as engine:
        engine.best_turn(mexica_ai.new_game("nim"))
    assert refused.value.reason == "INVALID_GAME"
