"""Reading a position from a file."""

from __future__ import annotations

import os
import sys
from typing import IO, Any

from mexica_ai.game.position import Position
from mexica_ai.io.files import MAX_JSON, read_bounded


def load(source: str | os.PathLike[str] | IO[Any]) -> Position:
    """Read one position from a file, as JSON or in its compact form.

    Parameters
    ----------
    source : path or file
        A path, ``"-"`` for standard input, or a file open for reading.

    Raises
    ------
    OSError
        If the file cannot be read.
    NotationError, UnknownGameError, PositionError
        As `Position.from_text`.
    """
    if hasattr(source, "read"):
        text = source.read()
    elif source == "-":
        text = read_bounded(sys.stdin.buffer, source, MAX_JSON)
    else:
        with open(source, "rb") as file:  # not `open_text`: callers expect an OSError
            text = read_bounded(file, source, MAX_JSON)
    return Position.from_text(text)
