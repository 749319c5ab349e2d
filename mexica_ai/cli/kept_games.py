"""The folder in which `mexica-ai play` keeps games that were not given a file."""

from __future__ import annotations

import contextlib
import datetime
import os
from pathlib import Path

from mexica_ai.cli.records import read_record
from mexica_ai.game.records import parse_record, position_at
from mexica_ai.io.errors import MexicaAIError, NotationError


def folder() -> Path:
    """Return where games are kept that were not given a file, see the XDG Base Directory Specification."""
    try:
        return Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "mexica-ai"
    except RuntimeError:  # no home
        raise NotationError(
            "there is no home folder to keep games in; expected --record FILE", reason="BAD_USAGE"
        ) from None


def new_name(game: str) -> str:
    """Return the file of a new game, in a folder that is made if need be."""
    place = folder()
    with contextlib.suppress(OSError):  # the file cannot be written either, and that error says what to do
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return f"{place / game}-{datetime.datetime.now():%Y%m%d-%H%M%S}.json"


def made(name: str) -> str:
    """Make the file of a new game, and return its name: another one if a game that began in the same second has it."""
    stem, number = name.removesuffix(".json"), 1
    while True:
        try:
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except FileExistsError:
            number += 1
            name = f"{stem}-{number}.json"
        except OSError:  # it is told when the game is written
            return name
        else:
            return name


def last() -> str:
    """Return the file of the unfinished game that was written last; files that hold none are passed over."""
    kept = []
    with contextlib.suppress(OSError):
        kept = [(path.stat().st_mtime, path) for path in folder().glob("*.json") if path.is_file()]
    for _, path in sorted(kept, reverse=True):
        with contextlib.suppress(MexicaAIError):
            text, _ = read_record(str(path), 1)
            record = parse_record(text)
            if "forfeit" not in record and not position_at(record, len(record["turns"])).is_over:
                return str(path)
    raise NotationError(f"--last: no unfinished game is kept in {str(folder())!r}", reason="BAD_USAGE")
