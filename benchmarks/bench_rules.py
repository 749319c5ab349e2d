"""Measures a game's compiled rules: random playouts, atomic actions, copies, lists of legal actions.

    python benchmarks/bench_rules.py [--game mexica] [--json] [--seconds 1] [--repeats 7] [--deals 4]

A playout is the game's random playout from the second turn of each seat (Mexica: the end of the placement) to
the end of the game, through `apply_action`, in one thread. Each repeat measures every figure once, so that
noise from other processes affects all of them; the medians of the repeats are printed.
"""

import argparse
import json
import statistics
import time

from common import describe_machine, opening, positive

from cext.core.contract import playout
from mexica_ai.game import registry

# At least, by seats: (native build, portable build). They orient only: from a 2-core EPYC with AVX-512.
PLAYOUT_BUDGETS = {
    "mexica": {2: (7500, 4100), 3: (4900, 2700), 4: (3600, 2000)},
    "coatl": {2: (40000, 40000), 3: (40000, 40000), 4: (40000, 40000)},
    "tzolkin": {2: (20000, 20000), 3: (13000, 13000), 4: (10000, 10000)},
}
COPY_BUDGET = 50e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", choices=registry.names(), default="mexica")
    parser.add_argument("--seconds", type=positive(float), default=1.0, help="of each measurement, about")
    parser.add_argument("--repeats", type=positive(int), default=7, help="repeats; their median is printed")
    parser.add_argument("--deals", type=positive(int), default=4, help="openings per number of seats")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    figures = describe_machine() | vars(args)
    del figures["json"]
    figures |= measure(args.game, args.seconds, args.repeats, args.deals)
    if args.json:
        print(json.dumps(figures))
    else:
        print_table(figures)


def measure(game, seconds, repeats, deals):
    """Return all figures; see the module."""
    seats = range(2, registry.get(game).rules.max_players + 1)
    states = {n: [opening(n, seed, game).state for seed in range(1, deals + 1)] for n in seats}
    state = states[2][0]
    playout_counts = {n: calibrated(lambda count, n=n: play(states[n], count)[1], seconds, deals) for n in seats}
    copy_count = calibrated(lambda count: playout.copies(state, count), seconds, 1000)
    list_count = calibrated(lambda count: playout.legal_lists(state, count)[1], seconds, 10)

    playouts, actions = ({n: [] for n in seats} for _ in range(2))
    copies, lists = [], []
    for _ in range(repeats):
        for n, count in playout_counts.items():
            num_actions, taken_s = play(states[n], count)
            playouts[n].append(count / taken_s)
            actions[n].append(num_actions / taken_s)
        copies.append(copy_count / playout.copies(state, copy_count))
        num_legal, taken_s = playout.legal_lists(state, list_count)
        lists.append(list_count / taken_s)
    playouts_per_s = {str(n): median(values) for n, values in playouts.items()}
    actions_per_s = {str(n): median(values) for n, values in actions.items()}
    return {
        "playouts_per_s": playouts_per_s,
        "actions_per_s": actions_per_s,
        "actions_per_playout": {n: round(actions_per_s[n] / playouts_per_s[n], 1) for n in playouts_per_s},
        "copies_per_s": median(copies),
        "state_size": state.game.state_size,
        "legal_lists_per_s": median(lists),
        "legal_actions": num_legal,
        "ns_per_legal_action": round(1e9 / statistics.median(lists) / num_legal, 2),
    }


def play(states, count):
    """Play `count` playouts, the same number from each state; return (actions, seconds)."""
    results = [playout.random_playouts(state, count // len(states), seed) for seed, state in enumerate(states)]
    return sum(actions for actions, _ in results), sum(taken_s for _, taken_s in results)


def calibrated(run, seconds, unit):
    """Return the count, a multiple of `unit`, for which `run(count)` takes about `seconds`.

    `run` repeats an operation `count` times and returns the seconds taken.
    """
    count = unit
    taken_s = run(count)
    while taken_s < seconds / 10:
        count *= 4
        taken_s = run(count)
    return max(1, round(count * seconds / taken_s / unit)) * unit


def median(values):
    return round(statistics.median(values), 1)


def print_table(figures):
    print(f"{figures['processor']}, {figures['python']}, one thread, {time.strftime('%Y-%m-%d')}")
    print(f"medians of {figures['repeats']} x {figures['seconds']:g} s, {figures['deals']} deals\n")
    print("seats    playouts/s   native/portable budget     actions/s   actions/playout")
    budgets = PLAYOUT_BUDGETS.get(figures["game"], {})
    for seats, playouts_per_s in figures["playouts_per_s"].items():
        budget = "/".join(f"{number:,}" for number in budgets.get(int(seats), ())) or "-"
        print(
            f"{seats:>5}{playouts_per_s:>14,.0f}{budget:>25}"
            f"{figures['actions_per_s'][seats]:>14,.0f}{figures['actions_per_playout'][seats]:>18,.1f}"
        )
    print(
        f"\ncopies of a state ({figures['state_size']:,} bytes): {figures['copies_per_s'] / 1e6:,.1f} M/s"
        f" (budget {COPY_BUDGET / 1e6:g} M/s)"
    )
    print(
        f"lists of an opening's {figures['legal_actions']:,} legal actions: "
        f"{figures['legal_lists_per_s']:,.0f}/s, {figures['ns_per_legal_action']:.2f} ns an action"
    )


if __name__ == "__main__":
    main()
