"""Servers for tests, and a fake search that waits instead of computing."""

import asyncio
import contextlib
import socket
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import httpx
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2_grpc
from grpc_status import rpc_status
from searching import fake_runs

import mexica_ai as ai
from mexica_ai.server.app import Server
from mexica_ai.server.config import ServerConfig
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc


class IdleSearch:
    """Stands in for the search: waits until stopped or out of time, and notes when searches ended."""

    def __init__(self):
        self.started = threading.Semaphore(0)
        self.ended = threading.Semaphore(0)
        self.end_times = []
        self.stop_reasons = []
        self.limits = []

    def __call__(self, position, limits, *, seed, candidates, stop, weights, level=10):
        self.limits.append(limits)
        self.started.release()
        begin = time.monotonic()
        stop_reason = "stopped" if stop.wait(limits.time_s) else "time"
        self.end_times.append(time.monotonic())
        self.stop_reasons.append(stop_reason)
        self.ended.release()
        turn = ["take 1 1"] if position.game == "nim" else ["end"]
        share, scores = [1 / position.players] * position.players, [0.0] * position.players
        found = [ai.Candidate(turn, 1, share, scores, 1.0, [])] * candidates
        return ai.Result(found, 1, 1, 1, self.end_times[-1] - begin, stop_reason, seed, limits.threads)

    def await_start(self):
        assert self.started.acquire(timeout=60)

    def await_end(self):
        assert self.ended.acquire(timeout=60)


class RunningServer:
    """A server in an event loop of its own thread.

    It listens on a unix socket, for which it needs no port; with `port` among its configuration, on that. The same for
    HTTP, if the configuration has an `http_port`: `http` is then a client.
    """

    def __init__(self, search, *, watch=None, **config):
        self._folder = None if "port" in config else tempfile.TemporaryDirectory()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._config = ServerConfig(**{"port": 0, "slots": 2, "grace_s": 0.1, **config})
        self._server = None
        self._searching = (fake_runs(search, watch),) if search or watch else ()
        try:
            self.run(self._start())
        except BaseException:
            self._end_loop()
            raise
        self.metrics = self._server.metrics
        self.http_path = None if self._folder is None else str(Path(self._folder.name, "http"))
        self.channel = grpc.insecure_channel(self.address)
        self.stub = engine_pb2_grpc.EngineServiceStub(self.channel)
        self.health = health_pb2_grpc.HealthStub(self.channel)

    async def _start(self):
        self._server = Server(self._config, *self._searching)
        if self._folder is None:
            await self._server.start()
            self.address = self._server.address
        else:
            self.address = on_a_socket(self._server, self._folder.name)
            await self._server.start()

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    def http(self, scheme="http", **options):
        """Return a client of the door for HTTP."""
        verify = options.pop("verify", True)
        transport = httpx.HTTPTransport(uds=self.http_path, verify=verify)
        return httpx.Client(base_url=f"{scheme}://localhost", transport=transport, timeout=60, **options)

    def num_waiting(self):
        return self._server.scheduler.admission.slots.num_waiting

    def stop_searches(self):
        self._loop.call_soon_threadsafe(self._server.scheduler.stop_searches)

    def drain(self):
        self.run(self._server.drain())

    def close(self):
        self.channel.close()
        self.drain()
        self._end_loop()

    def _end_loop(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        if self._folder is not None:
            self._folder.cleanup()


def on_a_socket(server, folder):
    """Let a server listen on a unix socket in a folder, instead of its port; return the address."""
    address, inner = f"unix:{Path(folder, 'server')}", server._server
    for name in ("add_insecure_port", "add_secure_port"):
        add = getattr(inner, name)
        setattr(inner, name, lambda _, *credentials, add=add: add(address, *credentials))
    if server._door:
        listener = socket.socket(socket.AF_UNIX)
        listener.setblocking(False)
        listener.bind(str(Path(folder, "http")))
        listener.listen(1024)
        server._door._listen = lambda: listener
    return address


@contextlib.contextmanager
def unavailable_at_first(num_failures, turn):
    """Run a server whose first calls of BestTurn are UNAVAILABLE; yield its address and the requests so far."""
    requests = []

    def best_turn(request, context):
        requests.append(request)
        if len(requests) <= num_failures:
            context.abort(grpc.StatusCode.UNAVAILABLE, "busy")
        return engine_pb2.BestTurnResponse(result=engine_pb2.SearchResult(turn=turn))

    handler = grpc.unary_unary_rpc_method_handler(
        best_turn, engine_pb2.BestTurnRequest.FromString, engine_pb2.BestTurnResponse.SerializeToString
    )
    server = grpc.server(ThreadPoolExecutor(2))
    methods = grpc.method_handlers_generic_handler("mexica_ai.v1.EngineService", {"BestTurn": handler})
    server.add_generic_rpc_handlers([methods])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}", requests
    finally:
        server.stop(None)


def await_that(is_so):
    """Wait until a condition holds."""
    end, tick = time.monotonic() + 60, threading.Event()
    while not is_so():
        assert time.monotonic() < end
        tick.wait(0.005)


def failure(call, *args, **kwargs):
    """Return the code, the message and the details of a call that fails."""
    with pytest.raises(grpc.RpcError) as caught:
        call(*args, **kwargs)
    info, faults = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    status = rpc_status.from_call(caught.value)
    for detail in status.details if status else ():
        detail.Unpack(info)
        detail.Unpack(faults)
    return caught.value.code(), caught.value.details(), info, list(faults.field_violations)
