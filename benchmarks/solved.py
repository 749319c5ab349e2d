"""How often the last turns of games are solved, what the proofs cost, and what they gain.

Searches of few iterations play games to their ends. The last positions of each are searched twice, with proofs and
without. For each number of turns before the end: how many of the searches were solved, their iterations and nodes in
the median, and the processor time of all of them against those without proofs. Of the solved positions: by how much
the share that the search without proofs expected for the seat to move was wrong, in the mean, and in how many its turn
gives a proved share away.

    python benchmarks/solved.py --game mexica --players 2 --games 40
"""

import argparse
import collections
import json
import statistics
import time

import mexica_ai as ai
from cext.core.search.search import Search
from mexica_ai.analysis.search import weights_for

COLUMNS = ("turns", "positions", "solved", "iterations", "nodes", "time", "error", "given away")


def main():
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="mexica")
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--games", type=int, default=20, help="games played (default: %(default)s)")
    parser.add_argument("--play", type=int, default=50, help="iterations of a turn of these (default: %(default)s)")
    parser.add_argument("--iterations", type=int, default=4000, help="most of a search (default: %(default)s)")
    parser.add_argument("--last", type=int, default=4, help="turns before the end (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = measure(args)
    if args.json:
        print(json.dumps(found))
        return
    print(("{:>11}" * len(COLUMNS)).format(*COLUMNS))
    for row in found["rows"]:
        print(("{:>11}" * len(COLUMNS)).format(*("-" if row[name] is None else row[name] for name in COLUMNS)))


def measure(args):
    """Play the games and search their last positions; return a row of figures for each turn before the end."""
    searched = collections.defaultdict(list)
    for number in range(args.games):
        for turns, state in enumerate(last_positions(args, args.seed + number), 1):
            searched[turns].append(compare(state, args))
    return {
        "game": args.game,
        "players": args.players,
        "iterations": args.iterations,
        "rows": [summary(turns, rows) for turns, rows in sorted(searched.items())],
    }


def last_positions(args, seed):
    """Play a game; return the last positions in which a seat is to move, the last one first."""
    position = ai.new_game(args.game, players=args.players, seed=seed)
    states = collections.deque(maxlen=args.last)
    while not position.is_over:
        if position.is_chance:
            position.draw(seed)
            continue
        states.appendleft(position.state.copy())
        position.push(ai.best_turn(position, iterations=args.play, seed=seed, memory_mb=16).turn)
    return list(states)


def search(state, args, solve):
    """Search a state; return the result with the processor time that it took."""
    one = Search(state, weights=weights_for(args.game, None), seed=args.seed, memory_mb=256, solve=solve)
    began = time.process_time()
    one.run(iterations=args.iterations)
    return one.result() | {"cpu_s": time.process_time() - began}


def compare(state, args):
    """Search a state with proofs and without; return what differs."""
    proved, plain = search(state, args, 1), search(state, args, 0)
    seat = state.current_player
    is_solved = proved["stop_reason"] == "solved"
    row = {"solved": is_solved, "is_forced": proved["stop_reason"] == "forced"}
    row |= {name: (proved[name], plain[name]) for name in ("iterations", "nodes", "cpu_s")}
    if is_solved:
        share = proved["candidates"][0]["value"][seat]
        row["error"] = abs(plain["candidates"][0]["value"][seat] - share)
        row["given away"] = left_by(state, plain["candidates"][0]["actions"], seat, args) < share - 1e-9
    return row


def left_by(state, actions, seat, args):
    """Return the share of a seat that is proved after a turn; 1 if none is."""
    state = state.copy()
    for action in actions:
        state.apply(action)
    if state.is_terminal:
        return state.returns()[seat]
    if state.current_player < 0:
        return 1.0
    result = search(state, args, 1)
    return result["candidates"][0]["value"][seat] if result["stop_reason"] == "solved" else 1.0


def summary(turns, rows):
    """Return the figures of searches so many turns before the end."""
    rows = [row for row in rows if not row["is_forced"]]
    solved = [row for row in rows if row["solved"]]
    plain_s = sum(row["cpu_s"][1] for row in rows)
    return {
        "turns": turns,
        "positions": len(rows),
        "solved": len(solved),
        "iterations": round(statistics.median(row["iterations"][0] for row in solved)) if solved else None,
        "nodes": round(statistics.median(row["nodes"][0] for row in solved)) if solved else None,
        "time": round(sum(row["cpu_s"][0] for row in rows) / plain_s, 2) if plain_s else None,
        "error": round(statistics.mean(row["error"] for row in solved), 3) if solved else None,
        "given away": sum(row["given away"] for row in solved),
    }


if __name__ == "__main__":
    main()
