"""The games of the page: found, created, deleted, put back; and the one place where a game changes.

A change is on disk before it is in memory, and nothing of it is anywhere if it fails.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mexica_ai.io.errors import NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import quote
from mexica_ai.table.events import Drafted, Event, HandedOver, Table
from mexica_ai.web.errors import ApiError
from mexica_ai.web.journal import Folder, Journal
from mexica_ai.web.snapshot_types import Snapshot

if TYPE_CHECKING:
    from mexica_ai.web.games import Game

MAX_GAMES = 100

_logger = logging.getLogger("mexica_ai.web")


class Kept(ABC):
    """A game that changes only by commands.

    Parameters
    ----------
    ident : str
    table : Table

    Attributes
    ----------
    journal : Journal or None
        None: the game is not on disk.
    is_deleted : bool
        Then it is changed no more; put back, it is another object.
    """

    def __init__(self, ident: str, table: Table) -> None:
        self.id, self.table = ident, table
        self.journal: Journal | None = None
        self.is_deleted = False
        self.lock = threading.RLock()  # of this game; commands come from the event loop, tests and threads

    def change(
        self,
        command: Callable[[Table], Sequence[Event]],
        *,
        version: int | None = None,
        viewer: int | None = None,
    ) -> None:
        """Do a command; after an error nothing has changed.

        Parameters
        ----------
        command : callable
            One of `commands`, with its arguments.
        version : int, optional
            That the page has seen which sends it.
        viewer : int, optional
            The seat of that page.

        Raises
        ------
        ApiError
            The version is not the newest; reason STALE.
        OSError
            The change cannot be kept on disk.
        """
        with self.lock:
            if self.is_deleted:
                raise no_game(self.id)
            if version is not None:
                self.check_version(version, viewer)
            events, table = command(self.table), self.table
            for event in events:
                table = table.apply(event)
            for event in (more := self.beside(table)):
                table = table.apply(event)
            events = [*events, *more]
            kept = [event.to_json() for event in events if not isinstance(event, Drafted | HandedOver)]
            if self.journal is not None and kept:
                self.journal.append(*kept)
            before, self.table = self.table, table
            self.follow(before)

    def renew(self) -> None:
        """Begin a new version, of what pages see beside the table."""
        with self.lock:
            before, self.table = self.table, replace(self.table, version=self.table.version + 1)
            self.follow(before)

    def check_version(self, version: int, viewer: int | None) -> None:
        """Raise an ApiError, reason STALE, for a command of a page without the newest version."""
        newest = self.table.version
        if version != newest:
            raise ApiError(
                409,
                "STALE",
                f"version: given {version}; the game is at {newest}",
                snapshot=self.snapshot(viewer),
            )

    @abstractmethod
    def beside(self, table: Table) -> Sequence[Event]:
        """Return what else happens when a command leads to a table."""

    @abstractmethod
    def follow(self, before: Table) -> None:
        """Note that the table is another one."""

    @abstractmethod
    def snapshot(self, viewer: int | None) -> Snapshot:
        """Return the state of the game, as a page shows it."""


class Store:
    """All games.

    Parameters
    ----------
    folder : Folder
    restore : callable
        Returns the game of an id and the entries of its journal.
    """

    def __init__(self, folder: Folder, restore: Callable[[str, list[JsonObject]], Game]) -> None:
        self._folder, self._restore = folder, restore
        self._games: dict[str, Game | None] = dict.fromkeys(reversed(folder.ids()))  # None: still on disk
        self._lock = threading.RLock()  # of what is read from disk

    def __iter__(self) -> Iterator[str]:
        """Yield the ids, those of the newest games first."""
        return reversed(list(self._games))

    def keep_clocks(self) -> None:
        """Write on disk how the clocks of all games stand, before the process ends."""
        for game in list(self._games.values()):
            try:
                if game is not None:
                    game.keep_clock()
            except OSError as error:
                _logger.warning("the clock of game %s: %s", game and game.id, error)

    def find(self, ident: str) -> Game:
        """Return a game; ApiError if there is none. No engine begins to think."""
        game = self._games.get(ident)
        return self._read(ident) if game is None else game

    async def load(self, ident: str) -> Game:
        """Return a game as `find` does, but read it from disk in another thread if that is due."""
        is_due = self._games.get(ident, self) is None
        return await asyncio.to_thread(self.find, ident) if is_due else self.find(ident)

    def _read(self, ident: str) -> Game:
        with self._lock:
            if ident not in self._games:
                raise no_game(ident)
            game = self._games[ident]
            if game is None:
                try:
                    entries = self._folder.read(ident)
                    if not entries:
                        del self._games[ident]
                        raise no_game(ident)
                    game = self._restore(ident, entries)
                except NotationError as error:
                    _logger.warning("%s", error)
                    raise ApiError(422, error.reason, f"the game cannot be read: {error}") from None
                game.journal = self._folder.journal(ident)
                self._games[ident] = game
            return game

    def require_room(self) -> None:
        """Raise an ApiError if there are as many games as there may be."""
        if len(self._games) >= MAX_GAMES:
            raise ApiError(429, "TOO_MANY_GAMES", f"there are {MAX_GAMES} games; expected to delete one first")

    def add(self, game: Game) -> None:
        """Keep a new game."""
        self.require_room()
        keep(game, self._folder)
        self._games[game.id] = game

    def remove(self, ident: str) -> Game | None:
        """Delete a game, which can be put back; return it if it was read. ApiError if there is none."""
        with self._lock:
            if ident not in self._games:
                raise no_game(ident)
            game = self._games[ident]
            if game is None:
                self._folder.remove(ident)
            else:
                with game.lock:
                    self._folder.remove(ident)
                    game.is_deleted = True
            del self._games[ident]
            return game

    def put_back(self, ident: str) -> Game:
        """Put back a game that was deleted; return it also if it is there already. ApiError if there is none."""
        with self._lock:
            if ident not in self._games:
                if not self._folder.is_deleted(ident):
                    raise no_game(ident)
                self.require_room()
                self._folder.put_back(ident)
                self._games[ident] = None
            return self._read(ident)


def keep(game: Kept, folder: Folder) -> None:
    """Write the journal of a new game."""
    table = game.table
    entries = [table.started.to_json(), *(event.to_json() for event in table.events())]
    game.journal = folder.begin(game.id, entries)


def no_game(ident: str) -> ApiError:
    """Return the error of a game that is not there."""
    return ApiError(404, "NO_GAME", f"no game {quote(ident)}")
