"""Limits of the calls that one caller may have in work, and of their rate."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator

import grpc

from mexica_ai.server import handlers
from mexica_ai.server.auth import CALLER
from mexica_ai.server.errors import status_of
from mexica_ai.server.metrics import Metrics
from mexica_ai.server.refusals import ON_REFUSAL, Pace, refuse
from mexica_ai.server.slots import BusyError

RETRY_S = 1.0  # after which a caller with too many calls may try again


class LimitsCalls(grpc.aio.ServerInterceptor):
    """Refuses calls of a caller with a name beyond a number in work; inside of the interceptor that names callers.

    A call that is refused is no longer in work. Calls with tokens are refused before their message is read.
    Callers without a name are limited by the streams of their connections.

    Parameters
    ----------
    max_calls : int
        Of one caller.
    pace : Pace
        Of the calls of one caller; what comes faster waits, in work.
    metrics : Metrics
        What is told of refusals.
    """

    def __init__(self, max_calls: int, pace: Pace, metrics: Metrics) -> None:
        self._metrics = metrics
        self._max_calls = max_calls
        self._pace = pace
        self._num_working: Counter[str] = Counter()

    async def intercept_service(self, continuation, handler_call_details):
        """Return the handler of a call, or one that refuses it."""
        if self._has_too_many(CALLER.get()):
            # This kind answers without reading a message first, and the caller sees no difference.
            return grpc.stream_stream_rpc_method_handler(self._refuse)
        handler = await continuation(handler_call_details)

        @contextlib.asynccontextmanager
        async def around(request, context) -> AsyncIterator[None]:
            caller = CALLER.get()
            if self._has_too_many(caller):
                await self._refuse(request, context)
            with self._working(caller):
                if caller and (wait_s := self._pace.wait_s(caller, float("inf"))):
                    await asyncio.sleep(wait_s)
                yield

        return handler and handlers.wrap(handler, around)

    def _has_too_many(self, caller: str) -> bool:
        return bool(caller) and self._num_working[caller] >= self._max_calls

    async def _refuse(self, _request, context) -> None:
        error = BusyError(
            f"{self._max_calls} calls of this caller are in work", reason="TOO_MANY_CALLS", retry_s=RETRY_S
        )
        self._metrics.rejected(error.reason)
        await refuse(context, status_of(error), CALLER.get())

    @contextlib.contextmanager
    def _working(self, caller: str):
        self._num_working[caller] += 1
        is_working = True

        def leave():
            nonlocal is_working
            if is_working:
                is_working = False
                self._num_working[caller] -= 1
                if not self._num_working[caller]:
                    del self._num_working[caller]

        ON_REFUSAL.set(leave)
        try:
            yield
        finally:
            leave()
