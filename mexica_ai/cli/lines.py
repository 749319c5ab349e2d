"""Comments and variations of a record, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.game.variations import Line, Path, format_path, walk
from mexica_ai.io import terminal

_INDENT = "  "


def describe_lines(tree: Line) -> list[str]:
    """Return the comments on the turns that were played, then the variations with theirs, folded to the terminal."""
    found = terminal.wrap(tree.comment) if tree.comment else []
    for number in range(1, tree.end + 1):
        if text := tree.comment_on(number):
            found += terminal.wrap(f"{_turn(tree, number)} {text}", rest=_INDENT)
    for path, line in walk(tree):
        if path:
            found += describe_variation(path, line)
    return found


def describe_variation(path: Path, line: Line) -> list[str]:
    """Return a variation with its comments, indented by its depth, without those that leave it."""
    said = f" {line.comment}" if line.comment else ""
    words = " ".join(_words(line))
    indent = _INDENT * (len(path) - 1)
    text = f"Line {format_path(path)}, {f'after turn {line.at}' if line.at else 'from the start'}:{said} {words}"
    return [indent + folded for folded in terminal.wrap(text, rest=_INDENT)]


def _words(line: Line) -> Iterator[str]:
    for number in range(line.at + 1, line.end + 1):
        text = line.comment_on(number)
        yield _turn(line, number) + (f" {text}" if text else "")


def _turn(line: Line, number: int) -> str:
    return f"{number}. {TURN_SEPARATOR.join(line.turns[number - line.at - 1])}."
