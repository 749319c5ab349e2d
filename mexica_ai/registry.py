"""The list of the games; no other Python module names them (``setup.py`` lists their compiled modules)."""

from __future__ import annotations

import os
import warnings
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from cext.core.game import Game
from cext.core.weights import Weights, WeightsSpec, load_weights
from mexica_ai.errors import NotationError, UnknownGameError
from mexica_ai.games.codec import GameCodec
from mexica_ai.strict import quote

DEFAULT = "mexica"  # the game where none is named
_NAMES = (
    "coatl",
    "mexica",
    "nim",
    "tzolkin",
)
# What single games add to the names of `mexica_ai`, and the module where each is.
EXTRAS = dict.fromkeys(("Removal", "TokenRemoval", "consider_removal"), "mexica_ai.games.mexica.removal")


class GameEntry(NamedTuple):
    """A game and everything that belongs to it.

    Attributes
    ----------
    name : str
    game : cext.core.game.Game
        The compiled rules.
    codec : mexica_ai.games.codec.GameCodec
        Everything else that the package needs from the game.
    weights_spec : cext.core.weights.WeightsSpec or None
        The layout of the game's weights; None if it has none.
    training : module or None
        The corrections that `mexica-ai train` fits; None if the game has no weights.
    """

    name: str
    game: Game
    codec: GameCodec
    weights_spec: WeightsSpec | None
    training: ModuleType | None

    def weights(self) -> Weights | None:
        """Return the weights that ship with the game, read once; None if it has none.

        If they cannot be read, issue a RuntimeWarning with the cause and return the hand-made estimate
        instead: fitting new weights needs games, so the game must be playable without them.
        """
        return _shipped(self.name)


def names() -> tuple[str, ...]:
    """Return the names of all games."""
    return _NAMES


def get(name: str) -> GameEntry:
    """Return the game with this name.

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
    game = import_module(f"cext.games.{name}.ops").GAME
    has_weights = game.weights_size > 0
    return GameEntry(
        name,
        game,
        import_module(f"mexica_ai.games.{name}.codec").CODEC,
        import_module(f"cext.games.{name}.spec").SPEC if has_weights else None,
        import_module(f"mexica_ai.games.{name}.training") if has_weights else None,
    )


@cache
def _shipped(name):
    spec = _load(name).weights_spec
    if spec is None:
        return None
    try:
        return spec.load()
    except NotationError as error:
        from mexica_ai.train.corrections import estimate

        problem = f"{name.capitalize()} is played with a hand-made estimate alone: {error}"
        warnings.warn(problem, RuntimeWarning, stacklevel=4)
        return spec.make(estimate(spec), {"estimate": True})


def load_weights_file(path: str | os.PathLike[str]) -> Weights:
    """Read a file of weights; the file names its game.

    Raises
    ------
    NotationError
        The file cannot be read, does not hold weights of a known game, or is damaged; reason BAD_WEIGHTS.
    """
    specs = [spec for name in _NAMES if (spec := _load(name).weights_spec) is not None]
    return load_weights(path, specs)
