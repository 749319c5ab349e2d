"""`mexica-ai annotate`: evaluate each turn of a played game."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence

from mexica_ai.annotate import TurnEvaluation, evaluate_record, seat_turns
from mexica_ai.cli import common, report
from mexica_ai.cli.records import MAX_NUMBER, add_record_argument, read_record
from mexica_ai.engines.specs import whole_number
from mexica_ai.errors import NotationError
from mexica_ai.limits import DEFAULT_MEMORY_MB, DEFAULT_THREADS, resolve_seed
from mexica_ai.records import parse_record

EXIT_INTERRUPTED = 130
DUBIOUS, BLUNDER = 0.05, 0.15  # least losses of turns marked ? and ??

SUMMARY = "evaluate the turns of a played game"
DESCRIPTION = f"""\
Search the positions of a game, finished or not. For each turn print the mover's
expected share of the win before and after it, the share that the turn gave away
(loss), and the turn that the engine would have played. Turns are numbered from
1; random events have numbers, too, but no rows. A loss of {DUBIOUS} or more is
marked ?, one of {BLUNDER} or more ??.

Each row is printed when it is ready, and a summary by seat at the end; --worst
prints only the worst turns, at the end. Every search gets the whole --time, so
a game takes about 1.5 times the number of its turns times --time. Ctrl-C ends
the search, prints the summary so far and exits with code 130.

Examples:
  mexica-ai annotate game.jsonl --time 2 --threads 4
  mexica-ai annotate games.jsonl --game 3 --turns 20-30
  mexica-ai annotate game.jsonl --worst 5
"""

HEADER = "turn  seat  share of the win    loss     turn; below it the engine's turn, if different"
MARGIN = " " * 43


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_record_options(parser)
    common.add_search_options(parser, "1, if --iterations is not given either", has_level=False)


def add_record_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose the record and its turns, and the output."""
    add_record_argument(parser)
    number = common.argument(whole_number(1, MAX_NUMBER))
    parser.add_argument(
        "--turns",
        type=common.argument(turn_range),
        metavar="A-B",
        help="only these turns, from 1 (default: all)",
    )
    parser.add_argument(
        "--worst", type=number, metavar="N", help="print only the N turns with the greatest loss, at the end"
    )
    common.add_json_option(
        parser, "print one JSON object per turn: turn_index (from 0), seat, turn, before, after, loss, ..."
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    text, where = read_record(args.record, args.game)
    seed = resolve_seed(args.seed)
    with common.located(where), common.stop_on_interrupt() as stop:
        record = parse_record(text)
        evaluations = evaluate_record(
            record,
            time_s=args.time,
            iterations=args.iterations,
            threads=args.threads or DEFAULT_THREADS,
            memory_mb=args.memory or DEFAULT_MEMORY_MB,
            seed=seed,
            stop=stop,
            turns=turn_indices(args.turns, record),
        )
        return present(evaluations, record, args, f"seed {seed}")


def present(
    evaluations: Iterator[TurnEvaluation], record: dict, args: argparse.Namespace, last_line: str = ""
) -> int:
    """Print evaluations in the form that `add_record_options` selects; return the exit code."""
    asked = turn_indices(args.turns, record) or range(len(record["turns"]))
    num_turns = len(set(asked).intersection(seat_turns(record)))
    found = []
    if not args.json and args.worst is None:
        print(HEADER, flush=True)
    started = time.monotonic()
    with common.Progress("annotating") as progress:

        def show() -> None:
            progress.show(
                f"annotating, {len(found)} of {num_turns} turns, {time.monotonic() - started:.0f} s "
                "(Ctrl-C: results so far)"
            )

        for evaluation in common.in_thread(evaluations, show):
            found.append(evaluation)
            if args.worst is None:
                _print(evaluation, args.json)
    if args.worst is not None:
        if not args.json:
            print(HEADER)
        for evaluation in sorted(found, key=lambda evaluation: -evaluation.loss)[: args.worst]:
            _print(evaluation, args.json)
    if not args.json:
        print("\n".join(["", *_summary(found, record), *(["", last_line] if last_line else [])]))
    if len(found) < num_turns:
        sys.stdout.flush()
        print(f"mexica-ai: interrupted after {len(found)} of {num_turns} turns", file=sys.stderr)
        return EXIT_INTERRUPTED
    return 0


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
        raise NotationError(
            f"--turns: given {first}-{last}; the record has {len(played)} turns", reason="OUT_OF_RANGE"
        )
    return range(first - 1, last)


def _print(evaluation: TurnEvaluation, is_json: bool) -> None:
    if is_json:
        print(json.dumps(evaluation.to_json()), flush=True)
        return
    seat, loss = evaluation.seat, evaluation.loss
    print(
        f"{evaluation.turn_index + 1:4}  {seat:4}  {evaluation.before[seat]:.3f} -> "
        f"{evaluation.after[seat]:.3f}  {loss:8.3f} {_mark(loss):2}  {report.format_turn(evaluation.turn)}",
        flush=True,
    )
    if evaluation.choice != evaluation.turn:
        print(f"{MARGIN}{report.format_turn(evaluation.choice)}", flush=True)


def _mark(loss: float) -> str:
    return "??" if loss >= BLUNDER else "?" if loss >= DUBIOUS else ""


def _summary(found: Sequence[TurnEvaluation], record: dict) -> list[str]:
    """Return the summary, one line per seat; a turn marked `??` does not count as `?`."""
    lines = ["seat  turns  mean loss     ?    ??" + "  engine" * bool(record.get("engines"))]
    for seat in sorted({evaluation.seat for evaluation in found}):
        losses = [evaluation.loss for evaluation in found if evaluation.seat == seat]
        marks = [_mark(loss) for loss in losses]
        engine = f"  {record['engines'][seat]}" if record.get("engines") else ""
        lines.append(
            f"{seat:4}  {len(losses):5}  {sum(losses) / len(losses):9.3f}  {marks.count('?'):4}  "
            f"{marks.count('??'):4}{engine}"
        )
    return lines
