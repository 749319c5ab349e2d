"""What is made for any game, with Tzolk'in: the arena, annotations, the command line, engines, the service."""

import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from played_games import path_of, records_of
from servers import RunningServer

import mexica_ai as ai
from mexica_ai import Position
from mexica_ai.analysis.annotate import evaluate_record, seat_turns
from mexica_ai.arena.play import Task, play_game
from mexica_ai.arena.tournament import Tournament, complete_spec, reproducible_key
from mexica_ai.cli.main import main
from mexica_ai.rpc import wire
from mexica_ai.rpc.client import Client
from mexica_ai.v1 import engine_pb2

ROOT = Path(__file__).parents[2]
MIDGAME, GAME = ROOT / "examples" / "tzolkin_midgame.json", path_of("tzolkin")
(RECORD,) = records_of("tzolkin")
EVENT_INDICES = [index for index, turn in enumerate(RECORD["turns"]) if turn[0].startswith("reveal")]
VECTORS = ROOT / "tests" / "data" / "vectors" / "tzolkin_positions.jsonl.gz"


@pytest.fixture
def midgame():
    return ai.load(MIDGAME)


def pending():
    """Return a position of the example game in which buildings are about to be drawn, and the event."""
    position = Position.from_json(RECORD["start"])
    for turn in RECORD["turns"][: EVENT_INDICES[0]]:
        position.push(turn)
    return position, RECORD["turns"][EVENT_INDICES[0]]


def test_the_example_game_is_worth_looking_at():
    """It has harvests, buildings of both ages, skulls and a double advance."""
    position = ai.replay(RECORD)
    assert position.scores == RECORD["scores"]
    assert max(position.scores) > 35
    words = {word for turn in RECORD["turns"] for action in turn for word in action.split()}
    assert {"build", "harvest", "climb", "reveal"} <= words
    ages = {name[:2] for seat in position.to_json()["seats"] for name in seat["buildings"]}
    assert ages == {"a1", "a2"}
    assert position.to_json()["skulls_placed"]
    assert ["advance 2"] in RECORD["turns"]


# --- the arena and annotations


def play(*engines, players):
    """Return the first game of a tournament."""
    specs = tuple(str(complete_spec(engine, None, 9, False)) for engine in engines)
    names = tuple(f"e{index}" for index in range(len(engines)))
    matches = Tournament(
        game="tzolkin",
        players=players,
        seed=7,
        key=reproducible_key(7),
        margin_s=5.0,
        engines=specs,
        names=names,
    )
    return play_game(Task(matches, matches.block(0)[0], isolated=False))


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
def test_records_of_the_arena_replay_exactly(players):
    engines = ["mcts,iterations=20", "uct,iterations=20"]
    record = play(*engines, players=players)
    assert record["termination"] == "finished"
    assert ai.replay(json.dumps(record)).scores == record["scores"]
    events = [turn for turn in record["turns"] if turn[0].startswith("reveal")]
    assert events
    assert all(len(turn) == 1 for turn in events)
    assert play(*engines, players=players)["turns"] == record["turns"]


@pytest.mark.slow
@pytest.mark.real("processes")
def test_programs_play_too():
    record = play(f"cmd:{sys.executable} -P -m mexica_ai engine --engine random", "random", players=2)
    assert record["termination"] == "finished", record
    assert ai.replay(record).winners == record["winners"]


def test_each_turn_of_a_seat_is_valued_and_no_event():
    found = list(evaluate_record(RECORD, iterations=5, seed=1))
    played = [index for index in range(len(RECORD["turns"])) if index not in EVENT_INDICES]
    assert [evaluation.turn_index for evaluation in found] == played == seat_turns(RECORD)
    [winner] = RECORD["winners"]
    assert found[-1].after == [float(seat == winner) for seat in range(3)]
    assert found[-1].scores == RECORD["scores"]


# --- the command line


@pytest.fixture
def cli(capsys, monkeypatch):
    """Run a command in this process; return its exit code and what it printed on each stream."""

    def call(*args, stdin=""):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin.encode()))))
        code = main([str(arg) for arg in args])
        return code, *capsys.readouterr()

    return call


def test_new_games(cli):
    code, out, _ = cli("new", "--game", "tzolkin", "--players", 4, "--seed", 3, "--whole-points")
    assert code == 0
    assert json.loads(out) == ai.new_game("tzolkin", players=4, seed=3, whole_points=True).to_json()
    assert json.loads(out)["options"] == {"whole_points": True}
    code, _, err = cli("new", "--game", "tzolkin", "--strict-ends")
    assert code == 2
    assert "expected only --whole-points" in err


def test_show(cli, midgame):
    code, out, _ = cli("show", MIDGAME)
    assert (code, out.rstrip("\n")) == (0, str(midgame).rstrip("\n"))
    new = json.dumps(ai.new_game("tzolkin", players=3, seed=1).to_json())
    code, out, _ = cli("show", "-", "--viewer", 1, stdin=new)
    assert code == 0
    assert "as seat 1 sees it" in out
    assert out.count("?   ?   ?   ?") == 2


def test_legal_of_a_stream(cli):
    """One position a line, one list a line, also where an event is due and at the end."""
    with gzip.open(VECTORS, "rt", encoding="utf-8") as lines:
        vectors = [json.loads(line) for line in lines]
    due, _ = pending()
    positions = [*(vector["position"] for vector in vectors), due.to_json(), ai.replay(RECORD).to_json()]
    code, out, _ = cli("legal", "-", stdin="".join(json.dumps(position) + "\n" for position in positions))
    assert code == 0
    assert list(map(json.loads, out.splitlines())) == [*(vector["legal"] for vector in vectors), [], []]


def test_best(cli, midgame):
    code, out, _ = cli("best", MIDGAME, "--iterations", 100, "--seed", 1, "--json")
    assert code == 0
    midgame.copy().push(json.loads(out)["turn"])
    for engine in ("greedy", "random", "uct", "beam"):
        code, out, _ = cli("best", MIDGAME, "--iterations", 20, "--engine", engine, "--json")
        midgame.copy().push(json.loads(out)["turn"])
    code, out, err = cli("best", "-", stdin=json.dumps(pending()[0].to_json()))
    assert (code, out) == (2, "")
    assert err.startswith("mexica-ai: error: a random event comes before the next turn; expected")


def test_replay(cli):
    code, out, _ = cli("replay", GAME)
    assert code == 0
    points = " ".join(f"{score:g}" for score in RECORD["scores"])
    [winner] = RECORD["winners"]
    assert out == f"{GAME}:1: scores {points}; winner: seat {winner}; {len(RECORD['turns'])} turns\n"
    index, turns = EVENT_INDICES[0], RECORD["turns"]
    for broken, words in (
        ([*turns[:index], ["reveal a2_farm_three"], *turns[index + 1 :]], f"turn {index}, action 0 (from 0)"),
        ([*turns[:index], *turns[index + 1 :]], 'expected the random event that comes first, such as "reveal a1_'),
        ([turns[0], ["reveal a1_farm_one"], *turns[1:]], "expected one of keep"),
    ):
        code, out, err = cli("replay", "-", stdin=json.dumps(RECORD | {"turns": broken}))
        assert (code, out) == (2, "")
        assert words in err


def test_annotate(cli):
    first = EVENT_INDICES[0]
    code, out, err = cli("annotate", GAME, "--iterations", 5, "--turns", f"{first}-{first + 2}", "--json")
    assert (code, err) == (0, "")
    assert [json.loads(line)["turn_index"] for line in out.splitlines()] == [first - 1, first + 1]


def test_perft(cli, midgame):
    code, out, _ = cli("perft", MIDGAME, "--depth", 1, "--divide")
    assert code == 0
    assert out.splitlines()[-1] == str(len(midgame.legal_actions()))


# --- the service


@pytest.fixture(scope="module")
def client():
    running = RunningServer(None, max_time_s=2.0, memory_mb=64, min_interval_s=0.01)
    with Client(running.address) as client:
        yield client
    running.close()


def test_the_client_plays_a_game(client):
    position = client.new_game("tzolkin", players=2, seed=3, whole_points=True)
    for number in range(1000):
        if position.is_over:
            break
        if position.is_chance:
            position.draw(number)
            continue
        turn = ai.best_turn(position, iterations=5, seed=number).turn
        assert set(turn[:1]) <= set(client.legal_actions(position))
        applied = client.apply_turn(position, turn)
        position.push(turn)
        assert applied.position == position
        assert applied.to_move == position.to_move
        assert applied.scores == position.scores
    assert (applied.is_over, applied.winners) == (True, position.winners)


def test_buildings_are_drawn_over_the_wire(client):
    due, event = pending()
    assert client.legal_actions(due) == []
    applied = client.apply_turn(due, event)
    assert not applied.position.is_chance
    assert applied.to_move is not None
    message = wire.position_to_message(due)
    assert wire.position_from_message(engine_pb2.Position.FromString(message.SerializeToString())) == due


def test_searches_and_records(client, midgame):
    expected = ai.best_turn(midgame, iterations=100, seed=1, memory_mb=64)
    found = client.best_turn(midgame, iterations=100, seed=1)
    assert (found.turn, found.value) == (expected.turn, expected.value)
    *_, last = client.analyze(midgame, iterations=100, seed=1)
    assert last.turn == expected.turn
    values = list(client.evaluate_record(RECORD, iterations=5, seed=1, first_turn=0, num_turns=12))
    assert [value.turn_index for value in values] == [index for index in range(12) if index not in EVENT_INDICES]


def test_faults_of_a_position_are_named(client, midgame):
    data = midgame.to_json()
    assert client.validate_position(data) == []
    data["seats"][0]["temples"]["chaac"] = 9
    data["teeth_corn"] = 99
    paths = {violation.path for violation in client.validate_position(data)}
    assert paths == {"$.seats[0].temples.chaac", "$.teeth_corn"}
