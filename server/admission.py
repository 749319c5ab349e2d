"""Which searches are admitted, and with how much time: limits, expected times, and the wait for a slot."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable
from dataclasses import replace

from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.margin import Margin
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.stopping import Stop
from mexica_ai.io.errors import SearchError
from mexica_ai.server import handlers, tracing
from mexica_ai.server.calls import Call, Question
from mexica_ai.server.config import MAX_ITERATIONS, ServerConfig
from mexica_ai.server.metrics import Metrics
from mexica_ai.server.rejections import least_left_s
from mexica_ai.server.slots import (
    MIN_SEARCH_S,
    MOVE_S,
    PATIENCE_S,
    BusyError,
    MovedError,
    SearchSlots,
    Ticket,
    loop_time,
)

# The expected time of a search with a limit of iterations: from the speed of earlier searches, times a factor.
FIRST_RATE = 5000.0
RATE_STEP = 0.1
ENOUGH_ITERATIONS = 100
DURATION_FACTOR = 3.0


class DeadlineTooShortError(SearchError):
    """The caller waits for less time than any search takes. `shortest_s` is the shortest deadline that works."""

    def __init__(self, given_s: float, shortest_s: float) -> None:
        super().__init__(
            f"the deadline leaves {max(0.0, given_s):.3f} s here, too little for any search; expected a deadline of "
            f"{shortest_s:.3f} s or more, and the time for the way to the server",
            reason="DEADLINE_TOO_SHORT",
        )
        self.shortest_s = shortest_s


class Admission:
    """Admits the searches of one server; its coroutines run in one event loop.

    Attributes
    ----------
    slots : SearchSlots
    memory_mb : int
        The most that one search may use, in MiB.
    """

    def __init__(self, config: ServerConfig, metrics: Metrics) -> None:
        self._config = config
        self._metrics = metrics
        self._margin = Margin(config.deadline_margin_s, loop_time)
        self.slots = SearchSlots(
            config.slots,
            config.max_waiting,
            config.max_waiting_per_caller,
            config.max_slots_per_caller,
            config.default_time_s,
        )
        # Each search gets its share of the total, so that all of them together never need more.
        self.memory_mb = min(config.memory_mb, config.total_memory_mb // config.slots)
        self._iterations_per_s = FIRST_RATE  # of one search; a mean of those before

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
            `time_s` is out of range; reason INVALID_LIMITS.
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
        if iterations or config.max_iterations < MAX_ITERATIONS:
            iterations = min(iterations or config.max_iterations, config.max_iterations)
        return Limits(
            time_s=time_s,
            iterations=iterations or None,
            memory_mb=min(memory_mb or self.memory_mb, self.memory_mb),
            threads=min(threads or config.threads, config.threads),
            unlimited=unlimited,
        )

    def check(self, call: Call, settings: SearchSettings, is_spared: Callable[[], bool] = lambda: False) -> None:
        """Raise the BusyError of a search that would be rejected, before its position is read.

        Does nothing while a slot is free: then there is time to read the request, which may need no slot. Of a search
        that would be rejected, `is_spared` says whether it needs none.
        """
        with self._metrics.noting_rejections():
            try:
                self._check(call, settings)
            except (BusyError, DeadlineTooShortError):
                if not is_spared():
                    raise

    def _check(self, call: Call, settings: SearchSettings) -> None:
        if self._moves(call):
            self._check_deadline(call)
            raise MovedError
        try:
            self.slots.check(call.caller, self.expected_s(settings.level_limits), self._search_by(call))
        except BusyError:
            self._check_deadline(call)
            raise

    def _moves(self, call: Call) -> bool:
        """Return whether a call is sent to another server: its client has attempts and time left for that."""
        left_s = call.remaining_s()
        return (
            call.retries
            and call.attempts < self._config.max_moves
            and self.slots.would_wait(call.caller)
            and (left_s is None or left_s > least_left_s(MOVE_S))
        )

    def _check_deadline(self, call: Call) -> None:
        """Raise DeadlineTooShortError if no search ends in time, whatever else the server does."""
        least_s = self._config.deadline_margin_s + MIN_SEARCH_S
        if call.allowed_s is not None and call.allowed_s < least_s:
            # What is counted of a deadline (`handlers.ROUNDING`), in milliseconds.
            shortest_s = math.ceil(1000 * least_s / (1 - handlers.ROUNDING)) / 1000
            raise DeadlineTooShortError(call.allowed_s, shortest_s)

    def expected_s(self, limits: Limits) -> float:
        """Return the longest expected time of a search, which decides whether other calls can wait for it."""
        time_s = self._config.max_time_s  # later an unlimited search ends if another call waits
        if limits.time_s is not None:
            time_s = min(time_s, limits.time_s)
        if limits.iterations is None:
            return time_s
        return min(time_s, DURATION_FACTOR * limits.iterations / self._iterations_per_s)

    def _search_by(self, call: Call) -> float | None:
        """Return when a search of this call must end, None without a deadline."""
        if call.deadline is None:
            return None
        return call.deadline - self._margin.of(call.deadline - loop_time())

    async def take_slot(self, question: Question, call: Call, stop: Stop, since: float | None = None) -> Ticket:
        """Wait for a slot; see `SearchSlots.take`.

        Parameters
        ----------
        question : Question
        call : Call
        stop : Stop
            Is set for a search without limits if another call waits.
        since : float, optional
            When a search that tries again has begun to wait. That it finds no place is no rejection of its call.
        """
        try:
            return await self._take_slot(question, call, stop, since)
        except asyncio.CancelledError:
            self._metrics.cancelled()
            raise

    async def _take_slot(self, question: Question, call: Call, stop: Stop, since: float | None = None) -> Ticket:
        begin = loop_time() if since is None else since
        due = math.inf if since is None else since + PATIENCE_S
        expected_s = self.expected_s(question.settings.level_limits)
        end = stop.set if question.settings.limits.unlimited else None
        has_ended = True
        try:
            with tracing.span("queue"):
                with self._metrics.noting_rejections():
                    self._check_deadline(call)
                with self._counting(since):
                    return await self.slots.take(call.caller, expected_s, self._search_by(call), due, end)
        except BusyError:
            has_ended = since is None  # else it tries again
            raise
        finally:
            if has_ended:
                self._metrics.queue_wait(loop_time() - begin)

    def _counting(self, since: float | None) -> contextlib.AbstractContextManager[None]:
        """Return a context that counts a rejection, if a search does not try again; `since` as for `take_slot`."""
        return self._metrics.noting_rejections() if since is None else contextlib.nullcontext()

    async def take_slot_unless(
        self, stopping: asyncio.Event, question: Question, call: Call, stop: Stop
    ) -> Ticket | None:
        """Wait for a slot; return None if the caller stops the analysis before there is one."""
        taking = asyncio.ensure_future(self._take_slot(question, call, stop))
        asked_to_stop = asyncio.ensure_future(stopping.wait())
        try:
            await asyncio.wait([taking, asked_to_stop], return_when=asyncio.FIRST_COMPLETED)
            return await taking if taking.done() else None
        except asyncio.CancelledError:
            self._metrics.cancelled()
            if taking.done() and not taking.cancelled() and taking.exception() is None:
                self.slots.give_back(taking.result())
            raise
        finally:
            taking.cancel()
            asked_to_stop.cancel()

    def settings_in_slot(self, question: Question, ticket: Ticket, since: float | None = None) -> SearchSettings:
        """Return the settings of a search that starts now; only here, so that the time spent waiting counts.

        `since` as for `take_slot`.
        """
        settings = question.settings
        if ticket.deadline is None:
            return settings
        left_s = ticket.deadline - loop_time()
        if left_s <= 0:
            self.slots.give_back(ticket)
            with self._counting(since):
                raise BusyError("the deadline leaves no time to search", reason="NO_TIME_LEFT", retry_s=MIN_SEARCH_S)
        time_s = settings.limits.time_s
        limits = replace(settings.limits, time_s=left_s if time_s is None else min(time_s, left_s))
        return replace(settings, limits=limits)

    def note_result(self, result: Result, late_s: float) -> None:
        """Learn from a result how fast searches are, and how late."""
        if result.iterations >= ENOUGH_ITERATIONS and result.seconds > 0:
            self._iterations_per_s += RATE_STEP * (result.iterations / result.seconds - self._iterations_per_s)
        if result.stop_reason == "time":
            self._margin.note(late_s)
