"""Turns in words: `mexica_ai.game.words` and the words of each game."""

import dataclasses
import gzip
import json
import re
from pathlib import Path

import pytest
from mexica_builder import build as mexica_position
from played_games import path_of, records_of
from tzolkin_builder import build

import mexica_ai as ai
from cext.core.baselines.simple import random_turn
from mexica_ai.game import registry, words
from mexica_ai.game.contract import Words
from mexica_ai.game.position import Position
from mexica_ai.games.coatl import facts
from mexica_ai.games.coatl.words import card
from mexica_ai.games.tzolkin import facts as tiles
from mexica_ai.table.events import seen_turn

ROOT = Path(__file__).parents[2]
GAMES = ("mexica", "coatl", "tzolkin", "nim")
NAMES = ["Ana", "Level 5", "Bo", "Cy"]
# Names of cards and tiles in text forms, and letters of colours and blocks.
CODES = re.compile(r"_|\b[PT]\d\d\b|\b[YRKGBWS]{1,2}\b|\?")


def told(position, turn):
    """Return a turn in words."""
    turn = turn.split("; ") if isinstance(turn, str) else turn
    return words.words_of_turn(position, turn, NAMES)


def steps_of(position, turn):
    game = registry.get(position.game)
    return words.tell_steps(game, words.moments_of(position, turn), position.to_move, NAMES)


def records(game):
    """Yield the records of a game that the sources hold."""
    if path_of(game).exists():
        yield from records_of(game)
    vectors = ROOT / "tests" / "data" / "vectors" / f"{game}_games.jsonl.gz"
    if vectors.exists():
        with gzip.open(vectors, "rt") as file:
            for line in list(file)[:: 4 if game == "mexica" else 2]:
                yield json.loads(line)


def check_turn(position, turn):
    whole = told(position, turn)
    assert whole
    assert whole.isprintable()
    spaces = r"\b[A-U]\d+\b" if position.game == "mexica" else r"(?!)"
    for text in (whole, *steps_of(position, turn)):
        assert not CODES.search(re.sub(spaces, "", text)), f"{turn}: {text}"


def test_the_records_that_ship_are_told_without_codes():
    number = 0
    for game in GAMES:
        for record in records(game):
            if "start" not in record:
                continue
            position = Position.from_json(record["start"])
            for turn in record["turns"]:
                check_turn(position, turn)
                position.push(turn)
                number += 1
    assert number > 200


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", [1, 2])
def test_random_games_are_told_without_codes_to_all(game, seed):
    position = ai.new_game(game, seed=seed, players=2)
    kind = registry.get(game)
    while not position.is_over and len(position.history) < 120:
        if position.is_chance:
            turn = position.copy().draw(seed)
        else:
            turn = [kind.text.format_action(action) for action in random_turn(position.state, len(position.history))]
        check_turn(position, turn)
        if kind.views is not None:
            for viewer in range(position.players):
                seen = seen_turn(position, turn, viewer)
                moments = words.moments_of(position, turn, seen=seen, viewer=viewer)
                text = words.tell_turn(kind, moments, position.to_move, NAMES)
                assert text
                assert not CODES.search(text), f"{seen}: {text}"
        position.push(turn)


@pytest.mark.parametrize(
    ("game", "turn", "expected"),
    [
        ("nim", "take 2 1", "took 2 from pile 1"),
        ("mexica", "place H8", "started at H8"),
        ("coatl", "keep", "kept none"),
    ],
)
def test_first_turns(game, turn, expected):
    assert told(ai.new_game(game, seed=1), turn) == expected


def test_a_bridge_that_stays_on_its_space_is_turned():
    runs = ["D3", *(f"{column}3-{column}4" for column in "BFHJ"), *(f"{column}11-{column}12" for column in "BDFHJL")]
    bridges = [f"{run.partition('-')[0]} ew" for run in runs]
    position = mexica_position(canals=runs, bridges=bridges)
    position = ai.Position.from_json(position)
    assert told(position, "relocate D3 D3 ns; end") == "turned the bridge at D3"
    assert told(position, "relocate D3 O7 ew; end") == "moved the bridge from D3 to O7"


def test_repeated_steps_are_told_once_and_points_stand_behind_them():
    (record, *_) = records("mexica")
    position = Position.from_json(record["start"])
    found = []
    for turn in record["turns"]:
        found.append(f"{registry.get('mexica').words.round_of(position.to_json())}: {told(position, turn)}")
        position.push(turn)
    assert found[0] == "Start: started at H8"
    assert found[2] == "Round 1: canals G6, G9 and H5-I5, walked to H9, took 2 action tokens"
    assert found[3] == "Round 1: walked 2 to J6, took 2 action tokens"
    assert found[8] == "Round 4: canals S7 and S8-S9, teleported to T7, founded 7 at U6 (+4), temple 1 at T8"
    assert found[33] == "Round 16: teleported to H8, took an action token, period 1 ended (+38, Ana +32)"
    assert found[-1].endswith("the game ended (+73, Ana +65)")


def test_workers_say_where_they_stand_and_what_they_cost():
    (record, *_) = records("tzolkin")
    position = Position.from_json(record["start"])
    found = {}
    for turn in record["turns"]:
        found["; ".join(turn)] = told(position, turn)
        position.push(turn)
    assert found["place tikal; place tikal; place uxmal; end"] == "placed on Tikal 0 and 2 and Uxmal 0 for 5 corn"
    assert found["pick palenque 1 1; end"] == "took 3 corn from Palenque 1"
    assert found["pick uxmal 1 1; climb kukulcan; end"] == "used Uxmal 1 for 3 corn, stepped up in Kukulcan"
    assert found["pick uxmal 3 2; sell W 3; buy G 1; end"] == (
        "used Uxmal 2 for 1 corn, sold 3 wood for 6 corn, bought 1 gold for 4 corn"
    )
    assert found["reveal a2_shrine_chaac"] == "new buildings: a shrine (2 steps up in Chaac, 2 points)"


def test_corn_that_is_paid_is_told_even_if_more_is_gained():
    position = ai.load(ROOT / "examples" / "tzolkin_midgame.json")
    assert told(position, ["pick yaxchilan 4 3", "end"]) == "took 2 corn and 1 gold for 1 corn from Yaxchilan 3"
    assert told(position, ["pick yaxchilan 4 4", "end"]) == "took 1 skull from Yaxchilan 4"


@pytest.mark.parametrize(
    ("space", "corn", "action", "paid"),
    [(3, 0, "3 4", ""), (9, 8, "9 1", ""), (3, 1, "3 2", " for 1 corn")],
)
def test_theology_at_chichen_itza_costs_what_it_costs(space, corn, action, paid):
    seat = {"skulls": 1, "technologies": {"theology": 1}, "corn": corn}
    position = Position.from_json(build(gears={"chichen_itza": "." * space + "0"}, seats={0: seat}))
    said = told(position, f"pick chichen_itza {action}; end")
    assert f"on Chichen Itza {action.split()[1]}{paid}, a step up" in said
    assert "corn" in said if paid else "corn" not in said


def test_a_skull_brings_no_step_where_another_seat_stands_at_the_top():
    own = {"skulls": 1, "temples": {"chaac": 4}}
    seats = {0: own, 1: {"temples": {"chaac": 5}}}
    position = Position.from_json(build(gears={"chichen_itza": "...0"}, seats=seats))
    assert told(position, "pick chichen_itza 3 3; end") == "placed a skull on Chichen Itza 3 (+6)"
    seats[1] = {}
    position = Position.from_json(build(gears={"chichen_itza": "...0"}, seats=seats))
    assert told(position, "pick chichen_itza 3 3; end") == "placed a skull on Chichen Itza 3, a step up in Chaac (+6)"


def test_what_others_must_not_know_is_not_told():
    position = ai.new_game("coatl", seed=1)
    kind = registry.get("coatl")
    hand = position.to_json()["seats"][0]["hand"][:2]

    def told_to(viewer, turn):
        seen = seen_turn(position, turn, viewer)
        return words.tell_turn(kind, words.moments_of(position, turn, seen=seen, viewer=viewer), 0, NAMES)

    assert told_to(1, [f"keep {' '.join(hand)}"]) == "chose prophecies"
    assert told_to(1, ["keep"]) == "chose prophecies"
    assert told_to(0, ["keep"]) == "kept none"
    assert told_to(0, [f"keep {' '.join(hand)}"]) == f"kept {card(hand[0])} and {card(hand[1])}"


def test_all_cards_and_tiles_have_words_of_their_own():
    names = [card(name) for name in (*facts.PROPHECIES, *facts.TEMPLES)]
    assert len(set(names)) == len(names)
    kind = registry.get("tzolkin")
    start = ai.new_game("tzolkin", seed=1).to_json()
    for tile in (*tiles.BUILDINGS, *tiles.MONUMENTS):
        assert not CODES.search(kind.words.tell([f"build {tile}"], start, start))
    wealth = [kind.words.tell([f"keep w_pal1 {tile}"], start, start) for tile in tiles.WEALTH]
    assert len(set(wealth)) == len(wealth)


def test_a_game_without_words_is_told_in_text_forms(monkeypatch):
    plain = dataclasses.replace(registry.get("nim"), words=Words())
    position = ai.new_game("nim", piles=[3, 1], plies_per_turn=2)
    moments = words.moments_of(position, ["take 2 1", "take 1 2"])
    assert words.tell_turn(plain, moments, 0, NAMES) == "take 2 1, take 1 2"
    assert words.tell_steps(plain, moments, 0, NAMES) == ["take 2 1", "take 1 2"]
    assert plain.words.round_of(position.to_json()) == ""


def test_points_of_others_have_names():
    plain = dataclasses.replace(registry.get("nim"), words=Words(lambda actions, before, after: ""))
    moment = words.Moment("end", {}, {}, [2, -1, 0.5])
    assert words.tell_turn(plain, [moment], 1, NAMES) == "scored (-1, Ana +2, Bo +0.5)"
    assert words.tell_turn(plain, [moment], None, NAMES) == "scored (Ana +2, Level 5 -1, Bo +0.5)"
    assert words.tell_turn(plain, [words.Moment("end", {}, {}, [0, 0, 0])], 1, NAMES) == words.ENDED
