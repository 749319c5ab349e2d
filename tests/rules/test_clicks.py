"""What is said of actions where a person clicks: gains, reasons, walks."""

import random
import re
from pathlib import Path

import pytest
from mexica_builder import build as build_mexica
from tzolkin_builder import build as build_tzolkin

import mexica_ai as ai
from mexica_ai.game import clicks, registry
from mexica_ai.game.position import Position

EXAMPLES = Path(__file__).parents[2] / "examples"
CODE = re.compile(r"\b(?:[PT][0-9]{2}|[a-z0-9]+_[a-z_0-9]+)\b")


def load(name):
    return ai.load(EXAMPLES / f"{name}_midgame.json")


@pytest.mark.parametrize("game", ["coatl", "tzolkin"])
def test_no_reason_and_no_gain_has_a_code(game):
    rng = random.Random(4)
    position = ai.new_game(game, players=3, seed=4)
    told = 0
    for _ in range(150):
        if position.is_over:
            break
        if position.is_chance:
            position.draw(rng.getrandbits(30))
            continue
        seen = position.view(position.to_move)
        targets = sorted(registry.get(game).picture.describe_targets(seen.to_json()))
        said = [one.why for one in clicks.refusals(seen, "", [rng.choice(targets)])]
        said += [gain.words for gain in clicks.gains_of(seen)]
        assert not [words for words in said if CODE.search(words)]
        told += sum(map(bool, said))
        position.push_action(rng.choice(position.legal_actions()))
    assert told > 50


def test_a_found_district_brings_its_points():
    position = load("mexica")
    position.push("canal P7-Q7; canal Q8-Q9; walk T7; walk S7", partial=True)
    before = position.scores
    gains = dict(zip(position.legal_actions(), clicks.gains_of(position), strict=True))
    gain = gains["found 12 O5"]
    position.push_action("found 12 O5")
    assert gain.words == f"{position.scores[0] - before[0]:g} points"
    assert gain.worth == position.scores[0] - before[0]


# Eleven bridges: on D3, which can be turned, and on spaces of double canals, where they cannot.
BRIDGED = ["D3", *(f"{column}3-{column}4" for column in "BFHJ"), *(f"{column}11-{column}12" for column in "BDFHJL")]


def why_not(position, tool, target):
    return [refusal.why for refusal in clicks.refusals(ai.Position.from_json(position), tool, [target])]


def test_a_bridge_that_cannot_be_moved_says_why():
    bridges = [f"{run.partition('-')[0]} ew" for run in BRIDGED]
    position = build_mexica(canals=BRIDGED, bridges=bridges, pillis=["H11"], points=0)
    for space in ("B3", "D3"):
        assert why_not(position, "relocate", space) == ["it costs 1 action point; seat 0 has 0"]
    assert why_not(position, "relocate", "H11") == ["the pilli of seat 0 is on H11"]
    assert why_not(position, "relocate", "K9") == ["there is no bridge on K9"]
    assert why_not(position | {"action_points": 1}, "relocate", "B3") == []
    few = build_mexica(canals=BRIDGED, bridges=bridges[:10])
    assert why_not(few, "relocate", "B3") == ["there are bridges left to build; only without any may one be relocated"]


def test_a_step_that_is_too_dear_costs_what_a_step_costs():
    position = build_mexica(pillis=["K6"], points=0)
    assert why_not(position, "move", "K5") == ["it costs 1 action point; seat 0 has 0"]
    assert why_not(position, "move", "K4") == ["it costs 5 action points; seat 0 has 0"]
    assert why_not(position, "move", "L6") == ["the pilli of seat 1 is on L6"]


def test_walks_are_the_cheapest_and_can_be_played():
    position = load("mexica")
    for walk in clicks.walks_of(position):
        after = position.copy()
        for action in walk.actions:
            after.push_action(action)
        goal = walk.entry.paths[0]
        assert after.to_json()["seats"][0]["pilli"] == goal
        spent = 7 - after.to_json()["action_points"] - after.to_json()["seats"][0]["action_tokens"]
        assert f"{len(walk.actions)} steps" in walk.entry.paths[1]
        assert sum(int(number) for number in re.findall(r"[0-9]+", walk.cost)) == spent
        assert not any(other.entry.paths[0] == goal for other in clicks.walks_of(position) if other != walk)


def test_no_walk_leads_to_where_it_begins():
    # No tile is left and no district has 13 spaces, so the first action puts the token out of play, too.
    position = ai.Position.from_json(build_mexica(display=[13], pillis=["C6"], no_tiles=True))
    back = position.copy()
    back.push("walk C5; walk C6", partial=True)
    assert back.to_json()["calpulli"]["display"] == []
    assert back.to_json()["seats"][0]["pilli"] == "C6"
    goals = [walk.entry.paths[0] for walk in clicks.walks_of(position)]
    assert len(goals) > 3
    assert "C6" not in goals


def test_no_walk_is_offered_where_one_action_leads_as_cheaply():
    rng, position, offered, singles = random.Random(2), ai.new_game("mexica", players=2, seed=2), 0, 0
    for _ in range(60):
        if position.is_chance:
            position.draw(rng.getrandbits(30))
            continue
        prices = {
            (one.entry.tool, one.entry.paths[0]): sum(one.costs.values())
            for one in position.legal_details()
            if one.entry.paths
        }
        for walk in clicks.walks_of(position):
            price = sum(int(number) for number in re.findall(r"[0-9]+", walk.cost))
            assert price < prices.get((walk.entry.tool, walk.entry.paths[0]), 99)
            offered += 1
        singles += sum(tool == "move" for tool, _ in prices)
        position.push_action(rng.choice(position.legal_actions()))
    assert offered > 50 < singles


def test_the_use_of_another_gear_says_what_it_brings_or_lets_choose():
    rng, found = random.Random(1), {}
    for seed in range(8):
        position = ai.new_game("tzolkin", seed=seed, players=3)
        while not position.is_over:
            if position.is_chance:
                position.draw(rng.getrandbits(30))
                continue
            legal = position.legal_actions()
            uses = [action for action in legal if action.startswith("use ")]
            if uses:
                gains = zip(legal, clicks.gains_of(position), strict=True)
                found.update((action, gain.words) for action, gain in gains if action in uses)
            position.push_action(rng.choice(uses or [one for one in legal if one == "pick uxmal 5 5"] or legal))
    assert len(found) > 12
    assert all(found.values()), found
    assert found["use palenque 1"] == "3 corn for 1 corn"
    assert found["use palenque 3"] == "5 corn or 2 wood"


def gain_of(action, **position):
    position = Position.from_json(build_tzolkin(**position))
    gains = dict(zip(position.legal_actions(), clicks.gains_of(position), strict=True))
    return gains[action].words


@pytest.mark.parametrize(
    ("pending", "action", "brings"),
    [
        (["research one"], "research agriculture W", "a step up"),
        (["research two"], "research agriculture W", "a step up"),
        (["research one"], "research extraction W", "2 blocks of choice"),
        (["research two"], "research theology W", "theology 1"),
        (["build one"], "build a1_tomb_temple_build", "a step up and perhaps a building"),
        (["build two"], "build a1_tomb_temple_build", "a step up and perhaps a building"),
        (["build two"], "build a1_civic_agriculture", "a step up"),
    ],
)
def test_an_action_says_all_choices_that_it_brings(pending, action, brings):
    own = {"wood": 9, "gold": 2, "technologies": {"agriculture": 3, "extraction": 3}}
    buildings = ["a1_tomb_temple_build", "a1_civic_agriculture"]
    assert gain_of(action, pending=pending, buildings=buildings, seats={0: own}) == brings


@pytest.mark.parametrize(
    ("corn", "wood", "own", "brings"),
    [
        (4, 4, {}, "5 corn or 2 wood"),
        (4, 0, {}, "5 corn"),
        (4, 4, {"temples": dict.fromkeys(("chaac", "quetzalcoatl", "kukulcan"), -1)}, "2 wood"),
        (4, 4, {"technologies": {"agriculture": 3, "extraction": 1}}, "8 corn or 3 wood"),
        (0, 0, {"technologies": {"agriculture": 2}}, "6 corn"),
    ],
)
def test_a_harvest_says_what_is_there_and_what_it_brings(corn, wood, own, brings):
    fields = {"corn": [4, corn, 4, 4], "wood": [0, wood, 4, 4]}
    assert gain_of("pick palenque 3 3", gears={"palenque": "...0"}, fields=fields, seats={0: own}) == brings


def test_a_wealth_tile_of_another_seat_is_named_by_what_it_brings():
    position = ai.new_game("tzolkin", seed=7, players=2)  # with all tiles in sight, as in an analysis
    assert position.to_json()["seats"][1]["dealt"][0] == "w_uxm1"
    others = [f"dealt:1:{tile}" for tile in position.to_json()["seats"][1]["dealt"][:2]]
    (refusal,) = clicks.refusals(position, "keep", others)
    assert refusal.why == '"5 corn and 1 stone, a step up in Chaac" was not dealt to seat 0'


def test_a_seat_without_a_coatl_is_told_to_start_one():
    plain = registry.get("coatl").clicks.plain
    assert plain("seat 1 has no Coatl 1") == "there is no Coatl yet; start one first"
    assert plain("seat 1 has no Coatl 2") == "seat 1 has no Coatl 2"
    assert plain("P00 is not on display") == 'the prophecy "3-6 yellow" is not on display'
    assert plain("seat 1 has no P99") == "seat 1 has no P99"


def test_a_game_without_clicks_has_none():
    position = ai.new_game("nim", seed=1)
    assert clicks.walks_of(position) == []
    assert {gain.words for gain in clicks.gains_of(position)} == {""}
    assert clicks.refusals(position, "", ["pile:1"]) == []
