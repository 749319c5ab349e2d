"""Measures this package beside OpenSpiel, pgx and Catanatron, and writes the tables of docs/compared.md.

    python benchmarks/compared.py [--others /tmp/others/bin/python] [--seconds 1] [--repeats 3] [--games 48]
                                  [--write docs/compared.md]

Needs open_spiel (extra `spiel`). pgx and Catanatron are measured by the Python of `--others`, an environment with
`pip install pgx catanatron`; without one they are left out. All figures are by a second of processor time, of all
threads; pgx's are with the wall time, since its compiler may use other threads. Each repeat measures every row once,
and the tables have the medians.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

BATCH = 256  # games stepped together
HERE = Path(__file__)
BEGIN, END = "<!-- compared -->", "<!-- /compared -->"
EXPLORATION = 1.4  # of OpenSpiel's MCTS


def timed(step, seconds):
    """Call `step`, which returns a count, for some seconds of processor time; return the count a second."""
    count, began = 0, time.process_time()
    while (taken_s := time.process_time() - began) < seconds:
        count += step()
    return count / taken_s


# --- random players


def vector_row(game):
    """Return the measurement of many games of this package, with lists, masks and observations."""
    import numpy as np

    from mexica_ai import env

    rng = np.random.default_rng(1)
    games = env.vector(game, BATCH, seed=1, masks=True, observations=True)

    def step():
        games.step(rng.integers(games.num_legal))
        return BATCH

    return step


def spiel_row(name, with_tensor):
    """Return the measurement of random games of OpenSpiel by its Python interface."""
    import numpy as np
    import pyspiel
    from open_spiel.python.games import tic_tac_toe  # noqa: F401  # registers it

    rng = np.random.default_rng(1)
    game = pyspiel.load_game(name)

    def play():
        state, decisions = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, odds = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(int(rng.choice(outcomes, p=odds)))
                continue
            legal = state.legal_actions()
            if with_tensor:
                state.observation_tensor()
            state.apply_action(legal[int(rng.random() * len(legal))])
            decisions += 1
        return decisions

    return play


def pgx_row(name):
    """Return the measurement of many games of pgx, compiled by jax for this processor."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make(name)
    start = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(1), BATCH))

    @jax.jit
    def advance(state, key):
        chosen, stepped = jax.random.split(key)
        logits = jnp.where(state.legal_action_mask, 0.0, -1e9)
        actions = jax.random.categorical(chosen, logits)
        return jax.vmap(auto_reset(env.step, env.init))(state, actions, jax.random.split(stepped, BATCH))

    held = {"state": start, "key": jax.random.PRNGKey(2)}

    def step():
        held["key"], key = jax.random.split(held["key"])
        held["state"] = advance(held["state"], key)
        held["state"].observation.block_until_ready()
        return BATCH

    step()  # compiles
    return step


def catanatron_row():
    """Return the measurement of games of two random players of Catanatron."""
    from catanatron import Color, Game, RandomPlayer

    def play():
        game = Game([RandomPlayer(Color.RED), RandomPlayer(Color.BLUE)])
        game.play()
        return len(game.state.actions)

    return play


OWN = {
    **{
        f"this package, `env.vector`, {game}: lists, masks, observations": lambda game=game: vector_row(game)
        for game in ("nim", "coatl", "tzolkin", "mexica")
    },
    **{
        f"OpenSpiel, C++ {name} by Python{', observations' * tensor}": lambda n=name, t=tensor: spiel_row(n, t)
        for name in ("nim", "backgammon", "gin_rummy", "chess")
        for tensor in (False, True)
        if not (tensor and name == "nim")
    },
    "OpenSpiel, Python tic-tac-toe": lambda: spiel_row("python_tic_tac_toe", False),
    "OpenSpiel, nim of this package": lambda: spiel_row("mexica_ai(game=nim)", False),
}
OTHERS = {
    **{
        f"pgx, {name}, jit and vmap: masks, observations": lambda name=name: pgx_row(name)
        for name in ("connect_four", "backgammon")
    },
    "Catanatron, two random players": catanatron_row,
}


def speeds(rows, seconds, repeats):
    """Return the median of each row; "missing PACKAGE" for one whose package is not installed."""
    steps, found = {}, {}
    for name, make in rows.items():
        try:
            steps[name] = make()
        except ModuleNotFoundError as error:
            found[name] = f"missing {error.name}"
    measured = {name: [] for name in steps}
    for _ in range(repeats):
        for name, step in steps.items():
            measured[name].append(timed(step, seconds))
    return found | {name: round(statistics.median(values)) for name, values in measured.items()}


# --- searches on nim


def piles_of(games, rng):
    """Return random piles, each twice: once for each seat of the first engine."""
    drawn = [sorted(rng.integers(3, 24, 5).tolist()) for _ in range(games // 2)]
    return [piles for piles in drawn for _ in range(2)]


def spiel_bot(game, iterations, seed):
    """Return OpenSpiel's C++ search with random rollouts."""
    import pyspiel

    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.MCTSBot(game, evaluator, EXPLORATION, iterations, 1000, True, seed, False)


def play_nim(piles, ours, seat, iterations, seed):
    """Play a game of an engine of ours against OpenSpiel's search; return the winner's seat and both times."""
    import pyspiel

    import mexica_ai as ai

    text = ";".join(map(str, piles))
    game = pyspiel.load_game(f"nim(pile_sizes={text},is_misere=false)")
    state, bot = game.new_initial_state(), spiel_bot(game, iterations, seed)
    position = ai.new_game("nim", piles=piles)
    spent = [0.0, 0.0]  # ours, theirs
    while not position.is_over:
        mover = position.to_move
        began = time.process_time()
        if mover == seat:
            (action,) = ours.best_turn(position, ai.Limits(iterations=iterations, memory_mb=64), seed=seed).turn
            spent[0] += time.process_time() - began
            _, count, pile = action.split()
            texts = {state.action_to_string(mover, number): number for number in state.legal_actions()}
            state.apply_action(texts[f"pile:{pile}, take:{count};"])
            position.push([action])
        else:
            number = bot.step(state)
            spent[1] += time.process_time() - began
            pile, count = (part.split(":")[1] for part in state.action_to_string(mover, number).rstrip(";").split(","))
            state.apply_action(number)
            position.push([f"take {count} {pile}"])
    return position.winners[0], spent


def matches(games, iterations):
    """Return, for each engine of ours, games won of how many, with a 95 % interval, and the times of both."""
    import numpy as np

    from mexica_ai.engines import make_engine

    found = {}
    for name in ("mcts", "uct"):
        won, ours_s, theirs_s = 0, 0.0, 0.0
        with make_engine(name) as ours:
            for number, piles in enumerate(piles_of(games, np.random.default_rng(7))):
                seat = number % 2
                winner, spent = play_nim(piles, ours, seat, iterations, number + 1)
                won += winner == seat
                ours_s, theirs_s = ours_s + spent[0], theirs_s + spent[1]
        low, high = interval(won, games)
        found[name] = {"won": won, "games": games, "low": low, "high": high, "ours_s": ours_s, "theirs_s": theirs_s}
    return found


def interval(won, games):
    """Return Wilson's 95 % interval of a share, as percentages."""
    share, z = won / games, 1.96
    middle = (share + z * z / (2 * games)) / (1 + z * z / games)
    half = z * (share * (1 - share) / games + z * z / (4 * games * games)) ** 0.5 / (1 + z * z / games)
    return round(100 * (middle - half)), round(100 * (middle + half))


def rates(iterations, repeats):
    """Return iterations by a second of processor time from one position of nim."""
    import pyspiel

    import mexica_ai as ai
    from mexica_ai.engines import make_engine

    piles = [7, 11, 15, 19, 23]
    position = ai.new_game("nim", piles=piles)
    game = pyspiel.load_game(f"nim(pile_sizes={';'.join(map(str, piles))},is_misere=false)")
    state = game.new_initial_state()
    limits = ai.Limits(iterations=iterations, memory_mb=256)

    def ours(name):
        with make_engine(name) as engine:
            return engine.best_turn(position, limits, seed=1).iterations

    def theirs():
        spiel_bot(game, iterations, 1).step(state)
        return iterations

    rows = {"this package, `mcts`": lambda: ours("mcts"), "this package, `uct`": lambda: ours("uct")}
    rows["OpenSpiel, C++ `MCTSBot`"] = theirs
    measured = {name: [] for name in rows}
    for _ in range(repeats):
        for name, run in rows.items():
            measured[name].append(timed(run, 0.01))
    return {name: round(statistics.median(values)) for name, values in measured.items()}


# --- the page


def machine():
    """Return the processor, the load and the versions of a run."""
    sys.path.insert(0, str(HERE.parent))
    from common import describe_machine

    found = describe_machine()
    load = os.getloadavg()[0]
    return f"{found['processor']}, {os.cpu_count()} cores, {found['python']}, load {load:.1f} at the start"


def versions(names):
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def table(heads, rows):
    lines = [f"| {' | '.join(heads)} |", f"| {' | '.join(['---'] * len(heads))} |"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def shown(figure):
    return figure if isinstance(figure, str) else f"{figure:,}"


def page(figures, command):
    """Return the tables as text."""
    fast = sorted(figures["speeds"].items(), key=lambda row: -row[1] if isinstance(row[1], int) else 0)
    names = ", ".join(f"{name} {number}" for name, number in figures["versions"].items())
    matched = [
        [f"`{name}`", f"{row['won']} of {row['games']} ({row['low']} to {row['high']} %)",
         f"{row['ours_s']:.1f} s, {row['theirs_s']:.1f} s"]
        for name, row in figures["matches"].items()
    ]  # fmt: skip
    return "\n".join(
        [
            f"One run of `{command}` on {time.strftime('%Y-%m-%d')}: {figures['machine']}; {names}.",
            "",
            "Random players, decisions by a second of processor time:",
            "",
            table(["", "decisions/s"], [[name, shown(figure)] for name, figure in fast]),
            "",
            f"Nim with five piles of 3 to 23, {figures['iterations']:,} iterations a decision on either side, each set",
            "of piles on both seats, against OpenSpiel's C++ `MCTSBot`",
            f"(`uct_c` {EXPLORATION}, one random rollout, with its solver); neither side has heuristics:",
            "",
            table(["engine of this package", "games won", "processor time, both"], matched),
            "",
            "Iterations by a second of processor time, from one position of nim:",
            "",
            table(["", "iterations/s"], [[name, shown(figure)] for name, figure in figures["rates"].items()]),
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--others", metavar="PYTHON", help="the Python that has pgx and Catanatron")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement, about")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--games", type=int, default=48, help="of each match; an even number")
    parser.add_argument("--iterations", type=int, default=1000, help="of each decision in the matches")
    parser.add_argument("--write", metavar="FILE", help="put the tables between the marks of a page")
    parser.add_argument("--part", action="store_true", help=argparse.SUPPRESS)  # the child of --others
    args = parser.parse_args()
    if args.part:
        print(json.dumps({"speeds": speeds(OTHERS, args.seconds, args.repeats),
                          "versions": versions(["pgx", "jax", "catanatron"])}))  # fmt: skip
        return
    importlib.import_module("mexica_ai.env.openspiel")  # registers the games
    figures = {"machine": machine(), "versions": versions(["mexica-ai", "open_spiel"]), "iterations": args.iterations}
    figures["speeds"] = speeds(OWN, args.seconds, args.repeats)
    if args.others:
        command = [args.others, HERE, "--part", "--seconds", str(args.seconds), "--repeats", str(args.repeats)]
        other = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        figures["speeds"] |= other["speeds"]
        figures["versions"] |= other["versions"]
    figures["matches"] = matches(args.games, args.iterations)
    figures["rates"] = rates(20_000, args.repeats)
    given = " ".join(sys.argv[1:]).replace(str(args.others), "PYTHON")
    text = page(figures, f"python benchmarks/compared.py {given}".strip())
    if not args.write:
        print(text)
        return
    path = Path(args.write)
    before, _, rest = path.read_text().partition(BEGIN)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
