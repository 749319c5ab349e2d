"""Pictures of a tournament (extra `plot`): how strong the engines are, and what each seat scores."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from mexica_ai.arena.report import Collected
from mexica_ai.errors import NotationError

COLOR = "#2a6f97"


def check_path(path: str) -> None:
    """Raise NotationError if no picture can be written there: an unknown ending, or no folder to write to."""
    known = Figure().canvas.get_supported_filetypes()
    if _form(path) not in known:
        raise NotationError(
            f"plot: cannot write {path!r}; expected a name that ends in one of {', '.join(sorted(known))}",
            reason="BAD_USAGE",
        )
    folder, problem = os.path.dirname(path) or ".", None
    if os.path.isdir(path):
        problem = "it is a folder"
    elif not os.path.isdir(folder):
        problem = f"there is no folder {folder!r}"
    elif not os.access(path if os.path.exists(path) else folder, os.W_OK):
        problem = "no permission"
    if problem:
        raise NotationError(f"plot: cannot write {path!r}: {problem}", reason="BAD_USAGE")


def draw(found: dict[str, Any], collected: Collected, path: str) -> None:
    """Write a picture of what `report.evaluate` has found; the ending of `path` says in which form.

    Raises
    ------
    NotationError
        See `check_path`.
    OSError
        The file cannot be written.
    """
    check_path(path)
    figure = Figure(figsize=(11, 1.6 + 0.4 * max(6, len(found["engines"]))), layout="constrained")
    ratings, scores = figure.subplots(1, 2)
    _draw_ratings(ratings, found)
    _draw_scores(scores, collected)
    with matplotlib.rc_context({"svg.hashsalt": "mexica-ai"}):
        figure.savefig(path, format=_form(path))


def _form(path: str) -> str:
    return Path(path).suffix.removeprefix(".").lower()


def _draw_ratings(axes, found):
    key = "rating" if any("rating" in engine for engine in found["engines"]) else "share"
    known = [engine for engine in found["engines"] if engine[key][0] is not None]
    known.sort(key=lambda engine: engine[key][0])
    for row, engine in enumerate(known):
        mean, low, high = engine[key]
        if low is not None and high is not None:
            axes.plot([low, high], [row, row], color=COLOR)
        axes.plot([mean], [row], "o", color=COLOR)
    axes.set_yticks(range(len(known)), [engine["name"] for engine in known])
    if key == "share":
        if found["expected_share"] is not None:
            axes.axvline(float(found["expected_share"]), color="0.7", linewidth=1, zorder=0)
        axes.set_xlabel("share of the win per seat, 95 % interval; the line: equal engines")
    else:
        axes.set_xlabel("rating (400 points: ten times the strength), 95 % interval")
    what = {"share": "shares of the win", "rating": "ratings"}[key]
    axes.set_title(f"{what}: {found['games_counted']:,} games in {found['blocks']:,} blocks")
    axes.grid(axis="x", color="0.9")


def _draw_scores(axes, collected):
    if collected.seat_scores:
        labels = [f"seat {seat}" for seat in range(collected.players)]
        boxes = axes.boxplot(collected.seat_scores, showmeans=True)
        axes.set_xticks(range(1, collected.players + 1), labels)
        for median in boxes["medians"]:
            median.set_color(COLOR)
    axes.set_title("final scores by seat (games without a forfeit)")
    axes.set_ylabel("score")
    axes.grid(axis="y", color="0.9")
