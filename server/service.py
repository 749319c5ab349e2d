"""The servicer of `mexica_ai.v1.EngineService`: it translates messages, assigns search slots and keeps time.

Light calls, which do not search, are answered in the event loop if they are short, else by a few light
workers. Searches run in separate threads, where they release the GIL and start native threads. A search takes
a slot before it starts and frees it when its threads have ended, even if the caller is gone. If the processors
are so busy that the threads do not end in time, the answer does not wait for them, but the next search in the
slot does: it would get no processor time either.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any

from mexica_ai import consider_removal, levels, registry, wire
from mexica_ai.annotate import evaluate_record, seat_turns
from mexica_ai.errors import GameOverError, MexicaAIError, NotationError, SearchError
from mexica_ai.limits import (
    DEFAULT_CANDIDATES,
    DEFAULT_INTERVAL_S,
    MAX_INT64,
    Limits,
    is_time,
    resolve_seed,
)
from mexica_ai.position import Position, new_game
from mexica_ai.results import Result
from mexica_ai.search import run_search
from mexica_ai.server.auth import CALLER
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.errors import answers_errors, streams_errors
from mexica_ai.server.light import LightPlaces
from mexica_ai.server.margin import Margin
from mexica_ai.server.metrics import Metrics
from mexica_ai.server.searches import Searches, Stop
from mexica_ai.server.slots import (
    MIN_SEARCH_S,
    PATIENCE_S,
    BusyError,
    SearchSlots,
    Ticket,
    shutting_down,
)
from mexica_ai.strict import quote
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

SERVICE_NAME = engine_pb2.DESCRIPTOR.services_by_name["EngineService"].full_name
MAX_REQUEST_BYTES = 1 << 20  # a position has less than 4 KiB, the record of a game a few dozen
SMALL_BYTES = 1 << 12  # largest request that the event loop answers itself; positions have about 500 bytes
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
# How often an unlimited search beyond the server's cap checks whether other calls wait.
YIELD_POLL_S = 0.02

_ANALYSIS_ID = re.compile(r"[A-Za-z0-9._-]{0,64}")


@dataclass(frozen=True)
class _Asked:
    """A checked request to search."""

    position: Position
    limits: engine_pb2.Limits
    seed: int
    num_candidates: int
    level: int
    weights: registry.Weights | None
    unlimited: bool = False
    is_forced: bool = False  # only one turn is legal


class EngineService(engine_pb2_grpc.EngineServiceServicer):
    """Answers calls; all methods run in one event loop.

    Parameters
    ----------
    config : ServerConfig
    search, watch : callable, optional
        What searches, in a worker thread, in place of `Searches.run` and `watch`.

    Attributes
    ----------
    metrics : Metrics
        What is told of searches and rejections.

    Raises
    ------
    SearchError
        Reason INVALID_CONFIG: a file of weights cannot be used.
    """

    def __init__(
        self,
        config: ServerConfig,
        search: Callable[..., Result] | None = None,
        watch: Callable[..., Iterator[Result]] | None = None,
    ) -> None:
        self.metrics = Metrics()
        self._config = config
        self._compute = Searches()
        self._search = search or self._compute.run
        self._watch = watch or self._compute.watch
        self._weights = config.read_weights()
        self._margin = Margin(config.deadline_margin_s)
        self._slots = SearchSlots(config.slots, config.max_waiting, config.max_waiting_per_caller)
        self._workers = ThreadPoolExecutor(config.slots, thread_name_prefix="search")
        self._light = ThreadPoolExecutor(config.light_workers, thread_name_prefix="light")
        per_caller = config.max_waiting_per_caller
        self._light_places = LightPlaces(config.light_workers, per_caller, FULL_CALLERS * per_caller)
        # A search of one iteration takes a millisecond or two, so it must not wait for calls that take 100 ms.
        self._single_workers = ThreadPoolExecutor(1, thread_name_prefix="single")
        per_caller = max(config.max_waiting, per_caller)
        self._single_places = LightPlaces(1, per_caller, FULL_CALLERS * per_caller)
        self._next_forced_check = 0.0
        # Threads that evaluate records mostly wait for a slot.
        self._records = ThreadPoolExecutor(config.slots + config.max_waiting, thread_name_prefix="record")
        self._searches: dict[asyncio.Future, Stop] = {}  # running -> what stops it
        self._analyses: dict[tuple[str, str], set[asyncio.Event]] = {}  # (caller, name) -> what ends them
        # Each search gets its share of the total, so that all of them together never need more.
        self._memory_mb = min(config.memory_mb, config.total_memory_mb // config.slots)
        self._is_closed = False
        self._iterations_per_s = FIRST_RATE  # of one search; a mean of those before
        self._engine_version = metadata.version("mexica-ai")

    # --- searches

    @answers_errors
    async def BestTurn(self, request, context):  # noqa: N802, the names are the service's
        """Search a position; see engine.proto."""
        asked = await self._read(request, context)
        return engine_pb2.BestTurnResponse(result=await self._best_turn(asked, context))

    @streams_errors
    async def Analyze(self, request, context):  # noqa: N802
        """Search a position, and send the result so far at an interval; see engine.proto."""
        if not _ANALYSIS_ID.fullmatch(request.analysis_id):
            raise NotationError(
                f"analysis_id: given {quote(request.analysis_id)}; expected up to 64 letters, digits and ._-",
                reason="INVALID_NAME",
                path="analysis_id",
            )
        interval_s = request.interval_s or DEFAULT_INTERVAL_S
        if not is_time(interval_s):
            raise SearchError(
                f"interval_s: given {interval_s}; expected a number of seconds above 0, or 0 for "
                f"{DEFAULT_INTERVAL_S}",
                reason="INVALID_LIMITS",
                path="interval_s",
            )
        interval_s = max(interval_s, self._config.min_interval_s)
        asked = await self._read(request, context, unlimited=request.unlimited)
        stopping = asyncio.Event()
        with self._named(CALLER.get(), request.analysis_id, stopping):
            async with contextlib.aclosing(self._analyze(asked, context, interval_s, stopping)) as results:
                async for result in results:
                    yield engine_pb2.AnalyzeResponse(
                        result=self._message(asked, result), is_final=bool(result.stop_reason)
                    )

    @answers_errors
    async def StopAnalysis(self, request, context):  # noqa: N802
        """End running analyses of this caller; see engine.proto."""
        if not request.analysis_id:
            raise NotationError(
                "analysis_id: is empty; expected the name of a running analysis",
                reason="MISSING_FIELD",
                path="analysis_id",
            )
        stops = self._analyses.get((CALLER.get(), request.analysis_id), ())
        for stop in stops:
            stop.set()
        return engine_pb2.StopAnalysisResponse(num_stopped=len(stops))

    @streams_errors
    async def EvaluateRecord(self, request, context):  # noqa: N802
        """Evaluate each turn of a game; see engine.proto."""
        if len(request.turns) > self._config.max_record_turns:
            raise NotationError(
                f"turns: has {len(request.turns)} entries; expected {self._config.max_record_turns} at most",
                reason="TOO_MANY_TURNS",
                path="turns",
            )
        indices = _turn_indices(request)
        for number, turn in enumerate(request.turns):
            wire.check_size(turn, f"turns[{number}]")
        seed = _seed(request)
        self._limits(request.limits, None)
        start = await self._lightly(context, wire.position_from_message, request.start, "start")
        weights = self._weights.get(start.game, request.weights)
        stop = Stop()
        loop = asyncio.get_running_loop()
        caller = CALLER.get()

        pending: set[Future[Result]] = set()

        def search(position, limits, *, seed, candidates=DEFAULT_CANDIDATES, stop=stop):
            # Each search takes a slot of its own, so that a long record does not keep others out.
            asked = _Asked(position, request.limits, seed, candidates, levels.HIGHEST, weights)
            found = asyncio.run_coroutine_threadsafe(
                self._search_patiently(asked, context, stop, caller), loop
            )
            pending.add(found)
            try:
                return found.result()
            finally:
                pending.discard(found)

        def begin():
            record = wire.record_of(start, request.turns)
            evaluations = evaluate_record(
                record,
                time_s=self._config.default_time_s,  # the search above has its own limits
                seed=seed,
                stop=stop,
                turns=indices,
                search=search,
            )
            return evaluations, sum(index in indices for index in seat_turns(record))

        try:
            evaluations, number = await self._submit(self._records, begin)
            for _ in range(number):
                evaluation = await self._submit(self._records, next, evaluations, None)
                if evaluation is None:  # a search was stopped: the server is shutting down
                    raise shutting_down()
                yield wire.evaluation_to_message(evaluation)
        except MexicaAIError as error:
            error.path = error.path.removeprefix("$.")  # paths in the record are also paths in the request
            raise
        finally:
            stop.set()
            for found in tuple(pending):
                found.cancel()

    async def _best_turn(self, asked: _Asked, context) -> engine_pb2.SearchResult:
        if asked.is_forced:
            result = await self._search_once(asked, context)
        else:
            result = await self._search_in_slot(asked, context, Stop(), CALLER.get())
        return self._message(asked, result)

    async def _search_once(self, asked: _Asked, context) -> Result:
        """Search for one iteration, which needs no slot."""
        search = functools.partial(
            run_search,
            asked.position,
            replace(self._limits(asked.limits, None), iterations=1),
            seed=asked.seed,
            candidates=asked.num_candidates,
            level=asked.level,
            weights=asked.weights,
        )
        return await self._in_place(self._single_places, self._single_workers, context, search)

    async def _search_patiently(
        self, asked: _Asked, context, stop: Stop, caller: str
    ) -> Result:
        """Search in a slot, and retry if the queue is full; for one of the many searches of a long call."""
        due = time.monotonic() + PATIENCE_S
        while True:
            try:
                return await self._search_in_slot(asked, context, stop, caller, due)
            except BusyError as error:
                remaining_s = context.time_remaining()
                is_over = remaining_s is not None and remaining_s < error.retry_s + MIN_SEARCH_S
                if self._is_closed or is_over:
                    raise
                await asyncio.sleep(min(max(error.retry_s, MIN_SEARCH_S), RECORD_RETRY_S))

    async def _search_in_slot(
        self, asked: _Asked, context, stop: Stop, caller: str, due: float = float("inf")
    ) -> Result:
        """Wait for a slot, search in it, and return the result."""
        ticket = await self._take_slot(asked, context, caller, due)
        # Only now, so that the time spent waiting is subtracted.
        limits = self._limits_in_slot(asked, context, ticket)
        search = self._start(ticket, context, stop, limits, self._run, asked, limits, stop)
        try:
            # Shielded: a thread cannot be cancelled, and its end must still be handled.
            result = await asyncio.shield(search)
        except asyncio.CancelledError:
            stop.set()
            self.metrics.cancelled()
            raise
        return result

    async def _analyze(
        self, asked: _Asked, context, interval_s: float, stopping: asyncio.Event
    ) -> AsyncIterator[Result]:
        """Search in a slot, and yield intermediate results; the last one has a stop reason."""
        if asked.is_forced:
            yield await self._search_once(asked, context)
            return
        ticket = await self._take_slot_unless(stopping, asked, context)
        if ticket is None:
            yield replace(await self._search_once(asked, context), stop_reason="stopped")
            return
        limits = self._limits_in_slot(asked, context, ticket)
        loop = asyncio.get_running_loop()
        stop = Stop()
        # Only the newest result is kept for a slow reader.
        newest: list[Result] = []
        news = asyncio.Event()

        def tell(result):
            newest[:] = [result]
            news.set()

        def watch():
            found = self._watch(
                asked.position,
                limits,
                seed=asked.seed,
                candidates=asked.num_candidates,
                level=asked.level,
                weights=asked.weights,
                interval_s=interval_s,
                stop=stop,
            )
            for result in found:
                loop.call_soon_threadsafe(tell, result)
            return result

        search = self._start(ticket, context, stop, limits, watch)
        search.add_done_callback(lambda _: news.set())
        helpers = [asyncio.ensure_future(self._pass_on(stopping, stop))]
        if asked.unlimited:
            helpers.append(asyncio.ensure_future(self._make_way(stop)))
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
                stop.set()
                self.metrics.cancelled()
            for helper in helpers:
                helper.cancel()

    async def _take_slot_unless(self, stopping: asyncio.Event, asked: _Asked, context) -> Ticket | None:
        """Wait for a slot; return None if the caller stops the analysis before there is one."""
        taking = asyncio.ensure_future(self._take_slot(asked, context, CALLER.get()))
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

    async def _pass_on(self, stopping: asyncio.Event, stop: Stop) -> None:
        await stopping.wait()
        stop.set()

    async def _make_way(self, stop: Stop) -> None:
        """Stop an unlimited search once it is past the cap and another call waits."""
        await asyncio.sleep(self._config.max_time_s)
        while not self._slots.num_waiting:
            await asyncio.sleep(YIELD_POLL_S)
        stop.set()

    def _run(self, asked: _Asked, limits: Limits, stop: Stop) -> Result:
        return self._search(
            asked.position,
            limits,
            seed=asked.seed,
            candidates=asked.num_candidates,
            level=asked.level,
            weights=asked.weights,
            stop=stop,
        )

    async def _read(self, request, context, unlimited: bool = False) -> _Asked:
        """Read the fields that two requests share; the position last, and only if the call is accepted."""
        seed = _seed(request)
        level = request.level or levels.HIGHEST
        levels.check(level)
        expected_s = self._expected_s(request.limits, level, unlimited)
        with self._noting_rejections():
            try:
                self._slots.check(CALLER.get(), expected_s, self._deadline(context))
            except BusyError:
                if not self._is_seen_forced(request.position):
                    raise
        position, is_forced = await self._lightly(context, _read_position, request.position)
        weights = self._weights.get(position.game, request.weights)
        num_candidates = min(request.num_candidates or DEFAULT_CANDIDATES, self._config.max_candidates)
        return _Asked(position, request.limits, seed, num_candidates, level, weights, unlimited, is_forced)

    def _is_seen_forced(self, message: engine_pb2.Position) -> bool:
        """Return whether the position of a rejected call has only one legal turn, which needs no slot.

        Only a few positions per second are checked, so that many rejected calls cost little. Callers that
        retry still get a forced turn soon.
        """
        now = time.monotonic()
        if self._is_closed or now < self._next_forced_check or message.ByteSize() > SMALL_BYTES:
            return False
        self._next_forced_check = now + FORCED_CHECK_S
        with contextlib.suppress(MexicaAIError):
            return _read_position(message)[1]
        return False

    async def _take_slot(
        self, asked: _Asked, context, caller: str, due: float = float("inf")
    ) -> Ticket:
        begin = time.monotonic()
        expected_s = self._expected_s(asked.limits, asked.level, asked.unlimited)
        try:
            with self._noting_rejections():
                return await self._slots.take(caller, expected_s, self._deadline(context), due)
        except asyncio.CancelledError:
            self.metrics.cancelled()
            raise
        finally:
            self.metrics.queue_wait(time.monotonic() - begin)

    @contextlib.contextmanager
    def _noting_rejections(self):
        try:
            yield
        except SearchError as error:
            self.metrics.rejected(error.reason)
            raise

    def _deadline(self, context) -> float | None:
        """Return the monotonic time at which a search of this call must end, None without a deadline."""
        remaining_s = context.time_remaining()
        if remaining_s is None:
            return None
        return time.monotonic() + remaining_s - self._margin.of(remaining_s)

    def _expected_s(self, asked: engine_pb2.Limits, level: int, unlimited: bool) -> float:
        """Return the longest expected time of a search, which decides whether other calls can wait for it."""
        limits = levels.limits_of(level, self._limits(asked, None))
        if unlimited and not asked.time_s:
            return self._config.max_time_s  # later it ends if another call waits
        if limits.iterations is None:
            return limits.time_s
        return min(limits.time_s, DURATION_FACTOR * limits.iterations / self._iterations_per_s)

    def _limits_in_slot(self, asked: _Asked, context, ticket: Ticket) -> Limits:
        try:
            return self._limits(asked.limits, context.time_remaining(), asked.unlimited)
        except BaseException:
            self._slots.give_back(ticket)
            raise

    def _limits(
        self, asked: engine_pb2.Limits, remaining_s: float | None, unlimited: bool = False
    ) -> Limits:
        """Return the limits of a search that starts now: those of the request, capped."""
        config = self._config
        max_time_s = float("inf") if unlimited else config.max_time_s
        if remaining_s is not None:
            max_time_s = min(max_time_s, remaining_s - self._margin.of(remaining_s))
            if max_time_s <= 0:
                raise BusyError(
                    "the deadline leaves no time to search", reason="NO_TIME_LEFT", retry_s=MIN_SEARCH_S
                )
        default_time_s = max_time_s if asked.iterations or unlimited else config.default_time_s
        time_s = asked.time_s or default_time_s
        # Check before the caps: they would hide a negative time or NaN.
        if asked.time_s:
            Limits(time_s=time_s)
        time_s = min(time_s, max_time_s)
        return Limits(
            time_s=None if time_s == float("inf") else time_s,
            iterations=min(asked.iterations, config.max_iterations) or None,
            memory_mb=min(asked.memory_mb or self._memory_mb, self._memory_mb),
            threads=min(asked.threads or config.threads, config.threads),
            unlimited=unlimited,
        )

    def _start(
        self, ticket: Ticket, context, stop: Stop, limits: Limits, run: Callable[..., Result], *args: Any
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
                result = run(*args)
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
        self._searches[search] = stop
        self.metrics.search_started()
        due = time.monotonic() + (limits.time_s or 0.0)
        iterations, left_s = 0, None

        def note_answer(_):
            nonlocal iterations, left_s
            left_s = context.time_remaining()
            # Reading the exception marks it as retrieved, even if the caller is gone and nothing awaits it.
            if not answer.exception():
                iterations = answer.result().iterations
                self._note_result(answer.result(), time.monotonic() - due)

        def note_end(_):
            del self._searches[search]
            self._slots.give_back(ticket)
            self.metrics.search_ended(iterations, left_s)

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

    def _message(self, asked: _Asked, result: Result) -> engine_pb2.SearchResult:
        return wire.result_to_message(
            result,
            engine_version=self._engine_version,
            rules_version=registry.get(asked.position.game).game.rules_version,
        )

    @contextlib.contextmanager
    def _named(self, caller: str, name: str, stop: asyncio.Event):
        if not name:
            yield
            return
        stops = self._analyses.setdefault((caller, name), set())
        stops.add(stop)
        try:
            yield
        finally:
            stops.discard(stop)
            if not stops:
                self._analyses.pop((caller, name), None)

    # --- light calls

    @answers_errors
    async def NewGame(self, request, context):  # noqa: N802
        """Deal a new game; see engine.proto."""
        return await self._lightly(context, deal, request)

    @answers_errors
    async def ApplyTurn(self, request, context):  # noqa: N802
        """Play a turn; see engine.proto."""
        return await self._lightly(context, apply_turn, request, is_quick=not _is_view(request.position))

    @answers_errors
    async def LegalActions(self, request, context):  # noqa: N802
        """List legal actions; see engine.proto."""
        is_quick = not (request.actions and _is_view(request.position))
        return await self._lightly(context, legal_actions, request, is_quick=is_quick)

    @answers_errors
    async def ValidatePosition(self, request, context):  # noqa: N802
        """List the faults of a position; see engine.proto."""
        return await self._lightly(context, validate_position, request)

    @answers_errors
    async def ConsiderRemoval(self, request, context):  # noqa: N802
        """Answer whether the engine agrees to remove tokens; see engine.proto."""
        return await self._in_light_worker(context, consider_tokens, request)

    @answers_errors
    async def ListGames(self, request, context):  # noqa: N802
        """List the games; see engine.proto."""
        games = (registry.get(name).game for name in registry.names() if name in wire.CARRIED)
        return engine_pb2.ListGamesResponse(
            games=[
                engine_pb2.ListGamesResponse.GameInfo(
                    name=game.name,
                    rules_version=game.rules_version,
                    min_players=2,
                    max_players=game.max_players,
                )
                for game in games
            ]
        )

    @answers_errors
    async def GetEngineInfo(self, request, context):  # noqa: N802
        """Describe the engine; see engine.proto."""
        config = self._config
        answer = engine_pb2.GetEngineInfoResponse(
            engine_version=self._engine_version,
            default_time_s=config.default_time_s,
            lowest_level=min(levels.LEVELS),
            highest_level=levels.HIGHEST,
            slots=config.slots,
            caps=engine_pb2.GetEngineInfoResponse.Caps(
                time_s=config.max_time_s,
                iterations=config.max_iterations,
                memory_mb=self._memory_mb,
                threads=config.threads,
                candidates=config.max_candidates,
                record_turns=config.max_record_turns,
                request_bytes=MAX_REQUEST_BYTES,
            ),
        )
        for name, weights in self._weights:
            answer.weights.add(
                game=weights.game, version=weights.version, sha256=weights.sha256, name=name
            )
        return answer

    async def _lightly(
        self, context, function: Callable, request: Any, *args: Any, is_quick: bool = True
    ) -> Any:
        """Return `function(request, *args)`; small requests are answered here, others in a light worker.

        If `is_quick` is false, always use a worker. For a typical position, switching to a worker and back
        costs more than the work itself, above all while all cores search.
        """
        if is_quick and request.ByteSize() <= SMALL_BYTES:
            return function(request, *args)
        return await self._in_light_worker(context, function, request, *args)

    async def _in_light_worker(self, context, function: Callable, *args: Any) -> Any:
        return await self._in_place(self._light_places, self._light, context, function, *args)

    async def _in_place(
        self, places: LightPlaces, pool: ThreadPoolExecutor, context, function: Callable, *args: Any
    ) -> Any:
        with self._noting_rejections():
            # The connection identifies callers without a name.
            await places.take(CALLER.get() or context.peer())
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
        try:
            return asyncio.get_running_loop().run_in_executor(pool, function, *args)
        except RuntimeError as error:
            if self._is_closed:
                raise shutting_down() from None
            raise BusyError(
                f"the machine has no threads left ({error})", reason="NO_THREADS", retry_s=NO_THREADS_RETRY_S
            ) from None

    # --- the end

    def stop_searches(self) -> None:
        """Stop all running searches; they answer the best so far."""
        for stop in self._searches.values():
            stop.set()

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


def _seed(request) -> int:
    return resolve_seed(request.seed if request.HasField("seed") else None)


def _read_position(message: engine_pb2.Position) -> tuple[Position, bool]:
    """Return a position in which a seat is to move, and whether it has only one turn."""
    position = wire.position_from_message(message)
    if position.is_over:
        raise GameOverError(
            "the game is over; expected a position in which a seat is to move", path="position"
        )
    return position, _is_forced(position)


def _is_forced(position: Position) -> bool:
    """Whether only one turn is legal."""
    state = position.state.copy()
    seat, started = state.current_player, state.turn
    while not state.is_terminal and state.current_player == seat and state.turn == started:
        actions = state.legal_actions()  # of the state, since spelling a thousand actions takes milliseconds
        if len(actions) != 1:
            return False
        state.apply(actions[0])
    return True


def _is_view(message: engine_pb2.Position) -> bool:
    """Whether a position is what one seat sees: there another seat's action is tried with many hands."""
    game = message.WhichOneof("game")
    position = message if game is None else getattr(message, game)
    return "viewer" in position.DESCRIPTOR.fields_by_name and position.HasField("viewer")


def _turn_indices(request) -> range:
    """Return the indices of the turns that an EvaluateRecordRequest asks for."""
    number, first = len(request.turns), request.first_turn
    last = first + request.num_turns if request.num_turns else number
    for name, end in (("first_turn", first), ("num_turns", last)):
        if end > number:
            raise NotationError(
                f"{name}: asks for turns up to {end}; expected {number} at most, as many as there are",
                reason="OUT_OF_RANGE",
                path=name,
            )
    return range(first, last)


def deal(request) -> engine_pb2.NewGameResponse:
    wire.check_size(request)
    game = request.WhichOneof("game")
    if game is None:
        known = ", ".join(name for name in registry.names() if name in wire.CARRIED)
        raise NotationError(
            f"game: is missing; expected the options of one of {known}", reason="MISSING_GAME", path="game"
        )
    options = {
        field.name: list(value) if field.is_repeated else value
        for field, value in getattr(request, game).ListFields()
    }
    seed = _seed(request)
    position = new_game(game, players=request.players or 2, seed=seed, **options)
    return engine_pb2.NewGameResponse(
        position=wire.position_to_message(position, hides=True),
        full_position=wire.position_to_message(position),
        seed=seed,
    )


def apply_turn(request) -> engine_pb2.ApplyTurnResponse:
    wire.check_size(request)
    seed = _seed(request)
    position = wire.position_from_message(request.position)
    before = position.scores
    if request.turn.actions or not (request.draw_events and position.is_chance):
        position.push(list(request.turn.actions))
    events = []
    while request.draw_events and position.is_chance:
        # Seeds of their own: events alike shall not come alike.
        events.append(engine_pb2.Turn(actions=position.draw((seed + len(events)) & MAX_INT64)))
    to_move = position.to_move
    sees = to_move is not None and position.viewer in (None, to_move)
    scored = [after - before for after, before in zip(position.scores, before, strict=True)]
    return engine_pb2.ApplyTurnResponse(
        position=wire.position_to_message(position),
        **wire.points_to_message("scores", position.scores),
        **wire.points_to_message("scored", scored),
        is_over=position.is_over,
        to_move=to_move,
        winners=position.winners,
        events=events,
        seed=seed if events else None,
        view=wire.position_to_message(position, hides=True) if sees else None,
    )


def legal_actions(request) -> engine_pb2.LegalActionsResponse:
    wire.check_size(request)
    position = wire.position_from_message(request.position)
    for index, action in enumerate(request.actions):
        try:
            position.push_action(action)
        except MexicaAIError as error:
            error.path = f"actions[{index}]"
            raise
    return engine_pb2.LegalActionsResponse(actions=position.legal_actions(), to_move=position.to_move)


def validate_position(request) -> engine_pb2.ValidatePositionResponse:
    answer = engine_pb2.ValidatePositionResponse()
    try:
        wire.position_from_message(request.position)
    except MexicaAIError as error:
        found = error.violations or [(error.path, error.reason, str(error))]
        for path, reason, message in found:
            answer.violations.add(
                field=path, reason=reason, description=message.removeprefix(f"{path}: ")
            )
    return answer


def consider_tokens(request) -> engine_pb2.ConsiderRemovalResponse:
    wire.check_size(request)
    position = wire.position_from_message(request.position)
    found = consider_removal(position, list(request.sizes))
    answer = engine_pb2.ConsiderRemovalResponse(agrees=found.agrees)
    for token in found.tokens:
        answer.opinions.add(
            size=token.size,
            agrees=token.agrees,
            reason=token.reason,
            explanation=token.explanation,
            spaces=token.spaces,
            canals=token.canals,
        )
    return answer

