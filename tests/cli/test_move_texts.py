"""Move texts on the command line: read by all commands that read records, written by `replay`; games as pictures."""

import io
import json
import sys

import pytest
from nim_game import RECORD
from PIL import Image

import mexica_ai as ai
from mexica_ai.cli.convert import comments_of
from mexica_ai.cli.main import main
from mexica_ai.game.move_writer import format_moves
from mexica_ai.game.records import parse_record


@pytest.fixture
def said(capfd, monkeypatch, place):
    """Call `mexica-ai`; return its exit code, and what it said on both streams."""

    def call(*args, text=None):
        if text is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode()))))
        code = main(list(map(str, args)))
        return code, *capfd.readouterr()

    return call


@pytest.fixture
def games(place):
    """The file games.txt: the record of the tests twice, and a game that does not go on as it says."""
    text = format_moves(RECORD)
    turn = RECORD["turns"][1][0]
    (place / "games.txt").write_text(f"{text}\n{text.replace(f': {turn}', ': take 63 1')}\n{text}")
    return place / "games.txt"


def test_replay_checks_each_game_of_a_file(said, games):
    code, out, err = said("replay", games)
    second = 2 + len(format_moves(RECORD).splitlines())
    assert code == 2
    assert [line.split(": ")[0] for line in out.splitlines()] == [f"{games}:1", f"{games}:{2 * second - 1}"]
    assert f"{games}:{second}: turn 1, action 0 (from 0): line " in err
    assert " of the game, column " in err
    code, out, _ = said("replay", games, "--json")
    assert [json.loads(line).get("reason") for line in out.splitlines()] == [None, "ILLEGAL_ACTION", None]


def test_all_commands_read_move_texts(said, games, place):
    number = len(RECORD["turns"])
    assert said("show", games, "--turn", number)[1] == said("show", "record.json", "--turn", number)[1]
    assert said("show", games, "--turn", 1, "--game", 3)[0] == 0
    code, out, _ = said("annotate", games, "--iterations", 20, "--json")
    assert code == 0
    assert [json.loads(line)["turn"] for line in out.splitlines()] == RECORD["turns"]
    assert said("annotate", games, "--iterations", 20, "--record", "new.json")[0] == 0
    assert parse_record((place / "new.json").read_text())["evaluations"]["turns"]
    before = games.read_text()
    code, _, err = said("annotate", games, "--iterations", 20, "--record", games)
    assert (code, "has games as move texts; expected another file" in err) == (2, True)
    assert games.read_text() == before
    assert said("export", games, "--format", "npz", "--out", "data")[0] in (0, 2)
    assert said("replay", "-", text=games.read_text())[0] == 2
    code, _, err = said("best", games)
    assert (code, "given the move text of a game; expected a position" in err) == (2, True)


def test_records_become_texts_and_texts_records(said, games, place):
    (place / "many.jsonl").write_text(json.dumps(RECORD) + "\n" + json.dumps(RECORD) + "\n")
    code, out, _ = said("replay", "many.jsonl", "--text", "new.txt")
    assert (code, len(out.splitlines())) == (0, 2)
    assert (place / "new.txt").read_text() == "\n".join([format_moves(RECORD)] * 2)
    assert said("replay", "new.txt", "--records", "new.jsonl")[0] == 0
    for line in (place / "new.jsonl").read_text().splitlines():
        assert json.loads(line)["turns"] == RECORD["turns"]
        assert ai.replay(line) == ai.replay(RECORD)
    # The valid ones of a file with others; standard output has the records alone.
    for options in ((), ("--json",)):
        code, out, err = said("replay", games, "--records", "-", *options)
        assert (code, ["turns" in line for line in out.splitlines()]) == (2, [True, True])
        assert "error" in err
    code, out, _ = said("replay", "record.json", "--text", "-")
    assert out == format_moves(RECORD)


def test_what_is_written_to_standard_output_as_a_file_is_utf_8(monkeypatch, place):
    record = RECORD | {"comment": "caf\u00e9 \u2014 #1"}
    (place / "record.json").write_text(json.dumps(record))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert main(["replay", "record.json", "--text", "-"]) == 0
    assert sys.stdout.buffer.getvalue() == format_moves(record).encode()


def test_evaluations_become_comments(said, place):
    assert said("annotate", "record.json", "--iterations", 30, "--seed", 1, "--record", "new.json")[0] == 0
    _, out, _ = said("replay", "new.json", "--text", "-")
    assert out.count(", loss ") == len(RECORD["turns"])
    assert len(parse_record(out)["comments"]) == len(RECORD["turns"])


def test_a_grade_that_is_not_sure_is_no_mark(said, place):
    assert said("annotate", "record.json", "--iterations", 30, "--seed", 1, "--record", "new.json")[0] == 0
    record = json.loads((place / "new.json").read_text())
    for entry, is_unsure in zip(record["evaluations"]["turns"], [True, False], strict=True):
        entry |= {"grade": "mistake", "loss": 0.1, "is_unsure": is_unsure}
    text = format_moves(record, comments=comments_of(record))
    assert [comment.split()[0] for comment in parse_record(text)["comments"]] == ["(?)", "?"]
    assert text.count(" ? {") == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("replay record.json --text a --records ./a", "both name one file"),
        ("replay record.json --text none/a", "--text: cannot write 'none/a': there is no folder 'none'"),
        ("show record.json --turns 1-2", "--turns: needs --svg-series or --gif"),
        ("show record.json --width 300", "--width: needs --svg-series or --gif"),
        ("show record.json --gif a.gif --turn 1", "--turn: not with --svg-series or --gif"),
        ("show record.json --gif a.gif --viewer 1", "--viewer: not with"),
        ("show record.json --gif a.gif --line 1", "--line: not with"),
        ("show record.json --svg-series all --json", "--json: not with"),
        ("show record.json --svg-series all --format ascii", "--format: not with"),
        ("replay record.json --records record.json", "--records: 'record.json' is one of the inputs"),
        ("replay record.json nim.json --text ./record.json", "--text: './record.json' is one of the inputs"),
        ("annotate record.json --iterations 5 --html record.json", "--html: names the file of RECORD"),
        ("annotate record.json --iterations 5 --record ./a --html a", "--record, --html: both name one file"),
        ("annotate record.json --iterations 5 --html a.svg --plot a.svg", "--plot, --html: both name one file"),
        ("show record.json --turn 1 --svg a --png ./a", "--svg, --png: both name one file"),
        ("annotate record.json --iterations 5 --record ''", "--record: cannot write '': it is no name"),
        ("show record.json --gif none/a.gif", "--gif: cannot write"),
        ("show record.json --gif a.gif --seconds 0", "'0' is not a number of seconds from 0.05 to 57"),
        ("show record.json --gif a.gif --width 10", "'10' is not"),
        ("show record.json --gif a.gif --turns 3-99", "--turns: given 3-99; the record has"),
        ("show record.json --svg-series record.json", "--svg-series: cannot make the folder 'record.json'"),
        ("show nim.json --gif a.gif", "given a position; expected the record of a game"),
        ("legal nim.json --after 'take 63 8'", "is not legal"),
    ],
)
def test_what_cannot_be(said, args, words):
    import shlex

    code, _, err = said(*shlex.split(args))
    assert code == 2
    assert words in err


def test_a_game_as_a_series_and_as_one_picture(said, place):
    number = len(RECORD["turns"])
    code, out, _ = said("show", "record.json", "--svg-series", "all", "--gif", "a.gif", "--width", 200)
    assert code == 0
    names = [f"turn-{index:04}.svg" for index in range(number + 1)]
    assert sorted(path.name for path in (place / "all").iterdir()) == names
    start = ai.position_at(RECORD, 0)
    assert (place / "all" / names[0]).read_text() == start.svg() + "\n"
    assert (place / "all" / names[1]).read_text() == start.svg(turn=RECORD["turns"][0]) + "\n"
    with Image.open(place / "a.gif") as image:
        assert (image.size[0], image.n_frames) == (200, number + 1)
    assert f"{number + 1} pictures written to all\n{number + 1} frames, 0.0 MB: a.gif\n" == out
    assert said("show", "record.json", "--gif", "fast.gif", "--width", 200, "--seconds", "250ms")[0] == 0
    with Image.open(place / "fast.gif") as image:
        assert image.info["duration"] == 250
    code, _, err = said("show", "record.json", "--gif", "/dev/full", "--width", 200)
    assert (code, err) == (1, "mexica-ai: error: --gif: cannot write '/dev/full': No space left on device\n")
    code, out, _ = said("show", "record.json", "--svg-series", "some", "--turns", 2)
    assert sorted(path.name for path in (place / "some").iterdir()) == names[1:3]
    # Nothing of another series stays among the pictures.
    code, _, err = said("show", "record.json", "--svg-series", "all", "--turns", 1)
    assert (code, "of another series; expected a new or an empty folder" in err) == (2, True)


def test_without_pillow(said, monkeypatch):
    monkeypatch.setattr("mexica_ai.cli.series.find_spec", lambda name: None)
    code, _, err = said("show", "record.json", "--gif", "a.gif")
    assert (code, "pip install 'mexica-ai[gif]'" in err) == (1, True)


# legal --after


MIDGAME = "nim/1 2,1 2,0,2,2"  # two actions a turn


def test_legal_actions_after_the_beginning_of_a_turn(said):
    assert said("legal", MIDGAME)[1] == "take 1 1\ntake 1 2\ntake 2 1\n"
    assert said("legal", MIDGAME, "--after", "take 1 1")[1] == "take 1 1\ntake 1 2\n"
    assert said("legal", MIDGAME, "--after", " ", "--json")[1] == '["take 1 1", "take 1 2", "take 2 1"]\n'
    code, out, _ = said("legal", MIDGAME, "--after", "take 1 1; take 1 2", "--json")  # a whole turn
    assert (code, out) == (0, "[]\n")
    code, _, err = said("legal", MIDGAME, "--after", "take 1 1; take 1 2; take 1 1")
    assert (code, "comes after the end of the turn" in err) == (2, True)


def test_legal_answers_lines_with_actions(said):
    position = json.dumps(ai.Position.from_compact(MIDGAME).to_json())
    lines = [
        MIDGAME,
        json.dumps({"position": MIDGAME, "after": ["take 2 1"]}),
        f'{{"position": {position}, "after": []}}',
        f'{{"after": ["take 1 1", "take 1 2"], "position": {position}}}',
        json.dumps({"position": MIDGAME}),
        json.dumps({"position": MIDGAME, "after": ["take 9 1"]}),
        json.dumps({"position": MIDGAME, "after": "take 1 1"}),
        json.dumps({"after": []}),
        json.dumps({"position": 3}),
        json.dumps({"position": MIDGAME, "more": 1}),
    ]
    code, out, _ = said("legal", "-", text="\n".join(lines))
    answers = list(map(json.loads, out.splitlines()))
    every = ["take 1 1", "take 1 2", "take 2 1"]
    assert answers[:5] == [every, ["take 1 2"], every, [], every]
    words = ["is not legal", "line.after: given", 'the key "position" is missing', "expected a position", "unknown key"]
    for number, (answer, word) in enumerate(zip(answers[5:], words, strict=True), 6):
        assert answer["error"].startswith(f"line {number}: ")
        assert word in answer["error"]
    assert code == 2
    code, out, _ = said("legal", "-", "--after", "take 1 1", text=f"{MIDGAME}\n{lines[1]}\n")
    assert out == '["take 1 1", "take 1 2"]\n["take 1 2"]\n'
