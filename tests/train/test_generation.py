"""The recipe of a generation of weights: its small size, its resume, and what it refuses."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mexica_ai.cli.main import main
from mexica_ai.game import registry
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.train import generation, policy, searches

GAME = "coatl"
SIZES = generation.Sizes(
    games=10, iterations=2, deep=40, walks=20, rollouts=2, rollout_iterations=1, networks=2, epochs=2, match=2,
    match_iterations=3,
)  # fmt: skip

spec = registry.get(GAME).learning.weights


def run(folder, sizes=SIZES, **options):
    with ThreadPoolExecutor(1) as executor:
        return generation.run(folder, executor, game=GAME, sizes=sizes, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a finished run."""
    folder = tmp_path_factory.mktemp("generation")
    run(folder)
    return folder


def test_a_run_makes_weights_with_their_provenance(folder):
    weights = spec.load(folder / "weights.json")
    assert weights.has_policy
    found = weights.provenance
    assert found["refined"] == registry.get(GAME).weights().sha256
    assert found["games"] == 10
    assert found["walks"] == 20
    assert found["match"]["games"] == 2
    assert found["policy"]["fitted_on"] > 100
    assert found["settings"]["deep"] == 40
    assert found["command"].startswith("mexica-ai train recipe coatl --out FOLDER --games 10 ")
    assert "--deep 40" in found["command"]
    losses = [spec.load(folder / f"network-{number}.json").provenance["held_out_loss"] for number in (0, 1)]
    assert found["held_out_loss"] == min(losses) <= found["held_out_loss_before"]


def test_a_stopped_run_continues_and_makes_the_same(folder, tmp_path):
    again = tmp_path / "again"
    again.mkdir()
    for name in ("settings.json", "network-0.json"):
        (again / name).write_bytes((folder / name).read_bytes())
    lines = (folder / "games.jsonl").read_bytes().splitlines(keepends=True)
    (again / "games.jsonl").write_bytes(b"".join(lines[:6]) + lines[6][:50])  # the last line is torn
    steps = []
    made = run(again, on_progress=lambda step, done, count: steps.append((step, done)))
    assert made.sha256 == spec.load(folder / "weights.json").sha256
    assert sorted((again / "games.jsonl").read_bytes().splitlines()) == sorted(line.strip() for line in lines)
    assert ("games", 6) in steps
    assert ("games", 5) not in steps
    assert not any(step == "network 0" for step, _ in steps)
    # A finished run does nothing.
    before = os.stat(again / "weights.json").st_mtime_ns
    assert run(again).sha256 == made.sha256
    assert os.stat(again / "weights.json").st_mtime_ns == before


def test_weights_of_a_run_are_read_as_any_file_of_weights(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    path = copy / "weights.json"
    path.write_text('{"game": "coatl",' + path.read_text()[1:])
    with pytest.raises(NotationError, match='the key "game" occurs twice') as caught:
        run(copy)
    assert caught.value.reason == "BAD_WEIGHTS"


def test_a_folder_of_other_settings_is_refused(folder, capsys):
    with pytest.raises(SearchError, match="is of a run with seed 1; expected the same settings, or another folder"):
        run(folder, seed=2)
    assert main(["train", "recipe", GAME, "--out", str(folder), "--small"]) == 2
    assert "is of a run with iterations 2, " in capsys.readouterr().err


def test_settings_that_are_no_object_are_refused(tmp_path):
    (tmp_path / "settings.json").write_text("[]")
    with pytest.raises(NotationError, match=r"settings\.json: given a list of 0 entries; expected an object"):
        run(tmp_path)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"sizes": generation.Sizes(games=9)}, "games: given 9; expected an integer of at least 10"),
        ({"sizes": generation.Sizes(rollouts=0)}, "rollouts: given 0; expected an integer of at least 1"),
        ({"sizes": generation.Sizes(walks=1)}, "walks: given 1; expected an integer of at least 2"),
        ({"strength": 0.0}, "strength: given 0.0; expected more than 0, at most 10"),
    ],
)
def test_sizes_out_of_range_are_refused(tmp_path, options, problem):
    with pytest.raises(SearchError, match=problem):
        run(tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_a_game_without_a_policy_is_refused(tmp_path, capsys):
    assert main(["train", "recipe", "nim", "--out", str(tmp_path / "new")]) == 2
    assert capsys.readouterr().err == "mexica-ai: error: nim has no weights of a policy to fit\n"


def test_the_command_prints_a_finished_run(folder, capsys):
    options = [f"--{name.replace('_', '-')}={value}" for name, value in vars(SIZES).items()]
    assert main(["train", "recipe", GAME, "--out", str(folder), *options]) == 0
    out = capsys.readouterr().out
    assert out.startswith("10 games\nevaluation: loss on probes of held-out games ")
    assert "match: 2 games; the new weights' share of the win is " in out
    assert main(["train", "recipe", GAME, "--out", str(folder), *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == spec.load(folder / "weights.json").provenance


# The parts


def test_a_game_with_deep_searches_is_the_same_again_and_its_targets_follow_the_values(folder):
    lines = (folder / "games.jsonl").read_bytes().splitlines()
    contents = {json.loads(line)["made"]["game"]: json.loads(line) for line in lines}
    again = json.loads(json.dumps(searches.play_game(GAME, 1, 3, 2, 40)))
    assert contents[3] == again
    weights = registry.get(GAME).weights()
    decisions = policy.sample([("here", line) for line in lines], weights)
    sums = np.add.reduceat(decisions.targets, decisions.starts)
    np.testing.assert_allclose(sums, 1, atol=1e-4)
    other = policy.sample([("here", line) for line in reversed(lines)], weights)
    assert (other.targets == decisions.targets).all()
    assert (other.held_out == decisions.held_out).all()
    with pytest.raises(NotationError, match=r'here\.game: given "coatl"; expected "mexica"'):
        policy.sample([("here", lines[0])], registry.get("mexica").weights())


def test_probes_valued_by_rollouts_are_means_of_whole_games(folder):
    contents = [json.loads(line) for line in (folder / "probes.jsonl").read_bytes().splitlines()]
    assert [content["walk"]["rollouts"] for content in contents] == [SIZES.rollouts] * SIZES.walks
    assert contents[0]["probes"]
    for probe in contents[0]["probes"]:
        assert sum(probe["value"]) == pytest.approx(1, abs=1e-3)
        # Two games: each seat won none, one or both of them, or shared a win among two, three or four.
        assert all(min(abs(share * 24 - k) for k in range(25)) < 0.01 for share in probe["value"])
        assert len(probe["scores"]) == len(probe["value"])
