"""Self-play games to learn from: the search against itself and other engines, in many styles, with odd turns.

A *style* is a random change of the linear weights of the evaluation; a seat searches with it for a whole game. So the
seat overrates some features of a position and underrates others. Without styles all games are alike, and the fit
learns nothing about positions that the search avoids. An *odd turn* is a random one of an engine's candidates, or a
greedy or random turn. It leads to positions that good players avoid but a search has to judge.

*Equal* games have neither: all seats search alike, so a result tells about positions, not about who was handicapped.
Half of them are *forks*: their record begins with a position after an odd turn of a quicker game, so that all of its
positions are followed by play at full strength. If the game has *varied* starts (`mexica_ai.game.contract.Learning`),
half of the equal games, forks or not, have one.

Main functions: `play_game` (one game), `play` (a file of games).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from cext.core.learning.weights import Weights, WeightsSpec
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.search import weights_for
from mexica_ai.engines import make_engine
from mexica_ai.game import registry
from mexica_ai.game.position import Position, new_game
from mexica_ai.train.job_file import UNKNOWN_WEIGHTS, Series, complete

PLAYERS = (2, 2, 2, 3, 4)  # seats of a game, drawn from these
SPREAD = (0.5, 1.0, 2.0)  # factors of a seat's iterations, drawn from these
# In RIVAL_SHARE of the games one seat has another engine; plain UCT gets RIVAL_FACTOR times the iterations.
RIVALS = ("uct,iterations={}", "uct,iterations={}", "greedy", "beam,width=8")
RIVAL_SHARE = 0.4
RIVAL_FACTOR = 5
# Standard deviation of a style, in logits a unit of a feature; drawn for each seat.
STYLE_DEVIATIONS = (0.0, 0.0, 0.3, 0.6)
ODD_SHARES = (0.0, 0.05, 0.15)  # share of the turns that are odd, drawn for each game
ODD_CANDIDATES = 20  # number of candidates from which an odd turn is drawn
FORK_SHARE = 0.5  # share of the equal games that are forks
VARIED_SHARE = 0.5  # share of the equal games that have varied starts
QUICK = 8  # the game before a fork has so many times fewer iterations


def play_game(
    game: str, seed: int, index: int, iterations: int, weights: Weights | None = None, *, equal: bool = False
) -> dict[str, Any]:
    """Play one game and return its record.

    Parameters
    ----------
    game : str
    seed, index : int
        Everything random derives from these two.
    iterations : int
        Of a search, before `SPREAD`.
    weights : Weights, optional
        What the search plays with, before styles; by default those that ship.
    equal : bool
        All seats play alike: no spread, no rivals, no styles, no odd turns but those before forks.

    Returns
    -------
    dict
        The record. Its object `self_play` has the keys `seed`, `iterations`, `game` (the index), `weights` (their
        version), `styles` (the deviation of each seat's style), `odd_turns` (the numbers of the odd turns, where
        random events count as turns), and `equal`, if it is.
    """
    weights = weights_for(game, weights)
    random_ = random.Random(f"{seed}/{index}")
    players = random_.choice(PLAYERS)
    position = new_game(game, players=players, seed=random_.getrandbits(63))
    if equal:
        position = equal_start(position, random_, iterations, weights)
        budgets, deviations, odd_share = [iterations] * players, [0.0] * players, 0.0
        specs = [small_search(iterations)] * players
    else:
        budgets = [round(iterations * random_.choice(SPREAD)) for _ in range(players)]
        specs = [f"mcts,iterations={budget}" for budget in budgets]
        if random_.random() < RIVAL_SHARE:
            specs[random_.randrange(players)] = random_.choice(RIVALS).format(RIVAL_FACTOR * iterations)
        deviations = [random_.choice(STYLE_DEVIATIONS) for _ in range(players)]
        odd_share = None  # drawn after the styles
    start = position.to_json()
    spec = registry.get(game).learning.weights
    styles = [_style(spec, weights, deviation, random_) for deviation in deviations]
    engines = [make_engine(spec, weights=style) for spec, style in zip(specs, styles, strict=True)]
    if odd_share is None:
        odd_share = random_.choice(ODD_SHARES)
    turns, odd = [], []
    while not position.is_over:
        if position.is_chance:
            turns.append(position.draw(random_.getrandbits(63)))
            continue
        seat, turn_seed = position.to_move, random_.getrandbits(63)
        if random_.random() < odd_share:
            odd.append(len(turns))
            turn = _odd_turn(position, random_, turn_seed, budgets[seat], styles[seat])
        else:
            turn = engines[seat].best_turn(position, seed=turn_seed, candidates=1).turn
        turns.append(turn)
        position.push(turn)
    return {
        "game": game,
        "version": 1,
        "start": start,
        "turns": turns,
        "scores": position.scores,
        "winners": position.winners,
        "engines": specs,
        "self_play": {
            "seed": seed,
            "iterations": iterations,
            "game": index,
            "weights": weights.version,
            "styles": deviations,
            "odd_turns": odd,
        }
        | ({"equal": True} if equal else {}),
    }


def equal_start(position: Position, random_: random.Random, iterations: int, weights: Weights) -> Position:
    """Return where an equal game begins that was to begin at `position`."""
    if random_.random() < FORK_SHARE:
        position = _fork(position, random_, max(2, iterations // QUICK), weights)
    varied = registry.get(position.game).learning.varied
    if varied is not None and random_.random() < VARIED_SHARE:
        position = Position.from_json(varied(position.to_json(), random_))
    return position


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
        found.push(_odd_turn(found, random_, random_.getrandbits(63), iterations, weights))
        if found.is_over:
            before = before[:1]  # the odd turn ended the game; the first turn does not
            continue
        return found


def weights_of(record: dict[str, Any]) -> str:
    """Return the version of the weights that played a record, or UNKNOWN_WEIGHTS."""
    return record.get("self_play", {}).get("weights", UNKNOWN_WEIGHTS)


def _style(spec: WeightsSpec, weights: Weights, deviation: float, random_: random.Random) -> Weights:
    """Return weights whose logit has random errors in the seat's own features."""
    arrays = weights.arrays()
    for feature in range(spec.estimates[0]):
        arrays["linear"][0, feature] += random_.gauss(0, deviation)
    return spec.make(arrays)


def _odd_turn(
    position: Position, random_: random.Random, seed: int, iterations: int, weights: Weights
) -> list[str]:
    kind = random_.choice(("random", "greedy", "mcts", "mcts"))
    result = make_engine(kind, weights=weights).best_turn(
        position, Limits(iterations=iterations), seed=seed, candidates=ODD_CANDIDATES
    )
    return random_.choice(result.candidates).turn


def play(
    path: Path,
    executor: Executor,
    *,
    game: str,
    games: int,
    iterations: int,
    seed: int,
    weights: Weights | None = None,
    equal: bool = False,
    concurrency: int = 1,
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Play games until a file holds the games 0 to `games` - 1 of this seed and size.

    A file that a stopped run left is continued. Parameters and errors: `play_game`, `job_file.complete`.
    """
    weights = weights_for(game, weights)
    series = Series(
        game=game,
        weights=weights,
        noun="games",
        key="self_play",
        number="game",
        settings={"seed": seed, "iterations": iterations, "equal": equal},
        defaults={"equal": False},
        advice="another file, another seed, or --games 0 to take the file as it is",
    )
    complete(
        path,
        series,
        games,
        lambda index: partial(play_game, game, seed, index, iterations, weights, equal=equal),
        executor,
        concurrency=concurrency,
        on_progress=on_progress,
    )
