"""`mexica-ai client`, all of its calls, against a running server."""

import json
import pathlib
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from nim_record import RECORD
from servers import RunningServer

import mexica_ai as ai
from mexica_ai.cli.main import main
from mexica_ai.game import registry

EXAMPLES = Path(__file__).parents[2] / "examples"
MIDGAME = EXAMPLES / "mexica_midgame.json"
TOKEN = "a-token-of-some-length"


@pytest.fixture(scope="module")
def server():
    running = RunningServer(None, max_time_s=60.0, memory_mb=64)
    yield running
    running.close()


@pytest.fixture
def client(server, capfd):
    """Call `mexica-ai client`; `code`, `out` and `err` are those of the last call."""

    def call(name, *args):
        call.code = main(["client", name, *map(str, args), "--server", server.address])
        call.out, call.err = capfd.readouterr()
        return call.out

    return call


def test_best(client):
    out = client("best", MIDGAME, "--iterations", 200, "--seed", 1, "--json")
    local = ai.best_turn(ai.load(MIDGAME), iterations=200, seed=1, memory_mb=64)
    assert json.loads(out)["turn"] == local.turn
    assert "Best turn of seat 0: " in client("best", MIDGAME, "--level", 2, "--time", 1)


def test_first_actions_options_and_reasons(client):
    free = json.loads(client("best", MIDGAME, "--iterations", 100, "--seed", 1, "--json"))
    assert free["first_actions"]
    first = free["turn"][0]
    other = json.loads(client("best", MIDGAME, "--iterations", 100, "--seed", 1, "--avoid", first, "--json"))
    assert other["turn"][0] != first
    assert f"- {first}" in client("best", MIDGAME, "--iterations", 100, "--seed", 1, "--explain")
    text = client("analyze", MIDGAME, "--iterations", 100, "--seed", 1, "--allow", first, "--explain")
    assert f"- {first}" in text
    lines = client("analyze", MIDGAME, "--iterations", 100, "--explain", "--json").splitlines()
    assert json.loads(lines[-1])["explanation"]
    client("best", MIDGAME, "--option", "exploration=.")
    assert (client.code, "is not the name of an option, =, and a number" in client.err) == (2, True)
    client("best", MIDGAME, "--iterations", 100, "--option", "exploration=1")
    assert client.code == 2
    assert "lets requests set no option" in client.err


def test_analyze(client):
    lines = client("analyze", MIDGAME, "--time", 0.3, "--interval", 0.1, "--json").splitlines()
    reasons = [json.loads(line)["stop_reason"] for line in lines]
    assert reasons[-1]
    assert not any(reasons[:-1])
    assert "Best turn of seat 0: " in client("analyze", MIDGAME, "--time", 0.1)


def run_unlimited(server, *options):
    command = [sys.executable, "-P", "-m", "mexica_ai", "client", "analyze", MIDGAME, "--unlimited", "--json"]
    command += ["--server", server.address, "--interval", "0.1", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process


@pytest.mark.real("processes")
def test_stop(client, server):
    assert client("stop", "mine") == "0 stopped\n"
    assert client.code == 1
    with run_unlimited(server, "--id", "mine") as process:
        assert client("stop", "mine") == "1 stopped\n"
        rest, _ = process.communicate(timeout=60)
    assert json.loads(rest.splitlines()[-1])["stop_reason"] == "stopped"
    assert process.returncode == 0


@pytest.mark.real("processes")
@pytest.mark.slow
def test_ctrl_c_ends_an_analysis_with_its_last_result(server):
    with run_unlimited(server) as process:
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    assert json.loads(rest.splitlines()[-1])["stop_reason"] == "stopped"
    assert (process.returncode, errors) == (0, "")


@pytest.mark.real("processes")
@pytest.mark.slow
@pytest.mark.parametrize("ending", ["signal", "reader"])
def test_a_batch_that_waits_for_positions_can_be_ended(server, ending):
    command = [sys.executable, "-P", "-m", "mexica_ai", "client", "batch", "-", "--iterations", "5"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*command, "--server", server.address], **pipes) as process:

        def ask():
            process.stdin.write(b"nim/1 3,5,7 2,0,1,1\n")
            process.stdin.flush()

        ask()
        assert b"result" in process.stdout.readline()
        if ending == "signal":
            process.send_signal(signal.SIGINT)
        else:
            process.stdout.close()
            ask()
        code = process.wait(60)
        errors = process.stderr.read()
    assert (code, errors) == ((130, b"mexica-ai: interrupted\n") if ending == "signal" else (0, b""))


@pytest.mark.slow
def test_a_game(client, tmp_path):
    game = tmp_path / "game.json"
    game.write_text(client("new", "--game", "nim", "--piles", "2,1"))
    assert json.loads(game.read_text())["piles"] == [2, 1]
    assert client("legal", game).splitlines() == ["take 1 1", "take 1 2", "take 2 1"]
    assert client("legal", game, "--after", "take 1 1", "--json") == "[]\n"  # a whole turn
    assert client("legal", "nim/1 2,1 2,0,2,2", "--after", "take 1 1").splitlines() == ["take 1 1", "take 1 2"]
    applied = json.loads(client("apply", game, "take 2 1", "--json"))
    assert (applied["to_move"], applied["position"]["piles"]) == (1, [0, 1])
    game.write_text(client("apply", game, "take 2 1"))
    assert json.loads(client("legal", game, "--json")) == ["take 1 2"]
    client("apply", game, "take 1 1")
    assert client.code == 2
    assert "take 1 1" in client.err


@pytest.mark.slow
def test_a_random_event(client, tmp_path):
    game = tmp_path / "coatl.json"
    game.write_text(client("new", "--game", "coatl", "--seed", 1))
    for _ in range(2):
        game.write_text(client("apply", game, "keep"))
    answers = [json.loads(client("apply", game, "draw deck", "--draw", "--seed", 5, "--json")) for _ in range(2)]
    assert answers[0] == answers[1]
    ((event,),) = answers[0]["events"]
    assert event.startswith("deal P")
    game.write_text(client("apply", game, "draw deck"))
    assert json.loads(game.read_text())["pending"] == "deal"
    assert json.loads(client("apply", game, "--draw", "--seed", 5)) == answers[0]["position"]
    client("apply", game)
    assert (client.code, "turn" in client.err) == (2, True)
    client("apply", game, "draw deck", "--seed", 5)
    assert (client.code, "--seed: needs --draw" in client.err) == (2, True)


def test_validate(client, tmp_path):
    assert client("validate", MIDGAME) == "valid\n"
    assert client.code == 0
    broken = json.loads(MIDGAME.read_text())
    broken["seats"][0]["score"] = -1
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(broken))
    assert "$.seats[0].score" in client("validate", path)
    assert client.code == 2
    assert json.loads(client("validate", path, "--json"))[0]["reason"] == "OUT_OF_RANGE"
    path.write_text("[]")
    client("validate", path)
    assert (client.code, "a JSON object" in client.err) == (2, True)


def test_validate_reads_compact_positions_and_no_records(client):
    assert client("validate", "nim/1 1,1 2,0,1,1") == "valid\n"
    assert "$.piles[0]" in client("validate", "nim/1 64,1 2,0,1,1")
    client("validate", pathlib.Path(MIDGAME).with_name("mexica_game.jsonl"))
    assert "given a file of records" in client.err


def test_annotate(client):
    record = EXAMPLES / "mexica_game.jsonl"
    options = ["annotate", record, "--turns", "4-5", "--iterations", 50, "--seed", 1]
    lines = client(*options, "--json").splitlines()
    assert [json.loads(line)["turn_index"] for line in lines] == [3, 4]
    table = client(*options)
    assert re.search(r"^ *4 ", table, re.MULTILINE)


def test_a_record_says_with_which_limits_its_evaluations_were_made(client, tmp_path):
    record = tmp_path / "record.json"
    record.write_text(json.dumps(RECORD))
    assert main(["annotate", str(record), "--iterations", "5", "--seed", "3", "--record", str(record)]) == 0
    client("annotate", record, "--iterations", 7, "--seed", 9, "--record", record)
    found = json.loads(record.read_text())["evaluations"]
    assert [found[key] for key in ("time_s", "iterations", "seed")] == [None, 7, 9]


def test_the_seed_of_a_review_is_reported_and_the_version_of_the_server_is_not_guessed(client, tmp_path):
    record = tmp_path / "record.json"
    record.write_text(json.dumps(RECORD))
    out = client("annotate", record, "--iterations", 7, "--record", record)
    found = json.loads(record.read_text())["evaluations"]
    assert out.endswith(f"\nseed {found['seed']}\n")
    assert "build" not in found


def test_proposal(client):
    action = f"remove {ai.load(MIDGAME).to_json()['calpulli']['display'][0]}"
    assert re.match(rf"{action}: (yes|no): ", client("proposal", MIDGAME, action))
    assert client.code in (0, 1)
    assert json.loads(client("proposal", MIDGAME, action, "--json"))["opinions"][0]["action"] == action


def test_a_game_for_one_number_of_seats(client, monkeypatch):
    game = {"name": "go", "rules_version": 1, "min_players": 2, "max_players": 2}
    monkeypatch.setattr("mexica_ai.rpc.client.Client.list_games", lambda self: [game])
    assert client("games") == "go: 2 seats, rules version 1\n"


def test_games_and_info(client, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert "mexica: 2 to 4 seats" in client("games")
    assert {game["name"] for game in json.loads(client("games", "--json"))} == set(registry.names())
    lines = client("info").splitlines()
    assert any(line.startswith("levels 1 to 10") for line in lines)
    assert max(map(len, lines)) <= 80
    assert json.loads(client("info", "--json"))["caps"]["memory_mb"] == 64
    said = " ".join(" ".join(lines).split())
    assert "; 1 s unless asked" in said
    assert "at most time_s 60, iterations 1000000000000, memory_mb 64, " in said
    assert said.endswith("request_bytes 65536, record_bytes 1048576")


def test_tokens(tmp_path, capfd, monkeypatch):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"anna {TOKEN}\n")
    running = RunningServer(None, tokens_file=str(tokens))
    try:
        info = ["client", "info", "--server", running.address]
        assert main(info) == 1
        assert "UNAUTHENTICATED" in capfd.readouterr().err
        monkeypatch.setenv("MEXICA_AI_TOKEN", TOKEN)
        assert main(info) == 0
        monkeypatch.delenv("MEXICA_AI_TOKEN")
        secret = tmp_path / "secret"
        secret.write_text(f"{TOKEN}\n")
        assert main([*info, "--token-file", str(secret)]) == 0
        secret.write_text("two words")
        assert main([*info, "--token-file", str(secret)]) == 2
    finally:
        running.close()


@pytest.mark.real("processes")
@pytest.mark.slow
def test_an_analysis_that_loses_its_server_ends():
    command = [sys.executable, "-P", "-m", "mexica_ai", "serve", "--port", "0", "--log-level", "error"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    class There:
        address = server.stdout.readline().split()[-1]

    with run_unlimited(There) as process:
        server.kill()
        _, errors = process.communicate(timeout=20)
    server.wait()
    server.stdout.close()
    assert process.returncode == 1
    assert "UNAVAILABLE" in errors


def test_steps(client, capfd):
    turn = "teleport C6; temple 2 B7"
    answer = json.loads(client("apply", MIDGAME, turn, "--partial", "--steps"))
    assert main(["apply", str(MIDGAME), turn, "--partial", "--steps"]) == 0
    assert json.loads(capfd.readouterr().out) == answer
    assert [step["cost"] for step in answer["steps"]] == [
        {"action_points": 5},
        {"action_points": 1, "action_tokens": 1},
    ]
    assert answer["steps"][-1]["position"] == answer["position"]
    assert answer["to_move"] == 0
    client("apply", MIDGAME, "teleport C6; temple 4 B7")
    assert "turn.actions[1]: " in client.err
    assert "it costs 4 action points; seat 0 has 1 and 1 action token; expected " in client.err
