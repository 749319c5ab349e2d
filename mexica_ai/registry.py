"""The games: the one place in Python that lists them (``setup.py`` has the table of compiled modules)."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import NamedTuple

from cext.core.fitted import Fitted
from cext.core.game import Game
from mexica_ai.errors import UnknownGameError
from mexica_ai.games.codec import GameCodec
from mexica_ai.strict import quote

DEFAULT = "mexica"  # the game where none is named
_NAMES = ("coatl", "mexica", "nim")
_FITTED = ("coatl", "mexica")  # those with knowledge that `mexica-ai train` can fit
# What single games add to the names of `mexica_ai`, and the module where each is.
EXTRAS = dict.fromkeys(("Removal", "TokenRemoval", "consider_removal"), "mexica_ai.games.mexica.removal")


class GameEntry(NamedTuple):
    """A game and what belongs to it.

    `game` is the compiled one; `codec` is everything else that the package needs of it (see
    `mexica_ai.games.codec.GameCodec`); `fitted`, if not None, is what `mexica-ai train` can fit (as
    `cext.core.fitted.Fitted`).
    """

    name: str
    game: Game
    codec: GameCodec
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
        import_module(f"mexica_ai.games.{name}.codec").CODEC,
        import_module(f"cext.games.{name}.fitted").FITTED if name in _FITTED else None,
    )
