"""The answers of one method over HTTP: JSON, lines of JSON, or server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import re
from collections.abc import Awaitable, Callable
from json import dumps
from typing import Any, NamedTuple

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from sse_starlette import ServerSentEvent
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from mexica_ai.io.errors import NotationError
from mexica_ai.io.numbers import MAX_TIME_S
from mexica_ai.io.strict import quote
from mexica_ai.server import errors
from mexica_ai.server.auth import CALLER
from mexica_ai.server.http import messages, problems
from mexica_ai.server.http.bodies import Body
from mexica_ai.server.http.calls import Calls, Details, HttpContext, peer_of
from mexica_ai.server.http.problems import Problem, RefusedError
from mexica_ai.server.rejections import HOLDING, new_status
from mexica_ai.server.slots import loop_time
from mexica_ai.server.workers import FairWorkers

JSON, LINES, EVENTS = "application/json", "application/x-ndjson", "text/event-stream"
TIMEOUT_HEADER = "request-timeout"
SMALL_BYTES = 1 << 14  # largest JSON that the event loop itself reads or writes, in 2 to 4 ms
_METADATA = ("authorization", "traceparent", "tracestate")  # headers that a call gets
_ONCE = (TIMEOUT_HEADER, "content-type", "content-encoding")  # headers of which one would hide another
_NUMBER = re.compile(r"\d{1,12}(\.\d{1,30})?", re.ASCII)  # programs print as many digits as 0.30000000000000004


class Method(NamedTuple):
    """One method of the service.

    Attributes
    ----------
    descriptor : MethodDescriptor
    verb : str
        GET or POST.
    path : str
    max_bytes : int
        Of its request, or of each of its requests.
    """

    descriptor: MethodDescriptor
    verb: str
    path: str
    max_bytes: int

    @property
    def name(self) -> str:
        """Its path in gRPC."""
        return f"/{self.descriptor.containing_service.full_name}/{self.descriptor.name}"


class Endpoint:
    """An ASGI application that answers the requests of one method.

    Parameters
    ----------
    method : Method
    calls : Calls
    workers : FairWorkers
        For large texts.
    running : set of asyncio.Task
        Is kept up to date with the tasks of the calls in work.
    """

    def __init__(self, method: Method, calls: Calls, workers: FairWorkers, running: set[asyncio.Task[None]]) -> None:
        self._method, self._calls, self._workers, self._running = method, calls, workers, running
        self._kind = message_factory.GetMessageClass(method.descriptor.input_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        headers = Headers(scope=scope)
        request_id = scope["state"]["request_id"]
        try:
            self._check(scope, headers)
            deadline = _deadline(headers)
        except RefusedError as error:
            await error.response(request_id)(scope, receive, send)
            return
        context = HttpContext(peer_of(scope.get("client")), scope["state"].get("names", {}), deadline)
        HOLDING.set(scope["state"]["holding"])
        texts = _Texts(self._workers, context.peer())
        reply = _Reply(self._method, headers, scope, receive, send, texts)
        task = asyncio.create_task(self._answer(scope, headers, request_id, context, receive, reply, texts))
        of_connection: set[asyncio.Task[None]] = scope["state"]["calls"]
        for tasks in (self._running, of_connection):
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        timer = None if deadline is None else asyncio.get_running_loop().call_at(deadline, task.cancel)
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()  # if uvicorn ends this
            if timer:
                timer.cancel()
        await self._finish(task, context, reply, request_id)

    async def _finish(self, task: asyncio.Task[None], context: HttpContext, reply: _Reply, request_id: str) -> None:
        """End the answer to a call that has ended."""
        error = None if task.cancelled() else task.exception()
        if context.status is not None:
            await reply.fail(problems.of_status(context.status, request_id))
        elif task.cancelled():
            if context.time_remaining() == 0:
                await reply.fail(_problem(grpc.StatusCode.DEADLINE_EXCEEDED, "the deadline is over", request_id))
            else:  # the client is gone, or the server ends
                await reply.fail(_problem(grpc.StatusCode.UNAVAILABLE, "the call was cancelled", request_id))
        elif isinstance(error, Exception):
            await reply.fail(problems.of_status(errors.status_of(error), request_id))
        else:
            await reply.end()

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raise what is wrong with the head of a request."""
        for name in _ONCE:
            if (number := len(headers.getlist(name))) > 1:
                raise RefusedError(400, "DUPLICATE_KEY", f"{name}: is given {number} times; expected it once")
        if self._method.verb == "GET":
            return
        if scope["query_string"]:
            names = f"given ?{quote(scope['query_string'].decode('latin-1'))}"
            raise RefusedError(400, "UNKNOWN_FIELD", f"query: {names}; expected none, for the body has all fields")
        given = headers.get("content-type", "").partition(";")[0].strip().lower()
        accepted = (LINES, JSON) if self._method.descriptor.client_streaming else (JSON,)
        if given not in accepted:
            problem = f"content-type: given {quote(given)}; expected {' or '.join(accepted)}"
            raise RefusedError(415, "WRONG_CONTENT_TYPE", problem)
        if headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise RefusedError(415, "WRONG_CONTENT_TYPE", "content-encoding: is given; expected none")

    async def _answer(
        self,
        scope: Scope,
        headers: Headers,
        request_id: str,
        context: HttpContext,
        receive: Receive,
        reply: _Reply,
        texts: _Texts,
    ) -> None:
        """Make the call, and send its answers; runs in the task of the call."""
        metadata = [(key, headers[key]) for key in _METADATA if len(headers.getlist(key)) == 1]
        details = Details(self._method.name, [*metadata, ("x-request-id", request_id)])
        length = headers.get("content-length", "")
        body = Body(receive, int(length) if length.isdecimal() else None, self._method.max_bytes)
        reads = functools.partial(self._reader, scope["query_string"], body, texts)
        with contextlib.suppress(grpc.aio.AbortError):  # the context has the status
            async with contextlib.aclosing(self._calls.call(details, context, reads)) as answers:
                async for answer in answers:
                    await reply.send(answer)

    def _reader(
        self, query: bytes, body: Body, texts: _Texts, deserialize: Callable[[bytes], Any]
    ) -> Callable[[], Awaitable[Any]]:
        """Return what reads the next request: a message, the error of one that cannot be read, or EOF."""
        if self._method.descriptor.client_streaming:
            lines, number = body.lines(), 0

            async def read_line() -> Any:
                nonlocal number
                async for line in lines:
                    number += 1
                    if isinstance(line, NotationError):
                        return errors.TooLong("", line)
                    return await self._parse(texts, line, f"line {number}", deserialize)
                return grpc.aio.EOF

            return read_line

        async def read_one() -> Any:
            try:
                if self._method.verb == "GET":
                    return deserialize(messages.read_query(query, self._kind).SerializeToString())
                return await self._parse(texts, await body.whole(), messages.ROOT, deserialize)
            except NotationError as error:
                return error

        return read_one

    async def _parse(self, texts: _Texts, data: bytes, name: str, deserialize: Callable[[bytes], Any]) -> Any:
        try:
            message = await texts.work(len(data), messages.read, data, self._kind, name)
        except NotationError as error:
            return error
        return deserialize(message.SerializeToString())


class _Texts:
    """Reads and writes the texts of one call: large ones outside of the event loop, where callers take turns."""

    def __init__(self, workers: FairWorkers, peer: str) -> None:
        self._workers, self._peer = workers, peer

    async def work(self, size: int, function: Callable[..., Any], *args: Any) -> Any:
        """Return `function(*args)`, which reads or writes so many bytes."""
        if size <= SMALL_BYTES:
            return function(*args)
        return await self._workers.run(CALLER.get() or self._peer, function, *args)


class _Reply:
    """Writes the answer to one request."""

    def __init__(
        self,
        method: Method,
        headers: Headers,
        scope: Scope,
        receive: Receive,
        send: Send,
        texts: _Texts,
    ) -> None:
        self._scope, self._receive, self._send, self._texts = scope, receive, send, texts
        self._is_stream = method.descriptor.server_streaming
        wants_events = any(EVENTS in each.lower() for each in headers.getlist("accept"))
        self._type = (EVENTS if wants_events else LINES) if self._is_stream else JSON
        self._has_begun = False

    async def send(self, message: Message) -> None:
        """Send an answer."""
        text = await self._texts.work(message.ByteSize(), messages.write, message)
        await self._write(text, None)

    async def fail(self, found: Problem) -> None:
        """Send an error: as the whole answer, or as the last line or event of a stream that has begun."""
        if not self._has_begun:
            await problems.response(found)(self._scope, self._receive, self._send)
        elif self._is_stream:  # else uvicorn closes the connection, as part of an answer has been sent
            await self._write(dumps({"error": found}), "error")
            await self.end()

    async def end(self) -> None:
        """End the answer."""
        if not self._has_begun:  # a stream without messages
            await self._begin(None)
        if self._is_stream:
            await self._send({"type": "http.response.body", "body": b""})

    async def _write(self, text: str, event: str | None) -> None:
        is_event = self._type == EVENTS
        data = ServerSentEvent(text, event=event, sep="\n").encode() if is_event else text.encode() + b"\n"
        if not self._has_begun:
            await self._begin(None if self._is_stream else len(data))
        await self._send({"type": "http.response.body", "body": data, "more_body": self._is_stream})

    async def _begin(self, length: int | None) -> None:
        self._has_begun = True
        headers = [(b"content-type", self._type.encode())]
        if length is not None:
            headers.append((b"content-length", b"%d" % length))
        if self._is_stream:
            headers.append((b"x-accel-buffering", b"no"))  # so that nginx passes on each message at once
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})


def _deadline(headers: Headers) -> float | None:
    """Return the deadline that a request gives, on the clock of the event loop."""
    given = headers.get(TIMEOUT_HEADER)
    if given is None:
        return None
    if not _NUMBER.fullmatch(given) or not 0 < float(given) <= MAX_TIME_S:
        expected = f"a number of seconds above 0, at most {MAX_TIME_S:.0f}"
        raise RefusedError(400, "BAD_VALUE", f"{TIMEOUT_HEADER}: given {quote(given)}; expected {expected}")
    return loop_time() + float(given)


def _problem(code: grpc.StatusCode, detail: str, request_id: str) -> Problem:
    return problems.of_status(new_status(code, detail, code.name), request_id)
