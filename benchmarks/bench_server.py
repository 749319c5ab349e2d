"""Loads a server with many clients: latencies, missed deadlines, rejections, memory.

    python benchmarks/bench_server.py [--seconds 1200 | --calls 10000] [--clients 64] [--slots 2] [--heavy 0]
                                      [--json]

Each client makes one call after another: mostly BestTurn with a budget of 0.1 to 1 s and a deadline of one to
four budgets, sometimes an Analyze with the same limits, or an Analyze that it cancels after the first answer,
which is counted separately. A rejected client waits as long as the server asks, but at most two seconds. Most
rejections come at once, some after a wait for a slot. These clients are one process with one event loop; the
lateness of its timers shows how much of the latencies is due to the clients themselves. One more client, in
its own process, makes light calls, which need no search. All clients share the machine with the server, so
the latencies include their waits for a core. Deadlines are checked at the clients. The server's log shows
which of the missed calls it had answered in time.

With --heavy N, N more clients make calls that need memory: searches that fill their trees, evaluations of
whole games, and requests of 1 MiB that are rejected. Their latencies mean nothing. Compare the peak of the
server's resident memory with the configured memory of all trees plus its memory at the start.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import multiprocessing
import os
import random
import signal
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
from mexica_ai.game import proposals
from mexica_ai.rpc import wire
from mexica_ai.v1 import engine_pb2, engine_pb2_grpc

SAMPLE_S = 5.0
BEAT_S = 0.01  # interval of the timer that measures the lateness of the clients' loop
SEARCHES = ("BestTurn", "Analyze")
LIGHT_S = 0.03  # between two light calls
MAX_PAUSE_S = 2.0
MARGIN_S = 5.0  # deadline of calls without a budget
CANCELLED = "Analyze, cancelled"
SLOW_MS = 50.0  # rejections that take longer are counted
# Calls that need memory.
FILL_S = 30.0  # enough to fill a tree of 64 MB on a shared core
RECORD_LIMITS = engine_pb2.Limits(iterations=300)
NUM_REFUSED = 10  # consecutive requests
NUM_TURNS = 2000  # turns of a request that is rejected; the most that a server accepts
LONG_ACTION = "x" * 505


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, help="duration (default: 60, no limit with --calls)")
    parser.add_argument("--calls", type=int, help="stop after this many searches, answered or missed")
    parser.add_argument("--clients", type=int, default=64, help="clients at a time (default: 64)")
    parser.add_argument("--slots", type=int, default=2, help="search slots of the server (default: 2)")
    parser.add_argument("--memory", type=int, default=64, help="MB of each search's nodes (default: 64)")
    parser.add_argument("--heavy", type=int, default=0, help="further clients, whose calls need memory (default: 0)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.seconds is None:
        args.seconds = float("inf") if args.calls else 60.0
    game = some_game()
    calls = light_calls([*game[-1], coatl_view()])
    serve = [sys.executable, "-P", "-m", "mexica_ai", "serve", "--port", "0", "--slots", str(args.slots)]
    serve += ["--memory", str(args.memory), "--total-memory", str(args.memory * args.slots)]
    serve += ["--log-format", "json"]
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        try:
            address = server.stdout.readline().split()[-1]
            start_cpu_s = processor_s(server.pid)
            tally = Tally(args.seconds, args.calls or float("inf"))
            figures = asyncio.run(load(args, address, server.pid, game, calls, tally))
        finally:
            server.terminate()
            server.wait()
        log.seek(0)
        figures["missed_though_answered"] = num_answered(log, tally.missed)
    figures["start_cpu_s"] = start_cpu_s
    print(json.dumps(figures) if args.json else table(figures))


class Tally:
    """The clients' notes, and whether they go on."""

    def __init__(self, seconds, num_searches):
        self._seconds = seconds
        self._end = 0.0
        self._num_searches = num_searches
        self._searches = 0  # answered or missed
        self.latencies = defaultdict(list)  # by method, in ms
        self.outcomes = defaultdict(Counter)  # by method, of status names
        self.left = []  # ms that searches left of their deadline
        self.rejected = []  # ms that calls took that were rejected
        self.missed = set()  # request ids
        self.lags = []  # ms that the clients' own loop was late
        self.memory = []  # MB, at times

    def start(self):
        self._end = time.monotonic() + self._seconds

    @property
    def goes_on(self):
        return time.monotonic() < self._end and self._searches < self._num_searches

    def note(self, method, code, request_id, seconds):
        self.outcomes[method][code] += 1
        if code == "OK":
            self.latencies[method].append(1000 * seconds)
        if code == "DEADLINE_EXCEEDED":
            self.missed.add(request_id)
        if code == "RESOURCE_EXHAUSTED":
            self.rejected.append(1000 * seconds)
        self._searches += method in SEARCHES and code in ("OK", "DEADLINE_EXCEEDED")


async def load(args, address, pid, game, calls, tally):
    """Run the clients, who ask for this game's positions and these light calls, and return the figures."""
    load_before = os.getloadavg()[0]
    start, turns, places = game
    positions = [wire.position_to_message(place) for place in places]
    # A few connections, as several programs would have.
    channels = [grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) for _ in range(8)]
    clients = (
        client(channels[i % len(channels)], random.Random(args.seed * 1000 + i), positions, tally)
        for i in range(args.clients)
    )
    async with asking_lightly(address, calls, tally):
        tally.start()
        began = time.monotonic()
        heavy = [
            asyncio.ensure_future(heavy_client(channels[i % len(channels)], i, start, turns, positions, tally))
            for i in range(args.heavy)
        ]
        await asyncio.gather(watch_memory(pid, tally), watch_lag(tally), *clients)
        for task in heavy:
            task.cancel()
        await asyncio.gather(*heavy, return_exceptions=True)
        seconds = time.monotonic() - began
    for channel in channels:
        await channel.close()
    searches = sum((tally.outcomes.get(method, Counter()) for method in SEARCHES), Counter())
    accepted = searches["OK"] + searches["DEADLINE_EXCEEDED"]
    return {
        "seconds": round(seconds, 1),
        "clients": args.clients,
        "heavy": args.heavy,
        "slots": args.slots,
        "load_before": load_before,
        "methods": {
            method: {"calls": len(values), **quantiles(values)} for method, values in sorted(tally.latencies.items())
        },
        "outcomes": {method: dict(counts) for method, counts in sorted(tally.outcomes.items())},
        "missed_deadlines": len(tally.missed),
        "answered_in_time": searches["OK"] / accepted if accepted else None,
        "left_of_the_deadline_ms": quantiles(tally.left) | {"min": round(min(tally.left, default=0), 1)},
        "rejected_ms": {
            "calls": len(tally.rejected),
            **quantiles(tally.rejected),
            "max": round(max(tally.rejected, default=0), 1),
            "over_50_ms": sum(ms > SLOW_MS for ms in tally.rejected),
        },
        "clients_late_ms": quantiles(tally.lags) | {"max": round(max(tally.lags, default=0), 1)},
        "memory_mb": tally.memory,
        # The kernel brings its peak up to date now and then only.
        "peak_memory_mb": max(memory_mb(pid, "VmHWM"), *tally.memory),
        "total_memory_mb": args.memory * args.slots,
    }


def num_answered(log, ids):
    """Return how many of these calls the server's log calls answered."""
    calls = (json.loads(line) for line in log if '"call"' in line)
    return sum(call["id"] in ids and call["code"] == "OK" for call in calls)


def some_game():
    """Return the first position of a game, its turns, and positions from its beginning, middle and end."""
    position = ai.new_game("mexica", players=3, seed=4)
    start, turns, found = position.copy(), [], []
    while not position.is_over:
        if len(turns) % 12 == 4:
            found.append(position.copy())
        turns.append(ai.best_turn(position, iterations=60, seed=len(turns)).turn)
        position.push(turns[-1])
    return start, turns, found


def coatl_view():
    """Return what the seat to move sees in the middle of a game of Coatl."""
    position = ai.new_game("coatl", players=3, seed=4)
    for number in itertools.count():
        if position.is_chance:
            position.draw(number)
        elif number < 25:
            position.push(ai.best_turn(position, iterations=60, seed=number).turn)
        else:
            return position.view(position.to_move)


async def client(channel, random_, positions, tally):
    """Ask until the end."""
    stub = engine_pb2_grpc.EngineServiceStub(channel)
    while tally.goes_on:
        position = random_.choice(positions)
        budget_s = random_.uniform(0.1, 1.0)
        deadline_s = budget_s * random_.uniform(1.0, 4.0)
        limits = engine_pb2.Limits(time_s=budget_s)
        name, ask = "BestTurn", stub.BestTurn
        request = engine_pb2.BestTurnRequest(position=position, limits=limits)
        if random_.random() < 0.03:
            name, ask = "Analyze", last_of(stub.Analyze)
            request = engine_pb2.AnalyzeRequest(position=position, limits=limits, interval_s=0.1)
            if random_.random() < 0.5:
                name, ask, deadline_s = CANCELLED, first_of(stub.Analyze), MARGIN_S
        begin = time.perf_counter()
        pause_s = await noted(tally, name, ask, request, deadline_s)
        if pause_s == 0 and name in SEARCHES:
            tally.left.append(1000 * (deadline_s - (time.perf_counter() - begin)))
        await asyncio.sleep(pause_s * random_.uniform(0.5, 1.0))


async def heavy_client(channel, number, start, turns, positions, tally):
    """Ask for what needs memory, in turn; the first client begins with a search, the second with a record."""
    stub = engine_pb2_grpc.EngineServiceStub(channel)
    evaluate = last_of(stub.EvaluateRecord)
    start = wire.position_to_message(start)
    turns = [engine_pb2.Turn(actions=turn) for turn in turns]
    record = engine_pb2.EvaluateRecordRequest(start=start, turns=turns, limits=RECORD_LIMITS)
    broken = [engine_pb2.Turn(actions=[LONG_ACTION])] * NUM_TURNS
    calls = [
        (
            "heavy: BestTurn",
            stub.BestTurn,
            engine_pb2.BestTurnRequest(
                position=positions[number % len(positions)], limits=engine_pb2.Limits(time_s=FILL_S)
            ),
        ),
        ("heavy: EvaluateRecord", evaluate, record),
    ]
    refused = engine_pb2.EvaluateRecordRequest(start=start, turns=broken)
    calls += NUM_REFUSED * [("heavy: 1 MiB", evaluate, refused)]
    for name, ask, request in itertools.islice(itertools.cycle(calls), number % len(calls), None):
        if not tally.goes_on:
            return
        pause_s = await noted(tally, name, ask, request, None)
        await asyncio.sleep(pause_s)


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


def light_calls(places):
    """Return the calls (name, request) that need no search, some for each of these positions."""
    calls = []
    for number, place in enumerate(places):
        position = wire.position_to_message(place)
        turn = engine_pb2.Turn(actions=ai.best_turn(place, iterations=60, seed=1).turn)
        deal = engine_pb2.NewGameRequest(players=3, seed=number)
        getattr(deal, place.game).SetInParent()
        calls += [
            ("Health.Check", health_pb2.HealthCheckRequest()),
            ("LegalActions", engine_pb2.LegalActionsRequest(position=position)),
            ("GetEngineInfo", engine_pb2.GetEngineInfoRequest()),
            ("ValidatePosition", engine_pb2.ValidatePositionRequest(position=position)),
            ("ListGames", engine_pb2.ListGamesRequest()),
            ("NewGame", deal),
            ("ApplyTurn", engine_pb2.ApplyTurnRequest(position=position, turn=turn)),
        ]
        if actions := proposals.offered(place)[:2]:
            request = engine_pb2.ConsiderProposalRequest(position=position, actions=actions)
            calls.append(("ConsiderProposal", request))
    return calls


def light_client(address, calls, ended, notes):
    """Ask what needs no search, one after the other and not at once, so that no call profits from another.

    Runs in a process of its own. Tells when it begins; once the load has ended, sends what `Tally.note` takes
    of each call.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other clients' process ends it
    found = []
    notes.send("begins")
    with grpc.insecure_channel(address) as channel:
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        check = health_pb2_grpc.HealthStub(channel).Check
        for name, request in itertools.cycle(calls):
            method = check if name == "Health.Check" else getattr(stub, name)
            request_id = uuid.uuid4().hex
            begin = time.perf_counter()
            try:
                method(request, timeout=MARGIN_S, metadata=(("x-request-id", request_id),))
                code = "OK"
            except grpc.RpcError as error:
                code = error.code().name
            found.append((name, code, request_id, time.perf_counter() - begin))
            if ended.wait(LIGHT_S):
                break
    notes.send(found)


@contextlib.asynccontextmanager
async def asking_lightly(address, calls, tally):
    """Run `light_client` meanwhile, and note what it found."""
    context = multiprocessing.get_context("spawn")  # gRPC's threads would not survive a fork
    ended = context.Event()
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=light_client, args=(address, calls, ended, sending), daemon=True)
    process.start()
    sending.close()  # so that the end of the process ends the reading
    try:
        await asyncio.to_thread(receiving.recv)
        yield
        ended.set()
        for note in await asyncio.to_thread(receiving.recv):
            tally.note(*note)
    except EOFError:
        raise SystemExit("the client that asks for what needs no search has failed; see above") from None
    finally:
        process.terminate()
        process.join()


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
            tally.memory.append(memory_mb(pid, "VmRSS"))
            due = time.monotonic() + SAMPLE_S
        await asyncio.sleep(0.1)
    tally.memory.append(memory_mb(pid, "VmRSS"))


def memory_mb(pid, name):
    """Return a process's resident memory (VmRSS) or its peak so far (VmHWM) in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith(name))
    return round(kib / 1024, 1)


def processor_s(pid):
    """Return the processor time of a process so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
    lines = [f"{'ms':<22}{'calls':>9}{'p50':>10}{'p95':>10}{'p99':>10}"]
    for method, row in figures["methods"].items():
        cells = (f"{row.get(key, '-'):>10}" for key in ("p50", "p95", "p99"))
        lines.append(f"{method:<22}{row['calls']:>9}" + "".join(cells))
    for method, counts in figures["outcomes"].items():
        lines.append(f"{method}: " + ", ".join(f"{count} {code}" for code, count in sorted(counts.items())))
    share = figures["answered_in_time"]
    if share is not None:
        lines.append(
            f"missed deadlines: {figures['missed_deadlines']} ({figures['missed_though_answered']} of them "
            f"answered by the server in time); {100 * share:.3f} % of the searches that were not rejected "
            f"were answered in time; left of the deadline: {figures['left_of_the_deadline_ms']} ms"
        )
    rejected = figures["rejected_ms"]
    lines.append(
        f"rejected: {rejected['calls']} calls, after {rejected.get('p50', '-')} ms (p50), "
        f"{rejected.get('p99', '-')} ms (p99), {rejected['max']} ms at most; "
        f"{rejected['over_50_ms']} of them after more than {SLOW_MS:g} ms"
    )
    lines.append(f"the clients' own lateness: {figures['clients_late_ms']} ms")
    lines.append(f"{figures['seconds']} s; the machine's load before: {figures['load_before']:.2f}")
    memory = figures["memory_mb"]
    steps = memory[:: max(1, len(memory) // 10)]
    lines.append(f"resident memory, MB: {', '.join(f'{mb:g}' for mb in steps)}; last {memory[-1]:g}")
    lines.append(
        f"peak of resident memory: {figures['peak_memory_mb']:g} MB; the trees of all searches together may "
        f"have {figures['total_memory_mb']} MB (total_memory_mb) beside the {memory[0]:g} MB at first"
    )
    lines.append(f"the server listened after {figures['start_cpu_s']:g} s of processor time")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
