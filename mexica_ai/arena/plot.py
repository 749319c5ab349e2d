"""Plots of a tournament (extra `plot`): strengths and shares by seat of the engines, with intervals, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mexica_ai.arena.forfeits import MARK
from mexica_ai.arena.report import Collected
from mexica_ai.arena.tables import count
from mexica_ai.plots import save

COLOR = "#2a6f97"


def draw(found: dict[str, Any], collected: Collected, path: str) -> None:
    """Plot the figures of `report.evaluate` to a file; the ending of `path` names the format.

    Raises
    ------
    NotationError
        As `mexica_ai.plots.check_path`.
    OSError
        The file cannot be written.
    """
    figure = Figure(figsize=(16, 1.6 + 0.4 * max(6, len(found["engines"]))), layout="constrained")
    ratings, seats, scores = figure.subplots(1, 3)
    _draw_ratings(ratings, found)
    _draw_seats(seats, found)
    _draw_scores(scores, collected)
    save(figure, path)


def _draw_ratings(axes: Axes, found: dict[str, Any]) -> None:
    key = "rating" if any("rating" in engine for engine in found["engines"]) else "share"
    known = [engine for engine in found["engines"] if engine[key][0] is not None]
    known.sort(key=lambda engine: engine[key][0])
    for row, engine in enumerate(known):
        _draw_interval(axes, engine[key], row, COLOR)
    names = [engine["name"] + MARK * bool(engine["caution"]) for engine in known]
    axes.set_yticks(range(len(known)), names)
    if key == "share":
        if found["expected_share"] is not None:
            axes.axvline(float(found["expected_share"]), color="0.7", linewidth=1, zorder=0)
        axes.set_xlabel("share of the win per seat, 95 % interval; the line: equal engines")
    else:
        axes.set_xlabel("rating (400 points: ten times the strength), 95 % interval")
    what = {"share": "shares of the win", "rating": "ratings"}[key]
    marked = "; * rests on forfeits" * any(engine["caution"] for engine in known)
    axes.set_title(f"{what}: {count(found['games_counted'], 'game')} in {count(found['blocks'], 'block')}{marked}")
    axes.grid(axis="x", color="0.9")


def _draw_interval(
    axes: Axes, estimate: Sequence[float | None], row: float, color: str, label: str | None = None
) -> None:
    """Draw a mean, and its interval if it has one."""
    mean, low, high = estimate
    if mean is None:
        return
    if low is not None and high is not None:
        axes.plot([low, high], [row, row], color=color)
    axes.plot([mean], [row], "o", color=color, label=label)


def _draw_seats(axes: Axes, found: dict[str, Any]) -> None:
    """Draw the share of the win of each engine on each seat; an engine's row has a line a seat."""
    engines = [engine for engine in reversed(found["engines"]) if engine["seat_shares"]]
    for seat in range(found["players"]):
        label: str | None = f"seat {seat}"
        for row, engine in enumerate(engines):
            if engine["seat_shares"][seat][0] is None:
                continue
            height = row + 0.6 * (0.5 - (seat + 0.5) / found["players"])
            _draw_interval(axes, engine["seat_shares"][seat], height, f"C{seat}", label)
            label = None  # once in the legend
    axes.set_yticks(range(len(engines)), [engine["name"] for engine in engines])
    if found["expected_share"] is not None:
        axes.axvline(float(found["expected_share"]), color="0.7", linewidth=1, zorder=0)
    if any(engine["seat_shares"][seat][0] is not None for engine in engines for seat in range(found["players"])):
        axes.legend(loc="best", fontsize="small")
    axes.set_title("shares of the win by seat")
    axes.set_xlabel("share of the win on the seat, 95 % interval; the line: equal engines and seats")
    axes.grid(axis="x", color="0.9")


def _draw_scores(axes: Axes, collected: Collected) -> None:
    if collected.seat_scores:
        labels = [f"seat {seat}" for seat in range(collected.players)]
        boxes = axes.boxplot(collected.seat_scores, showmeans=True)
        axes.set_xticks(range(1, collected.players + 1), labels)
        for median in boxes["medians"]:
            median.set_color(COLOR)
    axes.set_title("final scores by seat (games without a forfeit)")
    axes.set_ylabel("score")
    axes.grid(axis="y", color="0.9")
