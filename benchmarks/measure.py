"""Measures what docs/strength.md and the README say of a release: plays what is planned, and writes both.

    python benchmarks/measure.py [--plan FILE] [--results FOLDER] [--concurrency N] [--only NAME...] [--status]

`make strength` runs it; `make strength SMALL=1` shows the whole path in minutes, with a small plan and in a folder of
its own. The plan (benchmarks/plans/release.toml) lists the steps in their order, each with its games and seed:

- `match`: engines in the arena; the first one is measured. `commits` are earlier versions that play (freeze.py).
- `levels`: each level against the one below, level 1 against `greedy` (levels.py).
- `ladder`: a round robin, rated with `greedy` at 1000 (`mexica-ai arena ladder`).
- `shares`: whether published shares of the win are true (calibration.py).

A step whose result is there, of the weights that ship and of as many games, is not played again, whatever commit played
it. Games are kept in FOLDER/games: of a step that has not ended in its journal, so that the same command goes on after
the last game; of one that has ended compressed. A step that fails is named, and the next one begins; the exit code is
then 1. --status says how far each step is, --only runs the steps whose names begin so.

A new result replaces the one of before of its step. When the whole plan is measured, without --only, results of its
games and kinds are deleted that are of other weights, or of levels as they were; but only files that the last commit
holds as they are, so that git has them.
"""

import argparse
import datetime
import itertools
import json
import lzma
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import strength
from common import describe_machine, positive
from freeze import freeze
from levels import ANCHORED, TOP
from plan import PLAN, ROOT, is_of_levels_now, read_plan, settings_of

import mexica_ai as ai
from mexica_ai.analysis.levels import HIGHEST
from mexica_ai.analysis.limits import num_threads
from mexica_ai.analysis.resources import num_processors
from mexica_ai.arena.play import describe_build
from mexica_ai.game import registry
from mexica_ai.io import files
from mexica_ai.io.errors import MexicaAIError, NotationError

ANCHOR = "greedy=1000"
CODE = ("cext", "mexica_ai", "server", "setup.py", "pyproject.toml")
CODE += ("benchmarks/levels.py", "benchmarks/calibration.py", "benchmarks/plans")
CODE += (":!mexica_ai/analysis/ratings.json",)  # it is written here


class StepError(Exception):
    """A step that cannot be measured."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--plan", type=Path, default=PLAN, metavar="FILE", help="(default: benchmarks/plans/release.toml)"
    )
    parser.add_argument(
        "--results", type=Path, default=strength.RESULTS, metavar="FOLDER", help="(default: where they ship)"
    )
    parser.add_argument(
        "--concurrency", type=positive(int), default=num_threads(), help="games at a time (default: one a processor)"
    )
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="steps whose names begin so")
    parser.add_argument("--status", action="store_true", help="say how far each step is, and play nothing")
    args = parser.parse_args()
    args.results = args.results.resolve()  # other programs run in another folder
    signal.signal(signal.SIGTERM, interrupt)
    try:
        (args.results / "games").mkdir(parents=True, exist_ok=True)
        steps = chosen(read_plan(args.plan, args.results), args.only)
        if args.status:
            return print_status(steps, strength.read_results(args.results))
        return run(steps, args)
    except (MexicaAIError, OSError) as error:
        parser.exit(2, f"measure.py: error: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, "measure.py: interrupted; the same command goes on\n")


def chosen(steps, only):
    """Return the steps whose names begin as one of `only`; raise NotationError if none does."""
    for beginning in only:
        if beginning and not any(step.name.startswith(beginning) for step in steps):
            names = ", ".join(step.name for step in steps)
            raise NotationError(f"--only {beginning}: no step is named so; expected the beginning of one of {names}")
    return [step for step in steps if step.name.startswith(tuple(only))]


def interrupt(*_):
    raise KeyboardInterrupt


def print_status(steps, results):
    for step in steps:
        result = step.result(results)
        if result is not None:
            print(f"done   {step.name}: {result['date']}, commit {result.get('commit', '-')}")
        elif played := step.played():
            total = step.num_games * (HIGHEST + 1 if step.kind == "levels" else 1)
            print(f"begun  {step.name}: {played} of {total} games")
        else:
            print(f"to do  {step.name}")
    return 0


def run(steps, args):
    """Measure the steps whose results are not there, and write the pages."""
    if args.results == strength.RESULTS and (changes := strength.git("status", "--porcelain", "--", *CODE)):
        raise NotationError(f"code that is not committed would play; expected none:\n{changes}")
    failed = []
    for step in steps:
        if step.result(strength.read_results(args.results)) is not None:
            continue
        print(f"{now()} {step.name}", flush=True)
        try:
            MEASURE[step.kind](step, args)
        except (StepError, MexicaAIError, subprocess.CalledProcessError) as error:
            failed.append(step.name)
            print(f"{now()} {step.name}: {error}", file=sys.stderr, flush=True)
    if not failed and args.only == [""]:
        drop_old(steps, args.results)
    strength.write_pages(args.results, args.plan)
    print(f"{now()} {len(steps) - len(failed)} of {len(steps)} steps are measured", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def drop_old(steps, folder):
    """Delete what git has of results of weights, or of settings of levels, that do not ship.

    Parameters
    ----------
    steps : list of Step
        All are measured; results of other games and kinds stay.
    folder : Path
    """
    measured = {(step.game, step.kind) for step in steps}
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        ships = registry.get(result["game"]).weights().version
        is_old = result["weights"] != ships or (result["kind"] == "levels" and not is_of_levels_now(result))
        if is_old and (result["game"], result["kind"]) in measured and is_in_git(path):
            print(f"{now()} {path.name} is of before: deleted", flush=True)
            path.unlink()


def is_in_git(path):
    """Return whether the last commit holds a file as it is."""
    git = ["git", "-C", path.parent]
    held = subprocess.run([*git, "ls-tree", "HEAD", "--", path.name], capture_output=True, check=False)
    changes = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", path.name], capture_output=True, check=False)
    return bool(held.stdout) and changes.returncode == 0


def now():
    return f"{datetime.datetime.now():%H:%M:%S}"


def python(*command):
    """Run a program of this environment to its end and return what it wrote; it ends with this one."""
    process = subprocess.Popen([sys.executable, *map(str, command)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        output, _ = process.communicate()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    return process.returncode, output


def play(step, args):
    """Play the games of a match or a ladder."""
    for commit in step.plan.get("commits", ()):
        freeze(commit)
    unpack([Path(f"{step.journal}.xz")])
    command = [
        "-m",
        "mexica_ai",
        "arena",
        "--game",
        step.game,
        "--players",
        step.players,
        "--blocks",
        step.plan["blocks"],
    ]
    command += ["--seed", step.plan["seed"], "--reproducible", "--concurrency", args.concurrency]
    if "sample" in step.plan:
        command += ["--tournament", "gauntlet", "--sample", step.plan["sample"]]
    command += itertools.chain.from_iterable(("--engine", spec) for spec in step.engines)
    code, output = python(*command, "--journal", step.journal, "--resume")
    if code:
        raise StepError(f"arena ended with exit code {code}: {output.strip()[-500:]}")


def measure_match(step, args):
    play(step, args)
    result = strength.result_of(str(step.journal), commit_here())
    check_builds(step, result["build"].split("; "))
    result |= {"machine": machine()} | ({"rival": step.plan["rival"]} if "rival" in step.plan else {})
    strength.write_result(result, args.results)
    pack(step.journal)


def measure_ladder(step, args):
    play(step, args)
    journal = os.path.relpath(step.journal, ROOT)  # it stands in the result's command
    # By release: what is measured before it goes on changes ratings.json, and so the build, but not what plays.
    command = ["arena", "ladder", journal, "--anchor", ANCHOR, "--by", "release", "--results", args.results]
    code, output = python("-P", "-m", "mexica_ai", *command)
    if code:
        raise StepError(f"arena ladder ended with exit code {code}: {output.strip()[-500:]}")
    pack(step.journal)


def measure_levels(step, args):
    unpack(step.journal.glob("*.xz"))
    command = ["benchmarks/levels.py", "--game", step.game, "--blocks", step.plan["blocks"]]
    command += ["--top", step.plan["top"]] if "top" in step.plan else []
    code, output = python(*command, "--journals", step.journal, "--concurrency", args.concurrency, "--json")
    if code:
        raise StepError(f"levels.py ended with exit code {code}")
    found = json.loads(output)
    rows = [
        {key: row[key] for key in ("level", "games", "elo", "journal")}
        | {"settings": settings_of(row["level"] or ANCHORED, step.game)}
        for row in found
    ]
    builds = sorted({build for row in found for build in row["builds"]})
    check_builds(step, builds)
    builds.sort(key=lambda build: build == describe_build(step.game))  # that of this commit last
    content = {"top": step.plan.get("top", TOP), "levels": rows, "build": "; ".join(builds)}
    save(step, args, command, content)
    for path in step.journal.glob("*.jsonl"):
        pack(path)


def measure_shares(step, args):
    unpack([Path(f"{step.journal}.xz")])
    program = ["benchmarks/calibration.py"]
    options = ["--game", step.game, "--data"]
    plan = ["--part", "test", "--iterations", 64, "--players", 2, "--scale", step.plan["scale"]]
    code, _ = python(*program, "collect", *options, step.journal, *plan, "--jobs", args.concurrency)
    if code:
        raise StepError(f"calibration.py collect ended with exit code {code}")
    _, output = python(*program, "test", *options, step.journal, "--json")  # 1: not all shares are true
    if not output:
        raise StepError("calibration.py test has found nothing")
    (found,) = json.loads(output)
    tenths = [None] * 10
    for row in found["tenths"]:
        if row["to_move"]:
            tenths[round(10 * row["from"])] = [round(row["won"] - row["published"], 3), round(row["error"], 3)]
    weight = [round(figure, 3) for figure in found["weights"]["search - leaf"]]
    data = f"{step.game}.jsonl"
    command = [*program, "collect", *options, data, *plan]
    content = {"games": found["setting"]["games"], "tenths": tenths, "weight_of_search": weight}
    save(step, args, command, content, [*program, "test", *options, data])
    pack(step.journal)


MEASURE = {"match": measure_match, "levels": measure_levels, "ladder": measure_ladder, "shares": measure_shares}


def check_builds(step, builds):
    """Raise StepError unless this build, whose commit the result is to name, has played some of the games."""
    if describe_build(step.game) not in builds:
        raise StepError(f"played by {'; '.join(builds)}; expected this version, or the checkout of that one")


def save(step, args, command, content, *others):
    """Write the result of a step that is no match, and that a command gives, or several."""
    head = {
        "format": 1,
        "kind": step.kind,
        "game": step.game,
        "release": ai.__version__,
        "weights": step.weights,
        "commit": commit_here(),
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "machine": machine(),
        "command": "\n".join(shlex.join(["python", *map(str, each)]) for each in (command, *others)),
    }
    path = args.results / f"{step.name}.json"
    files.replace(str(path), json.dumps(head | content, indent=1) + "\n")


def commit_here():
    return strength.git("rev-parse", "--short=12", "HEAD")


def machine():
    """Return the machine in words, with its load, for where it matters."""
    return f"{describe_machine()['processor']}, {num_processors():g} cores, load {os.getloadavg()[2]:.1f}"


def unpack(paths):
    """Unpack compressed games of a step that has more to play now, unless its journal holds as many."""
    for packed in paths:
        if not packed.exists():
            continue
        journal = packed.with_suffix("")
        games = lzma.decompress(packed.read_bytes())
        if not journal.exists() or journal.read_bytes().count(b"\n") < games.count(b"\n"):
            files.replace(str(journal), games)


def pack(path):
    """Compress the games of a step that has ended."""
    files.replace(f"{path}.xz", lzma.compress(path.read_bytes()))
    path.unlink()


if __name__ == "__main__":
    sys.exit(main())
