"""Loads a server with many clients for a given time: latencies, missed deadlines, rejections, memory.

    python benchmarks/bench_server.py [--seconds 1200] [--clients 64] [--slots 2] [--json]

Each client asks again and again: mostly BestTurn with a budget of 0.1 to 1 s and a deadline of one to four
budgets, sometimes a short Analyze that it cancels half of the time, and light calls. A client that is
rejected waits as long as the server asks it to, but at most two seconds. Client and server share the
machine, so the figures include the client's own wait for a core.
"""

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import grpc
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

import mexica_ai as ai
from mexica_ai import wire
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

SAMPLE_S = 5.0
MAX_PAUSE_S = 2.0
MARGIN_S = 5.0  # deadline of calls without a budget


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to ask (default: 60)")
    parser.add_argument("--clients", type=int, default=64, help="clients at a time (default: 64)")
    parser.add_argument("--slots", type=int, default=2, help="search slots of the server (default: 2)")
    parser.add_argument("--memory", type=int, default=64, help="MB of each search's nodes (default: 64)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    serve = [sys.executable, "-m", "mexica_ai", "serve", "--port", "0", "--slots", str(args.slots)]
    serve += ["--memory", str(args.memory), "--log-level", "warning"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().split()[-1]
            figures = asyncio.run(load(args, address, server.pid))
        finally:
            server.terminate()
            server.wait()
    print(json.dumps(figures) if args.json else table(figures))


class Tally:
    """What the clients note."""

    def __init__(self):
        self.latencies = defaultdict(list)  # by method, in ms
        self.outcomes = defaultdict(Counter)  # by method, of status names
        self.left = []  # ms that BestTurn left of its deadline


async def load(args, address, pid):
    """Run the clients, and return the figures."""
    tally = Tally()
    end = time.monotonic() + args.seconds
    memory = []
    positions = [wire.position_to_message(position) for position in some_positions()]
    # A few connections, as several programs would have.
    channels = [
        grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) for _ in range(8)
    ]
    watching = asyncio.ensure_future(watch_memory(pid, end, memory))
    clients = (
        client(channels[i % len(channels)], random.Random(args.seed * 1000 + i), positions, end, tally)
        for i in range(args.clients)
    )
    light = light_client(channels[0], positions[0], end, tally)
    await asyncio.gather(light, *clients)
    await watching
    for channel in channels:
        await channel.close()
    outcomes = sum(tally.outcomes.values(), Counter())
    asked_in_time = outcomes["OK"] + outcomes["DEADLINE_EXCEEDED"]
    return {
        "seconds": args.seconds,
        "clients": args.clients,
        "slots": args.slots,
        "methods": {
            method: {"calls": len(values), **quantiles(values)}
            for method, values in sorted(tally.latencies.items())
        },
        "outcomes": {method: dict(counts) for method, counts in sorted(tally.outcomes.items())},
        "missed_deadlines": outcomes["DEADLINE_EXCEEDED"],
        "answered_in_time": outcomes["OK"] / asked_in_time if asked_in_time else None,
        "left_of_the_deadline_ms": quantiles(tally.left) | {"min": round(min(tally.left, default=0), 1)},
        "memory_mb": memory,
    }


def some_positions():
    """Return positions from the beginning, the middle and the end of a game."""
    position = ai.new_game("mexica", players=3, seed=4)
    found = []
    for number in range(60):
        if position.is_over:
            break
        if number % 12 == 4:
            found.append(position.copy())
        position.push(ai.best_turn(position, iterations=60, seed=number).turn)
    return found


async def client(channel, random_, positions, end, tally):
    """Ask until the end."""
    stub = engine_pb2_grpc.EngineServiceStub(channel)
    while time.monotonic() < end:
        position = random_.choice(positions)
        budget_s = random_.uniform(0.1, 1.0)
        limits = engine_pb2.Limits(time_s=budget_s)
        if random_.random() < 0.03:
            request = engine_pb2.AnalyzeRequest(position=position, limits=limits, interval_s=0.1)
            pause_s = await noted(tally, "Analyze", analyze(stub, request, random_.random() < 0.5))
        else:
            deadline_s = budget_s * random_.uniform(1.0, 4.0)
            request = engine_pb2.BestTurnRequest(position=position, limits=limits)
            begin = time.perf_counter()
            pause_s = await noted(tally, "BestTurn", stub.BestTurn(request, timeout=deadline_s))
            if pause_s == 0:
                tally.left.append(1000 * (deadline_s - (time.perf_counter() - begin)))
        await asyncio.sleep(pause_s * random_.uniform(0.5, 1.0))


async def analyze(stub, request, cancels):
    call = stub.Analyze(request, timeout=MARGIN_S)
    async for answer in call:
        if answer.is_final:
            return
        if cancels:
            call.cancel()
            return


async def light_client(channel, position, end, tally):
    """Ask what needs no search, ten times a second."""
    stub = engine_pb2_grpc.EngineServiceStub(channel)
    health = health_pb2_grpc.HealthStub(channel)
    legal = engine_pb2.LegalActionsRequest(position=position)
    while time.monotonic() < end:
        await noted(tally, "Health.Check", health.Check(health_pb2.HealthCheckRequest(), timeout=MARGIN_S))
        await noted(tally, "LegalActions", stub.LegalActions(legal, timeout=MARGIN_S))
        info = stub.GetEngineInfo(engine_pb2.GetEngineInfoRequest(), timeout=MARGIN_S)
        await noted(tally, "GetEngineInfo", info)
        await asyncio.sleep(0.1)


async def noted(tally, method, call):
    """Await a call and note it; return how long to wait before the next one."""
    begin = time.perf_counter()
    code, pause_s = "OK", 0.0
    try:
        await call
    except grpc.aio.AioRpcError as error:
        code = error.code().name
        pause_s = retry_s(error)
    tally.outcomes[method][code] += 1
    if code == "OK":
        tally.latencies[method].append(1000 * (time.perf_counter() - begin))
    return pause_s


def retry_s(error):
    retry = error_details_pb2.RetryInfo()
    status = rpc_status.from_call(error)
    if status is not None and any(detail.Unpack(retry) for detail in status.details):
        return min(MAX_PAUSE_S, max(0.01, retry.retry_delay.ToTimedelta().total_seconds()))
    return 0.05


async def watch_memory(pid, end, memory):
    """Note the server's resident memory in MB, now and then."""
    while True:
        status = Path(f"/proc/{pid}/status").read_text()
        kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        memory.append(round(kib / 1024, 1))
        if time.monotonic() >= end:
            return
        await asyncio.sleep(min(SAMPLE_S, max(0.1, end - time.monotonic())))


def quantiles(values):
    if len(values) < 2:
        return {}
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {name: round(cuts[at], 1) for name, at in (("p50", 49), ("p95", 94), ("p99", 98))}


def table(figures):
    lines = [f"{'ms':<16}{'calls':>9}{'p50':>10}{'p95':>10}{'p99':>10}"]
    for method, row in figures["methods"].items():
        cells = (f"{row.get(key, '-'):>10}" for key in ("p50", "p95", "p99"))
        lines.append(f"{method:<16}{row['calls']:>9}" + "".join(cells))
    for method, counts in figures["outcomes"].items():
        lines.append(f"{method}: " + ", ".join(f"{count} {code}" for code, count in sorted(counts.items())))
    share = figures["answered_in_time"]
    if share is not None:
        lines.append(
            f"missed deadlines: {figures['missed_deadlines']}; of the calls not rejected {100 * share:.3f} % "
            f"were answered in time; left of the deadline: {figures['left_of_the_deadline_ms']} ms"
        )
    memory = figures["memory_mb"]
    steps = memory[:: max(1, len(memory) // 10)]
    lines.append(f"resident memory, MB: {', '.join(f'{mb:g}' for mb in steps)}; last {memory[-1]:g}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
