"""Games of self-play: where they begin, and what their deep searches found."""

import copy
import json
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

import mexica_ai as ai
from mexica_ai.game import registry
from mexica_ai.game.records import position_at, replay
from mexica_ai.io.errors import NotationError
from mexica_ai.train import belief, folder, outputs, pipeline, policy, positions, probes, searched, selfplay

SIZE = (4, 12)  # iterations of a search, and of a deep one


@pytest.mark.parametrize("game", ["mexica", "coatl", "tzolkin"])
def test_all_seats_play_alike_and_forks_begin_after_an_odd_turn(game):
    played = [selfplay.play_game(game, 1, index, *SIZE) for index in range(6)]
    assert selfplay.play_game(game, 1, 3, *SIZE) == played[3]
    assert selfplay.play_game(game, 2, 3, *SIZE) != played[3]
    forks = searched = 0
    for found in played:
        record = found["record"]
        end = replay(record)
        assert end.is_over
        assert len(set(record["engines"])) == 1
        assert all(search["turn"] < len(record["turns"]) for search in found["searches"])
        searched += len(found["searches"])
        number = found["made"]["game"]
        forks += record["start"] != first_position(game, number, end.players).to_json()
    assert 0 < forks < 6
    assert searched


def first_position(game, index, players):
    """Return the new game from which a game of self-play with seed 1 comes."""
    return ai.new_game(game, players=players, seed=random.Random(f"1/{index}").getrandbits(63))


@pytest.mark.parametrize("planners", [0.0, 1.0])
def test_numbers_of_seats_take_turns(planners):
    played = [selfplay.play_game("coatl", 1, index, 2, 2, planners=planners)["record"] for index in range(4)]
    assert [record["start"]["players"] for record in played] == [2, 3, 4, 2]
    chosen = selfplay.play_game("coatl", 1, 1, 2, 2, players=(2, 4), planners=planners)
    assert (chosen["record"]["start"]["players"], chosen["made"]["players"]) == (4, [2, 4])


def test_games_at_the_same_time_do_not_disturb_each_other():
    alone = [selfplay.play_game("mexica", 1, index, *SIZE) for index in range(4)]
    with ThreadPoolExecutor(3) as executor:
        assert list(executor.map(lambda index: selfplay.play_game("mexica", 1, index, *SIZE), range(4))) == alone


def test_varied_starts_give_seats_things_that_play_seldom_brings():
    random_ = random.Random(5)
    given = Counter()
    for seed in range(60):
        start = ai.new_game("tzolkin", players=2 + seed % 3, seed=seed).to_json()
        untouched = copy.deepcopy(start)
        varied = registry.get("tzolkin").learning.varied(start, random_)
        assert start == untouched
        position = ai.Position.from_json(varied)  # refuses what breaks an invariant
        assert position.legal_actions() == ai.Position.from_json(start).legal_actions()
        for before, after in zip(start["seats"], varied["seats"], strict=True):
            given["seats"] += 1
            given["same"] += before == after
            for key in ("skulls", "workers", "monuments", "temples", "gold"):
                given[key] += before[key] != after[key]
            for track in after["technologies"]:
                given[track, after["technologies"][track]] += 1
    assert given["seats"] / 8 < given["same"] < given["seats"] / 2
    for key in ("skulls", "workers", "monuments", "temples", "gold"):
        assert given[key], key
    assert all(given[track, level] for track in start["seats"][0]["technologies"] for level in range(4))


def test_some_games_have_varied_starts():
    played = [selfplay.play_game("tzolkin", 7, index, 2, 2)["record"] for index in range(16)]
    new = [record["start"]["seats"] for record in played if record["start"]["phase"] == "keep"]
    varied = [seats for seats in new if any(any(seat["technologies"].values()) for seat in seats)]
    assert 0 < len(varied) < len(new)


def test_games_are_played_with_the_weights_that_are_given():
    spec = registry.get("mexica").learning.weights
    by_hand = spec.estimate()
    shipped, other = (selfplay.play_game("mexica", 1, 3, *SIZE, weights) for weights in (None, by_hand))
    assert shipped["made"]["weights"] == registry.get("mexica").weights().version
    assert other["made"]["weights"] == by_hand.version
    assert json.dumps(shipped["record"]["turns"]) != json.dumps(other["record"]["turns"])


# Other styles


def test_planners_have_a_part_in_some_games_and_the_others_stay_as_they_are():
    def play(index, planners=0.0):  # with few seats a game takes less time
        return selfplay.play_game("coatl", 1, index, *SIZE, players=(2,), planners=planners)

    league = [play(index, planners=0.5) for index in range(10)]
    assert play(3, planners=0.5) == league[3]
    seats, kinds = Counter(), Counter()
    for index, after in enumerate(league):
        record = after["record"]
        end = replay(record)
        assert end.is_over
        assert end.scores == record["scores"]
        planned = [engine.startswith("planner") for engine in record["engines"]]
        seats.update(planned)
        kinds["none" if not any(planned) else "all" if all(planned) else "some"] += 1
        if not any(planned):
            assert after["record"] == play(index)["record"]
        for search in after["searches"]:
            assert not planned[mover(record, search["turn"])]
    assert kinds["none"] > 1
    assert kinds["some"]
    assert seats[True] > 5


def mover(record, turn):
    return position_at(record, turn).to_move


def test_games_that_begin_within_others_take_their_positions():
    played = [selfplay.play_game("coatl", 1, index, *SIZE)["record"] for index in range(4)]
    record = max(played, key=lambda record: len(record["turns"]))
    positions = [position_at(record, turn).to_json() for turn in range(len(record["turns"]))]
    begun = [selfplay.play_game("coatl", 1, index, *SIZE, record=record)["record"] for index in range(4)]
    starts_of = [game["start"] for game in begun]
    assert len({json.dumps(start) for start in starts_of}) > 1
    assert sum(start in positions for start in starts_of) > 1  # the rest: an event was drawn anew before the start
    assert all(replay(game).is_over for game in begun)


def test_half_of_the_games_begin_within_records():
    records = [{"number": number} for number in range(3)]
    found = [selfplay._draw_record(records, 1, index) for index in range(200)]
    assert 70 < sum(record is None for record in found) < 130
    assert {record["number"] for record in found if record} == {0, 1, 2}
    assert selfplay._draw_record((), 1, 0) is None


def test_games_that_begin_within_records_are_of_their_parts(monkeypatch):
    records = [selfplay.play_game("coatl", 1, index, *SIZE, players=(2,))["record"] for index in range(3)]
    games = [selfplay.play_game("coatl", 2, index, *SIZE, searched=2, record=records[index % 3]) for index in range(9)]
    texts = [("here", json.dumps(game).encode()) for game in games]
    begun = folder.records_of(texts)
    expected = {positions.fingerprint(record) for record in records}
    asked = []
    for module in (policy, searched, outputs, belief):
        monkeypatch.setattr(module, "split", lambda prints: asked.append(set(prints)) or positions.split(prints))
    spec, weights = registry.get("coatl").learning.weights, registry.get("coatl").weights()
    policy.sample(texts, weights)
    searched.load(texts, spec.features)
    outputs.sample(begun, 2, spec.features)
    belief.sample("coatl", begun, seed=1)
    assert asked == [expected] * 4
    # So are what lies along such a game, what begins within it, and what it is in a later run.
    again = selfplay.reanalyse_game(begun[0], 1, 0, selfplay.Searcher(weights, *SIZE))
    assert replay(again["record"]).is_over
    within = selfplay.play_game("coatl", 3, 0, *SIZE, record=begun[0])
    walked = probes.walk(begun[:1], 1, 1, 1, 1)["walk"]
    first = positions.fingerprint(records[0]).hex()
    assert [again["made"]["along"], within["made"]["along"], walked["along"]] == [first] * 3


def test_a_game_that_begins_within_nothing_known_is_refused():
    content = {"record": {"start": {}, "turns": []}, "made": {"along": "x"}}
    with pytest.raises(NotationError, match=r"^here\.made\.along: given .x.; expected a fingerprint"):
        positions.record_of(content, "here")


def test_lines_of_an_earlier_run_stay_of_the_parts_of_their_records():
    record = selfplay.play_game("coatl", 7, 0, 2, 2, players=(2,))["record"]
    begun = selfplay.play_game("coatl", 7, 1, 2, 2, record=record)
    texts = [(str(number), json.dumps(content).encode()) for number, content in enumerate((record, begun))]
    origins = [positions.origin(found) for found in pipeline._Records.read(texts, "coatl").games]
    assert origins == [positions.fingerprint(record)] * 2
