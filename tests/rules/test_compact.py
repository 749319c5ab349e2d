"""Compact positions: examples, and what is refused. tests/rules/test_contract.py reads them back in all games."""

import gzip
import json
from pathlib import Path

import pytest

import mexica_ai as ai

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parents[1] / "data" / "vectors"
NIM = "nim/1 3,5,7 2,0,1,1"
NEW_GAMES = {name: ai.new_game(name, players=2, seed=3) for name in ("coatl", "mexica", "nim", "tzolkin")}


def refused(text):
    with pytest.raises(ai.MexicaAIError) as caught:
        ai.Position.from_compact(text)
    return caught.value


def test_an_example():
    position = ai.Position.from_compact(NIM)
    assert position == ai.load(ROOT / "examples" / "nim.json")
    assert position.to_compact() == NIM
    assert ai.Position.from_compact(f"  {NIM}\r\n") == position


@pytest.mark.parametrize("game", ["mexica", "tzolkin"])
def test_rare_positions_read_back(game):
    with gzip.open(DATA / f"{game}_positions.jsonl.gz", "rt") as file:
        for line in list(file)[::7]:
            position = ai.Position.from_json(json.loads(line)["position"])
            back = ai.Position.from_compact(position.to_compact())
            assert back == position
            assert back.to_json() == position.to_json()


def test_the_header_names_game_and_version():
    assert refused("chess/1 8/8").reason == "UNKNOWN_GAME"
    assert refused(NIM.replace("/1", "/2")).reason == "UNSUPPORTED_VERSION"
    for text in ("", "nim", "nim/1", "nim/1 ", f"x {NIM}", f"{NIM}\n{NIM}", None, 3):
        assert refused(text).reason == "BAD_COMPACT"


@pytest.mark.parametrize("game", NEW_GAMES)
def test_every_field_is_checked(game):
    header, *fields = NEW_GAMES[game].to_compact().split(" ")
    for number in range(len(fields)):
        changed = [*fields]
        changed[number] = "$"
        error = refused(" ".join([header, *changed]))
        assert error.reason == "BAD_COMPACT"
        assert f"field {number + 1}" in str(error)
    assert "expected" in str(refused(" ".join([header, *fields, "0"])))
    assert refused(" ".join([header, *fields[:-1]])).reason == "BAD_COMPACT"


def test_a_row_has_all_its_spaces():
    text = NEW_GAMES["mexica"].to_compact()
    assert "row 1 has 20 spaces; expected 21" in str(refused(text.replace(" 21/", " 20/", 1)))
    assert "row 1 has 22 spaces" in str(refused(text.replace(" 21/", " 21b1/", 1)))
    # Digits that could be split in very many ways are no trap.
    assert refused(text.replace(" 21/", f" {'1' * 5000}x/", 1)).reason == "BAD_COMPACT"


def test_numbers_of_cards_and_tiles_are_known():
    for game in ("coatl", "tzolkin"):
        fields = NEW_GAMES[game].to_compact().split(" ")
        changed = [field if "," not in field else field.replace(field[-2:], "99") for field in fields[5:7]]
        error = refused(" ".join([*fields[:5], *changed, *fields[7:]]))
        assert error.reason == "BAD_COMPACT"


def test_the_rules_check_what_it_says():
    error = refused(NEW_GAMES["mexica"].to_compact().replace("0,0,-,3321", "0,0,-,3322", 1))
    assert (error.reason, error.path) == ("TEMPLES_COUNT", "position.seats[0].temples[3]")
    assert refused("nim/1 3,64 2,0,1,1").path == "position.piles[1]"


def test_text_is_either_form(tmp_path):
    assert ai.Position.from_text(NIM) == ai.Position.from_text(f"\ufeff{NIM}\n".encode())
    path = tmp_path / "position.txt"
    path.write_text(NIM + "\n")
    assert ai.load(path).to_compact() == NIM
    with pytest.raises(ai.NotationError) as caught:
        ai.Position.from_text(f"{NIM}\n{NIM}\n")
    assert caught.value.reason == "SEVERAL_LINES"
