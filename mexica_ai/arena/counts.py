"""Counts of results: games won, shared and lost, and the scores of blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mexica_ai.arena.blocks import Games
from mexica_ai.arena.estimates import Estimate
from mexica_ai.arena.nelo import normalized_elo
from mexica_ai.arena.outcomes import Outcome

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the two games of a pair; how often each occurs: pentanomial
_DIGITS = 6  # of a score; those that differ by rounding are equal


def win_counts(shares: Iterable[float]) -> dict[str, int]:
    """Return how many seats have won alone, shared the win, and lost."""
    found = {"won": 0, "shared": 0, "lost": 0}
    for share in shares:
        found["won" if share >= 1 else "shared" if share > 0 else "lost"] += 1
    return found


def engine_counts(outcomes: Sequence[Outcome], engine: int) -> dict[str, Any]:
    """Return the counts of one engine in games of complete blocks.

    Returns
    -------
    dict
        `won`, `shared`, `lost`: seats in games; `block_scores`: a list of [score, number of blocks], ascending, where
        the score is the mean share of the win per seat. With two seats it has all five scores of a pair of games.
    """
    found: dict[str, Any] = win_counts(
        share
        for outcome in outcomes
        for other, share in zip(outcome.engines, outcome.shares, strict=True)
        if other == engine
    )
    games = Games(outcomes)
    scores = games.share_means(games.on_seats(engine)).values.round(_DIGITS)
    times = Counter(map(float, scores))
    if games.seats == 2 and len(games.outcomes) == 2 * games.num_blocks and set(times) <= set(PAIR_SCORES):
        times.update(dict.fromkeys(PAIR_SCORES, 0))
    return found | {"block_scores": [[score, times[score]] for score in sorted(times)]}


def engine_nelo(outcomes: Sequence[Outcome], engine: int, share: Estimate) -> Estimate:
    """Return the normalised Elo of one of two engines from pairs of games; `share` is its share of the win.

    Without numbers if a block has fewer games of the two (`--sample`), or more: its unit is the deviation of a pair.
    """
    games = Games(outcomes)
    if len(games.outcomes) != 2 * games.num_blocks:
        return Estimate(None, None, None)
    return normalized_elo(np.asarray(games.share_means(games.on_seats(engine)).values), share)


def draw_ratio(outcomes: Sequence[Outcome]) -> float | None:
    """Return the part of the games whose win is shared; None without games."""
    if not outcomes:
        return None
    return round(sum(max(outcome.shares) < 1 and outcome.forfeit is None for outcome in outcomes) / len(outcomes), 6)
