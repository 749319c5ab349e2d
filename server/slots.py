"""Search slots: a fixed number of searches at the same time, and a bounded queue for the others.

The queue is ordered by deadline. A call without a deadline, or a series of searches, counts as due in
`PATIENCE_S`; else calls with short deadlines could keep it out for ever. Callers with fewer running searches
come first, so that one caller's many calls do not keep out another's only call. A call is accepted only if it
and all waiting calls can start early enough for their searches. Others are rejected at once, with the time
after which a retry makes sense. Otherwise an overloaded server would start every search at the last moment
and answer many of them too late.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections import Counter
from dataclasses import dataclass, field

from mexica_ai.errors import SearchError

MIN_SEARCH_S = 0.01  # shortest time worth a search
PATIENCE_S = 10.0  # a call without a deadline counts as due after this time


class BusyError(SearchError):
    """No slot for this call. `retry_s` is the number of seconds after which a retry makes sense."""

    def __init__(self, problem: str, *, reason: str, retry_s: float) -> None:
        super().__init__(f"{problem}; expected a retry after {retry_s:.1f} s", reason=reason)
        self.retry_s = retry_s


@dataclass(eq=False)
class Ticket:
    """A search that runs or waits. Times are on the monotonic clock; `due` orders the queue."""

    caller: str
    deadline: float | None
    budget_s: float
    due: float
    number: int = 0
    start_by: float = float("inf")
    ends_at: float = 0.0
    granted: asyncio.Future | None = field(default=None, repr=False)


class SearchSlots:
    """The slots of one server; all methods run in one event loop.

    Parameters
    ----------
    slots : int
        Number of searches at the same time.
    max_waiting, max_waiting_per_caller : int
        Number of calls that may wait for a slot, of all callers and of each caller with a name.
    """

    def __init__(self, slots: int, max_waiting: int, max_waiting_per_caller: int) -> None:
        self._slots = slots
        self._max_waiting = max_waiting
        self._max_waiting_per_caller = max_waiting_per_caller
        self._running: set[Ticket] = set()
        self._waiting: set[Ticket] = set()
        self._numbers = itertools.count()
        self._is_closed = False

    @property
    def num_waiting(self) -> int:
        """Number of waiting calls."""
        return len(self._waiting)

    async def take(
        self, caller: str, budget_s: float, deadline: float | None, due: float = float("inf")
    ) -> Ticket:
        """Wait for a slot, at most until no time would be left to search.

        Parameters
        ----------
        caller : str
        budget_s : float
            Longest time of the search, in seconds.
        deadline : float, optional
            Monotonic time at which the search must end.
        due : float, optional
            Monotonic time by which the queue orders the call, if earlier than the deadline, or than
            `PATIENCE_S` from now if there is no deadline.

        Returns
        -------
        Ticket
            The caller frees it with `give_back`.

        Raises
        ------
        BusyError
            Reason TOO_MANY_WAITING, NO_TIME_LEFT or SHUTTING_DOWN.
        """
        ticket = self._ticket(caller, budget_s, deadline, due)
        if len(self._running) < self._slots:
            return self._start(ticket)
        now = time.monotonic()
        ticket.granted = asyncio.get_running_loop().create_future()
        self._waiting.add(ticket)
        try:
            async with asyncio.timeout(None if deadline is None else self._give_up_at(ticket) - now):
                await ticket.granted
        except TimeoutError:
            if not _was_granted(ticket):
                raise BusyError(
                    "no search slot became free before the deadline",
                    reason="NO_TIME_LEFT",
                    retry_s=self._wait_s(ticket),
                ) from None
        except BaseException:
            if _was_granted(ticket):
                self.give_back(ticket)
            raise
        finally:
            self._waiting.discard(ticket)
        return ticket

    def check(self, caller: str, budget_s: float, deadline: float | None) -> None:
        """If no slot is free, raise the error that `take` would raise at once, before the request is read.

        Does nothing while a slot is free: then there is time to read the request, which may need no slot.
        """
        if self._is_closed or len(self._running) >= self._slots:
            self._ticket(caller, budget_s, deadline)

    def _ticket(
        self, caller: str, budget_s: float, deadline: float | None, due: float = float("inf")
    ) -> Ticket:
        """Return the ticket of an accepted call."""
        now = time.monotonic()
        due = min(due, now + PATIENCE_S if deadline is None else deadline)
        ticket = Ticket(caller, deadline, budget_s, due, next(self._numbers))
        if deadline is not None:
            # Leave the whole budget, or half of the time left if that is shorter.
            ticket.start_by = deadline - min(budget_s, (deadline - now) / 2)
        if self._is_closed:
            raise shutting_down()
        if deadline is not None and deadline - now < MIN_SEARCH_S:
            raise BusyError(
                "the deadline leaves no time to search", reason="NO_TIME_LEFT", retry_s=MIN_SEARCH_S
            )
        if len(self._running) >= self._slots:
            self._check_queue(ticket, now)
        return ticket

    @staticmethod
    def _give_up_at(ticket: Ticket) -> float:
        # When half of its search time is gone; a later rejection would not arrive in time.
        return max(ticket.start_by, (ticket.start_by + ticket.deadline) / 2 - MIN_SEARCH_S)

    def give_back(self, ticket: Ticket) -> None:
        """Free a slot for the next call."""
        self._running.discard(ticket)
        while self._waiting and len(self._running) < self._slots:
            running = Counter(other.caller for other in self._running)
            best = min(self._waiting, key=lambda other: (running[other.caller], *_order(other)))
            self._waiting.discard(best)
            if not best.granted.done():
                best.granted.set_result(self._start(best))

    def close(self) -> None:
        """Reject all waiting and all later calls."""
        self._is_closed = True
        for ticket in self._waiting:
            if not ticket.granted.done():
                ticket.granted.set_exception(shutting_down())
        self._waiting.clear()

    def _start(self, ticket: Ticket) -> Ticket:
        now = time.monotonic()
        ticket.ends_at = now + ticket.budget_s
        if ticket.deadline is not None:
            ticket.ends_at = min(ticket.ends_at, ticket.deadline)
        self._running.add(ticket)
        return ticket

    def _check_queue(self, ticket: Ticket, now: float) -> None:
        starts = self._starts(ticket)
        wait_s = max(0.0, dict(starts)[ticket] - now)
        if len(self._waiting) >= self._max_waiting:
            raise BusyError(
                f"all {self._slots} search slots are taken and {len(self._waiting)} calls wait",
                reason="TOO_MANY_WAITING",
                retry_s=wait_s,
            )
        own = sum(other.caller == ticket.caller for other in self._waiting)
        if ticket.caller and own >= self._max_waiting_per_caller:
            raise BusyError(
                f"{own} calls of this caller already wait for a search slot",
                reason="TOO_MANY_WAITING",
                retry_s=wait_s,
            )
        if any(start > other.start_by for other, start in starts):
            raise BusyError(
                f"a search slot would become free in {wait_s:.1f} s, too late for this deadline or another "
                "call's",
                reason="NO_TIME_LEFT",
                retry_s=wait_s,
            )

    def _wait_s(self, ticket: Ticket) -> float:
        """Return the longest time that a ticket will wait, in seconds."""
        starts = dict(self._starts(ticket))
        return max(0.0, starts[ticket] - time.monotonic())

    def _starts(self, ticket: Ticket) -> list[tuple[Ticket, float]]:
        """Return the start times of this ticket and all waiting ones if all searches use their budgets."""
        now = time.monotonic()
        ends = [max(now, other.ends_at) for other in self._running]
        ends += [now] * (self._slots - len(ends))
        heapq.heapify(ends)
        starts = []
        for other in sorted({*self._waiting, ticket}, key=_order):
            starts.append((other, ends[0]))
            heapq.heapreplace(ends, ends[0] + other.budget_s)
        return starts


def _order(ticket: Ticket) -> tuple[float, int]:
    return (ticket.due, ticket.number)


def _was_granted(ticket: Ticket) -> bool:
    return ticket.granted.done() and not ticket.granted.cancelled() and ticket.granted.exception() is None


def shutting_down() -> BusyError:
    """Return the error for calls to a server that is shutting down."""
    return BusyError("the server is shutting down", reason="SHUTTING_DOWN", retry_s=1.0)
