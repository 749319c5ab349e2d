"""Evaluations in a record, and the report that is made of them."""

import dataclasses
import html.parser
import io
import json
import re

import pytest
from nim_record import RECORD
from played_games import records_of

import mexica_ai as ai
from mexica_ai.analysis import report as review
from mexica_ai.analysis.annotate import NOTE, evaluate_record, recorded_evaluations, with_evaluations
from mexica_ai.cli import annotate
from mexica_ai.cli.main import main
from mexica_ai.io import files

NIM = {**RECORD, "engines": ["random", 'cmd:"<b>x"']}


@pytest.fixture(scope="module")
def evaluations():
    return list(evaluate_record(NIM, iterations=200, seed=1))


@pytest.fixture(scope="module")
def mexica():
    record = records_of("mexica")[0]
    return record, list(evaluate_record(record, iterations=200, seed=1, turns=(10, 11, 12, 15)))


@pytest.fixture
def cli(capsys, monkeypatch):
    def call(*args, stdin=b""):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        code = main([str(arg) for arg in args])
        call.out, call.err = capsys.readouterr()
        return code

    return call


def test_evaluations_are_a_part_of_a_record(evaluations):
    record = with_evaluations(NIM, evaluations[1:], iterations=200, seed=1, build="x")
    ai.replay(record)
    assert recorded_evaluations(json.loads(json.dumps(record))) == evaluations[1:]
    both = with_evaluations(record, evaluations[:1])
    assert recorded_evaluations(both) == evaluations
    assert recorded_evaluations(NIM) == []
    assert "evaluations" not in NIM


@pytest.mark.parametrize(
    "change",
    [
        lambda turns: turns[0].update(turn_index=3),
        lambda turns: turns[0].update(turn=["take 1 1"]),
        lambda turns: turns.reverse(),
        lambda turns: turns[1].update(seat=2),
        lambda turns: turns[1].update(before=[1.0]),
    ],
)
def test_evaluations_belong_to_the_turns(change, evaluations):
    record = with_evaluations(NIM, evaluations)
    change(record["evaluations"]["turns"])
    with pytest.raises(ai.NotationError) as caught:
        ai.replay(record)
    assert caught.value.reason == "EVALUATIONS_MISMATCH"


def test_the_record_is_written_and_read_again_without_a_search(cli, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text(f"{json.dumps(NIM)}\n\n{json.dumps(NIM | {'comment': 'second'})}\n")
    assert cli("annotate", path, "--game", 2, "--iterations", 50, "--seed", 3, "--record", path) == 0
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    assert first == NIM
    assert second["comment"] == "second"
    assert (second["evaluations"]["seed"], second["evaluations"]["build"]) == (3, ai.__version__)
    assert cli("annotate", path, "--game", 2, "--json") == 0
    assert [json.loads(line) for line in cli.out.splitlines()] == second["evaluations"]["turns"]
    second["evaluations"]["build"] = "0.1.0"  # what has searched, not what copies
    path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    assert cli("annotate", path, "--game", 2, "--turns", 2, "--record", tmp_path / "other.jsonl") == 0
    assert "from the record" in cli.out
    assert json.loads((tmp_path / "other.jsonl").read_text()) == second
    assert cli("show", path, "--game", 2, "--turn", 1) == 0
    one = recorded_evaluations(second)[0]
    assert f"{one.before[0]:.3f} before, {one.after[0]:.3f} after, loss {one.loss:.3f}" in cli.out
    assert f"The engine's turn: {one.choice[0]}" in cli.out
    assert NOTE in " ".join(cli.out.split())
    assert cli("annotate", path, "--iterations", 10) == 0
    assert "from the record" not in cli.out


def test_other_lines_stay_as_they_are(cli, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_bytes("\ufeff".encode() + b'{"comment": "\xe9"}\n' + json.dumps(NIM).encode() + b"\n{bad\n")
    assert cli("annotate", path, "--game", 2, "--iterations", 50, "--record", path) == 0
    first, second, third = path.read_bytes().splitlines()
    assert (first, third) == (b'{"comment": "\xe9"}', b"{bad")
    assert json.loads(second)["evaluations"]


def meanwhile(monkeypatch, do):
    """Have another program do something between the searches of `annotate` and what it writes."""
    summary = annotate._summary

    def interrupted(*args):
        do()
        return summary(*args)

    monkeypatch.setattr(annotate, "_summary", interrupted)


@pytest.mark.parametrize("number", [0, 1])
def test_a_record_that_another_program_has_put_there_is_not_lost(cli, tmp_path, monkeypatch, number):
    path = tmp_path / "games.jsonl"
    path.write_text(f"{json.dumps(NIM | {'comment': 'first'})}\n{json.dumps(NIM)}\n")
    others = "".join(json.dumps(NIM | {"comment": text}) + "\n" for text in ["second", "third"][: 2 - number])
    meanwhile(monkeypatch, lambda: path.write_text(others))
    monkeypatch.setattr("mexica_ai.cli.main._drop_output", lambda: None)
    html = tmp_path / "game.html"
    assert cli("annotate", path, "--game", 1 + number, "--iterations", 20, "--record", path, "--html", html) == 1
    assert cli.err.startswith("mexica-ai: error: --record: cannot write ")
    assert f"another program has changed record {1 + number} since it was read" in cli.err
    assert path.read_text() == others
    assert html.exists()


def test_the_record_is_kept_if_another_file_cannot_be_written(cli, tmp_path, monkeypatch):
    path, html = tmp_path / "game.jsonl", tmp_path / "game.html"
    path.write_text(json.dumps(NIM))
    meanwhile(monkeypatch, html.mkdir)
    monkeypatch.setattr("mexica_ai.cli.main._drop_output", lambda: None)
    assert cli("annotate", path, "--iterations", 20, "--record", path, "--html", html) != 0
    assert "--html" in cli.err
    assert recorded_evaluations(json.loads(path.read_text()))


def test_a_record_that_is_lost_is_told_beside_other_faults(cli, tmp_path, monkeypatch):
    path, html = tmp_path / "game.jsonl", tmp_path / "game.html"
    path.write_text(json.dumps(NIM))
    meanwhile(monkeypatch, lambda: (html.mkdir(), path.write_text(json.dumps(NIM | {"comment": "second"}))))
    monkeypatch.setattr("mexica_ai.cli.main._drop_output", lambda: None)
    assert cli("annotate", path, "--iterations", 20, "--record", path, "--html", html) == 1
    first, second = cli.err.splitlines()[-2:]
    assert first.startswith("mexica-ai: error: --html: ")
    assert second.startswith("mexica-ai: error: --record: ")


def test_evaluations_that_another_program_has_added_stay(cli, tmp_path, monkeypatch, evaluations):
    path = tmp_path / "game.jsonl"
    path.write_text(json.dumps(NIM))
    meanwhile(monkeypatch, lambda: path.write_text(json.dumps(with_evaluations(NIM, evaluations[1:], seed=1))))
    assert cli("annotate", path, "--turns", 1, "--iterations", 20, "--seed", 5, "--record", path) == 0
    record = json.loads(path.read_text())
    assert record["evaluations"]["seed"] == 5
    assert recorded_evaluations(record)[1:] == evaluations[1:]
    assert len(recorded_evaluations(record)) == len(evaluations)


def test_that_no_turn_was_evaluated_is_said(cli, tmp_path):
    path, html = tmp_path / "game.json", tmp_path / "game.html"
    path.write_text(json.dumps(ai.make_record(ai.new_game("nim", piles=[1, 2]))))
    assert cli("annotate", path, "--iterations", 20, "--plot", tmp_path / "plot.svg", "--html", html) == 0
    assert cli.err == "mexica-ai: --plot: no turn was evaluated, so nothing is drawn\n"
    for said in (cli.out, html.read_text()):
        assert "No turn was evaluated." in said
        assert "No turn gave" not in said


@pytest.mark.parametrize("option", ["--record", "--html"])
def test_a_file_that_cannot_be_written_is_named_before_the_search(cli, tmp_path, option):
    for path in (tmp_path, tmp_path / "none" / "x"):
        assert cli("annotate", "-", option, path, stdin=json.dumps(NIM).encode()) == 2
        assert option in cli.err
        assert cli.out == ""


class Page(html.parser.HTMLParser):
    """Collects what a page holds; VOID elements need no end."""

    VOID = ("meta", "br", "td", "th", "tr", "tbody", "thead")  # HTML lets them end by themselves

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.tags, self.outside = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if tag == "a" else []
        self.outside += [value for key, value in attrs.items() if key in ("src", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_report_is_one_file_whose_links_lead_somewhere(mexica):
    record, found = mexica
    text = review.report(record, found, worst=2)
    page = Page(text)
    assert page.open == []
    assert not page.outside
    assert not re.search(r"https?://(?!www\.w3\.org)|url\((?!#)|@import", text)
    assert set(re.findall(r"url\(#([^)]*)\)", text)) <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert [f"turn-{number}" for number in (11, 12, 13, 16)] == [one for one in page.ids if one.startswith("turn-")]
    losing = [one for one in found if one.loss > 0]
    assert page.tags.count("figure") == 2 * min(2, len(losing))
    for one in found:
        assert "; ".join(one.turn) in text


@pytest.mark.parametrize("game", ["coatl", "mexica", "tzolkin"])
def test_the_report_of_each_game_has_pictures(game):
    record = records_of(game)[0]
    found = list(evaluate_record(record, iterations=10, seed=1, turns=range(12, 20)))
    worst = sum(one.loss > 0 for one in found)
    assert worst
    page = Page(review.report(record, found, worst=9))
    assert page.open == []
    assert page.tags.count("svg") == 1 + 2 * worst
    assert len(page.ids) == len(set(page.ids))


def test_the_report_draws_the_worst_turns_and_gaps(mexica):
    record, found = mexica
    text = review.report(record, found)
    graph = text[: text.index("The worst turns")]
    two_runs = re.findall(r'<path d="M[^M"]+M[^M"]+" stroke-linejoin', graph)  # turns 11-13, and 16
    assert len(two_runs) == record["start"]["players"]
    assert graph.count('href="#turn-') == len(found)
    worst = max(found, key=lambda one: one.loss)
    assert text.index(f'id="boards-{worst.turn_index + 1}"') == text.index('id="boards-')


def test_what_a_record_says_is_no_markup(evaluations):
    text = review.report(NIM, evaluations)
    assert "<b>" not in text
    assert "&lt;b&gt;" in text
    Page(text)
    lossless = [dataclasses.replace(one, loss=0.0) for one in evaluations]
    assert "No turn gave anything away" in review.report(NIM, lossless)


def test_the_command_writes_the_report(cli, tmp_path):
    path = tmp_path / "game.html"
    assert cli("annotate", "-", "--iterations", 20, "--html", path, stdin=json.dumps(NIM).encode()) == 0
    assert path.read_text().startswith("<!doctype html>")
    assert NOTE in " ".join(cli.out.split())


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path, link = tmp_path / "a", tmp_path / "link"
    files.replace(str(path), "one")
    link.symlink_to(path)
    files.replace(str(link), "two")
    assert link.is_symlink()
    assert path.read_text() == "two"
    assert sorted(tmp_path.iterdir()) == [path, link]
