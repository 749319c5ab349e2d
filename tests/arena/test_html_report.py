"""`arena --html`: pages that need nothing else, escape all names, and are refreshed while a tournament runs."""

import html.parser
import json
import re
from types import SimpleNamespace

import fake_journals
import pytest

from mexica_ai.analysis.annotate import evaluate_record, with_evaluations
from mexica_ai.arena import html_report
from mexica_ai.arena.html_report import HtmlReport
from mexica_ai.arena.play import Task, play_game
from mexica_ai.arena.policy import Policy
from mexica_ai.arena.report import collect, evaluate
from mexica_ai.arena.runner import Progress
from mexica_ai.game.position import new_game
from mexica_ai.io.errors import SearchError

EVIL = "</td><script>alert(1)</script>\x1b[2J&<b>'\""
SPECS = ("mcts,iterations=9", "random,time=1", "greedy,time=1")


class Reader(html.parser.HTMLParser):
    """Checks that elements are closed in order, and gathers links, tags and text."""

    OPEN = frozenset({"meta", "br", "p", "td", "th", "tr", "tbody", "thead"})  # need no end tag

    def __init__(self, page):
        super().__init__()
        self.stack, self.tags, self.links, self.metas, self.words = [], [], [], [], ""
        self.feed(page)
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "meta":
            self.metas.append(dict(attrs))
        if tag == "a":
            self.links.append(dict(attrs)["href"])
        assert not {"src", "onclick", "style"} & dict(attrs).keys()
        if tag not in self.OPEN:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.OPEN:
            assert self.stack.pop() == tag

    def handle_data(self, data):
        self.words += data

    @property
    def refreshes(self):
        return [meta["content"] for meta in self.metas if meta.get("http-equiv") == "refresh"]


def read(path):
    page = path.read_text(encoding="utf-8")
    assert "\x1b" not in page
    assert "http" not in re.sub(r'http://www\.w3\.org/2000/svg|http-equiv="', "", page)
    found = Reader(page)
    assert "script" not in found.tags
    assert not {"link", "img", "iframe"} & set(found.tags)
    return found


@pytest.fixture(scope="module")
def games():
    """The games of a round robin of three engines, with names that mean harm; the last one is forfeited."""
    of = fake_journals.tournament(*SPECS, names=[EVIL, "dice", "greedy"])
    found = [(of, json.loads(json.dumps(play_game(Task(of, game))))) for game in of.games(3)]
    last = found[-1][1]
    failure = {"seat": 0, "reason": "crash", "detail": f"said {EVIL}", "turn": 0, "position": {}}
    last |= {"termination": "forfeit", "scores": None, "winners": [1]}
    last["forfeit"] = {key: failure[key] for key in ("seat", "reason", "detail")}
    last["arena"]["failures"] = [failure]
    return found


def figures(games):
    return evaluate(collect(games))


def test_a_report_and_its_games(tmp_path, games):
    path = tmp_path / "a report.html"
    HtmlReport(str(path)).write(games, figures(games))
    page = read(path)
    assert page.refreshes == []
    for word in ("Strength", "Standings", "Crosstable", "Engines", "1 game of 6 ended by a forfeit", _build()):
        assert word in page.words
    assert "said </td><script>alert(1)</script>\\x1b[2J" in page.words  # as text
    assert len(page.links) == 6
    folder = tmp_path / "a report-games"
    for link in page.links:
        assert link.startswith("a%20report-games/block-0000")
        other = read(folder / link.rpartition("/")[2])
        assert other.links[0] == "../a%20report.html"
        record = json.loads((folder / other.links[1]).read_text())
        assert record in [one for _, one in games]
        assert f"mexica-ai annotate {other.links[1]} --html review.html" in other.words
        assert all(" ".join(turn) in other.words for turn in record["turns"])
    assert page.tags.count("svg") == 1 + 6  # ratings, and the course of each game


def _build():
    from mexica_ai.arena.play import describe_build

    return describe_build("nim")


def test_a_game_with_a_picture_shows_its_end_and_an_annotated_one_its_review(tmp_path):
    of = fake_journals.tournament("mcts,iterations=2", "greedy,time=1", game="mexica")
    record = play_game(Task(of, of.block(0)[0]))
    found = list(evaluate_record(record, iterations=1, seed=1, turns=range(2, 3)))
    record = with_evaluations(record, found, build="1", time_s=None, iterations=1, seed=1)
    games = [(of, record)]
    HtmlReport(str(tmp_path / "r.html")).write(games, figures(games))
    page = read(tmp_path / "r-games" / "block-00000-game-00.html")
    assert page.tags.count("svg") == 2  # values and board
    assert page.links[2] == "block-00000-game-00-review.html"
    assert "review of a game" in (tmp_path / "r-games" / page.links[2]).read_text()


def test_it_is_refreshed_while_the_tournament_runs(tmp_path, games, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(html_report, "time", SimpleNamespace(monotonic=lambda: now[0]))
    of = games[0][0]
    progress = Progress(of, 6)
    path = tmp_path / "r.html"
    report = HtmlReport(str(path))
    asked = []

    def found():
        asked.append(len(progress.records))
        return figures([(of, record) for record in progress.records])

    report.show(progress, found)
    page = read(path)
    assert page.refreshes == [str(html_report.REFRESH_S)]
    assert "No game has ended yet" in page.words
    for count in range(1, 5):  # a game a second
        now[0] += 1
        progress.keep(games[count - 1][1], None)
        report.show(progress, found)
    assert asked == [0]  # too soon
    now[0] += 1
    progress.keep(games[4][1], None)
    report.show(progress, found)
    assert asked == [0, 5]
    page = read(path)
    assert "Running: 5 of 6 games (83%)" in page.words
    assert len(page.links) == 5
    report.write([(of, record) for record in progress.records], found())
    page = read(path)
    assert page.refreshes == []
    assert "Running" not in page.words
    assert sorted(each.name for each in tmp_path.iterdir()) == ["r-games", "r.html"]  # no drafts


def test_a_version_does_not_wait_for_the_pages_of_many_games(tmp_path, games, monkeypatch):
    now = [100.0]

    def later():
        now[0] += 0.3
        return now[0]

    # Not of the module time itself: other threads of the process read it, too.
    monkeypatch.setattr(html_report, "time", SimpleNamespace(monotonic=later))
    of = games[0][0]
    progress = Progress(of, 6, records=[record for _, record in games])
    report = HtmlReport(str(tmp_path / "r.html"))
    report.show(progress, lambda: figures(games))
    few = read(tmp_path / "r.html")
    assert 0 < len(few.links) < 6
    assert all(f"block {block}, game {number}" in few.words for block in range(3) for number in range(2))
    report.write(games, figures(games))
    assert len(read(tmp_path / "r.html").links) == 6


def test_of_many_games_the_newest_are_listed(tmp_path, games, monkeypatch):
    monkeypatch.setattr(html_report, "MAX_GAMES", 2)
    HtmlReport(str(tmp_path / "r.html")).write(games, figures(games))
    page = read(tmp_path / "r.html")
    assert [link[-18:-5] for link in page.links] == ["00002-game-01", "00002-game-00"]
    assert "The newest 2 of 6" in page.words


def test_ratings_from_an_anchor_have_no_sign(tmp_path, games):
    found = evaluate(collect(games), anchor=("greedy", 1000.0))
    HtmlReport(str(tmp_path / "r.html")).write(games, found)
    words = read(tmp_path / "r.html").words
    assert "1000 [1000, 1000]" in words
    assert "+1000" not in words


def test_where_all_blocks_have_a_forfeit_the_page_does_not_say_that_they_are_incomplete(tmp_path):
    of = fake_journals.tournament("mcts,iterations=9", "random,time=1")
    start = {"start": new_game("nim", seed=1).to_json()}
    found = [(of, fake_journals.record(of, game, [], forfeit=0) | start) for game in of.games(2)]
    HtmlReport(str(tmp_path / "r.html")).write(found, evaluate(collect(found), policy=Policy("drop")))
    page = read(tmp_path / "r.html")
    assert "No block is without a forfeit" in page.words
    assert "No block is complete" not in page.words


def test_games_of_two_tournaments_and_none(tmp_path, games):
    other = fake_journals.tournament(*SPECS, seed=2)
    both = [*games, (other, play_game(Task(other, other.block(0)[0])))]
    HtmlReport(str(tmp_path / "r.html")).write(both, figures(both))
    page = read(tmp_path / "r.html")
    assert "several tournaments" in page.words
    assert {link.split("/")[1][:13] for link in page.links} == {"tournament-1-", "tournament-2-"}
    apart = [*both, (games[0][0], play_game(Task(games[0][0], games[0][0].block(5)[0])))]  # the first one's come last
    HtmlReport(str(tmp_path / "r.html")).write(apart, figures(apart))
    assert len(set(read(tmp_path / "r.html").links)) == len(apart)
    HtmlReport(str(tmp_path / "none.html")).write([], figures([]))
    assert "No game has ended yet" in read(tmp_path / "none.html").words


def test_a_swiss_tournament_shows_its_rounds(tmp_path):
    of = fake_journals.tournament(*SPECS, format="swiss", round_blocks=1)
    games = [(of, fake_journals.record(of, game, [0])) for game in of.block(0, (0, 1))]
    for _, record in games:  # of a game that exists, so that its end can be shown
        record["start"] = play_game(Task(of, of.block(0, (0, 1))[0]))["start"]
    HtmlReport(str(tmp_path / "r.html")).write(games, figures(games))
    page = read(tmp_path / "r.html")
    assert "Buchholz Cut 1" in page.words
    assert re.search(r"Round 1: .*Bye: greedy,time=1", page.words)


def test_a_page_that_cannot_be_written_is_an_error_that_keeps_the_games(tmp_path, games):
    report = HtmlReport(str(tmp_path / "r.html"))
    (tmp_path / "r-games").rmdir()
    with pytest.raises(SearchError, match="--html: cannot write") as error:
        report.show(Progress(games[0][0], 6, records=[games[0][1]]), lambda: figures(games[:1]))
    assert error.value.reason == "HTML_NOT_WRITTEN"


def test_the_commands(in_process, cli, tmp_path):
    args = ["--game", "nim", "--engine", "greedy", "--engine", "random", "--iterations", 1, "--blocks", 2]
    journal = tmp_path / "j.jsonl"
    assert cli(*args, "--journal", journal, "--html", tmp_path / "live.html") == 0, cli.err
    assert len(read(tmp_path / "live.html").links) == 4
    assert cli("report", journal, "--html", tmp_path / "again.html") == 0
    live, again = (tmp_path / f"{name}.html" for name in ("live", "again"))
    assert sorted(again.read_text().split()) == sorted(live.read_text().replace("live-games", "again-games").split())
    assert cli("report", journal, "--html", tmp_path / "none" / "x.html") == 2
    assert "there is no folder" in cli.err
    kept = journal.read_bytes()
    page = tmp_path / "x.html"
    for words, *line in (
        ("JOURNAL, --html: both name one file", "report", journal, "--html", journal),
        ("JOURNAL, --standings: both", "report", tmp_path / "k.csv", "--standings", tmp_path / "k.csv"),
        ("--journal, --html: both", *args, "--journal", journal, "--resume", "--html", journal),
        ("--journal, --log: both", *args, "--journal", journal, "--resume", "--log", journal),
        ("--openings, --log: both", *args, "--openings", journal, "--log", journal),
        ("--standings, --html: both", *args, "--standings", page, "--html", page),
        ("this command reads or writes it otherwise", "ladder", tmp_path, "--html", journal),
    ):
        assert cli(*line) == 2
        assert words in cli.err
    assert journal.read_bytes() == kept
    assert cli(*args, "--journal", tmp_path / "k.jsonl", "--no-search-log") == 0
    assert all("searches" not in json.loads(line)["arena"] for line in (tmp_path / "k.jsonl").open())
    assert cli("show", tmp_path / "k.jsonl", "--worst-drop") == 0
    assert "keep no values" in cli.err
