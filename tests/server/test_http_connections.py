"""Connections of servers for HTTP: limits of time and number, on a virtual clock and on sockets of the file system."""

import asyncio
import contextlib
import errno
import socket
import ssl

import pytest
import uvicorn
from certificates import make_certificate
from virtual_clock import VirtualLoop

from mexica_ai.analysis.stopping import Stop
from mexica_ai.server.auth import CALLER
from mexica_ai.server.http import connections, endpoints
from mexica_ai.server.http.connections import MAX_CONNECTIONS, REPORT_S, REQUEST_S, Connection, Connections
from mexica_ai.server.workers import FairWorkers

HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"
BODY = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"
BAD_CHUNK = b"POST /refused HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
REFUSED = b"POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\nx"


class App:
    """Answers ``/`` when the body is there, streams for ever at ``/stream``, and holds a rejection at ``/held``.

    It refuses bodies at ``/refused``, answers without them at ``/early``, and notes those that do not come.
    """

    def __init__(self):
        self.num_lost = 0

    async def __call__(self, scope, receive, send):
        if scope["path"] == "/stream":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            while await _goes_on(receive):
                await send({"type": "http.response.body", "body": b"x", "more_body": True})
            return
        if scope["path"] == "/held":
            with scope["state"]["holding"]():
                while (await receive())["type"] != "http.disconnect":
                    pass
            return
        if scope["path"] in ("/refused", "/early"):
            is_refused = scope["path"] == "/refused"
            headers = [(b"content-length", b"2"), *[(b"connection", b"close")] * is_refused]
            await send({"type": "http.response.start", "status": 401 if is_refused else 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"no"})
            return
        while (message := await receive()).get("more_body"):
            pass
        if message["type"] == "http.disconnect":
            self.num_lost += 1
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})


async def _goes_on(receive):
    """Wait a minute; return whether somebody listens."""
    try:
        return (await asyncio.wait_for(receive(), 60))["type"] != "http.disconnect"
    except TimeoutError:
        return True


@pytest.fixture
def run(tmp_path):
    """Run a test beside a server on the virtual clock; it gets what connects to it, and the server's connections."""

    def begin(test, app=None, options=None, **tls):
        async def main():
            given = {"timeout_graceful_shutdown": 2, "timeout_keep_alive": 1000}
            server = uvicorn.Server(uvicorn.Config(app or App(), **connections.OPTIONS, **given, **tls))
            server.config.load()
            serving = asyncio.create_task(server.serve(sockets=[]))
            await asyncio.sleep(0.2)
            listener = socket.socket(socket.AF_UNIX)
            listener.setblocking(False)
            listener.bind(str(tmp_path / "socket"))
            listener.listen(MAX_CONNECTIONS + 10)
            open_ones = Connections(server, **(options or {}))
            accepting = asyncio.create_task(open_ones.accept(listener))

            async def connect(data=b"", **tls):
                reader, writer = await asyncio.open_unix_connection(str(tmp_path / "socket"), **tls)
                writer.write(data)
                return reader, writer

            try:
                with listener:
                    await test(connect, open_ones)
                    accepting.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await accepting
                assert not any(one.is_waiting for one in open_ones.open)
            finally:
                server.should_exit = True
                await serving

        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(main())

    return begin


def now():
    return asyncio.get_running_loop().time()


async def ends(reader):
    """Wait until a connection ends; return when."""
    with contextlib.suppress(ConnectionResetError):
        while await reader.read(1 << 16):
            pass
    return now()


@pytest.mark.parametrize("data", [b"", b"G", HEAD, BODY, BODY + b"12345678", BODY + b"123456789" + BODY])
def test_a_request_that_does_not_come_ends_its_connection(run, data):
    app = App()

    async def test(connect, _):
        started = now()
        reader, _writer = await connect(data)
        assert await ends(reader) - started == pytest.approx(REQUEST_S, abs=1)

    run(test, app)
    assert app.num_lost == (BODY in data)


def test_a_body_may_have_limits_of_its_own(run):
    app = App()

    async def test(connect, _):
        reader, writer = await connect(BODY)
        await asyncio.sleep(2 * REQUEST_S)
        writer.write(b"123456789")
        assert await reader.readuntil(b"\r\n\r\n")

    run(test, app, {"limits_bodies": False})
    assert app.num_lost == 0


def test_who_has_had_an_answer_may_wait_longer_with_the_next_request(run):
    async def test(connect, _):
        started = now()
        reader, _writer = await connect(HEAD + b"\r\n")
        silent, _other = await connect()
        assert await ends(silent) - started == pytest.approx(REQUEST_S, abs=1)
        assert await ends(reader) - started == pytest.approx(5 * REQUEST_S, abs=1)

    run(test, options={"idle_s": 5 * REQUEST_S})


def test_a_lost_connection_cancels_its_calls(run):
    cancelled = asyncio.Event()

    async def app(scope, receive, send):
        async def call():
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        task = asyncio.create_task(call())
        scope["state"]["calls"].add(task)
        await asyncio.wait([task])

    async def test(connect, _):
        _reader, writer = await connect(HEAD + b"\r\n")
        await asyncio.sleep(1)
        assert not cancelled.is_set()
        writer.close()
        await asyncio.wait_for(cancelled.wait(), 60)

    run(test, app)


def test_one_that_comes_byte_by_byte_has_no_more_time(run):
    async def test(connect, _):
        started = now()
        reader, writer = await connect(HEAD)

        async def trickle():
            for _ in range(1000):
                await asyncio.sleep(1)
                writer.write(b"x")

        trickling = asyncio.create_task(trickle())
        assert await ends(reader) - started == pytest.approx(REQUEST_S, abs=1)
        trickling.cancel()

    run(test)


def test_what_is_answered_is_not_cut_off(run):
    async def test(connect, open_ones):
        reader, writer = await connect(HEAD.replace(b"/", b"/stream", 1) + b"\r\n")
        started, size = now(), 0
        while now() < started + 20 * REQUEST_S:
            size += len(await reader.read(1 << 16))
        assert size > 10
        writer.close()
        again, other = await connect()
        for _ in range(3):  # each request has the whole time
            other.write(HEAD)
            await asyncio.sleep(0.9 * REQUEST_S)
            other.write(b"\r\n")
            assert b"200 OK" in await again.readuntil(b"\r\n\r\n")
        assert len(open_ones.open) == 1
        other.close()

    run(test)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (REFUSED, 401),
        (REFUSED[:-1], 401),
        (b"no HTTP\r\n\r\n" + b"x" * 1000, 400),
        (HEAD + b"Connection: close\r\n\r\n" + HEAD + b"\r\n", 200),
        (BAD_CHUNK, 400),  # before the application has answered
        (BAD_CHUNK.replace(b"POST", b"HEAD"), 400),
    ],
)
def test_who_still_sends_has_the_answer_and_is_not_reset(run, caplog, data, status):
    async def test(connect, open_ones):
        reader, writer = await connect(data)
        answer = await reader.read()  # the server says at once that nothing more comes
        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert answer.count(b"HTTP/1.1") == answer.lower().count(b"content-length: ") == 1
        for _ in range(10):
            writer.write(b"x" * 100_000)
            await writer.drain()
        await asyncio.sleep(0.5 * connections.LINGER_S)
        writer.write(b"x" * 100_000)
        await writer.drain()
        (one,) = open_ones.open  # it is counted, and makes room
        assert one.is_waiting
        writer.close()
        await asyncio.sleep(0.1)
        assert not open_ones.open

    run(test)
    assert not caplog.records


@pytest.mark.parametrize("is_encrypted", [False, True])
@pytest.mark.parametrize("pause_s", [0.01, 1e9])
def test_who_sends_on_after_a_refusal_has_a_bounded_time(run, tmp_path, is_encrypted, pause_s):
    tls, own = {}, {}
    if is_encrypted:
        authority = make_certificate(tmp_path, "authority")
        make_certificate(tmp_path, "server", authority)
        own = {"ssl_certfile": tmp_path / "server.pem", "ssl_keyfile": tmp_path / "server.key"}
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        tls = {"ssl": context, "server_hostname": "localhost"}

    async def test(connect, open_ones):
        reader, writer = await connect(REFUSED, **tls)
        assert (await reader.readuntil(b"\r\n\r\nno")).startswith(b"HTTP/1.1 401 ")
        started = now()

        async def trickle():
            while True:
                writer.write(b"x")
                await asyncio.sleep(pause_s)

        trickling = asyncio.create_task(trickle())
        await asyncio.sleep(0.9 * connections.LINGER_S)
        assert len(open_ones.open) == 1
        while open_ones.open:
            await asyncio.sleep(0.01)
        assert now() - started == pytest.approx(connections.LINGER_S, abs=0.05)
        trickling.cancel()

    run(test, **own)


def test_who_is_gone_before_the_end_of_a_refusal_is_no_fault_of_the_server(run, monkeypatch, caplog):
    def fail():
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    async def test(connect, open_ones):
        reader, writer = await connect()
        await asyncio.sleep(0.1)
        (one,) = open_ones.open
        monkeypatch.setattr(one._ending._inner, "write_eof", fail)
        writer.write(REFUSED)
        started = now()
        await ends(reader)
        assert now() - started < 0.5 * connections.LINGER_S
        assert not open_ones.open

    run(test)
    assert not caplog.records


def test_what_is_no_http_in_the_midst_of_an_answer_ends_its_connection_alone(run):
    async def test(connect, open_ones):
        head = HEAD.replace(b"GET /", b"POST /stream")
        reader, writer = await connect(head + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        assert await reader.readuntil(b"x")
        writer.write(b"no chunk\r\n")
        started = now()
        assert await ends(reader) - started < 1  # and the loop reports no error at its end
        assert not open_ones.open

    run(test)


def test_what_comes_after_the_last_request_does_not_cost_its_answer(run):
    async def test(connect, _):
        reader, writer = await connect(HEAD.replace(b"/", b"/stream", 1) + b"Connection: close\r\n\r\n")
        for _ in range(3):
            assert await reader.read(1 << 16)
            writer.write(b"\r\n")
            await writer.drain()
        writer.close()

    run(test)


def test_who_sends_very_much_after_a_refusal_is_cut_off(run, monkeypatch):
    monkeypatch.setattr(connections, "LINGER_BYTES", 1_000_000)

    async def test(connect, open_ones):
        reader, writer = await connect(REFUSED)
        await reader.read()
        started, size = now(), 0
        with contextlib.suppress(ConnectionError):
            while size < 1 << 30:
                writer.write(b"x" * 100_000)
                await writer.drain()
                size += 100_000
        assert 900_000 <= size < 1 << 30
        assert now() - started < 0.5 * connections.LINGER_S
        assert not open_ones.open

    run(test)


def test_who_still_sends_what_was_refused_makes_room(run):
    async def test(connect, open_ones):
        others = [await connect(REFUSED) for _ in range(3)]
        for reader, _ in others:
            await reader.read()
        reader, writer = await connect(HEAD + b"\r\n")
        started = now()
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
        assert len(open_ones.open) == 3
        assert now() - started < 0.5 * connections.LINGER_S
        for _, each in [*others, (reader, writer)]:
            each.close()

    run(test, options={"max_connections": 3, "limits_bodies": False})


def test_of_too_many_the_oldest_that_waits_is_closed(run):
    async def test(connect, open_ones):
        stream, stream_writer = await connect(HEAD.replace(b"/", b"/stream", 1) + b"\r\n")
        assert await stream.read(1 << 16)
        others = [await connect(HEAD) for _ in range(MAX_CONNECTIONS + 50)]
        await asyncio.sleep(0.1)
        assert len(open_ones.open) == MAX_CONNECTIONS
        reader, writer = await connect(HEAD + b"\r\n")
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
        closed = [one.at_eof() or one.exception() is not None for one, _ in others]
        assert closed == [True] * 52 + [False] * (MAX_CONNECTIONS - 2)
        assert await stream.read(1 << 16)
        for _, each in [*others, (stream, stream_writer), (reader, writer)]:
            each.close()

    run(test)


@pytest.mark.parametrize(
    "data", [HEAD.replace(b"/", b"/held", 1) + b"\r\n", BODY, REFUSED.replace(b"/refused", b"/early", 1)]
)
def test_who_is_held_or_leaves_out_the_rest_of_a_body_makes_room(run, data):
    async def test(connect, open_ones):
        stream, stream_writer = await connect(HEAD.replace(b"/", b"/stream", 1) + b"\r\n")
        others = [await connect(data) for _ in range(3)]
        await asyncio.sleep(0.1)
        started = now()
        reader, writer = await connect(HEAD + b"\r\n")
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
        assert await ends(others[0][0]) < started + 1
        assert await stream.read(1 << 16)
        assert len(open_ones.open) == 4
        for _, each in [*others, (stream, stream_writer), (reader, writer)]:
            each.close()

    run(test, options={"max_connections": 4, "limits_bodies": False})


def test_a_stream_that_is_answered_while_its_requests_come_is_not_closed(run):
    async def test(connect, open_ones):
        stream, stream_writer = await connect(BODY.replace(b"/", b"/stream", 1))
        assert await stream.read(1 << 16)
        idle, _other = await connect()
        await asyncio.sleep(0.1)
        started = now()
        reader, writer = await connect(HEAD + b"\r\n")
        assert await ends(idle) < started + 1
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
        assert await stream.read(1 << 16)
        assert not stream.at_eof()
        for each in (stream_writer, writer):
            each.close()

    run(test, options={"max_connections": 2, "limits_bodies": False})


def test_who_is_held_makes_room_before_those_without_a_request(run):
    async def test(connect, open_ones):
        idle, _writer = await connect()
        held, _other = await connect(HEAD.replace(b"/", b"/held", 1) + b"\r\n")
        await asyncio.sleep(0.1)
        assert len(open_ones.open) == 2
        started = now()
        reader, writer = await connect(HEAD + b"\r\n")
        assert await ends(held) < started + 1
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
        assert not idle.at_eof()
        writer.close()

    run(test, options={"max_connections": 2})


def test_a_handshake_that_does_not_come_is_counted_and_ends(run, tmp_path):
    make_certificate(tmp_path, "server", make_certificate(tmp_path, "authority"))

    async def test(connect, open_ones):
        started = now()
        silent = [await connect(data) for data in (b"", b"\x16\x03\x01")]
        await asyncio.sleep(0.1)
        assert len(open_ones.open) == 2
        for reader, _ in silent:
            assert await ends(reader) - started == pytest.approx(REQUEST_S, abs=1)
        wrong, _ = await connect(HEAD + b"\r\n")
        assert await ends(wrong) - started < REQUEST_S + 2
        await asyncio.sleep(0.1)
        assert not open_ones.open
        others = [await connect() for _ in range(MAX_CONNECTIONS + 50)]
        await asyncio.sleep(0.1)
        assert len(open_ones.open) == MAX_CONNECTIONS
        for _, writer in others:
            writer.close()

    run(test, ssl_certfile=tmp_path / "server.pem", ssl_keyfile=tmp_path / "server.key")


def test_without_file_descriptors_a_connection_makes_room_and_the_log_stays_short(run, monkeypatch, caplog):
    async def test(connect, open_ones):
        loop = asyncio.get_running_loop()
        oldest, _ = await connect(HEAD)
        await asyncio.sleep(0.1)
        accept, num_failed = loop.sock_accept, 0

        async def fail(listener):
            nonlocal num_failed
            num_failed += 1
            if num_failed < 1000:
                raise OSError(errno.EMFILE, "Too many open files")
            return await accept(listener)

        monkeypatch.setattr(loop, "sock_accept", fail)
        started = now()
        await connect(HEAD)  # taken by the call that waits already
        reader, writer = await connect(HEAD + b"\r\n")
        assert await ends(oldest) - started < 1
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
        assert 2 <= len(caplog.records) <= 2 + (now() - started) / REPORT_S
        writer.close()

    run(test)
    assert {record.message for record in caplog.records} == {
        "cannot accept connections: [Errno 24] Too many open files"
    }
    assert all(record.exc_info is None for record in caplog.records)


@pytest.mark.real("ports")
def test_the_head_of_an_answer_does_not_hold_up_its_body():
    async def main():
        server = uvicorn.Server(uvicorn.Config(App(), **connections.OPTIONS))
        server.config.load()
        with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()):
            accepted, _ = listener.accept()
            accepted.setblocking(False)
            connection = Connection(Connections(server))
            connection.join(accepted)
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            connection.drop()
            await asyncio.sleep(0)

    asyncio.run(main())


# --- large texts


def test_callers_take_turns_in_the_thread_for_large_texts():
    loop, order = VirtualLoop(), []
    workers = FairWorkers(1, "http")

    def note(name):
        order.append(name)
        loop.sleep(1.0, Stop())

    async def read(caller, peer):
        CALLER.set(caller)
        await endpoints._Texts(workers, peer).work(endpoints.SMALL_BYTES + 1, note, caller or peer)

    async def play():
        await asyncio.gather(*(read(*who) for who in [("a", "1")] * 3 + [("", "2"), ("b", "1")]))

    loop.run_until_complete(play())
    assert order == ["a", "a", "2", "b", "a"]  # the first has the thread at once
    workers.end()
    loop.close()
