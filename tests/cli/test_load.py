"""`mexica-ai load`: what it measures is what the server did."""

import asyncio
import dataclasses
import json
import os
import signal
import threading
from pathlib import Path

import pytest
from certificates import make_certificate
from servers import IdleSearch, RunningServer

import mexica_ai as ai
from mexica_ai.cli.main import main
from mexica_ai.io.errors import NotationError
from mexica_ai.rpc import load, wire
from mexica_ai.rpc.client import AsyncClient
from mexica_ai.v1 import engine_pb2

EXAMPLES = Path(__file__).parents[2] / "examples"
NIM = ai.new_game("nim", piles=[7, 6, 5])


@pytest.fixture
def serve():
    servers = []

    def start(search=None, **config):
        servers.append(RunningServer(search, **config))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def command(capfd):
    """Run `mexica-ai load`; return its exit code, its output and its errors."""

    def call(server, *args):
        code = main(["load", server.address, *map(str, args)])
        return code, *capfd.readouterr()

    return call


def run(server, stop=None, **plan):
    """Put load on a server by the module."""
    loop = asyncio.new_event_loop()
    try:
        make_client = lambda: AsyncClient(server.address)  # noqa: E731
        return loop.run_until_complete(load.run(make_client, [NIM], load.Plan(**plan), stop or ai.Stop()))
    finally:
        loop.close()


def test_callers_ask_again(serve, command):
    server = serve(slots=2)
    code, out, _ = command(
        server, "--callers", 2, "--games", "nim", "--iterations", 20, "--duration", 2, "--seed", 1, "--json"
    )
    found = json.loads(out)
    assert code == 0
    assert found["answered"] == found["calls"] > 2
    assert found["refusals"] == {}
    assert found["deadlines_missed"] == found["unfinished"] == found["without_search"] == 0
    assert 0 < found["latency_s"]["p50"] <= found["latency_s"]["p95"] <= found["latency_s"]["max"]


def test_over_tls_with_a_certificate_of_another_name(serve, command, tmp_path):
    authority = make_certificate(tmp_path, "authority")
    make_certificate(tmp_path, "server", authority)
    server = serve(tls_certificate=str(tmp_path / "server.pem"), tls_key=str(tmp_path / "server.key"))
    plan = ("--games", "nim", "--iterations", 20, "--duration", 0.2, "--json")
    tls = ("--tls-ca", tmp_path / "authority.pem", "--authority", "localhost")
    code, out, _ = command(server, *plan, *tls)
    found = json.loads(out)
    assert (code, found["refusals"]) == (0, {})
    assert found["answered"] == found["calls"] > 0


def test_the_table(serve, command):
    files = [EXAMPLES / "mexica_midgame.json", EXAMPLES / "coatl_midgame.json"]
    code, out, _ = command(serve(), "--games", *files, "--iterations", 20, "--duration", 0.2)
    assert code == 0
    names = [line[:24].strip() for line in out.splitlines()]
    assert names == [
        "calls",
        "answered",
        "latency, ms",
        "iterations an answer",
        "without an answer",
        "deadlines missed",
        "answers without a search",
    ]
    assert max(map(len, out.splitlines())) <= 80


def test_refusals_by_reason(serve):
    search = IdleSearch()
    server = serve(search, slots=1, max_waiting=0, default_time_s=60.0)
    position = wire.position_to_message(NIM)
    held = server.stub.BestTurn.future(engine_pb2.BestTurnRequest(position=position))
    search.await_start()
    report = run(server, duration_s=0.5, rate=20.0, search={"time_s": 0.05}, deadline_s=0.5, seed=1)
    server.stop_searches()
    held.result(60)
    assert report.latencies_s == []
    assert set(report.refusals) <= {"TOO_MANY_WAITING", "NO_TIME_LEFT", "DEADLINE_EXCEEDED"}
    assert report.refusals.total() == report.calls > 3
    assert report.missed == report.refusals["DEADLINE_EXCEEDED"]


def test_waits_of_an_open_loop_are_counted_from_the_arrival(serve):
    """One slot, 0.2 s a turn, and calls at 25 a second: each waits for those before it."""
    server = serve(IdleSearch(), slots=1)
    report = run(server, duration_s=0.4, rate=25.0, search={"time_s": 0.2}, seed=3)
    answered = len(report.latencies_s)
    assert answered == report.calls >= 4
    assert max(report.latencies_s) > 0.2 * (answered - 2)


def test_an_interrupted_load_tells_what_there_is(serve):
    search = IdleSearch()
    server = serve(search, slots=1)
    stop = ai.Stop()

    def interrupt():
        search.await_start()
        stop.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    report = run(server, stop, duration_s=60.0, callers=3, search={"time_s": 60.0})
    thread.join()
    assert report.unfinished == report.calls == 3
    assert report.latencies_s == []


def test_ctrl_c(serve, command):
    search = IdleSearch()
    server = serve(search, slots=1)

    def interrupt():
        search.await_start()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    code, out, _ = command(server, "--games", "nim", "--time", 60, "--duration", 60, "--json")
    thread.join()
    assert code == 1
    assert json.loads(out)["unfinished"] == 1


def test_answers_that_are_late_and_those_without_a_search():
    report = load.Report()
    found = ai.best_turn(NIM, iterations=5, seed=1)
    for latency_s, change in ((0.2, {}), (0.6, {"iterations": 0}), (0.1, {"stop_reason": "forced"})):
        report.note(dataclasses.replace(found, **change), latency_s, 0.5)
    report.refusals["DEADLINE_EXCEEDED"] += 2
    report.seconds = 2.0
    figures = report.to_json()
    assert figures["deadlines_missed"] == 3
    assert (figures["without_search"], figures["forced"]) == (1, 1)
    assert figures["answers_per_s"] == 1.5
    assert figures["latency_s"] == {"mean": 0.3, "p50": 0.2, "p90": 0.6, "p95": 0.6, "p99": 0.6, "max": 0.6}


def test_figures_as_json_are_whole(monkeypatch, capsys):
    report = load.Report()
    report.refusals["because " * 1000] += 1
    report.seconds = 1.0

    async def known(*_):
        return report

    monkeypatch.setattr(load, "run", known)
    assert main(["load", "localhost:1", "--games", "nim", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["refusals"] == dict(report.refusals)


@pytest.mark.parametrize(
    ("given", "games"),
    [
        ([], {"mexica"}),
        (["--games", "nim", "coatl"], {"nim", "coatl"}),
        (["--games", "nim", "--games", "coatl"], {"nim", "coatl"}),
    ],
)
def test_games_of_several_options(monkeypatch, capsys, given, games):
    asked = []

    async def run(_make_client, positions, _plan, _stop):
        asked.extend(positions)
        return load.Report()

    monkeypatch.setattr(load, "run", run)
    assert main(["load", "localhost:1", *given]) == 1
    capsys.readouterr()
    assert {position.game for position in asked} == games


def test_a_wrong_question_ends_the_load(serve, command):
    code, out, err = command(serve(), "--games", EXAMPLES / "nothing.json")
    assert (code, out) == (2, "")
    assert "nothing.json" in err
    server = serve()
    with pytest.raises(NotationError, match="weights"):
        run(server, duration_s=10.0, callers=2, search={"weights": "none_such"})


def test_a_token(serve, command, tmp_path):
    (tmp_path / "tokens").write_text("alice 0123456789abcdef\n")
    (tmp_path / "tokens").chmod(0o600)
    server = serve(tokens_file=str(tmp_path / "tokens"))
    options = ["--games", "nim", "--iterations", 5, "--duration", 0.1, "--json"]
    code, out, _ = command(server, *options)
    assert code == 1
    assert list(json.loads(out)["refusals"]) == ["NO_TOKEN"]
    (tmp_path / "token").write_text("0123456789abcdef\n")
    code, out, _ = command(server, *options, "--token-file", tmp_path / "token")
    assert code == 0


def test_every_game_is_dealt():
    for game in ("mexica", "coatl", "tzolkin"):
        found = load.deal([game], 1)
        assert len(found) >= 4
        assert found == load.deal([game], 1)
        assert not any(position.is_chance or position.is_over for position in found)


@pytest.mark.parametrize(
    "args", ["--rate 0", "--rate x", "--callers 0", "--rate 1 --callers 1", "--rate 1 --own-channels"]
)
def test_wrong_options(args, capsys):
    assert main(["load", "localhost:1", *args.split()]) in (1, 2)
    assert args.split()[-2 if "--own" not in args else -1] in capsys.readouterr().err
