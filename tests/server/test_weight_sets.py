"""Sets of weights of one server: requests choose them by name, and GetEngineInfo lists them."""

import dataclasses
import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from servers import IdleSearch, RunningServer, await_that, failure

import mexica_ai as ai
from mexica_ai.analysis.annotate import evaluate_record
from mexica_ai.analysis.search import SearchRun
from mexica_ai.cli.main import main
from mexica_ai.engines import make_engine
from mexica_ai.game import registry
from mexica_ai.rpc import wire
from mexica_ai.rpc.client import Client
from mexica_ai.v1 import engine_pb2

EXAMPLES = Path(__file__).parents[2] / "examples"
GAMES = [name for name in registry.names() if registry.get(name).learning.weights]
SEARCH = {"iterations": 300, "seed": 1}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a file of weights of each game other than those that ship: the hand-made estimate."""
    folder = tmp_path_factory.mktemp("weights")
    found = {}
    for game in GAMES:
        spec = registry.get(game).learning.weights
        found[game] = folder / f"{game}.json"
        spec.save(found[game], spec.estimate())
    return found


@pytest.fixture(scope="module")
def server(files):
    entries = [f"by_hand={files[game]}" for game in GAMES] + [f"again={files['mexica']}"]
    running = RunningServer(None, max_time_s=20.0, memory_mb=64, slots=2, weights=entries)
    yield running
    running.close()


@pytest.fixture
def client(server):
    with Client(server.address) as client:
        yield client


@pytest.fixture(params=GAMES)
def game(request):
    return request.param


def midgame(game):
    return ai.load(EXAMPLES / f"{game}_midgame.json")


def short_record():
    """Return a game of Mexica of two turns, without an outcome."""
    record = json.loads((EXAMPLES / "mexica_game.jsonl").read_text().splitlines()[0])
    return {**record, "turns": record["turns"][:2], "scores": None, "winners": None, "termination": "unfinished"}


def test_two_sets_answer_at_the_same_time(client, files, game):
    position = midgame(game)
    expected = {
        name: ai.best_turn(position, **SEARCH, memory_mb=64, weights=weights)
        for name, weights in ((None, None), ("shipped", None), ("by_hand", files[game]))
    }
    assert expected["by_hand"].value != expected["shipped"].value

    def ask(name):
        return name, client.best_turn(position, **SEARCH, weights=name)

    with ThreadPoolExecutor(4) as executor:
        for name, found in executor.map(ask, list(expected) * 4):
            assert found.candidates == expected[name].candidates


def test_an_analysis_uses_the_set(client, files, game):
    position = midgame(game)
    (*_, found) = client.analyze(position, **SEARCH, weights="by_hand")
    assert found.candidates == ai.best_turn(position, **SEARCH, memory_mb=64, weights=files[game]).candidates


def test_a_forced_turn_is_valued_by_the_set(client, files):
    position = forced_position()
    (found,) = client.best_turn(position, seed=1, weights="by_hand").candidates
    (expected,) = ai.best_turn(position, iterations=1, seed=1, weights=files["coatl"]).candidates
    (other,) = ai.best_turn(position, iterations=1, seed=1).candidates
    assert found == expected != other


def forced_position():
    """Return what a seat of Coatl sees where only one turn is legal: the server searches it without a slot."""
    for seed in range(100):
        position = ai.new_game("coatl", seed=seed)
        while not position.is_over:
            if position.is_chance:
                position.draw(seed)
                continue
            found = ai.best_turn(position, iterations=1, seed=1)
            if found.stop_reason == "forced":
                return position.view(position.to_move)
            position.push(found.turn)
    raise AssertionError


def test_a_record_is_valued_with_the_set(client, files):
    record = short_record()

    def by_hand(position, settings, _stop):
        return SearchRun(position, dataclasses.replace(settings, weights=files["mexica"])).result()

    expected = list(evaluate_record(record, **SEARCH, memory_mb=64, search=by_hand))
    usual = list(client.evaluate_record(record, **SEARCH))
    found = list(client.evaluate_record(record, **SEARCH, weights="by_hand"))
    assert [turn.before for turn in found] == [turn.before for turn in expected]
    assert [turn.before for turn in found] != [turn.before for turn in usual]


def test_results_say_which_weights_were_used(server, client, files):
    requests = [
        ("mexica", "", registry.get("mexica").weights().version),
        ("mexica", "by_hand", registry.load_weights_file(files["mexica"]).version),
        ("coatl", "by_hand", registry.load_weights_file(files["coatl"]).version),
        ("nim", "shipped", ""),
    ]
    for game, name, version in requests:
        position = ai.new_game("nim") if game == "nim" else midgame(game)
        request = {
            "position": wire.position_to_message(position),
            "limits": engine_pb2.Limits(iterations=20),
            "weights": name,
        }
        assert server.stub.BestTurn(engine_pb2.BestTurnRequest(**request)).result.weights == version
        result = client.best_turn(position, iterations=20, weights=name or None)
        assert result.weights == (version or None)
        messages = list(server.stub.Analyze(engine_pb2.AnalyzeRequest(**request)))
        assert {message.result.weights for message in messages} == {version}


@pytest.mark.parametrize(
    ("game", "name", "expected"),
    [
        ("mexica", "nope", "expected one of shipped, by_hand, again, the weights of mexica here"),
        ("coatl", "again", "expected one of shipped, by_hand, the weights of coatl here"),
        ("nim", "by_hand", "nim has no weights, expected no name or shipped"),
        ("mexica", "../x\n", "expected one of shipped, by_hand, again, the weights of mexica here"),
    ],
)
def test_an_unknown_name(server, game, name, expected):
    position = wire.position_to_message(ai.new_game(game, seed=1))
    calls = [
        (server.stub.BestTurn, engine_pb2.BestTurnRequest(position=position, weights=name)),
        (server.stub.Analyze, engine_pb2.AnalyzeRequest(position=position, weights=name)),
        (server.stub.EvaluateRecord, engine_pb2.EvaluateRecordRequest(start=position, weights=name)),
    ]
    for call, request in calls:
        code, message, info, faults = failure(ask, call, request)
        assert (code, info.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "UNKNOWN_WEIGHTS")
        assert message == f"weights: given {json.dumps(name)}; {expected}"
        assert [(fault.field, fault.reason) for fault in faults] == [("weights", "UNKNOWN_WEIGHTS")]
        assert expected in faults[0].description


def ask(call, request):
    answer = call(request)
    return answer if isinstance(answer, engine_pb2.BestTurnResponse) else list(answer)


def test_the_client_raises_the_servers_error(client):
    with pytest.raises(ai.NotationError, match="expected one of shipped, by_hand,") as caught:
        client.best_turn(midgame("coatl"), iterations=5, weights="nope")
    assert (caught.value.reason, caught.value.path) == ("UNKNOWN_WEIGHTS", "weights")


@pytest.mark.parametrize("name", ["", "dir/file.json", 5, Path("file"), "x" * 65])
def test_the_client_refuses_what_is_no_name(client, name):
    with pytest.raises(ai.SearchError, match=r"^weights: given .*; expected the name of a set") as caught:
        client.best_turn(midgame("mexica"), iterations=5, weights=name)
    assert caught.value.reason == "INVALID_WEIGHTS"


def test_engine_info_lists_the_sets(client, files):
    found = [(entry["game"], entry["name"]) for entry in client.engine_info()["weights"]]
    assert found == [
        ("coatl", "shipped"),
        ("coatl", "by_hand"),
        ("mexica", "shipped"),
        ("mexica", "by_hand"),
        ("mexica", "again"),
        ("tzolkin", "shipped"),
        ("tzolkin", "by_hand"),
    ]
    for entry in client.engine_info()["weights"]:
        shipped = registry.get(entry["game"]).weights()
        weights = shipped if entry["name"] == "shipped" else registry.load_weights_file(files[entry["game"]])
        assert (entry["version"], entry["sha256"]) == (weights.version, weights.sha256)


def test_the_command(server, files, capsys):
    def call(name, *args):
        code = main(["client", name, *map(str, args), "--server", server.address])
        out, err = capsys.readouterr()
        return code, out, err

    path = EXAMPLES / "mexica_midgame.json"
    search = ["--iterations", SEARCH["iterations"], "--seed", SEARCH["seed"], "--json"]
    expected = ai.best_turn(midgame("mexica"), **SEARCH, memory_mb=64, weights=files["mexica"])
    for name in ("best", "analyze"):
        code, out, _ = call(name, path, *search, "--weights", "by_hand")
        assert code == 0
        assert json.loads(out.splitlines()[-1])["value"] == expected.value
    _, out, _ = call("annotate", EXAMPLES / "mexica_game.jsonl", "--turns", "1", *search, "--weights", "by_hand")
    _, other, _ = call("annotate", EXAMPLES / "mexica_game.jsonl", "--turns", "1", *search)
    assert json.loads(out)["before"] != json.loads(other)["before"]
    _, out, _ = call("info")
    assert f"weights of mexica: {registry.load_weights_file(files['mexica']).version} (by_hand)\n" in out
    code, out, err = call("best", path, *search, "--weights", "nope")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith('mexica-ai: error: weights: given "nope"; expected one of shipped, by_hand')
    assert call("best", path, *search, "--weights", "no/name")[0] == 2


def test_an_engine_on_the_server_uses_the_set(server, files):
    position = midgame("mexica")
    expected = ai.best_turn(position, **SEARCH, memory_mb=64, weights=files["mexica"])
    limits = ai.Limits(iterations=SEARCH["iterations"])
    for spec, defaults in (
        (f"grpc:{server.address},weights=by_hand", {}),
        (f"grpc:{server.address}", {"weights": "by_hand"}),
        (f"grpc:{server.address},weights=by_hand", {"weights": "shipped"}),
    ):
        with make_engine(spec, **defaults) as engine:
            assert engine.best_turn(position, limits, seed=1).candidates == expected.candidates


def test_an_arena_with_an_unknown_name_ends_before_the_first_game(server, capsys, tmp_path):
    journal = tmp_path / "games.jsonl"
    engines = ["--engine", "random", "--engine", f"grpc:{server.address},weights=nope", "--iterations", "5"]
    assert main(["arena", *engines, "--journal", str(journal)]) == 2
    assert 'weights: given "nope"; expected one of shipped, by_hand' in capsys.readouterr().err
    assert not journal.exists()


def test_a_server_does_not_start_with_a_torn_file(files, tmp_path, capsys):
    torn = tmp_path / "torn.json"
    torn.write_bytes(files["mexica"].read_bytes()[:-500])
    with pytest.raises(ai.NotationError, match=r"torn\.json: expected JSON: .*; expected a file of weights of") as bad:
        registry.load_weights_file(torn)
    problem = str(bad.value)
    with pytest.raises(ai.SearchError) as caught:
        RunningServer(None, weights=[f"torn={torn}", f"fine={files['coatl']}"])
    assert (caught.value.reason, str(caught.value)) == ("INVALID_CONFIG", f"weights: {problem}")
    for args in (["--port", "0"], ["--check-config"]):
        assert main(["serve", "--weights", f"torn={torn}", *args]) == 2
        assert capsys.readouterr() == ("", f"mexica-ai: error: --weights: {problem}\n")


# ---- files that change while the server runs


def sums(client):
    return {(one["game"], one["name"]): one["sha256"] for one in client.engine_info()["weights"]}


def test_changed_files_are_read_again_when_asked(files, tmp_path, caplog):
    file = tmp_path / "own.json"
    file.write_bytes(files["mexica"].read_bytes())
    position = midgame("mexica")
    server = RunningServer(None, weights=[f"own={file}"])
    with Client(server.address) as client:

        def ask():
            return client.best_turn(position, iterations=50, seed=1, threads=1, weights="own")

        before, first = sums(client), ask()
        spec = registry.get("mexica").learning.weights
        spec.save(file, registry.get("mexica").weights())
        assert ask() == first  # from memory
        assert sums(client) == before
        server.run(server._server.reload_weights())
        after = sums(client)
        assert after[("mexica", "own")] == after[("mexica", "shipped")] != before[("mexica", "own")]
        second = ask()  # not the answer that is kept of the old weights
        shipped = ai.best_turn(position, iterations=50, seed=1, threads=1)
        assert second.candidates == shipped.candidates != first.candidates

        file.write_text("{}")
        server.run(server._server.reload_weights())
        assert sums(client) == after
        assert ask().candidates == second.candidates
        assert [str(file) in record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [True]
    server.close()


def test_a_running_search_keeps_its_weights(files, tmp_path):
    file = tmp_path / "own.json"
    file.write_bytes(files["mexica"].read_bytes())
    search = Recording()
    server = RunningServer(search, weights=[f"own={file}"], slots=1)
    with Client(server.address) as client, ThreadPoolExecutor(1) as executor:
        asked = executor.submit(client.best_turn, midgame("mexica"), time_s=60.0, weights="own")
        search.await_start()
        registry.get("mexica").learning.weights.save(file, registry.get("mexica").weights())
        server.run(server._server.reload_weights())
        server.stop_searches()
        asked.result()
        client.best_turn(midgame("mexica"), time_s=0.01, weights="own")
    server.close()
    old, new = search.weights
    assert old.sha256 != new.sha256 == registry.get("mexica").weights().sha256


class Recording(IdleSearch):
    """An idle search that notes its weights."""

    def __init__(self):
        super().__init__()
        self.weights = []

    def __call__(self, *args, weights, **options):
        self.weights.append(weights)
        return super().__call__(*args, weights=weights, **options)


@pytest.mark.real("ports")
def test_a_metric_tells_of_a_file_that_cannot_be_used(files, tmp_path):
    file = tmp_path / "own.json"
    file.write_bytes(files["mexica"].read_bytes())
    server = RunningServer(None, weights=[f"own={file}"], metrics_port=0)
    good = file.read_bytes()
    for content, usable in ((good, 1), (b"{}", 0), (good, 1)):
        file.write_bytes(content)
        server.run(server._server.reload_weights())
        assert server.metrics.registry.get_sample_value("mexica_ai_weights_usable") == usable
    server.close()


@pytest.mark.real("processes")
def test_a_signal_makes_the_server_read_its_weights_again(files, tmp_path):
    file = tmp_path / "own.json"
    file.write_bytes(files["mexica"].read_bytes())
    command = [sys.executable, "-P", "-m", "mexica_ai", "serve", "--port", "0", "--weights", f"own={file}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        with Client(process.stdout.readline().split()[-1]) as client:
            registry.get("mexica").learning.weights.save(file, registry.get("mexica").weights())
            process.send_signal(signal.SIGHUP)
            expected = registry.load_weights_file(file).sha256
            await_that(lambda: sums(client)["mexica", "own"] == expected)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
