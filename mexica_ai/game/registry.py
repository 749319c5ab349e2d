"""The list of the games; no other Python module names them (``setup.py`` lists their compiled modules).

Other packages add games by an entry point of the group ``mexica_ai.games``: its name is the game's, its object a
`mexica_ai.game.contract.Game`. The games of this package are found and checked in the same way. A package that cannot
be used is left out, with a RuntimeWarning that names it; the others go on.
"""

from __future__ import annotations

import copyreg
import os
import re
import warnings
from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

from cext.core.contract.game import Game as Rules
from cext.core.learning.weights import Weights as Weights
from cext.core.learning.weights import WeightsSpec
from mexica_ai.game.contract import Game
from mexica_ai.game.weights import read_weights
from mexica_ai.io.errors import UnknownGameError
from mexica_ai.io.strict import quote
from mexica_ai.io.suggest import did_you_mean

DEFAULT = "mexica"  # the game where none is named
BUILT_IN = {
    "coatl": "mexica_ai.games.coatl.game:GAME",
    "mexica": "mexica_ai.games.mexica.game:GAME",
    "nim": "mexica_ai.games.nim.game:GAME",
    "tzolkin": "mexica_ai.games.tzolkin.game:GAME",
}
GROUP = "mexica_ai.games"  # of the entry points
# Flags of the command line that deal a game, beside those of the games' options.
_FLAGS = ("--help", "--game", "--players", "--seed")


def names() -> tuple[str, ...]:
    """Return the names of all games: those of this package, then those of others."""
    return (*BUILT_IN, *_plugins().games)


def get(name: str) -> Game:
    """Return the game with this name.

    Raises
    ------
    UnknownGameError
        If there is none; the message lists the known names. If a package has it but cannot be used, the message says
        which and why.
    """
    if name in BUILT_IN:
        return _built_in(name)
    plugins = _plugins()
    if name in plugins.games:
        return plugins.games[name]
    if name in plugins.problems:
        raise UnknownGameError(f"no game {quote(name)}: {plugins.problems[name]}")
    raise UnknownGameError(f"no game {quote(name)}; expected one of {', '.join(names())}{did_you_mean(name, names())}")


@cache
def _built_in(name: str) -> Game:
    return _load(EntryPoint(name, BUILT_IN[name], GROUP))


def package_of(name: str) -> str:
    """Return the package of the object that is the game with this name: the first part of its dotted name.

    Raises
    ------
    UnknownGameError
        As `get`.
    """
    get(name)
    value = BUILT_IN[name] if name in BUILT_IN else next(iter(entry_points(group=GROUP, name=name))).value
    return re.split("[.:]", value)[0].strip()


# A game is pickled and copied by its name: a process has one of a name.
copyreg.pickle(Game, lambda game: (get, (game.name,)))


def load_weights_file(path: str | os.PathLike[str], spec: WeightsSpec | None = None) -> Weights:
    """Read a file of weights; the file names its game, which must be that of `spec` if one is given.

    Raises
    ------
    NotationError
        The file cannot be read, does not hold weights of a known game, or is damaged; reason BAD_WEIGHTS.
    """
    known = [get(name).learning.weights for name in names()] if spec is None else [spec]
    return read_weights(path, [each for each in known if each is not None])


def _rules(name: str) -> Rules:
    return get(name).rules


def _spec(name: str) -> WeightsSpec:
    spec = get(name).learning.weights
    assert spec is not None
    return spec


# Tables of functions do not leave the process: another one has those of the same name.
copyreg.pickle(Rules, lambda rules: (_rules, (rules.name,)))
copyreg.pickle(WeightsSpec, lambda spec: (_spec, (spec.game,)))


class _Plugins(NamedTuple):
    """The games of other packages by name, and why others are left out."""

    games: dict[str, Game]
    problems: dict[str, str]


@cache
def _plugins() -> _Plugins:
    """Load the games of other packages, by name in ascending order, and warn of those that cannot be used."""
    points: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        points.setdefault(point.name, []).append(point)
    found = _Plugins({}, {})
    for name, same in sorted(points.items()):
        try:
            found.games[name] = _load_plugin(same, found.games.values())
        except (Exception, SystemExit) as error:  # whatever the package does
            cause = str(error) if isinstance(error, _UnusableError) else f"{type(error).__name__}: {error}"
            packages = " and ".join(sorted(_package(point) for point in same))
            found.problems[name] = f"the package {packages} cannot be used: {cause}"
            warnings.warn(f"game {quote(name)}: {found.problems[name]}", RuntimeWarning, stacklevel=3)
    return found


class _UnusableError(Exception):
    """Why a game is left out."""


def _load_plugin(points: list[EntryPoint], others: Iterable[Game]) -> Game:
    """Return the game of another package; raise _UnusableError if it is none, or in the way of other games."""
    name = points[0].name
    if not re.fullmatch("[a-z][a-z0-9_]{0,31}", name):
        raise _UnusableError(f"its entry point is named {quote(name)}; expected a word in lower case")
    if len(points) > 1:
        raise _UnusableError(f"each has a game {quote(name)}; expected one package with this name")
    if name in BUILT_IN:
        raise _UnusableError("mexica-ai has a game of this name; expected another name")
    if not re.fullmatch(r"[\w.]+\s*:\s*[\w.]+\s*(\[.*\])?", points[0].value):
        raise _UnusableError(f"its entry point is {quote(points[0].value)}; expected MODULE:OBJECT")
    game = _load(points[0])
    taken = dict.fromkeys(_FLAGS, "the command line")
    for other in (*map(get, BUILT_IN), *others):
        taken |= {option.flag: f"the game {other.name}" for option in other.starts.options}
        taken |= {option.name: f"the game {other.name}" for option in other.starts.options}
    for option in game.starts.options:
        for used in (option.flag, option.name):
            if used in taken:
                raise _UnusableError(f"its option {used} is one of {taken[used]}; expected another name")
    return game


@cache
def _load(point: EntryPoint) -> Game:
    """Return the game of an entry point; raise _UnusableError if it is none. Errors of its module go through."""
    game = point.load()
    if not isinstance(game, Game) or not isinstance(game.rules, Rules):
        raise _UnusableError(f"{point.value} is {quote(game)}; expected a Game, with rules that are compiled")
    for part, given in (("the game", game.name), ("its rules", game.rules.name)):
        if given != point.name:
            raise _UnusableError(f"{part} is named {quote(given)}; expected {quote(point.name)}, as its entry point")
    has_weights = game.rules.weights_size > 0
    if has_weights and game.learning.weights is None:
        raise _UnusableError("its rules have weights; expected learning.weights, their layout")
    if game.learning.weights is not None and not has_weights:
        raise _UnusableError("its rules have no weights; expected no learning.weights")
    return game


def _package(point: EntryPoint) -> str:
    """Return the name and version of a package; what its entry point refers to if its metadata cannot be read."""
    try:
        metadata = point.dist.metadata if point.dist else None
    except OSError:  # later versions of importlib.metadata raise a FileNotFoundError
        metadata = None
    name, version = (metadata[key] if metadata and key in metadata else "" for key in ("Name", "Version"))
    return f"{name} {version or '(no version)'}" if name else f"of {quote(point.value)}"
