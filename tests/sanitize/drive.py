"""Exercises the whole compiled layer under a sanitizer: what it reports ends the process.

    make sanitize                     both sanitizers, as below
    .ci/sanitize address [OPTIONS]    one of them, with the options of this file

Nothing here looks at the quality of an answer, which the tests do: it goes where memory or threads could go
wrong. Every part repeats rounds, each with a seed of its own, until its time is over. The seed of a round is
printed when it raises, and ``--verbose`` prints it before; ``--part NAME --seed N --rounds 1`` repeats it.
"""

import argparse
import contextlib
import ctypes
import functools
import gc
import json
import random
import string
import sys
import threading
import time
from pathlib import Path

import numpy as np
from weighed import Beam, Search, categorize, evaluate, greedy_turn, weights_of

import mexica_ai as ai
from cext.core import game as core_game
from cext.core.baselines import random_turn
from cext.core.errors import MexicaAIError
from cext.core.game import CHANCE
from cext.core.options import OPTIONS
from cext.core.perft import divide, perft
from cext.core.playout import random_playout, random_playouts
from cext.core.uct import UCT
from cext.games.mexica import plans
from mexica_ai import registry
from test_games.trick.ops import deal

# More tokens than the standard 15: what the second period brings is then unknown, and a search draws worlds.
LARGE_POOL = [3, 3, 3, 4, 4, 5, 6, 6, 7, 8, 9, 10, 10, 11, 12, 12, 13, 13]
# Bytes by which a hundred rounds of the same work may grow: caches of the interpreter.
LEAK_ROUNDS, LEAK_BYTES = 100, 16_384
PARTS = {}
GAMES = list(registry.names())  # that are played where a part names none
THREADED = ("searches", "full_memory", "baselines", "answers")  # what the thread sanitizer looks at


def part(function):
    PARTS[function.__name__] = function
    return function


# Material


def new_position(rng, game=None):
    """Return a new game of one of `GAMES`, with any number of seats and odd options."""
    game = game or rng.choice(GAMES)
    players = rng.randint(2, registry.get(game).game.max_players)
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


def trick_state(rng):
    """Return a deal of the game of hidden hands: the actions differ by world there."""
    cards = rng.sample(range(16), rng.randint(6, 12))
    players = rng.randint(2, 4)
    size = rng.randint(1, len(cards) // players)
    hands = [cards[size * seat : size * (seat + 1)] for seat in range(players)]
    return deal(hands, cards[size * players :])


def searched_state(rng):
    return trick_state(rng) if rng.random() < 0.2 else walked(rng).state


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
        registry.get(state.game.name).weights_spec.features(state)
        if state.current_player >= 0:
            categorize(state, weights)
    if state.game.name == "mexica" and state.current_player >= 0:
        plans.find(state)


# The parts: each does one round


@part
def games(rng):
    """Play a whole game at random, check every state, and sometimes convert it to JSON and back."""
    position = new_position(rng)
    state = position.state.copy()
    while not state.is_terminal:
        step(state, rng)
        look_at(state)
        for bits in (8, 16, 32, 64):
            action = rng.getrandbits(bits)
            if state.is_legal(action):
                state.copy().apply(action)
        if state.current_player != CHANCE and rng.random() < 0.1:
            form = ai.Position(position.game, state).to_json()
            assert ai.Position.from_json(form).state == state
            random_playout(state, rng.getrandbits(40))
            str(ai.Position(position.game, state))
    look_at(state)


@part
def counts(rng):
    """Perft, playouts in blocks, and the players that need no search."""
    state = walked(rng).state
    depth = 2 if len(state.legal_actions()) < 40 else 1
    assert sum(divide(state, depth).values()) == perft(state, depth)
    random_playouts(state, 4, rng.getrandbits(40))
    for turn in (random_turn(state, rng.getrandbits(40)), greedy_turn(state)):
        after = state.copy()
        for action in turn:
            after.apply(action)


def mutate(value, rng, spaces):
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
        return rng.choice(spaces) if rng.random() < 0.8 else value + rng.choice(string.printable)
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
            value[at] = mutate(value[at], rng, spaces)
        return value
    if isinstance(value, dict) and value:
        key = rng.choice(sorted(value))
        if kind < 0.13:
            return {name: entry for name, entry in value.items() if name != key}
        return value | {key: mutate(value[key], rng, spaces)}
    return value


SPACES = [f"{column}{row}" for column in string.ascii_uppercase[:22] for row in range(16)]


@part
def positions(rng):
    """Mutated positions: rejected with an error of the package, or valid enough to be played and searched."""
    position = walked(rng)
    form = position.to_json()
    for _ in range(40):
        broken = form
        for _ in range(rng.choice((1, 1, 2, 5))):
            broken = mutate(broken, rng, SPACES)
        if rng.random() < 0.2:
            text = bytearray(json.dumps(broken).encode())
            text[rng.randrange(len(text))] = rng.randrange(256)
            broken = bytes(text)
        try:
            accepted = ai.Position.from_json(broken)
        except MexicaAIError:
            continue
        state = accepted.state.copy()
        look_at(state)
        if state.current_player >= 0:
            search = Search(state, memory_mb=1, seed=rng.getrandbits(40))
            search.run(iterations=20)
            search.result(3)
        for _ in range(30):
            if state.is_terminal:
                break
            step(state, rng)
        look_at(state)


def mutate_text(text, rng):
    at = rng.randrange(len(text) + 1)
    return rng.choice(
        (
            text[:at] + text[at + 1 :],
            text[:at] + rng.choice(string.printable) + text[at:],
            text.replace(rng.choice("ABCHU159"), rng.choice("AHUV0159")),
            f"{text} {rng.choice(SPACES)}",
            text.partition(" ")[0] + " " + rng.choice(SPACES),
        )
    )


@part
def turns(rng):
    """Mutated turns: rejected with an error of the package, and the position is unchanged."""
    position = walked(rng)
    other = walked(rng, position.game)
    texts = position.legal_actions() + other.legal_actions()
    for _ in range(100):
        turn = rng.choices(texts, k=rng.randint(1, 12))
        for _ in range(rng.choice((0, 0, 1, 3))):
            at = rng.randrange(len(turn))
            turn[at] = mutate_text(turn[at], rng)
        before = position.copy()
        try:
            position.push(turn if rng.random() < 0.7 else "; ".join(turn))
        except MexicaAIError:
            assert position == before
        try:
            position.push_action(rng.choice(turn))
        except MexicaAIError:
            continue
        look_at(position.state)
        if position.is_over:
            return


def odd_options(rng):
    """Return some options of the search at the ends of their ranges."""
    names = rng.sample(sorted(OPTIONS), rng.choice((0, 0, 1, 2)))
    return {name: rng.choice(OPTIONS[name][1:]) for name in names}


def run_watched(search, rng, *, read):
    """Run a search in a thread, with a limit far away, and stop it; read its result meanwhile if asked to."""
    failures = []

    def run():
        try:
            search.run(time_s=60)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    for _ in range(rng.randint(1, 8)):
        if read:
            search.result(rng.choice((1, 5, 10_000)))
        time.sleep(rng.random() * 0.02)
    search.stop()
    thread.join()
    if failures:
        raise failures[0]


@part
def searches(rng):
    """Searches with one to three threads, by any limit, stopped and read in the middle."""
    state = searched_state(rng)
    threads = rng.choice((1, 2, 2, 3))
    memory_mb = rng.choice((1, 1, 2, 16))
    search = Search(state, threads=threads, memory_mb=memory_mb, seed=rng.getrandbits(40), **odd_options(rng))
    kind = rng.choice(("iterations", "time", "late", "watched", "watched", "stopped", "unused"))
    if kind == "iterations":
        search.run(iterations=rng.choice((1, 10, 2000)))
    elif kind == "time":
        search.run(time_s=rng.choice((0.001, 0.1, 0.3)))
    elif kind == "late":
        # The threads may still be at work.
        search.run(time_s=rng.choice((0.001, 0.01)), late_s=0.0)
        search.result(5)
        search.join()
    elif kind == "watched":
        run_watched(search, rng, read=True)
    elif kind == "stopped":
        search.stop()
        search.run()
    if kind != "unused":
        search.check_visits()
    result = search.result(rng.choice((1, 7, 10_000)))
    for candidate in result["candidates"]:
        after = state.copy()
        for action in candidate["actions"]:
            after.apply(action)


@part
def full_memory(rng):
    """Several threads that run out of memory, at nodes or at edges, at the same time."""
    wide = {"widening_base": 10_000.0} if rng.random() < 0.5 else {}
    state = searched_state(rng)
    search = Search(state, threads=rng.randint(2, 4), memory_mb=1, seed=rng.getrandbits(40), **wide)
    search.run(time_s=20, iterations=100_000)
    search.check_visits()
    search.result(1000)


@part
def baselines(rng):
    """The engines to compare with: uct and beam, to the end or stopped."""
    state = searched_state(rng)
    beam = Beam(state, width=rng.choice((1, 3, 40)), memory_mb=rng.choice((1, 64)), seed=rng.getrandbits(40))
    uct = UCT(state, memory_mb=1, seed=rng.getrandbits(40))
    for search in (beam, uct):
        if rng.random() < 0.5:
            search.run(iterations=rng.choice((1, 50, 600)))
        elif rng.random() < 0.5:
            search.run(time_s=0.2)
        else:
            run_watched(search, rng, read=False)
        search.result(3)


@part
def answers(rng):
    """The public functions: a weak level, and an analysis that is closed before its end."""
    position = walked(rng)
    ai.best_turn(position, iterations=100, threads=2, memory_mb=2, level=rng.randint(1, 10))
    for number, _ in enumerate(ai.analyze(position, threads=2, memory_mb=2, interval_s=0.02)):
        if number == 2:
            break


@part
def weights(rng):
    """Weights, broken and whole, and searches that outlive their names."""
    game = rng.choice([name for name in registry.names() if registry.get(name).weights_spec])
    spec = registry.get(game).weights_spec
    usual = registry.get(game).weights().arrays()
    name = rng.choice(sorted(usual))
    for bad in (usual[name][:-1], usual[name] * float("nan"), usual[name].ravel()[:1], np.zeros(())):
        with contextlib.suppress(ValueError):
            spec.make(usual | {name: bad})
    state = walked(rng, game).state
    search = Search(
        state,
        threads=2,
        memory_mb=1,
        weights=spec.make({name: array * 1e4 for name, array in usual.items()}),
    )
    gc.collect()
    search.run(iterations=200)
    look_at(state)


# Memory leaks, which the parts above do not detect


def allocated():
    gc.collect()
    function = ctypes.CDLL(None).__sanitizer_get_current_allocated_bytes
    function.restype = ctypes.c_size_t
    return function()


def find_leaks(rng):
    """Raise if repeating the same work takes more and more memory."""
    mexica, nim = walked(rng, "mexica"), walked(rng, "nim")
    broken = mexica.to_json() | {"players": 9}

    def search(state, threads):
        search = Search(state, threads=threads, memory_mb=1, seed=1)
        search.run(iterations=5)
        search.result(3)

    def refuse():
        with contextlib.suppress(MexicaAIError):
            ai.Position.from_json(broken)

    def baseline(kind):
        search = kind(mexica.state, memory_mb=1, seed=1)
        search.run(iterations=5)
        search.result(1)

    work = {
        "reading": lambda: ai.Position.from_json(mexica.to_json()),
        "refusing": refuse,
        "looking": lambda: look_at(mexica.state),
        "searching": lambda: (search(mexica.state, 1), search(nim.state, 2)),
        "beam": functools.partial(baseline, Beam),
        "uct": functools.partial(baseline, UCT),
        "turns": lambda: (greedy_turn(mexica.state), random_turn(mexica.state, 1), perft(nim.state, 2)),
    }
    for name, do in work.items():
        for _ in range(LEAK_ROUNDS // 5):
            do()
        before = allocated()
        for _ in range(LEAK_ROUNDS):
            do()
        grown = allocated() - before
        if grown > LEAK_BYTES:
            raise SystemExit(f"leak: {name}: {grown} bytes more after {LEAK_ROUNDS} rounds")


# The command


def require_sanitizer():
    """Return the sanitizer's name; end the process if the core was built without the one that is loaded."""
    core = Path(core_game.__file__).read_bytes()
    for name, symbol in (("address", "__asan_init"), ("thread", "__tsan_init")):
        if symbol.encode() in core:
            if not hasattr(ctypes.CDLL(None), symbol):
                raise SystemExit(f"the library of the {name} sanitizer is not loaded; use .ci/sanitize")
            return name
    raise SystemExit(f"{core_game.__file__} was built without a sanitizer; use .ci/sanitize")


def main():
    parser = argparse.ArgumentParser(description="Exercise the compiled layer under a sanitizer.")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each part (20)")
    parser.add_argument("--rounds", type=int, default=10**9, help="for each part at most")
    parser.add_argument("--seed", type=int, default=1, help="of the first round; the next ones count on (1)")
    parser.add_argument("--game", choices=GAMES, help="only this game, where a part does not name one")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this one; may be repeated")
    parser.add_argument("--verbose", action="store_true", help="print every round before it begins")
    args = parser.parse_args()
    if args.game:
        GAMES[:] = [args.game]
    name = require_sanitizer()
    for function in args.part or (THREADED if name == "thread" else PARTS):
        until_s = time.monotonic() + args.seconds
        rounds = 0
        while rounds == 0 or (rounds < args.rounds and time.monotonic() < until_s):
            seed = args.seed + rounds
            if args.verbose:
                print(f"{function}: seed {seed}", flush=True)
            try:
                PARTS[function](random.Random(f"{function} {seed}"))
            except BaseException:
                print(f"{function}: failed with --part {function} --seed {seed} --rounds 1", file=sys.stderr)
                raise
            rounds += 1
        print(f"{name}: {function}: {rounds} rounds", flush=True)
    if name == "address" and not args.part:
        find_leaks(random.Random(args.seed))
        print(f"{name}: no leaks", flush=True)


if __name__ == "__main__":
    main()
