"""`mexica-ai arena`: play tournaments between engines, and report on their journals."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import json
import math
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mexica_ai.arena.config import read_config
from mexica_ai.cli import arena_ladder, arena_show, common
from mexica_ai.engines.make import weights_id
from mexica_ai.engines.specs import parse_spec, seconds
from mexica_ai.game import registry
from mexica_ai.game.position import new_game
from mexica_ai.io import terminal
from mexica_ai.io.errors import MexicaAIError, NotationError

if TYPE_CHECKING:
    from mexica_ai.arena.html_report import HtmlReport
    from mexica_ai.arena.journal import JournalWriter
    from mexica_ai.arena.outcomes import Outcome
    from mexica_ai.arena.play import Task
    from mexica_ai.arena.report import Collected
    from mexica_ai.arena.runner import Progress
    from mexica_ai.arena.statistics import Sprt
    from mexica_ai.arena.tournament import Tournament
    from mexica_ai.cli.arena_options import TournamentOptions

EXIT_LOST, EXIT_H0, EXIT_UNDECIDED, EXIT_INTERRUPTED = 1, 3, 4, 130

DEFAULT_BLOCKS = 10
MAX_NOTES = 10  # about games that could not be played

SUMMARY = "play a tournament between engines"
DESCRIPTION = f"""\
Play engines against each other and print their strengths with 95 % intervals.

The unit is a block: one deal, played on all seatings, so that neither seat nor
deal favours an engine. With two engines A and B, a block has 2 games with two
seats (A on each), 6 with three (one A and two B, two A and one B, on each seat)
and 8 with four (one A, three A). With more engines, each combination of as many
engines as seats has its own blocks, with all seatings or --sample of them.

An engine that crashes, hangs, sends an unreadable answer or plays an illegal
turn forfeits that game; the tournament goes on. With --journal every finished
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
played; 4 if all blocks were played without a decision.
"""

REPORT_SUMMARY = "print the figures of journals"
REPORT_DESCRIPTION = """\
Compute all figures from journals again. The journals may be of different
tournaments if these have the same game and number of seats: engines with the
same spec count as the same engine, and a game that occurs twice counts once.

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
    if options.plot:
        common.check_picture(options.plot)
    return _run_report(args.journals, options) if args.action == "report" else _run_tournament(options)


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
        terminal.say(f"{len(found)} checks: {len(found) - failed - notes} ok, {failed} failed, {notes} noted")
    return EXIT_LOST if failed else 0


def _run_report(paths: list[str], options: TournamentOptions) -> int:
    from mexica_ai.arena.html_report import HtmlReport
    from mexica_ai.arena.journal import read_journal
    from mexica_ai.arena.report import collect

    journals = [read_journal(path) for path in paths]
    for journal in journals:
        if journal.is_torn:
            _note(f"{journal.path}: the last line is incomplete and not counted")
    games = [game for journal in journals for game in journal.games]
    collected = collect(games)
    sprt = _sprt(options, games[0][0], len(collected.names)) if games else None
    if options.text:
        _write_texts(options.text, games)
    if collected.num_repeated:
        _note(f"{collected.num_repeated} games occur more than once and are counted once")
    found = _print_report(options, collected, sprt)
    if options.html:
        HtmlReport(options.html).write(games, found)
    return 0


def _run_tournament(options: TournamentOptions) -> int:
    from mexica_ai.arena.html_report import HtmlReport
    from mexica_ai.arena.log import check_log
    from mexica_ai.arena.play import check_engines
    from mexica_ai.arena.report import check_anchor, collect

    openings = _openings(options)
    tournament = make_tournament(options, openings)
    sprt = _sprt(options, tournament, len(tournament.engines))
    if options.anchor:
        check_anchor(options.anchor, tournament.names)
    if options.resume and not options.journal:
        raise NotationError("--resume needs --journal (see `mexica-ai arena --help`)", reason="BAD_USAGE")
    log = os.path.abspath(options.log) if options.log else None
    if log:
        check_log(log)
    num_blocks = _num_blocks(options, tournament, openings)
    if options.cluster is None:  # a cluster starts programs on its workers, not here
        check_engines(tournament, log)
    html = HtmlReport(options.html) if options.html else None
    progress, failure = _play(options, tournament, num_blocks, openings, sprt, log, html)
    collected = collect((progress.tournament, record) for record in progress.records)
    found = _print_report(options, collected, sprt)
    if html:
        html.write([(progress.tournament, record) for record in progress.records], found)
    _tell_failures(options, progress, found)
    if failure is not None:
        _note(f"ended after {len(progress.records)} of {progress.num_games} games")
        raise failure
    return _exit_code(progress, found)


def _play(
    options: TournamentOptions,
    tournament: Tournament,
    num_blocks: int,
    openings: tuple[str, ...],
    sprt: Sprt | None,
    log: str | None,
    html: HtmlReport | None,
) -> tuple[Progress, MexicaAIError | None]:
    """Play the games that the journal lacks; return what was played, and the error that ended it if one did."""
    from rich.console import Console

    from mexica_ai.arena.display import Display
    from mexica_ai.arena.journal import JournalWriter
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
            html.show(progress, lambda: _figures(options, progress, sprt))

    with contextlib.ExitStack() as stack:
        journal = None
        if options.journal:
            journal = JournalWriter(options.journal, tournament, resume=options.resume)
            stack.enter_context(journal)
            _tell_of_journal(options, journal)
            tournament = journal.tournament
        # Before the executor, so that it is there until that is shut down.
        stop = stack.enter_context(common.stop_on_interrupt())
        executor, concurrency = stack.enter_context(common.executor(options.cluster, options.concurrency))
        display = stack.enter_context(Display(Console(stderr=True, highlight=False), sprt))
        try:
            progress = run_tournament(
                tournament,
                num_blocks,
                executor,
                concurrency=concurrency,
                journal=journal,
                is_decided=_Test(sprt, tournament).is_decided,
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
    from mexica_ai.arena.runner import describe_lost

    if found["forfeits"]:
        where = "; the journal says why" if options.journal else ""
        _note(f"{found['forfeits']} of {found['games']} games were forfeited{where}")
    for game, why in progress.lost[:MAX_NOTES]:
        _note(describe_lost(game, why))
    if len(progress.lost) > MAX_NOTES:
        _note(f"and {len(progress.lost) - MAX_NOTES} more games")


def _exit_code(progress: Progress, found: dict[str, Any]) -> int:
    if progress.ended_by == "stopped":
        _note(f"interrupted after {len(progress.records)} of {progress.num_games} games")
        return EXIT_INTERRUPTED
    decision = found["sprt"]["decision"] if "sprt" in found else None
    if decision is not None:  # games that could not be played do not change it
        return {"H1": 0, "H0": EXIT_H0}[decision]
    if progress.lost:
        return EXIT_LOST
    return EXIT_UNDECIDED if "sprt" in found else 0


def _openings(options: TournamentOptions) -> tuple[str, ...]:
    from mexica_ai.arena.openings import read_openings

    if options.openings is None:
        if options.opening_turns is not None:
            raise NotationError("--opening-turns needs --openings", reason="BAD_USAGE")
        return ()
    return read_openings(options.openings, options.game, options.players, options.opening_turns)


def _num_blocks(options: TournamentOptions, tournament: Tournament, openings: tuple[str, ...]) -> int:
    """Return the number of blocks of the whole tournament."""
    blocks = options.blocks or len(openings) or DEFAULT_BLOCKS
    if openings and blocks > len(openings):
        _note(f"{blocks} blocks with {len(openings)} openings: each is used more than once")
    if tournament.format == "swiss":
        rounds = options.rounds or max(1, math.ceil(math.log(len(tournament.engines), tournament.players)))
        return rounds * tournament.blocks_per_round
    return blocks * tournament.num_lineups


def make_tournament(options: TournamentOptions, openings: tuple[str, ...] = ()) -> Tournament:
    """Return the tournament that the options describe; raise NotationError if they are invalid."""
    from mexica_ai.arena.openings import openings_id
    from mexica_ai.arena.tournament import (
        MAX_ENGINES,
        Tournament,
        complete_spec,
        draw_key,
        reproducible_key,
        unique_names,
    )

    typed = options.engine or []
    if not 2 <= len(typed) <= MAX_ENGINES:
        raise NotationError(
            f"--engine: {len(typed)} given; expected 2 to {MAX_ENGINES} (see `mexica-ai arena --help`)",
            reason="BAD_USAGE",
        )
    if options.sample is not None and len(typed) == 2:
        raise NotationError(
            "--sample is for more than two engines: a block of two has all its seatings", reason="BAD_USAGE"
        )
    is_swiss = options.tournament == "swiss"
    if options.rounds is not None and not is_swiss:
        raise NotationError("--rounds is for --tournament swiss", reason="BAD_USAGE")
    if is_swiss and len(typed) <= options.players:
        raise NotationError(
            f"--tournament swiss: {len(typed)} engines for {options.players} seats; expected more engines than seats",
            reason="BAD_USAGE",
        )
    completed = [complete_spec(text, options.time, options.iterations, options.clock is not None) for text in typed]
    new_game(options.game, players=options.players, seed=0)  # raises if the game does not allow this number
    return Tournament(
        game=options.game,
        players=options.players,
        engines=tuple(map(str, completed)),
        names=tuple(unique_names(typed, completed)),
        seed=options.seed,
        format=options.tournament,
        sample=options.sample,
        clock=options.clock,
        margin_s=options.margin,
        patience_s=options.patience,
        on_failure=options.on_failure,
        weights=tuple(weights_id(spec, options.game) for spec in completed),
        openings=openings_id(openings) if openings else None,
        resign=options.resign,
        max_turns=options.max_turns,
        round_blocks=(options.blocks or len(openings) or DEFAULT_BLOCKS) if is_swiss else None,
        key=reproducible_key(options.seed) if options.reproducible else draw_key(),
    )


class _Test:
    """The sequential test, checked after each block."""

    def __init__(self, sprt: Sprt | None, tournament: Tournament) -> None:
        self._sprt = sprt
        self._games_per_block = tournament.games_per_block
        self._outcomes: list[Outcome] = []

    def is_decided(self, progress: Progress) -> bool:
        from mexica_ai.arena.report import outcome_of

        if self._sprt is None:
            return False
        for record in progress.records[len(self._outcomes) :]:
            arena = record["arena"]
            self._outcomes.append(outcome_of(record, arena["block"], tuple(arena["seating"])))
        state = self._sprt.state(self._outcomes, games_per_block=self._games_per_block)
        return state.decision is not None


def _sprt(options: TournamentOptions, tournament: Tournament, num_engines: int) -> Sprt | None:
    from mexica_ai.arena.statistics import Sprt

    if options.sprt is None:
        return None
    if num_engines != 2:
        raise NotationError(f"--sprt compares two engines; there are {num_engines} in all", reason="BAD_USAGE")
    try:
        sprt = Sprt.parse(options.sprt, tournament.players)
        seatings = [game.seating for game in tournament.block(0)]
        sprt.check_reachable(len(seatings) / sum(seating.count(0) for seating in seatings))
        return sprt
    except ValueError as error:
        raise NotationError(f"--sprt: {error}", reason="BAD_USAGE") from None


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


def _figures(options: TournamentOptions, progress: Progress, sprt: Sprt | None) -> dict[str, Any]:
    """Return the figures of the games so far."""
    from mexica_ai.arena.report import collect, evaluate

    games = ((progress.tournament, record) for record in progress.records)
    return evaluate(collect(games), sprt, options.anchor if progress.records else None)


def _print_report(options: TournamentOptions, collected: Collected, sprt: Sprt | None) -> dict[str, Any]:
    from mexica_ai.arena.report import evaluate, format_report

    found = evaluate(collected, sprt, options.anchor)
    text = format_report(found, options.format, terminal.width())
    if options.format == "table":
        terminal.say(*text.splitlines(), flush=True)
    else:
        print(text, end="", flush=True)
    if options.plot:
        from mexica_ai.arena import plot

        plot.draw(found, collected, options.plot)
    return found


def _note(text: str) -> None:
    terminal.tell(text)
