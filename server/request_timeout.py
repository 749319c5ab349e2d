"""A timeout for the request of a call: a silent call would keep its place until its deadline."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator, Callable
from typing import Any, NoReturn

import grpc

from mexica_ai.server.handlers import Context, Continuation, Handler
from mexica_ai.server.rejections import end, new_status

MESSAGE_S = 10.0  # longest time from the begin of a call to the end of its message
FIRST_S = 60.0  # the same for the first message of a stream, which perhaps a person makes


class RequestTimeoutInterceptor(grpc.aio.ServerInterceptor):
    """Ends calls with DEADLINE_EXCEEDED if their request, or the first one of a stream, does not come in time.

    gRPC would wait for a single request before it runs anything of a call. So the handlers become those of a stream of
    requests, of which they read one; callers see no difference.
    """

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler | None:
        """Return the handler of a call, which waits for its request for some time only."""
        handler = await continuation(handler_call_details)
        if handler is None or handler.stream_unary:  # the service has no method of this kind
            return handler
        method: Any = handler.stream_stream or handler.unary_stream or handler.unary_unary
        deserialize, serialize = handler.request_deserializer, handler.response_serializer
        has_stream = handler.request_streaming
        make: Callable[..., Handler] = (
            grpc.stream_stream_rpc_method_handler
            if handler.response_streaming
            else grpc.stream_unary_rpc_method_handler
        )

        async def read(requests: AsyncIterator[Any], context: Context) -> Any:
            if not has_stream:
                return await _read_one(context)
            first = await _read(context, FIRST_S)
            return _from_first(first, requests)

        if inspect.isasyncgenfunction(method):

            async def stream(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
                request = await read(requests, context)
                async with contextlib.aclosing(method(request, context)) as responses:
                    async for response in responses:
                        yield response

            return make(stream, deserialize, serialize)

        async def answer(requests: AsyncIterator[Any], context: Context) -> Any:
            return await method(await read(requests, context), context)

        return make(answer, deserialize, serialize)


async def _read_one(context: Context) -> Any:
    request = await _read(context, MESSAGE_S)
    if request is grpc.aio.EOF:
        await _reject(context, "the call has ended without a request")
    return request


async def _read(context: Context, longest_s: float) -> Any:
    """Return the next request of a call, EOF if it has no more; end the call if nothing comes."""
    try:
        async with asyncio.timeout(longest_s):
            return await context.read()
    except TimeoutError:
        await _reject(context, f"the request has not come within {longest_s:g} s")


async def _from_first(first: Any, rest: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Yield the requests of a stream, the first of which was read before."""
    if first is grpc.aio.EOF:
        return
    yield first
    async for request in rest:
        yield request


async def _reject(context: Context, problem: str) -> NoReturn:
    message = f"request: {problem}; expected one message"
    await end(context, new_status(grpc.StatusCode.DEADLINE_EXCEEDED, message, "NO_MESSAGE"))
