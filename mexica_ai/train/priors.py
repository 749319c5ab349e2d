"""Fitting the weights of the priors to the actions that the search chose.

The priors are log-linear: the probability of an action is its share of the weight of its category, divided by the sum
over all actions. The most likely weights are those for which each category is expected as often as it was chosen;
iterative scaling finds them (Darroch and Ratcliff, 1972).

These weights play badly, because the search then tries hardly anything but what the search before it chose. So they are
flattened and multiplied by factors of the game (`tempered`). Exponent and factors were found by matches.

Main functions: `sample`, `fit`, `tempered`, `log_loss`.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mexica_ai.engines.specs import parse_spec
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import parse_json
from mexica_ai.train.positions import Columns, fingerprint, held_out

ROUNDS = 200  # of iterative scaling
FLATTENING = 0.6  # the exponent of the weights
SMOOTHING = 3.0  # added to the counted and to the expected number of decisions of a category
STEP = 0.7  # of a round; below 1, so that it converges


@dataclass(frozen=True)
class Decisions(Columns):
    """Decisions of the search; n of them.

    Attributes
    ----------
    groups : ndarray of int, shape (n,)
        Row of the weights that applies.
    shares : ndarray of float32, shape (n, categories)
        Sum of the shares of all legal actions, by category.
    chosen : ndarray of int, shape (n,)
        Category of the chosen action.
    chosen_shares : ndarray of float32, shape (n,)
        Its share of the category's weight.
    held_out : ndarray of bool, shape (n,)
        Whether a fit leaves the game out and is measured on it, see `positions.held_out`.
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
    max_decisions: int = 300_000,
) -> Decisions:
    """Sample the decisions of the search at full strength: without a style and outside odd turns.

    Parameters
    ----------
    lines : iterable of (str, bytes)
        Valid records of finished games, with their names.
    categorize : callable
        From a compiled state to the row of the weights that applies, its legal actions, their categories and shares.
    num_categories : int
    seed : int
        If there are too many decisions, it draws some of them.
    max_decisions : int
        About how many to return at most.
    """
    found, fingerprints = [], []
    random_ = random.Random(seed)
    records = sorted((hashlib.sha256(line).digest(), line) for _, line in lines)
    # About five actions a turn, and a turn is a list.
    share = min(1.0, max_decisions / max(1, 5 * sum(line.count(b"[") for _, line in records)))
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
                    continue  # not an action of a search: an agreement of players, or equal to another action
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


def _choices(record: dict[str, Any]) -> Iterator[tuple[Any, int]]:
    """Yield (state, action) for the decisions of the search at full strength."""
    position = Position.from_json(record["start"])
    parse_action = registry.get(position.game).text.parse_action
    made = record.get("self_play", {})
    odd = set(made.get("odd_turns", []))
    styles = made.get("styles")
    kinds = [_is_search(spec) for spec in record.get("engines") or []]
    for number, turn in enumerate(record["turns"]):
        seat = position.to_move
        is_at_full_strength = (
            seat is not None
            and number not in odd
            and (styles is None or styles[seat : seat + 1] == [0])
            and kinds[seat : seat + 1] == [True]
        )
        if is_at_full_strength:
            state = position.state.copy()
            for action in map(parse_action, turn):
                yield state, action
                state.apply(action)
        position.push(turn)


def _is_search(spec: str) -> bool:
    """Return whether an engine spec is the search itself, not one of its lower levels."""
    try:
        parsed = parse_spec(spec)
    except NotationError:
        return False
    return parsed.kind == "mcts" and "level" not in parsed.options


def fit(decisions: Decisions, num_groups: int) -> np.ndarray:
    """Return weights, float32 of shape (groups, categories), with mean logarithm 0 in each group.

    The fit of a group starts with the weights of all groups together, so that rare categories stay near these.
    """
    together = _scale(decisions, np.zeros(decisions.shares.shape[1]))
    groups = (decisions.take(decisions.groups == group) for group in range(num_groups))
    logs = np.array([_scale(group, together) for group in groups])
    return np.exp(logs - logs.mean(1, keepdims=True)).astype(np.float32)


def _scale(decisions: Decisions, logs: np.ndarray) -> np.ndarray:
    """Return the logarithms of the weights after iterative scaling from `logs`."""
    logs = logs.copy()
    counts = np.bincount(decisions.chosen, minlength=len(logs))
    for _ in range(ROUNDS):
        weighted = decisions.shares * np.exp(logs)
        expected = (weighted / weighted.sum(1, keepdims=True)).sum(0)
        # Smoothed, so that a rare category stays where it started.
        logs += STEP * np.log((counts + SMOOTHING) / (expected + SMOOTHING))
    return logs


def tempered(weights: np.ndarray, names: tuple[str, ...], factors: dict[str, float]) -> np.ndarray:
    """Return weights to the power of `FLATTENING`, times the factors of the categories that have one."""
    found = weights**FLATTENING
    for name, factor in factors.items():
        found[:, names.index(name)] *= factor
    return found.astype(np.float32)


def log_loss(decisions: Decisions, weights: np.ndarray) -> float | None:
    """Return the mean negative logarithm of the probability of the chosen actions, in nats; None without decisions."""
    if len(decisions.chosen) == 0:
        return None
    weights = weights[decisions.groups]
    sums = (decisions.shares * weights).sum(1)
    chosen = weights[np.arange(len(sums)), decisions.chosen]
    return float(-np.log(chosen * decisions.chosen_shares / sums).mean())
