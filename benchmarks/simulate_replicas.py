"""How many replicas: real search slots on a virtual clock, many servers, calls at random times.

Each server is a `SearchSlots` as in `mexica-ai serve`; only its searches take their time on the virtual clock, and no
processor. Calls arrive as a Poisson process, and each chooses a server by one of these:

    random   any, as a balancer without state, or many clients that begin their round robin anywhere
    turn     one after the other, as one client with gRPC's round robin
    two      the one with less work of two at random, as a balancer that sees the work of its servers
    move     random, and up to four others at once if no slot is free (max_moves = 4 of the servers)

    python benchmarks/simulate_replicas.py [--replicas 100] [--slots 4] [--time 0.3] [--load 0.7] [--deadline 0.9]
        [--calls 50000] [--choice random turn two move] [--seed 1] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import random
import selectors
from collections import Counter
from collections.abc import Callable

from mexica_ai.server.slots import BusyError, SearchSlots

CHOICES = ("random", "turn", "two", "move")
MAX_WAITING = 64  # of a server, as by default
MOVES = 4
SHARES = (50, 95, 99)


class Clock(asyncio.SelectorEventLoop):
    """An event loop that does not wait for a timer, but lets its time pass."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self._now

    def jump(self, seconds: float) -> None:
        self._now += seconds


class _Jumping(selectors.DefaultSelector):
    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout:
            self._clock.jump(timeout)
        return super().select(0)


class Replica:
    """A server, and the number of calls that it has in work."""

    def __init__(self, slots: int) -> None:
        self.slots = SearchSlots(slots, MAX_WAITING, MAX_WAITING)
        self.calls = 0

    async def search(self, time_s: float, deadline: float | None) -> None:
        self.calls += 1
        try:
            ticket = await self.slots.take("", time_s, deadline)
            await asyncio.sleep(time_s)
            self.slots.give_back(ticket)
        finally:
            self.calls -= 1


def chooser(choice: str, replicas: list[Replica], draws: random.Random) -> Callable[[], Replica]:
    """Return what chooses the replica of a call."""
    turns = itertools.cycle(replicas)

    def of_two() -> Replica:
        return min(draws.sample(replicas, min(2, len(replicas))), key=lambda replica: replica.calls)

    def moved() -> Replica:
        tried = draws.sample(replicas, min(MOVES + 1, len(replicas)))
        return next((replica for replica in tried if not replica.slots.would_wait("")), tried[-1])

    choosers = {"random": lambda: draws.choice(replicas), "turn": lambda: next(turns), "two": of_two, "move": moved}
    return choosers[choice]


def simulate(
    choice: str, replicas: int, slots: int, time_s: float, rate: float, deadline_s: float | None, calls: int, seed: int
) -> dict[str, float]:
    """Return the percentiles of the waits in seconds, the share of refused calls, and the share of busy slots."""
    clock, draws = Clock(), random.Random(seed)
    servers = [Replica(slots) for _ in range(replicas)]
    choose = chooser(choice, servers, draws)
    waits: list[float] = []
    refused: Counter[str] = Counter()

    async def ask() -> None:
        begin = clock.time()
        try:
            await choose().search(time_s, None if deadline_s is None else begin + deadline_s)
        except BusyError as error:
            refused[error.reason] += 1
        else:
            waits.append(max(0.0, clock.time() - begin - time_s))

    async def play() -> float:
        async with asyncio.TaskGroup() as running:
            for _ in range(calls):
                await asyncio.sleep(draws.expovariate(rate))
                running.create_task(ask())
            end = clock.time()
        return sum(server.slots.busy_s() for server in servers) / (replicas * slots * end)

    try:
        busy = clock.run_until_complete(play())
    finally:
        clock.close()
    waits.sort()
    found = {f"wait_p{share}_s": waits[math.ceil(len(waits) * share / 100) - 1] for share in SHARES} if waits else {}
    return {**found, "refused": refused.total() / calls, "busy": busy}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicas", type=int, default=100)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--time", type=float, default=0.3, help="of each search, in seconds")
    parser.add_argument("--load", type=float, nargs="+", default=[0.7], help="share of what the slots can do at most")
    parser.add_argument("--deadline", type=float, default=0.9, help="of each call, in seconds; 0: none")
    parser.add_argument("--calls", type=int, default=50_000)
    parser.add_argument("--choice", nargs="+", choices=CHOICES, default=list(CHOICES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = []
    for load, choice in itertools.product(args.load, args.choice):
        rate = load * args.replicas * args.slots / args.time
        deadline_s = args.deadline or None
        found = simulate(choice, args.replicas, args.slots, args.time, rate, deadline_s, args.calls, args.seed)
        rows.append({"choice": choice, "load": load, "rate": rate, **found})
        if not args.json:
            waits = "  ".join(f"p{share} {found.get(f'wait_p{share}_s', math.nan):.3f}" for share in SHARES)
            print(
                f"{choice:6}  load {load:.2f}  {rate:8.1f} calls/s  wait {waits} s  "
                f"refused {100 * found['refused']:5.2f} %  busy {100 * found['busy']:4.1f} %",
                flush=True,
            )
    if args.json:
        print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
