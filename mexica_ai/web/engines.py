"""The named engines at work: one for each seat that one plays, in a thread of its own.

So no engine is ever used by two threads, and engines that think hold up nothing else: neither requests nor each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.results import Result
from mexica_ai.analysis.stopping import Stop
from mexica_ai.engines import EngineSpec, make_engine
from mexica_ai.engines.base import Engine
from mexica_ai.game.position import Position
from mexica_ai.io.errors import MexicaAIError

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

    def close(self) -> Future[None]:
        """Close the engine after what it still does."""
        closing = self.thread.submit(self._close)
        self.thread.shutdown(wait=False)
        return closing

    def _close(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()


class Engines:
    """The engines of all games.

    Parameters
    ----------
    specs : mapping of str to EngineSpec
        By name.
    """

    def __init__(self, specs: Mapping[str, EngineSpec]) -> None:
        self.specs = specs
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
        try:
            return await loop.run_in_executor(player.thread, player.best_turn, position, limits, stop)
        finally:
            stop.set()

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
