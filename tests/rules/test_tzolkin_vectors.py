"""The rules of Tzolk'in against the vectors that an independent implementation made."""

import gzip
import json
from pathlib import Path

import pytest
from tzolkin_implementations import IMPLEMENTATIONS

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


def read(name):
    with gzip.open(VECTORS / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


POSITIONS, GAMES = read("tzolkin_positions.jsonl.gz"), read("tzolkin_games.jsonl.gz")


def test_all_vectors_are_here():
    assert (len(POSITIONS), len(GAMES)) == (92, 18)
    assert {game["start"]["players"] for game in GAMES} == {2, 3, 4}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda rules: rules.name)
def rules(request):
    return request.param


@pytest.mark.parametrize("vector", POSITIONS, ids=[f"{i} {v['case']}" for i, v in enumerate(POSITIONS)])
def test_legal_actions(rules, vector):
    rules.check(vector["position"])
    assert rules.legal(vector["position"]) == vector["legal"]


@pytest.mark.parametrize("game", GAMES, ids=range(len(GAMES)))
def test_game(rules, game):
    position = game["start"]
    for turn in game["turns"]:
        for action in turn:
            rules.check(position)
            if not action.startswith("reveal"):
                assert action in rules.legal(position)
            position = rules.play(position, action)
    assert position == game["final"]
    rules.check(position)
    assert [seat["score"] for seat in position["seats"]] == game["scores"]
    assert rules.winners(position) == game["winners"]
    assert rules.legal(position) == []
