"""Shares adjusted for luck: by hand, on simulated matches in which luck decides, and in reports."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from mexica_ai.arena.adjust import Luck, adjusted_interval, format_adjusted, summarize_adjusted
from mexica_ai.arena.blocks import BlockMeans
from mexica_ai.arena.display import Display
from mexica_ai.arena.journal import read_journal
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.runner import Progress
from mexica_ai.arena.sprt import ADJUSTED_DIGITS, Sprt
from mexica_ai.arena.statistics import block_interval
from mexica_ai.cli.main import main


def simulated(seed, strength, *, matches, blocks, draws=8):
    """Return the plain and the adjusted scores of A in blocks of two games; shape (matches, blocks).

    A game is a sum of coin flips, in which A has the advantage `strength`, and of one small part that is no event. A
    wins if the sum is above 0. The evaluation before and after each flip is a rough guess from the sum so far, and the
    mean over outcomes is that of `draws` flips made anew, as in a game.
    """
    rng = np.random.default_rng(seed)
    flips, shape = 6, (matches, blocks, 2)

    def value(total):
        return 1 / (1 + np.exp(-1.5 * total))

    total, luck = np.full(shape, strength), np.zeros(shape)
    for _ in range(flips):
        others = np.mean([value(total + rng.choice([-0.5, 0.5], shape)) for _ in range(draws)], axis=0)
        total = total + rng.choice([-0.5, 0.5], shape)
        luck += value(total) - others
    shares = (total + rng.normal(0, 0.5, shape) > 0).astype(float)
    return shares.mean(axis=-1), (shares - luck).mean(axis=-1)


def test_adjusted_intervals_are_short_and_cover_in_10_000_matches():
    truth = simulated(1, 0.1, matches=1, blocks=200_000)[0].mean()
    plain, fair = simulated(2, 0.1, matches=10_000, blocks=50)
    assert plain.var() / fair.var() > 2  # half the games for the same error
    assert abs(fair.mean() - truth) < 0.005
    low, high = adjusted_interval(BlockMeans(plain, 0.0, 1.0, 2.0), fair)
    assert 0.94 < ((low <= truth) & (truth <= high)).mean() < 0.96
    plain_low, plain_high = block_interval(plain, 0.0, 1.0, 2.0)
    assert (high - low).mean() < 0.75 * (plain_high - plain_low).mean()


@pytest.mark.parametrize(("share", "blocks"), [(0.9, 10), (0.97, 10), (0.97, 50), (0.99, 50)])
def test_adjusted_intervals_cover_where_one_engine_nearly_always_wins(share, blocks):
    rng = np.random.default_rng(7)
    shares = (rng.random((3000, blocks, 2)) < share).mean(axis=-1)
    fair = shares - rng.normal(0, 0.03, shares.shape)
    low, high = adjusted_interval(BlockMeans(shares, 0.0, 1.0, 2.0), fair)
    assert ((low <= share) & (share <= high)).mean() > 0.92


def test_where_all_blocks_are_won_the_interval_is_that_of_the_plain_share():
    shares = np.ones(6)
    low, high = adjusted_interval(
        BlockMeans(shares, 0.0, 1.0, 2.0), shares + np.array([0.01, -0.01, 0, 0.02, 0, -0.02])
    )
    plain = block_interval(shares, 0.0, 1.0, 2.0)
    assert high - low == pytest.approx(plain[1] - plain[0], rel=0.05)


def test_later_blocks_change_no_ratio():
    sprt = Sprt(0.5, 0.6, 0.05, 0.05)
    scores = np.random.default_rng(3).normal(0.55, 0.3, 40).round(ADJUSTED_DIGITS)
    whole = sprt.log_likelihood_ratios(np.append(scores, [3.0, -2.5]))
    assert whole[:40] == pytest.approx(sprt.log_likelihood_ratios(scores))
    assert whole[19] == pytest.approx(sprt.log_likelihood_ratios(scores[:20])[-1])


def test_the_adjusted_test_keeps_its_errors_and_is_shorter():
    tests = 200
    mean0 = simulated(3, 0.0, matches=1, blocks=200_000)[1].mean()
    sprt = Sprt(mean0, mean0 + 0.12, 0.05, 0.05)
    plain, fair = simulated(4, 0.0, matches=tests, blocks=150)
    wrong, lengths = 0, []
    fair = fair.round(ADJUSTED_DIGITS)
    for scores in (plain, fair):
        ends = [sprt.first_decision(sprt.log_likelihood_ratios(each)) for each in scores]
        lengths.append(np.mean([len(scores[0]) if end is None else end + 1 for end in ends]))
    _, upper = sprt.bounds
    for each in fair:
        llrs = sprt.log_likelihood_ratios(each)
        end = sprt.first_decision(llrs)
        wrong += end is not None and llrs[end] >= upper
    assert wrong / tests < 0.1  # 5 %, and three standard errors
    assert lengths[1] < 0.7 * lengths[0]


def outcome(block, engines, shares, luck):
    return Outcome(block, "AB", engines, shares, (1.5, 1.5), None, luck=luck)


def test_the_adjusted_share_by_hand():
    outcomes = [
        outcome(0, (0, 1), (1.0, 0.0), (0.2, -0.2)),
        outcome(0, (1, 0), (1.0, 0.0), (0.1, -0.1)),
        outcome(1, (0, 1), (1.0, 0.0), (0.0, 0.0)),
        outcome(1, (1, 0), (0.0, 1.0), (-0.3, 0.3)),
    ]
    a, b = summarize_adjusted(outcomes, 2)
    # Blocks of A: (0.8 + 0.1) / 2 and (1.0 + 0.7) / 2.
    assert a.share.mean == pytest.approx((0.45 + 0.85) / 2)
    assert b.share.mean == pytest.approx(1 - a.share.mean)
    assert a.luck.mean == pytest.approx(((0.2 - 0.1) / 2 + 0.15) / 2)
    assert a.worth_games == pytest.approx(np.var([0.5, 1.0]) / np.var([0.45, 0.85]))
    low, high = adjusted_interval(BlockMeans(np.array([0.5, 1.0]), 0.0, 1.0, 2.0), np.array([0.45, 0.85]))
    assert (a.share.low, a.share.high) == (pytest.approx(float(low)), pytest.approx(float(high)))


def test_one_block_has_no_interval_and_no_worth():
    outcomes = [outcome(0, (0, 1), (1.0, 0.0), (0.2, -0.2)), outcome(0, (1, 0), (1.0, 0.0), (0.0, 0.0))]
    found = summarize_adjusted(outcomes, 2)[0]
    assert (found.share.mean, found.share.low, found.worth_games) == (pytest.approx(0.4), None, None)


def test_lines_are_within_the_width():
    engine = {"name": "a" * 30, "share": [0.5, 0.4, 0.6], "luck": [0.01, -0.01, 0.03], "elo": [0.0, -70.0, None]}
    lines = format_adjusted({"engines": [engine | {"worth_games": 1.2}]}, 80)
    assert max(map(len, lines)) <= 80
    assert "Elo +0 [-70, ?]" in " ".join(lines)
    assert "luck +1.0 [-1.0, +3.0] %; a game counts for 1.20" in " ".join(lines)


@pytest.mark.parametrize("game", ["coatl", "mexica"])
def test_a_report_shows_plain_and_adjusted_shares(game, tmp_path, capsys, in_process):
    journal = tmp_path / "journal.jsonl"
    play = ["arena", "--game", game, "--engine", "greedy", "--engine", "random", "--blocks", "2"]
    sprt = ["--sprt", "0,100,0.05,0.05", "--adjust"]
    main([*play, "--journal", str(journal), *sprt])
    assert "SPRT, adjusted:" in capsys.readouterr().out
    assert main(["arena", "report", str(journal), *sprt, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    plain, fair = found["engines"], found["adjusted"]["engines"]
    for one, other in zip(plain, fair, strict=True):
        assert one["name"] == other["name"]
        assert other["share"][0] + other["luck"][0] == pytest.approx(one["share"][0], abs=1e-5)
    assert (fair[0]["luck"][0] != 0) == (game == "coatl")
    assert found["adjusted"]["sprt"]["share0"] == found["sprt"]["share0"]
    assert main(["arena", "report", str(journal), "--format", "json"]) == 0
    assert "adjusted" not in json.loads(capsys.readouterr().out)


def test_the_live_table_shows_the_test_that_decides(in_process, tmp_path, capsys):
    journal = tmp_path / "journal.jsonl"
    play = ["arena", "--game", "coatl", "--engine", "greedy", "--engine", "random", "--blocks", "1"]
    assert main([*play, "--journal", str(journal)]) == 0
    games = read_journal(str(journal)).games
    records = [record for _, record in games]
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, color_system=None, width=200)
    progress = Progress(games[0][0], 2, records=records, ended_by="finished")
    with Display(console, Sprt(0.5, 0.6, 0.05, 0.05), luck=Luck()) as display:
        display.show(progress)
    assert "SPRT, adjusted: " in screen.getvalue()
