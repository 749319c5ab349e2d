"""Positions off the paths of good play, and what a search finds there: targets for the evaluation.

An evaluation is asked about positions that good players never reach, and about halves of turns. How games
between good players ended says little of these, while a search that looks a turn further knows more of a
position than the evaluation does. So a walk goes along a game that was played, leaves it now and then for
some odd turns, searches where they lead, and takes the search's answer for what the evaluation should have
said.

Learning from what a search says of positions: Veness, Silver, Uther and Blair, "Bootstrapping from game tree
search" (2009).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

from mexica_ai import registry
from mexica_ai.engines import make_engine
from mexica_ai.errors import NotationError
from mexica_ai.position import Position
from mexica_ai.strict import check_shape, parse_json
from mexica_ai.train import lines
from mexica_ai.train.positions import MAX_SEATS, SCORE_SCALE, Positions, fingerprint, held_out

STOPS = 8  # turns of a game, at most, before which a walk leaves it
ODD_TURNS, ODD_SHARES = (0, 1, 2, 3), (1, 5, 3, 1)  # how many it plays then, and how often
ODD_PLAYERS = {
    "mcts,iterations=120": 3,
    "mcts,iterations=120,prior_noise=0.5": 4,
    "mcts,iterations=120,prior_noise=1.5": 3,
    "random": 1,
}
ODD_CANDIDATES = 12  # an odd turn is one of so many candidates of its player
BEGUN = 0.4  # how often the beginning of one more follows them
LEFT_OUT = 0.4  # share of the walks along games of more than two seats that go along another game instead

_SHAPE = {
    "game": str,
    "walk": {"seed": int, "iterations": int, "walk": int, "weights": str, "along": str},
    "probes": [{"position": dict, "value": [float], "scores": [float]}],
}


def walk(records: Sequence[dict], seed: int, index: int, iterations: int) -> dict:
    """Walk along one of some games, and return what was found as a JSON object.

    Parameters
    ----------
    records : sequence of dict
        Of finished games of one kind.
    seed : int
        Everything random derives from (seed, index).
    index : int
    iterations : int
        Of a search.

    Returns
    -------
    dict
        ``game``; ``walk``: the arguments, the weights in use and, in hexadecimal, the fingerprint of the
        game (``along``); ``probes``: a list of positions, each with the ``value`` (share of the win by seat)
        and the final ``scores`` that a search expects of its best turn.
    """
    random_ = random.Random(f"{seed}/{index}")
    record = random_.choice(records)
    while record["start"]["players"] > 2 and random_.random() < LEFT_OUT:
        record = random_.choice(records)
    game, turns = record["game"], record["turns"]
    players = {make_engine(spec): share for spec, share in ODD_PLAYERS.items()}
    searcher = make_engine(f"mcts,iterations={iterations}")
    position, played, found = Position.from_json(record["start"]), 0, []
    for stop in sorted(random_.sample(range(len(turns)), min(STOPS, len(turns)))):
        for turn in turns[played:stop]:
            position.push(turn)
        played = stop
        probed = _stray(position.copy(), players, random_)
        if probed is not None:
            result = searcher.best_turn(probed, seed=random_.getrandbits(63), candidates=1)
            found.append(
                {
                    "position": probed.to_json(),
                    "value": [round(share, 4) for share in result.value],
                    "scores": [round(score, 2) for score in result.expected_scores],
                }
            )
    told = {"seed": seed, "iterations": iterations, "walk": index}
    told |= {"weights": registry.get(game).weights().version, "along": fingerprint(record).hex()}
    return {"game": game, "walk": told, "probes": found}


def _stray(position, players, random_):
    """Play odd turns, perhaps begin another, and return the position; None if no seat is to move there."""
    _settle(position, random_)
    for _ in range(random_.choices(ODD_TURNS, ODD_SHARES)[0]):
        if not position.is_over:
            position.push(_odd_turn(position, players, random_))
            _settle(position, random_)
    if position.is_over:
        return None
    if random_.random() < BEGUN:
        turn = _odd_turn(position, players, random_)
        state = position.state.copy()
        parse_action = registry.get(position.game).codec.parse_action
        for action in turn[: random_.randrange(len(turn))]:
            state.apply(parse_action(action))
        position = Position(position.game, state)
    return None if position.is_chance else position


def _settle(position, random_):
    while position.is_chance:
        position.draw(random_.getrandbits(63))


def _odd_turn(position, players, random_):
    (player,) = random_.choices(list(players), list(players.values()))
    result = player.best_turn(position, seed=random_.getrandbits(63), candidates=ODD_CANDIDATES)
    return random_.choice(result.candidates).turn


_records: list[dict] = []  # of this process, for `_walk`


def begin_worker(records: Sequence[dict]) -> None:
    """Give a process of the executor the games to walk along; its initializer."""
    _records[:] = records


def _walk(seed, index, iterations):
    return walk(_records, seed, index, iterations)


def make(
    path: Path,
    executor: Executor,
    *,
    game: str,
    walks: int,
    iterations: int,
    seed: int,
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Append walks to a file until it holds those numbered 0 to `walks` - 1 of this seed and size.

    Goes on with a file, and raises, as `lines.extend` does.

    Parameters
    ----------
    executor : Executor
        Whose processes have begun with `begin_worker`.
    """
    lines.extend(
        path,
        executor,
        lambda index: executor.submit(_walk, seed, index, iterations),
        game=game,
        what="walks",
        key="walk",
        number="walk",
        kind={"seed": seed, "iterations": iterations},
        count=walks,
        advice="another file, another seed, or --walks 0 to take the file as it is",
        on_progress=on_progress,
    )


def load(texts: Iterable[tuple[str, bytes]], game: str, features: Callable[[Any], np.ndarray]) -> Positions:
    """Read walks: as positions whose shares and scores are what searches expect.

    Parameters
    ----------
    texts : iterable of (str, bytes)
        How errors name a walk, and its text.
    game : str
    features : callable
        From a compiled state to an array of shape (seats, number of features).

    Returns
    -------
    Positions
        In an order that depends on the walks alone. `held_out` as for the games that they go along.

    Raises
    ------
    NotationError, PositionError
        A line is not a walk of this game with probes.
    """
    rows, games = [], {}
    for path, text in sorted(texts, key=lambda entry: entry[1]):
        told = parse_json(text, path)
        check_shape(told, _SHAPE, path)
        if told["game"] != game:
            problem = f'{path}.game: given "{told["game"]}"; expected "{game}"'
            raise NotationError(problem, reason="GAME_MISMATCH", path=f"{path}.game")
        digest = _fingerprint(told["walk"]["along"], f"{path}.walk.along")
        for number, probe in enumerate(told["probes"]):
            along = games.setdefault(digest, len(games))
            where = f"{path}.probes[{number}]"
            position = Position.from_json(probe["position"], path=f"{where}.position")
            rows.append((*_row(position, probe, features, where), along))
    if not rows:
        raise NotationError("no probes: expected at least one", reason="NO_PROBES", path="$")
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Positions(*columns, held_out(list(games))[columns[-1]])


def _fingerprint(text, path):
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise NotationError(
            f"{path}: expected a fingerprint in hexadecimal", reason="BAD_VALUE", path=path
        ) from None


def _row(position, probe, features, path):
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
