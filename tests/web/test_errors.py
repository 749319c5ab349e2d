"""What the page says of faulty input: pieces, turns and seats, and no path of the JSON form."""

import copy
import json
import re
from pathlib import Path

import pytest

import mexica_ai as ai
from mexica_ai.game import registry
from mexica_ai.io.errors import MexicaAIError, Violation
from mexica_ai.web import commands, editor, starts
from mexica_ai.web.errors import ApiError, in_words

PATH = re.compile(r"[$`]|\w\[|\w\.\w|\w_\w")
QUOTED = re.compile(r'"[^"]*"')
LEVEL = {"kind": "engine", "level": 1, "seconds": 0.1}
EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name):
    text = (EXAMPLES / name).read_text()
    return json.loads(text.splitlines()[0] if name.endswith(".jsonl") else text)


def changed(data, *path_and_value):
    data = copy.deepcopy(data)
    *way, last, value = path_and_value
    parent = data
    for step in way:
        parent = parent[step]
    parent[last] = value
    return data


def words_of(**data):
    """Return the words of a refused game, for the page and of its first fault."""
    with pytest.raises(ApiError) as caught:
        starts.create(data, names=[], examples={}, find=None)
    told = caught.value.to_json()
    assert told["message"] == str(caught.value)
    first = told["violations"][0]["words"] if told["violations"] else told["words"]
    assert told["words"].startswith(first.rstrip("."))
    return first


@pytest.mark.parametrize(
    ("name", "way", "words"),
    [
        ("mexica", ("temples", 2, "at", "A1"), "Temple 3 (A1): given A1, which is lake; expected dry land"),
        ("mexica", ("temples", 2, "at", "?"), 'Temple 3: given "?"; expected a space'),
        ("mexica", ("bridges", 0, "axis", "up"), 'Bridge 1 (F7), axis: given "up"; expected one of "ns", "ew"'),
        ("mexica", ("calpulli", "placed", 0, "size", 12), "Calpulli token 1 (B6), size: given 12; expected 9"),
        ("mexica", ("seats", 0, "score", -1), "Seat 1, Score: -1 is out of range"),
        ("mexica", ("seats", 1, "pilli", "U7"), "Seat 2, pilli: U7 is taken by seat 1's pilli"),
        ("mexica", ("action_points", 7), "Action points: 7 is out of range; expected an integer from 0 to 6"),
        ("mexica", ("canals", []), "Canals: lacks"),
        ("tzolkin", ("gears", "tikal", "0" * 10), "The gear Tikal: given workers seat 1 on 0, seat 1 on 1, "),
        ("tzolkin", ("gears", "uxmal", "." * 9), "The gear Uxmal: given no workers; expected idle workers anywhere"),
        ("tzolkin", ("fields", "corn", 0, 99), "Corn at Palenque 2: given 99; expected"),
        ("tzolkin", ("seats", 1, "workers", 9), "Seat 2, Workers: "),
        ("tzolkin", ("start_space", 5), "On the start space: "),
        ("coatl", ("seats", 0, "hand", ["P00"] * 6), "Seat 1, Hand: has 6 prophecies; expected 5 at most"),
        (
            "coatl",
            ("seats", 0, "coatls", 0, "prophecies", ["P02"] * 2),
            "Coatl 1 of seat 1, Prophecies: has P02 2 times",
        ),
        ("coatl", ("deck", 0), "Deck: given 0; expected "),
        (
            "coatl",
            ("seats", 0, "tokens", ["promise"]),
            "Seat 1, Sacrifice tokens: has promise; expected none without the option “With sacrifice tokens”",
        ),
    ],
)
def test_a_faulty_position_is_told_in_words(name, way, words):
    data = changed(example(f"{name}_midgame.json"), *way)
    if way[-1] == ["promise"]:
        data["options"]["sacrifice_tokens"] = False
        data["seats"][1]["tokens"] = []
    found = [fault["words"] for fault in editor.validate({"position": data})["faults"]]
    assert any(one.startswith(words) for one in found), found
    for form in ({"position": data}, {"text": json.dumps(data)}):
        words_of(**form)


@pytest.mark.parametrize("name", ["mexica", "coatl", "tzolkin"])
def test_no_words_have_a_path(name):
    """Of any value that is spoilt."""
    data = example(f"{name}_midgame.json")
    base = {key: value for key, value in data.items() if key not in ("comment", "game", "version")}
    num_told = 0
    for path in paths_in(base):
        for value in ("x", 99):
            try:
                ai.Position.from_json(changed(data, *path, value))
            except MexicaAIError as error:
                for fault in error.violations:
                    words = in_words(fault, changed(data, *path, value))
                    assert not PATH.search(QUOTED.sub("", words)), words
                    num_told += 1
    assert num_told > 100


def paths_in(value, path=()):
    """Yield the paths of all values."""
    if path:
        yield path
    if isinstance(value, (dict, list)):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths_in(entry, (*path, key))


def test_faults_of_a_record_name_turn_and_action():
    record = example("mexica_game.jsonl")
    turn = record["turns"][3]
    words = words_of(text=json.dumps(changed(record, "turns", 3, 2, "walk Z9")))
    assert words == 'Turn 4, action 3: "walk Z9" is not an action; expected the form walk H5'
    words = words_of(text=json.dumps(changed(record, "turns", 3, [turn[0], "walk A1"])))
    assert words.startswith('Turn 4, action 2: "walk A1" is not legal for seat 2 here: A1 is in the lake')
    assert words_of(text=json.dumps(changed(record, "turns", 3, 7))) == "Turn 4: given 7; expected a list"
    words = words_of(text=json.dumps(changed(record, "start", "seats", 0, "score", -7)))
    assert words.startswith("First position, Seat 1, Score: -7 is out of range")
    lines = json.dumps(record) + "\n" + json.dumps(changed(record, "turns", 0, 0, "place A1")) + "\n"
    assert words_of(text=lines, record=2).startswith("Turn 1, action 1: ")


@pytest.mark.parametrize("text", ["", "{", "hello", '{"game": nim}'])
def test_a_text_that_is_nothing_is_told_as_such(text):
    words = words_of(text=text)
    assert words.startswith(
        "This can be read neither as JSON nor as a position in one line nor as a move text (line 1 "
    )


def test_a_move_text_keeps_its_own_lines_and_seats():
    text = ai.format_moves(example("mexica_game.jsonl")).replace("2. seat 1: place", "2. seat 0: place")
    words = words_of(text=text)
    assert re.match(r"Line \d+.*, column \d+: ", words)
    assert "seat 0" in words


def test_what_is_quoted_from_the_input_stays_as_it_is():
    fault = Violation("$.turns[0][0]", "X", '$.turns[0][0]: given "seat 0: \\"seat 1\\""; seat 0 is to move')
    assert in_words(fault) == 'Turn 1, action 1: given "seat 0: \\"seat 1\\""; seat 1 is to move'


@pytest.mark.parametrize("given", [None, 7, [], {}, {"game": 7}, {"game": "chess"}, {"game": []}, {"start": 7}])
def test_any_input_has_words(given):
    for path in (
        "",
        "$",
        "$.start",
        "$.start.temples[0].at",
        "$.gears.tikal",
        "$[0][1]",
        "request.seats[2].level",
        "…",
    ):
        assert in_words(Violation(path, "X", f"{path}: given 7; expected 8"), given).endswith("iven 7; expected 8")
    for name in registry.names():
        assert in_words(Violation("$.seats", "X", "$.seats: no"), {"game": name, "seats": 1}) == "Seats: no"


def test_words_of_other_errors_count_seats_from_1():
    error = ApiError(403, "NOT_YOUR_TURN", 'seat 0 is to move, not "seat 0"')
    assert error.to_json()["words"] == 'seat 1 is to move, not "seat 0"'
    assert error.to_json()["message"] == 'seat 0 is to move, not "seat 0"'
    data = {"game": "coatl", "seats": [{"kind": "person"}, {"kind": "person"}, LEVEL]}
    data |= {"players": 3, "seed": 1}
    table = starts.create(data, names=[], examples={}, find=None).table
    for seat, words in (
        (2, "An engine plays this seat; its hand is hidden."),
        (3, "The game has no such seat."),
    ):
        with pytest.raises(ApiError) as caught:
            commands.person_to_move(table, seat)
        assert caught.value.to_json()["words"] == words
    with pytest.raises(ApiError) as caught:
        commands.seat_person(table, 0)
    assert caught.value.to_json()["words"] == "No engine plays this seat."
