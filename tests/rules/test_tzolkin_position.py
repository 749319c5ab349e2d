"""Tzolk'in's positions, views and board beyond what every game must keep."""

import gzip
import json
from pathlib import Path

import pytest
from tzolkin_builder import build

from cext.games.tzolkin.ops import state_from_fields, state_to_fields
from mexica_ai import NotationError, Position, PositionError, new_game, replay
from mexica_ai.games.tzolkin import facts, notation, render

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


# Gears.


@pytest.mark.parametrize("phase", ["advance", "turn", "placing"])
@pytest.mark.parametrize("gear", facts.GEARS)
@pytest.mark.parametrize("length", [0, 3])
def test_a_gear_that_is_too_short_is_refused(phase, gear, length):
    position = build(players=3)
    position["phase"], position["start_space"] = phase, position["to_move"]
    position["gears"][gear] = position["gears"][gear][:length]
    with pytest.raises(PositionError) as refused:
        notation.parse_position(position)
    assert f"position.gears.{gear}" in str(refused.value) + str(refused.value.violations)


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


# Invariants of the compiled state: what the validation of positions should have named already.


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


def test_a_guess_of_a_view_is_drawn():
    position = new_game("tzolkin", players=3, seed=5)
    position.push(position.legal_actions()[0])
    for viewer in range(3):
        view, dealt = position.view(viewer), set()
        for seed in range(20):
            guess = view.guess(seed)
            assert guess.view(viewer) == view
            dealt.add(str([seat["dealt"] for seat in guess.to_json()["seats"]]))
        assert len(dealt) == 20


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
    assert text.splitlines()[:2] == ["Tzolk'in, 3 players, day 13, age 1", "● seat 1 to move"]
    assert "food day in 1 day; 0 corn on the teeth" in text
    assert "start space   ■ seat 2; the marker is with ■ seat 2" in text
    assert rows_of(text, "tikal")[-1].split()[:9] == ["workers", "●", ".", ".", "■", *"...."]
    assert rows_of(text, "palenque")[2].split() == ["tiles", "left", "3c", "3c", "3W", "2c", "1W", "3c", "3W"]
    assert "full" in rows_of(text, "chichen_itza")[1]
    ladder = rows_of(text, "temples")
    assert next(row for row in ladder if row.split()[0] == "4").endswith("|  7 k | ●")
    assert rows_of(text, "tracks")[4].split()[:2] == ["theology", "▲■"]
    assert "block: a step ●" in rows_of(text, "tracks")[4]
    assert "  a1_tomb_temple_build        tomb   WG      a step of choice, may build" in text
    assert "9/20/33/33 for 1/2/3/4 full tracks" in text
    mover = rows_of(text, "> ● seat 1")
    assert mover[0] == "> ● seat 1: -3 points, 5 workers (2 out), no double advance left"
    assert mover[1].split() == ["has", "7", "corn", "2", "wood", "1", "skull"]
    assert [line.split(maxsplit=1)[1] for line in mover[2:3]] == ["tikal 0: tech in 1, any in 6, home in 8"]
    assert mover[3].strip() == "chichen_itza 9: any now, home in 2"  # by theology
    assert "    feeding   8 corn, 1 short" in mover
    assert "    harvested 1 corn tile   2 wood tiles" in mover
    assert "    built     a1_farm_one: feeds 1 worker" in mover
    pending = build(pending=["climb one", "build more", "build second"])
    assert "due: a step up; then perhaps a building; then perhaps" in str(Position.from_json(pending))


@pytest.mark.parametrize(
    ("gear", "space", "words"),
    [
        ("palenque", 1, "3c now, 4c in 1, any in 5, home in 7"),
        ("uxmal", 5, "any 1c now, any in 1, home in 3"),
        ("yaxchilan", 6, "any now, home in 2"),
        ("tikal", 7, "any now, home in 1"),
        ("chichen_itza", 3, "full now, 7K in 1, any in 7, home in 8"),
        ("chichen_itza", 2, "5C now, 7K in 2, any in 8, home in 9"),
        ("chichen_itza", 10, "any now, home in 1"),
    ],
)
def test_what_a_worker_can_do_after_how_many_days(gear, space, words):
    text = str(Position.from_json(build(gears={gear: "." * space + "0"}, skulls_placed=[3])))
    assert f"    out       {gear} {space}: {words}" in text.splitlines()


def test_the_board_of_a_game_that_is_over_names_its_winners():
    headings = set()
    for game in read("tzolkin_games.jsonl.gz"):
        text = str(Position.from_json(game["final"]))
        seats = " and ".join(f"{'▲●■◆'[seat]} seat {seat}" for seat in game["winners"])
        assert text.splitlines()[1] == f"{seats} {'wins' if len(game['winners']) == 1 else 'share the win'}"
        headings.add(len(game["winners"]))
    assert headings == {1, 2}


# What the file of facts says of tiles, in the words of the board: all else believes that file.
TILES = """
3 a1_farm_one: W, feeds 1 worker
2 a1_farm_all: WWWW, feeding costs 1c less a worker
1 a1_tomb_chaac_quetzalcoatl: WWS, Chaac +1, Quetzalcoatl +1
1 a1_tomb_chaac_kukulcan: WSS, Chaac +1, Kukulcan +1
1 a1_tomb_temple_build: WG, a step of choice, may build
1 a1_civic_agriculture: WW, Agriculture +1
1 a1_civic_agriculture_stone: WWW, Agriculture +1, S
1 a1_civic_extraction_corn: WS, Extraction +1, 1c
1 a1_civic_extraction_gold: WWS, Extraction +1, G
1 a1_shrine_architecture: G, Architecture +1
1 a1_shrine_theology_kukulcan: SG, Theology +1, Kukulcan +1
3 a2_farm_three: WW, feeds 3 workers
1 a2_tomb_trade: SSS, may trade, 6 points
1 a2_tomb_worker: WSG, a worker, 6 points
1 a2_tomb_points: WGG, 8 points
1 a2_tomb_action: WWSG, may use an action for 1c, 2 points
1 a2_tomb_three_temples: WSSG, Chaac +1, Quetzalcoatl +1, Kukulcan +1, 3 points
1 a2_civic_tech_stone: WWW, 1 advance of choice, S
1 a2_civic_tech_gold: WWS, 1 advance of choice, G
1 a2_civic_tech_corn: WWWS, 1 advance of choice, 6c
1 a2_civic_tech_skull: WWSS, 1 advance of choice, k
1 a2_shrine_chaac: SS, Chaac +2, 2 points
1 a2_shrine_architecture: SG, Architecture +1, 3 points
1 a2_shrine_kukulcan: GG, Kukulcan +2, 3 points
1 a2_shrine_theology: SSG, Theology +1, Chaac +1, Kukulcan +1
1 a2_shrine_two_techs: SGG, 2 advances of choice
1 a2_shrine_quetzalcoatl: GGG, Quetzalcoatl +2, 4 points
1 m_tombs: WWWSSG, 4 points a tomb
1 m_all_tiles: WSSSGG, 2 points a building or monument
1 m_corn_tiles: WSGGGG, 4 points a corn tile
1 m_wood_tiles: WGGGG, 4 points a wood tile
1 m_all_players_monuments: WWSSGG, 5 points a monument of any seat
1 m_civic: WWSSSG, 4 points a civic
1 m_full_tracks: WSGGG, 9/20/33/33 for 1/2/3/4 full tracks
1 m_tech_levels: WWSGGG, 3 points a level
1 m_workers: WWWGGG, 0/6/12/18 for 3/4/5/6 workers
1 m_shrines: SSGGG, 4 points a shrine
1 m_temple_points: SSSSGGG, the points of its steps again
1 m_best_temple: SSSGGG, 3 points a step in its best temple
1 m_skulls: GGGGk, 3 points a skull in Chichen Itza
1 w_pal1: 3c, Quetzalcoatl +1, Agriculture +1
1 w_pal3: 5c G, Quetzalcoatl +1
1 w_pal5: SG, Agriculture +1
1 w_pal7: 9c S
1 w_yax1: W, Kukulcan +1, Extraction +1
1 w_yax3: 2c WW, Kukulcan +1
1 w_yax5: 4c W, Extraction +1
1 w_yax7: 3c WWS
1 w_tik1: 2c, Chaac +1, Architecture +1
1 w_tik3: 6c SS
1 w_tik5: 3c G, Architecture +1
1 w_tik7: 6c WS
1 w_uxm1: 5c S, Chaac +1
1 w_uxm3: 3c W, feeds 1 worker
1 w_uxm5: a worker
1 w_uxm7: 8c G
1 w_chi0: 4c Wk
1 w_chi3: 5c S, Theology +1
1 w_chi5: 4c WWW
1 w_chi7: 2c WW, Theology +1
1 w_chi10: 7c WW
""".strip().splitlines()


def test_what_every_tile_costs_and_brings():
    tiles = {**facts.BUILDINGS, **facts.MONUMENTS, **facts.WEALTH}
    assert len(TILES) == len(tiles) == 27 + 13 + 21
    for line, (name, tile) in zip(TILES, tiles.items(), strict=True):
        if name in facts.MONUMENTS:
            words = render.describe_scoring(tile["scoring"], 3)
        else:
            words = render.describe_effects(tile["effects"])
        words = ", ".join(filter(None, [render.spell(tile.get("cost", {})), words]))
        assert line == f"{tile.get('copies', 1)} {name}: {words}"
    assert sum(tile["copies"] for tile in facts.BUILDINGS.values()) == 32
