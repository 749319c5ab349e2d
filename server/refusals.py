"""When refusals are sent: no caller's flood, nor that of strangers, uses up the event loop.

Every call costs the event loop some tenths of a millisecond, a refused one too, and a flood is a matter of how
many calls wait for the loop at the same time. So a caller may have a bounded number of calls in work, and who
is refused often is told later: a program that asks again as soon as it is refused then slows down. Calls that
are held cost only memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import math
from collections.abc import AsyncIterator, Callable
from typing import NoReturn

import grpc
from google.rpc import status_pb2
from grpc_status import rpc_status

from mexica_ai.server import handlers
from mexica_ai.server.slots import loop_time

STRANGERS = ""  # callers whose token is refused: all of them together are one
REFUSALS_PER_S = 50.0  # of one caller
REFUSALS_AT_ONCE = 100.0
MAX_HOLD_S = 30.0
MARGIN_S = 0.1  # a refusal is sent so long before the call's deadline
MAX_KNOWN = 1000  # callers that are remembered before those that are over are forgotten


class Pace:
    """Spreads what each caller does over time, beyond what it may do at once.

    Parameters
    ----------
    per_s : float
        How often each caller may do it in the long run.
    burst : float
        How often at once.
    """

    def __init__(self, per_s: float, burst: float) -> None:
        self._step_s = 1 / per_s
        self._burst_s = burst / per_s
        self._next_at: dict[str, float] = {}

    def wait_s(self, caller: str, longest_s: float) -> float:
        """Return how long this caller has to wait now, in seconds; beyond `longest_s` it need not wait its turn."""
        now = loop_time()
        next_at = max(self._next_at.get(caller, -math.inf), now - self._burst_s)
        if next_at - now >= longest_s:
            return longest_s
        if len(self._next_at) >= MAX_KNOWN:
            self._next_at = {name: at for name, at in self._next_at.items() if at > now - self._burst_s}
        self._next_at[caller] = next_at + self._step_s
        return max(0.0, next_at - now)


ON_REFUSAL: contextvars.ContextVar[Callable[[], None] | None] = contextvars.ContextVar(
    "mexica_ai_on_refusal", default=None
)
"""What is called when the current call is refused, before the refusal is held."""

_REFUSALS: contextvars.ContextVar[Pace | None] = contextvars.ContextVar("mexica_ai_refusals", default=None)
_PACED = {grpc.StatusCode.UNAUTHENTICATED.value[0], grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]}


def caller_of(name: str, peer: str) -> str:
    """Return who a caller is for refusals: its name, or the address of its connection without the port."""
    return name or peer.rpartition(":")[0] or peer


async def refuse(context: grpc.aio.ServicerContext, status: status_pb2.Status, caller: str) -> NoReturn:
    """End a call with a status, held if the caller has been refused often."""
    if leave := ON_REFUSAL.get():
        leave()
    refusals = _REFUSALS.get()
    if refusals is not None and status.code in _PACED:
        remaining_s = handlers.remaining_s(context)
        longest_s = MAX_HOLD_S if remaining_s is None else min(MAX_HOLD_S, remaining_s - MARGIN_S)
        hold_s = refusals.wait_s(caller, longest_s)
        if hold_s > 0:
            await asyncio.sleep(hold_s)
    await end(context, status)


async def end(context: grpc.aio.ServicerContext, status: status_pb2.Status) -> NoReturn:
    """End a call with a status."""
    try:
        await context.abort_with_status(rpc_status.to_status(status))
    except grpc.aio.InternalError:
        # The deadline is over, or the caller gone, and gRPC has ended the call.
        raise asyncio.CancelledError from None


class PacesRefusals(grpc.aio.ServerInterceptor):
    """Makes `refuse` hold refusals; outside of all interceptors that refuse."""

    def __init__(self) -> None:
        self._refusals = Pace(REFUSALS_PER_S, REFUSALS_AT_ONCE)

    async def intercept_service(self, continuation, handler_call_details):
        """Return the handler of a call."""
        handler = await continuation(handler_call_details)

        @contextlib.asynccontextmanager
        async def around(_request, _context) -> AsyncIterator[None]:
            _REFUSALS.set(self._refusals)
            yield

        return handler and handlers.wrap(handler, around)
