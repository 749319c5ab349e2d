"""`mexica-ai arena`: exit codes, outputs, resuming after SIGKILL, Ctrl-C, a cluster that loses a worker."""

import csv
import io
import json
import os
import pty
import random
import select
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from test_arena import are_gone

import mexica_ai as ai
from mexica_ai.arena import play
from mexica_ai.cli import common

pytestmark = pytest.mark.slow

COMMAND = [str(Path(sysconfig.get_path("scripts")) / "mexica-ai"), "arena"]
NIM_ENGINE = f"{sys.executable} {Path(__file__).parents[1] / 'nim_engine.py'}"
NIM = ["--game", "nim", "--engine", "mcts,iterations=20,name=tree", "--engine", "random,iterations=1"]


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def played(path):
    return [(record["arena"]["block"], record["arena"]["number"]) for record in records(path)]


def children(pid):
    """Return the processes that a process has started."""
    found = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        found += file.read_text().split()
    return found


@pytest.mark.real("processes")
def test_a_tournament_and_its_report(cli, tmp_path):
    journal = tmp_path / "games.jsonl"
    args = (*NIM, "--blocks", 3, "--concurrency", 2, "--journal", journal)
    assert cli(*args) == 0
    assert cli.err == ""
    assert cli.out.startswith("nim, 2 seats: 6 games in 3 blocks\n")
    assert "Elo" in cli.out
    table = cli.out
    assert sorted(played(journal)) == [(block, number) for block in range(3) for number in range(2)]
    assert all(ai.replay(record).is_over for record in records(journal))

    assert cli("report", journal) == 0
    assert cli.out == table
    assert cli("report", journal, "--format", "json") == 0
    found = json.loads(cli.out)
    assert [engine["name"] for engine in found["engines"]] == ["tree", "random,iterations=1"]
    assert sum(engine["share"][0] for engine in found["engines"]) == pytest.approx(1)
    assert cli("report", journal, "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(cli.out)))
    assert [row["name"] for row in rows] == ["tree", "random,iterations=1"]
    assert float(rows[0]["share"]) == found["engines"][0]["share"][0]

    assert cli(*args) == 2
    assert "--resume" in cli.err
    assert cli(*args, "--resume") == 0
    assert cli.out == table
    assert cli(*args, "--resume", "--seed", 2) == 2
    assert "belongs to another tournament: its seed is 1" in cli.err


@pytest.mark.real("processes")  # matplotlib may ask a program for fonts
def test_reports_merge_journals_and_count_games_once(cli, in_process, tmp_path):
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    assert cli(*NIM, "--blocks", 2, "--journal", first) == 0
    assert cli(*NIM, "--blocks", 2, "--seed", 2, "--journal", second) == 0
    with second.open("a") as file:
        file.write('{"game": "nim", "ver')
    assert cli("report", first, second, first, "--plot", tmp_path / "x.svg") == 0
    assert "8 games in 4 blocks" in cli.out
    assert "4 games occur more than once" in cli.err
    assert "2.jsonl: the last line is incomplete" in cli.err
    assert (tmp_path / "x.svg").stat().st_size > 1000
    assert cli("report", tmp_path / "no") == 2


@pytest.mark.parametrize(
    ("args", "mentions"),
    [
        (["--engine", "mcts"], "expected 2 to 26"),
        (["--engine", "mcts", "--engine", "alphabeta"], "unknown kind"),
        (["--engine", "mcts", "--engine", "mcts,seed=1"], "has a seed"),
        ([*NIM, "--sample", "2"], "--sample"),
        ([*NIM, "--resume"], "--resume needs --journal"),
        ([*NIM, "--sprt", "0,10"], "four numbers"),
        ([*NIM, "--sprt", "0,10,0.05,0.05", "--engine", "greedy"], "two engines"),
        ([*NIM, "--clock", "60+x"], "such as 60+0.5"),
        ([*NIM, "--players", "5"], "from 2 to 4"),
        ([*NIM, "--blocks", "1", "--plot", "x.doc"], "ends in one of"),
        (["report"], "JOURNAL"),
    ],
)
def test_bad_input(cli, args, mentions):
    assert cli(*args) == 2
    assert mentions in cli.err
    assert len(cli.err.splitlines()) == 1


@pytest.mark.real("processes")
def test_engines_that_fail_forfeit_and_the_tournament_goes_on(cli, tmp_path):
    journal = tmp_path / "games.jsonl"
    engines = []
    for kind in ("crash", "garbage", "illegal", f"hang 0 {tmp_path / 'pids'}"):
        engines += ["--engine", f'cmd:"{NIM_ENGINE} {kind}",time=0.3,name={kind.split()[0]}']
    args = ["--game", "nim", *engines, "--engine", "random", "--players", 3, "--margin", 1.5, "--sample", 1]
    args += ["--seed", 1, "--reproducible"]  # else one of them may never be the first to fail
    assert cli(*args, "--blocks", 1, "--concurrency", 2, "--journal", journal, "--format", "json") == 5
    found = json.loads(cli.out)
    assert found["games"] == 10
    assert sum(engine["forfeits"] for engine in found["engines"]) == 10
    assert found["engines"][4]["forfeits"] == 0
    reasons = {record["forfeit"]["reason"] for record in records(journal)}
    assert reasons >= {"crash", "unreadable answer", "illegal turn"}


@pytest.mark.real("processes")
def test_a_server_plays_and_one_that_is_gone_forfeits(cli, tmp_path, monkeypatch):
    journal = tmp_path / "games.jsonl"
    args = ["--game", "nim", "--iterations", 5, "--blocks", 1, "--engine", "random", "--engine"]
    with subprocess.Popen([COMMAND[0], "serve", "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
        spec = f"grpc:{server.stdout.readline().removeprefix('listening on ').strip()},name=server"
        assert cli(*args, spec, "--journal", journal) == 0
        server.terminate()
    assert [record["termination"] for record in records(journal)] == ["finished"] * 2
    journal.unlink()
    monkeypatch.setattr(play, "check_engines", lambda tournament, log: None)  # as if it had disappeared then
    assert cli(*args, spec, "--time", 0.2, "--journal", journal) == 5
    assert [record["forfeit"]["reason"] for record in records(journal)] == ["no connection"] * 2


def test_a_sequential_test_stops_by_itself_and_decides_the_exit_code(cli, in_process):
    strong = ["--game", "nim", "--engine", "mcts,iterations=300", "--engine", "random,iterations=1"]
    weak = [strong[0], strong[1], *strong[4:], *strong[2:4]]
    args = ["--blocks", 300, "--format", "json", "--sprt"]
    assert cli(*strong, *args, "0,100,0.05,0.05") == 0
    found = json.loads(cli.out)
    assert found["sprt"]["decision"] == "H1"
    assert found["blocks"] < 100
    assert cli(*weak, *args, "0,100,0.05,0.05") == 3
    assert json.loads(cli.out)["sprt"]["decision"] == "H0"
    assert cli(*weak, "--blocks", 2, "--sprt", "0,1,0.05,0.05") == 4
    assert "no decision yet" in cli.out


@pytest.mark.real("processes")
def test_a_tournament_killed_at_any_moment_resumes(tmp_path):
    rng = random.Random(1)
    journal = tmp_path / "games.jsonl"
    match = ["--engine", "mcts,iterations=30", "--engine", "random,iterations=1"]
    args = [*COMMAND, *match, "--blocks", "6", "--concurrency", "2", "--seed", "1", "--reproducible"]
    whole = tmp_path / "whole.jsonl"
    done = subprocess.run([*args, "--journal", whole], capture_output=True, text=True, check=True)

    workers, counts = [], []
    for share in sorted(rng.uniform(0.02, 0.85) for _ in range(3)):  # of the bytes, when it is killed
        process = subprocess.Popen(
            [*args, "--journal", journal, "--resume"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while not journal.exists() or journal.stat().st_size < share * whole.stat().st_size:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.1))
        workers += children(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
        counts.append(journal.read_bytes().count(b"\n"))
        if rng.random() < 0.7:  # as if it had been hit while writing
            with journal.open("ab") as file:
                file.write(journal.read_bytes()[: rng.randrange(400)])
    assert any(0 < count < 12 for count in counts)
    last = subprocess.run([*args, "--journal", journal, "--resume"], capture_output=True, text=True)
    assert last.returncode == 0, last.stderr
    assert workers
    assert are_gone(workers)  # they have noticed, and ended
    assert sorted(played(journal)) == [(block, number) for block in range(6) for number in range(2)]
    # They are the same games, too.
    turns = [
        {key: record["turns"] for key, record in zip(played(path), records(path), strict=True)}
        for path in (whole, journal)
    ]
    assert turns[0] == turns[1]
    assert last.stdout.splitlines()[0] == done.stdout.splitlines()[0]


@pytest.mark.real("processes")
def test_ctrl_c_ends_with_the_table_so_far(tmp_path):
    journal = tmp_path / "games.jsonl"
    args = ["--engine", "mcts,iterations=20", "--engine", "random", "--blocks", "1000", "--concurrency", "2"]
    args += ["--journal", journal]
    with subprocess.Popen(
        [*COMMAND, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 60
        while not journal.exists() or journal.read_bytes().count(b"\n") < 4:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    count = journal.read_text().count("\n")
    assert err == f"mexica-ai: interrupted after {count} of 2,000 games\n"
    assert out.startswith("mexica, 2 seats: ")
    assert "mcts,iterations=20" in out
    assert len(set(played(journal))) == count


@pytest.mark.real("processes")
def test_sigterm_ends_its_processes_and_leaks_nothing(tmp_path):
    journal = tmp_path / "games.jsonl"
    args = [*NIM, "--blocks", "100000", "--concurrency", "2", "--journal", journal]
    with subprocess.Popen([*COMMAND, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not journal.exists() or journal.read_bytes().count(b"\n") < 4:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.terminate()  # as `timeout` does
        err = process.communicate(timeout=120)[1]
    assert (process.returncode, err) == (143, "")


@pytest.mark.real("processes")
def test_progress_is_shown_on_a_terminal():
    parent, child = pty.openpty()
    args = [*NIM, "--engine", "greedy", "--blocks", "30"]
    with subprocess.Popen([*COMMAND, *args], stdout=subprocess.DEVNULL, stderr=child) as process:
        os.close(child)
        seen = b""
        while process.poll() is None:
            if select.select([parent], [], [], 0.1)[0]:
                try:
                    seen += os.read(parent, 65536)
                except OSError:  # the other end is closed
                    break
    os.close(parent)
    assert process.returncode == 0
    assert b"games an hour" in seen
    assert b"rating" in seen


# On a cluster


@pytest.mark.real("processes")
def test_a_cluster_that_loses_a_worker_loses_no_game(scheduler, tmp_path):
    address, add_worker = scheduler
    workers = [add_worker(), add_worker()]
    journal = tmp_path / "games.jsonl"
    args = ["--engine", "mcts,iterations=40", "--engine", "random,iterations=1", "--blocks", "10"]
    args += ["--cluster", address, "--concurrency", "3", "--journal", str(journal)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*COMMAND, *args], **pipes) as process:
        deadline = time.monotonic() + 60
        while not journal.exists() or journal.read_bytes().count(b"\n") < 5:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        workers[0].send_signal(signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out.startswith("mexica, 2 seats: 20 games in 10 blocks\n")
    assert sorted(played(journal)) == [(block, number) for block in range(10) for number in range(2)]
    assert all(ai.replay(record).is_over for record in records(journal))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:65536", "tcp://127.0.0.1:port", "tcp://[::1:8786"])
def test_an_address_of_a_cluster_that_is_none(cli, address):
    assert cli(*NIM, "--cluster", address) == 2
    assert "is not an address such as tcp://host:8786, with a port up to 65535" in cli.err


@pytest.mark.real("ports")
def test_a_cluster_that_is_not_there_is_a_failure(cli, monkeypatch):
    monkeypatch.setattr(common, "CONNECT_S", 0.5)
    assert cli(*NIM, "--cluster", "tcp://127.0.0.1:9") == 1
    assert "no scheduler at tcp://127.0.0.1:9" in cli.err
