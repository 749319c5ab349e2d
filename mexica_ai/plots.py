"""Writing figures to files (extra `plot`): checks of the path, and the file formats."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from mexica_ai.io.errors import NotationError
from mexica_ai.io.files import problem_of, replace


def check_path(path: str) -> None:
    """Check that a picture can be written to a path.

    Raises
    ------
    NotationError
        The file name's ending is unknown, or the path cannot be written; reason BAD_USAGE.
    """
    known = Figure().canvas.get_supported_filetypes()
    if _format_of(path) not in known:
        raise NotationError(
            f"plot: cannot write {path!r}; expected a name that ends in one of {', '.join(sorted(known))}",
            reason="BAD_USAGE",
        )
    if problem := problem_of(path):
        raise NotationError(f"plot: cannot write {path!r}: {problem}", reason="BAD_USAGE")


def save(figure: Figure, path: str) -> None:
    """Write a figure in the format that the ending of `path` names; the same figure gives the same SVG.

    Raises
    ------
    NotationError
        As `check_path`.
    OSError
        The file cannot be written.
    """
    check_path(path)
    picture, kind = io.BytesIO(), _format_of(path)
    metadata = {"Date": None} if kind in ("svg", "svgz") else None  # else the time of day
    with matplotlib.rc_context({"svg.hashsalt": "mexica-ai"}):
        figure.savefig(picture, format=kind, metadata=metadata)
    replace(path, picture.getvalue(), "plot")


def _format_of(path: str) -> str:
    return Path(path).suffix.removeprefix(".").lower()
