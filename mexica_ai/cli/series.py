"""`--svg-series` and `--gif` of `mexica-ai show`: a picture of each turn of a game."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mexica_ai.cli import common
from mexica_ai.cli.annotate import add_turns_option, turn_indices
from mexica_ai.draw import animation
from mexica_ai.engines import specs
from mexica_ai.engines.specs import whole_number
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.game.records import position_at
from mexica_ai.game.text_forms import count
from mexica_ai.io import files
from mexica_ai.io.errors import NotationError, SearchError

LAST_SECONDS = 3.0  # that the last frame stays longer than the others
_NAME = "turn-{:04}.svg"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that draw a game."""
    group = parser.add_argument_group("a played game as pictures, of a file of records")
    group.add_argument(
        "--svg-series",
        metavar="FOLDER",
        help="write a picture of the start and of each turn, its steps marked: turn-0000.svg, turn-0001.svg, ...",
    )
    group.add_argument("--gif", metavar="FILE", help="write them as one animated picture (extra gif)")
    add_turns_option(group, "only these turns, or a single one, from 1; the position before them comes first")
    group.add_argument(
        "--seconds",
        type=common.argument(_seconds),
        metavar="X",
        help=f"how long a turn is shown in the GIF; the last one {LAST_SECONDS:g} s longer (default: 1)",
    )
    group.add_argument(
        "--width",
        type=common.argument(whole_number(animation.MIN_WIDTH, animation.MAX_WIDTH)),
        metavar="N",
        help=f"pixels of the GIF, {animation.MIN_WIDTH} to {animation.MAX_WIDTH} (default: 800)",
    )


def _seconds(text: str) -> float:
    low, high = animation.MIN_SECONDS, animation.MAX_SECONDS - LAST_SECONDS
    try:
        value = specs.seconds(text)
    except ValueError:
        value = -1.0
    if not low <= value <= high:
        raise ValueError(f"a number of seconds from {low:g} to {high:g}")
    return value


def is_asked(args: argparse.Namespace) -> bool:
    """Return whether the options ask for pictures of a game; raise an error if they do not fit together.

    Raises
    ------
    NotationError
        Reason BAD_USAGE.
    SearchError
        A package is not installed; reason MISSING_PACKAGE.
    """
    if args.svg_series is None and args.gif is None:
        for option in ("turns", "seconds", "width"):
            if getattr(args, option) is not None:
                raise NotationError(f"--{option}: needs --svg-series or --gif", reason="BAD_USAGE")
        return False
    for option in ("turn", "line", "viewer", "play", "svg", "png"):
        if getattr(args, option) is not None:
            raise NotationError(f"--{option}: not with --svg-series or --gif", reason="BAD_USAGE")
    if args.json or args.format != "text":
        option = "--json" if args.json else "--format"
        raise NotationError(f"{option}: not with --svg-series or --gif", reason="BAD_USAGE")
    if args.gif is not None:
        if problem := files.problem_of(args.gif, args.position):
            raise NotationError(f"--gif: cannot write {args.gif!r}: {problem}", reason="BAD_USAGE")
        for package, name in (("PIL", "Pillow"), ("resvg_py", "resvg-py")):
            if find_spec(package) is None:
                raise SearchError(f"a GIF needs {name}: pip install 'mexica-ai[gif]'", reason="MISSING_PACKAGE")
    return True


def write(args: argparse.Namespace, record: dict[str, Any]) -> list[str]:
    """Draw a game, and return lines that say what was written.

    Raises
    ------
    NotationError, PositionError, IllegalActionError
        As `mexica_ai.position_at`; the record has no such turns (reason OUT_OF_RANGE), or the frames of a GIF are too
        many (BAD_USAGE).
    """
    position_at(record, 0)  # it is a record
    indices = turn_indices(args.turns, record)
    end = position_at(record, len(record["turns"]) if indices is None else indices.stop)
    turns = end.history
    first = 0 if indices is None else indices.start
    folder = None if args.svg_series is None else _folder(args.svg_series, range(first, len(turns) + 1))
    pictures = _draw(end.start, turns, first, args.theme)
    said = []
    if folder is not None:
        for number, picture in enumerate(pictures, first):
            files.replace(str(folder / _NAME.format(number)), picture + "\n", "--svg-series")
        said.append(f"{count(len(pictures), 'picture')} written to {args.svg_series}")
    if args.gif is not None:
        said.append(_write_gif(args, pictures, turns, first, len(record["turns"])))
    return said


def _folder(path: str, numbers: range) -> Path:
    """Return a folder for the pictures of these numbers; it is made if there is none."""
    folder, names = Path(path), {_NAME.format(number) for number in numbers}
    try:
        folder.mkdir(exist_ok=True)
        others = sorted(entry.name for entry in folder.glob("turn-*.svg") if entry.name not in names)
    except OSError as error:
        raise NotationError(
            f"--svg-series: cannot make the folder {path!r}: {error.strerror}", reason="BAD_USAGE"
        ) from None
    if others:
        raise NotationError(
            f"--svg-series: {path!r} has {others[0]} of another series; expected a new or an empty folder",
            reason="BAD_USAGE",
        )
    return folder


def _draw(start: Position, turns: Sequence[list[str]], first: int, theme: str) -> list[str]:
    """Return the pictures of the position after `first` turns and of each turn that follows."""
    position, pictures = start.copy(), []
    with common.Progress("drawing") as progress:
        for number, turn in enumerate(turns):
            if number == first:
                pictures.append(position.svg(theme=theme))
            if number >= first:
                progress.count(f"drawing turn {number + 1} of {len(turns)}", number - first, len(turns) - first)
                pictures.append(position.svg(turn=turn, theme=theme))
            position.push(turn)
    return pictures or [position.svg(theme=theme)]


def _write_gif(
    args: argparse.Namespace, pictures: Sequence[str], turns: Sequence[list[str]], first: int, total: int
) -> str:
    captions = []
    for number in range(first, len(turns) + 1):
        played = TURN_SEPARATOR.join(turns[number - 1]) if number else "the start"
        captions.append(f"turn {number} of {total}: {played}")
    seconds = args.seconds or 1.0
    with common.Progress("drawing") as progress:

        def tick(done: int) -> None:
            progress.count(f"drawing frame {done + 1} of {len(pictures)}", done, len(pictures))

        try:
            data = animation.to_gif(
                pictures,
                captions,
                width=args.width or 800,
                seconds=seconds,
                last_seconds=seconds + LAST_SECONDS,
                theme=args.theme,
                tick=tick,
            )
        except ValueError as error:
            raise NotationError(f"--{error}", reason="BAD_USAGE") from None
        files.replace(args.gif, data, "--gif")
    return f"{count(len(pictures), 'frame')}, {len(data) / 1e6:.1f} MB: {os.fspath(args.gif)}"
