"""What random events are worth: nothing on average, and with the turns exactly the result of the game."""

import json
import pathlib
import random

import numpy as np
import pytest

import mexica_ai as ai
from mexica_ai.analysis.annotate import TurnEvaluation, replay_played, seat_turns
from mexica_ai.analysis.ledger import accounts_of
from mexica_ai.analysis.luck import events_of, total_worth
from mexica_ai.io.errors import PositionError

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def example(game):
    return json.loads((EXAMPLES / f"{game}_game.jsonl").read_text().splitlines()[0])


def played(position, seed):
    """Return the record of a game with turns and events at random."""
    chance = random.Random(seed)
    start = position.to_json()
    turns = []
    while not position.is_over:
        if position.is_chance:
            turns.append(position.draw(chance.getrandbits(62)))
            continue
        turn, began = [], position.copy()
        while not turn or position.is_within_turn:
            turn.append(chance.choice(position.legal_actions()))
            position.push_action(turn[-1])
        position = began
        position.push(turn)
        turns.append(turn)
    return {
        "game": position.game,
        "version": 1,
        "start": start,
        "turns": turns,
        "scores": position.scores,
        "winners": position.winners,
    }


def evaluated(record, shares):
    """Return evaluations of a record's turns with given shares before them."""
    return [
        TurnEvaluation(
            turn_index=index,
            seat=0,
            turn=record["turns"][index],
            before=list(before),
            after=list(before),
            choice=record["turns"][index],
            choice_value=list(before),
            loss=0.0,
            expected_scores_before=[0.0] * len(before),
            expected_scores_after=[0.0] * len(before),
            scores=[0.0] * len(before),
            iterations=1,
            seconds=0.0,
        )
        for index, before in zip(seat_turns(record), shares, strict=True)
    ]


@pytest.mark.parametrize("game", ["coatl", "tzolkin"])
def test_each_event_is_found_and_its_worths_sum_to_0(game):
    record = example(game)
    events = events_of(record)
    indices = sorted(set(range(len(record["turns"]))) - set(seat_turns(record)))
    assert [event.turn_index for event in events] == indices
    assert [event.event for event in events] == [record["turns"][index] for index in indices]
    assert all(sum(event.worth) == pytest.approx(0, abs=1e-6) for event in events)
    assert any(max(event.worth) > 0.001 for event in events)
    assert events_of(record) == events  # the same draws again


@pytest.mark.parametrize("game", ["mexica", "nim"])
def test_a_game_without_events_has_no_luck(game):
    record = played(ai.new_game(game, seed=1), 1)
    assert events_of(record) == []
    assert total_worth([], 2) == [0.0, 0.0]


@pytest.mark.parametrize("game", ["coatl", "tzolkin"])
def test_outcomes_of_one_event_are_worth_nothing_on_average(game):
    record = example(game)
    first = min(event.turn_index for event in events_of(record, draws=1))
    before = ai.Position.from_json(record["start"])
    for turn in record["turns"][:first]:
        before.push(turn)
    assert before.is_chance
    worths = []
    for seed in range(300):
        position = before.copy()
        outcome = position.draw(seed)
        worths.append(events_of({"start": before.to_json(), "turns": [outcome]}, draws=16)[0].worth[0])
    # The same 16 draws are the measure of all; their own error counts, too.
    error = np.std(worths) * np.sqrt(1 / 300 + 1 / 16)
    assert np.std(worths) > 0
    assert abs(np.mean(worths)) < 3 * error


def test_an_event_that_the_position_knows_is_worth_something():
    record = played(ai.new_game("mexica", seed=3, pool=[*range(3, 14)] * 3), 5)
    (event,) = events_of(record)
    assert event.event == []
    assert sum(event.worth) == pytest.approx(0, abs=1e-6)
    assert max(map(abs, event.worth)) > 0
    assert event.turn_index in seat_turns(record)


def test_a_record_of_a_view_is_refused():
    record = example("coatl")
    view = ai.Position.from_json(record["start"]).view(0)
    with pytest.raises(PositionError, match="full position") as caught:
        events_of({**record, "start": view.to_json()})
    assert (caught.value.reason, caught.value.path) == ("NOT_FULL", "start")


@pytest.mark.parametrize("game", ["coatl", "tzolkin"])
def test_turns_and_luck_add_up_to_the_result(game):
    record = example(game)
    turns = seat_turns(record)
    chance = np.random.default_rng(1)
    players = replay_played(record).players
    evaluations = evaluated(record, chance.dirichlet(np.ones(players), size=len(turns)).tolist())
    events = events_of(record)
    accounts = accounts_of(record, evaluations, events)
    assert [account.result for account in accounts] == replay_played(record).state.returns()
    for account in accounts:
        parts = account.start + account.own_turns + account.others_turns + account.luck
        assert parts == pytest.approx(account.result, abs=1e-12)
    assert sum(account.own_turns for account in accounts) == pytest.approx(
        -sum(account.others_turns for account in accounts)
    )


def test_there_is_no_account_of_a_game_with_turns_left_out():
    record = example("coatl")
    turns = seat_turns(record)
    evaluations = evaluated(record, [[0.5, 0.5]] * len(turns))
    assert accounts_of(record, evaluations[1:], events_of(record)) == []


def test_an_event_after_the_last_turn_of_an_unfinished_game_does_not_count():
    record = example("tzolkin")
    event = events_of(record)[0].turn_index
    cut = {**record, "turns": record["turns"][: event + 1], "termination": "unfinished"}
    cut.pop("scores"), cut.pop("winners")
    evaluations = evaluated(cut, [[0.4, 0.6]] * len(seat_turns(cut)))
    for account in accounts_of(cut, evaluations, events_of(cut)):
        assert account.luck == 0
        assert account.start + account.own_turns + account.others_turns == pytest.approx(account.result)
