"""The reference rules of Tzolk'in against the vectors that an independent implementation made."""

import gzip
import json
from pathlib import Path

import pytest
from reference import tzolkin as reference

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


def read(name):
    with gzip.open(VECTORS / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


POSITIONS, GAMES = read("tzolkin_positions.jsonl.gz"), read("tzolkin_games.jsonl.gz")


def test_all_vectors_are_here():
    assert (len(POSITIONS), len(GAMES)) == (92, 18)
    assert {game["start"]["players"] for game in GAMES} == {2, 3, 4}


@pytest.mark.parametrize("vector", POSITIONS, ids=[f"{i} {v['case']}" for i, v in enumerate(POSITIONS)])
def test_legal_actions(vector):
    reference.check(vector["position"])
    assert reference.legal_actions(vector["position"]) == vector["legal"]


@pytest.mark.parametrize("game", GAMES, ids=range(len(GAMES)))
def test_game(game):
    position = game["start"]
    for turn in game["turns"]:
        for action in turn:
            reference.check(position)
            if not action.startswith("reveal"):
                assert action in reference.legal_actions(position)
            position = reference.apply(position, action)
    assert position == game["final"]
    reference.check(position)
    assert reference.is_over(position)
    assert reference.scores(position) == game["scores"]
    assert reference.winners(position) == game["winners"]
    assert reference.legal_actions(position) == []
