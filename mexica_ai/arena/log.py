"""The log of a tournament: what every program was told and said, and when.

All processes add to one file. A line is written at once, so that lines of different games do not mix, and what a
program said last is there even if its process was killed. A log that cannot be written ends, with a note on standard
error, and the games go on without it.
"""

from __future__ import annotations

import datetime
import functools
import os

from mexica_ai.io.errors import NotationError
from mexica_ai.io.terminal import tell

MAX_LINE = 1 << 16  # characters; the rest of a longer one is left out


class Log:
    """Writes the lines of one program.

    Parameters
    ----------
    path : str
        Appended to.
    where : str
        Which game and seat, the beginning of each line after the time.
    """

    def __init__(self, path: str, where: str) -> None:
        self._path, self._where = path, where
        try:
            self._fd = _open(path)
        except OSError as error:
            self._fd = -1
            _note_failure(path, error.strerror)

    def __call__(self, sign: str, text: str) -> None:
        """Write a line, unless the log is closed or has failed.

        Parameters
        ----------
        sign : str
            ``>`` told, ``<`` said, ``!`` said on standard error, or ``#`` an event.
        text : str
        """
        if self._fd < 0:
            return
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
        for line in text.splitlines():
            try:
                os.write(self._fd, f"{now}Z {self._where} {sign} {line[:MAX_LINE]}\n".encode())
            except OSError as error:
                _note_failure(self._path, error.strerror)
                self.close()
                return

    def close(self) -> None:
        """Close the file; may be called twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


@functools.cache  # once in each process
def _note_failure(path: str, why: str) -> None:
    tell(f"--log: cannot write {path}: {why}; the games go on without it")


def check_log(path: str) -> None:
    """Raise NotationError if nothing can be written to a path; an empty file is made if there is none."""
    try:
        os.close(_open(path))
    except OSError as error:
        raise NotationError(f"cannot write the log {path}: {error.strerror}", reason="UNREADABLE_FILE") from None


def _open(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
