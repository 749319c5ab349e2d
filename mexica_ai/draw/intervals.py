"""Estimates with their intervals as a picture, a row each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mexica_ai.draw.palette import Paint
from mexica_ai.draw.svg import document, element, text

WIDTH, ROW, TOP, BOTTOM, RIGHT = 860, 26, 44, 40, 24
MAX_LABEL = 44  # characters; a longer label is cut


@dataclass(frozen=True)
class Row:
    """An estimate.

    Attributes
    ----------
    label : str
    mean, low, high : float or None
        None where it is unknown.
    """

    label: str
    mean: float | None
    low: float | None = None
    high: float | None = None


def draw_intervals(
    rows: Sequence[Row], *, title: str, unit: str, theme: str = "light", line: float | None = None
) -> str:
    """Return the picture of estimates, the first one on top.

    Parameters
    ----------
    rows : sequence of Row
    title : str
    unit : str
        What the numbers are, below the axis.
    theme : str
        light, dark or page.
    line : float, optional
        A number that a vertical line marks.
    """
    paint = Paint(theme)
    known = [row for row in rows if row.mean is not None]
    numbers = [value for row in known for value in (row.mean, row.low, row.high) if value is not None]
    numbers += [] if line is None else [line]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    step = _step((high - low) / 6)
    low, high = step * math.floor(low / step), step * math.ceil(high / step)
    high += step * (high == low)
    labels = [row.label if len(row.label) <= MAX_LABEL else row.label[: MAX_LABEL - 1] + "…" for row in rows]
    left = 24 + 7.2 * max(map(len, labels), default=0)

    def x(value: float) -> float:
        return left + (value - low) / (high - low) * (WIDTH - RIGHT - left)

    height = TOP + ROW * len(rows) + BOTTOM
    parts = [element("rect", width=float(WIDTH), height=float(height), **paint("paper"))]
    parts.append(text(16, 24, title, 16, font_weight="bold", **paint("ink")))
    bottom = TOP + ROW * len(rows)
    for number in range(round((high - low) / step) + 1):
        value = low + number * step
        parts.append(element("path", d=f"M{x(value):.1f} {TOP}V{bottom}", **paint(None, "line", 1.0)))
        parts.append(text(x(value), bottom + 16, f"{value:g}", 11, text_anchor="middle", **paint("soft")))
    if line is not None:
        parts.append(element("path", d=f"M{x(line):.1f} {TOP}V{bottom}", **paint(None, "soft", 1.5)))
    parts.append(text((left + WIDTH - RIGHT) / 2, bottom + 33, unit, 11, text_anchor="middle", **paint("soft")))
    for index, (row, label) in enumerate(zip(rows, labels, strict=True)):
        y = TOP + ROW * (index + 0.5)
        parts.append(text(left - 10, y + 4, label, 12, text_anchor="end", **paint("ink")))
        if row.mean is None:
            continue
        if row.low is not None and row.high is not None:
            ends = f"M{x(row.low):.1f} {y:g}H{x(row.high):.1f}"
            parts.append(element("path", d=ends, stroke_linecap="round", **paint(None, "canal", 5.0)))
        parts.append(element("circle", cx=x(row.mean), cy=y, r=5.0, **paint("seat0")))
    return document(WIDTH, height, "".join(parts), f"{title}: {unit}")


def _step(least: float) -> float:
    """Return a round number that is at least as large: 1, 2 or 5 times a power of ten."""
    if not least > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))
