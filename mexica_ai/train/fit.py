"""Fitting the network of an evaluation: two hidden layers of rectified linear units, in numpy.

The network evaluates one seat at a time, each with the same weights. Its outputs, the logit and the score of the seat,
are a linear function of the features plus the output of the hidden layers. At the start the linear function is the
hand-made estimate, which is one of the features. The loss is the cross-entropy of the softmax over the seats against
their shares of the win, plus the squared error of the scores. Optimizer: AdamW (Loshchilov and Hutter, 2019) with a
cosine schedule.

Main functions: `fit`, `report`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mexica_ai.train.adamw import AdamW
from mexica_ai.train.corrections import Arrays
from mexica_ai.train.positions import SCORE_SCALE, Positions

BATCH = 1024
LEARNING_RATE = 1e-3
WARM_UP = 200  # steps, and at most a fifth of all
WEIGHT_DECAY = 0.1
SCORE_WEIGHT = 0.5  # of the squared error, in the loss
PATIENCE = 3  # epochs


@dataclass(frozen=True)
class Report:
    """How well weights predict positions.

    Attributes
    ----------
    log_loss : dict of int to float
        By number of seats: mean cross-entropy of the shares of the win, in nats.
    log_loss_error : dict of int to float or None
        By number of seats: standard error of that mean. From the variance between games, since the positions of a
        game have the same end; None with a single game.
    share_error, score_error : float
        Root mean square errors of the shares of the win, and of the final scores in points.
    calibration : list of (float, float, int)
        For tenths of the predicted share: mean prediction, mean share won, number of seats.
    """

    log_loss: dict[int, float]
    log_loss_error: dict[int, float | None]
    share_error: float
    score_error: float
    calibration: list[tuple[float, float, int]]


def initial_weights(shapes: dict[str, tuple[int, ...]], estimates: tuple[int, ...], seed: int) -> Arrays:
    """Return weights that nearly are the hand-made estimate: the hidden layers add little.

    Parameters
    ----------
    shapes : dict of str to tuple of int
        Of the arrays, see `WeightsSpec.network`.
    estimates : tuple of int
        For each output, the index of the feature that is its estimate.
    seed : int
        Of the hidden layers' random weights.
    """
    generator = np.random.default_rng(seed)
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    for name, scale in (("w1", 1.0), ("w2", 1.0), ("w3", 0.05)):
        deviation = scale * np.sqrt(1.5 / shapes[name][0])
        weights[name] = (generator.standard_normal(shapes[name]) * deviation).astype(np.float32)
    weights["linear"][range(len(estimates)), estimates] = 1
    return weights


def fit(
    positions: Positions,
    weights: Arrays,
    *,
    epochs: int,
    seed: int,
    learning_rate: float = LEARNING_RATE,
    unseen: Positions | None = None,
    on_epoch: Callable[[int, Arrays], None] = lambda epoch, weights: None,
) -> Arrays:
    """Return weights fitted on positions.

    Parameters
    ----------
    positions : Positions
    weights : dict of str to ndarray
        Where to start; not changed.
    epochs : int
    seed : int
        Of the order of the positions.
    learning_rate : float
        The highest of the schedule.
    unseen : Positions, optional
        Of other games. The weights after the epoch with the least `loss` on them are returned, or those of the start,
        and the fit ends once it has not fallen for `PATIENCE` epochs.
    on_epoch : callable
        Called with the number of epochs done and the weights.
    """
    generator = np.random.default_rng(seed)
    weights = {name: array.copy() for name, array in weights.items()}
    optimizer = AdamW(weights, WEIGHT_DECAY, [name for name in weights if name.startswith("w")])
    batch = min(BATCH, len(positions.games))
    steps, step = epochs * (len(positions.games) // batch), 0
    warm_up = max(1, min(WARM_UP, steps // 5))
    best, best_loss, best_epoch = weights, math.inf if unseen is None else loss(unseen, weights), 0
    if unseen is not None:
        best = {name: array.copy() for name, array in weights.items()}
    for epoch in range(epochs):
        order = generator.permutation(len(positions.games))
        for first in range(0, len(order) - batch + 1, batch):
            step += 1
            rate = learning_rate * min(1, step / warm_up) * (0.51 + 0.49 * np.cos(np.pi * step / steps))
            optimizer.step(_gradients(positions.take(order[first : first + batch]), weights), rate)
        on_epoch(epoch + 1, weights)
        if unseen is None:
            continue
        found = loss(unseen, weights)
        if found < best_loss:
            best, best_loss, best_epoch = {name: array.copy() for name, array in weights.items()}, found, epoch + 1
        elif epoch + 1 - best_epoch >= PATIENCE:
            break
    return best


def loss(positions: Positions, weights: Arrays) -> float:
    """Return the mean loss that a fit makes small: of the shares of the win and, with its weight, of the scores."""
    shares, scores = predict(positions, weights)
    cross_entropy = -(positions.shares * np.log(np.clip(shares, 1e-9, 1))).sum(1).mean()
    errors = (scores - positions.scores)[positions.seats]
    return float(cross_entropy + SCORE_WEIGHT * (errors**2).mean())


def predict(positions: Positions, weights: Arrays) -> tuple[np.ndarray, np.ndarray]:
    """Return each seat's predicted share of the win and final score / `SCORE_SCALE`, shape (n, 4) each."""
    shares, scores = [], []
    for first in range(0, len(positions.games), 8192):
        part = positions.take(slice(first, first + 8192))
        outputs = _forward(part.features, weights)[-1]
        shares.append(_softmax(outputs[..., 0], part.seats))
        scores.append(np.where(part.seats, outputs[..., 1], 0))
    return np.concatenate(shares), np.concatenate(scores)


def report(positions: Positions, weights: Arrays) -> Report:
    """Measure weights on positions; use held-out ones, since a fit predicts its own data too well."""
    shares, scores = predict(positions, weights)
    losses = -(positions.shares * np.log(np.clip(shares, 1e-9, 1))).sum(1)
    counts = positions.seats.sum(1)
    errors = (scores - positions.scores)[positions.seats]
    predicted, won = shares[positions.seats], positions.shares[positions.seats]
    tenths = np.minimum((predicted * 10).astype(int), 9)
    return Report(
        {int(n): float(losses[counts == n].mean()) for n in np.unique(counts)},
        {int(n): _error(losses[counts == n], positions.games[counts == n]) for n in np.unique(counts)},
        float(np.sqrt(((predicted - won) ** 2).mean())),
        float(SCORE_SCALE * np.sqrt((errors**2).mean())),
        [
            (float(predicted[tenths == k].mean()), float(won[tenths == k].mean()), int((tenths == k).sum()))
            for k in np.unique(tenths)
        ],
    )


def _error(losses: np.ndarray, games: np.ndarray) -> float | None:
    """Return the standard error of the mean of losses that are independent only between games."""
    _, games = np.unique(games, return_inverse=True)
    sums = np.bincount(games, losses - losses.mean())
    if len(sums) < 2:
        return None
    return float(np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / len(losses))


def _forward(features: np.ndarray, weights: Arrays) -> tuple[np.ndarray, ...]:
    """Return (first sums, first units, second sums, second units, outputs); shape (..., units)."""
    sums_1 = features @ weights["w1"] + weights["b1"]
    units_1 = np.maximum(sums_1, 0)
    sums_2 = units_1 @ weights["w2"] + weights["b2"]
    units_2 = np.maximum(sums_2, 0)
    outputs = units_2 @ weights["w3"] + weights["b3"] + features @ weights["linear"].T
    return sums_1, units_1, sums_2, units_2, outputs


def _softmax(logits: np.ndarray, seats: np.ndarray) -> np.ndarray:
    logits = np.where(seats, logits, -np.inf)
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _gradients(part: Positions, weights: Arrays) -> Arrays:
    """Return the gradient of the loss by each array."""
    n = len(part.games)
    sums_1, units_1, sums_2, units_2, outputs = _forward(part.features, weights)
    slopes = np.zeros_like(outputs)
    slopes[..., 0] = np.where(part.seats, _softmax(outputs[..., 0], part.seats) - part.shares, 0) / n
    errors = np.where(part.seats, outputs[..., 1] - part.scores, 0)
    slopes[..., 1] = SCORE_WEIGHT * 2 * errors / part.seats.sum()
    slopes_2 = (slopes @ weights["w3"].T) * (sums_2 > 0)
    slopes_1 = (slopes_2 @ weights["w2"].T) * (sums_1 > 0)

    def over_seats(inputs, outputs):
        return inputs.reshape(-1, inputs.shape[-1]).T @ outputs.reshape(-1, outputs.shape[-1])

    axes = (0, 1)
    return {
        "w1": over_seats(part.features, slopes_1),
        "b1": slopes_1.sum(axes),
        "w2": over_seats(units_1, slopes_2),
        "b2": slopes_2.sum(axes),
        "w3": over_seats(units_2, slopes),
        "b3": slopes.sum(axes),
        "linear": over_seats(slopes, part.features),
    }
