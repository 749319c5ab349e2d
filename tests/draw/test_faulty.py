"""Pictures of faulty positions, as an editor shows them: what cannot be read is left out."""

import copy
import json
import random
import xml.etree.ElementTree as ET

import pytest
from spoiled import JUNK, spoil
from test_draw import ALLOWED, EXAMPLES, play

import mexica_ai as ai
from mexica_ai.game import registry
from mexica_ai.io import strict

GAMES = registry.names()


def check(picture):
    root = ET.fromstring(picture)
    tags, keys = set(), set()
    for element in root.iter():
        tags.add(element.tag)
        keys.update(element.attrib)
    assert {tag.removeprefix("{http://www.w3.org/2000/svg}") for tag in tags} <= ALLOWED
    assert not any(key.startswith("on") for key in keys)
    assert len(picture) < 2_000_000


def positions(game):
    for seed, steps in ((1, 0), (2, 30), (3, 90), (4, 10_000)):
        yield play(game, seed, steps, 2 + seed % 3).to_json()
    for path in EXAMPLES.glob(f"{game}*.json"):
        yield json.loads(path.read_text())


@pytest.mark.parametrize("game", GAMES)
def test_positions_spoiled_anywhere_are_drawn(game):
    parts, rng = registry.get(game), random.Random(game)
    for start in positions(game):
        for _ in range(20):
            data = copy.deepcopy(start)
            for _ in range(rng.choice((1, 1, 2, 5))):
                spoil(data, rng)
            before = repr(data)
            check(parts.picture.draw(data, theme="page", targets=True))
            assert repr(data) == before


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk)[:20])
def test_junk_in_place_of_all_is_drawn(game, junk):
    parts, start = registry.get(game), ai.new_game(game).to_json()
    check(parts.picture.draw(junk))
    check(parts.picture.draw(dict.fromkeys(start, junk)))
    if isinstance(start.get("seats"), list):
        check(parts.picture.draw({**start, "seats": [dict.fromkeys(start["seats"][0], junk)] * 300}))


@pytest.mark.parametrize("game", GAMES)
def test_a_picture_of_a_valid_position_does_not_change(game):
    """What is readable of a valid position is all of it."""
    module = __import__(f"mexica_ai.games.{game}.notation", fromlist=["SHAPE"])
    for data in positions(game):
        data = ai.Position.from_json(data).to_json()
        assert strict.readable(data, module.SHAPE) == data
