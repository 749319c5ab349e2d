"""Searches with an evaluator of the caller: batches, seats, limits, errors, networks as ONNX files."""

import threading

import numpy as np
import pytest

import mexica_ai as ai
from cext.core.search.search import Search
from mexica_ai import env
from mexica_ai.analysis.evaluators import GAME_KEY, SCHEMA_KEY, OnnxEvaluator
from mexica_ai.engines import make_engine
from mexica_ai.env import schema
from mexica_ai.game import registry
from mexica_ai.io.errors import NotationError, SearchError

GAMES = registry.names()


class Counted:
    """An evaluator that finds all seats equal, and remembers what it was asked."""

    def __init__(self, players):
        self.players = players
        self.sizes = []
        self.threads = set()

    def __call__(self, observations):
        self.sizes.append(len(observations))
        self.threads.add(threading.get_ident())
        assert observations.dtype == np.float32
        return np.full((len(observations), self.players), 1 / self.players)


def nim_solution(observations):
    """Return nim's exact shares of the win with two seats and one action a turn: by the xor of the piles."""
    fields = schema("nim").split(observations)
    xor = np.bitwise_xor.reduce(fields["piles"].astype(int), axis=1)
    assert (fields["to_move"][:, 0] == 1).all()  # seats are counted from the seat to move
    return np.stack([xor != 0, xor == 0], axis=1).astype(float)


def test_a_result_before_the_first_value_is_one_turn():
    """Descents of the first batch have passed ends of the turn, but none is backed up."""
    seen = []

    def evaluator(observations):
        seen.append(search.result())
        return np.full((len(observations), 2), 0.5)

    search = Search(ai.new_game("nim", piles=[3, 2]).state, evaluator=evaluator, batch_size=32, seed=1)
    search.run(iterations=32)
    assert seen[0]["iterations"] == 0
    assert len(seen[0]["candidates"][0]["actions"]) == 1


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("game", GAMES)
def test_every_leaf_is_evaluated_once_and_visits_add_up(game, threads):
    position = ai.new_game(game, players=3, seed=2)
    evaluator = Counted(3)
    weights = registry.get(game).weights()
    search = Search(position.state, weights=weights, threads=threads, evaluator=evaluator, batch_size=8, seed=1)
    search.run(iterations=101)
    found = search.result(3)
    assert found["iterations"] == 101
    assert found["stop_reason"] == "iterations"
    search.check_visits()
    assert max(evaluator.sizes) <= 8
    assert sum(evaluator.sizes) <= 101
    assert evaluator.threads == {threading.get_ident()}
    assert sum(found["candidates"][0]["value"]) == pytest.approx(1)


def test_the_evaluator_sees_the_leaves_and_decides():
    position = ai.new_game("nim", piles=[3, 5, 6, 1])
    result = ai.best_turn(position, iterations=400, seed=1, evaluator=nim_solution, batch_size=4)
    after = position.copy()
    after.push(result.turn)
    assert np.bitwise_xor.reduce(after.to_json()["piles"]) == 0  # the one kind of turn that wins
    assert result.value[0] > 0.5


def test_one_thread_is_deterministic():
    position = ai.new_game("coatl", players=2, seed=3)
    found = [ai.best_turn(position, iterations=64, seed=5, evaluator=Counted(2)).to_json() for _ in range(2)]
    for result in found:
        del result["seconds"]
    assert found[0] == found[1]


def test_scores_and_surplus_columns():
    position = ai.new_game("mexica", players=2, seed=1)

    def evaluator(observations):
        n = len(observations)
        me = env.schema("mexica").split(observations)["to_move"][:, 0]
        assert (me == 1).all()
        return np.tile([3.0, 1.0, 9.0, 9.0], (n, 1)), np.tile([70.0, 30.0, 0.0, 0.0], (n, 1))

    search = Search(position.state, weights=registry.get("mexica").weights(), evaluator=evaluator, batch_size=4)
    search.run(iterations=1)
    root = search.tree()[0]
    # Clipped to [0, 1], and made to sum to 1.
    assert root["value"] == [0.5, 0.5]
    assert sorted(root["expected_scores"]) == [30, 70]


@pytest.mark.parametrize("piles", [[2, 2], [1, 1], [3]])
@pytest.mark.parametrize("batch_size", [1, 8, 64])
def test_without_scores_the_margin_counts_nowhere(piles, batch_size):
    # Ends of the game in the first batch, too, are worth the same as in a search that leaves the margin out.
    found = []
    for options in ({"margin_weight": 1.0}, {"margin_weight": 0.0}):
        search = Search(
            ai.new_game("nim", piles=piles).state, evaluator=Counted(2), batch_size=batch_size, seed=1, **options
        )
        search.run(iterations=150)
        search.check_visits()
        found.append((search.decisions(1), search.tree()))
    assert found[0] == found[1]
    assert found[0][0]


def test_the_form_is_asked_for_even_if_the_game_is_over_at_all_leaves():
    evaluator = Counted(2)
    search = Search(ai.new_game("nim", piles=[1, 0]).state, evaluator=evaluator, batch_size=8, seed=1)
    search.run(iterations=50)
    assert evaluator.sizes == [1]
    assert search.result()["iterations"] == 1


@pytest.mark.parametrize("is_first", [False, True])
def test_scores_come_always_or_never(is_first):
    answers = []

    def evaluator(observations):
        values = np.full((len(observations), 2), 0.5)
        answers.append((len(answers) == 0) == is_first)
        return (values, np.zeros_like(values)) if answers[-1] else values

    search = Search(ai.new_game("nim").state, evaluator=evaluator, batch_size=4)
    with pytest.raises(SearchError, match="expected one form in a search") as caught:
        search.run(iterations=100)
    assert caught.value.reason == "BAD_EVALUATION"
    assert len(answers) == 2
    search.check_visits()


def test_a_forced_turn_takes_one_evaluation():
    evaluator = Counted(2)
    result = ai.best_turn(ai.new_game("nim", piles=[1, 0]), iterations=50, evaluator=evaluator)
    assert (result.stop_reason, result.iterations) == ("forced", 1)


def test_limits_and_stops():
    position = ai.new_game("mexica", players=2, seed=1)
    assert ai.best_turn(position, time_s=0.05, evaluator=Counted(2)).stop_reason == "time"
    results = ai.analyze(position, evaluator=Counted(2), interval_s=0.01)
    assert next(results).iterations >= 0
    results.close()
    small = Search(
        position.state, weights=registry.get("mexica").weights(), evaluator=Counted(2), batch_size=8, memory_mb=1
    )
    small.run()
    assert small.result()["stop_reason"] == "memory"
    small.check_visits()


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (np.zeros((3, 2)), "expected finite numbers of shape"),
        (np.full((1, 2), np.nan), "expected finite numbers"),
        ("no", "expected finite numbers"),
        ((np.full((1, 2), 0.5), np.zeros((1, 1))), "given scores of shape"),
        ([[0.5], [0.5, 0.5]], "given values in rows of different lengths; expected finite numbers of shape"),
        ([[10**400, 0]], "expected finite numbers of shape"),
    ],
)
def test_bad_output_is_an_error(found, message):
    position = ai.new_game("nim")
    search = Search(position.state, evaluator=lambda observations: found, batch_size=1)
    with pytest.raises(SearchError, match=message) as caught:
        search.run(iterations=10)
    assert caught.value.reason == "BAD_EVALUATION"


def test_an_error_of_the_evaluator_ends_the_search():
    def fail(observations):
        raise ZeroDivisionError

    search = Search(ai.new_game("nim").state, evaluator=fail, batch_size=4)
    with pytest.raises(ZeroDivisionError):
        search.run(iterations=10)
    search.check_visits()
    assert search.result()["iterations"] == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_after_ends_of_the_game_keeps_their_visits(threads):
    sizes = []

    def fail(observations):
        sizes.append(len(observations))
        if len(observations) < 8 and len(sizes) > 1:  # the other descents of the batch have ended the game
            raise ZeroDivisionError
        return np.full((len(observations), 2), 0.5)

    search = Search(ai.new_game("nim", piles=[2, 2]).state, evaluator=fail, batch_size=8, threads=threads, solve=0)
    with pytest.raises(ZeroDivisionError):
        search.run(iterations=200)
    # Not `check_visits`: a descent may have passed the leaf of another one that the error has undone.
    root = search.tree()[0]
    assert root["visits"] == search.result()["iterations"] > sum(sizes[:-1])
    assert root["visits"] == sum(edge["visits"] for edge in root["edges"]) + 1  # one ended at the root


def test_read_only_output():
    values, scores = np.full((1, 2), 0.5), np.zeros((1, 2))
    values.setflags(write=False)
    scores.setflags(write=False)
    search = Search(ai.new_game("nim").state, evaluator=lambda observations: (values, scores), batch_size=1)
    search.run(iterations=3)
    search.check_visits()


def test_what_is_refused():
    position = ai.new_game("nim")
    for size in (0, 5000, 1.5):
        with pytest.raises(SearchError, match="batch_size"):
            ai.best_turn(position, iterations=5, evaluator=nim_solution, batch_size=size)


def save_network(path, game, *, size=None, version=None, outputs=("value",), batch="N"):
    """Write a network that weighs nothing but the first numbers: all seats are equal to it."""
    onnx = pytest.importorskip("onnx")
    size = schema(game).size if size is None else size
    nodes = [onnx.helper.make_node("MatMul", ["x", "w"], ["logits"])]
    nodes += [
        onnx.helper.make_node("Softmax" if name == "value" else "Identity", ["logits"], [name]) for name in outputs
    ]
    floats = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        nodes,
        "network",
        [onnx.helper.make_tensor_value_info("x", floats, [batch, size])],
        [onnx.helper.make_tensor_value_info(name, floats, ["N", 4]) for name in outputs],
        [onnx.numpy_helper.from_array(np.zeros((size, 4), np.float32), "w")],
    )
    opset = onnx.helper.make_opsetid("", 17)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=9)
    entries = {GAME_KEY: game, SCHEMA_KEY: str(schema(game).version if version is None else version)}
    onnx.helper.set_model_props(model, entries)
    onnx.save(model, path)
    return path


@pytest.mark.parametrize("outputs", [("value",), ("value", "score")])
def test_an_engine_with_a_network(tmp_path, outputs):
    path = save_network(tmp_path / "a.onnx", "coatl", outputs=outputs)
    pytest.importorskip("onnxruntime")
    position = ai.new_game("coatl", players=2, seed=1)
    with make_engine(f"mcts,evaluator={path},batch=8,iterations=40") as engine:
        result = engine.best_turn(position, seed=1)
        assert result.iterations == 40
        assert result.value == pytest.approx([0.5, 0.5])
        with pytest.raises(NotationError, match="is for coatl, version 1; expected nim, version 1"):
            engine.best_turn(ai.new_game("nim"))


def test_networks_that_do_not_fit(tmp_path):
    pytest.importorskip("onnxruntime")
    with pytest.raises(NotationError, match=r"none\.onnx"):
        OnnxEvaluator(tmp_path / "none.onnx")
    (tmp_path / "text.onnx").write_text("no network")
    with pytest.raises(NotationError, match="no ONNX file"):
        make_engine(f"mcts,evaluator={tmp_path / 'text.onnx'}")
    with pytest.raises(NotationError, match="version 2; expected nim, version 1"):
        OnnxEvaluator(save_network(tmp_path / "old.onnx", "nim", version=2)).check("nim")
    with pytest.raises(NotationError, match=r"takes 7 numbers; expected \d+, those of nim"):
        OnnxEvaluator(save_network(tmp_path / "small.onnx", "nim", size=7)).check("nim")
    with pytest.raises(NotationError, match="takes batches of 1 alone; expected a first axis of any length"):
        OnnxEvaluator(save_network(tmp_path / "one.onnx", "nim", batch=1))
    network = OnnxEvaluator(save_network(tmp_path / "good.onnx", "nim"))
    with pytest.raises(SearchError, match=r"good\.onnx: cannot be run: ") as caught:
        network(np.zeros((2, 3), np.float32))
    assert caught.value.reason == "BAD_EVALUATION"


def await_in_parts(search):
    while not search.wait(1e-6):
        pass


def test_waiting_again_and_again_is_one_search():
    """Each `wait` goes on with the search: no leaf is backed up twice, and the first answer stays the first."""
    answer = np.array([[0.5, 0.5]])
    position = ai.new_game("nim", piles=[3, 2])
    search = Search(position.state, seed=1, evaluator=lambda rows: np.repeat(answer, len(rows), axis=0), batch_size=4)
    search.start(iterations=300)
    await_in_parts(search)
    search.check_visits()
    answers = iter([lambda rows: (np.repeat(answer, len(rows), axis=0),) * 2])

    def changes(rows):
        return next(answers, lambda rows: np.repeat(answer, len(rows), axis=0))(rows)

    search = Search(position.state, seed=1, evaluator=changes, batch_size=4)
    search.start(iterations=300)
    with pytest.raises(ai.SearchError, match="answered without scores"):
        await_in_parts(search)


def test_one_thread_waits_at_a_time():
    errors = []

    def wait():
        try:
            search.wait(0)
        except ai.SearchError as error:
            errors.append(error.reason)

    def evaluator(rows):
        other = threading.Thread(target=wait)
        other.start()
        other.join()
        return np.full((len(rows), 2), 0.5)

    search = Search(ai.new_game("nim", piles=[3, 2]).state, seed=1, evaluator=evaluator, batch_size=4)
    search.run(iterations=8)
    assert set(errors) == {"SEARCH_RUNNING"}
    assert search.wait()  # it has ended
