"""Games that ended by a forfeit cannot mislead, and a busy machine is called so."""

import csv
import dataclasses
import io
import json
import math
import time

import pytest
from here import Here
from rich.console import Console
from test_arena import NIM_ENGINE, make

from mexica_ai import NotationError
from mexica_ai.arena import forfeits
from mexica_ai.arena.display import Display
from mexica_ai.arena.journal import JournalWriter, read_journal
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.play import Task, play_game
from mexica_ai.arena.policy import Policy, without_forfeits
from mexica_ai.arena.report import collect, evaluate, format_report
from mexica_ai.arena.runner import Progress, run
from mexica_ai.arena.tournament import complete_spec, unique_names
from mexica_ai.engines.native import GreedyEngine

NIM = ["--game", "nim", "--engine", "greedy", "--engine", "random", "--iterations", "1"]


def forfeited(record, seat, reason="crash", late_s=(0.0, 0.0)):
    """Return a record whose game a seat has forfeited."""
    record = json.loads(json.dumps(record))
    record |= {"termination": "forfeit", "scores": None, "winners": [1 - seat]}
    record["forfeit"] = {"seat": seat, "reason": reason, "detail": "engine x: " + reason}
    record["arena"]["failures"] = [{**record["forfeit"], "turn": 0, "position": record["start"]}]
    for used, late in zip(record["arena"]["seats"], late_s, strict=True):
        used["late_max_s"] = late
    return record


@pytest.fixture(scope="module")
def match():
    """Return a tournament of 30 blocks and its records."""
    tournament = make("greedy", "random")
    return tournament, run(tournament, 30, Here()).records


def with_forfeits(match, blocks, engine=1):
    """Return the games of a match, in which an engine forfeits the first game of some blocks."""
    tournament, records = match
    games = []
    for record in records:
        arena = record["arena"]
        if arena["block"] in blocks and arena["number"] == 0:
            record = forfeited(record, arena["seating"].index(engine))
        games.append((tournament, record))
    return games


# What is done about them


def test_figures_that_rest_on_forfeits_are_marked(match):
    few = evaluate(collect(with_forfeits(match, range(3))))  # 3 of 60 games: 5 %
    assert [engine["caution"] for engine in few["engines"]] == [None, None]
    assert not few["rests_on_forfeits"]
    assert "rests on" not in format_report(few, "table")
    many = evaluate(collect(with_forfeits(match, range(4))))
    assert [engine["caution"] for engine in many["engines"]] == ["forfeits", "forfeits"]
    assert many["rests_on_forfeits"]
    table = format_report(many, "table")
    for name in ("e0", "e1"):
        cells = next(line for line in table.splitlines() if line.startswith(name))
        assert cells.count(" *") == 3  # share, Elo, P(better)
    assert "* rests on forfeits: they ended more than 5 % of the games of this engine" in table
    assert [row["caution"] for row in csv.DictReader(format_report(many, "csv").splitlines())] == ["forfeits"] * 2
    assert max(map(len, format_report(many, "table", 80).splitlines())) <= 80


def test_forfeited_games_are_set_apart(match):
    games = with_forfeits(match, range(10))
    first, second = evaluate(collect(games))["engines"]
    assert (first["played_out"], first["forfeits"], first["forfeits_of_others"]) == (50, 0, 10)
    assert (second["played_out"], second["forfeits"], second["forfeits_of_others"]) == (50, 10, 0)
    ended = [record for _, record in games if record["termination"] == "finished"]
    won = sum(record["arena"]["seating"][record["winners"][0]] == 0 for record in ended)
    assert (first["points_played_out"], first["seats_played_out"]) == (won, 50)
    whole = evaluate(collect(with_forfeits((match[0], match[1][20:]), ())))["engines"][0]
    assert first["share_played_out"] == whole["share"]
    assert first["share_played_out"] != first["share"]
    line = next(one for one in format_report(evaluate(collect(games)), "table").splitlines() if one.startswith("forf"))
    assert line.split("  ")[0] == "forfeits apart"


def test_blocks_with_a_forfeit_can_be_left_out(match):
    games, policy = with_forfeits(match, range(10)), Policy.parse("drop")
    found = evaluate(collect(games), policy=policy)
    without = evaluate(collect(with_forfeits((match[0], match[1][20:]), ())))
    assert [engine["share"] for engine in found["engines"]] == [engine["share"] for engine in without["engines"]]
    assert (found["blocks"], found["blocks_dropped"], found["games_dropped"]) == (20, 10, 20)
    assert not found["rests_on_forfeits"]
    table = format_report(found, "table")
    assert "40 games in 20 blocks; 20 games of blocks with a forfeit left out" in table
    assert "left out: 10 blocks with a forfeit (--forfeits drop)" in table
    none = evaluate(collect(with_forfeits(match, range(30))), policy=policy)
    assert "no block is without a forfeit: these are counts of games" in format_report(none, "table")


def test_with_many_seats_who_never_plays_is_not_strong():
    # Four seats, three engines; the second one forfeits all games but those of one block, which the first one wins.
    outcomes = []
    for block in range(12):
        for shift in range(4):
            engines = tuple((0, 1, 2, 2)[(seat + shift) % 4] for seat in range(4))
            loser = None if block == 0 else engines.index(1)
            winners = [seat for seat in range(4) if (engines[seat] == 0 if loser is None else seat != loser)]
            shares = tuple((seat in winners) / len(winners) for seat in range(4))
            ranks = tuple(1.0 if seat in winners else 3.0 for seat in range(4))
            outcomes.append(Outcome(block, "ABCC", engines, shares, ranks, None, loser))
    kept = without_forfeits(outcomes)
    assert {outcome.block for outcome in kept} == {0}
    figures = [forfeits.engine_forfeits(engine, outcomes, outcomes) for engine in range(3)]
    assert [each["caution"] for each in figures] == ["forfeits"] * 3
    assert [(each["points_played_out"], each["seats_played_out"]) for each in figures] == [(4, 4), (0, 4), (0, 8)]
    assert [each["forfeits_of_others"] for each in figures] == [44, 0, 44]


@pytest.mark.parametrize("text", ["", "keep", "stop", "stop=", "stop=5", "stop=0%", "stop=100%", "stop=x%", "drop=5%"])
def test_a_policy_that_is_none_is_refused(text, cli):
    with pytest.raises(ValueError, match="count, drop, or stop=N%"):
        Policy.parse(text)
    assert cli(*NIM, "--forfeits", text) == 2


def test_policies_are_written_as_they_are_read():
    for text in ("count", "drop", "stop=10%", "stop=2.5%"):
        assert str(Policy.parse(text)) == text


def test_a_tournament_ends_when_too_many_games_are_forfeited(cli, in_process, tmp_path, monkeypatch):
    def play(task):
        record = play_game(task)
        return forfeited(record, 0) if task.game.block % 2 == 0 and task.game.number == 0 else record

    monkeypatch.setattr("mexica_ai.arena.runner.run", lambda *args, **how: run(*args, **{**how, "play": play}))
    journal = tmp_path / "games.jsonl"
    assert cli(*NIM, "--blocks", 30, "--forfeits", "stop=20%", "--journal", journal) == 5
    assert "ended after 20 of 60 games: 5 of them forfeited, more than --forfeits stop=20% allows" in cli.err
    assert len(read_journal(str(journal)).games) == 20
    assert cli("report", journal) == 5
    assert cli("report", journal, "--forfeits", "drop") == 0
    assert cli(*NIM, "--blocks", 30, "--forfeits", "stop=30%", "--journal", journal, "--resume") == 5  # rests on them
    assert len(read_journal(str(journal)).games) == 60
    # A test that decides on them, and one that is spared them.
    test = ["--sprt", "share:0.1,0.2,0.05,0.05"]
    assert cli(*NIM, "--blocks", 30, *test) == 5
    assert "SPRT: H1 accepted" in cli.out
    assert "it rests on forfeits" in " ".join(cli.out.split())
    assert cli(*NIM, "--blocks", 60, *test, "--forfeits", "drop") == 0
    assert "it rests on forfeits" not in " ".join(cli.out.split())
    pytest.importorskip("matplotlib")
    assert cli("report", journal, "--plot", tmp_path / "plot.svg") == 5
    assert (tmp_path / "plot.svg").stat().st_size > 1000


# A busy machine


def test_lateness_of_all_engines_is_that_of_the_machine(match):
    tournament = dataclasses.replace(match[0], engines=("mcts,time=1", "cmd:x,time=1"))
    late = forfeited(match[1][0], 1, "no answer in time", (0.7, 3.0))
    assert forfeits.others_late_s(tournament, late, 1) == 0.7
    found = collect([(tournament, late)])
    (failure,) = [failure for failure in found.first_failures if failure]
    assert failure["others_late_s"] == 0.7
    text = "the other engines of this game were late by 0.70 s or more, too: the machine is busy"
    assert text in format_report(evaluate(found), "table")
    report = evaluate(found)
    assert "warning: busy machine: 1 game was lost on time" in format_report(report, "table")
    # Not if the other one was on time, has no limit, or if the engine crashed.
    for engines, reason, late_s in (
        (tournament.engines, "no answer in time", (0.01, 3.0)),
        (("random", "cmd:x,time=1"), "no answer in time", (0.0, 3.0)),
        (tournament.engines, "crash", (0.7, 3.0)),
    ):
        other = dataclasses.replace(tournament, engines=engines)
        record = forfeited(match[1][0], 1, reason, late_s)
        assert "the machine is busy" not in format_report(evaluate(collect([(other, record)])), "table")


@pytest.mark.real("time")
def test_an_engine_that_had_no_processor_is_not_blamed(monkeypatch):
    tournament = dataclasses.replace(make("greedy", "random", margin_s=0.0), engines=("greedy,time=0.01", "random"))

    def best_turn(self, position, limits, **how):
        work(0.05)
        return usual(self, position, limits, **how)

    usual = GreedyEngine.best_turn
    monkeypatch.setattr(GreedyEngine, "best_turn", best_turn)
    text = "it had a processor for only"
    work = time.sleep
    assert text in play_game(Task(tournament, tournament.block(0)[0]))["forfeit"]["detail"]
    work = busy_for
    monkeypatch.setattr("mexica_ai.arena.play.STARVED", 0.05)  # other processes may take this one's time
    detail = play_game(Task(tournament, tournament.block(0)[0]))["forfeit"]["detail"]
    assert "answered after" in detail
    assert text not in detail


def busy_for(seconds):
    """Use a processor for so long."""
    began = time.process_time()
    while time.process_time() - began < seconds:
        pass


# Engines that answer at once


def test_engines_that_answer_at_once_have_no_time_but_their_own():
    for kind in ("greedy", "random", "planner"):
        assert str(complete_spec(kind, None, None, False)) == kind
        assert str(complete_spec(kind, 2, None, False)) == kind
        assert str(complete_spec(f"{kind},time=3", 2, None, False)) == f"{kind},time=3"  # as asked
    assert str(complete_spec("beam", None, None, False)) == "beam,time=1"
    tournament = dataclasses.replace(make("greedy", "random"), engines=("greedy", "random"))
    records = run(tournament, 1, Here()).records
    assert [record["termination"] for record in records] == ["finished"] * 2
    assert [used["late_max_s"] for record in records for used in record["arena"]["seats"]] == [0.0] * 4


def test_a_journal_that_gave_them_a_time_is_resumed(tmp_path):
    path = str(tmp_path / "games.jsonl")
    old = dataclasses.replace(make("greedy", "random"), engines=("greedy,time=1", "random,time=1"))
    new = dataclasses.replace(old, engines=("greedy", "random"))
    with JournalWriter(path, old) as journal:
        run(old, 1, Here(), journal=journal)
    with JournalWriter(path, new, resume=True) as journal:
        assert journal.tournament == old
        assert run(new, 2, Here(), journal=journal).session_games == 2
    other = dataclasses.replace(old, engines=("greedy,time=2", "random"))
    with pytest.raises(NotationError, match="its engines are"):
        JournalWriter(path, other, resume=True)
    # They are the same engines in a report, too.
    both = collect([*read_journal(path).games, *((new, record) for record in run(new, 1, Here()).records)])
    assert len(both.names) == 2
    assert math.isclose(sum(usage["points"] for usage in both.usage), both.num_games)


# Names


def test_two_engines_of_one_name_are_refused(cli):
    assert cli("--game", "nim", "--engine", "mcts,name=a", "--engine", "uct,name=a") == 2
    assert 'two engines are called "a"; expected a name of its own for each' in cli.err
    assert cli("--game", "nim", "--engine", "mcts,name=random", "--engine", "random") == 2
    typed = ["mcts", "mcts"]
    completed = [complete_spec(text, 1, None, False) for text in typed]
    assert unique_names(typed, completed) == ["mcts,time=1 (1)", "mcts,time=1 (2)"]


@pytest.mark.real("processes")
def test_the_first_failure_is_told_with_the_lateness_of_the_others(cli):
    args = ["--game", "nim", "--engine", f'cmd:"{" ".join(NIM_ENGINE)} illegal",name=b', "--engine", "random"]
    assert cli(*args, "--time", 5, "--blocks", 1) == 5
    assert "first failure of b" in cli.err
    assert "the machine is busy" not in cli.err


def test_the_live_table_marks_them(match):
    def shown(blocks):
        screen = io.StringIO()
        console = Console(file=screen, force_terminal=True, color_system=None, width=200)
        games = with_forfeits(match, blocks)
        progress = Progress(match[0], len(games), records=[record for _, record in games], ended_by="finished")
        with Display(console) as display:
            display.show(progress)
        return screen.getvalue()

    assert f"]{forfeits.MARK}" in shown(range(10))
    assert forfeits.MARK not in shown(())


def test_the_live_table_counts_games_of_blocks_that_are_left_out(match):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, color_system=None, width=200)
    games = with_forfeits(match, range(10))[:19]  # no block is without a forfeit
    progress = Progress(match[0], len(games), records=[record for _, record in games], ended_by="finished")
    with Display(console, policy=Policy("drop")) as display:
        display.show(progress)
    found = evaluate(collect(games), policy=Policy("drop"))
    for engine in found["engines"]:
        row = next(line for line in screen.getvalue().splitlines() if line.startswith(f"{engine['name']} "))
        points = f"{engine['points']:.3g} of {engine['games']}"
        assert row.split()[1:6] == [str(engine["games"]), *points.split(), "*"]
        assert row.split()[-1] == str(engine["forfeits"])
