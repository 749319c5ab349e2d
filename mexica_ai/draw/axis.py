"""The horizontal axis of pictures of a search: seconds or iterations."""

from __future__ import annotations

import math

from mexica_ai.draw.palette import Paint
from mexica_ai.draw.svg import element, text

AXES = ("seconds", "iterations")
_MOST_TICKS = 8


def ticks(end: float) -> list[float]:
    """Return the round values from 0 to `end`, above 0, at which an axis has ticks; at least one, at most 9."""
    step = 10.0 ** math.floor(math.log10(end / _MOST_TICKS))
    for factor in (1, 2, 5, 10):
        if end / (step * factor) <= _MOST_TICKS:
            break
    step *= factor
    return [number * step for number in range(math.floor(end / step + 1e-9) + 1)]


def draw_axis(paint: Paint, end: float, label: str, *, left: float, right: float, y: float) -> str:
    """Return the numbers and the name of an axis below a plot.

    Parameters
    ----------
    paint : Paint
    end : float
        The value at the right end, above 0.
    label : str
        Of `AXES`.
    left, right, y : float
        Where it is.
    """
    parts = []
    for value in ticks(end):
        x = left + (right - left) * value / end
        parts.append(element("path", d=f"M{x:.2f} {y:g}v4", **paint(None, "soft", 1.0)))
        parts.append(text(x, y + 16, f"{value:,.10g}", 10.5, text_anchor="middle", **paint("soft")))
    parts.append(text(right, y + 30, label, 10.5, text_anchor="end", **paint("soft")))
    return "".join(parts)
