"""A semaphore that is fair between callers, for calls that do not search but take some processor time.

A few calls run at once; the others wait, and the callers take turns. So a caller with a single call
waits only for the calls that run, however many calls another caller has queued. If the queue is full, a call
of a caller with few queued calls replaces the last one of the caller with most.
"""

from __future__ import annotations

import asyncio
from collections import deque

from mexica_ai.server.slots import BusyError

RETRY_S = 0.1


class FairSemaphore:
    """A semaphore whose waiting callers take turns; all methods run in one event loop.

    Parameters
    ----------
    places : int
        Number of calls at the same time.
    max_waiting_per_caller, max_waiting : float
        Number of calls that may wait for a place, of one caller and of all.
    """

    def __init__(self, places: int, max_waiting_per_caller: float, max_waiting: float) -> None:
        self._free = places
        self._max_waiting_per_caller = max_waiting_per_caller
        self._max_waiting = max_waiting
        # By caller, in the order of their turns.
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    async def take(self, caller: str) -> None:
        """Wait for a place; free it with `give_back`.

        Raises
        ------
        BusyError
            Too many calls, of this caller or of all, are already waiting; reason TOO_MANY_WAITING.
        """
        if self._free:
            self._free -= 1
            return
        own = self._waiting.get(caller, deque())
        if len(own) >= self._max_waiting_per_caller:
            raise _too_many(f"{len(own)} calls of this caller")
        if sum(map(len, self._waiting.values())) >= self._max_waiting:
            self._make_room(len(own))
        self._waiting[caller] = own
        granted = asyncio.get_running_loop().create_future()
        own.append(granted)
        try:
            await granted
        except asyncio.CancelledError:
            if not granted.cancelled() and granted.exception() is None:
                self.give_back()
            elif granted in own:
                own.remove(granted)
            raise

    def _make_room(self, num_own: int) -> None:
        """Reject the last call of the caller with most, unless the new call's caller would then have more."""
        most: deque[asyncio.Future[None]] = max(self._waiting.values(), key=len, default=deque())
        if len(most) <= num_own + 1:
            raise _too_many(f"{self._max_waiting} calls")
        last = most.pop()
        if not last.done():
            last.set_exception(_too_many(f"{self._max_waiting} calls"))

    def give_back(self) -> None:
        """Free a place for the next caller."""
        while self._waiting:
            caller = next(iter(self._waiting))
            own = self._waiting.pop(caller)
            granted = own.popleft() if own else None
            if own:
                self._waiting[caller] = own  # behind the others
            if granted and not granted.done():
                granted.set_result(None)
                return
        self._free += 1


def _too_many(which: str) -> BusyError:
    return BusyError(f"{which} are already waiting", reason="TOO_MANY_WAITING", retry_s=RETRY_S)
