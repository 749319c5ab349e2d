"""What requests can ask of a search beyond its limits: first actions, options, explanations, levels of records."""

import asyncio
import json

import grpc
import pytest
from servers import RunningServer, failure

import mexica_ai as ai
from mexica_ai.analysis.ratings import ratings_of
from mexica_ai.engines import make_engine
from mexica_ai.rpc import wire
from mexica_ai.rpc.client import AsyncClient, Client
from mexica_ai.v1 import engine_pb2


@pytest.fixture(scope="module")
def server():
    running = RunningServer(None, slots=1, memory_mb=64, search_options=["exploration=0.5:2.5", "halving=0:16"])
    yield running
    running.close()


@pytest.fixture(scope="module")
def client(server):
    with Client(server.address) as client:
        yield client


@pytest.fixture
def position():
    return ai.new_game("mexica", players=2, seed=1)


def test_first_actions_are_allowed_and_avoided(client, position):
    free = client.best_turn(position, iterations=60, seed=1, first_actions=True)
    same = ai.best_turn(position, iterations=60, seed=1, memory_mb=64)
    assert free.first_actions == same.first_actions
    assert len(free.first_actions) > 1
    avoid = [free.turn[0]]
    found = client.best_turn(position, iterations=60, seed=1, avoid=avoid)
    assert found.turn == ai.best_turn(position, iterations=60, seed=1, memory_mb=64, avoid=avoid).turn
    assert found.first_actions == []  # not asked for
    *_, last = client.analyze(position, iterations=60, seed=1, allow=avoid, first_actions=True)
    assert last.turn[0] == avoid[0]
    ((_, one),) = client.best_turns([position], iterations=60, seed=1, first_actions=True, options={"exploration": 2.5})
    assert one.first_actions
    assert one.first_actions != free.first_actions


def test_results_of_other_questions_are_not_taken_from_memory(client, position):
    asked = [{}, {"avoid": ["place H6"]}, {"avoid": ["place G7"]}, {"options": {"exploration": 2.5}}]
    asked += [{"options": {"halving": 4.0}}, {"allow": ["place G7"]}]
    first = [client.best_turn(position, iterations=400, seed=5, first_actions=True, **more) for more in asked]
    again = [client.best_turn(position, iterations=400, seed=5, first_actions=True, **more) for more in asked]
    assert [one.first_actions for one in first] == [one.first_actions for one in again]
    assert len({str(one.first_actions) for one in first}) == len(asked)


@pytest.mark.parametrize(
    ("request_", "field", "reason", "text"),
    [
        ({"allow": ["place A1"]}, "allow[0]", "ILLEGAL_ACTION", "is not legal"),
        ({"avoid": ["eat"]}, "avoid[0]", "UNKNOWN_VERB", "is not an action"),
        ({"allow": ["place H6"], "avoid": ["place H6"]}, "allow", "NO_FIRST_ACTION", "leave no action"),
        ({"options": {"exploration": 3.0}}, "options.exploration", "INVALID_OPTION", "given 3; expected 0.5 to 2.5"),
        ({"options": {"exploration": float("nan")}}, "options.exploration", "INVALID_OPTION", "expected 0.5 to 2.5"),
        ({"options": {"history": 0.0}}, "options", "INVALID_OPTION", "expected one of exploration, halving"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_by_field(server, position, request_, field, reason, text):
    calls = (
        (server.stub.BestTurn, engine_pb2.BestTurnRequest),
        (lambda request: list(server.stub.Analyze(request)), engine_pb2.AnalyzeRequest),
    )
    for call, kind in calls:
        limits = engine_pb2.Limits(iterations=5)
        request = kind(position=wire.position_to_message(position), limits=limits, **request_)
        code, message, info, faults = failure(call, request)
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert [fault.field for fault in faults] == [field]
        assert text in message
        assert info.reason == faults[0].reason
        assert info.reason == reason


def test_without_permission_no_option_is_taken(position):
    running = RunningServer(None, slots=1, memory_mb=64)
    try:
        with Client(running.address) as client, pytest.raises(ai.SearchError, match="lets requests set no option") as e:
            client.best_turn(position, iterations=5, options={"exploration": 1.0})
        assert e.value.reason == "INVALID_OPTION"
    finally:
        running.close()


def test_the_engine_lists_the_options(client):
    assert client.engine_info()["search_options"] == [
        {"name": "exploration", "min": 0.5, "max": 2.5},
        {"name": "halving", "min": 0.0, "max": 16.0},
    ]


def test_an_option_of_a_request_is_that_of_the_search(client, position):
    found = client.best_turn(position, iterations=200, seed=1, options={"halving": 4.0}, first_actions=True)
    with make_engine("mcts,iterations=200,halving=4,memory=64") as engine:
        assert engine.best_turn(position, seed=1).candidates == found.candidates


def test_the_last_message_of_an_analysis_explains_the_turn(server, position):
    request = engine_pb2.AnalyzeRequest(
        position=wire.position_to_message(position),
        limits=engine_pb2.Limits(iterations=3000),
        interval_s=0.01,
        seed=1,
        explain=True,
    )
    *before, last = server.stub.Analyze(request)
    assert all(not answer.result.explanation for answer in before)
    assert last.result.explanation[0].startswith(last.result.turn[0])


def test_a_record_is_searched_at_a_level_and_lists_candidates(client, position):
    record = {"game": "mexica", "version": 1, "start": position.to_json(), "turns": [["place G7"]]}
    record |= {"termination": "unfinished", "scores": None, "winners": None}
    full, weak, bare = (
        next(client.evaluate_record(record, iterations=300, seed=1, **more))
        for more in ({"candidates": 3}, {"candidates": 3, "level": 1}, {})
    )
    assert bare.candidates == []
    assert 1 < len(full.candidates) <= 3
    assert full.candidates[0].turn == full.choice or full.choice == ["place G7"]
    assert full.candidates == ai.best_turn(position, iterations=300, seed=1, memory_mb=64, candidates=3).candidates
    assert weak.iterations < 100 < full.iterations
    with pytest.raises(ai.SearchError, match="level"):
        list(client.evaluate_record(record, iterations=5, level=11))


def test_a_rating_stands_for_the_nearest_level(server, client, position):
    elo = round(ratings_of("mexica")[3].elo)
    by_level = client.best_turn(position, time_s=20, seed=1, level=3)
    by_elo = client.best_turn(position, time_s=20, seed=1, elo=elo)
    assert (by_elo.turn, by_elo.iterations) == (by_level.turn, by_level.iterations)
    *_, analysed = client.analyze(position, time_s=20, seed=1, elo=elo)
    assert analysed.turn == by_level.turn
    ((_, batched),) = client.best_turns([position], time_s=20, seed=1, elo=elo)
    assert batched.turn == by_level.turn
    record = {"game": "mexica", "version": 1, "start": position.to_json(), "turns": [["place G7"]]}
    record |= {"termination": "unfinished", "scores": None, "winners": None}
    asked = ({"level": 3}, {"elo": elo})
    weak, rated = (next(client.evaluate_record(record, iterations=300, seed=1, **more)) for more in asked)
    assert (rated.choice, rated.iterations) == (weak.choice, weak.iterations)
    text = engine_pb2.Position(json=json.dumps(position.to_json()))  # whose game is not known before it is read
    request = engine_pb2.BestTurnRequest(position=text, seed=1, elo=elo)
    assert server.stub.BestTurn(request).result.turn == by_level.turn
    for more in ({"elo": 0}, {"elo": 5001}, {"elo": 1500, "level": 3}):
        with pytest.raises(ai.SearchError, match="elo"):
            client.best_turn(position, iterations=5, **more)
    for more in ({"elo": 5001}, {"elo": 1500, "level": 3}):
        for message in (wire.position_to_message(position), text):
            with pytest.raises(grpc.RpcError, match="elo"):
                server.stub.BestTurn(engine_pb2.BestTurnRequest(position=message, **more))


def test_the_asynchronous_client_has_them_too(server, position):
    async def ask():
        async with AsyncClient(server.address) as client:
            options = {"iterations": 30, "seed": 1, "avoid": ["place G7"], "options": {"exploration": 1.0}}
            return await client.best_turn(position, **options, first_actions=True)

    loop = asyncio.new_event_loop()
    try:
        result = loop.run_until_complete(ask())
    finally:
        loop.close()
    assert "place G7" not in {one.action for one in result.first_actions}
