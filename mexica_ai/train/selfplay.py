"""Games to learn from: the search against itself in many styles, and against other engines, with odd turns
in between.

A style is a random change of the linear weights of the evaluation, with which one seat searches for a whole
game: it is fond of some features of a position, averse to others. Without styles all games are alike, and
what nobody plays nobody learns to judge. Odd turns lead to positions that good play avoids, but that a
search has to judge: without them the evaluation would never have seen a wasted temple.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path

from mexica_ai import registry
from mexica_ai.engines import make_engine
from mexica_ai.limits import Limits
from mexica_ai.position import new_game
from mexica_ai.train.lines import UNKNOWN_WEIGHTS, extend

PLAYERS = (2, 2, 2, 3, 4)  # seats of a game, drawn from these
SPREAD = (0.5, 1.0, 2.0)  # a seat's iterations are this many times the given number
# In RIVAL_SHARE of the games one seat plays in another manner altogether, in half of these by plain tree
# search with RIVAL_FACTOR times the iterations of `play_game`.
RIVALS = ("uct,iterations={}", "uct,iterations={}", "greedy", "beam,width=8")
RIVAL_SHARE = 0.4
RIVAL_FACTOR = 5
# Standard deviation of a style, in logits a unit of a feature; drawn for each seat.
STYLE_DEVIATIONS = (0.0, 0.0, 0.3, 0.6)
ODD_SHARES = (0.0, 0.05, 0.15)  # share of the turns that are odd, drawn for each game
ODD_CANDIDATES = 20  # an odd turn is random, greedy, or one of so many candidates


def play_game(game: str, seed: int, index: int, iterations: int) -> dict:
    """Play game number `index` and return its record.

    Parameters
    ----------
    game : str
    seed : int
        Everything random derives from (seed, index).
    index : int
    iterations : int
        Of a search, before `SPREAD`.

    Returns
    -------
    dict
        The record. Its `self_play` holds seed, iterations, number and the weights in use, which a continued
        run looks for, the deviation of each seat's style, and the numbers of the odd turns (random events
        count as turns).
    """
    random_ = random.Random(f"{seed}/{index}")
    players = random_.choice(PLAYERS)
    position = new_game(game, players=players, seed=random_.getrandbits(63))
    start = position.to_json()
    budgets = [round(iterations * random_.choice(SPREAD)) for _ in range(players)]
    specs = [f"mcts,iterations={budget}" for budget in budgets]
    if random_.random() < RIVAL_SHARE:
        specs[random_.randrange(players)] = random_.choice(RIVALS).format(RIVAL_FACTOR * iterations)
    entry = registry.get(game)
    usual = entry.weights()
    deviations = [random_.choice(STYLE_DEVIATIONS) for _ in range(players)]
    styles = [_style(entry.weights_spec, usual, deviation, random_) for deviation in deviations]
    engines = [make_engine(spec, weights=style) for spec, style in zip(specs, styles, strict=True)]
    odd_share, turns, odd = random_.choice(ODD_SHARES), [], []
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
            "weights": usual.version,
            "styles": deviations,
            "odd_turns": odd,
        },
    }


def weights_of(record: dict) -> str:
    """Return the weights that played a record, by the beginning of their SHA-256, or UNKNOWN_WEIGHTS."""
    return record.get("self_play", {}).get("weights", UNKNOWN_WEIGHTS)


def _style(spec, weights, deviation, random_):
    """Return weights whose share of the win is a little, or a lot, off in the seat's own features."""
    arrays = weights.arrays()
    for feature in range(spec.estimates[0]):
        arrays["linear"][0, feature] += random_.gauss(0, deviation)
    return spec.make(arrays)


def _odd_turn(position, random_, seed, iterations, weights):
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
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Append games to a file of records until it holds those numbered 0 to `games` - 1 of this seed and size.

    Goes on with a file, and raises, as `lines.extend` does.
    """
    extend(
        path,
        executor,
        lambda index: executor.submit(play_game, game, seed, index, iterations),
        game=game,
        what="games",
        key="self_play",
        number="game",
        kind={"seed": seed, "iterations": iterations},
        count=games,
        advice="another file, another seed, or --games 0 to take the file as it is",
        on_progress=on_progress,
    )
