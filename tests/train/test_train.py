"""Training: self-play, sampled positions, the fit, and the command."""

import copy
import functools
import hashlib
import json
import random
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import mexica_ai as ai
from mexica_ai.cli.main import main
from mexica_ai.game import registry
from mexica_ai.game import weights as weight_files
from mexica_ai.game.records import replay
from mexica_ai.game.weights import estimate
from mexica_ai.io.errors import NotationError
from mexica_ai.train import fit, positions, priors, selfplay
from mexica_ai.train.corrections import pulled, unpulled

pytestmark = pytest.mark.slow

spec, in_use = registry.get("mexica").learning.weights, registry.get("mexica").weights()
categorize = functools.partial(spec.categorize, weights=in_use)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Return a file of ten short games."""
    path = tmp_path_factory.mktemp("train") / "games.jsonl"
    with ThreadPoolExecutor(1) as executor:
        selfplay.play(path, executor, game="mexica", games=10, iterations=4, seed=1)
    return path


def test_self_play_gives_valid_records_that_derive_from_seed_and_number(records):
    lines = sorted(records.read_text().splitlines())
    assert len(lines) == 10
    for line in lines:
        assert replay(line).is_over
    again = selfplay.play_game("mexica", 1, 3, 4)
    assert json.dumps(again) in lines
    assert selfplay.play_game("mexica", 2, 3, 4) != again


@pytest.mark.parametrize("game", ["mexica", "coatl", "tzolkin"])
def test_in_equal_games_all_seats_play_alike_and_forks_begin_after_an_odd_turn(game):
    played = [selfplay.play_game(game, 1, index, 4, equal=True) for index in range(8)]
    assert selfplay.play_game(game, 1, 3, 4, equal=True) == played[3]
    forks = 0
    for record in played:
        end = replay(record)
        assert end.is_over
        assert record["turns"]
        assert len(set(record["engines"])) == 1
        made = record["self_play"]
        assert (made["equal"], made["odd_turns"], set(made["styles"])) == (True, [], {0})
        forks += ai.Position.from_json(record["start"]).to_json() != ai.new_game(
            game, players=end.players, seed=first_seed(game, made["game"])
        ).to_json()
    assert 0 < forks < 8


def test_varied_starts_give_seats_things_that_play_seldom_brings():
    random_ = random.Random(5)
    given = Counter()
    for seed in range(60):
        start = ai.new_game("tzolkin", players=2 + seed % 3, seed=seed).to_json()
        untouched = copy.deepcopy(start)
        varied = registry.get("tzolkin").learning.varied(start, random_)
        assert start == untouched
        position = ai.Position.from_json(varied)  # refuses what breaks an invariant
        assert position.legal_actions() == ai.Position.from_json(start).legal_actions()
        for before, after in zip(start["seats"], varied["seats"], strict=True):
            given["seats"] += 1
            given["same"] += before == after
            for key in ("skulls", "workers", "monuments", "temples", "gold"):
                given[key] += before[key] != after[key]
            for track in after["technologies"]:
                given[track, after["technologies"][track]] += 1
    assert given["seats"] / 8 < given["same"] < given["seats"] / 2
    for key in ("skulls", "workers", "monuments", "temples", "gold"):
        assert given[key], key
    assert all(given[track, level] for track in start["seats"][0]["technologies"] for level in range(4))


def test_some_equal_games_have_varied_starts():
    played = [selfplay.play_game("tzolkin", 7, index, 2, equal=True) for index in range(16)]
    new = [record["start"]["seats"] for record in played if record["start"]["phase"] == "keep"]
    varied = [seats for seats in new if any(any(seat["technologies"].values()) for seat in seats)]
    assert 0 < len(varied) < len(new)


def first_seed(game, index):
    """Return the seed of the new game from which a game of self-play with seed 1 comes."""
    random_ = random.Random(f"1/{index}")
    random_.choice(selfplay.PLAYERS)
    return random_.getrandbits(63)


def test_equal_games_and_others_are_told_apart_in_a_file(records, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_bytes(records.read_bytes())
    counts = []
    with ThreadPoolExecutor(1) as executor:
        for equal in (True, True, False):
            options = {"game": "mexica", "games": 2, "iterations": 4, "seed": 1, "equal": equal}
            selfplay.play(path, executor, **options)
            counts.append(len(path.read_bytes().splitlines()))
    assert counts == [12, 12, 12]


def test_a_torn_file_is_continued(records, tmp_path):
    lines = records.read_text().splitlines(keepends=True)
    path = tmp_path / "torn.jsonl"
    path.write_text("".join(lines[:8]) + lines[8][:100])
    with ThreadPoolExecutor(1) as executor:
        selfplay.play(path, executor, game="mexica", games=10, iterations=4, seed=1)
    assert sorted(path.read_text().splitlines(keepends=True)) == sorted(lines)


def test_only_what_was_begun_of_a_line_is_dropped(records, tmp_path):
    lines = records.read_bytes().splitlines()
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"\n".join(lines))  # the last line is whole, but for its end
    with ThreadPoolExecutor(1) as executor:
        selfplay.play(path, executor, game="mexica", games=10, iterations=4, seed=1)
        assert path.read_bytes().splitlines() == lines
        for content in (b"notes", lines[0] + b"\nnotes", b"notes\n" + lines[0][:50]):
            path.write_bytes(content)
            with pytest.raises(NotationError, match=r"games\.jsonl:[12]"):
                selfplay.play(path, executor, game="mexica", games=10, iterations=4, seed=1)
            assert path.read_bytes() == content


def test_records_name_the_weights_that_played_them(records, monkeypatch):
    versions = [json.loads(line)["self_play"]["weights"] for line in records.read_text().splitlines()]
    assert versions == [in_use.version] * 10
    others = spec.make(estimate(spec))
    monkeypatch.setattr(weight_files, "shipped", lambda spec: others)
    assert selfplay.play_game("mexica", 1, 3, 4)["self_play"]["weights"] == others.version != in_use.version
    assert selfplay.play_game("mexica", 1, 3, 4, in_use)["self_play"]["weights"] == in_use.version


@pytest.mark.real("processes")
@pytest.mark.parametrize("weights", ["0123456789ab", None])
def test_a_file_of_other_or_unknown_weights_is_not_continued(records, tmp_path, capsys, weights):
    path = tmp_path / "games.jsonl"
    others = [json.loads(line) for line in records.read_text().splitlines()]
    for record in others:
        if weights:
            record["self_play"]["weights"] = weights
        else:
            del record["self_play"]["weights"]
        assert replay(record).is_over
    path.write_text("".join(json.dumps(record) + "\n" for record in others))
    content = path.read_bytes()
    made = tmp_path / "weights.json"
    command = ["train", str(path), "--iterations", "4", "--epochs", "1", "--weights", str(made)]
    assert main([*command, "--games", "11"]) == 2
    error = capsys.readouterr().err
    assert f"by weights {weights or 'unknown'}, and those in use are {in_use.version}" in error
    assert path.read_bytes() == content
    # Nothing is missing, so nothing would be mixed.
    assert main([*command, "--games", "10"]) == 0
    provenance = json.loads(made.read_text())["provenance"]
    assert provenance["played_by"] == {weights or "unknown": 10}
    # Games of another seed are a matter of their own.
    assert main([*command, "--games", "1", "--seed", "2"]) == 0
    provenance = json.loads(made.read_text())["provenance"]
    assert provenance["played_by"] == {weights or "unknown": 10, in_use.version: 1}


def digests(n):
    return [hashlib.sha256(str(number).encode()).digest() for number in range(n)]


def test_a_game_alone_decides_whether_it_is_held_out():
    many = digests(3000)
    found = positions.held_out(many)
    assert 0.08 < found.mean() < 0.12
    for chosen in (slice(0, 1500), slice(1000, 3000), slice(None, None, -1)):
        assert np.array_equal(positions.held_out(many[chosen]), found[chosen])
    record = selfplay.play_game("mexica", 1, 3, 4)
    same = {key: record[key] for key in reversed(record) if key not in ("self_play", "engines")}
    assert positions.fingerprint(same) == positions.fingerprint(record)
    other = record | {"turns": record["turns"][:-1]}
    assert positions.fingerprint(other) != positions.fingerprint(record)


def test_of_few_games_one_is_held_out_and_never_all():
    many = digests(200)
    found = positions.held_out(many)
    fitted_on = [digest for digest, held in zip(many, found, strict=True) if not held]
    kept_out = [digest for digest, held in zip(many, found, strict=True) if held]
    for few in (fitted_on[:5], kept_out[:5], [*fitted_on[:2], min(fitted_on)]):
        least = [digest == min(few) for digest in few]
        assert positions.held_out(few).tolist() == least
    for same in ([], kept_out[:1], kept_out[:1] * 10):
        assert not positions.held_out(same).any()


def test_positions_and_decisions_hold_the_same_games_out(records):
    lines = [(f"line {n}", line) for n, line in enumerate(records.read_bytes().splitlines())]
    prints = [positions.fingerprint(json.loads(line)) for _, line in lines]
    expected = {line for (_, line), held in zip(lines, positions.held_out(prints), strict=True) if held}
    assert 0 < len(expected) < 10
    data = positions.sample(lines, spec.features, seed=1)
    in_order = sorted((line for _, line in lines), key=lambda line: hashlib.sha256(line).digest())
    assert {in_order[game] for game in data.games[data.held_out]} == expected
    sampled = priors.sample(lines, categorize, len(spec.categories), seed=1)
    alone = [line for line in lines if line[1] in expected]
    count = len(priors.sample(alone, categorize, len(spec.categories), seed=1).chosen)
    assert sampled.held_out.sum() == count


def test_samples_know_how_their_game_ended(records):
    lines = [(f"line {n}", line) for n, line in enumerate(records.read_bytes().splitlines())]
    data = positions.sample(lines, spec.features, seed=1)
    assert set(data.games) == set(range(10))
    assert np.allclose(data.shares.sum(1), 1)
    in_order = sorted((line for _, line in lines), key=lambda line: hashlib.sha256(line).digest())
    for index in (0, len(data.games) // 2, -1):
        record = json.loads(in_order[data.games[index]])
        players = len(record["scores"])
        assert data.seats[index].sum() == players
        assert np.allclose(data.scores[index, :players] * positions.SCORE_SCALE, record["scores"])
        assert set(np.flatnonzero(data.shares[index])) == set(record["winners"])


def made_up(n=10000, seed=0):
    """Return positions whose first feature decides the winner, and the second the score."""
    generator = np.random.default_rng(seed)
    width = spec.shapes["w1"][0]
    features = generator.normal(0, 0.3, (n, 4, width)).astype(np.float32)
    features[..., list(spec.estimates)] = 0
    seats = np.zeros((n, 4), bool)
    seats[:, :2] = True
    seats[n // 2 :, 2] = True
    features[~seats] = 0
    winner = np.where(seats, features[..., 0], -np.inf).argmax(1)
    shares = np.zeros((n, 4), np.float32)
    shares[np.arange(n), winner] = 1
    scores = np.where(seats, 1 + 2 * features[..., 1], 0).astype(np.float32)
    return positions.Positions(features, seats, shares, scores, np.arange(n), np.arange(n) % 5 == 0)


def test_a_fit_finds_what_decides():
    data = made_up()
    held = data.held_out
    begin = fit.initial_weights(spec.network, spec.estimates, 1)
    before = fit.report(data.take(held), begin)
    weights = fit.fit(data.take(~held), begin, epochs=150, seed=1)
    after = fit.report(data.take(held), weights)
    assert before.log_loss[2] > 0.65
    assert after.log_loss[2] < 0.45
    assert after.log_loss[3] < 0.75
    assert after.score_error < before.score_error / 2
    for predicted, won, count in after.calibration:
        assert count < 50 or abs(predicted - won) < 0.15


def test_the_error_of_a_log_loss_is_between_games():
    data = made_up(4000)
    weights = fit.initial_weights(spec.network, spec.estimates, 1)
    apart = fit.report(data, weights).log_loss_error
    repeated = positions.Positions(**{**vars(data), "games": data.games // 2 * 2})
    twice = repeated.take(np.repeat(np.arange(0, 4000, 2), 2))
    together = fit.report(twice, weights)
    # Twins add nothing: half as many games, and the error is that of half as many positions.
    assert together.log_loss_error[2] == pytest.approx(apart[2] * 2**0.5, rel=0.1)
    single = positions.Positions(**{**vars(data), "games": np.zeros(4000, int)})
    assert fit.report(single, weights).log_loss_error == {2: None, 3: None}


def test_gradients_are_those_of_the_loss():
    data = made_up(64)
    generator = np.random.default_rng(1)
    weights = {
        name: generator.normal(0, 0.3, shape).astype(np.float64) for name, shape in spec.network.items()
    }

    def loss(weights):
        outputs = fit._forward(data.features.astype(np.float64), weights)[-1]
        shares = fit._softmax(outputs[..., 0], data.seats)
        errors = np.where(data.seats, outputs[..., 1] - data.scores, 0)
        cross = -(data.shares * np.log(np.clip(shares, 1e-12, 1))).sum() / len(data.games)
        return cross + fit.SCORE_WEIGHT * (errors**2).sum() / data.seats.sum()

    gradients = fit._gradients(data, weights)
    for name, array in weights.items():
        index = tuple(generator.integers(size) for size in array.shape)
        step = 1e-6
        changed = {key: value.copy() for key, value in weights.items()}
        changed[name][index] += step
        up = loss(changed)
        changed[name][index] -= 2 * step
        slope = (up - loss(changed)) / (2 * step)
        assert np.isclose(gradients[name][index], slope, rtol=1e-3, atol=1e-6), name


def test_the_command_is_reproducible_and_its_weights_load(records, tmp_path, capsys):
    copy = tmp_path / "games.jsonl"
    copy.write_bytes(records.read_bytes())
    outputs = []
    for name in ("one.json", "two.json"):
        # Whoever played the games, and in which order they ended.
        copy.write_bytes(b"".join(reversed(copy.read_bytes().splitlines(keepends=True))))
        path = tmp_path / name
        options = ["--games", "0", "--epochs", "2", "--plot", str(tmp_path / "plot.svg")]
        assert main(["train", str(copy), *options, "--weights", str(path)]) == 0
        outputs.append(path.read_text())
    assert outputs[0] == outputs[1]
    text = capsys.readouterr().out
    assert "10 games" in text
    assert "log-loss" in text
    assert "share won" in (tmp_path / "plot.svg").read_text()
    made = spec.load(tmp_path / "one.json")
    assert made.provenance["games"] == 10
    assert ai.best_turn(ai.new_game(seed=1), iterations=50, seed=1, weights=made).turn


@pytest.mark.real("processes")
def test_weights_in_use_are_measured_without_a_fit(records, tmp_path, capsys):
    plot = tmp_path / "plot.svg"
    assert main(["train", str(records), "--games", "0", "--evaluate", "--plot", str(plot)]) == 0
    text = capsys.readouterr().out
    assert f"in use: weights {in_use.version}" in text
    assert "estimate: predicted" in text
    assert "in_use:   predicted" in text
    assert re.search(r"choices; log-loss of the priors \S+ alike, \S+ in_use", text)
    assert plot.exists()
    assert main(["train", str(records), "--games", "0", "--evaluate", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    lines = [("", line) for line in records.read_bytes().splitlines()]
    data = positions.sample(lines, spec.features, seed=1)
    for name, weights in (("estimate", estimate(spec)), ("in_use", in_use.arrays())):
        report = fit.report(data, weights)
        assert found[name]["score_error"] == report.score_error
        assert found[name]["log_loss"] == {str(n): loss for n, loss in report.log_loss.items()}
        assert sum(count for _, _, count in report.calibration) == data.seats.sum()
    assert found["states"] == len(data.games)
    assert found["choices"]["measured_on"] > 50
    assert found["choices"]["in_use"] < found["choices"]["alike"]
    people = json.loads(records.read_text().splitlines()[0])
    del people["engines"], people["self_play"]
    others = tmp_path / "others.jsonl"
    others.write_text(json.dumps(people) + "\n")
    assert main(["train", str(others), "--games", "0", "--evaluate"]) == 0
    assert "0 choices; none of them to measure the priors on" in capsys.readouterr().out
    assert found["sha256"] == in_use.sha256
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert main(["train", str(empty), "--games", "0", "--evaluate"]) == 2
    assert "no games" in capsys.readouterr().err
    assert main(["train", str(records), "--games", "0"]) == 2
    assert "--weights --evaluate is required" in capsys.readouterr().err


def test_refining_begins_with_the_network_in_use(records, tmp_path):
    usual = in_use.arrays()
    refined = refit(records, tmp_path, "--refine")
    anew = refit(records, tmp_path)
    assert np.array_equal(refined["priors"], anew["priors"])
    for name in spec.network:
        change = np.abs(refined[name] - usual[name]).max()
        assert 1e-4 < change < 0.2, name
    # What begins with random layers does not come near.
    assert np.abs(anew["w1"] - usual["w1"]).max() > 0.2


def refit(records, tmp_path, *options):
    path = tmp_path / "weights.json"
    common = ["--games", "0", "--epochs", "10", "--weights", str(path)]
    assert main(["train", str(records), *common, *options]) == 0
    content = json.loads(path.read_text())
    assert content["provenance"].get("refined", in_use.sha256) == in_use.sha256
    assert ("refined" in content["provenance"]) == ("--refine" in options)
    return {name: np.array(content["weights"][name], np.float32) for name in spec.shapes}


@pytest.mark.parametrize("game", ["mexica", "coatl"])
def test_what_was_pulled_can_be_taken_back(game):
    entry = registry.get(game)
    spec, pull = entry.learning.weights, entry.learning.pull
    weights = entry.weights().arrays()
    for name, array in pulled(spec, unpulled(spec, weights, pull), pull).items():
        assert np.allclose(array, weights[name], rtol=1e-5, atol=1e-5), name


def _refuse(self, path=None):
    raise NotationError("damaged")


def test_nothing_is_refined_where_there_is_nothing(records, tmp_path, capsys, shipped_weights, monkeypatch):
    monkeypatch.setattr(weight_files, "read_weights", _refuse)
    monkeypatch.setattr(weight_files, "shipped", weight_files.shipped.__wrapped__)
    weights = tmp_path / "weights.json"
    with pytest.warns(RuntimeWarning, match="Mexica is played with a hand-made estimate alone: damaged"):
        assert main(["train", str(records), "--games", "0", "--refine", "--weights", str(weights)]) == 2
    assert "no weights in use to begin with" in capsys.readouterr().err
    assert not weights.exists()


def test_too_few_games_and_broken_records_are_refused(records, tmp_path, capsys):
    few = tmp_path / "few.jsonl"
    few.write_text(records.read_text().splitlines(keepends=True)[0])
    weights = tmp_path / "weights.json"
    assert main(["train", str(few), "--games", "0", "--weights", str(weights)]) == 2
    assert "needs at least 10" in capsys.readouterr().err
    few.write_text(records.read_text().splitlines(keepends=True)[0] * 10)
    assert main(["train", str(few), "--games", "0", "--weights", str(weights)]) == 2
    assert "all games are the same" in capsys.readouterr().err
    record = json.loads(records.read_text().splitlines()[0])
    record |= {"turns": record["turns"][:-1], "scores": None, "winners": None, "termination": "unfinished"}
    few.write_text((json.dumps(record) + "\n") * 10)
    assert main(["train", str(few), "--games", "0", "--weights", str(weights)]) == 2
    assert "is not finished" in capsys.readouterr().err
    few.write_text("[1]\n")
    assert main(["train", str(few), "--games", "1", "--weights", str(weights)]) == 2
    assert "few.jsonl:1: expected a record" in capsys.readouterr().err
    few.write_text('{"game": "mexica"}\n' * 10)
    assert main(["train", str(few), "--games", "0", "--weights", str(weights)]) == 2
    assert "few.jsonl:1" in capsys.readouterr().err
    assert not Path(weights).exists()


@pytest.mark.parametrize("name", [".", "none/games.jsonl"])
def test_a_file_that_cannot_be_written_is_refused(name, tmp_path, capsys):
    path = tmp_path / name
    assert main(["train", str(path), "--games", "1", "--weights", str(tmp_path / "weights.json")]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"mexica-ai: error: cannot write {path}: ")
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def made_up_decisions(n=4000, seed=0):
    """Return decisions by known weights: two groups of five categories with up to three actions each."""
    generator = np.random.default_rng(seed)
    weights = np.array([[1, 2, 4, 8, 16], [16, 1, 1, 4, 2]], float)
    groups = generator.integers(0, 2, n)
    shares = generator.integers(0, 4, (n, 5)).astype(np.float32)
    shares[:, 0] += 1
    odds = shares * weights[groups]
    chosen = np.array([generator.choice(5, p=row / row.sum()) for row in odds])
    return priors.Decisions(groups, shares, chosen, np.ones(n, np.float32), np.arange(n) % 5 == 0), weights


def test_the_fit_of_the_priors_finds_the_weights_that_chose():
    decisions, weights = made_up_decisions()
    held = decisions.held_out
    found = priors.fit(decisions.take(~held), 2)
    assert found.shape == (2, 5)
    assert np.allclose(np.log(found).mean(1), 0, atol=1e-5)
    true = np.log(weights) - np.log(weights).mean(1, keepdims=True)
    assert np.abs(np.log(found) - true).max() < 0.3
    alike = priors.log_loss(decisions.take(held), np.ones((2, 5)))
    assert priors.log_loss(decisions.take(held), found) < alike - 0.3


def test_what_is_rare_in_a_group_stays_near_all_groups():
    decisions, _ = made_up_decisions()
    # The second group has five decisions, all for one category.
    small = np.flatnonzero(decisions.groups == 1)
    decisions.groups[:] = 0
    decisions.groups[small[:5]] = 1
    decisions.shares[small[:5]] = 1
    decisions.chosen[small[:5]] = 1
    found = priors.fit(decisions, 2)
    ratio = found[1] / found[0]
    assert ratio[1] > 1.2 * max(ratio[[0, 2, 3, 4]])
    # Counted alone, the others would have no weight at all.
    assert ratio.min() > 0.1


def test_decisions_are_those_of_the_search_in_earnest(records):
    lines = [("", line) for line in records.read_bytes().splitlines()]
    everything = priors.sample(lines, categorize, len(spec.categories), seed=1)
    record = json.loads(lines[0][1])
    record["self_play"]["styles"] = [1.0] * len(record["self_play"]["styles"])
    styled = [("", json.dumps(record).encode())]
    record = json.loads(lines[0][1])
    record["self_play"]["odd_turns"] = list(range(len(record["turns"])))
    odd = [("", json.dumps(record).encode())]
    record = json.loads(lines[0][1])
    record["self_play"] |= {"odd_turns": [], "styles": [0.0] * len(record["scores"])}
    others = [
        ("", json.dumps(record | {"engines": [spec] * len(record["scores"])}).encode())
        for spec in ("uct,iterations=9", "mcts,level=2", "people")
    ]
    search = [("", json.dumps(record | {"engines": ["mcts"] * len(record["scores"])}).encode())]
    for left_out in (styled, odd, others):
        found = priors.sample(left_out, categorize, len(spec.categories), seed=1)
        assert len(found.chosen) == 0
        assert priors.log_loss(found, in_use.arrays()["priors"]) is None
    assert len(priors.sample(search, categorize, len(spec.categories), seed=1).chosen) > 10
    assert len(everything.chosen) > 50
    assert (everything.shares[np.arange(len(everything.chosen)), everything.chosen] > 0).all()
    assert ((everything.chosen_shares > 0) & (everything.chosen_shares <= 1)).all()
    # There was something to choose, also after a token, when nothing but tokens and the end is in view.
    assert (everything.shares.sum(1) > everything.chosen_shares).all()


def test_games_at_the_same_time_keep_their_styles(records):
    lines = records.read_text().splitlines()
    with ThreadPoolExecutor(3) as executor:
        found = list(executor.map(lambda index: selfplay.play_game("mexica", 1, index, 4), range(4)))
    for record in found:
        assert json.dumps(record) in lines
        assert len(record["self_play"]["styles"]) == len(record["scores"])
