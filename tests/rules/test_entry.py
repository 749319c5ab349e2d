"""How a person enters actions on a picture: paths are unique, targets exist, whole games can be entered."""

import random
import re
from pathlib import Path

import pytest

import mexica_ai as ai
from mexica_ai.game import registry
from mexica_ai.game.entry import MENU
from mexica_ai.game.messages import speaking

GAMES = registry.names()
TARGET = re.compile(r'data-target="([^"]*)"')


def games(game, number, keep):
    """Yield positions of random games in which a seat is to move, about one in `keep`."""
    rng = random.Random(f"entry {game}")
    for index in range(number):
        position = ai.new_game(game, players=2 + index % 3, seed=index)
        while not position.is_over:
            if position.is_chance:
                position.draw(rng.getrandbits(40))
                continue
            if rng.random() * keep < 1:
                yield position
            position.push_action(rng.choice(position.legal_actions()))


def paths_of(position):
    parts, fields = registry.get(position.game), position.to_json()
    entries = {action: parts.picture.entry(action, fields) for action in position.legal_actions()}
    return {action: (entry.tool, *entry.paths) for action, entry in entries.items()}


@pytest.mark.parametrize("game", GAMES)
def test_paths_are_unique_and_none_continues_another(game):
    tools = {tool.name: tool for tool in registry.get(game).picture.tools}
    used = set()
    for position in games(game, 4, 3):
        paths = paths_of(position)
        # Targets in another order are another way to the same action.
        sets = [(path[0], frozenset(path[1:])) if tools[path[0]].any_order else path for path in paths.values()]
        assert len(set(sets)) == len(paths)
        whole = set(paths.values())
        for path in paths.values():
            assert not any(path[:length] in whole for length in range(1, len(path)))
            assert len(path) <= 5
        used |= {path[0] for path in paths.values()}
    assert used <= set(tools)
    assert len({tool.key for tool in tools.values()}) == len(tools)
    assert tools.keys() - used <= {"perfect", "promise", "future", "use", "burn", "pass", "take"}  # rare in random play


@pytest.mark.parametrize("game", GAMES)
def test_the_picture_has_every_target(game):
    for position in games(game, 3, 20):
        shown = set(TARGET.findall(position.svg(theme="page", targets=True)))
        clicked = {target for path in paths_of(position).values() for target in path[1:]}
        assert {target for target in clicked if not target.startswith(MENU)} <= shown
        described = registry.get(game).picture.describe_targets(position.to_json())
        assert described.keys() <= shown


@pytest.mark.parametrize("game", GAMES)
def test_a_walk_through_paths_plays_a_game(game):
    rng = random.Random(5)
    position = ai.new_game(game, players=2, seed=9)
    while not position.is_over:
        if position.is_chance:
            position.draw(rng.getrandbits(40))
            continue
        left, taken = paths_of(position), 0
        while len(left) > 1:
            step = rng.choice(sorted({path[taken] for path in left.values()}))
            left = {action: path for action, path in left.items() if path[taken] == step}
            taken += 1
        position.push_action(*left)
    assert position.winners


def test_a_free_advance_of_tzolkin_is_no_free_space():
    game = registry.get("tzolkin")
    fields = ai.load(Path(__file__).parents[2] / "examples" / "tzolkin_midgame.json").to_json()
    with speaking("pt"):
        space = game.picture.describe_targets(fields)["worker:tikal:0"]
        labels = [game.picture.entry(action, fields).paths[-1] for action in ("research theology", "climb chaac")]
    assert space.endswith(", livre")
    assert labels == [f"{MENU}sem blocos"] * 2
