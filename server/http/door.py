"""The door: listens for HTTP in the event loop of the gRPC server, with the same certificates."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import socket
import ssl
from collections.abc import Iterator, Sequence

import grpc
import uvicorn

from mexica_ai.rpc import wire
from mexica_ai.server.config import ServerConfig, format_address
from mexica_ai.server.connections import words_of
from mexica_ai.server.http.calls import Calls
from mexica_ai.server.http.connections import OPTIONS, Connections
from mexica_ai.server.http.site import Site, methods
from mexica_ai.server.workers import FairWorkers
from mexica_ai.v1 import engine_pb2_grpc

MAX_CONNECTIONS = 1000  # each takes a file descriptor
BACKLOG = 1024  # connections that the kernel keeps until they are accepted
MAX_HEAD_BYTES = 1 << 14
END_S = 1.0  # for connections when the server ends
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 30), (socket.TCP_KEEPINTVL, 10), (socket.TCP_KEEPCNT, 1))

_logger = logging.getLogger("mexica_ai.server")


class _Uvicorn(uvicorn.Server):
    """Leaves signals to the process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class Door:
    """Serves a site over HTTP.

    Parameters
    ----------
    config : ServerConfig
        With an `http_port`.
    site : Site
    workers : FairWorkers
        Those of the site; they end with the door.

    Attributes
    ----------
    address : str
        `host:port`, with the real port once started.
    port : int
        The same.
    """

    def __init__(self, config: ServerConfig, site: Site, workers: FairWorkers) -> None:
        assert config.http_port is not None  # else there is no door
        self._config, self.site, self._workers = config, site, workers
        self.port = config.http_port
        self.address = format_address(config.http_host, self.port)
        self._num_read = 1
        self._tasks: list[asyncio.Task[None]] = []
        self._uvicorn = _Uvicorn(
            uvicorn.Config(
                site,
                **OPTIONS,
                timeout_keep_alive=math.ceil(config.max_connection_idle_s),
                timeout_graceful_shutdown=int(END_S),
                h11_max_incomplete_event_size=MAX_HEAD_BYTES,
            )
        )

    async def start(self) -> None:
        """Listen and serve.

        Raises
        ------
        OSError
            The address cannot be used.
        """
        listener = self._listen()
        self._uvicorn.config.load()
        if self._config.tls_certificate is not None:
            self._uvicorn.config.ssl = self._tls()
        serving = asyncio.create_task(self._uvicorn.serve(sockets=[]))
        while not self._uvicorn.started and not serving.done():
            await asyncio.sleep(0.005)
        idle_s = self._config.max_connection_idle_s
        connections = Connections(self._uvicorn, max_connections=MAX_CONNECTIONS, limits_bodies=False, idle_s=idle_s)
        self._tasks = [serving, asyncio.create_task(_accept(connections, listener))]

    def renew(self, num_read: int) -> None:
        """Use the certificates as their files are now for new connections, if they were read again since the last time.

        Parameters
        ----------
        num_read : int
            How often they have been read.
        """
        if self._config.tls_certificate is None or num_read == self._num_read:
            return
        try:
            self._uvicorn.config.ssl = self._tls()
        except (OSError, ValueError) as error:  # replaced since they were checked; tried again at the next look
            _logger.warning("HTTP keeps its certificate: the files have changed meanwhile: %s", error)
        else:
            self._num_read = num_read

    def _tls(self) -> ssl.SSLContext:
        """Return what new connections are encrypted with, from the files as they are now."""
        assert self._config.tls_certificate is not None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._config.tls_certificate, self._config.tls_key)
        context.set_alpn_protocols(["http/1.1"])
        if self._config.tls_client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self._config.tls_client_ca)
        return context

    async def close(self, flush_s: float) -> None:
        """Let the calls in work end within some time, and close all connections."""
        if self.site.running:
            _, late = await asyncio.wait(self.site.running, timeout=flush_s)
            for task in late:
                task.cancel()
        self._uvicorn.should_exit = True
        for task in reversed(self._tasks):
            if task is not self._tasks[0]:
                task.cancel()
        await asyncio.wait(self._tasks)
        self._workers.end()

    def _listen(self) -> socket.socket:
        host, port = self._config.http_host, self.port
        try:
            found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            family, *_, address = found[0]
            is_dual = host == "::" and socket.has_dualstack_ipv6()
            listener = socket.create_server(address[:2], family=family, backlog=BACKLOG, dualstack_ipv6=is_dual)
        except OSError as error:
            raise OSError(f"cannot listen on {format_address(host, port)}: {words_of(error)}") from None
        self.port = listener.getsockname()[1]
        self.address = format_address(host, self.port)
        listener.setblocking(False)
        # A client that vanishes without closing its connection does not keep its slot; connections inherit these.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _KEEPALIVE:
            listener.setsockopt(socket.IPPROTO_TCP, option, value)
        return listener


async def _accept(connections: Connections, listener: socket.socket) -> None:
    with listener:
        await connections.accept(listener)


def make_door(
    config: ServerConfig,
    servicer: engine_pb2_grpc.EngineServiceServicer,
    interceptors: Sequence[grpc.aio.ServerInterceptor],
    large: frozenset[str],
    large_bytes: int,
) -> Door:
    """Return the door to a servicer.

    Parameters
    ----------
    config : ServerConfig
    servicer : EngineServiceServicer
    interceptors : sequence of grpc.aio.ServerInterceptor
        Those of the gRPC server.
    large : frozenset of str
        Methods with requests of `large_bytes` at most; others have `wire.MAX_BYTES`.
    large_bytes : int
    """
    workers = FairWorkers(1, "http")
    served = methods(wire.MAX_BYTES, large_bytes, large)
    return Door(config, Site(config, Calls(servicer, interceptors), served, workers), workers)
