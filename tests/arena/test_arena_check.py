"""`mexica-ai arena check`: a program that keeps to the protocol passes, and each violation is found by its check."""

import json
import os
import shlex
import signal
import sys

import pytest

from mexica_ai.arena import check
from mexica_ai.cli.main import main

pytestmark = pytest.mark.real("processes")

PROGRAM = """
import json, os, select, sys, time
kind = sys.argv[1]

def say(answer):
    print(answer if isinstance(answer, str) else json.dumps(answer), flush=kind != "buffered")

if kind == "dies":
    sys.exit("out of cheese")
if kind == "leaves" and os.fork() == 0:  # a child that is not found, which keeps the pipes
    os.setsid()
    with open(sys.argv[0] + ".left", "a") as file:
        print(os.getpid(), file=file)
    time.sleep(300)
    os._exit(0)
while line := os.read(0, 1 << 16).decode():
    for text in line.splitlines():
        try:
            request = json.loads(text)
        except ValueError:
            if kind == "strict":
                sys.exit("what?")
            say({"id": None, "error": "no JSON"})
            continue
        if "hello" in request and kind == "latin":
            os.write(1, b'{"hello": 1, "name": "caf\\xe9", "games": ["nim"]}\\n')
            continue
        if "hello" in request:
            say("hello!" if kind == "rude" else {"hello": 1, "name": "test", "games": ["nim"]})
            continue
        if "stop" in request:
            if kind == "talks":
                say({"stopped": True})
            if kind == "quits":
                sys.exit()
            continue
        if "piles" not in request["position"]:
            say({"id": request["id"], "error": "no piles"})
            continue
        limits = request.get("limits") or {}
        if (limits.get("time_s") or 0) > 50 and kind == "endless":
            while True:
                os.write(1, b"x" * (1 << 16))
        if (limits.get("time_s") or 0) > 50 and kind == "half":
            os.write(1, b"hm")
            time.sleep(100)
        if (limits.get("time_s") or 0) > 50 and kind in ("patient", "deaf"):  # until there is a stop, or for ever
            if kind == "deaf":
                time.sleep(100)
            os.read(0, 1 << 16)
        piles = request["position"]["piles"]
        pile = next(index for index, size in enumerate(piles) if size)
        size = 60 if kind == "illegal" and sum(piles) < 6 else 1
        answer = {"id": 1 if kind == "forgets" else request["id"], "turn": [f"take {size} {pile + 1}"]}
        if kind == "clock" and request.get("clock"):
            time.sleep(100)
        say(answer)
if kind == "stays":
    time.sleep(100)
"""
NAMES = [
    "greeting", "games", "a game of nim", "seats of nim", "ids", "limit of iterations", "clock",
    "keys that are missing", "stop", "stop without a request", "a line that is not JSON", "a position that is none",
    "end of input", "end of input while searching",
]  # fmt: skip


@pytest.fixture
def run(tmp_path, capfd):
    """Check the program with one of its faults; return the exit code and the findings by name."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)

    def call(kind, *options):
        spec = "cmd:" + shlex.join([sys.executable, "-S", "-E", str(script), kind])
        code = main(["arena", "check", spec, "--format", "json", *map(str, options)])
        return code, {finding["name"]: finding for finding in json.loads(capfd.readouterr().out)}

    return call


@pytest.mark.parametrize("kind", ["ok", "patient"])
def test_a_program_that_keeps_to_the_protocol_passes(run, kind):
    code, found = run(kind, "--margin", 30)
    assert [(name, finding["status"]) for name, finding in found.items()] == [(name, "ok") for name in NAMES]
    assert code == 0
    stopped = "answered before it was stopped" if kind == "ok" else "s after it was stopped"
    assert stopped in found["stop"]["detail"]
    assert "legal turns" in found["a game of nim"]["detail"]


@pytest.mark.parametrize(
    ("kind", "name", "mentions"),
    [
        ("illegal", "a game of nim", 'plays "take 60 '),
        ("forgets", "ids", "expected 9007199254740991"),
        ("talks", "stop", 'wrote "{\\"stopped\\": true}" after the answer; expected nothing'),
        ("quits", "stop", "ended with exit status 0 "),
        ("deaf", "stop", "did not answer within 0.5 s (the margin) after it was stopped"),
        ("endless", "stop", "wrote a line of more than 1048576 bytes"),
        ("half", "stop", "with a limit of 60 s; it has sent 2 bytes without a newline at the end"),
        ("clock", "clock", "did not answer within 1 s (its time, 0.5 s, and the margin, 0.5 s)"),
        ("stays", "end of input", "did not end within 0.8 s"),
    ],
)
def test_a_violation_is_found_by_its_check(run, kind, name, mentions, monkeypatch):
    monkeypatch.setattr(check, "EXIT_TIMEOUT_S", 0.3)
    code, found = run(kind, "--margin", 0.5, "--time", 0.05)
    assert code == 1
    assert found[name]["status"] == "FAILED"
    assert mentions in found[name]["detail"]
    assert list(found) == NAMES  # the others go on with a new process


@pytest.mark.parametrize(
    ("kind", "mentions"),
    [
        ("buffered", "did not answer within 0.8 s of the greeting; the answer came at the end of the input: it does "
         "not flush its output after every line"),
        ("dies", "ended with exit status 1 before it answered; its last line on stderr: \"out of cheese\""),
        ("rude", 'answered "hello!"; expected a JSON object'),
        ("latin", "which is not UTF-8; expected a JSON object in UTF-8"),
    ],
)  # fmt: skip
def test_without_a_greeting_there_is_nothing_to_check(run, kind, mentions, monkeypatch):
    if kind == "buffered":
        monkeypatch.setattr(check, "HELLO_TIMEOUT_S", 0.8)
    monkeypatch.setattr(check, "EXIT_TIMEOUT_S", 20)
    code, found = run(kind)
    assert code == 1
    assert list(found) == ["greeting"]
    assert found["greeting"]["status"] == "FAILED"
    assert mentions in found["greeting"]["detail"]


def test_a_child_that_keeps_the_pipes_does_not_hold_up_the_checks(run, tmp_path, monkeypatch):
    monkeypatch.setattr(check, "EXIT_TIMEOUT_S", 0.3)
    code, found = run("leaves", "--margin", 30)
    assert code == 0
    assert list(found) == NAMES
    for pid in (tmp_path / "program.py.left").read_text().split():
        os.kill(int(pid), signal.SIGKILL)  # raises if the checks have waited for its end


def test_what_the_arena_does_without_is_a_note(run):
    code, found = run("strict", "--margin", 30)
    assert code == 0
    assert [name for name in NAMES if found[name]["status"] != "ok"] == ["a line that is not JSON"]
    assert "ended with exit status 1 before it answered" in found["a line that is not JSON"]["detail"]


def test_the_game_that_it_must_play(run):
    code, found = run("ok", "--game", "mexica")
    assert code == 1
    assert found["games"]["detail"] == "plays nim; expected mexica"
    assert list(found) == ["greeting", "games"]


def test_the_result_for_people(cli, tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    assert cli("check", f"cmd:{sys.executable} -S -E {script} ok", "--margin", 30) == 0
    lines = cli.out.splitlines()
    assert lines[0].startswith("ok      greeting: answered in ")
    assert lines[-1] == "14 checks: 14 ok, 0 failed, 0 noted"
    assert cli("check", "cmd:/no/such/program") == 1
    assert "FAILED  greeting: cannot be started" in cli.out
    assert cli("check", "mcts") == 2
    assert "given the kind mcts; expected a program, cmd:COMMAND" in cli.err
    assert cli("check", "cmd:'") == 2
    assert cli("check") == 2
