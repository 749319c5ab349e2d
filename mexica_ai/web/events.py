"""The streams of events to the pages, each with a bounded queue."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from mexica_ai.game.phrases import ENGLISH
from mexica_ai.web.errors import ApiError
from mexica_ai.web.guests import Guest

MAX_STREAMS = 5  # browsers keep six connections to a server; the last one is for requests
MAX_GUESTS, MAX_ALL_GUESTS = 2, 24  # pages of one invitation, and of all
MAX_EVENTS = 64


class Stream:
    """The events of one page. Only the newest of an analysis waits; of other events up to `MAX_EVENTS` do.

    Parameters
    ----------
    game : str
        The id of its game; empty for a page without one.
    viewer : int or None
        The seat that looks at the page.
    language : str
        In which it is told.
    guest : Guest, optional
        Whose page it is, if an invitation has opened it.
    """

    def __init__(self, game: str, viewer: int | None, language: str = ENGLISH, guest: Guest | None = None) -> None:
        self.game, self.viewer, self.language, self.guest = game, viewer, language, guest
        self._events: deque[tuple[str, dict[str, Any]]] = deque()
        self._analysis: dict[str, Any] | None = None
        self._news = asyncio.Event()
        self._is_closed = False

    def put(self, event: str, data: dict[str, Any]) -> None:
        """Send an event; a stream with too many waiting is closed, and its page loads everything anew."""
        if event == "analysis":
            self._analysis = data
        elif len(self._events) < MAX_EVENTS:
            self._events.append((event, data))
        else:
            self.close()
        self._news.set()

    def close(self) -> None:
        """End the stream after the events that wait."""
        self._is_closed = True
        self._news.set()

    async def events(self) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield the events until the stream is closed."""
        while True:
            while self._events:
                yield self._events.popleft()
            if self._analysis is not None:
                data, self._analysis = self._analysis, None
                yield "analysis", data
                continue
            if self._is_closed:
                return
            self._news.clear()
            await self._news.wait()


class Hub:
    """All streams.

    Attributes
    ----------
    on_join, on_leave : callable
        Called with the id of a game when a stream of it is added, and when its last one is removed.
    on_change : callable
        Called with the id of a game when a stream of it was added or removed.
    """

    def __init__(self) -> None:
        self._streams: list[Stream] = []
        self.on_leave: Callable[[str], None] = lambda game: None
        self.on_change: Callable[[str], None] = lambda game: None
        self.on_join: Callable[[str], None] = lambda game: None

    @contextlib.contextmanager
    def open(self, stream: Stream) -> Iterator[None]:
        """Add a stream while the context lasts; ApiError if there are too many."""
        self._make_room(stream)
        most = MAX_STREAMS if stream.guest is None else MAX_ALL_GUESTS
        if sum((one.guest is None) == (stream.guest is None) for one in self._streams) >= most:
            raise ApiError(429, "TOO_MANY_STREAMS", f"there are {most} pages already; expected fewer")
        self._streams.append(stream)
        try:
            if stream.game:
                self.on_join(stream.game)
                self.on_change(stream.game)
            yield
        finally:
            if stream in self._streams:
                self._streams.remove(stream)
            if stream.game and not self.is_watched(stream.game):
                self.on_leave(stream.game)
            if stream.game:
                self.on_change(stream.game)

    def _make_room(self, new: Stream) -> None:
        """End the oldest page of an invitation that has too many: its holder must not lock out others."""
        if new.guest is not None:
            own = [stream for stream in self.of(new.game) if stream.guest is not None and stream.guest == new.guest]
            for stream in own[: len(own) + 1 - MAX_GUESTS]:
                self._streams.remove(stream)
                stream.close()

    def is_watched(self, game: str) -> bool:
        """Return whether a page shows a game."""
        return any(self.of(game))

    def of(self, game: str) -> Iterator[Stream]:
        """Yield the streams of a game."""
        return (stream for stream in self._streams if stream.game == game)

    def broadcast(self, game: str, event: str, data: dict[str, Any]) -> None:
        """Send an event that all may see to all pages of a game."""
        for stream in list(self.of(game)):
            stream.put(event, data)

    def close(self) -> None:
        """Send `bye` to all pages, and close their streams."""
        for stream in list(self._streams):
            stream.put("bye", {})
            stream.close()
