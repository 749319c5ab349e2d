"""What decides when a request is worked on: admission, search slots, worker threads and time.

`Scheduler` knows neither gRPC nor protobuf. A `Call` says who asks and until when, a `Question` what to search.

Searches run in separate threads, where they release the GIL and start native threads. A search takes a slot
before it starts and frees it when its threads have ended, even if the caller is gone. If the processors are so
busy that the threads do not end in time, the answer does not wait for them, but the next search in the slot
does: it would get no processor time either.

All times are on the clock of the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from mexica_ai.analysis import levels
from mexica_ai.analysis.annotate import TurnEvaluation, evaluate_record, seat_turns
from mexica_ai.analysis.limits import DEFAULT_CANDIDATES, Limits
from mexica_ai.analysis.margin import Margin
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.search import run_search
from mexica_ai.analysis.stopping import Stop
from mexica_ai.game.position import Position
from mexica_ai.game.registry import Weights
from mexica_ai.io.errors import SearchError
from mexica_ai.server import tracing
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.light import LightPlaces
from mexica_ai.server.metrics import Metrics
from mexica_ai.server.result_cache import ResultCache
from mexica_ai.server.searches import Searches
from mexica_ai.server.slots import (
    MIN_SEARCH_S,
    PATIENCE_S,
    BusyError,
    SearchSlots,
    Ticket,
    loop_time,
    shutting_down,
)

# The expected time of a search with a limit of iterations: from the speed of earlier searches, times a factor.
FIRST_RATE = 5000.0
RATE_STEP = 0.1
ENOUGH_ITERATIONS = 100
DURATION_FACTOR = 3.0
NO_THREADS_RETRY_S = 1.0
FULL_CALLERS = 4  # number of callers whose queues of light calls can be full at the same time
# Shortest time between two rejected calls whose positions are checked for a forced turn: a check takes three
# times as long as a rejection.
FORCED_CHECK_S = 0.25
RECORD_RETRY_S = 0.5  # longest time before a record's search tries again to enter a full queue


@dataclass(frozen=True)
class Call:
    """Who asks, and until when.

    Attributes
    ----------
    caller : str
        The name of the caller's token or certificate, "" without one.
    peer : str
        The connection, which stands for callers without a name.
    deadline : float, optional
        When the caller stops waiting for the answer.
    """

    caller: str
    peer: str = ""
    deadline: float | None = None

    def remaining_s(self) -> float | None:
        """Return the seconds left until the deadline, None without one."""
        return None if self.deadline is None else self.deadline - loop_time()


@dataclass(frozen=True)
class Question:
    """A position to search; `limits` are those of `Scheduler.clamp`, without any deadline.

    `has_seed` says whether the caller has chosen the seed, so that it may ask for the same again.
    """

    position: Position
    limits: Limits
    seed: int
    num_candidates: int = DEFAULT_CANDIDATES
    level: int = levels.HIGHEST
    weights: Weights | None = None
    has_seed: bool = False

    def options(self) -> dict[str, Any]:
        """Return what `run_search` and `watch_search` take besides the position and the limits."""
        return {
            "seed": self.seed,
            "candidates": self.num_candidates,
            "level": self.level,
            "weights": self.weights,
        }


class Scheduler:
    """Admits and runs the searches and the light calls of one server; its coroutines run in one event loop.

    Parameters
    ----------
    config : ServerConfig
    metrics : Metrics, optional
        What is told of searches and rejections.
    search, watch : callable, optional
        What searches, in a worker thread, in place of `Searches.run` and `watch`.

    Attributes
    ----------
    memory_mb : int
        The most that one search may use, in MiB.
    """

    def __init__(
        self,
        config: ServerConfig,
        metrics: Metrics | None = None,
        search: Callable[..., Result] | None = None,
        watch: Callable[..., Iterator[Result]] | None = None,
    ) -> None:
        self._config = config
        self._metrics = metrics or Metrics()
        self._compute = Searches()
        self._search = search or self._compute.run
        self._watch = watch or self._compute.watch
        self._margin = Margin(config.deadline_margin_s, loop_time)
        self._slots = SearchSlots(
            config.slots,
            config.max_waiting,
            config.max_waiting_per_caller,
            config.max_slots_per_caller,
            config.default_time_s,
        )
        self._workers = ThreadPoolExecutor(config.slots, thread_name_prefix="search")
        self._light = ThreadPoolExecutor(config.light_workers, thread_name_prefix="light")
        per_caller = config.max_waiting_per_caller
        self._light_places = LightPlaces(config.light_workers, per_caller, FULL_CALLERS * per_caller)
        # A search of one iteration takes a millisecond or two, so it must not wait for calls that take 100 ms.
        self._single_workers = ThreadPoolExecutor(1, thread_name_prefix="single")
        per_caller = max(config.max_waiting, per_caller)
        self._single_places = LightPlaces(1, per_caller, FULL_CALLERS * per_caller)
        self._next_look = 0.0
        # Threads that evaluate records mostly wait for a slot.
        self._records = ThreadPoolExecutor(config.slots + config.max_waiting, thread_name_prefix="record")
        self._searches: dict[asyncio.Future, tuple[Ticket, Stop]] = {}  # running -> its slot, and what stops it
        # Each search gets its share of the total, so that all of them together never need more.
        self.memory_mb = min(config.memory_mb, config.total_memory_mb // config.slots)
        self._results = ResultCache(config.cache_mb << 20)
        self._is_closed = False
        self._iterations_per_s = FIRST_RATE  # of one search; a mean of those before

    @property
    def num_waiting(self) -> int:
        """Number of calls that wait for a slot."""
        return self._slots.num_waiting

    # --- limits and admission

    def clamp(
        self,
        *,
        time_s: float | None = None,
        iterations: int | None = None,
        memory_mb: int | None = None,
        threads: int | None = None,
        unlimited: bool = False,
    ) -> Limits:
        """Return the limits of a request, None for what it leaves to the server, capped by the configuration.

        Raises
        ------
        SearchError
            The time is none that a search could use; reason INVALID_LIMITS.
        """
        config = self._config
        if time_s is not None:
            Limits(time_s=time_s)  # before the caps, which would hide a negative time or NaN
        elif unlimited or iterations:
            time_s = None if unlimited else config.max_time_s
        else:
            time_s = config.default_time_s
        if time_s is not None and not unlimited:
            time_s = min(time_s, config.max_time_s)
        return Limits(
            time_s=time_s,
            iterations=min(iterations, config.max_iterations) if iterations else None,
            memory_mb=min(memory_mb or self.memory_mb, self.memory_mb),
            threads=min(threads or config.threads, config.threads),
            unlimited=unlimited,
        )

    def check(self, call: Call, limits: Limits, level: int) -> None:
        """Raise the BusyError of a search that would be rejected, before its position is read.

        Does nothing while a slot is free: then there is time to read the request, which may need no slot.
        """
        with self._noting_rejections():
            self._slots.check(call.caller, self._expected_s(limits, level), self._search_by(call))

    def may_look(self) -> bool:
        """Return whether the position of a rejected call may be checked for a forced turn, which needs no slot.

        Only a few positions per second may, so that many rejected calls cost little. Callers that retry still
        get a forced turn soon.
        """
        if self._is_closed or loop_time() < self._next_look:
            return False
        self._next_look = loop_time() + FORCED_CHECK_S
        return True

    def _search_by(self, call: Call) -> float | None:
        """Return when a search of this call must end, None without a deadline."""
        remaining_s = call.remaining_s()
        return None if remaining_s is None else call.deadline - self._margin.of(remaining_s)

    def _expected_s(self, limits: Limits, level: int) -> float:
        """Return the longest expected time of a search, which decides whether other calls can wait for it."""
        limits = levels.limits_of(level, limits)
        time_s = self._config.max_time_s  # later an unlimited search ends if another call waits
        if limits.time_s is not None:
            time_s = min(time_s, limits.time_s)
        if limits.iterations is None:
            return time_s
        return min(time_s, DURATION_FACTOR * limits.iterations / self._iterations_per_s)

    @contextlib.contextmanager
    def _noting_rejections(self):
        try:
            yield
        except SearchError as error:
            self._metrics.rejected(error.reason)
            raise

    # --- searches

    async def search(self, question: Question, call: Call) -> Result:
        """Search a position, and return the result.

        Raises
        ------
        BusyError
            No slot becomes free in time, too many calls wait, there are no threads, or the server shuts down.
        """
        if question.position.is_forced:
            return await self._search_once(question, call)
        return self._known(question, call) or await self._search_in_slot(question, call, Stop())

    async def search_patiently(self, question: Question, call: Call) -> Result:
        """Do what `search` does for one of the many questions of a call, which tries again if the queue is full."""
        if question.position.is_forced:
            return await self._search_once(question, call)
        return self._known(question, call) or await self._search_patiently(question, call, Stop())

    async def analyze(
        self, question: Question, call: Call, interval_s: float, stopping: asyncio.Event
    ) -> AsyncIterator[Result]:
        """Search a position, and yield intermediate results; the last one has a stop reason.

        Setting `stopping` ends the search, or the wait for a slot: then the result is of a single iteration.
        """
        if question.position.is_forced:
            yield await self._search_once(question, call)
            return
        stop = Stop()
        ticket = await self._take_slot_unless(stopping, question, call, stop)
        if ticket is None:
            yield replace(await self._search_once(question, call), stop_reason="stopped")
            return
        limits = self._limits_in_slot(question, ticket)
        loop = asyncio.get_running_loop()
        # Only the newest result is kept for a slow reader.
        newest: list[Result] = []
        news = asyncio.Event()

        def tell(result):
            newest[:] = [result]
            news.set()

        def watch():
            options = question.options()
            found = self._watch(question.position, limits, interval_s=interval_s, stop=stop, **options)
            for result in found:
                loop.call_soon_threadsafe(tell, result)
            return result

        search = self._start(ticket, call, stop, limits, watch)
        search.add_done_callback(lambda _: news.set())
        passing_on = asyncio.ensure_future(self._pass_on(stopping, stop))
        try:
            while newest or not search.done():
                if not newest:
                    await news.wait()
                    news.clear()
                    continue
                result = newest.pop()
                yield result
                if result.stop_reason:
                    break
            await asyncio.shield(search)  # its failure, if it failed
        finally:
            if not search.done():
                self._end(stop)
                self._metrics.cancelled()
            passing_on.cancel()

    async def evaluate(
        self,
        record: Callable[[], dict[str, Any]],
        turns: range,
        call: Call,
        limits: Limits,
        *,
        seed: int,
        weights: Weights | None,
    ) -> AsyncIterator[TurnEvaluation]:
        """Evaluate turns of a game; each search takes a slot of its own, so that others are not kept out.

        Parameters
        ----------
        record : callable
            Returns the record of the game; runs in a worker thread.
        turns : range
            Indices of the turns; those of random events are skipped.
        call : Call
        limits : Limits
            Of each search.
        seed : int
        weights : Weights, optional
        """
        stop = Stop()
        loop = asyncio.get_running_loop()
        pending: set[Future[Result]] = set()

        def search(position, _limits, *, seed, candidates=DEFAULT_CANDIDATES, stop=stop):
            question = Question(position, limits, seed, candidates, weights=weights)
            found = asyncio.run_coroutine_threadsafe(self._search_patiently(question, call, stop), loop)
            pending.add(found)
            try:
                return found.result()
            finally:
                pending.discard(found)

        def begin():
            read = record()
            evaluations = evaluate_record(
                read,
                time_s=self._config.default_time_s,  # the search above has its own limits
                seed=seed,
                stop=stop,
                turns=turns,
                search=search,
            )
            return evaluations, sum(index in turns for index in seat_turns(read))

        try:
            evaluations, number = await self._submit(self._records, begin)
            for _ in range(number):
                evaluation = await self._submit(self._records, next, evaluations, None)
                if evaluation is None:  # a search was stopped: the server is shutting down
                    raise shutting_down()
                yield evaluation
        finally:
            self._end(stop)
            for found in tuple(pending):
                found.cancel()

    def _known(self, question: Question, call: Call) -> Result | None:
        found = self._results.get(question, call.caller)
        if found is not None:
            self._metrics.reused()
        return found

    async def _search_once(self, question: Question, call: Call) -> Result:
        """Search for one iteration, which needs no slot."""
        limits = replace(question.limits, iterations=1)
        search = functools.partial(run_search, question.position, limits, **question.options())
        with tracing.span("search"):
            return await self._in_place(self._single_places, self._single_workers, call, search)

    async def _search_patiently(self, question: Question, call: Call, stop: Stop) -> Result:
        """Search in a slot, and retry if the queue is full; for one of the many searches of a long call."""
        due = loop_time() + PATIENCE_S
        while True:
            try:
                return await self._search_in_slot(question, call, stop, due)
            except BusyError as error:
                remaining_s = call.remaining_s()
                is_over = remaining_s is not None and remaining_s < error.retry_s + MIN_SEARCH_S
                if self._is_closed or is_over:
                    raise
                await asyncio.sleep(min(max(error.retry_s, MIN_SEARCH_S), RECORD_RETRY_S))

    async def _search_in_slot(
        self, question: Question, call: Call, stop: Stop, due: float = float("inf")
    ) -> Result:
        """Wait for a slot, search in it, and return the result."""
        ticket = await self._take_slot(question, call, stop, due)
        limits = self._limits_in_slot(question, ticket)

        def run():
            return self._search(question.position, limits, stop=stop, **question.options())

        search = self._start(ticket, call, stop, limits, run)
        try:
            # Shielded: a thread cannot be cancelled, and its end must still be handled.
            result = await asyncio.shield(search)
        except asyncio.CancelledError:
            self._end(stop)
            self._metrics.cancelled()
            raise
        self._results.put(question, result, call.caller)
        return result

    async def _take_slot(
        self, question: Question, call: Call, stop: Stop, due: float = float("inf")
    ) -> Ticket:
        begin = loop_time()
        expected_s = self._expected_s(question.limits, question.level)
        try:
            with self._noting_rejections(), tracing.span("queue"):
                end = stop.set if question.limits.unlimited else None
                return await self._slots.take(call.caller, expected_s, self._search_by(call), due, end)
        except asyncio.CancelledError:
            self._metrics.cancelled()
            raise
        finally:
            self._metrics.queue_wait(loop_time() - begin)

    async def _take_slot_unless(
        self, stopping: asyncio.Event, question: Question, call: Call, stop: Stop
    ) -> Ticket | None:
        """Wait for a slot; return None if the caller stops the analysis before there is one."""
        taking = asyncio.ensure_future(self._take_slot(question, call, stop))
        asked_to_stop = asyncio.ensure_future(stopping.wait())
        try:
            await asyncio.wait([taking, asked_to_stop], return_when=asyncio.FIRST_COMPLETED)
            return await taking if taking.done() else None
        except asyncio.CancelledError:
            if taking.done() and not taking.cancelled() and taking.exception() is None:
                self._slots.give_back(taking.result())
            raise
        finally:
            taking.cancel()
            asked_to_stop.cancel()

    def _limits_in_slot(self, question: Question, ticket: Ticket) -> Limits:
        """Return the limits of a search that starts now; only here, so that the time spent waiting counts."""
        if ticket.deadline is None:
            return question.limits
        left_s = ticket.deadline - loop_time()
        if left_s <= 0:
            self._slots.give_back(ticket)
            raise BusyError(
                "the deadline leaves no time to search", reason="NO_TIME_LEFT", retry_s=MIN_SEARCH_S
            )
        time_s = question.limits.time_s
        return replace(question.limits, time_s=left_s if time_s is None else min(time_s, left_s))

    async def _pass_on(self, stopping: asyncio.Event, stop: Stop) -> None:
        await stopping.wait()
        self._end(stop)

    def _end(self, stop: Stop) -> None:
        """Stop the searches that this stops; from now on others can count on their slots."""
        stop.set()
        for ticket, other in self._searches.values():
            if other is stop:
                self._slots.note_ending(ticket)

    def _start(
        self, ticket: Ticket, call: Call, stop: Stop, limits: Limits, run: Callable[[], Result]
    ) -> asyncio.Future[Result]:
        """Start a search in a worker thread; its end frees the slot.

        Returns
        -------
        asyncio.Future
            The result, which may be set before the search has ended.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()

        def work():
            try:
                result = run()
            except BaseException as error:
                loop.call_soon_threadsafe(answer.set_exception, error)
            else:
                loop.call_soon_threadsafe(answer.set_result, result)
            self._compute.join()

        try:
            search = self._submit(self._workers, work)
        except BusyError:
            stop.set()  # the task is still queued for the next free worker, and must then end at once
            self._slots.give_back(ticket)
            raise
        self._searches[search] = ticket, stop
        if stop.is_set():  # before it started
            self._slots.note_ending(ticket)
        span = tracing.CALL.get().begin("search")
        self._metrics.search_started()
        due = loop_time() + (limits.time_s or 0.0)
        iterations, left_s = 0, None

        def note_answer(_):
            nonlocal iterations, left_s
            self._slots.note_ending(ticket)
            left_s = call.remaining_s()
            # Reading the exception marks it as retrieved, even if the caller is gone and nothing awaits it.
            if answer.exception():
                span.end()
                return
            result = answer.result()
            iterations = result.iterations
            span.end(iterations=iterations, stop_reason=result.stop_reason)
            self._note_result(result, loop_time() - due)

        def note_end(_):
            del self._searches[search]
            self._slots.give_back(ticket)
            self._metrics.search_ended(iterations, left_s)

        answer.add_done_callback(note_answer)
        search.add_done_callback(note_end)
        return answer

    def _note_result(self, result: Result, late_s: float) -> None:
        if result.iterations >= ENOUGH_ITERATIONS and result.seconds > 0:
            self._iterations_per_s += RATE_STEP * (
                result.iterations / result.seconds - self._iterations_per_s
            )
        if result.stop_reason == "time":
            self._margin.note(late_s)

    # --- light calls

    async def light(self, call: Call, function: Callable, *args: Any) -> Any:
        """Return `function(*args)`, which does not search, from a light worker; callers take turns.

        Raises
        ------
        BusyError
            Too many light calls wait, or there are no threads.
        """
        return await self._in_place(self._light_places, self._light, call, function, *args)

    async def _in_place(
        self, places: LightPlaces, pool: ThreadPoolExecutor, call: Call, function: Callable, *args: Any
    ) -> Any:
        with self._noting_rejections():
            await places.take(call.caller or call.peer)
        try:
            answer = self._submit(pool, function, *args)
        except BusyError:
            places.give_back()
            raise
        answer.add_done_callback(lambda done: self._place_left(places, done))
        # Shielded: cancelling a call does not stop its worker, which keeps its place until it ends.
        return await asyncio.shield(answer)

    @staticmethod
    def _place_left(places: LightPlaces, answer: asyncio.Future) -> None:
        places.give_back()
        if not answer.cancelled():
            answer.exception()  # marks it as retrieved, even if nothing awaits the answer

    def _submit(self, pool: ThreadPoolExecutor, function: Callable, *args: Any) -> asyncio.Future:
        # With the context of the call, for the logs and traces of what the function starts.
        work = functools.partial(contextvars.copy_context().run, function, *args)
        try:
            return asyncio.get_running_loop().run_in_executor(pool, work)
        except RuntimeError as error:
            if self._is_closed:
                raise shutting_down() from None
            raise BusyError(
                f"the machine has no threads left ({error})", reason="NO_THREADS", retry_s=NO_THREADS_RETRY_S
            ) from None

    # --- the end

    def stop_searches(self) -> None:
        """Stop all running searches; they answer the best so far."""
        for ticket, stop in self._searches.values():
            stop.set()
            self._slots.note_ending(ticket)

    async def close(self, grace_s: float) -> None:
        """Start no more searches, give the running ones `grace_s` seconds, stop them, await their ends."""
        self._is_closed = True
        self._slots.close()
        if self._searches:
            await asyncio.wait(self._searches, timeout=grace_s)
        self.stop_searches()
        if self._searches:
            await asyncio.wait(self._searches)

    def end_workers(self) -> None:
        """Let the worker threads end, once no call can come any more."""
        for pool in (self._workers, self._light, self._single_workers, self._records):
            pool.shutdown(wait=pool is self._workers)
