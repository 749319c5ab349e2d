"""What is planned for a release, and whether a result is of a step of the plan; measure.py plays it."""

import dataclasses
import lzma
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

from levels import ANCHORED, TOP, journal_name

from mexica_ai.analysis import levels
from mexica_ai.analysis.levels import HIGHEST
from mexica_ai.engines.specs import KINDS, parse_spec
from mexica_ai.game import registry
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import check_shape, choice

ROOT = Path(__file__).resolve().parents[1]
PLAN = ROOT / "benchmarks" / "plans" / "release.toml"
GAMES = {"mexica": "Mexica", "coatl": "Coatl", "tzolkin": "Tzolk'in"}
STEP = {
    "kind": choice("match", "levels", "ladder", "shares"),
    "games": [choice(*GAMES)],
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
            return name_of({"game": self.game, "players": self.players, "engines": self.engines})
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
        """Return the result of the step, if it is there with all games; else None."""
        return next((result for result in results if self.games_in(result) >= self.num_games), None)

    def games_in(self, result):
        """Return how many games of the step a result has: of `levels` each pair at least; 0 if it is of another one."""
        if (result["kind"], result["game"], result["weights"]) != (self.kind, self.game, self.weights):
            return 0
        if self.kind == "levels":
            if not is_of_levels_now(result) or result.get("top", TOP) != self.plan.get("top", TOP):
                return 0
            games = {each["level"]: each["games"] for each in result["levels"]}
            return min(games.get(level, 0) for level in range(HIGHEST + 1))
        if self.kind in ("match", "ladder") and not self._is_of(result):
            return 0
        return result["games"]

    def _is_of(self, result):
        """Return whether the engines of the step have played a match; of a rating list in any order."""
        planned = list(map(plain, self.engines))
        if self.kind == "match":
            same = list(map(plain, result["engines"])) == planned
        else:
            rated = [plain(each["spec"]) for each in result["engines"]]
            same = all(each in planned for each in rated) and all(each in rated for each in planned)
        return same and result["players"] == self.players

    def played(self):
        """Return how many games of a step are there, compressed or not."""
        journals = {self.journal}
        if self.kind == "levels":
            top = self.plan.get("top", TOP)
            journals = {self.journal / journal_name(self.game, level, top) for level in range(HIGHEST + 1)}
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


# --- results of a step


def name_of(match):
    """Return what the file of a match is called."""
    engines = "-".join(dict.fromkeys(parse_spec(spec).kind for spec in match["engines"][1:]))
    column = column_of(match)
    kind = f"four-{engines}" if column == "four" else column or engines
    limit = "-".join(f"{key}{value:g}" for key, value in limits(match["engines"][0]).items())
    return f"{match['game']}-{match['players']}-{kind}-{limit}"


def limits(text):
    """Return the limits of an engine, by key."""
    options = parse_spec(text).options
    return {key: options[key] for key in ("time", "iterations") if key in options}


def column_of(result):
    """Return the kind of a match, a key of `COLUMNS` in strength.py; None if it has no column."""
    first, *others = (parse_spec(spec) for spec in result["engines"])
    if any({"weights", "level"} & engine.options.keys() for engine in (first, *others)) or first.kind != "mcts":
        return None
    if result["players"] == 4 and len(others) == 3:
        return "four" if len({anonymous(engine) for engine in others}) == 1 else None
    if result["players"] != 2 or len(others) != 1:
        return None
    rival = others[0]
    if rival.kind in ("greedy", "uct"):
        return rival.kind
    own, theirs = (limits(spec) for spec in result["engines"])
    is_doubling = len(own) == 1 and own.keys() == theirs.keys() and all(own[key] == 2 * theirs[key] for key in own)
    return "doubling" if rival.kind == "mcts" and is_doubling else None


def anonymous(spec):
    """Return what an engine is, without its name."""
    return spec.kind, spec.target, *sorted((key, value) for key, value in spec.options.items() if key != "name")


def is_of_levels_now(result):
    """Return whether a result is of the levels as they are, with the weights that ship."""
    if result["kind"] != "levels" or result["weights"] != registry.get(result["game"]).weights().version:
        return False
    game, top = result["game"], result.get("top", TOP)
    # The name of its journal tells of all that decides how a pair plays; earlier results have none.
    return all(
        each.get("settings") in (None, settings_of(each["level"] or ANCHORED, game))
        and each.get("journal") in (None, journal_name(game, each["level"], top))
        for each in result["levels"]
    )


def settings_of(level, game):
    """Return the settings of a level as its results name them: iterations, deviation and noise on the priors."""
    return list(dataclasses.astuple(levels.of(level, game)))
