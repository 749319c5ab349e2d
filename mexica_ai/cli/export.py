"""`mexica-ai export`: data for learning from records."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from mexica_ai.cli import common
from mexica_ai.cli.records import read_records
from mexica_ai.engines.specs import whole_number
from mexica_ai.io import files, terminal
from mexica_ai.train.export import ACTIONS, FORMATS, RECORDS_PER_SHARD, export

DESCRIPTION = f"""\
Write a row for each action that a seat played in finished games: what the seat
saw (the numbers of docs/env.md), its legal actions, the one that it played, and
how the game ended. With --iterations a search before each turn adds how often
it tried each action, and its value. Rows go to shards of {RECORDS_PER_SHARD} records in FOLDER,
beside export.json, which names the numbers. The same command goes on where an
interrupted one has stopped.

Examples:
  mexica-ai export games.jsonl --out data
  mexica-ai export games.jsonl --out data --iterations 1000 --jobs 4
  mexica-ai export games.jsonl --out data --cluster tcp://host:8786
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("records", nargs="+", metavar="RECORDS", help="files of records, or - for standard input")
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where the shards go")
    parser.add_argument(
        "--format", choices=FORMATS, default=FORMATS[0], help=f"of the shards (default: {FORMATS[0]}, extra data)"
    )
    parser.add_argument(
        "--iterations",
        type=common.argument(whole_number(1)),
        metavar="N",
        help="search each turn anew for the policies (default: no search)",
    )
    parser.add_argument(
        "--seed", type=common.argument(whole_number(0)), default=1, metavar="N", help="of the searches (default: 1)"
    )
    parser.add_argument("--positions", action="store_true", help="add the seat's view of each position as JSON")
    parser.add_argument(
        "--actions", choices=ACTIONS, help="add the fixed ids, or the features, of the legal actions (default: none)"
    )
    parser.add_argument(
        "--shard-records",
        type=common.argument(whole_number(1, 10**6)),
        default=RECORDS_PER_SHARD,
        metavar="N",
        help=f"records of a shard (default: {RECORDS_PER_SHARD})",
    )
    common.add_workers_options(parser, "shards")
    common.add_json_option(parser, "print one JSON object: shards, written, rows, records, unfinished")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.format == "parquet":
        with common.needing("data"):
            import pyarrow  # noqa: F401
    records = []
    for path in args.records:
        records += [(f"{files.name_of(path)}:{line}", text) for line, text in read_records(path)]
    with common.executor(args.cluster, args.jobs) as (executor, concurrency), common.Progress("exporting") as progress:
        summary = export(
            records,
            args.out,
            executor,
            format=args.format,
            iterations=args.iterations,
            seed=args.seed,
            positions=args.positions,
            actions=args.actions,
            records_per_shard=args.shard_records,
            concurrency=concurrency,
            on_progress=lambda done, shards: progress.count(f"exporting, {done} of {shards} shards", done, shards),
        )
    if args.json:
        print(json.dumps(vars(summary)))
        return 0
    unfinished = f", {summary.unfinished} of them unfinished, without rows" if summary.unfinished else ""
    terminal.say(
        f"{summary.written} of {summary.shards} shards written: {summary.rows:,} rows of {summary.records:,} "
        f"records{unfinished}"
    )
    return 0
