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
from fuzz import accepted_positions
from fuzz.material import GAMES, SPACES, look_at, mutate, new_position, scaled, step, walked
from pure_nim import Nim
from weighed import Beam, Search, greedy_turn

import mexica_ai as ai
from cext.core.baselines.simple import random_turn
from cext.core.baselines.uct import UCT
from cext.core.contract import game as core_game
from cext.core.contract.errors import MexicaAIError
from cext.core.contract.game import CHANCE
from cext.core.contract.perft import divide, perft
from cext.core.contract.playout import random_playout, random_playouts
from cext.core.search.options import OPTIONS
from mexica_ai import pure
from mexica_ai.game import registry
from test_games.trick.ops import deal

# Bytes by which a hundred rounds of the same work may grow: caches of the interpreter.
LEAK_ROUNDS, LEAK_BYTES = 100, 16_384
ACCEPTED = 50  # positions of a round
PARTS = {}
THREADED = (
    "searches",
    "searches_that_go_on",
    "collected_searches",
    "full_memory",
    "baselines",
    "answers",
    "weights",
)  # what the thread sanitizer looks at


def part(function):
    PARTS[function.__name__] = function
    return function


# Material


def trick_state(rng):
    """Return a deal of the game of hidden hands: the actions differ by world there."""
    cards = rng.sample(range(16), rng.randint(6, 12))
    players = rng.randint(2, 4)
    size = rng.randint(1, len(cards) // players)
    hands = [cards[size * seat : size * (seat + 1)] for seat in range(players)]
    return deal(hands, cards[size * players :])


def searched_state(rng):
    return trick_state(rng) if rng.random() < 0.2 else walked(rng).state


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
def searches_that_go_on(rng):
    """Searches along a game, each after the one before, also of a seat that waits; stopped and short of memory."""
    state, before = searched_state(rng), None
    for _ in range(6):
        if state.is_terminal:
            break
        if state.current_player == CHANCE and (before is None or rng.random() < 0.5):
            step(state, rng)
            continue
        waits = state.current_player == CHANCE or rng.random() < 0.3
        more = {"viewer": rng.randrange(state.num_players)} if waits else {}
        search = Search(
            state,
            threads=rng.choice((1, 2, 3)),
            memory_mb=rng.choice((1, 2, 16)),
            seed=rng.getrandbits(40),
            after=before,
            **more,
        )
        search.start(iterations=rng.choice((1, 300, 3000)))
        if rng.random() < 0.3:
            search.stop()
        search.wait()
        search.check_visits()
        if waits:
            step(state, rng)
        else:
            for action in search.result(7)["candidates"][0]["actions"]:
                state.apply(action)
        before = search


@part
def searches(rng):
    """Searches with one to three threads, by any limit, stopped and read in the middle."""
    state = searched_state(rng)
    threads = rng.choice((1, 2, 2, 3))
    memory_mb = rng.choice((1, 1, 2, 16))
    search = Search(state, threads=threads, memory_mb=memory_mb, seed=rng.getrandbits(40), **odd_options(rng))
    kind = rng.choice(("iterations", "time", "late", "watched", "watched", "awaited", "stopped", "unused"))
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
    elif kind == "awaited":
        search.start(iterations=rng.choice((1, 2000)))
        while not search.wait(0.001):
            search.result(5)
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
def collected_searches(rng):
    """Searches whose threads run while the garbage collector takes the cycle that holds them."""
    search = Search(searched_state(rng), threads=rng.choice((1, 2)), memory_mb=4, seed=rng.getrandbits(40))
    search.start(time_s=60)
    cycle = [search]
    cycle.append(cycle)
    del search, cycle
    gc.collect()


class Collecting(Nim):
    """Nim, a method of which runs the garbage collector when it is told to."""

    told = threading.Event()

    def legal_actions(self, state):
        if self.told.is_set():
            self.told.clear()
            gc.collect()
        return super().legal_actions(state)


COLLECTING = pure.game(Collecting())


@part
def searches_collected_in_their_threads(rng):
    """Searches one of whose threads is in the garbage collector when it takes the cycle that holds them."""
    state = COLLECTING.starts.new_state(2, 1, piles=[60] * 8)
    cycle = [Search(state, threads=rng.choice((1, 2)), memory_mb=64, seed=rng.getrandbits(40))]
    cycle.append(cycle)
    gc.disable()
    try:
        cycle[0].start(time_s=60)
        del cycle
        Collecting.told.set()
        while Collecting.told.is_set():
            time.sleep(0.001)
    finally:
        gc.enable()


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
    game = rng.choice([name for name in registry.names() if registry.get(name).learning.weights])
    spec = registry.get(game).learning.weights
    usual = registry.get(game).weights().arrays()
    name = rng.choice(sorted(usual))
    for bad in (usual[name][:-1], usual[name] * float("nan"), usual[name].ravel()[:1], np.zeros(())):
        with contextlib.suppress(ValueError):
            spec.make(usual | {name: bad})
    state = walked(rng, game).state
    odd = scaled(game, {name: odd_factor(rng) for name in usual})
    search = Search(state, threads=2, memory_mb=1, weights=odd, **odd_options(rng))
    beam = Beam(state, width=3, memory_mb=1, weights=odd)
    gc.collect()
    search.run(iterations=200)
    beam.run(iterations=10)
    for candidate in search.result(10)["candidates"] + beam.result(1)["candidates"]:
        assert np.isfinite(candidate["value"] + candidate["expected_scores"]).all()
    greedy_turn(state, weights=odd)
    look_at(state)


def odd_factor(rng):
    """Return a factor of weights, often one that leaves nothing of the numbers."""
    return rng.choice((1e4, 1e4, -1.0, 0.0, 1e-30, 1e-45, 1e3, 1e15, 1e30, 1e38, -1e38)) * rng.choice((1, rng.random()))


@part
def accepted(rng):
    """Positions that validation accepts although play need not lead there, see `tests/fuzz/accepted_positions.py`."""
    game = rng.choice(GAMES)
    found = 0
    while found < ACCEPTED:
        for position in accepted_positions.accepted(rng, game):
            accepted_positions.exercise(position, rng)
            found += 1


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
