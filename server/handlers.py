"""Code shared by the interceptors: wrapping of call handlers, the id of a call, and what is left of its time."""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeAlias

import grpc

# Of any messages: an interceptor sees the calls of all methods.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Continuation: TypeAlias = "Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]]"
Around: TypeAlias = "Callable[[Any, Context], AbstractAsyncContextManager[Sending | None]]"

REQUEST_ID: contextvars.ContextVar[str] = contextvars.ContextVar("mexica_ai_request_id", default="")
"""The id of the current call."""


# Clients of gRPC's core send a deadline rounded up, by as much as this share of it: 10.003 s become 10.1 s.
ROUNDING = 0.01
ATTEMPTS_KEY = "grpc-previous-rpc-attempts"
MAX_ATTEMPTS = 10  # more are counted as so many: anyone can send the header

ALLOWED_S: contextvars.ContextVar[float | None] = contextvars.ContextVar("mexica_ai_allowed_s", default=None)
"""The seconds for which the caller waited when the call came, None without a deadline."""


def remaining_s(context: Context) -> float | None:
    """Return the seconds for which the caller surely waits, None without a deadline."""
    left_s = context.time_remaining()
    return None if left_s is None else left_s * (1 - ROUNDING)


def retries(context: Context) -> bool:
    """Return whether the client makes a rejected call again by itself, as clients of gRPC do."""
    return getattr(context, "retries", True)


def num_attempts(context: Context) -> int:
    """Return how many attempts of the same call gRPC has made before this one, as the client says."""
    if not retries(context):
        return 0
    for key, value in context.invocation_metadata() or ():
        if key == ATTEMPTS_KEY and re.fullmatch("[0-9]{1,3}", str(value)):
            return min(int(value), MAX_ATTEMPTS)
    return 0


class Sending:
    """The state of a stream of responses: `responses` is its generator while gRPC sends one of them, else None.

    Meanwhile the generator can be closed, but the task must not be cancelled: gRPC would never end the call.
    """

    responses: AsyncGenerator[Any, None] | None = None

    def check(self) -> None:
        """Raise what shall end the stream, after a response was sent."""


def wrap(handler: Handler, around: Around, deserialize: Callable[[bytes], Any] | None = None) -> Handler:
    """Return a handler that runs `handler` inside the context `around(request, context)`.

    Parameters
    ----------
    handler : grpc.RpcMethodHandler
        Of any of the four kinds. Its method is a coroutine function or an async generator function.
    around : callable
        Makes an async context manager for a call. It runs in the call's task, so the method sees the context
        variables that it sets. It must not reset them, since an abandoned stream is closed in another task. It
        may yield a `Sending`, which is then kept up to date.
    deserialize : callable, optional
        Replaces the handler's own deserializer.
    """
    if handler.request_streaming:
        kind = "stream_stream" if handler.response_streaming else "stream_unary"
    else:
        kind = "unary_stream" if handler.response_streaming else "unary_unary"
    method = getattr(handler, kind)
    make: Callable[..., Handler] = getattr(grpc, f"{kind}_rpc_method_handler")
    deserialize = deserialize or handler.request_deserializer

    if inspect.isasyncgenfunction(method):

        async def stream(request: Any, context: Context) -> AsyncIterator[Any]:
            async with (
                around(request, context) as sending,
                contextlib.aclosing(method(request, context)) as responses,
            ):
                sending = sending or Sending()
                async for response in responses:
                    sending.responses = responses
                    yield response
                    sending.responses = None
                    sending.check()

        return make(stream, deserialize, handler.response_serializer)

    async def answer(request: Any, context: Context) -> Any:
        async with around(request, context):
            return await method(request, context)

    return make(answer, deserialize, handler.response_serializer)
