"""Normalised Elo: the estimate, its sequential test against independent calculations, and counts of results."""

import csv
import json
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from mexica_ai.arena import counts
from mexica_ai.arena.estimates import Estimate
from mexica_ai.arena.nelo import NeloSprt, normalized_elo, parse_test
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.sprt import PRIOR_BLOCKS, Sprt
from mexica_ai.arena.statistics import elo

NIM = ["--game", "nim", "--engine", "greedy", "--engine", "random", "--iterations", "1"]
SCORES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
UNIT = 800 / math.log(10)
SHAPES = {  # probabilities of the scores of a pair
    "usual": [0.1, 0.2, 0.4, 0.2, 0.1],
    "drawish": [0.02, 0.08, 0.8, 0.08, 0.02],
    "the deal decides": [0.4, 0.05, 0.1, 0.05, 0.4],
}


def pairs(scores):
    """Return two games for each score of a pair."""
    outcomes = []
    for block, score in enumerate(scores):
        points = 2 * score
        for number, won in enumerate((min(1.0, points), max(0.0, points - 1.0))):
            engines, shares = ((0, 1), (won, 1 - won)) if number == 0 else ((1, 0), (1 - won, won))
            outcomes.append(Outcome(block, "AB", engines, shares, (1.0, 2.0), None))
    return outcomes


def ratio_of(nelo):
    """Return the mean less 1/2, in deviations of the mean of a pair."""
    return math.sqrt(2) * nelo / UNIT


def likelihood(numbers, nelo):
    """Return the greatest log-likelihood of counts among distributions with a normalised Elo, by another method."""

    def moments(p):
        mean = p @ SCORES
        return mean - 0.5 - ratio_of(nelo) * math.sqrt(max(1e-15, p @ SCORES**2 - mean**2))

    constraints = [{"type": "eq", "fun": moments}, {"type": "eq", "fun": lambda p: p.sum() - 1}]
    found = minimize(
        lambda p: -(numbers * np.log(p)).sum(),
        0.8 * numbers / numbers.sum() + 0.04,
        method="SLSQP",
        bounds=[(1e-12, 1)] * 5,
        constraints=constraints,
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert found.success
    return -found.fun


@pytest.mark.parametrize(("low", "high"), [(0, 5), (-5, 0), (0, 100), (50, 200)])
@pytest.mark.parametrize("shape", SHAPES)
def test_ratios_are_those_of_another_maximisation(shape, low, high):
    scores = np.random.default_rng(3).choice(SCORES, p=SHAPES[shape], size=60)
    found = NeloSprt(low, high, 0.05, 0.05).log_likelihood_ratios(scores)
    numbers = (scores[:, None] == SCORES).sum(axis=0) + PRIOR_BLOCKS / 2 * np.array([1, 0, 0, 0, 1])
    assert found[-1] == pytest.approx(likelihood(numbers, high) - likelihood(numbers, low), abs=2e-4)


def test_a_hypothesis_about_0_is_one_about_the_share():
    scores = np.random.default_rng(4).choice(SCORES, p=SHAPES["usual"], size=200)
    usual = Sprt(0.5, 0.55, 0.05, 0.05).log_likelihood_ratios(scores)[-1]
    # The same mean and deviation at H1, so about the same test.
    nelo = UNIT * 0.05 / (math.sqrt(2) * scores.std())
    assert NeloSprt(0, nelo, 0.05, 0.05).log_likelihood_ratios(scores)[-1] == pytest.approx(usual, abs=0.3)


@pytest.mark.parametrize("scores", [[0.0] * 30, [1.0] * 30, [0.5] * 30, [0.0, 1.0] * 15, [0.25]])
@pytest.mark.parametrize("high", [-400, 5, 500])
def test_scores_that_are_all_equal_give_a_finite_ratio(scores, high):
    found = NeloSprt(-500, high, 0.05, 0.05).log_likelihood_ratios(np.array(scores))
    assert np.isfinite(found).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_the_test_errs_as_rarely_as_it_says(shape):
    # Measured with 300 tests each (2026-11): 3.3 to 5.4 % wrong, in about 45 pairs whatever the draws.
    test, rng = NeloSprt(0, 80, 0.05, 0.05), np.random.default_rng(6)
    lower, upper = test.bounds
    for nelo, wrong in ((0, "H1"), (80, "H0")):
        scores = rng.choice(SCORES, p=_tilted(SHAPES[shape], nelo), size=(30, 100))
        ratios = test.log_likelihood_ratios(scores)
        has_ended = (ratios <= lower) | (ratios >= upper)
        last = np.where(has_ended.any(axis=1), has_ended.argmax(axis=1), -1)
        ends = ratios[np.arange(30), last]
        errors = (ends >= upper) if wrong == "H1" else (ends <= lower)
        assert errors.sum() <= 5  # of 30; with 5 % there are more in 3 of 1,000 such samples
        assert has_ended.any(axis=1).mean() > 0.7


def _tilted(probabilities, nelo):
    """Return the probabilities moved to a normalised Elo, by weights that grow with the score."""
    low, high = -5.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        p = np.array(probabilities) * np.exp(middle * SCORES)
        p /= p.sum()
        ratio = (p @ SCORES - 0.5) / math.sqrt(p @ SCORES**2 - (p @ SCORES) ** 2)
        low, high = (middle, high) if ratio < ratio_of(nelo) else (low, middle)
    return p


def test_normalised_elo_by_hand():
    scores = np.array([1.0, 0.5, 0.75, 0.5, 0.25, 1.0])
    found = normalized_elo(scores, Estimate(2 / 3, 0.4, 0.9))
    deviation = math.sqrt(2) * math.sqrt(((scores - 2 / 3) ** 2).mean())
    assert found.mean == pytest.approx(UNIT * (2 / 3 - 0.5) / deviation)
    assert found.low < 0 < found.high
    assert normalized_elo(np.array([0.5, 0.5]), Estimate(0.5, 0.4, 0.6)) == Estimate(None, None, None)
    # Independent games without draws, of nearly equal engines: logistic Elo.
    wins = np.array([[0.51 * 0.51, 0.51 * 0.49], [0.49 * 0.51, 0.49 * 0.49]])
    values = np.array([[1.0, 0.5], [0.5, 0.0]])
    spread = math.sqrt((wins * (values - 0.51) ** 2).sum())
    assert UNIT * 0.01 / (math.sqrt(2) * spread) == pytest.approx(elo(Estimate(0.51)).mean, rel=0.01)


def test_blocks_of_single_games_have_no_normalised_elo():
    """Its unit is the deviation of a pair of games, and a lone one is no pair."""
    games = [(block, (0, 1)[:: 1 - 2 * number]) for block in range(4) for number in range(2)]
    outcomes = [Outcome(block, "AB", engines, (1.0, 0.0), (1.0, 2.0), None) for block, engines in games]
    share = Estimate(0.5, 0.4, 0.6)
    scored = [*outcomes[:6], *(Outcome(9, "AB", engines, (1.0, 0.0), (1.0, 2.0), None) for engines in [(0, 1)] * 2)]
    assert counts.engine_nelo(scored, 0, share).mean is not None
    alone = [outcome for outcome in scored if outcome.engines == (0, 1)][::2]
    assert counts.engine_nelo(alone, 0, share) == Estimate(None, None, None)
    assert len(counts.engine_counts(alone, 0)["block_scores"]) == 1


def test_tests_are_read():
    assert parse_test("nelo:0,5,0.05,0.1", 2) == NeloSprt(0, 5, 0.05, 0.1)
    assert parse_test("share:0.5,0.6,0.05,0.05", 2) == Sprt(0.5, 0.6, 0.05, 0.05)
    for text, players, why in (
        ("nelo:0,5,0.05,0.05", 3, "normalised Elo is for two seats"),
        ("nelo:0,5,0.05", 2, "four numbers expected: nelo0,nelo1,alpha,beta"),
        ("nelo:5,0,0.05,0.05", 2, "nelo0 below nelo1 expected"),
        ("nelo:0,501,0.05,0.05", 2, "both from -500 to 500"),
        ("nelo:0,5,0.5,0.05", 2, "alpha 0.5 given"),
        ("melo:0,5,0.05,0.05", 2, 'only "share:" and, with two seats, "nelo:" may stand there'),
    ):
        with pytest.raises(ValueError, match=why):
            parse_test(text, players)


def test_a_test_of_normalised_elo_on_the_command_line(cli, in_process, tmp_path):
    journal = tmp_path / "games.jsonl"
    args = ["--blocks", 20, "--reproducible", "--journal", journal]
    assert cli(*NIM, *args, "--sprt", "nelo:0,5,0.05,0.05") == 4
    assert "; H0: nElo 0, H1: 5" in " ".join(cli.out.split())
    assert cli("report", journal, "--sprt", "nelo:-300,300,0.05,0.05", "--format", "json") == 0
    sprt = json.loads(cli.out)["sprt"]
    assert (sprt["nelo0"], sprt["nelo1"], sprt["decision"] in ("H0", "H1")) == (-300, 300, True)
    assert cli(*NIM, "--players", 3, "--sprt", "nelo:0,5,0.05,0.05") == 2


# Counts


def test_results_are_counted_by_game_and_by_pair(cli, in_process, tmp_path):
    outcomes = pairs([0.0, 0.25, 0.5, 0.75, 1.0, 1.0])
    first, second = (counts.engine_counts(outcomes, engine) for engine in (0, 1))
    assert first == {"won": 6, "shared": 2, "lost": 4,
                     "block_scores": [[0.0, 1], [0.25, 1], [0.5, 1], [0.75, 1], [1.0, 2]]}  # fmt: skip
    assert (second["won"], second["shared"], second["lost"]) == (4, 2, 6)
    assert second["block_scores"] == [[0.0, 2], [0.25, 1], [0.5, 1], [0.75, 1], [1.0, 1]]
    assert counts.draw_ratio(outcomes) == pytest.approx(2 / 12, abs=1e-6)
    assert counts.draw_ratio([]) is None
    journal = tmp_path / "games.jsonl"
    assert cli(*NIM, "--blocks", 5, "--journal", journal, "--format", "json") == 0
    found = json.loads(cli.out)
    for engine in found["engines"]:
        assert engine["won"] + engine["shared"] + engine["lost"] == engine["games"] == 10
        scores = engine["block_scores"]
        assert sum(times for _, times in scores) == 5
        assert sum(score * times for score, times in scores) / 5 == pytest.approx(engine["share"][0])
        elo_of, nelo = engine["elo"][0], engine["nelo"][0]
        assert nelo is None or elo_of is None or (nelo > 0) == (elo_of > 0)
    assert cli("report", journal) == 0
    assert "pairs at 0, 1/2, 1, 1 1/2, 2 points" in cli.out
    assert "draw ratio 0.0 %" in cli.out
    assert cli("report", journal, "--format", "csv") == 0
    row = next(csv.DictReader(cli.out.splitlines()))
    assert row["block_scores"] == " ".join(f"{s:g}={n}" for s, n in found["engines"][0]["block_scores"])
    assert row["won"] == str(found["engines"][0]["won"])


def test_with_more_seats_all_scores_of_blocks_are_counted():
    outcomes = [
        Outcome(block, "ABB", engines, shares, (1.0, 2.0, 2.0), None)
        for block, shares in enumerate([(1.0, 0.0, 0.0), (0.0, 0.5, 0.5)])
        for engines in ((0, 1, 1), (1, 0, 1))
    ]
    found = counts.engine_counts(outcomes, 1)
    assert (found["won"], found["shared"], found["lost"]) == (1, 3, 4)
    assert found["block_scores"] == [[0.25, 1], [0.375, 1]]
