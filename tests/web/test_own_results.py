"""The owner's results: which games count, what follows from them, and the levels of the form."""

from functools import partial

import pytest
from pages import PERSON, Process, engine

from mexica_ai.analysis import levels
from mexica_ai.web import commands, starts
from mexica_ai.web.own import result_of


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    process = Process(tmp_path_factory.mktemp("results"))
    yield process
    process.close()


LEVEL_4 = (PERSON, engine(4))


def begin(seats=LEVEL_4, **more):
    data = {"game": "nim", "players": len(seats), "seats": list(seats), "seed": 1, **more}
    return starts.create(data, names=["named"], examples={}, find=None)


def resign(game):
    while game.mover not in game.persons:
        game.change(partial(commands.play, turn=game.now.legal_actions()[:1]))
    game.change(partial(commands.resign, viewer=game.mover))


def test_a_game_of_one_person_counts_when_it_is_over():
    game = begin()
    assert result_of(game.table) is None
    resign(game)
    found = result_of(game.table)
    assert (found.game, found.seat, found.levels, found.level) == ("nim", 0, (None, 4), 4)
    assert (found.share, found.scores) == (0.0, ())


def test_a_game_to_its_end_has_points():
    game = begin([engine(2), PERSON])
    while not game.is_over:
        game.change(partial(commands.play, turn=game.now.legal_actions()[:1]))
    found = result_of(game.table)
    assert (found.seat, found.level, found.share) == (1, 2, float(1 in game.table.winners))
    assert list(found.scores) == game.now.scores


def test_what_does_not_count():
    two = begin([PERSON, PERSON])
    resign(two)
    taken = begin()
    taken.change(partial(commands.seat_person, seat=1))
    taken.change(partial(commands.invite, seat=1, nonce="a"))
    taken.change(partial(commands.resign, viewer=1 if taken.mover == 1 else None))
    source = begin()
    later = starts.create(
        {"from": source.id, "seats": [PERSON, engine(1)]}, names=[], examples={}, find={source.id: source}.__getitem__
    )
    resign(later)
    assert [result_of(game.table) for game in (two, taken, later)] == [None] * 3


def test_others_than_levels_are_of_no_level():
    game = begin([PERSON, {"kind": "engine", "name": "named", "seconds": 1.0}])
    resign(game)
    assert result_of(game.table).level == 0
    friends = begin([PERSON, PERSON])
    friends.change(partial(commands.invite, seat=1, nonce="a"))
    friends.change(partial(commands.resign, viewer=None if friends.mover == 0 else 1))
    found = result_of(friends.table)
    assert (found.seat, found.level) == (0, 0)


def test_the_page_gets_results_statistics_and_advice(page):
    for seed in range(2):
        now = page.new("nim", seats=[PERSON, engine(3, 0.1)], seed=seed)
        now = page.await_game(now, lambda each: each["is_mine"] or each["is_over"])
        page.command(now, resign=True)
    page.new("nim", seats=[PERSON, engine(3, 0.1)])
    found = page.call("GET", "/api/results")
    assert [one["level"] for one in found["levels"]] == list(levels.LEVELS)
    assert found["levels"][0]["name"] == levels.character_of(1).name
    assert found["levels"][4]["strength"]["mexica"]
    assert found["levels"][4]["strength"]["nim"] is None
    assert [(one["game"], one["level"], one["share"]) for one in found["results"]] == [("nim", 3, 0.0)] * 2
    assert [(row["games"], row["wins"], row["losses"], row["level"]) for row in found["statistics"]] == [(2, 0, 2, 3)]
    assert found["next"]["nim"]["level"] < 3
    assert set(found["next"]) == {game["name"] for game in page.call("GET", "/api/info")["games"]}


def test_a_flag_falls_by_itself(page):
    clock = {"bank_s": 1.0, "increment_s": 0}
    now = page.new("nim", seats=[PERSON, PERSON], seed=1, clock=clock)
    assert now["clock"] == {"bank": 1.0, "increment": 0, "left": [1.0, 1.0], "running": None, "fallen": []}
    now = page.play(now, now["entries"][0]["action"])
    assert now["clock"]["running"] == 1
    with page.stream(game=now["id"]) as events:
        ended = next(data["snapshot"] for event, data in events if event == "state" and data["snapshot"]["is_over"])
    assert (ended["resigned"], ended["winners"], ended["clock"]["fallen"]) == (1, [0], [1])
    assert page.command(ended, 422, actions=["take 1 1"])["message"]
    again = page.call("POST", "/api/games", {"again": now["id"]}, 201)
    assert (again["clock"]["left"], again["turns"]) == ([1.0, 1.0], [])
