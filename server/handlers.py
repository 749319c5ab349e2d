"""Code shared by the interceptors: wrapping of call handlers, and the id of a call."""

from __future__ import annotations

import contextlib
import contextvars
import inspect
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import grpc

REQUEST_ID: contextvars.ContextVar[str] = contextvars.ContextVar("mexica_ai_request_id", default="")
"""The id of the current call."""

Around = Callable[[Any, grpc.aio.ServicerContext], AbstractAsyncContextManager[None]]


def wrap(
    handler: grpc.RpcMethodHandler, around: Around, deserialize: Callable[[bytes], Any] | None = None
) -> grpc.RpcMethodHandler:
    """Return a handler that runs `handler` inside the context `around(request, context)`.

    Parameters
    ----------
    handler : grpc.RpcMethodHandler
        Of any of the four kinds. Its method is a coroutine function or an async generator function.
    around : callable
        Makes an async context manager for a call. It runs in the call's task, so the method sees the context
        variables that it sets. It must not reset them, since an abandoned stream is closed in another task.
    deserialize : callable, optional
        Replaces the handler's own deserializer.
    """
    if handler.request_streaming:
        kind = "stream_stream" if handler.response_streaming else "stream_unary"
    else:
        kind = "unary_stream" if handler.response_streaming else "unary_unary"
    method = getattr(handler, kind)

    if inspect.isasyncgenfunction(method):

        async def wrapped(request, context):
            async with around(request, context), contextlib.aclosing(method(request, context)) as responses:
                async for response in responses:
                    yield response

    else:

        async def wrapped(request, context):
            async with around(request, context):
                return await method(request, context)

    make = getattr(grpc, f"{kind}_rpc_method_handler")
    return make(wrapped, deserialize or handler.request_deserializer, handler.response_serializer)
