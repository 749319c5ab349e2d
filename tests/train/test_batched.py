"""Self-play of many games with one evaluator: batches, rows, seeds, faults."""

import io
import itertools
import json
import math
import threading

import numpy as np
import pytest

import mexica_ai as ai
from cext.core.search.pool import Pool
from cext.core.search.search import Search
from mexica_ai import env
from mexica_ai.analysis.search import weights_for
from mexica_ai.io.errors import SearchError
from mexica_ai.train.export import Settings, make_shard


def points(observations):
    """Return values that differ between observations: by a hash of the numbers."""
    mixed = np.abs(np.sin(observations @ np.arange(1, observations.shape[1] + 1))).astype(np.float64)
    return np.stack([mixed, 1 - mixed / 2, mixed / 3, 0.5 + 0 * mixed], axis=1)


def play(game="nim", num_games=4, iterations=24, evaluator=points, **settings):
    return list(ai.selfplay(game, num_games, evaluator, iterations, **({"seed": 3, "games": 6} | settings)))


def plain(rows):
    """Return rows of lists, in the order of the games."""
    rows = [row | {name: row[name].tolist() for name in ("observation", "policy")} for row in rows]
    return sorted(rows, key=lambda row: (row["record"], row["turn"], row["action"]))


@pytest.mark.parametrize(("game", "players"), [("nim", 4), ("coatl", 3)])
def test_a_game_depends_on_its_number_and_the_seed_alone(game, players):
    given = {"games": 2 if game == "coatl" else 6, "players": players, "iterations": 8, "full_share": 0.5}
    given |= {"exploring_turns": 2, "noise": 1.0, "leaves": 4}
    first = plain(play(game, 1, **given))
    assert {row["record"] for row in first} == set(range(given["games"]))
    assert plain(play(game, 2, threads=2, **given)) == first
    assert plain(play(game, 5, overlap=True, **given)) == first
    assert plain(play(game, 2, **given | {"seed": 4})) != first


@pytest.mark.parametrize("game", ["nim", "tzolkin"])
def test_a_search_in_a_pool_is_the_search_alone(game):
    position = ai.new_game(game, players=2, seed=1)
    weights = weights_for(game, None)
    alone = Search(position.state, weights=weights, seed=5, evaluator=points, batch_size=1, memory_mb=4)
    alone.run(iterations=90)
    pool = Pool(position.state.game, 3, points, players=2, leaves=1, threads=2)
    for place, iterations in enumerate([30, 90, 60]):
        pool.begin(place, position.state, iterations, weights=weights, seed=5, memory_mb=4)
    ended, sizes = {}, []
    while len(ended) < 3:
        (rows,) = pool.gather()
        sizes.append(len(rows))
        ended |= dict(pool.back_up(points(rows)))
    assert list(ended) == [0, 2, 1]
    assert ended[1].tree() == alone.tree()
    assert [search.result()["iterations"] for search in ended.values()] == [30, 60, 90]
    assert {search.result()["stop_reason"] for search in ended.values()} == {"iterations"}
    for search in ended.values():
        search.check_visits()
    assert sizes[0] == 3


@pytest.mark.parametrize("overlap", [False, True])
def test_batches_have_leaves_of_many_games(overlap):
    sizes = []

    def evaluator(rows):
        sizes.append(len(rows))
        return np.full((len(rows), 2), 0.5)

    rows = ai.selfplay("coatl", 8, evaluator, 32, leaves=4, seed=1, overlap=overlap, options={})
    next(rows)
    rows.close()
    assert max(sizes) == (16 if overlap else 32)
    assert np.mean(sizes) > 0.8 * max(sizes)


def test_rows_are_those_of_an_export():
    rows = play(positions=True, players=3, exploring_turns=1, gumbel=4)
    position = ai.new_game("nim", piles=[2, 3])
    while not position.is_over:
        position.push(ai.best_turn(position, iterations=4, seed=1).turn)
    record = json.dumps(ai.make_record(position)).encode()
    shard, _, _ = make_shard([("a", record)], 0, Settings("nim", "parquet", 4, 1, positions=True))
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = set(parquet.read_table(io.BytesIO(shard)).column_names)
    for row in rows:
        assert set(row) >= columns
        seen = ai.Position.from_json(json.loads(row["position"]))
        np.testing.assert_array_equal(row["observation"], env.observe(seen))
        assert row["legal"] == seen.state.legal_actions()
        assert len(row["visits"]) == len(row["policy"]) == len(row["legal"])
        assert row["searched"] == any(row["visits"])
        if row["searched"]:
            assert sum(row["policy"]) == pytest.approx(1)
        if row["action"] == 0:
            assert sum(row["value"]) == pytest.approx(1)
        assert sum(row["returns"]) == 1
        assert row["returns"][3] == row["scores"][3] == 0
    for _, game in itertools.groupby(rows, key=lambda row: row["record"]):
        game = list(game)
        state = ai.Position.from_json(json.loads(game[0]["position"])).state.copy()
        for row in game:
            assert state.current_player == row["seat"]
            np.testing.assert_array_equal(env.observe(ai.Position("nim", state.copy())), row["observation"])
            state.apply(row["legal"][row["played"]])
        assert state.is_terminal
        assert state.returns()[game[0]["seat"]] == game[0]["returns"][0]


def test_playout_caps_leave_rows_of_full_searches():
    rows = play("nim", 4, 60, games=30, full_share=0.3, quick_iterations=5, leaves=2)
    whole = play("nim", 4, 60, games=30, leaves=2)
    assert 0.1 < len(rows) / len(whole) < 0.6
    assert min(sum(row["visits"]) for row in rows if row["action"] == 0 and len(row["legal"]) > 2) > 20


class ByIds:
    """Values by the numbers, and a policy that likes high ids."""

    policy = "ids"

    def __call__(self, observations):
        assert observations.shape[1] == env.schema("nim").size
        logits = np.tile(np.linspace(0, 3, env.num_action_ids("nim")), (len(observations), 1))
        return points(observations), None, logits


class ByFeatures:
    policy = "features"

    def __call__(self, observations, features, offsets):
        assert offsets[0] == 0
        assert len(features) == offsets[-1]
        assert len(offsets) == len(observations) + 1
        assert (np.diff(offsets) > 0).all()
        return points(observations), None, np.sin(features.sum(axis=1))


@pytest.mark.parametrize(("game", "evaluator"), [("nim", ByIds()), ("nim", ByFeatures()), ("coatl", ByFeatures())])
@pytest.mark.parametrize("given", [{"gumbel": 4}, {"dirichlet": 0.5, "exploring_turns": 1}])
def test_an_evaluator_with_a_policy(game, evaluator, given):
    given = {"games": 4 if game == "nim" else 1, "iterations": 16, "leaves": 3} | given
    rows = play(game, 3, evaluator=evaluator, **given)
    others = plain(play(game, 1, evaluator=evaluator, threads=2, **given))
    for row, other in zip(plain(rows), others, strict=True):
        for name in ("legal", "visits", "played", "policy", "returns"):
            assert row[name] == other[name]
    for row in rows:
        if row["searched"]:
            assert sum(row["policy"]) == pytest.approx(1)
        if evaluator.policy == "ids":
            assert len(row["action_ids"]) == len(row["legal"])
        else:
            assert row["action_features"].shape == (len(row["legal"]), env.action_schema(game).size)
    if "gumbel" in given:
        roots = [row for row in rows if row["action"] == 0 and len(row["legal"]) > 4]
        assert {sum(visits > 0 for visits in row["visits"]) for row in roots} <= {3, 4}
        assert all((row["policy"] > 0).all() for row in roots)  # actions without visits, too


def test_a_search_with_a_policy_in_a_pool_is_the_search_alone():
    state = ai.new_game("nim", players=2, seed=1).state
    alone = Search(state, seed=5, evaluator=ByIds(), batch_size=1, halving=4)
    alone.run(iterations=60)
    pool = Pool(state.game, 1, ByIds(), players=2, leaves=1)
    pool.begin(0, state, 60, seed=5, halving=4)
    ended = []
    while not ended:
        ended = pool.back_up(ByIds()(*pool.gather()))
    assert ended[0][1].tree() == alone.tree()
    assert ended[0][1].priors_at(state).sum() == pytest.approx(1)
    ended[0][1].check_visits()


def test_sequential_halving_tries_a_few_actions():
    rows = [row for row in play(iterations=32, gumbel=4, leaves=2) if row["action"] == 0 and len(row["legal"]) > 8]
    assert rows
    assert {sum(visits > 0 for visits in row["visits"]) for row in rows} == {4}
    assert len({row["played"] for row in rows}) > 3


def test_without_games_there_is_no_row_and_no_question():
    assert play(games=0, evaluator=None) == []


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("fault", ["raises", "wrong"])
def test_a_faulty_evaluator_ends_the_games(overlap, fault):
    calls = []

    def evaluator(rows):
        calls.append(len(rows))
        if len(calls) < 4:
            return np.full((len(rows), 2), 0.5)
        if fault == "raises":
            raise ZeroDivisionError
        return np.full((len(rows), 1), 0.5)

    threads = set(threading.enumerate())
    rows = ai.selfplay("coatl", 4, evaluator, 100, seed=1, overlap=overlap, threads=2)
    with pytest.raises(ZeroDivisionError if fault == "raises" else SearchError):
        next(rows)
    assert set(threading.enumerate()) <= threads  # those of other tests may just end
    with pytest.raises(StopIteration):
        next(rows)


def test_a_pool_goes_on_after_a_fault():
    state = ai.new_game("nim", piles=[5, 6, 7]).state
    pool = Pool(state.game, 2, points, players=2, leaves=8)
    pool.begin(1, state, 50, seed=1)
    for answer in (np.zeros((3, 2)), "no", (np.full((8, 2), 0.5), None)):
        (rows,) = pool.gather()
        with pytest.raises(SearchError, match="a batch waits"):
            pool.begin(0, state, 5)
        with pytest.raises(SearchError, match="no answer yet"):
            pool.gather()
        if isinstance(answer, tuple):
            assert pool.back_up(answer) == []
        else:
            with pytest.raises(SearchError, match="expected finite numbers"):
                pool.back_up(answer)
        assert not pool.is_waiting
    with pytest.raises(SearchError, match="expected one form"):
        pool.gather(), pool.back_up((np.full((8, 2), 0.5), np.zeros((8, 2))))
    ended = []
    while not ended:
        ended = pool.back_up(np.full((len(pool.gather()[0]), 2), 0.5))
    ((place, search),) = ended
    assert place == 1
    assert search.result()["iterations"] == 50
    with pytest.raises(SearchError, match="no batch waits"):
        pool.back_up(rows)


@pytest.mark.parametrize("noise", [[0.5, 0.5, np.inf], [1, 0, -1], [1, 0], "no", [[1, 0], [1]], [10**400, 0, 0]])
def test_noise_that_does_not_fit_is_refused(noise):
    state = ai.new_game("nim", piles=[3]).state
    pool = Pool(state.game, 1, ByIds(), players=2)
    with pytest.raises(SearchError, match="expected 3 finite numbers of at least 0"):
        pool.begin(0, state, 5, seed=1, noise=noise)


def test_forced_turns_take_one_evaluation_each():
    sizes = []

    def evaluator(rows):
        sizes.append(len(rows))
        return np.full((len(rows), 2), 0.5)

    rows = play(evaluator=evaluator, games=3, options={"piles": [1, 0]})
    assert [row["returns"][:2] for row in rows] == [[1, 0]] * 3
    assert sizes == [3]


def test_an_infinite_temperature_draws_only_what_was_searched():
    rows = play(iterations=4, games=20, leaves=1, exploring_turns=100, temperature=math.inf)
    searched = [row for row in rows if row["searched"]]
    assert len(searched) > 40
    assert all(row["visits"][row["played"]] for row in searched)


@pytest.mark.parametrize(
    "given",
    [
        {"num_games": 0}, {"iterations": 0}, {"iterations": 2.5}, {"players": 5}, {"leaves": 0}, {"leaves": 5000},
        {"threads": 0}, {"full_share": 0}, {"full_share": 1.5}, {"temperature": 0}, {"exploring_turns": -1},
        {"games": -1}, {"quick_iterations": 0}, {"gumbel": 300}, {"noise": -1}, {"seed": -1},
        {"search": {"speed": 3}}, {"options": {"color": 1}}, {"evaluator": None},
        {"search": {"halving": 4}}, {"search": {"prior_noise": 1.0}}, {"dirichlet": -0.3}, {"dirichlet": math.nan},
    ],
)  # fmt: skip
def test_what_is_refused(given):
    with pytest.raises(ai.MexicaAIError, match="expected"):
        ai.selfplay(**{"game": "nim", "num_games": 2, "evaluator": points, "iterations": 5} | given)
