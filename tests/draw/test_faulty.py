"""Pictures of faulty positions, as an editor shows them: what cannot be read is left out."""

import copy
import json
import random
import xml.etree.ElementTree as ET

import pytest
from test_draw import ALLOWED, EXAMPLES, play

import mexica_ai as ai
from mexica_ai import registry

GAMES = registry.names()
MARKUP = "\"'><script>alert(1)</script>&amp;<svg onload=x>\x00"
JUNK = (
    None, True, False, 0, -1, 3, 7, 99, 10**6, -(10**6), 10**400, 0.5, 1e308, float("inf"), float("nan"), "", "?", "0",
    "A1", "H6", "U14", "P00", "T00", "i", ".", "9" * 50, "x" * 70_000, MARKUP, [], [MARKUP], [None] * 300, ["0"] * 999,
    list(range(400)), {}, {MARKUP: MARKUP}, {"at": MARKUP, "seat": 10**30, "level": -3},
)  # fmt: skip


def places(value, path=()):
    """Yield the path of every value inside an object or a list."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield (*path, key)
        yield from places(entry, (*path, key))


def spoil(data, rng):
    """Change one place of a position: something else there, gone, twice, or from elsewhere in the position."""
    spots = list(places(data))
    *way, key = rng.choice(spots)
    parent = data
    for step in way:
        parent = parent[step]
    match rng.randrange(5):
        case 0 | 1:
            parent[key] = copy.deepcopy(rng.choice(JUNK))
        case 2:
            del parent[key]
        case 3:
            other = data
            for step in rng.choice(spots):
                other = other[step] if isinstance(other, (dict, list)) else other
            parent[key] = copy.deepcopy(other)
        case 4 if isinstance(parent, list):
            parent += copy.deepcopy(parent) * rng.choice((1, 30))
        case _:
            parent[MARKUP if isinstance(parent, dict) else key] = MARKUP


def check(picture):
    root = ET.fromstring(picture)
    assert {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in root.iter()} <= ALLOWED
    assert not any(key.startswith("on") for element in root.iter() for key in element.attrib)
    assert len(picture) < 2_000_000


def positions(game):
    for seed, steps in ((1, 0), (2, 30), (3, 90), (4, 10_000)):
        yield play(game, seed, steps, 2 + seed % 3).to_json()
    for path in EXAMPLES.glob(f"{game}*.json"):
        yield json.loads(path.read_text())


@pytest.mark.parametrize("game", GAMES)
def test_positions_spoiled_anywhere_are_drawn(game):
    codec, rng = registry.get(game).codec, random.Random(game)
    for start in positions(game):
        for _ in range(60):
            data = copy.deepcopy(start)
            for _ in range(rng.choice((1, 1, 2, 5))):
                spoil(data, rng)
            before = copy.deepcopy(data)
            check(codec.draw(data, theme="page", targets=True))
            assert repr(data) == repr(before)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("junk", JUNK, ids=lambda junk: repr(junk)[:20])
def test_junk_in_place_of_all_is_drawn(game, junk):
    codec, start = registry.get(game).codec, ai.new_game(game).to_json()
    check(codec.draw(junk))
    check(codec.draw(dict.fromkeys(start, junk)))
    if isinstance(start.get("seats"), list):
        check(codec.draw({**start, "seats": [dict.fromkeys(start["seats"][0], junk)] * 300}))


@pytest.mark.parametrize("game", GAMES)
def test_a_picture_of_a_valid_position_does_not_change(game):
    """What is readable of a valid position is all of it."""
    module = __import__(f"mexica_ai.games.{game}.notation", fromlist=["SHAPE"])
    for data in positions(game):
        data = ai.Position.from_json(data).to_json()
        assert ai.strict.readable(data, module.SHAPE) == data
