"""The shapes of the seats, and pieces that games share."""

from __future__ import annotations

import math

from mexica_ai.draw.palette import Paint
from mexica_ai.draw.svg import element, group, path, text

NEUTRAL = "neutral"
_SIDES: dict[int | str, tuple[int, int]] = {0: (3, -90), 2: (4, 45), 3: (4, 0), NEUTRAL: (6, 30)}


def seat_shape(seat: int | str, x: float, y: float, radius: float, **attributes: object) -> str:
    """Return the outline of a seat's shape round a point: triangle, circle, square, diamond; a hexagon: neutral."""
    if seat == 1:
        return element("circle", cx=float(x), cy=float(y), r=float(radius), **attributes)
    sides, start = _SIDES[seat]
    # Shapes of the same area look equally large.
    reach = radius * {3: 1.35, 4: 1.2, 6: 1.08}[sides]
    middle = y + radius * 0.18 if sides == 3 else y
    points = (
        (
            x + reach * math.cos(math.radians(start + 360 * index / sides)),
            middle + reach * math.sin(math.radians(start + 360 * index / sides)),
        )
        for index in range(sides)
    )
    return element("path", d=path(points), stroke_linejoin="round", **attributes)


def seat_mark(paint: Paint, seat: int | str, x: float, y: float, radius: float, label: object = "") -> str:
    """Return a seat's shape in its colours, with a label on it."""
    parts = [seat_shape(seat, x, y, radius, **paint(f"seat{seat}" if seat != NEUTRAL else NEUTRAL, f"rim{seat}", 1.5))]
    if label != "":
        middle = y + radius * (0.3 if seat == 0 else 0)
        style = {"text_anchor": "middle", "font_weight": "bold", **paint(f"on{seat}")}
        parts.append(text(x, middle + radius * 0.38, label, radius * 1.05, **style))
    return group(parts)


def pawn(paint: Paint, seat: int, x: float, y: float, size: float, **attributes: object) -> str:
    """Return a pawn with a white edge, the shape of its seat on its foot."""
    s = size / 40
    body = (
        f"M{x - 10 * s:.2f} {y + 15 * s:.2f}Q{x - 11 * s:.2f} {y + 6 * s:.2f} {x - 4.5 * s:.2f} {y - 1 * s:.2f}"
        f"L{x + 4.5 * s:.2f} {y - 1 * s:.2f}Q{x + 11 * s:.2f} {y + 6 * s:.2f} {x + 10 * s:.2f} {y + 15 * s:.2f}Z"
    )
    color = paint(f"seat{seat}", f"rim{seat}", 1.2)
    edge = paint(None, "card" if seat != 3 else "mark", 3.0)
    head = {"cx": float(x), "cy": float(y - 7 * s), "r": float(6.5 * s)}
    return group(
        [
            element("path", d=body, stroke_linejoin="round", **edge),
            element("circle", **head, **edge),
            element("path", d=body, stroke_linejoin="round", **color),
            element("circle", **head, **color),
            seat_shape(seat, x, y + 8 * s, 4 * s, **paint(f"on{seat}")),
        ],
        **attributes,
    )
