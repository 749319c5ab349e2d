"""Calls of the service that come over HTTP: through the same interceptors to the same handlers as those of gRPC."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import grpc
from google.protobuf.message import Message
from google.rpc import status_pb2

from mexica_ai.server.handlers import Continuation, Handler
from mexica_ai.server.slots import loop_time
from mexica_ai.v1 import engine_pb2_grpc

_DETAILS_KEY = "grpc-status-details-bin"
_CODES = {code.value[0]: code for code in grpc.StatusCode}


class Details(NamedTuple):
    """What interceptors know of a call before they see its context; the form of grpc.HandlerCallDetails."""

    method: str
    invocation_metadata: Sequence[tuple[str, str]]


class HttpContext:
    """What interceptors and handlers use of the context of a call, for one over HTTP.

    Parameters
    ----------
    peer : str
        The client's address as gRPC writes it.
    names : mapping of str to bytes
        Those of the client's certificate, which has been verified, as in the `auth_context` of gRPC.
    deadline : float, optional
        On the clock of the event loop.

    Attributes
    ----------
    retries : bool
        False: no client of HTTP makes a rejected call again by itself.
    read : coroutine function
        Returns the next request, as it is read by the handler's deserializer, or `grpc.aio.EOF`.
    status : google.rpc.Status or None
        With which the call has ended, if that is an error.
    """

    retries = False

    def __init__(self, peer: str, names: Mapping[str, Iterable[bytes]], deadline: float | None) -> None:
        self._peer, self._names, self._deadline = peer, names, deadline
        self.read: Callable[[], Awaitable[Any]]
        self.status: status_pb2.Status | None = None

    def peer(self) -> str:
        """Return the client's address."""
        return self._peer

    def auth_context(self) -> Mapping[str, Iterable[bytes]]:
        """Return the names of the client's certificate."""
        return self._names

    def time_remaining(self) -> float | None:
        """Return the seconds until the deadline, None without one."""
        return None if self._deadline is None else max(0.0, self._deadline - loop_time())

    def set_trailing_metadata(self, _metadata: Any) -> None:
        """Do nothing: the door itself returns the id of the request, which is all that these metadata hold."""

    def code(self) -> grpc.StatusCode | None:
        """Return the code with which the call has ended, None for OK."""
        return None if self.status is None else _CODES[self.status.code]

    async def abort_with_status(self, status: grpc.Status) -> NoReturn:
        """End the call with an error."""
        details: Any = next(value for key, value in status.trailing_metadata or () if key == _DETAILS_KEY)
        self.status = status_pb2.Status.FromString(details)
        raise grpc.aio.AbortError(self.status.message)


class Calls:
    """Makes calls of a servicer.

    Parameters
    ----------
    servicer : EngineServiceServicer
    interceptors : sequence of grpc.aio.ServerInterceptor
        Those of the gRPC server, the outermost first.
    """

    def __init__(
        self, servicer: engine_pb2_grpc.EngineServiceServicer, interceptors: Sequence[grpc.aio.ServerInterceptor]
    ) -> None:
        registry = _Registry()
        engine_pb2_grpc.add_EngineServiceServicer_to_server(servicer, registry)

        async def find(details: grpc.HandlerCallDetails) -> Handler | None:
            return registry.handlers.get(details.method)

        self._find: Continuation = find
        for interceptor in reversed(interceptors):
            self._find = functools.partial(interceptor.intercept_service, self._find)

    async def call(
        self,
        details: Details,
        context: HttpContext,
        reads: Callable[[Callable[[bytes], Any]], Callable[[], Awaitable[Any]]],
    ) -> AsyncGenerator[Message, None]:
        """Make a call and yield its answers.

        Parameters
        ----------
        details : Details
        context : HttpContext
        reads : callable
            Gets the deserializer of the handler, and returns what reads the next request.

        Raises
        ------
        grpc.aio.AbortError
            The call has ended with `context.status`.
        """
        handler: Any = await self._find(details)  # type: ignore[arg-type]  # a tuple of the same form
        context.read = reads(handler.request_deserializer or (lambda data: data))
        # RequestTimeoutInterceptor has made every method one that reads a stream of requests.
        method = handler.stream_stream or handler.stream_unary
        requests = _requests(context)
        if not inspect.isasyncgenfunction(method):
            answer = await method(requests, context)
            if answer is not None:
                yield answer
            return
        async with contextlib.aclosing(method(requests, context)) as answers:
            async for answer in answers:
                yield answer


async def _requests(context: HttpContext) -> AsyncIterator[Any]:
    while (request := await context.read()) is not grpc.aio.EOF:
        yield request


class _Registry:
    """Stands in for a server that servicers are added to."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Handler]) -> None:
        """Take the handlers of a service."""
        self.handlers |= {f"/{service}/{name}": handler for name, handler in handlers.items()}

    def add_generic_rpc_handlers(self, _handlers: Any) -> None:
        """Do nothing: these are the same handlers."""


def peer_of(client: tuple[str, int] | None) -> str:
    """Return an address as gRPC writes it."""
    if client is None:
        return "unix:"
    host, port = client[0].removeprefix("::ffff:"), client[1]  # IPv4 on a socket for both
    return f"ipv6:%5B{host}%5D:{port}" if ":" in host else f"ipv4:{host}:{port}"
