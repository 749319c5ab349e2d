"""The journal: a file of game records, one per line, to which each game is appended as soon as it has ended.

Only complete lines count. If a process was killed while it wrote the last line, the line has no newline or is
not JSON: it is cut off, and that game is played again. Nothing else is ever cut off: a file that is not a
journal is rejected. Each record contains its tournament, so journals can be concatenated and split.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from mexica_ai.arena.searches import SHAPE, check_searches
from mexica_ai.arena.tournament import Tournament, canonical_spec, without_idle_time
from mexica_ai.game.records import VERSION, check_record
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.io.files import read_lines
from mexica_ai.io.numbers import MAX_INT64, MAX_TIME_S
from mexica_ai.io.strict import check_shape, parse_json, quote

_ARENA_SHAPE = {
    "tournament": dict,
    "block": int,
    "number": int,
    "seating": [int],
    "isolated": bool,
    "seats": [{"turns": int, "iterations": int, "seconds": float, "late_s": float, "late_max_s": float}],
    "failures": [{"seat": int, "reason": str, "detail": str, "turn": int, "position": dict}],
    "searches?": SHAPE,
}


@dataclass(frozen=True)
class Journal:
    """The content of a journal.

    Parameters
    ----------
    path : str
    games : list of (Tournament, dict)
        The records, in the order of the file, each with its tournament.
    size : int
        Bytes up to the end of the last complete record.
    rest : bytes
        The incomplete last line; empty if there is none.
    """

    path: str
    games: list[tuple[Tournament, dict[str, Any]]]
    size: int
    rest: bytes = b""

    @property
    def is_torn(self) -> bool:
        """Whether the last line is incomplete."""
        return bool(self.rest)


def read_journal(path: str) -> Journal:
    """Read a journal.

    Raises
    ------
    NotationError
        The file cannot be read, or contains anything but game records of tournaments and an incomplete last
        line.
    """
    try:
        with open(path, "rb") as file:  # not `open_text`: zeros may be what a crash left of the last line
            journal = _parse(path, file)
    except OSError as error:
        raise NotationError(f"cannot read {path}: {error.strerror}", reason="UNREADABLE_FILE") from None
    if not journal.games and not _is_torn_start(journal.rest):
        raise _not_a_journal(path)
    return journal


class JournalWriter:
    """A journal open for writing, locked against other writers. Use as a context manager.

    Parameters
    ----------
    path : str
    tournament : Tournament
    resume : bool
        Continue an existing file: read its records into `games` and cut off an incomplete last line.

    Attributes
    ----------
    games : list of dict
        The records that were already in the file.
    tournament : Tournament
        As the file's records state it, if it has any: `names` and the order of keys in specs may differ, and the
        key of the seeds is that of the file.
    was_torn : bool
        Whether an incomplete last line was cut off.

    Raises
    ------
    NotationError
        The file cannot be opened, or is no regular one (reason UNREADABLE_FILE), is in use (JOURNAL_IN_USE), is not
        empty and `resume` is false, or is not a journal (JOURNAL_EXISTS), or belongs to another tournament, or to
        several (OTHER_TOURNAMENT).
    """

    def __init__(self, path: str, tournament: Tournament, *, resume: bool = False) -> None:
        self._path = path
        self.games: list[dict[str, Any]] = []
        self.tournament = tournament
        self.was_torn = False
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise NotationError(f"cannot open the journal {path}: {error.strerror}", reason="UNREADABLE_FILE") from None
        try:
            if not stat.S_ISREG(os.fstat(self._fd).st_mode):  # a pipe would be read for ever
                raise NotationError(
                    f"cannot open the journal {path}: is no regular file; expected one, which --resume can read",
                    reason="UNREADABLE_FILE",
                )
            self._begin(path, tournament, resume)
        except BaseException:
            os.close(self._fd)
            raise

    def _begin(self, path: str, tournament: Tournament, resume: bool) -> None:
        with contextlib.suppress(OSError):  # of a file system without locks
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                problem = f"the journal {path} is in use by another process"
                raise NotationError(problem, reason="JOURNAL_IN_USE") from None
        if os.fstat(self._fd).st_size > 0 and not resume:
            raise NotationError(
                f"the journal {path} is not empty; expected a new file, or --resume to continue it",
                reason="JOURNAL_EXISTS",
            )
        with open(path, "rb") as file:
            journal = _parse(path, file)
        for other in {id(other): other for other, _ in journal.games}.values():
            if difference := _difference(other, tournament):
                raise NotationError(
                    f"the journal {path} belongs to another tournament: {difference}",
                    reason="OTHER_TOURNAMENT",
                )
        # The same block of two tournaments has two deals.
        if len(keys := {other.key for other, _ in journal.games}) > 1:
            raise NotationError(
                f"the journal {path} has games of {len(keys)} tournaments, whose seeds have different keys; expected "
                "those of one",
                reason="OTHER_TOURNAMENT",
            )
        if journal.games:
            self.tournament = journal.games[0][0]
        elif not _is_torn_start(journal.rest, tournament):
            raise _not_a_journal(path)
        self.games = [record for _, record in journal.games]
        self.was_torn = journal.is_torn
        if journal.is_torn:
            os.ftruncate(self._fd, journal.size)
        os.fsync(self._fd)
        with contextlib.suppress(OSError):  # sync the directory entry, too; not every file system can
            folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def append(self, record: dict[str, Any]) -> None:
        """Append a record; it is on the disk when this returns.

        Raises
        ------
        SearchError
            It cannot be written; reason JOURNAL_NOT_WRITTEN.
        """
        rest = memoryview(_encode(record) + b"\n")
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
            os.fsync(self._fd)
        except OSError as error:
            raise SearchError(
                f"cannot write the journal {self._path}: {error.strerror}; --resume plays the games that it does not "
                "have",
                reason="JOURNAL_NOT_WRITTEN",
            ) from None

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(self, *exc_info: object) -> None:
        os.close(self._fd)


def _parse(path: str, file: BinaryIO) -> Journal:
    games: list[tuple[Tournament, dict[str, Any]]] = []
    seen: dict[str, Tournament] = {}
    size = 0
    lines = read_lines(file, path, has_ends=True)
    number, line = 1, next(lines, b"")
    while line:
        following = next(lines, b"")
        if not following and not _is_json(line):
            return Journal(path, games, size, line)
        game = _parse_line(line.rstrip(b"\r\n"), f"{path}:{number}", seen)
        if not line.endswith((b"\r", b"\n")):  # only the newline is missing: it must be a valid record
            return Journal(path, games, size, line)
        games.append(game)
        size += len(line)
        number, line = number + 1, following
    return Journal(path, games, size)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _is_torn_start(rest: bytes, tournament: Tournament | None = None) -> bool:
    """Return whether a crash may have left `rest` of the first line: its beginning, zeros, or both.

    If a tournament is given, of a line of that tournament: no setting in `rest` says otherwise. `play_game` puts the
    keys in this order.
    """
    rest = rest.rstrip(b"\0\r\n")
    start = b'{"game":"'
    if tournament is not None:
        start = _encode({"game": tournament.game, "version": VERSION, "arena": {"tournament": {}}}).removesuffix(b"}}}")
    if tournament is None or len(rest) <= len(start):
        return rest.startswith(start) or start.startswith(rest)
    return rest.startswith(start) and not any(
        _differs(key, value, tournament) for key, value in _pairs(rest[len(start) :].decode(errors="replace"))
    )


def _pairs(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values that are complete at the beginning of the text of a JSON object, without its brace."""
    decoder, at = json.JSONDecoder(), 0
    with contextlib.suppress(ValueError, RecursionError):
        while True:
            key, at = decoder.raw_decode(text, at)
            if not isinstance(key, str) or text[at : at + 1] != ":":
                return
            value, at = decoder.raw_decode(text, at + 1)
            if text[at : at + 1] not in (",", "}"):  # perhaps a part of a number
                return
            yield key, value
            if text[at] == "}":
                return
            at += 1


def _differs(key: str, theirs: Any, tournament: Tournament) -> bool:
    """Return whether a setting of a journal is another one than that of a tournament, as far as play depends on it."""
    if key == "engines":
        return not (isinstance(theirs, list) and _are_same([str(spec) for spec in theirs], list(tournament.engines)))
    return key not in ("names", "key") and theirs != tournament.to_json().get(key)


def _encode(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode()


def _not_a_journal(path: str) -> NotationError:
    return NotationError(
        f"{path} is not the journal of a tournament; expected a journal, or a new file",
        reason="JOURNAL_EXISTS",
    )


def _parse_line(line: bytes, where: str, seen: dict[str, Tournament]) -> tuple[Tournament, dict[str, Any]]:
    record = parse_json(line, where)
    check_record(record, where)
    if "arena" not in record:
        raise NotationError(
            f"{where}: a game record without the key arena; expected a record of a tournament",
            reason="MISSING_KEY",
            path=f"{where}.arena",
        )
    arena = record["arena"]
    check_shape(arena, _ARENA_SHAPE, f"{where}.arena")
    for used in arena["seats"]:
        for key, number in used.items():
            # Early versions wrote whatever figures a program told.
            if not 0 <= number <= (MAX_INT64 if type(number) is int else MAX_TIME_S):
                used[key] = 0
    text = json.dumps(arena["tournament"], sort_keys=True)
    if text not in seen:
        seen[text] = Tournament.from_json(arena["tournament"], f"{where}.arena.tournament")
    tournament = seen[text]
    seating = tuple(arena["seating"])
    is_lineup = len(seating) == len(set(seating)) and set(seating) <= set(range(len(tournament.engines)))
    games = []
    if arena["block"] in tournament.blocks and (not tournament.is_paired or is_lineup):
        games = tournament.block(arena["block"], tuple(sorted(seating)))
    expected = {game.number: game.seating for game in games}
    if expected.get(arena["number"]) != seating or len(arena["seats"]) != tournament.players:
        raise NotationError(
            f"{where}.arena.seating: given {list(seating)}; expected that of game {arena['number']} of block "
            f"{arena['block']} of its tournament",
            reason="SEATS_COUNT",
            path=f"{where}.arena.seating",
        )
    check_searches(record, where)
    return tournament, record


def _difference(theirs: Tournament, ours: Tournament) -> str:
    """Return the first difference that affects play, "" if there is none; names of engines do not matter."""
    if theirs.key is not None and theirs.is_reproducible != ours.is_reproducible:
        how = "is" if theirs.is_reproducible else "is not"
        return f"it {how} --reproducible, expected the opposite"
    known, asked = theirs.to_json(), ours.to_json()
    for key in asked | known:
        if key not in ("names", "engines", "weights", "key") and asked.get(key) != known.get(key):
            return f"its {key} is {_show(known.get(key))}, expected {_show(asked.get(key))}"
    if not _are_same(known["engines"], asked["engines"]):
        return f"its engines are {_show(known['engines'])}, expected {_show(asked['engines'])}"
    weights = known.get("weights") or (), asked.get("weights") or ()
    for spec, before, now in zip(asked["engines"], *weights, strict=False):
        if before != now:
            return f"its {spec} plays with weights {before}, expected weights {now}"
    return ""


def _are_same(known: list[str], asked: list[str]) -> bool:
    """Return whether the engines of a journal are those asked for; early versions gave instant ones a time, too."""
    return len(known) == len(asked) and all(
        canonical_spec(our) in (canonical_spec(their), without_idle_time(their))
        for their, our in zip(known, asked, strict=True)
    )


def _show(value: object) -> str:
    return json.dumps(value) if isinstance(value, list) else quote(value)
