"""Warnings before a turn stays, and how turns compare: nothing is sure within the noise."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mexica_ai as ai
from mexica_ai.analysis.annotate import CONFIDENCE_Z, SPREAD, TurnEvaluation, evaluate_record
from mexica_ai.analysis.blunder import THRESHOLD, Estimate, estimate, estimate_of, gain_of, warning
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


def test_a_warning_says_what_the_turn_gives_away():
    text = say(warning(evaluation(0.12, [0.08, 0.17])))
    assert text == "This gives away about 12 % of the win (8 to 17 %). Take it back?"
    assert say(warning(evaluation(0.12, [0.08, 0.17])), "pt").endswith("Voltar atrás?")


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


@given(shares, shares)
def test_a_comparison_has_no_favourite(first, second):
    one, other = estimate(first), estimate(second)
    (gain, is_sure), (loss, is_sure_of_loss) = gain_of(one, other), gain_of(other, one)
    assert (gain, is_sure) == (-loss, is_sure_of_loss)
    assert gain == second - first


def test_a_difference_is_sure_beyond_the_error_of_both_estimates():
    assert gain_of(estimate(0.08, [0.05, 0.11]), estimate(0.20, [0.15, 0.25])) == (pytest.approx(0.12), True)
    assert gain_of(estimate(0.17, [0.12, 0.22]), estimate(0.20, [0.15, 0.25])) == (pytest.approx(0.03), False)
    half = CONFIDENCE_Z * SPREAD
    assert not gain_of(estimate(0.2), estimate(0.2 + 1.4 * half))[1]
    assert gain_of(estimate(0.2), estimate(0.2 + 1.5 * half))[1]


def test_a_real_blunder_is_told():
    position = ai.new_game("nim", piles=[1, 2])
    position.push(["take 2 2"])
    (one,) = evaluate_record(make_record(position), iterations=200, seed=1)
    assert warning(one) is not None
    good = dataclasses.replace(one, turn=one.choice, loss=0.0)
    assert warning(good) is None
    assert gain_of(estimate_of(good), estimate_of(one)) == (one.loss, True)
