"""Limits on the connections of a server for HTTP: their number, and the time until a request has arrived.

uvicorn waits for a request for ever, and accepts connections until the process has no file descriptors left. So this
module accepts them, and uvicorn only answers their requests. It also closes them: uvicorn would do so while a client
still sends what was refused, and the client would often see a reset in the place of the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import socket
import ssl
from collections.abc import Callable, Iterator
from typing import Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 200
REQUEST_S = 30.0  # for a request with its body, and for the handshake of TLS
PAUSE_S = 0.1  # after a failure to accept a connection
REPORT_S = 60.0  # between two reports of such failures
# What a client still sends after an answer that ends its connection is read for so long, and so much of it.
LINGER_S = 1.0
LINGER_BYTES = 1 << 24
OPTIONS: dict[str, Any] = {  # of uvicorn, for every application that serves these connections
    "lifespan": "off",
    "log_config": None,
    "access_log": False,
    "server_header": False,
    "proxy_headers": False,
    "ws": "none",
    "log_level": "error",  # its warnings are of requests that strangers get wrong
}

_KINDS_OF_NAMES = ("DNS", "URI", "email", "IP Address")  # in a certificate: those that gRPC tells, too
_logger = logging.getLogger("mexica_ai.server.http")


class Connections:
    """All connections of a server. If there are too many, one that waits is closed.

    Parameters
    ----------
    server : uvicorn.Server
        It has started, without sockets of its own.
    max_connections : int
    limits_bodies : bool
        Whether the time until a request has arrived includes its body.
    idle_s : float
        How long a connection that has had a request may wait for the next one.
    """

    def __init__(
        self,
        server: uvicorn.Server,
        *,
        max_connections: int = MAX_CONNECTIONS,
        limits_bodies: bool = True,
        idle_s: float = REQUEST_S,
    ) -> None:
        self.server, self.limits_bodies, self.idle_s = server, limits_bodies, idle_s
        self._max_connections = max_connections
        self.open: dict[Connection, None] = {}  # the oldest first

    async def accept(self, listener: socket.socket) -> None:
        """Accept connections until cancelled; then close those that wait for a request.

        Parameters
        ----------
        listener : socket
            Non-blocking.
        """
        loop = asyncio.get_running_loop()
        next_report_s = loop.time()
        try:
            while True:
                try:
                    accepted, _ = await loop.sock_accept(listener)
                except OSError as error:  # such as no more file descriptors
                    if loop.time() >= next_report_s:
                        next_report_s = loop.time() + REPORT_S
                        _logger.error("cannot accept connections: %s", error)
                    self._make_room()
                    await asyncio.sleep(PAUSE_S)
                    continue
                Connection(self).join(accepted)
                if len(self.open) > self._max_connections:
                    self._make_room()
                await asyncio.sleep(0)  # `sock_accept` lets nothing else run while more of them are there
        finally:
            for one in [one for one in self.open if one.is_waiting]:
                one.drop()

    def _make_room(self) -> None:
        """Close a connection that waits, if there is one: with a held rejection before others, then the oldest."""
        waiting = (one for one in self.open if one.is_waiting)
        first = min(waiting, key=lambda one: not one.is_held, default=None)
        if first is not None:
            first.drop()


class _Transport:
    """A transport of asyncio, whose `close` lets a client that still sends have the answer first.

    If a socket is closed while something waits to be read, or more comes, the kernel sends a reset, and an answer that
    is still on its way is lost. So this only says that no more is sent, and throws away what comes until the client
    closes, within bounds.

    Parameters
    ----------
    inner : asyncio.Transport
    may_come : callable
        Returns whether the client may still send.

    Attributes
    ----------
    is_lingering : bool
        Whether it is closed but for what still comes.
    """

    def __init__(self, inner: asyncio.Transport, may_come: Callable[[], bool]) -> None:
        self._inner, self._may_come = inner, may_come
        self._left = LINGER_BYTES
        self.is_lingering = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def is_closing(self) -> bool:
        """Return whether the transport is closed, or lingers."""
        return self.is_lingering or self._inner.is_closing()

    def close(self) -> None:
        """Close the transport, at once if the client has sent all."""
        if self.is_closing():
            return
        if not self._may_come():
            self._inner.close()
            return
        self.is_lingering = True
        # TLS cannot say it, and who reads slowly is not told; these learn the end from the answer's length.
        if self._inner.can_write_eof() and not self._inner.get_write_buffer_size():
            try:
                self._inner.write_eof()
            except OSError:  # the client is gone
                self._inner.abort()
                return
        self._inner.resume_reading()
        asyncio.get_running_loop().call_later(LINGER_S, self._end)

    def throw_away(self, data: bytes) -> None:
        """Take what has come after the answer."""
        self._left -= len(data)
        if self._left < 0:
            self._end()

    def _end(self) -> None:
        if self._inner.get_write_buffer_size():  # of an answer that the client reads slowly
            self._inner.close()
        else:  # TLS would wait for the client once more
            self._inner.abort()


class Connection(H11Protocol):
    """One connection; it is closed if a request does not arrive as a whole in time.

    The state of its requests (`scope["state"]`) has `calls`, a set for tasks that are cancelled when the connection is
    lost; `opened_s`, when it began; `drop`, which closes it; `holding`, a context in which it waits for a held
    rejection; and `names`, those of the client's certificate, if it has one.

    Attributes
    ----------
    is_held : bool
        Whether it only waits for a rejection.
    """

    def __init__(self, connections: Connections) -> None:
        server = connections.server
        super().__init__(server.config, server.server_state, {})
        self._connections = connections
        self._joining: asyncio.Task[object] | None = None
        self._ending: _Transport
        self._limit: asyncio.TimerHandle | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self.is_held = False
        state = {"calls": self._calls, "opened_s": self.loop.time(), "drop": self.drop, "holding": self._holding}
        self.app_state |= state
        self._set_limit(True)
        connections.open[self] = None

    def join(self, accepted: socket.socket) -> None:
        """Take over a socket that was accepted."""
        if accepted.family != socket.AF_UNIX:
            # asyncio sets this for sockets of its own only. Without it a body waits 40 ms for the receipt of its head.
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        tls = self.config.ssl
        connecting = self.loop.connect_accepted_socket(
            lambda: self, accepted, ssl=tls, ssl_handshake_timeout=REQUEST_S if tls else None
        )
        self._joining = self.loop.create_task(connecting)
        self._joining.add_done_callback(functools.partial(self._joined, accepted))

    def _joined(self, accepted: socket.socket, task: asyncio.Task[object]) -> None:
        if task.cancelled() or task.exception() is not None:  # it was dropped, or the handshake failed
            accepted.close()
            self._forget()

    @property
    def is_waiting(self) -> bool:
        """Whether the connection waits for (the rest of) a request or a held rejection, or is being closed.

        A stream that is answered while its requests come does not wait.
        """
        is_answering = self.conn.our_state is h11.SEND_BODY
        lacks_body = self.conn.their_state is h11.SEND_BODY and not is_answering
        return self.is_held or lacks_body or self.conn.their_state is h11.IDLE or self.transport.is_closing()

    @contextlib.contextmanager
    def _holding(self) -> Iterator[None]:
        self.is_held = True
        try:
            yield
        finally:
            self.is_held = False

    def drop(self) -> None:
        """Close the connection at once."""
        self._forget()
        if self.transport is not None:
            self.transport.abort()
        elif self._joining is not None:
            self._joining.cancel()

    def _forget(self) -> None:
        self._set_limit(False)
        self._connections.open.pop(self, None)

    def _set_limit(self, is_limited: bool) -> None:
        if is_limited and self._limit is None:
            seconds = REQUEST_S if self.cycle is None else self._connections.idle_s
            self._limit = self.loop.call_later(seconds, self.drop)
        elif not is_limited and self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        """Note whose certificate the client has, if it has one."""
        self._ending = _Transport(transport, self._may_come)
        super().connection_made(cast(asyncio.Transport, self._ending))
        if certificate := transport.get_extra_info("peercert"):
            common = [value for part in certificate["subject"] for key, value in part if key == "commonName"]
            others = [value for kind, value in certificate.get("subjectAltName", ()) if kind in _KINDS_OF_NAMES]
            whole = ssl.DER_cert_to_PEM_cert(transport.get_extra_info("ssl_object").getpeercert(binary_form=True))
            self.app_state["names"] = {  # as gRPC has them
                "x509_common_name": [name.encode() for name in common],
                "x509_subject_alternative_name": [name.encode() for name in others],
                "x509_pem_cert": [whole.encode()],
            }

    def _may_come(self) -> bool:
        """Return whether the client may still send, of what was answered or refused."""
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete and not cycle.disconnected:
            return False  # it has no answer to lose
        return self.conn.their_state in (h11.SEND_BODY, h11.ERROR) or bool(self.conn.trailing_data[0])

    def data_received(self, data: bytes) -> None:
        """Handle what has arrived, or throw it away after the last answer, or the last request."""
        if self._ending.is_lingering or self.conn.their_state is h11.MUST_CLOSE:
            self._ending.throw_away(data)
        else:
            super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; in the midst of an answer, in which nothing else has a place, only close."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
            return
        body = msg.encode("ascii")
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", b"%d" % len(body)),  # over TLS nothing else says that no more comes
            (b"connection", b"close"),
        ]
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # what the application answers has no place any more
            self.cycle.message_event.set()
            body = b"" if self.scope["method"] == "HEAD" else body
        response = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def handle_events(self) -> None:
        """Handle what has arrived."""
        super().handle_events()
        waiting = (h11.IDLE, h11.SEND_BODY) if self._connections.limits_bodies else (h11.IDLE,)
        self._set_limit(self.conn.their_state in waiting)

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection, and cancel its calls."""
        self._forget()
        for call in self._calls:
            call.cancel()
        super().connection_lost(exc)
