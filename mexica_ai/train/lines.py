"""Files that jobs append a line each to, so that an interrupted run can be gone on with."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Executor, Future, as_completed
from pathlib import Path

from mexica_ai import registry
from mexica_ai.errors import NotationError, SearchError
from mexica_ai.strict import parse_json

BEGINNING = b'{"game": '  # of every line that a job returns
UNKNOWN_WEIGHTS = "unknown"  # of lines that do not tell: of early versions, or not of `extend`


def extend(
    path: Path,
    executor: Executor,
    submit: Callable[[int], Future],
    *,
    game: str,
    what: str,
    key: str,
    number: str,
    kind: dict,
    count: int,
    advice: str,
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Append what jobs return to a file until it holds those numbered 0 to `count` - 1 of one kind.

    A file that an interrupted run left is continued: what it began of a last line is dropped. Lines of
    another kind are left alone, and not counted.

    Parameters
    ----------
    path : Path
    executor : Executor
        That `submit` hands jobs to; what they return is a JSON object.
    submit : callable
        From the number of a job to its future.
    game : str
        What a line has as its "game".
    what : str
        What errors call the lines.
    key : str
        Of the object in a line that tells of its making: `number`, what is in `kind`, and the "weights".
    number : str
        The key there of the job's number.
    kind : dict
        What these lines have in common there.
    count : int
    advice : str
        What an error about other weights tells to do.
    on_progress : callable
        Called with the number of jobs done.

    Raises
    ------
    NotationError
        A line of the file, other than a torn last one, is not a JSON object; the file stays as it is.
    SearchError
        Lines are missing, and some of this kind were made with other weights than those in use, or do not
        tell (reason INVALID_RECORDS). Nothing is done then: the rest would be of another kind.
    """
    known, versions = _known(path, game, key, number, kind)
    missing = [index for index in range(count) if index not in known]
    in_use = registry.get(game).weights().version
    others = sorted(versions - {in_use})
    if missing and others:
        told = " and ".join(f"{name} {value}" for name, value in kind.items())
        raise SearchError(
            f"{path} holds {what} of {told} by weights {', '.join(others)}, and those in use are {in_use}; "
            f"expected {advice}",
            reason="INVALID_RECORDS",
        )
    on_progress(count - len(missing))
    futures = [submit(index) for index in missing]
    try:
        with path.open("a", encoding="utf-8") as file:
            for done, future in enumerate(as_completed(futures), 1):
                file.write(json.dumps(future.result()) + "\n")
                file.flush()
                on_progress(count - len(missing) + done)
    finally:
        for future in futures:
            future.cancel()


def _known(path, game, key, number, kind):
    """Return the numbers of the lines of this kind in the file, and the weights that they were made with.

    Drops a torn last line, once all before it are known to be what they should.
    """
    known, versions = set(), set()
    if not path.exists():
        return known, versions
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    torn = content[len(whole) :]
    if torn and not (torn[: len(BEGINNING)] == BEGINNING[: len(torn)] and _is_torn(torn)):
        whole = content + b"\n"  # it only lacks its end of line, or is none that we began
    for place, line in enumerate(whole.splitlines(), 1):
        where = f"{path}:{place}"
        record = parse_json(line, where)
        if not isinstance(record, dict):
            raise NotationError(f"{where}: expected a record, a JSON object", reason="WRONG_TYPE", path=where)
        told = record.get(key)
        if isinstance(told, dict) and record.get("game") == game and kind.items() <= told.items():
            known.add(told.get(number))
            versions.add(str(told.get("weights", UNKNOWN_WEIGHTS)))
    if whole != content:
        path.write_bytes(whole)
    return known, versions


def _is_torn(line):
    try:
        json.loads(line)
    except ValueError:
        return True
    return False
