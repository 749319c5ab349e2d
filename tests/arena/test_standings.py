"""Rounds, standings and crosstables: Swiss and knockout tournaments, gauntlets of several, openings in random order."""

import csv
import itertools
import json
import random
from collections import Counter

import pytest
from here import Here
from test_arena import make

from mexica_ai import NotationError
from mexica_ai.arena import knockout
from mexica_ai.arena.journal import read_journal
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.report import collect, evaluate, format_report, outcome_of
from mexica_ai.arena.rounds import rounds_begun
from mexica_ai.arena.runner import run
from mexica_ai.arena.standings import crosstable, standings
from mexica_ai.arena.standings_text import standings_fragment, standings_page, standings_table
from mexica_ai.arena.tournament import Tournament

FIVE = ["--game", "nim", "--iterations", "1"]
for _name, _kind in zip("abcde", ("greedy", "random", "greedy", "random", "greedy"), strict=True):
    FIVE += ["--engine", f"{_kind},name={_name}"]
OPENINGS = "".join(f"nim/1 3,5,{size} 2,0,1,1\n" for size in range(1, 8))


def game(block, engines, shares, margins=None):
    ranks = tuple(1 + sum(other > own for other in shares) + (shares.count(own) - 1) / 2 for own in shares)
    return Outcome(block, "AB", engines, shares, ranks, margins)


def match(block, one, other, points):
    """Return the two games of a block in which the first engine gets so many points."""
    first = min(points, 1.0)
    second = points - first
    return [
        game(block, (one, other), (first, 1 - first)),
        game(block, (other, one), (1 - second, second)),
    ]


def swiss(num_engines, players=2):
    return make(*["random"] * num_engines, players=players, format="swiss", round_blocks=1)


# Standings


def test_standings_of_a_swiss_tournament_by_hand():
    # Five engines, three rounds; a match has two games. The pairings are those that `swiss.pair` makes.
    tournament, outcomes = swiss(5), []
    results = [{(0, 1): 1.5, (2, 3): 2.0}, {(0, 2): 0.5, (1, 4): 1.0}, {(2, 4): 1.0, (0, 3): 2.0}]
    for number, results_of_round in enumerate(results):
        for table, (pair, points) in enumerate(results_of_round.items()):
            outcomes += match(2 * number + table, *pair, points)
    found = standings(tournament, outcomes)
    assert [[tuple(table["engines"]) for table in each["tables"]] for each in found["rounds"]] == [
        sorted(each, key=list(each).index) for each in results
    ]
    assert [each["byes"] for each in found["rounds"]] == [[4], [3], [1]]
    engines = {engine["name"]: engine for engine in found["engines"]}
    points = {name: engine["points"] for name, engine in engines.items()}
    # e1 has 0.5 + 1 and a bye of 2; e3 0 + 0 and one; e4 1 + 1 and one.
    assert points == {"e0": 4.0, "e1": 3.5, "e2": 4.5, "e3": 2.0, "e4": 4.0}
    # Opponents' points; a bye counts as an opponent with as many points as one's own.
    assert engines["e0"]["buchholz"] == points["e1"] + points["e2"] + points["e3"]
    assert engines["e0"]["buchholz_cut1"] == points["e1"] + points["e2"]
    assert engines["e4"]["buchholz"] == points["e4"] + points["e1"] + points["e2"]
    # Results against them, times their points.
    assert engines["e0"]["sonneborn_berger"] == 0.75 * points["e1"] + 0.25 * points["e2"] + points["e3"]
    assert engines["e3"]["sonneborn_berger"] == points["e3"]
    # e4 is before e0 by the points of its opponents.
    assert [(engine["place"], engine["name"]) for engine in found["engines"]] == [
        (1, "e2"), (2, "e4"), (3, "e0"), (4, "e1"), (5, "e3"),
    ]  # fmt: skip
    assert json.loads(json.dumps(found)) == found


def test_more_seats_count_the_rest_of_a_table_as_one_opponent():
    tournament = swiss(4, players=3)
    outcomes = [
        game(0, seating, tuple(1.0 if engine == 0 else 0.0 for engine in seating))
        for seating in itertools.permutations((0, 1, 2))
    ]
    found = standings(tournament, outcomes)
    engines = {engine["engine"]: engine for engine in found["engines"]}
    assert {number: engine["points"] for number, engine in engines.items()} == {0: 6.0, 1: 0.0, 2: 0.0, 3: 6.0}
    assert engines[1]["buchholz"] == (6 + 0) / 2
    assert engines[0]["sonneborn_berger"] == 0.0
    assert engines[3]["sonneborn_berger"] == 6.0
    assert [engine["place"] for engine in found["engines"]] == [1, 2, 3, 3]
    # The others of a game won by one share the other places.
    assert found["crosstable"]["points"][0] == [0, 6, 6, 0]
    assert found["crosstable"]["points"][1] == [0, 0, 3, 0]
    assert found["crosstable"]["games"][1] == [6, 0, 6, 0]


def test_a_crosstable_has_all_points_twice():
    records = run(make(*["random", "greedy", "random"]), 6, Here()).records
    outcomes = [outcome_of(record, 0, tuple(record["arena"]["seating"])) for record in records]
    found = crosstable(outcomes, 3)
    for one, other in itertools.combinations(range(3), 2):
        assert found["points"][one][other] + found["points"][other][one] == found["games"][one][other]
        assert found["games"][one][other] == found["games"][other][one] == 4
    assert [sum(row) for row in found["points"]] == [
        sum(share for o in outcomes for e, share in zip(o.engines, o.shares, strict=True) if e == engine)
        for engine in range(3)
    ]


def test_a_round_that_has_not_ended_is_shown_as_it_is():
    tournament = swiss(4)
    assert standings(tournament, [])["rounds"] == []
    assert standings_table(standings(tournament, [])) == ["Swiss tournament: no round has begun"]
    (each,) = standings(tournament, match(0, 0, 1, 2.0)[:1])["rounds"]
    assert [(table["games"], table["is_complete"]) for table in each["tables"]] == [(1, False), (0, False)]
    lines = standings_table(standings(tournament, match(0, 0, 1, 2.0)[:1]))
    assert "round 1: e0 (1) - e1 (0), not complete; e2 - e3, not played" in lines


def test_standings_on_the_command_line(cli, in_process, tmp_path):
    journal, table, page = (tmp_path / name for name in ("games.jsonl", "table.csv", "page.html"))
    args = [*FIVE, "--tournament", "swiss", "--rounds", 2, "--blocks", 1, "--reproducible", "--journal", journal]
    assert cli(*args, "--standings", table) == 0
    lines = cli.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "Swiss tournament: standings after round 2" in lines
    assert any(line.startswith("round 1: ") and "bye: " in line for line in lines)
    assert any(line.startswith("crosstable  1") for line in lines)
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert rows[0]["place"] == "1"
    assert sorted(row["name"] for row in rows) == list("abcde")
    assert cli("report", journal, "--format", "csv") == 0
    found = {row["name"]: row for row in csv.DictReader(cli.out.splitlines())}
    assert {name: row["buchholz"] for name, row in found.items()} == {row["name"]: row["buchholz"] for row in rows}
    assert cli("report", journal, "--format", "json", "--standings", page) == 0
    report = json.loads(cli.out)
    assert report["standings"][0]["engines"][0]["name"] == rows[0]["name"]
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "<script" not in text
    assert "Sonneborn-Berger" in text
    # A round robin has points and a crosstable, no rounds.
    assert cli(*FIVE, "--blocks", 1, "--standings", page) == 0
    assert any(line.startswith("crosstable  1") for line in cli.out.splitlines())
    assert "Round robin" in page.read_text()
    assert "Rounds" not in page.read_text()
    (tmp_path / "folder.html").mkdir()
    for bad, why in (
        ("x.txt", "ends in .csv or .html"),
        (tmp_path / "no" / "x.csv", "there is no folder"),
        (tmp_path / "folder.html", "it is a folder"),
    ):
        assert cli(*FIVE, "--standings", bad) == 2
        assert why in cli.err
    other = tmp_path / "other.jsonl"
    assert cli(*FIVE, "--blocks", 1, "--seed", 2, "--journal", other) == 0
    assert cli("report", journal, other, "--standings", table) == 2
    assert "given games of 2 tournaments; expected those of one" in cli.err


def test_names_cannot_leave_their_cells():
    tournament = swiss(4)
    names = ("<script>alert(1)</script>", "b\x1b[2J", '"', "d")
    tournament = Tournament.from_json({**tournament.to_json(), "names": list(names)})
    found = standings(tournament, [*match(0, 0, 1, 2.0), *match(1, 2, 3, 1.0)])
    for text in (standings_fragment(found), standings_page(found, "nim")):
        assert "<script" not in text
        assert "\x1b" not in text


# Knockout


@pytest.mark.parametrize(
    ("engines", "players"), [(2, 2), (3, 2), (6, 2), (8, 2), (13, 2), (3, 3), (7, 3), (7, 4), (13, 4)]
)
def test_a_knockout_leaves_one_engine(engines, players):
    rng = random.Random(engines)
    sizes, winners, out = knockout.round_sizes(engines, players), [], set()
    assert sizes[-1] == 1
    assert sum(sizes) * (players - 1) == engines - 1
    for size in sizes:
        tables = knockout.tables_of(winners, engines, players)
        seated = [engine for table in tables for engine in table]
        assert len(tables) == size
        assert len(seated) == len(set(seated)) == size * players
        assert not out & set(seated)
        winners.append([rng.choice(table) for table in tables])
        out |= set(seated) - set(winners[-1])
    assert len(out) == engines - 1


def test_seeds_meet_as_late_as_they_can():
    # If the better seed always wins, the best two meet at the end, the best four in the round before it.
    for engines in (8, 11, 16):
        winners = []
        for size in knockout.round_sizes(engines, 2):
            tables = knockout.tables_of(winners, engines, 2)
            if len(winners):
                assert [min(table) for table in tables] == list(range(size))
            winners.append([min(table) for table in tables])
        assert tables == [(0, 1)]
    assert knockout.tables_of([], 6, 2) == [(2, 5), (3, 4)]  # the first two have byes
    assert knockout.can_be_played(5, 3)
    assert not knockout.can_be_played(6, 3)
    assert not knockout.can_be_played(3, 4)


def test_points_then_margins_then_the_order_decide():
    assert knockout.winner_of((1, 4), match(0, 1, 4, 0.5)) == 4
    drawn = match(0, 1, 4, 1.0)
    assert knockout.winner_of((1, 4), drawn) == 1
    ahead = [game(0, (1, 4), (1.0, 0.0), (2.0, -2.0)), game(0, (4, 1), (1.0, 0.0), (5.0, -5.0))]
    assert knockout.winner_of((1, 4), ahead) == 4
    assert knockout.winner_of((1, 4), [ahead[0], match(0, 1, 4, 1.0)[1]]) == 1


def test_a_knockout_is_resumed_with_the_same_bracket(cli, in_process, tmp_path):
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    args = [*FIVE, "--tournament", "knockout", "--blocks", 2, "--reproducible", "--format", "json", "--resume"]
    assert cli(*args, "--journal", whole) == 0
    found = json.loads(cli.out)["standings"][0]
    assert [len(each["tables"]) for each in found["rounds"]] == [1, 2, 1]
    assert found["rounds"][0]["byes"] == [0, 1, 2]
    assert [engine["place"] for engine in found["engines"]] == [1, 2, 3, 3, 5]
    assert found["rounds"][2]["tables"][0]["winner"] == found["engines"][0]["engine"]
    lines = whole.read_text().splitlines(keepends=True)
    assert len(lines) == 4 * 2 * 2
    for keep in (1, 5, 11):
        cut.write_text("".join(lines[:keep]) + lines[keep][:300])
        assert cli(*args, "--journal", cut) == 0
        assert json.loads(cli.out)["standings"][0] == found
    ((tournament, _), *_) = games = read_journal(str(whole)).games
    outcomes = [outcome_of(record, record["arena"]["block"], tuple(record["arena"]["seating"])) for _, record in games]
    assert len(rounds_begun(tournament, outcomes)) == 3
    text = format_report(evaluate(collect(games)), "table")
    assert "Knockout: standings after round 3" in text
    assert " wins" in text
    # There is no block after the last one.
    record = json.loads(lines[-1])
    record["arena"]["block"] = 8
    cut.write_text(json.dumps(record) + "\n")
    with pytest.raises(NotationError, match="expected that of game"):
        read_journal(str(cut))


def test_a_knockout_needs_full_tables(cli):
    assert cli(*FIVE, "--tournament", "knockout", "--players", 4) == 2
    assert "--tournament knockout: 5 engines for 4 seats; expected 4, 7, 10 or so on" in cli.err
    data = make(*["random"] * 4, format="knockout", round_blocks=1).to_json()
    assert len(Tournament.from_json(data).blocks) == 3
    for broken in ({"players": 3}, {"round_blocks": 0}, {"gauntlet": 1}, {"opening_order": "random"}):
        with pytest.raises(NotationError, match=r"\$\.(format|round_blocks|gauntlet|opening_order): given"):
            Tournament.from_json({**data, **broken})


# Gauntlets


def test_a_gauntlet_of_several():
    tournament = make(*["random"] * 5, format="gauntlet", gauntlet=2)
    assert tournament.lineups == ((0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4))
    three = make(*["random"] * 5, players=3, format="gauntlet", gauntlet=2).lineups
    assert three == tuple((first, *rest) for first in (0, 1) for rest in itertools.combinations((2, 3, 4), 2))
    assert (
        make(*["random"] * 4, format="gauntlet", gauntlet=1).lineups == make(*["random"] * 4, format="gauntlet").lineups
    )
    assert Tournament.from_json(tournament.to_json()) == tournament
    assert "gauntlet" not in make(*["random"] * 3, format="gauntlet").to_json()


def test_a_gauntlet_needs_others(cli):
    assert cli(*FIVE, "--tournament", "gauntlet", "--gauntlet", 5) == 2
    assert "--gauntlet: given 5 of 5 engines against the others, of which a game of 2 seats needs 1" in cli.err
    assert cli(*FIVE, "--tournament", "gauntlet", "--gauntlet", 3, "--players", 4) == 2
    assert cli(*FIVE, "--gauntlet", 2) == 2
    assert "--gauntlet is for --tournament gauntlet" in cli.err


# Openings


def test_openings_in_random_order_are_all_used_before_any_is_used_again(cli, in_process, tmp_path):
    file, journal = tmp_path / "openings.txt", tmp_path / "games.jsonl"
    file.write_text(OPENINGS)
    args = [*FIVE[:8], "--openings", file, "--opening-order", "random", "--blocks", 21, "--journal", journal]
    assert cli(*args, "--reproducible") == 0
    piles = [tuple(record["start"]["piles"]) for _, record in read_journal(str(journal)).games][::2]
    times = [piles[index : index + 7] for index in (0, 7, 14)]
    assert all(len(set(each)) == 7 for each in times)
    assert len({tuple(each) for each in times}) == 3
    assert sorted(times[0]) != times[0]
    # The same order again; another one is another tournament; and it needs openings.
    ((tournament, _), *_) = read_journal(str(journal)).games
    assert [tournament.opening(block, 7) for block in range(7)] == [pile[2] - 1 for pile in times[0]]
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:5]))
    assert cli(*args, "--reproducible", "--resume") == 0
    again = [tuple(record["start"]["piles"]) for _, record in read_journal(str(journal)).games][::2]
    assert Counter(again) == Counter(piles)
    assert cli(*FIVE[:8], "--openings", file, "--blocks", 21, "--journal", journal, "--reproducible", "--resume") == 2
    assert 'another tournament: its opening_order is "random", expected null' in cli.err
    assert cli(*FIVE, "--opening-order", "random") == 2
    assert "--opening-order needs --openings" in cli.err
