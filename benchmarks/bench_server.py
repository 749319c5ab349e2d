"""Loads a server with many clients: latencies, missed deadlines, rejections, memory.

    python benchmarks/bench_server.py [--seconds 1200 | --calls 10000] [--clients 64] [--slots 2] [--json]

Each client asks again and again: mostly BestTurn with a budget of 0.1 to 1 s and a deadline of one to four
budgets, sometimes a short Analyze that it cancels half of the time. A client that is rejected waits as long
as the server asks it to, but at most two seconds. One more client asks what needs no search. The clients are
one process with one event loop. They share the machine with the server, so the figures include their own wait
for a core; how late their loop comes to a timer tells how long that is. Deadlines are judged at the clients.
The server's log tells which of the missed calls it had answered in time.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
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
BEAT_S = 0.01  # between looks at how late the clients' loop is
SEARCHES = ("BestTurn", "Analyze")
LIGHT_S = 0.03  # between two light calls
MAX_PAUSE_S = 2.0
MARGIN_S = 5.0  # deadline of calls without a budget


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, help="how long to ask (default: 60, without end if --calls)")
    parser.add_argument("--calls", type=int, help="ask until so many searches were answered or missed")
    parser.add_argument("--clients", type=int, default=64, help="clients at a time (default: 64)")
    parser.add_argument("--slots", type=int, default=2, help="search slots of the server (default: 2)")
    parser.add_argument("--memory", type=int, default=64, help="MB of each search's nodes (default: 64)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.seconds is None:
        args.seconds = float("inf") if args.calls else 60.0
    serve = [sys.executable, "-m", "mexica_ai", "serve", "--port", "0", "--slots", str(args.slots)]
    serve += ["--memory", str(args.memory), "--log-format", "json"]
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        try:
            address = server.stdout.readline().split()[-1]
            tally = Tally(args.seconds, args.calls or float("inf"))
            figures = asyncio.run(load(args, address, server.pid, tally))
        finally:
            server.terminate()
            server.wait()
        log.seek(0)
        figures["missed_though_answered"] = num_answered(log, tally.missed)
    print(json.dumps(figures) if args.json else table(figures))


class Tally:
    """What the clients note, and whether they go on."""

    def __init__(self, seconds, num_searches):
        self._end = time.monotonic() + seconds
        self._num_searches = num_searches
        self._searches = 0  # answered or missed
        self.latencies = defaultdict(list)  # by method, in ms
        self.outcomes = defaultdict(Counter)  # by method, of status names
        self.left = []  # ms that BestTurn left of its deadline
        self.missed = set()  # request ids
        self.lags = []  # ms that the clients' own loop was late
        self.memory = []  # MB, at times

    @property
    def goes_on(self):
        return time.monotonic() < self._end and self._searches < self._num_searches

    def note(self, method, code, request_id, seconds):
        self.outcomes[method][code] += 1
        if code == "OK":
            self.latencies[method].append(1000 * seconds)
        if code == "DEADLINE_EXCEEDED":
            self.missed.add(request_id)
        self._searches += method in SEARCHES and code in ("OK", "DEADLINE_EXCEEDED")


async def load(args, address, pid, tally):
    """Run the clients, and return the figures."""
    load_before = os.getloadavg()[0]
    began = time.monotonic()
    positions = [wire.position_to_message(position) for position in some_positions()]
    # A few connections, as several programs would have.
    channels = [
        grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) for _ in range(8)
    ]
    clients = (
        client(channels[i % len(channels)], random.Random(args.seed * 1000 + i), positions, tally)
        for i in range(args.clients)
    )
    light = light_client(channels[0], positions[0], tally)
    await asyncio.gather(watch_memory(pid, tally), watch_lag(tally), light, *clients)
    for channel in channels:
        await channel.close()
    searches = sum((tally.outcomes[method] for method in SEARCHES), Counter())
    accepted = searches["OK"] + searches["DEADLINE_EXCEEDED"]
    return {
        "seconds": round(time.monotonic() - began, 1),
        "clients": args.clients,
        "slots": args.slots,
        "load_before": load_before,
        "methods": {
            method: {"calls": len(values), **quantiles(values)}
            for method, values in sorted(tally.latencies.items())
        },
        "outcomes": {method: dict(counts) for method, counts in sorted(tally.outcomes.items())},
        "missed_deadlines": len(tally.missed),
        "answered_in_time": searches["OK"] / accepted if accepted else None,
        "left_of_the_deadline_ms": quantiles(tally.left) | {"min": round(min(tally.left, default=0), 1)},
        "clients_late_ms": quantiles(tally.lags) | {"max": round(max(tally.lags, default=0), 1)},
        "memory_mb": tally.memory,
    }


def num_answered(log, ids):
    """Return how many of these calls the server's log calls answered."""
    calls = (json.loads(line) for line in log if '"call"' in line)
    return sum(call["id"] in ids and call["code"] == "OK" for call in calls)


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


async def client(channel, random_, positions, tally):
    """Ask until the end."""
    stub = engine_pb2_grpc.EngineServiceStub(channel)
    while tally.goes_on:
        position = random_.choice(positions)
        budget_s = random_.uniform(0.1, 1.0)
        limits = engine_pb2.Limits(time_s=budget_s)
        if random_.random() < 0.03:
            request = engine_pb2.AnalyzeRequest(position=position, limits=limits, interval_s=0.1)
            analyze = first_of if random_.random() < 0.5 else last_of
            pause_s = await noted(tally, "Analyze", analyze(stub.Analyze), request, MARGIN_S)
        else:
            deadline_s = budget_s * random_.uniform(1.0, 4.0)
            request = engine_pb2.BestTurnRequest(position=position, limits=limits)
            begin = time.perf_counter()
            pause_s = await noted(tally, "BestTurn", stub.BestTurn, request, deadline_s)
            if pause_s == 0:
                tally.left.append(1000 * (deadline_s - (time.perf_counter() - begin)))
        await asyncio.sleep(pause_s * random_.uniform(0.5, 1.0))


def last_of(method):
    """Return what reads a stream to its end."""

    async def ask(request, **options):
        async for _ in method(request, **options):
            pass

    return ask


def first_of(method):
    """Return what cancels a stream after its first answer."""

    async def ask(request, **options):
        call = method(request, **options)
        async for answer in call:
            if not answer.is_final:
                call.cancel()
            return

    return ask


async def light_client(channel, position, tally):
    """Ask what needs no search, one after the other and not at once, so that no call profits from another."""
    stub = engine_pb2_grpc.EngineServiceStub(channel)
    health = health_pb2_grpc.HealthStub(channel)
    calls = [
        ("Health.Check", health.Check, health_pb2.HealthCheckRequest()),
        ("LegalActions", stub.LegalActions, engine_pb2.LegalActionsRequest(position=position)),
        ("GetEngineInfo", stub.GetEngineInfo, engine_pb2.GetEngineInfoRequest()),
        ("ValidatePosition", stub.ValidatePosition, engine_pb2.ValidatePositionRequest(position=position)),
        ("ListGames", stub.ListGames, engine_pb2.ListGamesRequest()),
    ]
    for name, method, request in itertools.cycle(calls):
        if not tally.goes_on:
            return
        await noted(tally, name, method, request, MARGIN_S)
        await asyncio.sleep(LIGHT_S)


async def noted(tally, name, method, request, timeout_s):
    """Make a call and note it; return how long to wait before the next one."""
    request_id = uuid.uuid4().hex
    begin = time.perf_counter()
    code, pause_s = "OK", 0.0
    try:
        await method(request, timeout=timeout_s, metadata=(("x-request-id", request_id),))
    except grpc.aio.AioRpcError as error:
        code = error.code().name
        pause_s = retry_s(error)
    tally.note(name, code, request_id, time.perf_counter() - begin)
    return pause_s


def retry_s(error):
    retry = error_details_pb2.RetryInfo()
    status = rpc_status.from_call(error)
    if status is not None and any(detail.Unpack(retry) for detail in status.details):
        return min(MAX_PAUSE_S, max(0.01, retry.retry_delay.ToTimedelta().total_seconds()))
    return 0.05


async def watch_memory(pid, tally):
    """Note the server's resident memory in MB, now and then."""
    due = 0.0
    while tally.goes_on:
        if time.monotonic() >= due:
            tally.memory.append(resident_mb(pid))
            due = time.monotonic() + SAMPLE_S
        await asyncio.sleep(0.1)
    tally.memory.append(resident_mb(pid))


def resident_mb(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return round(kib / 1024, 1)


async def watch_lag(tally):
    """Note how late this process comes to a timer."""
    while tally.goes_on:
        begin = time.perf_counter()
        await asyncio.sleep(BEAT_S)
        tally.lags.append(1000 * (time.perf_counter() - begin - BEAT_S))


def quantiles(values):
    if len(values) < 2:
        return {}
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {name: round(cuts[at], 1) for name, at in (("p50", 49), ("p95", 94), ("p99", 98))}


def table(figures):
    lines = [f"{'ms':<18}{'calls':>9}{'p50':>10}{'p95':>10}{'p99':>10}"]
    for method, row in figures["methods"].items():
        cells = (f"{row.get(key, '-'):>10}" for key in ("p50", "p95", "p99"))
        lines.append(f"{method:<18}{row['calls']:>9}" + "".join(cells))
    for method, counts in figures["outcomes"].items():
        lines.append(f"{method}: " + ", ".join(f"{count} {code}" for code, count in sorted(counts.items())))
    share = figures["answered_in_time"]
    if share is not None:
        lines.append(
            f"missed deadlines: {figures['missed_deadlines']} ({figures['missed_though_answered']} of them "
            f"answered by the server in time); {100 * share:.3f} % of the searches that were not rejected "
            f"were answered in time; left of the deadline: {figures['left_of_the_deadline_ms']} ms"
        )
    lines.append(f"the clients' own lateness: {figures['clients_late_ms']} ms")
    lines.append(f"{figures['seconds']} s; the machine's load before: {figures['load_before']:.2f}")
    memory = figures["memory_mb"]
    steps = memory[:: max(1, len(memory) // 10)]
    lines.append(f"resident memory, MB: {', '.join(f'{mb:g}' for mb in steps)}; last {memory[-1]:g}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
