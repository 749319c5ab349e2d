"""Games on disk: one file a game, one JSON line for its start and for each change.

A line is written and flushed before the change is answered. If the process was killed while it wrote, the last line has
no newline: it is cut off, and the game is as it was before.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mexica_ai.io import files
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import parse_json

MAX_BYTES = 64 << 20  # of a file
MAX_DELETED, DELETED_S = 20, 7 * 86400.0  # deleted games that can be put back, and for how long

_NAME = re.compile(r"[0-9a-f]{32}\.jsonl")
_FLAGS = os.O_CLOEXEC | os.O_NONBLOCK  # to open a pipe must not wait for its other end
_MODE = 0o600  # a game with hidden hands shows them in its file


def _lines(entries: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries).encode()


class Journal:
    """The file of one game, for appending. It is not kept open: there may be more games than files at a time.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, *entries: dict[str, Any]) -> None:
        """Write entries, all or none, also if the power fails."""
        data = _lines(entries)
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND | _FLAGS)
        try:
            size = os.fstat(fd).st_size
            try:
                written = 0
                while written < len(data):
                    written += os.write(fd, data[written:])
                os.fsync(fd)
            except OSError:
                os.ftruncate(fd, size)
                raise
        finally:
            os.close(fd)


class Folder:
    """A folder of games, for one process at a time.

    Parameters
    ----------
    path : path
        Created if missing.

    Raises
    ------
    NotationError
        The folder cannot be used (reason BAD_USAGE), or another process uses it (IN_USE).
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self.path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise NotationError(
                f"--games: cannot use {path}: {error.strerror}; expected one that you can write",
                reason="BAD_USAGE",
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise NotationError(
                f"--games: another `mexica-ai web` uses {path}; expected another folder", reason="IN_USE"
            ) from None
        self._aside = self.path / ".deleted"
        self.forget_deleted()

    def ids(self) -> list[str]:
        """Return the ids of the games, the newest first; their files become private."""
        games = []
        for entry in os.scandir(self.path):
            with contextlib.suppress(OSError):
                if _NAME.fullmatch(entry.name) and stat.S_ISREG((status := entry.stat()).st_mode):
                    games.append((status.st_mtime_ns, entry.name.removesuffix(".jsonl")))
                    if status.st_mode & ~_MODE & 0o777:
                        os.chmod(entry.path, _MODE)
        return [ident for _, ident in sorted(games, reverse=True)]

    def read(self, game: str) -> list[dict[str, Any]]:
        """Return the entries of a game, without a torn last line, which is cut off; empty if nothing is left.

        Raises
        ------
        NotationError
            The file cannot be read, or a whole line is not an entry; reason BAD_JOURNAL.
        """
        path = self._file(game)
        try:
            data = _content(path)
            end = data.rfind(b"\n") + 1
            if end < len(data):
                os.truncate(path, end)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise NotationError(f"{path.name}: {error.strerror or error}", reason="BAD_JOURNAL") from None
        entries = []
        for number, line in enumerate(data[:end].splitlines(), 1):
            try:
                entry = parse_json(line, f"{path.name}, line {number}")
            except NotationError as error:
                raise NotationError(str(error), reason="BAD_JOURNAL") from None
            if not isinstance(entry, dict):
                raise NotationError(f"{path.name}, line {number}: expected an object", reason="BAD_JOURNAL")
            entries.append(entry)
        if not entries:
            path.unlink()
        return entries

    def begin(self, game: str, entries: list[dict[str, Any]]) -> Journal:
        """Return the file of a new game, which appears with all of these entries or not at all."""
        path = self._file(game)
        files.replace(str(path), _lines(entries), mode=_MODE)
        return Journal(path)

    def journal(self, game: str) -> Journal:
        """Return the file of a game that `read` has returned."""
        return Journal(self._file(game))

    def remove(self, game: str) -> None:
        """Delete a game: its file is kept aside for a while, and `put_back` takes it back."""
        path = self._file(game)
        if not path.is_file() or path.is_symlink():
            path.unlink(missing_ok=True)
            return
        self.forget_deleted(MAX_DELETED - 1)  # before, so that the one that goes now stays in any case
        self._aside.mkdir(mode=0o700, exist_ok=True)
        path.replace(self._aside / path.name)

    def is_deleted(self, game: str) -> bool:
        """Return whether a game can be put back."""
        name = f"{game}.jsonl"
        return _NAME.fullmatch(name) is not None and (self._aside / name).is_file()

    def put_back(self, game: str) -> None:
        """Take back the file of a game that `remove` has deleted."""
        path = self._file(game)
        (self._aside / path.name).replace(path)

    def forget_deleted(self, most: int = MAX_DELETED) -> None:
        """Delete for good all but the last games that were deleted, and those of long ago; other files stay."""
        if self._aside.is_symlink():
            return
        with contextlib.suppress(OSError):
            found = [
                (entry.stat(follow_symlinks=False).st_ctime, entry.path)
                for entry in os.scandir(self._aside)
                if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            ]
            for number, (deleted, path) in enumerate(sorted(found, reverse=True)):
                if number >= most or deleted < time.time() - DELETED_S:
                    os.unlink(path)

    @contextlib.contextmanager
    def private(self) -> Iterator[Path]:
        """Give an empty folder that only this user can enter, removed at the end.

        Its path is always the same, so the next process removes files that a killed one has left.
        """
        path = self.path / ".private"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(mode=0o700)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def close(self) -> None:
        """Release the folder for other processes."""
        os.close(self._lock)

    def _file(self, game: str) -> Path:
        name = f"{game}.jsonl"
        if not _NAME.fullmatch(name):
            raise NotationError(f"no game {game!r}", reason="UNKNOWN_GAME")
        return self.path / name


def _content(path: Path) -> bytes:
    with open(os.open(path, os.O_RDONLY | _FLAGS), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is no file")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise OSError(f"it has more than {MAX_BYTES} bytes")
    return data
