"""Writing pictures (extra `plot`): where they may be written, and in which forms."""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from mexica_ai.errors import NotationError


def check_path(path: str) -> None:
    """Raise NotationError if no picture can be written there: an unknown ending, or no folder to write to."""
    known = Figure().canvas.get_supported_filetypes()
    if _form(path) not in known:
        raise NotationError(
            f"plot: cannot write {path!r}; expected a name that ends in one of {', '.join(sorted(known))}",
            reason="BAD_USAGE",
        )
    folder, problem = os.path.dirname(path) or ".", None
    if os.path.isdir(path):
        problem = "it is a folder"
    elif not os.path.isdir(folder):
        problem = f"there is no folder {folder!r}"
    elif not os.access(path if os.path.exists(path) else folder, os.W_OK):
        problem = "no permission"
    if problem:
        raise NotationError(f"plot: cannot write {path!r}: {problem}", reason="BAD_USAGE")


def save(figure: Figure, path: str) -> None:
    """Write a figure in the form that the ending of `path` names; the same figure gives the same SVG.

    Raises
    ------
    NotationError
        See `check_path`.
    OSError
        The file cannot be written.
    """
    check_path(path)
    with matplotlib.rc_context({"svg.hashsalt": "mexica-ai"}):
        figure.savefig(path, format=_form(path))


def _form(path: str) -> str:
    return Path(path).suffix.removeprefix(".").lower()
