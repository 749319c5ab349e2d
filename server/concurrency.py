"""Limits of the number of calls that one caller may have in work, and of their rate."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any

import grpc

from mexica_ai.server import handlers
from mexica_ai.server.auth import CALLER, OPEN_PREFIX
from mexica_ai.server.errors import status_of
from mexica_ai.server.handlers import Context, Continuation, Handler
from mexica_ai.server.metrics import Metrics
from mexica_ai.server.rejections import ON_REJECTION, RateLimiter, reject
from mexica_ai.server.slots import BusyError

RETRY_S = 1.0  # after which a caller with too many calls may try again


class ConcurrencyInterceptor(grpc.aio.ServerInterceptor):
    """Rejects calls of a named caller beyond a number in work; runs inside the interceptor that names callers.

    A rejected call is no longer in work. Calls with tokens are rejected before their message is read.
    Callers without a name are limited by the streams of their connections.

    Parameters
    ----------
    max_calls : int
        Of one caller.
    limiter : RateLimiter
        Rate limit of the calls of one caller; faster calls wait, in work, if their deadline lets them.
    metrics : Metrics
        Counts rejections.
    """

    def __init__(self, max_calls: int, limiter: RateLimiter, metrics: Metrics) -> None:
        self._metrics = metrics
        self._max_calls = max_calls
        self._limiter = limiter
        self._num_working: Counter[str] = Counter()

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler | None:
        """Return the handler of a call, or one that rejects it."""
        if handler_call_details.method.startswith(OPEN_PREFIX):  # a watcher of health is no work
            return await continuation(handler_call_details)
        if self._has_too_many(CALLER.get()):
            # This kind answers without reading a message first, and the caller sees no difference.
            return grpc.stream_stream_rpc_method_handler(self._reject)
        handler = await continuation(handler_call_details)

        @contextlib.asynccontextmanager
        async def around(request: Any, context: Context) -> AsyncIterator[None]:
            caller = CALLER.get()
            if self._has_too_many(caller):
                await self._reject(request, context)
            with self._working(caller):
                longest_s = handlers.remaining_s(context)
                if caller and not await self._limiter.wait(caller, math.inf if longest_s is None else longest_s):
                    await self._refuse(context, "this caller's calls come too fast to wait within the deadline")
                yield

        return handler and handlers.wrap(handler, around)

    def _has_too_many(self, caller: str) -> bool:
        return bool(caller) and self._num_working[caller] >= self._max_calls

    async def _reject(self, _request: Any, context: Context) -> None:
        await self._refuse(context, f"{self._max_calls} calls of this caller are in work")

    async def _refuse(self, context: Context, problem: str) -> None:
        error = BusyError(problem, reason="TOO_MANY_CALLS", retry_s=RETRY_S)
        self._metrics.rejected(error.reason)
        await reject(context, status_of(error), CALLER.get())

    @contextlib.contextmanager
    def _working(self, caller: str) -> Iterator[None]:
        self._num_working[caller] += 1
        is_working = True

        def leave() -> None:
            nonlocal is_working
            if is_working:
                is_working = False
                self._num_working[caller] -= 1
                if not self._num_working[caller]:
                    del self._num_working[caller]

        ON_REJECTION.set(leave)
        try:
            yield
        finally:
            leave()
