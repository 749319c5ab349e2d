"""Views, positions in the compact form and actions as data over the service, asked by a host that knows no rules."""

import json
from collections import Counter
from pathlib import Path

import grpc
import pytest
from google.protobuf import json_format
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from servers import RunningServer
from servers import failure as status_of

import mexica_ai as ai
from mexica_ai.cli.main import main
from mexica_ai.game.entry import Kind
from mexica_ai.rpc import failures, wire
from mexica_ai.rpc.client import Client
from mexica_ai.v1 import engine_pb2

EXAMPLES = Path(__file__).parents[2] / "examples"
HIDDEN = "?"


@pytest.fixture(scope="module")
def server():
    running = RunningServer(None, memory_mb=64, deadline_margin_s=1.0)
    yield running
    running.close()


@pytest.fixture(scope="module")
def client(server):
    with Client(server.address) as client:
        yield client


@pytest.fixture(scope="module")
def coatl():
    return ai.load(EXAMPLES / "coatl_midgame.json")


def failure(call, *args, **kwargs):
    """Return the code, the reason, the message and the faults of a call that fails."""
    code, message, info, faults = status_of(call, *args, **kwargs)
    assert info.domain == "v1.mexica-ai"
    return code, info.reason, message, faults


def view(server, position, **viewer):
    return server.stub.GetView(engine_pb2.GetViewRequest(position=position, **viewer)).position


def leaks(full, seen, seat):
    """Return the cards in a view of Coatl that its viewer (None: a spectator) may not know."""
    found = []
    for owner, (true, shown) in enumerate(zip(full.seats, seen.seats, strict=True)):
        for cards, of_all in (("hand", true.shown), ("temples", true.shown_temples), ("discarded", [])):
            own, known = list(getattr(true, cards)), getattr(shown, cards)
            assert len(known) == len(own)
            if owner == seat:
                assert list(known) == own
            else:
                found += (Counter(known) - Counter(of_all) - Counter({HIDDEN: len(known)})).elements()
    for entry in seen.memory:
        word, owner, *card = entry.split()
        if word in ("discard", "deal", "private") and int(owner) != seat and card != [HIDDEN]:
            found.append(entry)
    return found


def test_a_host_without_rules_sends_each_seat_its_view_through_a_whole_game(server):
    dealt = server.stub.NewGame(engine_pb2.NewGameRequest(players=3, seed=5, coatl={}, with_views=True))
    assert (dealt.to_move, dealt.is_over, list(dealt.scores), list(dealt.winners)) == (0, False, [0, 0, 0], [])
    position, to_move, is_over, turns, hidden = dealt.full_position, dealt.to_move, False, 0, 0
    answer = dealt
    while not is_over:
        views = {seat: view(server, position, seat=seat) for seat in range(3)}
        spectators = view(server, position, spectator=True)
        for viewer, seen in [*views.items(), (None, spectators)]:
            assert leaks(position.coatl, seen.coatl, viewer) == []
            assert seen.coatl.viewer == (-1 if viewer is None else viewer)
            hidden += sum(list(seat.hand).count(HIDDEN) for seat in seen.coatl.seats)
        assert [(one.seat, one.position) for one in answer.views] == list(views.items())
        assert answer.spectator_view == spectators
        limits = engine_pb2.Limits(iterations=8)
        search = engine_pb2.BestTurnRequest(position=views[to_move], limits=limits, seed=turns)
        turn = engine_pb2.Turn(actions=server.stub.BestTurn(search).result.turn)
        request = engine_pb2.ApplyTurnRequest(
            position=position, turn=turn, draw_events=True, seed=turns, with_views=True
        )
        answer = server.stub.ApplyTurn(request)
        position, to_move, is_over, turns = answer.position, answer.to_move, answer.is_over, turns + 1
    assert turns > 20
    assert hidden > 100 * turns / 10  # something was hidden nearly all the time
    assert list(answer.winners)
    assert view(server, position, spectator=True) == answer.spectator_view


def test_the_check_of_views_finds_a_card_that_leaks(coatl):
    full = wire.position_to_message(coatl).coatl
    assert leaks(full, wire.position_to_message(coatl.view(0)).coatl, 0) == []
    assert leaks(full, full, 0) != []
    assert leaks(full, wire.position_to_message(coatl.view(1)).coatl, None) != []


@pytest.mark.parametrize("game", ["mexica", "nim", "tzolkin"])
def test_views_of_games_that_hide_little(server, game):
    dealt = server.stub.NewGame(engine_pb2.NewGameRequest(players=2, seed=1, **{game: {}}, with_views=True))
    assert [one.seat for one in dealt.views] == [0, 1]
    if game == "tzolkin":
        tiles = [[list(seat.dealt) for seat in one.position.tzolkin.seats] for one in dealt.views]
        assert [HIDDEN in tiles[seat][seat] for seat in range(2)] == [False, False]
        assert tiles[0][1] == tiles[1][0] == [HIDDEN] * 4
        assert {HIDDEN} == {tile for seat in dealt.spectator_view.tzolkin.seats for tile in seat.dealt}
    else:  # what is hidden from all is in no view
        assert dealt.position == dealt.spectator_view == dealt.views[0].position == dealt.views[1].position
        assert (dealt.position == dealt.full_position) == (game == "nim")


def test_a_view_can_be_asked_for_in_a_view_only_by_its_seat_and_by_spectators(server, coatl):
    seen = view(server, wire.position_to_message(coatl), seat=1)
    assert view(server, seen, seat=1) == seen
    assert view(server, seen, spectator=True) == view(server, wire.position_to_message(coatl), spectator=True)
    for message in (seen, view(server, seen, spectator=True)):
        code, reason, _, faults = failure(view, server, message, seat=0)
        assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "VIEWER_MISMATCH")
        assert [fault.field for fault in faults] == ["position.coatl.viewer"]


@pytest.mark.parametrize(
    ("viewer", "reason", "field"),
    [({}, "MISSING_FIELD", "viewer"), ({"spectator": False}, "MISSING_FIELD", "viewer"),
     ({"seat": 2}, "OUT_OF_RANGE", "seat"), ({"seat": 2**32 - 1}, "OUT_OF_RANGE", "seat")],
)  # fmt: skip
def test_what_a_view_refuses(server, coatl, viewer, reason, field):
    code, found, _, faults = failure(view, server, wire.position_to_message(coatl), **viewer)
    assert (code, found) == (grpc.StatusCode.INVALID_ARGUMENT, reason)
    assert [fault.field for fault in faults] == [field]


def test_all_views_need_the_full_position(server, coatl):
    seen = wire.position_to_message(coatl.view(0))
    request = engine_pb2.LegalActionsRequest(position=seen, with_views=True)
    _, reason, _, faults = failure(server.stub.LegalActions, request)
    assert reason == "VIEWER_MISMATCH"
    assert [fault.field for fault in faults] == ["position.coatl.viewer"]


def test_the_view_of_a_spectator_is_valid_but_not_for_playing(server, coatl):
    seen = wire.position_to_message(coatl.view(None))
    assert not server.stub.ValidatePosition(engine_pb2.ValidatePositionRequest(position=seen)).violations
    for call, request in (
        (server.stub.BestTurn, engine_pb2.BestTurnRequest(position=seen)),
        (server.stub.LegalActions, engine_pb2.LegalActionsRequest(position=seen)),
        (server.stub.ApplyTurn, engine_pb2.ApplyTurnRequest(position=seen, turn={"actions": ["pass"]})),
    ):
        _, reason, message, _ = failure(call, request)
        assert reason == "NOT_ITS_VIEW"
        assert "the view of a spectator" in message


def test_the_client_has_views(client, coatl):
    assert client.view(coatl, 0) == coatl.view(0)
    assert client.view(coatl, None) == coatl.view(None)
    with pytest.raises(ai.PositionError, match="seat: given 7"):
        client.view(coatl, 7)
    turn = client.best_turn(coatl, iterations=20, seed=1).turn
    applied = client.apply_turn(coatl, turn, draw_events=True, seed=1, views=True)
    assert applied.views == [applied.position.view(0), applied.position.view(1)]
    assert applied.spectator_view == applied.position.view(None)
    assert client.apply_turn(coatl, turn).views == []


# ---- the compact form


def test_a_compact_position_is_read_wherever_a_position_is(server, coatl):
    compact = engine_pb2.Position(compact=coatl.to_compact())
    full = wire.position_to_message(coatl)
    for call, request in (
        (server.stub.LegalActions, engine_pb2.LegalActionsRequest),
        (server.stub.ValidatePosition, engine_pb2.ValidatePositionRequest),
        (server.stub.GetView, lambda position: engine_pb2.GetViewRequest(position=position, seat=1)),
    ):
        assert call(request(position=compact)) == call(request(position=full))
    limits = engine_pb2.Limits(iterations=10)
    found = server.stub.BestTurn(engine_pb2.BestTurnRequest(position=compact, limits=limits, seed=3)).result
    assert (
        found.turn == server.stub.BestTurn(engine_pb2.BestTurnRequest(position=full, limits=limits, seed=3)).result.turn
    )
    played = server.stub.ApplyTurn(engine_pb2.ApplyTurnRequest(position=compact, turn={"actions": found.turn}))
    assert played.position.WhichOneof("game") == "coatl"  # answers keep their form


@pytest.mark.parametrize(
    ("fields", "reason", "field", "words"),
    [
        ({"json": "nim/1 3,5,7 2,0,1,1"}, "WRONG_TYPE", "position.json", "The field compact takes the compact form"),
        ({"compact": "nim/1 3,5,x 2,0,1,1"}, "BAD_COMPACT", "position.compact", "such as"),
        ({"compact": '{"game": "nim"}'}, "BAD_COMPACT", "position.compact", "expected GAME/VERSION"),
        ({"compact": "chess/1 e4"}, "UNKNOWN_GAME", "position.compact", "chess"),
    ],
)
def test_text_that_is_no_position(server, fields, reason, field, words):
    request = engine_pb2.LegalActionsRequest(position=engine_pb2.Position(**fields))
    code, found, message, faults = failure(server.stub.LegalActions, request)
    assert (code, found) == (grpc.StatusCode.INVALID_ARGUMENT, reason)
    assert words in message
    assert [fault.field for fault in faults] == [field]


def test_the_client_validates_the_compact_form(client):
    assert client.validate_position("nim/1 3,5,7 2,0,1,1") == []
    assert [fault.reason for fault in client.validate_position("nim/1 3,5,7 2,0,9")] == ["BAD_COMPACT"]


# ---- actions as data


@pytest.mark.parametrize("name", ["mexica_midgame", "coatl_midgame", "tzolkin_midgame", "nim"])
def test_the_service_answers_actions_as_data(server, client, name):
    position = ai.load(EXAMPLES / f"{name}.json")
    request = engine_pb2.LegalActionsRequest(position=wire.position_to_message(position), detail=True)
    answer = server.stub.LegalActions(request)
    assert [detail.action for detail in answer.details] == list(answer.actions) == position.legal_actions()
    for detail in answer.details:
        assert detail.verb == detail.action.split()[0]
        assert detail.label
        assert detail.tool
        assert len(detail.key) == 1
        assert all(target.kind and target.words for target in detail.targets)
    assert client.legal_details(position) == position.legal_details()
    request.detail = False
    assert not server.stub.LegalActions(request).details


def test_an_action_as_data_in_protobufs_json(server):
    position = ai.load(EXAMPLES / "coatl_midgame.json")
    request = engine_pb2.LegalActionsRequest(position=wire.position_to_message(position), detail=True)
    details = {detail.action: detail for detail in server.stub.LegalActions(request).details}
    data = json_format.MessageToDict(details["play 2 P05"])
    assert data["verb"] == "play"
    assert data["targets"][0] == {
        "kind": "TARGET_KIND_CARD",
        "name": "P05",
        "words": "seat 0, hand, P05 <!Y> Y Y <!Y> 2/5",
        "seat": 0,
        "element": "hand:0:P05",
    }
    assert (data["targets"][1]["kind"], data["targets"][1]["name"]) == ("TARGET_KIND_FIGURE", "2")


def test_the_kinds_of_targets_are_those_of_the_proto():
    assert ["TARGET_KIND_" + kind.name for kind in Kind] == engine_pb2.TargetKind.keys()
    assert all(kind.name == kind.value for kind in Kind)


# ---- errors in words of the API


@pytest.mark.parametrize(
    ("actions", "events", "words"),
    [([], False, "LegalActions and BestTurn"), (["draw deck"], False, "`draw_events`"), (["draw deck"], True, None)],
)
def test_a_turn_that_is_missing_is_named_as_a_field(server, actions, events, words):
    position = ai.new_game("coatl", players=2, seed=7)
    for turn in ("keep", "keep", *actions):
        position.push_action(turn)
    request = engine_pb2.ApplyTurnRequest(position=wire.position_to_message(position), draw_events=events)
    if words is None:
        assert server.stub.ApplyTurn(request).events
        return
    code, reason, message, faults = failure(server.stub.ApplyTurn, request)
    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MISSING_FIELD")
    assert message.startswith("turn.actions: is empty; ")
    assert words in message
    assert "list" not in message
    assert [fault.field for fault in faults] == ["turn.actions"]


class Failed:
    """An error of gRPC with an ErrorInfo of a domain."""

    def __init__(self, domain):
        status = status_pb2.Status(code=grpc.StatusCode.RESOURCE_EXHAUSTED.value[0], message="full")
        status.details.add().Pack(error_details_pb2.ErrorInfo(reason="QUOTA", domain=domain))
        self._status = rpc_status.to_status(status)

    def code(self):
        return self._status.code

    def details(self):
        return self._status.details

    def trailing_metadata(self):
        return self._status.trailing_metadata


@pytest.mark.parametrize(
    ("domain", "reason"),
    [("v1.mexica-ai", "QUOTA"), ("mexica_ai", "QUOTA"), ("proxy.example.org", "RESOURCE_EXHAUSTED")],
)
def test_reasons_are_read_of_this_service_old_or_new_and_not_of_a_proxy(domain, reason):
    assert failures.of_call(Failed(domain), "host").reason == reason


@pytest.mark.parametrize(
    ("method", "request_", "field"),
    [
        ("ConsiderProposal", engine_pb2.ConsiderProposalRequest(), "actions"),
        ("EvaluateRecord", engine_pb2.EvaluateRecordRequest(turns=[engine_pb2.Turn()]), "turns[0].actions"),
        ("StopAnalysis", engine_pb2.StopAnalysisRequest(), "analysis_id"),
    ],
)
def test_what_is_empty_is_named_as_a_field(server, method, request_, field):
    nim = engine_pb2.Position(compact="nim/1 3,5,7 2,0,1,1")
    for name in ("position", "start"):
        if name in request_.DESCRIPTOR.fields_by_name:
            getattr(request_, name).CopyFrom(nim)
    call = getattr(server.stub, method)
    ask = (lambda request: list(call(request))) if method == "EvaluateRecord" else call
    code, reason, message, faults = failure(ask, request_)
    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MISSING_FIELD")
    assert message.startswith(f"{field}: is empty; expected ")
    assert [fault.field for fault in faults] == [field]


def test_an_unknown_option_of_another_game_is_found_in_its_field(server):
    other = {"name": "nim", "options_json": '{"x": 1}'}
    _, reason, _, faults = failure(server.stub.NewGame, engine_pb2.NewGameRequest(other_game=other))
    assert reason == "UNKNOWN_OPTION"
    assert [fault.field for fault in faults] == ["other_game.options_json"]
    _, reason, _, faults = failure(server.stub.NewGame, engine_pb2.NewGameRequest(other_game={"name": "chess"}))
    assert reason == "UNKNOWN_GAME"
    assert [fault.field for fault in faults] == ["other_game.name"]


def test_views_on_the_command_line(server, capfd, coatl):
    def cli(*args):
        assert main([*args]) == 0
        return capfd.readouterr()

    path = str(EXAMPLES / "coatl_midgame.json")
    for viewer, seen in (("1", coatl.view(1)), ("spectator", coatl.view(None))):
        assert json.loads(cli("client", "view", path, viewer, "--server", server.address).out) == seen.to_json()
        assert json.loads(cli("show", path, "--viewer", viewer, "--json").out) == seen.to_json()
    lines = cli("legal", path, "--detail").out.splitlines()
    assert lines == cli("client", "legal", path, "--detail", "--server", server.address).out.splitlines()
    assert any(line.startswith("play 2 P05 ") and "Play a card: seat 0, hand, P05" in line for line in lines)
    found = json.loads(cli("legal", path, "--detail", "--json").out)
    assert [one["action"] for one in found] == coatl.legal_actions()
