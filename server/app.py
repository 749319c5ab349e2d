"""A server: the servicer, health checking and reflection on one grpc.aio server, with graceful shutdown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2

from mexica_ai.results import Result
from mexica_ai.server.auth import Authenticates, Tokens, server_credentials
from mexica_ai.server.config import ServerConfig, format_address
from mexica_ai.server.errors import RefusesUnreadable
from mexica_ai.server.logs import LogsCalls
from mexica_ai.server.metrics import make_metrics
from mexica_ai.server.service import MAX_REQUEST_BYTES, SERVICE_NAME, EngineService
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

LINGER_S = 0.5  # longest time between NOT_SERVING and the end of service
FLUSH_S = 0.5  # time at the end for unsent answers and streams of health watchers
SPARE_STREAMS = 100  # calls on one connection that neither search nor wait for a slot

_OPTIONS = [
    ("grpc.max_receive_message_length", MAX_REQUEST_BYTES),
    ("grpc.so_reuseport", 0),  # else a second server on the port would silently take half of the calls
    # A client that vanishes without closing its connection keeps its slot or its place in the queue until
    # keepalive fails.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.server_handshake_timeout_ms", 10_000),  # closes connections that do not finish the TLS handshake
]
_DESCRIPTORS = (engine_pb2.DESCRIPTOR, health_pb2.DESCRIPTOR, reflection_pb2.DESCRIPTOR)
METHODS = frozenset(
    f"/{service.full_name}/{method.name}"
    for file in _DESCRIPTORS
    for service in file.services_by_name.values()
    for method in service.methods
)

LARGE = frozenset({f"/{SERVICE_NAME}/EvaluateRecord"})  # methods with requests larger than a position


class Server:
    """One server in the running event loop.

    Parameters
    ----------
    config : ServerConfig
    search : callable, optional
        As for EngineService.

    Attributes
    ----------
    service : EngineService
    metrics : Metrics
    address : str
        `host:port`, with the real port once started.

    Raises
    ------
    SearchError
        A file of the configuration cannot be used, or a package is missing; reason INVALID_CONFIG.
    """

    def __init__(self, config: ServerConfig, search: Callable[..., Result] | None = None) -> None:
        self._config = config
        self._credentials = server_credentials(config)
        tokens = Tokens(config.tokens_file) if config.tokens_file else None
        self.metrics = make_metrics(config)
        self._health = health.aio.HealthServicer()
        self.service = EngineService(config, search)
        self.service.metrics = self.metrics
        self.address = config.address
        # maximum_concurrent_rpcs stays unset: it would reject health checks while all slots are taken.
        # Calls on one connection beyond those that can search or wait would only use memory.
        max_streams = config.slots + config.max_waiting + SPARE_STREAMS
        self._server = grpc.aio.server(
            interceptors=[LogsCalls(self.metrics, METHODS), Authenticates(tokens), RefusesUnreadable(LARGE)],
            options=[*_OPTIONS, ("grpc.max_concurrent_streams", max_streams)],
        )
        engine_pb2_grpc.add_EngineServiceServicer_to_server(self.service, self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection(
            [SERVICE_NAME, health.SERVICE_NAME, reflection.SERVICE_NAME], self._server
        )

    async def start(self) -> None:
        """Listen and serve.

        Raises
        ------
        OSError
            The server cannot listen on an address.
        """
        try:
            if self._credentials is None:
                port = self._server.add_insecure_port(self._config.address)
            else:
                port = self._server.add_secure_port(self._config.address, self._credentials)
        except RuntimeError as error:
            raise OSError(f"cannot listen on {self._config.address}: {error}") from None
        self.address = format_address(self._config.host, port)
        self.metrics.start()
        await self._server.start()
        for service in ("", SERVICE_NAME):
            await self._health.set(service, health_pb2.HealthCheckResponse.SERVING)

    async def drain(self) -> None:
        """Shut down gracefully: report NOT_SERVING, finish or stop running searches, send answers, close."""
        await self._health.enter_graceful_shutdown()
        # Clients notice this after some time; until then their calls are answered.
        await asyncio.sleep(min(LINGER_S, self._config.grace_s / 4))
        await self.service.close(self._config.grace_s)
        await self._server.stop(FLUSH_S)
        self.service.end_workers()
        await asyncio.to_thread(self.metrics.close)


def check(config: ServerConfig) -> None:
    """Raise the error with which `Server` would reject this configuration, if any."""
    server_credentials(config)
    if config.tokens_file:
        Tokens(config.tokens_file)
    config.read_weights()
    make_metrics(config)
