"""What the priors of Mexica keep in view."""

import json
from pathlib import Path

import pytest

from cext.games.mexica.policy import CATEGORIES, categorize
from mexica_ai import best_turn, registry
from mexica_ai.position import Position

POSITIONS = json.loads((Path(__file__).parent / "data" / "mexica_late.json").read_text())
NOTATION = registry.get("mexica").notation


def shares(position, *turn):
    state = position.state.copy()
    for action in turn:
        state.apply(NOTATION.parse_action(action))
    _, actions, categories, found = categorize(state)
    return {
        NOTATION.format_action(int(action)): (CATEGORIES[category], float(share))
        for action, category, share in zip(actions, categories, found, strict=True)
    }


@pytest.fixture
def contested():
    # Seat 0 leads by 18 to 13 levels in a land of 50 spaces, where seat 1 can still build 6.
    return Position.from_json(POSITIONS["contested"])


def test_a_place_that_a_rival_could_take_is_found_and_kept(contested):
    result = best_turn(contested, iterations=6000, seed=1)
    assert result.turn[0].startswith("teleport")
    assert result.turn[1].startswith("temple")
    assert result.candidates[0].value[0] > 0.9


def test_one_landing_of_each_district(contested):
    found = {
        action: category
        for action, (category, share) in shares(contested).items()
        if action.startswith("teleport") and share > 0
    }
    into_the_land = [action for action in found if found[action] == "teleport_good"]
    # Starting spaces are worth five points, so they count by themselves; one landing serves the rest.
    assert {"teleport G7", "teleport H8", "teleport I7"} < set(into_the_land)
    assert len(into_the_land) == 4


def test_one_site_of_each_level_where_nothing_can_be_divided(contested):
    found = shares(contested, "teleport I7")
    temples = {action: share for action, (_, share) in found.items() if action.startswith("temple")}
    assert sum(share == 1 for share in temples.values()) == 2  # levels 1 and 2
    ramps = {action.split()[2] for action, share in temples.items() if 0 < share < 1}
    assert ramps == {"M6", "N6", "N7"}
    assert sum(share == 0 for share in temples.values()) > 50
