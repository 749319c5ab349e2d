"""Many positions over one call, and results that answer equal questions again."""

import asyncio
import dataclasses
import itertools
import json
import logging
import threading

import grpc
import pytest
from searching import run_search
from servers import IdleSearch, RunningServer, await_that, failure
from virtual_clock import VirtualLoop

import mexica_ai as ai
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.cli.main import main
from mexica_ai.game import registry
from mexica_ai.io import files
from mexica_ai.io.errors import GameOverError, NotationError
from mexica_ai.rpc import wire
from mexica_ai.rpc.client import AsyncClient, Client
from mexica_ai.server.batches import answer_each
from mexica_ai.server.result_cache import ResultCache
from mexica_ai.server.scheduler import Question
from mexica_ai.server.service import MAX_REQUEST_BYTES
from mexica_ai.v1 import engine_pb2


@pytest.fixture(scope="module")
def server():
    server = RunningServer(None)
    yield server
    server.close()


@pytest.fixture(scope="module")
def positions():
    found = [ai.new_game(game, seed=seed) for game in ("coatl", "mexica", "nim", "tzolkin") for seed in (1, 2)]
    return [position.view(position.to_move) for position in found]


def request(name="", position=None, **limits):
    message = wire.position_to_message(position or ai.new_game("nim", piles=[3, 4, 5]))
    search = engine_pb2.BestTurnRequest(position=message, limits=engine_pb2.Limits(**limits))
    return engine_pb2.BestTurnsRequest(id=name, search=search)


def turns_of(results):
    return [result.turn for _, result in sorted(results)]


def test_each_position_is_answered_as_by_a_call_of_its_own(server, positions):
    options = {"iterations": 30, "threads": 1, "seed": 7, "candidates": 2}
    with Client(server.address) as client:
        found = dict(client.best_turns(iter(positions), **options))
        alone = [client.best_turn(position, **options) for position in positions]
    assert sorted(found) == list(range(len(positions)))
    assert [(each.turn, each.value) for _, each in sorted(found.items())] == [(a.turn, a.value) for a in alone]

    async def ask():
        async with AsyncClient(server.address) as client:
            return [pair async for pair in client.best_turns(positions, **options)]

    assert turns_of(asyncio.run(ask())) == [result.turn for result in alone]


def test_long_requests_of_one_call_do_not_refuse_each_other():
    server = RunningServer(IdleSearch(), slots=4, light_workers=1, max_waiting_per_caller=1)
    long_ = request(time_s=0.01)
    long_.search.position.json = json.dumps(ai.new_game("nim").to_json()) + 5000 * " "
    try:
        answers = list(server.stub.BestTurns(iter([long_] * 8), timeout=60))
        assert [answer.HasField("result") for answer in answers] == [True] * 8
    finally:
        server.close()


def test_what_reading_positions_raises_comes_after_the_results_before(server):
    def positions():
        yield ai.new_game("nim", piles=[3, 4, 5])
        raise KeyError("the next")

    with Client(server.address) as client:
        results = client.best_turns(positions(), iterations=5)
        assert next(results)[0] == 0
        with pytest.raises(KeyError, match="the next"):
            next(results)

    async def ask():
        async with AsyncClient(server.address) as client:
            results = client.best_turns(positions(), iterations=5)
            assert (await anext(results))[0] == 0
            with pytest.raises(KeyError, match="the next"):
                await anext(results)

    asyncio.run(ask())


def test_what_cannot_be_answered_fails_alone(server):
    over = ai.new_game("nim", piles=[1])
    over.push(["take 1 1"])
    unknown = request("no position", iterations=5)
    unknown.search.ClearField("position")
    high = request("high", iterations=5)
    high.search.level = 99
    long_name = request("x" * 65, iterations=5)
    asked = [request("good", iterations=5), request("over", over), unknown, high, long_name]
    found = {answer.id: answer for answer in server.stub.BestTurns(iter(asked))}
    assert found["good"].result.turn
    codes = {name: (answer.failure.code, answer.failure.reason) for name, answer in found.items() if name != "good"}
    assert codes == {
        "over": (grpc.StatusCode.FAILED_PRECONDITION.value[0], "GAME_OVER"),
        "no position": (grpc.StatusCode.INVALID_ARGUMENT.value[0], "MISSING_GAME"),
        "high": (grpc.StatusCode.INVALID_ARGUMENT.value[0], "INVALID_LIMITS"),
        "x" * 64: (grpc.StatusCode.INVALID_ARGUMENT.value[0], "TOO_LONG"),
    }
    assert [fault.field for fault in found["no position"].failure.violations] == ["search.position"]
    assert found["high"].failure.message.startswith("search.level: given 99; expected")


def test_a_request_that_is_too_long_fails_alone(server):
    """Up to the size at which gRPC itself ends the call."""
    long = request("long", iterations=5)
    long.search.position.json = "x" * 100_000
    longest = request("longest", iterations=5)
    longest.search.weights = "x" * (MAX_REQUEST_BYTES - 100)
    named = request("i" * 100_000, iterations=5)
    asked = [request("first", iterations=5), long, longest, named, request("last", iterations=5)]
    found = {answer.id: answer for answer in server.stub.BestTurns(iter(asked))}
    assert sorted(found) == ["first", "i" * 64, "last", "long", "longest"]
    assert found["first"].result.turn
    assert found["last"].result.turn
    for name in ("long", "longest", "i" * 64):
        refused = found[name].failure
        assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT.value[0], "TOO_LONG")
        assert refused.message.startswith("request: has ")
    longest.search.weights = "x" * MAX_REQUEST_BYTES
    code, *_ = failure(lambda: list(server.stub.BestTurns(iter([longest]))))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_the_client_has_the_exceptions_of_single_calls(server):
    over = ai.new_game("nim", piles=[1])
    over.push(["take 1 1"])
    good = ai.new_game("nim")
    with Client(server.address) as client:
        found = dict(client.best_turns([over, good], iterations=5))
        assert isinstance(found[0], GameOverError)
        assert found[1].turn
        ((_, unknown),) = client.best_turns([good], iterations=5, weights="mine")
        assert isinstance(unknown, NotationError)
        assert (unknown.reason, unknown.path) == ("UNKNOWN_WEIGHTS", "weights")
        assert str(unknown).startswith("weights: ")


@pytest.mark.parametrize(
    "name", ["mexica_ai.v1.EngineService/BestTurns", "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"]
)
@pytest.mark.parametrize("before", [0, 1])
def test_an_unreadable_message_ends_the_call(server, caplog, name, before):
    caplog.set_level(logging.INFO)
    method = server.channel.stream_stream(f"/{name}")
    code, message, _, _ = failure(lambda: list(method(iter([b""] * before + [b"\xff\xff"]))))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "cannot be parsed" in message
    # It is the caller's fault, and no more than a call in the log.
    await_that(lambda: any(name in str(getattr(record, "fields", "")) for record in caplog.records))
    logged = [(record.levelname, record.fields["code"]) for record in caplog.records]
    assert logged == [("INFO", "INVALID_ARGUMENT")]


def test_a_call_without_any_request_has_no_answers(server):
    assert list(server.stub.BestTurns(iter([]))) == []


def test_requests_are_read_only_while_few_are_in_work():
    read, in_work, most = [], 0, 0

    async def requests():
        for number in range(20):
            read.append(number)
            yield number

    async def answer(number):
        nonlocal in_work, most
        in_work += 1
        most = max(most, in_work)
        await asyncio.sleep(20 - number)
        in_work -= 1
        return number

    async def play():
        answers = answer_each(requests(), answer, 3)
        first = await anext(answers)
        assert first == 2
        assert read == [0, 1, 2]
        return [first] + [number async for number in answers]

    loop = VirtualLoop()
    assert sorted(loop.run_until_complete(play())) == list(range(20))
    loop.close()
    assert most == 3


def test_a_failure_comes_after_the_answers_to_what_was_read():
    async def requests():
        for number in itertools.count():
            yield number

    async def answer(number):
        await asyncio.sleep(5 if number != 1 else 1)
        if number == 1:
            raise ValueError("one")
        return number

    found = []

    async def play():
        async for number in answer_each(requests(), answer, 3):
            found.append(number)

    loop = VirtualLoop()
    with pytest.raises(ValueError, match="one"):
        loop.run_until_complete(play())
    loop.close()
    assert sorted(found) == [0, 2]


def test_a_server_that_shuts_down_answers_what_runs():
    search = IdleSearch()
    server = RunningServer(search, slots=1)
    asked, more = threading.Event(), threading.Event()

    def requests():
        yield request("runs", time_s=20)
        yield request("waits", time_s=20)
        asked.set()
        more.wait(60)

    answers = server.stub.BestTurns(requests())
    assert asked.wait(60)
    search.await_start()
    await_that(lambda: server.num_waiting() == 1)
    draining = threading.Thread(target=server.drain)
    draining.start()
    assert next(answers).id == "runs"
    code, _, info, _ = failure(lambda: list(answers))
    assert (code, info.reason) == (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN")
    more.set()
    draining.join()
    server.close()


def test_leaving_the_call_stops_its_searches():
    search = IdleSearch()
    server = RunningServer(search, slots=1)
    answers = server.stub.BestTurns(iter([request(time_s=60)] * 3))
    search.await_start()
    answers.cancel()
    search.await_end()
    assert search.stop_reasons == ["stopped"]
    assert server.stub.BestTurn(request(time_s=0.01).search, timeout=60).result.turn
    server.close()


def test_the_command_reads_a_position_per_line(server, tmp_path, capsys):
    lines = [json.dumps(ai.new_game("nim", piles=[3, 4]).to_json()), "{}", json.dumps({"game": "chess"}), ""]
    (tmp_path / "positions.jsonl").write_text("\n".join(lines))
    arguments = ["client", "batch", str(tmp_path / "positions.jsonl"), "--iterations", "20"]
    assert main([*arguments, "--server", server.address]) == 2
    answers = {answer["line"]: answer for answer in map(json.loads, capsys.readouterr().out.splitlines())}
    assert sorted(answers) == [1, 2, 3]
    assert answers[1]["result"]["turn"]
    assert answers[2]["error"].startswith("line 2: ")
    assert "chess" in answers[3]["error"]


def test_the_command_answers_the_lines_around_one_that_is_too_long(server, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(files, "MAX_JSON", 1000)
    line = json.dumps(ai.new_game("nim", piles=[3, 4]).to_json())
    (tmp_path / "positions.jsonl").write_text("\n".join([line, "[" * 2000, line]))
    arguments = ["client", "batch", str(tmp_path / "positions.jsonl"), "--iterations", "20"]
    assert main([*arguments, "--server", server.address]) == 2
    said = capsys.readouterr()
    answers = {answer["line"]: answer for answer in map(json.loads, said.out.splitlines())}
    assert sorted(answers) == [1, 2, 3]
    assert all(answers[number]["result"]["turn"] for number in (1, 3))
    assert answers[2]["error"] == "line 2: position: over 1,000 bytes; expected a shorter line"
    assert not said.err


# ---- results that are kept


class CountingSearch:
    """Searches, and counts."""

    def __init__(self):
        self.count = 0

    def __call__(self, *args, **kwargs):
        self.count += 1
        return run_search(*args, **kwargs)


@pytest.mark.real("ports")
def test_an_equal_question_is_answered_again_without_a_search():
    search = CountingSearch()
    server = RunningServer(search, metrics_port=0)
    position = ai.new_game("nim", piles=[3, 4, 5])
    with Client(server.address) as client:

        def ask(**changed):
            return client.best_turn(**{"position": position, "iterations": 50, "seed": 3, "threads": 1, **changed})

        first = ask()
        assert ask() == first
        assert dict(client.best_turns([position], iterations=50, seed=3, threads=1)) == {0: first}
        assert search.count == 1
        assert server.metrics.registry.get_sample_value("mexica_ai_reused_results_total") == 2
        for number, changed in enumerate(
            (
                {"seed": 4},
                {"seed": None},
                {"seed": None},
                {"iterations": 51},
                {"candidates": 1},
                {"level": 9},
                {"memory_mb": 8},
                {"position": ai.new_game("nim", piles=[3, 4, 6])},
            ),
            2,
        ):
            ask(**changed)
            assert search.count == number, changed
    server.close()


def test_a_caller_does_not_learn_what_another_one_has_asked(tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("alice 0123456789abcdef\nbob fedcba9876543210\n")
    tokens.chmod(0o600)
    search = CountingSearch()
    server = RunningServer(search, tokens_file=str(tokens))
    for token, count in (("0123456789abcdef", 1), ("0123456789abcdef", 1), ("fedcba9876543210", 2)):
        with Client(server.address, token=token) as client:
            client.best_turn(ai.new_game("nim", piles=[3, 4, 5]), iterations=50, seed=3, threads=1)
        assert search.count == count
    server.close()


def test_results_are_shared_if_the_operator_says_so(tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("alice 0123456789abcdef\nbob fedcba9876543210\n")
    tokens.chmod(0o600)
    search = CountingSearch()
    server = RunningServer(search, tokens_file=str(tokens), share_results=True)
    found = []
    for token in ("0123456789abcdef", "fedcba9876543210"):
        with Client(server.address, token=token) as client:
            found.append(client.best_turn(ai.new_game("nim", piles=[3, 4, 5]), iterations=50, seed=3, threads=1))
    assert search.count == 1
    assert found[0] == found[1]
    server.close()


def question(**changed):
    config = {"iterations": 20, "threads": 1, "memory_mb": 8}
    limits = ai.Limits(**{**config, **changed.pop("limits", {})})
    has_seed = changed.pop("has_seed", True)
    return Question(ai.new_game("nim", piles=[3, 4, 5]), SearchSettings(limits, **{"seed": 1, **changed}), has_seed)


def test_only_results_that_would_be_the_same_are_kept():
    asked = question()
    result = run_search(asked.position, asked.settings.limits, seed=1)
    cache = ResultCache(1 << 20)
    for reason in ("time", "memory", "stopped", "settled"):
        cache.put(asked, dataclasses.replace(result, stop_reason=reason), "a")
        assert cache.get(asked, "a") is None
    cache.put(asked, dataclasses.replace(result, stop_reason="iterations"), "a")
    assert cache.get(asked, "a").turn == result.turn
    for other in ("b", ""):  # who may not see by the time what another caller has asked
        assert cache.get(asked, other) is None
    assert cache.get(asked, "a") is not cache.get(asked, "a")
    timed = {"iterations": None, "time_s": 1.0}
    for other in (question(limits={"threads": 2}), question(has_seed=False), question(limits=timed)):
        cache.put(other, dataclasses.replace(result, stop_reason="iterations"), "a")
        assert cache.get(other, "a") is None


def test_results_of_other_weights_are_other_results():
    sets = [None, registry.get("mexica").weights(), registry.get("coatl").weights()]
    asked = [question(weights=weights) for weights in sets]
    result = run_search(asked[0].position, asked[0].settings.limits, seed=1)
    result = dataclasses.replace(result, stop_reason="iterations")
    cache = ResultCache(1 << 20)
    for index, one in enumerate(asked):
        cache.put(one, dataclasses.replace(result, seed=index), "a")
    assert [cache.get(one, "a").seed for one in asked] == [0, 1, 2]


def test_the_cache_has_a_size():
    asked = question()
    result = dataclasses.replace(run_search(asked.position, asked.settings.limits, seed=1), stop_reason="iterations")
    cache, none = ResultCache(10_000), ResultCache(0)
    for seed in range(200):
        cache.put(question(seed=seed), result, "")
        none.put(question(seed=seed), result, "")
    kept = [seed for seed in range(200) if cache.get(question(seed=seed), "")]
    assert 0 < len(kept) < 50
    assert kept[-1] == 199
    assert not any(none.get(question(seed=seed), "") for seed in range(200))
