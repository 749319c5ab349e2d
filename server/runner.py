"""Running a search in its slot: in a worker thread, until its native threads have ended.

A search stops at once and runs at a lower priority. Only its native threads do: a Python thread with a low priority
that held the GIL would delay all calls.

A search frees its slot when its threads have ended, even if the caller is gone. If the processors are so busy that
the threads do not end in time, the answer does not wait for them, but the next search in the slot does: it would get
no processor time either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from mexica_ai.analysis.results import Result
from mexica_ai.analysis.search import Search, SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.stopping import Stop
from mexica_ai.game.position import Position
from mexica_ai.server import tracing
from mexica_ai.server.admission import Admission
from mexica_ai.server.calls import Call
from mexica_ai.server.metrics import Metrics
from mexica_ai.server.slots import BusyError, Ticket, loop_time
from mexica_ai.server.workers import Workers

NICENESS = 15  # added to the niceness of the native threads
LATE_S = 0.01  # how long to wait for the end of a search after its time

MakeRun = Callable[[Position, SearchSettings], SearchRun]


def make_run(position: Position, settings: SearchSettings) -> SearchRun:
    """Return a search of a server."""
    return SearchRun(position, settings, search_class=partial(Search, niceness=NICENESS), late_s=LATE_S)


class Runner:
    """Runs the searches of one server; its methods are called in one event loop."""

    def __init__(self, number: int, admission: Admission, metrics: Metrics, make_run: MakeRun) -> None:
        self._admission = admission
        self._metrics = metrics
        self._make_run = make_run
        self._workers = Workers(number, "search")
        self._searches: dict[asyncio.Future[None], tuple[Ticket, Stop]] = {}  # running -> its slot, and what stops it

    def start(
        self,
        position: Position,
        settings: SearchSettings,
        ticket: Ticket,
        call: Call,
        stop: Stop,
        use: Callable[[SearchRun], Result],
    ) -> asyncio.Future[Result]:
        """Start a search in a worker thread, where `use` takes the result from it; its end frees the slot.

        Returns
        -------
        asyncio.Future
            The result, which may be set before the search has ended.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()
        refused = Stop()  # not the stop of the call, which may try again

        def work() -> None:
            run = None
            try:
                run = self._make_run(position, settings)
                with stop.calling(run.stop), refused.calling(run.stop):
                    result = use(run)
            except BaseException as error:
                loop.call_soon_threadsafe(answer.set_exception, error)
            else:
                loop.call_soon_threadsafe(answer.set_result, result)
            if run is not None:
                run.join()

        try:
            search = self._workers.submit(work)
        except BusyError:
            refused.set()  # the task is still queued for the next free worker, and must then end at once
            self._admission.slots.give_back(ticket)
            raise
        self._searches[search] = ticket, stop
        if stop.is_set():  # before it started
            self._admission.slots.note_ending(ticket)
        self._metrics.search_started()
        self._watch(answer, search, ticket, call, loop_time() + (settings.limits.time_s or 0.0))
        return answer

    def _watch(
        self,
        answer: asyncio.Future[Result],
        search: asyncio.Future[None],
        ticket: Ticket,
        call: Call,
        due: float,
    ) -> None:
        """Note the answer of a search, and its end."""
        span = tracing.CALL.get().begin("search")
        iterations, left_s = 0, None

        def note_answer(_: asyncio.Future[Result]) -> None:
            nonlocal iterations, left_s
            self._admission.slots.note_ending(ticket)
            left_s = call.remaining_s()
            # Reading the exception marks it as retrieved, even if the caller is gone and nothing awaits it.
            if answer.exception():
                span.end()
                return
            result = answer.result()
            iterations = result.iterations
            span.end(iterations=iterations, stop_reason=result.stop_reason)
            self._admission.note_result(result, loop_time() - due)

        def note_end(_: asyncio.Future[None]) -> None:
            del self._searches[search]
            self._admission.slots.give_back(ticket)
            self._metrics.search_ended(iterations, left_s)

        answer.add_done_callback(note_answer)
        search.add_done_callback(note_end)

    def end(self, stop: Stop) -> None:
        """Stop the searches that this stops; from now on others can count on their slots."""
        stop.set()
        for ticket, other in self._searches.values():
            if other is stop:
                self._admission.slots.note_ending(ticket)

    def stop_all(self) -> None:
        """Stop all running searches; they answer the best so far."""
        for ticket, stop in self._searches.values():
            stop.set()
            self._admission.slots.note_ending(ticket)

    async def close(self, grace_s: float) -> None:
        """Give the running searches `grace_s` seconds, stop them, await their ends."""
        self._workers.close()
        if self._searches:
            await asyncio.wait(self._searches, timeout=grace_s)
        self.stop_all()
        if self._searches:
            await asyncio.wait(self._searches)

    def end_workers(self) -> None:
        """Let the worker threads end, once no search can come any more."""
        self._workers.end(wait=True)
