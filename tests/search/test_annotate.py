"""What is said of the turns of a played game: in Python, and by `mexica-ai annotate`."""

import io
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sysconfig
import threading
import time
from collections import Counter

import pytest
from nim_record import RECORD as NIM
from nim_record import START

import mexica_ai as ai
from mexica_ai.analysis import annotate, grades
from mexica_ai.analysis.annotate import evaluate_record
from mexica_ai.analysis.search import SearchRun
from mexica_ai.cli.main import main

ROOT = pathlib.Path(__file__).parents[2]
GAME = ROOT / "examples" / "mexica_game.jsonl"
COMMAND = pathlib.Path(sysconfig.get_path("scripts")) / "mexica-ai"
UNFINISHED = {**NIM, "turns": NIM["turns"][:2], "termination": "unfinished", "scores": None, "winners": None}


class Counting:
    """A search that keeps the positions it was asked about."""

    def __init__(self):
        self.positions = []

    def __call__(self, position, settings, stop):
        self.positions.append(position.copy())
        self.settings = settings
        self.limits = settings.limits
        return SearchRun(position, settings).result()


@pytest.fixture
def counting():
    return Counting()


@pytest.fixture(scope="module")
def mexica():
    return json.loads(GAME.read_text().splitlines()[0])


def evaluated(record, **options):
    return list(evaluate_record(record, **{"iterations": 2000, "seed": 1} | options))


def without_time(evaluations):
    return [{**evaluation.to_json(), "seconds": 0} for evaluation in evaluations]


def test_what_a_turn_gave_away():
    first, second, third = evaluated(NIM)
    assert [(one.turn_index, one.seat, one.turn) for one in (first, second, third)] == [
        (0, 0, ["take 2 2"]),
        (1, 1, ["take 1 2"]),
        (2, 0, ["take 2 1"]),
    ]
    assert first.choice == ["take 1 2"]
    assert first.before[0] > 0.9
    assert first.after[0] < 0.1
    assert first.loss > 0.8
    assert second.loss > 0.8
    assert (third.choice, third.loss) == (third.turn, 0)
    for one in (first, second, third):
        assert one.choice_value == one.before
        assert sum(one.before) == pytest.approx(1)
        assert sum(one.after) == pytest.approx(1)


def test_after_the_last_turn_the_outcome_is_known():
    last = evaluated(NIM)[-1]
    assert last.after == [1, 0]
    assert last.expected_scores_after == last.scores == [1, 0]


def test_an_unfinished_game_ends_with_a_search(counting):
    last = evaluated(UNFINISHED, search=counting)[-1]
    assert last.turn_index == 1
    assert counting.positions[-1].to_move == 0
    assert last.after[1] < 0.1


def test_a_forfeited_game_is_taken_as_far_as_it_went():
    record = {
        **UNFINISHED,
        "termination": "forfeit",
        "winners": [1],
        "forfeit": {"seat": 0, "reason": "time", "detail": ""},
    }
    assert len(evaluated(record, iterations=10)) == 2


@pytest.mark.parametrize("number", range(4))
def test_a_record_that_says_nothing_of_the_outcome_may_end_anywhere(number):
    record = {**NIM, "turns": NIM["turns"][:number], "scores": None, "winners": None}
    assert len(evaluated(record, iterations=10)) == number


def test_a_record_may_be_text():
    assert without_time(evaluated(json.dumps(NIM))) == without_time(evaluated(NIM))
    assert without_time(evaluated(json.dumps(NIM).encode())) == without_time(evaluated(NIM))


def test_each_position_of_the_game_is_searched_once(mexica, counting):
    found = evaluated(mexica, iterations=30, search=counting, turns=range(10))
    assert len(set(map(str, counting.positions))) == len(counting.positions)
    assert 11 <= len(counting.positions) <= 21
    for earlier, later in itertools.pairwise(found):
        assert later.before == earlier.after
        assert later.expected_scores_before == earlier.expected_scores_after
    position = ai.Position.from_json(mexica["start"])
    for one in found:
        assert one.seat == position.to_move
        position.push(one.turn)
        assert one.scores == position.scores
    assert sum(one.iterations for one in found) == sum(
        SearchRun(place, counting.settings).result().iterations for place in counting.positions
    )


def test_the_engines_own_turns_lose_nothing(counting):
    start = ai.new_game(players=3, seed=5)
    position = start.copy()
    turns = []
    for _ in range(8):
        turns.append(ai.best_turn(position, iterations=60, seed=1).turn)
        position.push(turns[-1])
    record = {
        "game": "mexica",
        "version": 1,
        "start": start.to_json(),
        "turns": turns,
        "scores": None,
        "winners": None,
        "termination": "unfinished",
    }
    found = evaluated(record, iterations=60, search=counting)
    assert [one.loss for one in found] == [0] * 8
    assert [one.choice for one in found] == turns
    assert len(counting.positions) == 9


def test_another_order_of_the_same_actions_is_the_choice(mexica):
    position = ai.Position.from_json(mexica["start"])
    for turn in mexica["turns"][:6]:
        position.push(turn)
    choice = ai.best_turn(position, iterations=50, seed=1).turn
    other = next(
        turn
        for turn in ([choice[1], choice[0], *choice[2:]], [*choice[:-2], "token", *choice[-2:]], None)
        if turn is None or is_same(position, turn, choice)
    )
    if other is None:
        pytest.skip("this choice has one order only")
    turns = [*mexica["turns"][:6], other]
    record = {key: mexica[key] for key in ("game", "version", "start")} | {
        "turns": turns,
        "scores": None,
        "winners": None,
        "termination": "unfinished",
    }
    (found,) = evaluated(record, iterations=50, turns=[6])
    assert (found.choice, found.loss) == (other, 0)


def is_same(position, turn, other):
    ends = [position.copy(), position.copy()]
    try:
        for end, actions in zip(ends, (turn, other), strict=True):
            end.push(actions)
    except ai.MexicaAIError:
        return False
    return ends[0] == ends[1]


def fake(values):
    """Return a search that answers from a table: position -> candidates, the best first."""

    def search(position, settings, stop):
        listed = values[tuple(position.to_json()["piles"])]
        candidates = [
            ai.Candidate([turn], visits, [share, 1 - share], [0.0, 0.0], 0.5, []) for turn, visits, share in listed
        ]
        return ai.Result(candidates, 100, 1, 1, 0.5, "iterations", settings.seed)

    return search


def test_the_loss_is_measured_on_one_scale():
    values = {
        (2, 3): [("take 1 2", 900, 0.8), ("take 2 2", 18, 0.7)],
        (2, 1): [("take 1 1", 100, 0.4)],  # after the turn played
        (2, 2): [("take 1 2", 100, 0.6)],  # after the choice
    }
    (found,) = evaluated(NIM, turns=[0], search=fake(values))
    # Looked at often enough: what the same search says of it.
    assert found.loss == pytest.approx(0.1)
    assert (found.iterations, found.seconds) == (200, 1)
    assert (found.before[0], found.after[0]) == (0.8, 0.4)
    # Hardly looked at: what searches of the positions after both say.
    values[2, 3][1] = ("take 2 2", 17, 0.7)
    (found,) = evaluated(NIM, turns=[0], search=fake(values))
    assert found.loss == pytest.approx(0.2)
    assert found.iterations == 300
    # Never below 0, and no search of the choice where the turn did even better than was expected of it.
    values[2, 1] = [("take 1 1", 100, 0.9)]
    (found,) = evaluated(NIM, turns=[0], search=fake(values))
    assert (found.loss, found.iterations) == (0, 200)


def test_turns_that_are_asked_for(counting):
    found = evaluated(NIM, turns=[2, 0, 0], search=counting)
    assert [one.turn_index for one in found] == [0, 2]
    assert without_time(found)[0] == without_time(evaluated(NIM))[0]
    assert evaluated(NIM, turns=[]) == []
    assert evaluated(NIM, turns=range(1, 1)) == []


@pytest.mark.parametrize("turns", [[3], [-1], [True], ["0"], range(4)])
def test_turns_that_are_not_there(turns, counting):
    with pytest.raises(ai.NotationError) as caught:
        evaluate_record(NIM, turns=turns, search=counting)
    assert (caught.value.reason, caught.value.path) == ("OUT_OF_RANGE", "turns")


def test_the_same_seed_says_the_same(mexica):
    first, second = (without_time(evaluated(mexica, iterations=40, turns=range(6, 9))) for _ in range(2))
    assert first == second
    # As `best_turn` with this seed.
    position = ai.Position.from_json(mexica["start"])
    for turn in mexica["turns"][:7]:
        position.push(turn)
    assert first[1]["before"] == ai.best_turn(position, iterations=40, seed=1).value


def test_the_search_sees_no_more_than_the_mover():
    pool = [3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 12, 13]
    start = ai.new_game(players=2, seed=3, pool=pool).to_json()
    rest = sorted((Counter(pool) - Counter(start["calpulli"]["display"])).elements())
    found = []
    for upcoming in (rest[:7], rest[-7:]):
        record = {
            "game": "mexica",
            "version": 1,
            "start": {**start, "calpulli": {**start["calpulli"], "upcoming": upcoming}},
            "turns": [["place H6"], ["place H8"], ["end"]],
            "scores": None,
            "winners": None,
            "termination": "unfinished",
        }
        found.append(without_time(evaluated(record, iterations=50)))
    assert found[0] == found[1]


@pytest.mark.slow
def test_one_second_is_the_default(counting):
    next(evaluate_record(NIM, search=counting))
    assert (counting.limits.time_s, counting.limits.iterations) == (1, None)
    next(evaluate_record(NIM, iterations=5, threads=2, memory_mb=64, search=counting))
    assert (counting.limits.time_s, counting.limits.iterations) == (None, 5)
    assert (counting.limits.threads, counting.limits.memory_mb) == (2, 64)


@pytest.mark.parametrize(
    ("record", "error", "reason"),
    [
        ("{", ai.NotationError, "BAD_JSON"),
        ([], ai.NotationError, "WRONG_TYPE"),
        ({**NIM, "turns": 3}, ai.NotationError, "WRONG_TYPE"),
        ({**NIM, "version": 2}, ai.NotationError, "UNSUPPORTED_VERSION"),
        ({**NIM, "start": {**START, "game": "go"}}, ai.UnknownGameError, "UNKNOWN_GAME"),
        ({**NIM, "turns": [["take 2 2"], ["take 3 1"]]}, ai.IllegalActionError, "ILLEGAL_ACTION"),
        ({**NIM, "turns": NIM["turns"] * 2}, ai.GameOverError, "GAME_OVER"),
        ({**NIM, "turns": NIM["turns"][:2]}, ai.PositionError, "UNFINISHED"),
        ({**UNFINISHED, "turns": NIM["turns"]}, ai.PositionError, "FINISHED"),
        ({**NIM, "scores": [0, 1]}, ai.PositionError, "SCORES_MISMATCH"),
        ({**NIM, "scores": None}, ai.PositionError, "SCORES_MISMATCH"),
        (
            {**NIM, "turns": [["take 1 9"]], "scores": None, "winners": None},
            ai.NotationError,
            "BAD_ACTION",
        ),
    ],
)
def test_a_broken_record_is_refused_before_the_first_search(record, error, reason, counting):
    with pytest.raises(error) as caught:
        evaluate_record(record, search=counting)
    assert caught.value.reason == reason
    assert counting.positions == []


@pytest.mark.parametrize(
    "options",
    [{"time_s": 0}, {"iterations": 0}, {"threads": 0}, {"memory_mb": 0}, {"seed": -1}, {"seed": 1.5}],
)
def test_limits_that_make_no_sense_are_refused_at_once(options):
    with pytest.raises(ai.SearchError):
        evaluate_record(NIM, **options)


def test_a_stop_ends_it(counting, mexica):
    stop = ai.Stop()
    evaluations = evaluate_record(mexica, iterations=20, stop=stop, search=counting)
    next(evaluations)
    searches = len(counting.positions)
    stop.set()
    assert list(evaluations) == []
    assert len(counting.positions) == searches


def test_a_stop_drops_the_turn_that_is_being_searched(mexica):
    stop = ai.Stop()
    threading.Timer(0.2, stop.set).start()
    assert list(evaluate_record(mexica, time_s=60, stop=stop, turns=[8])) == []


def test_the_record_may_be_changed_meanwhile():
    record = json.loads(json.dumps(NIM))
    evaluations = evaluate_record(record, iterations=10)
    record["turns"].clear()
    assert len(list(evaluations)) == 3


# The command


@pytest.fixture
def cli(capsys, monkeypatch):
    class Cli:
        def __call__(self, *args, stdin=""):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin.encode()))))
            self.code = main(["annotate", *map(str, args)])
            self.out, self.err = capsys.readouterr()
            return self.out.splitlines()

        def refused(self, *args, stdin=""):
            assert self(*args, stdin=stdin) == []
            assert self.code == 2
            assert self.err.count("\n") == 1
            assert self.err.startswith("mexica-ai: error: ")
            return self.err

    return Cli()


@pytest.fixture
def nim(tmp_path):
    path = tmp_path / "nim.jsonl"
    path.write_text(json.dumps(UNFINISHED) + "\n\n" + json.dumps({**NIM, "engines": ["a", "b"]}) + "\n")
    return path


LIMITS = ("--iterations", 2000, "--seed", 1)


def test_the_table(cli, nim):
    lines = cli(nim, "--game", 2, *LIMITS)
    assert (cli.code, cli.err) == (0, "")
    assert lines[0].startswith("turn  seat  share of the win    loss")
    rows = [line.split() for line in lines[1:6]]
    assert [row[:2] for row in rows] == [
        ["1", "0"],
        ["take", "1"],
        ["2", "1"],
        ["take", "1"],
        ["3", "0"],
    ]
    assert [row[6:] for row in rows[::2]] == [
        ["??", "take", "2", "2"],
        ["??", "take", "1", "2"],
        ["take", "2", "1"],
    ]
    assert len({lines[number].index("take") for number in (1, 3, 5)}) == 1
    assert lines[6] == ""
    heads = ["?!", "?", "??", "accuracy", "opening", "middle", "end"]
    assert lines[7].split() == ["seat", "turns", "mean", "loss", *heads]
    assert [line.split()[3:6] for line in lines[8:10]] == [["0", "0", "1"], ["0", "0", "1"]]
    assert lines[10:12] == ["seat 0: a", "seat 1: b"]
    text = " ".join(lines[13:-2])
    assert text.startswith("The game turned here: Turn 1 of seat 0 was a blunder from ")
    assert "seat 1: from " in text
    assert text.endswith(annotate.NOTE)
    assert lines[-2:] == ["", "seed 1"]


def test_one_object_a_line(cli, nim):
    lines = cli(nim, *LIMITS, "--json", "--checks", 0)
    assert [{**json.loads(line), "seconds": 0} for line in lines] == without_time(evaluated(UNFINISHED))


def test_the_worst_turns_only(cli, nim):
    every = [json.loads(line) for line in cli(nim, "--game", 2, *LIMITS, "--json")]
    worst = [json.loads(line) for line in cli(nim, "--game", 2, *LIMITS, "--json", "--worst", 2)]
    assert [one["loss"] for one in worst] == sorted((one["loss"] for one in every), reverse=True)[:2]
    lines = cli(nim, "--game", 2, *LIMITS, "--worst", 1)
    assert [line.split()[:1] for line in lines[:4]] == [
        ["turn"],
        [str(worst[0]["turn_index"] + 1)],
        ["take"],
        [],
    ]
    assert [line.split()[:2] for line in lines[5:7]] == [["0", "2"], ["1", "1"]]  # of all turns


def test_a_range_of_turns(cli, nim):
    lines = cli(nim, "--game", 2, *LIMITS, "--json", "--turns", "2-3")
    assert [json.loads(line)["turn_index"] for line in lines] == [1, 2]
    (line,) = cli(nim, "--game", 2, *LIMITS, "--json", "--turns", "3")
    assert json.loads(line)["turn_index"] == 2


def test_standard_input_with_one_record_over_several_lines(cli):
    lines = cli("-", *LIMITS, "--json", stdin=json.dumps(NIM, indent=1))
    assert len(lines) == 3


def test_a_real_game(cli):
    lines = cli(GAME, "--iterations", 20, "--turns", "1-4", "--game", 2)
    assert cli.code == 0
    assert len([line for line in lines if "->" in line]) == 4


@pytest.mark.parametrize(
    ("args", "mentions"),
    [
        (["--game", 3], "holds 2 records"),
        (["--game", 0], "--game"),
        (["--turns", "2-4"], "the record has 2 turns"),
        (["--turns", "0"], "--turns"),
        (["--turns", "3-2"], "--turns"),
        (["--turns", "x"], "such as 3-7"),
        (["--worst", 0], "--worst"),
        (["--threads", 0], "--threads"),
        (["--level", 3], "--level"),
    ],
)
def test_mistakes_on_the_command_line(cli, nim, args, mentions):
    assert mentions in cli.refused(nim, *args)


def test_records_that_cannot_be_used(cli, tmp_path):
    assert "No such file" in cli.refused(tmp_path / "missing")
    assert "holds 0 records" in cli.refused("-", stdin="\n")
    assert "standard input:1: $: expected JSON" in cli.refused("-", stdin="{")
    assert "standard input:2: $.scores: given [0, 1]" in cli.refused(
        "-", stdin="\n" + json.dumps({**NIM, "scores": [0, 1]})
    )
    assert "standard input:1: $: given a list" in cli.refused("-", "--turns", 1, stdin="[]")
    broken = {**NIM, "turns": [["take 2 2"], ["take 1 3"]]}
    assert "standard input:1: $.turns[1][0]: " in cli.refused("-", stdin=json.dumps(broken))


@pytest.mark.real("processes")
@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--json"], ["--worst", "3"]])
def test_ctrl_c_tells_what_is_known_so_far(options):
    process = subprocess.Popen(
        [COMMAND, "annotate", GAME, "--time", "0.3", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    if "--worst" in options:
        while len(os.listdir(f"/proc/{process.pid}/task")) == 1:  # not searching yet
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        first = ""
    else:
        first = process.stdout.readline()
        if not options:
            assert first.startswith("turn")
            first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.startswith("mexica-ai: interrupted after ")
    assert re.search(r" of \d\d turns\n$", err)
    assert ("seed " in out) == ("--json" not in options)
    found = int(re.search(r"after (\d+) of", err)[1])
    shown = (first + out).count('"loss"' if "--json" in options else " -> ")
    assert shown == (min(found, 3) if "--worst" in options else found)
    assert found >= ("--worst" not in options)


def test_the_marks_are_those_of_the_documentation():
    text = (ROOT / "docs" / "cli.md").read_text()
    for bound, mark in zip(grades.BOUNDS, ("?!", "?", "??"), strict=True):
        assert f"| {bound:.2f} | `{mark}` |" in text
    assert f"{annotate.MIN_VISIT_SHARE:.0%}" in (ROOT / "docs" / "python.md").read_text()
