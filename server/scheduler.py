"""The order of work: searches of a server, and its calls that do not search.

`Scheduler` knows neither gRPC nor protobuf. A `Call` names the caller and its deadline, a `Question` the position.
`Admission` decides which searches get a slot, and how much time; a `Runner` runs them in it.

All times are on the clock of the event loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Future
from dataclasses import asdict, replace
from typing import Any, TypeVar

from mexica_ai.analysis import levels
from mexica_ai.analysis.annotate import TurnEvaluation, evaluate_record, seat_turns
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.stopping import Stop
from mexica_ai.game.position import Position
from mexica_ai.game.registry import Weights
from mexica_ai.io.json_types import JsonObject
from mexica_ai.server import tracing
from mexica_ai.server.admission import Admission
from mexica_ai.server.calls import Call, Question
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.metrics import Metrics
from mexica_ai.server.result_cache import ResultCache
from mexica_ai.server.runner import MakeRun, Runner, make_run
from mexica_ai.server.slots import MIN_SEARCH_S, BusyError, loop_time, shutting_down
from mexica_ai.server.workers import FairWorkers

# Shortest time between two rejected calls whose positions are checked for a forced turn: a check takes three
# times as long as a rejection.
FORCED_CHECK_S = 0.25
RECORD_RETRY_S = 0.5  # longest time before a record's search tries again to enter a full queue

T = TypeVar("T")


class Scheduler:
    """Admits and runs the calls of one server; its coroutines run in one event loop.

    Parameters
    ----------
    config : ServerConfig
    metrics : Metrics, optional
        Counts searches and rejections.
    make_run : callable, optional
        Makes the `SearchRun` of a position and settings, in a worker thread.

    Attributes
    ----------
    admission : Admission
    """

    def __init__(self, config: ServerConfig, metrics: Metrics | None = None, make_run: MakeRun = make_run) -> None:
        self._config = config
        self._metrics = metrics or Metrics()
        self.admission = Admission(config, self._metrics)
        self._runner = Runner(config.slots, self.admission, self._metrics, make_run)
        per_caller = config.max_waiting_per_caller
        self._light = FairWorkers(config.light_workers, "light", per_caller, self._metrics)
        # A search of one iteration takes a millisecond or two, so it must not wait for calls that take 100 ms.
        self._single = FairWorkers(1, "single", max(config.max_waiting, per_caller), self._metrics)
        # Threads that evaluate records mostly wait for a slot.
        self._records = FairWorkers(config.slots + config.max_waiting, "record")
        self._results = ResultCache(config.cache_mb << 20, config.share_results)
        self._next_look = 0.0
        self._is_closed = False

    def may_look(self) -> bool:
        """Return whether the position of a rejected call may be checked for a forced turn, which needs no slot.

        Only a few positions per second may, so that many rejected calls cost little. Callers that retry still
        get a forced turn soon.
        """
        if self._is_closed or loop_time() < self._next_look:
            return False
        self._next_look = loop_time() + FORCED_CHECK_S
        return True

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
    ) -> AsyncGenerator[Result, None]:
        """Search a position, and yield intermediate results; the last one has a stop reason.

        Setting `stopping` ends the search, or the wait for a slot: then the result is of a single iteration.
        """
        if question.position.is_forced:
            yield await self._search_once(question, call)
            return
        stop = Stop()
        ticket = await self.admission.take_slot_unless(stopping, question, call, stop)
        if ticket is None:
            yield replace(await self._search_once(question, call), stop_reason="stopped")
            return
        settings = self.admission.settings_in_slot(question, ticket)
        news = _News()

        def use(run: SearchRun) -> Result:
            for result in run.results(interval_s):
                news.tell(result)
            return result

        search = self._runner.start(question.position, settings, ticket, call, stop, use)
        search.add_done_callback(lambda _: news.happened.set())
        passing_on = asyncio.ensure_future(self._pass_on(stopping, stop))
        try:
            while news.newest or not search.done():
                if not news.newest:
                    await news.happened.wait()
                    news.happened.clear()
                    continue
                result = news.newest.pop()
                yield result
                if result.stop_reason:
                    break
            await asyncio.shield(search)  # its failure, if it failed
        finally:
            if not search.done():
                self._runner.end(stop)
                self._metrics.cancelled()
            passing_on.cancel()

    async def _pass_on(self, stopping: asyncio.Event, stop: Stop) -> None:
        await stopping.wait()
        self._runner.end(stop)

    async def evaluate(
        self,
        record: Callable[[], JsonObject],
        turns: range,
        call: Call,
        limits: Limits,
        *,
        seed: int,
        weights: Weights | None,
        checks: int = 0,
        explain: bool = False,
        level: int = levels.HIGHEST,
        candidates: int = 0,
    ) -> AsyncGenerator[TurnEvaluation, None]:
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
        seed, weights, checks, explain, level, candidates
            As of `evaluate_record`; the searches of checks keep to the caps, too.
        """
        stop = Stop()
        loop = asyncio.get_running_loop()
        pending: set[Future[Result]] = set()
        left = threading.Event()

        def search(position: Position, settings: SearchSettings, stop: Stop) -> Result:
            longest = self.admission.clamp(**asdict(settings.limits))
            question = Question(position, replace(settings, limits=longest, weights=weights))
            found = asyncio.run_coroutine_threadsafe(self._search_patiently(question, call, stop), loop)
            pending.add(found)
            if left.is_set():  # before `found` was among them
                found.cancel()
            try:
                return found.result()
            finally:
                pending.discard(found)

        def begin() -> tuple[Iterator[TurnEvaluation], int]:
            read = record()
            budget = {name: getattr(limits, name) for name in ("time_s", "iterations", "threads", "memory_mb")}
            evaluations = evaluate_record(
                read,
                **budget,
                seed=seed,
                stop=stop,
                turns=turns,
                search=search,
                checks=checks,
                explain=explain,
                level=level,
                candidates=candidates,
            )
            return evaluations, sum(index in turns for index in seat_turns(read))

        try:
            evaluations, number = await self._records.run(_who(call), begin)
            for _ in range(number):
                evaluation = await self._records.run(_who(call), next, evaluations, None)
                if evaluation is None:  # a search was stopped: the server is shutting down
                    raise shutting_down()
                yield evaluation
        finally:
            left.set()
            self._runner.end(stop)
            for found in tuple(pending):
                found.cancel()

    def _known(self, question: Question, call: Call) -> Result | None:
        found = self._results.get(question, call.caller)
        if found is not None:
            self._metrics.reused()
        return found

    async def _search_once(self, question: Question, call: Call) -> Result:
        """Search for one iteration, which needs no slot."""
        settings = question.settings
        settings = replace(settings, limits=replace(settings.limits, iterations=1))
        with tracing.span("search"):
            return await self._single.run(_who(call), lambda: SearchRun(question.position, settings).result())

    async def _search_patiently(self, question: Question, call: Call, stop: Stop) -> Result:
        """Search in a slot, and retry if the queue is full; for one of the many searches of a long call."""
        since = loop_time()
        while True:
            try:
                return await self._search_in_slot(question, call, stop, since)
            except BusyError as error:
                remaining_s = call.remaining_s()
                is_over = remaining_s is not None and remaining_s < error.retry_s + MIN_SEARCH_S
                if self._is_closed or is_over:
                    self._metrics.rejected(error.reason)
                    self._metrics.queue_wait(loop_time() - since)
                    raise
                await asyncio.sleep(min(max(error.retry_s, MIN_SEARCH_S), RECORD_RETRY_S))

    async def _search_in_slot(self, question: Question, call: Call, stop: Stop, since: float | None = None) -> Result:
        """Wait for a slot, search in it, and return the result; `since` as for `Admission.take_slot`."""
        ticket = await self.admission.take_slot(question, call, stop, since)
        settings = self.admission.settings_in_slot(question, ticket, since)
        search = self._runner.start(question.position, settings, ticket, call, stop, lambda run: run.result())
        try:
            # Shielded: a thread cannot be cancelled, and its end must still be handled.
            result = await asyncio.shield(search)
        except asyncio.CancelledError:
            self._runner.end(stop)
            self._metrics.cancelled()
            raise
        self._results.put(question, result, call.caller)
        return result

    # --- calls that do not search

    async def light(self, call: Call, function: Callable[..., T], *args: Any) -> T:
        """Return `function(*args)`, which does not search, in a worker thread; callers take turns.

        Raises
        ------
        BusyError
            Too many such calls wait, or there are no threads.
        """
        return await self._light.run(_who(call), function, *args)

    # --- the end

    def stop_searches(self) -> None:
        """Stop all running searches; they answer the best so far."""
        self._runner.stop_all()

    async def close(self, grace_s: float) -> None:
        """Start no more searches, give the running ones and light calls `grace_s` seconds, stop and await searches."""
        self._is_closed = True
        self.admission.slots.close()
        for workers in (self._light, self._single, self._records):
            workers.close()
        light = (workers.finish(grace_s) for workers in (self._light, self._single))
        await asyncio.gather(self._runner.close(grace_s), *light)

    def end_workers(self) -> None:
        """Let the worker threads end, once no call can come any more."""
        self._runner.end_workers()
        for workers in (self._light, self._single, self._records):
            workers.end()


def _who(call: Call) -> str:
    """Return whose turn it is in a thread."""
    return call.caller or call.peer


class _News:
    """The results of a search in a worker thread; only the newest one is kept for a slow reader."""

    def __init__(self) -> None:
        self.newest: list[Result] = []
        self.happened = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def tell(self, result: Result) -> None:
        """Tell a result, from the worker thread."""
        self._loop.call_soon_threadsafe(self._take, result)

    def _take(self, result: Result) -> None:
        self.newest[:] = [result]
        self.happened.set()
