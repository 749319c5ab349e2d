"""Both clients against a real server: the same calls, answers and errors."""

import asyncio
import contextlib
import inspect
import json
import socket
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from certificates import make_certificate
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from servers import IdleSearch, RunningServer

import mexica_ai as ai
from mexica_ai.rpc import client as rpc_client
from mexica_ai.rpc.client import AsyncClient, Client
from mexica_ai.server import app
from mexica_ai.server.service import SERVICE_NAME
from mexica_ai.v1 import engine_pb2

EXAMPLES = Path(__file__).parents[2] / "examples"
LONG_S = 20.0


def ask_sync(address, name, *args, **kwargs):
    with Client(address) as client:
        answer = getattr(client, name)(*args, **kwargs)
        return list(answer) if inspect.isgenerator(answer) else answer


def ask_async(address, name, *args, **kwargs):
    async def ask():
        async with AsyncClient(address) as client:
            answer = getattr(client, name)(*args, **kwargs)
            if inspect.isasyncgen(answer):
                return [one async for one in answer]
            return await answer

    return asyncio.run(ask())


@pytest.fixture(params=[ask_sync, ask_async], ids=["Client", "AsyncClient"])
def ask(request):
    """Make one call of a client: `ask(address, method, ...)` returns the answer, a list of a stream's."""
    return request.param


@pytest.fixture(scope="module")
def address():
    running = RunningServer(None, max_time_s=60.0, memory_mb=64, min_interval_s=0.01)
    yield running.address
    running.close()


@pytest.fixture
def busy():
    """A server whose only slot is taken for a long time, and without a queue."""
    search = IdleSearch()
    running = RunningServer(search, slots=1, max_waiting=0)
    with Client(running.address) as client:
        stop = ai.Stop()
        holding = threading.Thread(target=hold, args=(client, stop))
        holding.start()
        search.await_start()
        yield running.address
        stop.set()
        holding.join()
    running.close()


def hold(client, stop):
    with pytest.raises(ai.SearchError, match="CANCELLED"):
        client.best_turn(ai.new_game("nim"), time_s=LONG_S, stop=stop)


@pytest.fixture
def nim():
    return ai.new_game("nim", piles=[7, 6, 5])


# ---- event loops


async def first_turn(client, nim):
    return (await client.best_turn(nim, iterations=20, seed=1)).turn


def test_an_async_client_may_be_made_outside_its_event_loop(address, nim):
    client = AsyncClient(address)

    async def ask():
        async with client:
            return await first_turn(client, nim)

    assert asyncio.run(ask()) == ai.best_turn(nim, iterations=20, seed=1).turn


def test_an_async_client_is_for_one_event_loop(address, nim):
    client = AsyncClient(address)
    with asyncio.Runner() as runner:
        runner.run(first_turn(client, nim))
        for again in (lambda: first_turn(client, nim), client.close):
            with pytest.raises(ai.SearchError, match="another event loop; expected one client for each") as caught:
                asyncio.run(again())
            assert caught.value.reason == "OTHER_LOOP"
        assert runner.run(first_turn(client, nim))
        runner.run(client.close())


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_the_parameters_of_a_client_have_names(client):
    parameters = [*inspect.signature(client).parameters]
    assert parameters == ["target", "token", "root_certificates", "certificate", "key", "authority"]


def test_files_of_a_client_are_bytes_and_no_standard_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ai.NotationError, match="cannot read -: No such file") as caught:
        Client("127.0.0.1:1", root_certificates="-")
    assert caught.value.reason == "UNREADABLE_FILE"
    make_certificate(tmp_path, "ca")
    around = "Größe\n".encode("latin-1")
    (tmp_path / "ca.pem").write_bytes(around + (tmp_path / "ca.pem").read_bytes())
    Client("127.0.0.1:1", root_certificates="ca.pem").close()


def test_an_async_client_that_was_never_used_can_be_closed():
    asyncio.run(AsyncClient("127.0.0.1:1").close())


# ---- answers


def test_searches(ask, address, nim):
    local = ai.best_turn(nim, iterations=200, seed=3)
    for found in (
        ask(address, "best_turn", nim, iterations=200, seed=3),
        ask(address, "analyze", nim, iterations=200, seed=3)[-1],
    ):
        assert (found.turn, found.iterations, found.value) == (local.turn, local.iterations, local.value)


@pytest.mark.real("time")
def test_the_last_result_of_an_analysis_has_a_stop_reason(ask, address):
    position = ai.load(EXAMPLES / "mexica_midgame.json")
    *partial, final = ask(address, "analyze", position, time_s=1.0, interval_s=0.01)
    assert partial
    assert {result.stop_reason for result in partial} == {""}
    assert final.stop_reason


def test_a_record(ask, address):
    record = (EXAMPLES / "mexica_game.jsonl").read_text().splitlines()[0]
    found = ask(address, "evaluate_record", record, iterations=30, seed=1, first_turn=4, num_turns=2)
    assert [one.turn_index for one in found] == [4, 5]
    turns = json.loads(record)["turns"]
    assert [one.turn for one in found] == turns[4:6]


def test_games(ask, address, nim):
    dealt = ask(address, "new_game", "nim", players=3, piles=[7, 6, 5])
    assert dealt == ai.new_game("nim", players=3, piles=[7, 6, 5])
    assert ask(address, "legal_actions", nim) == nim.legal_actions()
    applied = ask(address, "apply_turn", nim, "take 7 1")
    nim.push("take 7 1")
    assert applied.position == nim
    assert (applied.to_move, applied.is_over, applied.winners) == (1, False, [])
    assert ask(address, "validate_position", nim.to_json()) == []
    faults = ask(address, "validate_position", {**nim.to_json(), "to_move": 7})
    assert [fault.path for fault in faults] == ["$.to_move"]


def test_the_engine(ask, address):
    assert "nim" in [game["name"] for game in ask(address, "list_games")]
    assert ask(address, "engine_info")["caps"]["memory_mb"] == 64
    assert ask(address, "stop_analysis", "nobody's") == 0
    midgame = ai.load(EXAMPLES / "mexica_midgame.json")
    assert [one.action for one in ask(address, "consider_proposal", midgame, ["remove 3"]).opinions] == ["remove 3"]


# ---- errors


def test_the_servers_reason_and_when_to_retry(ask, busy, nim):
    with pytest.raises(ai.SearchError, match="RESOURCE_EXHAUSTED") as caught:
        ask(busy, "best_turn", nim, time_s=LONG_S)
    assert caught.value.reason == "TOO_MANY_WAITING"
    assert 1 < caught.value.retry_after_s <= LONG_S
    with pytest.raises(ai.SearchError, match="RESOURCE_EXHAUSTED") as caught:
        ask(busy, "analyze", nim, time_s=LONG_S)
    assert caught.value.reason == "TOO_MANY_WAITING"
    assert 1 < caught.value.retry_after_s <= LONG_S


def test_where_nobody_answers_the_status_is_the_reason(ask, nim):
    with pytest.raises(ai.SearchError, match=r"127\.0\.0\.1:1: UNAVAILABLE") as caught:
        ask("127.0.0.1:1", "legal_actions", nim, timeout_s=10)
    assert caught.value.reason == "UNAVAILABLE"
    assert caught.value.retry_after_s is None


def test_errors_of_the_package(ask, address, nim):
    with pytest.raises(ai.IllegalActionError) as caught:
        ask(address, "apply_turn", nim, "take 8 1")
    assert caught.value.reason == "ILLEGAL_ACTION"
    nim_over = ai.new_game("nim", piles=[1])
    nim_over.push("take 1 1")
    with pytest.raises(ai.GameOverError):
        ask(address, "best_turn", nim_over)
    for bad in ({"time_s": -1}, {"seed": -1}, {"candidates": 0}, {"level": 11}):
        with pytest.raises(ai.SearchError) as caught:
            ask(address, "best_turn", nim, **bad)
        assert caught.value.reason.startswith("INVALID_")
        assert caught.value.retry_after_s is None
    expected = 'unknown option "no_such_option" of nim; expected only piles, plies_per_turn'
    with pytest.raises(ai.NotationError, match=expected) as caught:
        ask(address, "new_game", "nim", no_such_option=1)
    assert caught.value.reason == "UNKNOWN_OPTION"


def test_an_event_stops_a_call(ask, nim):
    search = IdleSearch()
    running = RunningServer(search, slots=1)
    stop = ai.Stop()
    stopping = threading.Thread(target=lambda: (search.await_start(), stop.set()))
    stopping.start()
    with pytest.raises(ai.SearchError, match="CANCELLED") as caught:
        ask(running.address, "best_turn", nim, time_s=LONG_S, stop=stop)
    assert caught.value.reason == "CANCELLED"
    search.await_end()
    assert search.stop_reasons == ["stopped"]
    stopping.join()
    running.close()


def test_a_cancelled_task_stops_its_search(nim):
    search = IdleSearch()
    running = RunningServer(search, slots=1)

    async def ask():
        async with AsyncClient(running.address) as client:
            task = asyncio.create_task(client.best_turn(nim, time_s=LONG_S))
            await asyncio.to_thread(search.await_start)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(search.await_end)

    asyncio.run(ask())
    assert search.stop_reasons == ["stopped"]
    running.close()


# ---- servers that vanish


class Cable:
    """What lies between a client and a server: once it is cut, nothing comes through, and no connection ends."""

    def __init__(self, address):
        self._folder = tempfile.TemporaryDirectory()  # with a short name, as sockets need
        path = str(Path(self._folder.name, "cable"))
        self.address = f"unix:{path}"
        self.is_cut = False
        self._listener, self._inner = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen()
        self._inner.connect(address.removeprefix("unix:"))
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def cut(self):
        self.is_cut = True

    def _accept(self):
        self._outer, _ = self._listener.accept()
        self._listener.close()  # nobody comes to the server again
        ways = (self._outer, self._inner), (self._inner, self._outer)
        self._threads += [threading.Thread(target=self._carry, args=way) for way in ways]
        for thread in self._threads[1:]:
            thread.start()

    def _carry(self, source, target):
        while data := source.recv(1 << 16):
            if not self.is_cut:
                target.sendall(data)

    def close(self):
        for end in (self._outer, self._inner):
            with contextlib.suppress(OSError):  # the client has closed its end
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._outer.close()
        self._inner.close()
        self._folder.cleanup()


def sooner(options):
    """Return options of a channel or a server by which a lost connection is noticed after two seconds."""
    return [(name, value // 20 if "keepalive" in name or "ping_timeout" in name else value) for name, value in options]


@pytest.mark.real("time")
def test_a_call_to_a_server_that_vanishes_ends(ask, nim, monkeypatch):
    monkeypatch.setattr(rpc_client, "KEEPALIVE", sooner(rpc_client.KEEPALIVE))
    search = IdleSearch()
    running = RunningServer(search, slots=1)
    cable = Cable(running.address)
    cutting = threading.Thread(target=lambda: (search.await_start(), cable.cut()))
    cutting.start()
    with pytest.raises(ai.SearchError) as caught:
        ask(cable.address, "best_turn", nim, time_s=LONG_S)
    assert caught.value.reason == "UNAVAILABLE"  # not DEADLINE_EXCEEDED
    cutting.join()
    cable.close()
    running.close()


@pytest.mark.real("time")
def test_the_search_of_a_client_that_vanishes_ends(nim, monkeypatch):
    monkeypatch.setattr(app, "_OPTIONS", sooner(app._OPTIONS))
    search = IdleSearch()
    running = RunningServer(search, slots=1)
    cable = Cable(running.address)
    with Client(cable.address) as client, ThreadPoolExecutor(1) as pool:
        stop = ai.Stop()
        asking = pool.submit(client.best_turn, nim, time_s=LONG_S, stop=stop)
        search.await_start()
        cable.cut()
        search.await_end()
        assert search.stop_reasons == ["stopped"]  # not "time"
        stop.set()
        assert asking.exception().reason == "CANCELLED"
    cable.close()
    running.close()


def test_the_server_allows_the_pings_of_the_clients():
    ours, theirs = dict(rpc_client.KEEPALIVE), dict(app._OPTIONS)
    assert ours["grpc.keepalive_time_ms"] > theirs["grpc.http2.min_recv_ping_interval_without_data_ms"]
    assert ours["grpc.http2.max_pings_without_data"] == 0  # by default a call has two pings


# ---- a call that ends while requests are sent


class LostStatus:
    """The service of an `AsyncClient` whose call BestTurns ends as grpc.aio ends it now and then."""

    def __init__(self, service):
        self.ListGames = service.ListGames

    def BestTurns(self, requests, **kwargs):  # noqa: N802
        return self

    def cancel(self):
        return False

    async def __aiter__(self):
        raise grpc.aio.AioRpcError(
            grpc.StatusCode.INTERNAL, grpc.aio.Metadata(), grpc.aio.Metadata(), details="Internal error from Core"
        )
        yield


@pytest.mark.parametrize(("token", "reason"), [("x" * 16, "WRONG_TOKEN"), ("t" * 16, "UNAVAILABLE")])
def test_a_status_that_grpc_has_lost_is_no_bug_of_the_server(tmp_path, nim, token, reason):
    (tmp_path / "tokens").write_text(f"me {'t' * 16}")

    async def ask():
        async with AsyncClient(server.address, token=token) as client:
            with contextlib.suppress(ai.SearchError):
                await client.list_games()  # connects
            client._service = LostStatus(client._service)
            return [one async for one in client.best_turns([nim])]

    server = RunningServer(None, tokens_file=str(tmp_path / "tokens"))
    with pytest.raises(ai.SearchError) as caught:
        asyncio.run(ask())
    assert caught.value.reason == reason
    server.close()


# ---- what cannot be sent, and answers that cannot be read


NIM, NIMS, RECORD = object(), object(), object()


def made(arg):
    """Return the argument that a parameter of a test stands for."""
    position = ai.new_game("nim")
    if arg is RECORD:
        position.push("take 1 1")
        return ai.make_record(position)
    return {NIM: position, NIMS: [position]}.get(arg, arg) if type(arg) is object else arg


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("new_game", [], {"players": 10**30}),
        ("new_game", [], {"players": -(2**31) - 1}),
        ("analyze", [NIM], {"analysis_id": "\ud800"}),
        ("stop_analysis", ["\ud800"], {}),
        ("legal_actions", [NIM, ["\udcff"]], {}),
        ("apply_turn", [NIM, "\udcff"], {}),
        ("consider_proposal", [NIM, ["\udcff"]], {}),
        ("validate_position", [{"game": "nim", "\ud800": 1}], {}),
        ("validate_position", [{"game": "mexica", "\ud800": 1}], {}),
        ("validate_position", [{"game": "mexica", "round": 10**30}], {}),
        ("validate_position", [{"game": "mexica", "round": float("inf")}], {}),
        ("evaluate_record", [RECORD], {"first_turn": -1}),
        ("evaluate_record", [RECORD], {"num_turns": 10**30}),
    ],
)
def test_what_does_not_fit_into_a_request_is_refused_here(ask, name, args, kwargs):
    with pytest.raises(ai.NotationError):
        ask("127.0.0.1:1", name, *(made(arg) for arg in args), **kwargs)


class Answering(grpc.GenericRpcHandler):
    """Answers every call with the same bytes."""

    def __init__(self, answer):
        self.answer = answer

    def service(self, call):
        if "EngineService" not in call.method:
            return None
        if call.method.endswith("BestTurns"):
            return grpc.stream_stream_rpc_method_handler(lambda requests, context: iter([self.answer]))
        if call.method.endswith(("Analyze", "EvaluateRecord")):
            return grpc.unary_stream_rpc_method_handler(lambda request, context: iter([self.answer]))
        return grpc.unary_unary_rpc_method_handler(lambda request, context: self.answer)


@pytest.fixture
def answering(tmp_path):
    """Start a server whose answers are given: `answering(bytes)` returns its address."""
    with contextlib.ExitStack() as stack:

        def start(answer):
            pool = stack.enter_context(ThreadPoolExecutor(8))
            server = grpc.server(pool, handlers=[Answering(answer)])
            healthy = health.HealthServicer()
            healthy.set(SERVICE_NAME, health_pb2.HealthCheckResponse.SERVING)
            health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
            address = f"unix:{tmp_path}/socket"
            assert server.add_insecure_port(address)
            server.start()
            stack.callback(lambda: server.stop(None).wait())
            stack.callback(healthy.enter_graceful_shutdown)
            return address

        yield start


STRANGE_POSITION = engine_pb2.NewGameResponse(full_position=engine_pb2.Position(json='{"game": "chess"}'))


@pytest.mark.parametrize(
    ("name", "args", "answer"),
    [
        ("list_games", [], b"\xff\xff"),
        ("list_games", [], b"\n\x04\n\x02\xff\xfe"),  # a name that is not UTF-8
        ("analyze", [NIM], b"\xff\xff"),
        ("best_turns", [NIMS], b"\xff\xff"),
        ("best_turns", [NIMS], engine_pb2.BestTurnsResponse(id="first").SerializeToString()),
        ("new_game", [], STRANGE_POSITION.SerializeToString()),
        ("apply_turn", [NIM, "end"], engine_pb2.ApplyTurnResponse(exact_scores=[float("nan")]).SerializeToString()),
        ("evaluate_record", [RECORD], b"\xff\xff"),
    ],
)
def test_an_answer_that_cannot_be_read(ask, answering, name, args, answer):
    with pytest.raises(ai.SearchError, match=r"^server unix:\S+: its answer cannot be read: ") as caught:
        ask(answering(answer), name, *map(made, args))
    assert caught.value.reason == "BAD_ANSWER"


@pytest.mark.parametrize("given", [float("nan"), float("inf"), float("-inf"), 1e15, "5"])
@pytest.mark.parametrize(("name", "args"), [("list_games", []), ("best_turn", [NIM]), ("analyze", [NIM])])
def test_a_timeout_that_is_none(ask, name, args, given):
    with pytest.raises(ai.SearchError, match=r"^timeout_s: given .*; expected a number of seconds") as caught:
        ask("127.0.0.1:1", name, *map(made, args), timeout_s=given)
    assert (caught.value.reason, caught.value.path) == ("INVALID_LIMITS", "timeout_s")


@pytest.mark.parametrize("timeout_s", [None, 5, 1e8])
def test_timeouts(ask, address, timeout_s):
    assert ask(address, "list_games", timeout_s=timeout_s)


def test_nobody_waits_for_a_deadline_that_is_over(ask, address):
    with pytest.raises(ai.SearchError, match="DEADLINE_EXCEEDED"):
        ask(address, "list_games", timeout_s=-1)


@pytest.mark.parametrize("interval_s", [0, -1, float("nan"), "x"])
def test_an_interval_that_is_none_is_refused_as_by_a_local_analysis(ask, address, nim, interval_s):
    with pytest.raises(ai.SearchError) as local:
        ai.analyze(nim, iterations=5, interval_s=interval_s)
    with pytest.raises(ai.SearchError) as caught:
        ask(address, "analyze", nim, iterations=5, interval_s=interval_s)
    assert (str(caught.value), caught.value.path) == (str(local.value), "interval_s")


@pytest.mark.parametrize("players", [0, None, False, 1, 5])
def test_a_number_of_seats_that_is_none(ask, address, players):
    with pytest.raises(ai.PositionError, match=r"^players: .* is out of range; expected an integer from 2 to 4$"):
        ask(address, "new_game", "coatl", players=players)
