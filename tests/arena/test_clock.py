"""Time on a clock: how much of it a turn takes, and what a late answer costs; on a virtual clock."""

import argparse
import contextlib
import json
import time
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mexica_ai as ai
from mexica_ai.analysis.limits import LEAST_TIME_S, clock_margin, time_from_clock
from mexica_ai.arena import play
from mexica_ai.arena.play import Task, play_game
from mexica_ai.arena.tournament import Tournament, reproducible_key
from mexica_ai.cli import engine as engine_command
from mexica_ai.engines import make_engine

TURNS = 200  # of a seat; far more than in any game
CLOCKS = [(1.0, 0.02), (3.0, 0.05), (60.0, 0.0)]
LATENESS = [0.01, 0.02, 0.05]
LONG_GAME = ai.new_game("nim", piles=[60] * 8).to_compact()


def turns_in_time(bank_s, increment_s, late_s, turns=TURNS):
    """Return the shares of a seat's turns, each answered `late_s` late, and what is left after each of them."""
    margin, left_s = clock_margin(), bank_s
    shares, left = [], []
    for _ in range(turns):
        share_s = time_from_clock(left_s, increment_s, margin, bank_s)
        left_s -= share_s + late_s
        shares.append(share_s)
        left.append(left_s)
        if left_s < 0:
            break
        margin.note(late_s)
        left_s += increment_s
    return shares, left


@pytest.mark.parametrize(
    ("bank_s", "increment_s", "late_s"),
    [(*clock, late_s) for clock in CLOCKS for late_s in LATENESS if clock[1] + clock[0] / 200 > late_s],
)
def test_late_answers_lose_no_game_on_time(bank_s, increment_s, late_s):
    shares, left = turns_in_time(bank_s, increment_s, late_s)
    assert len(shares) == TURNS
    assert min(left) >= 0
    assert sum(shares[:30]) > 0.6 * (bank_s + 30 * increment_s - 30 * late_s)  # but the time is used


@pytest.mark.parametrize("late_s", [0.01, 0.02, 0.05])
def test_where_the_clock_cannot_pay_for_the_answers_the_search_goes_first(late_s):
    shares, left = turns_in_time(1.0, 0.0, late_s)
    last = next(turn for turn, share_s in enumerate(shares) if share_s == 0)
    assert 1 / 4 < left[last - 1] < 1 / 2  # of the bank is still there, for answers alone
    assert not any(shares[last:])
    assert len(shares) - last > 0.2 / late_s


def test_the_time_of_a_turn_without_late_answers():
    assert time_from_clock(2.005, 0.1) == pytest.approx(0.1 + 0.05)  # a twentieth and half of the increment
    assert time_from_clock(2.005, 50.0) == pytest.approx(1.0)  # half of what is left
    assert time_from_clock(0.02, 0.0) == 0.0
    assert time_from_clock(0.0, 5.0) == 0.0


def test_the_lateness_of_a_turn_comes_off_its_time():
    margin = clock_margin()
    for _ in range(200):
        margin.note(0.03)
    # The margin, 0.06 s, and one answer, 0.03 s; and of the increment the part that answers do not use.
    assert time_from_clock(2.09, 0.1, margin) == pytest.approx(2 / 20 + 0.07 / 2)
    # Without an increment, for 200 answers, 6 s, but at most a third of the bank.
    assert time_from_clock(20.09, 0.0, margin, 60.0) == pytest.approx((20 - 6) / 20)
    assert time_from_clock(2.09, 0.0, margin, 3.0) == pytest.approx((2 - 1) / 20)
    assert time_from_clock(2.09, 0.02, margin, 60.0) == 0.0  # 0.01 s for each of 200


def test_one_very_late_answer_leaves_at_least_half_of_the_time():
    margin = clock_margin()
    for late_s in [0.0] * 50 + [2.0]:
        margin.note(late_s)
    late_s = 2 / 51
    assert time_from_clock(3.0, 0.1, margin) == pytest.approx((1.5 - late_s) / 20 + (0.1 - late_s) / 2)


@given(
    st.floats(0, 100),
    st.floats(0, 10),
    st.floats(0, 1e8),
    st.lists(st.floats(0, 100), max_size=5),
)
def test_never_more_than_is_left(remaining_s, increment_s, more_s, lateness):
    margin = clock_margin()
    for late_s in lateness:
        margin.note(late_s)
    share_s = time_from_clock(remaining_s, increment_s, margin, remaining_s + more_s)
    assert 0 <= share_s <= remaining_s / 2
    assert share_s == 0 or share_s >= LEAST_TIME_S


# A seat of the arena


class VirtualTime:
    """Stands for the module `time` in a module under test: stopwatches show what was spent."""

    sleep = staticmethod(time.sleep)

    def __init__(self):
        self.now_s = 1000.0

    def spend(self, seconds):
        self.now_s += seconds

    def perf_counter(self):
        return self.now_s

    monotonic = process_time = perf_counter


class LateEngine:
    """Plays at random, but uses its time, and `late_s` more, of the virtual clock."""

    name = "late"

    def __init__(self, clock, late_s):
        self._clock, self._late_s = clock, late_s
        self._engine = make_engine("random")
        self.spec = self._engine.spec
        self.times = []

    def best_turn(self, position, limits, **options):
        self.times.append(limits.time_s)
        self._clock.spend(limits.time_s + self._late_s)
        return self._engine.best_turn(position, limits, **options)

    def weights_id(self, game):
        return None

    def close(self):
        pass


@pytest.fixture
def stopwatch(monkeypatch):
    """Replace the stopwatch of the arena's games, and the watchdog, which needs a real one."""
    found = VirtualTime()
    monkeypatch.setattr(play, "time", found)
    watchdog = types.SimpleNamespace(watch=lambda *args: contextlib.nullcontext(ai.Stop()))
    monkeypatch.setattr(play, "_watchdog", watchdog)
    return found


def game_of(stopwatch, monkeypatch, late_s, **options):
    """Return the record of a game of late engines, and the engines by seat."""
    engines = [LateEngine(stopwatch, late_s) for _ in range(2)]
    waiting = iter(engines)
    monkeypatch.setattr(play, "_start", lambda spec, log=None: next(waiting))
    options = {"engines": ("random", "greedy"), "margin_s": 0.0, **options}
    tournament = Tournament("nim", 2, names=("a", "b"), seed=3, key=reproducible_key(3), **options)
    return play_game(Task(tournament, tournament.block(0)[0], opening=LONG_GAME)), engines


def test_the_arena_gives_what_the_clock_leaves(stopwatch, monkeypatch):
    record, engines = game_of(stopwatch, monkeypatch, 0.02, clock=(0.5, 0.01))
    assert record["termination"] == "finished"
    for seat, engine in enumerate(engines):
        margin, left_s = clock_margin(), 0.5
        for time_s in engine.times:
            assert time_s == pytest.approx(max(LEAST_TIME_S, time_from_clock(left_s, 0.01, margin, 0.5)))
            left_s += 0.01 - time_s - 0.02
            margin.note(0.02)
        assert len(engine.times) == record["arena"]["seats"][seat]["turns"] > 3


def test_a_clock_s_share_of_a_turn_is_no_limit_where_the_turn_has_one_of_its_own(stopwatch, monkeypatch):
    engines = ("random,time=9", "greedy,time=9")
    record, _ = game_of(stopwatch, monkeypatch, 0.02, clock=(0.5, 0.01), engines=engines)
    assert record["termination"] == "finished"


def test_the_work_of_the_arena_is_on_no_clock(stopwatch, monkeypatch):
    seen_by = play.seen_by

    def slow(position, seat):
        stopwatch.spend(5.0)
        return seen_by(position, seat)

    monkeypatch.setattr(play, "seen_by", slow)
    record, _ = game_of(stopwatch, monkeypatch, 0.0, clock=(0.5, 0.0))
    assert record["termination"] == "finished"
    assert max(record["times"]) < 0.5
    assert max(seat["late_max_s"] for seat in record["arena"]["seats"]) < 1e-6


def test_the_margin_holds_for_a_clock_once(stopwatch, monkeypatch):
    record, engines = game_of(stopwatch, monkeypatch, 0.1, clock=(0.15, 0.0), margin_s=0.3)
    # Of 0.15 s and 0.3 s, two turns of at least 0.1 s are within the clock and the margin, and the fifth is not.
    assert record["forfeit"]["reason"] == "out of time"
    assert "and the margin, 0.3 s" in record["forfeit"]["detail"]
    assert len(engines[record["forfeit"]["seat"]].times) in (4, 5)
    # A clock that is overdrawn leaves the least search.
    assert engines[record["forfeit"]["seat"]].times[-1] == LEAST_TIME_S
    strict, _ = game_of(stopwatch, monkeypatch, 0.1, clock=(0.15, 0.0), margin_s=0.0)
    assert strict["arena"]["seats"][0]["turns"] == 2
    assert game_of(stopwatch, monkeypatch, 0.1, clock=(0.15, 0.0), margin_s=9.0)[0]["termination"] == "finished"


def test_the_time_of_a_turn_and_a_clock_hold_both(stopwatch, monkeypatch):
    record, engines = game_of(
        stopwatch, monkeypatch, 0.0, clock=(60.0, 0.0), engines=("random,time=0.5", "greedy,time=0.5")
    )
    assert record["termination"] == "finished"
    assert set(engines[0].times) == {0.5}


# `mexica-ai engine`


class LateServer(LateEngine):
    def best_turn(self, position, limits, **options):
        return super().best_turn(position, limits, seed=options["seed"])

    def rest(self):
        """Do nothing: it does not think in the others' time."""

    def ponder(self, position, turn):
        """Do nothing."""


@pytest.fixture
def asked(monkeypatch, capsys):
    """Return a function that asks an engine that answers late; it returns the seconds that each turn was given."""
    clock = VirtualTime()
    monkeypatch.setattr(engine_command, "time", clock)
    engine = LateServer(clock, LATE_S)
    args = argparse.Namespace(time=None, iterations=None, memory=None, threads=None, candidates=1)
    server = engine_command._Server(engine, args)

    def ask(position, remaining_s=None, increment_s=0.0, **request):
        if remaining_s is not None:
            request["clock"] = {"remaining_s": remaining_s, "increment_s": increment_s}
        server._waiting.put(engine_command._Request({"id": 1, "position": position.to_json(), "seed": 1, **request}))
        server._waiting.put(None)
        server.answer()
        assert "turn" in json.loads(capsys.readouterr().out)
        return engine.times[-1]

    return ask


LATE_S = 0.03
NIM = ai.new_game("nim")


def share(remaining_s, increment_s=0.0, *, bank_s, is_late=True):
    margin = clock_margin()
    if is_late:
        margin.note(LATE_S)
    return max(LEAST_TIME_S, time_from_clock(remaining_s, increment_s, margin, bank_s))


def test_the_engine_of_the_protocol_learns_how_late_it_answers(asked):
    first = asked(NIM, 60.0)
    assert first == pytest.approx(share(60.0, bank_s=60.0, is_late=False))
    paid = asked(NIM, 57.0, 0.05)
    assert paid == pytest.approx(share(57.0, 0.05, bank_s=60.0))
    assert paid > asked(NIM, 57.0) == pytest.approx(share(57.0, bank_s=60.0))


def test_a_clock_that_goes_down_is_of_one_game(asked):
    time_s, left_s = 1.0, 12.0
    while time_s > LEAST_TIME_S:
        time_s = asked(NIM, left_s)
        left_s -= time_s + LATE_S + 0.001
    assert 3.9 < left_s < 4.2  # a third for late answers
    assert share(left_s, bank_s=left_s) > 10 * LEAST_TIME_S


def test_turns_without_a_clock_may_come_between_those_of_one_game(asked):
    asked(NIM, 60.0)
    assert asked(NIM, limits={"time_s": 42.0}) == 42.0
    assert asked(NIM, 15.0) == pytest.approx(share(15.0, bank_s=60.0))


@pytest.mark.parametrize(
    ("another", "remaining_s"),
    [(NIM, 13.0), (NIM, 3.0), (NIM, 10.5), (ai.new_game("nim", players=3), 11.5), (ai.new_game("mexica"), 11.5)],
    ids=["more time", "less time", "a little less", "more seats", "another name"],
)
def test_another_game_has_a_bank_of_its_own(asked, another, remaining_s):
    asked(NIM, 60.0)
    asked(NIM, limits={"time_s": 45.0})
    assert asked(NIM, 12.0) == pytest.approx(share(12.0, bank_s=60.0))
    assert asked(another, remaining_s) == pytest.approx(share(remaining_s, bank_s=remaining_s))
    assert share(remaining_s, bank_s=remaining_s) > share(remaining_s, bank_s=60.0) + 0.05
