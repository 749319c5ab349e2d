"""Fitting the network of an evaluation: two hidden layers of rectified linear units, in numpy.

The network evaluates one seat at a time, each with the same weights. Its outputs, the logit and the score of the seat,
are a linear function of the features plus the output of the hidden layers. At the start the linear function is the
hand-made estimate, which is one of the features, or the network is the one in use. The loss is the cross-entropy of the
softmax over the seats against their shares of the win, plus the squared error of the scores. Optimizer: AdamW
(Loshchilov and Hutter, 2019) with a cosine schedule. The fit stops when the loss on the games that select has not
fallen for `PATIENCE` epochs, and the best epoch counts.

Main functions: `fit`, `loss`, `compare`; `forward` is the network itself.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mexica_ai.train.adamw import AdamW, Arrays
from mexica_ai.train.positions import SELECTION, TRAIN, Positions

BATCH = 1024
LEARNING_RATE = 1e-3
REFINING_RATE = LEARNING_RATE / 4  # of a network that was fitted before
WARM_UP = 200  # steps, and at most a fifth of all
WEIGHT_DECAY = 0.1
SCORE_WEIGHT = 0.5  # of the squared error, in the loss
PATIENCE = 3  # epochs


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
    on_epoch: Callable[[int], None] = lambda epoch: None,
) -> tuple[Arrays, float]:
    """Return weights fitted to the positions of games to train on, and their loss on those that select.

    Parameters
    ----------
    positions : Positions
        Of all parts.
    weights : dict of str to ndarray
        Where to start; not changed. They are returned if no epoch makes the loss smaller.
    epochs : int
        At most.
    seed : int
        Of the order of the positions.
    learning_rate : float
        The highest of the schedule.
    on_epoch : callable
        Called with the number of epochs done.
    """
    generator = np.random.default_rng(seed)
    weights = _copied(weights)
    trained, selecting = (positions.take(positions.parts == part) for part in (TRAIN, SELECTION))
    optimizer = AdamW(weights, WEIGHT_DECAY, [name for name in weights if name.startswith("w")])
    batch = min(BATCH, len(trained.games))
    steps, step = epochs * (len(trained.games) // batch), 0
    warm_up = max(1, min(WARM_UP, steps // 5))
    best, best_loss, best_epoch = _copied(weights), loss(selecting, weights), 0
    for epoch in range(1, epochs + 1):
        order = generator.permutation(len(trained.games))
        for first in range(0, len(order) - batch + 1, batch):
            step += 1
            rate = learning_rate * min(1, step / warm_up) * (0.51 + 0.49 * np.cos(np.pi * step / steps))
            optimizer.step(_gradients(trained.take(order[first : first + batch]), weights), rate)
        on_epoch(epoch)
        found = loss(selecting, weights)
        if found < best_loss:
            best, best_loss, best_epoch = _copied(weights), found, epoch
        elif epoch - best_epoch >= PATIENCE:
            break
    return best, best_loss


def _copied(weights: Arrays) -> Arrays:
    return {name: array.copy() for name, array in weights.items()}


def loss(positions: Positions, weights: Arrays) -> float:
    """Return the mean loss that a fit makes small: of the shares of the win and, with its weight, of the scores."""
    return float(_losses(positions, weights).mean())


def compare(positions: Positions, before: Arrays, after: Arrays) -> dict[str, float | None]:
    """Return the mean losses of two sets of weights and the standard error of their difference.

    The error is None with a single game.
    """
    losses = [_losses(positions, weights) for weights in (before, after)]
    return {
        "before": float(losses[0].mean()),
        "after": float(losses[1].mean()),
        "error": error_of_mean(losses[1] - losses[0], positions.games),
    }


def _losses(positions: Positions, weights: Arrays) -> np.ndarray:
    """Return the loss at each position. Its mean is that of the shares plus that of the scores of all seats."""
    shares, scores = predict(positions, weights)
    cross_entropy = -(positions.shares * np.log(np.clip(shares, 1e-9, 1))).sum(1)
    squares = np.where(positions.seats, (scores - positions.scores) ** 2, 0).sum(1)
    losses: np.ndarray = cross_entropy + SCORE_WEIGHT * squares / positions.seats.sum(1).mean()
    return losses


def predict(positions: Positions, weights: Arrays) -> tuple[np.ndarray, np.ndarray]:
    """Return each seat's predicted share of the win and final score / `SCORE_SCALE`, shape (n, 4) each."""
    shares, scores = [], []
    for first in range(0, len(positions.games), 8192):
        part = positions.take(slice(first, first + 8192))
        outputs = forward(part.features, weights)[-1]
        shares.append(softmax(outputs[..., 0], part.seats))
        scores.append(np.where(part.seats, outputs[..., 1], 0))
    return np.concatenate(shares), np.concatenate(scores)


def error_of_mean(losses: np.ndarray, games: np.ndarray) -> float | None:
    """Return the standard error of the mean of losses that are independent only between games."""
    _, games = np.unique(games, return_inverse=True)
    sums = np.bincount(games, losses - losses.mean())
    if len(sums) < 2:
        return None
    return float(np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / len(losses))


def forward(features: np.ndarray, weights: Arrays) -> tuple[np.ndarray, ...]:
    """Return (first sums, first units, second sums, second units, outputs); shape (..., units)."""
    sums_1 = features @ weights["w1"] + weights["b1"]
    units_1 = np.maximum(sums_1, 0)
    sums_2 = units_1 @ weights["w2"] + weights["b2"]
    units_2 = np.maximum(sums_2, 0)
    outputs = units_2 @ weights["w3"] + weights["b3"] + features @ weights["linear"].T
    return sums_1, units_1, sums_2, units_2, outputs


def softmax(logits: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Return the shares of the seats, 0 for those that the game does not have."""
    logits = np.where(seats, logits, -np.inf)
    powers: np.ndarray = np.exp(logits - logits.max(-1, keepdims=True))
    shares: np.ndarray = powers / powers.sum(-1, keepdims=True)
    return shares


def _gradients(part: Positions, weights: Arrays) -> Arrays:
    """Return the gradient of the loss by each array."""
    n = len(part.games)
    sums_1, units_1, sums_2, units_2, outputs = forward(part.features, weights)
    slopes = np.zeros_like(outputs)
    slopes[..., 0] = np.where(part.seats, softmax(outputs[..., 0], part.seats) - part.shares, 0) / n
    errors = np.where(part.seats, outputs[..., 1] - part.scores, 0)
    slopes[..., 1] = SCORE_WEIGHT * 2 * errors / part.seats.sum()
    slopes_2 = (slopes @ weights["w3"].T) * (sums_2 > 0)
    slopes_1 = (slopes_2 @ weights["w2"].T) * (sums_1 > 0)

    def over_seats(inputs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        slopes: np.ndarray = inputs.reshape(-1, inputs.shape[-1]).T @ outputs.reshape(-1, outputs.shape[-1])
        return slopes

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
