"""Marks for a turn: frames round what is new, arrows along a way, numbered badges, and the actions as chips."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mexica_ai.draw.palette import Paint
from mexica_ai.draw.svg import element, group, path, text

Point = tuple[float, float]


def badge(paint: Paint, x: float, y: float, label: object, radius: float = 9.5) -> str:
    """Return a number on a dark disc."""
    return group(
        [
            element("circle", cx=float(x), cy=float(y), r=float(radius), **paint("mark", "card", 1.5)),
            text(x, y + radius * 0.4, label, radius * 1.2, text_anchor="middle", font_weight="bold", **paint("on0")),
        ],
        class_="badge",
    )


def frame(paint: Paint, data: str) -> str:
    """Return a yellow line with dark edges along a path."""
    return group(
        [
            element("path", d=data, stroke_linejoin="round", **paint(None, "mark", 5.0)),
            element("path", d=data, stroke_linejoin="round", **paint(None, "glow", 2.6)),
        ],
        class_="new",
    )


def arrow(paint: Paint, start: Point, end: Point, *, dash: str | None = None, bend: float = 0.0) -> tuple[str, Point]:
    """Return an arrow, and its middle.

    Parameters
    ----------
    start, end : (x, y)
    dash : str, optional
        Lengths of dashes and gaps, as in SVG.
    bend : float
        How far the middle is to the left of the straight line.
    """
    (x, y), (u, v) = start, end
    length = math.hypot(u - x, v - y) or 1.0
    left = ((v - y) / length, -(u - x) / length)
    control = ((x + u) / 2 + 2 * bend * left[0], (y + v) / 2 + 2 * bend * left[1])
    way = math.atan2(v - control[1], u - control[0])
    head = [
        (u - 13 * math.cos(way + turn) * reach, v - 13 * math.sin(way + turn) * reach)
        for turn, reach in ((0.45, 1.0), (-0.45, 1.0))
    ]
    stop = (u - 8 * math.cos(way), v - 8 * math.sin(way))
    data = path([start], closed=False) + f"Q{control[0]:.2f} {control[1]:.2f} {stop[0]:.2f} {stop[1]:.2f}"
    tip = path([end, *head])
    parts = [
        element("path", d=data, stroke_linecap="round", **paint(None, "mark", 7.0)),
        element("path", d=tip, stroke_linejoin="round", **paint("mark", "mark", 4.0)),
        element("path", d=data, stroke_linecap="butt", stroke_dasharray=dash, **paint(None, "glow", 3.4)),
        element("path", d=tip, **paint("glow")),
    ]
    middle = ((x + 2 * control[0] + u) / 4, (y + 2 * control[1] + v) / 4)
    return group(parts, class_="way"), middle


def chips(paint: Paint, x: float, y: float, width: float, actions: Sequence[str]) -> tuple[str, float]:
    """Return the actions of a turn as numbered chips in rows, and the height of all rows."""
    parts, left, top = [], x, y
    for index, action in enumerate(actions, 1):
        wide = 36 + 7.5 * len(action)
        if left > x and left + wide > x + width:
            left, top = x, top + 34
        shape = {"x": float(left), "y": float(top), "width": float(wide), "height": 26.0, "rx": 13.0}
        parts += [
            element("rect", **shape, **paint("card", "line", 1.5)),
            badge(paint, left + 13, top + 13, index, 9),
            text(left + 27, top + 17.5, action, 13, **paint("ink")),
        ]
        left += wide + 8
    return group(parts, class_="steps"), top + 34 - y if actions else 0.0
