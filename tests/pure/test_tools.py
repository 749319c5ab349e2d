"""A game in Python through all tools: examples/pure_game/eights.py, named in the environment of other processes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import commands
import pytest

from mexica_ai.cli.main import main

pytestmark = pytest.mark.real("processes")

ROOT = Path(__file__).parents[2]
GAME = f"{ROOT}/examples/pure_game/eights.py:GAME"
RUN_S = 120

TOOLS = """
import contextlib, copy, io, json, pickle, sys
import mexica_ai as ai
from mexica_ai import env
from mexica_ai.cli.main import main
from mexica_ai.pure import game

def command(*args):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(list(args))
    return [code, out.getvalue()]

if __name__ == "__main__":
    position = ai.new_game("eights", players=3, seed=7)
    open("position.json", "w").write(json.dumps(position.to_json()))
    games = env.vector("eights", 16, seed=1, observations=True)
    ended = sum(games.step_random(20) for _ in range(10))
    agents = env.aec("eights", players=3, seed=1)
    agents.reset(seed=2)
    steps = 0
    for agent in agents.agent_iter(2000):
        observation, reward, over, cut, info = agents.last()
        agents.step(None if over else int(observation["action_mask"].nonzero()[0][0]))
        steps += 1
    print(json.dumps({
        "legal": position.legal_actions(),
        "best": command("best", "position.json", "--iterations", "100", "--seed", "1", "--json"),
        "level": ai.best_turn(position, level=3, seed=1).turn,
        "view": ai.best_turn(position.view(0), iterations=100, threads=2, seed=1).turn,
        "tree": command("tree", "position.json", "--iterations", "50", "--out", "tree.json")[0],
        "show": command("show", "position.json", "--viewer", "1")[1],
        "arena": command("arena", "--game", "eights", "--engine", "mcts,iterations=20", "--engine", "random",
                         "--blocks", "1", "--seed", "1", "--concurrency", "2", "--journal", "games.jsonl"),
        "replay": command("replay", "games.jsonl"),
        "pickled": [pickle.loads(pickle.dumps(each)) == each for each in (position, position.state, position.view(1))],
        "copied": copy.deepcopy(position) == position,
        "ended": int(ended),
        "ids": env.num_action_ids("eights"),
        "size": env.schema("eights").size == games.observations.shape[1],
        "steps": steps,
    }))
"""


@pytest.fixture
def environment(tmp_path):
    return {**os.environ, "MEXICA_AI_GAMES": GAME}


def run(environment, folder, *args):
    done = subprocess.run(
        [sys.executable, "-P", *args],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=RUN_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_search_arena_and_environments(environment, tmp_path):
    (tmp_path / "tools.py").write_text(TOOLS)
    said = json.loads(run(environment, tmp_path, "tools.py").splitlines()[-1])
    code, best = said["best"]
    assert code == 0
    for turn in (json.loads(best)["turn"], said["level"], said["view"]):
        assert len(turn) == 1
        assert turn[0] in said["legal"]
    assert said["tree"] == 0
    assert "Crazy Eights, 3 players: seat 0 to move" in said["show"]
    assert "seat 0  ? ? ? ? ?" in said["show"]
    assert said["arena"][0] == 0, said["arena"]
    assert said["replay"][0] == 0
    assert said["pickled"] == [True, True, True]
    assert said["copied"]
    assert said["ended"] > 0
    assert said["ids"] == 66
    assert said["size"]
    assert said["steps"] > 10


def test_the_command_checks_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-P", "-m", "mexica_ai", "check-game", GAME, "--players", "2", "--json"],
        cwd=tmp_path, capture_output=True, text=True, timeout=RUN_S,
    )  # fmt: skip
    parts = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, parts
    assert {"rules", "text", "views", "events"} <= {part["part"] for part in parts}
    source = Path(GAME.rpartition(":")[0]).read_text()
    (tmp_path / "faulty.py").write_text(source.replace("-len(hand) for hand", "-len(hand) - (hand > ['5']) for hand"))
    command = [sys.executable, "-P", "-m", "mexica_ai", "check-game", "faulty.py:GAME", "--players", "2"]
    done = subprocess.run([*command, "--reference", GAME], cwd=tmp_path, capture_output=True, text=True, timeout=RUN_S)
    assert done.returncode == 1
    assert "rules: eights: determinize changes turn, round or scores" in done.stdout
    assert "reference: eights: the scores are" in done.stdout


def test_a_game_that_cannot_be_dealt_is_a_fault(monkeypatch, capsys):
    def new_state(players, seed):
        raise IndexError("no card is left")

    game = SimpleNamespace(starts=SimpleNamespace(new_state=new_state))
    monkeypatch.setattr("mexica_ai.cli.check_game._game", lambda name: game)
    assert main(["check-game", "faulty.py:GAME", "--players", "3"]) == 1
    assert capsys.readouterr() == ("starts: IndexError: no card is left\n", "")


CLIENT = """
import json, sys
import mexica_ai as ai
from mexica_ai.rpc.client import Client

with Client(sys.argv[1]) as client:
    position = client.new_game("eights", players=2, seed=5)
    result = client.best_turn(position.view(0), iterations=50, seed=1)
    applied = client.apply_turn(position, ["draw"], draw_events=True, seed=3)
    print(json.dumps({
        "same": position == ai.new_game("eights", players=2, seed=5),
        "is_legal": result.turn[0] in position.legal_actions(),
        "events": applied.events,
        "faults": [fault.path for fault in client.validate_position({**position.to_json(), "suit": 9})],
    }))
"""


def test_it_goes_over_the_wire(environment, tmp_path):
    with commands.running(tmp_path, environment, "serve", "--port", "0") as line:
        said = json.loads(run(environment, tmp_path, "-c", CLIENT, line.removeprefix("listening on ")))
    ((event,),) = said.pop("events")
    assert event.startswith("take ")
    assert said == {"same": True, "is_legal": True, "faults": ["$.suit"]}


def test_the_page_plays_it_and_hides_hands(environment, tmp_path):
    with commands.page(tmp_path, environment) as call:
        (info,) = [game for game in call("GET", "/api/info")["games"] if game["name"] == "eights"]
        assert info["title"] == "Crazy Eights"
        game = call(
            "POST",
            "/api/games",
            {"game": "eights", "players": 2, "seats": [{"kind": "person"}, {"kind": "engine", "level": 1}]},
        )
        actions = [entry["action"] for entry in game["entries"]]
        assert "draw" in actions
        turn = {"version": game["version"], "actions": ["draw"], "viewer": None}
        game = call("POST", f"/api/games/{game['id']}/turn", turn)
        assert game["num_turns"] >= 1
