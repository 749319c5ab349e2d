"""Cases: positions with turns that were rolled out, and what choices are worth in them."""

import dataclasses
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.io.errors import NotationError, SearchError

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import endings  # of the benchmarks, which are no package
import regret
import rollouts

SIZES = rollouts.Sizes(play=2, search=40, top=2, below=1, odd=1, iterations=2, depth=3, rollouts=4, finished=2)
GAMES = ["mexica", "coatl", "tzolkin"]


@pytest.fixture(scope="module", params=GAMES)
def case(request):
    return rollouts.make_case(request.param, 3, 1, SIZES)


@pytest.fixture(scope="module")
def coatl():
    return rollouts.make_case("coatl", 3, 2, SIZES)


def test_a_case_is_a_position_with_different_legal_turns_and_their_rollouts(case):
    position = Position.from_compact(case["position"])
    assert position.to_move is not None
    assert case["phase"] == 0
    assert case["odd_turns"] in rollouts.ODD_TURNS
    [rolled_out] = case["rollouts"]
    assert rolled_out["player"].endswith(f"weights={registry.get(case['game']).weights().version}")
    assert 2 <= len(rolled_out["turns"]) == case["turns"] <= 4
    assert len({rollouts.key_of(case, rolled["turn"]) for rolled in rolled_out["turns"]}) == len(rolled_out["turns"])
    for rolled in rolled_out["turns"]:
        position.copy().push(rolled["turn"])
        assert np.shape(rolled["outlook"]) == (4, 2)
        assert np.shape(rolled["outcome"]) == (2, 2)
        assert {share for share, _ in rolled["outcome"]} <= {0.0, 0.5, 1.0}
        assert all(0 <= share <= 1 for share, _ in rolled["outlook"])


def test_the_same_numbers_give_the_same_case(coatl):
    assert rollouts.make_case("coatl", 3, 2, SIZES) == coatl
    assert rollouts.make_case("coatl", 4, 2, SIZES)["position"] != coatl["position"]
    assert coatl["odd_turns"] == 0
    assert coatl["phase"] == 1


def test_rollouts_do_not_use_what_the_seat_cannot_see(coatl):
    position, weights = Position.from_compact(coatl["position"]), registry.get("coatl").weights()
    rolled = coatl["rollouts"][0]["turns"][0]
    seen = position.view(position.to_move)
    others = [seen.guess(seed=seed) for seed in range(8)]
    assert any(other != position for other in others)
    actions = [registry.get("coatl").text.parse_action(text) for text in rolled["turn"].split("; ")]
    seeds = [f"3/2/{number}" for number in range(4)]
    for other in [position, *others[:2]]:
        found = rollouts.roll_out(other.state, actions, seeds, SIZES, weights)
        assert found == (rolled["outlook"], rolled["outcome"])


def test_greedy_turns_can_play_the_rollouts(coatl):
    position, weights = Position.from_compact(coatl["position"]), registry.get("coatl").weights()
    sizes = dataclasses.replace(SIZES, iterations=0, finished=4)
    actions = [registry.get("coatl").text.parse_action(text) for text in rollouts.anchor(coatl).split("; ")]
    outlooks, outcomes = rollouts.roll_out(position.state, actions, "abcd", sizes, weights)
    assert len(outlooks) == len(outcomes) == 4
    assert (outlooks, outcomes) == rollouts.roll_out(position.state, actions, "abcd", sizes, weights)
    assert len({margin for _, margin in outcomes}) > 1
    assert rollouts.player_name(0, weights) == f"greedy,weights={weights.version}"


def made_up(values):
    """Return a case whose rollouts have given values, of shape (turn, rollout): outlook and outcome alike."""
    turns = [
        {"turn": str(number), "outlook": [[x, 10 * x] for x in row], "outcome": [[x, 10 * x] for x in row[:4]]}
        for number, row in enumerate(values)
    ]
    return {"turns": len(turns), "position": "made up", "rollouts": [{"player": "made up", "turns": turns}]}


def test_the_best_of_equal_turns_is_not_overrated():
    random_ = np.random.default_rng(1)
    noise = random_.normal(size=(400, 6, 8))
    best = np.mean([rollouts.best(made_up(values)) for values in noise], axis=0)
    assert abs(best[rollouts.KINDS.index("outlook"), 0]) < 0.1
    overrated = (noise.mean(axis=2).max(axis=1) - noise[:, 0].mean(axis=1)).mean()
    assert overrated > 0.4


def test_the_best_turn_is_found_and_has_its_value():
    random_ = np.random.default_rng(1)
    values = 0.1 * random_.normal(size=(100, 6, 8)) + np.array([0, 0, 2, 0, 1, 0])[:, None]
    best = np.mean([rollouts.best(made_up(each)) for each in values], axis=0)
    np.testing.assert_allclose(best, [[2, 20], [2, 20]], rtol=0.05)


def test_turns_that_were_measured_later_do_not_move_the_zero_of_the_regret():
    after = made_up(np.concatenate([np.zeros((2, 8)), np.ones((1, 8))])) | {"turns": 2}
    assert (rollouts.best(after) == 0).all()
    assert (rollouts.best(after | {"turns": 3}) > 0).all()


def test_an_outcome_is_the_mean_outlook_and_the_mean_change_after_it():
    rolled = {"outlook": [[0.1, 1], [0.3, 3], [0.6, 6], [0.8, 8]], "outcome": [[0, -4], [1, 9]]}
    outcome, outlook = rollouts.estimates(rolled)
    np.testing.assert_allclose(outlook, [0.45, 4.5])
    np.testing.assert_allclose(outcome, [0.45 + 0.3, 4.5 + 0.5])


def test_choices_that_nobody_rolled_out_are_rolled_out_once(coatl):
    shipped = registry.get("coatl").weights()
    turns = coatl["rollouts"][0]["turns"]
    lean = coatl | {"turns": 1, "rollouts": [coatl["rollouts"][0] | {"turns": turns[:1]}]}
    engines = [("random,seed=5", {}), ("random,seed=6", {}), ("mcts", {"iterations": 40, "memory": 8})]
    full, choices, forecasts = rollouts.choose(lean, engines)
    known = rollouts.advantages(full)
    assert len(known) > 1
    assert set(known) == {rollouts.key_of(lean, turn) for turn in [turns[0]["turn"], *choices]}
    assert [each["player"] for each in full["rollouts"]] == [rollouts.player_name(2, shipped)]
    assert rollouts.choose(full, engines) == (full, choices, forecasts)
    assert known[rollouts.key_of(full, rollouts.anchor(full))].tolist() == [[0, 0], [0, 0]]
    for rolled in full["rollouts"][0]["turns"]:
        again = [each for each in turns if each["turn"] == rolled["turn"]]
        assert again in ([], [rolled])


def test_other_weights_are_compared_with_their_own_rollouts_of_the_anchor(coatl):
    spec = registry.get("coatl").learning.weights
    arrays = spec.load().arrays()
    arrays["linear"][:] *= 0.5
    others = spec.make(arrays)
    lean = coatl | {"turns": 1, "rollouts": [coatl["rollouts"][0] | {"turns": coatl["rollouts"][0]["turns"][:1]}]}
    full, [choice], _ = rollouts.choose(lean, [("random,seed=5", {})], others)
    assert full["rollouts"][0] == lean["rollouts"][0]
    rolled_out = full["rollouts"][1]
    assert rolled_out["player"] == rollouts.player_name(2, others)
    assert [rolled["turn"] for rolled in rolled_out["turns"]] == [rollouts.anchor(coatl), choice]
    expected = rollouts.estimates(rolled_out["turns"][1]) - rollouts.estimates(rolled_out["turns"][0])
    np.testing.assert_array_equal(rollouts.advantages(full)[rollouts.key_of(full, choice)], expected)


def make(path, positions, game="mexica"):
    with ThreadPoolExecutor(1) as executor:
        rollouts.make(path, executor, game=game, positions=positions, sizes=SIZES, seed=1)


def test_a_stopped_run_goes_on_and_files_are_read_in_their_order(tmp_path):
    path, whole = tmp_path / "some.jsonl", tmp_path / "whole.jsonl"
    make(path, 2)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[1] + lines[0][:50])  # the other order, the last line torn
    make(path, 2)
    found = rollouts.read(path, "mexica")
    assert found == [json.loads(line) for line in lines]
    rollouts.write(whole, found)
    assert whole.read_bytes() == b"".join(lines)
    with pytest.raises(NotationError, match='given "mexica"; expected "coatl"'):
        rollouts.read(path, "coatl")
    spec = registry.get("mexica").learning.weights
    arrays = spec.load().arrays()
    arrays["linear"][:] *= 0.5
    with ThreadPoolExecutor(1) as executor, pytest.raises(SearchError, match="another file or another seed"):
        rollouts.make(path, executor, game="mexica", positions=3, sizes=SIZES, seed=1, weights=spec.make(arrays))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no cases; expected at least one"),
        (b'{"game": "mexica"}\n', "case"),
        (b"no JSON\n", "not JSON|JSON"),
    ],
)
def test_files_that_hold_something_else_are_refused(tmp_path, content, message):
    path = tmp_path / "some.jsonl"
    path.write_bytes(content)
    with pytest.raises(NotationError, match=message):
        rollouts.read(path, "mexica")
    with pytest.raises(NotationError, match="cannot read"):
        rollouts.read(tmp_path / "missing.jsonl", "mexica")


def test_a_case_before_the_end_has_a_turn_that_ends_the_game_or_a_rival_that_can():
    [line] = Path("tests/data/games/coatl.jsonl").read_text().splitlines()[:1]
    sizes = endings.sizes(search=40, top=2, count=4)
    case = endings.make_case(json.loads(line), 0, sizes)
    position = Position.from_compact(case["position"])
    assert position.to_json()["ending"] is None
    turns = case["rollouts"][0]["turns"]
    assert len(turns) == case["turns"] >= 2
    for rolled in turns:
        position.copy().push(rolled["turn"])
        assert np.shape(rolled["outcome"]) == (2, 2)  # the means of the even and of the odd rollouts
        assert rolled["outcome"] == rolled["outlook"]
    assert endings.make_case(json.loads(line), 0, sizes) == case


def test_a_file_of_endings_is_continued_with_the_same_settings_only(tmp_path, coatl):
    path, record = tmp_path / "some.jsonl", {"game": "coatl"}
    sizes, weights = endings.sizes(search=40, top=2, count=4), registry.get("coatl").weights()
    made = {"seed": 0, "number": 0, "weights": weights.version, **dataclasses.asdict(sizes)}
    rollouts.write(path, [coatl | {"case": made}])
    endings.make(path, [record], every=1, positions=1, sizes=sizes)
    for change, problem in (
        ({"rollouts": 6, "finished": 6}, "rollouts 6, finished 6"),
        ({"weights": "0123456789ab"}, "weights 0123456789ab"),
    ):
        rollouts.write(path, [coatl | {"case": made | change}])
        with pytest.raises(SearchError, match=f"holds cases of {problem}; expected the same settings"):
            endings.make(path, [record], every=1, positions=1, sizes=sizes)


@pytest.mark.parametrize("command", ["make", "endings", "measure"])
def test_one_command_at_a_time_uses_a_file_of_cases(command, tmp_path, monkeypatch, coatl):
    path = tmp_path / "cases.jsonl"
    rollouts.write(path, [coatl])
    options = {"measure": ["--data", path, "--engine", "greedy"], "endings": ["--records", path]}
    arguments = ["regret.py", command, "coatl", *options.get(command, []), *(["--out", path] * (command != "measure"))]
    monkeypatch.setattr(sys, "argv", list(map(str, arguments)))
    with regret.alone(path), pytest.raises(SystemExit, match=r"cases\.jsonl is in use by another process"):
        regret.main()


def test_means_of_rollouts_need_all_of_them_finished(monkeypatch, capsys):
    command = ["regret.py", "make", "coatl", "--out", "cases.jsonl", "--pooled", "1", "--finished"]
    monkeypatch.setattr(sys, "argv", [*command, "16"])
    assert regret.parse().finished == 16
    monkeypatch.setattr(sys, "argv", [*command, "4"])
    with pytest.raises(SystemExit):
        regret.parse()
    assert "--pooled 1: expected an even number of rollouts, all of them finished" in capsys.readouterr().err
