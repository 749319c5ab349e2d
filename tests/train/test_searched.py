"""Options of a training run: values of searched states, old games searched anew, and surprise as weight."""

import dataclasses
import functools
import json
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mexica_ai as ai
from cext.core.search.search import Search
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.game.records import position_at
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.train import folder, pipeline, policy, probes, searched, selfplay
from mexica_ai.train.positions import REPORT, TRAIN, Positions
from mexica_ai.train.settings import Settings

GAME = "mexica"
SETTINGS = Settings(
    games=10, players="2", iterations=2, deep=40, walks=4, rollouts=1, rollout_iterations=1, networks=1, epochs=1,
    match=2, match_iterations=2,
)  # fmt: skip

spec = registry.get(GAME).learning.weights


@pytest.mark.parametrize("game", ["coatl", "mexica", "tzolkin", "nim"])
def test_searched_states_are_reached_by_legal_actions_and_have_their_values(game):
    position = ai.new_game(game, players=2, seed=3)
    search = Search(position.state, weights=registry.get(game).weights(), seed=1)
    search.run(iterations=400)
    found = searched.states_of(search, 50, 4, random.Random(1))
    assert len(found) >= (3 if game == "coatl" else 10)  # there a random event follows each turn
    assert len({tuple(each["actions"]) for each in found}) == len(found)
    for each in found:
        state = search.state.copy()
        for action in each["actions"]:
            state.apply(action)  # raises if it is not legal
        assert state.current_player >= 0
        assert sum(search.visits_at(state).values()) >= 1
        assert sum(each["value"]) == pytest.approx(1, abs=1e-3)
    some = searched.states_of(search, 3, 4, random.Random(1))
    assert len(some) == 3
    assert all(each in found for each in some)


@functools.cache
def line_of(index, **options):
    return json.dumps(selfplay.play_game(GAME, 1, index, 2, 40, **options)).encode()


def games_of(count, **options):
    lines = [line_of(index, **options) for index in range(count)]
    return [(f"here:{number}", line) for number, line in enumerate(lines)]


def test_games_keep_searched_states_and_are_the_same_games():
    with_states, without = games_of(4, searched=3), games_of(4)
    rows = 0
    for (_, one), (_, two) in zip(with_states, without, strict=True):
        one, two = json.loads(one), json.loads(two)
        assert one["record"] == two["record"]
        assert one["made"] == two["made"] | {"searched": 3}
        for found, plain in zip(one["searches"], two["searches"], strict=True):
            rows += len(found["states"])
            assert 0 <= len(found.pop("states")) <= 3
            assert found == plain
    positions = searched.load(with_states, spec.features)
    assert len(positions.games) == rows > 10
    first = sorted(with_states, key=lambda entry: entry[1])[0]
    content = json.loads(first[1])
    search = next(search for search in content["searches"] if search["states"])
    state = position_at(content["record"], search["turn"]).state
    for action in search["states"][0]["actions"]:
        state.apply(action)
    players = state.num_players
    np.testing.assert_array_equal(positions.features[0][:players], spec.features(state))
    np.testing.assert_allclose(positions.shares[0][:players], search["states"][0]["value"])
    with pytest.raises(NotationError, match="no searched states: expected at least one"):
        searched.load(without, spec.features)


def test_states_with_a_value_that_is_none_are_refused():
    path, text = games_of(1, searched=2)[0]
    content = json.loads(text)
    search = next(search for search in content["searches"] if search["states"])
    search["states"][0]["value"][0] = 3.0
    with pytest.raises(NotationError, match=r"here:0\.searches: turn \d+\.value: expected shares"):
        searched.load([(path, json.dumps(content).encode())], spec.features)


def test_positions_of_two_sources_are_of_different_games():
    one = searched.load(games_of(4, searched=2), spec.features)
    both = one.joined(one)
    assert len(both.games) == 2 * len(one.games)
    assert not set(both.games[: len(one.games)]) & set(both.games[len(one.games) :])
    np.testing.assert_array_equal(both.parts[len(one.games) :], one.parts)


def test_states_are_drawn_by_their_surprise():
    count = 2000
    weights = {name: np.zeros(shape, np.float32) for name, shape in spec.network.items()}
    shares = np.zeros((count, 4), np.float32)
    shares[:, :2] = 0.5  # as the evaluation says: no surprise
    shares[: count // 4, :2] = [1, 0]
    seats = np.tile(np.arange(4) < 2, (count, 1))
    features = np.zeros((count, 4, weights["w1"].shape[0]), np.float32)
    numbers = np.arange(count)
    positions = Positions(features, seats, shares, np.zeros((count, 4), np.float32), numbers, numbers * 0)
    assert searched.drawn_by_surprise(positions, weights, 0.0, 1) is positions
    for share, expected in ((0.5, 0.625), (1.0, 1.0)):
        drawn = searched.drawn_by_surprise(positions, weights, share, 1)
        assert len(drawn.games) == count
        assert (drawn.games < count // 4).mean() == pytest.approx(expected, abs=0.04)
    drawn, again, other = (searched.drawn_by_surprise(positions, weights, 0.5, seed).games for seed in (1, 1, 2))
    np.testing.assert_array_equal(again, drawn)
    assert not np.array_equal(other, drawn)


def test_the_surprise_of_a_decision_is_the_relative_entropy_of_its_target():
    weights = registry.get(GAME).weights()
    decisions = policy.sample(games_of(5), weights)
    counts = decisions.counts
    logits = decisions.logs + policy.scores(decisions, weights.arrays())
    prior = policy._log_softmax(logits, decisions.starts, counts)
    terms = decisions.targets * (np.log(np.maximum(decisions.targets, 1e-30)) - prior)
    np.testing.assert_allclose(np.add.reduceat(terms, decisions.starts), decisions.surprises, atol=1e-3)
    assert decisions.surprises.max() > 0.1


def test_decisions_weigh_by_their_surprise():
    weights = registry.get(GAME).weights()
    decisions = policy.sample(games_of(5), weights)
    arrays = {name: weights.arrays()[name] for name in spec.policy}
    half = np.arange(len(decisions.starts)) % 2 == 0
    shares = np.where(half, len(half) / half.sum(), 0.0)
    weighed = policy._gradients(decisions, arrays, shares)
    alone = policy._gradients(decisions.take(half), arrays)
    for name, array in alone.items():
        np.testing.assert_allclose(weighed[name], array, atol=1e-5)
    start = policy.initial_weights(spec.policy, 1)
    plain, by_surprise = (policy.fit(decisions, start, seed=1, max_epochs=1, surprise=share) for share in (0.0, 1.0))
    assert plain[1]["epochs"] == 1
    assert plain[1]["selected"] != by_surprise[1]["selected"]


def run(folder, settings, **options):
    with ThreadPoolExecutor(1) as executor:
        return pipeline.run(folder, executor, game=GAME, settings=settings, until="policy", **options)


def test_a_run_learns_from_searched_states_and_old_games(tmp_path):
    old = games_of(6)
    settings = dataclasses.replace(SETTINGS, searched=2, reanalyse=4, surprise=0.5)
    figures = run(tmp_path, settings, records=old)
    again = [json.loads(line) for line in (tmp_path / "reanalysed.jsonl").read_bytes().splitlines()]
    assert figures["generate"]["reanalysed"] == len(again) == 4
    starts = [json.loads(line)["record"]["start"] for _, line in old]
    for found in again:
        assert found["record"]["start"] in starts
        assert found["made"]["deep"] == 40
        assert found["searches"]
    # Probes select and are reported on; searched states train beside them.
    found = probes.load(folder.lines(tmp_path / "probes.jsonl"), GAME, spec.features)
    assert figures["value"]["positions"][TRAIN] > (found.parts == TRAIN).sum() + 20
    assert figures["value"]["positions"][REPORT] == (found.parts == REPORT).sum()
    alone = policy.sample(folder.lines(tmp_path / "games.jsonl"), registry.get(GAME).weights())
    assert sum(figures["policy"]["decisions"]) > len(alone.starts)
    # A stopped run continues.
    lines = (tmp_path / "reanalysed.jsonl").read_bytes()
    (tmp_path / "reanalysed.jsonl").write_bytes(lines[: len(lines) // 2])
    for name in ("value.json", "value-0.json", "policy.json"):
        (tmp_path / name).unlink()
    assert run(tmp_path, settings, records=old) == figures


def test_an_old_game_is_searched_as_a_position_of_it():
    record = selfplay.play_game(GAME, 1, 0, 2, 40)["record"]
    searcher = selfplay.Searcher(registry.get(GAME).weights(), 2, 30)
    found = selfplay.reanalyse_game(record, 1, 0, searcher)
    assert found == selfplay.reanalyse_game(record, 1, 0, searcher)
    assert found["record"] == record
    for search in found["searches"]:
        position = Position.from_json(position_at(record, search["turn"]).to_json())
        assert not position.is_chance
        assert search["decisions"][0]["actions"] == []


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"searched": 2, "networks": 0}, "^searched: given with states or without networks"),
        ({"searched": 2, "states": 3}, "^searched: given with states or without networks"),
        ({"reanalyse": 3}, "^reanalyse: given without records; expected some$"),
    ],
)
def test_options_without_what_they_need_are_refused(tmp_path, settings, problem):
    with pytest.raises(SearchError, match=problem):
        run(tmp_path / "new", dataclasses.replace(SETTINGS, **settings))
    assert not list(tmp_path.iterdir())
