"""The errors of requests name the requests' own fields; calls that never send a request are ended."""

import json
import threading
from pathlib import Path

import grpc
import pytest
from servers import RunningServer, failure

import mexica_ai as ai
from mexica_ai.game.steps import play_steps
from mexica_ai.rpc import wire
from mexica_ai.server import request_timeout
from mexica_ai.v1 import engine_pb2 as messages
from mexica_ai.v1 import engine_pb2_grpc

EXAMPLES = Path(__file__).parents[2] / "examples"

GAMES = ("coatl", "mexica", "nim", "tzolkin")


@pytest.fixture(scope="module")
def stub():
    server = RunningServer(None)
    with grpc.insecure_channel(server.address) as channel:
        yield engine_pb2_grpc.EngineServiceStub(channel)
    server.close()


def check(method, request, path):
    """The call fails with one violation of this path, and the message begins with it."""
    code, message, _, violations = failure(method, request)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert [violation.field for violation in violations] == [path]
    assert message.startswith(f"{path}: ")
    field = messages.DESCRIPTOR.message_types_by_name[type(request).__name__]
    for name in path.split("."):
        assert field is not None, path
        found = field.fields_by_name[name.partition("[")[0]]
        assert ("[" not in name) or found.is_repeated
        field = found.message_type


@pytest.mark.parametrize("game", GAMES)
def test_errors_name_fields_of_the_request(stub, game):
    position = ai.new_game(game, seed=1)
    start, first = wire.position_to_message(position), position.legal_actions()[0]
    deal = messages.NewGameRequest(players=9)
    getattr(deal, game).SetInParent()
    check(stub.NewGame, deal, "players")
    for actions, path in (
        (["fly"], "turn.actions[0]"),
        ([first, "fly"], "turn.actions[1]"),
        ([], "turn.actions"),
    ):
        turn = messages.Turn(actions=actions)
        check(stub.ApplyTurn, messages.ApplyTurnRequest(position=start, turn=turn), path)
        path = path.replace("turn", "turns[0]", 1)
        record = messages.EvaluateRecordRequest(start=start, turns=[turn])
        check(lambda asked: list(stub.EvaluateRecord(asked)), record, path)
    check(stub.LegalActions, messages.LegalActionsRequest(position=start, actions=[first, "fly"]), "actions[1]")
    getattr(start, game).players = 99
    faulty = messages.BestTurnRequest(position=start)
    code, message, _, violations = failure(stub.BestTurn, faulty)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert violations[0].field == f"position.{game}.players"
    assert message.startswith(f"position.{game}.players: ")


def test_errors_of_options_name_them(stub):
    deal = messages.NewGameRequest()
    deal.nim.piles.extend([3, 1000])
    check(stub.NewGame, deal, "nim.piles[1]")


@pytest.mark.parametrize("option", ["players", "seed", "game", "options", "self", "board", ""])
def test_options_named_like_other_arguments_are_unknown(stub, option):
    deal = messages.NewGameRequest()
    deal.other_game.name, deal.other_game.options_json = "nim", f'{{"{option}": 3}}'
    code, message, info, _ = failure(stub.NewGame, deal)
    assert (code, info.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "UNKNOWN_OPTION")
    assert "expected only piles, plies_per_turn" in message


# What JSON can hold, and a message or an integer of C cannot.
LONG = "1" + "0" * 30
NASTY = ("1e999", "-1e999", "1e30", LONG, f"-{LONG}", "0.1", r'"\ud800"', r'"\u0000"', "[[[]]]", "{}", "null")


@pytest.mark.parametrize("value", NASTY)
def test_values_that_cannot_be_written_are_the_callers_fault(stub, value):
    for options in (f'{{"piles": {value}}}', f'{{"piles": [{value}]}}', f'{{"plies_per_turn": {value}}}', value):
        if options in ('{"piles": null}', '{"plies_per_turn": null}', "{}"):
            continue
        deal = messages.NewGameRequest()
        deal.other_game.name, deal.other_game.options_json = "nim", options
        assert failure(stub.NewGame, deal)[0] is grpc.StatusCode.INVALID_ARGUMENT, options
    whole = ai.new_game("nim").to_json()
    for text in (
        value,
        *(json.dumps({**whole, key: "VALUE"}).replace('"VALUE"', value) for key in (*whole, "board")),
        json.dumps({**whole, "piles": ["VALUE"]}).replace('"VALUE"', value),
        json.dumps({**whole, "KEY": 1}).replace('"KEY"', value if value.startswith('"') else '"KEY"'),
    ):
        position = messages.Position(json=text)
        for method, request in (
            (stub.BestTurn, messages.BestTurnRequest(position=position)),
            (stub.LegalActions, messages.LegalActionsRequest(position=position)),
            (stub.ApplyTurn, messages.ApplyTurnRequest(position=position)),
        ):
            assert failure(method, request)[0] is grpc.StatusCode.INVALID_ARGUMENT, text
        found = stub.ValidatePosition(messages.ValidatePositionRequest(position=position))
        assert found.violations, text


@pytest.mark.parametrize(
    ("name", "kind", "limit"),
    [
        ("mexica_ai.v1.EngineService/ListGames", "stream_unary", "MESSAGE_S"),
        ("mexica_ai.v1.EngineService/Analyze", "stream_stream", "MESSAGE_S"),
        ("mexica_ai.v1.EngineService/BestTurns", "stream_stream", "FIRST_S"),
        ("grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "stream_stream", "FIRST_S"),
    ],
)
def test_a_call_without_a_request_is_ended(monkeypatch, name, kind, limit):
    monkeypatch.setattr(request_timeout, limit, 0.05)
    server, over = RunningServer(None), threading.Event()

    def never():
        over.wait(60)
        yield from ()

    with grpc.insecure_channel(server.address) as channel:
        method = getattr(channel, kind)(f"/{name}")
        code, message, info, _ = failure(lambda: list(method(never())) if kind == "stream_stream" else method(never()))
        over.set()
    server.close()
    assert (code, info.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "NO_MESSAGE")
    assert "has not come within" in message


def test_a_turn_may_be_partial_and_has_steps(stub):
    position = ai.load(EXAMPLES / "mexica_midgame.json")
    start = wire.position_to_message(position)
    turn = messages.Turn(actions=["teleport C6", "temple 2 B7"])
    check(stub.ApplyTurn, messages.ApplyTurnRequest(position=start, turn=turn, with_steps=True), "turn.actions")
    asked = messages.ApplyTurnRequest(position=start, turn=turn, with_steps=True, allow_partial=True)
    answer = stub.ApplyTurn(asked)
    assert (answer.is_turn_over, answer.to_move) == (False, 0)
    first, second = answer.steps
    assert [(cost.name, cost.amount) for cost in first.costs] == [("action_points", 5)]
    changed = {change.path: (change.before, change.after) for change in first.changes}
    assert changed["seats[0].pilli"] == ('"U7"', '"C6"')
    assert second.position == answer.position
    turn.actions.append("end")
    whole = stub.ApplyTurn(messages.ApplyTurnRequest(position=start, turn=turn))
    assert (whole.is_turn_over, whole.to_move, len(whole.steps)) == (True, 1, 0)
    legal = stub.LegalActions(messages.LegalActionsRequest(position=start, actions=["teleport C6", "temple 2 B7"]))
    assert legal.position == answer.position
    position.push("teleport C6; temple 2 B7", partial=True)
    assert list(legal.actions) == position.legal_actions()
    assert not stub.LegalActions(messages.LegalActionsRequest(position=start)).HasField("position")


def test_a_random_event_is_a_whole_turn(stub):
    position = ai.new_game("coatl", seed=1)
    for turn in ("keep", "keep", "draw deck"):
        position.push(turn)
    start, event = wire.position_to_message(position), position.copy().draw(seed=1)
    turn = messages.Turn(actions=event)
    answer = stub.ApplyTurn(messages.ApplyTurnRequest(position=start, turn=turn, with_steps=True))
    assert answer.is_turn_over
    applied = wire.applied_from_message(answer)
    assert [step.is_turn_over for step in applied.steps] == [True]
    assert [step.is_turn_over for step in play_steps(position, event)] == [True]


@pytest.mark.parametrize("game", ["coatl", "tzolkin"])
def test_the_view_of_another_seat(stub, game):
    position = ai.new_game(game, seed=1)
    other = wire.position_to_message(position.view((position.to_move + 1) % position.players))
    path = f"position.{game}.viewer"
    for method, request in (
        (stub.BestTurn, messages.BestTurnRequest(position=other)),
        (lambda request: list(stub.Analyze(request)), messages.AnalyzeRequest(position=other)),
        (stub.LegalActions, messages.LegalActionsRequest(position=other)),
    ):
        _, _, _, (fault,) = failure(method, request)
        assert (fault.field, fault.reason) == (path, "NOT_ITS_VIEW")
    asked = messages.BestTurnsRequest(search=messages.BestTurnRequest(position=other))
    (answer,) = stub.BestTurns(iter([asked]))
    (fault,) = answer.failure.violations
    assert (fault.field, fault.reason) == (f"search.{path}", "NOT_ITS_VIEW")


def test_faults_name_the_field_that_holds_the_position(stub):
    position = ai.new_game("coatl", seed=1)
    seen = position.view(1 - position.to_move)
    for field, text in (("json", json.dumps(seen.to_json())), ("compact", seen.to_compact())):
        asked = messages.BestTurnRequest(position={field: text})
        _, _, _, (fault,) = failure(stub.BestTurn, asked)
        assert (fault.field, fault.reason) == (f"position.{field}.viewer", "NOT_ITS_VIEW")


def test_turns_that_uncover_what_the_position_does_not_know(stub):
    # The last seat keeps its wealth tiles, and then those of all seats are shown.
    position = ai.new_game("tzolkin", seed=1)
    position.push(position.legal_actions()[0])
    view = position.view(position.to_move)
    action = view.legal_actions()[0]
    start = wire.position_to_message(view)
    turn = messages.Turn(actions=[action])
    for method, request in (
        (stub.ApplyTurn, messages.ApplyTurnRequest(position=start, turn=turn)),
        (stub.LegalActions, messages.LegalActionsRequest(position=start, actions=[action])),
    ):
        _, _, _, (fault,) = failure(method, request)
        assert (fault.field, fault.reason) == ("position.tzolkin.seats", "NOT_UNCOVERED")


@pytest.mark.parametrize("is_full", [False, True])
def test_a_search_of_such_a_turn_is_explained(stub, is_full):
    position = ai.new_game("tzolkin", seed=1)
    position.push(position.legal_actions()[0])
    asked = wire.position_to_message(position if is_full else position.view(position.to_move))
    fields = {"position": asked, "limits": messages.Limits(iterations=50, threads=1), "seed": 1, "explain": True}
    found = stub.BestTurn(messages.BestTurnRequest(**fields)).result
    *_, last = stub.Analyze(messages.AnalyzeRequest(**fields))
    assert last.is_final
    for result in (found, last.result):
        (action,) = result.turn
        assert result.explanation[0].startswith(f"{action}: uncovers what is hidden")
        assert "seat 0's" not in " ".join(result.explanation)
