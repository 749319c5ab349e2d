"""Fits and tests the maps that make published shares of the win true (docs/training.md#published-shares).

    python benchmarks/calibration.py collect --game coatl --data coatl.jsonl [--records games.jsonl.gz] [--scale 1]
    python benchmarks/calibration.py fit --game coatl --data coatl.jsonl
    python benchmarks/calibration.py test --game coatl --data coatl.jsonl [--json]

`collect` plays games of equal engines (`PLAN`) and searches records of other players, and keeps what the searches
found before any map, and who won. The same command goes on where it ended. Games whose number is divisible by 5 are
for `test` alone. `fit` writes the file that ships with the game, for the weights that ship.

`test` prints, for each setting, how often the seat to move won (with more than two seats also the others), by tenths
of its published share; with standard errors by the variance between games. A tenth with 100 decisions passes within
0.05 or two standard errors. The *step* is what the share of the mover gains from the search before the engine's own
turn to an independent search of the position after it, as in `annotate`; it passes within 0.03. The weights are those
of a regression of what the seat to move won on its share by the evaluation alone (the *leaf*, a mean over dealt
worlds) and on what the search adds to that. Exit code 1: something does not pass.
"""

import argparse
import gzip
import json
import random
import shlex
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import positive

import mexica_ai
from cext.core.baselines.simple import evaluate
from mexica_ai.analysis import calibration
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.search import SearchRun, weights_for
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.arena.pool import GamePool
from mexica_ai.game import registry
from mexica_ai.game.position import Position, new_game
from mexica_ai.io import files
from mexica_ai.train.calibration import Decisions, fit, to_json
from mexica_ai.train.job_file import Series, complete

AIM, AIM_ERRORS, AIM_STEP = 0.05, 2.0, 0.03
ENOUGH = 100  # decisions of a tenth that is tested
HELD_OUT = 5  # of the games, each such one is for the test
BATCH = 5  # games of a job
WORLDS = 64  # that a leaf is the mean of, at most


class Setting(NamedTuple):
    """How games are played and searched: all but `part`, `games` is written in each line of the data."""

    part: str
    games: int
    iterations: int
    players: int = 2
    played: int = 0  # iterations of the turns that are played; 0: the search itself
    every: int = 1  # of so many turns one is searched
    source: str = "selfplay"
    seed: int = 1


PLAN = [
    Setting("fit", 1500, 64),
    Setting("fit", 800, 1000),
    Setting("fit", 150, 16_000, played=1000, every=8),
    *(Setting("fit", games, n, players) for n, games in ((64, 400), (1000, 150)) for players in (3, 4)),
    Setting("test", 400, 64),
    Setting("test", 400, 1000),
    Setting("test", 100, 16_000),
    *(Setting("test", games, n, players) for n, games in ((64, 100), (1000, 60)) for players in (3, 4)),
]
OF_RECORDS = [
    *(Setting("fit", games, 1000, players, every=8) for players, games in ((2, 1200), (3, 400), (4, 400))),
    *(Setting("test", games, 1000, players, every=8) for players, games in ((2, 400), (3, 100), (4, 100))),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("collect", "fit", "test"):
        command = commands.add_parser(name)
        command.add_argument("--game", required=True, choices=registry.names())
        command.add_argument("--data", type=Path, required=True, metavar="FILE")
        command.add_argument("--map", type=Path, metavar="FILE", help="(default: the file that ships)")
        if name == "collect":
            command.add_argument("--records", type=Path, metavar="FILE", help="games of other players to search, too")
            command.add_argument("--iterations", type=int, nargs="+", help="only these searches")
            command.add_argument("--players", type=int, nargs="+", help="only games with these numbers of seats")
            command.add_argument("--part", choices=("fit", "test"), help="only this part")
            command.add_argument("--scale", type=positive(float), default=1.0, help="of the numbers of games")
            command.add_argument("--seed", type=int, default=1, help="(default: 1)")
            command.add_argument("--jobs", type=positive(int), default=1, help="processes (default: 1)")
        if name == "test":
            command.add_argument("--json", action="store_true")
    args = parser.parse_args()
    weights = weights_for(args.game, None)
    if weights is None:
        parser.error(f"argument --game: {args.game} has no weights to evaluate with; expected a game that has")
    args.map = args.map or registry.get(args.game).learning.calibration
    if args.map is None and args.command != "collect":
        parser.error(f"argument --map: {args.game} names no file of its maps (Learning.calibration); expected one here")
    if args.command == "collect":
        collect(args, weights)
        return 0
    games = read(args, weights)
    if not games:
        parser.error(f"argument --data: {args.data} has no games of this part by weights {weights.version}")
    if args.command == "fit":
        return fit_maps(args, weights, games)
    fitted, _ = calibration.read(args.map)
    if fitted != weights.version:
        parser.error(f"argument --map: {args.map} was fitted with weights {fitted}; expected {weights.version}")
    return test(args, games)


def collect(args, weights):
    """Play and search the games of the plan that the data lack."""
    settings = list(PLAN)
    if args.records:
        settings += [one._replace(source=args.records.name) for one in OF_RECORDS]
    with GamePool() as pool:
        for setting in settings:
            if (
                (args.iterations and setting.iterations not in args.iterations)
                or (args.players and setting.players not in args.players)
                or args.part not in (None, setting.part)
            ):
                continue
            count = max(1, round(setting.games * args.scale / BATCH))
            batches = batches_of(args, setting, count)
            print(f"{args.game}, {describe(setting)}: {len(batches) * BATCH} games", file=sys.stderr, flush=True)
            made = setting._replace(seed=args.seed)._asdict()
            del made["games"]
            series = Series(args.game, weights, "games", "made", "batch", made, "another file")

            def job(index, made=made, batches=batches):
                return partial(play, args.game, weights, made, index, batches[index])

            complete(args.data, series, len(batches), job, pool, concurrency=args.jobs)


def batches_of(args, setting, count):
    """Return the numbers of the games of each batch, or (number, record) of games that others played."""
    if setting.source == "selfplay":
        found = [number for number in range(2 * HELD_OUT * BATCH * count) if part_of(number) == setting.part]
    else:
        opened = gzip.open if args.records.suffix == ".gz" else open
        with opened(args.records, "rt") as file:
            numbered = enumerate(map(json.loads, file))
            found = [
                (number, record)
                for number, record in numbered
                if part_of(number) == setting.part and record["start"]["players"] == setting.players
            ]
    batches = [found[i : i + BATCH] for i in range(0, len(found) - BATCH + 1, BATCH)]
    return batches[:count]


def part_of(number):
    return "fit" if number % HELD_OUT else "test"


def play(game, weights, made, index, batch):
    """Play or go through the games of a batch and return the searches of each, and its end."""
    go = selfplay if made["source"] == "selfplay" else replay
    games = [go(game, weights, made, one) for one in batch]
    return {"game": game, "made": made | {"batch": index, "weights": weights.version}, "games": games}


def selfplay(game, weights, made, number):
    random_ = random.Random(f"{made['seed']}/{made['iterations']}/{made['players']}/{number}")
    position = new_game(game, players=made["players"], seed=random_.getrandbits(63))
    searched, turn = [], random_.randrange(made["every"])
    while not position.is_over:
        if position.is_chance:
            position.draw(random_.getrandbits(63))
            continue
        if made["every"] == 1:
            choice, entry = search(position, weights, made["iterations"], random_)
            searched.append(entry)
        else:
            if turn % made["every"] == 0:
                searched.append(step(position, weights, made["iterations"], random_, is_tested=made["part"] == "test"))
            choice, _ = search(position, weights, made["played"], random_)
        turn += 1
        position.push(choice)
    if made["every"] == 1:
        for entry, after in pairwise(searched):
            entry["after"] = {key: after[key] for key in ("seat", "facts", "value", "exact")}
        searched[-1]["after"] = position.state.returns()
    return {"number": number, "searched": searched, "won": position.state.returns()}


def replay(game, weights, made, numbered):
    number, record = numbered
    random_ = random.Random(f"{made['seed']}/{made['iterations']}/{number}")
    position = Position.from_json(record["start"])
    searched, turn = [], random_.randrange(made["every"])
    for played in record["turns"]:
        if not position.is_chance:
            if turn % made["every"] == 0:
                searched.append(step(position, weights, made["iterations"], random_, is_tested=made["part"] == "test"))
            turn += 1
        position.push(played)
    won = [1 / len(record["winners"]) if seat in record["winners"] else 0 for seat in range(made["players"])]
    return {"number": number, "searched": searched, "won": won}


def step(position, weights, iterations, random_, *, is_tested):
    """Return a search of a position; for the test with an independent one of that after the engine's turn."""
    choice, entry = search(position, weights, iterations, random_)
    if not is_tested:
        return entry | {"after": None}
    following = position.copy()
    following.push(choice)
    while following.is_chance:
        following.draw(random_.getrandbits(63))
    if following.is_over:
        return entry | {"after": following.state.returns()}
    _, after = search(following, weights, iterations, random_)
    return entry | {"after": {key: after[key] for key in ("seat", "facts", "value", "exact")}}


def search(position, weights, iterations, random_):
    """Return the turn that a search chooses, and what it found, before any map."""
    limits = Limits(iterations=iterations, memory_mb=8 + iterations // 25)
    run = SearchRun(position, SearchSettings(limits, random_.getrandbits(63), candidates=1, weights=weights))
    result = run.result()
    following = position.copy()
    following.push(result.turn)
    return result.turn, {
        "seat": position.to_move,
        "facts": [round(fact, 4) for fact in calibration.facts_of(position.state, result.iterations)],
        "value": [round(share, 5) for share in run.search.result(1)["candidates"][0]["value"]],
        "exact": following.is_over,
        "forced": result.stop_reason == "forced",
        "leaf": round(leaf_share(position, weights, min(iterations, WORLDS), random_), 4),
    }


def leaf_share(position, weights, count, random_):
    """Return the share of the seat to move by the evaluation alone, the mean over `count` worlds if there are more."""
    seat, shares = position.to_move, []
    seen = position.view(seat).state
    for _ in range(count):
        world = seen.copy()
        are_more = world.determinize(seat, random_.getrandbits(63))
        shares.append(evaluate(world, weights=weights)[0][seat])
        if not are_more:
            break
    return sum(shares) / len(shares)


def describe(setting):
    where = "self-play" if setting.source == "selfplay" else setting.source
    return f"{setting.part}, {setting.iterations:,} iterations, {setting.players} seats, {where}"


def read(args, weights):
    """Return the games of the command's part by setting."""
    found = {}
    for number, line in enumerate(args.data.read_text().splitlines(), 1):
        try:
            batch = json.loads(line)
        except ValueError:
            raise SystemExit(f"calibration.py: error: {args.data}:{number}: expected JSON") from None
        made = batch["made"]
        if (batch["game"], made["weights"], made["part"]) == (args.game, weights.version, args.command):
            setting = Setting(**{key: made.get(key, 0) for key in Setting._fields})
            found.setdefault(setting, []).extend(batch["games"])
    return {setting._replace(games=len(games)): games for setting, games in found.items()}


def fit_maps(args, weights, games):
    """Fit a map for each number of seats, in which all games count the same, and write them."""
    maps = {}
    for players in sorted({setting.players for setting in games}):
        played = [game for setting, part in games.items() if setting.players == players for game in part]
        maps[players] = fit(decisions_of(played))
    made = {
        "command": f"python benchmarks/calibration.py fit --game {args.game} --data {shlex.quote(args.data.name)}",
        "build": mexica_ai.__version__,
        "data": [setting._asdict() for setting in games],
    }
    content = to_json(args.game, weights.version, maps, made)
    calibration.parse(content, str(args.map))  # refuses a map that is not sound
    files.replace(str(args.map), json.dumps(content, indent=1) + "\n")
    print(f"{args.map}: maps for {', '.join(map(str, maps))} seats, weights {weights.version}")
    return 0


def decisions_of(games):
    """Return all searches that were not forced or exact. Those of a game tell much the same: games count the same."""
    rows = []
    for game in games:
        found = [one for one in game["searched"] if not one["forced"] and not one["exact"]]
        rows += [(one["value"], one["seat"], one["facts"], game["won"], 1 / len(found)) for one in found]
    *columns, weights = (np.array(column) for column in zip(*rows, strict=True))
    return Decisions(*columns, weights / weights.mean())


def test(args, games):
    """Print what is published in the games of the test, and return whether something is not as true as it must be."""
    _, maps = calibration.read(args.map)
    found = []
    for setting, played in games.items():
        one = maps.get(setting.players)
        shown = [published(game, one) for game in played]
        rows, moved = tenths(shown), steps(shown)
        measured = {"setting": setting._asdict(), "tenths": rows, "step": moved, "weights": weights_of(played)}
        found.append(measured | {"passes": moved["passes"] and all(row["passes"] for row in rows)})
    if args.json:
        print(json.dumps(found))
    else:
        print("\n\n".join(table(args.game, one) for one in found))
    return 0 if all(one["passes"] for one in found) else 1


def published(game, one):
    """Return a game with the shares that a map publishes, of the searches and of those after them."""

    def share(entry):
        if isinstance(entry, list) or entry is None:  # the end of the game
            return entry
        value = entry["value"]
        return value if one is None or entry["exact"] else one.shares(value, entry["seat"], entry["facts"])

    searched = [entry | {"value": share(entry), "after": share(entry.get("after"))} for entry in game["searched"]]
    return game | {"searched": searched}


def steps(games):
    """Return the mean step of the mover's share at the engine's own turns, and its standard error."""
    found = np.array(
        [
            (number, one["after"][one["seat"]] - one["value"][one["seat"]])
            for number, game in enumerate(games)
            for one in game["searched"]
            if one["after"] is not None
        ]
    )
    mean, error = clustered(found[:, 0], found[:, 1])
    return {"turns": len(found), "mean": mean, "error": error, "passes": bool(abs(mean) <= AIM_STEP)}


def clustered(groups, values):
    """Return the mean of some values, and its standard error by the variance between groups."""
    sums = np.bincount(groups.astype(int), values - values.mean())
    count = max(2, len(set(groups.tolist())))
    return float(values.mean()), float(np.sqrt((sums**2).sum() * count / (count - 1)) / len(values))


def weights_of(games):
    """Return the weights of the regression of what the seat to move won, and their standard errors."""
    found = np.array(
        [
            (number, one["leaf"], one["value"][one["seat"]] - one["leaf"], game["won"][one["seat"]])
            for number, game in enumerate(games)
            for one in game["searched"]
            if not one["forced"]
        ]
    )
    pairs = regression(found[:, 0].astype(int), found[:, 1:3], found[:, 3])
    return dict(zip(["constant", "leaf", "search - leaf"], pairs, strict=True))


def regression(groups, columns, won):
    """Return the weights of a constant and of columns for what was won, each with its error by variance of groups."""
    inputs = np.column_stack([np.ones(len(columns)), columns])
    weights = np.linalg.lstsq(inputs, won, rcond=None)[0]
    slopes = inputs * (won - inputs @ weights)[:, None]
    sums = np.array([np.bincount(groups, column) for column in slopes.T])
    inverse = np.linalg.pinv(inputs.T @ inputs)
    errors = np.sqrt(np.diag(inverse @ (sums @ sums.T) @ inverse))
    return [(float(weight), float(error)) for weight, error in zip(weights, errors, strict=True)]


def tenths(games):
    """Return the rows of the table."""
    found = np.array(
        [
            (number, seat == one["seat"], share, game["won"][seat], min(int(share * 10 + 1e-6), 9))
            for number, game in enumerate(games)
            for one in game["searched"]
            if not one["forced"]
            for seat, share in enumerate(one["value"])
        ]
    )
    rows = []
    for is_mover in (1, 0) if len(games[0]["won"]) > 2 else (1,):  # with two seats the other's is the rest
        for tenth in range(10):
            part = found[(found[:, 1] == is_mover) & (found[:, 4] == tenth)]
            if not len(part):
                continue
            difference, error = clustered(part[:, 0], part[:, 3] - part[:, 2])
            rows.append(
                {
                    "to_move": bool(is_mover),
                    "from": tenth / 10,
                    "shares": len(part),
                    "published": part[:, 2].mean(),
                    "won": part[:, 3].mean(),
                    "error": error,
                    "passes": len(part) < ENOUGH or bool(abs(difference) <= max(AIM, AIM_ERRORS * error)),
                }
            )
    return rows


def table(game, found):
    """Return the rows of a setting as a table in Markdown, with what else was measured."""
    setting, moved = Setting(**found["setting"]), found["step"]
    lines = [
        f"{game}: {describe(setting)}, {setting.games:,} games",
        "",
        "| seat | tenth | shares | published | won | difference (standard error) | |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in found["tenths"]:
        lines.append(
            f"| {'to move' if row['to_move'] else 'other'} | from {row['from']:.1f} | {row['shares']:,} "
            f"| {row['published']:.3f} | {row['won']:.3f} | {row['won'] - row['published']:+.3f} ({row['error']:.3f}) "
            f"| {'' if row['passes'] else 'fails'} |"
        )
    step = f"{moved['mean']:+.3f} ({moved['error']:.3f}) of {moved['turns']:,} turns"
    weights = ", ".join(f"{name} {weight:.3f} ({error:.3f})" for name, (weight, error) in found["weights"].items())
    return "\n".join([*lines, "", f"step: {step}{'' if moved['passes'] else ': fails'}", f"weights: {weights}"])


if __name__ == "__main__":
    sys.exit(main())
