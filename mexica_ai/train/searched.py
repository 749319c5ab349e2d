"""The values of states that a search has looked at, as targets of the evaluation.

A deep search values many states besides the one that it was asked about: the rest of the seat's turn, and what others
may answer. Each visited often enough is a row to learn from that costs no game. Its value is the search's mean, which
knows less than the end of a game and varies less.

*Surprise* is how far that value is from what the evaluation says of the state alone. States may be drawn by it, so that
a fit sees more of those that it would change. A result of one game is no such target: it is far from any good forecast
by chance, and to weigh it by that would draw all forecasts to the middle.

Main functions: `states_of` (of a search), `load` (from games), `drawn_by_surprise`.

Source: Cohen-Solal, "Learning to play two-player perfect-information games without knowledge" (2020).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cext.core.search.search import Search
from mexica_ai.game.position import Position
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import check_shape, parse_json
from mexica_ai.train import value
from mexica_ai.train.adamw import Arrays
from mexica_ai.train.positions import Positions, origin, record_of, split
from mexica_ai.train.probes import row

_STATES = [{"actions": [int], "value": [float], "scores": [float]}]


def states_of(search: Search, count: int, least_visits: int, random_: random.Random) -> list[dict[str, Any]]:
    """Return states before an action of a seat that a search has visited, without its root.

    Parameters
    ----------
    search : Search
        That has ended.
    count : int
        How many at most; they are drawn at random.
    least_visits : int
        Of a state; >= 1.
    random_ : random.Random

    Returns
    -------
    list of dict
        `actions` that lead there from the root, mean `value` (share of the win of each seat) and `scores`. States after
        a random event, and those that the root's own hidden things do not allow, are left out.
    """
    nodes = search.tree(least_visits)
    paths: dict[int, list[int]] = {0: []}
    for at in (order := [0]):  # which grows
        if nodes[at]["seat"] is None:
            continue
        for edge in nodes[at]["edges"]:
            node, action = edge["node"], edge["action"]
            if node is not None and action is not None and node not in paths:
                paths[node] = [*paths[at], action]
                order.append(node)
    reached = [at for at in order[1:] if nodes[at]["seat"] is not None and _is_possible(search, paths[at])]
    return [
        {
            "actions": paths[at],
            "value": [round(share, 4) for share in nodes[at]["value"]],
            "scores": [round(score, 2) for score in nodes[at]["expected_scores"]],
        }
        for at in sorted(random_.sample(reached, min(count, len(reached))))
    ]


def _is_possible(search: Search, actions: list[int]) -> bool:
    """Return whether actions are legal in the root's own world: others may be so in worlds that were drawn."""
    state = search.state.copy()
    for action in actions:
        if not state.is_legal(action):
            return False
        state.apply(action)
    return True


def load(lines: Iterable[tuple[str, bytes]], features: Callable[[Any], np.ndarray]) -> Positions:
    """Read the searched states of files that `mexica_ai.train.selfplay` wrote.

    Parameters
    ----------
    lines : iterable of (str, bytes)
        For each game: what errors call it, and its text.
    features : callable
        From a compiled state to an array of shape (seats, number of features).

    Raises
    ------
    NotationError, PositionError, IllegalActionError
        A line is not such a game, or none has states.
    SearchError
        See `positions.split`.
    """
    rows: list[tuple[Any, ...]] = []
    digests: list[bytes] = []
    for path, text in sorted(lines, key=lambda entry: entry[1]):
        content = parse_json(text, path)
        record = record_of(content, path)
        position = Position.from_json(record["start"])
        states = {search["turn"]: search.get("states", []) for search in content["searches"]}
        check_shape(list(states.values()), [_STATES], f"{path}.searches")
        for number, turn in enumerate(record["turns"]):
            for found in states.get(number, ()):
                state = position.state.copy()
                for action in found["actions"]:
                    state.apply(action)
                where = f"{path}.searches: turn {number}"
                rows.append((*row(Position(position.game, state), found, features, where), len(digests)))
            position.push(turn)
        digests.append(origin(record))
    if not rows:
        raise NotationError("no searched states: expected at least one", reason="NO_STATES", path="$")
    inputs, seats, shares, scores, games = (np.array(column) for column in zip(*rows, strict=True))
    return Positions(inputs, seats, shares, scores, games, split(digests)[games])


def drawn_by_surprise(positions: Positions, weights: Arrays, share: float, seed: int) -> Positions:
    """Return as many positions as there are, drawn by their surprise, with replacement.

    Parameters
    ----------
    positions : Positions
    weights : dict of str to ndarray
        Of the evaluation that is surprised.
    share : float
        How much of the chance of a position goes by its surprise, the sum of the differences of the shares of the win;
        the rest is equal. 0: each position once.
    seed : int
    """
    if not share or not len(positions.games):
        return positions
    surprises = np.abs(value.predict(positions, weights)[0] - positions.shares).sum(1)
    chances = 1 - share + share * surprises / max(surprises.mean(), 1e-9)
    count = len(surprises)
    chosen = np.random.default_rng(seed).choice(count, count, p=chances / chances.sum())
    return positions.take(np.sort(chosen))
