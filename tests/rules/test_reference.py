"""The reference against the vectors that an independent implementation made."""

import gzip
import json
from pathlib import Path

import pytest
from reference import mexica

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


def read(name):
    with gzip.open(VECTORS / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_legal_actions_of_the_positions():
    positions = read("mexica_positions.jsonl.gz")
    assert len(positions) == 93
    for number, vector in enumerate(positions):
        assert mexica.legal_actions(vector["position"]) == vector["legal"], f"position {number}"


@pytest.mark.parametrize("number", range(12))
def test_replay_of_the_games(number):
    game = read("mexica_games.jsonl.gz")[number]
    position = mexica.canonical(game["start"])
    for turn in game["turns"]:
        for action in turn:
            position = mexica.apply(position, action)
    assert position == mexica.canonical(game["final"])
    assert mexica.scores(position) == game["scores"]
    assert mexica.winners(position) == game["winners"]
    assert sum(mexica.returns(position)) == pytest.approx(1)


def test_a_canonical_position_stays_as_it_is():
    for vector in read("mexica_positions.jsonl.gz"):
        position = mexica.canonical(vector["position"])
        assert mexica.canonical(position) == position
        for key, value in vector["position"].items():
            if key != "calpulli":
                assert position[key] == value
