"""Reading files of game records, and the arguments that choose one of them."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from itertools import islice
from typing import Any

from mexica_ai.cli import common
from mexica_ai.engines.specs import whole_number
from mexica_ai.game.move_text import is_header, split_games
from mexica_ai.game.text_forms import count
from mexica_ai.io import files
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import parse_json

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
    name = files.name_of(path)
    records = list(islice(read_records(path), game))
    if len(records) < game:
        raise NotationError(
            f"{name}: holds {count(len(records), 'record')}; expected at least {game}, for --game", reason="NO_RECORD"
        )
    line, text = records[-1]
    return text, f"{name}:{line}"


def read_records(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield for each record of a file the number of its first line and its text; blank lines are skipped.

    A file that begins with a header holds games as move texts.
    """
    with files.open_text(path) as file:
        lines = enumerate(files.read_lines(file, path), 1)
        first = next((entry for entry in lines if not _is_blank(entry)), None)
        if first is None:
            return
        if is_header(first[1]) or first[1].startswith(b"%"):
            yield from split_games(itertools.chain([first], lines))
            return
        held = [first]
        if _parse(first[1]) is None:
            # Either a single record over several lines, none of which is a record, or a bad line before others.
            size = 0
            for entry in lines:
                held.append(entry)
                size += len(entry[1])
                if size > files.MAX_JSON or _is_record(entry[1]):
                    break
            else:
                yield first[0], b"\n".join(text for _, text in held)
                return
        yield from itertools.filterfalse(_is_blank, itertools.chain(held, lines))


def _is_blank(entry: tuple[int, bytes]) -> bool:
    return not entry[1].strip()


def _is_record(text: bytes) -> bool:
    return isinstance(record := _parse(text), dict) and {"start", "turns"} <= record.keys()


def _parse(text: bytes) -> Any:
    """Return the JSON value of a text, or None if the text is not JSON."""
    try:
        return parse_json(text)
    except NotationError:
        return None
