"""How a tournament ends that something disturbs: a full disk, and a machine that is late."""

import contextlib
import errno
import json
import os
from types import SimpleNamespace

import pytest
from test_arena import Here, program

from mexica_ai import SearchError
from mexica_ai.arena import journal
from mexica_ai.arena.journal import read_journal
from mexica_ai.arena.report import LATE_REASONS, Collected, evaluate, format_table
from mexica_ai.arena.text import TextFolder
from mexica_ai.cli import common

NIM = ["--game", "nim", "--engine", "greedy", "--engine", "random", "--iterations", "1"]


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Play in this process: a worker takes half a second to start."""
    monkeypatch.setattr(common, "executor", lambda cluster, concurrency: contextlib.nullcontext((Here(), 1)))


# A journal that cannot be written any more


@pytest.mark.parametrize("part", [0, 100])
def test_a_full_disk_ends_with_the_table_of_the_games_so_far(cli, tmp_path, monkeypatch, part):
    file = tmp_path / "games.jsonl"
    args = [*NIM, "--blocks", 3, "--journal", file]
    left = [3]  # whole records

    def write(fd, data):
        if not left[0]:
            if part and os.fstat(fd).st_size < size[0] + part:
                return real(fd, data[:part])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left[0] -= 1
        written = real(fd, data)
        size[0] = os.fstat(fd).st_size
        return written

    real, size = os.write, [0]
    with monkeypatch.context() as patch:
        patch.setattr(journal, "os", SimpleNamespace(**{**vars(os), "write": write}))
        assert cli(*args) == 1
    assert "2 games in 1 block; 1 game of incomplete blocks not counted" in cli.out
    assert "ended after 3 of 6 games" in cli.err
    assert cli.err.splitlines()[-1] == (
        f"mexica-ai: error: cannot write the journal {file}: No space left on device; --resume plays the games that it "
        "does not have"
    )
    assert file.stat().st_size == size[0] + part
    assert cli(*args, "--resume") == 0
    assert "6 games in 3 blocks" in cli.out
    assert len(read_journal(str(file)).games) == 6


def test_texts_that_cannot_be_written_end_with_the_table_too(cli, tmp_path, monkeypatch):
    write = TextFolder.write

    def fail(folder, tournament, record, prefix=""):
        if record["arena"]["block"] == 1:
            raise SearchError("--text: cannot write x: full", reason="TEXT_NOT_WRITTEN")
        write(folder, tournament, record, prefix)

    monkeypatch.setattr(TextFolder, "write", fail)
    assert cli(*NIM, "--blocks", 3, "--text", tmp_path / "texts") == 1
    assert "2 games in 1 block" in cli.out
    assert cli.err.splitlines()[-1] == "mexica-ai: error: --text: cannot write x: full"


# Games lost on time


def lost_on_time(late_s, reason="out of time", engines=("mcts", "cmd:x")):
    """Return the table of a game that one engine lost, where each was so late."""
    collected = Collected("nim", 2, list(engines), list(engines), [None, None], first_failures=[None, None])
    for late in late_s:
        collected.usage.append(
            {"games": 0, "points": 0.0, "forfeits": 0, "failures": 0, "turns": 0, "iterations": 0, "seconds": 0.0}
            | {"late_s": late, "late_max_s": late}
        )
    collected.num_games = 1
    collected.num_late = reason in LATE_REASONS
    return format_table(evaluate(collected))


@pytest.mark.parametrize(
    ("late_s", "options", "warns"),
    [
        ((0.06, 0.0), {}, True),
        ((0.04, 9.0), {}, False),  # only the program was late
        ((0.06, 0.0), {"reason": "crash"}, False),
        ((0.06, 0.07), {"engines": ("cmd:x", "grpc:y")}, True),
        ((0.04, 0.07), {"engines": ("cmd:x", "grpc:y")}, False),
    ],
)
def test_games_lost_on_time_come_with_a_warning_if_the_machine_was_late(late_s, options, warns):
    table = lost_on_time(late_s, **options)
    text = "warning: busy machine: 1 game was lost on time, but the machine delayed answers by up to 0.06 s"
    assert (text in table) is warns
    assert ("warning" in table) is warns


@pytest.mark.real("time")
def test_a_report_counts_the_games_lost_on_time(cli, tmp_path):
    args = ["--game", "nim", "--engine", "random", "--engine", program("slow", 1, 0.5), "--blocks", 1]
    assert cli(*args, "--clock", "0.2", "--margin", "0.01", "--format", "json") == 5
    found = json.loads(cli.out)
    assert 1 <= found["lost_on_time"] == found["forfeits"]
