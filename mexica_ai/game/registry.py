"""The list of the games; no other Python module names them (``setup.py`` lists their compiled modules).

Other packages add games by an entry point of the group ``mexica_ai.games``: its name is the game's, its object a
`mexica_ai.game.contract.Game`. The games of this package are found and checked in the same way. A package that cannot
be used is left out, with a RuntimeWarning that names it; the others go on.

A game that is not installed is added by `register`, in this process, or by the environment variable
``MEXICA_AI_GAMES``, in every command: ``MODULE:OBJECT`` or ``FILE.py:OBJECT``, several separated by commas.
"""

from __future__ import annotations

import copyreg
import importlib.util
import os
import re
import sys
import threading
import warnings
from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
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
_LOADING = threading.RLock()
BUILT_IN = {
    "coatl": "mexica_ai.games.coatl.game:GAME",
    "mexica": "mexica_ai.games.mexica.game:GAME",
    "nim": "mexica_ai.games.nim.game:GAME",
    "tzolkin": "mexica_ai.games.tzolkin.game:GAME",
}
GROUP = "mexica_ai.games"  # of the entry points
VARIABLE = "MEXICA_AI_GAMES"
_registered: dict[str, Game] = {}
# Flags of the command line that deal a game, beside those of the games' options.
_FLAGS = ("--help", "--game", "--players", "--seed")
# Parameters of the environments and of the games in OpenSpiel, which take the options of games, too.
_PARAMETERS = (
    "actions", "chance", "deal", "illegal", "legal", "masks", "num_envs", "num_games", "observations", "opponents",
    "redeal", "render_mode", "reward", "seat", "start", "starts",
)  # fmt: skip


def names() -> tuple[str, ...]:
    """Return the names of all games: those of this package, then those of others."""
    found = (*BUILT_IN, *_plugins().games)
    return (*found, *(name for name in _registered if name not in found))


def get(name: str) -> Game:
    """Return the game with this name.

    Raises
    ------
    UnknownGameError
        If there is none; the message lists the known names. If a package has it but cannot be used, the message says
        which and why.
    """
    if name in _registered:
        return _registered[name]
    if name in BUILT_IN:
        return _built_in(name)
    plugins = _plugins()
    if name in plugins.games:
        return plugins.games[name]
    if name in plugins.problems:
        raise UnknownGameError(f"no game {quote(name)}: {plugins.problems[name]}")
    raise UnknownGameError(f"no game {quote(name)}; expected one of {', '.join(names())}{did_you_mean(name, names())}")


def register(game: Game) -> Game:
    """Add a game in this process, as if a package had brought it; or replace one that was added before.

    Other processes, such as those of the arena, do not know it unless they are forked from this one or its module is
    named in ``MEXICA_AI_GAMES``.

    Parameters
    ----------
    game : Game

    Returns
    -------
    Game
        The same.

    Raises
    ------
    ValueError
        It cannot be added; the message says why, such as that its name is that of an installed game.
    """
    name = getattr(game, "name", "")
    if name in BUILT_IN or name in _plugins().games:
        raise ValueError(f"register: a game {quote(name)} is installed; expected another name")
    try:
        _check(game, name, "the object")
        _check_free(game, [each for each in (*_plugins().games.values(), *_registered.values()) if each.name != name])
    except _UnusableError as error:
        raise ValueError(f"register: {error}") from None
    _registered[name] = game
    return game


def load(value: str) -> Game:
    """Return the game at MODULE:OBJECT or FILE.py:OBJECT, which need not be installed.

    A process reads a file once, and knows its module by the file's name without the folder.

    Raises
    ------
    UnknownGameError
        There is no game; the message says why.
    """
    try:
        game = EntryPoint("game", _imported(value), GROUP).load()
        _check(game, getattr(game, "name", ""), value)
    except (Exception, SystemExit) as error:  # whatever the module does
        cause = str(error) if isinstance(error, _UnusableError) else f"{type(error).__name__}: {error}"
        raise UnknownGameError(f"{quote(value)} cannot be used: {cause}") from error
    assert isinstance(game, Game)
    return game


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
    game = get(name)
    if name in _registered:
        return type(game).__module__.partition(".")[0]
    return re.split("[.:]", BUILT_IN[name] if name in BUILT_IN else _plugins().values[name])[0].strip()


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
    values: dict[str, str]  # MODULE:OBJECT


@cache
def _plugins() -> _Plugins:
    """Load the games of other packages, by name in ascending order, and warn of those that cannot be used."""
    with _LOADING:  # a module that another thread imports is not whole yet
        points: dict[str, list[EntryPoint]] = {}
        for point in entry_points(group=GROUP):
            points.setdefault(point.name, []).append(point)
        for point in _named_by_the_environment():
            points.setdefault(point.name, []).append(point)
        found = _Plugins({}, {}, {})
        for name, same in sorted(points.items()):
            try:
                found.games[name] = _load_plugin(same, found.games.values())
                found.values[name] = same[0].value
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
    _check_free(game, others)
    return game


def _check_free(game: Game, others: Iterable[Game]) -> None:
    """Raise _UnusableError if an option of a game is in the way of other games, the command line or environments."""
    taken = dict.fromkeys(_FLAGS, "the command line") | dict.fromkeys(_PARAMETERS, "the environments")
    for other in (*map(get, BUILT_IN), *others):
        taken |= {option.flag: f"the game {other.name}" for option in other.starts.options}
        taken |= {option.name: f"the game {other.name}" for option in other.starts.options}
    for option in game.starts.options:
        for used in (option.flag, option.name):
            if used in taken:
                raise _UnusableError(f"its option {used} is one of {taken[used]}; expected another name")


def _named_by_the_environment() -> list[EntryPoint]:
    """Return the games of ``MEXICA_AI_GAMES``, as entry points, and warn of those that cannot be loaded."""
    found = []
    for value in filter(None, map(str.strip, os.environ.get(VARIABLE, "").split(","))):
        try:
            target = _imported(value)
            name = EntryPoint("game", target, GROUP).load().name
            found.append(EntryPoint(str(name), target, GROUP))
        except (Exception, SystemExit) as error:  # whatever the module does
            warnings.warn(
                f"{VARIABLE}: {quote(value)} cannot be used: {type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=4,
            )
    return found


def _imported(value: str) -> str:
    """Return MODULE:OBJECT for one that may name a file, such as ``games/goops.py:GAME``, and import the file."""
    path, colon, attribute = value.rpartition(":")
    if not path.endswith(".py"):
        return value
    name = Path(path).stem
    if name in sys.modules:
        other = getattr(sys.modules[name], "__file__", None)
        if other is None or Path(other).resolve() != Path(path).resolve():
            raise ImportError(f"there is a module {name} already ({other or 'built in'}); expected another file name")
        return f"{name}{colon}{attribute}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return f"{name}{colon}{attribute}"


@cache
def _load(point: EntryPoint) -> Game:
    """Return the game of an entry point; raise _UnusableError if it is none. Errors of its module go through."""
    game = point.load()
    _check(game, point.name, point.value)
    assert isinstance(game, Game)
    return game


def _check(game: object, name: str, what: str) -> None:
    """Raise _UnusableError if an object is not a game of this name."""
    if not isinstance(game, Game) or not isinstance(game.rules, Rules):
        raise _UnusableError(f"{what} is {quote(game)}; expected a Game, with rules that are compiled")
    for part, given in (("the game", game.name), ("its rules", game.rules.name)):
        if given != name:
            raise _UnusableError(f"{part} is named {quote(given)}; expected {quote(name)}, as its entry point")
    has_weights = game.rules.weights_size > 0
    if has_weights and game.learning.weights is None:
        raise _UnusableError("its rules have weights; expected learning.weights, their layout")
    if game.learning.weights is not None and not has_weights:
        raise _UnusableError("its rules have no weights; expected no learning.weights")


def _package(point: EntryPoint) -> str:
    """Return the name and version of a package; what its entry point refers to if its metadata cannot be read."""
    try:
        metadata = point.dist.metadata if point.dist else None
    except OSError:  # later versions of importlib.metadata raise a FileNotFoundError
        metadata = None
    name, version = (metadata[key] if metadata and key in metadata else "" for key in ("Name", "Version"))
    return f"{name} {version or '(no version)'}" if name else f"of {quote(point.value)}"
