"""The clocks of persons: when they run, what pages see of them, and what happens when time is up.

The time of this process decides. It stands still while the process does not run, and afterwards until a page shows the
game; the first turn of a game is not timed.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from mexica_ai.game.clock import Clock
from mexica_ai.table.events import Table
from mexica_ai.web import commands
from mexica_ai.web.snapshot_types import ClockJson

if TYPE_CHECKING:
    from mexica_ai.web.games import Game


AGAIN_S = 5.0  # until a flag falls again that could not be kept on disk

_logger = logging.getLogger("mexica_ai.web")


def now_s() -> float:
    """Return the time of this process, in seconds."""
    return time.monotonic()


def follow(clock: Clock, before: Table, after: Table) -> Clock:
    """Return the clock when one table has followed another; the same one if nothing changes.

    A random event is part of the turn before it, after which the same seat may go on.
    """
    if after.waiting == "event":
        return clock
    has_begun = any(position.to_move not in (None, after.mover) for position in after.positions[:-1])
    seat = after.mover if has_begun and after.mover in after.persons else None
    is_back = len(after.turns) < len(before.turns)
    return (clock.switch if is_back or after.is_over else clock.hand_over)(seat, now_s())


def clock_json(game: Game) -> ClockJson | None:
    """Return the clock of a game as pages show it."""
    clock = game.clock
    if clock is None:
        return None
    now = now_s()
    persons = game.persons
    return {
        "bank": clock.bank_s,
        "increment": clock.increment_s,
        "left": [round(clock.left(seat, now), 1) if seat in persons else None for seat in range(len(game.seats))],
        "running": None if clock.is_paused else clock.running,
        "fallen": list(clock.fallen),
    }


class Flags:
    """Sees to it that a seat whose time is up loses.

    Parameters
    ----------
    on_fall : callable
        Called with a game that has ended so.
    """

    def __init__(self, on_fall: Callable[[Game], None]) -> None:
        self._on_fall = on_fall
        self._timers: dict[Game, asyncio.TimerHandle] = {}

    def watch(self, game: Game) -> None:
        """Wait for the time of the seat to move to be up, in place of what was waited for in this game before."""
        self.forget(game)
        falls_at = None if game.clock is None or game.is_over or game.is_deleted else game.clock.falls_at()
        if falls_at is not None:
            delay = max(0.0, falls_at - now_s())
            self._timers[game] = asyncio.get_running_loop().call_later(delay, self._wake, game)

    def forget(self, game: Game) -> None:
        """Wait no more."""
        if timer := self._timers.pop(game, None):
            timer.cancel()

    def fall(self, game: Game) -> None:
        """End a game in which the time of the seat to move is up."""
        clock = game.clock
        if clock is None or game.is_over or game.is_deleted or clock.running is None or clock.is_paused:
            return
        if clock.has_fallen(clock.running, now_s()):
            game.change(functools.partial(commands.fall, seat=clock.running))
            self._on_fall(game)

    def _wake(self, game: Game) -> None:
        del self._timers[game]
        try:
            self.fall(game)
            self.watch(game)
        except OSError as error:
            _logger.warning("the fallen flag of game %s: %s", game.id, error)
            self._timers[game] = asyncio.get_running_loop().call_later(AGAIN_S, self._wake, game)


def paused(clock: Clock) -> Clock:
    """Return a clock as a journal keeps it."""
    kept = clock.pause(now_s())
    return replace(kept, left_s=tuple(round(left, 3) for left in kept.left_s))
