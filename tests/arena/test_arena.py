"""The arena: the schedule, single games and their failures, the journal, the main loop, reports."""

import collections
import dataclasses
import errno
import fcntl
import json
import multiprocessing
import os
import pickle
import shlex
import signal
import sys
import time
import weakref
from concurrent.futures import Future
from pathlib import Path

import pytest
from failing_games import die, hang_in_native_code, play_or_die, play_or_end
from here import Here

import mexica_ai as ai
from mexica_ai import NotationError, Position, SearchError, replay
from mexica_ai.arena import play
from mexica_ai.arena.journal import JournalWriter, read_journal
from mexica_ai.arena.play import Task, play_game
from mexica_ai.arena.pool import GamePool, begin_worker
from mexica_ai.arena.report import collect, evaluate, format_report, outcome_of
from mexica_ai.arena.runner import run
from mexica_ai.arena.tournament import (
    Tournament,
    complete_spec,
    pattern,
    reproducible_key,
    turn_seed,
    unique_names,
)
from mexica_ai.engines import make_engine
from mexica_ai.game import registry

NIM_ENGINE = [sys.executable, str(Path(__file__).parents[1] / "nim_engine.py")]


def program(*args):
    """Return the spec of a program that fails in the way that `args` say."""
    return "cmd:" + shlex.join([*NIM_ENGINE, *map(str, args)])


def make(*engines, players=2, **options):
    engines = engines or ("random", "greedy")
    engines = tuple(str(complete_spec(engine, None, 9, "clock" in options)) for engine in engines)
    options = {"game": "nim", "seed": 7, "margin_s": 0.3, **options}
    options.setdefault("key", reproducible_key(options["seed"]))
    names = tuple(f"e{index}" for index in range(len(engines)))
    return Tournament(players=players, engines=engines, names=names, **options)


def played(records):
    return [(record["arena"]["block"], record["arena"]["number"]) for record in records]


# The schedule


def test_where_files_have_no_locks_a_journal_is_not_called_in_use(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    tournament = make("greedy", "random")
    with JournalWriter(str(tmp_path / "games.jsonl"), tournament) as journal:
        journal.append(play_game(Task(tournament, tournament.block(0)[0])))
    assert len(read_journal(str(tmp_path / "games.jsonl")).games) == 1


def test_a_journal_is_a_regular_file(tmp_path):
    """A pipe, such as /dev/stdout may be, would be read for ever."""
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path / "pipe"), os.devnull):
        for resume in (False, True):
            with pytest.raises(NotationError, match="is no regular file") as caught:
                JournalWriter(path, make("greedy", "random"), resume=resume)
            assert str(caught.value).startswith(f"cannot open the journal {path}: ")


@pytest.mark.parametrize(
    ("players", "patterns"),
    [(2, {"AB": 2}), (3, {"ABB": 3, "AAB": 3}), (4, {"ABBB": 4, "AAAB": 4})],
)
def test_a_block_of_two_engines_has_all_rotations_of_its_patterns(players, patterns):
    games = make(players=players).block(3)
    assert collections.Counter(pattern(game.seating) for game in games) == patterns
    assert len({game.seating for game in games}) == len(games)
    assert [game.number for game in games] == list(range(len(games)))
    for seat in range(players):
        assert collections.Counter(game.seating[seat] for game in games) == {
            0: len(games) // 2,
            1: len(games) // 2,
        }


@pytest.mark.parametrize(
    ("engines", "players", "lineups", "games"),
    [(3, 2, 3, 2), (4, 2, 6, 2), (3, 3, 1, 6), (5, 3, 10, 6), (4, 4, 1, 24), (6, 4, 15, 24), (3, 4, 3, 12)],
)
def test_more_engines_play_all_seatings_of_each_combination(engines, players, lineups, games):
    tournament = make(*["random"] * engines, players=players)
    assert tournament.num_lineups == lineups
    blocks = [tournament.block(block) for block in range(lineups)]
    assert all(len(block) == games == len({game.seating for game in block}) for block in blocks)
    assert all(len({pattern(game.seating) for game in block}) == 1 for block in blocks)
    assert len({pattern(block[0].seating) for block in blocks}) == lineups
    played = collections.Counter((s, e) for block in blocks for g in block for s, e in enumerate(g.seating))
    assert len(played) == engines * players
    assert len(set(played.values())) == 1
    assert tournament.block(lineups)[0].seating[0] in range(engines)
    assert pattern(tournament.block(lineups)[0].seating) == pattern(blocks[0][0].seating)


def test_in_a_gauntlet_the_first_engine_is_always_there():
    tournament = make(*["random"] * 5, players=3, format="gauntlet")
    assert tournament.lineups == ((0, 1, 2), (0, 1, 3), (0, 1, 4), (0, 2, 3), (0, 2, 4), (0, 3, 4))
    assert make(*["random"] * 4, format="gauntlet").lineups == ((0, 1), (0, 2), (0, 3))


def test_a_sample_of_as_many_seatings_as_seats_puts_everybody_everywhere():
    tournament = make(*["random"] * 4, players=4, sample=4)
    drawn = set()
    for block in range(20):
        games = tournament.block(block)
        assert len(games) == 4
        assert all(sorted(seats) == [0, 1, 2, 3] for seats in zip(*(g.seating for g in games), strict=True))
        assert tournament.block(block) == games
        drawn.add(games[0].seating)
    assert len(drawn) > 5
    assert len(dataclasses.replace(tournament, sample=24).block(0)) == 24


def test_seeds_are_those_of_tournament_block_game_and_seat():
    tournament = make(players=3)
    games = list(tournament.games(50))
    seeds = {tournament.engine_seed(game, seat) for game in games for seat in range(3)}
    seeds |= {tournament.deal_seed(block) for block in range(50)}
    assert len(seeds) == 3 * len(games) + 50
    assert all(0 <= seed < 2**63 for seed in seeds)
    # The same on every machine, in every version: journals rely on it.
    assert turn_seed(5, 0) == TURN_SEED
    for key, deal, engine in SEEDS:
        pinned = dataclasses.replace(tournament, key=key)
        assert (pinned.deal_seed(1), pinned.engine_seed(games[1], 2)) == (deal, engine)
    other = make(players=3, seed=8)
    assert not seeds & {other.engine_seed(game, seat) for game in games for seat in range(3)}


TURN_SEED = 7829437886636254564
SEEDS = [  # the key, and the seeds of a deal and of an engine; journals of early versions have no key
    (None, 7764645870245362157, 8956987417744491812),
    (reproducible_key(7), 4739651785840251996, 2204319240656699406),
    ("00112233445566778899aabbccddeeff", 3961669940982616688, 5399747615915017474),
]


def test_a_tournament_survives_json():
    for tournament in (make(), make("mcts", "uct", "random", players=4, sample=3, clock=(60.0, 0.5))):
        assert Tournament.from_json(json.loads(json.dumps(tournament.to_json()))) == tournament


def test_specs_get_the_limits_that_they_lack():
    assert str(complete_spec("mcts", 0.5, None, False)) == "mcts,time=0.5"
    assert str(complete_spec("mcts,iterations=5", 0.5, 7, False)) == "mcts,iterations=5,time=0.5"
    assert str(complete_spec("mcts,iterations=5", None, None, False)) == "mcts,iterations=5"
    assert str(complete_spec("mcts", None, None, False)) == "mcts,time=1"
    assert str(complete_spec("mcts", None, None, True)) == "mcts"
    with pytest.raises(NotationError, match="has a seed"):
        complete_spec("mcts,seed=3", None, None, False)
    typed = ["mcts", "mcts,name=new", "mcts", "mcts,time=2"]
    completed = [complete_spec(text, 1, None, False) for text in typed]
    assert unique_names(typed, completed) == ["mcts,time=1 (1)", "new", "mcts,time=1 (2)", "mcts,time=2"]


# One game


def game_of(tournament, number=0, block=0):
    return play_game(Task(tournament, tournament.block(block)[number]))


@pytest.mark.parametrize(("game", "players"), [("nim", 2), ("nim", 4), ("mexica", 2), ("mexica", 3)])
def test_a_game_is_a_record_that_replays(game, players):
    tournament = make("mcts,iterations=2", "random,time=1", game=game, players=players)
    record = json.loads(json.dumps(game_of(tournament, number=1)))
    position = ai.replay(record)
    assert position.scores == record["scores"]
    assert record["termination"] == "finished"
    seating = record["arena"]["seating"]
    assert record["engines"] == [tournament.engines[engine] for engine in seating]
    assert record["seeds"] == [tournament.engine_seed(tournament.block(0)[1], s) for s in range(players)]
    assert len(record["times"]) == players
    assert min(record["times"]) > 0
    assert sum(used["turns"] for used in record["arena"]["seats"]) == len(record["turns"])
    assert record["build"] == play.describe_build(game)
    assert Tournament.from_json(record["arena"]["tournament"]) == tournament
    assert record["arena"]["failures"] == []


def test_a_block_has_one_deal_and_games_repeat():
    tournament = make("mcts,iterations=2", "random,iterations=1", game="mexica", players=2)
    first, second = (game_of(tournament, number) for number in (0, 1))
    assert first["start"] == second["start"] != game_of(tournament, block=1)["start"]
    again = game_of(tournament)
    assert (again["turns"], again["scores"]) == (first["turns"], first["scores"])


@pytest.mark.real("processes")
@pytest.mark.parametrize(
    ("failure", "reason", "mentions"),
    [
        (("crash", 1), "crash", "out of cheese"),
        (("garbage", 1), "unreadable answer", "%&/("),
        (("illegal", 1), "illegal turn", "take 60 1"),
        (("error", 1), "error reported", "no idea"),
    ],
)
@pytest.mark.parametrize("players", [2, 3])
def test_a_failure_is_a_forfeit(failure, reason, mentions, players):
    tournament = make(program(*failure) + ",time=5", "random,time=1", players=players)
    record = game_of(tournament, number=players - 1)
    seat = record["arena"]["seating"].index(0)
    assert record["termination"] == "forfeit"
    assert record["forfeit"]["seat"] == seat == players - 1
    assert record["forfeit"]["reason"] == reason
    assert mentions in record["forfeit"]["detail"]
    assert record["winners"] == [other for other in range(players) if other != seat]
    assert record["scores"] is None
    # The position that caused it, and the game up to there.
    (failed,) = record["arena"]["failures"]
    assert failed["turn"] == len(record["turns"]) == 2 * players - 1
    assert failed["position"] == ai.replay(record).to_json()
    assert failed["position"]["to_move"] == seat

    outcome = outcome_of(record, 0, tuple(record["arena"]["seating"]))
    assert outcome.forfeit == seat
    assert outcome.shares == tuple(0 if s == seat else 1 / (players - 1) for s in range(players))
    assert outcome.ranks == tuple(players if s == seat else players / 2 for s in range(players))
    assert outcome.margins is None


def are_gone(pids):
    """Return whether none of the processes is left; killed ones take a moment."""
    deadline = time.monotonic() + 60
    while any(map(is_alive, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.real("processes")
@pytest.mark.slow
@pytest.mark.parametrize("limit", ["time=0.1", "iterations=3"])
def test_a_program_that_hangs_is_ended_with_its_children(limit, tmp_path):
    tournament = make(program("hang", 0, tmp_path / "pids") + "," + limit, "random", patience_s=0.5)
    began = time.monotonic()
    record = game_of(tournament)
    assert time.monotonic() - began < 60
    assert record["forfeit"]["reason"] == "no answer in time"
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    assert are_gone(pids)


@pytest.mark.real("processes")
def test_a_program_that_cannot_be_started_forfeits():
    for spec in ("cmd:/no/such/program", "cmd:true", "cmd:cat"):
        record = game_of(make("random", spec))
        assert record["forfeit"]["seat"] == 1
        assert record["turns"] == []
        assert record["arena"]["failures"][0]["position"] == record["start"]


@pytest.mark.real("processes")
def test_a_program_that_does_not_greet_forfeits(monkeypatch):
    monkeypatch.setattr("mexica_ai.engines.process.HELLO_TIMEOUT_S", 0.3)
    tournament = make("random", program("mute"))
    record = game_of(tournament)
    assert record["forfeit"]["seat"] == 1
    assert record["forfeit"]["reason"] == "no answer in time"
    assert record["turns"] == []
    mentions = "did not answer the greeting within 0.3 s; no output at all: does it flush"
    with pytest.raises(SearchError, match=mentions) as caught:
        play.check_engines(tournament)
    assert caught.value.reason == "ENGINE_TIMEOUT"


@pytest.mark.real("processes")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "game", "reason"),
    [
        ("cmd:/no/such/program", "nim", "ENGINE_START"),
        ("cmd:true", "nim", "ENGINE_DIED"),
        ("cmd:echo hello", "nim", "ENGINE_PROTOCOL"),
        (program("ok"), "mexica", "UNKNOWN_GAME"),
        ("grpc:127.0.0.1:9", "nim", "UNAVAILABLE"),
    ],
)
def test_an_engine_that_can_never_play_is_found_before_the_first_game(spec, game, reason):
    with pytest.raises(SearchError) as caught:
        play.check_engines(make("random", spec, game=game))
    assert caught.value.reason == reason
    error = pickle.loads(pickle.dumps(caught.value))  # the check may be done by a worker
    assert (str(error), error.reason) == (str(caught.value), reason)


@pytest.mark.real("processes")
@pytest.mark.slow
def test_engines_that_can_play_pass_the_check(tmp_path):
    play.check_engines(make("mcts", "beam,width=3", "random", program("deaf", 0, tmp_path / "deaf")))
    assert are_gone((tmp_path / "deaf").read_text().split())


@pytest.mark.real("processes")
def test_a_failure_can_be_retried(tmp_path):
    def play(kind):
        return game_of(make(program(kind, 1, tmp_path / "mark") + ",time=5", "random", on_failure="retry"))

    record = play("once")
    assert record["termination"] == "finished"
    assert [failure["turn"] for failure in record["arena"]["failures"]] == [2]
    assert ai.replay(record).is_over
    record = play("crash")
    assert record["termination"] == "forfeit"
    assert len(record["arena"]["failures"]) == 3


@pytest.mark.real("processes")
def test_lateness_is_measured(tmp_path):
    record = game_of(make(program("slow", 1, 0.15) + ",time=0.05", "random,time=1", margin_s=10.0))
    late, other = record["arena"]["seats"]
    assert record["termination"] == "finished"
    assert 0.1 <= late["late_max_s"] < 5
    assert late["late_s"] >= late["late_max_s"]
    assert other["late_max_s"] == 0


@pytest.mark.real("processes")
def test_a_program_may_be_as_late_as_its_own_margin_says():
    slow = program("slow", 1, 0.4) + ",time=0.05"
    assert game_of(make(slow + ",margin=10", "random,time=1", margin_s=0.05))["termination"] == "finished"
    late = game_of(make(slow + ",margin=0.05", "random,time=1", margin_s=10.0))
    assert late["termination"] == "forfeit"


@pytest.mark.real("processes")
def test_a_clock_bounds_the_whole_game(tmp_path):
    tournament = make(program("clock", 1, tmp_path / "request"), "mcts", clock=(2.0, 0.5))
    record = game_of(tournament)
    assert record["termination"] == "finished"
    request = json.loads((tmp_path / "request").read_text())
    assert 2.0 < request["clock"]["remaining_s"] < 2.5
    assert request["clock"]["increment_s"] == 0.5
    assert 0.2 < request["limits"]["time_s"] < request["clock"]["remaining_s"] / 20 + 0.25

    late = game_of(make(program("slow", 2, 0.4), "random", clock=(0.3, 0.0), margin_s=0.05))
    assert late["forfeit"]["reason"] == "out of time"
    assert "the time left on its clock" in late["forfeit"]["detail"]
    forgiven = game_of(make(program("slow", 2, 0.4), "random", clock=(0.3, 0.0), margin_s=60.0))
    assert forgiven["termination"] == "finished"


# Worker processes


def sleep_with_child(path):
    from mexica_ai.engines import make_engine

    with make_engine(program("ok")) as engine:
        Path(path).write_text(f"{os.getpid()} {engine._process.pid}")
        time.sleep(1000)


@pytest.fixture
def pool():
    pool = GamePool()
    yield pool
    pool.shutdown()


@pytest.mark.real("processes")
@pytest.mark.slow
@pytest.mark.parametrize("play_or_die", [play_or_die, play_or_end])
def test_a_dead_worker_costs_one_game_which_is_played_again_in_isolation(pool, play_or_die):
    tournament = make("random,iterations=1", "mcts,iterations=20", seed=3)
    progress = run(tournament, 2, pool, concurrency=2, play=play_or_die)
    assert progress.ended_by == "finished"
    assert sorted(played(progress.records)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [r["arena"]["isolated"] for r in sorted(progress.records, key=lambda r: played([r]))] == [
        True, False, True, False,
    ]  # fmt: skip
    # Isolated or not, it is the same game.
    plain = run(tournament, 2, Here())
    assert {str(played([r])): r["turns"] for r in plain.records} == {
        str(played([r])): r["turns"] for r in progress.records
    }


@pytest.mark.real("processes")
@pytest.mark.slow
def test_what_hangs_in_native_code_costs_its_process(pool):
    progress = run(make(), 1, pool, play=hang_in_native_code)
    assert [record["arena"]["isolated"] for record in progress.records] == [True, True]
    assert [record["termination"] for record in progress.records] == ["finished", "finished"]


@pytest.mark.real("processes")
@pytest.mark.slow
def test_a_game_whose_workers_always_die_is_given_up(pool):
    progress = run(make(), 1, pool, play=die)
    assert progress.records == []
    assert [game.number for game, _ in progress.lost] == [0, 1]
    assert progress.ended_by == "finished"


@pytest.mark.real("processes")
@pytest.mark.slow
def test_shutting_down_ends_workers_and_their_programs(pool, tmp_path):
    pool.submit(sleep_with_child, str(tmp_path / "pids"))
    deadline = time.monotonic() + 60
    while not (tmp_path / "pids").exists() or len((tmp_path / "pids").read_text().split()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    pids = (tmp_path / "pids").read_text().split()
    pool.shutdown()
    assert are_gone(pids)


@pytest.fixture
def deaf_programs(pool, tmp_path):
    """Have the pool play a game of four programs that never end by themselves; give their numbers."""
    spec = program("deaf", 0, tmp_path / "deaf") + ",time=1000"
    tournament = make(spec, spec, players=4)
    pool.submit(play_game, Task(tournament, tournament.block(0)[0]))
    deadline = time.monotonic() + 60
    pids = []
    while len(pids) < 4:
        assert time.monotonic() < deadline
        time.sleep(0.05)
        if (tmp_path / "deaf").exists():
            pids = (tmp_path / "deaf").read_text().split()
    assert all(map(is_alive, pids))
    yield pids
    for pid in filter(is_alive, pids):
        os.kill(int(pid), signal.SIGKILL)


@pytest.mark.real("processes")
@pytest.mark.slow
def test_shutting_down_ends_programs_that_do_not_listen(pool, deaf_programs):
    pool.shutdown()
    assert are_gone(deaf_programs)


@pytest.mark.real("processes")
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the kernel of Linux for it")
def test_programs_that_do_not_listen_die_with_a_worker_that_is_killed(pool, deaf_programs):
    (worker,) = pool._all
    for pid in worker._processes:
        os.kill(pid, signal.SIGKILL)
    assert are_gone(deaf_programs)


# The journal


def write(path, tournament, blocks=2):
    with JournalWriter(str(path), tournament) as journal:
        return run(tournament, blocks, Here(), journal=journal)


def test_every_game_is_in_the_journal_once(tmp_path):
    path, tournament = tmp_path / "games.jsonl", make(players=3)
    progress = write(path, tournament)
    journal = read_journal(str(path))
    assert [record for _, record in journal.games] == progress.records
    assert not journal.is_torn
    assert journal.size == path.stat().st_size
    with JournalWriter(str(path), tournament, resume=True) as journal:
        assert run(tournament, 2, Here(), journal=journal).session_games == 0
        more = run(tournament, 3, Here(), journal=journal)
    assert (more.session_games, len(more.records)) == (6, 18)


@pytest.mark.parametrize("cut", ["a half", "the newline", "nothing but noise"])
def test_a_torn_last_line_is_played_again(cut, tmp_path):
    path, tournament = tmp_path / "games.jsonl", make("random,iterations=1", "greedy,iterations=1")
    whole = write(path, tournament)
    lines = path.read_bytes().splitlines(keepends=True)
    last = {"a half": lines[-1][:300], "the newline": lines[-1][:-1], "nothing but noise": b"\0" * 99 + b"\n"}
    path.write_bytes(b"".join(lines[:-1]) + last[cut])
    assert read_journal(str(path)).is_torn
    with JournalWriter(str(path), tournament, resume=True) as journal:
        assert journal.was_torn
        progress = run(tournament, 2, Here(), journal=journal)
    assert progress.session_games == 1
    assert [r["turns"] for r in progress.records] == [r["turns"] for r in whole.records]
    assert len(read_journal(str(path)).games) == 4


def test_a_journal_of_something_else_is_refused(tmp_path):
    path, tournament = tmp_path / "games.jsonl", make()
    write(path, tournament)
    before = path.read_bytes()
    with pytest.raises(NotationError, match="is not empty"):
        JournalWriter(str(path), tournament)
    for other, mentions in [
        (make(seed=8), "its seed is 7, expected 8"),
        (make(players=3), "its players is 2"),
        (make("random", "mcts"), 'its engines are \\["random,iterations=9", "greedy,iterations=9"\\]'),
        (make(clock=(1.0, 0.0)), "its clock is null"),
    ]:
        with pytest.raises(NotationError, match=mentions):
            JournalWriter(str(path), other, resume=True)
    with (
        JournalWriter(str(path), tournament, resume=True),
        pytest.raises(NotationError, match="in use by another process"),
    ):
        JournalWriter(str(path), tournament, resume=True)
    assert path.read_bytes() == before
    path.write_bytes(b"noise\n" + before)
    with pytest.raises(NotationError, match=r"games\.jsonl:1"):
        JournalWriter(str(path), tournament, resume=True)
    path.write_text(json.dumps({"game": "nim"}) + "\n" + before.decode())
    with pytest.raises(NotationError, match="missing"):
        read_journal(str(path))
    for path in (tmp_path, tmp_path / "none" / "x"):
        with pytest.raises(NotationError, match="cannot"):
            JournalWriter(str(path), tournament)


def foreign_lines():
    tournament = make()
    line = json.dumps(game_of(tournament))
    record = json.loads(line)
    newer = {**record, "version": 2}
    more = {**record, "arena": {**record["arena"], "weather": "fine"}}
    plain = {key: value for key, value in record.items() if key != "arena"}
    other = json.dumps(game_of(make(seed=8)), separators=(",", ":"))
    yield from ("remember the milk", "7", "[]", "{}", '{"game": "nim"}', '{"game": "chess", "ver')
    yield from (json.dumps(newer), json.dumps(more), json.dumps(plain), json.dumps(plain)[:200], other[:400])


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_file_that_is_no_journal_is_never_changed(end, tmp_path):
    path, tournament = tmp_path / "notes.txt", make()
    for line in foreign_lines():
        path.write_text(line + end)
        with pytest.raises(NotationError):
            JournalWriter(str(path), tournament, resume=True)
        assert path.read_text() == line + end
    path.write_text("remember the milk" + end)
    with pytest.raises(NotationError, match="is not the journal of a tournament"):
        read_journal(str(path))


def test_a_last_line_of_another_version_is_no_torn_line(tmp_path):
    path, tournament = tmp_path / "games.jsonl", make()
    write(path, tournament)
    last = path.read_text().splitlines()[-1]
    for end in ("", "\n"):
        for line in (last.replace('"version":1', '"version":2'), '{"a": 1}'):
            before = path.read_text()
            path.write_text(before + line + end)
            with pytest.raises(NotationError, match=":5"):
                JournalWriter(str(path), tournament, resume=True)
            assert path.read_text() == before + line + end
            path.write_text(before)


def test_a_torn_first_line_is_known_by_its_tournament(tmp_path):
    path, tournament = tmp_path / "games.jsonl", make()
    write(path, tournament)
    first = path.read_bytes().splitlines(keepends=True)[0]
    for torn in (first[:1], first[:100], first[:-9], first[:-1], first[:-9] + b"\n", bytes(500), b"\0\n"):
        path.write_bytes(torn)
        with JournalWriter(str(path), tournament, resume=True) as journal:
            assert journal.was_torn
        assert path.read_bytes() == b""
        assert read_journal(str(path)).games == []
    # Names, the order of keys in specs and zeros after a part of the line do not matter.
    other = dataclasses.replace(tournament, names=("x", "y"))
    for torn in (first[:400], first[:100] + bytes(300)):
        path.write_bytes(torn)
        with JournalWriter(str(path), other, resume=True) as journal:
            assert journal.was_torn
    # A setting that is whole and another one does: the line is that of another tournament, and is kept.
    for changes in ({"seed": 71}, {"margin_s": 0.4}, {"engines": ("random,iterations=9", "random,iterations=9")}):
        path.write_bytes(first[:600])
        with pytest.raises(NotationError, match="is not the journal of a tournament"):
            JournalWriter(str(path), dataclasses.replace(tournament, **changes), resume=True)
        assert path.read_bytes() == first[:600]


def test_the_same_engines_written_otherwise_are_resumed(tmp_path):
    path, tournament = tmp_path / "games.jsonl", make("mcts,iterations=5,time=1", "greedy")
    write(path, tournament)
    other = dataclasses.replace(
        tournament, engines=("mcts,time=1,iterations=5", tournament.engines[1]), names=("mcts,time=1", "x")
    )
    with JournalWriter(str(path), other, resume=True) as journal:
        assert run(other, 3, Here(), journal=journal).session_games == 2
    collected = collect(read_journal(str(path)).games)
    assert (collected.num_games, collected.num_repeated, collected.names) == (6, 0, ["e0", "e1"])
    for typed in ("mcts", "mcts,time=1", "mcts,time=1,iterations=5"):
        assert str(complete_spec(typed, 1, 5, False)) == "mcts,iterations=5,time=1"


# The main loop


def test_a_test_that_decides_ends_the_tournament():
    seen = []

    def is_decided(progress):
        seen.append(len(progress.records))
        return len(progress.records) >= 6

    progress = run(make(), 50, Here(), is_decided=is_decided)
    assert progress.ended_by == "decided"
    assert seen == [0, 2, 4, 6]


class InPairs(Here):
    """An executor whose calls end two at a time."""

    def __init__(self):
        self.open = []

    def submit(self, fn, /, *args, **kwargs):
        self.open.append((future := Future(), fn, args))
        if len(self.open) == 2:
            for waiting, call, values in self.open:
                waiting.set_result(call(*values))
            self.open = []
        return future


def test_games_that_have_ended_when_the_test_decides_are_kept(tmp_path):
    # Two blocks end at once; the first one decides.
    path, tournament = tmp_path / "games.jsonl", make()
    with JournalWriter(str(path), tournament) as journal:
        calls = []

        def is_decided(progress):
            calls.append(len(progress.records))
            return len(progress.records) >= 2

        progress = run(tournament, 50, InPairs(), concurrency=4, is_decided=is_decided, journal=journal)
    assert progress.ended_by == "decided"
    assert len(progress.records) == 4 == len(read_journal(str(path)).games)
    assert calls[0] == 0
    assert len(calls) == 2


def test_a_long_tournament_is_not_laid_out_beforehand():
    seen = []
    tournament = make()
    stop = ai.Stop()
    stop.set()
    games = tournament.games
    object.__setattr__(tournament, "games", lambda blocks: (seen.append(g) or g for g in games(blocks)))
    progress = run(tournament, 10**4, Here(), stop=stop)
    assert progress.num_games == 2 * 10**4
    assert len(seen) == 1


def test_a_stop_ends_the_tournament_with_what_there_is():
    stop = ai.Stop()
    progress = run(make(), 50, Here(), stop=stop, display=lambda p: stop.set() if len(p.records) == 5 else None)
    assert progress.ended_by == "stopped"
    assert len(progress.records) in (5, 6)


# Reports


def games_of(tournament, blocks):
    return [(tournament, record) for record in run(tournament, blocks, Here()).records]


def test_incomplete_blocks_are_not_counted():
    games = games_of(make("random,name=r", "mcts,iterations=50", seed=1), 3)
    found = evaluate(collect(games[:-1]))
    assert (found["games"], found["games_counted"], found["blocks"]) == (5, 4, 2)
    assert "1 game of incomplete blocks not counted" in format_report(found, "table")
    assert evaluate(collect(games[:1]))["blocks"] == 0
    assert "no block is complete" in format_report(evaluate(collect(games[:1])), "table")
    assert format_report(evaluate(collect([])), "table") == "no games\n"
    assert json.loads(format_report(evaluate(collect([])), "json"))["games"] == 0
    assert format_report(evaluate(collect([])), "csv") == ""


def test_journals_are_merged_by_spec():
    first = games_of(make("random", "greedy", seed=1), 2)
    second = games_of(make("mcts,iterations=5", "greedy", seed=2), 3)
    collected = collect([*first, *second, *first[1:3]])
    assert collected.names == ["e0", "e1", "mcts,iterations=5"]
    assert collected.num_repeated == 2
    assert collected.num_games == 10
    found = evaluate(collected)
    assert [engine["games"] for engine in found["engines"]] == [4, 10, 6]
    assert [engine["blocks"] for engine in found["engines"]] == [2, 5, 3]
    assert list(found["patterns"]) == ["AB", "BC"]
    assert all(engine["rating"][1] is not None for engine in found["engines"])
    with pytest.raises(NotationError, match="cannot be counted together"):
        collect([*first, *games_of(make(players=3), 1)])


def test_ranks_and_margins_are_those_of_the_scores():
    record = {"termination": "finished", "scores": [50, 70, 70, 10], "winners": [1, 2]}
    outcome = outcome_of(record, 4, (0, 1, 0, 1))
    assert outcome.pattern == "AABB"
    assert outcome.shares == (0, 0.5, 0.5, 0)
    assert outcome.ranks == (3, 1.5, 1.5, 4)
    assert outcome.margins == (-20, 0, 0, -60)


@pytest.mark.real("processes")
@pytest.mark.slow
def test_forfeits_count_in_the_block_and_stand_in_the_table():
    games = games_of(make(program("illegal") + ",time=5", "random", players=3), 1)
    found = evaluate(collect(games))
    first, second = found["engines"]
    assert (first["forfeits"], second["forfeits"]) == (6, 0)
    assert found["blocks"] == 1
    assert first["share"][0] == pytest.approx((0 + 3 / 2) / 9, abs=1e-5)  # AAB: the other A shares the win
    assert first["margin"] == [None, None, None]
    assert found["patterns"]["ABB"][1]["share"][0] == 0.5
    row = next(line for line in format_report(found, "table").splitlines() if line.startswith("e0"))
    assert "  6  " in row


class Watched:
    """Weak references need an object of a class."""


def end_during_a_callback():
    """A worker that is told to end while the interpreter tells a callback that an object is gone."""
    begin_worker()
    watched = Watched()
    kept = weakref.ref(watched, lambda _: signal.raise_signal(signal.SIGTERM))  # noqa: F841
    del watched
    time.sleep(60)


@pytest.mark.real("processes")
def test_a_worker_told_to_end_during_a_callback_ends_quietly(capfd):
    process = multiprocessing.get_context("spawn").Process(target=end_during_a_callback)
    process.start()
    process.join(30)
    assert process.exitcode == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_the_plot_is_drawn(tmp_path):
    from mexica_ai.arena import plot

    for name, engines in (("a.png", ("random", "greedy")), ("a.svg", ("random", "greedy", "mcts,iterations=3"))):
        collected = collect(games_of(make(*engines), 2))
        plot.draw(evaluate(collected), collected, str(tmp_path / name))
        assert (tmp_path / name).stat().st_size > 5000
    drawn = (tmp_path / "a.svg").read_text()
    for text in ("shares of the win by seat", "seat 0", "seat 1", "95 % interval"):
        assert text in drawn
    with pytest.raises(NotationError, match="expected a name that ends in one of"):
        plot.draw(evaluate(collected), collected, str(tmp_path / "a.txt"))


@pytest.mark.real("processes")  # matplotlib may ask a program for fonts
def test_the_same_figure_gives_the_same_picture_and_a_full_disk_leaves_that_of_before(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    from mexica_ai import plots

    figure, path, pictures = Figure(), tmp_path / "a.svg", set()
    figure.subplots().plot([1, 2])
    for date in ("0", "1000000000"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", date)  # what matplotlib takes as the date
        plots.save(figure, str(path))
        pictures.add(path.read_bytes())
    assert len(pictures) == 1

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match=r"^plot: cannot write .*: disk full"):
        plots.save(figure, str(path))
    assert pictures == {path.read_bytes()}


# Weights


@pytest.fixture
def two_sets(tmp_path):
    """Return two files of weights of Mexica: those that ship, and the hand-made estimate."""
    spec = registry.get("mexica").learning.weights
    paths = tmp_path / "usual.json", tmp_path / "by_hand.json"
    spec.save(paths[0], registry.get("mexica").weights())
    spec.save(paths[1], spec.estimate())
    return paths


def test_two_sets_of_weights_play_each_other(two_sets, tmp_path, cli, in_process):
    journal = tmp_path / "journal.jsonl"
    usual, by_hand = (registry.load_weights_file(path).version for path in two_sets)
    engines = [f"greedy,weights={two_sets[0]}", f"greedy,weights={two_sets[1]}"]
    command = ["--engine", engines[0], "--engine", engines[1], "--blocks", "1", "--journal", journal]
    assert cli(*command, "--format", "json") == 0
    assert [engine["weights"] for engine in json.loads(cli.out)["engines"]] == [usual, by_hand]
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [record["weights"] for record in records] == [[usual, by_hand], [by_hand, usual]]
    for record in records:
        assert replay(record).is_over
        # Played again with one engine per seat, the turns are the same.
        position = Position.from_json(record["start"])
        seats = [make_engine(spec) for spec in record["engines"]]
        for turn in record["turns"]:
            if not position.is_chance:
                assert seats[position.to_move].best_turn(position, seed=1).turn == turn
            position.push(turn)
    assert cli("report", journal) == 0
    assert f"weights of {engines[0]}: {usual}\n" in cli.out
    assert f"weights of {engines[1]}: {by_hand}\n" in cli.out


def test_a_journal_is_not_continued_with_other_weights(two_sets, tmp_path, cli, in_process):
    journal = tmp_path / "journal.jsonl"
    usual, by_hand = (registry.load_weights_file(path).version for path in two_sets)
    command = ["--engine", f"greedy,weights={two_sets[0]}", "--engine", "random", "--journal", journal]
    assert cli(*command, "--blocks", "1") == 0
    content = journal.read_bytes()
    two_sets[0].write_bytes(two_sets[1].read_bytes())
    assert cli(*command, "--blocks", "2", "--resume") == 2
    assert f"plays with weights {usual}, expected weights {by_hand}" in cli.err
    assert cli.err.count("\n") == 1
    assert journal.read_bytes() == content


def test_a_file_that_is_none_of_weights_is_refused_before_the_first_game(two_sets, tmp_path, cli):
    journal = tmp_path / "journal.jsonl"
    two_sets[1].write_bytes(two_sets[1].read_bytes()[:-500])
    command = ["--engine", "random", "--engine", f"greedy,weights={two_sets[1]}", "--journal", journal]
    assert cli(*command) == 2
    assert "by_hand.json: expected JSON: " in cli.err
    assert "; expected a file of weights of " in cli.err
    assert cli("--engine", "random", "--engine", f"mcts,weights={two_sets[0]}", "--game", "coatl") == 2
    assert "of mexica; expected weights of coatl" in cli.err
    assert not journal.exists()


def test_a_worker_with_another_file_plays_no_game(two_sets):
    engines = f"greedy,iterations=1,weights={two_sets[0]}", "random,iterations=1"
    tournament = Tournament("mexica", 2, engines, ("A", "B"), 1, weights=("0123456789ab", None))
    task = Task(tournament, tournament.block(0)[0])
    with pytest.raises(SearchError, match="expected weights 0123456789ab"):
        play_game(task)
    with pytest.raises(SearchError, match="expected weights 0123456789ab"):
        play_game(dataclasses.replace(task, isolated=True))  # in a program of its own, after a worker has died
    # So its games are given up, whatever is tried again; no seat forfeits them.
    progress = run(tournament, 1, Here())
    assert (progress.records, len(progress.lost)) == ([], 2)
    two_sets[0].unlink()
    with pytest.raises(NotationError, match="No such file"):
        play_game(task)
    progress = run(tournament, 1, Here())
    assert (progress.records, len(progress.lost)) == ([], 2)
