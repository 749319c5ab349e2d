"""Fitting a belief: how likely a seat holds each card that another seat does not see, from what all see of the seat.

The odds of a card are exp(w . x), those of a hand the product over its cards, and its probability is that over the sum
of the products of all hands of that size (conditional Bernoulli: Chen, Dempster and Liu, "Weighted finite population
sampling to maximize entropy", 1994). The weights w maximise the likelihood of the hands that seats really held, less a
ridge that pulls them to those in use. Records know these hands.

Each hand is taken for itself, from all cards that are unseen. So with three seats or more, and for cards of which more
was observed, the likelihood is not quite that of a deal, which weighs all hands together.

Main functions: `sample`, `fit`, `report`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mexica_ai.game.records import position_at
from mexica_ai.train.positions import REPORT, origin, plain, split
from mexica_ai.train.value import error_of_mean
from mexica_ai.train.weights import weights_spec

RIDGE = 1.0  # times half the square of the change of the weights
STEPS = 30
MOST_LOG_ODDS = 8  # as in deals
POSITIONS = 10_000  # of all games, at most 5 of each


@dataclass(frozen=True)
class Hands:
    """Hands of single seats, as another seat sees them: n hands, of at most m unseen cards each.

    Attributes
    ----------
    inputs : ndarray of float32, shape (n, m, belief)
        What the weights are multiplied by; zeros beyond a hand's unseen cards.
    unseen, held : ndarray of bool, shape (n, m)
        Which cards there are, and which of them the seat holds.
    players : ndarray of int, shape (n,)
        Seats of the game.
    progress : ndarray of float, shape (n,)
        Turns played before, as a share of the game.
    parts : ndarray of int, shape (n,)
        The part of the hand's game, see `positions.split`.
    games : ndarray of int, shape (n,)
        The number of the hand's game: hands of one are not independent.
    """

    inputs: np.ndarray
    unseen: np.ndarray
    held: np.ndarray
    players: np.ndarray
    progress: np.ndarray
    parts: np.ndarray
    games: np.ndarray

    def take(self, chosen: np.ndarray) -> Hands:
        """Return the hands that an index array or a mask selects."""
        return Hands(
            self.inputs[chosen],
            self.unseen[chosen],
            self.held[chosen],
            self.players[chosen],
            self.progress[chosen],
            self.parts[chosen],
            self.games[chosen],
        )


def sample(game: str, records: Sequence[dict[str, Any]], *, seed: int) -> Hands:
    """Return the hidden hands of some positions of each game.

    Parameters
    ----------
    game : str
        The game of the records; it has a belief.
    records : sequence of dict
        Of finished games in which nothing is unknown.
    seed : int
        Of the choice of positions.

    Raises
    ------
    NotationError, PositionError, IllegalActionError
        A record is damaged.
    SearchError
        See `positions.split`.
    """
    spec = weights_spec(game)
    assert spec.belief_inputs is not None
    rng = random.Random(seed)
    positions = min(5, max(1, POSITIONS // len(records)))
    rows: list[tuple[np.ndarray, np.ndarray, int, float, int]] = []
    for number, record in enumerate(map(plain, records)):
        turns = len(record["turns"])
        for turn in sorted(rng.sample(range(turns), min(positions, turns))):
            state = position_at(record, turn).state
            if state.current_player < 0:
                continue
            for seat in range(state.num_players):
                if seat == state.current_player:
                    continue
                for inputs, held in spec.belief_inputs(state, state.current_player, seat):
                    if 0 < held.sum() < len(held):
                        rows.append((inputs, held, state.num_players, turn / turns, number))
    most = max(len(row[1]) for row in rows)
    inputs = np.zeros((len(rows), most, len(spec.belief)), np.float32)
    unseen, held = np.zeros((2, len(rows), most), bool)
    for i, row in enumerate(rows):
        inputs[i, : len(row[1])] = row[0]
        unseen[i, : len(row[1])] = True
        held[i, : len(row[1])] = row[1]
    parts = split([origin(record) for record in records])
    return Hands(
        inputs,
        unseen,
        held,
        np.array([row[2] for row in rows]),
        np.array([row[3] for row in rows]),
        parts[[row[4] for row in rows]],
        np.array([row[4] for row in rows]),
    )


def fit(hands: Hands, before: np.ndarray) -> np.ndarray:
    """Return the weights of a belief, float32, fitted to the hands of all games but those to report on.

    Steps of Newton's method, with the cards of a hand taken as independent in the matrix: that is mostly more than the
    curvature, so the steps are short enough, and a few dozen arrive.

    Parameters
    ----------
    hands : Hands
        Of all parts.
    before : ndarray
        The weights in use; zeros are a uniform deal.
    """
    used = hands.take(hands.parts != REPORT)
    weights = before.astype(float)
    flat = used.inputs[used.unseen].astype(float)
    for _ in range(STEPS):
        chances = _chances(used, weights)[0][used.unseen]
        gradient = flat.T @ (used.held[used.unseen] - chances) - RIDGE * (weights - before)
        spread = flat * (chances * (1 - chances))[:, None]
        weights += np.linalg.solve(flat.T @ spread + RIDGE * np.eye(len(weights)), gradient)
    return weights.astype(np.float32)


def log_likelihood(hands: Hands, weights: np.ndarray) -> np.ndarray:
    """Return, for each hand, the log-likelihood of its cards in nats."""
    found: np.ndarray = _chances(hands, weights)[1]
    return found


def report(hands: Hands, before: np.ndarray, after: np.ndarray) -> dict[str, float | None]:
    """Return nats a hidden card on the games to report on: of a uniform deal, of the weights in use ("before") and of
    new ones ("after"), and the standard error of the difference of the last two ("error"); all None without a hand."""
    reported = hands.take(hands.parts == REPORT)
    if not len(reported.held):
        return dict.fromkeys(("uniform", "before", "after", "error"))
    cards = reported.held.sum()
    uniform, old, new = (log_likelihood(reported, weights) for weights in (np.zeros_like(before), before, after))
    error = error_of_mean(new - old, reported.games)
    return {
        "uniform": float(uniform.sum() / cards),
        "before": float(old.sum() / cards),
        "after": float(new.sum() / cards),
        "error": None if error is None else float(error * len(new) / cards),
    }


def _chances(hands: Hands, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each card's chance to be in the hand [n, m], and the log-likelihood of each hand [n].

    By the elementary symmetric polynomials of the odds: those of all cards, and of all but one.
    """
    scores = np.clip(hands.inputs @ weights.astype(np.float32), -MOST_LOG_ODDS, MOST_LOG_ODDS)
    odds = np.where(hands.unseen, np.exp(scores), 0).astype(float)
    sizes = hands.held.sum(1)
    rows, most = np.arange(len(sizes)), sizes.max(initial=0)
    sums = np.zeros((len(sizes), most + 1))
    sums[:, 0] = 1
    for card in range(odds.shape[1]):
        sums[:, 1:] += odds[:, card, None] * sums[:, :-1]
    total = sums[rows, sizes]
    chances = np.zeros_like(odds)
    for card in range(odds.shape[1]):
        without = np.zeros_like(sums)
        without[:, 0] = 1
        for size in range(1, most + 1):
            without[:, size] = sums[:, size] - odds[:, card] * without[:, size - 1]
        chances[:, card] = odds[:, card] * without[rows, sizes - 1] / total
    return chances, (scores * hands.held).sum(1) - np.log(total)
