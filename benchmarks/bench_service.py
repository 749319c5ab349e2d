"""Measures the gRPC service over loopback: round trips, lateness of answers, the end of cancelled searches.

    python benchmarks/bench_service.py [--json] [--calls 200] [--threads 1]

Budgets: 10 ms from a cancelled call to the end of its search; no answer after the caller's deadline.
Client and server share the machine, so the figures under load include the client's own wait for a core.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import threading
import time

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

import mexica_ai as ai
from mexica_ai import wire
from mexica_ai.server.app import Server
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.searches import Searches
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

LONG_S = 60.0


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
    figures["cancel_to_idle_ms"] = measure_cancelling(position, max(20, args.calls // 4), args.threads)
    if args.json:
        print(json.dumps(figures))
    else:
        print_table(figures)


class serving:  # noqa: N801, reads as a word in a with statement
    """A server with one slot in a process of its own; yields its address."""

    def __init__(self, threads):
        call = f"serve(port=0, slots=1, threads={threads}, max_time_s={LONG_S})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from mexica_ai.server.main import serve; {call}"],
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
            timed(lambda: stub.BestTurn(request(time_s=budget_s))) - 1000 * budget_s
            for _ in range(calls // 4)
        )
        deadline_s, left, missed = 0.2, [], 0
        for _ in range(calls // 4):
            try:
                left.append(
                    1000 * deadline_s
                    - timed(lambda: stub.BestTurn(request(time_s=LONG_S), timeout=deadline_s))
                )
            except grpc.RpcError:
                missed += 1
        figures["before_the_deadline_ms"] = summary(left)
        figures["missed_deadlines"] = missed
    return figures


def measure_cancelling(position, calls, threads):
    """Return the time from the cancel of a call to the end of its search, in ms; all in this process."""
    started, ended = threading.Semaphore(0), threading.Semaphore(0)
    end_times = []
    searches = Searches()

    def noting_search(*args, **kwargs):
        started.release()
        result = searches.run(*args, **kwargs)
        end_times.append(time.perf_counter())
        ended.release()
        return result

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    async def start():
        server = Server(ServerConfig(port=0, slots=1, threads=threads, max_time_s=LONG_S), noting_search)
        await server.start()
        return server

    server = asyncio.run_coroutine_threadsafe(start(), loop).result()
    request = engine_pb2.BestTurnRequest(
        position=wire.position_to_message(position), limits=engine_pb2.Limits(time_s=LONG_S)
    )
    latencies = []
    with grpc.insecure_channel(server.address) as channel:
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        for _ in range(calls):
            call = stub.BestTurn.future(request)
            started.acquire()
            time.sleep(0.05)
            cancelled = time.perf_counter()
            call.cancel()
            ended.acquire()
            latencies.append(1000 * (end_times[-1] - cancelled))
    asyncio.run_coroutine_threadsafe(server.drain(), loop).result()
    return summary(latencies)


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
}


def print_table(figures):
    print(f"{'ms':<36}{'min':>9}{'p50':>9}{'p99':>9}{'max':>9}")
    for key, label in LABELS.items():
        row = figures[key] or {}
        print(f"{label:<36}" + "".join(f"{row.get(name, '-'):>9}" for name in ("min", "p50", "p99", "max")))
    print(f"missed deadlines: {figures['missed_deadlines']} of {figures['calls'] // 4}")


if __name__ == "__main__":
    main()
