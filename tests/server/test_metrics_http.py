"""The port of the metrics: what it answers, and that nobody can take the service down through it."""

import http.client
import os
import re
import resource
import socket
import subprocess
import sys
import threading
import urllib.request

import grpc
import pytest
from servers import await_that

from mexica_ai.server import metrics_http
from mexica_ai.server.metrics_http import MAX_CONNECTIONS, MetricsHttpServer

pytestmark = pytest.mark.real("ports")


@pytest.fixture
def serve():
    """Start a server of a text."""
    servers = []

    def start(render=lambda: b"a 1\n", host="127.0.0.1"):
        server = MetricsHttpServer(host, 0, render)
        server.start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()


def ask(port, text, host="127.0.0.1"):
    """Send a text to a server; return all that it answers until it closes the connection."""
    with socket.create_connection((host, port), timeout=30) as connection:
        connection.sendall(text)
        return b"".join(iter(lambda: connection.recv(1 << 16), b"")).decode()


def test_what_is_answered(serve):
    port = serve().port
    for request_line, status in (
        ("GET /metrics HTTP/1.1", 200),
        ("GET / HTTP/1.0", 200),
        ("GET /metrics?name=a HTTP/1.1", 200),
        ("GET /secret HTTP/1.1", 404),
        ("POST /metrics HTTP/1.1", 405),
        ("nonsense", 405),
        ("", 405),
        ("GET", 404),
        ("\x00\xff GET", 405),
    ):
        answer = ask(port, f"{request_line}\r\nHost: x\r\n\r\n".encode("latin-1"))
        head, _, body = answer.partition("\r\n\r\n")
        assert head.startswith(f"HTTP/1.1 {status} "), request_line
        assert f"Content-Length: {len(body)}" in head
        assert (body == "a 1\n") is (status == 200)


def test_head_has_no_body(serve):
    connection = http.client.HTTPConnection("127.0.0.1", serve().port, timeout=30)
    connection.request("HEAD", "/metrics")
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Content-Length"], answer.read()) == (200, "4", b"")
    connection.close()


def test_a_long_request_is_refused(serve):
    assert ask(serve().port, b"GET / HTTP/1.1\r\nX: " + bytes(1 << 14)).startswith("HTTP/1.1 431 ")


def test_a_text_that_cannot_be_made_is_logged(serve, caplog):
    assert ask(serve(lambda: 1 // 0).port, b"GET / HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 500 ")
    assert "ZeroDivisionError" in caplog.text


def test_all_interfaces(serve):
    if not socket.has_dualstack_ipv6():
        pytest.skip("needs IPv6")
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("needs the address ::1")
    port = serve(host="::").port
    for host in ("127.0.0.1", "::1"):
        assert ask(port, b"GET / HTTP/1.1\r\n\r\n", host).endswith("a 1\n")


def test_the_text_is_made_at_most_ten_times_a_second(serve, monkeypatch):
    monkeypatch.setattr(metrics_http, "FRESH_S", 1e9)
    made = []
    server = serve(lambda: made.append(1) or b"")
    for _ in range(3):
        ask(server.port, b"GET / HTTP/1.1\r\n\r\n")
    assert len(made) == 1


def test_a_silent_connection_is_closed(serve, monkeypatch):
    monkeypatch.setattr(metrics_http, "REQUEST_S", 0.05)
    assert ask(serve().port, b"GET / HT") == ""


def test_a_scraper_that_does_not_read_is_cut_off(serve, monkeypatch):
    monkeypatch.setattr(metrics_http, "ANSWER_S", 0.05)
    server = serve(lambda: bytes(1 << 26))
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert connection.recv(1)
        await_that(lambda: not server._connections)


def test_silent_connections_keep_no_scraper_out(serve):
    server = serve()
    silent = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(3 * MAX_CONNECTIONS)]
    try:
        for _ in range(5):
            assert ask(server.port, b"GET / HTTP/1.1\r\n\r\n").endswith("a 1\n")
        assert len(server._connections) <= MAX_CONNECTIONS
        # The last ones stay: those before made room.
        closed = sum(is_closed(connection) for connection in silent)
        assert closed >= 2 * MAX_CONNECTIONS
        assert not is_closed(silent[-1])
    finally:
        for connection in silent:
            connection.close()


def is_closed(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def test_those_that_are_answered_are_not_cut_off(serve, monkeypatch):
    monkeypatch.setattr(metrics_http, "MAX_CONNECTIONS", 1)
    server = serve(lambda: bytes(1 << 26))
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        first = connection.recv(1)
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as other:
            await_that(lambda: is_closed(other))
        length = len(first)
        while got := connection.recv(1 << 20):
            length += len(got)
        assert length > 1 << 26


def test_closing_closes_connections(serve):
    server = serve()
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        await_that(lambda: server._connections)
        server.close()
        await_that(lambda: is_closed(connection))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), timeout=30)
    assert "metrics" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.slow
def test_the_service_goes_on_beside_a_flood_of_the_metrics():
    """A server with 256 descriptors, and 400 silent connections to its port of metrics."""
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "mexica_ai", "serve", "--port", "0", "--metrics-port", "0", "--slots", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)),
    ) as process:
        silent = []
        try:
            address = process.stdout.readline().split()[2]
            said = (re.search(r"metrics=(\S+)", line) for line in process.stderr)  # gRPC may say something before
            metrics = next(filter(None, said))[1]
            host, _, port = metrics.rpartition(":")
            silent += [socket.create_connection((host, int(port)), timeout=30) for _ in range(400)]
            for _ in range(3):
                with grpc.insecure_channel(address) as channel:
                    check = channel.unary_unary("/grpc.health.v1.Health/Check")
                    assert check(b"", timeout=30) == b"\x08\x01"  # SERVING
                with urllib.request.urlopen(f"http://{metrics}/metrics", timeout=30) as answer:
                    assert b"mexica_ai_searches_in_flight 0.0" in answer.read()
            num_open = len(os.listdir(f"/proc/{process.pid}/fd"))
            num_threads = len(os.listdir(f"/proc/{process.pid}/task"))
        finally:
            for connection in silent:
                connection.close()
            process.terminate()
            process.communicate(timeout=60)
    assert process.returncode == 0
    assert num_open < 100
    assert num_threads < 100
