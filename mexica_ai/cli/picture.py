"""The options of the commands that write pictures."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

from mexica_ai.cli import common
from mexica_ai.draw.palette import THEMES
from mexica_ai.draw.png import MAX_SCALE, MIN_SCALE, to_png
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import NotationError, SearchError

_FILE_THEMES = tuple(theme for theme in THEMES if theme != "page")


def add_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--svg`, `--png`, and how to draw."""
    group = parser.add_argument_group("picture")
    group.add_argument("--svg", metavar="FILE", help=f"write a picture of {what} as SVG; -: to standard output")
    group.add_argument("--png", metavar="FILE", help="write it as PNG (extra png)")
    _add_style(group)


def add_plot_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--plot`, and how to draw."""
    group = parser.add_argument_group("picture")
    group.add_argument(
        "--plot", metavar="FILE", help=f"write a picture of {what}, as .svg or .png (extra png) by the name's ending"
    )
    _add_style(group)


def _add_style(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--theme", choices=_FILE_THEMES, default="light", help="colours of the picture (default: light)")
    group.add_argument(
        "--scale",
        type=common.argument(_scale),
        default=1.0,
        metavar="X",
        help=f"pixels of a PNG per unit of the picture, {MIN_SCALE:g} to {MAX_SCALE:g} (default: 1)",
    )


def _scale(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not MIN_SCALE <= value <= MAX_SCALE:
        raise ValueError(f"a number from {MIN_SCALE:g} to {MAX_SCALE:g}")
    return value


def check(args: argparse.Namespace) -> None:
    """Refuse files that cannot be written, before long work.

    Raises
    ------
    NotationError
        Reason BAD_USAGE.
    """
    plot = getattr(args, "plot", None)
    if plot is not None and Path(plot).suffix.lower() not in (".svg", ".png"):
        raise NotationError(
            f"--plot: cannot write {plot!r}; expected a name that ends in .svg or .png", reason="BAD_USAGE"
        )
    files.check_distinct({f"--{option}": getattr(args, option, None) for option in ("svg", "png")})
    for option in ("svg", "png", "plot"):
        path = getattr(args, option, None)
        if path is None or (path, option) == ("-", "svg"):
            continue
        if problem := files.problem_of(path, getattr(args, "position", None), getattr(args, "record", None)):
            raise NotationError(f"--{option}: cannot write {path!r}: {problem}", reason="BAD_USAGE")
        if option == "png" or path.lower().endswith(".png"):
            _needing_png()


def _needing_png() -> None:
    if find_spec("resvg_py") is None:
        raise SearchError("a PNG needs resvg-py: pip install 'mexica-ai[png]'", reason="MISSING_PACKAGE")


def write(args: argparse.Namespace, picture: str) -> bool:
    """Write a picture to the files that the options name; return whether standard output has it."""
    plot = getattr(args, "plot", None)
    svg, png = getattr(args, "svg", None), getattr(args, "png", None)
    if plot is not None:
        svg, png = (plot, None) if plot.lower().endswith(".svg") else (None, plot)
    if png is not None:
        files.replace(png, to_png(picture, args.scale), "--plot" if plot else "--png")
    if svg == "-":
        terminal.write(picture + "\n")
        return True
    if svg is not None:
        files.replace(svg, picture + "\n", "--plot" if plot else "--svg")
    return False
