"""Trains a small network to evaluate positions, on games that the search plays with it against itself.

    python examples/train_network.py --game tzolkin --out network

The first version, `version0.onnx`, knows nothing. Each generation plays games with the newest version, adds them to the
data, fits a network to who won them, and saves it as the next version. At the end the newest one plays against the
first. Needs the extras `train` and `onnx`; docs/evaluators.md tells more.
"""

import argparse
import math
import random
import time
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper

import mexica_ai as ai
from mexica_ai import env
from mexica_ai.analysis.evaluators import GAME_KEY, SCHEMA_KEY, OnnxEvaluator

SEATS = 4  # outputs of a network; those beyond the players of a game are not used
EXPLORING_TURNS = 6  # of each seat: the turn is drawn by visits, so that games differ


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="tzolkin")
    parser.add_argument("--out", type=Path, required=True, help="a folder for the networks")
    parser.add_argument("--generations", type=int, default=2)
    parser.add_argument("--games", type=int, default=150, help="of self-play in a generation")
    parser.add_argument("--iterations", type=int, default=64, help="of each search")
    parser.add_argument("--batch", type=int, default=8, help="leaves evaluated together")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--match", type=int, default=40, help="games of the last version against the first")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    layout = env.schema(args.game)
    observations, shares, masks = [], [], []
    newest = save(new_network(layout), layout, args.out / "version0.onnx")
    for generation in range(1, args.generations + 1):
        began = time.monotonic()
        evaluator = OnnxEvaluator(newest)
        for number in range(args.games):
            for row in self_play(args, evaluator, f"{args.seed}/{generation}/{number}"):
                for column, value in zip((observations, shares, masks), row, strict=True):
                    column.append(value)
        played_s = time.monotonic() - began
        network = new_network(layout)
        loss = fit(network, observations, shares, masks, args.epochs)
        newest = save(network, layout, args.out / f"version{generation}.onnx")
        print(
            f"generation {generation}: {args.games} games in {played_s:.0f} s, {len(observations):,} positions, "
            f"loss {loss:.4f}",
            flush=True,
        )
    points, games = match(args, newest, args.out / "version0.onnx")
    print(f"{newest.name} against version0.onnx: {points:g} of {games} points")


def new_network(layout):
    """Return a network from observations to the logits of the seats' shares of the win."""
    network = torch.nn.Sequential(
        torch.nn.Linear(layout.size, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, SEATS),
    )
    with torch.no_grad():  # numbers of about 1 go in
        network[0].weight /= torch.from_numpy(layout.scale)
    return network


def self_play(args, evaluator, seed):
    """Play one game; yield (observation, shares, mask of the seats) of each turn's position."""
    rng = random.Random(seed)
    position = ai.new_game(args.game, players=2, seed=rng.getrandbits(60))
    seen = []
    while not position.is_over:
        if position.is_chance:
            position.draw(rng.getrandbits(60))
            continue
        seen.append((position.to_move, env.observe(position)))
        result = ai.best_turn(
            position,
            iterations=args.iterations,
            seed=rng.getrandbits(60),
            evaluator=evaluator,
            batch_size=args.batch,
            candidates=8,
        )
        turn = result.turn
        if len(seen) <= EXPLORING_TURNS * position.players:
            weights = [1 + candidate.visits for candidate in result.candidates]
            turn = rng.choices(result.candidates, weights)[0].turn
        position.push(turn)
    won = [float(seat in position.winners) / len(position.winners) for seat in range(position.players)]
    for seat, observation in seen:
        from_seat = won[seat:] + won[:seat]
        spare = [0.0] * (SEATS - len(won))
        yield observation, from_seat + spare, [1.0] * len(won) + spare


def fit(network, observations, shares, masks, epochs):
    """Fit a network to the shares of the win by cross-entropy; return the loss of the last epoch."""
    x = torch.from_numpy(np.array(observations, np.float32))
    y = torch.tensor(shares)
    spare = (1 - torch.tensor(masks)) * -1e9  # no share for seats that do not play
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1e-2)
    size = 256
    for _ in range(epochs):
        total = 0.0
        for chosen in torch.randperm(len(x)).split(size):
            loss = torch.nn.functional.cross_entropy(network(x[chosen]) + spare[chosen], y[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(chosen)
    return total / len(x)


def save(network, layout, path):
    """Write a network as an ONNX file whose output is the softmax over the seats; return the path."""
    nodes, tensors, at = [], [], "observation"
    for number, layer in enumerate(network):
        name = f"layer{number}"
        if isinstance(layer, torch.nn.Linear):
            tensors += [
                numpy_helper.from_array(layer.weight.detach().numpy().copy(), f"{name}.weight"),
                numpy_helper.from_array(layer.bias.detach().numpy().copy(), f"{name}.bias"),
            ]
            nodes.append(helper.make_node("Gemm", [at, f"{name}.weight", f"{name}.bias"], [name], transB=1))
        else:
            nodes.append(helper.make_node("Relu", [at], [name]))
        at = name
    nodes.append(helper.make_node("Softmax", [at], ["value"], axis=1))
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("observation", onnx.TensorProto.FLOAT, ["N", layout.size])],
        [helper.make_tensor_value_info("value", onnx.TensorProto.FLOAT, ["N", SEATS])],
        tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    helper.set_model_props(model, {GAME_KEY: layout.game, SCHEMA_KEY: str(layout.version)})
    onnx.save(model, path)
    return path


def match(args, first, second):
    """Play each deal twice, with seats swapped; return the points of the first network and the number of games."""
    evaluators = [OnnxEvaluator(first), OnnxEvaluator(second)]
    games = math.ceil(args.match / 2) * 2
    points = 0.0
    for number in range(games):
        rng = random.Random(f"match {args.seed} {number // 2}")
        position = ai.new_game(args.game, players=2, seed=rng.getrandbits(60))
        while not position.is_over:
            if position.is_chance:
                position.draw(rng.getrandbits(60))
                continue
            evaluator = evaluators[(position.to_move + number) % 2]
            position.push(
                ai.best_turn(
                    position,
                    iterations=args.iterations,
                    seed=rng.getrandbits(60),
                    evaluator=evaluator,
                    batch_size=args.batch,
                ).turn
            )
        points += (number % 2 in position.winners) / len(position.winners)
    return points, games


if __name__ == "__main__":
    main()
