"""The games: the one place in Python that lists them (``setup.py`` has the table of compiled modules)."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from cext.core.fitted import Fitted
from cext.core.game import Game
from mexica_ai.errors import UnknownGameError
from mexica_ai.strict import quote

_NAMES = ("coatl", "mexica", "nim")
_FITTED = ("coatl", "mexica")  # those with knowledge that `mexica-ai train` can fit


class GameEntry(NamedTuple):
    """A game and what belongs to it.

    `notation` reads and writes the text forms (`parse_position`, `format_position`, `parse_action`,
    `format_action`, `new_state`, `scores`, `has_one_world`, `OPTIONS`; where random events are part of a
    record `draw_outcome`, where seats see different things `viewer` and `view`); `render` draws the board
    as text (`render`); `fitted`, if not None, is what `mexica-ai train` can fit (as
    `cext.core.fitted.Fitted`).
    """

    name: str
    game: Game
    notation: ModuleType
    render: ModuleType
    fitted: Fitted | None


def names() -> tuple[str, ...]:
    """Return the names of all games."""
    return _NAMES


def get(name: str) -> GameEntry:
    """Return the game of that name.

    Raises
    ------
    UnknownGameError
        If there is none; the message lists the known names.
    """
    if name not in _NAMES:
        raise UnknownGameError(f"no game {quote(name)}; expected one of {', '.join(_NAMES)}")
    return _load(name)


@cache
def _load(name):
    return GameEntry(
        name,
        import_module(f"cext.games.{name}.ops").GAME,
        import_module(f"mexica_ai.games.{name}.notation"),
        import_module(f"mexica_ai.games.{name}.render"),
        import_module(f"cext.games.{name}.fitted").FITTED if name in _FITTED else None,
    )
