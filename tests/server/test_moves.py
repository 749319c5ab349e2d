"""Calls that move on: a server whose slots are taken refuses them at once, and gRPC asks the next one."""

from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from servers import IdleSearch, RunningServer, await_that

import mexica_ai as ai
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.rpc import wire
from mexica_ai.rpc.client import Client
from mexica_ai.server.calls import Call
from mexica_ai.server.slots import loop_time
from mexica_ai.v1 import engine_pb2

NIM = ai.new_game("nim", piles=[7, 6, 5])


def question(time_s):
    limits = engine_pb2.Limits(time_s=time_s)
    return engine_pb2.BestTurnRequest(position=wire.position_to_message(NIM), limits=limits)


@pytest.fixture
def ports():
    """Return where the servers listen: on sockets."""
    return {}


@pytest.fixture
def pair(ports):
    """Start two servers of one slot each, the first of which is busy."""
    searches = [IdleSearch(), IdleSearch()]
    servers = [RunningServer(search, slots=1, max_moves=2, **ports) for search in searches]
    busy = servers[0].stub.BestTurn.future(question(60.0))
    searches[0].await_start()
    yield servers, searches
    servers[0].stop_searches()
    busy.result(60)
    for server in servers:
        server.close()


def test_a_call_is_refused_at_once_and_told_to_move_on(pair):
    (busy, _), _ = pair
    with grpc.insecure_channel(busy.address, [("grpc.enable_retries", 0)]) as channel:
        ask = channel.unary_unary("/mexica_ai.v1.EngineService/BestTurn")
        with pytest.raises(grpc.RpcError) as caught:
            ask(question(0.01).SerializeToString())
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    for detail in rpc_status.from_call(caught.value).details:
        detail.Unpack(info)
        detail.Unpack(retry)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert caught.value.details() == (
        "all search slots are taken now; expected the same call at another server, at once"
    )
    assert info.reason == "SLOTS_TAKEN"
    assert retry.retry_delay.ToMilliseconds() == 10
    assert dict(caught.value.trailing_metadata())["grpc-retry-pushback-ms"] == "10"


@pytest.mark.parametrize("attempts", ["2", "2000", "4294967295", "9" * 5000, "-1", "x"])
def test_any_number_of_attempts_that_a_client_claims_is_harmless(pair, attempts):
    (busy, _), _ = pair
    with grpc.insecure_channel(busy.address, [("grpc.enable_retries", 0)]) as channel:
        ask = channel.unary_unary("/mexica_ai.v1.EngineService/BestTurn")
        with pytest.raises(grpc.RpcError) as caught:
            ask(question(60.0).SerializeToString(), metadata=[("grpc-previous-rpc-attempts", attempts)], timeout=30)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize(
    ("left_s", "fields", "reason"),
    [
        (None, {}, "SLOTS_TAKEN"),
        (10.0, {}, "SLOTS_TAKEN"),
        (0.11, {}, "NO_TIME_LEFT"),  # too little for an attempt elsewhere
        (10.0, {"attempts": 2}, "NO_TIME_LEFT"),
        (10.0, {"retries": False}, "NO_TIME_LEFT"),
        (10.0, {"allowed_s": 0.05}, "DEADLINE_TOO_SHORT"),
    ],
)
def test_who_is_sent_on(pair, left_s, fields, reason):
    (busy, _), _ = pair

    async def check():
        call = Call("", deadline=None if left_s is None else loop_time() + left_s, **fields)
        busy._server.scheduler.admission.check(call, SearchSettings(ai.Limits(time_s=60.0)))

    with pytest.raises(ai.SearchError) as caught:
        busy.run(check())
    assert caught.value.reason == reason


@pytest.mark.real("ports")  # gRPC's targets have several addresses only of these
@pytest.mark.parametrize("ports", [{"port": 0}])
def test_the_next_server_answers(pair):
    servers, searches = pair
    with Client("ipv4:" + ",".join(server.address for server in servers)) as client:
        for _ in range(6):
            assert client.best_turn(NIM, time_s=0.01).turn
    assert [len(search.limits) for search in searches] == [1, 6]


def test_a_call_that_has_moved_often_enough_waits(pair):
    (busy, _), (search, _) = pair
    with ThreadPoolExecutor(1) as executor, Client(busy.address) as client:
        # gRPC has one address here: the busy server refuses the call twice, and lets it wait then.
        asked = executor.submit(client.best_turn, NIM, time_s=0.01, timeout_s=300)
        await_that(lambda: busy.num_waiting() == 1)
        busy.stop_searches()
        assert asked.result(60).turn
    assert len(search.limits) == 2


def test_without_the_setting_calls_wait():
    search = IdleSearch()
    server = RunningServer(search, slots=1)
    calls = [server.stub.BestTurn.future(question(60.0)) for _ in range(2)]
    await_that(lambda: server.num_waiting() == 1)
    for _ in calls:
        search.await_start()
        server.stop_searches()
    assert all(call.result(60).result.turn for call in calls)
    server.close()
