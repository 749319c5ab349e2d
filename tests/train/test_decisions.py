"""Decisions: positions with turns that were rolled out, and what choices are worth in them."""

import dataclasses
import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.io import files
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.train import decisions

SIZES = decisions.Sizes(play=2, search=40, top=2, below=1, odd=1, iterations=2, depth=3, rollouts=4, finished=2)
GAMES = ["mexica", "coatl", "tzolkin"]
DATA = sorted((Path(__file__).parents[2] / "benchmarks" / "data").glob("*.jsonl.gz"))


@pytest.fixture(scope="module", params=GAMES)
def decision(request):
    return decisions.decide(request.param, 3, 1, SIZES)


@pytest.fixture(scope="module")
def coatl():
    return decisions.decide("coatl", 3, 2, SIZES)


def test_a_decision_is_a_position_with_different_legal_turns_and_their_rollouts(decision):
    position = Position.from_compact(decision["position"])
    assert position.to_move is not None
    assert decision["phase"] == 0
    assert decision["odd_turns"] in decisions.ODD_TURNS
    [policy] = decision["policies"]
    assert policy["policy"].endswith(f"weights={registry.get(decision['game']).weights().version}")
    assert 2 <= len(policy["turns"]) == decision["turns"] <= 4
    assert len({decisions.key_of(decision, rolled["turn"]) for rolled in policy["turns"]}) == len(policy["turns"])
    for rolled in policy["turns"]:
        position.copy().push(rolled["turn"])
        assert np.shape(rolled["outlook"]) == (4, 2)
        assert np.shape(rolled["outcome"]) == (2, 2)
        assert {share for share, _ in rolled["outcome"]} <= {0.0, 0.5, 1.0}
        assert all(0 <= share <= 1 for share, _ in rolled["outlook"])


def test_the_same_numbers_give_the_same_decision(coatl):
    assert decisions.decide("coatl", 3, 2, SIZES) == coatl
    assert decisions.decide("coatl", 4, 2, SIZES)["position"] != coatl["position"]
    assert coatl["odd_turns"] == 0
    assert coatl["phase"] == 1


def test_rollouts_do_not_use_what_the_seat_cannot_see(coatl):
    position, weights = Position.from_compact(coatl["position"]), registry.get("coatl").weights()
    rolled = coatl["policies"][0]["turns"][0]
    seen = position.view(position.to_move)
    others = [seen.guess(seed=seed) for seed in range(8)]
    assert any(other != position for other in others)
    actions = [registry.get("coatl").text.parse_action(text) for text in rolled["turn"].split("; ")]
    seeds = [f"3/2/{number}" for number in range(4)]
    for other in [position, *others[:2]]:
        found = decisions.roll_out(other.state, actions, seeds, SIZES, weights)
        assert found == (rolled["outlook"], rolled["outcome"])


def test_greedy_turns_can_play_the_rollouts(coatl):
    position, weights = Position.from_compact(coatl["position"]), registry.get("coatl").weights()
    sizes = dataclasses.replace(SIZES, iterations=0, finished=4)
    actions = [registry.get("coatl").text.parse_action(text) for text in decisions.anchor(coatl).split("; ")]
    outlooks, outcomes = decisions.roll_out(position.state, actions, "abcd", sizes, weights)
    assert len(outlooks) == len(outcomes) == 4
    assert (outlooks, outcomes) == decisions.roll_out(position.state, actions, "abcd", sizes, weights)
    assert len({margin for _, margin in outcomes}) > 1
    assert decisions.policy_name(0, weights) == f"greedy,weights={weights.version}"


def made_up(values):
    """Return a decision whose rollouts have given values, of shape (turn, rollout): outlook and outcome alike."""
    turns = [
        {"turn": str(number), "outlook": [[x, 10 * x] for x in row], "outcome": [[x, 10 * x] for x in row[:4]]}
        for number, row in enumerate(values)
    ]
    return {"turns": len(turns), "position": "made up", "policies": [{"policy": "made up", "turns": turns}]}


def test_the_best_of_equal_turns_is_not_overrated():
    random_ = np.random.default_rng(1)
    noise = random_.normal(size=(400, 6, 8))
    best = np.mean([decisions.best(made_up(values)) for values in noise], axis=0)
    assert abs(best[decisions.KINDS.index("outlook"), 0]) < 0.1
    overrated = (noise.mean(axis=2).max(axis=1) - noise[:, 0].mean(axis=1)).mean()
    assert overrated > 0.4


def test_the_best_turn_is_found_and_has_its_value():
    random_ = np.random.default_rng(1)
    values = 0.1 * random_.normal(size=(100, 6, 8)) + np.array([0, 0, 2, 0, 1, 0])[:, None]
    best = np.mean([decisions.best(made_up(each)) for each in values], axis=0)
    np.testing.assert_allclose(best, [[2, 20], [2, 20]], rtol=0.05)


def test_turns_that_were_measured_later_do_not_move_the_zero_of_the_regret():
    before = made_up(np.zeros((2, 8)))
    after = made_up(np.concatenate([np.zeros((2, 8)), np.ones((1, 8))])) | {"turns": 2}
    assert (decisions.best(after) == 0).all()
    assert (decisions.best(after | {"turns": 3}) > 0).all()
    assert decisions.digest([after]) == decisions.digest([before]) != decisions.digest([after | {"turns": 3}])


def test_an_outcome_is_the_mean_outlook_and_the_mean_change_after_it():
    rolled = {"outlook": [[0.1, 1], [0.3, 3], [0.6, 6], [0.8, 8]], "outcome": [[0, -4], [1, 9]]}
    outcome, outlook = decisions.estimates(rolled)
    np.testing.assert_allclose(outlook, [0.45, 4.5])
    np.testing.assert_allclose(outcome, [0.45 + 0.3, 4.5 + 0.5])


def test_choices_that_nobody_rolled_out_are_rolled_out_once(coatl):
    shipped = registry.get("coatl").weights()
    turns = coatl["policies"][0]["turns"]
    lean = coatl | {"turns": 1, "policies": [coatl["policies"][0] | {"turns": turns[:1]}]}
    engines = [("random,seed=5", {}), ("random,seed=6", {}), ("mcts", {"iterations": 40, "memory": 8})]
    full, choices = decisions.choose(lean, engines)
    known = decisions.advantages(full)
    assert len(known) > 1
    assert set(known) == {decisions.key_of(lean, turn) for turn in [turns[0]["turn"], *choices]}
    assert [policy["policy"] for policy in full["policies"]] == [decisions.policy_name(2, shipped)]
    assert decisions.choose(full, engines) == (full, choices)
    assert known[decisions.key_of(full, decisions.anchor(full))].tolist() == [[0, 0], [0, 0]]
    for rolled in full["policies"][0]["turns"]:
        again = [each for each in turns if each["turn"] == rolled["turn"]]
        assert again in ([], [rolled])


def test_other_weights_are_compared_with_their_own_rollouts_of_the_anchor(coatl):
    spec = registry.get("coatl").learning.weights
    arrays = spec.load().arrays()
    arrays["linear"][:] *= 0.5
    others = spec.make(arrays)
    lean = coatl | {"turns": 1, "policies": [coatl["policies"][0] | {"turns": coatl["policies"][0]["turns"][:1]}]}
    full, [choice] = decisions.choose(lean, [("random,seed=5", {})], others)
    assert full["policies"][0] == lean["policies"][0]
    policy = full["policies"][1]
    assert policy["policy"] == decisions.policy_name(2, others)
    assert [rolled["turn"] for rolled in policy["turns"]] == [decisions.anchor(coatl), choice]
    expected = decisions.estimates(policy["turns"][1]) - decisions.estimates(policy["turns"][0])
    np.testing.assert_array_equal(decisions.advantages(full)[decisions.key_of(full, choice)], expected)


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.name)
def test_the_decisions_that_ship_can_be_used(path):
    game = path.name.split(".")[0].split("_")[0]
    found = decisions.read(path, game)
    assert {decision["phase"] for decision in found} == {0, 1, 2}
    assert 0.4 < np.mean([decision["odd_turns"] > 0 for decision in found]) < 0.6
    for decision in found[::10]:
        assert 3 <= decision["turns"] <= 7
        assert decisions.advantages(decision)[decisions.key_of(decision, decisions.anchor(decision))].tolist() == [
            [0, 0],
            [0, 0],
        ]


def make(path, positions, game="mexica"):
    with ThreadPoolExecutor(1) as executor:
        decisions.make(path, executor, game=game, positions=positions, sizes=SIZES, seed=1)


def test_a_stopped_run_goes_on_and_files_are_read_in_their_order(tmp_path):
    path, whole = tmp_path / "some.jsonl", tmp_path / "whole.jsonl.gz"
    make(path, 2)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[1] + lines[0][:50])  # the other order, the last line torn
    make(path, 2)
    found = decisions.read(path, "mexica")
    assert found == [json.loads(line) for line in lines]
    decisions.write(whole, found)
    assert gzip.decompress(whole.read_bytes()) == b"".join(lines)
    assert decisions.read(whole, "mexica") == found
    with pytest.raises(NotationError, match='given "mexica"; expected "coatl"'):
        decisions.read(path, "coatl")
    spec = registry.get("mexica").learning.weights
    arrays = spec.load().arrays()
    arrays["linear"][:] *= 0.5
    with ThreadPoolExecutor(1) as executor, pytest.raises(SearchError, match="another file or another seed"):
        decisions.make(path, executor, game="mexica", positions=3, sizes=SIZES, seed=1, weights=spec.make(arrays))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no decisions; expected at least one"),
        (b'{"game": "mexica"}\n', "decision"),
        (b"no JSON\n", "not JSON|JSON"),
    ],
)
def test_files_that_hold_something_else_are_refused(tmp_path, monkeypatch, content, message):
    path = tmp_path / "some.jsonl"
    path.write_bytes(content)
    with pytest.raises(NotationError, match=message):
        decisions.read(path, "mexica")
    compressed = tmp_path / "some.jsonl.gz"
    packed = gzip.compress(content)
    for data in (b"not compressed", packed[:12], packed[:10] + b"\xff" + packed[11:]):  # the last: a zlib.error
        compressed.write_bytes(data)
        with pytest.raises(NotationError, match="cannot read"):
            decisions.read(compressed, "mexica")
    compressed.write_bytes(gzip.compress(b"[" * 5000))
    monkeypatch.setattr(files, "MAX_JSON", 1000)
    with pytest.raises(NotationError, match="line 1 has over 1,000 bytes"):
        decisions.read(compressed, "mexica")
    with pytest.raises(NotationError, match="cannot read"):
        decisions.read(tmp_path / "missing.jsonl", "mexica")
