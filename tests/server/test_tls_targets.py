"""TLS to servers of several addresses, and what a client says if it and the server do not fit together."""

import argparse
import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys

import pytest
from certificates import make_certificate
from servers import RunningServer

import mexica_ai as ai
from mexica_ai.arena.config import read_config
from mexica_ai.cli.main import main
from mexica_ai.engines import make_engine
from mexica_ai.rpc import advice, targets
from mexica_ai.rpc.client import AsyncClient, Client

ports = pytest.mark.real("ports")

TOKEN = "a-token-of-some-length"
WANTS_TLS = r"the server wants TLS; expected root_certificates=FILE or True \(--tls-ca FILE, or --tls\)$"
IS_PLAIN = "the server does not speak TLS there; expected a client without TLS"
OTHER_NAME = r"the certificate is for other names; expected authority=NAME \(--authority NAME\)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    make_certificate(folder, "server")  # of localhost and 127.0.0.1
    (folder / "tokens").write_text(f"test {TOKEN}\n")
    (folder / "token").write_text(f"{TOKEN}\n")
    return folder


@pytest.fixture(scope="module")
def ca(folder):
    return str(folder / "server.pem")


@pytest.fixture(scope="module")
def replicas(folder, ca):
    """Two servers with one certificate, on two addresses; the target of both."""
    tls = {"tls_certificate": ca, "tls_key": str(folder / "server.key"), "tokens_file": str(folder / "tokens")}
    with contextlib.ExitStack() as stack:
        servers = []
        for host in ("127.0.0.1", "127.0.0.2"):
            servers.append(RunningServer(None, port=0, host=host, **tls))
            stack.callback(servers[-1].close)
        yield "ipv4:" + ",".join(server.address for server in servers)


@pytest.fixture(scope="module")
def plain():
    server = RunningServer(None, port=0)
    yield server.address
    server.close()


def refused(target, **options):
    """Return what both clients say of a call that fails; it must be the same."""
    with Client(target, **options) as client, pytest.raises(ai.SearchError) as caught:
        client.list_games(timeout_s=20)
    assert caught.value.reason == "UNAVAILABLE"

    async def ask():
        async with AsyncClient(target, **options) as client:
            await client.list_games(timeout_s=20)

    with pytest.raises(ai.SearchError) as again:
        asyncio.run(ask())
    what_to_do, same = (re.findall("; (the .*)", str(error.value)) for error in (caught, again))
    assert what_to_do == same
    return str(caught.value)


# ---- several addresses


@ports
def test_a_name_for_several_addresses(replicas, ca):
    with Client(replicas, token=TOKEN, root_certificates=ca, authority="localhost") as client:
        for _ in range(4):  # at both in turn
            assert client.list_games()

    async def ask():
        async with AsyncClient(replicas, token=TOKEN, root_certificates=ca, authority="localhost") as client:
            return await client.list_games()

    assert asyncio.run(ask())


@ports
def test_without_a_right_name_the_error_says_what_to_do(replicas, ca):
    for authority in (None, "other.example.org"):
        client = Client(replicas, token=TOKEN, root_certificates=ca, authority=authority)
        with client, pytest.raises(ai.SearchError, match=OTHER_NAME) as caught:
            client.list_games()
        assert caught.value.reason == "UNAVAILABLE"


@ports
def test_a_host_that_all_addresses_share_is_the_name(replicas, ca):
    first = replicas.removeprefix("ipv4:").split(",")[0]
    with Client(f"ipv4:{first},{first}", token=TOKEN, root_certificates=ca) as client:
        assert client.list_games()


@pytest.mark.parametrize(
    ("target", "authority"),
    [
        ("ipv4:10.0.0.1:50051,10.0.0.1:50052", "10.0.0.1"),
        ("ipv6:[fd00::1]:50051,[fd00::1]:50052", "[fd00::1]"),
        ("ipv4:10.0.0.1:50051,10.0.0.2:50051", None),
        ("10.0.0.1:50051", None),
        ("dns:///engine.example.org:50051", None),
        ("unix:/run/engine", None),
    ],
)
def test_the_host_that_addresses_share(target, authority):
    assert targets.authority_of(target) == authority


@pytest.mark.parametrize("authority", ["", "two names", "a/b", "a\n"])
def test_what_is_no_name(authority):
    with pytest.raises(
        ai.SearchError, match=r"authority: given .*expected a name of the server's certificate"
    ) as caught:
        Client("127.0.0.1:1", root_certificates=True, authority=authority)
    assert (caught.value.reason, caught.value.path) == ("INVALID_CONFIG", "authority")


@pytest.mark.parametrize(
    ("roots", "certificate", "key", "path"),
    [
        ("token", None, None, "root_certificates"),
        ("server.key", None, None, "root_certificates"),
        ("server.pem", "server.pem", None, "certificate"),
        ("server.pem", None, "server.key", "key"),
        ("server.pem", "server.pem", "other.key", "key"),
        ("server.pem", "server.key", "server.pem", "key"),
        (None, "server.pem", "server.key", "certificate"),
    ],
)
def test_files_of_a_client_that_cannot_be_used(folder, capfd, roots, certificate, key, path):
    make_certificate(folder, "other")
    given = {"root_certificates": roots, "certificate": certificate, "key": key}
    files = {name: None if file is None else folder / file for name, file in given.items()}
    for make in (Client, AsyncClient):
        with pytest.raises(ai.SearchError, match=f"^{path}: given ") as caught:
            make("127.0.0.1:1", **files)
        assert (caught.value.reason, caught.value.path) == ("INVALID_CONFIG", path)
    flags = zip(("--tls-ca", "--tls-certificate", "--tls-key"), files.values(), strict=True)
    given = [text for flag, file in flags if file for text in (flag, str(file))]
    assert main(["client", "games", "--server", "127.0.0.1:1", *given]) == 2
    assert capfd.readouterr().err.startswith(f"mexica-ai: error: {path}: ")


def test_files_of_a_client_may_be_pipes(folder):
    pair = {name: (folder / f"server.{end}").read_bytes() for name, end in (("certificate", "pem"), ("key", "key"))}
    with contextlib.ExitStack() as stack:
        paths = {}
        for name, content in pair.items():
            reader, writer = os.pipe()
            stack.callback(os.close, reader)
            os.write(writer, content)
            os.close(writer)
            paths[name] = f"/dev/fd/{reader}"
        Client("127.0.0.1:1", root_certificates=folder / "server.pem", **paths).close()


@ports
def test_the_command(replicas, ca, folder, capfd):
    ask = ["client", "games", "--server", replicas, "--tls-ca", ca, "--token-file", str(folder / "token")]
    assert main([*ask, "--authority", "localhost"]) == 0
    assert "mexica" in capfd.readouterr().out
    assert main(ask) == 1
    assert "(--authority NAME)" in capfd.readouterr().err


@ports
def test_an_engine_also_of_the_arenas_configuration(replicas, ca, folder, tmp_path):
    nim = ai.new_game("nim")
    keys = f"tls_ca={ca},token_file={folder / 'token'},iterations=100"
    (tmp_path / "arena.toml").write_text(
        f"[[engine]]\nspec = 'grpc:\"{replicas}\"'\ntls_ca = '{ca}'\n"
        f"token_file = '{folder / 'token'}'\nauthority = 'localhost'\niterations = 100\n"
    )
    (configured,) = read_config(str(tmp_path / "arena.toml"), {"engine": argparse.Action([], "engine")})["engine"]
    for spec in (f'grpc:"{replicas}",{keys},authority=localhost', configured):
        with make_engine(spec) as engine:
            assert engine.best_turn(nim).turn
    with make_engine(f'grpc:"{replicas}",{keys}') as engine, pytest.raises(ai.SearchError, match=OTHER_NAME):
        engine.best_turn(nim)


# ---- TLS on one side only


@ports
def test_a_client_without_tls_that_meets_a_server_with_tls(replicas):
    address = replicas.removeprefix("ipv4:").split(",")[0]
    port = address.rpartition(":")[2]
    for target in (address, f"localhost:{port}", replicas):
        with Client(target, token=TOKEN) as client, pytest.raises(ai.SearchError, match=WANTS_TLS):
            client.list_games(timeout_s=20)
    refused(address)


@ports
def test_a_client_with_tls_that_meets_a_server_without(plain, ca):
    port = plain.rpartition(":")[2]
    for target in (plain, f"localhost:{port}"):
        assert IS_PLAIN in refused(target, root_certificates=ca)


@ports
def test_a_client_without_the_certificate_that_a_server_wants(folder, ca):
    files = {"tls_certificate": ca, "tls_key": str(folder / "server.key"), "tls_client_ca": ca}
    server = RunningServer(None, port=0, **files)
    assert "without a client's certificate, as it seems; expected certificate=FILE" in refused(
        server.address, root_certificates=ca
    )
    pair = {"certificate": ca, "key": folder / "server.key"}
    with Client(server.address, root_certificates=ca, **pair) as client:
        assert client.list_games(timeout_s=20)
    server.close()
    make_certificate(folder, "stranger")
    server = RunningServer(None, port=0, **files)
    strange = {"certificate": folder / "stranger.pem", "key": folder / "stranger.key"}
    assert "as it seems" not in refused(server.address, root_certificates=ca, **strange)
    server.close()


@ports
def test_an_authority_that_is_not_trusted(replicas, tmp_path):
    make_certificate(tmp_path, "other")
    said = refused(replicas, root_certificates=str(tmp_path / "other.pem"), authority="localhost")
    assert "signed by none of the authorities that this client trusts" in said


def test_many_calls_that_fail_ask_once(monkeypatch):
    asked = []
    monkeypatch.setattr(advice, "_ask", lambda places: asked.append(places) or {True})
    advisor = advice.Advisor("dns:///engine.example.org:443", has_tls=False, is_direct=True)
    for _ in range(3):
        assert "wants TLS" in advisor.on_failure("connections to all backends failing; last error: ...")
    assert asked == [[("engine.example.org", 443)]]
    assert advisor.on_failure("the server shuts down") == ""


@ports
def test_who_is_not_asked_and_who_does_not_answer(replicas):
    address = replicas.removeprefix("ipv4:").split(",")[0]
    for target, message, is_direct, is_known in (
        (address, "failing: Socket closed", True, True),
        (address, "failing: Socket closed", False, False),  # by a proxy
        ("localhost:1", "failing: Connection refused", True, False),
    ):
        advisor = advice.Advisor(target, has_tls=False, is_direct=is_direct)
        assert bool(advisor.on_failure(message)) == is_known
    assert refused("localhost:1").endswith("Connection refused")


@pytest.mark.real("ports", "processes")
def test_the_lines_of_grpc_do_not_stand_before_our_message(plain, ca, monkeypatch):
    monkeypatch.delenv("GRPC_VERBOSITY", raising=False)
    for args in (
        ["client", "games", "--server", plain, "--tls-ca", ca],
        ["best", "-", "--engine", f"grpc:{plain},tls_ca={ca},iterations=1"],
        ["serve", "--port", plain.rpartition(":")[2]],
    ):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "mexica_ai", *args],
            input=json.dumps(ai.new_game("nim").to_json()),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 1
        assert done.stderr.startswith("mexica-ai: error: ")
        assert len(done.stderr.splitlines()) == 1
