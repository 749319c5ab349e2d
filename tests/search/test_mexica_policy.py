"""What the priors of Mexica keep in view."""

import json
import random
from pathlib import Path

import pytest
from weighed import categorize

from cext.games.mexica.spec import SPEC
from mexica_ai import best_turn, load, new_game
from mexica_ai.game import registry
from mexica_ai.game.position import Position

POSITIONS = json.loads((Path(__file__).parents[1] / "data" / "mexica_late.json").read_text())
NOTATION = registry.get("mexica").text


def shares(position, *turn):
    state = position.state.copy()
    for action in turn:
        state.apply(NOTATION.parse_action(action))
    _, actions, categories, found = categorize(state)
    return {
        NOTATION.format_action(int(action)): (SPEC.categories[category], float(share))
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


# Action tokens come last


def random_turn(position, random_):
    """Play a turn of any legal actions, tokens often among them; return its actions without `end`."""
    turn, turns = [], position.state.turn
    while position.state.turn == turns:
        legal = position.legal_actions()
        likely = [action for action in legal if action == "token" and random_.random() < 0.5]
        likely = likely or [action for action in legal if action != "end"] or ["end"]
        action = random_.choice(likely)
        position.push_action(action)
        turn.append(action)
    return [action for action in turn if action != "end"]


def fields_but_tokens(position, seat):
    fields = position.to_json()
    return fields["seats"][seat].pop("action_tokens"), fields


@pytest.mark.parametrize("seed", range(4))
def test_tokens_taken_first_may_as_well_be_taken_last(seed):
    random_ = random.Random(seed)
    position = new_game("mexica", players=2 + seed % 3, seed=seed)
    early = 0
    while not position.is_over:
        seat, tokens_last = position.to_move, position.copy()
        turn = random_turn(position, random_)
        for action in turn:
            if action != "token":
                tokens_last.push_action(action)
        for _ in range(turn.count("token")):
            if "token" in tokens_last.legal_actions():
                tokens_last.push_action("token")
        if tokens_last.state.turn != position.state.turn:
            tokens_last.push_action("end")
        (ours, fields), (theirs, expected) = (fields_but_tokens(each, seat) for each in (tokens_last, position))
        assert fields == expected
        assert ours >= theirs
        early += "token" in turn and turn[-1] != "token"
    assert early > 10


def in_view(position, *played):
    return {action: category for action, (category, share) in shares(position, *played).items() if share > 0}


def test_categories_of_tokens(contested):
    assert contested.to_json()["action_points"] > 2
    found = in_view(contested)
    assert found["token"] == "end"  # it means to stop
    assert "end" not in found
    assert len(found) > 2
    fields = contested.to_json()
    for points in (1, 2):
        found = in_view(Position.from_json(fields | {"action_points": points}))
        assert found["token"] == "token"
        assert "end" not in found
    assert in_view(contested, "token") == {"token": "token"}
    assert in_view(contested, "token", "token") == {"end": "end_idle"}


@pytest.mark.parametrize("seed", range(5))
def test_no_turn_ends_with_a_token_left_to_take(seed):
    position = load("examples/mexica_midgame.json")
    for candidate in best_turn(position, iterations=2000, seed=seed, candidates=50).candidates:
        end = position.copy()
        for action in candidate.turn[:-1]:
            end.push_action(action)
        assert candidate.turn[-1] == "end"
        assert "token" not in end.legal_actions()


def test_a_turn_may_go_on_after_a_token_that_is_taken_already(contested):
    contested.push_action("token")
    result = best_turn(contested, iterations=2000, seed=1, candidates=50)
    assert not set(result.turn) <= {"token", "end"}
    # The same as if the position had been loaded.
    again = best_turn(Position.from_json(contested.to_json()), iterations=2000, seed=1, candidates=50)
    assert again.turn == result.turn
