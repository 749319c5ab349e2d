"""A game in a package of its own, from its build to the page: examples/plugin_game, installed in a folder.

Each test runs other processes, since this one does not know the game.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import commands
import pytest

pytestmark = pytest.mark.real("processes")

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "plugin_game"
POSITION = {
    "game": "shutbox",
    "version": 1,
    "players": 2,
    "to_move": 0,
    "open": [1, 2, 3, 4, 5, 6, 7, 8, 9],
    "rest": 9,
    "below": 10,
    "points": [],
    "one_die": False,
}
RUN_S = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Build the package and install it into a folder; return the folder."""
    place = tmp_path_factory.mktemp("plugin")
    shutil.copytree(PLUGIN, place / "source", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    (said,) = re.findall(r"^\$ pip install (.*) \.$", (PLUGIN / "README.md").read_text(), re.MULTILINE)
    options = ["--quiet", "--no-index", "--disable-pip-version-check", *said.split()]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pip", "install", *options, "--target", place / "site", place / "source"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return place


@pytest.fixture
def run(folder):
    """Return a function that runs Python where the package is installed, and returns what it prints."""

    def call(*args, path=(), **options):
        done = subprocess.run(
            [sys.executable, "-P", *map(str, args)],
            cwd=folder,
            env=environment(folder, path),
            capture_output=True,
            text=True,
            timeout=RUN_S,
            **options,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return call


def environment(folder, path=()):
    own = {
        "PYTHONPATH": os.pathsep.join(map(str, (folder / "site", *path))),
        "XDG_STATE_HOME": str(folder / "state"),  # where `play` keeps games
        "PY_COLORS": "0",  # of its own tests, whose words are read
        "PYTEST_ADDOPTS": "",
    }
    return {**os.environ, **own}


def test_it_passes_its_own_tests_and_the_contract(run):
    files = [PLUGIN / "tests", ROOT / "tests" / "rules" / "test_contract.py"]
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", "shutbox", "--rootdir", ROOT]
    said = run("-m", "pytest", *options, *files)
    assert "failed" not in said
    assert int(said.split(" passed")[0].split()[-1]) > 50, said


COMMANDS = """
import contextlib, io, json, sys
from mexica_ai.cli.main import main

def command(*args, given=""):
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(given.encode())))
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(list(args)) == 0, args
    return out.getvalue()

if __name__ == "__main__":
    position = command("new", "--game", "shutbox", "--players", "3", "--one-die", "--seed", "4")
    open("position.json", "w").write(position)
    print(json.dumps({
        "position": json.loads(position),
        "help": command("new", "--help"),
        "show": command("show", "position.json"),
        "legal": command("legal", "position.json", "--json"),
        "perft": command("perft", "position.json", "--depth", "1"),
        "best": json.loads(command("best", "position.json", "--iterations", "300", "--seed", "1", "--json")),
        "play": command("play", "position.json", "--person", "0,1,2", given="quit\\n"),
        "arena": command("arena", "--game", "shutbox", "--engine", "mcts,iterations=60", "--engine", "random",
                         "--blocks", "2", "--seed", "1", "--journal", "games.jsonl"),
        "replay": command("replay", "games.jsonl"),
    }))
"""


def test_every_command_knows_it(run, folder):
    (folder / "commands.py").write_text(COMMANDS)
    said = json.loads(run("commands.py").splitlines()[-1])
    position, legal = said["position"], json.loads(said["legal"])
    assert (position["game"], position["players"], position["one_die"]) == ("shutbox", 3, True)
    assert "options of shutbox" in said["help"]
    assert f"Shut the Box, 3 players: seat 0 to move, {position['rest']} to shut" in said["show"]
    assert said["perft"].split()[-1] == str(len(legal))
    tiles = [int(action.removeprefix("shut ")) for action in said["best"]["turn"]]
    assert sum(tiles) == position["rest"]
    assert said["best"]["turn"][0] in legal
    assert "Shut the Box" in said["play"]
    assert "mcts" in said["arena"]
    records = [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]
    assert len(records) >= 4
    assert all(record["game"] == "shutbox" and record["winners"] for record in records)
    assert "roll " in json.dumps(records[0]["turns"])
    request = {"id": 7, "position": position, "limits": {"iterations": 50}, "seed": 1}
    asked = "".join(json.dumps(line) + "\n" for line in ({"hello": 1}, request))
    hello, answer = map(json.loads, run("-m", "mexica_ai", "engine", input=asked).splitlines())
    assert "shutbox" in hello["games"]
    assert answer["id"] == 7
    assert answer["turn"][0] in legal


NOTEBOOK = """
import mexica_ai as ai
position = ai.new_game("shutbox", seed=1)
print([position._repr_svg_(), position._repr_html_(), repr(position)])
"""


def test_a_notebook_shows_its_text(run):
    assert run("-c", NOTEBOOK) == "[None, None, '<Position of shutbox: 2 players, seat 0 to move>']\n"


@pytest.mark.parametrize("script", ["bench_rules.py", "bench_env.py"])
def test_benchmarks_play_it(run, script):
    folder = ROOT / "benchmarks"
    said = run(folder / script, "--game", "shutbox", "--seconds", "0.02", "--repeats", "1", "--json", path=[folder])
    assert json.loads(said)


SPIEL = """
import numpy as np
from mexica_ai.env.openspiel import SpielGame
state = SpielGame({"game": "shutbox", "one_die": True}).new_initial_state()
rng = np.random.default_rng(1)
while not state.is_terminal():
    state.apply_action(int(rng.choice(state.legal_actions())))
print(sum(state.returns()), state.get_game().get_type().provides_observation_tensor)
"""


@pytest.mark.skipif(not importlib.util.find_spec("pyspiel"), reason="needs open_spiel")
def test_openspiel_plays_it(run):
    assert run("-c", SPIEL) == "0.0 False\n"


CLIENT = """
import json, sys
import mexica_ai as ai
from mexica_ai.rpc.client import Client

def error_of(call, *args, **options):
    try:
        call(*args, **options)
    except ai.MexicaAIError as error:
        return [type(error).__name__, error.path]

with Client(sys.argv[1]) as client:
    start = client.new_game("shutbox", players=2, seed=5, one_die=True)
    position = ai.Position.from_json(json.loads(sys.argv[2]))
    result = client.best_turn(position, iterations=200, seed=1)
    applied = client.apply_turn(position, result.turn, draw_events=True, seed=3)
    print(json.dumps({
        "games": [game["name"] for game in client.list_games()],
        "start": start.to_json(),
        "same": start == ai.new_game("shutbox", players=2, seed=5, one_die=True),
        "turn": result.turn,
        "same_turn": ai.best_turn(position, iterations=200, seed=1).turn == result.turn,
        "legal": client.legal_actions(position),
        "applied": applied.position.to_json(),
        "events": applied.events,
        "faults": [fault.path for fault in client.validate_position({**position.to_json(), "rest": 99})],
        "bad_option": error_of(client.new_game, "shutbox", one_die=3),
        "no_option": error_of(client.new_game, "shutbox", dice=3),
        "bad_turn": error_of(client.apply_turn, position, ["shut 1", "shut 2"]),
    }))
"""


def test_it_goes_over_the_wire(run, folder):
    with commands.running(folder, environment(folder), "serve", "--port", "0") as line:
        address = line.removeprefix("listening on ")
        said = json.loads(run("-c", CLIENT, address, json.dumps(POSITION)))
    assert "shutbox" in said["games"]
    assert said["same"]
    assert said["start"]["one_die"] is True
    assert sum(int(action.removeprefix("shut ")) for action in said["turn"]) == POSITION["rest"]
    assert said["same_turn"]
    assert said["legal"] == ["shut 4", "shut 5", "shut 6", "shut 7", "shut 8", "shut 9"]
    ((event,),) = said["events"]
    assert said["applied"]["rest"] == int(event.removeprefix("roll "))
    assert said["faults"] == ["$.rest"]
    assert said["bad_option"] == ["NotationError", "other_game.options_json.one_die"]
    assert said["no_option"] == ["NotationError", "other_game.options_json"]
    assert said["bad_turn"] == ["IllegalActionError", "turn.actions[0]"]


def test_the_page_plays_it(folder):
    with commands.page(folder, environment(folder)) as call:
        (info,) = [game for game in call("GET", "/api/info")["games"] if game["name"] == "shutbox"]
        assert (info["title"], info["parts"]) == ("Shut the Box", ["board"])
        game = call("POST", "/api/games", {"position": POSITION, "seats": [{"kind": "person"}] * 2})
        picture = call("GET", f"/api/games/{game['id']}/at/0/board.svg")
        assert picture.startswith("<svg")
        assert "seat 0 to move, 9 to shut" in picture.replace("\N{NO-BREAK SPACE}", " ")
        assert game["entries"][0]["action"] == "shut 4"
        turn = {"version": game["version"], "actions": ["shut 9"], "viewer": None}
        game = call("POST", f"/api/games/{game['id']}/turn", turn)
        assert game["num_turns"] >= 1
        drawn = call("POST", "/api/draw", {"position": POSITION})
        assert (drawn["faults"], drawn["position"]) == ([], POSITION)
        assert "9 to shut" in drawn["picture"].replace("\N{NO-BREAK SPACE}", " ")
        assert call("POST", "/api/draw", {"position": {**POSITION, "rest": 99}})["faults"]
