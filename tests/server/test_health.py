"""Health checking: what watchers are told, and that they do not wait for each other."""

import asyncio
from types import SimpleNamespace

import grpc
import pytest
from grpc_health.v1 import health_pb2

from mexica_ai.server.auth import CALLER
from mexica_ai.server.concurrency import ConcurrencyInterceptor
from mexica_ai.server.health import Health
from mexica_ai.server.metrics import Metrics
from mexica_ai.server.rejections import RateLimiter

SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
OF_ALL = health_pb2.HealthCheckRequest()


class Watcher:
    """Notes what it is told. A slow one reads when it is let."""

    def __init__(self, health, request=OF_ALL, is_slow=False):
        self.seen = []
        self._may_read = asyncio.Event()
        if not is_slow:
            self._may_read.set()
        self.task = asyncio.ensure_future(health.Watch(request, self))

    async def write(self, response):
        await self._may_read.wait()
        self.seen.append(response.status)

    def read(self):
        self._may_read.set()

    async def abort(self, code):
        raise grpc.aio.AbortError(code)


async def turns():
    """Let all tasks go on that can."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_watcher_that_reads_nothing_keeps_no_other_waiting():
    async def play():
        health = Health()
        health.serve(("", "one"))
        slow = Watcher(health, is_slow=True)
        await turns()
        other = Watcher(health)
        await turns()
        assert other.seen == [SERVING]
        health.stop()  # at once, which no watcher can delay
        await turns()
        assert (slow.seen, other.seen) == ([], [SERVING, NOT_SERVING])
        slow.read()
        await turns()
        assert slow.seen == [SERVING, NOT_SERVING]
        for watcher in (slow, other):
            watcher.task.cancel()

    asyncio.run(play())


def test_services_that_there_are_not():
    async def play():
        health = Health()
        unknown = health_pb2.HealthCheckRequest(service="one")
        watcher = Watcher(health, unknown)
        with pytest.raises(grpc.aio.AbortError):
            await health.Check(unknown, watcher)
        await turns()
        health.serve(["one"])
        await turns()
        assert watcher.seen == [UNKNOWN, SERVING]
        assert (await health.Check(unknown, watcher)).status == SERVING
        watcher.task.cancel()

    asyncio.run(play())


def test_watchers_take_no_place_of_the_calls_of_their_caller():
    async def play():
        handler = object()

        async def found(_details):
            return handler

        CALLER.set("a name of a certificate")
        interceptor = ConcurrencyInterceptor(0, RateLimiter(1, 1), Metrics())
        watch = SimpleNamespace(method="/grpc.health.v1.Health/Watch")
        assert await interceptor.intercept_service(found, watch) is handler
        search = SimpleNamespace(method="/mexica_ai.v1.EngineService/BestTurn")
        assert await interceptor.intercept_service(found, search) is not handler

    asyncio.run(play())
