"""The clock of persons: what runs, what stops, what is left; times are given."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mexica_ai.game.clock import new_clock, read_clock
from mexica_ai.io.errors import NotationError

moments = st.lists(st.tuples(st.sampled_from(["over", "switch", "pause", "resume"]), st.floats(0, 50)), max_size=20)


def played(clock, steps, seats=3):
    """Return the clock after steps, when that is, and how long each seat's time ran."""
    now, ran = 0.0, [0.0] * seats
    for kind, wait in steps:
        if clock.since_s is not None:
            ran[clock.running] += wait
        now += wait
        following = 0 if clock.running is None else (clock.running + 1) % seats
        if kind in ("over", "switch"):
            clock = (clock.hand_over if kind == "over" else clock.switch)(following, now)
        else:
            clock = (clock.pause if kind == "pause" else clock.resume)(now)
    return clock, now, ran


@given(moments)
def test_no_time_is_lost_or_won(steps):
    clock, now, ran = played(new_clock(3, 10_000), steps)
    for seat in range(3):
        assert clock.left(seat, now) == pytest.approx(10_000 - ran[seat])
        assert not clock.has_fallen(seat, now)
    assert clock.fallen == ()


@given(moments)
def test_a_seat_whose_time_is_up_stays_so_and_gets_no_more(steps):
    clock, now, ran = played(new_clock(3, 60), steps)
    for seat in range(3):
        assert clock.left(seat, now) == pytest.approx(max(0.0, 60 - ran[seat]))
        if abs(60 - ran[seat]) > 1e-6:
            assert clock.has_fallen(seat, now) == (ran[seat] > 60)


@given(moments, moments)
def test_a_kept_clock_goes_on_where_it_was(before, after):
    clock, now, _ = played(new_clock(3, 60, 5), before)
    kept = read_clock(json.loads(json.dumps(clock.to_json(now))), 3)
    assert kept == clock.pause(now)
    later = 1e6  # another process has other times
    went_on = kept.resume(later) if clock.since_s is not None else kept
    for seat in range(3):
        assert went_on.left(seat, later + 3) == pytest.approx(clock.left(seat, now + 3))


def test_a_turn_in_time_brings_the_increment():
    clock = new_clock(2, 60, 5)
    assert (clock.running, clock.left(0, 100), clock.falls_at()) == (None, 60, None)
    clock = clock.switch(0, 100.0)
    assert (clock.left(0, 110.0), clock.left(1, 110.0), clock.falls_at()) == (50, 60, 160)
    clock = clock.hand_over(1, 110.0)
    assert (clock.left(0, 120.0), clock.left(1, 120.0)) == (55, 50)
    clock = clock.switch(0, 120.0)  # seat 0's turn is taken back
    assert (clock.left(0, 121.0), clock.left(1, 121.0)) == (54, 50)
    assert clock.hand_over(0, 125.0) == clock
    clock = clock.hand_over(None, 125.0)  # a random event takes nobody's time
    assert (clock.left(0, 999.0), clock.left(1, 999.0), clock.running) == (55, 50, None)


def test_a_flag_falls_and_stays():
    clock = new_clock(2, 60, 5).switch(0, 0.0)
    assert not clock.has_fallen(0, 59.9)
    assert clock.has_fallen(0, 60.0)
    clock = clock.hand_over(1, 61.0)
    assert (clock.left(0, 61.0), clock.fallen) == (0, (0,))
    assert clock.has_fallen(0, 61.0)
    assert not clock.has_fallen(1, 61.0)


def test_a_pause_stops_it_also_over_a_turn():
    clock = new_clock(2, 60).switch(0, 0.0).pause(10.0)
    assert clock.is_paused
    assert clock.left(0, 500.0) == 50
    assert clock.pause(600.0) == clock
    clock = clock.hand_over(1, 700.0)
    assert clock.is_paused
    clock = clock.resume(800.0)
    assert clock.resume(900.0) == clock
    assert (clock.left(0, 810.0), clock.left(1, 810.0)) == (50, 50)
    assert new_clock(2, 60).resume(5.0) == new_clock(2, 60)


def test_a_time_before_the_last_one_counts_as_that():
    clock = new_clock(2, 60).switch(0, 100.0)
    assert clock.left(0, 50.0) == 60
    assert clock.hand_over(1, 50.0).left(0, 50.0) == 60


@pytest.mark.parametrize(
    ("bank_s", "increment_s", "problem"),
    [
        (0, 0, "bank_s: given 0; expected seconds from 1 to 86400"),
        (60, -1, "increment_s: given -1; expected seconds from 0 to 3600"),
        (float("nan"), 0, "bank_s: given nan"),
        (True, 0, "bank_s: given true"),
    ],
)
def test_times_out_of_range_are_refused(bank_s, increment_s, problem):
    with pytest.raises(NotationError, match=problem):
        new_clock(2, bank_s, increment_s)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"left_s": [1.0]}, r"\$\.left_s: .*; expected 2 times"),
        ({"left_s": [1.0, -1.0]}, r"\$\.left_s: .*; expected times of 0 or more"),
        ({"running": 2}, r"\$\.running: given 2; expected a seat from 0 to 1, or null"),
        ({"since_s": 1.0}, r"\$\.since_s: given 1.0; expected null"),
        ({"fallen": [1, 0]}, r"\$\.fallen: .*; expected seats, ascending"),
        ({"fallen": [2]}, r"\$\.fallen"),
        ({"more": 1}, r'unknown key "more"'),
    ],
)
def test_what_is_no_clock_is_refused(change, problem):
    with pytest.raises(NotationError, match=problem):
        read_clock(new_clock(2, 60).to_json(0.0) | change, 2)
