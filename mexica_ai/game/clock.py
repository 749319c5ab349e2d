"""A clock of a game between persons: each seat has a bank of time, and gets some more for each turn.

It reads no time: whoever asks says what time it is, in seconds of any clock that does not go back. A time before the
last one counts as the last one. Nothing here ends a game: whether a seat whose time is up loses is for others to say.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from mexica_ai.io.errors import NotationError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Nullable, check_shape, quote

MAX_BANK_S = 24 * 3600.0
MAX_INCREMENT_S = 3600.0
_SHAPE = {
    "bank_s": float,
    "increment_s": float,
    "left_s": [float],
    "running": Nullable(int),
    "since_s": Nullable(float),
    "fallen": [int],
}


@dataclass(frozen=True)
class Clock:
    """The times of the seats of a game. `new_clock` makes one.

    Parameters
    ----------
    bank_s : float
        What each seat has at first, above 0.
    increment_s : float
        What a seat gets for each turn that it ends in time.
    left_s : tuple of float
        By seat, what was left when the clock was last started, stopped or handed over; 0 or more.
    running : int or None
        The seat whose time runs, or would if the clock were not paused; None before the first turn, at random events
        and at the end.
    since_s : float or None
        Since when its time runs; None if nobody's does.
    fallen : tuple of int
        The seats whose time was up when they were last stopped, ascending. More time does not raise a flag again.
    """

    bank_s: float
    increment_s: float
    left_s: tuple[float, ...]
    running: int | None = None
    since_s: float | None = None
    fallen: tuple[int, ...] = ()

    @property
    def is_paused(self) -> bool:
        """Whether the time of a seat would run but for a pause."""
        return self.running is not None and self.since_s is None

    def left(self, seat: int, now_s: float) -> float:
        """Return the time that a seat has left, 0 or more."""
        if seat != self.running or self.since_s is None:
            return self.left_s[seat]
        return max(0.0, self.left_s[seat] - max(0.0, now_s - self.since_s))

    def has_fallen(self, seat: int, now_s: float) -> bool:
        """Return whether the time of a seat is up, or was when it was last stopped."""
        return seat in self.fallen or self.left(seat, now_s) <= 0

    def falls_at(self) -> float | None:
        """Return when the time of the seat whose time runs will be up; None if nobody's runs."""
        if self.running is None or self.since_s is None:
            return None
        return self.since_s + self.left_s[self.running]

    def pause(self, now_s: float) -> Clock:
        """Stop the clock; the seat to move stays."""
        if self.running is None or self.since_s is None:
            return self
        seat, left = self.running, self.left(self.running, now_s)
        fallen = tuple(sorted({*self.fallen, seat})) if left <= 0 else self.fallen
        return replace(self, left_s=self._with(seat, left), since_s=None, fallen=fallen)

    def resume(self, now_s: float) -> Clock:
        """Let the time of the seat to move run again."""
        return replace(self, since_s=now_s) if self.is_paused else self

    def hand_over(self, seat: int | None, now_s: float) -> Clock:
        """Let the time of a seat run after the turn of another one, which gets the increment unless its time is up.

        None is nobody: a random event, or the end of the game. A clock that is paused stays so. It is the same seat if
        it goes on: then nothing changes.
        """
        if seat == self.running:
            return self
        was_paused, stopped = self.is_paused, self.pause(now_s)
        left = stopped.left_s
        if self.running is not None and self.running not in stopped.fallen:
            left = stopped._with(self.running, left[self.running] + self.increment_s)
        return replace(stopped, left_s=left)._run(seat, now_s, was_paused)

    def switch(self, seat: int | None, now_s: float) -> Clock:
        """Let the time of a seat run without an increment for the other: after a turn is taken back, or before any."""
        return self if seat == self.running else self.pause(now_s)._run(seat, now_s, self.is_paused)

    def _run(self, seat: int | None, now_s: float, is_paused: bool) -> Clock:
        return replace(self, running=seat, since_s=None if seat is None or is_paused else now_s)

    def _with(self, seat: int, left: float) -> tuple[float, ...]:
        return (*self.left_s[:seat], left, *self.left_s[seat + 1 :])

    def to_json(self, now_s: float) -> JsonObject:
        """Return the clock as a JSON object, paused: the times of another process mean nothing."""
        kept = self.pause(now_s)
        return asdict(kept) | {"left_s": list(kept.left_s), "fallen": list(kept.fallen)}


def new_clock(seats: int, bank_s: float, increment_s: float = 0.0) -> Clock:
    """Return a clock that nobody has started.

    Parameters
    ----------
    seats : int
        How many.
    bank_s : float
        Seconds that each seat has, above 0, at most a day.
    increment_s : float
        Seconds that a seat gets for each turn, 0 to an hour.

    Raises
    ------
    NotationError
        A time is out of range; reason OUT_OF_RANGE.
    """
    for name, value, least, most in (
        ("bank_s", bank_s, 1.0, MAX_BANK_S),
        ("increment_s", increment_s, 0.0, MAX_INCREMENT_S),
    ):
        if type(value) not in (int, float) or not least <= value <= most:
            problem = f"{name}: given {quote(value)}; expected seconds from {least:g} to {most:g}"
            raise NotationError(problem, reason="OUT_OF_RANGE", path=name)
    return Clock(float(bank_s), float(increment_s), (float(bank_s),) * seats)


def read_clock(data: Any, seats: int, path: str = "$") -> Clock:
    """Return the clock of a JSON object, which `Clock.to_json` has written.

    Raises
    ------
    NotationError
        It is none of this number of seats.
    """
    check_shape(data, _SHAPE, path)
    clock = new_clock(seats, data["bank_s"], data["increment_s"])
    most = MAX_BANK_S + 1e6 * MAX_INCREMENT_S
    for key, is_so, expected in (
        ("left_s", len(data["left_s"]) == seats, f"{seats} times"),
        ("left_s", all(0 <= left <= most for left in data["left_s"]), "times of 0 or more"),
        ("running", data["running"] is None or 0 <= data["running"] < seats, f"a seat from 0 to {seats - 1}, or null"),
        ("since_s", data["since_s"] is None, "null, for a clock is kept paused"),
        ("fallen", data["fallen"] == sorted(set(data["fallen"]) & set(range(seats))), "seats, ascending"),
    ):
        if not is_so:
            where = f"{path}.{key}"
            problem = f"{where}: given {quote(data[key])}; expected {expected}"
            raise NotationError(problem, reason="BAD_VALUE", path=where)
    return replace(clock, left_s=tuple(data["left_s"]), running=data["running"], fallen=tuple(data["fallen"]))
