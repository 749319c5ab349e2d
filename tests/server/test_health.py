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

    def __init__(self, health, request=OF_ALL, is_slow=False, address="10.0.0.1"):
        self.seen, self.code, self._address = [], None, address
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

    async def abort_with_status(self, status):
        self.code = status.code
        raise grpc.aio.AbortError(status.code)

    def peer(self):
        return f"ipv4:{self._address}:5000"

    def time_remaining(self):
        return None

    def invocation_metadata(self):
        return ()


async def turns():
    """Let all tasks go on that can."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_watcher_that_reads_nothing_keeps_no_other_waiting():
    async def play():
        health = Health(2)
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
        health = Health(2)
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


def test_an_address_has_a_number_of_watchers_and_so_have_all(monkeypatch):
    monkeypatch.setattr("mexica_ai.server.health.MAX_WATCHERS", 3)

    async def play():
        served = Health(2)
        served.serve([""])
        addresses = ["10.0.0.1"] * 3 + ["10.0.0.2"] * 2
        watchers = [Watcher(served, address=address) for address in addresses]
        await turns()
        assert [watcher.seen for watcher in watchers] == [[SERVING], [SERVING], [], [SERVING], []]
        assert {watchers[number].code for number in (2, 4)} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
        watchers[0].task.cancel()
        await turns()
        watchers.append(Watcher(served))  # there is room again
        await turns()
        assert watchers[-1].seen == [SERVING]
        for watcher in watchers:
            watcher.task.cancel()
        await asyncio.gather(*(watcher.task for watcher in watchers), return_exceptions=True)

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
