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

A new result replaces the one of before of its step. When the whole plan is measured, without --only, the other results
of before are deleted that are of its games and kinds, which no step plays any more; but only files that the last commit
holds as they are, so that git has them.
"""

import argparse
import datetime
import itertools
import json
import lzma
import math
import os
import shlex
import signal
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import strength
from common import describe_machine, positive
from freeze import freeze
from levels import ANCHORED, journal_name

import mexica_ai as ai
from mexica_ai.analysis.levels import HIGHEST
from mexica_ai.analysis.limits import num_threads
from mexica_ai.analysis.resources import num_processors
from mexica_ai.engines.specs import KINDS, parse_spec
from mexica_ai.game import registry
from mexica_ai.io import files
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.strict import check_shape, choice

PLAN = strength.ROOT / "benchmarks" / "plans" / "release.toml"
ANCHOR = "greedy=1000"
CODE = ("cext", "mexica_ai", "server", "setup.py", "pyproject.toml")
CODE += ("benchmarks/levels.py", "benchmarks/calibration.py", "benchmarks/plans")
CODE += (":!mexica_ai/analysis/ratings.json",)  # it is written here
STEP = {
    "kind": choice("match", "levels", "ladder", "shares"),
    "games": [choice(*strength.GAMES)],
    "blocks?": int,
    "players?": int,
    "seed?": int,
    "engines?": [str],
    "sample?": int,  # seatings of a block, with one engine against the others
    "rival?": str,  # in words
    "commits?": [str],
    "top?": int,  # iterations of level 10
    "scale?": float,  # of the games that calibration.py plays for its test with 64 iterations
}
NEEDS = {
    "match": ("blocks", "seed", "engines"),
    "ladder": ("blocks", "seed", "engines"),
    "levels": ("blocks",),
    "shares": ("scale",),
}


class StepError(Exception):
    """A step that cannot be measured."""


@dataclass(frozen=True)
class Step:
    """A step of the plan in one game."""

    game: str
    plan: dict
    folder: Path

    @property
    def kind(self):
        return self.plan["kind"]

    @property
    def players(self):
        return self.plan.get("players", 2)

    @property
    def engines(self):
        return [str(parse_spec(text)) for text in self.plan["engines"]]

    @property
    def name(self):
        if self.kind == "match":
            return strength.name_of({"game": self.game, "players": self.players, "engines": self.engines})
        return f"{self.game}-{self.players}-ladder" if self.kind == "ladder" else f"{self.game}-{self.kind}"

    @property
    def weights(self):
        return registry.get(self.game).weights().version

    @property
    def journal(self):
        """The file, or of `levels` the folder, of games that were begun."""
        suffix = "" if self.kind == "levels" else ".jsonl"
        return self.folder / "games" / f"{self.name}-{self.weights}{suffix}"

    @property
    def num_games(self):
        """How many games the step has: of `levels` each pair, of `shares` about so many."""
        if self.kind == "shares":
            return max(1, round(400 * self.plan["scale"] / 5)) * 5
        if self.kind == "levels":
            return 2 * self.plan["blocks"]
        per_block = self.plan.get("sample", self.players)
        lineups = math.comb(len(self.engines), self.players) if self.kind == "ladder" else 1
        return per_block * self.plan["blocks"] * lineups

    def result(self, results):
        """Return the result of the step, if it is there; else None."""
        for result in results:
            if (result["kind"], result["game"], result["weights"]) == (self.kind, self.game, self.weights) and (
                self.is_done_by(result)
            ):
                return result
        return None

    def is_done_by(self, result):
        if self.kind == "levels":
            games = {each["level"]: each["games"] for each in result["levels"]}
            least = min(games.get(level, 0) for level in range(HIGHEST + 1))
            return least >= self.num_games and strength.is_of_levels_now(result)
        if self.kind == "match":
            same = list(map(plain, result["engines"])) == list(map(plain, self.engines))
            if not same or result["players"] != self.players:
                return False
        if self.kind == "ladder":
            rated, planned = ([plain(each["spec"]) for each in result["engines"]], list(map(plain, self.engines)))
            same = all(each in planned for each in rated) and all(each in rated for each in planned)
            if not same or result["players"] != self.players:
                return False
        return result["games"] >= self.num_games

    def played(self):
        """Return how many games of a step are there, compressed or not."""
        journals = {self.journal}
        if self.kind == "levels":
            journals = {self.journal / journal_name(self.game, level) for level in range(HIGHEST + 1)}
        lines = sum(map(num_lines, journals))
        return lines * 5 if self.kind == "shares" else lines


def num_lines(journal):
    """Return how many lines a journal has, or its compressed games, whichever is more."""
    packed = Path(f"{journal}.xz")
    begun = journal.read_bytes().count(b"\n") if journal.exists() else 0
    return max(begun, lzma.decompress(packed.read_bytes()).count(b"\n")) if packed.exists() else begun


def plain(text):
    """Return what plays by a spec: without its name, and without limits that an engine does not heed."""
    spec = parse_spec(text)
    idle = {"name", "time", "iterations"} if KINDS[spec.kind].is_instant else {"name"}
    return spec.kind, spec.target, {key: value for key, value in spec.options.items() if key not in idle}


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
        steps = [step for step in read_plan(args.plan, args.results) if step.name.startswith(tuple(args.only))]
        if args.status:
            return print_status(steps, strength.read_results(args.results))
        return run(steps, args)
    except (MexicaAIError, OSError) as error:
        parser.exit(2, f"measure.py: error: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, "measure.py: interrupted; the same command goes on\n")


def interrupt(*_):
    raise KeyboardInterrupt


def read_plan(path, folder):
    """Return the steps of a plan in their order; raise NotationError if it is none."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise NotationError(f"{path}: {error}") from None
    check_shape(data, {"step": [STEP]}, path.name)
    steps = []
    for number, plan in enumerate(data["step"]):
        for key in NEEDS[plan["kind"]]:
            if key not in plan:
                raise NotationError(f"{path.name}: step {number} ({plan['kind']}): expected the key {key}")
        if plan.get("blocks", 2) < 2:
            raise NotationError(
                f"{path.name}: step {number}: blocks {plan['blocks']}; expected 2 or more, for an interval"
            )
        steps += [Step(game, plan, folder) for game in plan["games"]]
    names = [step.name for step in steps]
    if twice := {name for name in names if names.count(name) > 1}:
        raise NotationError(f"{path.name}: steps of one name: {', '.join(sorted(twice))}; expected one each")
    return steps


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
    strength.write_pages(args.results)
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
        is_old = result["weights"] != ships or (result["kind"] == "levels" and not strength.is_of_levels_now(result))
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
    process = subprocess.Popen(
        [sys.executable, *map(str, command)], cwd=strength.ROOT, stdout=subprocess.PIPE, text=True
    )
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
    result |= {"machine": machine()} | ({"rival": step.plan["rival"]} if "rival" in step.plan else {})
    strength.write_result(result, args.results)
    pack(step.journal)


def measure_ladder(step, args):
    play(step, args)
    journal = os.path.relpath(step.journal, strength.ROOT)  # it stands in the result's command
    code, output = python(
        "-P", "-m", "mexica_ai", "arena", "ladder", journal, "--anchor", ANCHOR, "--results", args.results
    )
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
    rows = [
        {key: row[key] for key in ("level", "games", "elo")}
        | {"settings": strength.settings_of(row["level"] or ANCHORED, step.game)}
        for row in json.loads(output)
    ]
    save(step, args, command, {"levels": rows})
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
    command = [*program, "collect", *options, f"{step.game}.jsonl", *plan]
    content = {"games": found["setting"]["games"], "tenths": tenths, "weight_of_search": weight}
    save(step, args, command, content)
    pack(step.journal)


MEASURE = {"match": measure_match, "levels": measure_levels, "ladder": measure_ladder, "shares": measure_shares}


def save(step, args, command, content):
    """Write the result of a step that is no match."""
    head = {
        "format": 1,
        "kind": step.kind,
        "game": step.game,
        "release": ai.__version__,
        "weights": step.weights,
        "commit": commit_here(),
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "machine": machine(),
        "command": shlex.join(["python", *map(str, command)]),
    }
    path = args.results / f"{step.name}.json"
    path.write_text(json.dumps(head | content, indent=1) + "\n", encoding="utf-8")


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
