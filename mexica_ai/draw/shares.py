"""The course of a game as a picture: each seat's expected share of the win, and what each turn gave away."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mexica_ai.draw.palette import Paint
from mexica_ai.draw.pieces import seat_mark
from mexica_ai.draw.svg import document, element, escape, group, path, text


@dataclass(frozen=True)
class _Size:
    """Sizes of the picture's parts: of the shares and below them the losses, and what is round them."""

    width: int = 860
    height: int = 260
    losses: int = 90
    left: int = 52
    right: int = 24
    seat: int = 84  # of a seat's name
    numbers: int = 16  # of turns, at most

    top = 56


_NARROW = _Size(width=348, height=130, losses=44, left=40, right=20, seat=74, numbers=8)


@dataclass(frozen=True)
class Turn:
    """A turn of a game that has been evaluated.

    Attributes
    ----------
    number : int
        Of the turn, from 1; random events have numbers, too.
    seat : int
    after : sequence of float
        Expected share of the win of each seat after it.
    loss : float
        Share of the win that it gave away.
    label : str
        Its actions.
    mark : str
        ?, ?? or nothing.
    before : sequence of float, optional
        Expected share of the win of each seat before it, where the lines begin anew; None: they come from the turn
        before in the list.
    """

    number: int
    seat: int
    after: Sequence[float]
    loss: float
    label: str = ""
    mark: str = ""
    before: Sequence[float] | None = None


def draw_shares(
    turns: Sequence[Turn],
    *,
    players: int,
    theme: str = "light",
    title: str = "",
    link: str = "",
    is_narrow: bool = False,
) -> str:
    """Return the picture of a game's course.

    Parameters
    ----------
    turns : sequence of Turn
        In their order; the first has `before`.
    players : int
        Number of seats.
    theme : str
        light, dark or page.
    title : str
        The heading.
    link : str
        Where a click on a turn leads, with ``{}`` for its number. Default: nowhere.
    is_narrow : bool
        For a column beside a board.
    """
    paint, size = Paint(theme), _NARROW if is_narrow else _Size()
    last = max((turn.number for turn in turns), default=1)
    first = min((turn.number for turn in turns), default=1) - 1
    step = (size.width - size.left - size.right) / max(last - first, 1)

    def x(number: float) -> float:
        return size.left + (number - first) * step

    def y(share: float) -> float:
        return size.top + (1 - share) * size.height

    height, end = size.top + size.height + size.losses + 80, size.width - size.right
    parts = [element("rect", width=float(size.width), height=float(height), **paint("paper"))]
    parts.append(text(size.left, 24, title or "Expected share of the win", 16, font_weight="bold", **paint("ink")))
    for percent in range(0, 101, 25):
        parts.append(element("path", d=f"M{size.left} {y(percent / 100):g}H{end}", **paint(None, "line", 1.0)))
        label = f"{percent} %"
        parts.append(text(size.left - 8, y(percent / 100) + 4, label, 11, text_anchor="end", **paint("soft")))
    ends = _apart({seat: y(turns[-1].after[seat]) for seat in range(players)} if turns else {})
    for seat in range(players):
        parts.append(_curve(paint, seat, turns, x, y))
        if seat in ends:
            parts.append(seat_mark(paint, seat, end + 12, ends[seat], 5))
        parts += [
            seat_mark(paint, seat, size.left + 6 + size.seat * seat, 41, 6),
            text(size.left + 17 + size.seat * seat, 45, f"Seat {seat}", 12, **paint("ink")),
        ]
    base = size.top + size.height + 26
    most = max([0.2, *(turn.loss for turn in turns)])
    parts.append(text(size.left, base - 6, "given away by each turn", 11, **paint("soft")))
    for share, label in ((0, "0"), (size.losses, f"{100 * most:.0f} %")):
        parts.append(text(size.left - 8, base + share + 4, label, 11, text_anchor="end", **paint("soft")))
        parts.append(element("path", d=f"M{size.left} {base + share:g}H{end}", **paint(None, "line", 1.0)))
    wide = min(step * 0.7, 14.0)
    bars = []
    for turn in turns:
        tall = size.losses * max(turn.loss, 0.0) / most
        shown = _loss(paint, size, turn, x(turn.number) - step / 2, base, tall, wide, step)
        bars.append(element("a", shown, href=link.format(turn.number)) if link else shown)
    parts.append(group(bars, class_="losses"))
    every = max(1, round((last - first) / size.numbers / 5) * 5) if last - first > size.numbers else 1
    for number in range(first + 1, last + 1):
        if number % every == 0:
            parts.append(text(x(number) - step / 2, height - 10, number, 11, text_anchor="middle", **paint("soft")))
    return document(size.width, height, "".join(parts), title or "Expected share of the win, by turn")


def _loss(
    paint: Paint, size: _Size, turn: Turn, middle: float, base: float, tall: float, wide: float, step: float
) -> str:
    """Return the bar of a turn's loss, its mark, and the area around it with a hint."""
    bar = element(
        "rect",
        x=middle - wide / 2,
        y=float(base),
        width=wide,
        height=max(tall, 1.0),
        **paint(f"seat{turn.seat}"),
    )
    if turn.mark:
        bar += text(middle, base + tall + 13, turn.mark, 12, text_anchor="middle", font_weight="bold", **paint("ink"))
        bar += seat_mark(paint, turn.seat, middle, base + tall + 22, 4)
    words = f"turn {turn.number}, seat {turn.seat}: {turn.label}, gives away {100 * turn.loss:.1f} %"
    place = {"x": middle - step / 2, "y": float(size.top), "width": step, "height": float(size.height + size.losses)}
    area = element("rect", **place, fill_opacity="0")
    hint = element("title", escape(words))
    return group([hint, bar, area], class_="turn", data_target=f"turn:{turn.number}")


def _apart(heights: dict[int, float]) -> dict[int, float]:
    """Return the heights of marks by seat, moved down where one would cover another."""
    found, last = {}, -math.inf
    for seat, height in sorted(heights.items(), key=lambda item: item[1]):
        last = found[seat] = max(height, last + 13)
    return found


def _curve(
    paint: Paint, seat: int, turns: Sequence[Turn], x: Callable[[float], float], y: Callable[[float], float]
) -> str:
    runs: list[list[tuple[float, float]]] = []
    for turn in turns:
        if turn.before is not None:
            runs.append([(x(turn.number - 1), y(turn.before[seat]))])
        runs[-1].append((x(turn.number), y(turn.after[seat])))
    data = "".join(path(points, closed=False) for points in runs)
    return element("path", d=data, stroke_linejoin="round", **paint(None, f"seat{seat}", 2.4))
