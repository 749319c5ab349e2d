"""The servicer of `mexica_ai.v1.EngineService`: it translates, hands out search slots and keeps time.

The event loop only waits: positions are read and searches run in worker threads, where the search releases
the GIL and starts native threads of its own. A slot is taken before a search starts and given back when its
thread has ended, whether or not anybody still waits for the answer, so there are never more searches than
slots.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata

import grpc

from mexica_ai import registry, wire
from mexica_ai.errors import GameOverError, SearchError
from mexica_ai.limits import Limits, resolve_seed
from mexica_ai.position import Position
from mexica_ai.results import Result
from mexica_ai.search import DEFAULT_CANDIDATES, run_search
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.errors import answers_errors
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

SERVICE_NAME = engine_pb2.DESCRIPTOR.services_by_name["EngineService"].full_name


class EngineService(engine_pb2_grpc.EngineServiceServicer):
    """Answers calls; all methods run in one event loop.

    Parameters
    ----------
    config : ServerConfig
    search : callable
        What searches, in a worker thread; `mexica_ai.search.run_search`, or something of the same signature
        that watches it.
    """

    def __init__(self, config: ServerConfig, search: Callable[..., Result] = run_search) -> None:
        self._config = config
        self._search = search
        self._slots = asyncio.Semaphore(config.slots)
        self._workers = ThreadPoolExecutor(config.slots, thread_name_prefix="search")
        self._searches: dict[asyncio.Future, threading.Event] = {}  # running -> what stops it
        self._num_waiting = 0
        self._is_closing = False
        self._engine_version = metadata.version("mexica-ai")

    @answers_errors
    async def BestTurn(self, request, context):  # noqa: N802, the name is the service's
        """Search a position; see engine.proto."""
        seed = resolve_seed(request.seed if request.HasField("seed") else None)
        num_candidates = min(request.num_candidates or DEFAULT_CANDIDATES, self._config.max_candidates)
        self._limits(request.limits, None)  # refuses what makes no sense before anything is waited for
        position = await asyncio.to_thread(wire.position_from_message, request.position)
        if position.is_over:
            raise GameOverError(
                "the game is over; expected a position in which a seat is to move", path="position"
            )
        await self._take_slot(context)
        stop = threading.Event()
        try:
            # Only now, so that what was spent waiting is taken off.
            limits = self._limits(request.limits, context.time_remaining())
            search = self._start(position, limits, seed, num_candidates, stop)
        except BaseException:
            self._slots.release()
            raise
        try:
            # Shielded: a thread cannot be cancelled, and its end must still be noticed.
            return await asyncio.shield(search)
        except asyncio.CancelledError:
            stop.set()
            raise

    def stop_searches(self) -> None:
        """Stop all running searches; they answer the best so far."""
        for stop in self._searches.values():
            stop.set()

    async def close(self, grace_s: float) -> None:
        """Start no more searches, give the running ones `grace_s` seconds, stop them, await their ends."""
        self._is_closing = True
        if self._searches:
            await asyncio.wait(self._searches, timeout=grace_s)
        self.stop_searches()
        if self._searches:
            await asyncio.wait(self._searches)
        self._workers.shutdown()

    async def _take_slot(self, context: grpc.aio.ServicerContext) -> None:
        """Wait for a search slot, at most as long as the caller can wait."""
        if self._slots.locked() and self._num_waiting >= self._config.max_waiting:
            raise SearchError(
                f"all {self._config.slots} search slots are taken and {self._num_waiting} calls wait; "
                "expected a retry later",
                reason="TOO_MANY_WAITING",
            )
        remaining_s = context.time_remaining()
        self._num_waiting += 1
        try:
            async with asyncio.timeout(
                None if remaining_s is None else remaining_s - self._config.deadline_margin_s
            ):
                await self._slots.acquire()
        except TimeoutError:
            raise _no_time_left("no search slot became free before the deadline") from None
        finally:
            self._num_waiting -= 1
        if self._is_closing:
            self._slots.release()
            raise SearchError(
                "the server is shutting down; expected a retry elsewhere", reason="SHUTTING_DOWN"
            )

    def _limits(self, asked: engine_pb2.Limits, remaining_s: float | None) -> Limits:
        """Return the limits of a search that starts now: what was asked for, capped."""
        config = self._config
        max_time_s = config.max_time_s
        if remaining_s is not None:
            max_time_s = min(max_time_s, remaining_s - config.deadline_margin_s)
            if max_time_s <= 0:
                raise _no_time_left("the deadline leaves no time to search")
        default_time_s = max_time_s if asked.iterations else config.default_time_s
        # Limits refuses what is below 0 or not a number, so both have to get past the caps.
        time_s = asked.time_s or default_time_s
        Limits(time_s=time_s)
        return Limits(
            time_s=min(time_s, max_time_s),
            iterations=min(asked.iterations, config.max_iterations) or None,
            memory_mb=min(asked.memory_mb or config.memory_mb, config.memory_mb),
            threads=min(asked.threads or config.threads, config.threads),
        )

    def _start(
        self, position: Position, limits: Limits, seed: int, num_candidates: int, stop: threading.Event
    ) -> asyncio.Future[engine_pb2.BestTurnResponse]:
        """Search in a worker thread; the slot, already taken, is given back at the thread's end."""
        try:
            search = asyncio.get_running_loop().run_in_executor(
                self._workers, self._search_position, position, limits, seed, num_candidates, stop
            )
        except RuntimeError as error:
            stop.set()  # what could not be started is still queued, for the next worker that is free
            raise SearchError(f"{error}; expected a retry later", reason="NO_THREADS") from None
        self._searches[search] = stop
        search.add_done_callback(self._search_ended)
        return search

    def _search_position(
        self, position: Position, limits: Limits, seed: int, num_candidates: int, stop: threading.Event
    ) -> engine_pb2.BestTurnResponse:
        result = self._search(position, limits, seed=seed, candidates=num_candidates, stop=stop)
        rules_version = registry.get(position.game).game.rules_version
        return engine_pb2.BestTurnResponse(
            result=wire.result_to_message(
                result, engine_version=self._engine_version, rules_version=rules_version
            )
        )

    def _search_ended(self, search: asyncio.Future) -> None:
        del self._searches[search]
        self._slots.release()
        search.exception()  # counts as seen, even if the caller is gone and nobody awaits the search


def _no_time_left(problem: str) -> SearchError:
    return SearchError(f"{problem}; expected a later deadline, or a retry later", reason="NO_TIME_LEFT")
