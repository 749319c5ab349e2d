"""An event that ends a search, or a call to a server, at once and from any thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any


class Stop(threading.Event):
    """An event that calls back when it is set.

    Nothing polls: a thread that did would take the interpreter's lock hundreds of times a second, and a thread that
    cannot start for want of memory leaves the one that starts it waiting for ever.
    """

    def __init__(self) -> None:
        super().__init__()
        self._calls: tuple[Callable[[], object], ...] = ()
        self._changing = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a Stop cannot be copied or pickled: what it stops runs in this process; make one in each")

    def set(self) -> None:
        """Set the event, and call what waits for it."""
        super().set()
        for call in self._calls:
            call()

    @contextlib.contextmanager
    def calling(self, call: Callable[[], object]) -> Iterator[None]:
        """Call a function when the event is set inside the context, or was set before.

        The function may be called more than once, from any thread, and must not wait.
        """
        with self._changing:
            self._calls += (call,)
        if self.is_set():
            call()
        try:
            yield
        finally:
            with self._changing:
                index = self._calls.index(call)
                self._calls = self._calls[:index] + self._calls[index + 1 :]
