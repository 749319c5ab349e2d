"""A search as a picture: the candidate turns of its result, and how their visits and shares grew."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Protocol

from mexica_ai.draw.axis import draw_axis, share_lines
from mexica_ai.draw.palette import Paint
from mexica_ai.draw.pieces import seat_mark
from mexica_ai.draw.svg import document, element, path, text

WIDTH = 860
MOST = 5  # candidates whose growth is drawn
LINES = ("course0", "course1", "course2", "course3", "neutral")  # colours, legible on light and dark paper
_CHARACTERS, _LONG = 58, 100  # of a turn in a row, beside bars and below a plot


class Candidate(Protocol):
    """The part of a `mexica_ai.analysis.results.Candidate` that is drawn."""

    @property
    def turn(self) -> list[str]: ...
    @property
    def visits(self) -> int: ...
    @property
    def value(self) -> list[float]: ...
    @property
    def expected_scores(self) -> list[float]: ...


class Result(Protocol):
    """The part of a `mexica_ai.analysis.results.Result` that is drawn."""

    @property
    def candidates(self) -> Sequence[Candidate]: ...
    @property
    def turn(self) -> list[str]: ...
    @property
    def iterations(self) -> int: ...
    @property
    def seconds(self) -> float: ...


def draw_candidates(result: Result, *, theme: str = "light") -> str:
    """Return a picture of the candidates: visits, shares of the win and expected scores.

    Parameters
    ----------
    result : mexica_ai.analysis.results.Result
    theme : str
        light, dark or page.
    """
    paint = Paint(theme)
    turns = [wrap_turn("; ".join(candidate.turn), _CHARACTERS) for candidate in result.candidates]
    height = 62 + sum(22 + 17 * len(lines) for lines in turns)
    parts = [
        element("rect", width=float(WIDTH), height=float(height), **paint("paper")),
        text(16, 28, "Candidate turns", 16, font_weight="bold", **paint("ink")),
        text(WIDTH - 16, 28, f"{result.iterations:,} iterations", 12, text_anchor="end", **paint("soft")),
    ]
    y = 46.0
    for candidate, lines in zip(result.candidates, turns, strict=True):
        parts.append(text(66, y + 19, f"{candidate.visits:,}", 12, text_anchor="end", **paint("soft")))
        x = 78.0
        for seat, share in enumerate(candidate.value):
            wide = 220 * share
            parts.append(element("rect", x=x, y=y + 4, width=wide, height=21.0, **paint(f"seat{seat}")))
            if wide > 34:
                style = {"text_anchor": "middle", "font_weight": "bold", **paint(f"on{seat}")}
                parts.append(text(x + wide / 2, y + 19, f"{100 * share:.0f}%", 12, **style))
            x += wide
        weight = "bold" if candidate is result.candidates[0] else None
        for line in lines:
            parts.append(text(312, y + 14, line, 13, font_weight=weight, **paint("ink")))
            y += 17
        for seat, score in enumerate(candidate.expected_scores):
            parts += [
                seat_mark(paint, seat, 318 + 64 * seat, y + 7, 4.5),
                text(327 + 64 * seat, y + 11.5, f"{score:.1f}", 11.5, **paint("soft")),
            ]
        y += 22
    return document(WIDTH, height, "".join(parts), "Candidates: " + "; ".join(result.turn))


def draw_growth(results: Sequence[Result], seat: int, *, theme: str = "light", axis: str = "seconds") -> str:
    """Return a picture of visits and of the mover's share of the win of the first candidates over time.

    Parameters
    ----------
    results : sequence of mexica_ai.analysis.results.Result
        The results of an analysis, in their order.
    seat : int
        The seat to move.
    theme : str
        light, dark or page.
    axis : str
        seconds or iterations.
    """
    paint = Paint(theme)
    names = ["; ".join(candidate.turn) for candidate in results[-1].candidates[:MOST]]
    known = [{"; ".join(candidate.turn): candidate for candidate in result.candidates} for result in results]
    end = max(reached(results[-1], axis), 1e-9)
    shown = [wrap_turn(name, _LONG) for name in names]
    height = 502 + 20 * sum(map(len, shown))
    title = f"Search of {results[-1].seconds:.1f} s, {results[-1].iterations:,} iterations"
    parts = [
        element("rect", width=float(WIDTH), height=float(height), **paint("paper")),
        text(52, 24, title, 16, font_weight="bold", **paint("ink")),
    ]
    most = max((candidate.visits for found in known for candidate in found.values()), default=0) or 1
    grid = share_lines(
        [share for found in known for name in names if name in found for share in _own(found[name], seat)]
    )
    low, span = grid[0], grid[-1] - grid[0]

    def heights(candidate: Candidate) -> list[float]:
        return [(share - low) / span for share in _own(candidate, seat)]

    plots = (
        (48.0, "visits", lambda candidate: [candidate.visits / most], [(0.0, "0"), (0.5, ""), (1.0, f"{most:,}")]),
        (
            256.0,
            f"share of the win of seat {seat}",
            heights,
            [((one - low) / span, f"{100 * one:.3g} %") for one in grid],
        ),
    )
    for top, label, values, rows in plots:
        parts.append(text(52, top - 4, label, 11.5, **paint("soft")))
        for share, words in rows:
            y = top + 180 * (1 - share)
            parts.append(element("path", d=f"M52 {y:g}H{WIDTH - 24}", **paint(None, "line", 1.0)))
            parts.append(text(46, y + 4, words, 10.5, text_anchor="end", **paint("soft")))
        for index, name in enumerate(names):
            points = [
                (52 + (WIDTH - 76) * reached(result, axis) / end, top + 180 * (1 - share))
                for result, found in zip(results, known, strict=True)
                if name in found
                for share in values(found[name])  # none where an engine tells none
            ]
            if not points:
                continue
            x, y = points[-1]
            parts.append(element("circle", cx=x, cy=y, r=4.0 if index == 0 else 3.0, **paint(LINES[index])))
            if label == "visits" and name in known[0]:  # all begin with none
                points.insert(0, (52.0, top + 180))
            style = paint(None, LINES[index], 2.6 if index == 0 else 1.8)
            parts.append(element("path", d=path(points, closed=False), stroke_linejoin="round", **style))
    parts.append(draw_axis(paint, end, axis, left=52, right=WIDTH - 24, y=436))
    y = 496.0
    for index, lines in enumerate(shown):
        parts.append(element("path", d=f"M52 {y - 4:g}h22", **paint(None, LINES[index], 3.0)))
        for line in lines:
            parts.append(text(82, y, line, 12, **paint("ink")))
            y += 20
    return document(WIDTH, height, "".join(parts), title)


def _own(candidate: Candidate, seat: int) -> list[float]:
    """Return the share of a seat after a candidate, none where an engine tells none."""
    return candidate.value[seat:][:1]


def reached(result: Result, axis: str) -> float:
    """Return how far a search had come at a result: its seconds or iterations."""
    return result.seconds if axis == "seconds" else float(result.iterations)


def wrap_turn(turn: str, characters: int) -> list[str]:
    """Return a turn in lines, broken between actions."""
    return textwrap.wrap(turn.replace(" ", "\N{NO-BREAK SPACE}").replace(";\N{NO-BREAK SPACE}", "; "), characters)
