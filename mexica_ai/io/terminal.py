"""Output on a terminal: its width, colours of the seats, its characters, and lines of progress."""

from __future__ import annotations

import codecs
import io
import itertools
import os
import re
import shutil
import stat
import sys
import textwrap
import time
from collections.abc import Sequence
from typing import Any, TextIO

DEFAULT_WIDTH = 80  # where there is no terminal
MIN_WIDTH = 40
FIRST_LINE_S, LINE_INTERVAL_S = 30.0, 60.0  # of progress off a terminal
MAX_FOREIGN, MAX_MESSAGE = 200, 4000  # characters of a text of others, and of a message, that are shown
NO_BREAK = "\N{NO-BREAK SPACE}"
_SEAT_MARKS = "▲●■◆"
_SEAT_COLORS = (91, 94, 32, 33)  # red, blue, green, yellow
_PLAIN = dict(zip("▲●■◆△≈║═·±→", ["A", "B", "C", "D", "N", "~", "|", "=", ".", "+-", "->"], strict=True))
# Beside the blank: as in French, in Japanese names.
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_ERRORS = "mexica_ai.plain"  # name of the handler of characters that a stream cannot show


def width() -> int:
    """Return the columns of the terminal, or those that COLUMNS says, or 80; 40 at least."""
    return max(MIN_WIDTH, shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)


def escape(text: str) -> str:
    """Return a text on one line, with escapes such as ``\\x1b`` for all that is no visible character or a space.

    So no text of a file, a program or a server can steer a terminal, hide or turn a part of itself, or forge a line.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in _SPACES else char.encode("unicode_escape").decode() for char in text
    )


def shorten(text: str, columns: int = MAX_FOREIGN) -> str:
    """Return a text of others as `escape` does, cut to a number of columns."""
    words = itertools.islice((match[0] for match in re.finditer(r"\S+", text)), columns + 1)  # more are not shown
    return _cut(escape(" ".join(words)[: columns + 1]), columns)


def _cut(text: str, columns: int) -> str:
    return text if len(text) <= columns else text[: columns - 3] + "..."


def say(*lines: str, flush: bool = False) -> None:
    """Print lines on standard output, with the colours of the seats.

    Each goes through `escape`, which leaves no line feed in it, and is cut if it is very long.
    """
    print(*(paint(_cut(escape(line), MAX_MESSAGE)) for line in lines or [""]), sep="\n", flush=flush)


def write(content: str) -> None:
    """Write the content of a file to standard output, in UTF-8 whatever the terminal's encoding is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content.encode())


class _Unread(io.FileIO):
    """Takes what is written to a file descriptor, also when nobody reads it any more."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


def outlive_reader() -> None:
    """Have a command that writes files go on after the reader of its standard output has gone, as `head` does."""
    old = sys.stdout
    try:
        number = old.fileno()
        mode = os.fstat(number).st_mode
    except (OSError, ValueError):  # it is no file
        return
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        old.flush()
        raw = io.BufferedWriter(_Unread(number, "w", closefd=False))
        sys.stdout = io.TextIOWrapper(raw, old.encoding, old.errors)


def tell(text: str) -> None:
    """Print a message on standard error, in one line; no work ends because that is full, or nobody reads it."""
    try:
        print(f"mexica-ai: {shorten(text, MAX_MESSAGE)}", file=sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # else the last flush fails, too


def has_colors(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that shows colours; not if NO_COLOR is set (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, stream: TextIO | None = None) -> str:
    """Return a text whose marks and names of seats have the seats' colours, if the stream shows any.

    The shapes of the marks stay, so nothing is said by colour alone.
    """
    if not has_colors(stream or sys.stdout):
        return text

    def color(match: re.Match[str]) -> str:
        seat = _SEAT_MARKS.index(match["mark"]) if match["mark"] else int(match["seat"])
        return f"\x1b[{_SEAT_COLORS[seat]}m{match[0]}\x1b[0m"

    return re.sub(rf"(?P<mark>[{_SEAT_MARKS}])(?: seat [0-3]\b|[0-9])?|\bseat (?P<seat>[0-3])\b", color, text)


def plain(text: str) -> str:
    """Return a text in ASCII: seats become A to D and N, canals ``~~~``, bridges ``| |`` and ``===``."""
    return "".join(char if char.isascii() else _PLAIN.get(char, "?") for char in text)


def _replace(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return plain(error.object[error.start : error.end]), error.end


codecs.register_error(_ERRORS, _replace)


def show_what_it_can(stream: TextIO) -> None:
    """Have a stream write characters that it cannot encode as `plain` does."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=_ERRORS)


def wrap_turn(actions: Sequence[str], columns: int, first: str = "", rest: str = "") -> list[str]:
    """Return a turn in lines of at most `columns` characters, broken between actions only.

    Parameters
    ----------
    actions : sequence of str
    columns : int
    first, rest : str
        Beginnings of the first line and of the others.
    """
    # They may be those of another program.
    text = "; ".join(shorten(action, MAX_MESSAGE).replace(" ", NO_BREAK) for action in actions)
    lines = textwrap.wrap(
        text,
        columns,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(NO_BREAK, " ") for line in lines] or [first.rstrip()]


def wrap(text: str, columns: int | None = None, rest: str = "") -> list[str]:
    """Return a text of one line in lines of the terminal's width; all but the first begin with `rest`."""
    return textwrap.wrap(
        text, columns or width(), subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def format_duration(seconds: float) -> str:
    """Return a time in the two units that matter."""
    minutes = int(seconds // 60)
    if minutes < 60:
        return f"{minutes} min" if minutes else f"{int(seconds)} s"
    return f"{minutes // 60} h {minutes % 60} min"


class Pace:
    """Elapsed and remaining time of a task, from the part of it that is done.

    Another total, or less done than before, begins another task.
    """

    def __init__(self) -> None:
        self._began_s, self._first = 0.0, 0
        self._last, self._total = 0, -1  # no task yet

    def describe(self, done: int, total: int) -> str:
        """Return the time so far and, if anything is done since the task's first call, about how much is left."""
        now = time.monotonic()
        if total != self._total or done < self._last:
            self._began_s, self._first = now, done  # may be of an earlier run
        self._last, self._total = done, total
        elapsed_s = now - self._began_s
        text = format_duration(elapsed_s)
        if done > self._first:
            text += f", about {format_duration(elapsed_s * (total - done) / (done - self._first))} left"
        return text


class Lines:
    """Lines of progress now and then on standard error, where it is no terminal."""

    def __init__(self) -> None:
        self._next_s = time.monotonic() + FIRST_LINE_S

    def show(self, text: str) -> None:
        """Print the text if the last line, or the beginning, is long enough ago."""
        now = time.monotonic()
        if now >= self._next_s:
            tell(text)
            self._next_s = now + LINE_INTERVAL_S
