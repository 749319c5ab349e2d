"""`mexica-ai arena show`: the games of a journal, filtered, in order of drops, opened."""

import dataclasses
import json

import fake_journals
import pytest
from test_searches import log

from mexica_ai.arena.games import Wanted, by_worst_drop, choose, list_games
from mexica_ai.arena.play import Task, play_game
from mexica_ai.cli.arena_show import format_list
from mexica_ai.io.errors import NotationError

OF = fake_journals.tournament("greedy", "random", "beam", names=["a", "b", "c"])
WINS = {0: 0, 1: 0, 2: 1}  # by line-up: a beats both, b beats c


@pytest.fixture
def found():
    """The records of three blocks: a-b, a-c, b-c; 0.0 is forfeited by a, in 1.0 the win is shared."""
    records = fake_journals.records(OF, 3, lambda game: WINS[game.block])
    games = [game for block in range(3) for game in OF.block(block)]
    records[0] = fake_journals.record(OF, games[0], [1], forfeit=games[0].seating.index(0))
    records[2]["winners"], records[2]["scores"] = [0, 1], [1, 1]
    for index, drop in ((3, 0.25), (5, 0.5)):
        searches = log((0, 0.9), (1, 0.1), (0, 0.9 - drop))
        records[index] = fake_journals.record(OF, games[index], [0], searches=searches)
    return records


@pytest.fixture
def games(found):
    return list_games((OF, record) for record in found)


@pytest.mark.parametrize(
    ("wanted", "lines"),
    [
        ({}, [1, 2, 3, 4, 5, 6]),
        ({"engine": "c"}, [3, 4, 5, 6]),
        ({"result": "forfeit"}, [1]),
        ({"result": "shared"}, [3]),
        ({"result": "finished", "engine": "b"}, [2, 5, 6]),
        ({"result": "adjudicated"}, []),
        ({"lost_by": "a"}, [1, 4]),
        ({"won_by": "a"}, [2, 3]),
        ({"won_by": "b", "lost_by": "a"}, [1]),
        ({"block": 1}, [3, 4]),
        ({"number": 1}, [2, 4, 6]),
        ({"block": 2, "number": 1}, [6]),
        ({"line": 5}, [5]),
    ],
)
def test_filters(games, wanted, lines):
    assert [game.line for game in choose(games, Wanted(**wanted))] == lines


def test_a_game_that_is_not_there_and_an_engine_that_is_not_there(games):
    with pytest.raises(NotationError, match='given the engine "d"; expected one of "a", "b", "c"'):
        choose(games, Wanted(lost_by="d"))
    with pytest.raises(NotationError, match="no game of the journal") as error:
        choose(games, Wanted(block=7, number=0))
    assert error.value.reason == "NO_RECORD"


def test_a_game_of_two_tournaments_is_asked_for_by_its_line(found):
    other = dataclasses.replace(OF, seed=2)
    again = fake_journals.record(other, other.block(0)[0], [0])
    games = list_games([*((OF, record) for record in found), (other, again)])
    assert [game.tournament_number for game in games] == [1] * 6 + [2]
    with pytest.raises(NotationError, match="on the lines 1, 7; expected --line"):
        choose(games, Wanted(block=0, number=0))


def test_the_largest_drops_come_first(games):
    assert [(game.line, game.drop.size, game.drop.seat) for game in by_worst_drop(games)] == [(6, 0.5, 0), (4, 0.25, 0)]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_list_fits_the_terminal(games, width):
    lines = format_list(by_worst_drop(games), width, has_drops=True)
    assert max(map(len, lines)) <= width
    long = [dataclasses.replace(game, names=[name * 150 for name in game.names]) for game in games]
    lines = format_list(long, width)
    assert max(map(len, lines)) <= width
    if width >= 60:  # letters stand for the names
        assert any(line.startswith("A  aaa") for line in lines)
        assert lines[-1].endswith("  *C  B")


def test_the_command(in_process, cli, tmp_path, found):
    path = fake_journals.write(tmp_path / "j.jsonl", found, torn='{"game":"nim","ver')
    assert cli("show", path) == 0
    assert "j.jsonl: the last line is incomplete" in cli.err
    assert cli.out.splitlines()[-1] == "6 of 6 games"
    assert "seat 0: crash" in cli.out
    assert cli("show", path, "--forfeits", "--json") == 0
    (shown,) = map(json.loads, cli.out.splitlines())
    assert shown["forfeit"] == {"seat": 0, "reason": "crash", "detail": "out of cheese"}
    assert (shown["line"], shown["engines"], shown["winners"]) == (1, ["a", "b"], [1])
    assert cli("show", path, "--worst-drop", "--limit", 1) == 0
    assert cli.out.splitlines()[-1] == "1 of 6 games; 2 fit"
    assert cli("show", path, "--worst-drop", "--json") == 0
    drops = [json.loads(line)["worst_drop"] for line in cli.out.splitlines()]
    assert drops[0] == {"drop": 0.5, "seat": 0, "turn_index": 2}
    assert cli("show", path, "--won-by", "a", "--record") == 0
    assert [json.loads(line) for line in cli.out.splitlines()] == [found[1], found[2]]
    assert cli("show", path, "--block", 9, "--game", 0) == 2
    assert cli("show", path, "--forfeits", "--result", "shared") == 2
    assert cli("show", tmp_path / "no.jsonl") == 2


def test_a_game_is_opened_and_its_record_can_be_read(in_process, cli, tmp_path):
    of = fake_journals.tournament("mcts,iterations=9", "random,time=1", names=["tree\x1b[2J", "dice"])
    record = play_game(Task(of, of.block(0)[1]))
    path = fake_journals.write(tmp_path / "j.jsonl", [record])
    assert cli("show", path, "--block", 0, "--game", 1) == 0
    assert '[Game "nim"]' in cli.out
    assert '[Round "0.1"]' in cli.out
    assert "s}" in cli.out
    assert "\x1b" not in cli.out
    assert cli("show", path, "--line", 1, "--record") == 0
    assert json.loads(cli.out) == json.loads(json.dumps(record))
