"""Levels of play: what they limit, and how they choose."""

import dataclasses
import json

import pytest
from searching import run_search

import mexica_ai as ai
from cext.core.search.search import Search
from mexica_ai.analysis import levels
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Candidate, Result
from mexica_ai.cli.main import main
from mexica_ai.engines import make_engine
from mexica_ai.game import registry
from mexica_ai.io.errors import NotationError, SearchError


@pytest.fixture
def position():
    return ai.load("examples/mexica_midgame.json")


def result(*values, seed=1, visits=(10, 9, 8, 7, 6)):
    """Return a result of a two-seat game with these shares of seat 0 for its candidates."""
    candidates = [
        Candidate([f"turn {i}"], visits[i], [value, 1 - value], [50.0, 50.0], 0.1, []) for i, value in enumerate(values)
    ]
    return Result(candidates, 10, 10, 3, 0.1, "iterations", seed)


@pytest.mark.parametrize("game", registry.names())
def test_there_are_ten_and_each_is_stronger_than_the_one_below(game):
    assert list(levels.LEVELS) == list(range(1, 11))
    for lower, higher in zip(range(1, 9), range(2, 10), strict=True):
        assert levels.LEVELS[lower].iterations < levels.LEVELS[higher].iterations
        low, high = levels.of(lower, game), levels.of(higher, game)
        assert low.prior_noise >= high.prior_noise
        if low.prior_noise == high.prior_noise:  # with less noise a level finds better turns, so it may err more
            assert low.deviation >= high.deviation
    assert levels.of(10, game) == levels.LEVELS[10] == levels.Level(None, 0.0)


def test_the_highest_level_is_the_default_engine(position):
    default = ai.best_turn(position, iterations=400, seed=3)
    highest = ai.best_turn(position, iterations=400, seed=3, level=10)
    assert dataclasses.replace(highest, seconds=0) == dataclasses.replace(default, seconds=0)
    assert levels.choose(10, "mexica", result(0.5, 0.6), 0, 5) == result(0.5, 0.6)


@pytest.mark.parametrize("level", range(1, 10))
def test_a_level_is_reproducible_and_limited(position, level):
    most = levels.LEVELS[level].iterations
    first, second = (ai.best_turn(position, time_s=20, seed=5, level=level) for _ in range(2))
    assert first.iterations == second.iterations == most
    assert first.stop_reason == "iterations"
    assert first.turn == second.turn == first.candidates[0].turn
    assert ai.best_turn(position, iterations=8, seed=5, level=level).iterations == 8
    position.push(first.turn)


def test_a_level_wavers_among_turns_that_are_nearly_as_good_only():
    deviation = levels.of(1, "mexica").deviation
    chosen = set()
    for seed in range(300):
        values = (0.5, 0.5 - deviation / 2, 0.5 - 2.01 * deviation, 0.5 - 1.9 * deviation, 0.9)
        played = levels.choose(1, "mexica", result(*values, seed=seed), 0, 2)
        assert len(played.candidates) == 2
        assert played.turn == played.candidates[0].turn
        assert played.value == played.candidates[0].value
        chosen.add(played.turn[0])
    assert "turn 2" not in chosen
    assert {"turn 0", "turn 1", "turn 4"} <= chosen


def test_a_turn_that_was_hardly_looked_at_is_not_played():
    for seed in range(50):
        assert levels.choose(1, "mexica", result(0.5, 0.9, seed=seed, visits=(100, 4)), 0, 5).turn == ["turn 0"]
    results = (result(0.5, 0.9, seed=seed, visits=(100, 5)) for seed in range(50))
    assert {levels.choose(1, "mexica", each, 0, 5).turn[0] for each in results} == {"turn 0", "turn 1"}


def test_low_levels_err_on_priors(position):
    given = []

    def make(state, **options):
        given.append(options.get("prior_noise"))
        return Search(state, **options)

    for level in (1, 5, 7, 10):
        run_search(position, Limits(iterations=5), seed=1, level=level, search_class=make)
    assert given == [levels.of(1, "mexica").prior_noise, levels.of(5, "mexica").prior_noise, None, None]


def test_only_the_highest_level_learns_of_actions(position):
    given = []

    def make(state, **options):
        given.append(options.get("history"))
        return Search(state, **options)

    for level in range(1, 11):
        run_search(position, Limits(iterations=5), seed=1, level=level, search_class=make)
    assert given == [0.0] * 9 + [None]


def test_the_options_of_a_spec_come_before_those_of_its_level(position):
    most = levels.LEVELS[1].iterations
    plain = ",".join(["mcts", *(f"{name}={value}" for name, value in levels.NARROW.items())])
    with make_engine(plain) as engine:
        default = engine.best_turn(position, Limits(iterations=most), seed=1, candidates=levels.MAX_CHOICES)
    with make_engine("mcts,level=1,prior_noise=0") as engine:
        same = engine.best_turn(position, Limits(time_s=20), seed=1, candidates=levels.MAX_CHOICES)
    with make_engine("mcts,level=1") as engine:
        other = engine.best_turn(position, Limits(time_s=20), seed=1, candidates=levels.MAX_CHOICES)
    found = [sorted(each.turn for each in result_.candidates) for result_ in (default, same, other)]
    assert found[0] == found[1] != found[2]


def test_the_share_of_the_seat_to_move_counts():
    found = result(0.5, 0.2)  # for seat 1: 0.5 and 0.8
    for seat, expected in ((0, {"turn 0"}), (1, {"turn 0", "turn 1"})):
        results = (dataclasses.replace(found, seed=seed) for seed in range(50))
        assert {levels.choose(9, "mexica", each, seat, 5).turn[0] for each in results} == expected


@pytest.mark.parametrize("level", [0, 11, -1, 2.0, True, "3", None])
def test_other_levels_are_refused(position, level):
    with pytest.raises(SearchError, match="expected an integer from 1 to 10"):
        ai.best_turn(position, iterations=10, level=level)
    with pytest.raises(SearchError, match="expected an integer from 1 to 10"):
        ai.analyze(position, iterations=10, level=level)


def test_engines_have_levels(position):
    with make_engine("mcts,level=2") as engine:
        found = engine.best_turn(position, Limits(time_s=20), seed=1)
        assert found.iterations == levels.LEVELS[2].iterations
        *_, watched = engine.analyze(position, Limits(time_s=20), seed=1)
        assert watched.turn == found.turn
    with make_engine("mcts", level=3, time=20) as engine:
        assert engine.best_turn(position, seed=1).iterations == levels.LEVELS[3].iterations
    with make_engine("mcts,level=4", level=3, time=20) as engine:
        assert engine.best_turn(position, seed=1).iterations == levels.LEVELS[4].iterations
    with pytest.raises(NotationError, match="level=11 is not a whole number from 1 to 10"):
        make_engine("mcts,level=11")
    with pytest.raises(NotationError, match="unknown key 'level' for uct"):
        make_engine("uct,level=1")


@pytest.mark.slow
def test_the_turn_does_not_depend_on_how_many_candidates_are_listed(position):
    for seed in range(10):
        few, many = (ai.best_turn(position, time_s=20, seed=seed, level=8, candidates=n) for n in (3, 40))
        assert few.turn == many.turn


@pytest.mark.parametrize("command", ["best", "analyze"])
def test_the_command_line_has_levels(command, capsys):
    options = ["examples/mexica_midgame.json", "--level", "1", "--time", "20", "--json"]
    assert main([command, *options]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["iterations"] == levels.LEVELS[1].iterations
    assert main([command, *options, "--engine", "greedy"]) == 2
    assert "--level: the engine greedy has no levels" in capsys.readouterr().err
