"""Shares of the win adjusted for luck: an unbiased estimate whose intervals are shorter where random events decide.

What the random events of a game were worth to a seat is expected to be 0 (`mexica_ai.analysis.luck`). So a seat's share
of the win, less what the events brought it, has the same expectation as the share, and varies less as far as the
evaluation sees what the events did. Reported beside the plain figures, since adjusted ones say nothing about who won.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mexica_ai.analysis.luck import events_of, total_worth
from mexica_ai.arena.blocks import BlockMeans, Games
from mexica_ai.arena.estimates import Estimate
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.statistics import block_interval, elo
from mexica_ai.arena.tables import percent, strength
from mexica_ai.io.terminal import wrap


@dataclass(frozen=True)
class AdjustedShare:
    """The adjusted results of one engine, over the complete blocks with it.

    Parameters
    ----------
    engine : int
    share : Estimate
        Its adjusted share of the win per seat; not bound to [0, 1].
    luck : Estimate
        What the random events were worth to it, a share of the win per seat.
    worth_games : float or None
        The variance of a block's share, divided by that of its adjusted share: how many plain games an adjusted one is
        worth. None with fewer than two blocks, or where either does not vary.
    """

    engine: int
    share: Estimate
    luck: Estimate
    worth_games: float | None


class Luck:
    """Finds the luck of games, of each once: a tournament that runs asks for all its games again and again."""

    def __init__(self) -> None:
        # By the records' addresses, with the records, so that no other one has the address.
        self._known: dict[int, tuple[dict[str, Any], tuple[float, ...]]] = {}

    def added(self, outcome: Outcome, record: dict[str, Any]) -> Outcome:
        """Return the outcome of a record with its luck."""
        if id(record) not in self._known:
            self._known[id(record)] = record, tuple(total_worth(events_of(record), len(outcome.engines)))
        return dataclasses.replace(outcome, luck=self._known[id(record)][1])


def summarize_adjusted(outcomes: Sequence[Outcome], num_engines: int) -> list[AdjustedShare]:
    """Return the adjusted results of each engine; the outcomes are of complete blocks, with their luck."""
    games = Games(outcomes)
    found = []
    for engine in range(num_engines):
        chosen = games.on_seats(engine)
        means, fair = games.share_means(chosen), games.adjusted_means(chosen).values
        luck, has_ends = means.values - fair, len(fair) > 1
        variances = [float(values.var(ddof=1)) for values in (means.values, fair)] if has_ends else [0.0, 0.0]
        worth = variances[0] / variances[1] if min(variances) > 0 else None
        share = _estimate(fair, adjusted_interval(means, fair) if has_ends else None)
        found.append(AdjustedShare(engine, share, _estimate(luck, block_interval(luck) if has_ends else None), worth))
    return found


def _estimate(values: np.ndarray, ends: tuple[np.ndarray, np.ndarray] | None) -> Estimate:
    if not len(values):
        return Estimate(None)
    mean = float(values.mean())
    return Estimate(mean) if ends is None else Estimate(mean, float(ends[0]), float(ends[1]))


def adjusted_interval(plain: BlockMeans, fair: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the 95 % interval of an adjusted share.

    The interval of the plain share, which holds near its bounds, moved to the adjusted mean and scaled by the ratio of
    the two standard deviations. The ratio has a prior of 1 with the weight of a drawn game, which decides where all
    blocks are won: their adjusted shares would only show how little luck varies.

    Parameters
    ----------
    plain : BlockMeans
        With values of the shape (..., B).
    fair : array of float, shape (..., B)
        The adjusted shares.
    """
    low, high = block_interval(plain.values, plain.low, plain.high, plain.games)
    prior = 0.25 * (plain.high - plain.low) ** 2 / max(1.0, plain.games)
    blocks = fair.shape[-1]
    variances = (values.var(axis=-1, ddof=1) for values in (fair, plain.values))
    ratio = np.divide(*(blocks * variance + prior for variance in variances)) ** 0.5
    mean, middle = fair.mean(axis=-1), plain.values.mean(axis=-1)
    return mean - ratio * (middle - low), mean + ratio * (high - middle)


def adjusted_json(outcomes: Sequence[Outcome], names: Sequence[str], players: int) -> dict[str, Any]:
    """Return the key `adjusted` of a report: estimates are [mean, low, high]."""
    engines = []
    for found in summarize_adjusted(outcomes, len(names)):
        engine = {"name": names[found.engine], "share": found.share.to_json(), "luck": found.luck.to_json()}
        if players == 2:
            engine["elo"] = elo(found.share).to_json()
        worth = found.worth_games
        engines.append(engine | {"worth_games": None if worth is None else round(worth, 4)})
    return {"engines": engines}


def format_adjusted(found: dict[str, Any], width: int | None = None) -> list[str]:
    """Return the lines of a report for people about the key `adjusted`."""
    lines = ["adjusted for luck (the events of a game are worth 0 on average):"]
    for engine in found["engines"]:
        text = f"{engine['name']}: share of the win {percent(engine['share'])}"
        if "elo" in engine:
            text += f", Elo {strength(engine['elo'], '+.0f')}"
        text += f"; luck {percent(engine['luck'], '+.1f')}"
        if engine["worth_games"] is not None:
            text += f"; a game counts for {engine['worth_games']:.2f}"
        lines += wrap(text, width) if width else [text]
    return lines
