"""A server: the servicer, health checking and reflection on one grpc.aio server, with a graceful end."""

from __future__ import annotations

from collections.abc import Callable

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from mexica_ai.results import Result
from mexica_ai.search import run_search
from mexica_ai.server.config import ServerConfig, format_address
from mexica_ai.server.errors import RefusesUnreadable
from mexica_ai.server.service import SERVICE_NAME, EngineService
from mexica_ai.v1 import engine_pb2_grpc

MAX_REQUEST_BYTES = 1 << 16  # the largest real position takes under 4 KiB
FLUSH_S = 0.5  # what answers on their way, and streams of health watchers, get at the end

_OPTIONS = [
    ("grpc.max_receive_message_length", MAX_REQUEST_BYTES),
    ("grpc.so_reuseport", 0),  # else a second server on the port would silently take half of the calls
]


class Server:
    """One server in the running event loop.

    Parameters
    ----------
    config : ServerConfig
    search : callable
        As for EngineService.

    Attributes
    ----------
    service : EngineService
    address : str
        `host:port`, with the real port once started.
    """

    def __init__(self, config: ServerConfig, search: Callable[..., Result] = run_search) -> None:
        self._config = config
        self._health = health.aio.HealthServicer()
        self.service = EngineService(config, search)
        self.address = config.address
        # maximum_concurrent_rpcs stays unset: it would reject health checks while all slots are taken.
        self._server = grpc.aio.server(interceptors=[RefusesUnreadable()], options=_OPTIONS)
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
            The address cannot be listened on.
        """
        try:
            port = self._server.add_insecure_port(self._config.address)
        except RuntimeError as error:
            raise OSError(f"cannot listen on {self._config.address}: {error}") from None
        self.address = format_address(self._config.host, port)
        await self._server.start()
        for service in ("", SERVICE_NAME):
            await self._health.set(service, health_pb2.HealthCheckResponse.SERVING)

    async def drain(self) -> None:
        """End gracefully: report NOT_SERVING, finish or stop running searches, send the answers, close."""
        await self._health.enter_graceful_shutdown()
        await self.service.close(self._config.grace_s)
        await self._server.stop(FLUSH_S)
