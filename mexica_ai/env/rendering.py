"""What `render` of the environments returns: the board as text, or as an array of colours (resvg, Pillow)."""

from __future__ import annotations

import importlib.util
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mexica_ai.draw.png import to_png
from mexica_ai.game import registry
from mexica_ai.game.position import Position
from mexica_ai.io.arguments import bad_option

MODES = ("ansi", "rgb_array")


def modes_of(game: str) -> list[str]:
    """Return the render modes that work for a game with what is installed."""
    can_draw = registry.get(game).picture.draw is not None and not _missing()
    return list(MODES if can_draw else MODES[:1])


def check_render_mode(game: str, mode: Any) -> None:
    """Raise an error if a game cannot be rendered so.

    Raises
    ------
    SearchError
        There is no such mode, or the game has no pictures; reason INVALID_OPTION.
    ModuleNotFoundError
        What draws pictures is not installed.
    """
    if mode is None or mode in modes_of(game):
        return
    if mode == "rgb_array" and registry.get(game).picture.draw is not None:
        raise ModuleNotFoundError(
            f"render_mode \"rgb_array\" needs {_missing()}, which is not installed: pip install 'mexica-ai[gif]'",
            name=_missing(),
        )
    expected = '"ansi", or None' if registry.get(game).picture.draw is None else '"ansi", "rgb_array", or None'
    raise bad_option("render_mode", mode, expected)


def render(position: Position, mode: str | None) -> str | NDArray[np.uint8] | None:
    """Return a position as its mode has it, with everything that is hidden; None without a mode."""
    if mode is None:
        return None
    if mode == "ansi":
        return str(position)
    from PIL import Image

    with Image.open(io.BytesIO(to_png(position.svg()))) as image:
        return np.asarray(image.convert("RGB"))


def _missing() -> str:
    """Return the name of a module that pictures need and that is not installed; "" if all are."""
    return next((name for name in ("resvg_py", "PIL") if importlib.util.find_spec(name) is None), "")
