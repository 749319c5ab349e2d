"""The statistics of the arena on simulated matches of known strength, and on small ones done by hand."""

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.optimize import brentq

from mexica_ai.arena import ratings
from mexica_ai.arena.blocks import Games
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.statistics import (
    Estimate,
    LiveRatings,
    Sprt,
    block_interval,
    by_pattern,
    elo,
    fit_plackett_luce,
    likelihood_of_superiority,
    seat_advantage,
    summarize,
)

MATCHES = 2000


def rotated(pattern):
    """Return the seatings of a block of one pattern."""
    return [pattern[-shift:] + pattern[:-shift] for shift in range(len(pattern))]


TWO = rotated((0, 1))
THREE = rotated((0, 1, 1)) + rotated((0, 0, 1))
FOUR = rotated((0, 1, 1, 1)) + rotated((0, 0, 0, 1))


# Simulated matches: M matches of B blocks of G games with S seats.


def simulate_shares(seed, seatings, strengths, *, matches=MATCHES, blocks, deal=0.0, seat_effects=None, points=0.0):
    """Return the scores of matches and the shares of the win; shape (M, B, G, S).

    A seat's score is its engine's strength, its own effect, one of the deal (standard deviation `deal`, alike
    in all games of a block) and one from Gumbel's distribution, which makes a Plackett-Luce model. With
    `points` it is a whole number of 1/points, so that there are ties.
    """
    luck = draw_luck(seed, seatings, matches=matches, blocks=blocks, deal=deal)
    return with_luck(luck, seatings, strengths, seat_effects=seat_effects, points=points)


def draw_luck(seed, seatings, *, matches=MATCHES, blocks, deal=0.0, **others):
    """Return what deals and chance add to the scores of `simulate_shares`; shape (M, B, G, S)."""
    rng = np.random.default_rng(seed)
    deals = deal * rng.standard_normal((matches, blocks, 1, len(seatings[0])))
    return deals + rng.gumbel(size=(matches, blocks, *np.shape(seatings)))


def with_luck(luck, seatings, strengths, *, seat_effects=None, points=0.0, **others):
    """Return the scores and shares of `simulate_shares` for what deals and chance add."""
    scores = luck + np.asarray(strengths)[np.array(seatings)] + (0 if seat_effects is None else seat_effects)
    if points:
        scores = np.round(points * scores)
    best = scores == scores.max(axis=-1, keepdims=True)
    return scores, best / best.sum(axis=-1, keepdims=True)


def simulate(*args, **options):
    """Return the shares, ranks and margins of matches; shape (M, B, G, S)."""
    scores, shares = simulate_shares(*args, **options)
    above = (scores[..., None, :] > scores[..., :, None]).sum(axis=-1)
    tied = (scores[..., None, :] == scores[..., :, None]).sum(axis=-1)
    others = [np.delete(scores, seat, axis=-1).max(axis=-1) for seat in range(scores.shape[-1])]
    return shares, above + (tied + 1) / 2, scores - np.stack(others, axis=-1)


def means_of(values, seatings, engine=0):
    """Return the means per block over the seats of an engine."""
    chosen = np.array(seatings) == engine
    return (values * chosen).sum(axis=(-1, -2)) / chosen.sum()


def to_outcomes(played, seatings, match=0):
    shares, ranks, margins = (values[match].tolist() for values in played)
    patterns = ["".join("ABCD"[engine] for engine in sorted(seating)) for seating in seatings]
    return [
        Outcome(
            block,
            patterns[game],
            seating,
            tuple(shares[block][game]),
            tuple(ranks[block][game]),
            tuple(margins[block][game]),
        )
        for block in range(len(shares))
        for game, seating in enumerate(seatings)
    ]


def covers(low, high, truth):
    return np.mean((low <= truth) & (truth <= high))


# The figures of a match.


def game(block, engines, scores, forfeit=None):
    """Return the outcome of a game with these scores."""
    best = max(scores)
    winners = scores.count(best)
    ranks = [sum(x > score for x in scores) + (scores.count(score) + 1) / 2 for score in scores]
    margins = [score - max(scores[:seat] + scores[seat + 1 :]) for seat, score in enumerate(scores)]
    return Outcome(
        block,
        "".join("ABCD"[engine] for engine in sorted(engines)),
        tuple(engines),
        tuple((score == best) / winners for score in scores),
        tuple(ranks),
        None if forfeit is not None else tuple(margins),
        forfeit,
    )


def test_shares_ranks_and_margins_are_means_over_the_seats_of_an_engine():
    outcomes = [
        game(0, [0, 1, 1], [5, 3, 1]),
        game(0, [1, 0, 1], [4, 4, 0]),
        game(0, [1, 1, 0], [9, 2, 1]),
        game(0, [0, 0, 1], [5, 6, 1]),
        game(0, [1, 0, 0], [7, 6, 1]),
        game(0, [0, 1, 0], [3, 6, 5]),
        game(1, [0, 1, 1], [5, 3, 1]),  # incomplete
    ]
    a, b = summarize(outcomes, 2, games_per_block=6)
    assert (a.games, a.blocks, a.forfeits) == (7, 1, 0)
    assert a.share == Estimate(pytest.approx((1 + 0.5 + 0 + 1 + 0 + 0) / 9))
    assert b.share == Estimate(pytest.approx((0 + 0.5 + 1 + 0 + 1 + 1) / 9))
    assert a.share.mean + b.share.mean == pytest.approx(2 / 3)
    assert a.expected_share == pytest.approx(1 / 3)
    assert a.rank.mean == pytest.approx((1 + 1.5 + 3 + 1 + 2 + 2 + 3 + 2 + 3) / 9)
    assert a.margin.mean == pytest.approx((2 + 0 - 8 - 1 + 1 - 1 - 6 - 3 - 1) / 9)
    assert [estimate.mean for estimate in a.seat_shares] == pytest.approx([1 / 3, (0.5 + 1 + 0) / 3, 0])
    patterns = by_pattern(outcomes, 2, games_per_block=6)
    assert list(patterns) == ["ABB", "AAB"]
    assert patterns["ABB"][0].share.mean == pytest.approx(0.5)
    assert patterns["ABB"][0].games == 4
    assert patterns["AAB"][1].share.mean == pytest.approx(2 / 3)
    advantage = seat_advantage(outcomes, games_per_block=6)
    assert [estimate.mean for estimate in advantage] == pytest.approx([3.5 / 6, 2.5 / 6, 0])


def test_a_forfeit_counts_but_has_no_margin():
    outcomes = [
        game(0, [0, 1], [3, 1]),
        game(0, [1, 0], [0, 1], forfeit=0),
        game(1, [0, 1], [0, 1], forfeit=0),
        game(1, [1, 0], [1, 0], forfeit=1),
    ]
    a, b = summarize(outcomes, 2)
    assert (a.forfeits, b.forfeits) == (2, 1)
    assert (a.share.mean, a.rank.mean, a.margin) == (0.5, 1.5, Estimate(2.0))
    assert a.share.low is not None


def test_without_games_there_is_nothing_to_tell():
    for outcomes, options in (([], {}), ([game(0, [0, 1], [1, 0])], {"games_per_block": 2})):
        for summary in summarize(outcomes, 3, **options):
            assert summary.blocks == 0
            assert summary.share == summary.rank == summary.margin == Estimate(None)
        assert all(estimate == Estimate(None) for estimate in seat_advantage(outcomes, **options))
        assert likelihood_of_superiority(outcomes, **options) is None
        assert Sprt(0.5, 0.6, 0.05, 0.05).state(outcomes, **options).blocks == 0
        assert [estimate.mean for estimate in fit_plackett_luce(outcomes, 3, **options)] == pytest.approx([0, 0, 0])


def test_games_with_different_numbers_of_seats_are_refused():
    with pytest.raises(ValueError, match="2 and with 3 seats"):
        summarize([game(0, [0, 1], [1, 0]), game(1, [0, 1, 1], [1, 0, 0])], 2)


def test_an_engine_on_all_seats_has_the_expected_share():
    (a,) = summarize([game(block, [0, 0], [block, 1]) for block in range(4)], 1)
    assert a.share == Estimate(0.5, 0.5, 0.5)
    assert likelihood_of_superiority([game(block, [0, 0], [block, 1]) for block in range(4)]) == 0.5


def test_elo():
    assert elo(Estimate(0.5)) == Estimate(0.0, None, None)
    assert elo(Estimate(10 / 11, 0.0, 1.0)) == Estimate(pytest.approx(400), -math.inf, math.inf)
    assert elo(Estimate(None)) == Estimate(None)


# Intervals.


def test_far_from_the_bounds_it_is_students_interval():
    values = np.random.default_rng(1).choice([0, 0.25, 0.5, 0.75, 1], size=2000)
    assert block_interval(values, 0, 1, 2) == pytest.approx(block_interval(values), abs=1e-4)


def test_blocks_that_are_all_alike_do_not_make_an_interval_of_no_length():
    low, high = block_interval(np.ones(50), 0, 1, 2)
    assert (low, high) == (pytest.approx(50 / (50 + 2.0096**2), abs=1e-4), 1.0)
    one_lost_game = block_interval(np.append(np.ones(49), 0.5), 0, 1, 2)
    assert low < one_lost_game[0] < one_lost_game[1] < 1
    low, high = block_interval(np.full(50, 0.5), 0, 1, 2)
    assert 0.44 < low < 0.49
    assert high == pytest.approx(1 - low)


# Strengths and seat effects in units in which 1 is 174 Elo; a deal effect correlates the games of a block.
SHAPES = {
    "2 seats, equal": (TWO, (0, 0), 30, {"deal": 1.0}),
    "2 seats, ties": (TWO, (0.6, 0), 50, {"deal": 1.0, "seat_effects": (0.5, 0), "points": 2}),
    "2 seats, one seat nearly always wins": (TWO, (0.3, 0), 50, {"seat_effects": (3, 0)}),
    "2 seats, the deal decides": (TWO, (0.3, 0), 50, {"deal": 3.0}),
    "2 seats, lopsided": (TWO, (3, 0), 100, {"deal": 0.5}),
    "3 seats, both patterns": (THREE, (0.5, 0), 25, {"seat_effects": (0.3, 0, -0.3), "points": 3}),
    "3 seats, one pattern": (THREE[:3], (0.8, 0), 40, {"deal": 1.0}),
    "4 seats, both patterns": (FOUR, (0.7, 0), 25, {"deal": 1.0, "seat_effects": (0.5, 0.3, 0, -0.2)}),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_the_intervals_cover_the_truth_as_often_as_they_say(shape):
    seatings, strengths, blocks, effects = SHAPES[shape]
    played = simulate(11, seatings, strengths, blocks=blocks, **effects)
    known = simulate(12, seatings, strengths, blocks=60_000, matches=1, **effects)
    games = Games(to_outcomes(played, seatings))
    chosen = games.on_seats(0)
    for name, values, truth in zip(("share", "rank", "margin"), played, known, strict=True):
        means = getattr(games, f"{name}_means")(chosen)
        scores = means_of(values, seatings)
        assert means.values == pytest.approx(scores[0])
        low, high = block_interval(scores, means.low, means.high, means.games)
        coverage = covers(low, high, means_of(truth, seatings).mean())
        print(f"{shape}: {name} {coverage:.2%}")  # for those who look with -s
        assert 0.935 <= coverage <= 0.965, (name, coverage)


@pytest.mark.slow
def test_the_intervals_of_a_summary_of_elo_and_of_seats_cover_the_truth():
    effects = {"deal": 0.5, "seat_effects": (0.4, 0)}
    played = simulate(21, TWO, (0.4, 0), blocks=20, **effects)
    known = simulate(22, TWO, (0.4, 0), blocks=100_000, matches=1, **effects)
    share = means_of(known[0], TWO).mean()
    truths = {"share": share, "elo": 400 * math.log10(share / (1 - share)), "seat": known[0][..., 0].mean()}
    hits = dict.fromkeys(truths, 0)
    for match in range(MATCHES):
        outcomes = to_outcomes(played, TWO, match)
        estimate = summarize(outcomes, 2)[0].share
        estimates = {"share": estimate, "elo": elo(estimate), "seat": seat_advantage(outcomes)[0]}
        for name, truth in truths.items():
            hits[name] += estimates[name].low <= truth <= estimates[name].high
    for name, count in hits.items():
        print(f"{name} {count / MATCHES:.2%}")
        assert 0.935 <= count / MATCHES <= 0.965, (name, count / MATCHES)


def test_superiority_by_hand():
    # Shares 1, 1, 1 and 0: variance 1/4 between blocks, 3/16 of a single win or loss, a prior of 1/8 for one game.
    for games, prior, expected in ((1, 0.125, 0.7786184), (4, 0.125 / 4, 0.7759318)):
        outcomes = [game(block, [0, 1], [block < 3, block >= 3]) for block in range(4) for _ in range(games)]
        ratio = (4 * 0.25 + prior) / (4 * 0.1875 + prior)
        statistic = 0.25 / math.sqrt(0.25 * ratio / 4)
        # Student's distribution function with three degrees of freedom.
        x = statistic / math.sqrt(3)
        assert 0.5 + (math.atan(x) + x / (1 + x * x)) / math.pi == pytest.approx(expected, abs=1e-6)
        assert likelihood_of_superiority(outcomes) == pytest.approx(expected, abs=1e-6)
        assert likelihood_of_superiority(outcomes, 1) == pytest.approx(1 - expected, abs=1e-6)
    assert likelihood_of_superiority([game(block, [0, 1], [3, 3]) for block in range(4)]) == 0.5


@pytest.mark.slow
def test_superiority_is_likely_where_the_interval_lies_above_equal_shares():
    for seatings in (TWO, THREE, FOUR):
        played = simulate(31, seatings, (0.5, 0), matches=200, blocks=12)
        agreed = []
        for match in range(200):
            outcomes = to_outcomes(played, seatings, match)
            share = summarize(outcomes, 2)[0].share
            likelihood = likelihood_of_superiority(outcomes)
            assert likelihood == pytest.approx(1 - likelihood_of_superiority(outcomes, 1))
            assert (likelihood > 0.975) == (share.low > 1 / len(seatings[0]))
            agreed.append(likelihood > 0.975)
        assert 0 < sum(agreed) < 200


# The sequential test.


def test_sprt_is_read_as_elo_or_as_shares():
    assert Sprt.parse("0,400,0.05,0.1", 2) == Sprt(0.5, 1 / (1 + 10**-1), 0.05, 0.1)
    assert Sprt.parse(" share: 0.5, 0.55, 0.05, 0.05", 2) == Sprt(0.5, 0.55, 0.05, 0.05)
    assert Sprt.parse("0.25,0.3,0.05,0.05", 4) == Sprt.parse("share:0.25,0.3,0.05,0.05", 4)
    assert Sprt.parse("0,5,0.05,0.05", 2).bounds == pytest.approx((-2.944, 2.944), abs=1e-3)


@pytest.mark.parametrize(
    ("text", "players", "message"),
    [
        ("0,5,0.05", 2, "four numbers expected: elo0,elo1,alpha,beta"),
        ("0,5,0.05,x", 2, "four numbers expected"),
        ("0,inf,0.05,0.05", 2, "four numbers expected"),
        ("", 3, "four numbers expected: share0,share1,alpha,beta"),
        ("5,0,0.05,0.05", 2, "elo0 below elo1 expected"),
        ("0,5,0.05,0.05", 3, "0 < share0 < share1 < 1 expected"),
        ("0.3,0.25,0.05,0.05", 4, "0 < share0 < share1 < 1 expected"),
        ("0,5,0.5,0.05", 2, "alpha 0.5 given"),
        ("0,5,0.05,0", 2, "beta 0 given"),
        ("elo:0,5,0.05,0.05", 2, '"elo:" is unknown'),
    ],
)
def test_sprt_says_what_is_wrong(text, players, message):
    with pytest.raises(ValueError, match=message):
        Sprt.parse(text, players)


def slow_log_likelihood(values, counts, mean):
    """Return the greatest log-likelihood of a multinomial distribution with this mean."""
    away, shares = values - mean, counts / counts.sum()
    edge = 1e-12
    x = brentq(lambda x: (shares * away / (1 + x * away)).sum(), -1 / away.max() + edge, -1 / away.min() - edge)
    likeliest = shares / (1 + x * away)
    assert likeliest.sum() == pytest.approx(1)
    assert (likeliest * values).sum() == pytest.approx(mean)
    return (counts * np.log(likeliest)).sum()


def test_the_ratio_is_that_of_the_likeliest_distributions_with_either_mean(monkeypatch):
    monkeypatch.setattr("mexica_ai.arena.sprt.PRIOR_BLOCKS", 1e-9)
    scores = np.random.default_rng(3).choice([0, 0.25, 0.5, 1], p=[0.2, 0.3, 0.3, 0.2], size=200)
    values, counts = np.unique(scores, return_counts=True)
    expected = slow_log_likelihood(values, counts, 0.55) - slow_log_likelihood(values, counts, 0.45)
    ratios = Sprt(0.45, 0.55, 0.05, 0.05).log_likelihood_ratios(scores)
    assert ratios[-1] == pytest.approx(expected, abs=1e-6)
    shuffled = np.random.default_rng(4).permutation(scores)
    assert Sprt(0.45, 0.55, 0.05, 0.05).log_likelihood_ratios(shuffled)[-1] == pytest.approx(ratios[-1])


def test_the_first_decision_stands_and_incomplete_blocks_do_not_count():
    test = Sprt(0.5, 0.6, 0.05, 0.05)
    won = [game(block, seating, [1 - engine for engine in seating]) for block in range(40) for seating in TWO]
    lost = [game(block, seating, list(seating)) for block in range(40, 99) for seating in TWO]
    state = test.state(won, games_per_block=2)
    assert state.decision == "H1"
    assert state.llr >= state.upper
    assert 5 < state.blocks < 40
    assert test.state(won + lost, games_per_block=2) == state
    assert test.state(lost).decision == "H0"
    before = test.state(won[: 2 * state.blocks - 1], games_per_block=2)
    assert (before.decision, before.blocks) == (None, state.blocks - 1)
    # In the order in which the blocks were completed, not begun.
    late = test.state([won[0], *lost, *won[1:]], games_per_block=2)
    assert late.decision == "H0"


def test_a_share_that_no_block_can_reach_is_refused():
    outcomes = [game(0, engines, [1, 0, 0]) for engines in rotated((0, 0, 1))]
    with pytest.raises(ValueError, match=r"share1 is 0\.5, but a block gives at most 0\.5 a seat"):
        Sprt(0.4, 0.5, 0.05, 0.05).state(outcomes)


def strength_with_share(share, luck, seatings, effects):
    """Return the strength of engine 0 that gives it this share per seat."""

    def excess(strength):
        _, shares = with_luck(luck, seatings, (strength, 0), **effects)
        return means_of(shares, seatings).mean() - share

    return brentq(excess, -4, 4, xtol=1e-3)


# seatings, share0, share1, blocks after which none is undecided, effects
SPRT_SHAPES = {
    "2 seats": (TWO, 0.5, 0.62, 250, {"deal": 1.0}),
    "2 seats, ties": (TWO, 0.45, 0.57, 250, {"points": 1.0}),
    "2 seats, one seat nearly always wins": (TWO, 0.5, 0.6, 150, {"seat_effects": (2.5, 0)}),
    "2 seats, the deal decides": (TWO, 0.5, 0.62, 150, {"deal": 3.0}),
    "2 seats, lopsided": (TWO, 0.8, 0.9, 300, {"deal": 0.5}),
    "3 seats, both patterns": (THREE, 1 / 3, 0.4, 120, {"seat_effects": (0.4, 0, -0.4)}),
    "4 seats, one pattern": (FOUR[:4], 0.25, 0.36, 150, {"deal": 0.5, "points": 3}),
    "4 seats, both patterns": (FOUR, 0.25, 0.29, 170, {"deal": 0.5, "seat_effects": (0.4, 0.2, 0, -0.3)}),
    "2 seats, alpha below beta": (TWO, 0.5, 0.62, 300, {"deal": 1.0}),
    "4 seats, both patterns, alpha above beta": (FOUR, 0.25, 0.31, 150, {"points": 3}),
}
SPRT_RATES = {  # alpha and beta, where they are not 5 %
    "2 seats, alpha below beta": (0.02, 0.1),
    "4 seats, both patterns, alpha above beta": (0.1, 0.02),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SPRT_SHAPES)
def test_sprt_errs_as_rarely_as_it_says(shape):
    seatings, share0, share1, blocks, effects = SPRT_SHAPES[shape]
    alpha, beta = SPRT_RATES.get(shape, (0.05, 0.05))
    test = Sprt(share0, share1, alpha, beta)
    highest = len(seatings) / (np.array(seatings) == 0).sum()
    lower, upper = test.bounds
    # With four seats a ratio takes longer, so half as many matches are played.
    matches = MATCHES if len(seatings[0]) < 4 else MATCHES // 2
    long_match = draw_luck(41, seatings, matches=1, blocks=20_000, **effects)
    for share, wrong, nominal in ((share0, "H1", alpha), (share1, "H0", beta)):
        strength = strength_with_share(share, long_match, seatings, effects)
        scores = np.empty((matches, blocks))
        last, length = np.zeros(matches), np.full(matches, blocks)
        # Most matches are decided early, so only the others are played on.
        for start, stop in pairwise((0, blocks // 6, blocks // 2, blocks)):
            going = np.flatnonzero((last > lower) & (last < upper))
            size = {"matches": len(going), "blocks": stop - start}
            _, shares = simulate_shares([42, start], seatings, (strength, 0), **size, **effects)
            scores[going, start:stop] = means_of(shares, seatings)
            llrs = test.log_likelihood_ratios(scores[going, :stop], highest)
            beyond = (llrs <= lower) | (llrs >= upper)
            at = np.where(beyond.any(axis=1), beyond.argmax(axis=1), stop - 1)
            last[going], length[going] = llrs[np.arange(len(going)), at], at + 1
        errors = np.mean(last >= upper if wrong == "H1" else last <= lower)
        assert np.mean((last > lower) & (last < upper)) < 0.002
        # For those who look with -s.
        print(f"{shape}: share {share:.3f}, {errors:.2%} wrong, {length.mean() * len(seatings):.0f} games")
        assert errors <= 1.3 * nominal


# Plackett-Luce.


def slow_likelihood(outcome, strengths):
    """Return the mean log-likelihood over all orders of arrival that fit the ranks; ties only by rank."""
    seats = range(len(outcome.engines))
    logs = []
    for order in permutations(seats):
        if all(outcome.ranks[a] <= outcome.ranks[b] for a, b in pairwise(order)):
            line = [math.exp(strengths[outcome.engines[seat]]) for seat in order]
            logs.append(sum(math.log(mass / sum(line[place:])) for place, mass in enumerate(line)))
    return sum(logs) / len(logs)


def test_the_likelihood_is_that_of_all_orders_of_tied_seats():
    outcomes = [
        game(0, [0, 1, 2, 1], [4, 3, 2, 1]),
        game(0, [0, 0, 2, 1], [4, 4, 4, 1]),
        game(1, [1, 0, 2, 2], [9, 5, 5, 5]),
        game(1, [1, 2, 2, 0], [5, 5, 3, 3]),
    ]
    wins, counts, choices = (part for part in ratings._sufficient(Games(outcomes), 3))
    wins, counts = wins.sum(axis=0), counts.sum(axis=0)

    def difference(likelihood):
        return likelihood([0.5, -0.3, 0.7]) - likelihood([0.0, 0.0, 0.0])

    # Choices among the seats of one engine are left out: they are the same for all strengths.
    assert difference(lambda x: ratings._log_likelihood(np.array(x), wins, counts, choices)) == pytest.approx(
        difference(lambda x: sum(slow_likelihood(outcome, x) for outcome in outcomes))
    )

    point = np.array([0.5, -0.3, 0.7])
    gradient, information = ratings._derivatives(point[None], wins[None], counts[None], choices)
    for engine, step in enumerate(1e-5 * np.eye(3)):
        above, below = (ratings._log_likelihood(point + sign * step, wins, counts, choices) for sign in (1, -1))
        assert gradient[0, engine] == pytest.approx((above - below) / 2e-5, abs=1e-6)
        above, below = (
            ratings._derivatives((point + sign * step)[None], wins[None], counts[None], choices)[0][0]
            for sign in (1, -1)
        )
        assert information[0, engine] == pytest.approx((below - above) / 2e-5, abs=1e-6)
    # From far off as well Newton's method gets where scipy does.
    wins, counts = np.append(wins, 0)[:3] + 1, counts + np.append(np.zeros(len(counts) - 3), [2, 2, 2])
    best = ratings._maximize(np.array([5.0, -5, 5]), wins[None], counts[None], choices)[0]
    fit = [estimate.mean for estimate in fit_plackett_luce(outcomes, 3)]
    assert ratings.ELO * (best - best.mean()) == pytest.approx(fit, abs=1e-3)


def test_shares_of_the_win_matter():
    won, shared, lost = (game(0, [0, 1], scores) for scores in ([2, 1], [1, 1], [1, 2]))
    strengths = [
        fit_plackett_luce([won, won, lost, *others], 2)[0].mean
        for others in ([won, won], [won, shared], [shared, shared], [won, lost], [shared, lost], [lost, lost])
    ]
    assert strengths == sorted(strengths, reverse=True)
    assert strengths[2] == pytest.approx(strengths[3], abs=1e-4)
    assert strengths[1] > strengths[2] > strengths[4]


def test_engines_that_always_win_and_groups_that_never_meet_do_not_run_away():
    always = [game(block, [0, 1], [1, 0]) for block in range(50)]
    first, second = fit_plackett_luce(always, 2)
    assert first.mean == pytest.approx(-second.mean)
    # The difference is twice that: one loss in 300 games, with an interval from one in 18 to one in 1,600.
    assert 240 < first.low < first.mean < first.high < 700
    apart = always + [game(block, [2, 3], [block % 2, (block + 1) % 2]) for block in range(50)]
    strengths = fit_plackett_luce(apart, 5)
    assert strengths[0].mean > 200 > -200 > strengths[1].mean
    assert [strength.mean for strength in strengths[2:]] == pytest.approx([0, 0, 0], abs=1e-3)
    assert strengths[4].low is None
    assert sum(strength.mean for strength in strengths) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("winner", [0, 1])
def test_who_wins_all_games_or_none_has_no_finite_bound_of_elo(winner):
    """With 3, 9, 18 and a fifth of all other numbers of blocks rounding missed the bound, by 1e-17 or so."""
    shares, ranks = ((1.0, 0.0), (1.0, 2.0)) if winner == 0 else ((0.0, 1.0), (2.0, 1.0))
    for num_blocks in range(2, 100):
        outcomes = [
            Outcome(block, "AB", engines, shares[::turn], ranks[::turn], None)
            for block in range(num_blocks)
            for engines, turn in (((0, 1), 1), ((1, 0), -1))
        ]
        won, lost = (elo(each.share) for each in summarize(outcomes, 2)[:: 1 if winner == 0 else -1])
        assert (won.mean, won.high, lost.mean, lost.low) == (math.inf, math.inf, -math.inf, -math.inf)
        assert abs(won.low) < 1000


def test_the_fit_is_reproducible_and_one_block_has_no_interval():
    seatings = list(permutations(range(3)))
    outcomes = to_outcomes(simulate(51, seatings, (0.5, 0, -0.5), matches=1, blocks=10), seatings)
    assert fit_plackett_luce(outcomes, 3, seed=1) == fit_plackett_luce(outcomes, 3, seed=1)
    assert fit_plackett_luce(outcomes, 3, seed=1) != fit_plackett_luce(outcomes, 3, seed=2)
    assert all(estimate.low is None for estimate in fit_plackett_luce(outcomes[:6], 3))


def test_the_interval_of_an_engine_rests_on_its_own_blocks():
    """Engines with two blocks say no more of their strength where others, whom they never met, play on."""
    few = [game(block, [0, 1], scores) for block in range(2) for scores in ([1, 0], [0, 1])]
    many = [game(block, [2, 3], [block % 2, 1 - block % 2]) for block in range(20, 60)]
    alone, beside = (fit_plackett_luce(outcomes, 4)[0] for outcomes in (few, [*few, *many]))
    assert beside.high - beside.low > 0.7 * (alone.high - alone.low)
    once = fit_plackett_luce([game(0, [0, 1], [1, 0]), *many], 4)
    assert once[0].low is once[1].high is None
    assert once[2].low is not None


RATING_SHAPES = {
    "3 engines, the model itself": (list(permutations(range(3))), (0.5, 0, -0.4), 12, {}),
    "pairs, deals": ([(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)], (0.6, 0, -0.6), 15, {"deal": 0.7}),
    "3 seats, two engines, ties": (THREE, (0.6, 0), 15, {"deal": 0.5, "points": 3}),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", RATING_SHAPES)
def test_the_intervals_of_the_strengths_cover_the_truth(shape):
    seatings, strengths, blocks, effects = RATING_SHAPES[shape]
    # Deals and ties bring the strengths closer together: there the truth is the fit of a very long match.
    if effects:
        known = simulate(62, seatings, strengths, matches=1, blocks=4000, **effects)
        fit = fit_plackett_luce(to_outcomes(known, seatings), len(strengths), bootstrap=0)
        truth = [estimate.mean for estimate in fit]
    else:
        truth = ratings.ELO * (np.array(strengths) - np.mean(strengths))
    played = simulate(61, seatings, strengths, blocks=blocks, **effects)
    hits, matches = np.zeros(len(strengths)), MATCHES // 2  # a fit takes about 2 ms
    for match in range(matches):
        fit = fit_plackett_luce(to_outcomes(played, seatings, match), len(strengths), seed=match)
        hits += [estimate.low <= value <= estimate.high for estimate, value in zip(fit, truth, strict=True)]
    coverage = hits / matches
    print(f"{shape}: {coverage}")
    assert (coverage >= 0.935).all(), coverage
    assert (coverage <= 0.965).all(), coverage


def test_live_ratings_follow_the_games():
    pytest.importorskip("openskill")
    live = LiveRatings(4)
    start = live.table()
    assert start[0] == pytest.approx((25, 25 / 3))
    for outcome in to_outcomes(simulate(71, FOUR, (1, 0), matches=1, blocks=40), FOUR):
        live.update(outcome)
    (strong, sure), (weak, _), untouched, _ = live.table()
    assert strong > 25 > weak
    assert sure < 25 / 3
    assert untouched == start[2]
    before = live.table()
    live.update(game(0, [3, 3], [1, 0]))
    assert live.table() == before
