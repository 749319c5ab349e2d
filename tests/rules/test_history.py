"""The history of a position: undoing what was played, and records made of it."""

import random

import pytest

import mexica_ai as ai

SEED = 5


def play(position, turns, *, by_action=False):
    """Play random turns and events; return the list of them, as a record has them."""
    rng, played = random.Random(SEED), []
    while len(played) < turns and not position.is_over:
        if position.is_chance:
            played.append(position.draw(rng.getrandbits(60)))
            continue
        turn, copy = [], position.copy()
        while not turn or copy.is_within_turn:
            turn.append(rng.choice(copy.legal_actions()))
            copy.push_action(turn[-1])
        if by_action:
            for action in turn:
                position.push_action(action)
        else:
            position.push(turn)
        played.append(turn)
    return played


@pytest.mark.parametrize("game", ["coatl", "mexica", "nim", "tzolkin"])
@pytest.mark.parametrize("by_action", [False, True])
def test_what_was_played_is_remembered_and_undone(game, by_action):
    start = ai.new_game(game, players=2, seed=SEED)
    position = start.copy()
    played = play(position, 25, by_action=by_action)
    assert position.history == played
    assert position.start == start
    copy = position.copy()
    undone = []
    while copy.history:
        undone += reversed(copy.pop())
    assert copy == start
    assert undone[::-1] == [action for turn in played for action in turn]
    assert position.history == played
    with pytest.raises(ai.PositionError) as caught:
        copy.pop()
    assert caught.value.reason == "NO_HISTORY"


def test_a_part_of_a_turn_is_part_of_the_history():
    position = ai.new_game("nim", piles=[5, 5], plies_per_turn=2)
    assert (position.history, position.is_within_turn) == ([], False)
    position.push_action("take 1 1")
    assert (position.history, position.is_within_turn) == ([["take 1 1"]], True)
    with pytest.raises(ai.PositionError) as caught:
        ai.make_record(position)
    assert caught.value.reason == "TURN_NOT_ENDED"
    position.push_action("take 1 2")
    position.push_action("take 2 1")
    assert position.history == [["take 1 1", "take 1 2"], ["take 2 1"]]
    assert position.pop() == ["take 2 1"]
    assert (position.history, position.is_within_turn) == ([["take 1 1", "take 1 2"]], False)


def test_a_turn_that_fails_leaves_no_trace():
    position = ai.new_game("nim", piles=[5])
    with pytest.raises(ai.IllegalActionError):
        position.push("take 6 1")
    assert position.history == []


@pytest.mark.parametrize("game", ["coatl", "mexica", "nim", "tzolkin"])
def test_a_record_of_what_was_played(game):
    position = ai.new_game(game, players=2, seed=SEED)
    bare = ai.make_record(position)
    assert (bare["turns"], bare["termination"]) == ([], "unfinished")
    play(position, 12)
    record = ai.make_record(position, engines=["random", "random"], comment="a test")
    assert ai.replay(record) == position
    assert record["comment"] == "a test"


def test_a_record_of_a_whole_game_and_of_a_forfeit():
    position = ai.new_game("nim", piles=[1, 1])
    position.push("take 1 1")
    forfeit = ai.make_record(position, forfeit={"seat": 1, "reason": "crash", "detail": "it died"})
    assert (forfeit["termination"], forfeit["winners"]) == ("forfeit", [0])
    ai.replay(forfeit)
    position.push("take 1 2")
    record = ai.make_record(position)
    assert (record["scores"], record["winners"], record["termination"]) == ([0, 1], [1], "finished")
    ai.replay(record)


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ({"engine": ["x"]}, "UNKNOWN_KEY"),
        ({"engines": ["random"]}, "SEATS_COUNT"),
        ({"seeds": 3}, "WRONG_TYPE"),
        ({"forfeit": {"seat": 7, "reason": "x", "detail": "y"}}, "OUT_OF_RANGE"),
        ({"forfeit": "x"}, "WRONG_TYPE"),
    ],
)
def test_details_of_a_record_are_checked(details, reason):
    with pytest.raises(ai.MexicaAIError) as caught:
        ai.make_record(ai.new_game("nim"), **details)
    assert caught.value.reason == reason


def test_a_view_makes_no_record():
    with pytest.raises(ai.PositionError):
        ai.make_record(ai.new_game("coatl", seed=SEED).view(0))


def test_the_version():
    assert ai.__version__[0].isdigit()
