"""Health checking (`grpc.health.v1`), in which no watcher waits for another.

The servicer of grpcio-health-checking writes to a watcher under a lock that all watchers and the shutdown need. So a
client that reads nothing would keep new watchers from an answer, and the server from its end.
"""

# ruff: noqa: N802, the methods have the names of the service

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from mexica_ai.server.concurrency import RETRY_S
from mexica_ai.server.errors import status_of
from mexica_ai.server.handlers import Context
from mexica_ai.server.rejections import caller_of, reject
from mexica_ai.server.slots import BusyError

MAX_WATCHERS = 10_000  # of all addresses; each takes memory until its client leaves

_Response = health_pb2.HealthCheckResponse


class Health(health_pb2_grpc.HealthServicer):
    """Whether services are served; all methods run in one event loop.

    Parameters
    ----------
    max_per_address : int
        Watchers that one address, or network of IPv6, may have; they need no token.
    """

    def __init__(self, max_per_address: int) -> None:
        self._max_per_address = max_per_address
        self._num_watching: Counter[str] = Counter()
        self._statuses: dict[str, int] = {}
        self._changed = asyncio.Event()

    def serve(self, services: Iterable[str]) -> None:
        """Report that services are served."""
        self._set(dict.fromkeys(services, _Response.SERVING))

    def stop(self) -> None:
        """Report that none is served any more."""
        self._set(dict.fromkeys(self._statuses, _Response.NOT_SERVING))

    def _set(self, statuses: dict[str, int]) -> None:
        self._statuses = statuses
        self._changed.set()
        self._changed = asyncio.Event()  # of the next change

    async def Check(self, request: health_pb2.HealthCheckRequest, context: Context) -> health_pb2.HealthCheckResponse:
        """Return the status of a service."""
        status = self._statuses.get(request.service)
        if status is None:
            await context.abort(grpc.StatusCode.NOT_FOUND)
        return _Response(status=status)

    async def Watch(self, request: health_pb2.HealthCheckRequest, context: Context) -> None:
        """Write the status of a service now, and each time that it is another one."""
        address = caller_of("", context.peer())
        if self._num_watching[address] >= self._max_per_address or self._num_watching.total() >= MAX_WATCHERS:
            error = BusyError("too many watchers of health", reason="TOO_MANY_CALLS", retry_s=RETRY_S)
            await reject(context, status_of(error), address)
        self._num_watching[address] += 1
        try:
            await self._watch(request.service, context)
        finally:
            self._num_watching[address] -= 1
            self._num_watching += Counter()  # drops those that are 0

    async def _watch(self, service: str, context: Context) -> None:
        written = None
        while True:
            changed = self._changed  # before the status is read, and a write waits
            status = self._statuses.get(service, _Response.SERVICE_UNKNOWN)
            if status != written:
                await context.write(_Response(status=status))
                written = status
            await changed.wait()
