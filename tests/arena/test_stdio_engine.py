"""The stdio protocol from both sides: `mexica-ai engine` fed with raw lines, and programs as engines."""

import contextlib
import json
import os
import pathlib
import selectors
import signal
import subprocess
import sys
import sysconfig
import threading
import time

import pytest

from mexica_ai import Limits, NotationError, SearchError, Stop, new_game
from mexica_ai.engines import make_engine, process
from mexica_ai.engines.base import Engine
from mexica_ai.game import registry

ROOT = pathlib.Path(__file__).parents[2]
ENGINE = [str(pathlib.Path(sysconfig.get_path("scripts")) / "mexica-ai"), "engine"]
POSITION = new_game(players=3, seed=7)
START = POSITION.to_json()
HELLO_ANSWER = '{"hello": 1, "name": "fake", "games": ["mexica"]}'


class Driver:
    """`mexica-ai engine` as a process, driven line by line."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            [*ENGINE, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, request):
        line = request if isinstance(request, bytes) else json.dumps(request).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, request):
        self.send(request)
        return self.receive()


@pytest.fixture
def drive():
    drivers = []

    def start(*options):
        drivers.append(Driver(*options))
        return drivers[-1]

    yield start
    for driver in drivers:
        driver.process.kill()
        driver.process.wait()
        for pipe in (driver.process.stdin, driver.process.stdout, driver.process.stderr):
            pipe.close()


@pytest.mark.real("processes")
def test_a_turn_that_shows_what_others_hold_is_legal_in_a_view():
    position = new_game("tzolkin", players=2, seed=3)
    position.push([position.legal_actions()[0]])
    with make_engine(f"cmd:{' '.join(ENGINE)} --engine greedy") as engine:
        # The last seat chooses its wealth, and all wealth is shown.
        turn = engine.best_turn(position.view(1), Limits(time_s=5.0), seed=1).turn
    position.push(turn)
    assert position.to_json()["phase"] == "turn"


@pytest.mark.real("processes")
def test_a_whole_conversation(drive):
    driver = drive()
    greeting = {"hello": 1, "name": "mexica-ai mcts", "games": list(registry.names())}
    assert driver.ask({"hello": 1}) == greeting

    request = {"id": 1, "position": START, "limits": {"time_s": None, "iterations": 50}, "seed": 5}
    answer = driver.ask(request)
    assert set(answer) == {"id", "turn", "info"}
    assert answer["id"] == 1
    POSITION.copy().push(answer["turn"])
    assert answer["info"]["seed"] == 5
    assert answer["info"]["iterations"] == 50
    again = driver.ask({**request, "id": "a string will do"})
    assert (again["id"], again["turn"]) == ("a string will do", answer["turn"])

    # An invalid line is answered with an error, and the next one is still served.
    for bad, mentions in [
        (b"nonsense", "JSON"),
        (b"", "JSON"),
        (b"\xff", "UTF-8"),
        (b"[1]", "object"),
        (b'{"id": 1e999}', "1e999"),
        ({"stop": 2}, '"stop": 1'),
        ({"hello": 2}, "version"),
        ({"position": START}, "request.id"),
        ({"id": True, "position": START}, "request.id"),
    ]:
        refused = driver.ask(bad)
        assert refused["id"] is None
        assert mentions in refused["error"]
    for fields, mentions in [
        ({}, '"position"'),
        ({"position": {**START, "players": 9}}, "request.position.players"),
        ({"position": START, "limits": {"time_s": -1}}, "time_s"),
        ({"position": START, "limits": {"time_s": "1"}}, "request.limits.time_s"),
        ({"position": START, "limits": {"iterations": 0}}, "iterations"),
        ({"position": START, "seed": -1}, "seed"),
        ({"position": START, "limits": {"time_s": 1e9}}, "limits.time_s: given 1000000000.0; expected"),
        ({"position": START, "limits": {"time_s": 10**400}}, "request.limits.time_s: given an integer of"),
        ({"position": START, "clock": {"remaining_s": -1.0}}, "request.clock.remaining_s: given -1.0"),
        ({"position": START, "clock": {"remaining_s": 1e30}}, "request.clock.remaining_s: given 1e+30"),
        ({"position": START, "clock": {"remaining_s": 10**400}}, "request.clock.remaining_s: given an int"),
        ({"position": START, "clock": {"remaining_s": 9, "increment_s": 1e9}}, "request.clock.increment_s"),
        ({"position": START, "colour": "red"}, "colour"),
    ]:
        refused = driver.ask({"id": 9, **fields})
        assert refused["id"] == 9
        assert mentions in refused["error"]
    driver.send(b"x" * 3_000_000)  # rejected before it is complete
    assert "bytes" in driver.receive()["error"]
    assert driver.ask(request)["turn"] == answer["turn"]

    driver.process.stdin.close()
    assert driver.process.wait(60) == 0
    assert driver.process.stderr.read() == b""


@pytest.mark.real("processes")
def test_a_finished_game_is_answered_by_an_error(drive):
    over = {
        **START,
        "phase": "over",
        "period": 2,
        "round": 9,
        "calpulli": {
            "display": [],
            "placed": [],
            "removed": [3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13],
        },
        "seats": [
            {"score": 10, "action_tokens": 0, "pilli": pilli, "temples": [6, 5, 4, 3]} for pilli in ("H6", "G7", "I7")
        ],
    }
    over["calpulli"]["upcoming"] = []
    answer = drive().ask({"id": 1, "position": over})
    assert "over" in answer["error"]


@pytest.mark.real("processes")
def test_a_stop_ends_the_search_with_the_best_so_far(drive):
    driver = drive()
    driver.send({"stop": 1})  # nothing is being searched: nothing happens
    driver.ask({"hello": 1})
    driver.send({"id": 1, "position": START, "limits": {"time_s": 60}})
    time.sleep(0.2)
    started = time.monotonic()
    driver.send({"stop": 1})
    answer = driver.receive()
    assert time.monotonic() - started < 20
    assert answer["info"]["stop_reason"] == "stopped"
    POSITION.copy().push(answer["turn"])
    assert driver.ask({"id": 2, "position": START, "limits": {"iterations": 9}})["info"]["iterations"] == 9


@pytest.mark.real("processes")
def test_a_stop_right_behind_its_request_is_not_lost(drive):
    driver = drive()
    driver.send(json.dumps({"id": 1, "position": START, "limits": {"time_s": 60}}).encode() + b'\n{"stop": 1}')
    assert driver.receive()["info"]["stop_reason"] == "stopped"


@pytest.mark.real("processes")
def test_the_end_of_the_input_ends_it_in_the_middle_of_a_search(drive):
    driver = drive()
    driver.ask({"hello": 1})
    driver.send({"id": 1, "position": START, "limits": {"time_s": 60}})
    time.sleep(0.2)
    started = time.monotonic()
    driver.process.stdin.close()
    assert driver.process.wait(60) == 0
    assert time.monotonic() - started < 20
    POSITION.copy().push(driver.receive()["turn"])


@pytest.mark.real("processes")
def test_requests_from_a_file_are_all_answered_in_their_order():
    requests = [{"hello": 1}, *({"id": i, "position": START, "limits": {"iterations": 20}} for i in range(3))]
    text = "\n".join(map(json.dumps, [*requests, "bad"]))  # no line end behind the last one
    done = subprocess.run(ENGINE, input=text, capture_output=True, text=True, timeout=120, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.get("id") for answer in answers] == [None, 0, 1, 2, None]
    assert all("turn" in answer for answer in answers[1:4])


@pytest.mark.real("processes")
def test_the_clock_counts_where_no_time_is_given(drive):
    driver = drive("--time", "60")
    clock = {"remaining_s": 2.0, "increment_s": 0.1}
    answer = driver.ask({"id": 1, "position": START, "clock": clock})
    assert answer["info"]["seconds"] < 30  # 0.15 asked
    clock = {"remaining_s": 1200.0}  # 60 asked
    answer = driver.ask({"id": 2, "position": START, "clock": clock, "limits": {"time_s": 0.05}})
    assert answer["info"]["seconds"] < 30


@pytest.mark.real("processes")
def test_ctrl_c_ends_the_engine_with_one_line(drive):
    driver = drive()
    driver.ask({"hello": 1})
    driver.process.send_signal(signal.SIGINT)
    assert driver.process.wait(60) == 130
    assert driver.process.stderr.read() == b"mexica-ai: interrupted\n"


# The other side: programs as engines.


def fake(tmp_path, body, *, options="margin=0.3", hello=HELLO_ANSWER) -> Engine:
    """Start an engine that greets well and then does what `body` says, in Python."""
    program = tmp_path / "fake engine.py"
    line = os.fsencode(hello + "\n")
    greeting = f"sys.stdin.readline(); os.write(1, {line!r})"
    program.write_text(f"import json, os, subprocess, sys, time\n{greeting}\n{body}\n")
    return make_engine(f"cmd:\"{sys.executable} -S '{program}'\",{options}")


def children() -> set[int]:
    """Return the process ids of our children, including dead ones that are not reaped yet."""
    found = set()
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if int(stat.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(stat.parent.name))
    return found


@pytest.fixture(autouse=True)
def _no_process_is_left():
    before = children()
    yield
    assert children() == before


@pytest.mark.real("processes")
def test_our_own_engine_as_a_program():
    command = " ".join(f"'{word}'" for word in [*ENGINE, "--threads", "1"])
    with make_engine(f'cmd:"{command}",name=ours') as engine:
        result = engine.best_turn(POSITION, Limits(iterations=60), seed=3, candidates=2)
        assert (result.iterations, result.seed, result.stop_reason) == (60, 3, "iterations")
        assert len(result.candidates) == 2
        assert result.candidates[0].turn == result.turn
        assert sum(result.value) == pytest.approx(1)
        again = engine.best_turn(POSITION, Limits(iterations=60), seed=3)
        assert again.turn == result.turn

        stop = Stop()
        threading.Timer(0.2, stop.set).start()
        started = time.monotonic()
        assert engine.best_turn(POSITION, Limits(60.0), stop=stop).stop_reason == "stopped"
        assert time.monotonic() - started < 20


@pytest.mark.real("processes")
def test_the_example_engine():
    with make_engine(f"cmd:\"'{sys.executable}' '{ROOT / 'examples' / 'engine_random.py'}'\",seed=1") as engine:
        position = POSITION.copy()
        for _ in range(7):
            position.push(engine.best_turn(position, Limits(1.0)).turn)


@pytest.mark.real("processes")
def test_a_program_may_answer_the_bare_minimum(tmp_path):
    with fake(tmp_path, 'sys.stdin.readline(); print(\'{"id": 1, "turn": ["place H6"]}\')') as engine:
        result = engine.best_turn(POSITION, Limits(1.0), seed=8)
    assert result.turn == result.candidates[0].turn == ["place H6"]
    assert (result.value, result.iterations, result.stop_reason, result.seed) == ([], 0, "settled", 8)


REPLY = "sys.stdin.readline(); print({!r}, flush=True); sys.stdin.read()"


@pytest.mark.real("processes")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "reason", "mentions"),
    [
        (
            "time.sleep(30)",
            "ENGINE_TIMEOUT",
            "did not answer within 0.5 s (its time, 0.2 s, and the margin, 0.3 s)",
        ),
        ("while True: pass", "ENGINE_TIMEOUT", "did not answer"),
        (
            "sys.stdin.readline(); print('no line end', end='', flush=True); time.sleep(30)",
            "ENGINE_TIMEOUT",
            "it has sent 11 bytes without a newline",
        ),
        (
            "sys.exit('out of cheese')",
            "ENGINE_DIED",
            "ended with exit status 1; last line on stderr: 'out of cheese'",
        ),
        ("os.kill(os.getpid(), 11)", "ENGINE_DIED", "signal 11"),
        ("os.close(1); time.sleep(30)", "ENGINE_DIED", "did not end by itself"),
        ("sys.stdin.readline()\nwhile True: os.write(1, b'x' * 65536)", "ENGINE_PROTOCOL", "bytes"),
        (
            "sys.stdin.readline()\nwhile True: os.write(1, b'x\\n' * 65536)",
            "ENGINE_PROTOCOL",
            "answered more than one line",
        ),
        ("while True: os.write(2, b'x' * 65536)", "ENGINE_TIMEOUT", ""),
        (REPLY.format("hello!"), "ENGINE_PROTOCOL", "'hello!'"),
        (REPLY.format("[" * 100_000), "ENGINE_PROTOCOL", "JSON object"),
        ('sys.stdin.readline(); os.write(1, b\'{"a": "\\xe9"}\\n\')', "ENGINE_PROTOCOL", "it is not UTF-8"),
        (REPLY.format('{"id": 2, "turn": ["end"]}'), "ENGINE_PROTOCOL", "id 2 to request 1"),
        (REPLY.format('{"id": 1%s}' % ("0" * 400)), "ENGINE_PROTOCOL", "answered id an integer of"),
        (REPLY.format('{"id": 1, "turn": [%s]}' % ("1," * 999 + "1")), "ENGINE_PROTOCOL", "list of actions"),
        (REPLY.format('{"id": 1, "turn": ["%s"]}' % ("x" * 9999)), "ILLEGAL_TURN", "x..."),
        (REPLY.format('{"id": 1, "turn": "end"}'), "ENGINE_PROTOCOL", "list of actions"),
        (REPLY.format('{"id": 1, "turn": []}'), "ENGINE_PROTOCOL", "list of actions"),
        (REPLY.format('{"id": 1, "turn": ["place A1"]}'), "ILLEGAL_TURN", "place A1"),
        (REPLY.format('{"id": 1, "turn": ["place H6", "end"]}'), "ILLEGAL_TURN", "end"),
        (REPLY.format('{"id": 1, "turn": ["jump"]}'), "ILLEGAL_TURN", "jump"),
        (REPLY.format('{"id": 1, "error": "no idea"}'), "ENGINE_ERROR", "no idea"),
    ],
)
def test_a_program_that_fails_is_a_search_error(tmp_path, body, reason, mentions):
    margin = 0.3 if reason == "ENGINE_TIMEOUT" else 10  # others are to be in time on a busy machine, too
    with fake(tmp_path, body, options=f"margin={margin},name=fake") as engine:
        started = time.monotonic()
        with pytest.raises(SearchError) as caught:
            engine.best_turn(POSITION, Limits(0.2))
        assert time.monotonic() - started < 20
    assert caught.value.reason == reason
    assert mentions in str(caught.value)
    assert str(caught.value).startswith("engine fake")
    assert len(str(caught.value)) < 700


@pytest.mark.real("processes")
def test_a_program_that_greets_badly_is_no_engine(tmp_path):
    for hello, mentions in (
        ("{}", "greeting"),
        ('{"hello": 2, "games": []}', "greeting"),
        ("hi", "JSON object"),
        ('{"hello": 1, "name": "caf\udce9", "games": ["mexica"]}', "caf.*it is not UTF-8; expected a JSON object"),
    ):
        with pytest.raises(SearchError, match=mentions) as caught:
            fake(tmp_path, "time.sleep(30)", hello=hello)
        assert caught.value.reason == "ENGINE_PROTOCOL"


@pytest.mark.real("processes")
def test_figures_that_cannot_be_are_no_failure(tmp_path):
    reply = '{"id": 1, "turn": ["place H6"], "info": {"iterations": -7, "value": [2, -1, 0], "nodes": 3}}'
    with fake(tmp_path, REPLY.format(reply)) as engine:
        result = engine.best_turn(POSITION, Limits(1.0))
    assert (result.iterations, result.value, result.nodes) == (0, [], 3)


@pytest.mark.real("processes")
def test_only_a_program_that_has_never_answered_may_not_flush_its_output(tmp_path, monkeypatch):
    with fake(tmp_path, "time.sleep(30)") as engine, pytest.raises(SearchError) as caught:
        engine.best_turn(POSITION, Limits(0.1))
    assert "flush" not in str(caught.value)
    monkeypatch.setattr("mexica_ai.engines.process.HELLO_TIMEOUT_S", 0.2)
    with pytest.raises(SearchError, match="no output at all: does it flush its output after every line"):
        make_engine(f"cmd:{sys.executable} -P -S -c 'import time; time.sleep(30)'")


@pytest.mark.real("processes")
@pytest.mark.slow
def test_a_program_that_does_not_play_the_game(tmp_path):
    hello = '{"hello": 1, "name": "x", "games": ["go", 7]}'
    with (
        fake(tmp_path, "time.sleep(30)", hello=hello) as engine,
        pytest.raises(SearchError, match="it plays go"),
    ):
        engine.best_turn(POSITION)


@pytest.mark.real("processes")
def test_a_program_that_failed_is_started_afresh(tmp_path):
    once = f"""
open({str(tmp_path / "starts")!r}, "a").write("x")
if len(open({str(tmp_path / "starts")!r}).read()) == 1:
    sys.exit(3)
for line in sys.stdin:
    print(json.dumps({{"id": json.loads(line)["id"], "turn": ["place H6"]}}), flush=True)"""
    with fake(tmp_path, once) as engine:
        with pytest.raises(SearchError, match="exit status 3"):
            engine.best_turn(POSITION, Limits(1.0))
        assert engine.best_turn(POSITION, Limits(1.0)).turn == ["place H6"]


@pytest.mark.real("processes")
def test_the_children_of_a_hanging_program_are_ended_too(tmp_path):
    body = """
child = subprocess.Popen([sys.executable, "-P", "-S", "-c", "import time; time.sleep(60)"])
sys.stdin.readline()
print(child.pid, file=sys.stderr, flush=True)
time.sleep(60)"""
    with fake(tmp_path, body) as engine, pytest.raises(SearchError) as caught:
        engine.best_turn(POSITION, Limits(0.4))
    pid = int(str(caught.value).split("'")[-2])
    for _ in range(100):  # its new parent reaps it
        stat = pathlib.Path(f"/proc/{pid}/stat")
        try:
            if stat.read_text().split(")")[1].split()[0] == "Z":
                break
        except OSError:
            break
        time.sleep(0.02)
    else:
        pytest.fail(f"child {pid} lives on")


@pytest.mark.real("processes")
def test_a_program_that_ignores_the_stop_is_ended_after_the_margin(tmp_path):
    stop = Stop()
    stop.set()
    with fake(tmp_path, "time.sleep(30)") as engine:
        started = time.monotonic()
        with pytest.raises(SearchError, match=r"within 0.3 s \(the margin\) after it was stopped, 0.0 s"):
            engine.best_turn(POSITION, Limits(20.0), stop=stop)
        assert time.monotonic() - started < 20


@pytest.mark.real("processes")
def test_a_stop_wakes_the_wait_for_an_answer(tmp_path, monkeypatch):
    """Nothing looks again and again whether the event is set."""
    waits = []

    class Selector(selectors.DefaultSelector):
        def select(self, timeout=None):
            waits.append(timeout)
            return super().select(timeout)

    code = 'sys.stdin.readline(); sys.stdin.readline(); print(\'{"id": 1, "turn": ["place H6"]}\')'
    stop = Stop()
    with fake(tmp_path, code, options="margin=20") as engine:
        monkeypatch.setattr(process.selectors, "DefaultSelector", Selector)
        threading.Timer(0.5, stop.set).start()
        started = time.monotonic()
        assert engine.best_turn(POSITION, Limits(60.0), stop=stop).stop_reason == "stopped"
        assert time.monotonic() - started < 20
    assert len(waits) < 15


@pytest.mark.real("processes")
@pytest.mark.slow
def test_a_program_that_ignores_the_end_of_its_input_is_ended(tmp_path):
    engine = fake(tmp_path, "time.sleep(30)")
    started = time.monotonic()
    engine.close()
    engine.close()
    assert time.monotonic() - started < 20


def test_a_command_that_cannot_be_split():
    with pytest.raises(NotationError, match="split"):
        make_engine('cmd:"./x \'y"')
