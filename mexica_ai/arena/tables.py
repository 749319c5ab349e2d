"""Tables for people, and figures with their intervals as text."""

from __future__ import annotations

from collections.abc import Sequence


def folded(rows: Sequence[Sequence[str]], num_keys: int, width: int | None) -> list[str]:
    """Return the lines of a table; if it is too wide, of several below each other that repeat the first columns."""
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    keys = range(num_keys)
    parts: list[list[int]] = []
    for column in range(num_keys, len(widths)):
        shown = [*keys, *parts[-1], column] if parts else []
        if not parts or (width is not None and sum(widths[each] for each in shown) - 2 > width):
            parts.append([])
        parts[-1].append(column)
    lines: list[str] = []
    for part in parts:
        lines += [""] * bool(lines)
        lines += aligned([[row[column] for column in (*keys, *part)] for row in rows])
    return lines


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table whose columns are aligned on the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def interval(estimate: Sequence[float | None], form: str) -> str:
    """Return mean, low and high as ``1.5 [1.2, 1.8]``; "-" if nothing is known."""
    mean, low, high = estimate
    if mean is None and low is None and high is None:
        return "-"
    form = form.replace(".", "z.")  # no -0
    text = ["?" if number is None else format(number, form) for number in (mean, low, high)]
    return text[0] if low is None and high is None else f"{text[0]} [{text[1]}, {text[2]}]"


def strength(estimate: Sequence[float | None], form: str) -> str:
    """Return an Elo difference or a rating; without an interval it would only look like one."""
    return "-" if estimate[1] is None and estimate[2] is None else interval(estimate, form)


def chance(probability: float | None) -> str:
    """Return a probability in percent; "-" if it is not known."""
    return "-" if probability is None else f"{probability:.1%}"


def percent(estimate: Sequence[float | None], form: str = ".1f") -> str:
    """Return a share with its interval in percent; `form` is that of the numbers of an interval."""
    mean, low, high = (None if number is None else 100 * number for number in estimate)
    if mean is None:
        return "-"
    return f"{mean:z.0f} %" if low is None and high is None else f"{interval((mean, low, high), form)} %"


def count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is one: 1 game, 2 games."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
