"""Records are replayed to the outcome that they state, or rejected with the turn and the action that fail."""

import copy
import gzip
import json
from pathlib import Path

import pytest

from mexica_ai import (
    IllegalActionError,
    MexicaAIError,
    NotationError,
    Position,
    PositionError,
    load,
    new_game,
    replay,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
GAMES = Path(__file__).parents[1] / "data" / "vectors" / "mexica_games.jsonl.gz"


@pytest.fixture(scope="module")
def games():
    with gzip.open(GAMES, "rt") as file:
        return [json.loads(line) for line in file]


@pytest.fixture
def record(games):
    """Return the shortest of the vector games as a record."""
    game = copy.deepcopy(min(games, key=lambda game: len(game["turns"])))
    del game["final"]
    return {"game": "mexica", "version": 1} | game


def refused(record):
    with pytest.raises(MexicaAIError) as caught:
        replay(record)
    return caught.value


def test_whole_games_end_as_recorded(games):
    for game in games:
        final = game["final"]
        record = {"game": "mexica", "version": 1} | {key: value for key, value in game.items() if key != "final"}
        position = replay(record)
        assert position.to_json() == final
        assert position.is_over


def test_a_record_may_be_text(record):
    assert replay(json.dumps(record)).scores == record["scores"]
    assert replay(json.dumps(record).encode()).winners == record["winners"]


def test_what_may_stand_in_a_record(record):
    players = record["start"]["players"]
    record |= {
        "engines": ["mcts,time=2"] * players,
        "seeds": [5] * players,
        "times": [1.5] * players,
        "build": "1a2b3c",
        "started_at": "2024-05-01T12:00:00Z",
        "comment": "final",
        "termination": "finished",
    }
    replay(record)


def test_an_unfinished_record(record):
    record |= {"turns": record["turns"][:7], "scores": None, "winners": None}
    assert refused(record).reason == "UNFINISHED"
    assert not replay(record | {"termination": "unfinished"}).is_over
    assert refused(record | {"termination": "unfinished", "scores": [1, 2]}).reason == "SCORES_MISMATCH"
    assert refused(record | {"termination": "unfinished", "winners": [0]}).reason == "WINNERS_MISMATCH"


def test_an_unfinished_record_needs_no_scores(record):
    whole = record | {}
    del record["scores"], record["winners"]
    assert refused(record).reason == "FINISHED"
    for missing in ("scores", "winners"):
        part = {key: value for key, value in whole.items() if key != missing}
        assert (refused(part).reason, refused(part).path) == ("MISSING_KEY", f"$.{missing}")
    record |= {"turns": record["turns"][:7]}
    assert not replay(record).is_over
    assert not replay(record | {"termination": "unfinished"}).is_over
    assert refused(record | {"termination": "finished"}).reason == "MISSING_KEY"


def test_a_position_is_no_record_and_a_record_no_position(record):
    position = Position.from_json(record["start"])
    for given in (record["start"], json.dumps(record["start"]), position.to_compact(), position.to_compact().encode()):
        assert refused(given).reason == "POSITION_GIVEN"
    lines = f"{json.dumps(record)}\n" * 2
    for read, given in (
        (Position.from_json, record),
        (Position.from_text, json.dumps(record)),
        (Position.from_text, lines),
        (Position.from_text, lines.encode()),
    ):
        with pytest.raises(NotationError) as caught:
            read(given)
        assert caught.value.reason == "RECORD_GIVEN"


def test_a_finished_game_is_not_unfinished(record):
    for rest in ({"termination": "unfinished"}, {"termination": "forfeit", "forfeit": forfeit(0)}):
        assert refused(record | rest).reason == "FINISHED"


def forfeit(seat):
    return {"seat": seat, "reason": "illegal turn", "detail": "walk A1"}


def test_a_forfeit_names_the_seat(record):
    record |= {"turns": record["turns"][:7], "scores": None, "winners": [1], "termination": "forfeit"}
    assert refused(record).reason == "FORFEIT_MISMATCH"
    assert refused(record | {"forfeit": forfeit(9)}).path == "$.forfeit.seat"
    assert not replay(record | {"forfeit": forfeit(0)}).is_over
    assert refused(record | {"forfeit": forfeit(0), "termination": "unfinished"}).reason == "FORFEIT_MISMATCH"
    for winners in ([0], [0, 1], [7], []):
        assert refused(record | {"forfeit": forfeit(0), "winners": winners}).reason == "WINNERS_MISMATCH"
    assert not replay(record | {"forfeit": forfeit(0), "winners": None}).is_over
    so_far = replay(record | {"forfeit": forfeit(0)}).scores
    assert not replay(record | {"forfeit": forfeit(0), "scores": so_far}).is_over
    for scores in ([*so_far, 0], [score + 1 for score in so_far], []):
        assert refused(record | {"forfeit": forfeit(0), "scores": scores}).reason == "SCORES_MISMATCH"


def test_an_illegal_action_is_found(record):
    record["turns"][5].insert(1, "walk A14")
    error = refused(record)
    assert isinstance(error, IllegalActionError)
    assert (error.turn_index, error.action_index, error.path) == (5, 1, "$.turns[5][1]")
    assert str(error).startswith('$.turns[5][1]: "walk A14" is not legal for seat ')


def test_an_unreadable_action_is_found(record):
    record["turns"][5][0] = "run H6"
    error = refused(record)
    assert isinstance(error, NotationError)
    assert (error.turn_index, error.action_index, error.path) == (5, 0, "$.turns[5][0]")


def test_a_turn_that_does_not_end_is_found(record):
    record["turns"][5] = record["turns"][5][:-1] or ["token"]
    error = refused(record)
    assert (error.turn_index, error.reason, error.path) == (5, "TURN_NOT_ENDED", "$.turns[5]")


def test_an_empty_turn_is_found(record):
    record["turns"][5] = []
    assert (refused(record).turn_index, refused(record).path) == (5, "$.turns[5]")


def test_a_turn_after_the_end_is_found(record):
    record["turns"].append(["end"])
    error = refused(record)
    assert (error.turn_index, error.reason) == (len(record["turns"]) - 1, "GAME_OVER")


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("scores", [0, 0], "SCORES_MISMATCH"),
        ("scores", None, "SCORES_MISMATCH"),
        ("winners", [], "WINNERS_MISMATCH"),
        ("winners", None, "WINNERS_MISMATCH"),
    ],
)
def test_a_wrong_outcome_is_found(record, key, value, reason):
    error = refused(record | {key: value})
    assert isinstance(error, PositionError)
    assert (error.path, error.reason) == (f"$.{key}", reason)
    assert json.dumps(record[key]) in str(error)


@pytest.mark.parametrize(
    ("key", "value", "path", "reason"),
    [
        ("version", 2, "$.version", "UNSUPPORTED_VERSION"),
        ("game", "nim", "$.game", "GAME_MISMATCH"),
        ("turns", {}, "$.turns", "WRONG_TYPE"),
        ("turns", [["end", 3]], "$.turns[0][1]", "WRONG_TYPE"),
        ("start", None, "$.start", "WRONG_TYPE"),
        ("final", {}, "$.final", "UNKNOWN_KEY"),
        ("engines", ["mcts"], "$.engines", "SEATS_COUNT"),
        ("times", [float("inf")], "$.times[0]", "WRONG_TYPE"),
        ("termination", "won", "$.termination", "BAD_VALUE"),
        ("forfeit", {"seat": 0}, "$.forfeit.reason", "MISSING_KEY"),
    ],
)
def test_a_wrong_shape_is_found(record, key, value, path, reason):
    error = refused(record | {key: value})
    assert (error.path, error.reason) == (path, reason)


def test_a_broken_start_is_found_where_it_breaks(record):
    record["start"]["seats"][0]["score"] = -1
    assert refused(record).path == "$.start.seats[0].score"


def test_a_start_has_one_world():
    start = new_game("mexica", players=3, seed=1, pool=[3] * 20).to_json()
    start["calpulli"]["upcoming"] = None
    record = {
        "game": "mexica",
        "version": 1,
        "start": start,
        "turns": [],
        "scores": None,
        "winners": None,
        "termination": "unfinished",
    }
    assert (refused(record).path, refused(record).reason) == ("$.start", "UPCOMING_UNKNOWN")
    start["calpulli"]["upcoming"] = [3] * 7
    replay(record)


# --- the examples of the README


def test_the_example_positions_are_valid_and_canonical():
    files = sorted(EXAMPLES.glob("*.json"))
    assert {file.name for file in files} >= {"mexica_midgame.json", "mexica_opening_4p.json", "nim.json"}
    for file in files:
        assert load(file).to_json() == json.loads(file.read_text())


def test_the_midgame_example_has_a_district_to_found():
    position = load(EXAMPLES / "mexica_midgame.json")
    position.push("walk T7; walk S7; canal Q6-Q7; canal R8-R9; found 6 R6; temple 3 S8; end")
    assert position.scores == [5, 7, 4]


def test_the_example_records_are_complete_games():
    records = (EXAMPLES / "mexica_game.jsonl").read_text().splitlines()
    assert len(records) == 2
    for record in records:
        assert replay(record).is_over
