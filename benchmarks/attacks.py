"""Code shared by the attacks: servers in processes of their own, callers that note outcomes, a TCP balancer."""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import grpc
from common import positive, quantiles
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

import mexica_ai as ai
from mexica_ai.rpc import wire
from mexica_ai.rpc.client import service_config
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

POLL_S = 0.05  # between two health checks of the balancer
OWN = [("grpc.use_local_subchannel_pool", 1)]  # options of a channel with a connection of its own
EXAMPLE = Path(__file__).parents[1] / "examples" / "mexica_midgame.json"


def arguments(text):
    """Return a parser with the arguments of all attacks."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--seconds", type=positive(float), default=20.0, help="how long to attack")
    parser.add_argument("--json", action="store_true")
    return parser


def report(figures, as_json):
    """Print figures, as JSON or a line each."""
    if as_json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name}: {value}")


@contextlib.contextmanager
def tokens_file(tokens):
    """Give a file of callers' tokens, by name, as a server reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokens"
        path.write_text("".join(f"{name} {token}\n" for name, token in tokens.items()))
        path.chmod(0o600)
        yield path


class ServerProcess:
    """A server of this checkout in a process of its own, and where it listens."""

    def __init__(self, *flags):
        command = [sys.executable, "-P", "-m", "mexica_ai", "serve", "--port", "0", "--log-level", "error"]
        self._process = subprocess.Popen([*command, *map(str, flags)], stdout=subprocess.PIPE, text=True)
        self.address = self._process.stdout.readline().split()[-1]
        self.pid = self._process.pid

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def terminate(self):
        self._process.send_signal(signal.SIGTERM)

    async def ended(self):
        """Wait for the end of the process; return its exit code."""
        return await asyncio.to_thread(self._process.wait)

    def loop_cpu_s(self):
        """Return the processor time that the thread of the event loop has used so far, in seconds."""
        fields = Path(f"/proc/{self.pid}/task/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self):
        """Return the resident memory in MiB."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


class Tally:
    """The outcomes of the calls of one kind of callers."""

    def __init__(self):
        self.outcomes = Counter()  # by status and reason
        self.late = 0
        self._ms = defaultdict(list)

    def note(self, outcome, seconds, deadline_s):
        self.outcomes[outcome] += 1
        self.late += deadline_s is not None and seconds > deadline_s
        self._ms[outcome].append(1000 * seconds)

    def figures(self):
        """Return counts and latencies by outcome."""
        found = {outcome: {"calls": len(ms), **quantiles(ms, 0)} for outcome, ms in sorted(self._ms.items())}
        return {"late": self.late, **found}


def best_turn(budget_s, position=None):
    """Return a request for the best turn with this budget."""
    position = position or ai.load(EXAMPLE)
    return engine_pb2.BestTurnRequest(
        position=wire.position_to_message(position), limits=engine_pb2.Limits(time_s=budget_s)
    )


def metadata_of(token):
    """Return the metadata of a caller with a token, or without one."""
    return (("authorization", f"Bearer {token}"),) if token else ()


def outcome_of(error):
    """Return the status of a failed call, with its reason and whether it says when to retry."""
    name = error.code().name
    status = rpc_status.from_call(error)
    info = error_details_pb2.ErrorInfo()
    for detail in status.details if status else ():
        if detail.Unpack(info):
            name += f" {info.reason}"
    return name if status else f"{name} without details: {error.details()[:80]}"


async def ask(method, request, tally, deadline_s=None, token=None):
    """Make a call, note what came of it, and return the answer, None if it failed."""
    begin = time.monotonic()
    outcome, answer = "OK", None
    try:
        answer = await method(request, timeout=deadline_s, metadata=metadata_of(token))
    except grpc.aio.AioRpcError as error:
        outcome = outcome_of(error)
    tally.note(outcome, time.monotonic() - begin, deadline_s)
    return answer


@contextlib.asynccontextmanager
async def stub(address, *, retries=False):
    """Connect to a server over a connection of its own, with or without the published service config."""
    options = [*OWN, ("grpc.enable_retries", int(retries))]
    if retries:
        options.append(("grpc.service_config", json.dumps(service_config())))
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        yield engine_pb2_grpc.EngineServiceStub(channel)


class Balancer:
    """A TCP balancer: each new connection goes to the next server that reports SERVING."""

    def __init__(self, addresses):
        self._addresses = addresses
        self._ready = set()
        self._turn = 0
        self.address = ""

    async def __aenter__(self):
        self._watching = [asyncio.ensure_future(self._watch(address)) for address in self._addresses]
        while len(self._ready) < len(self._addresses):
            await asyncio.sleep(POLL_S)
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *exc_info):
        self._server.close()
        for task in self._watching:
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)

    async def _watch(self, address):
        request = health_pb2.HealthCheckRequest()
        async with grpc.aio.insecure_channel(address, options=OWN) as channel:
            check = health_pb2_grpc.HealthStub(channel).Check
            while True:
                try:
                    is_ready = (await check(request, timeout=1.0)).status == health_pb2.HealthCheckResponse.SERVING
                except grpc.aio.AioRpcError:
                    is_ready = False
                (self._ready.add if is_ready else self._ready.discard)(address)
                await asyncio.sleep(POLL_S)

    async def _connect(self, reader, writer):
        ready = [address for address in self._addresses if address in self._ready]
        self._turn += 1
        try:
            host, _, port = ready[self._turn % len(ready)].rpartition(":")
            back_reader, back_writer = await asyncio.open_connection(host, int(port))
        except (OSError, ZeroDivisionError):
            writer.close()
            return
        with contextlib.suppress(asyncio.CancelledError):  # at the end of the loop
            await asyncio.gather(_copy(reader, back_writer), _copy(back_reader, writer))


async def _copy(reader, writer):
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()
