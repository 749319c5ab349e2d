"""Random positions of play of all games, and what is done to them; for `accepted_positions.py` and the sanitizers."""

import random
import string

import numpy as np
from weighed import evaluate, weights_of

import mexica_ai as ai
from cext.core.contract.game import CHANCE
from cext.core.learning.priors import policy_of
from cext.games.mexica import plans
from mexica_ai.game import registry

# More tokens than the standard 15: what the second period brings is then unknown, and a search draws worlds.
LARGE_POOL = [3, 3, 3, 4, 4, 5, 6, 6, 7, 8, 9, 10, 10, 11, 12, 12, 13, 13]
GAMES = list(registry.names())  # that are played where none is named
LEAST, MOST = 1e-45, 3e38  # of the numbers of weights
SPACES = [f"{column}{row}" for column in string.ascii_uppercase[:22] for row in range(16)]


def new_position(rng, game=None):
    """Return a new game of one of `GAMES`, with any number of seats and odd options."""
    game = game or rng.choice(GAMES)
    players = rng.randint(2, registry.get(game).rules.max_players)
    options = {}
    if game == "mexica" and rng.random() < 0.3:
        options = {"pool": LARGE_POOL}
    if game == "nim":
        piles = [rng.choice((0, 1, 2, 5, 63)) for _ in range(rng.randint(1, 8))]
        options = {"piles": piles if any(piles) else [3], "plies_per_turn": rng.randint(1, 3)}
    return ai.new_game(game, players=players, seed=rng.getrandbits(40), **options)


def step(state, rng):
    """Play one random action; often one of the rarer kinds, which uniform play seldom gets to."""
    if state.current_player == CHANCE:
        state.resolve_chance(rng.getrandbits(40))
        return
    legal = state.legal_actions()
    kinds = sorted({action >> 22 for action in legal})
    if len(kinds) > 1 and rng.random() < 0.7:
        kind = rng.choice(kinds)
        legal = [action for action in legal if action >> 22 == kind]
    state.apply(rng.choice(legal))


def walked(rng, game=None):
    """Return a random position of a game in which a seat is to move."""
    while True:
        position = new_position(rng, game)
        state = position.state.copy()
        for _ in range(int(rng.random() ** 2 * 600)):
            if state.is_terminal:
                break
            step(state, rng)
        if state.current_player >= 0:
            return ai.Position(position.game, state)


def look_at(state):
    """Call everything that reads a state."""
    state.check()
    for seat in range(state.num_players):
        state.view_hash(seat)
        state.copy().determinize(seat, seat)
    assert state.copy() == state
    state.scores()
    if state.is_terminal:
        state.returns()
    elif state.current_player >= 0:
        evaluate(state)
    weights = weights_of(state)
    if weights:
        registry.get(state.game.name).learning.weights.features(state)
        if state.current_player >= 0:
            policy_of(state, weights)
    if state.game.name == "mexica" and state.current_player >= 0:
        plans.find(state)


def mutate(value, rng, words):
    """Return a JSON value of the same or another type, near the limits of the allowed range."""
    kind = rng.random()
    if kind < 0.1:
        return rng.choice((None, True, 1.5, "", [], {}, -1, 2**31, 2**63, 2**64, 10**30, "H6", [0]))
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        near = (value - 1, value + 1, 0, 1, rng.randint(-2, 15), rng.randint(0, 300), 2**32 + value)
        return rng.choice(near)
    if isinstance(value, str):
        return rng.choice(words) if rng.random() < 0.8 else value + rng.choice(string.printable)
    if isinstance(value, list) and value:
        value = list(value)
        at = rng.randrange(len(value))
        if kind < 0.3:
            del value[at]
        elif kind < 0.4:
            value += value
        elif kind < 0.6:
            value.insert(at, rng.choice(value))
        else:
            value[at] = mutate(value[at], rng, words)
        return value
    if isinstance(value, dict) and value:
        key = rng.choice(sorted(value))
        if kind < 0.13:
            return {name: entry for name, entry in value.items() if name != key}
        return value | {key: mutate(value[key], rng, words)}
    return value


def scaled(game, factors):
    """Return the weights that ship for a game, each array times its factor, as far as weights may be."""
    usual = registry.get(game).weights().arrays()
    arrays = {name: array.astype(float) * factors[name] for name, array in usual.items()}
    arrays["priors"] = np.maximum(abs(arrays["priors"]), LEAST)
    return registry.get(game).learning.weights.make({name: np.clip(each, -MOST, MOST) for name, each in arrays.items()})


def seeded(*words):
    """Return a stream of random numbers that some words name."""
    return random.Random(" ".join(map(str, words)))
