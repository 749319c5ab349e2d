"""`mexica-ai arena ladder`: which engines are the same, who is connected, ratings, and what is written."""

import csv
import dataclasses
import io
import itertools
import json
import re
import runpy
from pathlib import Path

import fake_journals
import numpy as np
import pytest
from scipy.optimize import minimize

from mexica_ai import __version__
from mexica_ai.arena import ladder, ladder_report
from mexica_ai.arena.ladder import Gathered, League, gather, rate
from mexica_ai.arena.ladder_entries import Entry, Identity, release_of
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.report import collect
from mexica_ai.io.errors import NotationError

NEW, OLD = "mexica-ai 0.2.0, code aaaaaaaaaaaa", "mexica-ai 0.1.0, code bbbbbbbbbbbb"
ROOT = Path(__file__).parents[2]


def tree(of, **details):
    """Return records of a tournament in which the first engine wins three of four games."""
    return fake_journals.records(of, 4, lambda game: int(game.block == 0 and game.number == 0), **details)


def match(*engines, seed=1, **settings):
    return fake_journals.tournament(*(engines or ("mcts,iterations=9", "random,time=1")), seed=seed, **settings)


def labels(gathered):
    return [{entry.label for entry in league.entries} for league in gathered.leagues]


# Engines


def test_each_build_has_an_entry_and_what_no_build_changes_is_one(tmp_path):
    fake_journals.write(tmp_path / "new.jsonl", tree(match(), build=NEW))
    fake_journals.write(tmp_path / "deep" / "old.jsonl", tree(match(seed=2), build=OLD))
    found = gather([str(tmp_path)])
    assert labels(found) == [{"mcts,iterations=9 [0.2.0]", "mcts,iterations=9 [0.1.0]", "random"}]
    assert len(ladder.groups_of(found.leagues[0])) == 1
    by_release = gather([str(tmp_path)], by_release=True)
    assert labels(by_release) == labels(found)


def test_two_builds_of_a_version_are_told_apart_by_their_code_unless_the_version_alone_matters(tmp_path):
    other = OLD.replace("b" * 12, "c" * 12)
    fake_journals.write(tmp_path / "1.jsonl", tree(match(), build=OLD))
    fake_journals.write(tmp_path / "2.jsonl", tree(match(seed=2), build=other))
    assert labels(gather([str(tmp_path)])) == [{f"mcts,iterations=9 [0.1.0 {code * 12}]" for code in "bc"} | {"random"}]
    found = gather([str(tmp_path)], by_release=True)
    assert labels(found) == [{"mcts,iterations=9 [0.1.0]", "random"}]
    text = ladder_report.format_list(rate(found), "table", 80)
    assert "several builds counted as one: mcts,iterations=9 [0.1.0]" in text
    assert labels(gather([str(tmp_path)], same=["mcts,iterations=9"])) == [{"mcts,iterations=9", "random"}]
    with pytest.raises(NotationError, match='--same: "uct" is the name or spec of no engine'):
        gather([str(tmp_path)], same=["uct"])


@pytest.mark.parametrize(
    ("one", "other", "are_same"),
    [
        ("mcts,iterations=9,name=a", "mcts,iterations=9,name=b", True),
        ("mcts,iterations=9", "mcts,iterations=10", False),
        ("mcts,threads=2,iterations=9", "mcts,iterations=9,threads=2", True),
        ("greedy,time=1", "greedy,iterations=5", True),
        ("random,time=1", "random", True),
        ("uct,time=1", "uct,time=2", False),
        ("cmd:./engine,name=a,time=1", "cmd:./engine,name=b,time=1", False),
        ("cmd:./engine,name=a,time=1", "cmd:./engine,time=1,name=a", True),
        ("cmd:./engine,time=1", "cmd:./engine,time=2", False),
        ("newer:thing", "newer:thing", True),
        ("newer:thing", "newer:other", False),
    ],
)
def test_what_makes_an_engine(tmp_path, one, other, are_same):
    names = [re.search("name=([ab])", text)[1] if "name=" in text else text for text in (one, other)]
    for number, (spec, name) in enumerate(zip((one, other), names, strict=True)):
        of = match(spec, "beam,time=1", names=[name, "beam"], seed=number + 1)
        fake_journals.write(tmp_path / f"{number}.jsonl", tree(of))
    assert len(labels(gather([str(tmp_path)]))[0]) == (2 if are_same else 3)


def test_weights_and_clocks_make_engines(tmp_path):
    spec = "mcts,weights=w.json,iterations=9"
    settings = [{"weights": ("a" * 12, None)}, {"weights": ("b" * 12, None)}]
    settings.append({"weights": ("a" * 12, None), "clock": (60.0, 1.0)})
    for number, setting in enumerate(settings):
        fake_journals.write(
            tmp_path / f"{number}.jsonl", tree(match(spec, "random,time=1", seed=number + 1, **setting))
        )
    found = gather([str(tmp_path)])
    assert len(labels(found)[0]) == len(found.leagues[0].entries) == 4
    assert all("weights=w.json" not in entry.identity.spec for entry in found.leagues[0].entries)


def test_labels_are_short_and_never_the_same():
    entries = [
        Entry(Identity(spec, weights, clock, build, ""), given={name})
        for spec, weights, clock, build, name in itertools.product(
            ("mcts,time=1", "mcts,time=2"), (None, "a" * 12), (None, (60.0, 1.0)), (NEW, OLD, ""), ("x", "y")
        )
    ]
    ladder.set_labels(entries)
    assert len({entry.label for entry in entries}) == len(entries)
    single = Entry(Identity("mcts,time=1", None, None, NEW, ""), given={"x"})
    ladder.set_labels([single])
    assert single.label == "x [0.2.0]"


def test_builds():
    assert release_of(NEW) == ("0.2.0", "a" * 12)
    assert release_of("") == ("unknown", "")
    assert release_of("mine") == ("mine", "")


# Files and games


def test_files_that_are_no_journals_are_named_and_skipped(tmp_path):
    fake_journals.write(tmp_path / "a.jsonl", tree(match()), torn='{"game":"nim","ver')
    (tmp_path / "b.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "c.jsonl").write_bytes(b"\0\xff" * 99)
    (tmp_path / "notes.txt").write_text("not looked at")
    broken = fake_journals.write(tmp_path / "d.jsonl", tree(match(seed=2)))
    broken.write_text(broken.read_text().replace('"block": 1', '"block": "1"', 1))
    found = gather([str(tmp_path)])
    assert [Path(each["path"]).name for each in found.journals] == ["a.jsonl"]
    assert found.journals[0]["is_torn"]
    assert [Path(each["path"]).name for each in found.skipped] == ["b.jsonl", "c.jsonl", "d.jsonl"]
    assert all(each["problem"] for each in found.skipped)
    assert found.leagues[0].num_games == 8
    with pytest.raises(NotationError):  # named itself
        gather([str(tmp_path), str(tmp_path / "b.jsonl")])
    (tmp_path / "a.jsonl").unlink()
    with pytest.raises(NotationError, match=r"no journal of the arena: .*b\.jsonl"):
        gather([str(tmp_path)])
    for path in (tmp_path / "none", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(NotationError, match=r"no such file or folder|no \*\.jsonl"):
            gather([str(path)])


def test_games_count_once_and_only_in_whole_blocks(tmp_path):
    games = tree(match())
    fake_journals.write(tmp_path / "a.jsonl", games[:5])
    fake_journals.write(tmp_path / "b.jsonl", games[3:7])  # the rest of block 2 is in another file
    (league,) = gather([str(tmp_path)]).leagues
    assert (league.num_games, league.num_repeated, league.num_incomplete) == (7, 2, 1)
    assert len(league.outcomes) == 6


def test_games_of_two_builds_are_not_the_same_though_their_tournament_is(tmp_path):
    """With --reproducible only the build tells the games of two releases apart."""
    fake_journals.write(tmp_path / "old.jsonl", tree(match(), build=OLD))
    fake_journals.write(tmp_path / "new.jsonl", tree(match(), build=NEW))
    fake_journals.write(tmp_path / "copy.jsonl", tree(match(), build=NEW))
    (league,) = gather([str(tmp_path)]).leagues
    assert (league.num_games, league.num_repeated, league.num_incomplete) == (16, 8, 0)
    assert {entry.label for entry in league.entries} == {
        "mcts,iterations=9 [0.2.0]",
        "mcts,iterations=9 [0.1.0]",
        "random",
    }
    of = match()
    with pytest.raises(NotationError, match=r"there twice, played by .* and by .*; expected journals of one build"):
        collect((of, record) for build in (NEW, OLD) for record in tree(of, build=build))


def test_blocks_with_a_forfeit_are_left_out_unless_they_count(tmp_path):
    of = match()
    games = tree(of)
    game = of.block(1)[0]
    games[2] = fake_journals.record(of, game, [], forfeit=game.seating.index(0))
    fake_journals.write(tmp_path / "a.jsonl", games)
    (league,) = gather([str(tmp_path)]).leagues
    assert (league.num_forfeits, league.num_dropped, len(league.outcomes)) == (1, 2, 6)
    (counted,) = gather([str(tmp_path)], drops_forfeits=False).leagues
    assert (counted.num_forfeits, counted.num_dropped, len(counted.outcomes)) == (1, 0, 8)
    found = rate(gather([str(tmp_path)]))
    marks = {engine["engine"]: engine["many_forfeits"] for engine in found["lists"][0]["groups"][0]["engines"]}
    assert marks == {"mcts,iterations=9 [0.1.0]": True, "random": False}
    assert "! more than 5 % of its games" in ladder_report.format_list(found, "table", 80)


def test_games_of_an_engine_against_itself_count_in_no_figure_of_it(tmp_path):
    fake_journals.write(tmp_path / "a.jsonl", fake_journals.records(match(), 4, lambda game: 0))
    itself = match("mcts,iterations=9,name=one", "mcts,iterations=9,name=two", seed=2)
    fake_journals.write(tmp_path / "b.jsonl", tree(itself))
    alone = match("uct,iterations=1,name=one", "uct,iterations=1,name=two", seed=3)
    fake_journals.write(tmp_path / "c.jsonl", tree(alone))
    (found,) = rate(gather([str(tmp_path)]))["lists"]
    (group,) = found["groups"]
    assert [(each["spec"], each["games"], each["games_counted"], each["share"]) for each in group["engines"]] == [
        ("mcts,iterations=9", 16, 8, 1.0),
        ("random", 8, 8, 0.0),
    ]
    (unrated,) = found["unrated"]
    assert (unrated["games"], unrated["games_counted"], unrated["share"]) == (8, 0, None)


def test_titles_and_seats_have_lists_of_their_own_and_more_engines_than_letters_are_rated(tmp_path):
    for number in range(30):
        of = match(f"mcts,iterations={number + 1}", "random,time=1", seed=number + 1)
        fake_journals.write(tmp_path / f"{number}.jsonl", tree(of))
    four = match(players=4, seed=99)
    fake_journals.write(tmp_path / "four.jsonl", fake_journals.records(four, 2, lambda game: 0))
    found = rate(gather([str(tmp_path)]))
    assert [(each["game"], each["players"]) for each in found["lists"]] == [("nim", 2), ("nim", 4)]
    assert len(found["lists"][0]["groups"][0]["engines"]) == 31


# Ratings


def league_of(games, num_engines, players=2):
    """Return a league of games: (block, engines, ranks)."""
    outcomes = []
    for block, engines, ranks in games:
        shares = tuple(float(rank == 1) for rank in ranks)
        outcomes.append(Outcome(block, "", tuple(engines), shares, tuple(map(float, ranks)), None))
    entries = [
        Entry(Identity(f"mcts,iterations={n + 1}", None, None, NEW, ""), label=str(n)) for n in range(num_engines)
    ]
    league = League("nim", players, entries, outcomes, num_games=len(outcomes))
    for outcome in outcomes:
        for engine in set(outcome.engines):
            entries[engine].counted += 1
    for engine, entry in enumerate(entries):
        entry.blocks = len({outcome.block for outcome in outcomes if engine in outcome.engines})
        entry.names = {str(engine): 1}
    return league


def ratings_of(league, anchors=None):
    found = rate(Gathered([league], [], []), anchors)
    engines = [engine for group in found["lists"][0]["groups"] for engine in group["engines"]]
    return {int(engine["engine"]): engine for engine in engines}


def play(rng, strengths, lineups, num_blocks):
    """Return games by the model: each block plays all rotations of a line-up."""
    games = []
    for block in range(num_blocks):
        lineup = lineups[block % len(lineups)]
        for shift in range(len(lineup)):
            engines = [*lineup[shift:], *lineup[:shift]]
            luck = rng.gumbel(size=len(engines)) + np.log(10) / 400 * np.take(strengths, engines)
            games.append((block, engines, (np.argsort(np.argsort(-luck)) + 1).tolist()))
    return games


@pytest.mark.parametrize("players", [2, 3])
def test_ratings_are_those_of_an_independent_fit(players):
    strengths = np.array([0.0, 150.0, 300.0, -200.0])
    lineups = list(itertools.combinations(range(4), players))
    games = play(np.random.default_rng(players), strengths, lineups, 60)

    def minus_log_likelihood(x):
        total = sum(np.logaddexp(value, 0) + np.logaddexp(-value, 0) for value in x)  # the prior: one won, one lost
        for _, engines, ranks in games:
            order = [engine for _, engine in sorted(zip(ranks, engines, strict=True))]
            total += sum(np.logaddexp.reduce(x[order[place:]]) - x[order[place]] for place in range(players - 1))
        return total

    best = minimize(minus_log_likelihood, np.zeros(4), method="BFGS", options={"gtol": 1e-7}).x
    expected = 400 / np.log(10) * (best - best[3])
    found = ratings_of(league_of(games, 4, players), {"3": 1000.0})
    assert [found[engine]["rating"][0] for engine in range(4)] == pytest.approx(expected + 1000, abs=0.05)
    assert found[3]["rating"] == [1000.0, 1000.0, 1000.0]
    order = sorted(range(4), key=lambda engine: -expected[engine])
    assert list(found) == order


def test_intervals_cover_the_strengths_and_superiority_is_right_as_often_as_it_says(monkeypatch):
    monkeypatch.setattr(ladder, "BOOTSTRAP", 300)
    strengths = np.array([100.0, 60.0, 0.0, -160.0])
    lineups = list(itertools.combinations(range(4), 2))
    rng = np.random.default_rng(1)
    covered, claims, kept = [], [], []
    for _ in range(60):
        found = ratings_of(league_of(play(rng, strengths, lineups, 180), 4), {"2": 0.0})
        for engine in (0, 1, 3):
            _, low, high = found[engine]["rating"]
            covered.append(low <= strengths[engine] <= high)
        above = list(found)
        for engine, following in itertools.pairwise(above):
            claims.append(found[engine]["superiority"])
            kept.append(strengths[engine] > strengths[following])
    assert 0.90 <= np.mean(covered) <= 1.0  # of 180; 0.95 within three standard errors
    assert min(claims) >= 0.5
    assert abs(np.mean(claims) - np.mean(kept)) < 0.1


def test_groups_that_never_met_are_rated_apart():
    games = [(block, pair, (1, 2)) for block, pair in enumerate([(0, 1), (1, 0), (2, 3), (3, 2), (2, 3), (4, 4)])]
    league = league_of(games, 6)
    league.entries[4].counted = 0  # it met nobody but itself
    assert ladder.groups_of(league) == [[2, 3], [0, 1]]
    found = rate(Gathered([league], [], []), {"0": 10.0, "3": -5.0})["lists"][0]
    assert [[engine["engine"] for engine in group["engines"]] for group in found["groups"]] == [["2", "3"], ["0", "1"]]
    assert [group["anchor"] for group in found["groups"]] == [
        {"engine": "3", "rating": -5.0},
        {"engine": "0", "rating": 10.0},
    ]
    assert [engine["engine"] for engine in found["unrated"]] == ["4", "5"]
    text = "\n".join(ladder_report._table(found, 80))
    assert "2 groups of engines that never met" in " ".join(text.split())
    assert "without a game that counts: 4, 5" in text


@pytest.mark.parametrize(
    ("anchors", "problem"),
    [
        ({"9": 0.0}, '"9" is no engine of the list'),
        ({"0": 0.0, "1": 1.0}, "expected one anchor for them"),
        ({"both": 0.0}, 'may be "0", "1"; expected one of these'),
    ],
)
def test_anchors_that_say_too_little_or_too_much(anchors, problem):
    league = league_of([(0, (0, 1), (1, 2)), (1, (1, 0), (1, 2))], 2)
    for entry in league.entries:
        entry.names["both"] = 1
    with pytest.raises(NotationError, match=problem):
        rate(Gathered([league], [], []), anchors)


# Output


@pytest.fixture
def folder(tmp_path):
    """A folder with journals of two builds, and names that mean harm."""
    evil = "</td><script>alert(1)</script>\x1b[2J|`x`"
    fake_journals.write(tmp_path / "new.jsonl", tree(match(), build=NEW))
    bad = match("cmd:x,time=1", "random,time=1", names=[evil, "random,time=1"], seed=5)
    fake_journals.write(tmp_path / "evil.jsonl", tree(bad))
    (tmp_path / "no.jsonl").write_text('{"<script>": 1}\n')
    return tmp_path


def test_the_command(cli, folder):
    html, svg = folder / "l.html", folder / "l.svg"
    assert cli("ladder", folder, "--html", html, "--plot", svg, "--anchor", "random=0") == 0
    assert "Nim, 2 seats: 16 games in 8 blocks" in cli.out
    assert "random is set to 0" in cli.out
    assert "from 2 journals" in cli.out
    assert "skipped, no journal" in cli.out
    assert max(map(len, cli.out.splitlines())) <= 80
    assert cli("ladder", folder, "--format", "json") == 0
    found = json.loads(cli.out)
    assert found["skipped"][0]["path"] == str(folder / "no.jsonl")
    assert "no.jsonl" in cli.err
    assert cli("ladder", folder, "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(cli.out)))
    assert [float(row["rating"]) for row in rows] == [
        engine["rating"][0] for engine in found["lists"][0]["groups"][0]["engines"]
    ]
    for text in (html.read_text(), svg.read_text()):
        assert "<script>" not in text
        assert "\x1b" not in text
    assert "\x1b" not in cli.out
    assert "http://" not in html.read_text().replace("http://www.w3.org/2000/svg", "")
    assert cli("ladder", folder, "--game", "mexica") == 2
    assert cli("ladder", folder, "--html", folder / "none" / "x.html") == 2
    assert cli("ladder", folder, "--anchor", "nobody=1") == 2


def test_results_of_this_release_are_what_the_page_of_strengths_reads(cli, tmp_path, shipped_weights):
    from mexica_ai.game import registry

    weights = registry.get("mexica").weights().version
    build = f"mexica-ai {__version__}, code {'d' * 12}"
    of = match(game="mexica", weights=(weights, None))
    fake_journals.write(tmp_path / "a.jsonl", tree(of, build=build))
    fake_journals.write(tmp_path / "nim.jsonl", tree(match(), build=build))  # no weights ship with it
    results = tmp_path / "results"
    results.mkdir()
    assert cli("ladder", tmp_path, "--anchor", "random=0", "--results", results) == 0
    assert [path.name for path in results.iterdir()] == ["mexica-2-ladder.json"]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        strength = runpy.run_path(str(ROOT / "benchmarks" / "strength.py"))
    (result,) = read = strength["read_results"](results)
    assert result["command"] == f"mexica-ai arena ladder {tmp_path} --anchor random=0"
    readme = "<!-- strength -->\n<!-- /strength -->\n"
    page = strength["pages"](read, readme)[strength["PAGE"]]
    label = f"mcts,iterations=9 [{__version__}]"
    assert f"| `{label}` | " in page
    assert "Rating list, 2 seats, 8 games in 4 blocks, 2026-11-26" in page
    assert "`random` is set to 0" in page
    data = json.loads((results / "mexica-2-ladder.json").read_text())
    for bad in ({"engines": data["engines"][:1]}, {"players": 5}, {"extra": 1}, {"weights": "x"}):
        (results / "mexica-2-ladder.json").write_text(json.dumps(data | bad))
        with pytest.raises(NotationError):
            strength["read_results"](results)
    old = dataclasses.replace(of, seed=3)
    fake_journals.write(tmp_path / "a.jsonl", tree(old, build=OLD.replace("0.1.0", "0.0.9")))
    assert cli("ladder", tmp_path / "a.jsonl", "--results", results) == 0
    assert "no result" in cli.err
