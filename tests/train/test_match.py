"""The match of new weights against those in use: its journal is continued, and the weights travel with the games."""

import dataclasses
import json
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from mexica_ai.arena.journal import read_journal
from mexica_ai.arena.play import Task
from mexica_ai.arena.tournament import Game, Tournament, reproducible_key
from mexica_ai.game import registry
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.train import match

spec = registry.get("mexica").learning.weights
in_use = spec.load()
GAMES, ITERATIONS = 4, 3


def changed(factor=-1):
    """Return weights whose linear part is multiplied by a number."""
    arrays = in_use.arrays()
    for name in ("linear", "w3"):
        arrays[name] *= factor
    return spec.make(arrays)


def play(path, new, executor=None, **options):
    sizes = {"games": GAMES, "iterations": ITERATIONS, "seed": 1} | options
    with executor or ThreadPoolExecutor(1) as executor:
        return match.play(path, new, in_use, executor, **sizes)


def turns(path):
    records = [record for _, record in read_journal(path).games]
    return {(record["arena"]["block"], record["arena"]["number"]): record["turns"] for record in records}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the journal of a match and its figures."""
    path = tmp_path_factory.mktemp("match") / "match.jsonl"
    return path, play(path, changed())


def test_the_records_name_the_weights_and_no_files(finished):
    path, figures = finished
    assert (figures["games"], figures["forfeits"], figures["iterations"]) == (GAMES, 0, ITERATIONS)
    mean, low, high = figures["share"]
    assert 0 <= low <= mean <= high <= 1
    records = [record for _, record in read_journal(str(path)).games]
    shares = []
    for record in records:
        assert set(record["weights"]) == {changed().version, in_use.version}
        is_new = ["name=new" in engine for engine in record["engines"]]
        assert [weights == changed().version for weights in record["weights"]] == is_new
        assert "/" not in json.dumps(record["arena"]["tournament"])
        shares.append((is_new.index(True) in record["winners"]) / len(record["winners"]))
    assert mean == pytest.approx(sum(shares) / len(shares))


@pytest.mark.parametrize("players", [3, 4])
def test_with_more_seats_one_has_the_new_weights_and_each_seat_has_them_once(players, tmp_path):
    path = tmp_path / "match.jsonl"
    figures = play(path, changed(), players=players, games=players)
    assert figures["games"] == players
    records = [record for _, record in read_journal(str(path)).games]
    seats, shares = [], []
    for record in records:
        assert record["weights"].count(in_use.version) == players - 1
        seats.append(record["weights"].index(changed().version))
        shares.append((seats[-1] in record["winners"]) / len(record["winners"]))
    assert sorted(seats) == list(range(players))
    assert figures["share"][0] == pytest.approx(sum(shares) / players)


class Stopped(ThreadPoolExecutor):
    """Plays so many games; whoever asks for another is interrupted."""

    def __init__(self, games):
        super().__init__(1)
        self.games = games

    def submit(self, fn, /, *args, **kwargs):
        if not self.games:
            raise KeyboardInterrupt
        self.games -= 1
        return super().submit(fn, *args, **kwargs)


def test_a_stopped_match_is_continued_and_ends_as_if_it_had_not_been_stopped(finished, tmp_path):
    expected, figures = finished
    path, counts = tmp_path / "match.jsonl", []
    with pytest.raises(KeyboardInterrupt):
        play(path, changed(), Stopped(2))
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 2
    path.write_bytes(lines[0] + lines[1][:200])  # killed while it wrote
    executor = Stopped(GAMES - 1)  # one game was kept
    assert play(path, changed(), executor, on_progress=counts.append) == figures
    assert executor.games == 0
    assert (counts[0], counts[-1]) == (1, GAMES)
    assert turns(str(path)) == turns(str(expected))
    assert play(path, changed(), Stopped(0)) == figures  # nothing is played again


def test_the_journal_of_other_weights_or_sizes_is_refused(finished):
    path, _ = finished
    before = path.read_bytes()
    for new, options in ((changed(0.5), {}), (changed(), {"iterations": 2}), (changed(), {"seed": 2})):
        with pytest.raises(NotationError, match=r"match\.jsonl belongs to another tournament: "):
            play(path, new, Stopped(0), **options)
    assert path.read_bytes() == before


@pytest.mark.real("time")
def test_a_match_at_equal_time(tmp_path):
    figures = play(tmp_path / "match.jsonl", changed(), games=2, time_s=0.002)
    assert (figures["games"], figures["time_s"], "iterations" in figures) == (2, 0.002, False)


class Deadly(ThreadPoolExecutor):
    """Its workers die."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_exception(SystemExit(1))
        return future


def test_a_match_whose_workers_die_is_not_complete(tmp_path):
    with pytest.raises(SearchError, match="the match is not complete: block 0, game 0 was given up") as caught:
        play(tmp_path / "match.jsonl", changed(), Deadly(1), games=2)
    assert caught.value.reason == "WORKER_DIED"


def test_weights_of_two_games_do_not_meet(tmp_path):
    with pytest.raises(ValueError, match="weights of coatl cannot play against weights of mexica"):
        play(tmp_path / "match.jsonl", registry.get("coatl").weights(), games=2)
    assert not list(tmp_path.iterdir())


@pytest.mark.real("processes")
def test_weights_also_reach_engines_in_processes_of_their_own():
    other = changed()
    engines = ("mcts,iterations=5,name=a", "mcts,iterations=5,name=b")
    weights = (other.version, in_use.version)
    tournament = Tournament("mexica", 2, engines, ("a", "b"), seed=1, weights=weights, key=reproducible_key(1))
    task = Task(tournament, Game(0, 0, (0, 1)))
    turns = [
        match.play_with((other, in_use), dataclasses.replace(task, isolated=isolated))["turns"]
        for isolated in (False, True)
    ]
    assert turns[0] == turns[1]
    shipped = dataclasses.replace(tournament, weights=(in_use.version, in_use.version))
    assert match.play_with((in_use, in_use), Task(shipped, task.game))["turns"] != turns[0]
