"""Move texts: what is written is read back, what people write is understood, and errors say where and what."""

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mexica_ai as ai
from mexica_ai import MexicaAIError, NotationError
from mexica_ai.game import registry
from mexica_ai.game.move_text import format_result, is_move_text, parse_result, split_games
from mexica_ai.game.move_writer import format_moves
from mexica_ai.game.records import parse_record, termination_of

EXAMPLES = Path(__file__).parents[2] / "examples"
GAMES = [(game, players) for game in ("coatl", "mexica", "nim", "tzolkin") for players in (2, 3, 4)]
NIM = """[Game "nim"]
[Start "nim/1 1,2 2,0,1,1"]

1. take 1 2
2. take 1 1
3. take 1 2
"""
NIM_TURNS = [["take 1 2"], ["take 1 1"], ["take 1 2"]]


def played(game, players, seed, most_turns=400):
    """Return a game of random actions, as far as it goes."""
    rng = random.Random(seed)
    position = ai.new_game(game, players=players, seed=seed)
    while not position.is_over and len(position.history) < most_turns:
        if position.is_chance:
            position.draw(rng.getrandbits(40))
            continue
        while True:
            action = rng.choice(position.state.legal_actions())
            position.push_action(registry.get(game).text.format_action(action))
            if not position.is_within_turn:
                break
    return position


def same(record, text):
    read = parse_record(text)
    ai.replay(read)
    for key in ("game", "start", "turns", "scores", "winners"):
        assert read[key] == record.get(key), key
    assert termination_of(read) == termination_of(record)
    for key in ("engines", "started_at", "build", "comment", "comments", "tags", "forfeit", "adjudication"):
        assert read.get(key) == record.get(key), key


def examples():
    for path in sorted(EXAMPLES.glob("*_game.jsonl")):
        for line in path.read_text().splitlines():
            yield json.loads(line)


@pytest.mark.parametrize(("game", "players"), GAMES)
def test_games_are_read_as_they_were_written(game, players):
    position = played(game, players, seed=players, most_turns=120)
    same(record := ai.make_record(position), text := format_moves(record))
    assert is_move_text(text)
    assert is_move_text(text.encode())
    assert all(len(line) <= 80 for line in text.splitlines() if not line.startswith("["))
    assert format_moves(parse_record(text)) == text


def test_the_examples_are_read_as_they_were_written():
    for record in examples():
        same(record, format_moves(record))


NIM_GAMES = st.tuples(st.integers(2, 4), st.integers(0, 999), st.integers(0, 12))
LINES = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="{}"), min_size=1, max_size=12)
WORDS = st.lists(LINES, max_size=20).map(" ".join)
TAGS = st.dictionaries(st.from_regex(r"Zz[A-Za-z0-9_]{0,8}", fullmatch=True), WORDS, max_size=3)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(NIM_GAMES, st.data())
def test_whatever_a_record_says_is_read_back(shape, data):
    players, seed, most = shape
    position = played("nim", players, seed, most)
    details = {"comment": data.draw(WORDS), "engines": data.draw(st.lists(WORDS, min_size=players, max_size=players))}
    if comments := data.draw(st.lists(WORDS, min_size=len(position.history), max_size=len(position.history))):
        details["comments"] = comments
    tags = {name.lower(): value for name, value in data.draw(TAGS).items()}
    if not position.is_over and data.draw(st.booleans()):
        seat = data.draw(st.integers(0, players - 1))
        details["forfeit"] = {"seat": seat, "reason": data.draw(WORDS), "detail": data.draw(WORDS)}
    record = ai.make_record(position, **details, tags=tags)
    if not tags:
        del record["tags"]
    text = format_moves(record, has_boards=data.draw(st.booleans()))
    if not any(record.get("comments", ())):
        record.pop("comments", None)
    if not record["comment"]:
        del record["comment"]
    same(record, text)


def test_comments_of_the_caller_follow_those_of_the_record():
    record = parse_record(NIM) | {"comments": ["", "? hasty", ""]}
    text = format_moves(
        record, comments=["+0.31/12k 0.5s", "better: {take 2 2}", ""], tags={"Event": 'a "b" \\ c\n\x1b'}
    )
    assert (
        "1. seat 0: take 1 2 {+0.31/12k 0.5s}\n2. seat 1: take 1 1 ? {hasty} {better: (take 2 2)}\n3. seat 0:" in text
    )
    read = parse_record(text)
    assert read["comments"] == ["+0.31/12k 0.5s", "? hasty better: (take 2 2)", ""]
    assert read["tags"] == {"Event": 'a "b" \\ c \\x1b'}
    assert format_moves(read) == format_moves(parse_record(format_moves(read)))


def test_no_text_of_others_steers_a_terminal():
    nasty = "\x1b[31m \u202e \x07 a\x1b]0;x"
    record = parse_record(NIM) | {"comment": nasty, "comments": [nasty, "", ""], "engines": [nasty, nasty]}
    text = format_moves(record | {"tags": {"Event": nasty}}, comments=["", nasty, ""], has_boards=True)
    assert all(line.isprintable() for line in text.split("\n"))
    assert parse_record(text)["turns"] == NIM_TURNS


def test_headers_of_others_never_take_the_place_of_our_own():
    text = format_moves(parse_record(NIM), tags={"start": "x", "Player0": "x", "Game": "x", "Event": "y"})
    assert (text.count('"x"'), text.count('"y"')) == (0, 1)
    with pytest.raises(NotationError, match="letters, digits"):
        format_moves(parse_record(NIM), tags={'a"]': "x"})


def test_an_action_that_cannot_stand_in_a_text_is_refused():
    for action in ("take 1, 2", "take {1}", "1. e4", "go 3. x", "seat 1: x", "50% off; y"):
        record = parse_record(NIM) | {"turns": [[action]]}
        with pytest.raises(NotationError) as caught:
            format_moves(record)
        assert caught.value.reason == "NOT_WRITABLE"


# What people write


WAYS = {
    "small letters": lambda text: text.replace("take", "TAKE"),
    "no numbers": lambda text: re.sub(r"\d\. ", "", text),
    "one line": lambda text: text.replace("\n", " "),
    "numbers of PGN": lambda text: re.sub(r"(\d)\. ", r"\1...", text),
    "semicolons": lambda text: re.sub(r"\n\d\. ", "; ", text),
    "commas": lambda text: re.sub(r"\n\d\. ", " , ", text),
    "a word a line": lambda text: re.sub(r"(?m)^(\d.*)$", lambda found: found[0].replace(" ", "\n\n  "), text),
    "many blanks": lambda text: text.replace(" ", "  \t ").replace('nim/1  \t 1,2  \t ', "nim/1 1,2  "),
    "CR LF and a mark": lambda text: "\ufeff\n" + text.replace("\n", "\r\n"),
    "bytes": lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r").encode(),
    "marks": lambda text: text.replace("take 1 1", "take 1 1??").replace("3. take 1 2", "3. take 1 2 !"),
    "glyphs of PGN": lambda text: text.replace("take 1 1", "take 1 1 $4"),
    "a comment of several lines": lambda text: text.replace("2. ", "{so\n1. take; it}\n2. "),
    "lines of remarks": lambda text: "% by hand\n" + text.replace("2. ", "% and [Game so\n2. "),
    "result": lambda text: text + "1-0\n",
    "an open result": lambda text: text + "* {who knows}",
    "seats": lambda text: text.replace("1. take", "1. seat 0: take").replace("2. take", "2. SEAT 1 : take"),
    "other headers": lambda text: '[Event "x"] [Result "1-0"]\n[termination "Normal"]' + text,
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_what_people_write_is_read(way):
    text = WAYS[way](NIM)
    assert is_move_text(text)
    record = parse_record(text)
    assert (record["turns"], record["winners"], record["scores"]) == (NIM_TURNS, [0], [1, 0])
    assert ai.replay(text).is_over


def loosely(text):
    """Write a text as a person in a hurry may: small letters, commas, lines broken anywhere, no numbers."""
    head, _, moves = text.partition("\n\n")
    moves = re.sub(r"(?m)^\d+\. (seat \d|event): ", "", moves)
    moves = re.sub(r"\{[^}]*\}", "", moves)
    return head + "\n" + "\n".join(moves.replace(";", ",\n").lower().split())


@pytest.mark.parametrize("upper", [False, True])
def test_letters_and_lines_do_not_matter_in_any_game(upper):
    for record in examples():
        head, _, moves = loosely(format_moves(record)).partition("\nkeep" if record["game"] != "mexica" else "\nplace")
        text = head + ("\nKEEP" if record["game"] != "mexica" else "\nPLACE") + (moves.upper() if upper else moves)
        read = parse_record(text)
        assert (read["turns"], read["winners"]) == (record["turns"], record["winners"])


def test_marks_and_comments_are_kept_with_their_turns():
    text = NIM.replace("\n\n", "\n\n{a friendly  game}\n").replace("take 1 1\n", "take 1 1?! {why?\nnot 2}\n{odd} !\n")
    record = parse_record(text)
    assert record["comment"] == "a friendly game"
    assert record["comments"] == ["", "?! why? not 2 odd !", ""]
    same(record, format_moves(record))


def test_headers_nobody_knows_are_kept():
    record = parse_record('[Site "Rome"]\n[Date "2026.11.26"]\n[Player1 "Ben"]\n[Player7 "?"]' + NIM)
    assert record["tags"] == {"Site": "Rome", "Player7": "?"}
    assert (record["started_at"], record["engines"]) == ("2026.11.26", ["?", "Ben"])
    same(record, format_moves(record))


def test_games_that_end_early():
    unfinished = NIM.replace("3. take 1 2\n", "")
    assert parse_record(unfinished)["termination"] == "unfinished"
    resigned = parse_record('[Termination "forfeit"]\n' + unfinished + "1-0")
    assert resigned["forfeit"] == {"seat": 1, "reason": "resigned", "detail": ""}
    assert (resigned["winners"], resigned["scores"]) == ([0], None)
    named = parse_record('[Termination "forfeit"][ForfeitSeat "0"][ForfeitReason "late"]' + unfinished)
    assert (named["winners"], named["forfeit"]["reason"]) == ([1], "late")
    tags = '[AdjudicationRule "resign"][AdjudicationBy "engines"][AdjudicationForecast "0.98 0.02"]'
    given = parse_record('[Termination "adjudicated"]' + tags + unfinished + "1-0")
    assert given["adjudication"] == {"rule": "resign", "by": "engines", "forecast": [0.98, 0.02]}
    for record in (resigned, named, given):
        same(record, format_moves(record))


def test_several_games_in_one_file():
    texts = [NIM, NIM + "1-0\n{}\n", NIM.replace('"]\n\n', '"]\n{\n[Game "x"]\n}')]
    text = "\n\n".join(texts)
    found = list(split_games(enumerate(text.encode().splitlines(), 1)))
    assert [number for number, _ in found] == [1, 9, 19]
    assert [parse_record(game)["turns"] for _, game in found] == [NIM_TURNS] * 3
    with pytest.raises(NotationError) as caught:
        parse_record(text)
    assert caught.value.reason == "SEVERAL_GAMES"
    assert "line 9 of the game, column 1" in str(caught.value)


def test_results():
    for winners, players, text in (([1], 2, "0-1"), ([0, 2], 3, "1/2-0-1/2"), ([0, 1, 2], 4, "1/3-1/3-1/3-0")):
        assert format_result(winners, players) == text
        assert parse_result(text, players) == winners
    assert (format_result(None, 3), parse_result(" * ", 2)) == ("*", None)
    for text in ("1-0-0", "1-1", "1/2-1/3", "1/0-0", "0-0", "2-0", "won", "", "1/2-1/4-1/4"):
        with pytest.raises(ValueError, match="share of the win"):
            parse_result(text, 2 if text.count("-") < 2 or text == "1-0-0" else 3)


# Errors


def refused(text):
    with pytest.raises(MexicaAIError) as caught:
        parse_record(text)
    return caught.value


@pytest.mark.parametrize(
    ("old", "new", "reason", "words"),
    [
        ("take 1 1", "take 9 1", "ILLEGAL_ACTION", "line 5 of the game, column 4: \"take 9 1\" is not legal"),
        ("take 1 1", "tke 1 1", "BAD_ACTION", 'such as "take 2 1"; legal here: take 1 1, take 1 2'),
        ("take 1 1", "take 1", "BAD_ACTION", 'line 5 of the game, column 4: "take 1" is not an action; expected'),
        ("take 1 1", "{take 1 1", "BAD_MOVE_TEXT", "line 5 of the game, column 4: a comment begins and does not end"),
        ("take 1 1", "take 1 1 [x]", "BAD_MOVE_TEXT", 'column 13: given "[x]'),
        ("take 1 1", 'take 1 1 "', "BAD_MOVE_TEXT", "expected an action, a comment in braces, a header or the result"),
        ("2. take", "2. seat 0: take", "WRONG_SEAT", 'given "seat 0:"; expected "seat 1:" here'),
        ("2. take", "2. event: take", "WRONG_SEAT", 'expected "seat 1:"'),
        ("3. take 1 2", "3. take 1 2\n4. take 1 1", "GAME_OVER", "line 7 of the game, column 4: the game is over"),
        ("3. take 1 2", "3. take 1 2 4. seat 1: take 1 1", "GAME_OVER", "expected no more turns"),
        ("3. take 1 2", "3. take 1 2\n0-1", "WINNERS_MISMATCH", 'line 7 of the game, column 1: given the result "0-1"'),
        ("3. take 1 2", "1-0", "UNFINISHED", "the game is not over after the last turn"),
        ("3. take 1 2", "3. take 1 2\n1-0-0", "BAD_RESULT", "such as 1-0, or *"),
        ("3. take 1 2", "* 3. take 1 2", "AFTER_RESULT", 'given "3. take 1 2" after the result; expected the end'),
        ("3. take 1 2", "3. take 1 2\n1-0 1-0", "AFTER_RESULT", "line 7 of the game, column 5"),
        ('[Game "nim"]', '[Game "coatl"]', "GAME_MISMATCH", 'line 1 of the game, column 1: given the game "coatl"'),
        ('[Game "nim"]', '[Game "nim"]\n[game "nim"]', "DUPLICATE_KEY", "line 2 of the game, column 1"),
        ('[Game "nim"]', '[Scores "0 1"]', "SCORES_MISMATCH", 'given [Scores "0 1"]; expected "1 0" from the replayed'),
        ('[Game "nim"]', '[Scores "a"]', "BAD_VALUE", "expected numbers"),
        ('[Game "nim"]', '[Termination "won"]', "BAD_VALUE", "expected finished, unfinished, forfeit or adjudicated"),
        ('[Game "nim"]', '[Termination "forfeit"]', "FINISHED", "the turns finish the game"),
        ('[Start "nim/1 1,2 2,0,1,1"]\n', "", "MISSING_START", "as `mexica-ai show POSITION --format compact` prints"),
        ("nim/1 1,2", "nim/1 x,2", "BAD_COMPACT", "line 2 of the game, column 1: Start: field 1, piles"),
        ("nim/1 1,2", "chess/1 1,2", "UNKNOWN_GAME", 'no game "chess"'),
        ("nim/1 1,2 2,0", "nim/1 1,2 2,7", "OUT_OF_RANGE", "line 2 of the game, column 1"),
    ],
)  # fmt: skip
def test_errors_say_where_and_what(old, new, reason, words):
    error = refused(NIM.replace(old, new))
    assert words in str(error)
    assert error.reason == reason


def test_errors_of_turns_have_their_place():
    record = next(record for record in examples() if record["game"] == "mexica")
    text = format_moves(record)
    spoiled = text.replace("walk H9;", "walk A1;", 1)
    error = refused(spoiled)
    place = next((index, turn.index("walk H9")) for index, turn in enumerate(record["turns"]) if "walk H9" in turn)
    assert (error.turn_index, error.action_index) == place
    error = refused(text.replace("; end\n", "\n", 1))
    assert error.reason == "TURN_NOT_ENDED"
    assert re.search(r"of seat \d has not ended; expected more of it; legal here: end", str(error))
    assert refused(text[: text.index("; end")]).reason == "TURN_NOT_ENDED"


def test_random_events_are_turns_too():
    record = next(record for record in examples() if record["game"] == "coatl")
    text = format_moves(record)
    error = refused(text.replace("event: reveal", "event: take head K {now} ", 1))
    assert "cannot happen here; expected the random event that comes first, such as" in str(error)
    error = refused(re.sub(r"event: reveal (P\d\d)", r"event: reveel \1", text, count=1))
    assert "here comes a random event, such as" in str(error)
    assert refused(text.replace("event: reveal", "seat 0: reveal", 1)).reason == "WRONG_SEAT"
    view = ai.load(EXAMPLES / "coatl_midgame.json").view(0).to_compact()
    assert refused(f'[Start "{view}"]').reason == "UPCOMING_UNKNOWN"


def test_no_other_form_is_taken_for_a_move_text():
    for text in ('["take 1 1"]', '[["a"]]', '{"game": "nim"}', "nim/1 3,5,7 2,0,1,1", "", "[", "% only", "[Game nim]"):
        assert not is_move_text(text)
        assert not is_move_text(text.encode())
    with pytest.raises(NotationError) as caught:
        ai.Position.from_text(NIM)
    assert caught.value.reason == "RECORD_GIVEN"


HOSTILE = {
    "blanks": " " * 200_000 + '[Start "',
    "lines of remarks": "%   \t  \n" * 20_000,
    "brackets": "[" * 300_000,
    "a header without end": '[Start "' + "\\" * 300_000,
    "braces": NIM + "{" * 300_000,
    "a long word": NIM + "x" * 300_000,
    "many words": NIM + "x " * 150_000,
    "many lines": NIM + "x\n" * 150_000,
    "separators": NIM + ";,\n" * 100_000,
    "digits": NIM + "9" * 300_000,
    "a long result": NIM + "1-" * 150_000,
    "a long number": NIM + "9" * 5_000 + "/1-0",
    "seats": NIM + "seat 9" * 50_000,
    "numbers": NIM + "1. " * 100_000,
    "marks": NIM + "?" * 100_000,
    "scores": f'[Scores "{"9" * 300_000}"]' + NIM,
    "zeros": NIM + "\0",
    "zeros first": b"\0\0" + NIM.encode(),
    "no text": NIM.encode() + b"\xff\xfe",
    "half a pair": NIM + "\ud800",
}


ACCEPTED = {"separators", "numbers", "marks"}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_texts_are_answered(kind):
    assert kind in ACCEPTED or len(str(refused(HOSTILE[kind]))) < 1000


SPOILT = [NIM, format_moves(next(examples()))]  # of nim, and of Coatl


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(SPOILT), st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 9), st.text(max_size=6))))
def test_spoilt_texts_are_read_or_refused(text, changes):
    for place, length, new in changes:
        place %= len(text) + 1
        text = text[:place] + new + text[place + length :]
    try:
        record = parse_record(text)
    except MexicaAIError:
        return
    ai.replay(record)
    assert parse_record(format_moves(record))["turns"] == record["turns"]


def test_what_a_record_may_say_of_turns_and_headers():
    record = parse_record(NIM)
    for wrong, reason in (
        ({"comments": ["a"]}, "COMMENTS_COUNT"),
        ({"comments": [1, 2, 3]}, "WRONG_TYPE"),
        ({"tags": {"a b": "x"}}, "BAD_TAG"),
        ({"tags": {"a": 1}}, "BAD_TAG"),
    ):
        with pytest.raises(NotationError) as caught:
            ai.replay(record | wrong)
        assert caught.value.reason == reason
    assert ai.replay(record | {"comments": ["a", "", "b"], "tags": {"Event": "x"}}).is_over
