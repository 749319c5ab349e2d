"""Measures the gRPC service over loopback: round trips, lateness, the end of searches whose callers are gone.

    python benchmarks/bench_service.py [--json] [--calls 200] [--threads 1]

Budgets: 10 ms to the end of a search whose call is cancelled, whose client is killed, or whose connection is
cut; no answer after the caller's deadline.
Client and server share the machine, so the figures under load include the client's own wait for a core.
"""

import argparse
import asyncio
import contextlib
import json
import select
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

import mexica_ai as ai
from mexica_ai.rpc import wire
from mexica_ai.server.app import Server
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.runner import make_run
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

LONG_S = 60.0
FEWEST = 2  # least number of endings of each kind, for the quantiles
METHOD = f"/{engine_pb2.DESCRIPTOR.services_by_name['EngineService'].full_name}/BestTurn"
# Sends the request it reads, and waits for the answer.
CLIENT = """
import sys, grpc
with grpc.insecure_channel(sys.argv[1]) as channel:
    channel.unary_unary(sys.argv[2])(sys.stdin.buffer.read())
"""
RESETS = struct.pack("ii", 1, 0)  # SO_LINGER: closing the socket sends RST


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=200, help="calls of each kind")
    parser.add_argument("--threads", type=int, default=1, help="native threads of a search")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    position = ai.new_game("mexica", players=3, seed=4)
    for _ in range(3):
        position.push([position.legal_actions()[0]])
    figures = {"calls": args.calls, "threads": args.threads}
    with serving(args.threads) as address:
        figures |= measure_calls(address, position, args.calls)
    figures |= measure_endings(position, max(FEWEST, args.calls // 4), args.threads)
    if args.json:
        print(json.dumps(figures))
    else:
        print_table(figures)


class serving:  # noqa: N801, reads as a word in a with statement
    """A server with one slot in a process of its own; yields its address."""

    def __init__(self, threads):
        call = f"serve(port=0, slots=1, threads={threads}, max_time_s={LONG_S})"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from mexica_ai.server.main import serve; {call}"],
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self._process.stdout.readline().split()[-1]

    def __exit__(self, *exc_info):
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()


def measure_calls(address, position, calls):
    """Return round trips and lateness against a server in another process, in ms."""
    message = wire.position_to_message(position)

    def request(**limits):
        return engine_pb2.BestTurnRequest(position=message, limits=engine_pb2.Limits(**limits))

    with grpc.insecure_channel(address) as channel:
        stub, health = engine_pb2_grpc.EngineServiceStub(channel), health_pb2_grpc.HealthStub(channel)
        check = health_pb2.HealthCheckRequest()
        smallest = request(iterations=1)
        stub.BestTurn(smallest)  # connects, and loads what is loaded once
        figures = {
            "health_idle_ms": summary(timed(lambda: health.Check(check)) for _ in range(calls)),
            "one_iteration_ms": summary(timed(lambda: stub.BestTurn(smallest)) for _ in range(calls)),
        }
        search = stub.BestTurn.future(request(time_s=LONG_S))
        time.sleep(0.1)
        figures["health_searching_ms"] = summary(timed(lambda: health.Check(check)) for _ in range(calls))
        search.cancel()

        budget_s = 0.1
        figures["after_the_budget_ms"] = summary(
            timed(lambda: stub.BestTurn(request(time_s=budget_s))) - 1000 * budget_s for _ in range(calls // 4)
        )
        deadline_s, left, missed = 0.2, [], 0
        for _ in range(calls // 4):
            try:
                left.append(
                    1000 * deadline_s - timed(lambda: stub.BestTurn(request(time_s=LONG_S), timeout=deadline_s))
                )
            except grpc.RpcError:
                missed += 1
        figures["before_the_deadline_ms"] = summary(left)
        figures["missed_deadlines"] = missed
    return figures


def measure_endings(position, calls, threads):
    """Return the time from each way to lose a caller to the end of its search, in ms.

    The server runs in this process. For a client that is killed the time is from the signal on, so that it
    includes what the system takes to end the process.
    """
    started, ended = threading.Semaphore(0), threading.Semaphore(0)
    end_times = []

    def noting_run(position, settings):
        run = make_run(position, settings)
        search = run.result

        def result():
            started.release()
            found = search()
            end_times.append(time.perf_counter())
            ended.release()
            return found

        run.result = result
        return run

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    async def start():
        server = Server(ServerConfig(port=0, slots=1, threads=threads, max_time_s=LONG_S), noting_run)
        await server.start()
        return server

    server = asyncio.run_coroutine_threadsafe(start(), loop).result()
    request = engine_pb2.BestTurnRequest(
        position=wire.position_to_message(position), limits=engine_pb2.Limits(time_s=LONG_S)
    )
    figures = {}
    for key, asking in (
        ("cancel_to_idle_ms", asking_to_cancel),
        ("killed_to_idle_ms", asking_to_be_killed),
        ("cut_to_idle_ms", asking_to_be_cut),
    ):
        latencies = []
        for _ in range(calls):
            with asking(server.address, request) as leave:
                started.acquire()
                time.sleep(0.05)
                left = time.perf_counter()
                leave()
                ended.acquire()
                latencies.append(1000 * (end_times[-1] - left))
        figures[key] = summary(latencies)
    asyncio.run_coroutine_threadsafe(server.drain(), loop).result()
    return figures


@contextlib.contextmanager
def asking_to_cancel(address, request):
    """Ask, and yield what cancels the call."""
    with own_channel(address) as channel:
        yield engine_pb2_grpc.EngineServiceStub(channel).BestTurn.future(request).cancel


@contextlib.contextmanager
def asking_to_be_killed(address, request):
    """Ask from a process of its own, and yield what kills it."""
    command = [sys.executable, "-P", "-c", CLIENT, address, METHOD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdin.write(request.SerializeToString())
        process.stdin.close()
        yield process.kill


@contextlib.contextmanager
def asking_to_be_cut(address, request):
    """Ask over a relay, and yield what cuts both of its connections."""
    host, port = address.rsplit(":", 1)
    waker, wakes = socket.socketpair()
    with waker, wakes, socket.create_server(("127.0.0.1", 0)) as listener:
        relaying = threading.Thread(target=relay, args=(listener, (host, int(port)), wakes), daemon=True)
        relaying.start()
        with own_channel(f"127.0.0.1:{listener.getsockname()[1]}") as channel:
            call = engine_pb2_grpc.EngineServiceStub(channel).BestTurn.future(request)
            yield lambda: waker.send(b".")
            call.exception()  # kept until now: a call that nobody knows any more is cancelled
        relaying.join()


def relay(listener, address, wakes):
    """Pass on what one connection brings to an address, and back, until woken; then reset both."""
    near, far = listener.accept()[0], socket.create_connection(address)
    others = {near: far, far: near}
    while True:
        readable, _, _ = select.select([near, far, wakes], [], [])
        if wakes in readable:
            break
        for end in readable:
            others[end].sendall(end.recv(1 << 16))
    for end in (far, near):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESETS)
        end.close()


def own_channel(address):
    """Return a channel that shares no connection with others."""
    return grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])


def timed(call):
    """Return how long a call takes, in ms."""
    begin = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - begin)


def summary(values):
    """Return the quantiles of some figures in ms."""
    values = sorted(values)
    if len(values) < 2:
        return None
    return {
        "min": round(values[0], 2),
        "p50": round(statistics.median(values), 2),
        "p99": round(statistics.quantiles(values, n=100, method="inclusive")[98], 2),
        "max": round(values[-1], 2),
    }


LABELS = {
    "health_idle_ms": "health check, server idle",
    "health_searching_ms": "health check, all slots searching",
    "one_iteration_ms": "BestTurn of one iteration",
    "after_the_budget_ms": "answer after a budget of 100 ms",
    "before_the_deadline_ms": "answer before a deadline of 200 ms",
    "cancel_to_idle_ms": "cancel to the end of the search",
    "killed_to_idle_ms": "client killed to the end",
    "cut_to_idle_ms": "connection cut to the end",
}


def print_table(figures):
    print(f"{'ms':<36}{'min':>9}{'p50':>9}{'p99':>9}{'max':>9}")
    for key, label in LABELS.items():
        row = figures[key] or {}
        print(f"{label:<36}" + "".join(f"{row.get(name, '-'):>9}" for name in ("min", "p50", "p99", "max")))
    print(f"missed deadlines: {figures['missed_deadlines']} of {figures['calls'] // 4}")


if __name__ == "__main__":
    main()
