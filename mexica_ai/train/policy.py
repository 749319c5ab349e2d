"""Fitting a learnt policy (`cext.core.learning.scorer`) to the decisions of searches, in numpy.

The target of a decision is the improved policy of Gumbel AlphaZero: the softmax of the logarithm of the prior that the
search used plus the value that it found. The value of an action is its mean advantage over the decision's, in utility,
shrunk towards 0 by `DOUBT` visits and times `VALUE`; an action that the search did not try has the advantage 0. The
network adds its scores to the logarithms of the priors, so it begins as the priors without it. The loss is the
cross-entropy of the targets; the optimizer is AdamW. The fit stops when the loss on the games that select has not
fallen for `PATIENCE` epochs, and the best epoch counts. The *surprise* of a decision is how far its target is from the
prior that the search used; decisions may weigh by it.

Main functions: `sample`, `fit`, `report`.

Sources: Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel" (2022); "policy
surprise weighting" of KataGo (KataGoMethods.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cext.core.contract.game import State
from cext.core.learning.priors import policy_of
from cext.core.learning.weights import Weights, WeightsSpec
from mexica_ai.game.position import Position
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import check_shape, parse_json
from mexica_ai.train.adamw import AdamW, Arrays
from mexica_ai.train.positions import REPORT, SELECTION, TRAIN, origin, record_of, split
from mexica_ai.train.weights import weights_spec

VALUE = 150.0  # weight of an advantage of 1 in the target's logarithms
DOUBT = 16.0  # visits without advantage that are added to those of an action
LEAST_PRIOR = 1e-30  # where the search used 0
BATCH = 256  # decisions
LEARNING_RATE = 2e-3
REFINING_RATE = LEARNING_RATE / 4  # of a policy that was fitted before
WEIGHT_DECAY = 0.05
MAX_EPOCHS = 40
PATIENCE = 3

_SHAPE = {
    "game": str,
    "made": {
        "seed": int,
        "iterations": int,
        "deep": int,
        "players": [int],
        "planners": float,
        "game": int,
        "weights": str,
        "searched?": int,
        "along?": str,
    }
    | {"generation?": int, "frozen?": str, "frozen_iterations?": int, "noise?": float, "shown?": float},  # `exploit`
    "record": dict,
    "searches": [
        {"turn": int, "decisions": [{"actions": [int], "utility": float, "edges": [list]}], "states?": [dict]}
    ],
}


@dataclass(frozen=True)
class Decisions:
    """Decisions with their targets: n decisions with m scored actions together.

    Attributes
    ----------
    summaries : ndarray of float32, shape (n, summary)
    starts : ndarray of int, shape (n,)
        Index of the first action of each decision. Its actions follow one another.
    categories : ndarray of int, shape (m,)
    features : ndarray of float32, shape (m, features)
    logs : ndarray of float32, shape (m,)
        Logarithms of the priors without a policy.
    targets : ndarray of float32, shape (m,)
        Probabilities that sum to 1 in each decision.
    parts : ndarray of int, shape (n,)
        The part of the decision's game, see `positions.split`.
    surprises : ndarray of float, shape (n,)
        Relative entropy of the target to the prior that the search used, in nats.
    """

    summaries: np.ndarray
    starts: np.ndarray
    categories: np.ndarray
    features: np.ndarray
    logs: np.ndarray
    targets: np.ndarray
    parts: np.ndarray
    surprises: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Return the number of actions of each decision."""
        return np.diff(np.append(self.starts, len(self.logs)))

    def take(self, chosen: np.ndarray) -> Decisions:
        """Return the decisions that an index array or a mask selects."""
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        counts = self.counts[chosen]
        starts = np.cumsum(counts) - counts
        rows = np.repeat(self.starts[chosen] - starts, counts) + np.arange(counts.sum())
        return Decisions(
            self.summaries[chosen],
            starts,
            self.categories[rows],
            self.features[rows],
            self.logs[rows],
            self.targets[rows],
            self.parts[chosen],
            self.surprises[chosen],
        )


def sample(lines: Iterable[tuple[str, bytes]], weights: Weights, fitted_for: Weights | None = None) -> Decisions:
    """Read the decisions of files that `mexica_ai.train.selfplay` wrote.

    Parameters
    ----------
    lines : iterable of (str, bytes)
        For each game: what errors call it, and its text.
    weights : Weights
        With which the games were searched. The targets rest on their priors.
    fitted_for : Weights, optional
        The weights that the policy is to be part of, by default the same. What a policy reads depends on the network
        in some games.

    Returns
    -------
    Decisions
        In an order that depends on the games alone.

    Raises
    ------
    NotationError, PositionError, IllegalActionError
        A line is not such a game.
    SearchError
        See `positions.split`.
    """
    spec = weights_spec(weights.game)
    fitted_for = fitted_for or weights
    rows: list[tuple[Any, ...]] = []
    fingerprints: list[bytes] = []
    for path, text in sorted(lines, key=lambda entry: entry[1]):
        content = parse_json(text, path)
        check_shape(content, _SHAPE, path)
        if content["game"] != weights.game:
            problem = f'{path}.game: given "{content["game"]}"; expected "{weights.game}"'
            raise NotationError(problem, reason="GAME_MISMATCH", path=f"{path}.game")
        made = [_row(spec, weights, fitted_for, state, decision) for state, decision in _decisions(content)]
        found = [(*row, len(fingerprints)) for row in made if row is not None]
        if found:
            rows += found
            fingerprints.append(origin(record_of(content, path)))
    if not rows:
        raise NotationError("no decisions: expected at least one", reason="NO_DECISIONS", path="$")
    summaries, categories, features, logs, targets, surprises, games = zip(*rows, strict=True)
    counts = np.array([len(part) for part in logs])
    return Decisions(
        np.stack(summaries),
        np.cumsum(counts) - counts,
        np.concatenate(categories),
        np.concatenate(features),
        np.concatenate(logs),
        np.concatenate(targets),
        split(fingerprints)[np.array(games)],
        np.array(surprises),
    )


def _decisions(content: dict[str, Any]) -> Iterator[tuple[State, dict[str, Any]]]:
    """Yield (compiled state, decision) for the decisions of a game."""
    record = content["record"]
    position = Position.from_json(record["start"])
    searches = {search["turn"]: search["decisions"] for search in content["searches"]}
    for number, turn in enumerate(record["turns"]):
        for decision in searches.get(number, ()):
            state = position.state.copy()
            for action in decision["actions"]:
                state.apply(action)
            yield state, decision
        position.push(turn)


def _row(
    spec: WeightsSpec, weights: Weights, fitted_for: Weights, state: Any, decision: dict[str, Any]
) -> tuple[Any, ...] | None:
    """Return a decision's summary, categories, features, logarithms of the priors, targets and surprise.

    None if nothing is to be chosen there.
    """
    assert spec.policy_inputs is not None
    summary, actions, categories, priors, features = spec.policy_inputs(state, fitted_for)
    if len(actions) < 2:
        return None
    places = {int(action): place for place, action in enumerate(actions)}
    used = dict(zip(*policy_of(state, weights), strict=True))  # the priors that the search used
    before = np.log(np.array([max(used[action], LEAST_PRIOR) for action in places], np.float32))
    values = np.zeros(len(actions), np.float32)
    for action, visits, utility in decision["edges"]:
        if action in places:
            values[places[action]] = VALUE * (utility - decision["utility"]) * visits / (visits + DOUBT)
    improved, none = before + values, np.zeros(1, int)
    target = np.exp(improved - improved.max())
    target /= target.sum()
    changes = [_log_softmax(logits, none, np.array([len(actions)])) for logits in (improved, before)]
    return summary, categories, features, np.log(priors), target, float((target * (changes[0] - changes[1])).sum())


def initial_weights(shapes: dict[str, tuple[int, ...]], seed: int) -> Arrays:
    """Return weights of a policy whose scores are 0, with random hidden layers."""
    generator = np.random.default_rng(seed)
    arrays = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    for name in ("policy_state", "policy_node", "policy_category", "policy_action"):
        # The input of a unit of an action is a sum of three parts; one is a single row of the categories.
        size = 4 if name == "policy_category" else shapes[name][0]
        arrays[name] = (generator.standard_normal(shapes[name]) * np.sqrt(1 / size)).astype(np.float32)
    return arrays


def fit(
    decisions: Decisions,
    arrays: Arrays,
    *,
    seed: int,
    max_epochs: int = MAX_EPOCHS,
    learning_rate: float = LEARNING_RATE,
    surprise: float = 0.0,
    on_epoch: Callable[[int], None] = lambda epoch: None,
) -> tuple[Arrays, dict[str, float]]:
    """Return weights of a policy fitted to the decisions of games to train on, and its figures.

    Parameters
    ----------
    decisions : Decisions
        Of all parts.
    arrays : dict of str to ndarray
        Where to start; not changed. They are returned if no epoch makes the loss smaller.
    seed : int
        Of the order of the decisions.
    max_epochs : int
    learning_rate : float
        The highest of the schedule.
    surprise : float
        Share of the weight of the decisions that goes by their surprise; the rest is equal.
    on_epoch : callable
        Called with the number of epochs done.

    Returns
    -------
    arrays : dict of str to ndarray
    figures : dict of str to float
        The number of `epochs` of the best fit, and its `log_loss` on the games that select ("selected").
    """
    generator = np.random.default_rng(seed)
    trained, selecting = (decisions.take(decisions.parts == part) for part in (TRAIN, SELECTION))
    arrays = {name: array.copy() for name, array in arrays.items()}
    optimizer = AdamW(arrays, WEIGHT_DECAY, arrays)
    best, best_loss = {name: array.copy() for name, array in arrays.items()}, log_loss(selecting, arrays)
    best_epoch, step = 0, 0
    count = len(trained.starts)
    batch = min(BATCH, count)
    shares = 1 - surprise + surprise * trained.surprises / max(trained.surprises.mean(), 1e-9)
    for epoch in range(1, max_epochs + 1):
        order = generator.permutation(count)
        for first in range(0, count - batch + 1, batch):
            step += 1
            rate = learning_rate * min(1, step / 100) / (1 + epoch / 10)
            chosen = order[first : first + batch]
            optimizer.step(_gradients(trained.take(chosen), arrays, shares[chosen] if surprise else None), rate)
        loss = log_loss(selecting, arrays)
        if loss < best_loss:
            best, best_loss, best_epoch = {name: array.copy() for name, array in arrays.items()}, loss, epoch
        on_epoch(epoch)
        if epoch - best_epoch >= PATIENCE:
            break
    return best, {"epochs": best_epoch, "selected": best_loss}


def report(decisions: Decisions, arrays: Arrays, in_use: Arrays | None = None) -> dict[str, float]:
    """Return the `log_loss` on games to report on of scores of 0 ("before"), of the policy "in_use" if there is one and
    of the new one ("after"), and the least possible one, the "entropy" of the targets."""
    reported = decisions.take(decisions.parts == REPORT)
    known = {} if in_use is None else {"in_use": log_loss(reported, in_use)}
    return known | {
        "before": log_loss(reported, None),
        "after": log_loss(reported, arrays),
        "entropy": _entropy(reported),
    }


def log_loss(decisions: Decisions, arrays: Arrays | None) -> float:
    """Return the mean cross-entropy of the targets in nats; without arrays, that of the priors alone."""
    logits = decisions.logs if arrays is None else decisions.logs + scores(decisions, arrays)
    logs = _log_softmax(logits, decisions.starts, decisions.counts)
    return float(-(decisions.targets * logs).sum() / len(decisions.starts))


def scores(decisions: Decisions, arrays: Arrays) -> np.ndarray:
    """Return the score of each action."""
    return _forward(decisions, arrays)[-1]


def _entropy(decisions: Decisions) -> float:
    targets = decisions.targets
    return float(-(targets * np.log(np.maximum(targets, 1e-30))).sum() / len(decisions.starts))


def _log_softmax(logits: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    shifted: np.ndarray = logits - np.repeat(np.maximum.reduceat(logits, starts), counts)
    logs: np.ndarray = shifted - np.repeat(np.log(np.add.reduceat(np.exp(shifted), starts)), counts)
    return logs


def _forward(decisions: Decisions, arrays: Arrays) -> tuple[np.ndarray, ...]:
    """Return the units over the summaries, and the units and the score of each action."""
    state = np.maximum(decisions.summaries @ arrays["policy_state"] + arrays["policy_state_bias"], 0)
    node = np.repeat(state @ arrays["policy_node"], decisions.counts, axis=0)
    category = arrays["policy_category"][decisions.categories]
    units = np.maximum(decisions.features @ arrays["policy_action"] + node + category, 0)
    return state, units, units @ arrays["policy_out"]


def _gradients(part: Decisions, arrays: Arrays, shares: np.ndarray | None = None) -> Arrays:
    """Return the gradient of the mean cross-entropy by each array; `shares` are weights of the decisions."""
    state, units, found = _forward(part, arrays)
    chances = np.exp(_log_softmax(part.logs + found, part.starts, part.counts))
    slopes = (chances - part.targets) / np.float32(len(part.starts))
    if shares is not None:
        slopes = slopes * np.repeat(shares, part.counts).astype(np.float32)
    of_units = np.outer(slopes, arrays["policy_out"]) * (units > 0)
    of_nodes = np.add.reduceat(of_units, part.starts)
    of_states = (of_nodes @ arrays["policy_node"].T) * (state > 0)
    one_hot = (np.arange(len(arrays["policy_category"]))[:, None] == part.categories).astype(np.float32)
    return {
        "policy_state": part.summaries.T @ of_states,
        "policy_state_bias": of_states.sum(0),
        "policy_node": state.T @ of_nodes,
        "policy_category": one_hot @ of_units,
        "policy_action": part.features.T @ of_units,
        "policy_out": units.T @ slopes,
    }
