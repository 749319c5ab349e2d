"""Measures the games in OpenSpiel (`mexica_ai.env.openspiel`) beside the same games in pure Python and OpenSpiel's own.

    python benchmarks/bench_spiel.py [--seconds 1] [--repeats 5] [--game nim] [--json]

Decisions of random players, and iterations of OpenSpiel's Python searches, by a second of processor time; medians of
the repeats, which take turns. "nim, pure Python" and "shut the box, pure Python" are below: the same rules, written as
OpenSpiel's own Python games are. Needs open_spiel (extra `spiel`); shutbox only where the example of a game in a
package of its own is installed (examples/plugin_game).
"""

import argparse
import json
import statistics
import time

import numpy as np
import pyspiel
from common import describe_machine, positive
from open_spiel.python.algorithms import ismcts, mcts
from open_spiel.python.games import liars_poker, tic_tac_toe  # noqa: F401  # registers them

from mexica_ai.env.openspiel import SpielGame
from mexica_ai.game import registry

PILES = (3, 4, 5)
TILES = range(1, 10)
ROLLS = [(total, (6 - abs(total - 7)) / 36) for total in range(2, 13)]
PERFECT, STOCHASTIC = pyspiel.GameType.Information.PERFECT_INFORMATION, pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC


def described(name, chance):
    """Return OpenSpiel's type of a game of two in pure Python."""
    return pyspiel.GameType(
        short_name=name, long_name=name, dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL, chance_mode=chance,
        information=PERFECT, utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL, max_num_players=2, min_num_players=2,
        provides_information_state_string=True, provides_information_state_tensor=False,
        provides_observation_string=True, provides_observation_tensor=False, parameter_specification={},
    )  # fmt: skip


class PythonGame(pyspiel.Game):
    """A game in pure Python; `name` and `state` are those of a subclass."""

    def __init__(self, params=None):
        chance = pyspiel.GameType.ChanceMode.DETERMINISTIC if self.name == "nim" else STOCHASTIC
        info = pyspiel.GameInfo(
            num_distinct_actions=64, max_chance_outcomes=16, num_players=2, min_utility=-1.0, max_utility=1.0,
            utility_sum=0.0, max_game_length=64,
        )  # fmt: skip
        super().__init__(described(f"python_{self.name}", chance), info, params or {})

    def new_initial_state(self):
        return self.state(self)

    def make_py_observer(self, iig_obs_type=None, params=None):
        raise NotImplementedError


class NimState(pyspiel.State):
    """Nim; the action that takes n of a pile is 16 times the pile, and n."""

    def __init__(self, game):
        super().__init__(game)
        self.piles = list(PILES)
        self.player = 0

    def current_player(self):
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else self.player

    def is_terminal(self):
        return not any(self.piles)

    def _legal_actions(self, player):
        return [16 * pile + count for pile, size in enumerate(self.piles) for count in range(1, size + 1)]

    def _apply_action(self, action):
        self.piles[action // 16] -= action % 16
        self.player = 1 - self.player

    def _action_to_string(self, player, action):
        return f"take {action // 16 + 1} {action % 16}"

    def returns(self):
        if not self.is_terminal():
            return [0.0, 0.0]
        return [-1.0, 1.0] if self.player == 0 else [1.0, -1.0]

    def __str__(self):
        return f"{self.piles} {self.player}"


class ShutboxState(pyspiel.State):
    """Shut the Box, as examples/plugin_game plays it with two dice."""

    def __init__(self, game):
        super().__init__(game)
        self.open = set(TILES)
        self.points = []
        self.rest, self.below = 0, 10

    def current_player(self):
        if self.is_terminal():
            return pyspiel.PlayerId.TERMINAL
        return len(self.points) if self.rest else pyspiel.PlayerId.CHANCE

    def is_terminal(self):
        return len(self.points) == 2

    def adds_up(self, below, rest):
        """Return whether some open tiles lower than `below` add up to `rest`."""
        sums = {0}
        for tile in self.open:
            if tile < below:
                sums |= {tile + one for one in sums}
        return rest in sums

    def _legal_actions(self, player):
        found = [tile for tile in sorted(self.open) if tile < self.below and tile <= self.rest]
        return [tile for tile in found if self.adds_up(tile, self.rest - tile)] or [0]

    def chance_outcomes(self):
        return list(ROLLS)

    def _apply_action(self, action):
        if not self.rest:
            self.rest = action
            return
        if action:
            self.open.discard(action)
            self.rest -= action
            self.below = action
            if self.rest:
                return
        self.rest, self.below = 0, 10
        if not action or not self.open:
            self.points.append(45 - sum(self.open))
            self.open = set(TILES)

    def _action_to_string(self, player, action):
        return f"shut {action}"

    def returns(self):
        if not self.is_terminal():
            return [0.0, 0.0]
        sign = float(np.sign(self.points[0] - self.points[1]))
        return [sign, -sign]

    def __str__(self):
        return f"{sorted(self.open)} {self.points} {self.rest} {self.below}"


class NimGame(PythonGame):
    name, state = "nim", NimState


class ShutboxGame(PythonGame):
    name, state = "shutbox", ShutboxState


def games(chosen):
    """Return the games to measure, by what the table calls them."""
    found = {"tic-tac-toe, OpenSpiel's Python": pyspiel.load_game("python_tic_tac_toe")}
    found["liar's poker, OpenSpiel's Python"] = pyspiel.load_game("python_liars_poker")
    for name in chosen:
        if name in ("nim", "shutbox"):
            found[f"{name}, pure Python"] = (NimGame if name == "nim" else ShutboxGame)()
        found[f"{name}, this bridge"] = SpielGame({"game": name})
        if found[f"{name}, this bridge"].get_type().chance_mode == STOCHASTIC:
            found[f"{name}, this bridge, chance=0"] = SpielGame({"game": name, "chance": 0})
    return found


def play(game, seconds, rng):
    """Return decisions of random players by a second of processor time; those of chance are not counted."""
    decisions, began = 0, time.process_time()
    while (taken_s := time.process_time() - began) < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, odds = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(int(rng.choice(outcomes, p=odds)) if len(outcomes) > 1 else outcomes[0])
                continue
            legal = state.legal_actions()
            state.apply_action(legal[int(rng.random() * len(legal))])
            decisions += 1
    return decisions / taken_s


def search(game, seconds, rng, kind):
    """Return iterations of a search of OpenSpiel in Python from the first decision, by a second of processor time."""
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    if kind == "mcts":
        bot = mcts.MCTSBot(game, 2.0, 20, evaluator, random_state=rng)
    else:
        bot = ismcts.ISMCTSBot(game, evaluator, 2.0, 20, random_state=rng)
    iterations, began = 0, time.process_time()
    while (taken_s := time.process_time() - began) < seconds:
        bot.step(state)
        iterations += 20
    return iterations / taken_s


def measured(game, seconds, rng):
    """Return the figures of a game; None for a search that cannot play it."""
    kind = game.get_type()
    is_sampled = kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
    can_resample = kind.information != PERFECT and kind.short_name == "mexica_ai"
    return {
        "decisions": play(game, seconds, rng),
        "mcts": None if is_sampled else search(game, seconds, rng, "mcts"),
        "ismcts": search(game, seconds, rng, "ismcts") if can_resample else None,
    }


def measure(chosen, seconds, repeats):
    """Return the medians by game."""
    rng = np.random.RandomState(1)
    rows = {}
    for _ in range(repeats):
        for name, game in games(chosen).items():
            for key, figure in measured(game, seconds, rng).items():
                rows.setdefault(name, {}).setdefault(key, []).append(figure)
    return {
        name: {key: None if found[0] is None else round(statistics.median(found)) for key, found in row.items()}
        for name, row in rows.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", choices=registry.names(), action="append", help="default: all")
    parser.add_argument("--seconds", type=positive(float), default=1.0, help="of each measurement, about")
    parser.add_argument("--repeats", type=positive(int), default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = measure(args.game or registry.names(), args.seconds, args.repeats)
    figures = describe_machine() | {"seconds": args.seconds, "repeats": args.repeats, "rows": rows}
    if args.json:
        print(json.dumps(figures))
        return
    print(f"{figures['processor']}, {figures['python']}, one thread, {time.strftime('%Y-%m-%d')}")
    print(f"by a second of processor time; medians of {args.repeats} x {args.seconds:g} s\n")
    print(f"{'':36}{'decisions':>12}{'mcts it':>12}{'ismcts it':>12}")
    for name, row in rows.items():
        print(f"{name:36}" + "".join(f"{'-' if figure is None else f'{figure:,}':>12}" for figure in row.values()))


if __name__ == "__main__":
    main()
