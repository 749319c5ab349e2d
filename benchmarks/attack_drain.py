"""Ends a server behind a TCP balancer, and counts the calls that are lost.

    python benchmarks/attack_drain.py [--seconds 20] [--callers 8] [--grace 10] [--json]

Two servers stand behind a balancer that sends each new connection to a server that reports SERVING. Callers
with the published service config, each over a connection of its own, ask one call after another, and one long
search runs on each server. After a fifth of the time one server gets SIGTERM.
"""

import asyncio
import time

from attacks import Balancer, ServerProcess, Tally, arguments, ask, best_turn, report, stub

from mexica_ai.v1 import engine_pb2

LONG_S = 55.0


def main():
    parser = arguments(__doc__)
    parser.add_argument("--callers", type=int, default=8)
    parser.add_argument("--grace", type=float, default=10.0, help="seconds that the ending server gives searches")
    args = parser.parse_args()
    flags = ("--slots", 4, "--grace", args.grace)
    with ServerProcess(*flags) as first, ServerProcess(*flags) as second:
        report(asyncio.run(attack(args, first, second)), args.json)


async def attack(args, first, second):
    """Run the callers and end the first server; return the figures."""
    calls, end = Tally(), time.monotonic() + args.seconds

    async def caller(address):
        async with stub(address, retries=True) as service:
            while time.monotonic() < end:
                await ask(service.BestTurn, best_turn(0.05), calls, deadline_s=10.0)

    async def search_long(server):
        async with stub(server.address) as service:
            tally = Tally()
            answer = await ask(service.BestTurn, best_turn(LONG_S), tally)
            reason = answer and engine_pb2.StopReason.Name(answer.result.stop_reason)
            return reason or next(iter(tally.outcomes))

    async def terminate():
        await asyncio.sleep(args.seconds / 5)
        begin = time.monotonic()
        first.terminate()
        return await first.ended(), round(time.monotonic() - begin, 1)

    async with Balancer([first.address, second.address]) as balancer:
        long_searches = [asyncio.ensure_future(search_long(server)) for server in (first, second)]
        callers = [caller(balancer.address) for _ in range(args.callers)]
        (exit_code, drained_s), *_ = await asyncio.gather(terminate(), *callers)
        drained = await long_searches[0]
        long_searches[1].cancel()
    figures = calls.figures()
    return {
        "calls": calls.outcomes.total(),
        "lost": calls.outcomes.total() - calls.outcomes["OK"],
        "outcomes": figures,
        "long_search": drained,
        "drained_s": drained_s,
        "exit_code": exit_code,
    }


if __name__ == "__main__":
    main()
