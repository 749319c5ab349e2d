"""`mexica-ai annotate`: what each turn of a played game was worth."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice

from mexica_ai.annotate import TurnEvaluation, evaluate_record, seat_turns
from mexica_ai.cli import common, report
from mexica_ai.cli.replay import read_records
from mexica_ai.engines.specs import whole_number
from mexica_ai.errors import NotationError
from mexica_ai.limits import DEFAULT_MEMORY_MB, DEFAULT_THREADS, resolve_seed
from mexica_ai.strict import parse_json

EXIT_INTERRUPTED = 130
DUBIOUS, BLUNDER = 0.05, 0.15  # losses from which on a turn is marked
MAX_NUMBER = 10**9

SUMMARY = "value the turns of a played game"
DESCRIPTION = f"""\
Search the positions of a game, finished or not, and print of each turn the
mover's expected share of the win before and after it, what the turn gave away
(loss), and what the engine would have played instead. Turns are numbered from
1, random events among them, which get no row. A loss of {DUBIOUS} or more is marked
?, one of {BLUNDER} or more ??.

Rows appear as they are found, a summary by seat at the end; --worst prints the
worst turns only, at the end. Every position gets the whole --time, so a game
takes about as long as its turns, times that, times one and a half. Ctrl-C ends
it with what is known so far, and exit code 130.

Examples:
  mexica-ai annotate game.jsonl --time 2 --threads 4
  mexica-ai annotate games.jsonl --game 3 --turns 20-30
  mexica-ai annotate game.jsonl --worst 5
"""

HEADER = "turn  seat  share of the win    loss     turn; below it what the engine would have played"
MARGIN = " " * 43


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_record_options(parser)
    common.add_search_options(parser, "1, if --iterations is not given either", has_level=False)


def add_record_options(parser: argparse.ArgumentParser) -> None:
    """Add what says which turns of which record to value, and how to print it."""
    parser.add_argument("record", metavar="RECORD", help="a file of records, or - for standard input")
    number = common.argument(whole_number(1, MAX_NUMBER))
    parser.add_argument(
        "--game", type=number, default=1, metavar="N", help="the N-th record of the file (default: 1)"
    )
    parser.add_argument(
        "--turns",
        type=common.argument(turn_range),
        metavar="A-B",
        help="only these turns, from 1 (default: all)",
    )
    parser.add_argument(
        "--worst", type=number, metavar="N", help="print the N turns with the greatest loss only, at the end"
    )
    common.add_json_option(
        parser, "print one JSON object a turn: turn_index (from 0), seat, turn, before, after, loss, ..."
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    text, where = read_record(args.record, args.game)
    seed = resolve_seed(args.seed)
    with common.located(where), common.stop_on_interrupt() as stop:
        record = parse_json(text, "$")
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
    """Print evaluations as the options of `add_record_options` ask for; return the exit code."""
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
                "(Ctrl-C: what is known so far)"
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
    """Return the indices of the turns asked for, None for all of them."""
    if turns is None:
        return None
    first, last = turns
    played = record.get("turns") if isinstance(record, dict) else None
    if isinstance(played, list) and last > len(played):  # what is no list is refused as a record
        raise NotationError(
            f"--turns: given {first}-{last}; the record has {len(played)} turns", reason="OUT_OF_RANGE"
        )
    return range(first - 1, last)


def read_record(path: str, game: int) -> tuple[bytes, str]:
    """Return the text of a record of a file, and how messages name it."""
    name = common.source_name(path)
    with common.open_input(path) as file:
        records = list(islice(read_records(file), game))
    if len(records) < game:
        raise NotationError(
            f"{name}: holds {len(records)} records; expected at least {game}, for --game", reason="NO_RECORD"
        )
    line, text = records[-1]
    return text, f"{name}:{line}"


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
    """Return the summary, a line a seat; `??` do not count as `?` too."""
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
