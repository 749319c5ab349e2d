"""Openings, adjudication, Swiss tournaments and the log of `mexica-ai arena`, each with resuming."""

import contextlib
import itertools
import json
import math
import sys
from collections import Counter
from pathlib import Path

import pytest
from test_arena import Here, make, program

import mexica_ai as ai
from mexica_ai import NotationError, Position, PositionError, new_game
from mexica_ai.arena.adjudication import Adjudicator
from mexica_ai.arena.journal import read_journal
from mexica_ai.arena.openings import read_openings
from mexica_ai.arena.play import Task, play_game, seen_by
from mexica_ai.arena.report import collect, evaluate, outcome_of
from mexica_ai.arena.runner import run
from mexica_ai.arena.searches import comments_of
from mexica_ai.arena.swiss import pair
from mexica_ai.arena.tournament import Tournament
from mexica_ai.cli import common
from mexica_ai.game.move_text import format_result
from mexica_ai.game.records import parse_record, position_at

NIM = ["--game", "nim", "--engine", "greedy", "--engine", "random", "--iterations", "1"]
FIVE = [*NIM, "--engine", "greedy,name=third", "--engine", "random,name=fourth", "--engine", "greedy,name=fifth"]
OPENINGS = """\
nim/1 3,5,7 2,0,1,1

{"game": "nim", "version": 1, "players": 2, "piles": [1, 2], "to_move": 1, "plies_left": 1, "plies_per_turn": 1}
"""


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Play in this process: a worker takes half a second to start."""

    @contextlib.contextmanager
    def executor(cluster, concurrency):
        yield Here(), 1

    monkeypatch.setattr(common, "executor", executor)


def records(path):
    return [record for _, record in read_journal(str(path)).games]


# Openings


def test_each_opening_is_played_on_all_seatings(cli, tmp_path):
    file, journal = tmp_path / "openings.txt", tmp_path / "games.jsonl"
    file.write_text(OPENINGS)
    args = [*NIM, "--openings", file, "--journal", journal, "--resume"]
    assert cli(*args) == 0
    assert cli.err == ""
    starts = [(r["start"]["piles"], r["start"]["to_move"], r["arena"]["seating"]) for r in records(journal)]
    assert sorted(starts) == [([1, 2], 1, [0, 1]), ([1, 2], 1, [1, 0]), ([3, 5, 7], 0, [0, 1]), ([3, 5, 7], 0, [1, 0])]
    assert all(ai.replay(record).is_over for record in records(journal))
    # More blocks use them again; other openings, or none, are another tournament.
    assert cli(*args, "--blocks", 3) == 0
    assert "3 blocks with 2 openings: each is used more than once" in cli.err
    assert records(journal)[-1]["start"] == records(journal)[0]["start"]
    file.write_text(OPENINGS.replace("3,5,7", "3,5,6"))
    assert cli(*args) == 2
    assert 'another tournament: its openings is "2 positions, ' in cli.err
    assert cli(*NIM, "--journal", journal, "--resume") == 2
    assert "its openings is" in cli.err
    assert "expected null" in cli.err


def test_line_ups_share_the_openings(tmp_path):
    tournament = make("random", "greedy", "mcts,iterations=3", openings="x")
    openings = [Position.from_compact(text).to_compact() for text in ("nim/1 3,5,7 2,0,1,1", "nim/1 4,4 2,0,1,1")]
    found = {}
    for record in run(tournament, 6, Here(), openings=openings).records:
        engines = tuple(sorted(record["arena"]["seating"]))
        found.setdefault(engines, []).append(tuple(record["start"]["piles"]))
    assert found == {engines: [(3, 5, 7)] * 2 + [(4, 4)] * 2 for engines in ((0, 1), (0, 2), (1, 2))}


def test_records_are_cut_at_a_turn(tmp_path):
    path = Path(__file__).parents[2] / "examples" / "coatl_game.jsonl"
    record = json.loads(path.read_text().splitlines()[0])
    players = record["start"]["players"]
    for turns in (0, 5):
        (opening,) = read_openings(str(path), "coatl", players, turns)
        position = Position.from_compact(opening)
        assert position == position_at(record, turns)
        tournament = make("random", "greedy", game="coatl", players=players, openings="x")
        played = play_game(Task(tournament, tournament.block(0)[0], opening=opening))
        assert played["start"] == position.to_json()
        assert ai.replay(played).is_over
    with pytest.raises(NotationError, match=r"jsonl:1: given a record; expected --opening-turns"):
        read_openings(str(path), "coatl", players)
    with pytest.raises(NotationError, match=r"jsonl:1\.turns: given turn 999; expected 0 to "):
        read_openings(str(path), "coatl", players, 999)


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("", "has no line; expected positions or records"),
        ("nim/1 3,5,7 3,0,1,1\n", ":1: given a position of nim with 3 seats; expected nim with 2"),
        ("nim/1 3,5,7 2,0,1,1\nnim/1 0,0 2,0,1,1\n", ":2: given a game that is over"),
        ("what?\n", ":1: expected JSON"),
        ('{"game": "nim"}\n', ":1"),
    ],
)
def test_what_is_no_opening_is_refused_by_its_line(text, mentions, cli, tmp_path):
    file = tmp_path / "openings.txt"
    file.write_text(text)
    assert cli(*NIM, "--openings", file) == 2
    assert f"{file}{mentions}" in cli.err or f"{file}: {mentions}" in cli.err
    assert len(cli.err.splitlines()) == 1
    assert cli(*NIM, "--openings", tmp_path / "none") == 2
    assert cli(*NIM, "--opening-turns", 3) == 2
    assert "--opening-turns needs --openings" in cli.err


def test_a_view_is_no_opening(tmp_path):
    path = tmp_path / "view.json"
    path.write_text(json.dumps(new_game("coatl", players=2, seed=3).view(0).to_json(), indent=1))
    with pytest.raises(NotationError, match=r"view\.json:1: given the view of seat 0; expected a full position"):
        read_openings(str(path), "coatl", 2)


# Adjudication


class Forecasts:
    """The adjudicator of a game of nim, fed with forecasts."""

    def __init__(self, **options):
        self.position = new_game("nim", players=options.pop("players", 2), seed=1)
        self.tournament = make(players=self.position.players, **options)
        self.judge = Adjudicator(self.tournament, self.tournament.block(0)[0], seen_by)

    def feed(self, *forecasts):
        for seat, forecast in enumerate(forecasts):
            self.judge.add(self.position, seat, forecast)
        return self.judge.decide(self.position)


def test_a_game_is_given_up_when_all_forecasts_agree_for_long_enough():
    game = Forecasts(resign=(0.05, 2))
    assert game.feed([0.97, 0.03], [0.96, 0.04]) is None
    assert game.feed([0.97, 0.03], [0.9, 0.1]) is None  # seat 1 still hopes
    assert game.feed([0.97, 0.03], [0.95, 0.05]) is None  # the last two of seat 1 are not both
    decision = game.feed([0.97, 0.03], [0.99, 0.01])
    assert (decision.rule, decision.by, decision.winners) == ("resign", "engines", [0])
    assert decision.forecast == pytest.approx([0.97, 0.03])
    # Each sees itself winning.
    assert Forecasts(resign=(0.05, 1)).feed([0.99, 0.01], [0.01, 0.99]) is None
    assert Forecasts(resign=(0.05, 1), players=3).feed(*[[0.02, 0.02, 0.96]] * 3).winners == [2]


def test_without_a_forecast_the_default_engine_decides():
    game = Forecasts(max_turns=1)
    decision = game.feed([])
    assert (decision.rule, decision.by) == ("max_turns", "default engine")
    assert sum(decision.forecast) == pytest.approx(1)
    # What it finds is so again: the seed is the tournament's.
    again = Forecasts(max_turns=1).feed([0.5, 0.6])  # no forecast either: more than one win
    assert again == decision
    game = Forecasts(resign=(0.1, 1))
    game.position = Position.from_compact("nim/1 1 2,0,1,1")  # the last object wins
    assert game.feed([], []).by == "default engine"


def test_after_the_last_turn_the_forecasts_decide_if_they_agree():
    game = Forecasts(max_turns=4)
    assert game.feed([0.6, 0.4], [0.7, 0.3]) is None
    decision = game.feed([0.3, 0.7], [0.45, 0.55])
    assert (decision.rule, decision.by, decision.winners) == ("max_turns", "engines", [1])
    assert Forecasts(max_turns=2).feed([0.6, 0.4], [0.3, 0.7]).by == "default engine"
    tied = Forecasts(max_turns=3, players=3).feed(*[[0.45, 0.45, 0.1]] * 3)
    assert (tied.by, tied.winners) == ("engines", [0, 1])


def test_equal_shares_are_no_forecast(cli, tmp_path):
    # Nim has no evaluation, so the baselines know nothing of who wins.
    openings, journal = tmp_path / "openings.txt", tmp_path / "games.jsonl"
    openings.write_text("nim/1 30,1 2,0,1,1\n")
    args = [*NIM, "--engine", "beam", "--openings", openings, "--journal", journal]
    assert cli(*args, "--max-turns", 2, "--seed", 1, "--reproducible") == 0
    decided = [record for record in records(journal) if record["termination"] == "adjudicated"]
    assert decided
    for record in decided:
        assert record["adjudication"]["by"] == "default engine"
        assert len(set(record["adjudication"]["forecast"])) == 2
        assert len(record["winners"]) == 1


def test_the_default_engine_is_asked_only_when_the_game_may_end(monkeypatch):
    asked = []

    def judge(self, position, number):
        asked.append(number)
        return [0.9, 0.1]

    monkeypatch.setattr(Adjudicator, "_judge", judge)
    game = Forecasts(max_turns=6)
    assert game.feed([], []) is None
    assert game.feed([], [0.8, 0.2]) is None
    assert asked == []
    decision = game.feed([], [0.8, 0.2])
    assert (decision.by, decision.winners, decision.forecast) == ("engines", [0], pytest.approx([0.85, 0.15]))
    assert asked == [5]
    # Each turn is judged once.
    asked.clear()
    game = Forecasts(resign=(0.05, 2))
    for _ in range(4):
        assert game.feed([], []) is None
    assert sorted(asked) == list(range(1, 9))


def test_an_adjudicated_game_is_a_record_that_counts(cli, tmp_path):
    journal = tmp_path / "games.jsonl"
    args = [*NIM, "--blocks", 2, "--journal", journal, "--resume"]
    assert cli(*args, "--max-turns", 1, "--resign", "0.05,2", "--format", "json") == 0
    found = json.loads(cli.out)
    assert (found["games"], found["adjudicated"]) == (4, 4)
    assert sum(engine["share"][0] for engine in found["engines"]) == pytest.approx(1)
    for record in records(journal):
        assert record["termination"] == "adjudicated"
        assert record["adjudication"]["rule"] == "max_turns"
        assert len(record["turns"]) == 1
        assert not ai.replay(record).is_over
        outcome = outcome_of(record, 0, (0, 1))
        assert sum(outcome.shares) == pytest.approx(1)
        assert sum(outcome.ranks) == 3
        for broken in ({"winners": []}, {"winners": [2]}, {"scores": [1, 0]}):
            with pytest.raises(PositionError):
                ai.replay(record | broken)
        with pytest.raises(NotationError, match="adjudication"):
            ai.replay({key: value for key, value in record.items() if key != "adjudication"})
    assert cli("report", journal) == 0
    assert "; 4 games adjudicated" in cli.out
    # They belong to the tournament.
    for options, mentions in (
        ([], "its resign is [0.05, 2], expected null"),
        (["--resign", "0.05,2"], "its max_turns is 1, expected null"),
        (["--resign", "0.05", "--max-turns", 1], "its resign is [0.05, 2], expected [0.05, 3]"),
    ):
        assert cli(*args, *options) == 2
        assert mentions in cli.err
    assert cli(*args, "--max-turns", 1, "--resign", "0.05,2", "--blocks", 3) == 0
    for bad in ("0.5", "0", "x", "0.1,0", "0.1,"):
        assert cli(*args, "--resign", bad) == 2
        assert "a share above 0 and below 0.5" in cli.err


def test_a_lost_game_is_cut_short():
    tournament = make("mcts,iterations=60", "mcts,iterations=50", resign=(0.1, 1))
    found = [play_game(Task(tournament, game)) for game in tournament.games(4)]
    resigned = [record for record in found if record["termination"] == "adjudicated"]
    assert resigned
    assert all(record["adjudication"]["by"] == "engines" for record in resigned)
    assert evaluate(collect((tournament, record) for record in found))["games_counted"] == 8


# Swiss tournaments


def test_a_round_pairs_equals_that_have_not_met():
    def won(*pairs):
        return [outcome_of({"termination": "finished", "scores": [1, 0], "winners": [0]}, 0, each) for each in pairs]

    first = pair([], [], 6, 2, 1)
    assert first == [(0, 1), (2, 3), (4, 5)]
    second = pair(won(*first), [first], 6, 2, 1)
    assert second == [(0, 2), (1, 4), (3, 5)]
    # No rematch, though 0 and 2 are alone at the top.
    third = pair(won(*first, (0, 2), (4, 1), (5, 3)), [first, second], 6, 2, 1)
    assert not set(third) & {*first, *second}
    assert sorted(itertools.chain(*third)) == list(range(6))


@pytest.mark.parametrize(("engines", "seats", "rounds"), [(5, 2, 5), (8, 2, 7), (7, 3, 4), (9, 4, 5)])
def test_all_play_and_nobody_pauses_twice_before_all_have(engines, seats, rounds):
    so_far, outcomes = [], []
    for _ in range(rounds):
        tables = pair(outcomes, so_far, engines, seats, 1)
        assert len(tables) == engines // seats
        playing = list(itertools.chain(*tables))
        assert len(set(playing)) == len(playing) == seats * len(tables)
        so_far.append(tables)
        for table in tables:
            scores = [-engine for engine in table]
            record = {"termination": "finished", "scores": scores, "winners": [0]}
            outcomes.append(outcome_of(record, 0, table))
    byes = Counter(engine for tables in so_far for engine in range(engines) if engine not in itertools.chain(*tables))
    pauses = [byes[engine] for engine in range(engines)]
    assert max(pauses) - min(pauses) <= 1
    if seats == 2:  # as many rounds as there are opponents, or byes: everybody meets everybody
        assert len({table for tables in so_far for table in tables}) == math.comb(engines, 2)


def test_a_swiss_tournament_is_resumed_with_the_same_pairings(cli, tmp_path):
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    args = [*FIVE, "--tournament", "swiss", "--blocks", 1, "--reproducible", "--format", "json", "--resume"]
    assert cli(*args, "--rounds", 3, "--journal", whole) == 0
    found = json.loads(cli.out)
    assert (found["games"], found["blocks"]) == (12, 6)
    games = [(r["arena"]["block"], r["arena"]["number"], r["arena"]["seating"], r["turns"]) for r in records(whole)]
    lines = whole.read_text().splitlines(keepends=True)
    for kept in (1, 6):
        cut.write_text("".join(lines[:kept]) + lines[kept][:70])
        assert cli(*args, "--rounds", 3, "--journal", cut) == 0
        assert games == [
            (r["arena"]["block"], r["arena"]["number"], r["arena"]["seating"], r["turns"]) for r in records(cut)
        ]
    # More rounds extend it; another number of blocks would have paired otherwise.
    assert cli(*args, "--rounds", 4, "--journal", cut) == 0
    assert json.loads(cli.out)["games"] == 16
    args[args.index("--blocks") + 1] = 2
    assert cli(*args, "--rounds", 4, "--journal", cut) == 2
    assert "its round_blocks is 1, expected 2" in cli.err


def test_a_swiss_tournament_plays_each_opening_at_each_table(cli, tmp_path):
    file, journal = tmp_path / "openings.txt", tmp_path / "games.jsonl"
    file.write_text(OPENINGS)
    args = [*FIVE, "--tournament", "swiss", "--rounds", 1, "--openings", file]
    assert cli(*args, "--journal", journal) == 0
    assert cli.err == ""
    starts = Counter((tuple(r["start"]["piles"]), *sorted(r["arena"]["seating"])) for r in records(journal))
    assert starts == {(piles, *table): 2 for piles in ((3, 5, 7), (1, 2)) for table in ((0, 1), (2, 3))}
    assert cli(*args, "--blocks", 3) == 0
    assert "3 blocks with 2 openings: each is used more than once" in cli.err


def test_a_swiss_tournament_needs_more_engines_than_seats(cli):
    assert cli(*NIM, "--tournament", "swiss") == 2
    assert "--tournament swiss: 2 engines for 2 seats; expected more engines than seats" in cli.err
    assert cli(*NIM, "--rounds", 3) == 2
    assert "--rounds is for --tournament swiss" in cli.err
    data = make("random", "greedy", "mcts", format="swiss", round_blocks=1).to_json()
    assert Tournament.from_json(data).num_tables == 1
    for broken in ({"round_blocks": 0}, {"format": "gauntlet"}, {"players": 3}, {"resign": [0.5, 1]}, {"max_turns": 0}):
        with pytest.raises(NotationError, match=r"\$\.(round_blocks|format|resign|max_turns): given"):
            Tournament.from_json(data | broken)


def test_after_a_lost_game_there_is_no_further_round():
    tournament = make(*["random"] * 4, format="swiss", round_blocks=1)

    def play(task):
        if task.game.block == 1:
            raise RuntimeError("the worker died")
        return play_game(task)

    progress = run(tournament, 4, Here(), play=play)
    assert [game.block for game, _ in progress.lost] == [1, 1]
    assert {record["arena"]["block"] for record in progress.records} == {0}
    assert progress.ended_by == "finished"


# Configuration files


def test_a_file_has_the_options_and_the_command_line_overrides_them(cli, tmp_path):
    config, journal = tmp_path / "match.toml", tmp_path / "games.jsonl"
    config.write_text(
        """
        game = "nim"
        engine = ["greedy", {spec = "mcts", iterations = 20, name = "tree, small"}]
        iterations = 3e0
        blocks = 2
        max-turns = 60
        resign = "0.01,2"
        reproducible = true
        seed = 5
        """
    )
    assert cli("--config", config, "--journal", journal, "--format", "json") == 0
    found = json.loads(cli.out)
    assert [engine["name"] for engine in found["engines"]] == ["greedy", "tree, small"]
    assert found["engines"][1]["spec"] == 'mcts,iterations=20,name="tree, small"'
    assert found["blocks"] == 2
    tournament = read_journal(str(journal)).games[0][0]
    assert (tournament.seed, tournament.max_turns, tournament.resign) == (5, 60, (0.01, 2))
    # It is the same tournament as with these options.
    options = ["--game", "nim", "--engine", "greedy", "--engine", 'mcts,iterations=20,name="tree, small"']
    options += ["--iterations", 3, "--max-turns", 60, "--resign", "0.01,2", "--reproducible", "--seed", 5]
    assert cli(*options, "--blocks", 3, "--journal", journal, "--resume", "--format", "json") == 0
    assert json.loads(cli.out)["blocks"] == 3
    # The command line comes first, though it gives a default: all engines of the file are replaced.
    assert cli("--seed", 1, "--config", config, "--engine", "random", "--engine", "greedy", "--format", "json") == 0
    specs = [engine["spec"] for engine in json.loads(cli.out)["engines"]]
    assert specs == ["random,iterations=3", "greedy,iterations=3"]
    assert cli("--seed", 1, "--config", config, "--journal", journal, "--resume") == 2
    assert "its seed is 5, expected 1" in cli.err


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("blokcs = 3", "blokcs: unknown; expected one of adjust, affinity, "),
        ("blocks = 0", "blocks: '0' is not a whole number from 1"),
        ("blocks = [1]", "blocks: given"),
        ("blocks = true", "blocks: given true; expected text or a number"),
        ("time = 'soon'", "time: 'soon' is not a number of seconds"),
        ("game = 'go'", 'game: no game "go"; expected one of coatl, '),
        ("reproducible = 1", "reproducible: given 1; expected true or false"),
        ("engine = 'mcts'", 'engine: given "mcts"; expected a list'),
        ("engine = ['mcts', 3]", "engine: [1]: given 3; expected a spec"),
        ("engine = [{spec = 'mcts', tiem = 3}]", "engine: [0].tiem: engine spec"),
        ("engine = [{spec = 'mcts,time=1', time = 3}]", "engine: [0].time: given in the spec, too"),
        ("engine = [{spec = 'mtcs'}]", "engine: engine spec 'mtcs': unknown kind"),
        ("max_turns = 1\nmax-turns = 2", "max-turns: given twice"),
        ("config = 'x'", "config: unknown"),
        ("blocks =", ": expected TOML: "),
    ],
)
def test_an_error_in_a_file_names_the_key(cli, tmp_path, text, mentions):
    config = tmp_path / "match.toml"
    config.write_text(text)
    assert cli(*NIM, "--config", config) == 2
    assert f"{config}: {mentions}" in cli.err or f"{config}{mentions}" in cli.err
    assert len(cli.err.splitlines()) == 1


def test_a_file_that_is_not_there(cli, tmp_path):
    assert cli("--config", tmp_path / "none.toml") == 2
    assert "cannot read" in cli.err


# Games as text


def test_every_game_is_a_text_that_people_can_read(cli, tmp_path):
    journal, texts = tmp_path / "games.jsonl", tmp_path / "new" / "texts"
    args = [*NIM, "--journal", journal, "--resume", "--text", texts]
    assert cli(*args, "--blocks", 1) == 0
    assert cli(*args, "--blocks", 2) == 0
    names = [f"block-{block:05}-game-{number:02}.txt" for block in (0, 1) for number in (0, 1)]
    assert sorted(path.name for path in texts.iterdir()) == names
    record = records(journal)[1]
    text = (texts / names[1]).read_text()
    assert '[Round "0.1"]\n[Name0 "random"]\n' in text
    assert f'[Result "{format_result(record["winners"], 2)}"]' in text
    for number, (turn, comment) in enumerate(zip(record["turns"], comments_of(record), strict=True), 1):
        assert f"{number}. seat {(number - 1) % 2}: {turn[0]} {{{comment}}}\n" in text
    boards = [line.removeprefix("%").strip() for line in text.splitlines() if line.startswith("%")]
    for position in (Position.from_json(record["start"]), ai.replay(record)):
        assert all(line.strip() in boards for line in str(position).splitlines())
    # The text is read back, as all commands read it.
    read = parse_record(text)
    assert [read[key] for key in ("turns", "scores", "engines")] == [
        record[key] for key in ("turns", "scores", "engines")
    ]
    assert ai.replay(text) == ai.replay(record)
    # Of journals, too; two tournaments do not write the same files.
    other = tmp_path / "other.jsonl"
    assert cli(*NIM, "--blocks", 1, "--max-turns", 1, "--journal", other) == 0
    assert cli("report", journal, other, "--text", tmp_path / "both") == 0
    both = sorted(path.name for path in (tmp_path / "both").iterdir())
    assert both == sorted([f"tournament-1-{name}" for name in names] + [f"tournament-2-{name}" for name in names[:2]])
    text = (tmp_path / "both" / f"tournament-2-{names[0]}").read_text()
    assert '[AdjudicationRule "max_turns"]' in text
    assert parse_record(text)["adjudication"] == records(other)[0]["adjudication"]
    assert cli(*NIM, "--text", journal) == 2
    assert f"--text: cannot make the folder {journal}" in cli.err


def test_a_text_that_cannot_be_written_names_the_option(cli, tmp_path):
    journal, texts = tmp_path / "games.jsonl", tmp_path / "texts"
    (texts / "block-00000-game-00.txt").mkdir(parents=True)
    assert cli(*NIM, "--blocks", 1, "--journal", journal, "--text", texts) == 1
    assert f"--text: cannot write {texts / 'block-00000-game-00.txt'}: Is a directory" in cli.err
    assert records(journal)


def test_the_text_of_a_record_without_its_optional_keys(cli, tmp_path):
    journal, texts = tmp_path / "games.jsonl", tmp_path / "texts"
    assert cli(*NIM, "--blocks", 1, "--journal", journal) == 0
    found = records(journal)
    lines = {}
    for missing in (("started_at",), ("build",), ("started_at", "build")):
        left = [{key: value for key, value in record.items() if key not in missing} for record in found]
        journal.write_text("".join(json.dumps(record) + "\n" for record in left))
        assert cli("report", journal, "--text", texts) == 0
        lines[missing] = (texts / "block-00000-game-00.txt").read_text().splitlines()[3:5]
    assert lines["started_at",][0] == f'[Build "{found[0]["build"]}"]'
    assert lines["build",][0] == f'[Date "{found[0]["started_at"]}"]'
    assert [line.split()[0] for line in lines["started_at", "build"]] == ["[Event", "[Round"]


@pytest.mark.real("processes")
def test_the_text_of_a_forfeit_says_why(cli, tmp_path):
    assert cli("--game", "nim", "--engine", program("illegal"), "--engine", "greedy", "--blocks", 1,
               "--text", tmp_path / "texts") == 5  # fmt: skip
    text = (tmp_path / "texts" / "block-00000-game-00.txt").read_text()
    assert '[ForfeitSeat "0"]\n[ForfeitReason "illegal turn"]\n[ForfeitDetail "engine ' in text


# The log


@pytest.mark.real("processes")
def test_the_log_has_all_that_a_program_was_told_and_said(cli, tmp_path):
    log = tmp_path / "log.txt"
    failing = program("illegal", 1) + ",name=prog"
    assert cli("--game", "nim", "--engine", failing, "--engine", "greedy", "--blocks", 1, "--log", log) == 5
    lines = [line.split(" ", 1) for line in log.read_text().splitlines()]
    assert [time for time, _ in lines] == sorted(time for time, _ in lines)
    assert lines[0][1].startswith("check (prog) # started as process ")
    where = "block 0 game 0 seat 0 (prog) "
    game = [line.removeprefix(where) for _, line in lines if line.startswith(where)]
    assert [line[0] for line in game] == ["#", ">", "<", ">", "<", ">", "<", "#", "#", "#"]
    assert game[1:3] == ['> {"hello": 1}', '< {"hello": 1, "name": "nim", "games": ["nim"]}']
    assert json.loads(game[3][2:])["id"] == 1
    assert game[7].startswith("# ILLEGAL_TURN: plays the turn 'take 60 1'")
    assert game[8:] == ["# end of input", "# ended with exit status 0"]
    assert cli(*NIM, "--log", tmp_path / "no" / "log.txt") == 2
    assert "cannot write the log" in cli.err


@pytest.mark.real("processes")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
def test_a_log_that_cannot_be_written_costs_no_game(cli):
    engines = ["--engine", program("ok"), "--engine", "greedy"]
    assert cli("--game", "nim", *engines, "--blocks", 1, "--log", "/dev/full", "--format", "json") == 0
    assert json.loads(cli.out)["forfeits"] == 0
    note = "mexica-ai: --log: cannot write /dev/full: No space left on device; the games go on without it"
    assert cli.err.splitlines().count(note) == 1
    assert "forfeited" not in cli.err


@pytest.mark.real("processes")
def test_the_log_has_what_a_program_wrote_without_ending_the_line(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("mexica_ai.engines.process.HELLO_TIMEOUT_S", 0.6)
    script, log = tmp_path / "half.py", tmp_path / "log.txt"
    script.write_text("import sys, time\nsys.stderr.write('hm\\n'); print('{', end='', flush=True); time.sleep(60)")
    spec = f"cmd:{sys.executable} {script},name=half"
    assert cli("--game", "nim", "--engine", spec, "--engine", "greedy", "--log", log) == 1
    assert "did not answer the greeting within 0.6 s; it has sent 1 bytes without a newline" in cli.err
    signs = {line.split("(half) ")[1] for line in log.read_text().splitlines()}
    assert {"< {", "! hm", "# did not end by itself and was killed"} <= signs
