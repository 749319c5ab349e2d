"""Floods of calls and connections: they are held, refused with a documented status, or cut off."""

import asyncio
import contextlib
import logging
import select
import socket
import threading
import time
from collections import Counter
from types import SimpleNamespace

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from servers import IdleSearch, RunningServer, await_that, failure
from virtual_clock import VirtualLoop

import mexica_ai as ai
from mexica_ai.rpc import wire
from mexica_ai.server import app, rejections
from mexica_ai.server.auth import CALLER
from mexica_ai.server.concurrency import ConcurrencyInterceptor
from mexica_ai.server.connections import CHECK_S
from mexica_ai.server.http import door
from mexica_ai.server.metrics import Metrics
from mexica_ai.server.rejections import RateLimiter, caller_of
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

GOOD, OTHER, WRONG = "g" * 20, "o" * 20, "w" * 20


def metadata(token):
    return (("authorization", f"Bearer {token}"),)


@pytest.fixture
def start_server(tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"good {GOOD}\nother {OTHER}\n")
    tokens.chmod(0o600)
    with contextlib.ExitStack() as stack:

        def start(search=None, **config):
            server = RunningServer(search, **{"tokens_file": str(tokens), **config})
            stack.callback(server.close)
            return server

        yield start


@pytest.fixture
def connect():
    """Return stubs with connections of their own."""
    with contextlib.ExitStack() as stack:

        def connect(server):
            options = [("grpc.use_local_subchannel_pool", 1)]
            channel = stack.enter_context(grpc.insecure_channel(server.address, options=options))
            return engine_pb2_grpc.EngineServiceStub(channel)

        yield connect


def question(time_s=20.0):
    return engine_pb2.BestTurnRequest(
        position=wire.position_to_message(ai.new_game("nim", piles=[7, 6, 5])),
        limits=engine_pb2.Limits(time_s=time_s),
    )


def legal():
    return engine_pb2.LegalActionsRequest(position=wire.position_to_message(ai.new_game("nim")))


def test_a_pace_lets_a_burst_through_and_spreads_the_rest():
    async def play():
        # The loop's clock begins with the machine's last start: 0 is such a moment as any other.
        limiter = RateLimiter(per_s=10.0, burst=5.0)
        # Those at once, and the one that is due.
        assert [limiter.wait_s("a", 30.0) for _ in range(8)] == pytest.approx([0.0] * 6 + [0.1, 0.2])
        assert limiter.wait_s("b", 30.0) == 0.0
        await asyncio.sleep(0.3)
        assert limiter.wait_s("a", 30.0) == pytest.approx(0.0)
        # Who would wait longer than allowed does not put off the others' turns.
        waits = [limiter.wait_s("a", 0.45) for _ in range(20)]
        assert max(waits) == 0.45
        assert limiter.wait_s("a", 30.0) == pytest.approx(0.5)
        assert limiter.wait_s("a", -1.0) <= 0

    run(play())


def test_a_wait_that_is_cancelled_gives_its_turn_back():
    async def play():
        limiter = RateLimiter(per_s=10.0, burst=1.0)
        for _ in range(100):
            call = asyncio.ensure_future(limiter.wait("a"))
            await asyncio.sleep(0.001)
            call.cancel()
            await asyncio.wait([call])
        assert limiter.wait_s("a", 30.0) <= 0.2

    run(play())


def test_a_call_that_comes_too_fast_for_its_deadline_is_refused():
    answered, refused = [], []

    async def answer(request, _context):
        answered.append(request)

    async def found(_details):
        return grpc.unary_unary_rpc_method_handler(answer)

    async def abort(status):
        refused.append(status.code)
        raise grpc.aio.AbortError

    async def play():
        CALLER.set("a")
        interceptor = ConcurrencyInterceptor(100, RateLimiter(per_s=1.0, burst=1.0), Metrics())
        method = SimpleNamespace(method="/mexica_ai.v1.EngineService/LegalActions")
        handler = await interceptor.intercept_service(found, method)
        context = SimpleNamespace(time_remaining=lambda: 3.0, invocation_metadata=lambda: (), abort_with_status=abort)
        calls = (handler.unary_unary(number, context) for number in range(8))
        await asyncio.gather(*calls, return_exceptions=True)
        # Two at once, and one after each of two seconds.
        assert answered == [0, 1, 2, 3]
        assert refused == [grpc.StatusCode.RESOURCE_EXHAUSTED] * 4

    run(play())


def test_a_pace_forgets_callers_that_are_over(monkeypatch):
    monkeypatch.setattr(rejections, "MAX_KNOWN", 10)

    async def play():
        limiter = RateLimiter(per_s=1.0, burst=1.0)
        for number in range(1000):
            await asyncio.sleep(1.0)
            assert limiter.wait_s(str(number), 30.0) == 0.0
        assert len(limiter._next_at) <= 11

    run(play())


def run(coroutine):
    loop = VirtualLoop()
    try:
        loop.run_until_complete(coroutine)
    finally:
        loop.close()


def test_rejections_beyond_a_number_are_not_held(monkeypatch):
    monkeypatch.setattr(rejections, "REJECTIONS_PER_S", 0.001)
    monkeypatch.setattr(rejections, "REJECTIONS_AT_ONCE", 0.0)
    monkeypatch.setattr(rejections, "MAX_HELD", 2)

    async def play():
        pacing, loop = rejections.RejectionPacingInterceptor(), asyncio.get_running_loop()

        async def held_s():
            begin = loop.time()
            await pacing.hold("a", 30.0)
            return loop.time() - begin

        for _ in range(2):  # the first call of all is not held
            waits = await asyncio.gather(*(held_s() for _ in range(5)))
            assert sorted(waits) == pytest.approx([0.0, 0.0, 0.0, 30.0, 30.0])

    run(play())


@pytest.mark.parametrize(
    ("name", "peer", "caller"),
    [
        ("me", "ipv4:10.0.0.1:5000", "me"),
        ("", "ipv4:10.0.0.1:5000", "ipv4:10.0.0.1"),
        ("", "ipv6:[2001:db8::1]:5000", "ipv6:2001:db8::/64"),
        ("", "ipv6:%5B2001:db8::2:3%5D:6000", "ipv6:2001:db8::/64"),
        ("", "unix:", "unix"),
        ("", "peer", "peer"),
    ],
)
def test_who_is_refused(name, peer, caller):
    assert caller_of(name, peer) == caller


@pytest.mark.real("time")
def test_strangers_are_held_and_good_callers_answered(start_server, connect, monkeypatch):
    monkeypatch.setattr(rejections, "REJECTIONS_PER_S", 0.001)
    monkeypatch.setattr(rejections, "REJECTIONS_AT_ONCE", 3.0)
    server = start_server()
    strangers, good = connect(server), connect(server)
    for _ in range(4):
        code, _, info, _ = failure(strangers.BestTurn, question(), metadata=metadata(WRONG))
        assert (code, info.reason) == (grpc.StatusCode.UNAUTHENTICATED, "WRONG_TOKEN")
    held = [strangers.BestTurn.future(question(), metadata=metadata(WRONG)) for _ in range(50)]
    assert good.BestTurn(question(0.01), metadata=metadata(GOOD), timeout=60).result.turn
    assert not any(call.done() for call in held)
    # Within its deadline it is refused all the same.
    code, _, info, _ = failure(strangers.BestTurn, question(), metadata=metadata(WRONG), timeout=2.0)
    assert (code, info.reason) == (grpc.StatusCode.UNAUTHENTICATED, "WRONG_TOKEN")


def test_strangers_whose_refusals_are_held_keep_nobody_from_http(start_server, monkeypatch):
    monkeypatch.setattr(rejections, "REJECTIONS_PER_S", 0.001)
    monkeypatch.setattr(rejections, "REJECTIONS_AT_ONCE", 0.0)
    monkeypatch.setattr(door, "MAX_CONNECTIONS", 2)
    server = start_server(http_port=0)
    request = f"GET /v1/games HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {WRONG}\r\n\r\n".encode()
    with server.http() as http:
        assert http.get("/v1/games", headers=dict(metadata(WRONG))).status_code == 401
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            stranger = stack.enter_context(socket.socket(socket.AF_UNIX))
            stranger.connect(server.http_path)
            stranger.sendall(request)
        await_that(lambda: len(server._server._door.site.running) == 2)
        with server.http() as http:
            assert http.get("/healthz").status_code == 200


def test_a_caller_has_a_number_of_calls_in_work(start_server, connect):
    search = IdleSearch()
    server = start_server(search, slots=2, max_calls_per_caller=2)
    many, other = connect(server), connect(server)
    running = [many.BestTurn.future(question(), metadata=metadata(GOOD))]
    search.await_start()
    running.append(many.BestTurn.future(question(), metadata=metadata(GOOD)))
    await_that(lambda: server.num_waiting() == 1)  # one slot is the other caller's
    with pytest.raises(grpc.RpcError) as caught:
        many.LegalActions(legal(), metadata=metadata(GOOD))
    details = {}
    for detail in rpc_status.from_call(caught.value).details:
        for kind in (error_details_pb2.ErrorInfo, error_details_pb2.RetryInfo):
            if detail.Is(kind.DESCRIPTOR):
                details[kind] = kind.FromString(detail.value)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert details[error_details_pb2.ErrorInfo].reason == "TOO_MANY_CALLS"
    assert details[error_details_pb2.RetryInfo].retry_delay.seconds == 1
    assert other.LegalActions(legal(), metadata=metadata(OTHER)).actions
    running[0].cancel()
    search.await_start()
    assert many.LegalActions(legal(), metadata=metadata(GOOD)).actions
    running[1].cancel()


class SteppedLimiter(RateLimiter):
    """A limiter at which each caller has some calls at once, then one after a moment, and then none for an hour."""

    def __init__(self, at_once):
        super().__init__(1.0, 1.0)
        self._at_once = at_once
        self.asked = Counter()

    def wait_s(self, caller, longest_s):
        super().wait_s(caller, longest_s)
        self.asked[caller] += 1
        late = self.asked[caller] - self._at_once
        return 0.0 if late <= 0 else 0.05 if late == 1 else 3600.0


def test_the_calls_of_a_caller_are_spread(start_server, connect, monkeypatch):
    limiter = SteppedLimiter(2)
    monkeypatch.setattr(app, "RateLimiter", lambda per_s, burst: limiter)
    server = start_server(IdleSearch())
    fast, other = connect(server), connect(server)
    for _ in range(3):
        assert fast.LegalActions(legal(), metadata=metadata(GOOD), timeout=60).actions
    held = fast.LegalActions.future(legal(), metadata=metadata(GOOD))
    await_that(lambda: limiter.asked["good"] == 4)
    assert other.LegalActions(legal(), metadata=metadata(OTHER)).actions
    assert not held.done()
    held.cancel()


def test_the_requests_of_one_call_count_as_calls(start_server, connect, monkeypatch):
    limiter = SteppedLimiter(3)
    monkeypatch.setattr(app, "RateLimiter", lambda per_s, burst: limiter)
    server = start_server(IdleSearch())
    stub = connect(server)
    requests = [engine_pb2.BestTurnsRequest(id=str(number), search=question(0.01)) for number in range(4)]
    answers = stub.BestTurns(iter(requests), metadata=metadata(GOOD))
    # The call itself and three of its requests; the fourth is held.
    assert {next(answers).id for _ in range(3)} == {"0", "1", "2"}
    await_that(lambda: limiter.asked["good"] == 5)
    answers.cancel()


def test_the_requests_of_a_caller_without_a_name_are_not_delayed(start_server, connect, monkeypatch):
    limiter = SteppedLimiter(0)
    monkeypatch.setattr(app, "RateLimiter", lambda per_s, burst: limiter)
    stub = connect(start_server(IdleSearch(), tokens_file=None))
    requests = [engine_pb2.BestTurnsRequest(id=str(number), search=question(0.01)) for number in range(4)]
    assert {answer.id for answer in stub.BestTurns(iter(requests), timeout=60)} == {"0", "1", "2", "3"}
    assert not limiter.asked


def test_the_rate_limit_is_that_of_the_configuration(start_server, monkeypatch):
    made = []
    monkeypatch.setattr(
        app, "RateLimiter", lambda per_s, burst: made.append((per_s, burst)) or RateLimiter(per_s, burst)
    )
    start_server(max_call_rate=7)
    assert made == [(7, 7)]


@pytest.mark.real("time")
def test_the_newest_connections_of_an_address_are_closed(start_server, connect):
    server = start_server(port=0, tokens_file=None, max_connections_per_address=20)
    host, _, port = server.address.rpartition(":")
    early = connect(server)
    assert early.LegalActions(legal()).actions
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_connection((host, int(port)))) for _ in range(30)]
        still_open = set(sockets)

        def count_closed():
            # A socket that is ready has the settings of HTTP/2, or is closed.
            ready, _, _ = select.select(still_open, (), (), 0)
            still_open.difference_update(each for each in ready if not each.recv(1 << 12))
            return len(sockets) - len(still_open)

        await_that(lambda: count_closed() >= 11)
        time.sleep(2 * CHECK_S)
        assert count_closed() == 11
        assert early.LegalActions(legal()).actions
    # There is room again.
    assert connect(server).LegalActions(legal(), wait_for_ready=True, timeout=60).actions


def test_connections_of_all_doors_are_counted_in_one_thread(start_server, monkeypatch):
    made, threads = [], []

    class Noting:
        def __init__(self, ports, max_per_address):
            made.append((ports, max_per_address))

        def enforce(self):
            threads.append(threading.current_thread().name.partition("_")[0])

    monkeypatch.setattr(app, "Connections", Noting)
    monkeypatch.setattr(app, "CHECK_S", 0.01)
    start_server(http_port=0)
    await_that(lambda: len(threads) > 1)
    assert len(made) == 1
    assert set(threads) == {"guard"}


@pytest.mark.real("time")
def test_a_refusal_after_the_deadline_is_no_unknown_error(start_server, connect, caplog, monkeypatch):
    caplog.set_level(logging.INFO)
    stub = connect(start_server(IdleSearch()))
    assert stub.LegalActions(legal(), metadata=metadata(GOOD)).actions  # connects
    await_that(lambda: caplog.records)
    caplog.clear()
    end = rejections.end

    async def end_late(context, status):
        # Without leaving the event loop, which would notice that the deadline is over.
        while context.time_remaining() > 0:
            time.sleep(0.01)
        time.sleep(0.2)
        await end(context, status)

    monkeypatch.setattr(rejections, "end", end_late)
    code, *_ = failure(stub.BestTurn, engine_pb2.BestTurnRequest(), timeout=0.5, metadata=metadata(GOOD))
    assert code is grpc.StatusCode.DEADLINE_EXCEEDED
    await_that(lambda: caplog.records)
    assert [record.fields["code"] for record in caplog.records] == ["DEADLINE_EXCEEDED"]
