"""Programs that a worker process keeps for its next games, instead of starting them for each one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from multiprocessing import util

from mexica_ai.engines.process import ProcessEngine
from mexica_ai.engines.specs import EngineSpec


class KeptPrograms:
    """The running programs of a process that play no game now, by their specs.

    They end when the process ends, in whatever way that lets it clean up; else they see the end of their input.
    """

    def __init__(self) -> None:
        self._idle: dict[str, list[ProcessEngine]] = {}
        self._end: Callable[[], object] | None = None

    def take(self, spec: EngineSpec, log: Callable[[str, str], None] | None, *, ended: bool) -> ProcessEngine | None:
        """Return a kept program, which from now on writes to `log`; None if there is none.

        Parameters
        ----------
        spec : EngineSpec
        log : callable, optional
            As in `ProcessEngine`.
        ended : bool
            Whether to return one that has ended by itself meanwhile; its next turn fails.
        """
        idle = self._idle.get(str(spec), [])
        while idle:
            engine = idle.pop()
            if ended or engine.is_running:
                engine.log_to(log)
                return engine
            _close(engine)
        return None

    def keep(self, spec: EngineSpec, engine: ProcessEngine) -> None:
        """Keep a program that is between two games."""
        if self._end is None:
            self._end = util.Finalize(None, self.close, exitpriority=10)
        engine.log_to(None)
        self._idle.setdefault(str(spec), []).append(engine)

    def close(self) -> None:
        """End all programs: first tell all of them, then wait for each."""
        engines = [engine for idle in self._idle.values() for engine in idle]
        self._idle.clear()
        for engine in engines:
            with contextlib.suppress(Exception):
                engine.end_input()
        for engine in engines:
            _close(engine)


def _close(engine: ProcessEngine) -> None:
    with contextlib.suppress(Exception):  # how it ends changes no game
        engine.close()


KEPT = KeptPrograms()  # of this process
