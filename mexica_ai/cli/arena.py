"""`mexica-ai arena`: play tournaments between engines, and report on their journals."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import math
import os
import re
from typing import TYPE_CHECKING, Any

from mexica_ai.arena.config import NOT_IN_FILES, read_config
from mexica_ai.cli import common
from mexica_ai.engines.make import weights_id
from mexica_ai.engines.specs import KEYS, parse_spec, seconds, whole_number
from mexica_ai.game import registry
from mexica_ai.game.position import new_game
from mexica_ai.io import terminal
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.figures import MAX_TIME_S

if TYPE_CHECKING:
    from mexica_ai.arena.report import Collected
    from mexica_ai.arena.runner import Progress
    from mexica_ai.arena.statistics import Sprt
    from mexica_ai.arena.tournament import Tournament

EXIT_LOST, EXIT_H0, EXIT_UNDECIDED, EXIT_INTERRUPTED = 1, 3, 4, 130

DEFAULT_BLOCKS = 10
RESIGN_TURNS = 3
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
the figures of journals again. `mexica-ai arena check 'cmd:...'` checks whether a
program keeps to the protocol. No program can find the deal from the seed, unless
--reproducible is given.

Examples:
  mexica-ai arena --engine mcts --engine uct --time 0.2 --blocks 50 --concurrency 2
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
greeting, output that is flushed, legal turns in a whole game, time, stop, the end
of the input. One line for each check: ok, FAILED, or note (the arena can do
without it). Exit code: 0 if none failed, 1 if one did, 2 for bad input.

Example:
  mexica-ai arena check 'cmd:python examples/engine_random.py' --time 0.5
"""
CHECK_TIME_S = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from mexica_ai.arena.tournament import DEFAULT_MARGIN_S, DEFAULT_PATIENCE_S

    commands = parser.add_subparsers(title="commands", metavar="report, check", dest="action")
    report = commands.add_parser(
        "report",
        help=REPORT_SUMMARY,
        description=REPORT_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    report.add_argument("journals", nargs="+", metavar="JOURNAL", help="a file written with --journal")
    check = commands.add_parser(
        "check",
        help=CHECK_SUMMARY,
        description=CHECK_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
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
    # Without defaults, which would override options given before `report`.
    _add_output_options(report, argument_default=argparse.SUPPRESS)

    parser.add_argument(
        "--config",
        metavar="FILE",
        help="read options from a TOML file; a key is the name of an option, such as blocks = 50. Options of the "
        "command line override it",
    )
    who = parser.add_argument_group("engines and games")
    who.add_argument(
        "--engine", action="append", metavar="SPEC", help="an engine, see above; at least two: A, B, ..."
    )
    who.add_argument(
        "--game",
        default=registry.DEFAULT,
        type=common.game,
        choices=registry.names(),
        help=f"default: {registry.DEFAULT}",
    )
    who.add_argument(
        "--players",
        type=common.argument(whole_number(2, 4)),
        default=2,
        metavar="N",
        help="number of seats (default: 2)",
    )
    who.add_argument(
        "--blocks",
        type=common.argument(whole_number(1, 10**9)),
        metavar="N",
        help="number of blocks; with more than two engines: of each combination, or with swiss of each table of a "
        "round (default: 10, or as many as there are openings)",
    )
    who.add_argument(
        "--tournament",
        choices=("round-robin", "gauntlet", "swiss"),
        default="round-robin",
        help="gauntlet: only combinations with the first engine; swiss: in each round, engines with about equally "
        "many points play each other (default: round-robin)",
    )
    who.add_argument(
        "--rounds",
        type=common.argument(whole_number(1, 10**6)),
        metavar="N",
        help="rounds of a swiss tournament (default: enough to find the best of so many engines)",
    )
    who.add_argument(
        "--openings",
        metavar="FILE",
        help="begin the games at these positions, a line each, or at those of records; each on all seatings",
    )
    who.add_argument(
        "--opening-turns",
        type=common.argument(whole_number(0, 10**6)),
        metavar="N",
        help="how many turns of a record of --openings are played (random events count as turns)",
    )
    who.add_argument(
        "--resign",
        type=common.argument(_resign),
        metavar="SHARE[,TURNS]",
        help="give a game to a seat when the forecasts of all seats, in their last TURNS turns (default: 3), leave "
        "the others at most this share of the win",
    )
    who.add_argument(
        "--max-turns",
        type=common.argument(whole_number(1, 10**9)),
        metavar="N",
        help="end a game after N turns of all seats; the last forecasts decide it if they agree, else the default "
        "engine does",
    )
    who.add_argument(
        "--sample",
        type=common.argument(whole_number(1, 24)),
        metavar="N",
        help="with more than two engines: play only N seatings of each combination; a multiple of the number "
        "of seats puts every engine on every seat equally often",
    )
    who.add_argument(
        "--seed",
        type=common.argument(KEYS["seed"]),
        default=1,
        metavar="N",
        help="seed of the deals and of all engines, 0 to 2**63 - 1 (default: 1)",
    )
    who.add_argument(
        "--reproducible",
        action="store_true",
        help="let the deals and the engines' seeds follow from --seed alone, so that the command plays the same "
        "games again; then a program can compute the deal (default: from --seed and a secret key)",
    )
    limits = parser.add_argument_group("time")
    limits.add_argument(
        "--time",
        type=common.argument(KEYS["time"]),
        metavar="SECONDS",
        help="time per turn, unless the spec sets it (default: 1, without --iterations and --clock)",
    )
    limits.add_argument(
        "--iterations",
        type=common.argument(KEYS["iterations"]),
        metavar="N",
        help="iterations per turn, unless the spec sets them; with --time, whichever is reached first",
    )
    limits.add_argument(
        "--clock",
        type=common.argument(_clock),
        metavar="BANK[+INC]",
        help="seconds of each seat for the whole game, and seconds added after each of its turns; a seat that "
        "runs out of time forfeits",
    )
    limits.add_argument(
        "--margin",
        type=common.argument(_margin),
        default=DEFAULT_MARGIN_S,
        metavar="SECONDS",
        help="by how much a turn may exceed its time, and a seat its clock, before the engine is ended and forfeits "
        f"(default: {DEFAULT_MARGIN_S:g})",
    )
    limits.add_argument(
        "--patience",
        type=common.argument(seconds),
        default=DEFAULT_PATIENCE_S,
        metavar="SECONDS",
        help=f"how long a turn without any limit of time may take (default: {DEFAULT_PATIENCE_S:g})",
    )
    how = parser.add_argument_group("how it is played")
    how.add_argument(
        "--on-failure",
        choices=("forfeit", "retry"),
        default="forfeit",
        help="retry: restart a game, twice at most, before the engine that fails forfeits it (default: forfeit)",
    )
    how.add_argument(
        "--concurrency",
        type=common.argument(whole_number(1, 4096)),
        metavar="N",
        help="games at a time, each in a process of its own (default: 1; with --cluster: its threads)",
    )
    common.add_cluster_option(how)
    how.add_argument("--journal", metavar="FILE", help="add each finished game to this file, a line each")
    how.add_argument(
        "--log", metavar="FILE", help="add all that programs (cmd:) are told and say to this file, with times"
    )
    how.add_argument(
        "--resume", action="store_true", help="if the journal exists, play only the games that it lacks"
    )
    _add_output_options(parser)
    parser.set_defaults(format="table")
    # Without defaults the arguments are those that were typed, and override those of a file.
    actions = {
        option.removeprefix("--"): action
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--") and action.dest not in NOT_IN_FILES
    }
    defaults = {action.dest: parser.get_default(action.dest) for action in actions.values()}
    for action in actions.values():
        action.default = argparse.SUPPRESS
        parser._defaults.pop(action.dest, None)
    parser.set_defaults(actions=actions, defaults=defaults)


def _add_output_options(parser: argparse.ArgumentParser, **options: Any) -> None:
    # "-5,0,0.05,0.05" is a value, not an option. From Python 3.14 on argparse thinks so, too.
    parser._negative_number_matcher = re.compile(r"-\.?\d")
    output = parser.add_argument_group("output", **options)
    output.add_argument(
        "--sprt",
        metavar="A,B,ALPHA,BETA",
        help="sequential test of the first of two engines. With two seats, A and B are its Elo under H0 and "
        "H1, as in -5,0,0.05,0.05; with more seats (or after share:) its shares of the win per seat. The "
        "tournament ends at the decision",
    )
    output.add_argument(
        "--anchor",
        type=common.argument(_anchor),
        metavar="NAME=RATING",
        help="give this engine this rating, and the others theirs by their difference from it",
    )
    output.add_argument(
        "--format", choices=("table", "json", "csv"), help="of the result (default: table)"
    )
    output.add_argument(
        "--text",
        metavar="FOLDER",
        help="write each game as a text file for people to this folder: the engines, the board and all turns",
    )
    output.add_argument(
        "--plot",
        metavar="FILE",
        help="plot the ratings (with two engines: shares of the win) and the scores, as .png, .svg or .pdf",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.action == "check":
        return _run_check(args)
    given = read_config(args.config, args.actions) if args.config else {}
    args = argparse.Namespace(**{**args.defaults, **given, **vars(args)})
    with common.needing("arena"):
        from mexica_ai.arena import statistics  # noqa: F401 (slow to import)
    if args.plot:
        common.check_picture(args.plot)
    return _run_report(args) if args.action == "report" else _run_tournament(args)


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


def _run_report(args: argparse.Namespace) -> int:
    from mexica_ai.arena.journal import read_journal
    from mexica_ai.arena.report import collect

    journals = [read_journal(path) for path in args.journals]
    for journal in journals:
        if journal.is_torn:
            _note(f"{journal.path}: the last line is incomplete and not counted")
    games = [game for journal in journals for game in journal.games]
    collected = collect(games)
    sprt = _sprt(args, games[0][0], len(collected.names)) if games else None
    if args.text:
        _write_texts(args.text, games)
    if collected.num_repeated:
        _note(f"{collected.num_repeated} games occur more than once and are counted once")
    _print_report(args, collected, sprt)
    return 0


def _run_tournament(args: argparse.Namespace) -> int:
    from rich.console import Console

    from mexica_ai.arena.display import Display
    from mexica_ai.arena.journal import JournalWriter
    from mexica_ai.arena.log import check_log
    from mexica_ai.arena.play import check_engines
    from mexica_ai.arena.report import check_anchor, collect
    from mexica_ai.arena.runner import describe_build, describe_lost
    from mexica_ai.arena.runner import run as run_tournament
    from mexica_ai.arena.text import TextFolder

    openings = _openings(args)
    tournament = make_tournament(args, openings)
    sprt = _sprt(args, tournament, len(tournament.engines))
    if args.anchor:
        check_anchor(args.anchor, tournament.names)
    watch = _Test(sprt, tournament)
    if args.resume and not args.journal:
        raise NotationError("--resume needs --journal (see `mexica-ai arena --help`)", reason="BAD_USAGE")
    log = os.path.abspath(args.log) if args.log else None
    if log:
        check_log(log)
    texts = TextFolder(args.text) if args.text else None

    shown: Progress | None = None
    failure = None

    def show(progress: Progress) -> None:
        nonlocal shown
        shown = progress
        display.show(progress)
        if texts:
            texts.write_new(progress.tournament, progress.records)

    num_blocks = _num_blocks(args, tournament, openings)
    if args.cluster is None:  # a cluster starts programs on its workers, not here
        check_engines(tournament, log)
    with contextlib.ExitStack() as stack:
        journal = None
        if args.journal:
            journal = JournalWriter(args.journal, tournament, resume=args.resume)
            stack.enter_context(journal)
            if journal.was_torn:
                _note(f"{args.journal}: the last line was incomplete; its game is played again")
            if {record.get("build") for record in journal.games} - {describe_build(args.game)}:
                _note(f"{args.journal}: started with another build of mexica-ai")
            tournament = journal.tournament
            if tournament.key is None:
                _note(
                    f"{args.journal}: started by an early version, whose seeds have no secret key; a program can "
                    "compute the deals from them"
                )
        # Before the executor, so that it is there until that is shut down.
        stop = stack.enter_context(common.stop_on_interrupt())
        executor, concurrency = stack.enter_context(common.executor(args.cluster, args.concurrency))
        display = stack.enter_context(Display(Console(stderr=True, highlight=False), sprt))
        try:
            progress = run_tournament(
                tournament,
                num_blocks,
                executor,
                concurrency=concurrency,
                journal=journal,
                is_decided=watch.is_decided,
                display=show,
                stop=stop,
                openings=openings,
                log=log,
            )
            if texts:
                texts.write_new(progress.tournament, progress.records)
        except MexicaAIError as error:  # such as a full disk; the games so far are counted all the same
            if shown is None:
                raise
            progress, failure = shown, error
    collected = collect((tournament, record) for record in progress.records)
    found = _print_report(args, collected, sprt)
    if found["forfeits"]:
        where = "; the journal says why" if args.journal else ""
        _note(f"{found['forfeits']} of {found['games']} games were forfeited{where}")
    for game, why in progress.lost[:MAX_NOTES]:
        _note(describe_lost(game, why))
    if len(progress.lost) > MAX_NOTES:
        _note(f"and {len(progress.lost) - MAX_NOTES} more games")
    if failure is not None:
        _note(f"ended after {len(progress.records)} of {progress.num_games} games")
        raise failure
    return _exit_code(progress, found)


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


def _openings(args: argparse.Namespace) -> tuple[str, ...]:
    from mexica_ai.arena.openings import read_openings

    if args.openings is None:
        if args.opening_turns is not None:
            raise NotationError("--opening-turns needs --openings", reason="BAD_USAGE")
        return ()
    return read_openings(args.openings, args.game, args.players, args.opening_turns)


def _num_blocks(args: argparse.Namespace, tournament: Tournament, openings: tuple[str, ...]) -> int:
    """Return the number of blocks of the whole tournament."""
    blocks = args.blocks or len(openings) or DEFAULT_BLOCKS
    if openings and blocks > len(openings):
        _note(f"{blocks} blocks with {len(openings)} openings: each is used more than once")
    if tournament.format == "swiss":
        rounds = args.rounds or max(1, math.ceil(math.log(len(tournament.engines), tournament.players)))
        return rounds * tournament.blocks_per_round
    return blocks * tournament.num_lineups


def make_tournament(args: argparse.Namespace, openings: tuple[str, ...] = ()) -> Tournament:
    """Return the tournament that the arguments describe; raise NotationError if they are invalid."""
    from mexica_ai.arena.openings import openings_id
    from mexica_ai.arena.tournament import (
        MAX_ENGINES,
        Tournament,
        complete_spec,
        draw_key,
        reproducible_key,
        unique_names,
    )

    typed = args.engine or []
    if not 2 <= len(typed) <= MAX_ENGINES:
        raise NotationError(
            f"--engine: {len(typed)} given; expected 2 to {MAX_ENGINES} (see `mexica-ai arena --help`)",
            reason="BAD_USAGE",
        )
    if args.sample is not None and len(typed) == 2:
        raise NotationError(
            "--sample is for more than two engines: a block of two has all its seatings", reason="BAD_USAGE"
        )
    is_swiss = args.tournament == "swiss"
    if args.rounds is not None and not is_swiss:
        raise NotationError("--rounds is for --tournament swiss", reason="BAD_USAGE")
    if is_swiss and len(typed) <= args.players:
        raise NotationError(
            f"--tournament swiss: {len(typed)} engines for {args.players} seats; expected more engines than seats",
            reason="BAD_USAGE",
        )
    completed = [complete_spec(text, args.time, args.iterations, args.clock is not None) for text in typed]
    new_game(args.game, players=args.players, seed=0)  # raises if the game does not allow this number
    return Tournament(
        game=args.game,
        players=args.players,
        engines=tuple(map(str, completed)),
        names=tuple(unique_names(typed, completed)),
        seed=args.seed,
        format=args.tournament,
        sample=args.sample,
        clock=args.clock,
        margin_s=args.margin,
        patience_s=args.patience,
        on_failure=args.on_failure,
        weights=tuple(weights_id(spec, args.game) for spec in completed),
        openings=openings_id(openings) if openings else None,
        resign=args.resign,
        max_turns=args.max_turns,
        round_blocks=(args.blocks or len(openings) or DEFAULT_BLOCKS) if is_swiss else None,
        key=reproducible_key(args.seed) if args.reproducible else draw_key(),
    )


class _Test:
    """The sequential test, checked after each block."""

    def __init__(self, sprt: Sprt | None, tournament: Tournament) -> None:
        self._sprt = sprt
        self._games_per_block = tournament.games_per_block
        self._outcomes: list = []

    def is_decided(self, progress: Progress) -> bool:
        from mexica_ai.arena.report import outcome_of

        if self._sprt is None:
            return False
        for record in progress.records[len(self._outcomes) :]:
            arena = record["arena"]
            self._outcomes.append(outcome_of(record, arena["block"], tuple(arena["seating"])))
        state = self._sprt.state(self._outcomes, games_per_block=self._games_per_block)
        return state.decision is not None


def _sprt(args: argparse.Namespace, tournament: Tournament, num_engines: int) -> Sprt | None:
    from mexica_ai.arena.statistics import Sprt

    if args.sprt is None:
        return None
    if num_engines != 2:
        raise NotationError(
            f"--sprt compares two engines; there are {num_engines} in all", reason="BAD_USAGE"
        )
    try:
        sprt = Sprt.parse(args.sprt, tournament.players)
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


def _print_report(args: argparse.Namespace, collected: Collected, sprt: Sprt | None) -> dict[str, Any]:
    from mexica_ai.arena.report import evaluate, format_report

    found = evaluate(collected, sprt, args.anchor)
    text = format_report(found, args.format, terminal.width())
    if args.format == "table":
        terminal.say(*text.splitlines(), flush=True)
    else:
        print(text, end="", flush=True)
    if args.plot:
        from mexica_ai.arena import plot

        plot.draw(found, collected, args.plot)
    return found


def _clock(text: str) -> tuple[float, float]:
    """Read BANK[+INC]."""
    bank, plus, increment = text.partition("+")
    try:
        return seconds(bank), _seconds_or_0(increment) if plus else 0.0
    except (ValueError, MexicaAIError):
        raise ValueError("seconds, or seconds+seconds such as 60+0.5") from None


def _margin(text: str) -> float:
    try:
        return _seconds_or_0(text)
    except ValueError:
        raise ValueError(f"a number of seconds from 0 to {MAX_TIME_S}") from None


def _seconds_or_0(text: str) -> float:
    return 0.0 if re.fullmatch(r"0+(\.0*)?|\.0+", text) else float(seconds(text))


def _resign(text: str) -> tuple[float, int]:
    """Read SHARE[,TURNS]."""
    share, comma, turns = text.partition(",")
    try:
        found = float(share), whole_number(1, 10**6)(turns) if comma else RESIGN_TURNS
        if 0 < found[0] < 0.5:
            return found
    except ValueError:
        pass
    raise ValueError("a share above 0 and below 0.5, and perhaps a number of turns, such as 0.02 or 0.02,5")


def _anchor(text: str) -> tuple[str, float]:
    """Read NAME=RATING; a name may contain "=", as a spec does."""
    name, equals, rating = text.rpartition("=")
    try:
        if name and equals and math.isfinite(number := float(rating)):
            return name, number
    except ValueError:
        pass
    raise ValueError("an engine's name and its rating, such as uct=1500")


def _note(text: str) -> None:
    terminal.tell(text)
