"""Measures the search: iterations and nodes per second by threads, memory, lateness, time to stop.

    python benchmarks/bench_search.py [--json] [--threads 1,2] [--seconds 2] [--repeats 7]
                                      [--calls 200] [--game mexica] [--position FILE]

Several threads are compared with one thread in three ways, by iterations/s. "Equal time": runs of the same
length; the budget is for these. "Equal work": runs of as many iterations as one thread does in that time, so
that the trees have the same size, since an iteration takes longer in a larger tree. "Separate": several
one-thread searches at the same time, which share nothing; their loss is due to cores that share power, caches
or memory.
All these runs are interleaved: each repeat does each of them once, in rotating order, and compares it with
the one-thread run of the same repeat. Medians of the repeats are printed.
Lateness is how long after its budget `best_turn` returns. The time to stop is from `stop()` to the return of
`run()`, when all threads have ended.
"""

import argparse
import json
import os
import statistics
import sys
import threading
import time
from pathlib import Path

from common import describe_machine, positive, quantiles

import mexica_ai as ai
from cext.core.search.search import Search
from mexica_ai.engines import make_engine
from mexica_ai.game import registry

EXAMPLES = Path(__file__).parent.parent / "examples"
MIDGAME = "_midgame.json"
GAMES = sorted(path.name.removesuffix(MIDGAME) for path in EXAMPLES.glob(f"*{MIDGAME}"))
LATE_BUDGET_MS = 10
STOP_BUDGET_MS = 10
RATIO_BUDGETS = {2: 1.8}
RUN_BEFORE_STOP_S = 0.05


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--threads", type=thread_counts, default=[1, 2], help="thread counts, separated by commas; always includes 1"
    )
    parser.add_argument("--seconds", type=positive(float), default=2.0, help="of a run that measures speed")
    parser.add_argument("--repeats", type=positive(int), default=7, help="repeats; their median is printed")
    parser.add_argument("--calls", type=positive(int), default=200, help="short searches for lateness and stopping")
    parser.add_argument("--time", type=positive(float), default=0.05, help="seconds of a short search")
    parser.add_argument("--memory", type=positive(int), default=1024, help="MiB per search")
    parser.add_argument("--game", choices=GAMES, default="mexica", help="the game whose example is searched")
    parser.add_argument("--position", help="a position's JSON file, instead of the example")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    path = Path(args.position or EXAMPLES / f"{args.game}{MIDGAME}")
    position = ai.load(path)
    figures = describe_machine() | {"cores": os.cpu_count()} | vars(args)
    figures |= {"game": position.game, "position": path.name}
    del figures["json"]
    figures |= measure_speed(position.state, args.threads, args.seconds, args.repeats, args.memory)
    figures["bytes_per_node"] = measure_memory(position.state)
    figures["late_ms"] = {
        str(n): measure_lateness(position, n, args.calls, args.time, args.memory) for n in args.threads
    }
    figures["stop_ms"] = {str(n): measure_stopping(position.state, n, args.calls, args.memory) for n in args.threads}
    if args.json:
        print(json.dumps(figures))
    else:
        print_table(figures)


def thread_counts(text):
    """Read counts such as `1,2,4`; add 1, with which the others are compared."""
    counts = [int(part) for part in text.split(",")]
    if not all(1 <= count <= 256 for count in counts):
        raise ValueError
    return sorted({1, *counts})


def measure_speed(state, threads, seconds, repeats, memory_mb):
    """Return rates by thread count, and ratios to one thread in the three ways."""
    by_time = {"time_s": seconds}
    # The first run loads what is loaded once.
    firsts = [run_together(state, 1, 1, by_time, memory_mb, seed)[0] for seed in range(3)]
    work = statistics.median(run["iterations"] for run in firsts)
    by_work = {"iterations": work}
    # Number of searches, threads per search, limit.
    kinds = {("time", n): (1, n, by_time) for n in threads}
    kinds |= {("work", n): (1, n, by_work) for n in threads}
    kinds |= {("separate", n): (n, 1, by_time) for n in threads if n > 1}
    done = {kind: [] for kind in kinds}
    for repeat in range(repeats):
        shift = repeat % len(kinds)
        for kind in [*kinds][shift:] + [*kinds][:shift]:
            done[kind].append(run_together(state, *kinds[kind], memory_mb, repeat))
    done["separate", 1] = done["time", 1]
    runs = {n: [run for [run] in done["time", n]] for n in threads}
    every_run = firsts + [run for repeated in done.values() for together in repeated for run in together]
    if any(run["stop_reason"] not in ("time", "iterations") for run in every_run):
        print("warning: not every run reached its limit; give more --memory or fewer --seconds", file=sys.stderr)

    def rates(key):
        return {str(n): round(statistics.median(run[key] / run["seconds"] for run in runs[n]), 1) for n in threads}

    def ratios(way, one):
        return {str(n): median_ratio(done[way, n], done[one, 1]) for n in threads}

    return {
        "iterations_per_s": rates("iterations"),
        "nodes_per_s": rates("nodes"),
        "distinct_turns_per_s": rates("distinct_turns"),
        "work_iterations": work,
        "ratio_in_equal_time": ratios("time", "time"),
        "ratio_for_equal_work": ratios("work", "work"),
        "ratio_of_separate_searches": ratios("separate", "time"),
    }


def median_ratio(runs, ones):
    """Return the median over the repeats of the summed iterations/s of `runs` divided by that of `ones`."""
    totals, of_one = (
        [sum(run["iterations"] / run["seconds"] for run in together) for together in repeated]
        for repeated in (runs, ones)
    )
    return round(statistics.median(total / one for total, one in zip(totals, of_one, strict=True)), 3)


def new_search(state, **options):
    """Return a search with the weights that ship."""
    return Search(state, weights=registry.get(state.game.name).weights(), **options)


def run_together(state, count, threads, limit, memory_mb, seed):
    """Return the results of `count` searches of `threads` threads each that run at the same time."""
    searches = [
        new_search(state, threads=threads, memory_mb=memory_mb, seed=seed + i, early_stop=0) for i in range(count)
    ]
    runners = [threading.Thread(target=search.run, kwargs=limit) for search in searches]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    return [search.result(1) for search in searches]


def measure_memory(state, memory_mb=8):
    """Return the bytes per node, with its edges and its share of the table: memory over nodes when full."""
    search = new_search(state, memory_mb=memory_mb, seed=1, early_stop=0)
    search.run(time_s=60)
    return round(memory_mb * 2**20 / search.result(1)["nodes"], 1)


def measure_lateness(position, threads, calls, time_s, memory_mb):
    """Return how long after its budget `best_turn` returned, in ms."""
    engine = make_engine("mcts,early_stop=0", time=time_s, threads=threads, memory=memory_mb)
    engine.best_turn(position)  # loads what is loaded once
    late = []
    for seed in range(calls):
        began = time.perf_counter()
        engine.best_turn(position, seed=seed)
        late.append(1000 * (time.perf_counter() - began - time_s))
    return quantiles(late)


def measure_stopping(state, threads, calls, memory_mb):
    """Return the time from `stop()` to the return of `run()`, when all threads have ended, in ms."""
    latencies = []
    for seed in range(calls):
        search = new_search(state, threads=threads, memory_mb=memory_mb, seed=seed)
        ended = []

        def run(search=search, ended=ended):
            search.run()
            ended.append(time.perf_counter())

        runner = threading.Thread(target=run)
        runner.start()
        time.sleep(RUN_BEFORE_STOP_S)
        stopped = time.perf_counter()
        search.stop()
        runner.join()
        latencies.append(1000 * (ended[0] - stopped))
    return quantiles(latencies)


def print_table(figures):
    print(
        f"{figures['processor']}, {figures['cores']} cores, {figures['python']}, "
        f"{time.strftime('%Y-%m-%d')}\n"
        f"{figures['position']}: medians of {figures['repeats']} x {figures['seconds']:g} s\n"
    )
    print(f"{'':>56}  iterations/s, to those of one thread")
    print("threads  iterations/s      nodes/s  end-of-turn states/s  equal time  equal work  separate")
    for n in figures["threads"]:
        key, budget = str(n), f"  (budget of equal time {RATIO_BUDGETS[n]})" if n in RATIO_BUDGETS else ""
        print(
            f"{n:>7}{figures['iterations_per_s'][key]:>14,.0f}{figures['nodes_per_s'][key]:>13,.0f}"
            f"{figures['distinct_turns_per_s'][key]:>22,.0f}{figures['ratio_in_equal_time'][key]:>12.2f}"
            f"{figures['ratio_for_equal_work'][key]:>12.2f}"
            f"{figures['ratio_of_separate_searches'][key]:>10.2f}{budget}"
        )
    print(f"\nequal work: {figures['work_iterations']:,.0f} iterations")
    print(f"memory: {figures['bytes_per_node']:.0f} bytes per node, with its edges and its share of the table")
    print(f"\nms over {figures['calls']} searches{'threads':>23}{'min':>9}{'p50':>9}{'p99':>9}{'max':>9}")
    print_quantiles(f"answer after {figures['time']:g} s, late by", figures["late_ms"], LATE_BUDGET_MS)
    print_quantiles("stop() to the end of run()", figures["stop_ms"], STOP_BUDGET_MS)


def print_quantiles(label, rows, budget):
    for n, row in rows.items():
        print(
            f"{label:<33}{n:>8}"
            + "".join(f"{row[name]:>9.2f}" for name in ("min", "p50", "p99", "max"))
            + f"  (budget {budget})"
        )


if __name__ == "__main__":
    main()
