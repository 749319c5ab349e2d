"""Measures how far apart the levels of a game are, in Elo, and how `greedy` fares against level 1.

    python benchmarks/levels.py [--game mexica] [--journals FOLDER] [--blocks 50] [--pairs 2 3 ...] [--json]

Neighbours play matches with two seats, each deal on both seatings. Levels below 10 are limited by their iterations;
level 10 has --top iterations a turn here, so that the machine does not matter. --pairs names the higher levels of the
pairs to play (1: level 1 against `greedy`; 0: level 3 against `greedy`, which anchors the ratings, for level 1 may lose
all games). Neighbours should be 100 to 200 Elo apart, and `greedy` should win 60 % or
more against level 1.

A journal is kept for each pair. Its name contains a checksum of what the two levels are and of the weights, so the same
command goes on where it ended, and after a change of some levels it plays their pairs only.
"""

import argparse
import hashlib
import json
import signal
import subprocess
import sys
from pathlib import Path

from common import positive

from mexica_ai.analysis import levels
from mexica_ai.analysis.search import weights_for
from mexica_ai.game import registry

NEAREST, FARTHEST = 100, 200  # Elo between neighbours
GREEDY_SHARE = 0.6
ANCHORED = 3  # the level that plays `greedy`, too
SEED = 101
TIME_S = 60  # a turn; it must not limit the levels
TOP = 8_000  # iterations of level 10


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="mexica", choices=registry.names())
    parser.add_argument("--journals", type=Path, default=Path("levels"), help="folder (default: levels)")
    parser.add_argument("--blocks", type=positive(int), default=50, help="of two games, for each pair (default: 50)")
    parser.add_argument("--top", type=positive(int), default=TOP, help=f"iterations of level 10 (default: {TOP})")
    parser.add_argument("--pairs", type=int, nargs="+", default=range(11), choices=range(11), metavar="LEVEL")
    parser.add_argument("--concurrency", type=positive(int), default=1, help="games at a time (default: 1)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the arena ends, too
    args.journals.mkdir(parents=True, exist_ok=True)
    try:
        rows = [measure(args, level) for level in args.pairs]
    except subprocess.CalledProcessError as error:  # the arena has said why
        parser.exit(1, f"levels.py: error: the arena ended with exit code {error.returncode}\n")
    except KeyboardInterrupt:
        parser.exit(130, "levels.py: interrupted; the same command goes on\n")
    print(json.dumps(rows) if args.json else table(args, rows))


def measure(args, level):
    """Play a pair, as --pairs names it; return the share and Elo of the level."""
    journal = args.journals / journal_name(args.game, level, args.top)
    specs = specs_of(level, args.top)
    command = [sys.executable, "-P", "-m", "mexica_ai", "arena", "--game", args.game, "--players", "2"]
    command += ["--blocks", str(args.blocks), "--seed", str(SEED), "--time", str(TIME_S), "--journal", str(journal)]
    command += [
        "--concurrency",
        str(args.concurrency),
        "--resume",
        "--format",
        "json",
        "--engine",
        specs[0],
        "--engine",
        specs[1],
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout)
    engine = found["engines"][0]
    return {
        "level": level,
        "journal": journal.name,
        "games": found["games_counted"],
        "share": engine["share"],
        "elo": engine["elo"],
        "iterations": engine["iterations_per_turn"],
        "builds": list(found["builds"]),
        "fits": is_fit(level, engine),
    }


def journal_name(game, level, top):
    """Return the name of the journal of a pair: another one if a level or the weights are not what they were."""
    both = levels_of(level)
    settings = [levels.of(each, game) for each in both]
    options = [levels.search_options(each, game) for each in both]
    weights = weights_for(game, None)
    key = repr((specs_of(level, top), settings, options, getattr(weights, "version", None)))
    checksum = hashlib.sha256(key.encode()).hexdigest()[:8]
    return f"{game}-{level}-{checksum}.jsonl"


def levels_of(level):
    """Return the levels that play in a pair: two, or one and `greedy`."""
    return (level, level - 1) if level > 1 else (level or ANCHORED,)


def specs_of(level, top):
    """Return the engine specs of a pair."""
    both = levels_of(level)
    limits = (f",iterations={top}" if each == levels.HIGHEST else "" for each in both)
    specs = [f"mcts,level={each},name=L{each}{limit}" for each, limit in zip(both, limits, strict=True)]
    return specs + ["greedy"] * (2 - len(both))


def is_fit(level, engine):
    """Return whether a measured pair is as it should be."""
    if level == 0:
        return engine["elo"][0] is not None  # else there is no anchor
    if level == 1:
        return 1 - engine["share"][0] >= GREEDY_SHARE
    elo = engine["elo"][0]  # None if one of them won all games
    return elo is not None and NEAREST <= elo <= FARTHEST


def table(args, rows):
    """Return the rows as a table in Markdown."""
    lines = [f"| {args.game}: level | against the one below, wins | Elo | games | |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        share, low, high = ("-" if value is None else f"{100 * value:.1f}" for value in row["share"])
        elo, elo_low, elo_high = ("-" if value is None else f"{value:+.0f}" for value in row["elo"])
        rival = " (`greedy`)" if row["level"] < 2 else ""
        lines.append(
            f"| {row['level'] or ANCHORED}{rival} | {share} % ({low} to {high} %) "
            f"| {elo} ({elo_low} to {elo_high}) | {row['games']} "
            f"| {'' if row['fits'] else 'out of range'} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
