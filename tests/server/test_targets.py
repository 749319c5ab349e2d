"""The targets of clients: what never leaves the machine uses no proxy, and an error names the proxy that is used."""

import asyncio
import os
import socket
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from servers import RunningServer

import mexica_ai as ai
from mexica_ai.cli.main import main
from mexica_ai.engines import make_engine
from mexica_ai.rpc import targets
from mexica_ai.rpc.client import AsyncClient, Client
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

PROXY = {"http_proxy": "http://10.9.9.9:3128"}
LOCAL = (
    "127.0.0.1:5", "127.8.9.10:5", "127.1:5", "0x7f.1:5", "2130706433:5", "[::1]:5", "::1", "[::ffff:127.0.0.1]:5",
    "0.0.0.0:5", "[::]:5", "localhost:5", "localhost", "LocalHost.:5", "engine.localhost:5", "ip6-localhost:5",
    "dns:localhost:5", "dns:///localhost:5", "dns:///127.0.0.1:5", "dns://8.8.8.8/[::1]:5", "ipv4:127.0.0.1:5",
    "ipv4:127.0.0.1:5,127.0.0.2:6", "ipv4:10.0.0.1:5,127.0.0.1:6", "ipv6:[::1]:5", "ipv6:%5B::1%5D:5",
    "unix:socket", "unix:///tmp/socket", "unix-abstract:socket",
)  # fmt: skip
DISTANT = (
    "10.0.0.1:5", "engine.example.org:5", "dns:///engine.example.org:5", "ipv4:10.0.0.1:5,10.0.0.2:5",
    "ipv6:[2001:db8::1]:5", "127.0.0.1.example.org:5", "localhost.example.org:5", "notlocalhost:5",
)  # fmt: skip


@pytest.mark.parametrize("target", LOCAL)
def test_what_never_leaves_the_machine_uses_no_proxy(target):
    assert targets.proxy_of(target, PROXY) is None


@pytest.mark.parametrize("target", DISTANT)
def test_a_server_elsewhere_is_behind_the_proxy(target):
    assert targets.proxy_of(target, PROXY) == ("10.9.9.9:3128", "http_proxy")


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({}, None),
        ({"HTTP_PROXY": "http://a:1"}, None),
        ({"http_proxy": "http://a:1", "https_proxy": "http://b:2"}, ("b:2", "https_proxy")),
        ({"https_proxy": "http://b:2", "grpc_proxy": "http://c:3"}, ("c:3", "grpc_proxy")),
        ({"http_proxy": "http://a:1", "grpc_proxy": ""}, None),
        ({"http_proxy": "http://someone:secret@a:1"}, ("a:1", "http_proxy")),
        ({"http_proxy": "socks5://a:1"}, None),
        ({"http_proxy": "a:1"}, None),
        ({"http_proxy": "http://[a:1"}, None),
        ({"http_proxy": "http://a:1", "no_proxy": "localhost, example.org"}, None),
        ({"http_proxy": "http://a:1", "no_proxy": "*"}, None),
        ({"http_proxy": "http://a:1", "no_proxy": "example.org", "no_grpc_proxy": "b.org"}, ("a:1", "http_proxy")),
    ],
)
def test_the_variables_are_those_of_grpc(environment, proxy):
    assert targets.proxy_of("engine.example.org:5", environment) == proxy


def test_no_proxy_may_name_networks():
    environment = {**PROXY, "no_proxy": "10.0.0.0/8,fd00::/8"}
    assert targets.proxy_of("10.1.2.3:5", environment) is None
    assert targets.proxy_of("[fd00::5]:5", environment) is None
    assert targets.proxy_of("11.1.2.3:5", environment) == ("10.9.9.9:3128", "http_proxy")


# ---- channels


@pytest.fixture
def dead_proxy(monkeypatch):
    """Set a proxy that nobody answers at."""
    for name in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")


@pytest.fixture(scope="module")
def server():
    running = RunningServer(None, port=0)
    yield running
    running.close()


async def games_of(target):
    async with AsyncClient(target) as client:
        return await client.list_games()


@pytest.mark.real("ports")
@pytest.mark.parametrize("form", ["{}", "localhost:{port}", "dns:///{}", "dns:localhost:{port}", "ipv4:{}"])
def test_a_client_reaches_a_server_on_this_machine(server, dead_proxy, form):
    target = form.format(server.address, port=server.address.rpartition(":")[2])
    with Client(target) as client:
        assert client.list_games(timeout_s=20)
    assert asyncio.run(games_of(target))


@pytest.mark.real("ports")
def test_an_address_that_gRPC_is_told_to_reach_by_a_proxy(server, monkeypatch):  # noqa: N802
    monkeypatch.setenv("GRPC_ADDRESS_HTTP_PROXY", "127.0.0.1:9")
    monkeypatch.setenv("GRPC_ADDRESS_HTTP_PROXY_ENABLED_ADDRESSES", "127.0.0.0/8")
    with Client(server.address) as client:
        assert client.list_games(timeout_s=20)


@pytest.mark.real("ports")
@pytest.mark.parametrize("kind", ["unix", "unix-abstract"])
def test_a_client_reaches_a_socket(dead_proxy, tmp_path, kind):
    class Service(engine_pb2_grpc.EngineServiceServicer):
        def ListGames(self, request, context):  # noqa: N802
            return engine_pb2.ListGamesResponse(games=[engine_pb2.ListGamesResponse.GameInfo(name="nim")])

    target = f"unix:{tmp_path}/socket" if kind == "unix" else f"unix-abstract:mexica-ai-{os.getpid()}"
    with ThreadPoolExecutor(1) as pool:
        service = grpc.server(pool)
        engine_pb2_grpc.add_EngineServiceServicer_to_server(Service(), service)
        service.add_insecure_port(target)
        service.start()
        with Client(target) as client:
            assert [game["name"] for game in client.list_games(timeout_s=20)] == ["nim"]
        service.stop(None).wait()


@pytest.mark.real("ports")
def test_an_engine_on_this_machine(server, dead_proxy):
    with make_engine(f"grpc:{server.address},iterations=5") as engine:
        assert engine.best_turn(ai.new_game("nim")).turn


@pytest.mark.real("ports")
def test_an_error_names_the_proxy_that_was_used(monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
    monkeypatch.setenv("http_proxy", f"http://someone:secret@{address}")
    names = rf"^server 192\.0\.2\.1:5 \(by the proxy {address}, from http_proxy\): "
    with Client("192.0.2.1:5") as client, pytest.raises(ai.SearchError, match=names) as caught:
        client.list_games(timeout_s=5)
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("no_proxy", "192.0.2.0/24")
    with Client("192.0.2.1:5") as client, pytest.raises(ai.SearchError, match=r"^server 192\.0\.2\.1:5: "):
        client.list_games(timeout_s=0.1)


# ---- ports


@pytest.mark.parametrize(
    "target",
    [
        "h:65536",
        "h:0",
        "h:-1",
        "h:\N{FULLWIDTH DIGIT FIVE}00",
        "h:" + "9" * 5000,
        "[::1]:70000",
        "dns:///h:70000",
        "ipv4:10.0.0.1:1,10.0.0.2:70000",
    ],
)
def test_ports_that_are_none(target, capsys):
    expected = "HOST:PORT with a port from 1 to 65535"
    for make in (Client, AsyncClient):
        with pytest.raises(ai.SearchError, match=f"^target: given .*; expected {expected}$") as caught:
            make(target)
        assert (caught.value.reason, caught.value.path) == ("INVALID_CONFIG", "target")
    with pytest.raises(ai.NotationError, match=f"is not {expected}$"):
        make_engine(f'grpc:"{target}",time=1')
    assert main(["client", "games", "--server", target]) == 2
    error = capsys.readouterr().err
    assert f"is not {expected}" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("target", ["h:1", "h:65535", "h:https", "h", "::1", "xds:///engine", "unix:a:70000"])
def test_other_targets_are_gRPCs_to_read(target):  # noqa: N802
    assert targets.parse(target) == target


@pytest.mark.parametrize("target", ["localhost:https", "dns:///localhost:grpc", "ipv4:10.0.0.1:5,10.0.0.2:x", "h:5/"])
def test_a_port_that_is_a_name(target):
    with Client(target) as client:
        assert client.target == target
    assert AsyncClient(target).target == target


@pytest.mark.parametrize("target", ["", " "])
def test_an_empty_target(target, capfd):
    with pytest.raises(ai.SearchError, match=r"^target: given .*; expected HOST:PORT$"):
        Client(target)
    assert main(["client", "games", "--server", target]) == 2
    assert capfd.readouterr().err.count("\n") == 1
