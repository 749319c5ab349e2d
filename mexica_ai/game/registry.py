"""The list of the games; no other Python module names them (``setup.py`` lists their compiled modules).

Other packages add games by an entry point of the group ``mexica_ai.games``: its name is the game's, its object a
`GameEntry`. A package that cannot be used is left out, with a RuntimeWarning that names it; the others go on.
"""

from __future__ import annotations

import copyreg
import os
import re
import warnings
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import NamedTuple

from cext.core.contract.game import Game
from cext.core.learning.weights import Weights, WeightsSpec, load_weights
from mexica_ai.game.codec import GameCodec
from mexica_ai.io.errors import NotationError, UnknownGameError
from mexica_ai.io.files import MAX_JSON, read_text
from mexica_ai.io.strict import parse_json, quote

DEFAULT = "mexica"  # the game where none is named
BUILT_IN = (
    "coatl",
    "mexica",
    "nim",
    "tzolkin",
)
GROUP = "mexica_ai.games"  # of the entry points
# Flags of the command line that deal a game, beside those of the games' options.
_FLAGS = ("--help", "--game", "--players", "--seed")
# What single games add to the names of `mexica_ai`, and the module where each is.
EXTRAS = dict.fromkeys(("Removal", "TokenRemoval", "consider_removal"), "mexica_ai.games.mexica.removal")


class GameEntry(NamedTuple):
    """A game and everything that belongs to it.

    Attributes
    ----------
    name : str
    game : cext.core.contract.game.Game
        The compiled rules.
    codec : mexica_ai.game.codec.GameCodec
        Everything else that the package needs from the game.
    weights_spec : cext.core.learning.weights.WeightsSpec or None
        The layout of the game's weights; None if it has none.
    training : module or None
        What `mexica-ai train` needs of the game: `varied`, None or a function of a position (JSON) and a random.Random
        that returns the position with other things in the hands of the seats. None if the game has no weights.
    """

    name: str
    game: Game
    codec: GameCodec
    weights_spec: WeightsSpec | None = None
    training: ModuleType | None = None

    def weights(self) -> Weights | None:
        """Return the weights that ship with the game, read once; None if it has none.

        If they cannot be read, issue a RuntimeWarning with the cause and return the hand-made estimate
        instead: fitting new weights needs games, so the game must be playable without them.
        """
        return _shipped(self.name)

    def __reduce__(self):
        return get, (self.name,)


def names() -> tuple[str, ...]:
    """Return the names of all games: those of this package, then those of others."""
    return (*BUILT_IN, *_plugins().entries)


def get(name: str) -> GameEntry:
    """Return the game with this name.

    Raises
    ------
    UnknownGameError
        If there is none; the message lists the known names. If a package has it but cannot be used, the message says
        which and why.
    """
    if name in BUILT_IN:
        return _load(name)
    plugins = _plugins()
    if name in plugins.entries:
        return plugins.entries[name]
    if name in plugins.problems:
        raise UnknownGameError(f"no game {quote(name)}: {plugins.problems[name]}")
    raise UnknownGameError(f"no game {quote(name)}; expected one of {', '.join(names())}")


def _game(name: str) -> Game:
    return get(name).game


def _spec(name: str) -> WeightsSpec | None:
    return get(name).weights_spec


# Tables of functions do not leave the process: another one has those of the same name.
copyreg.pickle(Game, lambda game: (_game, (game.name,)))
copyreg.pickle(WeightsSpec, lambda spec: (_spec, (spec.game,)))


class _Plugins(NamedTuple):
    """The games of other packages by name, and why others are left out."""

    entries: dict[str, GameEntry]
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
            found.entries[name] = _load_plugin(name, same, found.entries.values())
        except (Exception, SystemExit) as error:  # whatever the package does
            cause = str(error) if isinstance(error, _UnusableError) else f"{type(error).__name__}: {error}"
            packages = " and ".join(sorted(_package(point) for point in same))
            found.problems[name] = f"the package {packages} cannot be used: {cause}"
            warnings.warn(f"game {quote(name)}: {found.problems[name]}", RuntimeWarning, stacklevel=3)
    return found


class _UnusableError(Exception):
    """Why a game of another package is left out."""


def _load_plugin(name: str, points: list[EntryPoint], others: Iterable[GameEntry]) -> GameEntry:
    """Return the game of an entry point; raise _UnusableError if it is none, or in the way of other games.

    Errors of the package itself go through.
    """
    if not re.fullmatch("[a-z][a-z0-9_]{0,31}", name):
        raise _UnusableError(f"its entry point is named {quote(name)}; expected a word in lower case")
    if len(points) > 1:
        raise _UnusableError(f"each has a game {quote(name)}; expected one package with this name")
    if name in BUILT_IN:
        raise _UnusableError("mexica-ai has a game of this name; expected another name")
    if not re.fullmatch(r"[\w.]+\s*:\s*[\w.]+\s*(\[.*\])?", points[0].value):
        raise _UnusableError(f"its entry point is {quote(points[0].value)}; expected MODULE:OBJECT")
    entry = points[0].load()
    is_entry = isinstance(entry, GameEntry) and isinstance(entry.game, Game)
    if not is_entry or GameCodec not in type(entry.codec).__mro__:
        raise _UnusableError(f"{points[0].value} is {quote(entry)}; expected a GameEntry with a Game and a GameCodec")
    for part, given in (("the entry", entry.name), ("its game", entry.game.name), ("its codec", entry.codec.name)):
        if given != name:
            raise _UnusableError(f"{part} is named {quote(given)}; expected {quote(name)}, as its entry point")
    has_weights = entry.game.weights_size > 0
    for part, given in (("weights_spec", entry.weights_spec), ("training", entry.training)):
        if has_weights and given is None:
            raise _UnusableError(f"the game has weights; expected its entry to have {part}")
        if given is not None and not has_weights:
            raise _UnusableError(f"the game has no weights; expected its entry to have no {part}")
    if has_weights and not hasattr(entry.training, "varied"):
        raise _UnusableError("its training has no varied; expected a function, or None")
    taken = dict.fromkeys(_FLAGS, "the command line")
    for other in (*map(_load, BUILT_IN), *others):
        taken |= {option.flag: f"the game {other.name}" for option in other.codec.options}
        taken |= {option.name: f"the game {other.name}" for option in other.codec.options}
    for option in entry.codec.options:
        for used in (option.flag, option.name):
            if used in taken:
                raise _UnusableError(f"its option {used} is one of {taken[used]}; expected another name")
    return entry


def _package(point: EntryPoint) -> str:
    """Return the name and version of a package; what its entry point refers to if its metadata cannot be read."""
    try:
        metadata = point.dist.metadata if point.dist else None
    except OSError:  # later versions of importlib.metadata raise a FileNotFoundError
        metadata = None
    if not metadata or metadata.get("Name") is None:
        return f"of {quote(point.value)}"
    return f"{metadata.get('Name')} {metadata.get('Version', '(no version)')}"


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
    spec = get(name).weights_spec
    if spec is None:
        return None
    try:
        return load_weights_file(spec.path, spec)
    except NotationError as error:
        problem = f"{name.capitalize()} is played with a hand-made estimate alone: {error}"
        warnings.warn(problem, RuntimeWarning, stacklevel=4)
        return spec.estimate()


def load_weights_file(path: str | os.PathLike[str], spec: WeightsSpec | None = None) -> Weights:
    """Read a file of weights; the file names its game, which must be that of `spec` if one is given.

    Raises
    ------
    NotationError
        The file cannot be read, does not hold weights of a known game, or is damaged; reason BAD_WEIGHTS.
    """
    known = [get(name).weights_spec for name in names()] if spec is None else [spec]
    specs = [each for each in known if each is not None]
    try:
        content = parse_json(read_text(path, MAX_JSON), os.fspath(path))
    except NotationError as error:
        expected = " or ".join(each.game for each in specs)
        raise NotationError(
            f"{error}; expected a file of weights of {expected}", reason="BAD_WEIGHTS", path=str(path)
        ) from None
    return load_weights(path, specs, content)
