"""The strict parsers: print and parse are inverse, and nothing but the domain's exceptions ever comes out."""

import copy
import gzip
import json
import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mexica_ai import MexicaAIError, NotationError, Position, load, new_game, replay
from mexica_ai.game import registry
from mexica_ai.games.mexica import board, notation
from mexica_ai.io.strict import parse_json

VECTORS = Path(__file__).parents[1] / "data" / "vectors"
GAMES = registry.names()


@cache
def vector_positions():
    with gzip.open(VECTORS / "mexica_positions.jsonl.gz", "rt") as file:
        return [json.loads(line)["position"] for line in file]


@cache
def valid_records():
    """Return records of a short game of each game."""
    rng = random.Random(3)
    records = []
    for game in GAMES:
        start = new_game(game, seed=3)
        position = start.copy()
        turns = []
        for _ in range({"coatl": 25, "mexica": 6}.get(game, 100)):
            if position.is_over:
                break
            if position.is_chance:
                turns.append(position.draw(len(turns)))
                continue
            turn = []
            before = position.state.turn
            while position.state.turn == before:
                legal = position.legal_actions()
                action = "end" if len(turn) > 5 and "end" in legal else rng.choice(legal)
                position.push_action(action)
                turn.append(action)
            turns.append(turn)
        over = position.is_over
        records.append(
            {
                "game": game,
                "version": 1,
                "start": start.to_json(),
                "turns": turns,
                "scores": position.scores if over else None,
                "winners": position.winners if over else None,
                "termination": "finished" if over else "unfinished",
            }
        )
    return records


# --- actions

space = st.sampled_from(board.GRID).map(board.format_space)
axis = st.sampled_from(notation.AXES)
size = st.integers(board.MIN_SIZE, board.MAX_SIZE)
mexica_actions = st.one_of(
    st.builds("place {}".format, space),
    st.builds("canal {}".format, space),
    st.lists(st.sampled_from(board.GRID), min_size=2, max_size=2, unique=True).map(
        lambda cells: "canal " + "-".join(map(board.format_space, sorted(cells)))
    ),
    st.builds("bridge {} {}".format, space, axis),
    st.builds("relocate {} {} {}".format, space, space, axis),
    st.builds("found {} {}".format, size, space),
    st.builds("temple {} {}".format, st.integers(1, 4), space),
    st.builds("walk {}".format, space),
    st.builds("sail {}".format, space),
    st.builds("teleport {}".format, space),
    st.sampled_from(["token", "end"]),
    st.builds("remove {}".format, size),
)
nim_actions = st.builds("take {} {}".format, st.integers(1, 63), st.integers(1, 8))


@given(mexica_actions)
def test_mexica_actions_are_printed_as_they_were_read(text):
    action = notation.parse_action(text)
    assert notation.format_action(action) == text
    assert action >> 26 == 0


@given(nim_actions)
def test_nim_actions_are_printed_as_they_were_read(text):
    nim = registry.get("nim").text
    assert nim.format_action(nim.parse_action(text)) == text


@pytest.mark.parametrize("game", GAMES)
@given(number=st.integers(-(2**70), 2**70) | st.integers(0, 2**26))
def test_only_integers_of_actions_are_printed(game, number):
    entry = registry.get(game)
    try:
        text = entry.text.format_action(number)
    except NotationError:
        return
    assert entry.text.parse_action(text) == number


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("place H6", 1 << 22 | 200 << 9),
        ("canal C5", 2 << 22 | 163 << 9),
        ("canal C5-D5", 2 << 22 | 1 << 18 | 163 << 9 | 164),
        ("bridge O7 ew", 3 << 22 | 1 << 18 | 239 << 9),
        ("relocate O7 K4 ns", 4 << 22 | 239 << 9 | 139),
        ("found 13 B4", 5 << 22 | 13 << 18 | 130 << 9),
        ("temple 3 C5", 6 << 22 | 3 << 18 | 163 << 9),
        ("walk H5", 7 << 22 | 168 << 9),
        ("sail K4", 8 << 22 | 139 << 9),
        ("teleport C9", 9 << 22 | 291 << 9),
        ("token", 10 << 22),
        ("end", 11 << 22),
        ("remove 7", 12 << 22 | 7 << 18),
    ],
)
def test_the_layout_of_an_action(text, action):
    assert notation.parse_action(text) == action


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "jump H6",
        "End",
        "end ",
        " end",
        "end\n",
        "token 1",
        "walk",
        "walk H",
        "walk H0",
        "walk H06",
        "walk H15",
        "walk V1",
        "walk h6",
        "walk  H6",
        "walk H6 ",
        "walk H6 H7",
        "canal D5-C5",
        "canal C5-C5",
        "canal C6-C5",
        "canal C5 D5",
        "canal C5-",
        "canal C5-D5-E5",
        "bridge O7",
        "bridge O7 we",
        "bridge ew O7",
        "relocate O7 ew",
        "temple 5 C5",
        "temple 0 C5",
        "temple C5 3",
        "temple 03 C5",
        "found 2 B4",
        "found 14 B4",
        "remove 2",
        "remove 14",
        "remove",
        "walk \uff286",
        "walk H\u0666",
        "end;",
        "walk H6;end",
    ],
)
def test_text_that_is_no_action(text):
    with pytest.raises(NotationError) as caught:
        notation.parse_action(text, "turn[3]")
    assert caught.value.path == "turn[3]"
    assert str(caught.value).startswith(f"turn[3]: {json.dumps(text)} is not an action; expected ")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize("game", GAMES)
@given(text=st.text() | st.builds("{}{}".format, mexica_actions, st.text(min_size=1)) | anything)
def test_only_notation_errors_come_out_of_the_action_parser(game, text):
    entry = registry.get(game)
    action = assert_only_domain_errors(entry.text.parse_action, text)
    if action is not None:
        assert entry.text.format_action(action) == text


# --- positions


def test_positions_are_printed_as_they_were_read():
    for data in vector_positions():
        position = Position.from_json(data)
        assert position.to_json() == data
        assert Position.from_json(json.dumps(data)) == position


def test_every_position_of_a_game_is_printed_and_read_back():
    with gzip.open(VECTORS / "mexica_games.jsonl.gz", "rt") as file:
        game = json.loads(file.readline())
    position = Position.from_json(game["start"])
    for turn in game["turns"]:
        for action in turn:
            position.push_action(action)
            data = position.to_json()
            again = Position.from_json(data)
            assert again == position
            assert again.to_json() == data
    assert position.is_over


@given(st.integers(0, 2**63 - 1), st.integers(2, 4))
def test_new_games_are_printed_and_read_back(seed, players):
    position = new_game("mexica", players=players, seed=seed)
    assert Position.from_json(position.to_json()) == position
    assert new_game("mexica", players=players, seed=seed) == position


@given(
    piles=st.lists(st.integers(0, 63), min_size=1, max_size=8),
    players=st.integers(2, 4),
    plies_per_turn=st.integers(1, 3),
    data=st.data(),
)
def test_nim_positions_are_printed_as_they_were_read(piles, players, plies_per_turn, data):
    position = {
        "game": "nim",
        "version": 1,
        "players": players,
        "piles": piles,
        "to_move": data.draw(st.integers(0, players - 1)),
        "plies_left": data.draw(st.integers(1, plies_per_turn)),
        "plies_per_turn": plies_per_turn,
    }
    assert Position.from_json(position).to_json() == position


def mutate(data, rng):
    """Change one place of a JSON value, in place where that is possible, and return it."""
    replacements = [
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        3,
        8,
        15,
        99,
        10**30,
        10**4000,
        3.0,
        float("nan"),
        float("inf"),
        "",
        "A1",
        "H6",
        "H7",
        "O7",
        "C5",
        "ns",
        "over",
        "play",
        "placement",
        "finished",
        "forfeit",
        "\ud800",
        [],
        {},
        [[]],
        [3] * 300,
        {"at": "H6"},
        {"at": "C5", "size": 3},
        {"seat": 0, "reason": "", "detail": ""},
    ]
    parent, key = None, None
    value = data
    while isinstance(value, (dict, list)) and value and (parent is None or rng.random() < 0.9):
        parent = value
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        value = parent[key]
    match rng.randrange(6):
        case 0:
            del parent[key]
        case 1 if isinstance(parent, list):
            parent.append(copy.deepcopy(rng.choice(parent)))
        case 2 if isinstance(parent, dict):
            parent[rng.choice(["extra", "", "seat", "size", "a b", "\ud800", "pool"])] = rng.choice(replacements)
        case 3 if type(value) is int:
            parent[key] += rng.choice([-1, 1])
        case 4 if isinstance(parent, list):
            rng.shuffle(parent)
        case _:
            parent[key] = copy.deepcopy(rng.choice(replacements))
    return data


def assert_only_domain_errors(read, data):
    """Read, and check that the message of any error is one line of printable ASCII."""
    try:
        return read(data)
    except MexicaAIError as caught:
        error = caught
    for message in (str(error), *(violation.message for violation in error.violations)):
        assert message.isascii()
        assert len(message.splitlines()) == 1
    assert error.reason == error.reason.upper()
    return None


@given(st.randoms(use_true_random=False), st.integers(1, 4))
@settings(max_examples=500)
def test_mutated_positions_are_read_or_refused(rng, num_mutations):
    data = copy.deepcopy(rng.choice(vector_positions()))
    for _ in range(num_mutations):
        data = mutate(data, rng)
    before = copy.deepcopy(data)
    position = assert_only_domain_errors(Position.from_json, data)
    assert repr(data) == repr(before), "the input was changed"
    if position is not None:
        assert Position.from_json(position.to_json()) == position
        position.state.check()
        str(position)
        for text in position.legal_actions()[:5]:
            position.copy().push_action(text)


@given(anything)
def test_any_json_value_is_a_position_or_refused(data):
    assert_only_domain_errors(Position.from_json, data)
    if isinstance(data, dict):
        for game in GAMES:
            assert_only_domain_errors(Position.from_json, data | {"game": game, "version": 1})


@given(st.randoms(use_true_random=False), st.integers(0, 3))
@settings(max_examples=300)
def test_mutated_records_are_replayed_or_refused(rng, num_mutations):
    data = copy.deepcopy(rng.choice(valid_records()))
    for _ in range(num_mutations):
        data = mutate(data, rng)
    assert_only_domain_errors(replay, data)


@given(anything)
def test_any_json_value_is_a_record_or_refused(data):
    assert_only_domain_errors(replay, data)


# --- JSON text


@given(st.text() | st.binary())
def test_any_text_is_json_or_refused(text):
    assert_only_domain_errors(Position.from_json, text)


@given(st.randoms(use_true_random=False))
def test_damaged_json_text_is_read_or_refused(rng):
    text = bytearray(json.dumps(vector_positions()[0]).encode())
    for _ in range(rng.randint(1, 3)):
        text[rng.randrange(len(text))] = rng.randrange(256)
    assert_only_domain_errors(Position.from_json, bytes(text))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "BAD_JSON"),
        ("{", "BAD_JSON"),
        ("{} {}", "BAD_JSON"),
        ("{'a': 1}", "BAD_JSON"),
        ('{"a": NaN}', "BAD_JSON"),
        ('{"a": -Infinity}', "BAD_JSON"),
        ('{"a": ' + "9" * 5000 + "}", "BAD_JSON"),
        ('{"a": 1e999}', "BAD_JSON"),
        ("[-" + "9" * 400 + ".0]", "BAD_JSON"),
        (r'{"a": "\ud800"}', "BAD_JSON"),
        (r'{"\uDFFF\ud800": 1}', "BAD_JSON"),
        ("[" * 100_000, "BAD_JSON"),
        ("[" * 100_000 + "]" * 100_000, "BAD_JSON"),
        ('{"a": ' * 50_000, "BAD_JSON"),
        ('{"a": 1, "b": 2, "a": 1}', "DUPLICATE_KEY"),
        ('{"a": {"b": 1, "b": 2}}', "DUPLICATE_KEY"),
        (b'"\xff"', "BAD_UTF8"),
        ("{}\ufeff", "BAD_JSON"),
        ("{}".encode("utf-16"), "BAD_UTF8"),
    ],
)
def test_text_that_is_no_json(text, reason):
    with pytest.raises(NotationError) as caught:
        parse_json(text)
    assert caught.value.reason == reason
    assert len(str(caught.value)) < 300


def test_an_integer_without_end_is_told_without_words_of_python():
    with pytest.raises(NotationError, match=r"^\$: an integer has over 4,300 digits; expected a shorter one$"):
        parse_json("9" * 5000)


def test_a_key_that_occurs_twice_is_found_in_a_large_object():
    keys = [*map(str, range(50_000)), "49999"]
    with pytest.raises(NotationError, match='the key "49999" occurs twice'):
        parse_json("{" + ",".join(f'"{key}":0' for key in keys) + "}")


def test_what_is_read_can_be_written():
    text = r'["\ud83d\ude00", 1.7976931348623157e308, 1e-999, "\u0000"]'
    assert parse_json(text) == ["\N{GRINNING FACE}", 1.7976931348623157e308, 0.0, "\0"]


@pytest.mark.parametrize("text", ["\ufeff{}", b"\xef\xbb\xbf{}"])
def test_a_byte_order_mark_is_no_part_of_the_text(text):
    assert parse_json(text) == {}


@pytest.mark.parametrize("text", ["[]", "3", '"mexica"', "null", "1e99"])
def test_a_position_is_an_object(text):
    with pytest.raises(NotationError, match=r"expected a position, an object") as caught:
        Position.from_json(text)
    assert caught.value.reason == "WRONG_TYPE"


def test_deeply_nested_values_inside_a_position():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    for key in ("round", "canals", "seats", "game"):
        data = dict(vector_positions()[0])
        data[key] = nested
        assert_only_domain_errors(Position.from_json, data)
    while nested:  # taking it apart level by level keeps the interpreter's own recursion out of the test
        nested = nested.pop()


def test_load_reads_paths_files_and_standard_input(tmp_path, monkeypatch):
    data = vector_positions()[0]
    path = tmp_path / "position.json"
    path.write_text(json.dumps(data))
    position = Position.from_json(data)
    assert load(path) == load(str(path)) == position
    with path.open() as text, path.open("rb") as binary:
        assert load(text) == load(binary) == position
        binary.seek(0)
        monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": binary}))
        assert load("-") == position
    path.write_bytes(b"\xff")
    with pytest.raises(NotationError):
        load(path)
