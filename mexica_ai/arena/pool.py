"""Worker processes on this machine, behind the interface of `concurrent.futures`.

Each worker is a pool of its own with one process: when that process dies, exactly one game is lost, and it is
known which.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any

from mexica_ai.engines.process import EXIT_TIMEOUT_S

END_S = 2.0 + EXIT_TIMEOUT_S  # what workers get to end their engines, all at once, before they are killed


class GamePool(Executor):
    """An executor whose calls each have a process to themselves; as many processes as calls at a time.

    A call whose process dies raises BrokenProcessPool (SystemExit, if it was told to end by SIGTERM), and no
    other call notices. `shutdown` does not wait for calls that are still running: it ends them, and the
    programs that they have started.
    """

    def __init__(self) -> None:
        self._idle: list[ProcessPoolExecutor] = []
        self._all: set[ProcessPoolExecutor] = set()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """Call a function in a process of its own. Both must be such that pickle can carry them."""
        while True:
            worker = self._idle.pop() if self._idle else self._new_worker()
            try:
                future = worker.submit(fn, *args, **kwargs)
            except BrokenProcessPool:  # it died while idle
                self._all.discard(worker)
                continue
            future.add_done_callback(partial(self._take_back, worker))
            return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes, at work or not."""
        workers = list(self._all)  # a copy: a call that ends meanwhile takes its worker out
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
        # Spawned, since a fork would copy whatever threads hold.
        context = multiprocessing.get_context("spawn")
        worker = ProcessPoolExecutor(1, context, begin_worker)
        self._all.add(worker)
        return worker

    def _take_back(self, worker: ProcessPoolExecutor, future: Future) -> None:
        if not future.cancelled() and isinstance(future.exception(), BrokenProcessPool):
            self._all.discard(worker)
        else:
            self._idle.append(worker)


def _processes(worker: ProcessPoolExecutor) -> list[multiprocessing.Process]:
    # Public only from Python 3.14, as terminate_workers.
    return list((worker._processes or {}).values())


def begin_worker() -> None:
    """Prepare this process, just started, for playing games.

    Ctrl-C is left to the parent: by a handler that does nothing, since programs started from here would
    inherit that a signal is ignored. SIGTERM ends the game in an orderly way, with the programs it has
    started. Nobody else would tell a worker that its parent was killed, so it looks itself.
    """
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    multiprocessing.parent_process().join()
    # The first one ends the game, with its engines; later ones the wait for another game. To the main thread,
    # so that it wakes from whatever it waits for.
    deadline = time.monotonic() + END_S
    while time.monotonic() < deadline:
        signal.pthread_kill(threading.main_thread().ident, signal.SIGTERM)
        time.sleep(END_S / 4)
    os._exit(1)
