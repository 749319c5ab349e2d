"""Weights: the network's inputs and answers, values in memory and in files, several sets in one process."""

import copy
import hashlib
import json
import math
import os
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mexica_ai as ai
from cext.core.baselines import beam, simple
from cext.core.learning.weights import BELIEF, Weights
from cext.core.search import search
from mexica_ai.cli.main import main
from mexica_ai.engines import make_engine
from mexica_ai.game import registry
from mexica_ai.game import weights as weight_files
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.train import value

GAMES = [name for name in registry.names() if registry.get(name).learning.weights]


@pytest.fixture(params=GAMES)
def entry(request):
    return registry.get(request.param)


@pytest.fixture
def spec(entry):
    return entry.learning.weights


@pytest.fixture
def midgame(entry):
    return ai.load(f"examples/{entry.name}_midgame.json")


@pytest.fixture
def by_hand(spec, tmp_path):
    """Return the file of other weights than those that ship: the hand-made estimate."""
    path = tmp_path / "by_hand.json"
    spec.save(path, spec.make(spec.estimate().arrays(), {"games": 0}))
    return path


def walk(game, players, seed):
    """Yield the positions of a random game between its turns, the end aside."""
    position = ai.new_game(game, players=players, seed=seed)
    with make_engine("random") as engine:
        while not position.is_over:
            if position.is_chance:
                position.draw(seed)
                continue
            yield position
            position.push(engine.best_turn(position, seed=seed).turn)


# The network


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_position_has_finite_features_and_values(entry, spec, players):
    for position in walk(entry.name, players, 3):
        features = spec.features(position.state)
        assert features.shape == (players, 3 * len(spec.own_features) + len(spec.shared_features))
        assert np.isfinite(features).all()
        assert np.abs(features).max() < 20
        values, points = simple.evaluate(position.state, weights=entry.weights())
        assert math.isclose(sum(values), 1, abs_tol=1e-6)
        assert all(math.isfinite(x) for x in (*values, *points))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_rivals_features_are_the_largest_and_the_mean(spec, players):
    n = len(spec.own_features)
    for position in walk(spec.game, players, 4):
        features = spec.features(position.state)
        for seat in range(players):
            others = np.delete(features[:, :n], seat, axis=0)
            assert np.allclose(features[seat, n : 2 * n], others.max(0))
            assert np.allclose(features[seat, 2 * n : 3 * n], others.mean(0), atol=1e-5)


def test_features_refuse_another_game(spec):
    with pytest.raises(TypeError, match=f"expected a state of {spec.game}"):
        spec.features(ai.new_game("nim").state)


def test_the_network_is_what_numpy_computes(entry, spec, midgame):
    for weights in (entry.weights(), spec.estimate()):
        outputs = value.forward(spec.features(midgame.state)[None], weights.arrays())[-1][0]
        values, points = simple.evaluate(midgame.state, weights=weights)
        powers = np.exp(outputs[:, 0] - outputs[:, 0].max())
        assert np.allclose(values, powers / powers.sum(), atol=1e-4)
        assert np.allclose(points, 50 * outputs[:, 1], atol=1e-2)


# Values


def test_weights_do_not_change(entry, spec):
    weights = entry.weights()
    for name, array in weights.arrays().items():
        array[:] = 7
        assert not np.array_equal(weights.arrays()[name], array)
    given = weights.arrays()
    made = spec.make(given, {"games": [1]})
    assert made.sha256 == weights.sha256
    given["b1"][:] = 7
    made.provenance["games"].append(2)
    assert made.provenance == {"games": [1]}
    assert np.array_equal(made.arrays()["b1"], weights.arrays()["b1"])
    with pytest.raises(AttributeError):
        made.sha256 = ""
    with pytest.raises(TypeError, match="made by a WeightsSpec"):
        Weights()


def test_the_checksum_tells_weights_apart(spec):
    arrays = spec.estimate().arrays()
    first = spec.make(arrays)
    assert first.version == first.sha256[:12]
    arrays["linear"][0, 0] = np.nextafter(arrays["linear"][0, 0], np.float32(1))
    assert spec.make(arrays).sha256 != first.sha256


def test_arrays_that_are_no_weights_are_refused(entry, spec):
    before = entry.weights().arrays()
    wrong = [
        ("b3", np.zeros(3)),
        ("b3", np.full(2, np.nan)),
        ("b3", np.full(2, 1e300)),
        ("w1", before["w1"].T),
    ]
    wrong += [("priors", np.zeros((7, 3))), ("priors", -before["priors"]), ("priors", 0 * before["priors"])]
    for name, array in wrong:
        with pytest.raises(NotationError, match=f"weights {name}: expected"):
            spec.make(before | {name: array})


def test_searches_refuse_to_run_without_weights_or_with_those_of_another_game(entry, midgame):
    state = midgame.state
    other = next(registry.get(game).weights() for game in GAMES if game != entry.name)
    nim = ai.new_game("nim").state
    for function in (search.Search, beam.Beam, simple.greedy_turn, simple.evaluate):
        with pytest.raises(TypeError, match=f"weights: expected Weights of {entry.name}, got NoneType"):
            function(state)
        with pytest.raises(TypeError, match=f"expected Weights of {entry.name}, got Weights of {other.game}"):
            function(state, weights=other)
        with pytest.raises(TypeError, match="expected Weights of nim"):
            function(nim, weights=other)
        function(nim)


def test_a_search_keeps_its_weights(spec, midgame):
    searching = search.Search(midgame.state, weights=spec.estimate(), seed=1)
    for _ in range(20):
        spec.make({name: array + 1 for name, array in spec.estimate().arrays().items()})
    searching.run(iterations=200)
    expected = search.Search(midgame.state, weights=spec.estimate(), seed=1)
    expected.run(iterations=200)
    assert searching.result()["candidates"] == expected.result()["candidates"]


# Files


def test_weights_are_written_and_read_back(spec, tmp_path):
    arrays = spec.estimate().arrays()
    arrays["b3"] = np.array([0.25, -0.125], np.float32)
    path = tmp_path / "weights.json"
    spec.save(path, spec.make(arrays, {"games": 0}))
    assert [each.name for each in tmp_path.iterdir()] == ["weights.json"]
    for weights in (spec.load(path), registry.load_weights_file(path)):
        assert weights.game == spec.game
        assert weights.provenance == {"games": 0}
        assert weights.sha256 == spec.make(arrays).sha256
        for name, array in weights.arrays().items():
            assert np.array_equal(array, arrays[name]), name


def test_weights_are_on_the_disk_before_they_have_their_name(spec, tmp_path, monkeypatch):
    path, synced = tmp_path / "weights.json", []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append((os.fstat(file).st_size, path.exists())))
    spec.save(path, spec.estimate())
    assert synced == [(path.stat().st_size, False)]


def test_what_ships_is_a_file_as_any_other(entry, spec, shipped_weights, tmp_path):
    copied = shutil.copy(spec.path, tmp_path / "copy.json")
    assert registry.load_weights_file(copied).sha256 == entry.weights().sha256
    content = json.loads(spec.path.read_text())
    assert content["sha256"] == entry.weights().sha256
    # As files were before they named their game, and before there were policies.
    arrays = entry.weights().arrays()
    without = spec.make({name: arrays[name] for name in spec.shapes if name != BELIEF})
    spec.save(tmp_path / "old.json", without)
    content = json.loads((tmp_path / "old.json").read_text())
    content["format"] = 2
    del content["game"]
    (tmp_path / "old.json").write_text(json.dumps(content))
    assert registry.load_weights_file(tmp_path / "old.json").game == entry.name
    assert registry.load_weights_file(tmp_path / "old.json").sha256 == without.sha256


def damage(change):
    """Return a function that makes a changed copy of the shipped file."""

    def write(spec, path):
        content = json.loads(spec.path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    return write


def text(content):
    return lambda spec, path: path.write_text(content)


def cut(spec, path):
    path.write_bytes(spec.path.read_bytes()[:-1000])


def other_game(spec, path):
    other = next(registry.get(game).learning.weights for game in GAMES if game != spec.game)
    shutil.copy(other.path, path)


def test_a_file_of_before_that_lacks_a_feature_answers_as_before(entry, spec, tmp_path):
    n, lacking = len(spec.own_features), 2
    columns = [lacking + block * n for block in range(3)]
    arrays = entry.weights().arrays()
    arrays["linear"][:, columns] = arrays["w1"][columns] = 0
    whole, path = spec.make(arrays), tmp_path / "whole.json"
    spec.save(path, whole)
    content = json.loads(path.read_text())
    del content["features"][lacking]
    arrays["linear"], arrays["w1"] = np.delete(arrays["linear"], columns, 1), np.delete(arrays["w1"], columns, 0)
    content["weights"] |= {name: arrays[name].tolist() for name in ("linear", "w1")}
    flat = np.concatenate([array.ravel() for name, array in arrays.items() if name != BELIEF or array.any()])
    content["sha256"] = hashlib.sha256(flat.astype("<f4").tobytes()).hexdigest()
    content["version"] = content["sha256"][:12]
    path.write_text(json.dumps(content))
    assert spec.load(path).sha256 == whole.sha256
    content["weights"]["linear"][0][0] += 1
    path.write_text(json.dumps(content))
    with pytest.raises(NotationError, match="the file is damaged"):
        spec.load(path)


DAMAGES = [
    (damage(lambda content: content.update(format=1)), "format 1, expected 3"),
    (damage(lambda content: content.update(game="chess")), "weights of 'chess'"),
    (
        damage(
            lambda content: (
                [content.pop(key, None) for key in ("policy", "belief")] + [content.update(format=2, features=[])]
            )
        ),
        "other features",
    ),
    (damage(lambda content: content["features"].reverse()), "other features"),
    (damage(lambda content: content["categories"].append("more")), "other categories"),
    (damage(lambda content: content.update(provenance=[])), "provenance is not a JSON object"),
    (damage(lambda content: content["weights"]["b3"].append(1.0)), "weights b3: expected finite"),
    (
        damage(lambda content: content["weights"]["b3"].__setitem__(0, "1")),
        "weights b3: expected finite numbers",
    ),
    (damage(lambda content: content["weights"]["b3"].__setitem__(0, None)), "weights b3: expected finite"),
    (damage(lambda content: content["weights"]["w1"][0].pop()), "weights w1: expected finite numbers"),
    (damage(lambda content: content["weights"]["b3"].__setitem__(0, 1e300)), "weights b3: expected finite"),
    (damage(lambda content: content["weights"]["b3"].__setitem__(0, math.inf)), "Infinity is not JSON"),
    (damage(lambda content: content["weights"]["b3"].__setitem__(0, math.nan)), "NaN is not JSON"),
    (
        damage(lambda content: content["weights"]["priors"][0].__setitem__(0, 0)),
        "priors: expected numbers",
    ),
    (damage(lambda content: content["weights"]["b3"].__setitem__(0, 7.0)), "the checksum does not fit"),
    (damage(lambda content: content.update(sha256=7)), "the checksum does not fit"),
    (damage(lambda content: content.pop("sha256")), "no 'sha256'"),
    (damage(lambda content: content.update(version="0" * 12)), "version '000000000000', but the weights are"),
    (damage(lambda content: content.pop("version")), "no 'version'"),
    (damage(lambda content: content.update(comment="")), "unknown key 'comment'"),
    (damage(lambda content: content["weights"].update(w9=[])), "unknown weights 'w9'"),
    (damage(lambda content: content["weights"].pop("w2")), "no 'w2'"),
    (damage(lambda content: content.update(weights=[])), "weights is not a JSON object"),
    (cut, "expected JSON"),
    (text(""), "expected JSON"),
    (text("[" * 100_000), "nested too deeply"),
    (text("[]"), "the file is not a JSON object"),
    (text('{"game": "mexica", "version": 1}'), "no 'format'"),
    (lambda spec, path: path.write_bytes(b"\xff\xfe\x00"), "given UTF-16 or UTF-32"),
    (lambda spec, path: path.write_bytes(bytes(20)), "it is no text"),
    (lambda spec, path: path.write_bytes(b" " * (17 << 20)), "over 16,777,216 bytes"),
    (lambda spec, path: path.write_bytes(spec.path.read_bytes()[:-3] + b', "b3": []}}'), 'the key "b3" occurs twice'),
    (lambda spec, path: path.mkdir(), "Is a directory"),
    (lambda spec, path: None, "No such file"),
]


@pytest.mark.parametrize(("write", "problem"), DAMAGES)
def test_a_file_that_is_none_of_weights_is_bad_input(spec, tmp_path, capsys, write, problem):
    path = tmp_path / "bad.json"
    write(spec, path)
    with pytest.raises(NotationError) as caught:
        registry.load_weights_file(path)
    message = str(caught.value)
    assert message.startswith((f"{path}: ", f"cannot read {path}: "))
    assert problem in message
    assert "expected a file of weights of coatl or mexica or tzolkin" in message
    assert "\n" not in message
    assert caught.value.reason == "BAD_WEIGHTS"
    assert main(["best", f"examples/{spec.game}_midgame.json", "--weights", str(path)]) == 2
    assert capsys.readouterr().err == f"mexica-ai: error: {message}\n"


def test_weights_of_another_game_are_refused(entry, spec, midgame, tmp_path, capsys):
    path = tmp_path / "other.json"
    other_game(spec, path)
    with pytest.raises(NotationError, match=f"expected a file of weights of {entry.name}"):
        spec.load(path)
    with make_engine(f"mcts,weights={path}") as engine, pytest.raises(SearchError) as caught:
        engine.best_turn(midgame)
    assert caught.value.reason == "INVALID_WEIGHTS"
    other = next(game for game in GAMES if game != entry.name)
    problem = f"weights: given {path} of {other}; expected weights of {entry.name}"
    assert str(caught.value) == problem
    assert main(["best", f"examples/{entry.name}_midgame.json", "--weights", str(path)]) == 2
    assert capsys.readouterr().err == f"mexica-ai: error: {problem}\n"
    loaded = registry.load_weights_file(path)
    for weights, name in ((path, path), (loaded, loaded.version)):
        with pytest.raises(SearchError) as caught:
            ai.best_turn(ai.new_game("nim"), iterations=10, weights=weights)
        assert str(caught.value) == f"weights: given {name} of {other}; nim has no weights"


def test_weights_are_not_saved_as_those_of_another_game(spec, tmp_path):
    other = next(registry.get(game).weights() for game in GAMES if game != spec.game)
    with pytest.raises(TypeError, match=f"expected Weights of {spec.game}, got Weights of {other.game}"):
        spec.save(tmp_path / "weights.json", other)
    assert list(tmp_path.iterdir()) == []


def test_results_say_which_weights_were_used(entry, by_hand, midgame):
    other = registry.load_weights_file(by_hand).version
    assert ai.best_turn(midgame, iterations=20).weights == entry.weights().version
    assert ai.best_turn(midgame, iterations=20, weights=by_hand).to_json()["weights"] == other
    assert {found.weights for found in ai.analyze(midgame, iterations=20, weights=by_hand)} == {other}
    assert ai.best_turn(ai.new_game("nim"), iterations=20).weights is None
    for kind in ("mcts", "beam", "greedy"):
        with make_engine(f"{kind},weights={by_hand}") as engine:
            assert engine.best_turn(midgame, ai.Limits(iterations=20)).weights == other
    with make_engine("uct") as engine:
        assert engine.best_turn(midgame, ai.Limits(iterations=20)).weights is None


def test_where_the_shipped_file_cannot_be_read_the_estimate_plays(
    spec, shipped_weights, monkeypatch, tmp_path, midgame
):
    monkeypatch.setattr(spec, "path", tmp_path / "none.json")
    monkeypatch.setattr(weight_files, "shipped", weight_files.shipped.__wrapped__)
    with pytest.warns(RuntimeWarning, match=f"{spec.game.capitalize()} is played with a hand-made estimate"):
        weights = registry.get(spec.game).weights()
    assert weights.sha256 == spec.estimate().sha256
    with pytest.warns(RuntimeWarning, match="No such file"):
        assert ai.best_turn(midgame, iterations=20, seed=1).turn


# Several sets in one process


@pytest.mark.parametrize("kind", ["mcts", "beam", "greedy"])
def test_engines_of_one_process_have_weights_of_their_own(entry, by_hand, midgame, kind):
    def answer(engine):
        result = engine.best_turn(midgame, ai.Limits(iterations=300), seed=1, candidates=3)
        return [(candidate.turn, candidate.value) for candidate in result.candidates]

    with make_engine(kind) as usual, make_engine(f"{kind},weights={by_hand}") as other:
        assert usual.weights_id(entry.name) == entry.weights().version
        assert other.weights_id(entry.name) == registry.load_weights_file(by_hand).version
        expected = {usual: answer(usual), other: answer(other)}
        assert expected[usual] != expected[other]
        with ThreadPoolExecutor(4) as executor:
            for engine, found in executor.map(lambda engine: (engine, answer(engine)), [usual, other] * 6):
                assert found == expected[engine]


def test_best_turn_and_analyze_take_weights(entry, spec, shipped_weights, by_hand, midgame):
    usual = ai.best_turn(midgame, iterations=300, seed=1)
    for weights in (by_hand, str(by_hand), spec.load(by_hand)):
        found = ai.best_turn(midgame, iterations=300, seed=1, weights=weights)
        (*_, watched) = ai.analyze(midgame, iterations=300, seed=1, weights=weights)
        assert found.value == watched.value != usual.value
    assert ai.best_turn(midgame, iterations=300, seed=1, weights=spec.path).value == usual.value


@pytest.mark.parametrize("kind", ["uct", "random"])
def test_other_engines_use_no_weights(kind):
    with make_engine(kind) as engine:
        assert engine.weights_id("mexica") is None
    with pytest.raises(NotationError, match="unknown key 'weights'"):
        make_engine(f"{kind},weights=file.json")
    assert main(["best", "examples/mexica_midgame.json", "--engine", kind, "--weights", "file.json"]) == 2


def test_weights_can_be_pickled(entry, spec, midgame):
    arrays = entry.weights().arrays()
    arrays["linear"] *= 2
    made = spec.make(arrays, {"games": [1, 2]})
    for copied in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert (copied.game, copied.sha256, copied.version) == (entry.name, made.sha256, made.version)
        assert copied.provenance == {"games": [1, 2]}
        for name, array in copied.arrays().items():
            assert np.array_equal(array, arrays[name]), name
        answers = [simple.evaluate(midgame.state, weights=weights) for weights in (made, copied)]
        assert answers[0] == answers[1] != simple.evaluate(midgame.state, weights=entry.weights())
