"""The command line: what goes in, what comes out on which stream, and the exit codes."""

import io
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import sysconfig
import time

import pytest
from nim_game import NIM, RECORD
from played_games import records_of

from mexica_ai import Position, new_game
from mexica_ai.cli.main import COMMANDS, main
from mexica_ai.game.records import position_at
from mexica_ai.table.events import seen_turn

ROOT = pathlib.Path(__file__).parents[2]
SCRIPTS = pathlib.Path(sysconfig.get_path("scripts"))
COMMAND = [str(SCRIPTS / "mexica-ai")]
GAME = ROOT / "examples" / "mexica_game.jsonl"


class Cli:
    """Runs a command in this process; afterwards `out` and `err` are what it printed."""

    def __init__(self, capsys, monkeypatch):
        self._capsys, self._monkeypatch = capsys, monkeypatch

    def __call__(self, *args, stdin=b""):
        stdin = stdin if isinstance(stdin, bytes) else stdin.encode()
        self._monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        code = main([str(arg) for arg in args])
        self.out, self.err = self._capsys.readouterr()
        return code

    def json(self, *args, stdin=b""):
        assert self(*args, stdin=stdin) == 0, self.err
        return json.loads(self.out)

    def refused(self, *args, stdin=b"", code=2):
        """Assert that the command ends with `code` and one line on stderr; return the line."""
        assert self(*args, stdin=stdin) == code
        assert self.err.count("\n") == 1
        assert self.err.startswith("mexica-ai: error: ")
        return self.err


@pytest.fixture
def cli(capsys, monkeypatch):
    return Cli(capsys, monkeypatch)


@pytest.fixture
def game(tmp_path):
    path = tmp_path / "game.json"
    path.write_text(json.dumps(new_game(players=3, seed=7).to_json(), indent=1))
    return path


@pytest.fixture
def over(tmp_path):
    path = tmp_path / "over.json"
    path.write_text(json.dumps({**NIM, "piles": [0, 0]}))
    return path


# All commands


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_every_command_explains_itself(cli, name):
    assert cli(*[name] * bool(name), "--help") == 0
    assert "Example" in cli.out
    assert max(map(len, cli.out.splitlines())) <= 100


@pytest.mark.real("processes")
def test_the_version(cli):
    assert cli("--version") == 0
    assert re.fullmatch(r"mexica-ai \d+\.\d+.*\n", cli.out)
    as_module = subprocess.run([sys.executable, "-P", "-m", "mexica_ai", "--version"], capture_output=True)
    assert as_module.stdout.decode() == cli.out


@pytest.mark.parametrize(
    ("args", "mentions"),
    [
        (["frob"], 'given "frob"'),
        (["best"], "POSITION"),
        (["best", "x", "--time", "soon"], "--time: 'soon' is not a number of seconds"),
        (["best", "x", "--time", "1,5"], "; write 1.5, with a point"),
        (["best", "x", "--iterations", "2m"], "; write 2e6"),
        (["best", "x", "--time", "0"], "--time"),
        (["best", "x", "--iter", "9"], "--iter"),
        (["best", "x", "--iterations", "-3"], "--iterations"),
        (["best", "x", "--seed", "x"], "--seed"),
        (["best", "x", "--iterations", "9" * 30], "--iterations"),
        (["best", "x", "--time", "100000001"], "at most 100000000"),
        (["best", "x", "--threads", "257"], "from 1 to 256"),
        (["best", "x", "--candidates", "0"], "--candidates"),
        (["best", "x", "--candidates", "10001"], "from 1 to 10000"),
        (["perft", "x"], "--depth"),
        (["perft", "x", "--depth", "33"], "from 0 to 32"),
        (["perft", "x", "--depth", "3000000000"], "from 0 to 32"),
        (["serve", "--port", "65536"], "from 0 to 65535"),
        (["serve", "--slots", "0"], "from 1 to 1024"),
        (["new", "--players", "1"], "from 2 to 4"),
        (["new", "--plies-per-turn", "x"], "from 1 to 3"),
        (["new", "--pool", "3;4"], "--pool"),
        (["new", "--game", "go"], "--game"),
    ],
)
def test_a_mistake_on_the_command_line_is_bad_input(cli, args, mentions):
    assert mentions in cli.refused(*args)
    assert "--help`" in cli.err


@pytest.mark.parametrize("command", ["best", "analyze", "show", "legal", "client best", "replay"])
def test_a_file_that_cannot_be_read_is_bad_input(cli, tmp_path, command):
    assert "no-such-file: No such file" in cli.refused(*command.split(), tmp_path / "no-such-file")
    assert "directory" in cli.refused(*command.split(), tmp_path)


@pytest.mark.parametrize("command", ["best", "analyze", "show", "client best"])
@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"\xff", "UTF-8"),
        (b"[" * 100_000, "nested"),
        (b"[]", "a position"),
        (b'{"game": "go"}', "mexica, nim"),
        (json.dumps({**NIM, "to_move": 5}).encode(), "position.to_move"),
    ],
)
def test_a_bad_position_is_bad_input_and_named(cli, command, text, mentions):
    assert mentions in cli.refused(*command.split(), "-", stdin=text)
    assert "standard input: " in cli.err


def test_first_actions_that_leave_nothing_to_search_are_bad_input(cli, game):
    avoided = [word for action in cli.json("legal", game, "--json") for word in ("--avoid", action)]
    assert "leave no action" in cli.refused("best", game, *avoided)
    assert "uct" in cli.refused("best", game, "--engine", "uct", *avoided[:2])


@pytest.mark.parametrize("command", ["best", "analyze"])
def test_a_finished_game_has_no_turn(cli, over, command):
    assert "the game is over" in cli.refused(command, over)


@pytest.mark.real("processes")
def test_an_engine_that_cannot_be_had(cli, game):
    assert "unknown kind" in cli.refused("best", game, "--engine", "deep")
    assert "cannot be started" in cli.refused("best", game, "--engine", "cmd:./no-such-program", code=1)


@pytest.mark.slow
def test_a_server_that_is_not_there_is_a_failure(cli, game):
    assert "UNAVAILABLE" in cli.refused("client", "best", game, "--server", "127.0.0.1:9", code=1)


# best and analyze


def test_best_for_people(cli, game):
    assert cli("best", game, "--iterations", 200, "--seed", 1, "--candidates", 2) == 0
    assert "Best turn of seat 0: place " in cli.out
    assert re.search("place (H6|G7|I7|H8)", cli.out)
    assert cli.out.splitlines()[-1].endswith("ended by: iterations; seed 1")
    assert cli.err == ""


def test_best_for_programs(cli, game):
    options = ["best", game, "--iterations", 200, "--seed", 1, "--candidates", 2, "--json"]
    result = cli.json(*options)
    assert result["turn"] == result["candidates"][0]["turn"]
    assert len(result["candidates"]) == 2
    assert len(result["value"]) == len(result["expected_scores"]) == 3
    assert (result["iterations"], result["stop_reason"], result["seed"]) == (200, "iterations", 1)
    again = cli.json(*options)
    del result["seconds"], again["seconds"]
    assert again == result
    position = new_game(players=3, seed=7)
    position.push(result["turn"])


def test_best_takes_the_keys_of_the_spec_before_the_options(cli, game):
    result = cli.json("best", game, "--time", 9, "--seed", 1, "--engine", "mcts,iterations=50,seed=2", "--json")
    assert (result["iterations"], result["seed"], result["stop_reason"]) == (50, 2, "iterations")


def test_best_in_limited_time_with_threads(cli, game):
    result = cli.json("best", game, "--time", 0.2, "--threads", 2, "--memory", 64, "--json")
    assert result["stop_reason"] in ("time", "memory", "settled")
    assert result["seconds"] < 60  # a guard: it has not searched for ever


@pytest.mark.real("time")
def test_analyze_ends_with_the_one_final_result(cli, game):
    assert cli("analyze", game, "--time", 0.4, "--interval", 0.1, "--json") == 0
    results = [json.loads(line) for line in cli.out.splitlines()]
    assert [bool(result["stop_reason"]) for result in results] == [False] * (len(results) - 1) + [True]
    assert len(results) > 1
    assert results[0]["iterations"] < results[-1]["iterations"]


@pytest.mark.real("time")
def test_analyze_for_people(cli, game):
    assert cli("analyze", game, "--time", 0.3, "--interval", 0.1) == 0
    assert cli.out.count("searching; seed") >= 1
    assert cli.out.count("ended by: ") == 1


@pytest.mark.real("processes")
@pytest.mark.parametrize("command", ["best", "analyze"])
def test_the_first_ctrl_c_ends_the_search_with_the_best_so_far(game, command):
    options = ["--interval", "0.1"] if command == "analyze" else []
    process = subprocess.Popen(
        [*COMMAND, command, game, "--time", "60", "--json", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    # Its threads show that it searches: the main one, the search's, and the one that passes the stop on.
    deadline = time.monotonic() + 60
    while len(os.listdir(f"/proc/{process.pid}/task")) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert json.loads(out.splitlines()[-1])["stop_reason"] == "stopped"


@pytest.mark.real("processes")
def test_ctrl_c_elsewhere_is_an_interruption():
    process = subprocess.Popen(
        [*COMMAND, "legal", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(json.dumps(NIM).encode() + b"\n")
    process.stdin.flush()
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"mexica-ai: interrupted\n")


@pytest.mark.real("processes")
def test_progress_is_shown_on_a_terminal(game):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "best", game, "--time", "0.6", "--json"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    shown = b""
    try:
        while select.select([ours], [], [], 60)[0]:
            shown += os.read(ours, 65536)
    except OSError:  # the terminal is closed
        pass
    os.close(ours)
    out, _ = process.communicate(timeout=60)
    assert b"mcts searches" in shown
    assert json.loads(out)["stop_reason"]


# new, show, legal, perft


def test_new_is_a_position_on_one_line(cli):
    assert cli("new", "--players", 4, "--seed", 3) == 0
    assert cli.out.count("\n") == 1
    assert json.loads(cli.out) == new_game(players=4, seed=3).to_json()


def test_new_takes_pool_and_neutral_levels(cli):
    pool = [3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 10, 11, 12, 13]
    position = cli.json("new", "--pool", ",".join(map(str, pool)), "--neutral", "4,3,2,1,1")
    assert position["calpulli"]["pool"] == pool
    assert sorted(temple["level"] for temple in position["temples"]) == [1, 1, 2, 3, 4]
    assert position["players"] == 2


def test_new_refuses_what_the_game_does_not_know(cli):
    assert "pool" in cli.refused("new", "--pool", "3,4")
    assert "piles" in cli.refused("new", "--piles", "3,4")
    assert "players" in cli.refused("new", "--players", 9)


def test_show_draws_the_board_or_prints_the_canonical_form(cli, game):
    assert cli("show", game) == 0
    assert cli.out == str(new_game(players=3, seed=7)).rstrip("\n") + "\n"
    assert cli.json("show", game, "--json") == new_game(players=3, seed=7).to_json()


def test_show_steps_through_a_record(cli, tmp_path):
    for number in range(3):
        position = Position.from_json(NIM)
        for turn in RECORD["turns"][:number]:
            position.push(turn)
        assert cli.json("show", "-", "--turn", number, "--json", stdin=json.dumps(RECORD)) == position.to_json()
        assert cli("show", "-", "--turn", number, stdin=json.dumps(RECORD)) == 0
        assert cli.out.startswith(str(position).rstrip("\n"))
    assert "0 to 2" in cli.refused("show", "-", "--turn", 3, stdin=json.dumps(RECORD))


def test_show_takes_one_record_of_a_file_and_one_without_turns(cli, tmp_path):
    path = tmp_path / "games.jsonl"
    bare = RECORD | {"turns": [], "scores": None, "winners": None, "termination": "unfinished"}
    path.write_text(f"{json.dumps(RECORD)}\n{json.dumps(bare)}\n")
    assert cli.json("show", path, "--game", 2, "--turn", 0, "--json") == NIM
    assert "turn 1" in cli.refused("show", path, "--game", 2, "--turn", 1)
    assert "at least 3" in cli.refused("show", path, "--game", 3, "--turn", 0)
    assert "--turn" in cli.refused("show", path, "--game", 1)


def test_show_counts_random_events_and_stops_before_a_bad_turn(cli):
    record = json.loads((ROOT / "examples" / "coatl_game.jsonl").read_text())
    event = next(number for number, turn in enumerate(record["turns"]) if turn[0].split()[0] == "deal")
    record["turns"][event + 1] = ["nonsense"]
    text = json.dumps(record)
    before, after = (cli.json("show", "-", "--turn", n, "--json", stdin=text) for n in (event, event + 1))
    assert (before["pending"], after["pending"]) == ("deal", "")
    assert f"turns[{event + 1}]" in cli.refused("show", "-", "--turn", event + 2, stdin=text)


def test_a_compact_position_does_for_a_file(cli, tmp_path):
    line = Position.from_json(NIM).to_compact()
    path = tmp_path / "position.txt"
    path.write_text(line + "\n")
    for args, stdin in ((line, b""), (path, b""), ("-", line)):
        assert cli.json("show", args, "--json", stdin=stdin) == NIM
        assert cli("show", args, "--format", "compact", stdin=stdin) == 0
        assert cli.out == line + "\n"
    assert "error: position: field 1, piles" in cli.refused("best", line.replace("1,1", "x", 1))
    assert "error: position.piles[0]: 64" in cli.refused("best", line.replace("1,1", "64,1", 1))
    assert cli("legal", "-", stdin=f"{line}\n{json.dumps(NIM)}\n") == 0
    assert len(set(cli.out.splitlines())) == 1


@pytest.mark.parametrize("command", ["show", "best", "analyze", "legal", "perft"])
def test_a_record_given_for_a_position_is_named(cli, tmp_path, command):
    path = tmp_path / "game.jsonl"
    more = ("--depth", 1) if command == "perft" else ()
    for number in (1, 2):
        path.write_text(f"{json.dumps(RECORD)}\n" * number)
        assert "--turn N" in cli.refused(command, path, *more)


@pytest.mark.parametrize("command", ["replay", "annotate", "show"])
def test_a_position_given_for_a_record_is_named(cli, command):
    more = ("--turn", 0) if command == "show" else ()
    for given in (json.dumps(NIM), json.dumps(NIM, indent=1), Position.from_json(NIM).to_compact()):
        assert "given a position; expected the record" in cli.refused(command, "-", *more, stdin=given)


def test_validate_lists_all_faults_and_goes_on(cli, tmp_path, game):
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(NIM | {"piles": [99, 64], "to_move": 5}))
    assert cli("validate", game, bad, tmp_path / "none.json", "nim/1 1,1 2,0,1,1") == 2
    assert cli.out.splitlines() == [
        f"{game}: valid, <Position of mexica: 3 players, seat 0 to move>",
        f"{bad}: 3 faults",
        "  position.piles[0]: 99 is out of range; expected an integer from 0 to 63 [OUT_OF_RANGE]",
        "  position.piles[1]: 64 is out of range; expected an integer from 0 to 63 [OUT_OF_RANGE]",
        "  position.to_move: 5 is out of range; expected an integer from 0 to 1 [OUT_OF_RANGE]",
        "nim/1 1,1 2,0,1,1: valid, <Position of nim: 2 players, seat 0 to move>",
    ]
    assert "none.json" in cli.err
    assert cli("validate", "-", "--json", stdin=bad.read_bytes()) == 2
    answer = json.loads(cli.out)
    assert (answer["valid"], len(answer["violations"])) == (False, 3)
    assert answer["violations"][2]["path"] == "position.to_move"
    assert cli.json("validate", game, "--json") == {"position": str(game), "valid": True, "violations": []}
    assert cli("validate", "-", stdin="{") == 2
    assert "[BAD_JSON]" in cli.out


@pytest.mark.real("processes")
def test_show_on_a_terminal_that_knows_no_such_characters(game):
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    shown = subprocess.run([*COMMAND, "show", game], capture_output=True, env=env, check=True)
    assert b"Mexica, 3 players" in shown.stdout


def test_legal_of_a_file(cli, game):
    assert cli("legal", game) == 0
    assert cli.out.split("\n") == ["place G7", "place H6", "place H8", "place I7", ""]
    assert cli.json("legal", game, "--json") == ["place G7", "place H6", "place H8", "place I7"]


def test_legal_prints_nothing_where_nothing_is_legal(cli, game, over):
    for args in ((over,), (game, "--after", "place G7")):
        assert cli("legal", *args) == 0
        assert cli.out == ""
        assert cli.json("legal", *args, "--json") == []


def test_legal_of_a_stream_answers_every_line_in_its_place(cli):
    good = json.dumps(NIM)
    over = json.dumps({**NIM, "piles": [0]})
    stream = f"{good}\nnonsense\n\n{over}\n{{}}\n{json.dumps(new_game(seed=1).to_json())}".encode() + b"\n\xff\n"
    assert cli("legal", "-", stdin=stream) == 2
    answers = [json.loads(line) for line in cli.out.splitlines()]
    assert answers[0] == ["take 1 1", "take 1 2"]
    assert answers[3] == []
    assert answers[5] == ["place G7", "place H6", "place H8", "place I7"]
    for index in (1, 2, 4, 6):
        assert set(answers[index]) == {"error"}
        assert answers[index]["error"].startswith(f"line {index + 1}: ")
    assert len(answers) == 7
    assert cli("legal", "-", stdin=good) == 0


@pytest.mark.real("processes")
def test_legal_of_a_stream_answers_each_line_as_it_comes():
    process = subprocess.Popen([*COMMAND, "legal", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for _ in range(2):
        process.stdin.write(json.dumps(NIM).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == ["take 1 1", "take 1 2"]
    process.communicate()
    assert process.returncode == 0


@pytest.mark.real("processes")
def test_a_reader_that_has_had_enough_is_no_error(game, tmp_path):
    lines = tmp_path / "positions.jsonl"
    lines.write_text((json.dumps(NIM) + "\n") * 5000)
    script = f'"{COMMAND[0]}" legal - < "{lines}" | head -1; echo ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", script], capture_output=True)
    assert done.stdout == b'["take 1 1", "take 1 2"]\n0\n'
    assert done.stderr == b""


@pytest.mark.real("processes")
def test_an_output_that_cannot_be_written_is_a_failure(game):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, "show", game], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr.startswith(b"mexica-ai: error: ")


def test_perft(cli, game):
    assert cli("perft", game, "--depth", 3) == 0
    assert cli.out == "24\n"
    assert cli("perft", game, "--depth", 2, "--divide") == 0
    assert cli.out == "place G7: 3\nplace H6: 3\nplace H8: 3\nplace I7: 3\n12\n"
    expected = {
        "depth": 1,
        "count": 4,
        "divide": {"place G7": 1, "place H6": 1, "place H8": 1, "place I7": 1},
    }
    assert cli.json("perft", game, "--depth", 1, "--divide", "--json") == expected
    assert cli.json("perft", game, "--depth", 0, "--json") == {"depth": 0, "count": 1}


# replay


def test_replay_prints_scores_and_winners(cli):
    assert cli("replay", GAME) == 0
    for line, record in zip(cli.out.splitlines(), map(json.loads, GAME.read_text().splitlines()), strict=True):
        winners = record["winners"]
        won = f"winner{'s' * (len(winners) > 1)}: seat {', '.join(map(str, winners))}"
        assert line.endswith(f"scores {' '.join(map(str, record['scores']))}; {won}; {len(record['turns'])} turns")


def test_replay_takes_a_single_record_over_several_lines(cli, tmp_path):
    path = tmp_path / "record.json"
    path.write_text(json.dumps(RECORD, indent=2))
    assert cli("replay", path) == 0
    assert cli.out == f"{path}:1: scores 0 1; winner: seat 1; 2 turns\n"
    # A variation on a line of its own is an object with turns, too.
    variation = json.dumps({"at": 0, "turns": [["take 1 2"]]})
    path.write_text(json.dumps(RECORD)[:-1] + f',\n"variations": [\n{variation}\n]}}')
    assert cli("replay", path) == 0
    path.write_text("\n" + json.dumps(RECORD, indent=2)[:-5])
    assert f"{path}:2: $: expected JSON" in cli.refused("replay", path)
    text = (ROOT / "docs" / "formats.md").read_text()
    printed = re.findall("^```json\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert cli("replay", "-", stdin=next(block for block in printed if '"turns"' in block)) == 0
    assert cli.out == "standard input:1: scores 1 0; winner: seat 0; 3 turns\n"


def test_replay_goes_on_behind_a_first_line_that_is_torn(cli):
    assert cli("replay", "-", stdin='{"game": "nim",\n' + json.dumps(RECORD)) == 2
    assert cli.out == "standard input:2: scores 0 1; winner: seat 1; 2 turns\n"
    assert cli.err.startswith("mexica-ai: error: standard input:1: $: expected JSON")


def test_replay_names_what_fails_and_goes_on(cli, tmp_path):
    record = json.loads(GAME.read_text().splitlines()[0])
    turn_index = next(index for index, turn in enumerate(record["turns"]) if len(turn) > 3)
    illegal = json.loads(json.dumps(record))
    illegal["turns"][turn_index][2] = "canal H7"
    records = [
        RECORD,
        illegal,
        {**record, "scores": [1, 2]},
        {**RECORD, "turns": [["take 1 1"], ["take one"]]},
        {**RECORD, "turns": RECORD["turns"] * 2},
        {**RECORD, "turns": RECORD["turns"][:1]},
        {
            **RECORD,
            "turns": RECORD["turns"][:1],
            "termination": "unfinished",
            "scores": None,
            "winners": None,
        },
        "torn",
    ]
    path = tmp_path / "records.jsonl"
    text = "\n".join(map(json.dumps, records))[:-1]
    path.write_text(text)
    assert cli("replay", path, tmp_path / "missing", "-", stdin=json.dumps(RECORD)) == 2
    assert cli.out.splitlines() == [
        f"{path}:1: scores 0 1; winner: seat 1; 2 turns",
        f"{path}:7: scores 0 0; unfinished; 1 turn",
        "standard input:1: scores 0 1; winner: seat 1; 2 turns",
    ]
    errors = cli.err.splitlines()
    for line, mentions in zip(
        errors,
        [
            f'{path}:2: turn {turn_index}, action 2 (from 0): "canal H7" is not legal',
            f"{path}:3: $.scores: given [1, 2]; expected",
            f'{path}:4: turn 1, action 0 (from 0): "take one"',
            f"{path}:5: turn 2 (from 0): the game is over",
            f"{path}:6: $.turns: the game is not over",
            f"{path}:8: $: expected JSON",
            "cannot read",
        ],
        strict=True,
    ):
        assert line.startswith(f"mexica-ai: error: {mentions}")

    assert cli("replay", path, "--json") == 2
    answers = [json.loads(line) for line in cli.out.splitlines()]
    assert [answer["line"] for answer in answers] == list(range(1, 9))
    assert answers[0]["winners"] == [1]
    bad = answers[1]
    assert (bad["reason"], bad["turn_index"], bad["action_index"]) == ("ILLEGAL_ACTION", turn_index, 2)
    assert answers[2]["turn_index"] is None
    assert cli.err == ""


def test_of_a_turn_a_viewer_is_shown_what_it_has_seen(cli, tmp_path):
    record = next(record for record in records_of("coatl") if record["start"]["players"] == 2)
    path, num_hidden = tmp_path / "game.json", 0
    path.write_text(json.dumps(record))
    for number in range(1, 25):
        turn, before = record["turns"][number - 1], position_at(record, number - 1)
        for viewer, seat in (("0", 0), ("1", 1), ("spectator", -1)):
            seen = seen_turn(before, turn, seat)
            assert cli("show", path, "--turn", number, "--viewer", viewer) == 0
            said = " ".join(cli.out.partition("\nAfter turn ")[2].split())
            assert said.endswith("; ".join(seen))
            num_hidden += seen != turn
    assert num_hidden > 3


# docs/cli.md


def _examples():
    """Yield the console blocks of docs/cli.md: (first line's number, commands with what they print)."""
    text = (ROOT / "docs" / "cli.md").read_text()
    for block in re.finditer(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        yield pytest.param(block[1], id=f"line{text[: block.start()].count(chr(10)) + 2}")


def _pattern(expected):
    """Return a pattern in which `...` matches any text, and a line of it any lines."""
    parts = [".*?" if part == "..." else re.escape(part) for part in re.split(r"(\.\.\.)", expected)]
    return re.compile("".join(parts) + r"\s*", re.DOTALL)


@pytest.mark.real("processes")
@pytest.mark.slow
@pytest.mark.parametrize("block", list(_examples()))
def test_the_examples_of_the_documentation(block, tmp_path):
    # The commands of a block share a shell, in a directory of its own where examples/ is at hand.
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    commands, expected = [], []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append(line[2:])
            expected.append("")
        else:
            expected[-1] += line + "\n"
    marker = "-- next command --"
    script = "".join(f"{command}\necho '{marker}'\n" for command in commands)
    env = {**os.environ, "PATH": f"{SCRIPTS}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash"],
        input=script,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tmp_path,
        env=env,
        text=True,
        timeout=120,
    )
    outputs = done.stdout.split(marker + "\n")[:-1]
    for command, wanted, output in zip(commands, expected, outputs, strict=True):
        assert _pattern(wanted).fullmatch(output), f"$ {command}\n{output}"
