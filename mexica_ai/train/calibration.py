"""The fit of the maps between the shares of the win that searches find and those that are published.

A map (`mexica_ai.analysis.calibration`) is two models of who won, each fitted by maximum likelihood with Newton's
method: a logistic regression of what the seat to move won, and of the seats that share the rest. Both are convex, so
the fit needs no seed. A weak pull towards the map that changes nothing decides what the data do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mexica_ai.analysis.calibration import CORNERS, FACTS, FORMAT, LEAST_SLOPE, NUMBERS, Calibration, corner_weights

PULL = 50.0  # less than the decisions of two games, which tell much the same
SMALLEST = 1e-4  # shares nearer to 0 or 1 count as this near
LATEST = 0.99  # of the decisions are within the range of the rounds
STEPS, ENOUGH = 100, 1e-9


@dataclass(frozen=True)
class Decisions:
    """Searched decisions of games with one number of seats, P.

    Parameters
    ----------
    shares : ndarray of shape [N, P]
        What the search found.
    seats : ndarray of shape [N]
        The seats to move.
    facts : ndarray of shape [N, 2]
        `mexica_ai.analysis.calibration.FACTS`.
    won : ndarray of shape [N, P]
        The share of the win of each seat at the end of the game.
    weights : ndarray of shape [N]
        How much each decision counts.
    """

    shares: np.ndarray
    seats: np.ndarray
    facts: np.ndarray
    won: np.ndarray
    weights: np.ndarray


def fit(decisions: Decisions) -> Calibration:
    """Fit the map of these decisions; the loss of none is infinite."""
    iterations, rounds = decisions.facts.T
    # A few games of equal players never want to end: they must not stretch the range.
    most_rounds = np.quantile(rounds, LATEST)
    ranges = [(float(iterations.min()), float(iterations.max())), (float(rounds.min()), float(most_rounds))]
    corners = np.array([corner_weights(facts, ranges) for facts in decisions.facts])
    rows = np.arange(len(corners))
    shares = np.clip(decisions.shares, SMALLEST, 1 - SMALLEST)
    share, won = shares[rows, decisions.seats], decisions.won[rows, decisions.seats]
    mover = np.concatenate([np.log(share / (1 - share))[:, None] * corners, corners], 1)
    slopes, shifts = np.ones(len(CORNERS)), np.zeros(len(CORNERS))
    found = _softmax_fit(
        np.stack([mover, np.zeros_like(mover)], 1),
        np.column_stack([won, 1 - won]),
        decisions.weights,
        np.concatenate([slopes, shifts]),
        is_slope=np.arange(2 * len(CORNERS)) < len(CORNERS),
    )
    is_other = np.ones(shares.shape, bool)
    is_other[rows, decisions.seats] = False
    others = np.log(shares[is_other].reshape(len(rows), -1))
    power = _softmax_fit(
        others[:, :, None] * corners[:, None, :],
        decisions.won[is_other].reshape(len(rows), -1),
        decisions.weights,
        slopes,
        is_slope=slopes > 0,
    )
    temperature, shift = found.reshape(2, -1).tolist()
    return Calibration(ranges, temperature, shift, power.tolist())


def _softmax_fit(
    inputs: np.ndarray, won: np.ndarray, weights: np.ndarray, start: np.ndarray, *, is_slope: np.ndarray
) -> np.ndarray:
    """Return the coefficients of the softmax over the classes, [N, classes, K], that makes `won` most likely.

    Those that are slopes are at least `LEAST_SLOPE`: one that would be less stays there while the others are fitted.
    """

    def chances_of(coefficients: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the chances of the classes, and the penalized loss."""
        logits = inputs @ coefficients
        logits -= logits.max(1, keepdims=True)
        logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        return np.exp(logs), PULL / 2 * ((coefficients - start) ** 2).sum() - (weights[:, None] * won * logs).sum()

    found, mass, is_free = start.copy(), weights * won.sum(1), np.ones(len(start), bool)
    for _ in range(STEPS):
        chances, loss = chances_of(found)
        mean = np.einsum("nc,nck->nk", chances, inputs)
        slope = np.einsum("nc,nck->k", weights[:, None] * won, inputs) - mass @ mean - PULL * (found - start)
        spread = np.einsum("nc,nck,ncl->kl", mass[:, None] * chances, inputs, inputs) - (mass[:, None] * mean).T @ mean
        step = np.zeros(len(start))
        step[is_free] = np.linalg.solve((spread + PULL * np.eye(len(start)))[np.ix_(is_free, is_free)], slope[is_free])
        while chances_of(found + step)[1] > loss and np.abs(step).max() >= ENOUGH:
            step /= 2  # far from the best the curvature misleads
        found = found + step
        if np.abs(step).max() < ENOUGH:
            is_low = is_slope & (found < LEAST_SLOPE)
            if not is_low.any():
                break
            found[is_low], is_free = LEAST_SLOPE, is_free & ~is_low
    return found


def to_json(game: str, weights: str, maps: dict[int, Calibration], made: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a file of maps, as `mexica_ai.analysis.calibration.read` reads it.

    Parameters
    ----------
    game : str
    weights : str
        The version of the weights that searched.
    maps : dict of int to Calibration
        By the number of seats.
    made : dict
        The provenance.
    """
    return {
        "format": FORMAT,
        "game": game,
        "weights": weights,
        "players": {
            str(players): {
                "ranges": {fact: [round(end, 4) for end in pair] for fact, pair in zip(FACTS, one.ranges, strict=True)},
                **{
                    name: {corner: round(number, 4) for corner, number in zip(CORNERS, getattr(one, name), strict=True)}
                    for name in NUMBERS
                },
            }
            for players, one in sorted(maps.items())
        },
        "made": made,
    }
