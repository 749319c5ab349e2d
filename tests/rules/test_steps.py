"""Turns step by step: every change is told, costs are what was spent, and the steps add up to the turn."""

import json
import random
from pathlib import Path

import pytest

import mexica_ai as ai
from mexica_ai.game.steps import Change, changes, play_steps
from mexica_ai.io.errors import IllegalActionError

EXAMPLES = Path(__file__).parents[2] / "examples"


def replay(data, found):
    """Return a JSON position after changes; lists are compared without their order."""
    data = json.loads(json.dumps(data))
    for path, before, after in found:
        *parents, last = path.replace("[", ".").replace("]", "").split(".")
        place = data
        for name in parents:
            place = place[int(name) if isinstance(place, list) else name]
        key = int(last) if isinstance(place, list) else last
        if isinstance(place, list) and key == len(place):
            place.append(None)
        current = place[key] if isinstance(place, list) else place.get(key)
        if isinstance(current, list) and not isinstance(before if after is None else after, list):
            if before is not None:
                current.remove(before)
            if after is not None:
                current.append(after)
        else:
            assert current == before
            place[key] = after
    return unordered(data)


def unordered(value):
    if isinstance(value, dict):
        # What became None was taken away.
        return {key: unordered(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return sorted((unordered(inner) for inner in value if inner is not None), key=repr)
    return value


@pytest.mark.parametrize("game", ["coatl", "mexica", "nim", "tzolkin"])
def test_the_changes_of_random_games_lead_from_one_position_to_the_next(game):
    rng = random.Random(5)
    position, scored = ai.new_game(game, players=2, seed=4), [0, 0]
    while not position.is_over:
        if position.is_chance:
            position.draw(rng.randrange(1 << 30))
            continue
        start, turn = position.copy(), []
        while position.state.turn == start.state.turn and not position.is_over:
            turn.append(rng.choice(position.legal_actions()))
            position.push_action(turn[-1])
        before = start
        steps = play_steps(start, turn)
        assert [step.action for step in steps] == turn
        for step in steps:
            after = step.position.to_json()
            assert replay(before.to_json(), step.changes) == unordered(after), step.action
            assert step.scored == [new - old for new, old in zip(step.position.scores, before.scores, strict=True)]
            assert all(amount > 0 for amount in step.cost.values())
            before = step.position
        assert steps[-1].position == position
        assert [step.is_turn_over for step in steps] == [False] * (len(turn) - 1) + [True]
        scored = [total + sum(step.scored[seat] for step in steps) for seat, total in enumerate(scored)]
    if game != "tzolkin":  # there a random event can score, too
        assert scored == position.scores


def test_a_turn_of_mexica():
    position = ai.load(EXAMPLES / "mexica_midgame.json")
    walk, temple = play_steps(position, "teleport C6; temple 2 B7")
    assert walk.cost == {"action_points": 5}
    assert Change("seats[0].pilli", "U7", "C6") in walk.changes
    assert temple.cost == {"action_points": 1, "action_tokens": 1}
    assert Change("temples", None, {"at": "B7", "seat": 0, "level": 2}) in temple.changes
    assert not temple.is_turn_over
    assert position == ai.load(EXAMPLES / "mexica_midgame.json")


def test_a_turn_of_tzolkin_costs_corn():
    position = ai.load(EXAMPLES / "tzolkin_midgame.json")
    (step,) = play_steps(position, "pick palenque 1 1")
    assert (step.cost, step.scored) == ({}, [0, 0])
    assert Change("seats[0].corn", 11, 14) in step.changes


def test_errors_name_the_action_of_the_turn():
    position = ai.load(EXAMPLES / "mexica_midgame.json")
    with pytest.raises(IllegalActionError) as caught:
        play_steps(position, "teleport C6; temple 4 B7")
    assert (caught.value.path, caught.value.action_index) == ("turn[1]", 1)
    with pytest.raises(IllegalActionError, match="comes after the end of the turn"):
        play_steps(position, "end; end")


def test_a_turn_may_stop_before_its_end():
    position = ai.load(EXAMPLES / "mexica_midgame.json")
    with pytest.raises(IllegalActionError, match="does not end the turn"):
        position.push("teleport C6")
    position.push("teleport C6", partial=True)
    assert (position.to_move, position.to_json()["action_points"]) == (0, 1)


def test_lists_of_numbers_change_in_their_places_and_others_as_bags():
    before = {"a": [1, 2, 3], "b": ["x", "y"], "c": [4, 4], "d": [{"n": 1}]}
    after = {"a": [1, 5, 3], "b": ["y", "z"], "c": [4], "d": [{"n": 1}, {"n": 2}], "e": 0}
    assert changes(before, after) == [
        Change("a[1]", 2, 5),
        Change("b", "x", None),
        Change("b", None, "z"),
        Change("c", 4, None),
        Change("d[1]", None, {"n": 2}),
        Change("e", None, 0),
    ]
