"""Shares of the win adjusted for luck: an unbiased estimate whose intervals are shorter where random events decide.

What the random events of a game were worth to a seat is expected to be 0 (`mexica_ai.analysis.luck`). So a seat's share
of the win, less what the events brought it, has the same expectation as the share, and varies less as far as the
evaluation sees what the events did. Reported beside the plain figures, since adjusted ones say nothing about who won.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mexica_ai.analysis.luck import events_of, total_worth
from mexica_ai.arena.blocks import Games
from mexica_ai.arena.estimates import Estimate
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.statistics import block_interval, elo
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
        worth. None with fewer than two blocks, or without variance.
    """

    engine: int
    share: Estimate
    luck: Estimate
    worth_games: float | None


def luck_of(record: dict[str, Any]) -> tuple[float, ...]:
    """Return what the random events of a game were worth to each seat."""
    return tuple(total_worth(events_of(record), len(record["arena"]["seating"])))


def with_luck(outcome: Outcome, record: dict[str, Any]) -> Outcome:
    """Return the outcome of a record with its luck."""
    return dataclasses.replace(outcome, luck=luck_of(record))


def summarize_adjusted(outcomes: Sequence[Outcome], num_engines: int) -> list[AdjustedShare]:
    """Return the adjusted results of each engine; the outcomes are of complete blocks, with their luck."""
    games = Games(outcomes)
    found = []
    for engine in range(num_engines):
        chosen = games.on_seats(engine)
        plain, fair = games.share_means(chosen).values, games.adjusted_means(chosen).values
        variance = float(fair.var(ddof=1)) if len(fair) > 1 else 0.0
        worth = float(plain.var(ddof=1)) / variance if variance > 0 else None
        found.append(AdjustedShare(engine, unbounded_estimate(fair), unbounded_estimate(plain - fair), worth))
    return found


def unbounded_estimate(values: np.ndarray) -> Estimate:
    """Return the mean of numbers without bounds, with Student's interval."""
    if not len(values):
        return Estimate(None)
    mean = float(values.mean())
    if len(values) < 2:
        return Estimate(mean)
    low, high = block_interval(values)
    return Estimate(mean, float(low), float(high))


def adjusted_json(outcomes: Sequence[Outcome], names: Sequence[str], players: int) -> dict[str, Any]:
    """Return the key `adjusted` of a report: estimates are [mean, low, high]."""
    engines = []
    for found in summarize_adjusted(outcomes, len(names)):
        engine = {"name": names[found.engine], "share": _list(found.share), "luck": _list(found.luck)}
        if players == 2:
            engine["elo"] = _list(elo(found.share))
        worth = found.worth_games
        engines.append(engine | {"worth_games": None if worth is None else round(worth, 4)})
    return {"engines": engines}


def _list(estimate: Estimate) -> list[float | None]:
    numbers = (estimate.mean, estimate.low, estimate.high)
    return [None if number is None or not math.isfinite(number) else round(number, 6) for number in numbers]


def format_adjusted(found: dict[str, Any], width: int | None = None) -> list[str]:
    """Return the lines of a report for people about the key `adjusted`."""
    lines = ["adjusted for luck (the events of a game are worth 0 on average):"]
    for engine in found["engines"]:
        text = f"{engine['name']}: share of the win {_percent(engine['share'])}"
        if engine.get("elo", [None] * 3)[1] is not None:
            mean, low, high = ("?" if number is None else f"{number:+.0f}" for number in engine["elo"])
            text += f", Elo {mean} [{low}, {high}]"
        text += f"; luck {_percent(engine['luck'], '+')}"
        if engine["worth_games"] is not None:
            text += f"; a game counts for {engine['worth_games']:.2f}"
        lines += wrap(text, width) if width else [text]
    return lines


def _percent(estimate: Sequence[float | None], sign: str = "") -> str:
    mean, *ends = ("-" if number is None else f"{100 * number:{sign}.1f}" for number in estimate)
    return f"{mean} %" if "-" in ends else f"{mean} [{', '.join(ends)}] %"
