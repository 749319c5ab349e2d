"""Positions: dealing, playing turns whole or not at all, comparing, and the exceptions on the way."""

import copy
import pickle
import signal
import threading
from collections import Counter

import pytest
from mexica_builder import build
from searching import run_search

import mexica_ai as ai
from mexica_ai import GameOverError, IllegalActionError, NotationError, Position, PositionError
from mexica_ai.games.mexica import board
from mexica_ai.games.mexica.board import format_space, parse_space
from mexica_ai.io import strict


def opening(players=3, seed=7):
    """Return a game after its placement."""
    position = ai.new_game("mexica", players=players, seed=seed)
    for space in ("H6", "G7", "I7", "H8")[:players]:
        position.push(f"place {space}")
    return position


# --- dealing


def test_a_new_game_is_the_setup_of_the_rulebook():
    data = ai.new_game("mexica", players=4, seed=1).to_json()
    assert data["phase"] == "placement"
    assert data["canals"] == ["O6", "O7", "O8", "O9"]
    assert data["canal_tiles"] == {"single": 6, "double": 35}
    assert data["temples"] == data["bridges"] == []
    calpulli = data["calpulli"]
    assert len(calpulli["display"]) == 8
    assert tuple(sorted(calpulli["display"] + calpulli["upcoming"])) == board.STANDARD_POOL
    assert all(seat == {"score": 0, "action_tokens": 0, "pilli": "", "temples": [3, 3, 2, 1]} for seat in data["seats"])


def test_two_seats_get_neutral_temples_as_d1_says():
    for seed in range(20):
        temples = ai.new_game("mexica", players=2, seed=seed).to_json()["temples"]
        assert Counter(temple["level"] for temple in temples) == {1: 4, 2: 3, 3: 2, 4: 1}
        cells = [parse_space(temple["at"]) for temple in temples]
        for index, cell in enumerate(cells):
            assert cell not in board.PALACE
            assert cell not in board.PRINTED_CANALS
            assert all(beside in board.LAND for beside in board.neighbours(cell)), format_space(cell)
            assert all(board.distance(cell, other) >= 5 for other in cells[:index])


def test_the_seed_decides_the_deal():
    assert ai.new_game("mexica", seed=5) == ai.new_game("mexica", seed=5)
    assert len({ai.new_game("mexica", seed=seed) for seed in range(20)}) == 20
    assert ai.new_game("mexica") != ai.new_game("mexica")


def test_a_larger_pool_is_dealt_into_one_world():
    pool = [*board.STANDARD_POOL, 13, 13, 3]
    position = ai.new_game("mexica", players=3, seed=2, pool=pool)
    calpulli = position.to_json()["calpulli"]
    assert (len(calpulli["display"]), len(calpulli["upcoming"])) == (8, 7)
    assert calpulli["pool"] == sorted(pool)
    assert Counter(calpulli["display"] + calpulli["upcoming"]) <= Counter(pool)
    assert position.has_one_world


def test_neutral_levels_are_an_option():
    temples = ai.new_game("mexica", seed=4, neutral_levels=[4, 4, 4]).to_json()["temples"]
    assert [(temple["seat"], temple["level"]) for temple in temples] == [(-1, 4)] * 3
    assert ai.new_game("mexica", seed=4, neutral_levels=[]).to_json()["temples"] == []


@pytest.mark.parametrize(
    ("options", "error", "path", "reason"),
    [
        ({"players": 1}, PositionError, "options.players", "OUT_OF_RANGE"),
        ({"players": 5}, PositionError, "options.players", "OUT_OF_RANGE"),
        ({"players": "2"}, NotationError, "options.players", "WRONG_TYPE"),
        ({"pool": [3] * 14}, PositionError, "options.pool", "POOL_SIZE"),
        ({"pool": [3] * 256}, PositionError, "options.pool", "POOL_SIZE"),
        ({"pool": [2] * 15}, PositionError, "options.pool[0]", "OUT_OF_RANGE"),
        ({"pool": 15}, NotationError, "options.pool", "WRONG_TYPE"),
        ({"neutral_levels": [5]}, PositionError, "options.neutral_levels[0]", "OUT_OF_RANGE"),
        ({"neutral_levels": [1] * 41}, PositionError, "options.neutral_levels", "NEUTRAL_TEMPLES"),
        ({"neutral_levels": [1] * 40}, PositionError, "options.neutral_levels", "NO_ROOM"),
        ({"players": 3, "neutral_levels": [1]}, PositionError, "options.neutral_levels", "NEUTRAL_TEMPLES"),
        ({"colour": 1}, NotationError, "options", "UNKNOWN_OPTION"),
        ({"seed": -1}, ai.SearchError, "seed", "INVALID_SEED"),
        ({"seed": 2**63}, ai.SearchError, "seed", "INVALID_SEED"),
        ({"seed": 1.0}, ai.SearchError, "seed", "INVALID_SEED"),
        ({"game": "go"}, ai.UnknownGameError, "", "UNKNOWN_GAME"),
    ],
)
def test_options_are_checked(options, error, path, reason):
    with pytest.raises(error) as caught:
        ai.new_game(**options)
    assert (caught.value.path, caught.value.reason) == (path, reason)


@pytest.mark.parametrize(
    "options",
    [
        {"piles": []},
        {"piles": [1] * 9},
        {"piles": [64]},
        {"piles": [-1]},
        {"piles": [0, 0]},
        {"plies_per_turn": 4},
        {"plies_per_turn": 0},
        {"players": 5},
    ],
)
def test_options_of_nim_are_checked(options):
    with pytest.raises(PositionError):
        ai.new_game("nim", **options)


def test_what_is_expected_of_a_game_without_a_choice():
    findings = strict.Findings()
    assert findings.check_range("options.players", 2, 2, 2)
    assert not findings.check_range("options.players", 3, 2, 2)
    assert findings.violations[0].message == "options.players: 3 is out of range; expected 2"
    strict.check_options("go", [], [])
    with pytest.raises(NotationError, match=r'"size" of go; expected none, for it has no options') as caught:
        strict.check_options("go", ["size"], [])
    assert caught.value.reason == "UNKNOWN_OPTION"


def test_the_board_is_the_one_of_the_compiled_rules():
    data = ai.new_game("mexica", players=3, seed=1).to_json()
    for seat, space in zip(data["seats"], ("H6", "G7", "I7"), strict=True):
        seat["pilli"] = space
    legal = Position.from_json(data | {"phase": "play", "round": 1}).legal_actions()
    single_canals = {action.split()[1] for action in legal if action.startswith("canal") and "-" not in action}
    free = board.LAND - board.PALACE - set(board.PRINTED_CANALS)
    assert single_canals == set(map(format_space, free))


# --- playing


def test_a_turn_is_played_whole():
    position = opening()
    position.push(["canal C5-D5", "walk H5", "end"])
    assert position.to_move == 1
    other = opening()
    other.push("canal C5-D5; walk H5; end")
    assert other == position
    for action in ("canal K5", "end"):
        position.push_action(action)
    assert position.to_move == 2


@pytest.mark.parametrize(
    ("turn", "error", "index", "reason"),
    [
        (["walk H5", "walk A1", "end"], IllegalActionError, 1, "ILLEGAL_ACTION"),
        (["walk H5", "place H8", "end"], IllegalActionError, 1, "ILLEGAL_ACTION"),
        (["walk H5", "canal C5-F5", "end"], IllegalActionError, 1, "ILLEGAL_ACTION"),
        (["walk H5", "walk H4"], IllegalActionError, 1, "TURN_NOT_ENDED"),
        (["end", "end"], IllegalActionError, 1, "TURN_ALREADY_ENDED"),
        (["walk H5", "end", "walk H6"], IllegalActionError, 2, "TURN_ALREADY_ENDED"),
        (["walk H5", "hop H4", "end"], NotationError, 1, "UNKNOWN_VERB"),
        (["walk H5", 7, "end"], NotationError, 1, "WRONG_TYPE"),
        ([], NotationError, None, "WRONG_TYPE"),
        (3, NotationError, None, "WRONG_TYPE"),
        ("", NotationError, 0, "UNKNOWN_VERB"),
        ("walk H5;end", NotationError, 0, "BAD_OPERANDS"),
    ],
)
def test_a_turn_that_fails_changes_nothing(turn, error, index, reason):
    position = opening()
    before = position.copy()
    with pytest.raises(error) as caught:
        position.push(turn)
    assert caught.value.reason == reason
    assert caught.value.action_index == index
    assert position == before
    assert position.to_json() == before.to_json()


def test_an_illegal_action_is_answered_with_legal_ones():
    wanted = '"walk A5" is not legal for seat 0 here: A5 is in the lake; expected walk H5'
    with pytest.raises(IllegalActionError, match=wanted):
        opening().push(["walk A5", "end"])
    with pytest.raises(IllegalActionError, match=r"expected one of canal, bridge, temple"):
        opening().push_action("sail O7")


def test_a_placement_turn_is_one_action():
    position = ai.new_game("mexica", players=2, seed=1)
    with pytest.raises(IllegalActionError) as caught:
        position.push(["place H6", "end"])
    assert caught.value.reason == "TURN_ALREADY_ENDED"
    position.push("place H6")
    assert position.to_move == 1


def test_people_may_agree_to_remove_a_token():
    position = opening()
    display = position.to_json()["calpulli"]["display"]
    assert not any(action.startswith("remove") for action in position.legal_actions())
    position.push([f"remove {display[0]}", "end"])
    calpulli = position.to_json()["calpulli"]
    assert calpulli["display"] == display[1:]
    assert calpulli["removed"] == display[:1]


def last_turn_of_period(period, **changes):
    """Return a position whose last seat ends the period with its next `end`."""
    data = build(3, period=period, display=[], built_all=[0], to_move=2, pillis=["H6", "C9", "D9"], **changes)
    return Position.from_json(data)


def test_the_second_period_cannot_begin_with_unknown_tokens():
    pool = [*board.STANDARD_POOL, 13]
    position = last_turn_of_period(1, pool=pool)
    before = position.copy()
    for push, turn in (
        (position.push, "end"),
        (position.push_action, "end"),
        (position.push, "walk D10; end"),
    ):
        with pytest.raises(PositionError) as caught:
            push(turn)
        assert caught.value.reason == "UPCOMING_UNKNOWN"
        assert position == before
    last_turn_of_period(1, pool=pool, upcoming=[13, 12, 11, 10, 9, 8, 7]).push("end")


def test_a_view_does_not_show_the_tokens_of_the_second_period():
    usual = ai.new_game("mexica", seed=1)
    larger = ai.new_game("mexica", seed=1, pool=[*board.STANDARD_POOL, 13, 13, 3])
    for seat in (0, 1, None):
        assert usual.view(seat) == usual
        assert larger.view(seat).to_json()["calpulli"]["upcoming"] is None


def test_the_end_of_the_game():
    position = last_turn_of_period(2, scores=[10, 50, 30])
    assert position.winners == []
    position.push("end")
    assert position.is_over
    assert position.to_move is None
    assert position.legal_actions() == []
    assert position.winners == [max(range(3), key=position.scores.__getitem__)]
    assert Position.from_json(position.to_json()) == position
    assert "over" in repr(position)
    for ask in (
        lambda: position.push("end"),
        lambda: position.push_action("end"),
        lambda: ai.best_turn(position),
    ):
        with pytest.raises(GameOverError) as caught:
            ask()
        assert caught.value.reason == "GAME_OVER"


def test_ties_share_the_win_unless_action_tokens_decide():
    def winners(action_tokens):
        data = build(
            3,
            period=2,
            display=[],
            scores=[7, 7, 3],
            action_tokens=action_tokens,
            to_move=0,
            points=6,
            built=False,
        )
        return Position.from_json(data | {"phase": "over"}).winners

    assert winners([0, 0, 5]) == [0, 1]
    assert winners([1, 2, 5]) == [1]


def test_nim_is_won_by_the_last_object():
    position = ai.new_game("nim", piles=[2, 1], plies_per_turn=2)
    position.push("take 1 1; take 1 1")
    assert position.to_move == 1
    position.push("take 1 2")
    assert position.is_over
    assert position.winners == [1]
    assert position.scores == [0, 1]


# --- comparing


def test_positions_are_equal_by_content():
    one, other = opening(), opening()
    assert one == other
    assert hash(one) == hash(other)
    one.push("canal C5; canal E5; end")
    other.push("canal E5; canal C5; end")
    assert one == other
    other.push("end")
    assert one != other
    assert one != ai.new_game("nim")
    assert one != "position"
    assert one.copy() == one is not one.copy()


def test_a_copy_is_independent():
    one = opening()
    other = one.copy()
    other.push("end")
    assert one.to_move == 0


def test_errors_survive_pickling():
    with pytest.raises(IllegalActionError) as caught:
        opening().push(["walk H5", "walk A1", "end"])
    error = pickle.loads(pickle.dumps(caught.value))
    assert (str(error), error.reason, error.path, error.action_index) == (
        str(caught.value),
        "ILLEGAL_ACTION",
        "turn[1]",
        1,
    )


# --- searching


def test_best_turn_plays_on():
    position = opening()
    before = copy.copy(position.to_json())
    result = ai.best_turn(position, iterations=200, seed=1, candidates=3)
    assert position.to_json() == before
    assert result.turn == result.candidates[0].turn
    assert result.value == result.candidates[0].value
    assert 1 <= len(result.candidates) <= 3
    assert result.seed == 1
    for candidate in result.candidates:
        followed = position.copy()
        for turn in [candidate.turn, *candidate.line]:
            followed.push(turn)
    assert set(result.to_json()) == {
        "turn",
        "value",
        "expected_scores",
        "candidates",
        "iterations",
        "nodes",
        "distinct_turns",
        "seconds",
        "stop_reason",
        "seed",
        "threads",
        "weights",
        "first_actions",
    }
    assert set(result.to_json()["candidates"][0]) == {
        "turn",
        "visits",
        "value",
        "expected_scores",
        "prior",
        "line",
        "forecast",
        "value_error",
        "expected_scores_error",
    }


@pytest.mark.real("time")
def test_analyze_ends_with_the_one_final_result():
    results = list(ai.analyze(opening(), time_s=0.3, interval_s=0.05, seed=1))
    assert [bool(result.stop_reason) for result in results] == [False] * (len(results) - 1) + [True]
    assert len(results) > 1


def test_ctrl_c_stops_an_analysis():
    threads = set(threading.enumerate())
    main = threading.main_thread().ident
    interrupt = threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        next(ai.analyze(opening(), interval_s=60))
    interrupt.join()
    assert set(threading.enumerate()) <= threads  # those of other tests may just end


def test_a_stop_event_ends_a_search():
    stop = ai.Stop()
    threading.Timer(0.1, stop.set).start()
    result = run_search(opening(), ai.Limits(time_s=60), stop=stop)
    assert result.stop_reason == "stopped"
    assert result.turn


def test_closing_an_analysis_stops_it():
    analysis = ai.analyze(opening(), interval_s=0.05)
    assert next(analysis).stop_reason == ""
    analysis.close()
    with pytest.raises(StopIteration):
        next(analysis)


@pytest.mark.parametrize(
    ("limits", "path"),
    [
        ({"time_s": 0}, "limits.time_s"),
        ({"time_s": -1}, "limits.time_s"),
        ({"time_s": float("nan")}, "limits.time_s"),
        ({"time_s": float("inf")}, "limits.time_s"),
        ({"time_s": "1"}, "limits.time_s"),
        ({"time_s": True}, "limits.time_s"),
        ({"time_s": 10**400}, "limits.time_s"),
        ({"time_s": 1e8 + 1}, "limits.time_s"),
        ({"iterations": 0}, "limits.iterations"),
        ({"iterations": 1.5}, "limits.iterations"),
        ({"iterations": 2**64}, "limits.iterations"),
        ({"threads": 0}, "limits.threads"),
        ({"threads": 10**6}, "limits.threads"),
        ({"memory_mb": 0}, "limits.memory_mb"),
        ({"memory_mb": None}, "limits.memory_mb"),
        ({"candidates": 0}, "candidates"),
        ({"seed": -1}, "seed"),
    ],
)
def test_limits_are_checked(limits, path):
    for ask in (ai.best_turn, ai.analyze):
        with pytest.raises(ai.SearchError) as caught:
            ask(opening(), **limits)
        assert caught.value.path == path
        assert caught.value.reason.startswith("INVALID_")


def test_limits_need_a_time_or_a_number_of_iterations():
    with pytest.raises(ai.SearchError, match="neither time_s nor iterations"):
        ai.Limits()
    assert ai.Limits(unlimited=True).time_s is None
