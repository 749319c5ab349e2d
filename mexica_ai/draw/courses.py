"""What each engine of a game expected for itself, turn by turn: a small picture for a table, and one with axes."""

from __future__ import annotations

from collections.abc import Sequence

from mexica_ai.draw.palette import Paint
from mexica_ai.draw.pieces import seat_mark
from mexica_ai.draw.svg import document, element, path, text

SPARK_WIDTH, SPARK_HEIGHT = 120, 22
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 860, 200, 52, 56, 24, 28

Course = Sequence[tuple[int, float]]  # of a seat: the number of a turn, and a share from 0 to 1


def draw_small(courses: Sequence[Course], *, last: int, title: str, theme: str = "light") -> str:
    """Return a picture of a few lines for a table.

    Parameters
    ----------
    courses : sequence of sequence of (int, float)
        Of each seat.
    last : int
        The number of the last turn of the game, from 1.
    title : str
        For those who do not see it.
    theme : str
        light, dark or page.
    """
    paint = Paint(theme)
    width, height = SPARK_WIDTH - 4, SPARK_HEIGHT - 4
    parts = [element("path", d=f"M2 {2 + height / 2:g}h{width}", **paint(None, "line", 1.0))]
    for seat, course in enumerate(courses):
        points = [(2 + width * number / max(1, last), 2 + height * (1 - share)) for number, share in course]
        if points:
            data = path(points, closed=False)
            parts.append(element("path", d=data, stroke_linejoin="round", **paint(None, f"seat{seat}", 1.4)))
    return document(SPARK_WIDTH, SPARK_HEIGHT, "".join(parts), title)


def draw_large(courses: Sequence[Course], *, last: int, title: str, theme: str = "light") -> str:
    """Return a picture with axes; parameters as of `draw_small`, but the title is shown."""
    paint = Paint(theme)

    def x(number: float) -> float:
        return LEFT + number * (WIDTH - LEFT - RIGHT) / max(1, last)

    def y(share: float) -> float:
        return TOP + (1 - share) * HEIGHT

    tall = TOP + HEIGHT + BOTTOM
    parts = [element("rect", width=float(WIDTH), height=float(tall), **paint("paper"))]
    parts.append(text(LEFT, 24, title, 16, font_weight="bold", **paint("ink")))
    for percent in range(0, 101, 25):
        parts.append(element("path", d=f"M{LEFT} {y(percent / 100):g}H{WIDTH - RIGHT}", **paint(None, "line", 1.0)))
        parts.append(text(LEFT - 8, y(percent / 100) + 4, f"{percent} %", 11, text_anchor="end", **paint("soft")))
    every = max(1, round(last / 16 / 5) * 5) if last > 16 else 1
    for number in range(every, last + 1, every):
        parts.append(text(x(number), tall - 8, number, 11, text_anchor="middle", **paint("soft")))
    for seat, course in enumerate(courses):
        parts.append(seat_mark(paint, seat, LEFT + 6 + 84 * seat, 41, 6))
        parts.append(text(LEFT + 17 + 84 * seat, 45, f"Seat {seat}", 12, **paint("ink")))
        points = [(x(number), y(share)) for number, share in course]
        if points:
            data = path(points, closed=False)
            parts.append(element("path", d=data, stroke_linejoin="round", **paint(None, f"seat{seat}", 2.4)))
            parts += [seat_mark(paint, seat, *point, 4) for point in points]
    return document(WIDTH, tall, "".join(parts), title)
