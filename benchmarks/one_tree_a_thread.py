"""Root parallelization, the other way to use threads: one tree per thread, merged at the end.

    mexica-ai arena --concurrency 1 --time 0.25 --engine mcts,threads=2 \\
        --engine 'cmd:"python benchmarks/one_tree_a_thread.py 2"'

An external engine for the arena. Each thread searches independently with its own seed. If several threads
have the same candidate, their visits are added and their values averaged by visits.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.cli.main import main
from mexica_ai.engines import specs
from mexica_ai.engines.native import MctsEngine

MERGED = 200  # candidates of each tree that are merged


class TreesEngine(MctsEngine):
    """One tree per thread (root parallelization: Chaslot, Winands, van den Herik, 2008)."""

    def _best_turn(self, position, limits, *, seed, candidates, stop):
        n = limits.threads
        one = replace(
            limits,
            threads=1,
            memory_mb=max(1, limits.memory_mb // n),
            iterations=None if limits.iterations is None else max(1, limits.iterations // n),
        )
        seeds = random.Random(seed)
        runs = [SearchRun(position, SearchSettings(one, seeds.getrandbits(63), MERGED)) for _ in range(n)]
        with contextlib.ExitStack() as stack, ThreadPoolExecutor(n) as executor:
            for run in runs:
                stack.enter_context(stop.calling(run.stop))
            return _merge(list(executor.map(SearchRun.result, runs)), candidates)


def _merge(results, count):
    merged = {}
    for result in results:
        for found in result.candidates:
            key = tuple(found.turn)
            merged[key] = _together(merged[key], found) if key in merged else found
    candidates = sorted(merged.values(), key=lambda candidate: -candidate.visits)[:count]
    return replace(
        results[0],
        candidates=candidates,
        iterations=sum(result.iterations for result in results),
        nodes=sum(result.nodes for result in results),
        threads=len(results),
    )


def _together(one, two):
    visits = one.visits + two.visits

    def mean(a, b):
        share = two.visits / visits if visits else 0.5
        return [(1 - share) * x + share * y for x, y in zip(a, b, strict=True)]

    return replace(
        one,
        visits=visits,
        value=mean(one.value, two.value),
        expected_scores=mean(one.expected_scores, two.expected_scores),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("threads", type=int, help="number of threads, each with its own tree")
    arguments = parser.parse_args()
    specs.KINDS["trees"] = specs.EngineKind("__main__:TreesEngine", "one tree per thread")
    sys.exit(main(["engine", "--engine", f"trees,threads={arguments.threads}"]))
