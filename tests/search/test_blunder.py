"""Warnings before a turn stays, and how a turn compares with the one that was played: nothing within the noise."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mexica_ai as ai
from mexica_ai.analysis.annotate import SPREAD, TurnEvaluation, evaluate_record
from mexica_ai.analysis.blunder import THRESHOLD, Estimate, compare, estimate_of, warning
from mexica_ai.analysis.words import say
from mexica_ai.game.records import make_record
from mexica_ai.io.errors import NotationError

shares = st.floats(0, 1)


def evaluation(loss, interval=None, turn="a", choice="best"):
    return TurnEvaluation(
        turn_index=0,
        seat=0,
        turn=[turn],
        before=[0.5, 0.5],
        after=[0.5, 0.5],
        choice=[choice],
        choice_value=[0.5, 0.5],
        loss=loss,
        expected_scores_before=[1.0, 1.0],
        expected_scores_after=[1.0, 1.0],
        scores=[0.0, 0.0],
        iterations=1,
        seconds=0.1,
        interval=interval,
    )


def said(comparison):
    return [say(one) for one in comparison.phrases]


def test_a_warning_says_what_the_turn_gives_away():
    text = say(warning(evaluation(0.12, [0.08, 0.17])))
    assert text == "This gives away about 12 % of the win (8 to 17 %). Take it back?"
    assert say(warning(evaluation(0.12, [0.08, 0.17])), "pt").endswith("Desfazer?")


@given(shares, st.none() | st.tuples(shares, shares).map(sorted), st.floats(0.01, 0.99))
def test_nothing_is_said_within_the_interval(loss, interval, threshold):
    one = evaluation(loss, interval)
    low = estimate_of(one).low
    assert (warning(one, threshold) is not None) == (low >= threshold)


def test_one_search_alone_must_see_more():
    assert warning(evaluation(THRESHOLD + SPREAD)) is None
    assert warning(evaluation(THRESHOLD + 2 * SPREAD)) is not None
    assert warning(evaluation(0.3, turn="best")) is None
    assert estimate_of(evaluation(0.02)) == Estimate(0.02, 0.0, pytest.approx(0.0648))


@pytest.mark.parametrize("threshold", [0, 1, -0.1, float("nan")])
def test_a_threshold_is_a_share(threshold):
    with pytest.raises(NotationError, match="expected a share of the win, above 0, below 1"):
        warning(evaluation(0.5), threshold)


def test_a_turn_is_compared_with_mine_and_the_engines():
    mine = evaluation(0.20, [0.15, 0.25], turn="mine")
    best = compare(evaluation(0.0, turn="best"), mine)
    assert said(best) == [
        "That is the engine's turn: nothing better was found.",
        "Better than your turn by about 20 % of the win.",
    ]
    assert best.is_found
    better = compare(evaluation(0.08, [0.05, 0.11]), mine)
    assert said(better) == [
        "It gives away about 8 % of the win against the engine's turn (5 to 11 %).",
        "Better than your turn by about 12 % of the win.",
    ]
    assert not better.is_found
    worse = compare(evaluation(0.40, [0.35, 0.45]), mine)
    assert said(worse)[1] == "Worse than your turn by about 20 % of the win."
    near = compare(evaluation(0.17, [0.12, 0.22]), mine)
    assert (near.gain, said(near)[1]) == (0.0, "About as good as your turn, as far as the searches tell.")
    equal = compare(evaluation(0.02), mine)
    assert said(equal)[0] == "As good as the engine's turn, as far as the searches tell."
    assert equal.is_found


def test_my_own_turn_again_finds_nothing():
    mine = evaluation(0.20, [0.15, 0.25], turn="mine")
    again = compare(mine, mine)
    assert said(again) == ["That is the turn that you played; it gives away about 20 % of the win."]
    assert not again.is_found
    spelled = compare(evaluation(0.2, turn="alike"), mine, lambda: True)
    assert spelled.is_played
    fine = compare(evaluation(0.01, turn="mine"), evaluation(0.01, turn="mine"))
    assert said(fine) == ["That is the turn that you played; no search could tell it from the engine's."]
    assert not fine.is_found


@given(shares, shares)
def test_a_comparison_has_no_favourite(first, second):
    one, other = evaluation(first), evaluation(second, turn="b")
    assert compare(one, other).gain == -compare(other, one).gain
    assert abs(compare(one, other).gain) in (0.0, abs(first - second))


def test_a_real_blunder_is_told():
    position = ai.new_game("nim", piles=[1, 2])
    position.push(["take 2 2"])
    (one,) = evaluate_record(make_record(position), iterations=200, seed=1)
    assert warning(one) is not None
    good = dataclasses.replace(one, turn=one.choice, loss=0.0)
    assert warning(good) is None
    assert compare(good, one).is_found
