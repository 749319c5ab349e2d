"""The clocks of persons: what they count, what a journal keeps of them, and what a fallen flag does."""

import asyncio
import json
from functools import partial

import pytest
from pages import NIM, PERSON, engine

from mexica_ai.io.errors import MexicaAIError
from mexica_ai.web import clocks, commands, starts
from mexica_ai.web.errors import ApiError
from mexica_ai.web.jobs import Jobs


class Time:
    """A time that passes when a test says so."""

    now = 100.0

    def __call__(self):
        return self.now

    def passes(self, seconds):
        self.now += seconds


class Lines:
    """A journal in memory."""

    def __init__(self):
        self.entries = []

    def append(self, *entries):
        self.entries += json.loads(json.dumps(entries))


@pytest.fixture
def time(monkeypatch):
    fake = Time()
    monkeypatch.setattr(clocks, "now_s", fake)
    return fake


CLOCK = {"bank_s": 60.0, "increment_s": 5.0}


def begin(seats=(PERSON, PERSON), game="nim", clock=CLOCK, **more):
    data = {"game": game, "players": len(seats), "seed": 1, "seats": list(seats), "clock": clock, **more}
    made = starts.create(data, names=[], examples={}, find=None)
    made.journal = Lines()
    return made


def play(game):
    turn = game.now.legal_actions()[:1]
    game.change(partial(commands.play, turn=turn))


def left(game):
    return clocks.clock_json(game)["left"]


def restored(game):
    entries = [game.table.started.to_json(), *game.journal.entries]
    return starts.restore(game.id, json.loads(json.dumps(entries)))


def test_the_first_turn_is_not_timed(time):
    game = begin()
    time.passes(1000)
    assert left(game) == [60, 60]
    assert clocks.clock_json(game)["running"] is None
    play(game)
    assert clocks.clock_json(game)["running"] == 1


def test_a_turn_costs_its_time_and_brings_the_increment(time):
    game = begin()
    play(game)
    time.passes(20)
    assert left(game) == [60, 40]
    game.change(partial(commands.enter, viewer=None, actions=game.now.legal_actions()[:1]))
    assert left(game) == [60, 40]
    play(game)
    assert left(game) == [60, 45]
    time.passes(10)
    assert left(game) == [50, 45]


def test_an_event_within_a_turn_brings_no_increment(time):
    game = begin(game="coatl")
    handed = commands.hand_over
    draws = 0
    for _ in range(60):
        if game.is_over or draws == 3:
            break
        if game.waiting == "event":
            game.change(commands.happen)
            continue
        seat = game.mover
        game.change(partial(handed, viewer=seat))
        legal = game.drafted().position.legal_actions()
        blind = [action for action in legal if action.startswith("draw")]
        before, running = left(game), clocks.clock_json(game)["running"]
        game.change(partial(commands.enter, viewer=seat, actions=[*game.draft, (blind or legal)[0]]))
        if game.drafted().is_ended:
            game.change(partial(commands.commit, viewer=seat))
        if game.waiting == "event":
            game.change(commands.happen)
        if game.mover == seat:
            draws += game.table.turns[-1:] != () and game.positions[-2].is_chance
            assert (left(game), clocks.clock_json(game)["running"]) == (before, running)
    assert draws == 3


def test_the_time_of_engines_is_not_counted(time):
    game = begin([PERSON, engine()])
    play(game)
    time.passes(1000)
    assert left(game) == [60, None]
    play(game)
    time.passes(7)
    assert left(game) == [53, None]


def test_a_turn_that_is_taken_back_brings_nothing(time):
    game = begin([PERSON, engine()])
    play(game)
    play(game)
    time.passes(10)
    play(game)
    assert left(game) == [55, None]
    time.passes(3)
    game.change(commands.take_back)
    assert clocks.clock_json(game)["running"] == 0
    time.passes(1)
    assert left(game) == [54, None]


def test_a_clock_stands_still_while_the_process_does_not_run(time):
    game = begin()
    play(game)
    time.passes(20)
    play(game)
    time.passes(30)
    killed = restored(game)
    game.keep_clock()
    time.passes(10_000)
    assert left(restored(game)) == [30, 45]
    assert left(killed) == [60, 45]  # what a killed process has not written is given back
    back = restored(game)
    back.journal = Lines()
    assert back.clock.is_paused
    time.passes(100)
    assert left(back) == [30, 45]
    back.resume_clock()
    time.passes(1)
    assert left(back) == [29, 45]
    play(back)
    assert left(back) == [34, 45]


def test_a_full_disk_leaves_the_clock_as_it_was(time):
    game = begin()
    play(game)
    time.passes(20)

    def fail(*entries):
        raise OSError(28, "No space left on device")

    game.journal.append = fail
    with pytest.raises(OSError, match="No space"):
        play(game)
    assert (clocks.clock_json(game)["running"], left(game)) == (1, [60, 40])
    game.journal = Lines()
    time.passes(5)
    assert left(game) == [60, 35]


def test_a_seat_whose_time_is_up_has_lost(time):
    async def run():
        ended = []
        flags = clocks.Flags(ended.append)
        game = begin()
        play(game)
        time.passes(59.9)
        flags.fall(game)
        assert not game.is_over
        time.passes(0.2)
        flags.watch(game)
        while not ended:
            await asyncio.sleep(0)
        return game

    game = asyncio.run(asyncio.wait_for(run(), 20))
    assert (game.is_over, game.table.resigned, game.table.winners) == (True, 1, [0])
    assert clocks.clock_json(game)["fallen"] == [1]
    assert left(game) == [60, 0]
    assert game.record()["forfeit"] == {"seat": 1, "reason": "time", "detail": ""}
    assert commands.take_back_limit(game.table) is None
    with pytest.raises(ApiError, match="no turn"):
        game.change(commands.take_back)
    again = restored(game)
    assert (again.table.resigned, again.table.is_out_of_time) == (1, True)


def test_a_flag_that_cannot_be_kept_falls_again(time, monkeypatch):
    monkeypatch.setattr(clocks, "AGAIN_S", 0.0)

    async def run():
        ended = []
        flags = clocks.Flags(ended.append)
        game = begin()
        play(game)
        time.passes(61)
        tried = []

        def fail(*entries):
            tried.append(entries)
            raise OSError(28, "No space left on device")

        game.journal.append = fail
        flags.watch(game)
        while len(tried) < 3:
            await asyncio.sleep(0)
        assert not game.is_over
        game.journal = Lines()
        while not ended:
            await asyncio.sleep(0)
        assert game.is_over

    asyncio.run(asyncio.wait_for(run(), 20))


def test_a_turn_that_comes_too_late_is_not_played(time):
    game = begin()
    play(game)
    time.passes(61)
    jobs = Jobs(None, None, {})
    jobs.flags = clocks.Flags(lambda game: None)
    jobs.flags.fall(game)
    with pytest.raises(MexicaAIError):
        play(game)
    assert len(game.turns) == 1


def test_the_page_waits_for_no_flag_of_a_game_that_is_over_or_deleted(time):
    async def run():
        flags = clocks.Flags(lambda game: pytest.fail("fallen"))
        for end in ("resign", "delete"):
            game = begin()
            play(game)
            flags.watch(game)
            if end == "resign":
                game.change(partial(commands.resign, viewer=None))
            else:
                game.is_deleted = True
            time.passes(100)
            flags.watch(game)
            flags.fall(game)
            assert not flags._timers

    asyncio.run(run())


@pytest.mark.parametrize(
    ("clock", "seats", "path"),
    [
        ({"bank_s": 0, "increment_s": 0}, [PERSON, PERSON], "request.clock.bank_s"),
        ({"bank_s": 1e9, "increment_s": 0}, [PERSON, PERSON], "request.clock.bank_s"),
        ({"bank_s": 60, "increment_s": -1}, [PERSON, PERSON], "request.clock.increment_s"),
        ({"bank_s": 60}, [PERSON, PERSON], "request.clock"),
        ({"bank_s": "60", "increment_s": 0}, [PERSON, PERSON], "request.clock.bank_s"),
        (CLOCK, [engine(), engine()], "request.clock"),
    ],
)
def test_a_clock_that_is_none_is_refused(clock, seats, path):
    with pytest.raises(ApiError) as caught:
        begin(seats, clock=clock)
    assert path in str(caught.value.to_json())


def test_the_same_deal_again_with_other_seats(time):
    game = begin([PERSON, engine(3)], "coatl")
    find = {game.id: game}.__getitem__
    with pytest.raises(ApiError, match="over"):
        starts.create({"again": game.id}, names=[], examples={}, find=find)
    game.change(partial(commands.hand_over, viewer=0))
    game.change(partial(commands.resign, viewer=0))
    again = starts.create({"again": game.id}, names=[], examples={}, find=find)
    assert again.positions[0].to_json() == game.positions[0].to_json()
    assert [seat.kind for seat in again.seats] == ["engine", "person"]
    assert (again.clock, again.id != game.id, again.turns) == (game.table.started.clock, True, [])
    same = starts.create({"again": game.id, "by": 0}, names=[], examples={}, find=find)
    assert same.seats == game.seats
    with pytest.raises(ApiError, match="by"):
        starts.create({"again": game.id, "by": 2}, names=[], examples={}, find=find)


def test_a_new_deal_by_the_options_and_the_clock_of_a_game(time):
    game = begin([PERSON, engine(3)], "coatl", options={"strict_ends": True}, draws=False)
    with pytest.raises(ApiError, match="over"):
        starts.create({"anew": game.id}, names=[], examples={}, find={game.id: game}.__getitem__)
    game.change(partial(commands.resign, viewer=0))
    game = restored(game)
    find = {game.id: game}.__getitem__
    anew = starts.create({"anew": game.id}, names=[], examples={}, find=find)
    start, before = anew.now.to_json(), game.now.to_json()
    assert start["options"] == before["options"] != begin(game="coatl").now.to_json()["options"]
    assert start["seats"] != before["seats"]
    assert [seat.kind for seat in anew.seats] == ["engine", "person"]
    assert (anew.clock, anew.table.started.draws, anew.turns) == (game.table.started.clock, False, [])
    with pytest.raises(ApiError, match="by"):
        starts.create({"anew": game.id, "by": 2}, names=[], examples={}, find=find)


def test_a_new_deal_after_a_game_that_was_played_on_has_its_options(time):
    first = begin(game="coatl", options={"strict_ends": True}, open=True, clock=None)
    data = {"from": first.id, "seats": [PERSON, PERSON], "open": True}
    on = starts.create(data, names=[], examples={}, find={first.id: first}.__getitem__)
    on.change(partial(commands.resign, viewer=0))
    anew = starts.create({"anew": on.id}, names=[], examples={}, find={on.id: on}.__getitem__)
    assert anew.now.to_json()["options"] == first.now.to_json()["options"]


def test_a_new_deal_after_a_record_is_a_game_of_its_own(time):
    record = starts.create({"text": json.dumps(NIM)}, names=[], examples={}, find=None)
    assert record.table.started.is_shared
    anew = starts.create({"anew": record.id}, names=[], examples={}, find={record.id: record}.__getitem__).table.started
    assert (anew.is_shared, anew.is_dealt) == (False, True)
