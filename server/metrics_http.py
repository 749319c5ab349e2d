"""The HTTP server of the metrics: small, with limits, in an event loop and a thread of its own.

It answers GET and HEAD of / and /metrics, one request a connection. A few connections are open at a time, each for
a few seconds at most, and the text is made at most ten times a second, so nobody who reaches this port can take the
descriptors, the threads or the processor of the service. If all connections are taken, the one that has not sent
its request for the longest time makes room: a scraper sends its request at once.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import TypeAlias

MAX_CONNECTIONS = 16
BACKLOG = 128  # connections that the kernel keeps until they are accepted, which takes no descriptors
MAX_REQUEST_BYTES = 1 << 13
REQUEST_S = 5.0  # longest time from a connection to the end of its request
ANSWER_S = 10.0  # longest time for the scraper to read the answer
FRESH_S = 0.1  # how long a text is used again
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"  # of Prometheus's text format

_Task: TypeAlias = "asyncio.Task[None]"  # answers one connection
_PATHS = ("/", "/metrics")
_logger = logging.getLogger("mexica_ai.server.metrics")


class MetricsHttpServer:
    """Serves a text over HTTP.

    Parameters
    ----------
    host : str
    port : int
        0: any that is free.
    render : callable
        Returns the text as bytes; called in the server's thread.

    Attributes
    ----------
    port : int
        The real port, once started.
    """

    def __init__(self, host: str, port: int, render: Callable[[], bytes]) -> None:
        self._host, self.port = host, port
        self._render = render
        self._text, self._made = b"", float("-inf")
        self._loop: asyncio.AbstractEventLoop
        self._ended = asyncio.Event()
        self._thread: threading.Thread | None = None
        self._connections: set[_Task] = set()
        self._reading: dict[_Task, None] = {}  # those without a whole request, the oldest first

    def start(self) -> None:
        """Listen and serve; raise OSError if the address cannot be used."""
        listener = self._listen()
        self.port = listener.getsockname()[1]
        started = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(listener, started)), name="metrics", daemon=True
        )
        self._thread.start()
        started.wait()

    def close(self) -> None:
        """Stop serving and close all connections."""
        if self._thread:
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join()
            self._thread = None

    def _listen(self) -> socket.socket:
        found = socket.getaddrinfo(self._host or None, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, *_, address = found[0]
        is_dual = self._host == "::" and socket.has_dualstack_ipv6()
        return socket.create_server(address[:2], family=family, backlog=BACKLOG, dualstack_ipv6=is_dual)

    async def _serve(self, listener: socket.socket, started: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        # The limit of the buffer is also that of a request.
        server = await asyncio.start_server(self._accept, sock=listener, backlog=BACKLOG, limit=MAX_REQUEST_BYTES)
        started.set()
        await self._ended.wait()
        server.close()  # asyncio.run cancels what still answers

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # asyncio accepts connections in tasks
        if len(self._connections) >= MAX_CONNECTIONS:
            if not self._reading:
                writer.transport.abort()
                return
            oldest = next(iter(self._reading))
            del self._reading[oldest]
            oldest.cancel()
        self._connections.add(task)
        self._reading[task] = None
        try:
            await self._answer(reader, writer, task)
        except (OSError, TimeoutError, EOFError, asyncio.CancelledError):
            pass  # gone, silent, or in the way of others: nothing to answer
        finally:
            self._reading.pop(task, None)
            self._connections.discard(task)
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, task: _Task) -> None:
        async with asyncio.timeout(REQUEST_S):
            try:
                request = await reader.readuntil(b"\r\n\r\n")
            except asyncio.LimitOverrunError:
                request = b""
        self._reading.pop(task, None)
        method, path = [*request.partition(b"\r\n")[0].decode("latin-1").split(" "), ""][:2]
        if not request:
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        elif method not in ("GET", "HEAD"):
            status = HTTPStatus.METHOD_NOT_ALLOWED
        elif path.partition("?")[0] not in _PATHS:
            status = HTTPStatus.NOT_FOUND
        else:
            status = HTTPStatus.OK
        try:
            body = self._fresh_text() if status is HTTPStatus.OK else f"{status.phrase}\n".encode()
        except Exception:
            _logger.exception("the metrics cannot be written")
            status, body = HTTPStatus.INTERNAL_SERVER_ERROR, b"see the log\n"
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {CONTENT_TYPE}\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        writer.write(head.encode() + (b"" if method == "HEAD" else body))
        async with asyncio.timeout(ANSWER_S):
            writer.close()
            await writer.wait_closed()

    def _fresh_text(self) -> bytes:
        now = time.monotonic()
        if now >= self._made + FRESH_S:
            self._text, self._made = self._render(), now
        return self._text
