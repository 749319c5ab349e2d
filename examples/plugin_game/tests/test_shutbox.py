"""Shut the Box, as a package that plays with an installed mexica-ai."""

import itertools

import pytest

import mexica_ai as ai
from cext.core.contract.perft import perft
from mexica_ai import testing
from mexica_ai.game import registry

START = {
    "game": "shutbox",
    "version": 1,
    "players": 2,
    "to_move": 0,
    "open": [1, 2, 3, 4, 5, 6, 7, 8, 9],
    "rest": 9,
    "below": 10,
    "points": [],
    "one_die": False,
}
LAST = {**START, "to_move": 1, "points": [44], "open": [1, 2, 3], "rest": 3, "one_die": True}


def position(**changes):
    return ai.Position.from_json({**START, **changes})


def turns(start):
    """Return all turns of the seat to move."""
    found, open_turns = [], [((), start)]
    while open_turns:
        turn, now = open_turns.pop()
        for action in now.legal_actions():
            after = now.copy()
            after.push_action(action)
            if after.state.turn != start.state.turn or after.is_over:
                found.append((*turn, action))
            else:
                open_turns.append(((*turn, action), after))
    return found


def test_it_is_registered():
    assert "shutbox" in registry.names()
    assert registry.get("shutbox").title == "Shut the Box"


def test_it_keeps_its_contract():
    testing.check(registry.get("shutbox"))
    testing.check_rules(registry.get("shutbox"), [position(one_die=True).state, ai.Position.from_json(LAST).state])


# Partitions into distinct parts (OEIS A000009), less those with a part above 9.
@pytest.mark.parametrize(("roll", "count"), list(enumerate([1, 2, 2, 3, 4, 5, 6, 8, 9, 10, 12], start=2)))
def test_a_roll_is_shut_in_as_many_ways_as_it_has_partitions(roll, count):
    assert len(turns(position(rest=roll))) == count


@pytest.mark.parametrize("tiles", [[1, 2, 9], [4, 5, 6, 7], [1, 3, 5, 7, 9], [2]])
def test_turns_are_all_sets_of_open_tiles_that_add_up(tiles):
    for roll in range(2, 13):
        sets = [kind for size in range(1, 10) for kind in itertools.combinations(tiles, size) if sum(kind) == roll]
        expected = {tuple(f"shut {tile}" for tile in reversed(kind)) for kind in sets} or {("stop",)}
        assert set(turns(position(open=tiles, rest=roll))) == expected


def test_the_tiles_of_a_turn_are_shut_in_descending_order():
    game = position()
    game.push_action("shut 5")
    assert game.legal_actions() == ["shut 3", "shut 4"]
    assert game.to_json()["below"] == 5
    game.push_action("shut 4")
    assert game.is_chance
    game.push(["roll 12"])
    assert game.to_json()["rest"] == 12
    assert perft(game.state, 1) == len(game.legal_actions()) == 4  # the highest of 9 3, 9 2 1, 8 3 1, 7 3 2 and so on


@pytest.mark.parametrize(("tiles", "one_die", "rolls"), [([1, 2], True, (1, 6)), ([1, 7], True, (2, 12)),
                                                         ([1, 2], False, (2, 12))])  # fmt: skip
def test_one_die_is_rolled_when_the_high_tiles_are_shut(tiles, one_die, rolls):
    due = position(open=tiles, rest=0, one_die=one_die)
    assert {int(due.copy().draw(seed)[0].removeprefix("roll ")) for seed in range(400)} == {
        *range(rolls[0], rolls[1] + 1)
    }
    for roll in {1, 2, 6, 7, 12} - {*range(rolls[0], rolls[1] + 1)}:
        with pytest.raises(ai.IllegalActionError):
            due.push([f"roll {roll}"])


def test_who_cannot_shut_stops_and_the_highest_points_win():
    game = position(open=[1], rest=2, points=[44], to_move=1)
    assert game.legal_actions() == ["stop"]
    game.push(["stop"])
    assert (game.is_over, game.scores, game.winners) == (True, [44, 44], [0, 1])
    won = position(open=[2], rest=2, points=[44], to_move=1)
    won.push(["shut 2"])
    assert (won.scores, won.winners) == ([44, 45], [1])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"open": [0, 1]}, "OUT_OF_RANGE"),
        ({"open": [2, 1]}, "NOT_SORTED"),
        ({"points": [1, 2, 3]}, "POINTS_COUNT"),
        ({"to_move": 1}, "OUT_OF_RANGE"),
        ({"open": []}, "TILES"),
        ({"below": 5, "rest": 1, "open": [2, 3]}, "REST"),
        ({"rest": 0, "below": 3}, "REST"),
    ],
)
def test_a_position_that_breaks_the_rules_is_refused(changes, reason):
    with pytest.raises(ai.PositionError) as error:
        position(**changes)
    assert error.value.reason == reason


def test_the_search_finds_the_better_of_two_turns():
    """With 3 left a 3 wins: 1/6. With 1 and 2 left a 3 wins, 1 wins with 2 next, 2 wins with 1 next and else ties."""
    result = ai.best_turn(ai.Position.from_json(LAST), iterations=4000, seed=1)
    assert result.turn == ["shut 3"]
    assert result.candidates[0].value[1] == pytest.approx(1 / 6 + 1 / 36 + (1 / 6 + 5 / 6 / 2) / 6, abs=0.04)
    assert result.candidates[1].turn == ["shut 2", "shut 1"]
