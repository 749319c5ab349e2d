"""Counts the answered calls of a caller with many programs, and of another with one call at a time.

    python benchmarks/attack_fair.py [--seconds 30] [--programs 20] [--deadline 20] [--share 2] [--json]

The first caller has `--programs` programs, each of which asks for BestTurn with 0.2 s and a deadline of 1 to 2 s, and
after a refusal again 0.1 s later. The second has one, with the same time and `--deadline` seconds (0: none). The
server has two slots, of which one caller may hold `--share`. tests/server/test_scheduler.py does the same, and much
else, on a virtual clock.
"""

import asyncio
import random
import time

from attacks import ServerProcess, Tally, arguments, ask, best_turn, report, stub, tokens_file

TOKENS = {"many": "m" * 20, "one": "o" * 20}
BUDGET_S = 0.2
PAUSE_S = 0.1


def main():
    parser = arguments(__doc__)
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--deadline", type=float, default=20.0)
    parser.add_argument("--share", type=int, default=0, help="slots of one caller; 0: the server's default")
    args = parser.parse_args()
    with tokens_file(TOKENS) as tokens:
        flags = ["--slots", 2, "--tokens-file", tokens]
        flags += ["--max-slots-per-caller", args.share] if args.share else []
        with ServerProcess(*flags) as server:
            report(asyncio.run(attack(args, server)), args.json)


async def attack(args, server):
    """Let both callers ask; return the figures."""
    random_, end = random.Random(1), time.monotonic() + args.seconds
    tallies = {name: Tally() for name in TOKENS}

    async def program(service, name, deadlines_s):
        while time.monotonic() < end:
            deadline_s = random_.choice(deadlines_s)
            answer = await ask(service.BestTurn, best_turn(BUDGET_S), tallies[name], deadline_s, TOKENS[name])
            if answer is None:
                await asyncio.sleep(PAUSE_S)

    async with stub(server.address) as many, stub(server.address) as one:
        programs = [program(many, "many", (1.0, 1.5, 2.0)) for _ in range(args.programs)]
        await asyncio.gather(*programs, program(one, "one", (args.deadline or None,)))
    return {
        "deadline_s": args.deadline,
        "share": args.share,
        **{
            name: {"answered": round(tally.outcomes["OK"] / tally.outcomes.total(), 3), **tally.figures()}
            for name, tally in tallies.items()
        },
    }


if __name__ == "__main__":
    main()
