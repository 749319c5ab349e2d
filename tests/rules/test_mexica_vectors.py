"""The compiled rules against the vectors that an independent implementation made."""

import gzip
import json
from pathlib import Path

import pytest

import mexica_ai

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


def read(name):
    with gzip.open(VECTORS / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


POSITIONS, GAMES = read("mexica_positions.jsonl.gz"), read("mexica_games.jsonl.gz")


def test_all_vectors_are_here():
    assert (len(POSITIONS), len(GAMES)) == (93, 12)
    assert {game["start"]["players"] for game in GAMES} == {2, 3, 4}


@pytest.mark.parametrize("vector", POSITIONS, ids=range(len(POSITIONS)))
def test_legal_actions(vector):
    position = mexica_ai.Position.from_json(vector["position"])
    assert position.legal_actions() == vector["legal"]
    assert position.to_json() == vector["position"]


@pytest.mark.parametrize("game", GAMES, ids=range(len(GAMES)))
def test_game_turn_by_turn(game):
    position = mexica_ai.Position.from_json(game["start"])
    for turn in game["turns"]:
        position.push(turn)
    assert position.to_json() == game["final"]
    assert position == mexica_ai.Position.from_json(game["final"])
    assert position.is_over
    assert position.scores == game["scores"]
    assert position.winners == game["winners"]
    assert position.legal_actions() == []


@pytest.mark.parametrize("game", GAMES, ids=range(len(GAMES)))
def test_game_action_by_action(game):
    position = mexica_ai.Position.from_json(game["start"])
    for turn in game["turns"]:
        for action in turn:
            assert action in position.legal_actions()
            position.push_action(action)
    assert position.to_json() == game["final"]


@pytest.mark.parametrize("game", GAMES, ids=range(len(GAMES)))
def test_game_as_a_record(game):
    keys = ("start", "turns", "scores", "winners")
    record = {"game": "mexica", "version": 1, **{key: game[key] for key in keys}}
    assert mexica_ai.replay(record).to_json() == game["final"]
