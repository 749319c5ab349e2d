"""Worker processes on this machine, behind the interface of `concurrent.futures`.

Each worker is a separate pool with one process. So if a process dies, exactly one game is lost, and it is
known which one.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any

from mexica_ai.engines.process import EXIT_TIMEOUT_S

END_S = 2.0 + EXIT_TIMEOUT_S  # time for all workers to end their engines before they are killed


class GamePool(Executor):
    """An executor that runs each call in a process of its own; there are as many processes as running calls.

    A call whose process dies raises BrokenProcessPool, or SystemExit if SIGTERM ended it; other calls are not
    affected. `shutdown` does not wait for running calls: it ends them and the programs that they started.
    """

    def __init__(self) -> None:
        self._idle: list[ProcessPoolExecutor] = []
        self._all: set[ProcessPoolExecutor] = set()
        self._free: list[frozenset[int]] | None = None  # processors that no worker has; None if they are not bound
        self._bound: dict[ProcessPoolExecutor, frozenset[int]] = {}

    def bind(self, cpus: Sequence[frozenset[int]]) -> None:
        """Give each process processors of its own (Linux); before the first call, and at least one set a call."""
        self._free = list(reversed(cpus))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function in a process of its own. The function and its arguments must be picklable."""
        while True:
            worker = self._idle.pop() if self._idle else self._new_worker()
            try:
                call = worker.submit(fn, *args, **kwargs)
            except BrokenProcessPool:  # it died while idle
                self._forget(worker)
                continue
            _close_reader(worker)
            # It ends after the worker is taken back: who waits for it may submit the next call at once.
            future: Future[Any] = Future()
            future.set_running_or_notify_cancel()
            call.add_done_callback(partial(self._take_back, worker, future))
            return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes, busy or idle."""
        workers = list(self._all)  # a copy, since calls that end meanwhile change the set
        processes = [process for worker in workers for process in _processes(worker)]
        for process in processes:
            process.terminate()
        for worker in workers:
            worker.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + END_S
        for process in processes:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
        if wait:
            for worker in workers:
                worker.shutdown(wait=True)
        self._all.clear()
        self._idle.clear()

    def _new_worker(self) -> ProcessPoolExecutor:
        # Spawned, since a fork would copy locks that other threads hold.
        context = multiprocessing.get_context("spawn")
        cpus = self._free.pop() if self._free else None
        worker = ProcessPoolExecutor(1, context, begin_worker, (cpus,))
        self._all.add(worker)
        if cpus is not None:
            self._bound[worker] = cpus
        return worker

    def _forget(self, worker: ProcessPoolExecutor) -> None:
        self._all.discard(worker)
        if self._free is not None and worker in self._bound:
            self._free.append(self._bound.pop(worker))

    def _take_back(self, worker: ProcessPoolExecutor, future: Future[Any], call: Future[Any]) -> None:
        error = CancelledError() if call.cancelled() else call.exception()
        if isinstance(error, BrokenProcessPool):
            self._forget(worker)
        else:
            self._idle.append(worker)
        if error is None:
            future.set_result(call.result())
        else:
            future.set_exception(error)


def _close_reader(worker: ProcessPoolExecutor) -> None:
    """Close this process's copy of the end of the pipe from which a worker, once it has begun, reads its calls.

    Otherwise the thread that writes a large call to a worker that dies would wait for a reader for ever, and Python
    for that thread at its exit (https://github.com/python/cpython/issues/94777, mended in Python 3.11.5).
    """
    calls = getattr(worker, "_call_queue", None)  # None if it has died meanwhile
    if calls is not None:
        calls._reader.close()


def _processes(worker: ProcessPoolExecutor) -> list[multiprocessing.Process]:
    # Public only from Python 3.14, as terminate_workers.
    return list((worker._processes or {}).values())


def begin_worker(cpus: frozenset[int] | None = None) -> None:
    """Prepare a newly started worker process for playing games, on some processors if they are given.

    The parent handles Ctrl-C, so the worker's handler does nothing; ignoring the signal would not do, since
    child processes would inherit that. SIGTERM ends the game and the programs that it started. A thread
    watches the parent and ends the worker if the parent is killed.
    """
    if cpus is not None:
        os.sched_setaffinity(0, cpus)  # before any thread or program starts, which inherit it
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.unraisablehook = _end_again
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Send SIGTERM again if it came during a callback of the interpreter, which drops the exit."""
    if not isinstance(unraisable.exc_value, SystemExit):
        sys.__unraisablehook__(unraisable)
        return
    timer = threading.Timer(0.01, _end_main_thread)
    timer.daemon = True
    timer.start()


def _end_main_thread() -> None:
    main = threading.main_thread().ident
    assert main is not None  # it runs
    signal.pthread_kill(main, signal.SIGTERM)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    # The first signal ends the game and its engines, later ones end the wait for another game. They go to the
    # main thread to wake it from any blocking call.
    deadline = time.monotonic() + END_S
    while time.monotonic() < deadline:
        _end_main_thread()
        time.sleep(END_S / 4)
    os._exit(1)
