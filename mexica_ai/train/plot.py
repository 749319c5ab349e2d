"""The calibration plot of a fit (extra `plot`)."""

from __future__ import annotations

from matplotlib.figure import Figure

from mexica_ai.pictures import save
from mexica_ai.train.fit import Report


def draw(reports: dict[str, Report], path: str) -> None:
    """Draw predicted against real shares of the win, a line for each named report.

    Raises
    ------
    NotationError
        See `mexica_ai.pictures.check_path`.
    OSError
        The file cannot be written.
    """
    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.8")
    for name, report in reports.items():
        predicted, won, _ = zip(*report.calibration, strict=True)
        axes.plot(predicted, won, "o-", label=name)
    axes.set_xlabel("predicted share of the win")
    axes.set_ylabel("share won")
    axes.legend()
    save(figure, path)
