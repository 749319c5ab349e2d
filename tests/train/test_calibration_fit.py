"""The fit of the maps between what searches find and what is published."""

import numpy as np
import pytest

from mexica_ai.analysis import calibration
from mexica_ai.analysis.calibration import LEAST_SLOPE, Calibration
from mexica_ai.train.calibration import Decisions, fit, to_json

TRUE = Calibration([(6.0, 10.0), (0.0, 5.0)], [0.6, 0.5, 0.9, 0.85], [-0.4, -0.6, -0.3, -0.5], [0.8, 0.9, 0.8, 0.9])


def drawn(players, count, one, seed=1):
    """Return decisions whose outcomes are drawn from what a map publishes, or from the shares themselves."""
    random_ = np.random.default_rng(seed)
    shares = random_.dirichlet([1.5] * players, count)
    seats = random_.integers(players, size=count)
    facts = np.column_stack([random_.choice([6.0, 10.0], count), random_.uniform(0, 5, count)])
    facts[0, 1], facts[facts[:, 1] > 4.9, 1] = 0, 5
    facts[-1, 1] = 99  # a game that does not end
    chances = published(one, shares, seats, facts) if one else shares
    winners = (random_.random((count, 1)) < chances.cumsum(1)).argmax(1)
    return Decisions(shares, seats, facts, np.eye(players)[winners], np.ones(count))


def published(one, shares, seats, facts):
    return np.array([one.shares(*row) for row in zip(shares.tolist(), seats.tolist(), facts.tolist(), strict=True)])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_fit_finds_the_map_that_drew_the_outcomes(players):
    found = fit(drawn(players, 60_000, TRUE))
    assert found.ranges == [(6.0, 10.0), (0.0, 5.0)]
    assert found.temperature == pytest.approx(TRUE.temperature, abs=0.15)
    assert found.shift == pytest.approx(TRUE.shift, abs=0.15)
    assert found.others == pytest.approx(TRUE.others if players > 2 else [1] * 4, abs=0.15)


@pytest.mark.parametrize("players", [2, 4])
def test_true_shares_are_left_alone(players):
    fresh = drawn(players, 500, None, seed=2)
    found = published(fit(drawn(players, 40_000, None)), fresh.shares, fresh.seats, fresh.facts)
    assert np.abs(found - fresh.shares).max() < 0.04


def test_published_shares_are_right_on_average():
    data = drawn(3, 20_000, TRUE)
    found = published(fit(data), data.shares, data.seats, data.facts)
    for seat in range(3):
        of_seat = data.seats == seat
        assert found[of_seat].mean(0) == pytest.approx(data.won[of_seat].mean(0), abs=0.02)


def test_weights_count_as_repetitions_and_ties_as_halves():
    data = drawn(2, 3_000, TRUE)
    twice = Decisions(*(np.concatenate([column, column]) for column in vars(data).values()))
    weighed = Decisions(data.shares, data.seats, data.facts, data.won, data.weights * 2)
    assert fit(weighed).temperature == pytest.approx(fit(twice).temperature, abs=1e-6)
    swapped = Decisions(data.shares, data.seats, data.facts, 1 - data.won, data.weights)
    both = Decisions(
        *(np.concatenate([a, b]) for a, b in zip(vars(data).values(), vars(swapped).values(), strict=True))
    )
    halves = Decisions(data.shares, data.seats, data.facts, np.full_like(data.won, 0.5), data.weights * 2)
    assert fit(halves).shift == pytest.approx(fit(both).shift, abs=1e-6)


def test_shares_that_mislead_are_made_flat_and_not_turned_around():
    data = drawn(2, 5_000, None)
    found = fit(Decisions(data.shares, data.seats, data.facts, data.won[:, ::-1], data.weights))
    assert found.temperature == [LEAST_SLOPE] * 4
    others = drawn(3, 5_000, None)
    winners = np.eye(3)[(others.won.argmax(1) + 1) % 3]
    found = fit(Decisions(others.shares, others.seats, others.facts, winners, others.weights))
    assert min(*found.temperature, *found.others) == LEAST_SLOPE


def test_few_games_of_one_winner_do_not_break_the_fit():
    data = drawn(2, 60, None)
    for winner in range(2):
        won = np.zeros_like(data.won)
        won[:, winner] = 1
        found = fit(Decisions(data.shares, data.seats, data.facts, won, data.weights))
        assert np.isfinite([*found.temperature, *found.shift, *found.others]).all()


def test_what_is_written_is_read(tmp_path):
    maps = {players: fit(drawn(players, 5_000, TRUE)) for players in (2, 3)}
    data = to_json("coatl", "0123456789ab", maps, {"command": "this"})
    weights, found = calibration.parse(data, "file")
    assert weights == "0123456789ab"
    assert list(found) == [2, 3]
    for players, one in maps.items():
        fresh = drawn(players, 100, None)
        first, second = (published(each, fresh.shares, fresh.seats, fresh.facts) for each in (one, found[players]))
        assert np.abs(first - second).max() < 2e-4
