"""Floods a server with calls, and counts the outcomes of a good caller's calls.

    python benchmarks/attack_flood.py [--kind wrong-token] [--seconds 20] [--connections 40] [--streams 50]
                                      [--asks 6] [--settle 1] [--json]

The attackers, in a process of their own, keep `--connections` times `--streams` calls open, and ask again as
soon as one has ended:

* wrong-token, no-token: BestTurn with a token that the server does not know, or none,
* tenant: BestTurn of 0.2 s with a good token,
* light: LegalActions with a good token,
* none: nothing, to compare.

The good caller has another token and a connection of its own. It asks `--asks` times for BestTurn with 0.2 s and
a deadline of 2 s, without retries, and before that tries LegalActions until one is answered, so that it is
connected. All share the machine: with the attackers, the server's loop and two searches it has more to do than
two cores can.
"""

import asyncio
import contextlib
import multiprocessing
import os
import time

import grpc
from attacks import EXAMPLE, ServerProcess, Tally, arguments, ask, best_turn, metadata_of, report, stub, tokens_file

import mexica_ai as ai
from mexica_ai.rpc import wire
from mexica_ai.v1 import engine_pb2

GOOD, FLOODING = "g" * 20, "f" * 20
TOKENS = {"wrong-token": "w" * 20, "no-token": None, "tenant": FLOODING, "light": FLOODING}
BUDGET_S, DEADLINE_S = 0.2, 2.0


def main():
    parser = arguments(__doc__)
    parser.add_argument("--kind", choices=[*TOKENS, "none"], default="wrong-token")
    parser.add_argument("--connections", type=int, default=40)
    parser.add_argument("--streams", type=int, default=50)
    parser.add_argument("--asks", type=int, default=20, help="calls of the good caller at most (default: 20)")
    parser.add_argument("--settle", type=float, default=1.0, help="seconds of the flood before that (default: 1)")
    parser.add_argument("--slots", type=int, default=2)
    args = parser.parse_args()
    with (
        tokens_file({"good": GOOD, "flooding": FLOODING}) as tokens,
        ServerProcess("--slots", args.slots, "--tokens-file", tokens) as server,
    ):
        report(asyncio.run(attack(args, server)), args.json)


async def attack(args, server):
    """Start the flood, ask as the good caller, and return the figures."""
    calls, light = Tally(), Tally()
    legal = engine_pb2.LegalActionsRequest(position=wire.position_to_message(ai.load(EXAMPLE)))
    memory_before = server.memory_mb()
    async with stub(server.address) as service:
        with flooding(args, server.address) as (counts, is_open):
            while not is_open.is_set():
                await asyncio.sleep(0.05)
            await asyncio.sleep(args.settle)
            begin, cpu_s, ended = time.monotonic(), server.loop_cpu_s(), counts[0]
            while time.monotonic() < begin + args.seconds and calls.outcomes.total() < args.asks:
                await ask(service.LegalActions, legal, light, DEADLINE_S, GOOD)
                await ask(service.BestTurn, best_turn(BUDGET_S), calls, DEADLINE_S, GOOD)
            seconds = time.monotonic() - begin
            return {
                "kind": args.kind,
                "good_searches": calls.figures(),
                "good_light_calls": light.figures(),
                "flood_calls_per_s": round((counts[0] - ended) / seconds),
                "loop_processor": round((server.loop_cpu_s() - cpu_s) / seconds, 2),
                "memory_mb": [memory_before, server.memory_mb()],
                "load": os.getloadavg()[0],
            }


@contextlib.contextmanager
def flooding(args, address):
    """Flood in another process; give how many of its calls have ended, and an event once all are open."""
    spawn = multiprocessing.get_context("spawn")
    counts, is_open = spawn.Array("q", 1), spawn.Event()
    if args.kind == "none":
        is_open.set()
        yield counts, is_open
        return
    process = spawn.Process(target=flood, args=(args, address, counts, is_open), daemon=True)
    process.start()
    try:
        yield counts, is_open
    finally:
        process.kill()
        process.join()


def flood(args, address, counts, is_open):
    """Keep calls open over many connections."""
    position = ai.load(EXAMPLE)
    if args.kind == "light":
        method, request = "LegalActions", engine_pb2.LegalActionsRequest(position=wire.position_to_message(position))
    else:
        method, request = "BestTurn", best_turn(BUDGET_S, position)
    metadata = metadata_of(TOKENS[args.kind])

    async def stream(call):
        while True:
            with contextlib.suppress(grpc.aio.AioRpcError):
                await call(request, metadata=metadata, timeout=60)
            counts[0] += 1

    async def run():
        async with contextlib.AsyncExitStack() as stack:
            services = [await stack.enter_async_context(stub(address)) for _ in range(args.connections)]
            streams = [stream(getattr(service, method)) for service in services for _ in range(args.streams)]
            is_open.set()
            await asyncio.gather(*streams)

    asyncio.run(run())


if __name__ == "__main__":
    main()
