"""`mexica-ai annotate`: evaluate each turn of a played game."""

from __future__ import annotations

import argparse
import codecs
import collections
import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from mexica_ai import __version__
from mexica_ai.analysis import report as review
from mexica_ai.analysis.annotate import (
    NOTE,
    TurnEvaluation,
    check_evaluated,
    check_played,
    evaluate_record,
    explained,
    recorded_evaluations,
    seat_turns,
    with_evaluations,
)
from mexica_ai.analysis.grades import BOUNDS, GRADES, PHASES, describe_turning_points, seat_accuracies
from mexica_ai.analysis.ledger import accounts_of, describe_accounts
from mexica_ai.analysis.limits import DEFAULT_MEMORY_MB, DEFAULT_THREADS
from mexica_ai.analysis.luck import EventWorth, events_in
from mexica_ai.cli import common, picture
from mexica_ai.cli.records import MAX_NUMBER, add_record_argument, read_record, read_records
from mexica_ai.draw import shares
from mexica_ai.engines.specs import whole_number
from mexica_ai.game.move_text import is_move_text
from mexica_ai.game.records import check_record, parse_record
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import MexicaAIError, NotationError
from mexica_ai.io.numbers import resolve_seed
from mexica_ai.io.strict import HEAD

EXIT_INTERRUPTED = 130
DEFAULT_CHECKS, MAX_CHECKS = 2, 10

DESCRIPTION = f"""\
Search the positions of a game, finished or not. For each turn print the mover's
expected share of the win before and after it, the share that the turn gave away
(loss), and the turn that the engine would have played. Turns are numbered from
1; random events have numbers, too, and what they were worth. A loss of {BOUNDS[0]} or
more is an inaccuracy (?!), of {BOUNDS[1]} a mistake (?), of {BOUNDS[2]} a blunder (??); in a
decided game a turn that throws points away is an inaccuracy. A turn near such a
bound is searched again, --checks times, with three times the limits; if that
does not settle it, its mark is in brackets. --explain says why: what the turn
gave away, the answer that shows it, and what would have been better.

Each row is printed when it is ready, and at the end a summary by seat with the
accuracy, the turning points, and how the turns and the luck of random events
led to the result; --worst prints only the worst turns, at the end. Every search
gets the whole --time: a game of 40 turns with --time 1 takes about 60 seconds,
and with checks two to three times as long. Ctrl-C ends the search, prints the
summary so far and exits with code 130.

--record writes the record with the evaluations to a file; into RECORD itself,
if that is the file. `show --turn` shows them, and `annotate` prints those of a
record again, without a search, if no option of a search is given. --html
writes a report: the shares as a graph, the worst turns (5, or --worst) as
boards beside the engine's turns, and all turns.

Examples:
  mexica-ai annotate game.jsonl --time 2 --threads 4
  mexica-ai annotate games.jsonl --game 3 --turns 20-30
  mexica-ai annotate game.jsonl --worst 5 --plot shares.png
  mexica-ai annotate game.jsonl --time 5 --record game.jsonl --html game.html
"""

HEADER = "turn  seat  share of the win    loss       turn; below it the engine's, if other"
MARGIN = " " * 45


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_record_options(parser)
    common.add_search_options(parser, "1, if --iterations is not given either", has_level=False)


def add_record_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose the record and its turns, and the output."""
    add_record_argument(parser)
    number = common.argument(whole_number(1, MAX_NUMBER))
    add_turns_option(parser, "only these turns, from 1 (default: all)")
    parser.add_argument(
        "--worst", type=number, metavar="N", help="print only the N turns with the greatest loss, at the end"
    )
    parser.add_argument(
        "--record", dest="output", metavar="FILE", help="write the record with its evaluations to this file"
    )
    parser.add_argument(
        "--explain", action="store_true", help="say in sentences why the marked turns are bad; kept by --record"
    )
    parser.add_argument(
        "--checks",
        type=common.argument(whole_number(0, MAX_CHECKS)),
        default=None,
        metavar="N",
        help=f"search turns near a bound of the grades again, at most N times (default: {DEFAULT_CHECKS})",
    )
    parser.add_argument("--html", metavar="FILE", help="write a report to this file, for a browser")
    picture.add_plot_option(parser, "the shares of the win and what each turn gave away")
    common.add_json_option(
        parser, "print one JSON object per turn: turn_index (from 0), seat, turn, before, after, loss, ..."
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    text, where = read_record(args.record, args.game)
    seed = resolve_seed(args.seed)
    with common.located(where), common.stop_on_interrupt() as stop:
        record = parse_record(text)
        check_outputs(args)
        kept = _recorded(record, args)
        if kept is not None:
            note = "from the record; --time or --iterations search again"
            return present(iter(kept), record, args, note)
        evaluations = evaluate_record(
            record,
            time_s=args.time,
            iterations=args.iterations,
            threads=args.threads or DEFAULT_THREADS,
            memory_mb=args.memory or DEFAULT_MEMORY_MB,
            seed=seed,
            stop=stop,
            turns=turn_indices(args.turns, record),
            checks=DEFAULT_CHECKS if args.checks is None else args.checks,
            explain=args.explain,
        )
        return present(evaluations, record, args, f"seed {seed}", seed)


def check_outputs(args: argparse.Namespace) -> None:
    """Raise an error now, before the long work, if a file cannot be written later."""
    picture.check(args)
    files.check_distinct({"--record": args.output, "--plot": args.plot, "--html": args.html})
    for flag, path in (("--record", args.output), ("--html", args.html)):
        if path is not None and (problem := files.problem_of(path)):
            raise NotationError(f"{flag}: cannot write {path!r}: {problem}", reason="BAD_USAGE")
    if args.html is not None and (args.html == args.record or files.is_same(args.html, args.record)):
        raise NotationError("--html: names the file of RECORD; expected another one", reason="BAD_USAGE")
    if _is_record_itself(args):
        with files.open_text(args.record) as file:
            if is_move_text(file.read(HEAD)):
                raise NotationError(
                    f"--record: {args.output!r} has games as move texts; expected another file, since evaluations are "
                    "kept as JSON",
                    reason="BAD_USAGE",
                )


def _is_record_itself(args: argparse.Namespace) -> bool:
    """Return whether `--record` names the file that is read."""
    if args.output is None or args.record == "-" or not os.path.exists(args.output):
        return False
    return os.path.samefile(args.record, args.output)


def _recorded(record: object, args: argparse.Namespace) -> list[TurnEvaluation] | None:
    """Return the evaluations in a record if they are asked for and complete, else None."""
    is_search = any(
        getattr(args, key) is not None for key in ("time", "iterations", "threads", "memory", "seed", "checks")
    )
    if is_search or not isinstance(record, dict) or "evaluations" not in record:
        return None
    check_played(record)
    check_evaluated(record)
    asked = turn_indices(args.turns, record) or range(len(record["turns"]))
    found = [one for one in recorded_evaluations(record) if one.turn_index in asked]
    if args.explain:
        found = explained(record, found)
    return found if len(found) == len(set(asked).intersection(seat_turns(record))) else None


def present(
    evaluations: Iterator[TurnEvaluation],
    record: dict[str, Any],
    args: argparse.Namespace,
    last_line: str = "",
    seed: int | None = None,
    build: str | None = __version__,
) -> int:
    """Print evaluations in the form that `add_record_options` selects, and write them; return the exit code.

    Parameters
    ----------
    evaluations, record, args
    last_line : str
        What follows the summary.
    seed : int, optional
        That of the searches; None if the evaluations are those in the record.
    build : str, optional
        The version that searched, if it is known.
    """
    asked = turn_indices(args.turns, record) or range(len(record["turns"]))
    num_turns = len(set(asked).intersection(seat_turns(record)))
    found: list[TurnEvaluation] = []
    events = events_in(record) if not args.json or args.output is not None or args.html is not None else []
    if any(path is not None for path in (args.output, args.html, args.plot)):
        terminal.outlive_reader()
    shows_rows = not args.json and args.worst is None
    waiting = collections.deque(events if shows_rows else [])
    if shows_rows:
        terminal.say(HEADER, flush=True)
    with common.Progress("annotating") as progress:

        def show() -> None:
            text = f"annotating, {len(found)} of {num_turns} turns"
            progress.count(text, len(found), num_turns, " (Ctrl-C: results so far)")

        for evaluation in common.in_thread(evaluations, show):
            found.append(evaluation)
            if args.worst is None:
                _print_events(waiting, asked, evaluation.turn_index)
                _print(evaluation, args.json)
    _print_events(waiting, asked, max(asked, default=-1) + 1 if len(found) == num_turns else -1)
    if args.worst is not None:
        if not args.json:
            terminal.say(HEADER)
        for evaluation in sorted(found, key=lambda evaluation: -evaluation.loss)[: args.worst]:
            _print(evaluation, args.json)
    if not args.json:
        terminal.say("", *_summary(found, record), "", *_course(found, record, events), "", *terminal.wrap(NOTE))
        terminal.say(*(["", last_line] if last_line else []))
    _write(found, record, args, events, None if seed is None else _settings(args, seed, build))
    if len(found) < num_turns:
        sys.stdout.flush()
        terminal.tell(f"interrupted after {len(found)} of {num_turns} turns")
        return EXIT_INTERRUPTED
    return 0


def _settings(args: argparse.Namespace, seed: int, build: str | None) -> dict[str, Any]:
    """Return what the record says of the searches: the version, the limits that were asked for, and the seed."""
    return {"build": build, "time_s": args.time, "iterations": args.iterations, "seed": seed}


def _write(
    found: list[TurnEvaluation],
    record: dict[str, Any],
    args: argparse.Namespace,
    events: Sequence[EventWorth],
    settings: dict[str, Any] | None,
) -> None:
    """Write the files that `--plot`, `--html` and `--record` name; without settings those in the record stay."""
    lost: Exception | None = None
    try:
        if args.output is not None:  # first: it holds the searches
            _write_record(found, record, args, events, settings)
    except (OSError, MexicaAIError) as error:  # the others are written all the same
        lost = error
    try:
        if args.plot is not None and found:
            turns = review.graph_turns(record, found)
            title = f"{record['game'].capitalize()}: expected share of the win"
            picture.write(args, shares.draw_shares(turns, players=len(found[0].after), theme=args.theme, title=title))
        elif args.plot is not None:
            terminal.tell("--plot: no turn was evaluated, so nothing is drawn")
        if args.html is not None:
            files.replace(args.html, review.report(record, found, events, worst=args.worst or review.WORST), "--html")
    except (OSError, MexicaAIError) as error:
        if lost is None:
            raise
        terminal.tell(f"error: {error}")
    if lost is not None:
        raise lost


def _write_record(
    found: list[TurnEvaluation],
    record: dict[str, Any],
    args: argparse.Namespace,
    events: Sequence[EventWorth],
    settings: dict[str, Any] | None,
) -> None:
    """Write the evaluations into the file that `--record` names."""
    if settings is None:
        settings = {key: record["evaluations"].get(key) for key in ("build", "time_s", "iterations", "seed")}
    others: list[bytes] = []
    if _is_record_itself(args):
        others = [text for _, text in read_records(args.record)]  # as they are: they may be no text
        record = _record_now(others, record, args)
        others[0] = others[0].removeprefix(codecs.BOM_UTF8)
    line = json.dumps(with_evaluations(record, found, events=events, **settings)).encode()
    if others:
        others[args.game - 1] = line
    files.replace(args.output, b"\n".join(others or [line]) + b"\n", "--record")


def _record_now(records: list[bytes], record: dict[str, Any], args: argparse.Namespace) -> dict[str, Any]:
    """Return the record that was searched as its file has it now: another program may have annotated it, too.

    Raises
    ------
    OSError
        Another program has put another record there, which must not be lost.
    """
    now: Any = None
    with contextlib.suppress(MexicaAIError, IndexError):
        now = parse_record(records[args.game - 1])
        check_record(now)
    if now is None or now | {"evaluations": None} != record | {"evaluations": None}:
        raise OSError(
            f"--record: cannot write {args.output!r}: another program has changed record {args.game} since it was read"
        )
    found: dict[str, Any] = now
    return found


def add_turns_option(parser: argparse._ActionsContainer, text: str) -> None:
    """Add the option `--turns`, which `turn_indices` reads; `text` is its help."""
    parser.add_argument("--turns", type=common.argument(turn_range), metavar="A-B", help=text)


def turn_range(text: str) -> tuple[int, int]:
    """Read a range of turns, such as 3-7, or a single one."""
    match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last:
        raise ValueError("a turn or a range of turns from 1, such as 3-7")
    return first, last


def turn_indices(turns: tuple[int, int] | None, record: object) -> range | None:
    """Return the indices of the turns in a range of `turn_range`; None for all turns."""
    if turns is None:
        return None
    first, last = turns
    played = record.get("turns") if isinstance(record, dict) else None
    if isinstance(played, list) and last > len(played):  # anything else is an error when the record is read
        raise NotationError(f"--turns: given {first}-{last}; the record has {len(played)} turns", reason="OUT_OF_RANGE")
    return range(first - 1, last)


def _print_events(events: collections.deque[EventWorth], asked: Sequence[int], end: int) -> None:
    """Print the random events before a turn, of the turns that were asked for, and take them from the queue."""
    while events and events[0].turn_index < end:
        event = events.popleft()
        if event.turn_index in asked:
            worths = " ".join(f"{worth:+.3f}" for worth in event.worth)
            row = f"{event.turn_index + 1:4}        luck {worths}  "
            terminal.say(*terminal.wrap_turn(event.event or ["(what comes next)"], terminal.width(), row, MARGIN))


def _print(evaluation: TurnEvaluation, is_json: bool) -> None:
    if is_json:
        print(json.dumps(evaluation.to_json()), flush=True)
        return
    seat, loss = evaluation.seat, evaluation.loss
    row = (
        f"{evaluation.turn_index + 1:4}  {seat:4}  {evaluation.before[seat]:.3f} -> "
        f"{evaluation.after[seat]:.3f}  {loss:8.3f} {evaluation.mark:4}  "
    )
    columns = terminal.width()
    lines = terminal.wrap_turn(evaluation.turn, columns, row, MARGIN + "  ")
    if evaluation.choice != evaluation.turn:
        lines += terminal.wrap_turn(evaluation.choice, columns, MARGIN, MARGIN + "  ")
    for sentence in evaluation.explanation:
        lines += [f"      {line}" for line in terminal.wrap(sentence, columns - 6)]
    terminal.say(*lines, flush=True)


def _summary(found: Sequence[TurnEvaluation], record: dict[str, Any]) -> list[str]:
    """Return the summary, one line per seat: each turn counts under one mark; unsure ones among them."""
    accuracies = seat_accuracies(found, len(record["turns"]))
    head = "  ".join(f"{phase:>7}" for phase in PHASES)
    lines = [f"seat  turns  mean loss  ?!   ?  ??  accuracy  {head}"]
    for seat, (total, phases) in accuracies.items():
        own = [one for one in found if one.seat == seat]
        counts = [sum(one.grade == grade for one in own) for grade in GRADES[1:]]
        parts = "  ".join(f"{'-' if part is None else format(part, '.0f'):>7}" for part in phases.values())
        lines.append(
            f"{seat:4}  {len(own):5}  {sum(one.loss for one in own) / len(own):9.3f}"
            f"{counts[0]:4}{counts[1]:4}{counts[2]:4}  {total or 0.0:8.1f}  {parts}"
        )
    for seat in accuracies if record.get("engines") else ():
        lines += terminal.wrap(f"seat {seat}: {terminal.shorten(record['engines'][seat])}")
    return lines


def _course(found: Sequence[TurnEvaluation], record: dict[str, Any], events: Sequence[EventWorth]) -> list[str]:
    """Return the turning points of the game, and what turns and luck did for each seat."""
    lines = terminal.wrap(describe_turning_points(found))
    if accounts := accounts_of(record, found, events):
        lines += ["", "From the first share of the win to the result, in percentage points:"]
        for text in describe_accounts(accounts):
            lines += terminal.wrap(text)
    return lines
