"""Measures searches with an evaluator by the size of their batches (extra `onnx`, and the package onnx).

    python benchmarks/bench_evaluator.py [--game tzolkin] [--batches 1,4,16,64] [--threads 1] [--hidden 128]
        [--seconds 1] [--repeats 5] [--slow] [--json]

The network is one of the size of examples/train_network.py with random weights: speed does not depend on them. `free`
is an evaluator that answers at once: what gathering leaves and calling Python cost. `native` is the search without any.
With `--slow` the evaluator sleeps 5 ms a call and 20 us a leaf, as a network on another device would take, and the
share of the time in it is printed, too: what is left is when the device waits for leaves. Each repeat measures all rows
once; medians are printed.
"""

import argparse
import itertools
import json
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from common import describe_machine, opening, positive
from onnx import helper, numpy_helper

import mexica_ai as ai
from mexica_ai.analysis.evaluators import OnnxEvaluator
from mexica_ai.env import schema
from mexica_ai.game import registry


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", choices=registry.names(), default="tzolkin")
    parser.add_argument("--batches", default="1,4,16,64", help="sizes, separated by commas")
    parser.add_argument("--threads", type=positive(int), default=1)
    parser.add_argument("--hidden", type=positive(int), default=128, help="units of the network's first layer")
    parser.add_argument("--seconds", type=positive(float), default=1.0, help="of each measurement")
    parser.add_argument("--repeats", type=positive(int), default=5)
    parser.add_argument(
        "--slow", action="store_true", help="measure an evaluator that sleeps, and its share of the time"
    )
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    figures = describe_machine() | vars(args)
    del figures["json"]
    figures["rows"] = measure(args)
    if args.json:
        print(json.dumps(figures))
    else:
        print_table(figures)


def measure(args):
    """Return for each evaluator and size of a batch the iterations a second; with `--slow` pairs with a share."""
    if args.slow:
        return measure_slow(args)
    with tempfile.TemporaryDirectory() as folder:
        evaluator = OnnxEvaluator(network(Path(folder) / "network.onnx", args.game, args.hidden))
    position = opening(2, 1, args.game)
    rows = {"native": lambda: search(position, args)}
    for size in map(int, args.batches.split(",")):
        rows[f"free, {size}"] = lambda size=size: search(position, args, evaluator=free, batch_size=size)
        rows[f"network, {size}"] = lambda size=size: search(position, args, evaluator=evaluator, batch_size=size)
    found = {name: [] for name in rows}
    for _ in range(args.repeats):
        for name, run in rows.items():
            found[name].append(run())
    return {name: round(statistics.median(measured)) for name, measured in found.items()}


def search(position, args, **options):
    """Return the iterations a second of one search."""
    result = ai.best_turn(position, time_s=args.seconds, threads=args.threads, seed=1, **options)
    return result.iterations / result.seconds


class Slow:
    """An evaluator that sleeps; `spent_s` is the time in it."""

    spent_s = 0.0

    def __call__(self, observations):
        began = time.perf_counter()
        time.sleep(0.005 + 20e-6 * len(observations))
        self.spent_s += time.perf_counter() - began
        return free(observations)


def measure_slow(args):
    """Return for each size of a batch the iterations a second and the share of the time in a slow evaluator."""
    position = opening(2, 1, args.game)
    sizes = [int(size) for size in args.batches.split(",")]
    found = {size: [] for size in sizes}
    for _ in range(args.repeats):
        for size in sizes:
            evaluator = Slow()
            result = ai.best_turn(
                position, time_s=args.seconds, threads=args.threads, seed=1, evaluator=evaluator, batch_size=size
            )
            found[size].append((result.iterations / result.seconds, evaluator.spent_s / result.seconds))
    return {
        f"slow, {size}": [round(statistics.median(column), 2) for column in zip(*measured, strict=True)]
        for size, measured in found.items()
    }


def free(observations):
    return np.full((len(observations), 2), 0.5)


def network(path, game, hidden):
    """Write a network of three layers; return its path."""
    rng = np.random.default_rng(1)
    sizes = [schema(game).size, hidden, hidden // 2, 4]
    nodes, tensors, at = [], [], "observation"
    for number, shape in enumerate(itertools.pairwise(sizes)):
        weights = rng.normal(0, 0.01, shape).astype(np.float32)
        tensors.append(numpy_helper.from_array(weights, f"w{number}"))
        nodes.append(helper.make_node("MatMul", [at, f"w{number}"], [f"x{number}"]))
        last = number == len(sizes) - 2
        kind, at = ("Softmax", "value") if last else ("Relu", f"y{number}")
        nodes.append(helper.make_node(kind, [f"x{number}"], [at]))
    floats = onnx.TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info("observation", floats, ["N", sizes[0]])]
    outputs = [helper.make_tensor_value_info("value", floats, ["N", 4])]
    graph = helper.make_graph(nodes, "network", inputs, outputs, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def print_table(figures):
    print(f"{figures['processor']}, {figures['python']}, {figures['threads']} threads, {time.strftime('%Y-%m-%d')}")
    print(f"{figures['game']}; medians of {figures['repeats']} x {figures['seconds']:g} s\n")
    print("evaluator, leaves a batch     iterations/s")
    for name, found in figures["rows"].items():
        if figures["slow"]:
            print(f"{name:26}{found[0]:>16,.0f}{found[1]:>8.0%} of the time in the evaluator")
        else:
            print(f"{name:26}{found:>16,}")


if __name__ == "__main__":
    main()
