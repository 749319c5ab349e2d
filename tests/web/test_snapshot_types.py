"""The declared types of what the scripts get are those of what the server sends, and the scripts' file has them."""

import random
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from declared import faults

from mexica_ai.game import registry
from mexica_ai.io.strict import parse_json
from mexica_ai.web import commands, snapshot_types, starts

ROOT = Path(__file__).parents[2]


def test_faults_are_found():
    good = {"action": "take 1 1", "text": "", "words": ""}
    assert not list(faults(good, snapshot_types.StepJson))
    for bad in ({**good, "action": 1}, {**good, "more": 1}, {"action": ""}, []):
        assert list(faults(bad, snapshot_types.StepJson))
    assert not list(faults({"kind": "person", "title": "a", "name": None}, snapshot_types.SeatJson))
    assert list(faults({"kind": "robot", "title": "a"}, snapshot_types.SeatJson))


@pytest.mark.parametrize("name", registry.names())
def test_snapshots_are_of_their_type(name):
    chance = random.Random(1)
    seats = [{"kind": "person"}, {"kind": "engine", "level": 1, "seconds": 1.0}]
    game = starts.create({"game": name, "seed": 1, "seats": seats}, names=[], examples={}, find=None)
    for _ in range(16):
        if game.is_over:
            break
        assert not list(faults(game.snapshot(None), snapshot_types.Snapshot))
        match game.waiting:
            case "event":
                game.change(commands.happen)
            case "engine":
                game.change(partial(commands.seat_person, seat=1))
            case "person" if game.drafted().is_ended:
                game.change(partial(commands.commit, viewer=game.mover))
            case "person":
                game.change(partial(commands.hand_over, viewer=game.mover))
                legal = game.drafted().position.legal_actions()
                actions = [*game.draft, chance.choice(legal)]
                game.change(partial(commands.enter, viewer=game.mover, actions=actions))
    if not game.is_over:
        game.change(partial(commands.hand_over, viewer=game.mover))
        game.change(partial(commands.resign, viewer=game.mover))
    assert not list(faults(game.snapshot(None), snapshot_types.Snapshot))
    assert not list(faults(game.summary(), snapshot_types.SummaryJson))


def test_reviews_and_drills_are_of_their_type():
    text = (ROOT / "examples" / "mexica_game.jsonl").read_text().splitlines()[0]
    review = starts.create({"text": text}, names=[], examples={}, find=None)
    assert not list(faults(review.snapshot(None), snapshot_types.Snapshot))
    lines = (Path(__file__).parent / "journals" / "drill.jsonl").read_bytes().splitlines()
    drill = starts.restore("a" * 32, [parse_json(line) for line in lines])
    assert not list(faults(drill.snapshot(None), snapshot_types.Snapshot))
    assert drill.snapshot(None)["drill"]


@pytest.mark.real("processes")
def test_the_types_of_the_scripts_are_current():
    subprocess.run([sys.executable, "-P", ".ci/script-types", "--check"], cwd=ROOT, check=True, timeout=60)
