"""What is made for any game, with Coatl: the arena, annotations, the command line, engines, the service."""

import io
import json
import sys
from pathlib import Path

import grpc
import pytest
from servers import RunningServer, failure

import mexica_ai as ai
from mexica_ai import Position
from mexica_ai.analysis.annotate import evaluate_record, seat_turns
from mexica_ai.analysis.search import SearchRun
from mexica_ai.arena import play
from mexica_ai.arena.play import Task, play_game
from mexica_ai.arena.tournament import Tournament, complete_spec, reproducible_key
from mexica_ai.cli.main import main
from mexica_ai.rpc import wire
from mexica_ai.rpc.client import Client
from mexica_ai.v1 import engine_pb2

EXAMPLES = Path(__file__).parents[2] / "examples"
MIDGAME, GAME = EXAMPLES / "coatl_midgame.json", EXAMPLES / "coatl_game.jsonl"
RECORD = json.loads(GAME.read_text())
EVENTS = ("deal", "reveal", "refill", "uncover")


def is_event(turn):
    return turn[0].split()[0] in EVENTS


EVENT_INDICES = [index for index, turn in enumerate(RECORD["turns"]) if is_event(turn)]


@pytest.fixture
def midgame():
    return ai.load(MIDGAME)


def pending(index=0):
    """Return a position of the example game in which an event is due, and the event."""
    position = Position.from_json(RECORD["start"])
    for turn in RECORD["turns"][: EVENT_INDICES[index]]:
        position.push(turn)
    return position, RECORD["turns"][EVENT_INDICES[index]]


# --- the arena


def tournament(*engines, **options):
    engines = tuple(str(complete_spec(engine, None, 9, False)) for engine in engines)
    names = tuple(f"e{index}" for index in range(len(engines)))
    return Tournament(**{"game": "coatl", "players": 2, "seed": 7, "key": reproducible_key(7), "margin_s": 5.0,
                         "engines": engines, "names": names, **options})  # fmt: skip


def play_all(matches, block=0, count=None):
    return [play_game(Task(matches, game, isolated=False)) for game in matches.block(block)[:count]]


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
def test_records_of_the_arena_replay_exactly(players):
    matches = tournament("greedy", "random", players=players)
    for record in play_all(matches, count=3):
        assert record["termination"] == "finished"
        position = ai.replay(json.dumps(record))
        assert position.scores == record["scores"]
        assert position.winners == record["winners"]
        assert {turn[0].split()[0] for turn in record["turns"]} & set(EVENTS)
        assert all(len(turn) == 1 for turn in record["turns"] if is_event(turn))


@pytest.mark.slow
def test_the_same_seed_plays_the_same_game():
    matches = tournament("mcts,iterations=30", "greedy")
    first, again = play_all(matches), play_all(matches)
    assert [record["turns"] for record in first] == [record["turns"] for record in again]
    # The games of a block have the same deal, another block another one.
    assert first[0]["start"] == first[1]["start"]
    assert play_all(matches, block=1, count=1)[0]["start"] != first[0]["start"]


def test_engines_get_what_their_seat_sees(monkeypatch):
    seen = []

    class Spy:
        name = "spy"

        def __init__(self, seat):
            self._seat = seat

        def __enter__(self):
            return self

        def close(self):
            pass

        def weights_id(self, game):
            return None

        def best_turn(self, position, limits, *, seed, candidates, stop):
            seen.append((position.viewer, position.to_move, json.dumps(position.to_json())))
            return ai.best_turn(position, iterations=5, seed=seed, candidates=1)

    spies = iter(range(99))
    monkeypatch.setattr(play, "_start", lambda spec, log=None: Spy(next(spies)))
    records = play_all(tournament("greedy", "random"))
    assert all(ai.replay(record).is_over for record in records)
    assert len(seen) == sum(not is_event(turn) for record in records for turn in record["turns"])
    for viewer, to_move, text in seen:
        assert viewer == to_move
        assert '"?"' in text
    assert {viewer for viewer, _, _ in seen} == {0, 1}


@pytest.mark.slow
@pytest.mark.real("processes")
def test_programs_play_too():
    command = f"cmd:{sys.executable} -P -m mexica_ai engine --engine random"
    record = play_all(tournament(command, "random"), count=1)[0]
    assert record["termination"] == "finished", record
    assert ai.replay(record).winners == record["winners"]


# --- annotations


class Counting:
    """A search that keeps the positions it was asked about."""

    def __init__(self):
        self.positions = []

    def __call__(self, position, settings, stop):
        self.positions.append(position.copy())
        return SearchRun(position, settings).result()


def test_each_turn_of_a_seat_is_valued_and_no_event():
    counting = Counting()
    found = list(evaluate_record(RECORD, iterations=20, seed=1, search=counting))
    played = [index for index in range(len(RECORD["turns"])) if index not in EVENT_INDICES]
    assert [evaluation.turn_index for evaluation in found] == played == seat_turns(RECORD)
    assert not any(position.is_chance for position in counting.positions)
    position = Position.from_json(RECORD["start"])
    by_index = {evaluation.turn_index: evaluation for evaluation in found}
    for index, turn in enumerate(RECORD["turns"]):
        if index in by_index:
            assert by_index[index].seat == position.to_move
            assert by_index[index].turn == turn
        position.push(turn)
        if index in by_index:
            assert by_index[index].scores == position.scores
    assert found[-1].after == [float(seat in RECORD["winners"]) for seat in range(2)]


def test_annotations_repeat_by_seed():
    one, other = (
        [
            evaluation.to_json() | {"seconds": 0}
            for evaluation in evaluate_record(RECORD, iterations=30, seed=4, turns=range(40, 52))
        ]
        for _ in range(2)
    )
    assert one == other


def test_an_event_that_is_asked_for_is_passed_over():
    asked = [EVENT_INDICES[0], EVENT_INDICES[0] - 1]
    found = list(evaluate_record(RECORD, iterations=10, seed=1, turns=asked))
    assert [evaluation.turn_index for evaluation in found] == asked[1:]


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
    code, out, _ = cli("new", "--game", "coatl", "--players", 4, "--seed", 3)
    assert code == 0
    assert json.loads(out) == ai.new_game("coatl", players=4, seed=3).to_json()
    code, out, _ = cli("new", "--game", "coatl", "--no-sacrifice-tokens", "--strict-ends", "--seed", 3)
    data = json.loads(out)
    assert data["options"] == {"sacrifice_tokens": False, "strict_ends": True}
    assert data["seats"][0]["tokens"] == []
    code, out, _ = cli("new", "--game", "coatl", "--sacrifice-tokens", "--no-strict-ends")
    assert json.loads(out)["options"] == {"sacrifice_tokens": True, "strict_ends": False}
    code, _, err = cli("new", "--strict-ends")
    assert code == 2
    assert "--strict-ends: an option of coatl; given for mexica, expected only" in err
    code, _, err = cli("new", "--game", "coatl", "--piles", "3,4")
    assert code == 2
    assert "expected only --sacrifice-tokens, --strict-ends" in err


def test_show(cli, midgame):
    code, out, _ = cli("show", MIDGAME)
    assert (code, out.rstrip("\n")) == (0, str(midgame).rstrip("\n"))
    code, out, _ = cli("show", MIDGAME, "--viewer", 1, "--json")
    assert json.loads(out) == midgame.view(1).to_json()
    code, out, _ = cli("show", MIDGAME, "--viewer", 1)
    assert "as seat 1 sees it" in out
    code, out, err = cli("show", MIDGAME, "--viewer", 2)
    assert (code, out) == (2, "")
    assert "expected a seat from 0 to 1" in err
    code, _, err = cli("show", "-", "--viewer", 1, stdin=json.dumps(midgame.view(0).to_json()))
    assert code == 2
    assert "one view does not show another" in err


def test_legal(cli, midgame):
    due, _ = pending()
    lines = [midgame, midgame.view(0), due, midgame.view(1)]
    stdin = "".join(json.dumps(position.to_json()) + "\n" for position in lines)
    code, out, _ = cli("legal", "-", stdin=stdin)
    answers = list(map(json.loads, out.splitlines()))
    assert answers[0] == answers[1] == midgame.legal_actions()
    assert answers[2] == []
    assert answers[3]["error"].startswith("line 4: the position is the view of seat 1")
    assert code == 2


def test_best(cli, midgame):
    code, out, _ = cli("best", MIDGAME, "--iterations", 300, "--seed", 1, "--json")
    assert code == 0
    assert json.loads(out)["turn"] == ai.best_turn(midgame, iterations=300, seed=1).turn
    view = json.dumps(midgame.view(0).to_json())
    code, again, _ = cli("best", "-", "--iterations", 300, "--seed", 1, "--json", stdin=view)
    assert json.loads(again)["turn"] == json.loads(out)["turn"]
    code, out, _ = cli("best", MIDGAME, "--iterations", 50, "--seed", 1, "--level", 3)
    assert "Best turn of seat 0: " in out
    for engine in ("greedy", "random", "uct", "beam"):
        code, out, _ = cli("best", MIDGAME, "--iterations", 20, "--engine", engine, "--json")
        midgame.copy().push(json.loads(out)["turn"])
    due, _ = pending()
    code, out, err = cli("best", "-", stdin=json.dumps(due.to_json()))
    assert (code, out) == (2, "")
    assert err.startswith("mexica-ai: error: a random event comes before the next turn; expected")


def test_analyze(cli):
    code, out, _ = cli("analyze", MIDGAME, "--iterations", 200, "--seed", 1, "--json")
    assert code == 0
    assert json.loads(out.splitlines()[-1])["stop_reason"] == "iterations"


def test_replay(cli):
    code, out, _ = cli("replay", GAME)
    assert code == 0
    scores = " ".join(map(str, RECORD["scores"]))
    assert out == f"{GAME}:1: scores {scores}; winner: seat {RECORD['winners'][0]}; {len(RECORD['turns'])} turns\n"
    # An impossible event, a missing one, and one that is not due.
    index = next(i for i in EVENT_INDICES if RECORD["turns"][i][0].startswith("deal"))
    turns = RECORD["turns"]
    cannot = 'cannot happen here; expected the random event that comes first, such as "deal P'
    for broken, words in (
        (
            [*turns[:index], ["reveal P00"], *turns[index + 1 :]],
            f'turn {index}, action 0 (from 0): "reveal P00" {cannot}',
        ),
        ([*turns[:index], *turns[index + 1 :]], cannot),
        ([*turns[:index], *turns[index - 1 :]], cannot),
        ([turns[0], ["deal P00"], *turns[1:]], "expected one of keep"),
    ):
        code, out, err = cli("replay", "-", stdin=json.dumps(RECORD | {"turns": broken}))
        assert (code, out) == (2, "")
        assert words in err


def test_perft(cli):
    code, out, _ = cli("perft", MIDGAME, "--depth", 1, "--divide")
    assert code == 0
    assert out.splitlines()[-1] == str(len(ai.load(MIDGAME).legal_actions()))


def test_annotate(cli):
    code, out, err = cli("annotate", GAME, "--iterations", 10, "--seed", 1, "--json")
    assert (code, err) == (0, "")
    assert [json.loads(line)["turn_index"] for line in out.splitlines()] == seat_turns(RECORD)
    first = EVENT_INDICES[0]
    code, out, err = cli("annotate", GAME, "--iterations", 10, "--turns", f"{first}-{first + 1}")
    assert (code, err) == (0, "")
    code, out, err = cli("annotate", GAME, "--iterations", 10, "--turns", f"{first + 1}")
    assert (code, err) == (0, "")


def test_arena(cli, in_process, tmp_path):
    path = tmp_path / "games.jsonl"
    code, out, err = cli(
        "arena",
        "--engine",
        "random",
        "--engine",
        "greedy",
        "--game",
        "coatl",
        "--blocks",
        1,
        "--seed",
        1,
        "--journal",
        path,
    )
    assert code == 0, err
    code, out, _ = cli("replay", path)
    assert code == 0
    assert out.count("winner") == 2


# --- an engine in another process


@pytest.mark.real("processes")
def test_the_stdio_protocol(midgame, shipped_weights):
    from mexica_ai.engines import make_engine, parse_spec

    spec = parse_spec(f"cmd:{sys.executable} -P -m mexica_ai engine")
    with make_engine(spec) as engine:
        result = engine.best_turn(midgame.view(0), ai.Limits(iterations=200), seed=1)
        assert result.turn == ai.best_turn(midgame, iterations=200, seed=1).turn
        with pytest.raises(ai.MexicaAIError, match="the view of seat 1"):
            engine.best_turn(midgame.view(1), ai.Limits(iterations=200), seed=1)


# --- the service


@pytest.fixture(scope="module")
def server():
    running = RunningServer(None, max_time_s=2.0, memory_mb=64, min_interval_s=0.01)
    yield running
    running.close()


@pytest.fixture(scope="module")
def client(server):
    with Client(server.address) as client:
        yield client


def test_a_new_game_comes_twice_as_seen_and_in_full(server):
    request = engine_pb2.NewGameRequest(players=3, seed=5)
    request.coatl.strict_ends = True
    answer = server.stub.NewGame(request)
    full = ai.new_game("coatl", players=3, seed=5, strict_ends=True)
    assert wire.position_from_message(answer.full_position) == full
    assert wire.position_from_message(answer.position) == full.view(0)
    assert answer.seed == 5


def test_the_client_plays_a_game(client):
    position = client.new_game("coatl", players=2, seed=3, sacrifice_tokens=False)
    for number in range(40):
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
        assert not applied.is_over


def test_a_turn_that_leads_to_an_event_and_the_event(client):
    due, event = pending()
    assert client.legal_actions(due) == []
    applied = client.apply_turn(due, event)
    assert not applied.position.is_chance
    assert applied.to_move is not None
    position = Position.from_json(RECORD["start"])
    for turn in RECORD["turns"][: EVENT_INDICES[0] - 1]:
        position.push(turn)
    applied = client.apply_turn(position, RECORD["turns"][EVENT_INDICES[0] - 1])
    assert applied.position == due
    assert applied.to_move is None
    assert not applied.is_over


def test_best_turn_and_analyze(client, midgame):
    expected = ai.best_turn(midgame, iterations=200, seed=1, memory_mb=64)
    for position in (midgame, midgame.view(0)):
        found = client.best_turn(position, iterations=200, seed=1)
        assert (found.turn, found.value) == (expected.turn, expected.value)
        *_, last = client.analyze(position, iterations=200, seed=1)
        assert last.turn == expected.turn


def test_what_no_seat_can_answer_is_refused(server, midgame):
    due, _ = pending()
    for position, reason in ((due, "CHANCE_PENDING"), (midgame.view(1), "NOT_ITS_VIEW")):
        request = engine_pb2.BestTurnRequest(position=wire.position_to_message(position))
        code, message, info, _ = failure(server.stub.BestTurn, request)
        assert code is grpc.StatusCode.INVALID_ARGUMENT, message
        assert info.reason == reason
    request = engine_pb2.LegalActionsRequest(position=wire.position_to_message(midgame.view(1)))
    code, _, info, _ = failure(server.stub.LegalActions, request)
    assert (code, info.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "NOT_ITS_VIEW")


def test_faults_of_a_position_are_named(client, midgame):
    data = midgame.to_json()
    assert client.validate_position(data) == []
    assert client.validate_position(midgame.view(1).to_json()) == []
    data["seats"][0]["hand"][0] = "P47"
    data["supply"]["heads"] = "KQ"
    found = client.validate_position(data)
    assert "$.supply.heads" in {violation.path for violation in found}


def test_a_record_is_valued(client):
    found = list(client.evaluate_record(RECORD, iterations=5, seed=1, first_turn=40, num_turns=12))
    assert [evaluation.turn_index for evaluation in found] == [
        index for index in range(40, 52) if index not in EVENT_INDICES
    ]
