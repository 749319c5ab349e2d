"""Tzolk'in's positions, views and board beyond what every game must keep."""

import gzip
import json
from pathlib import Path

import pytest
from tzolkin_builder import build

from cext.games.tzolkin.ops import state_from_fields, state_to_fields
from mexica_ai import NotationError, Position, PositionError, new_game, replay
from mexica_ai.games.tzolkin import facts, notation

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


def read(name):
    with gzip.open(VECTORS / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


# Actions.


@pytest.mark.parametrize(
    "text",
    ["keep w_tik3 w_pal1", "keep w_pal1 w_pal1", "keep w_pal1", "place tikal 2", "pick tikal 8", "pick tikal 3 6",
     "pick chichen_itza 11", "pick chichen_itza 10 10", "pick start 0", "pick tikal 03", "use chichen_itza 1",
     "research agriculture SW", "research agriculture WWWW", "build a1_farm_all W", "build m_tombs arch",
     "climb kukulcan chaac W", "climb chaac kukulcan", "climb chaac chaac W", "take", "take GW", "take WWW",
     "sell W 0", "sell WS 1", "buy G 01", "buy G 10000", "advance 3", "reveal", "reveal m_tombs",
     "reveal a1_civic_agriculture a1_farm_one", "reveal a1_civic_agriculture a1_civic_agriculture", "end ",
     "harvest corn\n", "place start\n"],
)  # fmt: skip
def test_what_is_no_action(text):
    with pytest.raises(NotationError):
        notation.parse_action(text)


def test_numbers_of_decisions_are_those_of_the_compiled_rules():
    for text in facts.NUMBER_OF_DECISION:
        number = facts.NUMBER_OF_DECISION[text]
        assert facts.TEXT_OF_DECISION[number] == text
    assert len(facts.TEXT_OF_DECISION) == len(facts.NUMBER_OF_DECISION) == 24 + 26


# Pending decisions.


def test_as_many_decisions_as_a_position_may_owe_can_be_played():
    position = build(pending=["take 2"] * 12)
    state = notation.parse_position(position)
    for _ in range(12):
        state.apply(notation.parse_action("take WG"))
        state.check()
    assert notation.format_position(state)["pending"] == []
    with pytest.raises(PositionError) as refused:
        notation.parse_position(position | {"pending": ["take 2"] * 13})
    assert (refused.value.reason, refused.value.path) == ("PENDING", "position.pending")


def test_decisions_on_top_of_twelve():
    """The deepest chain there is: Tikal 4 builds a tile that uses Tikal 4, which builds one with two advances."""
    plenty = {"corn": 99, "wood": 99, "stone": 99, "gold": 99}
    levels = dict.fromkeys(facts.TRACKS, 3)
    position = build(
        day=16, food_days=2, buildings=["a2_tomb_action", "a2_shrine_two_techs"],
        pending=["build two", *["take 1"] * 11], seats={0: plenty | {"technologies": levels}},
    )  # fmt: skip
    state = notation.parse_position(position)
    for action in ("build a2_tomb_action", "use tikal 4", "build a2_shrine_two_techs", "research agriculture"):
        state.apply(notation.parse_action(action))
        state.check()
    pending = notation.format_position(state)["pending"]
    assert pending[:4] == ["climb one", "research free one", "build second", "build second"]
    assert len(pending) == 15


# Invariants of the compiled state: what the codec should have named already.


@pytest.mark.parametrize(
    ("reason", "path", "value"),
    [
        ("SEATS", ["to_move"], 3),
        ("SEATS", ["start_space"], 3),
        ("CLOCK", ["teeth_corn"], 9),
        ("TURN", ["placed"], 1),
        ("TURN", ["last"], 32),
        ("WORKERS", ["seats", 0, "workers"], 7),
        ("WORKERS", ["gears", 2], [1, *[-1] * 7, 0, -1]),
        ("IDLE_WORKERS", ["gears", 2], [4] * 10),
        ("SKULLS", ["skulls_placed"], [0]),
        ("SKULLS", ["seats", 0, "skulls"], 14),
        ("TEMPLES", ["seats", 0, "temples"], [6, 0, 0]),
        ("STOCKS", ["seats", 0, "corn"], 33_000),
        ("STOCKS", ["seats", 0, "levels"], [0, 4, 0, 0]),
        ("TILES", ["display"], [20]),
        ("TILES", ["monuments"], [0, 1]),
        ("FIELDS", ["wood_fields"], [1, 3, 3, 3]),
        ("FIELDS", ["seats", 0, "corn_tiles"], 1),
        ("WEALTH", ["seats", 0, "wealth"], [1]),
        ("PENDING", ["pending"], [16]),
    ],
)
def test_the_compiled_state_checks_itself(reason, path, value):
    fields = state_to_fields(notation.parse_position(build(3)))
    part = fields
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    with pytest.raises(PositionError) as refused:
        state_from_fields(fields)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("key", "value"),
    [("pending", [16] * 13), ("drawn", [0] * 13), ("seats", []), ("gears", [[0]]), ("display", [27]),
     ("display", [0] * 4), ("monuments", [13]), ("skulls_placed", [10]), ("num_players", 5)],
)  # fmt: skip
def test_fields_for_which_there_is_no_room(key, value):
    fields = state_to_fields(notation.parse_position(build(3)))
    fields[key] = value
    with pytest.raises(ValueError, match=r"\w"):
        state_from_fields(fields)


# Amounts.


def test_the_largest_market():
    plenty = dict.fromkeys(facts.STOCKS, 999)
    position = Position.from_json(build(pending=["trade"], seats={0: plenty}))
    legal = position.legal_actions()
    assert len(legal) == 3 * 999 + 999 // 2 + 999 // 3 + 999 // 4
    position.push_action("sell W 999")
    position.push_action("sell S 999")
    legal = position.legal_actions()
    corn = 999 + 999 * 5
    assert len(legal) == 999 + corn // 4 + 1
    position.push_action(f"buy G {corn // 4}")
    assert position.legal_actions() == ["end"]


# Views and records.


def test_a_view_does_not_guess_what_the_others_kept():
    position = new_game("tzolkin", players=2, seed=3)
    position.push([position.legal_actions()[0]])
    view = position.view(1)
    turn = [view.legal_actions()[0]]
    with pytest.raises(PositionError) as refused:
        view.push(turn)
    assert refused.value.reason == "NOT_UNCOVERED"
    assert view.to_json()["phase"] == "keep"
    position.push(turn)
    assert position.viewer is None
    assert position.view(0) == position


def test_another_seat_may_keep_whatever_a_view_allows():
    position = new_game("tzolkin", players=3, seed=3)
    dealt = position.to_json()["seats"][0]["dealt"]
    view = position.view(1)
    view.push([f"keep {dealt[0]} {dealt[1]}"])
    assert view.to_json()["seats"][0]["wealth"] == ["?", "?"]
    own = view.to_json()["seats"][1]["dealt"]
    view = position.view(1)
    with pytest.raises(Exception, match="not legal"):
        view.push([f"keep {own[0]} {own[1]}"])


@pytest.mark.parametrize("number", range(18))
def test_games_of_the_vectors_are_records(number):
    game = read("tzolkin_games.jsonl.gz")[number]
    record = {"game": "tzolkin", "version": 1, **{key: game[key] for key in ("start", "turns", "scores", "winners")}}
    assert replay(record).to_json() == game["final"]
    wrong = [score + 0.25 for score in game["scores"]]
    with pytest.raises(PositionError) as refused:
        replay(record | {"scores": wrong})
    assert refused.value.reason == "SCORES_MISMATCH"


def test_quarters_are_written_as_they_should_be():
    final = next(
        game["final"] for game in read("tzolkin_games.jsonl.gz")
        if any(isinstance(score, float) for score in game["scores"])
    )  # fmt: skip
    for score, reason in ((12.0, "SCORE"), (12.1, "SCORE"), (999.25, "SCORE"), (12.5, None), (-3.75, None)):
        position = json.loads(json.dumps(final))
        position["seats"][0]["score"] = score
        if reason is None:
            assert Position.from_json(position).scores[0] == score
            continue
        with pytest.raises(PositionError) as refused:
            Position.from_json(position)
        assert (refused.value.reason, refused.value.path) == (reason, "$.seats[0].score")


# The board.


@pytest.mark.parametrize("name", ["tzolkin_positions.jsonl.gz", "tzolkin_games.jsonl.gz"])
def test_the_board_fits_80_columns(name):
    for line in read(name):
        for key in ("position", "start", "final"):
            for row in str(Position.from_json(line[key])).splitlines() if key in line else ():
                assert len(row) <= 80
                assert row == row.rstrip()


def rows_of(text, label):
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(label))
    return lines[at : lines.index("", at)]


def test_everything_of_a_position_is_on_the_board():
    position = build(
        3, day=13, food_days=1, start_player=2, to_move=1, start_space=2, skulls_placed=[4],
        gears={"tikal": "1..2", "chichen_itza": ".........1"},
        fields={"corn": [3, 3, 2, 3], "wood": [0, 3, 1, 3]},
        buildings=["a1_tomb_temple_build"], monuments=["m_full_tracks"],
        seats={
            1: {"corn": 7, "wood": 2, "skulls": 1, "score": -3, "workers": 5, "light": False, "wood_tiles": 2,
                "corn_tiles": 1, "temples": {"kukulcan": 4}, "technologies": {"theology": 2},
                "buildings": ["a1_farm_one"]},
        },
    )  # fmt: skip
    text = str(Position.from_json(position))
    assert text.splitlines()[:2] == ["Tzolk'in, 3 players, day 13, age 1", "seat 1 to move"]
    assert "food day in 1 day; 0 corn on the teeth" in text
    assert "start space   seat 2; the marker is with seat 2" in text
    assert rows_of(text, "tikal")[-1].split()[:9] == ["workers", "1", ".", ".", "2", *"...."]
    assert rows_of(text, "palenque")[2].split() == ["tiles", "left", "3c", "3c", "3W", "2c", "1W", "3c", "3W"]
    assert "full" in rows_of(text, "chichen_itza")[1]
    ladder = rows_of(text, "temples")
    assert next(row for row in ladder if row.split()[0] == "4").endswith("|  7 k | 1")
    assert rows_of(text, "tracks")[4].split()[:2] == ["theology", "02"]
    assert "step for 1 1" in rows_of(text, "tracks")[4]
    assert "  a1_tomb_temple_build       tomb   WG      a step of choice, may build" in text
    assert "9/20/33/33 for 1/2/3/4 full tracks" in text
    mover = rows_of(text, "> seat 1")
    assert mover[0] == "> seat 1: -3 points, 5 workers (2 out), no double advance left"
    assert mover[1].split() == ["has", "7", "corn", "2", "wood", "1", "skull"]
    assert "tikal 0 (acts in 1 day, any action in 6, home in 8)" in "\n".join(mover)
    assert "chichen_itza 9 (any action in 1, home in 2)" in "\n".join(mover)
    assert "    feeding   8 corn, 1 short" in mover
    assert "    harvested 1 corn tile   2 wood tiles" in mover
    assert "    built     a1_farm_one: feeds 1 worker" in mover
    pending = build(pending=["climb one", "build more", "build second"])
    assert "due: a step up; then perhaps a building; then perhaps" in str(Position.from_json(pending))
