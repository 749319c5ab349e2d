"""The calls of the service beside BestTurn, each over a real connection, with the real search."""

import asyncio
import contextlib
import json
import os
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2
from grpc_status import rpc_status
from servers import IdleSearch, RunningServer, await_that, failure
from virtual_clock import VirtualLoop

import mexica_ai as ai
from mexica_ai.analysis import levels
from mexica_ai.analysis.margin import NUM_RECENT, Margin
from mexica_ai.analysis.ratings import ratings_of
from mexica_ai.analysis.search import Search
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.rpc import wire
from mexica_ai.rpc.client import AsyncClient, Client, service_config
from mexica_ai.server import admission, answers, app, rejections, scheduler, service, workers
from mexica_ai.server.fair_semaphore import RETRY_S, FairSemaphore
from mexica_ai.server.runner import NICENESS, make_run
from mexica_ai.server.slots import MIN_SEARCH_S, BusyError, SearchSlots, loop_time
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def server():
    # The margin lets busy machines answer in time.
    running = RunningServer(None, memory_mb=64, min_interval_s=0.01, deadline_margin_s=1.0)
    yield running
    running.close()


@pytest.fixture(scope="module")
def client(server):
    with Client(server.address) as client:
        yield client


@pytest.fixture(scope="module")
def mexica():
    return ai.load(EXAMPLES / "mexica_midgame.json")


@pytest.fixture
def nim():
    return ai.new_game("nim", piles=[7, 6, 5])


# ---- Analyze


def test_analysis_ends_with_exactly_one_final_message(server, mexica):
    request = engine_pb2.AnalyzeRequest(
        position=wire.position_to_message(mexica),
        limits=engine_pb2.Limits(time_s=0.3),
        interval_s=0.02,
        num_candidates=3,
        seed=7,
    )
    answers = list(server.stub.Analyze(request))
    assert len(answers) > 1
    assert [answer.is_final for answer in answers] == [False] * (len(answers) - 1) + [True]
    assert [bool(answer.result.stop_reason) for answer in answers] == [answer.is_final for answer in answers]
    iterations = [answer.result.iterations for answer in answers]
    assert iterations == sorted(iterations)
    best = answers[-1].result
    assert 1 <= len(best.candidates) <= 3
    assert best.seed == 7
    mexica.copy().push(list(best.turn))


@pytest.mark.real("time")
def test_a_deadline_ends_an_unlimited_analysis_with_a_final_message(client, mexica):
    results = list(client.analyze(mexica, unlimited=True, interval_s=0.1, timeout_s=2))
    assert results[-1].stop_reason in ("time", "settled")


def test_an_analysis_is_stopped_by_its_name(client, mexica):
    results = client.analyze(mexica, unlimited=True, interval_s=0.02, analysis_id="mine")
    assert next(results).stop_reason == ""
    assert client.stop_analysis("somebody-elses") == 0
    assert client.stop_analysis("mine") == 1
    rest = list(results)
    assert rest[-1].stop_reason == "stopped"
    assert client.stop_analysis("mine") == 0


@pytest.mark.real("time")
def test_an_unlimited_analysis_goes_on_beyond_the_cap_until_somebody_waits(mexica, nim):
    running = RunningServer(None, slots=1, max_time_s=0.1)
    try:
        with Client(running.address) as client:
            results = client.analyze(mexica, unlimited=True, interval_s=0.05)
            began = time.monotonic()
            while time.monotonic() - began < 0.4:
                assert next(results).stop_reason == ""
            assert client.best_turn(nim, time_s=0.01, timeout_s=60).turn
            assert list(results)[-1].stop_reason == "stopped"
    finally:
        running.close()


def test_closing_an_analysis_frees_its_slot(mexica, nim):
    running = RunningServer(None, slots=1, memory_mb=64)
    try:
        with Client(running.address) as client:
            results = client.analyze(mexica, time_s=20, interval_s=0.05)
            next(results)
            results.close()
            client.best_turn(nim, time_s=0.01, timeout_s=15)  # before the analysis would have ended
    finally:
        running.close()


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [("interval_s", -1.0, "interval_s"), ("interval_s", float("nan"), "interval_s"),
     ("analysis_id", "a b", "analysis_id"), ("analysis_id", "x" * 65, "analysis_id"), ("level", 11, "level")],
)  # fmt: skip
def test_what_an_analysis_refuses(server, nim, field, value, path):
    request = engine_pb2.AnalyzeRequest(position=wire.position_to_message(nim), **{field: value})
    code, _, _, faults = failure(list, server.stub.Analyze(request))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert [fault.field for fault in faults] == [path]


def test_the_async_client_analyzes(server, mexica):
    async def ask():
        async with AsyncClient(server.address) as client:
            return [result async for result in client.analyze(mexica, time_s=0.1, interval_s=0.02)]

    assert server.run(ask())[-1].stop_reason in ("time", "settled")


def test_levels(client, server, mexica):
    remote = client.best_turn(mexica, level=1, seed=3, time_s=60)
    assert remote.turn == ai.best_turn(mexica, level=1, seed=3, time_s=60, memory_mb=64).turn
    request = engine_pb2.BestTurnRequest(position=wire.position_to_message(mexica), level=11)
    code, _, _, faults = failure(server.stub.BestTurn, request)
    assert (code, faults[0].field) == (grpc.StatusCode.INVALID_ARGUMENT, "level")


@pytest.mark.real("time")
def test_an_analysis_that_waits_for_a_slot_can_be_stopped(mexica, nim):
    search = IdleSearch()
    running = RunningServer(search, slots=1)
    try:
        request = engine_pb2.BestTurnRequest(
            position=wire.position_to_message(mexica), limits=engine_pb2.Limits(time_s=20)
        )
        first = running.stub.BestTurn.future(request)
        search.await_start()
        asking = engine_pb2.AnalyzeRequest(
            position=wire.position_to_message(nim), analysis_id="mine", limits=engine_pb2.Limits(time_s=0.05)
        )
        answers = running.stub.Analyze(asking)
        stop = engine_pb2.StopAnalysisRequest(analysis_id="mine")
        while running.stub.StopAnalysis(stop).num_stopped == 0:
            time.sleep(0.01)
        (answer,) = answers
        assert answer.is_final
        assert answer.result.stop_reason == engine_pb2.STOP_REASON_STOPPED
        assert answer.result.turn
        assert not first.done()
        first.cancel()
    finally:
        running.close()


@pytest.mark.real("time")
def test_a_search_that_fails_ends_the_stream_of_a_slow_reader(nim):
    def failing_watch(position, limits, **_):
        best = ai.best_turn(position, iterations=5, seed=1)
        for _ in range(40):
            yield replace(best, stop_reason="", candidates=best.candidates * 2000)
        raise RuntimeError("broken")

    running = RunningServer(None, watch=failing_watch)
    try:
        answers = running.stub.Analyze(engine_pb2.AnalyzeRequest(position=wire.position_to_message(nim)), timeout=20)
        next(answers)
        time.sleep(0.5)
        with pytest.raises(grpc.RpcError) as caught:
            list(answers)
        assert caught.value.code() is grpc.StatusCode.INTERNAL
    finally:
        running.close()


def test_a_forced_turn_is_analysed_at_once():
    search = IdleSearch()
    running = RunningServer(search, slots=1)
    try:
        request = engine_pb2.AnalyzeRequest(
            position=wire.position_to_message(ai.new_game("nim", piles=[1])),
            limits=engine_pb2.Limits(time_s=0.01),
        )
        (answer,) = running.stub.Analyze(request, timeout=60)
        assert answer.is_final
    finally:
        running.close()


# ---- games


def test_a_whole_game_over_the_wire(client):
    position = client.new_game("mexica", players=3, seed=5)
    assert position == ai.new_game("mexica", players=3, seed=5)
    totals = [0, 0, 0]
    turns = 0
    while not position.is_over:
        result = client.best_turn(position, iterations=5, seed=turns)
        before = position.copy()
        applied = client.apply_turn(position, result.turn)
        before.push(result.turn)
        assert applied.position == before
        assert (applied.to_move, applied.is_over, applied.winners) == (
            before.to_move,
            before.is_over,
            before.winners,
        )
        totals = [total + points for total, points in zip(totals, applied.scored, strict=True)]
        assert applied.scores == totals
        position = applied.position
        turns += 1
    assert max(totals) > 0
    assert applied.winners


@pytest.mark.slow
def test_a_whole_game_of_tzolkin_by_three_calls(server):
    request = engine_pb2.NewGameRequest(players=3, seed=4)
    request.tzolkin.SetInParent()
    dealt = server.stub.NewGame(request)
    full, view = dealt.full_position, dealt.position
    host = ai.new_game("tzolkin", players=3, seed=4)
    events, exact = [], []
    for number in range(1000):
        seen = wire.position_from_message(view)
        assert seen == host.view(host.to_move)
        if view.tzolkin.phase == "keep":
            others = [seat for index, seat in enumerate(view.tzolkin.seats) if index != seen.viewer]
            assert all(set(seat.dealt) == {"?"} for seat in others)
        limits = engine_pb2.Limits(iterations=3)
        search = engine_pb2.BestTurnRequest(position=view, limits=limits, seed=number)
        turn = server.stub.BestTurn(search).result.turn
        request = engine_pb2.ApplyTurnRequest(position=full, draw_events=True, seed=number)
        request.turn.actions.extend(turn)
        applied = server.stub.ApplyTurn(request)
        before = host.scores
        host.push(list(turn))
        for event in applied.events:
            host.push(list(event.actions))
            events.append(event.actions[0].split()[0])
        assert wire.position_from_message(applied.position) == host
        assert wire.points_from_message(applied, "scores") == host.scores
        gained = [after - early for after, early in zip(host.scores, before, strict=True)]
        assert wire.points_from_message(applied, "scored") == gained
        exact += applied.exact_scores
        if applied.is_over:
            break
        full, view = applied.position, applied.view
    assert list(applied.winners) == host.winners != []
    assert set(events) == {"reveal"}
    assert exact  # final points have quarters


@pytest.mark.slow
def test_a_whole_game_of_coatl_by_three_calls(server):
    request = engine_pb2.NewGameRequest(players=3, seed=3)
    request.coatl.SetInParent()
    dealt = server.stub.NewGame(request)
    full, view = dealt.full_position, dealt.position
    host = ai.new_game("coatl", players=3, seed=3)
    events = []
    for number in range(1000):
        # What is sent to be searched is what the seat to move sees, and no more.
        seen = wire.position_from_message(view)
        assert (seen, seen.viewer) == (host.view(host.to_move), host.to_move)
        others = [seat for index, seat in enumerate(view.coatl.seats) if index != seen.viewer]
        assert all(set(seat.hand) <= {"?", *seat.shown} for seat in others)
        assert all(set(seat.temples) <= {"?", *seat.shown_temples} for seat in others)
        limits = engine_pb2.Limits(iterations=3)
        search = engine_pb2.BestTurnRequest(position=view, limits=limits, seed=number)
        turn = server.stub.BestTurn(search).result.turn
        request = engine_pb2.ApplyTurnRequest(position=full, draw_events=True, seed=number)
        request.turn.actions.extend(turn)
        applied = server.stub.ApplyTurn(request)
        host.push(list(turn))
        for event in applied.events:
            assert host.is_chance
            host.push(list(event.actions))
            events.append(event.actions[0].split()[0])
        assert wire.position_from_message(applied.position) == host
        assert (list(applied.scores), applied.is_over) == (host.scores, host.is_over)
        assert applied.HasField("seed") == bool(applied.events)
        if applied.is_over:
            break
        full, view = applied.position, applied.view
    assert list(applied.winners) == host.winners != []
    assert not applied.HasField("view")
    assert {"reveal", "refill"} <= set(events)


def test_random_events_are_drawn_when_asked_for(client, server):
    position = client.new_game("coatl", players=2, seed=1)
    for _ in range(2):
        position = client.apply_turn(position, "keep").position
    applied = client.apply_turn(position, "draw deck")
    assert (applied.to_move, applied.events, applied.position.is_chance) == (None, [], True)
    drawn = client.apply_turn(position, "draw deck", draw_events=True, seed=5)
    ((event,),) = drawn.events
    assert event.startswith("deal P")
    assert drawn.to_move == position.to_move
    assert client.apply_turn(position, ["draw deck"], draw_events=True, seed=5) == drawn
    applied.position.push(event)
    assert applied.position == drawn.position
    events = {client.apply_turn(position, "draw deck", draw_events=True, seed=seed).events[0][0] for seed in range(8)}
    assert len(events) > 1
    # Without a turn, where an event comes first.
    before = position.copy()
    before.push("draw deck")
    assert client.apply_turn(before, None, draw_events=True, seed=5).position == drawn.position
    for turn, draws in ((None, False), ("draw deck", True)):
        with pytest.raises(ai.MexicaAIError):
            client.apply_turn(before, turn, draw_events=draws)
    with pytest.raises(ai.NotationError):
        client.apply_turn(position, None, draw_events=True)
    request = engine_pb2.ApplyTurnRequest(position=wire.position_to_message(position), draw_events=True)
    code, *_ = failure(server.stub.ApplyTurn, request)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    # A game without any, and what is left when the view is another seat's.
    mexica = ai.load(EXAMPLES / "mexica_midgame.json")
    turn = ai.best_turn(mexica, iterations=5, seed=1).turn
    assert client.apply_turn(mexica, turn, draw_events=True).events == []
    request.position.CopyFrom(wire.position_to_message(position.view(position.to_move)))
    request.turn.actions.extend(["take body " + position.to_json()["supply"]["bodies"][0]])
    answer = server.stub.ApplyTurn(request)
    assert answer.HasField("to_move")
    assert not answer.HasField("view")


def test_a_new_game_hides_what_nobody_may_see(server):
    pool = [3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 10, 11, 12, 13]
    request = engine_pb2.NewGameRequest(players=2, seed=1)
    request.mexica.pool.extend(pool)
    answer = server.stub.NewGame(request)
    assert list(answer.position.mexica.calpulli.upcoming) == []
    assert len(answer.full_position.mexica.calpulli.upcoming) == 7
    assert not wire.position_from_message(answer.position).has_one_world
    assert answer.seed == 1


def test_new_games_that_cannot_be(client, server):
    code, *_ = failure(server.stub.NewGame, engine_pb2.NewGameRequest())
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    with pytest.raises(ai.PositionError):
        client.new_game("mexica", players=9)
    with pytest.raises(ai.PositionError):
        client.new_game("mexica", pool=[3] * 14)
    with pytest.raises(ai.NotationError, match="nonsense"):
        client.new_game("mexica", nonsense=3)
    with pytest.raises(ai.UnknownGameError):
        client.new_game("seed")
    assert client.new_game("nim", piles=[1, 2]).to_json()["piles"] == [1, 2]


def test_turns_that_cannot_be_played(client, mexica):
    with pytest.raises(ai.IllegalActionError) as caught:
        client.apply_turn(mexica, ["walk A1", "end"])
    assert caught.value.path == "turn.actions[0]"
    with pytest.raises(ai.NotationError):
        client.apply_turn(mexica, ["fly A1"])


def test_legal_actions(client, mexica):
    assert client.legal_actions(mexica) == mexica.legal_actions()
    action = mexica.legal_actions()[0]
    after = mexica.copy()
    after.push_action(action)
    assert client.legal_actions(mexica, [action]) == after.legal_actions()
    with pytest.raises(ai.IllegalActionError) as caught:
        client.legal_actions(mexica, ["walk A1"])
    assert caught.value.path == "actions[0]"


def test_all_faults_of_a_position_at_once(client, mexica):
    data = mexica.to_json()
    assert client.validate_position(data) == []
    data["seats"][0]["score"] = -1
    data["bridges"].append({"at": "A1", "axis": "ns"})
    with pytest.raises(ai.MexicaAIError) as caught:
        ai.Position.from_json(data)
    expected = list(caught.value.violations)
    assert len(expected) >= 2
    assert client.validate_position(data) == expected
    del data["version"]
    assert any("version" in fault.path for fault in client.validate_position(data))
    with pytest.raises(ai.NotationError):
        client.validate_position({**data, "unheard_of": 1})
    assert client.validate_position({"game": "chess"})


def test_proposals(client, mexica):
    from mexica_ai import consider_proposal

    actions = [f"remove {size}" for size in mexica.to_json()["calpulli"]["display"][:2]]
    assert client.consider_proposal(mexica, actions) == consider_proposal(mexica, actions)
    with pytest.raises((ai.PositionError, ai.NotationError)):
        client.consider_proposal(mexica, ["remove 99"])


def test_games_and_engine(client):
    games = {game["name"]: game for game in client.list_games()}
    assert games["mexica"]["max_players"] == 4
    info = client.engine_info()
    assert info["caps"]["time_s"] == 60.0
    assert (info["caps"]["request_bytes"], info["caps"]["record_bytes"]) == (1 << 16, 1 << 20)
    assert (info["lowest_level"], info["highest_level"]) == (1, 10)
    assert [weights["game"] for weights in info["weights"]] == ["coatl", "mexica", "tzolkin"]
    assert all(len(weights["sha256"]) == 64 for weights in info["weights"])
    mexica = [level for level in info["levels"] if level["game"] == "mexica"]
    assert [level["level"] for level in mexica] == list(levels.LEVELS)
    assert [level["rating"] for level in mexica] == [rating.elo for rating in ratings_of("mexica").values()]
    assert all(level["rating_low"] <= level["rating"] <= level["rating_high"] for level in mexica)
    assert [mexica[index][key] for index in (0, 9) for key in ("name", "rank")] == [
        *("Butterfly", "beginner"),
        *("Serpent", "expert"),
    ]
    nim = [level for level in info["levels"] if level["game"] == "nim"]
    assert len(nim) == 10
    assert not any(level["is_measured"] for level in nim)


# ---- EvaluateRecord


def test_a_record_is_valued_turn_by_turn(client):
    position = ai.new_game("nim", piles=[3, 2])
    turns = [["take 1 1"], ["take 1 2"], ["take 1 1"]]
    start = position.to_json()
    record = {"game": "nim", "version": 1, "start": start, "turns": turns, "scores": None, "winners": None}
    found = list(client.evaluate_record(record, iterations=300, seed=1))
    assert [evaluation.turn_index for evaluation in found] == [0, 1, 2]
    assert [evaluation.turn for evaluation in found] == turns
    local = list(ai.evaluate_record(record, iterations=300, seed=1, memory_mb=64))
    assert [evaluation.loss for evaluation in found] == [evaluation.loss for evaluation in local]
    part = list(client.evaluate_record(record, iterations=300, seed=1, first_turn=1, num_turns=1))
    assert [evaluation.turn_index for evaluation in part] == [1]


def test_a_record_that_is_none(server, client):
    request = engine_pb2.EvaluateRecordRequest(
        start=wire.position_to_message(ai.new_game("nim", piles=[3])),
        turns=[engine_pb2.Turn(actions=["take 1 1"]), engine_pb2.Turn(actions=["take 9 1"])],
    )
    code, _, _, faults = failure(list, server.stub.EvaluateRecord(request))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert faults[0].field.startswith("turns[1]")


def test_turns_that_a_record_does_not_have(server):
    start = wire.position_to_message(ai.new_game("nim", piles=[3]))
    turns = [engine_pb2.Turn(actions=["take 1 1"])]
    for first, number, path in ((2, 0, "first_turn"), (2**32 - 1, 0, "first_turn"), (0, 2, "num_turns")):
        request = engine_pb2.EvaluateRecordRequest(start=start, turns=turns, first_turn=first, num_turns=number)
        code, _, _, faults = failure(list, server.stub.EvaluateRecord(request))
        assert (code, faults[0].field) == (grpc.StatusCode.INVALID_ARGUMENT, path)


# ---- load


def test_long_lists_are_refused_before_they_are_read(server, mexica):
    request = engine_pb2.ValidatePositionRequest(position=wire.position_to_message(mexica))
    for _ in range(1025):
        request.position.mexica.seats.add()
    answer = server.stub.ValidatePosition(request)
    assert [fault.reason for fault in answer.violations] == ["TOO_LONG"]
    assert answer.violations[0].field == "position.mexica.seats"
    many = engine_pb2.NewGameRequest()
    many.nim.piles.extend([1] * 1025)
    code, _, _, faults = failure(server.stub.NewGame, many)
    assert (code, faults[0].field) == (grpc.StatusCode.INVALID_ARGUMENT, "nim.piles")
    long_ = engine_pb2.LegalActionsRequest(position=wire.position_to_message(mexica), actions=["x" * 70_000])
    code, message, info, _ = failure(server.stub.LegalActions, long_)
    assert (code, info.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "TOO_LONG")
    assert message == f"request: has {long_.ByteSize()} bytes; expected 65536 at most"
    record = engine_pb2.EvaluateRecordRequest(start=request.position)
    record.turns.extend([engine_pb2.Turn(actions=["x" * 100])] * 1000)
    code, _, _, faults = failure(list, server.stub.EvaluateRecord(record))
    assert (code, faults[0].field) == (grpc.StatusCode.INVALID_ARGUMENT, "start.mexica.seats")


def test_calls_are_answered_while_clients_hear_of_the_end(nim, monkeypatch):
    lingering, over = threading.Event(), asyncio.Event()

    async def sleep(seconds):
        if seconds == app.LINGER_S:
            lingering.set()
            await over.wait()
        else:
            await asyncio.sleep(seconds)

    running = RunningServer(None, grace_s=2.0)
    request = engine_pb2.LegalActionsRequest(position=wire.position_to_message(nim))
    running.stub.LegalActions(request)
    monkeypatch.setattr(app, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": sleep}))
    draining = threading.Thread(target=running.drain)
    draining.start()
    assert lingering.wait(60)
    status = running.health.Check(health_pb2.HealthCheckRequest(), timeout=60).status
    assert status == health_pb2.HealthCheckResponse.NOT_SERVING
    assert running.stub.LegalActions(request, timeout=60).actions
    running._loop.call_soon_threadsafe(over.set)
    draining.join()
    code, *_ = failure(running.stub.LegalActions, request, timeout=60)
    assert code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
    running.channel.close()
    running._end_loop()


def test_a_busy_server_says_when_to_retry(nim):
    search = IdleSearch()
    running = RunningServer(search, slots=1, max_waiting=0)
    try:
        request = engine_pb2.BestTurnRequest(
            position=wire.position_to_message(nim), limits=engine_pb2.Limits(time_s=60.0)
        )
        first = running.stub.BestTurn.future(request)
        search.await_start()
        with pytest.raises(grpc.RpcError) as caught:
            running.stub.BestTurn(request)
        retry = error_details_pb2.RetryInfo()
        assert any(detail.Unpack(retry) for detail in rpc_status.from_call(caught.value).details)
        assert 1.0 < retry.retry_delay.ToTimedelta().total_seconds() <= 60.0
        first.cancel()
    finally:
        running.close()


@pytest.mark.real("time")
def test_the_client_retries_until_a_slot_is_free(nim):
    search = IdleSearch()
    running = RunningServer(search, slots=1, max_waiting=0)
    try:
        with Client(running.address) as client:
            first = threading.Thread(target=client.best_turn, args=(nim,), kwargs={"time_s": 0.3})
            first.start()
            search.await_start()
            assert client.best_turn(nim, time_s=0.01).turn
            first.join()
    finally:
        running.close()


def test_forced_turns_need_no_slot(mexica):
    search = IdleSearch()
    running = RunningServer(search, slots=1, max_waiting=1)
    forced = ai.new_game("nim", piles=[1])
    try:
        long_ = engine_pb2.BestTurnRequest(
            position=wire.position_to_message(mexica), limits=engine_pb2.Limits(time_s=20)
        )
        first = running.stub.BestTurn.future(long_)
        search.await_start()
        short = engine_pb2.BestTurnRequest(
            position=wire.position_to_message(forced), limits=engine_pb2.Limits(time_s=0.01)
        )
        assert running.stub.BestTurn(short).result.turn == ["take 1 1"]
        first.cancel()
    finally:
        running.close()


def test_a_call_that_is_rejected_is_not_read(nim):
    search = IdleSearch()
    running = RunningServer(search, slots=1, max_waiting=0)
    try:
        request = engine_pb2.BestTurnRequest(
            position=wire.position_to_message(nim), limits=engine_pb2.Limits(time_s=20)
        )
        first = running.stub.BestTurn.future(request)
        search.await_start()
        request.position.nim.to_move = 9
        code, *_ = failure(running.stub.BestTurn, request)
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        request.limits.time_s = -1.0  # faults that are found at no cost are still reported
        code, *_ = failure(running.stub.BestTurn, request)
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        first.cancel()
    finally:
        running.close()


def test_an_overloaded_server_looks_at_some_calls_for_forced_turns(nim, monkeypatch):
    monkeypatch.setattr(scheduler, "FORCED_CHECK_S", 60.0)
    search = IdleSearch()
    running = RunningServer(search, slots=1, max_waiting=0)
    rejected = []
    monkeypatch.setattr(running.metrics, "rejected", rejected.append)
    try:
        request = engine_pb2.BestTurnRequest(
            position=wire.position_to_message(nim), limits=engine_pb2.Limits(time_s=20)
        )
        first = running.stub.BestTurn.future(request)
        search.await_start()
        request.position.CopyFrom(wire.position_to_message(ai.new_game("nim", piles=[1])))
        assert list(running.stub.BestTurn(request).result.turn) == ["take 1 1"]
        assert rejected == []  # it was answered
        # The next one comes too soon to be looked at.
        code, _, info, _ = failure(running.stub.BestTurn, request)
        assert (code, info.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_WAITING")
        assert rejected == ["TOO_MANY_WAITING"]
        first.cancel()
    finally:
        running.close()


def test_while_a_slot_is_free_calls_are_read_however_short_their_deadline(nim):
    running = RunningServer(IdleSearch(), slots=1, deadline_margin_s=100)
    try:
        request = engine_pb2.BestTurnRequest(
            position=wire.position_to_message(ai.new_game("nim", piles=[1])),
            limits=engine_pb2.Limits(time_s=20),
        )
        assert list(running.stub.BestTurn(request, timeout=60).result.turn) == ["take 1 1"]
        request.position.nim.to_move = 9
        code, *_ = failure(running.stub.BestTurn, request, timeout=60)
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        request.position.CopyFrom(wire.position_to_message(nim))
        code, _, info, _ = failure(running.stub.BestTurn, request, timeout=60)
        assert (code, info.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "DEADLINE_TOO_SHORT")
    finally:
        running.close()


def test_actions_in_what_a_seat_sees_are_tried_beside_the_event_loop(server, monkeypatch):
    threads = []

    def noted(function):
        def noting(request):
            threads.append(threading.current_thread().name.partition("_")[0])
            return function(request)

        return noting

    for name in ("apply_turn", "legal_actions"):
        monkeypatch.setattr(answers, name, noted(getattr(answers, name)))
    position = ai.load(EXAMPLES / "coatl_midgame.json")
    view = wire.position_to_message(position.view((position.to_move + 1) % position.players))
    turn = engine_pb2.Turn(actions=["keep P01 P02 P03"])
    code, *_ = failure(server.stub.ApplyTurn, engine_pb2.ApplyTurnRequest(position=view, turn=turn))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    request = engine_pb2.LegalActionsRequest(position=view, actions=turn.actions)
    code, *_ = failure(server.stub.LegalActions, request)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert threads == ["light", "light"]
    request = engine_pb2.LegalActionsRequest(position=wire.position_to_message(position))
    assert server.stub.LegalActions(request).actions
    assert threads[2] != "light"


def test_positions_that_may_hold_memories_are_read_beside_the_event_loop(monkeypatch):
    threads, read = [], wire.position_from_message

    def noting(message, path="position"):
        threads.append(threading.current_thread().name.partition("_")[0])
        return read(message, path)

    monkeypatch.setattr(wire, "position_from_message", noting)
    position = ai.load(EXAMPLES / "coatl_midgame.json")
    plain = wire.position_to_message(position.view(position.to_move))
    remembering = engine_pb2.Position(coatl=plain.coatl)
    remembering.coatl.memory.append("renew 0")
    texts = [engine_pb2.Position(compact="coatl/1"), engine_pb2.Position(json=r'{"game": "\u0063oatl"}')]
    search = IdleSearch()
    running = RunningServer(search, slots=1, max_waiting=0)
    try:
        long_ = engine_pb2.BestTurnRequest(position=plain, limits=engine_pb2.Limits(time_s=20))
        first = running.stub.BestTurn.future(long_)
        search.await_start()
        assert "light" not in threads
        threads.clear()
        for slow in (remembering, *texts):
            running.stub.ValidatePosition(engine_pb2.ValidatePositionRequest(position=slow))
            failure(running.stub.GetView, engine_pb2.GetViewRequest(position=slow))
            failure(running.stub.LegalActions, engine_pb2.LegalActionsRequest(position=slow))
        long_.position.CopyFrom(remembering)  # it is rejected, and not looked at
        failure(running.stub.BestTurn, long_)
        assert threads == ["light"] * 9
        first.cancel()
    finally:
        running.close()


def test_long_lists_of_first_actions_are_checked_beside_the_event_loop(server, nim, monkeypatch):
    threads, check = [], service.first_action_arguments

    def noting(position, settings):
        threads.append(threading.current_thread().name.partition("_")[0])
        return check(position, settings)

    monkeypatch.setattr(service, "first_action_arguments", noting)
    limits = engine_pb2.Limits(iterations=5)
    request = engine_pb2.BestTurnRequest(position=wire.position_to_message(nim), limits=limits, allow=["take 1 1"])
    assert server.stub.BestTurn(request).result.turn
    assert threads.pop() != "light"
    request.allow.extend(["take 1 1"] * 500)
    assert server.stub.BestTurn(request).result.turn
    assert threads == ["light"]


@pytest.mark.real("ports")
def test_one_callers_many_calls_let_others_through_and_are_limited(nim, monkeypatch):
    going, go = threading.Semaphore(0), threading.Event()

    def slow_answer(request):
        going.release()
        assert go.wait(60)
        return engine_pb2.ValidatePositionResponse()

    monkeypatch.setattr(answers, "validate_position", slow_answer)
    running = RunningServer(IdleSearch(), port=0, light_workers=1, max_waiting_per_caller=3)
    try:
        large = engine_pb2.ValidatePositionRequest(position=wire.position_to_message(nim))
        large.position.nim.piles.extend([1000] * 1000 + [10**9] * 1000)
        assert service.SMALL_BYTES < large.ByteSize() < wire.MAX_BYTES
        many = [running.stub.ValidatePosition.future(large, timeout=60)]
        assert going.acquire(timeout=60)
        many += [running.stub.ValidatePosition.future(large, timeout=60) for _ in range(5)]
        for call in those_that_end(many, 2):
            assert call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            retry = error_details_pb2.RetryInfo()
            assert any(detail.Unpack(retry) for detail in rpc_status.from_call(call).details)
        with grpc.insecure_channel(running.address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
            other = engine_pb2_grpc.EngineServiceStub(channel).ValidatePosition.future(large, timeout=60)
            small = engine_pb2.LegalActionsRequest(position=wire.position_to_message(nim))
            assert running.stub.LegalActions(small, timeout=60).actions
            go.set()
            other.result()
        assert sum(call.exception() is None for call in many) == 4
    finally:
        running.close()


def test_forced_turns_do_not_wait_for_light_workers(mexica, monkeypatch):
    going, go = threading.Semaphore(0), threading.Event()

    def slow_answer(request):
        going.release()
        assert go.wait(60)
        return engine_pb2.ConsiderProposalResponse()

    monkeypatch.setattr(answers, "consider", slow_answer)
    running = RunningServer(IdleSearch(), light_workers=1, max_waiting_per_caller=1)
    try:
        slow = running.stub.ConsiderProposal.future(
            engine_pb2.ConsiderProposalRequest(position=wire.position_to_message(mexica), actions=["remove 3"])
        )
        assert going.acquire(timeout=60)
        forced = engine_pb2.BestTurnRequest(position=wire.position_to_message(ai.new_game("nim", piles=[1])))
        calls = [running.stub.BestTurn.future(forced, timeout=60) for _ in range(40)]
        assert all(list(call.result().result.turn) == ["take 1 1"] for call in calls)
        assert not slow.done()
        go.set()
        slow.result(timeout=60)
    finally:
        go.set()
        running.close()


def those_that_end(calls, number):
    """Wait until this number of the calls have ended, and return them."""
    await_that(lambda: sum(call.done() for call in calls) >= number)
    return [call for call in calls if call.done()]


def test_light_places_are_given_to_callers_in_turn():
    async def play():
        places = FairSemaphore(1, max_waiting_per_caller=2, max_waiting=10)
        served = []

        async def call(caller):
            await places.take(caller)
            served.append(caller)
            await asyncio.sleep(0)
            places.give_back()

        await places.take("x")
        calls = [asyncio.ensure_future(call(caller)) for caller in "aabca"]
        await asyncio.sleep(0)
        assert isinstance(calls.pop().exception(), BusyError)
        cancelled = asyncio.ensure_future(places.take("d"))
        await asyncio.sleep(0)
        cancelled.cancel()
        await asyncio.sleep(0)
        places.give_back()
        await asyncio.gather(*calls)
        assert served == ["a", "b", "c", "a"]
        # A place that is granted to a call which is cancelled meanwhile goes to the next.
        await places.take("x")
        cancelled = asyncio.ensure_future(places.take("a"))
        await asyncio.sleep(0)
        places.give_back()
        cancelled.cancel()
        await asyncio.wait([cancelled])
        await asyncio.wait_for(places.take("b"), 1)

    in_loop(play())


def test_light_places_are_bounded_in_all_and_no_caller_is_kept_out():
    async def play():
        places = FairSemaphore(1, max_waiting_per_caller=3, max_waiting=4)
        await places.take("x")
        calls = {name: asyncio.ensure_future(places.take(name[0])) for name in ("a1", "a2", "a3", "b1", "b2", "c1")}
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        # b's second call got the place of a's third, c's first that of a's second.
        assert [name for name, call in calls.items() if call.done()] == ["a2", "a3"]
        with pytest.raises(BusyError):
            await places.take("c")  # nobody has more than c would have
        for name in ("a2", "a3"):
            refusal = calls[name].exception()
            assert (refusal.reason, refusal.retry_s) == ("TOO_MANY_WAITING", RETRY_S)
        for name in ("a1", "b1", "c1", "b2"):
            places.give_back()
            await asyncio.wait_for(calls[name], 1)
        places.give_back()
        await asyncio.wait_for(places.take("x"), 1)

    in_loop(play())


@pytest.mark.real("ports")
def test_many_callers_fill_the_light_places(nim, monkeypatch):
    going, go = threading.Semaphore(0), threading.Event()

    def slow_answer(request):
        going.release()
        assert go.wait(60)
        return engine_pb2.ValidatePositionResponse()

    monkeypatch.setattr(answers, "validate_position", slow_answer)
    running = RunningServer(IdleSearch(), port=0, light_workers=1, max_waiting_per_caller=1)
    large = engine_pb2.ValidatePositionRequest(position=wire.position_to_message(nim))
    large.position.nim.piles.extend([1000] * 1000 + [10**9] * 1000)
    options = [("grpc.use_local_subchannel_pool", 1)]
    channels = [grpc.insecure_channel(running.address, options=options) for _ in range(workers.FULL_CALLERS + 2)]
    try:
        first = engine_pb2_grpc.EngineServiceStub(channels.pop()).ValidatePosition.future(large, timeout=60)
        assert going.acquire(timeout=60)
        calls = [
            engine_pb2_grpc.EngineServiceStub(channel).ValidatePosition.future(large, timeout=60)
            for channel in channels
        ]
        (refused,) = those_that_end(calls, 1)
        assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        retry = error_details_pb2.RetryInfo()
        assert any(detail.Unpack(retry) for detail in rpc_status.from_call(refused).details)
        go.set()
        first.result()
        assert sum(call.exception() is None for call in calls) == workers.FULL_CALLERS
    finally:
        go.set()
        for channel in channels:
            channel.close()
        running.close()


def test_the_margin_grows_with_late_answers_and_shrinks_again():
    margin = Margin(0.05)
    assert margin.of(1.0) == 0.05
    margin.note(0.04)
    assert margin.of(1.0) == pytest.approx(0.08)
    assert margin.of(0.12) == pytest.approx(0.06)
    assert margin.of(0.01) == 0.05
    margin.note(3.0)
    assert margin.of(1.0) == pytest.approx(0.2)
    for _ in range(NUM_RECENT):
        margin.note(-0.1)
    assert margin.of(1.0) == 0.05


def test_the_margin_forgets_late_answers_after_a_minute():
    now = 1000.0
    margin = Margin(0.05, clock=lambda: now)
    margin.note(0.07)
    now += 30
    margin.note(0.04)
    assert margin.of(1.0) == pytest.approx(0.14)
    now += 31
    assert margin.of(1.0) == pytest.approx(0.08)
    now += 30
    assert margin.of(1.0) == 0.05


class StarvedSearch:
    """A fake compiled search whose threads get no processor time when its time is up."""

    def __init__(self, state, **options):
        self._search = Search(state, **options)
        self.result = self._search.result
        self.stop = self._search.stop
        self.weights = self._search.weights

    def run(self, *, time_s, iterations, late_s):
        began = time.monotonic()
        self._search.run(time_s=time_s, iterations=iterations)
        time.sleep(max(0.0, began + time_s + late_s - time.monotonic()))

    gets_a_processor = threading.Event()
    joining = threading.Semaphore(0)

    def join(self):
        self.joining.release()
        assert self.gets_a_processor.wait(60)


@pytest.mark.real("time")
def test_a_search_that_gets_no_processor_is_answered_in_time_and_keeps_its_slot(nim, monkeypatch):
    monkeypatch.setattr("mexica_ai.server.runner.Search", StarvedSearch)
    StarvedSearch.gets_a_processor.clear()
    running = RunningServer(None, slots=1, memory_mb=64)
    try:
        request = engine_pb2.BestTurnRequest(
            position=wire.position_to_message(nim), limits=engine_pb2.Limits(time_s=0.05)
        )
        assert running.stub.BestTurn(request).result.turn  # though nobody has given it a processor
        assert StarvedSearch.joining.acquire(timeout=60)
        second = running.stub.BestTurn.future(request)
        code, *_ = failure(running.stub.BestTurn, request, timeout=0.2)
        assert code in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.DEADLINE_EXCEEDED)
        assert not second.done()
        StarvedSearch.gets_a_processor.set()
        assert second.result(timeout=60).result.iterations > 0
    finally:
        StarvedSearch.gets_a_processor.set()
        running.close()


def nicenesses(threads):
    """Return the niceness of each of these threads that is still there: those of other tests may just end."""
    found = []
    for thread in threads:
        with contextlib.suppress(ProcessLookupError):
            found.append(os.getpriority(os.PRIO_PROCESS, thread))
    return found


@pytest.mark.real("time")
@pytest.mark.skipif(sys.platform != "linux", reason="the niceness of a thread is Linux's")
def test_only_native_threads_have_a_lower_priority(mexica):
    own = os.getpriority(os.PRIO_PROCESS, 0)
    if own == 19:
        pytest.skip("no priority is lower")
    low = min(own + NICENESS, 19)
    run = make_run(mexica, SearchSettings(ai.Limits(time_s=20, threads=2)))
    worker = threading.Thread(target=run.result)
    worker.start()
    try:
        deadline = time.monotonic() + 60
        found = []
        while found.count(low) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
            found = nicenesses(int(task) for task in os.listdir("/proc/self/task"))
        assert found.count(low) == 2
        assert set(nicenesses(thread.native_id for thread in threading.enumerate())) == {own}
    finally:
        run.stop()
        worker.join()


def in_loop(coroutine):
    """Run a coroutine on a virtual clock."""
    # Not asyncio.run, which would leave the main thread without a loop that grpc looks for.
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.close()


def test_the_queue_is_ordered_by_deadline_and_fair_between_callers():
    async def play():
        slots = SearchSlots(2, 10, 10)
        now = loop_time()
        running = [await slots.take("many", 1.0, None) for _ in range(2)]
        order = []

        async def wait(name, caller, deadline):
            ticket = await slots.take(caller, 0.1, deadline)
            order.append(name)
            return ticket

        waiting = [
            asyncio.ensure_future(wait("many, late", "many", now + 60)),
            asyncio.ensure_future(wait("many, soon", "many", now + 30)),
            asyncio.ensure_future(wait("few", "few", None)),
        ]
        await asyncio.sleep(0.01)
        slots.give_back(running[0])
        await asyncio.sleep(0.01)
        assert order == ["few"]
        slots.give_back(running[1])
        await asyncio.sleep(0.01)
        assert order == ["few", "many, soon"]
        slots.give_back(await waiting[2])
        await asyncio.sleep(0.01)
        assert order == ["few", "many, soon", "many, late"]
        assert slots.num_waiting == 0

    in_loop(play())


@pytest.mark.parametrize("was_answered", [True, False])
def test_no_analysis_ends_for_a_call_that_gets_the_slot_of_an_answered_search(was_answered):
    async def play():
        ended = []
        slots = SearchSlots(2, 10, 10)
        await slots.take("a", 60.0, None, end=lambda: ended.append("analysis"))
        answered = await slots.take("b", 1.0, None)
        if was_answered:  # its threads have not ended yet
            slots.note_ending(answered)
        waiting = asyncio.ensure_future(slots.take("b", 1.0, None))
        await asyncio.sleep(0)
        assert ended == ([] if was_answered else ["analysis"])
        slots.give_back(answered)
        await waiting

    in_loop(play())


def test_a_call_with_a_deadline_may_wait_for_a_stopped_search():
    async def play():
        slots = SearchSlots(1, 10, 10)
        stopped = await slots.take("a", 60.0, None)
        with pytest.raises(BusyError, match="too late for this deadline"):
            await slots.take("a", 0.01, loop_time() + 30)
        slots.note_ending(stopped)  # its thread has not ended yet
        waiting = asyncio.ensure_future(slots.take("a", 0.01, loop_time() + 30))
        await asyncio.sleep(0)
        slots.give_back(stopped)
        assert await waiting

    in_loop(play())


def test_what_has_no_deadline_does_not_starve(monkeypatch):
    monkeypatch.setattr("mexica_ai.server.slots.PATIENCE_S", 0.2)

    async def play():
        slots = SearchSlots(1, 10, 10)
        held = await slots.take("a", 1.0, None)
        now = loop_time()
        order = []

        async def wait(name, deadline, due=float("inf")):
            order.append((name, await slots.take("b", 1.0, deadline, due)))

        waiting = [
            asyncio.ensure_future(wait(*args))
            for args in (
                ("one of a record", now + 60, now + 0.1),
                ("no deadline", None),
                ("later", now + 50),
                ("sooner", now + 40),
            )
        ]
        await asyncio.sleep(0)
        # It is reckoned with: what would have to come before it, and would keep it waiting, is not let in.
        with pytest.raises(BusyError) as caught:
            await slots.take("b", 1.0, now + 2.5)
        assert caught.value.reason == "NO_TIME_LEFT"
        for _ in waiting:
            slots.give_back(held)
            await asyncio.sleep(0.01)
            held = order[-1][1]
        assert [name for name, _ in order] == ["one of a record", "no deadline", "sooner", "later"]

    in_loop(play())


def test_a_record_without_a_deadline_gets_its_turn_among_calls_with_one(nim, monkeypatch):
    monkeypatch.setattr(admission, "PATIENCE_S", 0.3)
    search = IdleSearch()
    running = RunningServer(search, slots=1)
    over = threading.Event()

    def keep_asking():
        request = engine_pb2.BestTurnRequest(
            position=wire.position_to_message(nim), limits=engine_pb2.Limits(time_s=0.05)
        )
        with grpc.insecure_channel(running.address) as channel:
            stub = engine_pb2_grpc.EngineServiceStub(channel)
            while not over.is_set():
                with contextlib.suppress(grpc.RpcError):
                    stub.BestTurn(request, timeout=2)

    askers = [threading.Thread(target=keep_asking) for _ in range(6)]
    for asker in askers:
        asker.start()
    search.await_start()
    request = engine_pb2.EvaluateRecordRequest(
        start=wire.position_to_message(nim),
        turns=[engine_pb2.Turn(actions=["take 1 1"])],
        limits=engine_pb2.Limits(time_s=0.05),
    )
    answers = running.stub.EvaluateRecord(request)
    timer = threading.Timer(60, answers.cancel)
    timer.start()
    try:
        (answer,) = answers
        assert answer.turn_index == 0
    finally:
        timer.cancel()
        over.set()
        for asker in askers:
            asker.join()
        running.close()


def test_what_cannot_be_met_is_rejected_at_once():
    async def play():
        slots = SearchSlots(1, 10, 2)
        held = await slots.take("a", 5.0, None)
        began = loop_time()
        with pytest.raises(BusyError) as caught:
            await slots.take("b", 1.0, began + 2.0)
        assert loop_time() == began
        assert caught.value.reason == "NO_TIME_LEFT"
        assert caught.value.retry_s == pytest.approx(5.0)
        waiting = [asyncio.ensure_future(slots.take("b", 1.0, None)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError) as caught:
            await slots.take("b", 1.0, None)
        assert caught.value.reason == "TOO_MANY_WAITING"
        assert caught.value.retry_s == pytest.approx(7.0)
        slots.give_back(held)
        first = await waiting[0]
        waiting[1].cancel()
        await asyncio.sleep(0)
        slots.give_back(first)
        assert slots.num_waiting == 0
        slots.give_back(await slots.take("c", 1.0, loop_time() + 2 * MIN_SEARCH_S))
        slots.close()
        with pytest.raises(BusyError) as caught:
            await slots.take("c", 1.0, None)
        assert caught.value.reason == "SHUTTING_DOWN"

    in_loop(play())


def test_the_service_config_is_published():
    config = service_config()
    policy = config["methodConfig"][0]["retryPolicy"]
    assert policy["maxAttempts"] == 5
    assert set(policy["retryableStatusCodes"]) == {"UNAVAILABLE", "RESOURCE_EXHAUSTED"}
    assert float(policy["initialBackoff"].removesuffix("s")) == rejections.FIRST_BACKOFF_S
    assert float(policy["maxBackoff"].removesuffix("s")) == rejections.LAST_BACKOFF_S
    assert config["retryThrottling"] == {"maxTokens": 500, "tokenRatio": 4}
    assert json.dumps(config)
