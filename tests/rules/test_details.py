"""Legal actions as data: what they name and cost, in every game."""

import dataclasses
import random
import re

import pytest

import mexica_ai as ai
from mexica_ai.game import registry
from mexica_ai.game.contract import Picture
from mexica_ai.game.steps import play_steps

GAMES = ("coatl", "mexica", "nim", "tzolkin")
KINDS = {
    "coatl": {"CARD", "CHOICE", "DECK", "FIGURE", "FIGURE_END", "PIECE"},
    "mexica": {"AXIS", "BRIDGE", "CHOICE", "SPACE"},
    "nim": {"CHOICE", "PILE"},
    "tzolkin": {"CHOICE", "GEAR", "GEAR_ACTION", "TECHNOLOGY", "TEMPLE", "TILE", "TOOTH"},
}


def positions(game, seeds=2, keep=15):
    for seed in range(seeds):
        rng = random.Random(seed)
        position = ai.new_game(game, players=2 + seed, seed=seed)
        while not position.is_over:
            if position.is_chance:
                position.draw(rng.getrandbits(40))
                continue
            if rng.random() * keep < 1:
                yield position
            position.push_action(rng.choice(position.legal_actions()))


@pytest.mark.parametrize("game", GAMES)
def test_costs_are_those_of_the_steps_of_a_turn(game):
    rng, priced = random.Random(1), 0
    for position in positions(game):
        details = position.legal_details()
        assert [detail.action for detail in details] == position.legal_actions()
        for detail in rng.sample(details, min(len(details), 8)):
            if detail.verb == "end":
                continue  # what it uncovers may be unknown
            (step,) = play_steps(position, [detail.action])
            assert detail.costs == step.cost
            priced += bool(step.cost)
    assert priced or game in ("coatl", "nim")  # Coatl: only in a last turn


@pytest.mark.parametrize("game", GAMES)
def test_targets_have_the_words_of_the_action_and_of_the_picture(game):
    found = set()
    for position in positions(game):
        shown = set(re.findall('data-target="([^"]+)"', position.svg(theme="page", targets=True)))
        tools = {tool.name: tool for tool in registry.get(game).picture.tools}
        for detail in position.legal_details():
            words = re.split("[ -]", detail.action)
            assert detail.verb == words[0]
            assert detail.key == tools[detail.tool].key
            assert detail.label.startswith(tools[detail.tool].label)
            for target in detail.targets:
                found.add(target.kind)
                named = target.name.split()[1:] if target.kind == "PIECE" else target.name.split()
                assert set(named) <= set(words)  # the kind of a piece is not always said
                assert target.words
                assert target.element == "" or target.element in shown
                assert target.seat in (None, position.to_move)
    assert found == KINDS[game]


def test_the_actions_of_mexica_in_words():
    position = ai.load("examples/mexica_midgame.json")
    details = {detail.action: detail for detail in position.legal_details()}
    bridge, walk = details["bridge B5 ns"], details["walk U6"]
    assert (bridge.verb, bridge.tool, bridge.key, bridge.costs) == ("bridge", "bridge", "b", {"action_points": 1})
    assert bridge.label == "Bridge: B5; north to south"
    assert [(target.kind, target.name, target.element) for target in bridge.targets] == [
        ("SPACE", "B5", "B5"),
        ("AXIS", "ns", ""),
    ]
    assert bridge.targets[0].words == "B5, canal"
    assert walk.to_json() == {
        "action": "walk U6",
        "verb": "walk",
        "targets": [
            {"kind": "SPACE", "name": "U6", "words": walk.targets[0].words, "element": "U6"},
            {"kind": "CHOICE", "name": "", "words": "walk", "element": ""},
        ],
        "costs": {"action_points": 1},
        "label": "Move the pilli: U6; walk",
        "tool": "move",
        "key": "m",
        "any_order": False,
    }
    assert {detail.tool for detail in details.values() if detail.any_order} <= {"canal"}


def test_costs_differ_within_a_tool():
    position = ai.load("examples/tzolkin_midgame.json")
    costs = {detail.action: detail.costs for detail in position.legal_details() if detail.tool == "pick"}
    assert len({tuple(cost.items()) for cost in costs.values()}) > 1


def test_a_game_that_does_not_say_what_actions_name(monkeypatch):

    bare = dataclasses.replace(registry.get("nim"), picture=Picture())
    position = ai.new_game("nim", piles=[1, 2], seed=1)
    monkeypatch.setattr(registry, "get", lambda name: bare)
    for detail in position.legal_details():
        assert (detail.verb, detail.label) == ("take", detail.action)
        assert (detail.targets, detail.costs, detail.tool, detail.key) == ([], {}, "", "")
        assert detail.entry.paths == ("menu:" + detail.action,)


def test_no_details_where_no_seat_is_to_move():
    position = ai.new_game("nim", piles=[1, 0], plies_per_turn=1)
    position.push("take 1 1")
    assert position.is_over
    assert position.legal_details() == []
    with pytest.raises(ai.PositionError) as caught:
        ai.load("examples/coatl_midgame.json").view(1).legal_details()
    assert caught.value.reason == "NOT_ITS_VIEW"
