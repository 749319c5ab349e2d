"""The gRPC service over real loopback connections, and its client.

Most tests put a stand-in in the place of the search, which waits instead of computing: they are about time,
slots and errors. Those that use the search say so.
"""

import asyncio
import contextlib
import logging
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_status import rpc_status
from searching import run_search
from servers import IdleSearch, RunningServer, await_that, failure

import mexica_ai as ai
from mexica_ai.engines import make_engine
from mexica_ai.rpc import wire
from mexica_ai.rpc.client import AsyncClient, Client
from mexica_ai.server import app, handlers, service
from mexica_ai.server.app import Server
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.service import MAX_REQUEST_BYTES, SERVICE_NAME
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

BEST_TURN = f"/{SERVICE_NAME}/BestTurn"
LONG_S = 20.0  # the budget of searches that are to be stopped


@pytest.fixture(scope="module")
def nim():
    return ai.new_game("nim", piles=[7, 6, 5])


@pytest.fixture(scope="module")
def mexica():
    position = ai.new_game("mexica", players=3, seed=4)
    for _ in range(3):
        position.push([position.legal_actions()[0]])
    return position


@pytest.fixture
def start_server():
    """Start servers that wait instead of searching: `server, search = start_server(slots=1)`."""
    with contextlib.ExitStack() as stack:

        def start(search=None, **config):
            search = search or IdleSearch()
            server = RunningServer(search, **config)
            stack.callback(server.close)
            return server, search

        yield start


@pytest.fixture(scope="module")
def real_server():
    """A server with the real search, and with a margin that lets busy machines answer in time."""
    server = RunningServer(None, max_time_s=60.0, threads=1, memory_mb=64, deadline_margin_s=1.5)
    yield server
    server.close()


def request_for(position, seed=None, num_candidates=0, **limits):
    return engine_pb2.BestTurnRequest(
        position=wire.position_to_message(position),
        seed=seed,
        num_candidates=num_candidates,
        limits=engine_pb2.Limits(**limits),
    )


# ---- answers


def test_best_turn_of_mexica_with_the_real_search(real_server, mexica):
    result = real_server.stub.BestTurn(request_for(mexica, time_s=0.2, num_candidates=3)).result
    position = mexica.copy()
    position.push(list(result.turn))
    assert list(result.turn) == list(result.candidates[0].turn)
    assert 1 <= len(result.candidates) <= 3
    assert len(result.value) == len(result.expected_scores) == 3
    assert sum(result.value) == pytest.approx(1)
    assert result.iterations > 0
    assert result.stop_reason != engine_pb2.STOP_REASON_UNSPECIFIED
    assert result.rules_version >= 1
    assert result.engine_version


def test_the_answer_is_that_of_a_local_search(real_server, mexica):
    with Client(real_server.address) as client:
        remote = client.best_turn(mexica, iterations=300, seed=11, candidates=4)
    local = ai.best_turn(mexica, iterations=300, seed=11, candidates=4, memory_mb=64)
    assert remote.candidates == local.candidates
    assert (remote.turn, remote.iterations, remote.seed) == (local.turn, local.iterations, 11)


def test_the_engine_kind_grpc_with_the_real_search(real_server, mexica):
    with make_engine(f"grpc:{real_server.address},time=0.1") as engine:
        result = engine.best_turn(mexica, seed=5)
    assert result.seed == 5
    mexica.copy().push(result.turn)


def test_two_calls_on_one_async_client(start_server, nim):
    server, _ = start_server()

    async def ask_twice():
        async with AsyncClient(server.address) as client:
            return await asyncio.gather(*(client.best_turn(nim, time_s=0.05, seed=seed) for seed in (1, 2)))

    assert [result.seed for result in server.run(ask_twice())] == [1, 2]


def test_a_seed_is_drawn_and_reported(start_server, nim):
    server, _ = start_server()
    seeds = {server.stub.BestTurn(request_for(nim, time_s=0.01)).result.seed for _ in range(3)}
    assert len(seeds) == 3
    assert server.stub.BestTurn(request_for(nim, time_s=0.01, seed=0)).result.seed == 0


# ---- limits and time


def test_defaults(start_server, nim):
    server, search = start_server(default_time_s=0.05, memory_mb=33, threads=3)
    result = server.stub.BestTurn(engine_pb2.BestTurnRequest(position=wire.position_to_message(nim))).result
    assert search.limits == [ai.Limits(time_s=0.05, memory_mb=33, threads=3)]
    assert len(result.candidates) == 5


@pytest.mark.parametrize(("default_time_s", "told"), [(0.02, 0.02), (5.0, 0.05)])
def test_the_time_of_a_search_that_asks_for_none_is_told(start_server, nim, default_time_s, told):
    server, search = start_server(default_time_s=default_time_s, max_time_s=0.05)
    assert server.stub.GetEngineInfo(engine_pb2.GetEngineInfoRequest()).default_time_s == told
    server.stub.BestTurn(engine_pb2.BestTurnRequest(position=wire.position_to_message(nim)))
    assert search.limits[0].time_s == told


def test_limits_are_capped(start_server, nim):
    server, search = start_server(max_time_s=0.05, memory_mb=33, threads=3, max_iterations=9, max_candidates=2)
    request = request_for(
        nim,
        num_candidates=2**32 - 1,
        time_s=1e8,
        iterations=2**64 - 1,
        memory_mb=2**32 - 1,
        threads=2**32 - 1,
    )
    result = server.stub.BestTurn(request).result
    assert search.limits == [ai.Limits(time_s=0.05, iterations=9, memory_mb=33, threads=3)]
    assert len(result.candidates) == 2


def test_searches_that_ask_for_no_iterations_are_capped_too(start_server, nim):
    server, search = start_server(max_iterations=9, default_time_s=0.01)
    position = wire.position_to_message(nim)
    server.stub.BestTurn(engine_pb2.BestTurnRequest(position=position))
    assert [(limits.iterations, limits.time_s) for limits in search.limits] == [(9, 0.01)]
    assert server._server.scheduler.admission.clamp(unlimited=True).iterations == 9


def test_smaller_limits_are_kept(start_server, nim):
    server, search = start_server(threads=3)
    server.stub.BestTurn(request_for(nim, time_s=0.02, iterations=7, memory_mb=5, threads=2))
    assert search.limits == [ai.Limits(time_s=0.02, iterations=7, memory_mb=5, threads=2)]


def test_iterations_without_a_time_get_the_servers_longest(start_server, nim):
    server, search = start_server(default_time_s=0.01, max_time_s=0.03, total_memory_mb=2048)
    server.stub.BestTurn(request_for(nim, iterations=5))
    assert search.limits == [ai.Limits(time_s=0.03, iterations=5, memory_mb=1024)]


@pytest.mark.real("time")
def test_the_answer_comes_before_the_deadline(start_server, nim):
    server, search = start_server(deadline_margin_s=1.5)
    result = server.stub.BestTurn(request_for(nim, time_s=LONG_S), timeout=2).result
    assert result.stop_reason == engine_pb2.STOP_REASON_TIME
    # gRPC rounds a deadline up when it sends it.
    assert search.limits[0].time_s < 2 - 1.5 + 0.05


@pytest.mark.parametrize(
    "timeout_s",
    [
        *(pytest.param(short_s, marks=pytest.mark.real("time")) for short_s in (0.9, 1.003)),
        *(9.993, 10.003, 60.003, 100.003, 1000.003),
    ],
)
def test_a_deadline_ends_before_that_of_a_caller_who_rounds_it_up(start_server, nim, monkeypatch, timeout_s):
    calls, of_context = [], service._call
    monkeypatch.setattr(service, "_call", lambda context: calls.append(of_context(context)) or calls[-1])
    server, _ = start_server()
    request = engine_pb2.LegalActionsRequest(position=wire.position_to_message(nim))
    grpc.channel_ready_future(server.channel).result(60)
    began = time.monotonic()
    server.stub.LegalActions(request, timeout=timeout_s)
    answered = time.monotonic()
    (call,) = calls  # came between these moments
    assert began + 0.98 * timeout_s < call.deadline <= answered + timeout_s


@pytest.mark.real("time")
def test_the_real_search_answers_before_the_deadline(real_server, mexica):
    result = real_server.stub.BestTurn(request_for(mexica, iterations=10**9), timeout=2).result
    assert result.stop_reason in (engine_pb2.STOP_REASON_TIME, engine_pb2.STOP_REASON_SETTLED)


def test_a_deadline_that_leaves_nothing(start_server, nim):
    server, search = start_server(deadline_margin_s=100)
    with pytest.raises(grpc.RpcError) as caught:
        server.stub.BestTurn(request_for(nim, time_s=0.01), timeout=60)
    details = rpc_status.from_call(caught.value).details
    info = error_details_pb2.ErrorInfo()
    assert len(details) == 1  # and no RetryInfo: a retry would fail, too
    assert details[0].Unpack(info)
    assert (caught.value.code(), info.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "DEADLINE_TOO_SHORT")
    assert info.metadata["shortest_deadline_s"] == "101.021"  # the margin and 10 ms, of which 99 % count
    assert "101.021 s" in caught.value.details()
    with Client(server.address) as client, pytest.raises(ai.SearchError) as raised:
        client.best_turn(nim, time_s=0.01, timeout_s=60)
    assert type(raised.value) is ai.SearchError
    assert raised.value.reason == "DEADLINE_TOO_SHORT"
    assert search.limits == []


@pytest.mark.parametrize(("attempts", "allowed_s"), [((), 0.5), ((("grpc-previous-rpc-attempts", "2"),), None)])
def test_what_is_left_to_a_retry_is_not_what_the_caller_allows(attempts, allowed_s):
    class Context:
        def invocation_metadata(self):
            return attempts

        def time_remaining(self):
            return 0.01  # a limit of rates has held the call

        def peer(self):
            return "unix:"

    async def read():
        handlers.ALLOWED_S.set(0.5)
        return service._call(Context())

    call = asyncio.run(read())
    assert call.allowed_s == allowed_s
    assert call.deadline is not None


@pytest.mark.real("time")
def test_retries_in_vain_end_with_the_reason_of_the_last_refusal(start_server, nim):
    server, search = start_server(slots=1)
    with Client(server.address) as client:
        running = server.stub.BestTurn.future(request_for(nim, time_s=30))
        search.await_start()
        for timeout_s in (0.3, 0.6, 1.2):
            with pytest.raises(ai.SearchError) as caught:
                client.best_turn(nim, time_s=0.3, timeout_s=timeout_s)
            assert caught.value.reason == "NO_TIME_LEFT"
        running.cancel()


# ---- cancelling


def test_a_cancelled_call_stops_its_search(start_server, nim):
    server, search = start_server()
    call = server.stub.BestTurn.future(request_for(nim, time_s=LONG_S))
    search.await_start()
    call.cancel()
    search.await_end()
    assert search.stop_reasons == ["stopped"]


def test_a_cancelled_call_stops_the_real_search(mexica):
    started, ended = threading.Event(), threading.Event()
    results = []

    def watched_search(*args, **kwargs):
        started.set()
        results.append(run_search(*args, **kwargs))
        ended.set()
        return results[0]

    server = RunningServer(watched_search, max_time_s=LONG_S, threads=2)
    try:
        call = server.stub.BestTurn.future(request_for(mexica, time_s=LONG_S))
        assert started.wait(60)
        assert not ended.wait(0.1)
        call.cancel()
        assert ended.wait(60)
        assert results[0].stop_reason == "stopped"
    finally:
        server.close()


def test_a_client_that_goes_away_frees_its_slot(start_server, nim):
    server, search = start_server(slots=1)
    reasons = []

    def ask():
        try:
            client.best_turn(nim, time_s=LONG_S)
        except ai.SearchError as error:
            reasons.append(error.reason)

    with Client(server.address) as client:
        asking = threading.Thread(target=ask)
        asking.start()
        search.await_start()
        client.close()
        search.await_end()
        asking.join()
    assert reasons == ["CANCELLED"]
    # The deadline leaves it time to wait: the search may have ended before its slot is free.
    assert server.stub.BestTurn(request_for(nim, time_s=0.01), timeout=3 * LONG_S).result.turn


@pytest.mark.real("time")
def test_a_deadline_that_passes_stops_the_search(start_server, nim):
    def deaf_search(position, limits, *, stop, **options):
        assert stop.wait(60)  # pays no heed to its time
        return idle(position, limits, stop=stop, **options)

    idle = IdleSearch()
    server, _ = start_server(deaf_search, deadline_margin_s=0.02)
    grpc.channel_ready_future(server.channel).result(60)
    code, *_ = failure(server.stub.BestTurn, request_for(nim, time_s=LONG_S), timeout=1.0)
    assert code is grpc.StatusCode.DEADLINE_EXCEEDED
    idle.await_end()


def test_stopping_a_client_and_an_engine(start_server, nim):
    server, search = start_server()
    for ask in (Client(server.address).best_turn, make_engine(f"grpc:{server.address},time=20").best_turn):
        stop = ai.Stop()
        threading.Thread(target=lambda stop=stop: (search.await_start(), stop.set())).start()
        with pytest.raises(ai.SearchError) as caught:
            ask(nim, stop=stop)
        assert caught.value.reason == "CANCELLED"
        search.await_end()
    assert search.stop_reasons == ["stopped", "stopped"]


# ---- slots


def test_calls_wait_for_a_slot_and_health_checks_do_not(start_server, nim):
    server, search = start_server(slots=1)
    first = server.stub.BestTurn.future(request_for(nim, time_s=LONG_S))
    search.await_start()
    second = server.stub.BestTurn.future(request_for(nim, time_s=0.01))
    await_that(lambda: server.num_waiting() == 1)
    for name in ("", SERVICE_NAME):
        answer = server.health.Check(health_pb2.HealthCheckRequest(service=name), timeout=60)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    assert not first.done()
    assert len(search.limits) == 1
    server.stop_searches()
    assert first.result(60).result.turn
    assert second.result(60).result.turn
    assert [limits.time_s for limits in search.limits] == [LONG_S, 0.01]


@pytest.mark.real("time")
def test_waiting_takes_from_the_deadline(start_server, nim):
    started, may_end = threading.Event(), threading.Event()
    search = IdleSearch()

    def late_search(*args, **options):
        started.set()
        assert may_end.wait(60)  # longer than its time, so that the other call is let in
        return search(*args, **options)

    server, _ = start_server(late_search, slots=1, deadline_margin_s=2.0)
    first = server.stub.BestTurn.future(request_for(nim, time_s=0.01))
    assert started.wait(60)
    second = server.stub.BestTurn.future(request_for(nim, time_s=LONG_S), timeout=10)
    await_that(lambda: server.num_waiting() == 1)
    time.sleep(0.3)
    may_end.set()
    search.await_start()
    search.await_start()
    assert search.limits[1].time_s < 10 - 2 - 0.3
    server.stop_searches()
    assert first.result(60).result.turn
    assert second.result(60).result.stop_reason == engine_pb2.STOP_REASON_STOPPED


def test_a_slot_that_comes_too_late(start_server, nim):
    server, search = start_server(slots=1)
    first = server.stub.BestTurn.future(request_for(nim, time_s=LONG_S))
    search.await_start()
    code, _, info, _ = failure(server.stub.BestTurn, request_for(nim, time_s=0.01), timeout=LONG_S / 4)
    assert (code, info.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "NO_TIME_LEFT")
    first.cancel()
    search.await_end()
    # The deadline leaves it time to wait: the search may have ended before its slot is free.
    assert server.stub.BestTurn(request_for(nim, time_s=0.01), timeout=3 * LONG_S).result.turn


def test_too_many_waiting(start_server, nim):
    server, search = start_server(slots=1, max_waiting=0)
    first = server.stub.BestTurn.future(request_for(nim, time_s=LONG_S))
    search.await_start()
    code, _, info, _ = failure(server.stub.BestTurn, request_for(nim))
    assert (code, info.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_WAITING")
    first.cancel()


def test_cancelled_waiters_leave_the_queue(start_server, nim):
    server, search = start_server(slots=1)
    first = server.stub.BestTurn.future(request_for(nim, time_s=0.3))
    search.await_start()
    for waiting in [server.stub.BestTurn.future(request_for(nim, time_s=LONG_S)) for _ in range(5)]:
        waiting.cancel()
    first.result(60)
    # The deadline leaves it time to wait: the search may have ended before its slot is free.
    assert server.stub.BestTurn(request_for(nim, time_s=0.01), timeout=3 * LONG_S).result.turn
    # A call that was cancelled late may have started; none may continue.
    assert all(limits.time_s < LONG_S for limits in search.limits) or "stopped" in search.stop_reasons


# ---- errors


def test_a_bad_position_gets_field_violations(start_server, mexica):
    server, search = start_server()
    request = request_for(mexica)
    request.position.mexica.seats[0].score = -3
    request.position.mexica.seats[2].score = 1000
    code, message, info, faults = failure(server.stub.BestTurn, request)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert (info.domain, info.metadata["error"]) == ("v1.mexica-ai", "PositionError")
    assert [fault.field for fault in faults] == [
        "position.mexica.seats[0].score",
        "position.mexica.seats[2].score",
    ]
    assert "-3" in faults[0].description
    assert faults[0].reason == info.reason == "OUT_OF_RANGE"
    assert message.startswith("position.mexica.seats[0].score: ")
    request.position.mexica.seats[0].pilli = "Z9"
    _, _, info, faults = failure(server.stub.BestTurn, request)
    assert info.metadata["error"] == "NotationError"
    assert [fault.field for fault in faults] == ["position.mexica.seats[0].pilli"]
    assert search.limits == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda request: request.ClearField("position"), "position"),
        (lambda request: request.position.ClearField("mexica"), "position"),
        (lambda request: request.position.mexica.ClearField("to_move"), "position.mexica.to_move"),
        (lambda request: setattr(request.limits, "time_s", -1.0), "limits.time_s"),
        (lambda request: setattr(request.limits, "time_s", float("nan")), "limits.time_s"),
        (lambda request: setattr(request.limits, "time_s", float("inf")), "limits.time_s"),
        (lambda request: setattr(request, "seed", 2**63), "seed"),
    ],
    ids=[
        "no position",
        "no game",
        "a missing field",
        "negative time",
        "NaN",
        "infinite time",
        "seed too large",
    ],
)
def test_bad_requests(start_server, mexica, change, field):
    server, search = start_server()
    request = request_for(mexica)
    change(request)
    code, _, _, faults = failure(server.stub.BestTurn, request)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert [fault.field for fault in faults] == [field]
    assert search.limits == []


def test_a_finished_game(start_server):
    server, _ = start_server()
    position = ai.new_game("nim", piles=[1])
    position.push(["take 1 1"])
    code, _, info, _ = failure(server.stub.BestTurn, request_for(position))
    assert (code, info.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "GAME_OVER")
    with Client(server.address) as client, pytest.raises(ai.GameOverError):
        client.best_turn(position)


def test_internal_errors_are_told_to_the_log_only(start_server, nim, caplog):
    def broken_search(*_, **__):
        raise RuntimeError("a secret of the machine")

    server, _ = start_server(broken_search)
    with caplog.at_level(logging.ERROR, logger="mexica_ai.server"):
        code, message, info, _ = failure(server.stub.BestTurn, request_for(nim))
    assert code is grpc.StatusCode.INTERNAL
    assert "secret" not in message
    request_id = info.metadata["request_id"]
    assert message == f"internal error; request id {request_id}"
    assert request_id in caplog.text
    assert "a secret of the machine" in caplog.text


@pytest.mark.parametrize("reason", ["OUT_OF_MEMORY", "NO_THREADS"])
def test_what_the_machine_lacks_is_told(start_server, nim, reason):
    def poor_search(*_, **__):
        raise ai.SearchError("too poor", reason=reason)

    server, _ = start_server(poor_search)
    code, message, info, _ = failure(server.stub.BestTurn, request_for(nim))
    assert (code, message, info.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "too poor", reason)


@pytest.fixture
def no_threads(monkeypatch):
    """Make the start of new threads of a pool fail: `with no_threads("search"): ...`."""
    adjust = ThreadPoolExecutor._adjust_thread_count

    @contextlib.contextmanager
    def refusing(prefix):
        def refuse(self, *args):
            if self._thread_name_prefix == prefix:
                raise RuntimeError("can't start new thread")
            adjust(self, *args)

        with monkeypatch.context() as patch:
            patch.setattr(ThreadPoolExecutor, "_adjust_thread_count", refuse)
            yield

    return refusing


def test_a_thread_that_cannot_be_started_takes_no_slot(start_server, nim, no_threads):
    server, search = start_server(slots=1)
    with no_threads("search"):
        for _ in range(2):
            code, message, info, _ = failure(server.stub.BestTurn, request_for(nim, time_s=LONG_S))
            assert (code, info.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "NO_THREADS")
            assert "can't start new thread" in message
    assert server.stub.BestTurn(request_for(nim, time_s=0.01)).result.turn
    # What could not be started is queued nevertheless, and stopped when a worker comes to it.
    assert search.stop_reasons == ["stopped", "stopped", "time"]


def test_a_light_worker_that_cannot_be_started_takes_no_place(start_server, mexica, no_threads):
    server, _ = start_server(light_workers=1)
    request = engine_pb2.ConsiderProposalRequest(position=wire.position_to_message(mexica), actions=["remove 3"])
    with no_threads("light"):
        for _ in range(2):
            code, _, info, _ = failure(server.stub.ConsiderProposal, request)
            assert (code, info.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "NO_THREADS")
    assert server.stub.ConsiderProposal(request, timeout=60).opinions


def test_hundreds_of_faults_fit_into_one_answer(start_server, mexica):
    server, _ = start_server()
    request = request_for(mexica)
    request.position.mexica.canals.extend(["\N{SNOWMAN}" * 90] * 200)
    code, message, _, faults = failure(server.stub.BestTurn, request)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert len(faults) > 5
    assert len(message) <= 500


def test_what_is_no_request_at_all(start_server, nim):
    server, _ = start_server()
    send_bytes = server.channel.unary_unary(BEST_TURN)  # sends and receives raw bytes
    for garbage in (b"\xff" * 100, b"\x0a\x05\x0a\x03\x1a\x01\xff", b"\x0a", b"\x0b" * 50_000):
        code, message, *_ = failure(send_bytes, garbage, timeout=60)
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert message.startswith(f"request: {len(garbage)} bytes that cannot be parsed")
    code, *_ = failure(send_bytes, b"", timeout=60)  # a message without any field
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    code, *_ = failure(send_bytes, b"\x00" * (MAX_REQUEST_BYTES + 1), timeout=60)
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert server.stub.BestTurn(request_for(nim, time_s=0.01)).result.turn


# ---- the client


def test_the_client_raises_the_errors_of_a_local_call(start_server, mexica, nim):
    server, _ = start_server()

    class Broken:
        """A position that our own code would never send."""

        game, players = "mexica", mexica.players

        def to_json(self):
            data = mexica.to_json()
            data["seats"][1]["score"] = 1000
            return data

    with Client(server.address) as client:
        with pytest.raises(ai.PositionError) as remote:
            client.best_turn(Broken())
        with pytest.raises(ai.PositionError) as local:
            ai.Position.from_json(Broken().to_json())
        assert str(remote.value) == str(local.value)
        assert remote.value.reason == local.value.reason
        assert remote.value.path == local.value.path == "$.seats[1].score"
        assert remote.value.violations == local.value.violations
        for bad in ({"time_s": -1}, {"iterations": 0}, {"threads": 1.5}, {"seed": -1}, {"candidates": 0}):
            with pytest.raises(ai.SearchError) as caught:
                client.best_turn(nim, **bad)
            assert caught.value.reason.startswith("INVALID_")


@pytest.mark.slow
def test_nobody_listens(nim):
    with Client("127.0.0.1:1") as client, pytest.raises(ai.SearchError, match=r"127\.0\.0\.1:1") as caught:
        client.best_turn(nim, timeout_s=5)
    assert caught.value.reason == "UNAVAILABLE"


# ---- standard services, start and end


def test_reflection_lists_the_services(start_server):
    server, _ = start_server()
    stub = reflection_pb2_grpc.ServerReflectionStub(server.channel)
    answers = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
    names = {service.name for service in next(answers).list_services_response.service}
    assert {SERVICE_NAME, "grpc.health.v1.Health"} <= names


def test_draining_reports_first_and_answers_what_runs(start_server, nim, monkeypatch):
    server, search = start_server(slots=1, grace_s=0.2)
    statuses = server.health.Watch(health_pb2.HealthCheckRequest(service=SERVICE_NAME))
    assert next(statuses).status == health_pb2.HealthCheckResponse.SERVING
    running = server.stub.BestTurn.future(request_for(nim, time_s=LONG_S))
    search.await_start()
    waiting = server.stub.BestTurn.future(request_for(nim, time_s=LONG_S))
    await_that(lambda: server.num_waiting() == 1)
    ended_before = []
    report = server._server._health.stop

    def reporting():
        report()
        ended_before.extend(search.stop_reasons)

    monkeypatch.setattr(server._server._health, "stop", reporting)
    draining = threading.Thread(target=server.drain)
    draining.start()
    assert next(statuses).status == health_pb2.HealthCheckResponse.NOT_SERVING
    assert running.result(60).result.stop_reason == engine_pb2.STOP_REASON_STOPPED
    assert ended_before == []
    with pytest.raises(grpc.RpcError) as caught:
        waiting.result(60)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    draining.join()


def test_draining_never_has_two_stops_in_progress(start_server, nim, monkeypatch):
    server, search = start_server(slots=1, grace_s=0.1)
    running = server.stub.BestTurn.future(request_for(nim, time_s=LONG_S))
    search.await_start()
    core, graces, most = server._server._server, [], []

    class Counted:
        num_in_progress = 0

        async def stop(self, grace_s):
            graces.append(grace_s)
            self.num_in_progress += 1
            most.append(self.num_in_progress)
            try:
                await core.stop(grace_s)
            finally:
                self.num_in_progress -= 1

    monkeypatch.setattr(server._server, "_server", Counted())
    server.drain()
    assert running.result(60).result.stop_reason == engine_pb2.STOP_REASON_STOPPED
    # The first tells the clients to go; only the last waits for its end, and ends what is left.
    assert graces == [app.ENDLESS_S, app.FLUSH_S]
    assert max(most) == 1


def run_serve(arguments):
    return subprocess.Popen(
        [sys.executable, "-P", "-c", f"from mexica_ai.server.main import serve; serve({arguments})"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.real("processes")
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_until_a_signal(number, mexica):
    with run_serve("port=0") as process:
        try:
            words = process.stdout.readline().split()
            assert words[:2] == ["listening", "on"]
            with Client(words[2]) as client:
                assert client.best_turn(mexica, iterations=20, seed=1).turn
            process.send_signal(number)
            assert process.wait(60) == 0
            assert process.stderr.read() == ""
        finally:
            process.kill()


@pytest.mark.real("processes")
@pytest.mark.slow
def test_serve_lets_the_last_tasks_end():
    script = """
import asyncio
from mexica_ai.server import app, main

async def end_late():
    await asyncio.sleep(0.05)
    print("ended", flush=True)

class Server(app.Server):
    async def drain(self):
        await super().drain()
        self.late = asyncio.ensure_future(end_late())

main.Server = Server
main.serve(port=0)
"""
    with subprocess.Popen(
        [sys.executable, "-P", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline().startswith("listening on")
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
            assert process.stdout.read() == "ended\n"
            assert process.stderr.read() == ""
        finally:
            process.kill()


@pytest.mark.real("processes")
@pytest.mark.slow
def test_sigterm_answers_the_best_turn_of_a_long_search(mexica, nim):
    with run_serve("port=0, slots=1, grace_s=0.4") as process:
        try:
            address = process.stdout.readline().split()[2]
            with grpc.insecure_channel(address) as channel:
                stub = engine_pb2_grpc.EngineServiceStub(channel)
                statuses = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
                assert next(statuses).status == health_pb2.HealthCheckResponse.SERVING
                long_ = stub.BestTurn.future(request_for(mexica, time_s=LONG_S))
                # It has the only slot once another call would wait too long for that.
                code = None
                while code is not grpc.StatusCode.RESOURCE_EXHAUSTED:
                    code = stub.BestTurn.future(request_for(nim, time_s=0.01), timeout=LONG_S / 2).code()
                    assert not long_.done()
                process.send_signal(signal.SIGTERM)
                assert next(statuses).status == health_pb2.HealthCheckResponse.NOT_SERVING
                result = long_.result(60).result
            assert result.stop_reason == engine_pb2.STOP_REASON_STOPPED
            assert result.iterations > 0
            assert result.seconds < LONG_S / 2
            mexica.copy().push(list(result.turn))
            assert process.wait(60) == 0
            assert process.stderr.read() == ""
        finally:
            process.kill()


@pytest.mark.real("ports")
def test_old_connections_take_no_more_calls_and_finish_those_they_have(start_server, nim, caplog):
    caplog.set_level(logging.INFO, "mexica_ai.server.calls")
    server, search = start_server(port=0, max_connection_age_s=0.1)
    running = server.stub.BestTurn.future(request_for(nim, time_s=LONG_S))
    search.await_start()
    request = engine_pb2.LegalActionsRequest(position=wire.position_to_message(nim))

    def num_connections():
        assert server.stub.LegalActions(request).actions  # none is lost
        return len({record.fields["peer"] for record in caplog.records})

    await_that(lambda: num_connections() >= 3)
    assert not running.done()
    server.stop_searches()
    assert running.result(60).result.turn


def test_idle_connections_are_closed(start_server, nim):
    server, _ = start_server(max_connection_idle_s=0.1)
    states = []
    server.channel.subscribe(states.append)
    request = engine_pb2.LegalActionsRequest(position=wire.position_to_message(nim))
    assert server.stub.LegalActions(request).actions
    await_that(lambda: grpc.ChannelConnectivity.READY in states)
    await_that(lambda: states[-1] is grpc.ChannelConnectivity.IDLE)
    assert server.stub.LegalActions(request).actions


@pytest.mark.real("ports")
def test_a_port_that_is_taken():
    async def start():
        await Server(ServerConfig(port=port)).start()

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}"):
            asyncio.run(start())


@pytest.mark.real("ports")
@pytest.mark.parametrize("port", [0, 50051])
def test_an_address_that_is_not_of_this_machine(port, capfd):
    async def start():
        await Server(ServerConfig(host="192.0.2.1", port=port, insecure=True)).start()

    with pytest.raises(OSError, match=f"^cannot listen on 192.0.2.1:{port}: Cannot assign requested address$"):
        asyncio.run(start())
    assert not capfd.readouterr().err


def test_one_call_a_connection_beside_the_watch_of_health(start_server, nim):
    server, search = start_server(max_streams_per_connection=1)
    with Client(server.address) as client, ThreadPoolExecutor(1) as pool:
        assert client.list_games(timeout_s=20)  # after the health is known, which takes a stream for good
        stop = ai.Stop()
        searching = pool.submit(client.best_turn, nim, time_s=LONG_S, stop=stop)
        search.await_start()
        with pytest.raises(ai.SearchError, match="DEADLINE_EXCEEDED"):
            client.list_games(timeout_s=0.2)
        stop.set()
        with pytest.raises(ai.SearchError, match="CANCELLED"):
            searching.result()
        assert client.list_games(timeout_s=20)


@pytest.mark.real("ports")
def test_two_servers_do_not_share_a_port(start_server):
    server, _ = start_server(port=0)
    with pytest.raises(OSError, match="cannot listen"):
        start_server(port=int(server.address.rpartition(":")[2]))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_other_than_loopback_is_refused(host):
    with pytest.raises(ai.SearchError, match="expected a loopback address") as caught:
        ServerConfig(host=host)
    assert caught.value.reason == "INVALID_CONFIG"
    assert ServerConfig(host=host, insecure=True).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_is_accepted(host):
    assert ServerConfig(host=host).address.endswith(":50051")


@pytest.mark.parametrize(
    "field",
    [
        {"port": 65536},
        {"threads": 0},
        {"slots": 0},
        {"slots": True},
        {"max_time_s": 0},
        {"max_time_s": float("nan")},
        {"max_time_s": 1e9},
        {"memory_mb": 0},
        {"deadline_margin_s": 0.01},
        {"max_candidates": 0},
        {"grace_s": "1"},
    ],
)
def test_bad_configurations(field):
    with pytest.raises(ai.SearchError) as caught:
        ServerConfig(**field)
    assert caught.value.path == next(iter(field))
