"""Probes: positions off the paths of good play, with what they are worth, as targets of the evaluation.

A search also evaluates positions that good players never reach, and positions within turns. How games between good
players ended says little about these. So a *walk* follows a played game, leaves it now and then for some odd turns,
and records the position it reaches: a *probe*. A few *rollouts* tell what it is worth: games from there to the end, by
small searches. They are not biased by the evaluation that the search believes in.

Main functions: `walk` (one walk), `make` (a file of walks), `load` (the probes of a file).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cext.core.learning.weights import Weights
from mexica_ai.engines import Engine, make_engine
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import check_shape, parse_json
from mexica_ai.train.job_file import Series, complete
from mexica_ai.train.positions import MAX_SEATS, SCORE_SCALE, Positions, fingerprint, origin, split
from mexica_ai.train.starts import small_search
from mexica_ai.train.weights import searching_weights

MAX_PROBES = 8  # of a walk
ODD_TURNS, ODD_TURNS_WEIGHTS = (0, 1, 2, 3), (1, 5, 3, 1)  # odd turns before a probe, and how often
ODD_PLAYERS = {
    "mcts,iterations=120": 3,
    "mcts,iterations=120,prior_noise=0.5": 4,
    "mcts,iterations=120,prior_noise=1.5": 3,
    "random": 1,
}
ODD_CANDIDATES = 12  # number of candidates from which an odd turn is drawn
PARTIAL_TURN_SHARE = 0.4  # of the probes lie within a turn

_SHAPE = {
    "game": str,
    "walk": {"seed": int, "iterations": int, "rollouts": int, "walk": int, "weights": str, "along": str},
    "probes": [{"position": dict, "value": [float], "scores": [float]}],
}


def walk(
    records: Sequence[dict[str, Any]],
    seed: int,
    index: int,
    iterations: int,
    rollouts: int,
    weights: Weights | None = None,
) -> dict[str, Any]:
    """Walk along one of some games and return the probes.

    Parameters
    ----------
    records : sequence of dict
        Of finished games of one kind.
    seed, index : int
        Everything random derives from these two; the choice of the game also from the order of the records.
    iterations : int
        Of a turn of a rollout.
    rollouts : int
        How many value a position; at least 1.
    weights : Weights, optional
        The weights that it searches with; by default those that ship.

    Returns
    -------
    dict
        A JSON object. `game`: its name. `walk`: seed, iterations, rollouts, number (`walk`), version of the weights
        (`weights`), `positions.origin` of the game in hexadecimal (`along`). `probes`: a list of positions, each with
        the `value` (share of the win of each seat) and the final `scores`, means over the rollouts.
    """
    return _walk(*_draw_record(records, seed, index), seed, index, iterations, rollouts, weights)


def _draw_record(records: Sequence[dict[str, Any]], seed: int, index: int) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Return the record that a walk follows, and the state of its random numbers after that.

    Done before the job starts, so that a job carries one record, not all.
    """
    random_ = random.Random(f"{seed}/{index}")
    record = random_.choice(records)
    return record, random_.getstate()


def _walk(
    record: dict[str, Any],
    random_state: tuple[Any, ...],
    seed: int,
    index: int,
    iterations: int,
    rollouts: int,
    weights: Weights | None,
) -> dict[str, Any]:
    random_ = random.Random()
    random_.setstate(random_state)
    game, turns = record["game"], record["turns"]
    weights = searching_weights(game, weights)
    players = {make_engine(spec, weights=weights): share for spec, share in ODD_PLAYERS.items()}
    searcher = make_engine(small_search(iterations), weights=weights)
    position, played, found = Position.from_json(record["start"]), 0, []
    for stop in sorted(random_.sample(range(len(turns)), min(MAX_PROBES, len(turns)))):
        for turn in turns[played:stop]:
            position.push(turn)
        played = stop
        probed = _deviate(position.copy(), players, random_)
        if probed is not None:
            value, scores = _roll_out(probed, searcher, rollouts, random_)
            found.append(
                {
                    "position": probed.to_json(),
                    "value": [round(share, 4) for share in value],
                    "scores": [round(score, 2) for score in scores],
                }
            )
    made: dict[str, Any] = {"seed": seed, "iterations": iterations, "rollouts": rollouts, "walk": index}
    made |= {"weights": weights.version, "along": origin(record).hex()}
    return {"game": game, "walk": made, "probes": found}


def _roll_out(position: Position, player: Engine, count: int, random_: random.Random) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean share of the win and the mean final score of each seat over games from a position."""
    shares, scores = np.zeros((2, position.players))
    for _ in range(count):
        end = position.copy()
        while not end.is_over:
            _draw_events(end, random_)
            end.push(player.best_turn(end, seed=random_.getrandbits(63), candidates=1).turn)
            _draw_events(end, random_)
        shares[end.winners] += 1 / len(end.winners)
        scores += end.scores
    return shares / count, scores / count


def _deviate(position: Position, players: dict[Engine, int], random_: random.Random) -> Position | None:
    """Play odd turns, and sometimes part of another; return the position, or None if no seat is to move there."""
    _draw_events(position, random_)
    for _ in range(random_.choices(ODD_TURNS, ODD_TURNS_WEIGHTS)[0]):
        if not position.is_over:
            position.push(_odd_turn(position, players, random_))
            _draw_events(position, random_)
    if position.is_over:
        return None
    if random_.random() < PARTIAL_TURN_SHARE:
        turn = _odd_turn(position, players, random_)
        state = position.state.copy()
        parse_action = registry.get(position.game).text.parse_action
        for action in turn[: random_.randrange(len(turn))]:
            state.apply(parse_action(action))
        position = Position(position.game, state)
    return None if position.is_chance else position


def _draw_events(position: Position, random_: random.Random) -> None:
    while position.is_chance:
        position.draw(random_.getrandbits(63))


def _odd_turn(position: Position, players: dict[Engine, int], random_: random.Random) -> list[str]:
    (player,) = random_.choices(list(players), list(players.values()))
    result = player.best_turn(position, seed=random_.getrandbits(63), candidates=ODD_CANDIDATES)
    return random_.choice(result.candidates).turn


def make(
    path: Path,
    records: Sequence[dict[str, Any]],
    executor: Executor,
    *,
    game: str,
    walks: int,
    iterations: int,
    rollouts: int,
    seed: int,
    weights: Weights | None = None,
    concurrency: int = 1,
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Make walks until a file holds the walks 0 to `walks` - 1 of this seed and size.

    A file that a stopped run left is continued. Parameters and errors: `walk`, `job_file.complete`.
    """
    weights = searching_weights(game, weights)
    # The same walks whatever the order of the records, which depends on the workers' speed.
    records = sorted(records, key=fingerprint)
    series = Series(
        game=game,
        weights=weights,
        noun="walks",
        key="walk",
        number="walk",
        settings={"seed": seed, "iterations": iterations, "rollouts": rollouts},
        advice="another folder",
    )
    complete(
        path,
        series,
        walks,
        lambda index: partial(_walk, *_draw_record(records, seed, index), seed, index, iterations, rollouts, weights),
        executor,
        concurrency=concurrency,
        on_progress=on_progress,
    )


def load(texts: Iterable[tuple[str, bytes]], game: str, features: Callable[[Any], np.ndarray]) -> Positions:
    """Read walks, as positions with what they are worth.

    Parameters
    ----------
    texts : iterable of (str, bytes)
        For each walk: what errors call it, and its text.
    game : str
    features : callable
        From a compiled state to an array of shape (seats, number of features).

    Returns
    -------
    Positions
        In an order that depends on the walks alone. A probe is of the part of the game along which its walk goes.

    Raises
    ------
    NotationError, PositionError
        A line is not a walk of this game with probes.
    SearchError
        See `positions.split`.
    """
    rows: list[tuple[Any, ...]] = []
    games: dict[bytes, int] = {}
    for path, text in sorted(texts, key=lambda entry: entry[1]):
        content = parse_json(text, path)
        check_shape(content, _SHAPE, path)
        if content["game"] != game:
            problem = f'{path}.game: given "{content["game"]}"; expected "{game}"'
            raise NotationError(problem, reason="GAME_MISMATCH", path=f"{path}.game")
        digest = _fingerprint(content["walk"]["along"], f"{path}.walk.along")
        for number, probe in enumerate(content["probes"]):
            number_of_game = games.setdefault(digest, len(games))
            where = f"{path}.probes[{number}]"
            position = Position.from_json(probe["position"], path=f"{where}.position")
            rows.append((*row(position, probe, features, where), number_of_game))
    if not rows:
        raise NotationError("no probes: expected at least one", reason="NO_PROBES", path="$")
    inputs, seats, shares, scores, along = (np.array(column) for column in zip(*rows, strict=True))
    return Positions(inputs, seats, shares, scores, along, split(list(games))[along])


def _fingerprint(text: str, path: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise NotationError(f"{path}: expected a fingerprint in hexadecimal", reason="BAD_VALUE", path=path) from None


def row(
    position: Position, probe: dict[str, Any], features: Callable[[Any], np.ndarray], path: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the features, seats, shares and scores of a probe as `Positions` holds them.

    Raises
    ------
    NotationError
        Its value or scores do not fit the position; `path` is what errors call it.
    """
    players = position.players
    if not len(probe["value"]) == len(probe["scores"]) == players:
        raise NotationError(
            f"{path}: expected a share and a score for each of the {players} seats",
            reason="SEATS_COUNT",
            path=path,
        )
    if min(probe["value"]) < 0 or abs(sum(probe["value"]) - 1) > 0.01:
        problem = f"{path}.value: expected shares from 0 to 1 with the sum 1"
        raise NotationError(problem, reason="OUT_OF_RANGE", path=f"{path}.value")
    found = features(position.state)
    padded = np.zeros((MAX_SEATS, found.shape[1]), np.float32)
    padded[:players] = found
    seats = np.arange(MAX_SEATS) < players
    shares, scores = np.zeros((2, MAX_SEATS), np.float32)
    shares[:players] = probe["value"]
    scores[:players] = np.array(probe["scores"]) / SCORE_SCALE
    return padded, seats, shares, scores
