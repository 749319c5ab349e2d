"""The example clients for Node.js against real servers; they need `npm install` in their folder."""

import contextlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from certificates import make_certificate
from servers import RunningServer, unavailable_at_first

import mexica_ai as ai
from mexica_ai.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDER = EXAMPLES / "clients" / "node"
TOKEN = "node-0123456789-abc"

pytestmark = [
    pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js"),
    pytest.mark.skipif(
        not (FOLDER / "node_modules" / "@grpc" / "grpc-js").exists(), reason=f"needs npm install in {FOLDER}"
    ),
    pytest.mark.real("processes", "ports"),
]


@contextlib.contextmanager
def serving(*options):
    """Run a server process; yield its address."""
    command = [sys.executable, "-P", "-m", "mexica_ai", "serve", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd="/") as server:
        try:
            yield server.stdout.readline().removeprefix("listening on ").strip()
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def server():
    with serving("--slots", "1") as address:
        yield address


def node(script, *args):
    return subprocess.run(["node", FOLDER / script, *map(str, args)], capture_output=True, text=True, timeout=60)


def turn_of(line):
    return line.partition("  (value ")[0]


@pytest.mark.parametrize("name", ["nim.json", "mexica_midgame.json", "tzolkin_midgame.json"])
def test_the_best_turn(server, name):
    done = node("best_turn.mjs", EXAMPLES / name, "--time", "0.2", "--candidates", "3", "--host", server)
    assert done.returncode == 0, done.stderr
    best, figures, *candidates = done.stdout.splitlines()
    ai.load(EXAMPLES / name).push(turn_of(best))
    assert "STOP_REASON_" in figures
    assert 1 <= len(candidates) <= 3
    assert candidates[0].endswith(best)


def test_the_next_position_is_a_saved_position(server, tmp_path, capsys):
    """Also where proto-loader adds keys to it, and where the message leaves out what is null."""
    file = tmp_path / "next.json"
    for name in ("nim", "mexica_opening_4p", "mexica_midgame", "coatl_midgame", "tzolkin_midgame"):
        start = EXAMPLES / f"{name}.json"
        done = node("best_turn.mjs", start, "--time", "0.2", "--next", file, "--host", server)
        assert done.returncode == 0, done.stderr
        assert main(["show", str(file)]) == 0
        assert capsys.readouterr().out
        expected = ai.load(start)
        expected.push(turn_of(done.stdout.splitlines()[0]))
        if expected.to_move is not None:  # no random event came after the turn
            assert ai.load(file) == expected


def test_a_host_of_a_game_keeps_the_full_position(server, tmp_path):
    """Of a game from its deal on, with hidden hands and random events."""
    file = tmp_path / "position.json"
    for game in ("mexica", "coatl", "tzolkin"):
        file.write_text(json.dumps(ai.new_game(game, players=2, seed=5).to_json()))
        for _ in range(3):
            done = node("best_turn.mjs", file, "--time", "0.05", "--next", file, "--host", server)
            assert done.returncode == 0, done.stderr
            assert ai.load(file).game == game


def test_the_published_service_config_retries(tmp_path):
    (tmp_path / "none.json").write_text("{}")
    with unavailable_at_first(3, ["take 1 1"]) as (address, requests):
        ask = ["best_turn.mjs", EXAMPLES / "nim.json", "--host", address]
        assert node(*ask, "--service-config", tmp_path / "none.json").returncode == 1
        assert len(requests) == 1
        done = node(*ask)
    assert done.returncode == 0, done.stderr
    assert len(requests) == 4


def test_numbers_that_are_0():
    def late_search(position, limits, *, seed, **_):
        best = ai.Candidate(position.legal_actions()[:1], 0, [0.5, 0.5], [0.0, 0.0], 0.0, [])
        return ai.Result([best], 0, 0, 0, 0.0, "time", seed, 1)

    server = RunningServer(late_search, port=0)
    done = node("best_turn.mjs", EXAMPLES / "nim.json", "--host", server.address)
    server.close()
    assert done.returncode == 0, done.stderr
    _, figures, candidate = done.stdout.splitlines()
    assert figures == "0 iterations in 0.00 s, STOP_REASON_TIME"
    assert candidate.startswith("       0 visits  ")


def test_an_analysis_is_cancelled_and_its_slot_is_free_again(server):
    file = EXAMPLES / "mexica_midgame.json"
    done = node("analyze.mjs", file, "--seconds", "0.8", "--interval", "0.1", "--host", server)
    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()
    assert last == "cancelled"
    assert len(lines) >= 2
    iterations = [int(line.split()[2]) for line in lines]
    assert iterations == sorted(iterations)
    assert node("best_turn.mjs", file, "--time", "0.1", "--host", server).returncode == 0


def test_the_errors_of_the_server_are_shown(server, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(ai.new_game("nim").to_json() | {"players": 9}))
    for script in ("best_turn.mjs", "analyze.mjs"):
        done = node(script, broken, "--host", server)
        assert done.returncode == 1
        assert "INVALID_ARGUMENT" in done.stderr
        assert "players" in done.stderr


def test_a_server_that_is_not_there():
    done = node("best_turn.mjs", EXAMPLES / "nim.json", "--host", "127.0.0.1:9")
    assert done.returncode == 1
    assert "UNAVAILABLE" in done.stderr


@pytest.mark.parametrize("args", [[], ["--time", "0"], ["--candidates", "1.5"], ["--nothing", "1"]])
def test_wrong_arguments(args):
    done = node("best_turn.mjs", *([EXAMPLES / "nim.json", *args] if args else args))
    assert done.returncode == 2
    assert "expected" in done.stderr or "usage" in done.stderr


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl for a certificate")
def test_encryption_and_a_token(tmp_path):
    certificate, key, tokens = tmp_path / "server.pem", tmp_path / "server.key", tmp_path / "tokens"
    tokens.write_text(f"node {TOKEN}\n")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", key, "-out", certificate, "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    options = ["--tls-certificate", certificate, "--tls-key", key, "--tokens-file", tokens]
    with serving(*map(str, options)) as address:
        ask = ["best_turn.mjs", EXAMPLES / "nim.json", "--time", "0.1", "--host", address]
        done = node(*ask, "--ca", certificate, "--token", TOKEN)
        assert done.returncode == 0, done.stderr
        for more, status in (
            (["--ca", certificate], "UNAUTHENTICATED"),
            (["--ca", certificate, "--token", "somebody-else-0123"], "UNAUTHENTICATED"),
            (["--token", TOKEN], "UNAVAILABLE"),
        ):
            done = node(*ask, *more)
            assert done.returncode == 1
            assert status in done.stderr


def test_the_name_in_the_certificate_of_several_addresses(tmp_path):
    make_certificate(tmp_path, "server")  # of localhost and 127.0.0.1
    tls = {"tls_certificate": str(tmp_path / "server.pem"), "tls_key": str(tmp_path / "server.key")}
    (tmp_path / "tokens").write_text(f"node {TOKEN}\n")
    servers = [
        RunningServer(None, port=0, host=host, tokens_file=str(tmp_path / "tokens"), **tls)
        for host in ("127.0.0.1", "127.0.0.2")
    ]
    target = "ipv4:" + ",".join(server.address for server in servers)
    ask = ["best_turn.mjs", EXAMPLES / "nim.json", "--time", "0.1", "--host", target, "--token", TOKEN]
    ask += ["--ca", tmp_path / "server.pem"]
    named, misnamed = (node(*ask, "--authority", name) for name in ("localhost", "other.example.org"))
    for server in servers:
        server.close()
    assert named.returncode == 0, named.stderr
    assert "UNAVAILABLE" in misnamed.stderr
