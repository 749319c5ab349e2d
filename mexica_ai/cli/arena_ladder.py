"""`mexica-ai arena ladder`: a rating list of all journals in a folder."""

from __future__ import annotations

import argparse
import shlex

from mexica_ai import __version__
from mexica_ai.cli import common, picture
from mexica_ai.cli.arena_options import read_anchor
from mexica_ai.game import registry
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import NotationError

SUMMARY = "a rating list of all journals in a folder"
DESCRIPTION = """\
Rate the engines of all journals (*.jsonl) in a folder and the folders in it
together: Plackett-Luce over all games, 95 % intervals by a bootstrap over
blocks. There is a list for each game and number of seats. Engines that never
met, directly or by others, are in different groups and are not compared.

An engine is its spec, its weights, its clock and the build that played it, so
that each release has a rating of its own. Releases are compared by engines that
are the same in all of them: random players, programs (cmd:) and servers by
their spec and name, and those of --same. --by release counts all builds of a
version as one. Blocks with a forfeit are left out unless --forfeits count.

A file that is no journal is named and skipped; one that is named on the command
line must be one. Nothing is kept between two calls.

Examples:
  mexica-ai arena ladder journals
  mexica-ai arena ladder journals --same uct --anchor random=0 --html all.html
  mexica-ai arena ladder journals --results benchmarks/results
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="a folder with journals, or a journal")
    parser.add_argument(
        "--game", dest="ladder_game", type=common.game, choices=registry.names(), help="only of this game"
    )
    parser.add_argument(
        "--anchor",
        dest="anchors",
        action="append",
        type=common.argument(read_anchor),
        metavar="NAME=RATING",
        help="give this engine this rating, and the others of its group theirs by their difference from it; may be "
        "repeated, once for each group (default: mean 0)",
    )
    parser.add_argument(
        "--by",
        choices=("build", "release"),
        default="build",
        help="what played: the code (default), or the version alone",
    )
    parser.add_argument(
        "--same",
        action="append",
        metavar="NAME",
        help="count the engine of this name or spec as the same in all builds; may be repeated",
    )
    parser.add_argument(
        "--forfeits",
        choices=("drop", "count"),
        default="drop",
        help="blocks in which a seat forfeited are left out (default), or count",
    )
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=("table", "json", "csv"), default="table", help="default: table")
    output.add_argument("--html", metavar="FILE", help="write a page with the lists")
    output.add_argument(
        "--results",
        metavar="FOLDER",
        help="write the list of each game in which this release has played as GAME-SEATS-ladder.json, as "
        "benchmarks/strength.py reads it",
    )
    picture.add_plot_option(parser, "the ratings of the first list")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    with common.needing("arena"):
        from mexica_ai.arena import ladder
    from mexica_ai.arena import ladder_report

    picture.check(args)
    files.check_distinct({"--html": args.html, "--plot": args.plot})
    if args.html is not None and (problem := files.problem_of(args.html)):
        raise NotationError(f"--html: cannot write {args.html!r}: {problem}", reason="BAD_USAGE")
    gathered = ladder.gather(
        args.folders,
        by_release=args.by == "release",
        same=args.same or (),
        drops_forfeits=args.forfeits == "drop",
    )
    if args.ladder_game is not None:
        gathered.leagues = [league for league in gathered.leagues if league.game == args.ladder_game]
        if not gathered.leagues:
            raise NotationError(f"--game: no journal is of {args.ladder_game}", reason="BAD_USAGE")
    if args.html is not None and (
        problem := files.problem_of(args.html, *(journal["path"] for journal in gathered.journals))
    ):
        raise NotationError(f"--html: cannot write {args.html!r}: {problem}", reason="BAD_USAGE")
    found = ladder.rate(gathered, dict(args.anchors or ()))
    text = ladder_report.format_list(found, args.format, terminal.width())
    if args.format == "table":
        terminal.say(*text.splitlines(), flush=True)
    else:
        for skipped in found["skipped"]:
            terminal.tell(f"skipped, no journal: {skipped['problem']}")
        print(text, end="", flush=True)
    if args.html is not None:
        files.replace(args.html, ladder_report.page(found), "--html")
    if args.plot is not None:
        picture.write(args, ladder_report.draw(found, theme=args.theme))
    if args.results is not None:
        _write_results(args, found)
    return 0


def _write_results(args: argparse.Namespace, found: dict[str, object]) -> None:
    from mexica_ai.arena import ladder_report

    every = {name: registry.get(name).weights() for name in registry.names()}
    shipped = {name: weights.version for name, weights in every.items() if weights is not None}
    results = ladder_report.results_of(found, release=__version__, shipped=shipped, command=_command(args))
    for path in ladder_report.write_results(results, args.results):
        terminal.tell(f"wrote {path}")
    if not results:
        terminal.tell(f"no result: no engine of release {__version__} with the weights that ship has played")


def _command(args: argparse.Namespace) -> str:
    """Return the command that makes the list again."""
    words = ["mexica-ai", "arena", "ladder", *args.folders]
    for name, rating in args.anchors or ():
        words += ["--anchor", f"{name}={rating:g}"]
    for name in args.same or ():
        words += ["--same", name]
    words += ["--by", args.by] if args.by != "build" else []
    words += ["--forfeits", args.forfeits] if args.forfeits != "drop" else []
    return shlex.join(words)
