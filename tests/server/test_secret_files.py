"""What operators are told of certificates, keys and tokens, and what happens when these change."""

import datetime
import logging
import os
import re
import tomllib
import urllib.request

import grpc
import pytest
from certificates import make_certificate
from servers import IdleSearch, RunningServer, await_that, failure

import mexica_ai as ai
from mexica_ai.cli.main import main
from mexica_ai.rpc import wire
from mexica_ai.server import app, auth, secret_files
from mexica_ai.server.config import ServerConfig
from mexica_ai.v1 import engine_pb2

ALICE, ALICE_NEW, BOB = "alice-0123456789", "alice-new-0123456789", "bob-0123456789-abc"


@pytest.fixture(autouse=True)
def frequent_looks(monkeypatch):
    for module in (app, auth):
        monkeypatch.setattr(module, "RECHECK_S", 0.01)


@pytest.fixture
def tls(tmp_path):
    """Make a certificate that is valid between two days from now; return the fields of a configuration."""

    def make(*days, **more):
        make_certificate(tmp_path, "server", days=days)
        return {
            "tls_certificate": str(tmp_path / "server.pem"),
            "tls_key": str(tmp_path / "server.key"),
            **more,
        }

    return make


@pytest.fixture
def tokens_file(tmp_path):
    path = tmp_path / "tokens"
    write_tokens(path, alice=ALICE, bob=BOB)
    return path


def write_tokens(path, **tokens):
    """Replace a file of tokens, at once."""
    other = path.with_name("new")
    other.write_text("".join(f"{name} {token}\n" for name, token in tokens.items()))
    other.chmod(0o600)
    other.rename(path)


def with_token(token):
    return (("authorization", f"Bearer {token}"),)


@pytest.fixture
def start():
    servers = []

    def start(search=None, **config):
        servers.append(RunningServer(search, **config))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


# ---- concerns


@pytest.mark.parametrize(
    ("days", "problem", "is_fatal"),
    [
        ((-1, 90), None, False),
        ((-76.1, 13.9), "which expires on ", False),
        ((-75, 15), None, False),
        ((-90, -0.001), "which expired on ", True),
        ((1, 90), "which is valid from ", True),
        ((-1, 3), None, False),  # a short life: reported in its last third
        ((-4, 1), "which expires on ", False),
    ],
)
def test_the_time_of_a_certificate(tls, days, problem, is_fatal):
    found = secret_files.concerns(ServerConfig(**tls(*days)))
    if problem is None:
        assert found == []
        return
    ((message, fatal),) = found
    assert re.match(rf'tls_certificate: given "[^"]+"?, {problem}\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ', message)
    assert fatal is is_fatal


def test_the_time_that_counts_may_be_another():
    # The clock of the test is its own, so the certificates need not be made again.
    now = datetime.datetime.now(datetime.UTC)
    assert secret_files.concerns(ServerConfig(), now + datetime.timedelta(days=10_000)) == []


def test_every_certificate_of_a_chain_counts(tls, tmp_path):
    fields = tls(-1, 90)
    make_certificate(tmp_path, "between", days=(-90, -1))
    with open(tmp_path / "server.pem", "ab") as chain:
        chain.write((tmp_path / "between.pem").read_bytes())
    ((message, is_fatal),) = secret_files.concerns(ServerConfig(**fields))
    assert is_fatal
    assert "which expired on" in message


def test_one_authority_is_enough(tls, tmp_path):
    config = ServerConfig(**tls(-1, 90), tls_client_ca=str(tmp_path / "ca.pem"))
    make_certificate(tmp_path, "old", days=(-90, -1))
    make_certificate(tmp_path, "new", days=(-1, 90))
    old, new = ((tmp_path / f"{name}.pem").read_bytes() for name in ("old", "new"))
    (tmp_path / "ca.pem").write_bytes(old + new)
    assert secret_files.concerns(config) == []
    (tmp_path / "ca.pem").write_bytes(old)
    ((message, is_fatal),) = secret_files.concerns(config)
    assert is_fatal
    assert message.startswith("tls_client_ca: given ")


@pytest.mark.parametrize(
    ("mode", "owner", "is_open"),
    [(0o600, 0, False), (0o400, 0, False), (0o640, 0, False), (0o640, 1, True), (0o604, 0, True), (0o660, 0, True),
     (0o644, 0, True), (0o602, 1, True)],
)  # fmt: skip
@pytest.mark.parametrize("field", ["tls_key", "tokens_file"])
def test_secrets_that_others_can_read(tls, tokens_file, monkeypatch, field, mode, owner, is_open):
    config = ServerConfig(**tls(-1, 90), tokens_file=str(tokens_file))
    os.chmod(getattr(config, field), mode)
    real = os.stat
    other = config.tokens_file if field == "tls_key" else config.tls_key

    def stat(path):
        status = list(real(path))
        status[4] = 0 if path == other else owner
        return os.stat_result(status)

    monkeypatch.setattr(secret_files.os, "stat", stat)
    found = secret_files.concerns(config)
    assert bool(found) is is_open
    for message, is_fatal in found:
        assert message.startswith(f"{field}: given ")
        assert f"(mode {mode:04o}); expected mode 0600" in message
        assert not is_fatal


# ---- the command


@pytest.mark.parametrize(
    ("days", "mode", "code", "warnings"),
    [
        ((-1, 90), 0o600, 0, 0),
        ((-80, 10), 0o600, 0, 1),
        ((-80, 10), 0o644, 0, 2),
        ((-90, -1), 0o600, 1, 1),
        ((-90, -1), 0o644, 1, 2),
    ],
)
def test_check_config_tells_and_fails(tls, capsys, days, mode, code, warnings):
    fields = tls(*days)
    os.chmod(fields["tls_key"], mode)
    args = ["--tls-certificate", fields["tls_certificate"], "--tls-key", fields["tls_key"]]
    assert main(["serve", *args, "--check-config"]) == code
    out, err = capsys.readouterr()
    assert tomllib.loads(out)["tls_key"] == fields["tls_key"]
    assert [line.startswith("mexica-ai: warning: tls_") for line in err.splitlines()] == [True] * warnings


# ---- a running server


def test_a_server_warns_at_its_start(tls, start, caplog):
    start(**tls(-90, -1))
    await_that(lambda: "which expired on" in caplog.text)
    assert [record.levelname for record in caplog.records if "expired" in record.getMessage()] == ["WARNING"]


def test_the_warning_comes_again(tls, start, caplog, monkeypatch):
    monkeypatch.setattr(app, "REPORT_S", 0.02)
    start(**tls(-90, -1))
    await_that(lambda: caplog.text.count("which expired on") >= 3)


def sample(server, name):
    with urllib.request.urlopen(f"http://{server.metrics.address}/metrics", timeout=30) as answer:
        found = re.search(rf"^mexica_ai_{re.escape(name)} (\S+)$", answer.read().decode(), re.MULTILINE)
    return float(found[1]) if found else None


@pytest.mark.real("ports")
def test_metrics_of_secrets(tls, start, tmp_path, tokens_file, caplog):
    caplog.set_level(logging.INFO, "mexica_ai")
    fields = tls(-1, 50)
    server = start(**fields, tokens_file=str(tokens_file), metrics_port=0)
    expiry = 'certificate_expiry_timestamp_seconds{setting="tls_certificate"}'
    days = (sample(server, expiry) - datetime.datetime.now().timestamp()) / 86_400
    assert 49.9 < days < 50
    for setting in ("tls_certificate", "tokens_file"):
        assert sample(server, f'secrets_usable{{setting="{setting}"}}') == 1
    # Nobody calls, and still it is noticed.
    assert sample(server, 'secrets_exposed{setting="tls_key"}') == 0
    os.chmod(fields["tls_key"], 0o644)
    await_that(lambda: sample(server, 'secrets_exposed{setting="tls_key"}') == 1)
    assert sample(server, 'secrets_exposed{setting="tokens_file"}') == 0
    tokens_file.unlink()
    await_that(lambda: sample(server, 'secrets_usable{setting="tokens_file"}') == 0)
    assert "the tokens are unchanged: tokens_file: cannot read " in caplog.text
    write_tokens(tokens_file, bob=BOB)
    await_that(lambda: sample(server, 'secrets_usable{setting="tokens_file"}') == 1)
    key = (tmp_path / "server.key").read_bytes()
    make_certificate(tmp_path, "server", days=(-1, 80))
    new_key = (tmp_path / "server.key").read_bytes()
    (tmp_path / "server.key").write_bytes(key)
    await_that(lambda: sample(server, 'secrets_usable{setting="tls_certificate"}') == 0)
    (tmp_path / "server.key").write_bytes(new_key)
    await_that(lambda: sample(server, 'secrets_usable{setting="tls_certificate"}') == 1)
    assert sample(server, expiry) > datetime.datetime.now().timestamp() + 79 * 86_400


@pytest.mark.real("ports")
def test_nothing_is_measured_where_there_are_no_secrets(start):
    server = start(metrics_port=0)
    assert sample(server, 'secrets_usable{setting="tokens_file"}') is None


POSITION = wire.position_to_message(ai.new_game("nim", piles=[3, 2]))


def analyze(server, token):
    """Start an analysis that goes on until it is stopped."""
    position = wire.position_to_message(ai.load("examples/mexica_midgame.json"))
    request = engine_pb2.AnalyzeRequest(position=position, unlimited=True, interval_s=0.05)
    return server.stub.Analyze(request, metadata=with_token(token))


def best_turn(server, token):
    request = engine_pb2.BestTurnRequest(position=POSITION, limits=engine_pb2.Limits(time_s=50))
    return server.stub.BestTurn.future(request, metadata=with_token(token))


def refused_as_revoked(call):
    code, message, info, _ = failure(call)
    assert message.startswith("authorization: the token is no longer valid")
    return (code, info.reason) == (grpc.StatusCode.UNAUTHENTICATED, "REVOKED_TOKEN")


@pytest.mark.parametrize("tokens", [{"bob": BOB}, {"alice": ALICE_NEW, "bob": BOB}], ids=["gone", "replaced"])
def test_the_streams_of_a_revoked_token_end(start, tokens_file, tokens):
    server = start(tokens_file=str(tokens_file), slots=2, max_slots_per_caller=2)
    hers, his = analyze(server, ALICE), analyze(server, BOB)
    assert not next(hers).is_final
    assert not next(his).is_final
    write_tokens(tokens_file, **tokens)
    assert refused_as_revoked(lambda: list(hers))
    # His goes on, and he may have her slot.
    request = engine_pb2.BestTurnRequest(position=POSITION, limits=engine_pb2.Limits(iterations=5))
    assert server.stub.BestTurn.future(request, metadata=with_token(BOB)).result(60).result.turn
    assert not next(his).is_final
    his.cancel()


def test_calls_of_a_revoked_token_that_run_or_wait_end(start, tokens_file):
    search = IdleSearch()
    server = start(search, tokens_file=str(tokens_file), slots=1)
    running = best_turn(server, ALICE)
    search.await_start()
    waiting, his = best_turn(server, ALICE), best_turn(server, BOB)
    await_that(lambda: server._server.scheduler.admission.slots.num_waiting == 2)
    write_tokens(tokens_file, bob=BOB)
    for call in (running, waiting):
        assert refused_as_revoked(call.result)
    search.await_end()
    assert search.stop_reasons == ["stopped"]
    search.await_start()
    assert not his.done()
    his.cancel()


@pytest.mark.real("ports")
def test_a_deleted_file_revokes_nothing(start, tokens_file):
    server = start(tokens_file=str(tokens_file), metrics_port=0)
    stream = analyze(server, ALICE)
    next(stream)
    tokens_file.unlink()
    await_that(lambda: sample(server, 'secrets_usable{setting="tokens_file"}') == 0)
    assert not next(stream).is_final
    stream.cancel()
