"""What strangers send to the door for HTTP: it is refused, or held, and the server goes on."""

import asyncio
import contextlib
import json
import socket
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from servers import RunningServer
from virtual_clock import VirtualLoop

import mexica_ai as ai
from mexica_ai.rpc import wire
from mexica_ai.server import request_timeout
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.http import messages, site
from mexica_ai.server.http.connections import Connection
from mexica_ai.server.service import MAX_REQUEST_BYTES
from mexica_ai.server.workers import FairWorkers
from mexica_ai.v1 import engine_pb2

POST = "POST /v1/{} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
PATHS = ["best-turn", "analyze", "new-game", "apply-turn", "legal-actions", "validate-position", "evaluate-record"]
DEEP = 100_000


@pytest.fixture(scope="module")
def server():
    with contextlib.closing(RunningServer(None, http_port=0, max_time_s=0.02, slots=2)) as server:
        yield server


@pytest.fixture
def http(server):
    with server.http() as client:
        yield client
        assert client.get("/v1/games").status_code == 200


@pytest.fixture
def connect(server):
    """Return what connects a plain socket."""
    with contextlib.ExitStack() as stack:

        def connect():
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.settimeout(60)
            client.connect(server.http_path)
            return client

        yield connect


def answer_of(client):
    """Return the status and the problem of an answer that ends its connection, or the start of it."""
    data = b""
    while b"\r\n\r\n" not in data or not data.endswith((b"}", b"request received.")):
        more = client.recv(1 << 16)
        assert more, data
        data += more
    body = data.partition(b"\r\n\r\n")[2]
    return int(data.split()[1]), json.loads(body) if body.startswith(b"{") else {}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "BAD_JSON"),
        (b"{", "BAD_JSON"),
        (b"null", "WRONG_TYPE"),
        (b"[]", "WRONG_TYPE"),
        (b'"x"', "WRONG_TYPE"),
        (b"[" * DEEP, "BAD_JSON"),
        (b"[" * DEEP + b"]" * DEEP, "BAD_JSON"),
        (b'{"a":' * DEEP + b"1" + b"}" * DEEP, "BAD_JSON"),
        (b'{"start":{"nim":{"piles":' + b"[" * 900 + b"]" * 900 + b"}}}", "WRONG_TYPE"),
        (b'{"start": "\xff\xfe"}', "BAD_UTF8"),
        (b"\xff\xfe{\0}\0", "BAD_UTF8"),
        (b'{"limits": {"timeS": NaN}}', "BAD_JSON"),
        (b'{"limits": {"timeS": -Infinity}}', "BAD_JSON"),
        (b'{"limits": {"timeS": 1e999}}', "BAD_JSON"),
        (b'{"limits": {"timeS": "NaN"}, "start": {"nim": {}}}', "INVALID_LIMITS"),
        (b'{"weights": "a", "weights": "b"}', "DUPLICATE_KEY"),
        (b'{"seed": ' + b"9" * 50_000 + b"}", "BAD_JSON"),
        (b'{"weights": "\\ud800"}', "BAD_JSON"),
        (b'{"@type": "type.googleapis.com/google.protobuf.Any"}', "UNKNOWN_FIELD"),
        (b'{"[mexica_ai.v1.x]": 1}', "BAD_VALUE"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_no_request(http, body, reason):
    answer = http.post("/v1/evaluate-record", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["reason"]) == (400, reason)
    assert len(answer.content) < 3000


def test_a_query_gives_fields():
    kind = engine_pb2.BestTurnRequest
    found = messages.read_query(b"level=3&explain=true&numCandidates=2&seed=7&weights=a%20b", kind)
    assert found == kind(level=3, explain=True, num_candidates=2, seed=7, weights="a b")
    actions = messages.read_query(b"actions=a&actions=b", engine_pb2.LegalActionsRequest)
    assert list(actions.actions) == ["a", "b"]
    assert messages.read_query(b"", kind) == kind()


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (b"x=1", "UNKNOWN_FIELD"),
        (b"position=1", "UNKNOWN_FIELD"),
        (b"level=1&level=2", "DUPLICATE_KEY"),
        (b"num_candidates=1&numCandidates=2", "DUPLICATE_KEY"),
        (b"level=x", "BAD_VALUE"),
        (b"explain=1", "BAD_VALUE"),
        (b"weights=%ff", "BAD_UTF8"),
        (b"weights=\xff", "BAD_UTF8"),
        (b"level=1&" * 2000, "BAD_UTF8"),
    ],
)
def test_what_is_no_query(query, reason):
    with pytest.raises(ai.NotationError) as caught:
        messages.read_query(query, engine_pb2.BestTurnRequest)
    assert caught.value.reason == reason


FIELDS = sorted({name for message in engine_pb2.DESCRIPTOR.message_types_by_name.values() for name in
                 [field.json_name for field in message.fields]})  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSONS = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | st.text(), inner)
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(path=st.sampled_from(PATHS), body=st.dictionaries(st.sampled_from(FIELDS), JSONS, max_size=4))
def test_any_json_is_answered(http, path, body):
    answer = http.post(f"/v1/{path}", json=body)
    assert answer.status_code in (200, 400), (body, answer.text)
    if answer.status_code == 400:
        assert answer.json()["violations"][0]["reason"]


@pytest.mark.parametrize(("path", "limit"), [("legal-actions", wire.MAX_BYTES), ("evaluate-record", MAX_REQUEST_BYTES)])
def test_large_bodies_are_refused_before_they_are_read(connect, path, limit):
    announced = connect()
    announced.sendall(f"{POST.format(path)}Content-Length: {limit + 1}\r\n\r\n".encode())
    status, problem = answer_of(announced)
    assert (status, problem["reason"], problem["status"]) == (413, "TOO_LARGE", 413)
    chunked = connect()
    chunked.sendall(f"{POST.format(path)}Transfer-Encoding: chunked\r\n\r\n".encode())
    chunked.sendall(b"%x\r\n%s\r\n" % (limit + 1, b" " * (limit + 1)))  # and no end
    assert answer_of(chunked)[0] == 413


def test_a_body_as_large_as_allowed(http):
    body = b"{}".ljust(wire.MAX_BYTES)
    answer = http.post("/v1/legal-actions", content=body, headers={"content-type": "application/json"})
    assert answer.json()["reason"] == "MISSING_GAME"


def test_a_slow_body_ends_its_call(connect, monkeypatch):
    monkeypatch.setattr(request_timeout, "MESSAGE_S", 0.05)
    client = connect()
    client.sendall(f"{POST.format('legal-actions')}Content-Length: 10\r\n\r\n{{".encode())
    status, problem = answer_of(client)
    assert (status, problem["reason"], problem["code"]) == (408, "NO_MESSAGE", "DEADLINE_EXCEEDED")


def test_who_is_refused_before_the_end_of_a_body_is_disconnected(connect):
    client = connect()
    head = "POST /v1/best-turn HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 100000000"
    client.sendall(f"{head}\r\n\r\nx".encode())
    received = b""
    while more := client.recv(1 << 16):
        received += more
    assert received.startswith(b"HTTP/1.1 415")


@pytest.mark.parametrize("path", ["/healthz", "/v1/openapi.json", "/v1/games"])
def test_who_sends_a_body_that_nothing_asks_for_is_answered_and_disconnected(connect, path):
    client = connect()
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\nx".encode())
    received = b""
    while more := client.recv(1 << 16):
        received += more
    assert received.startswith(b"HTTP/1.1 200")


def test_who_does_not_read_is_disconnected(server, connect, monkeypatch):
    with server.http() as http:
        length = len(http.get("/v1/openapi.json").content)
    dropped, drop = threading.Event(), Connection.drop
    monkeypatch.setattr(site, "REQUEST_S", 0.05)
    monkeypatch.setattr(Connection, "drop", lambda one: [drop(one), dropped.set()])
    client, number = connect(), 40
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.sendall(b"GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * number)
    assert dropped.wait(60)
    received = 0
    with contextlib.suppress(ConnectionError):
        while more := client.recv(1 << 16):
            received += len(more)
    assert received < number * length


def test_who_does_not_read_a_stream_is_no_fault_of_the_server(caplog):
    class Endless:
        async def call(self, details, context, reads):
            while True:
                yield engine_pb2.AnalyzeResponse()

    async def play():
        calls, gone = set(), asyncio.Event()

        def lose():
            for call in calls:
                call.cancel()
            gone.set()

        def drop():
            asyncio.get_running_loop().call_soon(lose)

        async def receive():
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message["type"] == "http.response.body":
                await gone.wait()

        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        state = {"calls": calls, "drop": drop, "holding": contextlib.nullcontext, "opened_s": 0.0}
        scope = {"type": "http", "method": "POST", "path": "/v1/analyze", "headers": headers, "query_string": b""}
        served = site.methods(wire.MAX_BYTES, MAX_REQUEST_BYTES, frozenset())
        door = site.Site(ServerConfig(http_port=0), Endless(), served, FairWorkers(1, "http"))
        await asyncio.wait_for(door({**scope, "state": state}, receive, send), 2 * site.REQUEST_S)
        assert gone.is_set()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(play())
    assert not caplog.records


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /v1/games HTTP/1.1\r\n\r\n",
        b"GET /v1/games HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /v1/games HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000,
        b"POST /v1/new-game HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/new-game HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ],
)
def test_what_is_no_http(connect, http, data):
    client = connect()
    client.sendall(data)
    received = client.recv(1 << 16)
    assert not received or received.startswith((b"HTTP/1.1 400", b"HTTP/1.1 421"))


def test_requests_one_after_the_other_in_one_packet(connect):
    client = connect()
    client.sendall(b"GET /v1/games HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3)
    data = b""
    while data.count(b"HTTP/1.1 200 ") < 3 or not data.endswith(b"}\n"):
        data += client.recv(1 << 16)


def test_silent_connections_keep_nobody_out(server, connect, http):
    silent = [connect() for _ in range(300)]
    assert http.get("/v1/games").status_code == 200
    for client in silent:
        client.close()


@pytest.mark.real("ports")
def test_an_address_has_so_many_connections_at_most():
    server = RunningServer(None, port=0, http_port=0, max_connections_per_address=3)
    with contextlib.closing(server), contextlib.ExitStack() as stack:
        host, port = server._server.http_address.split(":")
        clients = [stack.enter_context(socket.create_connection((host, int(port)), 60)) for _ in range(8)]
        for client in clients[4:]:
            assert client.recv(1) == b""
        clients[0].sendall(b"GET /v1/games HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert clients[0].recv(1 << 16).startswith(b"HTTP/1.1 200 ")


@pytest.mark.real("ports")
def test_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"^cannot listen on 127.0.0.1:{port}: Address already in use$"):
            RunningServer(None, http_port=port, port=0)
