"""Many requests over one call: each is answered as soon as it can be, in any order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


async def answer_each(
    requests: AsyncIterator[Q], answer: Callable[[Q], Awaitable[A]], max_in_work: int
) -> AsyncGenerator[A, None]:
    """Yield the answers to requests, which are read only while fewer than `max_in_work` are in work.

    Parameters
    ----------
    requests : async iterator
        Its exceptions end the answers.
    answer : callable
        Returns the answer to one request. Its exceptions end the answers, too, once those to all other requests that
        were read have been given.
    max_in_work : int
        Also limits the answers that a slow reader has not taken.
    """
    in_work: set[asyncio.Future[Any]] = set()
    reading: asyncio.Future[Any] | None = None
    is_last, failure = False, None
    try:
        while True:
            if reading is None and not is_last and len(in_work) < max_in_work:
                reading = asyncio.ensure_future(anext(requests, None))
            awaited = in_work if reading is None else in_work | {reading}
            if not awaited:
                break
            done, _ = await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
            if reading in done:
                done.discard(reading)
                request, reading = reading.result(), None
                if request is None:
                    is_last = True
                else:
                    in_work.add(asyncio.ensure_future(answer(request)))
            for answered in done:
                in_work.discard(answered)
                if error := answered.exception():
                    failure, is_last = failure or error, True
                    if reading is not None:
                        reading.cancel()
                        reading = None
                else:
                    yield answered.result()
        if failure is not None:
            raise failure
    finally:
        for task in (*in_work, *filter(None, [reading])):
            task.cancel()
