"""Worker threads of a server, and calls in them that do not search but take some processor time."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from mexica_ai.server.fair_semaphore import FairSemaphore
from mexica_ai.server.metrics import Metrics
from mexica_ai.server.slots import BusyError, shutting_down

NO_THREADS_RETRY_S = 1.0
FULL_CALLERS = 4  # number of callers whose queues can be full at the same time

T = TypeVar("T")


class Workers:
    """Threads that functions run in; all methods are called in one event loop."""

    def __init__(self, number: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(number, thread_name_prefix=name)
        self._is_closed = False

    def submit(self, function: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """Run a function in the next free thread, with the context of the call for its logs and traces.

        Raises
        ------
        BusyError
            There are no threads; or, after `close`, the server shuts down.
        """
        work = functools.partial(contextvars.copy_context().run, function, *args)
        try:
            return asyncio.get_running_loop().run_in_executor(self._pool, work)
        except RuntimeError as error:
            if self._is_closed:
                raise shutting_down() from None
            raise BusyError(
                f"the machine has no threads left ({error})", reason="NO_THREADS", retry_s=NO_THREADS_RETRY_S
            ) from None

    def close(self) -> None:
        """Note that the server shuts down: from now on that is why a thread cannot be had."""
        self._is_closed = True

    def end(self, wait: bool = False) -> None:
        """Let the threads end, once no function comes any more."""
        self._pool.shutdown(wait=wait)


class FairWorkers(Workers):
    """Threads in which callers take turns.

    Parameters
    ----------
    number : int
        Of threads.
    name : str
    max_waiting_per_caller : int, optional
        Number of functions of one caller that may wait for a thread; all callers together may have `FULL_CALLERS`
        times as many. By default it is not limited here.
    metrics : Metrics, optional
        Counts rejections.
    """

    def __init__(
        self, number: int, name: str, max_waiting_per_caller: float = math.inf, metrics: Metrics | None = None
    ) -> None:
        super().__init__(number, name)
        self._places = FairSemaphore(number, max_waiting_per_caller, FULL_CALLERS * max_waiting_per_caller)
        self._metrics = metrics or Metrics()
        self._calls: set[asyncio.Task[Any]] = set()  # waiting or in work

    async def run(self, caller: str, function: Callable[..., T], *args: Any) -> T:
        """Return `function(*args)`, once it is the caller's turn.

        Raises
        ------
        BusyError
            Too many calls wait, there are no threads, or the server shuts down.
        """
        call = asyncio.current_task()
        assert call is not None  # calls run in tasks
        self._calls.add(call)
        try:
            return await self._run(caller, function, *args)
        finally:
            self._calls.discard(call)

    async def finish(self, longest_s: float) -> None:
        """Let the calls that are here now end within some time."""
        if self._calls:
            await asyncio.wait(self._calls, timeout=longest_s)

    async def _run(self, caller: str, function: Callable[..., T], *args: Any) -> T:
        with self._metrics.noting_rejections():
            await self._places.take(caller)
        try:
            answer = self.submit(function, *args)
        except BusyError:
            self._places.give_back()
            raise
        answer.add_done_callback(self._leave)
        # Shielded: cancelling a call does not stop its worker, which keeps its place until it ends.
        return await asyncio.shield(answer)

    def _leave(self, answer: asyncio.Future[Any]) -> None:
        self._places.give_back()
        if not answer.cancelled():
            answer.exception()  # marks it as retrieved, even if nothing awaits the answer
