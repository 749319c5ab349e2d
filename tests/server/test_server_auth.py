"""Authentication, the log of calls, and metrics, over real loopback connections."""

import asyncio
import contextlib
import io
import json
import logging
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import grpc
import pytest
from certificates import make_certificate
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_status import rpc_status
from searching import fake_runs
from servers import IdleSearch, RunningServer, await_that, on_a_socket

import mexica_ai as ai
from mexica_ai.rpc import wire
from mexica_ai.server import auth, logs
from mexica_ai.server.app import METHODS, Server
from mexica_ai.server.auth import CALLER, AuthInterceptor, Certificates, Tokens
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.metrics import MAX_LABELS, Metrics, PrometheusMetrics
from mexica_ai.server.tracing import Tracing
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

ALICE, BOB, CAROL = "alice-0123456789", "bob-0123456789-abc", "carol-0123456789"
EXAMPLES = Path(__file__).parents[2] / "examples"
KINDS = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")


# ---- certificates


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Return a folder of certificates: of authorities `ca` and `other`, and of those that they vouch for."""
    folder = tmp_path_factory.mktemp("certificates")
    ca, other = make_certificate(folder, "ca"), make_certificate(folder, "other")
    make_certificate(folder, "server", ca)
    make_certificate(folder, "client", ca, "dora")
    make_certificate(folder, "stranger", other, "dora")
    return folder


def tls_fields(folder, **more):
    return {"tls_certificate": str(folder / "server.pem"), "tls_key": str(folder / "server.key"), **more}


def credentials_of(folder, client=None):
    pair = [(folder / f"{client}{ending}").read_bytes() for ending in (".key", ".pem")] if client else ()
    return grpc.ssl_channel_credentials((folder / "ca.pem").read_bytes(), *pair)


# ---- servers


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture
def stack():
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def loop(stack):
    loop = Loop()
    stack.callback(loop.close)
    return loop


@pytest.fixture
def start_server(stack, loop):
    """Start a whole server; `connect` returns its stubs over a channel with the credentials given."""

    def start(search=None, **fields):
        async def make():
            searching = (fake_runs(search),) if search else ()
            server = Server(ServerConfig(**{"port": 0, "slots": 1, "grace_s": 0.1, **fields}), *searching)
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            address = None if "port" in fields else on_a_socket(server, folder)
            await server.start()
            return server, address or server.address

        server, address = loop.run(make())
        stack.callback(lambda: loop.run(server.drain()))

        def connect(credentials=None):
            if credentials:
                options = [("grpc.ssl_target_name_override", "localhost")]
                channel = grpc.secure_channel(address, credentials, options)
            else:
                channel = grpc.insecure_channel(address)
            stack.callback(channel.close)
            return SimpleNamespace(
                channel=channel,
                engine=engine_pb2_grpc.EngineServiceStub(channel),
                health=health_pb2_grpc.HealthStub(channel),
                reflection=reflection_pb2_grpc.ServerReflectionStub(channel),
            )

        return SimpleNamespace(server=server, connect=connect, metrics=server.metrics)

    return start


@pytest.fixture
def tokens_file(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(f"# who may call\n\nalice {ALICE}\n  bob   {BOB}  \n")
    path.chmod(0o600)
    return path


def request(**limits):
    position = wire.position_to_message(ai.new_game("nim", piles=[3, 2]))
    return engine_pb2.BestTurnRequest(position=position, limits=engine_pb2.Limits(**limits or {"iterations": 5}))


def await_waiting(server, number):
    """Wait until this number of calls wait for a slot."""
    await_that(lambda: server.server.scheduler.admission.slots.num_waiting == number)


def with_token(token, scheme="Bearer"):
    return (("authorization", f"{scheme} {token}"),)


def failure(call, *args, **kwargs):
    """Return the code, the message and the ErrorInfo of a call that fails."""
    with pytest.raises(grpc.RpcError) as caught:
        list(call(*args, timeout=60, **kwargs))
    info = error_details_pb2.ErrorInfo()
    status = rpc_status.from_call(caught.value)
    for detail in status.details if status else ():
        detail.Unpack(info)
    return caught.value.code(), caught.value.details(), info


# ---- encryption


def test_calls_over_tls(start_server, certificates):
    server = start_server(**tls_fields(certificates))
    stubs = server.connect(credentials_of(certificates))
    assert stubs.engine.BestTurn(request(), timeout=60).result.turn
    code, *_ = failure(server.connect().engine.BestTurn, request())
    assert code is grpc.StatusCode.UNAVAILABLE


def test_client_certificates(start_server, certificates, caplog):
    caplog.set_level(logging.INFO, "mexica_ai")
    server = start_server(**tls_fields(certificates, tls_client_ca=str(certificates / "ca.pem")))
    stubs = server.connect(credentials_of(certificates, "client"))
    assert stubs.engine.BestTurn(request(), timeout=60).result.turn
    assert "dora" in [line["caller"] for line in logged_calls(caplog, 1)]
    for wrong in (None, "stranger"):
        stubs = server.connect(credentials_of(certificates, wrong))
        for call, message in (
            (stubs.engine.BestTurn, request()),
            (stubs.health.Check, health_pb2.HealthCheckRequest()),
        ):
            code, *_ = failure(call, message)
            assert code is grpc.StatusCode.UNAVAILABLE


def test_certificates_without_a_common_name_name_their_callers_over_both_doors(stack, tmp_path, caplog):
    caplog.set_level(logging.INFO, "mexica_ai")
    authority = make_certificate(tmp_path, "ca")
    make_certificate(tmp_path, "server", authority)
    expected = []
    for name, other_name in (("short", "spiffe://a/b"), ("long", "spiffe://a/" + 64 * "b")):
        names = [x509.UniformResourceIdentifier(other_name)]
        certificate, _ = make_certificate(tmp_path, name, authority, other_names=names)
        expected += [other_name if name == "short" else certificate.fingerprint(hashes.SHA256()).hex()] * 2
    fields = tls_fields(tmp_path, tls_client_ca=str(tmp_path / "ca.pem"))
    server = stack.enter_context(contextlib.closing(RunningServer(None, http_port=0, **fields)))
    for name in ("short", "long"):
        options = [("grpc.ssl_target_name_override", "localhost")]
        with grpc.secure_channel(server.address, credentials_of(tmp_path, name), options) as channel:
            engine_pb2_grpc.EngineServiceStub(channel).ListGames(engine_pb2.ListGamesRequest(), timeout=60)
        context = ssl.create_default_context(cafile=tmp_path / "ca.pem")
        context.load_cert_chain(tmp_path / f"{name}.pem", tmp_path / f"{name}.key")
        with server.http("https", verify=context) as http:
            assert http.get("/v1/games").status_code == 200
    assert [line["caller"] for line in logged_calls(caplog, 4)] == expected


def test_a_token_is_needed_besides_a_certificate(start_server, certificates, tokens_file, caplog):
    caplog.set_level(logging.INFO, "mexica_ai")
    server = start_server(
        **tls_fields(certificates, tls_client_ca=str(certificates / "ca.pem"), tokens_file=str(tokens_file))
    )
    stubs = server.connect(credentials_of(certificates, "client"))
    assert failure(stubs.engine.BestTurn, request())[2].reason == "NO_TOKEN"
    assert stubs.engine.BestTurn(request(), timeout=60, metadata=with_token(ALICE)).result.turn
    assert logged_calls(caplog, 2)[-1]["caller"] == "alice"


def certificate_of(address, authority):
    """Return the certificate that a server shows to a new connection."""
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2"])
    host, _, port = address.rpartition(":")
    with (
        socket.create_connection((host, int(port)), timeout=5) as connection,
        context.wrap_socket(connection, server_hostname=host) as secured,
    ):
        return secured.getpeercert(binary_form=True)


@pytest.mark.real("ports")
def test_renewed_certificates_are_used_for_new_connections(start_server, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(auth, "RECHECK_S", 0.0)
    authority = make_certificate(tmp_path, "ca")
    make_certificate(tmp_path, "server", authority)
    server = start_server(port=0, **tls_fields(tmp_path))
    stubs = server.connect(credentials_of(tmp_path))
    assert stubs.engine.BestTurn(request(), timeout=60).result.turn
    first = certificate_of(server.server.address, tmp_path / "ca.pem")
    assert certificate_of(server.server.address, tmp_path / "ca.pem") == first
    # The certificate without its key: the old pair is used, and a warning logged.
    old_key = (tmp_path / "server.key").read_bytes()
    second, _ = make_certificate(tmp_path, "server", authority)
    new_key = (tmp_path / "server.key").read_bytes()
    (tmp_path / "server.key").write_bytes(old_key)
    assert certificate_of(server.server.address, tmp_path / "ca.pem") == first
    assert "the certificates are unchanged: tls_key: given " in caplog.text
    (tmp_path / "server.key").write_bytes(new_key)
    for _ in range(2):
        renewed = certificate_of(server.server.address, tmp_path / "ca.pem")
        assert renewed == second.public_bytes(serialization.Encoding.DER)
    assert stubs.engine.BestTurn(request(), timeout=60).result.turn


@pytest.mark.parametrize(
    ("change", "path", "problem"),
    [
        ({"tls_certificate": "missing"}, "tls_certificate", "No such file"),
        ({"tls_certificate": "garbage"}, "tls_certificate", "holds no certificate"),
        ({"tls_certificate": "server.key"}, "tls_certificate", "holds no certificate"),
        ({"tls_key": "missing"}, "tls_key", "No such file"),
        ({"tls_key": "garbage"}, "tls_key", "private key of the first certificate"),
        ({"tls_key": "ca.key"}, "tls_key", "private key of the first certificate"),
        ({"tls_key": "locked.key"}, "tls_key", "without a password"),
        ({"tls_key": "."}, "tls_key", "directory"),
        ({"tls_client_ca": "missing"}, "tls_client_ca", "No such file"),
        ({"tls_client_ca": "garbage"}, "tls_client_ca", "holds no certificate"),
        ({"tls_client_ca": "empty"}, "tls_client_ca", "holds no certificate"),
    ],
)
def test_bad_files_are_refused_before_anything_listens(certificates, change, path, problem):
    (certificates / "garbage").write_text("-----BEGIN CERTIFICATE-----\nno\n")
    (certificates / "empty").write_text("")
    key = serialization.load_pem_private_key((certificates / "server.key").read_bytes(), None)
    (certificates / "locked.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    fields = tls_fields(certificates, **{name: str(certificates / file) for name, file in change.items()})
    with pytest.raises(ai.SearchError, match=problem) as caught:
        Certificates(ServerConfig(**fields))
    assert (caught.value.reason, caught.value.path) == ("INVALID_CONFIG", path)
    assert str(caught.value).startswith((f"{path}: given ", f"{path}: cannot read "))


# ---- tokens


def test_calls_with_and_without_a_token(start_server, tokens_file):
    stubs = start_server(tokens_file=str(tokens_file)).connect()
    for token, scheme in ((ALICE, "Bearer"), (BOB, "bearer")):
        assert stubs.engine.BestTurn(request(), timeout=60, metadata=with_token(token, scheme)).result.turn
    for metadata, reason in (
        ((), "NO_TOKEN"),
        ((("authorization", ALICE),), "NO_TOKEN"),
        ((("authorization", "Bearer "),), "NO_TOKEN"),
        ((("authorization", f"Basic {ALICE}"),), "NO_TOKEN"),
        (with_token(ALICE) + with_token(BOB), "NO_TOKEN"),
        (with_token(ALICE[:-1]), "WRONG_TOKEN"),
        (with_token(ALICE + "x"), "WRONG_TOKEN"),
        (with_token("alice"), "WRONG_TOKEN"),
    ):
        code, message, info = failure(stubs.engine.BestTurn, request(), metadata=metadata)
        assert code is grpc.StatusCode.UNAUTHENTICATED
        assert (info.domain, info.reason) == ("v1.mexica-ai", reason)
        assert "expected the metadata `authorization: Bearer TOKEN`" in message
        assert ALICE[:-1] not in message


def test_health_needs_no_token_but_all_else_does(start_server, tokens_file):
    stubs = start_server(tokens_file=str(tokens_file)).connect()
    check = health_pb2.HealthCheckRequest()
    assert stubs.health.Check(check, timeout=60).status == health_pb2.HealthCheckResponse.SERVING
    watch = stubs.health.Watch(check, timeout=60)
    assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
    watch.cancel()
    questions = [reflection_pb2.ServerReflectionRequest(list_services="")]
    code, *_ = failure(stubs.reflection.ServerReflectionInfo, iter(questions))
    assert code is grpc.StatusCode.UNAUTHENTICATED
    answers = stubs.reflection.ServerReflectionInfo(iter(questions), timeout=60, metadata=with_token(ALICE))
    assert next(answers).list_services_response.service
    unknown = stubs.channel.unary_unary("/grpc.health.v1.HealthX/Check")
    assert failure(unknown, b"")[0] is grpc.StatusCode.UNAUTHENTICATED
    assert failure(unknown, b"", metadata=with_token(ALICE))[0] is grpc.StatusCode.UNIMPLEMENTED


def test_a_caller_that_floods_a_server_keeps_out_nobody_else(start_server, tokens_file):
    search = IdleSearch()
    server = start_server(
        search, slots=2, max_slots_per_caller=2, max_waiting_per_caller=3, tokens_file=str(tokens_file)
    )
    # Each over a connection of its own, as two callers have.
    floods, asks = server.connect().engine, server.connect().engine

    def flood():
        return floods.BestTurn.future(request(time_s=50), metadata=with_token(ALICE))

    running = [flood(), flood()]
    for _ in running:
        search.await_start()
    more = [flood() for _ in range(10)]
    await_that(lambda: sum(call.done() for call in more) == 7)
    assert {call.code() for call in more if call.done()} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
    single = asks.BestTurn.future(request(time_s=0.01), metadata=with_token(BOB))
    await_waiting(server, 4)
    assert len(search.limits) == 2
    # Three of the same caller came before, and would be content with the same.
    running[0].cancel()
    assert single.result(60).result.turn
    assert search.limits[2].time_s == 0.01
    # They get the slot as soon as no other caller waits for it.
    search.await_start()
    search.await_start()
    assert search.limits[3].time_s == 50


class Handlers(grpc.GenericRpcHandler):
    """Methods of all kinds, /test/KIND; they answer who calls, under which id."""

    def service(self, handler_call_details):
        kind = handler_call_details.method.removeprefix("/test/")

        def answer():
            return f"{CALLER.get()} {logs.REQUEST_ID.get()}".encode()

        async def unary(request, context):
            return answer()

        async def stream(request, context):
            yield answer()
            # A stream of requests is not read, except where the test needs to know what it asks for.
            what = request if isinstance(request, bytes) else await context.read()
            if what == b"fail":
                raise RuntimeError("broken")
            if what == b"wait":
                await asyncio.sleep(10)
            while what == b"flood":
                yield bytes(100_000)
            yield answer()

        async def writing(request, context):
            await context.write(answer())
            await context.write(answer())

        if kind == "writing":
            return grpc.unary_stream_rpc_method_handler(writing)
        if kind not in KINDS:
            return None
        make = getattr(grpc, f"{kind}_rpc_method_handler")
        return make(stream if kind.endswith("stream") else unary)


@pytest.fixture
def start_handlers(stack, loop):
    """Start a server of `Handlers` with interceptors; returns a channel."""

    def start(*interceptors):
        address = f"unix:{Path(stack.enter_context(tempfile.TemporaryDirectory()), 'server')}"

        async def make():
            server = grpc.aio.server(interceptors=interceptors)
            server.add_generic_rpc_handlers([Handlers()])
            server.add_insecure_port(address)
            await server.start()
            return server

        server = loop.run(make())

        async def stop():
            await server.stop(None)

        stack.callback(lambda: loop.run(stop()))
        channel = grpc.insecure_channel(address)
        stack.callback(channel.close)
        return channel

    return start


def call_kind(channel, kind, message=b"", **options):
    """Call a method of `Handlers`; return all answers."""
    kind_of_call = "unary_stream" if kind == "writing" else kind
    method = getattr(channel, kind_of_call)(f"/test/{kind}")
    given = iter([message]) if kind_of_call.startswith("stream") else message
    answer = method(given, timeout=60, **options)
    return list(answer) if kind_of_call.endswith("stream") else [answer]


@pytest.mark.parametrize("kind", [*KINDS, "writing"])
def test_every_kind_of_method_asks_for_a_token_and_learns_the_caller(start_handlers, tokens_file, kind):
    channel = start_handlers(
        logs.LoggingInterceptor(Metrics(), (), Tracing()), AuthInterceptor(Tokens(str(tokens_file)))
    )
    metadata = (*with_token(BOB), ("x-request-id", "id-7"))
    answers = call_kind(channel, kind, metadata=metadata)
    assert answers == [b"bob id-7"] * (2 if kind.endswith("stream") or kind == "writing" else 1)
    code, _, info = failure(lambda timeout: call_kind(channel, kind))
    assert (code, info.reason) == (grpc.StatusCode.UNAUTHENTICATED, "NO_TOKEN")


def test_nobody_is_the_caller_without_tokens(start_handlers):
    channel = start_handlers(AuthInterceptor(None))
    assert call_kind(channel, "unary_unary", metadata=with_token(ALICE)) == [b" "]


@pytest.mark.parametrize("kind", ["unary_stream", "stream_stream"])
def test_a_revoked_stream_whose_client_does_not_read_ends(start_handlers, loop, tokens_file, monkeypatch, kind):
    monkeypatch.setattr(auth, "RECHECK_S", 0.0)
    authenticates = AuthInterceptor(Tokens(str(tokens_file)))
    channel = start_handlers(authenticates)
    given = b"flood" if kind == "unary_stream" else iter([b"flood"])
    answers = getattr(channel, kind)(f"/test/{kind}")(given, metadata=with_token(ALICE), timeout=60)
    next(answers)
    (call,) = authenticates._running
    await_that(lambda: call.responses)  # an answer of 100 kB, which takes more than the client has asked for
    responses = call.responses
    tokens_file.write_text(f"bob {BOB}\n")

    async def end_revoked():
        authenticates.end_revoked()

    loop.run(end_revoked())
    # What makes the answers ends before the client reads.
    await_that(lambda: responses.ag_frame is None)
    code, message, info = failure(lambda timeout: answers)
    assert (code, info.reason) == (grpc.StatusCode.UNAUTHENTICATED, "REVOKED_TOKEN"), message
    await_that(lambda: not authenticates._running)


def name_of(tokens, token):
    found = tokens.find(token)
    return found and found.name


def test_all_tokens_are_compared(tokens_file, monkeypatch):
    tokens = Tokens(str(tokens_file))
    compared = []

    def compare(left, right):
        compared.append((len(left), len(right)))
        return left == right

    monkeypatch.setattr(auth.hmac, "compare_digest", compare)
    assert [name_of(tokens, token) for token in (ALICE, BOB, "x", "\ud800")] == ["alice", "bob", None, None]
    assert compared == [(32, 32)] * 8


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "which has 0 tokens"),
        ("# nobody\n", "which has 0 tokens"),
        ("alice\n", "line 1: 1 words"),
        (f"\nalice {ALICE} x\n", "line 2: 3 words"),
        (f"al/ice {ALICE}", "line 1: invalid name"),
        (f"{'a' * 65} {ALICE}", "line 1: invalid name"),
        ("alice short", "line 1: a token of 5 characters; expected 16 or more"),
        ("alice 0123456789\x7fabcdef", "line 1: a token"),
        (f"alice {ALICE}\nalice {BOB}", "line 2: the name of line 1"),
        (f"alice {ALICE}\nbob {ALICE}", "line 2: the token of line 1"),
        ("alice 0123456789abcd\N{SNOWMAN}ef", "not ASCII"),
    ],
)
def test_bad_files_of_tokens(tmp_path, text, problem):
    path = tmp_path / "tokens"
    path.write_text(text)
    with pytest.raises(ai.SearchError) as caught:
        Tokens(str(path))
    assert (caught.value.reason, caught.value.path) == ("INVALID_CONFIG", "tokens_file")
    assert str(caught.value).startswith("tokens_file: given ")
    assert problem in str(caught.value)
    assert ALICE not in str(caught.value)


def test_a_changed_file_is_read_again(tokens_file, monkeypatch, caplog):
    monkeypatch.setattr(auth, "RECHECK_S", 0.0)
    tokens = Tokens(str(tokens_file))
    tokens_file.write_text(f"carol {CAROL}\n")
    assert [name_of(tokens, token) for token in (ALICE, CAROL)] == [None, "carol"]
    # A broken or missing file changes nothing, and is reported once.
    tokens_file.write_text("carol\n")
    assert [name_of(tokens, CAROL) for _ in range(3)] == ["carol"] * 3
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "line 1: 1 words" in caplog.text
    tokens_file.unlink()
    assert name_of(tokens, CAROL) == "carol"
    # A file in its place, of the same size and time.
    tokens_file.write_text(f"alice {ALICE}\n")
    assert name_of(tokens, ALICE) == "alice"
    status = tokens_file.stat()
    other = tokens_file.with_name("other")
    other.write_text(f"carol {CAROL}\n")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.rename(tokens_file)
    assert tokens_file.stat().st_size == status.st_size
    assert [name_of(tokens, token) for token in (ALICE, CAROL)] == [None, "carol"]


def test_the_file_is_looked_at_once_a_second(tokens_file, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(auth, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    tokens = Tokens(str(tokens_file))
    tokens_file.write_text(f"carol {CAROL}\n")
    clock[0] = 100.9
    assert name_of(tokens, CAROL) is None
    clock[0] = 101.1
    assert name_of(tokens, CAROL) == "carol"


def test_a_running_server_learns_new_tokens(start_server, tokens_file, monkeypatch):
    monkeypatch.setattr(auth, "RECHECK_S", 0.0)
    stubs = start_server(tokens_file=str(tokens_file)).connect()
    assert failure(stubs.engine.BestTurn, request(), metadata=with_token(CAROL))[2].reason == "WRONG_TOKEN"
    tokens_file.write_text(f"carol {CAROL}\n")
    assert stubs.engine.BestTurn(request(), timeout=60, metadata=with_token(CAROL)).result.turn
    assert failure(stubs.engine.BestTurn, request(), metadata=with_token(ALICE))[2].reason == "WRONG_TOKEN"


# ---- the log


def logged_calls(caplog, count):
    """Wait for `count` calls in the log, which come after their answers; return their fields."""

    def found():
        return [record.fields for record in caplog.records if record.getMessage() == "call"]

    await_that(lambda: len(found()) >= count)
    assert len(found()) == count
    return found()


def test_a_call_is_one_line(start_server, tokens_file, caplog):
    caplog.set_level(logging.INFO, "mexica_ai")
    stubs = start_server(tokens_file=str(tokens_file)).connect()
    _, call = stubs.engine.BestTurn.with_call(
        request(), timeout=60, metadata=(*with_token(ALICE), ("x-request-id", "my.id-1"))
    )
    assert dict(call.trailing_metadata())["x-request-id"] == "my.id-1"
    (line,) = logged_calls(caplog, 1)
    assert {key: line[key] for key in ("id", "caller", "method", "code")} == {
        "id": "my.id-1",
        "caller": "alice",
        "method": "/mexica_ai.v1.EngineService/BestTurn",
        "code": "OK",
    }
    assert 0 < line["ms"] < 10_000
    assert line["peer"].startswith("unix:")
    assert ALICE not in caplog.text


@pytest.mark.parametrize("given", [None, "", "a" * 65, "a b", "a;b"])
def test_an_id_that_is_none_is_replaced(start_server, given, caplog):
    caplog.set_level(logging.INFO, "mexica_ai")
    stubs = start_server().connect()
    metadata = () if given is None else (("x-request-id", given),)
    _, call = stubs.engine.BestTurn.with_call(request(), timeout=60, metadata=metadata)
    drawn = dict(call.trailing_metadata())["x-request-id"]
    assert re.fullmatch("[0-9a-f]{32}", drawn)
    assert logged_calls(caplog, 1)[0]["id"] == drawn


def test_failures_are_logged_with_their_codes(start_server, tokens_file, caplog):
    caplog.set_level(logging.INFO, "mexica_ai")
    stubs = start_server(tokens_file=str(tokens_file)).connect()
    metadata = with_token(ALICE)
    failure(stubs.engine.BestTurn, request())
    failure(stubs.engine.BestTurn, engine_pb2.BestTurnRequest(), metadata=metadata)
    failure(stubs.channel.unary_unary("/x/Y"), b"", metadata=metadata)
    assert stubs.health.Check(health_pb2.HealthCheckRequest(), timeout=60)  # is not worth a line
    watch = stubs.health.Watch(health_pb2.HealthCheckRequest(), timeout=60)
    next(watch)
    watch.cancel()  # nor is that
    failure(stubs.health.Check, health_pb2.HealthCheckRequest(service="x"))
    assert [(line["code"], line["caller"]) for line in logged_calls(caplog, 4)] == [
        ("UNAUTHENTICATED", ""),
        ("INVALID_ARGUMENT", "alice"),
        ("UNIMPLEMENTED", "alice"),
        ("NOT_FOUND", ""),
    ]


def test_the_id_of_a_refused_call_is_told(start_server, tokens_file):
    stubs = start_server(tokens_file=str(tokens_file)).connect()
    _, _, info = failure(stubs.engine.BestTurn, request(), metadata=(("x-request-id", "bad-1"),))
    assert info.metadata["request_id"] == "bad-1"


def test_broken_and_cancelled_streams_are_logged(start_handlers, caplog):
    caplog.set_level(logging.INFO, "mexica_ai")
    channel = start_handlers(logs.LoggingInterceptor(Metrics(), (), Tracing()), AuthInterceptor(None))
    with pytest.raises(grpc.RpcError):
        call_kind(channel, "unary_stream", b"fail")
    assert logged_calls(caplog, 1)[0]["code"] == "UNKNOWN"
    for kind in ("unary_stream", "stream_stream"):
        # The server is waiting, or has answered more than was read.
        for message in (b"wait", b"flood"):
            caplog.clear()
            method = getattr(channel, kind)(f"/test/{kind}")
            answers = method(message if kind == "unary_stream" else iter([message]), timeout=60)
            next(answers)
            answers.cancel()
            (line,) = logged_calls(caplog, 1)
            assert (line["code"], line["method"]) == ("CANCELLED", f"/test/{kind}")


@pytest.mark.real("time")
def test_a_call_that_is_too_late_is_logged(start_handlers, caplog):
    caplog.set_level(logging.INFO, "mexica_ai")
    channel = start_handlers(logs.LoggingInterceptor(Metrics(), (), Tracing()))
    grpc.channel_ready_future(channel).result(60)
    with pytest.raises(grpc.RpcError):
        list(channel.unary_stream("/test/unary_stream")(b"wait", timeout=0.5))
    assert logged_calls(caplog, 1)[0]["code"] in ("DEADLINE_EXCEEDED", "CANCELLED")


def log_lines(log_format, *log, level="info"):
    """Return what a process with this configuration writes; `log` are functions that log."""
    stream = io.StringIO()
    root, package = logging.getLogger(), logging.getLogger("mexica_ai")
    before = root.handlers[:], root.level, package.level
    try:
        logs.configure(ServerConfig(log_format=log_format, log_level=level), stream)
        for each in log:
            each(logging.getLogger("mexica_ai.server.test"))
    finally:
        root.handlers[:], root.level = before[:2]
        package.setLevel(before[2])
    return stream.getvalue()


NASTY = 'x\n2025-01-01T00:00:00.000Z INFO forged "\x1b[31m\x7f\u2028\u202e\\'


def log_nasty(logger):
    logger.info("got %s", NASTY, extra={"fields": {"caller": NASTY, "n": 1, "empty": ""}})


def log_exception(logger):
    try:
        raise ValueError(NASTY)
    except ValueError:
        logger.exception("failed")


def test_nothing_reaches_the_text_log_unescaped():
    text = log_lines("text", log_nasty)
    assert text.isascii()
    assert text.count("\n") == 1
    assert text.removesuffix("\n").isprintable()
    time_text, level, name, *_ = text.split(" ")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", time_text)
    assert (level, name) == ("INFO", "mexica_ai.server.test:")
    assert r"got x\n2025-01-01T00:00:00.000Z INFO forged" in text
    assert f" caller={json.dumps(NASTY)} n=1\n".replace("\x7f", "\\u007f") in text


def test_a_traceback_cannot_look_like_a_line_of_the_log():
    first, *rest = log_lines("text", log_exception).splitlines()
    assert first.endswith(" failed")
    assert len(rest) > 3
    assert all(line.startswith("  | ") and line.isascii() and line.isprintable() for line in rest)


def test_the_json_log():
    lines = log_lines("json", log_nasty, log_exception).splitlines()
    assert all(line.isascii() and line.isprintable() for line in lines)
    first, second = map(json.loads, lines)
    assert first["message"] == f"got {NASTY}"
    assert (first["level"], first["caller"], first["n"]) == ("info", NASTY, 1)
    assert "empty" not in first
    assert NASTY.splitlines()[0] in second["exception"]


def test_the_level_of_the_log():
    def log_all(logger):
        logger.debug("one")
        logger.info("two")
        logger.warning("three")
        logging.getLogger("other").info("four")
        logging.getLogger("other").warning("five")

    def words(level):
        return re.findall(": ([a-z]+)\n", log_lines("text", log_all, level=level))

    assert words("debug") == ["one", "two", "three", "five"]
    assert words("info") == ["two", "three", "five"]
    assert words("error") == []


# ---- metrics


def scrape(address):
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
        return answer.read().decode()


def sample(text, name):
    found = re.findall(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found[0]) if found else None


@pytest.mark.real("ports")
def test_metrics_after_calls(start_server):
    server = start_server(metrics_port=0)
    stubs = server.connect()
    best_turn = "/mexica_ai.v1.EngineService/BestTurn"
    stubs.engine.BestTurn(request(), timeout=60)
    failure(stubs.engine.BestTurn, engine_pb2.BestTurnRequest())
    for number in range(3):
        failure(stubs.channel.unary_unary(f"/x/Y{number}"), b"")
    address = server.metrics.address
    assert address.startswith("127.0.0.1:")
    end = time.monotonic() + 60
    while True:
        text = scrape(address)
        if sample(text, 'mexica_ai_calls_total{code="UNIMPLEMENTED",method="other"}') == 3:
            break
        assert time.monotonic() < end
    for code in ("OK", "INVALID_ARGUMENT"):
        assert sample(text, f'mexica_ai_calls_total{{code="{code}",method="{best_turn}"}}') == 1
    assert sample(text, f'mexica_ai_call_seconds_count{{method="{best_turn}"}}') == 2
    assert "/x/Y" not in text


@pytest.mark.real("ports")
def test_the_metrics_of_searches():
    metrics = PrometheusMetrics("127.0.0.1", 0)
    metrics.start()
    try:
        metrics.search_started()
        metrics.search_started()
        metrics.queue_wait(0.3)
        metrics.search_ended(120, 0.02)
        metrics.rejected("TOO_MANY_WAITING")
        metrics.cancelled()
        text = scrape(metrics.address)
        address = metrics.address
    finally:
        metrics.close()
    expected = {
        "searches_in_flight": 1,
        "queue_wait_seconds_sum": 0.3,
        "deadline_margin_seconds_count": 1,
        'deadline_margin_seconds_bucket{le="0.02"}': 1,
        'deadline_margin_seconds_bucket{le="0.01"}': 0,
        'deadline_margin_seconds_bucket{le="0.075"}': 1,
        "iterations_total": 120,
        'rejections_total{reason="TOO_MANY_WAITING"}': 1,
        "cancellations_total": 1,
    }
    assert {name: sample(text, f"mexica_ai_{name}") for name in expected} == expected
    with pytest.raises(OSError, match="refused"):
        scrape(address)


@pytest.mark.real("time", "ports")
def test_calls_move_the_metrics_of_searches(start_server):
    server = start_server(metrics_port=0, max_waiting=1)
    engine = server.connect().engine

    def measured(name):
        return sample(scrape(server.metrics.address), f"mexica_ai_{name}")

    assert measured("searches_in_flight") == measured("iterations_total") == 0
    iterations = engine.BestTurn(request(), timeout=9).result.iterations
    await_that(lambda: measured("searches_in_flight") == 0 and measured("searches_total") == 1)
    await_that(lambda: measured("deadline_margin_seconds_count") == 1)
    assert measured("iterations_total") == iterations > 0
    assert measured("queue_wait_seconds_count") == 1
    assert measured("deadline_margin_seconds_count") == 1
    for limit, count in (("0.0", 0), ("10.0", 1)):  # the answer came before its deadline of 9 s
        assert measured(f'deadline_margin_seconds_bucket{{le="{limit}"}}') == count

    position = wire.position_to_message(ai.load(EXAMPLES / "mexica_midgame.json"))
    analysis = engine.Analyze(engine_pb2.AnalyzeRequest(position=position, unlimited=True, interval_s=0.05))
    assert not next(analysis).is_final
    await_that(lambda: measured("searches_in_flight") == 1)
    waiting = engine.BestTurn.future(request())
    await_waiting(server, 1)
    assert failure(engine.BestTurn, request())[2].reason == "TOO_MANY_WAITING"
    await_that(lambda: measured('rejections_total{reason="TOO_MANY_WAITING"}') == 1)
    time.sleep(0.02)
    assert measured("cancellations_total") == 0
    analysis.cancel()
    assert waiting.result(60).result.turn
    # A call counts as cancelled when its handler learns of it, perhaps after the end of its search.
    await_that(lambda: measured("searches_total") == 3 and measured("cancellations_total") == 1)
    await_that(lambda: measured("searches_in_flight") == 0)
    assert measured("queue_wait_seconds_count") == 3
    assert measured("queue_wait_seconds_sum") >= 0.02
    assert measured("deadline_margin_seconds_count") == 1  # the other searches had no deadline
    assert measured("iterations_total") > iterations


def test_labels_are_bounded():
    metrics = PrometheusMetrics("127.0.0.1", 0)
    for number in range(3 * MAX_LABELS):
        metrics.call(f"/x/Y{number}", "OK", 0.1)
        metrics.rejected(f"R{number}")
    names = {
        label
        for family in metrics.registry.collect()
        for each in family.samples
        for label in (each.labels.get("method"), each.labels.get("reason"))
        if label
    }
    assert len(names) == 2 * MAX_LABELS + 1
    assert "other" in names
    assert len(METHODS) < MAX_LABELS


@pytest.mark.real("ports")
def test_a_metrics_port_that_is_taken(start_server):
    port = int(start_server(metrics_port=0).metrics.address.rpartition(":")[2])
    with pytest.raises(OSError, match=f"^cannot listen on 127.0.0.1:{port} for metrics: Address already in use$"):
        start_server(metrics_port=port)


# ---- the whole process


@pytest.mark.real("processes")
@pytest.mark.slow
def test_a_process_with_everything(certificates, tokens_file, tmp_path):
    (tmp_path / "server.toml").write_text(
        f'tls_certificate = "{certificates}/server.pem"\n'
        f'tls_key = "{certificates}/server.key"\n'
        'tokens_file = "tokens"\nport = 0\nlog_format = "json"\n'
    )
    environ = {name: value for name, value in os.environ.items() if name != "GRPC_VERBOSITY"}
    environ |= {"MEXICA_AI_CONFIG": str(tmp_path / "server.toml"), "MEXICA_AI_METRICS_PORT": "0"}
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "mexica_ai", "serve", "--slots", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ,
    ) as process:
        try:
            address = process.stdout.readline().split()[2]
            with grpc.secure_channel(address, credentials_of(certificates)) as channel:
                stub = engine_pb2_grpc.EngineServiceStub(channel)
                assert stub.BestTurn(request(), timeout=60, metadata=with_token(BOB)).result.turn
            # Connections without TLS leave no line in the log.
            host, _, port = address.rpartition(":")
            with socket.create_connection((host, int(port)), timeout=5) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
                while connection.recv(1024):
                    pass
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out) == (0, "")
    lines = [json.loads(line) for line in err.splitlines()]
    assert [line["message"] for line in lines] == ["listening", "call", "draining"]
    assert (lines[0]["address"], lines[0]["tls"], lines[0]["tokens"]) == (address, True, True)
    assert (lines[1]["caller"], lines[1]["code"]) == ("bob", "OK")
    assert scrape_fails(lines[0]["metrics"])


def scrape_fails(address):
    with pytest.raises(OSError, match="refused"):
        scrape(address)
    return True
