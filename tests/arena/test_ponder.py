"""Engines that think in the others' time: behind the stdio protocol, and on the page."""

import asyncio
import json
import os
import pathlib
import subprocess
import sysconfig
import time

import pytest
from searching import root_visits

import mexica_ai as ai
from mexica_ai.analysis.limits import Limits
from mexica_ai.engines import parse_spec
from mexica_ai.web import engines

PROGRAM = str(pathlib.Path(sysconfig.get_path("scripts")) / "mexica-ai")
GUARD_S = 60  # until what must happen has happened, on a busy machine


def num_threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def wait_for(condition):
    deadline = time.monotonic() + GUARD_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def engine():
    """`mexica-ai engine` that thinks on, as a process: a function that sends a line, and one that reads the answer."""
    command = [PROGRAM, "engine", "--engine", "mcts,ponder=600,iterations=50"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        timer = time.monotonic()
        yield process
        process.kill()
        assert time.monotonic() - timer < 10 * GUARD_S


@pytest.mark.real("processes", "time")
def test_the_program_thinks_on_until_the_next_line(engine):
    position = ai.new_game("mexica", players=2, seed=1)

    def send(**request):
        engine.stdin.write(json.dumps(request) + "\n")

    def receive():
        return json.loads(engine.stdout.readline())

    send(hello=1)
    receive()
    resting = num_threads(engine.pid)
    send(id=1, position=position.to_json(), seed=1)
    position.push(receive()["turn"])
    wait_for(lambda: num_threads(engine.pid) > resting)
    position.push(ai.best_turn(position, iterations=20, seed=1).turn)
    send(id=2, position=position.to_json(), seed=1)
    answer = receive()
    assert (answer["id"], answer["info"]["iterations"]) == (2, 50)
    position.copy().push(answer["turn"])
    wait_for(lambda: num_threads(engine.pid) > resting)
    send(stop=1)
    wait_for(lambda: num_threads(engine.pid) == resting)
    send(id=3, position=position.to_json(), seed=1)
    assert receive()["id"] == 3
    wait_for(lambda: num_threads(engine.pid) > resting)
    for line in ("nonsense", '{"hello": 1}'):
        engine.stdin.write(line + "\n")
        receive()
        wait_for(lambda: num_threads(engine.pid) == resting)
    send(id=4, position=position.to_json(), seed=1)
    receive()
    engine.stdin.close()
    assert engine.wait(GUARD_S) == 0


@pytest.mark.real("processes", "time")
def test_the_program_does_not_think_on_while_a_request_waits(engine):
    position = ai.new_game("nim", seed=1).to_json()
    requests = [{"id": number, "position": position, "seed": 1} for number in range(3)]
    engine.stdin.write("".join(json.dumps(request) + "\n" for request in requests))
    assert [json.loads(engine.stdout.readline())["id"] for _ in requests] == [0, 1, 2]


@pytest.mark.real("time")
def test_an_engine_of_the_page_thinks_on_until_it_is_closed():
    """When the game is over, when it is deleted, when its last page has gone, and when the process ends."""

    async def test():
        loop = asyncio.get_running_loop()
        players = engines.Engines({"on": parse_spec("mcts,ponder=600"), "off": parse_spec("mcts")})
        position = ai.new_game("nim", piles=[40, 50, 60], seed=1)  # too much to be solved
        for close in (lambda: players.close("game"), lambda: players.close("game", 0), players.close_all):
            for name in ("off", "on"):
                ask = (players.best_turn, "game", 0, name, position, Limits(iterations=50))
                result = await ask[0](*ask[1:], engines.Stop())
                players.ponder("game", 0, position, result.turn)
                player = players._players["game"][0]
                await loop.run_in_executor(player.thread, int)  # after what was submitted before
                if name == "off":
                    assert player._engine._last is None
                    players.close("game")
                else:
                    await asyncio.to_thread(wait_for, lambda last=player._engine._last: root_visits(last) > 500)
            result = await ask[0](*ask[1:], engines.Stop())
            assert result.iterations == 50
            players.ponder("game", 0, position, result.turn)
            closing = close()
            if closing is not None:
                await closing
            await asyncio.to_thread(wait_for, lambda player=player: player._engine is None)
        await players.close_all()
        players.ponder("game", 0, position, result.turn)  # nothing is left that could

    asyncio.run(test())
