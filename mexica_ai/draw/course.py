"""Searches of one position by several engines as a picture: the share of each engine's best turn over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mexica_ai.draw.axis import draw_axis, share_lines
from mexica_ai.draw.palette import Paint
from mexica_ai.draw.search import LINES, WIDTH, Result, reached, wrap_turn
from mexica_ai.draw.svg import document, element, path, text

_LEFT, _RIGHT, _TOP, _TALL = 52.0, 46.0, 56.0, 300.0
_CHARACTERS = 100  # of a turn in a row below the plot


class Course(Protocol):
    """The search of one engine: its name, and its results in their order, at least one."""

    @property
    def name(self) -> str: ...
    @property
    def results(self) -> Sequence[Result]: ...


def draw_courses(courses: Sequence[Course], seat: int, *, theme: str = "light", axis: str = "seconds") -> str:
    """Return a picture of the mover's share of the win after the best turn of each engine, over time.

    A dot is where an engine changed to another best turn. An engine with a single result is a dashed line at its share.

    Parameters
    ----------
    courses : sequence of Course
        Those beyond the fifth share the last colour; letters tell them apart.
    seat : int
        The seat to move.
    theme : str
        light, dark or page.
    axis : str
        seconds or iterations.
    """
    paint = Paint(theme)
    ends = [reached(course.results[-1], axis) for course in courses]
    end = max([*ends, 1e-9])
    rows = [wrap_turn(f"{course.name}: {'; '.join(course.results[-1].turn)}", _CHARACTERS) for course in courses]
    shares = [result.candidates[0].value[seat] for course in courses for result in course.results if _tells(result)]
    grid = share_lines(shares)
    low, high = grid[0], grid[-1]
    bottom = _TOP + _TALL
    height = bottom + 56 + 20 * sum(map(len, rows))
    title = f"Share of the win of seat {seat} after the best turn of each engine"

    def x(value: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * value / end

    def y(share: float) -> float:
        return bottom - _TALL * (share - low) / (high - low)

    parts = [
        element("rect", width=float(WIDTH), height=float(height), **paint("paper")),
        text(_LEFT, 26, title, 16, font_weight="bold", **paint("ink")),
        draw_axis(paint, end, axis, left=_LEFT, right=WIDTH - _RIGHT, y=bottom),
    ]
    for share in grid:
        parts.append(element("path", d=f"M{_LEFT:g} {y(share):.2f}H{WIDTH - _RIGHT:g}", **paint(None, "line", 1.0)))
        label = f"{100 * share:.3g} %"
        parts.append(text(_LEFT - 6, y(share) + 4, label, 10.5, text_anchor="end", **paint("soft")))
    marks: list[float] = []
    for index, course in enumerate(courses):
        color = LINES[min(index, len(LINES) - 1)]
        told = [result for result in course.results if _tells(result)]
        points = [(x(reached(result, axis)), y(result.candidates[0].value[seat])) for result in told]
        if not points:
            continue
        at = points[-1]
        style = paint(None, color, 2.4)
        if len(points) == 1:
            line = element("path", d=f"M{_LEFT:g} {at[1]:.2f}H{WIDTH - _RIGHT:g}", stroke_dasharray="7 5", **style)
        else:
            line = element("path", d=path(points, closed=False), stroke_linejoin="round", **style)
        parts.append(line)
        changes = [point for point, old, new in zip(points[1:], told, told[1:], strict=False) if old.turn != new.turn]
        parts += [element("circle", cx=cx, cy=cy, r=3.5, **paint(color)) for cx, cy in [*changes, at]]
        mark = _free(at[1] + 4, marks)
        parts.append(text(WIDTH - _RIGHT + 8, mark, _letter(index), 13, font_weight="bold", **paint("ink")))
    row = bottom + 52
    for index, lines in enumerate(rows):
        color = LINES[min(index, len(LINES) - 1)]
        parts.append(element("path", d=f"M{_LEFT:g} {row - 4:g}h22", **paint(None, color, 3.0)))
        parts.append(text(80, row, _letter(index), 12, font_weight="bold", **paint("ink")))
        for line in lines:
            parts.append(text(96, row, line, 12, **paint("ink")))
            row += 20
    return document(WIDTH, height, "".join(parts), title)


def _tells(result: Result) -> bool:
    """Return whether an engine tells the shares of the win."""
    return bool(result.candidates and result.candidates[0].value)


def _free(y: float, marks: list[float]) -> float:
    """Return a height near `y` at which no other mark stands, and add it to the marks."""
    while any(abs(y - other) < 14 for other in marks):
        y -= 14
    marks.append(y)
    return y


def _letter(index: int) -> str:
    """Return the letter of an engine: A for the first; numbers follow Z."""
    return chr(ord("A") + index) if index < 26 else str(index + 1)
