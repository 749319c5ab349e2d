"""A server: the servicer, health checking and reflection on one grpc.aio server, with graceful shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence
from importlib import metadata
from types import ModuleType
from typing import TYPE_CHECKING

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2

from mexica_ai.io.errors import SearchError
from mexica_ai.server import secret_files
from mexica_ai.server.auth import RECHECK_S, AuthInterceptor, Certificates, Tokens
from mexica_ai.server.concurrency import ConcurrencyInterceptor
from mexica_ai.server.config import ServerConfig, format_address, is_loopback, refuse
from mexica_ai.server.connections import CHECK_S, Connections, why_taken
from mexica_ai.server.errors import RequestCheckInterceptor
from mexica_ai.server.health import Health
from mexica_ai.server.logs import LoggingInterceptor
from mexica_ai.server.metrics import make_metrics
from mexica_ai.server.rejections import RateLimiter, RejectionPacingInterceptor
from mexica_ai.server.request_timeout import RequestTimeoutInterceptor
from mexica_ai.server.runner import MakeRun, make_run
from mexica_ai.server.scheduler import Scheduler
from mexica_ai.server.service import MAX_REQUEST_BYTES, SERVICE_NAME, EngineService
from mexica_ai.server.slots import BusyError
from mexica_ai.server.tracing import make_tracing
from mexica_ai.server.workers import Workers
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

if TYPE_CHECKING:
    from mexica_ai.server.http.door import Door

LINGER_S = 0.5  # longest time between NOT_SERVING and the end of service
ENDLESS_S = 86_400.0  # longer than any drain
FLUSH_S = 0.5  # time at the end for unsent answers and streams of health watchers
MAX_INT32 = 2**31 - 1  # largest value of gRPC's options
REPORT_S = 86_400.0  # how often concerns about certificates and keys are logged again

_OPTIONS = [
    ("grpc.max_receive_message_length", MAX_REQUEST_BYTES),
    ("grpc.so_reuseport", 0),  # else a second server on the port would silently take half of the calls
    # A client that vanishes without closing its connection keeps its slot or its place in the queue until
    # keepalive fails.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),  # which gRPC 1.85 goes by, a minute by default
    # Clients may do the same; by default the connection of one that asks more often than every five minutes is closed.
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 20_000),
    # Calls that have not been taken up yet. Of more than these gRPC drops some at random, with CANCELLED; who may have
    # how many is decided here.
    ("grpc.server.max_pending_requests", 1_000_000),
    ("grpc.server.max_pending_requests_hard_limit", 1_000_000),
    ("grpc.server_handshake_timeout_ms", 10_000),  # closes connections that do not finish the TLS handshake
]
_DESCRIPTORS = (engine_pb2.DESCRIPTOR, health_pb2.DESCRIPTOR, reflection_pb2.DESCRIPTOR)
HEALTH_NAME = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
METHODS = frozenset(
    f"/{service.full_name}/{method.name}"
    for file in _DESCRIPTORS
    for service in file.services_by_name.values()
    for method in service.methods
)

_logger = logging.getLogger("mexica_ai.server")

LARGE = frozenset({f"/{SERVICE_NAME}/EvaluateRecord"})  # methods with requests larger than a position
MANY = frozenset({f"/{SERVICE_NAME}/BestTurns"})  # methods whose requests are each answered


class Server:
    """One server in the running event loop.

    Parameters
    ----------
    config : ServerConfig
    make_run : callable, optional
        As for Scheduler.

    Attributes
    ----------
    scheduler : Scheduler
    metrics : Metrics
    address : str
        `host:port`, with the real port once started.
    http_address : str
        The same of HTTP; "" if there is none.

    Raises
    ------
    SearchError
        A file of the configuration cannot be used, or a package is missing; reason INVALID_CONFIG.
    """

    def __init__(self, config: ServerConfig, make_run: MakeRun = make_run) -> None:
        self._config = config
        self._certificates = Certificates(config) if config.tls_certificate else None
        self._tokens = Tokens(config.tokens_file) if config.tokens_file else None
        self._auth = AuthInterceptor(self._tokens)
        self._watching: asyncio.Task[None] | None = None
        version = metadata.version("mexica-ai")
        self.metrics = make_metrics(config)
        self._tracing = make_tracing(config, version)
        self._health = Health(config.max_connections_per_address)
        self.scheduler = Scheduler(config, self.metrics, make_run)
        slots = self.scheduler.admission.slots
        self.metrics.server(version, config.slots, lambda: slots.num_waiting, slots.busy_s)
        self.address, self.http_address = config.address, ""
        self._guarding: asyncio.Task[None] | None = None
        limiter = RateLimiter(config.max_call_rate, config.max_call_rate)
        # maximum_concurrent_rpcs stays unset: it would reject health checks while all slots are taken.
        interceptors = [
            LoggingInterceptor(self.metrics, METHODS, self._tracing),
            RejectionPacingInterceptor(),
            self._auth,
            ConcurrencyInterceptor(config.max_calls_per_caller, limiter, self.metrics),
            RequestTimeoutInterceptor(),
            RequestCheckInterceptor(LARGE, MANY),
        ]
        options = [*_OPTIONS, *_connection_options(config)]
        self._server = grpc.aio.server(interceptors=interceptors, options=options)
        self._service = EngineService(config, self.scheduler, limiter)
        self._reloading = asyncio.Lock()
        self._door = None if config.http_port is None else _make_door(config, self._service, interceptors)
        engine_pb2_grpc.add_EngineServiceServicer_to_server(self._service, self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection([SERVICE_NAME, HEALTH_NAME, reflection.SERVICE_NAME], self._server)

    async def start(self) -> None:
        """Listen and serve.

        Raises
        ------
        OSError
            The server cannot listen on an address.
        """
        config = self._config
        is_sure = not config.port and is_loopback(config.host)  # the system picks a free port
        # gRPC's core would say it in lines of its own.
        if fault := "" if is_sure else why_taken(config.host, config.port):
            raise OSError(f"cannot listen on {config.address}: {fault}")
        try:
            if self._certificates is None:
                port = self._server.add_insecure_port(self._config.address)
            else:
                port = self._server.add_secure_port(self._config.address, self._certificates.credentials())
        except RuntimeError as error:
            raise OSError(f"cannot listen on {self._config.address}: {error}") from None
        self.address = format_address(self._config.host, port)
        if self._door:
            await self._door.start()
            self.http_address = self._door.address
        self._look_at_secrets()
        self.metrics.start()
        self._watching = asyncio.create_task(self._watch_secrets())
        self._health.serve(("", SERVICE_NAME))
        await self._server.start()
        self._guarding = asyncio.create_task(self._guard(port))

    async def _guard(self, port: int) -> None:
        """Keep each address within its number of connections."""
        ports = [port, self._door.port] if self._door else [port]
        connections = Connections(ports, self._config.max_connections_per_address)
        workers = Workers(1, "guard")  # looking through thousands of descriptors takes tens of milliseconds
        try:
            while True:
                await asyncio.sleep(CHECK_S)
                with contextlib.suppress(BusyError):  # no thread: the next look may have one
                    await workers.submit(connections.enforce)
        finally:
            workers.end()

    async def _watch_secrets(self) -> None:
        """Look for changed files of secrets, and from time to time at what an operator should know of them."""
        next_report = time.monotonic()
        while True:
            if time.monotonic() >= next_report:
                next_report += REPORT_S
                for concern in secret_files.concerns(self._config):
                    _logger.warning("%s", concern.message)
            await asyncio.sleep(RECHECK_S)
            self._look_at_secrets()

    def _look_at_secrets(self) -> None:
        if self._tokens:
            self._auth.end_revoked()
            self.metrics.secrets("tokens_file", self._tokens.is_usable)
        if self._certificates:
            self._certificates.refresh()
            if self._door and self._certificates.is_usable:
                self._door.renew(self._certificates.num_read)
            self.metrics.secrets("tls_certificate", self._certificates.is_usable)
            for field, end_s in self._certificates.expiries.items():
                self.metrics.expiry(field, end_s)
        for field, mode in secret_files.exposures(self._config).items():
            self.metrics.exposed(field, mode is not None)

    async def reload_weights(self) -> None:
        """Read the files of weights again, and use them from now on; if one cannot be used, keep all as they are."""
        async with self._reloading:
            try:
                weights = await asyncio.to_thread(self._config.read_weights)
            except SearchError as error:
                for fault in error.violations:
                    _logger.error("weights stay as they were: %s", fault.message)
                self.metrics.weights(is_usable=False)
                return
            self._service.use_weights(weights)
            self.metrics.weights(is_usable=True)
            for name, read in weights:
                fields = {"game": read.game, "name": name, "sha256": read.sha256}
                _logger.info("weights in force", extra={"fields": fields})

    async def drain(self) -> None:
        """Shut down gracefully: report NOT_SERVING, turn away connections, finish or stop searches, close."""
        self._health.stop()
        if self._door:
            self._door.site.is_healthy = False
        # Clients and balancers notice this after some time; until then calls are answered.
        await asyncio.sleep(min(LINGER_S, self._config.grace_s / 4))
        # Now a GOAWAY tells clients to connect elsewhere, also behind a balancer, which keeps connections. Calls
        # that have come go on.
        if self._door:
            self._door.site.is_open = False
        going_away = asyncio.ensure_future(self._server.stop(ENDLESS_S))
        await self.scheduler.close(self._config.grace_s)
        # gRPC's core may crash where two stops end at the same time, so the first gives way before the next begins.
        going_away.cancel()
        await asyncio.wait([going_away])
        await self._server.stop(FLUSH_S)
        if self._door:
            await self._door.close(FLUSH_S)
        if self._guarding:
            self._guarding.cancel()
        if self._watching:
            self._watching.cancel()
        self.scheduler.end_workers()
        await asyncio.to_thread(self.metrics.close)
        await asyncio.to_thread(self._tracing.close)


def _door_module() -> ModuleType:
    """Return the module of the door for HTTP, whose libraries are not needed without it."""
    try:
        from mexica_ai.server.http import door
    except ModuleNotFoundError as error:
        refuse(
            "http_port",
            f"is set, which needs libraries ({error}); expected them installed: pip install 'mexica-ai[http]'",
        )
    return door


def _make_door(
    config: ServerConfig, service: EngineService, interceptors: Sequence[grpc.aio.ServerInterceptor]
) -> Door:
    """Return the door for HTTP."""
    made: Door = _door_module().make_door(config, service, interceptors, LARGE, MAX_REQUEST_BYTES)
    return made


def _connection_options(config: ServerConfig) -> list[tuple[str, int]]:
    """Return gRPC's options for connections; connections that are too old end when their calls have ended."""
    return [
        # One more for the watch of health that clients with the published service config keep.
        ("grpc.max_concurrent_streams", config.max_streams_per_connection + 1),
        ("grpc.max_connection_age_ms", min(MAX_INT32, int(1000 * config.max_connection_age_s))),
        ("grpc.max_connection_idle_ms", min(MAX_INT32, int(1000 * config.max_connection_idle_s))),
    ]


def check(config: ServerConfig) -> list[secret_files.Concern]:
    """Raise the error with which `Server` would reject this configuration, if any.

    Returns
    -------
    list of Concern
        Concerns about the files of secrets.
    """
    if config.tls_certificate:
        Certificates(config)
    if config.tokens_file:
        Tokens(config.tokens_file)
    if config.http_port is not None:
        _door_module()
    config.read_weights()
    make_metrics(config)
    make_tracing(config, "").close()
    return secret_files.concerns(config)
