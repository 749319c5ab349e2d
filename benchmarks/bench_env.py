"""Measures games that are stepped together (`mexica_ai.env.vector`) against single random playouts.

    python benchmarks/bench_env.py [--game mexica] [--players 2] [--games 256] [--seconds 1] [--repeats 5] [--json]

All rows play the same starts, those of bench_rules.py, in one thread. Except for the last row, the compiled random
player chooses the actions. A game without observations has no rows with them. Each repeat measures every row once; the
medians of the repeats are printed. Games a second are actions a second by the mean length of a single playout: in a
short run few games end, and all at the same time.
"""

import argparse
import json
import statistics
import time

import numpy as np
from common import describe_machine, opening, positive

from cext.core.contract.playout import random_playouts
from mexica_ai import env
from mexica_ai.game import registry

STEPS = 64  # of each game in one call, in the row of random play


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", choices=registry.names(), default="mexica")
    parser.add_argument("--players", type=positive(int), default=2)
    parser.add_argument("--games", type=positive(int), default=256, help="games that run at a time")
    parser.add_argument("--seconds", type=positive(float), default=1.0, help="of each measurement, about")
    parser.add_argument("--repeats", type=positive(int), default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    figures = describe_machine() | vars(args)
    del figures["json"]
    figures["rows"] = measure(args.game, args.players, args.games, args.seconds, args.repeats)
    if args.json:
        print(json.dumps(figures))
    else:
        print_table(figures)


def measure(game, players, num_games, seconds, repeats):
    """Return for each row actions and games a second, and both against single playouts."""
    starts = [opening(players, seed, game) for seed in range(1, 33)]
    rng = np.random.default_rng(1)
    has_observations = registry.get(game).rules.observation_size > 0

    def games(**modes):
        return env.vector(game, num_games, seed=1, starts=starts, **modes)

    plain, listed = games(legal=False), games()
    masked = games(masks=True, observations=has_observations)
    chosen = games(masks=True, observations=has_observations)
    lengths = []
    rows = {
        "single playouts": lambda: lengths.append(single(starts, seconds)) or lengths[-1][0],
        f"random play, {STEPS} steps a call": lambda: random_play(plain, STEPS, seconds),
        "random play, one step a call": lambda: random_play(plain, 1, seconds),
        "with legal lists": lambda: random_play(listed, 1, seconds),
        "with legal lists, masks and observations": lambda: random_play(masked, 1, seconds),
        "the same, actions chosen by numpy": lambda: chosen_play(chosen, rng, seconds),
    }
    if not has_observations:
        rows = dict(list(rows.items())[:4])
    found = {name: [] for name in rows}
    for _ in range(repeats):
        for name, run in rows.items():
            found[name].append(run())
    medians = {name: statistics.median(measured) for name, measured in found.items()}
    length = statistics.mean(length for _, length in lengths)
    return {
        name: {
            "actions_per_s": round(actions_per_s),
            "games_per_s": round(actions_per_s / length, 1),
            "of_single": round(actions_per_s / medians["single playouts"], 3),
        }
        for name, actions_per_s in medians.items()
    }


def single(starts, seconds):
    """Play single playouts for some seconds; return actions a second and the mean length."""
    games = actions = taken_s = 0
    while taken_s < seconds:
        for seed, position in enumerate(starts):
            number, playout_s = random_playouts(position.state, 10, games + seed)
            actions, taken_s = actions + number, taken_s + playout_s
        games += 10 * len(starts)
    return actions / taken_s, actions / games


def random_play(games, steps, seconds):
    """Step with random actions; return actions a second."""
    return timed(lambda: games.step_random(steps), games.num_games * steps, seconds)


def chosen_play(games, rng, seconds):
    """Step with uniform actions that numpy draws; return actions a second."""
    return timed(lambda: games.step(rng.integers(games.num_legal)), games.num_games, seconds)


def timed(step, actions, seconds):
    began = time.perf_counter()
    calls = 0
    while (taken_s := time.perf_counter() - began) < seconds:
        step()
        calls += 1
    return calls * actions / taken_s


def print_table(figures):
    print(f"{figures['processor']}, {figures['python']}, one thread, {time.strftime('%Y-%m-%d')}")
    print(
        f"{figures['game']}, {figures['players']} seats, {figures['games']} games at a time; medians of "
        f"{figures['repeats']} x {figures['seconds']:g} s\n"
    )
    print(f"{'':42}    games/s     actions/s   of single")
    for name, row in figures["rows"].items():
        print(f"{name:42}{row['games_per_s']:>11,.0f}{row['actions_per_s']:>14,}{row['of_single']:>11.0%}")


if __name__ == "__main__":
    main()
