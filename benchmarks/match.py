"""Plays a match between two engines and prints the result with a 95 % interval.

    python benchmarks/match.py mcts random --games 100 --time 0.2 --players 2 --seed 1 --jobs 2

The games of a block share one deal. In each, engine A sits on another seat and B on all others: two games
with two seats, swapped; as many games as seats with more. A shared win is split among its winners, so A's
share of the wins is 1/seats with equal engines. Games of a block depend on each other, so the interval
comes from the variance between the blocks' mean shares: mean -+ t * s / sqrt(blocks), with Student's t.
Wilson's interval over single games stands beside it. Everything random is derived from (seed, block, game,
seat); engines limited by time still vary.
Exit code 1 if an engine fails, 130 after Ctrl-C (with the result so far).
"""

import argparse
import json
import math
import multiprocessing
import random
import shlex
import signal
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from itertools import groupby
from operator import itemgetter

from common import describe_machine, positive

import mexica_ai as ai
from mexica_ai.engines import make_engine, parse_spec

Z = statistics.NormalDist().inv_cdf(0.975)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engines", nargs=2, metavar="SPEC", help="A and B, for instance mcts,time=2 and uct")
    parser.add_argument("--games", type=positive(int), default=100, help="rounded up to whole blocks")
    parser.add_argument("--time", type=positive(float), help="seconds a turn (0.2 without --iterations)")
    parser.add_argument("--iterations", type=positive(int), help="a turn, instead of or besides --time")
    parser.add_argument("--players", type=positive(int), default=2)
    parser.add_argument("--game", default="mexica")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=positive(int), default=1, help="games at a time")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.time is None and args.iterations is None:
        args.time = 0.2
    try:
        for spec in args.engines:
            parse_spec(spec)
        ai.new_game(args.game, players=args.players)
    except ai.MexicaAIError as error:
        parser.error(str(error))

    began = time.perf_counter()
    games, status = play_match(args)
    result = describe_machine() | {"command": shlex.join(["benchmarks/match.py", *sys.argv[1:]])}
    result |= summarize(games, args.players)
    result["games_per_hour"] = round(3600 * len(games) / (time.perf_counter() - began), 1)
    result |= {"engines": args.engines, "players": args.players, "seed": args.seed, "jobs": args.jobs}
    if args.json:
        print(json.dumps(result))
    else:
        print_result(result)
    return status


def play_match(args):
    """Return the games of the blocks that were finished, and the exit code."""
    blocks = -(-args.games // args.players)
    budget = {"time": args.time, "iterations": args.iterations}
    tasks = [
        (args.game, args.engines, budget, args.players, args.seed, block, game)
        for block in range(blocks)
        for game in range(args.players)
    ]
    games, status = [], 0
    # Spawned, since a fork would copy whatever threads hold. A handler that does nothing leaves Ctrl-C to the
    # parent and, unlike ignoring the signal, is not passed on to external engines.
    executor = ProcessPoolExecutor(
        args.jobs, multiprocessing.get_context("spawn"), signal.signal, (signal.SIGINT, do_nothing)
    )
    try:
        for done in as_completed([executor.submit(play_game, *task) for task in tasks]):
            games.append(done.result())
            show_progress(games, len(tasks))
    except KeyboardInterrupt:
        print(f"\ninterrupted after {len(games)} of {len(tasks)} games", file=sys.stderr)
        status = 130
    except BrokenProcessPool:
        raise SystemExit("\nerror: an engine crashed and took its worker process with it") from None
    except RuntimeError as error:
        raise SystemExit(f"\nerror: {error}") from None
    finally:
        # Those still at work would play their games to the end.
        for process in multiprocessing.active_children():
            process.terminate()
        executor.shutdown(cancel_futures=True)
    games.sort(key=itemgetter("block", "game"))
    by_block = [list(block) for _, block in groupby(games, itemgetter("block"))]
    return [game for block in by_block if len(block) == args.players for game in block], status


def do_nothing(*_):
    pass


def play_game(game_name, specs, budget, players, seed, block, game):
    """Play one game of a block, with A on seat `game`; runs in a worker process."""
    position = ai.new_game(game_name, players=players, seed=stream(seed, block).getrandbits(63))
    streams = [stream(seed, block, game, seat) for seat in range(players)]
    used = [{"turns": 0, "iterations": 0, "seconds": 0.0} for _ in specs]
    where = f"block {block}, game {game}"
    try:
        with ExitStack() as stack:
            engines = [stack.enter_context(make_engine(spec, **budget)) for spec in specs]
            while not position.is_over:
                seat = position.to_move
                side = 0 if seat == game else 1
                turn_index = used[0]["turns"] + used[1]["turns"]
                where = f"block {block}, game {game}, turn {turn_index}, seat {seat} ({specs[side]}) to move"
                began = time.perf_counter()
                result = engines[side].best_turn(position, seed=streams[seat].getrandbits(63), candidates=1)
                used[side]["seconds"] += time.perf_counter() - began
                used[side]["iterations"] += result.iterations
                used[side]["turns"] += 1
                position.push(result.turn)
    except Exception as error:
        # As text: not every exception survives the way back to the parent.
        raise RuntimeError(f"{where}: {type(error).__name__}: {error}") from None
    scores, winners = position.scores, position.winners
    return {
        "block": block,
        "game": game,
        "share": (game in winners) / len(winners),
        "margin": scores[game] - max(score for seat, score in enumerate(scores) if seat != game),
        "used": used,
    }


def stream(*key):
    """Return the random numbers of (seed, block[, game, seat])."""
    return random.Random("/".join(map(str, key)))


def show_progress(games, total):
    done = len(games)
    if sys.stderr.isatty() or done * 10 // total != (done - 1) * 10 // total:
        end = "\r" if sys.stderr.isatty() and done < total else "\n"
        share = sum(game["share"] for game in games)
        print(f"{done}/{total} games, A has won {share:g}", end=end, file=sys.stderr, flush=True)


def summarize(games, players):
    """Return the figures of whole blocks of games; lists are [A, B]."""
    if not games:
        return {"games": 0, "blocks": 0}
    n, wins = len(games), sum(game["share"] for game in games)
    blocks = [statistics.mean(game["share"] for game in games[i : i + players]) for i in range(0, n, players)]
    used = [
        {key: sum(game["used"][side][key] for game in games) for key in games[0]["used"][side]}
        for side in (0, 1)
    ]
    return {
        "games": n,
        "blocks": len(blocks),
        "wins": [round(wins, 3), round(n - wins, 3)],
        "share": round(wins / n, 4),
        "interval_95": block_interval(blocks),
        "wilson_95": wilson_interval(wins, n),
        "mean_margin": round(statistics.mean(game["margin"] for game in games), 2),
        "iterations_per_turn": [round(side["iterations"] / max(1, side["turns"]), 1) for side in used],
        "seconds_per_turn": [round(side["seconds"] / max(1, side["turns"]), 4) for side in used],
    }


def block_interval(blocks):
    """Return the 95 % interval of the blocks' mean; None for a single block."""
    from scipy.special import (
        stdtrit,  # slow to import, and the workers, which import this module, need it not
    )

    if len(blocks) < 2:
        return None
    mean, half = statistics.mean(blocks), statistics.stdev(blocks) / math.sqrt(len(blocks))
    half *= stdtrit(len(blocks) - 1, 0.975)
    return [round(max(0.0, mean - half), 4), round(min(1.0, mean + half), 4)]


def wilson_interval(wins, n):
    """Return Wilson's score interval of wins in n games, as if they were independent."""
    share, shrink = wins / n, 1 + Z * Z / n
    middle = (share + Z * Z / (2 * n)) / shrink
    half = Z / shrink * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return [round(max(0.0, middle - half), 4), round(min(1.0, middle + half), 4)]


def print_result(result):
    print(f"{result['command']}\n{result['processor']}, {result['python']}, {time.strftime('%Y-%m-%d')}\n")
    seats = f"{result['players']} seats, seed {result['seed']}"
    print(f"{result['games']} games in {result['blocks']} blocks; {seats}")
    if not result["games"]:
        return
    a, b = result["engines"]
    print(f"wins, shared ones split   A {a}: {result['wins'][0]:g}   B {b}: {result['wins'][1]:g}")
    print(f"A's share of the wins     {result['share']:.1%}")
    low, high = result["interval_95"] or (None, None)
    if low is None:
        print("95 % interval             one block is too few")
    elif low == high:
        print("95 % interval             all blocks ended alike: see Wilson's")
    else:
        print(f"95 % interval             {low:.1%} to {high:.1%}   mean of blocks -+ t * s / sqrt(blocks)")
    print("Wilson's, over games      {:.1%} to {:.1%}".format(*result["wilson_95"]))
    print(f"mean margin of A          {result['mean_margin']:+.1f} points")
    print("mean iterations a turn    A {:,.0f}   B {:,.0f}".format(*result["iterations_per_turn"]))
    print("mean seconds a turn       A {:.3f}   B {:.3f}".format(*result["seconds_per_turn"]))
    print(f"games an hour             {result['games_per_hour']:,.0f} with --jobs {result['jobs']}")


if __name__ == "__main__":
    sys.exit(main())
