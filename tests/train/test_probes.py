"""Walks off the paths of played games, and what is valued there."""

import json
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.io.errors import NotationError
from mexica_ai.train import positions, probes, selfplay

GAMES = ["mexica", "coatl"]
WALKS = 8
ITERATIONS = 1  # of a turn of a rollout


@pytest.fixture(scope="module", params=GAMES)
def played(request, tmp_path_factory):
    """Return a game's name, a file of ten short games, and a file of walks along them."""
    game, folder = request.param, tmp_path_factory.mktemp("probes")
    games, walks = folder / "games.jsonl", folder / "walks.jsonl"
    with ThreadPoolExecutor(1) as executor:
        selfplay.play(folder / "played.jsonl", executor, game=game, games=10, iterations=4, deep=4, seed=1)
    records = [json.loads(line)["record"] for line in (folder / "played.jsonl").read_text().splitlines()]
    games.write_text("".join(json.dumps(record) + "\n" for record in records))
    make(walks, games, WALKS)
    return game, games, walks


@pytest.fixture(scope="module")
def mexica_walk():
    """Return the line of a walk along a game with three seats."""
    return json.dumps(probes.walk([selfplay.play_game("mexica", 1, 1, 4, 4)["record"]], 1, 1, 2, 1))


def make(path, games, count, seed=1):
    records = [json.loads(line) for line in games.read_text().splitlines()]
    with ThreadPoolExecutor(1) as executor:
        probes.make(
            path,
            records,
            executor,
            game=records[0]["game"],
            walks=count,
            iterations=ITERATIONS,
            rollouts=1,
            seed=seed,
        )


def load(walks, game):
    texts = [(f"line {n}", line) for n, line in enumerate(walks.read_bytes().splitlines(), 1)]
    return probes.load(texts, game, registry.get(game).learning.weights.features)


def test_walks_record_what_searches_expect_of_valid_positions(played):
    game, games, walks = played
    version = registry.get(game).weights().version
    prints = {positions.fingerprint(json.loads(line)).hex() for line in games.read_text().splitlines()}
    lines = [json.loads(line) for line in walks.read_text().splitlines()]
    assert sorted(line["walk"]["walk"] for line in lines) == list(range(WALKS))
    found = [probe for line in lines for probe in line["probes"]]
    assert len(found) > 5 * WALKS
    for line in lines:
        assert line["game"] == game
        assert line["walk"]["weights"] == version
        assert line["walk"]["along"] in prints
    for probe in found:
        position = Position.from_json(probe["position"])
        assert position.to_move is not None
        assert len(probe["value"]) == len(probe["scores"]) == position.players
        assert sum(probe["value"]) == pytest.approx(1, abs=1e-3)
    assert len({position.players for position in map(Position.from_json, positions_of(found))}) > 1


def positions_of(found):
    return [probe["position"] for probe in found]


def test_walks_leave_the_games_and_stop_within_turns(played):
    game, games, walks = played
    known = set()
    for line in games.read_text().splitlines():
        record = json.loads(line)
        position = Position.from_json(record["start"])
        known.add(json.dumps(position.to_json()))
        for turn in record["turns"]:
            position.push(turn)
            known.add(json.dumps(position.to_json()))
    found = [probe for line in walks.read_text().splitlines() for probe in json.loads(line)["probes"]]
    are_new = [json.dumps(position) not in known for position in positions_of(found)]
    assert 0.6 < np.mean(are_new) < 1
    if game == "mexica":
        within_turns = [
            position["phase"] == "play" and position["action_points"] < 6 for position in positions_of(found)
        ]
        assert 0.1 < np.mean(within_turns) < 0.5


def test_walks_derive_from_seed_and_number(played):
    _, games, walks = played
    records = [json.loads(line) for line in games.read_text().splitlines()]
    records.sort(key=positions.fingerprint)
    lines = walks.read_text().splitlines()
    assert json.dumps(probes.walk(records, 1, 3, ITERATIONS, 1)) in lines
    assert json.dumps(probes.walk(records, 2, 3, ITERATIONS, 1)) not in lines


def test_a_torn_file_of_walks_is_continued(played, tmp_path):
    _, games, walks = played
    lines = walks.read_text().splitlines(keepends=True)
    path = tmp_path / "torn.jsonl"
    path.write_text("".join(lines[:6]) + lines[6][:100])
    make(path, games, WALKS)
    assert sorted(path.read_text().splitlines(keepends=True)) == sorted(lines)


def test_probes_are_read_in_any_order(played):
    game, _, walks = played
    entry = registry.get(game)
    data = load(walks, game)
    texts = [("", line) for line in walks.read_bytes().splitlines()]
    random.Random(1).shuffle(texts)
    again = probes.load(texts, game, entry.learning.weights.features)
    for name in positions.Positions.__dataclass_fields__:
        assert np.array_equal(getattr(data, name), getattr(again, name)), name
    assert np.allclose(data.shares.sum(1), 1, atol=1e-3)
    assert (data.shares[~data.seats] == 0).all()
    first = json.loads(min(walks.read_bytes().splitlines()))["probes"][0]
    position = Position.from_json(first["position"])
    assert np.array_equal(data.features[0, : position.players], entry.learning.weights.features(position.state))
    assert np.allclose(data.scores[0, : position.players] * positions.SCORE_SCALE, first["scores"], atol=1e-3)


def test_probes_are_of_the_part_of_their_game(played):
    game, _, walks = played
    data = load(walks, game)
    along = [json.loads(line)["walk"]["along"] for line in sorted(walks.read_bytes().splitlines())]
    digests = list(dict.fromkeys(map(bytes.fromhex, along)))
    assert np.array_equal(data.parts, positions.split(digests)[data.games])
    assert set(data.parts) == {positions.TRAIN, positions.SELECTION, positions.REPORT}


def test_a_walk_carries_one_record_and_does_not_depend_on_their_order(played, tmp_path):
    game, games, walks = played
    turned, path = tmp_path / "turned.jsonl", tmp_path / "walks.jsonl"
    turned.write_bytes(b"".join(reversed(games.read_bytes().splitlines(keepends=True))))
    make(path, turned, 2)
    assert len(set(path.read_bytes().splitlines()) & set(walks.read_bytes().splitlines())) == 2
    records = sorted(map(json.loads, games.read_bytes().splitlines()), key=positions.fingerprint)
    record, state = probes._draw_record(records, 1, 3)
    found = probes._walk(record, state, 1, 3, ITERATIONS, 1, registry.get(game).weights())
    assert json.dumps(found).encode() in walks.read_bytes().splitlines()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda line: line.update(game="nim"), r'\.game: given "nim"; expected "mexica"'),
        (lambda line: line["walk"].update(along="x"), "expected a fingerprint in hexadecimal"),
        (lambda line: line["probes"][0].update(value=[1.0]), "expected a share and a score for each of the"),
        (lambda line: line["probes"][0]["position"].pop("players"), r"probes\[0\]\.position"),
        (lambda line: line["probes"][0].pop("scores"), "scores"),
        (lambda line: line.pop("probes"), "probes"),
        (lambda line: line.update(probes=[]), "no probes"),
        (lambda line: line["probes"][0].update(value=[1.2, -0.1, -0.1]), "shares from 0 to 1 with the sum 1"),
        (lambda line: line["probes"][0].update(value=[0.5, 0.2, 0.2]), "shares from 0 to 1 with the sum 1"),
    ],
)
def test_what_is_no_walk_is_refused(mexica_walk, change, expected):
    line = json.loads(mexica_walk)
    change(line)
    with pytest.raises(NotationError, match=expected):
        probes.load([("walks.jsonl:1", json.dumps(line).encode())], "mexica", None)
