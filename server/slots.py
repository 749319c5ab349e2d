"""Search slots: a fixed number of searches at the same time, and a bounded queue for the others.

Between callers the share of the slots counts, not how many calls each has or how short its deadlines are. A free
slot goes to the caller with the fewest running searches; among those, to the one that has used the slots least
while others waited. A caller may hold `max_per_caller` slots, even while nobody else waits.

Among the calls of one caller the earliest deadline comes first. A call without a deadline, or a series of
searches, counts as due in `PATIENCE_S`; else calls with short deadlines could keep it out for ever.

A call is accepted only if it can start early enough for its search, and if it keeps no other call of its caller
from that. Others are rejected at once, with the time after which a retry makes sense. Otherwise an overloaded
server would start every search at the last moment and answer many of them too late. Calls of other callers do not
count here: what they wait for is within the new caller's share.
"""

from __future__ import annotations

import asyncio
import bisect
import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from mexica_ai.io.errors import SearchError

MIN_SEARCH_S = 0.01  # shortest time worth a search
SHUTTING_DOWN = "SHUTTING_DOWN"
SLOTS_TAKEN = "SLOTS_TAKEN"
# How long gRPC waits before it sends a call to another server. With 0 its clients never send it (gRPC 1.85), and waits
# of 1 ms have hung others: https://github.com/grpc/grpc/issues/41036
MOVE_S = 0.01
PATIENCE_S = 10.0  # a call without a deadline counts as due after this time


def loop_time() -> float:
    """Return the time of the running event loop in seconds; of asyncio's own loops it is the monotonic clock."""
    return asyncio.get_running_loop().time()


class BusyError(SearchError):
    """No slot for this call. `retry_s` is the number of seconds after which a retry makes sense."""

    def __init__(self, problem: str, *, reason: str, retry_s: float, expected: str = "") -> None:
        super().__init__(f"{problem}; expected {expected or f'a retry after {retry_s:.1f} s'}", reason=reason)
        self.retry_s = retry_s


class MovedError(BusyError):
    """No slot is free now, and the client has other servers to ask, at once."""

    def __init__(self) -> None:
        problem, expected = "all search slots are taken now", "the same call at another server, at once"
        super().__init__(problem, reason=SLOTS_TAKEN, retry_s=MOVE_S, expected=expected)


def _future() -> asyncio.Future[Ticket]:
    return asyncio.get_running_loop().create_future()


@dataclass(eq=False)
class Ticket:
    """A search that runs or waits. Times are on the event loop's clock; `due` orders the calls of a caller.

    `end` is set for a search without a time of its own: it ends that search if others wait.
    """

    caller: str
    deadline: float | None
    budget_s: float
    due: float
    end: Callable[[], None] | None = field(default=None, repr=False)
    number: int = 0
    start_by: float = float("inf")
    started_at: float = 0.0
    ends_at: float = 0.0
    is_ending: bool = False
    granted: asyncio.Future[Ticket] = field(default_factory=_future, repr=False)


@dataclass(eq=False)
class _Caller:
    """The account of one caller: its running searches, its waiting calls in order, and the slot time it has used.

    `used_s` only compares callers: one that comes back starts with no less than the busy ones have.
    """

    used_s: float
    running: int = 0
    waiting: list[Ticket] = field(default_factory=list)

    @property
    def is_idle(self) -> bool:
        return not (self.running or self.waiting)


@dataclass(frozen=True)
class _Busy:
    """How long slots were taken until a time, and how many of them have been since; replaced as a whole."""

    until_s: float = 0.0
    since: float = 0.0
    number: int = 0
    loop: asyncio.AbstractEventLoop | None = None

    def seconds(self) -> float:
        return self.until_s + self.number * max(0.0, self.loop.time() - self.since) if self.loop else 0.0

    def then(self, number: int) -> _Busy:
        loop = asyncio.get_running_loop()
        return _Busy(self.seconds(), loop.time(), number, loop)


class SearchSlots:
    """The slots of one server; all methods run in one event loop.

    Parameters
    ----------
    slots : int
        Number of searches at the same time.
    max_waiting, max_waiting_per_caller : int
        Number of calls that may wait for a slot, of all callers and of each caller with a name.
    max_per_caller : int, optional
        Number of slots that one caller may hold; by default all.
    yield_s : float
        How long a search without a time of its own may run at least, before it ends for another caller's call.
    """

    def __init__(
        self,
        slots: int,
        max_waiting: int,
        max_waiting_per_caller: int,
        max_per_caller: int | None = None,
        yield_s: float = 0.0,
    ) -> None:
        self._slots = slots
        self._max_waiting = max_waiting
        self._max_waiting_per_caller = max_waiting_per_caller
        self._max_per_caller = max_per_caller or slots
        self._yield_s = yield_s
        self._running: set[Ticket] = set()
        self._callers: dict[str, _Caller] = {}
        self._num_waiting = 0
        self._served_s = 0.0  # least `used_s` of a busy caller; it only grows
        self._numbers = itertools.count()
        self._yield_timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        self._busy = _Busy()

    def busy_s(self) -> float:
        """Return for how many seconds slots have been taken, those of all slots together; from any thread."""
        return self._busy.seconds()

    @property
    def num_waiting(self) -> int:
        """Number of waiting calls."""
        return self._num_waiting

    async def take(
        self,
        caller: str,
        budget_s: float,
        deadline: float | None,
        due: float = float("inf"),
        end: Callable[[], None] | None = None,
    ) -> Ticket:
        """Wait for a slot, at most until no time would be left to search.

        Parameters
        ----------
        caller : str
        budget_s : float
            Longest time of the search, in seconds.
        deadline : float, optional
            Loop time at which the search must end.
        due : float, optional
            Loop time by which the queue orders the call, if earlier than the deadline, or than
            `PATIENCE_S` from now if there is no deadline.
        end : callable, optional
            Ends a search without a time of its own. It is called if another caller's call waits after
            `yield_s`, or one of the same caller after `budget_s`.

        Returns
        -------
        Ticket
            The caller frees it with `give_back`.

        Raises
        ------
        BusyError
            Reason TOO_MANY_WAITING, NO_TIME_LEFT or SHUTTING_DOWN.
        """
        ticket = self._ticket(caller, budget_s, deadline, due, end)
        account = self._account(caller)
        if self._is_free(account):
            self._callers[caller] = account
            return self._start(ticket, account)
        if self._num_waiting >= self._max_waiting:
            self._make_room(account)
        self._callers[caller] = account
        bisect.insort(account.waiting, ticket, key=_order)
        self._num_waiting += 1
        self._end_unlimited()
        try:
            async with asyncio.timeout_at(None if deadline is None else self._give_up_at(ticket.start_by, deadline)):
                await ticket.granted
        except TimeoutError:
            if not _was_granted(ticket):
                raise BusyError(
                    "no search slot became free before the deadline",
                    reason="NO_TIME_LEFT",
                    retry_s=self._load_s(),
                ) from None
        except BaseException:
            if _was_granted(ticket):
                self.give_back(ticket)
            raise
        finally:
            self._remove(ticket)
        return ticket

    def check(self, caller: str, budget_s: float, deadline: float | None) -> None:
        """If no slot is free, raise the error that `take` would raise at once, before the request is read.

        Does nothing while a slot is free: then there is time to read the request, which may need no slot.
        """
        if self._is_closed or self.would_wait(caller):
            self._ticket(caller, budget_s, deadline)

    def would_wait(self, caller: str) -> bool:
        """Return whether a call of this caller finds no slot free now."""
        return not (self._is_closed or self._is_free(self._account(caller)))

    def note_ending(self, ticket: Ticket) -> None:
        """Note that a search was answered or stopped: its slot will soon be free for the next call."""
        if ticket not in self._running:
            return
        now = loop_time()
        ticket.is_ending = True
        ticket.ends_at = min(ticket.ends_at, now)
        self._count(ticket, now)

    def give_back(self, ticket: Ticket) -> None:
        """Free a slot for the next call."""
        self._running.remove(ticket)
        self._busy = self._busy.then(len(self._running))
        self._count(ticket, loop_time())
        self._callers[ticket.caller].running -= 1
        while len(self._running) < self._slots and (best := self._next()) is not None:
            first = best.waiting.pop(0)
            self._num_waiting -= 1
            if not first.granted.done():
                first.granted.set_result(self._start(first, best))
        self._forget()
        self._end_unlimited()

    def _count(self, ticket: Ticket, now: float) -> None:
        """Count what a running search has really used, in the place of what it might use."""
        used_s = now - ticket.started_at
        self._callers[ticket.caller].used_s += used_s - ticket.budget_s
        ticket.budget_s = used_s

    def close(self) -> None:
        """Reject all waiting and all later calls."""
        self._is_closed = True
        for account in self._callers.values():
            for ticket in account.waiting:
                if not ticket.granted.done():
                    ticket.granted.set_exception(shutting_down())
            account.waiting.clear()
        self._num_waiting = 0

    def _account(self, caller: str) -> _Caller:
        """Return the account of a caller, a new one if nothing is known of it."""
        account = self._callers.get(caller) or _Caller(self._served_s)
        if account.is_idle:
            account.used_s = max(account.used_s, self._served_s)
        return account

    def _forget(self) -> None:
        """Drop the accounts of idle callers, of which nothing needs to be known."""
        if not self._running and not self._num_waiting:
            self._callers.clear()
            self._served_s = 0.0
            return
        for caller in [
            name for name, other in self._callers.items() if other.is_idle and other.used_s <= self._served_s
        ]:
            del self._callers[caller]

    def _is_free(self, account: _Caller) -> bool:
        return len(self._running) < self._slots and account.running < self._max_per_caller

    def _next(self) -> _Caller | None:
        """Return the caller whose call gets the next slot, None if none may have it."""
        able = (other for other in self._callers.values() if other.waiting and other.running < self._max_per_caller)
        return min(able, key=lambda other: (other.running, other.used_s, *_order(other.waiting[0])), default=None)

    def _ticket(
        self,
        caller: str,
        budget_s: float,
        deadline: float | None,
        due: float = float("inf"),
        end: Callable[[], None] | None = None,
    ) -> Ticket:
        """Return the ticket of an accepted call."""
        now = loop_time()
        due = min(due, now + PATIENCE_S if deadline is None else deadline)
        ticket = Ticket(caller, deadline, budget_s, due, end, next(self._numbers))
        if deadline is not None:
            # Leave the whole budget, or half of the time left if that is shorter.
            ticket.start_by = deadline - min(budget_s, (deadline - now) / 2)
        if self._is_closed:
            raise shutting_down()
        if deadline is not None and deadline - now < MIN_SEARCH_S:
            raise BusyError("the deadline leaves no time to search", reason="NO_TIME_LEFT", retry_s=MIN_SEARCH_S)
        account = self._account(caller)
        if not self._is_free(account):
            self._check_queue(ticket, account, now)
        return ticket

    @staticmethod
    def _give_up_at(start_by: float, deadline: float) -> float:
        # When half of its search time is gone; a later rejection would not arrive in time.
        return max(start_by, (start_by + deadline) / 2 - MIN_SEARCH_S)

    def _start(self, ticket: Ticket, account: _Caller) -> Ticket:
        now = loop_time()
        account.running += 1
        busy = (other.used_s for other in self._callers.values() if not other.is_idle)
        self._served_s = max(self._served_s, min(busy))
        account.used_s += ticket.budget_s  # `_count` corrects it
        ticket.started_at = now
        ticket.ends_at = now + ticket.budget_s
        if ticket.deadline is not None:
            ticket.ends_at = min(ticket.ends_at, ticket.deadline)
        self._running.add(ticket)
        self._busy = self._busy.then(len(self._running))
        return ticket

    def _remove(self, ticket: Ticket) -> None:
        """Remove a ticket from the queue, if it still waits there."""
        account = self._callers.get(ticket.caller)
        if account is not None and ticket in account.waiting:
            account.waiting.remove(ticket)
            self._num_waiting -= 1
            self._forget()

    # --- admission

    def _check_queue(self, ticket: Ticket, account: _Caller, now: float) -> None:
        own = len(account.waiting)
        if ticket.caller and own >= self._max_waiting_per_caller:
            raise BusyError(
                f"{own} calls of this caller already wait for a search slot",
                reason="TOO_MANY_WAITING",
                retry_s=self._load_s(),
            )
        if self._num_waiting >= self._max_waiting and self._most_waiting(account) is None:
            raise self._full()
        starts = self._starts(account, ticket, now)
        # Calls that come before the new one would be late without it, too.
        late = {other for other, start in starts.items() if _order(other) >= _order(ticket) and start > other.start_by}
        if late and ticket not in late:
            starts_without = self._starts(account, None, now)
            late = {other for other in late if starts_without[other] <= other.start_by}
        if late:
            wait_s = starts[ticket] - now
            raise BusyError(
                f"a search slot would become free in {wait_s:.1f} s, too late for this deadline or that of "
                "another call of this caller",
                reason="NO_TIME_LEFT",
                retry_s=wait_s,
            )

    def _most_waiting(self, account: _Caller) -> _Caller | None:
        """Return the caller with most waiting calls, if it has more than this one would have with one more."""
        most = max(self._callers.values(), key=lambda other: len(other.waiting), default=account)
        return most if len(most.waiting) > len(account.waiting) + 1 else None

    def _make_room(self, account: _Caller) -> None:
        """Reject the last call of the caller with most waiting calls."""
        most = self._most_waiting(account)
        if most is None:
            raise self._full()
        last = most.waiting.pop()
        self._num_waiting -= 1
        if not last.granted.done():
            last.granted.set_exception(self._full())

    def _full(self) -> BusyError:
        return BusyError(
            f"all {self._slots} search slots are taken and {self._max_waiting} calls wait",
            reason="TOO_MANY_WAITING",
            retry_s=self._load_s(),
        )

    def _load_s(self) -> float:
        """Return how long the slots have work, in seconds, if all searches use their budgets."""
        now = loop_time()
        work_s = sum(max(0.0, ticket.ends_at - now) for ticket in self._running)
        for account in self._callers.values():
            work_s += sum(ticket.budget_s for ticket in account.waiting)
        return work_s / self._slots

    def _starts(self, own: _Caller, ticket: Ticket | None, now: float) -> dict[Ticket, float]:
        """Return when the waiting calls of a caller, and this one, start if all searches use their budgets."""
        ends = [
            (max(now, self._end_of(other, own)), index, self._callers[other.caller])
            for index, other in enumerate(self._running)
        ]
        heapq.heapify(ends)
        queues: dict[_Caller, list[Ticket]] = {}
        shares: dict[_Caller, tuple[int, float]] = {}
        for account in {*self._callers.values(), own}:
            queues[account] = list(reversed(account.waiting))
            shares[account] = (account.running, account.used_s)
        if ticket is not None:
            queues[own] = sorted([*own.waiting, ticket], key=_order, reverse=True)
        starts: dict[Ticket, float] = {}
        moment, free, left = now, self._slots - len(ends), len(queues[own])
        able = [account for account, queue in queues.items() if queue]
        numbers = itertools.count(len(ends))
        while left:
            best = None
            if free:
                best = min(
                    (account for account in able if shares[account][0] < self._max_per_caller),
                    key=lambda account: (*shares[account], *_order(queues[account][-1])),
                    default=None,
                )
            if best is None:
                moment, _, account = heapq.heappop(ends)
                running, used_s = shares[account]
                shares[account] = (running - 1, used_s)
                free += 1
                continue
            first = queues[best].pop()
            if not queues[best]:
                able.remove(best)
            if best is own:
                starts[first] = moment
                left -= 1
            running, used_s = shares[best]
            shares[best] = (running + 1, used_s + first.budget_s)
            free -= 1
            heapq.heappush(ends, (moment + first.budget_s, next(numbers), best))
        return starts

    def _end_of(self, ticket: Ticket, account: _Caller) -> float:
        """Return when a running search ends at the latest, if a call of this caller waits."""
        if ticket.end is None or self._callers[ticket.caller] is account:
            return ticket.ends_at
        return min(ticket.ends_at, ticket.started_at + self._yield_s)

    # --- searches without a time of their own

    def _end_unlimited(self) -> None:
        """End the longest running searches without a time of their own, one for each waiting call."""
        if self._yield_timer is not None:
            self._yield_timer.cancel()
            self._yield_timer = None
        unlimited = [(ticket, ticket.end) for ticket in self._running if ticket.end]
        unlimited.sort(key=lambda pair: pair[0].started_at)
        if not (unlimited and self._num_waiting):
            return
        now = loop_time()
        ending = sum(ticket.is_ending for ticket in self._running)
        next_at = float("inf")
        for ticket, end in unlimited:
            if ticket.is_ending:
                continue
            own = self._callers[ticket.caller]
            others = sum(
                len(account.waiting)
                for account in self._callers.values()
                if account is not own and account.running < self._max_per_caller
            )
            if ending >= others + len(own.waiting):
                break
            ends_at = ticket.started_at + ticket.budget_s
            if others > ending:
                ends_at = min(ends_at, ticket.started_at + self._yield_s)
            if ends_at <= now:
                self.note_ending(ticket)
                ending += 1
                end()
            else:
                next_at = min(next_at, ends_at)
        if next_at < float("inf"):
            self._yield_timer = asyncio.get_running_loop().call_at(next_at, self._end_unlimited)


def _order(ticket: Ticket) -> tuple[float, int]:
    return (ticket.due, ticket.number)


def _was_granted(ticket: Ticket) -> bool:
    return ticket.granted.done() and not ticket.granted.cancelled() and ticket.granted.exception() is None


def shutting_down() -> BusyError:
    """Return the error for calls to a server that is shutting down."""
    return BusyError("the server is shutting down", reason=SHUTTING_DOWN, retry_s=1.0)
