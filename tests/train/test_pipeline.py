"""The training pipeline: its small size, its steps, its resume, and what it refuses."""

import dataclasses
import json
import os
import shutil
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from stopped import stop

from mexica_ai.cli.main import main
from mexica_ai.game import registry
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.train import pipeline, policy, positions, selfplay
from mexica_ai.train.settings import SMALL, Settings

GAME = "coatl"
SETTINGS = Settings(
    games=10, players="2,4", iterations=2, deep=12, walks=3, rollouts=2, rollout_iterations=1, networks=2, epochs=2,
    match=2, match_iterations=3,
)  # fmt: skip
FILES = [
    "belief.json", "games.jsonl", "match-2.jsonl", "match-4.jsonl", "policy.json", "probes.jsonl", "settings.json",
    "value-0.json", "value-1.json", "value.json", "weights.json",
]  # fmt: skip

spec = registry.get(GAME).learning.weights


def run(folder, settings=SETTINGS, **options):
    with ThreadPoolExecutor(1) as executor:
        return pipeline.run(folder, executor, game=GAME, settings=settings, **options)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folder of a finished run and its figures."""
    folder = tmp_path_factory.mktemp("pipeline")
    return folder, run(folder)


@pytest.fixture
def folder(finished, tmp_path):
    """Return a copy of the folder of a finished run."""
    return shutil.copytree(finished[0], tmp_path / "copy")


def sha256(folder):
    return spec.load(folder / "weights.json").sha256


def test_a_run_makes_weights_with_their_provenance(finished):
    folder, figures = finished
    assert sorted(path.name for path in folder.iterdir()) == FILES
    weights = spec.load(folder / "weights.json")
    assert weights.has_policy
    found = weights.provenance
    assert {step: found[step] for step in pipeline.STEPS} == figures
    assert found["refined"] == registry.get(GAME).weights().sha256
    assert (found["generate"]["games"], found["generate"]["walks"]) == (10, 3)
    assert {players: figures["games"] for players, figures in found["match"].items()} == {"2": 2, "4": 4}
    assert set(found["value"]["seats"]) <= {"2", "4"}
    assert found["policy"]["in_use"] > found["policy"]["entropy"]
    assert found["policy"]["decisions"][positions.TRAIN] > 100
    assert found["settings"]["deep"] == 12
    assert found["command"].startswith("mexica-ai train coatl --out FOLDER --games 10 ")
    assert "--deep 12" in found["command"]


def test_the_network_with_the_least_loss_on_games_that_select_goes_on(finished):
    folder, figures = finished
    losses = [spec.load(folder / f"value-{number}.json").provenance["selection_loss"] for number in (0, 1)]
    assert figures["value"]["selection_losses"] == losses
    best = losses.index(min(losses))
    assert figures["value"]["network"] == best
    chosen = spec.load(folder / f"value-{best}.json")
    assert spec.load(folder / "value.json").sha256 == chosen.sha256
    made = spec.load(folder / "weights.json").arrays()
    assert all(np.array_equal(made[name], chosen.arrays()[name]) for name in spec.network)


DATA = ["games.jsonl", "probes.jsonl"]
NONE_FITTED = {"network 0": 1, "network 1": 1, "policy": 1}
NONE_PLAYED = {"match, 2 seats": 0, "match, 4 seats": 0}


@pytest.mark.parametrize(
    ("kept", "torn", "until", "begun"),
    [
        ([], "games.jsonl", "generate", {"games": 5, "walks": 0}),
        (["games.jsonl"], "probes.jsonl", "match", {"games": 10, "walks": 1} | NONE_FITTED | NONE_PLAYED),
        ([*DATA, "value-0.json"], None, "policy", {"games": 10, "walks": 3, "network 1": 1, "policy": 1}),
        ([*DATA, "value.json"], None, "policy", {"games": 10, "walks": 3, "policy": 1}),
        (
            [*DATA, "value.json", "policy.json"],
            "match-4.jsonl",
            "match",
            {"games": 10, "walks": 3} | NONE_PLAYED | {"match, 4 seats": 2},
        ),
    ],
)
def test_a_stopped_run_continues_in_each_step_and_makes_the_same(finished, tmp_path, kept, torn, until, begun):
    """A run that makes the same files goes on as the others do, so it ends with the step after these."""
    folder, figures = finished
    stop(folder, tmp_path, kept, torn)
    steps = pipeline.STEPS[: pipeline.STEPS.index(until) + 1]
    expected = {step: figures[step] for step in steps}
    first = {}  # what is done at the beginning of each part, or after its first epoch
    found = run(tmp_path, until=until, on_progress=lambda what, done, count: first.setdefault(what, done))
    assert (found, first) == (expected, begun)
    for name in DATA:
        assert sorted((tmp_path / name).read_bytes().splitlines()) == sorted((folder / name).read_bytes().splitlines())
    made = [f"{step}.json" for step in ("value", "belief", "policy") if step in steps]
    for name in made + ["weights.json"] * (until == "match"):
        assert spec.load(tmp_path / name).sha256 == spec.load(folder / name).sha256
    if until == "match":
        before = os.stat(tmp_path / "weights.json").st_mtime_ns
        assert run(tmp_path) == figures  # a finished run does nothing
        assert os.stat(tmp_path / "weights.json").st_mtime_ns == before


def test_a_part_of_a_run(tmp_path, finished):
    (tmp_path / "games.jsonl").write_bytes((finished[0] / "games.jsonl").read_bytes())
    assert run(tmp_path, until="generate") == {"generate": finished[1]["generate"]}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.jsonl", "probes.jsonl", "settings.json"]
    for name in ("value-0.json", "value-1.json"):  # so that they are not fitted again
        shutil.copy(finished[0] / name, tmp_path)
    assert list(run(tmp_path, until="value")) == ["generate", "value"]
    assert not (tmp_path / "policy.json").exists()
    assert run(finished[0], until="value") == {step: finished[1][step] for step in ("generate", "value")}


def test_without_networks_the_policy_alone_is_fitted(finished, tmp_path):
    (tmp_path / "games.jsonl").write_bytes((finished[0] / "games.jsonl").read_bytes())
    figures = run(tmp_path, dataclasses.replace(SETTINGS, networks=0), until="policy")
    assert (figures["value"], "walks" in figures["generate"]) == ({}, False)
    shipped, made = registry.get(GAME).weights().arrays(), spec.load(tmp_path / "policy.json").arrays()
    assert all(np.array_equal(made[name], shipped[name]) for name in spec.shapes if name != "belief")
    assert not np.array_equal(made["policy_out"], shipped["policy_out"])


def test_a_policy_can_be_refined(finished, tmp_path):
    (tmp_path / "games.jsonl").write_bytes((finished[0] / "games.jsonl").read_bytes())
    figures = run(tmp_path, dataclasses.replace(SETTINGS, networks=0, refine_policy=1), until="policy")["policy"]
    shipped, made = registry.get(GAME).weights().arrays(), spec.load(tmp_path / "policy.json").arrays()
    near, anew = (
        max(np.abs(arrays[name] - shipped[name]).max() for name in spec.policy)
        for arrays in (made, spec.load(finished[0] / "policy.json").arrays())
    )
    assert near < anew / 5
    assert figures["in_use"] == pytest.approx(finished[1]["policy"]["in_use"], abs=1e-4)


def test_a_game_has_no_more_seats_than_its_rules_say(monkeypatch):
    assert Settings().players_of(GAME) == (2, 3, 4)
    assert Settings(players="4,2").players_of(GAME) == (2, 4)
    limits = types.SimpleNamespace(max_players=3)
    monkeypatch.setattr(registry, "get", lambda name: types.SimpleNamespace(rules=limits))
    assert Settings().players_of(GAME) == (2, 3)
    with pytest.raises(SearchError, match=r'^players: given "2,4"; expected numbers from 2 to 3, the seats of coatl$'):
        Settings(players="2,4").players_of(GAME)


def test_a_game_whose_policy_cannot_be_learnt_gets_a_value_alone(finished, tmp_path, monkeypatch):
    for name in (*DATA, "settings.json"):
        (tmp_path / name).write_bytes((finished[0] / name).read_bytes())
    monkeypatch.setattr(spec, "policy", {})
    figures = run(tmp_path, until="policy")
    assert (figures["value"], figures["policy"]) == (finished[1]["value"], {})
    assert not (tmp_path / "policy.json").exists()
    with pytest.raises(SearchError, match="coatl has no policy to fit; expected networks of at least 1"):
        run(tmp_path, dataclasses.replace(SETTINGS, networks=0))


def test_the_first_network_of_a_game_begins_with_random_layers(folder):
    # With layers that are all 0 no gradient would reach them.
    for name in ("value-0.json", "value-1.json", "value.json", "policy.json", "match-2.jsonl", "weights.json"):
        (folder / name).unlink()
    for name in ("settings.json", "games.jsonl", "probes.jsonl"):
        path = folder / name
        path.write_text(path.read_text().replace(registry.get(GAME).weights().version, spec.estimate().version))
    figures = run(folder, weights=spec.estimate(), until="value")
    for number in (0, 1):
        arrays = spec.load(folder / f"value-{number}.json").arrays()
        assert all(arrays[name].any() for name in ("w1", "w2", "w3"))
    assert figures["value"]["after"] != figures["value"]["before"]


def test_weights_of_a_run_are_read_as_any_file_of_weights(folder):
    path = folder / "weights.json"
    path.write_text('{"game": "coatl",' + path.read_text()[1:])
    with pytest.raises(NotationError, match='the key "game" occurs twice') as caught:
        run(folder)
    assert caught.value.reason == "BAD_WEIGHTS"


def test_other_weights_in_the_place_of_the_new_ones_are_refused(folder):
    spec.save(folder / "weights.json", registry.get(GAME).weights())
    with pytest.raises(NotationError, match=r"weights\.json: provenance"):
        run(folder)


def test_a_folder_of_other_settings_is_refused(folder, capsys):
    with pytest.raises(SearchError, match="is of a run with seed 1; expected the same settings, or another folder"):
        run(folder, dataclasses.replace(SETTINGS, seed=2))
    assert main(["train", GAME, "--out", str(folder), "--small"]) == 2
    assert "is of a run with players 2,4, iterations 2, " in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_told_as_such(tmp_path, monkeypatch, capsys):
    def denied(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", denied)
    monkeypatch.setattr("mexica_ai.cli.main._drop_output", lambda: None)
    assert main(["train", GAME, "--out", str(tmp_path), "--small"]) == 1
    path = str(tmp_path / "settings.json")
    assert capsys.readouterr().err == f"mexica-ai: error: cannot write {path!r}: Permission denied\n"
    assert main(["train", GAME, "--out", __file__, "--small"]) == 2
    assert capsys.readouterr().err.endswith("settings.json: File exists; expected a folder\n")


def test_settings_that_are_no_object_are_refused(tmp_path):
    (tmp_path / "settings.json").write_text("[]")
    with pytest.raises(NotationError, match=r"settings\.json: given a list of 0 entries; expected an object"):
        run(tmp_path)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"games": 9}, "^games: given 9; expected an integer of at least 10$"),
        ({"rollouts": 0}, "^rollouts: given 0; expected an integer of at least 1$"),
        ({"walks": 2}, "^walks: given 2; expected an integer of at least 3$"),
        ({"epochs": 1.5}, "^epochs: given 1.5; expected an integer of at least 1$"),
        ({"seed": -1}, "^seed: given -1; expected an integer of at least 0$"),
        ({"strength": 0.0}, "^strength: given 0.0; expected more than 0, at most 10$"),
        ({"planners": 1.5}, "^planners: given 1.5; expected at least 0, at most 1$"),
        ({"own_points": -0.1}, "^own_points: given -0.1; expected at least 0, at most 1$"),
        ({"refine_policy": 7}, "^refine_policy: given 7; expected an integer from 0 to 1$"),
        ({"states": -1}, "^states: given -1; expected an integer of at least 0$"),
        ({"players": "2,5"}, '^players: given "2,5"; expected all, or numbers from 2 to 4 such as "2,4"$'),
        ({"players": "3,3"}, '^players: given "3,3"; expected all'),
        ({"players": ""}, '^players: given ""; expected all'),
        ({"players": 2}, "^players: given 2; expected all"),
        ({"strength": float("nan")}, "^strength: given nan; expected more than 0, at most 10$"),
    ],
)
def test_settings_out_of_range_are_refused(settings, problem):
    with pytest.raises(SearchError, match=problem):
        Settings(**settings)


def test_every_setting_is_an_option_of_the_command(folder, finished, capsys):
    options = [f"--{name.replace('_', '-')}={setting}" for name, setting in vars(SETTINGS).items()]
    assert main(["train", GAME, "--out", str(folder), *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "generate: 10 games in games.jsonl, 3 walks in probes.jsonl"
    assert lines[1].startswith("value:    loss ")
    assert lines[2].startswith("belief:   -")
    assert lines[3].startswith("policy:   cross-entropy ")
    assert lines[4].startswith("match:    the new weights' share of the win is ")
    assert " of 2 games with 2 seats, where 0.500 is equal, " in lines[4]
    assert lines[4].endswith(" of 4 games with 4 seats, where 0.250 is equal")
    assert lines[5] == f"{folder / 'weights.json'}: sha256 {sha256(folder)}"
    assert main(["train", GAME, "--out", str(folder), *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == finished[1]
    assert vars(SMALL).keys() == vars(SETTINGS).keys()


def test_the_outputs_are_fitted_to_games_of_others(finished, tmp_path, capsys):
    others = [selfplay.play_game(GAME, 7, index, 2, 2, players=(2,), planners=1.0)["record"] for index in range(8)]
    path, folder = tmp_path / "others.jsonl", tmp_path / "new"
    path.write_text("".join(json.dumps(record) + "\n" for record in others))
    options = ["--records", str(path), "--players", "2", "--states", "6", "--until", "value"]
    texts = [(f"{path}:{number}", line) for number, line in enumerate(path.read_bytes().splitlines(), 1)]
    run(folder, dataclasses.replace(SMALL, players="2", states=6), records=texts, until="value")
    assert main(["train", GAME, "--out", str(folder), "--small", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("value:    log-loss before and after, and mean error of the points: probes ")
    assert main(["train", GAME, "--out", str(folder), "--small", *options, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["generate"]["records"] == 8
    assert set(figures["value"]) == {"stiffness", "probes", "games", "records"}
    assert sum(figures["value"]["records"]["positions"]) <= 48
    shipped, made = registry.get(GAME).weights().arrays(), spec.load(folder / "value.json").arrays()
    changed = {name for name in made if not np.array_equal(made[name], shipped[name])}
    assert {"w3", "linear"} <= changed <= {"w3", "b3", "linear"}
    # The file says all about how it was made.
    found = spec.load(folder / "value.json").provenance
    assert found["value"] == figures["value"]
    assert "--records FILE --games 10 " in found["command"]
    assert found["settings"]["records_sha256"] == figures["value"]["records"]["sha256"]
    assert found.get("policy") == registry.get(GAME).weights().provenance.get("policy")
    # Without them, or with others, it would be another run.
    assert main(["train", GAME, "--out", str(folder), "--small", "--states", "6"]) == 2
    assert "is of a run with " in capsys.readouterr().err


def test_games_that_are_not_over_teach_nothing(tmp_path):
    record = selfplay.play_game(GAME, 7, 0, 2, 2)["record"]
    text = json.dumps({"game": GAME, "version": 1, "start": record["start"], "turns": record["turns"][:2]}).encode()
    with pytest.raises(NotationError, match=r"^here: expected a finished game of coatl$"):
        run(tmp_path, records=[("here", text)])


def test_a_game_without_weights_is_refused(tmp_path, capsys):
    assert main(["train", "nim", "--out", str(tmp_path / "new")]) == 2
    assert capsys.readouterr().err == "mexica-ai: error: nim has no weights to fit\n"
    assert not list(tmp_path.iterdir())


# The parts


def test_a_game_is_the_same_again_and_its_decisions_do_not_depend_on_the_order(finished):
    lines = (finished[0] / "games.jsonl").read_bytes().splitlines()
    contents = {json.loads(line)["made"]["game"]: json.loads(line) for line in lines}
    again = json.loads(json.dumps(selfplay.play_game(GAME, 1, 3, 2, 12, players=(2, 4))))
    assert contents[3] == again
    weights = registry.get(GAME).weights()
    decisions = policy.sample([("here", line) for line in lines], weights)
    sums = np.add.reduceat(decisions.targets, decisions.starts)
    np.testing.assert_allclose(sums, 1, atol=1e-4)
    other = policy.sample([("here", line) for line in reversed(lines)], weights)
    assert (other.targets == decisions.targets).all()
    assert (other.parts == decisions.parts).all()
    with pytest.raises(NotationError, match=r'here\.game: given "coatl"; expected "mexica"'):
        policy.sample([("here", lines[0])], registry.get("mexica").weights())


def test_probes_valued_by_rollouts_are_means_of_whole_games(finished):
    contents = [json.loads(line) for line in (finished[0] / "probes.jsonl").read_bytes().splitlines()]
    assert [content["walk"]["rollouts"] for content in contents] == [SETTINGS.rollouts] * SETTINGS.walks
    assert contents[0]["probes"]
    for probe in contents[0]["probes"]:
        assert sum(probe["value"]) == pytest.approx(1, abs=1e-3)
        # Two games: each seat won none, one or both of them, or shared a win among two, three or four.
        assert all(min(abs(share * 24 - k) for k in range(25)) < 0.01 for share in probe["value"])
        assert len(probe["scores"]) == len(probe["value"])


def test_the_policy_learns_from_searches_by_the_weights_before_and_is_fitted_for_the_new_network(folder, monkeypatch):
    for name in ("policy.json", "weights.json"):
        (folder / name).unlink()
    asked = []

    def sample(_, *weights):
        asked.extend(each.sha256 for each in weights)
        raise SearchError("this is known now")

    monkeypatch.setattr(policy, "sample", sample)
    with pytest.raises(SearchError, match="this is known now"):
        run(folder, until="policy")
    new = spec.load(folder / "belief.json").sha256
    assert asked == [registry.get(GAME).weights().sha256, new]
    assert new != registry.get(GAME).weights().sha256
