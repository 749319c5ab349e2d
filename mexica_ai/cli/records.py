"""Reading files of game records, and the arguments that choose one of them."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO

from mexica_ai.cli import common
from mexica_ai.engines.specs import whole_number
from mexica_ai.errors import NotationError
from mexica_ai.strict import parse_json

MAX_NUMBER = 10**9  # of a game in a file, or of a turn


def add_record_argument(parser: argparse.ArgumentParser) -> None:
    """Add the arguments RECORD and `--game`."""
    parser.add_argument("record", metavar="RECORD", help="a file of records, or - for standard input")
    add_game_option(parser, default=1)


def add_game_option(parser: argparse.ArgumentParser, default: int | None) -> None:
    """Add `--game`."""
    parser.add_argument(
        "--game",
        type=common.argument(whole_number(1, MAX_NUMBER)),
        default=default,
        metavar="K",
        help="the K-th record of the file (default: 1)",
    )


def read_record(path: str, game: int) -> tuple[bytes, str]:
    """Return the text of the `game`-th record of a file, from 1, and its name in messages."""
    name = common.source_name(path)
    with common.open_input(path) as file:
        records = list(islice(read_records(file), game))
    if len(records) < game:
        raise NotationError(
            f"{name}: holds {len(records)} records; expected at least {game}, for --game", reason="NO_RECORD"
        )
    line, text = records[-1]
    return text, f"{name}:{line}"


def read_records(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield for each record the number of its first line and its text; blank lines are skipped."""
    first = 1
    while (line := file.readline()).isspace():
        first += 1
    rest: Iterable[bytes] = file
    if line and _parse(line) is None:
        # Either a single record over several lines, none of which is a record, or a bad line before others.
        rest = file.readlines()
        if not any(isinstance(record := _parse(text), dict) and "turns" in record for text in rest):
            yield first, line + b"".join(rest)
            return
    for number, text in enumerate(itertools.chain([line], rest), first):
        if text and not text.isspace():
            yield number, text


def _parse(text: bytes) -> Any:
    """Return the JSON value of a text, or None if the text is not JSON."""
    try:
        return parse_json(text)
    except NotationError:
        return None
