"""Writes docs/strength.md, the table in the README and the ratings of levels, from the results of one release.

    python benchmarks/strength.py                   # make strength-page
    python benchmarks/strength.py add JOURNAL... [--commit COMMIT]
    mexica-ai arena ladder FOLDER --results benchmarks/results

A result is a file of JSON in benchmarks/results: who played whom with which weights, how often, with which outcome,
when, where, by which command. The first engine of a match is the one that is measured. `add` makes the result of a
match from its journal of `mexica-ai arena`, on the machine that played it, and computes the figures as `arena report`
does. The commit is that of the checkout; if another build has played, --commit names its commit. Results of other
weights than those that ship do not count: the pages say "not measured" there. `levels` and `shares` are results of
levels.py and calibration.py, and a `ladder` is the rating list that `mexica-ai arena ladder` writes. measure.py plays
all that is planned for a release, and makes the results.
"""

import argparse
import dataclasses
import json
import math
import re
import shlex
import subprocess
from itertools import chain

from common import describe_machine
from levels import ANCHORED
from plan import GAMES, PLAN, ROOT, column_of, is_of_levels_now, limits, name_of, read_plan

import mexica_ai as ai
from mexica_ai.analysis.levels import HIGHEST
from mexica_ai.analysis.ratings import ANCHOR
from mexica_ai.arena.journal import read_journal
from mexica_ai.arena.play import describe_build
from mexica_ai.arena.report import collect, evaluate
from mexica_ai.arena.tournament import Tournament
from mexica_ai.engines.specs import parse_spec
from mexica_ai.game import registry
from mexica_ai.io import files
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.strict import Nullable, Text, check_shape, choice, parse_json, quote

RESULTS = ROOT / "benchmarks" / "results"
PAGE, README = ROOT / "docs" / "strength.md", ROOT / "README.md"
RATINGS = ROOT / "mexica_ai" / "analysis" / "ratings.json"
BEGIN, END = "<!-- strength -->\n", "<!-- /strength -->\n"
# By kind of match: head of the README's column, and what the page says where there is none.
COLUMNS = {
    "greedy": ("against one-ply search (`greedy`)", "against `greedy`, 2 seats"),
    "uct": ("against textbook UCT (`uct`)", "against `uct`, 2 seats"),
    "doubling": ("a doubling of time or iterations", "a doubling of time or iterations, 2 seats"),
    "four": ("one against three of `uct`, four seats (25 % is equal)", "one against three of `uct`, 4 seats"),
}
NOT_MEASURED = "not measured"
# Fields of a tournament for which `command_of` has no options; they must be as they are by default.
NO_OPTIONS = ("clock", "margin_s", "patience_s", "on_failure", "openings", "resign", "max_turns", "round_blocks")
NO_OPTIONS += ("gauntlet", "opening_order", "restart")
INTERVAL = [float]
HEAD = {
    "format": int,
    "kind": str,
    "game": choice(*GAMES),
    "release": str,
    "weights": Text("[0-9a-f]{12}", "12 hexadecimal digits", "BAD_VALUE"),
    "commit": Text("[0-9a-f]{7,40}", "a commit", "BAD_VALUE"),
    "date": Text(r"\d{4}-\d\d-\d\d", "a date such as 2026-11-25", "BAD_VALUE"),
    "machine": str,
    "command": str,
}
SHAPES = {
    "match": HEAD
    | {
        "players": int,
        "engines": [str],
        "games": int,
        "share": INTERVAL,
        "elo": Nullable(INTERVAL),
        "iterations_per_turn": [Nullable(float)],  # null: not known
        "build?": str,  # that played, as the journal names it
        "rival?": str,  # in words, where the spec of the others does not say it
    },
    "levels": HEAD
    | {"build?": str, "top?": int}  # iterations of level 10
    | {
        "levels": [
            {"level": int, "games": int, "elo": [Nullable(float)], "settings?": [Nullable(float)], "journal?": str}
        ]
    },
    "ladder": {key: shape for key, shape in HEAD.items() if key not in ("commit", "machine")}
    | {
        "players": int,
        "builds": [str],
        "games": int,
        "blocks": int,
        "anchor": Nullable({"engine": str, "rating": float}),
        "engines": [
            {
                "engine": str,
                "spec": str,
                "weights": Nullable(str),
                "release": Nullable(str),
                "rating": [Nullable(float)],
                "superiority": Nullable(float),
                "games_counted": int,
                "forfeits": int,
            }
        ],
    },
    "shares": HEAD | {"games": int, "tenths": [Nullable(INTERVAL)], "weight_of_search": INTERVAL},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="action", metavar="add")
    add = commands.add_parser("add", help="make a result of the journal of a match")
    add.add_argument("journals", nargs="+", metavar="JOURNAL")
    add.add_argument("--commit", help="of the build that played (default: that of this checkout, which must be it)")
    args = parser.parse_args()
    try:
        if args.action == "add":
            for path in args.journals:
                print(write_result(result_of(path, args.commit), RESULTS))
        write_pages(RESULTS)
    except (MexicaAIError, OSError) as error:
        parser.exit(2, f"strength.py: error: {error}\n")


def write_pages(folder, plan=PLAN):
    """Write the pages and the ratings from the results of a folder; those of any but `RESULTS` into it."""
    results = read_results(folder)
    texts = pages(results, README.read_text(encoding="utf-8"), plan) | {RATINGS: ratings(results)}
    for path, text in texts.items():
        to = path if folder == RESULTS else folder / "pages" / path.name
        to.parent.mkdir(exist_ok=True)
        files.replace(str(to), text)


# --- results


def result_of(path, commit=None):
    """Return the result of the match in a journal; raise NotationError if it is none of what ships."""
    journal = read_journal(path)
    if not journal.games:
        raise NotationError(f"{path}: holds no game")
    tournament = tournament_of(journal)
    collected = collect(journal.games)
    found = evaluate(collected)
    if tournament.game not in GAMES:
        raise NotationError(f"{path}: of {tournament.game}; expected one of {', '.join(GAMES)}")
    first = found["engines"][0]
    ships = registry.get(tournament.game).weights().version
    if first["weights"] != ships:
        raise NotationError(f"{path}: the first engine has weights {first['weights']}; expected {ships}, which ship")
    if found["forfeits"]:
        raise NotationError(f"{path}: {found['forfeits']} games ended by a forfeit; expected none")
    if not found["blocks"]:
        raise NotationError(f"{path}: no block is complete")
    build = "; ".join(collected.builds) if commit else build_of(path, collected.builds)
    return {
        "format": 1,
        "kind": "match",
        "game": tournament.game,
        "release": build.rpartition("mexica-ai ")[2].partition(",")[0],
        "weights": ships,
        "commit": commit or commit_of(path, build, tournament.game),
        "date": max(record["started_at"] for _, record in journal.games)[:10],
        "machine": describe_machine()["processor"],
        "command": command_of(tournament, found["blocks"]),
        "players": tournament.players,
        "engines": list(tournament.engines),
        "games": found["games_counted"],
        "share": first["share"],
        "elo": None if None in first.get("elo", [None]) else first["elo"],  # infinite, if all games were won
        "iterations_per_turn": [engine["iterations_per_turn"] for engine in found["engines"]],
        "build": build,
    }


def tournament_of(journal):
    """Return the tournament of a journal; raise NotationError if `command_of` cannot write it."""
    tournaments = {json.dumps(each.to_json()): each for each, _ in journal.games}
    if len(tournaments) > 1:
        raise NotationError(f"{journal.path}: games of {len(tournaments)} tournaments; expected those of one")
    (tournament,) = tournaments.values()
    plain = Tournament(tournament.game, tournament.players, tournament.engines, tournament.names, tournament.seed)
    for name in NO_OPTIONS:
        value, expected = getattr(tournament, name), getattr(plain, name)
        if value != expected:
            raise NotationError(f"{journal.path}: {name} is {value}; expected {expected}, as it is by default")
    return tournament


def build_of(path, builds):
    """Return the build that played all games."""
    if len(builds) > 1:
        raise NotationError(f"{path}: played by {len(builds)} builds; expected one: {'; '.join(builds)}")
    (build,) = builds
    return build


def commit_of(path, build, game):
    """Return the commit of this checkout; raise NotationError if a game was played by anything else."""
    here = describe_build(game)
    if build != here:
        raise NotationError(f"{path}: played by {build}; this is {here}: --commit names the commit of that build")
    if changes := git("status", "--porcelain", "--", "cext", "mexica_ai", "server"):
        raise NotationError(f"{path}: played by code that is not committed:\n{changes}")
    return git("rev-parse", "--short=12", "HEAD")


def command_of(tournament, num_blocks):
    """Return the command that plays such a tournament, with the blocks that are counted."""
    options = ["--game", tournament.game, "--players", tournament.players, "--seed", tournament.seed]
    options += ["--blocks", num_blocks // tournament.num_lineups]
    if tournament.is_reproducible:
        options.append("--reproducible")
    if tournament.format != "round-robin":
        options += ["--tournament", tournament.format]
    if tournament.sample is not None:
        options += ["--sample", tournament.sample]
    options += chain.from_iterable(("--engine", spec) for spec in tournament.engines)
    return shlex.join(["mexica-ai", "arena", *map(str, options)])


def git(*args):
    return subprocess.run(["git", *args], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def write_result(result, folder):
    """Write a result to a file of its own, and return the file."""
    path = folder / f"{name_of(result)}.json"
    files.replace(str(path), json.dumps(result, indent=1) + "\n")
    return path


def read_results(folder):
    """Return the results in a folder, of all weights; raise NotationError for a file that is none."""
    results = []
    for path in sorted(folder.glob("*.json")):
        data = parse_json(path.read_bytes(), str(path))
        kind = data.get("kind") if isinstance(data, dict) else None
        if kind not in SHAPES:
            raise NotationError(f"{path.name}: kind {quote(kind)}; expected one of {', '.join(SHAPES)}")
        check_shape(data, SHAPES[kind], path.name)
        if data["format"] != 1:
            raise NotationError(f"{path.name}: format {data['format']}; expected 1")
        CHECKS[kind](path.name, data)
        results.append(data)
    return results


def check_match(name, data):
    check_interval(f"{name}: share", data["share"], 0, 1)
    if data["elo"] is not None:
        check_interval(f"{name}: elo", data["elo"])
    num_engines = len(data["engines"])
    if not 2 <= data["players"] <= 4 or num_engines < 2 or len(data["iterations_per_turn"]) != num_engines:
        raise NotationError(f"{name}: expected 2 to 4 players, 2 engines or more, and the iterations of each engine")
    for spec in data["engines"]:
        parse_spec(spec)


def check_levels(name, data):
    for each in data["levels"]:
        if None not in each["elo"] or len(each["elo"]) != 3:  # ends are null where one of both won all games
            check_interval(f"{name}: elo of level {each['level']}", each["elo"])


def check_shares(name, data):
    if len(data["tenths"]) != 10 or any(len(pair or "ab") != 2 for pair in [*data["tenths"], data["weight_of_search"]]):
        raise NotationError(f"{name}: expected ten tenths and the weight of the search, each with its standard error")


def check_ladder(name, data):
    if not 2 <= data["players"] <= 4 or len(data["engines"]) < 2:
        raise NotationError(f"{name}: expected 2 to 4 players, and 2 engines or more")
    for engine in data["engines"]:
        if engine["rating"][1:] != [None, None]:  # else only the mean is known
            check_interval(f"{name}: rating of {quote(engine['engine'])}", engine["rating"])


def check_interval(name, estimate, lowest=-math.inf, highest=math.inf):
    mean, low, high = estimate if len(estimate) == 3 else (0, 1, 0)
    if not lowest <= low <= mean <= high <= highest:
        within = "" if lowest == -math.inf else f", from {lowest} to {highest}"
        raise NotationError(f"{name}: expected a mean and its interval{within}")


CHECKS = {"match": check_match, "levels": check_levels, "shares": check_shares, "ladder": check_ladder}


# --- pages


def pages(results, readme, plan=PLAN):
    """Return the text of each page by its path: docs/strength.md, and the README with its table."""
    shipped = {game: registry.get(game).weights().version for game in GAMES}
    results = [result for result in results if result["weights"] == shipped[result["game"]]]
    head, found, rest = readme.partition(BEGIN)
    if not found or END not in rest:
        raise NotationError(f"README.md: expected a table between {BEGIN.strip()} and {END.strip()}")
    return {
        PAGE: page(results, shipped, read_plan(plan, RESULTS)),
        README: f"{head}{BEGIN}{short_table(results)}{END}{rest.partition(END)[2]}",
    }


def ratings(results):
    """Return the text of mexica_ai/analysis/ratings.json: the levels in Elo, where they were measured.

    `greedy` has 1000; the level that played it (`levels.py`), or else level 1, is as far from it, and each level from
    the one below, as its match says. The errors of the matches are independent.
    """
    games = {}
    for result in results:
        if not is_of_levels_now(result):
            continue
        steps = {each["level"]: each["elo"] for each in result["levels"]}
        anchor = ANCHORED if 0 in steps else 1
        start = steps.get(0, steps.get(1, [None]))
        chain = {} if None in start else {anchor: [ANCHOR + start[0], start[0] - start[1], start[2] - start[0]]}
        for sign, found in ((1, range(anchor + 1, HIGHEST + 1)), (-1, range(anchor - 1, 0, -1))):
            for level in found:
                step = steps.get(max(level, level - sign), [None])
                if None in step or level - sign not in chain:
                    break
                mean, below, above = chain[level - sign]
                errors = [step[0] - step[1], step[2] - step[0]][::sign]
                chain[level] = [mean + sign * step[0], math.hypot(below, errors[0]), math.hypot(above, errors[1])]
        rated = [
            {"level": level, "elo": [round(mean), round(mean - below), round(mean + above)]}
            for level, (mean, below, above) in sorted(chain.items())
        ]
        if rated and rated[0]["level"] == 1:
            games[result["game"]] = {"weights": result["weights"], "date": result["date"], "levels": rated}
    return json.dumps({"format": 2, "games": games}, indent=1) + "\n"


def short_table(results):
    rows = [["game", *(head for head, _ in COLUMNS.values())]]
    for game, name in GAMES.items():
        rows.append([name, *(cell(best(results, game, column)) for column in COLUMNS)])
    return table(rows)


def best(results, game, column):
    """Return the match that the README's column shows; None without one.

    Limits in iterations are the same for all games, so those matches are like for like; of them, that of most games.
    """
    return max(
        (result for result in results if result["game"] == game and is_about(result, column)),
        key=lambda each: ("iterations" in limits(each["engines"][0]), each["games"]),
        default=None,
    )


def is_about(result, column):
    """Return whether a result is of a column; with four seats only if the others are `uct`."""
    if result["kind"] != "match" or column_of(result) != column:
        return False
    return column != "four" or parse_spec(result["engines"][1]).kind == "uct"


def cell(result):
    if result is None:
        return NOT_MEASURED
    column = column_of(result)
    if column == "doubling":
        words = ", " + " against ".join(in_words(spec) for spec in result["engines"])
    else:
        words = f" at {in_words(result['engines'][0])}"
    return f"{percent(result['share'])} of {result['games']} games{words}"


def in_words(spec):
    """Return the limits of an engine in words."""
    units = {"time": " s", "iterations": " iterations"}
    return ", ".join(f"{value:,g}{units[key]}" for key, value in limits(spec).items()) or "the default time"


def rival_of(result):
    """Return the others in words."""
    others = result["engines"][1:]
    name = result.get("rival") or shown(others[0])
    return f"three of {name}" if len(others) == 3 else name


def shown(text):
    """Return the spec of an engine without its name, which only tells equal engines apart."""
    spec = parse_spec(text)
    options = {key: value for key, value in spec.options.items() if key != "name"}
    return f"`{dataclasses.replace(spec, options=options)}`"


def percent(share):
    mean, low, high = (100 * value for value in share)
    return f"{mean:.1f} % ({low:.0f} to {high:.0f})"


def elo(estimate):
    if estimate is None:
        return ""
    mean, low, high = estimate
    if mean is None:  # one of both won all games
        return next((f"{word} {end:+.0f}" for word, end in (("below", high), ("above", low)) if end is not None), "")
    return f"{mean:+.0f}" if low is None or high is None else f"{mean:+.0f} ({low:.0f} to {high:.0f})"


def page(results, shipped, steps):
    """Return docs/strength.md."""
    text = INTRODUCTION.format(release=ai.__version__)
    commands = []
    for game, name in GAMES.items():
        text += f"\n## {name}\n\nWeights `{shipped[game]}`.{OLDER.get(shipped[game], '')}\n\n"
        matches = [result for result in results if result["kind"] == "match" and result["game"] == game]
        rows = [["match", "share of the win", "Elo", "iterations a turn", "games", "date"]]
        for column, (_, words) in COLUMNS.items():
            rows += [row(result) for result in matches if column_of(result) == column]
            if best(matches, game, column) is None:
                rows.append([words, NOT_MEASURED, "", "", "", ""])
        rows += [row(result) for result in matches if column_of(result) is None]
        commands += [(name, result) for result in matches]
        text += table(rows)
        for result in results:
            if result["game"] == game and is_of_levels_now(result):
                text += f"\n{LEVELS.format(date=result['date'])}\n\n"
                known = {each["level"]: [elo(each["elo"]), each["games"]] for each in result["levels"]}
                rows = [[level, *known.get(level, [NOT_MEASURED, ""])] for level in range(1, HIGHEST + 1)]
                rows += [[f"{ANCHORED}, above `greedy`", *known[0]]] if 0 in known else []
                text += table([["level", "Elo above the one below", "games"], *rows])
                commands.append((name, result))
        for result in results:
            if result["game"] == game and result["kind"] == "ladder":
                text += f"\n{LADDER.format(**result, mean=mean_of(result))}\n\n" + ladder_table(result)
                text += f"\n{NO_YARDSTICK}\n" if is_uct_below_random(result) else ""
                commands.append((name, result))
    shares = {result["game"]: result for result in results if result["kind"] == "shares"}
    if shares:
        commands += [(GAMES[game], result) for game, result in shares.items()]
        text += f"\n## Published shares\n\n{SHARES}\n\n" + shares_table(shares)
    rows = [row_of_step(step, results) for step in steps if step.result(results) is None]
    text += f"\n## Not played in full\n\n{UNFINISHED if rows else FINISHED}\n"
    text += f"\n{table([['game', 'step', 'games', 'planned'], *rows])}" if rows else ""
    text += f"\n## Commands\n\n{COMMANDS}\n"
    for name, result in commands:
        note = f"{name}, {result['date']}, {played_by(result)}"
        text += f"\n- {note}:\n\n      {result['command'].replace(chr(10), chr(10) + ' ' * 6)}\n"
    return text


def played_by(result):
    """Return the builds, the commit and the machine of a result.

    Of a ladder, whose games may be of many machines, the builds. A build has the version of the installed package's
    metadata, which the commit can be ahead of.
    """
    if result["kind"] == "ladder":
        return "; ".join(result["builds"])
    version = f"mexica-ai {result['release']}"
    build = result.get("build", version)
    ahead = "" if version in build else f" ({result['release']} by its commit)"
    return f"{build}{ahead}, commit {result['commit']}, {result['machine']}"


def is_uct_below_random(result):
    """Return whether all `uct` of a rating list are below a `random`."""
    kinds = [parse_spec(engine["spec"]).kind for engine in result["engines"]]  # the best first
    return {"uct", "random"} <= set(kinds) and kinds.index("random") < kinds.index("uct")


def mean_of(result):
    anchor = result["anchor"]
    return f"`{anchor['engine']}` is set to {anchor['rating']:g}" if anchor else "their mean is 0"


def ladder_table(result):
    rows = [["engine", "rating", "likelihood that it is above the next", "games"]]
    for engine in result["engines"]:
        better = engine["superiority"]
        chance = "" if better is None else f"{100 * better:.1f} %"
        mean, low, high = engine["rating"]
        rating = f"{mean:.0f}" if low is None or low == high else f"{mean:.0f} ({low:.0f} to {high:.0f})"
        rows.append([f"`{engine['engine'].replace('|', '/')}`", rating, chance, engine["games_counted"]])
    return table(rows)


def match_in_words(match):
    """Return who played whom."""
    return f"{shown(match['engines'][0])} against {rival_of(match)}, {match['players']} seats"


def row(result):
    own, *others = result["iterations_per_turn"]
    means = [own, None if None in others else sum(others) / len(others)]
    iterations = " / ".join("?" if number is None else f"{number:,.0f}" for number in means)
    return [
        match_in_words(result),
        percent(result["share"]),
        elo(result["elo"]),
        iterations,
        result["games"],
        result["date"],
    ]


def row_of_step(step, results):
    """Return how far a step of the plan is: its games that count here, and those that are planned."""
    games = max((step.games_in(result) for result in results), default=0)
    words = {"levels": "each pair of levels", "ladder": "rating list", "shares": "published shares"}
    if step.kind == "match":
        words["match"] = match_in_words(
            {"rival": step.plan.get("rival"), "engines": step.engines, "players": step.players}
        )
    return [GAMES[step.game], words[step.kind], games, step.num_games]


def shares_table(shares):
    measured = [shares.get(game) for game in GAMES]
    heads = [f"{name}, {r['games']:,} games" if r else name for name, r in zip(GAMES.values(), measured, strict=True)]
    rows = [["share that a search publishes", *heads]]

    def add(label, figures, form):
        cells = [figures(result) if result else None for result in measured]
        rows.append([label, *(form.format(*cell) if cell else NOT_MEASURED for cell in cells)])

    for tenth in range(10):
        add(f"{tenth / 10} to {(tenth + 1) / 10}", lambda r, tenth=tenth: r["tenths"][tenth], "{:+.3f} ({:.3f})")
    add("weight of the search less its evaluation", lambda r: r["weight_of_search"], "{:.2f} ({:.2f})")
    return table(rows)


def table(rows):
    """Return rows, the first of which is the head, as a table of Markdown."""
    lines = ["| " + " | ".join(map(str, cells)) + " |" for cells in rows]
    lines = [re.sub(r"\| +(?=\|)", "| ", line) for line in lines]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]) + "\n"


# Weights -> which of their results were played before the plan, which fixes the numbers of games.
OLDER = {
    "66de8a523526": """ The rows of 2 seats against `greedy`, `uct` and half the iterations, and the published shares,
are older than the plan.""",
}
INTRODUCTION = """\
# Strength

`make strength` plays the matches of `benchmarks/plans/release.toml` that are not in `benchmarks/results` yet, and
writes this page from there; it is not edited. All results are of the weights that ship with release {release}; the code
is often that of an earlier build, in some matches of several builds or machines, as the [commands](#commands) say.
Results of older weights are not shown; older pages are in git (`git show c57934e:benchmarks/STRENGTH.md`).

Matches are played by `mexica-ai arena` ([arena.md](arena.md)). The first engine is the one that is measured; without
`weights` an engine has those that ship. `greedy` plays the best next action by the same evaluation, again and again;
`uct` is the textbook search over single actions, see [search.md](search.md#baselines). Each block of games plays one
deal with all seatings; with four seats four of the 24, in which each engine has each seat once. Ranges in brackets are
95 % intervals, from the variance between blocks. Shares of the win are per seat: with two seats 50 % is equal, with one
against three 25 %. What was planned and not played, or not with all its games, is [listed](#not-played-in-full). Elo is
left out where all games were won, and with more than two seats. Iterations a turn are means over an engine's own turns,
or over those of all three others. The positions differ, so they are no measure of its speed.

No engine here has been measured against strong human players.
"""
LEVELS = """\
How far each level is above the one below, level 1 above `greedy` (less than 0: below), {date}; level 10 with 8,000
iterations a turn. Gaps of 100 to 200 are aimed at. The errors of the levels were tuned for such gaps: in Coatl and
Tzolk'in partly on these same games, so new games would show less even gaps; in Mexica with older weights."""
LADDER = """\
Rating list, {players} seats, {games} games in {blocks} blocks, {date}: 400 points are a factor of ten in strength, and
{mean}. A prior counts a game won and a game lost of each engine, against one of average
strength. In brackets the version that played."""
SHARES = """\
Equal engines with 64 iterations a turn, 2 seats: how much the seat to move won less the share that its search
published, by tenths of that share, in games to which the map of published shares had not been fitted; and the weight,
in a regression of what it won, of what the search adds to its evaluation, before that map. Standard errors in brackets,
by the variance between games. Right would be differences of 0 and a weight of 1."""
NO_YARDSTICK = "So `uct` is no yardstick here: it is below `random`."
FINISHED = "All that was planned was played with all its games."
UNFINISHED = """\
For these the number of games was fixed before the first was played. They have fewer, so their intervals are wider than
planned; a match was left where the time of the machines ended, not where it looked best."""
COMMANDS = """\
Without `--reproducible` the seeds of the games do not follow from the command, so a repetition plays other games. The
games of rating lists are compressed in the repository: `xz -dk FILE.jsonl.xz` comes first. A build is named by the
version in the metadata of the package, which may have been installed from an older commit, and a digest of code,
compiled modules, weights and ratings of levels, so one commit can have several. The commit is that of the build that
played last, whatever the order of several."""

if __name__ == "__main__":
    main()
