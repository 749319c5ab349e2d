"""The journal: a file of game records, one a line, to which each game is added as soon as it has ended.

A line counts once it ends: what a killed process left of its last line is recognised by the missing end, or
because it is no JSON, and cut off; that game is played again. Nothing else is ever cut: a file that somebody
else has written is refused. Each record says which tournament it belongs to, so that journals can be joined,
split and merged like any text.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from dataclasses import dataclass
from typing import Any

from mexica_ai.arena.tournament import Tournament, canonical_spec
from mexica_ai.errors import NotationError
from mexica_ai.records import VERSION, check_record
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
    rest : bytes
        What follows: nothing, or the torn last line.
    """

    path: str
    games: list[tuple[Tournament, dict[str, Any]]]
    size: int
    rest: bytes = b""

    @property
    def is_torn(self) -> bool:
        """Whether something follows that is no whole record."""
        return bool(self.rest)


def read_journal(path: str) -> Journal:
    """Read a journal.

    Raises
    ------
    NotationError
        The file cannot be read, or holds anything but records of tournaments' games and a torn last line.
    """
    try:
        with open(path, "rb") as file:
            journal = _parse(path, file.read())
    except OSError as error:
        raise NotationError(f"cannot read {path}: {error.strerror}", reason="UNREADABLE_FILE") from None
    if not journal.games and not _could_begin(journal.rest, b'{"game":"'):
        raise _foreign(path)
    return journal


class JournalWriter:
    """A journal open for writing; nobody else can open it meanwhile. Use as a context manager.

    Parameters
    ----------
    path : str
    tournament : Tournament
    resume : bool
        Go on with the file if there is one; `games` has what it holds, and a torn end is cut off.

    Attributes
    ----------
    games : list of dict
        The records that the file had.
    tournament : Tournament
        As the file's records state it, if it has any: `names` and the order of keys in specs may differ.
    was_torn : bool

    Raises
    ------
    NotationError
        The file cannot be opened, is in use, holds something (without `resume`, or something that no
        tournament has written: reason JOURNAL_EXISTS), cannot be read, or belongs to another tournament
        (reason OTHER_TOURNAMENT).
    """

    def __init__(self, path: str, tournament: Tournament, *, resume: bool = False) -> None:
        self.games: list[dict[str, Any]] = []
        self.tournament = tournament
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
        for other in {id(other): other for other, _ in journal.games}.values():
            if difference := _difference(other, tournament):
                raise NotationError(
                    f"the journal {path} belongs to another tournament: {difference}",
                    reason="OTHER_TOURNAMENT",
                )
        if journal.games:
            self.tournament = journal.games[0][0]
        elif not _could_begin(journal.rest, _beginning(tournament)):
            raise _foreign(path)
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
        rest = memoryview(_encode(record) + b"\n")
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
        if index == len(lines) - 1 and not rest and not _is_json(line):
            return Journal(path, games, size, line + b"\n")
        games.append(_parse_line(line, f"{path}:{index + 1}", seen))
        size += len(line) + 1
    if _is_json(rest):  # only its end is missing; but then it must be one of ours
        _parse_line(rest, f"{path}:{len(lines) + 1}", seen)
    return Journal(path, games, size, rest)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _could_begin(rest: bytes, beginning: bytes) -> bool:
    """Return whether `rest` is what a crash may leave of the first line: part of it, or zeros."""
    return rest.startswith(beginning) or beginning.startswith(rest) or not rest.strip(b"\0\n")


def _beginning(tournament: Tournament) -> bytes:
    """Return how the lines of a tournament begin: `play_game` puts the keys in this order."""
    record = {"game": tournament.game, "version": VERSION, "arena": {"tournament": tournament.to_json()}}
    return _encode(record).removesuffix(b"}}")


def _encode(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode()


def _foreign(path: str) -> NotationError:
    return NotationError(
        f"{path} holds something that no tournament has written; expected a journal, or a new file",
        reason="JOURNAL_EXISTS",
    )


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
    """Return what is played differently, "" if nothing is; what engines are called does not matter."""
    theirs, ours = theirs.to_json(), ours.to_json()
    for key in ours:
        if key not in ("names", "engines", "weights") and ours[key] != theirs[key]:
            return f"its {key} is {_show(theirs[key])}, asked for is {_show(ours[key])}"
    if list(map(canonical_spec, theirs["engines"])) != list(map(canonical_spec, ours["engines"])):
        return f"its engines is {_show(theirs['engines'])}, asked for is {_show(ours['engines'])}"
    for spec, known, asked in zip(
        ours["engines"], theirs.get("weights") or (), ours.get("weights") or (), strict=False
    ):
        if known != asked:
            return f"its {spec} plays with weights {known}, asked for are weights {asked}"
    return ""


def _show(value: object) -> str:
    return json.dumps(value) if isinstance(value, list) else quote(value)
