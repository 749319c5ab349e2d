"""Places for calls that need no search but some time: a few at once, and callers in turn.

One caller's many calls keep another's only one waiting for as long as those that run, and no longer. Once the
queue is full, a call of a caller with few in it takes the place of the last one of the caller with most.
"""

from __future__ import annotations

import asyncio
from collections import deque

from mexica_ai.server.slots import BusyError

RETRY_S = 0.1


class LightPlaces:
    """The places of one server; all methods run in one event loop.

    Parameters
    ----------
    places : int
        Calls at the same time.
    max_waiting_per_caller, max_waiting : int
        Calls that may wait for a place, of one caller and of all.
    """

    def __init__(self, places: int, max_waiting_per_caller: int, max_waiting: int) -> None:
        self._free = places
        self._max_waiting_per_caller = max_waiting_per_caller
        self._max_waiting = max_waiting
        # By caller; the one whose turn it is comes first.
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    async def take(self, caller: str) -> None:
        """Wait for a place, which is to be given back by `give_back`.

        Raises
        ------
        BusyError
            Reason TOO_MANY_WAITING: too many calls wait already, of this caller or of all.
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
        """Turn away the last call of the caller with most, if that leaves it with no fewer than who comes."""
        most = max(self._waiting.values(), key=len, default=())
        if len(most) <= num_own + 1:
            raise _too_many(f"{self._max_waiting} calls")
        last = most.pop()
        if not last.done():
            last.set_exception(_too_many(f"{self._max_waiting} calls"))

    def give_back(self) -> None:
        """Free a place for the next caller whose turn it is."""
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
    return BusyError(f"{which} wait to be answered already", reason="TOO_MANY_WAITING", retry_s=RETRY_S)
