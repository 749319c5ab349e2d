"""Pacing of rejections: a flood of calls, with or without a valid token, must not starve the event loop.

Every call costs the event loop some tenths of a millisecond, a rejected one too, and a flood does harm by the number of
calls that wait for the loop at the same time. So a caller may have a bounded number of calls in work, and gets its
rejections later if it has had many: a program that retries at once then slows down. Held calls cost only memory,
but their number is limited, too; beyond it rejections are sent at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import math
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any, NoReturn

import grpc
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from mexica_ai.io.errors import MexicaAIError, SearchError
from mexica_ai.rpc import failures
from mexica_ai.server import handlers
from mexica_ai.server.connections import network_of
from mexica_ai.server.handlers import Context, Continuation, Handler
from mexica_ai.server.slots import MOVE_S, SLOTS_TAKEN, loop_time

PUSHBACK_KEY = "grpc-retry-pushback-ms"  # how long gRPC waits with a retry, instead of its own backoff
UNAUTHENTICATED = ""  # all callers without a valid token count as one caller
REJECTIONS_PER_S = 50.0  # of one caller
REJECTIONS_AT_ONCE = 100.0
MAX_HOLD_S = 30.0
MAX_HELD = 10_000  # rejections of all callers; each takes memory
MARGIN_S = 0.1  # a rejection is sent this long before the call's deadline
FIRST_BACKOFF_S, LAST_BACKOFF_S = 0.1, 2.0  # as in the published service config; they double
JITTER = 1.2  # of the client's backoff, at most
MAX_KNOWN = 1000  # callers in memory; beyond it those with nothing to wait for are dropped


class RateLimiter:
    """A rate limit with bursts (a token bucket), for each caller.

    Parameters
    ----------
    per_s : float
        Rate of each caller in the long run.
    burst : float
        Number at once.
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

    async def wait(self, caller: str, longest_s: float = math.inf) -> bool:
        """Wait until it is this caller's turn; return at once, False, if that takes longer than `longest_s`.

        A wait that is cancelled gives its turn back.
        """
        wait_s = self.wait_s(caller, longest_s)
        if wait_s >= longest_s:
            return False
        try:
            await asyncio.sleep(wait_s)
        except asyncio.CancelledError:
            self._next_at[caller] -= self._step_s
            raise
        return True


ON_REJECTION: contextvars.ContextVar[Callable[[], None] | None] = contextvars.ContextVar(
    "mexica_ai_on_rejection", default=None
)
"""A callback for the rejection of the current call, called before the rejection is held."""

HOLDING: contextvars.ContextVar[Callable[[], AbstractContextManager[None]]] = contextvars.ContextVar(
    "mexica_ai_holding", default=contextlib.nullcontext
)
"""Makes the context in which the rejection of the current call is held; so its connection can give way to others."""

_PACING: contextvars.ContextVar[RejectionPacingInterceptor | None] = contextvars.ContextVar(
    "mexica_ai_pacing", default=None
)
_RETRIED = {grpc.StatusCode.UNAVAILABLE.value[0], grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]}
_NO_RETRY = "-1"  # gRPC A6: the server asks for no retry
_PACED = {grpc.StatusCode.UNAUTHENTICATED.value[0], grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]}
_IPV6 = re.compile(r"ipv6:(?:%5B|\[)(.*?)(?:%5D|\])")  # as gRPC writes an address


def caller_of(name: str, peer: str) -> str:
    """Return who a caller is for rejections: its name, or the address of its connection, of IPv6 the network."""
    found = _IPV6.match(peer)
    return name or (f"ipv6:{network_of(found[1])}" if found else peer.rpartition(":")[0] or peer)


async def reject(context: Context, status: status_pb2.Status, caller: str) -> NoReturn:
    """End a call with a status, held if the caller has had many rejections."""
    if leave := ON_REJECTION.get():
        leave()
    pacing = _PACING.get()
    if pacing is not None and status.code in _PACED:
        remaining_s = handlers.remaining_s(context)
        longest_s = MAX_HOLD_S if remaining_s is None else min(MAX_HOLD_S, remaining_s - MARGIN_S)
        await pacing.hold(caller, longest_s)
    await end(context, status)


def new_status(
    code: grpc.StatusCode,
    message: str,
    reason: str,
    error: type[MexicaAIError] = SearchError,
    request_id: str = "",
    more: Mapping[str, str] = MappingProxyType({}),
) -> status_pb2.Status:
    """Return a status with its ErrorInfo: the reason, the exception's class, the id of the call, and more."""
    status = status_pb2.Status(code=code.value[0], message=message)
    metadata = {"error": error.__name__, "request_id": request_id or handlers.REQUEST_ID.get(), **more}
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason=reason, domain=failures.DOMAIN, metadata=metadata))
    return status


def least_left_s(wait_s: float) -> float:
    """Return the least time left with which a client's gRPC can wait so long and try again."""
    return JITTER * wait_s + MARGIN_S


def _pushback(context: Context, status: status_pb2.Status) -> str | None:
    """Return when gRPC shall make the next attempt: in so many milliseconds, -1 for never, None for its backoff."""
    if status.code not in _RETRIED:
        return None
    is_moved = _moves_on(status)
    wait_s = MOVE_S if is_moved else min(FIRST_BACKOFF_S * 2 ** handlers.num_attempts(context), LAST_BACKOFF_S)
    remaining_s = handlers.remaining_s(context)
    if remaining_s is not None and remaining_s <= least_left_s(wait_s):
        # The client's gRPC shows this status then, and not DEADLINE_EXCEEDED while it waits for the next attempt.
        return _NO_RETRY
    return str(round(1000 * wait_s)) if is_moved else None


async def end(context: Context, status: status_pb2.Status) -> NoReturn:
    """End a call with a status; one for another server is sent there by gRPC without its backoff."""
    ended: Any = rpc_status.to_status(status)
    pushback = _pushback(context, status)
    if pushback is not None:
        ended = ended._replace(trailing_metadata=(*ended.trailing_metadata, (PUSHBACK_KEY, pushback)))
    try:
        await context.abort_with_status(ended)
    except grpc.aio.InternalError:
        # The deadline is over, or the caller gone, and gRPC has ended the call.
        raise asyncio.CancelledError from None


def _moves_on(status: status_pb2.Status) -> bool:
    info = error_details_pb2.ErrorInfo()
    return any(detail.Unpack(info) and info.reason == SLOTS_TAKEN for detail in status.details)


class RejectionPacingInterceptor(grpc.aio.ServerInterceptor):
    """Makes `reject` hold rejections; outside of all interceptors that reject."""

    def __init__(self) -> None:
        self._rejections = RateLimiter(REJECTIONS_PER_S, REJECTIONS_AT_ONCE)
        self._num_held = 0

    async def hold(self, caller: str, longest_s: float) -> None:
        """Hold a rejection if its caller has had many, for `longest_s` at most."""
        hold_s = self._rejections.wait_s(caller, longest_s)
        if hold_s <= 0 or self._num_held >= MAX_HELD:
            return
        self._num_held += 1
        try:
            with HOLDING.get()():
                await asyncio.sleep(hold_s)
        finally:
            self._num_held -= 1

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler | None:
        """Return the handler of a call."""
        handler = await continuation(handler_call_details)

        @contextlib.asynccontextmanager
        async def around(_request: Any, _context: Context) -> AsyncIterator[None]:
            _PACING.set(self)
            yield

        return handler and handlers.wrap(handler, around)
