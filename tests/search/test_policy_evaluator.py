"""Searches whose evaluator gives priors, too: by fixed ids of actions, or by their features; functions and ONNX."""

import itertools
import time

import numpy as np
import pytest

import mexica_ai as ai
from cext.core.search.search import Search
from mexica_ai.analysis.evaluators import ACTIONS_KEY, GAME_KEY, SCHEMA_KEY, OnnxEvaluator
from mexica_ai.engines import make_engine
from mexica_ai.env import action_schema, num_action_ids, schema
from mexica_ai.game import registry
from mexica_ai.io.errors import NotationError, SearchError

PILES, MOST = 8, 63


def piles_of(observations):
    return schema("nim").split(observations)["piles"].astype(int)


class ById:
    """Knows which actions of nim win (one action a turn), by their ids, and nothing of values."""

    policy = "ids"

    def __init__(self, strength=8.0):
        self.strength = strength
        self.sizes = []

    def __call__(self, observations):
        self.sizes.append(len(observations))
        piles = piles_of(observations)
        others = np.bitwise_xor.reduce(piles, axis=1)[:, None] ^ piles  # xor of the other piles
        after = piles[:, :, None] - np.arange(1, MOST + 1)
        wins = (after == others[:, :, None]).reshape(len(piles), -1)
        return np.full((len(piles), 2), 0.5), None, np.where(wins, self.strength, 0.0)


class ByFeatures:
    """The same by the features of actions."""

    policy = "features"

    def __call__(self, observations, features, offsets):
        assert features.dtype == np.float32
        assert offsets.dtype == np.int64
        assert (offsets[0], offsets[-1]) == (0, len(features))
        rows = np.repeat(np.arange(len(observations)), np.diff(offsets))
        action = action_schema("nim").split(features)
        piles = piles_of(observations)[rows]
        pile = action["pile"].argmax(axis=1)
        xor = np.bitwise_xor.reduce(piles, axis=1) ^ piles[np.arange(len(rows)), pile]
        wins = action["left"].ravel().astype(int) == xor
        return np.full((len(observations), 2), 0.5), None, np.where(wins, 8.0, 0.0)


def is_won(position, turn):
    after = position.copy()
    after.push(turn)
    return np.bitwise_xor.reduce(after.to_json()["piles"]) == 0


@pytest.mark.parametrize("evaluator", [ById(), ByFeatures()], ids=["ids", "features"])
@pytest.mark.parametrize("iterations", [1, 2, 40])
def test_perfect_logits_find_the_winning_move_at_once(evaluator, iterations):
    for piles in ([21, 34, 51, 9], [3, 5, 7], [63, 62, 1, 30]):
        position = ai.new_game("nim", piles=piles)
        result = ai.best_turn(position, iterations=iterations, seed=1, evaluator=evaluator, batch_size=4)
        assert is_won(position, result.turn)


def test_both_forms_are_the_same_search():
    position = ai.new_game("nim", piles=[13, 6, 9])
    found = []
    for evaluator in (ById(), ById(), ByFeatures()):
        search = Search(position.state, evaluator=evaluator, batch_size=8, seed=3)
        search.run(iterations=300)
        search.check_visits()
        found.append(search.tree())
    assert found[0] == found[1] == found[2]


def test_priors_are_the_softmax_over_the_legal_actions():
    piles = [2, 3]

    class Numbered:
        policy = "ids"

        def __call__(self, observations):
            logits = np.tile(np.arange(num_action_ids("nim")) / 40, (len(observations), 1))
            logits[:, 200:] = np.nan  # of no legal action
            return np.full((len(observations), 2), 0.5), None, logits

    search = Search(ai.new_game("nim", piles=piles).state, evaluator=Numbered(), batch_size=4, seed=1)
    search.run(iterations=100)
    edges = {edge["action"]: edge["prior"] for edge in search.tree(0)[0]["edges"]}
    ids = {
        pile << 8 | count: pile * MOST + count - 1 for pile, most in enumerate(piles) for count in range(1, most + 1)
    }
    assert edges.keys() == ids.keys()
    weights = np.exp(np.array([ids[action] for action in edges]) / 40)
    assert list(edges.values()) == pytest.approx(list(weights / weights.sum()), rel=1e-5)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("game", [name for name in registry.names() if registry.get(name).rules.action_size > 0])
def test_features_of_all_games(game, threads):
    """Games with hidden hands have rivals' priors for each hand on its own."""
    position = ai.new_game(game, players=3, seed=2)
    rng = np.random.default_rng(1)
    sizes = []

    class Random:
        policy = "features"

        def __call__(self, observations, features, offsets):
            sizes.append(len(observations))
            assert features.shape == (offsets[-1], action_schema(game).size)
            assert (np.diff(offsets) > 0).all()
            return np.full((len(observations), 3), 1 / 3), None, rng.normal(size=len(features))

    search = Search(
        position.state,
        weights=registry.get(game).weights(),
        threads=threads,
        evaluator=Random(),
        batch_size=8,
        seed=1,
    )
    search.run(iterations=301)
    search.check_visits()
    assert search.result()["iterations"] == 301
    assert sizes[0] == 1
    assert set(sizes[1 : len(sizes) // 2]) == {8}


@pytest.mark.parametrize("threads", [1, 4])
def test_several_actions_a_turn_and_visits_add_up(threads):
    position = ai.new_game("nim", players=3, piles=[4, 5, 6], plies_per_turn=2)

    class Even:
        policy = "features"

        def __call__(self, observations, features, offsets):
            return np.full((len(observations), 3), 1 / 3), np.ones((len(observations), 3)), np.zeros(len(features))

    search = Search(position.state, evaluator=Even(), batch_size=8, threads=threads, seed=1)
    search.run(iterations=501)
    search.check_visits()
    result = search.result()
    assert result["iterations"] == 501
    assert len(result["candidates"][0]["actions"]) == 2


def test_the_root_comes_first_and_then_whole_batches():
    evaluator = ById()
    Search(ai.new_game("nim", piles=[40, 50, 60]).state, evaluator=evaluator, batch_size=16, seed=1).run(iterations=200)
    assert evaluator.sizes == [1, *[16] * 12, 7]


def test_gumbel_at_the_root():
    """The candidates of sequential halving are drawn from the priors of the evaluator, not from those of the game."""
    position = ai.new_game("nim", piles=[13, 6, 9])
    for seed in range(5):
        search = Search(position.state, evaluator=ById(30.0), batch_size=4, seed=seed, halving=4)
        search.run(iterations=32)
        search.check_visits()
        (best,) = search.result()["candidates"][0]["actions"]
        assert is_won(position, [f"take {best & 255} {(best >> 8) + 1}"])


@pytest.mark.parametrize("only", [True, False])
def test_allowed_first_actions(only):
    position = ai.new_game("nim", piles=[13, 6, 9])
    legal = position.legal_actions()
    winning = [action for action in legal if is_won(position, [action])]
    restriction = {"allow": [action for action in legal if action not in winning]} if only else {"avoid": winning}
    result = ai.best_turn(position, iterations=64, evaluator=ById(), seed=1, **restriction)
    assert result.first_actions
    assert not {first.action for first in result.first_actions} & set(winning)
    assert not is_won(position, result.turn)


def bad(logits=None, *, count=2, policy="ids"):
    """Return an evaluator whose answer from the third call on has other logits, or another number of parts."""
    calls = itertools.count()

    def evaluator(observations, features=None, offsets=None):
        n = len(observations)
        good = np.zeros((n, num_action_ids("nim"))) if policy == "ids" else np.zeros(len(features))
        answer = (np.full((n, 2), 0.5), None, good)
        if next(calls) < count:
            return answer
        return logits(answer) if callable(logits) else (*answer[:2], logits)

    evaluator.policy = policy
    return evaluator


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("policy", "answer", "message"),
    [
        ("ids", lambda good: good[:2], "answered a tuple of 2; expected a tuple of values, scores or None, and logits"),
        ("ids", lambda good: good[0], "answered 'ndarray'; expected a tuple of values"),
        (
            "ids",
            lambda good: (*good[:2], good[2][:, :-1]),
            r"given logits of shape \(\d, 503\); expected .* \[\d, 504\]",
        ),
        ("ids", lambda good: (*good[:2], np.full_like(good[2], np.nan)), "a logit of a legal action is not finite"),
        ("ids", lambda good: (*good[:2], np.full_like(good[2], -np.inf)), "a logit of a legal action is not finite"),
        ("ids", lambda good: (*good[:2], None), "given logits of shape"),
        ("features", lambda good: (*good[:2], good[2][1:]), r"given logits of shape \(\d+,\); expected"),
        ("features", lambda good: (*good[:2], good[2] + np.inf), "a logit of a legal action is not finite"),
    ],
)
def test_bad_logits_end_the_search(policy, answer, message, count, threads):
    search = Search(
        ai.new_game("nim", piles=[40, 50]).state,
        evaluator=bad(answer, count=count, policy=policy),
        batch_size=4,
        threads=threads,
    )
    with pytest.raises(SearchError, match=message) as caught:
        search.run(iterations=100)
    assert caught.value.reason == "BAD_EVALUATION"
    search.check_visits()  # all descents that waited, also those of the next batch, are undone
    assert search.result()["iterations"] == (0 if count == 0 else 5)


def test_what_an_evaluator_asks_for_must_exist():
    class Asks:
        def __init__(self, policy):
            self.policy = policy

        def __call__(self, observations):
            return np.full((len(observations), 2), 0.5)

    position = ai.new_game("nim")
    with pytest.raises(SearchError, match="policy is 'id'; expected 'ids' or 'features'"):
        ai.best_turn(position, iterations=5, evaluator=Asks("id"))
    assert ai.best_turn(position, iterations=5, evaluator=Asks(object())).iterations == 5  # a part of a network
    other = ai.new_game("mexica", players=2, seed=1)
    if num_action_ids("mexica") == 0:
        with pytest.raises(SearchError, match="by ids of actions, which mexica does not have") as caught:
            ai.best_turn(other, iterations=5, evaluator=Asks("ids"))
        assert caught.value.reason == "NO_ACTION_IDS"


def test_logits_need_the_attribute():
    def evaluator(observations):
        return np.full((len(observations), 2), 0.5), None, np.zeros((len(observations), num_action_ids("nim")))

    with pytest.raises(SearchError, match="logits need the attribute policy"):
        ai.best_turn(ai.new_game("nim"), iterations=5, evaluator=evaluator)


def test_priors_count_as_memory():
    search = Search(ai.new_game("nim", piles=[60] * 8).state, evaluator=ById(), batch_size=64, memory_mb=2, seed=1)
    search.run()
    search.check_visits()
    result = search.result()
    assert result["stop_reason"] == "memory"
    assert 1 << 20 < result["memory_bytes"] <= 2 << 20
    assert result["iterations"] > 500


@pytest.mark.real("time")
def test_leaves_are_gathered_while_others_are_evaluated():
    sizes, ahead = [], []

    def slow(observations):
        sizes.append(len(observations))
        give_up = time.monotonic() + 20
        if len(sizes) == 3:
            # Each leaf has a node of its own; those of the next batch appear during this call.
            while search.result()["nodes"] <= 1 + sum(sizes) and time.monotonic() < give_up:
                time.sleep(0.001)
            ahead.append(search.result()["nodes"] - 1 - sum(sizes))
        return np.full((len(observations), 2), 0.5)

    search = Search(ai.new_game("nim", piles=[60] * 8).state, evaluator=slow, batch_size=32, seed=1)
    search.run(iterations=160)
    assert ahead[0] > 0
    assert sizes == [32] * 5


def test_one_batch_under_way_takes_turns_with_the_evaluator():
    sizes, nodes = [], []

    def evaluator(observations):
        sizes.append(len(observations))
        nodes.append(search.result()["nodes"] - sum(sizes))
        return np.full((len(observations), 2), 0.5)

    state = ai.new_game("nim", piles=[60] * 8).state
    search = Search(state, evaluator=evaluator, batch_size=32, batches=1, seed=1)
    search.run(iterations=160)
    assert sizes == [32] * 5
    assert set(nodes) == {0}  # each leaf, the root first, has a node of its own
    with pytest.raises(SearchError, match="batches: 3, expected 1 or 2"):
        Search(state, evaluator=evaluator, batches=3)


def test_ends_of_the_game_leave_room_for_others():
    """A batch has as many leaves as it can hold, though some descents end the game."""
    sizes = []

    def evaluator(observations):
        sizes.append(len(observations))
        return np.full((len(observations), 2), 0.5)

    search = Search(ai.new_game("nim", piles=[5, 4, 3]).state, evaluator=evaluator, batch_size=4, seed=1)
    search.run(iterations=300)
    assert search.result()["iterations"] == 300
    assert sum(sizes) < 300
    assert set(sizes[: len(sizes) // 2]) == {4}


@pytest.mark.parametrize("batch_size", [1, 2, 3])
@pytest.mark.parametrize("threads", [1, 8])
def test_no_batch_is_larger_than_asked_for(batch_size, threads):
    evaluator = ById()
    position = ai.new_game("nim", piles=[9, 9, 5])
    result = ai.best_turn(position, iterations=50, evaluator=evaluator, batch_size=batch_size, threads=threads)
    assert result.iterations == 50
    assert max(evaluator.sizes) == batch_size


# --- ONNX


def save_network(path, *, outputs=("value", "policy"), place=None, seats=2, ids=PILES * MOST, entries=None):
    """Write a network whose logits are: by ids, their number / 100; by features, the objects that an action takes."""
    onnx = pytest.importorskip("onnx")
    helper, floats, integers = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
    size, width = schema("nim").size, action_schema("nim").size
    inputs = [helper.make_tensor_value_info("observation", floats, ["N", size])]
    tensors = [onnx.numpy_helper.from_array(np.zeros((size, seats), np.float32), "w")]
    nodes = [helper.make_node("MatMul", ["observation", "w"], ["x"]), helper.make_node("Softmax", ["x"], ["value"])]
    shapes = {"value": ["N", seats], "score": ["N", seats], "policy": ["N", ids], "shares": ["N", seats]}
    if "shares" in outputs:
        nodes.append(helper.make_node("Identity", ["value"], ["shares"]))
    if "score" in outputs:
        nodes.append(helper.make_node("Identity", ["x"], ["score"]))
    if place is None:
        tensors.append(onnx.numpy_helper.from_array(np.zeros((size, ids), np.float32), "v"))
        tensors.append(onnx.numpy_helper.from_array(np.arange(ids, dtype=np.float32) / 100, "bias"))
        nodes.append(helper.make_node("MatMul", ["observation", "v"], ["y"]))
        nodes.append(helper.make_node("Add", ["y", "bias"], ["policy"]))
    else:
        shapes["policy"] = ["M"]
        inputs.append(helper.make_tensor_value_info("actions", floats, ["M", width]))
        inputs.append(helper.make_tensor_value_info(place, integers, ["M" if place == "rows" else "K"]))
        column = np.zeros((width, 1), np.float32)
        column[fields_before("count")] = 1
        tensors.append(onnx.numpy_helper.from_array(column, "v"))
        tensors.append(onnx.numpy_helper.from_array(np.array([-1], np.int64), "flat"))
        nodes.append(helper.make_node("MatMul", ["actions", "v"], ["y"]))
        if place == "rows":  # of the observation of each action, which is worth nothing here
            tensors.append(onnx.numpy_helper.from_array(np.zeros((size, 1), np.float32), "u"))
            nodes.append(helper.make_node("MatMul", ["observation", "u"], ["per_row"]))
            nodes.append(helper.make_node("Gather", ["per_row", "rows"], ["per_action"]))
            nodes.append(helper.make_node("Add", ["y", "per_action"], ["sum"]))
            nodes.append(helper.make_node("Reshape", ["sum", "flat"], ["policy"]))
        else:
            nodes.append(helper.make_node("Reshape", ["y", "flat"], ["policy"]))
    results = [helper.make_tensor_value_info(name, floats, shapes[name]) for name in outputs]
    graph = helper.make_graph(nodes, "network", inputs, results, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    versions = {GAME_KEY: "nim", SCHEMA_KEY: str(schema("nim").version), ACTIONS_KEY: str(action_schema("nim").version)}
    onnx.helper.set_model_props(model, versions | (entries or {}))
    onnx.save(model, path)
    return path


def fields_before(name):
    """Return where a field of nim's actions begins."""
    return int(action_schema("nim").split(np.arange(action_schema("nim").size))[name])


@pytest.mark.parametrize("outputs", [("value", "policy"), ("policy", "score", "value"), ("policy", "score", "shares")])
@pytest.mark.parametrize("place", [None, "rows", "offsets"])
def test_a_network_with_a_policy(tmp_path, outputs, place):
    pytest.importorskip("onnxruntime")
    path = save_network(tmp_path / "a.onnx", outputs=outputs, place=place)
    position = ai.new_game("nim", piles=[2, 5])
    with make_engine(f"mcts,evaluator={path},batch=4,batches=1,iterations=1") as engine:
        # The most objects, and the highest id.
        assert engine.best_turn(position, seed=1).turn == ["take 5 2"]
    network = OnnxEvaluator(path)
    network.check("nim")
    assert network.policy == ("ids" if place is None else "features")
    leaf = np.zeros((1, schema("nim").size), np.float32)
    features, offsets = np.zeros((3, action_schema("nim").size), np.float32), np.array([0, 3])
    values, scores, logits = network(leaf, features, offsets)
    assert values.shape == (1, 2)
    assert logits.size == (3 if place else PILES * MOST)
    assert (scores is None) == ("score" not in outputs)
    result = ai.best_turn(position, iterations=100, evaluator=network, batch_size=8)
    priors = {first.action: first.prior for first in result.first_actions}
    assert priors["take 5 2"] == max(priors.values())


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_values_of_the_seats_of_the_game_alone(tmp_path, seats):
    pytest.importorskip("onnxruntime")
    network = OnnxEvaluator(save_network(tmp_path / "a.onnx", outputs=("value",), seats=seats))
    assert network.policy is None
    for players in range(2, seats + 1):
        result = ai.best_turn(ai.new_game("nim", players=players), iterations=20, evaluator=network)
        assert result.value == pytest.approx([1 / players] * players, abs=0.5)
    if seats < 4:
        with pytest.raises(
            SearchError, match=rf"given values of shape \(\d+, {seats}\); expected .*at least {seats + 1}"
        ):
            ai.best_turn(ai.new_game("nim", players=seats + 1), iterations=20, evaluator=network)


def test_networks_with_a_policy_that_do_not_fit(tmp_path):
    pytest.importorskip("onnxruntime")
    for arguments, message in (
        ({"seats": 5}, "expected the output 'value' of shape"),
        ({"place": "rows", "outputs": ("value",)}, "has inputs for a policy; expected the output 'policy'"),
        ({"outputs": ("score", "policy")}, "has the outputs 'score', 'policy'; expected one of shares of the win, too"),
        ({"place": "seats"}, "has the inputs 'observation', 'actions', 'seats'; expected"),
    ):
        with pytest.raises(NotationError, match=message) as caught:
            OnnxEvaluator(save_network(tmp_path / "bad.onnx", **arguments))
        assert caught.value.reason == "BAD_EVALUATOR"
    few = OnnxEvaluator(save_network(tmp_path / "few.onnx", ids=100))
    with pytest.raises(NotationError, match="has logits of 100 ids of actions; expected 504, those of nim"):
        few.check("nim")
    old = OnnxEvaluator(save_network(tmp_path / "old.onnx", place="rows", entries={ACTIONS_KEY: "0"}))
    with pytest.raises(NotationError, match=r"is for actions of version 0; expected nim, version \d"):
        old.check("nim")
