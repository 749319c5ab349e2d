"""Samples of records, as a fit reads them: the features of states, and how their games ended."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.game.records import replay
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import parse_json

MAX_SEATS = 4
SAMPLED = 0.25  # share of the states within turns that is sampled; of the starts of turns, twice that
HELD_OUT = 10  # one game in ten is held out, see `held_out`
SCORE_SCALE = 50.0  # points in a unit of `scores`


class Columns:
    """Arrays of equal length, as the fields of a dataclass."""

    def take(self, chosen: np.ndarray) -> Self:
        """Return the rows that an index array or a mask selects."""
        return type(self)(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Positions(Columns):
    """Sampled states, n of them. Rows of seats that a game does not have are zero.

    Attributes
    ----------
    features : ndarray of float32, shape (n, 4, number of features)
    seats : ndarray of bool, shape (n, 4)
        Which seats the game has.
    shares : ndarray of float32, shape (n, 4)
        Each seat's share of the win in the end.
    scores : ndarray of float32, shape (n, 4)
        Final scores / `SCORE_SCALE`.
    games : ndarray of int, shape (n,)
        Index of the state's game, in an order that depends on the records alone.
    held_out : ndarray of bool, shape (n,)
        Whether a fit leaves the game out and is measured on it, see the function `held_out`.
    """

    features: np.ndarray
    seats: np.ndarray
    shares: np.ndarray
    scores: np.ndarray
    games: np.ndarray
    held_out: np.ndarray


def fingerprint(record: dict[str, Any]) -> bytes:
    """Return the SHA-256 of a record's start and turns, which identifies the game whatever else the record says."""
    text = json.dumps([record["start"], record["turns"]], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()


def held_out(fingerprints: Sequence[bytes]) -> np.ndarray:
    """Decide which games are held out: a fit does not use them and is measured on them.

    The game alone decides, not the others. So a game that one fit holds out is held out by all, also by fits that start
    from the result of an earlier one. If this would hold out no game or all games, the one with the least fingerprint
    is held out alone.

    Parameters
    ----------
    fingerprints : sequence of bytes
        Of the games, see `fingerprint`.

    Returns
    -------
    ndarray of bool
        For each game; about one in `HELD_OUT` is True. All False if all games are the same.
    """
    found = np.array([int.from_bytes(digest[:8], "big") % HELD_OUT == 0 for digest in fingerprints], bool)
    if len(set(fingerprints)) < 2:
        found[:] = False
    elif found.all() or not found.any():
        least = min(fingerprints)
        found = np.array([digest == least for digest in fingerprints], bool)
    return found


def sample(
    lines: Iterable[tuple[str, bytes]], features: Callable[[Any], np.ndarray], *, seed: int
) -> Positions:
    """Replay records and sample states between their actions.

    The samples of a record depend on that record and the seed alone.

    Parameters
    ----------
    lines : iterable of (str, bytes)
        For each record: what errors call it, and its text, one finished game.
    features : callable
        From a compiled state to an array of shape (seats, number of features).
    seed : int

    Raises
    ------
    NotationError, PositionError, IllegalActionError
        A line is not the valid record of a finished game.
    """
    rows: list[tuple] = []
    fingerprints = []
    keyed = sorted((hashlib.sha256(line).digest(), path, line) for path, line in lines)
    for number, (digest, path, line) in enumerate(keyed):
        random_ = random.Random(digest + seed.to_bytes(8, "little"))
        record = parse_json(line, path)
        end = replay(record, path=path)
        if not end.is_over:
            problem = f"{path}: the game is not finished; expected one that is"
            raise NotationError(problem, reason="UNFINISHED", path=path)
        shares, scores, seats = np.zeros((3, MAX_SEATS), np.float32)
        seats[: end.players] = 1
        scores[: end.players] = np.array(end.scores) / SCORE_SCALE
        shares[end.winners] = 1 / len(end.winners)
        for found in _states(record, features, random_):
            rows.append((found, seats, shares, scores, number))
        fingerprints.append(fingerprint(record))
    columns = list(zip(*rows, strict=True))
    games = np.array(columns[4])
    return Positions(
        np.stack(columns[0]),
        np.array(columns[1], bool),
        np.array(columns[2], np.float32),
        np.array(columns[3], np.float32),
        games,
        held_out(fingerprints)[games],
    )


def _states(
    record: dict[str, Any], features: Callable[[Any], np.ndarray], random_: random.Random
) -> Iterator[np.ndarray]:
    """Yield the features, padded to MAX_SEATS, of the states sampled from a valid record."""
    position = Position.from_json(record["start"])
    parse_action = registry.get(position.game).text.parse_action
    for turn in record["turns"]:
        state = position.state.copy()
        for number, action in enumerate(turn):
            # Searches settle random events before they evaluate.
            if not position.is_chance and random_.random() < (2 * SAMPLED if number == 0 else SAMPLED):
                found = features(state)
                padded = np.zeros((MAX_SEATS, found.shape[1]), np.float32)
                padded[: len(found)] = found
                yield padded
            state.apply(parse_action(action))
        position.push(turn)
