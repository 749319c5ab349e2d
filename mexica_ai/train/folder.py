"""The folder of a training run: its settings, its files of weights, and the lines of its data.

Main functions: `settle`, `lines`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mexica_ai.io.errors import SearchError
from mexica_ai.io.files import lines_of, read_text, replace
from mexica_ai.io.strict import check_shape, parse_json
from mexica_ai.train.adamw import Arrays
from mexica_ai.train.positions import record_of

Figures = dict[str, Any]
OnProgress = Callable[[str, int, int], None]  # what is done, how much of it, of how much


def settle(folder: Path, settings: dict[str, Any]) -> None:
    """Make the folder of a run, or check that it is of one with the same settings.

    Raises
    ------
    SearchError
        It is of another run, or cannot be made; reason INVALID_PATH.
    NotationError
        Its file of settings cannot be read.
    OSError
        That file cannot be written.
    """
    path = folder / "settings.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
    except OSError as error:
        raise SearchError(f"{path}: {error.strerror}; expected a folder", reason="INVALID_PATH") from None
    if is_new:
        replace(str(path), json.dumps(settings, indent=1) + "\n")
    before = parse_json(read_text(path), str(path))
    check_shape(before, dict, str(path))
    if before != settings:
        names = [name for name, value in settings.items() if before.get(name) != value]
        given = ", ".join(f"{name} {before.get(name)}" for name in names) or "others"
        raise SearchError(
            f"{folder} is of a run with {given}; expected the same settings, or another folder", reason="INVALID_PATH"
        )


def lines(path: Path) -> list[tuple[str, bytes]]:
    """Return the lines of a file in an order that does not depend on the workers' speed, and what to call them."""
    return [(f"{path.name}:{number}", line) for number, line in enumerate(sorted(lines_of(path)), 1)]


def records_of(texts: list[tuple[str, bytes]]) -> list[dict[str, Any]]:
    """Return the records of games of self-play, see `positions.record_of`."""
    return [record_of(json.loads(text), where) for where, text in texts]


def digest(texts: list[tuple[str, bytes]]) -> str:
    """Return the SHA-256 of lines, in hexadecimal digits."""
    return hashlib.sha256(b"\n".join(text for _, text in texts)).hexdigest()


def rounded(arrays: Arrays) -> Arrays:
    """Return the arrays with five significant digits, which keeps the files small."""
    shorten = np.vectorize(lambda x: np.float32(f"{x:.5g}"), otypes=[np.float32])
    return {name: shorten(array) for name, array in arrays.items()}


def rounded_figures(figures: Figures) -> Figures:
    """Return figures with five decimals."""
    return {name: figure if figure is None else round(figure, 5) for name, figure in figures.items()}
