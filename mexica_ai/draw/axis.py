"""The axes of pictures of a search: seconds or iterations, and shares of the win."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mexica_ai.draw.palette import Paint
from mexica_ai.draw.svg import element, text

AXES = ("seconds", "iterations")
_MOST_TICKS = 8
_LEAST_SPAN = 0.1  # of the shares that a plot shows


def ticks(end: float, *, is_whole: bool = False) -> list[float]:
    """Return the round values from 0 to `end`, above 0, at which an axis has ticks; at least one, at most 9.

    `is_whole`: it has no fractions.
    """
    step = 10.0 ** math.floor(math.log10(end / _MOST_TICKS))
    for factor in (1, 2, 5, 10):
        if end / (step * factor) <= _MOST_TICKS:
            break
    step = max(step * factor, 1.0) if is_whole else step * factor
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
    for value in ticks(end, is_whole=label == "iterations"):
        x = left + (right - left) * value / end
        parts.append(element("path", d=f"M{x:.2f} {y:g}v4", **paint(None, "soft", 1.0)))
        parts.append(text(x, y + 16, f"{value:,.10g}", 10.5, text_anchor="middle", **paint("soft")))
    parts.append(text(right, y + 30, label, 10.5, text_anchor="end", **paint("soft")))
    return "".join(parts)


def share_lines(shares: Sequence[float]) -> list[float]:
    """Return the round shares at which a plot has lines, so that all of some shares are between the first and the last.

    Parameters
    ----------
    shares : sequence of float
        0 to 1; none: the plot shows all from 0 to 1.
    """
    low, high = min(shares, default=0.0), max(shares, default=1.0)
    middle, half = (low + high) / 2, max((high - low) * 0.55, _LEAST_SPAN / 2)
    step = 0.05 if half < 0.15 else 0.1 if half < 0.35 else 0.25
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]
