"""Where games of self-play begin: new games, varied starts, and forks.

A *fork* is a position after an odd turn of a quicker game, so that play goes on from positions that good players avoid.
An *odd turn* is one of an engine's candidates drawn at random, or a greedy or random turn. If the game has *varied*
starts (`Learning.varied`: the same position with other things in the hands of the seats), half of the games, forks or
not, have one. Games with a *planner* (`Learning.planner`), and games after others' records, may begin in the middle of
such a game.

Hands that seats may show are those of positions whose seats have a ``hand`` and what they have ``shown``.

Main functions: `draw_start`, `midgame`, `planned_start`; `shown`.
"""

from __future__ import annotations

import random
from typing import Any

from cext.core.learning.weights import Weights
from mexica_ai.analysis.limits import Limits
from mexica_ai.engines import Engine, make_engine
from mexica_ai.game import registry
from mexica_ai.game.position import Position, new_game
from mexica_ai.io.errors import PositionError

ODD_CANDIDATES = 20  # number of candidates from which an odd turn is drawn
FORK_SHARE = 0.5  # share of the games that are forks
VARIED_SHARE = 0.5  # share of the games that have varied starts
TEMPERS = 1000  # of planners, from which theirs are drawn
QUICK = 8  # the game before a fork has this many times fewer iterations


def draw_start(game: str, players: int, random_: random.Random, iterations: int, weights: Weights) -> Position:
    """Return where a game of self-play with these numbers of seats and of iterations a turn begins."""
    position = new_game(game, players=players, seed=random_.getrandbits(63))
    if random_.random() < FORK_SHARE:
        position = _fork(position, random_, max(2, iterations // QUICK), weights)
    varied = registry.get(game).learning.varied
    if varied is not None and random_.random() < VARIED_SHARE:
        position = Position.from_json(varied(position.to_json(), random_))
    return position


def midgame(record: dict[str, Any], random_: random.Random) -> Position:
    """Return the position of a record before one of its turns, drawn at random."""
    turns = record["turns"]
    position, stop = Position.from_json(record["start"]), random_.randrange(len(turns))
    for turn in turns[:stop]:
        position.push(turn)
    while position.is_chance:
        position.draw(random_.getrandbits(63))
    return position


def planned_start(game: str, players: int, random_: random.Random, weights: Weights) -> Position:
    """Return the position before a turn, drawn at random, of a game between planners of several tempers."""
    position = new_game(game, players=players, seed=random_.getrandbits(63))
    planners = [planner(random_, weights) for _ in range(position.players)]
    before = []  # each turn
    while not position.is_over:
        if position.is_chance:
            position.draw(random_.getrandbits(63))
            continue
        before.append(position.copy())
        seat = position.to_move
        assert seat is not None
        position.push(planners[seat].best_turn(position, seed=random_.getrandbits(63), candidates=1).turn)
    return random_.choice(before)


def has_hands(position: Position) -> bool:
    """Return whether the seats have hands that they may show."""
    return all({"hand", "shown"} <= seat.keys() for seat in position.to_json()["seats"])


def shown(position: Position) -> Position:
    """Return a position in which all seats have shown their hands; the same where the rules do not let them.

    The legal turns are the same.
    """
    content = position.to_json()
    content.pop("memory", None)  # what was observed of hidden hands
    for seat in content["seats"]:
        seat["shown"] = seat["hand"]
    try:
        return Position.from_json(content)
    except PositionError:  # Coatl: before the first turn
        return position


def planner(random_: random.Random, weights: Weights) -> Engine:
    """Return a planner with a temper drawn at random."""
    return make_engine(f"planner,temper={random_.randrange(TEMPERS)}", weights=weights)


def small_search(iterations: int) -> str:
    """Return the spec of a search with no more memory than it needs: reserving much takes longer than such a search."""
    return f"mcts,iterations={iterations},memory={8 + iterations // 25}"


def _fork(position: Position, random_: random.Random, iterations: int, weights: Weights) -> Position:
    """Return a position of a quick game after an odd turn, from which the game can go on."""
    engine = make_engine(small_search(iterations), weights=weights)
    before = []  # each turn
    while not position.is_over:
        if position.is_chance:
            position.draw(random_.getrandbits(63))
            continue
        before.append(position.copy())
        position.push(engine.best_turn(position, seed=random_.getrandbits(63), candidates=1).turn)
    while True:
        found = random_.choice(before)
        found.push(_odd_turn(found, random_, iterations, weights))
        if found.is_over:
            before = before[:1]  # the odd turn ended the game; the first turn does not
            continue
        return found


def _odd_turn(position: Position, random_: random.Random, iterations: int, weights: Weights) -> list[str]:
    seed = random_.getrandbits(63)
    kind = random_.choice(("random", "greedy", "mcts", "mcts"))
    result = make_engine(kind, weights=weights).best_turn(
        position, Limits(iterations=iterations), seed=seed, candidates=ODD_CANDIDATES
    )
    return random_.choice(result.candidates).turn
