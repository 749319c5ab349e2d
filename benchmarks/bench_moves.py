"""Latencies with several servers of one slot each and as many callers: calls that wait, or move on to another server.

The servers are processes, each with one slot, and each caller has a channel of its own with gRPC's round robin. So two
callers often ask the same server while another is idle. The searches sleep, so that the processors of this machine,
which are fewer than the servers, are no limit.

    python benchmarks/bench_moves.py [--servers 6] [--callers 6] [--rate 12] [--time 0.3] [--duration 20]
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time

from mexica_ai.analysis.results import Candidate, Result
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.analysis.stopping import Stop
from mexica_ai.game.position import Position, new_game
from mexica_ai.rpc import load
from mexica_ai.rpc.client import AsyncClient
from mexica_ai.server.app import Server
from mexica_ai.server.config import ServerConfig


class SleepingRun:
    """Stands in for a search: it lasts as long as it may."""

    def __init__(self, _position: Position, settings: SearchSettings) -> None:
        self._settings, self._stop = settings, Stop()

    def result(self) -> Result:
        limits, begin = self._settings.limits, time.monotonic()
        self._stop.wait(limits.time_s)
        found = [Candidate(["take 1 1"], 1, [0.5, 0.5], [0.0, 0.0], 1.0, [])]
        return Result(found, 1, 1, 1, time.monotonic() - begin, "time", self._settings.seed, limits.threads)

    def stop(self) -> None:
        self._stop.set()

    def join(self) -> None:
        pass


async def serve(max_moves: int) -> None:
    server = Server(ServerConfig(port=0, slots=1, max_moves=max_moves), SleepingRun)  # type: ignore[arg-type]
    await server.start()
    print(server.address, flush=True)
    await asyncio.Event().wait()


def measure(args: argparse.Namespace, max_moves: int) -> None:
    command = [sys.executable, __file__, "--serve", str(max_moves)]
    servers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(args.servers)]
    try:
        target = "ipv4:" + ",".join(server.stdout.readline().strip() for server in servers if server.stdout)
        plan = load.Plan(args.duration, args.callers, args.rate, search={"time_s": args.time}, has_own_channels=True)
        found = asyncio.run(load.run(lambda: AsyncClient(target), [new_game("nim", piles=[7, 6, 5])], plan, Stop()))
    finally:
        for server in servers:
            server.kill()
            server.wait()
    figures = found.to_json()
    latency = figures["latency_s"]
    shown = "  ".join(f"{name} {latency[name]:.2f}" for name in ("p50", "p90", "p95", "p99", "max"))
    print(f"max_moves {max_moves}: {figures['answers_per_s']:.1f} turns/s  {shown} s  refused {figures['refusals']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", type=int, default=6)
    parser.add_argument("--callers", type=int, default=6)
    parser.add_argument("--time", type=float, default=0.3)
    parser.add_argument("--rate", type=float, help="calls a second of all callers, at random times")
    parser.add_argument("--duration", type=float, default=20.0)
    parser.add_argument("--moves", type=int, nargs="+", default=[0, 1, 2, 4])
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve is not None:
        asyncio.run(serve(args.serve))
    else:
        for max_moves in args.moves:
            measure(args, max_moves)


if __name__ == "__main__":
    main()
