"""The named engines at work: one for each seat that one plays, in a thread of its own.

So no engine is ever used by two threads, and engines that think hold up nothing else: neither requests nor each other.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from mexica_ai.analysis import levels
from mexica_ai.analysis.limits import Limits, num_threads
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines import EngineSpec, make_engine
from mexica_ai.engines.base import Engine
from mexica_ai.engines.specs import takes_all_cores
from mexica_ai.game.position import Position
from mexica_ai.io.errors import MexicaAIError

Specs = Mapping[str, EngineSpec]  # by name
CLOSE_S = 1.5  # longest wait for engines when the process ends


class _Player:
    """An engine and its thread, which makes, asks and closes it."""

    def __init__(self, spec: EngineSpec) -> None:
        self._spec = spec
        self._engine: Engine | None = None
        self.thread = ThreadPoolExecutor(1, "engine")

    def best_turn(self, position: Position, limits: Limits, stop: Stop) -> Result:
        """Search; an engine that has failed is not asked again, but made anew."""
        if self._engine is None:
            self._engine = make_engine(self._spec)
        try:
            return self._engine.best_turn(position, limits, stop=stop)
        except Exception:
            self._close()
            raise

    def ponder(self, position: Position, turn: list[str]) -> None:
        """Let the engine think on, if it does, after a turn of its own."""
        if self._engine is not None:
            with contextlib.suppress(MexicaAIError):  # without memory for it, it does not
                self._engine.ponder(position, turn)

    def close(self) -> Future[None]:
        """Close the engine after what it still does."""
        closing = self.thread.submit(self._close)
        self.thread.shutdown(wait=False)
        return closing

    def _close(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()


class Cores:
    """Says with how many threads the page searches, so that searches that run at a time share the processors.

    A search keeps what it got when it began: what begins beside n others gets its part of n + 1.

    Parameters
    ----------
    threads : int, optional
        Threads of every search. None: they share the processors.
    serves : bool
        Whether the service is in this process; another one divides its own processors.
    """

    def __init__(self, threads: int | None = None, *, serves: bool = True) -> None:
        self._threads, self._serves = threads, serves
        self._most = num_threads() if threads is None else threads
        self._running = 0

    @contextlib.contextmanager
    def share(self) -> Iterator[int]:
        """Give the threads of a search that runs while the context lasts."""
        self._running += 1
        try:
            yield self._most if self._threads is not None else max(1, self._most // self._running)
        finally:
            self._running -= 1

    @contextlib.contextmanager
    def of_service(self, level: int | None = None) -> Iterator[int | None]:
        """Give the threads that a request asks for; None: what the service gives. Levels have one (`levels`)."""
        if not self._serves:
            yield None
        elif level not in (None, levels.HIGHEST):
            yield 1
        else:
            with self.share() as threads:
                yield threads


class Engines:
    """The engines of all games.

    Parameters
    ----------
    specs : mapping of str to EngineSpec
        By name.
    cores : Cores, optional
        By default one thread a search.
    """

    def __init__(self, specs: Specs, cores: Cores | None = None) -> None:
        self.specs, self._cores = specs, cores or Cores(1)
        self._players: dict[object, dict[int, _Player]] = {}
        self._closing: set[Future[None]] = set()

    async def best_turn(
        self, game: object, seat: int, name: str | None, position: Position, limits: Limits, stop: Stop
    ) -> Result:
        """Return what the engine of a seat of a game answers; a task that is cancelled ends its search."""
        if name is None or name not in self.specs:
            raise MexicaAIError(f"no engine {name}: this process was started without it", reason="UNKNOWN_ENGINE")
        players = self._players.setdefault(game, {})
        if seat not in players:
            players[seat] = _Player(self.specs[name])
        player = players[seat]
        loop = asyncio.get_running_loop()
        with self._cores.share() if takes_all_cores(self.specs[name]) else contextlib.nullcontext() as threads:
            if threads is not None:
                limits = dataclasses.replace(limits, threads=threads)
            try:
                return await loop.run_in_executor(player.thread, player.best_turn, position, limits, stop)
            finally:
                stop.set()

    def ponder(self, game: object, seat: int, position: Position, turn: list[str]) -> None:
        """Let the engine of a seat think on in the others' time, if it does; return at once."""
        player = self._players.get(game, {}).get(seat)
        if player is not None:
            player.thread.submit(player.ponder, position, turn)

    def close(self, game: object, seat: int | None = None) -> None:
        """Close the engines of a game, or of one seat, without waiting for them."""
        players = self._players.get(game, {})
        for player in [players.pop(one) for one in list(players) if seat in (None, one)]:
            closing = player.close()
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        if not players:
            self._players.pop(game, None)

    async def close_all(self) -> None:
        """Close all engines."""
        for game in list(self._players):
            self.close(game)
        waiting = [asyncio.wrap_future(closing) for closing in list(self._closing)]
        if waiting:
            await asyncio.wait(waiting, timeout=CLOSE_S)  # cancels none: an engine that is late is closed all the same
