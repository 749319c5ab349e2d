"""Fitting the outputs of a network to games of several styles, without moving far from the network in use.

A search knows the values of its own style of play: other players take longer and end with more points. A fit of the
whole network to their games plays worse than the network in use, which knows what lies off the path of good play. So
the hidden layers stay, and only what is linear changes: the logit and the score of a seat as functions of the last
units and the features. Both are fitted apart, each by a convex problem with one solution, held to the outputs in use:

- the logits by the cross-entropy of the shares, with Newton's method. How strongly they are held is chosen on games
  that select, among the fits that do not worsen the loss of any source there; if there is none, the logits stay.
- the scores by least squares, held weakly. They tell how many points a seat will have; a search only compares them.

Main functions: `sample` (positions of records), `fit`, `compare`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mexica_ai.game.position import Position
from mexica_ai.train import value
from mexica_ai.train.adamw import Arrays
from mexica_ai.train.positions import MAX_SEATS, SCORE_SCALE, SELECTION, TRAIN, Positions, fingerprint, origin, split

STIFFNESSES = (0.03, 0.1, 0.3, 1.0)  # of the logits, from which one is chosen
SCORE_STIFFNESS = 1e-3
NEWTON_STEPS = 8


def sample(records: Sequence[dict[str, Any]], count: int, features: Callable[[Any], np.ndarray]) -> Positions:
    """Return positions of finished games, up to `count` of each, before turns of seats, all seats open.

    Which ones depends on the game alone, see `fingerprint`; the part on its `origin`.
    """
    records = sorted(records, key=fingerprint)
    digests = [fingerprint(record) for record in records]
    columns: list[list[Any]] = [[], [], [], [], []]
    for number, (record, digest) in enumerate(zip(records, digests, strict=True)):
        turns, position = record["turns"], Position.from_json(record["start"])
        players = position.players
        chosen = set(random.Random(digest).sample(range(len(turns)), min(count, len(turns))))
        shares, scores = np.zeros((2, MAX_SEATS), np.float32)
        shares[record["winners"]] = 1 / len(record["winners"])
        scores[:players] = np.array(record["scores"]) / SCORE_SCALE
        for at, turn in enumerate(turns):
            if at in chosen and not position.is_chance:
                found = features(position.state)
                inputs = np.zeros((MAX_SEATS, found.shape[1]), np.float32)
                inputs[:players] = found
                row = (inputs, np.arange(MAX_SEATS) < players, shares, scores, number)
                for column, cell in zip(columns, row, strict=True):
                    column.append(cell)
            position.push(turn)
    inputs, seats, won, points, games = (np.array(column) for column in columns)
    # Only games with positions, so that no part is empty: of a game only random events may have been drawn.
    known, places = np.unique(games, return_inverse=True)
    parts = split([origin(records[int(number)]) for number in known])
    return Positions(inputs, seats, won, points, games, parts[places])


def fit(sources: Mapping[str, Positions], weights: Arrays, score_weights: Mapping[str, float]) -> tuple[Arrays, float]:
    """Return weights whose outputs are fitted to several sources, and the stiffness of the logits that was chosen.

    Parameters
    ----------
    sources : mapping of str to Positions
        Of all parts. For the shares every position weighs the same: a source with few would be learnt by heart.
    weights : dict of str to ndarray
        In use; not changed.
    score_weights : mapping of str to float
        What a position of each source weighs for the scores.

    Returns
    -------
    tuple of (dict of str to ndarray, float)
        The stiffness is infinite if the logits stay.
    """
    trained = {name: found.take(found.parts == TRAIN) for name, found in sources.items()}
    selecting = {name: found.take(found.parts == SELECTION) for name, found in sources.items()}
    scored = _moved(weights, 1, _score_change(trained, weights, score_weights))
    before = {name: _log_losses(found, weights).mean() for name, found in selecting.items()}
    best, best_loss, chosen = scored, sum(before.values()), np.inf
    for stiffness in STIFFNESSES:
        tried = _moved(scored, 0, _logit_change(trained, weights, stiffness))
        losses = {name: _log_losses(found, tried).mean() for name, found in selecting.items()}
        if sum(losses.values()) < best_loss and all(losses[name] <= before[name] for name in losses):
            best, best_loss, chosen = tried, sum(losses.values()), stiffness
    return best, float(chosen)


def compare(positions: Positions, before: Arrays, after: Arrays) -> dict[str, Any]:
    """Return the mean log-loss of the shares by two sets of weights, and the mean error of the points of all seats."""
    losses = [_log_losses(positions, weights) for weights in (before, after)]
    errors = [
        float((value.predict(positions, weights)[1] - positions.scores)[positions.seats].mean() * SCORE_SCALE)
        for weights in (before, after)
    ]
    return {
        "before": round(float(losses[0].mean()), 5),
        "after": round(float(losses[1].mean()), 5),
        "error": value.error_of_mean(losses[1] - losses[0], positions.games),
        "points_before": round(errors[0], 3),
        "points_after": round(errors[1], 3),
    }


def _log_losses(positions: Positions, weights: Arrays) -> np.ndarray:
    shares, _ = value.predict(positions, weights)
    losses: np.ndarray = -(positions.shares * np.log(np.clip(shares, 1e-9, 1))).sum(1)
    return losses


def _moved(weights: Arrays, output: int, change: np.ndarray) -> Arrays:
    """Return weights with a change of one output added."""
    moved = {name: array.copy() for name, array in weights.items()}
    units, features = len(moved["w3"]), moved["linear"].shape[1]
    moved["w3"][:, output] += change[:units]
    moved["linear"][output] += change[units : units + features]
    moved["b3"][output] += change[-1]
    return moved


def _inputs_of_outputs(positions: Positions, weights: Arrays) -> tuple[np.ndarray, np.ndarray]:
    """Return what the outputs are linear in, shape (n, 4, last units + features + 1), and the outputs."""
    *_, units, outputs = value.forward(positions.features, weights)
    ones = np.ones((*positions.seats.shape, 1))
    inputs = np.concatenate([units, positions.features, ones], -1, dtype=np.float64)
    inputs[~positions.seats] = 0
    return inputs, outputs.astype(np.float64)


def _score_change(sources: Mapping[str, Positions], weights: Arrays, score_weights: Mapping[str, float]) -> np.ndarray:
    """Return the change of the scores by ridge regression of their errors."""
    total = sum(score_weights[name] * int(found.seats.sum()) for name, found in sources.items())
    squares: Any = 0.0
    products: Any = 0.0
    for name, found in sources.items():
        inputs, outputs = _inputs_of_outputs(found, weights)
        rows, errors = inputs[found.seats], (found.scores - outputs[..., 1])[found.seats]
        weight = score_weights[name] / total
        squares += weight * rows.T @ rows
        products += weight * rows.T @ errors
    change: np.ndarray = np.linalg.solve(squares + _penalty(len(products), SCORE_STIFFNESS), products)
    return change


def _penalty(size: int, stiffness: float) -> np.ndarray:
    """Return the matrix that holds all to what is in use but the constant, nearly."""
    return np.diag(np.append(np.full(size - 1, stiffness), 1e-9))


def _logit_change(sources: Mapping[str, Positions], weights: Arrays, stiffness: float) -> np.ndarray:
    """Return the change of the logits that makes the cross-entropy and its penalty least, by Newton's method."""
    data = [(*_inputs_of_outputs(found, weights), found) for found in sources.values()]
    size, total = data[0][0].shape[-1], sum(len(found.games) for found in sources.values())
    change = np.zeros(size)
    penalty = stiffness * np.eye(size)  # the constant too: it cancels out of the shares
    for _ in range(NEWTON_STEPS):
        gradient, curvature = penalty @ change, penalty.copy()
        for inputs, outputs, found in data:
            shares = value.softmax(outputs[..., 0] + inputs @ change, found.seats)
            rows, errors = inputs.reshape(-1, size), (shares - found.shares).ravel()
            gradient += errors @ rows / total
            weighted = rows * np.sqrt(shares).reshape(-1, 1)
            means = (shares[:, None] @ inputs)[:, 0]
            curvature += (weighted.T @ weighted - means.T @ means) / total
        step = np.linalg.solve(curvature, gradient)
        change -= step
        if np.abs(step).max() < 1e-7:
            break
    return change
