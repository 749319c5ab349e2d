"""Games of the page, without a process: costs, ends of turns, what is taken back, pictures of expected lines."""

import json
import random
from functools import partial
from pathlib import Path

import pytest

import mexica_ai as ai
from mexica_ai.game import registry
from mexica_ai.web import commands, pictures, starts, turn_entry
from mexica_ai.web.analyses import MAX_LINE
from mexica_ai.web.app import Site
from mexica_ai.web.journal import Folder
from mexica_ai.web.visibility import viewer_for

PERSONS = [{"kind": "person"}] * 2


def new(**data):
    return starts.create({"seats": PERSONS, "open": True, **data}, names=[], examples={}, find=None)


def enter(game, action):
    game.change(partial(commands.enter, viewer=None, actions=[*game.draft, action]))


def to_person(game):
    """Draw what is due; return whether a person is to move."""
    while game.waiting == "event":
        game.change(commands.happen)
    return game.waiting == "person"


@pytest.mark.parametrize("name", registry.names())
def test_what_ends_a_turn_is_end_or_pass(name):
    found = set()
    for seed in range(3):
        game, chance = new(game=name, seed=seed), random.Random(seed)
        for _ in range(150):
            if not to_person(game):
                break
            if game.drafted().is_ended:
                game.change(partial(commands.commit, viewer=None))
                continue
            found.add(game.ending())
            enter(game, chance.choice(game.drafted().position.legal_actions()))
    assert found <= {None, "end", "pass"}
    assert "end" in found or name == "nim"


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("name", registry.BUILT_IN)
def test_an_expected_line_is_drawn_after_its_candidate(name, is_open):
    game, num_drawn = new(game=name, seed=3, open=is_open), 0
    for seed in range(4):
        assert to_person(game)
        number = len(game.positions) - 1
        viewer = viewer_for(game.table, None)
        seen = pictures.position_of(game, number, viewer, [], [])
        result = ai.best_turn(game.now.view(game.mover), iterations=2000, seed=seed, candidates=4)
        for candidate in result.candidates:
            turns = pictures.playable(game, seen, number, [candidate.turn, *candidate.line[:MAX_LINE]])
            assert turns[:1] == [candidate.turn] or not is_open  # a turn may show what the seat has not seen
            for index in range(1, len(turns)):
                picture = pictures.picture(game, number, "all", viewer, line=turns[:index], actions=turns[index])
                assert picture.startswith("<svg")
                num_drawn += 1
        game.change(partial(commands.play, turn=result.turn))
    assert num_drawn > 0


def test_what_cannot_be_is_no_part_of_a_line():
    game = new(game="nim", options={"piles": [2, 2]})
    seen = pictures.position_of(game, 0, None, [["take 1 1"]], [])
    turns = [["take 2 2"], ["take 2 1"], ["take 1 1"]]
    assert pictures.playable(game, seen, 0, turns) == turns[:1]
    assert pictures.playable(game, seen, 0, [["take 2 2"], ["take 1 1"]]) == [["take 2 2"], ["take 1 1"]]


def test_the_end_of_a_turn_has_no_cost():
    game, chance = new(game="tzolkin", seed=0), random.Random(0)
    costs = []
    for _ in range(100):  # workers eat at the end of some turns, which is no cost of an action
        assert to_person(game)
        if game.drafted().is_ended:
            game.change(partial(commands.commit, viewer=None))
            continue
        entries = {entry["action"]: entry["cost"] for entry in game.snapshot(None)["entries"]}
        if "end" in entries:
            ended = game.drafted().position.copy()
            before, seat = ended.to_json(), ended.to_move
            ended.push_action("end")
            costs.append((entries["end"], ended.to_json()["seats"][seat]["corn"] < before["seats"][seat]["corn"]))
        enter(game, chance.choice(game.drafted().position.legal_actions()))
    assert {cost for cost, _ in costs} == {""}
    assert any(eats for _, eats in costs)


def test_an_event_between_the_turns_of_two_persons_can_be_taken_back():
    seats = set()
    for seed in range(4):
        game, chance = new(game="coatl", seed=seed, open=False), random.Random(seed)
        while not game.is_over and len(game.positions) < 80:
            if game.waiting == "event":
                before = game.positions[-2].to_move
                game.change(commands.happen)
                if game.mover not in (None, before):
                    seats.add((before, game.mover))
                    assert commands.take_back_limit(game.table) == len(game.positions) - 3
                continue
            game.change(partial(commands.hand_over, viewer=game.mover))
            if game.drafted().is_ended:
                game.change(partial(commands.commit, viewer=None))
            else:
                enter(game, chance.choice(game.drafted().position.legal_actions()))
    assert seats == {(0, 1), (1, 0)}


def test_the_page_knows_the_actions_of_the_examples_from_the_start(tmp_path, monkeypatch):
    monkeypatch.setattr(turn_entry, "_SAMPLES", {})
    folder = Folder(tmp_path)
    Site(folder, None, {})
    folder.close()
    records = (Path(__file__).parents[2] / "examples").glob("*.jsonl")
    played = {json.loads(path.read_text().splitlines()[0])["game"] for path in records}
    assert played
    assert set(turn_entry._SAMPLES) == played
    assert all(turn_entry._SAMPLES[name] for name in played)
