"""The streams of events to the pages: what each page is still to be told, in bounded queues."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from mexica_ai.web.errors import ApiError

MAX_STREAMS = 8
MAX_EVENTS = 64


class Stream:
    """One page. Of the analysis it is told only the newest; of all else up to `MAX_EVENTS` may wait.

    Parameters
    ----------
    game : str
        The id of its game; empty for a page without one.
    viewer : int or None
        Whose page it is.
    """

    def __init__(self, game: str, viewer: int | None) -> None:
        self.game, self.viewer = game, viewer
        self._events: deque[tuple[str, dict[str, Any]]] = deque()
        self._analysis: dict[str, Any] | None = None
        self._news = asyncio.Event()
        self._is_closed = False

    def put(self, event: str, data: dict[str, Any]) -> None:
        """Tell the page of an event; one that has too many waiting is sent to load everything anew."""
        if event == "analysis":
            self._analysis = data
        elif len(self._events) < MAX_EVENTS:
            self._events.append((event, data))
        else:
            self.close()
        self._news.set()

    def close(self) -> None:
        """End the stream after what is waiting."""
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
    """All streams."""

    def __init__(self) -> None:
        self._streams: list[Stream] = []
        self.when_left: Callable[[str], None] = lambda game: None
        self.when_joined: Callable[[str], None] = lambda game: None

    @contextlib.contextmanager
    def open(self, stream: Stream) -> Iterator[None]:
        """Have a stream among all; ApiError if there are too many. With the last one of a game `when_left` is called."""
        if len(self._streams) >= MAX_STREAMS:
            raise ApiError(429, "TOO_MANY_STREAMS", f"there are {MAX_STREAMS} pages already; expected fewer")
        self._streams.append(stream)
        try:
            if stream.game:
                self.when_joined(stream.game)
            yield
        finally:
            self._streams.remove(stream)
            if stream.game and not self.is_watched(stream.game):
                self.when_left(stream.game)

    def is_watched(self, game: str) -> bool:
        """Return whether a page shows a game."""
        return any(self.of(game))

    def of(self, game: str) -> Iterator[Stream]:
        """Yield the streams of a game."""
        return (stream for stream in self._streams if stream.game == game)

    def tell(self, game: str, event: str, data: dict[str, Any]) -> None:
        """Tell all pages of a game of an event that all may see."""
        for stream in list(self.of(game)):
            stream.put(event, data)

    def close(self) -> None:
        """Say good-bye to all pages."""
        for stream in list(self._streams):
            stream.put("bye", {})
            stream.close()
