"""Games of the page, without a process: the end of a turn, and pictures of expected lines."""

import random

import pytest

import mexica_ai as ai
from mexica_ai import registry
from mexica_ai.web import starts
from mexica_ai.web.jobs import MAX_LINE

PERSONS = [{"kind": "person"}] * 2


def new(**data):
    return starts.create({"seats": PERSONS, "open": True, **data}, names=[], examples={}, find=None)


def to_person(game):
    """Draw what is due; return whether a person is to move."""
    while game.waiting == "event":
        game.draw()
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
                game.commit(None)
                continue
            found.add(game.ending())
            game.set_draft([*game.draft, chance.choice(game.drafted().position.legal_actions())], None)
    assert found <= {None, "end", "pass"}
    assert "end" in found or name == "nim"


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("name", registry.BUILT_IN)
def test_an_expected_line_is_drawn_after_its_candidate(name, is_open):
    game, num_drawn = new(game=name, seed=3, open=is_open), 0
    for seed in range(4):
        assert to_person(game)
        number = len(game.positions) - 1
        viewer = game.eyes(None)
        seen = game.position_of(number, viewer, [], [])
        result = ai.best_turn(game.now.view(game.mover), iterations=2000, seed=seed, candidates=4)
        for candidate in result.candidates:
            turns = game.playable(seen, number, [candidate.turn, *candidate.line[:MAX_LINE]])
            assert turns[:1] == [candidate.turn] or not is_open  # a turn may show what the seat has not seen
            for index in range(1, len(turns)):
                picture = game.picture(number, "all", viewer, line=turns[:index], actions=turns[index])
                assert picture.startswith("<svg")
                num_drawn += 1
        game.push(result.turn)
    assert num_drawn > 0


def test_what_cannot_be_is_no_part_of_a_line():
    game = new(game="nim", options={"piles": [2, 2]})
    seen = game.position_of(0, None, [["take 1 1"]], [])
    turns = [["take 2 2"], ["take 2 1"], ["take 1 1"]]
    assert game.playable(seen, 0, turns) == turns[:1]
    assert game.playable(seen, 0, [["take 2 2"], ["take 1 1"]]) == [["take 2 2"], ["take 1 1"]]
