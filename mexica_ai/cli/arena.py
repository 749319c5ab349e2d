"""`mexica-ai arena`: play tournaments between engines, and report on their journals."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mexica_ai.arena.config import read_config
from mexica_ai.arena.tables import count
from mexica_ai.cli import arena_ladder, arena_show, common
from mexica_ai.cli.arena_setup import EndTest, make_tournament, number_of_blocks, openings_of, processors_of, test_of
from mexica_ai.engines.specs import parse_spec, seconds
from mexica_ai.game import registry
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import MexicaAIError, NotationError

if TYPE_CHECKING:
    from mexica_ai.arena.html_report import HtmlReport
    from mexica_ai.arena.journal import JournalWriter
    from mexica_ai.arena.play import Task
    from mexica_ai.arena.report import Collected
    from mexica_ai.arena.runner import Progress
    from mexica_ai.arena.sprt import SequentialTest
    from mexica_ai.arena.tournament import Tournament
    from mexica_ai.cli.arena_options import TournamentOptions

EXIT_LOST, EXIT_H0, EXIT_UNDECIDED, EXIT_FORFEITS, EXIT_INTERRUPTED = 1, 3, 4, 5, 130

MAX_NOTES = 10  # about games that could not be played

DESCRIPTION = f"""\
Play engines against each other and print their strengths with 95 % intervals.

The unit is a block: one deal, played on all seatings, so that neither seat nor
deal favours an engine. With two engines A and B, a block has 2 games with two
seats (A on each), 6 with three (one A and two B, two A and one B, on each seat)
and 8 with four (one A, three A). With more engines, each combination of as many
engines as seats has its own blocks, with all seatings or --sample of them.

An engine that crashes, hangs, sends an unreadable answer or plays an illegal
turn forfeits that game; the tournament goes on, and the table sets such games
apart (--forfeits). With --journal every finished
game is saved at once, and the same command with --resume plays the missing
games, also after a crash or Ctrl-C. `mexica-ai arena report JOURNAL...` prints
the figures of journals again. `mexica-ai arena check 'cmd:...'` checks whether
a program keeps to the protocol. No program can find the deal from the seed,
unless --reproducible is given.

Examples:
  mexica-ai arena --engine mcts --engine uct --time 0.2 --blocks 50
  mexica-ai arena --engine mcts,time=0.4 --engine mcts,time=0.1 --players 4 \\
      --blocks 500 --journal games.jsonl --resume --sprt 0.25,0.30,0.05,0.05
  mexica-ai arena report games.jsonl --format json

{common.ENGINES_HELP}

Exit code: 0 if all games were played, 1 if some could not be played or after
another failure, 2 for bad input, 130 after Ctrl-C (with the table so far).
With --sprt: 0 if H1 is accepted, 3 if H0 is, even if some games could not be
played; 4 if all blocks were played without a decision. 5, also with --sprt, if
a result rests on forfeits: they ended more than 5 % of an engine's games.
"""

REPORT_SUMMARY = "print the figures of journals"
REPORT_DESCRIPTION = """\
Compute all figures from journals again. The journals may be of different
tournaments if these have the same game and number of seats: engines with the
same spec count as the same engine, and a game that occurs twice counts once.
Exit code: 5 if a result rests on forfeits, else 0; 2 for bad input.

Example:
  mexica-ai arena report monday.jsonl tuesday.jsonl --format csv
"""


CHECK_SUMMARY = "check whether a program keeps to the protocol"
CHECK_DESCRIPTION = """\
Start a program and check, one by one, what the stdio protocol asks for: the
greeting, output that is flushed, legal turns in a whole game, time, stop, the
end of the input. One line for each check: ok, FAILED, or note (the arena can do
without it). Exit code: 0 if none failed, 1 if one did, 2 for bad input.

Example:
  mexica-ai arena check 'cmd:python examples/engine_random.py' --time 0.5
"""
CHECK_TIME_S = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from mexica_ai.cli.arena_options import HOW, OUTPUT, TIME, WHO, declare

    commands = parser.add_subparsers(title="commands", metavar="report, show, ladder, check", dest="action")
    report = _add_subcommand(commands, "report", REPORT_SUMMARY, REPORT_DESCRIPTION)
    report.add_argument("journals", nargs="+", metavar="JOURNAL", help="a file written with --journal")
    declare(report, OUTPUT)
    arena_show.add_arguments(_add_subcommand(commands, "show", arena_show.SUMMARY, arena_show.DESCRIPTION))
    arena_ladder.add_arguments(_add_subcommand(commands, "ladder", arena_ladder.SUMMARY, arena_ladder.DESCRIPTION))
    _add_check_arguments(_add_subcommand(commands, "check", CHECK_SUMMARY, CHECK_DESCRIPTION))
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="read options from a TOML file; a key is the name of an option, such as blocks = 50. Options of the "
        "command line override it",
    )
    parser.set_defaults(actions=declare(parser, WHO, TIME, HOW, OUTPUT))


def _add_subcommand(commands: Any, name: str, summary: str, description: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return parser


def _add_check_arguments(check: argparse.ArgumentParser) -> None:
    from mexica_ai.arena.tournament import DEFAULT_MARGIN_S

    check.add_argument("program", metavar="SPEC", help="the program, cmd:COMMAND")
    check.add_argument(
        "--game",
        dest="check_games",
        action="append",
        type=common.game,
        choices=registry.names(),
        help="a game that it must play; may be repeated (default: all that it says it plays)",
    )
    for name, destination, default, text in (
        ("--time", "check_time", CHECK_TIME_S, "limit of each turn"),
        ("--margin", "check_margin", DEFAULT_MARGIN_S, "how much later an answer may come"),
    ):
        check.add_argument(
            name,
            dest=destination,
            type=common.argument(seconds),
            default=default,
            metavar="SECONDS",
            help=f"{text} (default: {default:g})",
        )
    check.add_argument(
        "--format",
        dest="check_format",
        choices=("table", "json"),
        default="table",
        help="of the result (default: table)",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from mexica_ai.cli.arena_options import TournamentOptions

    if args.action == "check":
        return _run_check(args)
    if args.action == "show":
        return arena_show.run(args)
    if args.action == "ladder":
        return arena_ladder.run(args)
    given = read_config(args.config, args.actions) if args.config else {}
    options = TournamentOptions.of(given | vars(args))
    with common.needing("arena"):
        from mexica_ai.arena import statistics  # noqa: F401 (slow to import)
    if args.action == "report":
        _check_files(options, ("standings", "html", "plot"), args.journals)
    else:
        _check_files(options, ("openings", "journal", "log", "standings", "html", "plot"), [])
    if options.plot:
        common.check_picture(options.plot)
    if options.standings:
        from mexica_ai.arena.standings_text import check_standings_path

        check_standings_path(options.standings)
    return _run_report(args.journals, options) if args.action == "report" else _run_tournament(options)


def _check_files(options: TournamentOptions, names: tuple[str, ...], journals: list[str]) -> None:
    """Raise NotationError if two of these options name one file, or one names a journal that is read."""
    given = {f"--{name}": getattr(options, name) for name in names}
    for path in (None, *journals):
        files.check_distinct({"JOURNAL": path, **given})


def _run_check(args: argparse.Namespace) -> int:
    from mexica_ai.arena.check import FAILED, NOTE, check_program

    found = []
    for finding in check_program(
        parse_spec(args.program), games=args.check_games, time_s=args.check_time, margin_s=args.check_margin
    ):
        found.append(finding)
        if args.check_format == "table":
            detail = terminal.shorten(finding.detail, terminal.MAX_MESSAGE)
            terminal.say(f"{finding.status:7} {finding.name}: {detail}", flush=True)
    failed = sum(finding.status == FAILED for finding in found)
    if args.check_format == "json":
        print(json.dumps([dataclasses.asdict(finding) for finding in found]))
    else:
        notes = sum(finding.status == NOTE for finding in found)
        terminal.say(f"{count(len(found), 'check')}: {len(found) - failed - notes} ok, {failed} failed, {notes} noted")
    return EXIT_LOST if failed else 0


def _run_report(paths: list[str], options: TournamentOptions) -> int:
    from mexica_ai.arena.adjust import Luck
    from mexica_ai.arena.html_report import HtmlReport
    from mexica_ai.arena.journal import read_journal
    from mexica_ai.arena.report import collect

    journals = [read_journal(path) for path in paths]
    for journal in journals:
        if journal.is_torn:
            _note(f"{journal.path}: the last line is incomplete and not counted")
    games = [game for journal in journals for game in journal.games]
    collected = collect(games, Luck() if options.adjust else None)
    sprt = test_of(options, games[0][0], len(collected.names)) if games else None
    if options.standings:
        _check_standings(collected)
    if options.text:
        _write_texts(options.text, games)
    if collected.num_repeated:
        times = "occurs more than once and is" if collected.num_repeated == 1 else "occur more than once and are"
        _note(f"{count(collected.num_repeated, 'game')} {times} counted once")
    found = _print_report(options, collected, sprt)
    if options.html:
        HtmlReport(options.html).write(games, found)
    return EXIT_FORFEITS if _rests_on_forfeits(found) else 0


def _run_tournament(options: TournamentOptions) -> int:
    from mexica_ai.arena.adjust import Luck
    from mexica_ai.arena.html_report import HtmlReport
    from mexica_ai.arena.log import check_log
    from mexica_ai.arena.play import check_engines
    from mexica_ai.arena.report import check_anchor, collect

    openings = openings_of(options)
    tournament = make_tournament(options, openings)
    sprt = test_of(options, tournament, len(tournament.engines))
    if options.anchor:
        check_anchor(options.anchor, tournament.names)
    processors_of(options)  # raises if there are none
    if options.resume and not options.journal:
        raise NotationError("--resume needs --journal (see `mexica-ai arena --help`)", reason="BAD_USAGE")
    log = os.path.abspath(options.log) if options.log else None
    if log:
        check_log(log)
    num_blocks = number_of_blocks(options, tournament, openings)
    if options.cluster is None:  # a cluster starts programs on its workers, not here
        check_engines(tournament, log)
    html = HtmlReport(options.html) if options.html else None
    test = EndTest(sprt, options.forfeits, tournament, Luck() if options.adjust else None)
    progress, failure = _play(options, tournament, num_blocks, openings, test, log, html)
    collected = collect(((progress.tournament, record) for record in progress.records), test.luck)
    found = _print_report(options, collected, sprt)
    if html:
        html.write([(progress.tournament, record) for record in progress.records], found)
    _tell_failures(options, progress, found)
    if test.too_many_forfeits:
        _note(
            f"ended after {len(progress.records):,} of {count(progress.num_games, 'game')}: {test.too_many_forfeits} "
            f"of them forfeited, more than --forfeits {options.forfeits} allows"
        )
    if failure is not None:
        _note(f"ended after {len(progress.records):,} of {count(progress.num_games, 'game')}")
        raise failure
    return _exit_code(progress, found, bool(test.too_many_forfeits))


def _play(
    options: TournamentOptions,
    tournament: Tournament,
    num_blocks: int,
    openings: tuple[str, ...],
    test: EndTest,
    log: str | None,
    html: HtmlReport | None,
) -> tuple[Progress, MexicaAIError | None]:
    """Play the games that the journal lacks; return what was played, and the error that ended it if one did."""
    from rich.console import Console

    from mexica_ai.arena.display import Display
    from mexica_ai.arena.pool import GamePool
    from mexica_ai.arena.runner import run as run_tournament
    from mexica_ai.arena.text import TextFolder

    texts = TextFolder(options.text) if options.text else None
    shown: Progress | None = None

    def show(progress: Progress) -> None:
        nonlocal shown
        shown = progress
        display.show(progress)
        if texts:
            texts.write_new(progress.tournament, progress.records)
        if html:
            html.show(progress, lambda: _figures(options, progress, test))

    with contextlib.ExitStack() as stack:
        journal = _open_journal(options, tournament, stack)
        tournament = journal.tournament if journal else tournament
        # Before the executor, so that it is there until that is shut down.
        stop = stack.enter_context(common.stop_on_interrupt())
        executor, concurrency = stack.enter_context(common.executor(options.cluster, options.concurrency))
        if cpus := processors_of(options):
            assert isinstance(executor, GamePool)  # not a cluster
            executor.bind(cpus)
        console = Console(stderr=True, highlight=False)
        display = stack.enter_context(Display(console, test.sprt, options.forfeits, test.luck))
        try:
            progress = run_tournament(
                tournament,
                num_blocks,
                executor,
                concurrency=concurrency,
                journal=journal,
                is_decided=test.is_decided,
                display=show,
                stop=stop,
                openings=openings,
                log=log,
                play=_player(options),
            )
            if texts:
                texts.write_new(progress.tournament, progress.records)
            return progress, None
        except MexicaAIError as error:  # such as a full disk; the games so far are counted all the same
            if shown is None:
                raise
            return shown, error


def _open_journal(
    options: TournamentOptions, tournament: Tournament, stack: contextlib.ExitStack
) -> JournalWriter | None:
    """Open the journal, which the stack will close, and tell what is unusual about it; None without `--journal`."""
    from mexica_ai.arena.journal import JournalWriter
    from mexica_ai.arena.report import check_anchor

    if not options.journal:
        return None
    journal = stack.enter_context(JournalWriter(options.journal, tournament, resume=options.resume))
    if options.anchor:
        check_anchor(options.anchor, journal.tournament.names)  # may be other words for the same
    _tell_of_journal(options, journal)
    return journal


def _tell_of_journal(options: TournamentOptions, journal: JournalWriter) -> None:
    """Tell what is unusual about a journal that existed."""
    from mexica_ai.arena.runner import describe_build

    if journal.was_torn:
        _note(f"{options.journal}: the last line was incomplete; its game is played again")
    if {record.get("build") for record in journal.games} - {describe_build(options.game)}:
        _note(f"{options.journal}: started with another build of mexica-ai")
    if journal.tournament.key is None:
        _note(
            f"{options.journal}: started by an early version, whose seeds have no secret key; a program can "
            "compute the deals from them"
        )


def _tell_failures(options: TournamentOptions, progress: Progress, found: dict[str, Any]) -> None:
    """Tell of games that were forfeited, and of those that could not be played."""
    from mexica_ai.arena.forfeits import busy_warning
    from mexica_ai.arena.runner import describe_lost

    if found["forfeits"]:
        where = "; the journal says why" if options.journal else ""
        were = "was" if found["forfeits"] == 1 else "were"
        _note(f"{found['forfeits']:,} of {count(found['games'], 'game')} {were} forfeited{where}")
    if busy := busy_warning(found):
        _note(busy)
    if progress.ended_by == "failed":
        _note(
            f"ended after {len(progress.records):,} of {count(progress.num_games, 'game')}: a program has failed, and "
            "--restart off starts none again"
        )
    for game, why in progress.lost[:MAX_NOTES]:
        _note(describe_lost(game, why))
    if len(progress.lost) > MAX_NOTES:
        _note(f"and {count(len(progress.lost) - MAX_NOTES, 'more game')}")


def _exit_code(progress: Progress, found: dict[str, Any], is_ended_by_forfeits: bool = False) -> int:
    if progress.ended_by == "stopped":
        _note(f"interrupted after {len(progress.records):,} of {count(progress.num_games, 'game')}")
        return EXIT_INTERRUPTED
    if progress.ended_by == "failed":
        return EXIT_LOST
    if is_ended_by_forfeits or _rests_on_forfeits(found):
        return EXIT_FORFEITS
    test = found.get("adjusted", found).get("sprt")  # the one that ends the tournament
    decision = test["decision"] if test else None
    if decision is not None:  # games that could not be played do not change it
        return {"H1": 0, "H0": EXIT_H0}[decision]
    if progress.lost:
        return EXIT_LOST
    return EXIT_UNDECIDED if "sprt" in found else 0


def _rests_on_forfeits(found: dict[str, Any]) -> bool:
    """Return whether a result says who failed rather than who is strong, or forfeits have left none."""
    return bool(found["rests_on_forfeits"]) or (found["blocks_dropped"] > 0 and found["blocks"] == 0)


def _write_texts(path: str, games: list[tuple[Tournament, dict[str, Any]]]) -> None:
    """Write all games of journals; those of several tournaments are told apart by the names of their files."""
    from mexica_ai.arena.text import TextFolder

    folder = TextFolder(path)
    numbers: dict[str, int] = {}
    for tournament, _ in games:
        numbers.setdefault(json.dumps(tournament.to_json()), len(numbers) + 1)
    for tournament, record in games:
        number = numbers[json.dumps(tournament.to_json())]
        folder.write(tournament, record, f"tournament-{number}-" if len(numbers) > 1 else "")


def _player(options: TournamentOptions) -> Callable[[Task], dict[str, Any]]:
    """Return what plays a game."""
    from mexica_ai.arena.play import play_game

    return functools.partial(play_game, keeps_searches=not options.no_search_log)


def _figures(options: TournamentOptions, progress: Progress, test: EndTest) -> dict[str, Any]:
    """Return the figures of the games so far."""
    from mexica_ai.arena.report import collect, evaluate

    games = ((progress.tournament, record) for record in progress.records)
    anchor = options.anchor if progress.records else None
    return evaluate(collect(games, test.luck), test.sprt, anchor, options.forfeits)


def _print_report(options: TournamentOptions, collected: Collected, sprt: SequentialTest | None) -> dict[str, Any]:
    from mexica_ai.arena.report import evaluate, format_report

    found = evaluate(collected, sprt, options.anchor, options.forfeits)
    text = format_report(found, options.format, terminal.width())
    if options.format == "table":
        terminal.say(*text.splitlines(), flush=True)
    else:
        print(text, end="", flush=True)
    if options.plot:
        from mexica_ai.arena import plot

        plot.draw(found, collected, options.plot)
    if options.standings and collected.by_tournament:
        _write_standings(options.standings, collected)
    return found


def _check_standings(collected: Collected) -> None:
    if len(collected.by_tournament) != 1:
        raise NotationError(
            f"--standings: given games of {count(len(collected.by_tournament), 'tournament')}; expected those of one",
            reason="OTHER_TOURNAMENT",
        )


def _write_standings(path: str, collected: Collected) -> None:
    from mexica_ai.arena.standings import standings
    from mexica_ai.arena.standings_text import write_standings

    _check_standings(collected)
    write_standings(standings(*collected.by_tournament[0]), collected.game, path)


def _note(text: str) -> None:
    terminal.tell(text)
