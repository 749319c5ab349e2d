"""The journal: a file of game records, one a line, to which each game is added as soon as it has ended.

A line counts once it ends: what a killed process left of its last line is recognised by the missing end, or
because it cannot be read, and cut off; that game is played again. Each record says which tournament it
belongs to, so that journals can be joined, split and merged like any text.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from dataclasses import dataclass
from typing import Any

from mexica_ai.arena.tournament import Tournament
from mexica_ai.errors import NotationError
from mexica_ai.records import check_record
from mexica_ai.strict import check_shape, parse_json, quote

_ARENA_SHAPE = {
    "tournament": dict,
    "block": int,
    "number": int,
    "seating": [int],
    "isolated": bool,
    "seats": [{"turns": int, "iterations": int, "seconds": float, "late_s": float, "late_max_s": float}],
    "failures": [{"seat": int, "reason": str, "detail": str, "turn": int, "position": dict}],
}


@dataclass(frozen=True)
class Journal:
    """What a journal holds.

    Parameters
    ----------
    path : str
    games : list of (Tournament, dict)
        The records, in the order of the file, each with its tournament.
    size : int
        Bytes up to the end of the last whole record.
    is_torn : bool
        Whether something follows that is no whole record.
    """

    path: str
    games: list[tuple[Tournament, dict[str, Any]]]
    size: int
    is_torn: bool


def read_journal(path: str) -> Journal:
    """Read a journal.

    Raises
    ------
    NotationError
        The file cannot be read, or a line before the last one is no record of a tournament's game.
    """
    try:
        with open(path, "rb") as file:
            return _parse(path, file.read())
    except OSError as error:
        raise NotationError(f"cannot read {path}: {error.strerror}", reason="UNREADABLE_FILE") from None


class JournalWriter:
    """A journal open for writing; nobody else can open it meanwhile. Use as a context manager.

    Parameters
    ----------
    path : str
    tournament : Tournament
    resume : bool
        Go on with the file if there is one; `games` has what it holds, and a torn end is cut off.

    Raises
    ------
    NotationError
        The file cannot be opened, is in use, holds something (without `resume`), cannot be read, or belongs
        to another tournament (reason OTHER_TOURNAMENT).
    """

    def __init__(self, path: str, tournament: Tournament, *, resume: bool = False) -> None:
        self.games: list[dict[str, Any]] = []
        self.was_torn = False
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise NotationError(
                f"cannot open the journal {path}: {error.strerror}", reason="UNREADABLE_FILE"
            ) from None
        try:
            self._begin(path, tournament, resume)
        except BaseException:
            os.close(self._fd)
            raise

    def _begin(self, path: str, tournament: Tournament, resume: bool) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise NotationError(
                f"the journal {path} is in use by another process", reason="JOURNAL_IN_USE"
            ) from None
        if os.fstat(self._fd).st_size > 0 and not resume:
            raise NotationError(
                f"the journal {path} holds something already; expected a new file, or --resume to go on "
                "with it",
                reason="JOURNAL_EXISTS",
            )
        with open(path, "rb") as file:
            journal = _parse(path, file.read())
        for other, _ in journal.games:
            if other != tournament:
                raise NotationError(
                    f"the journal {path} belongs to another tournament: {_difference(other, tournament)}",
                    reason="OTHER_TOURNAMENT",
                )
        self.games = [record for _, record in journal.games]
        self.was_torn = journal.is_torn
        if journal.is_torn:
            os.ftruncate(self._fd, journal.size)
        os.fsync(self._fd)
        with contextlib.suppress(OSError):  # that the file exists is to last, too; not every file system can
            folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def append(self, record: dict[str, Any]) -> None:
        """Add a record; on return it has reached the disk."""
        rest = memoryview(json.dumps(record, separators=(",", ":")).encode() + b"\n")
        while rest:
            rest = rest[os.write(self._fd, rest) :]
        os.fsync(self._fd)

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(self, *exc_info: object) -> None:
        os.close(self._fd)


def _parse(path: str, data: bytes) -> Journal:
    lines = data.split(b"\n")
    rest = lines.pop()
    games, size, seen = [], 0, {}
    for index, line in enumerate(lines):
        where = f"{path}:{index + 1}"
        try:
            tournament, record = _parse_line(line, where, seen)
        except NotationError:
            if index == len(lines) - 1 and not rest:
                return Journal(path, games, size, is_torn=True)
            raise
        games.append((tournament, record))
        size += len(line) + 1
    return Journal(path, games, size, is_torn=bool(rest))


def _parse_line(line: bytes, where: str, seen: dict[str, Tournament]) -> tuple[Tournament, dict[str, Any]]:
    record = parse_json(line, where)
    check_record(record, where)
    if "arena" not in record:
        raise NotationError(
            f"{where}: a game record without the key arena; expected one that a tournament has written",
            reason="MISSING_KEY",
            path=f"{where}.arena",
        )
    arena = record["arena"]
    check_shape(arena, _ARENA_SHAPE, f"{where}.arena")
    text = json.dumps(arena["tournament"], sort_keys=True)
    if text not in seen:
        seen[text] = Tournament.from_json(arena["tournament"], f"{where}.arena.tournament")
    tournament = seen[text]
    seating = tuple(arena["seating"])
    games = tournament.block(arena["block"]) if arena["block"] >= 0 else []
    expected = {game.number: game.seating for game in games}
    if expected.get(arena["number"]) != seating or len(arena["seats"]) != tournament.players:
        raise NotationError(
            f"{where}.arena.seating: given {list(seating)}; expected that of game {arena['number']} of block "
            f"{arena['block']} of its tournament",
            reason="SEATS_COUNT",
            path=f"{where}.arena.seating",
        )
    return tournament, record


def _difference(theirs: Tournament, ours: Tournament) -> str:
    theirs, ours = theirs.to_json(), ours.to_json()
    key = next(key for key in ours if ours[key] != theirs[key])
    return f"its {key} is {_show(theirs[key])}, asked for is {_show(ours[key])}"


def _show(value: object) -> str:
    return json.dumps(value) if isinstance(value, list) else quote(value)
