"""The calibration plot of a fit (extra `plot`)."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from mexica_ai.errors import NotationError
from mexica_ai.train.fit import Report


def draw(reports: dict[str, Report], path: str) -> None:
    """Draw predicted against real shares of the win, a line for each named report.

    Raises
    ------
    NotationError
        The ending of `path` names no form of picture.
    OSError
        The file cannot be written.
    """
    form = Path(path).suffix.removeprefix(".").lower()
    figure = Figure(figsize=(5, 5), layout="constrained")
    if form not in figure.canvas.get_supported_filetypes():
        known = ", ".join(sorted(figure.canvas.get_supported_filetypes()))
        problem = f"plot: cannot write {path!r}; expected a name that ends in one of {known}"
        raise NotationError(problem, reason="BAD_USAGE")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.8")
    for name, report in reports.items():
        predicted, won, _ = zip(*report.calibration, strict=True)
        axes.plot(predicted, won, "o-", label=name)
    axes.set_xlabel("predicted share of the win")
    axes.set_ylabel("share won")
    axes.legend()
    with matplotlib.rc_context({"svg.hashsalt": "mexica-ai"}):
        figure.savefig(path, format=form)
