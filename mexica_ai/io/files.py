"""Files: reading texts of any origin within bounds, and writing results; errors name the file."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import HEAD, problem_of_text

MAX_TEXT = 1 << 20  # bytes of a file of settings, tokens or certificates
MAX_JSON = 16 << 20  # bytes of one JSON object: a file, or a line of a file with one a line
_CHUNK = 1 << 16  # bytes that are read at once
MAX_NAME = 240  # bytes of the name of a result, for its draft has a longer one


# --- texts


@contextlib.contextmanager
def open_text(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a file of text, or standard input for ``-``, open to read bytes by `read_bounded` or `read_lines`.

    Raises
    ------
    NotationError
        It cannot be opened, or by its first bytes it is no text in UTF-8; reason UNREADABLE_FILE.
    """
    with contextlib.ExitStack() as stack:
        try:
            file: Any = sys.stdin.buffer if path == "-" else stack.enter_context(open(path, "rb"))
            problem = problem_of_text(file.peek(HEAD)[:HEAD])
        except (OSError, ValueError) as error:  # ValueError: of a path that can be none
            problem = _words(error)
        if problem:
            raise _unreadable(path, problem)
        yield file


def _words(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _unreadable(path: str | os.PathLike[str], problem: str) -> NotationError:
    return NotationError(f"cannot read {name_of(path)}: {problem}", reason="UNREADABLE_FILE")


def name_of(path: str | os.PathLike[str]) -> str:
    """Return the name of an input in messages."""
    return "standard input" if path == "-" else os.fspath(path)


def decode(data: bytes) -> str:
    """Return the text of bytes in UTF-8: without a byte order mark, each line ended by a line feed.

    Raises
    ------
    NotationError
        They are something else; reason BAD_UTF8.
    """
    if problem := problem_of_text(data):
        raise NotationError(problem, reason="BAD_UTF8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotationError(f"not UTF-8 at byte {error.start}; expected text in UTF-8", reason="BAD_UTF8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_text(path: str | os.PathLike[str], max_bytes: int = MAX_TEXT, *, stdin: bool = False) -> str:
    """Return the text of a file, or with `stdin` of standard input for ``-``, as `decode` does.

    Raises
    ------
    NotationError
        As `open_text` and `decode`, or the file is longer than `max_bytes` (reason UNREADABLE_FILE).
    """
    path = path if stdin else Path(path)  # of Path("-"), a file of that name
    with open_text(path) as file:
        data = read_bounded(file, path, max_bytes)
    try:
        return decode(data)
    except NotationError as error:
        raise NotationError(f"{name_of(path)}: {error}", reason=error.reason) from None


def read_bytes(path: str | os.PathLike[str], max_bytes: int = MAX_TEXT) -> bytes:
    """Return the bytes of a file of text as they are: those of PEM, whose words around may be in any encoding.

    Raises
    ------
    NotationError
        As `open_text`, or the file is longer than `max_bytes`; reason UNREADABLE_FILE.
    """
    path = Path(path)  # of Path("-"), a file of that name
    with open_text(path) as file:
        return read_bounded(file, path, max_bytes)


def read_bounded(file: BinaryIO, path: str | os.PathLike[str], max_bytes: int = MAX_TEXT) -> bytes:
    """Return what is left of an open file; raise NotationError, reason UNREADABLE_FILE, if it is more than a bound."""
    try:
        data = file.read(max_bytes + 1)
    except OSError as error:
        raise _unreadable(path, _words(error)) from None
    if len(data) > max_bytes:
        raise _unreadable(path, f"it has over {max_bytes:,} bytes; expected a smaller file")
    return data


def read_lines(
    file: BinaryIO | Unlocked, path: str | os.PathLike[str], *, has_ends: bool = False, cuts: bool = False
) -> Iterator[bytes]:
    """Yield the lines of an open file as they come, with or without their ends: LF, CR LF or CR.

    With `cuts`, of a line longer than `MAX_JSON` its beginning, which is longer than that too, and then the next line.

    Raises
    ------
    NotationError
        A line is longer than `MAX_JSON` and not cut, or cannot be read; reason UNREADABLE_FILE.
    """

    def read() -> bytes:
        try:
            return file.readline(MAX_JSON + 1)
        except OSError as error:
            raise _unreadable(path, _words(error)) from None

    number = 1
    while line := read():
        is_long = len(line) > MAX_JSON
        if is_long and not cuts:
            raise _unreadable(path, f"line {number} has over {MAX_JSON:,} bytes; expected shorter lines")
        for part in [line] if is_long else line.splitlines(keepends=has_ends):
            yield part
            number += 1
        while is_long and line and not line.endswith(b"\n"):
            line = read()


class Unlocked:
    """Reads lines of an open file in a thread that may still wait for one when the program ends.

    A thread that waits in a file's own methods holds its lock. Closing the file, and the end of Python for standard
    input, would wait for it.

    Parameters
    ----------
    file : BinaryIO
        Of `open_text`. Nothing else reads it.
    """

    def __init__(self, file: BinaryIO) -> None:
        buffered: Any = file
        self._rest: bytes = buffered.read1(len(buffered.peek()))
        self._descriptor = file.fileno()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("an Unlocked cannot be copied or pickled: it reads an open file; make one for each file")

    def readline(self, size: int) -> bytes:
        """Return the next line with its end, or as much of it as `size` says."""
        searched = 0
        while (end := self._rest.find(b"\n", searched) + 1) == 0 and len(self._rest) < size:
            searched = len(self._rest)
            if not (chunk := os.read(self._descriptor, _CHUNK)):
                end = searched
                break
            self._rest += chunk
        end = min(end or size, size)
        line, self._rest = self._rest[:end], self._rest[end:]
        return line


def lines_of(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Yield the lines of a file as `open_text` and `read_lines` do."""
    with open_text(path) as file:
        yield from read_lines(file, path)


# --- results


def problem_of(path: str, *kept: str | os.PathLike[str] | None) -> str:
    """Return why a path cannot be written, in a few words; empty if nothing is known to be in the way.

    `kept` are other files of the same command, which it must not write over; None and "-" are none.
    """
    folder = os.path.dirname(path) or "."
    if not path:
        return "it is no name"
    if os.path.isdir(path):
        return "it is a folder"
    if not os.path.isdir(folder):
        return f"there is no folder {folder!r}"
    # Of a link, what it leads to; not of a pipe, whose path such as /dev/stdout leads to no other.
    target = path if _is_special(path) else os.path.realpath(path)
    if len(os.fsencode(os.path.basename(target))) > MAX_NAME:
        return "its name is too long"
    needed = [target] if os.path.exists(target) else []
    if not needed or os.path.isfile(target):
        needed.append(os.path.dirname(target))  # `replace` makes a draft there
    if not all(os.access(one, os.W_OK) for one in needed):
        return "no permission"
    for other in kept:
        if other is not None and other != "-" and _is_one(path, other):
            return "this command reads or writes it otherwise"
    return ""


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is that of no file, such as /dev/null or a pipe, which takes all that comes."""
    return os.path.exists(path) and not os.path.isfile(path)


def is_same(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Return whether two paths are those of one file that there is."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def check_distinct(outputs: Mapping[str, str | None]) -> None:
    """Raise NotationError, reason BAD_USAGE, if two options name one file to write; None names none.

    Parameters
    ----------
    outputs : mapping of str to str or None
        The paths by the options that name them.
    """
    given = [(option, path) for option, path in outputs.items() if path is not None and not _is_special(path)]
    for (one, path), (two, other) in itertools.combinations(given, 2):
        if _is_one(path, other):
            raise NotationError(f"{one}, {two}: both name one file; expected two", reason="BAD_USAGE")


def _is_one(path: str, other: str | os.PathLike[str]) -> bool:
    """Return whether two paths are those of one file, which there may be later."""
    return os.path.realpath(path) == os.path.realpath(other) or is_same(path, other)


@contextlib.contextmanager
def writing(path: str | os.PathLike[str], option: str = "") -> Iterator[None]:
    """Have an OSError say what cannot be written, and which option named it."""
    try:
        yield
    except OSError as error:
        where = f"{option}: " if option else ""
        named = type(error)(f"{where}cannot write {os.fspath(path)!r}: {error.strerror or error}")
        named.errno = error.errno
        raise named from None


def replace(path: str, content: str | bytes, option: str = "", *, mode: int | None = None) -> None:
    """Write a file so that it is never half there: it appears, or replaces the one before, as a whole.

    Parameters
    ----------
    path : str
    content : str or bytes
    option : str
        The option that named the file, for messages.
    mode : int, optional
        The permissions of the file, less those that the process's umask takes away. By default a file that is there
        keeps its own, and a new one has those of any new file.

    Raises
    ------
    OSError
        It cannot be written; the message names the file, and `option` if it is given.
    """
    data = content.encode() if isinstance(content, str) else content
    with writing(path, option):
        if _is_special(path):
            Path(path).write_bytes(data)
            return
        target = Path(path).resolve()  # of a link, what it leads to
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        kept = target.stat().st_mode & 0o777 if mode is None and target.exists() else None
        try:
            draft.touch(mode if mode is not None else 0o666 if kept is None else 0o600)
            draft.write_bytes(data)
            with draft.open("rb") as file:
                os.fsync(file.fileno())  # else a power cut may leave an empty file under the name
            if kept is not None:
                draft.chmod(kept)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
