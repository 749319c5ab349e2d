"""Conversion of the package's exceptions to gRPC statuses with details.

Every status has a google.rpc.ErrorInfo (domain ``v1.mexica-ai``, the exception's `reason`, and its class under
the metadata key ``error``). INVALID_ARGUMENT also has a google.rpc.BadRequest with one violation per fault;
RESOURCE_EXHAUSTED and UNAVAILABLE have a google.rpc.RetryInfo if the time for a retry is known; where no retry of the
client's own can come in time, the trailing metadata tell it so.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable
from typing import Any, NamedTuple, NoReturn, TypeVar

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from mexica_ai.io.errors import (
    GameOverError,
    IllegalActionError,
    MexicaAIError,
    NotationError,
    PositionError,
    SearchError,
    UnknownGameError,
    Violation,
)
from mexica_ai.rpc import wire
from mexica_ai.server import handlers
from mexica_ai.server.admission import DeadlineTooShortError
from mexica_ai.server.auth import CALLER
from mexica_ai.server.handlers import REQUEST_ID, Context, Continuation, Handler
from mexica_ai.server.rejections import caller_of, new_status, reject
from mexica_ai.server.slots import BusyError
from mexica_ai.v1 import engine_pb2

# By the exception's class, subclasses first; then by the reason of a SearchError. Anything else is INTERNAL.
_CODE_BY_CLASS = {
    GameOverError: grpc.StatusCode.FAILED_PRECONDITION,
    NotationError: grpc.StatusCode.INVALID_ARGUMENT,
    PositionError: grpc.StatusCode.INVALID_ARGUMENT,
    IllegalActionError: grpc.StatusCode.INVALID_ARGUMENT,
    UnknownGameError: grpc.StatusCode.INVALID_ARGUMENT,
}
_CODE_BY_REASON = {
    "DEADLINE_TOO_SHORT": grpc.StatusCode.FAILED_PRECONDITION,
    "INVALID_LIMITS": grpc.StatusCode.INVALID_ARGUMENT,
    "INVALID_OPTION": grpc.StatusCode.INVALID_ARGUMENT,
    "INVALID_SEED": grpc.StatusCode.INVALID_ARGUMENT,
    "NO_FIRST_ACTION": grpc.StatusCode.INVALID_ARGUMENT,
    "SLOTS_TAKEN": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "NO_THREADS": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "NO_TIME_LEFT": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "OUT_OF_MEMORY": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "TOO_MANY_WAITING": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "TOO_MANY_CALLS": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "SHUTTING_DOWN": grpc.StatusCode.UNAVAILABLE,
}

# Statuses are sent in HTTP/2 trailers, which are limited to 8 KiB by default and contain the message twice.
MAX_MESSAGE_CHARS = 500
MAX_DESCRIPTION_CHARS = 300
MAX_STATUS_BYTES = 4096

_logger = logging.getLogger("mexica_ai.server")

T = TypeVar("T")


def answers_errors(method: Callable[[Any, Any, Context], Awaitable[T]]) -> Callable[[Any, Any, Context], Awaitable[T]]:
    """Decorate a servicer's method that returns one answer: its exceptions become statuses.

    Errors that are not the caller's fault become INTERNAL with an id, and are logged in full with that id.
    """

    @functools.wraps(method)
    async def answering(self: Any, request: Any, context: Context) -> T:
        try:
            return await method(self, request, context)
        except Exception as error:
            status = status_of(error)
        await _reject(context, status)

    return answering


def streams_errors(
    method: Callable[[Any, Any, Context], AsyncGenerator[T, None]],
) -> Callable[[Any, Any, Context], AsyncGenerator[T, None]]:
    """Decorate a servicer's method that yields answers, as `answers_errors` does."""

    @functools.wraps(method)
    async def answering(self: Any, request: Any, context: Context) -> AsyncGenerator[T, None]:
        try:
            async with contextlib.aclosing(method(self, request, context)) as answers:
                async for answer in answers:
                    yield answer
            return
        except Exception as error:
            status = status_of(error)
        await _reject(context, status)

    return answering


async def _reject(context: Context, status: status_pb2.Status) -> NoReturn:
    await reject(context, status, caller_of(CALLER.get(), context.peer()))


class TooLong(NamedTuple):
    """One of many requests, which was not read: its id, and the error that is its answer."""

    id: str
    error: NotationError


_Named = engine_pb2.StopAnalysisRequest


class RequestCheckInterceptor(grpc.aio.ServerInterceptor):
    """Answers requests that cannot be parsed or are too long with INVALID_ARGUMENT.

    gRPC itself would answer UNKNOWN with the text of an exception, and log a traceback. Requests that are too
    long are not parsed.

    Parameters
    ----------
    large : collection of str
        Methods whose requests are limited only by gRPC; others may have at most `wire.MAX_BYTES` bytes.
    many : collection of str
        Methods with a stream of requests that each have an ``id``, as field 1: one that is too long is passed on as
        `TooLong`, and the others are answered.
    """

    def __init__(self, large: Collection[str] = (), many: Collection[str] = ()) -> None:
        self._large = frozenset(large)
        self._many = frozenset(many)

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler | None:
        """Return the handler of a call; if the method takes one request, with a checked deserializer."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None

        is_large = handler_call_details.method in self._large
        is_one_of_many = handler_call_details.method in self._many
        parse: Any = handler.request_deserializer

        def deserialize(data: bytes) -> Any:
            try:
                if len(data) > wire.MAX_BYTES and not is_large:
                    error = NotationError(
                        f"request: has {len(data)} bytes; expected {wire.MAX_BYTES} at most", reason="TOO_LONG"
                    )
                    # A message that has no more than field 1 keeps the rest as bytes.
                    return TooLong(_Named.FromString(data).analysis_id, error) if is_one_of_many else error
                return parse(data)
            except DecodeError:
                return NotationError(
                    f"request: {len(data)} bytes that cannot be parsed; expected the request message of "
                    f"{handler_call_details.method}"
                )

        method: Any = handler.stream_stream
        if method:

            async def answer(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
                try:
                    async with contextlib.aclosing(method(_readable(requests), context)) as responses:
                        async for response in responses:
                            yield response
                    return
                except NotationError as error:  # of a method that `streams_errors` does not decorate
                    status = status_of(error)
                await _reject(context, status)

            return grpc.stream_stream_rpc_method_handler(answer, deserialize, handler.response_serializer)

        @contextlib.asynccontextmanager
        async def around(request: Any, context: Context) -> AsyncIterator[None]:
            if isinstance(request, NotationError):
                await _reject(context, status_of(request))
            yield

        return handlers.wrap(handler, around, deserialize)


async def _readable(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Yield requests; raise the error of the first that cannot be read, for the method to end with."""
    async for request in requests:
        if isinstance(request, NotationError):
            raise request
        yield request


def status_of(error: Exception) -> status_pb2.Status:
    """Return the status that reports an exception to the caller."""
    if isinstance(error, MemoryError):
        error = SearchError("no memory to answer this; expected more of it", reason="OUT_OF_MEMORY")
    code = _code_of(error)
    if code is None or not isinstance(error, MexicaAIError):
        return _internal_status(error)
    message = _shorten(str(error), MAX_MESSAGE_CHARS)
    more = {"shortest_deadline_s": f"{error.shortest_s:.3f}"} if isinstance(error, DeadlineTooShortError) else {}
    status = new_status(code, message, error.reason, _public_class(error), more=more)
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        _add_violations(status, error.violations or [Violation(error.path, error.reason, str(error))])
    if isinstance(error, BusyError):
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(int(1000 * error.retry_s))
        status.details.add().Pack(retry)
    return status


def failure_of(error: Exception) -> engine_pb2.Failure:
    """Return the message that reports an exception for one of many requests of a call, as a status would."""
    status = status_of(error)
    info, faults, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    for detail in status.details:
        for kind in (info, faults, retry):
            detail.Unpack(kind)
    failure = engine_pb2.Failure(
        code=status.code,
        reason=info.reason,
        message=status.message,
        error=info.metadata["error"],
        retry_after_s=retry.retry_delay.ToTimedelta().total_seconds(),
    )
    for fault in faults.field_violations:
        failure.violations.add(field=fault.field, reason=fault.reason, description=fault.description)
    return failure


def _public_class(error: MexicaAIError) -> type[MexicaAIError]:
    """Return the exception's class, or its first base class that the package defines."""
    return next(kind for kind in type(error).__mro__ if kind.__module__ == MexicaAIError.__module__)


def _code_of(error: Exception) -> grpc.StatusCode | None:
    for error_class, code in _CODE_BY_CLASS.items():
        if isinstance(error, error_class):
            return code
    return _CODE_BY_REASON.get(error.reason) if isinstance(error, SearchError) else None


def _internal_status(error: Exception) -> status_pb2.Status:
    request_id = REQUEST_ID.get() or uuid.uuid4().hex
    _logger.error("internal error; request id %s", request_id, exc_info=error)
    message = f"internal error; request id {request_id}"
    return new_status(grpc.StatusCode.INTERNAL, message, "INTERNAL", MexicaAIError, request_id)


def _add_violations(status: status_pb2.Status, violations: Iterable[Violation]) -> None:
    """Add the violations that fit, at least the first."""
    faults = error_details_pb2.BadRequest()
    for path, reason, message in violations:
        # The package's messages begin with the path, which `field` already states.
        description = _shorten(message.removeprefix(f"{path}: "), MAX_DESCRIPTION_CHARS)
        fault = error_details_pb2.BadRequest.FieldViolation(field=path, description=description, reason=reason)
        if faults.field_violations and status.ByteSize() + faults.ByteSize() + fault.ByteSize() > MAX_STATUS_BYTES:
            break
        faults.field_violations.append(fault)
    status.details.add().Pack(faults)


def _shorten(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 3] + "..."
