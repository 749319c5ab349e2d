"""`mexica-ai replay`: check game records."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from mexica_ai.cli import common, convert
from mexica_ai.cli.lines import describe_lines
from mexica_ai.cli.records import read_records
from mexica_ai.game.records import parse_record, replay, termination_of
from mexica_ai.game.text_forms import count
from mexica_ai.game.variations import lines_of, walk
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import MexicaAIError, NotationError

DESCRIPTION = """\
Replay each game record of the files and check its scores and winners. A file
holds one JSON record per line, a single record over several lines, or games as
move texts (docs/formats.md); - is standard input. --text writes the records as
move texts, --records as JSON. --lines prints their comments and variations.

For a valid record, print its scores and winners. For an invalid one, print on
standard error the turn and the action that fail (counted from 0, as in the
record's "turns") and the cause. The others are still checked, and the exit code
is 2.

Examples:
  mexica-ai replay games.jsonl
  mexica-ai replay monday.jsonl tuesday.jsonl --json
  mexica-ai replay games.jsonl --text games.txt
  mexica-ai replay games.txt --records games.jsonl
  mexica-ai replay studied.jsonl --lines
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a file of records, or - for standard input")
    common.add_json_option(
        parser,
        "print one JSON object per record: file, line, turns, scores, winners, termination; or file, line, "
        "error, reason, turn_index, action_index",
    )
    parser.add_argument("--lines", action="store_true", help="print the comments and variations of each record, too")
    convert.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    code = 0
    if args.lines and args.json:
        raise NotationError("--lines: is for people; the record itself has them as JSON", reason="BAD_USAGE")
    converted = convert.Converted(args)
    if converted.has_files:
        terminal.outlive_reader()
    with common.Progress("replaying") as progress:
        for path in args.files:
            try:
                size = os.path.getsize(path) if os.path.isfile(path) else 0
                done, pace = 0, terminal.Pace()
                for line_number, text in read_records(path):
                    done += len(text)
                    left = pace.describe(done, max(done, size)) if size else ""
                    progress.show(f"replaying {files.name_of(path)}, line {line_number}, {left}".rstrip(", "))
                    answer = _check(text, converted, has_lines=args.lines)
                    code = 2 if "error" in answer else code
                    if "error" in answer or not converted.has_stdout:
                        _print(files.name_of(path), line_number, answer, args.json and not converted.has_stdout)
            except MexicaAIError as error:  # the other files are still checked
                terminal.tell(f"error: {error}")
                code = 2
    converted.write()
    return code


def _check(text: bytes, converted: convert.Converted, *, has_lines: bool) -> dict[str, Any]:
    """Replay a record and return the answer to print."""
    try:
        record = parse_record(text)
        position = replay(record)
        converted.add(record)
    except MexicaAIError as error:
        message = str(error)
        if error.turn_index is not None:
            place = f"turn {error.turn_index}"
            if error.action_index is not None:
                place += f", action {error.action_index}"
            message = f"{place} (from 0): {message.removeprefix(f'{error.path}: ')}"
        return {
            "error": message,
            "reason": error.reason,
            "turn_index": error.turn_index,
            "action_index": error.action_index,
        }
    tree = lines_of(record)
    num_variations = sum(1 for _ in walk(tree)) - 1
    return {
        "turns": len(record["turns"]),
        "scores": position.scores,
        "winners": position.winners,
        "termination": termination_of(record),
        **({"variations": num_variations} if num_variations else {}),
        **({"lines": describe_lines(tree)} if has_lines else {}),
    }


def _print(name: str, line_number: int, answer: dict[str, Any], is_json: bool) -> None:
    if is_json:
        print(json.dumps({"file": name, "line": line_number, **answer}))
    elif "error" in answer:
        sys.stdout.flush()  # keeps the order of lines if both streams go to the same place
        terminal.tell(f"error: {name}:{line_number}: {answer['error']}")
    else:
        scores = " ".join(map(str, answer["scores"]))
        if answer["termination"] == "finished":
            winners = f"winner{'s' * (len(answer['winners']) > 1)}: seat {', '.join(map(str, answer['winners']))}"
        else:
            winners = answer["termination"]
        variations = answer.get("variations", 0)
        more = f", {count(variations, 'variation')}" if variations else ""
        terminal.say(f"{name}:{line_number}: scores {scores}; {winners}; {count(answer['turns'], 'turn')}{more}")
        if lines := answer.get("lines"):
            terminal.say(*(f"  {line}" for line in lines))
