"""Cases: positions with turns that were rolled out, to see what the choices of an engine are worth there.

A *case* is a position at the start of a turn, some turns, and *rollouts* of each: games from there on by a quick
player. An engine's choice is worth the mean result of its turn, and what it lacks to the best turn is its *regret*.
Regrets show where an engine errs in a game. They do not order networks: two that a match tells apart easily differ by
less than the noise of hundreds of cases, and rollouts by weak play prefer what scores at once.

* Half of the positions lie on the path of play of equal engines, half after one or two odd turns.
* The rollouts of all turns of a position have common seeds: rollout i draws what the seat does not see, random events
  and the searches' randomness from the same numbers for each turn. So differences between turns have less noise.
* A small search, or greedy turns, play the rollouts. All rollouts are evaluated after `depth` turns (the *outlook*:
  little noise, but it does not know what the evaluation does not know); the first `finished` of them go on to the end
  of the game (the *outcome*). `estimates` joins the two.
* Turns are compared within the rollouts of one *player*, a search with its weights. The first turn of a position, the
  choice of a larger search, is its *anchor*: each player rolls it out, and values are differences to it.
* The mean of the best of several noisy means is too high. So the best turn is chosen by half of the rollouts and valued
  by the other half, and the other way round (`best`). It is one of the turns that `make` made, so that regrets of the
  same cases have the same zero, whatever has been measured with them before.

Main functions: `make` (a file of cases), `read`, `choose` (of engines), `advantages`, `best`.

Sources: Heled, GNU Backgammon training notes (choices against rollouts of the best moves, truncated rollouts); Giles,
"Multilevel Monte Carlo path simulation" (2008), for the sum of many short and few long rollouts.
"""

import dataclasses
import json
import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cext.core.baselines import simple
from cext.core.contract.game import CHANCE, State
from cext.core.learning.weights import Weights
from cext.core.search.search import Search
from mexica_ai.analysis.search import weights_for
from mexica_ai.engines import make_engine
from mexica_ai.game import registry
from mexica_ai.game.position import Position, new_game
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.io.errors import NotationError
from mexica_ai.io.files import lines_of, replace
from mexica_ai.io.strict import check_shape, parse_json
from mexica_ai.train.job_file import Series, complete

PHASES = ("early", "middle", "late")  # thirds of a game's turns
KINDS = ("outcome", "outlook")  # see `estimates`
MEASURES = ("share", "points")  # of the win; of the margin to the best rival
# Of the search that plays the rollouts. Without noise, rollouts of games with few random events would all be alike.
ROLLOUT_OPTIONS = {"playout_weight": 0.0, "prior_noise": 0.5}
UNDECIDED = 0.03  # least share of the win that the seat expects and lacks: where the game is decided, nothing is learnt
ODD_TURNS = (1, 2)  # odd turns before a position off the path
ODD_CANDIDATES = 12  # number of candidates from which an odd turn is drawn
MAX_CANDIDATES = 64  # of the larger search


@dataclass(frozen=True)
class Sizes:
    """How cases are made. With the same sizes, seed, weights and build they are the same.

    Attributes
    ----------
    players : int
        Seats of the games.
    play : int
        Iterations of a turn in the games that lead to the positions.
    search : int
        Iterations of the larger search.
    top, below, odd : int
        How many turns are rolled out: the most visited of the larger search, others that it considered, random ones.
    iterations : int
        Of a turn in the rollouts; 0: greedy turns, where they play better.
    depth : int
        Turns of a rollout before its outlook.
    rollouts, finished : int
        Rollouts of a turn, and how many of them go on to the end of the game.
    dealt : int
        1: each rollout deals what the seat does not see; 0: the seats hold what they hold.
    pooled : int
        1: the case keeps two pairs for a turn, the means of its even and of its odd rollouts, and not one for each.
        Needs all rollouts `finished`: the mean of some outcomes belongs to no mean of the outlooks.
    """

    players: int = 2
    play: int = 32
    search: int = 2000
    top: int = 5
    below: int = 1
    odd: int = 1
    iterations: int = 16
    depth: int = 8
    rollouts: int = 16
    finished: int = 4
    dealt: int = 1
    pooled: int = 0


_SHAPE = {
    "game": str,
    "case": {"seed": int, "number": int, "weights": str} | {field.name: int for field in dataclasses.fields(Sizes)},
    "phase": int,
    "odd_turns": int,
    "turns": int,
    "position": str,
    "rollouts": [
        {
            "player": str,
            "turns": [{"turn": str, "outlook": [[float]], "outcome": [[float]]}],
        }
    ],
}


def player_name(iterations: int, weights: Weights) -> str:
    """Return the name of what plays rollouts: its search and its weights."""
    options = "".join(f",{name}={value:g}" for name, value in ROLLOUT_OPTIONS.items())
    search = f"mcts,iterations={iterations}{options}" if iterations else "greedy"
    return f"{search},weights={weights.version}"


# --- one case


def make_case(game: str, seed: int, number: int, sizes: Sizes, weights: Weights | None = None) -> dict[str, Any]:
    """Make one case and roll out its turns.

    Parameters
    ----------
    game : str
        One that has weights.
    seed, number : int
        Everything random derives from these two. Numbers of the same rest by 6 are of the same phase and kind.
    sizes : Sizes
    weights : Weights, optional
        By default those that ship.

    Returns
    -------
    dict
        A JSON object: `game`; `case` (seed, number, weights, sizes); `phase` (index in `PHASES`); `odd_turns` that
        were played before; `turns`, how many were made with the case, the first of the first player; `position`,
        compact; `rollouts`, a list of one: the name of its `player` and `turns`, the anchor first. Each has its
        `turn`, `outlook` and `outcome`: a pair for each rollout, share of the win and margin of the seat.
    """
    weights = weights_for(game, weights)
    random_ = random.Random(f"{seed}/{number}")
    num_odd, phase = (number % 2) and random_.choice(ODD_TURNS), number // 2 % len(PHASES)
    while True:
        state = _starting_state(game, random_, sizes, weights, phase, num_odd)
        if state is None:
            continue
        candidates = search(state, sizes.search, random_.getrandbits(63), weights).result(MAX_CANDIDATES)["candidates"]
        if not UNDECIDED <= candidates[0]["value"][state.current_player] <= 1 - UNDECIDED:
            continue
        found = [candidate["actions"] for candidate in candidates]
        others = found[sizes.top :]
        chosen = found[: sizes.top] + random_.sample(others, min(sizes.below, len(others)))
        chosen += [simple.random_turn(state, random_.getrandbits(63)) for _ in range(sizes.odd)]
        turns = {}
        for actions in chosen:
            turns.setdefault(after(state, actions).hash, actions)
        if len(turns) > 1:
            break
    return new_case(state, turns.values(), seed, number, sizes, weights, phase, num_odd)


def new_case(
    state: State,
    turns: Iterable[Sequence[int]],
    seed: int,
    number: int,
    sizes: Sizes,
    weights: Weights,
    phase: int = len(PHASES) - 1,
    odd_turns: int = 0,
) -> dict[str, Any]:
    """Return a case with rollouts of its turns."""
    game = state.game.name
    format_action = registry.get(game).text.format_action
    texts = [TURN_SEPARATOR.join(map(format_action, actions)) for actions in turns]
    made = {"seed": seed, "number": number, "weights": weights.version}
    case = {
        "game": game,
        "case": made | dataclasses.asdict(sizes),
        "phase": phase,
        "odd_turns": odd_turns,
        "turns": len(texts),
        "position": Position(game, state).to_compact(),
        "rollouts": [],
    }
    return _with_rollouts(case, texts, weights)


def _starting_state(
    game: str, random_: random.Random, sizes: Sizes, weights: Weights, phase: int, num_odd: int
) -> State | None:
    """Play a game, and return a state of it after odd turns; None if these end the game."""
    state = new_game(game, players=sizes.players, seed=random_.getrandbits(63)).state.copy()
    before = []  # each turn
    while not state.is_terminal:
        if state.current_player == CHANCE:
            state.resolve_chance(random_.getrandbits(63))
            continue
        before.append(state.copy())
        _play(state, sizes.play, random_, weights)
    low, high = (len(before) * third // len(PHASES) for third in (phase, phase + 1))
    if low == high:
        return None
    state = before[random_.randrange(low, high)]
    for _ in range(num_odd):
        if state.is_terminal:
            return None
        if random_.random() < 0.5:
            actions = simple.random_turn(state, random_.getrandbits(63))
        else:
            found = search(state, 2 * sizes.play, random_.getrandbits(63), weights).result(ODD_CANDIDATES)
            actions = random_.choice(found["candidates"])["actions"]
        state = after(state, actions)
        while state.current_player == CHANCE:
            state.resolve_chance(random_.getrandbits(63))
    return None if state.is_terminal else state


def search(state: State, iterations: int, seed: int, weights: Weights, **options: float) -> Search:
    """Return a finished search, with no more memory than it needs: reserving much takes longer than a small search."""
    run = Search(state, weights=weights, memory_mb=1 + iterations / 25, seed=seed, **options)
    run.run(iterations=iterations)
    return run


def _play(state: State, iterations: int, random_: random.Random, weights: Weights, **options: float) -> None:
    """Play a turn of a search, in place."""
    result = search(state, iterations, random_.getrandbits(63), weights, **options).result(1)
    for action in result["candidates"][0]["actions"]:
        state.apply(action)


def _play_greedily(state: State, random_: random.Random, weights: Weights) -> None:
    """Play a turn of `simple.greedy_turn`, in place."""
    seen = state.copy()
    seen.determinize(state.current_player, random_.getrandbits(63))  # it must not use what the seat cannot know
    for action in simple.greedy_turn(seen, weights=weights):
        state.apply(action)


def after(state: State, actions: Sequence[int]) -> State:
    """Return the state after actions."""
    state = state.copy()
    for action in actions:
        state.apply(action)
    return state


def _parsed(game: str, turn: str) -> list[int]:
    parse_action = registry.get(game).text.parse_action
    return [parse_action(text) for text in turn.split(TURN_SEPARATOR)]


# --- rollouts


def roll_out(
    state: State, actions: Sequence[int], seeds: Iterable[str], sizes: Sizes, weights: Weights
) -> tuple[list[list[float]], list[list[float]]]:
    """Roll out a turn of a state, once for each seed; return the outlooks and outcomes."""
    seat, outlooks, outcomes = state.current_player, [], []
    for index, seed in enumerate(seeds):
        random_ = random.Random(seed)
        now = state.copy()
        if sizes.dealt:
            now.determinize(seat, random_.getrandbits(63))
        for action in actions:
            now.apply(action)
        end, outlook = now.turn + sizes.depth, None
        while not now.is_terminal:
            if now.current_player == CHANCE:
                now.resolve_chance(random_.getrandbits(63))
                continue
            if outlook is None and now.turn >= end:
                outlook = _judged(now, seat, weights)
                if index >= sizes.finished:
                    break
            if sizes.iterations:
                _play(now, sizes.iterations, random_, weights, **ROLLOUT_OPTIONS)
            else:
                _play_greedily(now, random_, weights)
        outlooks.append(outlook or _judged(now, seat, weights))
        if index < sizes.finished:
            outcomes.append(_judged(now, seat, weights))
    return outlooks, outcomes


def _pooled(pairs: list[list[float]]) -> list[list[float]]:
    """Return the mean of the even pairs and that of the odd ones, of an even number of them."""
    return np.reshape(pairs, (-1, 2, len(MEASURES))).mean(axis=0).round(5).tolist()


def _judged(state: State, seat: int, weights: Weights) -> list[float]:
    """Return a seat's share of the win and its margin by the evaluation, exact at the end of the game."""
    value, scores = simple.evaluate(state, weights=weights)
    rivals = scores[:seat] + scores[seat + 1 :]
    return [round(value[seat], 4), round(scores[seat] - max(rivals), 2)]


def _with_rollouts(case: dict[str, Any], turns: Iterable[str], weights: Weights) -> dict[str, Any]:
    """Return a case with rollouts of more turns, played with these weights."""
    game, made = case["game"], case["case"]
    sizes = Sizes(**{field.name: made[field.name] for field in dataclasses.fields(Sizes)})
    state = Position.from_compact(case["position"]).state
    seeds = [f"{made['seed']}/{made['number']}/{index}" for index in range(sizes.rollouts)]
    rolled_out = []
    for turn in turns:
        outlooks, outcomes = roll_out(state, _parsed(game, turn), seeds, sizes, weights)
        if sizes.pooled:
            outlooks, outcomes = _pooled(outlooks), _pooled(outcomes)
        rolled_out.append({"turn": turn, "outlook": outlooks, "outcome": outcomes})
    name = player_name(sizes.iterations, weights)
    players = {each["player"]: each["turns"] for each in case["rollouts"]}
    players[name] = players.get(name, []) + rolled_out
    return case | {"rollouts": [{"player": name, "turns": turns} for name, turns in players.items()]}


# --- files


def make(
    path: Path,
    executor: Executor,
    *,
    game: str,
    positions: int,
    sizes: Sizes,
    seed: int,
    weights: Weights | None = None,
    concurrency: int = 1,
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Make cases until a file holds those with the numbers 0 to `positions` - 1 of this seed and these sizes.

    A file that a stopped run left is continued. Parameters and errors: `make_case`, `job_file.complete`.
    """
    weights = weights_for(game, weights)
    series = Series(
        game=game,
        weights=weights,
        noun="cases",
        key="case",
        number="number",
        settings={"seed": seed, **dataclasses.asdict(sizes)},
        advice="another file or another seed",
    )
    complete(
        path,
        series,
        positions,
        lambda number: partial(make_case, game, seed, number, sizes, weights),
        executor,
        concurrency=concurrency,
        on_progress=on_progress,
    )


def read(path: Path, game: str) -> list[dict[str, Any]]:
    """Read a file of cases in the order of their seeds and numbers.

    Raises
    ------
    NotationError
        The file cannot be read (reason UNREADABLE_FILE) or holds something else.
    """
    found = []
    for place, line in enumerate(lines_of(path), 1):
        where = f"{path}:{place}"
        case = parse_json(line, where)
        check_shape(case, _SHAPE, where)
        if case["game"] != game:
            problem = f'{where}.game: given "{case["game"]}"; expected "{game}"'
            raise NotationError(problem, reason="GAME_MISMATCH", path=f"{where}.game")
        if not case["rollouts"] or not case["rollouts"][0]["turns"]:
            raise NotationError(f"{where}: no rollouts; expected some", reason="BAD_VALUE", path=where)
        made = len(case["rollouts"][0]["turns"])
        if not 1 <= case["turns"] <= made:
            problem = f"{where}.turns: given {case['turns']}; expected 1 to {made}, those of the first player"
            raise NotationError(problem, reason="BAD_VALUE", path=f"{where}.turns")
        found.append(case)
    if not found:
        raise NotationError(f"{path}: no cases; expected at least one", reason="BAD_VALUE", path=str(path))
    return sorted(found, key=lambda case: (case["case"]["seed"], case["case"]["number"]))


def write(path: Path, cases: Iterable[dict[str, Any]]) -> None:
    """Write a file of cases."""
    replace(str(path), "".join(json.dumps(case) + "\n" for case in cases))


# --- choices


def key_of(case: dict[str, Any], turn: str) -> int:
    """Return what is equal for turns that lead to the same position."""
    state = Position.from_compact(case["position"]).state
    return after(state, _parsed(case["game"], turn)).hash


def anchor(case: dict[str, Any]) -> str:
    """Return the choice of the larger search."""
    return case["rollouts"][0]["turns"][0]["turn"]


def choose(
    case: dict[str, Any], engines: Sequence[tuple[str, dict[str, Any]]], weights: Weights | None = None
) -> tuple[dict[str, Any], list[str], list[float]]:
    """Let engines choose a turn, and roll out those choices that nobody has rolled out.

    Parameters
    ----------
    case : dict
    engines : sequence of (str, dict)
        For each its spec and defaults, see `mexica_ai.engines.make_engine`.
    weights : Weights, optional
        The weights of new rollouts, with the seeds of the others; by default those that ship. If they have not
        played rollouts of this case yet, they play its anchor as well.

    Returns
    -------
    tuple of (dict, list of str, list of float)
        The case with all rollouts, the choices, and the share of the win that each engine forecasts for the seat.
    """
    position, made = Position.from_compact(case["position"]), case["case"]
    seen = position.view(position.state.current_player)
    seed, choices = random.Random(f"{made['seed']}/{made['number']}").getrandbits(63), []
    forecasts = []
    for spec, defaults in engines:
        with make_engine(spec, **defaults) as engine:
            result = engine.best_turn(seen, seed=seed, candidates=1)
        choices.append(TURN_SEPARATOR.join(result.turn))
        forecasts.append(result.value[position.to_move] if result.value else np.nan)
    return _completed(case, choices, weights_for(case["game"], weights)), choices, forecasts


def _completed(case: dict[str, Any], turns: Iterable[str], weights: Weights) -> dict[str, Any]:
    """Return a case with rollouts of those of some turns that nobody has rolled out."""
    known = {key_of(case, rolled["turn"]) for each in case["rollouts"] for rolled in each["turns"]}
    missing = {}
    for turn in turns:
        if (key := key_of(case, turn)) not in known:
            missing[key] = turn
    if not missing:
        return case
    name = player_name(case["case"]["iterations"], weights)
    is_new = all(each["player"] != name for each in case["rollouts"])
    return _with_rollouts(case, [anchor(case)] * is_new + list(missing.values()), weights)


def estimates(rolled: dict[str, Any], part: slice = slice(None)) -> np.ndarray:
    """Return estimates of a turn's value by a part of its rollouts.

    Returns
    -------
    array
        Of shape (2, 2). First row: expected share of the win and margin without bias, the mean outlook of all rollouts
        plus the mean change from outlook to outcome of the finished ones. Second row: the mean outlook alone.
    """
    outlook, outcome = np.array(rolled["outlook"], float), np.array(rolled["outcome"], float)
    change = outcome - outlook[: len(outcome)]
    mean = outlook[part].mean(axis=0)
    return np.array([mean + change[part].mean(axis=0), mean])


def share_of(case: dict[str, Any], turn: str) -> float:
    """Return the share of the win that the finished rollouts of a turn, of any player, had on average."""
    key = key_of(case, turn)
    rolled = next(each for part in case["rollouts"] for each in part["turns"] if key_of(case, each["turn"]) == key)
    return float(np.mean(rolled["outcome"], axis=0)[0])


def advantages(case: dict[str, Any]) -> dict[int, np.ndarray]:
    """Return how much better each turn is than the anchor, as `estimates`, by its key (`key_of`).

    A turn that several players rolled out has the value of the first one.
    """
    found: dict[int, np.ndarray] = {}
    for each in case["rollouts"]:
        base = estimates(each["turns"][0])
        for rolled in each["turns"]:
            found.setdefault(key_of(case, rolled["turn"]), estimates(rolled) - base)
    return found


def best(case: dict[str, Any]) -> np.ndarray:
    """Return how much better the best turn that was made with the case is than the anchor, as `estimates`.

    Turns that engines chose later do not count, or the regrets of engines would depend on those measured with them.
    The outlook of one half of the rollouts chooses it and the other half values it, both ways. It is too low, if
    anything: what half of the rollouts think best may not be.
    """
    turns = case["rollouts"][0]["turns"][: case["turns"]]
    halves = (slice(0, None, 2), slice(1, None, 2))
    values = np.array([[estimates(rolled, half) for half in halves] for rolled in turns])  # turn, half, kind, measure
    values -= values[0]
    chosen = values[:, :, 1, :].argmax(axis=0)  # half, measure
    columns = np.arange(len(MEASURES))
    both = [values[chosen[1 - half], half][columns, :, columns].T for half in (0, 1)]
    return np.mean(both, axis=0)
