"""Published shares: what the fitted maps do to those that searches find, and where they apply."""

import dataclasses
import itertools
import json
import math
import random
import re
from pathlib import Path

import pytest

import mexica_ai as ai
from cext.core.baselines.simple import random_turn
from mexica_ai.analysis import calibration
from mexica_ai.analysis.annotate import evaluate_record, seat_turns
from mexica_ai.analysis.calibration import Calibration
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Candidate, Forecast, Result
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.engines import make_engine
from mexica_ai.game import registry
from mexica_ai.game.records import position_at
from mexica_ai.io.errors import NotationError
from mexica_ai.io.numbers import are_shares
from mexica_ai.train.calibration import to_json

MAP = Calibration([(6, 14), (0, 5)], [0.6, 0.7, 0.8, 0.5], [-0.5, -0.7, -0.4, -0.3], [0.8, 0.8, 0.9, 1.1])
FACTS = (8.0, 2.0)
WITH_MAPS = [name for name in registry.names() if registry.get(name).learning.calibration]


def some_shares(players, random_):
    parts = [random_.expovariate(1) for _ in range(players)]
    return [part / sum(parts) for part in parts]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_published_shares_are_shares(players):
    random_ = random.Random(players)
    for _ in range(200):
        found = MAP.shares(some_shares(players, random_), random_.randrange(players), FACTS)
        assert math.fsum(found) == pytest.approx(1, abs=1e-12)
        assert all(0 <= share <= 1 for share in found)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("facts", [(0.0, 0.0), FACTS, (99.0, 99.0)])
def test_a_larger_share_of_the_mover_stays_larger(players, facts):
    random_ = random.Random(players)
    values = sorted((some_shares(players, random_) for _ in range(200)), key=lambda value: value[1])
    for lower, higher in itertools.pairwise(MAP.shares(value, 1, facts) for value in values):
        assert lower[1] <= higher[1]


def test_the_number_of_a_seat_means_nothing():
    value = [0.4, 0.3, 0.2, 0.1]
    found = MAP.shares(value, 0, FACTS)
    for order in itertools.permutations(range(4)):
        moved = MAP.shares([value[seat] for seat in order], order.index(0), FACTS)
        assert moved == pytest.approx([found[seat] for seat in order], abs=1e-12)


@pytest.mark.parametrize("value", [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.5, 0.5], [0.0, 1.0, 0.0, 0.0]])
@pytest.mark.parametrize("seat", [0, 1])
def test_what_is_certain_stays(value, seat):
    found = MAP.shares(value, seat, FACTS)
    assert all(share == found[i] for i, share in enumerate(value) if share in (0, 1))


def test_the_map_by_hand():
    one = Calibration([(6, 10), (0, 2)], [0.5, 0.6, 0.7, 1.1], [-0.4, -0.3, -0.4, -0.3], [1, 1, 1, 1])
    found = one.shares([0.8, 0.2], 0, (8.0, 1.0))  # in the middle
    assert math.log(found[0] / found[1]) == pytest.approx(0.725 * math.log(4) - 0.35)
    found = one.shares([0.8, 0.2], 0, (10.0, 0.5))  # many iterations, a quarter of the way
    assert math.log(found[0] / found[1]) == pytest.approx(0.725 * math.log(4) - 0.3)
    assert one.shares([0.8, 0.2], 0, (2.0, -3.0)) == one.shares([0.8, 0.2], 0, (6.0, 0.0))  # not beyond the ranges
    assert one.shares([0.5, 0.4, 0.1], 0, (6.0, 0.0))[1:] == pytest.approx([0.8 * 0.5987, 0.2 * 0.5987], abs=1e-4)


def test_identity():
    one = Calibration([(6, 6), (0, 0)], *([1] * 4, [0] * 4, [1] * 4))
    assert one.shares([0.1, 0.2, 0.7], 1, (6.0, 0.0)) == pytest.approx([0.1, 0.2, 0.7])


@pytest.mark.parametrize("game", WITH_MAPS)
def test_each_game_has_sound_maps_for_the_weights_that_ship(game, shipped_weights):
    """If this fails after a change of weights or search: `benchmarks/calibration.py` (docs/training.md)."""
    path = registry.get(game).learning.calibration
    weights, maps = calibration.read(path)
    data = json.loads(path.read_text())
    assert data["game"] == game
    assert weights == registry.get(game).weights().version
    assert list(maps) == [2, 3, 4]
    assert re.match(r"python benchmarks/calibration\.py fit ", data["made"]["command"])
    assert sum(setting["games"] for setting in data["made"]["data"]) > 0


@pytest.fixture
def with_map(tmp_path, monkeypatch):
    """Give a game's tests this map, for the weights of the tests."""

    def call(game, one=MAP, weights=None):
        path = tmp_path / f"{game}.json"
        content = to_json(game, weights or registry.get(game).weights().version, dict.fromkeys((2, 3, 4), one), {})
        path.write_text(json.dumps(content))
        learning = dataclasses.replace(registry.get(game).learning, calibration=path)
        monkeypatch.setattr(registry, "get", _Replaced(registry.get, game, learning))
        return path

    calibration._shipped.cache_clear()
    yield call
    calibration._shipped.cache_clear()


class _Replaced:
    def __init__(self, get, name, learning):
        self._get, self._name = get, name
        self._game = dataclasses.replace(get(name), learning=learning)

    def __call__(self, name):
        return self._game if name == self._name else self._get(name)


def raw(run, candidates=5):
    return run.search.result(candidates)["candidates"]


@pytest.mark.parametrize("game", WITH_MAPS)
def test_results_have_published_shares(game, with_map):
    with_map(game)
    position = ai.new_game(game, players=3, seed=1)
    run = SearchRun(position, SearchSettings(Limits(iterations=200), seed=1))
    result = run.result()
    facts = calibration.facts_of(position.state, 200)
    seat = position.to_move
    assert len(result.candidates) > 1
    for candidate, found in zip(result.candidates, raw(run), strict=True):
        assert candidate.value == MAP.shares(found["value"], seat, facts) != found["value"]
        assert candidate.forecast[-1].value == candidate.value
        for point, before in zip(candidate.forecast, found["forecast"], strict=True):
            assert point.value == (MAP.shares(before["value"], seat, facts) if before["visits"] else before["value"])
        assert candidate.expected_scores == found["expected_scores"]


def test_views_of_a_whole_game_are_published(with_map):
    with_map("coatl")
    position, number = ai.new_game("coatl", players=2, seed=2), 0
    while not position.is_over:
        number += 1
        if position.is_chance:
            position.draw(number)
            continue
        result = ai.best_turn(position.view(position.to_move), iterations=30, seed=number, candidates=20)
        assert all(are_shares(candidate.value, 2) for candidate in result.candidates)
        position.push(result.turn)
    assert number > 20


@pytest.mark.parametrize("game", WITH_MAPS)
def test_a_position_is_published_alike_whether_it_was_played_or_read(game):
    random_, position, compared = random.Random(game), ai.new_game(game, players=2, seed=1), 0
    while not position.is_over:
        if position.is_chance:
            position.draw(random_.getrandbits(63))
            continue
        facts = calibration.facts_of(position.state, 100)
        for other in (ai.Position.from_json(position.to_json()), position.view(position.to_move)):
            assert calibration.facts_of(other.state, 100) == facts
        compared += facts[1] > 0
        actions = random_turn(position.state, random_.getrandbits(63))
        position.push([registry.get(game).text.format_action(action) for action in actions])
    assert compared > 20


@pytest.mark.parametrize("game", WITH_MAPS)
def test_a_new_game_is_at_the_early_end_of_its_map(game):
    _, maps = calibration.read(registry.get(game).learning.calibration)
    for players, one in maps.items():
        state = ai.new_game(game, players=players, seed=1).state
        assert state.round == 0
        assert calibration.facts_of(state, 100)[1] == one.ranges[1][0]


def test_an_analysis_is_published_by_its_iterations_so_far(with_map):
    with_map("mexica")
    position = ai.new_game("mexica", seed=1)
    run = SearchRun(position, SearchSettings(Limits(iterations=300), seed=1))
    *_, last = run.results(60)
    assert last.value == MAP.shares(raw(run)[0]["value"], 0, calibration.facts_of(position.state, 300))


@pytest.mark.parametrize("level", [2, 9])
def test_levels_choose_by_what_the_search_found(level, with_map):
    position = ai.load("examples/mexica_midgame.json")
    before = [ai.best_turn(position, iterations=100, seed=seed, level=level) for seed in range(8)]
    with_map("mexica")
    for seed, found in enumerate(before):
        result = ai.best_turn(position, iterations=100, seed=seed, level=level)
        assert [candidate.turn for candidate in result.candidates] == [candidate.turn for candidate in found.candidates]
        assert result.value != found.value


def test_what_the_map_was_not_fitted_to_is_published_as_it_is_found(with_map):
    position = ai.load("examples/mexica_midgame.json")
    spec = registry.get("mexica").learning.weights
    others = spec.estimate()

    def evaluator(observations):
        return [[0.6, 0.4, 0.0, 0.0]] * len(observations)

    calls = [
        lambda: ai.best_turn(position, iterations=50, seed=1, weights=others),
        lambda: ai.best_turn(position, iterations=50, seed=1, evaluator=evaluator),
        lambda: make_engine("uct").best_turn(position, Limits(iterations=50), seed=1),
        lambda: make_engine("beam").best_turn(position, Limits(iterations=50), seed=1),
    ]
    before = [call().value for call in calls]
    with_map("mexica")
    assert [call().value for call in calls] == before
    assert ai.best_turn(position, iterations=50, seed=1).value != before[0]


def test_a_map_of_other_weights_does_not_apply(with_map):
    position = ai.load("examples/mexica_midgame.json")
    before = ai.best_turn(position, iterations=50, seed=1)
    with_map("mexica", weights="0" * 12)
    assert ai.best_turn(position, iterations=50, seed=1).value == before.value


def result(*values, iterations=256):
    forecast = [Forecast(iterations, [0.6, 0.4], [1.0, 0.0]), Forecast(0, [0.5, 0.5], [0.0, 0.0])]
    candidates = [
        Candidate([f"turn {i}"], 9, value, [1.0, 0.0], 0.1, [], [*forecast, Forecast(9, value, [1.0, 0.0])])
        for i, value in enumerate(values)
    ]
    return Result(candidates, iterations, 10, 3, 0.1, "iterations", 1)


def test_what_ends_the_game_keeps_its_outcome():
    state = ai.new_game("nim", seed=1).state
    found = result([0.5, 0.5], [0.7, 0.3])
    facts = (8.0, 0.0)
    tie, other = MAP.published(found, state, 0, [True, False]).candidates
    assert tie.value == tie.forecast[-1].value == [0.5, 0.5]
    assert other.value == other.forecast[-1].value == MAP.shares([0.7, 0.3], 0, facts)
    for candidate in (tie, other):
        assert candidate.forecast[0].value == MAP.shares([0.6, 0.4], 0, facts)
        assert candidate.forecast[1].value == [0.5, 0.5]  # nothing was found there
    assert MAP.published(found, state, 0, [True, True]) == found


def test_the_search_tells_which_candidates_end_the_game(with_map, monkeypatch):
    with_map("mexica")
    position, last = ai.new_game("mexica", players=2, seed=2), None
    while not position.is_over:
        last = position.copy()
        position.push(ai.best_turn(position, iterations=20, seed=1).turn)
    told = []
    monkeypatch.setattr(Calibration, "published", lambda self, result, *_, exact, **__: told.append(exact) or result)
    found = ai.best_turn(last, iterations=300, seed=1, candidates=50)
    ends = []
    for candidate in found.candidates:
        following = last.copy()
        following.push(candidate.turn)
        ends.append(following.is_over)
    assert told == [ends]
    assert True in ends


def test_annotate_compares_published_shares_of_two_searches(with_map):
    with_map("coatl")
    record = json.loads(Path("examples/coatl_game.jsonl").read_text().splitlines()[0])
    chosen = seat_turns(record)[8:12]
    found = list(evaluate_record(record, iterations=100, seed=1, turns=chosen))
    for one in found:
        position = position_at(record, one.turn_index)
        for shares, place in ((one.before, position), (one.after, position_at(record, one.turn_index + 1))):
            if place.is_chance:
                continue
            run = SearchRun(place, SearchSettings(Limits(iterations=100), seed=1, candidates=100))
            assert shares == run.result().value
            assert shares == MAP.shares(raw(run)[0]["value"], place.to_move, calibration.facts_of(place.state, 100))
        assert one.before != one.after
    assert [one.turn_index for one in found] == chosen


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda data: data.update(format=2), "expected format 1"),
        (lambda data: data["players"].update({"5": data["players"]["2"]}), "maps for 2, 3, 4 seats"),
        (lambda data: data["players"]["3"].pop("shift"), "players"),
        (lambda data: data["players"]["2"]["ranges"].update(rounds=[3, 1]), "the least and the most of each fact"),
        (lambda data: data["players"]["2"]["ranges"].update(rounds=[3]), "the least and the most of each fact"),
        (
            lambda data: data["players"]["2"]["temperature"].update(few_late=-1),
            "temperature and others from 0.1 to 10.0",
        ),
        (lambda data: data["players"]["2"]["others"].update(many_late=0.05), "temperature and others from 0.1 to 10.0"),
        (lambda data: data["players"]["2"]["others"].update(many_late=200), "others from 0.1 to 10.0"),
        (lambda data: data["players"]["2"]["shift"].update(few_late=800), "shift from -10.0 to 10.0"),
        (lambda data: data["players"]["2"]["others"].update(more=1), "more"),
    ],
)
def test_a_file_that_is_no_map_is_refused(with_map, change, problem):
    path = with_map("mexica")
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(NotationError, match=problem) as caught:
        calibration.read(path)
    assert caught.value.reason == "BAD_CALIBRATION"
    position = ai.load("examples/mexica_midgame.json")
    with pytest.warns(RuntimeWarning, match="published as searches find them"):
        run = SearchRun(position, SearchSettings(Limits(iterations=20), seed=1))
    assert run.result().value == raw(run)[0]["value"]


def test_a_map_that_is_missing_is_told(tmp_path):
    with pytest.raises(NotationError, match="cannot read"):
        calibration.read(tmp_path / "none.json")
