"""`mexica-ai serve --check-health`: whether the server of a configuration serves."""

import socket

import pytest
from certificates import make_certificate
from servers import RunningServer

from mexica_ai.cli.main import main
from mexica_ai.server import probe
from mexica_ai.server.config import ServerConfig


@pytest.fixture
def start():
    servers = []

    def start(**config):
        servers.append(RunningServer(None, port=0, **config))
        return servers[-1], ServerConfig(**{**config, "port": int(servers[-1].address.rpartition(":")[2])})

    yield start
    for server in servers:
        server.close()


@pytest.mark.real("ports")
def test_a_server_that_serves_and_then_does_not(start):
    server, config = start()
    assert probe.health(config) == "SERVING"
    server.drain()
    assert probe.health(config).startswith("UNAVAILABLE: ")


@pytest.mark.real("ports")
@pytest.mark.parametrize("authority", [None, "ca"], ids=["signed by itself", "signed by an authority"])
@pytest.mark.parametrize("with_clients", [False, True])
def test_a_server_with_tls_and_tokens(start, tmp_path, authority, with_clients):
    ca = make_certificate(tmp_path, "ca")
    make_certificate(tmp_path, "server", ca if authority else None)
    (tmp_path / "tokens").write_text("alice 0123456789abcdef\n")
    clients = {"tls_client_ca": str(tmp_path / "ca.pem")} if with_clients else {}
    _, config = start(
        tls_certificate=str(tmp_path / "server.pem"),
        tls_key=str(tmp_path / "server.key"),
        tokens_file=str(tmp_path / "tokens"),
        **clients,
    )
    answer = probe.health(config)
    if with_clients and not authority:  # then the server's own pair is none of a client
        assert answer.startswith("UNAVAILABLE: ")
    else:
        assert answer == "SERVING"


@pytest.mark.real("ports")
def test_another_server_on_the_port_is_not_trusted(start, tmp_path):
    for name in ("mine", "other"):
        make_certificate(tmp_path, name)
    _, config = start(tls_certificate=str(tmp_path / "other.pem"), tls_key=str(tmp_path / "other.key"))
    mine = {"tls_certificate": str(tmp_path / "mine.pem"), "tls_key": str(tmp_path / "mine.key")}
    assert probe.health(ServerConfig(**{**config.model_dump(), **mine})).startswith("UNAVAILABLE: ")


@pytest.mark.parametrize(
    ("host", "address"),
    [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("10.0.0.7", "10.0.0.7"), ("localhost", "localhost"), ("", "127.0.0.1")],
)
def test_the_address_that_is_asked(host, address):
    assert probe._reachable(host) == address


@pytest.mark.real("ports")
def test_a_server_that_does_not_answer_in_time():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        config = ServerConfig(port=silent.getsockname()[1])
        assert probe.health(config, timeout_s=0.2).startswith(("DEADLINE_EXCEEDED: ", "UNAVAILABLE: "))


@pytest.mark.real("ports")
def test_the_command(start, capsys):
    server, config = start()
    args = ["serve", "--port", str(config.port), "--check-health"]
    assert main(args) == 0
    assert capsys.readouterr() == ("SERVING\n", "")
    server.drain()
    assert main(args) == 1
    assert capsys.readouterr().out.startswith("UNAVAILABLE: ")
    assert main(["serve", "--port", "0", "--check-health"]) == 2
    assert "port: given 0; expected the port of the running server" in capsys.readouterr().err
