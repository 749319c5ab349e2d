"""What each engine expected and used at each turn: in records, in game text, read strictly."""

import copy
import json
import math

import fake_journals
import pytest

from mexica_ai.analysis.results import Candidate, Result
from mexica_ai.arena import play
from mexica_ai.arena.journal import read_journal
from mexica_ai.arena.play import Task, play_game
from mexica_ai.arena.searches import Search, SearchLog, comment_of, searches_of, short_count, worst_drop
from mexica_ai.arena.text import format_game
from mexica_ai.io.errors import NotationError

GAME = fake_journals.tournament("mcts,iterations=20", "random,iterations=1", game="coatl")


def result(value, scores, iterations=7):
    return Result([Candidate(["end"], 1, value, scores, 1.0, [])], iterations, 0, 0, 0.0, "", 0)


def log(*entries):
    """Return the column form of (seat, value of the seat) of two seats."""
    found = SearchLog()
    for entry in entries:
        if entry is None:
            found.add_event()
            continue
        seat, own = entry
        value = [own, 1 - own] if seat == 0 else [1 - own, own]
        found.add(seat, result(value, [3.0, 4.0]), 2, 0.25)
    return found.to_json()


@pytest.fixture(scope="module")
def played():
    return json.loads(json.dumps(play_game(Task(GAME, GAME.block(0)[0]))))


def test_a_record_keeps_what_engines_expected(played):
    found = played["arena"]["searches"]
    searches = searches_of(played)
    assert {len(column) for column in found.values()} == {len(played["turns"])}
    assert 0 < len(searches) < len(played["turns"])  # Coatl has random events
    for seat, used in enumerate(played["arena"]["seats"]):
        own = [search for search in searches if search.seat == seat]
        assert len(own) == used["turns"]
        assert sum(search.iterations for search in own) == used["iterations"]
        assert sum(search.seconds for search in own) == pytest.approx(used["seconds"], abs=0.001 * len(own))
    trees = [search for search in searches if search.seat == played["arena"]["seating"].index(0)]
    assert all(sum(search.value) == pytest.approx(1, abs=0.002) for search in trees)
    assert all(len(search.expected_scores) == 2 for search in trees)


def test_a_record_without_them_is_the_same_game(played):
    bare = play_game(Task(GAME, GAME.block(0)[0]), keeps_searches=False)
    assert "searches" not in bare["arena"]
    assert bare["turns"] == played["turns"]
    assert searches_of(bare) == []


def test_they_take_little_room(played):
    size = len(json.dumps(played["arena"]["searches"], separators=(",", ":")))
    assert size < 64 * len(played["turns"])


@pytest.mark.parametrize("termination", ["finished", "forfeit"])
def test_a_journal_with_them_is_read_again(tmp_path, played, termination):
    found = copy.deepcopy(played)
    if termination == "forfeit":  # in the middle of the game
        found |= {"termination": "forfeit", "forfeit": {"seat": 0, "reason": "crash", "detail": ""}, "scores": None}
        found["turns"] = found["turns"][:3]
        found["arena"]["searches"] = {key: column[:3] for key, column in found["arena"]["searches"].items()}
    path = fake_journals.write(tmp_path / "j.jsonl", [found])
    assert [record for _, record in read_journal(str(path)).games] == [found]


BAD = {
    "seat": [(0, 2), (0, -1), (0, None)],
    "value": [(0, [0.5]), (0, [0.5, 0.7]), (0, [1.5, -0.5]), (1, [0.5, 0.5])],
    "expected_scores": [(0, [1e12, 0]), (0, [1.0, 2.0, 3.0])],
    "iterations": [(0, -1), (0, 2**63), (0, None)],
    "seconds": [(0, -1.0), (0, 1e18), (0, None)],
}


@pytest.mark.parametrize(("key", "index", "value"), [(key, *bad) for key, every in BAD.items() for bad in every])
def test_bad_figures_are_refused_with_their_place(tmp_path, key, index, value):
    found = log((0, 0.5), None, (1, 0.25))
    found[key][index] = value
    path = _journal(tmp_path, found)
    with pytest.raises(NotationError, match=r"j\.jsonl:1\.arena\.searches") as error:
        read_journal(path)
    assert error.value.path.startswith(f"{path}:1.arena.searches")


def test_bad_shapes_are_refused(tmp_path):
    found = log((0, 0.5), (1, 0.25))
    for bad in ({**found, "nodes": [1, 2]}, {key: column for key, column in found.items() if key != "value"}):
        with pytest.raises(NotationError, match=r"searches"):
            read_journal(_journal(tmp_path, bad))
    with pytest.raises(NotationError, match="has 1 entries; expected one for each of the 2 turns"):
        read_journal(_journal(tmp_path, found | {"seconds": [0.5]}))


def _journal(tmp_path, searches):
    of = fake_journals.tournament("greedy", "random")
    return str(
        fake_journals.write(tmp_path / "j.jsonl", [fake_journals.record(of, of.block(0)[0], [0], searches=searches)])
    )


@pytest.mark.parametrize(
    ("value", "scores", "iterations", "expected"),
    [
        ([0.25, 0.75], [10.04, 3.0], 5, ([0.25, 0.75], [10.0, 3.0], 5)),
        ([], [], 0, (None, None, 0)),
        ([0.9, 0.9], [1.0], -1, (None, None, 0)),
        ([math.nan, 0.5], [math.inf, 0.0], 2**63, (None, None, 0)),
        ([-1e-12, 1 + 1e-12], [-0.0, 0.0], 1, ([0.0, 1.0], [0.0, 0.0], 1)),
    ],
)
def test_figures_that_cannot_be_are_left_out(value, scores, iterations, expected):
    found = SearchLog()
    found.add(1, result(value, scores, iterations), 2, 0.12345)
    assert [column[0] for column in found.to_json().values()] == [1, *expected, 0.123]
    assert "-0.0" not in json.dumps(found.to_json())


def test_an_engine_that_tells_nonsense_is_played_on(monkeypatch):
    of = fake_journals.tournament("greedy,time=1", "greedy,name=b,time=1")
    start = play._start

    def nonsense(spec, log=None):
        engine = start(spec, log)
        answer = engine.best_turn
        engine.best_turn = lambda position, *args, **options: Result(
            [Candidate(answer(position, *args, **options).turn, 1, [7.0], [math.nan], 1.0, [])], -5, 0, 0, 0.0, "", 0
        )
        return engine

    monkeypatch.setattr(play, "_start", nonsense)
    found = play_game(Task(of, of.block(0)[0]))
    assert found["termination"] == "finished"
    assert set(map(str, found["arena"]["searches"]["value"])) == {"None"}
    assert set(found["arena"]["searches"]["iterations"]) == {0}


def test_comments_of_turns():
    def comment(value, iterations, seconds, players=2, seat=0):
        return comment_of(Search(0, seat, value, None, iterations, seconds), players)

    assert comment([0.81, 0.19], 12_345, 0.52) == "+0.31/12k 0.5s"
    assert comment([0.81, 0.19], 12_345, 0.52, seat=1) == "-0.31/12k 0.5s"
    assert comment([0.25, 0.25, 0.3, 0.2], 0, 12.0, players=4, seat=2) == "+0.05 12.0s"
    assert comment(None, 950, 0.0123) == "950 0.012s"
    assert comment(None, 0, 1.0) == "1.0s"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0k"),
        (9949, "9.9k"),
        (9960, "10k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (4e9, "4.0G"),
    ],
)
def test_short_counts(number, text):
    assert short_count(int(number)) == text


def test_the_worst_drop_is_of_one_seat_between_two_of_its_turns():
    def drop(*entries):
        return worst_drop(searches_of({"arena": {"searches": log(*entries)}}))

    assert drop((0, 0.5), (1, 0.5), None, (0, 0.9), (1, 0.1)) == (
        found := drop((0, 0.5), (1, 0.5), (0, 0.9), None, (1, 0.1))
    )
    assert (found.size, found.seat, found.turn_index) == (0.4, 1, 4)
    assert drop((0, 0.5), (1, 0.2), (0, 0.6), (1, 0.3)) is None  # from seat to seat it falls
    assert drop() is None


def test_game_text_has_the_comments(played):
    text = format_game(GAME, played)
    comments = [line for line in text.splitlines() if line.endswith("s}")]
    assert len(comments) == len(searches_of(played))
    tree = played["arena"]["seating"].index(0)
    first = next(search for search in searches_of(played) if search.seat == tree and search.iterations > 1)
    line = next(line for line in text.splitlines() if line.startswith(f"{first.turn_index + 1}. seat {tree}: "))
    assert line.endswith(f" {{{comment_of(first, 2)}}}")
    bare = copy.deepcopy(played)
    del bare["arena"]["searches"]
    assert not [line for line in format_game(GAME, bare).splitlines() if line.endswith("s}")]
