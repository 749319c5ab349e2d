"""The bodies of requests, read only as far as their limits allow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.types import Receive

from mexica_ai.io.errors import NotationError


class Body:
    """The body of one request.

    Parameters
    ----------
    receive : callable
        Of ASGI.
    length : int, optional
        What its Content-Length says.
    max_bytes : int
        Of the whole body, or of one of its lines.
    """

    def __init__(self, receive: Receive, length: int | None, max_bytes: int) -> None:
        self._receive, self._length, self._max_bytes = receive, length, max_bytes

    async def whole(self) -> bytes:
        """Return the body.

        Raises
        ------
        NotationError
            It is too large; reason TOO_LARGE.
        """
        if self._length is not None and self._length > self._max_bytes:
            raise self._too_large(self._length)
        parts, size = [], 0
        async for chunk in self._chunks():
            parts.append(chunk)
            size += len(chunk)
            if size > self._max_bytes:
                raise self._too_large(size)
        return b"".join(parts)

    async def lines(self) -> AsyncIterator[bytes | NotationError]:
        """Yield the lines that are not empty; for one that is too long, an error."""
        line, size = bytearray(), 0
        async for chunk in self._chunks():
            *ended, rest = chunk.split(b"\n")
            for part in ended:
                size += len(part)
                if size > self._max_bytes:
                    yield self._too_large(size)
                elif found := bytes(line + part).strip():
                    yield found
                line, size = bytearray(), 0
            size += len(rest)
            if size <= self._max_bytes:
                line += rest
            else:
                line.clear()
        if size > self._max_bytes:
            yield self._too_large(size)
        elif found := bytes(line).strip():
            yield found

    async def _chunks(self) -> AsyncIterator[bytes]:
        goes_on = True
        while goes_on:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise asyncio.CancelledError  # the call ends as if it was cancelled
            goes_on = message.get("more_body", False)
            yield message.get("body", b"")

    def _too_large(self, size: int) -> NotationError:
        return NotationError(
            f"request: has {size} bytes or more; expected {self._max_bytes} at most", reason="TOO_LARGE"
        )
