"""The process of the page: addresses, TLS, proxies, the browser that it opens, caps, and what it says of mistakes."""

import contextlib
import os
import resource
import shutil
import socket
import ssl
import stat
import sys
import time
from pathlib import Path

import httpx
import pytest
from certificates import make_certificate
from pages import PERSON, PageHere, engine

from mexica_ai.cli.main import main


def test_a_folder_and_a_port_are_for_one_process(start, tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(sys, "setswitchinterval", lambda seconds: None)  # that of the tests stays
    page = start()
    assert main(["web", "--no-open", "--port", "0", "--games", str(page.folder)]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert f"another `mexica-ai web` uses {page.folder}" in err
    assert main(["web", "--no-open", "--port", str(page.port), "--games", str(tmp_path / "other")]) == 1
    assert capfd.readouterr() == (
        "",
        f"mexica-ai: error: cannot listen on 127.0.0.1:{page.port}: Address already in use\n",
    )


@pytest.mark.real("processes")
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--host", "0.0.0.0"], "--insecure"),
        (["--host", "192.0.2.1"], "--tls-certificate"),
        (["--tls-key", "key.pem"], "--tls-certificate"),
        (["--tls-certificate", "no.pem", "--tls-key", "no.pem"], "cannot read no.pem"),
        (["--engine", "a=nonsense"], "nonsense"),
        (["--engine", "a=mcts", "--engine", "a=mcts"], "twice"),
        (["--origin", "play.example.org"], "https://play.example.org"),
        (["--origin", "https://play.example.org/page"], "a scheme and a host"),
        (["--origin", "https://play.example.org:65536"], "a scheme and a host"),
        (["--port", "65536"], "65535"),
        (["--server", "127.0.0.1:65536"], "is not HOST:PORT with a port from 1 to 65535"),
    ],
)
def test_mistakes_are_bad_input(args, said, capfd):
    assert main(["web", "--no-open", *args]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert captured.err.count("\n") == 1


def test_tls(start, tmp_path):
    make_certificate(tmp_path, "server", make_certificate(tmp_path, "authority"))
    files = ("--tls-certificate", tmp_path / "server.pem", "--tls-key", tmp_path / "server.key")
    page = start(*files, client=False)
    assert page.url.startswith("https://127.0.0.1:")
    trust = ssl.create_default_context(cafile=tmp_path / "authority.pem")
    with httpx.Client(base_url=page.base, verify=trust) as client:
        answer = client.get(page.url)
        assert "Secure" in answer.headers["set-cookie"]
        assert client.get("/api/info").status_code == 200
        own = {"Origin": page.base}
        assert client.post("/api/games", json={"game": "nim"}, headers=own).status_code == 201
        plain = {"Origin": page.base.replace("https", "http")}
        assert client.post("/api/games", json={"game": "nim"}, headers=plain).status_code == 403


def test_a_proxy_in_front(start):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    page = start("--port", port, "--origin", "https://play.example.org", client=False)
    assert page.url.startswith("https://play.example.org/?token=")
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Host": "play.example.org"}) as client:
        answer = client.get("/", params={"token": page.token})
        assert answer.status_code == 303
        cookie = answer.headers["set-cookie"]
        assert "Secure" in cookie
        headers = {"Cookie": cookie.partition(";")[0], "Origin": "https://play.example.org"}
        assert client.post("/api/games", json={"game": "nim"}, headers=headers).status_code == 201
        headers["Origin"] = "https://evil.example.org"
        assert client.post("/api/games", json={"game": "nim"}, headers=headers).status_code == 403


@pytest.mark.real("processes")
def test_a_proxy_of_the_shell_is_not_for_the_service_of_the_page(start):
    """The calls carry a token, and no engine would ever move if the proxy did not answer."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.setblocking(False)
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        page = start(environment=dict.fromkeys(("grpc_proxy", "https_proxy", "http_proxy"), address))
        game = page.new(seats=[engine(seconds=0.05), PERSON])
        page.await_game(game, lambda now: now["num_turns"] == 1)
        with pytest.raises(BlockingIOError):
            proxy.accept()


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_ipv6(start):
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("needs the address ::1")
    page = start("--host", "::1")
    assert page.url.startswith("http://[::1]:")
    page.call("GET", "/api/info")


def test_the_browser_is_opened_by_a_private_file(start, tmp_path):
    """The token is in no argument: those of all processes are for everybody to read."""
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}.part\nmv {seen}.part {seen}\n')
    browser.chmod(0o700)
    page = start(environment={"BROWSER": f"{browser} %s", "DISPLAY": ""}, opens=True)
    end = time.monotonic() + 30
    while not seen.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    address = seen.read_text().strip()
    assert page.token not in address
    assert address.startswith("file://")
    path = address.removeprefix("file://")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    assert page.token in Path(path).read_text()
    assert page.end() == 0
    assert not os.path.exists(path)


@pytest.mark.real("processes")
def test_connections_without_a_request_do_not_hold_up_the_page(start):
    """Also where the process may have few files; what strangers send is not in the log, and does not delay the end."""
    page = start()
    resource.prlimit(page.pid, resource.RLIMIT_NOFILE, (256, 256))
    address = ("127.0.0.1", page.port)
    cookie = "; ".join(f"{name}={value}" for name, value in page.client.cookies.items())
    head = f"POST /api/games HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nCookie: {cookie}\r\n"
    body = f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    with contextlib.ExitStack() as stack:
        for data in [b"", b"nonsense\r\n\r\n", head.encode(), body.encode()] * 100:
            stack.enter_context(socket.create_connection(address, timeout=10)).sendall(data)
        with page.new_client(cookies=page.client.cookies) as client:
            assert client.get("/api/info").status_code == 200
        assert page.end() == 0
    assert page.log.read_text() == ""


def test_there_are_only_so_many_games(tmp_path):
    with PageHere(tmp_path) as page:
        first = page.new(seats=[PERSON, PERSON])
    file = tmp_path / f"{first['id']}.jsonl"
    for number in range(99):
        shutil.copy(file, tmp_path / f"{number:032x}.jsonl")
    with PageHere(tmp_path) as page:
        refused = page.call("POST", "/api/games", {"game": "nim"}, 429)
        assert refused["reason"] == "TOO_MANY_GAMES"
        assert len(page.call("GET", "/api/games")["games"]) == 100
        page.call("DELETE", f"/api/games/{first['id']}", status=204)
        assert not file.exists()
        page.call("GET", f"/api/games/{first['id']}", status=404)
        last = page.new(seats=[PERSON, engine()])
        listed = page.call("GET", "/api/games")["games"]
        assert len(listed) == 100
        assert listed[0]["id"] == last["id"]


def test_a_game_whose_file_is_damaged_does_not_hide_the_others(tmp_path):
    with PageHere(tmp_path) as page:
        good, bad = page.new(), page.new()
    with (tmp_path / f"{bad['id']}.jsonl").open("a") as file:
        file.write('{"turn": ["take 9 9"]}\n')
    (tmp_path / "notes.txt").write_text("mine")
    with PageHere(tmp_path) as page:
        listed = {game["id"]: game for game in page.call("GET", "/api/games")["games"]}
        assert listed.keys() == {good["id"], bad["id"]}
        assert "error" in listed[bad["id"]]
        refused = page.call("GET", f"/api/games/{bad['id']}", status=422)
        assert refused["reason"] == "BAD_JOURNAL"
    assert (tmp_path / "notes.txt").read_text() == "mine"
