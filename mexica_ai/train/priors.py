"""Fitting the weights of the priors to what the search chose.

The priors are log-linear: an action's probability is its share of the weight of its category, over the sum
of all actions. The weights that make the chosen actions most likely are those with which each category is
expected as often as it was chosen; iterative scaling finds them (Darroch and Ratcliff, 1972).

Those weights themselves play badly: the search then sees hardly more than what the search before it chose.
They are flattened, and corrected by factors of the game's own (`tempered`); exponent and factors were found
by matches.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mexica_ai import registry
from mexica_ai.engines.specs import parse_spec
from mexica_ai.errors import NotationError
from mexica_ai.position import Position
from mexica_ai.strict import parse_json
from mexica_ai.train.positions import Columns, fingerprint, held_out

ROUNDS = 200
FLATTENING = 0.6
SMOOTHING = 3.0  # decisions added to what was counted and expected
STEP = 0.7  # of a round: below 1, so that it settles


@dataclass(frozen=True)
class Decisions(Columns):
    """Decisions of the search; n of them.

    Attributes
    ----------
    groups : ndarray of int, shape (n,)
        Row of the weights that counts.
    shares : ndarray of float32, shape (n, categories)
        Sum of the shares of all legal actions, by category.
    chosen : ndarray of int, shape (n,)
        Category of the chosen action.
    chosen_shares : ndarray of float32, shape (n,)
        Its share of the category's weight.
    held_out : ndarray of bool, shape (n,)
        Whether the game is one of those that a fit is measured on, see `positions.held_out`.
    """

    groups: np.ndarray
    shares: np.ndarray
    chosen: np.ndarray
    chosen_shares: np.ndarray
    held_out: np.ndarray


def sample(
    lines: Iterable[tuple[str, bytes]],
    categorize: Callable[[Any], tuple[int, np.ndarray, np.ndarray, np.ndarray]],
    num_categories: int,
    *,
    seed: int,
    most: int = 300_000,
) -> Decisions:
    """Take decisions that the search made in earnest: in no style, not oddly, at its full strength.

    Parameters
    ----------
    lines : iterable of (str, bytes)
        Valid records of finished games, with their names.
    categorize : callable
        From a compiled state to the row of the weights that counts, its legal actions, their categories and
        shares.
    num_categories : int
    seed : int
    most : int
        A bound that is kept roughly: a share of all decisions is drawn.
    """
    found, fingerprints = [], []
    random_ = random.Random(seed)
    records = sorted((hashlib.sha256(line).digest(), line) for _, line in lines)
    # About five actions a turn, and a turn is a list.
    share = min(1.0, most / max(1, 5 * sum(line.count(b"[") for _, line in records)))
    for number, (_, line) in enumerate(records):
        record = parse_json(line, "record")
        fingerprints.append(fingerprint(record))
        for state, action in _choices(record):
            if random_.random() >= share:
                continue
            group, actions, categories, shares = categorize(state)
            if np.count_nonzero(shares) > 1:
                at = int(np.searchsorted(actions, np.uint64(action)))
                if at == len(actions) or actions[at] != action or shares[at] == 0:
                    continue  # no search plays it: people agreed on it, or it is the twin of another one
                sums = np.bincount(categories, shares, num_categories).astype(np.float32)
                found.append((group, sums, categories[at], shares[at], number))
    columns = list(zip(*found, strict=True)) if found else [[], [], [], [], []]
    return Decisions(
        np.array(columns[0], int),
        np.array(columns[1], np.float32).reshape(-1, num_categories),
        np.array(columns[2], int),
        np.array(columns[3], np.float32),
        held_out(fingerprints)[np.array(columns[4], int)],
    )


def _choices(record):
    """Yield (state, action) for the actions that a search played in earnest."""
    position = Position.from_json(record["start"])
    parse_action = registry.get(position.game).codec.parse_action
    told = record.get("self_play", {})
    odd = set(told.get("odd_turns", []))
    styles = told.get("styles")
    kinds = [_is_search(spec) for spec in record.get("engines") or []]
    for number, turn in enumerate(record["turns"]):
        seat = position.to_move
        earnest = (
            seat is not None
            and number not in odd
            and (styles is None or styles[seat : seat + 1] == [0])
            and kinds[seat : seat + 1] == [True]
        )
        if earnest:
            state = position.state.copy()
            for action in map(parse_action, turn):
                yield state, action
                state.apply(action)
        position.push(turn)


def _is_search(spec):
    """Whether an engine spec is the search itself, not one of its lower levels."""
    try:
        parsed = parse_spec(spec)
    except NotationError:
        return False
    return parsed.kind == "mcts" and "level" not in parsed.options


def fit(decisions: Decisions, num_groups: int) -> np.ndarray:
    """Return weights, float32 of shape (groups, categories), with mean logarithm 0 in each group.

    Those of a group begin as those of all groups together, so that what is rare there stays near them.
    """
    together = _scale(decisions, np.zeros(decisions.shares.shape[1]))
    groups = (decisions.take(decisions.groups == group) for group in range(num_groups))
    logs = np.array([_scale(group, together) for group in groups])
    return np.exp(logs - logs.mean(1, keepdims=True)).astype(np.float32)


def _scale(decisions, logs):
    logs = logs.copy()
    counts = np.bincount(decisions.chosen, minlength=len(logs))
    for _ in range(ROUNDS):
        weighted = decisions.shares * np.exp(logs)
        expected = (weighted / weighted.sum(1, keepdims=True)).sum(0)
        # Some more of each: a category that was hardly seen stays where it began.
        logs += STEP * np.log((counts + SMOOTHING) / (expected + SMOOTHING))
    return logs


def tempered(weights: np.ndarray, names: tuple[str, ...], factors: dict[str, float]) -> np.ndarray:
    """Return weights to the power of `FLATTENING`, times the factors of the categories that have one."""
    found = weights**FLATTENING
    for name, factor in factors.items():
        found[:, names.index(name)] *= factor
    return found.astype(np.float32)


def log_loss(decisions: Decisions, weights: np.ndarray) -> float | None:
    """Return the mean negative logarithm of the probability of the chosen actions; None if there are none."""
    if len(decisions.chosen) == 0:
        return None
    weights = weights[decisions.groups]
    sums = (decisions.shares * weights).sum(1)
    chosen = weights[np.arange(len(sums)), decisions.chosen]
    return float(-np.log(chosen * decisions.chosen_shares / sums).mean())
