"""Rounded outlines of sets of squares, as one path."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable

from mexica_ai.draw.svg import number

Square = tuple[int, int]  # column, row
Point = tuple[float, float]


def outline(squares: Iterable[Square], size: float, x: float, y: float, grow: float, radius: float) -> str:
    """Return the data of a path round squares; several loops if they do not hang together or have holes.

    Parameters
    ----------
    squares : iterable of (column, row)
    size : float
        Side of a square.
    x, y : float
        Where the square (0, 0) begins.
    grow : float
        How far the path is outside of the squares; below 0: inside.
    radius : float
        Of the corners. Squares that touch at a corner only stay apart if it is more than four times `grow`.
    """
    return "".join(
        _rounded([(x + column * size, y + row * size) for column, row in loop], grow, radius)
        for loop in _loops(set(squares))
    )


def _loops(squares: set[Square]) -> list[list[Square]]:
    """Return the corners of the boundary, clockwise round the squares."""
    edges: dict[Square, list[Square]] = defaultdict(list)
    for column, row in squares:
        for (dc, dr), start, end in (
            ((0, -1), (0, 0), (1, 0)),
            ((1, 0), (1, 0), (1, 1)),
            ((0, 1), (1, 1), (0, 1)),
            ((-1, 0), (0, 1), (0, 0)),
        ):
            if (column + dc, row + dr) not in squares:
                edges[column + start[0], row + start[1]].append((column + end[0], row + end[1]))
    loops = []
    while edges:
        first = min(edges)
        loop: list[Square] = []
        here, step = first, (0, 0)
        while True:
            ends = edges[here]
            # Where two squares touch at a corner, turn right: that stays with the same square.
            end = min(ends, key=functools.partial(_turn, step, here))
            ends.remove(end)
            if not ends:
                del edges[here]
            last, step = step, _direction(here, end)
            if step != last:
                loop.append(here)
            here = end
            if here == first and (here not in edges or len(loop) > 1):
                break
        if _direction(loop[-1], loop[0]) == _direction(loop[0], loop[1]):
            loop.pop(0)
        loops.append(loop)
    return loops


def _direction(start: Point, end: Point) -> tuple[int, int]:
    return (end[0] > start[0]) - (end[0] < start[0]), (end[1] > start[1]) - (end[1] < start[1])


def _turn(way: tuple[int, int], here: Square, end: Square) -> int:
    """Return -1 for a turn to the right, 1 for one to the left, 0 without a way so far."""
    step = _direction(here, end)
    return way[1] * step[0] - way[0] * step[1]


def _rounded(corners: list[Point], grow: float, radius: float) -> str:
    steps: list[str] = []
    for index, (x, y) in enumerate(corners):
        before, after = corners[index - 1], corners[(index + 1) % len(corners)]
        (ax, ay), (bx, by) = _direction(before, (x, y)), _direction((x, y), after)
        # Outside is to the left of the way round.
        x += grow * (ay + by)
        y -= grow * (ax + bx)
        steps.append(
            f"{'L' if steps else 'M'}{number(x - radius * ax)} {number(y - radius * ay)}"
            f"Q{number(x)} {number(y)} {number(x + radius * bx)} {number(y + radius * by)}"
        )
    return "".join(steps) + "Z"
