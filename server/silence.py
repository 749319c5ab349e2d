"""Ends calls that never send their message: such a call would keep its place on the connection until its deadline."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator
from typing import Any

import grpc
from google.rpc import code_pb2, error_details_pb2, status_pb2

from mexica_ai.errors import SearchError
from mexica_ai.server import handlers
from mexica_ai.server.auth import DOMAIN
from mexica_ai.server.refusals import end

MESSAGE_S = 10.0  # longest time from the begin of a call to the end of its message


class EndsSilentCalls(grpc.aio.ServerInterceptor):
    """Ends calls of methods with one request, with DEADLINE_EXCEEDED, if the request does not come in time.

    gRPC would wait for the request before it runs anything of a call. So the handlers become those of a stream of
    requests, of which they read one; callers see no difference.
    """

    async def intercept_service(self, continuation, handler_call_details):
        """Return the handler of a call, which waits for its request for some time only."""
        handler = await continuation(handler_call_details)
        if handler is None or handler.request_streaming:
            return handler
        method = handler.unary_stream if handler.response_streaming else handler.unary_unary

        if inspect.isasyncgenfunction(method):

            async def answer(_requests, context) -> AsyncIterator[Any]:
                request = await _read(context)
                async with contextlib.aclosing(method(request, context)) as responses:
                    async for response in responses:
                        yield response

        else:

            async def answer(_requests, context) -> Any:
                return await method(await _read(context), context)

        make = (
            grpc.stream_stream_rpc_method_handler
            if handler.response_streaming
            else grpc.stream_unary_rpc_method_handler
        )
        return make(answer, handler.request_deserializer, handler.response_serializer)


async def _read(context) -> Any:
    try:
        async with asyncio.timeout(MESSAGE_S):
            request = await context.read()
    except TimeoutError:
        problem = f"the request has not come within {MESSAGE_S:g} s"
    else:
        if request is not grpc.aio.EOF:
            return request
        problem = "the call has ended without a request"
    status = status_pb2.Status(code=code_pb2.DEADLINE_EXCEEDED, message=f"request: {problem}; expected one message")
    metadata = {"error": SearchError.__name__, "request_id": handlers.REQUEST_ID.get()}
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason="NO_MESSAGE", domain=DOMAIN, metadata=metadata))
    await end(context, status)
