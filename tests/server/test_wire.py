"""The converter between protobuf messages and the package's values."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from google.protobuf.message import DecodeError, Message
from hypothesis import given
from hypothesis import strategies as st

import mexica_ai as ai
from mexica_ai.game import registry
from mexica_ai.rpc import wire
from mexica_ai.v1 import engine_pb2, mexica_pb2, nim_pb2, tzolkin_pb2

VECTORS = Path(__file__).parents[1] / "data" / "vectors" / "mexica_positions.jsonl.gz"
NIM = {
    "game": "nim",
    "version": 1,
    "players": 2,
    "piles": [3, 0, 5],
    "to_move": 0,
    "plies_left": 1,
    "plies_per_turn": 2,
}
RESULT = ai.Result(
    candidates=[
        ai.Candidate(["walk H5", "end"], 90, [0.75, 0.25], [61.5, -1.0], 0.125, [["end"], ["token", "end"]]),
        ai.Candidate(["end"], 10, [0.5, 0.5], [40.0, 50.0], 0.0, []),
    ],
    iterations=100,
    nodes=2**40,
    distinct_turns=2,
    seconds=0.5,
    stop_reason="iterations",
    seed=2**63 - 1,
    threads=2,
    weights="70559a0e238c",
)


@pytest.fixture(scope="module")
def vectors():
    with gzip.open(VECTORS, "rt") as lines:
        return [json.loads(line)["position"] for line in lines]


@pytest.fixture(scope="module")
def midgame(vectors):
    """A position in which every list of the message has an entry, except `removed`."""
    return next(
        data
        for data in vectors
        if data["period"] == 1
        and data["phase"] == "play"
        and data["bridges"]
        and data["temples"]
        and data["calpulli"]["placed"]
        and data["calpulli"]["display"]
    )


def send(position):
    """Return the position after serialization and parsing."""
    message = wire.position_to_message(position)
    return wire.position_from_message(engine_pb2.Position.FromString(message.SerializeToString()))


def test_every_vector_of_tzolkin_survives_the_wire():
    for name in ("tzolkin_positions.jsonl.gz", "tzolkin_games.jsonl.gz"):
        with gzip.open(VECTORS.parent / name, "rt") as lines:
            for line in map(json.loads, lines):
                data = line.get("position") or line["final"]
                position = ai.Position.from_json(data)
                arrived = send(position)
                assert arrived.to_json() == data
                # Whole points are integers again, not 12.0.
                assert json.dumps(arrived.to_json()) == json.dumps(position.to_json())


def test_views_and_random_events_of_tzolkin_survive_the_wire():
    position = ai.new_game("tzolkin", players=3, seed=4, whole_points=True)
    for seat in range(3):
        view = position.view(seat)
        assert send(view).to_json() == view.to_json()
        assert wire.position_to_message(view).tzolkin.viewer == seat
    assert not wire.position_to_message(position).tzolkin.HasField("viewer")
    hidden = wire.position_to_message(position, hides=True).tzolkin
    assert [list(seat.dealt) for seat in hidden.seats][1:] == [["?"] * 4] * 2


@pytest.mark.parametrize(("points", "exact"), [([3, -2], []), ([61.25, 47], [61.25, 47]), ([-0.75, 3.5], [-0.75, 3.5])])
def test_points_with_fractions(points, exact):
    message = engine_pb2.ApplyTurnResponse(**wire.points_to_message("scores", points))
    assert list(message.exact_scores) == exact
    assert list(message.scores) == [int(number // 1) for number in points]
    assert json.dumps(wire.points_from_message(message, "scores")) == json.dumps(points)


def submessages(message):
    """Yield every message in a message, itself first."""
    yield message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for child in [value] if isinstance(value, Message) else value:
                yield from submessages(child)


def test_every_vector_survives_the_wire(vectors):
    for data in vectors:
        position = ai.Position.from_json(data)
        assert send(position).to_json() == position.to_json()


@pytest.mark.parametrize(
    "position",
    [
        ai.Position.from_json(NIM),
        ai.new_game("mexica", players=2, seed=1),
        ai.new_game("mexica", players=4, seed=2, pool=[3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 9, 9, 10, 11, 12, 13]),
    ],
    ids=["nim", "mexica placing", "mexica with 18 tokens"],
)
def test_new_games_survive_the_wire(position):
    assert send(position).to_json() == position.to_json()


def test_empty_upcoming_in_period_1_means_unknown():
    data = ai.new_game(players=3, seed=2, pool=[3] * 9 + [4] * 9).to_json()
    message = wire.position_to_message(ai.Position.from_json(data))
    message.mexica.calpulli.ClearField("upcoming")
    position = wire.position_from_message(message)
    assert position.to_json()["calpulli"].get("upcoming") is None
    assert not position.has_one_world


def test_empty_pool_means_the_standard_one():
    position = ai.new_game(players=3, seed=2)
    message = wire.position_to_message(position)
    message.mexica.calpulli.ClearField("pool")
    assert wire.position_from_message(message) == position


OPTIONAL = ("idle_rounds", "built_this_round")  # of Mexica: only the history of a game shows them


@pytest.mark.parametrize("game", ["mexica", "nim", "tzolkin"])
def test_a_forgotten_field_is_not_taken_for_zero(game, midgame):
    if game == "tzolkin":
        message = wire.position_to_message(ai.new_game(game, seed=1))
    else:
        message = wire.position_to_message(ai.Position.from_json(midgame if game == "mexica" else NIM))
    checked = 0
    for index, submessage in enumerate(submessages(getattr(message, game))):
        for field in submessage.DESCRIPTOR.fields:
            if field.has_presence and submessage.HasField(field.name):
                broken = engine_pb2.Position.FromString(message.SerializeToString())
                list(submessages(getattr(broken, game)))[index].ClearField(field.name)
                if field.name in OPTIONAL:
                    wire.position_from_message(broken)
                    continue
                with pytest.raises(ai.NotationError) as caught:
                    wire.position_from_message(broken)
                assert caught.value.reason == "MISSING_KEY"
                assert caught.value.path.startswith(f"position.{game}")
                assert f'"{field.name}"' in str(caught.value)
                checked += 1
    assert checked >= 5


def test_zero_is_zero():
    position = wire.position_from_message(wire.position_to_message(ai.Position.from_json(NIM)))
    assert position.to_json()["to_move"] == 0
    assert position.to_json()["piles"] == [3, 0, 5]


def test_violations_have_the_paths_of_the_message(midgame):
    message = wire.position_to_message(ai.Position.from_json(midgame))
    message.mexica.seats[0].score = -1
    message.mexica.seats[1].score = 1000
    with pytest.raises(ai.PositionError) as caught:
        wire.position_from_message(message)
    assert [violation.path for violation in caught.value.violations] == [
        "position.mexica.seats[0].score",
        "position.mexica.seats[1].score",
    ]
    message.mexica.seats[0].pilli = "Z9"
    with pytest.raises(ai.NotationError) as caught:
        wire.position_from_message(message)
    assert caught.value.path == "position.mexica.seats[0].pilli"


def test_no_game():
    with pytest.raises(ai.NotationError, match="expected one of mexica, nim") as caught:
        wire.position_from_message(engine_pb2.Position())
    assert caught.value.path == "position"


def keys(data):
    """Return the keys of a JSON object, those of its objects and of the objects in its lists included."""
    children = {key: value[0] if isinstance(value, list) and value else value for key, value in data.items()}
    return {key: keys(value) if isinstance(value, dict) else None for key, value in children.items()}


def field_names(descriptor):
    return {field.name: field_names(field.message_type) if field.message_type else None for field in descriptor.fields}


def test_fields_are_named_like_the_json_forms(midgame):
    mexica = keys({**midgame, "calpulli": {"pool": [], "removed": [], "upcoming": [], **midgame["calpulli"]}})
    del mexica["game"]
    assert field_names(mexica_pb2.MexicaPosition.DESCRIPTOR) == mexica
    assert field_names(nim_pb2.NimPosition.DESCRIPTOR) == {key: None for key in NIM if key != "game"}
    tzolkin = keys(ai.new_game("tzolkin", seed=1).to_json())
    del tzolkin["game"]
    assert field_names(tzolkin_pb2.TzolkinPosition.DESCRIPTOR) == tzolkin
    result = keys(RESULT.to_json()) | {"engine_version": None, "rules_version": None, "weights": None}
    result["explanation"] = None  # `Explanation.to_json` writes it, not the result
    result["candidates"]["line"] = {"actions": None}  # the wire has no lists of lists
    result["candidates"]["forecast"] = {"visits": None, "value": None, "expected_scores": None}
    result["first_actions"] = {"action": None, "visits": None, "prior": None, "value": None}
    assert field_names(engine_pb2.SearchResult.DESCRIPTOR) == result


@given(st.data())
def test_a_damaged_message_is_read_or_refused(midgame, data):
    wire_bytes = bytearray(wire.position_to_message(ai.Position.from_json(midgame)).SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        wire_bytes[data.draw(st.integers(0, len(wire_bytes) - 1))] = data.draw(st.integers(0, 255))
    try:
        message = engine_pb2.Position.FromString(bytes(wire_bytes))
    except DecodeError:  # protobuf's own error, before our code runs
        return
    try:
        wire.position_from_message(message)
    except ai.MexicaAIError as error:
        refusal = str(error)
    else:
        refusal = ""
    assert "\n" not in refusal


@pytest.mark.parametrize("stop_reason", ["", "time", "iterations", "memory", "stopped", "forced", "solved", "settled"])
def test_results_survive_the_wire(stop_reason):
    result = replace(RESULT, stop_reason=stop_reason)
    message = wire.result_to_message(result, engine_version="1.2.3", rules_version=4)
    message = engine_pb2.SearchResult.FromString(message.SerializeToString())
    assert wire.result_from_message(message) == result
    assert (message.engine_version, message.rules_version) == ("1.2.3", 4)


def test_a_stop_reason_of_a_later_version_can_be_read():
    message = wire.result_to_message(RESULT, engine_version="9", rules_version=1)
    message.stop_reason = 99
    assert wire.result_from_message(message).stop_reason == "unknown"


@pytest.fixture
def without_messages(monkeypatch):
    """Let nim be a game of another package, as far as the wire goes."""
    assert set(registry.BUILT_IN) == wire.OWN_MESSAGES
    monkeypatch.setattr(wire, "OWN_MESSAGES", wire.OWN_MESSAGES - {"nim"})


def test_a_game_without_messages_travels_as_json(without_messages):
    position = ai.new_game("nim", players=3, piles=[1, 2])
    message = engine_pb2.Position.FromString(wire.position_to_message(position).SerializeToString())
    assert message.WhichOneof("game") == "json"
    assert json.loads(message.json) == position.to_json()
    assert wire.position_from_message(message) == position
    assert wire.message_from_json(position.to_json()).json == json.dumps(position.to_json())


@pytest.mark.parametrize("game", registry.BUILT_IN)
def test_every_position_may_be_sent_as_json(game):
    position = ai.new_game(game, players=2, seed=1)
    assert wire.position_from_message(engine_pb2.Position(json=json.dumps(position.to_json()))) == position


@pytest.mark.parametrize(
    ("text", "error", "reason", "path"),
    [
        ("", ai.NotationError, "BAD_JSON", "position.json"),
        ("[" * 20000, ai.NotationError, "BAD_JSON", "position.json"),
        ("[" * 900 + "]" * 900, ai.NotationError, None, "position.json"),
        ("[]", ai.NotationError, "WRONG_TYPE", "position.json"),
        ("{}", ai.NotationError, "MISSING_KEY", "position.json.game"),
        ('{"game": "chess"}', ai.UnknownGameError, "UNKNOWN_GAME", "position.json"),
        ('{"game": "nim", "piles": [%s]}' % ("1," * 2000 + "1"), ai.NotationError, "TOO_LONG", "position.json"),
        (json.dumps({**NIM, "to_move": 9}), ai.PositionError, "OUT_OF_RANGE", "position.json.to_move"),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else "",
)
def test_json_in_a_message_is_read_as_strictly(text, error, reason, path):
    with pytest.raises(error) as caught:
        wire.position_from_message(engine_pb2.Position(json=text))
    assert caught.value.path == path
    assert reason in (None, caught.value.reason)


def test_options_of_a_game_without_messages_travel_as_json(without_messages):
    request = engine_pb2.NewGameRequest()
    wire.options_to_request(request, "nim", {"piles": [4, 4]})
    assert wire.options_from_request(request) == ("nim", {"piles": [4, 4]}, "other_game.options_json")
    wire.options_to_request(request, "nim", {})
    assert wire.options_from_request(request) == ("nim", {}, "other_game.options_json")
    for text, reason in (("{", "BAD_JSON"), ("[1]", "WRONG_TYPE"), ("[%s1]" % ("1," * 2000), "TOO_LONG")):
        request.other_game.options_json = text
        with pytest.raises(ai.NotationError) as caught:
            wire.options_from_request(request)
        assert (caught.value.reason, caught.value.path) == (reason, "other_game.options_json")


def test_a_result_of_a_server_that_lists_no_candidates():
    message = wire.result_to_message(RESULT, engine_version="1", rules_version=1)
    message.ClearField("candidates")
    result = wire.result_from_message(message)
    assert (result.turn, result.value, result.expected_scores) == (
        RESULT.turn,
        RESULT.value,
        RESULT.expected_scores,
    )
