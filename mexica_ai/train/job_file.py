"""Files of the results of numbered jobs, one JSON object a line, written so that a stopped run can continue.

Main function: `complete`. The jobs run on any executor of `concurrent.futures`: `mexica_ai.arena.pool.GamePool`
on this machine, a dask cluster elsewhere. Only the process that calls `complete` writes the file, so a job whose
worker died is neither lost nor written twice.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from cext.core.learning.weights import Weights
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.io.files import writing
from mexica_ai.io.strict import parse_json

BEGINNING = b'{"game": '  # of every line that a job returns
UNKNOWN_WEIGHTS = "unknown"  # of lines that do not name any
TRIES = 3  # how often a job is started before its worker's death ends the run


@dataclass(frozen=True)
class Series:
    """The lines of a file that belong together: same game, same settings, numbered from 0.

    Attributes
    ----------
    game : str
        The "game" of each line.
    weights : Weights
        The weights that the jobs search with.
    noun : str
        The name of the lines in errors, in the plural.
    key : str
        In a line, the key of the object that says how the line was made: the job's number, the settings and the
        weights (`Weights.version`).
    number : str
        The key of the job's number in that object.
    settings : dict
        The entries of that object that all lines of the series have.
    advice : str
        Ends the error about lines made with other weights.
    """

    game: str
    weights: Weights
    noun: str
    key: str
    number: str
    settings: dict[str, Any]
    advice: str


def complete(
    path: Path,
    series: Series,
    count: int,
    job: Callable[[int], Callable[[], dict[str, Any]]],
    executor: Executor,
    *,
    concurrency: int = 1,
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Run the jobs 0 to `count` - 1 of a series that a file lacks, and append their results to it.

    A torn last line, which a stopped run can leave, is dropped first, and zeros, which a power cut can. Lines of other
    series stay as they are.

    Parameters
    ----------
    path : Path
        Created if it does not exist.
    series : Series
    count : int
    job : callable
        From a job's number to a call that returns its result, a JSON object. Pickle must be able to carry both.
    executor : Executor
        Not shut down.
    concurrency : int
        Jobs at a time.
    on_progress : callable
        Called with the number of lines of the series in the file.

    Raises
    ------
    NotationError
        The file cannot be written, or another process adds to it (reason UNREADABLE_FILE). Or a line, other than a
        torn last one, is not a JSON object; the file stays as it is.
    SearchError
        Jobs are missing, and lines of the series were made with other weights or do not name theirs (reason
        INVALID_RECORDS): nothing is run. Or the workers of one job died `TRIES` times (WORKER_DIED), or the
        executor takes no more jobs (EXECUTOR_FAILED): finished jobs are in the file.
    Exception
        Any other error of a job, at once; finished jobs are in the file.
    """
    try:
        file = path.open("a+b", buffering=0)
    except OSError as error:
        raise NotationError(f"cannot write {path}: {error.strerror or error}", reason="UNREADABLE_FILE") from None
    with file:
        with contextlib.suppress(OSError):  # of a file system without locks
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise NotationError(f"{path} is in use by another process", reason="UNREADABLE_FILE") from None
        known, versions = _known(file, path, series)
        missing = [index for index in range(count) if index not in known]
        others = sorted(versions - {series.weights.version})
        if missing and others:
            settings = " and ".join(f"{name} {value}" for name, value in series.settings.items())
            raise SearchError(
                f"{path} holds {series.noun} of {settings} by weights {', '.join(others)}, and those in use are "
                f"{series.weights.version}; expected {series.advice}",
                reason="INVALID_RECORDS",
            )
        done = count - len(missing)
        on_progress(done)

        def write(_index: int, result: dict[str, Any]) -> None:
            nonlocal done
            _append(file, path, json.dumps(result).encode() + b"\n")
            done += 1
            on_progress(done)

        run_jobs(missing, job, write, executor, concurrency=concurrency, name=series.number)


def run_jobs(
    missing: Iterable[int],
    job: Callable[[int], Callable[[], Any]],
    on_result: Callable[[int, Any], None],
    executor: Executor,
    *,
    concurrency: int,
    name: str,
) -> None:
    """Run numbered jobs and pass on each result, in the order in which they end.

    Parameters
    ----------
    missing : iterable of int
        The jobs' numbers.
    job : callable
        From a job's number to a call that returns its result. Pickle must be able to carry both.
    on_result : callable
        Called in this thread with a number and a result.
    executor : Executor
        Not shut down.
    concurrency : int
        Jobs at a time.
    name : str
        The name of a job in errors.

    Raises
    ------
    SearchError
        The workers of one job died `TRIES` times (reason WORKER_DIED), or the executor takes no more jobs
        (EXECUTOR_FAILED).
    Exception
        Any other error of a job, at once.
    """
    missing = deque(missing)
    failures: Counter[int] = Counter()
    running: dict[Future[dict[str, Any]], int] = {}
    try:
        while missing or running:
            while missing and len(running) < concurrency:
                index = missing.popleft()
                running[_submit(executor, job(index))] = index
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                index = running.pop(future)
                error = CancelledError("cancelled") if future.cancelled() else future.exception()
                if error is None:
                    on_result(index, future.result())
                    continue
                if not _is_lost_worker(error):
                    raise error  # the job itself failed, and would fail again
                failures[index] += 1
                if failures[index] == TRIES:
                    raise SearchError(
                        f"{name} {index} failed {TRIES} times: {type(error).__name__}: {error}; what was finished is "
                        "kept",
                        reason="WORKER_DIED",
                    ) from error
                missing.appendleft(index)
    finally:
        for future in running:
            future.cancel()


def _submit(executor: Executor, call: Callable[[], dict[str, Any]]) -> Future[dict[str, Any]]:
    try:
        return executor.submit(call)
    except Exception as error:
        raise SearchError(f"no more jobs can be started: {error}", reason="EXECUTOR_FAILED") from error


def _is_lost_worker(error: BaseException) -> bool:
    """Return whether an error says that a job's worker died, not that the job failed."""
    if isinstance(error, (BrokenExecutor, CancelledError, SystemExit)):  # SystemExit: see `GamePool`
        return True
    distributed = sys.modules.get("distributed")  # slow to import, and loaded if a cluster is in use
    return distributed is not None and isinstance(error, (distributed.KilledWorker, distributed.comm.CommClosedError))


def _known(file: BinaryIO, path: Path, series: Series) -> tuple[set[int], set[str]]:
    """Return the numbers of the series' lines in the file, and the versions of the weights that made them.

    Drops zeros and a torn last line once all lines before them are known to be good.
    """
    known, versions = set(), set()
    file.seek(0)
    found = file.read()
    content = found.rstrip(b"\0")
    whole = content[: content.rfind(b"\n") + 1]
    torn = content[len(whole) :]
    if torn and not (torn[: len(BEGINNING)] == BEGINNING[: len(torn)] and _is_torn(torn)):
        whole = content + b"\n"  # it lacks only its end of line, or is not a line of a job
    for place, line in enumerate(whole.splitlines(), 1):
        where = f"{path}:{place}"
        record = parse_json(line, where)
        if not isinstance(record, dict):
            raise NotationError(f"{where}: expected a record, a JSON object", reason="WRONG_TYPE", path=where)
        made = record.get(series.key)
        is_of_series = record.get("game") == series.game and isinstance(made, dict)
        if is_of_series and made is not None and series.settings.items() <= made.items():
            known.add(made.get(series.number))
            versions.add(str(made.get("weights", UNKNOWN_WEIGHTS)))
    if (kept := min(len(whole), len(content))) < len(found):
        file.truncate(kept)
    _append(file, path, whole[kept:])
    return known, versions


def _append(file: BinaryIO, path: Path, data: bytes) -> None:
    """Add to a file without a buffer, which would be written once more when the file is closed, without its name.

    The data are on the disk when this returns.
    """
    rest = memoryview(data)
    with writing(path):
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())


def _is_torn(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return True
    return False
